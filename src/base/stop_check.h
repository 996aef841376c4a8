// Lets the inner loops of a long computation notice that it is to stop, without a parameter in every call between. A
// check belongs to the thread that began it; on threads without one nothing is ever asked to stop.
#ifndef FEM_BASE_STOP_CHECK_H
#define FEM_BASE_STOP_CHECK_H

#include "fem_basics.h"

typedef struct FemStopCheck {
	bool (*goes_on)(void *context);
	void *context;
	int32_t asked;              // questions since goes_on() was last called
	bool stopped;               // for good
	struct FemStopCheck *outer; // begun before on this thread, or null
} FemStopCheck;

// From begin to end fem_stop_asked() calls goes_on() now and then. Both on the same thread, in pairs.
void fem_stop_check_begin(FemStopCheck *check, bool (*goes_on)(void *context), void *context);
void fem_stop_check_end(FemStopCheck *check);

// For loops whose rounds take up to about 0.1 ms. What the computation has found so far is of no use once this is true.
bool fem_stop_asked(void);

// FEM_ERROR_LIMIT with the sentence that the bake was cancelled.
FemResult fem_fail_stopped(void);

#endif
