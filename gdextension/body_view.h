// How a body appears: its mesh, its instance in the RenderingServer, its range in the position texture.
#ifndef BODY_VIEW_H
#define BODY_VIEW_H

#include "body_shape.h"
#include "godot_calls.h"
#include "surface_material.h"

typedef struct BodyView {
	bool exists;
	bool shares_mesh; // the mesh belongs to a resource, and so do the materials of its surfaces
	GdRID mesh, instance;
	SurfaceMaterial material;
	float margin;         // m, how far vertices stick out of the box around the nodes
	int32_t texel_offset; // -1: shows the rest shape
	int32_t node_count;
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

// Shows the rest shape at a node's transform (the editor), or a simulated body's present shape.
void body_view_show_rest(BodyView *view, GdTransform3D transform);
void body_view_show_body(BodyView *view, FemBodyId body);

#endif
