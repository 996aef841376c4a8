// The modes that a body with DYNAMICS_MODAL moves by: computed on a thread of their own, and anew when the engine has
// no more use for those it was given, as after another material or anchor.
#include "simulation/simulation_world.h"

#include "classes/destructible_body.h"
#include "classes/destructible_mesh_modes.h"
#include "fem_modes.h"

#include <stdlib.h>

enum {
	ATTEMPTS_MAX = 3, // in a row, at modes of a body that changes meanwhile; chosen
};

void simulation_body_drop_modes(SimulationBody *body) {
	FemModes modes;
	if (body->modes.job) {
		fem_modes_cancel(body->modes.job);
		if (fem_modes_finish(body->modes.job, &modes) == FEM_OK) {
			fem_modes_free(&modes);
		}
	}
	free(body->modes.nodes);
	body->modes = (BodyModes){0};
}

static void warn(const SimulationBody *body, const char *why) {
	const DestructibleBody *node = class_instance(body->node, &destructible_body_class);
	if (node) {
		destructible_body_warn(node, "moves as with DYNAMICS_AUTO, not by its modes", why);
	}
}

// Those that its mesh was baked with, without a job.
static bool take_baked(SimulationBody *body, double delta) {
	FemModes modes;
	if (!destructible_mesh_modes_of(body, 1.0, &modes)) {
		return false;
	}
	bool has_enough =
		modes.mode_count >= body->settings.mode_count || fem_mode_frequency(&modes, modes.mode_count - 1) > 0.5 / delta;
	fem_modes_discard(&modes, (float)(0.5 / delta), 0.0f, 0.0f);
	modes.mode_count = modes.mode_count < body->settings.mode_count ? modes.mode_count : body->settings.mode_count;
	bool fits = has_enough && modes.mode_count > 0 && fem_body_set_modes(body->body, &modes, NULL) == FEM_OK;
	body->modes.has_failed = !fits;
	fem_modes_free(&modes);
	return fits;
}

// Modes faster than half the tick rate would not be seen as what they are (Hauser et al. 2003, section 3.3).
static void begin(SimulationBody *body, double delta) {
	FemPieceNumber piece = 0;
	FemModesDef def = fem_default_modes_def();
	int32_t count = fem_body_get_node_count(body->body);
	body->modes.has_failed = true; // until they are there
	if (body->piece_count != 1) {
		return; // what it broke into is no longer modal
	}
	if (fem_body_get_pieces(body->body, &piece, 1) != 1) {
		warn(body, "it is in several pieces; use a mesh that hangs together");
		return;
	}
	if (take_baked(body, delta)) {
		return;
	}
	def.mode_count = body->settings.mode_count;
	def.frequency_max = (float)(0.5 / delta);
	body->modes.nodes = malloc(sizeof(int32_t) * (size_t)(count + 1));
	if (body->modes.nodes && fem_body_get_piece_nodes(body->body, piece, body->modes.nodes, count) == count) {
		body->modes.job = fem_body_start_modes(body->body, piece, &def);
	}
	if (!body->modes.job) {
		warn(body, fem_last_error());
		simulation_body_drop_modes(body);
		body->modes.has_failed = true;
	}
}

static void finish(SimulationBody *body) {
	FemModes modes = {0};
	bool done = fem_modes_finish(body->modes.job, &modes) == FEM_OK;
	body->modes.job = NULL;
	bool fits = done && modes.mode_count > 0 && fem_body_set_modes(body->body, &modes, body->modes.nodes) == FEM_OK;
	body->modes.attempts = fits ? 0 : body->modes.attempts + 1;
	body->modes.has_failed = !fits && (modes.mode_count == 0 || body->modes.attempts == ATTEMPTS_MAX);
	if (done && modes.mode_count == 0) {
		warn(body, "none of them is slower than half the tick rate; it is too stiff, or held everywhere");
	} else if (body->modes.has_failed) {
		warn(body, fem_last_error());
	}
	if (done) {
		fem_modes_free(&modes);
	}
	free(body->modes.nodes);
	body->modes.nodes = NULL;
}

void simulation_body_go_on_with_modes(SimulationBody *body, double delta) {
	FemModalState state;
	if (body->settings.dynamics != FEM_DYNAMICS_MODAL) {
		if (body->modes.job || body->modes.has_failed) {
			simulation_body_drop_modes(body);
		}
		return;
	}
	if (body->modes.job) {
		if (fem_modes_is_done(body->modes.job)) {
			finish(body);
		}
		return;
	}
	if (body->modes.count != body->settings.mode_count) { // another number is wanted: those it has may be too few
		FemModes none = {0};
		body->modes.count = body->settings.mode_count;
		body->modes.has_failed = false;
		(void)fem_body_set_modes(body->body, &none, NULL);
	}
	bool has_modes = fem_body_get_modal_state(body->body, &state) == FEM_OK && state.mode_count > 0;
	if (!has_modes && !body->modes.has_failed) {
		begin(body, delta);
	}
}
