// The rest shape of a body: nodes, tets, and the outer faces that are drawn.
#ifndef BODY_SHAPE_H
#define BODY_SHAPE_H

#include "fem_destruction.h"

enum { BODY_SHAPE_MAX_CELLS = 20000 }; // of one body; 100,000 tets

typedef struct BodyShape {
	int32_t node_count;
	FemVec3 *positions; // m, in the node's own space
	int32_t tet_count;
	int32_t *tets;     // 4 nodes each, positive volume
	float *tet_plates; // FemMeshDef.tet_plates of boards and bars in one layer of cells; null of others
	FemVec3 stretch;   // FemMeshDef.stretch
	int32_t triangle_count;
	int32_t *triangles;      // 3 nodes each, counter-clockwise seen from outside
	int32_t *triangle_tets;  // the tet behind each triangle
	uint8_t *triangle_sides; // smoothing group: normals are shared within one side only; 0..5
} BodyShape;

// Counts without making the shape.
int32_t body_shape_box_nodes(const int32_t cells[3]);
int32_t body_shape_box_tets(const int32_t cells[3]);

// A box around the origin, cut into cells of 5 tets, which act as cells of a plate where one layer of them bends under
// the node's scale, of which `stretch` is a multiple. False when memory is short or the arguments make no shape.
bool body_shape_make_box(BodyShape *shape, FemVec3 size, const int32_t cells[3], FemVec3 stretch);
void body_shape_free(BodyShape *shape);

#endif
