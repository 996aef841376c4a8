#include "drawing/body_nodes.h"

#include "binding/conversions.h"
#include "drawing/node_stencils.h"
#include "drawing/node_textures.h"

#include <stdlib.h>
#include <string.h>

// Drawn frames for which normals stay smooth after bending was last seen, and those to wait after a cut, since stencils
// are made anew then. Nodes whose stencils may be made in a frame, some 0.03 ms, and up to how many this is saved up.
enum { SMOOTH_FRAMES = 120, CALM_FRAMES = 12, STENCILS_PER_FRAME = 75, STENCILS_SAVED = 400, FRAMES_PER_SAMPLE = 6 };

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
	frame.stencils_left += STENCILS_PER_FRAME;
	frame.stencils_left = frame.stencils_left > STENCILS_SAVED ? STENCILS_SAVED : frame.stencils_left;
}

void body_nodes_init(BodyNodes *nodes) {
	*nodes = (BodyNodes){.offset = -1, .stencil_offset = -1, .frames_unseen = FRAMES_PER_SAMPLE};
}

static void drop_stencils(BodyNodes *nodes) {
	if (nodes->stencil_count > 0) {
		texel_atlas_release(&node_stencils, nodes->stencil_offset);
	}
	nodes->stencil_offset = -1;
	nodes->stencil_count = 0;
	nodes->has_stencils = false;
}

void body_nodes_free(BodyNodes *nodes) {
	if (nodes->offset >= 0) {
		texel_atlas_release(&node_positions, nodes->offset);
	}
	drop_stencils(nodes);
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

// ---- rest

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

// ---- smooth normals

void body_nodes_reshape(BodyNodes *nodes) {
	drop_stencils(nodes);
	nodes->is_cut = false;
}

void body_nodes_cut(BodyNodes *nodes) {
	nodes->has_stencils = false;
	nodes->is_cut = true;
	nodes->calm_frames = CALM_FRAMES;
}

int32_t body_nodes_stencils(const BodyNodes *nodes) {
	return nodes->has_stencils && nodes->smooth_frames > 0 ? nodes->stencil_offset : -1;
}

// -1: memory is short.
static int32_t write_stencils(int32_t offset, const TetShape *shape, const int32_t *now, int32_t count) {
	float *texels = offset >= 0 ? node_stencils_make(shape, now, count) : NULL;
	if (texels) {
		texel_atlas_write(&node_stencils, 0, offset, texels, STENCIL_SIZE * count);
	}
	bool is_written = texels != NULL;
	free(texels);
	return is_written ? offset : -1;
}

// Whole bodies of one shape share its stencils.
static int32_t shape_stencils(TetShape *shape) {
	if (shape->stencil_offset < 0) {
		int32_t offset = texel_atlas_reserve(&node_stencils, STENCIL_SIZE * shape->node_count);
		shape->stencil_offset = write_stencils(offset, shape, shape->tets, shape->node_count);
		if (shape->stencil_offset < 0 && offset >= 0) {
			texel_atlas_release(&node_stencils, offset);
		}
	}
	return shape->stencil_offset;
}

// Bodies that broke have stencils of their own.
static int32_t own_stencils(BodyNodes *nodes, const TetShape *shape, const int32_t *now) {
	if (nodes->stencil_count < nodes->count) {
		drop_stencils(nodes);
		nodes->stencil_offset = texel_atlas_reserve(&node_stencils, STENCIL_SIZE * nodes->capacity);
		nodes->stencil_count = nodes->stencil_offset >= 0 ? nodes->capacity : 0;
	}
	return write_stencils(nodes->stencil_offset, shape, now, nodes->count);
}

static void make_stencils(BodyNodes *nodes, TetShape *shape, const int32_t *now) {
	bool is_new = nodes->is_cut || shape->stencil_offset < 0;
	int32_t needed = nodes->count < STENCILS_SAVED ? nodes->count : STENCILS_SAVED;
	if (is_new && frame.stencils_left < needed) {
		return;
	}
	frame.stencils_left -= is_new ? nodes->count : 0;
	int32_t offset = nodes->is_cut ? own_stencils(nodes, shape, now) : shape_stencils(shape);
	nodes->stencil_offset = offset >= 0 ? offset : nodes->stencil_offset;
	nodes->has_stencils = offset >= 0;
	nodes->calm_frames = nodes->has_stencils ? 0 : CALM_FRAMES; // without memory it tries again later
}

// Now and then a few tets say whether the body is bent: every frame they would cost as much as the positions, since the
// memory that they touch is cold.
static void look_for_bending(BodyNodes *nodes, TetShape *shape, const int32_t *now, const float *positions) {
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
	if (nodes->smooth_frames > 0 && !nodes->has_stencils && nodes->calm_frames == 0) {
		make_stencils(nodes, shape, now);
	}
}

// ---- shown

typedef struct Blend {
	const float *now, *before, *fades; // before, fades: null for none
	int32_t fade_count;
	float fraction, shift[4]; // m, already by its share
} Blend;

static void blend_run(const Blend *b, float *restrict out, int32_t first, int32_t count) {
	const float *now = &b->now[4 * (size_t)first];
	if (b->before) {
		const float *before = &b->before[4 * (size_t)first];
		float f = b->fraction, g = 1.0f - f;
		for (int32_t i = 0; i < count; i++) {
			for (int k = 0; k < 4; k++) {
				out[4 * i + k] = f * now[4 * i + k] + (g * before[4 * i + k] + b->shift[k]);
			}
		}
	} else {
		memcpy(out, now, (size_t)count * 4 * sizeof(float));
	}
	for (int32_t i = first; b->fades && i < first + count && i < b->fade_count; i++) {
		out[4 * (i - first) + 3] = b->fades[i];
	}
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

static bool write_positions(BodyNodes *nodes, const Blend *blend, int32_t count) {
	if (!write_plane(nodes, frame.plane, blend, count)) {
		return false;
	}
	// The frame before is asked for in a new range, too, and for new nodes: there they stood still.
	if (nodes->count < count && uses_planes()) {
		write_plane(nodes, 1 - frame.plane, blend, count);
	}
	frame.is_written = true;
	nodes->plane = frame.plane;
	nodes->count = count;
	return true;
}

// Widens the box by that of the tick before, and returns the vector from its origin to that of the last tick, m.
static FemVec3 add_before(const FemShape *now, const FemShape *before, ShownNodes *out) {
	FemVec3 shift = {(float)(before->origin.x - now->origin.x), (float)(before->origin.y - now->origin.y),
		(float)(before->origin.z - now->origin.z)};
	const float *from = &before->low.x, *to = &before->high.x, *moved = &shift.x;
	float *low = &out->low.x, *high = &out->high.x;
	for (int k = 0; k < 3; k++) {
		low[k] = from[k] + moved[k] < low[k] ? from[k] + moved[k] : low[k];
		high[k] = to[k] + moved[k] > high[k] ? to[k] + moved[k] : high[k];
	}
	return shift;
}

static void prepare_between(Blend *blend, FemBodyId body, const FemShape *now, ShownNodes *out) {
	FemShape before;
	blend->before = fem_body_get_shape(body, true, &before);
	if (blend->before) {
		FemVec3 shift = add_before(now, &before, out);
		float g = 1.0f - frame.fraction;
		blend->fraction = frame.fraction;
		blend->shift[0] = shift.x * g, blend->shift[1] = shift.y * g, blend->shift[2] = shift.z * g;
	}
}

enum { FETCHED_LINES = 16 }; // cache lines asked for at the start of a page; chosen

// A cache line is 4 nodes. The first lines of a page are asked for; the machine then sees where this is going.
static void fetch_positions(const float *positions, int32_t count) {
	for (int32_t i = 0; positions && i < count && i < 4 * FETCHED_LINES; i += 4) {
		__builtin_prefetch(&positions[4 * i]);
	}
}

void body_nodes_fetch(const BodyNodes *nodes, FemBodyId body) {
	FemShape shape;
	const float *positions = fem_body_get_shape(body, false, &shape);
	fetch_positions(positions, positions ? shape.node_count : 0);
	if (nodes->is_between) {
		positions = fem_body_get_shape(body, true, &shape);
		fetch_positions(positions, positions ? shape.node_count : 0);
	}
}

bool body_nodes_show(BodyNodes *nodes, FemBodyId body, TetShape *shape, const int32_t *tets, ShownNodes *out) {
	FemShape now;
	Blend blend = {.fades = nodes->fades, .fade_count = nodes->fade_count};
	blend.now = fem_body_get_shape(body, false, &now);
	if (!blend.now || now.node_count > nodes->capacity) {
		return false;
	}
	out->low = (GdVector3){now.low.x, now.low.y, now.low.z};
	out->high = (GdVector3){now.high.x, now.high.y, now.high.z};
	if (nodes->is_between) {
		prepare_between(&blend, body, &now, out);
	}
	if (!write_positions(nodes, &blend, now.node_count)) {
		return false;
	}
	look_for_bending(nodes, shape, tets, blend.now);
	float m = nodes->plane == 1 ? second_plane_mark : 1.0f;
	FemPosition o = now.origin;
	out->transform = (GdTransform3D){{{m, 0, 0}, {0, m, 0}, {0, 0, m}}, {(float)o.x, (float)o.y, (float)o.z}};
	return true;
}
