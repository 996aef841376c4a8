#include "world/step/joined_blows.h"

#include "dynamics/bond_response.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/blow_response.h"
#include "world/step/blows.h"
#include "world/step/joined_pieces.h"
#include "world/step/touches.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// Solves of one look: what is overloaded after so many breaks by the step's own force, or in the next one. Chosen.
#define BREAKS_MOST 16
// Of the speed of the fastest contact: what is slower along its normal passes by. Contacts of tets beside and behind
// the place that is struck are found with normals askew, and by chance would be the first to touch: with 0.5 a wall
// that lost parts at 4 m/s stood at 6. Chosen.
#define GRAZE_SHARE 0.85f

// How a piece is struck, and what it is part of. Sums over its contacts, times their strengths.
typedef struct FemBondBlow {
	double load[6];                 // kg, kg m: force and torque about the body's origin
	float weight;                   // kg
	float approach, mobility, give; // as FemBlow has them
	float push;                     // N s a step: the most that what strikes it gave it before
	// ---- of the first piece of an assembly, for all of it
	float fastest;         // m/s, of its contacts: those much slower along their normals only graze
	float first;           // s, from the start of the step: when the first of its contacts touches; infinite: none does
	float low[3], high[3]; // m, its box
	bool is_done;
} FemBondBlow;

// ---- who is struck

static bool may_be_struck(const FemBody *body) {
	return fem_joined_of(body) && body->breaking && body->breaking->has_impacts && body->breaking->can_break &&
		!body->kinematic && body->live_part_count > 0 && body->step && body->step->start && !body->went_bad;
}

static FemBondBlow *open_blows(FemBody *body, FemArena *arena) {
	const FemTopology *t = body->topology;
	if (body->step->bond_blows)
		return body->step->bond_blows;
	FemBondBlow *blows = body->step->bond_blows = FEM_ARENA_TAKE(arena, FemBondBlow, t->component_count);
	for (int32_t c = 0; c < t->component_count; c++)
		blows[c] = (FemBondBlow){
			.first = INFINITY, .low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
	for (int32_t c = 0; c < t->component_count; c++) {
		FemBondBlow *of = &blows[body->pieces[c].assembly];
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++) {
			for (int k = 0; k < 3; k++) {
				of->low[k] = fminf(of->low[k], (&body->position[i].x)[k]);
				of->high[k] = fmaxf(of->high[k], (&body->position[i].x)[k]);
			}
		}
	}
	return blows;
}

static FemBondBlow *blow_of_assembly(const FemTouchPlace *touch) {
	return &touch->body->step->bond_blows[touch->body->pieces[touch->component].assembly];
}

static float length_of(const FemBondBlow *blow) {
	double square = 0.0;
	for (int k = 0; k < 3; k++)
		square += (double)(blow->high[k] - blow->low[k]) * (double)(blow->high[k] - blow->low[k]);
	return (float)sqrt(square);
}

static void note_speed(const FemTouchPlace *touch, FemArena *arena) {
	open_blows(touch->body, arena);
	FemBondBlow *blow = blow_of_assembly(touch);
	blow->fastest = fmaxf(blow->fastest, touch->approach);
}

static bool is_graze(const FemTouchPlace *touch) {
	return touch->approach < GRAZE_SHARE * blow_of_assembly(touch)->fastest;
}

static void note_first(const FemTouchPlace *touch) {
	FemBondBlow *blow = blow_of_assembly(touch);
	if (!is_graze(touch))
		blow->first = fminf(blow->first, fem_touch_time(touch, length_of(blow)));
}

// sign: of the normal, for the push on the piece.
static void take_part(const FemTouchPlace *touch, float sign) {
	const FemBondBlow *whole = blow_of_assembly(touch);
	FemBondBlow *blow = &touch->body->step->bond_blows[touch->component];
	const FemPiece *piece = &touch->body->pieces[touch->component];
	if (is_graze(touch))
		return;
	float weight = touch->strength * fem_touch_share(touch, length_of(whole), whole->first);
	float own = fem_striker_give(fem_impact_modulus(touch->body, touch->tet), piece->length);
	const float *x = &touch->place.x;
	blow->weight += weight;
	blow->approach += weight * touch->approach;
	blow->mobility += weight * touch->mobility;
	blow->give += weight * (touch->give + own); // the piece is rigid, and bonds say how it is held alone
	blow->push = fmaxf(blow->push, touch->load);
	for (int k = 0; k < 3; k++) {
		int a = (k + 1) % 3, b = (k + 2) % 3;
		blow->load[k] += (double)(sign * weight * touch->normal[k]);
		blow->load[3 + k] += (double)(sign * weight) *
			((double)x[a] * (double)touch->normal[b] - (double)x[b] * (double)touch->normal[a]);
	}
}

static bool touch_of(const FemStep *step, int32_t index, FemTouchPlace *out) {
	const FemContact *contact = &step->contacts[index / 2];
	const FemContactSide *side = &contact->side[index % 2];
	const FemBody *body = fem_side_is_body(side) ? step->world->bodies[side->body] : NULL;
	return body && contact->approach > FEM_SLOW_SPEED && may_be_struck(body) && body->pieces[side->piece].is_joined &&
		fem_touch_of_contact(step, contact, index % 2, out);
}

static bool touch_of_ground(const FemStep *step, FemBody *body, int32_t node, FemTouchPlace *out) {
	return body->velocity[node].y < -FEM_SLOW_SPEED &&
		body->pieces[fem_node_component(body->topology, node)].is_joined && fem_touch_of_ground(step, body, node, out);
}

static void find_on_ground(const FemStep *step, FemBody *body) {
	FemTouchPlace touch;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		if (touch_of_ground(step, body, i, &touch))
			note_speed(&touch, step->arena);
	}
	for (int32_t i = 0; body->step->bond_blows && i < body->topology->node_count; i++) {
		if (touch_of_ground(step, body, i, &touch))
			note_first(&touch);
	}
	for (int32_t i = 0; body->step->bond_blows && i < body->topology->node_count; i++) {
		if (touch_of_ground(step, body, i, &touch))
			take_part(&touch, 1.0f);
	}
}

static bool find_blows(const FemStep *step) {
	FemWorld *world = step->world;
	FemTouchPlace touch;
	int32_t sides = world->def.contacts_enabled ? 2 * world->contacts.contact_count : 0;
	bool any = false;
	for (int32_t i = 0; i < sides; i++) {
		if (touch_of(step, i, &touch))
			note_speed(&touch, step->arena);
	}
	for (int32_t i = 0; i < sides; i++) {
		if (touch_of(step, i, &touch))
			note_first(&touch);
	}
	for (int32_t i = 0; i < sides; i++) {
		if (touch_of(step, i, &touch))
			take_part(&touch, i % 2 == 0 ? -1.0f : 1.0f); // the normal points from side 0 to side 1
	}
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (step->ground.enabled && may_be_struck(body))
			find_on_ground(step, body);
		any |= body->step && body->step->bond_blows;
	}
	return any;
}

// ---- one assembly

typedef struct Look {
	const FemStep *step;
	FemBody *body;
	int32_t assembly;
	FemRange rows; // bonds of the composite, among them its own
	FemBondNet net;
	int32_t *piece_of; // [component]: in the net; -1: it is held, or none of it
	int32_t *row_of;   // [link]
	bool is_attached;
	float mass, volume; // kg, m^3
	// ---- of the blow
	float approach, mobility, give; // means, as FemBlow has them
	float push;                     // N s a step, as FemBondBlow has it
	float time;                     // s, that it lasts; 0: not known
} Look;

static bool is_of(const Look *look, const FemContact *row) {
	return look->step->world->bodies[row->side[0].body] == look->body &&
		look->body->pieces[row->side[0].piece].assembly == look->assembly;
}

static void add_pieces(Look *look) {
	FemBody *body = look->body;
	look->net.piece_count = 0;
	look->is_attached = false;
	look->mass = look->volume = 0.0f;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		look->piece_of[c] = -1;
		if (body->pieces[c].assembly != look->assembly)
			continue;
		look->mass += body->pieces[c].mass;
		look->volume += body->pieces[c].volume;
		if (fem_piece_is_attached(body, c)) {
			look->is_attached = true;
			continue;
		}
		FemMotionSums sums = fem_sums_of_nodes(body, body->topology->component_nodes[c]);
		look->piece_of[c] = look->net.piece_count++;
		fem_bond_net_set_piece(&look->net, look->piece_of[c], &sums);
	}
}

static void add_links(Look *look) {
	const FemBody *body = look->body;
	const FemContact *contacts = look->step->composites.contacts;
	look->net.link_count = 0;
	for (int32_t i = look->rows.begin; i < look->rows.end; i++) {
		if (!is_of(look, &contacts[i]))
			continue;
		const FemBond *bond = &body->joined->bonds[contacts[i].key];
		FemBondLink *link = &look->net.links[look->net.link_count];
		float ratio = body->tet_impact[bond->corner[0] / 4].stiffness;
		*link = (FemBondLink){.stiffness = (ratio > 0.0f ? ratio : 1.0f) * bond->stiffness};
		for (int s = 0; s < 2; s++) {
			const float *x = &body->position[contacts[i].side[s].node].x;
			link->piece[s] = look->piece_of[contacts[i].side[s].piece];
			for (int k = 0; k < 3 && link->piece[s] >= 0; k++)
				link->arm[s][k] = (float)((double)x[k] - look->net.centers[3 * (int64_t)link->piece[s] + k]);
		}
		look->row_of[look->net.link_count++] = i;
	}
}

// The load, of what still hangs on others. False: nothing of that is struck.
static bool set_load(Look *look) {
	const FemBody *body = look->body;
	double weight = 0.0, approach = 0.0, mobility = 0.0, give = 0.0;
	memset(look->net.load, 0, 6 * sizeof(double) * (size_t)look->net.piece_count);
	look->push = 0.0f;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		const FemBondBlow *blow = &body->step->bond_blows[c];
		if (look->piece_of[c] < 0 || !(blow->weight > 0.0f) || !body->pieces[c].is_joined)
			continue;
		double *load = look->net.load + 6 * (int64_t)look->piece_of[c];
		memcpy(load, blow->load, 3 * sizeof *load);
		fem_about_center(blow->load + 3, blow->load, look->net.centers + 3 * (int64_t)look->piece_of[c], load + 3);
		weight += (double)blow->weight;
		approach += (double)blow->approach;
		mobility += (double)blow->mobility;
		give += (double)blow->give;
		look->push = fmaxf(look->push, blow->push);
	}
	if (!(weight > 0.0))
		return false;
	for (int32_t i = 0; i < 6 * look->net.piece_count; i++)
		look->net.load[i] /= weight;
	look->approach = (float)(approach / weight);
	look->mobility = (float)(mobility / weight);
	look->give = (float)(give / weight);
	return true;
}

// J, of the motion of both masses against each other; and m^2 that it may open. 0: no crack could run through.
static double crack_area(const Look *look) {
	const FemBody *body = look->body;
	const FemBondBlow *whole = &body->step->bond_blows[look->assembly];
	double mobility = (double)look->mobility + (look->is_attached ? 0.0 : 1.0 / (double)look->mass);
	double energy = 0.5 * (double)look->approach * (double)look->approach / mobility;
	const FemBond *bond = &body->joined->bonds[look->step->composites.contacts[look->row_of[0]].key];
	double surface = (double)body->tet_impact[bond->corner[0] / 4].surface;
	double area = surface > 0.0 ? (double)FEM_CRACK_SHARE * energy / surface : INFINITY;
	bool is_whole = body->joined->whole_count == body->joined->bond_count;
	double sections = (double)(is_whole ? FEM_SECTIONS_LEAST : FEM_BROKEN_SECTIONS_LEAST);
	bool is_enough = look->is_attached || area >= sections * (double)(look->volume / length_of(whole));
	return is_enough ? area : 0.0;
}

// s: a first guess at the time in which what strikes is stopped.
static float guess_time(const Look *look) {
	const FemBody *body = look->body;
	const FemContact *row = &look->step->composites.contacts[look->row_of[0]];
	const FemPiece *piece = &body->pieces[row->side[0].piece];
	float modulus = fem_impact_modulus(body, body->joined->bonds[row->key].corner[0] / 4);
	return 2.0f / sqrtf(modulus * piece->thickness * (1.0f / piece->mass + look->mobility));
}

static double clamp_time(double time) {
	return fmin(fmax(time, (double)FEM_BLOW_TIME_MIN), (double)FEM_BLOW_TIME_MAX);
}

// As elements do (blow_response.c, find_response()): the time that stops what strikes with the greatest force, and not
// less than pieces can follow.
static FemBondResponse find_response(Look *look) {
	bool is_known = look->time > 0.0f;
	double time = is_known ? (double)look->time : clamp_time((double)guess_time(look));
	double rigid = look->is_attached ? 0.0 : fem_bond_net_rigid(&look->net);
	FemBondResponse response = fem_bond_net_respond(&look->net, time);
	for (int round = 1; !is_known && round < FEM_BLOW_ROUNDS; round++) {
		double elastic = response.elastic, bends = fmax(response.inertia - rigid, 0.0);
		double wanted =
			time * sqrt((elastic + (double)look->give / (time * time)) / ((double)look->mobility + response.inertia));
		if (elastic > 0.0)
			wanted = fmax(wanted, time * sqrt((double)FEM_BLOW_RESOLVED_SHARE * bends / elastic));
		wanted = clamp_time(wanted);
		if (wanted < (double)FEM_BLOW_TIME_FACTOR * time && wanted * (double)FEM_BLOW_TIME_FACTOR > time)
			break;
		time = wanted;
		response = fem_bond_net_respond(&look->net, time);
	}
	look->time = (float)time;
	return response;
}

// Bonds bear what the blow makes them, as if stiffness and strength were those of the step. False: it is no blow.
static bool load_rows(Look *look) {
	FemContact *contacts = look->step->composites.contacts;
	const FemBody *body = look->body;
	FemBondResponse response = find_response(look);
	double time = (double)look->time;
	double sum = (double)look->mobility + response.inertia + response.elastic + (double)look->give / (time * time);
	double impulse = (double)FEM_BLOW_GAIN * (double)look->approach / sum;
	if ((double)look->push > (double)FEM_PUSH_SHARE * impulse)
		return false; // it has pushed for long, and pushes on
	for (int32_t l = 0; l < look->net.link_count; l++) {
		FemContact *row = &contacts[look->row_of[l]];
		const FemBond *bond = &body->joined->bonds[row->key];
		double u[3], weakness = (double)body->tet_impact[bond->corner[0] / 4].weakness;
		double by = (double)look->step->dt * (double)bond->stiffness * time * impulse * weakness;
		fem_bond_net_stretch(&look->net, l, u);
		for (int k = 0; k < 3; k++)
			row->impulse[k] = bond->is_broken ? 0.0f : (float)(by * u[k]);
	}
	return true;
}

// What came loose takes part of the speed of what strikes; the rest of that meets what still hangs on others.
static void go_on(Look *look) {
	const FemBody *body = look->body;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemBondBlow *blow = &body->step->bond_blows[c];
		if (look->piece_of[c] < 0 || !(blow->weight > 0.0f) || body->pieces[c].is_joined)
			continue;
		float left = 1.0f / (1.0f + body->pieces[c].mass * blow->mobility / blow->weight);
		for (int32_t other = 0; other < body->topology->component_count; other++)
			body->step->bond_blows[other].approach *= look->piece_of[other] >= 0 ? left : 1.0f;
		blow->weight = 0.0f;
	}
	for (int32_t l = 0; l < look->net.link_count; l++) {
		if (body->joined->bonds[look->step->composites.contacts[look->row_of[l]].key].is_broken)
			look->net.links[l].stiffness = 0.0f;
	}
}

static void clear_rows(const Look *look) {
	for (int32_t l = 0; l < look->net.link_count; l++) {
		FemContact *row = &look->step->composites.contacts[look->row_of[l]];
		memset(row->impulse, 0, sizeof row->impulse);
		row->slip = 0.0f;
	}
}

// True: bonds of it broke.
static bool look_at(Look *look, int32_t body_index) {
	FemBody *body = look->body;
	bool any = false;
	look->time = 0.0f;
	add_pieces(look);
	add_links(look);
	if (look->net.link_count == 0 || !set_load(look))
		return false;
	double area = crack_area(look);
	for (int k = 0; k < BREAKS_MOST && area > 0.0 && fem_joined_of(body) && set_load(look) && load_rows(look); k++) {
		fem_joined_begin_breaking(body);
		fem_joined_break_rows(look->step, look->rows, &area);
		if (!body->joined->has_broken)
			break;
		any = true;
		fem_joined_part(look->step->world, body_index);
		go_on(look);
	}
	clear_rows(look);
	return any;
}

// ---- all of them

static bool is_body(const FemBody *body) {
	return fem_joined_of(body) && body->breaking && body->breaking->has_impacts;
}

// Room for the largest body of all, since they are looked at one by one.
static void room_of(const FemWorld *world, int32_t *out_pieces, int32_t *out_links) {
	*out_pieces = *out_links = 0;
	for (int32_t i = 0; world->joined_count > 0 && i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!is_body(body))
			continue;
		*out_pieces = body->topology->component_count > *out_pieces ? body->topology->component_count : *out_pieces;
		*out_links = body->joined->whole_count > *out_links ? body->joined->whole_count : *out_links;
	}
}

size_t fem_joined_blows_bytes(const FemWorld *world) {
	int32_t pieces, links;
	size_t bytes = 0;
	room_of(world, &pieces, &links);
	for (int32_t i = 0; world->joined_count > 0 && i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bytes += is_body(body) ? fem_align_up(sizeof(FemBondBlow) * (size_t)body->topology->component_count) : 0;
	}
	return bytes == 0 ? 0
					  : bytes + fem_bond_net_bytes(pieces, links) + fem_align_up(sizeof(int32_t) * (size_t)pieces) +
			fem_align_up(sizeof(int32_t) * (size_t)links);
}

static bool look_at_composite(Look *look) {
	const FemWorld *world = look->step->world;
	bool any = false;
	for (int32_t i = look->rows.begin; i < look->rows.end; i++) {
		const FemContact *row = &look->step->composites.contacts[i];
		FemBody *body = world->bodies[row->side[0].body];
		FemBondBlow *blows = body->step->bond_blows;
		int32_t assembly = body->pieces[row->side[0].piece].assembly;
		if (!blows || blows[assembly].is_done || isinf(blows[assembly].first))
			continue;
		blows[assembly].is_done = true;
		look->body = body;
		look->assembly = assembly;
		any |= look_at(look, row->side[0].body);
	}
	return any;
}

bool fem_joined_look(FemStep *step) {
	const FemWorld *world = step->world;
	bool any = false;
	if (world->joined_count == 0)
		return false;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		world->bodies[world->islands.active_bodies[i]]->step->bond_blows = NULL;
	if (!find_blows(step))
		return false;
	int32_t pieces, links;
	room_of(world, &pieces, &links);
	Look look = {
		.step = step,
		.net = fem_bond_net_take(step->arena, pieces, links),
		.piece_of = FEM_ARENA_TAKE(step->arena, int32_t, pieces),
		.row_of = FEM_ARENA_TAKE(step->arena, int32_t, links),
	};
	for (int32_t c = 0; c < step->composites.count; c++) {
		look.rows = fem_joined_rows(step, c);
		any |= look_at_composite(&look);
	}
	return any;
}
