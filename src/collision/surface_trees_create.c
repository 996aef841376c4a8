// Making a body's trees, groups and what they know of each other.
#include "base/carve.h"
#include "base/range.h"
#include "base/vec.h"
#include "collision/surface_trees.h"
#include "fem_constants.h"
#include "topology/topology.h"

#include <string.h>

// What the making needs besides the result.
typedef struct Builder {
	FemSurfaceTrees *trees;
	int32_t *node_mark;  // [node]
	int32_t *node_trees; // [node + 1] starts, then trees of each node
	int32_t *node_tree_list;
	int32_t *tet_list;    // tets by part: those of a body that broke are not in that order
	int32_t *part_start;  // [part + 1]
	FemSurfaceTrees *old; // of before a split, or null
	const FemVec4 *rest;  // [node], m
	void *block;
	size_t bytes;
} Builder;

// ---- trees

static int32_t triangle_part(const FemTopology *t, int32_t triangle) {
	const int32_t *nodes = t->triangles + 3 * (size_t)triangle;
	int32_t low = nodes[0] < nodes[1] ? nodes[0] : nodes[1];
	return t->node_part[low < nodes[2] ? low : nodes[2]];
}

// Part by part; a part joins the tree before it while that one is small, and the last of a component while itself is.
static int32_t cut_trees(const FemTopology *t, FemSurfaceTree *out) {
	int32_t count = 0;
	FemSurfaceTree last = {.component = -1};
	for (int32_t begin = 0, end; begin < t->triangle_count; begin = end) {
		int32_t part = triangle_part(t, begin), component = t->part_component[part];
		for (end = begin + 1; end < t->triangle_count && triangle_part(t, end) == part;)
			end++;
		bool is_last = end == t->triangle_count || t->part_component[triangle_part(t, end)] != component;
		int32_t size = last.triangles.end - last.triangles.begin;
		bool small = size < FEM_TREE_TRIANGLES || (is_last && end - begin < FEM_TREE_TRIANGLES);
		if (component == last.component && small) {
			last.triangles.end = end;
		} else {
			last = (FemSurfaceTree){.triangles = {begin, end}, .component = component, .cone_axis = {0, 0, 0, -1}};
			count++;
		}
		if (out)
			out[count - 1] = last;
	}
	return count;
}

// The trees that each node belongs to, once each: a node's trees come one after the other, as triangles do.
static void list_node_trees(Builder *b) {
	const FemTopology *t = b->trees->topology;
	for (int pass = 0; pass < 2; pass++) {
		memset(b->node_mark, 0xff, sizeof(int32_t) * (size_t)t->node_count);
		for (int32_t tree = 0; tree < b->trees->tree_count; tree++) {
			FemRange range = b->trees->trees[tree].triangles;
			for (int32_t i = 3 * range.begin; i < 3 * range.end; i++) {
				int32_t node = t->triangles[i];
				if (b->node_mark[node] == tree)
					continue;
				b->node_mark[node] = tree;
				if (pass == 0)
					b->node_trees[node + 1]++;
				else
					b->node_tree_list[b->node_trees[node]++] = tree;
			}
		}
		for (int32_t i = 0; i < t->node_count && pass == 0; i++)
			b->node_trees[i + 1] += b->node_trees[i];
	}
	// Filling moved each start to the next one's.
	memmove(b->node_trees + 1, b->node_trees, sizeof(int32_t) * (size_t)t->node_count);
	b->node_trees[0] = 0;
}

static void insert_sorted(int32_t *list, int32_t count, int32_t value) {
	int32_t at = count;
	for (; at > 0 && list[at - 1] > value; at--)
		list[at] = list[at - 1];
	list[at] = value;
}

// Without a list to fill, counts. `mark` says which tree last listed a tree.
static int32_t list_tree_neighbours(Builder *b, int32_t *mark) {
	FemSurfaceTrees *trees = b->trees;
	int32_t count = 0;
	memset(mark, 0xff, sizeof(int32_t) * (size_t)trees->tree_count);
	for (int32_t tree = 0; tree < trees->tree_count; tree++) {
		FemSurfaceTree *self = &trees->trees[tree];
		mark[tree] = tree;
		self->neighbours.begin = count;
		for (int32_t i = 3 * self->triangles.begin; i < 3 * self->triangles.end; i++) {
			int32_t node = trees->topology->triangles[i];
			for (int32_t s = b->node_trees[node]; s < b->node_trees[node + 1]; s++) {
				int32_t other = b->node_tree_list[s];
				if (mark[other] == tree)
					continue;
				mark[other] = tree;
				if (trees->tree_neighbours)
					insert_sorted(
						trees->tree_neighbours + self->neighbours.begin, count - self->neighbours.begin, other);
				count++;
			}
		}
		self->neighbours.end = count;
	}
	return count;
}

// ---- groups

static void mark_outer_faces(FemSurfaceTrees *trees) {
	const FemTopology *t = trees->topology;
	for (int32_t f = 0; f < t->triangle_count; f++) {
		const int32_t *nodes = t->triangles + 3 * (size_t)f;
		int32_t tet = t->triangle_tets[f];
		for (int v = 0; v < 4; v++) {
			int32_t node = fem_tet_node(t, tet, v);
			if (node == nodes[0] || node == nodes[1] || node == nodes[2])
				continue;
			trees->outer_faces[tet] |= (uint8_t)(1 << v);
			if (trees->faces)
				trees->faces[f] = tet * 4 + v;
		}
	}
}

// The part of a tet's lowest node.
static int32_t tet_part(const FemTopology *t, int32_t tet) {
	int32_t low = fem_tet_node(t, tet, 0);
	for (int v = 1; v < 4; v++)
		low = fem_tet_node(t, tet, v) < low ? fem_tet_node(t, tet, v) : low;
	return t->node_part[low];
}

// A stable counting sort.
static void list_tets_by_part(Builder *b) {
	const FemTopology *t = b->trees->topology;
	int32_t lanes = t->batch_count * FEM_LANES, *start = b->part_start;
	memset(start, 0, sizeof(int32_t) * ((size_t)t->part_count + 1));
	for (int32_t tet = 0; tet < lanes; tet++) {
		if (t->user_of_tet[tet] >= 0)
			start[tet_part(t, tet) + 1]++;
	}
	for (int32_t p = 0; p < t->part_count; p++)
		start[p + 1] += start[p];
	for (int32_t tet = 0; tet < lanes; tet++) {
		if (t->user_of_tet[tet] >= 0)
			b->tet_list[start[tet_part(t, tet)]++] = tet;
	}
	// Filling moved each start to the next one's.
	memmove(start + 1, start, sizeof(int32_t) * (size_t)t->part_count);
	start[0] = 0;
}

static int32_t list_packet_tets(const Builder *b, FemRange list, bool outer, int32_t *out) {
	int32_t count = 0;
	for (int32_t i = list.begin; i < list.end; i++) {
		if ((b->trees->outer_faces[b->tet_list[i]] != 0) != outer)
			continue;
		if (out)
			out[count] = b->tet_list[i];
		count++;
	}
	return (count + 7) / 8;
}

static void put_group(Builder *b, int32_t g, FemTetGroup group) {
	FemSurfaceTrees *trees = b->trees;
	trees->groups[g] = group;
	int32_t *tets = trees->packet_tets + 8 * (size_t)group.packet;
	for (int32_t i = 0; i < 8 * group.packet_count; i++)
		tets[i] = -1;
	list_packet_tets(b, group.tets, true, tets);
	list_packet_tets(b, group.tets, false, tets + 8 * (size_t)group.outer_packets);
}

// A group a part that has tets of its own. Without groups to fill, only counts.
static void cut_groups(Builder *b) {
	FemSurfaceTrees *trees = b->trees;
	const FemTopology *t = trees->topology;
	int32_t group = 0, packet = 0, packet8 = 0;
	for (int32_t part = 0; part < t->part_count; part++) {
		FemRange tets = {b->part_start[part], b->part_start[part + 1]};
		if (tets.begin == tets.end)
			continue;
		int32_t outer = list_packet_tets(b, tets, true, NULL);
		int32_t packets = outer + list_packet_tets(b, tets, false, NULL);
		if (trees->groups)
			put_group(b, group,
				(FemTetGroup){.tets = tets,
					.packet = packet,
					.packet8 = packet8,
					.outer_packets = outer,
					.packet_count = packets,
					.component = t->part_component[part]});
		group++;
		packet += packets;
		packet8 += (packets + 7) / 8;
	}
	trees->group_count = group;
	trees->packet_count = packet;
	trees->packet8_count = packet8;
}

// All nodes of each group's tets, once; without groups to fill, only counts. `mark` holds the last part that listed a
// node.
static int32_t list_group_nodes(Builder *b, int32_t *mark) {
	FemSurfaceTrees *trees = b->trees;
	const FemTopology *t = trees->topology;
	int32_t count = 0, group = 0;
	memset(mark, 0xff, sizeof(int32_t) * (size_t)t->node_count);
	for (int32_t part = 0; part < t->part_count; part++) {
		FemRange tets = {b->part_start[part], b->part_start[part + 1]};
		int32_t begin = count;
		for (int32_t i = 4 * tets.begin; i < 4 * tets.end; i++) {
			int32_t node = fem_tet_node(t, b->tet_list[i / 4], i % 4);
			if (mark[node] == part)
				continue;
			mark[node] = part;
			if (trees->group_nodes)
				trees->group_nodes[count] = node;
			count++;
		}
		if (trees->groups && count > begin)
			trees->groups[group++].nodes = (FemRange){begin, count};
	}
	return count;
}

// Nodes, and hence parts, trees and groups, are numbered component by component.
static void list_starts(FemSurfaceTrees *trees) {
	int32_t tree = 0, group = 0;
	for (int32_t c = 0; c <= trees->component_count; c++) {
		while (tree < trees->tree_count && trees->trees[tree].component < c)
			tree++;
		while (group < trees->group_count && trees->groups[group].component < c)
			group++;
		trees->tree_start[c] = tree;
		trees->group_start[c] = group;
	}
}

static void clear_boxes(FemBoxes8 *boxes, int32_t count) {
	for (int32_t i = 0; i < 8 * count; i++)
		put_box8(&boxes[i / 8], i % 8, empty_box4());
}

// ---- storage

static size_t place_builder(Builder *b, char *base) {
	const FemTopology *t = b->trees->topology;
	FemCarver carver = {.base = base};
	b->node_mark =
		FEM_CARVE(&carver, int32_t, t->node_count > b->trees->tree_count ? t->node_count : b->trees->tree_count);
	b->node_trees = FEM_CARVE(&carver, int32_t, t->node_count + 1);
	b->node_tree_list = FEM_CARVE(&carver, int32_t, 3 * (size_t)t->triangle_count);
	b->tet_list = FEM_CARVE(&carver, int32_t, t->tet_count);
	b->part_start = FEM_CARVE(&carver, int32_t, t->part_count + 1);
	// Stand-ins while sizes are not known.
	b->trees->trees = FEM_CARVE(&carver, FemSurfaceTree, b->trees->tree_count);
	b->trees->outer_faces = FEM_CARVE(&carver, uint8_t, t->batch_count * FEM_LANES);
	return carver.used;
}

static void place(FemSurfaceTrees *trees, FemCarver *carver) {
	trees->trees = FEM_CARVE(carver, FemSurfaceTree, trees->tree_count);
	trees->tree_start = FEM_CARVE(carver, int32_t, trees->component_count + 1);
	trees->group_start = FEM_CARVE(carver, int32_t, trees->component_count + 1);
	trees->groups = FEM_CARVE(carver, FemTetGroup, trees->group_count);
	trees->group_boxes = FEM_CARVE(carver, FemBoxes8, (trees->group_count + 7) / 8);
	trees->packets = FEM_CARVE(carver, FemBoxes8, trees->packet_count);
	trees->packets8 = FEM_CARVE(carver, FemBoxes8, trees->packet8_count);
	trees->packet_tets = FEM_CARVE(carver, int32_t, 8 * (size_t)trees->packet_count);
	trees->outer_faces = FEM_CARVE(carver, uint8_t, trees->topology->batch_count * FEM_LANES);
	trees->faces = FEM_CARVE(carver, int32_t, trees->triangle_count);
	trees->group_nodes = FEM_CARVE(carver, int32_t, trees->group_node_count);
	trees->tree_neighbours = FEM_CARVE(carver, int32_t, trees->tree_neighbour_count);
}

static void count_all(Builder *b) {
	FemSurfaceTrees *sizes = b->trees;
	cut_trees(sizes->topology, sizes->trees);
	mark_outer_faces(sizes);
	list_tets_by_part(b);
	cut_groups(b);
	list_node_trees(b);
	sizes->tree_neighbour_count = list_tree_neighbours(b, b->node_mark);
	sizes->group_node_count = list_group_nodes(b, b->node_mark);
}

// The record stands at the front of its own block.
static FemSurfaceTrees *allocate(Builder *b) {
	FemCarver measure = {0};
	FemSurfaceTrees sizes = *b->trees;
	fem_carve(&measure, sizeof(FemSurfaceTrees));
	place(&sizes, &measure);
	sizes.bytes = measure.used;
	sizes.block = fem_alloc(sizes.bytes);
	if (!sizes.block)
		return NULL;
	FemCarver carver = {.base = sizes.block};
	FemSurfaceTrees *trees = fem_carve(&carver, sizeof(FemSurfaceTrees));
	*trees = sizes;
	place(trees, &carver);
	return trees;
}

// The old tree over the same faces in the same order; null for none.
static FemTriangleTree *take_old_tree(Builder *b, const FemSurfaceTree *tree) {
	int32_t count = tree->triangles.end - tree->triangles.begin;
	const int32_t *faces = b->trees->faces + tree->triangles.begin;
	for (int32_t i = 0; b->old && i < b->old->tree_count; i++) {
		FemSurfaceTree *other = &b->old->trees[i];
		const int32_t *old_faces = b->old->faces + other->triangles.begin;
		if (!other->tree || other->triangles.end - other->triangles.begin != count || old_faces[0] != faces[0] ||
			memcmp(old_faces, faces, sizeof *faces * (size_t)count) != 0)
			continue;
		FemTriangleTree *taken = other->tree;
		if (!fem_triangle_tree_rename(taken, b->trees->topology->triangles + 3 * (size_t)tree->triangles.begin))
			return NULL;
		other->tree = NULL;
		return taken;
	}
	return NULL;
}

static bool fill_tree(Builder *b, int32_t i) {
	FemSurfaceTrees *trees = b->trees;
	trees->trees[i].tree = take_old_tree(b, &trees->trees[i]);
	if (trees->trees[i].tree) {
		fem_surface_trees_refit_task(trees, fem_surface_trees_all(trees), i);
		return true;
	}
	trees->tree_builds++;
	return fem_surface_trees_rebuild(trees, i, b->rest);
}

static bool fill(Builder *b, FemSurfaceTrees *trees) {
	b->trees = trees;
	cut_trees(trees->topology, trees->trees);
	mark_outer_faces(trees);
	cut_groups(b);
	list_tree_neighbours(b, b->node_mark);
	list_group_nodes(b, b->node_mark);
	list_starts(trees);
	clear_boxes(trees->group_boxes, (trees->group_count + 7) / 8);
	clear_boxes(trees->packets, trees->packet_count);
	clear_boxes(trees->packets8, trees->packet8_count);
	fem_surface_trees_begin_refit(trees, trees->positions);
	for (int32_t i = 0; i < trees->tree_count; i++) {
		if (!fill_tree(b, i))
			return false;
	}
	FemTreeSpan all = fem_surface_trees_all(trees);
	for (int32_t task = trees->tree_count; task < fem_surface_trees_task_count(all); task++)
		fem_surface_trees_refit_task(trees, all, task);
	return true;
}

static FemSurfaceTrees *create(
	const FemTopology *topology, const FemVec4 *positions, const FemVec4 *rest, FemSurfaceTrees *old) {
	FemSurfaceTrees sizes = {.topology = topology,
		.positions = positions,
		.triangle_count = topology->triangle_count,
		.component_count = topology->component_count};
	sizes.tree_count = cut_trees(topology, NULL);
	Builder b = {.trees = &sizes, .old = old, .rest = rest};
	b.bytes = place_builder(&b, NULL);
	b.block = fem_alloc(b.bytes);
	if (!b.block)
		return NULL;
	place_builder(&b, b.block);
	count_all(&b);
	FemSurfaceTrees *trees = allocate(&b);
	if (trees && !fill(&b, trees)) {
		fem_surface_trees_free(trees);
		trees = NULL;
	}
	fem_free(b.block, b.bytes);
	return trees;
}

FemSurfaceTrees *fem_surface_trees_create(const FemTopology *topology, const FemVec4 *positions, const FemVec4 *rest) {
	return create(topology, positions, rest, NULL);
}

FemSurfaceTrees *fem_surface_trees_follow_split(
	FemSurfaceTrees *old, const FemTopology *topology, const FemVec4 *positions, const FemVec4 *rest) {
	FemSurfaceTrees *trees = create(topology, positions, rest, old);
	if (trees)
		fem_surface_trees_free(old);
	return trees;
}
