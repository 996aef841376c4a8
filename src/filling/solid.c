#include "filling/solid.h"
#include "base/assert.h"

#define BISECTIONS 14       // of an edge that the surface crosses: to 6e-5 of it; chosen
#define COARSE_BISECTIONS 7 // of an inflated surface: its nodes are drawn back afterwards; to 1 %, chosen
// Of a segment: a lattice point that lies on the surface must not miss its crossing by rounding; chosen.
#define SLACK 1e-5
#define NEAR_START 1e-4    // of a ray: crossings nearer than this are those of the surface it starts from; chosen
#define BORDER_OFFSET 1e-5 // of the frame: how far from the surface both its sides are asked; chosen
#define BOX_SLACK 1e-6     // of the frame: points this far outside the box may be inside by rounding; chosen
#define SAME_CROSSING 1e-9 // of a segment, or of the frame: crossings nearer to each other are one, of two triangles
#define SHORT_STRETCH 1e-6 // of a segment: too short for the winding number to be asked within it; chosen
#define COLUMN_MARGIN 0.01 // of the frame: a column begins and ends this far outside the box; chosen

static FemVec3d along(FemVec3d a, FemVec3d b, double t) {
	return fem_vec3d_add(a, fem_vec3d_scale(fem_vec3d_sub(b, a), t));
}

// Distance to the other side in one direction, if solid lies between; else -1.
static double shoot(const FemSolid *solid, FemVec3d at, FemVec3d direction, double limit) {
	FemCrossing crossings[FEM_CROSSING_MAX];
	FemVec3d end = fem_vec3d_add(at, fem_vec3d_scale(direction, limit));
	int32_t count = fem_bvh_crossings(&solid->bvh, at, end, 0.0, crossings);
	for (int32_t i = 0; i < count; i++) {
		if (crossings[i].t < NEAR_START)
			continue;
		return fem_winding_inside(&solid->winding, along(at, end, 0.5 * crossings[i].t)) ? crossings[i].t * limit
																						 : -1.0;
	}
	return fem_winding_inside(&solid->winding, along(at, end, 0.5)) ? limit : -1.0;
}

// The winding number changes by 1 across a triangle.
bool fem_solid_is_border(const FemSolid *solid, int32_t triangle, FemVec3d at) {
	FemVec3d n = fem_triangle_area_vector(&solid->triangles, triangle);
	FemVec3d step = fem_vec3d_scale(n, BORDER_OFFSET / sqrt(fem_vec3d_dot(n, n)));
	double above = fem_winding_number(&solid->winding, fem_vec3d_add(at, step));
	return fabs(above) <= 0.5 || fabs(above + 1.0) <= 0.5;
}

double fem_solid_thickness(const FemSolid *solid, int32_t triangle, FemVec3d at, double limit) {
	FemVec3d n = fem_triangle_area_vector(&solid->triangles, triangle);
	n = fem_vec3d_scale(n, 1.0 / sqrt(fem_vec3d_dot(n, n)));
	double inward = shoot(solid, at, fem_vec3d_scale(n, -1.0), limit);
	if (inward >= 0.0)
		return inward;
	double outward = shoot(solid, at, n, limit);
	return outward >= 0.0 ? outward : 0.0;
}

static bool is_near(const FemSolid *solid, FemVec3d p) {
	int32_t triangle;
	FemVec3d nearest;
	fem_bvh_nearest(&solid->bvh, p, solid->inflation, &triangle, &nearest);
	return triangle >= 0;
}

bool fem_solid_inside(const FemSolid *solid, FemVec3d p) {
	double at[3] = {p.x, p.y, p.z};
	for (int axis = 0; axis < 3; axis++) {
		if (fabs(at[axis]) > solid->half_extents[axis] + solid->inflation + BOX_SLACK)
			return false;
	}
	if (solid->inflation > 0.0 && is_near(solid, p))
		return true;
	if (solid->inflation > 0.0 && solid->sheet_half > 0.0)
		return false; // a sheet encloses nothing
	return fem_winding_inside(&solid->winding, p);
}

static double bisect(const FemSolid *solid, FemVec3d in, FemVec3d out, double low, double high) {
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = 0.5 * (low + high);
		if (fem_solid_inside(solid, along(in, out, middle)))
			low = middle;
		else
			high = middle;
	}
	return 0.5 * (low + high);
}

// The skin of an inflated solid has the surface between it and the inside: from a point near the surface distances do.
static double leave_inflated(const FemSolid *solid, FemVec3d in, FemVec3d out) {
	double low = 0.0, high = 1.0;
	bool near = is_near(solid, in);
	for (int i = 0; i < COARSE_BISECTIONS; i++) {
		double middle = 0.5 * (low + high);
		FemVec3d p = along(in, out, middle);
		if (near ? is_near(solid, p) : fem_solid_inside(solid, p))
			low = middle;
		else
			high = middle;
	}
	return 0.5 * (low + high);
}

// Crossings of triangles are exact; the winding number says which of several counts, and where a hole is closed.
double fem_solid_exit(const FemSolid *solid, FemVec3d in, FemVec3d out) {
	if (solid->inflation > 0.0)
		return leave_inflated(solid, in, out);
	FemCrossing crossings[FEM_CROSSING_MAX];
	int32_t count = fem_bvh_crossings(&solid->bvh, in, out, SLACK, crossings);
	FEM_ASSERT(count >= 0 && count <= FEM_CROSSING_MAX);
	for (int32_t i = 1; FEM_HAS_ASSERTS && i < count; i++)
		FEM_ASSERT(crossings[i - 1].t <= crossings[i].t);
	if (count == 0 || count == FEM_CROSSING_MAX)
		return bisect(solid, in, out, 0.0, 1.0);
	double before = 0.0;
	for (int32_t i = 0; i < count; i++) {
		double after = i + 1 < count ? crossings[i + 1].t : 1.0;
		if (after - crossings[i].t < SAME_CROSSING && i + 1 < count)
			continue;
		if (i + 1 == count || !fem_winding_inside(&solid->winding, along(in, out, 0.5 * (crossings[i].t + after)))) {
			// Between two crossings the inside may end at a hole.
			double check = 0.5 * (before + crossings[i].t);
			bool solid_before =
				crossings[i].t - before < SHORT_STRETCH || fem_winding_inside(&solid->winding, along(in, out, check));
			return solid_before ? crossings[i].t : bisect(solid, in, out, before, crossings[i].t);
		}
		before = crossings[i].t;
	}
	return crossings[count - 1].t;
}

double fem_solid_volume(const FemSolid *solid) {
	double sum = 0.0;
	for (int32_t t = 0; t < solid->triangles.triangle_count; t++)
		sum +=
			fem_vec3d_dot(fem_triangle_corner(&solid->triangles, t, 0), fem_triangle_area_vector(&solid->triangles, t));
	return fabs(sum) / 3.0;
}

double fem_solid_area(const FemSolid *solid) {
	double sum = 0.0;
	for (int32_t t = 0; t < solid->triangles.triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(&solid->triangles, t);
		sum += sqrt(fem_vec3d_dot(n, n));
	}
	return sum;
}

// A sheet's column is its crossing thickened.
static int32_t sheet_column(
	const FemSolid *solid, const FemCrossing *crossings, int32_t count, double lo, double hi, double out_ranges[][2]) {
	if (count == 0 || solid->sheet_half <= 0.0)
		return 0;
	out_ranges[0][0] = lo + crossings[0].t * (hi - lo) - solid->sheet_half;
	out_ranges[0][1] = lo + crossings[count - 1].t * (hi - lo) + solid->sheet_half;
	return 1;
}

int32_t fem_solid_column(const FemSolid *solid, double x, double y, double out_ranges[][2], int32_t capacity) {
	FemCrossing crossings[FEM_CROSSING_MAX];
	double hi = solid->half_extents[2] + COLUMN_MARGIN, lo = -hi;
	int32_t count = fem_bvh_crossings(&solid->bvh, (FemVec3d){x, y, lo}, (FemVec3d){x, y, hi}, 0.0, crossings);
	int32_t found = 0;
	bool open = false;
	for (int32_t i = 0; i + 1 < count; i++) {
		double from = lo + crossings[i].t * (hi - lo), to = lo + crossings[i + 1].t * (hi - lo);
		if (to - from < SAME_CROSSING)
			continue;
		bool inside = fem_winding_inside(&solid->winding, (FemVec3d){x, y, 0.5 * (from + to)});
		if (inside && open)
			out_ranges[found - 1][1] = to;
		else if (inside && found < capacity) {
			out_ranges[found][0] = from;
			out_ranges[found++][1] = to;
		}
		open = inside;
	}
	return found ? found : sheet_column(solid, crossings, count, lo, hi, out_ranges);
}

void fem_solid_free(FemSolid *solid) {
	fem_winding_free(&solid->winding);
	fem_triangle_bvh_free(&solid->bvh);
	fem_triangles_free(&solid->triangles);
	*solid = (FemSolid){0};
}
