#include "fem_bake/files/vtk_grid.h"

#include "base/memory.h"

#include <math.h>

int fem_vtk_width(FemVtkType type) {
	static const uint8_t widths[] = {0, 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
	return widths[type];
}

bool fem_vtk_is_whole(FemVtkType type) {
	return type >= FEM_VTK_INT8 && type <= FEM_VTK_UINT64;
}

static const char *name_of(const FemVtkSource *source) {
	return source->text.name;
}

static FemResult fail_cut(const FemVtkSource *source) {
	return fem_fail(FEM_ERROR_FORMAT,
		"%.60s: an array is shorter than the file says: it is cut short or damaged, export it again.", name_of(source));
}

static FemResult fail_memory(const char *name) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s: export a coarser mesh.", name);
}

bool fem_vtk_can_hold(const FemVtkSource *source, int64_t count) {
	if (count < 0)
		return false;
	if (source->ascii) // a digit and a blank each, the last without blank
		return (uint64_t)count <= ((uint64_t)(source->text.end - source->text.at) + 1) / 2;
	int width = fem_vtk_width(source->type);
	return width > 0 && (uint64_t)count <= fem_bytes_left(&source->bytes) / (uint64_t)width;
}

// Unsigned 64-bit numbers past the range of int64_t come out negative, which every user of them refuses.
static FemResult take_one_whole(FemVtkSource *source, int64_t *out) {
	if (source->ascii)
		return fem_text_int(&source->text, "a whole number", out);
	int width = fem_vtk_width(source->type);
	bool has_sign = source->type == FEM_VTK_INT8 || source->type == FEM_VTK_INT16 || source->type == FEM_VTK_INT32;
	*out = has_sign ? fem_bytes_int(&source->bytes, width) : (int64_t)fem_bytes_uint(&source->bytes, width);
	return source->bytes.failed ? fail_cut(source) : FEM_OK;
}

static FemResult take_one_real(FemVtkSource *source, double *out) {
	int64_t whole = 0;
	FemResult result = FEM_OK;
	if (source->ascii)
		return fem_text_real(&source->text, "a number", out);
	if (source->type == FEM_VTK_FLOAT32)
		*out = (double)fem_bytes_float(&source->bytes);
	else if (source->type == FEM_VTK_FLOAT64)
		*out = fem_bytes_double(&source->bytes);
	else
		result = take_one_whole(source, &whole), *out = (double)whole;
	if (result == FEM_OK && source->bytes.failed)
		return fail_cut(source);
	if (result == FEM_OK && !isfinite(*out))
		return fem_fail(
			FEM_ERROR_FORMAT, "%.60s holds a number that is not finite: correct the mesh.", name_of(source));
	return result;
}

FemResult fem_vtk_take_whole(FemVtkSource *source, int64_t count, int64_t **out) {
	*out = NULL;
	if (!source->ascii && !fem_vtk_is_whole(source->type))
		return fem_fail(FEM_ERROR_FORMAT, "%.60s: cells must be described by whole numbers: export the mesh again.",
			name_of(source));
	if (!fem_vtk_can_hold(source, count))
		return fail_cut(source);
	if (count == 0)
		return FEM_OK;
	int64_t *numbers = FEM_ALLOC_ARRAY(int64_t, count);
	if (!numbers)
		return fail_memory(name_of(source));
	FemResult result = FEM_OK;
	for (int64_t i = 0; result == FEM_OK && i < count; i++)
		result = take_one_whole(source, &numbers[i]);
	if (result == FEM_OK)
		*out = numbers;
	else
		FEM_FREE_ARRAY(numbers, count);
	return result;
}

FemResult fem_vtk_take_reals(FemVtkSource *source, int64_t count, double **out) {
	*out = NULL;
	if (!fem_vtk_can_hold(source, count))
		return fail_cut(source);
	if (count == 0)
		return FEM_OK;
	double *numbers = FEM_ALLOC_ARRAY(double, count);
	if (!numbers)
		return fail_memory(name_of(source));
	FemResult result = FEM_OK;
	for (int64_t i = 0; result == FEM_OK && i < count; i++)
		result = take_one_real(source, &numbers[i]);
	if (result == FEM_OK)
		*out = numbers;
	else
		FEM_FREE_ARRAY(numbers, count);
	return result;
}

FemResult fem_vtk_add_points(FemVtkGrid *grid, FemVtkSource *source, int64_t count) {
	FemResult result = FEM_OK;
	if (grid->builder->node_count)
		return fem_fail(
			FEM_ERROR_FORMAT, "%.60s holds two sets of points: merge its pieces into one.", name_of(source));
	if (!fem_vtk_can_hold(source, count) || !fem_vtk_can_hold(source, 3 * count))
		return fail_cut(source);
	for (int64_t i = 0; result == FEM_OK && i < count; i++) {
		double position[3] = {0.0, 0.0, 0.0};
		for (int axis = 0; result == FEM_OK && axis < 3; axis++)
			result = take_one_real(source, &position[axis]);
		if (result == FEM_OK)
			result = fem_import_add_node(grid->builder, i, position);
	}
	return result;
}

// ---- regions

int fem_vtk_region_rank(FemToken name, FemVtkType type, int64_t components) {
	// In the order of how surely the name means a material.
	static const char *names[] = {"region", "regions", "region_id", "material", "materials", "material_id",
		"materialid", "materialids", "mat_id", "gmsh:physical", "medit:ref", "cell_tags", "cellentityids", "physical",
		"physicalids", "attribute", "attributes", "cell_scalars", "elementblockids", "objectid", "tag", "tags",
		"marker", "label"};
	int count = (int)(sizeof names / sizeof *names);
	if (components != 1 || type == FEM_VTK_UNKNOWN || type == FEM_VTK_BIT)
		return 0;
	for (int i = 0; i < count; i++) {
		if (fem_token_is_like(name, names[i]))
			return 1 + count - i;
	}
	return fem_vtk_is_whole(type) ? 1 : 0;
}

FemResult fem_vtk_take_regions(FemVtkGrid *grid, FemVtkSource *source, int64_t count, int rank) {
	FEM_FREE_ARRAY(grid->regions, grid->region_count);
	grid->regions = NULL;
	grid->region_count = count;
	grid->region_rank = rank;
	return fem_vtk_take_reals(source, count, &grid->regions);
}

// ---- cells

static bool is_tet(int64_t type) {
	return type == 10 || type == 24 || type == 71 || type == 78; // linear, quadratic, Lagrange, Bezier
}

static bool is_other_solid(int64_t type) {
	static const uint8_t solids[] = {
		11, 12, 13, 14, 15, 16, 25, 26, 27, 29, 32, 33, 37, 41, 42, 72, 73, 74, 79, 80, 81};
	return type > 0 && type < 256 && memchr(solids, (int)type, sizeof solids) != NULL;
}

static FemResult check_counts(const FemVtkGrid *grid) {
	const char *name = grid->builder->name;
	if (grid->type_count != grid->cell_count)
		return fem_fail(FEM_ERROR_FORMAT,
			"%.60s names %.0f cells but %.0f cell types: the file is damaged, export it again.", name,
			(double)grid->cell_count, (double)grid->type_count);
	if (grid->regions && grid->region_count != grid->cell_count)
		return fem_fail(FEM_ERROR_FORMAT, "%.60s has cell data for %.0f cells but %.0f cells: export it again.", name,
			(double)grid->region_count, (double)grid->cell_count);
	return FEM_OK;
}

// A cell type of a file cut short ("1" of "10") is still a cell type, but one with another number of points.
static bool has_its_points(int64_t type, int64_t count) {
	static const int8_t counts[] = {0, 1, -1, 2, -1, 3, -1, -1, 4, 4};
	if (is_tet(type))
		return count >= 4;
	return type < 0 || type >= (int64_t)sizeof counts || counts[type] < 0 || counts[type] == count;
}

static FemResult add_cell(FemVtkGrid *grid, int64_t cell) {
	FemImportBuilder *builder = grid->builder;
	int64_t begin = cell ? grid->ends[cell - 1] : 0, end = grid->ends[cell];
	if (begin < 0 || end < begin || end > grid->connectivity_count)
		return fem_fail(FEM_ERROR_FORMAT,
			"%.60s: cell %.0f lies outside the list of points: the file is damaged, export it again.", builder->name,
			(double)cell);
	if (!has_its_points(grid->types[cell], end - begin))
		return fem_fail(FEM_ERROR_FORMAT,
			"%.60s: cell %.0f of type %.0f has %.0f points: the file is damaged, export it again.", builder->name,
			(double)cell, (double)grid->types[cell], (double)(end - begin));
	if (!is_tet(grid->types[cell])) {
		builder->solid_count += is_other_solid(grid->types[cell]);
		builder->flat_count += !is_other_solid(grid->types[cell]);
		return FEM_OK;
	}
	FemImportTet tet = {.region = grid->regions ? grid->regions[cell] : 0.0};
	memcpy(tet.nodes, grid->connectivity + begin, sizeof tet.nodes);
	return fem_import_add_tet(builder, &tet);
}

FemResult fem_vtk_grid_finish(FemVtkGrid *grid) {
	FemResult result = check_counts(grid);
	grid->builder->regions_guessed = grid->region_rank <= 1;
	for (int64_t cell = 0; result == FEM_OK && cell < grid->cell_count; cell++)
		result = add_cell(grid, cell);
	return result;
}

void fem_vtk_grid_free(FemVtkGrid *grid) {
	FEM_FREE_ARRAY(grid->connectivity, grid->connectivity_count);
	FEM_FREE_ARRAY(grid->ends, grid->cell_count);
	FEM_FREE_ARRAY(grid->types, grid->type_count);
	FEM_FREE_ARRAY(grid->regions, grid->region_count);
}
