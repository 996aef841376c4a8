// The rigid motion of a set of nodes: the sums that it follows from, and how nodes are moved along it.
#ifndef FEM_DYNAMICS_RIGID_MOTION_H
#define FEM_DYNAMICS_RIGID_MOTION_H

#include "base/range.h"
#include "model/body.h"

#include <stdbool.h>
#include <string.h>

// Sums over nodes, about the body's origin.
typedef struct FemMotionSums {
	double mass;        // kg
	double moment[3];   // m x, kg m
	double second[6];   // m x x^T: xx yy zz xy yz zx, kg m^2
	double momentum[3]; // m v, kg m/s
	double angular[3];  // x cross m v
	double impulse[3];  // external, N s
	double torque[3];   // x cross external impulse
	double kinetic;     // J, m v.v / 2
	double lost;        // J, m dv.dv / 2: what the step takes of it whatever acts
	double energy[3];   // J, what strain_bound.c says
	bool finite;
} FemMotionSums;

typedef struct FemMotion {
	float center[3];   // m, centre of mass
	float velocity[3]; // m/s
	float spin[3];     // rad/s; 0 where the inertia tensor is singular
} FemMotion;

// A rigid motion over some time.
typedef struct FemRigidMove {
	FemMotion motion;
	float rotation_increment[9]; // exp(theta) - 1, row by row
	float end_spin[3];           // rad/s, after it
} FemRigidMove;

// ---- sums

static inline void fem_sums_add_node(FemMotionSums *sums, double m, const double x[3], const double v[3]) {
	sums->mass += m;
	for (int i = 0; i < 3; i++) {
		sums->moment[i] += m * x[i];
		sums->second[i] += m * x[i] * x[i];
		sums->second[i + 3] += m * x[i] * x[(i + 1) % 3];
		sums->momentum[i] += m * v[i];
		sums->angular[i] += m * (x[(i + 1) % 3] * v[(i + 2) % 3] - x[(i + 2) % 3] * v[(i + 1) % 3]);
	}
}

static inline void fem_sums_add_impulse(FemMotionSums *sums, const double x[3], const double j[3]) {
	for (int i = 0; i < 3; i++) {
		sums->impulse[i] += j[i];
		sums->torque[i] += x[(i + 1) % 3] * j[(i + 2) % 3] - x[(i + 2) % 3] * j[(i + 1) % 3];
	}
}

// Of nodes as they are and move now.
FemMotionSums fem_sums_of_nodes(const FemBody *body, FemRange nodes);
void fem_sums_add_nodes(FemMotionSums *sums, const FemBody *body, FemRange nodes);

// The centre of mass, m.
void fem_sums_center(const FemMotionSums *sums, double c[3]);

// a about the origin -> about the centre c: a - c x b
void fem_about_center(const double a[3], const double b[3], const double c[3], double out[3]);

// Inertia about the centre c, row by row, kg m^2. False where the nodes lie on a line or in a point.
bool fem_sums_inertia(const FemMotionSums *sums, const double c[3], double out[9]);

// out = I^-1 l, I the inertia about the centre; 0 where it is singular.
void fem_sums_solve_inertia(const FemMotionSums *sums, const double c[3], const double l[3], double out[3]);

// ---- nodes

// Rotation increment exp(theta) - 1 of the rotation vector theta (rad), row by row.
void fem_rotation_increment(const double theta[3], double out[9]);
void fem_rigid_move_rotate(FemRigidMove *move, const double theta[3]); // sets its increment

static inline void fem_to_float3(const double from[3], float to[3]) {
	for (int i = 0; i < 3; i++)
		to[i] = (float)from[i];
}

// out += w x r
static inline void fem_cross_add(float out[3], const float w[3], const float r[3]) {
	for (int i = 0; i < 3; i++)
		out[i] += w[(i + 1) % 3] * r[(i + 2) % 3] - w[(i + 2) % 3] * r[(i + 1) % 3];
}

static inline void fem_apply_rows3(const float m[9], const float v[3], float out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

// A velocity split into rigid motion and deformation d; r and d are rotated, then r moves by dt d (motion.h). v becomes
// the velocity after `time` (s), which may be negative.
static inline void fem_rigid_move_node(const FemRigidMove *move, float time, float x[3], float v[3]) {
	const FemMotion *motion = &move->motion;
	float r[3], d[3], swept[3], rotated[3], rigid[3];
	for (int k = 0; k < 3; k++)
		r[k] = x[k] - motion->center[k];
	memcpy(rigid, motion->velocity, sizeof rigid);
	fem_cross_add(rigid, motion->spin, r);
	for (int k = 0; k < 3; k++)
		d[k] = v[k] - rigid[k];
	fem_apply_rows3(move->rotation_increment, r, swept);
	fem_apply_rows3(move->rotation_increment, d, rotated);
	for (int k = 0; k < 3; k++) {
		rotated[k] += d[k];
		float step = time * motion->velocity[k] + swept[k] + time * rotated[k];
		r[k] += swept[k] + time * rotated[k];
		x[k] += step;
		v[k] = motion->velocity[k] + rotated[k];
	}
	fem_cross_add(v, move->end_spin, r);
}

#endif
