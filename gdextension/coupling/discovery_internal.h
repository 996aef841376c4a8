// What the files of the discovery share.
#ifndef DISCOVERY_INTERNAL_H
#define DISCOVERY_INTERNAL_H

#include "coupling/rigid_records.h"

#define DISCOVERY_CELL 16.0         // m, side of a cell of the grid; chosen: a room
#define DISCOVERY_CELL_MARGIN 6.0   // m, by which a cell's box is larger on each side
enum { DISCOVERY_CELLS_MAX = 256 }; // beyond, destructibles share larger boxes

typedef struct Cell {
	int32_t x, y, z;
} Cell;

typedef struct Discovery {
	GdRID area, cell_shape, query_shape;
	GDExtensionObjectPtr query; // PhysicsShapeQueryParameters3D
	Cell cells[DISCOVERY_CELLS_MAX];
	int32_t cell_count;
	uint32_t made_tick;       // of the area
	uint32_t made_query_tick; // of the query's shape
	bool said_full;
} Discovery;

// False when the body is nowhere.
bool discovery_body_box(const SimulationBody *body, FemPosition *low, FemPosition *high);

// ---- discovery_area.c
void discovery_area_start(Coupling *coupling);
void discovery_area_update(Coupling *coupling); // covers the cells in which destructibles are
void discovery_area_free(Coupling *coupling);

// ---- discovery_queries.c
void discovery_query_body(Coupling *coupling, SimulationBody *body); // asks around it, if it is time
void discovery_enter_standing(Coupling *coupling);                   // destructibles whose meshes are being baked
void discovery_exclude_own(Coupling *coupling);                      // these and our pieces are not asked for

#endif
