// Rays, nearest points, boxes.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"

typedef struct Scene {
	FemWorldId world;
	FemBodyId near, far; // unit cubes at x = 0 and x = 5; the far one 2 high, asleep
} Scene;

static Scene make_scene(double offset) {
	Scene scene;
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh cube = fem_box_mesh(3, 3, 3, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&cube);
	FemBodyDef body_def = fem_default_body_def();
	scene.world = fem_world_create(&world_def);
	FemMaterialId material = fem_material_create(scene.world, &material_def);
	body_def.mesh = fem_mesh_create(scene.world, &mesh_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	body_def.position.x = offset;
	scene.near = fem_body_create(scene.world, &body_def);
	body_def.position.x = offset + 5.0;
	body_def.scale.y = 2.0f;
	body_def.starts_asleep = true;
	scene.far = fem_body_create(scene.world, &body_def);
	fem_box_mesh_free(&cube);
	return scene;
}

static bool same(FemBodyId a, FemBodyId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

// The point must be what the weights make of the face's nodes.
static void check_weights(FemHit hit) {
	FemPosition origin;
	FemVec3 offsets[64];
	fem_body_get_positions(hit.body, &origin, offsets, 64);
	double x = 0.0, y = 0.0, sum = 0.0;
	for (int v = 0; v < 3; v++) {
		x += (double)hit.weights[v] * (origin.x + (double)offsets[hit.nodes[v]].x);
		y += (double)hit.weights[v] * (origin.y + (double)offsets[hit.nodes[v]].y);
		sum += (double)hit.weights[v];
	}
	FEM_CHECK_NEAR(sum, 1.0, 1e-6);
	FEM_CHECK_NEAR(x, hit.point.x, 1e-5 + 1e-6 * fabs(x));
	FEM_CHECK_NEAR(y, hit.point.y, 1e-5);
}

FEM_TEST(queries, ray_hits_the_first_front_face) {
	for (int place = 0; place < 2; place++) {
		double offset = place * 10000.0;
		Scene scene = make_scene(offset);
		FemHit hit =
			fem_world_cast_ray(scene.world, (FemPosition){offset - 3.0, 0.4, 0.6}, (FemVec3){20.0f, 0.0f, 0.0f});
		FEM_CHECK(same(hit.body, scene.near));
		FEM_CHECK_NEAR(hit.distance, 3.0, 1e-5);
		FEM_CHECK_NEAR(hit.normal.x, -1.0, 1e-6);
		FEM_CHECK_NEAR(hit.point.y, 0.4, 1e-6);
		FEM_CHECK(hit.tet >= 0 && hit.tet < 135);
		check_weights(hit);
		hit = fem_world_cast_ray(scene.world, (FemPosition){offset + 0.5, 1.5, 0.5}, (FemVec3){20.0f, 0.0f, 0.0f});
		FEM_CHECK(same(hit.body, scene.far)); // above the near one
		FEM_CHECK_NEAR(hit.point.x, offset + 5.0, 1e-5);
		// From inside: the way out shows back faces only.
		hit = fem_world_cast_ray(scene.world, (FemPosition){offset + 0.5, 0.5, 0.5}, (FemVec3){0.0f, 3.0f, 0.0f});
		FEM_CHECK_INT(hit.body.index1, 0);
		hit = fem_world_cast_ray(scene.world, (FemPosition){offset - 3.0, 0.4, 0.6}, (FemVec3){2.9f, 0.0f, 0.0f});
		FEM_CHECK_INT(hit.body.index1, 0); // too short
		hit = fem_world_cast_ray(scene.world, (FemPosition){offset - 3.0, 0.4, 0.6}, (FemVec3){-20.0f, 0.0f, 0.0f});
		FEM_CHECK_INT(hit.body.index1, 0); // away
		fem_world_destroy(scene.world);
	}
}

FEM_TEST(queries, nearest_point_inside_and_outside) {
	Scene scene = make_scene(0.0);
	FemHit hit = fem_world_closest_point(scene.world, (FemPosition){0.5, 1.25, 0.5}, 1.0);
	FEM_CHECK(same(hit.body, scene.near));
	FEM_CHECK_NEAR(hit.distance, 0.25, 1e-6);
	FEM_CHECK_NEAR(hit.normal.y, 1.0, 1e-6);
	check_weights(hit);
	hit = fem_world_closest_point(scene.world, (FemPosition){0.5, 0.9, 0.5}, 1.0);
	FEM_CHECK_NEAR(hit.distance, -0.1, 1e-6);
	hit = fem_world_closest_point(scene.world, (FemPosition){4.0, 3.0, 0.5}, 10.0);
	FEM_CHECK(same(hit.body, scene.far)); // the edge at (5, 2)
	FEM_CHECK_NEAR(hit.distance, sqrt(2.0), 1e-6);
	hit = fem_world_closest_point(scene.world, (FemPosition){3.0, 0.5, 0.5}, 1.5);
	FEM_CHECK_INT(hit.body.index1, 0);
	fem_world_destroy(scene.world);
}

FEM_TEST(queries, boxes_list_bodies_with_nodes_inside) {
	Scene scene = make_scene(0.0);
	FemBodyId found[2] = {{0}, {0}};
	FemPosition low = {-1.0, -1.0, -1.0};
	FEM_CHECK_INT(fem_world_query_box(scene.world, low, (FemPosition){2.0, 2.0, 2.0}, found, 2), 1);
	FEM_CHECK(same(found[0], scene.near));
	FEM_CHECK_INT(fem_world_query_box(scene.world, low, (FemPosition){9.0, 9.0, 9.0}, found, 2), 2);
	FEM_CHECK(same(found[1], scene.far));
	found[1] = (FemBodyId){0};
	FEM_CHECK_INT(fem_world_query_box(scene.world, low, (FemPosition){9.0, 9.0, 9.0}, found, 1), 2);
	FEM_CHECK_INT(found[1].index1, 0);
	FEM_CHECK_INT(fem_world_query_box(scene.world, low, (FemPosition){9.0, 9.0, 9.0}, NULL, 0), 2);
	// Between two layers of nodes.
	FEM_CHECK_INT(
		fem_world_query_box(scene.world, (FemPosition){0.4, 0.4, 0.4}, (FemPosition){0.6, 0.6, 0.6}, found, 2), 0);
	fem_world_destroy(scene.world);
}

FEM_TEST(queries, bad_input_finds_nothing) {
	Scene scene = make_scene(0.0);
	FemPosition good = {-3.0, 0.5, 0.5}, bad = {(double)NAN, 0.0, 0.0};
	FemVec3 translation = {20.0f, 0.0f, 0.0f};
	FEM_CHECK_INT(fem_world_cast_ray(scene.world, bad, translation).body.index1, 0);
	FEM_CHECK_INT(fem_world_cast_ray(scene.world, good, (FemVec3){NAN, 0.0f, 0.0f}).body.index1, 0);
	FEM_CHECK_INT(fem_world_cast_ray(scene.world, good, (FemVec3){INFINITY, 0.0f, 0.0f}).body.index1, 0);
	FEM_CHECK_INT(fem_world_cast_ray(scene.world, good, (FemVec3){0.0f, 0.0f, 0.0f}).body.index1, 0);
	FEM_CHECK_INT(fem_world_closest_point(scene.world, bad, 1.0).body.index1, 0);
	FEM_CHECK_INT(fem_world_closest_point(scene.world, good, (double)NAN).body.index1, 0);
	FEM_CHECK_INT(fem_world_closest_point(scene.world, good, -1.0).body.index1, 0);
	FEM_CHECK_INT(fem_world_query_box(scene.world, bad, good, NULL, 0), 0);
	FEM_CHECK_INT(
		fem_world_query_box(scene.world, (FemPosition){1.0, 0.0, 0.0}, (FemPosition){0.0, 0.0, 0.0}, NULL, 0), 0);
	fem_world_destroy(scene.world);
}

// Fails when a face further on takes the place of one that was hit before: the body lies in the ray's way twice.
FEM_TEST(queries, ray_hits_the_nearest_of_two_fronts_of_one_body) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	int32_t nodes;
	fem_add_three_cubes(world, false, &nodes);
	FemHit right = fem_world_cast_ray(world, (FemPosition){-1.0, 0.1, 0.13}, (FemVec3){5.0f, 0.0f, 0.0f});
	FemHit left = fem_world_cast_ray(world, (FemPosition){3.0, 0.1, 0.13}, (FemVec3){-5.0f, 0.0f, 0.0f});
	FEM_CHECK_NEAR(right.point.x, 0.0, 1e-5);
	FEM_CHECK_NEAR(left.point.x, 1.3, 1e-5);
	fem_world_destroy(world);
}

// Fails when a side of the box is not looked at: it ends just before a layer of nodes, on every side in turn.
FEM_TEST(queries, boxes_end_on_all_sides) {
	Scene scene = make_scene(0.0);
	for (int side = 0; side < 6; side++) {
		double low[3] = {0.3, 0.3, 0.3}, high[3] = {0.7, 0.7, 0.7}; // nodes at 1/3 and 2/3
		double *end = side < 3 ? &low[side] : &high[side - 3], *other = side < 3 ? &high[side] : &low[side - 3];
		*end = side < 3 ? 0.4 : 0.6;
		*other = side < 3 ? 0.6 : 0.4;
		FemPosition min = {low[0], low[1], low[2]}, max = {high[0], high[1], high[2]};
		FEM_CHECK_INT(fem_world_query_box(scene.world, min, max, NULL, 0), 0);
		*end = side < 3 ? 0.3 : 0.7;
		min = (FemPosition){low[0], low[1], low[2]}, max = (FemPosition){high[0], high[1], high[2]};
		FEM_CHECK_INT(fem_world_query_box(scene.world, min, max, NULL, 0), 1);
	}
	fem_world_destroy(scene.world);
}
