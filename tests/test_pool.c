// The worker pool alone: jobs run at once and begun for later, in any order, with any number of threads.
#include "base/thread.h"
#include "base/timing.h"
#include "fem_test.h"
#include "jobs/pool.h"
#include "scenes/scenes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

#define LOOP_CHUNKS 37

static const int32_t thread_counts[] = {1, 2, 3, 4, 8};

// ---- watch

// A thread that never comes back cannot fail a check: the watch ends the whole run and says why.
typedef struct Watch {
	FemThread thread;
	double limit_ms;
	_Atomic bool is_over;
} Watch;

static void *watch_main(void *argument) {
	Watch *watch = argument;
	double began = fem_time_ms();
	while (!atomic_load(&watch->is_over)) {
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		if (fem_time_ms() - began > watch->limit_ms) {
			printf("  a job was not over after %.0f s: the pool hangs\n", 1e-3 * watch->limit_ms);
			fflush(stdout);
			_Exit(1);
		}
	}
	return NULL;
}

static void watch_begin(Watch *watch, double limit_s) {
	watch->limit_ms = 1e3 * limit_s * FEM_TEST_SLOWNESS;
	atomic_store(&watch->is_over, false);
	FEM_CHECK(fem_thread_start(&watch->thread, watch_main, watch));
}

static void watch_end(Watch *watch) {
	atomic_store(&watch->is_over, true);
	fem_thread_join(watch->thread);
}

// ---- jobs

// Two loops a job, each chunk counting itself; only the job's own thread reads between them.
typedef struct CountingJob {
	FemPool *pool;
	int32_t counts[LOOP_CHUNKS];
	int32_t jobs, wrong_counts;
} CountingJob;

static void count_chunk(void *context, int32_t chunk) {
	((CountingJob *)context)->counts[chunk]++;
}

static void run_counting_job(void *context) {
	CountingJob *job = context;
	fem_pool_for(job->pool, LOOP_CHUNKS, count_chunk, job);
	fem_pool_for_uneven(job->pool, LOOP_CHUNKS, count_chunk, job);
	job->jobs++;
	for (int32_t i = 0; i < LOOP_CHUNKS; i++)
		job->wrong_counts += job->counts[i] != 2 * job->jobs;
}

static void begin_and_finish(CountingJob *job, int32_t pauses) {
	fem_pool_begin(job->pool, run_counting_job, job);
	for (int32_t i = 0; i < pauses; i++)
		fem_spin_pause();
	fem_pool_finish(job->pool);
}

static void check_counts(const CountingJob *job, int32_t jobs, int32_t threads) {
	fem_test_check(job->jobs == jobs && job->wrong_counts == 0, __FILE__, __LINE__,
		"%d of %d jobs ran, %d wrong counts with %d threads", job->jobs, jobs, job->wrong_counts, threads);
}

// ---- tests

// The next job comes while helpers of the last one still look for work.
FEM_TEST(pool, a_job_begun_behind_another_is_run) {
	enum { ROUNDS = 1000 };
	for (size_t k = 0; k < sizeof thread_counts / sizeof *thread_counts; k++) {
		CountingJob job = {.pool = fem_pool_create_on(&(FemJobSystem){0}, thread_counts[k])};
		Watch watch;
		FEM_REQUIRE(job.pool != NULL);
		watch_begin(&watch, 20.0);
		for (int32_t i = 0; i < ROUNDS; i++) {
			fem_pool_run(job.pool, run_counting_job, &job);
			begin_and_finish(&job, 0);
		}
		watch_end(&watch);
		check_counts(&job, 2 * ROUNDS, thread_counts[k]);
		fem_pool_destroy(job.pool);
	}
}

// Between beginning and finishing there is time for workers to take the job, to be about to, or to have gone to sleep.
FEM_TEST(pool, jobs_in_any_order_and_at_any_distance) {
	enum { ROUNDS = 600 };
	for (size_t k = 0; k < sizeof thread_counts / sizeof *thread_counts; k++) {
		CountingJob job = {.pool = fem_pool_create_on(&(FemJobSystem){0}, thread_counts[k])};
		Watch watch;
		uint32_t random = 1;
		FEM_REQUIRE(job.pool != NULL);
		watch_begin(&watch, 20.0);
		for (int32_t i = 0; i < ROUNDS; i++) {
			random = random * 1664525u + 1013904223u;
			if (random >> 31)
				fem_pool_run(job.pool, run_counting_job, &job);
			else
				begin_and_finish(&job, (int32_t)(1u << (random >> 16) % 13));
			if (random >> 24 & 1) // more than the time that helpers linger
				nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		}
		watch_end(&watch);
		check_counts(&job, ROUNDS, thread_counts[k]);
		fem_pool_destroy(job.pool);
	}
}

// Finishing twice, and a pool that is freed with a job begun.
FEM_TEST(pool, a_begun_job_is_run_once_whoever_ends_it) {
	for (size_t k = 0; k < sizeof thread_counts / sizeof *thread_counts; k++) {
		CountingJob job = {.pool = fem_pool_create_on(&(FemJobSystem){0}, thread_counts[k])};
		Watch watch;
		FEM_REQUIRE(job.pool != NULL);
		watch_begin(&watch, 20.0);
		fem_pool_finish(job.pool);
		begin_and_finish(&job, 0);
		fem_pool_finish(job.pool);
		check_counts(&job, 1, thread_counts[k]);
		fem_pool_begin(job.pool, run_counting_job, &job);
		fem_pool_destroy(job.pool);
		watch_end(&watch);
		check_counts(&job, 2, thread_counts[k]);
	}
}

// What a game does that steps a world whole in one tick and in two halves in the next.
FEM_TEST(pool, worlds_step_whole_and_in_halves_by_turns) {
	enum { ROUNDS = 60 };
	const FemScene *scene = fem_scene_find("bar2k");
	uint64_t expected = 0;
	FEM_REQUIRE(scene != NULL);
	for (size_t k = 0; k < sizeof thread_counts / sizeof *thread_counts; k++) {
		FemWorldDef def = fem_scene_world_def(scene, thread_counts[k]);
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(scene, world);
		Watch watch;
		watch_begin(&watch, 60.0);
		for (int32_t i = 0; i < ROUNDS; i++) {
			fem_world_step(world, scene->dt, 1);
			FEM_CHECK_INT(fem_world_step_begin(world, scene->dt, 1), FEM_OK);
			fem_world_step_end(world);
		}
		watch_end(&watch);
		uint64_t hash = fem_world_hash(world);
		FEM_CHECK(k == 0 || hash == expected);
		expected = hash;
		fem_scene_bodies_free(&bodies);
		fem_world_destroy(world);
	}
}

// ---- helpers at rest

#ifndef _WIN32 // where helpers yield
static double processor_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// How often threads of the process went to sleep.
static int64_t sleeps(void) {
	struct rusage usage;
	return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_nvcsw : 0;
}

// What one thread does alone with 40 ms of a processor; then how often others slept meanwhile.
static void work_alone(void *context) {
	double began = processor_ms();
	int64_t before = sleeps();
	while (processor_ms() - began < 40.0)
		fem_spin_pause();
	*(int64_t *)context = sleeps() - before;
}

// Fails when helpers spin or yield while there is nothing to help with: on a machine with nothing else to do they take
// all of its processors. How much that is depends on what else it does, so that naps are counted.
FEM_TEST(pool, helpers_rest_while_one_thread_works_alone) {
	int64_t count = 0, most = 0;
	FemPool *pool = fem_pool_create_on(&(FemJobSystem){0}, 4);
	for (int i = 0; i < 5; i++) {
		fem_pool_run(pool, work_alone, &count);
		most = count > most ? count : most;
	}
	printf("  three helpers slept %d times\n", (int)most);
	FEM_CHECK(most > 100);
	fem_pool_destroy(pool);
}
#endif
