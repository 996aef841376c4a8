// Into how many substeps a step is to be cut for the blows in it.
//
// A step spreads a blow over dt: what is stopped within it is pulled at with no more than m v / dt. A blow to something
// stiff is over when its wave has passed, after L sqrt(rho / E), often a tenth of dt, and pulls that much harder. In
// one step of 1/60 s a slab of glass, bent 10 cm, throws a cannon ball back; in four it breaks as glass does.
#include "base/vec.h"
#include "fracture/separation.h"
#include "model/piece.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/step/substeps.h"
#include "world/world.h"

#include <math.h>

#define STILL 1e-9     // m a step: less along an axis is no motion; keeps divisions finite
#define BLOW_SPEED 2.5 // m/s: pairs that close in slower are not looked at. Chosen: a fall from 0.3 m
// A piece of fewer than one in so many of all tets its body ever had is minor; chosen: one piece at most is not.
#define LARGE_SHARE 2
#define SAMPLES_MAX 64 // nodes a piece, for its mean velocity; chosen
#define MARGIN 0.02    // m around boxes, whose sides are those of the last step: what 1 m/s and gravity add in 1/60 s

// A large piece of a body, or a collider.
typedef struct Side {
	FemSweepBox box;
	FemVec3d velocity; // m/s
	double wave;       // s that a wave takes through it; infinite for what does not break
	const FemBody *body;
	int32_t body_index;
	const FemCollider *collider;
} Side;

// ---- sides

static FemVec3d mean_velocity(const FemBody *body, FemRange nodes) {
	FemVec3d sum = {0.0, 0.0, 0.0};
	int32_t step = (nodes.end - nodes.begin + SAMPLES_MAX - 1) / SAMPLES_MAX, count = 0;
	for (int32_t i = nodes.begin; i < nodes.end; i += step, count++)
		sum = fem_vec3d_add(sum, fem_vec3d_from4(body->velocity[i]));
	return fem_vec3d_scale(sum, 1.0 / (count > 0 ? count : 1));
}

static double diagonal(const FemSweepBox *box) {
	return sqrt((box->max[0] - box->min[0]) * (box->max[0] - box->min[0]) +
		(box->max[1] - box->min[1]) * (box->max[1] - box->min[1]) +
		(box->max[2] - box->min[2]) * (box->max[2] - box->min[2]));
}

static double wave_time(const FemWorld *world, const FemBody *body, int32_t component, const FemSweepBox *box) {
	const FemTopology *t = body->topology;
	int32_t node = t->component_nodes[component].begin;
	int32_t material = body->tet_material[t->node_tets[t->node_tet_start[node]] / 4];
	if (!body->breaking || !body->breaking->can_break || material < 0)
		return INFINITY;
	const FemMaterialDef *def = &world->materials[material].def;
	return diagonal(box) * sqrt((double)def->density / (double)def->young_modulus);
}

// Whether a piece is left out: it is small beside its body, or has no box yet.
static bool is_minor(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	return component >= body->sweep_proxy_count || component >= t->component_count ||
		(int64_t)t->component_tets[component] * LARGE_SHARE < t->user_tet_count;
}

// Fills the side of a piece; false for minor pieces.
static bool side_of_piece(const FemWorld *world, int32_t body_index, int32_t component, Side *out) {
	const FemBody *body = world->bodies[body_index];
	if (is_minor(body, component))
		return false;
	*out =
		(Side){.box = world->sweep.boxes[body->pieces[component].sweep_proxy], .body = body, .body_index = body_index};
	if (body->live_part_count > 0 || body->kinematic)
		out->velocity = mean_velocity(body, body->topology->component_nodes[component]);
	out->wave = wave_time(world, body, component, &out->box);
	return true;
}

static Side side_of_collider(const FemWorld *world, const FemCollider *collider) {
	const FemCollider *leads =
		collider->follows && collider->leader >= 0 ? &world->colliders[collider->leader] : collider;
	Side side = {.box = fem_collider_box(collider), .wave = INFINITY, .collider = collider};
	if (leads->kind != FEM_COLLIDER_STATIC)
		side.velocity = fem_vec3d_from(leads->linear_velocity);
	return side;
}

// ---- blows

// Whether a box that goes `displacement` in the step comes to a plane, fast enough.
static bool strikes_plane(
	const FemSweepBox *box, FemVec3d displacement, FemPosition at, FemVec3d normal, double least) {
	const double *n = &normal.x, *p = &at.x;
	double distance = -MARGIN, closing = -fem_vec3d_dot(displacement, normal);
	for (int i = 0; i < 3; i++)
		distance += n[i] * (0.5 * (box->min[i] + box->max[i]) - p[i]) - fabs(n[i]) * 0.5 * (box->max[i] - box->min[i]);
	return closing > least && distance < closing;
}

// Boxes that are apart strike along the axis on which they meet last; such as overlap, along that on which they do so
// least.
static bool strikes_box(const FemSweepBox *box, FemVec3d displacement, const FemSweepBox *other, double least) {
	const double *w = &displacement.x;
	double enter = -INFINITY, leave = INFINITY, overlap = INFINITY;
	double closing[2] = {0.0, 0.0}; // apart, overlapping
	for (int i = 0; i < 3; i++) {
		double ahead = other->min[i] - box->max[i] - MARGIN, behind = other->max[i] - box->min[i] + MARGIN;
		double near = w[i] < 0.0 ? behind : ahead, far = w[i] < 0.0 ? ahead : behind;
		bool above = box->min[i] + box->max[i] > other->min[i] + other->max[i];
		if (fabs(w[i]) < STILL && (ahead > 0.0 || behind < 0.0))
			return false;
		if (fabs(w[i]) >= STILL && near / w[i] > enter) {
			enter = near / w[i];
			closing[0] = fabs(w[i]);
		}
		leave = fabs(w[i]) >= STILL ? fmin(leave, far / w[i]) : leave;
		if (fmin(-ahead, behind) < overlap) {
			overlap = fmin(-ahead, behind);
			closing[1] = above ? -w[i] : w[i];
		}
	}
	return enter <= 1.0 && enter <= leave && leave >= 0.0 && closing[enter < 0.0] > least;
}

static FemSweepBox drawn_out(const FemSweepBox *box, FemVec3d displacement) {
	FemSweepBox out = *box;
	const double *w = &displacement.x;
	for (int i = 0; i < 3; i++) {
		out.min[i] += fmin(w[i], 0.0) - MARGIN;
		out.max[i] += fmax(w[i], 0.0) + MARGIN;
	}
	return out;
}

// A box that moves by `displacement` (m) towards a collider of many faces; `least` is the shortest closing distance of
// a blow (m).
typedef struct Approach {
	const FemCollider *collider;
	FemVec3d displacement;
	double least;
	double r[3][3]; // of the shape
} Approach;

// The up of a height field stands for the normals of its faces.
static bool strikes_face(void *context, int32_t sub_shape, const FemSweepBox *box) {
	Approach *approach = context;
	const FemShapeDef *shape = &approach->collider->shape;
	FemVec3d area = {0.0, 1.0, 0.0}, x[3];
	(void)box;
	if (shape->type == FEM_SHAPE_TRIANGLES) {
		for (int k = 0; k < 3; k++)
			x[k] = fem_vec3d_from(shape->points[shape->triangles[3 * sub_shape + k]]);
		area = fem_vec3d_cross(fem_vec3d_sub(x[1], x[0]), fem_vec3d_sub(x[2], x[0]));
	}
	double size = sqrt(fem_vec3d_dot(area, area));
	return size > 0.0 &&
		fabs(fem_vec3d_dot(fem_matrix_apply(approach->r, area), approach->displacement)) > approach->least * size;
}

static bool strikes_collider(const Side *side, FemVec3d displacement, const Side *other, double least) {
	Approach approach = {.collider = other->collider, .displacement = displacement, .least = least};
	FemShapeType type = other->collider->shape.type;
	fem_quat_to_matrix(other->collider->shape_rotation, approach.r);
	if (type == FEM_SHAPE_HALF_SPACE) {
		FemVec3d up = {approach.r[0][1], approach.r[1][1], approach.r[2][1]};
		return strikes_plane(&side->box, displacement, other->collider->shape_position, up, least);
	}
	if (type == FEM_SHAPE_TRIANGLES || type == FEM_SHAPE_HEIGHT_FIELD) {
		FemSweepBox box = drawn_out(&side->box, displacement);
		return fem_collider_visit_near(other->collider, &box, strikes_face, &approach);
	}
	return strikes_box(&side->box, displacement, &other->box, least);
}

static bool may_touch(const FemWorld *world, const Side *a, const Side *b) {
	if (a->collider) {
		const Side *swapped = a;
		a = b;
		b = swapped;
	}
	if (b->body)
		return a->body != b->body && fem_body_sees(a->body, b->body->layer, b->body->mask);
	return fem_body_sees(a->body, b->collider->layer, b->collider->mask) &&
		!fem_collider_ignores(b->collider, fem_body_id(world, a->body_index));
}

// How many substeps the wave of the pair asks for; 1 when the two do not strike each other.
static double substeps_for_pair(const FemWorld *world, const Side *a, const Side *b, double dt) {
	double wave = fmin(a->wave, b->wave), least = BLOW_SPEED * dt;
	FemVec3d displacement = fem_vec3d_scale(fem_vec3d_sub(a->velocity, b->velocity), dt);
	if ((a->collider && b->collider) || !(wave < dt) || !(fem_vec3d_dot(displacement, displacement) > least * least) ||
		!may_touch(world, a, b))
		return 1.0;
	bool strikes = b->collider ? strikes_collider(a, displacement, b, least)
		: a->collider          ? strikes_collider(b, fem_vec3d_scale(displacement, -1.0), a, least)
							   : strikes_box(&a->box, displacement, &b->box, least);
	return strikes ? dt / wave : 1.0;
}

static double substeps_for_ground(const FemWorld *world, const Side *side, double dt) {
	FemPosition at = {0.0, world->def.ground_height, 0.0};
	FemVec3d up = {0.0, 1.0, 0.0};
	bool strikes = world->def.ground_enabled && side->wave < dt &&
		strikes_plane(&side->box, fem_vec3d_scale(side->velocity, dt), at, up, BLOW_SPEED * dt);
	return strikes ? dt / side->wave : 1.0;
}

// What is gathered of all bodies and colliders before pairs are tested.
typedef struct Crowd {
	const FemWorld *world;
	double dt;      // s
	double most;    // substeps: more are not asked for
	double fastest; // m/s, of all that moves
	double longest; // m, of all pieces along the axis of the sweep
} Crowd;

static bool boxes_are_within(const FemSweepBox *a, const FemSweepBox *b, double reach) {
	for (int i = 0; i < 3; i++) {
		if (a->min[i] - b->max[i] > reach || b->min[i] - a->max[i] > reach)
			return false;
	}
	return true;
}

// Boxes are looked at before velocities, which are sums over nodes.
static double substeps_with_proxy(const Crowd *crowd, const Side *mover, int32_t proxy, double reach) {
	const FemSweep *sweep = &crowd->world->sweep;
	const FemSweepProxy *of = &sweep->proxies[proxy];
	Side other;
	if (!of->in_use || of->dying || !boxes_are_within(&mover->box, &sweep->boxes[proxy], reach))
		return 1.0;
	if (of->user & FEM_SWEEP_COLLIDER)
		other = side_of_collider(crowd->world, &crowd->world->colliders[of->user & ~FEM_SWEEP_COLLIDER]);
	else if (!side_of_piece(crowd->world, (int32_t)of->user, of->piece, &other))
		return 1.0;
	return substeps_for_pair(crowd->world, mover, &other, crowd->dt);
}

// The first end of a box that is not below a value.
static int32_t first_end(const FemSweep *sweep, double value) {
	int32_t begin = 0, end = sweep->end_count;
	while (begin < end) {
		int32_t middle = begin + (end - begin) / 2;
		if (sweep->ends[middle].value < value)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

// Pieces that come into question stand together along the sweep; colliders may be of any length. New ones have no ends
// yet.
static double substeps_for_mover(const Crowd *crowd, const Side *mover) {
	const FemWorld *world = crowd->world;
	const FemSweep *sweep = &world->sweep;
	double substeps = mover->body ? substeps_for_ground(world, mover, crowd->dt) : 1.0;
	double speed = sqrt(fem_vec3d_dot(mover->velocity, mover->velocity));
	double reach = (speed + crowd->fastest) * crowd->dt + 2.0 * MARGIN;
	double low = mover->box.min[sweep->axis] - reach - crowd->longest, high = mover->box.max[sweep->axis] + reach;
	for (int32_t c = 0; c < world->collider_capacity && mover->body && substeps < crowd->most; c++) {
		if (world->colliders[c].in_use && world->colliders[c].sweep_proxy >= 0)
			substeps = fmax(substeps, substeps_with_proxy(crowd, mover, world->colliders[c].sweep_proxy, reach));
	}
	for (int32_t i = first_end(sweep, low);
		 i < sweep->end_count && sweep->ends[i].value <= high && substeps < crowd->most; i++) {
		uint32_t proxy = sweep->ends[i].end >> 1;
		if (!(sweep->ends[i].end & 1) && !(sweep->proxies[proxy].user & FEM_SWEEP_COLLIDER))
			substeps = fmax(substeps, substeps_with_proxy(crowd, mover, (int32_t)proxy, reach));
	}
	for (int32_t i = 0; i < sweep->moved_count && sweep->new_count > 0 && substeps < crowd->most; i++) {
		const FemSweepProxy *proxy = &sweep->proxies[sweep->moved[i]];
		if (proxy->place[0] < 0 && !(proxy->user & FEM_SWEEP_COLLIDER))
			substeps = fmax(substeps, substeps_with_proxy(crowd, mover, sweep->moved[i], reach));
	}
	return substeps;
}

// ---- explosions

void fem_world_note_blow(FemWorld *world, const FemBody *body, int32_t node, FemVec3d change) {
	int32_t component = fem_node_component(body->topology, node);
	if (!(fem_vec3d_dot(change, change) > BLOW_SPEED * BLOW_SPEED) || is_minor(body, component))
		return;
	double wave = wave_time(world, body, component, &world->sweep.boxes[body->pieces[component].sweep_proxy]);
	if (!isinf(wave) && (world->struck_wave <= 0.0 || wave < world->struck_wave))
		world->struck_wave = wave;
}

// ---- substeps

typedef double VisitMover(const Crowd *crowd, const Side *mover); // substeps

static double speed_of(const Crowd *crowd, const Side *mover) {
	(void)crowd;
	return sqrt(fem_vec3d_dot(mover->velocity, mover->velocity));
}

// The largest answer of all large pieces and colliders that move faster than a blow; no more are asked once it is
// `enough`.
static double visit_movers(const Crowd *crowd, VisitMover *visit, double enough) {
	const FemWorld *world = crowd->world;
	double largest = 0.0;
	for (int32_t i = 0; i < world->islands.active_count && largest < enough; i++) {
		int32_t b = world->islands.active_bodies[i];
		for (int32_t c = 0; world->bodies[b] && c < world->bodies[b]->topology->component_count && largest < enough;
			 c++) {
			Side side;
			if (side_of_piece(world, b, c, &side) && speed_of(crowd, &side) > BLOW_SPEED)
				largest = fmax(largest, visit(crowd, &side));
		}
	}
	for (int32_t c = 0; c < world->collider_capacity && largest < enough; c++) {
		const FemCollider *collider = &world->colliders[c];
		if (!collider->in_use || collider->kind == FEM_COLLIDER_STATIC)
			continue;
		Side side = side_of_collider(world, collider);
		if (speed_of(crowd, &side) > BLOW_SPEED)
			largest = fmax(largest, visit(crowd, &side));
	}
	return largest;
}

static double longest_piece(const FemSweep *sweep) {
	double longest = 0.0;
	for (int32_t p = 0; p < sweep->proxy_end; p++) {
		if (sweep->proxies[p].in_use && !(sweep->proxies[p].user & FEM_SWEEP_COLLIDER))
			longest = fmax(longest, sweep->boxes[p].max[sweep->axis] - sweep->boxes[p].min[sweep->axis]);
	}
	return longest;
}

int32_t fem_world_blow_substeps(FemWorldId id, float dt, int32_t most) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || !(dt > 0.0f && fem_is_finite(dt)) || most <= 1 || !world->def.contacts_enabled ||
		world->breakable_count == 0)
		return 1;
	// What is awake now: a restored world has no list of the last step, and new bodies are not on it.
	if (!fem_islands_update(&world->islands, world->bodies, world->body_capacity))
		return 1; // the step will tell of it
	Crowd crowd = {.world = world, .dt = (double)dt, .most = fmin(most, FEM_SUBSTEP_MAX)};
	double substeps = world->struck_wave > 0.0 ? crowd.dt / world->struck_wave : 1.0;
	crowd.fastest = visit_movers(&crowd, speed_of, INFINITY);
	if (crowd.fastest > 0.0 && substeps < crowd.most) {
		crowd.longest = longest_piece(&world->sweep);
		substeps = fmax(substeps, visit_movers(&crowd, substeps_for_mover, crowd.most));
	}
	return (int32_t)fmin(ceil(substeps), crowd.most);
}
