#include "world/step/blows.h"
#include "world/step/kept_elements.h"

#include "base/hash.h"
#include "fracture/separation.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/blow_response.h"
#include "world/step/blow_waits.h"
#include "world/step/passes.h"
#include "world/step/touches.h"
#include "world/step/work_limits.h"

#include <math.h>
#include <string.h>

#define REFERENCE_STEP (1.0f / 60.0f) // s, at which FEM_CRACK_SHARE was chosen
#define STOPPED_SHARE 0.7f            // of its speed: a piece that a blow takes less of falls on; chosen

size_t fem_blows_bytes(const FemBody *body) {
	if (!body->breaking || !body->breaking->has_impacts)
		return 0;
	return fem_align_up(sizeof(FemBlow) * (size_t)body->topology->component_count);
}

bool fem_piece_is_struck(const FemBody *body, int32_t component) {
	return body->step->blows && body->step->blows[component].is_struck;
}

bool fem_blow_dents(const FemBody *body, int32_t component, int32_t node, FemSeparation *out) {
	const FemWallBlow *wall = &body->step->blows[component].wall;
	int32_t user = body->topology->user_of_node[node];
	return wall->thickness > 0.0f &&
		fem_wall_separation(body, wall, node, fem_hash_word(body->breaking->seed, (uint64_t)user), out);
}

// ---- who is struck

static bool may_be_struck(const FemBody *body) {
	return body->breaking && body->breaking->has_impacts && body->breaking->can_break && !body->plastics &&
		body->live_part_count > 0 && body->step->start && !body->step->is_over && !body->step->look_is_over &&
		!body->step->waits && !body->went_bad;
}

static FemBlow *open_blows(FemBody *body, FemArena *arena) {
	if (body->step->blows)
		return body->step->blows;
	body->step->blows = FEM_ARENA_TAKE(arena, FemBlow, body->topology->component_count);
	for (int32_t c = 0; c < body->topology->component_count; c++)
		body->step->blows[c] = (FemBlow){.first = INFINITY};
	memset(body->step->rhs, 0, sizeof(FemVec4) * (size_t)body->topology->node_count);
	return body->step->blows;
}

static float length_of(const FemTouchPlace *touch) {
	return touch->body->pieces[touch->component].length;
}

static bool is_spent(const FemTouchPlace *touch) {
	const FemPiece *piece = &touch->body->pieces[touch->component];
	return piece->spent_speed > 0.0f && fem_touch_time(touch, piece->length) < piece->spent_until;
}

static void note_first(const FemTouchPlace *touch, FemArena *arena) {
	FemBlow *blow = &open_blows(touch->body, arena)[touch->component];
	float time = fem_touch_time(touch, length_of(touch));
	if (!(time < blow->first))
		return;
	blow->first = time;
	blow->wall = fem_wall_blow(touch->body, touch->tet, touch->node, touch->place, touch->normal);
}

// How much of its strength takes part: 0 when it touches too late.
static float take_part(const FemTouchPlace *touch) {
	FemBlow *blow = &touch->body->step->blows[touch->component];
	float share = fem_touch_share(touch, length_of(touch), blow->first);
	if (!(share > 0.0f))
		return 0.0f;
	float weight = share * touch->strength;
	blow->is_struck = true;
	blow->weight += weight;
	blow->approach += weight * touch->approach;
	blow->mobility += weight * touch->mobility;
	blow->give += weight * touch->give;
	blow->load = fmaxf(blow->load, touch->load);
	fem_wall_blow_add(&blow->wall, touch->place, weight, touch->patch);
	return weight;
}

// ---- contacts

static bool touch_of(const FemStep *step, const FemContact *contact, int s, FemTouchPlace *out) {
	const FemContactSide *side = &contact->side[s];
	FemBody *body = fem_side_is_body(side) ? step->world->bodies[side->body] : NULL;
	return body && body->step && may_be_struck(body) && !body->pieces[side->piece].look_is_over &&
		fem_touch_of_contact(step, contact, s, out) && !is_spent(out);
}

static bool is_mover(const FemStep *step, const FemContactSide *side) {
	return fem_side_is_collider(side) && step->world->colliders[side->collider].kind != FEM_COLLIDER_STATIC;
}

static void add_contact_load(const FemContact *contact, int s, FemBody *body, float weight) {
	const FemContactSide *side = &contact->side[s];
	float sign = s == 0 ? -weight : weight; // the normal points from side 0 to side 1
	for (int k = 0; k < (side->kind == FEM_SIDE_NODE ? 1 : 4); k++) {
		float j = sign * (side->kind == FEM_SIDE_NODE ? 1.0f : side->weights[k]);
		FemVec4 *load = &body->step->rhs[side->nodes[k]];
		*load = (FemVec4){
			load->x + j * contact->normal[0], load->y + j * contact->normal[1], load->z + j * contact->normal[2], 0.0f};
	}
}

// What a piece lies or leans on while something strikes it.
static void note_support(const FemStep *step, const FemContact *contact, int s) {
	const FemContactSide *side = &contact->side[s];
	FemTouchPlace touch;
	if (!(contact->pair_load > 0.0f) || !fem_side_is_body(side) || touch_of(step, contact, s, &touch))
		return;
	const FemBody *body = step->world->bodies[side->body];
	if (body->step && body->step->blows)
		body->step->blows[side->piece].leans = true;
}

// ---- the ground

static bool touch_of_ground(const FemStep *step, FemBody *body, int32_t node, FemTouchPlace *out) {
	return !body->pieces[fem_node_component(body->topology, node)].look_is_over &&
		fem_touch_of_ground(step, body, node, out) && !is_spent(out);
}

static void find_first_on_ground(FemStep *step, FemBody *body) {
	FemTouchPlace touch;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		if (touch_of_ground(step, body, i, &touch))
			note_first(&touch, step->arena);
	}
}

static void add_ground_loads(FemStep *step, FemBody *body) {
	FemTouchPlace touch;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		if (touch_of_ground(step, body, i, &touch))
			body->step->rhs[i].y += take_part(&touch);
	}
}

// ---- impulses

// Of what strikes with an impulse or an explosion the momentum is known and nothing else: it counts as something hard
// that comes as fast as a thrown stone or a hammer.
static void set_impulse_blow(FemBody *body, int32_t component, double total, const double place[3]) {
	FemBlow *blow = &body->step->blows[component];
	FemRange nodes = body->topology->component_nodes[component];
	int32_t node = nodes.begin;
	float most = 0.0f, normal[3] = {0.0f, 0.0f, 0.0f};
	blow->is_struck = blow->is_impulse = true;
	blow->first = 0.0f;
	blow->weight = (float)total;
	blow->approach = blow->weight * FEM_IMPULSE_SPEED;
	blow->mobility = FEM_IMPULSE_SPEED; // of a mean by weight: 1/m is speed over momentum
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float size = fem_vec3_length(fem_vec3_from(body->step->rhs[i]));
		node = size > most ? i : node;
		most = fmaxf(most, size);
	}
	for (int k = 0; k < 3; k++)
		normal[k] = (&body->step->rhs[node].x)[k] / most;
	FemVec4 at = {(float)place[0], (float)place[1], (float)place[2], 0.0f};
	int32_t tet = body->topology->node_tets[body->topology->node_tet_start[node]] / 4;
	blow->wall = fem_wall_blow(body, tet, node, at, normal);
	for (int32_t i = nodes.begin; i < nodes.end; i++)
		fem_wall_blow_add(&blow->wall, body->position[i], fem_vec3_length(fem_vec3_from(body->step->rhs[i])), 0.0f);
}

static void add_impulse_load(FemBody *body, int32_t component) {
	FemRange nodes = body->topology->component_nodes[component];
	double total = 0.0, place[3] = {0.0, 0.0, 0.0};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 v = body->step->struck[i];
		const float *x = &body->position[i].x;
		float m = body->mass[i];
		body->step->rhs[i] = (FemVec4){m * v.x, m * v.y, m * v.z, 0.0f};
		double size = (double)fem_vec3_length(fem_vec3_from(body->step->rhs[i]));
		total += size;
		for (int k = 0; k < 3; k++)
			place[k] += size * (double)x[k];
	}
	for (int k = 0; k < 3 && total > 0.0; k++)
		place[k] /= total;
	if (total > 0.0)
		set_impulse_blow(body, component, total, place);
}

static void add_impulse_loads(FemBody *body, FemArena *arena) {
	open_blows(body, arena);
	if (!body->step->struck)
		fem_body_keep_impulses(body, arena);
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		if (fem_piece_is_wholly_live(body, c) && !body->pieces[c].is_rigid && !body->pieces[c].look_is_over &&
			!body->step->blows[c].is_struck)
			add_impulse_load(body, c);
	}
}

void fem_blows_end(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (body->breaking)
			body->breaking->blow_waits = body->step->waits ? body->breaking->blow_waits + 1 : 0;
		if (body->step->waits)
			continue;
		body->blow_speed = 0.0f;
		if (!body->breaking || !body->breaking->was_struck)
			continue;
		body->breaking->was_struck = false;
		body->breaking->crack_area = 0.0;
		for (int32_t c = 0; c < body->topology->component_count; c++) {
			body->pieces[c].spent_speed = body->pieces[c].spent_until = body->pieces[c].blow_time = 0.0f;
			body->pieces[c].blow_decides = body->pieces[c].blow_broke = body->pieces[c].look_is_over = false;
		}
	}
}

// ---- finding

static bool find_blows(FemStep *step) {
	FemWorld *world = step->world;
	const FemIslands *islands = &world->islands;
	FemTouchPlace touch;
	for (int32_t i = 0; i < islands->active_count; i++)
		world->bodies[islands->active_bodies[i]]->step->blows = NULL;
	for (int32_t i = 0; i < 2 * step->contact_count; i++) {
		if (touch_of(step, &step->contacts[i / 2], i % 2, &touch))
			note_first(&touch, step->arena);
	}
	for (int32_t i = 0; i < step->contact_count * 2; i++) {
		if (!touch_of(step, &step->contacts[i / 2], i % 2, &touch))
			continue;
		add_contact_load(&step->contacts[i / 2], i % 2, touch.body, take_part(&touch));
		touch.body->step->blows[touch.component].by_mover |= is_mover(step, &step->contacts[i / 2].side[1 - i % 2]);
	}
	for (int32_t i = 0; i < step->contact_count * 2; i++)
		note_support(step, &step->contacts[i / 2], i % 2);
	bool any = false;
	for (int32_t i = 0; i < islands->active_count; i++) {
		FemBody *body = world->bodies[islands->active_bodies[i]];
		if (!may_be_struck(body))
			continue;
		if (step->ground.enabled) {
			find_first_on_ground(step, body);
			add_ground_loads(step, body);
		}
		if (body->blow_speed > FEM_SLOW_SPEED)
			add_impulse_loads(body, step->arena);
		any |= body->step->blows != NULL;
	}
	return any;
}

// ---- the look

// Too small to break.
static bool is_crumb(const FemPiece *piece) {
	return piece->is_rigid && isinf(piece->margin);
}

// J/m^2, of a crack in a piece.
static float surface_energy(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	int32_t tet = t->node_tets[t->node_tet_start[t->component_nodes[component].begin]] / 4;
	return body->tet_impact[tet].surface;
}

// The energy of a blow (J) is spent on waves, heat and flight, and a share of it on cracks. A crack that could not run
// through the section of a piece is not begun, unless the piece is held, which may be pierced.
static bool is_enough(const FemWorld *world, const FemBody *body, int32_t component, float energy) {
	const FemPiece *piece = &body->pieces[component];
	float sections = fem_body_is_whole(world, body) ? FEM_SECTIONS_LEAST : FEM_BROKEN_SECTIONS_LEAST;
	return fem_piece_is_attached(body, component) ||
		FEM_CRACK_SHARE * energy >= sections * surface_energy(body, component) * piece->volume / piece->length;
}

// What falls on is struck again in each step until it has fallen its own length, and each time a share of what it then
// has may become cracks. A step that is longer than REFERENCE_STEP has as much for them as several of these would.
static float share_of_fall(const FemBody *body, int32_t component, float dt) {
	const FemBlow *blow = &body->step->blows[component];
	float fall = body->pieces[component].length / blow->approach; // s
	if (blow->stopped >= STOPPED_SHARE || !(blow->approach > FEM_SLOW_SPEED))
		return 1.0f;
	return fmaxf(fmaxf(fall / REFERENCE_STEP, 1.0f) / fmaxf(fall / dt, 1.0f), 1.0f);
}

static void add_crack_area(const FemWorld *world, FemBody *body, int32_t component, float dt) {
	const FemBlow *blow = &body->step->blows[component];
	float surface = surface_energy(body, component),
		  energy = FEM_CRACK_SHARE * blow->energy * share_of_fall(body, component, dt);
	if (fem_piece_is_attached(body, component))
		energy += blow->dent_energy;
	if (is_enough(world, body, component, blow->energy))
		body->breaking->crack_area += surface > 0.0f ? (double)(energy / surface) : INFINITY;
}

// A piece that even all of the energy of the blow, that of both masses with the speed at which they meet, could not
// crack is whole, and is not looked at. Most of the shards of a vase that come down are that.
static void drop_weak_blow(const FemWorld *world, FemBody *body, int32_t component) {
	FemBlow *blow = &body->step->blows[component];
	FemPiece *piece = &body->pieces[component];
	if (!blow->is_struck || !(blow->weight > 0.0f) || piece->blow_time > 0.0f || is_crumb(piece))
		return;
	float speed = blow->approach / blow->weight, mass = 1.0f / (1.0f / piece->mass + blow->mobility / blow->weight);
	if (is_enough(world, body, component, 0.5f * mass * speed * speed))
		return;
	blow->is_struck = false;
	body->breaking->was_struck = true;
	piece->spent_speed = 1.0f;
	piece->look_is_over = true;
	// Whatever it leans on: the energy is that of both.
	piece->blow_decides = blow->load < FEM_PUSH_SHARE * mass * speed;
}

// False: none is left.
static bool drop_weak_blows(FemStep *step) {
	const FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bool is_struck = false;
		for (int32_t c = 0; body->step->blows && c < body->topology->component_count; c++) {
			drop_weak_blow(world, body, c);
			is_struck |= body->step->blows[c].is_struck;
		}
		if (!is_struck)
			body->step->blows = NULL;
		any |= is_struck;
	}
	return any;
}

static void look_task(void *context, int32_t index) {
	FemStep *step = context;
	FemBody *body = step->world->bodies[step->world->islands.active_bodies[index]];
	for (int32_t c = 0; body->step->blows && c < body->topology->component_count; c++) {
		body->step->blows[c].is_struck &= !is_crumb(&body->pieces[c]);
		if (!body->step->blows[c].is_struck)
			continue;
		bool is_new = !(body->pieces[c].blow_time > 0.0f);
		fem_blow_displace(body, c, step->dt);
		if (is_new)
			add_crack_area(step->world, body, c, step->dt);
	}
}

// Returns how many tets are looked at by now; `most`: 0 for no limit.
static int32_t limit_blows_of(FemBody *body, int32_t tets, int32_t most) {
	for (int32_t c = 0; body->step->blows && c < body->topology->component_count; c++) {
		FemBlow *blow = &body->step->blows[c];
		int32_t more = blow->is_struck && !is_crumb(&body->pieces[c]) ? body->topology->component_tets[c] : 0;
		blow->is_struck &= most <= 0 || tets == 0 || tets + more <= most;
		tets += blow->is_struck ? more : 0;
	}
	return tets;
}

#define RANKS 4 // of bodies, by who comes first when there is no time for all their blows: as rank_of() has them

// 0: impulses and explosions, which do not come again; 1: what has waited; 2: what colliders strike, what is whole and
// falls on them, and what cracked a moment ago and is to break to the end; 3: what other pieces alone strike, and
// pieces that fall. These are what a player does not see to.
static int rank_of(const FemStep *step, const FemBody *body) {
	bool by_mover = false, by_piece = false;
	if (body->blow_speed > FEM_SLOW_SPEED)
		return 0;
	if (body->breaking && body->breaking->blow_waits > 0)
		return 1;
	for (int32_t c = 0; body->step->blows && c < body->topology->component_count; c++) {
		const FemBlow *blow = &body->step->blows[c];
		by_mover |= blow->is_struck && blow->by_mover;
		by_piece |= blow->is_struck && blow->mobility > 0.0f;
	}
	bool is_whole = fem_body_is_whole(step->world, body);
	bool goes_on = !is_whole && body->breaking && fem_work_is_breaking(step->world, body);
	return by_mover || goes_on || (!by_piece && is_whole) ? 2 : 3;
}

static int32_t most_of_rank(const FemWorld *world, int rank) {
	int32_t of_all = world->limits.elastic_tets_max, of_rubble = world->limits.rubble_tets_max;
	bool is_less = rank == RANKS - 1 && of_rubble > 0 && (of_all <= 0 || of_rubble < of_all);
	return is_less ? of_rubble : of_all;
}

// Tets of a body that are to be looked at.
static int32_t struck_tets_of(const FemBody *body) {
	int32_t tets = 0;
	for (int32_t c = 0; body->step->blows && c < body->topology->component_count; c++) {
		bool is_looked_at = body->step->blows[c].is_struck && !is_crumb(&body->pieces[c]);
		tets += is_looked_at ? body->topology->component_tets[c] : 0;
	}
	return tets;
}

// What is struck beyond the limit on elastic tets waits where it can, and else is not looked at: it does not break of
// this blow.
static void limit_blows(FemStep *step) {
	FemWorld *world = step->world;
	int32_t count = world->islands.active_count;
	world->struck_tets = 0;
	for (int32_t i = 0; i < count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		body->step->blow_rank = (uint8_t)rank_of(step, body);
	}
	for (int32_t i = 0; i < RANKS * count; i++) {
		int32_t index = world->islands.active_bodies[i % count];
		FemBody *body = world->bodies[index];
		if (body->step->blow_rank != i / count)
			continue;
		int32_t most = most_of_rank(world, i / count), tets = world->struck_tets,
				more = most > 0 && tets > 0 ? struck_tets_of(body) : 0;
		if (more == 0 || tets + more <= most || !fem_blow_wait(step, index))
			world->struck_tets = limit_blows_of(body, tets, most);
	}
}

bool fem_blows_displace(FemStep *step) {
	if (step->world->breakable_count == 0 || !find_blows(step) || !drop_weak_blows(step))
		return false;
	for (int32_t i = 0; i < step->world->islands.active_count; i++) {
		FemBodyStep *of_body = step->world->bodies[step->world->islands.active_bodies[i]]->step;
		of_body->wants_elements = of_body->blows != NULL;
	}
	limit_blows(step);
	fem_kept_elements_make(step);
	fem_pool_for_uneven(step->world->pool, step->world->islands.active_count, look_task, step);
	return true;
}

void fem_blows_return(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!body->step->blows)
			continue;
		size_t nodes = (size_t)body->topology->node_count, lanes = (size_t)body->topology->batch_count * FEM_LANES;
		memcpy(body->position, body->step->start->position, sizeof(FemVec4) * nodes);
		memcpy(body->rotation, body->step->start->rotation, sizeof(FemVec4) * lanes);
	}
}

// Of a piece that a look did not split: true when the rest of it falls on until it touches next.
static bool settle_piece(FemBody *body, int32_t component) {
	const FemBlow *blow = &body->step->blows[component];
	FemPiece *piece = &body->pieces[component];
	bool falls_on = blow->is_struck && blow->stopped < STOPPED_SHARE;
	if (!blow->is_struck)
		return false;
	piece->spent_speed = falls_on ? 1.0f - (1.0f - piece->spent_speed) * (1.0f - blow->stopped) : 1.0f;
	// Supports bend it further than its own inertia does: then the step has the last word.
	bool leans = blow->leans || piece->ground_load > 0.0f;
	piece->blow_decides = !leans && blow->load < FEM_PUSH_SHARE * blow->impulse;
	piece->blow_time = 0.0f; // of the next
	piece->spent_until = blow->first + fem_touch_window(piece->length, blow->approach);
	piece->look_is_over = !falls_on;
	return falls_on;
}

void fem_blows_settle_uncut(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		if (!body->pieces[c].goes_back)
			(void)settle_piece(body, c);
	}
}

// What a blow has broken at the place where it strikes is stopped there alone: the rest goes on until it touches next.
// Each body has looks of its own, until one neither splits it nor lets it fall on, and in them each piece: with 30
// vases under one blast some vase breaks in each of ten looks, most of them in none of the last nine.
bool fem_blows_go_on(FemStep *step) {
	const FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bool again = body->step->has_returned; // it was split
		for (int32_t c = 0; !body->step->has_returned && body->step->blows && c < body->topology->component_count; c++)
			again |= settle_piece(body, c);
		body->step->look_is_over = !again;
		any |= again;
	}
	return any;
}
