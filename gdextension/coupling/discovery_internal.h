// What the files of the discovery share.
#ifndef DISCOVERY_INTERNAL_H
#define DISCOVERY_INTERNAL_H

#include "coupling/rigid_records.h"

// Cells of the grid, open addressing.
typedef struct CellSet {
	uint64_t *keys; // 0: none
	int32_t count, capacity;
} CellSet;

typedef struct Discovery {
	GdRID query_shape;
	GDExtensionObjectPtr query; // PhysicsShapeQueryParameters3D
	CellSet cells;              // near destructibles
	bool has_stale_cells;
	bool has_large_bodies;    // that have too many cells to be in the set
	double low[3], high[3];   // m, the box around all that is near
	uint64_t newest_node;     // of those that were looked at
	int32_t look_at;          // the node that is looked at next
	uint32_t made_query_tick; // of the query's shape
	bool said_full;
} Discovery;

// ---- discovery_cells.c
void discovery_cells_update(Coupling *coupling);

// Whether a box, in m, reaches into a cell near a destructible. Numbers that are none are near nothing.
bool discovery_is_near(const Coupling *coupling, const double low[3], const double high[3]);

// ---- discovery_nodes.c
void discovery_nodes_start(Coupling *coupling);
void discovery_nodes_look(Coupling *coupling); // enters those that have come near
void discovery_nodes_free(Coupling *coupling);

// ---- discovery_queries.c
void discovery_enter_standing(Coupling *coupling); // destructibles whose meshes are being baked
void discovery_exclude_own(Coupling *coupling);    // these and our pieces are not asked for
void discovery_query_bodies(Coupling *coupling);   // asks around those whose time it is

#endif
