// Four floats at a time, as collision needs them: baseline SIMD of the processor, the same bits everywhere.
#ifndef FEM_COLLISION_LANES4_H
#define FEM_COLLISION_LANES4_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef float Float4 __attribute__((vector_size(16)));

static inline Float4 load4(const void *four_floats) {
	Float4 v;
	memcpy(&v, four_floats, sizeof v);
	return v;
}

static inline Float4 all4(float s) {
	return (Float4){s, s, s, s};
}

// The smaller of each lane; b where one of the two is NaN.
static inline Float4 min4(Float4 a, Float4 b) {
#if defined(__SSE2__)
	return (Float4)_mm_min_ps((__m128)a, (__m128)b);
#else
	return (Float4){
		a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1], a[2] < b[2] ? a[2] : b[2], a[3] < b[3] ? a[3] : b[3]};
#endif
}

static inline Float4 max4(Float4 a, Float4 b) {
#if defined(__SSE2__)
	return (Float4)_mm_max_ps((__m128)a, (__m128)b);
#else
	return (Float4){
		a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1], a[2] > b[2] ? a[2] : b[2], a[3] > b[3] ? a[3] : b[3]};
#endif
}

// Bit i is set where a[i] <= b[i]; never for NaN.
static inline unsigned not_above4(Float4 a, Float4 b) {
#if defined(__SSE2__)
	return (unsigned)_mm_movemask_ps(_mm_cmple_ps((__m128)a, (__m128)b));
#else
	return (unsigned)(a[0] <= b[0]) | (unsigned)(a[1] <= b[1]) << 1 | (unsigned)(a[2] <= b[2]) << 2 |
		(unsigned)(a[3] <= b[3]) << 3;
#endif
}

typedef int32_t Int4 __attribute__((vector_size(16)));

static inline Int4 load_ints4(const int32_t *four) {
	Int4 v;
	memcpy(&v, four, sizeof v);
	return v;
}

// Bit i is set where a[i] == b[i].
static inline unsigned equal4(Int4 a, Int4 b) {
#if defined(__SSE2__)
	return (unsigned)_mm_movemask_ps((__m128)(a == b));
#else
	return (unsigned)(a[0] == b[0]) | (unsigned)(a[1] == b[1]) << 1 | (unsigned)(a[2] == b[2]) << 2 |
		(unsigned)(a[3] == b[3]) << 3;
#endif
}

// Cross product of the first three lanes; the fourth lanes must be 0, and the result's is.
static inline Float4 cross4(Float4 a, Float4 b) {
	Float4 a_yzx = __builtin_shufflevector(a, a, 1, 2, 0, 3), b_yzx = __builtin_shufflevector(b, b, 1, 2, 0, 3);
	Float4 c = a * b_yzx - a_yzx * b; // z, x, y of the product
	return __builtin_shufflevector(c, c, 1, 2, 0, 3);
}

static inline float dot4(Float4 a, Float4 b) {
	Float4 p = a * b;
	return p[0] + p[1] + p[2];
}

// A box; the fourth lanes do not count.
typedef struct Box4 {
	Float4 min, max;
} Box4;

static inline Box4 empty_box4(void) {
	return (Box4){all4(3e38f), all4(-3e38f)};
}

static inline bool boxes_meet4(Box4 a, Box4 b) {
	return (not_above4(a.min, b.max) & not_above4(b.min, a.max) & 7) == 7;
}

static inline Box4 triangle_box4(const Float4 v[3]) {
	return (Box4){min4(min4(v[0], v[1]), v[2]), max4(max4(v[0], v[1]), v[2])};
}

static inline Box4 common_box4(Box4 a, Box4 b) {
	return (Box4){max4(a.min, b.min), min4(a.max, b.max)};
}

static inline Box4 joint_box4(Box4 a, Box4 b) {
	return (Box4){min4(a.min, b.min), max4(a.max, b.max)};
}

// ----- eight boxes side by side

typedef struct FemBoxes8 {
	float min[3][8], max[3][8]; // m
} FemBoxes8;

static inline void put_box8(FemBoxes8 *boxes, int32_t lane, Box4 box) {
	for (int axis = 0; axis < 3; axis++) {
		boxes->min[axis][lane] = box.min[axis];
		boxes->max[axis][lane] = box.max[axis];
	}
}

static inline Box4 get_box8(const FemBoxes8 *boxes, int32_t lane) {
	return (Box4){{boxes->min[0][lane], boxes->min[1][lane], boxes->min[2][lane], 0.0f},
		{boxes->max[0][lane], boxes->max[1][lane], boxes->max[2][lane], 0.0f}};
}

// Bit i is set where box i meets the given one.
static inline unsigned boxes_meet8(const FemBoxes8 *boxes, Box4 box) {
	unsigned low = 15, high = 15;
	for (int axis = 0; axis < 3; axis++) {
		Float4 min = all4(box.min[axis]), max = all4(box.max[axis]);
		low &= not_above4(load4(boxes->min[axis]), max) & not_above4(min, load4(boxes->max[axis]));
		high &= not_above4(load4(boxes->min[axis] + 4), max) & not_above4(min, load4(boxes->max[axis] + 4));
	}
	return low | high << 4;
}

#endif
