// Fracture: which nodes want to separate, the splits, and what follows from them (P&O09 section 5).
#include "base/assert.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "fracture/crack_tip.h"
#include "fracture/dice.h"
#include "topology/topology.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/api/splinters.h"
#include "world/step/blows.h"
#include "world/step/breaking.h"
#include "world/step/crushing.h"
#include "world/step/dicing.h"
#include "world/step/passes.h"
#include "world/step/rigid_pieces.h"
#include "world/step/work_limits.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define FACE_MAX 65536 // faces told of a step; chosen: more than anybody draws dust for
// Of the stress at which nodes are looked at: the same beside cracks, whose tips run on under less, and in walls, where
// they do so within the look. Nodes that would
// want still less, of elements more than 3 fragments long, wait for a load that they see. Chosen.
#define TIP_SHARE 0.1f

// Stress over strength from which on a piece that no cut can part is rigid in place of strained, what bends so far is
// seen to, and how many of the smallest fragments make a piece in which another place would give way. Both chosen.
#define UNSPLIT_EXCESS 2.0f
#define FEW_FRAGMENTS 16.0f

typedef struct Fracture {
	FemStep *step;
	int32_t *bodies; // that can break and are live
	int32_t body_count;
	FemDice *dice; // of each of them
	bool is_look;  // at what is struck alone (blows.h)
} Fracture;

static bool may_break(const FemBody *body) {
	return body->breaking && body->breaking->can_break && body->live_part_count > 0 && !body->went_bad &&
		!body->step->is_over && !(body->step->goes_back && fem_body_goes_back_whole(body));
}

// Whether the tips of its cracks run on within this step.
static bool may_split(const FemStep *step, const FemBody *body) {
	return may_break(body) && body->breaking->crack_time < step->world->time + (double)step->dt;
}

// The next run of batches with tets that the stage looks at: of pieces whose step is not over, and in a look of those
// that are struck.
static bool next_batches(const Fracture *fracture, const FemBody *body, int32_t end, FemRange *run) {
	const FemTopology *t = body->topology;
	if (!fracture->is_look)
		return fem_passes_next_batches(body, end, run);
	run->begin = run->end;
	for (int32_t batch = run->begin; batch < end; batch++) {
		bool is_struck = false;
		for (int32_t tet = batch * FEM_LANES; tet < (batch + 1) * FEM_LANES && !is_struck; tet++)
			is_struck = t->user_of_tet[tet] >= 0 && fem_piece_is_struck(body, fem_tet_component(t, tet));
		run->begin = is_struck && run->begin == run->end ? batch : run->begin;
		if (is_struck)
			run->end = batch + 1;
		else if (run->begin < run->end)
			break;
	}
	return run->begin < run->end;
}

// In this pass; its arrays are of this pass's memory.
static bool is_listed(const FemBody *body) {
	return body->step->node_hot && !body->step->is_over;
}

// ---- separation

static bool has_stress(const Fracture *fracture, const FemBody *body) {
	return body->breaking && body->step->tet_stress && !body->went_bad && !body->step->is_over &&
		!body->step->is_kept && (!fracture->is_look || body->step->blows);
}

// Velocities of a look are those before the blow.
static bool is_viscous(const Fracture *fracture) {
	return fracture->step->world->def.fracture_viscous && !fracture->is_look;
}

static void find_stress_task(void *context, int32_t chunk_index) {
	const FemStep *step = ((Fracture *)context)->step;
	const FemBatchChunk *chunk = &step->world->islands.batch_chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	FEM_ASSERT(chunk->begin < chunk->end && chunk->end <= body->topology->batch_count);
	FemRange run = {chunk->begin, chunk->begin};
	while (has_stress(context, body) && next_batches(context, body, chunk->end, &run)) {
		fem_elements_update_stress(body, run.begin, run.end, step->dt, is_viscous(context));
		fem_plate_elements_find_demands(body, run.begin, run.end, true);
	}
}

static void find_cell_stress_task(void *context, int32_t chunk_index) {
	const FemStep *step = ((Fracture *)context)->step;
	const FemBatchChunk *chunk = &step->world->islands.batch_chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	FemRange run = {chunk->begin, chunk->begin};
	while (body->cells && has_stress(context, body) && next_batches(context, body, chunk->end, &run))
		fem_plate_elements_update_stress(body, run.begin, run.end, step->dt, is_viscous(context));
}

static void find_hot_task(void *context, int32_t chunk_index) {
	const Fracture *fracture = context;
	FemWorld *world = fracture->step->world;
	const FemBatchChunk *chunk = &world->islands.batch_chunks[chunk_index];
	FemBody *body = world->bodies[chunk->body];
	FemRange run = {chunk->begin, chunk->begin};
	while (is_listed(body) && next_batches(fracture, body, chunk->end, &run))
		fem_separation_find_hot(body, run.begin, run.end,
			fracture->is_look && (body->own_topology || body->cells) ? TIP_SHARE : 1.0f, fracture->is_look);
}

static void find_tension_task(void *context, int32_t chunk_index) {
	FemWorld *world = ((Fracture *)context)->step->world;
	const FemBatchChunk *chunk = &world->islands.batch_chunks[chunk_index];
	FemBody *body = world->bodies[chunk->body];
	FemRange run = {chunk->begin, chunk->begin};
	while (is_listed(body) && next_batches(context, body, chunk->end, &run))
		fem_separation_find_tension(body, run.begin, run.end);
}

// In a look pieces that are struck do, rigid ones too.
static bool may_separate(const FemBody *body, int32_t component, bool is_look) {
	const FemPiece *piece = &body->pieces[component];
	bool is_in_play = !piece->is_over && !piece->goes_back;
	return is_look ? fem_piece_is_struck(body, component)
				   : is_in_play && !piece->is_rigid && !piece->blow_decides && !piece->blow_broke;
}

// Of the real force of a blow alone: loads break what has cracked as they break what is whole.
static float tip_gain(const void *context, const FemBody *body, int32_t node, const int32_t *star, int32_t star_count) {
	const FemWorld *world = context;
	const FemMaterialDef *def = &world->materials[body->tet_material[star[0] / 4]].def;
	const FemTopology *whole = world->meshes[body->mesh_index].topology;
	return def->prestress > 0.0f ? 1.0f : fem_crack_tip_gain(body, whole, node, star, star_count, def->fragment_size);
}

// Each node has its place in the list; those that do not want to split are left out afterwards.
static void find_separations_task(void *context, int32_t chunk_index) {
	FemWorld *world = ((Fracture *)context)->step->world;
	const FemNodeChunk *chunk = &world->islands.node_chunks[chunk_index];
	FemBody *body = world->bodies[chunk->body];
	bool is_look = ((Fracture *)context)->is_look;
	if (!is_listed(body))
		return;
	const FemTopology *t = body->topology;
	// Stress beside other pieces is not of this pass. They have their places, marked as empty, all the same.
	bool is_in_play = may_separate(body, fem_node_component(t, chunk->begin), is_look);
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemSeparation *out = &body->step->separations[i];
		FEM_ASSERT_INDEX(i, t->node_count);
		out->node = -1;
		if (!is_in_play || !body->step->node_hot[i])
			continue;
		const int32_t *star = t->node_tets + t->node_tet_start[i];
		int32_t count = t->node_tet_start[i + 1] - t->node_tet_start[i];
		fem_separation_of_node(body, i, star, count, is_look ? tip_gain(world, body, i, star, count) : 1.0f, out);
	}
}

// Nodes of sleeping parts were not looked at: their places are stale.
static void gather_separations(FemBody *body, bool is_look) {
	FemBodyStep *step = body->step;
	const FemTopology *t = body->topology;
	step->separation_count = 0;
	for (int32_t i = 0; i < t->node_count; i++) {
		bool is_live = body->part_state[t->node_part[i]] == FEM_ISLAND_LIVE;
		int32_t component = fem_node_component(t, i);
		if (!is_live || !may_separate(body, component, is_look))
			continue;
		FemSeparation wanted;
		bool is_listed = step->node_hot[i] && step->separations[i].node == i;
		bool is_dent = is_look && fem_blow_dents(body, component, i, &wanted);
		if (is_dent && (!is_listed || step->separations[i].excess < wanted.excess))
			step->separations[step->separation_count++] = wanted;
		else if (is_listed)
			step->separations[step->separation_count++] = step->separations[i];
	}
}

// ---- events

// a.sigma a of the fibres of a tet, and their modulus.
static double fibre_stress(const FemBody *body, int32_t tet, double *out_modulus) {
	const FemBatchFibre *fibre = &body->fibres[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	const FemTetStress *s = &body->step->tet_stress[tet];
	FemVec4 q = body->rotation[tet];
	FemVec3d rest = {
		(double)fibre->direction[0][lane], (double)fibre->direction[1][lane], (double)fibre->direction[2][lane]};
	FemVec3d a = fem_quat_rotate((FemQuat){q.x, q.y, q.z, q.w}, rest);
	*out_modulus = (double)fibre->modulus[lane];
	return (double)s->normal.x * a.x * a.x + (double)s->normal.y * a.y * a.y + (double)s->normal.z * a.z * a.z +
		2.0 * ((double)s->shear.x * a.x * a.y + (double)s->shear.y * a.y * a.z + (double)s->shear.z * a.z * a.x);
}

// Elastic energy of a tet, J: 1/2 sigma : S^-1(sigma) V (world/api/body_reading.c, strain_of_stress()).
static double elastic_energy(const FemBody *body, int32_t tet) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	const FemTetStress *s = &body->step->tet_stress[tet];
	double lambda = (double)batch->lambda[lane], mu = (double)batch->mu[lane];
	FemVec3d n = fem_vec3d_from4(s->normal), shear = fem_vec3d_from4(s->shear);
	double square = fem_vec3d_dot(n, n) + 2.0 * fem_vec3d_dot(shear, shear), trace = n.x + n.y + n.z;
	double k = 0.0, along = body->fibres ? fibre_stress(body, tet, &k) : 0.0, bulk = 3.0 * lambda + 2.0 * mu;
	double det = bulk * (2.0 * mu + k) - lambda * k;
	double volume = ((2.0 * mu + k) * trace - k * along) / det, stretch = (bulk * along - lambda * trace) / det;
	return 0.25 * (double)batch->volume[lane] * (square - lambda * volume * trace - k * stretch * along) / mu;
}

// Describes an opened face for the caller; must run while the node numbers of the cut still hold. A face counts for a
// quarter of the elastic energy of each of its two tets.
static void describe_cut(const FemBody *body, const FemFaceCut *cut, FemFractureFace *out) {
	const FemTopology *t = body->topology;
	FemVec3d x[3];
	for (int k = 0; k < 3; k++)
		x[k] = fem_vec3d_from4(body->position[t->split->parent[cut->nodes[k]]]);
	FemVec3d area = fem_vec3d_cross(fem_vec3d_sub(x[1], x[0]), fem_vec3d_sub(x[2], x[0]));
	FemVec3d sum = fem_vec3d_add(fem_vec3d_add(x[0], x[1]), x[2]);
	int32_t tet = cut->face / 4, other = cut->across / 4;
	FEM_ASSERT(t->user_of_tet[tet] >= 0 && t->user_of_tet[other] >= 0);
	*out = (FemFractureFace){
		.center = fem_position_move(body->origin, fem_vec3d_scale(sum, 1.0 / 3.0)),
		.area = fem_vec3d_to_vec3(fem_vec3d_scale(area, 0.5)),
		.tets = {t->user_of_tet[tet], t->user_of_tet[other]},
		.energy = (float)(0.25 *
			(elastic_energy(body, tet) + elastic_energy(body, other) + fem_prestress_energy(body, tet) +
				fem_prestress_energy(body, other))),
	};
}

void fem_fracture_tell_face(FemWorld *world, const FemFractureFace *face) {
	if (FEM_LIST_HOLD(world->step_faces, world->step_face_capacity, world->step_face_count + 1, FACE_MAX))
		world->step_faces[world->step_face_count++] = *face;
	else
		world->step_errors |= FEM_STEP_EVENTS_FULL;
}

static void add_faces(FemWorld *world, int32_t body_index) {
	const FemBody *body = world->bodies[body_index];
	const FemBreaking *breaking = body->breaking;
	for (int32_t i = 0; breaking->faces && i < breaking->cut_count; i++) {
		FemFractureFace face = breaking->faces[i];
		face.body = fem_body_id(world, body_index);
		face.material = fem_material_id(world, body->tet_material[breaking->cuts[i].face / 4]);
		fem_fracture_tell_face(world, &face);
	}
}

// ---- splits

// While nodes still have their numbers, and are where the faces opened.
static void note_cuts(FemBody *body) {
	FemBreaking *breaking = body->breaking;
	breaking->faces = FEM_ALLOC_ARRAY_UNSET(FemFractureFace, breaking->cut_capacity);
	for (int32_t i = 0; breaking->faces && i < breaking->cut_count; i++)
		describe_cut(body, &breaking->cuts[i], &breaking->faces[i]);
	if (breaking->splinters && fem_splinters_own(breaking->splinters))
		fem_splinters_note_cuts(breaking->splinters, body->topology, breaking->cuts, breaking->cut_count);
	for (int32_t i = 0; i < body->step->separation_count; i++)
		fem_body_send_back(body, fem_node_component(body->topology, body->step->separations[i].node));
	if (breaking->has_dice)
		fem_body_send_back(body, 0);
}

// Whether a piece is so small that no cut may part it. What is whole always has a place that does.
static bool is_of_few_fragments(const FemWorld *world, const FemBody *body, int32_t component, int32_t node) {
	const FemTopology *t = body->topology;
	float fragment = body->tet_fragment[t->node_tets[t->node_tet_start[node]] / 4];
	return !fem_body_is_whole(world, body) && body->pieces[component].volume < FEW_FRAGMENTS * fragment;
}

// What is strained far and finds no cut that leaves enough on both sides goes back, to be rigid from the next pass on
// (rigid_pieces.h).
static void send_back_what_cannot_split(const FemWorld *world, FemBody *body) {
	const FemTopology *t = body->topology;
	const FemSeparation *list = body->step->separations;
	int32_t *was_split = body->breaking->order; // [component], of those in the list
	for (int32_t i = 0; i < body->step->separation_count; i++)
		was_split[fem_node_component(t, list[i].node)] = 0;
	for (int32_t i = 0; i < body->step->separation_count; i++)
		was_split[fem_node_component(t, list[i].node)] |= body->breaking->marks[list[i].node];
	for (int32_t i = 0; i < body->step->separation_count; i++) {
		int32_t component = fem_node_component(t, list[i].node);
		FemPiece *piece = &body->pieces[component];
		if (list[i].excess < UNSPLIT_EXCESS || was_split[component] ||
			!is_of_few_fragments(world, body, component, list[i].node) || !fem_rigid_pieces_may_hold(body, component))
			continue;
		piece->borne = piece->cannot_split ? fmaxf(piece->borne, list[i].excess) : list[i].excess;
		piece->cannot_split = true;
		fem_body_send_back(body, component);
	}
}

static void cut_body(FemWorld *world, FemBody *body, uint64_t order, float dt, bool is_look, FemDice *dice) {
	FemBreaking *breaking = body->breaking;
	double unbound = INFINITY;
	FemCrackRules rules = {
		.order = order,
		.most = fem_work_splits(world),
		.dt = dt,
		.tip_gain = is_look ? tip_gain : NULL,
		.context = world,
	};
	FemCrackSplits splits = fem_crack_split(body, &rules, is_look ? &breaking->crack_area : &unbound);
	breaking->is_dicing |= breaking->has_prestress && splits.count > 0;
	breaking->has_dice = fem_dicing_cut(world, body, dt, dice);
	breaking->split_count = splits.count + dice->count;
	if (splits.count > 0)
		breaking->crack_time = fmax(breaking->crack_time, world->time) + splits.edges * splits.time;
	if (breaking->cut_count > 0)
		note_cuts(body);
	if (breaking->cut_count > 0 && is_look)
		fem_blows_settle_uncut(body);
	if (splits.is_whole && !is_look)
		send_back_what_cannot_split(world, body);
}

static void cut_task(void *context, int32_t task) {
	Fracture *fracture = context;
	FemWorld *world = fracture->step->world;
	FemBody *body = world->bodies[fracture->bodies[task]];
	FemBreaking *breaking = body->breaking;
	breaking->cut_count = breaking->split_count = breaking->tree_builds = 0;
	breaking->has_dice = false;
	fracture->dice[task] = (FemDice){0};
	gather_separations(body, fracture->is_look);
	for (int32_t i = 0; fracture->is_look && i < body->step->separation_count; i++) {
		FemPiece *piece = &body->pieces[fem_node_component(body->topology, body->step->separations[i].node)];
		fem_piece_release(piece);
		piece->blow_broke = true;
	}
	if (body->step->separation_count == 0 && !breaking->is_dicing)
		return;
	fem_heap_begin(world->heap);
	breaking->has_no_memory = !fem_body_make_splittable(world, body);
	if (!breaking->has_no_memory)
		cut_body(world, body, fem_hash_word(world->step_statistics.step_count, (uint64_t)fracture->step->pass),
			fracture->step->dt, fracture->is_look, &fracture->dice[task]);
	fem_heap_end();
}

// What follows from the faces that were cut, of a body whose pieces that were cut are at the start of the step.
static void split_task(void *context, int32_t task) {
	Fracture *fracture = context;
	FemWorld *world = fracture->step->world;
	FemBody *body = world->bodies[fracture->bodies[task]];
	bool is_cut = body->breaking->cut_count > 0;
	fem_heap_begin(world->heap);
	if (is_cut) {
		fem_body_apply_split(world, body, true);
		body->step->was_split = body->step->has_returned = true;
	}
	if (body->breaking->has_dice)
		fem_dicing_finish(world, body, &fracture->dice[task], is_cut);
	fem_dice_free(&fracture->dice[task]);
	fem_heap_end();
}

void fem_cuts_free(FemBreaking *breaking) {
	FEM_FREE_ARRAY(breaking->cuts, breaking->cut_capacity);
	FEM_FREE_ARRAY(breaking->faces, breaking->cut_capacity);
	breaking->cuts = NULL;
	breaking->faces = NULL;
	breaking->cut_count = breaking->cut_capacity = 0;
}

static int32_t cell_count(const FemBody *body) {
	return body->cells ? fem_plate_cell_count(&body->topology->cells) : 0;
}

static size_t step_bytes(const FemBody *body) {
	size_t nodes = (size_t)body->topology->node_count, lanes = (size_t)body->topology->batch_count * FEM_LANES;
	size_t bytes = fem_align_up(nodes) + fem_align_up(sizeof(FemTetStress) * lanes) +
		fem_align_up(sizeof(FemSeparation) * nodes) + fem_align_up(sizeof(FemVec3d) * (size_t)cell_count(body));
	size_t of_blows = fem_blows_bytes(body);
	return of_blows > 0 ? of_blows + 2 * bytes : bytes; // the look before the move takes them, too
}

static void take_step_memory(FemBody *body, FemArena *arena) {
	FemBodyStep *step = body->step;
	step->node_hot = FEM_ARENA_TAKE(arena, uint8_t, body->topology->node_count);
	step->tension = FEM_ARENA_TAKE(arena, FemTetStress, body->topology->batch_count * FEM_LANES);
	step->separations = FEM_ARENA_TAKE(arena, FemSeparation, body->topology->node_count);
	step->cell_normals = FEM_ARENA_TAKE(arena, FemVec3d, cell_count(body));
	memset(step->node_hot, 0, (size_t)body->topology->node_count);
}

static void list_bodies(Fracture *fracture) {
	FemWorld *world = fracture->step->world;
	const FemIslands *islands = &world->islands;
	for (int32_t i = 0; i < islands->active_count; i++) {
		FemBody *body = world->bodies[islands->active_bodies[i]];
		bool is_left_out = body->step->is_kept || (fracture->is_look && !body->step->blows);
		if (!may_split(fracture->step, body) || !body->step->tet_stress || is_left_out)
			continue;
		FEM_ASSERT(fracture->body_count == 0 || fracture->bodies[fracture->body_count - 1] < islands->active_bodies[i]);
		fracture->bodies[fracture->body_count++] = islands->active_bodies[i];
		take_step_memory(body, fracture->step->arena);
	}
}

static void run_stress_tasks(Fracture *fracture) {
	const FemWorld *world = fracture->step->world;
	fem_pool_for(world->pool, world->islands.batch_chunk_count, find_stress_task, fracture);
	if (world->celled_count > 0)
		fem_pool_for(world->pool, world->islands.batch_chunk_count, find_cell_stress_task, fracture);
}

static bool is_looked_for(const FemStep *step, int32_t passes) {
	const FemWorld *world = step->world;
	int32_t interval = world->def.fracture_interval;
	return interval > 0 && world->step_statistics.step_count % (uint64_t)interval == 0 &&
		passes < fem_work_passes(world);
}

static Fracture open_fracture(FemStep *step, bool is_look) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		world->bodies[world->islands.active_bodies[i]]->step->node_hot = NULL;
	return (Fracture){
		.step = step,
		.bodies = FEM_ARENA_TAKE(step->arena, int32_t, world->islands.active_count),
		.dice = FEM_ARENA_TAKE(step->arena, FemDice, world->islands.active_count),
		.is_look = is_look,
	};
}

// True: something was cut, or is to be rigid instead.
static bool cut_bodies(Fracture *fracture) {
	FemWorld *world = fracture->step->world;
	bool any = false;
	if (fracture->body_count == 0)
		return false;
	fem_pool_for(world->pool, world->islands.batch_chunk_count, find_hot_task, fracture);
	fem_pool_for(world->pool, world->islands.batch_chunk_count, find_tension_task, fracture);
	fem_pool_for(world->pool, world->islands.node_chunk_count, find_separations_task, fracture);
	fem_pool_for_uneven(world->pool, fracture->body_count, cut_task, fracture);
	for (int32_t i = 0; i < fracture->body_count; i++)
		any |= world->bodies[fracture->bodies[i]]->step->goes_back;
	return any;
}

static void split_bodies(Fracture *fracture) {
	FemWorld *world = fracture->step->world;
	FemStatistics *statistics = &world->step_statistics;
	fem_pool_for_uneven(world->pool, fracture->body_count, split_task, fracture);
	for (int32_t i = 0; i < fracture->body_count; i++) {
		FemBody *body = world->bodies[fracture->bodies[i]];
		body->step->tension = NULL;      // of this pass's stress, ...
		body->step->cell_normals = NULL; // ... and shape
		statistics->splits += body->breaking->split_count;
		statistics->faces_opened += body->breaking->cut_count;
		statistics->tree_builds += body->breaking->tree_builds;
		add_faces(world, fracture->bodies[i]);
		fem_cuts_free(body->breaking);
		if (body->breaking->has_no_memory)
			world->step_errors |= FEM_STEP_NO_MEMORY;
		if (body->breaking->was_split)
			fem_body_finish_split(world, fracture->bodies[i]);
	}
	fracture->step->contact_count = world->contacts.contact_count; // some of what was split may be gone
}

bool fem_fracture_stage_look(FemStep *step) {
	if (!is_looked_for(step, step->pass) || !fem_blows_displace(step))
		return false;
	Fracture fracture = open_fracture(step, true);
	for (int32_t i = 0; i < step->world->islands.active_count; i++) {
		FemBodyStep *body = step->world->bodies[step->world->islands.active_bodies[i]]->step;
		body->was_looked_at = body->blows != NULL;
	}
	run_stress_tasks(&fracture);
	fem_blows_return(step);
	list_bodies(&fracture);
	(void)cut_bodies(&fracture);
	split_bodies(&fracture);
	return fem_blows_go_on(step);
}

bool fem_fracture_stage_run(FemStep *step, bool is_again) {
	Fracture fracture = {.step = step};
	if (step->world->breakable_count > 0) {
		fracture = open_fracture(step, false);
		run_stress_tasks(&fracture);
		if (is_looked_for(step, step->moves))
			list_bodies(&fracture);
	}
	is_again |= cut_bodies(&fracture);
	if (is_again)
		fem_passes_go_back(step);
	split_bodies(&fracture);
	return is_again;
}

// ---- after the last pass

static void end_splits_task(void *context, int32_t index) {
	FemWorld *world = ((FemStep *)context)->world;
	FemBody *body = world->bodies[world->islands.active_bodies[index]];
	if (body->breaking)
		fem_body_end_splits(world, body);
}

void fem_fracture_stage_finish(FemStep *step) {
	FemWorld *world = step->world;
	if (step->pass == 0)
		return;
	fem_pool_for_uneven(world->pool, world->islands.active_count, end_splits_task, step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		int32_t index = world->islands.active_bodies[i];
		FemBreaking *breaking = world->bodies[index]->breaking;
		world->bodies[index]->step->was_split = false; // what splits it from now on is no pass
		if (!breaking || !breaking->surface_is_stale)
			continue;
		world->step_statistics.tree_builds += breaking->tree_builds;
		fem_body_finish_surface(world, index);
	}
}

// ---- lists

size_t fem_fracture_step_bytes(const FemWorld *world, int32_t pass) {
	size_t bodies = (size_t)world->islands.active_count;
	size_t bytes = 2 * (fem_align_up(sizeof(int32_t) * bodies) + fem_align_up(sizeof(FemDice) * bodies));
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bytes += body->breaking && (pass == 0 || !body->step->is_over) ? step_bytes(body) : 0;
	}
	return bytes;
}

void fem_fracture_free(FemWorld *world) {
	FEM_FREE_ARRAY(world->faces, world->face_capacity);
	FEM_FREE_ARRAY(world->step_faces, world->step_face_capacity);
	FEM_FREE_ARRAY(world->piece_events, world->piece_event_capacity);
	FEM_FREE_ARRAY(world->step_piece_events, world->step_piece_event_capacity);
	FEM_FREE_ARRAY(world->crush_events, world->crush_event_capacity);
	FEM_FREE_ARRAY(world->step_crush_events, world->step_crush_event_capacity);
}

// Where a face lies at the end of the step: that of its first tet, if that is still there. It opened in a pass that was
// taken back, in which all that tears now was stretched, by metres under a large force.
static void place_face(const FemWorld *world, FemFractureFace *face) {
	const FemBody *body = fem_body_find(face->body, NULL);
	if (!body)
		return;
	const FemTopology *t = body->topology, *whole = world->meshes[body->mesh_index].topology;
	int32_t tet = whole->tet_of_user[face->tets[0]], other = whole->tet_of_user[face->tets[1]], local = 0;
	while (local < 4 && (whole->neighbours[4 * tet + local] < 0 || whole->neighbours[4 * tet + local] / 4 != other))
		local++;
	if (local == 4 || t->tet_of_user[face->tets[0]] != tet)
		return;
	FemVec3d x[3], opposite = fem_vec3d_from4(body->position[fem_tet_node(t, tet, local)]);
	for (int k = 0; k < 3; k++)
		x[k] = fem_vec3d_from4(body->position[fem_tet_node(t, tet, (local + 1 + k) & 3)]);
	FemVec3d area = fem_vec3d_cross(fem_vec3d_sub(x[1], x[0]), fem_vec3d_sub(x[2], x[0]));
	FemVec3d sum = fem_vec3d_add(fem_vec3d_add(x[0], x[1]), x[2]);
	bool is_inward = fem_vec3d_dot(area, fem_vec3d_sub(opposite, x[0])) > 0.0;
	face->center = fem_position_move(body->origin, fem_vec3d_scale(sum, 1.0 / 3.0));
	face->area = fem_vec3d_to_vec3(fem_vec3d_scale(area, is_inward ? -0.5 : 0.5));
}

// The lists change places, so that those of the last step can be read while the next one runs.
void fem_fracture_publish(FemWorld *world) {
	for (int32_t i = 0; i < world->step_face_count; i++)
		place_face(world, &world->step_faces[i]);
	FemFractureFace *faces = world->faces;
	FemPieceEvent *events = world->piece_events;
	int32_t face_capacity = world->face_capacity, event_capacity = world->piece_event_capacity;
	world->faces = world->step_faces;
	world->step_faces = faces;
	world->face_capacity = world->step_face_capacity;
	world->step_face_capacity = face_capacity;
	world->face_count = world->step_face_count;
	world->piece_events = world->step_piece_events;
	world->step_piece_events = events;
	world->piece_event_capacity = world->step_piece_event_capacity;
	world->step_piece_event_capacity = event_capacity;
	world->piece_event_count = world->step_piece_event_count;
	world->step_face_count = world->step_piece_event_count = 0;
	fem_crushing_publish(world);
	fem_splinters_publish_all(world);
}

int32_t fem_world_get_fracture_faces(FemWorldId id, const FemFractureFace **out_faces) {
	FemWorld *world = fem_world_find(id);
	if (out_faces)
		*out_faces = world ? world->faces : NULL;
	return world ? world->face_count : 0;
}

int32_t fem_world_get_piece_events(FemWorldId id, const FemPieceEvent **out_events) {
	FemWorld *world = fem_world_find(id);
	if (out_events)
		*out_events = world ? world->piece_events : NULL;
	return world ? world->piece_event_count : 0;
}
