// The arrays that a body has by node, listed once: laying them out, clearing, copying, following a split, saving and
// hashing go through this list.
#ifndef FEM_MODEL_NODE_ARRAYS_H
#define FEM_MODEL_NODE_ARRAYS_H

#include "base/carve.h"
#include "model/body.h"

typedef enum FemNodeValue {
	FEM_NODE_VECTOR = 1, // FemVec4
	FEM_NODE_FLOAT,
	FEM_NODE_BYTE, // uint8_t
} FemNodeValue;

// What a node that a split made gets of the node that it is a copy of.
typedef enum FemAtSplit {
	FEM_AT_SPLIT_SAME = 1,
	FEM_AT_SPLIT_SHARE, // by mass, as the node itself: forces
	FEM_AT_SPLIT_ANEW,  // computed from the tets that each of them has then
	FEM_AT_SPLIT_USER,  // by users' numbers, which stay: publishing sees to it
} FemAtSplit;

typedef struct FemNodeArray {
	const char *name;
	size_t offset; // of the pointer in FemBody
	FemNodeValue value;
	FemAtSplit at_split;
	bool is_saved;    // in snapshots
	bool is_hashed;   // part of the state that fem_world_hash() tells apart
	bool is_optional; // allocated by itself, where a body needs it; else part of the body's node block
} FemNodeArray;

#define FEM_NODE_ARRAY_COUNT 13 // entries of the list below

extern const FemNodeArray fem_node_arrays[FEM_NODE_ARRAY_COUNT];

size_t fem_node_value_bytes(FemNodeValue value);

// Null: an optional one that the body does not have.
void *fem_node_array(const FemBody *body, const FemNodeArray *array);

// How many values it has: by users' numbers there may be more than nodes.
int32_t fem_node_array_count(const FemBody *body, const FemNodeArray *array);

void fem_node_arrays_place(
	FemBody *body, FemCarver *carver);     // for topology->node_capacity nodes; not the optional ones
void fem_node_arrays_clear(FemBody *body); // the same; 0 for all nodes that there are

// Copies the values of all nodes into arrays that have room for them.
void fem_node_arrays_copy(FemBody *to, const FemBody *from);

// After a split: every node gets the values of the one that it was or is a copy of. scratch: [node].
void fem_node_arrays_follow_split(FemBody *body, FemVec4 *scratch);

// The node has this share of the mass that it had before the split.
void fem_node_arrays_share(FemBody *body, int32_t node, float share);

#endif
