#include "world/contact/joint_contacts.h"

#include "base/vec.h"
#include "islands/islands.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fem_bodies_are_joined(const FemContactStage *stage, int32_t body, int32_t other) {
	int32_t low = body < other ? body : other, high = body < other ? other : body;
	for (int32_t j = 0; j < stage->joint_count; j++) {
		const FemJoint *joint = &stage->joints[j];
		if (joint->number != 0 && joint->body[0] == low && joint->body[1] == high)
			return true;
	}
	return false;
}

void fem_joints_forget(FemContactStage *stage, int32_t body_index) {
	for (int32_t j = 0; j < stage->joint_count; j++) {
		FemJoint *joint = &stage->joints[j];
		if (joint->body[0] == body_index || joint->body[1] == body_index)
			joint->number = 0;
	}
}

void fem_joint_point(const FemBody *body, const FemJoint *joint, int side, double out[3]) {
	out[0] = out[1] = out[2] = 0.0;
	for (int k = 0; k < 4; k++) {
		const float *x = &body->position[fem_tet_node(body->topology, joint->tet[side], k)].x;
		for (int i = 0; i < 3; i++)
			out[i] += (double)joint->weights[side][k] * (double)x[i];
	}
}

// ---- contacts

static bool is_whole(const FemWorld *world, const FemJoint *joint) {
	for (int s = 0; s < 2; s++) {
		if (world->bodies[joint->body[s]]->topology->user_of_tet[joint->tet[s]] < 0)
			return false;
	}
	return true;
}

static void wake_together(FemWorld *world, const FemJoint *joint) {
	FemBody *a = world->bodies[joint->body[0]], *b = world->bodies[joint->body[1]];
	if (fem_body_sleeps(a) != fem_body_sleeps(b))
		fem_body_wake_all(&world->islands, fem_body_sleeps(a) ? a : b);
}

static FemContactSide side_of(const FemWorld *world, const FemJoint *joint, int s) {
	const FemTopology *t = world->bodies[joint->body[s]]->topology;
	FemContactSide side = {.kind = FEM_SIDE_TET, .body = joint->body[s], .tet = joint->tet[s]};
	for (int k = 0; k < 4; k++) {
		side.nodes[k] = fem_tet_node(t, joint->tet[s], k);
		side.weights[k] = joint->weights[s][k];
	}
	side.piece = fem_node_component(t, side.nodes[0]);
	return side;
}

// m, from the point of side 0 to that of side 1; no longer than what may be closed in a step.
static void find_gap(const FemWorld *world, const FemJoint *joint, float dt, double out[3]) {
	const FemBody *a = world->bodies[joint->body[0]], *b = world->bodies[joint->body[1]];
	FemVec3d between = fem_position_sub(b->origin, a->origin);
	const double apart[3] = {between.x, between.y, between.z}, most = (double)(FEM_JOINT_SPEED * dt);
	double p[3], q[3], square = 0.0;
	fem_joint_point(a, joint, 0, p);
	fem_joint_point(b, joint, 1, q);
	for (int i = 0; i < 3; i++) {
		out[i] = apart[i] + q[i] - p[i];
		square += out[i] * out[i];
	}
	for (int i = 0; i < 3 && square > most * most; i++)
		out[i] *= most / sqrt(square);
}

// The relative velocity along each axis is to close the gap in the step: n.u + b = 0.
static void add_joint(const FemWorld *world, int32_t slot, float dt, FemContact *out) {
	const FemJoint *joint = &world->contacts.joints[slot];
	double gap[3];
	float mass = INFINITY;
	find_gap(world, joint, dt, gap);
	FemContact contact = {.side = {side_of(world, joint, 0), side_of(world, joint, 1)}, .active = true};
	for (int s = 0; s < 2; s++)
		mass = fminf(mass, world->bodies[joint->body[s]]->pieces[contact.side[s].piece].mass);
	contact.normal_strength = FEM_JOINT_STRENGTH * mass;
	for (int axis = 0; axis < 3; axis++) {
		out[axis] = contact;
		out[axis].normal[axis] = 1.0f;
		out[axis].bias = (float)(-gap[axis] / (double)dt);
		out[axis].key = fem_joint_key(slot, axis);
	}
}

// ---- list

static int compare(const void *a, const void *b) {
	return fem_contact_compare_places(a, b);
}

// contacts[count, count + added) are sorted among those before them; room for as many more is scratch.
static void merge(FemContact *contacts, int32_t count, int32_t added) {
	FemContact *made = contacts + count + added;
	memcpy(made, contacts + count, sizeof *made * (size_t)added);
	qsort(made, (size_t)added, sizeof *made, compare);
	for (int32_t at = count + added - 1, i = count - 1, j = added - 1; j >= 0; at--)
		contacts[at] = i >= 0 && compare(&contacts[i], &made[j]) > 0 ? contacts[i--] : made[j--];
}

// They find room whatever there is: contacts at the end of the list give way.
static bool make_room(FemWorld *world, int32_t added) {
	FemContactStage *stage = &world->contacts;
	int32_t most = world->def.contact_capacity - 2 * added;
	if (stage->contact_count > most) {
		stage->contact_count = most > 0 ? most : 0;
		stage->full = true;
	}
	return most >= 0 && fem_contact_stage_hold(world, (int64_t)stage->contact_count + 2 * added);
}

void fem_joints_add_contacts(FemWorld *world, float dt) {
	FemContactStage *stage = &world->contacts;
	int32_t added = 0;
	for (int32_t j = 0; j < stage->joint_count; j++) {
		FemJoint *joint = &stage->joints[j];
		if (joint->number != 0 && !is_whole(world, joint))
			joint->number = 0;
		if (joint->number == 0)
			continue;
		wake_together(world, joint);
		added += fem_body_sleeps(world->bodies[joint->body[0]]) ? 0 : 3;
	}
	if (added == 0)
		return;
	if (!make_room(world, added)) {
		stage->full = true;
		return;
	}
	FemContact *made = stage->contacts + stage->contact_count;
	for (int32_t j = 0; j < stage->joint_count; j++) {
		const FemJoint *joint = &stage->joints[j];
		if (joint->number == 0 || fem_body_sleeps(world->bodies[joint->body[0]]))
			continue;
		add_joint(world, j, dt, made);
		for (int axis = 0; stage->holds && axis < 3; axis++) {
			made[axis].hold = (int32_t)(made + axis - stage->contacts);
			stage->holds[made[axis].hold] = (FemPaperHold){0};
		}
		made += 3;
	}
	merge(stage->contacts, stage->contact_count, added);
	stage->contact_count += added;
}
