// What a bake says of itself to people: a line of what was made, then a sentence with its remedy for each fault. The
// text is kept in the baked mesh, so that a file tells the same wherever it is loaded.
#ifndef FEM_BAKING_BAKE_REPORT_H
#define FEM_BAKING_BAKE_REPORT_H

#include "baking/mesh_diagnosis.h"
#include "baking/tet_arrays.h"
#include "geometry/embedding.h"

#define FEM_REPORT_NOTE "Note: " // begins the lines that are no warnings

const char *fem_member_kind_name(FemMemberKind kind);

// Lines that do not fit are left out whole.
void fem_bake_report_write(
	const FemTetMesh *tets, const FemEmbedding *embedding, const FemDiagnosis *diagnosis, char *out, size_t capacity);

// Adds what was made of the cutting, and its note.
void fem_bake_report_add_cut(const FemSplinterMesh *splinters, const char *note, char *io_report, size_t capacity);

// Of a mesh with bones or blend shapes: which pose was baked.
void fem_bake_report_add_poses(char *io_report, size_t capacity);

// The same as fem_bake_report_write() of a tet mesh that was taken as another program made it.
void fem_import_report_write(const FemTetArrays *mesh, char *out, size_t capacity);

#endif
