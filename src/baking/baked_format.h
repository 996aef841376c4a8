// What the writer and the reader of baked meshes share.
#ifndef FEM_BAKING_BAKED_FORMAT_H
#define FEM_BAKING_BAKED_FORMAT_H

#include "baking/baked_mesh.h"

#define FEM_BAKED_HEADER_SIZE 32 // bytes; what is in it is told in baked_mesh.h
#define FEM_BAKED_REQUIRED 1u    // flag of a section

#define FEM_TAG(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define FEM_TAG_NODES FEM_TAG('N', 'O', 'D', 'E')
#define FEM_TAG_TETS FEM_TAG('T', 'E', 'T', 'S')
#define FEM_TAG_REGIONS FEM_TAG('R', 'E', 'G', 'N')
#define FEM_TAG_PLATES FEM_TAG('P', 'L', 'A', 'T')
#define FEM_TAG_NAMES FEM_TAG('N', 'A', 'M', 'E')
#define FEM_TAG_SURFACE FEM_TAG('S', 'U', 'R', 'F')
#define FEM_TAG_EMBEDDING FEM_TAG('E', 'M', 'B', 'D')
#define FEM_TAG_SPLINTERS FEM_TAG('S', 'P', 'L', 'N')
#define FEM_TAG_MODES FEM_TAG('M', 'O', 'D', 'E')
#define FEM_TAG_STRETCH FEM_TAG('S', 'T', 'R', 'E')
#define FEM_TAG_REPORT FEM_TAG('R', 'E', 'P', 'T')

#define FEM_WEIGHT_STEPS 2097151.0 // 2^21 - 1: three weights of 21 bits fill a word

// The ranges that weights are kept in as steps, by form; form 0 keeps floats. Two, so that the vertices of a mesh that
// holds all of them, as it should, are kept three times as well as those that stick out.
#define FEM_WEIGHT_FORMS 3
static inline double fem_weight_low(uint64_t form) {
	return form == 1 ? -1.0 : -4.0;
}

static inline double fem_weight_span(uint64_t form) {
	return form == 1 ? 3.0 : 9.0;
}

extern const uint8_t fem_baked_magic[8];

uint64_t fem_baked_checksum(const uint8_t *bytes, size_t size);

// Bytes that hold numbers below `range`.
static inline int fem_index_width(int64_t range) {
	return range <= 1 << 8 ? 1 : range <= 1 << 16 ? 2 : range <= 1 << 24 ? 3 : 4;
}

// A unit vector as two numbers of `steps` above and below 0, and back.
void fem_octahedral_encode(FemVec3 direction, int32_t steps, int32_t out[2]);
FemVec3 fem_octahedral_decode(const int32_t code[2], int32_t steps);

#endif
