// One measured run of a scene.
#ifndef FEM_BENCH_MEASURE_H
#define FEM_BENCH_MEASURE_H

#include "scenes/scenes.h"

#define WARM_UP_STEPS 10 // left out of percentiles and means, and of the count of allocations
#define STEPS_AFTER 30   // after the slowest: what a break leaves behind

typedef struct MeasureSettings {
	int32_t threads, steps, substeps;
	double tolerance;     // of the solver; 0: the default one
	const char *csv_path; // null for none, else a line for every step
} MeasureSettings;

typedef struct Measurement {
	const FemScene *scene;
	int32_t threads, steps;
	int32_t tets, nodes;
	double ms_median, ms_p10, ms_p99;        // wall time of a step
	double ms_max, ms_mean_after;            // of all steps, the first ones too: the slowest, the STEPS_AFTER after it
	double phase_ms[FEM_PHASE_COUNT];        // mean of a step
	double iterations_mean;                  // of a solve
	double solves_mean, factorizations_mean; // of a step
	double capped_share;                     // of solves that hit the cap
	double residual_max;
	double live_tets_mean;
	int32_t contacts_max; // of a step
	double contacts_mean;
	int32_t pieces;                       // in the end; one a connected part of a body
	int64_t splits, faces;                // over all steps: nodes split, faces opened
	int64_t tree_builds;                  // the same: Opcode trees of new surfaces, which allocate
	double ms_last;                       // median of the last tenth: what a settled scene costs
	double cpu_ms_mean;                   // of all threads: load on the machine does not count
	double cpu_ms_max, cpu_ms_mean_after; // the same of the step that took most of it, and of those after
	double height;                        // m, of the highest node at the end
	int32_t passes_max;                   // of a step
	double elastic_stored;                // J, most in the bodies before the first of them broke
	double kinetic_burst;                 // J, most of the bodies within 0.5 s after that
	double ball_speed_100ms;  // m/s, of the first ball along its first velocity, 0.1 s after the start; 0: no ball
	double over_strain_share; // of tets over 3 times the strain at break, in the worst published frame
	double tip_first_swing;   // m, downward positive; 0 where nothing is clamped
	uint64_t hash;
	int64_t bytes_peak;
	double allocations_per_step; // -1: cannot be counted in this build
} Measurement;

// False on failure, with a sentence on stderr.
bool measure_scene(const FemScene *scene, const MeasureSettings *settings, Measurement *out);

// "nodes tets fixed", positions, tets: the format that the peer programs read. False on failure, with a sentence.
bool write_scene_mesh(const FemScene *scene, const char *path);

#endif
