// The built-in ground: how fast it pushes out what is below it, and what it knows of the weight that falls on it.
#include "contact_rig.h"
#include "fem_test.h"

#define SIZE 0.3f // m

static FemWorldId world_with_ground(FemVec3 gravity) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = gravity;
	def.ground_enabled = true;
	return fem_world_create(&def);
}

static FemBodyId add_cube(FemWorldId world, double low, float gravity_scale) {
	FemBlock block = fem_block(SIZE, 1);
	block.material.young_modulus = 1e9f;
	block.body.position = (FemPosition){0.0, low, 0.0};
	block.body.gravity_scale = gravity_scale;
	return fem_block_add(world, &block);
}

// Without gravity a cube of depth d goes up by 0.2 d in the first step, less 1 / (1 + 300 / 2): the contact's damping
// is 300 times the mass of the nodes below, which is half of the cube's. Far below it goes at 2 m/s, and no faster.
FEM_TEST(ground, pushes_out_a_fifth_of_the_depth_a_step) {
	static const double depth[] = {0.02, 0.29}, displacement[] = {0.004, 2.0 * (double)CONTACT_DT};
	for (int i = 0; i < 2; i++) {
		FemWorldId world = world_with_ground((FemVec3){0.0f, 0.0f, 0.0f});
		FemBodyId cube = add_cube(world, -depth[i], 1.0f);
		fem_steps(world, 1);
		double moved = fem_center(cube).y - 0.5 * (double)SIZE + depth[i];
		printf("  %.4f m in a step from %.2f m below\n", moved, depth[i]);
		FEM_CHECK_NEAR(moved / (displacement[i] * 150.0 / 151.0), 1.0, 0.005);
		fem_world_destroy(world);
	}
}

// A cube that falls with ten times gravity from 2 cm meets the ground within its first step, in which it would fall
// 2.7 cm; a weightless one 2 mm above it does not. Fails when the fall is foreseen by the world's gravity alone.
FEM_TEST(ground, foresees_the_fall_by_the_weight_of_the_body) {
	FemWorldId world = world_with_ground((FemVec3){0.0f, -9.81f, 0.0f});
	FemBodyId heavy = add_cube(world, 0.02, 10.0f);
	fem_steps(world, 1);
	FEM_CHECK_NEAR(fem_low(heavy), 0.0, 1e-3);
	fem_world_destroy(world);

	world = world_with_ground((FemVec3){0.0f, -9.81f, 0.0f});
	FemBodyId light = add_cube(world, 0.002, 0.0f);
	FemStatistics statistics;
	fem_steps(world, 1);
	fem_world_get_statistics(world, &statistics);
	FEM_CHECK_INT(statistics.ground_contacts, 0);
	FEM_CHECK_NEAR(fem_low(light), 0.002, 1e-6);
	fem_world_destroy(world);
}
