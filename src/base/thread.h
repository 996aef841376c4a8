// Threads, locks and waiting. The only header (with thread.c) that knows pthreads.
#ifndef FEM_BASE_THREAD_H
#define FEM_BASE_THREAD_H

#include "base/assert.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef pthread_mutex_t FemMutex;
typedef pthread_cond_t FemCondition;
typedef pthread_t FemThread;

#define FEM_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

typedef void *FemThreadFunction(void *argument);

FEM_MUST_USE bool fem_thread_start(FemThread *thread, FemThreadFunction *function, void *argument);
void fem_thread_join(FemThread thread);
void fem_thread_yield(void);
void fem_thread_nap(int32_t us); // gives the processor away for about so long; yields where the system cannot

void fem_mutex_init(FemMutex *mutex);
void fem_mutex_destroy(FemMutex *mutex);
void fem_mutex_lock(FemMutex *mutex);
void fem_mutex_unlock(FemMutex *mutex);

void fem_condition_init(FemCondition *condition);
void fem_condition_destroy(FemCondition *condition);
void fem_condition_wait(FemCondition *condition, FemMutex *mutex);
void fem_condition_signal_all(FemCondition *condition);

// A hint to the processor inside a spin loop.
static inline void fem_spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
