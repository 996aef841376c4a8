// What the simulation tells of itself: statistics, monitors of Godot's debugger, marks of its profiler.
#include "simulation/simulation_statistics.h"

#include "binding/conversions.h"
#include "coupling/coupling.h"
#include "simulation/simulation_world.h"

#include <math.h>
#include <stdio.h>

typedef struct Totals {
	FemStatistics sum;
	CouplingStatistics coupling;
	BudgetStatistics budget;
	uint32_t errors;
	int32_t awaited;
} Totals;

static void add_statistics(FemStatistics *sum, const FemStatistics *one) {
	sum->step_count += one->step_count;
	sum->body_count += one->body_count;
	sum->node_count += one->node_count;
	sum->tet_count += one->tet_count;
	sum->live_tets += one->live_tets;
	sum->live_nodes += one->live_nodes;
	sum->live_islands += one->live_islands;
	sum->asleep_islands += one->asleep_islands;
	sum->ground_contacts += one->ground_contacts;
	sum->contacts += one->contacts;
	sum->contact_pairs += one->contact_pairs;
	sum->factorizations += one->factorizations;
	sum->crushed_tets += one->crushed_tets;
	sum->tree_builds += one->tree_builds;
	sum->pieces += one->pieces;
	sum->rigid_pieces += one->rigid_pieces;
	sum->modal_pieces += one->modal_pieces;
	sum->splits += one->splits;
	sum->faces_opened += one->faces_opened;
	sum->passes += one->passes;
	sum->solves += one->solves;
	sum->solves_capped += one->solves_capped;
	sum->solves_bounded += one->solves_bounded;
	sum->iterations += one->iterations;
	sum->residual_max = fmaxf(sum->residual_max, one->residual_max);
	sum->step_ms += one->step_ms;
	for (int i = 0; i < FEM_PHASE_COUNT; i++) {
		sum->phase_ms[i] += one->phase_ms[i];
	}
}

static void put_phases(GdDictionary *out, const FemStatistics *sum) {
	GdDictionary phases = gd_dictionary_new();
	for (int i = 0; i < FEM_PHASE_COUNT; i++) {
		dictionary_take(&phases, fem_phase_name((FemPhase)i), make_variant_float(sum->phase_ms[i]));
	}
	dictionary_take(out, "phase_ms", make_variant(GDEXTENSION_VARIANT_TYPE_DICTIONARY, &phases));
	gd_dictionary_free(&phases);
}

static int32_t count_awaited(const SimulationWorld *world) {
	int32_t count = 0;
	for (int32_t i = 0; i < world->body_count; i++) {
		count += world->bodies[i]->awaited != NULL;
	}
	return count;
}

static Totals add_up(void) {
	Totals totals = {.budget = {.share = 1.0}};
	FemStatistics one;
	for (int32_t i = 0; i < simulation_world_count(); i++) {
		SimulationWorld *world = simulation_world_at(i);
		totals.awaited += count_awaited(world);
		budget_add_statistics(world, &totals.budget);
		if (fem_world_get_statistics(world->id, &one) == FEM_OK) {
			add_statistics(&totals.sum, &one);
			totals.errors |= world->step_errors;
			coupling_add_statistics(world, &totals.coupling);
		}
	}
	return totals;
}

void simulation_statistics(GdDictionary *out) {
	Totals totals = add_up();
	const FemStatistics sum = totals.sum;
	const CouplingStatistics coupling = totals.coupling;
	const BudgetStatistics budget = totals.budget;
	SimulationTimes times = simulation_times();
	dictionary_take(out, "worlds", make_variant_int(simulation_world_count()));
	dictionary_take(out, "workers", make_variant_int(simulation_worker_count()));
	dictionary_take(out, "bodies", make_variant_int(sum.body_count));
	dictionary_take(out, "nodes", make_variant_int(sum.node_count));
	dictionary_take(out, "tets", make_variant_int(sum.tet_count));
	dictionary_take(out, "live_nodes", make_variant_int(sum.live_nodes));
	dictionary_take(out, "live_tets", make_variant_int(sum.live_tets));
	dictionary_take(out, "live_islands", make_variant_int(sum.live_islands));
	dictionary_take(out, "asleep_islands", make_variant_int(sum.asleep_islands));
	dictionary_take(out, "ground_contacts", make_variant_int(sum.ground_contacts));
	dictionary_take(out, "contacts", make_variant_int(sum.contacts));
	dictionary_take(out, "pieces", make_variant_int(sum.pieces));
	dictionary_take(out, "rigid_pieces", make_variant_int(sum.rigid_pieces));
	dictionary_take(out, "modal_pieces", make_variant_int(sum.modal_pieces));
	dictionary_take(out, "splinters_awaited", make_variant_int(totals.awaited));
	dictionary_take(out, "splits", make_variant_int(sum.splits));
	dictionary_take(out, "faces_opened", make_variant_int(sum.faces_opened));
	dictionary_take(out, "passes", make_variant_int(sum.passes));
	dictionary_take(out, "steps", make_variant_int((int64_t)sum.step_count));
	dictionary_take(out, "solves", make_variant_int(sum.solves));
	dictionary_take(out, "solves_capped", make_variant_int(sum.solves_capped));
	dictionary_take(out, "solves_bounded", make_variant_int(sum.solves_bounded));
	dictionary_take(out, "iterations", make_variant_int(sum.iterations));
	dictionary_take(out, "residual_max", make_variant_float(sum.residual_max));
	dictionary_take(out, "step_errors", make_variant_int(totals.errors));
	dictionary_take(out, "step_ms", make_variant_float(sum.step_ms));
	dictionary_take(out, "draw_ms", make_variant_float(times.draw_ms));
	dictionary_take(out, "owners_ms", make_variant_float(times.owners_ms));
	dictionary_take(out, "sound_ms", make_variant_float(times.sound_ms));
	dictionary_take(out, "memory_bytes", make_variant_int(fem_memory_bytes()));
	dictionary_take(out, "splinter_bytes", make_variant_int(fem_splinter_bytes()));
	dictionary_take(out, "simd", make_variant_string(fem_simd_name()));
	dictionary_take(out, "rigid_bodies", make_variant_int(coupling.bodies));
	dictionary_take(out, "rigid_colliders", make_variant_int(coupling.colliders));
	dictionary_take(out, "rigid_forces", make_variant_int(coupling.forces));
	dictionary_take(out, "piece_proxies", make_variant_int(coupling.proxies));
	dictionary_take(out, "coupling_ms", make_variant_float(coupling.ms));
	dictionary_take(out, "contact_pairs", make_variant_int(sum.contact_pairs));
	dictionary_take(out, "factorizations", make_variant_int(sum.factorizations));
	dictionary_take(out, "crushed_tets", make_variant_int(sum.crushed_tets));
	dictionary_take(out, "tree_builds", make_variant_int(sum.tree_builds));
	dictionary_take(out, "tick_ms", make_variant_float(budget.tick_ms));
	dictionary_take(out, "budget_share", make_variant_float(budget.share));
	dictionary_take(out, "late_ticks", make_variant_int(budget.late_ticks));
	dictionary_take(out, "shed_frozen", make_variant_int(budget.frozen));
	dictionary_take(out, "shed_faded", make_variant_int(budget.faded));
	dictionary_take(out, "shed_blasts", make_variant_int(budget.blasts));
	put_phases(out, &sum);
}

// ---- monitors

enum {
	MONITOR_TICK_MS,
	MONITOR_STEP_MS,
	MONITOR_COUPLING_MS,
	MONITOR_DRAW_MS,
	MONITOR_LIVE_TETS,
	MONITOR_PIECES,
	MONITOR_AWAKE_PIECES,
	MONITOR_CONTACTS,
	MONITOR_MEMORY,
	MONITOR_SHARE,
	MONITOR_SHED,
	MONITOR_PHASES, // one for each FemPhase
	MONITOR_COUNT = MONITOR_PHASES + FEM_PHASE_COUNT
};

// In the debugger's list under "fem_destruction".
static const char *const monitor_names[MONITOR_PHASES] = {"tick_ms", "step_ms", "coupling_ms", "draw_ms", "live_tets",
	"pieces", "awake_pieces", "contacts", "memory_bytes", "budget_share", "shed_pieces"};

static Totals last; // of the last tick

static GdStringName monitor_name(int32_t index) {
	char text[64];
	if (index < MONITOR_PHASES) {
		snprintf(text, sizeof(text), "fem_destruction/%s", monitor_names[index]);
	} else {
		snprintf(text, sizeof(text), "fem_destruction/%s_ms", fem_phase_name((FemPhase)(index - MONITOR_PHASES)));
	}
	return make_string_name(text);
}

double monitors_get(int64_t index) {
	switch (index) {
	case MONITOR_TICK_MS: return last.budget.tick_ms;
	case MONITOR_STEP_MS: return last.sum.step_ms;
	case MONITOR_COUPLING_MS: return last.coupling.ms;
	case MONITOR_DRAW_MS: return simulation_times().draw_ms;
	case MONITOR_LIVE_TETS: return last.sum.live_tets;
	case MONITOR_PIECES: return last.sum.pieces;
	case MONITOR_AWAKE_PIECES: return last.sum.live_islands;
	case MONITOR_CONTACTS: return last.sum.contacts;
	case MONITOR_MEMORY: return (double)fem_memory_bytes();
	case MONITOR_SHARE: return last.budget.share;
	case MONITOR_SHED: return (double)(last.budget.frozen + last.budget.faded);
	default: break;
	}
	bool is_phase = index >= MONITOR_PHASES && index < MONITOR_COUNT;
	return is_phase ? last.sum.phase_ms[index - MONITOR_PHASES] : 0.0;
}

void monitors_add(GDExtensionObjectPtr target, const GdStringName *method) {
	for (int32_t i = 0; i < MONITOR_COUNT; i++) {
		GdStringName name = monitor_name(i);
		GdCallable callable = gd_callable_new_object_string_name(target, method);
		GdArray arguments = gd_array_new();
		gd_array_resize(&arguments, 1);
		array_take(&arguments, 0, make_variant_int(i));
		if (!gd_performance_has_custom_monitor(&name)) {
			gd_performance_add_custom_monitor(&name, &callable, &arguments, 0); // a plain number
		}
		gd_array_free(&arguments);
		gd_callable_free(&callable);
		gd_string_name_free(&name);
	}
}

void monitors_remove(void) {
	for (int32_t i = 0; i < MONITOR_COUNT; i++) {
		GdStringName name = monitor_name(i);
		if (gd_performance_has_custom_monitor(&name)) {
			gd_performance_remove_custom_monitor(&name);
		}
		gd_string_name_free(&name);
	}
}

// ---- the profiler

// Godot's profiler lists them as functions of a server of this name, each with its time in s.
static void mark_phases(void) {
	GdStringName profiler = make_string_name("servers");
	if (gd_engine_debugger_is_active() && gd_engine_debugger_is_profiling(&profiler)) {
		GdArray data = gd_array_new();
		int64_t at = 0;
		gd_array_resize(&data, 3 + 2 * FEM_PHASE_COUNT); // the name, two a phase, two of the coupling
		array_take(&data, at++, make_variant_string("fem_destruction"));
		for (int i = 0; i < FEM_PHASE_COUNT; i++) {
			array_take(&data, at++, make_variant_string(fem_phase_name((FemPhase)i)));
			array_take(&data, at++, make_variant_float(1e-3 * last.sum.phase_ms[i]));
		}
		array_take(&data, at++, make_variant_string("coupling"));
		array_take(&data, at++, make_variant_float(1e-3 * last.coupling.ms));
		gd_engine_debugger_profiler_add_frame_data(&profiler, &data);
		gd_array_free(&data);
	}
	gd_string_name_free(&profiler);
}

void monitors_after_tick(void) {
	last = add_up();
	mark_phases();
}
