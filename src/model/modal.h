// A body that moves by its modes: a rigid frame, and in it the lowest modes of its one piece (Hauser, Shen, O'Brien
// 2003; docs/method.md, "Modal motion"). In the solve it is a rigid piece with further unknowns, one a mode.
#ifndef FEM_MODEL_MODAL_H
#define FEM_MODEL_MODAL_H

#include "base/vec.h"
#include "fem_modes.h"

#include <stdbool.h>
#include <stdint.h>

// A point that a user holds.
typedef struct FemGrab {
	FemGrabNumber number; // 0: the slot is free
	int32_t nodes[4];     // inside numbers
	float weights[4];     // barycentric
	FemPosition target;   // m, where it is to be at the end of the next step
	FemPosition last;     // m, where it was to be at the end of the last one
	FemVec3 force;        // N, that held it in the last step
} FemGrab;

// Points that are spread over a body, of which it stands on as many as it has unknowns and some; chosen.
#define FEM_MODAL_SPREAD_MAX 320

// Sums over nodes as they were placed, about the body's origin; FemMotionSums of dynamics/rigid_motion.h.
typedef struct FemModalSums {
	bool is_set;
	double mass, moment[3], second[6], momentum[3], angular[3];
} FemModalSums;

typedef struct FemModal {
	// ---- what it is made of
	int32_t mode_count, node_count;
	int32_t stride;      // of modes in the arrays below: mode_count padded to 4, the rest is 0
	bool is_held;        // by pins: its frame does not move
	bool is_moving;      // its piece moves by it, while that is rigid
	bool is_out;         // its piece is elastic until it has come to rest: it was struck too hard
	bool is_stale;       // the body is no longer what its modes were computed of
	double *eigenvalues; // [mode]: lambda, rad^2/s^2
	double *damping;     // [mode]: B = alpha_K lambda + alpha_M, 1/s
	double *weight;      // [mode][3]: sum m w, kg^1/2; 0 of what is free
	float *tension;      // [mode]: Pa, largest bound of a tet's tension at z = 1 kg^1/2 m, whatever its sign
	float *shapes;       // [node][axis][stride]: w, kg^-1/2, axes of the rest shape
	FemVec4 *rest;       // [node]: s, m, from the centre of mass at rest
	float *blocks;       // [8 nodes][axis][1 + mode][8]: s, then w of each mode, for FemRowKernels.place_modal
	int32_t *spread;     // [node]: the first FEM_MODAL_SPREAD_MAX each farthest from all before, then the others
	int32_t *rank;       // [node]: its place there
	uint8_t *node_kinds; // [node]: FemNodeKind that the modes were computed for
	double total_mass;   // kg
	bool has_moments;    // the next two are set: it is free and has few modes
	double *moments;     // of dynamics/modal_moments.h, [pair of rest shape and modes][9]
	double *reach;       // [1 + mode]: m, kg^-1/2, largest of any node: of the rest shape, of each mode
	size_t block_bytes;

	// ---- how it moves
	double *z, *z_velocity;            // [mode]: kg^1/2 m, and a second
	double *start_z, *start_rate;      // [mode]: the same at the start of the step
	double center[3];                  // m, of the frame of what is held: where the centre of mass is at rest
	float shift[3];                    // m, of the centre of mass in the frame of what is held, else 0
	FemVec4 *placed, *placed_velocity; // [node]: as the modes left them; where nodes are elsewhere they are asked again
	bool is_placed;                    // these are set
	bool tets_follow;                  // rotations of its tets are those of its frame; not from when it was elastic
	FemModalSums sums;                 // of these, where nothing moves along with the nodes but its modes

	// ---- a step
	float dt;                      // s, of the propagators
	double *p11, *p12, *p21, *p22; // [mode]: exp of the motion over dt
	double *inertia;     // [mode]: lambda dt^2 / (1 - p11), 1: an impulse over it is the mean velocity it gives
	double *free_mean;   // [mode]: mean velocity of the step without forces
	double *given;       // [mode]: impulse of all forces but contacts, kg^1/2 m/s
	float frame_gain[6]; // m/s, rad/s: dv of its frame that the solve came to
	double *mean;        // [mode]: mean velocity that the solve came to
	bool is_touched;     // it has part in the solve
	bool is_near_ground; // some of its nodes may touch the ground
	int32_t *ground_nodes, ground_count;                 // [node]: those that bear it there
	float *ground_slip;                                  // [node]: m/s, how fast they slid over the last step
	double base_impulse[6];                              // N s, N m s: what acts on its frame but contacts, at dv = 0
	float base_extra[36];                                // and what mass damping adds to the matrix of its frame
	bool has_weight_only;                                // nothing acts but its weight and contacts
	float rotation[9];                                   // from its axes to the world's, row by row
	float *velocity;                                     // [stride]: z_velocity
	float *load;                                         // [stride]: right-hand side at dv = 0 without contacts
	float *dv, *residual, *direction, *product, *solved; // [stride]: of the conjugate gradients; solved is z = M^-1 r
	float *extra;                                        // [mode][stride]: what ground and grabs add to the matrix,
	float *coupling; // [6][stride]: and between its modes and the motion of its frame
	bool has_extra;
	double *factor;   // [mode][mode]: lower Cholesky factor of the matrix of its modes
	float *jacobians; // [contact side][3][stride]: how modes move the points of its contacts
	int32_t jacobian_count, jacobian_capacity;

	// While joints bring it together with others (dynamics/modal_joints.h); `given` holds what its modes gain so.
	struct {
		bool is_on;
		double center[3];            // m, of its frame
		double mobility[9];          // 1/(kg m^2), inverse inertia, axes of the world
		double velocity[3], spin[3]; // m/s, rad/s, that its frame gains
	} settling;

	FemGrab grabs[FEM_GRABS_MAX];
	int32_t grab_count;
} FemModal;

// Points that bear a body: one for two of its modes, each of which it holds three ways, and some for its frame. What is
// flat has hundreds of nodes on the ground, which share the load out anew in every solve and say nothing more.
#define FEM_MODAL_POINTS 8 // for the frame, twice those that bear a rigid piece; chosen
static inline int32_t fem_modal_points_max(const FemModal *modal) {
	return modal->mode_count / 2 + FEM_MODAL_POINTS;
}

// Moments grow with the square of the modes: 85 kB with so many. Chosen.
#define FEM_MODAL_MOMENTS_MODES 48
static inline size_t fem_modal_moment_count(int32_t modes) {
	return modes > FEM_MODAL_MOMENTS_MODES ? 0 : 9 * (size_t)(modes + 1) * (size_t)(modes + 2) / 2;
}

// Nodes are placed eight by eight.
static inline int32_t fem_modal_block_count(const FemModal *modal) {
	return (modal->node_count + 7) / 8;
}

// A piece has modes that are those of what it is now.
static inline bool fem_modal_fits(const FemModal *modal) {
	return modal && !modal->is_stale;
}

static inline void fem_modal_drop_grabs(FemModal *modal) {
	for (int k = 0; k < FEM_GRABS_MAX; k++)
		modal->grabs[k].number = 0;
	modal->grab_count = 0;
}

// out += sign J x, J of a point.
static inline void fem_modal_add_point(
	const FemModal *modal, const float *jacobian, const float *x, float sign, float out[3]) {
	for (int axis = 0; axis < 3; axis++) {
		const float *j = jacobian + axis * modal->stride;
		float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
		for (int32_t k = 0; k < modal->stride; k += 4) {
			for (int i = 0; i < 4; i++)
				sum[i] += j[k + i] * x[k + i];
		}
		out[axis] += sign * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
	}
}

// y += J^T g
static inline void fem_modal_add_impulse(const FemModal *modal, const float *jacobian, const float g[3], float *y) {
	const float *a = jacobian, *b = a + modal->stride, *c = b + modal->stride;
	for (int32_t k = 0; k < modal->stride; k++)
		y[k] += g[0] * a[k] + g[1] * b[k] + g[2] * c[k];
}

#endif
