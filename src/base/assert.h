// Invariants of the engine that are looked at while it runs: in the tests, sanitizer builds and `scons asserts=yes`.
// What users can break is no matter for an assert: public calls check their input in every build.
#ifndef FEM_BASE_ASSERT_H
#define FEM_BASE_ASSERT_H

#include <stdbool.h>
#include <stdint.h>

#if defined(FEM_ASSERTS)
// Names file, line and condition to the host's log and on stderr, and aborts.
__attribute__((noreturn)) void fem_assert_failed(const char *file, int line, const char *condition);
#define FEM_ASSERT(condition) ((condition) ? (void)0 : fem_assert_failed(__FILE__, __LINE__, #condition))
#else
// Compiled, so that it stays true to the code around it, but never run.
#define FEM_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

// For what is worth a loop only to see whether an invariant holds: `if (FEM_HAS_ASSERTS)`.
#if defined(FEM_ASSERTS)
#define FEM_HAS_ASSERTS 1
#else
#define FEM_HAS_ASSERTS 0
#endif

// A place in an array of `count` entries.
#define FEM_ASSERT_INDEX(index, count) FEM_ASSERT((index) >= 0 && (index) < (count))

// The result tells of a failure that the caller must act on.
#define FEM_MUST_USE __attribute__((warn_unused_result))

// A count of 64 bits that is known to fit.
static inline int32_t fem_int32(int64_t value) {
	FEM_ASSERT(value >= INT32_MIN && value <= INT32_MAX);
	return (int32_t)value;
}

// Of a list without repetitions.
static inline bool fem_is_ascending(const int32_t *list, int64_t count) {
	for (int64_t i = 1; i < count; i++) {
		if (list[i - 1] >= list[i])
			return false;
	}
	return true;
}

// Of where each entry's stretch of a list begins: [count + 1], the first 0, none of negative length.
static inline bool fem_are_starts(const int32_t *starts, int64_t count) {
	for (int64_t i = 0; i < count; i++) {
		if (starts[i] > starts[i + 1])
			return false;
	}
	return starts[0] == 0;
}

// Of numbers in 0..count.
static inline bool fem_are_indices(const int32_t *list, int64_t list_count, int32_t count) {
	for (int64_t i = 0; i < list_count; i++) {
		if (list[i] < 0 || list[i] >= count)
			return false;
	}
	return true;
}

#endif
