// One body in a snapshot.
#include "base/memory.h"
#include "base/vec.h"
#include "dynamics/plate_flow.h"
#include "model/body_tet_arrays.h"
#include "model/node_arrays.h"
#include "model/piece.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/pieces.h"
#include "world/state/snapshot.h"
#include "world/state/stream.h"
#include "world/step/solver_state.h"
#include "world/world.h"

// Fields that stand for themselves, in the order of the file.
static void sync_fields(FemStream *s, FemBody *body) {
	FEM_STREAM(s, body->user_data);
	FEM_STREAM(s, body->layer);
	FEM_STREAM(s, body->mask);
	fem_stream_bool(s, &body->self_contact);
	FEM_STREAM(s, body->dynamics);
	s->failed = s->failed || fem_dynamics_check((FemDynamics)body->dynamics) != FEM_OK;
	FEM_STREAM(s, body->gravity_scale);
	FEM_STREAM(s, body->toughness_scale);
	s->failed = s->failed || fem_body_settings_check(body->gravity_scale, body->toughness_scale) != FEM_OK;
	FEM_STREAM(s, body->pose_position);
	FEM_STREAM(s, body->pose_rotation);
	FEM_STREAM(s, body->origin);
	FEM_STREAM(s, body->published_origin);
	FEM_STREAM(s, body->box_min);
	FEM_STREAM(s, body->box_max);
	fem_stream_bool(s, &body->has_forces);
	fem_stream_bool(s, &body->kinematic);
	fem_stream_bool(s, &body->was_asleep);
	fem_stream_bool(s, &body->is_stiff);
	FEM_STREAM(s, body->blow_speed);
	s->failed = s->failed || !(body->blow_speed >= 0.0f);
	FEM_STREAM(s, body->live_tets);
}

static void sync_nodes(FemStream *s, FemBody *body, bool optional) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		size_t bytes = fem_node_value_bytes(array->value) * (size_t)fem_node_array_count(body, array);
		if (array->is_saved && array->is_optional == optional && fem_node_array(body, array))
			fem_stream_bytes(s, fem_node_array(body, array), bytes);
	}
}

void fem_snapshot_sync_tets(FemStream *s, FemBody *body, FemTetSaved group) {
	bool more = true;
	for (int32_t i = 0; more; i++) { // the state of a batch lies together
		more = false;
		for (int a = 0; a < FEM_TET_ARRAY_COUNT; a++) {
			const FemBodyTetArray *array = &fem_body_tet_arrays[a];
			if (array->saved != group || i >= fem_body_tet_array_count(body, array))
				continue;
			char *values = fem_body_tet_array(body, array);
			fem_stream_bytes(s, values + array->value_bytes * (size_t)i + array->state_offset, array->state_bytes);
			more = true;
		}
	}
}

static void sync_pieces(FemStream *s, FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		FEM_STREAM(s, piece->held);
		FEM_STREAM(s, piece->held_by);
		FEM_STREAM(s, piece->bears);
		FEM_STREAM(s, piece->ground_load);
		FEM_STREAM(s, piece->ground_ratio);
		FEM_STREAM(s, piece->frozen_until);
		fem_stream_bool(s, &piece->waits_to_wake);
		s->failed = s->failed || !fem_vec3_is_finite(piece->held) || piece->held_by < -1 ||
			!(piece->bears >= 0.0f && fem_is_finite(piece->bears)) || !fem_is_finite(piece->ground_load) ||
			!fem_is_finite(piece->ground_ratio) || !(piece->frozen_until >= 0.0);
	}
}

// How the pieces move.
static void sync_motion(FemStream *s, FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		fem_stream_bool(s, &piece->is_rigid);
		FEM_STREAM(s, piece->calm_steps);
		FEM_STREAM(s, piece->calm_needed);
		FEM_STREAM(s, piece->borne);
		FEM_STREAM(s, piece->margin);
		FEM_STREAM(s, piece->slack);
		FEM_STREAM(s, piece->probe_dt);
		FEM_STREAM(s, piece->shape_rotation);
		s->failed = s->failed || piece->calm_steps < 0 || piece->calm_needed < 0 || !(piece->slack >= 0.0f) ||
			!(piece->borne >= 0.0f);
	}
}

static void sync_arrays(FemStream *s, FemBody *body) {
	const FemTopology *t = body->topology;
	sync_nodes(s, body, false);
	fem_snapshot_sync_tets(s, body, FEM_TETS_SAVED);
	FEM_STREAM_ARRAY(s, body->part_state, t->part_count);
	FEM_STREAM_ARRAY(s, body->part_still, t->part_count);
	sync_pieces(s, body);
}

// Reactions and plastic state, where a body has them. The world is for reading.
static void sync_optional(FemStream *s, const FemWorld *world, FemBody *body) {
	bool has_reaction = body->reaction != NULL, has_plastics = body->plastics != NULL;
	fem_stream_bool(s, &has_reaction);
	fem_stream_bool(s, &has_plastics);
	if (fem_stream_reads(s) && !s->failed) {
		if (has_reaction)
			s->failed = !fem_body_prepare_reactions(body);
		// A body keeps its plastic state when its materials stop yielding, and then has it though building gave none.
		if (has_plastics && !body->plastics)
			s->failed = s->failed || !fem_body_allocate_plastics(world, body);
	}
	if (s->failed)
		return;
	if (has_reaction)
		sync_nodes(s, body, true);
	if (has_plastics)
		fem_snapshot_sync_tets(s, body, FEM_TETS_SAVED_PLASTIC);
	if (has_plastics && fem_stream_reads(s) && !s->failed)
		fem_plate_cells_follow(body, NULL);
}

static void write_materials(FemStream *s, const FemBody *body) {
	const FemTopology *t = body->topology;
	int32_t any = 0; // of a removed tet: some material that exists
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++)
		any = body->tet_material[tet] >= 0 ? body->tet_material[tet] : any;
	for (int32_t user = 0; user < t->user_tet_count; user++)
		FEM_STREAM(s, *(t->tet_of_user[user] < 0 ? &any : &body->tet_material[t->tet_of_user[user]]));
}

// Writes all of a body but mesh, scale and materials.
static void write_state(FemStream *s, FemBody *body) {
	if (body->breaking)
		fem_snapshot_write_breaking(s, body);
	sync_fields(s, body);
	sync_optional(s, NULL, body);
	sync_arrays(s, body);
	sync_motion(s, body);
	fem_snapshot_sync_modal(s, body);
	fem_snapshot_sync_joined(s, body);
	uint64_t solver_bytes = fem_body_solver_state_size(body);
	bool has_solver = fem_body_has_solver(body);
	fem_stream_bool(s, &has_solver);
	FEM_STREAM(s, solver_bytes);
	if (s->out)
		fem_body_solver_state_write(body, s->out + s->at);
	s->at += solver_bytes;
}

void fem_snapshot_write_body(FemStream *s, FemBody *body) {
	FEM_STREAM(s, body->mesh_index);
	FEM_STREAM(s, body->scale);
	bool breaks = body->breaking != NULL;
	fem_stream_bool(s, &breaks);
	write_materials(s, body);
	write_state(s, body);
}

// ---- reading

static bool materials_exist(const FemWorld *world, const int32_t *materials, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		if (materials[i] < 0 || materials[i] >= world->material_capacity || !world->materials[materials[i]].in_use)
			return false;
	}
	return true;
}

// The body as it was made, before its state is read.
static FemBody *read_build(FemStream *s, FemWorld *world) {
	int32_t mesh_index = 0;
	FemVec3 scale = {0};
	bool breaks = false;
	FEM_STREAM(s, mesh_index);
	FEM_STREAM(s, scale);
	fem_stream_bool(s, &breaks);
	s->failed = s->failed || mesh_index < 0 || mesh_index >= world->mesh_capacity ||
		!world->meshes[mesh_index].in_use || !(scale.x > 0.0f && scale.y > 0.0f && scale.z > 0.0f) ||
		!fem_vec3_is_finite(scale);
	if (s->failed)
		return NULL;
	int32_t tet_count = world->meshes[mesh_index].tet_count;
	int32_t *materials =
		fem_stream_can_hold(s, tet_count, sizeof *materials) ? FEM_ALLOC_ARRAY(int32_t, tet_count) : NULL;
	FemBody *body = NULL;
	if (materials) {
		FEM_STREAM_ARRAY(s, materials, tet_count);
		if (!s->failed && materials_exist(world, materials, tet_count))
			body = fem_body_build(world, mesh_index, scale, materials, breaks);
		FEM_FREE_ARRAY(materials, tet_count);
	}
	s->failed = s->failed || !body || breaks != (body->breaking != NULL);
	return body;
}

// Counts that follow from the arrays; false for states that do not exist.
static bool recount(FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->node_count; i++) {
		// Trees are built from positions before the last look at the whole.
		if (body->node_kind[i] > FEM_NODE_DRIVEN || !fem_vec3_is_finite(fem_vec3_from(body->position[i])))
			return false;
	}
	fem_pieces_count_pinned(body);
	body->published_count = t->user_node_count;
	for (int32_t p = 0; p < t->part_count; p++) {
		if (body->part_state[p] > FEM_ISLAND_KINEMATIC)
			return false;
		body->live_part_count += body->part_state[p] == FEM_ISLAND_LIVE;
	}
	return true;
}

static void read_solver(FemStream *s, const FemWorld *world, FemBody *body) {
	uint64_t bytes = 0;
	bool has_solver = false;
	fem_stream_bool(s, &has_solver);
	FEM_STREAM(s, bytes);
	s->failed = s->failed || bytes > s->size - s->at || (has_solver && !fem_body_restore_solver(world, body));
	if (s->failed)
		return;
	s->failed = !fem_body_solver_state_read(body, s->in + s->at, (size_t)bytes);
	s->at += (size_t)bytes;
}

// Reads the state into a body that was built with its mesh, scale and materials.
static void read_state(FemStream *s, FemWorld *world, FemBody *body) {
	if (!s->failed && body->breaking)
		fem_snapshot_read_breaking(s, world, body);
	sync_fields(s, body);
	sync_optional(s, world, body);
	if (!s->failed)
		sync_arrays(s, body);
	if (!s->failed)
		s->failed = !recount(body) || !fem_body_refresh_materials(world, body);
	if (!s->failed)
		sync_motion(s, body); // after the materials, which make all elastic
	if (!s->failed)
		fem_snapshot_sync_modal(s, body);
	if (!s->failed)
		fem_snapshot_sync_joined(s, body);
	if (!s->failed)
		read_solver(s, world, body);
	for (int32_t c = 0; !s->failed && c < body->topology->component_count; c++)
		world->has_waiting_pieces |= body->pieces[c].waits_to_wake;
	world->has_forces |= body->has_forces; // else they would stay after the next step
}

void fem_snapshot_read_body(FemStream *s, FemWorld *world, int32_t body_index) {
	FemBody *body = read_build(s, world);
	if (!body)
		return;
	read_state(s, world, body);
	if (s->failed)
		fem_body_discard(body);
	else if (!fem_body_enter(world, body, body_index))
		s->failed = true;
}
