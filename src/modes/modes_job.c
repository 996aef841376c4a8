// Modes on a thread of their own, which touches only copies.
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "fem_modes.h"
#include "modes/mode_matrix.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct FemModesJob {
	FemThread thread;
	FemModesDef def; // its arrays are the job's own
	FemModes modes;  // of the thread until is_done, as are those below
	FemResult result;
	char message[512];
	_Atomic float share;
	_Atomic bool is_cancelled, is_done;
};

static bool note_progress(void *context, float share) {
	FemModesJob *job = context;
	atomic_store(&job->share, share);
	return !atomic_load(&job->is_cancelled);
}

static void *modes_thread(void *argument) {
	FemModesJob *job = argument;
	job->result = fem_modes_compute(&job->def, &job->modes);
	if (job->result != FEM_OK)
		snprintf(job->message, sizeof job->message, "%s", fem_last_error());
	atomic_store(&job->share, 1.0f);
	atomic_store(&job->is_done, true);
	return NULL;
}

// A copy of an array that may be null; false when memory fails.
static bool copy_array(const void **array, size_t bytes) {
	if (!*array || bytes == 0)
		return true;
	void *copy = fem_alloc_unset(bytes);
	if (copy)
		memcpy(copy, *array, bytes);
	*array = copy;
	return copy != NULL;
}

// Each array of a def with its bytes.
#define FOR_ARRAYS(DO, def) \
	DO((def)->node_positions, sizeof(FemVec3) * (size_t)(def)->node_count) \
	DO((def)->tets, 4 * sizeof(int32_t) * (size_t)(def)->tet_count) \
	DO((def)->tet_regions, sizeof(int32_t) * (size_t)(def)->tet_count) \
	DO((def)->tet_plates, sizeof(float) * (size_t)(def)->tet_count) \
	DO((def)->materials, sizeof(FemModeMaterial) * (size_t)(def)->material_count) \
	DO((def)->pinned_nodes, (size_t)(def)->node_count)

static bool copy_arrays(FemModesDef *def) {
	bool good = true;
#define COPY(array, bytes) good = copy_array((const void **)&(array), bytes) && good;
	FOR_ARRAYS(COPY, def)
	return good;
}

static void free_job(FemModesJob *job) {
#define FREE(array, bytes) fem_free((void *)(uintptr_t)(array), bytes);
	FOR_ARRAYS(FREE, &job->def)
	FEM_FREE_ARRAY(job, 1);
}

FemModesJob *fem_modes_start(const FemModesDef *def) {
	if (fem_modes_check(def) != FEM_OK)
		return NULL;
	FemModesJob *job = FEM_ALLOC_ARRAY(FemModesJob, 1);
	if (job) {
		job->def = *def;
		job->def.progress = note_progress;
		job->def.progress_context = job;
		if (copy_arrays(&job->def) && fem_thread_start(&job->thread, modes_thread, job))
			return job;
		free_job(job);
	}
	fem_fail(FEM_ERROR_MEMORY, "The system gave no thread or no memory for modes: close other programs.");
	return NULL;
}

float fem_modes_share(const FemModesJob *job) {
	return job ? atomic_load(&job->share) : 0.0f;
}

bool fem_modes_is_done(const FemModesJob *job) {
	return !job || atomic_load(&job->is_done);
}

void fem_modes_cancel(FemModesJob *job) {
	if (job)
		atomic_store(&job->is_cancelled, true);
}

FemResult fem_modes_finish(FemModesJob *job, FemModes *out) {
	if (out)
		*out = (FemModes){0};
	if (!job || !out)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no such computation of modes: start one.");
	fem_thread_join(job->thread);
	FemResult result = job->result;
	*out = job->modes;
	if (result != FEM_OK)
		fem_fail(result, "%s", job->message);
	free_job(job);
	return result;
}
