// Every shape a collider can have against a tet: overlaps by closed forms and Monte Carlo, hulls of points, and points
// that are no solid.
#include "fem_test.h"

#include "overlap_rig.h"

// A large flat-topped tet: top face y = 0, about 20 m wide, exterior.
static void make_slab(FemTetShape *tet) {
	FemVec3 p[4] = {{-10.0f, 0.0f, -10.0f}, {0.0f, 0.0f, 12.0f}, {10.0f, 0.0f, -10.0f}, {0.0f, -15.0f, 0.0f}};
	FEM_CHECK(fem_make_tet_shape(p, 8, tet));
}

// A block with a kite for a base: the points are its four corners, and carry unequal shares.
FEM_TEST(overlap, shares_keep_points_in_the_corners) {
	FemTetShape slab;
	static FemConvexStorage storage, placed_storage;
	FemConvex block, placed;
	FemOverlap o;
	FemVec3 points[8], kite[4] = {{3.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {-1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, -1.0f}};
	make_slab(&slab);
	for (int i = 0; i < 8; i++)
		points[i] = fem_vec3_add(kite[i & 3], fem_vec3(0.0f, i < 4 ? 0.0f : 1.0f, 0.0f));
	FEM_REQUIRE(fem_convex_hull(points, 8, &storage, &block));
	FEM_REQUIRE(fem_convex_place(&block, (FemPosition){0.0, -0.01, 0.0}, no_rotation, &placed_storage, &placed));
	FEM_REQUIRE(fem_overlap(&slab.shape, &placed, &o));
	fem_check_overlap(&o);
	FEM_CHECK_INT(o.point_count, 4);
	for (int32_t i = 0; i < o.point_count; i++) {
		float nearest = INFINITY;
		FemVec3 at = fem_vec3_add(o.points[i].offset, fem_vec3d_to_vec3(fem_position_coordinates(o.centre)));
		for (int k = 0; k < 4; k++)
			nearest = fminf(nearest, fabsf(at.x - kite[k].x) + fabsf(at.z - kite[k].z));
		FEM_CHECK_NEAR(nearest, 0.0, 0.01);
	}
}

FEM_TEST(overlap, box_on_a_tet) {
	FemTetShape slab;
	FemConvexBox storage;
	FemConvex box;
	FemOverlap o;
	make_slab(&slab);
	FEM_REQUIRE(fem_convex_box((FemPosition){0.2, 0.49, 0.1}, no_rotation, fem_vec3(1.0f, 0.5f, 0.5f), &storage, &box));
	FEM_REQUIRE(fem_overlap(&slab.shape, &box, &o));
	FEM_CHECK_NEAR(o.volume, 0.02, 1e-5);
	FEM_CHECK_NEAR(o.depth, 0.01, 1e-5);
	FEM_CHECK_NEAR(o.centre.x, 0.2, 1e-4);
	FEM_CHECK_NEAR(o.centre.y, -0.005, 1e-5);
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-4f);
	FEM_CHECK(!fem_convex_box(zero_position, no_rotation, fem_vec3(1.0f, 0.0f, 1.0f), &storage, &box));
	FEM_CHECK(!fem_overlap(&slab.shape, &box, &o));
}

// Where a collider's box gives the normal, one of its faces that a tet pokes through does, however the tet leans, and
// of a tet wholly inside the nearest one. Fails when faces of the tet have part in the direction.
FEM_TEST(overlap, boxes_that_give_the_normal) {
	static const FemVec3 leaning[4] = {
		{-0.3f, 0.5f, -0.1f}, {-0.1f, 0.6f, 0.4f}, {0.5f, 0.7f, 0.0f}, {0.2f, -0.4f, 0.1f}};
	static const FemVec3 inside[4] = {
		{0.6f, -0.5f, 0.0f}, {0.6f, -0.3f, 0.2f}, {0.9f, -0.5f, 0.1f}, {0.7f, -0.4f, -0.3f}};
	FemTetShape tet;
	FemConvexBox storage;
	FemConvex box;
	FemOverlap o, swapped;
	FEM_REQUIRE(fem_convex_box((FemPosition){0.0, -1.0, 0.0}, no_rotation, fem_vec3(1.0f, 1.0f, 1.0f), &storage, &box));
	for (int k = 0; k < 2; k++) {
		FemVec3 into = k == 0 ? fem_vec3(0.0f, -1.0f, 0.0f) : fem_vec3(-1.0f, 0.0f, 0.0f);
		FEM_REQUIRE(fem_make_tet_shape(k == 0 ? leaning : inside, 15, &tet));
		box.gives_normal = false;
		FEM_REQUIRE(fem_overlap(&tet.shape, &box, &o));
		FEM_CHECK(fem_vec3_dot(o.normal, into) < 0.99f);
		box.gives_normal = true;
		FEM_REQUIRE(fem_overlap(&tet.shape, &box, &o) && fem_overlap(&box, &tet.shape, &swapped));
		fem_check_overlap(&o);
		fem_check_direction(o.normal, into, 1e-5f);
		fem_check_direction(swapped.normal, fem_vec3_scale(into, -1.0f), 1e-5f);
	}
}

// A cap of depth d: W = pi d^2 (R - d/3), A = pi (2 R d - d^2).
FEM_TEST(overlap, sphere_on_a_tet) {
	static const float depths[6] = {0.0005f, 0.005f, 0.03f, 0.1f, 0.2f, 0.38f};
	FemTetShape slab;
	FemConvexStorage storage;
	FemConvex sphere;
	FemOverlap o;
	make_slab(&slab);
	float radius = 0.2f;
	for (int i = 0; i < 6; i++) {
		float d = depths[i];
		FemPosition centre = {0.3, (double)(radius - d), -0.4};
		FEM_REQUIRE(fem_convex_sphere(centre, radius, &slab.shape, &storage, &sphere));
		FEM_REQUIRE(fem_overlap(&slab.shape, &sphere, &o));
		double volume = 3.14159265 * (double)(d * d * (radius - d / 3.0f));
		FEM_CHECK_NEAR(o.volume / volume, 1.0, 0.05);
		FEM_CHECK_NEAR(o.centre.x, 0.3, 1e-3);
		FEM_CHECK_NEAR(o.centre.z, -0.4, 1e-3);
		fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 2e-3f);
		fem_check_overlap(&o);
		// half of r is the section, half is the cap's faces weighted with w = cos: int cos^2 dA
		float section = 2.0f * radius * d - d * d, cosine = 1.0f - d / radius;
		float cap = 2.0f / 3.0f * radius * radius * (1.0f - cosine * cosine * cosine);
		if (d <= radius)
			FEM_CHECK_NEAR(o.area / (1.5707963f * (section + cap)), 1.0, 0.05);
		FEM_CHECK(o.depth <= d * 1.001f);
	}
	FEM_CHECK(!fem_convex_sphere((FemPosition){0.0, 0.2001, 0.0}, radius, &slab.shape, &storage, &sphere));
	FEM_REQUIRE(fem_convex_sphere((FemPosition){0.0, -4.0, 0.0}, radius, &slab.shape, &storage, &sphere));
	FEM_REQUIRE(fem_overlap(&slab.shape, &sphere, &o));
	FEM_CHECK_NEAR(o.volume / (4.18879f * radius * radius * radius), 1.0, 0.06);
	FEM_CHECK_NEAR(o.centre.y, -4.0, 0.01);
}

// Monte Carlo with the true sphere, capsule and cylinder, anywhere on random tets.
static double distance_to_core(FemPosition x, const FemPosition ends[2], double *out_along) {
	FemVec3d axis = fem_position_sub(ends[1], ends[0]), offset = fem_position_sub(x, ends[0]);
	double length_sq = fem_vec3d_dot(axis, axis), t = length_sq > 0.0 ? fem_vec3d_dot(offset, axis) / length_sq : 0.0;
	*out_along = t;
	t = fmin(fmax(t, 0.0), 1.0);
	offset = fem_vec3d_sub(offset, fem_vec3d_scale(axis, t));
	return sqrt(fem_vec3d_dot(offset, offset));
}

typedef bool RoundBuilder(
	const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape);

static void check_round(RoundBuilder *build, bool flat_ends, float length, double tolerance) {
	int hits = 0, samples = 20000;
	for (int pair = 0; pair < 100; pair++) {
		FemTetShape tet;
		FemConvexStorage storage;
		FemConvex shape;
		FemOverlap o = {.volume = 0.0f};
		fem_random_tet_shape(0.0f, &tet);
		float radius = 0.3f + 0.2f * fem_random_unit();
		FemPosition ends[2] = {fem_random_position()};
		ends[1] = fem_position_move(ends[0], (FemVec3d){(double)(length * fem_random_unit()), (double)length, 0.0});
		bool hit = build(ends, radius, &tet.shape, &storage, &shape) && fem_overlap(&tet.shape, &shape, &o);
		int inside = 0;
		for (int i = 0; i < samples; i++) {
			double along;
			FemPosition x = fem_random_position();
			if (fem_convex_contains(&tet.shape, x) && distance_to_core(x, ends, &along) < (double)radius)
				inside += !flat_ends || (along > 0.0 && along < 1.0);
		}
		double expected = 8.0 * inside / samples, deviation = fem_monte_carlo_deviation((double)o.volume, samples);
		FEM_CHECK(hit || inside < 3);
		FEM_CHECK_NEAR(o.volume, expected, tolerance * expected + 5.0 * deviation);
		hits += hit;
		if (hit)
			fem_check_overlap(&o);
	}
	FEM_CHECK(hits > 15); // enough of them touch to mean something
}

FEM_TEST(overlap, round_shapes_by_monte_carlo) {
	fem_random_seed(21);
	check_round(fem_convex_capsule, false, 0.0f, 0.06);
	check_round(fem_convex_capsule, false, 0.5f, 0.06);
	check_round(fem_convex_cylinder, true, 0.6f, 0.02);
}

// The gap is never more than the distance of any place in the tet, and where it is wide hardly less than the nearest.
FEM_TEST(overlap, round_shapes_tell_how_far_they_are) {
	int32_t apart = 0;
	fem_random_seed(22);
	for (int i = 0; i < 200; i++) {
		FemTetShape tet;
		FemConvexStorage storage;
		FemConvex shape;
		FemPosition middle = fem_random_position();
		FemVec3d half = fem_vec3d_from(fem_vec3_scale(fem_random_vec3(), i % 2 ? 0.5f : 0.0f));
		FemPosition ends[2] = {fem_position_move(middle, half), fem_position_move(middle, fem_vec3d_scale(half, -1.0))};
		fem_random_tet_shape(1.0f, &tet);
		float radius = 0.2f, gap = fem_convex_round_gap(ends, radius, &tet.shape);
		double nearest = INFINITY, along;
		for (int k = 0; k < 4000; k++) { // places spread evenly over the tet, and its corners
			float w[4], sum = 0.0f;
			FemVec3 x = {0.0f, 0.0f, 0.0f};
			for (int v = 0; v < 4; v++)
				sum += w[v] = k < 4 ? (float)(v == k) : -logf(0.5f * (fem_random_unit() + 1.0f) + 1e-6f);
			for (int v = 0; v < 4; v++)
				x = fem_vec3_add(x, fem_vec3_scale(fem_vec3_from(tet.shape.vertices[v]), w[v] / sum));
			nearest =
				fmin(nearest, distance_to_core(fem_position_move(tet.shape.origin, fem_vec3d_from(x)), ends, &along));
		}
		FEM_CHECK((double)gap <= fmax(nearest - (double)radius, 0.0) + 1e-5);
		if (!(gap > 0.0f))
			continue;
		FEM_CHECK(!fem_convex_capsule(ends, radius, &tet.shape, &storage, &shape));
		FEM_CHECK_NEAR(gap, nearest - (double)radius, 0.1);
		apart++;
	}
	FEM_CHECK(apart > 40 && apart < 190);
	FemPosition far[2] = {{1e9, 0.0, 0.0}, {1e9, 0.0, 0.0}};
	FemTetShape tet;
	fem_random_tet_shape(1.0f, &tet);
	FEM_CHECK_NEAR(fem_convex_round_gap(far, 0.2f, &tet.shape), 0.0, 0.0);
	FEM_CHECK_NEAR(fem_convex_round_gap(far, NAN, &tet.shape), 0.0, 0.0);
}

// Lying on the face: the cross-section is a circle's segment, R^2 (phi - sin phi cos phi), phi = acos(1 - d / R).
FEM_TEST(overlap, cylinder_and_capsule_lying) {
	FemTetShape slab;
	FemConvexStorage storage;
	FemConvex shape;
	FemOverlap o;
	float radius = 0.1f, length = 1.0f, d = 0.004f, phi = acosf(1.0f - d / radius);
	float segment = radius * radius * (phi - sinf(phi) * cosf(phi)), cap = 3.14159265f * d * d * (radius - d / 3.0f);
	FemPosition ends[2] = {{-0.5, (double)(radius - d), 0.1}, {0.5, (double)(radius - d), 0.1}};
	make_slab(&slab);
	FEM_REQUIRE(fem_convex_cylinder(ends, radius, &slab.shape, &storage, &shape));
	FEM_REQUIRE(fem_overlap(&slab.shape, &shape, &o));
	FEM_CHECK_NEAR(o.volume / (segment * length), 1.0, 0.01);
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-3f);
	FEM_REQUIRE(fem_convex_capsule(ends, radius, &slab.shape, &storage, &shape));
	FEM_REQUIRE(fem_overlap(&slab.shape, &shape, &o));
	FEM_CHECK_NEAR(o.volume / (segment * length + cap), 1.0, 0.05);
	FEM_CHECK_NEAR(o.centre.x, 0.0, 1e-3);
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-3f);
	// upright
	FemPosition upright[2] = {{0.1, -0.01, 0.2}, {0.1, 1.0, 0.2}};
	FEM_REQUIRE(fem_convex_cylinder(upright, radius, &slab.shape, &storage, &shape));
	FEM_REQUIRE(fem_overlap(&slab.shape, &shape, &o));
	FEM_CHECK_NEAR(o.volume / (3.14159265f * radius * radius * 0.01f), 1.0, 0.015);
	FEM_CHECK_NEAR(o.depth, 0.01, 1e-5);
}

FEM_TEST(overlap, prism_behind_a_triangle) {
	FemTetShape tet;
	FemConvexPrism storage, cells[2];
	FemConvex prism, halves[2];
	FemOverlap o;
	FemVec3 triangle[3] = {{-2.0f, 0.0f, -2.0f}, {-2.0f, 0.0f, 4.0f}, {4.0f, 0.0f, -2.0f}};
	FemVec3 p[4] = {{0.0f, -0.1f, 0.0f}, {0.4f, 0.9f, 0.0f}, {-0.2f, 0.9f, 0.34641f}, {-0.2f, 0.9f, -0.34641f}};
	FEM_REQUIRE(fem_make_tet_shape(p, 15, &tet));
	FEM_REQUIRE(fem_convex_triangle(zero_position, triangle, 0.5f, &storage, &prism));
	FEM_REQUIRE(fem_overlap(&prism, &tet.shape, &o));
	FEM_CHECK_NEAR(o.volume / (0.001f * fem_tet_shape_volume(&tet)), 1.0, 1e-4); // a tenth of the height
	FEM_CHECK(o.normal.y > 0.9999f);
	FEM_CHECK_NEAR(storage.planes[0].y, 1.0, 1e-6);
	// a cell cut in two either way holds the same of the tet
	FemVec3 cell[4] = {{-1.0f, 0.0f, -1.0f}, {-1.0f, 0.0f, 1.2f}, {1.1f, 0.0f, 1.2f}, {1.1f, 0.0f, -1.0f}};
	for (int flip = 0; flip < 2; flip++) {
		float sum = 0.0f;
		FEM_CHECK_INT(fem_convex_cell(zero_position, cell, fem_vec3(0.1f, -1.0f, 0.0f), flip == 1, cells, halves), 3);
		for (int i = 0; i < 2; i++)
			sum += fem_overlap(&halves[i], &tet.shape, &o) ? o.volume : 0.0f;
		FEM_CHECK_NEAR(sum / (0.001f * fem_tet_shape_volume(&tet)), 1.0, 1e-3);
	}
}

// Points on a sphere, a cube with double, inner and coplanar points, and what is no solid.
FEM_TEST(overlap, hull) {
	FemVec3 points[64];
	static FemConvexStorage storage, placed_storage;
	FemConvex hull, placed;
	FemOverlap o;
	int count = 0;
	fem_random_seed(17);
	for (int i = 0; i < 27; i++) // a 3 x 3 x 3 grid: 8 corners, edge, face and inner points
		points[count++] = fem_vec3((float)(i % 3) - 1.0f, (float)(i / 3 % 3) - 1.0f, (float)(i / 9) - 1.0f);
	for (int i = 0; i < 8; i++) // corners again, a hair off
		points[count++] = fem_vec3_scale(points[(i & 1) * 2 + (i & 2) * 3 + (i & 4) * 9 / 2], 1.000001f);
	FemVec3 rotated[64];
	for (int pose = 0; pose < 20; pose++) { // no face is flat to the bit any more
		FemQuat rotation = fem_random_rotation();
		for (int i = 0; i < count; i++)
			rotated[i] = fem_vec3d_to_vec3(fem_quat_rotate(rotation, fem_vec3d_from(points[i])));
		FEM_REQUIRE(fem_convex_hull(rotated, count, &storage, &hull));
		FEM_CHECK_INT(hull.plane_count, 6);
	}
	FEM_REQUIRE(fem_convex_hull(points, count, &storage, &hull));
	FEM_CHECK_INT(hull.plane_count, 6);
	FemTetShape slab;
	make_slab(&slab);
	FemQuat quarter = {0.0f, 0.70710678f, 0.0f, 0.70710678f};
	FEM_REQUIRE(fem_convex_place(&hull, (FemPosition){0.5, 0.98, 0.0}, quarter, &placed_storage, &placed));
	FEM_REQUIRE(fem_overlap(&placed, &slab.shape, &o));
	FEM_CHECK_NEAR(o.volume, 4.0 * 0.02, 1e-4);
	FEM_CHECK_NEAR(o.depth, 0.02, 1e-4);
	fem_check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-3f);
	FEM_REQUIRE(fem_overlap(&placed, &placed, &o)); // general path, all planes twice
	FEM_CHECK_NEAR(o.volume, 8.0, 1e-3);
	for (int i = 0; i < 64; i++) { // spiral
		float y = 1.0f - (2.0f * (float)i + 1.0f) / 64.0f, r = sqrtf(1.0f - y * y), angle = 2.3999632f * (float)i;
		points[i] = fem_vec3(r * cosf(angle), y, r * sinf(angle));
	}
	FEM_REQUIRE(fem_convex_hull(points, 64, &storage, &hull));
	FEM_CHECK_INT(hull.plane_count, 124);
	FEM_CHECK_INT(hull.vertex_count, 64);
	FEM_REQUIRE(
		fem_convex_place(&hull, (FemPosition){0.0, -4.0, 0.0}, fem_random_rotation(), &placed_storage, &placed));
	FEM_REQUIRE(fem_overlap(&placed, &slab.shape, &o));
	FEM_CHECK(o.volume > 3.6f && o.volume < 4.19f);
	FEM_CHECK_NEAR(o.centre.y, -4.0, 0.01);
	for (int i = 0; i < 64; i++)
		points[i].y = 0.0f;
	FEM_CHECK(!fem_convex_hull(points, 64, &storage, &hull));
	for (int i = 0; i < 64; i++)
		points[i] = fem_vec3((float)i, 2.0f * (float)i, 0.0f);
	FEM_CHECK(!fem_convex_hull(points, 64, &storage, &hull));
	FEM_CHECK(!fem_convex_hull(points, 3, &storage, &hull));
	points[5].x = NAN;
	FEM_CHECK(!fem_convex_hull(points, 64, &storage, &hull));
	FEM_CHECK(!fem_overlap(&hull, &slab.shape, &o));
}
