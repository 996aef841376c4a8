// Colliders and contacts in a snapshot. Hulls, boxes, trees and pairs are made again.
#include "base/memory.h"
#include "model/piece.h"
#include "world/api/bodies.h"
#include "world/api/cookies.h"
#include "world/state/snapshot.h"
#include "world/state/stream.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// ---- colliders

static void sync_result(FemStream *s, FemColliderResult *result) {
	FEM_STREAM(s, result->impulse);
	FEM_STREAM(s, result->angular_impulse);
	FEM_STREAM(s, result->linear_velocity);
	FEM_STREAM(s, result->angular_velocity);
	FEM_STREAM(s, result->translation);
	FEM_STREAM(s, result->rotation_vector);
	FEM_STREAM(s, result->contact_count);
}

// Points, triangles and heights follow for the shapes that have them.
static void sync_shape(FemStream *s, FemShapeDef *shape) {
	int32_t type = (int32_t)shape->type;
	FEM_STREAM(s, type);
	FEM_STREAM(s, shape->half_extents);
	FEM_STREAM(s, shape->radius);
	FEM_STREAM(s, shape->half_height);
	FEM_STREAM(s, shape->thickness);
	FEM_STREAM(s, shape->point_count);
	FEM_STREAM(s, shape->triangle_count);
	FEM_STREAM(s, shape->width);
	FEM_STREAM(s, shape->depth);
	FEM_STREAM(s, shape->cell_size);
	s->failed = s->failed || type < FEM_SHAPE_BOX || type > FEM_SHAPE_HEIGHT_FIELD;
	shape->type = s->failed ? FEM_SHAPE_BOX : (FemShapeType)type;
}

static void sync_def(FemStream *s, FemColliderDef *def) {
	int32_t kind = (int32_t)def->kind;
	FEM_STREAM(s, kind);
	FEM_STREAM(s, def->position);
	FEM_STREAM(s, def->rotation);
	FEM_STREAM(s, def->shape_position);
	FEM_STREAM(s, def->shape_rotation);
	FEM_STREAM(s, def->linear_velocity);
	FEM_STREAM(s, def->angular_velocity);
	FEM_STREAM(s, def->mass);
	FEM_STREAM(s, def->inertia);
	FEM_STREAM(s, def->friction);
	FEM_STREAM(s, def->restitution);
	FEM_STREAM(s, def->layer);
	FEM_STREAM(s, def->mask);
	FEM_STREAM(s, def->user_data);
	s->failed = s->failed || kind < FEM_COLLIDER_STATIC || kind > FEM_COLLIDER_DYNAMIC;
	def->kind = s->failed ? FEM_COLLIDER_STATIC : (FemColliderKind)kind;
	sync_shape(s, &def->shape);
}

// Ids keep index and generation; the world's number is that of the world they are in.
static void sync_ignored(FemStream *s, FemCollider *collider) {
	FEM_STREAM(s, collider->ignored_count);
	s->failed = s->failed || collider->ignored_count < 0 || collider->ignored_count > FEM_COLLIDER_IGNORED;
	for (int32_t i = 0; i < collider->ignored_count && !s->failed; i++) {
		FEM_STREAM(s, collider->ignored[i].index1);
		FEM_STREAM(s, collider->ignored[i].generation);
	}
}

static void write_collider(FemStream *s, FemCollider *collider) {
	FemColliderDef def = {
		.kind = collider->kind,
		.shape = collider->shape,
		.position = collider->position,
		.rotation = collider->rotation,
		.shape_position = collider->local_position,
		.shape_rotation = collider->local_rotation,
		.linear_velocity = collider->linear_velocity,
		.angular_velocity = collider->angular_velocity,
		.mass = collider->mass,
		.inertia = collider->inertia,
		.friction = collider->friction,
		.restitution = collider->restitution,
		.layer = collider->layer,
		.mask = collider->mask,
		.user_data = collider->user_data,
	};
	sync_def(s, &def);
	fem_stream_bool(s, &collider->has_moved);
	fem_stream_bool(s, &collider->follows);
	FEM_STREAM(s, collider->leader);
	sync_ignored(s, collider);
	FEM_STREAM(s, collider->center);
	fem_stream_bool(s, &collider->has_tensor);
	FEM_STREAM(s, collider->tensor);
	FEM_STREAM(s, collider->force);
	FEM_STREAM(s, collider->torque);
	sync_result(s, &collider->result);
	for (int32_t i = 0; i < def.shape.point_count; i++) {
		FemVec3 point = def.shape.points[i];
		FEM_STREAM(s, point);
	}
	for (int32_t i = 0; i < 3 * def.shape.triangle_count; i++) {
		int32_t corner = def.shape.triangles[i];
		FEM_STREAM(s, corner);
	}
	for (int32_t i = 0; i < def.shape.width * def.shape.depth; i++) {
		float height = def.shape.heights[i];
		FEM_STREAM(s, height);
	}
}

// The file's counts are bounded by its length before anything is taken for them.
static void read_shape_and_enter(FemStream *s, FemWorld *world, int32_t index, FemColliderDef *def) {
	int32_t points = def->shape.point_count, corners = 3 * def->shape.triangle_count;
	FemVec3 *point_list = points > 0 ? FEM_ALLOC_ARRAY(FemVec3, points) : NULL;
	int32_t *corner_list = corners > 0 ? FEM_ALLOC_ARRAY(int32_t, corners) : NULL;
	int32_t heights = def->shape.width * def->shape.depth;
	float *height_list = heights > 0 ? FEM_ALLOC_ARRAY(float, heights) : NULL;
	s->failed =
		s->failed || (points > 0 && !point_list) || (corners > 0 && !corner_list) || (heights > 0 && !height_list);
	if (!s->failed && point_list)
		FEM_STREAM_ARRAY(s, point_list, points);
	if (!s->failed && corner_list)
		FEM_STREAM_ARRAY(s, corner_list, corners);
	if (!s->failed && height_list)
		FEM_STREAM_ARRAY(s, height_list, heights);
	FemQuat rotation = def->rotation,
			local = def->shape_rotation; // as they were: normalizing once more may change the last bit
	def->shape.points = point_list;
	def->shape.triangles = corner_list;
	def->shape.heights = height_list;
	s->failed = s->failed || fem_collider_def_check(def) != FEM_OK || fem_collider_enter(world, index, def) != FEM_OK;
	if (!s->failed) {
		world->colliders[index].rotation = rotation;
		world->colliders[index].local_rotation = local;
		fem_collider_place_shape(&world->colliders[index]);
	}
	FEM_FREE_ARRAY(point_list, points);
	FEM_FREE_ARRAY(corner_list, corners);
	FEM_FREE_ARRAY(height_list, heights);
}

static void read_collider(FemStream *s, FemWorld *world, int32_t index) {
	FemColliderDef def = {.cookie = FEM_COOKIE_COLLIDER};
	FemColliderResult result = {0};
	FemCollider ignored = {0};
	FemVec3 force = {0}, torque = {0}, center = {0};
	float tensor[6] = {0};
	int32_t leader = -1;
	bool has_moved = false, follows = false, has_tensor = false;
	sync_def(s, &def);
	fem_stream_bool(s, &has_moved);
	fem_stream_bool(s, &follows);
	FEM_STREAM(s, leader);
	sync_ignored(s, &ignored);
	FEM_STREAM(s, center);
	fem_stream_bool(s, &has_tensor);
	FEM_STREAM(s, tensor);
	FEM_STREAM(s, force);
	FEM_STREAM(s, torque);
	sync_result(s, &result);
	s->failed = s->failed || leader < -1 || leader >= world->collider_capacity || (leader >= 0 && !follows);
	s->failed = s->failed || !fem_stream_can_hold(s, def.shape.point_count, sizeof(FemVec3)) ||
		!fem_stream_can_hold(s, def.shape.triangle_count, 3 * sizeof(int32_t)) || def.shape.width < 0 ||
		def.shape.depth < 0 || (int64_t)def.shape.width * def.shape.depth > FEM_NODE_MAX ||
		!fem_stream_can_hold(s, (int64_t)def.shape.width * def.shape.depth, sizeof(float));
	if (s->failed)
		return;
	read_shape_and_enter(s, world, index, &def);
	FemCollider *collider = &world->colliders[index];
	collider->has_moved = has_moved;
	collider->follows = follows;
	collider->leader = leader;
	collider->ignored_count = ignored.ignored_count;
	memcpy(collider->ignored, ignored.ignored, sizeof ignored.ignored);
	collider->center = center;
	collider->has_tensor = has_tensor;
	memcpy(collider->tensor, tensor, sizeof tensor);
	collider->force = force;
	collider->torque = torque;
	collider->result = result;
}

static void sync_colliders(FemStream *s, FemWorld *world) {
	int32_t capacity = world->collider_capacity;
	FEM_STREAM(s, capacity);
	s->failed = s->failed || !fem_stream_can_hold(s, capacity, 3) || capacity > FEM_TET_MAX;
	if (s->failed)
		return;
	if (fem_stream_reads(s) && capacity > 0) {
		world->colliders = FEM_ALLOC_ARRAY(FemCollider, capacity);
		world->collider_capacity = world->colliders ? capacity : 0;
		for (int32_t i = 0; i < world->collider_capacity; i++)
			world->colliders[i].sweep_proxy = -1;
		s->failed = !world->colliders || !fem_world_reserve(world);
	}
	for (int32_t i = 0; i < capacity && !s->failed; i++) {
		bool in_use = world->colliders[i].in_use;
		FEM_STREAM(s, world->colliders[i].generation);
		fem_stream_bool(s, &in_use);
		if (in_use && !fem_stream_reads(s))
			write_collider(s, &world->colliders[i]);
		else if (in_use && !s->failed)
			read_collider(s, world, i);
	}
}

// ---- contacts

// The file tells colliders by their having no body, and nodes by the key of the contact (sync_contact).
static void sync_side(FemStream *s, FemContactSide *side) {
	int32_t place = fem_side_place(side);
	FEM_STREAM(s, side->body);
	FEM_STREAM(s, place);
	if (fem_stream_reads(s)) {
		side->kind = side->body < 0 ? FEM_SIDE_COLLIDER : FEM_SIDE_TET;
		*(side->kind == FEM_SIDE_COLLIDER ? &side->collider : &side->tet) = place;
	}
	FEM_STREAM(s, side->proxy);
	FEM_STREAM(s, side->nodes);
	FEM_STREAM(s, side->weights);
	FEM_STREAM(s, side->arm);
	fem_stream_bool(s, &side->is_fixed);
}

static void sync_contact(FemStream *s, FemContact *contact) {
	sync_side(s, &contact->side[0]);
	sync_side(s, &contact->side[1]);
	FEM_STREAM(s, contact->normal);
	FEM_STREAM(s, contact->area);
	FEM_STREAM(s, contact->depth);
	FEM_STREAM(s, contact->reference);
	FEM_STREAM(s, contact->bias);
	FEM_STREAM(s, contact->normal_strength);
	FEM_STREAM(s, contact->friction);
	FEM_STREAM(s, contact->friction_strength);
	FEM_STREAM(s, contact->normal_impulse);
	FEM_STREAM(s, contact->impulse);
	FEM_STREAM(s, contact->slip);
	FEM_STREAM(s, contact->approach);
	FEM_STREAM(s, contact->pair_load);
	FEM_STREAM(s, contact->bears);
	FEM_STREAM(s, contact->props);
	fem_stream_bool(s, &contact->active);
	FEM_STREAM(s, contact->key);
	bool is_at_node = fem_side_is_collider(&contact->side[1]) && contact->key >> 32 == FEM_CONTACT_NODE_KEY;
	if (fem_stream_reads(s) && is_at_node && fem_side_is_body(&contact->side[0])) {
		int32_t node = contact->side[0].tet;
		contact->side[0].kind = FEM_SIDE_NODE;
		contact->side[0].node = node;
	}
}

// Which pieces it is of is not in the file. False when it names nodes that there are not.
static bool set_pieces(const FemWorld *world, FemContact *contact) {
	for (int s = 0; s < 2; s++) {
		FemContactSide *side = &contact->side[s];
		side->piece = 0;
		if (fem_side_is_collider(side))
			continue;
		const FemBody *body = side->body < world->body_capacity ? world->bodies[side->body] : NULL;
		if (!body || side->nodes[0] < 0 || side->nodes[0] >= body->topology->node_count)
			return false;
		side->piece = fem_node_component(body->topology, side->nodes[0]);
	}
	return true;
}

// What the paper's friction goes on with.
static void sync_hold(FemStream *s, FemContactStage *stage, int32_t index) {
	if (fem_stream_reads(s)) {
		stage->contacts[index].hold = index;
		stage->holds[index] = (FemPaperHold){0};
	}
	FemPaperHold *hold = &stage->holds[stage->contacts[index].hold];
	FEM_STREAM(s, hold->next_integral);
	FEM_STREAM(s, hold->next_slip);
	fem_stream_bool(s, &hold->is_static);
}

// Saves the contacts of the last step, with which the next step matches its own.
static void sync_contacts(FemStream *s, FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	int32_t count = stage->contact_count;
	FEM_STREAM(s, stage->last_time);
	FEM_STREAM(s, count);
	s->failed = s->failed || count < 0 || count > world->def.contact_capacity ||
		!fem_stream_can_hold(s, count, sizeof(int32_t));
	if (fem_stream_reads(s) && !s->failed)
		s->failed = !fem_contact_stage_hold(world, count);
	for (int32_t i = 0; i < count && !s->failed; i++) {
		sync_contact(s, &stage->contacts[i]);
		if (fem_stream_reads(s) && !s->failed)
			s->failed = !set_pieces(world, &stage->contacts[i]);
		if (stage->holds)
			sync_hold(s, stage, i);
	}
	if (!s->failed)
		stage->contact_count = count;
}

static bool is_box(const FemSweepBox *box) {
	for (int i = 0; i < 3; i++) {
		if (!(box->min[i] <= box->max[i] && isfinite(box->min[i]) && isfinite(box->max[i])))
			return false;
	}
	return true;
}

// Between two steps boxes are those of the last refit, before the pieces moved on, and blows are looked for by them.
static void sync_piece_boxes(FemStream *s, FemWorld *world, const FemBody *body) {
	int32_t count = body->sweep_proxy_count;
	FEM_STREAM(s, count);
	s->failed = s->failed || count < 0 || count > body->sweep_proxy_count;
	for (int32_t c = 0; c < count && !s->failed; c++) {
		int32_t proxy = body->pieces[c].sweep_proxy;
		FemSweepBox box = world->sweep.boxes[proxy];
		bool still = world->sweep.proxies[proxy].still;
		FEM_STREAM(s, box);
		fem_stream_bool(s, &still);
		if (s->failed || !fem_stream_reads(s) || !is_box(&box)) // a piece without triangles has none
			continue;
		fem_sweep_move_proxy(&world->sweep, proxy, &box);
		fem_sweep_set_still(&world->sweep, proxy, still);
	}
}

void fem_snapshot_sync_contact(FemStream *s, FemWorld *world) {
	sync_colliders(s, world);
	if (!s->failed)
		sync_contacts(s, world);
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (world->bodies[b])
			sync_piece_boxes(s, world, world->bodies[b]);
	}
}
