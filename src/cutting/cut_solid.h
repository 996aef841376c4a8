// A closed mesh cut by the cells of a diagram, as a boundary representation: the outside as polygons within one
// triangle and one cell each, the inside as faces between two cells. Polygons and faces share their vertices and edges
// by number, and a face is made once for both of its sides: what is cut fits together by construction.
#ifndef FEM_CUTTING_CUT_SOLID_H
#define FEM_CUT_OUTSIDE_SHARE 0.4f // of the whole work: cutting the outer triangles, for progress bars; roughly
#define FEM_CUT_INSIDE_SHARE 0.4f  // the same: making the borders between cells
#define FEM_CUTTING_CUT_SOLID_H

#include "base/key_map.h"
#include "cutting/cut_diagram.h"
#include "fem_baking.h"
#include "geometry/loop_mesh.h"
#include "geometry/winding.h"

typedef enum FemCutVertexKind {
	FEM_CUT_MESH_VERTEX = 0, // key: vertex
	FEM_CUT_ON_EDGE,         // key: lower and higher vertex, two cells; weights[0]: share of the edge
	FEM_CUT_ON_TRIANGLE,     // key: triangle, three cells; weights of its corners
	FEM_CUT_CORNER,          // key: four cells
	FEM_CUT_ADDED_OUTSIDE,   // between two others of one triangle; key: triangle, both, which; weights
	FEM_CUT_ADDED_INSIDE,    // between two others, or within a face
} FemCutVertexKind;

typedef struct FemCutVertex {
	FemVec3d at; // unit space
	int32_t kind, key[4];
	double weights[3];
} FemCutVertex;

typedef struct FemCutPolygon {
	int32_t triangle, cell, first, count; // in corners and sides
} FemCutPolygon;

typedef struct FemCutFace {
	int32_t cells[2];                       // seen counter-clockwise from the second
	int32_t first_triangle, triangle_count; // in face_triangles
	int32_t first_coarse, coarse_count;     // the same without added vertices, in the same array
} FemCutFace;

typedef struct FemCutSegment {
	int32_t triangle, from, to; // in the sense of the face's loops
	int32_t next_plus_1;
} FemCutSegment;

// Roughness of what is cut: added vertices are moved by smooth noise, most in the middle between given ones.
typedef struct FemCutNoise {
	double spacing;   // unit space; 0 = none is added
	double amplitude; // unit space, of faces
	double outline;   // unit space, of the lines that cuts leave on the outside
	double scale;     // unit space: wave length
	uint64_t seed;
} FemCutNoise;

struct FemCutShells;

typedef struct FemCutSolid {
	// given
	const FemCutDiagram *diagram;
	FemCutNoise noise;
	int32_t mesh_vertex_count, triangle_count;
	const FemVec3d *places;            // [mesh vertex], unit space
	const FemCutPoint *points;         // [mesh vertex]
	const int32_t (*triangles)[3];     // welded, oriented
	const FemWinding *winding;         // of the mesh, in unit space
	const struct FemCutShells *shells; // faces are made for each by itself; null: for all together
	bool counts_windings;  // of a mesh that crosses itself: a face is made as often as the mesh goes round its place
	FemProgress *progress; // may be null
	void *progress_context;
	// made
	FemCutVertex *vertices;
	int32_t vertex_count, vertex_capacity;
	FemKeyMap map; // of vertices by kind and key
	FemCutPolygon *polygons;
	int32_t polygon_count, polygon_capacity;
	int32_t *corners, *sides; // of polygons: vertices, and what lies beyond the edge behind each: a cell, or -1 - edge
	int32_t corner_count, corner_capacity, side_capacity;
	FemCutSegment *segments;
	int32_t segment_count, segment_capacity;
	int32_t *face_segments;     // [neighbour of a cell]: first segment + 1
	int32_t face_segment_count; // the diagram may be another by the time it is freed
	FemCutFace *faces;
	int32_t face_count, face_capacity;
	int32_t (*face_triangles)[3];
	int32_t face_triangle_count, face_triangle_capacity;
	bool failed, is_stopped; // memory ran out; progress said so
	const char *fault;       // why faces cannot be closed, or null
} FemCutSolid;

// The polygons of all triangles. Any soup will do.
void fem_cut_solid_outside(FemCutSolid *solid);
// The faces between cells of different splinters. The mesh must be closed: as many half-edges in one direction as in
// the other.
void fem_cut_solid_inside(FemCutSolid *solid);
void fem_cut_solid_free(FemCutSolid *solid);

// The number of a vertex by kind and key; made when there is none, with *out_is_new set. -1 without memory.
int32_t fem_cut_vertex(FemCutSolid *solid, int32_t kind, const int32_t key[4], bool *out_is_new);

// The vertices added between two others along a cut, from `from` to `to`; returns how many. triangle: that both lie on,
// or -1 within the solid. cells: two or three that meet there; noise stays small beside them.
#define FEM_CUT_ADDED_MAX 16 // vertices that roughness adds along a cut edge; chosen by eye
int32_t fem_cut_added(FemCutSolid *solid, int32_t triangle, int32_t from, int32_t to, const int32_t cells[3],
	int32_t out[FEM_CUT_ADDED_MAX]);

// How far noise may move a vertex between cells (the last may be -1), at most `wanted`.
double fem_cut_noise_limit(const FemCutSolid *solid, const int32_t cells[3], double wanted);

// Weights of a triangle's corners at a vertex that lies on it.
void fem_cut_weights_on(const FemCutSolid *solid, int32_t triangle, int32_t vertex, double out[3]);

// The same by its distance to the outside, where splinters may be thin.
double fem_cut_noise_depth(const FemCutSolid *solid, FemVec3d at, double wanted);

// Smooth noise, -1..1.
double fem_cut_noise(const FemCutNoise *noise, FemVec3d at, uint64_t channel);

#endif
