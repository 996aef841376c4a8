// Gmsh's .msh 2.2 and 4.1. ASCII and binary hold the same numbers in the same order, so one reader serves both: it asks
// for the next int, size or real. The first failure is kept, and from then on every number is 0.
#include "base/growing.h"
#include "fem_bake/files/import_builder.h"

#include <math.h>

typedef struct Volume {
	int32_t entity, group; // the first of its physical groups
} Volume;

typedef struct Gmsh {
	FemImportBuilder *builder;
	FemText text;
	FemResult result;
	bool binary, big_endian;
	int size_width; // bytes of a size_t in binary 4.1
	double version;
	Volume *volumes; // those that are in a physical group
	int32_t volume_count, volume_capacity, volume_at;
} Gmsh;

// ---- numbers

static bool good(const Gmsh *gmsh) {
	return gmsh->result == FEM_OK;
}

// Binary files have no lines: the sentence then names the byte.
static void fail(Gmsh *gmsh, const char *sentence) {
	const FemText *text = &gmsh->text;
	if (!good(gmsh))
		return;
	if (gmsh->binary)
		gmsh->result =
			fem_fail(FEM_ERROR_FORMAT, "%.60s, byte %.0f: %s", text->name, (double)(text->at - text->start), sentence);
	else
		gmsh->result = fem_text_fail(text, FEM_ERROR_FORMAT, "%s", sentence);
}

static FemBytes binary_rest(const Gmsh *gmsh) {
	return (FemBytes){
		.at = (const uint8_t *)gmsh->text.at, .end = (const uint8_t *)gmsh->text.end, .big_endian = gmsh->big_endian};
}

static void advance(Gmsh *gmsh, const FemBytes *bytes) {
	if (bytes->failed)
		fail(gmsh, "the file is cut short: export it again.");
	else
		gmsh->text.at = (const char *)bytes->at;
}

static int64_t take_whole(Gmsh *gmsh, int width, const char *what) {
	int64_t value = 0;
	if (!good(gmsh))
		return 0;
	if (gmsh->binary) {
		FemBytes bytes = binary_rest(gmsh);
		value = fem_bytes_int(&bytes, width);
		advance(gmsh, &bytes);
	} else {
		gmsh->result = fem_text_int(&gmsh->text, what, &value);
	}
	return good(gmsh) ? value : 0;
}

static int64_t take_int(Gmsh *gmsh, const char *what) {
	return take_whole(gmsh, 4, what);
}

// Counts and tags of 4.1.
static int64_t take_size(Gmsh *gmsh, const char *what) {
	int64_t value = take_whole(gmsh, gmsh->size_width, what);
	if (value < 0)
		fail(gmsh, "a count or tag is negative: the file is damaged, export it again.");
	return good(gmsh) ? value : 0;
}

static double take_real(Gmsh *gmsh, const char *what) {
	double value = 0.0;
	if (!good(gmsh))
		return 0.0;
	if (gmsh->binary) {
		FemBytes bytes = binary_rest(gmsh);
		value = fem_bytes_double(&bytes);
		advance(gmsh, &bytes);
		if (!isfinite(value))
			fail(gmsh, "a number is not finite: correct the mesh or export it again.");
	} else {
		gmsh->result = fem_text_real(&gmsh->text, what, &value);
	}
	return value;
}

// ---- elements

// How many nodes the elements of each Gmsh type have; 0: a type we do not know.
static int nodes_of_type(int64_t type) {
	static const uint8_t counts[] = {
		0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5, 6, 20, 35, 56};
	if (type == 92 || type == 93)
		return type == 92 ? 64 : 125;
	return type > 0 && type < (int64_t)sizeof counts ? counts[type] : 0;
}

static bool is_tet(int64_t type) {
	return type == 4 || type == 11 || (type >= 29 && type <= 31);
}

static bool is_other_solid(int64_t type) {
	return (type >= 5 && type <= 7) || (type >= 12 && type <= 14) || (type >= 17 && type <= 19) || type == 92 ||
		type == 93;
}

static void take_element(Gmsh *gmsh, int64_t type, int node_count, int width, FemImportTet *tet) {
	FemImportBuilder *builder = gmsh->builder;
	for (int v = 0; v < node_count && good(gmsh); v++) {
		int64_t node = take_whole(gmsh, width, "a node of an element");
		if (v < 4)
			tet->nodes[v] = node;
	}
	if (!good(gmsh))
		return;
	if (is_tet(type))
		gmsh->result = fem_import_add_tet(builder, tet);
	else if (is_other_solid(type))
		builder->solid_count++;
	else
		builder->flat_count++;
}

static int checked_nodes(Gmsh *gmsh, int64_t type) {
	int count = nodes_of_type(type);
	if (good(gmsh) && count == 0)
		fail(gmsh, "an element is of an unknown type: save the mesh with elements of first or second order.");
	return count;
}

// ---- version 2.2

static void read_nodes_2(Gmsh *gmsh) {
	// The count is text in binary files too; behind its line end the bytes begin.
	FemToken line = fem_text_rest_of_line(&gmsh->text);
	int64_t count = 0;
	if (!fem_token_int(line, &count) || count < 0)
		fail(gmsh, "the number of nodes should be here.");
	for (int64_t i = 0; i < count && good(gmsh); i++) {
		double position[3];
		int64_t id = take_int(gmsh, "a node's number");
		for (int axis = 0; axis < 3; axis++)
			position[axis] = take_real(gmsh, "a coordinate");
		if (good(gmsh))
			gmsh->result = fem_import_add_node(gmsh->builder, id, position);
	}
}

// Tags: the physical group, then the entity, then partitions.
static void take_tags_2(Gmsh *gmsh, int64_t tag_count, FemImportTet *tet) {
	if (tag_count < 0)
		fail(gmsh, "an element has a negative number of tags: the file is damaged, export it again.");
	for (int64_t i = 0; i < tag_count && good(gmsh); i++) {
		int64_t tag = take_int(gmsh, "a tag of an element");
		if (i == 0)
			tet->region = (double)tag;
		else if (i == 1)
			tet->other_region = (double)tag;
	}
}

static void read_element_text_2(Gmsh *gmsh) {
	FemImportTet tet = {0};
	take_int(gmsh, "an element's number");
	int64_t type = take_int(gmsh, "an element's type");
	int node_count = checked_nodes(gmsh, type);
	take_tags_2(gmsh, take_int(gmsh, "a number of tags"), &tet);
	take_element(gmsh, type, node_count, 4, &tet);
}

// A run of elements of one type; returns how many.
static int64_t read_elements_binary_2(Gmsh *gmsh) {
	int64_t type = take_int(gmsh, ""), count = take_int(gmsh, ""), tag_count = take_int(gmsh, "");
	int node_count = checked_nodes(gmsh, type);
	if (count < 1)
		fail(gmsh, "a run of elements is empty: the file is damaged, export it again.");
	for (int64_t i = 0; i < count && good(gmsh); i++) {
		FemImportTet tet = {0};
		take_int(gmsh, "");
		take_tags_2(gmsh, tag_count, &tet);
		take_element(gmsh, type, node_count, 4, &tet);
	}
	return count;
}

static void read_elements_2(Gmsh *gmsh) {
	FemToken line = fem_text_rest_of_line(&gmsh->text);
	int64_t count = 0;
	if (!fem_token_int(line, &count) || count < 0)
		fail(gmsh, "the number of elements should be here.");
	for (int64_t i = 0; i < count && good(gmsh);) {
		if (gmsh->binary) {
			i += read_elements_binary_2(gmsh);
		} else {
			read_element_text_2(gmsh);
			i++;
		}
	}
}

// ---- version 4.1

static void remember_volume(Gmsh *gmsh, int64_t entity, int64_t group) {
	if (FEM_GROW(gmsh->volumes, gmsh->volume_count, &gmsh->volume_capacity))
		gmsh->volumes[gmsh->volume_count++] = (Volume){(int32_t)entity, (int32_t)group};
	else
		gmsh->result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s.", gmsh->text.name);
}

// Blocks of elements follow the order of the volumes, so the search goes on where the last one ended.
static double group_of_volume(Gmsh *gmsh, int64_t entity) {
	for (int32_t tried = 0; tried < gmsh->volume_count; tried++) {
		const Volume *volume = &gmsh->volumes[gmsh->volume_at];
		if (volume->entity == entity)
			return (double)volume->group;
		gmsh->volume_at = (gmsh->volume_at + 1) % gmsh->volume_count;
	}
	return 0.0;
}

// A point has a place, all others have a box and the entities that bound them.
static void read_entity(Gmsh *gmsh, int dimension) {
	int64_t tag = take_int(gmsh, "an entity's tag"), first = 0;
	for (int i = 0; i < (dimension == 0 ? 3 : 6); i++)
		take_real(gmsh, "a coordinate of an entity");
	int64_t groups = take_size(gmsh, "a number of physical groups");
	for (int64_t i = 0; i < groups && good(gmsh); i++) {
		int64_t group = take_int(gmsh, "a physical group");
		first = i == 0 ? group : first;
	}
	int64_t bounds = dimension == 0 ? 0 : take_size(gmsh, "a number of bounding entities");
	for (int64_t i = 0; i < bounds && good(gmsh); i++)
		take_int(gmsh, "a bounding entity");
	if (good(gmsh) && dimension == 3 && first != 0)
		remember_volume(gmsh, tag, first);
}

static void read_entities(Gmsh *gmsh) {
	int64_t counts[4];
	for (int dimension = 0; dimension < 4; dimension++)
		counts[dimension] = take_size(gmsh, "a number of entities");
	for (int dimension = 0; dimension < 4; dimension++) {
		for (int64_t i = 0; i < counts[dimension] && good(gmsh); i++)
			read_entity(gmsh, dimension);
	}
}

// The tags of a block come before its coordinates: nodes are entered with the first and placed with the second.
static void read_node_block(Gmsh *gmsh) {
	FemImportBuilder *builder = gmsh->builder;
	int64_t dimension = take_int(gmsh, "a dimension");
	take_int(gmsh, "an entity");
	int64_t parametric = take_int(gmsh, "0 or 1");
	int64_t count = take_size(gmsh, "a number of nodes");
	int32_t first = builder->node_count;
	int extra = parametric > 0 && dimension > 0 && dimension <= 3 ? (int)dimension : 0;
	for (int64_t i = 0; i < count && good(gmsh); i++) {
		int64_t id = take_size(gmsh, "a node's number");
		if (good(gmsh))
			gmsh->result = fem_import_add_node(builder, id, (double[3]){0.0, 0.0, 0.0});
	}
	for (int32_t i = first; i < builder->node_count && good(gmsh); i++) {
		for (int axis = 0; axis < 3; axis++)
			builder->nodes[i].position[axis] = take_real(gmsh, "a coordinate");
		for (int axis = 0; axis < extra; axis++)
			take_real(gmsh, "a parametric coordinate");
	}
}

static void read_element_block(Gmsh *gmsh) {
	take_int(gmsh, "a dimension");
	int64_t entity = take_int(gmsh, "an entity"), type = take_int(gmsh, "an element's type");
	int64_t count = take_size(gmsh, "a number of elements");
	int node_count = checked_nodes(gmsh, type);
	double group = is_tet(type) ? group_of_volume(gmsh, entity) : 0.0;
	for (int64_t i = 0; i < count && good(gmsh); i++) {
		FemImportTet tet = {.region = group, .other_region = (double)entity};
		take_size(gmsh, "an element's number");
		take_element(gmsh, type, node_count, gmsh->size_width, &tet);
	}
}

static void read_blocks_4(Gmsh *gmsh, void (*read_block)(Gmsh *)) {
	int64_t blocks = take_size(gmsh, "a number of blocks");
	for (int i = 0; i < 3; i++) // total, smallest and largest tag
		take_size(gmsh, "a count");
	for (int64_t i = 0; i < blocks && good(gmsh); i++)
		read_block(gmsh);
}

// ---- sections

// "dimension tag "name"" a line: text in binary files too.
static void read_physical_names(Gmsh *gmsh) {
	int64_t count = 0;
	if (!fem_token_int(fem_text_rest_of_line(&gmsh->text), &count))
		fail(gmsh, "the number of physical names should be here.");
	for (int64_t i = 0; i < count && good(gmsh); i++) {
		int64_t dimension, tag;
		gmsh->result = fem_text_int(&gmsh->text, "a dimension", &dimension);
		if (good(gmsh))
			gmsh->result = fem_text_int(&gmsh->text, "a physical group", &tag);
		FemToken name = fem_text_rest_of_line(&gmsh->text);
		if (name.length >= 2 && name.start[0] == '"' && name.start[name.length - 1] == '"')
			name = (FemToken){name.start + 1, name.length - 2};
		if (good(gmsh) && dimension == 3)
			fem_import_name_region(gmsh->builder, (double)tag, name);
	}
}

static void read_format(Gmsh *gmsh) {
	double version = 0.0, kind = 0.0, width = 0.0;
	gmsh->result = fem_text_real(&gmsh->text, "the version", &version);
	if (good(gmsh))
		gmsh->result = fem_text_real(&gmsh->text, "0 (ASCII) or 1 (binary)", &kind);
	if (good(gmsh))
		gmsh->result = fem_text_real(&gmsh->text, "the size of a number", &width);
	if (good(gmsh) && !(version >= 2.0 && version < 3.0) && version != 4.1)
		fail(gmsh, "this version of Gmsh's format is not read: save the mesh as \"Version 4.1\" or \"Version 2\".");
	if (good(gmsh) && width != 8.0 && !(width == 4.0 && version > 4.0))
		fail(gmsh, "numbers of 8 bytes are needed: export the mesh again.");
	if (!good(gmsh))
		return;
	gmsh->version = version;
	gmsh->size_width = (int)width;
	if (kind != 1.0)
		return;
	fem_text_rest_of_line(&gmsh->text);
	gmsh->binary = true;
	FemBytes one = binary_rest(gmsh); // an int 1 shows the byte order
	gmsh->big_endian = fem_bytes_uint(&one, 4) == 0x01000000u;
	if (take_int(gmsh, "") != 1)
		fail(gmsh, "the byte order is not marked: the file is damaged, export it again.");
}

// What we have no use for is skipped up to its "$End...".
static void skip_section(Gmsh *gmsh, FemToken name) {
	const char *at = gmsh->text.at, *end = gmsh->text.end;
	size_t length = (size_t)name.length - 1;
	for (; at < end; at++) {
		at = memchr(at, '$', (size_t)(end - at));
		if (!at)
			break;
		if ((size_t)(end - at) >= length + 4 && memcmp(at, "$End", 4) == 0 &&
			memcmp(at + 4, name.start + 1, length) == 0) {
			for (const char *c = gmsh->text.at; !gmsh->binary && c < at; c++)
				gmsh->text.line += *c == '\n';
			gmsh->text.at = at;
			return;
		}
	}
	fail(gmsh, "a section has no end: the file is cut short, export it again.");
}

static void read_content(Gmsh *gmsh, FemToken name) {
	bool old = gmsh->version < 3.0;
	// The section's name ends its line; in binary the bytes begin right behind it.
	if (fem_token_is(name, "$Nodes") || fem_token_is(name, "$Elements") || fem_token_is(name, "$Entities") ||
		fem_token_is(name, "$PhysicalNames") || fem_token_is(name, "$MeshFormat"))
		fem_text_rest_of_line(&gmsh->text);
	if (fem_token_is(name, "$MeshFormat"))
		read_format(gmsh);
	else if (gmsh->version == 0.0)
		fail(gmsh, "the file must begin with $MeshFormat: save the mesh again with Gmsh as \"Version 4.1\".");
	else if (fem_token_is(name, "$PhysicalNames"))
		read_physical_names(gmsh);
	else if (fem_token_is(name, "$Entities") && !old)
		read_entities(gmsh);
	else if (fem_token_is(name, "$Nodes") && old)
		read_nodes_2(gmsh);
	else if (fem_token_is(name, "$Nodes"))
		read_blocks_4(gmsh, read_node_block);
	else if (fem_token_is(name, "$Elements") && old)
		read_elements_2(gmsh);
	else if (fem_token_is(name, "$Elements"))
		read_blocks_4(gmsh, read_element_block);
	else
		skip_section(gmsh, name);
}

static void read_section(Gmsh *gmsh, FemToken name) {
	FemToken end;
	if (name.length < 2 || name.start[0] != '$') {
		fail(gmsh, "a section ($Nodes, $Elements, ...) should begin here: the file is damaged, export it again.");
		return;
	}
	read_content(gmsh, name);
	if (!good(gmsh))
		return;
	bool closed = fem_text_token(&gmsh->text, &end) && end.length == name.length + 3 &&
		memcmp(end.start, "$End", 4) == 0 && memcmp(end.start + 4, name.start + 1, (size_t)name.length - 1) == 0;
	if (!closed)
		fail(gmsh, "a section is longer than its count says, or not closed: the file is damaged, export it again.");
}

FemResult fem_read_gmsh(FemImportBuilder *builder, FemText text) {
	Gmsh gmsh = {.builder = builder, .text = text, .result = FEM_OK, .size_width = 8};
	FemToken name;
	while (good(&gmsh) && fem_text_token(&gmsh.text, &name))
		read_section(&gmsh, name);
	FEM_FREE_ARRAY(gmsh.volumes, gmsh.volume_capacity);
	return gmsh.result;
}
