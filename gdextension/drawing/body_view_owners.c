// How a body that breaks shows its splinters: which tets their vertices follow, and how they get there.
#include "drawing/body_view.h"

static int64_t owner_usec;

int64_t body_view_take_owner_usec(void) {
	int64_t usec = owner_usec;
	owner_usec = 0;
	return usec;
}

bool body_view_set_splinters(BodyView *view, const MeshDrawing *splinters) {
	embedded_copy_free(&view->copy);
	owner_blends_free(&view->blends);
	body_view_free_bare(view);
	view->splinters = splinters;
	view->follows_owners = view->exists && view->drawing && splinters &&
		embedded_mesh_prepare_copies((EmbeddedMesh *)&splinters->embedded);
	return view->follows_owners;
}

static void set_owner_of_body(BodyView *view, FemBodyId body, int32_t vertex) {
	FemVertexOwner owner;
	if (fem_body_get_vertex_owner(body, vertex, &owner) == FEM_OK) {
		embedded_copy_set_owner(&view->copy, vertex, &owner);
	}
}

// The copy has the outside as it was baked. No step tells of vertices that have followed another tet ever since.
static void set_first_owners(BodyView *view, FemBodyId body) {
	const MeshDrawing *splinters = view->splinters;
	int32_t count = splinters->stray_count >= 0 ? splinters->stray_count : splinters->first_cut;
	for (int32_t i = 0; i < count; i++) {
		set_owner_of_body(view, body, splinters->stray_count >= 0 ? splinters->strays[i] : i);
	}
}

// False when there is no copy whose owners could be set.
static bool open_faces(BodyView *view, FemBodyId body, const FemOwnerChange *changes, int32_t count) {
	if (!view->copy.exists) {
		if (!splinter_faces_create(&view->faces, view->splinters) ||
			!embedded_copy_create(&view->copy, (EmbeddedMesh *)&view->splinters->embedded)) {
			view->follows_owners = false; // from now on its tets are drawn
			return false;
		}
		set_first_owners(view, body);
		body_view_update_mesh(view, body);
	}
	splinter_faces_open(&view->faces, view->splinters, &view->copy, body, changes, count);
	return true;
}

static void set_owners(BodyView *view, const FemOwnerChange *changes, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		if (splinter_faces_shows(&view->faces, view->splinters, changes[i].vertex)) {
			embedded_copy_set_owner(&view->copy, changes[i].vertex, &changes[i].owner);
		}
	}
}

// Faces that have just opened come along with the outside, so that pieces stay closed on the way.
static void blend_owners(BodyView *view, FemBodyId body, const FemOwnerChange *changes, int32_t count) {
	FemShape shape;
	const float *positions = fem_body_get_shape(body, false, &shape);
	for (int32_t i = 0; positions && i < count; i++) {
		bool moves = changes[i].kind != FEM_OWNER_NODES; // else the same place, and the same way to go
		if (moves && splinter_faces_shows(&view->faces, view->splinters, changes[i].vertex)) {
			owner_blends_take(&view->blends, &view->copy, positions, shape.node_count, &changes[i]);
		}
	}
}

bool body_view_take_owners(BodyView *view, FemBodyId body, float delta, float duration) {
	const FemOwnerChange *changes;
	int32_t count = view->follows_owners ? fem_body_get_owner_changes(body, &changes) : 0;
	owner_blends_advance(&view->blends, delta, duration);
	if (count <= 0) {
		return view->blends.count > 0;
	}
	int64_t start = gd_time_get_ticks_usec();
	if (open_faces(view, body, changes, count)) {
		if (duration > 0.0f || view->blends.count > 0) {
			blend_owners(view, body, changes, count);
		}
		set_owners(view, changes, count);
	}
	owner_usec += gd_time_get_ticks_usec() - start;
	return view->blends.count > 0;
}

void body_view_send_owners(BodyView *view) {
	if (!view->copy.exists) {
		return;
	}
	int64_t start = gd_time_get_ticks_usec();
	owner_blends_write(&view->blends, &view->copy, body_nodes_fraction(&view->nodes));
	embedded_copy_send(&view->copy);
	owner_usec += gd_time_get_ticks_usec() - start;
	if (view->nodes.calm_frames == 1) {
		embedded_mesh_restock((EmbeddedMesh *)&view->splinters->embedded);
	}
}

void body_view_read_owners(BodyView *view, FemBodyId body) {
	for (int32_t i = 0; view->follows_owners && i < view->splinters->embedded.vertex_count; i++) {
		FemOwnerChange change = {.vertex = i, .kind = FEM_OWNER_TET};
		if (fem_body_get_vertex_owner(body, i, &change.owner) == FEM_OK && open_faces(view, body, &change, 1)) {
			set_owners(view, &change, 1);
		}
	}
}
