// Triangle meshes as a modelling program would hand them in, for tests of the tetrahedralizer.
#ifndef FEM_SCENES_SURFACE_MESHES_H
#define FEM_SCENES_SURFACE_MESHES_H

#include "geometry/triangle_soup.h"

typedef struct FemSurfaceMesh {
	int32_t vertex_count, triangle_count, vertex_capacity, triangle_capacity;
	FemVec3 *vertices;
	int32_t (*triangles)[3];
	double volume; // m^3, of the body meant; 0 = none
} FemSurfaceMesh;

FemSoup fem_surface_soup(const FemSurfaceMesh *mesh);
void fem_surface_mesh_free(FemSurfaceMesh *mesh);

FemSurfaceMesh fem_surface_box(FemVec3 size, int32_t cells); // cells a side; centred
FemSurfaceMesh fem_surface_sphere(double radius, int32_t rings);
FemSurfaceMesh fem_surface_torus(double ring_radius, double tube_radius, int32_t ring_steps, int32_t tube_steps);
FemSurfaceMesh fem_surface_bowl(
	double radius, double wall, int32_t steps); // half of a hollow sphere, closed at the rim
FemSurfaceMesh fem_surface_shell(double radius, double wall, int32_t rings); // a whole hollow sphere
FemSurfaceMesh fem_surface_vase(double height, double wall, int32_t steps);  // open at the top, volume not set
// A closed profile of points (r, y), counter-clockwise seen with r to the right, from the axis to the axis, turned
// about y.
FemSurfaceMesh fem_surface_revolved(double (*profile)[2], int32_t count, int32_t steps);
FemSurfaceMesh fem_surface_tube(double radius, double wall, double length, int32_t steps); // along y, open at both ends
FemSurfaceMesh fem_surface_sharp_bowl(double radius, double wall, int32_t steps);          // its wall ends in an edge
FemSurfaceMesh fem_surface_hollow_box(FemVec3 size, double wall, int32_t rooms);  // rooms in a row along x; closed
FemSurfaceMesh fem_surface_window_wall(FemVec3 size, double hole);                // a hole of that share of its sides
FemSurfaceMesh fem_surface_cylinder(double radius, double length, int32_t steps); // along x
FemSurfaceMesh fem_surface_moebius(double radius, double width, int32_t steps);
FemSurfaceMesh fem_surface_nested_boxes(double outer, double inner, bool cavity);
FemSurfaceMesh fem_surface_bracket(double length, double wall); // an L of two plates, one piece
FemSurfaceMesh fem_surface_arc(
	double radius, double wall, double width, double angle, int32_t steps); // of a ring, from x to y
// The closed surface of boxes {x, y, z, size x, size y, size z} (m, lowest corner first) that overlap or touch: boards
// of a shelf, walls of rooms.
FemSurfaceMesh fem_surface_boards(const double (*boxes)[6], int32_t count);
FemSurfaceMesh fem_surface_random_soup(int32_t triangles, uint32_t seed);

// In place: every triangle gets its own vertices; every n-th triangle is turned round or left out; all are moved.
void fem_surface_unweld(FemSurfaceMesh *mesh);
void fem_surface_flip(FemSurfaceMesh *mesh, int32_t every);
void fem_surface_remove(FemSurfaceMesh *mesh, int32_t every);
void fem_surface_transform(FemSurfaceMesh *mesh, FemQuat rotation, double scale, FemVec3d move);
void fem_surface_append(FemSurfaceMesh *mesh, const FemSurfaceMesh *other);

#endif
