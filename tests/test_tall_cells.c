// Plate cells that are taller than long: slices of boards that run into each other.
#include "fem_test.h"

#include "contact_rig.h"
#include "dynamics/plate_elements.h"
#include "preset_rig.h"
#include "scenes/box_mesh.h"
#include "scenes/rig.h"
#include "topology/plate_cells.h"
#include "topology/tet_mesh.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

#define DEPTH 1.7f // m, of a slice, from outside to outside

static const float levels[3] = {0.0f, 0.1f, 2.47f}; // m, of its bottom, middle and top

// Two by two cells, each so wide, that are a slice where boards of a crate of 10 m run into each other: outer at both
// ends of their depth alone.
static FemBoxMesh slice(float side) {
	FemBoxMesh box = fem_box_mesh(2, 2, 1, (FemVec3){2.0f * side, 1.0f, DEPTH}, FEM_CELLS_FIVE);
	for (int32_t i = 0; i < box.node_count; i++)
		box.positions[i].y = levels[(i / 2) % 3];
	for (int32_t t = 0; t < box.tet_count; t++)
		fem_tet_orient(box.positions, box.tets + 4 * (size_t)t);
	return box;
}

static double distance(FemVec3 a, FemVec3 b) {
	double x = (double)b.x - (double)a.x, y = (double)b.y - (double)a.y, z = (double)b.z - (double)a.z;
	return sqrt(x * x + y * y + z * z);
}

static FemBodyId add_slice(
	FemWorldId world, float side, FemMaterialId material, FemPosition position, FemQuat rotation) {
	FemBoxMesh box = slice(side);
	float plates[20];
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemBodyDef def = fem_default_body_def();
	FEM_CHECK(box.tet_count == 20);
	for (int t = 0; t < 20; t++)
		plates[t] = 1.0f;
	mesh.tet_plates = plates;
	mesh.quality_clamp = 0.0f;
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.position = position;
	def.rotation = rotation;
	def.linear_velocity = (FemVec3){0.0f, -8.0f, 0.0f};
	fem_box_mesh_free(&box);
	return fem_body_create(world, &def);
}

// Fails when cells take an axis for their thickness along which they are many times as long as across.
FEM_TEST(tall_cells, none_is_a_slice_of_a_rod) {
	FemBoxMesh box = slice(0.05f);
	FemPlateCells cells;
	float plates[20];
	for (int t = 0; t < 20; t++)
		plates[t] = 1.0f;
	FEM_REQUIRE(fem_plate_cells_find(box.positions, box.node_count, box.tets, box.tet_count, plates, NULL, &cells));
	FEM_CHECK_INT(cells.count[1], 4);
	for (int32_t i = 0; i < fem_plate_cell_count(&cells); i++) {
		FemVec3 at[FEM_CELL_CORNERS];
		for (int k = 0; k < 8; k++)
			at[k] = box.positions[box.tets[cells.cells[i].corners[k]]];
		double tall = distance(at[0], at[1]), side = fmin(distance(at[0], at[2]), distance(at[0], at[6]));
		FEM_CHECK(tall < 6.0 * side);
	}
	fem_plate_cells_free(&cells);
	fem_box_mesh_free(&box);
}

// The largest K / m of a cell by power iteration.
static double largest_eigenvalue(double k[24][24], const double masses[FEM_CELL_CORNERS]) {
	double u[24], next[24], value = 0.0;
	for (int i = 0; i < 24; i++)
		u[i] = 1.0 + 0.37 * ((i * 7) % 11);
	for (int n = 0; n < 500; n++) {
		double square = 0.0;
		for (int i = 0; i < 24; i++) {
			next[i] = 0.0;
			for (int j = 0; j < 24; j++)
				next[i] += k[i][j] * u[j] / masses[i / 3];
			square += next[i] * next[i];
		}
		value = sqrt(square);
		for (int i = 0; i < 24; i++)
			u[i] = next[i] / value;
	}
	return value;
}

// Where rounding would swallow rigid motions they are solved for apart, which is decided by the stiffness of a body.
// Its tall cells are stiffer than any of their tets.
FEM_TEST(tall_cells, are_counted_in_the_stiffness_of_a_body) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemMaterialDef stone = fem_default_material_def();
	stone.young_modulus = 1e9f;
	FemMaterialId material = fem_material_create(world, &stone);
	FemBodyId id = add_slice(world, 0.3f, material, (FemPosition){0.0, 3.0, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	const FemBody *body = fem_body_find(id, NULL);
	FEM_REQUIRE(body && body->cells);
	FemPlateMaterial like = {.young_modulus = 1e9,
		.poisson_ratio = (double)stone.poisson_ratio,
		.fibre = {1.0, 0.0, 0.0},
		.spring_share = 1.0};
	double largest = 0.0;
	for (int32_t i = 0; i < fem_plate_cell_count(&body->topology->cells); i++) {
		const FemPlateCell *cell = &body->topology->cells.cells[i];
		double corners[FEM_CELL_CORNERS][3], masses[FEM_CELL_CORNERS] = {0.0}, k[24][24];
		if (fem_cell_column_count(cell) != 4 || !fem_cell_acts(body, i))
			continue;
		for (int c = 0; c < 8; c++) {
			FemVec4 x = body->position[fem_tet_node(body->topology, cell->corners[c] / 4, cell->corners[c] % 4)];
			corners[c][0] = (double)x.x, corners[c][1] = (double)x.y, corners[c][2] = (double)x.z;
		}
		for (int t = 0; t < 5; t++) {
			int32_t tet = cell->tets[t];
			for (int v = 0; v < 4; v++)
				masses[cell->place[t][v]] +=
					0.25 * (double)stone.density * (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		}
		FEM_REQUIRE(fem_plate_stiffness(corners, 4, &like, k));
		largest = fmax(largest, largest_eigenvalue(k, masses));
	}
	printf("  largest of cells %.3g, of the body %.3g / s^2\n", largest, (double)body->stiffness);
	FEM_CHECK(largest > 0.0);
	FEM_CHECK((double)body->stiffness >= 0.999 * largest);
	fem_world_destroy(world);
}

// ---- falling

// A heap of slices that fall on each other: the fastest of 4 s, m/s.
static double drop_slices(const char *preset_name) {
	enum { COUNT = 6 };
	FemPreset preset;
	FemWorldDef def = fem_contact_world_def();
	FemBodyId bodies[COUNT];
	double fastest = 0.0;
	FEM_CHECK(fem_preset_load(preset_name, &preset));
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	preset.def.toughness = INFINITY;
	FemMaterialId material = fem_material_create(world, &preset.def);
	for (int i = 0; i < COUNT; i++) {
		FemPosition at = {0.4 * (i % 2), 3.0 + 3.5 * i, 0.3 * (i % 3)};
		float angle = 0.5f + 0.7f * (float)i;
		bodies[i] =
			add_slice(world, 0.05f, material, at, (FemQuat){0.0f, sinf(angle) * 0.6f, sinf(angle) * 0.8f, cosf(angle)});
	}
	for (int n = 0; n < 240; n++) {
		fem_world_step(world, 1.0f / 60.0f, 1);
		for (int i = 0; i < COUNT; i++) {
			FemBodyState state = {0};
			fem_body_get_state(bodies[i], &state);
			double speed = distance((FemVec3){0.0f, 0.0f, 0.0f}, state.linear_velocity);
			fastest = speed <= fastest ? fastest : speed;
		}
	}
	fem_world_destroy(world);
	return fastest;
}

// They come down at 20 m/s. With cells that take their depth for their thickness rounding made the matrix indefinite,
// and slices of concrete left at 164 m/s.
FEM_TEST(tall_cells, slices_fall_as_anything) {
	static const char *const names[] = {"ceramic", "concrete", "oak"};
	for (int i = 0; i < 3; i++) {
		double fastest = drop_slices(names[i]);
		printf("  %s: %.1f m/s\n", names[i], fastest);
		FEM_CHECK(fastest < 2.0 * 20.0);
	}
}

// ---- whipping

#define STRUT 0.05f // m, its thickness and width
#define LENGTH 2.4f // m

// A board with a strut along it, one cell each, as where boards of a large crate run into each other.
static FemBodyId add_strut(FemWorldId world) {
	static const float across[3] = {0.0f, 0.15f, 0.15f + STRUT};
	FemBoxMesh box = fem_box_mesh(2, 1, 1, (FemVec3){1.0f, LENGTH, STRUT}, FEM_CELLS_FIVE);
	float plates[10];
	for (int32_t i = 0; i < box.node_count; i++)
		box.positions[i].x = across[i / 4];
	for (int32_t t = 0; t < box.tet_count; t++) {
		fem_tet_orient(box.positions, box.tets + 4 * (size_t)t);
		plates[t] = 1.0f;
	}
	FemMaterialDef ceramic = fem_default_material_def();
	ceramic.young_modulus = 1e9f;
	ceramic.density = 2300.0f;
	FemMaterialId material = fem_material_create(world, &ceramic);
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemBodyDef def = fem_default_body_def();
	mesh.tet_plates = plates;
	mesh.quality_clamp = 0.0f;
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.dynamics = FEM_DYNAMICS_ELEMENTS;
	fem_box_mesh_free(&box);
	return fem_body_create(world, &def);
}

static double energy_of(FemBodyId body) {
	FemBodyState state = {0};
	FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
	return state.kinetic_energy + state.elastic_energy;
}

// What moves at random at up to 1 to 4.8 m/s. Fails when what rotation strains columns by is not seen, which rotate by
// a fraction of a radian in a step while the long edges of a cell hardly do: 305 J grew to 346, 554 to 864.
FEM_TEST(tall_cells, a_strut_that_whips_gains_no_energy) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = false;
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	double worst = 0.0;
	for (uint32_t seed = 1; seed <= 190; seed++) {
		FemWorldId world = fem_world_create(&def);
		FemBodyId body = add_strut(world);
		uint32_t random = seed;
		float speed = 1.0f + 0.02f * (float)seed;
		for (int32_t node = 0; node < 12; node++) {
			FemVec3 v = {speed * fem_random(&random), speed * fem_random(&random), speed * fem_random(&random)};
			FEM_CHECK_INT(fem_body_set_velocity(body, node, v), FEM_OK);
		}
		double before = energy_of(body), most = 0.0;
		for (int n = 0; n < 120; n++) {
			fem_world_step(world, 1.0f / 60.0f, 1);
			most = fmax(most, energy_of(body));
		}
		worst = fmax(worst, most / before);
		fem_world_destroy(world);
	}
	printf("  at most %.3f of the energy of the start\n", worst);
	FEM_CHECK(worst < 1.02);
}
