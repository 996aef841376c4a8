// Limits on the work of a step, and the rule by which a budget of time sets them.
#include "world/api/budget.h"

#include "fem_constants.h"
#include "world/api/checks.h"
#include "world/api/cookies.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

#define PASSES_MOST 1000 // chosen: FemWorldDef.fracture_passes_max ends it before
// Pieces of a body, up to so many, may be as small as the material makes them whatever the limits of the step: a pane
// that loses no chip is not pierced. Chosen
#define PIECES_FREE 12
#define PIECES_FREE_MIN 2    // or nothing would break
#define PIECES_FREE_MAX 1024 // chosen: no limit to speak of

// ---- limits

FemWorkLimits fem_default_work_limits(void) {
	return (FemWorkLimits){
		.passes_max = PASSES_MOST,
		.piece_tets_min = FEM_PIECE_TETS_MIN,
		.pieces_free = PIECES_FREE,
		.cookie = FEM_COOKIE_LIMITS,
	};
}

static int32_t clamp_count(int32_t value, int32_t low, int32_t high) {
	return value < low ? low : value > high ? high : value;
}

FemResult fem_work_limits_check(FemWorkLimits *limits) {
	if (limits->cookie != FEM_COOKIE_LIMITS)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The limits were not made by fem_default_work_limits(): start from that.");
	if (limits->passes_max < 0 || limits->fracture_work_max < 0 || limits->splits_max < 0 ||
		limits->elastic_tets_max < 0 || limits->rubble_tets_max < 0 || limits->awake_pieces_max < 0 ||
		limits->sweep_work_max < 0 || limits->solve_work_max < 0)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "Limits on the work of a step must not be negative; 0 is no limit.");
	limits->passes_max = clamp_count(limits->passes_max, 0, PASSES_MOST);
	limits->pieces_free = clamp_count(limits->pieces_free, PIECES_FREE_MIN, PIECES_FREE_MAX);
	limits->piece_tets_min = clamp_count(limits->piece_tets_min, FEM_PIECE_TETS_MIN, FEM_FRAGMENT_TETS_MAX);
	return FEM_OK;
}

FemResult fem_world_set_work_limits(FemWorldId id, const FemWorkLimits *limits) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return result;
	if (!limits)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "limits is null: pass those of fem_default_work_limits().");
	FemWorkLimits checked = *limits;
	result = fem_work_limits_check(&checked);
	if (result == FEM_OK)
		world->limits = checked;
	return result;
}

FemResult fem_world_get_work_limits(FemWorldId id, FemWorkLimits *out_limits) {
	const FemWorld *world = fem_world_find(id);
	if (!world || !out_limits)
		return fem_fail(world ? FEM_ERROR_INVALID_ARGUMENT : FEM_ERROR_INVALID_ID,
			world ? "out_limits is null: pass where to write them." : "The world is null or freed.");
	*out_limits = world->limits;
	return FEM_OK;
}

// ---- the rule

// What a share of 1 of a millisecond buys, on a machine of which the yardstick's bar2k takes 1.1 ms: counts that were
// measured on the bench level (tests/bench/level.sh).
#define AWAKE_A_MS 25.0f     // pieces awake
#define ELASTIC_A_MS 150.0f  // elastic tets
#define FRACTURE_A_MS 200.0f // tets times passes
#define SWEEP_A_MS 60000.0f  // boxes looked at for fast pieces
#define SPLITS_A_MS 8.0f     // nodes of a body split a pass: splinters that follow other tets are dear
#define SPLITS_LEAST 32.0f   // chosen: cracks through a wall
#define SOLVE_A_MS 12000.0f  // nodes times iterations of a solve
#define AWAKE_LEAST 16.0f    // pieces that may be awake whatever it costs: what the player has just struck
// The same of elastic tets, and of these times passes: what the player strikes breaks, in the tick of the blow, however
// slow the machine is. With 300 tets panes, walls and slabs stopped a ball of 80 kg at 15 m/s, six of them at once;
// with these they break as without a budget, but for the smallest pieces. Rubble is what is shed.
#define ELASTIC_LEAST 4000.0f
#define FRACTURE_LEAST 20000.0f
#define RUBBLE_LEAST 800.0f   // elastic tets that other pieces alone strike, two vases of the bench level; chosen
#define CROWDED 0.25f         // of the pieces that may be awake: from here on smaller ones are no longer made ...
#define PIECE_TETS_MOST 32.0f // ... and at all of them none of fewer tets: a vase of 200 still falls into six

// Times what may be awake, from which on things fall into fewer pieces, and at which into the fewest: most of what is
// made then would have to go at once. Both chosen.
#define OVERCROWDED 2.0f
#define OVERCROWDED_MOST 6.0f
#define PIECES_FREE_LEAST 6 // then; chosen: a vase of 438 tets falls into up to ten pieces in place of seventeen

#define SHARE_MOST 4.0f   // of a fast machine; chosen
#define SHARE_LEAST 0.2f  // things still break, however slow the machine; chosen
#define EARLY 0.7f        // of step_ms: below it the share grows, above 1 it falls
#define GROWTH 1.02f      // a step: twice as much after 35 steps
#define FALL_LEAST 0.5f   // a single slow step, which may be the system's, takes half at most
#define REMOVALS_LEAST 32 // pieces that may begin to go in a step; chosen
#define REMOVAL_STEPS 4   // or, if that is more, those that are too many over so many steps; chosen
#define FREEZE_SPEED 0.3f // m/s at a share of 1 ...
#define FREEZE_MOST 2.0f  // ... and at most, where the share is small

FemBudgetDef fem_default_budget_def(void) {
	return (FemBudgetDef){.cookie = FEM_COOKIE_BUDGET};
}

FemBudget fem_budget_start(void) {
	return (FemBudget){.share = 1.0f};
}

static float sane(float value) {
	return value > 0.0f && fem_is_finite(value) ? value : 0.0f;
}

static int32_t count_of(float value, float least) {
	return (int32_t)fminf(fmaxf(value, least), 1e9f);
}

// A step that took too long lowers the share from what it used, not from what it might have: else a long quiet would
// let several such steps pass. One that was quick raises it only if it used what it had.
static void follow(FemBudget *budget, float step_ms, const FemStepCost *last) {
	float ms = sane(last->ms), share = sane(budget->share) > 0.0f ? budget->share : 1.0f;
	float used = fmaxf((float)last->awake_pieces, AWAKE_LEAST) / (AWAKE_A_MS * step_ms);
	bool is_breaking = last->pieces > budget->pieces;
	budget->late_steps += ms > step_ms;
	budget->pieces = last->pieces;
	if (is_breaking)
		return;
	if (ms > step_ms) {
		share = fminf(share, fmaxf(used, 0.5f * share)) * fmaxf(step_ms / ms, FALL_LEAST);
	} else if (ms < EARLY * step_ms) {
		share *= share < 1.0f || used > 0.5f * share ? GROWTH : 1.0f;
	}
	budget->share = fminf(fmaxf(share, SHARE_LEAST), SHARE_MOST);
}

// Counts that the host bounds by number: what is over the bound lowers what may be awake in proportion.
static float share_of_count(int32_t now, int32_t most) {
	return most > 0 && now > most ? (float)most / (float)now : 1.0f;
}

static int32_t least_bound(int32_t a, int32_t b) {
	return a <= 0 ? b : b <= 0 ? a : a < b ? a : b;
}

static int32_t pieces_free_of(float crowd) {
	float over = fminf(fmaxf((crowd - OVERCROWDED) / (OVERCROWDED_MOST - OVERCROWDED), 0.0f), 1.0f);
	return PIECES_FREE - (int32_t)(over * (float)(PIECES_FREE - PIECES_FREE_LEAST));
}

// What flies too many goes within a few steps, however many that are.
static int32_t removals_of(int32_t awake, int32_t awake_max) {
	int32_t more = awake_max > 0 ? (awake - awake_max) / REMOVAL_STEPS : 0;
	return more > REMOVALS_LEAST ? more : REMOVALS_LEAST;
}

FemResult fem_budget_next(FemBudget *budget, const FemBudgetDef *def, const FemStepCost *last,
	FemWorkLimits *out_limits, FemShedDef *io_shed) {
	if (!budget || !def || !last || !out_limits || !io_shed || def->cookie != FEM_COOKIE_BUDGET ||
		io_shed->cookie != FEM_COOKIE_SHED)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"A budget needs all its records, made by fem_budget_start(), fem_default_budget_def() and "
			"fem_default_shed_def().");
	float step_ms = sane(def->step_ms);
	*out_limits = fem_default_work_limits();
	io_shed->awake_max = 0;
	io_shed->pieces_max = def->pieces_max > 0 ? def->pieces_max : 0;
	if (step_ms > 0.0f) {
		follow(budget, step_ms, last);
		float ms = budget->share * step_ms;
		float awake = fmaxf(AWAKE_A_MS * ms, AWAKE_LEAST);
		float crowd = ((float)last->awake_pieces / awake - CROWDED) / (1.0f - CROWDED);
		out_limits->awake_pieces_max = count_of(awake, 1.0f);
		out_limits->elastic_tets_max = count_of(ELASTIC_A_MS * ms, ELASTIC_LEAST);
		out_limits->rubble_tets_max = count_of(ELASTIC_A_MS * ms, RUBBLE_LEAST);
		out_limits->fracture_work_max = count_of(FRACTURE_A_MS * ms, FRACTURE_LEAST);
		out_limits->piece_tets_min = count_of(PIECE_TETS_MOST * fminf(crowd, 1.0f), (float)FEM_PIECE_TETS_MIN);
		out_limits->pieces_free = pieces_free_of((float)last->awake_pieces / awake);
		out_limits->splits_max = count_of(SPLITS_A_MS * ms, SPLITS_LEAST);
		out_limits->sweep_work_max = count_of(SWEEP_A_MS * ms, 1.0f);
		out_limits->solve_work_max = count_of(SOLVE_A_MS * ms, 1.0f);
		io_shed->freeze_speed = fminf(FREEZE_SPEED / budget->share, FREEZE_MOST);
	}
	float by_count =
		fminf(share_of_count(last->live_tets, def->live_tets_max), share_of_count(last->contacts, def->contacts_max));
	if (by_count < 1.0f)
		out_limits->awake_pieces_max =
			least_bound(out_limits->awake_pieces_max, count_of(by_count * (float)last->awake_pieces, 1.0f));
	if (def->live_tets_max > 0)
		out_limits->elastic_tets_max = least_bound(out_limits->elastic_tets_max, def->live_tets_max);
	io_shed->awake_max = out_limits->awake_pieces_max;
	io_shed->removals_max = removals_of(last->awake_pieces, io_shed->awake_max);
	return FEM_OK;
}
