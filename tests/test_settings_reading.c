// Every setter has a getter that tells what was set; ids are compared; what no other test calls of the API.
#include "cube_scene.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "splinter_rig.h"

#include <math.h>
#include <string.h>

static const FemVec3 up = {1.0f, 2.0f, 3.0f};
static const FemQuat quarter = {0.0f, 0.70710678f, 0.0f, 0.70710678f};

FEM_TEST(settings, ids_are_null_or_equal) {
	FemCubeScene scene = fem_cube_scene();
	FemBodyId other = fem_cube_scene_add(&scene);
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_SPHERE;
	def.shape.radius = 1.0f;
	def.position.x = 9.0;
	FemColliderId collider = fem_collider_create(scene.world, &def);
	FEM_CHECK(!fem_world_id_is_null(scene.world) && fem_world_id_is_null((FemWorldId){0}));
	FEM_CHECK(!fem_mesh_id_is_null(scene.mesh) && fem_mesh_id_is_null((FemMeshId){0}));
	FEM_CHECK(!fem_material_id_is_null(scene.material) && fem_material_id_is_null((FemMaterialId){0}));
	FEM_CHECK(!fem_body_id_is_null(scene.body) && fem_body_id_is_null((FemBodyId){0}));
	FEM_CHECK(!fem_collider_id_is_null(collider) && fem_collider_id_is_null((FemColliderId){0}));
	FEM_CHECK(
		fem_world_ids_are_equal(scene.world, scene.world) && !fem_world_ids_are_equal(scene.world, (FemWorldId){0}));
	FEM_CHECK(fem_mesh_ids_are_equal(scene.mesh, scene.mesh) && !fem_mesh_ids_are_equal(scene.mesh, (FemMeshId){0}));
	FEM_CHECK(fem_material_ids_are_equal(scene.material, scene.material));
	FEM_CHECK(!fem_material_ids_are_equal(scene.material, (FemMaterialId){0}));
	FEM_CHECK(fem_body_ids_are_equal(other, other) && !fem_body_ids_are_equal(scene.body, other));
	FEM_CHECK(
		fem_collider_ids_are_equal(collider, collider) && !fem_collider_ids_are_equal(collider, (FemColliderId){0}));
	FemBodyId old = other;
	fem_body_destroy(other);
	FEM_CHECK(!fem_body_ids_are_equal(old, fem_cube_scene_add(&scene))); // the same slot, another generation
	fem_cube_scene_end(&scene);
}

FEM_TEST(settings, of_worlds) {
	FemCubeScene scene = fem_cube_scene();
	bool enabled = true;
	double height = 1.0;
	float friction = 0.0f;
	FEM_CHECK_INT(fem_world_get_ground(scene.world, &enabled, &height, &friction), FEM_OK);
	FEM_CHECK(!enabled && height == 0.0 && friction == 0.5f && fem_world_get_sleeping(scene.world));
	fem_world_set_ground(scene.world, true, -3.5, 0.75f);
	fem_world_set_sleeping(scene.world, false);
	FEM_CHECK_INT(fem_world_get_ground(scene.world, &enabled, &height, &friction), FEM_OK);
	FEM_CHECK(enabled && height == -3.5 && friction == 0.75f && !fem_world_get_sleeping(scene.world));
	FEM_CHECK_INT(fem_world_get_ground(scene.world, NULL, &height, &friction), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_get_ground((FemWorldId){0}, &enabled, &height, &friction), FEM_ERROR_INVALID_ID);
	FEM_CHECK(!fem_world_get_sleeping((FemWorldId){0}));
	fem_cube_scene_end(&scene);
}

FEM_TEST(settings, of_bodies) {
	FemCubeScene scene = fem_cube_scene();
	FemPosition place;
	FemQuat rotation;
	uint32_t layer, mask;
	fem_body_set_gravity_scale(scene.body, 0.25f);
	fem_body_set_toughness_scale(scene.body, 2.0f);
	fem_body_set_layers(scene.body, 4, 6);
	fem_body_teleport(scene.body, (FemPosition){1.0, 2.0, 3.0}, quarter);
	FEM_CHECK_NEAR(fem_body_get_gravity_scale(scene.body), 0.25, 0.0);
	FEM_CHECK_NEAR(fem_body_get_toughness_scale(scene.body), 2.0, 0.0);
	FEM_CHECK_INT(fem_body_get_layers(scene.body, &layer, &mask), FEM_OK);
	FEM_CHECK(layer == 4 && mask == 6);
	FEM_CHECK(fem_body_get_self_contact(scene.body) && !fem_body_get_self_contact((FemBodyId){0}));
	FEM_CHECK_INT(fem_body_set_self_contact(scene.body, false), FEM_OK);
	FEM_CHECK(!fem_body_get_self_contact(scene.body));
	FEM_CHECK_INT(fem_body_set_self_contact((FemBodyId){0}, false), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_body_get_pose(scene.body, &place, &rotation), FEM_OK);
	FEM_CHECK(place.x == 1.0 && place.y == 2.0 && place.z == 3.0);
	FEM_CHECK_NEAR(rotation.y, quarter.y, 1e-6);
	FEM_CHECK(!fem_body_is_kinematic(scene.body));
	fem_body_set_kinematic(scene.body, true);
	FEM_CHECK(fem_body_is_kinematic(scene.body));
	FEM_CHECK_INT(fem_body_get_layers(scene.body, NULL, &mask), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_pose(scene.body, &place, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_pose((FemBodyId){0}, &place, &rotation), FEM_ERROR_INVALID_ID);
	FEM_CHECK(!fem_body_is_kinematic((FemBodyId){0}) && fem_body_get_gravity_scale((FemBodyId){0}) == 0.0f);
	fem_cube_scene_end(&scene);
}

FEM_TEST(settings, of_nodes) {
	FemCubeScene scene = fem_cube_scene();
	FemNodeKind kind;
	FemVec3 velocity;
	FemPosition at;
	fem_body_pin_node(scene.body, 1);
	fem_body_drive_node(scene.body, 2, up);
	fem_body_set_velocity(scene.body, 3, up);
	fem_body_set_node_position(scene.body, 4, (FemPosition){0.25, 0.5, 0.125});
	FEM_CHECK(fem_body_get_node_kind(scene.body, 0, &kind) == FEM_OK && kind == FEM_NODE_FREE);
	FEM_CHECK(fem_body_get_node_kind(scene.body, 1, &kind) == FEM_OK && kind == FEM_NODE_PINNED);
	FEM_CHECK(fem_body_get_node_kind(scene.body, 2, &kind) == FEM_OK && kind == FEM_NODE_DRIVEN);
	for (int32_t node = 2; node <= 3; node++) {
		FEM_CHECK_INT(fem_body_get_velocity(scene.body, node, &velocity), FEM_OK);
		FEM_CHECK(velocity.x == up.x && velocity.y == up.y && velocity.z == up.z);
	}
	FEM_CHECK_INT(fem_body_get_node_position(scene.body, 4, &at), FEM_OK);
	FEM_CHECK(at.x == 0.25 && at.y == 0.5 && at.z == 0.125);
	FEM_CHECK_INT(fem_body_get_node_position(scene.body, 27, &at), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_node_kind(scene.body, 0, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_velocity((FemBodyId){0}, 0, &velocity), FEM_ERROR_INVALID_ID);
	fem_cube_scene_end(&scene);
}

FEM_TEST(settings, of_bodies_that_break) {
	FemRigDef def = fem_rig_cube_def(2, 1.0f);
	def.material.breakable = true;
	FemRig rig = fem_rig_create(&def);
	FemMaterialDef other_def = fem_default_material_def();
	FemMaterialId other = fem_material_create(rig.world, &other_def), material;
	int32_t limit = -1, vertices = -1;
	float lifetime, fade, factor;
	uint32_t seed;
	fem_body_set_piece_limits(rig.body, 7, 2.5f, 0.5f);
	fem_body_set_fracture_seed(rig.body, 99);
	fem_body_set_tet_toughness(rig.body, 5, 0.5f);
	fem_body_set_tet_material(rig.body, 6, other);
	FEM_CHECK_INT(fem_body_get_piece_limits(rig.body, &limit, &lifetime, &fade), FEM_OK);
	FEM_CHECK(limit == 7 && lifetime == 2.5f && fade == 0.5f);
	FEM_CHECK(fem_body_get_fracture_seed(rig.body, &seed) == FEM_OK && seed == 99);
	FEM_CHECK(fem_body_get_tet_toughness(rig.body, 5, &factor) == FEM_OK && factor == 0.5f);
	FEM_CHECK(fem_body_get_tet_toughness(rig.body, 4, &factor) == FEM_OK && factor == 1.0f);
	FEM_CHECK(
		fem_body_get_tet_material(rig.body, 6, &material) == FEM_OK && fem_material_ids_are_equal(material, other));
	FEM_CHECK(fem_body_get_tet_material(rig.body, 5, &material) == FEM_OK &&
		fem_material_ids_are_equal(material, rig.material));
	FEM_CHECK_INT(fem_body_get_tet_material(rig.body, 40, &material), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_splinter_count(rig.body, &vertices), 0);
	FEM_CHECK_INT(vertices, 0);
	FemBoxSplinters splinters =
		fem_box_splinters(&rig.box, (FemVec3){0.0f, 0.0f, 0.0f}, (FemVec3){1.0f, 1.0f, 1.0f}, 2, 2, 1);
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &splinters.def), FEM_OK);
	FEM_CHECK_INT(fem_body_get_splinter_count(rig.body, &vertices), 4);
	FEM_CHECK_INT(vertices, 32);
	fem_box_splinters_free(&splinters);
	fem_rig_destroy(&rig);
	FemCubeScene whole = fem_cube_scene();
	FEM_CHECK_INT(fem_body_get_piece_limits(whole.body, &limit, &lifetime, &fade), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_get_fracture_seed(whole.body, &seed), FEM_ERROR_INVALID_ARGUMENT);
	fem_cube_scene_end(&whole);
}

FEM_TEST(settings, of_colliders) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef def = fem_default_collider_def();
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.shape.type = FEM_SHAPE_BOX;
	def.shape.half_extents = (FemVec3){0.5f, 0.5f, 0.5f};
	def.mass = 6.0f;
	def.inertia = (FemVec3){1.0f, 2.0f, 4.0f};
	FemColliderId collider = fem_collider_create(scene.world, &def);
	FemColliderMass mass;
	fem_collider_set_motion(collider, (FemPosition){4.0, 5.0, 6.0}, quarter, up, (FemVec3){0.0f, 0.5f, 0.0f});
	FEM_CHECK_INT(
		fem_collider_get_mass(collider, &mass), FEM_OK); // turned by 90 degrees about y: x and z have changed places
	FEM_CHECK_NEAR(mass.mass, 6.0, 0.0);
	FEM_CHECK_NEAR(mass.inertia[0], 4.0, 1e-5);
	FEM_CHECK_NEAR(mass.inertia[2], 1.0, 1e-5);
	FemColliderMass heavier = {
		.mass = 9.0f, .center = {0.0f, 0.1f, 0.0f}, .inertia = {3.0f, 2.0f, 1.0f, 0.1f, 0.0f, 0.0f}};
	FEM_CHECK_INT(fem_collider_set_mass(collider, &heavier), FEM_OK);
	FEM_CHECK_INT(fem_collider_get_mass(collider, &mass), FEM_OK);
	FEM_CHECK(memcmp(&mass, &heavier, sizeof mass) == 0);
	FemPosition at;
	FemQuat rotation;
	FemVec3 linear, angular, force, torque;
	FEM_CHECK_INT(fem_collider_get_motion(collider, &at, &rotation, &linear, &angular), FEM_OK);
	FEM_CHECK(at.x == 4.0 && at.z == 6.0 && linear.z == up.z && angular.y == 0.5f);
	FEM_CHECK_NEAR(rotation.w, quarter.w, 1e-6);
	fem_collider_set_force(collider, up, (FemVec3){0.0f, 0.0f, 7.0f});
	FEM_CHECK_INT(fem_collider_get_force(collider, &force, &torque), FEM_OK);
	FEM_CHECK(force.y == up.y && torque.z == 7.0f);
	FEM_CHECK(!fem_collider_ignores_body(collider, scene.body));
	fem_collider_ignore_body(collider, scene.body, true);
	FEM_CHECK(fem_collider_ignores_body(collider, scene.body));
	FEM_CHECK_INT(fem_collider_get_motion((FemColliderId){0}, &at, NULL, NULL, NULL), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_collider_get_mass(collider, NULL), FEM_ERROR_INVALID_ARGUMENT);
	fem_cube_scene_end(&scene);
}

// ---- what no other test calls

FEM_TEST(settings, names_are_told) {
	FEM_CHECK(
		strcmp(fem_result_name(FEM_OK), "ok") == 0 && strcmp(fem_result_name((FemResult)99), "unknown result") == 0);
	FEM_CHECK(strcmp(fem_phase_name(FEM_PHASE_SOLVE), "solve") == 0 &&
		strcmp(fem_phase_name(FEM_PHASE_COUNT), "unknown") == 0);
}

FEM_TEST(settings, a_central_force_neither_rotates_nor_bends) {
	FemRigDef def = fem_rig_cube_def(2, 1.0f);
	FemRig rig = fem_rig_create(&def);
	FemBodyState state;
	fem_body_get_state(rig.body, &state);
	FEM_CHECK_INT(fem_body_apply_central_force(rig.body, (FemVec3){(float)state.mass * 3.0f, 0.0f, 0.0f}), FEM_OK);
	fem_world_step(rig.world, 0.01f, 1);
	fem_body_get_state(rig.body, &state);
	FEM_CHECK_NEAR(state.linear_velocity.x, 0.03, 1e-5);
	FEM_CHECK_NEAR(state.max_strain, 0.0, 1e-6);
	FEM_CHECK_INT(fem_body_apply_central_force(rig.body, (FemVec3){NAN, 0.0f, 0.0f}), FEM_ERROR_INVALID_ARGUMENT);
	fem_rig_destroy(&rig);
}

FEM_TEST(settings, the_closest_point_of_one_body) {
	FemCubeScene scene = fem_cube_scene();
	FemBodyId other = fem_cube_scene_add(&scene);
	fem_body_teleport(other, (FemPosition){5.0, 0.0, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	fem_body_fetch(other); // a hint that changes nothing, of ids that are gone, too
	fem_body_fetch((FemBodyId){0});
	FemHit hit = fem_body_closest_point(other, (FemPosition){3.0, 0.5, 0.5}, 10.0); // the first cube is as near
	FEM_CHECK(fem_body_ids_are_equal(hit.body, other));
	FEM_CHECK_NEAR(hit.distance, 2.0, 1e-6);
	FEM_CHECK_NEAR(hit.point.x, 5.0, 1e-6);
	FEM_CHECK(fem_body_id_is_null(fem_body_closest_point(other, (FemPosition){3.0, 0.5, 0.5}, 1.5).body));
	fem_cube_scene_end(&scene);
}

FEM_TEST(settings, tets_tell_their_nodes) {
	FemCubeScene scene = fem_cube_scene();
	int32_t tets[160], nodes[4];
	FEM_CHECK_INT(fem_body_get_tets(scene.body, tets, 40), 40);
	for (int32_t tet = 0; tet < 40; tet++)
		FEM_CHECK(fem_body_get_tet_nodes(scene.body, tet, nodes) && memcmp(nodes, &tets[4 * tet], sizeof nodes) == 0);
	FEM_CHECK(!fem_body_get_tet_nodes(scene.body, 40, nodes) && !fem_body_get_tet_nodes(scene.body, 0, NULL));
	fem_cube_scene_end(&scene);
}

FEM_TEST(settings, a_piece_sleeps_and_wakes_alone) {
	FemCubeScene scene = fem_cube_scene();
	FemBoxMesh box = fem_box_mesh(1, 1, 1, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE),
			   row = fem_box_mesh_row(&box, 2, (FemVec3){3.0f, 0.0f, 0.0f});
	FemMeshDef mesh_def = fem_box_mesh_def(&row);
	FemCubeScene pair = scene;
	pair.mesh = fem_mesh_create(scene.world, &mesh_def);
	FemBodyId body = fem_cube_scene_add(&pair);
	fem_body_teleport(body, (FemPosition){0.0, 20.0, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	FemPieceNumber pieces[2];
	FemPieceState first, second;
	FEM_REQUIRE(fem_body_get_pieces(body, pieces, 2) == 2);
	FEM_CHECK_INT(fem_body_sleep_piece(body, pieces[0]), FEM_OK);
	for (int i = 0; i < 10; i++)
		fem_world_step(scene.world, 0.01f, 1);
	fem_body_get_piece_state(body, pieces[0], &first);
	fem_body_get_piece_state(body, pieces[1], &second);
	FEM_CHECK(first.asleep && !second.asleep && first.center.y == 20.5 && second.center.y < 20.48);
	FEM_CHECK_INT(fem_body_wake_piece(body, pieces[0]), FEM_OK);
	fem_world_step(scene.world, 0.01f, 1);
	fem_body_get_piece_state(body, pieces[0], &first);
	FEM_CHECK(!first.asleep && first.center.y < 20.5);
	FEM_CHECK_INT(fem_body_wake_piece(body, 77), FEM_ERROR_INVALID_ARGUMENT);
	fem_box_mesh_free(&box);
	fem_box_mesh_free(&row);
	fem_cube_scene_end(&scene);
}
