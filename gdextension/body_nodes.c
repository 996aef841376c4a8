#include "body_nodes.h"

#include "conversions.h"
#include "position_texture.h"

#include <stdlib.h>
#include <string.h>

// Drawn frames for which normals stay smooth after bending was last seen, and those to wait after a cut, since the terms of
// the gradients are made anew then.
enum { SMOOTH_FRAMES = 120, CALM_FRAMES = 12 };

// As FEM_MARK of fem_position.gdshaderinc.
static const float second_plane_mark = 1.0f + 1.0f / 4096.0f;

static struct {
	int32_t plane;
	float fraction; // 0: the tick before, 1: the last one
	bool is_written;
	bool is_known, uses_planes;
} frame;

// Only Forward+ has motion vectors; the others save the changing transforms.
static bool uses_planes(void) {
	if (!frame.is_known) {
		GdString method = gd_rendering_server_get_current_rendering_method();
		char name[32];
		copy_string(&method, name, sizeof(name));
		gd_string_free(&method);
		frame.uses_planes = strcmp(name, "forward_plus") == 0;
		frame.is_known = true;
	}
	return frame.uses_planes;
}

// The planes change after frames in which something moved, so that a body that moves every few frames only still finds
// its last place in the other one.
void body_nodes_begin_frame(void) {
	if (frame.is_written) {
		frame.plane = uses_planes() ? 1 - frame.plane : 0;
		frame.is_written = false;
	}
	double fraction = gd_engine_get_physics_interpolation_fraction();
	frame.fraction = fraction >= 0.0 && fraction <= 1.0 ? (float)fraction : 1.0f;
}

void body_nodes_init(BodyNodes *nodes) {
	*nodes = (BodyNodes){.offset = -1};
}

void body_nodes_free(BodyNodes *nodes) {
	if (nodes->offset >= 0) {
		position_texture_release(nodes->offset);
	}
	node_gradients_free(&nodes->gradients);
	free(nodes->before);
	body_nodes_init(nodes);
}

bool body_nodes_reserve(BodyNodes *nodes, int32_t count) {
	if (nodes->offset >= 0 && count <= nodes->capacity) {
		return false;
	}
	int32_t wanted = nodes->offset < 0 ? count : count + count / 2;
	int32_t offset = position_texture_reserve(wanted);
	if (offset < 0) {
		return false;
	}
	if (nodes->offset >= 0) {
		position_texture_release(nodes->offset);
	}
	nodes->offset = offset;
	nodes->capacity = wanted;
	nodes->count = 0;
	return true;
}

// -------------------------------------------------------------------------------------------------------- between ticks

static bool reserve_before(BodyNodes *nodes, int32_t count) {
	if (count > nodes->before_capacity) {
		float *before = realloc(nodes->before, (size_t)count * 4 * sizeof(float));
		if (!before) {
			return false;
		}
		nodes->before = before;
		nodes->before_capacity = count;
	}
	return true;
}

// Takes the engine's positions as those of the tick before.
static void take_before(BodyNodes *nodes, FemBodyId body) {
	int32_t count = 0;
	const float *positions = fem_body_get_position_data(body, &nodes->before_origin, &count);
	if (positions && count > 0 && reserve_before(nodes, count) &&
		fem_body_get_bounds(body, &nodes->before_low, &nodes->before_high) == FEM_OK) {
		memcpy(nodes->before, positions, (size_t)count * 4 * sizeof(float));
		nodes->before_count = count;
		nodes->is_between = true;
	}
}

bool body_nodes_keep(BodyNodes *nodes, FemBodyId body, bool is_awake, bool interpolates) {
	bool was_between = nodes->is_between;
	nodes->is_between = false;
	if (is_awake && interpolates && nodes->offset >= 0) {
		take_before(nodes, body);
	}
	return was_between;
}

// New nodes, and bodies that slept, go back along their velocities.
static void extrapolate_before(BodyNodes *nodes, FemBodyId body, int32_t first, float delta) {
	FemPosition origin;
	int32_t count = 0;
	const float *positions = fem_body_get_position_data(body, &origin, &count);
	FemVec3 *velocities = count > first ? malloc((size_t)count * sizeof(FemVec3)) : NULL;
	if (!positions || !velocities || !reserve_before(nodes, count) ||
		fem_body_get_velocities(body, velocities, count) != count) {
		free(velocities);
		return;
	}
	float shift[3] = {0};
	if (first == 0) {
		nodes->before_origin = origin;
	} else {
		shift[0] = (float)(origin.x - nodes->before_origin.x);
		shift[1] = (float)(origin.y - nodes->before_origin.y);
		shift[2] = (float)(origin.z - nodes->before_origin.z);
	}
	for (int32_t i = first; i < count; i++) {
		const float *velocity = &velocities[i].x;
		for (int k = 0; k < 3; k++) {
			nodes->before[4 * i + k] = positions[4 * i + k] + shift[k] - delta * velocity[k];
		}
		nodes->before[4 * i + 3] = 1.0f;
	}
	nodes->before_count = count;
	free(velocities);
}

void body_nodes_stepped(BodyNodes *nodes, FemBodyId body, float delta, bool interpolates) {
	int32_t count = fem_body_get_node_count(body);
	if (!interpolates || nodes->offset < 0) {
		return;
	}
	if (!nodes->is_between && !fem_body_is_asleep(body)) {
		nodes->before_count = 0;
		extrapolate_before(nodes, body, 0, delta);
		nodes->is_between = nodes->before_count == count &&
			fem_body_get_bounds(body, &nodes->before_low, &nodes->before_high) == FEM_OK;
	} else if (nodes->is_between && count > nodes->before_count) {
		extrapolate_before(nodes, body, nodes->before_count, delta);
	}
}

void body_nodes_jump(BodyNodes *nodes) {
	nodes->is_between = false;
}

// ------------------------------------------------------------------------------------------------------------------ rest

void body_nodes_write_rest(BodyNodes *nodes, const TetShape *shape, const int32_t *now) {
	float *texels = position_texture_edit(PLANE_REST, nodes->offset, nodes->capacity);
	for (int32_t i = 0; texels && i < 4 * shape->tet_count; i++) {
		if (now[i] >= 0 && now[i] < nodes->capacity) {
			FemVec3 p = shape->nodes[shape->tets[i]];
			float *texel = &texels[4 * (size_t)now[i]];
			texel[0] = p.x, texel[1] = p.y, texel[2] = p.z;
		}
	}
}

void body_nodes_cut(BodyNodes *nodes) {
	node_gradients_free(&nodes->gradients);
	nodes->calm_frames = CALM_FRAMES;
}

// ---------------------------------------------------------------------------------------------------------------- shown

static float largest(FemVec3 v) {
	float xy = v.x > v.y ? v.x : v.y;
	return xy > v.z ? xy : v.z;
}

// A few tets a frame say whether the body is bent.
static void look_for_bending(BodyNodes *nodes, const TetShape *shape, const int32_t *now, const float *positions) {
	int32_t samples = 4 + shape->tet_count / 1000;
	if (node_gradients_are_needed(shape, now, positions, nodes->count, nodes->next_sample, samples)) {
		nodes->smooth_frames = SMOOTH_FRAMES;
	} else if (nodes->smooth_frames > 0) {
		nodes->smooth_frames--;
	}
	nodes->next_sample += 7919 * samples; // a prime, so that samples wander over the whole body
	nodes->next_sample =
		shape->tet_count > 0 ? (int32_t)((uint32_t)nodes->next_sample % (uint32_t)shape->tet_count) : 0;
	nodes->calm_frames -= nodes->calm_frames > 0;
}

static void write_gradients(BodyNodes *nodes, const TetShape *shape, const int32_t *now, float *positions) {
	nodes->is_smooth = false;
	look_for_bending(nodes, shape, now, positions);
	if (nodes->smooth_frames == 0 || nodes->calm_frames > 0) {
		return;
	}
	if (nodes->gradients.node_count != nodes->count) {
		node_gradients_free(&nodes->gradients);
		if (!node_gradients_create(&nodes->gradients, shape, now, nodes->count)) {
			nodes->calm_frames = CALM_FRAMES;
			return;
		}
	}
	float *texels = position_texture_edit(PLANE_GRADIENTS, nodes->offset, nodes->count);
	float scale = largest(shape->scale);
	if (texels && scale > 0.0f) {
		node_gradients_write(&nodes->gradients, positions, texels, 1.0f / scale);
		nodes->is_smooth = true;
	}
}

// before_count <= count, which holds the same nodes first.
static void blend(float *out, const BodyNodes *nodes, const float *positions, int32_t count, FemPosition origin) {
	float f = frame.fraction, g = 1.0f - f;
	float shift[4] = {(float)(nodes->before_origin.x - origin.x) * g, (float)(nodes->before_origin.y - origin.y) * g,
		(float)(nodes->before_origin.z - origin.z) * g, 0.0f};
	int32_t both = count < nodes->before_count ? count : nodes->before_count;
	for (int32_t i = 0; i < both; i++) {
		for (int k = 0; k < 4; k++) {
			out[4 * i + k] = f * positions[4 * i + k] + (g * nodes->before[4 * i + k] + shift[k]);
		}
	}
	memcpy(&out[4 * both], &positions[4 * both], (size_t)(count - both) * 4 * sizeof(float));
}

static void extend(GdVector3 *low, GdVector3 *high, FemPosition from, FemPosition to, FemPosition origin) {
	GdVector3 a = {(float)(from.x - origin.x), (float)(from.y - origin.y), (float)(from.z - origin.z)};
	GdVector3 b = {(float)(to.x - origin.x), (float)(to.y - origin.y), (float)(to.z - origin.z)};
	*low = (GdVector3){a.x < low->x ? a.x : low->x, a.y < low->y ? a.y : low->y, a.z < low->z ? a.z : low->z};
	*high = (GdVector3){b.x > high->x ? b.x : high->x, b.y > high->y ? b.y : high->y, b.z > high->z ? b.z : high->z};
}

static bool write_positions(BodyNodes *nodes, const float *positions, int32_t count, FemPosition origin) {
	bool is_new = nodes->count == 0;
	float *texels = position_texture_edit((PositionPlane)frame.plane, nodes->offset, count);
	if (!texels) {
		return false;
	}
	if (nodes->is_between) {
		blend(texels, nodes, positions, count, origin);
	} else {
		memcpy(texels, positions, (size_t)count * 4 * sizeof(float));
	}
	// The frame before is asked for in the new range, too: there it stood still.
	float *other =
		is_new && uses_planes() ? position_texture_edit((PositionPlane)(1 - frame.plane), nodes->offset, count) : NULL;
	if (other) {
		memcpy(other, texels, (size_t)count * 4 * sizeof(float));
	}
	frame.is_written = true;
	nodes->plane = frame.plane;
	nodes->count = count;
	return true;
}

bool body_nodes_show(BodyNodes *nodes, FemBodyId body, const TetShape *shape, const int32_t *now, ShownNodes *out) {
	FemPosition origin, low, high;
	int32_t count = 0;
	const float *positions = fem_body_get_position_data(body, &origin, &count);
	if (!positions || count > nodes->capacity || fem_body_get_bounds(body, &low, &high) != FEM_OK ||
		!write_positions(nodes, positions, count, origin)) {
		return false;
	}
	write_gradients(nodes, shape, now, position_texture_edit((PositionPlane)nodes->plane, nodes->offset, count));
	float m = nodes->plane == 1 ? second_plane_mark : 1.0f;
	out->transform =
		(GdTransform3D){{{m, 0, 0}, {0, m, 0}, {0, 0, m}}, {(float)origin.x, (float)origin.y, (float)origin.z}};
	out->low = (GdVector3){(float)(low.x - origin.x), (float)(low.y - origin.y), (float)(low.z - origin.z)};
	out->high = out->low;
	extend(&out->low, &out->high, low, high, origin);
	if (nodes->is_between) {
		extend(&out->low, &out->high, nodes->before_low, nodes->before_high, origin);
	}
	return true;
}
