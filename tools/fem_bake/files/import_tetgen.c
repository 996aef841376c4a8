// TetGen's .node and .ele: lines of numbers, numbered from 0 or from 1, with comments behind #.
#include "fem_bake/files/import_builder.h"

#define NODES_A_TET_MAX 64 // that a file may name; chosen: TetGen writes 4 or 10

// The first line of either file: a count, then up to 3 numbers that may be left out.
static FemResult read_header(FemText *text, const char *what, int64_t *out_count, int64_t options[3]) {
	FemToken token;
	FemResult result = fem_text_int(text, what, out_count);
	if (result != FEM_OK)
		return result;
	if (*out_count < 1)
		return fem_text_fail(text, FEM_ERROR_FORMAT, "%s is %.0f: it must be at least 1.", what, (double)*out_count);
	for (int i = 0; i < 3 && fem_text_token_in_line(text, &token); i++) {
		if (!fem_token_int(token, &options[i]) || options[i] < 0)
			return fem_text_fail(
				text, FEM_ERROR_FORMAT, "the first line must be counts: %s", "export the mesh again with TetGen.");
	}
	return FEM_OK;
}

static void skip_rest(FemText *text) {
	FemToken token;
	while (fem_text_token_in_line(text, &token)) {
	}
}

static FemResult read_nodes(FemImportBuilder *builder, FemText *text) {
	int64_t count, options[3] = {3, 0, 0}; // dimension, attributes, boundary markers
	FemResult result = read_header(text, "the number of points", &count, options);
	if (result == FEM_OK && options[0] != 3)
		result = fem_text_fail(
			text, FEM_ERROR_FORMAT, "the points have %.0f coordinates: 3 are needed.", (double)options[0]);
	for (int64_t i = 0; result == FEM_OK && i < count; i++) {
		int64_t id;
		double position[3];
		result = fem_text_int(text, "a point's number", &id);
		for (int axis = 0; result == FEM_OK && axis < 3; axis++)
			result = fem_text_real(text, "a coordinate", &position[axis]);
		skip_rest(text); // attributes and the boundary marker
		if (result == FEM_OK)
			result = fem_import_add_node(builder, id, position);
	}
	return result;
}

static FemResult read_tet(FemImportBuilder *builder, FemText *text, int64_t corners, int64_t attributes) {
	int64_t number;
	FemImportTet tet = {0};
	FemResult result = fem_text_int(text, "a tet's number", &number);
	for (int64_t v = 0; result == FEM_OK && v < corners; v++) // the first 4 are the corners, the others lie on edges
		result = fem_text_int(text, "a point of a tet", v < 4 ? &tet.nodes[v] : &number);
	if (result == FEM_OK && attributes > 0)
		result = fem_text_real(text, "the region of a tet", &tet.region);
	skip_rest(text);
	return result == FEM_OK ? fem_import_add_tet(builder, &tet) : result;
}

static FemResult read_tets(FemImportBuilder *builder, FemText *text) {
	int64_t count, options[3] = {4, 0, 0}; // points a tet, attributes
	FemResult result = read_header(text, "the number of tets", &count, options);
	if (result == FEM_OK && (options[0] < 4 || options[0] > NODES_A_TET_MAX))
		result =
			fem_text_fail(text, FEM_ERROR_FORMAT, "each tet has %.0f points: 4 or 10 are usual.", (double)options[0]);
	for (int64_t i = 0; result == FEM_OK && i < count; i++)
		result = read_tet(builder, text, options[0], options[1]);
	return result;
}

FemResult fem_read_tetgen(FemImportBuilder *builder, FemText nodes, FemText tets) {
	nodes.comment = '#';
	tets.comment = '#';
	FemResult result = read_nodes(builder, &nodes);
	return result == FEM_OK ? read_tets(builder, &tets) : result;
}
