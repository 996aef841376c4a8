// What tests of overlap polyhedra are made of: random numbers, tets as convex shapes, and what holds for every overlap.
#ifndef FEM_OVERLAP_RIG_H
#define FEM_OVERLAP_RIG_H

#include "base/vec.h"
#include "collision/overlap.h"

static const FemPosition zero_position = {0.0, 0.0, 0.0};
static const FemQuat no_rotation = {0.0f, 0.0f, 0.0f, 1.0f};

void fem_random_seed(uint64_t seed);
float fem_random_unit(void); // [-1, 1)
FemVec3 fem_random_vec3(void);
FemPosition fem_random_position(void);
FemQuat fem_random_rotation(void);

typedef struct FemTetShape {
	FemVec3 corners[4];
	FemConvexTet storage;
	FemConvex shape; // points into storage
} FemTetShape;

bool fem_make_tet_shape(const FemVec3 corners[4], uint32_t exterior, FemTetShape *tet);
bool fem_make_tet_shape_at(FemPosition origin, const FemVec3 corners[4], uint32_t exterior, FemTetShape *tet);
float fem_tet_shape_volume(const FemTetShape *tet); // m^3

// Corners in a cube of 2 m about (x, 0, 0), at least 0.1 m^3.
void fem_random_tet_shape(float x, FemTetShape *tet);

bool fem_convex_contains(const FemConvex *shape, FemPosition x);

// Of a volume in m^3 counted by `samples` random places in a cube of 2 m a side, one standard deviation. What is
// expected decides, not what was counted: few hits are often fewer.
double fem_monte_carlo_deviation(double volume, int samples);

// Depth and points keep what they promise, for any overlap.
void fem_check_overlap(const FemOverlap *overlap);
void fem_check_direction(FemVec3 actual, FemVec3 expected, float tolerance);

#endif
