// The element stage: rotation, plastic flow, stress, forces and rotated gradients of every computed tet, 8 at a time.
#ifndef FEM_DYNAMICS_ELEMENTS_H
#define FEM_DYNAMICS_ELEMENTS_H

#include "base/simd.h"
#include "base/vec.h"
#include "model/body.h"
#include "model/tet_batches.h"

// Everything the kernel reads and writes, explicitly, so that it can be tested alone.
typedef struct FemElementArguments {
	const int32_t *nodes; // [batch][4][8]
	FemBatch *batches;
	FemVec4 *rotation;           // [batch * 8 + lane]
	const FemBatchPlate *plates; // or null
	FemBatchPlastic *plastics;   // or null
	const FemBatchFibre *fibres; // or null
	const FemVec4 *position;     // m
	const FemVec4 *velocity;     // m/s
	FemTetBlocks *out_blocks;
	FemTetForces *out_forces;
	FemTetPlate *out_plates;  // with plates only
	FemVec4 *out_fibres;      // with fibres only
	FemTetStress *out_stress; // or null
	float viscous_stress;     // 1: out_stress has the viscous part too; 0: elastic alone
	float dt;                 // s
	const int32_t *taken;     // [lane] of one batch: -1 where a plate cell flows in the tet's place, else 0; or null
	const int32_t *plain;     // the same: -1 where a tet of a plate keeps its transverse shear; or null
	bool is_bare;             // rotation and rotated gradients alone: plate cells act in the place of all these tets
	int32_t begin, end;       // batches
} FemElementArguments;

typedef void FemElementKernel(const FemElementArguments *arguments);

FemElementKernel fem_elements_update_scalar;
FemElementKernel fem_elements_update_sse2;
FemElementKernel fem_elements_update_avx2;

FemElementKernel *fem_element_kernel(FemSimdLevel level);

// The stage for one run of batches of a body. A body that can break does not flow here, but after the solve, in
// fem_elements_update_stress(). is_bare: rotations and rotated gradients alone.
void fem_elements_update(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool is_bare);

// Plastic flow, and the stress of the shape that the solve made, for fracture, with the rotation of that shape.
// The stress of the step's start would break things a step late, when the solve has already stopped what struck them.
void fem_elements_update_stress(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool viscous);

// A tet's plastic strain xx yy zz xy yz zx and with it its rest shape, of bodies that have one. False, and as it was,
// when nothing of the volume would be left.
FEM_MUST_USE bool fem_tet_set_plastic_strain(FemBody *body, int32_t tet, const float p[6]);

// The rotation of a crushed or inverted element by QR (P&O09 section 3; docs/method.md, "Crushed tets"): F row by row;
// the last rotation stays where F gives no direction.
void fem_rotation_by_qr(const float f[9], float quaternion[4]);
FemQuat fem_quaternion_of(double rotation[3][3]);

// The rotation nearest to F of a crushed or inverted element, iterated from that of fem_rotation_by_qr(), which depends
// on the axes of the rest shape. An inverted element is then pushed back through its flattest direction, not always
// through the third one. With QR alone crushed bodies find places to rest in with tets inside out.
void fem_rotation_of_crushed(const float f[9], float quaternion[4]);

// e = sym(R^T F) - I: the strain of a tet with deformation gradient F and rotation R.
static inline void fem_corotated_strain(double f[3][3], double r[3][3], double out[3][3]) {
	double a[3][3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			a[i][j] = r[0][i] * f[0][j] + r[1][i] * f[1][j] + r[2][i] * f[2][j];
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out[i][j] = 0.5 * (a[i][j] + a[j][i]) - (i == j ? 1.0 : 0.0);
	}
}

#endif
