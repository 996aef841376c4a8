// Fast objects (P&O09 section 4.3, spec A43): what moves more than a sixth of its box in a step, or a third of what it
// meets is thick, is looked at in between. At the first place where it overlaps something it did not touch before, it is
// stopped on its way; its velocity stays, and the contact enters the next solve.
//
// The step's way is taken as straight, back from where the body is now along its velocities. A partner that is not fast
// itself stands where it is at the end of the step: it moved less than a sixth of its box.
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/step.h"
#include "world/world.h"

#include <math.h>

#define SUBSTEPS_MAX 512
#define BOX_SHARE 6.0f       // of the box's diagonal
#define THICKNESS_SHARE 3.0f // of the partner's thickness

static FemBody *body_at(const FemStep *step, int32_t index) {
	return step->world->bodies[index];
}

static float box_diagonal(const FemBody *body) {
	float low[3], high[3], square = 0.0f;
	fem_surface_trees_box(body->trees, low, high);
	for (int i = 0; i < 3; i++)
		square += (high[i] - low[i]) * (high[i] - low[i]);
	return sqrtf(square);
}

// The longest way of a surface node in this step, m.
static float longest_way(const FemBody *body, float dt) {
	float square = 0.0f;
	for (int32_t i = 0; i < body->surface_node_count; i++) {
		FemVec4 v = body->velocity[body->surface_nodes[i]];
		square = fmaxf(square, v.x * v.x + v.y * v.y + v.z * v.z);
	}
	return dt * sqrtf(square);
}

// ------------------------------------------------------------------------------------------------------------- the way back

static void refit(FemBody *body, const FemVec4 *positions) {
	fem_surface_trees_begin_refit(body->trees, positions);
	for (int32_t task = 0; task < fem_surface_trees_task_count(body->trees); task++)
		fem_surface_trees_refit_task(body->trees, task);
}

// Positions at a fraction of the step, in the body's solver scratch; trees follow.
static void place_at(FemBody *body, float dt, float fraction) {
	float back = dt * (1.0f - fraction);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 x = body->position[i], v = body->velocity[i];
		body->z[i] = (FemVec4){x.x - back * v.x, x.y - back * v.y, x.z - back * v.z, 0.0f};
	}
	refit(body, body->z);
}

static void stop_at(FemBody *body, float dt, float fraction) {
	float back = dt * (1.0f - fraction);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 v = body->velocity[i];
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		body->position[i].x -= back * v.x;
		body->position[i].y -= back * v.y;
		body->position[i].z -= back * v.z;
	}
}

// ------------------------------------------------------------------------------------------------------------------ partners

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	for (int i = 0; i < 3; i++) {
		if (a->min[i] > b->max[i] || a->max[i] < b->min[i])
			return false;
	}
	return true;
}

static FemSweepBox swept_box(const FemBody *body, float way) {
	FemSweepBox box = fem_contact_body_box(body);
	for (int i = 0; i < 3; i++) {
		box.min[i] -= (double)way;
		box.max[i] += (double)way;
	}
	return box;
}

// What touches already is the solve's business: a body sliding fast over the ground must not be held back (contact.md).
static bool touches(const FemStep *step, int32_t body, int32_t other, bool is_collider) {
	const FemContactStage *stage = &step->world->contacts;
	for (int32_t t = 0; t < stage->touch_count; t++) {
		const FemTouch *touch = &stage->touches[t];
		bool pair = touch->body == body && touch->other == other && touch->is_collider == is_collider;
		pair |= !is_collider && touch->body == other && touch->other == body && !touch->is_collider;
		if (!pair)
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

// Against one tet after the other, at the place the trees were refitted for.
static bool overlaps_collider(FemStep *step, FemBody *body, const FemCollider *collider, int32_t body_index, int32_t index) {
	FemContactStage *stage = &step->world->contacts;
	int32_t items = stage->item_count;
	bool found = false;
	FemTouch *touch = &stage->touches[stage->touch_capacity - 1]; // scratch: the list ends before it
	*touch = (FemTouch){.body = body_index, .other = index, .is_collider = true, .narrow = -1};
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

typedef struct Partner {
	int32_t index;
	bool is_collider;
	float thickness; // m
	bool has_looked; // the way was walked for some partner
} Partner;

// The first fraction of the step at which the body overlaps the partner; 1: none.
static float first_overlap(FemStep *step, int32_t body_index, const Partner *partner, float way) {
	FemBody *body = body_at(step, body_index);
	float by_box = BOX_SHARE * way / box_diagonal(body), by_thickness = THICKNESS_SHARE * way / partner->thickness;
	int count = (int)fminf(fmaxf(by_box, by_thickness), (float)SUBSTEPS_MAX - 1.0f) + 1;
	for (int k = 1; k <= count; k++) {
		float fraction = (float)k / (float)count;
		place_at(body, step->dt, fraction);
		bool found = partner->is_collider
			? overlaps_collider(step, body, &step->world->colliders[partner->index], body_index, partner->index)
			: overlaps_body(step, body, body_at(step, partner->index));
		if (found)
			return fraction;
	}
	return 1.0f;
}

static bool next_partner(const FemStep *step, int32_t body_index, const FemSweepBox *swept, Partner *partner) {
	const FemWorld *world = step->world;
	const FemBody *body = body_at(step, body_index);
	for (partner->index++; !partner->is_collider && partner->index < world->body_capacity; partner->index++) {
		const FemBody *other = world->bodies[partner->index];
		if (!other || partner->index == body_index || !(body->layer & other->mask) || !(other->layer & body->mask))
			continue;
		FemSweepBox box = fem_contact_body_box(other);
		partner->thickness = other->thickness;
		if (boxes_meet(swept, &box) && !touches(step, body_index, partner->index, false))
			return true;
	}
	if (!partner->is_collider)
		*partner = (Partner){.index = 0, .is_collider = true, .has_looked = partner->has_looked};
	for (; partner->index < world->collider_capacity; partner->index++) {
		const FemCollider *other = &world->colliders[partner->index];
		if (!other->in_use || other->shape.type == FEM_SHAPE_HALF_SPACE || !(body->layer & other->mask) || !(other->layer & body->mask))
			continue; // half spaces are never passed: their contacts look ahead
		FemSweepBox box = fem_collider_box(other);
		partner->thickness = fem_collider_thickness(other);
		if (boxes_meet(swept, &box) && !touches(step, body_index, partner->index, true))
			return true;
	}
	return false;
}

static void catch_body(FemStep *step, int32_t body_index) {
	FemBody *body = body_at(step, body_index);
	float way = longest_way(body, step->dt), first = 1.0f, diagonal = box_diagonal(body);
	FemSweepBox swept = swept_box(body, way);
	Partner partner = {.index = -1};
	while (next_partner(step, body_index, &swept, &partner)) {
		if (BOX_SHARE * way <= diagonal && THICKNESS_SHARE * way <= partner.thickness)
			continue;
		partner.has_looked = true;
		first = fminf(first, first_overlap(step, body_index, &partner, way));
	}
	if (first < 1.0f)
		stop_at(body, step->dt, first);
	if (partner.has_looked)
		refit(body, body->position); // queries between steps find the body where it is
}

void fem_step_catch_fast_objects(FemStep *step) {
	FemWorld *world = step->world;
	if (!world->def.contacts_enabled)
		return;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		int32_t index = world->islands.active_bodies[i];
		FemBody *body = world->bodies[index];
		// Slower than this nothing can be passed that a contact would not hold.
		bool fast = longest_way(body, step->dt) > FEM_FAST_WAY_MIN;
		if (fast && !body->kinematic && body->live_part_count == body->topology->part_count && body->pinned_count == 0)
			catch_body(step, index);
	}
}
