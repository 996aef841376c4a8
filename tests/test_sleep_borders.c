// What sleepers hold: Coulomb's limit at the borders of sleeping parts, and the state that a part sleeps with.
#include "contact_rig.h"
#include "fem_test.h"
#include "islands/composites.h"
#include "model/body_step.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <stdlib.h>

#define GRAVITY 9.81f // m/s^2

typedef struct Sleeper {
	FemWorldId id;
	FemBodyId body_id;
	FemWorld *world;
	FemBody *body;
	FemBodyStep step; // what a step would give the body: forces of tets, all 0
} Sleeper;

// A bar of several parts without pins, all asleep but the part at its end.
static Sleeper sleeper_with_live_end(void) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, -GRAVITY, 0.0f};
	Sleeper s = {.id = fem_world_create(&def)};
	FemBlock block = fem_block(1.0f, 3);
	block.cells[0] = 24;
	block.size.x = 8.0f;
	block.body.starts_asleep = true;
	s.body_id = fem_block_add(s.id, &block);
	s.world = fem_world_find(s.id);
	s.body = fem_body_find(s.body_id, NULL);
	const FemTopology *t = s.body->topology;
	s.step.tet_forces = calloc((size_t)t->batch_count * FEM_LANES, sizeof *s.step.tet_forces);
	s.step.part_chunk = calloc((size_t)t->part_count, sizeof *s.step.part_chunk);
	s.step.part_island = calloc((size_t)t->part_count, sizeof *s.step.part_island);
	fem_body_sleep_all(&s.world->islands, s.body);
	fem_body_wake_part(&s.world->islands, s.body, t->part_count - 1);
	FEM_CHECK(fem_islands_update(&s.world->islands, s.world->bodies, 1));
	FEM_CHECK(t->part_count >= 4 && s.world->islands.border_count > 0);
	return s;
}

static void sleeper_end(Sleeper *s) {
	s->body->step = NULL;
	free(s->step.tet_forces);
	free(s->step.part_chunk);
	free(s->step.part_island);
	fem_world_destroy(s->id);
}

// How many parts are live after the border nodes, of weight m g and on the ground or not, were pulled along it with so
// many times their weight.
static int32_t live_after_pull(float times, bool on_ground) {
	Sleeper s = sleeper_with_live_end();
	const FemIslands *islands = &s.world->islands;
	for (int32_t i = 0; i < islands->border_count; i++) {
		int32_t node = islands->borders[i].node;
		float weight = GRAVITY * s.body->mass[node];
		s.body->ground_force[node] = on_ground ? weight : 0.0f;
		// In the air something else bears the weight.
		s.body->force[node] = (FemVec4){0.6f * times * weight, on_ground ? 0.0f : weight, -0.8f * times * weight, 0.0f};
	}
	s.body->step = &s.step;
	FemSleepRules rules = {.wake_force = 0.25f * GRAVITY, .friction = 0.5f};
	FemComposites none = {0};
	fem_islands_sleep_and_wake(&s.world->islands, s.world->bodies, &none, &rules, (FemVec3){0.0f, -GRAVITY, 0.0f});
	int32_t live = s.body->live_part_count;
	sleeper_end(&s);
	return live;
}

// On the ground friction holds up to 0.5 m g, in the air nothing but the threshold of 0.25 m g does. Fails when
// friction holds any pull, or what the user pulls at sleeping nodes is left out.
FEM_TEST(sleep_borders, friction_holds_up_to_its_limit) {
	FEM_CHECK_INT(live_after_pull(0.49f, true), 1);
	FEM_CHECK(live_after_pull(0.51f, true) > 1);
	FEM_CHECK_INT(live_after_pull(0.24f, false), 1);
	FEM_CHECK(live_after_pull(0.26f, false) > 1);
}

// The live end of a bar that else sleeps hangs on what sleeps: its momentum is not its own to keep. Fails when all that
// has no pin counts as free.
FEM_TEST(sleep_borders, live_part_of_a_sleeper_is_not_free) {
	for (int whole = 0; whole < 2; whole++) {
		Sleeper s = sleeper_with_live_end();
		FemIslands *islands = &s.world->islands;
		if (whole)
			fem_body_wake_all(islands, s.body);
		FEM_CHECK(fem_islands_update(islands, s.world->bodies, 1));
		s.body->step = &s.step;
		FemArena arena = {0};
		FemComposites composites;
		FEM_CHECK(fem_arena_begin(&arena, fem_composites_bytes(islands->count, islands->node_chunk_count, 0, 0)));
		if (FEM_CHECK(fem_composites_build(&composites, islands, s.world->bodies, NULL, 0, NULL, 0, &arena))) {
			FEM_CHECK_INT(composites.count, 1);
			FEM_CHECK_INT(composites.composites[0].is_free, whole);
		}
		fem_arena_free(&arena);
		sleeper_end(&s);
	}
}

// A cube that falls and is put to sleep. Fails when it keeps the change of velocity that the next solve would start
// from, or counts the steps in which it was still before: how it fell asleep must not matter when it wakes.
FEM_TEST(sleep_borders, sleepers_keep_nothing_of_their_motion) {
	FemWorldDef def = fem_contact_world_def();
	def.sleeping_enabled = true;
	def.gravity = (FemVec3){0.0f, -0.01f, 0.0f}; // slower than 0.03 m/s all the time
	FemWorldId world = fem_world_create(&def);
	FemBlock block = fem_block(0.3f, 2);
	block.body.dynamics = FEM_DYNAMICS_ELEMENTS; // a rigid piece keeps loads in its place
	FemBodyId cube = fem_block_add(world, &block);
	const FemBody *body = fem_body_find(cube, NULL);
	fem_steps(world, 10);
	FEM_CHECK(body->part_still[0] == 10 && body->last_dv[0].y < 0.0f);
	fem_body_sleep(cube);
	FEM_CHECK_INT(body->part_still[0], 0);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FEM_CHECK(body->last_dv[i].x == 0.0f && body->last_dv[i].y == 0.0f && body->last_dv[i].z == 0.0f);
		FEM_CHECK(body->velocity[i].y == 0.0f);
	}
	fem_world_destroy(world);
}

// A belt is a collider with a velocity that stays where it is. A cube that stands still on one as smooth as ice stays
// awake while it runs faster than the sleep speed, 0.03 m/s. Fails when what touches a moving collider may sleep.
FEM_TEST(sleep_borders, awake_on_a_belt_that_runs) {
	FemWorldDef def = fem_contact_world_def();
	def.sleeping_enabled = true;
	FemWorldId world = fem_world_create(&def);
	FemColliderDef belt_def = fem_default_collider_def();
	belt_def.kind = FEM_COLLIDER_KINEMATIC;
	belt_def.shape.type = FEM_SHAPE_BOX;
	belt_def.shape.half_extents = (FemVec3){5.0f, 0.5f, 5.0f};
	belt_def.position = (FemPosition){0.0, -0.5, 0.0};
	belt_def.friction = 0.0f;
	FemColliderId belt = fem_collider_create(world, &belt_def);
	FemBlock block = fem_block(0.3f, 2);
	block.material.friction = 0.0f;
	block.material.stiffness_damping = 0.01f;
	FemBodyId cube = fem_block_add(world, &block);
	const FemQuat upright = {0.0f, 0.0f, 0.0f, 1.0f};
	const FemVec3 none = {0.0f, 0.0f, 0.0f};
	const FemPosition at = {0.0, -0.5, 0.0};
	int32_t asleep = 0;
	FEM_CHECK_INT(fem_collider_set_motion(belt, at, upright, (FemVec3){0.5f, 0.0f, 0.0f}, none), FEM_OK);
	for (int32_t i = 0; i < 120; i++) {
		fem_steps(world, 1);
		asleep += fem_body_is_asleep(cube);
	}
	FEM_CHECK_INT(asleep, 0);
	FEM_CHECK(fem_peak_speed(&cube, 1) < 0.03);
	FEM_CHECK_INT(fem_collider_set_motion(belt, at, upright, none, none), FEM_OK);
	fem_steps(world, 2);
	FEM_CHECK(fem_body_is_asleep(cube));
	fem_world_destroy(world);
}
