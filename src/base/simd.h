// Which build of the kernels runs: chosen once from the processor, or by the environment variable FEM_SIMD.
// All of them give the same bits: same order of operations, no fused multiply-add, no approximate reciprocals.
#ifndef FEM_BASE_SIMD_H
#define FEM_BASE_SIMD_H

typedef enum FemSimdLevel {
	FEM_SIMD_SCALAR,
	FEM_SIMD_SSE2, // 4 lanes; on other processors than x86 the compiler's own 4-lane vectors
	FEM_SIMD_AVX2, // 8 lanes
} FemSimdLevel;

FemSimdLevel fem_simd_level(void);
const char *fem_simd_name(void);

// Denormals are slow and carry no physics: every thread that computes sets flush-to-zero for as long as it does.
// Returns the former mode, for fem_float_mode_restore(): the caller's thread belongs to the game.
unsigned fem_float_mode_set(void);
void fem_float_mode_restore(unsigned mode);

#endif
