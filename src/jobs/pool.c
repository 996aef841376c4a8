#include "jobs/pool.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/simd.h"
#include "base/thread.h"

#include <stdatomic.h>

#define LOOP_MAX 5 // the step's own and at most 3 large solves (each over a quarter of the nodes), one spare
// Shares of a loop, each a cache line; more threads than that go halves. Chosen.
#define SHARE_MAX 16
// Looks at its own share before a thread looks at the others': chosen, so that stealing stays rare.
#define SPINS_BEFORE_STEALING 16
#define SPINS_BEFORE_YIELD 2000 // looks for work before a thread yields or naps, some 0.07 ms; chosen
// us: what a helper sleeps that has found nothing for so long. The serial parts of a step in which much breaks last
// milliseconds, and helpers that yielded through them spent a quarter of the processor time of such steps. With what
// the system adds a nap lasts some 0.1 ms, and costs 3 to 5 us. Chosen.
#define NAP_US 30
// About 0.1 ms after a job, since the next loop of a step comes sooner than a thread wakes; chosen.
#define LINGER_SPINS 3000
#define PORTIONS 4       // of a share: enough to even out, few enough not to fight over; chosen
#define LIGHT_PORTIONS 1 // a light loop is shared all the same: what a thread needs next is then in its own cache

// The chunks of a loop are dealt out in as many stretches as there are threads, a thread always getting the same one:
// it finds in its own cache what it wrote in the loop before. Who has emptied its own share takes from the back of
// others'.
//
// The ticket holds everything a thread must know to take chunks, in one word, so that a late helper can never take one
// of one run for that of another: run number (24 bits), end (20), begin (20) of the chunks left. A chunk taken keeps
// its run alive, hence task and context, written before the ticket, are stable while it is computed.
//
// All a helper needs is in one cache line, and each share has its own: handing a share over and learning of its end
// moves one line there and back, which is most of what a loop costs.
#define CHUNK_BITS 20                       // of begin and end in a ticket, see above
#define CHUNK_MASK ((1u << CHUNK_BITS) - 1) // one of them

typedef struct Share {
	_Alignas(64) _Atomic uint64_t ticket;
	_Atomic int32_t done;  // chunks of this share run by others than the loop's runner
	_Atomic int32_t grain; // chunks taken at once
	FemChunkTask *task;
	void *context;
} Share;

struct FemLoop {
	Share shares[SHARE_MAX];
	_Alignas(64) uint32_t run;
	_Alignas(64) _Atomic bool open;
	int32_t share_count;
};

static _Thread_local int32_t thread_index; // in its pool; the caller's is 0

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
	FemJob *job; // for whoever takes it first, null when taken
	void *job_context;
	uint32_t job_number;     // of the last job, counted up and never 0
	_Atomic uint32_t active; // the number of the job under way, 0 when there is none: helpers stay awake
	bool quit;
	bool job_pending;  // begun and not finished
	FemJobSystem host; // whose threads come to each job; without run the pool's own wait for them
};

// Chunks begin to end of run `run`, not yet taken.
static uint64_t ticket_of(uint32_t run, int32_t begin, int32_t end) {
	FEM_ASSERT(begin >= 0 && begin < end && end <= (int32_t)CHUNK_MASK);
	return ((uint64_t)run << (2 * CHUNK_BITS)) | ((uint64_t)end << CHUNK_BITS) | (uint64_t)begin;
}

static int32_t ticket_begin(uint64_t ticket) {
	return (int32_t)(ticket & CHUNK_MASK);
}

static int32_t ticket_end(uint64_t ticket) {
	return (int32_t)(ticket >> CHUNK_BITS & CHUNK_MASK);
}

// Takes up to a grain of chunks, from the back unless the share is the thread's own, and runs them; returns how many.
static int32_t run_portion(Share *share, bool own) {
	uint64_t ticket = atomic_load_explicit(&share->ticket, memory_order_acquire), left;
	int32_t begin, end;
	do {
		begin = ticket_begin(ticket), end = ticket_end(ticket);
		if (begin >= end)
			return 0;
		int32_t grain = atomic_load_explicit(&share->grain, memory_order_relaxed);
		grain = end - begin < grain ? end - begin : grain;
		if (own)
			end = begin + grain;
		else
			begin = end - grain;
		left = own ? ticket + (uint64_t)grain : ticket - ((uint64_t)grain << CHUNK_BITS);
	} while (!atomic_compare_exchange_weak_explicit(
		&share->ticket, &ticket, left, memory_order_acq_rel, memory_order_acquire));
	for (int32_t chunk = begin; chunk < end; chunk++)
		share->task(share->context, chunk);
	return end - begin;
}

// For a thread that does not run the loop itself and has found nothing to do `spins` times. It looks at others' shares
// only now and then: each look takes the line of a thread that is working.
static bool help(FemLoop *loop, int spins) {
	int32_t looks = spins % SPINS_BEFORE_STEALING == SPINS_BEFORE_STEALING - 1 ? loop->share_count : 1;
	for (int32_t i = 0; i < looks; i++) {
		Share *share = &loop->shares[(thread_index + i) % loop->share_count];
		int32_t count = 0, more;
		while ((more = run_portion(share, i == 0)) > 0)
			count += more;
		if (count > 0) {
			atomic_fetch_add_explicit(&share->done, count, memory_order_release);
			return true;
		}
	}
	return false;
}

static bool help_large_solves(FemPool *pool, int spins) {
	bool helped = false;
	for (int i = 1; i < LOOP_MAX; i++) {
		if (atomic_load_explicit(&pool->loops[i].open, memory_order_acquire))
			helped |= help(&pool->loops[i], spins);
	}
	return helped;
}

// For the thread that runs a loop: the chunk that it waits for is under way.
static void wait_a_little(int *spins) {
	if (++*spins < SPINS_BEFORE_YIELD)
		fem_spin_pause();
	else
		fem_thread_yield(); // more threads than cores: let the one that has the chunk run
}

// For helpers: nobody waits for them, and who runs the next loop does without them until they wake.
static void rest_a_little(int *spins) {
	if (++*spins < SPINS_BEFORE_YIELD)
		fem_spin_pause();
	else
		fem_thread_nap(NAP_US);
}

// The first shares are the larger ones: the thread that runs the loop begins at once, helpers a little later.
static int32_t share_begin(const FemLoop *loop, int32_t chunk_count, int32_t share) {
	return (int32_t)(((int64_t)chunk_count * share + loop->share_count - 1) / loop->share_count);
}

static int32_t share_size(const FemLoop *loop, int32_t chunk_count, int32_t share) {
	return share_begin(loop, chunk_count, share + 1) - share_begin(loop, chunk_count, share);
}

static void wait_for_share(FemPool *pool, Share *share, int32_t chunks) {
	if (chunks == 0) // then its count may be that of an earlier run
		return;
	for (int spins = 0; atomic_load_explicit(&share->done, memory_order_acquire) < chunks;) {
		if (pool && help_large_solves(pool, spins))
			spins = 0;
		else
			wait_a_little(&spins);
	}
}

static int32_t grain_of(const FemLoop *loop, int32_t chunk_count, int32_t portions) {
	return 1 + (chunk_count - 1) / (portions * loop->share_count);
}

static void run_loop(
	FemPool *pool, FemLoop *loop, int32_t chunk_count, int32_t grain, FemChunkTask *task, void *context) {
	FEM_ASSERT(loop->share_count >= 1 && loop->share_count <= SHARE_MAX && grain >= 1);
	int32_t own = thread_index % loop->share_count, begin = share_begin(loop, chunk_count, own);
	int32_t end = share_begin(loop, chunk_count, own + 1);
	loop->run++;
	for (int32_t i = 0; i < loop->share_count; i++) {
		// The first portion of its own share the thread takes unseen: a loop of one portion each needs no other ticket.
		int32_t first = i == own ? begin + grain : share_begin(loop, chunk_count, i),
				last = share_begin(loop, chunk_count, i + 1);
		Share *share = &loop->shares[i];
		if (first >= last)
			continue;
		share->task = task;
		share->context = context;
		atomic_store_explicit(&share->grain, grain, memory_order_relaxed);
		atomic_store_explicit(&share->done, 0, memory_order_relaxed);
		atomic_store_explicit(&share->ticket, ticket_of(loop->run, first, last), memory_order_release);
	}
	int32_t mine[SHARE_MAX] = {0}; // chunks of each share that this thread has run
	for (int32_t chunk = begin; chunk < end && mine[own] < grain; chunk++, mine[own]++)
		task(context, chunk);
	for (int32_t i = 0, more; i < loop->share_count; i++) {
		int32_t k = (own + i) % loop->share_count;
		while (mine[k] < share_size(loop, chunk_count, k) && (more = run_portion(&loop->shares[k], i == 0)) > 0)
			mine[k] += more;
	}
	for (int32_t k = 0; k < loop->share_count; k++) {
		FEM_ASSERT(mine[k] <= share_size(loop, chunk_count, k));
		wait_for_share(pool, &loop->shares[k], share_size(loop, chunk_count, k) - mine[k]);
	}
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

// A grain of 0 is that of portions.
static void run_in_stretches(FemPool *pool, int32_t chunk_count, int32_t grain, FemChunkTask *task, void *context) {
	const int32_t longest = (int32_t)CHUNK_MASK / 2; // room to spare in the ticket
	FemLoop *loop = &pool->loops[0];
	for (int32_t first = 0; first < chunk_count; first += longest) {
		Stretch stretch = {task, context, first};
		int32_t count = chunk_count - first < longest ? chunk_count - first : longest;
		bool is_whole = count == chunk_count;
		run_loop(pool, loop, count, grain ? grain : grain_of(loop, count, PORTIONS), is_whole ? task : run_in_stretch,
			is_whole ? context : &stretch);
	}
}

void fem_pool_for(FemPool *pool, int32_t chunk_count, FemChunkTask *task, void *context) {
	run_in_stretches(pool, chunk_count, 0, task, context);
}

void fem_pool_for_uneven(FemPool *pool, int32_t chunk_count, FemChunkTask *task, void *context) {
	run_in_stretches(pool, chunk_count, 1, task, context);
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
	FEM_ASSERT(!loop || (loop > pool->loops && loop < pool->loops + LOOP_MAX && atomic_load(&loop->open)));
	if (loop)
		atomic_store_explicit(&loop->open, false, memory_order_release);
}

void fem_loop_for(FemLoop *loop, int32_t chunk_count, FemChunkTask *task, void *context) {
	if (!loop || chunk_count < 2 || chunk_count > (int32_t)CHUNK_MASK / 2) {
		for (int32_t chunk = 0; chunk < chunk_count; chunk++)
			task(context, chunk);
		return;
	}
	run_loop(NULL, loop, chunk_count, grain_of(loop, chunk_count, PORTIONS), task, context);
}

void fem_loop_for_light(FemLoop *loop, int32_t chunk_count, FemChunkTask *task, void *context) {
	if (!loop || chunk_count < 2 * loop->share_count || chunk_count > (int32_t)CHUNK_MASK / 2) {
		for (int32_t chunk = 0; chunk < chunk_count; chunk++)
			task(context, chunk);
		return;
	}
	run_loop(NULL, loop, chunk_count, grain_of(loop, chunk_count, LIGHT_PORTIONS), task, context);
}

// ---- threads

// A helper leaves with the job that it came for. Waiting for `active` to be 0 instead it could miss the moment between
// two jobs, and a job that no one runs is never over.
static void help_until_over(FemPool *pool, uint32_t job_number) {
	int spins = 0;
	while (atomic_load_explicit(&pool->active, memory_order_acquire) == job_number) {
		if (help(&pool->loops[0], spins) || help_large_solves(pool, spins))
			spins = 0;
		else
			rest_a_little(&spins);
	}
}

// Another world may step at once, and a thread that sleeps takes as long to wake as a small step lasts.
static void linger(FemPool *pool) {
	for (int i = 0; i < LINGER_SPINS && !atomic_load_explicit(&pool->active, memory_order_acquire); i++)
		fem_spin_pause();
}

static void run_job(FemPool *pool, FemJob *job, void *context) {
	job(context);
	atomic_store_explicit(&pool->active, 0, memory_order_release);
}

// Runs the job that was begun, unless another thread has taken it. The mutex is held before and after, not in between.
static bool take_job(FemPool *pool) {
	FemJob *job = pool->job;
	void *context = pool->job_context;
	if (!job)
		return false;
	pool->job = NULL;
	fem_mutex_unlock(&pool->mutex);
	run_job(pool, job, context);
	fem_mutex_lock(&pool->mutex);
	return true;
}

static void *worker_main(void *argument) {
	Worker *worker = argument;
	FemPool *pool = worker->pool;
	thread_index = worker->index;
	fem_float_mode_set();
	fem_mutex_lock(&pool->mutex);
	while (!pool->quit) {
		uint32_t job_number = atomic_load(&pool->active);
		if (take_job(pool))
			continue;
		if (job_number) {
			fem_mutex_unlock(&pool->mutex);
			help_until_over(pool, job_number);
			linger(pool);
			fem_mutex_lock(&pool->mutex);
		} else {
			fem_condition_wait(&pool->changed, &pool->mutex);
		}
	}
	fem_mutex_unlock(&pool->mutex);
	return NULL;
}

// Wakes the helpers; `job` goes to the first thread that takes it, or null when the caller runs it itself.
static void activate(FemPool *pool, FemJob *job, void *context) {
	fem_mutex_lock(&pool->mutex);
	pool->job_number = pool->job_number == UINT32_MAX ? 1 : pool->job_number + 1;
	pool->job = job;
	pool->job_context = context;
	atomic_store_explicit(&pool->active, pool->job_number, memory_order_release);
	fem_condition_signal_all(&pool->changed);
	fem_mutex_unlock(&pool->mutex);
}

// A host's thread during one job. One that comes late finds the job over and leaves.
static void join_job(void *context, int32_t index) {
	FemPool *pool = context;
	int32_t index_before = thread_index; // the thread may be another pool's, or step a world of its own afterwards
	thread_index = index >= 0 && index < pool->thread_count ? index : 0;
	unsigned float_mode = fem_float_mode_set();
	fem_mutex_lock(&pool->mutex);
	uint32_t job_number = atomic_load(&pool->active);
	bool has_run = take_job(pool);
	fem_mutex_unlock(&pool->mutex);
	if (!has_run && job_number)
		help_until_over(pool, job_number);
	fem_float_mode_restore(float_mode);
	thread_index = index_before;
}

// When the host returns, none of its threads is inside any more. Were the task never called, the caller runs the job.
static void run_on_host(FemPool *pool, FemJob *job, void *context) {
	activate(pool, job, context);
	if (pool->thread_count > 1)
		pool->host.run(pool->host.user, join_job, pool, pool->thread_count);
	join_job(pool, 0);
}

void fem_pool_run(FemPool *pool, FemJob *job, void *context) {
	if (pool->host.run) {
		run_on_host(pool, job, context);
		return;
	}
	unsigned float_mode = fem_float_mode_set();
	activate(pool, NULL, NULL);
	run_job(pool, job, context);
	fem_float_mode_restore(float_mode);
}

void fem_pool_begin(FemPool *pool, FemJob *job, void *context) {
	FEM_ASSERT(!pool->job_pending && atomic_load(&pool->active) == 0); // one job at a time
	pool->job_pending = true;
	if (!pool->host.run) {
		activate(pool, job, context);
		return;
	}
	pool->job = job; // the host's thread waits for those it calls: fem_pool_finish() calls them
	pool->job_context = context;
}

// The caller runs the job itself when no worker has come to it yet: it depends on no other thread's waking up.
void fem_pool_finish(FemPool *pool) {
	if (!pool->job_pending)
		return;
	pool->job_pending = false;
	if (pool->host.run) {
		run_on_host(pool, pool->job, pool->job_context);
		return;
	}
	unsigned float_mode = fem_float_mode_set();
	fem_mutex_lock(&pool->mutex);
	bool is_over = take_job(pool);
	fem_mutex_unlock(&pool->mutex);
	if (!is_over)
		help_until_over(pool, pool->job_number);
	fem_float_mode_restore(float_mode);
}

static void start_threads(FemPool *pool, int32_t thread_count) {
	for (int32_t i = 1; i < thread_count && i < 64; i++) {
		pool->workers[i] = (Worker){pool, i};
		if (!fem_thread_start(&pool->threads[i], worker_main, &pool->workers[i]))
			break; // fewer threads than asked give the same results
		pool->thread_count++;
	}
}

FemPool *fem_pool_create_on(const FemJobSystem *jobs, int32_t thread_count) {
	FemPool *pool = FEM_ALLOC_ARRAY(FemPool, 1);
	if (!pool)
		return NULL;
	fem_mutex_init(&pool->mutex);
	fem_condition_init(&pool->changed);
	pool->thread_count = 1;
	pool->host = *jobs;
	if (pool->host.run)
		pool->thread_count = thread_count < 1 ? 1 : thread_count > 64 ? 64 : thread_count;
	else
		start_threads(pool, thread_count);
	for (int i = 0; i < LOOP_MAX; i++)
		pool->loops[i].share_count = pool->thread_count < SHARE_MAX ? pool->thread_count : SHARE_MAX;
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
	for (int32_t i = 1; i < pool->thread_count && !pool->host.run; i++)
		fem_thread_join(pool->threads[i]);
	fem_condition_destroy(&pool->changed);
	fem_mutex_destroy(&pool->mutex);
	FEM_FREE_ARRAY(pool, 1);
}
