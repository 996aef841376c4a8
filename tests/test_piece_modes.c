// Modes of pieces of bodies (suite `piece_modes`): the same as of the mesh, and of what is left of it after a break.
#include "fem_modes.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"

#include <stdlib.h>

static FemBodyId make_body(FemWorldId world, const FemBoxMesh *mesh, float scale, bool pinned) {
	FemMaterialDef material = fem_default_material_def();
	material.young_modulus = 7e9f;
	material.poisson_ratio = 0.2f;
	material.density = 2400.0f;
	material.breakable = true;
	material.toughness = 1e9f;
	FemMaterialId id = fem_material_create(world, &material);
	FemMeshDef mesh_def = fem_box_mesh_def(mesh);
	FemBodyDef def = fem_default_body_def();
	const int32_t pins[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	def.mesh = fem_mesh_create(world, &mesh_def);
	def.materials = &id;
	def.material_count = 1;
	def.scale = (FemVec3){scale, scale, scale};
	def.pinned_nodes = pinned ? pins : NULL;
	def.pinned_count = pinned ? 9 : 0;
	return fem_body_create(world, &def);
}

static FemModes piece_modes(FemBodyId body, FemPieceNumber piece, int32_t count) {
	FemModes modes = {0};
	FemModesDef def = fem_default_modes_def();
	def.mode_count = count;
	def.frequency_max = 0.0f;
	FemModesJob *job = fem_body_start_modes(body, piece, &def);
	if (FEM_CHECK(job))
		FEM_CHECK_INT(fem_modes_finish(job, &modes), FEM_OK);
	return modes;
}

static FemModes mesh_modes(const FemBoxMesh *mesh, int32_t count) {
	const FemModeMaterial material = {7e9f, 0.2f, 2400.0f};
	FemModes modes = {0};
	FemModesDef def = fem_default_modes_def();
	def.node_count = mesh->node_count;
	def.node_positions = mesh->positions;
	def.tet_count = mesh->tet_count;
	def.tets = mesh->tets;
	def.materials = &material;
	def.material_count = 1;
	def.mode_count = count;
	def.frequency_max = 0.0f;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_OK);
	return modes;
}

FEM_TEST(piece_modes, of_a_whole_body_are_those_of_its_mesh) {
	FemBoxMesh mesh = fem_box_mesh(8, 2, 2, (FemVec3){1.0f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemWorldDef world_def = fem_default_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemBodyId body = make_body(world, &mesh, 2.0f, false);
	FemModes expected = mesh_modes(&mesh, 6), modes = piece_modes(body, 1, 6);
	FEM_REQUIRE(modes.mode_count == 6 && modes.node_count == mesh.node_count);
	FEM_CHECK_INT(modes.rigid_count, 6);
	FEM_CHECK_INT(fem_modes_scale(&expected, 1.0f, 1.0f, 2.0f), FEM_OK);
	int32_t *nodes = malloc(sizeof *nodes * (size_t)mesh.node_count);
	FEM_CHECK_INT(fem_body_get_piece_nodes(body, 1, nodes, mesh.node_count), mesh.node_count);
	for (int k = 0; k < 6; k++)
		FEM_CHECK_NEAR(
			fem_mode_frequency(&modes, k), fem_mode_frequency(&expected, k), 1e-4 * fem_mode_frequency(&expected, k));
	// Node by node, of one that is alone at its frequency.
	size_t alone = 0, entries = 3 * (size_t)mesh.node_count;
	for (int k = 1; k < 5 && alone == 0; k++) {
		if (fem_mode_frequency(&modes, k - 1) < 0.99 * fem_mode_frequency(&modes, k) &&
			fem_mode_frequency(&modes, k) < 0.99 * fem_mode_frequency(&modes, k + 1))
			alone = (size_t)k;
	}
	FEM_CHECK(alone > 0);
	double sign = 0.0, off = 0.0, size = 0.0;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 3 * mesh.node_count; i++) {
			double a = (double)modes.shapes[alone * entries + (size_t)i];
			double b = (double)expected.shapes[alone * entries + (size_t)(3 * nodes[i / 3] + i % 3)];
			sign += pass == 0 ? a * b : 0.0;
			off += pass == 1 ? fabs(a - copysign(1.0, sign) * b) : 0.0;
			size += pass == 1 ? fabs(b) : 0.0;
		}
	}
	FEM_CHECK(size > 0.0 && off < 1e-3 * size);
	fem_modes_free(&modes);
	fem_modes_free(&expected);
	free(nodes);
	FemModesDef def = fem_default_modes_def();
	FEM_CHECK(!fem_body_start_modes(body, 77, &def) && !fem_body_start_modes((FemBodyId){0}, 1, &def));
	FEM_CHECK(!fem_body_start_modes(body, 1, NULL));
	FEM_CHECK_INT(fem_body_get_piece_nodes(body, 77, NULL, 0), 0);
	fem_world_destroy(world);
	fem_box_mesh_free(&mesh);
}

FEM_TEST(piece_modes, know_pins_and_what_broke_off) {
	FemBoxMesh one = fem_box_mesh(6, 2, 2, (FemVec3){0.6f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemBoxMesh two = fem_box_mesh_row(&one, 2, (FemVec3){1.0f, 0.0f, 0.0f});
	FemWorldDef world_def = fem_default_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemBodyId body = make_body(world, &two, 1.0f, true);
	FemModes expected = mesh_modes(&one, 4), held = piece_modes(body, 1, 4), loose = piece_modes(body, 2, 4);
	FEM_REQUIRE(held.mode_count == 4 && loose.mode_count == 4);
	FEM_CHECK_INT(held.rigid_count, 0);
	FEM_CHECK_INT(loose.rigid_count, 6);
	FEM_CHECK_INT(loose.node_count, one.node_count);
	for (int k = 0; k < 4; k++)
		FEM_CHECK_NEAR(
			fem_mode_frequency(&loose, k), fem_mode_frequency(&expected, k), 1e-4 * fem_mode_frequency(&expected, k));
	FEM_CHECK(fem_mode_frequency(&held, 0) < 0.5 * fem_mode_frequency(&loose, 0)); // clamped: 0.52 / 3.33
	fem_modes_free(&expected);
	fem_modes_free(&held);
	fem_modes_free(&loose);
	fem_world_destroy(world);
	fem_box_mesh_free(&one);
	fem_box_mesh_free(&two);
}
