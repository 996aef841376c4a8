// The operations on 4-float vectors and pairs of them that the row kernels are written in. Included by the kernel files
// only, each with its own LANES: 1 (scalar twin), 4, or 8 (a pair in one register). Same bits from all three.
#ifndef LANES
#error "define LANES before including wide.h"
#endif

#include <stdint.h>
#include <string.h>

#if LANES == 1

typedef struct Wide4 {
	float lane[4];
} Wide4;

#define WIDE4_EACH(expression) \
	Wide4 out; \
	for (int i = 0; i < 4; i++) \
		out.lane[i] = (expression); \
	return out

static inline Wide4 wide4_add(Wide4 a, Wide4 b) {
	WIDE4_EACH(a.lane[i] + b.lane[i]);
}
static inline Wide4 wide4_sub(Wide4 a, Wide4 b) {
	WIDE4_EACH(a.lane[i] - b.lane[i]);
}
static inline Wide4 wide4_mul(Wide4 a, Wide4 b) {
	WIDE4_EACH(a.lane[i] * b.lane[i]);
}
static inline Wide4 wide4_splat(float a) {
	WIDE4_EACH(a);
}
static inline float wide4_lane(Wide4 a, int k) {
	return a.lane[k];
}
static inline Wide4 wide4_without_w(Wide4 a) {
	a.lane[3] = 0.0f;
	return a;
}
#define WIDE4_BROADCAST(a, k) wide4_splat((a).lane[k])
static inline Wide4 wide4_yzx(Wide4 a) {
	return (Wide4){{a.lane[1], a.lane[2], a.lane[0], a.lane[3]}};
}
static inline Wide4 wide4_yzww(Wide4 a) {
	return (Wide4){{a.lane[1], a.lane[2], a.lane[3], a.lane[3]}};
}

static inline void wide4_transpose3(const Wide4 column[3], Wide4 row[3]) {
	for (int r = 0; r < 3; r++)
		row[r] = (Wide4){{column[0].lane[r], column[1].lane[r], column[2].lane[r], 0.0f}};
}

#else

typedef float Wide4 __attribute__((vector_size(16), may_alias));
typedef int32_t Wide4Mask __attribute__((vector_size(16), may_alias));

static inline Wide4 wide4_add(Wide4 a, Wide4 b) {
	return a + b;
}
static inline Wide4 wide4_sub(Wide4 a, Wide4 b) {
	return a - b;
}
static inline Wide4 wide4_mul(Wide4 a, Wide4 b) {
	return a * b;
}
static inline Wide4 wide4_splat(float a) {
	return (Wide4){a, a, a, a};
}
static inline float wide4_lane(Wide4 a, int k) {
	return a[k];
}
static inline Wide4 wide4_without_w(Wide4 a) {
	return (Wide4)((Wide4Mask)a & (Wide4Mask){-1, -1, -1, 0});
}
#define WIDE4_BROADCAST(a, k) __builtin_shufflevector(a, a, k, k, k, k)
static inline Wide4 wide4_yzx(Wide4 a) {
	return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}
static inline Wide4 wide4_yzww(Wide4 a) {
	return __builtin_shufflevector(a, a, 1, 2, 3, 3);
}

// The fourth lanes of the rows hold anything.
static inline void wide4_transpose3(const Wide4 column[3], Wide4 row[3]) {
	Wide4 low = __builtin_shufflevector(column[0], column[1], 0, 4, 1, 5);
	Wide4 high = __builtin_shufflevector(column[0], column[1], 2, 6, 2, 6);
	row[0] = __builtin_shufflevector(low, column[2], 0, 1, 4, 4);
	row[1] = __builtin_shufflevector(low, column[2], 2, 3, 5, 5);
	row[2] = __builtin_shufflevector(high, column[2], 0, 1, 6, 6);
}

#endif

static inline Wide4 wide4_load(const float *from) {
	Wide4 a;
	memcpy(&a, from, sizeof a);
	return a;
}

// Three floats behind another one that may be read: what follows them may be another thread's. The fourth lane holds
// anything.
static inline Wide4 wide3_load(const float *from) {
	return wide4_yzww(wide4_load(from - 1));
}

static inline void wide4_store(float *to, Wide4 a) {
	memcpy(to, &a, sizeof a);
}

static inline void wide3_store(float *to, Wide4 a) {
	memcpy(to, &a, 12);
}

// Two vectors that go through the same operations: an even and an odd entry of a row.
#if LANES == 8

typedef float Pair __attribute__((vector_size(32), may_alias));

static inline Pair pair_make(Wide4 even, Wide4 odd) {
	return __builtin_shufflevector(even, odd, 0, 1, 2, 3, 4, 5, 6, 7);
}
static inline Pair pair_load(const float *even, const float *odd) {
	return pair_make(wide4_load(even), wide4_load(odd));
}
static inline Pair pair_add(Pair a, Pair b) {
	return a + b;
}
static inline Pair pair_sub(Pair a, Pair b) {
	return a - b;
}
static inline Pair pair_mul(Pair a, Pair b) {
	return a * b;
}
static inline Wide4 pair_fold(Pair a) {
	return __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
}
#define PAIR_BROADCAST(a, k) __builtin_shufflevector(a, a, k, k, k, k, k + 4, k + 4, k + 4, k + 4)

#else

typedef struct Pair {
	Wide4 even, odd;
} Pair;

static inline Pair pair_make(Wide4 even, Wide4 odd) {
	return (Pair){even, odd};
}
static inline Pair pair_load(const float *even, const float *odd) {
	return (Pair){wide4_load(even), wide4_load(odd)};
}
static inline Pair pair_add(Pair a, Pair b) {
	return (Pair){wide4_add(a.even, b.even), wide4_add(a.odd, b.odd)};
}
static inline Pair pair_sub(Pair a, Pair b) {
	return (Pair){wide4_sub(a.even, b.even), wide4_sub(a.odd, b.odd)};
}
static inline Pair pair_mul(Pair a, Pair b) {
	return (Pair){wide4_mul(a.even, b.even), wide4_mul(a.odd, b.odd)};
}
static inline Wide4 pair_fold(Pair a) {
	return wide4_add(a.even, a.odd);
}
#define PAIR_BROADCAST(a, k) ((Pair){WIDE4_BROADCAST((a).even, k), WIDE4_BROADCAST((a).odd, k)})

#endif
