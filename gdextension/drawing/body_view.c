#include "drawing/body_view.h"

#include "binding/conversions.h"
#include "drawing/body_mesh.h"

#include <stdlib.h>
#include <string.h>

// All that shows the body; returns how many.
static int32_t instances_of(const BodyView *view, GdRID out[2]) {
	out[0] = view->instance;
	out[1] = view->bare.instance;
	return view->bare.exists ? 2 : 1;
}

static void send_grain(BodyView *view) {
	GdVariant variant = make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &view->grain);
	GdRID instances[2];
	for (int32_t i = instances_of(view, instances) - 1; i >= 0; i--) {
		gd_rendering_server_instance_geometry_set_shader_parameter(instances[i], &names.fem_grain, &variant);
	}
	variant_free(&variant);
}

static void send_int(BodyView *view, const GdStringName *name, int64_t value) {
	GdVariant variant = make_variant_int(value);
	GdRID instances[2];
	for (int32_t i = instances_of(view, instances) - 1; i >= 0; i--) {
		gd_rendering_server_instance_geometry_set_shader_parameter(instances[i], name, &variant);
	}
	variant_free(&variant);
}

static void send_parameters(BodyView *view) {
	view->sent_offset = view->nodes.offset;
	view->sent_stencils = body_nodes_stencils(&view->nodes);
	send_int(view, &names.fem_offset, view->sent_offset);
	send_int(view, &names.fem_smooth, view->sent_stencils);
	send_grain(view);
}

static void create_instance(BodyView *view, int32_t node_count, uint64_t owner_id) {
	view->exists = true;
	view->node_count = node_count;
	view->owner_id = owner_id;
	view->grain = (GdVector3){1.0f, 0.0f, 0.0f};
	view->is_visible = true;
	view->layers = 1; // as the RenderingServer has it until it is told
	view->cast_shadow = 1;
	body_nodes_init(&view->nodes);
	view->instance = gd_rendering_server_instance_create();
	gd_rendering_server_instance_set_base(view->instance, view->mesh);
	gd_rendering_server_instance_attach_object_instance_id(view->instance, (int64_t)owner_id);
	send_parameters(view);
}

void body_view_create(BodyView *view, const BodyShape *shape, uint64_t owner_id) {
	body_view_free(view);
	*view = (BodyView){.owns_mesh = true, .mesh = body_mesh_create(shape)};
	create_instance(view, shape->node_count, owner_id);
}

void body_view_create_shared(BodyView *view, const MeshDrawing *drawing, int32_t node_count, uint64_t owner_id) {
	body_view_free(view);
	*view = (BodyView){.drawing = drawing, .mesh = drawing->embedded.mesh, .margin = drawing->margin};
	create_instance(view, node_count, owner_id);
}

void body_view_create_plain(BodyView *view, GDExtensionObjectPtr mesh, uint64_t owner_id) {
	body_view_free(view);
	*view = (BodyView){.mesh = gd_resource_get_rid(mesh)};
	object_reference_assign(&view->plain, mesh);
	create_instance(view, 0, owner_id);
}

static void release_materials(SurfaceMaterial *materials, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		surface_material_release(&materials[i]);
	}
	free(materials);
}

static void free_tets(BodyView *view) {
	if (view->has_tet_mesh) {
		gd_rendering_server_free_rid(view->tet_mesh);
		view->has_tet_mesh = false;
	}
	tet_shape_release(view->shape);
	view->shape = NULL;
	free(view->tets_now);
	free(view->tet_pieces);
	view->tets_now = NULL;
	view->tet_pieces = NULL;
}

static void free_fallback_materials(BodyView *view) {
	for (int32_t i = 0; i < view->fallback_material_count; i++) {
		object_reference_assign(&view->fallback_materials[i], NULL);
	}
	free(view->fallback_materials);
	view->fallback_materials = NULL;
	view->fallback_material_count = 0;
}

void body_view_free(BodyView *view) {
	if (!view->exists) {
		return;
	}
	body_view_free_bare(view);
	gd_rendering_server_free_rid(view->instance);
	if (view->owns_mesh) {
		gd_rendering_server_free_rid(view->mesh);
	}
	release_materials(view->materials, view->material_count);
	for (int i = 0; i < 4; i++) {
		surface_material_release(&view->breaking[i]);
	}
	free_tets(view);
	embedded_copy_free(&view->copy);
	owner_blends_free(&view->blends);
	splinter_faces_free(&view->faces);
	object_reference_assign(&view->surface_material, NULL);
	object_reference_assign(&view->look, NULL);
	object_reference_assign(&view->interior, NULL);
	object_reference_assign(&view->plain, NULL);
	free_fallback_materials(view);
	body_nodes_free(&view->nodes);
	*view = (BodyView){0};
	body_nodes_init(&view->nodes);
}

void body_view_set_scenario(BodyView *view, GdRID scenario) {
	GdRID instances[2];
	view->scenario = scenario;
	for (int32_t i = view->exists ? instances_of(view, instances) - 1 : -1; i >= 0; i--) {
		gd_rendering_server_instance_set_scenario(instances[i], scenario);
	}
}

void body_view_set_rendering(BodyView *view, uint32_t layers, int32_t cast_shadow) {
	GdRID instances[2];
	view->layers = layers;
	view->cast_shadow = cast_shadow;
	for (int32_t i = view->exists ? instances_of(view, instances) - 1 : -1; i >= 0; i--) {
		gd_rendering_server_instance_set_layer_mask(instances[i], layers);
		gd_rendering_server_instance_geometry_set_cast_shadows_setting(instances[i], cast_shadow);
	}
}

void body_view_show_or_hide(BodyView *view) {
	if (view->exists) {
		gd_rendering_server_instance_set_visible(view->instance, view->is_visible);
	}
	if (view->bare.exists) { // where all tets are shown, these are among them
		gd_rendering_server_instance_set_visible(view->bare.instance, view->is_visible && !view->has_tet_mesh);
	}
}

void body_view_set_visible(BodyView *view, bool visible) {
	view->is_visible = visible;
	body_view_show_or_hide(view);
}

// ---- materials

SurfaceMaterial body_view_interior_material(const BodyView *view, GDExtensionObjectPtr outside) {
	uint32_t fades = view->fades ? SURFACE_FADES : 0;
	return view->interior ? surface_material_acquire(view->interior, fades)
						  : surface_material_acquire(outside, SURFACE_INSIDE | fades);
}

SurfaceMaterial body_view_outer_material(const BodyView *view, GDExtensionObjectPtr source) {
	return surface_material_acquire(source, view->fades ? SURFACE_FADES : SURFACE_OUTSIDE);
}

static SurfaceMaterial tet_material(const BodyView *view, int32_t surface) {
	GDExtensionObjectPtr outside = view->surface_material ? view->surface_material : view->look;
	return view->shows_tets                ? surface_material_acquire(NULL, SURFACE_COLORED)
		: view->surface_is_opened[surface] ? body_view_interior_material(view, outside)
										   : body_view_outer_material(view, outside);
}

static const MeshDrawing *shown_drawing(const BodyView *view) {
	return view->copy.exists ? view->splinters : view->drawing;
}

// What covers a surface in place of its own material, which may be null.
static GDExtensionObjectPtr cover_of(const BodyView *view, int32_t surface, GDExtensionObjectPtr own) {
	int32_t last = view->fallback_material_count - 1;
	return view->surface_material ? view->surface_material
		: own || last < 0         ? own
								  : view->fallback_materials[surface < last ? surface : last];
}

// The mesh's own material serves where it can, so that bodies with nothing special are all alike to the renderer. The
// copy of a mesh has none. The interior surface has one for each body, whatever covers the others.
static SurfaceMaterial shared_material(const BodyView *view, int32_t surface) {
	const MeshDrawing *drawing = shown_drawing(view);
	GDExtensionObjectPtr own = drawing->sources[surface], outside = cover_of(view, surface, own);
	if (surface == drawing->interior_surface) {
		return body_view_interior_material(view, view->surface_material ? view->surface_material : view->look);
	}
	return outside != own || view->fades || view->copy.exists ? body_view_outer_material(view, outside)
															  : (SurfaceMaterial){0};
}

static SurfaceMaterial plain_material(const BodyView *view, int32_t surface) {
	GDExtensionObjectPtr own = gd_mesh_surface_get_material(view->plain, surface);
	GDExtensionObjectPtr outside = cover_of(view, surface, own);
	SurfaceMaterial material = outside != own ? body_view_outer_material(view, outside) : (SurfaceMaterial){0};
	object_unreference(own); // the mesh keeps it alive
	return material;
}

static int32_t shown_surfaces(const BodyView *view) {
	return view->has_tet_mesh ? view->surface_count
		: view->drawing       ? shown_drawing(view)->embedded.surface_count
		: view->plain         ? (int32_t)gd_mesh_get_surface_count(view->plain)
							  : 1;
}

// For the mesh that is shown now. Old materials go when no surface uses them any more.
static void send_materials(BodyView *view) {
	SurfaceMaterial *old = view->materials;
	int32_t old_count = view->material_count, count = shown_surfaces(view);
	view->materials = calloc((size_t)(count > 0 ? count : 1), sizeof(SurfaceMaterial));
	view->material_count = view->materials ? count : 0;
	for (int32_t i = 0; i < view->material_count; i++) {
		SurfaceMaterial *material = &view->materials[i];
		*material = view->has_tet_mesh ? tet_material(view, i)
			: view->drawing            ? shared_material(view, i)
			: view->plain              ? plain_material(view, i)
									   : body_view_outer_material(view, cover_of(view, i, NULL));
		gd_rendering_server_instance_set_surface_override_material(view->instance, i, material->rid);
	}
	release_materials(old, old_count);
	body_view_send_bare_materials(view);
}

static void assign_material(GDExtensionObjectPtr *slot, GDExtensionObjectPtr material) {
	if (material && *slot == material) {
		surface_material_refresh(material);
	}
	object_reference_assign(slot, material);
}

void body_view_set_fallback_materials(BodyView *view, const GDExtensionObjectPtr *materials, int32_t count) {
	GDExtensionObjectPtr *old = view->fallback_materials,
						 *fallback_materials = calloc((size_t)count, sizeof(GDExtensionObjectPtr));
	if (!view->exists || !fallback_materials) {
		free(fallback_materials);
		return;
	}
	for (int32_t i = 0; i < count; i++) {
		bool is_kept = i < view->fallback_material_count && old[i] == materials[i];
		fallback_materials[i] = is_kept ? old[i] : NULL; // which takes its new values
		assign_material(&fallback_materials[i], materials[i]);
		if (is_kept) {
			old[i] = NULL;
		}
	}
	free_fallback_materials(view);
	view->fallback_materials = fallback_materials;
	view->fallback_material_count = count;
}

void body_view_set_look(
	BodyView *view, GDExtensionObjectPtr surface_material, GDExtensionObjectPtr look, GDExtensionObjectPtr interior) {
	if (view->exists) {
		assign_material(&view->surface_material, surface_material);
		assign_material(&view->look, look);
		assign_material(&view->interior, interior);
		send_materials(view);
	}
}

void body_view_set_grain(BodyView *view, GdVector3 direction) {
	if (view->exists && memcmp(&view->grain, &direction, sizeof(direction)) != 0) {
		view->grain = direction;
		send_grain(view);
	}
}

// Of the first surface: others mostly have the same shader.
void body_view_prepare_breaking(BodyView *view, bool fades) {
	if (!view->exists) {
		return;
	}
	SurfaceMaterial old[4];
	bool fades_now = view->fades;
	GDExtensionObjectPtr outside = view->surface_material ? view->surface_material : view->look;
	memcpy(old, view->breaking, sizeof(old));
	memset(view->breaking, 0, sizeof(view->breaking));
	for (int i = 0; i < (fades ? 2 : 1); i++) {
		view->fades = i;
		view->breaking[2 * i] = body_view_outer_material(view, outside);
		view->breaking[2 * i + 1] = body_view_interior_material(view, outside);
	}
	view->fades = fades_now;
	for (int i = 0; i < 4; i++) {
		surface_material_release(&old[i]);
	}
}

void body_view_set_fades(BodyView *view, const float *fades, int32_t count) {
	if (!view->exists) {
		return;
	}
	body_nodes_set_fades(&view->nodes, fades, count);
	if (fades && !view->fades) {
		view->fades = true; // for good: the next piece will follow
		send_materials(view);
	}
}

// ---- tets

void body_view_set_tets(
	BodyView *view, int32_t node_count, const FemVec3 *nodes, FemVec3 scale, int32_t tet_count, const int32_t *tets) {
	if (!view->exists || tet_count <= 0) {
		return;
	}
	free_tets(view);
	view->tets_now = malloc((size_t)tet_count * 4 * sizeof(int32_t));
	view->tet_pieces = malloc((size_t)tet_count * sizeof(FemPieceNumber));
	body_nodes_reshape(&view->nodes);
	view->shape = tet_shape_acquire(node_count, nodes, scale, tet_count, tets);
	if (!view->tets_now || !view->tet_pieces || !view->shape) {
		free_tets(view);
		return;
	}
	memcpy(view->tets_now, tets, (size_t)tet_count * 4 * sizeof(int32_t));
}

// Between steps only. Without a body the tets stay as they were at rest.
static void read_pieces(BodyView *view, FemBodyId body) {
	bool is_there = fem_body_is_valid(body);
	for (int32_t i = 0; i < view->shape->tet_count; i++) {
		view->tet_pieces[i] = is_there ? fem_body_get_tet_piece(body, i) : 1;
	}
}

static void fill_tet_mesh(BodyView *view) {
	gd_rendering_server_mesh_clear(view->tet_mesh);
	view->surface_count = view->shows_tets
		? tet_drawing_of_tets(view->tet_mesh, view->shape, view->tets_now, view->tet_pieces)
		: tet_drawing_of_surface(view->tet_mesh, view->shape, view->tets_now, view->surface_is_opened);
}

void body_view_update_mesh(BodyView *view, FemBodyId body) {
	bool wants_tets = view->shape && (view->shows_tets || (view->is_broken && !view->copy.exists));
	if (wants_tets && !view->has_tet_mesh) {
		view->tet_mesh = gd_rendering_server_mesh_create();
	}
	if (wants_tets) {
		if (view->shows_tets) {
			read_pieces(view, body);
		}
		fill_tet_mesh(view);
	}
	GdRID mesh = wants_tets ? view->tet_mesh : view->copy.exists ? view->copy.mesh : view->mesh;
	gd_rendering_server_instance_set_base(view->instance, mesh);
	if (!wants_tets && view->has_tet_mesh) {
		gd_rendering_server_free_rid(view->tet_mesh);
	}
	view->has_tet_mesh = wants_tets;
	body_view_show_or_hide(view);
	send_materials(view);
	send_parameters(view);
}

void body_view_show_tets(BodyView *view, FemBodyId body, bool shows_tets) {
	if (view->exists && view->shows_tets != shows_tets) {
		view->shows_tets = shows_tets;
		body_view_update_mesh(view, body);
	}
}

// ---- showing

static void send_transform(BodyView *view, GdTransform3D transform) {
	if (memcmp(&transform, &view->sent_transform, sizeof(transform)) != 0) {
		GdRID instances[2];
		for (int32_t i = instances_of(view, instances) - 1; i >= 0; i--) {
			gd_rendering_server_instance_set_transform(instances[i], transform);
		}
		view->sent_transform = transform;
	}
}

void body_view_show_rest(BodyView *view, GdTransform3D transform) {
	if (view->exists) {
		send_transform(view, transform);
	}
}

static bool is_within(GdVector3 low, GdVector3 high, const GdAABB *box) {
	return low.x >= box->position.x && low.y >= box->position.y && low.z >= box->position.z &&
		high.x <= box->position.x + box->size.x && high.y <= box->position.y + box->size.y &&
		high.z <= box->position.z + box->size.z;
}

// Godot culls by the box of the rest mesh unless told otherwise. The box sent has some room, so that it is not sent
// every frame, and is sent anew when it has become much too large.
static void send_bounds(BodyView *view, const ShownNodes *shown) {
	float margin = 2.0f * view->margin;
	GdVector3 low = {shown->low.x - margin, shown->low.y - margin, shown->low.z - margin};
	GdVector3 high = {shown->high.x + margin, shown->high.y + margin, shown->high.z + margin};
	GdVector3 size = {high.x - low.x, high.y - low.y, high.z - low.z};
	float longest = size.x > size.y ? size.x : size.y, room = 0.1f * (longest > size.z ? longest : size.z);
	const GdVector3 sent = view->sent_box.size;
	bool is_tight = sent.x + sent.y + sent.z <= size.x + size.y + size.z + 12.0f * room;
	if (is_tight && is_within(low, high, &view->sent_box)) {
		return;
	}
	view->sent_box = (GdAABB){
		{low.x - room, low.y - room, low.z - room},
		{size.x + 2.0f * room, size.y + 2.0f * room, size.z + 2.0f * room},
	};
	GdRID instances[2];
	for (int32_t i = instances_of(view, instances) - 1; i >= 0; i--) {
		gd_rendering_server_instance_set_custom_aabb(instances[i], view->sent_box);
	}
}

// More nodes, or other tets: what depends on them is made anew.
static void show_cut(BodyView *view, FemBodyId body) {
	fem_body_get_tets(body, view->tets_now, view->shape->tet_count);
	view->is_broken = true;
	body_nodes_cut(&view->nodes);
	if (view->shows_tets || !view->follows_owners) {
		body_view_update_mesh(view, body);
	}
	bool had_bare = view->bare.exists;
	body_view_show_bare(view, body);
	if (view->bare.exists && !had_bare) {
		send_parameters(view);
	}
}

// The instance has the world's axes and stands at the body's origin, to which node positions are relative.
void body_view_show_body(BodyView *view, FemBodyId body, bool is_cut) {
	int32_t count = view->exists && view->shape ? fem_body_get_node_count(body) : 0;
	if (count <= 0) {
		return;
	}
	bool is_new_range = body_nodes_reserve(&view->nodes, count);
	if (is_cut) {
		show_cut(view, body);
	}
	if (is_new_range || is_cut) {
		body_nodes_write_rest(&view->nodes, view->shape, view->tets_now);
	}
	body_view_send_owners(view);
	ShownNodes shown;
	if (!body_nodes_show(&view->nodes, body, view->shape, view->tets_now, &shown)) {
		return;
	}
	if (view->nodes.offset != view->sent_offset || body_nodes_stencils(&view->nodes) != view->sent_stencils) {
		send_parameters(view);
	}
	send_transform(view, shown.transform);
	send_bounds(view, &shown);
}
