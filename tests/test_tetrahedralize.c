// From triangle soup to tets: every test shape, what is promised of each, and bad input.
#include "fem_test.h"

#include "baking/mesh_diagnosis.h"
#include "base/memory.h"
#include "fem_baking.h"
#include "filling/soup_topology.h"
#include "filling/tetrahedralize.h"
#include "geometry/embedding.h"
#include "geometry/triangle_bvh.h"
#include "scenes/rig.h"
#include "scenes/surface_meshes.h"
#include "topology/surface.h"
#include "topology/tet_mesh.h"

#include <stdlib.h>

static const char *const kind_names[] = {"compact", "plate", "beam", "thin wall", "sheet", "wall"};
static const FemQuat rotation = {0.3f, 0.4f, 0.1f, 0.86f};

// ---- shapes

static FemSurfaceMesh make_cube(void) {
	return fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 4);
}
static FemSurfaceMesh make_sphere(void) {
	return fem_surface_sphere(0.5, 24);
}
static FemSurfaceMesh make_torus(void) {
	return fem_surface_torus(0.5, 0.2, 60, 30);
}
static FemSurfaceMesh make_large_torus(void) {
	return fem_surface_torus(0.5, 0.2, 300, 120);
}
static FemSurfaceMesh make_bowl(void) {
	return fem_surface_bowl(0.15, 0.02, 16);
}
static FemSurfaceMesh make_shell(void) {
	return fem_surface_shell(0.5, 0.05, 16);
}
static FemSurfaceMesh make_pane(void) {
	return fem_surface_box((FemVec3){2.0f, 1.0f, 0.01f}, 2);
}
static FemSurfaceMesh make_disc(void) {
	return fem_surface_cylinder(0.5, 0.02, 48);
}
static FemSurfaceMesh make_beam(void) {
	return fem_surface_box((FemVec3){2.0f, 0.1f, 0.1f}, 2);
}
static FemSurfaceMesh make_rod(void) {
	return fem_surface_cylinder(0.05, 3.0, 24);
}
static FemSurfaceMesh make_cavity(void) {
	return fem_surface_nested_boxes(1.0, 0.5, true);
}
static FemSurfaceMesh make_nested(void) {
	return fem_surface_nested_boxes(1.0, 0.5, false);
}
static FemSurfaceMesh make_bracket(void) {
	return fem_surface_bracket(0.5, 0.05);
}

static FemSurfaceMesh make_rotated_pane(void) {
	FemSurfaceMesh mesh = fem_surface_box((FemVec3){2.0f, 1.0f, 0.01f}, 6);
	fem_surface_transform(&mesh, rotation, 1.0, (FemVec3d){3.0, 2.0, 1.0});
	return mesh;
}

static FemSurfaceMesh make_holey_torus(void) {
	FemSurfaceMesh mesh = make_torus();
	fem_surface_remove(&mesh, 7);
	fem_surface_flip(&mesh, 5);
	return mesh;
}

static FemSurfaceMesh make_inside_out(void) {
	FemSurfaceMesh mesh = make_torus();
	fem_surface_flip(&mesh, 1);
	return mesh;
}

// Shards that share no vertex and do not quite meet.
static FemSurfaceMesh make_open_components(void) {
	FemSurfaceMesh mesh = make_sphere();
	uint32_t seed = 7;
	fem_surface_unweld(&mesh);
	for (int32_t i = 0; i < mesh.vertex_count; i++)
		mesh.vertices[i] = fem_vec3_add(mesh.vertices[i],
			(FemVec3){0.004f * fem_random(&seed), 0.004f * fem_random(&seed), 0.004f * fem_random(&seed)});
	return mesh;
}

static FemSurfaceMesh make_tiny(void) {
	FemSurfaceMesh mesh = make_torus();
	fem_surface_transform(&mesh, rotation, 1e-6, (FemVec3d){0});
	return mesh;
}

static FemSurfaceMesh make_huge(void) {
	FemSurfaceMesh mesh = make_torus();
	fem_surface_transform(&mesh, rotation, 1e6, (FemVec3d){0});
	return mesh;
}

static FemSurfaceMesh make_moebius(void) {
	FemSurfaceMesh mesh = fem_surface_moebius(0.5, 0.3, 60);
	mesh.volume = 2.0 * 3.14159265 * 0.5 * 0.3 * 0.03;
	return mesh;
}

// Loose triangles, every seventh turned round and every eleventh gone, with two boxes that run into each other.
static FemSurfaceMesh make_soup(void) {
	FemSurfaceMesh mesh = fem_surface_box((FemVec3){1.0f, 0.8f, 0.8f}, 6);
	FemSurfaceMesh other = fem_surface_box((FemVec3){0.5f, 0.5f, 1.2f}, 6);
	fem_surface_append(&mesh, &other);
	fem_surface_mesh_free(&other);
	mesh.volume = 0.64 + 0.5 * 0.5 * 0.4;
	fem_surface_unweld(&mesh);
	fem_surface_flip(&mesh, 7);
	fem_surface_remove(&mesh, 11);
	return mesh;
}

static FemSurfaceMesh make_bricks(void) {
	FemSurfaceMesh mesh = {0};
	for (int i = 0; i < 12; i++) {
		FemSurfaceMesh brick = fem_surface_box((FemVec3){0.2f, 0.1f, 0.1f}, 1);
		fem_surface_transform(
			&brick, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){0.21 * (i % 4), 0.11 * (i / 4), 0.0});
		fem_surface_append(&mesh, &brick);
		fem_surface_mesh_free(&brick);
	}
	return mesh;
}

typedef struct Shape {
	const char *name;
	FemSurfaceMesh (*make)(void);
	int32_t target, members;
	FemMemberKind kind;
	double min_dihedral; // degrees
	double volume_error; // share
	double surface_gap;  // cells: tets' surface to soup, and back
	float sheet;         // m, thickness given to what encloses nothing
} Shape;

static const Shape shapes[] = {
	{"cube", make_cube, 500, 1, FEM_MEMBER_COMPACT, 8.0, 0.01, 0.01, 0.0f},
	{"cube of few", make_cube, 60, 1, FEM_MEMBER_COMPACT, 8.0, 0.01, 0.01, 0.0f},
	{"sphere", make_sphere, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.03, 0.25, 0.0f},
	{"sphere of few", make_sphere, 100, 1, FEM_MEMBER_COMPACT, 8.0, 0.1, 0.35, 0.0f}, // covers its vertices
	{"torus", make_torus, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.03, 0.25, 0.0f},
	{"torus of 72,000", make_large_torus, 3000, 1, FEM_MEMBER_COMPACT, 8.0, 0.02, 0.25, 0.0f},
	{"torus with holes", make_holey_torus, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.03, 0.25, 0.0f},
	{"torus inside out", make_inside_out, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.03, 0.25, 0.0f},
	{"shards of a sphere", make_open_components, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.05, 0.3, 0.0f},
	{"tiny torus", make_tiny, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.03, 0.25, 0.0f},
	{"huge torus", make_huge, 1000, 1, FEM_MEMBER_COMPACT, 8.0, 0.03, 0.25, 0.0f},
	{"box in a box", make_cavity, 2000, 1, FEM_MEMBER_COMPACT, 8.0, 0.02, 0.35, 0.0f},
	{"box within a box", make_nested, 2000, 1, FEM_MEMBER_COMPACT, 8.0, 0.05, 3.0, 0.0f}, // the inner surface is inside
	{"12 bricks", make_bricks, 1500, 12, FEM_MEMBER_COMPACT, 8.0, 0.02, 0.2, 0.0f},
	{"bowl", make_bowl, 3000, 1, FEM_MEMBER_WALL, 8.0, 0.05, 0.45, 0.0f},
	{"thin shell", make_shell, 6000, 1, FEM_MEMBER_WALL, 8.0, 0.05, 0.45, 0.0f},
	{"bracket", make_bracket, 4000, 1, FEM_MEMBER_WALL, 8.0, 0.05, 0.45, 0.0f},
	{"pane", make_pane, 300, 1, FEM_MEMBER_PLATE, 2.8, 0.001, 0.01, 0.0f},
	{"turned pane", make_rotated_pane, 500, 1, FEM_MEMBER_PLATE, 3.0, 0.001, 0.01, 0.0f},
	{"disc", make_disc, 500, 1, FEM_MEMBER_PLATE, 3.0, 0.03, 0.1, 0.0f},
	{"beam", make_beam, 100, 1, FEM_MEMBER_BEAM, 8.0, 0.001, 0.01, 0.0f},
	{"rod", make_rod, 400, 1, FEM_MEMBER_BEAM, 8.0, 0.05, 0.45, 0.0f},
	{"moebius", make_moebius, 2000, 1, FEM_MEMBER_SHEET, 3.9, 0.25, 0.5, 0.03f},
	{"soup of two boxes", make_soup, 1000, 1, FEM_MEMBER_WALL, 40.0, 0.01, 0.35, 0.0f},
};

// ---- measures

static int32_t smallest_of(int32_t a, int32_t b) {
	return a < b ? a : b;
}

// The number of bodies of tets that hang together by faces.
static int32_t count_bodies(const FemTetMesh *mesh) {
	int32_t *parents = malloc(sizeof(int32_t) * (size_t)mesh->tet_count);
	int32_t *head = malloc(sizeof(int32_t) * (size_t)mesh->node_count);
	int32_t *next = malloc(sizeof(int32_t) * 4 * (size_t)mesh->tet_count);
	int32_t bodies = mesh->tet_count;
	for (int32_t n = 0; n < mesh->node_count; n++)
		head[n] = -1;
	for (int32_t t = 0; t < mesh->tet_count; t++)
		parents[t] = t;
	// Faces in lists of their lowest node; equal ones join their tets.
	for (int32_t f = 0; f < 4 * mesh->tet_count; f++) {
		int32_t key[3], lowest;
		for (int v = 0; v < 3; v++)
			key[v] = mesh->tets[4 * (f / 4) + fem_face_corners[f % 4][v]];
		lowest = smallest_of(key[0], smallest_of(key[1], key[2]));
		for (int32_t g = head[lowest]; g >= 0; g = next[g]) {
			int same = 0;
			for (int v = 0; v < 9; v++)
				same += key[v / 3] == mesh->tets[4 * (g / 4) + fem_face_corners[g % 4][v % 3]];
			if (same < 3 || fem_union_find(parents, f / 4) == fem_union_find(parents, g / 4))
				continue;
			fem_union_join(parents, f / 4, g / 4);
			bodies--;
		}
		next[f] = head[lowest];
		head[lowest] = f;
	}
	free(parents);
	free(head);
	free(next);
	return bodies;
}

// The farthest that the corners and centres of outer faces lie from the soup, m.
static double surface_to_soup(const FemTetMesh *mesh, const FemSoup *soup) {
	FemTriangles triangles;
	FemTriangleBvh bvh;
	FemSurface surface;
	int32_t *identity = malloc(sizeof(int32_t) * (size_t)mesh->node_count);
	double farthest = 0.0;
	for (int32_t n = 0; n < mesh->node_count; n++)
		identity[n] = n;
	fem_soup_clean(soup, 0.0f, &triangles, NULL);
	fem_triangle_bvh_create(&bvh, &triangles);
	FEM_CHECK(fem_surface_create(&surface, identity, mesh->node_count, mesh->tets, mesh->tet_count));
	for (int32_t f = 0; f < surface.count; f++) {
		FemVec3d center = {0}, nearest;
		int32_t triangle;
		for (int v = 0; v < 3; v++) {
			int32_t node = mesh->tets[4 * (surface.faces[f] / 4) + fem_face_corners[surface.faces[f] % 4][v]];
			FemVec3d p = fem_frame_to_unit(&triangles.frame, fem_vec3d_from(mesh->nodes[node]));
			farthest = fmax(farthest, fem_bvh_nearest(&bvh, p, 4.0, &triangle, &nearest));
			center = fem_vec3d_add(center, fem_vec3d_scale(p, 1.0 / 3.0));
		}
		farthest = fmax(farthest, fem_bvh_nearest(&bvh, center, 4.0, &triangle, &nearest));
	}
	farthest *= triangles.frame.size;
	fem_surface_free(&surface);
	fem_triangle_bvh_free(&bvh);
	fem_triangles_free(&triangles);
	free(identity);
	return farthest;
}

static double triangle_area(FemVec3 a, FemVec3 b, FemVec3 c) {
	return 0.5 * (double)fem_vec3_length(fem_vec3_cross(fem_vec3_sub(b, a), fem_vec3_sub(c, a)));
}

// Area of the tets' outer faces over the soup's. Cells whose faces do not match their neighbours' have outer faces
// inside.
static double area_ratio(const FemTetMesh *mesh, const FemSoup *soup) {
	FemViewDef def = fem_default_view_def();
	FemViewMesh view;
	double outer = 0.0, all = 0.0;
	def.surface_only = true;
	fem_tet_mesh_view(mesh->node_count, mesh->nodes, mesh->tet_count, mesh->tets, &def, &view);
	for (int32_t t = 0; t < view.triangle_count; t++)
		outer += triangle_area(view.vertices[3 * t], view.vertices[3 * t + 1], view.vertices[3 * t + 2]);
	for (int32_t t = 0; t < soup->triangle_count; t++)
		all += triangle_area(soup->vertices[soup->triangles[3 * t]], soup->vertices[soup->triangles[3 * t + 1]],
			soup->vertices[soup->triangles[3 * t + 2]]);
	fem_view_mesh_free(&view);
	return outer / all;
}

// The farthest that a vertex of the soup lies from the tets, m; and how far its embedding puts it from its place, m.
static double soup_to_tets(const FemTetMesh *mesh, const FemSoup *soup, double *out_error) {
	FemEmbedMesh target = {mesh->node_count, mesh->tet_count, mesh->nodes, mesh->tets, NULL};
	FemEmbedding embedding;
	if (fem_embed(&target, soup->vertices, NULL, soup->vertex_count, &embedding) != FEM_OK)
		return *out_error = 1e30;
	double far = (double)embedding.max_outside;
	*out_error = (double)embedding.max_error;
	fem_embedding_free(&embedding);
	return far;
}

static bool engine_takes(const FemTetMesh *mesh) {
	FemMeshDef def = fem_default_mesh_def();
	def.node_count = mesh->node_count;
	def.node_positions = mesh->nodes;
	def.tet_count = mesh->tet_count;
	def.tets = mesh->tets;
	def.tet_plates = mesh->tet_plates;
	return fem_tet_mesh_check(&def) == FEM_OK;
}

static int32_t count_flipped(const FemTetMesh *mesh) {
	int32_t flipped_count = 0;
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		FemTetShape shape;
		bool sound = fem_tet_shape(mesh->nodes, mesh->tets + 4 * (size_t)t, (FemVec3){1.0f, 1.0f, 1.0f}, &shape);
		flipped_count += !sound || shape.volume <= 0.0;
	}
	return flipped_count;
}

static double size_of(const FemSoup *soup) {
	double low[3] = {1e30, 1e30, 1e30}, high[3] = {-1e30, -1e30, -1e30}, size = 0.0;
	for (int32_t i = 0; i < 3 * soup->vertex_count; i++) {
		double at = (double)(&soup->vertices[i / 3].x)[i % 3];
		low[i % 3] = fmin(low[i % 3], at);
		high[i % 3] = fmax(high[i % 3], at);
	}
	for (int axis = 0; axis < 3; axis++)
		size = fmax(size, high[axis] - low[axis]);
	return size;
}

static void check_shape(const Shape *shape) {
	FemSurfaceMesh surface = shape->make();
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	def.element_count = shape->target;
	def.sheet_thickness = shape->sheet;
	double begin = fem_test_cpu_ms();
	FemResult result = fem_tetrahedralize(&soup, &def, &mesh);
	bool made = fem_test_check(result == FEM_OK, __FILE__, __LINE__, "%s: %s", shape->name, fem_last_error());
	double ms = fem_test_cpu_ms() - begin;
	if (made) {
		double cell = (double)mesh.members[0].cell;
		double error, gap = surface_to_soup(&mesh, &soup) / cell, back = soup_to_tets(&mesh, &soup, &error) / cell;
		error /= size_of(&soup);
		double volume = (double)mesh.volume / surface.volume;
		double area = area_ratio(&mesh, &soup);
		int32_t bodies = count_bodies(&mesh), upside_down = count_flipped(&mesh);
		printf("  %-19s %6d triangles %5d of %5d tets  %5.1f..%5.1f deg  volume %.3f  gaps %.2f %.2f cells  rest %.0e  "
			   "%-9s %5.0f ms\n",
			shape->name, soup.triangle_count, mesh.tet_count, shape->target, (double)mesh.min_dihedral,
			(double)mesh.max_dihedral, volume, gap, back, error, kind_names[mesh.members[0].kind], ms);
#define HOLDS(condition) fem_test_check((condition), __FILE__, __LINE__, "%s: %s", shape->name, #condition)
		HOLDS(abs(mesh.tet_count - shape->target) * 5 <= shape->target);
		HOLDS((double)mesh.min_dihedral >= shape->min_dihedral);
		HOLDS(fabs(volume - 1.0) <= shape->volume_error);
		HOLDS(gap <= shape->surface_gap && back <= shape->surface_gap);
		HOLDS(area < (shape->sheet > 0.0f ? 2.5 : 1.25)); // the torus with holes lacks a seventh of its area
		HOLDS(error <= 1e-5);
		HOLDS(upside_down == 0);
		HOLDS(bodies == shape->members && mesh.member_count == shape->members);
		HOLDS(mesh.members[0].kind == shape->kind);
		HOLDS(engine_takes(&mesh));
#undef HOLDS
	}
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(tetrahedralize, shapes_keep_what_is_promised) {
	int64_t before = fem_memory_bytes();
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		check_shape(&shapes[i]);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// ---- behaviour

static FemResult bake(const FemSurfaceMesh *surface, int32_t target, float sheet, FemTetMesh *out) {
	FemSoup soup = fem_surface_soup(surface);
	FemBakeDef def = fem_default_bake_def();
	def.element_count = target;
	def.sheet_thickness = sheet;
	return fem_tetrahedralize(&soup, &def, out);
}

FEM_TEST(tetrahedralize, same_soup_gives_the_same_tets) {
	FemSurfaceMesh surface = make_holey_torus();
	FemTetMesh first, second;
	FEM_REQUIRE(bake(&surface, 800, 0.0f, &first) == FEM_OK && bake(&surface, 800, 0.0f, &second) == FEM_OK);
	FEM_REQUIRE(first.node_count == second.node_count && first.tet_count == second.tet_count);
	FEM_CHECK(memcmp(first.nodes, second.nodes, sizeof(FemVec3) * (size_t)first.node_count) == 0);
	FEM_CHECK(memcmp(first.tets, second.tets, sizeof(int32_t) * 4 * (size_t)first.tet_count) == 0);
	fem_tet_mesh_free(&first);
	fem_tet_mesh_free(&second);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(tetrahedralize, count_follows_over_three_decades) {
	FemSurfaceMesh surface = make_sphere();
	for (int32_t target = 60; target <= 60000; target *= 10) {
		FemTetMesh mesh;
		FEM_REQUIRE(bake(&surface, target, 0.0f, &mesh) == FEM_OK);
		FEM_CHECK_NEAR((double)mesh.tet_count / target, 1.0, 0.2);
		FEM_CHECK(mesh.min_dihedral >= 8.0f);
		fem_tet_mesh_free(&mesh);
	}
	fem_surface_mesh_free(&surface);
}

// ---- few elements

static FemSurfaceMesh make_short_cylinder(void) {
	return fem_surface_cylinder(1.0, 1.0, 32);
}
static FemSurfaceMesh make_long_cylinder(void) {
	return fem_surface_cylinder(0.5, 2.0, 32);
}

static FemSurfaceMesh make_cone(void) {
	FemSurfaceMesh mesh = fem_surface_cylinder(0.5, 1.0, 32);
	for (int32_t i = 0; i < mesh.vertex_count; i++)
		if (mesh.vertices[i].x > 0.0f)
			mesh.vertices[i].y = mesh.vertices[i].z = 0.0f;
	mesh.volume /= 3.0;
	return mesh;
}

// A ball with a spike that is thin against the cells of so few tets.
static FemSurfaceMesh make_spike(void) {
	FemSurfaceMesh mesh = fem_surface_sphere(0.5, 16), spike = fem_surface_cylinder(0.04, 1.0, 12);
	fem_surface_transform(&spike, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){0.6, 0.0, 0.0});
	mesh.volume += 0.6 * spike.volume; // what sticks out, from x = 0.5 to 1.1
	fem_surface_append(&mesh, &spike);
	fem_surface_mesh_free(&spike);
	return mesh;
}

// Fails when a small wish breaks what is promised of larger ones, or takes far more tets than they do.
FEM_TEST(tetrahedralize, few_elements_are_no_worse_than_many) {
	static const struct Few {
		const char *name;
		FemSurfaceMesh (*make)(void);
		int32_t most; // tets, of any wish up to 450; measured with a quarter to spare
	} cases[] = {{"long cylinder", make_long_cylinder, 720}, {"short cylinder", make_short_cylinder, 1350},
		{"cone", make_cone, 700}, {"torus", make_torus, 700}, {"spike", make_spike, 550}};
	static const int32_t wishes[] = {100, 200, 450};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FemSurfaceMesh surface = cases[i].make();
		FemSoup soup = fem_surface_soup(&surface);
		for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++) {
			FemTetMesh mesh;
			double error;
			FEM_REQUIRE(bake(&surface, wishes[w], 0.0f, &mesh) == FEM_OK);
			double gap = soup_to_tets(&mesh, &soup, &error) / size_of(&soup);
			double volume = (double)mesh.volume / surface.volume;
			printf("  %-15s %4d asked for, %5d tets, coverage %.4f, volume %.3f, %4.1f deg\n", cases[i].name, wishes[w],
				mesh.tet_count, gap, volume, (double)mesh.min_dihedral);
			FEM_CHECK_NEAR(volume, 1.0, 0.1);
			FEM_CHECK(gap <= 0.01);
			FEM_CHECK(mesh.tet_count >= wishes[w] / 2 && mesh.tet_count <= cases[i].most);
			FEM_CHECK(mesh.min_dihedral >= 4.9f);
			fem_tet_mesh_free(&mesh);
		}
		fem_surface_mesh_free(&surface);
	}
}

// Fails when nodes that cover the rim of a column reach beyond its ends: one of 4 m then stands on tips 20 cm below it.
FEM_TEST(tetrahedralize, a_column_ends_where_its_mesh_does) {
	static const int32_t wishes[] = {300, 600, 1000, 2000};
	FemSurfaceMesh surface = fem_surface_cylinder(1.0, 4.0, 64);
	for (int w = 0; w < 4; w++) {
		FemTetMesh mesh;
		double reach = 0.0;
		FEM_REQUIRE(bake(&surface, wishes[w], 0.0f, &mesh) == FEM_OK);
		for (int32_t n = 0; n < mesh.node_count; n++)
			reach = fmax(reach, fabs((double)mesh.nodes[n].x));
		printf("  %d tets reach %.4f m, volume %.3f\n", (int)mesh.tet_count, reach, mesh.volume / surface.volume);
		FEM_CHECK_NEAR(reach, 2.0, 1e-3);
		FEM_CHECK_NEAR(mesh.volume / surface.volume, 1.0, 0.04);
		fem_tet_mesh_free(&mesh);
	}
	fem_surface_mesh_free(&surface);
}

FEM_TEST(tetrahedralize, pane_is_one_layer_with_plate_correction) {
	FemSurfaceMesh surface = make_pane();
	FemTetMesh mesh;
	FEM_REQUIRE(bake(&surface, 400, 0.0f, &mesh) == FEM_OK);
	FEM_CHECK(mesh.has_plates && mesh.warning[0] == 0);
	FEM_CHECK(mesh.members[0].stiffness_excess < 3.0f);
	for (int32_t n = 0; n < mesh.node_count; n++)
		FEM_CHECK_NEAR(fabs((double)mesh.nodes[n].z), 0.005, 1e-6);
	for (int32_t t = 0; t < mesh.tet_count; t++)
		FEM_CHECK(mesh.tet_plates[t] == 1.0f);
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&surface);
}

// Where nobody says how thick they are it is a hundredth of their size, and told.
FEM_TEST(tetrahedralize, sheets_get_a_thickness) {
	FemSurfaceMesh surfaces[3] = {
		fem_surface_moebius(0.5, 0.3, 60), fem_surface_random_soup(1, 3), fem_surface_random_soup(300, 3)};
	for (int i = 0; i < 3; i++) {
		FemTetMesh mesh;
		FEM_CHECK_INT(bake(&surfaces[i], 1000, 0.0f, &mesh), FEM_OK);
		FEM_CHECK(mesh.tet_count > 0 && mesh.members[0].has_given_thickness && mesh.members[0].thickness > 0.0f);
		// That a soup of loose triangles is not in one piece comes first.
		FEM_CHECK(strstr(mesh.warning, i < 2 ? "sheet_thickness" : "in one piece") != NULL);
		fem_tet_mesh_free(&mesh);
	}
	FemTetMesh mesh;
	FEM_REQUIRE(bake(&surfaces[0], 1000, 0.02f, &mesh) == FEM_OK);
	FEM_CHECK_INT(count_bodies(&mesh), 1);
	FEM_CHECK_INT(count_flipped(&mesh), 0);
	FEM_CHECK(mesh.members[0].kind == FEM_MEMBER_SHEET && mesh.warning[0] != 0);
	fem_tet_mesh_free(&mesh);
	FEM_REQUIRE(bake(&surfaces[1], 50, 0.002f, &mesh) == FEM_OK); // one triangle
	FEM_CHECK_INT(count_bodies(&mesh), 1);
	fem_tet_mesh_free(&mesh);
	for (int i = 0; i < 3; i++)
		fem_surface_mesh_free(&surfaces[i]);
}

// ---- bad input

static void refuse(const FemSoup *soup, const FemBakeDef *def, FemResult expected, const char *word) {
	FemTetMesh mesh;
	FEM_CHECK_INT(fem_tetrahedralize(soup, def, &mesh), expected);
	fem_test_check(
		strstr(fem_last_error(), word) != NULL, __FILE__, __LINE__, "\"%s\" lacks \"%s\"", fem_last_error(), word);
	FEM_CHECK(mesh.tet_count == 0 && mesh.nodes == NULL);
}

FEM_TEST(tetrahedralize, bad_input_is_refused_with_a_sentence) {
	int64_t before = fem_memory_bytes();
	FemVec3 corners[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
	FemVec3 line[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {2.0f, 0.0f, 0.0f}, {3.0f, 0.0f, 0.0f}};
	FemVec3 point[4] = {{1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}};
	int32_t faces[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2}, wrong[3] = {0, 1, 9};
	FemBakeDef def = fem_default_bake_def(), bad = {0};
	FemSoup good = {4, corners, 4, faces};
	refuse(NULL, &def, FEM_ERROR_MESH, "empty");
	refuse(&(FemSoup){0, NULL, 0, NULL}, &def, FEM_ERROR_MESH, "empty");
	refuse(&(FemSoup){4, corners, 1, wrong}, &def, FEM_ERROR_MESH, "Triangle 0");
	refuse(&(FemSoup){4, line, 4, faces}, &def, FEM_ERROR_MESH, "area");
	refuse(&(FemSoup){4, point, 4, faces}, &def, FEM_ERROR_MESH, "one point");
	refuse(&good, &bad, FEM_ERROR_INVALID_ARGUMENT, "default");
	bad = def;
	bad.element_count = 0;
	refuse(&good, &bad, FEM_ERROR_INVALID_ARGUMENT, "element_count");
	bad = def;
	bad.weld_distance = NAN;
	refuse(&good, &bad, FEM_ERROR_INVALID_ARGUMENT, "weld_distance");
	corners[2].y = NAN;
	refuse(&good, &def, FEM_ERROR_INVALID_ARGUMENT, "Vertex 2");
	corners[2].y = 1e7f;
	refuse(&good, &def, FEM_ERROR_MESH, "Vertex 2");
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

static bool stop_at_half(void *context, float share) {
	*(float *)context = share;
	return share < 0.05f;
}

FEM_TEST(tetrahedralize, stops_when_asked_and_frees_all) {
	FemSurfaceMesh surface = make_torus();
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	int64_t before = fem_memory_bytes();
	float share = 0.0f;
	FemTetMesh mesh;
	def.progress = stop_at_half;
	def.progress_context = &share;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) != FEM_OK && mesh.cancelled);
	FEM_CHECK(share >= 0.05f && share < 1.0f);
	FEM_CHECK_INT(fem_memory_bytes(), before);
	fem_surface_mesh_free(&surface);
}

// ---- diagnosis

FEM_TEST(mesh_diagnosis, faults_are_counted_and_told) {
	FemSurfaceMesh surface = make_torus();
	FemSoup soup = fem_surface_soup(&surface);
	FemDiagnosis diagnosis;
	char text[4096];
	FEM_REQUIRE(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	fem_diagnosis_text(&diagnosis, text, sizeof text);
	FEM_CHECK(strstr(text, "No faults") != NULL);
	FEM_CHECK_NEAR(diagnosis.volume / surface.volume, 1.0, 0.03);
	fem_surface_flip(&surface, 50);
	surface.triangle_count -= 3;
	soup = fem_surface_soup(&surface);
	FEM_REQUIRE(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	FEM_CHECK_INT(diagnosis.flipped_triangles, 72);
	FEM_CHECK(diagnosis.open_edges >= 3 && diagnosis.open_edges <= 9);
	int32_t length = fem_diagnosis_text(&diagnosis, text, sizeof text);
	FEM_CHECK(strstr(text, "open edges") != NULL && strstr(text, "turned round") != NULL);
	FEM_CHECK_INT(fem_diagnosis_text(&diagnosis, NULL, 0), length);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(mesh_diagnosis, thin_and_ill_scaled_meshes_are_told) {
	FemSurfaceMesh surface = make_pane();
	fem_surface_transform(&surface, rotation, 1000.0, (FemVec3d){0});
	FemSoup soup = fem_surface_soup(&surface);
	FemDiagnosis diagnosis;
	char text[4096];
	FEM_REQUIRE(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	FEM_CHECK(diagnosis.scale_suspect && diagnosis.thin_share > 0.9);
	FEM_CHECK_NEAR(diagnosis.wall, 10.0, 0.1);
	fem_diagnosis_text(&diagnosis, text, sizeof text);
	FEM_CHECK(strstr(text, "scale it by 0.01 at import") != NULL && strstr(text, "thinner") != NULL);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(exploded_view, shows_tets_and_cuts) {
	FemSurfaceMesh surface = make_torus();
	FemTetMesh mesh;
	FemViewMesh whole, half;
	FemViewDef def = fem_default_view_def();
	int64_t before = fem_memory_bytes();
	FEM_REQUIRE(bake(&surface, 500, 0.0f, &mesh) == FEM_OK);
	FEM_REQUIRE(fem_tet_mesh_view(mesh.node_count, mesh.nodes, mesh.tet_count, mesh.tets, &def, &whole) == FEM_OK);
	FEM_CHECK_INT(whole.triangle_count, 4 * mesh.tet_count);
	def.cut = def.surface_only = true;
	FEM_REQUIRE(fem_tet_mesh_view(mesh.node_count, mesh.nodes, mesh.tet_count, mesh.tets, &def, &half) == FEM_OK);
	double volume = 0.0;
	for (int32_t t = 0; t < half.triangle_count; t++) {
		const FemVec3 *v = half.vertices + 3 * (size_t)t;
		volume += (double)fem_vec3_dot(v[0], fem_vec3_cross(v[1], v[2])) / 6.0;
	}
	FEM_CHECK_NEAR(volume / (double)mesh.volume, 0.5, 0.1);
	fem_view_mesh_free(&whole);
	fem_view_mesh_free(&half);
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&surface);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}
