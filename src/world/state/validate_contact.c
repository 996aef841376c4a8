// The part of fem_world_validate() that looks at colliders, the sweep and contacts.
#include "model/piece.h"
#include "world/world.h"

#include "world/api/checks.h"
#include "world/state/validate.h"

#include <math.h>

#define FAULT(...) fem_fail(FEM_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static bool in_range(int32_t value, int32_t count) {
	return value >= 0 && value < count;
}

static bool all_finite(const float *values, int count) {
	for (int i = 0; i < count; i++) {
		if (!fem_is_finite(values[i]))
			return false;
	}
	return true;
}

// ---- colliders

// What lives in the world and what its proxy says must agree.
static bool proxy_is_right(const FemWorld *world, int32_t proxy, uint32_t user) {
	if (!world->def.contacts_enabled)
		return proxy == -1;
	const FemSweep *sweep = &world->sweep;
	return in_range(proxy, sweep->proxy_end) && sweep->proxies[proxy].in_use && !sweep->proxies[proxy].dying &&
		sweep->proxies[proxy].user == user;
}

static FemResult check_shape(const FemCollider *collider, int32_t index) {
	const FemShapeDef *shape = &collider->shape;
	bool convex = shape->type == FEM_SHAPE_CONVEX, triangles = shape->type == FEM_SHAPE_TRIANGLES;
	if (shape->type < FEM_SHAPE_BOX || shape->type > FEM_SHAPE_HEIGHT_FIELD)
		return FAULT("Collider %d has a shape of no known type.", index);
	if ((shape->points != NULL) != (convex || triangles) || (shape->triangles != NULL) != triangles ||
		(collider->hull_storage != NULL) != convex || (collider->tree != NULL) != triangles ||
		(shape->heights != NULL) != (shape->type == FEM_SHAPE_HEIGHT_FIELD))
		return FAULT("Collider %d has points, triangles or a hull that do not fit its shape.", index);
	for (int32_t i = 0; triangles && i < 3 * shape->triangle_count; i++) {
		if (!in_range(shape->triangles[i], shape->point_count))
			return FAULT(
				"Collider %d: a triangle names point %d of %d.", index, shape->triangles[i], shape->point_count);
	}
	for (int32_t i = 0; (convex || triangles) && i < shape->point_count; i++) {
		if (!fem_vec3_is_finite(shape->points[i]))
			return FAULT("Collider %d: point %d is not finite.", index, i);
	}
	return FEM_OK;
}

static FemResult check_collider(const FemWorld *world, int32_t index) {
	const FemCollider *collider = &world->colliders[index];
	const FemColliderResult *result = &collider->result;
	FemQuat q = collider->rotation;
	float length_sq = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
	if (!fem_position_is_valid(collider->position) || !fem_vec3_is_finite(collider->linear_velocity) ||
		!fem_vec3_is_finite(collider->angular_velocity))
		return FAULT("Collider %d has a position or velocity that is not finite.", index);
	if (!(fabsf(length_sq - 1.0f) < 1e-5f))
		return FAULT("Collider %d has a rotation of length %g.", index, sqrt((double)length_sq));
	if (!fem_is_finite(collider->mass) || (collider->mass > 0.0f) != (collider->kind == FEM_COLLIDER_DYNAMIC) ||
		!fem_vec3_is_finite(collider->inertia) ||
		!(collider->friction >= 0.0f && collider->friction <= FEM_FRICTION_MAX) ||
		!(collider->restitution >= 0.0f && collider->restitution <= 1.0f))
		return FAULT("Collider %d has a wrong mass, inertia, friction or restitution.", index);
	if (!fem_vec3_is_finite(result->impulse) || !fem_vec3_is_finite(result->angular_impulse) ||
		!fem_vec3_is_finite(result->linear_velocity) || !fem_vec3_is_finite(result->angular_velocity) ||
		result->contact_count < 0)
		return FAULT("Collider %d has a result that is not finite.", index);
	const FemCollider *leader =
		in_range(collider->leader, world->collider_capacity) ? &world->colliders[collider->leader] : NULL;
	if (collider->leader >= 0 &&
		(!collider->follows || !leader || !leader->in_use || leader->follows || leader->kind != FEM_COLLIDER_DYNAMIC))
		return FAULT("Collider %d follows collider %d, which cannot lead.", index, collider->leader);
	if (!fem_vec3_is_finite(collider->center) || !all_finite(collider->tensor, 6) ||
		!fem_vec3_is_finite(collider->force) || !fem_vec3_is_finite(collider->torque))
		return FAULT("Collider %d has a force that is not finite.", index);
	if (!proxy_is_right(world, collider->sweep_proxy, FEM_SWEEP_COLLIDER | (uint32_t)index))
		return FAULT("Collider %d has no proxy of its own in the sweep.", index);
	return check_shape(collider, index);
}

static FemResult check_colliders(const FemWorld *world) {
	FemResult result = FEM_OK;
	int32_t count = 0;
	for (int32_t c = 0; c < world->collider_capacity && result == FEM_OK; c++) {
		const FemCollider *collider = &world->colliders[c];
		count += collider->in_use;
		if (collider->in_use)
			result = check_collider(world, c);
		else if (collider->shape.points || collider->shape.triangles || collider->hull_storage ||
			collider->sweep_proxy >= 0)
			result = FAULT("Collider slot %d is free but holds a shape or a proxy.", c);
	}
	if (result == FEM_OK && count != world->collider_count)
		result = FAULT("The world counts %d colliders, but has %d.", world->collider_count, count);
	return result;
}

static bool pieces_are_right(const FemWorld *world, const FemBody *body, int32_t index) {
	int32_t count = world->def.contacts_enabled ? body->trees->component_count : 0;
	bool right = body->sweep_proxy_count == count;
	for (int32_t c = 0; right && c < count; c++)
		right = proxy_is_right(world, body->pieces[c].sweep_proxy, (uint32_t)index) &&
			world->sweep.proxies[body->pieces[c].sweep_proxy].piece == c;
	return right;
}

static FemResult check_sweep(const FemWorld *world) {
	int32_t live = world->def.contacts_enabled ? world->collider_count : 0;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		if (body && !pieces_are_right(world, body, b))
			return FAULT("Body %d has pieces without a proxy of their own in the sweep.", b);
		live += body ? body->sweep_proxy_count : 0;
	}
	if (world->sweep.proxy_count - world->sweep.dying_count != live)
		return FAULT("The sweep holds %d proxies for %d pieces and colliders.",
			world->sweep.proxy_count - world->sweep.dying_count, live);
	return FEM_OK;
}

// ---- contacts

static bool body_side_is_sound(const FemWorld *world, const FemContactSide *side) {
	if (fem_side_is_collider(side) || !in_range(side->body, world->body_capacity) || !world->bodies[side->body])
		return false;
	const FemTopology *t = world->bodies[side->body]->topology;
	for (int k = 0; k < 4; k++) {
		if (!in_range(side->nodes[k], t->node_count))
			return false;
	}
	if (side->piece != fem_node_component(t, side->nodes[0]))
		return false;
	if (side->kind == FEM_SIDE_NODE)
		return in_range(side->node, t->node_count);
	return in_range(side->tet, t->batch_count * FEM_LANES) && t->user_of_tet[side->tet] >= 0;
}

static FemResult check_contact(const FemWorld *world, int32_t index) {
	const FemContact *contact = &world->contacts.contacts[index];
	const FemContactSide *other = &contact->side[1];
	bool collider = fem_side_is_collider(other);
	if (collider &&
		(!in_range(other->collider, world->collider_capacity) || !in_range(other->proxy, world->collider_capacity) ||
			!world->colliders[other->collider].in_use))
		return FAULT("Contact %d is with collider %d, which there is not.", index, other->collider);
	if (!body_side_is_sound(world, &contact->side[0]) || (!collider && !body_side_is_sound(world, other)))
		return FAULT("Contact %d names a body, tet or node that there is not.", index);
	float numbers[] = {contact->area, contact->depth, contact->bias, contact->normal_strength, contact->friction,
		contact->friction_strength, contact->normal_impulse, contact->slip, contact->reference};
	if (!all_finite(numbers, 9) || !all_finite(contact->normal, 3) || !all_finite(contact->impulse, 3) ||
		!all_finite(contact->side[0].weights, 4) || !all_finite(other->weights, 4) || !all_finite(other->arm, 3) ||
		!(contact->normal_impulse >= 0.0f) || !(contact->slip >= 0.0f) || !(contact->reference >= 0.0f))
		return FAULT("Contact %d has a number that is not finite or negative.", index);
	if (index > 0 && fem_contact_compare_places(contact - 1, contact) >= 0)
		return FAULT("Contact %d is not in its place in the list.", index);
	return FEM_OK;
}

static FemResult check_joint(const FemWorld *world, int32_t slot) {
	const FemJoint *joint = &world->contacts.joints[slot];
	if (joint->number == 0)
		return FEM_OK;
	for (int s = 0; s < 2; s++) {
		const FemBody *body = in_range(joint->body[s], world->body_capacity) ? world->bodies[joint->body[s]] : NULL;
		if (!body || !in_range(joint->tet[s], body->topology->batch_count * FEM_LANES))
			return FAULT(
				"Joint %u names body %d or tet %d, which there is not.", joint->number, joint->body[s], joint->tet[s]);
		if (!all_finite(joint->weights[s], 4))
			return FAULT("Joint %u has a weight that is not finite.", joint->number);
	}
	if (joint->body[0] >= joint->body[1] || joint->number > world->contacts.joint_number)
		return FAULT("Joint %u is out of order.", joint->number);
	return FEM_OK;
}

FemResult fem_world_check_contacts(const FemWorld *world) {
	const FemContactStage *stage = &world->contacts;
	FemResult result = check_colliders(world);
	if (result == FEM_OK)
		result = check_sweep(world);
	if (result == FEM_OK && (stage->contact_count < 0 || stage->contact_count > stage->contact_capacity))
		result = FAULT("The world counts %d contacts of %d.", stage->contact_count, stage->contact_capacity);
	for (int32_t j = 0; j < stage->joint_count && result == FEM_OK; j++)
		result = check_joint(world, j);
	for (int32_t i = 0; i < stage->contact_count && result == FEM_OK; i++)
		result = check_contact(world, i);
	return result;
}
