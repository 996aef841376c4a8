// Walks every structure and says what the first fault is.
#include "world/world.h"

#include "base/memory.h"
#include "dynamics/rigid_shape.h"
#include "model/piece.h"
#include "world/api/checks.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/state/validate.h"

#include <math.h>

#define RIGID_TOLERANCE 1e-5 // of the size and place of a rigid piece: rounding, and a fast object put back; chosen
#define HINGE_TOLERANCE 1e-4 // the same of one that swings on pins, which lie on a line within as much
// m, of what sleeps far from its body's origin, where fast debris had drawn that: what a float holds at 200 m
#define FAR_ROUNDING 2e-5
#define MEASURE_TOLERANCE 1e-4f // relative, of sums over a piece: rounding of 1e5 floats at the most
#define FAULT(...) fem_fail(FEM_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static bool in_range(int32_t value, int32_t count) {
	return value >= 0 && value < count;
}

// ---- topology

static FemResult check_numbering(const FemTopology *t, int32_t mesh) {
	for (int32_t i = 0; i < t->node_count; i++) {
		if (!in_range(t->user_of_node[i], t->user_node_count) || t->node_of_user[t->user_of_node[i]] != i)
			return FAULT("Mesh %d: node %d has no user number of its own.", mesh, i);
	}
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		if (t->split && t->tet_of_user[user] == -1)
			continue; // removed
		if (!in_range(t->tet_of_user[user], t->batch_count * FEM_LANES) || t->user_of_tet[t->tet_of_user[user]] != user)
			return FAULT("Mesh %d: user tet %d has no lane of its own.", mesh, user);
	}
	int32_t count = 0;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++)
		count += t->user_of_tet[tet] >= 0;
	for (int32_t at = 0; at < t->batch_count * FEM_LANES * 4; at++) {
		if (!in_range(t->batch_nodes[at], t->node_count))
			return FAULT("Mesh %d: a tet names node %d of %d.", mesh, t->batch_nodes[at], t->node_count);
	}
	return count == t->tet_count ? FEM_OK
								 : FAULT("Mesh %d: %d lanes are filled for %d tets.", mesh, count, t->tet_count);
}

static FemResult check_parts(const FemTopology *t, int32_t mesh) {
	int32_t node = 0, part = 0, tets = 0;
	for (int32_t c = 0; c < t->component_count; c++) {
		FemRange parts = t->component_parts[c], nodes = t->component_nodes[c];
		tets += t->component_tets[c];
		if (parts.begin != part || nodes.begin != node || t->component_tets[c] < 1 || parts.end <= parts.begin)
			return FAULT("Mesh %d: component %d does not follow the one before.", mesh, c);
		for (; part < parts.end && part < t->part_count; part++) {
			if (t->part_nodes[part].begin != node || t->part_nodes[part].end <= node || t->part_component[part] != c)
				return FAULT("Mesh %d: part %d does not follow the one before.", mesh, part);
			for (; node < t->part_nodes[part].end && node < t->node_count; node++) {
				if (t->node_part[node] != part)
					return FAULT("Mesh %d: node %d is not in part %d.", mesh, node, part);
			}
		}
		if (node != nodes.end)
			return FAULT("Mesh %d: component %d and its parts end at different nodes.", mesh, c);
	}
	if (node != t->node_count || part != t->part_count || tets != t->tet_count)
		return FAULT("Mesh %d: components do not cover all nodes, parts and tets.", mesh);
	return FEM_OK;
}

static FemResult check_rows(const FemTopology *t, int32_t mesh) {
	int32_t edge = 0;
	for (int32_t i = 0; i < t->node_count; i++) {
		if (t->node_edge_start[i] != edge || t->row_start[i + 1] < t->row_start[i])
			return FAULT("Mesh %d: row or edges of node %d do not follow those before.", mesh, i);
		for (int32_t s = t->row_start[i]; s < t->row_start[i + 1]; s++) {
			int32_t j = t->row_column[s];
			if (!in_range(j, t->node_count) || j == i || (s > t->row_start[i] && t->row_column[s - 1] >= j))
				return FAULT("Mesh %d: row %d is not ascending or out of range.", mesh, i);
			if (j < i)
				continue;
			int32_t back = t->edge_slots[2 * (size_t)edge + 1];
			if (t->edge_slots[2 * (size_t)edge] != s ||
				!in_range(back - t->row_start[j], t->row_start[j + 1] - t->row_start[j]) || t->row_column[back] != i)
				return FAULT("Mesh %d: edge %d (%d, %d) has wrong slots.", mesh, edge, i, j);
			edge++;
		}
	}
	return edge == t->edge_count ? FEM_OK : FAULT("Mesh %d: rows hold %d edges of %d.", mesh, edge, t->edge_count);
}

static int32_t lane_node(const FemTopology *t, int32_t tet, int32_t local) {
	return t->batch_nodes[(tet / FEM_LANES * 4 + local) * FEM_LANES + tet % FEM_LANES];
}

static FemResult check_references(const FemTopology *t, int32_t mesh) {
	for (int32_t i = 0; i < t->node_count; i++) {
		for (int32_t s = t->node_tet_start[i]; s < t->node_tet_start[i + 1]; s++) {
			int32_t tet = t->node_tets[s] / 4;
			if (!in_range(tet, t->batch_count * FEM_LANES) || lane_node(t, tet, t->node_tets[s] % 4) != i)
				return FAULT("Mesh %d: node %d names tet %d, which does not have it.", mesh, i, tet);
		}
		for (int32_t e = t->node_edge_start[i]; e < t->node_edge_start[i + 1]; e++) {
			int32_t j = t->row_column[t->edge_slots[2 * (size_t)e]];
			for (int32_t s = t->edge_tet_start[e]; s < t->edge_tet_start[e + 1]; s++) {
				int32_t tet = t->edge_tets[s] / 16, local = t->edge_tets[s] % 16;
				if (!in_range(tet, t->batch_count * FEM_LANES) || lane_node(t, tet, local / 4) != i ||
					lane_node(t, tet, local % 4) != j)
					return FAULT("Mesh %d: edge %d names tet %d, which does not have it.", mesh, e, tet);
			}
		}
	}
	if (t->node_tet_start[t->node_count] != 4 * t->tet_count || t->edge_tet_start[t->edge_count] != 6 * t->tet_count)
		return FAULT("Mesh %d: tets around nodes or edges are missing.", mesh);
	return FEM_OK;
}

static int32_t corner_node(const FemTopology *t, int32_t cell, int32_t corner) {
	int32_t at = t->cells.cells[cell].corners[corner];
	return lane_node(t, at / 4, at % 4);
}

static FemResult check_cells(const FemTopology *t, int32_t mesh) {
	int32_t expected = 0, count = fem_plate_cell_count(&t->cells);
	for (int32_t cell = 0; cell < count; cell++) {
		int32_t corners = 2 * fem_cell_column_count(&t->cells.cells[cell]);
		expected += t->cell_is_whole[cell] ? corners * (corners - 1) / 2 : 0;
	}
	for (int32_t i = 0; count > 0 && i < t->node_count; i++) {
		for (int32_t e = t->node_edge_start[i]; e < t->node_edge_start[i + 1]; e++) {
			int32_t j = t->row_column[t->edge_slots[2 * (size_t)e]];
			for (int32_t s = t->edge_cell_start[e]; s < t->edge_cell_start[e + 1]; s++) {
				int32_t cell = t->edge_cells[s] / 64, pair = t->edge_cells[s] % 64;
				if (!in_range(cell, count) || !t->cell_is_whole[cell] || corner_node(t, cell, pair / 8) != i ||
					corner_node(t, cell, pair % 8) != j)
					return FAULT("Mesh %d: edge %d names plate cell %d, which does not have it.", mesh, e, cell);
			}
		}
	}
	if (count > 0 && t->edge_cell_start[t->edge_count] != expected)
		return FAULT("Mesh %d: plate cells around edges are missing.", mesh);
	return FEM_OK;
}

static FemResult check_surface(const FemTopology *t, int32_t mesh) {
	for (int32_t f = 0; f < t->triangle_count; f++) {
		int32_t tet = t->triangle_tets[f], found = 0;
		if (!in_range(tet, t->batch_count * FEM_LANES) || t->user_of_tet[tet] < 0)
			return FAULT("Mesh %d: outer face %d has no tet.", mesh, f);
		const int32_t *face = t->triangles + 3 * (size_t)f;
		for (int32_t local = 0; local < 4; local++) {
			int32_t node = lane_node(t, tet, local);
			found += node == face[0] || node == face[1] || node == face[2];
		}
		if (found != 3) // the tet's nodes differ, so 3 of them make 3 different corners
			return FAULT("Mesh %d: outer face %d is no face of its tet.", mesh, f);
	}
	return FEM_OK;
}

FemResult fem_topology_check(const FemTopology *t, int32_t index) {
	FemResult result = check_numbering(t, index);
	if (result == FEM_OK)
		result = check_parts(t, index);
	if (result == FEM_OK)
		result = check_rows(t, index);
	if (result == FEM_OK)
		result = check_references(t, index);
	if (result == FEM_OK)
		result = check_cells(t, index);
	return result == FEM_OK ? check_surface(t, index) : result;
}

static FemResult check_mesh(const FemWorld *world, int32_t index) {
	const FemMesh *mesh = &world->meshes[index];
	int32_t uses = 0;
	if (!mesh->in_use)
		return mesh->topology ? FAULT("Mesh slot %d is free but holds a topology.", index) : FEM_OK;
	for (int32_t b = 0; b < world->body_capacity; b++)
		uses += world->bodies[b] && world->bodies[b]->mesh_index == index;
	if (uses != mesh->use_count)
		return FAULT("Mesh %d counts %d bodies, but %d use it.", index, mesh->use_count, uses);
	return fem_topology_check(mesh->topology, index);
}

// ---- bodies

static bool is_finite_vec4(FemVec4 v) {
	return fem_is_finite(v.x) && fem_is_finite(v.y) && fem_is_finite(v.z) && fem_is_finite(v.w);
}

static FemResult check_nodes(const FemBody *body, int32_t index) {
	int32_t pinned = 0;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		int32_t user = body->topology->user_of_node[i];
		if (!is_finite_vec4(body->position[i]) || !is_finite_vec4(body->velocity[i]) ||
			!is_finite_vec4(body->last_dv[i]) || !is_finite_vec4(body->force[i]))
			return FAULT("Body %d: node %d has a position, velocity or force that is not finite.", index, user);
		if (!is_finite_vec4(body->published[user]) || !is_finite_vec4(body->good_velocity[i]))
			return FAULT("Body %d: node %d was published with a number that is not finite.", index, user);
		if (!(body->mass[i] > 0.0f) || !fem_is_finite(body->mass[i]) || !(body->mass_damping[i] >= 0.0f))
			return FAULT("Body %d: node %d has mass %g kg.", index, user, (double)body->mass[i]);
		if (body->node_kind[i] > FEM_NODE_DRIVEN)
			return FAULT("Body %d: node %d is of no known kind.", index, user);
		FemVec4 v = body->velocity[i];
		if (body->node_kind[i] == FEM_NODE_PINNED && (v.x != 0.0f || v.y != 0.0f || v.z != 0.0f))
			return FAULT("Body %d: pinned node %d moves.", index, user);
		pinned += body->node_kind[i] != FEM_NODE_FREE;
	}
	if (pinned != body->pinned_count || (pinned > 0 && !body->reaction))
		return FAULT("Body %d counts %d pinned nodes, but has %d.", index, body->pinned_count, pinned);
	return FEM_OK;
}

static bool batch_is_sound(const FemBatch *batch, int32_t lane) {
	for (int v = 0; v < 3; v++) {
		for (int axis = 0; axis < 3; axis++) {
			if (!fem_is_finite(batch->gradient[v][axis][lane]))
				return false;
		}
	}
	return batch->volume[lane] > 0.0f && batch->mu[lane] > 0.0f && batch->lambda[lane] >= 0.0f &&
		batch->damping[lane] >= 0.0f;
}

static FemResult check_tets(const FemWorld *world, const FemBody *body, int32_t index) {
	const FemTopology *t = body->topology;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		FemVec4 q = body->rotation[tet];
		float length_sq = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
		if (!(fabsf(length_sq - 1.0f) < 1e-3f))
			return FAULT(
				"Body %d: tet %d has a rotation of length %g.", index, t->user_of_tet[tet], sqrt((double)length_sq));
		if (t->user_of_tet[tet] < 0)
			continue;
		int32_t material = body->tet_material[tet];
		if (!in_range(material, world->material_capacity) || !world->materials[material].in_use)
			return FAULT("Body %d: tet %d has no material.", index, t->user_of_tet[tet]);
		if (!batch_is_sound(&body->batches[tet / FEM_LANES], tet % FEM_LANES))
			return FAULT("Body %d: tet %d has no sound volume, gradients or moduli.", index, t->user_of_tet[tet]);
		for (int i = 0; body->plastics && i < 6; i++) {
			if (!fem_is_finite(body->plastics[tet / FEM_LANES].strain[i][tet % FEM_LANES]))
				return FAULT("Body %d: tet %d has a plastic strain that is not finite.", index, t->user_of_tet[tet]);
		}
		if (body->plastics && !(body->plastics[tet / FEM_LANES].fold[tet % FEM_LANES] >= 0.0f))
			return FAULT("Body %d: tet %d has a fold of no angle.", index, t->user_of_tet[tet]);
	}
	return FEM_OK;
}

static FemResult check_part_states(const FemBody *body, int32_t index) {
	int32_t live = 0;
	for (int32_t p = 0; p < body->topology->part_count; p++) {
		if (body->part_state[p] > FEM_ISLAND_KINEMATIC || body->part_still[p] < 0)
			return FAULT("Body %d: part %d is in no known state.", index, p);
		if ((body->part_state[p] == FEM_ISLAND_KINEMATIC) != body->kinematic)
			return FAULT("Body %d: part %d and its body disagree about being kinematic.", index, p);
		live += body->part_state[p] == FEM_ISLAND_LIVE;
	}
	if (live != body->live_part_count)
		return FAULT("Body %d counts %d live parts, but has %d.", index, body->live_part_count, live);
	return FEM_OK;
}

FemResult fem_body_check(const FemWorld *world, int32_t index) {
	const FemBody *body = world->bodies[index];
	if (!in_range(body->mesh_index, world->mesh_capacity) || !world->meshes[body->mesh_index].in_use ||
		(!body->own_topology && world->meshes[body->mesh_index].topology != body->topology))
		return FAULT("Body %d has no mesh.", index);
	if (body->generation != world->body_generations[index] || !body->in_use)
		return FAULT("Body %d and its slot are of different generations.", index);
	if (!fem_position_is_valid(body->origin) || !fem_position_is_valid(body->published_origin))
		return FAULT("Body %d has an origin outside the world.", index);
	FemResult result = check_nodes(body, index);
	if (result == FEM_OK)
		result = check_tets(world, body, index);
	return result == FEM_OK ? check_part_states(body, index) : result;
}

// ---- pieces

static bool is_near(float value, float expected) {
	return fabsf(value - expected) <= MEASURE_TOLERANCE * fabsf(expected); // false for NaN
}

// Against the same measures taken anew. Of the surface there are none while contacts are off.
static FemResult check_piece(const FemWorld *world, int32_t index, const FemPiece *piece, const FemPiece *anew) {
	if (!is_near(piece->mass, anew->mass) || !(piece->mass > 0.0f))
		return FAULT("Body %d: piece %u has %g kg, its nodes %g kg.", index, piece->number, (double)piece->mass,
			(double)anew->mass);
	if (piece->pinned_count != anew->pinned_count)
		return FAULT("Body %d: piece %u counts %d pinned nodes, but has %d.", index, piece->number, piece->pinned_count,
			anew->pinned_count);
	if (!world->def.contacts_enabled)
		return FEM_OK;
	if (!is_near(piece->volume, anew->volume) || !is_near(piece->area, anew->area) ||
		!is_near(piece->thickness, anew->thickness) || !is_near(piece->box_area, anew->box_area) ||
		!is_near(piece->length, anew->length))
		return FAULT("Body %d: piece %u measures %g m^3, %g m^2, %g m and %g m^2, not %g, %g, %g and %g.", index,
			piece->number, (double)piece->volume, (double)piece->area, (double)piece->thickness,
			(double)piece->box_area, (double)anew->volume, (double)anew->area, (double)anew->thickness,
			(double)anew->box_area);
	return FEM_OK;
}

// A rigid piece is awake or asleep as a whole, is nowhere driven, and its nodes are where its shape says.
static FemResult check_rigid_piece(const FemBody *body, int32_t index, int32_t component) {
	const FemPiece *piece = &body->pieces[component];
	FemRange nodes = body->topology->component_nodes[component], parts = body->topology->component_parts[component];
	double off = 0.0, center[3] = {0}, mass = 0.0, largest = 0.0, rotation[9];
	for (int32_t p = parts.begin; p < parts.end; p++) {
		if (body->part_state[p] != body->part_state[parts.begin])
			return FAULT("Body %d: rigid piece %u is awake in parts.", index, piece->number);
	}
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (body->node_kind[i] == FEM_NODE_DRIVEN)
			return FAULT("Body %d: rigid piece %u has a driven node.", index, piece->number);
		mass += (double)body->mass[i];
		for (int k = 0; k < 3; k++)
			center[k] += (double)body->mass[i] * (double)(&body->position[i].x)[k];
	}
	for (int k = 0; k < 3; k++)
		center[k] /= mass;
	memcpy(rotation, piece->shape_rotation, sizeof rotation);
	fem_rigid_shape_find_rotation(body, nodes, center, rotation); // it may have been moved since its last step
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *s = &body->shape[i].x, *x = &body->position[i].x;
		for (int k = 0; k < 3; k++) {
			const double *row = rotation + 3 * k;
			double at = center[k] + row[0] * (double)s[0] + row[1] * (double)s[1] + row[2] * (double)s[2];
			off = fmax(off, fabs((double)x[k] - at));
			largest = fmax(largest, fabs((double)s[k]) + fabs((double)x[k]));
		}
	}
	double tolerance = (fem_piece_is_attached(body, component) ? HINGE_TOLERANCE : RIGID_TOLERANCE) * largest;
	if (!(off <= tolerance + (fem_piece_is_live(body, component) ? 0.0 : FAR_ROUNDING)))
		return FAULT("Body %d: rigid piece %u is %g m off its shape.", index, piece->number, off);
	return FEM_OK;
}

static FemResult check_piece_measures(const FemWorld *world, int32_t index) {
	FemBody copy = *world->bodies[index];
	const FemPiece *pieces = copy.pieces;
	int32_t count = copy.topology->component_count;
	FemResult result = FEM_OK;
	copy.pieces = FEM_ALLOC_ARRAY(FemPiece, count);
	if (!copy.pieces)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to measure %d pieces.", count);
	fem_pieces_weigh(&copy);
	fem_pieces_count_pinned(&copy);
	if (world->def.contacts_enabled)
		fem_pieces_measure(&world->meshes[copy.mesh_index], &copy);
	for (int32_t c = 0; result == FEM_OK && c < count; c++)
		result = check_piece(world, index, &pieces[c], &copy.pieces[c]);
	for (int32_t c = 0; result == FEM_OK && c < count; c++)
		result = pieces[c].is_rigid ? check_rigid_piece(world->bodies[index], index, c) : FEM_OK;
	if (result == FEM_OK && !is_near(world->bodies[index]->total_mass, copy.total_mass))
		result = FAULT("Body %d has %g kg, its nodes %g kg.", index, (double)world->bodies[index]->total_mass,
			(double)copy.total_mass);
	FEM_FREE_ARRAY(copy.pieces, count);
	return result;
}

// ---- islands

static FemResult check_island(const FemWorld *world, int32_t index, int32_t *out_chunk) {
	const FemIslands *islands = &world->islands;
	const FemIsland *island = &islands->islands[index];
	if (!in_range(island->body, world->body_capacity) || !world->bodies[island->body])
		return FAULT("Island %d has no body.", index);
	const FemBody *body = world->bodies[island->body];
	int32_t nodes = 0;
	for (int32_t at = island->parts.begin; at < island->parts.end; at++) {
		int32_t part = islands->part_list[at];
		if (!in_range(part, body->topology->part_count) || body->topology->part_component[part] != island->component)
			return FAULT("Island %d has part %d, which is not of its component.", index, part);
		if (body->part_state[part] != FEM_ISLAND_LIVE)
			return FAULT("Island %d has part %d, which is not live.", index, part);
	}
	if (island->node_chunks.begin != *out_chunk)
		return FAULT("Island %d does not follow the one before.", index);
	for (; *out_chunk < island->node_chunks.end; (*out_chunk)++) {
		const FemNodeChunk *chunk = &islands->node_chunks[*out_chunk];
		if (chunk->body != island->body || chunk->island != index || chunk->begin < 0 || chunk->end <= chunk->begin ||
			chunk->end > body->topology->node_count || chunk->end - chunk->begin > FEM_NODE_CHUNK)
			return FAULT("Island %d has a wrong chunk of nodes.", index);
		nodes += chunk->end - chunk->begin;
	}
	return nodes == island->node_count ? FEM_OK
									   : FAULT("Island %d counts %d nodes of %d.", index, island->node_count, nodes);
}

// The lists are only true until something changes; the next step then makes them again.
static FemResult check_islands(const FemWorld *world) {
	const FemIslands *islands = &world->islands;
	int32_t live = 0, chunk = 0;
	if (islands->dirty)
		return FEM_OK;
	for (int32_t i = 0; i < islands->count; i++) {
		FemResult result = check_island(world, i, &chunk);
		if (result != FEM_OK)
			return result;
	}
	for (int32_t b = 0; b < world->body_capacity; b++)
		live += world->bodies[b] ? world->bodies[b]->live_part_count : 0;
	if (live != islands->part_count || chunk != islands->node_chunk_count)
		return FAULT("Islands hold %d parts and %d chunks, but %d parts are live.", islands->part_count, chunk, live);
	for (int32_t c = 0; c < islands->batch_chunk_count; c++) {
		const FemBatchChunk *batches = &islands->batch_chunks[c];
		if (!in_range(batches->body, world->body_capacity) || !world->bodies[batches->body] || batches->begin < 0 ||
			batches->end > world->bodies[batches->body]->topology->batch_count)
			return FAULT("Chunk %d of batches lies outside its body.", c);
	}
	return FEM_OK;
}

// ---- world

static FemResult check_material(const FemWorld *world, int32_t index) {
	int64_t uses = 0;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		for (int32_t tet = 0; body && tet < body->topology->batch_count * FEM_LANES; tet++)
			uses += body->tet_material[tet] == index;
	}
	if (uses != world->materials[index].use_count)
		return FAULT(
			"Material %d counts %d tets, but %.0f have it.", index, world->materials[index].use_count, (double)uses);
	return FEM_OK;
}

static FemResult check_sums(const FemWorld *world) {
	int32_t bodies = 0;
	int64_t nodes = 0, tets = 0, pieces = 0;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (!world->bodies[b])
			continue;
		bodies++;
		nodes += world->bodies[b]->topology->node_count;
		tets += world->bodies[b]->topology->tet_count;
		pieces += world->bodies[b]->topology->component_count;
	}
	if (bodies != world->body_count || nodes != world->node_count || tets != world->tet_count ||
		pieces != world->piece_count)
		return FAULT("The world counts %d bodies, but has %d, or their nodes, tets or pieces differ.",
			world->body_count, bodies);
	if (world->event_count < 0 || world->event_count > FEM_EVENT_MAX)
		return FAULT("The world counts %d events.", world->event_count);
	return FEM_OK;
}

FemResult fem_world_check(FemWorld *world) {
	FemResult result = check_sums(world);
	for (int32_t m = 0; result == FEM_OK && m < world->mesh_capacity; m++)
		result = check_mesh(world, m);
	for (int32_t b = 0; result == FEM_OK && b < world->body_capacity; b++)
		result = world->bodies[b] ? fem_body_check(world, b) : FEM_OK;
	for (int32_t b = 0; result == FEM_OK && b < world->body_capacity; b++)
		result = world->bodies[b] ? fem_body_check_breaking(world, b) : FEM_OK;
	for (int32_t b = 0; result == FEM_OK && b < world->body_capacity; b++)
		result = world->bodies[b] ? check_piece_measures(world, b) : FEM_OK;
	for (int32_t m = 0; result == FEM_OK && m < world->material_capacity; m++)
		result = world->materials[m].in_use ? check_material(world, m) : FEM_OK;
	if (result == FEM_OK)
		result = check_islands(world);
	return result == FEM_OK ? fem_world_check_contacts(world) : result;
}

FemResult fem_world_validate(FemWorldId id) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	return world ? fem_world_check(world) : result;
}
