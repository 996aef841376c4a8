#include "filling/soup_sheets.h"

#include "base/error.h"
#include "base/key_map.h"
#include "base/memory.h"
#include "filling/soup_topology.h"
#include "geometry/winding.h"

#include <string.h>

#define OPEN_MOST 64    // open components of a member: more are what is left of one surface (soup_members.c)
#define STRAY_AREA 1e-3 // share of the area below which a component is left as it is; as in tetrahedralize.c
#define SAMPLES 48      // points of a component at which both sides are asked, about; chosen
// Share of them that part inside from outside by the component alone; with more it is a vessel. Chosen.
#define BOUNDING_ALONE 0.5
// The same by all components; with more it is what is left of a solid. Chosen: cards that cross have 0.5.
#define BOUNDING_AMONG 0.8
// Winding number from which on a side counts as inside, and 1 - it for outside: the mean of 1/2, which both sides of a
// sheet have, and 1.
#define SURE_WINDING 0.75
#define SIDE_OFFSET 1e-5            // of the frame: how far from the surface both its sides are asked; chosen
#define SPREAD_U 0.7548776662466927 // steps that cover the unit square evenly: see coverage.c
#define SPREAD_V 0.5698402909980532 // the same

// What is known of a component.
typedef struct Part {
	int32_t group, triangle_count;
	bool is_candidate, is_sheet;
	double area, lo[3], hi[3];
	int32_t asked, bounding; // points
} Part;

typedef struct Sheets {
	FemTriangles *triangles;
	Part *parts; // [component]
	int32_t *open_of_group, *parts_of_group;
	int32_t *fans;  // [3 triangle + corner], union-find: corners that share a pair of offset vertices
	int32_t *twins; // [3 triangle + corner]: the half-edge that runs against it, or -1
	int32_t *first; // [3 triangle + corner]: of the fan's root: its upper vertex; the lower one is next
	double thickness;
} Sheets;

static FemResult no_memory(const FemTriangles *triangles) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.",
		triangles->triangle_count);
}

// ---- which

static double measure_parts(Sheets *sheets, const int32_t *groups) {
	const FemTriangles *triangles = sheets->triangles;
	double all = 0.0;
	for (int32_t c = 0; c < triangles->component_count; c++)
		sheets->parts[c] = (Part){.group = -1, .lo = {2.0, 2.0, 2.0}, .hi = {-2.0, -2.0, -2.0}};
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		Part *part = &sheets->parts[triangles->components[t]];
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = sqrt(fem_vec3d_dot(n, n));
		part->group = groups[t];
		part->triangle_count++;
		part->area += area;
		all += area;
		for (int v = 0; v < 3; v++) {
			FemVec3d p = fem_triangle_corner(triangles, t, v);
			double at[3] = {p.x, p.y, p.z};
			for (int axis = 0; axis < 3; axis++) {
				part->lo[axis] = fmin(part->lo[axis], at[axis]);
				part->hi[axis] = fmax(part->hi[axis], at[axis]);
			}
		}
	}
	return all;
}

static bool find_candidates(Sheets *sheets, const uint8_t *closed, double area) {
	bool any = false;
	for (int32_t c = 0; c < sheets->triangles->component_count; c++) {
		sheets->parts_of_group[sheets->parts[c].group]++;
		sheets->open_of_group[sheets->parts[c].group] += !closed[c];
	}
	for (int32_t c = 0; c < sheets->triangles->component_count; c++) {
		Part *part = &sheets->parts[c];
		part->is_candidate = !closed[c] && sheets->parts_of_group[part->group] > 1 &&
			sheets->open_of_group[part->group] <= OPEN_MOST && part->area > STRAY_AREA * area;
		any = any || part->is_candidate;
	}
	return any;
}

// Within another solid nothing can be told of a point: both sides are inside.
static void ask_point(Part *part, const FemWinding *winding, FemVec3d at, FemVec3d normal) {
	FemVec3d step = fem_vec3d_scale(normal, SIDE_OFFSET / sqrt(fem_vec3d_dot(normal, normal)));
	double out = fabs(fem_winding_number(winding, fem_vec3d_add(at, step)));
	double in = fabs(fem_winding_number(winding, fem_vec3d_sub(at, step)));
	part->asked += fmin(in, out) < SURE_WINDING;
	part->bounding += fmax(in, out) > SURE_WINDING && fmin(in, out) < 1.0 - SURE_WINDING;
}

// As many points of a triangle as it has a share of the component's area.
static void ask_triangle(Part *part, const FemWinding *winding, const FemTriangles *triangles, int32_t t) {
	FemVec3d n = fem_triangle_area_vector(triangles, t), a = fem_triangle_corner(triangles, t, 0);
	FemVec3d b = fem_vec3d_sub(fem_triangle_corner(triangles, t, 1), a);
	FemVec3d c = fem_vec3d_sub(fem_triangle_corner(triangles, t, 2), a);
	double wanted = SAMPLES * sqrt(fem_vec3d_dot(n, n)) / part->area;
	int32_t count = (int32_t)(wanted + fmod(SPREAD_U * t, 1.0));
	for (int32_t i = 1; i <= count; i++) {
		double u = fmod(SPREAD_U * i, 1.0), v = fmod(SPREAD_V * i, 1.0);
		if (u + v > 1.0)
			u = 1.0 - u, v = 1.0 - v;
		ask_point(part, winding, fem_vec3d_add(a, fem_vec3d_add(fem_vec3d_scale(b, u), fem_vec3d_scale(c, v))), n);
	}
}

static bool is_bounding(const Part *part, double share) {
	return part->asked == 0 || part->bounding >= share * part->asked;
}

// Candidates that bound a solid together with others are none any more.
static FemResult ask_all(Sheets *sheets) {
	FemTriangles *triangles = sheets->triangles;
	FemTriangleBvh bvh = {0};
	FemWinding winding = {0};
	FemResult result = fem_triangle_bvh_create(&bvh, triangles);
	if (result == FEM_OK)
		result = fem_winding_create(&winding, &bvh);
	for (int32_t t = 0; result == FEM_OK && t < triangles->triangle_count; t++)
		if (sheets->parts[triangles->components[t]].is_candidate)
			ask_triangle(&sheets->parts[triangles->components[t]], &winding, triangles, t);
	fem_winding_free(&winding);
	fem_triangle_bvh_free(&bvh);
	for (int32_t c = 0; c < triangles->component_count; c++)
		sheets->parts[c].is_candidate =
			sheets->parts[c].is_candidate && !is_bounding(&sheets->parts[c], BOUNDING_AMONG);
	return result;
}

static FemResult ask_alone(const Sheets *sheets, int32_t component, Part *part) {
	const FemTriangles *all = sheets->triangles;
	FemTriangles triangles = {0};
	FemTriangleBvh bvh = {0};
	FemWinding winding = {0};
	FemResult result = fem_triangles_extract(all, all->components, component, &all->frame, &triangles);
	if (result == FEM_OK)
		result = fem_triangle_bvh_create(&bvh, &triangles);
	if (result == FEM_OK)
		result = fem_winding_create(&winding, &bvh);
	part->asked = part->bounding = 0;
	for (int32_t t = 0; result == FEM_OK && t < triangles.triangle_count; t++)
		ask_triangle(part, &winding, &triangles, t);
	part->is_sheet = !is_bounding(part, BOUNDING_ALONE);
	fem_winding_free(&winding);
	fem_triangle_bvh_free(&bvh);
	fem_triangles_free(&triangles);
	return result;
}

static FemResult find_sheets(Sheets *sheets, FemSoupSheets *out) {
	FemResult result = ask_all(sheets);
	for (int32_t c = 0; result == FEM_OK && c < sheets->triangles->component_count; c++) {
		if (sheets->parts[c].is_candidate)
			result = ask_alone(sheets, c, &sheets->parts[c]);
		out->count += sheets->parts[c].is_sheet;
	}
	return result;
}

// ---- solids

static bool is_of_sheet(const Sheets *sheets, int32_t triangle) {
	return sheets->parts[sheets->triangles->components[triangle]].is_sheet;
}

static int32_t next_corner(int32_t half) {
	return half % 3 == 2 ? half - 2 : half + 1;
}

static int32_t vertex_of(const Sheets *sheets, int32_t half) {
	return sheets->triangles->triangles[half / 3][half % 3];
}

// Half-edges that run against each other, where no third triangle meets them.
static bool pair_edges(Sheets *sheets) {
	FemKeyMap map = {0};
	int32_t halves = 3 * sheets->triangles->triangle_count;
	int32_t *firsts = FEM_ALLOC_ARRAY(int32_t, halves), *counts = FEM_ALLOC_ARRAY(int32_t, halves);
	bool good = firsts && counts, is_new;
	for (int32_t h = 0; good && h < halves; h++) {
		sheets->twins[h] = -1;
		if (!is_of_sheet(sheets, h / 3))
			continue;
		int32_t a = vertex_of(sheets, h), b = vertex_of(sheets, next_corner(h));
		int32_t edge = fem_key_map_number(&map, (int32_t[FEM_KEY_SIZE]){a < b ? a : b, a < b ? b : a}, &is_new);
		good = edge >= 0;
		if (!good)
			break;
		int32_t first = counts[edge] > 0 ? firsts[edge] : -1;
		counts[edge]++;
		if (counts[edge] == 1) {
			firsts[edge] = h;
		} else if (counts[edge] == 2 && vertex_of(sheets, first) == b) {
			sheets->twins[h] = first;
			sheets->twins[first] = h;
		} else if (sheets->twins[first] >= 0) { // a third one: each has its own wall
			sheets->twins[sheets->twins[first]] = -1;
			sheets->twins[first] = -1;
		}
	}
	fem_key_map_free(&map);
	FEM_FREE_ARRAY(firsts, halves);
	FEM_FREE_ARRAY(counts, halves);
	return good;
}

static void join_fans(Sheets *sheets) {
	for (int32_t h = 0; h < 3 * sheets->triangles->triangle_count; h++)
		sheets->fans[h] = h;
	for (int32_t h = 0; h < 3 * sheets->triangles->triangle_count; h++) {
		int32_t twin = is_of_sheet(sheets, h / 3) ? sheets->twins[h] : -1;
		if (twin < 0)
			continue;
		fem_union_join(sheets->fans, h, next_corner(twin));
		fem_union_join(sheets->fans, next_corner(h), twin);
	}
}

static double half_thickness(const Sheets *sheets, const Part *part) {
	double size = fmax(part->hi[0] - part->lo[0], fmax(part->hi[1] - part->lo[1], part->hi[2] - part->lo[2]));
	return 0.5 * (sheets->thickness > 0.0 ? sheets->thickness : FEM_SHEET_SHARE * size);
}

// The sum of the fan's area vectors goes through the upper vertex, then both are put into place.
static void place_vertices(Sheets *sheets, FemTriangles *out) {
	const FemTriangles *triangles = sheets->triangles;
	int32_t halves = 3 * triangles->triangle_count;
	memcpy(out->vertices, triangles->vertices, sizeof *out->vertices * (size_t)triangles->vertex_count);
	out->vertex_count = triangles->vertex_count;
	for (int32_t h = 0; h < halves; h++)
		if (is_of_sheet(sheets, h / 3) && fem_union_find(sheets->fans, h) == h) {
			sheets->first[h] = out->vertex_count;
			out->vertices[out->vertex_count] = out->vertices[out->vertex_count + 1] = (FemVec3){0.0f, 0.0f, 0.0f};
			out->vertex_count += 2;
		}
	for (int32_t h = 0; h < halves; h++) {
		if (!is_of_sheet(sheets, h / 3))
			continue;
		FemVec3 *sum = &out->vertices[sheets->first[fem_union_find(sheets->fans, h)]];
		FemVec3d n = fem_triangle_area_vector(triangles, h / 3);
		*sum = fem_vec3_add(*sum, fem_vec3d_to_vec3(fem_vec3d_scale(n, 1.0 / sqrt(fem_vec3d_dot(n, n)))));
	}
	for (int32_t h = 0; h < halves; h++) {
		if (!is_of_sheet(sheets, h / 3) || fem_union_find(sheets->fans, h) != h)
			continue;
		FemVec3 *pair = &out->vertices[sheets->first[h]];
		FemVec3d n = fem_vec3d_from(pair[0]), at = fem_vec3d_from(triangles->vertices[vertex_of(sheets, h)]);
		double length = sqrt(fem_vec3d_dot(n, n));
		double half = half_thickness(sheets, &sheets->parts[triangles->components[h / 3]]);
		n = fem_vec3d_scale(n, length > 0.0 ? half / length : 0.0);
		pair[0] = fem_vec3d_to_vec3(fem_vec3d_add(at, n));
		pair[1] = fem_vec3d_to_vec3(fem_vec3d_sub(at, n));
	}
}

static void add_triangle(FemTriangles *out, int32_t component, int32_t a, int32_t b, int32_t c) {
	memcpy(out->triangles[out->triangle_count], (int32_t[3]){a, b, c}, sizeof(int32_t) * 3);
	out->components[out->triangle_count++] = component;
}

static void add_triangles(Sheets *sheets, FemTriangles *out) {
	const FemTriangles *triangles = sheets->triangles;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		int32_t component = triangles->components[t], upper[3];
		const int32_t *corners = triangles->triangles[t];
		if (!is_of_sheet(sheets, t)) {
			add_triangle(out, component, corners[0], corners[1], corners[2]);
			continue;
		}
		for (int v = 0; v < 3; v++)
			upper[v] = sheets->first[fem_union_find(sheets->fans, 3 * t + v)];
		add_triangle(out, component, upper[0], upper[1], upper[2]);
		add_triangle(out, component, upper[0] + 1, upper[2] + 1, upper[1] + 1);
		for (int v = 0; v < 3; v++) {
			int32_t a = upper[v], b = upper[(v + 1) % 3];
			if (sheets->twins[3 * t + v] >= 0)
				continue;
			add_triangle(out, component, a + 1, b + 1, b);
			add_triangle(out, component, a + 1, b, a);
		}
	}
}

static FemResult make_solids(Sheets *sheets) {
	FemTriangles *triangles = sheets->triangles, made = *triangles;
	int32_t corners = 0;
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		corners += is_of_sheet(sheets, t) ? 3 : 0;
	if (!pair_edges(sheets))
		return no_memory(triangles);
	join_fans(sheets);
	made.vertex_capacity = triangles->vertex_count + 2 * corners;
	made.triangle_capacity = triangles->triangle_count + 3 * corners; // one below and two a side
	made.vertices = FEM_ALLOC_ARRAY(FemVec3, made.vertex_capacity);
	made.triangles = fem_alloc(sizeof *made.triangles * (size_t)made.triangle_capacity);
	made.components = FEM_ALLOC_ARRAY(int32_t, made.triangle_capacity);
	made.triangle_count = 0;
	if (!made.vertices || !made.triangles || !made.components) {
		fem_triangles_free(&made);
		return no_memory(triangles);
	}
	place_vertices(sheets, &made);
	add_triangles(sheets, &made);
	fem_triangles_free(triangles);
	*triangles = made;
	return FEM_OK;
}

// ---- whole

static FemResult thicken(Sheets *sheets, int32_t *io_groups, uint8_t *closed, FemSoupSheets *out) {
	FemTriangles *triangles = sheets->triangles;
	double area = measure_parts(sheets, io_groups);
	if (!find_candidates(sheets, closed, area))
		return FEM_OK;
	FemResult result = find_sheets(sheets, out);
	for (int32_t t = 0; t < triangles->triangle_count; t++) // which are in another order now
		io_groups[t] = sheets->parts[triangles->components[t]].group;
	if (result == FEM_OK && out->count > 0)
		result = make_solids(sheets);
	for (int32_t c = 0; result == FEM_OK && c < triangles->component_count; c++) {
		if (!sheets->parts[c].is_sheet)
			continue;
		closed[c] = 1;
		out->thickness = fmax(out->thickness, 2.0 * half_thickness(sheets, &sheets->parts[c]));
	}
	return result;
}

FemResult fem_soup_thicken(
	FemTriangles *triangles, int32_t *io_groups, uint8_t *closed, double thickness, FemSoupSheets *out) {
	int32_t components = triangles->component_count, halves = 3 * triangles->triangle_count;
	Sheets sheets = {triangles, FEM_ALLOC_ARRAY(Part, components), FEM_ALLOC_ARRAY(int32_t, components),
		FEM_ALLOC_ARRAY(int32_t, components), FEM_ALLOC_ARRAY(int32_t, halves), FEM_ALLOC_ARRAY(int32_t, halves),
		FEM_ALLOC_ARRAY(int32_t, halves), thickness};
	*out = (FemSoupSheets){0};
	bool ready =
		sheets.parts && sheets.open_of_group && sheets.parts_of_group && sheets.fans && sheets.twins && sheets.first;
	FemResult result = ready ? thicken(&sheets, io_groups, closed, out) : no_memory(triangles);
	FEM_FREE_ARRAY(sheets.parts, components);
	FEM_FREE_ARRAY(sheets.open_of_group, components);
	FEM_FREE_ARRAY(sheets.parts_of_group, components);
	FEM_FREE_ARRAY(sheets.fans, halves);
	FEM_FREE_ARRAY(sheets.twins, halves);
	FEM_FREE_ARRAY(sheets.first, halves);
	return result;
}
