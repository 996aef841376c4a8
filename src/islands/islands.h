// Which parts of which bodies are live, and how they hang together. Islands persist until a part changes its state.
#ifndef FEM_ISLANDS_H
#define FEM_ISLANDS_H

#include "base/assert.h"
#include "model/body.h"
#include "model/island.h"

// A sleeping node beside a live one. All tets around it are computed, so that the net force on it is known.
typedef struct FemBorderNode {
	int32_t body;
	int32_t node;
} FemBorderNode;

typedef struct FemIslands {
	FemIsland *islands;
	int32_t count, capacity;
	int32_t *part_list; // parts of the islands, island by island
	int32_t part_count, part_capacity;
	FemNodeChunk *node_chunks;
	int32_t node_chunk_count, node_chunk_capacity;
	FemBatchChunk *batch_chunks;
	int32_t batch_chunk_count, batch_chunk_capacity;
	FemBorderNode *borders; // in body and node order
	int32_t border_count, border_capacity;
	int32_t *part_mark, *part_scratch; // [part], of one body
	uint8_t *node_mark;                // [node], of one body
	int32_t part_mark_capacity, part_scratch_capacity, node_mark_capacity;
	int32_t *active_bodies; // with a live part, or kinematic: all others cost nothing
	int32_t active_count, active_capacity;
	int32_t live_nodes, live_tets, asleep_count;
	uint32_t version; // counts how often the lists were made anew
	bool rebuilt;     // the lists were made anew since the last publishing: any body may have changed its state
	bool dirty;       // a part changed its state, or a body came or went: rebuild before the next step
} FemIslands;

void fem_islands_free(FemIslands *islands);
void fem_islands_clear(FemIslands *islands); // lists nothing until the next update, which makes all anew

// Rebuilds the list of live islands when dirty: breadth first over adjacent live parts, in body and part order. The
// lists grow when more is live than ever before. False when memory fails: nothing is listed then, and nothing moves
// until the next call.
FEM_MUST_USE bool fem_islands_update(FemIslands *islands, FemBody *const *bodies, int32_t body_capacity);

// The islands of one body as its parts stand now, live and asleep; of a kinematic body its components. Those of a
// partly live body for which memory fails are counted as one a component.
int32_t fem_body_count_islands(FemIslands *islands, const FemBody *body);

// Part states. Waking is local: the rest of the body wakes when the forces at its border say so.
void fem_body_wake_part(FemIslands *islands, FemBody *body, int32_t part);
void fem_body_wake_component(FemIslands *islands, FemBody *body, int32_t component);
void fem_body_wake_all(FemIslands *islands, FemBody *body);
void fem_body_sleep_component(FemIslands *islands, FemBody *body, int32_t component);
void fem_body_sleep_all(FemIslands *islands, FemBody *body);

typedef struct FemSleepRules {
	bool enabled;
	float speed; // m/s
	int32_t steps;
	float wake_force; // m/s^2: a net force above this times the node's mass wakes a sleeping part
	float friction;   // Coulomb coefficient of the ground
} FemSleepRules;

#endif
