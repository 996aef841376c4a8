// The scenes of the benchmark, run until they sleep.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

typedef struct Run {
	const FemScene *scene;
	FemWorldId world;
	FemSceneBodies bodies;
} Run;

static Run start(const char *name) {
	Run run = {.scene = fem_scene_find(name)};
	FemWorldDef def = fem_scene_world_def(run.scene, 2);
	def.sleeping_enabled = true;
	run.world = fem_world_create(&def);
	run.bodies = fem_scene_build(run.scene, run.world);
	FEM_CHECK_INT(run.bodies.count, run.scene->body_count);
	return run;
}

static void end(Run *run) {
	FEM_CHECK_INT(fem_world_validate(run->world), FEM_OK);
	fem_scene_bodies_free(&run->bodies);
	fem_world_destroy(run->world);
}

static int32_t asleep(const Run *run) {
	int32_t count = 0;
	for (int32_t b = 0; b < run->bodies.count; b++)
		count += fem_body_is_asleep(run->bodies.ids[b]);
	return count;
}

static int32_t steps_until_asleep(const Run *run, int32_t limit) {
	int32_t steps = 0;
	for (; steps < limit && asleep(run) < run->bodies.count; steps++)
		fem_world_step(run->world, run->scene->dt, 1);
	return steps;
}

// Fails when some piece rattles on, sinks into the floor, or when a heap that sleeps still costs something.
FEM_TEST(contact_scenes, rubble_comes_to_rest) {
	if (!fem_long_tests())
		return;
	Run run = start("rubble500");
	int32_t steps = steps_until_asleep(&run, 600);
	FEM_CHECK_INT(asleep(&run), run.bodies.count);
	fem_test_check(steps < 480, __FILE__, __LINE__, "asleep after %g s", steps / 60.0);
	double low = INFINITY, wide = 0.0;
	for (int32_t b = 0; b < run.bodies.count; b++) {
		FemPosition c = fem_center(run.bodies.ids[b]);
		low = fmin(low, fem_low(run.bodies.ids[b]));
		wide = fmax(wide, fmax(fabs(c.x - 1.6), fabs(c.z - 1.6)));
	}
	FEM_CHECK_NEAR(low, 0.0, 3e-3);
	FEM_CHECK(wide < 4.0); // nothing was thrown out
	fem_world_step(run.world, run.scene->dt, 1);
	FemStatistics statistics;
	fem_world_get_statistics(run.world, &statistics);
	FEM_CHECK_INT(statistics.live_tets, 0);
	FEM_CHECK_INT(statistics.contact_pairs, 0);
	end(&run);
}

// Distance of the nearest node from the spool's axis, and how often the rope goes round it.
static void measure_winding(FemBodyId rope, double *out_nearest, double *out_revolutions) {
	double nearest = INFINITY, angle_sum = 0.0, before = 0.0;
	FemVec3 offsets[404];
	FemPosition origin;
	FEM_CHECK_INT(fem_body_get_positions(rope, &origin, offsets, 404), 404);
	for (int32_t ring = 0; ring <= 100; ring++) {
		FemPosition middle = {0};
		for (int32_t n = 0; n < 4; n++) {
			FemVec3 offset = offsets[4 * ring + n];
			FemPosition p = {origin.x + (double)offset.x, origin.y + (double)offset.y, 0.0};
			nearest = fmin(nearest, hypot(p.x, p.y - 5.0));
			middle = (FemPosition){middle.x + 0.25 * p.x, middle.y + 0.25 * p.y, 0.0};
		}
		double angle = atan2(middle.y - 5.0, middle.x), radius = hypot(middle.x, middle.y - 5.0);
		if (ring > 0 && radius < 0.32)
			angle_sum += remainder(before - angle, 2.0 * 3.14159265358979);
		before = angle;
	}
	*out_nearest = nearest;
	*out_revolutions = angle_sum / (2.0 * 3.14159265358979);
}

// Wound up by 10 rad, then the spool stops. Air damps the swinging of the free end.
FEM_TEST(contact_scenes, rope_is_wound_and_comes_to_rest) {
	Run run = start("rope");
	FemWorld *world = fem_world_find(run.world);
	FemMaterialDef material = world->materials[0].def;
	material.mass_damping = 1.0f;
	FEM_CHECK_INT(fem_material_set(fem_material_id(world, 0), &material), FEM_OK);
	for (int32_t n = 0; n < 300; n++) {
		run.scene->drive(&run.bodies, n, run.scene->dt);
		fem_world_step(run.world, run.scene->dt, 1);
	}
	for (int32_t n = 0; n < 4; n++)
		fem_body_drive_node(run.bodies.ids[0], n, (FemVec3){0.0f, 0.0f, 0.0f});
	const FemCollider *spool = &world->colliders[0];
	FEM_CHECK_INT(fem_collider_set_motion(fem_collider_id(world, 0), spool->position, spool->rotation,
					  (FemVec3){0.0f, 0.0f, 0.0f}, (FemVec3){0.0f, 0.0f, 0.0f}),
		FEM_OK);
	int32_t steps = steps_until_asleep(&run, 1800);
	FEM_CHECK_INT(asleep(&run), 1);
	fem_test_check(steps < 1200, __FILE__, __LINE__, "asleep after %g s", steps / 60.0);
	double nearest, revolutions;
	measure_winding(run.bodies.ids[0], &nearest, &revolutions);
	FEM_CHECK_NEAR(nearest, 0.2, 5e-3);                  // it lies on the spool, not in it
	FEM_CHECK_NEAR(revolutions, 10.0 / 6.2831853, 0.25); // and a quarter more or less where it leaves it
	end(&run);
}
