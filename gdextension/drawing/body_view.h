// How a body appears: its mesh, its instance in the RenderingServer, its materials.
//
// An unbroken body shows a mesh that it may share with others. One that breaks shows a copy of its splinters, whose
// vertices change owner, if it has any (body_view_set_splinters()). Otherwise it is drawn as the faces of its tets,
// since its own mesh would span the gaps.
#ifndef BODY_VIEW_H
#define BODY_VIEW_H

#include "drawing/body_nodes.h"
#include "drawing/body_shape.h"
#include "drawing/mesh_drawing.h"
#include "drawing/owner_blends.h"
#include "drawing/splinter_faces.h"
#include "drawing/surface_material.h"
#include "drawing/tet_drawing.h"

// Pieces that no splinter shows (body_view_bare.c).
typedef struct BarePieces {
	bool exists;
	GdRID mesh, instance;
	int32_t surface_count;
	bool is_opened[2]; // [surface]: faces that opened, else those that were outside at rest
	SurfaceMaterial materials[2];
} BarePieces;

typedef struct BodyView {
	bool exists;
	const MeshDrawing *drawing; // shared, or null
	bool owns_mesh;
	GdRID mesh, instance;
	GDExtensionObjectPtr plain; // the Mesh that is shown as it is, or null; a reference
	float margin;               // m, how far vertices stick out of the box around the nodes
	BodyNodes nodes;
	GdTransform3D sent_transform;
	GdAABB sent_box;
	uint64_t owner_id; // what it was told, for an instance that is made later
	GdRID scenario;
	bool is_visible;
	uint32_t layers;
	int32_t cast_shadow;
	int32_t sent_offset, sent_stencils;
	GdVector3 grain; // of its fibres, in the mesh's space; patterns of its materials run along it
	// Its own copy of the splinters, if it can break into them
	const MeshDrawing *splinters; // shared, or null
	bool follows_owners;
	EmbeddedCopy copy;
	SplinterFaces faces;
	OwnerBlends blends;
	BarePieces bare;
	// Its tets
	int32_t node_count; // at rest
	TetShape *shape;    // null: nothing is simulated
	int32_t *tets_now;  // 4 nodes each
	FemPieceNumber *tet_pieces;
	bool is_broken, shows_tets;
	bool has_tet_mesh;
	GdRID tet_mesh;
	int32_t surface_count; // of tet_mesh
	bool surface_is_opened[2];
	// Materials, or null; references
	GDExtensionObjectPtr surface_material; // over all outer surfaces; null: the mesh has its own
	GDExtensionObjectPtr look;             // of tets outside, where there is no surface_material
	GDExtensionObjectPtr
		*fallback_materials; // of each surface of the mesh that has no material of its own; the last one: of others
	int32_t fallback_material_count;
	GDExtensionObjectPtr interior; // of faces that opened; null: the outside, darker
	bool fades;                    // some of its pieces do
	SurfaceMaterial breaking[4];   // held so that their shaders are there when the body breaks
	SurfaceMaterial *materials;    // in use, one a surface of the mesh that is shown; a zero one: the mesh's own
	int32_t material_count;
} BodyView;

// Makes an instance that belongs to no scenario and has no materials yet, and the mesh of a box. owner_id is the node's
// instance id, for picking.
void body_view_create(BodyView *view, const BodyShape *shape, uint64_t owner_id);

// The same for the mesh of a resource, which must outlive the view.
void body_view_create_shared(BodyView *view, const MeshDrawing *drawing, int32_t node_count, uint64_t owner_id);

// The same for a Mesh that is not simulated and shown as it is.
void body_view_create_plain(BodyView *view, GDExtensionObjectPtr mesh, uint64_t owner_id);
void body_view_free(BodyView *view);

// What surfaces without a material are drawn with, where there is no surface_material: one for each of the first
// surfaces, and at last one for all others; Materials or null. Copied. Takes effect with body_view_set_look().
void body_view_set_fallback_materials(BodyView *view, const GDExtensionObjectPtr *materials, int32_t count);
void body_view_set_scenario(BodyView *view, GdRID scenario); // a zero RID takes it out
void body_view_set_visible(BodyView *view, bool visible);

// layers: a bit for each that lights, cameras and decals tell apart. cast_shadow: a ShadowCastingSetting of the
// RenderingServer.
void body_view_set_rendering(BodyView *view, uint32_t layers, int32_t cast_shadow);

// The rest shape of its tets, which it needs to follow them; copied.
void body_view_set_tets(
	BodyView *view, int32_t node_count, const FemVec3 *nodes, FemVec3 scale, int32_t tet_count, const int32_t *tets);

// Materials or null. surface_material: over all outer surfaces; null: they have their own. look: of tets outside, where
// the mesh has no say; interior: faces that opened; null for the look, darker. Call it again when they have changed.
void body_view_set_look(
	BodyView *view, GDExtensionObjectPtr surface_material, GDExtensionObjectPtr look, GDExtensionObjectPtr interior);

// The direction of its fibres in the mesh's space, of any length but 0: the x axis of triplanar materials lies in it.
void body_view_set_grain(BodyView *view, GdVector3 direction);

// Draws all tets, a little apart, instead of the surface. The body may be null.
void body_view_show_tets(BodyView *view, FemBodyId body, bool shows_tets);

// Shows the mesh that fits now: the tets, the copy of the splinters, or the body's own.
void body_view_update_mesh(BodyView *view, FemBodyId body);

// For views of a shared mesh: the engine's body has these splinters, which must outlive the view; their vertices are
// those of the drawing in the same order. Until the first of them changes owner the shared mesh is shown. Null for
// none. False when the drawing cannot be copied: then the tets are drawn when the body breaks. Reads no owners.
bool body_view_set_splinters(BodyView *view, const MeshDrawing *splinters);

// After each step of `delta` seconds: takes over what changed owner in it; vertices take `duration` seconds to go where
// their new owner has them, 0 for none. True while some are on their way, and the body must be shown even if nothing
// else moves. read: all owners, after splinters were set or a state restored.
bool body_view_take_owners(BodyView *view, FemBodyId body, float delta, float duration);
void body_view_read_owners(BodyView *view, FemBodyId body);
void body_view_send_owners(BodyView *view); // in a drawn frame

// Pieces that broke off without a splinter are drawn by the faces of their tets. After what was cut, between steps.
void body_view_show_bare(BodyView *view, FemBodyId body);

// Among the files of the view.
void body_view_free_bare(BodyView *view);
void body_view_send_bare_materials(BodyView *view);
void body_view_show_or_hide(BodyView *view);
SurfaceMaterial body_view_interior_material(const BodyView *view, GDExtensionObjectPtr outside);
SurfaceMaterial body_view_outer_material(const BodyView *view, GDExtensionObjectPtr source);

// Time that all views spent on owners since it was last asked for.
int64_t body_view_take_owner_usec(void);

// The body may break, and its pieces may fade: makes the shaders for that now, not in the frame in which it does.
void body_view_prepare_breaking(BodyView *view, bool fades);

// How much is left of each node's piece, 1 to 0; null: nothing fades. Call it before it is shown, copied.
void body_view_set_fades(BodyView *view, const float *fades, int32_t count);

// Shows the rest shape at a node's transform (the editor), or a simulated body's present shape. is_cut: faces opened or
// pieces went since it was last shown.
void body_view_show_rest(BodyView *view, GdTransform3D transform);
void body_view_show_body(BodyView *view, FemBodyId body, bool is_cut);

#endif
