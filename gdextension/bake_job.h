// One bake on a thread of its own. The thread touches only C memory; all functions here are for Godot's main thread.
#ifndef BAKE_JOB_H
#define BAKE_JOB_H

#include "mesh/bake.h"

typedef struct BakeJob BakeJob;

typedef struct BakeJobResult {
	FemResult result;
	bool is_cancelled;
	char message[512]; // why it failed; empty when it did not
	void *bytes;       // the baked mesh, or null; from fem_alloc()
	size_t size;
} BakeJobResult;

// Takes the surfaces over, also when it fails. progress and its context of `def` are not used. Null when no thread or
// no memory can be had.
BakeJob *bake_job_start(FemRenderMesh *render, const FemBakeDef *def);

// Bakes at once on the calling thread.
void bake_job_run(FemRenderMesh *render, const FemBakeDef *def, BakeJobResult *out);

float bake_job_share(const BakeJob *job); // done, 0..1
bool bake_job_is_done(const BakeJob *job);
void bake_job_cancel(BakeJob *job);

// Waits for the end, hands out the result and frees the job.
void bake_job_finish(BakeJob *job, BakeJobResult *out);
void bake_job_result_free(BakeJobResult *result);

#endif
