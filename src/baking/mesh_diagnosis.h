// What is odd about a mesh, in numbers and in sentences with remedies, before or after a bake.
#ifndef FEM_BAKING_MESH_DIAGNOSIS_H
#define FEM_BAKING_MESH_DIAGNOSIS_H

#include "filling/tetrahedralize.h"

#define FEM_REPORT_GOOD "No faults were found." // the only line when all is well

typedef struct FemDiagnosis {
	int32_t triangle_count, vertex_count;
	int32_t useless_triangles; // without area, or second copies
	int32_t open_edges, non_manifold_edges, flipped_triangles;
	int32_t component_count; // joined by welded vertices
	int32_t tiny_components; // boxes below 1/50 of the mesh's size
	double size;             // m, longest side of its box
	double volume;           // m^3, by the divergence theorem: about right for closed meshes
	double area;             // m^2
	double wall;             // m, median thickness of walls, by rays; 0 where nothing is enclosed
	double thin_share;       // of the area: walls thinner than 1/20 of the size
	bool scale_suspect;      // larger than 200 m or smaller than 1 cm
	// With a tet mesh:
	int32_t tet_count;
	double step_ms;          // a step of one such body on one core, about
	double min_dihedral;     // degrees
	double volume_ratio;     // tets / soup
	double stiffness_excess; // largest of the members
} FemDiagnosis;

// mesh may be null.
FemResult fem_mesh_diagnose(const FemSoup *soup, const FemTetMesh *mesh, FemDiagnosis *out);

// The factor that would make a prop of a mesh of this size: 1 for 1 cm to 20 m.
double fem_diagnosis_scale(const FemDiagnosis *diagnosis);

// One sentence a line, each with its remedy; FEM_REPORT_GOOD when all is well. Returns the length without the
// final 0, also when it did not fit.
int32_t fem_diagnosis_text(const FemDiagnosis *diagnosis, char *out_text, int32_t capacity);

#endif
