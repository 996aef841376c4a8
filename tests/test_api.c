// Bad input to every public function: it answers, says why, and leaves the world as it was.
#include "cube_scene.h"
#include "fem_test.h"
#include "sentences.h"

#define CHECK_NULL(id) \
	do { \
		FEM_CHECK_INT((id).index1, 0); \
		FEM_CHECK(fem_has_sentence()); \
	} while (0)

static const FemVec3 zero3 = {0.0f, 0.0f, 0.0f};
static const FemPosition zero_position = {0.0, 0.0, 0.0};
static const FemQuat no_rotation = {0.0f, 0.0f, 0.0f, 1.0f};

// ---- bad ids

static void check_bad_world(FemWorldId world) {
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemStatistics statistics;
	const FemEvent *events;
	FemMeshDef mesh_def = fem_default_mesh_def();
	FemBodyDef body_def = fem_default_body_def();
	(void)world_def;
	FEM_CHECK(!fem_world_is_valid(world));
	CHECK_FAILS(fem_world_destroy(world), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_step(world, 0.01f, 1), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_step_begin(world, 0.01f, 1), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_step_end(world), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_set_gravity(world, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_set_worker_count(world, 2), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_set_ground(world, true, 0.0, 0.5f), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_set_sleeping(world, true), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_get_statistics(world, &statistics), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_validate(world), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_world_get_worker_count(world), 0);
	FEM_CHECK(fem_world_get_gravity(world).y == 0.0f);
	FEM_CHECK_INT(fem_world_get_events(world, &events), 0);
	FEM_CHECK_INT(fem_world_hash(world), 0);
	FEM_CHECK_INT(fem_world_save(world, NULL, 0), 0);
	FEM_CHECK_INT(fem_world_cast_ray(world, zero_position, zero3).body.index1, 0);
	FEM_CHECK_INT(fem_world_closest_point(world, zero_position, 1.0).body.index1, 0);
	FEM_CHECK_INT(fem_world_query_box(world, zero_position, zero_position, NULL, 0), 0);
	CHECK_NULL(fem_material_create(world, &material_def));
	CHECK_NULL(fem_mesh_create(world, &mesh_def));
	CHECK_NULL(fem_body_create(world, &body_def));
}

static void check_bad_body(FemBodyId body, FemMaterialId material) {
	FemBodyState state;
	FemTetState tet_state;
	FemPosition low, high;
	FemVec3 force;
	FEM_CHECK(!fem_body_is_valid(body));
	CHECK_FAILS(fem_body_destroy(body), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_get_bounds(body, &low, &high), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_get_state(body, &state), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_get_tet_state(body, 0, &tet_state), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_apply_force(body, 0, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_apply_force_at_point(body, zero3, zero_position), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_apply_impulse(body, 0, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_apply_impulse_at_point(body, zero3, zero_position), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_set_velocity(body, 0, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_add_velocity(body, zero3, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_set_node_position(body, 0, zero_position), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_teleport(body, zero_position, no_rotation), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_pin_node(body, 0), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_drive_node(body, 0, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_release_node(body, 0), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_get_reaction(body, 0, &force), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_set_kinematic(body, true), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_set_tet_material(body, 0, material), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_wake(body), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_body_sleep(body), FEM_ERROR_INVALID_ID);
	FEM_CHECK(!fem_body_is_asleep(body));
	FEM_CHECK_INT(fem_body_get_user_data(body), 0);
	FEM_CHECK_INT(fem_body_get_node_count(body), 0);
	FEM_CHECK_INT(fem_body_get_tet_count(body), 0);
	FEM_CHECK_INT(fem_body_get_tets(body, NULL, 0), 0);
	FEM_CHECK_INT(fem_body_get_surface(body, NULL, 0), 0);
	FEM_CHECK_INT(fem_body_get_positions(body, NULL, NULL, 0), 0);
	FEM_CHECK_INT(fem_body_get_velocities(body, NULL, 0), 0);
	FEM_CHECK(fem_body_get_shape(body, false, &(FemShape){0}) == NULL);
}

FEM_TEST(api, null_and_freed_worlds) {
	FemCubeScene scene = fem_cube_scene();
	check_bad_world((FemWorldId){0});
	check_bad_world((FemWorldId){scene.world.index1, (uint16_t)(scene.world.generation + 1)});
	check_bad_world((FemWorldId){65535, 1});
	fem_cube_scene_end(&scene);
	check_bad_world(scene.world);
	check_bad_body(scene.body, scene.material);
}

FEM_TEST(api, null_freed_and_foreign_bodies) {
	FemCubeScene scene = fem_cube_scene();
	FemBodyId second = fem_cube_scene_add(&scene);
	FEM_CHECK_INT(fem_body_destroy(second), FEM_OK);
	check_bad_body((FemBodyId){0}, scene.material);
	check_bad_body(second, scene.material);
	check_bad_body((FemBodyId){scene.body.index1, 63, scene.body.generation}, scene.material);
	check_bad_body((FemBodyId){scene.body.index1, 65535, scene.body.generation}, scene.material);
	check_bad_body((FemBodyId){INT32_MAX, scene.body.world0, scene.body.generation}, scene.material);
	check_bad_body((FemBodyId){-5, scene.body.world0, scene.body.generation}, scene.material);
	FemBodyId third = fem_cube_scene_add(&scene); // takes the slot of the second
	FEM_CHECK_INT(third.index1, second.index1);
	FEM_CHECK(!fem_body_is_valid(second) && fem_body_is_valid(third));
	fem_cube_scene_end(&scene);
}

FEM_TEST(api, ids_do_not_pass_between_worlds) {
	FemCubeScene a = fem_cube_scene(), b = fem_cube_scene();
	FemCubeScene mixed = b;
	mixed.mesh = a.mesh;
	CHECK_NULL(fem_cube_scene_add(&mixed));
	mixed = b;
	mixed.material = a.material;
	CHECK_NULL(fem_cube_scene_add(&mixed));
	CHECK_FAILS(fem_body_set_tet_material(b.body, 0, a.material), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_world_validate(b.world), FEM_OK);
	fem_world_destroy(b.world);
	fem_cube_scene_end(&a);
}

FEM_TEST(api, things_in_use_are_kept) {
	FemCubeScene scene = fem_cube_scene();
	CHECK_FAILS(fem_mesh_destroy(scene.mesh), FEM_ERROR_IN_USE);
	CHECK_FAILS(fem_material_destroy(scene.material), FEM_ERROR_IN_USE);
	FEM_CHECK_INT(fem_body_destroy(scene.body), FEM_OK);
	FEM_CHECK_INT(fem_mesh_destroy(scene.mesh), FEM_OK);
	FEM_CHECK_INT(fem_material_destroy(scene.material), FEM_OK);
	CHECK_FAILS(fem_mesh_destroy(scene.mesh), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_material_destroy(scene.material), FEM_ERROR_INVALID_ID);
	FEM_CHECK(!fem_mesh_is_valid(scene.mesh) && !fem_material_is_valid(scene.material));
	fem_cube_scene_end(&scene);
}

// ---- defs

FEM_TEST(api, world_defs) {
	FemWorldDef good = fem_default_world_def(), bad;
	FemWorldDef zeroed = {0};
	CHECK_NULL(fem_world_create(NULL));
	CHECK_NULL(fem_world_create(&zeroed));
	bad = good, bad.gravity.x = NAN;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.gravity.y = -INFINITY;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.sleep_speed = -1.0f;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.wake_force_factor = NAN;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.node_speed_max = 0.0f;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.solver_tolerance = 0.0f;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.ground_height = (double)NAN;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.ground_friction = -0.1f;
	CHECK_NULL(fem_world_create(&bad));
	bad = good, bad.worker_count = 0;
	FemWorldId world = fem_world_create(&bad);
	FEM_CHECK_INT(fem_world_get_worker_count(world), 1);
	FEM_CHECK_INT(fem_world_set_worker_count(world, -7), FEM_OK);
	FEM_CHECK_INT(fem_world_get_worker_count(world), 1);
	fem_world_destroy(world);
}

// A game waits for its step: a processor held back on a small machine would idle.
FEM_TEST(api, default_workers_for_processors) {
	static const int32_t expected[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 4}, {6, 5}, {8, 7}, {16, 15}, {64, 63},
		{65, 64}, {128, 64}, {0, 1}, {-3, 1}, {INT32_MAX, 64}, {INT32_MIN, 1}};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		FEM_CHECK_INT(fem_default_worker_count(expected[i][0]), expected[i][1]);
}

FEM_TEST(api, at_most_64_worlds) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId worlds[65];
	int64_t before = fem_memory_bytes();
	for (int i = 0; i < 64; i++)
		worlds[i] = fem_world_create(&def);
	FEM_CHECK(fem_world_is_valid(worlds[63]));
	worlds[64] = fem_world_create(&def);
	CHECK_NULL(worlds[64]);
	for (int i = 0; i < 64; i++)
		FEM_CHECK_INT(fem_world_destroy(worlds[i]), FEM_OK);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

static void check_bad_material(const FemCubeScene *scene, const FemMaterialDef *bad) {
	CHECK_NULL(fem_material_create(scene->world, bad));
	CHECK_FAILS(fem_material_set(scene->material, bad), FEM_ERROR_INVALID_ARGUMENT);
}

FEM_TEST(api, material_defs) {
	FemCubeScene scene = fem_cube_scene();
	FemMaterialDef good = fem_default_material_def(), bad = {0}, kept;
	check_bad_material(&scene, NULL);
	check_bad_material(&scene, &bad);
	bad = good, bad.young_modulus = NAN;
	check_bad_material(&scene, &bad);
	bad = good, bad.young_modulus = -1.0f;
	check_bad_material(&scene, &bad);
	bad = good, bad.density = 0.0f;
	check_bad_material(&scene, &bad);
	bad = good, bad.density = INFINITY;
	check_bad_material(&scene, &bad);
	bad = good, bad.poisson_ratio = NAN;
	check_bad_material(&scene, &bad);
	bad = good, bad.stiffness_damping = -1.0f;
	check_bad_material(&scene, &bad);
	bad = good, bad.mass_damping = NAN;
	check_bad_material(&scene, &bad);
	bad = good, bad.plasticity = (FemPlasticity)7;
	check_bad_material(&scene, &bad);
	bad = good, bad.yield_strain = -0.1f;
	check_bad_material(&scene, &bad);
	bad = good, bad.creep_rate = INFINITY;
	check_bad_material(&scene, &bad);
	bad = good, bad.max_plastic_strain = NAN;
	check_bad_material(&scene, &bad);
	FEM_CHECK_INT(fem_material_get(scene.material, &kept), FEM_OK);
	FEM_CHECK(kept.young_modulus == good.young_modulus);
	CHECK_FAILS(fem_material_get(scene.material, NULL), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_material_get((FemMaterialId){0}, &kept), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_material_set((FemMaterialId){0}, &good), FEM_ERROR_INVALID_ID);
	bad = good, bad.poisson_ratio = 0.7f;
	FEM_CHECK_INT(fem_material_set(scene.material, &bad), FEM_OK);
	fem_material_get(scene.material, &kept);
	FEM_CHECK_NEAR(kept.poisson_ratio, 0.49, 1e-6); // clamped, as documented
	fem_cube_scene_end(&scene);
}

// A fresh copy of a box mesh that a test may spoil.
typedef struct SpoiledMesh {
	FemBoxMesh box;
	FemMeshDef def;
} SpoiledMesh;

static SpoiledMesh start_spoiling(void) {
	SpoiledMesh mesh = {.box = fem_box_mesh(2, 1, 1, (FemVec3){2.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE)};
	mesh.def = fem_box_mesh_def(&mesh.box);
	return mesh;
}

static void check_spoiled(const FemCubeScene *scene, SpoiledMesh *mesh, const char *word) {
	int64_t before = fem_memory_bytes();
	CHECK_NULL(fem_mesh_create(scene->world, &mesh->def));
	fem_test_check(
		strstr(fem_last_error(), word) != NULL, __FILE__, __LINE__, "\"%s\" not in: %s", word, fem_last_error());
	FEM_CHECK_INT(fem_memory_bytes(), before);
	fem_box_mesh_free(&mesh->box);
}

FEM_TEST(api, mesh_defs) {
	FemCubeScene scene = fem_cube_scene();
	FemMeshDef zeroed = {0};
	CHECK_NULL(fem_mesh_create(scene.world, NULL));
	CHECK_NULL(fem_mesh_create(scene.world, &zeroed));
	SpoiledMesh mesh = start_spoiling();
	mesh.def.node_positions = NULL;
	check_spoiled(&scene, &mesh, "node_positions");
	mesh = start_spoiling(), mesh.def.tets = NULL;
	check_spoiled(&scene, &mesh, "tets");
	mesh = start_spoiling(), mesh.def.node_count = -1;
	check_spoiled(&scene, &mesh, "at least");
	mesh = start_spoiling(), mesh.def.tet_count = 0;
	check_spoiled(&scene, &mesh, "at least");
	mesh = start_spoiling(), mesh.def.tet_count = INT32_MAX;
	check_spoiled(&scene, &mesh, "at most");
	mesh = start_spoiling(), mesh.def.node_count = INT32_MAX;
	check_spoiled(&scene, &mesh, "at most");
	mesh = start_spoiling(), mesh.def.quality_clamp = NAN;
	check_spoiled(&scene, &mesh, "quality_clamp");
	mesh = start_spoiling(), mesh.box.positions[3].y = NAN;
	check_spoiled(&scene, &mesh, "Node 3");
	mesh = start_spoiling(), mesh.box.positions[3].y = 1e30f;
	check_spoiled(&scene, &mesh, "Node 3");
	mesh = start_spoiling(), mesh.box.tets[4 * 7 + 2] = 12;
	check_spoiled(&scene, &mesh, "Tet 7");
	mesh = start_spoiling(), mesh.box.tets[4 * 2] = -1;
	check_spoiled(&scene, &mesh, "Tet 2");
	mesh = start_spoiling(), mesh.box.tets[5] = mesh.box.tets[4];
	check_spoiled(&scene, &mesh, "no volume");
	mesh = start_spoiling();
	for (int i = 0; i < mesh.box.node_count; i++)
		mesh.box.positions[i].z = 0.0f;
	check_spoiled(&scene, &mesh, "no volume");
	fem_cube_scene_end(&scene);
}

FEM_TEST(api, mesh_duplicates_and_strays) {
	FemCubeScene scene = fem_cube_scene();
	SpoiledMesh mesh = start_spoiling();
	int32_t inverted[4] = {mesh.box.tets[1], mesh.box.tets[0], mesh.box.tets[3], mesh.box.tets[2]};
	memcpy(mesh.box.tets + 4 * 9, inverted, sizeof inverted);
	check_spoiled(&scene, &mesh, "same nodes");
	mesh = start_spoiling(), mesh.def.tet_count = 5; // the first cell alone: the far nodes dangle
	check_spoiled(&scene, &mesh, "no tet");
	int32_t regions[10] = {0};
	float plates[10] = {0};
	mesh = start_spoiling(), mesh.def.tet_regions = regions, regions[4] = 256;
	check_spoiled(&scene, &mesh, "Tet 4");
	mesh = start_spoiling(), mesh.def.tet_plates = plates, plates[6] = NAN;
	check_spoiled(&scene, &mesh, "Tet 6");
	fem_cube_scene_end(&scene);
}

// A turned-round tet is turned back, and what users read has positive volume.
FEM_TEST(api, inverted_tets_are_flipped) {
	FemCubeScene scene = fem_cube_scene();
	SpoiledMesh mesh = start_spoiling();
	for (int t = 0; t < mesh.box.tet_count; t += 2) {
		int32_t *tet = mesh.box.tets + 4 * t, first = tet[0];
		tet[0] = tet[1];
		tet[1] = first;
	}
	scene.mesh = fem_mesh_create(scene.world, &mesh.def);
	FemBodyId body = fem_cube_scene_add(&scene);
	FEM_REQUIRE(fem_body_is_valid(body));
	FemBodyState state;
	FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
	FEM_CHECK_NEAR(state.mass, 2000.0, 1e-2);
	FEM_CHECK_NEAR(state.max_strain, 0.0, 1e-6);
	int32_t tets[40];
	FEM_CHECK_INT(fem_body_get_tets(body, tets, 10), fem_body_get_tet_count(body));
	FEM_CHECK_INT(tets[0], mesh.box.tets[0]);
	FEM_CHECK_INT(tets[2], mesh.box.tets[3]);
	fem_box_mesh_free(&mesh.box);
	fem_cube_scene_end(&scene);
}

static void check_bad_body_def(const FemCubeScene *scene, const FemBodyDef *def) {
	int64_t before = fem_memory_bytes();
	CHECK_NULL(fem_body_create(scene->world, def));
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(api, body_defs) {
	FemCubeScene scene = fem_cube_scene();
	FemBodyDef good = fem_default_body_def(), bad = {0};
	int32_t pins[2] = {0, 27};
	good.mesh = scene.mesh;
	good.materials = &scene.material;
	good.material_count = 1;
	check_bad_body_def(&scene, NULL);
	check_bad_body_def(&scene, &bad);
	bad = good, bad.mesh = (FemMeshId){0};
	check_bad_body_def(&scene, &bad);
	bad = good, bad.materials = NULL;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.material_count = 0;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.position.x = (double)INFINITY;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.position.y = 1e12;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.rotation = (FemQuat){0.0f, 0.0f, 0.0f, 0.0f};
	check_bad_body_def(&scene, &bad);
	bad = good, bad.rotation.x = NAN;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.scale.y = 0.0f;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.scale.z = -1.0f;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.scale = (FemVec3){1e6f, 1e-6f, 1e6f}; // a valid scale, but edges of 500 km
	bad.scale.x = NAN;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.scale = (FemVec3){1e-6f, 1e-6f, 1e-6f}, bad.scale.x = 1e-7f;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.linear_velocity.z = NAN;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.angular_velocity.z = INFINITY;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.pinned_nodes = pins, bad.pinned_count = 2; // node 27 of 27
	check_bad_body_def(&scene, &bad);
	bad = good, bad.pinned_count = 1;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.pinned_nodes = pins, bad.pinned_count = -1;
	check_bad_body_def(&scene, &bad);
	bad = good, bad.pinned_nodes = pins, bad.pinned_count = INT32_MAX;
	check_bad_body_def(&scene, &bad);
	fem_cube_scene_end(&scene);
}

// ---- arguments

FEM_TEST(api, node_calls) {
	FemCubeScene scene = fem_cube_scene();
	const FemVec3 bad_vectors[] = {{NAN, 0.0f, 0.0f}, {0.0f, INFINITY, 0.0f}, {0.0f, 0.0f, -INFINITY}};
	const int32_t bad_nodes[] = {-1, 27, INT32_MAX, INT32_MIN};
	uint64_t hash = fem_world_hash(scene.world);
	for (int i = 0; i < 3; i++) {
		CHECK_FAILS(fem_body_apply_force(scene.body, 0, bad_vectors[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_apply_impulse(scene.body, 0, bad_vectors[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_set_velocity(scene.body, 0, bad_vectors[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_drive_node(scene.body, 0, bad_vectors[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_add_velocity(scene.body, bad_vectors[i], zero3), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_add_velocity(scene.body, zero3, bad_vectors[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(
			fem_body_apply_force_at_point(scene.body, bad_vectors[i], zero_position), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(
			fem_body_apply_impulse_at_point(scene.body, bad_vectors[i], zero_position), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_world_set_gravity(scene.world, bad_vectors[i]), FEM_ERROR_INVALID_ARGUMENT);
	}
	for (int i = 0; i < 4; i++) {
		FemVec3 force;
		CHECK_FAILS(fem_body_apply_force(scene.body, bad_nodes[i], zero3), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_apply_impulse(scene.body, bad_nodes[i], zero3), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_set_velocity(scene.body, bad_nodes[i], zero3), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_set_node_position(scene.body, bad_nodes[i], zero_position), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_pin_node(scene.body, bad_nodes[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_drive_node(scene.body, bad_nodes[i], zero3), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_release_node(scene.body, bad_nodes[i]), FEM_ERROR_INVALID_ARGUMENT);
		CHECK_FAILS(fem_body_get_reaction(scene.body, bad_nodes[i], &force), FEM_ERROR_INVALID_ARGUMENT);
	}
	FEM_CHECK(fem_world_hash(scene.world) == hash); // nothing above changed anything
	fem_cube_scene_end(&scene);
}

FEM_TEST(api, places_and_pointers) {
	FemCubeScene scene = fem_cube_scene();
	FemPosition bad_place = {0.0, (double)NAN, 0.0}, far_place = {1e15, 0.0, 0.0}, low;
	FemTetState tet_state;
	uint64_t hash = fem_world_hash(scene.world);
	CHECK_FAILS(fem_body_set_node_position(scene.body, 0, bad_place), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_set_node_position(scene.body, 0, far_place), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_teleport(scene.body, bad_place, no_rotation), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(
		fem_body_teleport(scene.body, zero_position, (FemQuat){NAN, 0.0f, 0.0f, 1.0f}), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(
		fem_body_teleport(scene.body, zero_position, (FemQuat){0.0f, 0.0f, 0.0f, 0.0f}), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_apply_force_at_point(scene.body, zero3, bad_place), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_apply_impulse_at_point(scene.body, zero3, far_place), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_get_state(scene.body, NULL), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_get_bounds(scene.body, &low, NULL), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_get_reaction(scene.body, 0, NULL), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_get_tet_state(scene.body, 40, &tet_state), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_get_tet_state(scene.body, -1, &tet_state), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_get_tet_state(scene.body, 0, NULL), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_set_tet_material(scene.body, 40, scene.material), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_body_set_tet_material(scene.body, 0, (FemMaterialId){0}), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_world_get_statistics(scene.world, NULL), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_world_set_ground(scene.world, true, (double)NAN, 0.5f), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_world_set_ground(scene.world, true, 0.0, NAN), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_positions(scene.body, NULL, NULL, 100), 27);
	FEM_CHECK_INT(fem_body_get_tets(scene.body, NULL, 100), 40);
	FEM_CHECK_INT(fem_body_get_velocities(scene.body, NULL, -3), 27);
	FEM_CHECK_INT(fem_world_get_events(scene.world, NULL), 0);
	FEM_CHECK(fem_world_hash(scene.world) == hash);
	fem_cube_scene_end(&scene);
}

FEM_TEST(api, steps_of_any_length) {
	FemCubeScene scene = fem_cube_scene();
	uint64_t hash = fem_world_hash(scene.world);
	CHECK_FAILS(fem_world_step(scene.world, 0.0f, 1), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_step(scene.world, -1.0f, 1), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_step(scene.world, NAN, 1), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_step(scene.world, INFINITY, 1), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_step_end(scene.world), FEM_STEP_BAD_WORLD);
	CHECK_FAILS(fem_world_step_begin(scene.world, NAN, 1), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK(fem_world_hash(scene.world) == hash);
	FEM_CHECK_INT(fem_world_step(scene.world, 1e-30f, 1) & FEM_STEP_BODY_ROLLED_BACK, 0);
	FEM_CHECK_INT(fem_world_step(scene.world, 1e30f, -5) & FEM_STEP_BODY_ROLLED_BACK, 0);
	FEM_CHECK_INT(fem_world_step(scene.world, 0.01f, 1000000) & FEM_STEP_BODY_ROLLED_BACK, 0);
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(scene.world, &statistics), FEM_OK);
	FEM_CHECK_INT(statistics.step_count, 2 + 64);
	fem_cube_scene_end(&scene);
}

// Between begin and end all but the [any time] functions refuse.
static void check_refused_while_stepping(const FemCubeScene *scene) {
	FemMaterialDef material_def = fem_default_material_def();
	FemBodyState state;
	FEM_CHECK_INT(fem_world_step_begin(scene->world, 0.01f, 1), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_world_step(scene->world, 0.01f, 1), FEM_STEP_BAD_WORLD);
	FEM_CHECK_INT(fem_world_set_gravity(scene->world, zero3), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_world_set_worker_count(scene->world, 3), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_world_set_sleeping(scene->world, false), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_world_validate(scene->world), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_world_save(scene->world, NULL, 0), 0);
	FEM_CHECK_INT(fem_body_destroy(scene->body), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_body_apply_force(scene->body, 0, zero3), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_body_get_state(scene->body, &state), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_body_wake(scene->body), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_body_get_tets(scene->body, NULL, 0), 0);
	FEM_CHECK_INT(fem_body_get_surface(scene->body, NULL, 0), 0);
	FEM_CHECK_INT(fem_body_teleport(scene->body, zero_position, no_rotation), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_material_set(scene->material, &material_def), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_mesh_destroy(scene->mesh), FEM_ERROR_STEPPING);
	CHECK_NULL(fem_material_create(scene->world, &material_def));
	CHECK_NULL(fem_cube_scene_add(scene));
	FEM_CHECK_INT(
		fem_world_cast_ray(scene->world, (FemPosition){0.5, 5.0, 0.5}, (FemVec3){0.0f, -9.0f, 0.0f}).body.index1, 0);
}

FEM_TEST(api, while_a_step_is_under_way) {
	FemCubeScene scene = fem_cube_scene();
	for (int workers = 1; workers <= 2; workers++) {
		FemPosition low, high;
		FemStatistics statistics;
		FEM_CHECK_INT(fem_world_set_worker_count(scene.world, workers), FEM_OK);
		FEM_CHECK_INT(fem_world_step_begin(scene.world, 0.01f, 2), FEM_OK);
		check_refused_while_stepping(&scene);
		FEM_CHECK_INT(fem_body_get_node_count(scene.body), 27);
		FEM_CHECK_INT(fem_body_get_tet_count(scene.body), 40);
		FEM_CHECK_INT(fem_body_get_bounds(scene.body, &low, &high), FEM_OK);
		FEM_CHECK(fem_body_get_shape(scene.body, false, &(FemShape){0}) != NULL);
		FEM_CHECK(!fem_body_is_asleep(scene.body));
		FEM_CHECK_INT(fem_world_get_statistics(scene.world, &statistics), FEM_OK);
		FEM_CHECK_INT(statistics.step_count, 2 * (workers - 1));
		FEM_CHECK_INT(fem_world_step_end(scene.world) & FEM_STEP_BAD_WORLD, 0);
	}
	FEM_CHECK_INT(fem_world_step_begin(scene.world, 0.01f, 1), FEM_OK); // destroying finishes it
	FEM_CHECK_INT(fem_world_destroy(scene.world), FEM_OK);
	FEM_CHECK_INT(fem_memory_bytes(), scene.bytes_before);
}
