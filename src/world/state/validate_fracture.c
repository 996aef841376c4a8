// What must hold of a body that breaks, after every step.
#include "base/hash.h"
#include "model/piece.h"
#include "topology/surface.h"
#include "topology/topology.h"
#include "world/api/pieces.h"
#include "world/state/validate.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>

#define FAULT(...) fem_fail(FEM_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static bool face_has(const FemTopology *t, int32_t face, int32_t node) {
	for (int v = 0; v < 3; v++) {
		if (fem_tet_node(t, face / 4, fem_face_corners[face % 4][v]) == node)
			return true;
	}
	return false;
}

// Two tets are joined at a face exactly when each says so and they name the same nodes there.
static FemResult check_faces(const FemTopology *t, int32_t index) {
	for (int32_t face = 0; face < t->batch_count * FEM_LANES * 4; face++) {
		int32_t across = t->neighbours[face];
		if (across < 0)
			continue;
		if (t->user_of_tet[face / 4] < 0 || t->neighbours[across] != face)
			return FAULT("Body %d: tet %d is joined to one that is not joined to it.", index, t->user_of_tet[face / 4]);
		for (int v = 0; v < 3; v++) {
			if (!face_has(t, across, fem_tet_node(t, face / 4, fem_face_corners[face % 4][v])))
				return FAULT("Body %d: two joined tets name different nodes at their face.", index);
		}
	}
	return FEM_OK;
}

// Every edge of the outer faces is passed as often one way as the other.
static FemResult check_closed(const FemTopology *t, int32_t index) {
	uint64_t sum = 0;
	for (int32_t f = 0; f < t->triangle_count; f++) {
		for (int v = 0; v < 3; v++) {
			int32_t a = t->triangles[3 * f + v], b = t->triangles[3 * f + (v + 1) % 3];
			uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
			uint64_t hash = fem_hash_word(fem_hash_word(FEM_HASH_START, low), high);
			sum += a < b ? hash : (uint64_t)0 - hash;
		}
	}
	return sum == 0 ? FEM_OK : FAULT("Body %d: its surface has a hole.", index);
}

// A node whose star is in several groups is a hinge or ball joint. Those that the mesh came with are left alone.
static FemResult check_joints(const FemTopology *t, int32_t mesh_nodes, int32_t index) {
	uint8_t *was_copied = t->split ? FEM_ALLOC_ARRAY(uint8_t, mesh_nodes) : NULL; // [node of the mesh]
	FemResult result = FEM_OK;
	if (!was_copied)
		return t->split ? FAULT("The system gave no memory to look at body %d.", index) : FEM_OK;
	for (int32_t user = mesh_nodes; user < t->user_node_count; user++)
		was_copied[t->split->source_of_user[user]] = 1;
	for (int32_t i = 0; i < t->node_count; i++) {
		int32_t count = t->node_tet_start[i + 1] - t->node_tet_start[i], star[FEM_STAR_MAX], groups = 0;
		int32_t source = t->split->source_of_user[t->user_of_node[i]];
		bool was_split = was_copied[source] && count <= FEM_STAR_MAX;
		for (int32_t k = 0; was_split && k < count; k++)
			star[k] = t->node_tets[t->node_tet_start[i] + k];
		for (int32_t at = 0; was_split && at < count; groups++)
			at += fem_split_gather(t, star + at, count - at);
		if (groups > 1)
			result = FAULT(
				"Body %d: node %d holds %d groups of tets together like a joint.", index, t->user_of_node[i], groups);
	}
	FEM_FREE_ARRAY(was_copied, mesh_nodes);
	return result;
}

static FemResult check_pieces(const FemBody *body, int32_t smallest, int32_t index) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		if (t->component_tets[c] < FEM_PIECE_TETS_MIN && t->component_tets[c] < smallest)
			return FAULT("Body %d: a piece has %d tets.", index, t->component_tets[c]);
		if (body->pieces[c].number == 0 || body->pieces[c].number >= body->breaking->next_piece)
			return FAULT("Body %d: a piece has number %u.", index, body->pieces[c].number);
		for (int32_t d = 0; d < c; d++) {
			if (body->pieces[c].number == body->pieces[d].number)
				return FAULT("Body %d: two pieces have number %u.", index, body->pieces[c].number);
		}
	}
	return FEM_OK;
}

static FemResult check_mass(const FemWorld *world, const FemBody *body, int32_t index) {
	double nodes = 0.0, tets = 0.0;
	for (int32_t i = 0; i < body->topology->node_count; i++)
		nodes += (double)body->mass[i];
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->tet_material[tet] >= 0)
			tets += (double)(world->materials[body->tet_material[tet]].def.density *
				body->batches[tet / FEM_LANES].volume[tet % FEM_LANES]);
	}
	return fabs(nodes - tets) <= 1e-5 * tets
		? FEM_OK
		: FAULT("Body %d: its nodes have %g kg, its tets %g kg.", index, nodes, tets);
}

// No vertex follows a tet across an open face from its splinter's home.
static FemResult check_splinters(const FemBody *body, int32_t index) {
	FemSplinters *splinters = body->breaking->splinters;
	bool can_be_wrong = splinters && splinters->own_block; // shared ones are those of the whole mesh
	if (splinters && !can_be_wrong && body->own_topology &&
		body->topology->node_count > splinters->rest.topology->node_count)
		return FAULT("Body %d: it broke, but its splinters are those of a whole body.", index);
	int32_t vertex = can_be_wrong ? fem_splinters_find_fault(splinters, body->topology) : -1;
	return vertex < 0 ? FEM_OK
					  : FAULT("Body %d: vertex %d of splinter %d is cut off from its home, or its weights are wrong.",
							index, vertex, splinters->given.vertex_splinters[vertex]);
}

static FemResult check_temper(const FemBody *body, int32_t index) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		float temper = body->tet_temper[tet];
		if (temper != 0.0f && temper != 1.0f)
			return FAULT("Body %d: a tet has the share %g of its prestress.", index, (double)temper);
	}
	return FEM_OK;
}

static FemResult check_crushed(const FemBody *body, int32_t index) {
	double mass = body->breaking->crushed_mass;
	if (!(mass >= 0.0) || (mass > 0.0 && body->topology->tet_count == body->topology->user_tet_count))
		return FAULT("Body %d: %g kg of it were crushed, but no tet is gone.", index, mass);
	return FEM_OK;
}

static int32_t smallest_of_mesh(const FemTopology *t) {
	int32_t smallest = INT32_MAX;
	for (int32_t c = 0; c < t->component_count; c++)
		smallest = t->component_tets[c] < smallest ? t->component_tets[c] : smallest;
	return smallest;
}

// Joints name tets of the mesh, and what hangs together by them is known.
static FemResult check_joined(const FemBody *body, int32_t index) {
	const FemTopology *t = body->topology;
	const FemJoined *joined = body->joined;
	if (!joined || !joined->is_cut)
		return FEM_OK;
	int32_t whole = 0, corners = 4 * t->batch_count * FEM_LANES;
	for (int32_t i = 0; i < joined->bond_count; i++) {
		const FemBond *bond = &joined->bonds[i];
		if (bond->corner[0] < 0 || bond->corner[0] >= corners || bond->corner[1] < 0 || bond->corner[1] >= corners)
			return FAULT("Body %d: bond %d is between no tets.", index, i);
		if (!fem_bond_holds(t, bond))
			continue;
		int32_t a = fem_node_component(t, fem_bond_node(t, bond, 0));
		int32_t b = fem_node_component(t, fem_bond_node(t, bond, 1));
		if (a == b || body->pieces[a].assembly != body->pieces[b].assembly || !body->pieces[a].is_joined)
			return FAULT("Body %d: bond %d holds nothing together.", index, i);
		whole++;
	}
	return whole == joined->whole_count && joined->kick_count <= joined->bond_count
		? FEM_OK
		: FAULT("Body %d counts %d bonds of %d that hold.", index, joined->whole_count, whole);
}

FemResult fem_body_check_breaking(const FemWorld *world, int32_t index) {
	FemBody *body = world->bodies[index];
	const FemTopology *t = body->topology;
	if (!body->breaking)
		return body->own_topology ? FAULT("Body %d cannot break but has a topology of its own.", index) : FEM_OK;
	if (t != (body->own_topology ? body->own_topology : world->meshes[body->mesh_index].topology))
		return FAULT("Body %d: its topology is neither its own nor its mesh's.", index);
	if (t->node_count > t->node_capacity || t->part_count > t->part_capacity || (t->split && t->split->is_open))
		return FAULT("Body %d: its topology is over full or half split.", index);
	FemResult result = fem_topology_check(t, index);
	if (result == FEM_OK)
		result = check_faces(t, index);
	if (result == FEM_OK)
		result = check_closed(t, index);
	if (result == FEM_OK)
		result = check_joints(t, world->meshes[body->mesh_index].node_count, index);
	if (result == FEM_OK)
		result = check_pieces(body, smallest_of_mesh(world->meshes[body->mesh_index].topology), index);
	if (result == FEM_OK)
		result = check_temper(body, index);
	if (result == FEM_OK)
		result = check_crushed(body, index);
	if (result == FEM_OK)
		result = check_joined(body, index);
	if (result == FEM_OK)
		result = check_splinters(body, index);
	return result == FEM_OK ? check_mass(world, body, index) : result;
}
