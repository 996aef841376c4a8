// The modes that a body moves by, in a snapshot: basis, amplitudes and grabs, so that it goes on bitwise.
#include "base/vec.h"
#include "dynamics/modal_basis.h"
#include "model/joint.h"
#include "world/api/checks.h"
#include "world/state/snapshot.h"
#include "world/world.h"

#include <math.h>

static void sync_grabs(FemStream *s, FemModal *m, int32_t node_count) {
	FEM_STREAM(s, m->grab_count);
	int32_t found = 0;
	for (int k = 0; k < FEM_GRABS_MAX; k++) {
		FemGrab *grab = &m->grabs[k];
		FEM_STREAM(s, grab->number);
		FEM_STREAM(s, grab->nodes);
		FEM_STREAM(s, grab->weights);
		FEM_STREAM(s, grab->target);
		FEM_STREAM(s, grab->last);
		FEM_STREAM(s, grab->force);
		found += grab->number != 0;
		for (int v = 0; v < 4; v++)
			s->failed = s->failed || grab->nodes[v] < 0 || grab->nodes[v] >= node_count || !isfinite(grab->weights[v]);
		s->failed = s->failed ||
			(grab->number != 0 && (!fem_position_is_valid(grab->target) || !fem_position_is_valid(grab->last)));
	}
	s->failed = s->failed || found != m->grab_count;
}

static bool are_finite(const double *values, int32_t count) {
	bool finite = true;
	for (int32_t i = 0; i < count; i++)
		finite &= isfinite(values[i]) != 0;
	return finite;
}

static void sync_modal(FemStream *s, FemModal *m) {
	fem_stream_bool(s, &m->is_held);
	fem_stream_bool(s, &m->is_moving);
	fem_stream_bool(s, &m->is_out);
	fem_stream_bool(s, &m->is_stale);
	fem_stream_bool(s, &m->is_placed);
	fem_stream_bool(s, &m->sums.is_set);
	FEM_STREAM(s, m->sums.mass);
	FEM_STREAM(s, m->sums.moment);
	FEM_STREAM(s, m->sums.second);
	FEM_STREAM(s, m->sums.momentum);
	FEM_STREAM(s, m->sums.angular);
	FEM_STREAM(s, m->total_mass);
	FEM_STREAM(s, m->center);
	FEM_STREAM_ARRAY(s, m->eigenvalues, m->mode_count);
	FEM_STREAM_ARRAY(s, m->damping, m->mode_count);
	FEM_STREAM_ARRAY(s, m->weight, 3 * (size_t)m->mode_count);
	FEM_STREAM_ARRAY(s, m->tension, m->mode_count);
	FEM_STREAM_ARRAY(s, m->z, m->mode_count);
	FEM_STREAM_ARRAY(s, m->z_velocity, m->mode_count);
	FEM_STREAM_ARRAY(s, m->shapes, 3 * (size_t)m->stride * (size_t)m->node_count);
	FEM_STREAM_ARRAY(s, m->rest, m->node_count);
	FEM_STREAM_ARRAY(s, m->placed, m->node_count);
	FEM_STREAM_ARRAY(s, m->placed_velocity, m->node_count);
	FEM_STREAM_ARRAY(s, m->node_kinds, m->node_count);
	FEM_STREAM_ARRAY(s, m->ground_slip, m->node_count);
	bool sound = are_finite(m->z, m->mode_count) && are_finite(m->z_velocity, m->mode_count) &&
		are_finite(m->damping, m->mode_count) && are_finite(m->center, 3) && are_finite(m->sums.moment, 3) &&
		are_finite(m->sums.second, 6) && are_finite(m->sums.momentum, 3) && are_finite(m->sums.angular, 3) &&
		isfinite(m->sums.mass) && (!m->sums.is_set || m->sums.mass > 0.0) && m->total_mass > 0.0 &&
		isfinite(m->total_mass);
	for (int32_t k = 0; k < m->mode_count; k++)
		sound &= m->eigenvalues[k] > 0.0 && isfinite(m->eigenvalues[k]) && m->damping[k] >= 0.0;
	for (size_t i = 0; i < 3 * (size_t)m->stride * (size_t)m->node_count; i++)
		sound &= isfinite(m->shapes[i]) != 0;
	for (int32_t i = 0; i < m->node_count; i++)
		sound &= isfinite(m->ground_slip[i]) && m->ground_slip[i] >= 0.0f;
	s->failed = s->failed || !sound || (fem_stream_reads(s) && !fem_modal_complete(m));
	sync_grabs(s, m, m->node_count);
}

// False: the joint names what there is not, or is not in order.
static bool joint_is_sound(const FemWorld *world, const FemJoint *joint) {
	for (int s = 0; s < 2; s++) {
		const FemBody *body =
			joint->body[s] >= 0 && joint->body[s] < world->body_capacity ? world->bodies[joint->body[s]] : NULL;
		if (!body || joint->tet[s] < 0 || joint->tet[s] >= body->topology->batch_count * FEM_LANES)
			return false;
		for (int k = 0; k < 4; k++) {
			if (!isfinite(joint->weights[s][k]))
				return false;
		}
	}
	return joint->body[0] < joint->body[1];
}

void fem_snapshot_sync_joints(FemStream *s, FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	int32_t count = stage->joint_count;
	FEM_STREAM(s, stage->joint_number);
	FEM_STREAM(s, count);
	s->failed = s->failed || count < 0 || count > FEM_JOINTS_MAX;
	if (fem_stream_reads(s) && !s->failed)
		s->failed = count > 0 && !FEM_LIST_HOLD(stage->joints, stage->joint_capacity, count, FEM_JOINTS_MAX);
	for (int32_t j = 0; j < count && !s->failed; j++) {
		FemJoint *joint = &stage->joints[j];
		FEM_STREAM(s, joint->number);
		FEM_STREAM(s, joint->body);
		FEM_STREAM(s, joint->tet);
		FEM_STREAM(s, joint->weights);
		s->failed =
			s->failed || joint->number > stage->joint_number || (joint->number != 0 && !joint_is_sound(world, joint));
	}
	if (!s->failed)
		stage->joint_count = count;
}

void fem_snapshot_sync_modal(FemStream *s, FemBody *body) {
	bool has = body->modal != NULL;
	int32_t modes = has ? body->modal->mode_count : 0, nodes = has ? body->modal->node_count : 0;
	fem_stream_bool(s, &has);
	if (!has || s->failed)
		return;
	FEM_STREAM(s, modes);
	FEM_STREAM(s, nodes);
	if (fem_stream_reads(s)) {
		// Of a body that was split the modes have fewer nodes than it.
		s->failed = s->failed || modes < 1 || modes > FEM_MODAL_MODES_MAX || nodes < 1 ||
			nodes > body->topology->node_count || !fem_stream_can_hold(s, (int64_t)nodes * modes, 3 * sizeof(float)) ||
			!(body->modal = fem_modal_allocate(nodes, modes));
		if (s->failed)
			return;
	}
	sync_modal(s, body->modal);
	s->failed = s->failed || (body->modal->is_moving && !body->modal->is_stale && nodes != body->topology->node_count);
}
