// Nodes and bodies that do not follow forces, bodies of several materials, and materials that change.
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

// Reactions at rest carry the weight. Fails when they lack the pinned nodes' own weight or are impulses, not forces.
FEM_TEST(driving, pins_carry_the_weight) {
	FemRigDef def = fem_rig_bar_def(10, 2, 2, FEM_CELLS_FIVE, 0.3f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.young_modulus = 1e8f;
	FemRig rig = fem_rig_create(&def);
	fem_rig_settle(&rig, 0.25f, 1e-7f, 200, NULL, NULL);
	FemBodyState state;
	fem_body_get_state(rig.body, &state);
	double sum[3] = {0};
	for (int32_t i = 0; i < 9; i++) {
		FemVec3 f;
		FEM_CHECK(fem_body_get_reaction(rig.body, i, &f) == FEM_OK);
		sum[0] += (double)f.x, sum[1] += (double)f.y, sum[2] += (double)f.z;
	}
	double weight = state.mass * 9.81;
	FEM_CHECK_NEAR(state.mass, 10.0, 1e-4);
	FEM_CHECK_NEAR(sum[1] / weight, 1.0, 1e-3);
	FEM_CHECK_NEAR(sum[0] / weight, 0.0, 1e-3);
	FEM_CHECK_NEAR(sum[2] / weight, 0.0, 1e-3);
	fem_rig_destroy(&rig);
}

// Fails when driven nodes are given a large mass instead of being struck from the system.
FEM_TEST(driving, driven_nodes_keep_their_velocity) {
	FemRigDef def = fem_rig_bar_def(10, 2, 2, FEM_CELLS_FIVE, 0.3f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	FemRig rig = fem_rig_create(&def);
	FemVec3 velocity = {0.5f, 0.25f, -0.125f};
	for (int32_t i = 0; i < 9; i++)
		FEM_CHECK(fem_body_drive_node(rig.body, i, velocity) == FEM_OK);
	for (int n = 0; n < 60; n++)
		fem_world_step(rig.world, DT, 1);
	fem_rig_read(&rig);
	for (int32_t i = 0; i < 9; i++) {
		FemVec3 u = fem_rig_displacement(&rig, i), v = rig.velocities[i];
		FEM_CHECK(v.x == velocity.x && v.y == velocity.y && v.z == velocity.z);
		FEM_CHECK_NEAR(u.x, 0.5, 1e-5);
		FEM_CHECK_NEAR(u.y, 0.25, 1e-5);
		FEM_CHECK_NEAR(u.z, -0.125, 1e-5);
	}
	FEM_CHECK(fem_rig_tip_mean_y(&rig) < 0.2); // the rest hangs down from them
	for (int32_t i = 0; i < 9; i++)
		fem_body_release_node(rig.body, i);
	fem_world_step(rig.world, DT, 1);
	fem_rig_read(&rig);
	FEM_CHECK(rig.velocities[0].y != velocity.y);
	fem_rig_destroy(&rig);
}

// Fails when gravity or elastic forces reach a kinematic body.
FEM_TEST(driving, kinematic_body_keeps_its_velocities) {
	FemRigDef def = fem_rig_cube_def(2, 0.2f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.body.linear_velocity = (FemVec3){1.0f, 0.0f, 0.0f};
	FemRig rig = fem_rig_create(&def);
	FEM_CHECK(fem_body_set_kinematic(rig.body, true) == FEM_OK);
	for (int n = 0; n < 60; n++)
		fem_world_step(rig.world, DT, 1);
	fem_rig_read(&rig);
	for (int32_t i = 0; i < rig.box.node_count; i++) {
		FemVec3 u = fem_rig_displacement(&rig, i);
		FEM_CHECK_NEAR(u.x, 1.0, 1e-5);
		FEM_CHECK_NEAR(u.y, 0.0, 1e-6);
	}
	fem_rig_destroy(&rig);
}

// ---- materials

static void pull(FemRig *rig, void *context) {
	fem_rig_load_face(rig, true, (FemVec3){*(const float *)context, 0.0f, 0.0f});
}

// Two halves of unlike stiffness, pulled: strains are as 1 to 10. Fails when a body takes one material for all tets.
FEM_TEST(driving, halves_of_unlike_stiffness) {
	FemRigDef def = fem_rig_bar_def(20, 2, 2, FEM_CELLS_FIVE, 0.0f);
	FemRig rig = fem_rig_create(&def);
	FemMaterialDef stiff = def.material;
	stiff.young_modulus = 1e7f;
	FemMaterialId second = fem_material_create(rig.world, &stiff);
	for (int32_t t = 0; t < rig.box.tet_count / 2; t++)
		FEM_CHECK(fem_body_set_tet_material(rig.body, t, second) == FEM_OK);
	float force = 10.0f; // 1e3 Pa
	fem_rig_settle(&rig, 0.25f, 1e-8f, 100, pull, &force);
	FemTetState inner, outer;
	fem_body_get_tet_state(rig.body, rig.box.tet_count / 4, &inner);
	fem_body_get_tet_state(rig.body, rig.box.tet_count * 3 / 4, &outer);
	FEM_CHECK_NEAR(inner.strain[0], 1e-4, 2e-6);
	FEM_CHECK_NEAR(outer.strain[0], 1e-3, 2e-6);
	FEM_CHECK(inner.material.index1 == second.index1);
	FEM_CHECK(fem_material_destroy(second) == FEM_ERROR_IN_USE);
	fem_rig_destroy(&rig);
}

// Fails when a new modulus or density takes effect only for new bodies.
FEM_TEST(driving, material_changes_at_run_time) {
	FemRigDef def = fem_rig_bar_def(20, 2, 2, FEM_CELLS_FIVE, 0.0f);
	FemRig rig = fem_rig_create(&def);
	float force = 10.0f; // 1e3 Pa
	fem_rig_settle(&rig, 0.25f, 1e-8f, 100, pull, &force);
	FEM_CHECK_NEAR(fem_rig_displacement(&rig, rig.box.node_count - 1).x, 1e-3, 2e-6);
	def.material.young_modulus = 4e6f;
	def.material.density = 2500.0f;
	FEM_CHECK(fem_material_set(rig.material, &def.material) == FEM_OK);
	fem_rig_settle(&rig, 0.25f, 1e-8f, 100, pull, &force);
	FEM_CHECK_NEAR(fem_rig_displacement(&rig, rig.box.node_count - 1).x, 2.5e-4, 2e-6);
	FemBodyState state;
	fem_body_get_state(rig.body, &state);
	FEM_CHECK_NEAR(state.mass, 25.0, 1e-3);
	fem_rig_destroy(&rig);
}
