// A test is FEM_TEST(suite, name) { FEM_CHECK(...); }. Tests register themselves; `build/fem_tests [filter...]` runs
// those whose "suite.name" contains one of the filters.
#ifndef FEM_TEST_H
#define FEM_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void FemTestFunction(void);

void fem_test_register(const char *suite, const char *name, FemTestFunction *function);

// Counts a failure and prints it; returns the condition, so that a test can stop early.
bool fem_test_check(bool condition, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

bool fem_test_check_near(
	double actual, double expected, double tolerance, const char *file, int line, const char *text);
bool fem_test_check_int(long long actual, long long expected, const char *file, int line, const char *text);

#define FEM_TEST(suite, name) \
	static void fem_test_##suite##_##name(void); \
	__attribute__((constructor)) static void fem_test_register_##suite##_##name(void) { \
		fem_test_register(#suite, #name, fem_test_##suite##_##name); \
	} \
	static void fem_test_##suite##_##name(void)

// What the program does instead of tests when FEM_TEST_CHILD is set: for a test that starts it as its child.
void fem_test_register_child(FemTestFunction *function);

#define FEM_TEST_CHILD(name) \
	static void name(void); \
	__attribute__((constructor)) static void fem_test_register_##name(void) { \
		fem_test_register_child(name); \
	} \
	static void name(void)

#define FEM_CHECK(condition) fem_test_check((condition), __FILE__, __LINE__, "%s", #condition)

// |actual - expected| <= tolerance, false for NaN.
#define FEM_CHECK_NEAR(actual, expected, tolerance) \
	fem_test_check_near((double)(actual), (double)(expected), (double)(tolerance), __FILE__, __LINE__, #actual)

#define FEM_CHECK_INT(actual, expected) \
	fem_test_check_int((long long)(actual), (long long)(expected), __FILE__, __LINE__, #actual)

#if defined(__has_feature) // clang's way to say it; gcc has no memory sanitizer
#define FEM_TEST_MEMORY_SANITIZER __has_feature(memory_sanitizer)
#else
#define FEM_TEST_MEMORY_SANITIZER 0
#endif

// Time is for plain builds: a sanitizer's are about 20 times as slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || FEM_TEST_MEMORY_SANITIZER
#define FEM_TEST_SLOWNESS 20.0
#else
#define FEM_TEST_SLOWNESS 1.0
#endif

#define FEM_CHECK_TIME(ms, limit_ms) FEM_CHECK((ms) < (limit_ms)*FEM_TEST_SLOWNESS)

// ms of processor time of this process, all threads: what else the machine does must not count.
double fem_test_cpu_ms(void);

// Stops the test when a condition the rest depends on does not hold.
#define FEM_REQUIRE(condition) \
	do { \
		if (!FEM_CHECK(condition)) \
			return; \
	} while (0)

#endif
