// Joints between modal bodies.
#include "base/error.h"
#include "base/list.h"
#include "base/vec.h"
#include "fem_modes.h"
#include "model/joint.h"
#include "model/piece.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/contact/joint_contacts.h"
#include "world/world.h"

#include <string.h>

static bool moves_by_modes(const FemBody *body) {
	return fem_modal_fits(body->modal) && body->dynamics == FEM_DYNAMICS_MODAL;
}

static FemResult check_bodies(
	const FemWorld *world, const FemBody *body, const FemWorld *other_world, const FemBody *other, FemPosition point) {
	if (body == other)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "A body cannot be joined with itself: pass two bodies.");
	if (world != other_world)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The two bodies are of two worlds: join bodies of one.");
	if (!moves_by_modes(body) || !moves_by_modes(other))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"Only bodies that move by their modes can be joined: give both FEM_DYNAMICS_MODAL and modes.");
	if (!world->def.contacts_enabled)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"Joints are part of the contacts, which are off in this world: set FemWorldDef.contacts_enabled.");
	if (!fem_position_is_valid(point))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The point to join is not finite or too far away: correct it.");
	return FEM_OK;
}

// A free slot, or null with a sentence.
static FemJoint *take_slot(FemContactStage *stage) {
	for (int32_t j = 0; j < stage->joint_count; j++) {
		if (stage->joints[j].number == 0)
			return &stage->joints[j];
	}
	if (stage->joint_count == FEM_JOINTS_MAX) {
		fem_fail(FEM_ERROR_LIMIT, "The world has %d joints, which is the most: release one.", FEM_JOINTS_MAX);
		return NULL;
	}
	if (!FEM_LIST_HOLD(stage->joints, stage->joint_capacity, (int64_t)stage->joint_count + 1, FEM_JOINTS_MAX)) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a joint.");
		return NULL;
	}
	return &stage->joints[stage->joint_count++];
}

FemJointNumber fem_body_join(FemBodyId id, FemBodyId other_id, FemPosition point) {
	FemResult result;
	FemWorld *world, *other_world;
	FemBody *bodies[2] = {fem_body_find_idle(id, &world, &result), NULL};
	if (!bodies[0] || !(bodies[1] = fem_body_find_idle(other_id, &other_world, &result)) ||
		check_bodies(world, bodies[0], other_world, bodies[1], point) != FEM_OK)
		return 0;
	FemContactStage *stage = &world->contacts;
	FemJoint *joint = take_slot(stage);
	if (!joint)
		return 0;
	*joint = (FemJoint){.body = {id.index1 - 1, other_id.index1 - 1}};
	if (joint->body[0] > joint->body[1]) {
		FemBody *first = bodies[0];
		bodies[0] = bodies[1], bodies[1] = first;
		joint->body[0] = other_id.index1 - 1, joint->body[1] = id.index1 - 1;
	}
	for (int s = 0; s < 2; s++) {
		double weights[4];
		joint->tet[s] = fem_body_nearest_tet(bodies[s], point, weights);
		for (int k = 0; k < 4; k++)
			joint->weights[s][k] = (float)weights[k];
		fem_body_wake_all(&world->islands, bodies[s]);
	}
	return joint->number = ++stage->joint_number;
}

static FemJoint *find_joint(FemWorld *world, FemJointNumber number) {
	for (int32_t j = 0; number != 0 && j < world->contacts.joint_count; j++) {
		if (world->contacts.joints[j].number == number)
			return &world->contacts.joints[j];
	}
	fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The world has no joint %u: it was released, or ended with one of its bodies.",
		number);
	return NULL;
}

static void release(FemWorld *world, FemJoint *joint) {
	for (int s = 0; s < 2 && joint->number != 0; s++)
		fem_body_wake_all(&world->islands, world->bodies[joint->body[s]]);
	joint->number = 0;
}

FemResult fem_world_release_joint(FemWorldId id, FemJointNumber number) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return result;
	if (number == 0) {
		for (int32_t j = 0; j < world->contacts.joint_count; j++)
			release(world, &world->contacts.joints[j]);
		return FEM_OK;
	}
	FemJoint *joint = find_joint(world, number);
	if (!joint)
		return FEM_ERROR_INVALID_ARGUMENT;
	release(world, joint);
	return FEM_OK;
}

// Of the last step, from its three contacts.
static FemVec3 force_of(const FemWorld *world, const FemJoint *joint) {
	const FemContactStage *stage = &world->contacts;
	int32_t slot = (int32_t)(joint - stage->joints);
	float sum[3] = {0.0f, 0.0f, 0.0f};
	for (int32_t c = 0; c < stage->contact_count && world->step_dt > 0.0f; c++) {
		const FemContact *contact = &stage->contacts[c];
		if (!fem_contact_is_joint(contact) || fem_joint_slot(contact) != slot)
			continue;
		for (int i = 0; i < 3; i++)
			sum[i] += contact->impulse[i] / world->step_dt;
	}
	return (FemVec3){sum[0], sum[1], sum[2]};
}

FemResult fem_world_get_joint(FemWorldId id, FemJointNumber number, FemJointState *out) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || (result = fem_check_out(out)) != FEM_OK)
		return result;
	const FemJoint *joint = find_joint(world, number);
	if (!joint)
		return FEM_ERROR_INVALID_ARGUMENT;
	for (int s = 0; s < 2; s++) {
		const FemBody *body = world->bodies[joint->body[s]];
		double point[3];
		fem_joint_point(body, joint, s, point);
		out->bodies[s] = fem_body_id(world, joint->body[s]);
		out->points[s] = fem_position_move(body->origin, (FemVec3d){point[0], point[1], point[2]});
	}
	out->force = force_of(world, joint);
	return FEM_OK;
}

static FemJointNumber next_number(const FemContactStage *stage, FemJointNumber after) {
	FemJointNumber next = 0;
	for (int32_t j = 0; j < stage->joint_count; j++) {
		FemJointNumber number = stage->joints[j].number;
		if (number > after && (next == 0 || number < next))
			next = number;
	}
	return next;
}

int32_t fem_world_get_joints(FemWorldId id, FemJointNumber *out_joints, int32_t capacity) {
	FemResult result;
	const FemWorld *world = fem_world_find_idle(id, &result);
	int32_t count = 0;
	FemJointNumber number = world ? next_number(&world->contacts, 0) : 0;
	for (; number != 0; number = next_number(&world->contacts, number), count++) {
		if (out_joints && count < capacity)
			out_joints[count] = number;
	}
	return count;
}
