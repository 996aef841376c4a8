#include "base/stop_check.h"

#include "base/assert.h"
#include "base/error.h"

#define QUESTIONS_MAX 256 // between two calls of goes_on(): some 25 ms of the slowest rounds

static _Thread_local FemStopCheck *current;

void fem_stop_check_begin(FemStopCheck *check, bool (*goes_on)(void *context), void *context) {
	*check = (FemStopCheck){.goes_on = goes_on, .context = context, .outer = current};
	current = check;
}

void fem_stop_check_end(FemStopCheck *check) {
	FEM_ASSERT(current == check); // begun and ended in pairs
	current = check->outer;
}

bool fem_stop_asked(void) {
	FemStopCheck *check = current;
	if (!check || check->stopped || ++check->asked < QUESTIONS_MAX)
		return check && check->stopped;
	check->asked = 0;
	check->stopped = !check->goes_on(check->context);
	return check->stopped;
}

FemResult fem_fail_stopped(void) {
	return fem_fail(FEM_ERROR_LIMIT, "The bake was cancelled.");
}
