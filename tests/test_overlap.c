// The overlap polyhedron of two convex shapes: volumes and centres against closed forms and Monte Carlo, directions by
// kind of contact, symmetry, every shape against a tet, and input that is not a shape.
#include "fem_test.h"

#include "base/vec.h"
#include "collision/overlap.h"

#include <stdlib.h>

// -------------------------------------------------------------------------------------------------------------- helpers

static uint64_t random_state;

static float random_unit(void) { // [-1, 1)
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (float)(random_state >> 40) / 8388608.0f - 1.0f;
}

static FemQuat random_rotation(void) {
	FemQuat q;
	do
		q = (FemQuat){random_unit(), random_unit(), random_unit(), random_unit()};
	while (!fem_quat_normalize(&q));
	return q;
}

typedef struct Tet {
	FemVec3 corners[4];
	FemConvexTet storage;
	FemConvex shape;
} Tet;

static const FemPosition zero_position = {0.0, 0.0, 0.0};
static const FemQuat no_rotation = {0.0f, 0.0f, 0.0f, 1.0f};

static bool make_tet_at(FemPosition origin, const FemVec3 corners[4], uint32_t exterior, Tet *tet) {
	memcpy(tet->corners, corners, sizeof tet->corners);
	return fem_convex_tet(origin, corners, exterior, &tet->storage, &tet->shape);
}

static bool make_tet(const FemVec3 corners[4], uint32_t exterior, Tet *tet) {
	return make_tet_at(zero_position, corners, exterior, tet);
}

static float tet_volume(const Tet *tet) {
	const FemVec3 *p = tet->corners;
	FemVec3 a = fem_vec3_sub(p[1], p[0]), b = fem_vec3_sub(p[2], p[0]), c = fem_vec3_sub(p[3], p[0]);
	return fabsf(fem_vec3_dot(a, fem_vec3_cross(b, c))) / 6.0f;
}

static void random_tet(float x, Tet *tet) {
	FemVec3 p[4];
	do
		for (int i = 0; i < 4; i++)
			p[i] = fem_vec3(random_unit() + x, random_unit(), random_unit());
	while (!make_tet(p, 15, tet) || tet_volume(tet) < 0.1f);
}

static Tet moved_tet(const Tet *tet, FemQuat rotation, FemPosition shift, uint32_t exterior) {
	Tet moved;
	FemVec3 p[4];
	for (int i = 0; i < 4; i++)
		p[i] = fem_position_to_vec3(fem_quat_rotate(rotation, fem_position_from(tet->corners[i])));
	make_tet_at(shift, p, exterior, &moved);
	moved.shape.planes = NULL; // views do not survive a copy: call restore()
	return moved;
}

static void restore(Tet *tet) {
	tet->shape.planes = tet->storage.planes;
	tet->shape.vertices = tet->storage.vertices;
}

static bool contains(const FemConvex *shape, FemPosition x) {
	FemVec3 local = fem_position_to_vec3(fem_position_sub(x, shape->origin));
	for (int32_t i = 0; i < shape->plane_count; i++)
		if (fem_vec3_dot(fem_vec3_from(shape->planes[i]), local) > shape->planes[i].w)
			return false;
	return true;
}

// Depth and points keep what they promise, for any overlap.
static void check_promises(const FemOverlap *o) {
	FEM_CHECK(o->volume > 0.0f && o->surface > 0.0f && o->area > 0.0f && o->depth > 0.0f);
	FEM_CHECK(o->depth <= o->volume / o->area * 1.0001f);
	FEM_CHECK(o->point_count >= 1 && o->point_count <= FEM_OVERLAP_POINTS);
	float sum = 0.0f, size = sqrtf(o->surface);
	FemVec3 mean = {0.0f, 0.0f, 0.0f};
	for (int32_t i = 0; i < o->point_count; i++) {
		sum += o->points[i].share;
		mean = fem_vec3_add(mean, fem_vec3_scale(o->points[i].offset, o->points[i].share));
		FEM_CHECK(o->points[i].share > 0.0f);
		FEM_CHECK_NEAR(fem_vec3_dot(o->points[i].offset, o->normal), 0.0, 1e-5 * (double)size);
	}
	FEM_CHECK_NEAR(sum, 1.0, 1e-5);
	FEM_CHECK_NEAR(fem_vec3_length(mean), 0.0, 1e-5 * (double)size);
	FEM_CHECK_NEAR(fem_vec3_length(o->normal), o->flags & FEM_OVERLAP_NO_DIRECTION ? 0.0 : 1.0, 1e-5);
}

static void check_direction(FemVec3 actual, FemVec3 expected, float tolerance) {
	FEM_CHECK_NEAR(actual.x, expected.x, tolerance);
	FEM_CHECK_NEAR(actual.y, expected.y, tolerance);
	FEM_CHECK_NEAR(actual.z, expected.z, tolerance);
}

// The unit corner tet with its corner at x, y, z and edges of the given (signed) length.
static bool corner_tet(float x, float y, float z, float edge, uint32_t exterior, Tet *tet) {
	FemVec3 p[4] = {{x, y, z}, {x + edge, y, z}, {x, y + edge, z}, {x, y, z + edge}};
	return make_tet(p, exterior, tet);
}

// --------------------------------------------------------------------------------------------------- volumes and centres

// Below y = h the corner tet keeps 1 - (1 - h)^3 of its volume, above it (1 - h)^3.
FEM_TEST(overlap, half_space_cuts_a_tet) {
	Tet tet;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, 1.0f, 15, &tet));
	for (int i = 1; i < 20; i++) {
		float h = 0.05f * (float)i, top = (1.0f - h) * (1.0f - h) * (1.0f - h);
		FemVec4 plane;
		FemConvex below, above;
		FemOverlap o;
		FemPosition point = {5.0, (double)h, -3.0};
		FEM_REQUIRE(fem_convex_half_space(point, fem_vec3(0.0f, 2.0f, 0.0f), &plane, &below));
		FEM_REQUIRE(fem_overlap(&tet.shape, &below, &o));
		FEM_CHECK_NEAR(o.volume, (1.0f - top) / 6.0f, 1e-6);
		check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-6f);
		FEM_CHECK_NEAR(o.area, 0.5, 1e-5); // the shadow: the tet's base
		check_promises(&o);
		FEM_REQUIRE(fem_convex_half_space(point, fem_vec3(0.0f, -1.0f, 0.0f), &plane, &above));
		FEM_REQUIRE(fem_overlap(&above, &tet.shape, &o));
		FEM_CHECK_NEAR(o.volume, top / 6.0f, 1e-6);
		FEM_CHECK_NEAR(o.area, 0.5f * (1.0f - h) * (1.0f - h), 1e-5);
		FEM_CHECK_NEAR(o.centre.y, h + 0.25f * (1.0f - h), 1e-5);
		FEM_CHECK_NEAR(o.centre.x, 0.25f * (1.0f - h), 1e-5);
		check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-6f);
	}
}

static const uint8_t kuhn[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

static void kuhn_tet(int i, FemVec3 low, Tet *tet) {
	FemVec3 p[4];
	for (int k = 0; k < 4; k++) {
		int v = kuhn[i][k];
		p[k] = fem_vec3(low.x + (float)(v & 1), low.y + (float)(v >> 1 & 1), low.z + (float)(v >> 2 & 1));
	}
	FEM_CHECK(make_tet(p, 15, tet));
}

// Two unit cubes of 6 tets each, shifted: the 36 overlaps sum to the overlap of the cubes.
FEM_TEST(overlap, cubes_of_tets) {
	static const float shifts[4][3] = {{0.3f, 0.2f, 0.9f}, {0.5f, 0.5f, 0.5f}, {0.0f, 0.0f, 0.999f}, {0.0f, 0.0f, 0.0f}};
	for (int s = 0; s < 4; s++) {
		double volume = 0.0, moment[3] = {0.0};
		const float *d = shifts[s];
		for (int i = 0; i < 6; i++)
			for (int j = 0; j < 6; j++) {
				Tet a, b;
				FemOverlap o;
				kuhn_tet(i, fem_vec3(0.0f, 0.0f, 0.0f), &a);
				kuhn_tet(j, fem_vec3(d[0], d[1], d[2]), &b);
				if (!fem_overlap(&a.shape, &b.shape, &o))
					continue;
				check_promises(&o);
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
	Tet outer, inner;
	FemOverlap o;
	FEM_REQUIRE(corner_tet(-2.0f, -2.0f, -2.0f, 8.0f, 15, &outer));
	FEM_REQUIRE(corner_tet(0.1f, 0.2f, 0.3f, 0.5f, 15, &inner));
	FEM_REQUIRE(fem_overlap(&outer.shape, &inner.shape, &o));
	FEM_CHECK_NEAR(o.volume, 0.125 / 6.0, 1e-7);
	FEM_CHECK_NEAR(o.centre.y, 0.2 + 0.125, 1e-6);
	FEM_CHECK(o.flags & FEM_OVERLAP_NO_DIRECTION);
	FEM_CHECK_NEAR(o.area, 0.25 * (double)o.surface, 1e-6);
	check_promises(&o);
	FEM_REQUIRE(corner_tet(0.1f, 0.2f, 0.3f, 0.5f, 4, &inner)); // only its face y = 0.2 is surface
	FEM_REQUIRE(fem_overlap(&inner.shape, &outer.shape, &o));
	FEM_CHECK_INT(o.flags, FEM_OVERLAP_FALLBACK);
	check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-6f);
}

// 300 random pairs, 20,000 samples each in the box of one.
FEM_TEST(overlap, volume_and_centre_by_monte_carlo) {
	random_state = 11;
	int hits = 0, samples = 20000;
	for (int pair = 0; pair < 300; pair++) {
		Tet a, b;
		FemOverlap o;
		random_tet(0.0f, &a);
		random_tet(0.4f, &b);
		int inside = 0;
		double sum[3] = {0.0};
		for (int i = 0; i < samples; i++) {
			FemPosition x = {(double)random_unit(), (double)random_unit(), (double)random_unit()};
			if (!contains(&a.shape, x) || !contains(&b.shape, x))
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
		check_promises(&o);
		double expected = 8.0 * inside / samples, deviation = 8.0 * sqrt(fmax(inside, 1.0)) / samples;
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

// ------------------------------------------------------------------------------------------------------------ invariance

FEM_TEST(overlap, moves_with_the_bodies) {
	random_state = 5;
	for (int pair = 0; pair < 300; pair++) {
		Tet a, b;
		FemOverlap o, moved;
		random_tet(0.0f, &a);
		random_tet(0.5f, &b);
		if (!fem_overlap(&a.shape, &b.shape, &o) || o.depth < 0.02f)
			continue;
		FemQuat rotation = random_rotation();
		FemPosition shift = {9876.5, -1234.25, 10000.0};
		Tet ma = moved_tet(&a, rotation, shift, 15), mb = moved_tet(&b, rotation, shift, 15);
		restore(&ma);
		restore(&mb);
		FEM_REQUIRE(fem_overlap(&ma.shape, &mb.shape, &moved));
		FEM_CHECK_NEAR(moved.volume, o.volume, 1e-4 * (double)o.volume + 1e-7);
		FEM_CHECK_INT(moved.flags, o.flags);
		FemPosition centre = fem_position_add(fem_quat_rotate(rotation, o.centre), shift);
		FEM_CHECK_NEAR(moved.centre.x, centre.x, 1e-4);
		FEM_CHECK_NEAR(moved.centre.y, centre.y, 1e-4);
		check_direction(moved.r, fem_position_to_vec3(fem_quat_rotate(rotation, fem_position_from(o.r))), 1e-4f);
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
	random_state = 3;
	for (int pair = 0; pair < 500; pair++) {
		Tet a, b;
		FemVec4 plane;
		FemConvex half_space, box;
		FemConvexBox box_storage;
		random_tet(0.0f, &a);
		random_tet(0.5f, &b);
		check_swap(&a.shape, &b.shape);
		FEM_CHECK(fem_convex_half_space(zero_position, fem_vec3(random_unit(), 1.0f, 0.3f), &plane, &half_space));
		check_swap(&a.shape, &half_space);
		FemVec3 half = {0.5f, 0.4f, 0.6f};
		FEM_CHECK(fem_convex_box((FemPosition){0.5, 0.5, 0.0}, random_rotation(), half, &box_storage, &box));
		check_swap(&a.shape, &box);
		check_swap(&half_space, &box);
	}
}

// ------------------------------------------------------------------------------------------------------------ directions

FEM_TEST(overlap, face_on_face) {
	Tet lower, upper;
	FemOverlap o;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, -1.0f, 4, &lower)); // top face y = 0
	FEM_REQUIRE(corner_tet(-0.8f, -0.01f, -0.8f, 1.0f, 4, &upper)); // bottom face y = -0.01
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-5f);
	FEM_CHECK_INT(o.flags, 0);
	FEM_CHECK_NEAR(o.depth, 0.01, 2e-4);
	check_promises(&o);
	FEM_REQUIRE(fem_overlap(&upper.shape, &lower.shape, &o));
	check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-5f);
}

// Two crossed edges, one along x and one along z, 0.02 into each other.
FEM_TEST(overlap, edge_on_edge) {
	Tet lower, upper;
	FemOverlap o;
	FemVec3 p[4] = {{-1.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, -1.0f, 0.5f}, {0.0f, -1.0f, -0.5f}};
	FemVec3 q[4] = {{0.0f, -0.02f, -1.0f}, {0.0f, -0.02f, 1.0f}, {0.5f, 0.98f, 0.0f}, {-0.5f, 0.98f, 0.0f}};
	FEM_REQUIRE(make_tet(p, 15, &lower) && make_tet(q, 15, &upper));
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-3f);
	FEM_CHECK_INT(o.flags, 0);
	FEM_CHECK(o.depth < 0.0201f && o.depth > 0.003f);
	check_promises(&o);
}

FEM_TEST(overlap, vertex_on_face) {
	Tet lower, upper;
	FemOverlap o;
	FemVec3 q[4] = {{-0.3f, -0.02f, -0.3f}, {0.0f, 1.0f, -0.3f}, {-0.45f, 1.0f, -0.04f}, {-0.45f, 1.0f, -0.56f}};
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, -1.0f, 15, &lower));
	FEM_REQUIRE(make_tet(q, 15, &upper));
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 0.03f);
	FEM_CHECK_INT(o.flags, 0);
	FEM_CHECK(o.depth <= 0.0202f);
}

// Faces that look the same way do not oppose: a pair of such gives the fallback.
FEM_TEST(overlap, fallback_is_marked) {
	Tet lower, upper;
	FemOverlap o;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, -1.0f, 4, &lower));
	FEM_REQUIRE(corner_tet(-0.8f, -0.01f, -0.8f, 1.0f, 0, &upper)); // no surface at all
	FEM_REQUIRE(fem_overlap(&lower.shape, &upper.shape, &o));
	FEM_CHECK_INT(o.flags, FEM_OVERLAP_FALLBACK);
	FEM_CHECK(o.normal.y > 0.95f);
}

// A needle of an overlap, seen along its length, has a W / A far beyond what it is thick.
FEM_TEST(overlap, depth_is_at_most_the_extent) {
	random_state = 77;
	int limited = 0;
	for (int i = 0; i < 2000; i++) {
		Tet a, b;
		FemOverlap o;
		FemVec3 p[4];
		for (int k = 0; k < 4; k++)
			p[k] = fem_vec3(random_unit(), 0.01f * random_unit(), random_unit());
		if (!make_tet(p, 1u << (i & 3), &a))
			continue;
		random_tet(0.0f, &b);
		if (!fem_overlap(&a.shape, &b.shape, &o))
			continue;
		check_promises(&o);
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
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-4f);
	check_promises(&o);
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

// ---------------------------------------------------------------------------------------------------------------- shapes

// A large flat-topped tet: top face y = 0, about 20 m wide, exterior.
static void make_slab(Tet *tet) {
	FemVec3 p[4] = {{-10.0f, 0.0f, -10.0f}, {0.0f, 0.0f, 12.0f}, {10.0f, 0.0f, -10.0f}, {0.0f, -15.0f, 0.0f}};
	FEM_CHECK(make_tet(p, 8, tet));
}

// A block with a kite for a base: the points are its four corners, and carry unequal shares.
FEM_TEST(overlap, shares_keep_points_in_the_corners) {
	Tet slab;
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
	check_promises(&o);
	FEM_CHECK_INT(o.point_count, 4);
	for (int32_t i = 0; i < o.point_count; i++) {
		float nearest = INFINITY;
		FemVec3 at = fem_vec3_add(o.points[i].offset, fem_position_to_vec3(o.centre));
		for (int k = 0; k < 4; k++)
			nearest = fminf(nearest, fabsf(at.x - kite[k].x) + fabsf(at.z - kite[k].z));
		FEM_CHECK_NEAR(nearest, 0.0, 0.01);
	}
}

FEM_TEST(overlap, box_on_a_tet) {
	Tet slab;
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
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-4f);
	FEM_CHECK(!fem_convex_box(zero_position, no_rotation, fem_vec3(1.0f, 0.0f, 1.0f), &storage, &box));
	FEM_CHECK(!fem_overlap(&slab.shape, &box, &o));
}

// A cap of depth d: W = pi d^2 (R - d/3), A = pi (2 R d - d^2).
FEM_TEST(overlap, sphere_on_a_tet) {
	static const float depths[6] = {0.0005f, 0.005f, 0.03f, 0.1f, 0.2f, 0.38f};
	Tet slab;
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
		check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 2e-3f);
		check_promises(&o);
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
	FemPosition axis = fem_position_sub(ends[1], ends[0]), way = fem_position_sub(x, ends[0]);
	double length_sq = fem_position_dot(axis, axis), t = length_sq > 0.0 ? fem_position_dot(way, axis) / length_sq : 0.0;
	*out_along = t;
	t = fmin(fmax(t, 0.0), 1.0);
	way = fem_position_sub(way, fem_position_scale(axis, t));
	return sqrt(fem_position_dot(way, way));
}

typedef bool RoundBuilder(const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage,
	FemConvex *out_shape);

static void check_round(RoundBuilder *build, bool flat_ends, float length, double tolerance) {
	int hits = 0, samples = 20000;
	for (int pair = 0; pair < 100; pair++) {
		Tet tet;
		FemConvexStorage storage;
		FemConvex shape;
		FemOverlap o = {.volume = 0.0f};
		random_tet(0.0f, &tet);
		float radius = 0.3f + 0.2f * random_unit();
		FemPosition ends[2] = {{(double)random_unit(), (double)random_unit(), (double)random_unit()}};
		ends[1] = fem_position_add(ends[0], (FemPosition){(double)(length * random_unit()), (double)length, 0.0});
		bool hit = build(ends, radius, &tet.shape, &storage, &shape) && fem_overlap(&tet.shape, &shape, &o);
		int inside = 0;
		for (int i = 0; i < samples; i++) {
			double along;
			FemPosition x = {(double)random_unit(), (double)random_unit(), (double)random_unit()};
			if (contains(&tet.shape, x) && distance_to_core(x, ends, &along) < (double)radius)
				inside += !flat_ends || (along > 0.0 && along < 1.0);
		}
		double expected = 8.0 * inside / samples, deviation = 8.0 * sqrt(fmax(inside, 1.0)) / samples;
		FEM_CHECK(hit || inside < 3);
		FEM_CHECK_NEAR(o.volume, expected, tolerance * expected + 5.0 * deviation);
		hits += hit;
		if (hit)
			check_promises(&o);
	}
	FEM_CHECK(hits > 25);
}

FEM_TEST(overlap, round_shapes_by_monte_carlo) {
	random_state = 21;
	check_round(fem_convex_capsule, false, 0.0f, 0.06);
	check_round(fem_convex_capsule, false, 0.5f, 0.06);
	check_round(fem_convex_cylinder, true, 0.6f, 0.02);
}

// Lying on the face: the cross-section is a circle's segment, R^2 (phi - sin phi cos phi), phi = acos(1 - d / R).
FEM_TEST(overlap, cylinder_and_capsule_lying) {
	Tet slab;
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
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-3f);
	FEM_REQUIRE(fem_convex_capsule(ends, radius, &slab.shape, &storage, &shape));
	FEM_REQUIRE(fem_overlap(&slab.shape, &shape, &o));
	FEM_CHECK_NEAR(o.volume / (segment * length + cap), 1.0, 0.05);
	FEM_CHECK_NEAR(o.centre.x, 0.0, 1e-3);
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-3f);
	// upright
	FemPosition upright[2] = {{0.1, -0.01, 0.2}, {0.1, 1.0, 0.2}};
	FEM_REQUIRE(fem_convex_cylinder(upright, radius, &slab.shape, &storage, &shape));
	FEM_REQUIRE(fem_overlap(&slab.shape, &shape, &o));
	FEM_CHECK_NEAR(o.volume / (3.14159265f * radius * radius * 0.01f), 1.0, 0.015);
	FEM_CHECK_NEAR(o.depth, 0.01, 1e-5);
}

FEM_TEST(overlap, prism_behind_a_triangle) {
	Tet tet;
	FemConvexPrism storage, cells[2];
	FemConvex prism, halves[2];
	FemOverlap o;
	FemVec3 triangle[3] = {{-2.0f, 0.0f, -2.0f}, {-2.0f, 0.0f, 4.0f}, {4.0f, 0.0f, -2.0f}};
	FemVec3 p[4] = {{0.0f, -0.1f, 0.0f}, {0.4f, 0.9f, 0.0f}, {-0.2f, 0.9f, 0.34641f}, {-0.2f, 0.9f, -0.34641f}};
	FEM_REQUIRE(make_tet(p, 15, &tet));
	FEM_REQUIRE(fem_convex_triangle(zero_position, triangle, 0.5f, &storage, &prism));
	FEM_REQUIRE(fem_overlap(&prism, &tet.shape, &o));
	FEM_CHECK_NEAR(o.volume / (0.001f * tet_volume(&tet)), 1.0, 1e-4); // a tenth of the height
	FEM_CHECK(o.normal.y > 0.9999f);
	FEM_CHECK_NEAR(storage.planes[0].y, 1.0, 1e-6);
	prism.plane_normal = true;
	FEM_REQUIRE(fem_overlap(&prism, &tet.shape, &o));
	check_direction(o.normal, fem_vec3(0.0f, 1.0f, 0.0f), 1e-6f);
	// a cell cut in two either way holds the same of the tet
	FemVec3 cell[4] = {{-1.0f, 0.0f, -1.0f}, {-1.0f, 0.0f, 1.2f}, {1.1f, 0.0f, 1.2f}, {1.1f, 0.0f, -1.0f}};
	for (int flip = 0; flip < 2; flip++) {
		float sum = 0.0f;
		FEM_CHECK_INT(fem_convex_cell(zero_position, cell, fem_vec3(0.1f, -1.0f, 0.0f), flip == 1, cells, halves), 3);
		for (int i = 0; i < 2; i++)
			sum += fem_overlap(&halves[i], &tet.shape, &o) ? o.volume : 0.0f;
		FEM_CHECK_NEAR(sum / (0.001f * tet_volume(&tet)), 1.0, 1e-3);
	}
}

// Points on a sphere, a cube with double, inner and coplanar points, and what is no solid.
FEM_TEST(overlap, hull) {
	FemVec3 points[64];
	static FemConvexStorage storage, placed_storage;
	FemConvex hull, placed;
	FemOverlap o;
	int count = 0;
	for (int i = 0; i < 27; i++) // a 3 x 3 x 3 grid: 8 corners, edge, face and inner points
		points[count++] = fem_vec3((float)(i % 3) - 1.0f, (float)(i / 3 % 3) - 1.0f, (float)(i / 9) - 1.0f);
	for (int i = 0; i < 8; i++) // corners again, a hair off
		points[count++] = fem_vec3_scale(points[(i & 1) * 2 + (i & 2) * 3 + (i & 4) * 9 / 2], 1.000001f);
	FemVec3 turned[64];
	for (int turn = 0; turn < 20; turn++) { // no face is flat to the bit any more
		FemQuat rotation = random_rotation();
		for (int i = 0; i < count; i++)
			turned[i] = fem_position_to_vec3(fem_quat_rotate(rotation, fem_position_from(points[i])));
		FEM_REQUIRE(fem_convex_hull(turned, count, &storage, &hull));
		FEM_CHECK_INT(hull.plane_count, 6);
	}
	FEM_REQUIRE(fem_convex_hull(points, count, &storage, &hull));
	FEM_CHECK_INT(hull.plane_count, 6);
	Tet slab;
	make_slab(&slab);
	FemQuat quarter = {0.0f, 0.70710678f, 0.0f, 0.70710678f};
	FEM_REQUIRE(fem_convex_place(&hull, (FemPosition){0.5, 0.98, 0.0}, quarter, &placed_storage, &placed));
	FEM_REQUIRE(fem_overlap(&placed, &slab.shape, &o));
	FEM_CHECK_NEAR(o.volume, 4.0 * 0.02, 1e-4);
	FEM_CHECK_NEAR(o.depth, 0.02, 1e-4);
	check_direction(o.normal, fem_vec3(0.0f, -1.0f, 0.0f), 1e-3f);
	FEM_REQUIRE(fem_overlap(&placed, &placed, &o)); // general path, all planes twice
	FEM_CHECK_NEAR(o.volume, 8.0, 1e-3);
	for (int i = 0; i < 64; i++) { // spiral
		float y = 1.0f - (2.0f * (float)i + 1.0f) / 64.0f, r = sqrtf(1.0f - y * y), turn = 2.3999632f * (float)i;
		points[i] = fem_vec3(r * cosf(turn), y, r * sinf(turn));
	}
	FEM_REQUIRE(fem_convex_hull(points, 64, &storage, &hull));
	FEM_CHECK_INT(hull.plane_count, 124);
	FEM_CHECK_INT(hull.vertex_count, 64);
	FEM_REQUIRE(fem_convex_place(&hull, (FemPosition){0.0, -4.0, 0.0}, random_rotation(), &placed_storage, &placed));
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

// ------------------------------------------------------------------------------------------------------------- bad input

FEM_TEST(overlap, shared_parts_do_not_overlap) {
	Tet a, b;
	FemOverlap o;
	random_state = 9;
	for (int i = 0; i < 1000; i++) {
		random_tet(0.0f, &a);
		for (int shared = 1; shared <= 3; shared++) { // corner, edge, face
			FemVec3 p[4];
			memcpy(p, a.corners, sizeof p);
			FemVec3 middle = {0.0f, 0.0f, 0.0f};
			for (int k = 0; k < shared; k++)
				middle = fem_vec3_add(middle, fem_vec3_scale(p[k], 1.0f / (float)shared));
			for (int k = shared; k < 4; k++) // the rest mirrored through the shared part
				p[k] = fem_vec3_sub(fem_vec3_scale(middle, 2.0f), p[k]);
			FEM_CHECK(make_tet(p, 15, &b));
			FEM_CHECK(!fem_overlap(&a.shape, &b.shape, &o));
		}
	}
}

FEM_TEST(overlap, coincident_tets) {
	random_state = 4;
	for (int i = 0; i < 500; i++) {
		Tet a, b;
		FemOverlap o;
		random_tet(0.0f, &a);
		FEM_REQUIRE(fem_overlap(&a.shape, &a.shape, &o));
		FEM_CHECK(o.flags & FEM_OVERLAP_NO_DIRECTION);
		FEM_CHECK(o.r.x == 0.0f && o.r.y == 0.0f && o.r.z == 0.0f);
		FEM_CHECK_NEAR(o.volume, tet_volume(&a), 1e-5);
		// the same solid, corners in another order, a hair away: planes nearly coincide
		FemVec3 p[4] = {a.corners[2], a.corners[0], a.corners[3], a.corners[1]};
		for (int k = 0; k < 4; k++)
			p[k].x += 1e-7f * random_unit();
		FEM_REQUIRE(make_tet(p, 15, &b));
		FEM_REQUIRE(fem_overlap(&a.shape, &b.shape, &o));
		FEM_CHECK_NEAR(o.volume, tet_volume(&a), 2e-5);
		check_promises(&o);
	}
}

FEM_TEST(overlap, huge_offsets) {
	FemVec3 p[4] = {{0.0f, 0.0f, 0.0f}, {0.01f, 0.0f, 0.0f}, {0.0f, 0.01f, 0.0f}, {0.0f, 0.0f, 0.01f}};
	FemPosition far = {10000.0, -10000.0, 10000.0}, nearby = {10000.0, -10000.0 + 0.009, 10000.0};
	Tet a, b;
	FemOverlap o;
	FEM_REQUIRE(make_tet_at(far, p, 15, &a) && make_tet_at(nearby, p, 15, &b));
	FEM_REQUIRE(fem_overlap(&a.shape, &b.shape, &o));
	FEM_CHECK_NEAR(o.volume / (1e-9 / 6.0), 1.0, 1e-3);
	FEM_CHECK_NEAR(o.centre.y - nearby.y, 0.00025, 1e-7);
	FemPosition away = {1e30, 0.0, 0.0};
	FEM_REQUIRE(make_tet_at(away, p, 15, &b));
	FEM_CHECK(!fem_overlap(&a.shape, &b.shape, &o));
}

FEM_TEST(overlap, not_a_shape) {
	static const float bad[5] = {NAN, INFINITY, -INFINITY, 1e30f, 0.0f};
	Tet good, tet;
	FemOverlap o;
	FemVec4 plane;
	FemConvex shape;
	FemConvexBox box;
	FemConvexStorage storage;
	FEM_REQUIRE(corner_tet(0.0f, 0.0f, 0.0f, 1.0f, 15, &good));
	for (int i = 0; i < 5; i++) {
		FemVec3 p[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
		p[3].z = bad[i];
		FEM_CHECK(!make_tet(p, 15, &tet));
		FEM_CHECK(!fem_overlap(&good.shape, &tet.shape, &o) && !fem_overlap(&tet.shape, &good.shape, &o));
		FemPosition at = {(double)bad[i], 0.0, 0.0}, ends[2] = {at, {0.0, 0.0, 0.0}};
		if (i < 3)
			FEM_CHECK(!fem_convex_half_space(at, fem_vec3(0.0f, 1.0f, 0.0f), &plane, &shape));
		FEM_CHECK(!fem_convex_half_space(zero_position, fem_vec3(0.0f, bad[i], 0.0f), &plane, &shape));
		FEM_CHECK(!fem_overlap(&good.shape, &shape, &o));
		if (i < 4) {
			FEM_CHECK(!fem_convex_box(at, no_rotation, fem_vec3(1.0f, 1.0f, 1.0f), &box, &shape)
				|| !fem_overlap(&good.shape, &shape, &o));
			FEM_CHECK(!fem_convex_sphere(at, 1.0f, &good.shape, &storage, &shape));
			FEM_CHECK(!fem_convex_capsule(ends, 1.0f, &good.shape, &storage, &shape));
			FEM_CHECK(!fem_convex_cylinder(ends, 1.0f, &good.shape, &storage, &shape));
		}
		FEM_CHECK(!fem_convex_sphere(zero_position, bad[i], &good.shape, &storage, &shape));
		FEM_CHECK(!fem_overlap(&good.shape, &shape, &o));
	}
	FEM_CHECK(!fem_convex_cylinder((FemPosition[2]){{0}}, 1.0f, &good.shape, &storage, &shape));
	FEM_CHECK(!fem_convex_box(zero_position, (FemQuat){0.0f, 0.0f, 0.0f, 0.0f}, fem_vec3(1.0f, 1.0f, 1.0f), &box, &shape));
}

// Slivers, needles and near-coincident planes by the thousand: a result is always sane, and never more than either tet.
FEM_TEST(overlap, slivers_stay_sane) {
	random_state = 1234;
	for (int i = 0; i < 20000; i++) {
		Tet tets[2];
		FemOverlap o;
		bool good = true;
		for (int t = 0; t < 2; t++) {
			FemVec3 p[4];
			float flat = powf(10.0f, -2.5f + 2.5f * random_unit());
			for (int k = 0; k < 4; k++) { // on a coarse grid: many corners and planes coincide
				p[k] = fem_vec3(rintf(2.0f * random_unit()), rintf(2.0f * random_unit()), rintf(2.0f * random_unit()));
				p[k].y *= flat;
			}
			good &= make_tet(p, (uint32_t)i & 15, &tets[t]);
		}
		if (!good || !fem_overlap(&tets[0].shape, &tets[1].shape, &o))
			continue;
		check_promises(&o);
		float smaller = fminf(tet_volume(&tets[0]), tet_volume(&tets[1]));
		FEM_CHECK(o.volume <= smaller * 1.001f + 1e-6f);
		FEM_CHECK(contains(&tets[0].shape, o.centre) || o.volume < 1e-4f);
	}
}
