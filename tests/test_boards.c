// Walls that meet in a T or a cross, profiles, legs: volume, coverage and bending against beam theory.
#include "fem_test.h"
#include "filling_rig.h"

#include "baking/bake.h"
#include "filling/tet_list.h"
#include "scenes/surface_meshes.h"
#include "theory_rig.h"

#include <stdlib.h>

#define YOUNG 1e10      // Pa
#define LOAD_STEP 0.25f // s, long against every period of these bodies: each step is an equilibrium
#define STEPS 60
#define END 0.9999f // m along x: nodes beyond it belong to the free end

// ---- shapes, m: lowest corner and size of each board

static const double shelf[][6] = {{0.0, 0.0, 0.0, 0.02, 0.3, 1.8}, {0.78, 0.0, 0.0, 0.02, 0.3, 1.8},
	{0.02, 0.0, 0.0, 0.76, 0.3, 0.02}, {0.02, 0.0, 0.44, 0.76, 0.3, 0.02}, {0.02, 0.0, 0.89, 0.76, 0.3, 0.02},
	{0.02, 0.0, 1.34, 0.76, 0.3, 0.02}, {0.02, 0.0, 1.78, 0.76, 0.3, 0.02}};
static const double crate[][6] = {{0.0, 0.0, 0.0, 0.6, 0.4, 0.015}, {0.0, 0.0, 0.015, 0.015, 0.4, 0.3},
	{0.585, 0.0, 0.015, 0.015, 0.4, 0.3}, {0.015, 0.0, 0.015, 0.57, 0.015, 0.3},
	{0.015, 0.385, 0.015, 0.57, 0.015, 0.3}, {0.2, 0.015, 0.015, 0.015, 0.37, 0.3}};
static const double egg_crate[][6] = {{0.0, 0.0, 0.0, 0.6, 0.005, 0.1}, {0.0, 0.395, 0.0, 0.6, 0.005, 0.1},
	{0.0, 0.0, 0.0, 0.005, 0.4, 0.1}, {0.595, 0.0, 0.0, 0.005, 0.4, 0.1}, {0.0, 0.13, 0.0, 0.6, 0.005, 0.1},
	{0.0, 0.26, 0.0, 0.6, 0.005, 0.1}, {0.2, 0.0, 0.0, 0.005, 0.4, 0.1}, {0.4, 0.0, 0.0, 0.005, 0.4, 0.1}};
static const double rooms[][6] = {{0.0, 0.0, 0.0, 3.0, 1.6, 0.03}, {0.0, 0.0, 0.97, 3.0, 1.6, 0.03},
	{0.0, 0.0, 0.0, 0.03, 1.6, 1.0}, {2.97, 0.0, 0.0, 0.03, 1.6, 1.0}, {0.0, 0.0, 0.0, 3.0, 0.03, 1.0},
	{0.0, 1.57, 0.0, 3.0, 0.03, 1.0}, {1.2, 0.0, 0.0, 0.03, 1.6, 1.0}};
static const double table[][6] = {{0.0, 0.0, 0.72, 1.4, 0.8, 0.03}, {0.03, 0.03, 0.0, 0.06, 0.06, 0.72},
	{1.31, 0.03, 0.0, 0.06, 0.06, 0.72}, {0.03, 0.71, 0.0, 0.06, 0.06, 0.72}, {1.31, 0.71, 0.0, 0.06, 0.06, 0.72}};
// Profiles along x.
static const double i_beam[][6] = {
	{0.0, 0.0, 0.0, 1.0, 0.1, 0.01}, {0.0, 0.0, 0.09, 1.0, 0.1, 0.01}, {0.0, 0.046, 0.01, 1.0, 0.008, 0.08}};
static const double t_profile[][6] = {{0.0, 0.0, 0.09, 1.0, 0.1, 0.01}, {0.0, 0.045, 0.0, 1.0, 0.01, 0.09}};
static const double l_profile[][6] = {{0.0, 0.0, 0.0, 1.0, 0.1, 0.01}, {0.0, 0.0, 0.01, 1.0, 0.01, 0.09}};
static const double u_profile[][6] = {
	{0.0, 0.0, 0.0, 1.0, 0.1, 0.01}, {0.0, 0.0, 0.01, 1.0, 0.01, 0.07}, {0.0, 0.09, 0.01, 1.0, 0.01, 0.07}};
static const double cross[][6] = {{0.0, 0.045, 0.0, 1.0, 0.01, 0.1}, {0.0, 0.0, 0.045, 1.0, 0.1, 0.01}};
static const double square_tube[][6] = {{0.0, 0.0, 0.0, 1.0, 0.1, 0.005}, {0.0, 0.0, 0.095, 1.0, 0.1, 0.005},
	{0.0, 0.0, 0.0, 1.0, 0.005, 0.1}, {0.0, 0.095, 0.0, 1.0, 0.005, 0.1}};
static const double stick[][6] = {{0.0, 0.0, 0.0, 1.0, 0.04, 0.04}};
static const double lath[][6] = {{0.0, 0.0, 0.0, 1.0, 0.05, 0.02}};

typedef struct Shape {
	const char *name;
	const double (*boards)[6];
	int32_t count;
} Shape;

#define SHAPE(boards) \
	{ #boards, boards, sizeof boards / sizeof *boards }
static const Shape furniture[] = {SHAPE(shelf), SHAPE(crate), SHAPE(egg_crate), SHAPE(rooms), SHAPE(table)};
static const Shape profiles[] = {SHAPE(i_beam), SHAPE(t_profile), SHAPE(l_profile), SHAPE(u_profile), SHAPE(cross),
	SHAPE(square_tube), SHAPE(stick), SHAPE(lath)};

static const FemQuat rotations[] = {{0.0f, 0.0f, 0.0f, 1.0f}, {0.182574f, 0.365148f, 0.547723f, 0.730297f}};

static bool bake(const Shape *shape, int rotation, int32_t target, FemTetMesh *out) {
	FemSurfaceMesh surface = fem_surface_boards(shape->boards, shape->count);
	FilledShape filled;
	if (!filling_rig_fill(shape->name, surface, rotations[rotation], target, out, &filled))
		return false;
	fem_test_check(fabs(filled.volume - 1.0) < 0.1 && filled.far < 0.01, __FILE__, __LINE__, "%s", shape->name);
	return true;
}

// Walls between rooms have no outer skin, a shelf's boards end at others: a lattice gave them 139 % of their volume.
FEM_TEST(boards, that_meet_have_their_volume) {
	static const int32_t targets[] = {300, 1000, 3000};
	for (size_t i = 0; i < sizeof furniture / sizeof *furniture; i++)
		for (int n = 0; n < 3; n++) {
			FemTetMesh mesh;
			if (!bake(&furniture[i], n % 2, targets[n], &mesh))
				continue;
			fem_test_check(mesh.members[0].kind == FEM_MEMBER_WALL && mesh.tet_count < 1.3 * targets[n], __FILE__,
				__LINE__, "%s has %d tets of a lattice", furniture[i].name, mesh.tet_count);
			fem_tet_mesh_free(&mesh);
		}
}

// Boards as closed boxes of their own that reach 5 mm into the sides: one body, whose volume counts nothing twice.
FEM_TEST(boards, let_into_each_other_are_one_body) {
	FemSurfaceMesh all = {0};
	int32_t count = (int32_t)(sizeof shelf / sizeof *shelf);
	for (int32_t b = 0; b < count; b++) {
		double grown = b < 2 ? 0.0 : 0.005;
		const double *at = shelf[b];
		FemSurfaceMesh box = fem_surface_box((FemVec3){(float)(at[3] + 2.0 * grown), (float)at[4], (float)at[5]}, 1);
		fem_surface_transform(
			&box, rotations[0], 1.0, (FemVec3d){at[0] + 0.5 * at[3], at[1] + 0.5 * at[4], at[2] + 0.5 * at[5]});
		fem_surface_append(&all, &box);
		fem_surface_mesh_free(&box);
	}
	FemSurfaceMesh whole = fem_surface_boards(shelf, count);
	FemSoup soup = fem_surface_soup(&all);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	if (FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK)) {
		printf("  %d tets, volume %.3f\n", mesh.tet_count, (double)mesh.volume / whole.volume);
		FEM_CHECK(mesh.member_count == 1 && mesh.members[0].kind == FEM_MEMBER_WALL && mesh.tet_count < 1300);
		FEM_CHECK_NEAR((double)mesh.volume / whole.volume, 1.0, 0.02);
	}
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&all);
	fem_surface_mesh_free(&whole);
}

// ---- bending

// Second moments of a profile's section about the y and the z axis, and their product, m^4, from boards that do not
// overlap.
static void section_of(const Shape *shape, double *out_yy, double *out_zz, double *out_yz) {
	double area = 0.0, y = 0.0, z = 0.0, yy = 0.0, zz = 0.0, yz = 0.0;
	enum { GRID = 200 };
	double lo[2] = {1e9, 1e9}, hi[2] = {-1e9, -1e9};
	for (int32_t b = 0; b < shape->count; b++)
		for (int axis = 0; axis < 2; axis++) {
			lo[axis] = fmin(lo[axis], shape->boards[b][1 + axis]);
			hi[axis] = fmax(hi[axis], shape->boards[b][1 + axis] + shape->boards[b][4 + axis]);
		}
	double step[2] = {(hi[0] - lo[0]) / GRID, (hi[1] - lo[1]) / GRID};
	for (int n = 0; n < GRID * GRID; n++) {
		double p[2] = {lo[0] + (n / GRID + 0.5) * step[0], lo[1] + (n % GRID + 0.5) * step[1]};
		bool inside = false;
		for (int32_t b = 0; b < shape->count; b++)
			inside = inside ||
				(p[0] > shape->boards[b][1] && p[0] < shape->boards[b][1] + shape->boards[b][4] &&
					p[1] > shape->boards[b][2] && p[1] < shape->boards[b][2] + shape->boards[b][5]);
		if (!inside)
			continue;
		double w = step[0] * step[1];
		area += w;
		y += w * p[0];
		z += w * p[1];
		yy += w * p[0] * p[0];
		zz += w * p[1] * p[1];
		yz += w * p[0] * p[1];
	}
	*out_yy = yy - y * y / area;
	*out_zz = zz - z * z / area;
	*out_yz = yz - y * z / area;
}

// Forces along x on the nodes of the free end that add up to a moment which bends it towards an axis, and to nothing
// else: f = a + b y + c z. No transverse force: the shear centre of a U lies outside it, and a pull would twist it.
static void moment_forces(const FemTetMesh *mesh, int axis, double moment, double out[3]) {
	double m[3][4] = {{0}};
	for (int32_t n = 0; n < mesh->node_count; n++) {
		double p[3] = {1.0, (double)mesh->nodes[n].y, (double)mesh->nodes[n].z};
		for (int i = 0; i < 3 && mesh->nodes[n].x > END; i++)
			for (int j = 0; j < 3; j++)
				m[i][j] += p[i] * p[j];
	}
	m[1 + axis][3] = -moment;
	for (int i = 0; i < 3; i++) { // Gauss: positive definite, no pivots needed
		for (int k = 0; k < 3; k++) {
			double factor = m[k][i] / m[i][i];
			for (int j = 0; j < 4 && k != i; j++)
				m[k][j] -= factor * m[i][j];
		}
	}
	for (int i = 0; i < 3; i++)
		out[i] = m[i][3] / m[i][i];
}

// Clamped at x = 0, bent by a moment (N m) at x = 1: how far that end goes along the axis (0: y, 1: z), m.
static double bend_end(const FemTetMesh *mesh, int axis, double moment, double poisson_ratio) {
	int32_t *pinned = calloc((size_t)mesh->node_count, sizeof *pinned), pinned_count = 0, tip_count = 0;
	FemVec3 *now = calloc((size_t)mesh->node_count, sizeof *now);
	for (int32_t n = 0; n < mesh->node_count; n++) {
		if (mesh->nodes[n].x < 1.0f - END)
			pinned[pinned_count++] = n;
		tip_count += mesh->nodes[n].x > END;
	}
	FemWorldId world;
	FemBodyId body = filling_rig_held(mesh, YOUNG, poisson_ratio, pinned, pinned_count, &world);
	double sum = 0.0, force[3];
	moment_forces(mesh, axis, moment, force);
	for (int step = 0; step < STEPS && FEM_CHECK(pinned_count > 0 && tip_count > 0); step++) {
		for (int32_t n = 0; n < mesh->node_count; n++) {
			FemVec3 p = mesh->nodes[n];
			if (p.x > END)
				fem_body_apply_force(body, n,
					(FemVec3){(float)(force[0] + force[1] * (double)p.y + force[2] * (double)p.z), 0.0f, 0.0f});
		}
		fem_world_step(world, LOAD_STEP, 1);
	}
	FemPosition origin;
	fem_body_get_positions(body, &origin, now, mesh->node_count);
	for (int32_t n = 0; n < mesh->node_count; n++) {
		double moved = axis == 0 ? origin.y + (double)now[n].y - (double)mesh->nodes[n].y
								 : origin.z + (double)now[n].z - (double)mesh->nodes[n].z;
		sum += mesh->nodes[n].x > END ? moved / tip_count : 0.0;
	}
	fem_world_destroy(world);
	free(pinned);
	free(now);
	return sum;
}

static void bend_profile(const Shape *shape, int32_t target) {
	FemTetMesh mesh;
	double yy, zz, yz;
	if (!bake(shape, 0, target, &mesh))
		return;
	section_of(shape, &yy, &zz, &yz);
	for (int axis = 0; axis < 2; axis++) {
		// Unsymmetric bending: a moment towards y bends towards y by M L^2 / 2E times zz / (yy zz - yz^2).
		double inertia = (yy * zz - yz * yz) / (axis == 0 ? zz : yy), wanted = 0.002;
		double got = bend_end(&mesh, axis, wanted * 2.0 * YOUNG * inertia, 0.3);
		fem_compare(fem_named("%s, %d tets, %s", shape->name, mesh.tet_count, axis == 0 ? "sideways" : "upright"), 1.0,
			got / wanted, 0.1);
	}
	fem_tet_mesh_free(&mesh);
}

FEM_TEST(theory, profiles_and_sticks_bend_to_all_sides) {
	static const int32_t targets[] = {100, 300, 1000};
	for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
		for (int n = 0; n < 3; n++)
			bend_profile(&profiles[i], targets[n]);
}

// Round rods and legs that taper, square-cut at both ends: how far they bend, and that at nu 0.45 as far as at 0.3.
static void bend_rod(const char *name, double taper, int32_t target) {
	FemSurfaceMesh surface = fem_surface_cylinder(0.05, 1.0, 24);
	// M L^2 / 2 E I of a rod; of one that tapers the integral of (1 - x) / I(x) along it.
	double compliance = 0.0, inertia = 3.14159265358979 / 4.0 * pow(0.05, 4.0);
	for (int i = 0; i < 1000; i++)
		compliance += 1e-3 * (1.0 - 1e-3 * (i + 0.5)) / (YOUNG * inertia * pow(1.0 - taper * 1e-3 * (i + 0.5), 4.0));
	for (int32_t i = 0; i < surface.vertex_count; i++) {
		FemVec3 *p = &surface.vertices[i];
		p->x += 0.5f;
		p->y *= 1.0f - (float)taper * p->x;
		p->z *= 1.0f - (float)taper * p->x;
	}
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	double got[2];
	def.element_count = target;
	if (FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK)) {
		FEM_CHECK(mesh.members[0].kind == FEM_MEMBER_BEAM);
		for (int soft = 0; soft < 2; soft++)
			got[soft] = bend_end(&mesh, 0, 0.002 / compliance, soft ? 0.45 : 0.3) / 0.002;
		double volume = surface.volume * (1.0 - taper + taper * taper / 3.0);
		fem_compare(fem_named("%s, %d tets, deflection", name, mesh.tet_count), 1.0, got[0], 0.1);
		fem_compare(fem_named("%s, %d tets, at nu 0.45", name, mesh.tet_count), got[0], got[1], 0.03);
		fem_compare(fem_named("%s, %d tets, volume", name, mesh.tet_count), 1.0, (double)mesh.volume / volume, 0.05);
	}
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(theory, rods_and_legs_bend) {
	static const int32_t targets[] = {100, 300, 1000};
	for (int n = 0; n < 3; n++) {
		bend_rod("rod", 0.0, targets[n]);
		bend_rod("leg", 0.5, targets[n]);
	}
}
