// Height field colliders: bodies rest on them as on boxes, follow their slopes, and bad input is refused.
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define SIDE 21 // points
#define DT (1.0f / 60.0f)

typedef float HeightAt(float x, float z);

static float flat(float x, float z) {
	(void)x, (void)z;
	return 0.0f;
}

// A channel along z, 0.4 m deep at x = 2 m.
static float valley(float x, float z) {
	(void)z;
	return 0.2f * fabsf(x);
}

static FemColliderId add_field(FemWorldId world, HeightAt *height, FemColliderDef def) {
	float heights[SIDE * SIDE];
	def.shape.type = FEM_SHAPE_HEIGHT_FIELD;
	def.shape.width = def.shape.depth = SIDE;
	def.shape.cell_size = 0.25f;
	def.shape.thickness = 0.5f;
	def.shape.heights = heights;
	for (int k = 0; k < SIDE; k++) {
		for (int i = 0; i < SIDE; i++)
			heights[k * SIDE + i] = height(0.25f * (float)(i - SIDE / 2), 0.25f * (float)(k - SIDE / 2));
	}
	return fem_collider_create(world, &def);
}

static FemRigDef cube_def(FemPosition position) {
	FemRigDef def = fem_rig_cube_def(2, 0.3f);
	def.world.gravity.y = -9.81f;
	def.material.young_modulus = 1e7f;
	def.material.stiffness_damping = 0.001f;
	def.body.position = position;
	return def;
}

static double lowest(FemRig *rig) {
	FemPosition low, high;
	fem_body_get_bounds(rig->body, &low, &high);
	return low.y;
}

static FemPosition centre(const FemRig *rig) {
	FemBodyState state;
	fem_body_get_state(rig->body, &state);
	return state.center;
}

FEM_TEST(height_field, flat_field_bears_like_a_box) {
	double rest[2];
	for (int field = 0; field < 2; field++) {
		FemRigDef def = cube_def((FemPosition){0.07, 0.05, 0.11});
		FemRig rig = fem_rig_create(&def);
		FemColliderDef box = fem_default_collider_def();
		box.shape.half_extents = (FemVec3){3.0f, 0.25f, 3.0f};
		box.position.y = -0.25;
		if (field)
			add_field(rig.world, flat, fem_default_collider_def());
		else
			fem_collider_create(rig.world, &box);
		for (int i = 0; i < 240; i++)
			fem_world_step(rig.world, DT, 1);
		rest[field] = lowest(&rig);
		FEM_CHECK(fem_rig_fastest(&rig) < 1e-3);
		fem_rig_destroy(&rig);
	}
	FEM_CHECK(rest[0] > -1.5e-3 && rest[0] < 1e-4); // slop and load depth at most
	FEM_CHECK_NEAR(rest[1], rest[0], 1.5e-3);       // tets across two cells rest at the slop of overlaps
}

FEM_TEST(height_field, cube_slides_to_the_bottom_of_a_valley) {
	FemRigDef def = cube_def((FemPosition){1.2, 0.35, -0.15});
	def.material.friction = 0.02f; // 0.1 with the field's 0.5: half the slope
	FemRig rig = fem_rig_create(&def);
	add_field(rig.world, valley, fem_default_collider_def());
	double fastest = 0.0, lowest_seen = 1.0, after = 0.0;
	for (int i = 0; i < 600; i++) {
		fem_world_step(rig.world, DT, 1);
		lowest_seen = fmin(lowest_seen, lowest(&rig));
		fastest = fmax(fastest, fem_rig_fastest(&rig));
		after = fmax(after, i > 480 ? fabs(centre(&rig).x) : 0.0);
	}
	FEM_CHECK(fastest > 0.8); // it went down
	FEM_CHECK(after < 0.2);   // and lies at the bottom, leaning on both sides
	FEM_CHECK(lowest_seen > -0.02);
	FEM_CHECK_NEAR(centre(&rig).z, 0.0, 0.05);
	fem_rig_destroy(&rig);
}

// The same 10 km away and tilted: heights are the field's own, cells near their own origin.
FEM_TEST(height_field, moved_and_rotated_field) {
	const double angle = 0.1;
	FemColliderDef field = fem_default_collider_def();
	field.position = (FemPosition){10000.0, 20.0, -5000.0};
	field.rotation = (FemQuat){0.0f, 0.0f, (float)sin(angle / 2.0), (float)cos(angle / 2.0)};
	FemRigDef def = cube_def((FemPosition){10000.0, 20.05, -5000.0});
	def.body.rotation = field.rotation;
	FemRig rig = fem_rig_create(&def);
	add_field(rig.world, flat, field);
	for (int i = 0; i < 240; i++)
		fem_world_step(rig.world, DT, 1);
	FemPosition c = centre(&rig);
	double height = -sin(angle) * (c.x - 10000.0) + cos(angle) * (c.y - 20.0);
	FEM_CHECK_NEAR(height, 0.15 - 1e-3, 1e-3);
	FEM_CHECK(fem_rig_fastest(&rig) < 2e-3);
	fem_rig_destroy(&rig);
}

FEM_TEST(height_field, beside_the_field_there_is_nothing) {
	FemRigDef def = cube_def((FemPosition){3.0, 0.1, 0.0});
	FemRig rig = fem_rig_create(&def);
	add_field(rig.world, flat, fem_default_collider_def());
	for (int i = 0; i < 60; i++)
		fem_world_step(rig.world, DT, 1);
	FEM_CHECK(lowest(&rig) < -3.0);
	fem_rig_destroy(&rig);
}

static bool is_refused(FemWorldId world, FemShapeDef shape) {
	FemColliderDef def = fem_default_collider_def();
	def.shape = shape;
	return fem_collider_create(world, &def).index1 == 0 && fem_last_error()[0] != '\0';
}

FEM_TEST(height_field, bad_input_is_refused) {
	int64_t bytes = fem_memory_bytes();
	FemWorldDef world_def = fem_default_world_def();
	FemWorldId world = fem_world_create(&world_def);
	float heights[4] = {0.0f, 0.0f, 0.0f, 0.0f};
	FemShapeDef good = fem_default_collider_def().shape;
	good.type = FEM_SHAPE_HEIGHT_FIELD;
	good.heights = heights;
	good.width = good.depth = 2;
	FemShapeDef bad = good;
	FEM_CHECK(!is_refused(world, good));
	bad.heights = NULL;
	FEM_CHECK(is_refused(world, bad));
	bad = good, bad.width = 1;
	FEM_CHECK(is_refused(world, bad));
	bad = good, bad.depth = -4;
	FEM_CHECK(is_refused(world, bad));
	bad = good, bad.width = bad.depth = INT32_MAX;
	FEM_CHECK(is_refused(world, bad));
	bad = good, bad.cell_size = NAN;
	FEM_CHECK(is_refused(world, bad));
	bad = good, bad.cell_size = 1e5f;
	FEM_CHECK(is_refused(world, bad));
	bad = good, bad.thickness = 0.0f;
	FEM_CHECK(is_refused(world, bad));
	heights[3] = INFINITY;
	FEM_CHECK(is_refused(world, good));
	fem_world_destroy(world);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
}
