// The same bits whatever the number of workers and the width of the kernels.
#include "fem_test.h"
#include "scenes/rig.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <unistd.h>
#endif

#define DT (1.0f / 60.0f)
#define CUBES 6

// A large island (a plastic bar hung up at one end), small ones that fall on the ground, sleep there and are woken.
typedef struct Scene {
	FemWorldId world;
	FemBodyId bar, cubes[CUBES];
} Scene;

static FemBodyId add_box(
	FemWorldId world, FemMaterialId material, const FemBoxMesh *box, FemPosition place, int32_t pins) {
	int32_t pinned[64];
	for (int32_t i = 0; i < pins; i++)
		pinned[i] = i;
	FemMeshDef mesh = fem_box_mesh_def(box);
	FemBodyDef body = fem_default_body_def();
	body.mesh = fem_mesh_create(world, &mesh);
	body.materials = &material;
	body.material_count = 1;
	body.position = place;
	body.pinned_nodes = pins ? pinned : NULL;
	body.pinned_count = pins;
	return fem_body_create(world, &body);
}

static Scene make_scene(int32_t workers) {
	FemWorldDef def = fem_default_world_def();
	def.worker_count = workers;
	def.ground_enabled = true;
	Scene scene = {.world = fem_world_create(&def)};
	FemMaterialDef soft = fem_default_material_def(), stiff = fem_default_material_def();
	soft.yield_strain = 0.05f;
	soft.max_plastic_strain = 0.2f;
	stiff.young_modulus = 1e7f;
	stiff.stiffness_damping = 0.002f;
	FemMaterialId bar_material = fem_material_create(scene.world, &soft);
	FemMaterialId cube_material = fem_material_create(scene.world, &stiff);
	FemBoxMesh bar = fem_box_mesh(12, 3, 3, (FemVec3){1.2f, 0.3f, 0.3f}, FEM_CELLS_FIVE);
	FemBoxMesh cube = fem_box_mesh(2, 2, 2, (FemVec3){0.2f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	scene.bar = add_box(scene.world, bar_material, &bar, (FemPosition){0.0, 3.0, 0.0}, 16);
	for (int i = 0; i < CUBES; i++)
		scene.cubes[i] =
			add_box(scene.world, cube_material, &cube, (FemPosition){3.0 + 0.5 * i, 0.02 + 0.1 * i, 0.0}, 0);
	fem_box_mesh_free(&bar);
	fem_box_mesh_free(&cube);
	return scene;
}

static void disturb(const Scene *scene, int step) {
	if (step % 100 == 50)
		fem_body_apply_impulse(scene->cubes[step / 100 % CUBES], 4, (FemVec3){0.1f, 1.0f, 0.2f});
	if (step % 300 == 150)
		fem_body_apply_force(scene->bar, 200, (FemVec3){0.0f, 200.0f, 50.0f});
}

#define STEPS 2000

static uint64_t run_scene(int32_t workers, uint64_t *hashes, int steps, int *out_slept, int *out_woke) {
	Scene scene = make_scene(workers);
	for (int n = 0; n < steps; n++) {
		disturb(&scene, n);
		fem_world_step(scene.world, DT, 1);
		hashes[n] = fem_world_hash(scene.world);
		const FemEvent *events;
		int32_t count = fem_world_get_events(scene.world, &events);
		for (int32_t i = 0; i < count; i++) {
			*out_slept += events[i].type == FEM_EVENT_SLEPT;
			*out_woke += events[i].type == FEM_EVENT_WOKE;
			hashes[n] =
				hashes[n] * 31 + (uint64_t)events[i].type * 1000 + (uint64_t)events[i].body.index1; // order counts
		}
	}
	fem_world_destroy(scene.world);
	return hashes[steps - 1];
}

// Fails when any sum is taken in the order in which threads arrive, or a decision is made by time.
FEM_TEST(determinism, same_hash_for_any_worker_count) {
	static uint64_t expected[STEPS], actual[STEPS];
	static const int32_t workers[] = {2, 3, 4, 8};
	int slept = 0, woke = 0;
	run_scene(1, expected, STEPS, &slept, &woke);
	FEM_CHECK(slept >= CUBES && woke >= CUBES); // the scene does what it is for
	for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
		run_scene(workers[w], actual, STEPS, &slept, &woke);
		int first = 0;
		while (first < STEPS && actual[first] == expected[first])
			first++;
		fem_test_check(first == STEPS, __FILE__, __LINE__, "%d workers differ from 1 at step %d", workers[w], first);
	}
}

// Fails when the worker count may not change between steps without a trace.
FEM_TEST(determinism, worker_count_may_change_while_running) {
	static uint64_t expected[200];
	int slept = 0, woke = 0;
	run_scene(1, expected, 200, &slept, &woke);
	Scene scene = make_scene(1);
	for (int n = 0; n < 150; n++) {
		if (n % 10 == 0)
			fem_world_set_worker_count(scene.world, 1 + n / 10 % 4);
		disturb(&scene, n);
		fem_world_step(scene.world, DT, 1);
	}
	uint64_t hash = fem_world_hash(scene.world);
	const FemEvent *events;
	for (int32_t i = 0, count = fem_world_get_events(scene.world, &events); i < count; i++)
		hash = hash * 31 + (uint64_t)events[i].type * 1000 + (uint64_t)events[i].body.index1;
	FEM_CHECK(hash == expected[149]);
	fem_world_destroy(scene.world);
}

// The step's memory before each step holds `byte`s.
static uint64_t run_on_filled_memory(const char *name, FemFrictionMode friction, int byte, int32_t steps) {
	const FemScene *scene = fem_scene_find(name);
	FemWorldDef def = fem_scene_world_def(scene, 2);
	def.friction_mode = friction;
	FemWorldId world = fem_world_create(&def);
	FemSceneBodies bodies = fem_scene_build(scene, world);
	for (int32_t n = 0; n < steps; n++) {
		FemArena *arena = &fem_world_find(world)->arena;
		if (arena->block) // there is none before the first step
			memset(arena->block, byte, arena->capacity);
		if (scene->drive)
			scene->drive(&bodies, n, scene->dt);
		fem_world_step(world, scene->dt, 1);
	}
	uint64_t hash = fem_world_hash(world);
	fem_scene_bodies_free(&bodies);
	fem_world_destroy(world);
	return hash;
}

// Fails when a step reads what the last one left in its memory. No sanitizer sees that: the memory was written once.
FEM_TEST(determinism, step_memory_may_hold_anything) {
	static const struct {
		const char *scene;
		int32_t steps;
	} runs[] = {{"pile27", 40}, {"stack", 60}, {"rope", 60}, {"rubble500", 20}};
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		for (int friction = FEM_FRICTION_COULOMB; friction <= FEM_FRICTION_PAPER; friction++) {
			uint64_t zeros = run_on_filled_memory(runs[i].scene, (FemFrictionMode)friction, 0, runs[i].steps);
			uint64_t nans = run_on_filled_memory(runs[i].scene, (FemFrictionMode)friction, 0xFF, runs[i].steps);
			fem_test_check(zeros == nans, __FILE__, __LINE__, "%s, friction %d", runs[i].scene, friction);
		}
	}
}

#if defined(__linux__)

// In processes of their own: FEM_SIMD is read once a process.
FEM_TEST_CHILD(print_hash) {
	static uint64_t hashes[300];
	int slept = 0, woke = 0;
	printf("HASH %s %016llx\n", fem_simd_name(), (unsigned long long)run_scene(2, hashes, 300, &slept, &woke));
}

static bool child_hash(const char *level, char *out_level, char *out_hash) {
	char command[512], line[256];
	snprintf(command, sizeof command, "FEM_TEST_CHILD=1 FEM_SIMD=%s /proc/%d/exe", level, (int)getpid());
	FILE *pipe = popen(command, "r");
	bool found = false;
	while (pipe && fgets(line, sizeof line, pipe))
		found |= sscanf(line, "HASH %15s %31s", out_level, out_hash) == 2;
	if (pipe)
		pclose(pipe);
	return found;
}

// Fails when a kernel of one width rounds otherwise than another anywhere in the step.
FEM_TEST(determinism, same_hash_for_any_simd_level) {
	static const char *levels[] = {"scalar", "sse2", "avx2"};
	char hash[3][32], name[16];
	for (int i = 0; i < 3; i++) {
		FEM_REQUIRE(child_hash(levels[i], name, hash[i]));
		if (strcmp(name, levels[i]) != 0)
			printf("  %s is not to be had here: %s instead\n", levels[i], name);
		fem_test_check(
			strcmp(hash[i], hash[0]) == 0, __FILE__, __LINE__, "%s gives %s, scalar %s", levels[i], hash[i], hash[0]);
	}
}

#endif
