// Which cells make a splinter: those of one label that hang together within the mesh; and the polygons of a splinter in
// one triangle of the outside, taken together.
#ifndef FEM_CUTTING_CUT_SPLINTERS_H
#define FEM_CUTTING_CUT_SPLINTERS_H

#include "base/assert.h"
#include "cutting/cut_output.h"

typedef struct FemCutSplinters {
	FemKeyMap map;    // of vertices by solid and label
	int32_t *parents; // [number in map], union-find; afterwards the splinter
	int32_t parent_count, parent_capacity;
	int32_t splinter_count;
} FemCutSplinters;

FEM_MUST_USE bool fem_cut_splinters_create(FemCutSplinters *splinters, const FemCutSource *source);
void fem_cut_splinters_free(FemCutSplinters *splinters);

// solid: 0 the outside, 1 the inside where that is another one. -1 without memory.
int32_t fem_cut_splinter_of(FemCutSplinters *splinters, int32_t solid, int32_t label, int32_t vertex);
int32_t fem_cut_polygon_label(const FemCutSource *source, int32_t polygon);

typedef struct FemCutGroup {
	int32_t polygon; // one of them
	int32_t count;   // vertices, loop by loop
	const int32_t *vertices, *loop_ends;
	int32_t loop_count;
	bool is_concave; // or may be
} FemCutGroup;

typedef struct FemCutGroups {
	const FemCutSource *source;
	FemCutSplinters *splinters;
	int32_t at, end;                           // polygons of the triangle at hand
	uint8_t *is_told;                          // [polygon]
	int32_t *edges, edge_count, edge_capacity; // from, to; both -1 where they cancelled
	int32_t *vertices, vertex_count, vertex_capacity;
	int32_t *loop_ends, loop_count, loop_capacity;
	bool failed;
} FemCutGroups;

FEM_MUST_USE bool fem_cut_groups_begin(FemCutGroups *groups, const FemCutSource *source, FemCutSplinters *splinters);
FEM_MUST_USE bool fem_cut_groups_next(FemCutGroups *groups, FemCutGroup *out); // valid until the next call
void fem_cut_groups_end(FemCutGroups *groups);

#endif
