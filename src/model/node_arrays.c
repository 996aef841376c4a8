#include "model/node_arrays.h"

#include "topology/splitting.h"

#include <assert.h>
#include <string.h>

#define ARRAY(member, type, split) \
	.name = #member, .offset = offsetof(FemBody, member), .value = type, .at_split = split

// In the order of the node block and of snapshots.
const FemNodeArray fem_node_arrays[FEM_NODE_ARRAY_COUNT] = {
	{ARRAY(position, FEM_NODE_VECTOR, FEM_AT_SPLIT_SAME), .is_saved = true, .is_hashed = true},
	{ARRAY(velocity, FEM_NODE_VECTOR, FEM_AT_SPLIT_SAME), .is_saved = true, .is_hashed = true},
	{ARRAY(last_dv, FEM_NODE_VECTOR, FEM_AT_SPLIT_SAME), .is_saved = true, .is_hashed = true},
	{ARRAY(force, FEM_NODE_VECTOR, FEM_AT_SPLIT_SHARE), .is_saved = true, .is_hashed = true},
	{ARRAY(mass, FEM_NODE_FLOAT, FEM_AT_SPLIT_ANEW)},
	{ARRAY(mass_damping, FEM_NODE_FLOAT, FEM_AT_SPLIT_ANEW)},
	{ARRAY(node_kind, FEM_NODE_BYTE, FEM_AT_SPLIT_SAME), .is_saved = true, .is_hashed = true},
	{ARRAY(ground_force, FEM_NODE_FLOAT, FEM_AT_SPLIT_SHARE), .is_saved = true, .is_hashed = true},
	{ARRAY(published, FEM_NODE_VECTOR, FEM_AT_SPLIT_USER), .is_saved = true},
	{ARRAY(before.positions, FEM_NODE_VECTOR, FEM_AT_SPLIT_USER)},
	{ARRAY(good_velocity, FEM_NODE_VECTOR, FEM_AT_SPLIT_SAME), .is_saved = true},
	{ARRAY(shape, FEM_NODE_VECTOR, FEM_AT_SPLIT_SAME), .is_saved = true}, // hashed where it is in use
	{ARRAY(reaction, FEM_NODE_VECTOR, FEM_AT_SPLIT_SHARE), .is_saved = true, .is_optional = true},
};

// The pointers stand side by side in the record, but for that of FemShapeBefore: one that is added there and not to the
// list does not compile.
static_assert(
	offsetof(FemBody, published_count) - offsetof(FemBody, position) == (FEM_NODE_ARRAY_COUNT - 1) * sizeof(void *),
	"every array by node of FemBody has a row in fem_node_arrays");

size_t fem_node_value_bytes(FemNodeValue value) {
	return value == FEM_NODE_VECTOR ? sizeof(FemVec4) : value == FEM_NODE_FLOAT ? sizeof(float) : sizeof(uint8_t);
}

void *fem_node_array(const FemBody *body, const FemNodeArray *array) {
	void *values;
	memcpy(&values, (const char *)body + array->offset, sizeof values);
	return values;
}

int32_t fem_node_array_count(const FemBody *body, const FemNodeArray *array) {
	return array->at_split == FEM_AT_SPLIT_USER ? body->topology->user_node_count : body->topology->node_count;
}

void fem_node_arrays_place(FemBody *body, FemCarver *carver) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		if (array->is_optional)
			continue;
		void *values = fem_carve(carver, fem_node_value_bytes(array->value) * (size_t)body->topology->node_capacity);
		memcpy((char *)body + array->offset, &values, sizeof values);
	}
}

void fem_node_arrays_clear(FemBody *body) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		size_t bytes = fem_node_value_bytes(array->value) * (size_t)body->topology->node_count;
		if (!array->is_optional)
			memset(fem_node_array(body, array), 0, bytes);
	}
}

void fem_node_arrays_copy(FemBody *to, const FemBody *from) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		const void *values = fem_node_array(from, array);
		size_t bytes = fem_node_value_bytes(array->value) * (size_t)from->topology->node_count;
		if (values)
			memcpy(fem_node_array(to, array), values, bytes);
	}
}

// ---- splits

// Where a node's values are found among those of before: a copy's at its parent.
static int32_t source_of(const FemSplitState *split, int32_t node) {
	return split->parent[split->old_of_new[node]];
}

#define MOVE(type, split, count, from, to) \
	for (int32_t i_ = 0; i_ < (count); i_++) \
	((type *)(to))[i_] = ((const type *)(from))[source_of((split), i_)]

static void move(const FemTopology *t, FemNodeValue value, void *values, void *moved) {
	switch (value) {
	case FEM_NODE_VECTOR: MOVE(FemVec4, t->split, t->node_count, values, moved); break;
	case FEM_NODE_FLOAT: MOVE(float, t->split, t->node_count, values, moved); break;
	case FEM_NODE_BYTE: MOVE(uint8_t, t->split, t->node_count, values, moved); break;
	}
	memcpy(values, moved, fem_node_value_bytes(value) * (size_t)t->node_count);
}

void fem_node_arrays_follow_split(FemBody *body, FemVec4 *scratch) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		void *values = fem_node_array(body, array);
		if (values && array->at_split != FEM_AT_SPLIT_USER)
			move(body->topology, array->value, values, scratch);
	}
}

void fem_node_arrays_share(FemBody *body, int32_t node, float share) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		void *values = fem_node_array(body, array);
		if (!values || array->at_split != FEM_AT_SPLIT_SHARE)
			continue;
		float *first = (float *)values + (array->value == FEM_NODE_VECTOR ? 4 * (size_t)node : (size_t)node);
		for (int k = 0; k < (array->value == FEM_NODE_VECTOR ? 3 : 1); k++)
			first[k] *= share;
	}
}
