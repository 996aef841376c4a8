#include "world/step/crushing.h"

#include "base/assert.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/range.h"
#include "base/vec.h"
#include "fracture/crack.h"
#include "fracture/principal.h"
#include "fracture/splinters.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "model/plate_elements.h"
#include "topology/splitting.h"
#include "world/api/registry.h"
#include "world/contact/contact_stage.h"
#include "world/step/breaking.h"

#include <math.h>
#include <stdlib.h>

#define BLOW_SPEED 0.5f // m/s along the normal: what comes more slowly is a load, not a blow; chosen
#define REST_SPEED 0.1  // m/s, of a piece under a load that it is at rest with; chosen
#define ROUNDING 0.5    // of the energy that a tet takes: with so much of it left it goes, too; half is the nearest
#define CRATER_TETS 256 // that go in one step of a body; chosen: more is no crater
#define CRATER_ROUNDS 8 // for the radius within which a blow is one; it shrinks to the contact itself or stays; chosen
#define EDGE_CUBED 8.485281374238570 // of a regular tet over its volume: 6 sqrt(2)
#define CRATER_VOLUME 2.1            // of a half ball over its radius cubed: 2 pi / 3

// A contact that presses on a tet.
typedef struct Hit {
	int32_t body, tet;
	FemVec3d point;           // m, from the body's origin
	double energy;            // J, that it took out of the motion; 0: of a load
	int32_t component, order; // of the tet's body; as it was found
	bool is_done;
} Hit;

typedef struct Crushing {
	FemStep *step;
	Hit *hits; // body by body, piece by piece, the hardest first
	int32_t hit_count, hit_capacity;
	int32_t *tets; // of one body, that go
	int32_t tet_count, tet_capacity;
} Crushing;

// ---- what presses

static bool may_crush(const FemBody *body) {
	return body && body->breaking && body->breaking->can_crush && body->live_part_count > 0 && !body->went_bad &&
		!body->kinematic && body->step && body->step->tet_stress && !fem_body_is_rigid_by_choice(body);
}

static bool may_crush_tet(const FemBody *body, int32_t tet) {
	const FemTopology *t = body->topology;
	return t->user_of_tet[tet] >= 0 && body->tet_crush[tet] > 0.0f &&
		body->part_state[t->node_part[fem_tet_node(t, tet, 0)]] == FEM_ISLAND_LIVE;
}

static int32_t tet_of_node(const FemTopology *t, int32_t node) {
	return t->node_tets[t->node_tet_start[node]] / 4;
}

// The tet of a side that may be crushed; -1: it may not.
static int32_t crushable_tet(const FemWorld *world, const FemContactSide *side) {
	const FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
	if (!may_crush(body))
		return -1;
	int32_t tet = side->kind == FEM_SIDE_TET ? side->tet : tet_of_node(body->topology, side->node);
	return may_crush_tet(body, tet) ? tet : -1;
}

// Pa, of the largest pressure in a tet. Acting plate cells have other stresses, and carry no load across them.
static double pressure_in(const FemBody *body, int32_t tet) {
	const FemTetStress *s = &body->step->tet_stress[tet];
	double values[3],
		stress[6] = {(double)s->normal.x, (double)s->normal.y, (double)s->normal.z, (double)s->shear.x,
			(double)s->shear.y, (double)s->shear.z};
	bool is_rigid = body->pieces[fem_tet_component(body->topology, tet)].is_rigid;
	if (is_rigid || fem_acting_cell(body, tet) >= 0)
		return 0.0;
	fem_principal_values(stress, values);
	return -values[2];
}

// m/s, of the nodes of a piece, in the mean. What has just been struck is full of waves: only a load that it has come
// to rest with is one.
static double speed_of_piece(const FemBody *body, int32_t component) {
	FemRange nodes = body->topology->component_nodes[component];
	double sum = 0.0, mass = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec3d v = fem_vec3d_from4(body->velocity[i]);
		sum += (double)body->mass[i] * fem_vec3d_dot(v, v);
		mass += (double)body->mass[i];
	}
	return sqrt(sum / mass);
}

static bool is_overloaded(const FemBody *body, int32_t tet) {
	return pressure_in(body, tet) > (double)body->tet_crush[tet] &&
		speed_of_piece(body, fem_tet_component(body->topology, tet)) < REST_SPEED;
}

static void add_hit(Crushing *crushing, const Hit *hit) {
	const FemBody *body = crushing->step->world->bodies[hit->body];
	bool counts = hit->energy > 0.0 || is_overloaded(body, hit->tet);
	if (counts && FEM_LIST_HOLD(crushing->hits, crushing->hit_capacity, crushing->hit_count + 1, INT32_MAX))
		crushing->hits[crushing->hit_count++] = (Hit){
			.body = hit->body,
			.tet = hit->tet,
			.point = hit->point,
			.energy = hit->energy,
			.component = fem_tet_component(body->topology, hit->tet),
			.order = crushing->hit_count,
		};
}

static FemVec3d point_of(const FemBody *body, const FemContactSide *side) {
	FemVec3d point = {0.0, 0.0, 0.0};
	for (int k = 0; k < 4; k++)
		point = fem_vec3d_add(
			point, fem_vec3d_scale(fem_vec3d_from4(body->position[side->nodes[k]]), (double)side->weights[k]));
	return point;
}

// An impulse J that stops an approach a, or turns it into e a, takes J a (1 - e) / 2 out of the motion. Where both
// sides can be crushed each gets half.
static void find_contact_hits(Crushing *crushing, const FemContact *contact) {
	const FemWorld *world = crushing->step->world;
	const float *j = contact->impulse, *n = contact->normal;
	double impulse = (double)(j[0] * n[0] + j[1] * n[1] + j[2] * n[2]);
	int32_t tets[2] = {crushable_tet(world, &contact->side[0]), crushable_tet(world, &contact->side[1])};
	double share = 0.5 * (tets[0] >= 0 && tets[1] >= 0 ? 0.5 : 1.0) *
		(contact->bounces ? 1.0 - (double)contact->restitution : 1.0);
	for (int s = 0; s < 2 && impulse > 0.0; s++) {
		const FemContactSide *side = &contact->side[s];
		bool strikes = contact->approach > BLOW_SPEED;
		if (tets[s] >= 0)
			add_hit(crushing,
				&(Hit){.body = side->body,
					.tet = tets[s],
					.point = point_of(world->bodies[side->body], side),
					.energy = strikes ? share * impulse * (double)contact->approach : 0.0});
	}
}

// Of the forces that the ground is said to give a piece: what they really did to its momentum. Where the rigid motion
// of a stiff piece is kept apart they may be told several times too large.
static double ground_share(const FemStep *step, const FemBody *body, FemRange nodes) {
	double told = 0.0, gained = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		told += (double)(step->dt * body->ground_force[i]);
		gained +=
			(double)body->mass[i] * (double)(body->step->dv[i].y - step->dt * fem_body_gravity(step->world, body).y);
	}
	return told > gained && told > 0.0 ? fmax(gained, 0.0) / told : 1.0;
}

static void find_ground_hits_of_piece(Crushing *crushing, int32_t body_index, int32_t component) {
	const FemBody *body = crushing->step->world->bodies[body_index];
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	double share = ground_share(crushing->step, body, nodes);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (!(body->ground_force[i] > 0.0f) || !may_crush_tet(body, tet_of_node(t, i)))
			continue;
		double speed = (double)(body->step->dv[i].y - body->velocity[i].y);
		double impulse = share * (double)(crushing->step->dt * body->ground_force[i]);
		add_hit(crushing,
			&(Hit){.body = body_index,
				.tet = tet_of_node(t, i),
				.point = fem_vec3d_from4(body->position[i]),
				.energy = speed > (double)BLOW_SPEED ? 0.5 * impulse * speed : 0.0});
	}
}

static void find_ground_hits(Crushing *crushing, int32_t body_index) {
	const FemBody *body = crushing->step->world->bodies[body_index];
	for (int32_t c = 0; may_crush(body) && c < body->topology->component_count; c++) {
		if (fem_piece_is_live(body, c))
			find_ground_hits_of_piece(crushing, body_index, c);
	}
}

static int by_piece_and_energy(const void *first, const void *second) {
	const Hit *a = first, *b = second;
	if (a->body != b->body)
		return a->body < b->body ? -1 : 1;
	if (a->component != b->component)
		return a->component < b->component ? -1 : 1;
	if (a->energy != b->energy)
		return a->energy > b->energy ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void find_hits(Crushing *crushing) {
	const FemWorld *world = crushing->step->world;
	for (int32_t i = 0; i < world->contacts.contact_count; i++)
		find_contact_hits(crushing, &world->contacts.contacts[i]);
	for (int32_t i = 0; world->def.ground_enabled && i < world->islands.active_count; i++)
		find_ground_hits(crushing, world->islands.active_bodies[i]);
	if (crushing->hit_count > 1)
		qsort(crushing->hits, (size_t)crushing->hit_count, sizeof *crushing->hits, by_piece_and_energy);
}

// ---- craters

static bool is_taken(const Crushing *crushing, int32_t tet) {
	for (int32_t i = 0; i < crushing->tet_count; i++) {
		if (crushing->tets[i] == tet)
			return true;
	}
	return false;
}

static double volume_of(const FemBody *body, int32_t tet) {
	return (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
}

static bool take_tet(Crushing *crushing, int32_t tet) {
	if (!FEM_LIST_HOLD(crushing->tets, crushing->tet_capacity, crushing->tet_count + 1, CRATER_TETS))
		return false;
	crushing->tets[crushing->tet_count++] = tet;
	return true;
}

// With all of its plate cell, if the share of the energy that this takes is there. Returns that energy, J; infinite: it
// stays.
static double take_unit(Crushing *crushing, const FemBody *body, int32_t tet, double energy_left, double share) {
	int32_t cell = fem_acting_cell(body, tet),
			count = cell < 0 ? 1 : fem_cell_tet_count(&body->topology->cells.cells[cell]);
	const int32_t *tets = cell < 0 ? &tet : body->topology->cells.cells[cell].tets;
	double energy = 0.0;
	for (int32_t k = 0; k < count; k++)
		energy += volume_of(body, tets[k]) * (double)body->tet_crush[tets[k]];
	if (energy_left < share * energy)
		return INFINITY;
	for (int32_t k = 0; k < count; k++) {
		if (!take_tet(crushing, tets[k]))
			return INFINITY;
	}
	return energy;
}

static double distance_to(const FemBody *body, int32_t tet, FemVec3d point) {
	FemVec3d sum = {0.0, 0.0, 0.0};
	for (int v = 0; v < 4; v++)
		sum = fem_vec3d_add(sum, fem_vec3d_from4(body->position[fem_tet_node(body->topology, tet, v)]));
	FemVec3d d = fem_vec3d_sub(fem_vec3d_scale(sum, 0.25), point);
	return sqrt(fem_vec3d_dot(d, d));
}

// The tet of a piece nearest to a point that does not go yet; -1: none.
static int32_t nearest_tet(const Crushing *crushing, const FemBody *body, int32_t component, FemVec3d point) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	double least = INFINITY;
	int32_t best = -1;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		if (t->node_tets[k] % 4 != 0 || !(body->tet_crush[tet] > 0.0f)) // each tet counts at its first node
			continue;
		double distance = distance_to(body, tet, point);
		if (distance < least && !is_taken(crushing, tet)) {
			least = distance;
			best = tet;
		}
	}
	return best;
}

static bool is_of_crater(const Hit *hit, const Hit *peak, double radius) {
	FemVec3d d = fem_vec3d_sub(hit->point, peak->point);
	return !hit->is_done && fem_vec3d_dot(d, d) <= radius * radius;
}

// J: the energy spent within the crater that it makes itself, or within half an edge of its tet, which is no less than
// the mesh can tell. What is spread over more than that only bruises. `of`: the hits of its piece.
static double energy_of_crater(
	const Crushing *crushing, FemRange of, const Hit *peak, double strength, double *out_radius) {
	const FemBody *body = crushing->step->world->bodies[peak->body];
	double radius = INFINITY, energy = 0.0, least = 0.5 * cbrt(EDGE_CUBED * volume_of(body, peak->tet));
	for (int round = 0; round < CRATER_ROUNDS; round++) {
		energy = 0.0;
		for (int32_t i = of.begin; i < of.end; i++)
			energy += is_of_crater(&crushing->hits[i], peak, radius) ? crushing->hits[i].energy : 0.0;
		radius = fmax(cbrt(energy / (strength * CRATER_VOLUME)), least);
	}
	*out_radius = radius;
	return energy;
}

static void make_crater(Crushing *crushing, FemRange of, Hit *peak) {
	const FemBody *body = crushing->step->world->bodies[peak->body];
	double radius, left = energy_of_crater(crushing, of, peak, (double)body->tet_crush[peak->tet], &radius);
	double share = 1.0; // a crater that is smaller than the tet does not show
	for (int32_t tet; left > 0.0 && (tet = nearest_tet(crushing, body, peak->component, peak->point)) >= 0;) {
		left -= take_unit(crushing, body, tet, left, share);
		share = ROUNDING;
	}
	for (int32_t i = of.begin; i < of.end; i++)
		crushing->hits[i].is_done |= is_of_crater(&crushing->hits[i], peak, radius);
	peak->is_done = true;
}

// The hits of the piece that the first of `rest` is of.
static FemRange hits_of_piece(const Crushing *crushing, FemRange rest) {
	FemRange of = {rest.begin, rest.begin};
	while (of.end < rest.end && crushing->hits[of.end].component == crushing->hits[of.begin].component)
		of.end++;
	return of;
}

// Blows first. What is struck in this step does not rest: its load is that of the blow. `hits`: all of the body.
static void find_tets(Crushing *crushing, int32_t body_index, FemRange hits) {
	const FemBody *body = crushing->step->world->bodies[body_index];
	bool is_struck = false;
	crushing->tet_count = 0;
	for (FemRange of = {hits.begin, hits.begin}; of.end < hits.end;) {
		of = hits_of_piece(crushing, (FemRange){of.end, hits.end});
		for (int32_t i = of.begin; i < of.end && crushing->hits[i].energy > 0.0; i++) {
			is_struck = true;
			if (!crushing->hits[i].is_done)
				make_crater(crushing, of, &crushing->hits[i]);
		}
	}
	for (int32_t i = hits.begin; i < hits.end && !is_struck; i++) {
		if (!is_taken(crushing, crushing->hits[i].tet))
			take_unit(crushing, body, crushing->hits[i].tet, INFINITY, 1.0);
	}
}

// ---- what cannot stay

// Whether a tet hangs together with fewer others that stay than a piece has.
static bool is_crumb(const Crushing *crushing, const FemBody *body, int32_t tet) {
	int32_t list[FEM_PIECE_TETS_MIN] = {tet}, count = 1;
	for (int32_t at = 0; at < count; at++) {
		for (int v = 0; v < 4; v++) {
			int32_t across = body->topology->neighbours[4 * list[at] + v];
			bool is_new = across >= 0 && !is_taken(crushing, across / 4);
			for (int32_t k = 0; k < count && is_new; k++)
				is_new = list[k] != across / 4;
			if (!is_new)
				continue;
			if (count + 1 == FEM_PIECE_TETS_MIN)
				return false;
			list[count++] = across / 4;
		}
	}
	return true;
}

// Crumbs go with the rest. False: nothing can go, since too little would stay of the body, or there is no room.
static bool take_crumbs(Crushing *crushing, const FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < crushing->tet_count; i++) {
		for (int v = 0; v < 4; v++) {
			int32_t across = t->neighbours[4 * crushing->tets[i] + v];
			if (across >= 0 && !is_taken(crushing, across / 4) && is_crumb(crushing, body, across / 4) &&
				!take_tet(crushing, across / 4))
				return false;
		}
	}
	return crushing->tet_count > 0 && t->tet_count - crushing->tet_count >= FEM_PIECE_TETS_MIN;
}

// ---- going

// The grains have the mean velocity of the nodes of their tets.
static FemCrushEvent describe(const Crushing *crushing, int32_t body_index) {
	const FemWorld *world = crushing->step->world;
	const FemBody *body = world->bodies[body_index];
	FemVec3d center = {0.0, 0.0, 0.0}, velocity = {0.0, 0.0, 0.0};
	double volume = 0.0, mass = 0.0;
	for (int32_t i = 0; i < crushing->tet_count; i++) {
		int32_t tet = crushing->tets[i];
		double m = volume_of(body, tet) * (double)world->materials[body->tet_material[tet]].def.density;
		volume += volume_of(body, tet);
		mass += m;
		for (int v = 0; v < 4; v++) {
			int32_t node = fem_tet_node(body->topology, tet, v);
			center = fem_vec3d_add(center, fem_vec3d_scale(fem_vec3d_from4(body->position[node]), 0.25 * m));
			velocity = fem_vec3d_add(velocity, fem_vec3d_scale(fem_vec3d_from4(body->velocity[node]), 0.25 * m));
		}
	}
	return (FemCrushEvent){
		.body = fem_body_id(world, body_index),
		.center = fem_position_move(body->origin, fem_vec3d_scale(center, 1.0 / mass)),
		.velocity = fem_vec3d_to_vec3(fem_vec3d_scale(velocity, 1.0 / mass)),
		.volume = (float)volume,
		.mass = (float)mass,
		.tet_count = crushing->tet_count,
		.material = fem_material_id(world, body->tet_material[crushing->tets[0]]),
	};
}

static void add_event(FemWorld *world, const FemCrushEvent *event) {
	if (FEM_LIST_HOLD(world->step_crush_events, world->step_crush_event_capacity, world->step_crush_event_count + 1,
			FEM_EVENT_MAX))
		world->step_crush_events[world->step_crush_event_count++] = *event;
	else
		world->step_errors |= FEM_STEP_EVENTS_FULL;
}

static void cut_out(const Crushing *crushing, FemBody *body) {
	const FemTopology *t = body->topology;
	FemBreaking *breaking = body->breaking;
	for (int32_t i = 0; i < 4 * crushing->tet_count; i++) {
		int32_t face = 4 * crushing->tets[i / 4] + i % 4, across = t->neighbours[face];
		if (across >= 0 && !is_taken(crushing, across / 4))
			fem_face_cut(body, face, across);
	}
	if (breaking->splinters && fem_splinters_own(breaking->splinters)) {
		fem_splinters_note_cuts(breaking->splinters, t, breaking->cuts, breaking->cut_count);
		fem_splinters_crush(breaking->splinters, t, crushing->tets, crushing->tet_count);
		fem_splinters_follow(breaking->splinters, t); // before what they follow is gone
	}
	fem_split_remove_tets(body->own_topology, crushing->tets, crushing->tet_count);
	if (breaking->splinters && fem_splinters_own(breaking->splinters))
		fem_splinters_note_copies(breaking->splinters, t);
	FEM_FREE_ARRAY(breaking->cuts, breaking->cut_capacity);
	breaking->cuts = NULL;
	breaking->cut_count = breaking->cut_capacity = 0;
}

static bool crush_body(Crushing *crushing, int32_t body_index, FemRange hits, FemCrushEvent *out_event) {
	FemWorld *world = crushing->step->world;
	FemBody *body = world->bodies[body_index];
	find_tets(crushing, body_index, hits);
	if (!take_crumbs(crushing, body) || !fem_body_make_splittable(world, body) ||
		crushing->tet_count > fem_split_removable(body->topology) || !fem_split_open(body->own_topology))
		return false;
	*out_event = describe(crushing, body_index);
	for (int32_t i = 0; i < crushing->tet_count; i++) {
		int32_t component = fem_tet_component(body->topology, crushing->tets[i]);
		fem_piece_release(&body->pieces[component]);
		fem_world_wake_touching_piece(world, body, component); // what rested on it
	}
	cut_out(crushing, body);
	fem_body_apply_split(world, body, false);
	body->breaking->is_dicing |= body->breaking->has_prestress; // a hole is a crack
	return true;
}

static void finish_body(FemWorld *world, int32_t body_index, const FemCrushEvent *event) {
	fem_body_finish_split(world, body_index);
	world->bodies[body_index]->breaking->crushed_mass += (double)event->mass;
	world->step_statistics.crushed_tets += event->tet_count;
	add_event(world, event);
}

void fem_crushing_run(FemStep *step) {
	FemWorld *world = step->world;
	Crushing crushing = {.step = step};
	fem_heap_begin(world->heap);
	find_hits(&crushing);
	fem_heap_end();
	for (FemRange of = {0, 0}; of.end < crushing.hit_count;) {
		int32_t index = crushing.hits[of.end].body;
		FemCrushEvent event;
		of.begin = of.end;
		while (of.end < crushing.hit_count && crushing.hits[of.end].body == index)
			of.end++;
		fem_heap_begin(world->heap);
		bool is_crushed = crush_body(&crushing, index, of, &event);
		fem_heap_end();
		if (is_crushed)
			finish_body(world, index, &event);
	}
	FEM_FREE_ARRAY(crushing.hits, crushing.hit_capacity);
	FEM_FREE_ARRAY(crushing.tets, crushing.tet_capacity);
}

// ---- events

void fem_crushing_publish(FemWorld *world) {
	FemCrushEvent *events = world->crush_events;
	int32_t capacity = world->crush_event_capacity;
	world->crush_events = world->step_crush_events;
	world->step_crush_events = events;
	world->crush_event_capacity = world->step_crush_event_capacity;
	world->step_crush_event_capacity = capacity;
	world->crush_event_count = world->step_crush_event_count;
	world->step_crush_event_count = 0;
}

int32_t fem_world_get_crush_events(FemWorldId id, const FemCrushEvent **out_events) {
	FemWorld *world = fem_world_find(id);
	if (out_events)
		*out_events = world ? world->crush_events : NULL;
	return world ? world->crush_event_count : 0;
}
