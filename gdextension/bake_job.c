#include "bake_job.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct BakeJob {
	FemThread thread;
	FemBakeDef def;
	FemRenderMesh render; // until the bake takes it
	BakeJobResult result; // of the thread until is_done
	_Atomic float share;
	_Atomic bool is_cancelled, is_done;
};

// ----------------------------------------------------------------------------------------------------------------- bake

static void keep_bytes(const FemBakedMesh *mesh, BakeJobResult *out) {
	out->size = fem_baked_mesh_size(mesh);
	out->bytes = fem_alloc(out->size);
	if (out->bytes) {
		fem_baked_mesh_write(mesh, out->bytes, out->size);
	} else {
		out->result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the baked mesh: close other programs.");
	}
}

static void bake(FemRenderMesh *render, const FemBakeDef *def, BakeJobResult *out) {
	FemBakedMesh mesh = {.render = *render};
	FemBakeInfo info;
	*render = (FemRenderMesh){0};
	*out = (BakeJobResult){0};
	out->result = fem_bake_render_mesh(def, &mesh, &info);
	out->is_cancelled = info.cancelled;
	if (out->result == FEM_OK) {
		out->result = fem_baked_mesh_check(&mesh, "The baked mesh");
	}
	if (out->result == FEM_OK) {
		keep_bytes(&mesh, out);
	}
	if (out->result != FEM_OK) {
		snprintf(out->message, sizeof(out->message), "%s", fem_last_error());
	}
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
}

void bake_job_run(FemRenderMesh *render, const FemBakeDef *def, BakeJobResult *out) {
	FemBakeDef own = *def;
	own.tets.progress = NULL;
	bake(render, &own, out);
}

// --------------------------------------------------------------------------------------------------------------- thread

static bool note_progress(void *context, float share) {
	BakeJob *job = context;
	atomic_store(&job->share, share);
	return !atomic_load(&job->is_cancelled);
}

static void *bake_thread(void *argument) {
	BakeJob *job = argument;
	bake(&job->render, &job->def, &job->result);
	atomic_store(&job->is_done, true);
	return NULL;
}

BakeJob *bake_job_start(FemRenderMesh *render, const FemBakeDef *def) {
	BakeJob *job = FEM_ALLOC_ARRAY(BakeJob, 1);
	if (job) {
		job->def = *def;
		job->def.tets.progress = note_progress;
		job->def.tets.progress_context = job;
		job->render = *render;
		*render = (FemRenderMesh){0};
		if (fem_thread_start(&job->thread, bake_thread, job)) {
			return job;
		}
		fem_render_mesh_free(&job->render);
		FEM_FREE_ARRAY(job, 1);
	}
	fem_render_mesh_free(render);
	return NULL;
}

float bake_job_share(const BakeJob *job) {
	return atomic_load(&job->share);
}

bool bake_job_is_done(const BakeJob *job) {
	return atomic_load(&job->is_done);
}

void bake_job_cancel(BakeJob *job) {
	atomic_store(&job->is_cancelled, true);
}

void bake_job_finish(BakeJob *job, BakeJobResult *out) {
	fem_thread_join(job->thread);
	*out = job->result;
	FEM_FREE_ARRAY(job, 1);
}

void bake_job_result_free(BakeJobResult *result) {
	fem_free(result->bytes, result->size);
	*result = (BakeJobResult){0};
}
