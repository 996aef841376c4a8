// A system that gives no memory now and then: steps say so, lose nothing and go on.
#include "contact_rig.h"
#include "fem_hooks.h"
#include "fem_test.h"
#include "scenes/scenes.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

typedef struct Scarce {
	int64_t asked, given_until; // from this request on there is none,
	int64_t none_for;           // for so many
} Scarce;

static void *scarce_allocate(void *user, size_t bytes, size_t alignment) {
	Scarce *scarce = user;
	int64_t number = scarce->asked++;
	if (number >= scarce->given_until && number < scarce->given_until + scarce->none_for)
		return NULL;
	return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void scarce_release(void *user, void *pointer, size_t bytes, size_t alignment) {
	(void)user, (void)bytes, (void)alignment;
	free(pointer);
}

// Steps a scene that breaks; from the given request on the system gives nothing for a while. Returns whether a step
// said so.
static bool run_scarce(const char *name, Scarce *scarce, int64_t after, int64_t none_for, int32_t steps) {
	const FemScene *scene = fem_scene_find(name);
	FemWorldDef def = fem_scene_world_def(scene, 1);
	scarce->given_until = INT64_MAX;
	FemWorldId world = fem_world_create(&def);
	FemSceneBodies bodies = fem_scene_build(scene, world);
	uint32_t errors = 0;
	scarce->given_until = scarce->asked + after;
	scarce->none_for = none_for;
	for (int32_t n = 0; n < steps; n++) {
		if (scene->drive)
			scene->drive(&bodies, n, DT);
		errors |= fem_world_step(world, DT, 1);
	}
	scarce->given_until = INT64_MAX;
	fem_world_step(world, DT, 1);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_scene_bodies_free(&bodies);
	FEM_CHECK_INT(fem_world_destroy(world), FEM_OK);
	return errors & FEM_STEP_NO_MEMORY;
}

// Fails (mostly by crashing) when a step takes for granted that the system gives what it is asked for.
FEM_TEST(no_memory, steps_go_on) {
	static const char *names[] = {"wall", "bowls4", "stack"};
	Scarce scarce = {.given_until = INT64_MAX};
	FemAllocator allocator = {scarce_allocate, scarce_release, &scarce};
	FEM_REQUIRE(fem_set_allocator(&allocator) == FEM_OK);
	int32_t said = 0, runs = 0;
	for (int i = 0; i < 3; i++) {
		for (int64_t after = 0; after < 400; after += fem_long_tests() ? 1 : 23, runs++)
			said += run_scarce(names[i], &scarce, after, 1 + after % 40, 30);
	}
	printf("  %d of %d runs were told\n", said, runs);
	FEM_CHECK(said > 0);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_OK);
}
