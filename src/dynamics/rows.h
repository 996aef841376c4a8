// The system matrix as rows of 3x3 blocks (P&O09's noderows), assembled without atomics and applied in difference form:
//
//   (A x)_i = D_i x_i + sum_j B_ij (x_j - x_i),   B_ij = (dt^2 + dt alpha_K) K_ij,   D_i = mass and contact, diagonal.
//
// The diagonal block -sum_j B_ij is never formed in the product: at E = 7e10 a float could not hold the mass beside it,
// and a free plate would fall wrongly. Pinned, driven and sleeping nodes have x = 0 and need no other treatment.
#ifndef FEM_DYNAMICS_ROWS_H
#define FEM_DYNAMICS_ROWS_H

#include "base/simd.h"
#include "base/vec.h"
#include "model/body.h"
#include "model/modal.h"
#include "model/tet_batches.h"
#include "topology/topology.h"

// Where a body that moves by modes is to be.
typedef struct FemModalFrame {
	float center[3], center_rest[3]; // m, of mass: as floats have it, and what they lack of it
	float rotation[9];               // row by row
	float velocity[3], spin[3];      // m/s, rad/s
} FemModalFrame;

typedef struct FemRowKernels {
	// B_ij and B_ji of the edges [begin, end): the sum over the tets around each edge, in their order.
	// and of the plate cells around it.
	void (*assemble_edges)(const FemBody *body, int32_t begin, int32_t end);

	// Inverse of D_i - sum_j B_ij for the nodes [begin, end): 3 columns of 4 floats; 0 where pinned.
	// `out_diagonal_blocks`, if not null, gets D_i - sum_j B_ij itself, 9 floats a node.
	void (*invert_diagonal)(const FemBody *body, int32_t begin, int32_t end, float *out_diagonal_blocks);

	// y = A x on the nodes [begin, end); returns x.y over them.
	double (*multiply)(const FemBody *body, int32_t begin, int32_t end, const FemVec4 *x, FemVec4 *y);

	// x += a p, r -= a q, z = node_blocks r; returns r.z.
	double (*advance)(const FemBody *body, int32_t begin, int32_t end, float a, const FemVec4 *p, const FemVec4 *q,
		FemVec4 *x, FemVec4 *r, FemVec4 *z);

	// z = node_blocks r; returns r.z.
	double (*precondition)(const FemBody *body, int32_t begin, int32_t end, const FemVec4 *r, FemVec4 *z);

	// p = z + b p
	void (*redirect)(int32_t begin, int32_t end, float b, const FemVec4 *z, FemVec4 *p);

	// Rigid motion of a part, arms from its centre with w = 1, or 0 for nodes that do not take part.
	// out: force = sum w r, torque = sum arm x w r, 4 floats each.
	void (*sum_motion)(int32_t count, const FemVec4 *arm, const FemVec4 *r, float force[4], float torque[4]);
	// x += w (move + rotation x arm)
	void (*add_motion)(int32_t count, const FemVec4 *arm, const float move[4], const float rotation[4], FemVec4 *x);

	// x = c + R (s + W z), v = V + w x (x - c) + R W z' of the nodes of the blocks [begin, end) that are free, and the
	// shape s + W z of all.
	void (*place_modal)(const FemModal *modal, const FemModalFrame *frame, FemBody *body, int32_t begin, int32_t end);
} FemRowKernels;

extern const FemRowKernels fem_row_kernels_scalar, fem_row_kernels_sse2, fem_row_kernels_avx2;

const FemRowKernels *fem_row_kernels(FemSimdLevel level);

#endif
