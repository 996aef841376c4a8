// A baked mesh with its splinters that falls on a floor and is struck there by a ball.
#ifndef FEM_MESH_DROP_RIG_H
#define FEM_MESH_DROP_RIG_H

#include "fem_baking.h"
#include "fem_destruction.h"

typedef struct FemMeshDrop {
	const FemBakedMesh *mesh;
	FemMaterialDef material;
	float size;       // m, of the longest side of its box; it falls from as high
	float ball_speed; // m/s
	float ball_share; // of its mass
	double seconds;   // after the blow
} FemMeshDrop;

typedef struct FemMeshDropResult {
	int32_t pieces;                 // at the end
	int32_t drawn_pieces;           // of these, those that some vertex of a splinter follows
	int32_t bare_pieces;            // of these, those that the engine says no splinter shows
	int32_t torn_triangles;         // of splinters, whose corners follow different pieces
	int32_t untold_vertices;        // that follow other nodes than the steps told
	double crushed_mass;            // kg
	double farthest_jump;           // m, of a vertex that was given to another tet, in the step in which it was
	int32_t vertices, low_vertices; // of splinters; of these, those below the floor by more than 2 % of the size
	double fastest_before;          // m/s, of anything up to the tick of the blow
	double fastest_after;           // m/s, of any piece since
	double fastest_end;             // m/s, of any piece that is awake
	double tick_ms;                 // mean of the two seconds after the blow
	bool is_valid;
} FemMeshDropResult;

FemMeshDropResult fem_mesh_drop_run(const FemMeshDrop *drop);

#endif
