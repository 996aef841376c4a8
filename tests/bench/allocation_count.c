// glibc lets a program define malloc and keeps its own reachable as __libc_malloc. operator new of libstdc++ calls
// malloc, so C++ parts are counted too.
#include "bench/allocation_count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_llong calls;

int64_t allocation_count(void) {
	return (int64_t)atomic_load_explicit(&calls, memory_order_relaxed);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)

#include <malloc.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *pointer, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

// -fvisibility=hidden would keep the C library from seeing these.
#define REPLACES __attribute__((visibility("default")))

static void count_call(void) {
	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

REPLACES void *malloc(size_t bytes) {
	count_call();
	return __libc_malloc(bytes);
}

REPLACES void *calloc(size_t count, size_t bytes) {
	count_call();
	return __libc_calloc(count, bytes);
}

REPLACES void *realloc(void *pointer, size_t bytes) {
	count_call();
	return __libc_realloc(pointer, bytes);
}

REPLACES void *memalign(size_t alignment, size_t bytes) {
	count_call();
	return __libc_memalign(alignment, bytes);
}

REPLACES void *aligned_alloc(size_t alignment, size_t bytes) {
	count_call();
	return __libc_memalign(alignment, bytes);
}

REPLACES int posix_memalign(void **out, size_t alignment, size_t bytes) {
	if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
		return EINVAL;
	count_call();
	void *pointer = __libc_memalign(alignment, bytes);
	if (!pointer)
		return ENOMEM;
	*out = pointer;
	return 0;
}

bool allocation_count_works(void) {
	return true;
}

#else

bool allocation_count_works(void) {
	return false;
}

#endif
