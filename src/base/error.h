// The sentence behind fem_last_error(): one per thread.
#ifndef FEM_BASE_ERROR_H
#define FEM_BASE_ERROR_H

#include "base/assert.h"
#include "fem_basics.h"

// Stores the sentence and returns the result, so that a check reads `return fem_fail(FEM_ERROR_..., "...")`.
FemResult fem_fail(FemResult result, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Tells the host's log of something that is no failure of a call. Silent without one.
void fem_warn(const char *sentence);

#endif
