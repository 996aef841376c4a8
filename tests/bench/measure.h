// One measured run of a scene.
#ifndef FEM_BENCH_MEASURE_H
#define FEM_BENCH_MEASURE_H

#include "scenes/scenes.h"

#define WARM_UP_STEPS 10 // not timed, and not counted for allocations

typedef struct Measurement {
	const FemScene *scene;
	int32_t threads, steps;
	int32_t tets, nodes;
	double ms_median, ms_p10, ms_p99; // wall time of a step
	double phase_ms[FEM_PHASE_COUNT]; // mean of a step
	double iterations_mean;           // of a solve
	double capped_share;              // of solves that hit the cap
	double residual_max;
	double live_tets_mean;
	double tip_first_swing; // m, downward positive; 0 where nothing is clamped
	uint64_t hash;
	int64_t bytes_peak;
	double allocations_per_step; // -1: cannot be counted in this build
} Measurement;

// False on failure, with a sentence on stderr.
bool measure_scene(const FemScene *scene, int32_t threads, int32_t steps, Measurement *out);

// "nodes tets fixed", positions, tets: the format that the peer programs read. False on failure, with a sentence.
bool write_scene_mesh(const FemScene *scene, const char *path);

#endif
