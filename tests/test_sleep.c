// Sleeping and waking, through the public API.
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

// A cube at rest in space: no gravity acts, but the wake threshold is a share of a node's weight, so gravity is needed
// for waking. The cube is therefore hung up by its face x = 0.
static FemRigDef hung_cube(void) {
	FemRigDef def = fem_rig_cube_def(3, 0.3f);
	def.clamped = true;
	def.material.young_modulus = 1e8f;
	def.material.stiffness_damping = 0.01f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.sleeping_enabled = true;
	return def;
}

static int steps_until_asleep(FemRig *rig, int limit) {
	for (int n = 1; n <= limit; n++) {
		fem_world_step(rig->world, DT, 1);
		if (fem_body_is_asleep(rig->body))
			return n;
	}
	return limit + 1;
}

static float mean_node_mass(const FemRig *rig) {
	FemBodyState state;
	fem_body_get_state(rig->body, &state);
	return (float)(state.mass / rig->box.node_count);
}

// Fails when still steps are counted before the speed is below the threshold, or not from zero after a wake.
FEM_TEST(sleep, after_thirty_still_steps) {
	FemRigDef def = fem_rig_cube_def(3, 0.3f);
	def.world.sleeping_enabled = true; // no gravity: still from the first step
	FemRig rig = fem_rig_create(&def);
	int steps = steps_until_asleep(&rig, 100);
	FEM_CHECK_INT(steps, 30);
	const FemEvent *events;
	FEM_REQUIRE(fem_world_get_events(rig.world, &events) == 1);
	FEM_CHECK(events[0].type == FEM_EVENT_SLEPT);
	FemStatistics statistics;
	fem_world_step(rig.world, DT, 1);
	fem_world_get_statistics(rig.world, &statistics);
	FEM_CHECK_INT(statistics.live_tets, 0);
	FEM_CHECK_INT(statistics.asleep_islands, 1);
	fem_body_wake(rig.body);
	FEM_CHECK(!fem_body_is_asleep(rig.body));
	steps = steps_until_asleep(&rig, 100);
	FEM_CHECK_INT(steps, 30);
	fem_rig_destroy(&rig);
}

// Fails when a moving body's still steps are kept.
FEM_TEST(sleep, not_while_moving) {
	FemRigDef def = fem_rig_cube_def(3, 0.3f);
	def.world.sleeping_enabled = true;
	def.body.linear_velocity = (FemVec3){0.031f, 0.0f, 0.0f}; // just above 0.03 m/s
	FemRig rig = fem_rig_create(&def);
	int steps = steps_until_asleep(&rig, 100);
	FEM_CHECK_INT(steps, 101);
	fem_rig_destroy(&rig);
}

// Fails when every force wakes, or none does.
FEM_TEST(sleep, force_wakes_above_the_threshold_only) {
	FemRigDef def = hung_cube();
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(steps_until_asleep(&rig, 400) <= 400);
	int32_t middle = (1 * 4 + 1) * 4 + 1; // an inner node: it weighs at least three quarters of the mean
	float threshold = 0.25f * mean_node_mass(&rig) * 9.81f;
	FEM_CHECK(fem_body_apply_force(rig.body, middle, (FemVec3){0.0f, 0.2f * threshold, 0.0f}) == FEM_OK);
	fem_world_step(rig.world, DT, 1);
	FEM_CHECK(fem_body_is_asleep(rig.body));
	fem_body_apply_force(rig.body, middle, (FemVec3){0.0f, 100.0f * threshold, 0.0f});
	FEM_CHECK(!fem_body_is_asleep(rig.body));
	fem_world_step(rig.world, DT, 1);
	FEM_CHECK(!fem_body_is_asleep(rig.body));
	FEM_REQUIRE(steps_until_asleep(&rig, 400) <= 400);
	fem_body_apply_impulse(rig.body, middle, (FemVec3){0.0f, 0.5f, 0.0f});
	FEM_CHECK(!fem_body_is_asleep(rig.body));
	fem_rig_destroy(&rig);
}

// A long bar poked at its end wakes there first, and the rest as the motion reaches it. Fails when all of a body wakes
// at once, or nothing beyond the poked part ever does.
FEM_TEST(sleep, large_body_wakes_part_by_part) {
	FemRigDef def = fem_rig_bar_def(60, 3, 3, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){6.0f, 0.3f, 0.3f};
	def.clamped = false;
	def.material.young_modulus = 1e7f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.sleeping_enabled = true;
	def.body.starts_asleep = true;
	FemRig rig = fem_rig_create(&def);
	for (int32_t i = 0; i < rig.box.node_count; i++)
		fem_body_pin_node(rig.body, i / 16 * 16); // one edge held all along, so that a sleeper is at rest
	fem_body_sleep(rig.body);
	fem_world_step(rig.world, DT, 1);
	FEM_CHECK(fem_body_is_asleep(rig.body));
	fem_body_apply_impulse(rig.body, rig.box.node_count - 1, (FemVec3){0.0f, 2.0f, 0.0f});
	fem_world_step(rig.world, DT, 1);
	FemStatistics first, later;
	fem_world_get_statistics(rig.world, &first);
	FEM_CHECK(first.live_tets > 0 && first.live_tets < rig.box.tet_count / 2);
	for (int n = 0; n < 10; n++)
		fem_world_step(rig.world, DT, 1);
	fem_world_get_statistics(rig.world, &later);
	FEM_CHECK(later.live_tets > first.live_tets);
	fem_rig_destroy(&rig);
}

// Fails when sleepers cost time by their number: nothing of them is computed.
FEM_TEST(sleep, sleepers_do_not_change) {
	FemRigDef def = fem_rig_cube_def(3, 0.3f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.sleeping_enabled = true;
	def.body.starts_asleep = true;
	FemRig rig = fem_rig_create(&def);
	fem_world_step(rig.world, DT, 1);
	FemStatistics statistics;
	for (int n = 0; n < 50; n++)
		fem_world_step(rig.world, DT, 1);
	fem_rig_read(&rig);
	FEM_CHECK(fem_body_is_asleep(rig.body));
	fem_world_get_statistics(rig.world, &statistics);
	FEM_CHECK_INT(statistics.live_nodes, 0);
	FEM_CHECK_NEAR(fem_rig_displacement(&rig, 0).y, 0.0, 0.0);
	fem_world_set_sleeping(rig.world, false);
	fem_world_step(rig.world, DT, 1);
	FEM_CHECK(!fem_body_is_asleep(rig.body));
	fem_rig_destroy(&rig);
}
