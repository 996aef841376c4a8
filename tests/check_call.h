// FEM_CHECK_INT for calls: its argument is evaluated once, so that a call that changes something can stand in it.
#ifndef FEM_CHECK_CALL_H
#define FEM_CHECK_CALL_H

#include "fem_test.h"

static inline bool fem_check_call(long long actual, long long expected, const char *text, const char *file, int line) {
	return fem_test_check(actual == expected, file, line, "%s = %lld, expected %lld", text, actual, expected);
}

#define FEM_CHECK_CALL(call, expected) \
	fem_check_call((long long)(call), (long long)(expected), #call, __FILE__, __LINE__)

#endif
