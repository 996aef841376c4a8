// Bodies: memory, rest geometry, slots.
#include "world/api/bodies.h"
#include "base/carve.h"
#include "dynamics/modal_basis.h"
#include "dynamics/plate_elements.h"
#include "model/body_tet_arrays.h"
#include "model/node_arrays.h"
#include "model/piece.h"
#include "topology/tet_mesh.h"
#include "topology/topology.h"
#include "world/api/joining.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/api/splinters.h"
#include "world/contact/joint_contacts.h"
#include "world/step/breaking.h"
#include "world/step/solver_state.h"
#include "world/world.h"

#include <string.h>

// ---- memory

// Arrays by node lie in a block of their own, since a body that becomes breakable gets a larger one.
static void place_node_arrays(FemBody *body, FemCarver *carver) {
	const FemTopology *t = body->topology;
	body->before = (FemShapeBefore){0};
	fem_node_arrays_place(body, carver);
	body->part_state = FEM_CARVE(carver, uint8_t, t->part_capacity);
	body->part_still = FEM_CARVE(carver, int32_t, t->part_capacity);
	body->pieces = FEM_CARVE(carver, FemPiece, t->component_capacity);
}

// Sets the nodes at rest at their positions. Room beyond them is for nodes and parts that a split may add, which sets
// all their values.
static void clear_nodes(FemBody *body) {
	size_t parts = (size_t)body->topology->part_count;
	fem_node_arrays_clear(body);
	memset(body->part_state, 0, parts);
	memset(body->part_still, 0, sizeof *body->part_still * parts);
	memset(body->pieces, 0, sizeof *body->pieces * (size_t)body->topology->component_capacity);
}

bool fem_body_allocate_nodes(FemBody *body) {
	FemCarver measure = {0}, carver = {0};
	place_node_arrays(body, &measure);
	carver.base = fem_alloc_unset(measure.used);
	body->node_block = carver.base;
	body->node_block_bytes = measure.used;
	if (!body->node_block)
		return false;
	place_node_arrays(body, &carver);
	clear_nodes(body);
	return true;
}

// The record stands at the front of its own block.
static FemBody *allocate(const FemTopology *topology) {
	FemBody sizes = {.topology = topology};
	FemCarver measure = {0};
	fem_carve(&measure, sizeof(FemBody));
	fem_body_tet_arrays_place(&sizes, FEM_TETS_OF_BODY, &measure);
	char *block = fem_alloc(measure.used);
	if (!block)
		return NULL;
	FemCarver carver = {.base = block};
	FemBody *body = fem_carve(&carver, sizeof(FemBody));
	*body = (FemBody){.topology = topology,
		.block = block,
		.block_bytes = measure.used,
		.gravity_scale = 1.0f,
		.toughness_scale = 1.0f};
	fem_body_tet_arrays_place(body, FEM_TETS_OF_BODY, &carver);
	return body;
}

void fem_body_discard(FemBody *body) {
	const FemTopology *t = body->topology;
	fem_body_solver_free(body);
	fem_body_breaking_free(body);
	fem_body_tet_array_free(body, FEM_TET_PLATES);
	fem_plate_elements_free(body->cells);
	fem_modal_free(body->modal);
	fem_joined_free(body->joined);
	fem_body_tet_array_free(body, FEM_TET_PLASTICS);
	fem_body_tet_array_free(body, FEM_TET_FIBRES);
	FEM_FREE_ARRAY(body->reaction, t->node_capacity);
	fem_free(body->node_block, body->node_block_bytes);
	fem_topology_free(body->own_topology);
	fem_free(body->block, body->block_bytes);
}

bool fem_body_prepare_reactions(FemBody *body) {
	if (!body->reaction)
		body->reaction = FEM_ALLOC_ARRAY(FemVec4, body->topology->node_capacity);
	return body->reaction != NULL;
}

// ---- rest geometry

static bool prepare_plates(FemBody *body, const FemMesh *mesh) {
	bool has_cells = fem_plate_cell_count(&mesh->topology->cells) > 0;
	if (has_cells)
		body->cells = fem_plate_elements_create(mesh->topology);
	return (!has_cells || body->cells) && (!mesh->tet_plates || fem_body_tet_array_allocate(body, FEM_TET_PLATES));
}

static void set_plate(FemBody *body, int32_t tet, const FemTetShape *shape, float strength) {
	FemPlateFrame frame = fem_tet_plate(shape, strength);
	FemBatchPlate *plate = &body->plates[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	for (int axis = 0; axis < 3; axis++) {
		plate->normal[axis][lane] = frame.normal[axis];
		plate->tangent[axis][lane] = frame.tangent[axis];
	}
	plate->softening[lane] = frame.softening;
}

static void set_shape(FemBody *body, int32_t tet, const FemTetShape *shape) {
	FemBatch *batch = &body->batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	for (int v = 0; v < 3; v++) {
		for (int axis = 0; axis < 3; axis++)
			batch->gradient[v][axis][lane] = (float)shape->gradient[v + 1][axis];
	}
}

// Padding lanes take the gradients of the component's last tet, so that kernels find a proper F in every lane; without
// volume and moduli they have no force.
static bool set_tet(FemBody *body, const FemMesh *mesh, int32_t tet, const int32_t *tet_materials) {
	const FemTopology *t = body->topology;
	int32_t user = t->user_of_tet[tet], source = user;
	FemTetShape shape;
	for (int32_t back = tet; source < 0; back--)
		source = t->user_of_tet[back];
	if (!fem_tet_shape(mesh->positions, mesh->tets + 4 * (size_t)source, body->scale, &shape)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"Tet %d has %g m^3 under the body's scale: give the mesh a size between micrometres and %g km.", source,
			shape.volume, (double)FEM_REST_MAX * 1e-3);
		return false;
	}
	set_shape(body, tet, &shape);
	if (body->plates)
		set_plate(body, tet, &shape, user >= 0 ? mesh->tet_plates[user] : 0.0f);
	body->rotation[tet] = (FemVec4){0.0f, 0.0f, 0.0f, 1.0f};
	body->tet_material[tet] = user >= 0 ? tet_materials[user] : -1;
	if (user < 0)
		return true;
	body->batches[tet / FEM_LANES].volume[tet % FEM_LANES] = (float)shape.volume;
	body->tet_softening[tet] = fem_tet_softening(&shape, mesh->quality_clamp);
	return true;
}

FemBody *fem_body_build(FemWorld *world, int32_t mesh_index, FemVec3 scale, const int32_t *tet_materials, bool breaks) {
	const FemMesh *mesh = &world->meshes[mesh_index];
	FemBody *body = allocate(mesh->topology);
	bool ok = body && fem_body_allocate_nodes(body) && prepare_plates(body, mesh);
	if (ok) {
		fem_pieces_start(body, 0.0);
		ok = fem_body_breaking_create(world, body, mesh, tet_materials, breaks);
	}
	if (!ok) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body of %d tets.", mesh->tet_count);
	} else {
		body->mesh_index = mesh_index;
		body->scale = scale;
		body->longest_axis = fem_longest_axis(&mesh->moments, scale);
		body->asleep_since = -1;
		for (int32_t tet = 0; ok && tet < mesh->topology->batch_count * FEM_LANES; tet++)
			ok = set_tet(body, mesh, tet, tet_materials);
		if (ok && !fem_body_refresh_materials(world, body)) {
			ok = false;
			fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the plastic state of a body.");
		}
	}
	if (ok)
		return body;
	if (body)
		fem_body_discard(body);
	return NULL;
}

// ---- slots

static bool grow_slots(FemWorld *world) {
	int32_t old = world->body_capacity, capacity = old < 64 ? 64 : old + old / 2;
	FemBody **bodies = FEM_ALLOC_ARRAY(FemBody *, capacity);
	uint16_t *generations = FEM_ALLOC_ARRAY(uint16_t, capacity);
	if (!bodies || !generations) {
		FEM_FREE_ARRAY(bodies, capacity);
		FEM_FREE_ARRAY(generations, capacity);
		return false;
	}
	if (old > 0) {
		memcpy(bodies, world->bodies, sizeof *bodies * (size_t)old);
		memcpy(generations, world->body_generations, sizeof *generations * (size_t)old);
	}
	for (int32_t i = old; i < capacity; i++)
		generations[i] = fem_first_generation(world);
	FEM_FREE_ARRAY(world->bodies, old);
	FEM_FREE_ARRAY(world->body_generations, old);
	world->bodies = bodies;
	world->body_generations = generations;
	world->body_capacity = capacity;
	return true;
}

int32_t fem_body_slot(FemWorld *world) {
	int32_t index = 0;
	while (index < world->body_capacity && world->bodies[index])
		index++;
	if (index == world->body_capacity && !grow_slots(world)) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for another body.");
		return -1;
	}
	return index;
}

// Adds a body's numbers to the world's sums and its references to mesh and materials (sign 1), or takes them away (-1).
static void count_body(FemWorld *world, const FemBody *body, int32_t sign) {
	const FemTopology *t = body->topology;
	world->body_count += sign;
	world->node_count += sign * (int64_t)t->node_count;
	world->piece_count += sign * (int64_t)t->component_count;
	world->tet_count += sign * (int64_t)t->tet_count;
	world->breakable_count += sign * (body->breaking != NULL);
	world->celled_count += sign * (body->cells != NULL);
	world->joined_count += sign * (body->joined && body->joined->is_cut);
	world->meshes[body->mesh_index].use_count += sign;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (body->tet_material[tet] >= 0)
			world->materials[body->tet_material[tet]].use_count += sign;
	}
}

bool fem_body_enter(FemWorld *world, FemBody *body, int32_t body_index) {
	body->in_use = true;
	body->generation = world->body_generations[body_index];
	world->bodies[body_index] = body;
	count_body(world, body, 1);
	world->islands.dirty = true;
	if (world->node_count <= INT32_MAX && world->tet_count <= INT32_MAX && fem_world_reserve(world) &&
		fem_body_contact_create(world, body, body_index))
		return true;
	fem_body_contact_free(world, body, body_index);
	count_body(world, body, -1);
	world->bodies[body_index] = NULL;
	fem_body_discard(body);
	fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to step one more body: the world has %d.", world->body_count);
	return false;
}

// The one that is there gives nothing back before the new one has all it needs: to enter it again would take memory.
// For a moment both count, so that lists have room for both.
bool fem_body_exchange(FemWorld *world, FemBody *body, int32_t body_index) {
	FemBody *old = world->bodies[body_index];
	FEM_ASSERT(old && old != body && old->in_use);
	if (!fem_body_enter(world, body, body_index)) {
		world->bodies[body_index] = old;
		return false;
	}
	fem_body_contact_free(world, old, body_index);
	count_body(world, old, -1);
	return true;
}

void fem_world_leave(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	fem_body_contact_free(world, body, body_index);
	count_body(world, body, -1);
}

void fem_body_free(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	if (!world->is_closing)
		fem_world_wake_touching_body(world, body_index);
	fem_joints_forget(&world->contacts, body_index);
	fem_world_leave(world, body_index);
	world->bodies[body_index] = NULL;
	world->body_generations[body_index] = fem_next_generation(world->body_generations[body_index]);
	world->islands.dirty = true;
	FemMesh *mesh = &world->meshes[body->mesh_index];
	fem_body_discard(body);
	fem_mesh_forget_splinters(mesh);
}

bool fem_world_reserve(FemWorld *world) {
	return fem_contact_stage_reserve(world) && (world->heap || (world->heap = fem_heap_create()));
}
