// A cut on a thread of its own, which only reads the mesh and touches only C memory.
#include "fem_baking.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "cutting/cut_output.h"

#include <stdatomic.h>
#include <stdio.h>

struct FemCutJob {
	FemThread thread;
	FemCutDef def;
	FemBakedMesh mesh; // arrays of the caller's; its splinters are the job's own
	FemResult result;  // of the thread until is_done
	char message[512];
	_Atomic bool is_cancelled, is_done;
};

static bool note_progress(void *context, float share) {
	FemCutJob *job = context;
	(void)share;
	return !atomic_load(&job->is_cancelled);
}

static void *cut_thread(void *argument) {
	FemCutJob *job = argument;
	job->result = fem_baked_mesh_cut(&job->mesh, &job->def, NULL);
	if (job->result != FEM_OK)
		snprintf(job->message, sizeof job->message, "%s", fem_last_error());
	atomic_store(&job->is_done, true);
	return NULL;
}

FemCutJob *fem_cut_start(const FemBakedMesh *mesh, const FemCutDef *def) {
	FemCutJob *job = mesh && def ? FEM_ALLOC_ARRAY(FemCutJob, 1) : NULL;
	if (!job)
		return NULL;
	job->def = *def;
	job->def.progress = note_progress;
	job->def.progress_context = job;
	job->mesh = *mesh;
	job->mesh.splinters = (FemSplinterMesh){0};
	if (fem_thread_start(&job->thread, cut_thread, job))
		return job;
	FEM_FREE_ARRAY(job, 1);
	return NULL;
}

bool fem_cut_is_done(const FemCutJob *job) {
	return !job || atomic_load(&job->is_done);
}

void fem_cut_cancel(FemCutJob *job) {
	if (job)
		atomic_store(&job->is_cancelled, true);
}

FemResult fem_cut_finish(FemCutJob *job, FemSplinterMesh *out) {
	if (!job)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no such cut: start one.");
	fem_thread_join(job->thread);
	FemResult result = job->result;
	if (result != FEM_OK)
		fem_fail(result, "%s", job->message);
	if (out && result == FEM_OK) {
		fem_splinter_mesh_free(out);
		*out = job->mesh.splinters;
	} else {
		fem_splinter_mesh_free(&job->mesh.splinters);
	}
	FEM_FREE_ARRAY(job, 1);
	return result;
}
