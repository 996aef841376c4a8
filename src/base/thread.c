#include "base/thread.h"

#include <sched.h>

bool fem_thread_start(FemThread *thread, FemThreadFunction *function, void *argument) {
	return pthread_create(thread, NULL, function, argument) == 0;
}

void fem_thread_join(FemThread thread) {
	pthread_join(thread, NULL);
}

void fem_thread_yield(void) {
	sched_yield();
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
