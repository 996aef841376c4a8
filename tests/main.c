// Runs the registered tests whose "suite.name" contains one of the arguments, or all of them, and ends with the line
// "N passed, M failed".
#include "fem_test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#define TEST_CAPACITY 1024
#define FAILURES_SHOWN 10

typedef struct Test {
	const char *suite, *name;
	FemTestFunction *function;
} Test;

static Test tests[TEST_CAPACITY];
static int test_count;
static int failures_in_test;
static FemTestFunction *child_function;

void fem_test_register(const char *suite, const char *name, FemTestFunction *function) {
	if (test_count == TEST_CAPACITY) {
		fprintf(stderr, "too many tests: raise TEST_CAPACITY in tests/main.c\n");
		exit(2);
	}
	tests[test_count++] = (Test){suite, name, function};
}

void fem_test_register_child(FemTestFunction *function) {
	child_function = function;
}

bool fem_test_check(bool condition, const char *file, int line, const char *format, ...) {
	if (condition)
		return true;
	if (failures_in_test++ < FAILURES_SHOWN) {
		va_list arguments;
		va_start(arguments, format);
		printf("  %s:%d: ", file, line);
		vprintf(format, arguments);
		printf("\n");
		va_end(arguments);
	}
	return false;
}

double fem_test_cpu_ms(void) {
	return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

bool fem_test_check_near(
	double actual, double expected, double tolerance, const char *file, int line, const char *text) {
	return fem_test_check(fabs(actual - expected) <= tolerance, file, line, "%s = %.9g, expected %.9g +- %.3g", text,
		actual, expected, tolerance);
}

bool fem_test_check_int(long long actual, long long expected, const char *file, int line, const char *text) {
	return fem_test_check(actual == expected, file, line, "%s = %lld, expected %lld", text, actual, expected);
}

static int compare_tests(const void *left, const void *right) {
	const Test *a = left, *b = right;
	int suite = strcmp(a->suite, b->suite);
	return suite ? suite : strcmp(a->name, b->name);
}

static bool is_chosen(const char *full_name, int filter_count, char *const *filters) {
	bool chosen = filter_count == 0;
	for (int i = 0; i < filter_count; i++)
		chosen |= strstr(full_name, filters[i]) != NULL;
	return chosen;
}

int main(int argument_count, char **arguments) {
	int passed = 0, failed = 0;
	if (getenv("FEM_TEST_CHILD") && child_function) {
		child_function();
		return 0;
	}
	qsort(tests, (size_t)test_count, sizeof *tests, compare_tests);
	for (int i = 0; i < test_count; i++) {
		char full_name[256];
		snprintf(full_name, sizeof full_name, "%s.%s", tests[i].suite, tests[i].name);
		if (!is_chosen(full_name, argument_count - 1, arguments + 1))
			continue;
		printf("%s\n", full_name);
		fflush(stdout);
		failures_in_test = 0;
		tests[i].function();
		if (failures_in_test > FAILURES_SHOWN)
			printf("  ... and %d more\n", failures_in_test - FAILURES_SHOWN);
		if (failures_in_test) {
			printf("  FAILED %s\n", full_name);
			failed++;
		} else {
			passed++;
		}
	}
	if (passed + failed == 0)
		printf("no test's name contains \"%s\"\n", argument_count > 1 ? arguments[1] : "");
	printf("%d passed, %d failed\n", passed, failed);
	return failed || passed == 0 ? 1 : 0;
}
