// A host's memory, log and threads.
#include "base/thread.h"
#include "cube_scene.h"
#include "fem_test.h"
#include "scenes/scenes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// ---- memory

typedef struct Counter {
	_Atomic int64_t bytes, calls, wrong;
	int64_t limit; // bytes; 0: none
} Counter;

static void *counted_allocate(void *user, size_t bytes, size_t alignment) {
	Counter *counter = user;
	if (counter->limit && atomic_load(&counter->bytes) + (int64_t)bytes > counter->limit)
		return NULL;
	char *raw = malloc(bytes + alignment + sizeof(size_t)); // the size stands behind, to be compared
	size_t shift = raw ? alignment - ((uintptr_t)raw & (alignment - 1)) : 0;
	if (!raw)
		return NULL;
	memset(raw, 0xa5, bytes + alignment);
	raw[shift - 1] = (char)shift;
	memcpy(raw + shift + bytes, &bytes, sizeof bytes);
	atomic_fetch_add(&counter->bytes, (int64_t)bytes);
	atomic_fetch_add(&counter->calls, 1);
	return raw + shift;
}

static void counted_release(void *user, void *pointer, size_t bytes, size_t alignment) {
	Counter *counter = user;
	size_t given = 0;
	memcpy(&given, (char *)pointer + bytes, sizeof given);
	atomic_fetch_add(&counter->wrong, given != bytes || alignment != 64);
	atomic_fetch_sub(&counter->bytes, (int64_t)bytes);
	free((char *)pointer - ((unsigned char *)pointer)[-1]);
}

// Fails when a call goes past the hook, frees with another size than it took, or takes memory for zero.
FEM_TEST(hooks, memory_comes_from_the_host) {
	Counter counter = {0};
	FemAllocator allocator = {counted_allocate, counted_release, &counter}, half = {.allocate = counted_allocate};
	FEM_REQUIRE(fem_memory_bytes() == 0);
	FEM_CHECK_INT(fem_set_allocator(&half), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_set_allocator(&allocator), FEM_OK);
	FEM_CHECK(fem_get_allocator().user == &counter);
	FemCubeScene scene = fem_cube_scene(), plain;
	FEM_CHECK(atomic_load(&counter.bytes) > fem_memory_bytes() && atomic_load(&counter.calls) > 10);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_ERROR_IN_USE);
	FEM_CHECK(strstr(fem_last_error(), "before the first world") != NULL);
	for (int i = 0; i < 30; i++)
		fem_world_step(scene.world, 1.0f / 60.0f, 1);
	uint64_t hash = fem_world_hash(scene.world);
	counter.limit = 1;
	FEM_CHECK(fem_body_id_is_null(fem_cube_scene_add(&scene)));
	counter.limit = 0;
	fem_cube_scene_end(&scene);
	FEM_CHECK_INT(atomic_load(&counter.bytes), 0);
	FEM_CHECK_INT(atomic_load(&counter.wrong), 0);
	FEM_CHECK_INT(fem_set_allocator(NULL), FEM_OK);
	FEM_CHECK(fem_get_allocator().allocate == NULL);
	int64_t calls = atomic_load(&counter.calls);
	plain = fem_cube_scene();
	for (int i = 0; i < 30; i++)
		fem_world_step(plain.world, 1.0f / 60.0f, 1);
	FEM_CHECK(fem_world_hash(plain.world) == hash);
	fem_cube_scene_end(&plain);
	FEM_CHECK_INT(atomic_load(&counter.calls), calls);
}

// ---- log

typedef struct Heard {
	int32_t errors, warnings;
	char last[256];
} Heard;

static void hear(void *user, FemLogLevel level, const char *sentence) {
	Heard *heard = user;
	heard->errors += level == FEM_LOG_ERROR;
	heard->warnings += level == FEM_LOG_WARNING;
	snprintf(heard->last, sizeof heard->last, "%s", sentence);
}

FEM_TEST(hooks, the_log_hears_failures_and_what_steps_lost) {
	Heard heard = {0};
	FemCubeScene scene = fem_cube_scene();
	fem_set_log(&(FemLog){hear, &heard});
	FEM_CHECK(fem_get_log().user == &heard);
	FEM_CHECK(!fem_body_is_valid((FemBodyId){0}));
	FEM_CHECK_INT(heard.errors, 0); // a question is no failure
	fem_body_apply_force(scene.body, 99, (FemVec3){0.0f, 0.0f, 0.0f});
	FEM_CHECK(heard.errors == 1 && strcmp(heard.last, fem_last_error()) == 0);
	for (int i = 0; i < 3; i++) { // forces beyond all numbers: rolled back three times, told once
		fem_body_apply_force(scene.body, 0, (FemVec3){3e38f, 0.0f, 0.0f});
		FEM_CHECK(fem_world_step(scene.world, 0.25f, 1) & FEM_STEP_BODY_ROLLED_BACK);
	}
	FEM_CHECK(heard.errors == 1 && heard.warnings == 1 && strstr(heard.last, "put back") != NULL);
	fem_set_log(NULL);
	fem_body_apply_force(scene.body, 99, (FemVec3){0.0f, 0.0f, 0.0f});
	FEM_CHECK_INT(heard.errors, 1);
	fem_cube_scene_end(&scene);
}

// ---- threads

#define HOST_THREADS 3

// A toy job system: each run puts its tasks into one list, from which its threads and the caller take.
typedef struct Host {
	FemMutex mutex;
	FemCondition changed;
	FemThread threads[HOST_THREADS];
	FemJobTask *task;
	void *context;
	int32_t next, count, done, runs;
	bool quit, in_a_row, idle; // idle: calls nothing at all
	_Atomic int32_t helped;    // tasks that its own threads ran
} Host;

// With the mutex held.
static bool take_task(Host *host, bool is_own) {
	if (host->next >= host->count)
		return false;
	int32_t index = host->next++;
	FemJobTask *task = host->task;
	void *context = host->context;
	fem_mutex_unlock(&host->mutex);
	task(context, index);
	atomic_fetch_add(&host->helped, is_own);
	fem_mutex_lock(&host->mutex);
	if (++host->done == host->count)
		fem_condition_signal_all(&host->changed);
	return true;
}

static void *host_main(void *argument) {
	Host *host = argument;
	fem_mutex_lock(&host->mutex);
	while (!host->quit) {
		if (!take_task(host, true))
			fem_condition_wait(&host->changed, &host->mutex);
	}
	fem_mutex_unlock(&host->mutex);
	return NULL;
}

static void host_run(void *user, FemJobTask *task, void *context, int32_t count) {
	Host *host = user;
	host->runs++;
	for (int32_t i = 0; i < count && host->in_a_row; i++)
		task(context, i);
	if (host->in_a_row || host->idle)
		return;
	fem_mutex_lock(&host->mutex);
	host->task = task, host->context = context;
	host->next = host->done = 0, host->count = count;
	fem_condition_signal_all(&host->changed);
	while (take_task(host, false)) {
	}
	while (host->done < host->count)
		fem_condition_wait(&host->changed, &host->mutex);
	fem_mutex_unlock(&host->mutex);
}

static void host_start(Host *host) {
	fem_mutex_init(&host->mutex);
	fem_condition_init(&host->changed);
	for (int i = 0; i < HOST_THREADS; i++)
		FEM_CHECK(fem_thread_start(&host->threads[i], host_main, host));
}

static void host_stop(Host *host) {
	fem_mutex_lock(&host->mutex);
	host->quit = true;
	fem_condition_signal_all(&host->changed);
	fem_mutex_unlock(&host->mutex);
	for (int i = 0; i < HOST_THREADS; i++)
		fem_thread_join(host->threads[i]);
	fem_condition_destroy(&host->changed);
	fem_mutex_destroy(&host->mutex);
}

#define HOST_STEPS 30

// The hash of a scene that breaks; `halves`: each step begun and ended.
static uint64_t run_scene(const FemJobSystem *jobs, int32_t workers, bool halves) {
	const FemScene *scene = fem_scene_find("glass2400");
	if (!FEM_CHECK(scene != NULL))
		return 0;
	FemWorldDef def = fem_scene_world_def(scene, workers);
	def.jobs = jobs ? *jobs : def.jobs;
	FemWorldId world = fem_world_create(&def);
	FemSceneBodies bodies = fem_scene_build(scene, world);
	FEM_CHECK(bodies.count > 0);
	for (int32_t i = 0; i < HOST_STEPS; i++) {
		if (scene->drive)
			scene->drive(&bodies, i, scene->dt);
		if (halves)
			FEM_CHECK_INT(fem_world_step_begin(world, scene->dt, 1), FEM_OK);
		if (halves)
			fem_world_step_end(world);
		else
			fem_world_step(world, scene->dt, 1);
	}
	uint64_t hash = fem_world_hash(world);
	fem_scene_bodies_free(&bodies);
	fem_world_destroy(world);
	return hash;
}

// Fails when the host's threads compute other bits than a world's own, or when a step waits for one that does not come.
FEM_TEST(hooks, steps_run_on_the_hosts_threads) {
	Host host = {0};
	host_start(&host);
	FemJobSystem jobs = {host_run, &host};
	uint64_t expected = run_scene(NULL, 2, false);
	FEM_CHECK(run_scene(&jobs, 4, false) == expected);
	FEM_CHECK_INT(host.runs, HOST_STEPS);
	FEM_CHECK(run_scene(&jobs, 7, true) == expected);
	FEM_CHECK_INT(host.runs, 2 * HOST_STEPS);
	printf("  %d of %d tasks on the host's own threads\n", atomic_load(&host.helped), 11 * HOST_STEPS);
	FEM_CHECK(atomic_load(&host.helped) > 0);
	FEM_CHECK(run_scene(&jobs, 1, false) == expected); // one worker: the caller alone
	FEM_CHECK_INT(host.runs, 2 * HOST_STEPS);
	host_stop(&host);
}

FEM_TEST(hooks, a_host_may_call_in_a_row_or_not_at_all) {
	Host row = {.in_a_row = true}, idle = {.idle = true};
	uint64_t expected = run_scene(NULL, 1, false);
	FEM_CHECK(run_scene(&(FemJobSystem){host_run, &row}, 3, false) == expected);
	FEM_CHECK(run_scene(&(FemJobSystem){host_run, &idle}, 3, true) == expected);
	FEM_CHECK(row.runs == HOST_STEPS && idle.runs == HOST_STEPS);
}

FEM_TEST(hooks, the_job_system_of_a_world_may_change) {
	FemCubeScene scene = fem_cube_scene();
	Host row = {.in_a_row = true};
	FemJobSystem jobs = {host_run, &row};
	FEM_CHECK(fem_world_get_job_system(scene.world).run == NULL);
	fem_world_set_worker_count(scene.world, 3);
	FEM_CHECK_INT(fem_world_set_job_system(scene.world, &jobs), FEM_OK);
	FEM_CHECK(fem_world_get_job_system(scene.world).user == &row);
	fem_world_step(scene.world, 0.01f, 1);
	FEM_CHECK_INT(fem_world_set_worker_count(scene.world, 2), FEM_OK); // stays on the host
	FEM_CHECK_INT(fem_world_step_begin(scene.world, 0.01f, 1), FEM_OK);
	FEM_CHECK_INT(fem_world_set_job_system(scene.world, NULL), FEM_ERROR_STEPPING);
	fem_world_step_end(scene.world);
	FEM_CHECK_INT(row.runs, 2);
	FEM_CHECK_INT(fem_world_set_job_system(scene.world, NULL), FEM_OK);
	fem_world_step(scene.world, 0.01f, 1);
	FEM_CHECK_INT(row.runs, 2);
	FEM_CHECK_INT(fem_world_set_job_system((FemWorldId){0}, &jobs), FEM_ERROR_INVALID_ID);
	fem_cube_scene_end(&scene);
}
