// What the writers of a baked mesh's sections share.
#ifndef FEM_BAKING_BAKED_WRITER_H
#define FEM_BAKING_BAKED_WRITER_H

#include "baking/baked_format.h"
#include "base/assert.h"

#include <math.h>
#include <string.h>

typedef struct FemBakedWriter {
	uint8_t *out; // null while measuring
	size_t at;
	uint32_t section_count;
	size_t section_start; // of the open section's content
} FemBakedWriter;

static inline void put_uint(FemBakedWriter *writer, uint64_t value, int width) {
	FEM_ASSERT(width >= 1 && width <= 8 && (width == 8 || value >> 8 * width == 0)); // nothing is cut off
	for (int i = 0; writer->out && i < width; i++)
		writer->out[writer->at + (size_t)i] = (uint8_t)(value >> 8 * i);
	writer->at += (size_t)width;
}

static inline void put_float(FemBakedWriter *writer, float value) {
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_uint(writer, bits, 4);
}

static inline void put_floats(FemBakedWriter *writer, const float *values, size_t count) {
	for (size_t i = 0; i < count; i++)
		put_float(writer, values[i]);
}

static inline void put_text(FemBakedWriter *writer, const char *text) {
	size_t length = strlen(text);
	put_uint(writer, length, 2);
	if (writer->out)
		memcpy(writer->out + writer->at, text, length);
	writer->at += length;
}

static inline void put_indices(FemBakedWriter *writer, const int32_t *indices, size_t count, int64_t range) {
	int width = fem_index_width(range);
	for (size_t i = 0; i < count; i++)
		put_uint(writer, (uint32_t)indices[i], width);
}

static inline void begin_section_with(FemBakedWriter *writer, uint32_t tag, uint32_t flags) {
	put_uint(writer, tag, 4);
	put_uint(writer, flags, 4);
	put_uint(writer, 0, 8);
	writer->section_start = writer->at;
	writer->section_count++;
}

static inline void begin_section(FemBakedWriter *writer, uint32_t tag) {
	begin_section_with(writer, tag, FEM_BAKED_REQUIRED);
}

static inline void end_section(FemBakedWriter *writer) {
	size_t end = writer->at;
	FEM_ASSERT(writer->section_start >= 16 && end >= writer->section_start);
	writer->at = writer->section_start - 8;
	put_uint(writer, end - writer->section_start, 8);
	writer->at = end;
}

static inline void put_normal(FemBakedWriter *writer, FemVec3 normal) {
	int32_t code[2];
	fem_octahedral_encode(normal, 32767, code);
	put_uint(writer, (uint16_t)code[0], 2);
	put_uint(writer, (uint16_t)code[1], 2);
}

static inline void put_tangent(FemBakedWriter *writer, const float tangent[4]) {
	int32_t code[2];
	fem_octahedral_encode((FemVec3){tangent[0], tangent[1], tangent[2]}, 16383, code);
	put_uint(writer, (uint16_t)code[0], 2);
	put_uint(writer, (uint16_t)(code[1] * 2 + (tangent[3] < 0.0f)), 2);
}

static inline bool weights_within(float (*weights)[4], int32_t count, double low, double high) {
	for (int32_t i = 0; i < count; i++) {
		for (int v = 0; v < 3; v++) {
			double weight = (double)weights[i][v];
			if (!(weight >= low && weight <= high))
				return false;
		}
	}
	return true;
}

static inline uint64_t choose_form(float (*weights)[4], int32_t count) {
	for (uint64_t form = 1; form < FEM_WEIGHT_FORMS; form++) {
		if (weights_within(weights, count, fem_weight_low(form), fem_weight_low(form) + fem_weight_span(form)))
			return form;
	}
	return 0;
}

static inline uint64_t steps_of(uint64_t form, float weight) {
	return (uint64_t)llrint(((double)weight - fem_weight_low(form)) / fem_weight_span(form) * FEM_WEIGHT_STEPS);
}

// Three of the four: the last is 1 minus the others.
static inline void put_weights(FemBakedWriter *writer, uint64_t form, float (*weights)[4], int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		const float *w = weights[i];
		if (form)
			put_uint(writer, steps_of(form, w[0]) | steps_of(form, w[1]) << 21 | steps_of(form, w[2]) << 42, 8);
		else
			put_floats(writer, w, 3);
	}
}

void fem_baked_write_splinters(FemBakedWriter *writer, const FemBakedMesh *mesh);
void fem_baked_write_modes(FemBakedWriter *writer, const FemModes *modes);

#endif
