#include "body_view.h"

#include "body_mesh.h"
#include "conversions.h"
#include "position_texture.h"

#include <stdlib.h>
#include <string.h>

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

static void free_tet_materials(BodyView *view) {
	for (int i = 0; i < 2; i++) {
		surface_material_free(&view->tet_materials[i]);
		view->has_tet_materials[i] = false;
	}
}

static void free_tets(BodyView *view) {
	if (view->has_tet_mesh) {
		gd_rendering_server_free_rid(view->tet_mesh);
		view->has_tet_mesh = false;
	}
	free_tet_materials(view);
	tet_shape_free(&view->shape);
	free(view->tets_now);
	free(view->tet_pieces);
	view->tets_now = NULL;
	view->tet_pieces = NULL;
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
	free_tets(view);
	object_reference_assign(&view->look, NULL);
	if (view->texel_offset >= 0) {
		position_texture_release(view->texel_offset);
	}
	*view = (BodyView){.texel_offset = -1};
}

// The tet mesh has materials of its own.
static void override_material(BodyView *view) {
	GdRID none = {{0}};
	gd_rendering_server_instance_geometry_set_material_override(
		view->instance, view->has_tet_mesh ? none : view->material.rid);
}

void body_view_set_material(BodyView *view, GDExtensionObjectPtr surface_material) {
	if (!view->exists) {
		return;
	}
	SurfaceMaterial old = view->material;
	view->material =
		surface_material || !view->shares_mesh ? surface_material_create(surface_material) : (SurfaceMaterial){0};
	override_material(view);
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

// ------------------------------------------------------------------------------------------------------------------ tets

void body_view_set_tets(
	BodyView *view, int32_t node_count, const FemVec3 *nodes, FemVec3 scale, int32_t tet_count, const int32_t *tets) {
	if (!view->exists || tet_count <= 0) {
		return;
	}
	free_tets(view);
	view->tets_now = malloc((size_t)tet_count * 4 * sizeof(int32_t));
	view->tet_pieces = malloc((size_t)tet_count * sizeof(FemPieceNumber));
	if (!view->tets_now || !view->tet_pieces ||
		!tet_shape_create(&view->shape, node_count, nodes, scale, tet_count, tets)) {
		free_tets(view);
		return;
	}
	memcpy(view->tets_now, tets, (size_t)tet_count * 4 * sizeof(int32_t));
}

// Between steps only. Without a body the tets stay as they were at rest.
static void read_tets(BodyView *view, FemBodyId body) {
	int32_t count = view->shape.tet_count;
	bool is_there = fem_body_get_tets(body, view->tets_now, count) == count;
	for (int32_t i = 0; i < count; i++) {
		view->tet_pieces[i] = is_there ? fem_body_get_tet_piece(body, i) : 1;
	}
}

// Made from the look when first needed.
static SurfaceMaterial tet_material(BodyView *view, bool is_opened) {
	SurfaceMaterial *material = &view->tet_materials[is_opened];
	if (!view->has_tet_materials[is_opened]) {
		*material = is_opened ? surface_material_create_inside(view->look) : surface_material_create(view->look);
		view->has_tet_materials[is_opened] = true;
	}
	return *material;
}

static void send_tet_materials(BodyView *view) {
	for (int32_t i = 0; view->has_tet_mesh && i < view->surface_count; i++) {
		SurfaceMaterial material =
			view->shows_tets ? surface_material_create_colored() : tet_material(view, view->surface_is_opened[i]);
		gd_rendering_server_mesh_surface_set_material(view->tet_mesh, i, material.rid);
	}
}

static void fill_tet_mesh(BodyView *view) {
	gd_rendering_server_mesh_clear(view->tet_mesh);
	view->surface_count = view->shows_tets
		? tet_drawing_of_tets(view->tet_mesh, &view->shape, view->tets_now, view->tet_pieces)
		: tet_drawing_of_surface(view->tet_mesh, &view->shape, view->tets_now, view->surface_is_opened);
	send_tet_materials(view);
}

// Makes the mesh of the tets anew, or goes back to the body's own.
static void update_tet_mesh(BodyView *view, FemBodyId body) {
	bool is_wanted = (view->is_broken || view->shows_tets) && view->shape.tet_count > 0;
	if (is_wanted && !view->has_tet_mesh) {
		view->tet_mesh = gd_rendering_server_mesh_create();
		view->has_tet_mesh = true;
	}
	if (is_wanted) {
		read_tets(view, body);
		fill_tet_mesh(view);
	}
	gd_rendering_server_instance_set_base(view->instance, is_wanted ? view->tet_mesh : view->mesh);
	if (!is_wanted && view->has_tet_mesh) {
		gd_rendering_server_free_rid(view->tet_mesh);
		view->has_tet_mesh = false;
	}
	override_material(view);
	send_offset(view);
}

// The old materials are freed when no surface uses them any more.
void body_view_set_look(BodyView *view, GDExtensionObjectPtr material) {
	if (!view->exists) {
		return;
	}
	BodyView old = *view;
	object_reference_assign(&view->look, material);
	for (int i = 0; i < 2; i++) {
		view->tet_materials[i] = (SurfaceMaterial){0};
		view->has_tet_materials[i] = false;
	}
	send_tet_materials(view);
	free_tet_materials(&old);
}

void body_view_show_tets(BodyView *view, FemBodyId body, bool shows_tets) {
	if (view->exists && view->shows_tets != shows_tets) {
		view->shows_tets = shows_tets;
		update_tet_mesh(view, body);
	}
}

// --------------------------------------------------------------------------------------------------------------- showing

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

// A breaking body gets more and more nodes: it takes a larger range each time its own is full.
static bool reserve_texels(BodyView *view, int32_t count) {
	if (view->texel_offset >= 0 && count <= view->texel_count) {
		return true;
	}
	int32_t wanted = view->texel_offset < 0 ? count : count + count / 2;
	int32_t offset = position_texture_reserve(wanted);
	if (offset < 0) {
		return false;
	}
	if (view->texel_offset >= 0) {
		position_texture_release(view->texel_offset);
	}
	view->texel_offset = offset;
	view->texel_count = wanted;
	send_offset(view);
	return true;
}

// The instance has the world's axes and stands at the body's origin, to which node positions are relative.
void body_view_show_body(BodyView *view, FemBodyId body, bool is_cut) {
	FemPosition origin;
	int32_t count = 0;
	const float *positions = view->exists ? fem_body_get_position_data(body, &origin, &count) : NULL;
	if (!positions || (view->shape.tet_count == 0 && count > view->node_count) || !reserve_texels(view, count)) {
		return;
	}
	if (is_cut) {
		view->is_broken = true;
		update_tet_mesh(view, body);
	}
	position_texture_write(view->texel_offset, positions, count);
	GdTransform3D transform = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {(float)origin.x, (float)origin.y, (float)origin.z}};
	gd_rendering_server_instance_set_transform(view->instance, transform);
	send_bounds(view, body, origin);
}
