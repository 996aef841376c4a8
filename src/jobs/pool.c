#include "jobs/pool.h"

#include "base/memory.h"
#include "base/simd.h"
#include "base/thread.h"

#include <stdatomic.h>

#define LOOP_MAX 5            // the step's own and at most 3 large solves (each over a quarter of the nodes), one spare
#define SPINS_BEFORE_YIELD 2000
#define LINGER_SPINS 3000     // about 0.1 ms
#define PORTIONS 4            // a thread and loop: enough to even out, few enough not to fight over
#define LIGHT_PORTIONS 1      // shared all the same: what a thread needs next is then in its own cache

// The ticket holds everything a thread must know to take a portion, in one word, so that a late helper can never take one
// of one run for that of another: run number (24 bits), end (20), begin (20) of the portions left. A portion taken keeps
// its run alive, hence task and context, written before the ticket, are stable while it is computed.
//
// Half of the threads take from the front, half from the back, always the same ones: with two threads each finds in its
// own cache what it wrote in the loop before.
#define CHUNK_BITS 20
#define CHUNK_MASK ((1u << CHUNK_BITS) - 1)

static _Thread_local bool takes_from_back;

struct FemLoop {
	_Alignas(64) _Atomic uint64_t ticket;
	_Alignas(64) _Atomic int32_t portions_done;
	FemChunkTask *task;
	void *context;
	int32_t chunk_count;
	int32_t grain; // chunks in a portion
	int32_t threads; // of the pool
	uint32_t run;
	_Atomic bool open;
};

typedef struct Worker {
	FemPool *pool;
	int32_t index;
} Worker;

struct FemPool {
	FemLoop loops[LOOP_MAX];
	int32_t thread_count; // the caller's included
	FemThread threads[64];
	Worker workers[64];

	FemMutex mutex;
	FemCondition changed;
	FemJob *job; // for a worker to run, null when taken
	void *job_context;
	bool quit;
	_Atomic bool active; // a job is under way: helpers stay awake
	bool job_pending;    // begun and not finished
	bool job_done;
};

static uint32_t ticket_begin(uint64_t ticket) {
	return (uint32_t)ticket & CHUNK_MASK;
}

static uint32_t ticket_end(uint64_t ticket) {
	return (uint32_t)(ticket >> CHUNK_BITS) & CHUNK_MASK;
}

// The number of a portion, or -1 when none is left.
static int32_t take_portion(FemLoop *loop) {
	uint64_t ticket = atomic_load_explicit(&loop->ticket, memory_order_acquire), taken;
	do {
		if (ticket_begin(ticket) >= ticket_end(ticket))
			return -1;
		taken = takes_from_back ? ticket - (1ull << CHUNK_BITS) : ticket + 1;
	} while (!atomic_compare_exchange_weak_explicit(
		&loop->ticket, &ticket, taken, memory_order_acq_rel, memory_order_acquire));
	return (int32_t)(takes_from_back ? ticket_end(ticket) - 1 : ticket_begin(ticket));
}

static bool run_one_portion(FemLoop *loop) {
	int32_t portion = take_portion(loop);
	if (portion < 0)
		return false;
	int32_t begin = portion * loop->grain, end = begin + loop->grain;
	for (int32_t chunk = begin; chunk < end && chunk < loop->chunk_count; chunk++)
		loop->task(loop->context, chunk);
	atomic_fetch_add_explicit(&loop->portions_done, 1, memory_order_release);
	return true;
}

static bool help_large_solves(FemPool *pool) {
	bool helped = false;
	for (int i = 1; i < LOOP_MAX; i++) {
		if (atomic_load_explicit(&pool->loops[i].open, memory_order_acquire))
			helped |= run_one_portion(&pool->loops[i]);
	}
	return helped;
}

static void wait_a_little(int *spins) {
	if (++*spins < SPINS_BEFORE_YIELD)
		fem_spin_pause();
	else
		fem_thread_yield(); // more threads than cores: let the one that has the chunk run
}

static void run_loop(
	FemPool *pool, FemLoop *loop, int32_t chunk_count, int32_t grain, FemChunkTask *task, void *context) {
	loop->task = task;
	loop->context = context;
	loop->chunk_count = chunk_count;
	loop->grain = grain;
	int32_t portions = (chunk_count + grain - 1) / grain;
	loop->run++;
	atomic_store_explicit(&loop->portions_done, 0, memory_order_relaxed);
	uint64_t ticket = ((uint64_t)loop->run << (2 * CHUNK_BITS)) | ((uint64_t)portions << CHUNK_BITS);
	atomic_store_explicit(&loop->ticket, ticket, memory_order_release);
	while (run_one_portion(loop)) {
	}
	for (int spins = 0; atomic_load_explicit(&loop->portions_done, memory_order_acquire) < portions;) {
		if (pool && help_large_solves(pool))
			spins = 0;
		else
			wait_a_little(&spins);
	}
}

static int32_t grain_of(const FemLoop *loop, int32_t chunk_count) {
	return 1 + chunk_count / (PORTIONS * loop->threads);
}

// Loops longer than a ticket can count are run in stretches.
typedef struct Stretch {
	FemChunkTask *task;
	void *context;
	int32_t first;
} Stretch;

static void run_in_stretch(void *context, int32_t chunk) {
	Stretch *stretch = context;
	stretch->task(stretch->context, stretch->first + chunk);
}

void fem_pool_for(FemPool *pool, int32_t chunk_count, FemChunkTask *task, void *context) {
	const int32_t longest = (int32_t)CHUNK_MASK / 2; // room to spare in the ticket
	if (chunk_count <= 0)
		return;
	if (chunk_count <= longest) {
		run_loop(pool, &pool->loops[0], chunk_count, grain_of(&pool->loops[0], chunk_count), task, context);
		return;
	}
	for (int32_t first = 0; first < chunk_count; first += longest) {
		Stretch stretch = {task, context, first};
		int32_t count = chunk_count - first < longest ? chunk_count - first : longest;
		run_loop(pool, &pool->loops[0], count, grain_of(&pool->loops[0], count), run_in_stretch, &stretch);
	}
}

FemLoop *fem_pool_open_loop(FemPool *pool) {
	if (pool->thread_count < 2)
		return NULL;
	for (int i = 1; i < LOOP_MAX; i++) {
		bool closed = false;
		if (atomic_compare_exchange_strong(&pool->loops[i].open, &closed, true))
			return &pool->loops[i];
	}
	return NULL;
}

void fem_pool_close_loop(FemPool *pool, FemLoop *loop) {
	(void)pool;
	if (loop)
		atomic_store_explicit(&loop->open, false, memory_order_release);
}

void fem_loop_for(FemLoop *loop, int32_t chunk_count, FemChunkTask *task, void *context) {
	if (!loop || chunk_count < 2 || chunk_count > (int32_t)CHUNK_MASK / 2) {
		for (int32_t chunk = 0; chunk < chunk_count; chunk++)
			task(context, chunk);
		return;
	}
	run_loop(NULL, loop, chunk_count, grain_of(loop, chunk_count), task, context);
}

void fem_loop_for_light(FemLoop *loop, int32_t chunk_count, FemChunkTask *task, void *context) {
	int32_t portions = loop ? LIGHT_PORTIONS * loop->threads : 1;
	if (!loop || chunk_count < 2 * portions || chunk_count > (int32_t)CHUNK_MASK / 2) {
		for (int32_t chunk = 0; chunk < chunk_count; chunk++)
			task(context, chunk);
		return;
	}
	run_loop(NULL, loop, chunk_count, (chunk_count + portions - 1) / portions, task, context);
}

// -------------------------------------------------------------------------------------------------------------- threads

static void help_until_idle(FemPool *pool) {
	int spins = 0;
	while (atomic_load_explicit(&pool->active, memory_order_acquire)) {
		if (run_one_portion(&pool->loops[0]) || help_large_solves(pool))
			spins = 0;
		else
			wait_a_little(&spins);
	}
}

// Another world may step at once, and a thread that sleeps takes as long to wake as a small step lasts.
static void linger(FemPool *pool) {
	for (int i = 0; i < LINGER_SPINS && !atomic_load_explicit(&pool->active, memory_order_acquire); i++)
		fem_spin_pause();
}

static void run_job(FemPool *pool, FemJob *job, void *context) {
	job(context);
	fem_mutex_lock(&pool->mutex);
	atomic_store_explicit(&pool->active, false, memory_order_release);
	pool->job_done = true;
	fem_condition_signal_all(&pool->changed);
	fem_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *argument) {
	Worker *worker = argument;
	FemPool *pool = worker->pool;
	takes_from_back = worker->index % 2 == 1;
	fem_float_mode_set();
	fem_mutex_lock(&pool->mutex);
	while (!pool->quit) {
		if (pool->job) {
			FemJob *job = pool->job;
			pool->job = NULL;
			fem_mutex_unlock(&pool->mutex);
			run_job(pool, job, pool->job_context);
			fem_mutex_lock(&pool->mutex);
		} else if (atomic_load(&pool->active)) {
			fem_mutex_unlock(&pool->mutex);
			help_until_idle(pool);
			linger(pool);
			fem_mutex_lock(&pool->mutex);
		} else {
			fem_condition_wait(&pool->changed, &pool->mutex);
		}
	}
	fem_mutex_unlock(&pool->mutex);
	return NULL;
}

// Wakes the helpers; `job` goes to one of them, or null when the caller runs it itself.
static void activate(FemPool *pool, FemJob *job, void *context) {
	fem_mutex_lock(&pool->mutex);
	atomic_store_explicit(&pool->active, true, memory_order_release);
	pool->job = job;
	pool->job_context = context;
	pool->job_done = false;
	fem_condition_signal_all(&pool->changed);
	fem_mutex_unlock(&pool->mutex);
}

void fem_pool_run(FemPool *pool, FemJob *job, void *context) {
	unsigned float_mode = fem_float_mode_set();
	activate(pool, NULL, NULL);
	run_job(pool, job, context);
	fem_float_mode_restore(float_mode);
}

void fem_pool_begin(FemPool *pool, FemJob *job, void *context) {
	pool->job_pending = true;
	if (pool->thread_count > 1) {
		activate(pool, job, context);
	} else {
		pool->job = job;
		pool->job_context = context;
	}
}

void fem_pool_finish(FemPool *pool) {
	if (!pool->job_pending)
		return;
	pool->job_pending = false;
	if (pool->thread_count == 1) {
		FemJob *job = pool->job;
		pool->job = NULL;
		fem_pool_run(pool, job, pool->job_context);
		return;
	}
	unsigned float_mode = fem_float_mode_set();
	help_until_idle(pool);
	fem_float_mode_restore(float_mode);
	fem_mutex_lock(&pool->mutex);
	while (!pool->job_done)
		fem_condition_wait(&pool->changed, &pool->mutex);
	fem_mutex_unlock(&pool->mutex);
}

FemPool *fem_pool_create(int32_t thread_count) {
	FemPool *pool = FEM_ALLOC_ARRAY(FemPool, 1);
	if (!pool)
		return NULL;
	fem_mutex_init(&pool->mutex);
	fem_condition_init(&pool->changed);
	pool->thread_count = 1;
	for (int32_t i = 1; i < thread_count && i < 64; i++) {
		pool->workers[i] = (Worker){pool, i};
		if (!fem_thread_start(&pool->threads[i], worker_main, &pool->workers[i]))
			break; // fewer threads than asked give the same results
		pool->thread_count++;
	}
	for (int i = 0; i < LOOP_MAX; i++)
		pool->loops[i].threads = pool->thread_count;
	return pool;
}

void fem_pool_destroy(FemPool *pool) {
	if (!pool)
		return;
	fem_pool_finish(pool);
	fem_mutex_lock(&pool->mutex);
	pool->quit = true;
	fem_condition_signal_all(&pool->changed);
	fem_mutex_unlock(&pool->mutex);
	for (int32_t i = 1; i < pool->thread_count; i++)
		fem_thread_join(pool->threads[i]);
	fem_condition_destroy(&pool->changed);
	fem_mutex_destroy(&pool->mutex);
	FEM_FREE_ARRAY(pool, 1);
}
