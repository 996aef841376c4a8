// The coarse level of the two-level preconditioner; see preconditioner.h.
#ifndef FEM_DYNAMICS_COARSE_SPACE_H
#define FEM_DYNAMICS_COARSE_SPACE_H

#include "dynamics/preconditioner.h"

// Places of the parts now; with `refresh` also the coarse matrix P^T A P and its factor.
void fem_coarse_prepare(FemPreconditioner *preconditioner, const FemBody *body, FemLoop *loop, bool refresh);

static inline void fem_rotation_matrix(FemVec4 q, float m[9]) {
	float xx = 2.0f * q.x * q.x, yy = 2.0f * q.y * q.y, zz = 2.0f * q.z * q.z;
	float xy = 2.0f * q.x * q.y, xz = 2.0f * q.x * q.z, yz = 2.0f * q.y * q.z;
	float wx = 2.0f * q.w * q.x, wy = 2.0f * q.w * q.y, wz = 2.0f * q.w * q.z;
	m[0] = 1.0f - yy - zz, m[1] = xy - wz, m[2] = xz + wy;
	m[3] = xy + wz, m[4] = 1.0f - xx - zz, m[5] = yz - wx;
	m[6] = xz - wy, m[7] = yz + wx, m[8] = 1.0f - xx - yy;
}

#endif
