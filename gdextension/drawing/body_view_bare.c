// Pieces of a body that no splinter shows: the faces of their tets, in an instance of their own beside that of the
// splinters. They are few and small, so their mesh is made anew whenever the body breaks further.
#include "drawing/body_view.h"

#include <stdlib.h>
#include <string.h>

static void release_materials(BarePieces *bare) {
	for (int i = 0; i < 2; i++) {
		surface_material_release(&bare->materials[i]);
		bare->materials[i] = (SurfaceMaterial){0};
	}
}

void body_view_free_bare(BodyView *view) {
	BarePieces *bare = &view->bare;
	if (bare->exists) {
		gd_rendering_server_free_rid(bare->instance);
		gd_rendering_server_free_rid(bare->mesh);
		release_materials(bare);
		*bare = (BarePieces){0};
	}
}

static void create(BodyView *view) {
	BarePieces *bare = &view->bare;
	bare->exists = true;
	bare->mesh = gd_rendering_server_mesh_create();
	bare->instance = gd_rendering_server_instance_create();
	gd_rendering_server_instance_set_base(bare->instance, bare->mesh);
	gd_rendering_server_instance_attach_object_instance_id(bare->instance, (int64_t)view->owner_id);
	gd_rendering_server_instance_set_scenario(bare->instance, view->scenario);
	gd_rendering_server_instance_set_layer_mask(bare->instance, view->layers);
	gd_rendering_server_instance_geometry_set_cast_shadows_setting(bare->instance, view->cast_shadow);
	gd_rendering_server_instance_set_transform(bare->instance, view->sent_transform);
	gd_rendering_server_instance_set_custom_aabb(bare->instance, view->sent_box);
}

// The nodes of bare tets as they are now; of all others -1, as if they were removed.
static int32_t *find_bare(const BodyView *view, FemBodyId body) {
	int32_t count = fem_body_get_bare_tets(body, NULL, 0);
	size_t bytes = (size_t)view->shape->tet_count * 4 * sizeof(int32_t);
	int32_t *list = count > 0 ? malloc((size_t)count * sizeof(int32_t)) : NULL, *now = list ? malloc(bytes) : NULL;
	count = now ? fem_body_get_bare_tets(body, list, count) : 0;
	if (now) {
		memset(now, 0xff, bytes);
	}
	for (int32_t i = 0; i < count; i++) {
		memcpy(&now[4 * (size_t)list[i]], &view->tets_now[4 * (size_t)list[i]], 4 * sizeof(int32_t));
	}
	free(list);
	return now;
}

void body_view_send_bare_materials(BodyView *view) {
	BarePieces *bare = &view->bare;
	SurfaceMaterial old[2] = {bare->materials[0], bare->materials[1]};
	GDExtensionObjectPtr outside = view->surface_material ? view->surface_material : view->look;
	for (int32_t i = 0; bare->exists && i < bare->surface_count; i++) {
		bare->materials[i] =
			bare->is_opened[i] ? body_view_interior_material(view, outside) : body_view_outer_material(view, outside);
		gd_rendering_server_instance_set_surface_override_material(bare->instance, i, bare->materials[i].rid);
	}
	for (int32_t i = 0; bare->exists && i < 2; i++) {
		if (i >= bare->surface_count) {
			bare->materials[i] = (SurfaceMaterial){0};
		}
		surface_material_release(&old[i]);
	}
}

void body_view_show_bare(BodyView *view, FemBodyId body) {
	int32_t *now = view->follows_owners && view->shape ? find_bare(view, body) : NULL;
	if (!now) {
		body_view_free_bare(view);
		return;
	}
	if (!view->bare.exists) {
		create(view);
	}
	gd_rendering_server_mesh_clear(view->bare.mesh);
	view->bare.surface_count = tet_drawing_of_surface(view->bare.mesh, view->shape, now, view->bare.is_opened);
	body_view_send_bare_materials(view);
	body_view_show_or_hide(view);
	free(now);
}
