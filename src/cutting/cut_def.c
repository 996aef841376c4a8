// What may be asked of the cutting.
#include "cutting/cut_def.h"

#include "base/error.h"
#include "fem_constants.h"
#include "topology/longest_axis.h"

#include <math.h>

#define BRICK_LEAST 1e-4f   // m, of each side of a brick; chosen: smaller would only be a slip
#define FREQUENCY_MOST 8.0f // teeth or kinks of a section; chosen: more are too fine to be seen
#define SCALE_LEAST 1e-6f   // of a body, and 1 over the most; chosen: far beyond what bodies can be
#define COUNT_MOST 2e9f     // of splinters or triangles: within an int32_t
#define COOKIE 0x46435554u  // of a FemCutDef made by fem_default_cut_def(); any number

// Chosen by eye, but for the brick: the common German one, and its joint.
FemCutDef fem_default_cut_def(void) {
	return (FemCutDef){.joins = true,
		.triangle_max = 120000,
		.roughness = 0.5f,
		.unevenness = 0.5f,
		.random_width = 0.4f,
		.random_height = 0.4f,
		.horizontal_frequency = 3,
		.horizontal_amplitude = 0.35f,
		.vertical_amplitude = 0.2f,
		.brick_size = {0.24f, 0.071f, 0.115f},
		.mortar = 0.01f,
		.broken_share = 0.3f,
		.scale = {1.0f, 1.0f, 1.0f},
		.cookie = COOKIE};
}

FemVec3 fem_tets_longest_axis(const FemTetArrays *tets, FemVec3 scale) {
	FemVolumeMoments moments = {{0}};
	if (tets && tets->nodes && tets->tets)
		moments = fem_volume_moments(tets->nodes, tets->tets, tets->tet_count);
	return fem_longest_axis(&moments, scale);
}

// ---- sizes

static double first_above_0(float a, double b) {
	return a > 0.0f ? (double)a : b;
}

double fem_cut_def_unit(const FemCutDef *def) {
	double joint = (double)def->mortar;
	FemVec3 brick = def->brick_size;
	if (def->pattern == FEM_PATTERN_BRICK)
		return ((double)brick.x + joint) * ((double)brick.y + joint) * ((double)brick.z + joint);
	if (def->pattern != FEM_PATTERN_WOOD || !(def->section_width > 0.0f || def->section_height > 0.0f))
		return 0.0;
	double width = first_above_0(def->section_width, (double)def->section_height);
	return width * first_above_0(def->section_height, width) * first_above_0(def->section_length, 8.0 * width);
}

void fem_cut_def_enlarge(FemCutDef *def, float scale) {
	def->brick_size = (FemVec3){def->brick_size.x * scale, def->brick_size.y * scale, def->brick_size.z * scale};
	def->mortar *= scale;
	def->section_width *= scale;
	def->section_height *= scale;
	def->section_length *= scale;
}

// ---- checks

static bool within(float value, float low, float high) {
	return value >= low && value <= high; // false for NaN
}

static bool finite_vector(FemVec3 v) {
	return within(v.x, -FEM_REST_MAX, FEM_REST_MAX) && within(v.y, -FEM_REST_MAX, FEM_REST_MAX) &&
		within(v.z, -FEM_REST_MAX, FEM_REST_MAX);
}

static const char *fault_of_def(const FemCutDef *def) {
	const struct {
		float value, low, high;
		const char *name;
	} ranges[] = {
		{def->splinter_size, 0.0f, FEM_REST_MAX, "splinter_size"},
		{def->roughness, 0.0f, 1.0f, "roughness"},
		{def->unevenness, 0.0f, 1.0f, "unevenness"},
		{def->section_width, 0.0f, FEM_REST_MAX, "section_width"},
		{def->section_height, 0.0f, FEM_REST_MAX, "section_height"},
		{def->section_length, 0.0f, FEM_REST_MAX, "section_length"},
		{def->random_width, 0.0f, 1.0f, "random_width"},
		{def->random_height, 0.0f, 1.0f, "random_height"},
		{(float)def->horizontal_frequency, 1.0f, FREQUENCY_MOST, "horizontal_frequency"},
		{(float)def->vertical_frequency, 0.0f, FREQUENCY_MOST, "vertical_frequency"},
		{def->horizontal_amplitude, 0.0f, 1.0f, "horizontal_amplitude"},
		{def->vertical_amplitude, 0.0f, 1.0f, "vertical_amplitude"},
		{def->brick_size.x, BRICK_LEAST, FEM_REST_MAX, "brick_size.x"},
		{def->brick_size.y, BRICK_LEAST, FEM_REST_MAX, "brick_size.y"},
		{def->brick_size.z, BRICK_LEAST, FEM_REST_MAX, "brick_size.z"},
		{def->mortar, 0.0f, 0.5f * fminf(def->brick_size.x, fminf(def->brick_size.y, def->brick_size.z)), "mortar"},
		{def->broken_share, 0.0f, 1.0f, "broken_share"},
		{def->scale.x, SCALE_LEAST, 1.0f / SCALE_LEAST, "scale.x"},
		{def->scale.y, SCALE_LEAST, 1.0f / SCALE_LEAST, "scale.y"},
		{def->scale.z, SCALE_LEAST, 1.0f / SCALE_LEAST, "scale.z"},
		{(float)def->splinter_count, 0.0f, COUNT_MOST, "splinter_count"},
		{(float)def->triangle_max, 0.0f, COUNT_MOST, "triangle_max"},
		{(float)def->impact_count, 0.0f, (float)FEM_CUT_IMPACTS_MAX, "impact_count"},
	};
	for (size_t n = 0; n < sizeof ranges / sizeof *ranges; n++)
		if (!within(ranges[n].value, ranges[n].low, ranges[n].high))
			return ranges[n].name;
	bool good = finite_vector(def->grain);
	for (int32_t n = 0; n < def->impact_count; n++)
		good = good && finite_vector(def->impacts[n]);
	return good ? NULL : "grain or an impact";
}

FemResult fem_cut_def_check(const FemCutDef *def, const FemBakedMesh *mesh) {
	if (!mesh || !def || def->cookie != COOKIE)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The def was not made by fem_default_cut_def(), or there is no mesh.");
	if ((uint32_t)def->pattern >= FEM_PATTERN_COUNT)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "There is no pattern %d: use one of FemPattern.", (int)def->pattern);
	const char *fault = fault_of_def(def);
	if (fault)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "%s of the cutting is out of range or not finite: see FemCutDef.", fault);
	if (def->pattern != FEM_PATTERN_NONE && mesh->tet_mesh.tet_count < 1)
		return fem_fail(FEM_ERROR_MESH, "There are no tets for pieces to follow: bake the mesh first.");
	return FEM_OK;
}
