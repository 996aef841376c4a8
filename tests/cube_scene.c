#include "cube_scene.h"

#include "fem_test.h"

FemBodyId fem_cube_scene_add(const FemCubeScene *scene) {
	FemBodyDef def = fem_default_body_def();
	def.mesh = scene->mesh;
	def.materials = &scene->material;
	def.material_count = 1;
	return fem_body_create(scene->world, &def);
}

FemCubeScene fem_cube_scene(void) {
	FemWorldDef def = fem_default_world_def();
	return fem_cube_scene_in(&def);
}

FemCubeScene fem_cube_scene_in(const FemWorldDef *world_def) {
	FemCubeScene scene = {.bytes_before = fem_memory_bytes()};
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh box = fem_box_mesh(2, 2, 2, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&box);
	scene.world = fem_world_create(world_def);
	scene.material = fem_material_create(scene.world, &material_def);
	scene.mesh = fem_mesh_create(scene.world, &mesh_def);
	scene.body = fem_cube_scene_add(&scene);
	FEM_CHECK(fem_body_is_valid(scene.body));
	fem_box_mesh_free(&box);
	return scene;
}

void fem_cube_scene_end(FemCubeScene *scene) {
	FEM_CHECK_INT(fem_world_validate(scene->world), FEM_OK);
	FEM_CHECK_INT(fem_world_destroy(scene->world), FEM_OK);
	FEM_CHECK(!fem_world_is_valid(scene->world));
	FEM_CHECK_INT(fem_memory_bytes(), scene->bytes_before);
}
