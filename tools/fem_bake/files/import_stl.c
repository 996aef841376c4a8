// STL in both its forms. The normals in the file are not used: many programs write zeros or NaN for thin triangles.
#include "base/byte_reader.h"
#include "base/growing.h"
#include "base/vec.h"
#include "fem_bake/files/import_surface.h"

#include <string.h>

#define HEADER_SIZE 84      // 80 bytes of anything, then the number of triangles
#define TRIANGLE_SIZE 50    // bytes: a normal, three corners and a word
#define COORDINATE_MAX 1e18 // m, fits float with room for products

typedef struct Corners {
	FemVec3 *points; // 3 a triangle
	int32_t count, capacity;
} Corners;

static FemVec3 normal_of(const FemVec3 *points) {
	FemVec3d a = fem_vec3d_from(points[0]);
	FemVec3d n =
		fem_vec3d_cross(fem_vec3d_sub(fem_vec3d_from(points[1]), a), fem_vec3d_sub(fem_vec3d_from(points[2]), a));
	double length = sqrt(fem_vec3d_dot(n, n));
	if (!(length > 0.0))
		return (FemVec3){0.0f, 1.0f, 0.0f}; // without area: any direction will do
	return fem_vec3d_to_vec3(fem_vec3d_scale(n, 1.0 / length));
}

static FemResult fail_memory(const FemText *text) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s: use a coarser mesh.", text->name);
}

// The triangles read so far become a surface; none is made of nothing.
static FemResult make_surface(const FemText *text, Corners *corners, FemToken title, FemRenderMesh *out) {
	char name[FEM_SURFACE_NAME_SIZE];
	if (corners->count == 0)
		return FEM_OK;
	fem_token_copy(title, name, sizeof name);
	FemRenderSurface *surface = fem_render_mesh_add(out, name, "");
	if (!surface)
		return fem_text_fail(
			text, FEM_ERROR_LIMIT, "there are more than %d solids: join some of them.", FEM_SURFACE_MAX);
	if (!fem_render_surface_reserve(surface, corners->count, corners->count, FEM_ATTRIBUTE_NORMAL))
		return fail_memory(text);
	for (int32_t i = 0; i < corners->count; i++) {
		surface->positions[i] = corners->points[i];
		surface->indices[i] = i;
		surface->normals[i] = normal_of(corners->points + i / 3 * 3);
	}
	corners->count = 0;
	return FEM_OK;
}

static FemResult add_corner(const FemText *text, Corners *corners, const double p[3]) {
	if (!FEM_GROW(corners->points, corners->count, &corners->capacity))
		return fail_memory(text);
	for (int axis = 0; axis < 3; axis++) {
		if (!(fabs(p[axis]) <= COORDINATE_MAX))
			return fem_text_fail(text, FEM_ERROR_FORMAT,
				"a coordinate of triangle %d is not finite or too large: correct it.", corners->count / 3);
	}
	corners->points[corners->count++] = (FemVec3){(float)p[0], (float)p[1], (float)p[2]};
	return FEM_OK;
}

// ---- binary

static uint32_t binary_count(const FemText *text) {
	FemBytes bytes = {.at = (const uint8_t *)text->start + 80, .end = (const uint8_t *)text->end};
	return (uint32_t)fem_bytes_uint(&bytes, 4);
}

static FemResult read_binary(FemText *text, Corners *corners, FemRenderMesh *out) {
	uint32_t count = binary_count(text);
	FemBytes bytes = {.at = (const uint8_t *)text->start + HEADER_SIZE, .end = (const uint8_t *)text->end};
	if (count > fem_bytes_left(&bytes) / TRIANGLE_SIZE)
		return fem_fail(FEM_ERROR_FORMAT, "%.60s claims %u triangles but holds %u: it is cut short, export it again.",
			text->name, count, (uint32_t)(fem_bytes_left(&bytes) / TRIANGLE_SIZE));
	FemResult result = FEM_OK;
	for (uint32_t t = 0; result == FEM_OK && t < count; t++) {
		bytes.at += 12; // the normal
		for (int v = 0; result == FEM_OK && v < 3; v++) {
			double p[3];
			for (int axis = 0; axis < 3; axis++)
				p[axis] = (double)fem_bytes_float(&bytes);
			result = add_corner(text, corners, p);
		}
		bytes.at += 2; // "attributes"
	}
	return result == FEM_OK ? make_surface(text, corners, (FemToken){"", 0}, out) : result;
}

// ---- text

static FemResult expect(FemText *text, const char *word) {
	FemToken token;
	if (fem_text_token(text, &token) && fem_token_is_like(token, word))
		return FEM_OK;
	return fem_text_fail(
		text, FEM_ERROR_FORMAT, "\"%s\" should be here: the file is cut short or damaged, export it again.", word);
}

// Behind "facet": "normal x y z outer loop", 3 times "vertex x y z", "endloop endfacet".
static FemResult read_facet(FemText *text, Corners *corners) {
	FemToken skipped;
	FemResult result = expect(text, "normal");
	for (int i = 0; i < 3; i++)
		fem_text_token(text, &skipped);
	if (result == FEM_OK)
		result = expect(text, "outer");
	if (result == FEM_OK)
		result = expect(text, "loop");
	for (int v = 0; result == FEM_OK && v < 3; v++) {
		double p[3];
		result = expect(text, "vertex");
		for (int axis = 0; result == FEM_OK && axis < 3; axis++)
			result = fem_text_real(text, "a coordinate", &p[axis]);
		if (result == FEM_OK)
			result = add_corner(text, corners, p);
	}
	if (result == FEM_OK)
		result = expect(text, "endloop");
	return result == FEM_OK ? expect(text, "endfacet") : result;
}

static FemResult read_solids(FemText *text, Corners *corners, FemRenderMesh *out) {
	FemToken word, title = {"", 0};
	FemResult result = FEM_OK;
	bool open = false;
	while (result == FEM_OK && fem_text_token(text, &word)) {
		if (fem_token_is_like(word, "facet")) {
			result = read_facet(text, corners);
		} else if (fem_token_is_like(word, "solid")) {
			title = fem_text_rest_of_line(text);
			open = true;
		} else if (fem_token_is_like(word, "endsolid")) {
			fem_text_rest_of_line(text);
			result = make_surface(text, corners, title, out);
			open = false;
		} else {
			result = fem_text_fail(text, FEM_ERROR_FORMAT,
				"\"facet\" or \"endsolid\" should be here: the file is damaged, export it again.");
		}
	}
	if (result == FEM_OK && open)
		result = fem_text_fail(
			text, FEM_ERROR_FORMAT, "the file ends before \"endsolid\": it is cut short, export it again.");
	return result;
}

// Binary files may begin with "solid" too: the size decides.
FemResult fem_read_stl(FemText text, FemRenderMesh *out) {
	Corners corners = {0};
	size_t size = (size_t)(text.end - text.start);
	bool titled = size >= 5 && fem_token_is_like((FemToken){text.start, 5}, "solid");
	bool sized = size >= HEADER_SIZE && size == HEADER_SIZE + (size_t)binary_count(&text) * TRIANGLE_SIZE;
	FemResult result;
	if (titled && !sized)
		result = read_solids(&text, &corners, out);
	else if (size >= HEADER_SIZE)
		result = read_binary(&text, &corners, out);
	else
		result = fem_fail(FEM_ERROR_FORMAT, "%.60s is no STL file, or cut short: export it again.", text.name);
	FEM_FREE_ARRAY(corners.points, corners.capacity);
	return result;
}
