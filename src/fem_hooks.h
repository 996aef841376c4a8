// What a host gives the engine: memory, a log and threads. Conventions in fem_destruction.h.
#ifndef FEM_HOOKS_H
#define FEM_HOOKS_H

#include "fem_basics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- memory

// Where the engine takes its memory; both are called by any thread, several at once. METIS and Opcode, inside the
// engine, take theirs by malloc and new: scratch of fem_mesh_create(), and the search trees of surfaces.
typedef struct FemAllocator {
	// `bytes` aligned to `alignment`, holding anything; null when there is no more: the engine's call then answers
	// FEM_ERROR_MEMORY, or a step FEM_STEP_NO_MEMORY.
	void *(*allocate)(void *user, size_t bytes, size_t alignment);
	void (*release)(
		void *user, void *pointer, size_t bytes, size_t alignment); // what allocate() gave, with the same sizes
	void *user;
} FemAllocator;

// Before the first world, mesh and bake, or when all of them are gone: while memory is held (fem_memory_bytes()) it
// answers FEM_ERROR_IN_USE and changes nothing. Null: malloc and free, as at the start.
FemResult fem_set_allocator(const FemAllocator *allocator);
FemAllocator fem_get_allocator(void); // all null: malloc and free

// ---- log

typedef enum FemLogLevel {
	FEM_LOG_ERROR = 1, // a call failed: the sentence of fem_last_error()
	FEM_LOG_WARNING,   // a step lost something (see FemStepError): once a world for each kind
} FemLogLevel;

// Called by the thread whose call it is about, within that call: it must not call the engine, but may read
// fem_last_error().
typedef struct FemLog {
	void (*write)(void *user, FemLogLevel level, const char *sentence);
	void *user;
} FemLog;

void fem_set_log(const FemLog *log); // null: none, as at the start
FemLog fem_get_log(void);

// ---- threads

// The part of a step that one thread runs; `index` is a number of 0..count - 1 that no other of them has.
typedef void FemJobTask(void *context, int32_t index);

// A host's threads in place of a world's own. The results are the same bits as with these, for any count.
typedef struct FemJobSystem {
	// Calls task(context, i) once for every i of 0..count - 1, on any threads, at once or one after the other, and
	// returns when all have returned: what job systems call a parallel for. The first that comes runs the step, the
	// others help it until it is over, so none waits for one that has not begun, and a host with one thread may call
	// them in a row. Called by the thread that steps the world, which may be one of the host's. Null: the world has
	// threads of its own.
	void (*run)(void *user, FemJobTask *task, void *context, int32_t count);
	void *user;
} FemJobSystem;

// Another one than that of FemWorldDef, also for restored worlds; null: threads of its own. worker_count is `count`,
// and with 1 nothing is called. fem_world_step_begin() then only makes ready, and fem_world_step_end() runs the step: a
// host that wants it beside the rest of a frame calls fem_world_step() in a job.
FemResult fem_world_set_job_system(FemWorldId world, const FemJobSystem *jobs);
FemJobSystem fem_world_get_job_system(FemWorldId world); // [any time]

#ifdef __cplusplus
}
#endif

#endif
