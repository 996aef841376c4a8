// Runs the registered tests whose "suite.name" contains one of the arguments, or all of them, and ends with the line
// "N passed, M failed".
//
//   fem_tests [--jobs N [--slowest M]] [FILTER...]
//
//   --jobs N      each test in a process of its own, N at a time, so that one that crashes fails alone (not on Windows)
//   --slowest M   afterwards the M tests that took the most processor time
#include "fem_test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#ifndef _WIN32
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define TEST_CAPACITY 2048
#define FAILURES_SHOWN 10
#define JOBS_MAX 64

typedef struct Test {
	const char *suite, *name;
	FemTestFunction *function;
	double cpu_seconds; // of its process, where it has one
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
	tests[test_count++] = (Test){.suite = suite, .name = name, .function = function};
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

// The tests that the arguments choose come first afterwards, in order; returns how many.
static int choose_tests(int filter_count, char *const *filters) {
	int chosen = 0;
	qsort(tests, (size_t)test_count, sizeof *tests, compare_tests);
	for (int i = 0; i < test_count; i++) {
		char full_name[256];
		snprintf(full_name, sizeof full_name, "%s.%s", tests[i].suite, tests[i].name);
		if (is_chosen(full_name, filter_count, filters))
			tests[chosen++] = tests[i];
	}
	return chosen;
}

static bool run_test(const Test *test) {
	printf("%s.%s\n", test->suite, test->name);
	fflush(stdout);
	failures_in_test = 0;
	test->function();
	if (failures_in_test > FAILURES_SHOWN)
		printf("  ... and %d more\n", failures_in_test - FAILURES_SHOWN);
	if (failures_in_test)
		printf("  FAILED %s.%s\n", test->suite, test->name);
	fflush(stdout);
	return failures_in_test == 0;
}

static int run_in_sequence(int count) {
	int failed = 0;
	for (int i = 0; i < count; i++)
		failed += !run_test(&tests[i]);
	return failed;
}

#ifndef _WIN32

typedef struct Job {
	pid_t process;
	FILE *output; // of the process, printed when it has ended, so that the lines of two tests do not mix
	Test *test;
} Job;

static bool start_job(Job *job, Test *test) {
	*job = (Job){.output = tmpfile(), .test = test};
	fflush(stdout);
	job->process = job->output ? fork() : -1;
	if (job->process == 0) {
		dup2(fileno(job->output), STDOUT_FILENO);
		exit(run_test(test) ? 0 : 1);
	}
	return job->process > 0;
}

static bool end_job(Job *job, int status) {
	char text[4096];
	size_t length;
	rewind(job->output);
	while ((length = fread(text, 1, sizeof text, job->output)) > 0)
		fwrite(text, 1, length, stdout);
	fclose(job->output);
	if (WIFSIGNALED(status))
		printf("  FAILED %s.%s: ended by signal %d\n", job->test->suite, job->test->name, WTERMSIG(status));
	else if (WEXITSTATUS(status) > 1)
		printf("  FAILED %s.%s: exit code %d\n", job->test->suite, job->test->name, WEXITSTATUS(status));
	fflush(stdout);
	job->process = 0;
	return status == 0;
}

static double seconds_of(struct timeval time) {
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static int run_in_processes(int count, int job_count) {
	static Job jobs[JOBS_MAX];
	int failed = 0, started = 0, running = 0;
	while (started < count || running > 0) {
		for (int j = 0; j < job_count && started < count; j++) {
			if (jobs[j].process)
				continue;
			if (!start_job(&jobs[j], &tests[started++])) {
				fprintf(stderr, "no process or file could be made for a test: run without --jobs.\n");
				exit(2);
			}
			running++;
		}
		int status = 0;
		struct rusage use = {0};
		pid_t ended = wait4(-1, &status, 0, &use);
		for (int j = 0; j < job_count; j++) {
			if (jobs[j].process == ended) {
				jobs[j].test->cpu_seconds = seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
				failed += !end_job(&jobs[j], status);
				running--;
			}
		}
	}
	return failed;
}

#else

static int run_in_processes(int count, int job_count) {
	(void)job_count;
	return run_in_sequence(count);
}

#endif

static int compare_times(const void *left, const void *right) {
	const Test *a = left, *b = right;
	return (a->cpu_seconds < b->cpu_seconds) - (a->cpu_seconds > b->cpu_seconds);
}

static void print_slowest(int count, int shown) {
	qsort(tests, (size_t)count, sizeof *tests, compare_times);
	for (int i = 0; i < count && i < shown; i++)
		printf("%6.2f s %s.%s\n", tests[i].cpu_seconds, tests[i].suite, tests[i].name);
}

int main(int argument_count, char **arguments) {
	int job_count = 1, slowest = 0, skipped = 1;
	if (getenv("FEM_TEST_CHILD") && child_function) {
		child_function();
		return 0;
	}
	if (argument_count > 2 && strcmp(arguments[1], "--jobs") == 0) {
		job_count = atoi(arguments[2]);
		skipped = 3;
	}
	if (skipped == 3 && argument_count > 4 && strcmp(arguments[3], "--slowest") == 0) {
		slowest = atoi(arguments[4]);
		skipped = 5;
	}
	if (job_count < 1) {
		fprintf(stderr, "--jobs takes a number of processes, 1 or more.\n");
		return 2;
	}
	job_count = job_count < JOBS_MAX ? job_count : JOBS_MAX;
	int count = choose_tests(argument_count - skipped, arguments + skipped);
	int failed = job_count > 1 ? run_in_processes(count, job_count) : run_in_sequence(count);
	print_slowest(count, slowest);
	if (count == 0)
		printf("no test's name contains \"%s\"\n", argument_count > skipped ? arguments[skipped] : "");
	printf("%d passed, %d failed\n", count - failed, failed);
	return failed || count == 0 ? 1 : 0;
}
