// The parts of a body's saved state that most bodies do not have: kinds of nodes, sleep of parts, and values of single
// nodes and tets.
#include "base/vec.h"
#include "dynamics/elements.h"
#include "dynamics/plate_flow.h"
#include "model/piece.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/state/body_state.h"
#include "world/state/stream.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>

// ---- runs

typedef uint8_t ReadValue(const FemBody *body, int32_t node);
typedef void WriteValue(FemBody *body, int32_t node, uint8_t value);

// Nodes of removed pieces take part in any run.
static void write_runs(FemStream *s, const FemBody *body, ReadValue *read) {
	const FemTopology *t = body->topology;
	uint64_t length = 0;
	uint8_t value = 0;
	for (int32_t user = 0; user < t->user_node_count; user++) {
		int32_t node = t->node_of_user[user];
		uint8_t own = node < 0 ? value : read(body, node);
		if (own != value && length > 0) {
			fem_stream_write_number(s, length << 2 | value);
			length = 0;
		}
		value = own;
		length++;
	}
	fem_stream_write_number(s, length << 2 | value);
}

static void read_runs(FemStream *s, FemBody *body, WriteValue *write, uint8_t most) {
	const FemTopology *t = body->topology;
	for (int32_t user = 0; user < t->user_node_count && !s->failed;) {
		uint64_t run = 0;
		fem_stream_number(s, &run);
		uint64_t length = run >> 2;
		s->failed = s->failed || length == 0 || length > (uint64_t)(t->user_node_count - user) || (run & 3) > most;
		for (; length > 0 && !s->failed; length--, user++) {
			if (t->node_of_user[user] >= 0)
				write(body, t->node_of_user[user], (uint8_t)(run & 3));
		}
	}
}

static uint8_t read_kind(const FemBody *body, int32_t node) {
	return body->node_kind[node];
}

static void write_kind(FemBody *body, int32_t node, uint8_t kind) {
	body->node_kind[node] = kind;
}

static uint8_t read_part_state(const FemBody *body, int32_t node) {
	return body->part_state[body->topology->node_part[node]];
}

// A part is awake if one of its nodes is: the mesh may have been partitioned in another way since.
static void write_part_state(FemBody *body, int32_t node, uint8_t state) {
	uint8_t *part = &body->part_state[body->topology->node_part[node]];
	*part = state > *part ? state : *part;
}

// Parts of pieces are others after loading, so that a piece is awake as a whole.
static uint8_t read_piece_state(const FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	FemRange parts = t->component_parts[fem_node_component(t, node)];
	uint8_t state = FEM_ISLAND_ASLEEP;
	for (int32_t p = parts.begin; p < parts.end; p++)
		state = body->part_state[p] > state ? body->part_state[p] : state;
	return state;
}

// ---- sparse lists

#define WIDTH_MAX 6 // floats of an entry at most: a plastic strain

// Values that few nodes or tets have. read: false for one that is as usual. write: false for one that makes no sense.
typedef struct SparseList {
	uint32_t flag;
	int32_t width; // floats
	bool of_tets;
	bool (*read)(const FemBody *body, int32_t index, float *out);
	bool (*write)(FemBody *body, int32_t index, const float *values);
} SparseList;

static bool any(const float *values, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		if (values[i] != 0.0f)
			return true;
	}
	return false;
}

static bool read_strain(const FemBody *body, int32_t tet, float *out) {
	for (int i = 0; i < 6; i++)
		out[i] = body->plastics ? body->plastics[tet / FEM_LANES].strain[i][tet % FEM_LANES] : 0.0f;
	return any(out, 6);
}

static bool read_fold(const FemBody *body, int32_t tet, float *out) {
	*out = body->plastics ? body->plastics[tet / FEM_LANES].fold[tet % FEM_LANES] : 0.0f;
	return *out != 0.0f;
}

static bool write_fold(FemBody *body, int32_t tet, const float *fold) {
	if (!body->plastics || !(*fold >= 0.0f) || !fem_is_finite(*fold))
		return false;
	body->plastics[tet / FEM_LANES].fold[tet % FEM_LANES] = *fold;
	return true;
}

static bool read_toughness(const FemBody *body, int32_t tet, float *out) {
	*out = body->tet_scale ? body->tet_scale[tet] : 1.0f;
	return *out != 1.0f;
}

static bool write_toughness(FemBody *body, int32_t tet, const float *scale) {
	if (!body->breaking || !(*scale >= 0.0f))
		return false;
	body->tet_scale[tet] = *scale;
	return true;
}

static bool read_temper(const FemBody *body, int32_t tet, float *out) {
	*out = body->tet_temper ? body->tet_temper[tet] : 1.0f;
	return *out != 1.0f;
}

static bool write_temper(FemBody *body, int32_t tet, const float *temper) {
	if (!body->breaking || *temper != 0.0f)
		return false;
	body->tet_temper[tet] = *temper;
	return true;
}

static bool read_force(const FemBody *body, int32_t node, float *out) {
	FemVec4 f = body->force[node];
	out[0] = f.x, out[1] = f.y, out[2] = f.z;
	return body->has_forces && any(out, 3);
}

static bool write_force(FemBody *body, int32_t node, const float *f) {
	body->force[node] = (FemVec4){f[0], f[1], f[2], 0.0f};
	body->has_forces = true;
	return fem_vec3_is_finite((FemVec3){f[0], f[1], f[2]});
}

static bool read_ground(const FemBody *body, int32_t node, float *out) {
	*out = body->ground_force[node];
	return *out != 0.0f;
}

static bool write_ground(FemBody *body, int32_t node, const float *force) {
	body->ground_force[node] = *force;
	return *force >= 0.0f && fem_is_finite(*force);
}

static const SparseList lists[] = {
	{FEM_STATE_FLOWED, 6, true, read_strain, fem_tet_set_plastic_strain},
	{FEM_STATE_FOLDED, 1, true, read_fold, write_fold},
	{FEM_STATE_DAMAGED, 1, true, read_toughness, write_toughness},
	{FEM_STATE_RELIEVED, 1, true, read_temper, write_temper},
	{FEM_STATE_FORCED, 3, false, read_force, write_force},
	{FEM_STATE_GROUNDED, 1, false, read_ground, write_ground},
};

#define LIST_COUNT ((int)(sizeof lists / sizeof *lists))

static int32_t list_length(const SparseList *list, const FemTopology *t) {
	return list->of_tets ? t->user_tet_count : t->user_node_count;
}

// The inside number of an entry's node or tet; -1 when it was removed.
static int32_t list_index(const SparseList *list, const FemTopology *t, int32_t user) {
	return list->of_tets ? t->tet_of_user[user] : t->node_of_user[user];
}

static uint64_t count_entries(const SparseList *list, const FemBody *body) {
	float values[WIDTH_MAX];
	uint64_t count = 0;
	for (int32_t user = 0; user < list_length(list, body->topology); user++) {
		int32_t index = list_index(list, body->topology, user);
		count += index >= 0 && list->read(body, index, values);
	}
	return count;
}

static void write_list(FemStream *s, const SparseList *list, const FemBody *body) {
	float values[WIDTH_MAX];
	uint64_t gap = 0;
	fem_stream_write_number(s, count_entries(list, body));
	for (int32_t user = 0; user < list_length(list, body->topology); user++) {
		int32_t index = list_index(list, body->topology, user);
		if (index < 0 || !list->read(body, index, values)) {
			gap++;
			continue;
		}
		fem_stream_write_number(s, gap);
		FEM_STREAM_ARRAY(s, values, list->width);
		gap = 0;
	}
}

static void read_list(FemStream *s, const SparseList *list, FemBody *body) {
	int32_t user = 0, length = list_length(list, body->topology), count = fem_stream_read_index(s, (int64_t)length + 1);
	for (int32_t i = 0; i < count && !s->failed; i++) {
		float values[WIDTH_MAX];
		user += fem_stream_read_index(s, length - user);
		FEM_STREAM_ARRAY(s, values, list->width);
		int32_t index = s->failed ? -1 : list_index(list, body->topology, user++);
		s->failed = s->failed || index < 0 || !list->write(body, index, values);
	}
}

// ---- all

static uint32_t sleep_flags(const FemBody *body, bool is_broken) {
	ReadValue *read = is_broken ? read_piece_state : read_part_state;
	int32_t live = 0, count = body->topology->node_count;
	for (int32_t i = 0; i < count; i++)
		live += read(body, i) == FEM_ISLAND_LIVE;
	return live == 0 ? 0u : live == count ? FEM_STATE_LIVE : FEM_STATE_PARTLY_LIVE;
}

// The forces of the ground are friction's bound in the next step and hold what sleeps beside live parts; a body that is
// not deformed soon has them again.
uint32_t fem_state_list_flags(const FemBody *body, bool is_rigid, bool is_broken) {
	uint32_t flags = sleep_flags(body, is_broken) | (body->pinned_count > 0 ? FEM_STATE_HELD : 0u);
	for (int i = 0; i < LIST_COUNT; i++) {
		bool is_left_out = is_rigid && lists[i].flag == FEM_STATE_GROUNDED;
		flags |= !is_left_out && count_entries(&lists[i], body) > 0 ? lists[i].flag : 0u;
	}
	return flags;
}

void fem_state_write_lists(FemStream *s, const FemBody *body, uint32_t flags) {
	if (flags & FEM_STATE_HELD)
		write_runs(s, body, read_kind);
	if (flags & FEM_STATE_PARTLY_LIVE)
		write_runs(s, body, flags & FEM_STATE_BROKEN ? read_piece_state : read_part_state);
	for (int i = 0; i < LIST_COUNT; i++) {
		if (flags & lists[i].flag)
			write_list(s, &lists[i], body);
	}
}

static void set_parts(FemBody *body, uint32_t flags) {
	for (int32_t p = 0; p < body->topology->part_count; p++) {
		body->part_state[p] = flags & FEM_STATE_KINEMATIC ? FEM_ISLAND_KINEMATIC
			: flags & FEM_STATE_LIVE                      ? FEM_ISLAND_LIVE
														  : FEM_ISLAND_ASLEEP;
	}
}

void fem_state_read_lists(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags) {
	set_parts(body, flags);
	if (flags & FEM_STATE_HELD) {
		s->failed = s->failed || !fem_body_prepare_reactions(body);
		read_runs(s, body, write_kind, FEM_NODE_DRIVEN);
	}
	if (flags & FEM_STATE_PARTLY_LIVE)
		read_runs(s, body, write_part_state, FEM_ISLAND_LIVE);
	// A body keeps its plastic state when its materials stop yielding, and then has it though building gave none.
	if (flags & (FEM_STATE_FLOWED | FEM_STATE_FOLDED) && !body->plastics)
		s->failed = s->failed || !fem_body_allocate_plastics(world, body);
	for (int i = 0; i < LIST_COUNT; i++) {
		if (flags & lists[i].flag && !s->failed)
			read_list(s, &lists[i], body);
	}
	if (flags & FEM_STATE_FLOWED && !s->failed)
		fem_plate_cells_follow(body, NULL);
}
