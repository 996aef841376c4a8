// How a body appears: its mesh, its instance in the RenderingServer, its range in the position texture.
//
// A body that has broken is drawn as the faces of its tets, since its own mesh would span the gaps.
#ifndef BODY_VIEW_H
#define BODY_VIEW_H

#include "body_shape.h"
#include "godot_calls.h"
#include "surface_material.h"
#include "tet_drawing.h"

typedef struct BodyView {
	bool exists;
	bool shares_mesh; // the mesh belongs to a resource, and so do the materials of its surfaces
	GdRID mesh, instance;
	SurfaceMaterial material;
	float margin;         // m, how far vertices stick out of the box around the nodes
	int32_t texel_offset; // -1: shows the rest shape
	int32_t texel_count;
	int32_t node_count;
	// Its tets
	TetShape shape;
	int32_t *tets_now; // 4 nodes each
	FemPieceNumber *tet_pieces;
	bool is_broken, shows_tets; // either: tet_mesh is shown instead of mesh
	bool has_tet_mesh;
	GdRID tet_mesh;
	int32_t surface_count; // of tet_mesh
	bool surface_is_opened[2];
	GDExtensionObjectPtr look;        // Material of broken bodies, or null; a reference
	SurfaceMaterial tet_materials[2]; // made from it: outside, opened
	bool has_tet_materials[2];
} BodyView;

// Makes an instance that belongs to no scenario yet, and the mesh of a box. owner_id is the node's instance id, for
// picking.
void body_view_create(BodyView *view, const BodyShape *shape, GDExtensionObjectPtr surface_material, uint64_t owner_id);

// The same for a shared mesh, which must outlive the view. Without a surface_material it shows its own materials.
void body_view_create_shared(
	BodyView *view, GdRID mesh, int32_t node_count, GDExtensionObjectPtr surface_material, uint64_t owner_id);
void body_view_free(BodyView *view);

void body_view_set_material(BodyView *view, GDExtensionObjectPtr surface_material);
void body_view_set_scenario(BodyView *view, GdRID scenario); // a zero RID takes it out
void body_view_set_visible(BodyView *view, bool visible);

// The rest shape of its tets, which it needs to draw them; copied.
void body_view_set_tets(
	BodyView *view, int32_t node_count, const FemVec3 *nodes, FemVec3 scale, int32_t tet_count, const int32_t *tets);

// What a broken body is drawn with: a Material or null. Call it again when the material has changed.
void body_view_set_look(BodyView *view, GDExtensionObjectPtr material);

// Draws all tets, a little apart, instead of the surface. The body may be null.
void body_view_show_tets(BodyView *view, FemBodyId body, bool shows_tets);

// Shows the rest shape at a node's transform (the editor), or a simulated body's present shape. is_cut: faces opened or
// pieces went since it was last shown.
void body_view_show_rest(BodyView *view, GdTransform3D transform);
void body_view_show_body(BodyView *view, FemBodyId body, bool is_cut);

#endif
