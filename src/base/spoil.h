// Sanitizer builds bring to light what reads memory that was never written, or is left of an earlier use: as NaN, or by
// the memory sanitizer's own means.
#ifndef FEM_BASE_SPOIL_H
#define FEM_BASE_SPOIL_H

#if defined(__SANITIZE_ADDRESS__)
#include <string.h>
#define FEM_SPOIL(pointer, bytes) memset(pointer, 0xff, bytes)
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define FEM_SPOIL(pointer, bytes) __msan_allocated_memory(pointer, bytes)
#endif
#endif
#ifndef FEM_SPOIL
#define FEM_SPOIL(pointer, bytes) ((void)0)
#endif

#endif
