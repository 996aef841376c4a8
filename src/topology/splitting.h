// A topology that can come apart: nodes are copied, faces opened, pieces removed; tets stay where they are.
//
// One body's own copy of its mesh's topology, with room for the most nodes the body can come to, reserved up front: a
// piece of k >= 3 tets that hang together by faces has at most k + 3 <= 2 k nodes, 3 k + 3 <= 4 k edges and
// 2 k + 2 <= 3 k outer faces.
//
// A split goes in two halves. First faces are cut and nodes copied (fem_split_cut, fem_split_regroup), one after the
// other: the tets name the copies, everything derived is stale. Then fem_split_rebuild() numbers nodes, parts and
// components anew and derives the rest, in time linear in the body with a small constant: everything that works on
// topologies works on the result as on any other.
#ifndef FEM_TOPOLOGY_SPLITTING_H
#define FEM_TOPOLOGY_SPLITTING_H

#include "base/assert.h"
#include "base/range.h"
#include "fem_constants.h"
#include "topology/topology.h"

typedef struct FemSplitState {
	int32_t *source_of_user; // [user node]: the mesh's node it came from

	void *work; // all below, from fem_split_open() to fem_split_end()
	size_t work_bytes;

	// ---- between the first cut and the rebuild. Nodes are those of before, then copies in the order of their making.
	int32_t node_count;
	int32_t *parent;     // [node]: what it is a copy of; itself for nodes of before
	FemRange *star;      // [node]: into node_tets
	uint8_t *changed;    // [node]: its star is not what it was; masses and neighbours must be made anew
	uint8_t *removed;    // [component of before]
	uint8_t *leaves;     // [node]: all its tets leave
	uint8_t *tet_leaves; // [batch * 8 + lane]
	bool is_open;        // a split is under way
	bool is_shuffled;    // stars are not in the order of tets

	// ---- what the last rebuild did
	int32_t *old_of_new;       // [node]: numbers between cut and rebuild
	int32_t *new_of_old;       // -1: removed
	int32_t *component_source; // [component]: its number before, when nothing in it changed; else -1
	int32_t *component_parent; // [component]: that of before which it was part of
	int32_t *part_source;      // [part]: that of before, of its first node
	int32_t *part_of_old;      // [node of between]: its part before the rebuild (copies: their parent's)
	int32_t old_component_count, old_part_count, old_node_count, old_tet_count;

	// ---- scratch of the rebuild
	int32_t *root;              // [node]: union-find, then component
	int32_t *order;             // [node]
	int32_t *cursor;            // [the longest list + 1]
	int32_t *columns;           // [edge * 2]
	int32_t *component_of_root; // [node]
	int32_t *old_part_component;
} FemSplitState;

// A copy that can be split. Null when memory fails.
FEM_MUST_USE FemTopology *fem_topology_create_splittable(const FemTopology *topology);

// Opens the face `face` (tet * 4 + local) and its twin across; or closes it again.
void fem_split_cut(FemTopology *topology, int32_t face, int32_t across);
void fem_split_mend(FemTopology *topology, int32_t face, int32_t across);

// Begins a split when none is under way. False when memory fails.
FEM_MUST_USE bool fem_split_open(FemTopology *topology);

// Gives up what tells of the last split, once all that follows from it has been done.
void fem_split_end(FemTopology *topology);

// Ends one in which nothing was cut or removed.
void fem_split_close(FemTopology *topology);

// The tets around a node that hang together by faces at the node stay one node, each further group becomes a copy. This
// also separates hinges and ball joints (docs/method.md, "Splitting"). Returns the number of copies made, which are the
// last nodes; -1, and nothing is done, when there is no room (only meshes whose tets hang together by edges and corners
// need more).
int32_t fem_split_regroup(FemTopology *topology, int32_t node);

// Moves the tets that hang together with the first of `rest` (tet * 4 + local, all around one node) by faces at the
// node to the front of it; returns how many.
int32_t fem_split_gather(const FemTopology *topology, int32_t *rest, int32_t count);

// All tets and nodes of a component leave with the next rebuild. The split is open.
void fem_split_remove_component(FemTopology *topology, int32_t component);

// Single tets leave with the next rebuild; their nodes part from those of what stays, which keeps its numbers. The
// caller has cut the faces between, and what stays hangs together by faces in three tets at least. The split is open,
// and there is room.
void fem_split_remove_tets(FemTopology *topology, const int32_t *tets, int32_t count);
int32_t fem_split_removable(const FemTopology *topology); // how many there is room for, wherever they are

// Numbers and derives everything anew. False when a table is too short for its new contents, which the bounds above
// rule out: the topology then has its nodes, tets and pieces, but no edges and no outer faces, and may be read.
FEM_MUST_USE bool fem_split_rebuild(FemTopology *topology);

// For a state that was read: breaks a whole topology all at once. The caller has put into batch_nodes and neighbours
// what they are to be, with copies numbered from node_count on, and taken out tets (fem_split_remove_tet). parents: the
// node of each copy. components: of each node and copy, -1 for those of removed pieces; all numbers up to
// component_count are there. False, and the topology is of no more use, when there is no room or the tables do not fit.
FEM_MUST_USE bool fem_split_restore(FemTopology *topology, const int32_t *parents, int32_t copy_count,
	const int32_t *components, int32_t component_count);
void fem_split_remove_tet(FemTopology *topology, int32_t tet); // the faces across are the caller's

// Derives rows, edges, references and outer faces from batch_nodes, parts and neighbours: within a split, and for a
// topology that was read. False when they do not fit, which only nonsense can cause, or memory fails.
FEM_MUST_USE bool fem_split_refill(FemTopology *topology);
FEM_MUST_USE bool fem_split_read(FemTopology *topology);

// The last step of it: the outer faces alone, in an order that every split keeps.
FEM_MUST_USE bool fem_split_fill_triangles(FemTopology *topology);

static inline int32_t *fem_tet_node_place(FemTopology *topology, int32_t tet, int32_t local) {
	FEM_ASSERT(tet >= 0 && tet < topology->batch_count * FEM_LANES && local >= 0 && local < 4);
	return &topology->batch_nodes[(tet / FEM_LANES * 4 + local) * FEM_LANES + tet % FEM_LANES];
}

#endif
