#include "geometry/embedding.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "geometry/closest.h"

#include <string.h>

#define LEAF_MAX 4    // tets; chosen: testing so many costs what a node does
#define DEPTH_MAX 64  // of a tree that is split in halves: 2^64 tets
#define NODES_SPARE 2 // of the tree, beside one a tet: leaves hold at least 2 tets
#define INSIDE 1e-7   // of the mesh's size: a point so near to a tet lies in it. A float's rounding

// A tree of boxes over tets; the left child is the next node.
typedef struct TetNode {
	float lo[3], hi[3];
	int32_t first, count; // of a leaf: its tets in Tree.order; of an inner node: its right child, and 0
} TetNode;

typedef struct Tree {
	const FemEmbedMesh *mesh;
	TetNode *nodes;
	int32_t *order; // tets, leaf by leaf
	int32_t node_count;
	double size;
} Tree;

typedef struct Query {
	FemVec3d p;
	int32_t member; // -1 any
	double best_sq;
	int32_t tet;
	double cost; // largest weight that p has in `tet`: decides between tets equally near
} Query;

// ---- build

static float centroid_on(const FemEmbedMesh *mesh, int32_t tet, int axis) {
	float sum = 0.0f;
	for (int v = 0; v < 4; v++)
		sum += (&mesh->nodes[mesh->tets[4 * (size_t)tet + (size_t)v]].x)[axis];
	return sum;
}

static void bound(const Tree *tree, int32_t begin, int32_t end, TetNode *node) {
	for (int axis = 0; axis < 3; axis++) {
		node->lo[axis] = 3e38f;
		node->hi[axis] = -3e38f;
	}
	for (int32_t at = begin; at < end; at++)
		for (int v = 0; v < 4; v++) {
			const float *p = &tree->mesh->nodes[tree->mesh->tets[4 * (size_t)tree->order[at] + (size_t)v]].x;
			for (int axis = 0; axis < 3; axis++) {
				node->lo[axis] = fminf(node->lo[axis], p[axis]);
				node->hi[axis] = fmaxf(node->hi[axis], p[axis]);
			}
		}
}

// Quickselect on the centroids along an axis; equal ones by number, so that the order is the same everywhere.
static bool comes_before(const FemEmbedMesh *mesh, int32_t a, int32_t b, int axis) {
	float at_a = centroid_on(mesh, a, axis), at_b = centroid_on(mesh, b, axis);
	return at_a != at_b ? at_a < at_b : a < b;
}

static void select_middle(Tree *tree, int32_t begin, int32_t end, int32_t middle, int axis) {
	while (end - begin > 1) {
		int32_t pivot = tree->order[begin + (end - begin) / 2], low = begin, high = end - 1;
		while (low <= high) {
			while (comes_before(tree->mesh, tree->order[low], pivot, axis))
				low++;
			while (comes_before(tree->mesh, pivot, tree->order[high], axis))
				high--;
			if (low <= high) {
				int32_t kept = tree->order[low];
				tree->order[low++] = tree->order[high];
				tree->order[high--] = kept;
			}
		}
		if (middle <= high)
			end = high + 1;
		else if (middle >= low)
			begin = low;
		else
			return;
	}
}

// For asserts: what select_middle() promises.
static bool is_halved(const Tree *tree, int32_t begin, int32_t end, int32_t middle, int axis) {
	bool halved = true;
	for (int32_t at = begin; at < end; at++) {
		if (at < middle)
			halved &= comes_before(tree->mesh, tree->order[at], tree->order[middle], axis);
		else
			halved &= !comes_before(tree->mesh, tree->order[at], tree->order[middle], axis);
	}
	return halved;
}

static int32_t build(Tree *tree, int32_t begin, int32_t end) {
	int32_t index = tree->node_count++;
	FEM_ASSERT(begin < end && index < tree->mesh->tet_count + NODES_SPARE);
	TetNode *node = &tree->nodes[index];
	bound(tree, begin, end, node);
	node->first = begin;
	node->count = end - begin;
	if (end - begin <= LEAF_MAX)
		return index;
	int axis = 0;
	for (int other = 1; other < 3; other++)
		axis = node->hi[other] - node->lo[other] > node->hi[axis] - node->lo[axis] ? other : axis;
	int32_t middle = begin + (end - begin) / 2;
	select_middle(tree, begin, end, middle, axis);
	FEM_ASSERT(is_halved(tree, begin, end, middle, axis));
	build(tree, begin, middle);
	int32_t right = build(tree, middle, end);
	tree->nodes[index].first = right;
	tree->nodes[index].count = 0;
	return index;
}

// ---- search

static void corners_of(const FemEmbedMesh *mesh, int32_t tet, FemVec3d out[4]) {
	for (int v = 0; v < 4; v++)
		out[v] = fem_vec3d_from(mesh->nodes[mesh->tets[4 * (size_t)tet + (size_t)v]]);
}

// Weights that reproduce p exactly, also outside.
static void exact_weights(const FemVec3d corners[4], FemVec3d p, double out[4]) {
	FemVec3d a = fem_vec3d_sub(corners[1], corners[0]), b = fem_vec3d_sub(corners[2], corners[0]);
	FemVec3d c = fem_vec3d_sub(corners[3], corners[0]), w = fem_vec3d_sub(p, corners[0]);
	double volume = fem_vec3d_dot(a, fem_vec3d_cross(b, c));
	out[1] = fem_vec3d_dot(w, fem_vec3d_cross(b, c)) / volume;
	out[2] = fem_vec3d_dot(a, fem_vec3d_cross(w, c)) / volume;
	out[3] = fem_vec3d_dot(a, fem_vec3d_cross(b, w)) / volume;
	out[0] = 1.0 - out[1] - out[2] - out[3];
}

static double largest(const double weights[4]) {
	double most = 0.0;
	for (int v = 0; v < 4; v++)
		most = fmax(most, fmax(-weights[v], weights[v] - 1.0));
	return most;
}

// The nearest tet; of tets that share the nearest face, edge or node, the one that needs the smallest weights.
static void try_tet(const Tree *tree, int32_t tet, Query *query) {
	if (query->member >= 0 && tree->mesh->tet_members[tet] != query->member)
		return;
	FemVec3d corners[4];
	double weights[4], slack = INSIDE * tree->size;
	corners_of(tree->mesh, tet, corners);
	double distance_sq = fem_closest_in_tet(query->p, corners, weights);
	if (distance_sq > query->best_sq + 2.0 * slack * sqrt(query->best_sq) + slack * slack)
		return;
	exact_weights(corners, query->p, weights);
	double cost = largest(weights);
	bool nearer = sqrt(distance_sq) < sqrt(query->best_sq) - slack;
	if (query->tet >= 0 && !nearer && (cost > query->cost || (cost == query->cost && tet > query->tet)))
		return;
	query->best_sq = fmin(distance_sq, query->best_sq);
	query->tet = tet;
	query->cost = cost;
}

static void find_nearest(const Tree *tree, Query *query) {
	int32_t stack[DEPTH_MAX], depth = 0;
	double slack = INSIDE * tree->size;
	stack[depth++] = 0;
	while (depth > 0) {
		int32_t index = stack[--depth];
		const TetNode *node = &tree->nodes[index];
		if (sqrt(fem_box_distance_sq(node->lo, node->hi, query->p)) > sqrt(query->best_sq) + slack)
			continue;
		for (int32_t at = node->first; at < node->first + node->count; at++)
			try_tet(tree, tree->order[at], query);
		if (node->count > 0)
			continue;
		bool left_first = fem_box_distance_sq(tree->nodes[index + 1].lo, tree->nodes[index + 1].hi, query->p) <=
			fem_box_distance_sq(tree->nodes[node->first].lo, tree->nodes[node->first].hi, query->p);
		FEM_ASSERT(depth + 2 <= DEPTH_MAX && node->first > index + 1 && node->first < tree->node_count);
		stack[depth++] = left_first ? node->first : index + 1;
		stack[depth++] = left_first ? index + 1 : node->first;
	}
}

double fem_embed_limit(const FemVec3d corners[4], FemVec3d p, double weights[4]) {
	double inside[4], most = (double)FEM_EMBED_WEIGHT, share = 1.0;
	fem_closest_in_tet(p, corners, inside);
	for (int v = 0; v < 4; v++) {
		double step = weights[v] - inside[v];
		if (weights[v] < -most)
			share = fmin(share, (-most - inside[v]) / step);
		if (weights[v] > 1.0 + most)
			share = fmin(share, (1.0 + most - inside[v]) / step);
	}
	for (int v = 0; v < 4; v++)
		weights[v] = inside[v] + share * (weights[v] - inside[v]);
	FEM_ASSERT(share >= 0.0 && share <= 1.0 && !(largest(weights) > most * (1.0 + 1e-9)));
	return share;
}

static void embed_point(
	const Tree *tree, int32_t index, FemVec3 point, int32_t member, bool is_seen, FemEmbedding *out) {
	Query query = {fem_vec3d_from(point), member, 1e300, -1, 0.0};
	find_nearest(tree, &query);
	if (query.tet < 0) { // the member has no tets
		query.member = -1;
		find_nearest(tree, &query);
	}
	FemVec3d corners[4], found = {0};
	double weights[4];
	FEM_ASSERT_INDEX(query.tet, tree->mesh->tet_count);
	corners_of(tree->mesh, query.tet, corners);
	exact_weights(corners, query.p, weights);
	if (sqrt(query.best_sq) > INSIDE * tree->size) {
		bool is_limited = fem_embed_limit(corners, query.p, weights) < 1.0;
		out->outside += is_seen;
		out->max_outside = is_seen ? fmaxf(out->max_outside, (float)sqrt(query.best_sq)) : out->max_outside;
		out->limited += is_seen && is_limited;
	}
	out->tets[index] = query.tet;
	for (int v = 0; v < 4; v++) {
		out->weights[index][v] = (float)weights[v];
		found = fem_vec3d_add(found, fem_vec3d_scale(corners[v], (double)out->weights[index][v]));
	}
	FemVec3d miss = fem_vec3d_sub(found, query.p);
	out->max_error = is_seen ? fmaxf(out->max_error, (float)sqrt(fem_vec3d_dot(miss, miss))) : out->max_error;
}

// ---- API

static FemResult check(const FemEmbedMesh *mesh, const FemVec3 *points, int32_t count) {
	if (!mesh || !mesh->nodes || !mesh->tets || mesh->tet_count < 1 || mesh->node_count < 4)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no tet mesh to embed into: make one first.");
	if (!points || count < 1)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There are no points to embed.");
	for (size_t i = 0; i < 4 * (size_t)mesh->tet_count; i++) {
		if (mesh->tets[i] < 0 || mesh->tets[i] >= mesh->node_count)
			return fem_fail(FEM_ERROR_MESH, "Tet %d names node %d: node indices must be within 0..%d.", (int)(i / 4),
				mesh->tets[i], mesh->node_count - 1);
	}
	for (int32_t i = 0; i < count; i++) {
		FemVec3 p = points[i];
		if (!(p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Point %d is not finite: clean the mesh first.", i);
	}
	return FEM_OK;
}

static double mesh_size(const TetNode *root) {
	return fmax((double)root->hi[0] - (double)root->lo[0],
		fmax((double)root->hi[1] - (double)root->lo[1], (double)root->hi[2] - (double)root->lo[2]));
}

FemResult fem_embed(
	const FemEmbedMesh *mesh, const FemVec3 *points, const int32_t *point_members, int32_t count, FemEmbedding *out) {
	*out = (FemEmbedding){0};
	FemResult result = check(mesh, points, count);
	if (result != FEM_OK)
		return result;
	int32_t node_bound = mesh->tet_count + NODES_SPARE;
	Tree tree = {mesh, FEM_ALLOC_ARRAY(TetNode, node_bound), FEM_ALLOC_ARRAY(int32_t, mesh->tet_count), 0, 0.0};
	out->count = count;
	out->tets = FEM_ALLOC_ARRAY(int32_t, count);
	out->weights = fem_alloc(sizeof *out->weights * (size_t)count);
	bool ready = tree.nodes && tree.order && out->tets && out->weights;
	if (ready) {
		for (int32_t t = 0; t < mesh->tet_count; t++)
			tree.order[t] = t;
		build(&tree, 0, mesh->tet_count);
		tree.size = mesh_size(&tree.nodes[0]);
		for (int32_t i = 0; i < count && !fem_stop_asked(); i++)
			embed_point(&tree, i, points[i], point_members && mesh->tet_members ? point_members[i] : -1,
				!point_members || point_members[i] >= 0, out);
	}
	FEM_FREE_ARRAY(tree.nodes, node_bound);
	FEM_FREE_ARRAY(tree.order, mesh->tet_count);
	if (ready && !fem_stop_asked())
		return FEM_OK;
	fem_embedding_free(out);
	if (ready)
		return fem_fail_stopped();
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to embed %d points.", count);
}

void fem_embedding_free(FemEmbedding *embedding) {
	FEM_FREE_ARRAY(embedding->tets, embedding->count);
	FEM_FREE_ARRAY(embedding->weights, embedding->count);
	*embedding = (FemEmbedding){0};
}
