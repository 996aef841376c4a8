// What contact, rays and box queries ask of a body's shape: Opcode trees over its outer triangles and boxes of its
// tets.
//
// Trees. One per METIS part (a triangle belongs to the part of its lowest node, and triangles are numbered in that
// order, so a tree is a range of triangles); parts with few triangles share a tree with the next part of their
// component, so that a tree has at least FEM_TREE_TRIANGLES where the component has them. Refitted whenever nodes
// moved.
// Tet groups. The tets of a part (by lowest node), with a box each and boxes of every 8, side by side for SIMD; outer
// tets first, those behind a triangle, then inner ones. A group's own box is kept up to date with the trees; the boxes
// inside it are made only when somebody asks, since most of a body touches nothing.
// Cones. What the normals of a tree's triangles have in common; made when somebody asks, for self-contact: a patch
// whose normals all lie in one half space cannot cross itself (Volino & Magnenat-Thalmann 1994; their condition on the
// patch's outline is taken as given, since trees are small and compact).
//
// Positions are relative to the body's origin. Trees and groups may be read by many threads at once.
#ifndef FEM_COLLISION_SURFACE_TREES_H
#define FEM_COLLISION_SURFACE_TREES_H

#include "base/assert.h"
#include "base/range.h"
#include "base/vec.h"
#include "collision/lanes4.h"
#include "collision/opcode_bridge.h"
#include "fem_constants.h"
#include "topology/topology.h"

// Most of a tree: small enough that a split rebuilds little (some 20 us), large enough to be worth a tree; chosen.
#define FEM_TREE_TRIANGLES 32

typedef struct FemSurfaceTree {
	FemTriangleTree *tree;
	FemRange triangles;
	int32_t component;
	FemRange neighbours; // into tree_neighbours: trees with a node in common, itself not, ascending
	Box4 box;            // m
	Float4 cone_axis;    // unit; w: cosine of the largest angle to a normal, -1 for no cone
} FemSurfaceTree;

typedef struct FemTetGroup {
	FemRange tets;                       // of a list by part, while trees are made
	FemRange nodes;                      // into group_nodes: all nodes of its tets
	int32_t packet;                      // its first in `packets`: 8 tets each
	int32_t packet8;                     // its first in `packets8`: 8 packets each
	int32_t outer_packets, packet_count; // packets of outer tets come first
	int32_t component;
	bool filled; // its tet boxes were made for where it is
} FemTetGroup;

typedef struct FemSurfaceTrees {
	const FemTopology *topology;
	const FemVec4 *positions; // of the last refit; the caller's
	FemSurfaceTree *trees;
	int32_t tree_count;
	int32_t component_count;           // of the topology when they were made
	int32_t *tree_start, *group_start; // [component + 1]: trees and groups stand component by component
	FemTetGroup *groups;
	int32_t group_count, packet_count, packet8_count, group_node_count;
	FemBoxes8 *group_boxes; // [group / 8]
	FemBoxes8 *packets;     // tet boxes
	FemBoxes8 *packets8;    // boxes of packets
	int32_t *packet_tets;   // [packet * 8]: -1 padding
	uint8_t *outer_faces;   // [tet]: bit v for an outer face opposite local node v
	int32_t *faces;         // [triangle]: tet * 4 + opposite local node, which numbers of nodes do not change
	int32_t triangle_count, tree_builds; // Opcode builds that making them took
	int32_t *group_nodes;
	int32_t *tree_neighbours;
	int32_t tree_neighbour_count;
	void *block;
	size_t bytes;
} FemSurfaceTrees;

// Null when memory fails. `positions` may be given anew with every refit; the topology must stay. `rest` is where nodes
// are in the shape by which triangles are sorted into trees, and is needed no longer than the call. When it is the same
// for the same topology, so are the trees, and the last bits of their boxes, whenever they are made.
FEM_MUST_USE FemSurfaceTrees *fem_surface_trees_create(
	const FemTopology *topology, const FemVec4 *positions, const FemVec4 *rest);

// New trees after the topology was split: takes over the Opcode trees of `old` whose faces are what they were. `old` is
// freed; it stays, and null is returned, when memory fails.
FemSurfaceTrees *fem_surface_trees_follow_split(
	FemSurfaceTrees *old, const FemTopology *topology, const FemVec4 *positions, const FemVec4 *rest);
void fem_surface_trees_free(FemSurfaceTrees *trees);

// The trees and groups of consecutive components.
typedef struct FemTreeSpan {
	FemRange trees, groups;
} FemTreeSpan;

FemTreeSpan fem_surface_trees_all(const FemSurfaceTrees *trees);
FemTreeSpan fem_surface_trees_component(const FemSurfaceTrees *trees, int32_t component); // empty when there is no such

// Nodes moved: say where they are, then run every task of 0..task_count of the spans that did, on any threads.
// Allocates nothing.
void fem_surface_trees_begin_refit(FemSurfaceTrees *trees, const FemVec4 *positions);
int32_t fem_surface_trees_task_count(FemTreeSpan span);
void fem_surface_trees_refit_task(FemSurfaceTrees *trees, FemTreeSpan span, int32_t task);
void fem_surface_trees_refit(FemSurfaceTrees *trees, const FemVec4 *positions, FemTreeSpan span); // all of it, here

// Builds one tree anew, sorted by where nodes are in `shape`, for the positions of the last refit. Allocates. False,
// and the old tree stays, when memory fails.
FEM_MUST_USE bool fem_surface_trees_rebuild(FemSurfaceTrees *trees, int32_t tree, const FemVec4 *shape);

// Box of a span of the body, relative to its origin, m.
void fem_surface_trees_box(const FemSurfaceTrees *trees, FemTreeSpan span, float out_min[3], float out_max[3]);

// The boxes of a group's tets, for the positions of the last refit. Claim is true, once, when they have still to be
// made: one thread claims what is needed, then any threads fill one group each.
bool fem_surface_trees_claim_group(FemSurfaceTrees *trees, int32_t group);
void fem_surface_trees_fill_group(FemSurfaceTrees *trees, int32_t group);

// For the positions of the last refit. One thread a tree.
void fem_surface_trees_make_cone(FemSurfaceTrees *trees, int32_t tree);

// Surface triangles whose box meets the given one, in tree order; the tet behind each is topology->triangle_tets[].
// Returns how many there are and writes at most `capacity`.
int32_t fem_surface_trees_query_box(const FemSurfaceTrees *trees, FemTreeSpan span, const float min[3],
	const float max[3], int32_t *out_triangles, int32_t capacity);

static inline Float4 fem_node_point(const FemSurfaceTrees *trees, int32_t node) {
	return load4(&trees->positions[node]);
}

static inline void fem_triangle_points(const FemSurfaceTrees *trees, int32_t triangle, Float4 out[3]) {
	const int32_t *nodes = trees->topology->triangles + 3 * (size_t)triangle;
	for (int i = 0; i < 3; i++)
		out[i] = fem_node_point(trees, nodes[i]);
}

static inline void fem_tet_points(const FemSurfaceTrees *trees, int32_t tet, Float4 out[4]) {
	const int32_t *nodes = trees->topology->batch_nodes + (tet / FEM_LANES * 4) * FEM_LANES + tet % FEM_LANES;
	for (int i = 0; i < 4; i++)
		out[i] = fem_node_point(trees, nodes[i * FEM_LANES]);
}

#endif
