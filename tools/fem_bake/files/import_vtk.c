// Legacy VTK: keywords, each with numbers behind it, as text or as big-endian bytes. Arrays that are not needed are
// counted over.
#include "base/memory.h"
#include "fem_bake/files/vtk_grid.h"

typedef struct Legacy {
	FemVtkGrid grid;
	FemText text;
	bool binary;
	bool in_cell_data;   // the last of CELL_DATA and POINT_DATA
	int64_t tuple_count; // as that one said
} Legacy;

static FemVtkType type_named(FemToken name) {
	static const struct {
		const char *name;
		FemVtkType type;
	} types[] = {
		{"bit", FEM_VTK_BIT},
		{"char", FEM_VTK_INT8},
		{"signed_char", FEM_VTK_INT8},
		{"unsigned_char", FEM_VTK_UINT8},
		{"short", FEM_VTK_INT16},
		{"unsigned_short", FEM_VTK_UINT16},
		{"int", FEM_VTK_INT32},
		{"unsigned_int", FEM_VTK_UINT32},
		{"long", FEM_VTK_INT64},
		{"unsigned_long", FEM_VTK_UINT64},
		{"vtkidtype", FEM_VTK_INT32}, // VTK writes its own ids as ints
		{"vtktypeint64", FEM_VTK_INT64},
		{"vtktypeuint64", FEM_VTK_UINT64},
		{"long_long", FEM_VTK_INT64},
		{"float", FEM_VTK_FLOAT32},
		{"double", FEM_VTK_FLOAT64},
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (fem_token_is_like(name, types[i].name))
			return types[i].type;
	}
	return FEM_VTK_UNKNOWN;
}

static FemResult take_count(Legacy *legacy, const char *what, int64_t *out) {
	FemResult result = fem_text_int(&legacy->text, what, out);
	if (result == FEM_OK && *out < 0)
		return fem_text_fail(
			&legacy->text, FEM_ERROR_FORMAT, "%s is negative: the file is damaged, export it again.", what);
	return result;
}

static FemResult take_type(Legacy *legacy, FemVtkType *out) {
	FemToken token;
	fem_text_token(&legacy->text, &token);
	*out = type_named(token);
	if (*out != FEM_VTK_UNKNOWN)
		return FEM_OK;
	return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT,
		"\"%.*s\" is no type of numbers that is read: remove this array.", token.length < 30 ? token.length : 30,
		token.start);
}

// The numbers begin behind the line that describes them.
static FemVtkSource open_source(Legacy *legacy, FemVtkType type) {
	if (legacy->binary)
		fem_text_rest_of_line(&legacy->text);
	return (FemVtkSource){.type = type,
		.ascii = !legacy->binary,
		.text = legacy->text,
		.bytes = {
			.at = (const uint8_t *)legacy->text.at, .end = (const uint8_t *)legacy->text.end, .big_endian = true}};
}

static void close_source(Legacy *legacy, const FemVtkSource *source) {
	if (source->ascii)
		legacy->text = source->text;
	else
		legacy->text.at = (const char *)source->bytes.at;
}

static FemResult skip_numbers(Legacy *legacy, FemVtkType type, int64_t tuples, int64_t components) {
	FemToken token;
	FemVtkSource source = open_source(legacy, type);
	int64_t bytes = (int64_t)fem_bytes_left(&source.bytes);
	if (components > 0 && tuples > 8 * bytes / components) // a number is a bit at least
		return fem_text_fail(
			&legacy->text, FEM_ERROR_FORMAT, "an array is larger than the file: it is cut short, export it again.");
	int64_t count = tuples * components;
	if (!legacy->binary) {
		for (int64_t i = 0; i < count; i++) {
			if (!fem_text_token(&legacy->text, &token))
				return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT, "the file is cut short: export it again.");
		}
		return FEM_OK;
	}
	int64_t size = type == FEM_VTK_BIT ? (count + 7) / 8 : count > bytes ? bytes + 1 : count * fem_vtk_width(type);
	if (size > bytes)
		return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT, "the file is cut short: export it again.");
	legacy->text.at += size;
	return FEM_OK;
}

// ---- points and cells

static FemResult read_points(Legacy *legacy) {
	int64_t count;
	FemVtkType type = FEM_VTK_UNKNOWN;
	FemResult result = take_count(legacy, "the number of points", &count);
	if (result == FEM_OK)
		result = take_type(legacy, &type);
	if (result != FEM_OK)
		return result;
	FemVtkSource source = open_source(legacy, type);
	result = fem_vtk_add_points(&legacy->grid, &source, count);
	close_source(legacy, &source);
	return result;
}

// One row of numbers: each cell's number of points, then the points. It is squeezed in place.
static FemResult split_cells(Legacy *legacy, int64_t cells, int64_t size) {
	FemVtkGrid *grid = &legacy->grid;
	int64_t from = 0, to = 0, *row = grid->connectivity;
	if (cells == 0 || cells > size)
		return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT,
			"CELLS counts %.0f cells in %.0f numbers: export the mesh again.", (double)cells, (double)size);
	grid->ends = FEM_ALLOC_ARRAY(int64_t, cells);
	if (!grid->ends)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s.", legacy->text.name);
	grid->cell_count = cells;
	for (int64_t cell = 0; cell < cells; cell++) {
		int64_t count = from < size ? row[from++] : -1;
		if (count < 0 || count > size - from)
			return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT,
				"cell %.0f is longer than the list of cells: export the mesh again.", (double)cell);
		memmove(row + to, row + from, sizeof *row * (size_t)count);
		to += count;
		from += count;
		grid->ends[cell] = to;
	}
	return FEM_OK;
}

static FemResult read_row_of_cells(Legacy *legacy, int64_t cells, int64_t size) {
	FemVtkSource source = open_source(legacy, FEM_VTK_INT32);
	FemResult result = fem_vtk_take_whole(&source, size, &legacy->grid.connectivity);
	legacy->grid.connectivity_count = size;
	close_source(legacy, &source);
	return result == FEM_OK ? split_cells(legacy, cells, size) : result;
}

static FemResult read_named_array(Legacy *legacy, const char *word, int64_t count, int64_t **out) {
	FemToken token;
	FemVtkType type;
	*out = NULL;
	if (!fem_text_token(&legacy->text, &token) || !fem_token_is_like(token, word))
		return fem_text_fail(
			&legacy->text, FEM_ERROR_FORMAT, "%s should be here: the file is damaged, export it again.", word);
	FemResult result = take_type(legacy, &type);
	if (result != FEM_OK)
		return result;
	FemVtkSource source = open_source(legacy, type);
	result = fem_vtk_take_whole(&source, count, out);
	close_source(legacy, &source);
	return result;
}

// Version 5: the ends of the cells with a 0 before them, then the points of all cells.
static FemResult read_offset_cells(Legacy *legacy, int64_t offsets, int64_t size) {
	FemVtkGrid *grid = &legacy->grid;
	int64_t *starts;
	FemResult result = read_named_array(legacy, "OFFSETS", offsets, &starts);
	if (result == FEM_OK && offsets < 2)
		result = fem_text_fail(&legacy->text, FEM_ERROR_FORMAT, "there are no cells: export the mesh again.");
	if (result == FEM_OK) {
		grid->ends = FEM_ALLOC_ARRAY(int64_t, offsets - 1);
		grid->cell_count = offsets - 1;
		if (grid->ends)
			memcpy(grid->ends, starts + 1, sizeof *starts * (size_t)(offsets - 1));
		else
			result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s.", legacy->text.name);
	}
	FEM_FREE_ARRAY(starts, offsets);
	if (result == FEM_OK)
		result = read_named_array(legacy, "CONNECTIVITY", size, &grid->connectivity);
	grid->connectivity_count = size;
	return result;
}

static FemResult read_cells(Legacy *legacy) {
	int64_t cells, size;
	FemToken next;
	if (legacy->grid.ends)
		return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT, "there are two lists of cells: export the mesh again.");
	FemResult result = take_count(legacy, "the number of cells", &cells);
	if (result == FEM_OK)
		result = take_count(legacy, "the size of the list of cells", &size);
	if (result != FEM_OK)
		return result;
	FemText ahead = legacy->text;
	if (fem_text_token(&ahead, &next) && fem_token_is_like(next, "OFFSETS"))
		return read_offset_cells(legacy, cells, size);
	return read_row_of_cells(legacy, cells, size);
}

static FemResult read_cell_types(Legacy *legacy) {
	FemVtkGrid *grid = &legacy->grid;
	int64_t count;
	FemResult result = take_count(legacy, "the number of cell types", &count);
	if (result == FEM_OK && grid->types)
		return fem_text_fail(
			&legacy->text, FEM_ERROR_FORMAT, "there are two lists of cell types: export the mesh again.");
	if (result != FEM_OK)
		return result;
	FemVtkSource source = open_source(legacy, FEM_VTK_INT32);
	result = fem_vtk_take_whole(&source, count, &grid->types);
	grid->type_count = count;
	close_source(legacy, &source);
	return result;
}

// ---- data

static FemResult read_array(Legacy *legacy, FemToken name, FemVtkType type, int64_t components, int64_t tuples) {
	int rank = legacy->in_cell_data ? fem_vtk_region_rank(name, type, components) : 0;
	if (rank <= legacy->grid.region_rank)
		return skip_numbers(legacy, type, tuples, components);
	FemVtkSource source = open_source(legacy, type);
	FemResult result = fem_vtk_take_regions(&legacy->grid, &source, tuples, rank);
	close_source(legacy, &source);
	return result;
}

static FemResult read_scalars(Legacy *legacy) {
	FemToken name, token;
	FemVtkType type;
	int64_t components = 1;
	fem_text_token(&legacy->text, &name);
	FemResult result = take_type(legacy, &type);
	if (result != FEM_OK)
		return result;
	if (fem_text_token_in_line(&legacy->text, &token) && (!fem_token_int(token, &components) || components < 0))
		return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT, "the number of components should be here.");
	FemText ahead = legacy->text;
	if (fem_text_token(&ahead, &token) && fem_token_is_like(token, "LOOKUP_TABLE")) {
		fem_text_token_in_line(&ahead, &token);
		legacy->text = ahead;
	}
	return read_array(legacy, name, type, components, legacy->tuple_count);
}

// "KEYWORD name type" with a fixed number of components.
static FemResult skip_vectors(Legacy *legacy, int64_t components) {
	FemToken name;
	FemVtkType type;
	fem_text_token(&legacy->text, &name);
	FemResult result = take_type(legacy, &type);
	return result == FEM_OK ? read_array(legacy, name, type, components, legacy->tuple_count) : result;
}

static FemResult skip_texture_coordinates(Legacy *legacy) {
	FemToken name;
	FemVtkType type;
	int64_t components;
	fem_text_token(&legacy->text, &name);
	FemResult result = take_count(legacy, "the number of components", &components);
	if (result == FEM_OK)
		result = take_type(legacy, &type);
	return result == FEM_OK ? skip_numbers(legacy, type, legacy->tuple_count, components) : result;
}

// Colours are bytes in binary and fractions in text.
static FemResult skip_colors(Legacy *legacy, bool table) {
	FemToken name;
	int64_t count;
	fem_text_token(&legacy->text, &name);
	FemResult result = take_count(legacy, "the number of colours", &count);
	if (result != FEM_OK)
		return result;
	return skip_numbers(legacy, FEM_VTK_UINT8, table ? 4 : legacy->tuple_count, count);
}

// Up to a blank line.
static void skip_metadata(Legacy *legacy) {
	fem_text_rest_of_line(&legacy->text);
	while (fem_text_rest_of_line(&legacy->text).length > 0) {
	}
}

static FemResult read_field(Legacy *legacy) {
	FemToken name;
	int64_t arrays, components, tuples;
	FemVtkType type;
	fem_text_token(&legacy->text, &name);
	FemResult result = take_count(legacy, "the number of arrays", &arrays);
	for (int64_t i = 0; result == FEM_OK && i < arrays; i++) {
		fem_text_token(&legacy->text, &name);
		if (fem_token_is(name, "METADATA")) {
			skip_metadata(legacy);
			fem_text_token(&legacy->text, &name);
		}
		result = take_count(legacy, "the number of components", &components);
		if (result == FEM_OK)
			result = take_count(legacy, "the number of tuples", &tuples);
		if (result == FEM_OK)
			result = take_type(legacy, &type);
		if (result == FEM_OK)
			result = read_array(legacy, name, type, components, tuples);
	}
	return result;
}

// ---- keywords

static FemResult read_dataset(Legacy *legacy) {
	FemToken kind;
	if (fem_text_token(&legacy->text, &kind) && fem_token_is_like(kind, "UNSTRUCTURED_GRID"))
		return FEM_OK;
	return fem_text_fail(
		&legacy->text, FEM_ERROR_FORMAT, "only UNSTRUCTURED_GRID holds tets: convert the data set and save it again.");
}

static FemResult begin_data(Legacy *legacy, bool cells) {
	legacy->in_cell_data = cells;
	return take_count(legacy, "the number of tuples", &legacy->tuple_count);
}

static FemResult read_data_keyword(Legacy *legacy, FemToken word) {
	if (fem_token_is_like(word, "SCALARS"))
		return read_scalars(legacy);
	if (fem_token_is_like(word, "VECTORS") || fem_token_is_like(word, "NORMALS"))
		return skip_vectors(legacy, 3);
	if (fem_token_is_like(word, "TENSORS"))
		return skip_vectors(legacy, 9);
	if (fem_token_is_like(word, "TENSORS6"))
		return skip_vectors(legacy, 6);
	if (fem_token_is_like(word, "GLOBAL_IDS") || fem_token_is_like(word, "PEDIGREE_IDS") ||
		fem_token_is_like(word, "EDGE_FLAGS"))
		return skip_vectors(legacy, 1);
	if (fem_token_is_like(word, "TEXTURE_COORDINATES"))
		return skip_texture_coordinates(legacy);
	if (fem_token_is_like(word, "COLOR_SCALARS") || fem_token_is_like(word, "LOOKUP_TABLE"))
		return skip_colors(legacy, fem_token_is_like(word, "LOOKUP_TABLE"));
	return fem_text_fail(&legacy->text, FEM_ERROR_FORMAT,
		"\"%.*s\" is no keyword of VTK files: the file is damaged, export it again.",
		word.length < 30 ? word.length : 30, word.start);
}

static FemResult read_keyword(Legacy *legacy, FemToken word) {
	if (fem_token_is_like(word, "DATASET"))
		return read_dataset(legacy);
	if (fem_token_is_like(word, "POINTS"))
		return read_points(legacy);
	if (fem_token_is_like(word, "CELLS"))
		return read_cells(legacy);
	if (fem_token_is_like(word, "CELL_TYPES"))
		return read_cell_types(legacy);
	if (fem_token_is_like(word, "CELL_DATA") || fem_token_is_like(word, "POINT_DATA"))
		return begin_data(legacy, fem_token_is_like(word, "CELL_DATA"));
	if (fem_token_is_like(word, "FIELD"))
		return read_field(legacy);
	if (!fem_token_is_like(word, "METADATA"))
		return read_data_keyword(legacy, word);
	skip_metadata(legacy);
	return FEM_OK;
}

FemResult fem_read_vtk(FemImportBuilder *builder, FemText text) {
	Legacy legacy = {.grid = {.builder = builder}, .text = text};
	FemToken word;
	fem_text_rest_of_line(&legacy.text); // "# vtk DataFile Version 3.0", seen already
	fem_text_rest_of_line(&legacy.text); // a title
	if (!fem_text_token(&legacy.text, &word) ||
		!(fem_token_is_like(word, "ASCII") || fem_token_is_like(word, "BINARY")))
		return fem_text_fail(
			&legacy.text, FEM_ERROR_FORMAT, "the third line must be ASCII or BINARY: export the mesh again.");
	legacy.binary = fem_token_is_like(word, "BINARY");
	FemResult result = FEM_OK;
	while (result == FEM_OK && fem_text_token(&legacy.text, &word))
		result = read_keyword(&legacy, word);
	if (result == FEM_OK)
		result = fem_vtk_grid_finish(&legacy.grid);
	fem_vtk_grid_free(&legacy.grid);
	return result;
}
