#include "body_nodes.h"

#include "conversions.h"
#include "node_stencils.h"
#include "node_textures.h"

#include <stdlib.h>
#include <string.h>

// Drawn frames for which normals stay smooth after bending was last seen, and those to wait after a cut, since stencils are
// made anew then. Nodes whose stencils are made in one frame: some 0.3 ms.
enum { SMOOTH_FRAMES = 120, CALM_FRAMES = 12, STENCILS_PER_FRAME = 400, FRAMES_PER_SAMPLE = 6 };

// As FEM_MARK of fem_position.gdshaderinc.
static const float second_plane_mark = 1.0f + 1.0f / 4096.0f;

static struct {
	int32_t plane;
	float fraction; // 0: the tick before, 1: the last one
	bool is_written;
	bool is_known, uses_planes;
	int32_t stencils_left;
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
	frame.stencils_left = STENCILS_PER_FRAME;
}

void body_nodes_init(BodyNodes *nodes) {
	*nodes = (BodyNodes){.offset = -1, .stencil_offset = -1, .frames_unseen = FRAMES_PER_SAMPLE};
}

static void drop_stencils(BodyNodes *nodes) {
	if (nodes->stencil_offset >= 0) {
		texel_atlas_release(&node_stencils, nodes->stencil_offset);
	}
	nodes->stencil_offset = -1;
	nodes->has_stencils = false;
}

void body_nodes_free(BodyNodes *nodes) {
	if (nodes->offset >= 0) {
		texel_atlas_release(&node_positions, nodes->offset);
	}
	drop_stencils(nodes);
	free(nodes->before.positions);
	free(nodes->latest.positions);
	free(nodes->fades);
	body_nodes_init(nodes);
}

bool body_nodes_reserve(BodyNodes *nodes, int32_t count) {
	if (nodes->offset >= 0 && count <= nodes->capacity) {
		return false;
	}
	int32_t wanted = nodes->offset < 0 ? count : count + count / 2;
	int32_t offset = texel_atlas_reserve(&node_positions, wanted);
	if (offset < 0) {
		return false;
	}
	if (nodes->offset >= 0) {
		texel_atlas_release(&node_positions, nodes->offset);
	}
	nodes->offset = offset;
	nodes->capacity = wanted;
	nodes->count = 0;
	return true;
}

// -------------------------------------------------------------------------------------------------------- between ticks

static bool reserve_tick(NodesAtTick *tick, int32_t count) {
	if (count > tick->capacity) {
		float *positions = realloc(tick->positions, (size_t)count * 4 * sizeof(float));
		if (!positions) {
			return false;
		}
		tick->positions = positions;
		tick->capacity = count;
	}
	return true;
}

static bool take_tick(NodesAtTick *tick, FemBodyId body) {
	const float *positions = fem_body_get_position_data(body, &tick->origin, &tick->count);
	if (!positions || tick->count <= 0 || !reserve_tick(tick, tick->count) ||
		fem_body_get_bounds(body, &tick->low, &tick->high) != FEM_OK) {
		tick->count = 0;
		return false;
	}
	memcpy(tick->positions, positions, (size_t)tick->count * 4 * sizeof(float));
	return true;
}

bool body_nodes_keep(BodyNodes *nodes, FemBodyId body, bool is_awake, bool interpolates) {
	bool was_between = nodes->is_between;
	nodes->is_between = false;
	nodes->interpolates = interpolates;
	if (is_awake && interpolates && nodes->offset >= 0) {
		if (nodes->has_latest) {
			NodesAtTick tick = nodes->before;
			nodes->before = nodes->latest;
			nodes->latest = tick;
			nodes->is_between = true;
		} else {
			nodes->is_between = take_tick(&nodes->before, body);
		}
	}
	nodes->has_latest = false;
	return was_between;
}

// Where nodes that are new, or were not kept, were a tick ago: back along their velocities. From the `first` node on.
static bool extrapolate_before(BodyNodes *nodes, FemBodyId body, int32_t first, float delta) {
	NodesAtTick now = nodes->latest, *before = &nodes->before;
	bool is_taken = take_tick(&now, body);
	nodes->latest = now; // its memory
	FemVec3 *velocities = is_taken ? malloc((size_t)now.count * sizeof(FemVec3)) : NULL;
	if (!velocities || !reserve_tick(before, now.count) ||
		fem_body_get_velocities(body, velocities, now.count) != now.count) {
		free(velocities);
		return false;
	}
	if (first == 0) {
		before->origin = now.origin;
		before->low = now.low;
		before->high = now.high;
	}
	double shift[3] = {
		now.origin.x - before->origin.x, now.origin.y - before->origin.y, now.origin.z - before->origin.z};
	for (int32_t i = first; i < now.count; i++) {
		const float *velocity = &velocities[i].x;
		for (int k = 0; k < 3; k++) {
			before->positions[4 * i + k] = now.positions[4 * i + k] + (float)shift[k] - delta * velocity[k];
		}
		before->positions[4 * i + 3] = 1.0f;
	}
	before->count = now.count;
	free(velocities);
	return true;
}

void body_nodes_stepped(BodyNodes *nodes, FemBodyId body, float delta, bool is_awake) {
	if (!nodes->interpolates || nodes->offset < 0) {
		return;
	}
	if (!nodes->is_between) {
		nodes->is_between = is_awake && extrapolate_before(nodes, body, 0, delta);
	} else if (fem_body_get_node_count(body) > nodes->before.count) {
		extrapolate_before(nodes, body, nodes->before.count, delta);
	}
}

void body_nodes_jump(BodyNodes *nodes) {
	nodes->is_between = nodes->has_latest = false;
}

void body_nodes_set_fades(BodyNodes *nodes, const float *fades, int32_t count) {
	float *copy = fades && count > 0 ? realloc(nodes->fades, (size_t)count * sizeof(float)) : NULL;
	if (copy) {
		memcpy(copy, fades, (size_t)count * sizeof(float));
	} else {
		free(nodes->fades);
	}
	nodes->fades = copy;
	nodes->fade_count = copy ? count : 0;
}

// ------------------------------------------------------------------------------------------------------------------ rest

void body_nodes_write_rest(BodyNodes *nodes, const TetShape *shape, const int32_t *now) {
	float *texels = nodes->offset >= 0 ? calloc((size_t)nodes->capacity * 4, sizeof(float)) : NULL;
	for (int32_t i = 0; texels && i < 4 * shape->tet_count; i++) {
		if (now[i] >= 0 && now[i] < nodes->capacity) {
			FemVec3 p = shape->nodes[shape->tets[i]];
			float *texel = &texels[4 * (size_t)now[i]];
			texel[0] = p.x, texel[1] = p.y, texel[2] = p.z, texel[3] = 1.0f;
		}
	}
	if (texels) {
		texel_atlas_write(&node_positions, PLANE_REST, nodes->offset, texels, nodes->capacity);
	}
	free(texels);
}

float body_nodes_fraction(const BodyNodes *nodes) {
	return nodes->is_between ? frame.fraction : 1.0f;
}

// -------------------------------------------------------------------------------------------------------- smooth normals

void body_nodes_cut(BodyNodes *nodes) {
	nodes->has_stencils = false;
	nodes->calm_frames = CALM_FRAMES;
}

int32_t body_nodes_stencils(const BodyNodes *nodes) {
	return nodes->has_stencils && nodes->smooth_frames > 0 ? nodes->stencil_offset : -1;
}

static void make_stencils(BodyNodes *nodes, const TetShape *shape, const int32_t *now) {
	if (nodes->stencil_count < nodes->count) {
		drop_stencils(nodes);
	}
	if (nodes->stencil_offset < 0) {
		nodes->stencil_offset = texel_atlas_reserve(&node_stencils, STENCIL_SIZE * nodes->capacity);
		nodes->stencil_count = nodes->capacity;
	}
	float *texels = nodes->stencil_offset >= 0 ? node_stencils_make(shape, now, nodes->count) : NULL;
	if (texels) {
		texel_atlas_write(&node_stencils, 0, nodes->stencil_offset, texels, STENCIL_SIZE * nodes->count);
		nodes->has_stencils = true;
	}
	nodes->calm_frames = texels ? 0 : CALM_FRAMES; // without memory it tries again later
	free(texels);
}

// Now and then a few tets say whether the body is bent: every frame they would cost as much as the positions, since the
// memory that they touch is cold.
static void look_for_bending(BodyNodes *nodes, const TetShape *shape, const int32_t *now, const float *positions) {
	nodes->calm_frames -= nodes->calm_frames > 0;
	nodes->smooth_frames -= nodes->smooth_frames > 0;
	if (nodes->smooth_frames < SMOOTH_FRAMES / 2 && ++nodes->frames_unseen >= FRAMES_PER_SAMPLE) {
		int32_t samples = 4 + shape->tet_count / 500;
		if (node_stencils_are_needed(shape, now, positions, nodes->count, nodes->next_sample, samples)) {
			nodes->smooth_frames = SMOOTH_FRAMES;
		}
		// A prime, so that samples wander over the whole body.
		nodes->next_sample = (int32_t)(((int64_t)nodes->next_sample + 7919 * samples) % shape->tet_count);
		nodes->frames_unseen = 0;
	}
	if (nodes->smooth_frames > 0 && !nodes->has_stencils && nodes->calm_frames == 0 && frame.stencils_left > 0) {
		frame.stencils_left -= nodes->count;
		make_stencils(nodes, shape, now);
	}
}

// ---------------------------------------------------------------------------------------------------------------- shown

// before: of the same nodes, fewer perhaps. latest: keeps a copy, unless null.
typedef struct Blend {
	const float *before, *now, *fades; // null: none
	float *latest;
	int32_t before_count, fade_count;
	float fraction, shift[4]; // m, already by its share
} Blend;

static void blend_run(const Blend *b, float *out, int32_t first, int32_t count) {
	float f = b->fraction, g = 1.0f - f;
	int32_t both = b->before_count - first;
	both = both < 0 ? 0 : both > count ? count : both;
	const float *now = &b->now[4 * (size_t)first], *before = &b->before[4 * (size_t)first];
	for (int32_t i = 0; i < both; i++) {
		for (int k = 0; k < 4; k++) {
			out[4 * i + k] = f * now[4 * i + k] + (g * before[4 * i + k] + b->shift[k]);
		}
	}
	memcpy(&out[4 * (size_t)both], &now[4 * (size_t)both], (size_t)(count - both) * 4 * sizeof(float));
	for (int32_t i = first; b->fades && i < first + count && i < b->fade_count; i++) {
		out[4 * (i - first) + 3] = b->fades[i];
	}
	if (b->latest) {
		memcpy(&b->latest[4 * (size_t)first], now, (size_t)count * 4 * sizeof(float));
	}
}

// What is shown of the nodes now, and what must be kept of them for the next tick.
static Blend prepare_blend(BodyNodes *nodes, const NodesAtTick *now) {
	Blend blend = {.now = now->positions, .fraction = 1.0f, .fades = nodes->fades, .fade_count = nodes->fade_count};
	if (nodes->is_between) {
		float g = 1.0f - frame.fraction;
		blend.fraction = frame.fraction;
		blend.before = nodes->before.positions;
		blend.before_count = nodes->before.count;
		blend.shift[0] = (float)(nodes->before.origin.x - now->origin.x) * g;
		blend.shift[1] = (float)(nodes->before.origin.y - now->origin.y) * g;
		blend.shift[2] = (float)(nodes->before.origin.z - now->origin.z) * g;
	}
	if (nodes->interpolates && !nodes->has_latest && reserve_tick(&nodes->latest, now->count)) {
		NodesAtTick kept = nodes->latest;
		nodes->latest = *now;
		nodes->latest.positions = blend.latest = kept.positions;
		nodes->latest.capacity = kept.capacity;
		nodes->has_latest = true;
	}
	return blend;
}

static bool write_plane(BodyNodes *nodes, int32_t plane, const Blend *blend, int32_t count) {
	for (int32_t done = 0, run; done < count; done += run) {
		float *out = texel_atlas_edit(&node_positions, plane, nodes->offset + done, count - done, &run);
		if (!out) {
			return false;
		}
		blend_run(blend, out, done, run);
	}
	return true;
}

static bool write_positions(BodyNodes *nodes, const NodesAtTick *now) {
	Blend blend = prepare_blend(nodes, now);
	if (!write_plane(nodes, frame.plane, &blend, now->count)) {
		return false;
	}
	// The frame before is asked for in a new range, too, and for new nodes: there they stood still.
	if (nodes->count < now->count && uses_planes()) {
		write_plane(nodes, 1 - frame.plane, &blend, now->count);
	}
	frame.is_written = true;
	nodes->plane = frame.plane;
	nodes->count = now->count;
	return true;
}

static void extend(GdVector3 *low, GdVector3 *high, const NodesAtTick *tick, FemPosition origin) {
	const double *from = &tick->low.x, *to = &tick->high.x, *zero = &origin.x;
	float *a = &low->x, *b = &high->x;
	for (int k = 0; k < 3; k++) {
		float begin = (float)(from[k] - zero[k]), end = (float)(to[k] - zero[k]);
		a[k] = begin < a[k] ? begin : a[k];
		b[k] = end > b[k] ? end : b[k];
	}
}

bool body_nodes_show(BodyNodes *nodes, FemBodyId body, const TetShape *shape, const int32_t *tets, ShownNodes *out) {
	NodesAtTick now = {0};
	const float *positions = fem_body_get_position_data(body, &now.origin, &now.count);
	now.positions = (float *)positions; // only read
	if (!positions || now.count > nodes->capacity || fem_body_get_bounds(body, &now.low, &now.high) != FEM_OK ||
		!write_positions(nodes, &now)) {
		return false;
	}
	look_for_bending(nodes, shape, tets, positions);
	float m = nodes->plane == 1 ? second_plane_mark : 1.0f;
	FemPosition o = now.origin;
	out->transform = (GdTransform3D){{{m, 0, 0}, {0, m, 0}, {0, 0, m}}, {(float)o.x, (float)o.y, (float)o.z}};
	out->low = (GdVector3){1e30f, 1e30f, 1e30f};
	out->high = (GdVector3){-1e30f, -1e30f, -1e30f};
	extend(&out->low, &out->high, &now, o);
	if (nodes->is_between) {
		extend(&out->low, &out->high, &nodes->before, o);
	}
	return true;
}
