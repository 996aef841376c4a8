// Strain that bodies have from their making on: boards of two layers spring to a curve, or tear.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 1.0  // m
#define HEIGHT 0.05 // m

typedef struct Board {
	int32_t cells[3];
	bool has_plates; // its layers are cells of hexahedra
	float strain;    // of the lower half, along its length; the upper one has as much less
	float toughness; // Pa; 0: does not break
} Board;

static FemWorldId make_world(void) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	def.contacts_enabled = false;
	return fem_world_create(&def);
}

static FemBodyId add_board(FemWorldId world, const Board *board) {
	FemBoxMesh box = fem_box_mesh(board->cells[0], board->cells[1], board->cells[2],
		(FemVec3){(float)LENGTH, (float)HEIGHT, 0.1f}, FEM_CELLS_FIVE);
	FemMaterialId materials[2];
	FemMaterialDef material = fem_default_material_def();
	int32_t *regions = malloc(sizeof *regions * (size_t)box.tet_count);
	float *plates = malloc(sizeof *plates * (size_t)box.tet_count);
	material.young_modulus = 1e7f;
	material.poisson_ratio = 0.0f; // as beams have it
	material.stiffness_damping = 0.05f;
	material.breakable = board->toughness > 0.0f;
	material.toughness = board->toughness;
	for (int k = 0; k < 2; k++) {
		material.initial_strain = (FemVec3){k == 0 ? board->strain : -board->strain, 0.0f, 0.0f};
		materials[k] = fem_material_create(world, &material);
	}
	for (int32_t t = 0; t < box.tet_count; t++) {
		float y = 0.0f;
		for (int v = 0; v < 4; v++)
			y += 0.25f * box.positions[box.tets[4 * t + v]].y;
		regions[t] = y > (float)(0.5 * HEIGHT);
		plates[t] = 1.0f;
	}
	FemMeshDef mesh = fem_box_mesh_def(&box);
	mesh.tet_regions = regions;
	mesh.tet_plates = board->has_plates ? plates : NULL;
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = materials;
	def.material_count = 2;
	FemBodyId body = fem_body_create(world, &def);
	FEM_CHECK(fem_body_is_valid(body));
	free(regions);
	free(plates);
	fem_box_mesh_free(&box);
	return body;
}

// 1/m, of the circle through both ends and the middle of the lower edge.
static double curvature_of(FemBodyId body, const Board *board) {
	int32_t count = fem_body_get_node_count(body), plane = (board->cells[1] + 1) * (board->cells[2] + 1);
	FemVec3 *x = malloc(sizeof *x * (size_t)count);
	FemPosition origin;
	fem_body_get_positions(body, &origin, x, count);
	FemVec3 a = x[0], b = x[board->cells[0] / 2 * plane], c = x[board->cells[0] * plane];
	free(x);
	double ux = (double)(c.x - a.x), uy = (double)(c.y - a.y), vx = (double)(b.x - a.x), vy = (double)(b.y - a.y);
	double chord = sqrt(ux * ux + uy * uy), sag = (ux * vy - uy * vx) / chord;
	return 8.0 * sag / (chord * chord + 4.0 * sag * sag);
}

// Two layers of the same stuff that differ by D bend to 3 D / 2 h (Timoshenko 1925). Fails when tets, or cells, do not
// take the strain, and when it is of both halves. Plain tets lock in bending.
FEM_TEST(initial_strain, boards_spring_to_a_curve) {
	static const Board boards[] = {
		{{20, 4, 4}, false, 0.01f, 0.0f}, {{20, 2, 2}, true, 0.01f, 0.0f}, {{20, 2, 2}, true, -0.005f, 0.0f}};
	for (int n = 0; n < 3; n++) {
		FemWorldId world = make_world();
		FemBodyId body = add_board(world, &boards[n]);
		FEM_CHECK(fabs(curvature_of(body, &boards[n])) < 1e-4);
		fem_steps(world, 240);
		double theory = -1.5 * 2.0 * (double)boards[n].strain / HEIGHT, found = curvature_of(body, &boards[n]);
		printf("  %d x %d x %d cells%s: curvature %.4f, %.3f of theory\n", boards[n].cells[0], boards[n].cells[1],
			boards[n].cells[2], boards[n].has_plates ? " of hexahedra" : "", found, found / theory);
		FEM_CHECK(found / theory > (boards[n].has_plates ? 0.95 : 0.4) && found / theory < 1.05);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

// The strain goes with the body: a board that sprang is the same after a snapshot, bit by bit.
FEM_TEST(initial_strain, is_saved) {
	Board board = {{10, 2, 2}, true, 0.01f, 0.0f};
	FemWorldId world = make_world();
	FemBodyId body = add_board(world, &board);
	fem_steps(world, 20);
	size_t size = fem_world_save(world, NULL, 0);
	void *bytes = malloc(size);
	FEM_CHECK(fem_world_save(world, bytes, size) == size);
	fem_steps(world, 20);
	uint64_t hash = fem_world_hash(world);
	double bent = curvature_of(body, &board);
	FEM_CHECK(fabs(bent) > 0.3);
	FemWorldId restored = fem_world_restore(bytes, size, 0);
	fem_steps(restored, 20);
	FEM_CHECK(fem_world_hash(restored) == hash);
	free(bytes);
	fem_world_destroy(restored);
	fem_world_destroy(world);
}

// Layers whose strains differ by more than they bear come apart.
FEM_TEST(initial_strain, beyond_the_strength_it_tears) {
	for (int is_weak = 0; is_weak < 2; is_weak++) {
		Board board = {{20, 2, 2}, false, 0.01f, is_weak ? 5e3f : 5e6f};
		FemWorldId world = make_world();
		FemBodyId body = add_board(world, &board);
		fem_steps(world, 60);
		int32_t pieces = fem_body_get_pieces(body, NULL, 0);
		FEM_CHECK(is_weak ? pieces > 1 : pieces == 1);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

FEM_TEST(initial_strain, bad_input_is_refused_or_clamped) {
	FemWorldId world = make_world();
	FemMaterialDef material = fem_default_material_def();
	material.initial_strain.y = NAN;
	FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
	FEM_CHECK(strstr(fem_last_error(), "initial_strain") != NULL);
	material.initial_strain = (FemVec3){-7.0f, 1e30f, 0.1f};
	FEM_CHECK_INT(fem_material_get(fem_material_create(world, &material), &material), FEM_OK);
	FEM_CHECK(material.initial_strain.x == -0.5f && material.initial_strain.y == 0.5f);
	FEM_CHECK(material.initial_strain.z == 0.1f);
	Board board = {{10, 2, 2}, true, 0.5f, 0.0f};
	FemBodyId body = add_board(world, &board);
	fem_steps(world, 30);
	FEM_CHECK(isfinite(curvature_of(body, &board)));
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}
