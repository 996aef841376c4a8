// Which tets are to be clipped against each other, against brute force in double.
#include "base/memory.h"
#include "base/range.h"
#include "base/vec.h"
#include "collision/narrow_phase.h"
#include "collision/triangle_tests.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "scenes/tree_shape.h"
#include "topology/topology.h"

#include <stdlib.h>

#define UNSURE 1e-5 // of a tet's volume: brute force does not judge what is nearer to a border than this

static const FemVec3d half = {0.5, 0.5, 0.5};
static const FemQuat no_rotation = {0, 0, 0, 1};

// ---- phase

static FemNarrowPhase make_phase(void) {
	FemNarrowPhase phase = {0};
	FEM_CHECK(fem_narrow_phase_reserve(&phase, &(FemNarrowLimits){.pairs = 8, .units = 4096, .hits = 200000}));
	return phase;
}

static const FemNarrowPair *run_at(
	FemNarrowPhase *phase, const FemTreeShape *a, FemPosition origin_a, const FemTreeShape *b, FemPosition origin_b) {
	FemNarrowBody body_a = {.trees = a->trees, .origin = origin_a}, body_b = {.trees = b->trees, .origin = origin_b};
	fem_narrow_phase_begin(phase);
	fem_narrow_phase_add(phase, &body_a, &body_b);
	fem_narrow_phase_run(phase, NULL);
	return &phase->pairs[0];
}

static const FemNarrowPair *run(FemNarrowPhase *phase, const FemTreeShape *a, const FemTreeShape *b) {
	return run_at(phase, a, (FemPosition){0}, b, (FemPosition){0});
}

static uint32_t find_faces(const FemNarrowPhase *phase, const FemNarrowPair *pair, int32_t a, int32_t b) {
	for (int32_t i = pair->tets.begin; i < pair->tets.end; i++) {
		if (phase->tet_pairs[i].a == a && phase->tet_pairs[i].b == b)
			return phase->tet_pairs[i].faces;
	}
	return 0;
}

static bool is_sorted(const FemNarrowPhase *phase, const FemNarrowPair *pair) {
	for (int32_t i = pair->tets.begin + 1; i < pair->tets.end; i++) {
		const FemTetPair *last = &phase->tet_pairs[i - 1], *next = &phase->tet_pairs[i];
		if (last->a > next->a || (last->a == next->a && last->b >= next->b))
			return false;
	}
	return true;
}

// ---- brute force

static void weights_in(const FemVec3d x[4], FemVec3d p, double out[4]) {
	FemVec3d e1 = fem_vec3d_sub(x[1], x[0]), e2 = fem_vec3d_sub(x[2], x[0]), e3 = fem_vec3d_sub(x[3], x[0]);
	FemVec3d d = fem_vec3d_sub(p, x[0]);
	double volume = fem_vec3d_dot(e1, fem_vec3d_cross(e2, e3));
	out[1] = fem_vec3d_dot(d, fem_vec3d_cross(e2, e3)) / volume;
	out[2] = fem_vec3d_dot(d, fem_vec3d_cross(e3, e1)) / volume;
	out[3] = fem_vec3d_dot(d, fem_vec3d_cross(e1, e2)) / volume;
	out[0] = 1.0 - out[1] - out[2] - out[3];
}

// Whether anything of the triangle has all weights above `margin`.
static bool reaches(const FemVec3d triangle[3], const FemVec3d tet[4], double margin) {
	double polygon[2][8][4];
	int count = 3, at = 0;
	for (int i = 0; i < 3; i++)
		weights_in(tet, triangle[i], polygon[0][i]);
	for (int k = 0; k < 4 && count > 0; k++, at = !at) {
		int kept = 0;
		for (int i = 0; i < count; i++) {
			const double *from = polygon[at][i], *to = polygon[at][(i + 1) % count];
			double f = from[k] - margin, t = to[k] - margin;
			if (f > 0.0)
				memcpy(polygon[!at][kept++], from, sizeof polygon[0][0]);
			if ((f > 0.0) != (t > 0.0)) {
				for (int j = 0; j < 4; j++)
					polygon[!at][kept][j] = from[j] + (to[j] - from[j]) * f / (f - t);
				kept++;
			}
		}
		count = kept;
	}
	return count > 0;
}

static void triangle_corners(const FemTreeShape *shape, int32_t triangle, FemVec3d out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = fem_vec3d_from4(shape->positions[shape->topology->triangles[3 * triangle + i]]);
}

static void tet_corners(const FemTreeShape *shape, int32_t tet, FemVec3d out[4]) {
	for (int i = 0; i < 4; i++)
		out[i] = fem_vec3d_from4(shape->positions[fem_tet_node(shape->topology, tet, i)]);
}

typedef struct Tally {
	int32_t expected, missed, missed_inner, inner;
} Tally;

// All triangles of `faces` against all tets of `solid`: what must be listed is.
static void tally_into(const FemNarrowPhase *phase, const FemNarrowPair *pair, const FemTreeShape *faces,
	const FemTreeShape *solid, bool flipped, Tally *tally) {
	for (int32_t f = 0; f < faces->topology->triangle_count; f++) {
		FemVec3d triangle[3], tet_points[4];
		triangle_corners(faces, f, triangle);
		bool perhaps_outer = false, surely_inner = false, has_pair = false;
		int32_t face_tet = faces->topology->triangle_tets[f];
		for (int32_t tet = 0; tet < solid->topology->batch_count * FEM_LANES; tet++) {
			if (solid->topology->user_of_tet[tet] < 0)
				continue;
			tet_corners(solid, tet, tet_points);
			uint32_t found = flipped ? find_faces(phase, pair, tet, face_tet) & FEM_FACES_B
									 : find_faces(phase, pair, face_tet, tet) & FEM_FACES_A;
			has_pair |= found != 0;
			bool surely = reaches(triangle, tet_points, UNSURE),
				 perhaps = surely || reaches(triangle, tet_points, -UNSURE);
			if (!solid->trees->outer_faces[tet]) {
				surely_inner |= surely;
				continue;
			}
			perhaps_outer |= perhaps;
			tally->expected += surely;
			tally->missed += surely && !found;
		}
		tally->inner += surely_inner && !perhaps_outer;
		tally->missed_inner += surely_inner && !perhaps_outer && !has_pair;
	}
}

// No pair that cannot be one: some outer face of one reaches into the other.
static int32_t count_wrong(
	const FemNarrowPhase *phase, const FemNarrowPair *pair, const FemTreeShape *a, const FemTreeShape *b) {
	int32_t wrong = 0;
	for (int32_t i = pair->tets.begin; i < pair->tets.end; i++) {
		const FemTetPair *found = &phase->tet_pairs[i];
		for (int side = 0; side < 2; side++) {
			const FemTreeShape *faces = side ? b : a, *solid = side ? a : b;
			int32_t face_tet = side ? found->b : found->a, tet = side ? found->a : found->b;
			bool reached = false;
			FemVec3d triangle[3], points[4];
			tet_corners(solid, tet, points);
			for (int32_t f = 0; f < faces->topology->triangle_count; f++) {
				triangle_corners(faces, f, triangle);
				reached |= faces->topology->triangle_tets[f] == face_tet && reaches(triangle, points, -UNSURE);
			}
			wrong += found->faces >> side & 1 && !reached;
		}
	}
	return wrong;
}

static Tally check_against_brute_force(
	const FemNarrowPhase *phase, const FemNarrowPair *pair, const FemTreeShape *a, const FemTreeShape *b) {
	Tally tally = {0};
	tally_into(phase, pair, a, b, false, &tally);
	tally_into(phase, pair, b, a, true, &tally);
	FEM_CHECK_INT(tally.missed, 0);
	FEM_CHECK_INT(tally.missed_inner, 0);
	FEM_CHECK_INT(count_wrong(phase, pair, a, b), 0);
	FEM_CHECK(is_sorted(phase, pair));
	FEM_CHECK(!pair->full);
	return tally;
}

// Tets behind triangles that cut through each other.
static int32_t count_missed_crossings(
	const FemNarrowPhase *phase, const FemNarrowPair *pair, const FemTreeShape *a, const FemTreeShape *b) {
	int32_t missed = 0;
	for (int32_t f = 0; f < a->topology->triangle_count; f++) {
		for (int32_t g = 0; g < b->topology->triangle_count; g++) {
			Float4 first[3], second[3];
			fem_triangle_points(a->trees, f, first);
			fem_triangle_points(b->trees, g, second);
			if (fem_triangles_cross(first, second))
				missed += !find_faces(phase, pair, a->topology->triangle_tets[f], b->topology->triangle_tets[g]);
		}
	}
	return missed;
}

// ---- body and body

FEM_TEST(narrow_phase, rotated_boxes_as_brute_force) {
	FemTreeShape a = fem_tree_box(3, 3, 3, fem_vec3(1, 1, 1), FEM_CELLS_KUHN),
				 b = fem_tree_box(3, 2, 4, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemNarrowPhase phase = make_phase();
	uint32_t random = 11;
	int32_t expected = 0;
	for (int trial = 0; trial < 12; trial++) {
		double reach = trial < 6 ? 0.9 : 0.4;
		FemVec3d move = {reach * (double)fem_random(&random), reach * (double)fem_random(&random),
			reach * (double)fem_random(&random)};
		fem_tree_shape_pose(&a, fem_seeded_rotation(&random), half, (FemVec3d){0});
		fem_tree_shape_pose(&b, fem_seeded_rotation(&random), half, move);
		const FemNarrowPair *pair = run(&phase, &a, &b);
		expected += check_against_brute_force(&phase, pair, &a, &b).expected;
		FEM_CHECK(count_missed_crossings(&phase, pair, &a, &b) <= 1); // floats may doubt one that just touches
	}
	FEM_CHECK(expected > 1000);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
}

FEM_TEST(narrow_phase, a_crate_pressed_into_a_floor_is_held_by_all_of_its_base) {
	FemTreeShape floor = fem_tree_box(8, 2, 8, fem_vec3(2, 0.5f, 2), FEM_CELLS_KUHN),
				 crate = fem_tree_box(4, 4, 4, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemNarrowPhase phase = make_phase();
	fem_tree_shape_pose(&crate, (FemQuat){0, 0.2f, 0, 0.98f}, half, (FemVec3d){0.5, 0.499, 0.5});
	const FemNarrowPair *pair = run(&phase, &crate, &floor);
	int32_t base = 0, held = 0;
	for (int32_t f = 0; f < crate.topology->triangle_count; f++) {
		FemVec3d corners[3];
		triangle_corners(&crate, f, corners);
		if (corners[0].y > 0.5 || corners[1].y > 0.5 || corners[2].y > 0.5)
			continue;
		base++;
		bool opposed = false;
		for (int32_t i = pair->tets.begin; i < pair->tets.end; i++)
			opposed |= phase.tet_pairs[i].a == crate.topology->triangle_tets[f] && phase.tet_pairs[i].faces == 3;
		held += opposed;
	}
	FEM_CHECK_INT(base, 32);
	FEM_CHECK_INT(held, base);
	check_against_brute_force(&phase, pair, &crate, &floor);
	fem_tree_shape_pose(&crate, (FemQuat){0, 0.2f, 0, 0.98f}, half, (FemVec3d){0.5, 0.501, 0.5});
	FEM_CHECK_INT(run(&phase, &crate, &floor)->hit_count, 0);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&floor);
	fem_tree_shape_free(&crate);
}

FEM_TEST(narrow_phase, a_body_inside_another_is_found) {
	FemTreeShape big = fem_tree_box(8, 8, 8, fem_vec3(1, 1, 1), FEM_CELLS_KUHN),
				 small = fem_tree_box(2, 2, 2, fem_vec3(0.2f, 0.2f, 0.2f), FEM_CELLS_FIVE);
	FemNarrowPhase phase = make_phase();
	fem_tree_shape_pose(
		&small, (FemQuat){0.1f, 0.2f, 0.3f, 0.9f}, (FemVec3d){0.1, 0.1, 0.1}, (FemVec3d){0.41, 0.39, 0.42});
	for (int order = 0; order < 2; order++) {
		const FemTreeShape *a = order ? &big : &small, *b = order ? &small : &big;
		const FemNarrowPair *pair = run(&phase, a, b);
		Tally tally = check_against_brute_force(&phase, pair, a, b);
		FEM_CHECK_INT(tally.inner, small.topology->triangle_count);
		FEM_CHECK(pair->tets.end - pair->tets.begin >= small.topology->triangle_count / 2);
	}
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&big);
	fem_tree_shape_free(&small);
}

FEM_TEST(narrow_phase, deep_overlaps_as_brute_force) {
	FemTreeShape a = fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), FEM_CELLS_FIVE),
				 b = fem_tree_box(5, 5, 5, fem_vec3(1, 1, 1), FEM_CELLS_KUHN);
	FemNarrowPhase phase = make_phase();
	fem_tree_shape_pose(&b, (FemQuat){0.02f, 0.1f, 0.03f, 0.99f}, half, (FemVec3d){0.45, 0.5, 0.4});
	const FemNarrowPair *pair = run(&phase, &a, &b);
	Tally tally = check_against_brute_force(&phase, pair, &a, &b);
	FEM_CHECK(tally.inner > 10 && tally.expected > 100);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
}

FEM_TEST(narrow_phase, a_coarse_body_in_a_fine_one) {
	FemTreeShape a = fem_tree_box(1, 1, 1, fem_vec3(1, 1, 1), FEM_CELLS_FIVE),
				 b = fem_tree_box(9, 9, 9, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemNarrowPhase phase = make_phase();
	fem_tree_shape_pose(&a, (FemQuat){0.02f, 0.1f, 0.03f, 0.99f}, half, (FemVec3d){0.1, 0.97, 0.05});
	const FemNarrowPair *pair = run(&phase, &a, &b);
	FEM_CHECK(phase.units[0].hit_count > phase.units[0].slot_count); // was found in a second run
	FEM_CHECK(check_against_brute_force(&phase, pair, &a, &b).expected > 150);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
}

FEM_TEST(narrow_phase, single_triangles_and_tets) {
	Float4 flat[3] = {{0, 0, 0, 0}, {4, 0, 0, 0}, {0, 0, 4, 0}}, spike[3] = {{1, -1, 1, 0}, {1, 1, 1, 0}, {9, 9, 9, 0}};
	Float4 beside[3] = {{9, -1, 1, 0}, {9, 1, 1, 0}, {9, 9, 9, 0}},
		   level[3] = {{1, 0, 1, 0}, {2, 0, 1, 0}, {1, 0, 2, 0}};
	FEM_CHECK(fem_triangles_cross(flat, spike) && fem_triangles_cross(spike, flat));
	FEM_CHECK(!fem_triangles_cross(flat, beside) && !fem_triangles_cross(flat, level));
	// A tet as it is, inside out, too far off, and without volume.
	Float4 tets[4][4] = {{{1, -1, 1, 0}, {2, -1, 1, 0}, {1, 1, 1, 0}, {1, -1, 2, 0}},
		{{1, -1, 1, 0}, {1, 1, 1, 0}, {2, -1, 1, 0}, {1, -1, 2, 0}},
		{{5, -1, 5, 0}, {6, -1, 5, 0}, {5, 1, 5, 0}, {5, -1, 6, 0}},
		{{1, -1, 1, 0}, {2, -1, 1, 0}, {1, 1, 1, 0}, {2, 1, 1, 0}}};
	FEM_CHECK_INT(fem_triangle_meets_tets(flat, tets), 3);
	FEM_CHECK(fem_point_in_tet((Float4){1.1f, -0.9f, 1.1f, 0}, tets[0]) &&
		fem_point_in_tet((Float4){1.1f, -0.9f, 1.1f, 0}, tets[1]));
	FEM_CHECK(!fem_point_in_tet((Float4){1.1f, -1.1f, 1.1f, 0}, tets[0]) && !fem_point_in_tet(tets[3][0], tets[3]));
}

FEM_TEST(narrow_phase, origins_far_out_change_nothing) {
	FemTreeShape a = fem_tree_box(4, 4, 4, fem_vec3(1, 1, 1), FEM_CELLS_FIVE),
				 b = fem_tree_box(4, 4, 4, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemNarrowPhase near = make_phase(), far = make_phase();
	fem_tree_shape_pose(
		&b, no_rotation, half, (FemVec3d){0.4375, 0.8125, 0.28125}); // in steps of 1/32: exact wherever it is
	const FemNarrowPair *expected = run(&near, &a, &b);
	fem_tree_shape_pose(&b, no_rotation, half, (FemVec3d){0.4375 - 7.0, 0.8125 + 3.0, 0.28125});
	const FemNarrowPair *found =
		run_at(&far, &a, (FemPosition){10000, -20000, 1e6}, &b, (FemPosition){10007, -20003, 1e6});
	FEM_CHECK(expected->hit_count > 50);
	FEM_CHECK_INT(found->tets.end, expected->tets.end);
	FEM_CHECK(memcmp(near.tet_pairs, far.tet_pairs, sizeof(FemTetPair) * (size_t)expected->tets.end) == 0);
	FEM_CHECK_INT(run_at(&far, &a, (FemPosition){0}, &b, (FemPosition){100, 0, 0})->hit_count, 0);
	fem_narrow_phase_free(&near);
	fem_narrow_phase_free(&far);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
}

// ---- self

// Bends a strip along x (rest thickness in y) into a U: an arm, half a circle of `radius` for its middle, an arm.
static void bend_to_u(FemTreeShape *strip, double length, double thickness, double radius) {
	double arc = 3.14159265358979 * radius, arm = (length - arc) / 2.0;
	for (int32_t i = 0; i < strip->topology->node_count; i++) {
		double s = (double)strip->rest[i].x, y = (double)strip->rest[i].y - thickness / 2.0;
		double angle = (s - arm) / radius;
		FemVec4 *p = &strip->positions[i];
		if (s < arm) {
			p->x = (float)s, p->y = (float)(y - radius);
		} else if (s < arm + arc) {
			p->x = (float)(arm + (radius - y) * sin(angle)), p->y = (float)(-(radius - y) * cos(angle));
		} else {
			p->x = (float)(arm - (s - arm - arc)), p->y = (float)(radius - y);
		}
		p->z = strip->rest[i].z;
	}
	fem_tree_shape_refit(strip);
}

static double tet_middle_x(const FemTreeShape *shape, int32_t tet) {
	double sum = 0.0;
	for (int v = 0; v < 4; v++)
		sum += 0.25 * (double)shape->rest[fem_tet_node(shape->topology, tet, v)].x;
	return sum;
}

FEM_TEST(narrow_phase, a_strip_folded_on_itself_touches_with_its_arms) {
	FemTreeShape strip = fem_tree_box(48, 1, 4, fem_vec3(4.8f, 0.1f, 0.4f), FEM_CELLS_FIVE);
	FemNarrowPhase phase = make_phase();
	FEM_CHECK_INT(run(&phase, &strip, &strip)->hit_count, 0); // straight
	bend_to_u(&strip, 4.8, 0.1, 0.2);
	FEM_CHECK_INT(run(&phase, &strip, &strip)->hit_count, 0); // arms 0.3 m apart
	bend_to_u(&strip, 4.8, 0.1, 0.4);
	// The last 8 cells of the upper arm are pushed down into the lower one, 2 mm deep and flat.
	for (int32_t i = 0; i < strip.topology->node_count; i++) {
		if (strip.rest[i].x > 4.05f)
			strip.positions[i].y -= 0.702f, strip.positions[i].x += 0.013f, strip.positions[i].z += 0.007f;
	}
	// And somewhere else a row of nodes is pushed through its neighbours, which is no contact.
	for (int32_t i = 0; i < strip.topology->node_count; i++) {
		if (fabsf(strip.rest[i].x - 2.6f) < 0.01f)
			strip.positions[i].x -= 0.17f, strip.positions[i].y += 0.03f;
	}
	fem_tree_shape_refit(&strip);
	const FemNarrowPair *pair = run(&phase, &strip, &strip);
	FEM_CHECK(is_sorted(&phase, pair) && !pair->full);
	int32_t wrong = 0, opposed = 0;
	bool *held = calloc((size_t)strip.topology->batch_count * FEM_LANES, sizeof *held);
	for (int32_t i = pair->tets.begin; i < pair->tets.end; i++) {
		const FemTetPair *found = &phase.tet_pairs[i];
		double x_a = tet_middle_x(&strip, found->a), x_b = tet_middle_x(&strip, found->b);
		wrong += found->a >= found->b || fabs(x_a - x_b) < 2.0;
		opposed += found->faces == 3;
		held[found->a] = held[found->b] = true;
	}
	FEM_CHECK_INT(wrong, 0);
	FEM_CHECK(opposed > 64);
	// Also where no triangles cross: everything under the pushed arm.
	int32_t base = 0, base_held = 0;
	for (int32_t f = 0; f < strip.topology->triangle_count; f++) {
		FemVec3d corners[3];
		triangle_corners(&strip, f, corners);
		int32_t tet = strip.topology->triangle_tets[f];
		if (tet_middle_x(&strip, tet) < 4.1 || corners[0].y > -0.35 || corners[1].y > -0.35 || corners[2].y > -0.35)
			continue;
		base++;
		base_held += held[tet];
	}
	FEM_CHECK(base >= 48);
	FEM_CHECK_INT(base_held, base);
	free(held);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&strip);
}

// One node after the other of a U's upper arm is pulled through the lower one: whether triangles cross is found out
// wherever it happens, in one tree or between two.
FEM_TEST(narrow_phase, every_crossing_is_noticed) {
	FemNarrowPhase phase = make_phase();
	for (int whole = 0; whole < 2; whole++) {
		FemBoxMesh mesh = fem_box_mesh(40, 1, 3, fem_vec3(4, 0.1f, 0.3f), FEM_CELLS_FIVE);
		FemTreeShape strip = fem_tree_shape(&mesh, whole ? 1000000 : 20);
		fem_box_mesh_free(&mesh);
		FEM_CHECK(whole ? strip.trees->tree_count == 1 : strip.trees->tree_count > 5);
		int32_t noticed = 0, pulled = 0;
		for (int32_t i = 0; i < strip.topology->node_count; i++) {
			if (strip.rest[i].x < 3.0f || strip.rest[i].y < 0.05f)
				continue;
			bend_to_u(&strip, 4.0, 0.1, 0.2);
			strip.positions[i].y -= 0.35f, strip.positions[i].x += 0.02f, strip.positions[i].z += 0.013f;
			fem_tree_shape_refit(&strip);
			const FemNarrowPair *pair = run(&phase, &strip, &strip);
			pulled++;
			noticed += pair->tets.end > 0;
		}
		FEM_CHECK(pulled >= 40);
		FEM_CHECK_INT(noticed, pulled);
		fem_tree_shape_free(&strip);
	}
	fem_narrow_phase_free(&phase);
}

#define U_RADIUS 0.06 // m, of the middle of the strip
#define U_ARC 0.1885  // m
#define U_LENGTH (2.0 + U_ARC)

// A strip along x, 10 rows of cells an arm and 21 in the bend, whose inner side is two trees that meet in the middle of
// the bend. It is narrower on that side, so that all its rims look inward, too.
static FemTreeShape make_strip_of_four_trees(void) {
	FemBoxMesh mesh = fem_box_mesh(1, 41, 3, fem_vec3(0.1f, 41.0f, 0.3f), FEM_CELLS_FIVE);
	for (int32_t i = 0; i < mesh.node_count; i++) {
		FemVec3 p = mesh.positions[i];
		double row = (double)p.y, inset = p.x > 0.05f ? 0.05 : 0.0;
		double x = row <= 10.0 ? 0.1 * row
			: row <= 31.0      ? 1.0 + U_ARC * (row - 10.0) / 21.0
							   : U_LENGTH - 4.1 + 0.1 * row;
		x += row < 0.5 ? inset : row > 40.5 ? -inset : 0.0;
		p.z += (float)(p.z < 0.01f ? inset : p.z > 0.29f ? -inset : 0.0);
		mesh.positions[i] = fem_vec3((float)x, p.x, 0.3f - p.z);
	}
	FemTreeShape strip = fem_tree_shape(&mesh, mesh.node_count / 4);
	fem_box_mesh_free(&mesh);
	return strip;
}

// A U whose arms are 2 cm apart; a bump of 3.5 cm on one reaches into the other. The two trees of the inner side are
// neighbours, the normals of each within 90 degrees of its axis, those of both not. Fails when such trees are taken for
// one patch that cannot have folded over.
FEM_TEST(narrow_phase, arms_of_neighbouring_trees_touch) {
	FemNarrowPhase phase = make_phase();
	FemTreeShape strip = make_strip_of_four_trees();
	int32_t noticed = 0, raised = 0;
	bend_to_u(&strip, U_LENGTH, 0.1, U_RADIUS);
	FEM_CHECK_INT(run(&phase, &strip, &strip)->tets.end, 0);
	for (int32_t i = 0; i < strip.topology->node_count; i++) {
		FemVec4 rest = strip.rest[i];
		if (rest.y < 0.05f || rest.x < 0.15f || rest.x > 0.75f || rest.z < 0.08f || rest.z > 0.22f)
			continue;
		bend_to_u(&strip, U_LENGTH, 0.1, U_RADIUS);
		strip.positions[i].y += 0.035f;
		fem_tree_shape_refit(&strip);
		noticed += run(&phase, &strip, &strip)->tets.end > 0;
		raised++;
	}
	FEM_CHECK_INT(raised, 12);
	FEM_CHECK_INT(noticed, raised);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&strip);
}

FEM_TEST(narrow_phase, nothing_touches_itself_at_rest) {
	FemNarrowPhase phase = make_phase();
	uint32_t random = 5;
	for (int kind = 0; kind < 4; kind++) {
		FemTreeShape shape = kind < 2 ? fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), kind ? FEM_CELLS_KUHN : FEM_CELLS_FIVE)
									  : fem_tree_box(20, 1, kind == 2 ? 1 : 20, fem_vec3(1, 0.01f, 1), FEM_CELLS_KUHN);
		for (int trial = 0; trial < 4; trial++) {
			fem_tree_shape_pose(&shape, fem_seeded_rotation(&random), half, (FemVec3d){0});
			FEM_CHECK_INT(run(&phase, &shape, &shape)->hit_count, 0);
			FEM_CHECK_INT(phase.pairs[0].units[1].end, phase.pairs[0].units[1].begin);
		}
		// Crushed to a third, and neighbours pushed through each other: that is the elements' business.
		fem_tree_shape_pose(&shape, no_rotation, half, (FemVec3d){0});
		for (int32_t i = 0; i < shape.topology->node_count; i++)
			shape.positions[i].x *= 0.3f;
		int32_t node = shape.topology->triangles[0];
		shape.positions[node].y += 1.2f * (kind < 2 ? 1.0f / 6.0f : 0.01f);
		fem_tree_shape_refit(&shape);
		FEM_CHECK_INT(run(&phase, &shape, &shape)->hit_count, 0);
		fem_tree_shape_free(&shape);
	}
	fem_narrow_phase_free(&phase);
}

// Two boxes in one mesh, nothing in common.
static FemTreeShape make_two_boxes(void) {
	FemBoxMesh one = fem_box_mesh(2, 2, 2, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemBoxMesh two = {.node_count = 2 * one.node_count, .tet_count = 2 * one.tet_count};
	two.positions = malloc(sizeof(FemVec3) * (size_t)two.node_count);
	two.tets = malloc(sizeof(int32_t) * 4 * (size_t)two.tet_count);
	for (int32_t i = 0; i < two.node_count; i++) {
		two.positions[i] = one.positions[i % one.node_count];
		two.positions[i].x += i < one.node_count ? 0.0f : 5.0f;
	}
	for (int32_t i = 0; i < 4 * two.tet_count; i++)
		two.tets[i] = one.tets[i % (4 * one.tet_count)] + (i < 4 * one.tet_count ? 0 : one.node_count);
	FemTreeShape shape = fem_tree_shape(&two, 1000);
	free(two.positions);
	free(two.tets);
	fem_box_mesh_free(&one);
	return shape;
}

FEM_TEST(narrow_phase, loose_pieces_of_one_body_touch_like_bodies) {
	FemTreeShape shape = make_two_boxes();
	FemNarrowPhase phase = make_phase();
	FEM_CHECK_INT(shape.topology->component_count, 2);
	FEM_CHECK_INT(run(&phase, &shape, &shape)->hit_count, 0);
	for (int inside = 0; inside < 2; inside++) {
		for (int32_t i = 0; i < shape.topology->node_count; i++) {
			FemVec4 p = shape.rest[i];
			if (p.x > 3.0f)
				p = inside ? (FemVec4){(p.x - 5.0f) * 0.3f + 0.31f, p.y * 0.3f + 0.37f, p.z * 0.3f + 0.33f, 0.0f}
						   : (FemVec4){p.x - 4.3f, p.y + 0.95f, p.z + 0.1f, 0.0f};
			shape.positions[i] = p;
		}
		fem_tree_shape_refit(&shape);
		const FemNarrowPair *pair = run(&phase, &shape, &shape);
		FEM_CHECK(pair->tets.end > 8);
		for (int32_t i = pair->tets.begin; i < pair->tets.end; i++)
			FEM_CHECK((tet_middle_x(&shape, phase.tet_pairs[i].a) > 3.0) !=
				(tet_middle_x(&shape, phase.tet_pairs[i].b) > 3.0));
	}
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&shape);
}

// ---- limits, threads

FEM_TEST(narrow_phase, full_buffers_are_told_and_counted_on) {
	FemTreeShape a = fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), FEM_CELLS_FIVE),
				 b = fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	fem_tree_shape_pose(&b, (FemQuat){0.02f, 0.1f, 0.03f, 0.99f}, half, (FemVec3d){0.2, 0.9, 0.1});
	FemNarrowPhase phase = make_phase();
	int32_t hits = run(&phase, &a, &b)->hit_count;
	FEM_CHECK(hits > 100 && !phase.hits_full && !phase.units_full && !phase.pairs_full);
	FemNarrowLimits limits[] = {{8, 4096, 50, 0, 0, 0}, {8, 4096, 200000, 20, 0, 0}, {8, 1, 200000, 0, 0, 0}};
	for (int i = 0; i < 3; i++) {
		FEM_REQUIRE(fem_narrow_phase_reserve(&phase, &limits[i]));
		const FemNarrowPair *pair = run(&phase, &a, &b);
		FEM_CHECK(pair->full && is_sorted(&phase, pair));
		FEM_CHECK(i == 2 ? phase.units_full : phase.hits_full);
		FEM_CHECK(pair->tets.end > 0 && pair->hit_stored <= (i == 0 ? 50 : i == 1 ? 20 : hits));
		if (i < 2)
			FEM_CHECK_INT(pair->hit_count, hits);
	}
	FEM_REQUIRE(fem_narrow_phase_reserve(&phase, &(FemNarrowLimits){.pairs = 1, .units = 100, .hits = 1000}));
	FemNarrowBody body_a = {.trees = a.trees}, body_b = {.trees = b.trees};
	fem_narrow_phase_begin(&phase);
	FEM_CHECK_INT(fem_narrow_phase_add(&phase, &body_a, &body_b), 0);
	FEM_CHECK_INT(fem_narrow_phase_add(&phase, &body_a, &body_b), -1);
	FEM_CHECK(phase.pairs_full);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
}

typedef struct ThreadedRun {
	FemNarrowPhase *phase;
	FemPool *pool;
} ThreadedRun;

static void run_job(void *context) {
	ThreadedRun *threaded = context;
	fem_narrow_phase_run(threaded->phase, threaded->pool);
}

FEM_TEST(narrow_phase, threads_change_nothing_and_nothing_is_allocated) {
	int64_t before = fem_memory_bytes();
	FemTreeShape a = fem_tree_box(8, 8, 8, fem_vec3(1, 1, 1), FEM_CELLS_KUHN),
				 b = fem_tree_box(7, 7, 7, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemNarrowPhase expected = make_phase(), phase = make_phase();
	for (int threads = 1; threads <= 4; threads += 3) {
		FemPool *pool = fem_pool_create_on(&(FemJobSystem){0}, threads);
		uint32_t random = 3;
		int64_t allocations = fem_memory_allocations();
		for (int trial = 0; trial < 20; trial++) {
			fem_tree_shape_pose(
				&b, fem_seeded_rotation(&random), half, (FemVec3d){0.5 * (double)fem_random(&random), 0.7, 0.1});
			FemNarrowBody body_a = {.trees = a.trees}, body_b = {.trees = b.trees};
			FemNarrowPhase *phases[] = {&expected, &phase};
			for (int i = 0; i < 2; i++) {
				fem_tree_shape_refit(&b); // so that groups are made in both runs
				fem_narrow_phase_begin(phases[i]);
				fem_narrow_phase_add(phases[i], &body_a, &body_b);
				fem_narrow_phase_add(phases[i], &body_b, &body_b);
				fem_narrow_phase_add(phases[i], &body_b, &body_a);
				if (i == 0)
					fem_narrow_phase_run(&expected, NULL);
				else
					fem_pool_run(pool, run_job, &(ThreadedRun){&phase, pool});
			}
			for (int i = 0; i < 3; i++) {
				FemRange range = expected.pairs[i].tets;
				FEM_CHECK(phase.pairs[i].tets.begin == range.begin && phase.pairs[i].tets.end == range.end);
				FEM_CHECK(memcmp(expected.tet_pairs + range.begin, phase.tet_pairs + range.begin,
							  sizeof(FemTetPair) * (size_t)(range.end - range.begin)) == 0);
			}
			FEM_CHECK(expected.pairs[0].hit_count > 0 && expected.pairs[1].hit_count == 0);
		}
		FEM_CHECK_INT(fem_memory_allocations() - allocations, 0);
		fem_pool_destroy(pool);
	}
	fem_narrow_phase_free(&expected);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
	FEM_CHECK_INT(fem_memory_bytes() - before, 0);
}

// What is found names tets that there are, in order.
static void check_hits(
	const FemNarrowPhase *phase, const FemNarrowPair *pair, const FemTreeShape *a, const FemTreeShape *b) {
	FEM_CHECK(is_sorted(phase, pair));
	for (int32_t i = pair->tets.begin; i < pair->tets.end; i++) {
		FemTetPair found = phase->tet_pairs[i];
		FEM_CHECK(
			found.a >= 0 && found.a < a->topology->batch_count * FEM_LANES && a->topology->user_of_tet[found.a] >= 0);
		FEM_CHECK(
			found.b >= 0 && found.b < b->topology->batch_count * FEM_LANES && b->topology->user_of_tet[found.b] >= 0);
	}
}

// Fails when boxes of trees stay not a number after the positions are numbers again, or when a hit is made up.
FEM_TEST(narrow_phase, positions_that_are_not_finite_do_no_harm) {
	FemTreeShape a = fem_tree_box(4, 4, 4, fem_vec3(1, 1, 1), FEM_CELLS_FIVE),
				 b = fem_tree_box(4, 4, 4, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	FemNarrowPhase phase = make_phase();
	FemVec3d beside = {0.3, 0.9, 0.2};
	fem_tree_shape_pose(&b, no_rotation, half, beside);
	fem_tree_shape_refit(&b);
	int32_t hits = run(&phase, &a, &b)->hit_count;
	FEM_CHECK(hits > 0);
	const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f};
	for (int i = 0; i < 4; i++) {
		for (int32_t node = i; node < b.topology->node_count; node += 7)
			b.positions[node].y = bad[i];
		fem_tree_shape_refit(&b);
		check_hits(&phase, run(&phase, &a, &b), &a, &b);
		check_hits(&phase, run(&phase, &b, &b), &b, &b);
	}
	fem_tree_shape_pose(&b, no_rotation, half, beside);
	fem_tree_shape_refit(&b);
	FEM_CHECK_INT(run(&phase, &a, &b)->hit_count, hits);
	// A body of which all corners are one point has no volume to reach into.
	for (int32_t node = 0; node < b.topology->node_count; node++)
		b.positions[node] = (FemVec4){0.5f, 0.5f, 0.5f, 0.0f};
	fem_tree_shape_refit(&b);
	check_hits(&phase, run(&phase, &a, &b), &a, &b);
	FEM_CHECK_INT(run(&phase, &b, &b)->hit_count, 0);
	fem_narrow_phase_free(&phase);
	fem_tree_shape_free(&a);
	fem_tree_shape_free(&b);
}

// Fails when a crossing is seen from one side of a triangle only: the order of corners must not matter.
FEM_TEST(narrow_phase, triangles_cross_in_any_order_of_corners) {
	static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
	uint32_t random = 7;
	int32_t crossing = 0;
	for (int n = 0; n < 500; n++) {
		Float4 a[3], b[3];
		for (int i = 0; i < 3; i++) {
			a[i] = (Float4){fem_random(&random), fem_random(&random), fem_random(&random), 0.0f};
			b[i] = (Float4){fem_random(&random), fem_random(&random), fem_random(&random), 0.0f};
		}
		bool cross = fem_triangles_cross(a, b);
		crossing += cross;
		for (int k = 0; k < 36; k++) {
			const int *p = orders[k / 6], *q = orders[k % 6];
			Float4 c[3] = {a[p[0]], a[p[1]], a[p[2]]}, d[3] = {b[q[0]], b[q[1]], b[q[2]]};
			FEM_CHECK(fem_triangles_cross(c, d) == cross && fem_triangles_cross(d, c) == cross);
		}
	}
	FEM_CHECK(crossing > 50 && crossing < 450);
}
