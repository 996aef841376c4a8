// Fast objects (P&O09 section 4.3, spec A43): pairs that move more than a sixth of a box against each other in a step, or
// a third of what the thinner one is thick, are looked at in between. At the first place where two overlap that did not
// touch before, they are stopped on their way; velocities stay, and the contact enters the next solve.
//
// The step's way is taken as straight, back from where a body is now along its velocities. Whatever is live is stopped,
// pinned or partly asleep too; pinned, driven and sleeping nodes stay where they are. A partner that hardly moves stands
// where it is at the end of the step.
//
// Pairs that touch already are the solve's business: a body that slides fast over another must not be held back
// (contact.md). They are stopped only where they would pierce each other: a pane that turns about the corner that struck
// it, or a membrane that springs back.
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/step.h"
#include "world/world.h"

#include <math.h>

#define SUBSTEPS_MAX 512
#define BOX_SHARE 6.0f       // of the box's diagonal
#define THICKNESS_SHARE 3.0f // of the partner's thickness
#define STILL_SHARE 0.1f     // of the thickness: a partner that moves less is not followed
#define TOUCHED_SUBSTEPS 64  // most, of pairs that touch: their overlaps are clipped, not only found ...
#define TOUCHED_CLIPS 8192   // ... and so many tets a step, then the rest is left to the solve
#define PIERCED_SHARE 0.9f   // of the thickness: as deep as this in a pair that touches ...
#define PIERCED_MORE 0.25f   // ... and by this much deeper than at the start of the step

static FemBody *body_at(const FemStep *step, int32_t index) {
	return step->world->bodies[index];
}

static float box_diagonal(const FemBody *body) {
	float low[3], high[3], square = 0.0f;
	fem_surface_trees_box(body->trees, fem_surface_trees_all(body->trees), low, high);
	for (int i = 0; i < 3; i++)
		square += (high[i] - low[i]) * (high[i] - low[i]);
	return sqrtf(square);
}

static void measure_way(FemBody *body, float dt) {
	FemVec3 sum = {0.0f, 0.0f, 0.0f};
	float way_sq = 0.0f, spread_sq = 0.0f;
	for (int32_t i = 0; i < body->surface_node_count; i++) {
		FemVec3 v = fem_vec3_from(body->velocity[body->surface_nodes[i]]);
		sum = fem_vec3_add(sum, v);
		way_sq = fmaxf(way_sq, fem_vec3_dot(v, v));
	}
	FemVec3 mean = fem_vec3_scale(sum, 1.0f / (float)body->surface_node_count);
	body->fast_way = dt * sqrtf(way_sq);
	body->fast_shift = fem_vec3_scale(mean, dt);
	if (body->fast_way > FEM_FAST_WAY_MIN) {
		for (int32_t i = 0; i < body->surface_node_count; i++) {
			FemVec3 d = fem_vec3_sub(fem_vec3_from(body->velocity[body->surface_nodes[i]]), mean);
			spread_sq = fmaxf(spread_sq, fem_vec3_dot(d, d));
		}
	}
	body->fast_spread = dt * sqrtf(spread_sq);
}

// ------------------------------------------------------------------------------------------------------------- the way back

static void refit(FemBody *body, const FemVec4 *positions) {
	fem_surface_trees_refit(body->trees, positions, fem_surface_trees_all(body->trees));
}

static bool has_moved(const FemBody *body, int32_t node) {
	return body->part_state[body->topology->node_part[node]] == FEM_ISLAND_LIVE;
}

// Positions at a fraction of the step, in the body's solver scratch; trees follow.
static void place_at(FemBody *body, float dt, float fraction) {
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		float back = has_moved(body, i) ? dt * (1.0f - fraction) : 0.0f;
		FemVec4 x = body->position[i], v = body->velocity[i];
		body->z[i] = (FemVec4){x.x - back * v.x, x.y - back * v.y, x.z - back * v.z, 0.0f};
	}
	refit(body, body->z);
	body->fast_placed = true;
}

static void stop_at(FemBody *body, float dt, float fraction) {
	float back = dt * (1.0f - fraction);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 v = body->velocity[i];
		if (body->node_kind[i] != FEM_NODE_FREE || !has_moved(body, i))
			continue;
		body->position[i].x -= back * v.x;
		body->position[i].y -= back * v.y;
		body->position[i].z -= back * v.z;
	}
}

// ------------------------------------------------------------------------------------------------------------------ partners

// The widest gap between two boxes along an axis, m; negative: they meet.
static double box_gap(const FemSweepBox *a, const FemSweepBox *b) {
	double gap = -INFINITY;
	for (int i = 0; i < 3; i++)
		gap = fmax(gap, fmax(a->min[i] - b->max[i], b->min[i] - a->max[i]));
	return gap;
}

// Whether the pair, the smaller body first, overlapped at the start of the step. Touches stand in the order of their first
// bodies.
static bool touches(const FemStep *step, int32_t body, int32_t other, bool is_collider) {
	const FemContactStage *stage = &step->world->contacts;
	int32_t low = 0, high = stage->touch_count;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		if (stage->touches[middle].body < body)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < stage->touch_count && stage->touches[low].body == body; low++) {
		const FemTouch *touch = &stage->touches[low];
		if (touch->other != other || touch->is_collider != is_collider)
			continue;
		for (int32_t i = touch->items.begin; i < touch->items.end; i++) {
			if (stage->items[i].found)
				return true;
		}
	}
	return false;
}

static bool overlaps_body(FemStep *step, FemBody *body, FemBody *other) {
	FemNarrowPhase *narrow = &step->world->contacts.narrow;
	FemNarrowBody a = {.trees = body->trees, .origin = body->origin}, b = {.trees = other->trees, .origin = other->origin};
	fem_narrow_phase_begin(narrow);
	int32_t pair = fem_narrow_phase_add(narrow, &a, &b);
	fem_narrow_phase_run(narrow, NULL);
	return pair >= 0 && narrow->pairs[pair].tets.end > narrow->pairs[pair].tets.begin;
}

static bool tet_shape_at(const FemBody *body, int32_t tet, FemConvexTet *storage, FemConvex *out) {
	FemVec3 corners[4];
	for (int k = 0; k < 4; k++)
		corners[k] = fem_vec3_from(body->trees->positions[fem_tet_node(body->topology, tet, k)]);
	return fem_convex_tet(body->origin, corners, body->tet_exterior[tet], storage, out);
}

// How deep the bodies reach into each other where the trees stand, m; not looked further than `enough`.
static float depth_of_overlap(FemStep *step, FemBody *body, FemBody *other, float enough) {
	const FemNarrowPhase *narrow = &step->world->contacts.narrow;
	float depth = 0.0f;
	if (!overlaps_body(step, body, other))
		return depth;
	for (int32_t i = narrow->pairs[0].tets.begin; i < narrow->pairs[0].tets.end && depth <= enough; i++) {
		FemConvexTet storage[2];
		FemConvex a, b;
		FemOverlap overlap;
		step->fast_clips++;
		if (tet_shape_at(body, narrow->tet_pairs[i].a, &storage[0], &a) && tet_shape_at(other, narrow->tet_pairs[i].b, &storage[1], &b) &&
			fem_overlap(&a, &b, &overlap))
			depth = fmaxf(depth, overlap.depth);
	}
	return depth;
}

// Against one tet after the other, at the place the trees were refitted for.
static bool overlaps_collider(FemStep *step, FemBody *body, const FemCollider *collider, int32_t body_index, int32_t index) {
	FemContactStage *stage = &step->world->contacts;
	int32_t items = stage->item_count;
	bool found = false;
	FemTouch *touch = &stage->touches[stage->touch_capacity - 1]; // scratch: the list ends before it
	*touch = (FemTouch){.body = body_index, .other = index, .is_collider = true, .pieces = {-1, -1}, .narrow = -1};
	fem_collider_list_items(step->world, stage->touch_capacity - 1);
	for (int32_t i = items; i < stage->item_count && !found; i++) {
		FemVec3 corners[4];
		FemConvexTet storage;
		FemConvex tet;
		FemOverlap overlap;
		for (int k = 0; k < 4; k++)
			corners[k] = fem_vec3_from(body->z[fem_tet_node(body->topology, stage->items[i].tet, k)]);
		found = fem_convex_tet(body->origin, corners, body->tet_exterior[stage->items[i].tet], &storage, &tet) &&
			fem_collider_overlap(collider, &tet, stage->items[i].other_tet, &overlap);
	}
	stage->item_count = items;
	return found;
}

// What a body may run into: another body, or a collider.
typedef struct Partner {
	int32_t index;
	bool is_collider;
	bool touched;    // before this step
	bool moves;      // is followed on its way, and stopped too
	float way;       // m, of the two against each other
	float thickness; // m, of the thinner one
	float diagonal;  // m, of the smaller box
} Partner;

static FemSweepBox partner_box(const FemStep *step, const Partner *partner) {
	return partner->is_collider ? fem_collider_box(&step->world->colliders[partner->index])
	                            : fem_contact_body_box(body_at(step, partner->index));
}

static bool is_fast(const Partner *partner) {
	return BOX_SHARE * partner->way > partner->diagonal || THICKNESS_SHARE * partner->way > partner->thickness;
}

static int substeps(const Partner *partner) {
	float by_box = BOX_SHARE * partner->way / partner->diagonal, by_thickness = THICKNESS_SHARE * partner->way / partner->thickness;
	return (int)fminf(fmaxf(by_box, by_thickness), (float)SUBSTEPS_MAX - 1.0f) + 1;
}

// Both where they are at a fraction of the step; the gap between their boxes, m.
static double place_both(FemStep *step, FemBody *body, const Partner *partner, float fraction) {
	place_at(body, step->dt, fraction);
	if (partner->moves)
		place_at(body_at(step, partner->index), step->dt, fraction);
	FemSweepBox box = fem_contact_body_box(body), other = partner_box(step, partner);
	return box_gap(&box, &other);
}

// The first fraction of the step at which the body overlaps the partner; 1: none. While their boxes are apart, what they
// cannot have gone is passed over.
static float first_overlap(FemStep *step, int32_t body_index, const Partner *partner) {
	FemBody *body = body_at(step, body_index);
	int count = substeps(partner);
	for (int k = 1; k <= count;) {
		float fraction = (float)k / (float)count;
		double gap = place_both(step, body, partner, fraction);
		if (gap > 0.0) {
			double skipped = floor(gap * count / (double)partner->way);
			k += skipped > 1.0 ? (int)fmin(skipped, (double)count) : 1;
			continue;
		}
		bool found = partner->is_collider
			? overlaps_collider(step, body, &step->world->colliders[partner->index], body_index, partner->index)
			: overlaps_body(step, body, body_at(step, partner->index));
		if (found)
			return fraction;
		k++;
	}
	return 1.0f;
}

// The first fraction at which two bodies that touched pierce each other; 1: they do not.
static float first_pierced(FemStep *step, int32_t body_index, const Partner *partner) {
	FemBody *body = body_at(step, body_index), *other = body_at(step, partner->index);
	int count = substeps(partner) < TOUCHED_SUBSTEPS ? substeps(partner) : TOUCHED_SUBSTEPS;
	place_both(step, body, partner, 0.0f);
	float start = depth_of_overlap(step, body, other, INFINITY);
	float limit = fmaxf(PIERCED_SHARE * partner->thickness, start + PIERCED_MORE * partner->thickness);
	for (int k = 1; k <= count && step->fast_clips < TOUCHED_CLIPS; k++) {
		float fraction = (float)k / (float)count;
		if (place_both(step, body, partner, fraction) <= 0.0 && depth_of_overlap(step, body, other, limit) > limit)
			return fraction;
	}
	return 1.0f;
}

// A body is stopped as a whole, and followed with all its trees: the pieces of two broken ones, which fly all over each
// other's boxes, would hang in the air for each other, at a high price. Debris may pass through debris.
static bool are_debris(const FemBody *body, const FemBody *other) {
	return body->topology->component_count > 1 && other->topology->component_count > 1 && body->breaking && other->breaking;
}

// False when the two cannot meet, or need not be looked at.
static bool partner_body(const FemStep *step, int32_t body_index, int32_t other_index, Partner *out) {
	const FemBody *body = body_at(step, body_index), *other = body_at(step, other_index);
	if (are_debris(body, other))
		return false;
	bool moves = fem_body_is_fast(other);
	float thickness = fminf(body->thickness, other->thickness);
	FemVec3 shift = moves ? fem_vec3_sub(body->fast_shift, other->fast_shift) : body->fast_shift;
	float way = fem_vec3_length(shift) + body->fast_spread + (moves ? other->fast_spread : 0.0f);
	FemSweepBox box = fem_contact_body_box(body), other_box = fem_contact_body_box(other);
	if (!fem_body_sees(body, other->layer, other->mask) || box_gap(&box, &other_box) > (double)way)
		return false; // what flies side by side does not meet
	*out = (Partner){
		.index = other_index,
		.way = way,
		.thickness = thickness,
		.diagonal = fminf(box_diagonal(body), box_diagonal(other)),
		.moves = moves && other->fast_way > STILL_SHARE * thickness,
	};
	int32_t first = body_index < other_index ? body_index : other_index;
	out->touched = is_fast(out) && touches(step, first, body_index + other_index - first, false);
	return out->touched ? way > thickness : is_fast(out);
}

static bool partner_collider(const FemStep *step, int32_t body_index, int32_t other_index, Partner *out) {
	const FemBody *body = body_at(step, body_index);
	const FemCollider *other = &step->world->colliders[other_index];
	if (!other->in_use || other->shape.type == FEM_SHAPE_HALF_SPACE || !fem_body_sees(body, other->layer, other->mask) ||
		fem_collider_ignores(other, fem_body_id(step->world, body_index)))
		return false; // half spaces are never passed: their contacts look ahead
	*out = (Partner){
		.index = other_index,
		.is_collider = true,
		.way = body->fast_way,
		.thickness = fem_collider_thickness(other),
		.diagonal = box_diagonal(body),
	};
	return is_fast(out) && !touches(step, body_index, other_index, true);
}

static void look(FemStep *step, int32_t body_index, const Partner *partner) {
	FemBody *body = body_at(step, body_index);
	float first = partner->touched ? first_pierced(step, body_index, partner) : first_overlap(step, body_index, partner);
	body->fast_stop = fminf(body->fast_stop, first);
	if (partner->moves)
		body_at(step, partner->index)->fast_stop = fminf(body_at(step, partner->index)->fast_stop, first);
}

static void look_at_pairs(FemStep *step) {
	const FemFastPairs *fast = &step->world->contacts.fast;
	for (int32_t i = 0; i < fast->pair_count; i++) {
		int32_t body = (int32_t)(fast->pairs[i].key >> 32);
		uint32_t user = (uint32_t)fast->pairs[i].key;
		int32_t other = (int32_t)(user & ~FEM_SWEEP_COLLIDER);
		Partner partner;
		bool counts = user & FEM_SWEEP_COLLIDER ? partner_collider(step, body, other, &partner) : partner_body(step, body, other, &partner);
		if (counts)
			look(step, body, &partner);
	}
	if (fast->full)
		step->world->step_errors |= FEM_STEP_CONTACTS_FULL;
}

void fem_step_catch_fast_objects(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	if (!world->def.contacts_enabled)
		return;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		measure_way(body, step->dt);
		body->fast_stop = 1.0f;
		body->fast_placed = false;
		any |= fem_body_is_fast(body);
	}
	if (!any) // slower ones pass nothing that a contact would not hold
		return;
	fem_fast_pairs_find(world);
	look_at_pairs(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (body->fast_stop < 1.0f)
			stop_at(body, step->dt, body->fast_stop);
		if (body->fast_placed)
			refit(body, body->position); // queries between steps find the body where it is
	}
}
