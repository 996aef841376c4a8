// Modes that a body moves by, and the points of it that users hold.
#include "base/error.h"
#include "base/memory.h"
#include "base/vec.h"
#include "dynamics/modal_basis.h"
#include "fem_modes.h"
#include "model/piece.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/step/modal_pieces.h"
#include "world/world.h"

#include <string.h>

// ---- modes

static FemResult check_modes(const FemBody *body, const FemModes *modes) {
	if (body->topology->component_count != 1)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The body is in %d pieces, and only what is one piece moves by modes: set them before it breaks, or use a "
			"mesh that hangs together.",
			body->topology->component_count);
	if (modes->node_count != body->topology->node_count)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The modes have %d nodes and the body has %d: compute them of this body with fem_body_start_modes().",
			modes->node_count, body->topology->node_count);
	if (modes->mode_count < 0 || (modes->mode_count > 0 && (!modes->eigenvalues || !modes->shapes)))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The modes are damaged: compute them anew.");
	return FEM_OK;
}

// Which row of the modes each node has; false: some have none.
static bool find_rows(const FemBody *body, const int32_t *nodes, int32_t *row_of_node) {
	const FemTopology *t = body->topology;
	int32_t found = 0;
	memset(row_of_node, -1, sizeof *row_of_node * (size_t)t->node_count);
	for (int32_t row = 0; row < t->node_count; row++) {
		int32_t user = nodes ? nodes[row] : row;
		int32_t node = user >= 0 && user < t->user_node_count ? t->node_of_user[user] : -1;
		if (node < 0 || node >= t->node_count || row_of_node[node] >= 0)
			continue;
		row_of_node[node] = row;
		found++;
	}
	return found == t->node_count;
}

static FemResult make_modal(
	const FemWorld *world, const FemBody *body, const FemModes *modes, const int32_t *nodes, FemModal **out) {
	int32_t count = body->topology->node_count, fault = -1;
	int32_t *rows = FEM_ALLOC_ARRAY(int32_t, count);
	FemVec3d *rest = FEM_ALLOC_ARRAY(FemVec3d, count);
	FemResult result = FEM_OK;
	if (!rows || !rest) {
		result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the modes of a body.");
	} else if (!find_rows(body, nodes, rows)) {
		result = fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The modes are not of this body's nodes: hand over what fem_body_get_piece_nodes() said when they were "
			"computed.");
	} else {
		for (int32_t i = 0; i < count; i++)
			rest[i] = fem_body_rest_point(&world->meshes[body->mesh_index], body, i);
		FemModalSource source = {
			.mode_count = modes->mode_count < FEM_MODAL_MODES_MAX ? modes->mode_count : FEM_MODAL_MODES_MAX,
			.eigenvalues = modes->eigenvalues,
			.shapes = modes->shapes,
			.row_count = count,
			.row_of_node = rows,
			.rest = rest,
		};
		*out = fem_modal_create(body, &source, &fault);
		if (!*out)
			result = fault < 0
				? fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the modes of a body.")
				: fem_fail(FEM_ERROR_INVALID_ARGUMENT,
					  "Mode %d is none of this body with its density, scale and pins: compute the modes anew with "
					  "fem_body_start_modes(), or scale them with fem_modes_scale().",
					  fault);
	}
	FEM_FREE_ARRAY(rows, count);
	FEM_FREE_ARRAY(rest, count);
	return result;
}

static void replace_modal(FemWorld *world, FemBody *body, FemModal *modal) {
	if (fem_modal_of(body))
		fem_piece_release(&body->pieces[0]); // the next step takes it up again
	fem_modal_free(body->modal);
	body->modal = modal;
	fem_body_wake_all(&world->islands, body);
}

FemResult fem_body_set_modes(FemBodyId id, const FemModes *modes, const int32_t *nodes) {
	FemResult result;
	FemWorld *world;
	FemModal *modal = NULL;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = fem_check_out(modes)) != FEM_OK)
		return result;
	if (modes->mode_count > 0) {
		if ((result = check_modes(body, modes)) != FEM_OK ||
			(result = make_modal(world, body, modes, nodes, &modal)) != FEM_OK)
			return result;
	}
	replace_modal(world, body, modal);
	return FEM_OK;
}

FemResult fem_body_get_modal_state(FemBodyId id, FemModalState *out) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = fem_check_out(out)) != FEM_OK)
		return result;
	const FemModal *m = body->modal;
	*out = (FemModalState){0};
	if (!fem_modal_fits(m))
		return FEM_OK;
	out->mode_count = m->mode_count;
	out->is_moving = fem_modal_of(body) != NULL;
	out->grab_count = m->grab_count;
	for (int32_t k = 0; out->is_moving && k < m->mode_count; k++) {
		out->kinetic_energy += 0.5 * m->z_velocity[k] * m->z_velocity[k];
		out->elastic_energy += 0.5 * m->eigenvalues[k] * m->z[k] * m->z[k];
	}
	out->largest_stress = out->is_moving ? fem_modal_tension(m) : 0.0f;
	return FEM_OK;
}

int32_t fem_body_get_amplitudes(FemBodyId id, double *out_amplitudes, double *out_velocities, int32_t capacity) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	const FemModal *m = body ? fem_modal_of(body) : NULL;
	for (int32_t k = 0; m && k < m->mode_count && k < capacity; k++) {
		if (out_amplitudes)
			out_amplitudes[k] = m->z[k];
		if (out_velocities)
			out_velocities[k] = m->z_velocity[k];
	}
	return m ? m->mode_count : 0;
}

// ---- grabs

static FemPosition point_of(const FemBody *body, const FemGrab *grab) {
	FemVec3d sum = {0.0, 0.0, 0.0};
	for (int v = 0; v < 4; v++)
		sum = fem_vec3d_add(
			sum, fem_vec3d_scale(fem_vec3d_from4(body->position[grab->nodes[v]]), (double)grab->weights[v]));
	return fem_position_move(body->origin, sum);
}

static FemGrab *find_grab(FemBody *body, FemGrabNumber number) {
	FemModal *m = body->modal;
	for (int k = 0; m && number != 0 && k < FEM_GRABS_MAX; k++) {
		if (m->grabs[k].number == number)
			return &m->grabs[k];
	}
	return NULL;
}

// The grab of an idle body; null with *out_result set.
static FemGrab *target_grab(
	FemBodyId id, FemGrabNumber number, FemWorld **out_world, FemBody **out_body, FemResult *out_result) {
	*out_body = fem_body_find_idle(id, out_world, out_result);
	FemGrab *grab = *out_body ? find_grab(*out_body, number) : NULL;
	if (*out_body && !grab)
		*out_result = fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The body holds no grab %u: it was released, or the body no longer moves by modes.", number);
	return grab;
}

FemGrabNumber fem_body_grab(FemBodyId id, FemPosition point) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return 0;
	FemModal *m = body->modal;
	bool may = fem_modal_fits(m) && body->dynamics == FEM_DYNAMICS_MODAL && !m->is_out;
	if (!may) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"Only a body that moves by its modes can be grabbed: give it FEM_DYNAMICS_MODAL and modes.");
		return 0;
	}
	if (!fem_position_is_valid(point)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The point to grab is not finite or too far away: correct it.");
		return 0;
	}
	if (m->grab_count == FEM_GRABS_MAX) {
		fem_fail(FEM_ERROR_LIMIT, "The body is held at %d points, which is the most: release one.", FEM_GRABS_MAX);
		return 0;
	}
	FemGrab *grab = m->grabs;
	FemGrabNumber number = 0;
	for (int k = 0; k < FEM_GRABS_MAX; k++)
		number = m->grabs[k].number > number ? m->grabs[k].number : number;
	while (grab->number != 0)
		grab++;
	double weights[4];
	int32_t tet = fem_body_nearest_tet(body, point, weights);
	for (int v = 0; v < 4; v++) {
		grab->nodes[v] = fem_tet_node(body->topology, tet, v);
		grab->weights[v] = (float)weights[v];
	}
	grab->number = number + 1;
	grab->target = grab->last = point_of(body, grab);
	grab->force = (FemVec3){0.0f, 0.0f, 0.0f};
	m->grab_count++;
	fem_body_wake_all(&world->islands, body);
	return grab->number;
}

FemResult fem_body_move_grab(FemBodyId id, FemGrabNumber number, FemPosition target) {
	FemResult result;
	FemWorld *world;
	FemBody *body;
	FemGrab *grab = target_grab(id, number, &world, &body, &result);
	if (!grab)
		return result;
	if (!fem_position_is_valid(target))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The target is not finite or too far away: correct it.");
	FemVec3d displacement = fem_position_sub(target, grab->target);
	grab->target = target;
	if (fem_vec3d_dot(displacement, displacement) > 0.0)
		fem_body_wake_all(&world->islands, body);
	return FEM_OK;
}

FemResult fem_body_release_grab(FemBodyId id, FemGrabNumber number) {
	FemResult result;
	FemWorld *world;
	FemBody *body;
	if (number == 0) {
		body = fem_body_find_idle(id, &world, &result);
		if (body && body->modal)
			fem_modal_drop_grabs(body->modal);
	} else {
		FemGrab *grab = target_grab(id, number, &world, &body, &result);
		if (!grab)
			return result;
		*grab = (FemGrab){.number = 0};
		body->modal->grab_count--;
		result = FEM_OK;
	}
	if (body)
		fem_body_wake_all(&world->islands, body);
	return result;
}

FemResult fem_body_get_grab(FemBodyId id, FemGrabNumber number, FemPosition *out_point, FemVec3 *out_force) {
	FemResult result;
	FemWorld *world;
	FemBody *body;
	const FemGrab *grab = target_grab(id, number, &world, &body, &result);
	if (!grab)
		return result;
	if (out_point)
		*out_point = point_of(body, grab);
	if (out_force)
		*out_force = grab->force;
	return FEM_OK;
}
