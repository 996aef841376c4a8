#include "body_view.h"

#include "body_mesh.h"
#include "conversions.h"
#include "position_texture.h"

static void send_offset(BodyView *view) {
	GdVariant offset = make_variant_int(view->texel_offset);
	gd_rendering_server_instance_geometry_set_shader_parameter(view->instance, &names.fem_offset, &offset);
	variant_free(&offset);
}

static void create_instance(BodyView *view, GDExtensionObjectPtr surface_material, uint64_t owner_id) {
	view->instance = gd_rendering_server_instance_create();
	gd_rendering_server_instance_set_base(view->instance, view->mesh);
	gd_rendering_server_instance_attach_object_instance_id(view->instance, (int64_t)owner_id);
	body_view_set_material(view, surface_material);
	send_offset(view);
}

void body_view_create(
	BodyView *view, const BodyShape *shape, GDExtensionObjectPtr surface_material, uint64_t owner_id) {
	body_view_free(view);
	*view = (BodyView){.exists = true, .texel_offset = -1, .node_count = shape->node_count};
	view->mesh = body_mesh_create(shape);
	create_instance(view, surface_material, owner_id);
}

void body_view_create_shared(
	BodyView *view, GdRID mesh, int32_t node_count, GDExtensionObjectPtr surface_material, uint64_t owner_id) {
	body_view_free(view);
	*view = (BodyView){.exists = true, .shares_mesh = true, .texel_offset = -1, .node_count = node_count};
	view->mesh = mesh;
	create_instance(view, surface_material, owner_id);
}

void body_view_free(BodyView *view) {
	if (!view->exists) {
		return;
	}
	gd_rendering_server_free_rid(view->instance);
	if (!view->shares_mesh) {
		gd_rendering_server_free_rid(view->mesh);
	}
	surface_material_free(&view->material);
	if (view->texel_offset >= 0) {
		position_texture_release(view->texel_offset);
	}
	*view = (BodyView){.texel_offset = -1};
}

void body_view_set_material(BodyView *view, GDExtensionObjectPtr surface_material) {
	if (!view->exists) {
		return;
	}
	SurfaceMaterial old = view->material;
	view->material =
		surface_material || !view->shares_mesh ? surface_material_create(surface_material) : (SurfaceMaterial){0};
	gd_rendering_server_instance_geometry_set_material_override(view->instance, view->material.rid);
	surface_material_free(&old);
}

void body_view_set_scenario(BodyView *view, GdRID scenario) {
	if (view->exists) {
		gd_rendering_server_instance_set_scenario(view->instance, scenario);
	}
}

void body_view_set_visible(BodyView *view, bool visible) {
	if (view->exists) {
		gd_rendering_server_instance_set_visible(view->instance, visible);
	}
}

void body_view_show_rest(BodyView *view, GdTransform3D transform) {
	if (view->exists) {
		gd_rendering_server_instance_set_transform(view->instance, transform);
	}
}

// Godot culls by the box of the rest mesh unless told otherwise.
static void send_bounds(BodyView *view, FemBodyId body, FemPosition origin) {
	FemPosition low, high;
	if (fem_body_get_bounds(body, &low, &high) != FEM_OK) {
		return;
	}
	double margin = 2.0 * (double)view->margin;
	GdAABB box = {
		{(float)(low.x - origin.x - margin), (float)(low.y - origin.y - margin), (float)(low.z - origin.z - margin)},
		{(float)(high.x - low.x + 2.0 * margin), (float)(high.y - low.y + 2.0 * margin),
			(float)(high.z - low.z + 2.0 * margin)},
	};
	gd_rendering_server_instance_set_custom_aabb(view->instance, box);
}

// The instance has the world's axes and stands at the body's origin, to which node positions are relative.
void body_view_show_body(BodyView *view, FemBodyId body) {
	FemPosition origin;
	int32_t count = 0;
	const float *positions = view->exists ? fem_body_get_position_data(body, &origin, &count) : NULL;
	if (!positions || count > view->node_count) {
		return;
	}
	if (view->texel_offset < 0) {
		view->texel_offset = position_texture_reserve(view->node_count);
		if (view->texel_offset < 0) {
			return;
		}
		send_offset(view);
	}
	position_texture_write(view->texel_offset, positions, count);
	GdTransform3D transform = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {(float)origin.x, (float)origin.y, (float)origin.z}};
	gd_rendering_server_instance_set_transform(view->instance, transform);
	send_bounds(view, body, origin);
}
