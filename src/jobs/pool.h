// Worker threads and the loops they share.
//
// A loop is a row of numbered chunks. The thread that runs it takes chunks like everyone else and returns when all are
// done; other threads help while there is something to take. Which thread runs a chunk never matters to the result.
// Loop 0 is the step's own; the others belong to large solves, which run inside a chunk of loop 0 and take in every
// thread that has nothing left to do (P&O09 section 4: an idle thread joins an unfinished large solve).
#ifndef FEM_JOBS_POOL_H
#define FEM_JOBS_POOL_H

#include "base/assert.h"
#include "fem_hooks.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct FemPool FemPool;

// Runs chunk `chunk` of a loop. Workers touch only what the chunk owns.
typedef void FemChunkTask(void *context, int32_t chunk);

// One thread's whole job, e.g. a step.
typedef void FemJob(void *context);

// thread_count counts the calling thread; 1 starts none. On a host's threads, or without a run in `jobs` on its own
// ones. Null when there is no memory.
FEM_MUST_USE FemPool *fem_pool_create_on(const FemJobSystem *jobs, int32_t thread_count);
void fem_pool_destroy(FemPool *pool); // joins; a job under way is finished first

// Runs the job on the calling thread with the pool's threads helping its loops.
void fem_pool_run(FemPool *pool, FemJob *job, void *context);

// The same without waiting: the job runs on a worker, or in fem_pool_finish() when none has come to it. One at a time.
void fem_pool_begin(FemPool *pool, FemJob *job, void *context);
void fem_pool_finish(FemPool *pool);

// For every chunk in 0..chunk_count. From within a job only, not nested.
void fem_pool_for(FemPool *pool, int32_t chunk_count, FemChunkTask *task, void *context);

// The same for chunks of very different cost, the dear ones first: taken one by one.
void fem_pool_for_uneven(FemPool *pool, int32_t chunk_count, FemChunkTask *task, void *context);

// A loop of its own for use inside a chunk of fem_pool_for: null when all are taken (run the chunks alone then).
typedef struct FemLoop FemLoop;
FemLoop *fem_pool_open_loop(FemPool *pool);
void fem_pool_close_loop(FemPool *pool, FemLoop *loop);
void fem_loop_for(FemLoop *loop, int32_t chunk_count, FemChunkTask *task, void *context); // null loop: serial

// The same for chunks of a fraction of a microsecond: handing one to another thread costs more than running it, so they
// are taken in as few portions as there are threads.
void fem_loop_for_light(FemLoop *loop, int32_t chunk_count, FemChunkTask *task, void *context);

#endif
