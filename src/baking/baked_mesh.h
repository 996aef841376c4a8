// The baked mesh: tets, regions, plates, render surfaces and how they hang on the tets, as one block of bytes that is
// the same on disk, in a resource and on every machine.
//
// Format, little-endian, nothing aligned:
//   header, 32 bytes: magic (8), version u32, sections u32, bytes in all u64, checksum u64 (of everything but itself)
//   sections: tag (4 letters), flags u32 (bit 0: a reader that does not know the tag must refuse), bytes u64, content
//     NODE  count u32, then 12 bytes a node: position, 3 floats
//     TETS  count u32, then 4 node numbers a tet
//     REGN  1 byte a tet; left out when all are 0
//     PLAT  n u8, n floats, then 1 byte a tet that picks one; with n = 0 a float a tet. Left out when all are 0
//     STRE  3 floats: FemTetArrays.stretch. Left out when there is none
//     NAME  count u32, then texts: names of the regions; left out when there are none
//     SURF  once a surface: name, material (texts), vertices u32, indices u32, attributes u32 (FemAttribute), then
//           positions 12 bytes, normals 4, tangents 4, uvs 8, uvs2 8, colours 4 a vertex, then vertex numbers
//     EMBD  count u32, form u8, tet numbers, weights: forms 1 and 2 three of 21 bits in 8 bytes, form 0 three floats
//     REPT  the rest of the section: the report of the bake as ASCII; left out when there is none, passed over by
//           readers that do not know it
//     SPLN  splinters, surfaces, vertices, outer vertices, indices, faces, coarse indices u32; starts of the surfaces
//           among vertices, indices and coarse indices u32; home tets; positions 12 bytes; splinters and tets of the
//           vertices; form u8 and weights as in EMBD; source triangles u32 and two floats of weights an outer vertex;
//           normals 4, tangents 4, uvs 8 bytes an inner one; vertex numbers by surface, then coarse ones; error of
//           these, a float; half the vertices of each face u32. Left out when there are none, passed over by readers
//           that do not know it
//     MODE  modes, rigid motions u32; Young's modulus, Poisson's ratio, density, 3 floats; then a mode: eigenvalue, 8
//           bytes, radiation and largest entry of the shape, 2 floats, and 3 numbers of 16 bits a node in shares of
//           that (error under 2e-5). Left out when there are none, passed over by readers that do not know it
//   A text is its length u16, then UTF-8. Node, vertex and tet numbers take 1 to 4 bytes, as few as their range needs.
//   Normals and tangents are octahedral maps with 16 bits a coordinate (Cigolle et al. 2014), error under 1e-4
//   (tangents 2e-4); the sign of the bitangent is the lowest bit of the second. The fourth weight is 1 minus the
//   others. Weights of form 1 are steps of 3 / (2^21 - 1) in -1..2 (error under 1e-6), of form 2 of 9 / (2^21 - 1) in
//   -4..5 (under 3e-6).
//
// With up to 65536 nodes, vertices a surface and tets: 8 bytes a tet (10 with regions and plates), 12 a node; a vertex
// with normal, tangent, uv and embedding 38 bytes; 6 a triangle.
//
// Files of the same version may hold more sections. Files of a newer version are refused with a sentence that says so.
#ifndef FEM_BAKING_BAKED_MESH_H
#define FEM_BAKING_BAKED_MESH_H

#include "baking/bake_report.h"
#include "baking/tet_arrays.h"
#include "base/assert.h"
#include "fem_baking.h"

#define FEM_BAKED_VERSION 1 // of the format below; data of later ones are refused
// Of an embedding; more would throw a vertex about. Chosen far above what embedding gives.
#define FEM_BAKED_WEIGHT_MAX 1000.0f

FEM_MUST_USE bool fem_baked_embedding_reserve(
	FemBakedEmbedding *embedding, int32_t count); // zeroed; false when memory fails
void fem_baked_embedding_free(FemBakedEmbedding *embedding);

// Keeps a copy of the text, cut to FEM_REPORT_SIZE; false when memory fails.
FEM_MUST_USE bool fem_baked_mesh_set_report(FemBakedMesh *mesh, const char *report);

// FEM_OK, or the first fault of anything in it. Reading checks by itself. `name` is put before the sentence.
FemResult fem_baked_mesh_check(const FemBakedMesh *mesh, const char *name);

size_t fem_baked_mesh_size(const FemBakedMesh *mesh);                        // of its block, bytes
void fem_baked_mesh_write(const FemBakedMesh *mesh, void *out, size_t size); // size as asked; the mesh must be checked

// Whether the bytes begin as a baked mesh does.
bool fem_baked_mesh_is(const void *bytes, size_t size);

// Enters size and checksum into the header. For the writer, and for tests that damage what lies behind the checksum.
void fem_baked_mesh_seal(void *bytes, size_t size);

#endif
