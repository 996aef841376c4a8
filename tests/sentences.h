// Failures that must come with a sentence.
#ifndef FEM_TESTS_SENTENCES_H
#define FEM_TESTS_SENTENCES_H

#include "fem_destruction.h"
#include "fem_test.h"

#include <string.h>

// What fem_last_error() holds ends as a sentence does.
static inline bool fem_has_sentence(void) {
	const char *text = fem_last_error();
	size_t length = strlen(text);
	return length > 10 && text[length - 1] == '.';
}

#define CHECK_FAILS(call, expected) \
	do { \
		FEM_CHECK_INT(call, expected); \
		FEM_CHECK(fem_has_sentence()); \
	} while (0)

#endif
