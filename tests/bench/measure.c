#include "bench/measure.h"

#include "base/timing.h"
#include "bench/allocation_count.h"
#include "bench/strain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Run {
	FemWorldId world;
	FemSceneBodies bodies;
	int32_t *tip_nodes;
	int32_t tip_count;
	double tip_start; // m, mean height of the tip at rest
	double *step_ms;  // [steps], wall time
	double *step_cpu; // [steps], ms of processor time of all threads
	FemVec3 *offsets; // of the first body
	int32_t node_count;
	int64_t solves, capped, iterations, live_tets, contacts, factorizations;
	StrainWatch *strain;   // of scenes that break, else null
	FemVec3 ball_velocity; // m/s, of the first ball at the start
	FILE *csv;             // or null
	double burst_at;       // s after the start, 0: not yet
} Run;

static int compare_doubles(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

static double percentile(const double *sorted, int32_t count, double share) {
	return sorted[(int32_t)(share * (count - 1) + 0.5)];
}

static double tip_height(Run *run) {
	FemPosition origin;
	double sum = 0.0;
	fem_body_get_positions(run->bodies.ids[0], &origin, run->offsets, run->node_count);
	for (int32_t i = 0; i < run->tip_count; i++)
		sum += (double)run->offsets[run->tip_nodes[i]].y;
	return run->tip_count ? origin.y + sum / run->tip_count : 0.0;
}

static void find_tip(Run *run) {
	FemPosition origin;
	float far = -INFINITY;
	fem_body_get_positions(run->bodies.ids[0], &origin, run->offsets, run->node_count);
	for (int32_t i = 0; i < run->node_count; i++)
		far = fmaxf(far, run->offsets[i].x);
	for (int32_t i = 0; i < run->node_count; i++) {
		if (run->offsets[i].x > far - 1e-4f)
			run->tip_nodes[run->tip_count++] = i;
	}
	run->tip_start = tip_height(run);
}

// ---- CSV

static bool open_csv(Run *run, const char *path) {
	if (!path)
		return true;
	run->csv = fopen(path, "w");
	if (!run->csv) {
		fprintf(stderr, "fem_bench: %s cannot be written.\n", path);
		return false;
	}
	fprintf(run->csv, "step,step_ms,cpu_ms");
	for (int p = 0; p < FEM_PHASE_COUNT; p++)
		fprintf(run->csv, ",%s_ms", fem_phase_name(p));
	fprintf(run->csv,
		",live_tets,sleeping_tets,live_nodes,live_islands,contacts,ground_contacts,pieces,rigid_pieces,splits,faces,"
		"tree_builds,"
		"passes,solves,solves_capped,iterations,factorizations,kinetic_j,elastic_j,potential_j\n");
	return true;
}

typedef struct Energy {
	double kinetic, elastic, potential; // J
} Energy;

// Of all bodies; what colliders have is not in it.
static Energy energy_of(const Run *run) {
	FemVec3 g = fem_world_get_gravity(run->world);
	Energy sum = {0};
	for (int32_t b = 0; b < run->bodies.count; b++) {
		FemBodyState state;
		if (fem_body_get_state(run->bodies.ids[b], &state) != FEM_OK)
			continue;
		sum.kinetic += state.kinetic_energy;
		sum.elastic += state.elastic_energy;
		sum.potential -=
			state.mass * ((double)g.x * state.center.x + (double)g.y * state.center.y + (double)g.z * state.center.z);
	}
	return sum;
}

static void write_csv(const Run *run, int32_t step, const FemStatistics *s) {
	if (!run->csv)
		return;
	Energy energy = energy_of(run);
	fprintf(run->csv, "%d,%.6f,%.6f", step, run->step_ms[step], run->step_cpu[step]);
	for (int p = 0; p < FEM_PHASE_COUNT; p++)
		fprintf(run->csv, ",%.6f", s->phase_ms[p]);
	fprintf(run->csv, ",%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%lld,%lld,", s->live_tets,
		s->tet_count - s->live_tets, s->live_nodes, s->live_islands, s->contacts, s->ground_contacts, s->pieces,
		s->rigid_pieces, s->splits, s->faces_opened, s->tree_builds, s->passes, s->solves, s->solves_capped,
		(long long)s->iterations, (long long)s->factorizations);
	fprintf(run->csv, "%.9g,%.9g,%.9g\n", energy.kinetic, energy.elastic, energy.potential);
}

// ---- runs

static void close_run(Run *run) {
	if (run->csv)
		fclose(run->csv);
	fem_world_destroy(run->world);
	strain_watch_close(run->strain);
	fem_scene_bodies_free(&run->bodies);
	free(run->tip_nodes);
	free(run->step_ms);
	free(run->step_cpu);
	free(run->offsets);
}

static bool open_run(Run *run, const FemScene *scene, int32_t threads, int32_t steps, double tolerance) {
	FemWorldDef def = fem_scene_world_def(scene, threads);
	if (tolerance > 0.0)
		def.solver_tolerance = (float)tolerance;
	run->world = fem_world_create(&def);
	run->bodies = fem_scene_build(scene, run->world);
	if (run->bodies.count != scene->body_count) {
		fprintf(stderr, "fem_bench: scene %s could not be built: %s\n", scene->name, fem_last_error());
		close_run(run);
		return false;
	}
	if (run->bodies.ball_count)
		run->ball_velocity = run->bodies.balls[0].velocity;
	run->node_count = fem_body_get_node_count(run->bodies.ids[0]);
	run->offsets = malloc((size_t)run->node_count * sizeof *run->offsets);
	run->tip_nodes = malloc((size_t)run->node_count * sizeof *run->tip_nodes);
	run->step_ms = malloc((size_t)steps * sizeof *run->step_ms);
	run->step_cpu = malloc((size_t)steps * sizeof *run->step_cpu);
	if (!run->offsets || !run->tip_nodes || !run->step_ms || !run->step_cpu) {
		fprintf(stderr, "fem_bench: out of memory; take fewer steps.\n");
		close_run(run);
		return false;
	}
	return true;
}

static void add_statistics(Run *run, const FemStatistics *statistics, bool timed, Measurement *out) {
	run->solves += statistics->solves;
	run->capped += statistics->solves_capped;
	out->residual_max = fmax(out->residual_max, (double)statistics->residual_max);
	out->bytes_peak = statistics->bytes_peak;
	out->pieces = statistics->pieces;
	out->splits += statistics->splits;
	out->faces += statistics->faces_opened;
	out->passes_max = statistics->passes > out->passes_max ? statistics->passes : out->passes_max;
	out->tree_builds += statistics->tree_builds;
	out->contacts_max = statistics->contacts > out->contacts_max ? statistics->contacts : out->contacts_max;
	if (!timed)
		return;
	run->iterations += statistics->iterations;
	run->live_tets += statistics->live_tets;
	run->contacts += statistics->contacts;
	run->factorizations += statistics->factorizations;
	for (int p = 0; p < FEM_PHASE_COUNT; p++)
		out->phase_ms[p] += statistics->phase_ms[p];
}

static double highest(const Run *run) {
	double high = -INFINITY;
	for (int32_t b = 0; b < run->bodies.count; b++) {
		FemPosition low, top;
		fem_body_get_bounds(run->bodies.ids[b], &low, &top);
		high = fmax(high, top.y);
	}
	return high;
}

static void summarize(Run *run, Measurement *out, int64_t timed_solves) {
	int32_t timed = out->steps - WARM_UP_STEPS;
	double *times = run->step_ms + WARM_UP_STEPS;
	int32_t last = timed / 10 > 0 ? timed / 10 : 1;
	qsort(times + timed - last, (size_t)last, sizeof *times, compare_doubles);
	out->ms_last = percentile(times + timed - last, last, 0.5);
	qsort(times, (size_t)timed, sizeof *times, compare_doubles);
	out->ms_median = percentile(times, timed, 0.5);
	out->ms_p10 = percentile(times, timed, 0.1);
	out->ms_p99 = percentile(times, timed, 0.99);
	for (int p = 0; p < FEM_PHASE_COUNT; p++)
		out->phase_ms[p] /= timed;
	out->iterations_mean = timed_solves ? (double)run->iterations / (double)timed_solves : 0.0;
	out->capped_share = run->solves ? (double)run->capped / (double)run->solves : 0.0;
	out->live_tets_mean = (double)run->live_tets / timed;
	out->solves_mean = (double)timed_solves / timed;
	out->factorizations_mean = (double)run->factorizations / timed;
	out->contacts_mean = (double)run->contacts / timed;
	out->height = highest(run);
	out->hash = fem_world_hash(run->world);
}

// The slowest step, and the mean of those after it.
static void find_slowest(const double *step_ms, int32_t steps, double *out_max, double *out_mean_after) {
	int32_t slowest = 0, after = 0;
	double sum = 0.0;
	for (int32_t s = 1; s < steps; s++)
		slowest = step_ms[s] > step_ms[slowest] ? s : slowest;
	for (int32_t s = slowest + 1; s < steps && after < STEPS_AFTER; s++, after++)
		sum += step_ms[s];
	*out_max = step_ms[slowest];
	*out_mean_after = sum / (after ? after : 1);
}

// What a blow did, read from the shape published last. `seconds` have passed since the start.
static void watch_blow(const Run *run, const FemScene *scene, double seconds, Measurement *out) {
	const double limit = 3.0 * (double)scene->toughness / (double)scene->young_modulus;
	FemColliderResult result;
	if (run->strain)
		out->over_strain_share = fmax(out->over_strain_share, strain_watch_share(run->strain, limit));
	if (run->bodies.ball_count == 0 || seconds > 0.1 + 0.5 * (double)scene->dt ||
		fem_collider_get_result(run->bodies.balls[0].id, &result) != FEM_OK)
		return;
	FemVec3 v = result.linear_velocity, u = run->ball_velocity;
	double speed = sqrt((double)(u.x * u.x + u.y * u.y + u.z * u.z));
	out->ball_speed_100ms = speed > 0.0 ? (double)(v.x * u.x + v.y * u.y + v.z * u.z) / speed : 0.0;
}

#define BURST_TIME 0.5 // s; chosen: debris has left, and has not fallen far

// What was stored before something broke, and what of it is motion after.
static void watch_burst(Run *run, int32_t pieces, double seconds, Measurement *out) {
	double kinetic = 0.0, elastic = 0.0;
	for (int32_t b = 0; b < run->bodies.count; b++) {
		FemBodyState state;
		if (fem_body_get_state(run->bodies.ids[b], &state) != FEM_OK)
			continue;
		kinetic += state.kinetic_energy;
		elastic += state.elastic_energy;
	}
	if (pieces <= run->bodies.count)
		out->elastic_stored = fmax(out->elastic_stored, elastic);
	else if (run->burst_at <= 0.0)
		run->burst_at = seconds;
	if (run->burst_at > 0.0 && seconds < run->burst_at + BURST_TIME)
		out->kinetic_burst = fmax(out->kinetic_burst, kinetic);
}

static bool open_measurement(Run *run, const FemScene *scene, const MeasureSettings *settings) {
	if (!open_run(run, scene, settings->threads, settings->steps, settings->tolerance))
		return false;
	if (scene->toughness > 0.0f)
		run->strain = strain_watch_open(run->bodies.ids, run->bodies.count);
	if (!open_csv(run, settings->csv_path)) {
		close_run(run);
		return false;
	}
	if (scene->clamped)
		find_tip(run);
	return true;
}

bool measure_scene(const FemScene *scene, const MeasureSettings *settings, Measurement *out) {
	Run run = {0};
	const int32_t steps = settings->steps;
	*out = (Measurement){.scene = scene, .threads = settings->threads, .steps = steps};
	if (!open_measurement(&run, scene, settings))
		return false;
	int64_t allocations = 0, warm_up_solves = 0;
	double cpu = 0.0; // ms, of the steps after warm-up
	FemStatistics statistics;
	for (int32_t s = 0; s < steps; s++) {
		if (s == WARM_UP_STEPS)
			warm_up_solves = run.solves;
		if (scene->drive)
			scene->drive(&run.bodies, s, scene->dt);
		int64_t allocated = allocation_count();
		double start = fem_time_ms();
		clock_t cpu_start = clock();
		fem_world_step(run.world, scene->dt, settings->substeps);
		run.step_ms[s] = fem_time_ms() - start;
		run.step_cpu[s] = 1e3 * (double)(clock() - cpu_start) / CLOCKS_PER_SEC;
		if (s >= WARM_UP_STEPS) {
			cpu += run.step_cpu[s];
			allocations += allocation_count() - allocated;
		}
		fem_world_get_statistics(run.world, &statistics);
		add_statistics(&run, &statistics, s >= WARM_UP_STEPS, out);
		write_csv(&run, s, &statistics);
		watch_blow(&run, scene, (s + 1) * (double)scene->dt, out);
		if (scene->toughness > 0.0f)
			watch_burst(&run, statistics.pieces, (s + 1) * (double)scene->dt, out);
		if (scene->clamped)
			out->tip_first_swing = fmax(out->tip_first_swing, run.tip_start - tip_height(&run));
	}
	out->cpu_ms_mean = cpu / (steps - WARM_UP_STEPS);
	out->allocations_per_step = allocation_count_works() ? (double)allocations / (steps - WARM_UP_STEPS) : -1.0;
	out->tets = statistics.tet_count;
	out->nodes = statistics.node_count;
	find_slowest(run.step_ms, steps, &out->ms_max, &out->ms_mean_after);
	find_slowest(run.step_cpu, steps, &out->cpu_ms_max, &out->cpu_ms_mean_after);
	summarize(&run, out, run.solves - warm_up_solves);
	close_run(&run);
	return true;
}

// ---- mesh files

static void print_mesh(FILE *file, FemBodyId body, const FemVec3 *positions, const int32_t *tets) {
	int32_t node_count = fem_body_get_node_count(body), tet_count = fem_body_get_tet_count(body);
	FemBodyState state;
	fem_body_get_state(body, &state);
	fprintf(file, "%d %d %d\n", node_count, tet_count, state.pinned_count);
	for (int32_t i = 0; i < node_count; i++)
		fprintf(file, "%.9g %.9g %.9g\n", (double)positions[i].x, (double)positions[i].y, (double)positions[i].z);
	for (int32_t t = 0; t < tet_count; t++)
		fprintf(file, "%d %d %d %d\n", tets[4 * t], tets[4 * t + 1], tets[4 * t + 2], tets[4 * t + 3]);
}

bool write_scene_mesh(const FemScene *scene, const char *path) {
	Run run = {0};
	if (!open_run(&run, scene, 1, 1, 0.0))
		return false;
	FemPosition origin;
	FemBodyId body = run.bodies.ids[0];
	int32_t tet_count = fem_body_get_tet_count(body);
	int32_t *tets = malloc((size_t)tet_count * 4 * sizeof *tets);
	FILE *file = fopen(path, "w");
	bool done = false;
	if (!file || !tets) {
		fprintf(stderr, "fem_bench: %s cannot be written.\n", path);
	} else {
		fem_body_get_positions(body, &origin, run.offsets, run.node_count);
		for (int32_t i = 0; i < run.node_count; i++) {
			run.offsets[i].x += (float)origin.x;
			run.offsets[i].y += (float)origin.y;
			run.offsets[i].z += (float)origin.z;
		}
		fem_body_get_tets(body, tets, tet_count);
		print_mesh(file, body, run.offsets, tets);
		done = !ferror(file);
	}
	if (file && fclose(file) != 0)
		done = false;
	free(tets);
	close_run(&run);
	return done;
}
