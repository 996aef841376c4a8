// Limits on the work of a step, shedding, and the rule that keeps a budget of time by both.
#include "fem_test.h"
#include "fracture/separation.h"
#include "model/piece.h"
#include "scenes/fracture_scenes.h"
#include "scenes/rig.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Wall {
	FemScene scene;
	FemWorldId world;
	FemSceneBodies bodies;
	int32_t step;
	bool is_left; // its ball is not moved any more
} Wall;

static Wall build_wall(int32_t workers) {
	Wall wall = {.scene = *fem_scene_find("wall")};
	FemWorldDef def = fem_scene_world_def(&wall.scene, workers);
	wall.world = fem_world_create(&def);
	wall.bodies = fem_scene_build(&wall.scene, wall.world);
	return wall;
}

static void step_wall(Wall *wall, int32_t count) {
	for (int32_t i = 0; i < count; i++, wall->step++) {
		if (wall->scene.drive && !wall->is_left)
			wall->scene.drive(&wall->bodies, wall->step, wall->scene.dt);
		fem_world_step(wall->world, wall->scene.dt, 1);
	}
}

static void free_wall(Wall *wall) {
	FEM_CHECK_INT(fem_world_validate(wall->world), FEM_OK);
	fem_scene_bodies_free(&wall->bodies);
	fem_world_destroy(wall->world);
}

static FemStatistics statistics_of(FemWorldId world) {
	FemStatistics s = {0};
	FEM_CHECK_INT(fem_world_get_statistics(world, &s), FEM_OK);
	return s;
}

static int32_t awake_pieces(const Wall *wall) {
	const FemBody *body = fem_body_find(wall->bodies.ids[0], NULL);
	int32_t count = 0;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		count += fem_piece_is_live(body, c);
	return count;
}

static FemWorkLimits small_limits(void) {
	FemWorkLimits limits = fem_default_work_limits();
	limits.passes_max = 2;
	limits.fracture_work_max = 2000;
	limits.splits_max = 16;
	limits.piece_tets_min = 20;
	limits.pieces_free = 8;
	limits.elastic_tets_max = 200;
	limits.rubble_tets_max = 100;
	limits.awake_pieces_max = 10;
	limits.sweep_work_max = 20000;
	limits.solve_work_max = 20000;
	return limits;
}

// ---- limits

FEM_TEST(budget, limits_that_bound_nothing_change_no_bit) {
	Wall one = build_wall(1), other = build_wall(1);
	FemWorkLimits none = fem_default_work_limits(), read;
	FEM_CHECK_INT(fem_world_set_work_limits(other.world, &none), FEM_OK);
	FEM_CHECK_INT(fem_world_get_work_limits(other.world, &read), FEM_OK);
	FEM_CHECK(memcmp(&none, &read, sizeof none) == 0);
	step_wall(&one, 12);
	step_wall(&other, 12);
	FEM_CHECK(fem_world_hash(one.world) == fem_world_hash(other.world));
	free_wall(&one);
	free_wall(&other);
}

// Fails when the passes, or the tets times passes, are not looked at.
FEM_TEST(budget, passes_are_bounded) {
	for (int kind = 0; kind < 2; kind++) {
		Wall wall = build_wall(1);
		FemWorkLimits limits = fem_default_work_limits();
		int32_t most = 0;
		if (kind == 0)
			limits.passes_max = 1;
		else
			limits.fracture_work_max = 1;
		FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
		for (int32_t i = 0; i < 12; i++) {
			step_wall(&wall, 1);
			int32_t passes = statistics_of(wall.world).passes;
			most = passes > most ? passes : most;
		}
		FEM_CHECK(most >= 1 && most <= 2); // one look at blows, one of the move
		free_wall(&wall);
	}
}

static int32_t count_small(const FemBody *body, int32_t tets) {
	int32_t count = 0;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		count += body->topology->component_tets[c] < tets;
	return count;
}

// Fails when a limit of nearly a quarter of its tets lets a body fall into four pieces at most.
FEM_TEST(budget, bodies_break_however_large_the_smallest_piece) {
	Wall wall = build_wall(1);
	FemWorkLimits limits = fem_default_work_limits();
	limits.piece_tets_min = 256;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
	step_wall(&wall, 30);
	const FemTopology *t = fem_body_find(wall.bodies.ids[0], NULL)->topology;
	int32_t small = count_small(fem_body_find(wall.bodies.ids[0], NULL), t->tet_count / 24);
	FEM_CHECK(t->component_count - small > 4 && t->component_count - small <= 24);
	FEM_CHECK(small > 0 && small <= 24); // a pass that comes to so many makes some more
	printf("  %d pieces of %d tets, %d of fewer than a 24th\n", t->component_count, t->tet_count, small);
	free_wall(&wall);
}

// Without the limit 47 of 66 are.
FEM_TEST(budget, pieces_are_not_smaller_than_the_limit) {
	Wall wall = build_wall(1);
	FemWorkLimits limits = fem_default_work_limits();
	limits.piece_tets_min = 40;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
	step_wall(&wall, 15);
	const FemBody *body = fem_body_find(wall.bodies.ids[0], NULL);
	int32_t small = count_small(body, 40);
	printf("  %d of %d pieces are smaller\n", small, body->topology->component_count);
	FEM_CHECK(body->topology->component_count > 2);
	FEM_CHECK(small <= 24); // those of the pass that comes to so many, too
	free_wall(&wall);
}

// One piece may always be elastic, however large: else nothing would break. Fails without the limit, where a third of
// the wall is.
FEM_TEST(budget, elastic_tets_are_bounded) {
	Wall wall = build_wall(1);
	FemWorkLimits limits = fem_default_work_limits();
	limits.elastic_tets_max = 50;
	step_wall(&wall, 12);
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
	for (int32_t i = 0; i < 10; i++) {
		step_wall(&wall, 1);
		const FemTopology *t = fem_body_find(wall.bodies.ids[0], NULL)->topology;
		int32_t elastic = fem_world_find(wall.world)->elastic_tets;
		FEM_CHECK(elastic <= 50 || elastic <= t->component_tets[fem_largest_piece(t)]);
	}
	free_wall(&wall);
}

FEM_TEST(budget, limited_worlds_are_the_same_with_any_workers_and_from_a_snapshot) {
	Wall one = build_wall(1), three = build_wall(3);
	FemWorkLimits limits = small_limits();
	FemShedDef shed = fem_default_shed_def();
	FemObserver observer = {.position = {0.0, 1.0, 20.0}, .forward = {0.0f, 0.0f, -1.0f}, .cone_cosine = 0.5f};
	shed.observers = &observer;
	shed.observer_count = 1;
	shed.awake_max = 10;
	shed.pieces_max = 30;
	FEM_CHECK_INT(fem_world_set_work_limits(one.world, &limits), FEM_OK);
	FEM_CHECK_INT(fem_world_set_work_limits(three.world, &limits), FEM_OK);
	FemWorldId restored = {0};
	for (int32_t i = 0; i < 30; i++) {
		FEM_CHECK_INT(fem_world_shed(one.world, &shed, NULL), FEM_OK);
		FEM_CHECK_INT(fem_world_shed(three.world, &shed, NULL), FEM_OK);
		step_wall(&one, 1);
		step_wall(&three, 1);
		FEM_CHECK(fem_world_hash(one.world) == fem_world_hash(three.world));
		if (i >= 18) {
			FEM_CHECK_INT(fem_world_shed(restored, &shed, NULL), i == 18 ? FEM_ERROR_INVALID_ID : FEM_OK);
			if (i > 18)
				fem_world_step(restored, one.scene.dt, 1);
			FEM_CHECK(i == 18 || fem_world_hash(restored) == fem_world_hash(one.world));
		}
		if (i == 18) {
			size_t size = fem_world_save(one.world, NULL, 0);
			void *data = malloc(size);
			FEM_CHECK(fem_world_save(one.world, data, size) == size);
			restored = fem_world_restore(data, size, 2);
			FEM_CHECK(fem_world_is_valid(restored));
			one.is_left = three.is_left = true;
			free(data);
		}
	}
	fem_world_destroy(restored);
	free_wall(&one);
	free_wall(&three);
}

FEM_TEST(budget, bad_limits_are_refused) {
	Wall wall = build_wall(1);
	FemWorkLimits limits = fem_default_work_limits(), bad = limits, read;
	bad.cookie = 0;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &bad), FEM_ERROR_INVALID_ARGUMENT);
	bad = limits;
	bad.rubble_tets_max = -1;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &bad), FEM_ERROR_INVALID_ARGUMENT);
	bad = limits;
	bad.elastic_tets_max = -1;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &bad), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_get_work_limits(wall.world, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_set_work_limits((FemWorldId){0}, &limits), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_world_get_work_limits((FemWorldId){0}, &read), FEM_ERROR_INVALID_ID);
	limits.piece_tets_min = limits.pieces_free = -5;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
	FEM_CHECK_INT(fem_world_get_work_limits(wall.world, &read), FEM_OK);
	FEM_CHECK_INT(read.piece_tets_min, 3);
	FEM_CHECK_INT(read.pieces_free, 2);
	free_wall(&wall);
}

// ---- shedding

FEM_TEST(budget, shedding_leaves_no_more_awake_than_it_is_told) {
	Wall wall = build_wall(1);
	FemShedDef shed = fem_default_shed_def();
	FemShedResult result;
	step_wall(&wall, 90);
	int32_t before = awake_pieces(&wall);
	FEM_CHECK(before > 30);
	shed.awake_max = 12;
	shed.freeze_speed = 1000.0f;
	FEM_CHECK_INT(fem_world_shed(wall.world, &shed, &result), FEM_OK);
	printf("  %d awake, %d frozen\n", before, result.frozen);
	FEM_CHECK_INT(result.awake, before);
	FEM_CHECK(result.frozen > 0 && awake_pieces(&wall) == before - result.frozen);
	FemWorkLimits limits = fem_default_work_limits();
	limits.awake_pieces_max = 12;
	FEM_CHECK_INT(fem_world_set_work_limits(wall.world, &limits), FEM_OK);
	int32_t frozen = awake_pieces(&wall);
	step_wall(&wall, 1); // what is frozen is not woken by what lies on it
	FEM_CHECK(awake_pieces(&wall) <= frozen + 4);
	free_wall(&wall);
}

// J: what all pieces may still fall, as high as they are after a second in which they are shed.
static double energy_of_height(bool is_shed) {
	Wall wall = build_wall(1);
	FemShedDef shed = fem_default_shed_def();
	double sum = 0.0;
	shed.awake_max = 12;
	shed.freeze_speed = 2.0f;
	shed.removals_max = 0;
	for (int i = 0; i < 60; i++) {
		step_wall(&wall, 1);
		if (is_shed)
			FEM_CHECK_INT(fem_world_shed(wall.world, &shed, NULL), FEM_OK);
	}
	const FemBody *body = fem_body_find(wall.bodies.ids[0], NULL);
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPieceState state;
		FEM_CHECK_INT(fem_body_get_piece_state(wall.bodies.ids[0], body->pieces[c].number, &state), FEM_OK);
		sum += 9.81 * (double)state.mass * state.center.y;
	}
	free_wall(&wall);
	return sum;
}

// Frozen while they touched each other and were slow, the parts of a wall with a hole hung in the air.
FEM_TEST(budget, what_falls_is_not_frozen) {
	double falls = energy_of_height(false), shed = energy_of_height(true);
	printf("  %.0f J of height, %.0f J under a budget\n", falls, shed);
	FEM_CHECK_NEAR(shed / falls, 1.0, 0.05);
}

// m, along the wall: the mean place of the ten pieces that go first for an observer there.
static double place_of_shed(double observer_x) {
	Wall wall = build_wall(1);
	FemShedDef shed = fem_default_shed_def();
	FemObserver observer = {.position = {observer_x, 1.0, 0.0}};
	double sum = 0.0;
	int32_t count = 0;
	step_wall(&wall, 20);
	const FemBody *body = fem_body_find(wall.bodies.ids[0], NULL);
	shed.observers = &observer;
	shed.observer_count = 1;
	shed.pieces_max = body->topology->component_count - 10;
	shed.fade_time = 3.0f;
	FEM_CHECK_INT(fem_world_shed(wall.world, &shed, NULL), FEM_OK);
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPieceState state;
		FEM_CHECK_INT(fem_body_get_piece_state(wall.bodies.ids[0], body->pieces[c].number, &state), FEM_OK);
		sum += state.time_left < INFINITY ? state.center.x : 0.0;
		count += state.time_left < INFINITY;
	}
	FEM_CHECK_INT(count, 10);
	free_wall(&wall);
	return sum / count;
}

// Fails when distance has no part in the rank.
FEM_TEST(budget, what_is_far_is_shed_first) {
	double from_left = place_of_shed(-2.0), from_right = place_of_shed(2.0);
	printf("  seen from the left those at %.2f m go, from the right those at %.2f m\n", from_left, from_right);
	FEM_CHECK(from_left > from_right + 0.1);
}

FEM_TEST(budget, shed_pieces_fade_and_go) {
	Wall wall = build_wall(1);
	FemShedDef shed = fem_default_shed_def();
	step_wall(&wall, 90);
	int32_t before = fem_body_get_pieces(wall.bodies.ids[0], NULL, 0);
	shed.pieces_max = before - 5;
	shed.fade_time = 0.05f;
	FEM_CHECK_INT(fem_world_shed(wall.world, &shed, NULL), FEM_OK);
	FEM_CHECK(fem_body_has_fading_pieces(wall.bodies.ids[0], 0.06f + 1.0f / 15.0f)); // bodies lose them in turn
	FEM_CHECK_INT(fem_body_get_pieces(wall.bodies.ids[0], NULL, 0), before);
	FemShedResult again;
	FEM_CHECK_INT(fem_world_shed(wall.world, &shed, &again), FEM_OK); // those that go are not counted twice
	FEM_CHECK_INT(again.faded, 0);
	FemFractureFace const *faces;
	int32_t gone = 0;
	for (int32_t i = 0; i < 10; i++) {
		step_wall(&wall, 1);
		(void)fem_world_get_fracture_faces(wall.world, &faces);
	}
	const FemBody *body = fem_body_find(wall.bodies.ids[0], NULL);
	for (int32_t tet = 0; tet < fem_body_get_tet_count(wall.bodies.ids[0]); tet++)
		gone += body->topology->tet_of_user[tet] < 0;
	FEM_CHECK(gone > 0);
	free_wall(&wall);
}

FEM_TEST(budget, bad_sheddings_are_refused) {
	Wall wall = build_wall(1);
	FemShedDef shed = fem_default_shed_def(), bad = shed;
	FemObserver nowhere = {.position = {NAN, 0.0, 0.0}};
	step_wall(&wall, 10);
	uint64_t hash = fem_world_hash(wall.world);
	bad.cookie = 1;
	FEM_CHECK_INT(fem_world_shed(wall.world, &bad, NULL), FEM_ERROR_INVALID_ARGUMENT);
	bad = shed;
	bad.awake_max = -1;
	FEM_CHECK_INT(fem_world_shed(wall.world, &bad, NULL), FEM_ERROR_INVALID_ARGUMENT);
	bad = shed;
	bad.freeze_time = NAN;
	FEM_CHECK_INT(fem_world_shed(wall.world, &bad, NULL), FEM_ERROR_INVALID_ARGUMENT);
	bad = shed;
	bad.awake_max = 1;
	bad.observers = &nowhere;
	bad.observer_count = 1;
	FEM_CHECK_INT(fem_world_shed(wall.world, &bad, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_shed(wall.world, NULL, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_shed((FemWorldId){0}, &shed, NULL), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_world_shed(wall.world, &shed, NULL), FEM_OK); // nothing is too many
	FEM_CHECK(fem_world_hash(wall.world) == hash);
	shed.awake_max = shed.pieces_max = 1;
	shed.removals_max = 1 << 20;
	shed.fade_time = 0.0f;
	FEM_CHECK_INT(fem_body_set_toughness_scale(wall.bodies.ids[0], 1e6f), FEM_OK); // what stays breaks no further
	FEM_CHECK_INT(fem_world_shed(wall.world, &shed, NULL), FEM_OK);
	step_wall(&wall, 3);
	const FemBody *body = fem_body_find(wall.bodies.ids[0], NULL);
	for (int32_t c = 0; c < body->topology->component_count; c++) // what its pins hold stays
		FEM_CHECK(fem_piece_is_attached(body, c) || c == fem_largest_piece(body->topology));
	free_wall(&wall);
}

// ---- the rule

static FemBudgetDef budget_of(float ms) {
	FemBudgetDef def = fem_default_budget_def();
	def.step_ms = ms;
	return def;
}

// A machine on which a piece that is awake costs so many ms, with as many that want to be.
static float run_machine(float piece_ms, int32_t wanted, int32_t steps, float *out_worst) {
	FemBudget budget = fem_budget_start();
	FemBudgetDef def = budget_of(4.0f);
	FemShedDef shed = fem_default_shed_def();
	FemWorkLimits limits;
	int32_t awake = wanted < 100 ? wanted : 100;
	float ms = 0.0f;
	*out_worst = 0.0f;
	for (int32_t i = 0; i < steps; i++) {
		ms = piece_ms * (float)awake;
		FemStepCost cost = {.ms = ms, .awake_pieces = awake};
		FEM_CHECK_INT(fem_budget_next(&budget, &def, &cost, &limits, &shed), FEM_OK);
		awake = wanted < shed.awake_max ? wanted : shed.awake_max;
		*out_worst = i > 20 && ms > *out_worst ? ms : *out_worst;
	}
	return ms;
}

FEM_TEST(budget, the_rule_keeps_the_time_on_slow_and_fast_machines) {
	static const float piece_ms[4] = {0.01f, 0.04f, 0.1f, 0.2f};
	for (int i = 0; i < 4; i++) {
		float worst, last = run_machine(piece_ms[i], 10000, 600, &worst);
		printf("  %.2f ms a piece: %.2f ms at last, %.2f at worst\n", (double)piece_ms[i], (double)last, (double)worst);
		FEM_CHECK(worst < 4.0f * 1.25f);
		FEM_CHECK(last > 1.5f); // and uses it
	}
}

FEM_TEST(budget, without_a_budget_nothing_is_bounded) {
	FemBudget budget = fem_budget_start();
	FemBudgetDef def = fem_default_budget_def();
	FemShedDef shed = fem_default_shed_def();
	FemWorkLimits limits, none = fem_default_work_limits();
	FemStepCost cost = {.ms = 1000.0f, .awake_pieces = 1000, .live_tets = 100000, .pieces = 5000, .contacts = 30000};
	FEM_CHECK_INT(fem_budget_next(&budget, &def, &cost, &limits, &shed), FEM_OK);
	FEM_CHECK(memcmp(&limits, &none, sizeof none) == 0);
	FEM_CHECK(shed.awake_max == 0 && shed.pieces_max == 0);
	def.contacts_max = 3000;
	def.pieces_max = 1000;
	FEM_CHECK_INT(fem_budget_next(&budget, &def, &cost, &limits, &shed), FEM_OK);
	FEM_CHECK(shed.awake_max == 100 && shed.pieces_max == 1000); // a tenth of the contacts
}

FEM_TEST(budget, numbers_that_make_no_sense_do_no_harm) {
	FemBudget budget = {.share = NAN};
	FemShedDef shed = fem_default_shed_def();
	FemWorkLimits limits;
	static const float bad[6] = {NAN, -1.0f, INFINITY, 0.0f, 1e-30f, 1e30f};
	for (int i = 0; i < 36; i++) {
		FemBudgetDef def = budget_of(bad[i / 6]);
		FemStepCost cost = {.ms = bad[i % 6], .awake_pieces = i % 2 ? -5 : 1 << 30, .live_tets = -1};
		def.live_tets_max = -3;
		FEM_CHECK_INT(fem_budget_next(&budget, &def, &cost, &limits, &shed), FEM_OK);
		FEM_CHECK(limits.passes_max >= 1 && limits.piece_tets_min >= 3 && limits.elastic_tets_max >= 0);
		FEM_CHECK(shed.awake_max >= 0 && shed.freeze_speed >= 0.0f && isfinite(shed.freeze_speed));
		FEM_CHECK(isnan(budget.share) || (budget.share > 0.0f && budget.share <= 4.0f));
	}
	FEM_CHECK_INT(fem_budget_next(NULL, NULL, NULL, NULL, NULL), FEM_ERROR_INVALID_ARGUMENT);
}
