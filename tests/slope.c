#include "slope.h"

#include "scenes/box_mesh.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

#define STEP (1.0f / 60.0f)

static FemPosition rotated(double angle, double x, double y, double z) {
	return (FemPosition){cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y, z};
}

static void add_plank(FemWorldId world, const FemSlope *slope, double angle) {
	FemColliderDef def = fem_default_collider_def();
	def.rotation = (FemQuat){0.0f, 0.0f, (float)sin(angle / 2.0), (float)cos(angle / 2.0)};
	def.friction = slope->friction;
	def.shape.type = slope->half_space ? FEM_SHAPE_HALF_SPACE : FEM_SHAPE_BOX;
	def.shape.half_extents = (FemVec3){50.0f, 0.5f, 5.0f};
	if (!slope->half_space)
		def.position = rotated(angle, 0.0, -0.5, 0.0);
	fem_collider_create(world, &def);
}

static FemBodyId add_box(FemWorldId world, const FemSlope *slope, double angle) {
	FemVec3 size = {slope->size, slope->size, slope->size};
	FemBoxMesh box = fem_box_mesh(slope->cells, slope->cells, slope->cells, size, FEM_CELLS_FIVE);
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemMaterialDef material = fem_default_material_def();
	material.density = slope->density;
	material.young_modulus = slope->young_modulus;
	material.friction = slope->friction;
	FemMaterialId materials[1] = {fem_material_create(world, &material)};
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = materials;
	def.material_count = 1;
	def.position = rotated(angle, -0.5 * (double)slope->size, 0.0, -0.5 * (double)slope->size);
	def.rotation = (FemQuat){0.0f, 0.0f, (float)sin(angle / 2.0), (float)cos(angle / 2.0)};
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&box);
	return body;
}

FemSlopeResult fem_slope_run(const FemSlope *slope, const FemFrictionGains *gains, double seconds) {
	double angle = (double)slope->degrees * 3.14159265358979 / 180.0, start = 0.0, before = 0.0, at_half = 0.0,
		   squares = 0.0;
	FemWorldDef def = fem_default_world_def();
	def.sleeping_enabled = false;
	def.friction_mode = slope->paper ? FEM_FRICTION_PAPER : FEM_FRICTION_COULOMB;
	FemWorldId world = fem_world_create(&def);
	FemSlopeResult result = {0};
	if (gains)
		fem_world_find(world)->friction_gains = *gains;
	add_plank(world, slope, angle);
	FemBodyId body = add_box(world, slope, angle);
	int32_t steps = (int32_t)lround(seconds / (double)STEP), counted = 0;
	for (int32_t i = 0; i <= steps; i++) {
		FemBodyState state;
		fem_body_get_state(body, &state);
		double displacement = -cos(angle) * state.center.x - sin(angle) * state.center.y;
		double speed = -cos(angle) * (double)state.linear_velocity.x - sin(angle) * (double)state.linear_velocity.y;
		if (i == 0)
			start = displacement;
		if (i == 60)
			result.late_slip = -displacement;
		if (i == steps / 2)
			at_half = speed;
		if (i > 15) {
			squares += (speed - before) * (speed - before);
			counted++;
		}
		before = speed;
		result.slip = displacement - start;
		if (i == steps) {
			result.late_slip += displacement;
			result.acceleration = (speed - at_half) / ((steps - steps / 2) * (double)STEP);
		} else {
			fem_world_step(world, STEP, 1);
		}
	}
	result.shaking = counted ? sqrt(squares / counted) : 0.0;
	fem_world_destroy(world);
	return result;
}
