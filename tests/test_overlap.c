// The overlap polyhedron of two convex shapes: volumes and centres against closed forms and Monte Carlo, directions by
// kind of contact, symmetry, and input that is not a shape. Shapes other than tets: test_overlap_shapes.c.
#include "collision/overlap_points.h"
#include "fem_test.h"

#include "collision/polyhedron.h"
#include "overlap_rig.h"

#include <string.h>

// ---- helpers

static FemTetShape moved_tet(const FemTetShape *tet, FemQuat rotation, FemPosition shift, uint32_t exterior) {
	FemTetShape moved;
	FemVec3 p[4];
	for (int i = 0; i < 4; i++)
		p[i] = fem_vec3d_to_vec3(fem_quat_rotate(rotation, fem_vec3d_from(tet->corners[i])));
	fem_make_tet_shape_at(shift, p, exterior, &moved);
	moved.shape.planes = NULL; // views do not survive a copy: call restore()
	return moved;
}

static void restore(FemTetShape *tet) {
	tet->shape.planes = tet->storage.planes;
	tet->shape.vertices = tet->storage.vertices;
}

// The unit corner tet with its corner at x, y, z and edges of the given (signed) length.
static bool corner_tet(float x, float y, float z, float edge, uint32_t exterior, FemTetShape *tet) {
	FemVec3 p[4] = {{x, y, z}, {x + edge, y, z}, {x, y + edge, z}, {x, y, z + edge}};
	return fem_make_tet_shape(p, exterior, tet);
}

// ---- volumes and centres

static const uint8_t kuhn[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

static void kuhn_tet(int i, FemVec3 low, FemTetShape *tet) {
	FemVec3 p[4];
	for (int k = 0; k < 4; k++) {
		int v = kuhn[i][k];
		p[k] = fem_vec3(low.x + (float)(v & 1), low.y + (float)(v >> 1 & 1), low.z + (float)(v >> 2 & 1));
	}
	FEM_CHECK(fem_make_tet_shape(p, 15, tet));
}

// Two unit cubes of 6 tets each, shifted: the 36 overlaps sum to the overlap of the cubes.
FEM_TEST(overlap, cubes_of_tets) {
	static const float shifts[4][3] = {
		{0.3f, 0.2f, 0.9f}, {0.5f, 0.5f, 0.5f}, {0.0f, 0.0f, 0.999f}, {0.0f, 0.0f, 0.0f}};
	for (int s = 0; s < 4; s++) {
		double volume = 0.0, moment[3] = {0.0};
		const float *d = shifts[s];
		for (int i = 0; i < 6; i++)
			for (int j = 0; j < 6; j++) {
				FemTetShape a, b;
				FemOverlap o;
				kuhn_tet(i, fem_vec3(0.0f, 0.0f, 0.0f), &a);
				kuhn_tet(j, fem_vec3(d[0], d[1], d[2]), &b);
				if (!fem_overlap(&a.shape, &b.shape, &o))
					continue;
				fem_check_overlap(&o);
				volume += (double)o.volume;
				moment[0] += (double)o.volume * o.centre.x;
				moment[1] += (double)o.volume * o.centre.y;
				moment[2] += (double)o.volume * o.centre.z;
			}
		double expected = (double)((1.0f - d[0]) * (1.0f - d[1]) * (1.0f - d[2]));
		FEM_CHECK_NEAR(volume, expected, 2e-4 * expected);
		for (int axis = 0; axis < 3; axis++)
			FEM_CHECK_NEAR(moment[axis] / volume, 0.5 * (1.0 + (double)d[axis]), 1e-3);
	}
}

FEM_TEST(overlap, tet_inside_tet) {
	FemTetShape outer, inner;
	FemOverlap o;
	FEM_REQUIRE(corner_tet(-2.0f, -2.0f, -2.0f, 8.0f, 15, &outer));
	FEM_REQUIRE(corner_tet(0.1f, 0.2f, 0.3f, 0.5f, 15, &inner));
	FEM_REQUIRE(fem_overlap(&outer.shape, &inner.shape, &o));
	FEM_CHECK_NEAR(o.volume, 0.125 / 6.0, 1e-7);
	FEM_CHECK_NEAR(o.centre.y, 0.2 + 0.125, 1e-6);
	FEM_CHECK(o.flags & FEM_OVERLAP_NO_DIRECTION);
	FEM_CHECK_NEAR(o.area, 0.25 * (double)o.surface, 1e-6);
	fem_check_overlap(&o);
	FEM_REQUIRE(corner_tet(0.1f, 0.2f, 0.3f, 0.5f, 4, &inner)); // only its face y = 0.2 is surface
	FEM_REQUIRE(fem_overlap(&inner.shape, &outer.shape, &o));
	FEM_CHECK_INT(o.flags, FEM_OVERLAP_FALLBACK);
	fem_check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-6f);
}

// 300 random pairs, 20,000 samples each in the box of one.
FEM_TEST(overlap, volume_and_centre_by_monte_carlo) {
	fem_random_seed(11);
	int hits = 0, samples = 20000;
	for (int pair = 0; pair < 300; pair++) {
		FemTetShape a, b;
		FemOverlap o;
		fem_random_tet_shape(0.0f, &a);
		fem_random_tet_shape(0.4f, &b);
		int inside = 0;
		double sum[3] = {0.0};
		for (int i = 0; i < samples; i++) {
			FemPosition x = fem_random_position();
			if (!fem_convex_contains(&a.shape, x) || !fem_convex_contains(&b.shape, x))
				continue;
			inside++;
			sum[0] += x.x;
			sum[1] += x.y;
			sum[2] += x.z;
		}
		bool hit = fem_overlap(&a.shape, &b.shape, &o);
		FEM_CHECK(hit || inside == 0);
		if (!hit)
			continue;
		hits++;
		fem_check_overlap(&o);
		double expected = 8.0 * inside / samples, deviation = fem_monte_carlo_deviation((double)o.volume, samples);
		FEM_CHECK_NEAR(o.volume, expected, 5.0 * deviation);
		if (inside < 100)
			continue;
		double of_centre = 4.0 * 0.5 / sqrt(inside);
		FEM_CHECK_NEAR(o.centre.x, sum[0] / inside, of_centre);
		FEM_CHECK_NEAR(o.centre.y, sum[1] / inside, of_centre);
		FEM_CHECK_NEAR(o.centre.z, sum[2] / inside, of_centre);
	}
	FEM_CHECK(hits > 100);
}

// ---- invariance

FEM_TEST(overlap, moves_with_the_bodies) {
	fem_random_seed(5);
	for (int pair = 0; pair < 300; pair++) {
		FemTetShape a, b;
		FemOverlap o, moved;
		fem_random_tet_shape(0.0f, &a);
		fem_random_tet_shape(0.5f, &b);
		if (!fem_overlap(&a.shape, &b.shape, &o) || o.depth < 0.02f)
			continue;
		FemQuat rotation = fem_random_rotation();
		FemPosition shift = {9876.5, -1234.25, 10000.0};
		FemTetShape ma = moved_tet(&a, rotation, shift, 15), mb = moved_tet(&b, rotation, shift, 15);
		restore(&ma);
		restore(&mb);
		FEM_REQUIRE(fem_overlap(&ma.shape, &mb.shape, &moved));
		FEM_CHECK_NEAR(moved.volume, o.volume, 1e-4 * (double)o.volume + 1e-7);
		FEM_CHECK_INT(moved.flags, o.flags);
		FemPosition centre = fem_position_move(shift, fem_quat_rotate(rotation, fem_position_coordinates(o.centre)));
		FEM_CHECK_NEAR(moved.centre.x, centre.x, 1e-4);
		FEM_CHECK_NEAR(moved.centre.y, centre.y, 1e-4);
		fem_check_direction(moved.r, fem_vec3d_to_vec3(fem_quat_rotate(rotation, fem_vec3d_from(o.r))), 1e-4f);
		FEM_CHECK_NEAR(moved.depth, o.depth, 1e-3 * (double)o.depth + 1e-5);
	}
}

static bool same_bits(FemVec3 a, FemVec3 b) {
	return memcmp(&a, &b, sizeof a) == 0;
}

static void check_swap(const FemConvex *a, const FemConvex *b) {
	FemOverlap ab, ba;
	memset(&ab, 0, sizeof ab);
	memset(&ba, 0, sizeof ba);
	bool hit = fem_overlap(a, b, &ab);
	FEM_CHECK_INT(fem_overlap(b, a, &ba), hit);
	if (!hit)
		return;
	FEM_CHECK(same_bits(ab.r, fem_vec3_scale(ba.r, -1.0f)));
	if (!(ab.flags & FEM_OVERLAP_NO_DIRECTION))
		FEM_CHECK(same_bits(ab.normal, fem_vec3_scale(ba.normal, -1.0f)));
	FEM_CHECK(memcmp(&ab.centre, &ba.centre, sizeof ab.centre) == 0);
	FEM_CHECK(ab.volume == ba.volume && ab.area == ba.area && ab.depth == ba.depth && ab.flags == ba.flags);
	FEM_CHECK_INT(ab.point_count, ba.point_count);
	FEM_CHECK(memcmp(ab.points, ba.points, sizeof ab.points[0] * (size_t)ab.point_count) == 0);
}

FEM_TEST(overlap, swapping_reverses_to_the_bit) {
	fem_random_seed(3);
	for (int pair = 0; pair < 500; pair++) {
		FemTetShape a, b;
		FemConvex box;
		FemConvexBox box_storage;
		fem_random_tet_shape(0.0f, &a);
		fem_random_tet_shape(0.5f, &b);
		check_swap(&a.shape, &b.shape);
		FemVec3 half = {0.5f, 0.4f, 0.6f};
		FEM_CHECK(fem_convex_box((FemPosition){0.5, 0.5, 0.0}, fem_random_rotation(), half, &box_storage, &box));
		check_swap(&a.shape, &box);
	}
}

// ---- directions

FEM_TEST(overlap, face_on_face) {
	FemTetShape lower, upper;
	FemOverlap o;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, -1.0f, 4, &lower));    // top face y = 0
	FEM_REQUIRE(corner_tet(-0.8f, -0.01f, -0.8f, 1.0f, 4, &upper)); // bottom face y = -0.01
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-5f);
	FEM_CHECK_INT(o.flags, 0);
	FEM_CHECK_NEAR(o.depth, 0.01, 2e-4);
	fem_check_overlap(&o);
	FEM_REQUIRE(fem_overlap(&upper.shape, &lower.shape, &o));
	fem_check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-5f);
}

// Two crossed edges, one along x and one along z, 0.02 into each other.
FEM_TEST(overlap, edge_on_edge) {
	FemTetShape lower, upper;
	FemOverlap o;
	FemVec3 p[4] = {{-1.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, -1.0f, 0.5f}, {0.0f, -1.0f, -0.5f}};
	FemVec3 q[4] = {{0.0f, -0.02f, -1.0f}, {0.0f, -0.02f, 1.0f}, {0.5f, 0.98f, 0.0f}, {-0.5f, 0.98f, 0.0f}};
	FEM_REQUIRE(fem_make_tet_shape(p, 15, &lower) && fem_make_tet_shape(q, 15, &upper));
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-3f);
	FEM_CHECK_INT(o.flags, 0);
	FEM_CHECK(o.depth < 0.0201f && o.depth > 0.003f);
	fem_check_overlap(&o);
}

FEM_TEST(overlap, vertex_on_face) {
	FemTetShape lower, upper;
	FemOverlap o;
	FemVec3 q[4] = {{-0.3f, -0.02f, -0.3f}, {0.0f, 1.0f, -0.3f}, {-0.45f, 1.0f, -0.04f}, {-0.45f, 1.0f, -0.56f}};
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, -1.0f, 15, &lower));
	FEM_REQUIRE(fem_make_tet_shape(q, 15, &upper));
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 0.03f);
	FEM_CHECK_INT(o.flags, 0);
	FEM_CHECK(o.depth <= 0.0202f);
}

// Faces that look the same way do not oppose: a pair of such gives the fallback.
FEM_TEST(overlap, fallback_is_marked) {
	FemTetShape lower, upper;
	FemOverlap o;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, -1.0f, 4, &lower));
	FEM_REQUIRE(corner_tet(-0.8f, -0.01f, -0.8f, 1.0f, 0, &upper)); // no surface at all
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	FEM_CHECK_INT(o.flags, FEM_OVERLAP_FALLBACK);
	FEM_CHECK(o.normal.y > 0.95f);
}

// A needle of an overlap, seen along its length, has a W / A far beyond what it is thick.
FEM_TEST(overlap, depth_is_at_most_the_extent) {
	fem_random_seed(77);
	int limited = 0;
	for (int i = 0; i < 2000; i++) {
		FemTetShape a, b;
		FemOverlap o;
		FemVec3 p[4];
		for (int k = 0; k < 4; k++)
			p[k] = fem_random_vec3(), p[k].y *= 0.01f;
		if (!fem_make_tet_shape(p, 1u << (i & 3), &a))
			continue;
		fem_random_tet_shape(0.0f, &b);
		if (!fem_overlap(&a.shape, &b.shape, &o))
			continue;
		fem_check_overlap(&o);
		limited += o.depth < 0.99f * o.volume / o.area;
		float across = sqrtf(fmaxf(1.0f - o.normal.y * o.normal.y, 0.0f)); // a is a layer of 0.02, 2 x 2 wide
		if (!(o.flags & FEM_OVERLAP_NO_DIRECTION))
			FEM_CHECK(o.depth <= 0.0201f * fabsf(o.normal.y) + 2.83f * across);
	}
	FEM_CHECK(limited > 0);
}

// Four points that reach to the corners of the support, not one in the middle.
FEM_TEST(overlap, points_reach_the_corners) {
	FemConvexBox storage_a, storage_b;
	FemConvex a, b;
	FemOverlap o;
	FEM_REQUIRE(fem_convex_box(zero_position, no_rotation, fem_vec3(1.0f, 1.0f, 2.0f), &storage_a, &a));
	FEM_REQUIRE(fem_convex_box((FemPosition){0.0, 1.99, 0.0}, no_rotation, fem_vec3(3.0f, 1.0f, 3.0f), &storage_b, &b));
	FEM_REQUIRE(fem_overlap(&a, &b, &o));
	FEM_CHECK_NEAR(o.volume, 0.08, 1e-4);
	FEM_CHECK_NEAR(o.depth, 0.01, 1e-5);
	fem_check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-4f);
	fem_check_overlap(&o);
	FEM_CHECK(o.point_count >= 3);
	float most_x = 0.0f, least_x = 0.0f, most_z = 0.0f, least_z = 0.0f;
	for (int32_t i = 0; i < o.point_count; i++) {
		most_x = fmaxf(most_x, o.points[i].offset.x);
		least_x = fminf(least_x, o.points[i].offset.x);
		most_z = fmaxf(most_z, o.points[i].offset.z);
		least_z = fminf(least_z, o.points[i].offset.z);
	}
	FEM_CHECK_NEAR(most_x - least_x, 2.0, 1e-3);
	FEM_CHECK_NEAR(most_z - least_z, 4.0, 1e-3);
}

// ---- bad input

FEM_TEST(overlap, shared_parts_do_not_overlap) {
	FemTetShape a, b;
	FemOverlap o;
	fem_random_seed(9);
	for (int i = 0; i < 1000; i++) {
		fem_random_tet_shape(0.0f, &a);
		for (int shared = 1; shared <= 3; shared++) { // corner, edge, face
			FemVec3 p[4];
			memcpy(p, a.corners, sizeof p);
			FemVec3 middle = {0.0f, 0.0f, 0.0f};
			for (int k = 0; k < shared; k++)
				middle = fem_vec3_add(middle, fem_vec3_scale(p[k], 1.0f / (float)shared));
			for (int k = shared; k < 4; k++) // the rest mirrored through the shared part
				p[k] = fem_vec3_sub(fem_vec3_scale(middle, 2.0f), p[k]);
			FEM_CHECK(fem_make_tet_shape(p, 15, &b));
			FEM_CHECK(!fem_overlap(&a.shape, &b.shape, &o));
		}
	}
}

FEM_TEST(overlap, coincident_tets) {
	fem_random_seed(4);
	for (int i = 0; i < 500; i++) {
		FemTetShape a, b;
		FemOverlap o;
		fem_random_tet_shape(0.0f, &a);
		FEM_REQUIRE(fem_overlap(&a.shape, &a.shape, &o));
		FEM_CHECK(o.flags & FEM_OVERLAP_NO_DIRECTION);
		FEM_CHECK(o.r.x == 0.0f && o.r.y == 0.0f && o.r.z == 0.0f);
		FEM_CHECK_NEAR(o.volume, fem_tet_shape_volume(&a), 1e-5);
		// the same solid, corners in another order, a hair away: planes nearly coincide
		FemVec3 p[4] = {a.corners[2], a.corners[0], a.corners[3], a.corners[1]};
		for (int k = 0; k < 4; k++)
			p[k].x += 1e-7f * fem_random_unit();
		FEM_REQUIRE(fem_make_tet_shape(p, 15, &b));
		FEM_REQUIRE(fem_overlap(&a.shape, &b.shape, &o));
		FEM_CHECK_NEAR(o.volume, fem_tet_shape_volume(&a), 2e-5);
		fem_check_overlap(&o);
	}
}

FEM_TEST(overlap, huge_offsets) {
	FemVec3 p[4] = {{0.0f, 0.0f, 0.0f}, {0.01f, 0.0f, 0.0f}, {0.0f, 0.01f, 0.0f}, {0.0f, 0.0f, 0.01f}};
	FemPosition far = {10000.0, -10000.0, 10000.0}, nearby = {10000.0, -10000.0 + 0.009, 10000.0};
	FemTetShape a, b;
	FemOverlap o;
	FEM_REQUIRE(fem_make_tet_shape_at(far, p, 15, &a) && fem_make_tet_shape_at(nearby, p, 15, &b));
	FEM_REQUIRE(fem_overlap(&a.shape, &b.shape, &o));
	FEM_CHECK_NEAR(o.volume / (1e-9 / 6.0), 1.0, 1e-3);
	FEM_CHECK_NEAR(o.centre.y - nearby.y, 0.00025, 1e-7);
	FemPosition away = {1e30, 0.0, 0.0};
	FEM_REQUIRE(fem_make_tet_shape_at(away, p, 15, &b));
	FEM_CHECK(!fem_overlap(&a.shape, &b.shape, &o));
}

FEM_TEST(overlap, not_a_shape) {
	static const float bad[5] = {NAN, INFINITY, -INFINITY, 1e30f, 0.0f};
	FemTetShape good, tet;
	FemOverlap o;
	FemConvex shape;
	FemConvexBox box;
	FemConvexStorage storage;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, 1.0f, 15, &good));
	for (int i = 0; i < 5; i++) {
		FemVec3 p[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
		p[3].z = bad[i];
		FEM_CHECK(!fem_make_tet_shape(p, 15, &tet));
		FEM_CHECK(!fem_overlap(&good.shape, &tet.shape, &o) && !fem_overlap(&tet.shape, &good.shape, &o));
		FemPosition at = {(double)bad[i], 0.0, 0.0}, ends[2] = {at, {0.0, 0.0, 0.0}};
		if (i < 4) {
			FEM_CHECK(!fem_convex_box(at, no_rotation, fem_vec3(1.0f, 1.0f, 1.0f), &box, &shape) ||
				!fem_overlap(&good.shape, &shape, &o));
			FEM_CHECK(!fem_convex_sphere(at, 1.0f, &good.shape, &storage, &shape));
			FEM_CHECK(!fem_convex_capsule(ends, 1.0f, &good.shape, &storage, &shape));
			FEM_CHECK(!fem_convex_cylinder(ends, 1.0f, &good.shape, &storage, &shape));
		}
		FEM_CHECK(!fem_convex_sphere(zero_position, bad[i], &good.shape, &storage, &shape));
		FEM_CHECK(!fem_overlap(&good.shape, &shape, &o));
	}
	FEM_CHECK(!fem_convex_cylinder((FemPosition[2]){{0}}, 1.0f, &good.shape, &storage, &shape));
	FEM_CHECK(
		!fem_convex_box(zero_position, (FemQuat){0.0f, 0.0f, 0.0f, 0.0f}, fem_vec3(1.0f, 1.0f, 1.0f), &box, &shape));
}

// Slivers, needles and near-coincident planes by the thousand: a result is always sane, and never more than either tet.
FEM_TEST(overlap, slivers_stay_sane) {
	fem_random_seed(1234);
	for (int i = 0; i < 20000; i++) {
		FemTetShape tets[2];
		FemOverlap o;
		bool good = true;
		for (int t = 0; t < 2; t++) {
			FemVec3 p[4];
			float flat = powf(10.0f, -2.5f + 2.5f * fem_random_unit());
			for (int k = 0; k < 4; k++) { // on a coarse grid: many corners and planes coincide
				FemVec3 v = fem_vec3_scale(fem_random_vec3(), 2.0f);
				p[k] = fem_vec3(rintf(v.x), flat * rintf(v.y), rintf(v.z));
			}
			good &= fem_make_tet_shape(p, (uint32_t)i & 15, &tets[t]);
		}
		if (!good || !fem_overlap(&tets[0].shape, &tets[1].shape, &o))
			continue;
		fem_check_overlap(&o);
		float smaller = fminf(fem_tet_shape_volume(&tets[0]), fem_tet_shape_volume(&tets[1]));
		FEM_CHECK(o.volume <= smaller * 1.001f + 1e-6f);
		FEM_CHECK(fem_convex_contains(&tets[0].shape, o.centre) || o.volume < 1e-4f);
	}
}

// Fails when the shares of points that are not symmetric about the centre are wrong: the points then leave the
// vertices.
FEM_TEST(overlap, points_are_vertices_of_the_overlap) {
	fem_random_seed(31);
	int32_t looked_at = 0;
	for (int n = 0; n < 200; n++) {
		FemTetShape tet;
		fem_random_tet_shape(0.0f, &tet);
		FemPolyhedron p;
		FemPolyhedronMeasure measure;
		fem_polyhedron_tet(&p, tet.shape.vertices);
		fem_polyhedron_measure(&p, 4, &measure);
		FemVec3 normal = fem_random_vec3();
		normal = fem_vec3_scale(normal, 1.0f / fem_vec3_length(normal));
		FemOverlapPoint points[FEM_OVERLAP_POINTS];
		float extent;
		int32_t count = fem_overlap_points(&p, measure.centre, normal, points, &extent);
		if (count < 3)
			continue; // in line, they cannot balance about the centre and stay where they are
		looked_at++;
		for (int32_t i = 0; i < count; i++) {
			float nearest = INFINITY;
			for (int32_t v = 0; v < p.vertex_count; v++) {
				FemVec3 x = fem_vec3_sub(p.vertex[v], measure.centre);
				x = fem_vec3_sub(x, fem_vec3_scale(normal, fem_vec3_dot(x, normal)));
				nearest = fminf(nearest, fem_vec3_length(fem_vec3_sub(x, points[i].offset)));
			}
			FEM_CHECK_NEAR(nearest, 0.0, 0.01);
		}
	}
	FEM_CHECK(looked_at > 150);
}

// A hull of some points at random; false where they have none.
static bool random_hull(FemConvexStorage *storage, FemConvex *out) {
	FemVec3 points[10];
	for (int i = 0; i < 10; i++)
		points[i] = fem_vec3_scale(fem_random_vec3(), 0.5f);
	return fem_convex_hull(points, 10, storage, out);
}

static bool keep_graph(FemConvex *shape, FemPolyhedronGraph *graph) {
	FemVec3 vertices[FEM_CONVEX_VERTICES];
	for (int32_t i = 0; i < shape->vertex_count; i++)
		vertices[i] = fem_vec3_from(shape->vertices[i]);
	bool is_kept = fem_polyhedron_keep(shape->planes, shape->plane_count, vertices, shape->vertex_count, 1e-4f, graph);
	shape->graph = is_kept ? graph : NULL;
	return is_kept;
}

// A solid whose polyhedron is kept has the overlaps that its planes have, wherever both are.
FEM_TEST(overlap, begins_with_a_kept_polyhedron) {
	int32_t count = 0, kept_count = 0;
	for (int i = 0; i < 300; i++) {
		FemConvexStorage storage[2];
		FemPolyhedronGraph graphs[2];
		FemConvex plain[2], kept[2];
		FemOverlap by_planes, by_graph;
		if (!random_hull(&storage[0], &plain[0]) || !random_hull(&storage[1], &plain[1]))
			continue;
		plain[1].origin = (FemPosition){0.4 * (double)fem_random_unit(), 0.4 * (double)fem_random_unit(), 0.0};
		for (int s = 0; s < 2; s++) {
			memset(plain[s].exterior, 0xff, sizeof plain[s].exterior);
			kept[s] = plain[s];
			kept_count += keep_graph(&kept[s], &graphs[s]);
		}
		bool found = fem_overlap(&plain[0], &plain[1], &by_planes);
		FEM_CHECK(fem_overlap(&kept[0], &kept[1], &by_graph) == found);
		if (!found)
			continue;
		fem_check_overlap(&by_graph);
		FEM_CHECK_NEAR(by_graph.volume, by_planes.volume, 1e-5);
		FEM_CHECK_NEAR(by_graph.surface, by_planes.surface, 1e-4);
		if (by_planes.volume > 0.01f) {
			FEM_CHECK_NEAR(by_graph.area, by_planes.area, 1e-3);
			FEM_CHECK_NEAR(by_graph.centre.x, by_planes.centre.x, 1e-4);
			FEM_CHECK_NEAR(by_graph.centre.y, by_planes.centre.y, 1e-4);
			FEM_CHECK_NEAR(by_graph.centre.z, by_planes.centre.z, 1e-4);
		}
		count++;
	}
	FEM_CHECK(count > 100);
	FEM_CHECK(kept_count > 500); // not where planes meet at so flat an angle that rounding says where
}
