// Walls that stand at any angles round one axis: rooms under a gable, of six walls, of three, and what meets in a Y.
// Volume, coverage, and frames of them against frame theory.
#include "fem_test.h"
#include "filling_rig.h"

#include "baking/bake.h"
#include "base/memory.h"
#include "geometry/loop_mesh.h"
#include "scenes/surface_meshes.h"
#include "theory_rig.h"
#include "topology/tet_mesh.h"

#include <stdlib.h>

#define PI 3.14159265358979323846
#define YOUNG 1e10      // Pa
#define WALL 0.03       // m
#define DEEP 0.4        // m, of open frames
#define LOAD_STEP 0.25f // s, long against every period of these bodies: each step is an equilibrium
#define STEPS 40
#define CORNERS_MAX 12
#define MORE_MOST 1.2 // times the tets that are asked for, ...
#define MORE_FEW 900  // ... and some more, since every wall and floor has cells of its own

// ---- shapes, m: closed surfaces of prisms along z, cavities turned inside out

// The outline is seen from its middle as a whole, and goes round it counter-clockwise.
static void add_prism(FemSurfaceMesh *mesh, double (*outline)[2], int32_t count, double low, double high, bool cavity) {
	FemVec3 vertices[2 * CORNERS_MAX + 2] = {{0}};
	int32_t triangles[4 * CORNERS_MAX][3], at = 0, bottom = 2 * count, top = 2 * count + 1;
	double area = 0.0, middle[2] = {0.0, 0.0};
	for (int32_t i = 0; i < count; i++)
		for (int axis = 0; axis < 2; axis++)
			middle[axis] += outline[i][axis] / count;
	for (int32_t i = 0; i < count; i++) {
		int32_t k = (i + 1) % count;
		area += 0.5 * (outline[i][0] * outline[k][1] - outline[k][0] * outline[i][1]);
		vertices[i] = (FemVec3){(float)outline[i][0], (float)outline[i][1], (float)low};
		vertices[count + i] = (FemVec3){(float)outline[i][0], (float)outline[i][1], (float)high};
		int32_t own[4][3] = {{i, k, count + k}, {i, count + k, count + i}, {bottom, k, i}, {top, count + i, count + k}};
		for (int n = 0; n < 4; n++, at++)
			for (int v = 0; v < 3; v++)
				triangles[at][v] = own[n][cavity ? 2 - v : v];
	}
	vertices[bottom] = (FemVec3){(float)middle[0], (float)middle[1], (float)low};
	vertices[top] = (FemVec3){(float)middle[0], (float)middle[1], (float)high};
	FemSurfaceMesh prism = {
		.vertex_count = 2 * count + 2, .triangle_count = at, .vertices = vertices, .triangles = triangles};
	fem_surface_append(mesh, &prism);
	mesh->volume += (cavity ? -1.0 : 1.0) * area * (high - low);
}

// The same without its ends for cavities that go through: outline, then those, all counter-clockwise.
static FemSurfaceMesh make_frame(
	double (*outlines)[CORNERS_MAX][2], const int32_t *counts, int32_t count, double deep) {
	FemSurfaceMesh mesh = {0};
	FemLoopMesh ends = {0};
	for (int32_t o = 0; o < count; o++) {
		FemVec3 vertices[2 * CORNERS_MAX] = {{0}};
		int32_t triangles[2 * CORNERS_MAX][3], n = counts[o];
		double area = 0.0;
		for (int32_t i = 0; i < n; i++) {
			int32_t at = o == 0 ? i : n - 1 - i, next = (i + 1) % n; // cavities clockwise
			const double *p = outlines[o][at], *q = outlines[o][o == 0 ? next : n - 1 - next];
			area += 0.5 * (p[0] * q[1] - q[0] * p[1]);
			vertices[i] = (FemVec3){(float)p[0], (float)p[1], 0.0f};
			vertices[n + i] = (FemVec3){(float)p[0], (float)p[1], (float)deep};
			memcpy(triangles[2 * i], (int32_t[3]){i, next, n + next}, sizeof triangles[0]);
			memcpy(triangles[2 * i + 1], (int32_t[3]){i, n + next, n + i}, sizeof triangles[0]);
			fem_loop_mesh_add_index(&ends, fem_loop_mesh_add_point(&ends, p[0], p[1]));
		}
		fem_loop_mesh_end_loop(&ends);
		FemSurfaceMesh sides = {
			.vertex_count = 2 * n, .triangle_count = 2 * n, .vertices = vertices, .triangles = triangles};
		fem_surface_append(&mesh, &sides);
		mesh.volume += area * deep;
	}
	fem_loop_mesh_fill(&ends);
	for (int end = 0; end < 2; end++)
		for (int32_t t = 0; t < ends.triangle_count; t++) {
			FemVec3 corners[3];
			int32_t triangle[1][3] = {{0, 1, 2}};
			for (int v = 0; v < 3; v++) {
				const double *p = ends.points[ends.triangles[t][end == 0 ? 2 - v : v]];
				corners[v] = (FemVec3){(float)p[0], (float)p[1], end == 0 ? 0.0f : (float)deep};
			}
			FemSurfaceMesh cap = {.vertex_count = 3, .triangle_count = 1, .vertices = corners, .triangles = triangle};
			fem_surface_append(&mesh, &cap);
		}
	fem_loop_mesh_free(&ends);
	return mesh;
}

#define EAVES 1.0 // m, of the middles of walls and roofs
#define RIDGE 1.6 // m
#define HALF 1.0  // m

// How far above the middle of its slope a roof's surface is, as a share of half the wall.
static double roof_at(double x, double side) {
	double slope = (RIDGE - EAVES) / HALF;
	return RIDGE - slope * fabs(x) + side * 0.5 * WALL * sqrt(1.0 + slope * slope);
}

// Seen along its ridge: the whole, and what lies to both sides of a partition under it.
static void gable_outlines(double out[3][CORNERS_MAX][2]) {
	const double t = WALL, far = HALF + 0.5 * t, in = HALF - 0.5 * t;
	double outline[5][2] = {{-far, -0.5 * t}, {far, -0.5 * t}, {far, roof_at(far, 1.0)}, {0.0, roof_at(0.0, 1.0)},
		{-far, roof_at(far, 1.0)}};
	double right[4][2] = {
		{0.5 * t, 0.5 * t}, {in, 0.5 * t}, {in, roof_at(in, -1.0)}, {0.5 * t, roof_at(0.5 * t, -1.0)}};
	memcpy(out[0], outline, sizeof outline);
	memcpy(out[1], right, sizeof right);
	for (int i = 0; i < 4; i++) {
		out[2][i][0] = -right[3 - i][0];
		out[2][i][1] = right[3 - i][1];
	}
}

static FemSurfaceMesh make_open_gable(void) {
	static const int32_t counts[] = {5, 4, 4};
	double outlines[3][CORNERS_MAX][2];
	gable_outlines(outlines);
	return make_frame(outlines, counts, 3, DEEP);
}

// Closed at both ends, with another partition across.
static FemSurfaceMesh make_house(void) {
	const double t = WALL;
	double outlines[3][CORNERS_MAX][2];
	FemSurfaceMesh mesh = {0};
	gable_outlines(outlines);
	add_prism(&mesh, outlines[0], 5, 0.0, 2.0, false);
	for (int side = 1; side < 3; side++) {
		add_prism(&mesh, outlines[side], 4, t, 1.0 - 0.5 * t, true);
		add_prism(&mesh, outlines[side], 4, 1.0 + 0.5 * t, 2.0 - t, true);
	}
	return mesh;
}

// Where a ray at `angle` from the middle meets the side of a hexagon from corner k to the next, that far out.
static void on_side(double distance, int k, double across, double out[2]) {
	double normal = (k + 0.5) * PI / 3.0;
	out[0] = distance * cos(normal) - across * sin(normal);
	out[1] = distance * sin(normal) + across * cos(normal);
}

// A room of six walls amid six others of four. Of the middles of walls the hexagons have sides of 0.5 and 1 m.
static void comb_outlines(double out[8][CORNERS_MAX][2]) {
	const double t = WALL, inner = 0.5 * sqrt(0.75), outer = sqrt(0.75);
	double low = inner + 0.5 * t, high = outer - 0.5 * t, lean = tan(PI / 6.0), back = 0.5 * t / cos(PI / 6.0);
	for (int k = 0; k < 6; k++) {
		for (int axis = 0; axis < 2; axis++) {
			double along = axis == 0 ? cos(k * PI / 3.0) : sin(k * PI / 3.0);
			out[0][k][axis] = (outer + 0.5 * t) / sqrt(0.75) * along;
			out[1][k][axis] = (inner - 0.5 * t) / sqrt(0.75) * along;
		}
		on_side(low, k, -(low * lean - back), out[2 + k][0]);
		on_side(high, k, -(high * lean - back), out[2 + k][1]);
		on_side(high, k, high * lean - back, out[2 + k][2]);
		on_side(low, k, low * lean - back, out[2 + k][3]);
	}
}

static const int32_t comb_counts[] = {6, 6, 4, 4, 4, 4, 4, 4};

static FemSurfaceMesh make_open_comb(void) {
	double outlines[8][CORNERS_MAX][2];
	comb_outlines(outlines);
	return make_frame(outlines, comb_counts, 8, DEEP);
}

static FemSurfaceMesh make_six_walls(void) {
	double outlines[8][CORNERS_MAX][2];
	FemSurfaceMesh mesh = {0};
	comb_outlines(outlines);
	add_prism(&mesh, outlines[0], comb_counts[0], 0.0, 0.8, false);
	for (int room = 1; room < 8; room++)
		add_prism(&mesh, outlines[room], comb_counts[room], WALL, 0.8 - WALL, true);
	return mesh;
}

// Six rooms of three walls around the middle of a hexagon of 1 m.
static FemSurfaceMesh make_three_walls(void) {
	const double t = WALL;
	FemSurfaceMesh mesh = {0};
	double whole[6][2];
	for (int k = 0; k < 6; k++) {
		whole[k][0] = cos(k * PI / 3.0);
		whole[k][1] = sin(k * PI / 3.0);
	}
	add_prism(&mesh, whole, 6, 0.0, 0.8, false);
	for (int k = 0; k < 6; k++) {
		double corners[3][2], lean = tan(PI / 6.0), back = 0.5 * t / cos(PI / 6.0), high = sqrt(0.75) - t;
		on_side(back / lean, k, 0.0, corners[0]);
		on_side(high, k, -(high * lean - back), corners[1]);
		on_side(high, k, high * lean - back, corners[2]);
		add_prism(&mesh, corners, 3, t, 0.8 - t, true);
	}
	return mesh;
}

// Three walls of 1 m that meet in their middle.
static FemSurfaceMesh make_y(void) {
	const double t = WALL, inner = t / sqrt(3.0);
	FemSurfaceMesh mesh = {0};
	double outline[9][2];
	for (int k = 0; k < 3; k++) {
		double angle = k * 2.0 * PI / 3.0, c = cos(angle), s = sin(angle);
		for (int side = 0; side < 2; side++) {
			double across = (side - 0.5) * t;
			outline[3 * k + side][0] = c - across * s;
			outline[3 * k + side][1] = s + across * c;
		}
		outline[3 * k + 2][0] = inner * cos(angle + PI / 3.0);
		outline[3 * k + 2][1] = inner * sin(angle + PI / 3.0);
	}
	add_prism(&mesh, outline, 9, 0.0, 1.0, false);
	return mesh;
}

// The room of six walls again, without floors, of boards that run into each other and whose sides are split.
static FemSurfaceMesh make_boards(void) {
	enum { BOARDS = 18, GRID = 1000 };
	double boards[BOARDS][4]; // angle, away from the middle, length along that, length across it
	FemSurfaceMesh mesh = {0};
	for (int b = 0; b < BOARDS; b++) {
		double side = b % 3 == 0 ? 0.5 : 1.0, angle = b / 3 * PI / 3.0;
		bool is_partition = b % 3 == 2;
		boards[b][0] = angle + (is_partition ? 0.0 : PI / 6.0);
		boards[b][1] = is_partition ? 0.75 : side * sqrt(0.75);
		boards[b][2] = is_partition ? 0.5 : WALL;
		boards[b][3] = is_partition ? WALL : side;
		FemSurfaceMesh box = fem_surface_box((FemVec3){(float)boards[b][2], (float)boards[b][3], 0.6f}, 5);
		FemQuat rotation = {0.0f, 0.0f, (float)sin(0.5 * boards[b][0]), (float)cos(0.5 * boards[b][0])};
		fem_surface_transform(
			&box, rotation, 1.0, (FemVec3d){boards[b][1] * cos(boards[b][0]), boards[b][1] * sin(boards[b][0]), 0.0});
		fem_surface_append(&mesh, &box);
		fem_surface_mesh_free(&box);
	}
	int32_t inside = 0;
	for (int32_t n = 0; n < GRID * GRID; n++) {
		double x = (2.2 * (n / GRID + 0.5)) / GRID - 1.1, y = (2.2 * (n % GRID + 0.5)) / GRID - 1.1;
		bool is_in = false;
		for (int b = 0; b < BOARDS && !is_in; b++) {
			double c = cos(boards[b][0]), s = sin(boards[b][0]);
			is_in = fabs(c * x + s * y - boards[b][1]) < 0.5 * boards[b][2] && fabs(c * y - s * x) < 0.5 * boards[b][3];
		}
		inside += is_in;
	}
	mesh.volume = 0.6 * inside * pow(2.2 / GRID, 2.0);
	return mesh;
}

typedef struct Plan {
	const char *name;
	FemSurfaceMesh (*make)(void);
} Plan;

static const Plan plans[] = {{"rooms under a gable", make_house}, {"rooms of six walls", make_six_walls},
	{"rooms of three walls", make_three_walls}, {"boards at angles", make_boards}, {"walls that meet in a Y", make_y}};

static bool bake(const Plan *plan, FemQuat rotation, int32_t target, FemTetMesh *out) {
	FilledShape shape;
	if (!filling_rig_fill(plan->name, plan->make(), rotation, target, out, &shape))
		return false;
	fem_test_check(fabs(shape.volume - 1.0) < 0.05 && shape.far < 0.01 && out->members[0].kind == FEM_MEMBER_WALL &&
			out->tet_count < MORE_MOST * target + MORE_FEW,
		__FILE__, __LINE__, "%s", plan->name);
	return true;
}

// Fails when a lattice fills them (4,000 to 20,000 tets, volumes up to 1.27), and the boards when every vertex on a
// side makes a cell.
FEM_TEST(walls, at_any_angles_round_an_axis_have_their_volume) {
	static const int32_t targets[] = {300, 1000, 5000};
	static const FemQuat rotations[] = {{0.0f, 0.0f, 0.0f, 1.0f}, {0.182574f, 0.365148f, 0.547723f, 0.730297f}};
	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
		for (int n = 0; n < 3; n++) {
			FemTetMesh mesh;
			if (bake(&plans[i], rotations[n % 2], targets[n], &mesh))
				fem_tet_mesh_free(&mesh);
		}
}

// Boards at random angles and places, some in one another, some apart: whatever comes of it, it is sound, the same
// again, and no memory is left.
FEM_TEST(walls, boards_at_random_are_filled_somehow) {
	int64_t before = fem_memory_bytes();
	uint32_t seed = 7;
	for (int n = 0; n < 6; n++) {
		FemSurfaceMesh surface = {0};
		for (int b = 0; b < 3 + n; b++) {
			double random[5];
			for (int k = 0; k < 5; k++) {
				seed = seed * 1664525u + 1013904223u;
				random[k] = (double)(seed >> 8) / 16777216.0;
			}
			double angle = PI * random[0], wall = (0.5 + random[4]) * WALL;
			FemSurfaceMesh box =
				fem_surface_box((FemVec3){1.0f, (float)wall, 0.5f + 0.5f * (float)random[1]}, 1 + n % 3);
			fem_surface_transform(&box, (FemQuat){0.0f, 0.0f, (float)sin(0.5 * angle), (float)cos(0.5 * angle)}, 1.0,
				(FemVec3d){0.6 * random[2], 0.6 * random[3], 0.0});
			fem_surface_append(&surface, &box);
			fem_surface_mesh_free(&box);
		}
		FemSoup soup = fem_surface_soup(&surface);
		FemBakeDef def = fem_default_bake_def();
		FemTetMesh meshes[2] = {{0}};
		def.element_count = 500;
		for (int i = 0; i < 2; i++)
			fem_test_check(
				fem_tetrahedralize(&soup, &def, &meshes[i]) == FEM_OK, __FILE__, __LINE__, "%s", fem_last_error());
		FEM_REQUIRE(meshes[0].tet_count > 0 && meshes[0].tet_count == meshes[1].tet_count &&
			memcmp(meshes[0].tets, meshes[1].tets, sizeof(int32_t) * 4 * (size_t)meshes[0].tet_count) == 0);
		for (int32_t t = 0; t < meshes[0].tet_count; t++) {
			FemTetShape shape;
			FEM_CHECK(
				fem_tet_shape(meshes[0].nodes, meshes[0].tets + 4 * (size_t)t, (FemVec3){1.0f, 1.0f, 1.0f}, &shape) &&
				shape.volume > 0.0);
		}
		printf("  %d boards: %d tets of %d parts, kind %d\n", 3 + n, meshes[0].tet_count, meshes[0].member_count,
			meshes[0].members[0].kind);
		for (int i = 0; i < 2; i++)
			fem_tet_mesh_free(&meshes[i]);
		fem_surface_mesh_free(&surface);
	}
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// ---- frames: the same walls open at both ends, against bars in the plan, nu = 0

#define JOINTS_MAX 14
#define SHARE 0.005 // of 1 m: how far the loaded joint goes
#define AROUND 1.2  // walls: nodes that take the load, or are held, are so near to a joint

typedef struct Joints {
	double places[JOINTS_MAX][2]; // m
	int count, held;              // the first `held` are clamped
	int bars[2 * JOINTS_MAX][2], bar_count;
	int loaded; // along x
} Joints;

// The usual stiffness of a beam of 1 m along z: along it, across it, rotations at both ends.
static void add_bar(const Joints *joints, const int ends[2], double k[3 * JOINTS_MAX][3 * JOINTS_MAX + 1]) {
	const double *a = joints->places[ends[0]], *b = joints->places[ends[1]], t = WALL;
	double x = b[0] - a[0], y = b[1] - a[1], l = sqrt(x * x + y * y), c = x / l, s = y / l;
	double stretch = YOUNG * t / l, bend = YOUNG * t * t * t / 12.0 / (l * l * l);
	double local[6][6] = {{stretch, 0, 0, -stretch, 0, 0}, {0, 12 * bend, 6 * bend * l, 0, -12 * bend, 6 * bend * l},
		{0, 6 * bend * l, 4 * bend * l * l, 0, -6 * bend * l, 2 * bend * l * l}, {-stretch, 0, 0, stretch, 0, 0},
		{0, -12 * bend, -6 * bend * l, 0, 12 * bend, -6 * bend * l},
		{0, 6 * bend * l, 2 * bend * l * l, 0, -6 * bend * l, 4 * bend * l * l}};
	double rotation[6][6] = {{c, s}, {-s, c}, {0, 0, 1}, {0, 0, 0, c, s}, {0, 0, 0, -s, c}, {0, 0, 0, 0, 0, 1}};
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++) {
			int row = ends[i / 3] - joints->held, column = ends[j / 3] - joints->held;
			for (int m = 0; m < 36 && row >= 0 && column >= 0; m++)
				k[3 * row + i % 3][3 * column + j % 3] += rotation[m / 6][i] * local[m / 6][m % 6] * rotation[m % 6][j];
		}
}

// m, of the loaded joint under 1 N for each metre of depth.
static double give_of_theory(const Joints *joints) {
	double k[3 * JOINTS_MAX][3 * JOINTS_MAX + 1] = {{0}};
	int count = 3 * (joints->count - joints->held), load = 3 * (joints->loaded - joints->held);
	for (int b = 0; b < joints->bar_count; b++)
		add_bar(joints, joints->bars[b], k);
	k[load][3 * JOINTS_MAX] = 1.0;
	for (int i = 0; i < count; i++) // Gauss: positive definite, no pivots needed
		for (int j = 0; j < count; j++) {
			double factor = k[j][i] / k[i][i];
			for (int n = i; n <= 3 * JOINTS_MAX && j != i; n++)
				k[j][n] -= factor * k[i][n];
		}
	return k[load][3 * JOINTS_MAX] / k[load][load];
}

static bool is_near(FemVec3 p, const double place[2], double distance) {
	return hypot((double)p.x - place[0], (double)p.y - place[1]) < distance;
}

// Nodes around the held joints do not move; those of the loaded one take the force, by equal shares. m along x.
static double give_of_mesh(const FemTetMesh *mesh, const Joints *joints, double force) {
	int32_t *pinned = calloc((size_t)mesh->node_count, sizeof *pinned), *loaded = calloc((size_t)mesh->node_count, 4);
	int32_t pinned_count = 0, loaded_count = 0;
	FemVec3 *now = calloc((size_t)mesh->node_count, sizeof *now);
	for (int32_t n = 0; n < mesh->node_count; n++) {
		for (int j = 0; j < joints->held; j++)
			if (is_near(mesh->nodes[n], joints->places[j], AROUND * WALL))
				pinned[pinned_count++] = n;
		if (is_near(mesh->nodes[n], joints->places[joints->loaded], AROUND * WALL))
			loaded[loaded_count++] = n;
	}
	FemWorldId world;
	FemBodyId body = filling_rig_held(mesh, YOUNG, 0.0, pinned, pinned_count, &world);
	for (int step = 0; step < STEPS && FEM_CHECK(pinned_count > 0 && loaded_count > 0); step++) {
		for (int32_t n = 0; n < loaded_count; n++)
			fem_body_apply_force(body, loaded[n], (FemVec3){(float)(force / loaded_count), 0.0f, 0.0f});
		fem_world_step(world, LOAD_STEP, 1);
	}
	FemPosition origin;
	double sum = 0.0;
	fem_body_get_positions(body, &origin, now, mesh->node_count);
	for (int32_t n = 0; n < loaded_count; n++)
		sum += (origin.x + (double)now[loaded[n]].x - (double)mesh->nodes[loaded[n]].x) / loaded_count;
	fem_world_destroy(world);
	free(pinned);
	free(loaded);
	free(now);
	return sum;
}

static Joints joints_of_comb(void) {
	Joints joints = {.count = 12, .held = 1, .loaded = 3};
	for (int k = 0; k < 6; k++) {
		double angle = PI + k * PI / 3.0;
		joints.places[k][0] = cos(angle);
		joints.places[k][1] = sin(angle);
		joints.places[6 + k][0] = 0.5 * cos(angle);
		joints.places[6 + k][1] = 0.5 * sin(angle);
		int bars[3][2] = {{k, (k + 1) % 6}, {6 + k, 6 + (k + 1) % 6}, {k, 6 + k}};
		for (int b = 0; b < 3; b++, joints.bar_count++) {
			joints.bars[joints.bar_count][0] = bars[b][0];
			joints.bars[joints.bar_count][1] = bars[b][1];
		}
	}
	return joints;
}

static void check_give(const Plan *plan, const Joints *joints, int32_t target) {
	FemTetMesh mesh;
	double force = SHARE / give_of_theory(joints) * DEEP;
	if (!bake(plan, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, target, &mesh))
		return;
	fem_compare(fem_named("%s, %d tets, give / theory", plan->name, mesh.tet_count), 1.0,
		give_of_mesh(&mesh, joints, force) / SHARE, 0.25);
	fem_tet_mesh_free(&mesh);
}

FEM_TEST(theory, frames_of_walls_at_any_angles_give) {
	static const Joints gable = {
		.places = {{-HALF, 0.0}, {0.0, 0.0}, {HALF, 0.0}, {-HALF, EAVES}, {0.0, RIDGE}, {HALF, EAVES}},
		.count = 6,
		.held = 3,
		.bars = {{0, 3}, {1, 4}, {2, 5}, {3, 4}, {4, 5}},
		.bar_count = 5,
		.loaded = 4};
	static const Plan plans_open[] = {{"open gable", make_open_gable}, {"open comb", make_open_comb}};
	Joints comb = joints_of_comb();
	for (int32_t target = 300; target <= 3000; target += 700 + (target == 1000) * 1300) {
		check_give(&plans_open[0], &gable, target);
		check_give(&plans_open[1], &comb, target);
	}
}
