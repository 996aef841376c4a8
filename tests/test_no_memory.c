// A system that gives no memory now and then: steps say so, lose nothing and go on.
#include "base/memory.h"
#include "contact_rig.h"
#include "dynamics/preconditioner.h"
#include "fem_hooks.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	char *block = malloc(bytes + alignment + sizeof block);
	if (!block)
		return NULL;
	uintptr_t first = (uintptr_t)(block + sizeof block), aligned = (first + alignment - 1) / alignment * alignment;
	memcpy((char *)aligned - sizeof block, &block, sizeof block); // where the release finds it
	return (void *)aligned;
}

static void scarce_release(void *user, void *pointer, size_t bytes, size_t alignment) {
	char *block;
	(void)user, (void)bytes, (void)alignment;
	memcpy(&block, (char *)pointer - sizeof block, sizeof block);
	free(block);
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

// Requests of the first step of the slab, in whose passes it breaks, are refused one after the other. Fails when a pass
// that finds no memory leaves what the step computes of a body, or the surface of an earlier pass, behind.
FEM_TEST(no_memory, a_pass_without_any_ends_the_step) {
	Scarce scarce = {.given_until = INT64_MAX};
	FemAllocator allocator = {scarce_allocate, scarce_release, &scarce};
	FEM_REQUIRE(fem_set_allocator(&allocator) == FEM_OK);
	int32_t told = 0;
	for (int64_t after = 0; after < 120; after += fem_long_tests() ? 1 : 3) {
		FemScene scene = *fem_scene_find("slab");
		FemWorldDef def = fem_scene_world_def(&scene, 1);
		scarce.given_until = INT64_MAX;
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(&scene, world);
		const FemBody *body = fem_world_find(world)->bodies[0];
		scarce.given_until = scarce.asked + after;
		scarce.none_for = 1000000;
		told += (fem_world_step(world, DT, 1) & FEM_STEP_NO_MEMORY) != 0;
		scarce.given_until = INT64_MAX;
		FEM_CHECK(!body->step && !body->breaking->surface_is_stale);
		fem_world_step(world, DT, 1); // pieces that found no place in the sweep get it now
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_scene_bodies_free(&bodies);
		FEM_CHECK_INT(fem_world_destroy(world), FEM_OK);
	}
	printf("  told %d times\n", told);
	FEM_CHECK(told > 0);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_OK);
}

// Makes a preconditioner of the bar's mesh; the given request, and it alone, finds no memory. Returns its kind.
static FemPreconditionKind precondition_without_memory(Scarce *scarce, const FemRig *rig, int64_t refused) {
	const FemWorld *world = fem_world_find(rig->world);
	const FemBody *body = world->bodies[0];
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	FemPreconditionerOrders orders = {.node_order = mesh->node_order, .part_order = mesh->part_order};
	FemPreconditioner preconditioner;
	int64_t bytes = fem_memory_bytes();
	scarce->given_until = scarce->asked + refused;
	scarce->none_for = 1;
	fem_preconditioner_create(&preconditioner, body, 0, orders);
	bool was_refused = scarce->asked > scarce->given_until;
	scarce->given_until = INT64_MAX;
	FemPreconditionKind kind = preconditioner.kind;
	FEM_CHECK(kind == FEM_PRECONDITION_FACTOR ? !was_refused : was_refused);
	fem_preconditioner_free(&preconditioner);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
	return kind;
}

// Fails when a factor that is given up for want of memory leaves blocks behind, under those of the two levels that take
// its place.
FEM_TEST(no_memory, a_refused_factor_leaves_no_block) {
	Scarce scarce = {.given_until = INT64_MAX};
	FemAllocator allocator = {scarce_allocate, scarce_release, &scarce};
	FEM_REQUIRE(fem_set_allocator(&allocator) == FEM_OK);
	FemRigDef def = fem_rig_bar_def(40, 2, 2, FEM_CELLS_FIVE, 0.25f);
	FemRig rig = fem_rig_create(&def);
	int32_t refused = 0, two_levels = 0;
	for (; refused < 200; refused++) {
		FemPreconditionKind kind = precondition_without_memory(&scarce, &rig, refused);
		two_levels += kind == FEM_PRECONDITION_TWO_LEVEL;
		if (kind == FEM_PRECONDITION_FACTOR)
			break;
	}
	printf("  refused %d times, %d of them with two levels in its place\n", refused, two_levels);
	FEM_CHECK(refused < 200 && two_levels > 10);
	fem_rig_destroy(&rig);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_OK);
}

// ---- loading a state

// A cube that broke takes on the state of when it was whole; from the given request on the system gives nothing to that
// call. Returns what the call did.
static FemResult load_without_memory(Scarce *scarce, int64_t after) {
	FemRigDef def = fem_rig_cube_def(3, 0.5f);
	def.material.breakable = true;
	def.material.toughness = 100.0f;
	scarce->given_until = INT64_MAX;
	FemRig rig = fem_rig_create(&def);
	char state[4096];
	size_t size = fem_body_save(rig.body, state, sizeof state);
	FEM_CHECK(size > 0 && size <= sizeof state);
	fem_body_apply_explosion(rig.body, (FemPosition){-0.3, -0.3, -0.3}, 3.0f, 1e4f);
	for (int n = 0; n < 5; n++)
		fem_world_step(rig.world, DT, 1);
	int32_t pieces = fem_body_get_pieces(rig.body, NULL, 0);
	FEM_CHECK(pieces > 1);
	scarce->given_until = scarce->asked + after;
	scarce->none_for = INT32_MAX;
	FemResult result = fem_body_load(rig.body, &rig.material, 1, state, size);
	scarce->given_until = INT64_MAX;
	FEM_CHECK(fem_body_is_valid(rig.body));
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, NULL, 0), result == FEM_OK ? 1 : pieces);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	FEM_CHECK_INT(fem_world_step(rig.world, DT, 1) & (FEM_STEP_NO_MEMORY | FEM_STEP_BODY_ROLLED_BACK), 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
	return result;
}

// Fails when a body is lost because there is memory neither for the new state nor to put the old one back.
FEM_TEST(no_memory, a_refused_state_leaves_the_body) {
	Scarce scarce = {.given_until = INT64_MAX};
	FemAllocator allocator = {scarce_allocate, scarce_release, &scarce};
	FEM_REQUIRE(fem_set_allocator(&allocator) == FEM_OK);
	int32_t refused = 0;
	while (refused < 200 && load_without_memory(&scarce, refused) != FEM_OK)
		refused++;
	printf("  refused %d times\n", refused);
	FEM_CHECK(refused > 10 && refused < 200);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_OK);
}

// ---- becoming breakable

// Two cubes of one material in a world; the material becomes one that breaks at a touch. From the given request on the
// system gives nothing to that call. Then the first cube falls hard. Returns its pieces; -1 when the call did not fail.
static int32_t pieces_after_a_refused_change(Scarce *scarce, int64_t after, bool *out_refused) {
	FemRigDef def = fem_rig_cube_def(4, 0.5f);
	def.world.ground_enabled = true;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.body.position = (FemPosition){0.0, 0.3, 0.0};
	def.body.linear_velocity = (FemVec3){0.0f, -12.0f, 0.0f};
	scarce->given_until = INT64_MAX;
	FemRig rig = fem_rig_create(&def);
	FemBodyDef other = def.body;
	other.mesh = rig.mesh;
	other.materials = &rig.material;
	other.material_count = 1;
	other.position.x = 5.0;
	FEM_CHECK(fem_body_create(rig.world, &other).index1 != 0);
	FemMaterialDef brittle;
	FEM_CHECK_INT(fem_material_get(rig.material, &brittle), FEM_OK);
	brittle.breakable = true;
	brittle.toughness = 10.0f;
	scarce->given_until = scarce->asked + after;
	scarce->none_for = 1000;
	FemResult result = fem_material_set(rig.material, &brittle);
	scarce->given_until = INT64_MAX;
	*out_refused = result == FEM_ERROR_MEMORY;
	for (int n = 0; n < 20; n++)
		fem_world_step(rig.world, DT, 1);
	int32_t pieces = fem_body_get_pieces(rig.body, NULL, 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
	return pieces;
}

// Fails when a call that was refused for want of memory leaves some bodies breakable.
FEM_TEST(no_memory, a_refused_material_breaks_nothing) {
	Scarce scarce = {.given_until = INT64_MAX};
	FemAllocator allocator = {scarce_allocate, scarce_release, &scarce};
	FEM_REQUIRE(fem_set_allocator(&allocator) == FEM_OK);
	bool refused = true;
	int32_t calls = 0, pieces = 0;
	for (; refused && calls < 100; calls++) {
		pieces = pieces_after_a_refused_change(&scarce, calls, &refused);
		if (refused)
			FEM_CHECK_INT(pieces, 1);
	}
	printf("  refused %d times, then %d pieces\n", calls - 1, pieces);
	FEM_CHECK(calls > 2 && pieces > 1);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_OK);
}
