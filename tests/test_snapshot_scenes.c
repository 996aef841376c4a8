// Every contact and fracture scene of the benchmark, and things that fly far, saved and restored after every step: what
// is restored goes on bit for bit as if nothing had happened.
#include "base/timing.h"
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"
#include "scenes/scenes.h"

#include <stdlib.h>

#define LIFE \
	8 // steps that every LIFE-th copy is followed, the others one: some differences take more than a step to be seen

typedef struct Run {
	const FemScene *scene;
	FemWorldId world;
	FemSceneBodies bodies;
} Run;

static void end(Run *run) {
	fem_scene_bodies_free(&run->bodies);
	fem_world_destroy(run->world);
	*run = (Run){0};
}

// The scene's own notes of its balls are copied, too.
static Run restore(const Run *run, int32_t workers) {
	Run copy = {.scene = run->scene};
	size_t size = fem_world_save(run->world, NULL, 0),
		   ball_bytes = sizeof(FemSceneBall) * (size_t)run->bodies.ball_count;
	void *data = malloc(size);
	copy.bodies.ids = malloc(sizeof(FemBodyId) * (size_t)run->bodies.count);
	copy.bodies.balls = ball_bytes ? malloc(ball_bytes) : NULL;
	if (!data || !copy.bodies.ids || (ball_bytes && !copy.bodies.balls)) {
		FEM_CHECK(false);
		exit(2);
	}
	FEM_CHECK_INT(fem_world_save(run->world, data, size), size);
	copy.world = fem_world_restore(data, size, workers);
	free(data);
	fem_test_check(fem_world_is_valid(copy.world), __FILE__, __LINE__, "not restored: %s", fem_last_error());
	for (int32_t b = 0; b < run->bodies.count; b++)
		copy.bodies.ids[b] = fem_body_in_world(run->bodies.ids[b], copy.world);
	for (int32_t b = 0; b < run->bodies.ball_count; b++) {
		copy.bodies.balls[b] = run->bodies.balls[b];
		copy.bodies.balls[b].id = fem_collider_in_world(run->bodies.balls[b].id, copy.world);
	}
	copy.bodies.count = run->bodies.count;
	copy.bodies.ball_count = run->bodies.ball_count;
	return copy;
}

static uint32_t advance(const Run *run, int32_t step, int32_t substeps) {
	if (run->scene->drive)
		run->scene->drive(&run->bodies, step, run->scene->dt);
	return fem_world_step(run->world, run->scene->dt, substeps);
}

static bool goes_on_as(
	const Run *copy, const Run *run, uint32_t errors, int32_t step, int32_t saved, int32_t substeps) {
	FEM_CHECK_INT(advance(copy, step, substeps), errors);
	return fem_test_check(fem_world_hash(copy->world) == fem_world_hash(run->world), __FILE__, __LINE__,
		"%s: saved after %d steps, another state after %d", run->scene->name, saved, step + 1);
}

// One copy is made after every step and one of LIFE of these is kept.
static void follow(Run *run, int32_t first, int32_t steps, int32_t substeps) {
	double began = fem_time_ms();
	Run kept = {0};
	int32_t kept_since = 0;
	for (int32_t step = 0; step < first; step++)
		advance(run, step, substeps);
	for (int32_t step = first; step < first + steps; step++) {
		Run copy = restore(run, 1 + step % 2);
		FEM_CHECK(fem_world_hash(copy.world) == fem_world_hash(run->world));
		uint32_t errors = advance(run, step, substeps);
		bool same = goes_on_as(&copy, run, errors, step, step, substeps);
		if (kept.scene && same)
			same = goes_on_as(&kept, run, errors, step, kept_since, substeps);
		if (step % LIFE == 0 || !same) {
			if (kept.scene)
				end(&kept);
			kept = copy;
			kept_since = step;
		} else {
			end(&copy);
		}
	}
	if (kept.scene)
		end(&kept);
	if (fem_long_tests())
		printf("  %s, %d steps: %.1f s\n", run->scene->name, steps, 1e-3 * (fem_time_ms() - began));
}

static void follow_scene(const char *name, int32_t first, int32_t steps) {
	Run run = {.scene = fem_scene_find(name)};
	FemWorldDef def = fem_scene_world_def(run.scene, 2);
	def.sleeping_enabled = true;
	run.world = fem_world_create(&def);
	run.bodies = fem_scene_build(run.scene, run.world);
	FEM_CHECK_INT(run.bodies.count, run.scene->body_count);
	follow(&run, fem_long_tests() ? 0 : first, fem_long_tests() ? first + steps + 60 : steps, 1);
	end(&run);
}

// ---- scenes

FEM_TEST(snapshot_scenes, contact_goes_on_bitwise_after_every_step) {
	follow_scene("pile27", 30, 6);
	follow_scene("stack", 0, 60);
	follow_scene("rope", 20, 10);
	follow_scene("rubble500", 40, 2);
}

FEM_TEST(snapshot_scenes, fracture_goes_on_bitwise_after_every_step) {
	follow_scene("glass2400", 9, 6);
	follow_scene("wall", 2, 8);
	follow_scene("slab", 0, 4);
	follow_scene("pole", 56, 9);
	follow_scene("bowls4", 29, 11);
	follow_scene("panel", 8, 8);
	follow_scene("ductile", 2, 8);
	if (!fem_long_tests())
		return;
	follow_scene("bowls1", 30, 60);
	follow_scene("bowls2", 30, 60);
	follow_scene("bowls3", 30, 60);
}

// ---- far flights

// Two cubes that fly at 60 m/s, one behind the other, and one that is moved like an animation: their origins follow
// every 16 m, a quarter of a second. A sleeper waits in their way.
static FemSceneBodies build_flight(const FemScene *scene, FemWorldId world) {
	static const FemPosition places[4] = {{0.0, 3.0, 0.0}, {-1.6, 3.1, 0.2}, {0.0, 9.0, 0.0}, {24.0, 3.0, 0.0}};
	static const float speeds[4] = {60.0f, 62.0f, 0.0f, 0.0f};
	FemSceneBodies bodies = {.ids = malloc(4 * sizeof(FemBodyId)), .count = 4};
	FemBoxMesh box = fem_box_mesh(2, 2, 2, scene->size, FEM_CELLS_KUHN);
	FemMeshDef mesh_def = fem_box_mesh_def(&box);
	FemMaterialDef material_def = fem_default_material_def();
	FemBodyDef def = fem_default_body_def();
	material_def.young_modulus = scene->young_modulus;
	FemMaterialId material = fem_material_create(world, &material_def);
	def.mesh = fem_mesh_create(world, &mesh_def);
	def.materials = &material;
	def.material_count = 1;
	for (int b = 0; b < 4; b++) {
		def.position = places[b];
		def.linear_velocity = (FemVec3){speeds[b], 0.0f, 0.5f * speeds[b]};
		def.angular_velocity = (FemVec3){0.0f, b < 2 ? 3.0f : 0.0f, 1.0f};
		def.starts_asleep = b == 3;
		bodies.ids[b] = fem_body_create(world, &def);
		FEM_CHECK(fem_body_is_valid(bodies.ids[b]));
	}
	fem_box_mesh_free(&box);
	return bodies;
}

static void drive_flight(const FemSceneBodies *bodies, int32_t step, float dt) {
	(void)dt;
	FEM_CHECK_INT(fem_body_set_kinematic(bodies->ids[2], true), FEM_OK);
	for (int32_t n = 0; step == 0 && n < fem_body_get_node_count(bodies->ids[2]); n++)
		FEM_CHECK_INT(fem_body_set_velocity(bodies->ids[2], n, (FemVec3){-70.0f, 1.0f, 3.0f}), FEM_OK);
}

static const FemScene flight = {.name = "flight",
	.build = build_flight,
	.drive = drive_flight,
	.size = {1.0f, 1.0f, 1.0f},
	.young_modulus = 1e6f,
	.gravity = {0.0f, -9.81f, 0.0f},
	.body_count = 4,
	.has_ground = true,
	.dt = 1.0f / 60.0f};

FEM_TEST(snapshot_scenes, what_flies_far_goes_on_bitwise_after_every_step) {
	for (int32_t substeps = 1; substeps <= 3; substeps += 2) {
		Run run = {.scene = &flight};
		FemWorldDef def = fem_scene_world_def(&flight, 1);
		def.sleeping_enabled = true;
		run.world = fem_world_create(&def);
		run.bodies = build_flight(&flight, run.world);
		follow(&run, 0, 60, substeps);
		end(&run);
	}
}
