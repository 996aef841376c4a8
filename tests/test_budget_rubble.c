// What keeps a tick short in which much breaks at once: pieces that fade, blows of rubble, large solves, fast pairs.
#include "contact_rig.h"
#include "dynamics/elements.h"
#include "fem_test.h"
#include "model/piece.h"
#include "scenes/fracture_scenes.h"
#include "scenes/rig.h"
#include "world/api/registry.h"
#include "world/step/work_limits.h"
#include "world/world.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define TETS 1296 // of a cube of 6 x 6 x 6 cells

static FemWorldId world_with_ground(void) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = true;
	return fem_world_create(&def);
}

// ---- what fades

static void let_fade(FemWorldId world, int32_t pieces, float fade_time) {
	FemShedDef shed = fem_default_shed_def();
	shed.pieces_max = pieces;
	shed.fade_time = fade_time;
	FEM_CHECK_INT(fem_world_shed(world, &shed, NULL), FEM_OK);
}

static double height_of_piece(FemBodyId body, FemPieceNumber piece) {
	FemPieceState state;
	FEM_CHECK_INT(fem_body_get_piece_state(body, piece, &state), FEM_OK);
	return state.center.y;
}

// A cube that stands on another: it sinks through that, and stops on the ground. Fails when what fades is held up by
// other pieces, or falls through the ground.
FEM_TEST(budget, what_fades_meets_only_the_ground) {
	FemWorldId world = world_with_ground();
	int32_t nodes;
	FemBodyId body = fem_add_three_cubes(world, true, &nodes);
	FemPieceNumber pieces[3];
	fem_steps(world, 30);
	FEM_REQUIRE(fem_body_get_pieces(body, pieces, 3) == 3);
	FEM_CHECK(height_of_piece(body, pieces[1]) > 0.4);
	fem_body_find(body, NULL)->pieces[1].born = -5.0; // of equal ones the oldest goes
	FEM_CHECK_INT(fem_body_set_piece_limits(body, 1, 0.0f, 5.0f), FEM_OK);
	fem_steps(world, 1);
	const FemBody *inside = fem_body_find(body, NULL);
	FEM_REQUIRE(fem_piece_is_going(&inside->pieces[1]) && !fem_piece_is_going(&inside->pieces[2]));
	fem_steps(world, 90);
	printf("  it was at 0.45 m, and lies at %.3f m\n", height_of_piece(body, pieces[1]));
	FEM_CHECK_NEAR(height_of_piece(body, pieces[1]), 0.15, 0.02);
	FEM_CHECK_NEAR(height_of_piece(body, pieces[0]), 0.15, 0.02);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

typedef struct Struck {
	FemScene scene;
	FemWorldId world;
	FemSceneBodies bodies;
	FemBody *body;
} Struck;

// The wall after it was struck, in dozens of pieces.
static Struck strike_wall(int32_t steps) {
	Struck wall = {.scene = *fem_scene_find("wall")};
	FemWorldDef def = fem_scene_world_def(&wall.scene, 1);
	wall.world = fem_world_create(&def);
	wall.bodies = fem_scene_build(&wall.scene, wall.world);
	for (int32_t i = 0; i < steps; i++) {
		wall.scene.drive(&wall.bodies, i, wall.scene.dt);
		fem_world_step(wall.world, wall.scene.dt, 1);
	}
	wall.body = fem_body_find(wall.bodies.ids[0], NULL);
	return wall;
}

static void end_wall(Struck *wall) {
	FEM_CHECK_INT(fem_world_validate(wall->world), FEM_OK);
	fem_scene_bodies_free(&wall->bodies);
	fem_world_destroy(wall->world);
}

static int32_t count_going(const FemBody *body, bool that_loads_may_break) {
	int32_t count = 0;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		const FemPiece *piece = &body->pieces[c];
		bool may_break = !piece->is_rigid || !isinf(piece->margin);
		count += fem_piece_is_going(piece) && fem_piece_is_live(body, c) && (may_break || !that_loads_may_break);
	}
	return count;
}

// Fails when pieces that are to go are looked at like others: they are what a level has most of after a blast.
FEM_TEST(budget, what_fades_breaks_no_more) {
	Struck wall = strike_wall(12);
	FEM_CHECK(wall.body->topology->component_count > 30);
	let_fade(wall.world, wall.body->topology->component_count - 25, 5.0f);
	FEM_CHECK(count_going(wall.body, false) > 10);
	FEM_CHECK_INT(count_going(wall.body, true), 0);
	// One that is to stay after all may break again.
	FEM_CHECK_INT(fem_body_set_piece_limits(wall.bodies.ids[0], 0, 0.0f, 0.0f), FEM_OK);
	FEM_CHECK_INT(count_going(wall.body, false), 0);
	for (int32_t c = 0; c < wall.body->topology->component_count; c++)
		FEM_CHECK(!wall.body->pieces[c].is_rigid || wall.body->pieces[c].margin > 0.0f);
	end_wall(&wall);
}

// One piece more is to go in each step. Fails when the body's tables are made anew in each.
FEM_TEST(budget, bodies_lose_faded_pieces_a_few_times_a_second) {
	Struck wall = strike_wall(30);
	int32_t before = wall.body->topology->component_count, losses = 0;
	for (int32_t i = 0; i < 24; i++) {
		let_fade(wall.world, before - 1 - i, 0.02f);
		int32_t count = wall.body->topology->component_count;
		fem_world_step(wall.world, DT, 1);
		losses += wall.body->topology->component_count < count;
	}
	printf("  %d of 24 steps\n", losses);
	FEM_CHECK(losses >= 4 && losses <= 8);
	end_wall(&wall);
}

// ---- blows of rubble

static FemBlock hard_cube(void) {
	FemBlock block = fem_block(0.3f, 6);
	block.kind = FEM_CELLS_KUHN;
	block.material.young_modulus = 5e8f;
	block.material.density = 2300.0f;
	block.material.stiffness_damping = 0.001f;
	block.material.breakable = true;
	block.material.toughness = 1.5e5f;
	block.material.impact_modulus = 2e10f;
	block.material.fragment_size = 0.06f;
	return block;
}

static void set_rubble_limit(FemWorldId world, int32_t tets) {
	FemWorkLimits limits = fem_default_work_limits();
	limits.rubble_tets_max = tets;
	FEM_CHECK_INT(fem_world_set_work_limits(world, &limits), FEM_OK);
}

static int32_t count_broken(const FemBodyId *bodies, int32_t count) {
	int32_t broken = 0;
	for (int32_t i = 0; i < count; i++)
		broken += fem_body_get_pieces(bodies[i], NULL, 0) > 1;
	return broken;
}

// Cubes that lie there, and cubes that fall onto them all in one step; returns how many broke by then.
static int32_t broken_by_cubes(int32_t limit) {
	FemWorldId world = world_with_ground();
	FemBodyId bodies[8];
	FemBlock block = hard_cube();
	for (int32_t i = 0; i < 8; i++) {
		bool falls = i % 2 == 1;
		block.body.position = (FemPosition){1.5 * (i / 2), falls ? 0.36 : 0.0, 0.0};
		block.body.rotation = falls ? fem_rotation_z(0.3f) : fem_rotation_z(0.0f);
		block.body.linear_velocity = (FemVec3){0.0f, falls ? -12.0f : 0.0f, 0.0f};
		bodies[i] = fem_block_add(world, &block);
	}
	set_rubble_limit(world, limit);
	int32_t broken = 0;
	for (int32_t i = 0; i < 6 && broken == 0; i++) {
		fem_world_step(world, DT, 1);
		broken = count_broken(bodies, 8);
	}
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
	return broken;
}

// The same by moving colliders, a ball for each of four cubes.
static int32_t broken_by_balls(int32_t limit) {
	FemWorldId world = world_with_ground();
	FemBodyId bodies[4];
	FemBlock block = hard_cube();
	for (int32_t i = 0; i < 4; i++) {
		FemColliderDef ball = fem_default_collider_def();
		block.body.position = (FemPosition){1.5 * i, 0.0, 0.0};
		bodies[i] = fem_block_add(world, &block);
		ball.kind = FEM_COLLIDER_DYNAMIC;
		ball.shape.type = FEM_SHAPE_SPHERE;
		ball.shape.radius = 0.1f;
		ball.mass = 40.0f;
		ball.inertia = (FemVec3){0.16f, 0.16f, 0.16f};
		ball.linear_velocity = (FemVec3){0.0f, -15.0f, 0.0f};
		ball.position = (FemPosition){1.5 * i + 0.13, 0.42, 0.14};
		FEM_CHECK(fem_collider_is_valid(fem_collider_create(world, &ball)));
	}
	set_rubble_limit(world, limit);
	int32_t broken = 0;
	for (int32_t i = 0; i < 6 && broken == 0; i++) {
		fem_world_step(world, DT, 1);
		broken = count_broken(bodies, 4);
	}
	fem_world_destroy(world);
	return broken;
}

// Fails when all that pieces strike in a step is looked at in it, or when the limit holds for what a player throws.
FEM_TEST(budget, what_rubble_strikes_is_bounded) {
	int32_t free = broken_by_cubes(0), bound = broken_by_cubes(TETS + 100), by_balls = broken_by_balls(TETS + 100);
	printf("  %d cubes break of cubes, %d with the limit; %d of balls\n", free, bound, by_balls);
	FEM_CHECK(free >= 4);
	FEM_CHECK_INT(bound, 1);
	FEM_CHECK_INT(by_balls, 4);
}

static int32_t pieces_of_wall(int32_t pieces_free) {
	Struck wall = {.scene = *fem_scene_find("wall")};
	FemWorldDef def = fem_scene_world_def(&wall.scene, 1);
	FemWorkLimits limits = fem_default_work_limits();
	wall.world = fem_world_create(&def);
	wall.bodies = fem_scene_build(&wall.scene, wall.world);
	limits.piece_tets_min = 256;
	limits.pieces_free = pieces_free;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
	for (int32_t i = 0; i < 15; i++) {
		wall.scene.drive(&wall.bodies, i, wall.scene.dt);
		fem_world_step(wall.world, wall.scene.dt, 1);
	}
	int32_t count = fem_body_get_pieces(wall.bodies.ids[0], NULL, 0);
	end_wall(&wall);
	return count;
}

// Fails when a body falls into as many pieces however few it may have.
FEM_TEST(budget, crowds_make_fewer_pieces) {
	int32_t usual = pieces_of_wall(12), fewer = pieces_of_wall(4);
	printf("  %d pieces, %d when 4 are free\n", usual, fewer);
	FEM_CHECK(fewer > 1 && fewer <= 12 && fewer < usual);
	FemBudget budget = fem_budget_start();
	FemBudgetDef def = fem_default_budget_def();
	FemShedDef shed = fem_default_shed_def();
	FemWorkLimits limits;
	def.step_ms = 4.0f;
	FemStepCost quiet = {.ms = 3.5f, .awake_pieces = 60, .pieces = 60},
				crowded = {.ms = 3.5f, .awake_pieces = 800, .pieces = 60};
	FEM_CHECK_INT(fem_budget_next(&budget, &def, &quiet, &limits, &shed), FEM_OK);
	FEM_CHECK_INT(limits.pieces_free, 12);
	FEM_CHECK_INT(shed.removals_max, 32);
	FEM_CHECK_INT(fem_budget_next(&budget, &def, &crowded, &limits, &shed), FEM_OK);
	FEM_CHECK_INT(limits.pieces_free, 6);
	FEM_CHECK_INT(shed.removals_max, (800 - 100) / 4); // of 100 that 4 ms pay for; 32 a step took half a second
	FEM_CHECK(limits.rubble_tets_max > 0 && limits.rubble_tets_max < limits.elastic_tets_max);
}

// ---- solves and fast pairs

// Solves of a step in which all that touches is one system, at its most; *out_energy: of its pieces at the end, J.
static int32_t most_solves(int32_t solve_work_max, double *out_energy) {
	FemWorldId world = world_with_ground();
	FemWorkLimits limits = fem_default_work_limits();
	FemBodyId bodies[5];
	FemBlock block = fem_block(0.3f, 4);
	block.material.young_modulus = 1e6f;
	for (int32_t i = 0; i < 5; i++) {
		block.body.position = (FemPosition){0.02 * i, 0.001 + 0.301 * i, 0.0};
		bodies[i] = fem_block_add(world, &block);
	}
	limits.solve_work_max = solve_work_max;
	FEM_CHECK_INT(fem_world_set_work_limits(world, &limits), FEM_OK);
	int32_t most = 0;
	double start = 0.0, energy = 0.0;
	for (int32_t n = 0; n < 60; n++) {
		FemStatistics statistics;
		fem_world_step(world, DT, 1);
		FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
		most = n >= 5 && statistics.solves > most ? (int32_t)statistics.solves : most;
		energy = fem_energy(bodies, 5);
		for (int32_t i = 0; i < 5; i++)
			energy += 9.81 * 27.0 * fem_center(bodies[i]).y;
		start = n == 0 ? energy : start;
		*out_energy = fmax(n == 0 ? -INFINITY : *out_energy, energy - start);
	}
	fem_world_destroy(world);
	return most;
}

// Fails without the bound: a system that has no time for eight iterations a solve does four solves all the same.
FEM_TEST(budget, large_systems_are_solved_fewer_times) {
	double gained, gained_bound;
	int32_t free = most_solves(0, &gained), bound = most_solves(1, &gained_bound);
	printf(
		"  %d solves a step, %d with the limit; energy rises by %.3g and %.3g J\n", free, bound, gained, gained_bound);
	FEM_CHECK(free > 2);
	FEM_CHECK_INT(bound, 2);
	FEM_CHECK(gained_bound < 0.5); // of 400 J; what it has at most
	FemWorld world = {.limits = fem_default_work_limits()};
	FEM_CHECK_INT(fem_work_solves(&world, 1000), INT32_MAX);
	world.limits.solve_work_max = 24000;
	FEM_CHECK_INT(fem_work_solves(&world, 1000), 3);
	FEM_CHECK_INT(fem_work_solves(&world, 100000), 2);
}

// Shards of a heap that fly through each other. Fails when every pair is looked at whatever that costs.
FEM_TEST(budget, fast_pairs_are_bounded_by_their_number) {
	int32_t pairs[2];
	for (int limited = 0; limited < 2; limited++) {
		FemScene scene = *fem_scene_find("vases8");
		FemWorldDef def = fem_scene_world_def(&scene, 1);
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(&scene, world);
		FemWorkLimits limits = fem_default_work_limits();
		limits.sweep_work_max = limited ? 1 : 0;
		FEM_CHECK_INT(fem_world_set_work_limits(world, &limits), FEM_OK);
		pairs[limited] = 0;
		for (int32_t i = 0; i < 40; i++) {
			if (scene.drive)
				scene.drive(&bodies, i, scene.dt);
			fem_world_step(world, scene.dt, 1);
			int32_t now = fem_world_find(world)->contacts.fast.pair_count;
			pairs[limited] = now > pairs[limited] ? now : pairs[limited];
		}
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_scene_bodies_free(&bodies);
		fem_world_destroy(world);
	}
	printf("  %d pairs, %d with the limit\n", pairs[0], pairs[1]);
	FEM_CHECK(pairs[0] > 64);
	FEM_CHECK_INT(pairs[1], 64);
}

// ---- tets that are gone

// Fails when batches of tets that left their body are computed with all others.
FEM_TEST(budget, tets_that_are_gone_cost_nothing) {
	Struck wall = strike_wall(60);
	FemPieceNumber pieces[256];
	int32_t count = fem_body_get_pieces(wall.bodies.ids[0], pieces, 256), empty = 0, chunks = 0;
	for (int32_t i = count - 1; i > count / 4; i--)
		FEM_CHECK_INT(fem_body_remove_piece(wall.bodies.ids[0], pieces[i]), FEM_OK);
	fem_body_wake(wall.bodies.ids[0]);
	fem_world_step(wall.world, DT, 1);
	const FemTopology *t = wall.body->topology;
	const FemIslands *islands = &fem_world_find(wall.world)->islands;
	int32_t gone = 0;
	for (int32_t b = 0; b < t->batch_count; b++) {
		int32_t tets = 0;
		for (int32_t lane = 0; lane < FEM_LANES; lane++)
			tets += t->user_of_tet[b * FEM_LANES + lane] >= 0;
		gone += tets == 0;
		for (int32_t k = 0; k < islands->batch_chunk_count; k++) {
			bool is_in = b >= islands->batch_chunks[k].begin && b < islands->batch_chunks[k].end;
			empty += is_in && tets == 0;
			chunks += is_in;
		}
	}
	printf("  %d of %d batches are empty, %d are computed\n", gone, t->batch_count, chunks);
	FEM_CHECK(gone > 0 && chunks > 0);
	FEM_CHECK_INT(empty, 0);
	end_wall(&wall);
}

// The scalar way costs as much as two hundred tets. Fails when it is gone for corners that are all in one point.
FEM_TEST(budget, tets_that_are_gone_have_no_rotation_to_find) {
	float nothing[9] = {0}, quaternion[4] = {0.5f, 0.5f, 0.5f, 0.5f};
	fem_rotation_of_crushed(nothing, quaternion);
	for (int i = 0; i < 4; i++)
		FEM_CHECK(quaternion[i] == 0.5f);
}
