#include "base/error.h"
#include "fem_hooks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char last_error[256];
static FemLog host_log;

void fem_set_log(const FemLog *log) {
	host_log = log ? *log : (FemLog){0};
}

FemLog fem_get_log(void) {
	return host_log;
}

void fem_warn(const char *sentence) {
	if (host_log.write)
		host_log.write(host_log.user, FEM_LOG_WARNING, sentence);
}

#if defined(FEM_ASSERTS)
void fem_assert_failed(const char *file, int line, const char *condition) {
	char sentence[512];
	snprintf(sentence, sizeof sentence, "%s:%d: does not hold: %s", file, line, condition);
	if (host_log.write)
		host_log.write(host_log.user, FEM_LOG_ERROR, sentence);
	fprintf(stderr, "fem_destruction: %s\n", sentence);
	abort();
}
#endif

FemResult fem_fail(FemResult result, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(last_error, sizeof last_error, format, arguments);
	va_end(arguments);
	if (host_log.write)
		host_log.write(host_log.user, FEM_LOG_ERROR, last_error);
	return result;
}

const char *fem_last_error(void) {
	return last_error;
}

const char *fem_result_name(FemResult result) {
	switch (result) {
	case FEM_OK: return "ok";
	case FEM_ERROR_INVALID_ID: return "invalid id";
	case FEM_ERROR_INVALID_ARGUMENT: return "invalid argument";
	case FEM_ERROR_STEPPING: return "a step is under way";
	case FEM_ERROR_IN_USE: return "in use";
	case FEM_ERROR_MESH: return "bad mesh";
	case FEM_ERROR_LIMIT: return "limit reached";
	case FEM_ERROR_MEMORY: return "out of memory";
	case FEM_ERROR_FORMAT: return "bad format";
	}
	return "unknown result";
}
