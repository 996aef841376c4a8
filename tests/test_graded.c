// The graded lattice, and what it makes of things with limbs.
#include "base/memory.h"
#include "fem_test.h"
#include "filling/coverage.h"
#include "filling/graded_lattice.h"
#include "filling/graded_stuffing.h"
#include "filling/surface_carve.h"
#include "filling/surface_fit.h"
#include "filling/tet_list.h"
#include "filling/tetrahedralize.h"
#include "geometry/embedding.h"
#include "scenes/surface_meshes.h"
#include "topology/surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DEMANDS 40

static FemTetList leaves_of(const FemGradedLattice *lattice) {
	FemTetList list = {0};
	for (int32_t n = 0; n < lattice->node_count; n++)
		fem_tet_list_add_node(&list, lattice->nodes[n]);
	for (int32_t t = 0; t < lattice->tet_count; t++) {
		const int32_t *x = lattice->tets[t].nodes;
		if (lattice->tets[t].child < 0)
			fem_tet_list_add_tet(&list, x[0], x[1], x[2], x[3]);
	}
	return list;
}

// Faces that only one leaf has: twice the area of those of the box means that neighbours do not match.
static double outer_area(const FemTetList *list) {
	FemSurface surface;
	double sum = 0.0;
	int32_t *nodes = malloc(sizeof *nodes * (size_t)list->node_count);
	for (int32_t n = 0; n < list->node_count; n++)
		nodes[n] = n;
	FEM_CHECK(fem_surface_create(&surface, nodes, list->node_count, &list->tets[0][0], list->tet_count));
	for (int32_t f = 0; f < surface.count; f++) {
		FemVec3d p[3];
		for (int v = 0; v < 3; v++)
			p[v] = list->nodes[list->tets[surface.faces[f] / 4][fem_face_corners[surface.faces[f] % 4][v]]];
		FemVec3d n = fem_vec3d_cross(fem_vec3d_sub(p[1], p[0]), fem_vec3d_sub(p[2], p[0]));
		sum += 0.5 * sqrt(fem_vec3d_dot(n, n));
	}
	fem_surface_free(&surface);
	free(nodes);
	return sum;
}

static FemGradedDemand demand_of(int32_t i) {
	double at[3];
	for (int axis = 0; axis < 3; axis++)
		at[axis] = 0.9 * sin(1.7 * i + 2.1 * axis);
	return (FemGradedDemand){{at[0], 0.6 * at[1], 0.4 * at[2]}, 0.4 * pow(0.9, i)};
}

// Fails when a bisection leaves out a neighbour.
FEM_TEST(graded, neighbours_share_whole_faces) {
	const double half[3] = {1.0, 0.6, 0.4};
	FemGradedLattice lattice;
	FemGradedDemand demands[DEMANDS];
	bool met;
	for (int32_t i = 0; i < DEMANDS; i++)
		demands[i] = demand_of(i);
	FEM_CHECK(fem_graded_create(&lattice, half, 0.5, 0.3) == FEM_OK);
	FEM_CHECK(fem_graded_refine(&lattice, demands, DEMANDS, 100000, &met) == FEM_OK && met);
	FemTetList list = leaves_of(&lattice);
	double x = lattice.cells[0] * lattice.cell, y = lattice.cells[1] * lattice.cell,
		   z = lattice.cells[2] * lattice.cell;
	printf("  %d leaves, angles from %.1f degrees\n", list.tet_count, fem_tet_list_min_dihedral(&list));
	FEM_CHECK(list.tet_count == lattice.leaf_count && list.tet_count > 500);
	FEM_CHECK(fabs(fem_tet_list_volume_sum(&list) / (x * y * z) - 1.0) < 1e-9);
	FEM_CHECK(fabs(outer_area(&list) / (2.0 * (x * y + y * z + z * x)) - 1.0) < 1e-9);
	FEM_CHECK(fem_tet_list_min_dihedral(&list) > 44.9);
	for (int32_t i = 0; i < DEMANDS; i++)
		FEM_CHECK(fem_graded_size(&lattice, fem_graded_find(&lattice, demands[i].at)) <= demands[i].size);
	FEM_CHECK(fem_graded_find(&lattice, (FemVec3d){9.0, 0.0, 0.0}) == -1);
	fem_tet_list_free(&list);
	fem_graded_free(&lattice);
}

FEM_TEST(graded, a_bound_on_leaves_is_told) {
	const double half[3] = {1.0, 1.0, 1.0};
	FemGradedLattice lattice;
	FemGradedDemand demand = {{0.1, 0.2, 0.3}, 1e-3};
	bool met = true;
	FEM_CHECK(fem_graded_create(&lattice, half, 0.5, 0.0) == FEM_OK);
	FEM_CHECK(fem_graded_refine(&lattice, &demand, 1, lattice.leaf_count + 20, &met) == FEM_OK && !met);
	fem_graded_free(&lattice);
	FEM_CHECK(fem_graded_create(&lattice, half, 1e-6, 0.0) == FEM_ERROR_LIMIT);
	fem_graded_free(&lattice);
}

// ---- things with limbs

typedef struct Figure {
	FemVec3 vertices[64];
	int32_t triangles[300];
	int32_t vertex_count, index_count;
} Figure;

static void add_box(Figure *figure, FemVec3 low, FemVec3 high) {
	static const int32_t quads[6][4] = {
		{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
	int32_t first = figure->vertex_count;
	for (int c = 0; c < 8; c++)
		figure->vertices[figure->vertex_count++] =
			(FemVec3){c & 1 ? high.x : low.x, c & 2 ? high.y : low.y, c & 4 ? high.z : low.z};
	for (int q = 0; q < 6; q++)
		for (int t = 0; t < 2; t++)
			for (int v = 0; v < 3; v++)
				figure->triangles[figure->index_count++] = first + quads[q][v == 0 ? 0 : t + v];
}

// A trunk with two arms, two legs and a tail, each a fortieth of its height thick.
static Figure make_figure(void) {
	Figure figure = {0};
	add_box(&figure, (FemVec3){-0.2f, 0.5f, -0.1f}, (FemVec3){0.2f, 1.0f, 0.1f});
	add_box(&figure, (FemVec3){-0.6f, 0.9f, -0.0125f}, (FemVec3){0.6f, 0.925f, 0.0125f});
	add_box(&figure, (FemVec3){-0.15f, 0.0f, 0.0f}, (FemVec3){-0.125f, 0.6f, 0.025f});
	add_box(&figure, (FemVec3){0.125f, 0.0f, 0.0f}, (FemVec3){0.15f, 0.6f, 0.025f});
	add_box(&figure, (FemVec3){0.0f, 0.55f, 0.05f}, (FemVec3){0.02f, 0.575f, 0.5f});
	return figure;
}

static void check_figure(int32_t elements, double volume_error) {
	Figure figure = make_figure();
	FemSoup soup = {.vertex_count = figure.vertex_count,
		.vertices = figure.vertices,
		.triangle_count = figure.index_count / 3,
		.triangles = figure.triangles};
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	def.element_count = elements;
	if (!FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK))
		return;
	FemEmbedMesh target = {mesh.node_count, mesh.tet_count, mesh.nodes, mesh.tets, NULL};
	FemEmbedding embedding;
	FEM_CHECK(fem_embed(&target, soup.vertices, NULL, soup.vertex_count, &embedding) == FEM_OK);
	// By hand: the trunk, and of each limb what lies outside it.
	double limb = 0.025 * 0.025, wanted = 0.4 * 0.5 * 0.2 + limb * (0.8 + 0.5 + 0.5) + 0.02 * 0.025 * 0.4;
	printf("  %d tets of %d, farthest vertex %.2f %%, volume %.3f, %.1f degrees\n", mesh.tet_count, elements,
		100.0 * (double)embedding.max_outside / 1.2, (double)mesh.volume / wanted, (double)mesh.min_dihedral);
	FEM_CHECK((double)embedding.max_outside <= 0.01 * 1.2);
	FEM_CHECK(fabs((double)mesh.volume / wanted - 1.0) < volume_error);
	FEM_CHECK(mesh.member_count == 1 && mesh.members[0].whole && (double)mesh.min_dihedral > 2.0);
	FEM_CHECK(mesh.tet_count < 8 * elements || mesh.tet_count < 12000);
	fem_embedding_free(&embedding);
	fem_tet_mesh_free(&mesh);
}

// A box of a lattice that is too large by a tenth: its outside goes in until it is not, and no farther than allowed.
FEM_TEST(graded, a_surplus_of_volume_is_trimmed) {
	FemGradedLattice lattice = {0};
	const double half[3] = {0.5, 0.3, 0.2};
	FEM_REQUIRE(fem_graded_create(&lattice, half, 0.15, 0.3) == FEM_OK);
	FemTetList list = leaves_of(&lattice);
	double before = fem_tet_list_volume_sum(&list);
	FEM_CHECK_INT(fem_surface_trim(0.9 * before, 0.1, 5.0, &list), FEM_OK);
	double after = fem_tet_list_volume_sum(&list);
	printf("  %.4f of the volume is left, smallest angle %.1f degrees\n", after / before,
		fem_tet_list_min_dihedral(&list));
	FEM_CHECK_NEAR(after / before, 0.9, 0.01);
	FEM_CHECK(fem_tet_list_min_dihedral(&list) >= 5.0);
	FEM_CHECK_INT(fem_surface_trim(0.5 * before, 0.001, 5.0, &list), FEM_OK); // hardly anything is allowed
	FEM_CHECK(fem_tet_list_volume_sum(&list) > 0.97 * after);
	double kept = fem_tet_list_volume_sum(&list);
	FEM_CHECK_INT(fem_surface_trim(2.0 * before, 0.1, 5.0, &list), FEM_OK); // too small already
	FEM_CHECK_NEAR(fem_tet_list_volume_sum(&list), kept, 0.0);
	fem_tet_list_free(&list);
	fem_graded_free(&lattice);
}

// ---- tets taken off

static bool make_torus(FemSolid *out) {
	FemSurfaceMesh surface = fem_surface_torus(0.4, 0.05, 32, 12);
	FemSoup soup = fem_surface_soup(&surface);
	*out = (FemSolid){.half_extents = {0.5, 0.1, 0.5}};
	bool made = FEM_CHECK(fem_soup_clean(&soup, 0.0f, &out->triangles, NULL) == FEM_OK) &&
		FEM_CHECK(fem_triangle_bvh_create(&out->bvh, &out->triangles) == FEM_OK) &&
		FEM_CHECK(fem_winding_create(&out->winding, &out->bvh) == FEM_OK);
	fem_surface_mesh_free(&surface);
	return made;
}

static int by_edge(const void *a, const void *b) {
	return memcmp(a, b, 2 * sizeof(int32_t));
}

// Edges of the outside that not just two outer faces share: there it meets itself.
static int32_t count_pinches(const FemTetList *list) {
	FemSurface surface;
	int32_t *nodes = malloc(sizeof *nodes * (size_t)list->node_count), pinches = 0;
	for (int32_t n = 0; n < list->node_count; n++)
		nodes[n] = n;
	FEM_CHECK(fem_surface_create(&surface, nodes, list->node_count, &list->tets[0][0], list->tet_count));
	int32_t(*edges)[2] = malloc(sizeof *edges * 3 * (size_t)surface.count), count = 3 * surface.count;
	for (int32_t e = 0; e < count; e++) {
		int32_t face = surface.faces[e / 3], ends[2];
		for (int k = 0; k < 2; k++)
			ends[k] = list->tets[face / 4][fem_face_corners[face % 4][(e + k) % 3]];
		edges[e][0] = ends[0] < ends[1] ? ends[0] : ends[1];
		edges[e][1] = ends[0] < ends[1] ? ends[1] : ends[0];
	}
	qsort(edges, (size_t)count, sizeof *edges, by_edge);
	for (int32_t e = 0, next; e < count; e = next) {
		for (next = e + 1; next < count && by_edge(edges[e], edges[next]) == 0;)
			next++;
		pinches += next != e + 2;
	}
	fem_surface_free(&surface);
	free(edges);
	free(nodes);
	return pinches;
}

// A ring thinner than a cell takes a few hundred whole tets: with half as many allowed nothing comes of it.
FEM_TEST(graded, filling_stops_where_there_will_be_too_many_tets) {
	FemGradedLattice lattice = {0};
	FemThickness thickness = {0};
	FemTetList list = {0};
	FemSolid solid;
	FEM_REQUIRE(make_torus(&solid));
	FEM_REQUIRE(fem_thickness_create(&thickness, &solid, 1.0));
	int32_t counts[2] = {0, 0};
	for (int k = 0; k < 2; k++) {
		FEM_REQUIRE(fem_graded_create(&lattice, solid.half_extents, 0.2, 0.3) == FEM_OK);
		FemGradedFilling filling = {&solid, &thickness, 1.0, k == 0 ? 100000 : counts[0] / 2, false, false};
		fem_tet_list_clear(&list);
		FEM_CHECK_INT(fem_graded_fill(&lattice, &filling, &list), FEM_OK);
		counts[k] = list.tet_count;
		FEM_CHECK(filling.thickened && filling.is_too_much == (k == 1));
		fem_graded_free(&lattice);
	}
	printf("  %d tets, %d of at most %d\n", counts[0], counts[1], counts[0] / 2);
	FEM_CHECK(counts[0] > 100 && counts[1] == 0);
	fem_thickness_free(&thickness);
	fem_tet_list_free(&list);
	fem_solid_free(&solid);
}

// A ring in a block of tets: all that is round it goes but a skin across its hole, which would open a way through.
FEM_TEST(graded, what_lies_outside_is_carved_off) {
	FemGradedLattice lattice = {0};
	FemSolid solid;
	FEM_REQUIRE(make_torus(&solid));
	FEM_REQUIRE(fem_graded_create(&lattice, solid.half_extents, 0.06, 0.3) == FEM_OK);
	FemTetList list = leaves_of(&lattice);
	double before = fem_tet_list_volume_sum(&list), ring = fem_solid_volume(&solid);
	FemCarving carving = {8.0 * ring, 0.005, 3000};
	FEM_CHECK_INT(fem_surface_carve(&solid, &carving, &list), FEM_OK);
	FEM_CHECK_NEAR(fem_tet_list_volume_sum(&list) / ring, 8.0, 0.01); // no more than asked for
	carving.volume = ring;
	FEM_CHECK_INT(fem_surface_carve(&solid, &carving, &list), FEM_OK);
	int32_t *bodies = malloc(sizeof *bodies * (size_t)list.tet_count);
	double gap = fem_coverage_of_vertices(&solid.triangles, &list, 100000), after = fem_tet_list_volume_sum(&list);
	printf("  %.4f of the block's volume, %.4f when carved, %.4f of the ring; %d tets, vertices off by %.4f\n", before,
		after, ring, list.tet_count, gap);
	FEM_CHECK(before > 15.0 * ring && after < 3.2 * ring && after >= ring);
	FEM_CHECK(gap >= 0.0 && gap <= 0.005);
	FEM_CHECK_INT(fem_tet_list_bodies(&list, bodies), 1);
	FEM_CHECK_INT(count_pinches(&list), 0);
	free(bodies);
	fem_tet_list_free(&list);
	fem_graded_free(&lattice);
	fem_solid_free(&solid);
}

// Fails without the graded lattice: limbs of a fortieth of the size fall through cells of a sixth.
FEM_TEST(graded, limbs_are_covered_and_have_their_volume) {
	check_figure(300, 0.25);
	check_figure(1000, 0.1);
}

FEM_TEST(graded, limbs_are_the_same_again) {
	Figure figure = make_figure();
	FemSoup soup = {.vertex_count = figure.vertex_count,
		.vertices = figure.vertices,
		.triangle_count = figure.index_count / 3,
		.triangles = figure.triangles};
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh a, b;
	def.element_count = 300;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &a) == FEM_OK && fem_tetrahedralize(&soup, &def, &b) == FEM_OK);
	FEM_CHECK(a.node_count == b.node_count && a.tet_count == b.tet_count);
	FEM_CHECK(memcmp(a.nodes, b.nodes, sizeof *a.nodes * (size_t)a.node_count) == 0);
	fem_tet_mesh_free(&a);
	fem_tet_mesh_free(&b);
}
