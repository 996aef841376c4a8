// Asserts: they are compiled into the tests, end the program where an invariant is broken, and say which.
#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/search.h"
#include "fem_test.h"

#ifndef _WIN32
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void free_with_another_size(void) {
	fem_free(fem_alloc(100), 101);
}

static void take_more_than_was_asked_for(void) {
	FemArena arena = {0};
	if (fem_arena_begin(&arena, 64) && !fem_arena_take(&arena, (size_t)1 << 20))
		fem_arena_free(&arena);
}

static void search_in_disorder(void) {
	static const int32_t list[] = {9, 5, 4, 3, 1};
	printf("%d\n", fem_first_not_below(list, 5, 4));
}

static void take_a_negative_count(void) {
	volatile int32_t count = -1;
	int32_t *array = FEM_ALLOC_ARRAY(int32_t, count);
	fem_free(array, 0);
}

// What the child said before it was aborted; empty when it was not.
static void run_child(FemTestFunction *function, char *out, size_t size) {
	int ends[2], status = 0;
	memset(out, 0, size);
	if (pipe(ends) != 0)
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], 2);
		function();
		_exit(0);
	}
	close(ends[1]);
	for (size_t used = 0; used + 1 < size;) {
		ssize_t got = read(ends[0], out + used, size - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		out[0] = 0;
}

// Fails when one of the four is let pass, or what is said does not name the file.
FEM_TEST(asserts, end_the_program) {
	static const struct {
		FemTestFunction *function;
		const char *file;
	} cases[] = {
		{free_with_another_size, "base/memory.c"},
		{take_more_than_was_asked_for, "base/arena.c"},
		{search_in_disorder, "base/search.h"},
		{take_a_negative_count, "base/memory.h"},
	};
	char said[1024];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		run_child(cases[i].function, said, sizeof said);
		if (!FEM_CHECK(strstr(said, cases[i].file) && strstr(said, "does not hold")))
			printf("  %s: said \"%s\"\n", cases[i].file, said);
	}
}
#endif

// Fails when the tests are built without asserts.
FEM_TEST(asserts, are_on) {
	FEM_CHECK(FEM_HAS_ASSERTS);
}
