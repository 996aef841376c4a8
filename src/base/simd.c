#include "base/simd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {"scalar", "sse2", "avx2"};

static FemSimdLevel best_level(void) {
#if (defined(__x86_64__) || defined(__i386__)) && !defined(FEM_NO_AVX2)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2"))
		return FEM_SIMD_AVX2;
#endif
	return FEM_SIMD_SSE2;
}

static FemSimdLevel choose_level(void) {
	FemSimdLevel best = best_level();
	const char *forced = getenv("FEM_SIMD");
	for (int level = FEM_SIMD_SCALAR; forced && level <= (int)best; level++) {
		if (strcmp(forced, level_names[level]) == 0)
			return (FemSimdLevel)level;
	}
	return best;
}

FemSimdLevel fem_simd_level(void) {
	static _Atomic int chosen_plus_1; // racing first callers all choose the same
	int level = atomic_load_explicit(&chosen_plus_1, memory_order_relaxed);
	if (level == 0) {
		level = (int)choose_level() + 1;
		atomic_store_explicit(&chosen_plus_1, level, memory_order_relaxed);
	}
	return (FemSimdLevel)(level - 1);
}

const char *fem_simd_name(void) {
	return level_names[fem_simd_level()];
}

#if defined(__x86_64__)
unsigned fem_float_mode_set(void) {
	unsigned mode = __builtin_ia32_stmxcsr();
	__builtin_ia32_ldmxcsr(mode | 0x8040); // flush to zero, denormals are zero
	return mode;
}

void fem_float_mode_restore(unsigned mode) {
	__builtin_ia32_ldmxcsr(mode);
}
#else
unsigned fem_float_mode_set(void) {
	return 0;
}

void fem_float_mode_restore(unsigned mode) {
	(void)mode;
}
#endif
