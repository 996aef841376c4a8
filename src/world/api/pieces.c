// The pieces of a body that broke: numbers that last, what can be asked of them, removing and retiring.
#include "world/api/pieces.h"

#include "base/mat3.h"
#include "base/vec.h"
#include "topology/topology.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/step/breaking.h"
#include "world/step/publish.h"
#include "world/step/rigid_pieces.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// ---- numbers

void fem_pieces_start(FemBody *body, double time) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		piece->number = (FemPieceNumber)c + 1;
		piece->parent = 0;
		piece->born = time;
		piece->retires = INFINITY;
	}
}

void fem_piece_tell(FemWorld *world, int32_t body_index, const FemPiece *piece) {
	if (!FEM_LIST_HOLD(world->step_piece_events, world->step_piece_event_capacity, world->step_piece_event_count + 1,
			FEM_EVENT_MAX)) {
		world->step_errors |= FEM_STEP_EVENTS_FULL;
		return;
	}
	world->step_piece_events[world->step_piece_event_count++] =
		(FemPieceEvent){fem_body_id(world, body_index), piece->number, piece->parent};
}

// A record is that of the piece it was part of until what follows from the split has been found anew. Boxes in the
// sweep stay at their places: which one a piece has does not matter.
void fem_pieces_renumber(FemBody *body) {
	const FemTopology *t = body->topology;
	FemPiece *before = body->breaking->old_pieces;
	memcpy(before, body->pieces, sizeof *before * (size_t)t->split->old_component_count);
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t proxy = body->pieces[c].sweep_proxy;
		body->pieces[c] = before[t->split->component_parent[c]];
		body->pieces[c].preconditioner = NULL;
		body->pieces[c].sweep_proxy = proxy;
	}
}

// The heir keeps the number of the piece that broke: the largest of those it broke into, the first of equals.
void fem_pieces_follow_split(FemWorld *world, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	FemBreaking *breaking = body->breaking;
	int32_t *heirs = breaking->order; // [component of before]
	for (int32_t c = 0; c < t->split->old_component_count; c++)
		heirs[c] = -1;
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t parent = t->split->component_parent[c];
		if (heirs[parent] < 0 || t->component_tets[c] > t->component_tets[heirs[parent]])
			heirs[parent] = c;
	}
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t parent = t->split->component_parent[c];
		if (heirs[parent] == c)
			continue;
		FemPiece *piece = &body->pieces[c];
		piece->number = breaking->next_piece++;
		piece->parent = breaking->old_pieces[parent].number;
		piece->born = world->time;
		piece->bears = piece->ground_load = piece->ground_ratio = 0.0f; // those of the whole
		fem_piece_tell(world, body_index, piece);
	}
}

// ---- how long pieces have until they are removed for their age or number, so that they can be drawn fading

// World time at which a piece is removed, s; infinite for the largest and for attached pieces.
static double end_of(const FemBody *body, int32_t component) {
	const FemBreaking *breaking = body->breaking;
	const FemPiece *piece = &body->pieces[component];
	double too_old = breaking->piece_lifetime > 0.0f ? piece->born + (double)breaking->piece_lifetime : INFINITY;
	return fmin(too_old, piece->retires);
}

// s, or infinite
static double time_left(const FemWorld *world, const FemBody *body, int32_t component, int32_t largest) {
	double end = body->breaking ? end_of(body, component) : INFINITY;
	if (isinf(end) || !fem_piece_is_debris(body, component, largest))
		return INFINITY;
	return fmax(end - world->time, 0.0);
}

// The next component from `first` on that has less than fade_time left; the number of components: there is none.
static int32_t next_fading(
	const FemWorld *world, const FemBody *body, int32_t first, float fade_time, double *out_left) {
	int32_t count = body->topology->component_count, largest = -1;
	for (int32_t c = first; c < count; c++) {
		if (!(end_of(body, c) - world->time < (double)fade_time))
			continue;
		largest = largest < 0 ? fem_largest_piece(body->topology) : largest;
		*out_left = time_left(world, body, c, largest);
		if (*out_left < (double)fade_time)
			return c;
	}
	return count;
}

bool fem_body_has_fading_pieces(FemBodyId id, float fade_time) {
	FemResult result;
	FemWorld *world;
	double left;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	return body && body->breaking && next_fading(world, body, 0, fade_time, &left) < body->topology->component_count;
}

int32_t fem_body_get_node_fades(FemBodyId id, float fade_time, float *out_fades, int32_t node_capacity) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return 0;
	const FemTopology *t = body->topology;
	int32_t room = out_fades ? node_capacity : 0;
	double left = 0.0;
	for (int32_t user = 0; user < room && user < t->user_node_count; user++)
		out_fades[user] = 1.0f;
	if (!(fade_time > 0.0f) || !body->breaking || room <= 0)
		return t->user_node_count;
	for (int32_t c = 0; (c = next_fading(world, body, c, fade_time, &left)) < t->component_count; c++) {
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++) {
			if (t->user_of_node[i] < room)
				out_fades[t->user_of_node[i]] = (float)(left / (double)fade_time);
		}
	}
	return t->user_node_count;
}

// ---- reading

int32_t fem_body_get_pieces(FemBodyId id, FemPieceNumber *out_pieces, int32_t capacity) {
	FemResult result;
	FemBody *body = fem_body_find_idle(id, NULL, &result);
	if (!body)
		return 0;
	for (int32_t c = 0; out_pieces && c < capacity && c < body->topology->component_count; c++)
		out_pieces[c] = body->pieces[c].number;
	return body->topology->component_count;
}

FemPieceNumber fem_body_get_tet_piece(FemBodyId id, int32_t user_tet) {
	FemResult result;
	FemBody *body = fem_body_find_idle(id, NULL, &result);
	if (!body || user_tet < 0 || user_tet >= body->topology->user_tet_count ||
		body->topology->tet_of_user[user_tet] < 0)
		return 0;
	return body->pieces[fem_tet_component(body->topology, body->topology->tet_of_user[user_tet])].number;
}

int32_t fem_body_get_piece_tets(FemBodyId id, FemPieceNumber number, int32_t *out_tets, int32_t capacity) {
	FemTarget target;
	int32_t count = 0;
	if (fem_target_piece(id, number, &target) != FEM_OK)
		return 0;
	const FemTopology *t = target.body->topology;
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		int32_t tet = t->tet_of_user[user];
		if (tet < 0 || fem_tet_component(t, tet) != target.component)
			continue;
		if (out_tets && count < capacity)
			out_tets[count] = user;
		count++;
	}
	return count;
}

static void measure_motion(const FemBody *body, FemRange nodes, FemPieceState *out) {
	FemVec3d center = {0}, momentum = {0}, angular = {0};
	FemVec3d low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
	double inertia[3][3] = {{0}}, inverse[3][3];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec3d x = fem_vec3d_from4(body->position[i]), v = fem_vec3d_from4(body->velocity[i]);
		double m = (double)body->mass[i];
		out->mass += m;
		center = fem_vec3d_add(center, fem_vec3d_scale(x, m));
		momentum = fem_vec3d_add(momentum, fem_vec3d_scale(v, m));
		low = (FemVec3d){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
		high = (FemVec3d){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
	}
	center = fem_vec3d_scale(center, 1.0 / out->mass);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec3d r = fem_vec3d_sub(fem_vec3d_from4(body->position[i]), center);
		double m = (double)body->mass[i], a[3] = {r.x, r.y, r.z};
		angular = fem_vec3d_add(angular, fem_vec3d_scale(fem_vec3d_cross(r, fem_vec3d_from4(body->velocity[i])), m));
		for (int k = 0; k < 3; k++) {
			for (int j = 0; j < 3; j++)
				inertia[k][j] += m * ((k == j ? fem_vec3d_dot(r, r) : 0.0) - a[k] * a[j]);
		}
	}
	if (fem_invert3(inertia, inverse))
		out->angular_velocity = fem_vec3d_to_vec3(fem_matrix_apply(inverse, angular));
	out->center = fem_position_move(body->origin, center);
	out->linear_velocity = fem_vec3d_to_vec3(fem_vec3d_scale(momentum, 1.0 / out->mass));
	out->min = fem_position_move(body->origin, low);
	out->max = fem_position_move(body->origin, high);
}

static void measure_tets(const FemBody *body, int32_t component, FemPieceState *out) {
	const FemTopology *t = body->topology;
	FemQuat sum = {0.0f, 0.0f, 0.0f, 0.0f};
	FemRange nodes = t->component_nodes[component];
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		FemVec4 q = body->rotation[tet];
		float volume = body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		float sign = q.x * sum.x + q.y * sum.y + q.z * sum.z + q.w * sum.w < 0.0f ? -volume : volume;
		sum.x += sign * q.x, sum.y += sign * q.y, sum.z += sign * q.z, sum.w += sign * q.w;
		out->volume += 0.25 * (double)volume;
	}
	out->rotation = fem_quat_normalize(&sum) ? sum : (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
}

FemResult fem_body_get_piece_state(FemBodyId id, FemPieceNumber number, FemPieceState *out_state) {
	FemTarget target;
	FemResult result = fem_target_piece(id, number, &target);
	if (result != FEM_OK || (result = fem_check_out(out_state)) != FEM_OK)
		return result;
	const FemWorld *world = target.world;
	const FemBody *body = target.body;
	int32_t component = target.component;
	FemRange nodes = body->topology->component_nodes[component];
	*out_state = (FemPieceState){
		.piece = number,
		.parent = body->pieces[component].parent,
		.age = world->time - body->pieces[component].born,
		.time_left = time_left(world, body, component, fem_largest_piece(body->topology)),
		.tet_count = body->topology->component_tets[component],
		.node_count = nodes.end - nodes.begin,
		.is_attached = fem_piece_is_attached(body, component),
		.asleep = !fem_piece_is_live(body, component),
	};
	measure_motion(body, nodes, out_state);
	measure_tets(body, component, out_state);
	return FEM_OK;
}

// ---- sleep and waking

FemResult fem_body_sleep_piece(FemBodyId id, FemPieceNumber number) {
	FemTarget target;
	FemResult result = fem_target_piece(id, number, &target);
	FemBody *body = target.body;
	if (result != FEM_OK || body->kinematic)
		return result;
	FemRange parts = body->topology->component_parts[target.component];
	FemRange nodes = body->topology->component_nodes[target.component];
	for (int32_t p = parts.begin; p < parts.end; p++) {
		body->live_part_count -= body->part_state[p] == FEM_ISLAND_LIVE;
		body->part_state[p] = FEM_ISLAND_ASLEEP;
		body->part_still[p] = 0;
	}
	for (int32_t i = nodes.begin; i < nodes.end; i++)
		body->velocity[i] = body->last_dv[i] = (FemVec4){0};
	body->pieces[target.component].slack = 0.0f;
	target.world->islands.dirty = true;
	return FEM_OK;
}

FemResult fem_body_wake_piece(FemBodyId id, FemPieceNumber number) {
	FemTarget target;
	FemResult result = fem_target_piece(id, number, &target);
	if (result == FEM_OK)
		fem_body_wake_component(&target.world->islands, target.body, target.component);
	return result;
}

// ---- removing

static void remove_marked(FemWorld *world, int32_t body_index) {
	fem_heap_begin(world->heap);
	fem_body_apply_split(world, world->bodies[body_index], false);
	fem_heap_end();
	fem_body_finish_split(world, body_index);
}

FemResult fem_body_remove_piece(FemBodyId id, FemPieceNumber number) {
	FemTarget target;
	FemResult result = fem_target_piece(id, number, &target);
	if (result != FEM_OK)
		return result;
	FemWorld *world = target.world;
	FemBody *body = target.body;
	if (!body->breaking)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The body has no material that breaks: only bodies that can break lose pieces.");
	if (body->topology->component_count == 1)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "This is the body's last piece: destroy the body instead.");
	if (!fem_body_make_splittable(world, body) || !fem_split_open(body->own_topology))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for taking a body of %d tets apart.",
			body->topology->tet_count);
	fem_world_wake_touching_piece(world, body, target.component); // what rested on it
	fem_split_remove_component(body->own_topology, target.component);
	remove_marked(world, id.index1 - 1);
	fem_body_publish(body);
	return FEM_OK;
}

// ---- limits of number and age

static bool may_retire(const FemBody *body, int32_t component, int32_t largest) {
	return !body->topology->split->removed[component] && fem_piece_is_debris(body, component, largest);
}

// The next piece to remove as debris: the smallest, of equals the oldest; -1 for none.
static int32_t next_to_retire(const FemBody *body, int32_t largest) {
	const FemTopology *t = body->topology;
	int32_t best = -1;
	for (int32_t c = 0; c < t->component_count; c++) {
		if (!may_retire(body, c, largest) || body->pieces[c].retires < INFINITY)
			continue;
		if (best < 0 || t->component_tets[c] < t->component_tets[best] ||
			(t->component_tets[c] == t->component_tets[best] && body->pieces[c].born < body->pieces[best].born))
			best = c;
	}
	return best;
}

void fem_piece_retire_at(FemBody *body, int32_t component, double time) {
	body->pieces[component].retires = time;
	body->breaking->retires_from = 0.0;
	fem_rigid_piece_give_up(body, component);
}

// The pieces that are one too many now go when they have faded.
static void limit_debris(const FemWorld *world, FemBody *body, int32_t largest) {
	FemBreaking *breaking = body->breaking;
	int32_t debris = 0;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		debris += may_retire(body, c, largest) && body->pieces[c].retires == INFINITY;
	for (; debris > breaking->piece_limit; debris--)
		fem_piece_retire_at(body, next_to_retire(body, largest), world->time + (double)breaking->piece_fade);
}

static int32_t mark_retired(const FemWorld *world, FemBody *body) {
	FemTopology *t = body->own_topology;
	int32_t largest = fem_largest_piece(t), marked = 0;
	if (!fem_split_open(t))
		return 0;
	if (body->breaking->piece_limit > 0)
		limit_debris(world, body, largest);
	for (int32_t c = 0; c < t->component_count; c++) {
		if (may_retire(body, c, largest) && !(time_left(world, body, c, largest) > 0.0)) {
			fem_split_remove_component(t, c);
			marked++;
		}
	}
	if (marked == 0)
		fem_split_close(t);
	return marked;
}

FemResult fem_piece_limits_check(int32_t piece_limit, float piece_lifetime, float piece_fade) {
	if (piece_limit < 0 || !(piece_lifetime >= 0.0f) || !(piece_fade >= 0.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"piece_limit, piece_lifetime and piece_fade must not be negative; 0 is no limit.");
	return FEM_OK;
}

FemResult fem_body_set_piece_limits(FemBodyId id, int32_t piece_limit, float piece_lifetime, float piece_fade) {
	FemResult result;
	FemBody *body = fem_body_find_idle(id, NULL, &result);
	if (!body)
		return result;
	if (!body->breaking)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	result = fem_piece_limits_check(piece_limit, piece_lifetime, piece_fade);
	if (result != FEM_OK)
		return result;
	body->breaking->piece_fade = piece_fade;
	for (int32_t c = 0; piece_limit == 0 && c < body->topology->component_count; c++) {
		if (fem_piece_is_going(&body->pieces[c])) // none is one too many any more, and loads may break it again
			fem_piece_release(&body->pieces[c]);
		body->pieces[c].retires = INFINITY;
	}
	body->breaking->piece_limit = piece_limit;
	body->breaking->piece_lifetime = piece_lifetime;
	return FEM_OK;
}

// Whether a piece goes now that was told to (fem_world_shed()). Pieces are looked at only when one may: what sleeps
// costs nothing.
static bool has_retired(const FemWorld *world, FemBody *body) {
	double *from = &body->breaking->retires_from;
	if (*from > world->time)
		return false;
	*from = INFINITY;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		*from = body->pieces[c].retires < *from ? body->pieces[c].retires : *from;
	return *from <= world->time;
}

void fem_pieces_retire(FemWorld *world) {
	for (int32_t b = 0; world->breakable_count > 0 && b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || !body->breaking || body->topology->component_count < 2)
			continue;
		if (body->breaking->piece_limit <= 0 && !(body->breaking->piece_lifetime > 0.0f) && !has_retired(world, body))
			continue;
		fem_heap_begin(world->heap);
		bool can_split = fem_body_make_splittable(world, body);
		fem_heap_end();
		if (can_split && mark_retired(world, body) > 0)
			remove_marked(world, b);
	}
}
