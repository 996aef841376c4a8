// Contacts from overlaps: points, weights, strengths, and what they keep from the last step.
#include "world/contact/contact_builder.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"
#include "world/step/step.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define WEIGHT_MAX 8.0 // of a corner: more means a tet crushed flat, whose centroid then stands for the point; chosen
#define FAR_WEIGHT_MAX 1e3 // the same of the one tet that stands for a rigid piece, however far its points are; chosen
#define EDGE_CUBED 8.5f    // of a regular tet over its volume: 6 sqrt(2) = 8.49
#define DEEP_FROM 0.1f     // of a tet's edge: overlaps up to here are let go at PUSH_MIN ...
#define DEEP_RANGE 0.4f    // ... and from so much more on at PUSH_MAX: half a tet; both chosen
#define DIRECTION_SPEED 1e-3f // m/s: slower, the relative motion gives no direction; chosen
// Of the fallbacks' area: with more opposed area a pair drops them (docs/method.md, "Overlap").
#define OPPOSED_SHARE 0.25f
#define SLOP_SHARE 0.01f         // of a tet's edge: the slop is at most this; 0.25 mm for a cube of 5 cm
#define PUSH_TIME (1.0f / 60.0f) // s, in which `contact_push` of the depth is pushed out, in one step or many
#define PUSH_MIN 0.05f // m/s, fastest push-out of bodies that overlap by a tenth of a tet: 0.8 mm in 1/60 s; chosen
#define PUSH_MAX 2.0f  // m/s, of those that stand half a tet deep in each other: 0.2 m in 0.1 s; chosen
// What meets in no more overlaps than this gets several points for each; more span their support anyway.
#define FEW_ITEMS 64

// ---- sides

static double volume6(FemVec3d a, FemVec3d b, FemVec3d c, FemVec3d d) {
	return fem_vec3d_dot(fem_vec3d_sub(b, a), fem_vec3d_cross(fem_vec3d_sub(c, a), fem_vec3d_sub(d, a)));
}

// Barycentric coordinates, extrapolated for points outside; the centroid's for a crushed tet.
static void set_weights(const FemBody *body, FemContactSide *side, FemPosition point, double most) {
	FemVec3d x[4], p = fem_position_sub(point, body->origin);
	for (int i = 0; i < 4; i++)
		x[i] = fem_vec3d_from4(body->position[side->nodes[i]]);
	double whole = volume6(x[0], x[1], x[2], x[3]), sum = 0.0, w[4];
	w[0] = volume6(p, x[1], x[2], x[3]) / whole;
	w[1] = volume6(x[0], p, x[2], x[3]) / whole;
	w[2] = volume6(x[0], x[1], p, x[3]) / whole;
	for (int i = 0; i < 3; i++)
		sum += w[i];
	w[3] = 1.0 - sum;
	for (int i = 0; i < 4; i++) {
		bool sound = fabs(w[0]) < most && fabs(w[1]) < most && fabs(w[2]) < most && fabs(w[3]) < most;
		side->weights[i] = sound ? (float)w[i] : 0.25f;
	}
}

static void set_tet_side(const FemContactBuilder *builder, FemContactSide *side, int32_t body_index, int32_t tet,
	FemPosition point, double weight_max) {
	const FemBody *body = builder->world->bodies[body_index];
	*side =
		(FemContactSide){.kind = FEM_SIDE_TET, .body = body_index, .tet = tet, .is_fixed = body->live_part_count == 0};
	for (int i = 0; i < 4; i++)
		side->nodes[i] = fem_tet_node(body->topology, tet, i);
	side->piece = fem_node_component(body->topology, side->nodes[0]);
	set_weights(body, side, point, weight_max);
}

void fem_contact_builder_set_body_side(
	const FemContactBuilder *builder, FemContactSide *side, int32_t body_index, int32_t tet, FemPosition point) {
	set_tet_side(builder, side, body_index, tet, point, WEIGHT_MAX);
}

void fem_contact_builder_set_piece_side(
	const FemContactBuilder *builder, FemContactSide *side, int32_t body_index, int32_t tet, FemPosition point) {
	set_tet_side(builder, side, body_index, tet, point, FAR_WEIGHT_MAX);
}

// `moved`: how far the collider is from where it stands when it is touched there, m.
void fem_contact_builder_set_collider_side(
	const FemContactBuilder *builder, FemContactSide *side, FemPosition point, FemVec3d moved) {
	int32_t index = builder->touch->other;
	const FemCollider *collider = &builder->world->colliders[index];
	const FemCollider *leader = collider->leader >= 0 ? &builder->world->colliders[collider->leader] : collider;
	FemPosition from = fem_position_move(leader->position, moved);
	FemVec3 arm = fem_vec3_sub(fem_vec3d_to_vec3(fem_position_sub(point, from)), leader->center);
	*side = (FemContactSide){
		.kind = FEM_SIDE_COLLIDER,
		.body = -1,
		.collider = index,
		.proxy = collider->leader >= 0 ? collider->leader : index,
		.arm = {arm.x, arm.y, arm.z},
		.is_fixed = !fem_collider_is_free(collider),
	};
	if (collider->shape.type == FEM_SHAPE_HALF_SPACE)
		side->arm[0] = side->arm[1] = side->arm[2] = 0.0f;
}

float fem_contact_builder_friction(const FemWorld *world, int32_t body, int32_t tet) {
	return world->materials[world->bodies[body]->tet_material[tet]].def.friction;
}

// Of the lighter of the two pieces, or of the piece and the collider: a shard of a wall presses with its own mass, not
// with that of the wall.
float fem_contact_builder_strength(const FemContactBuilder *builder, int32_t piece, int32_t other_piece) {
	const FemTouch *touch = builder->touch;
	float scale = fem_piece_contact_scale(&builder->world->bodies[touch->body]->pieces[piece]);
	if (!touch->is_collider)
		scale = fminf(scale, fem_piece_contact_scale(&builder->world->bodies[touch->other]->pieces[other_piece]));
	return FEM_CONTACT_KAPPA * fminf(scale, touch->scale);
}

// ---- matching

// The keys by which contacts are sorted and matched between steps, the first that differs decides: the two bodies, or
// the body and the collider; their pieces; the tets (of a collider its sub-shape, then the tet or node); the point.

static uint64_t join_numbers(int32_t high, int32_t low) {
	FEM_ASSERT(high >= 0 && low >= 0);
	return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static uint64_t pair_key(const FemContact *c) {
	bool collider = fem_side_is_collider(&c->side[1]);
	uint64_t users = join_numbers(c->side[0].body, collider ? c->side[1].collider : c->side[1].body);
	return users | (uint64_t)collider << 31;
}

// Of two pieces of one body either may be side 0.
static uint64_t join_pieces(int32_t a, int32_t b, bool are_of_one_body) {
	return are_of_one_body && a > b ? join_numbers(b, a) : join_numbers(a, b);
}

static uint64_t pieces_key(const FemContact *c) {
	int32_t other = fem_side_is_collider(&c->side[1]) ? 0 : c->side[1].piece;
	return join_pieces(c->side[0].piece, other, c->side[0].body == c->side[1].body);
}

static uint64_t places_key(const FemContact *c) {
	bool collider = fem_side_is_collider(&c->side[1]);
	return collider ? (uint64_t)(uint32_t)c->key << 32 | (uint32_t)fem_side_place(&c->side[0])
					: join_numbers(c->side[0].tet, c->side[1].tet);
}

static int compare_keys(uint64_t a, uint64_t b) {
	return a < b ? -1 : a > b;
}

int fem_contact_compare_places(const FemContact *a, const FemContact *b) {
	int order = compare_keys(pair_key(a), pair_key(b));
	order = order ? order : compare_keys(pieces_key(a), pieces_key(b));
	order = order ? order : compare_keys(places_key(a), places_key(b));
	return order ? order : compare_keys(a->key, b->key);
}

static bool is_before(const void *record, const void *key) {
	return fem_contact_compare_places(record, key) < 0;
}

static int32_t first_not_before(const FemContact *contacts, int32_t count, const FemContact *contact) {
	return fem_first_not_before(contacts, count, sizeof *contacts, is_before, contact);
}

const FemContact *fem_contact_find_place(const FemContact *contacts, int32_t count, const FemContact *contact) {
	int32_t place = first_not_before(contacts, count, contact);
	return place < count && fem_contact_compare_places(&contacts[place], contact) == 0 ? &contacts[place] : NULL;
}

FemRange fem_contacts_of_pair(
	const FemContact *contacts, int32_t count, int32_t body, int32_t other, bool is_collider) {
	FemContact first = {.side[0] = {.body = body}, .side[1] = {.body = other}}; // none of the pair sorts before it
	if (is_collider)
		first.side[1] = (FemContactSide){.kind = FEM_SIDE_COLLIDER, .body = -1, .collider = other};
	FemRange pair;
	pair.begin = pair.end = first_not_before(contacts, count, &first);
	while (pair.end < count && fem_contact_same_pair(&contacts[pair.end], &first))
		pair.end++;
	return pair;
}

FemRange fem_contacts_of_pieces(const FemContact *contacts, int32_t count, const FemContact *like) {
	FemContact first = {.side[0] = like->side[0], .side[1] = like->side[1]}; // none of the pieces sorts before it
	first.side[0].kind = FEM_SIDE_TET;
	first.side[0].tet = 0;
	if (fem_side_is_body(&first.side[1]))
		first.side[1].tet = 0;
	FemRange range;
	range.begin = range.end = first_not_before(contacts, count, &first);
	if (range.begin < count && fem_contact_same_pieces(&contacts[range.begin], &first))
		range.end = fem_contacts_end_of_pieces(contacts, range.begin, count);
	return range;
}

// Friction strength for the present slip speed, kg/s. The strength kept from rest would hold like glue: the first solve
// after a push would tip a body over its front edge, and the normal impulse found there would keep friction many times
// too strong.
static float slipping_strength(const FemContact *contact, const FemContact *last, float slip) {
	return contact->friction * last->normal_impulse / fmaxf(slip, FEM_GROUND_SLIP);
}

// How fast the two sides slide, m/s: u less its part along the normal. What moves by modes and stands on few points
// slides as it did over the last step: modes that rest against something move at the end of a step and not on the mean
// of it, and friction found itself anew in four solves.
static float slip_of(const FemContactBuilder *builder, const FemContact *contact, const FemContact *last,
	const float u[3], float along) {
	float square = 0.0f;
	for (int i = 0; i < 3; i++)
		square += (u[i] - along * contact->normal[i]) * (u[i] - along * contact->normal[i]);
	bool is_kept = fem_side_is_collider(&contact->side[1]) &&
		fem_contact_few_points(builder->world->bodies[contact->side[0].body]);
	return is_kept ? last->slip : sqrtf(square);
}

// Its place is that of the contact when it is added: contacts are sorted, but never added after some were dropped.
static void start_hold(FemContactStage *stage, FemContact *contact, const FemContact *last) {
	if (!stage->holds)
		return;
	contact->hold = stage->contact_count;
	FEM_ASSERT_INDEX(contact->hold, stage->hold_capacity);
	stage->holds[contact->hold] = (FemPaperHold){0};
	if (last && last->normal_impulse > 0.0f)
		fem_paper_friction_carry(&stage->last_holds[last->hold], &stage->holds[contact->hold]);
}

// Touches come in the order of contacts.
static void find_last(FemContactBuilder *builder) {
	const FemContactStage *stage = builder->stage;
	const FemTouch *touch = builder->touch;
	uint64_t key = join_numbers(touch->body, touch->other) | (uint64_t)touch->is_collider << 31;
	FemRange last = {builder->last.end, builder->last.end};
	while (last.begin < stage->last_count && pair_key(&stage->last_contacts[last.begin]) < key)
		last.begin++;
	for (last.end = last.begin; last.end < stage->last_count; last.end++) {
		if (pair_key(&stage->last_contacts[last.end]) != key)
			break;
	}
	builder->last = last;
}

const FemContact *fem_contact_builder_last(const FemContactBuilder *builder, const FemContact *contact) {
	int32_t count = builder->last.end - builder->last.begin;
	const FemContact *of_touch = count > 0 ? builder->stage->last_contacts + builder->last.begin : NULL;
	const FemContact *last = fem_contact_find_place(of_touch, count, contact);
	const FemContactSide *side = contact->side;
	bool is_own = fem_side_is_body(&side[1]) && side[0].body == side[1].body && contact->key <= FEM_CONTACT_CRACK_KEY;
	if (last || !is_own || !builder->world->bodies[side[0].body]->own_topology)
		return last;
	FemContact other = *contact;
	other.key ^= FEM_CONTACT_CRACK_KEY;
	return fem_contact_find_place(of_touch, count, &other);
}

// Loads go through all of a stack in its first step. (The active set would grow by one body a pass.)
static bool is_of_placed(const FemContactBuilder *builder) {
	const FemTouch *touch = builder->touch;
	return builder->world->bodies[touch->body]->swell > 0.0f ||
		(!touch->is_collider && builder->world->bodies[touch->other]->swell > 0.0f);
}

// Active by what it did in the last step or would do in this one (docs/method.md, "Passes").
void fem_contact_builder_start(const FemContactBuilder *builder, FemContact *contact, float slop) {
	const FemContact *last = fem_contact_builder_last(builder, contact);
	FemContactRows rows = {.bodies = builder->world->bodies, .proxies = builder->stage->proxies};
	float u[3];
	fem_contact_velocity(&rows, contact, u);
	float along = contact->normal[0] * u[0] + contact->normal[1] * u[1] + contact->normal[2] * u[2];
	contact->approach = along;
	fem_contact_builder_bounce(builder, contact);
	contact->active = (last && last->normal_impulse > 0.0f) || along + contact->bias > 0.0f ||
		(!last && contact->depth - contact->reference > slop) || is_of_placed(builder);
	start_hold(builder->stage, contact, last);
	if (last && last->normal_impulse > 0.0f) {
		float slip = slip_of(builder, contact, last, u, along);
		contact->friction_strength = fminf(last->friction_strength, slipping_strength(contact, last, slip));
	}
}

// Edge of the regular tet that has this tet's rest volume, m.
float fem_contact_builder_tet_edge(const FemBody *body, int32_t tet) {
	return cbrtf(EDGE_CUBED * body->batches[tet / FEM_LANES].volume[tet % FEM_LANES]);
}

// Largest speed at which an overlap is pushed apart, m/s. The shallow overlap of an impact is pushed out slowly, since
// the push stays in the body as speed; bodies deep in each other separate fast.
float fem_contact_builder_push_limit(float depth, float edge) {
	float share = (depth / edge - DEEP_FROM) / DEEP_RANGE;
	return PUSH_MIN + (PUSH_MAX - PUSH_MIN) * fminf(fmaxf(share, 0.0f), 1.0f);
}

void fem_contact_builder_add(FemContactBuilder *builder, FemContact *contact, float slop, bool is_ahead) {
	FemContactStage *stage = builder->stage;
	float dt = builder->step->dt, push = builder->push;
	if (!fem_contact_stage_hold(builder->world, (int64_t)stage->contact_count + 1)) {
		stage->full = true;
		return;
	}
	contact->normal_strength =
		fem_contact_builder_strength(builder, contact->side[0].piece, contact->side[1].piece) * contact->area;
	float edge = fem_contact_builder_tet_edge(builder->world->bodies[contact->side[0].body], contact->side[0].tet);
	contact->reference = fem_contact_builder_reference(builder, contact, slop);
	float depth = contact->depth - contact->reference;
	contact->bias = fminf(push * (depth - slop) / dt, fem_contact_builder_push_limit(depth, edge));
	if (depth < 0.0f) // a gap between faces of a crack
		contact->bias = (depth - push * slop) / dt;
	if (is_ahead)
		contact->bias = contact->depth / dt; // the gap may close, no more
	fem_contact_builder_start(builder, contact, slop);
	stage->contacts[stage->contact_count++] = *contact;
}

// ---- tet overlaps

float fem_contact_builder_slop(const FemBody *body, int32_t tet) {
	return fminf(FEM_CONTACT_SLOP, SLOP_SHARE * fem_contact_builder_tet_edge(body, tet));
}

// The contact normal: that of the overlap, or, when the overlap has none, along the velocity of side 0 relative to
// side 1. False when that is 0 too.
bool fem_contact_builder_set_normal(const FemContactBuilder *builder, FemContact *contact, const FemOverlap *overlap) {
	FemVec3 n = overlap->normal;
	if (overlap->flags & FEM_OVERLAP_NO_DIRECTION) {
		FemContactRows rows = {.bodies = builder->world->bodies, .proxies = builder->stage->proxies};
		float u[3];
		fem_contact_velocity(&rows, contact, u);
		float length = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
		if (!(length > DIRECTION_SPEED))
			return false;
		n = (FemVec3){u[0] / length, u[1] / length, u[2] / length};
	}
	contact->normal[0] = n.x, contact->normal[1] = n.y, contact->normal[2] = n.z;
	return true;
}

// A copy of a fast collider, moved to where it strikes the tet, in the frame that moves with the tet.
static FemCollider struck_by(const FemContactBuilder *builder, const FemOverlapItem *item) {
	FemCollider collider = builder->world->colliders[builder->touch->other];
	FemVec3 against = fem_collider_tet_velocity(builder->world->bodies[builder->touch->body], item->tet);
	fem_collider_move(builder->world, &collider, against, builder->step->dt * item->ahead);
	return collider;
}

// Gap along the normal that the collider still has to close before it strikes at a point, m: the displacement of that
// point of the collider until then.
static float gap_before(
	const FemContactBuilder *builder, const FemCollider *struck, FemPosition point, const float normal[3]) {
	const FemCollider *now = &builder->world->colliders[builder->touch->other];
	FemQuat rotation = fem_quat_mul(now->rotation, fem_quat_conjugate(struck->rotation));
	FemPosition start =
		fem_position_move(now->position, fem_quat_rotate(rotation, fem_position_sub(point, struck->position)));
	FemVec3 displacement = fem_vec3d_to_vec3(fem_position_sub(start, point));
	return displacement.x * normal[0] + displacement.y * normal[1] + displacement.z * normal[2];
}

static void add_overlap(
	FemContactBuilder *builder, const FemOverlapItem *item, const FemOverlap *overlap, bool several_points) {
	const FemTouch *touch = builder->touch;
	const FemBody *body = builder->world->bodies[touch->body];
	float friction = fem_contact_builder_friction(builder->world, touch->body, item->tet);
	float other = touch->is_collider ? touch->friction
									 : fem_contact_builder_friction(builder->world, touch->other, item->other_tet);
	float restitution = fem_contact_builder_restitution(builder->world, touch->body, item->tet, builder->step->dt);
	float other_restitution = touch->is_collider
		? touch->restitution
		: fem_contact_builder_restitution(builder->world, touch->other, item->other_tet, builder->step->dt);
	float slop = fem_contact_builder_slop(body, item->tet);
	float swell = body->swell + (touch->is_collider ? 0.0f : builder->world->bodies[touch->other]->swell);
	int32_t points = several_points ? overlap->point_count : 1;
	bool is_ahead = touch->is_collider && item->ahead > 0.0f;
	FemCollider struck;
	FemVec3d moved = {0.0, 0.0, 0.0};
	if (is_ahead) {
		struck = struck_by(builder, item);
		moved = fem_position_sub(struck.position, builder->world->colliders[touch->other].position);
	}
	for (int32_t k = 0; k < points; k++) {
		FemPosition point = overlap->centre;
		if (several_points)
			point = fem_position_move(point, fem_vec3d_from(overlap->points[k].offset));
		FemContact contact = {
			.area = overlap->area * (several_points ? overlap->points[k].share : 1.0f),
			.depth = overlap->depth - swell,
			.friction = sqrtf(friction * other),
			.restitution = fmaxf(restitution, other_restitution),
			.key = (uint64_t)k << 32 | (uint32_t)(touch->is_collider ? item->other_tet : 0),
		};
		fem_contact_builder_set_body_side(builder, &contact.side[0], touch->body, item->tet, point);
		if (touch->is_collider)
			fem_contact_builder_set_collider_side(builder, &contact.side[1], point, moved);
		else
			fem_contact_builder_set_body_side(builder, &contact.side[1], touch->other, item->other_tet, point);
		if (!fem_contact_builder_set_normal(builder, &contact, overlap))
			continue;
		if (is_ahead)
			contact.depth = fminf(contact.depth - gap_before(builder, &struck, point, contact.normal), 0.0f);
		fem_contact_builder_add(builder, &contact, slop, is_ahead);
	}
}

// What two pieces, or a piece and a collider, have in common, in the order of pieces_key(): contacts that were made of
// faces, and overlaps.
typedef struct Shared {
	const FemKeyed *entries; // value: a contact of the stage, or FIRST_ITEM + an item
	int32_t count;
} Shared;

#define FIRST_ITEM ((uint64_t)1 << 32) // beyond the numbers of contacts

static uint64_t item_key(const FemContactBuilder *builder, const FemOverlapItem *item) {
	const FemTouch *touch = builder->touch;
	FemBody *const *bodies = builder->world->bodies;
	int32_t piece = fem_tet_component(bodies[touch->body]->topology, item->tet), other = 0;
	if (!touch->is_collider)
		other = fem_tet_component(bodies[touch->other]->topology, item->other_tet);
	return join_pieces(piece, other, !touch->is_collider && touch->body == touch->other);
}

// All of a touch; count 0 where memory fails.
static Shared list_shared(const FemContactBuilder *builder, FemRange made) {
	FemContactStage *stage = builder->stage;
	FemRange items = builder->touch->items;
	int64_t most = (int64_t)(made.end - made.begin) + (items.end - items.begin);
	int32_t count = 0;
	if (!FEM_LIST_HOLD(stage->order, stage->order_capacity, 2 * most, INT32_MAX)) {
		stage->full = true;
		return (Shared){0};
	}
	for (int32_t i = made.begin; i < made.end; i++)
		stage->order[count++] = (FemKeyed){pieces_key(&stage->contacts[i]), (uint64_t)i};
	for (int32_t i = items.begin; i < items.end; i++) {
		if (stage->items[i].found)
			stage->order[count++] = (FemKeyed){item_key(builder, &stage->items[i]), FIRST_ITEM + (uint64_t)i};
	}
	fem_key_sort(stage->order, stage->order + count, count);
	return (Shared){stage->order, count};
}

static bool is_fallback(const FemOverlap *overlap) {
	return (overlap->flags & (FEM_OVERLAP_FALLBACK | FEM_OVERLAP_NO_DIRECTION)) != 0;
}

// Overlaps without opposed faces are dropped where the two pieces have enough that do (docs/method.md, "Overlap"). What
// faces made already opposes: sides of a cube that lands on a box, whose nodes that holds, would brake it otherwise.
static bool drops_fallbacks(const FemContactStage *stage, const Shared *shared) {
	float opposed = 0.0f, fallback = 0.0f;
	for (int32_t i = 0; i < shared->count; i++) {
		uint64_t value = shared->entries[i].value;
		if (value < FIRST_ITEM)
			opposed += stage->contacts[value].area;
		else
			*(is_fallback(&stage->overlaps[value - FIRST_ITEM]) ? &fallback : &opposed) +=
				stage->overlaps[value - FIRST_ITEM].area;
	}
	return opposed > OPPOSED_SHARE * fallback;
}

// Of the contacts of the touch in the last step: those of the same two pieces, or the same piece and collider.
static FemRange last_of_pieces(const FemContactBuilder *builder, const FemOverlapItem *item) {
	const FemTouch *touch = builder->touch;
	FemBody *const *bodies = builder->world->bodies;
	FemContact like = {.side[0] = {.kind = FEM_SIDE_TET, .body = touch->body}};
	like.side[0].piece = fem_tet_component(bodies[touch->body]->topology, item->tet);
	if (touch->is_collider)
		like.side[1] = (FemContactSide){.kind = FEM_SIDE_COLLIDER, .body = -1, .collider = touch->other};
	else
		like.side[1] = (FemContactSide){.kind = FEM_SIDE_TET,
			.body = touch->other,
			.piece = fem_tet_component(bodies[touch->other]->topology, item->other_tet)};
	int32_t count = builder->last.end - builder->last.begin;
	if (count == 0)
		return builder->last;
	FemRange range = fem_contacts_of_pieces(builder->stage->last_contacts + builder->last.begin, count, &like);
	return (FemRange){builder->last.begin + range.begin, builder->last.begin + range.end};
}

// All of the same pieces: each is looked for among the few contacts that these had.
static void add_shared(FemContactBuilder *builder, const Shared *shared, bool several_points) {
	bool drops = drops_fallbacks(builder->stage, shared);
	FemRange of_touch = builder->last;
	bool is_narrow = false;
	for (int32_t i = 0; i < shared->count; i++) {
		if (shared->entries[i].value < FIRST_ITEM)
			continue;
		const FemOverlapItem *item = &builder->stage->items[shared->entries[i].value - FIRST_ITEM];
		const FemOverlap *overlap = &builder->stage->overlaps[shared->entries[i].value - FIRST_ITEM];
		if (is_fallback(overlap) && drops)
			continue;
		if (!is_narrow)
			builder->last = last_of_pieces(builder, item);
		is_narrow = true;
		if (item->are_hulls)
			fem_contact_builder_add_convex(builder, item, overlap);
		else
			add_overlap(builder, item, overlap, several_points);
	}
	builder->last = of_touch;
}

// `made`: the contacts of the touch so far. On a collider each piece has the points that it needs, however many others
// lie there. Between bodies, and pieces of one, all together decide: four times as many points among the shards of a
// slab took twice the time.
static void add_overlaps(FemContactBuilder *builder, FemRange made) {
	Shared all = list_shared(builder, made), of_pieces;
	for (int32_t begin = 0; begin < all.count; begin += of_pieces.count) {
		of_pieces = (Shared){.entries = all.entries + begin};
		while (begin + of_pieces.count < all.count && of_pieces.entries[of_pieces.count].key == all.entries[begin].key)
			of_pieces.count++;
		int32_t deciding = builder->touch->is_collider ? of_pieces.count : all.count;
		add_shared(builder, &of_pieces, deciding <= FEW_ITEMS);
	}
}

// ---- make

static bool contacts_stand_in_order(const FemContact *contacts, int32_t count) {
	for (int32_t i = 1; i < count; i++) {
		if (fem_contact_compare_places(&contacts[i - 1], &contacts[i]) > 0)
			return false;
	}
	return true;
}

// Puts contacts in the order that their sorted keys name, cycle by cycle.
static void permute(FemContact *contacts, FemKeyed *order, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		FemContact kept = contacts[i];
		int32_t at = i;
		for (int32_t from = (int32_t)order[at].value; from != i; from = (int32_t)order[at].value) {
			contacts[at] = contacts[from];
			order[at].value = (uint64_t)at;
			at = from;
		}
		contacts[at] = kept;
		order[at].value = (uint64_t)at;
	}
}

// Sorts the contacts of a touch by the later keys of fem_contact_compare_places(), for matching in the next step, the
// last key first: the sort is stable. False when memory fails.
static bool sort_contacts(FemContactStage *stage, FemRange made) {
	FemContact *contacts = stage->contacts + made.begin;
	int32_t count = made.end - made.begin;
	if (contacts_stand_in_order(contacts, count))
		return true;
	if (!FEM_LIST_HOLD(stage->order, stage->order_capacity, 2 * (int64_t)count, INT32_MAX))
		return false;
	for (int32_t i = 0; i < count; i++)
		stage->order[i] = (FemKeyed){contacts[i].key >> 32, (uint64_t)i};
	fem_key_sort(stage->order, stage->order + count, count);
	for (int32_t i = 0; i < count; i++)
		stage->order[i].key = places_key(&contacts[stage->order[i].value]);
	fem_key_sort(stage->order, stage->order + count, count);
	for (int32_t i = 0; i < count; i++)
		stage->order[i].key = pieces_key(&contacts[stage->order[i].value]);
	fem_key_sort(stage->order, stage->order + count, count);
	permute(contacts, stage->order, count);
	FEM_ASSERT(contacts_stand_in_order(contacts, count));
	return true;
}

// Short steps push out no faster than those of PUSH_TIME: the speed of it stays in what was pushed. At 2
// kHz the rubble of a bar had four times its energy otherwise.
static float push_of_step(const FemWorld *world, float dt) {
	return world->def.contact_push * fminf(dt / PUSH_TIME, 1.0f);
}

// The contacts there are become those of the last step.
static void begin_list(FemContactStage *stage) {
	FemContact *contacts = stage->last_contacts;
	FemPaperHold *holds = stage->last_holds;
	int32_t capacity = stage->last_capacity, hold_capacity = stage->last_hold_capacity;
	stage->last_contacts = stage->contacts;
	stage->last_count = stage->contact_count;
	stage->last_capacity = stage->contact_capacity;
	stage->last_holds = stage->holds;
	stage->last_hold_capacity = stage->hold_capacity;
	stage->contacts = contacts;
	stage->contact_capacity = capacity;
	stage->holds = holds;
	stage->hold_capacity = hold_capacity;
	stage->contact_count = 0;
}

void fem_contacts_make(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	begin_list(stage);
	FEM_ASSERT(contacts_stand_in_order(stage->last_contacts, stage->last_count));
	FemContactBuilder builder = {.step = step, .world = world, .stage = stage, .push = push_of_step(world, step->dt)};
	for (int32_t t = 0; t < stage->touch_count; t++) {
		builder.touch = &stage->touches[t];
		find_last(&builder);
		FemRange made = {stage->contact_count, stage->contact_count};
		fem_contact_builder_list_cracks(&builder);
		if (builder.touch->is_collider && world->colliders[builder.touch->other].shape.type == FEM_SHAPE_HALF_SPACE)
			fem_contact_builder_add_half_spaces(&builder);
		else if (builder.touch->is_collider)
			fem_contact_builder_add_flat(&builder);
		fem_contact_builder_add_closed_cracks(&builder);
		made.end = stage->contact_count;
		add_overlaps(&builder, made);
		made.end = stage->contact_count;
		if (!sort_contacts(stage, made)) { // the next step could not find them again
			made.end = stage->contact_count = made.begin;
			stage->full = true;
		}
		made.end = stage->contact_count = fem_contact_builder_thin_out(&builder, made);
		fem_contact_builder_strengthen(&builder, made);
	}
	stage->last_time = world->time;
}
