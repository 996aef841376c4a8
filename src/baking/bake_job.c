// A bake from render surfaces to bytes, at once or on a thread of its own, which touches only C memory; or from the
// bytes of an earlier one to what a body needs.
#include "fem_baking.h"

#include "baking/bake.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdio.h>

struct FemBakeJob {
	FemThread thread;
	FemBakeDef def;
	FemRenderMesh render; // until the bake takes it
	const void *source;   // bytes of an earlier bake, the caller's; null: it bakes
	size_t source_size;
	FemBakeResult result; // of the thread until is_done
	_Atomic float share;
	_Atomic bool is_cancelled, is_done;
};

// ---- bake

static FemResult write_bytes(const FemBakedMesh *mesh, FemBakeResult *out) {
	size_t size = fem_baked_mesh_size(mesh);
	out->bytes = fem_alloc(size);
	if (!out->bytes)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the baked mesh: close other programs.");
	out->size = size;
	fem_baked_mesh_write(mesh, out->bytes, size);
	return FEM_OK;
}

// Bytes round some numbers: what they give is what every later start gets, too.
static void read_mesh(const void *bytes, size_t size, FemBakeResult *out) {
	out->result = fem_baked_mesh_read("The baked mesh", bytes, size, &out->mesh);
	if (out->result != FEM_OK)
		snprintf(out->message, sizeof out->message, "%s", fem_last_error());
}

void fem_bake_now(FemRenderMesh *render, const FemBakeDef *def, FemBakeResult *out) {
	FemBakedMesh mesh = {0};
	FemBakeInfo info = {0};
	*out = (FemBakeResult){0};
	if (render) {
		mesh.render = *render;
		*render = (FemRenderMesh){0};
	}
	out->result = fem_render_mesh_check(&mesh.render, "The source mesh");
	if (out->result == FEM_OK)
		out->result = fem_bake_render_mesh(def, &mesh, &info);
	out->is_cancelled = info.cancelled;
	if (out->result == FEM_OK)
		out->result = fem_baked_mesh_check(&mesh, "The baked mesh");
	if (out->result == FEM_OK)
		out->result = write_bytes(&mesh, out);
	if (out->result != FEM_OK)
		snprintf(out->message, sizeof out->message, "%s", fem_last_error());
	else
		read_mesh(out->bytes, out->size, out);
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
}

void fem_bake_result_free(FemBakeResult *result) {
	fem_free(result->bytes, result->size);
	fem_baked_mesh_free(&result->mesh);
	*result = (FemBakeResult){0};
}

// ---- thread

static bool note_progress(void *context, float share) {
	FemBakeJob *job = context;
	atomic_store(&job->share, share);
	return !atomic_load(&job->is_cancelled);
}

static void *bake_thread(void *argument) {
	FemBakeJob *job = argument;
	if (job->source)
		read_mesh(job->source, job->source_size, &job->result);
	else
		fem_bake_now(&job->render, &job->def, &job->result);
	atomic_store(&job->is_done, true);
	return NULL;
}

FemBakeJob *fem_bake_start(FemRenderMesh *render, const FemBakeDef *def) {
	FemBakeJob *job = render && def ? FEM_ALLOC_ARRAY(FemBakeJob, 1) : NULL;
	if (job) {
		job->def = *def;
		job->def.progress = note_progress;
		job->def.progress_context = job;
		job->render = *render;
		*render = (FemRenderMesh){0};
		if (fem_thread_start(&job->thread, bake_thread, job))
			return job;
		fem_render_mesh_free(&job->render);
		FEM_FREE_ARRAY(job, 1);
	}
	if (render)
		fem_render_mesh_free(render);
	return NULL;
}

FemBakeJob *fem_bake_read_start(const void *bytes, size_t size) {
	FemBakeJob *job = bytes && size > 0 ? FEM_ALLOC_ARRAY(FemBakeJob, 1) : NULL;
	if (job) {
		job->source = bytes;
		job->source_size = size;
		if (fem_thread_start(&job->thread, bake_thread, job))
			return job;
		FEM_FREE_ARRAY(job, 1);
	}
	return NULL;
}

float fem_bake_share(const FemBakeJob *job) {
	return job ? atomic_load(&job->share) : 0.0f;
}

bool fem_bake_is_done(const FemBakeJob *job) {
	return !job || atomic_load(&job->is_done);
}

void fem_bake_cancel(FemBakeJob *job) {
	if (job)
		atomic_store(&job->is_cancelled, true);
}

void fem_bake_finish(FemBakeJob *job, FemBakeResult *out) {
	if (!job) {
		*out = (FemBakeResult){.result = FEM_ERROR_INVALID_ARGUMENT, .message = "There is no such bake: start one."};
		return;
	}
	fem_thread_join(job->thread);
	*out = job->result;
	FEM_FREE_ARRAY(job, 1);
}
