#include "dynamics/rows.h"

const FemRowKernels *fem_row_kernels(FemSimdLevel level) {
	switch (level) {
#ifndef FEM_NO_AVX2
	case FEM_SIMD_AVX2: return &fem_row_kernels_avx2;
#endif
	case FEM_SIMD_SCALAR: return &fem_row_kernels_scalar;
	default: return &fem_row_kernels_sse2;
	}
}
