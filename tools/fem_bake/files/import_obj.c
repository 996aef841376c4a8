// Wavefront OBJ. Lines fill lists of positions, texture coordinates and normals; faces name entries of each per corner.
// Corners that name the same three become one vertex of their surface.
#include "fem_bake/files/obj_model.h"

#include <math.h>
#include <string.h>

#define COORDINATE_MAX 1e18   // fits float with room for products
#define POLYGON_MAX (1 << 20) // corners of a face; chosen: more is a damaged file

static FemResult fail_memory(const FemText *text) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s: use a coarser mesh.", text->name);
}

// The next word of the line, and of the next line behind a backslash.
static bool next_word(FemText *text, FemToken *out) {
	while (fem_text_token_in_line(text, out)) {
		if (!fem_token_is(*out, "\\"))
			return true;
		fem_text_rest_of_line(text);
	}
	return false;
}

// Up to `most` numbers of the line; at least `least` must be there.
static FemResult read_numbers(FemText *text, int least, int most, float *out, int *out_count) {
	FemToken word;
	int count = 0;
	while (count < most && next_word(text, &word)) {
		double value;
		if (!fem_token_real(word, &value) || fabs(value) > COORDINATE_MAX)
			return fem_text_fail(text, FEM_ERROR_FORMAT,
				"\"%.*s\" is no usable number: correct it or export the mesh again.",
				word.length < 30 ? word.length : 30, word.start);
		out[count++] = (float)value;
	}
	*out_count = count;
	if (count >= least)
		return FEM_OK;
	return fem_text_fail(
		text, FEM_ERROR_FORMAT, "%d numbers are here, %d are needed: export the mesh again.", count, least);
}

static uint8_t color_byte(float value) {
	return (uint8_t)(value <= 0.0f ? 0.0f : value >= 1.0f ? 255.0f : value * 255.0f + 0.5f);
}

// "v x y z", "v x y z w" or "v x y z r g b".
static FemResult read_position(FemObjModel *model, FemText *text) {
	float values[6];
	int count = 0;
	FemResult result = read_numbers(text, 3, 6, values, &count);
	if (result != FEM_OK)
		return result;
	if (!FEM_GROW(model->positions, model->position_count, &model->position_capacity))
		return fail_memory(text);
	FemObjPosition *position = &model->positions[model->position_count++];
	*position = (FemObjPosition){.place = {values[0], values[1], values[2]}, .color = {255, 255, 255, 255}};
	for (int i = 0; count == 6 && i < 3; i++)
		position->color[i] = color_byte(values[3 + i]);
	model->has_colors = model->has_colors || count == 6;
	return FEM_OK;
}

// v runs upward in OBJ files.
static FemResult read_uv(FemObjModel *model, FemText *text) {
	float values[2] = {0.0f, 0.0f};
	int count = 0;
	FemResult result = read_numbers(text, 1, 2, values, &count);
	if (result != FEM_OK)
		return result;
	if (!FEM_GROW(model->uvs, model->uv_count, &model->uv_capacity))
		return fail_memory(text);
	model->uvs[model->uv_count++] = (FemObjUv){{values[0], 1.0f - values[1]}};
	return FEM_OK;
}

// One without length counts as none: it is made from the faces then.
static FemResult read_normal(FemObjModel *model, FemText *text) {
	float n[3];
	int count = 0;
	FemResult result = read_numbers(text, 3, 3, n, &count);
	if (result != FEM_OK)
		return result;
	if (!FEM_GROW(model->normals, model->normal_count, &model->normal_capacity))
		return fail_memory(text);
	double length = sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2]);
	double scale = length > 1e-12 ? 1.0 / length : 0.0;
	model->normals[model->normal_count++] =
		(FemVec3){(float)((double)n[0] * scale), (float)((double)n[1] * scale), (float)((double)n[2] * scale)};
	return FEM_OK;
}

// ---- faces

// One of the numbers of "v/vt/vn": from 1, or from -1 backward. out_index is -1 where nothing is written.
static bool read_index(FemToken word, int32_t *at, int32_t count, int32_t *out_index) {
	FemToken number = {word.start + *at, 0};
	int64_t value;
	while (*at < word.length && word.start[*at] != '/') {
		(*at)++;
		number.length++;
	}
	*at += *at < word.length;
	*out_index = -1;
	if (number.length == 0)
		return true;
	if (!fem_token_int(number, &value) || value == 0 || value > count || value < -(int64_t)count)
		return false;
	*out_index = (int32_t)(value > 0 ? value - 1 : count + value);
	return true;
}

static FemResult read_corner(const FemObjModel *model, const FemText *text, FemToken word, FemObjCorner *out) {
	int32_t at = 0;
	if (read_index(word, &at, model->position_count, &out->position) &&
		read_index(word, &at, model->uv_count, &out->uv) && read_index(word, &at, model->normal_count, &out->normal) &&
		at == word.length && out->position >= 0)
		return FEM_OK;
	return fem_text_fail(text, FEM_ERROR_FORMAT,
		"the corner \"%.*s\" names a vertex that is not there (%d vertices, %d UVs, %d normals so far): export the "
		"mesh again.",
		word.length < 40 ? word.length : 40, word.start, model->position_count, model->uv_count, model->normal_count);
}

static FemResult read_polygon(FemObjModel *model, FemText *text) {
	FemToken word;
	model->polygon_count = 0;
	while (next_word(text, &word)) {
		if (model->polygon_count == POLYGON_MAX)
			return fem_text_fail(text, FEM_ERROR_LIMIT, "a face has more than %d corners: cut it.", POLYGON_MAX);
		if (!FEM_GROW(model->polygon, model->polygon_count, &model->polygon_capacity))
			return fail_memory(text);
		FemResult result = read_corner(model, text, word, &model->polygon[model->polygon_count]);
		if (result != FEM_OK)
			return result;
		model->polygon_count++;
	}
	if (model->polygon_count >= 3)
		return FEM_OK;
	return fem_text_fail(text, FEM_ERROR_FORMAT,
		"a face has %d corners: 3 are needed. Remove it or export the mesh again.", model->polygon_count);
}

static FemResult read_face(FemObjModel *model, FemText *text) {
	FemResult result = read_polygon(model, text);
	if (result != FEM_OK)
		return result;
	FemObjSurface *surface = fem_obj_model_surface(model);
	if (!surface)
		return fem_text_fail(
			text, FEM_ERROR_LIMIT, "there are more than %d materials: join some of them.", FEM_SURFACE_MAX);
	return fem_obj_surface_add_polygon(model, surface) ? FEM_OK : fail_memory(text);
}

// ---- lines

static FemResult read_line(FemObjModel *model, FemText *text) {
	FemToken word;
	if (!next_word(text, &word))
		return FEM_OK;
	if (fem_token_is(word, "v"))
		return read_position(model, text);
	if (fem_token_is(word, "vt"))
		return read_uv(model, text);
	if (fem_token_is(word, "vn"))
		return read_normal(model, text);
	if (fem_token_is(word, "f") || fem_token_is(word, "fo"))
		return read_face(model, text);
	if (fem_token_is(word, "g") || fem_token_is(word, "o") || fem_token_is(word, "usemtl")) {
		FemText ahead = *text; // a name may hold blanks and #
		FemToken name = fem_text_rest_of_line(&ahead);
		if (fem_token_is(word, "usemtl"))
			fem_token_copy(name, model->material, sizeof model->material);
		else
			fem_token_copy(name, model->group, sizeof model->group);
		model->surface = -1;
	}
	return FEM_OK; // smoothing groups, curves, lines: nothing to be done
}

static FemResult read_lines(FemObjModel *model, FemText text) {
	FemResult result = FEM_OK;
	text.comment = '#';
	while (result == FEM_OK && text.at < text.end) {
		result = read_line(model, &text);
		if (result == FEM_OK)
			fem_text_rest_of_line(&text);
	}
	return result;
}

FemResult fem_read_obj(FemText text, FemRenderMesh *out) {
	FemObjModel model = {.surface = -1, .by_group = true};
	FemResult result = read_lines(&model, text);
	if (result != FEM_OK && model.too_many_groups) {
		fem_obj_model_free(&model);
		model = (FemObjModel){.surface = -1};
		result = read_lines(&model, text);
	}
	if (result == FEM_OK && !fem_obj_model_finish(&model, out))
		result = fail_memory(&text);
	fem_obj_model_free(&model);
	return result;
}
