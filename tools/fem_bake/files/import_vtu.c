// XML VTK (.vtu), uncompressed: arrays as text, as base64, or appended raw or in base64. The tags are walked once; the
// arrays that are needed are noted where they stand and read afterwards, since appended data comes last.
#include "base/memory.h"
#include "fem_bake/files/base64.h"
#include "fem_bake/files/vtk_grid.h"

typedef struct Tag {
	FemToken name;       // with the slash of a closing tag
	FemToken attributes; // all of them, unparsed
} Tag;

typedef enum ArrayForm {
	FORM_NONE,
	FORM_ASCII,
	FORM_BASE64,
	FORM_APPENDED,
} ArrayForm;

typedef struct Array {
	ArrayForm form;
	FemVtkType type;
	FemText content; // between the tags; for appended arrays unused
	int64_t offset;  // into the appended data
} Array;

typedef struct Vtu {
	FemVtkGrid grid;
	FemText text;
	FemToken section; // Points, Cells, CellData, ...
	bool big_endian;
	int header_width; // bytes of an array's length
	bool has_piece;
	int64_t point_count, cell_count;
	Array points, connectivity, ends, types, regions;
	int region_rank;
	const char *appended; // behind its "_", or null
	bool appended_base64;
} Vtu;

// ---- XML

static void move_to(FemText *text, const char *at) {
	for (; text->at < at; text->at++)
		text->line += *text->at == '\n';
}

// Behind the next `mark`; false when there is none.
static bool move_behind(FemText *text, const char *mark) {
	size_t length = strlen(mark);
	for (const char *at = text->at; (size_t)(text->end - at) >= length; at++) {
		at = memchr(at, mark[0], (size_t)(text->end - at) - length + 1);
		if (!at)
			break;
		if (memcmp(at, mark, length) == 0) {
			move_to(text, at + length);
			return true;
		}
	}
	return false;
}

// The next tag, comments and declarations left out; false at the end.
static bool next_tag(FemText *text, Tag *out) {
	while (move_behind(text, "<")) {
		bool comment = text->end - text->at >= 3 && memcmp(text->at, "!--", 3) == 0;
		if (comment && !move_behind(text, "-->"))
			return false;
		if (comment)
			continue;
		const char *start = text->at, *at = start;
		if (!move_behind(text, ">"))
			return false;
		const char *end = text->at - 1;
		while (at < end && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n' && !(*at == '/' && at > start))
			at++;
		*out = (Tag){.name = {start, (int32_t)(at - start)}, .attributes = {at, (int32_t)(end - at)}};
		if (*start != '?' && *start != '!')
			return true;
	}
	return false;
}

static bool is_space(char c) {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The value of an attribute; empty when there is none.
static FemToken attribute(const Tag *tag, const char *name) {
	const char *at = tag->attributes.start, *end = at + tag->attributes.length;
	while (at < end) {
		while (at < end && (is_space(*at) || *at == '/'))
			at++;
		const char *start = at;
		while (at < end && *at != '=' && !is_space(*at))
			at++;
		FemToken found = {start, (int32_t)(at - start)};
		while (at < end && (is_space(*at) || *at == '='))
			at++;
		if (at == end || (*at != '"' && *at != '\''))
			break;
		const char *value = at + 1, *close = memchr(value, *at, (size_t)(end - value));
		if (!close)
			break;
		if (fem_token_is_like(found, name))
			return (FemToken){value, (int32_t)(close - value)};
		at = close + 1;
	}
	return (FemToken){"", 0};
}

static FemResult fail(const Vtu *vtu, const char *sentence) {
	return fem_text_fail(&vtu->text, FEM_ERROR_FORMAT, "%s", sentence);
}

// ---- tags

static FemVtkType type_named(FemToken name) {
	static const char *names[] = {
		"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"};
	for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
		if (fem_token_is_like(name, names[i]))
			return (FemVtkType)(FEM_VTK_INT8 + i);
	}
	return FEM_VTK_UNKNOWN;
}

static FemResult open_file(Vtu *vtu, const Tag *tag) {
	FemToken header = attribute(tag, "header_type");
	if (!fem_token_is_like(attribute(tag, "type"), "UnstructuredGrid"))
		return fail(vtu, "only the type UnstructuredGrid holds tets: convert the data set and save it again.");
	if (attribute(tag, "compressor").length)
		return fail(vtu,
			"compressed arrays are not read: save the file without compression (in ParaView: Compressor Type None).");
	vtu->big_endian = fem_token_is_like(attribute(tag, "byte_order"), "BigEndian");
	vtu->header_width = fem_token_is_like(header, "UInt64") ? 8 : 4;
	return FEM_OK;
}

static FemResult open_piece(Vtu *vtu, const Tag *tag) {
	if (vtu->has_piece)
		return fail(
			vtu, "the grid is in several pieces: merge them (in ParaView: the filter Merge Blocks) and save it again.");
	vtu->has_piece = true;
	if (!fem_token_int(attribute(tag, "NumberOfPoints"), &vtu->point_count) || vtu->point_count < 0 ||
		!fem_token_int(attribute(tag, "NumberOfCells"), &vtu->cell_count) || vtu->cell_count < 0)
		return fail(vtu, "the piece does not say how many points and cells it has: export the mesh again.");
	return FEM_OK;
}

// Which of our arrays a DataArray is; null for one that we have no use for.
static Array *array_for(Vtu *vtu, const Tag *tag, FemVtkType type) {
	FemToken name = attribute(tag, "Name");
	int64_t components = 1;
	if (fem_token_is_like(vtu->section, "Points"))
		return &vtu->points;
	if (fem_token_is_like(vtu->section, "Cells")) {
		if (fem_token_is_like(name, "connectivity"))
			return &vtu->connectivity;
		if (fem_token_is_like(name, "offsets"))
			return &vtu->ends;
		return fem_token_is_like(name, "types") ? &vtu->types : NULL;
	}
	if (!fem_token_is_like(vtu->section, "CellData"))
		return NULL;
	FemToken written = attribute(tag, "NumberOfComponents");
	if (written.length && !fem_token_int(written, &components))
		return NULL;
	int rank = fem_vtk_region_rank(name, type, components);
	if (rank <= vtu->region_rank)
		return NULL;
	vtu->region_rank = rank;
	return &vtu->regions;
}

static FemResult note_array(Vtu *vtu, const Tag *tag) {
	FemToken form = attribute(tag, "format");
	FemVtkType type = type_named(attribute(tag, "type"));
	Array *array = array_for(vtu, tag, type);
	if (!array)
		return FEM_OK;
	bool ascii = fem_token_is_like(form, "ascii") || form.length == 0, base64 = fem_token_is_like(form, "binary");
	*array = (Array){.form = ascii ? FORM_ASCII
			: base64               ? FORM_BASE64
								   : FORM_APPENDED,
		.type = type,
		.content = vtu->text};
	if (type == FEM_VTK_UNKNOWN)
		return fail(vtu, "an array is of a type that is not read: export the mesh again.");
	if (array->form == FORM_APPENDED) {
		if (fem_token_is_like(form, "appended") && fem_token_int(attribute(tag, "offset"), &array->offset) &&
			array->offset >= 0)
			return FEM_OK;
		return fail(vtu, "an array does not say where its numbers are: export the mesh again.");
	}
	const char *end = memchr(vtu->text.at, '<', (size_t)(vtu->text.end - vtu->text.at));
	if (!end)
		return fail(vtu, "an array has no end: the file is cut short, export it again.");
	array->content.end = end;
	return FEM_OK;
}

static FemResult open_appended(Vtu *vtu, const Tag *tag) {
	vtu->appended_base64 = fem_token_is_like(attribute(tag, "encoding"), "base64");
	if (!move_behind(&vtu->text, "_"))
		return fail(vtu, "the appended data has no beginning (\"_\"): the file is cut short, export it again.");
	vtu->appended = vtu->text.at;
	return FEM_OK;
}

static FemResult read_tag(Vtu *vtu, const Tag *tag) {
	static const char *sections[] = {"Points", "Cells", "CellData", "PointData", "FieldData"};
	for (int i = 0; i < (int)(sizeof sections / sizeof *sections); i++) {
		if (fem_token_is(tag->name, sections[i]))
			vtu->section = tag->name;
	}
	if (fem_token_is(tag->name, "VTKFile"))
		return open_file(vtu, tag);
	if (vtu->header_width == 0)
		return fail(vtu, "the file must begin with <VTKFile>: it is no XML file of VTK.");
	if (fem_token_is(tag->name, "Piece"))
		return open_piece(vtu, tag);
	if (fem_token_is(tag->name, "DataArray"))
		return note_array(vtu, tag);
	return FEM_OK;
}

static FemResult walk_tags(Vtu *vtu) {
	FemResult result = FEM_OK;
	Tag tag;
	while (result == FEM_OK && next_tag(&vtu->text, &tag)) {
		// Nothing but bytes may follow, in which "<" means nothing.
		if (fem_token_is(tag.name, "AppendedData"))
			return vtu->header_width ? open_appended(vtu, &tag) : fail(vtu, "the file must begin with <VTKFile>.");
		result = read_tag(vtu, &tag);
	}
	if (result == FEM_OK && !vtu->has_piece)
		result = fail(vtu, "there is no <Piece> with points and cells: the file is cut short, export it again.");
	return result;
}

// ---- arrays

// An array opened for reading; `block` holds what was decoded.
typedef struct OpenArray {
	FemVtkSource source;
	uint8_t *block;
	size_t block_size;
} OpenArray;

static void close_array(OpenArray *open) {
	FEM_FREE_ARRAY(open->block, open->block_size);
}

// The length stands before the bytes, and is in the same base64.
static FemResult decode_block(const Vtu *vtu, const char *text, const char *end, OpenArray *open) {
	uint8_t header[8];
	size_t width = (size_t)vtu->header_width;
	if (fem_base64_decode(text, end, header, width) < width)
		return fail(vtu, "base64 data is cut short or damaged: export the mesh again.");
	FemBytes number = {.at = header, .end = header + width, .big_endian = vtu->big_endian};
	uint64_t size = fem_bytes_uint(&number, vtu->header_width);
	if (size > (uint64_t)(end - text))
		return fail(vtu, "base64 data is shorter than it says: the file is cut short, export it again.");
	open->block_size = width + (size_t)size;
	open->block = FEM_ALLOC_ARRAY(uint8_t, open->block_size);
	if (!open->block)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s.", vtu->text.name);
	if (fem_base64_decode(text, end, open->block, open->block_size) < open->block_size)
		return fail(vtu, "base64 data is cut short or damaged: export the mesh again.");
	open->source.bytes =
		(FemBytes){.at = open->block + width, .end = open->block + open->block_size, .big_endian = vtu->big_endian};
	return FEM_OK;
}

static FemResult open_raw(const Vtu *vtu, const char *data, OpenArray *open) {
	FemBytes bytes = {
		.at = (const uint8_t *)data, .end = (const uint8_t *)vtu->text.end, .big_endian = vtu->big_endian};
	uint64_t size = fem_bytes_uint(&bytes, vtu->header_width);
	if (bytes.failed || size > fem_bytes_left(&bytes))
		return fail(vtu, "the appended data is shorter than it says: the file is cut short, export it again.");
	bytes.end = bytes.at + size;
	open->source.bytes = bytes;
	return FEM_OK;
}

static FemResult open_array(const Vtu *vtu, const Array *array, const char *what, OpenArray *open) {
	*open = (OpenArray){.source = {.type = array->type, .ascii = array->form == FORM_ASCII, .text = array->content}};
	if (array->form == FORM_NONE)
		return fem_fail(FEM_ERROR_FORMAT, "%.60s has no array of %s: the file is cut short, export it again.",
			vtu->text.name, what);
	if (array->form == FORM_ASCII)
		return FEM_OK;
	if (array->form == FORM_BASE64)
		return decode_block(vtu, array->content.at, array->content.end, open);
	if (!vtu->appended || array->offset > vtu->text.end - vtu->appended)
		return fail(vtu, "an array lies behind the end of the file: it is cut short, export it again.");
	const char *data = vtu->appended + array->offset;
	return vtu->appended_base64 ? decode_block(vtu, data, vtu->text.end, open) : open_raw(vtu, data, open);
}

static FemResult read_whole(const Vtu *vtu, const Array *array, const char *what, int64_t count, int64_t **out) {
	OpenArray open;
	*out = NULL;
	FemResult result = open_array(vtu, array, what, &open);
	if (result == FEM_OK)
		result = fem_vtk_take_whole(&open.source, count, out);
	close_array(&open);
	return result;
}

static FemResult read_points(Vtu *vtu) {
	OpenArray open;
	FemResult result = open_array(vtu, &vtu->points, "points", &open);
	if (result == FEM_OK)
		result = fem_vtk_add_points(&vtu->grid, &open.source, vtu->point_count);
	close_array(&open);
	return result;
}

static FemResult read_cells(Vtu *vtu) {
	FemVtkGrid *grid = &vtu->grid;
	FemResult result = read_whole(vtu, &vtu->ends, "cell offsets", vtu->cell_count, &grid->ends);
	grid->cell_count = vtu->cell_count;
	if (result == FEM_OK)
		result = read_whole(vtu, &vtu->types, "cell types", vtu->cell_count, &grid->types);
	grid->type_count = vtu->cell_count;
	if (result != FEM_OK)
		return result;
	grid->connectivity_count = grid->cell_count ? grid->ends[grid->cell_count - 1] : 0;
	return read_whole(vtu, &vtu->connectivity, "connectivity", grid->connectivity_count, &grid->connectivity);
}

static FemResult read_regions(Vtu *vtu) {
	OpenArray open;
	if (vtu->regions.form == FORM_NONE)
		return FEM_OK;
	FemResult result = open_array(vtu, &vtu->regions, "regions", &open);
	if (result == FEM_OK)
		result = fem_vtk_take_regions(&vtu->grid, &open.source, vtu->cell_count, vtu->region_rank);
	close_array(&open);
	return result;
}

FemResult fem_read_vtu(FemImportBuilder *builder, FemText text) {
	Vtu vtu = {.grid = {.builder = builder}, .text = text, .section = {"", 0}};
	FemResult result = walk_tags(&vtu);
	if (result == FEM_OK)
		result = read_points(&vtu);
	if (result == FEM_OK)
		result = read_cells(&vtu);
	if (result == FEM_OK)
		result = read_regions(&vtu);
	if (result == FEM_OK)
		result = fem_vtk_grid_finish(&vtu.grid);
	fem_vtk_grid_free(&vtu.grid);
	return result;
}
