// The few operations on LANES floats that the element kernel is written in. Included by the kernel files only, each
// with its own LANES: 8 (AVX2), 4 (SSE2 or any 4-lane processor), 1 (scalar twin). Every operation rounds as IEEE says,
// lane by lane, so that all three give the same bits.
#ifndef LANES
#error "define LANES before including lanes.h"
#endif

#include "base/vec.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef float Float4 __attribute__((vector_size(16)));

#if LANES == 1

typedef float Real;
typedef int32_t Mask; // 0 or -1

static inline Real lanes_select(Mask mask, Real yes, Real no) {
	return mask ? yes : no;
}

static inline Real lanes_sqrt(Real a) {
	return sqrtf(a);
}

static inline bool lanes_any(Mask mask) {
	return mask != 0;
}

static inline Mask lanes_less(Real a, Real b) {
	return a < b ? -1 : 0;
}

static inline Mask lanes_all(void) {
	return -1;
}

static inline Real lanes_splat(float a) {
	return a;
}

static inline Real lanes_load(const float *from) {
	return *from;
}

static inline Mask lanes_load_mask(const int32_t *from) {
	return *from;
}

static inline void lanes_store(float *to, Real a) {
	*to = a;
}

// x, y, z of LANES scattered vectors.
static inline void lanes_gather(const FemVec4 *from, const int32_t *index, Real out[3]) {
	out[0] = from[*index].x;
	out[1] = from[*index].y;
	out[2] = from[*index].z;
}

static inline void lanes_gather4(const FemVec4 *from, const int32_t *index, Real out[4]) {
	FemVec4 one = from[*index];
	out[0] = one.x, out[1] = one.y, out[2] = one.z, out[3] = one.w;
}

static inline void lanes_load_vectors(const FemVec4 *from, Real out[4]) {
	out[0] = from->x, out[1] = from->y, out[2] = from->z, out[3] = from->w;
}

// LANES vectors, `stride` floats apart.
static inline void lanes_store_vectors(float *to, int stride, Real x, Real y, Real z, Real w) {
	(void)stride;
	to[0] = x, to[1] = y, to[2] = z, to[3] = w;
}

#else

typedef float Real __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t Mask __attribute__((vector_size(4 * LANES), may_alias));

static inline Real lanes_select(Mask mask, Real yes, Real no) {
	return (Real)((mask & (Mask)yes) | (~mask & (Mask)no));
}

static inline Real lanes_sqrt(Real a) {
#if LANES == 8
	return (Real)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
	return (Real)_mm_sqrt_ps((__m128)a);
#else
	for (int i = 0; i < LANES; i++)
		a[i] = sqrtf(a[i]);
	return a;
#endif
}

static inline bool lanes_any(Mask mask) {
#if LANES == 8
	return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__SSE2__)
	return _mm_movemask_ps((__m128)mask) != 0;
#else
	return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

static inline Mask lanes_less(Real a, Real b) {
	return (Mask)(a < b);
}

static inline Mask lanes_all(void) {
	return ~(Mask){0};
}

static inline Real lanes_splat(float a) {
	return a - (Real){0};
}

static inline Real lanes_load(const float *from) {
	return *(const Real *)from;
}

static inline Mask lanes_load_mask(const int32_t *from) {
	return *(const Mask *)from;
}

static inline void lanes_store(float *to, Real a) {
	*(Real *)to = a;
}

#if LANES == 8
#define LANES_LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define LANES_HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LANES_FIRST_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define LANES_SECOND_HALVES(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)

// Vectors k and k + 4 side by side.
static inline Real lanes_pair(const FemVec4 *first, const FemVec4 *second) {
	Float4 a, b;
	memcpy(&a, first, sizeof a);
	memcpy(&b, second, sizeof b);
	return (Real)__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
#define LANES_ROW(from, k) lanes_pair(&(from)[index[k]], &(from)[index[(k) + 4]])
#else
#define LANES_LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define LANES_HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LANES_FIRST_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define LANES_SECOND_HALVES(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define LANES_ROW(from, k) (*(const Real *)&(from)[index[k]])
#endif

static inline void lanes_gather4(const FemVec4 *from, const int32_t *index, Real out[4]) {
	Real r0 = LANES_ROW(from, 0), r1 = LANES_ROW(from, 1), r2 = LANES_ROW(from, 2), r3 = LANES_ROW(from, 3);
	Real xy01 = LANES_LOW_PAIRS(r0, r1), zw01 = LANES_HIGH_PAIRS(r0, r1);
	Real xy23 = LANES_LOW_PAIRS(r2, r3), zw23 = LANES_HIGH_PAIRS(r2, r3);
	out[0] = LANES_FIRST_HALVES(xy01, xy23);
	out[1] = LANES_SECOND_HALVES(xy01, xy23);
	out[2] = LANES_FIRST_HALVES(zw01, zw23);
	out[3] = LANES_SECOND_HALVES(zw01, zw23);
}

static inline void lanes_gather(const FemVec4 *from, const int32_t *index, Real out[3]) {
	Real all[4];
	lanes_gather4(from, index, all);
	out[0] = all[0], out[1] = all[1], out[2] = all[2];
}

static inline void lanes_load_vectors(const FemVec4 *from, Real out[4]) {
	static const int32_t index[] = {0, 1, 2, 3, 4, 5, 6, 7};
	lanes_gather4(from, index, out);
}

static inline void lanes_store_row(float *to, int stride, int k, Real row) {
#if LANES == 8
	Float4 low = __builtin_shufflevector(row, row, 0, 1, 2, 3), high = __builtin_shufflevector(row, row, 4, 5, 6, 7);
	memcpy(to + k * stride, &low, sizeof low);
	memcpy(to + (k + 4) * stride, &high, sizeof high);
#else
	memcpy(to + k * stride, &row, sizeof row);
#endif
}

static inline void lanes_store_vectors(float *to, int stride, Real x, Real y, Real z, Real w) {
	Real xy01 = LANES_LOW_PAIRS(x, y), xy23 = LANES_HIGH_PAIRS(x, y);
	Real zw01 = LANES_LOW_PAIRS(z, w), zw23 = LANES_HIGH_PAIRS(z, w);
	lanes_store_row(to, stride, 0, LANES_FIRST_HALVES(xy01, zw01));
	lanes_store_row(to, stride, 1, LANES_SECOND_HALVES(xy01, zw01));
	lanes_store_row(to, stride, 2, LANES_FIRST_HALVES(xy23, zw23));
	lanes_store_row(to, stride, 3, LANES_SECOND_HALVES(xy23, zw23));
}

#endif
