// What a bake says of its result: a table, and a file for ParaView.
#ifndef FEM_BAKE_REPORT_H
#define FEM_BAKE_REPORT_H

#include "baking/bake.h"

void fem_report_members(const FemTetMesh *tets);
void fem_report_embedding(const FemEmbedding *embedding);
void fem_report_mesh(const FemBakedMesh *mesh, double milliseconds);

// Legacy VTK in text, with regions and plate strengths as cell data.
FemResult fem_write_vtk(const char *path, const FemTetArrays *mesh);

#endif
