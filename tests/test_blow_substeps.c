// Steps are cut into substeps for blows to what breaks, and only for them.
#include "fem_test.h"
#include "scenes/box_mesh.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)
#define MOST 4

typedef struct Scene {
	FemWorldId world;
	FemMaterialId brittle, soft;
	FemMeshId slab, cube; // 1.2 x 0.1 x 0.6 m, and of 0.2 m
} Scene;

static FemMaterialId add_material(FemWorldId world, float stiffness) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = stiffness;
	def.density = 2500.0f;
	def.breakable = true;
	def.toughness = 4e-4f * stiffness;
	return fem_material_create(world, &def);
}

static FemMeshId add_mesh(FemWorldId world, int32_t nx, int32_t ny, int32_t nz, FemVec3 size) {
	FemBoxMesh box = fem_box_mesh(nx, ny, nz, size, FEM_CELLS_FIVE);
	FemMeshDef def = fem_box_mesh_def(&box);
	FemMeshId mesh = fem_mesh_create(world, &def);
	fem_box_mesh_free(&box);
	return mesh;
}

static Scene make_scene(bool has_ground) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = has_ground;
	Scene scene = {.world = fem_world_create(&def)};
	scene.brittle = add_material(scene.world, 5e8f);
	scene.soft = add_material(scene.world, 1e5f);
	scene.slab = add_mesh(scene.world, 12, 1, 6, (FemVec3){1.2f, 0.1f, 0.6f});
	scene.cube = add_mesh(scene.world, 2, 2, 2, (FemVec3){0.2f, 0.2f, 0.2f});
	return scene;
}

static FemBodyId add_body(const Scene *scene, FemMeshId mesh, FemMaterialId material, double y, float speed) {
	FemBodyDef def = fem_default_body_def();
	def.mesh = mesh;
	def.materials = &material;
	def.material_count = 1;
	def.position = (FemPosition){0.0, y, 0.0};
	def.linear_velocity = (FemVec3){0.0f, speed, 0.0f};
	return fem_body_create(scene->world, &def);
}

static int32_t substeps(const Scene *scene) {
	return fem_world_blow_substeps(scene->world, DT, MOST);
}

// Fails when every fast body, or none, counts as a blow.
FEM_TEST(blow_substeps, for_what_is_about_to_strike) {
	Scene scene = make_scene(false);
	FemBodyId slab = add_body(&scene, scene.slab, scene.brittle, 0.0, 0.0f);
	FEM_CHECK(fem_body_set_kinematic(slab, true) == FEM_OK);
	FemBodyId cube = add_body(&scene, scene.cube, scene.soft, 1.0, -9.0f);
	fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(substeps(&scene), 1); // 0.75 m above
	bool was_cut = false;
	int32_t ticks = 0;
	for (; ticks < 8 && !was_cut; ticks++) {
		was_cut = substeps(&scene) == MOST;
		fem_world_step(scene.world, DT, 1);
	}
	FEM_CHECK(was_cut && ticks > 3 && ticks < 7);
	for (int n = 0; n < 240; n++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(substeps(&scene), 1); // it rests, or lies broken
	FEM_CHECK(fem_body_is_valid(cube));
	fem_world_destroy(scene.world);
}

FEM_TEST(blow_substeps, not_for_slow_or_soft_or_departing_things) {
	const struct {
		bool is_brittle;
		double y;
		float speed;
		int32_t expected;
	} cases[] = {{true, 0.15, -8.0f, MOST}, {true, 0.15, -1.0f, 1}, {true, 0.15, 8.0f, 1}, {false, 0.15, -8.0f, 1},
		{true, 0.4, -8.0f, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Scene scene = make_scene(true);
		add_body(&scene, scene.slab, cases[i].is_brittle ? scene.brittle : scene.soft, cases[i].y, cases[i].speed);
		fem_world_step(scene.world, 1e-4f, 1); // finds out what is awake
		fem_test_check(substeps(&scene) == cases[i].expected, __FILE__, __LINE__, "case %d: %d parts", (int)i,
			(int)substeps(&scene));
		fem_world_destroy(scene.world);
	}
}

// A cube 1 cm above a slab, within the margin of its box. Fails when one that leaves the slab counts as a blow.
FEM_TEST(blow_substeps, not_for_bodies_that_part) {
	const float speeds[] = {-8.0f, 8.0f};
	for (int i = 0; i < 2; i++) {
		Scene scene = make_scene(false);
		add_body(&scene, scene.slab, scene.brittle, 0.0, 0.0f);
		add_body(&scene, scene.cube, scene.brittle, 0.11, speeds[i]);
		fem_world_step(scene.world, 1e-4f, 1);
		FEM_CHECK_INT(substeps(&scene), speeds[i] < 0.0f ? MOST : 1);
		fem_world_destroy(scene.world);
	}
}

// Fails when colliders are forgotten, or their boxes taken for the whole of a level.
FEM_TEST(blow_substeps, with_colliders) {
	static const FemVec3 points[] = {{-5, 0, -5}, {5, 0, -5}, {5, 0, 5}, {-5, 0, 5}, {-5, 9, -5}, {5, 9, -5}};
	static const int32_t triangles[] = {0, 2, 1, 0, 3, 2, 0, 1, 5, 0, 5, 4}; // a floor and a wall behind it
	for (int kind = 0; kind < 3; kind++) {
		for (int is_near = 0; is_near < 2; is_near++) {
			Scene scene = make_scene(false);
			FemColliderDef def = fem_default_collider_def();
			def.shape.type = kind == 0 ? FEM_SHAPE_HALF_SPACE : kind == 1 ? FEM_SHAPE_BOX : FEM_SHAPE_TRIANGLES;
			def.shape.half_extents = (FemVec3){5.0f, 0.5f, 5.0f};
			def.position.y = kind == 1 ? -0.5 : 0.0;
			if (kind == 2) {
				def.shape.points = points;
				def.shape.point_count = 6;
				def.shape.triangles = triangles;
				def.shape.triangle_count = 4;
			}
			FEM_CHECK(fem_collider_is_valid(fem_collider_create(scene.world, &def)));
			add_body(&scene, scene.slab, scene.brittle, is_near ? 0.1 : 1.0, -8.0f);
			fem_world_step(scene.world, 1e-4f, 1);
			fem_test_check(substeps(&scene) == (is_near ? MOST : 1), __FILE__, __LINE__, "kind %d, near %d: %d parts",
				kind, is_near, (int)substeps(&scene));
			fem_world_destroy(scene.world);
		}
	}
}

// Fails when explosions are spread over a whole step, or the steps after them are cut, too.
FEM_TEST(blow_substeps, after_explosions) {
	Scene scene = make_scene(false);
	add_body(&scene, scene.slab, scene.brittle, 0.0, 0.0f);
	fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(fem_world_apply_explosion(scene.world, (FemPosition){0.6, 0.4, 0.3}, 2.0f, 1.0f), 1);
	FEM_CHECK_INT(substeps(&scene), 1);
	FEM_CHECK_INT(fem_world_apply_explosion(scene.world, (FemPosition){0.6, 0.4, 0.3}, 2.0f, 2000.0f), 1);
	FEM_CHECK_INT(substeps(&scene), MOST);
	fem_world_step(scene.world, DT, MOST);
	FEM_CHECK_INT(substeps(&scene), 1);
	fem_world_destroy(scene.world);
}

// Saved between an explosion, or a fall, and the step that follows it.
FEM_TEST(blow_substeps, of_a_restored_world) {
	for (int i = 0; i < 2; i++) {
		Scene scene = make_scene(true);
		add_body(&scene, scene.slab, scene.brittle, i == 0 ? 5.0 : 0.1, i == 0 ? 0.0f : -8.0f);
		fem_world_step(scene.world, 0.1f * DT, 1);
		if (i == 0)
			FEM_CHECK_INT(fem_world_apply_explosion(scene.world, (FemPosition){0.6, 5.4, 0.3}, 2.0f, 2000.0f), 1);
		size_t size = fem_world_save(scene.world, NULL, 0);
		void *data = malloc(size);
		FEM_REQUIRE(data && fem_world_save(scene.world, data, size) == size);
		Scene copy = {.world = fem_world_restore(data, size, 1)};
		free(data);
		FEM_CHECK_INT(substeps(&scene), MOST);
		FEM_CHECK_INT(substeps(&copy), MOST);
		fem_world_destroy(scene.world);
		fem_world_destroy(copy.world);
	}
}

FEM_TEST(blow_substeps, of_bad_input) {
	Scene scene = make_scene(true);
	add_body(&scene, scene.slab, scene.brittle, 0.1, -8.0f);
	FEM_CHECK_INT(fem_world_blow_substeps(scene.world, NAN, MOST), 1);
	FEM_CHECK_INT(fem_world_blow_substeps(scene.world, -1.0f, MOST), 1);
	FEM_CHECK_INT(fem_world_blow_substeps(scene.world, INFINITY, MOST), 1);
	FEM_CHECK_INT(fem_world_blow_substeps(scene.world, DT, 0), 1);
	FEM_CHECK(fem_world_blow_substeps(scene.world, DT, INT32_MAX) <= 64);
	fem_world_destroy(scene.world);
	FEM_CHECK_INT(fem_world_blow_substeps(scene.world, DT, MOST), 1);
}

// Fails when the way along the sweep to the pieces in question is too short: for long ones, fast ones, or many at a
// time.
FEM_TEST(blow_substeps, found_among_many) {
	for (int axis = 0; axis < 3; axis++) {
		Scene scene = make_scene(false);
		double far[3] = {0.0, 0.0, 0.0};
		far[axis] = 40.0;
		FemBodyDef def = fem_default_body_def();
		def.materials = &scene.brittle;
		def.material_count = 1;
		def.mesh = scene.cube;
		for (int32_t i = 0; i < 60; i++) {
			double along = i - 30.0;
			def.position = (FemPosition){axis == 0 ? along : 0.0, axis == 1 ? along : 3.0, axis == 2 ? along : 0.0};
			def.linear_velocity = (FemVec3){0.0f, 0.0f, i % 2 ? 4.0f : 0.0f};
			fem_body_create(scene.world, &def);
		}
		fem_world_step(scene.world, DT, 1);
		FEM_CHECK_INT(substeps(&scene), 1);
		// A slab that is stretched to 12 m, and a cube that comes to its end.
		def.mesh = scene.slab;
		def.linear_velocity = (FemVec3){0.0f, 0.0f, 0.0f};
		def.scale = (FemVec3){10.0f, 1.0f, 1.0f};
		def.position = (FemPosition){far[0], far[1] - 20.0, far[2]};
		fem_body_create(scene.world, &def);
		def.mesh = scene.cube;
		def.scale = (FemVec3){1.0f, 1.0f, 1.0f};
		def.position = (FemPosition){far[0] + 11.5, far[1] - 20.0 + 0.25, far[2] + 0.2};
		def.linear_velocity = (FemVec3){0.0f, -12.0f, 0.0f};
		fem_body_create(scene.world, &def);
		fem_world_step(scene.world, 0.001f, 1);
		FEM_CHECK(substeps(&scene) > 1);
		fem_world_destroy(scene.world);
	}
}
