// How a body comes by its splinters: with its mesh, or later, when another thread has cut that.
#include "simulation/simulation_world.h"

#include "classes/destructible_mesh.h"

// False when the mesh has none, or the body cannot break: it is drawn whole for ever then.
static bool give(SimulationBody *body, DestructibleMesh *mesh) {
	const FemSplinterMesh *splinters = mesh ? &mesh->baked.splinters : NULL;
	FemSplintersDef def = fem_default_splinters_def();
	if (splinters && splinters->splinter_count > 0) {
		def.splinter_count = splinters->splinter_count;
		def.home_tets = splinters->home_tets;
		def.vertex_count = splinters->vertex_count;
		def.vertex_splinters = splinters->vertex_splinters;
		def.vertex_tets = splinters->vertex_tets;
		def.vertex_positions = splinters->positions;
	}
	if (fem_body_set_splinters(body->body, &def) != FEM_OK || def.splinter_count == 0) {
		return false;
	}
	const MeshDrawing *drawing = destructible_mesh_splinter_drawing(mesh);
	mesh_drawing_find_strays(&mesh->splinter_drawing, &mesh->baked, body->body);
	return body_view_set_splinters(body->view, drawing);
}

// The first body of a mesh that was baked in the background gets them in a later tick, too: see below.
void simulation_body_find_splinters(SimulationBody *body, DestructibleMesh *mesh) {
	bool is_first = mesh && mesh->baked.splinters.splinter_count > 0 && !mesh->splinter_drawing.exists;
	bool is_later = mesh && !destructible_mesh_go_on_cutting(mesh, false);
	body->awaited = is_later || (is_first && body->settings.bake_in_background) ? mesh : NULL;
	if (!body->awaited) {
		give(body, mesh);
	}
}

// A body keeps its splinters in any state that is loaded, unless it could not break before and had none; making them
// anew takes tens of milliseconds.
void simulation_body_show_splinters(SimulationBody *body, GDExtensionObjectPtr mesh_object, bool is_broken) {
	FemVertexOwner owner;
	DestructibleMesh *mesh = class_instance(mesh_object, &destructible_mesh_class);
	bool has_some = mesh && fem_body_get_vertex_owner(body->body, 0, &owner) == FEM_OK;
	if (body->awaited) {
		return;
	}
	bool is_shown =
		has_some ? body_view_set_splinters(body->view, destructible_mesh_splinter_drawing(mesh)) : give(body, mesh);
	if (is_shown && is_broken) {
		body_view_read_owners(body->view, body->body);
	}
}

static bool is_broken(const SimulationBody *body) {
	return body->piece_count > 1 || body->is_cut ||
		fem_body_get_node_count(body->body) != body->awaited->baked.tet_mesh.node_count;
}

// Whole bodies take turns, one a frame: to give one its splinters takes some milliseconds, and nobody sees them yet.
void simulation_body_await_splinters(SimulationBody *body, bool *has_given) {
	bool breaks = is_broken(body);
	DestructibleMesh *mesh = body->awaited;
	if (!destructible_mesh_go_on_cutting(mesh, breaks && !body->settings.bake_in_background) ||
		(*has_given && !breaks)) {
		return;
	}
	body->awaited = NULL;
	*has_given = true;
	bool has_some = give(body, mesh);
	if (has_some && body->settings.rigid_piece_count == 0) {
		simulation_body_cut_pieces(body);
	}
	if (has_some && breaks) {
		body_view_read_owners(body->view, body->body);
		body->is_moved = body->is_cut = true; // pieces without a splinter are drawn, too
	}
}
