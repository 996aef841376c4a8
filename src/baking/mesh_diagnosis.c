#include "baking/mesh_diagnosis.h"

#include "base/error.h"
#include "base/memory.h"
#include "filling/solid.h"
#include "filling/soup_topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define THICKNESS_SAMPLES 400 // triangles from which the thickness of walls is looked for; chosen
#define TINY_SHARE 0.02       // of the mesh: smaller members are told of as tiny; chosen
#define THIN_SHARE 0.05       // of the mesh: thinner walls are told of as thin; chosen
#define SIZE_DOUBTED 20.0     // m: larger than most props: a note names the factor that would make it one; chosen
#define SIZE_LARGE 200.0      // m: a larger mesh is probably in cm or mm; chosen
#define SIZE_SMALL 0.01       // m: a smaller one is probably in km or inches; chosen
#define PROP_SMALL 0.05       // m: the smallest prop; chosen
#define STEP_US_PER_TET 0.2   // us a tet and step of a live body on one core: bar2k and bar60k take 0.16 to 0.25

// ---- numbers

static void measure_surface(const FemTriangles *triangles, FemDiagnosis *out) {
	double volume = 0.0, size = triangles->frame.size;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		out->area += sqrt(fem_vec3d_dot(n, n)) * size * size;
		volume += fem_vec3d_dot(fem_triangle_corner(triangles, t, 0), n) / 3.0;
	}
	out->volume = fabs(volume) * size * size * size;
	out->size = size;
	out->scale_suspect = size > SIZE_LARGE || size < SIZE_SMALL;
}

static bool count_tiny(const FemTriangles *triangles, int32_t *out_tiny) {
	int32_t count = triangles->component_count;
	float(*boxes)[6] = fem_alloc(sizeof *boxes * (size_t)count);
	if (!boxes)
		return false;
	for (int32_t c = 0; c < count; c++)
		for (int axis = 0; axis < 3; axis++) {
			boxes[c][axis] = 2.0f;
			boxes[c][axis + 3] = -2.0f;
		}
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		for (int v = 0; v < 3; v++) {
			const float *p = &triangles->vertices[triangles->triangles[t][v]].x;
			float *box = boxes[triangles->components[t]];
			for (int axis = 0; axis < 3; axis++) {
				box[axis] = fminf(box[axis], p[axis]);
				box[axis + 3] = fmaxf(box[axis + 3], p[axis]);
			}
		}
	*out_tiny = 0;
	for (int32_t c = 0; c < count; c++)
		*out_tiny +=
			fmaxf(boxes[c][3] - boxes[c][0], fmaxf(boxes[c][4] - boxes[c][1], boxes[c][5] - boxes[c][2])) < TINY_SHARE;
	FEM_FREE_ARRAY(boxes, count);
	return true;
}

typedef struct Wall {
	double thickness, area;
} Wall;

static int compare_walls(const void *left, const void *right) {
	const Wall *a = left, *b = right;
	return a->thickness < b->thickness ? -1 : a->thickness > b->thickness;
}

static void measure_walls(const FemSolid *solid, FemDiagnosis *out) {
	const FemTriangles *triangles = &solid->triangles;
	int32_t stride = triangles->triangle_count / THICKNESS_SAMPLES + 1, count = 0;
	Wall walls[THICKNESS_SAMPLES + 1];
	double area = 0.0, thin = 0.0, passed = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t += stride) {
		FemVec3d n = fem_triangle_area_vector(triangles, t), middle = {0};
		double size = sqrt(fem_vec3d_dot(n, n));
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(fem_triangle_corner(triangles, t, v), 1.0 / 3.0));
		walls[count] = (Wall){fem_solid_thickness(solid, t, middle, 2.0), size};
		area += size;
		thin += walls[count++].thickness < THIN_SHARE ? size : 0.0;
	}
	qsort(walls, (size_t)count, sizeof *walls, compare_walls);
	int32_t middle = 0;
	for (; middle + 1 < count && passed + walls[middle].area < 0.5 * area; middle++)
		passed += walls[middle].area;
	out->wall = walls[middle].thickness * triangles->frame.size;
	out->thin_share = thin / area;
}

static FemResult shoot_walls(FemTriangles *triangles, FemDiagnosis *out) {
	FemSolid solid = {.triangles = *triangles};
	FemResult result = fem_triangle_bvh_create(&solid.bvh, &solid.triangles);
	if (result == FEM_OK)
		result = fem_winding_create(&solid.winding, &solid.bvh);
	if (result == FEM_OK)
		measure_walls(&solid, out);
	fem_winding_free(&solid.winding);
	fem_triangle_bvh_free(&solid.bvh);
	return result;
}

static void describe_tets(const FemTetMesh *mesh, FemDiagnosis *out) {
	out->tet_count = mesh->tet_count;
	out->step_ms = mesh->tet_count * STEP_US_PER_TET * 1e-3;
	out->min_dihedral = (double)mesh->min_dihedral;
	double enclosed = 0.0,
		   filled = 0.0; // of members that enclose something: sheets and hollow ones have no such volume
	for (int32_t member = 0; member < mesh->member_count; member++) {
		out->stiffness_excess = fmax(out->stiffness_excess, (double)mesh->members[member].stiffness_excess);
		enclosed += (double)mesh->members[member].input_volume;
		filled += mesh->members[member].input_volume > 0.0f ? (double)mesh->members[member].volume : 0.0;
	}
	out->volume_ratio = enclosed > 0.0 ? filled / enclosed : 0.0;
}

static FemResult diagnose(FemTriangles *triangles, FemDiagnosis *out) {
	FemSoupEdges edges;
	FemResult result = fem_soup_components(triangles);
	if (result == FEM_OK)
		result = fem_soup_orient(triangles, &edges, NULL);
	if (result != FEM_OK)
		return result;
	out->open_edges = edges.open;
	out->non_manifold_edges = edges.non_manifold;
	out->flipped_triangles = edges.flipped;
	out->component_count = triangles->component_count;
	out->useless_triangles = triangles->removed_degenerate + triangles->removed_duplicate;
	measure_surface(triangles, out);
	if (!count_tiny(triangles, &out->tiny_components))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d pieces.", triangles->component_count);
	return shoot_walls(triangles, out);
}

FemResult fem_mesh_diagnose(const FemSoup *soup, const FemTetMesh *mesh, FemDiagnosis *out) {
	FemTriangles triangles;
	*out = (FemDiagnosis){0};
	FemResult result = fem_soup_clean(soup, 0.0f, &triangles, NULL);
	if (result != FEM_OK)
		return result;
	out->triangle_count = soup->triangle_count;
	out->vertex_count = soup->vertex_count;
	result = diagnose(&triangles, out);
	fem_triangles_free(&triangles);
	if (result == FEM_OK && mesh)
		describe_tets(mesh, out);
	return result;
}

// ---- text

double fem_diagnosis_scale(const FemDiagnosis *diagnosis) {
	// Centimetres, millimetres, and what was shrunk by these; chosen: the first that makes a prop of it.
	static const double factors[] = {0.01, 0.001, 100.0, 1000.0};
	if (diagnosis->size <= SIZE_DOUBTED && diagnosis->size >= SIZE_SMALL)
		return 1.0;
	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		double size = diagnosis->size * factors[i];
		if (size > PROP_SMALL && size < SIZE_DOUBTED)
			return factors[i];
	}
	return diagnosis->size > SIZE_DOUBTED ? factors[1] : factors[3];
}

typedef struct Text {
	char *out;
	int32_t capacity, length;
} Text;

static void say(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(Text *text, const char *format, ...) {
	int32_t left = text->length < text->capacity ? text->capacity - text->length : 0;
	va_list arguments;
	va_start(arguments, format);
	int wrote = vsnprintf(left ? text->out + text->length : NULL, (size_t)left, format, arguments);
	va_end(arguments);
	text->length += wrote > 0 ? wrote : 0;
}

static void say_surface(Text *text, const FemDiagnosis *d) {
	if (d->open_edges > 0)
		say(text,
			"The surface has %d open edges; its holes are closed by a smooth cap: fill them (Blender: Mesh > Clean Up "
			"> "
			"Fill Holes) where that shows.\n",
			d->open_edges);
	if (d->flipped_triangles > 0)
		say(text, "%d triangles were turned round to agree with their neighbours: recalculate the normals outside.\n",
			d->flipped_triangles);
	if (d->non_manifold_edges > 0)
		say(text,
			"%d edges belong to three or more triangles: separate or merge the surfaces that meet there if the result "
			"looks wrong.\n",
			d->non_manifold_edges);
	if (d->useless_triangles > 0)
		say(text, "%d triangles have no area or are second copies; they were left out: merge vertices by distance.\n",
			d->useless_triangles);
	if (d->tiny_components > 0)
		say(text,
			"%d of %d pieces are smaller than 1/50 of the mesh; each that stands alone takes at least 5 tets: join "
			"them "
			"to the body or remove them.\n",
			d->tiny_components, d->component_count);
}

static void say_shape(Text *text, const FemDiagnosis *d) {
	if (d->scale_suspect)
		say(text, "The mesh is %.3g m long: units are metres; scale it by %g at import if it should be %.3g m.\n",
			d->size, fem_diagnosis_scale(d), d->size * fem_diagnosis_scale(d));
	if (d->wall <= 0.0)
		say(text, "The surface encloses no volume: close it, give it thickness (Solidify), or set sheet_thickness.\n");
	else if (d->thin_share > 0.2)
		say(text,
			"%.0f %% of the surface belongs to walls thinner than %.3g m (median %.3g m): flat ones get one layer of "
			"long cells, curved ones need many elements or thicker walls.\n",
			100.0 * d->thin_share, THIN_SHARE * d->size, d->wall);
}

static void say_tets(Text *text, const FemDiagnosis *d) {
	if (d->stiffness_excess > 4.0)
		say(text, "Thin walls will bend about %.0f times too stiffly: raise the element count or thicken them.\n",
			d->stiffness_excess);
	if (d->volume_ratio > 0.0 && fabs(d->volume_ratio - 1.0) > 0.1)
		say(text, "The tets hold %.0f %% of the enclosed volume, and so of the mass: raise the element count.\n",
			100.0 * d->volume_ratio);
	if (d->step_ms > 4.0)
		say(text, "A step of one such body takes about %.1f ms: lower the element count if several move at once.\n",
			d->step_ms);
}

int32_t fem_diagnosis_text(const FemDiagnosis *diagnosis, char *out_text, int32_t capacity) {
	Text text = {out_text, out_text ? capacity : 0, 0};
	if (text.capacity > 0)
		out_text[0] = 0;
	say_surface(&text, diagnosis);
	say_shape(&text, diagnosis);
	if (diagnosis->tet_count > 0)
		say_tets(&text, diagnosis);
	if (text.length == 0)
		say(&text, FEM_REPORT_GOOD "\n");
	return text.length;
}
