// Impulses on single nodes and points, whatever the mesh.
#include "base/vec.h"
#include "contact_rig.h"
#include "fem_test.h"
#include "preset_rig.h"
#include "scenes/filled_mesh.h"
#include "scenes/rig.h"
#include "theory_rig.h"
#include "things_rig.h"

static FemRig cube_of(int32_t n) {
	FemRigDef def = fem_rig_cube_def(n, 1.0f);
	def.material.density = 1000.0f;
	return fem_rig_create(&def);
}

// 4,000 N s at a cube of 1 t give it 4 m/s. Fails when the speed of the node it is given to is cut: a node of the
// finest mesh has 0.1 to 0.5 kg and would go at 8,000 m/s and more.
FEM_TEST(impulses, are_kept_on_fine_meshes) {
	static const int32_t cells[] = {2, 6, 12};
	for (int i = 0; i < 3; i++) {
		for (int at_point = 0; at_point < 2; at_point++) {
			FemRig rig = cube_of(cells[i]);
			FEM_REQUIRE(fem_body_is_valid(rig.body));
			FemVec3 impulse = {4000.0f, 0.0f, 0.0f};
			FemPosition corner = {0.0, 0.01, 0.02};
			FEM_CHECK_INT(at_point ? fem_body_apply_impulse_at_point(rig.body, impulse, corner)
								   : fem_body_apply_impulse(rig.body, 0, impulse),
				FEM_OK);
			FEM_CHECK_NEAR(fem_state_of(rig.body).linear_momentum.x, 4000.0, 4.0);
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
			FEM_CHECK_NEAR(fem_state_of(rig.body).linear_momentum.x, 4000.0, 40.0);
			fem_rig_destroy(&rig);
		}
	}
}

// What no mass of the body could take is cut as every speed is, and pinned nodes take nothing.
FEM_TEST(impulses, beyond_the_whole_body_are_cut) {
	FemRig rig = cube_of(3);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	float most = fem_default_world_def().node_speed_max;
	fem_body_pin_node(rig.body, 1);
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, 0, (FemVec3){1e9f, 0.0f, 0.0f}), FEM_OK);
	fem_rig_read(&rig);
	for (int32_t i = 0; i < rig.box.node_count; i++)
		FEM_CHECK_NEAR(rig.velocities[i].x, i == 1 ? 0.0f : most, 1.0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- as blows

static const double rates[] = {60.0, 30.0, 120.0};

// By a point in its middle, or a blast from 0.6 m; without gravity.
static FemThingResult struck(
	const FemTetMesh *tets, const FemMaterialDef *material, const FemThingScene *blow, double strength, double hz) {
	FemThingScene scene = *blow;
	scene.tets = tets;
	scene.material = *material;
	scene.has_no_gravity = true;
	scene.hz = hz;
	scene.seconds = 0.2;
	scene.impulse = fem_vec3_scale(blow->impulse, (float)strength);
	scene.blast = blow->blast * (float)strength;
	return fem_thing_run(&scene);
}

// Whole of the weak, broken by the strong, by as many pieces at any rate.
static void check_struck(const char *name, const FemTetMesh *tets, const FemMaterialDef *material,
	const FemThingScene *blow, double weak, double strong) {
	int32_t pieces[3];
	for (int r = 0; r < (fem_long_tests() ? 3 : 2); r++) {
		FemThingResult low = struck(tets, material, blow, weak, rates[r]),
					   high = struck(tets, material, blow, strong, rates[r]);
		pieces[r] = high.pieces;
		printf("  %s, %d tets, %.0f Hz: %d pieces of %g, %d of %g, the fastest %.0f m/s\n", name, tets->tet_count,
			rates[r], low.pieces, weak, high.pieces, strong, high.fastest);
		FEM_CHECK(low.pieces == 1 && high.pieces > 1 && high.fastest < 60.0);
		FEM_CHECK(pieces[r] < 1.5 * pieces[0] && pieces[0] < 1.5 * pieces[r]);
	}
}

// Fails when the momentum stays with the nodes that it is given to: more breaks the longer a step is, and chips fly off
// at 200 m/s; and when what strikes is slow.
FEM_TEST(impulses, break_things_alike_on_any_mesh_and_at_any_rate) {
	static const int32_t sizes[] = {700, 300, 1500};
	FemPreset ceramic, stone;
	FEM_REQUIRE(fem_preset_load("ceramic", &ceramic) && fem_preset_load("stone", &stone));
	for (int m = 0; m < (fem_long_tests() ? 3 : 2); m++) {
		FemTetMesh vase = fem_thing_vase(sizes[m]), block = fem_thing_box((FemVec3){0.3f, 0.1f, 0.3f}, sizes[m] / 2);
		FemThingScene at_vase = {.height = -1.0, .impulse = {1.0f, 0.0f, 0.0f}, .impulse_at = {-0.09, 0.15, 0.0}},
					  at_block = {.height = -1.0, .impulse = {0.0f, 1.0f, 0.0f}, .impulse_at = {0.03, -0.05, 0.02}},
					  blast = {.height = -1.0, .blast = 1.0f, .blast_at = {-0.69, 0.15, 0.0}};
		at_vase.rotation = at_block.rotation = blast.rotation = (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
		check_struck("a vase at a point", &vase, &ceramic.def, &at_vase, 0.3, 4.0);
		check_struck("a block at a point", &block, &stone.def, &at_block, 10.0, 128.0);
		check_struck("a vase by a blast", &vase, &ceramic.def, &blast, 64.0, 400.0);
		// Fails when what strikes is slower than what it makes of the vase: it flies off whole.
		FEM_CHECK(struck(&vase, &ceramic.def, &blast, 65536.0, 60.0).pieces > 40);
		fem_tet_mesh_free(&vase);
		fem_tet_mesh_free(&block);
	}
}

// A blow takes no part of an impulse away, and adds none. Fails when what waves took into the piece is not what the
// nodes had.
FEM_TEST(impulses, are_kept_by_what_they_break) {
	FemPreset ceramic;
	FEM_REQUIRE(fem_preset_load("ceramic", &ceramic));
	FemTetMesh vase = fem_thing_vase(700);
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	FemMaterialId material = fem_material_create(world, &ceramic.def);
	FemMeshDef mesh = fem_filled_mesh_def(&vase);
	FemBodyDef body_def = fem_default_body_def();
	body_def.mesh = fem_mesh_create(world, &mesh);
	body_def.materials = &material;
	body_def.material_count = 1;
	FemBodyId body = fem_body_create(world, &body_def);
	for (int n = 0; n < 12; n++) {
		if (n == 2)
			fem_body_apply_impulse_at_point(body, (FemVec3){4.0f, 0.0f, 1.0f}, (FemPosition){-0.09, 0.15, 0.0});
		fem_world_step(world, 1.0f / 60.0f, 1);
	}
	FemBodyState state = fem_state_of(body);
	printf("  %d pieces, %.4f and %.4f N s\n", fem_body_get_pieces(body, NULL, 0), (double)state.linear_momentum.x,
		(double)state.linear_momentum.z);
	FEM_CHECK(fem_body_get_pieces(body, NULL, 0) > 1);
	FEM_CHECK_NEAR(state.linear_momentum.x, 4.0, 0.02);
	FEM_CHECK_NEAR(state.linear_momentum.z, 1.0, 0.02);
	fem_world_destroy(world);
	fem_tet_mesh_free(&vase);
}
