// A box on an inclined plank, in a world of its own.
#ifndef FEM_SLOPE_H
#define FEM_SLOPE_H

#include "dynamics/paper_friction.h"

typedef struct FemSlope {
	int32_t cells;       // a side
	float size;          // m, edge of the box
	float density;       // kg/m^3
	float young_modulus; // Pa
	float degrees;       // of the incline
	float friction;      // coefficient of both
	bool half_space;     // instead of a plank
	bool paper;          // the paper's friction
} FemSlope;

typedef struct FemSlopeResult {
	double slip;         // m, way downhill in all the time
	double late_slip;    // m, way after the first second
	double shaking;      // m/s, RMS of the downhill speed's change from step to step, after 1/4 s
	double acceleration; // m/s^2, mean over the last half of the time
} FemSlopeResult;

// gains may be null: those of fem_constants.h.
FemSlopeResult fem_slope_run(const FemSlope *slope, const FemFrictionGains *gains, double seconds);

#endif
