#include "world/step/rigid_pieces.h"

#include "base/assert.h"
#include "dynamics/hinged_motion.h"
#include "dynamics/rigid_shape.h"
#include "fracture/separation.h"
#include "model/body_step.h"
#include "model/bond.h"
#include "model/piece.h"
#include "world/contact/contact_stage.h"
#include "world/step/breaking.h"
#include "world/step/kept_elements.h"
#include "world/step/modal_pieces.h"
#include "world/step/passes.h"
#include "world/step/piece_probe.h"
#include "world/step/work_limits.h"

#include <math.h>
#include <string.h>

// Of a tet's strength: what has less tension than this does not break of it, not even when its load comes of a sudden
// and makes up to twice its static stress.
#define LOW_SHARE 0.4f
#define RISE_SHARE 0.1f  // of the strength: tension of a tet that has more than that may rise by this much; chosen
#define NEAR_SHARE 0.02f // the same: where the tension is nearer to the strength than that; chosen
#define FALL_SHARE 0.3f  // the same: it may fall by this much. A piece that is set free springs back; chosen
// The same: a tension that comes to this, and that rose by so much, may break the piece in this very step. The bound on
// the tension of one tet is more than what its nodes feel: of 38 pieces of slab, wall and glass2400 that came to 0.8 to
// 1.25 of the strength one split in that step, of 128 that came to more 25.
#define URGENT_SHARE 1.25f
#define URGENT_RISE 0.3f
// Of the strength at a node, by the separation tensor, what a probe must foretell for that. Of 800 pieces a step of 30
// vases under a blast that came to more than URGENT_SHARE one in ten split, and the step was taken again for all. 0.8:
// below 1, since the probe knows a load only as it is for a rigid piece; chosen.
#define SPLIT_SHARE 0.8f
#define BORNE_RISE 1.2f // times what it bore before; chosen
// Of the strength: the stress that vibration may still come to. What is strained low as well cannot break of that, and
// the vibration is given up; what carries much must be at rest with it. Chosen.
#define VIBRATION_SHARE 0.5f
#define LOADED_VIBRATION_SHARE 0.05f
// The same of a pinned piece. It carries its weight and what rests on it in its strain, and must have come to rest with
// them: else that strain is missing when it is struck. Chosen.
#define PINNED_VIBRATION_SHARE 0.01f
#define PINNED_STEPS 6 // in a row, since what vibrates stands still at its turning points; chosen
// A piece that is released soon after it became rigid waits twice as long before the next time, up to this many steps:
// taking a step again costs more than a step with one more elastic piece. Chosen.
#define PATIENCE_MAX 3
#define SOON 30 // steps; chosen
// Of its length: what a piece that cannot break is bent by less than that is not seen to bend. Chosen, 1 mm in 10 cm.
#define SEEN_SHARE 0.01f
#define SEEN_STEPS 3 // in a row in which none of it is; chosen
// rad a step, of the slowest vibration; backward Euler leaves 1/sqrt(1 + 2^2) of it after a step, so that nothing of
// the bounce that it would make is lost by being rigid. What is softer bounces.
#define BOUNCE_MIN 2.0f
// Of the slack of a piece: loads that changed by less cannot have used it up, though bounds of bending know nothing of
// notches. Chosen.
#define SLACK_SHARE 0.5f
#define SEEN_TIME 0.05f // s: nor is it seen when it lasts no longer, as a blow does; chosen
#define CALM_MAX 1000   // steps that are counted; chosen

// ---- which

static FemDynamics dynamics_of(const FemBody *body) {
	return (FemDynamics)body->dynamics;
}

// What moves by modes is released as what is rigid by choice, and what broke of it is that. So are pieces that were
// joined and are to break on.
static bool is_free_to_choose(const FemBody *body) {
	return dynamics_of(body) == FEM_DYNAMICS_AUTO || dynamics_of(body) == FEM_DYNAMICS_MODAL ||
		(dynamics_of(body) == FEM_DYNAMICS_RIGID_PIECES && body->joined && body->joined->refine_on_break);
}

// Needs the stress of its tets, which only bodies that can break have.
static bool is_chosen_by_load(const FemBody *body) {
	return is_free_to_choose(body) && body->breaking && body->live_part_count > 0 && !body->went_bad &&
		body->step->tet_stress;
}

// Has no strength: whether its loads bend it by what is seen decides.
static bool is_chosen_by_sight(const FemBody *body) {
	bool breaks = body->breaking && body->breaking->can_break;
	return dynamics_of(body) == FEM_DYNAMICS_AUTO && !breaks && !body->plastics && body->live_part_count > 0 &&
		!body->went_bad && !body->kinematic;
}

static bool has_driven_node(const FemBody *body, FemRange nodes) {
	bool driven = false;
	for (int32_t i = nodes.begin; body->pinned_count > 0 && i < nodes.end; i++)
		driven |= body->node_kind[i] == FEM_NODE_DRIVEN;
	return driven;
}

// Unless it cannot be: driven, with all nodes on a line, or on a hinge and such that loads make it elastic again (what
// its pins bear of its swing is in no probe).
static void make_rigid(FemBody *body, int32_t component, float margin) {
	FemPiece *piece = &body->pieces[component];
	FemRange nodes = body->topology->component_nodes[component];
	FemHinge hinge;
	double inertia[9], spin[3] = {0.0, 0.0, 0.0};
	bool is_attached = fem_piece_is_attached(body, component),
		 is_hinged = is_attached && fem_hinge_of_piece(body, nodes, &hinge);
	if (has_driven_node(body, nodes) || (is_hinged && !isinf(margin)))
		return;
	if (is_hinged)
		is_hinged = fem_hinge_motion(body, nodes, &hinge, inertia, spin);
	if (!fem_rigid_shape_take(body, nodes, piece->shape_rotation))
		return;
	if (is_hinged)
		fem_hinge_set_spin(body, nodes, &hinge, spin);
	else if (is_attached)
		memset(body->velocity + nodes.begin, 0, sizeof(FemVec4) * (size_t)(nodes.end - nodes.begin));
	piece->margin = margin;
	piece->is_rigid = true;
	fem_convex_piece_forget(body, component);
	piece->slack = 0.0f;
	piece->probe_dt = 0.0f;
	if (body->modal)
		body->modal->is_moving = false;
}

// A piece that is too small to be split again does not care for its loads. `fragment` is the volume of the smallest
// piece that its tets break into, m^3.
static bool is_too_small_to_break(const FemBody *body, int32_t component, float fragment) {
	int32_t tets = body->topology->component_tets[component];
	bool is_small = tets < 2 * (body->breaking ? fem_fewest_tets(body) : FEM_PIECE_TETS_MIN) ||
		(tets < 2 * FEM_FRAGMENT_TETS_MAX && body->pieces[component].volume < 2.0f * fragment);
	return is_small && !body->plastics;
}

// m^3, of the smallest piece that a piece breaks into.
static float fragment_of_piece(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	float fragment = INFINITY;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++)
		fragment = fminf(fragment, body->tet_fragment[t->node_tets[k] / 4]);
	return fragment;
}

// ---- always

static void make_all_rigid(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		if (!body->pieces[c].is_rigid && !body->pieces[c].is_refined && fem_piece_is_wholly_live(body, c))
			make_rigid(body, c, INFINITY);
	}
}

void fem_rigid_pieces_begin(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (fem_body_is_rigid_by_choice(body))
			make_all_rigid(body);
		else if (dynamics_of(body) == FEM_DYNAMICS_MODAL)
			fem_modal_pieces_begin(body);
	}
}

// ---- by the limits of the step

// Pa, of the weakest of its tets; 0: it is not stiff.
static float least_strength(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	float least = INFINITY;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++)
		least = fminf(least, fem_tet_strength(body, t->node_tets[k] / 4));
	return least;
}

bool fem_rigid_piece_take(FemBody *body, int32_t component) {
	float margin = RISE_SHARE * least_strength(body, component);
	if (margin > 0.0f && is_free_to_choose(body) && fem_piece_is_wholly_live(body, component))
		make_rigid(body, component, margin);
	return body->pieces[component].is_rigid;
}

void fem_rigid_piece_give_up(FemBody *body, int32_t component) {
	FemPiece *piece = &body->pieces[component];
	bool is_rigid = piece->is_rigid || (!fem_modal_of(body) && fem_rigid_piece_take(body, component));
	if (!is_rigid || !is_free_to_choose(body) || fem_modal_of(body))
		return;
	piece->margin = INFINITY;
	piece->slack = 0.0f; // loads of it are kept no longer
}

// ---- crumbs

static bool is_stiff_crumb(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	if (!is_too_small_to_break(body, component, fragment_of_piece(body, component)))
		return false;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		float strength = fem_tet_strength(body, tet);
		if (t->node_tets[k] % 4 != 0) // each tet counts at its first node
			continue;
		if (!(strength > 0.0f) || !(fem_tet_tension(body, tet) < strength)) // what it is strained must go first
			return false;
	}
	return true;
}

bool fem_rigid_pieces_may_hold(const FemBody *body, int32_t component) {
	return is_free_to_choose(body) && !fem_body_goes_back_whole(body) && !fem_piece_is_attached(body, component) &&
		!body->pieces[component].is_rigid && fem_piece_is_wholly_live(body, component) &&
		fem_probe_is_possible(body, component) && least_strength(body, component) > 0.0f;
}

void fem_rigid_pieces_take_crumbs(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!is_free_to_choose(body) || body->step->is_over)
			continue;
		for (int32_t c = 0; c < body->topology->component_count; c++) {
			if (body->pieces[c].is_rigid || body->pieces[c].is_over || !fem_piece_is_wholly_live(body, c))
				continue;
			if (body->step->was_split && is_stiff_crumb(body, c))
				make_rigid(body, c, INFINITY);
			else if (body->pieces[c].cannot_split)
				make_rigid(body, c, RISE_SHARE * least_strength(body, c));
		}
	}
}

// ---- what a blow broke

// Pa: how far the tension of a tet may rise above what is kept in the shape of its piece. Near its strength it is
// looked at again soon, so that a load that grows breaks it where it would break an elastic one; beyond, it is what
// cannot be split any further.
static float margin_of(float strength, float kept) {
	float low = LOW_SHARE * strength - 0.5f * fmaxf(kept, 0.0f), left = strength - kept;
	float rise = left > 0.0f ? fminf(RISE_SHARE * strength, fmaxf(left, NEAR_SHARE * strength)) : RISE_SHARE * strength;
	return fmaxf(low, rise);
}

// Pa: what the vibration of a piece will make of its speed v, sqrt(E rho) v, when the motion has become strain. A
// pinned piece has no rigid motion.
static float vibration_stress(const FemBody *body, int32_t component) {
	const FemPiece *piece = &body->pieces[component];
	FemRange nodes = body->topology->component_nodes[component];
	int32_t tet = body->topology->node_tets[body->topology->node_tet_start[nodes.begin]] / 4;
	double modulus = 2.5 * (double)body->batches[tet / FEM_LANES].mu[tet % FEM_LANES]; // E of a Poisson ratio of 1/4
	double speed = fem_rigid_shape_vibration(body, nodes);
	for (int32_t i = nodes.begin; fem_piece_is_attached(body, component) && i < nodes.end; i++) {
		FemVec4 v = body->velocity[i];
		speed = fmax(speed, sqrt((double)(v.x * v.x + v.y * v.y + v.z * v.z)));
	}
	return (float)(speed * sqrt(modulus * (double)(piece->mass / piece->volume)));
}

// A piece that nothing strains nor shakes yet; of what a blow did not break: that bears what strains it.
static bool is_fresh(const FemBody *body, int32_t component, float *out_margin) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	float least = INFINITY, share = body->pieces[component].blow_decides ? 1.0f : LOW_SHARE;
	*out_margin = INFINITY;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		float strength = fem_tet_strength(body, tet), tension = fem_tet_tension(body, tet);
		if (!(strength > 0.0f) || !(tension < share * strength))
			return false;
		least = fminf(least, strength);
		*out_margin = fminf(*out_margin, margin_of(strength, tension));
	}
	return vibration_stress(body, component) < VIBRATION_SHARE * least;
}

void fem_rigid_pieces_take_struck(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bool was_struck = body->breaking && body->breaking->was_struck; // by a look before the last, too
		if (dynamics_of(body) != FEM_DYNAMICS_AUTO || !(body->step->was_split || was_struck))
			continue;
		for (int32_t c = 0; c < body->topology->component_count; c++) {
			float margin;
			bool has_part = body->pieces[c].blow_decides || (body->step->was_split && !fem_piece_is_attached(body, c));
			if (has_part && !body->pieces[c].is_rigid && fem_piece_is_wholly_live(body, c) &&
				fem_probe_is_possible(body, c) && is_fresh(body, c, &margin))
				make_rigid(body, c, margin);
		}
	}
}

// ---- release

typedef enum Load {
	LOAD_LOW,     // it stays rigid
	LOAD_HIGH,    // elastic from the next step on: it is near to breaking or yielding, or free of a stress it carried
	LOAD_URGENT,  // elastic in this step, which is taken again: it may break in it
	LOAD_UNKNOWN, // to be found when the elements of its body have been made (kept_elements.h)
} Load;

static Load load_of_tet(float strength, float kept, float now) {
	bool is_high = kept > LOW_SHARE * strength;
	if (now > URGENT_SHARE * strength && now - kept > URGENT_RISE * strength)
		return LOAD_URGENT;
	bool is_steady = now - kept < margin_of(strength, kept) && !(is_high && kept - now > FALL_SHARE * strength);
	return is_steady ? LOAD_LOW : LOAD_HIGH;
}

// Pa: by how much the tension of a tet whose load is low may still change.
static float room_of_tet(float strength, float kept, float now) {
	float fall = kept > LOW_SHARE * strength ? FALL_SHARE * strength - (kept - now) : INFINITY;
	return fminf(margin_of(strength, kept) - (now - kept), fall);
}

// Of a piece that was probed: no node would part, or under no more than it bore not long ago.
static bool bears_its_load(FemBody *body, int32_t component) {
	FemPiece *piece = &body->pieces[component];
	float excess = fem_probe_excess(body, component, fmaxf(SPLIT_SHARE, BORNE_RISE * piece->borne));
	if (excess > 0.0f)
		piece->borne = excess; // if it splits all the same, its pieces have borne nothing
	return !(excess > 0.0f);
}

// By one back-substitution; *out_room is that of a low load, Pa.
static Load probe_piece(FemBody *body, int32_t component, float dt, float *out_room) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	const FemModal *modal = fem_modal_of(body);
	if (!fem_probe_is_possible(body, component)) // only modal bodies may be without
		return LOAD_URGENT;
	fem_probe_deform(body, component, dt);
	if (modal)
		fem_modal_add_to_probe(body, dt);
	Load load = LOAD_LOW;
	*out_room = INFINITY;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end] && load != LOAD_URGENT; k++) {
		int32_t tet = t->node_tets[k] / 4;
		FemProbeTension found[FEM_LANES];
		bool is_first = t->node_tets[k] % 4 == 0; // each tet counts at its first node
		int32_t count = is_first ? fem_probe_tensions(body, component, tet, found) : 0;
		for (int32_t i = 0; i < count; i++) {
			int32_t at = found[i].tet;
			float strength = modal ? fem_tet_limit(body, at) : fem_tet_strength(body, at);
			Load one = load_of_tet(strength, found[i].kept, found[i].now);
			load = one > load ? one : load;
			*out_room = fminf(*out_room, room_of_tet(strength, found[i].kept, found[i].now));
		}
	}
	if (load == LOAD_URGENT && !modal && bears_its_load(body, component)) {
		*out_room = 0.0f; // it is looked at again in the next step
		return LOAD_LOW;
	}
	return load;
}

// FemBody.last_dv is one again, not kept loads.
static void keep_start_vector(FemBody *body, int32_t component) {
	FemRange nodes = body->topology->component_nodes[component];
	memcpy(
		body->last_dv + nodes.begin, body->step->dv + nodes.begin, sizeof(FemVec4) * (size_t)(nodes.end - nodes.begin));
}

// Loads that have hardly changed since they were found to be low still are.
static Load load_of_piece(FemBody *body, int32_t component, float dt) {
	FemPiece *piece = &body->pieces[component];
	const FemModal *modal = fem_modal_of(body);
	float tension = modal ? fem_modal_tension(modal) : 0.0f, room = 0.0f;
	fem_probe_external(body, component, dt);
	if (piece->slack > 0.0f && fem_probe_change(body, component, dt) < SLACK_SHARE * piece->slack)
		return LOAD_LOW;
	if (body->step->is_kept)
		return LOAD_UNKNOWN;
	fem_probe_keep(body, component, dt);
	float bound = fem_probe_load(body, component, dt) + tension;
	Load load = bound < piece->margin ? LOAD_LOW : probe_piece(body, component, dt, &room);
	if (bound < piece->margin)
		room = piece->margin - bound;
	piece->slack = load == LOAD_LOW && !modal && room > 0.0f && room < INFINITY ? room : 0.0f;
	if (!(piece->slack > 0.0f))
		keep_start_vector(body, component);
	return load;
}

static void release(FemBody *body, FemPiece *piece) {
	if (fem_modal_of(body))
		body->modal->is_out = true;
	bool is_soon = piece->calm_steps - piece->calm_needed < SOON;
	int32_t longer = 2 * piece->calm_needed + 1;
	fem_piece_release(piece);
	piece->calm_needed = !is_soon ? 0 : longer < PATIENCE_MAX ? longer : PATIENCE_MAX;
}

static bool is_probed(const FemStep *step, const FemBody *body) {
	bool can_go_back = step->moves < fem_work_passes(step->world) && body->step->start && !body->step->is_over;
	return can_go_back && is_chosen_by_load(body);
}

static void probe_task(void *context, int32_t index) {
	const FemStep *step = context;
	const FemIsland *island = &step->world->islands.islands[index];
	FemBody *body = step->world->bodies[island->body];
	if (!is_probed(step, body))
		return;
	FemPiece *piece = &body->pieces[island->component];
	if (piece->is_over)
		return;
	bool is_decided = piece->blow_decides || piece->blow_broke || piece->cannot_split || piece->is_limited;
	bool is_loaded = piece->is_rigid && !isinf(piece->margin) && !is_decided;
	piece->load = (uint8_t)(is_loaded ? load_of_piece(body, island->component, step->dt) : LOAD_LOW);
}

static void probe_unknown_task(void *context, int32_t index) {
	const FemIsland *island = &((const FemStep *)context)->world->islands.islands[index];
	if (((const FemStep *)context)->world->bodies[island->body]->pieces[island->component].load == LOAD_UNKNOWN)
		probe_task(context, index);
}

// Those for which it takes the elements of their bodies.
static void probe_unknown(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; i < world->islands.count; i++) {
		const FemIsland *island = &world->islands.islands[i];
		FemBody *body = world->bodies[island->body];
		bool is_unknown = body->pieces[island->component].load == LOAD_UNKNOWN;
		body->step->wants_elements |= is_unknown;
		any |= is_unknown;
	}
	if (!any)
		return;
	fem_kept_elements_make(step);
	fem_pool_for_uneven(world->pool, world->islands.count, probe_unknown_task, step);
}

static bool release_urgent(FemWorld *world, FemBody *body) {
	bool any = false;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		bool is_urgent = body->pieces[c].load == LOAD_URGENT;
		body->pieces[c].load = is_urgent ? LOAD_LOW : body->pieces[c].load;
		if (!is_urgent || !fem_work_takes_elastic(world, body->topology->component_tets[c]))
			continue;
		release(body, &body->pieces[c]);
		fem_body_send_back(body, c);
		any = true;
	}
	body->step->was_released |= any;
	return any;
}

bool fem_rigid_pieces_release(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	if (world->breakable_count == 0)
		return false;
	fem_pool_for_uneven(world->pool, world->islands.count, probe_task, step);
	probe_unknown(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		any |= is_probed(step, body) && release_urgent(world, body);
	}
	return any;
}

// ---- settle

typedef struct Strain {
	float tension_share; // largest of its tets' tensions over their strengths
	float strength;      // Pa; 0: not stiff, or not known
	float margin;        // Pa, least rise of tension that counts
	float fragment;      // m^3, of the smallest piece that its tets break into
} Strain;

static Strain measure_strain(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	Strain out = {0.0f, INFINITY, INFINITY, INFINITY};
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		if (t->node_tets[k] % 4 != 0) // each tet counts at its first node
			continue;
		float strength = fem_tet_strength(body, tet),
			  tension = fem_felt_tension(body, tet, &body->step->tet_stress[tet]);
		out.strength = fminf(out.strength, strength);
		out.fragment = fminf(out.fragment, body->tet_fragment[tet]);
		out.margin = fminf(out.margin, margin_of(strength, tension));
		out.tension_share = fmaxf(out.tension_share, tension > 0.0f ? tension / strength : 0.0f);
	}
	return out;
}

// Of the strength: how much vibration a piece may have; negative: it is not steady at all. One that is strained high
// and did not break of it is steady if it was looked at: cracks may have to wait for their speed.
static float vibration_share(const FemBody *body, int32_t component, const Strain *strain) {
	bool is_high = strain->tension_share >= LOW_SHARE;
	if (is_high && !body->step->node_hot)
		return -1.0f;
	if (fem_piece_is_attached(body, component))
		return PINNED_VIBRATION_SHARE;
	return is_high ? LOADED_VIBRATION_SHARE : VIBRATION_SHARE;
}

// Nothing that happens in it counts, nor will while its loads stay what they are.
static bool is_calm(const FemBody *body, int32_t component, const Strain *strain) {
	float strength = strain->strength;
	if (!(strength > 0.0f))
		return false;
	if (is_too_small_to_break(body, component, strain->fragment) && strain->tension_share < 1.0f)
		return true;
	return fem_probe_is_possible(body, component) &&
		vibration_stress(body, component) < vibration_share(body, component, strain) * strength;
}

// Its piece becomes modal again, when it is calm.
static bool is_modal_at_heart(const FemBody *body) {
	return dynamics_of(body) == FEM_DYNAMICS_MODAL && fem_modal_fits(body->modal);
}

static bool becomes_rigid(FemBody *body, int32_t component, const Strain *strain) {
	FemPiece *piece = &body->pieces[component];
	bool is_held = fem_piece_is_attached(body, component) && !is_too_small_to_break(body, component, strain->fragment);
	bool waits = is_held || is_modal_at_heart(body);
	int32_t needed = piece->calm_needed + (waits ? PINNED_STEPS : 1);
	bool calm = is_modal_at_heart(body) ? fem_modal_is_calm(body) : is_calm(body, component, strain);
	piece->calm_steps = calm ? piece->calm_steps + 1 : 0;
	return piece->calm_steps >= needed;
}

static void settle_piece(FemBody *body, int32_t component) {
	FemPiece *piece = &body->pieces[component];
	if (piece->load == LOAD_HIGH) {
		release(body, piece);
	} else if (piece->is_rigid) {
		piece->calm_steps += piece->calm_steps < CALM_MAX;
		piece->borne = piece->calm_steps < piece->calm_needed + SOON ? piece->borne : 0.0f;
	} else {
		Strain strain = measure_strain(body, component);
		bool is_small = is_too_small_to_break(body, component, strain.fragment);
		if (becomes_rigid(body, component, &strain) && !(is_modal_at_heart(body) && fem_modal_piece_begin(body)))
			make_rigid(body, component, is_small ? INFINITY : strain.margin);
	}
	piece->load = LOAD_LOW;
}

// ---- what cannot break

// Pa, E of a Poisson ratio of 1/4 where the piece is softest.
static float least_modulus(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	float least = INFINITY;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		least = fminf(least, body->batches[tet / FEM_LANES].mu[tet % FEM_LANES]);
	}
	return 2.5f * least;
}

// m: as deep as a plate that fills the box of the piece, or its walls where those are thicker: what is curved is stiff.
static float bending_depth(const FemPiece *piece) {
	float box = piece->box_area * sqrtf(piece->box_area);
	return fmaxf(piece->thickness, 2.0f * box / (piece->length * piece->length));
}

// Pa, of fem_probe_load(): a beam of length L and depth d that carries half of the forces S, the other half being what
// carries it, sags by (S/2) L^4 / (4 E V d^2), which is seen from SEEN_SHARE L on.
static float seen_stress(const FemPiece *piece, float modulus) {
	float d = bending_depth(piece);
	return 48.0f * SEEN_SHARE * modulus * d * d / (piece->thickness * piece->length);
}

// rad/s, of the slowest vibration of a free beam: 6.5 c d / L^2, c being the speed of sound.
static float slowest_vibration(const FemPiece *piece, float modulus) {
	return 6.5f * sqrtf(modulus * piece->volume / piece->mass) * bending_depth(piece) / (piece->length * piece->length);
}

// m/s, of a vibration that is seen.
static float seen_speed(const FemPiece *piece, float modulus) {
	return SEEN_SHARE * piece->length * slowest_vibration(piece, modulus);
}

// Elements of its body were computed in this step.
static void keep_strain(FemBody *body, int32_t component) {
	FEM_ASSERT(!body->step->is_kept);
	fem_probe_keep_strain(body, component);
	body->pieces[component].slack = body->pieces[component].margin;
}

// A piece that is pinned hangs or stands on its pins by its strain.
static void settle_by_sight(FemBody *body, int32_t component, float dt) {
	FemPiece *piece = &body->pieces[component];
	FemRange nodes = body->topology->component_nodes[component];
	if (fem_piece_is_attached(body, component) || !(piece->thickness > 0.0f))
		return;
	if (piece->is_rigid) {
		if (!(piece->slack > 0.0f) && body->step->is_kept)
			return; // it went back to what was published, and has its elements in the next step
		if (!(piece->slack > 0.0f))
			keep_strain(body, component); // it slept, or was moved
		fem_probe_external(body, component, dt);
		bool is_low = fem_probe_change(body, component, dt) < piece->margin;
		piece->calm_steps =
			is_low ? piece->calm_steps + (SEEN_TIME > dt * (float)piece->calm_steps) : piece->calm_steps - 1;
		if (piece->calm_steps <= 0)
			release(body, piece);
		return;
	}
	float modulus = least_modulus(body, component), stress = seen_stress(piece, modulus);
	if (dt * slowest_vibration(piece, modulus) < BOUNCE_MIN)
		return;
	bool is_calm = fem_rigid_shape_vibration(body, nodes) < (double)seen_speed(piece, modulus) &&
		fem_probe_strain(body, component) < stress;
	piece->calm_steps = is_calm ? piece->calm_steps + 1 : 0;
	if (piece->calm_steps < piece->calm_needed + SEEN_STEPS)
		return;
	make_rigid(body, component, stress);
	keep_strain(body, component);
}

static void settle_task(void *context, int32_t index) {
	const FemStep *step = context;
	const FemIsland *island = &step->world->islands.islands[index];
	FemBody *body = step->world->bodies[island->body];
	if (!fem_piece_is_wholly_live(body, island->component)) // the stress of what sleeps was not computed
		return;
	if (is_chosen_by_load(body))
		settle_piece(body, island->component);
	else if (is_chosen_by_sight(body) && step->world->def.friction_mode != FEM_FRICTION_PAPER) // its gains are of nodes
		settle_by_sight(body, island->component, step->dt);
}

void fem_rigid_pieces_settle(FemStep *step) {
	fem_pool_for_uneven(step->world->pool, step->world->islands.count, settle_task, step);
}

// ---- statistics

int32_t fem_rigid_pieces_count(const FemWorld *world) {
	int32_t count = 0;
	for (int32_t i = 0; i < world->islands.count; i++) {
		const FemIsland *island = &world->islands.islands[i];
		count += world->bodies[island->body]->pieces[island->component].is_rigid;
	}
	return count;
}
