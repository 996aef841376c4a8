// What the comparisons with textbook mechanics (suite `theory`) share.
#ifndef FEM_THEORY_RIG_H
#define FEM_THEORY_RIG_H

#include "fem_destruction.h"

// A case's name, printf's way; it lasts until the next call.
const char *fem_named(const char *format, ...) __attribute__((format(printf, 1, 2)));

// One line a case: what theory says, what came out, and how far they may be apart.
void fem_compare(const char *what, double expected, double got, double tolerance);

FemBodyState fem_state_of(FemBodyId body);

typedef struct FemMomenta {
	double linear[3];  // kg m/s
	double angular[3]; // about the world's origin, kg m^2/s
} FemMomenta;

FemMomenta fem_momenta_of(const FemBodyId *bodies, int32_t count);

#endif
