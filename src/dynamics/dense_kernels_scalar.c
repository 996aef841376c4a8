#define FEM_KERNEL_LANES 1 // one float at a time: the twin that the others must equal bit for bit
#define FEM_KERNEL_TABLE fem_dense_kernels_scalar
// Written in the vectors of the header above.
#include "dynamics/dense_kernels.inl"

const FemDenseKernels *fem_dense_kernels(FemSimdLevel level) {
#ifndef FEM_NO_AVX2
	if (level >= FEM_SIMD_AVX2)
		return &fem_dense_kernels_avx2;
#endif
	return level >= FEM_SIMD_SSE2 ? &fem_dense_kernels_sse2 : &fem_dense_kernels_scalar;
}
