// A mesh's partition and orders as data: the same mesh again, bad data passed over.
#include "cube_scene.h"
#include "fem_test.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

typedef struct Layout {
	int32_t *numbers, count;
} Layout;

static FemBoxMesh bar(void) {
	return fem_box_mesh(14, 5, 5, (FemVec3){3.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
}

// Hash of a world with one falling body of the mesh; the layout that its mesh has is handed out.
static uint64_t run(const Layout *layout, Layout *out) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.ground_enabled = true;
	world_def.ground_height = -1.0;
	FemWorldId world = fem_world_create(&world_def);
	FemMaterialDef material_def = fem_default_material_def();
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBoxMesh box = bar();
	FemMeshDef mesh_def = fem_box_mesh_def(&box);
	FemBodyDef body_def = fem_default_body_def();
	if (layout) {
		mesh_def.layout = layout->numbers;
		mesh_def.layout_count = layout->count;
	}
	body_def.mesh = fem_mesh_create(world, &mesh_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	FEM_CHECK(fem_body_is_valid(fem_body_create(world, &body_def)));
	if (out) {
		out->count = fem_mesh_get_layout(body_def.mesh, NULL, 0);
		out->numbers = malloc(sizeof(int32_t) * (size_t)out->count);
		FEM_CHECK_INT(fem_mesh_get_layout(body_def.mesh, out->numbers, out->count - 1), out->count);
		FEM_CHECK_INT(fem_mesh_get_layout(body_def.mesh, out->numbers, out->count), out->count);
	}
	for (int i = 0; i < 60; i++)
		fem_world_step(world, DT, 1);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	uint64_t hash = fem_world_hash(world);
	fem_world_destroy(world);
	fem_box_mesh_free(&box);
	return hash;
}

FEM_TEST(mesh_layout, gives_the_same_mesh) {
	Layout layout, again;
	uint64_t found = run(NULL, &layout);
	FEM_CHECK(run(&layout, &again) == found);
	FEM_REQUIRE(layout.count == again.count && layout.count > 500);
	FEM_CHECK_INT(memcmp(layout.numbers, again.numbers, sizeof(int32_t) * (size_t)layout.count), 0);
	free(layout.numbers);
	free(again.numbers);
	FEM_CHECK_INT(fem_mesh_get_layout((FemMeshId){0}, NULL, 0), 0);
}

FEM_TEST(mesh_layout, what_does_not_fit_is_found_anew) {
	Layout layout;
	uint64_t found = run(NULL, &layout);
	int32_t *good = malloc(sizeof(int32_t) * (size_t)layout.count);
	memcpy(good, layout.numbers, sizeof(int32_t) * (size_t)layout.count);
	for (int32_t at = 0; at < layout.count; at += at < 8 ? 1 : 61) {
		const int32_t bad[] = {-1, 0, INT32_MAX, good[at] + 1};
		for (int k = 0; k < 4; k++) {
			memcpy(layout.numbers, good, sizeof(int32_t) * (size_t)layout.count);
			layout.numbers[at] = bad[k];
			run(&layout, NULL); // another partition may be as good; it must only hold together
		}
	}
	memcpy(layout.numbers, good, sizeof(int32_t) * (size_t)layout.count);
	Layout cut = {layout.numbers, layout.count - 1}, none = {layout.numbers, 2};
	FEM_CHECK(run(&cut, NULL) == found);
	FEM_CHECK(run(&none, NULL) == found);
	free(good);
	free(layout.numbers);
}

FEM_TEST(mesh_layout, saves_time) {
	Layout layout;
	run(NULL, &layout);
	FemCubeScene scene = fem_cube_scene();
	FemBoxMesh box = bar();
	FemMeshDef def = fem_box_mesh_def(&box);
	double times[2] = {1e9, 1e9};
	for (int i = 0; i < 10; i++) {
		def.layout = i % 2 ? layout.numbers : NULL;
		def.layout_count = i % 2 ? layout.count : 0;
		double began = fem_test_cpu_ms();
		FemMeshId mesh = fem_mesh_create(scene.world, &def);
		times[i % 2] = fmin(times[i % 2], fem_test_cpu_ms() - began);
		fem_mesh_destroy(mesh);
	}
	printf("  %d tets: %.2f ms, with a layout %.2f ms\n", box.tet_count, times[0], times[1]);
	FEM_CHECK(times[1] < 0.7 * times[0]);
	fem_box_mesh_free(&box);
	free(layout.numbers);
	fem_cube_scene_end(&scene);
}
