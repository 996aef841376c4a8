#include "fracture/splinters.h"

#include "base/hash.h"
#include "base/vec.h"
#include "geometry/closest.h"
#include "geometry/embedding.h"
#include "topology/splitting.h"
#include "topology/tet_mesh.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define IN_REACH 1  // mark of a tet in the reach of the splinter at hand ...
#define CONNECTED 2 // ... and of one that its home is connected with

// Relative, of squares: nearest points on a face, edge or corner that tets share; above a double's rounding.
#define SAME_DISTANCE 1e-9
#define WEIGHT_TINY 1e-30 // smaller ones are 0: threads differ in what they do with denormals
#define WEIGHT_SUM 1e-5   // how far the sum of the weights may be from 1

// ---- weights

static void shape_of(const FemSplinters *s, int32_t tet, FemTetShape *out) {
	const FemSplinterRest *rest = &s->rest;
	fem_tet_shape(rest->positions, rest->tets + 4 * (size_t)rest->topology->user_of_tet[tet], rest->scale, out);
}

static FemVec3d position_of(const FemSplinters *s, int32_t vertex) {
	FemVec3 p = s->given.vertex_positions[vertex], scale = s->rest.scale;
	return (FemVec3d){(double)p.x * (double)scale.x, (double)p.y * (double)scale.y, (double)p.z * (double)scale.z};
}

static void find_weights(const FemTetShape *shape, FemVec3d p, double out[4]) {
	double w[3] = {p.x - shape->corners[0][0], p.y - shape->corners[0][1], p.z - shape->corners[0][2]};
	out[0] = 1.0;
	for (int v = 1; v < 4; v++) {
		const double *g = shape->gradient[v];
		out[v] = g[0] * w[0] + g[1] * w[1] + g[2] * w[2];
		out[0] -= out[v];
	}
}

static void corners_of(const FemTetShape *shape, FemVec3d out[4]) {
	for (int v = 0; v < 4; v++)
		out[v] = (FemVec3d){shape->corners[v][0], shape->corners[v][1], shape->corners[v][2]};
}

// Far outside the tet the vertex is pulled nearer, as embedding does: a strained sliver must not throw it about.
static void weigh_in(const FemTetShape *shape, FemVec3d p, float out[4]) {
	double weights[4];
	find_weights(shape, p, weights);
	for (int v = 0; v < 4; v++) {
		if (weights[v] < -(double)FEM_EMBED_WEIGHT || weights[v] > 1.0 + (double)FEM_EMBED_WEIGHT) {
			FemVec3d corners[4];
			corners_of(shape, corners);
			fem_embed_limit(corners, p, weights);
			break;
		}
	}
	for (int v = 0; v < 4; v++)
		out[v] = fabs(weights[v]) < WEIGHT_TINY ? 0.0f : (float)weights[v];
}

static void weigh(const FemSplinters *s, int32_t vertex, int32_t tet, float out[4]) {
	FemTetShape shape;
	shape_of(s, tet, &shape);
	weigh_in(&shape, position_of(s, vertex), out);
}

static void clear_owner(FemSplinters *s, int32_t vertex) {
	s->owner[vertex] = -1;
	memset(s->weights[vertex], 0, sizeof s->weights[vertex]);
}

// ---- connected

// Marks the splinter's reach, and in it what home is connected with; those are the first of the queue. Returns how
// many.
static int32_t mark_connected(FemSplinters *s, const FemTopology *t, int32_t splinter) {
	int32_t count = 0, home = s->home[splinter];
	for (int32_t k = s->reach_start[splinter]; k < s->reach_start[splinter + 1]; k++)
		s->tet_mark[s->reach[k]] = IN_REACH;
	if (t->user_of_tet[home] >= 0) {
		s->tet_mark[home] = CONNECTED;
		s->queue[count++] = home;
	}
	for (int32_t at = 0; at < count; at++) {
		for (int v = 0; v < 4; v++) {
			int32_t across = t->neighbours[s->queue[at] * 4 + v];
			if (across < 0 || s->tet_mark[across / 4] != IN_REACH)
				continue;
			s->tet_mark[across / 4] = CONNECTED;
			s->queue[count++] = across / 4;
		}
	}
	return count;
}

static void clear_marks(FemSplinters *s, int32_t splinter) {
	for (int32_t k = s->reach_start[splinter]; k < s->reach_start[splinter + 1]; k++)
		s->tet_mark[s->reach[k]] = 0;
}

// ---- nearest tet

// The distance to the plane of the face that the point is farthest beyond is the least that the tet can be away.
static double least_distance_sq(const FemTetShape *shape, const double weights[4]) {
	double least = 0.0;
	for (int v = 0; v < 4; v++) {
		const double *g = shape->gradient[v];
		double square = weights[v] * weights[v] / (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
		if (weights[v] < 0.0 && square > least)
			least = square;
	}
	return least;
}

// Of tets that are equally near, as those around a corner are, the one that needs the least extrapolation is taken.
static void try_tet(FemLostVertex *lost, const FemTetShape *shapes, int32_t at) {
	const FemTetShape *shape = &shapes[at];
	double weights[4], nearest[4], slack = 1.0 + SAME_DISTANCE;
	find_weights(shape, lost->p, weights);
	double distance_sq = least_distance_sq(shape, weights);
	if (lost->nearest >= 0 && distance_sq > lost->distance_sq * slack)
		return;
	if (distance_sq > 0.0) {
		FemVec3d corners[4];
		corners_of(shape, corners);
		distance_sq = fem_closest_in_tet(lost->p, corners, nearest);
	}
	double least_weight = fmin(fmin(weights[0], weights[1]), fmin(weights[2], weights[3]));
	bool nearer = lost->nearest < 0 || distance_sq * slack < lost->distance_sq;
	bool as_near = lost->nearest >= 0 && distance_sq <= lost->distance_sq * slack;
	if (!nearer && !(as_near && least_weight > lost->least_weight))
		return;
	lost->nearest = at;
	lost->distance_sq = distance_sq;
	lost->least_weight = least_weight;
}

// The ball around the middle of a tet's corners that holds them.
static FemTetBall ball_of(const FemTetShape *shape) {
	FemVec3d corners[4], middle = {0};
	double radius_sq = 0.0;
	corners_of(shape, corners);
	for (int v = 0; v < 4; v++)
		middle = fem_vec3d_add(middle, fem_vec3d_scale(corners[v], 0.25));
	for (int v = 0; v < 4; v++) {
		FemVec3d arm = fem_vec3d_sub(corners[v], middle);
		radius_sq = fmax(radius_sq, fem_vec3d_dot(arm, arm));
	}
	return (FemTetBall){.middle = middle, .radius = sqrt(radius_sq)};
}

// The tet whose middle is nearest comes first: the balls of most others are farther away than it is then.
static void find_nearest_of(FemSplinters *s, FemLostVertex *lost, int32_t connected) {
	int32_t first = 0;
	for (int32_t k = 0; k < connected; k++) {
		FemVec3d d = fem_vec3d_sub(lost->p, s->balls[k].middle);
		s->balls[k].distance_sq = fem_vec3d_dot(d, d);
		first = s->balls[k].distance_sq < s->balls[first].distance_sq ? k : first;
	}
	try_tet(lost, s->shapes, first);
	double reach = sqrt(lost->distance_sq) * (1.0 + SAME_DISTANCE);
	for (int32_t k = 0; k < connected; k++) {
		double farthest = s->balls[k].radius + reach;
		if (s->balls[k].distance_sq > farthest * farthest || k == first)
			continue;
		try_tet(lost, s->shapes, k);
		reach = sqrt(lost->distance_sq) * (1.0 + SAME_DISTANCE);
	}
}

// Whether one of those before it lies in the same place, whose answer it then has. What the slots hold of another
// splinter is no harm: they only say where to look.
static bool is_where_another_is(FemSplinters *s, int32_t index) {
	FemLostVertex *lost = &s->lost[index];
	uint64_t hash = fem_hash_double(fem_hash_double(fem_hash_double(FEM_HASH_START, lost->p.x), lost->p.y), lost->p.z);
	int32_t *slot = &s->lost_at[hash & (FEM_LOST_SLOTS - 1)];
	const FemLostVertex *other = &s->lost[*slot];
	bool is_there = *slot < index && other->p.x == lost->p.x && other->p.y == lost->p.y && other->p.z == lost->p.z;
	*slot = index;
	if (is_there)
		lost->nearest = other->nearest;
	return is_there;
}

// Gives each lost vertex the nearest of the first `connected` tets of the queue; there is one at least.
static void find_nearest(FemSplinters *s, int32_t lost_count, int32_t connected) {
	for (int32_t k = 0; k < connected; k++) {
		shape_of(s, s->queue[k], &s->shapes[k]);
		s->balls[k] = ball_of(&s->shapes[k]);
	}
	for (int32_t i = 0; i < lost_count; i++) {
		FemLostVertex *lost = &s->lost[i];
		if (!is_where_another_is(s, i))
			find_nearest_of(s, lost, connected);
		s->owner[lost->vertex] = s->queue[lost->nearest];
		weigh_in(&s->shapes[lost->nearest], lost->p, s->weights[lost->vertex]);
	}
}

static void note_change(FemSplinters *s, int32_t vertex, FemOwnerChangeKind kind) {
	s->has_changed = true;
	if (s->change[vertex] < kind)
		s->change[vertex] = (uint8_t)kind;
}

// Vertices whose tet is no longer connected with home go to the nearest one that is.
static int32_t follow(FemSplinters *s, const FemTopology *t, int32_t splinter) {
	int32_t connected = mark_connected(s, t, splinter), count = 0;
	for (int32_t k = s->vertex_start[splinter]; k < s->vertex_start[splinter + 1]; k++) {
		int32_t vertex = s->vertices[k], tet = s->owner[vertex];
		if (tet < 0 || s->tet_mark[tet] == CONNECTED)
			continue;
		s->lost[count++] = (FemLostVertex){.vertex = vertex, .nearest = -1, .p = position_of(s, vertex)};
		if (s->change[vertex] != FEM_OWNER_TET) {
			s->tet_before[vertex] = tet;
			memcpy(s->weights_before[vertex], s->weights[vertex], sizeof s->weights[vertex]);
		}
	}
	clear_marks(s, splinter);
	if (count > 0 && connected > 0)
		find_nearest(s, count, connected);
	return connected > 0 ? count : 0;
}

void fem_splinters_settle(FemSplinters *s, const FemTopology *t, const FemSplinterHomes *homes) {
	if (!fem_splinters_take_homes(s, homes))
		fem_splinters_find_homes(s, t, false);
	memset(s->is_lost, 0, (size_t)s->given.splinter_count); // all of them follow below
	s->is_behind = false;
	for (int32_t i = 0; i < s->given.vertex_count; i++)
		s->owner[i] = s->rest.topology->tet_of_user[s->given.vertex_tets[i]];
	fem_splinters_weigh(s);
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		follow(s, t, i);
		for (int32_t k = s->vertex_start[i]; t->user_of_tet[s->home[i]] < 0 && k < s->vertex_start[i + 1]; k++)
			clear_owner(s, s->vertices[k]);
	}
}

// The reaches are kept, since straight segments and neighbours are the same at any scale.
void fem_splinters_restart(FemSplinters *s, FemVec3 scale, const FemTopology *t, const FemSplinterHomes *homes) {
	s->rest.scale = scale;
	memset(s->change, 0, (size_t)s->given.vertex_count);
	s->has_changed = false;
	s->change_count = 0;
	fem_splinters_settle(s, t, homes);
}

// Splinter by splinter: their vertices follow a few tets, whose shapes are kept as long as they come in a row.
void fem_splinters_weigh(FemSplinters *s) {
	int32_t known = -1;
	FemTetShape shape;
	for (int32_t k = 0; k < s->given.vertex_count; k++) {
		int32_t vertex = s->vertices[k], tet = s->owner[vertex];
		if (tet < 0) {
			clear_owner(s, vertex);
			continue;
		}
		if (tet != known)
			shape_of(s, tet, &shape);
		known = tet;
		weigh_in(&shape, position_of(s, vertex), s->weights[vertex]);
	}
}

// ---- splits

static void list_splinter(FemSplinters *s, int32_t splinter, int32_t *count) {
	if (s->is_listed[splinter])
		return;
	s->is_listed[splinter] = 1;
	s->list[(*count)++] = splinter;
}

static void clear_list(FemSplinters *s, int32_t count) {
	for (int32_t i = 0; i < count; i++)
		s->is_listed[s->list[i]] = 0;
}

// A cut concerns the splinters with both of its tets in their reach.
static void note_cut(FemSplinters *s, const FemFaceCut *cut) {
	int32_t a = s->tet_start[cut->face / 4], a_end = s->tet_start[cut->face / 4 + 1];
	int32_t b = s->tet_start[cut->across / 4], b_end = s->tet_start[cut->across / 4 + 1];
	while (a < a_end && b < b_end) {
		int32_t of_a = s->tet_splinters[a], of_b = s->tet_splinters[b];
		if (of_a == of_b)
			s->is_lost[of_a] = 1;
		a += of_a <= of_b;
		b += of_b <= of_a;
	}
}

// A tet names other nodes now exactly when it is in the star of a copy.
void fem_splinters_note_copies(FemSplinters *s, const FemTopology *t) {
	const FemSplitState *split = t->split;
	s->is_behind = true;
	for (int32_t copy = t->node_count; copy < split->node_count; copy++) {
		for (int32_t k = split->star[copy].begin; k < split->star[copy].end; k++)
			s->is_renamed[t->node_tets[k] / 4] = 1;
	}
}

void fem_splinters_note_cuts(FemSplinters *s, const FemTopology *t, const FemFaceCut *cuts, int32_t cut_count) {
	for (int32_t i = 0; i < cut_count; i++)
		note_cut(s, &cuts[i]);
	fem_splinters_note_copies(s, t);
}

static void follow_lost(FemSplinters *s, const FemTopology *t) {
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		int32_t moved = s->is_lost[i] ? follow(s, t, i) : 0;
		for (int32_t k = 0; k < moved; k++)
			note_change(s, s->lost[k].vertex, FEM_OWNER_TET);
		s->is_lost[i] = 0;
	}
}

// Every vertex follows a tet of its splinter's reach, so the splinters of renamed tets hold all vertices in question.
static void follow_renamed(FemSplinters *s) {
	int32_t count = 0;
	for (int32_t tet = 0; tet < s->tet_count; tet++) {
		for (int32_t k = s->tet_start[tet]; s->is_renamed[tet] && k < s->tet_start[tet + 1]; k++)
			list_splinter(s, s->tet_splinters[k], &count);
	}
	for (int32_t i = 0; i < count; i++) {
		for (int32_t k = s->vertex_start[s->list[i]]; k < s->vertex_start[s->list[i] + 1]; k++) {
			int32_t vertex = s->vertices[k];
			if (s->owner[vertex] >= 0 && s->is_renamed[s->owner[vertex]])
				note_change(s, vertex, FEM_OWNER_NODES);
		}
	}
	clear_list(s, count);
	memset(s->is_renamed, 0, (size_t)s->tet_count);
}

void fem_splinters_follow(FemSplinters *s, const FemTopology *t) {
	if (!s->is_behind)
		return;
	follow_lost(s, t);
	follow_renamed(s);
	s->is_behind = false;
}

void fem_splinters_forget_removed(FemSplinters *s, const FemTopology *t) {
	for (int32_t i = 0; i < s->given.vertex_count; i++) {
		if (s->owner[i] < 0 || t->user_of_tet[s->owner[i]] >= 0)
			continue;
		clear_owner(s, i);
		note_change(s, i, FEM_OWNER_REMOVED);
	}
}

// ---- reading

static FemVertexOwner owner_of(const FemTopology *t, int32_t tet, const float weights[4]) {
	FemVertexOwner owner = {.tet = tet < 0 ? -1 : t->user_of_tet[tet]};
	for (int v = 0; v < 4; v++) {
		owner.nodes[v] = owner.tet < 0 ? -1 : t->user_of_node[fem_tet_node(t, tet, v)];
		owner.weights[v] = owner.tet < 0 ? 0.0f : weights[v];
	}
	return owner;
}

FemVertexOwner fem_splinters_owner(const FemSplinters *s, const FemTopology *t, int32_t vertex) {
	return owner_of(t, s->owner[vertex], s->weights[vertex]);
}

FemVertexOwner fem_splinters_owner_in(const FemSplinters *s, const FemTopology *t, int32_t vertex, int32_t user_tet) {
	float weights[4];
	int32_t tet = s->rest.topology->tet_of_user[user_tet];
	weigh(s, vertex, tet, weights);
	return owner_of(t, tet, weights);
}

int32_t fem_splinters_count_changes(const FemSplinters *s) {
	int32_t count = 0;
	for (int32_t i = 0; s->has_changed && i < s->given.vertex_count; i++)
		count += s->change[i] != 0;
	return count;
}

void fem_splinters_publish(FemSplinters *s, const FemTopology *t, FemOwnerChange *changes) {
	s->changes = changes;
	s->change_count = 0;
	for (int32_t i = 0; s->has_changed && i < s->given.vertex_count; i++) {
		if (s->change[i] == 0)
			continue;
		FemOwnerChange *change = &changes[s->change_count++];
		*change = (FemOwnerChange){.vertex = i, .kind = (FemOwnerChangeKind)s->change[i]};
		change->owner = change->before = fem_splinters_owner(s, t, i);
		if (change->kind == FEM_OWNER_TET)
			change->before = owner_of(t, s->tet_before[i], s->weights_before[i]);
		s->change[i] = 0;
	}
	s->has_changed = false;
}

int32_t fem_splinters_find_fault(FemSplinters *s, const FemTopology *t) {
	int32_t fault = -1;
	for (int32_t i = 0; i < s->given.splinter_count && fault < 0; i++) {
		if (!fem_splinters_is_in_reach(s, i, s->home[i]) && s->vertex_start[i] < s->vertex_start[i + 1])
			return s->vertices[s->vertex_start[i]];
		bool is_removed = mark_connected(s, t, i) == 0;
		for (int32_t k = s->vertex_start[i]; k < s->vertex_start[i + 1] && fault < 0; k++) {
			int32_t vertex = s->vertices[k], tet = s->owner[vertex];
			const float *w = s->weights[vertex];
			double sum = (double)w[0] + (double)w[1] + (double)w[2] + (double)w[3];
			bool is_well =
				is_removed ? tet < 0 : tet >= 0 && s->tet_mark[tet] == CONNECTED && fabs(sum - 1.0) <= WEIGHT_SUM;
			fault = is_well ? -1 : vertex;
		}
		clear_marks(s, i);
	}
	return fault;
}
