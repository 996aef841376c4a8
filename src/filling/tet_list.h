// A growing list of nodes and tets, what is known of its quality, and its connected bodies.
#ifndef FEM_FILLING_TET_LIST_H
#define FEM_FILLING_TET_LIST_H

#include "base/assert.h"
#include "base/vec.h"

#define FEM_STRAIGHT_ANGLE 180.0 // degrees: no dihedral angle is larger

typedef struct FemTetList {
	int32_t node_count, tet_count, node_capacity, tet_capacity;
	FemVec3d *nodes;
	int32_t (*tets)[4];
	bool failed; // memory ran out: what was added since is missing
} FemTetList;

int32_t fem_tet_list_add_node(FemTetList *list, FemVec3d position); // its index
// Turned to positive volume; a tet that names a node twice or has no volume at all is left out.
void fem_tet_list_add_tet(FemTetList *list, int32_t a, int32_t b, int32_t c, int32_t d);
// A cell of five tets. Corners are numbered by a bit for each axis; the middle tet has those with an even number of
// bits, or with an odd one, and neighbours must take turns so that their faces have the same diagonals.
#define FEM_CUBE_TETS 5
void fem_tet_list_add_cube(FemTetList *list, const int32_t nodes[8], bool odd);
void fem_tet_list_clear(FemTetList *list); // keeps the memory
void fem_tet_list_free(FemTetList *list);

double fem_tet_list_volume(const FemTetList *list, int32_t tet);
double fem_tet_list_volume_sum(const FemTetList *list);

// The smallest and largest angle (degrees) between two faces of a tet.
void fem_tet_dihedral_range(const FemVec3d corners[4], double *out_min, double *out_max);
double fem_tet_list_min_dihedral(const FemTetList *list);

// Bodies of tets joined by faces: out_bodies[tet], numbered by their first tet; returns their number, 0 without memory.
int32_t fem_tet_list_bodies(const FemTetList *list, int32_t *out_bodies);

// Keeps the tets of one body and the nodes they use. False without memory.
FEM_MUST_USE bool fem_tet_list_keep(FemTetList *list, const int32_t *bodies, int32_t body);

#endif
