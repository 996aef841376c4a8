// Runs one scene and says how long a step takes and whether the answer is right. See README.md beside this file.
#include "bench/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2 // bad arguments; 1 is a run that failed

typedef struct Options {
	const FemScene *scene;
	const char *mesh_path;
	MeasureSettings measure;
	int32_t hz, seed, bodies, triangles, cells[3]; // 0: the scene's own
	int32_t modes;                                 // -1: the scene's own
	bool json, list, help;
} Options;

static void print_scenes(FILE *file) {
	int32_t count;
	const FemScene *scenes = fem_scenes(&count);
	for (int32_t i = 0; i < count; i++)
		fprintf(file, "  %-17s %s\n", scenes[i].name, scenes[i].description);
}

static void print_help(void) {
	printf(
		"usage: fem_bench --scene NAME [--threads N] [--steps N] [--hz N] [--substeps N] [--cells X,Y,Z] [--seed N]\n"
		"                 [--bodies N] [--triangles N] [--modes N] [--tolerance X] [--csv FILE] [--json]\n"
		"       fem_bench --list\n"
		"       fem_bench --scene NAME --write-mesh FILE\n\n"
		"  --threads N  1..64, default 1\n"
		"  --steps N    20..1000000, default 300; the first %d are not timed, save for ms_max\n"
		"  --hz N       1..10000 steps a second, default the scene's own\n"
		"  --substeps N 1..64 of a step, default 1\n"
		"  --cells X,Y,Z  1..200 each, of a body's box, default the scene's own; wall has one mesh only\n"
		"  --seed N     1..1000000, of toughness that differs from tet to tet, default the scene's own\n"
		"  --bodies N   1..100000, of heap, shots and other scenes that do not count on their own number of them\n"
		"  --triangles N  8..10000000, about, of the mesh collider of shots\n"
		"  --modes N    0..256, that the bars of modal scenes move by; 0: by their elements\n"
		"  --tolerance X  of the solver, default 1e-3\n"
		"  --csv FILE   write times and counts of every step\n"
		"  --json       print one JSON object\n\nscenes:\n",
		WARM_UP_STEPS);
	print_scenes(stdout);
}

static bool parse_count(const char *option, const char *text, int32_t low, int32_t high, int32_t *out) {
	char *end = NULL;
	errno = 0;
	long value = text ? strtol(text, &end, 10) : 0;
	if (!text || end == text || *end != '\0' || errno || value < low || value > high) {
		fprintf(stderr, "fem_bench: %s needs a whole number from %d to %d, not \"%s\".\n", option, low, high,
			text ? text : "");
		return false;
	}
	*out = (int32_t)value;
	return true;
}

static bool parse_scene(const char *name, const FemScene **out) {
	*out = name ? fem_scene_find(name) : NULL;
	if (*out)
		return true;
	fprintf(stderr, "fem_bench: there is no scene \"%s\"; choose one of\n", name ? name : "");
	print_scenes(stderr);
	return false;
}

static bool parse_cells(const char *option, const char *text, int32_t out[3]) {
	char rest;
	bool ok = text && sscanf(text, "%d,%d,%d%c", &out[0], &out[1], &out[2], &rest) == 3;
	for (int i = 0; ok && i < 3; i++)
		ok = out[i] >= 1 && out[i] <= 200;
	if (!ok)
		fprintf(stderr, "fem_bench: %s needs three whole numbers from 1 to 200 with commas between, not \"%s\".\n",
			option, text ? text : "");
	return ok;
}

typedef struct CountOption {
	const char *name;
	int32_t low, high;
	int32_t *value;
} CountOption;

// Null: it is not an option that takes a whole number.
static const CountOption *find_count(const CountOption *counts, size_t count, const char *name) {
	for (size_t k = 0; k < count; k++) {
		if (strcmp(name, counts[k].name) == 0)
			return &counts[k];
	}
	return NULL;
}

static bool parse_options(int count, char **arguments, Options *out) {
	const CountOption counts[] = {
		{"--threads", 1, 64, &out->measure.threads},
		{"--steps", 20, 1000000, &out->measure.steps},
		{"--substeps", 1, 64, &out->measure.substeps},
		{"--hz", 1, 10000, &out->hz},
		{"--seed", 1, 1000000, &out->seed},
		{"--bodies", 1, 100000, &out->bodies},
		{"--triangles", 8, 10000000, &out->triangles},
		{"--modes", 0, 256, &out->modes},
	};
	for (int i = 1; i < count; i++) {
		const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
		const CountOption *number = find_count(counts, sizeof counts / sizeof *counts, name);
		if (strcmp(name, "--json") == 0) {
			out->json = true;
		} else if (strcmp(name, "--list") == 0) {
			out->list = true;
		} else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
			out->help = true;
		} else if (strcmp(name, "--scene") == 0) {
			if (!parse_scene(value, &out->scene))
				return false;
			i++;
		} else if (number) {
			if (!parse_count(name, value, number->low, number->high, number->value))
				return false;
			i++;
		} else if (strcmp(name, "--cells") == 0) {
			if (!parse_cells(name, value, out->cells))
				return false;
			i++;
		} else if (strcmp(name, "--tolerance") == 0 && value) {
			out->measure.tolerance = strtod(value, NULL);
			i++;
		} else if (strcmp(name, "--csv") == 0 && value) {
			out->measure.csv_path = value;
			i++;
		} else if (strcmp(name, "--write-mesh") == 0 && value) {
			out->mesh_path = value;
			i++;
		} else {
			fprintf(stderr, "fem_bench: unknown or incomplete option %s; see --help.\n", name);
			return false;
		}
	}
	if (!out->scene && !out->list && !out->help)
		fprintf(stderr, "fem_bench: --scene NAME is missing; --list shows the scenes.\n");
	return out->scene || out->list || out->help;
}

static void print_json(const Measurement *m) {
	printf("{\"scene\": \"%s\", \"tets\": %d, \"nodes\": %d, \"threads\": %d, \"steps\": %d, ", m->scene->name, m->tets,
		m->nodes, m->threads, m->steps);
	printf("\"ms_median\": %.6f, \"ms_p10\": %.6f, \"ms_p99\": %.6f, \"ms_max\": %.6f, \"ms_mean_after\": %.6f, "
		   "\"phases\": {",
		m->ms_median, m->ms_p10, m->ms_p99, m->ms_max, m->ms_mean_after);
	for (int p = 0; p < FEM_PHASE_COUNT; p++)
		printf("%s\"%s\": %.6f", p ? ", " : "", fem_phase_name(p), m->phase_ms[p]);
	printf("}, \"cg_iterations_mean\": %.4f, \"cg_capped\": %.6f, \"residual_max\": %.6g, \"live_tets_mean\": %.2f, ",
		m->iterations_mean, m->capped_share, m->residual_max, m->live_tets_mean);
	printf("\"tip_first_swing\": %.6f, \"hash\": \"%016llx\", \"bytes_peak\": %lld, \"allocations_per_step\": %.4f, ",
		m->tip_first_swing, (unsigned long long)m->hash, (long long)m->bytes_peak, m->allocations_per_step);
	printf("\"solves_mean\": %.3f, \"factorizations_mean\": %.3f, ", m->solves_mean, m->factorizations_mean);
	printf(
		"\"contacts_max\": %d, \"contacts_mean\": %.1f, \"ms_last\": %.6f, \"cpu_ms_mean\": %.6f, \"height\": %.6f, ",
		m->contacts_max, m->contacts_mean, m->ms_last, m->cpu_ms_mean, m->height);
	printf("\"pieces\": %d, \"splits\": %lld, \"faces\": %lld, \"tree_builds\": %lld, ", m->pieces,
		(long long)m->splits, (long long)m->faces, (long long)m->tree_builds);
	printf("\"passes_max\": %d, ", m->passes_max);
	printf("\"cpu_ms_max\": %.6f, \"cpu_ms_mean_after\": %.6f, ", m->cpu_ms_max, m->cpu_ms_mean_after);
	printf("\"elastic_stored\": %.3f, \"kinetic_burst\": %.3f, ", m->elastic_stored, m->kinetic_burst);
	printf("\"ball_speed_100ms\": %.4f, \"over_strain_share\": %.6f, ", m->ball_speed_100ms, m->over_strain_share);
	printf("\"simd\": \"%s\"}\n", fem_simd_name());
}

static void print_text(const Measurement *m) {
	printf("%s: %d tets, %d nodes, %d thread%s, %s, %d steps\n", m->scene->name, m->tets, m->nodes, m->threads,
		m->threads == 1 ? "" : "s", fem_simd_name(), m->steps);
	printf("  step       %.3f ms median, %.3f p10, %.3f p99, %.3f at most, %.3f mean of the %d after that\n",
		m->ms_median, m->ms_p10, m->ms_p99, m->ms_max, m->ms_mean_after, STEPS_AFTER);
	printf("  processor  %.3f ms mean, %.3f at most, %.3f mean of the %d after that\n", m->cpu_ms_mean, m->cpu_ms_max,
		m->cpu_ms_mean_after, STEPS_AFTER);
	for (int p = 0; p < FEM_PHASE_COUNT; p++)
		printf("  %-10s %.4f ms\n", fem_phase_name(p), m->phase_ms[p]);
	printf("  solver     %.2f iterations a solve, %.1f %% at the cap, residual up to %.2g\n", m->iterations_mean,
		100.0 * m->capped_share, m->residual_max);
	printf("  solves     %.2f a step, %.2f factorizations\n", m->solves_mean, m->factorizations_mean);
	printf("  live       %.0f tets\n", m->live_tets_mean);
	printf("  contacts   %.1f mean, %d at most; last tenth %.4f ms; height %.4f m\n", m->contacts_mean, m->contacts_max,
		m->ms_last, m->height);
	printf("  fracture   %d pieces in the end, %lld splits, %lld faces, %lld trees built\n", m->pieces,
		(long long)m->splits, (long long)m->faces, (long long)m->tree_builds);
	if (m->scene->toughness > 0.0f)
		printf("  blow       ball %.2f m/s after 0.1 s, %.2f %% of tets over 3 times the strain at break\n",
			m->ball_speed_100ms, 100.0 * m->over_strain_share);
	if (m->scene->clamped)
		printf("  swing      %.4f m down\n", m->tip_first_swing);
	printf("  memory     %.2f MB at most, %.2f allocations a step\n", (double)m->bytes_peak * 1e-6,
		m->allocations_per_step);
	printf("  hash       %016llx\n", (unsigned long long)m->hash);
}

// The scene with what the options change of it.
static FemScene changed_scene(const Options *options) {
	FemScene scene = *options->scene;
	if (options->hz)
		scene.dt = 1.0f / (float)options->hz;
	if (options->seed)
		scene.seed = (uint32_t)options->seed;
	if (options->bodies)
		scene.body_count = options->bodies;
	if (options->triangles)
		scene.triangle_count = options->triangles;
	if (options->modes >= 0)
		scene.mode_count = options->modes;
	for (int i = 0; i < 3 && options->cells[0]; i++)
		scene.cells[i] = options->cells[i];
	return scene;
}

int main(int argument_count, char **arguments) {
	Options options = {.measure = {.threads = 1, .steps = 300, .substeps = 1}, .modes = -1};
	if (!parse_options(argument_count, arguments, &options))
		return EXIT_USAGE;
	if (options.help) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (options.list) {
		print_scenes(stdout);
		return EXIT_SUCCESS;
	}
	FemScene scene = changed_scene(&options);
	if (options.mesh_path)
		return write_scene_mesh(&scene, options.mesh_path) ? EXIT_SUCCESS : EXIT_FAILURE;
	Measurement measurement;
	if (!measure_scene(&scene, &options.measure, &measurement))
		return EXIT_FAILURE;
	if (options.json)
		print_json(&measurement);
	else
		print_text(&measurement);
	return EXIT_SUCCESS;
}
