// Joints between bodies that move by their modes (suite `joints`).
#include "contact_rig.h"
#include "fem_modes.h"
#include "fem_test.h"
#include "modal_rig.h"
#include "theory_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f) // s

static void step(FemWorldId world) {
	FEM_CHECK_INT(fem_world_step(world, DT, 1), FEM_OK);
}

// A bar of 0.6 x 0.1 x 0.1 m along x, whose corner is there.
static FemBodyId add_bar(FemWorldId world, FemPosition at, FemVec3 velocity, FemVec3 spin) {
	FemBlock block = fem_block(0.1f, 2);
	block.cells[0] = 8, block.size.x = 0.6f;
	block.material.young_modulus = 2e6f;
	block.material.stiffness_damping = 1e-3f;
	block.body.dynamics = FEM_DYNAMICS_MODAL;
	block.body.position = at;
	block.body.linear_velocity = velocity;
	block.body.angular_velocity = spin;
	FemBodyId body = fem_block_add(world, &block);
	fem_make_modal(body, 12);
	return body;
}

static FemWorldId make_world(float gravity, int32_t workers) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, -gravity, 0.0f};
	def.worker_count = workers;
	return fem_world_create(&def);
}

// So many bars along x, end to end, each joined with the next.
static void add_chain(FemWorldId world, FemBodyId *bodies, FemJointNumber *joints, int count) {
	for (int k = 0; k < count; k++)
		bodies[k] = add_bar(world, (FemPosition){0.6 * k, 2.0, 0.0}, (FemVec3){0}, (FemVec3){0});
	step(world);
	for (int k = 0; k + 1 < count; k++)
		FEM_CHECK((joints[k] = fem_body_join(bodies[k], bodies[k + 1], (FemPosition){0.6 * (k + 1), 2.05, 0.05})) != 0);
}

static double gap_of(FemWorldId world, FemJointNumber joint) {
	FemJointState state;
	FEM_CHECK_INT(fem_world_get_joint(world, joint, &state), FEM_OK);
	FemPosition a = state.points[0], b = state.points[1];
	return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static double energy_of(const FemBodyId *bodies, int count) {
	double sum = 0.0;
	for (int k = 0; k < count; k++) {
		FemBodyState state = fem_state_of(bodies[k]);
		sum += fem_modal_energy(bodies[k]) + (double)state.mass * 9.81 * fem_center(bodies[k]).y;
	}
	return sum;
}

// Fails when joined points drift apart, the point that is held as well moves, or the swing gains energy.
FEM_TEST(joints, hanging_chain_swings_from_a_grab) {
	FemWorldId world = make_world(9.81f, 1);
	FemBodyId bodies[4];
	FemJointNumber joints[3];
	add_chain(world, bodies, joints, 4);
	FemPosition hook = {0.0, 2.05, 0.05}, at;
	FemGrabNumber grab = fem_body_grab(bodies[0], hook);
	FEM_REQUIRE(grab != 0);
	FEM_CHECK_INT(fem_body_get_grab(bodies[0], grab, &hook, NULL), FEM_OK);
	double start = energy_of(bodies, 4), most = start, gap = 0.0, off = 0.0, lowest = 2.0;
	for (int s = 0; s < 240; s++) {
		step(world);
		for (int k = 0; k < 3; k++)
			gap = fmax(gap, gap_of(world, joints[k]));
		FEM_CHECK_INT(fem_body_get_grab(bodies[0], grab, &at, NULL), FEM_OK);
		off = fmax(off, fmax(fabs(at.x - hook.x), fabs(at.y - hook.y)));
		most = fmax(most, energy_of(bodies, 4));
		lowest = fmin(lowest, fem_low(bodies[3]));
	}
	double whole = 4.0 * (double)fem_state_of(bodies[0]).mass * 9.81 * 1.2, drop = 0.01 * whole; // J, of its fall
	bool ok = FEM_CHECK(gap < 5e-6);
	ok = FEM_CHECK(off < 5e-6) && ok;
	ok = FEM_CHECK(most < start + drop) && ok;
	ok = FEM_CHECK(lowest < 0.2) && ok; // it did swing down
	if (!ok)
		printf("    gap %g m, grab off %g m, energy %g to %g J, lowest %g m\n", gap, off, start, most, lowest);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// Fails when a joint's force is not what it carries, or is told with the wrong sign.
FEM_TEST(joints, force_is_what_hangs_on_it) {
	FemWorldId world = make_world(9.81f, 1);
	FemBodyId bodies[2];
	FemJointNumber joint;
	bodies[0] = add_bar(world, (FemPosition){0.0, 2.0, 0.0}, (FemVec3){0}, (FemVec3){0});
	bodies[1] = add_bar(world, (FemPosition){0.0, 1.9, 0.0}, (FemVec3){0}, (FemVec3){0});
	step(world);
	FEM_REQUIRE((joint = fem_body_join(bodies[1], bodies[0], (FemPosition){0.3, 2.0, 0.05})) != 0);
	FemGrabNumber grab = fem_body_grab(bodies[0], (FemPosition){0.3, 2.1, 0.05});
	FEM_REQUIRE(grab != 0);
	FemVec3 mean = {0}, held = {0};
	for (int s = 0; s < 400; s++) {
		FemJointState state;
		FemVec3 force;
		step(world);
		FEM_CHECK_INT(fem_world_get_joint(world, joint, &state), FEM_OK);
		FEM_CHECK_INT(fem_body_get_grab(bodies[0], grab, NULL, &force), FEM_OK);
		FEM_CHECK(state.bodies[0].index1 == bodies[0].index1 && state.bodies[1].index1 == bodies[1].index1);
		mean.y += s >= 200 ? state.force.y / 200.0f : 0.0f;
		held.y += s >= 200 ? force.y / 200.0f : 0.0f;
	}
	double weight = 9.81 * (double)fem_state_of(bodies[1]).mass;
	FEM_CHECK_NEAR((double)mean.y, weight, 0.02 * weight); // on bodies[1], upwards
	FEM_CHECK_NEAR((double)held.y, 2.0 * weight, 0.04 * weight);
	fem_world_destroy(world);
}

// Fails when what holds a body is left out of its momentum: each of two hooks would carry all of its weight.
FEM_TEST(joints, two_grabs_share_the_weight) {
	FemWorldId world = make_world(9.81f, 1);
	FemBodyId bar;
	add_chain(world, &bar, NULL, 1);
	FemGrabNumber grabs[2] = {
		fem_body_grab(bar, (FemPosition){0.0, 2.05, 0.05}), fem_body_grab(bar, (FemPosition){0.6, 2.05, 0.05})};
	for (int s = 0; s < 120; s++)
		step(world);
	double half = 0.5 * 9.81 * (double)fem_state_of(bar).mass;
	for (int k = 0; k < 2; k++) {
		FemVec3 force;
		FEM_CHECK_INT(fem_body_get_grab(bar, grabs[k], NULL, &force), FEM_OK);
		FEM_CHECK_NEAR((double)force.y, half, 0.01 * half);
	}
	FEM_CHECK(fem_modal_state(bar).kinetic_energy < 1e-6);
	fem_world_destroy(world);
}

// Fails when the two sides of a joint get unlike impulses.
FEM_TEST(joints, thrown_pair_keeps_its_momenta) {
	FemWorldId world = make_world(0.0f, 1);
	FemBodyId bodies[2];
	bodies[0] = add_bar(world, (FemPosition){0.0, 0.0, 0.0}, (FemVec3){0.0f, 1.0f, 0.0f}, (FemVec3){0.0f, 0.0f, 4.0f});
	bodies[1] = add_bar(world, (FemPosition){0.6, 0.0, 0.0}, (FemVec3){0.0f, 0.0f, 1.0f}, (FemVec3){2.0f, 3.0f, 0.0f});
	FemJointNumber joint = fem_body_join(bodies[0], bodies[1], (FemPosition){0.6, 0.05, 0.05});
	FEM_REQUIRE(joint != 0);
	FemVec3 before = {0}, after = {0};
	double start = 0.0, most = 0.0, gap = 0.0;
	for (int s = 0; s < 240; s++) {
		FemBodyState a = fem_state_of(bodies[0]), b = fem_state_of(bodies[1]);
		after = (FemVec3){a.linear_momentum.x + b.linear_momentum.x, a.linear_momentum.y + b.linear_momentum.y,
			a.linear_momentum.z + b.linear_momentum.z};
		double energy = fem_modal_energy(bodies[0]) + fem_modal_energy(bodies[1]);
		before = s == 0 ? after : before;
		start = s == 1 ? energy : start; // joining takes what they moved against each other with
		most = s > 0 ? fmax(most, energy) : most;
		gap = s > 1 ? fmax(gap, gap_of(world, joint)) : gap;
		step(world);
	}
	bool ok = FEM_CHECK(fem_distance3(before, after) < 1e-4 * fem_length3(before));
	ok = FEM_CHECK(most < 1.01 * start) && ok;
	ok = FEM_CHECK(gap < 2e-6) && ok;
	if (!ok)
		printf("    momentum off %g, energy %g to %g J, gap %g m\n", fem_distance3(before, after), start, most, gap);
	fem_world_destroy(world);
}

// Fails when points that are apart jump together, or never come.
FEM_TEST(joints, points_apart_come_together) {
	FemWorldId world = make_world(0.0f, 1);
	FemBodyId bodies[2] = {add_bar(world, (FemPosition){0.0, 0.0, 0.0}, (FemVec3){0}, (FemVec3){0}),
		add_bar(world, (FemPosition){1.1, 0.0, 0.0}, (FemVec3){0}, (FemVec3){0})};
	FemJointNumber joint = fem_body_join(bodies[0], bodies[1], (FemPosition){0.9, 0.05, 0.05});
	FEM_REQUIRE(joint != 0);
	FEM_CHECK_NEAR(gap_of(world, joint), 0.5, 1e-3);
	double last = gap_of(world, joint);
	for (int s = 0; s < 120; s++) {
		step(world);
		double gap = gap_of(world, joint);
		FEM_CHECK(gap > last - 2.2 * (double)DT); // 2 m/s, and what the ends swing
		last = gap;
	}
	FEM_CHECK(last < 2e-6);
	fem_world_destroy(world);
}

// Fails when what is joined sleeps apart, or a joint outlives its bodies.
FEM_TEST(joints, sleep_together_and_end_with_a_body) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = true;
	FemWorldId world = fem_world_create(&def);
	FemBodyId bodies[3];
	FemJointNumber joints[2], listed[4];
	for (int k = 0; k < 3; k++)
		bodies[k] = add_bar(world, (FemPosition){0.6 * k, 0.0, 0.0}, (FemVec3){0}, (FemVec3){0});
	step(world);
	for (int k = 0; k < 2; k++)
		FEM_REQUIRE(
			(joints[k] = fem_body_join(bodies[k], bodies[k + 1], (FemPosition){0.6 * (k + 1), 0.05, 0.05})) != 0);
	for (int s = 0; s < 600; s++)
		step(world);
	for (int k = 0; k < 3; k++)
		FEM_CHECK(fem_body_is_asleep(bodies[k]));
	FEM_CHECK_INT(fem_body_apply_impulse(bodies[0], 0, (FemVec3){0.0f, 20.0f, 0.0f}), FEM_OK);
	step(world);
	for (int k = 0; k < 3; k++)
		FEM_CHECK(!fem_body_is_asleep(bodies[k]));
	FEM_CHECK_INT(fem_world_get_joints(world, listed, 4), 2);
	FEM_CHECK(listed[0] == joints[0] && listed[1] == joints[1]);
	FEM_CHECK_INT(fem_body_destroy(bodies[2]), FEM_OK);
	FEM_CHECK_INT(fem_world_get_joints(world, listed, 4), 1);
	for (int s = 0; s < 10; s++)
		step(world);
	FEM_CHECK(gap_of(world, joints[0]) < 2e-6);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// Fails when a joint is not in a snapshot, or its sums depend on the threads.
FEM_TEST(joints, same_bits_for_any_threads_and_from_a_snapshot) {
	uint64_t hashes[3];
	for (int32_t workers = 1; workers <= 3; workers++) {
		FemWorldId world = make_world(9.81f, workers), copy;
		FemBodyId bodies[4];
		FemJointNumber joints[3];
		add_chain(world, bodies, joints, 4);
		FEM_CHECK(fem_body_grab(bodies[0], (FemPosition){0.0, 2.05, 0.05}) != 0);
		for (int s = 0; s < 30; s++)
			step(world);
		size_t size = fem_world_save(world, NULL, 0);
		void *data = malloc(size);
		FEM_CHECK(fem_world_save(world, data, size) == size);
		copy = fem_world_restore(data, size, 1);
		FEM_REQUIRE(fem_world_is_valid(copy));
		for (int s = 0; s < 20; s++) {
			step(world);
			step(copy);
			FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
		}
		FEM_CHECK_INT(fem_world_get_joints(copy, NULL, 0), 3);
		FEM_CHECK_INT(fem_world_validate(copy), FEM_OK);
		hashes[workers - 1] = fem_world_hash(world);
		free(data);
		fem_world_destroy(copy);
		fem_world_destroy(world);
	}
	FEM_CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
}

FEM_TEST(joints, bad_input_is_refused) {
	FemWorldId world = make_world(9.81f, 1), other = make_world(9.81f, 1);
	FemBodyId bodies[2], far = add_bar(other, (FemPosition){0.0, 0.0, 0.0}, (FemVec3){0}, (FemVec3){0});
	FemJointNumber joint;
	add_chain(world, bodies, &joint, 2);
	FemPosition point = {0.6, 2.0, 0.0}, none = {NAN, 0.0, 0.0};
	FemJointState state;
	FemBlock block = fem_block(0.2f, 2);
	FemBodyId plain = fem_block_add(world, &block);
	FEM_CHECK_INT(fem_body_join(bodies[0], bodies[0], point), 0);
	FEM_CHECK_INT(fem_body_join(bodies[0], far, point), 0);
	FEM_CHECK_INT(fem_body_join(bodies[0], plain, point), 0);
	FEM_CHECK_INT(fem_body_join(bodies[0], (FemBodyId){0}, point), 0);
	FEM_CHECK_INT(fem_body_join((FemBodyId){0}, bodies[0], point), 0);
	FEM_CHECK_INT(fem_body_join(bodies[0], bodies[1], none), 0);
	FEM_CHECK_INT(fem_world_get_joint(world, joint, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_get_joint(world, joint + 7, &state), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_get_joint((FemWorldId){0}, joint, &state), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_world_get_joints((FemWorldId){0}, &joint, 1), 0);
	FEM_CHECK_INT(fem_world_release_joint((FemWorldId){0}, joint), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_world_release_joint(world, joint), FEM_OK);
	FEM_CHECK_INT(fem_world_release_joint(world, joint), FEM_ERROR_INVALID_ARGUMENT);
	for (int k = 0; k < FEM_JOINTS_MAX; k++)
		FEM_CHECK(fem_body_join(bodies[0], bodies[1], point) != 0);
	FEM_CHECK_INT(fem_body_join(bodies[0], bodies[1], point), 0);
	step(world); // as many at one place: they hold as one
	FEM_CHECK(isfinite(fem_peak_speed(bodies, 2)) && fem_peak_speed(bodies, 2) < 10.0);
	FEM_CHECK_INT(fem_world_release_joint(world, 0), FEM_OK);
	FEM_CHECK_INT(fem_world_get_joints(world, NULL, 0), 0);
	step(world);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
	fem_world_destroy(other);
}
