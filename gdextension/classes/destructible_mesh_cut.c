// How a DestructibleMesh comes by its splinters while bodies of it are simulated already.
#include "classes/destructible_mesh.h"

#include "binding/conversions.h"

// Each has a thread of its own, beside those of the simulation and of Godot.
enum { CUTS_AT_ONCE = 2 };

static DestructibleMesh *cutting[CUTS_AT_ONCE]; // under way; null: none

static void replace(const DestructibleMesh *old, DestructibleMesh *with) {
	for (int i = 0; i < CUTS_AT_ONCE; i++) {
		if (cutting[i] == old) {
			cutting[i] = with;
			return;
		}
	}
}

static FemResult finish(DestructibleMesh *self, FemSplinterMesh *out) {
	FemResult result = fem_cut_finish(self->cut_job, out);
	self->cut_job = NULL;
	replace(self, NULL);
	return result;
}

static void take_splinters(DestructibleMesh *self) {
	FemResult result = self->cut_job ? finish(self, &self->baked.splinters)
									 : fem_baked_mesh_cut(&self->baked, &self->cut, NULL); // there was no thread
	self->awaits_cut = false;
	if (result != FEM_OK) {
		report_error("DestructibleBody: boxes of one kind break without splinters: %s", fem_last_error());
	}
}

// Those that are done make room, also when nobody asks for them any longer.
static bool has_room(void) {
	bool is_free = false;
	for (int i = 0; i < CUTS_AT_ONCE; i++) {
		if (cutting[i] && fem_cut_is_done(cutting[i]->cut_job)) {
			take_splinters(cutting[i]);
		}
		is_free |= !cutting[i];
	}
	return is_free;
}

bool destructible_mesh_go_on_cutting(DestructibleMesh *self, bool waits) {
	if (self->awaits_cut && !self->cut_job && has_room()) {
		self->cut_job = fem_cut_start(&self->baked, &self->cut);
		if (self->cut_job) {
			replace(NULL, self);
		} else {
			waits = true;
		}
	}
	bool is_ready = self->cut_job && fem_cut_is_done(self->cut_job);
	if (self->awaits_cut && (waits || is_ready)) {
		take_splinters(self);
	}
	return !self->awaits_cut;
}

void destructible_mesh_end_cut(DestructibleMesh *self) {
	if (self->cut_job) {
		fem_cut_cancel(self->cut_job);
		finish(self, NULL);
	}
	self->awaits_cut = false;
}
