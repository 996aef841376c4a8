#include "base/thread.h"

#include <sched.h>
#include <time.h>

bool fem_thread_start(FemThread *thread, FemThreadFunction *function, void *argument) {
	return pthread_create(thread, NULL, function, argument) == 0;
}

void fem_thread_join(FemThread thread) {
	pthread_join(thread, NULL);
}

void fem_thread_yield(void) {
	sched_yield();
}

// Windows sleeps for 1 to 16 ms, however short the wish.
void fem_thread_nap(int32_t us) {
#ifdef _WIN32
	(void)us;
	sched_yield();
#else
	struct timespec duration = {.tv_nsec = 1000L * us};
	nanosleep(&duration, NULL);
#endif
}

void fem_mutex_init(FemMutex *mutex) {
	pthread_mutex_init(mutex, NULL);
}

void fem_mutex_destroy(FemMutex *mutex) {
	pthread_mutex_destroy(mutex);
}

void fem_mutex_lock(FemMutex *mutex) {
	pthread_mutex_lock(mutex);
}

void fem_mutex_unlock(FemMutex *mutex) {
	pthread_mutex_unlock(mutex);
}

void fem_condition_init(FemCondition *condition) {
	pthread_cond_init(condition, NULL);
}

void fem_condition_destroy(FemCondition *condition) {
	pthread_cond_destroy(condition);
}

void fem_condition_wait(FemCondition *condition, FemMutex *mutex) {
	pthread_cond_wait(condition, mutex);
}

void fem_condition_signal_all(FemCondition *condition) {
	pthread_cond_broadcast(condition);
}
