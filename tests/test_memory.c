// What the engine holds, in its own bytes: small for what sleeps, a few kB a tet for what breaks, and back again.
#include "base/memory.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#define DT (1.0f / 60.0f)
#define WORLD_BYTES 4e6    // of a world, whatever is in it
#define AWAKE_BYTES 3000.0 // a tet that is awake and can break
#define BREAKING_BYTES \
	8500.0 // a tet of what is breaking: passes of a step have memory of their own, as have factors and direct solves
#define ASLEEP_BYTES 300.0 // a tet of a whole body that sleeps

// Of 6 tets a cell.
static FemMeshId crate_mesh(FemWorldId world, int32_t nx, int32_t ny, int32_t nz) {
	FemBoxMesh box = fem_box_mesh(nx, ny, nz, (FemVec3){0.5f, 0.5f, 0.5f}, FEM_CELLS_KUHN);
	FemMeshDef def = fem_box_mesh_def(&box);
	FemMeshId mesh = fem_mesh_create(world, &def);
	fem_box_mesh_free(&box);
	return mesh;
}

static FemMaterialId brittle(FemWorldId world) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = 1e7f;
	def.breakable = true;
	def.toughness = 1e5f;
	return fem_material_create(world, &def);
}

static void add_crates(FemWorldId world, FemMeshId mesh, FemMaterialId material, int32_t count, bool asleep) {
	FemBodyDef def = fem_default_body_def();
	def.mesh = mesh;
	def.materials = &material;
	def.material_count = 1;
	def.starts_asleep = asleep;
	for (int32_t i = 0; i < count; i++) {
		def.position = (FemPosition){0.7 * (i % 32), 0.0, 0.7 * (i / 32)};
		FEM_REQUIRE(fem_body_is_valid(fem_body_create(world, &def)));
	}
}

static FemWorldId world_with_ground(void) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = true;
	return fem_world_create(&def);
}

static double held(int64_t before) {
	return (double)(fem_memory_bytes() - before);
}

FEM_TEST(memory, an_empty_world_is_small) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = world_with_ground();
	fem_world_step(world, DT, 1);
	printf("  %.0f kB\n", held(before) / 1e3);
	FEM_CHECK(held(before) < 0.25 * WORLD_BYTES);
	fem_world_destroy(world);
}

// Fails when bodies that sleep hold a topology, a solver or step memory of their own.
FEM_TEST(memory, sleeping_crates) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = world_with_ground();
	add_crates(world, crate_mesh(world, 3, 3, 4), brittle(world), 1000, true); // 216 tets each
	for (int32_t n = 0; n < 3; n++)
		fem_world_step(world, DT, 1);
	double tets = 1000.0 * 216.0;
	printf("  %.0f bytes a tet\n", held(before) / tets);
	FEM_CHECK(held(before) < WORLD_BYTES + ASLEEP_BYTES * tets);
	fem_world_destroy(world);
}

// Fails when what was awake keeps what it needed for that.
FEM_TEST(memory, crates_that_went_to_sleep) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = world_with_ground();
	FemStatistics statistics;
	add_crates(world, crate_mesh(world, 3, 3, 4), brittle(world), 64, false);
	fem_world_step(world, DT, 1);
	double tets = 64.0 * 216.0, awake = held(before);
	for (int32_t n = 0; n < 300; n++)
		fem_world_step(world, DT, 1);
	fem_world_get_statistics(world, &statistics);
	FEM_CHECK_INT(statistics.live_tets, 0);
	for (int32_t n = 0; n < 1300; n++) // the memory of a step goes when it was not used for long
		fem_world_step(world, DT, 1);
	printf("  %.0f bytes a tet awake, %.0f asleep\n", awake / tets, held(before) / tets);
	FEM_CHECK(awake < WORLD_BYTES + AWAKE_BYTES * tets);
	FEM_CHECK(held(before) < WORLD_BYTES + ASLEEP_BYTES * tets);
	fem_world_destroy(world);
}

FEM_TEST(memory, many_small_breakable_boxes) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = world_with_ground();
	add_crates(world, crate_mesh(world, 1, 2, 4), brittle(world), 500, false); // 48 tets each
	fem_memory_restart_peak();
	for (int32_t n = 0; n < 5; n++)
		fem_world_step(world, DT, 1);
	double tets = 500.0 * 48.0, peak = (double)(fem_memory_peak() - before);
	printf("  %.0f bytes a tet at most\n", peak / tets);
	FEM_CHECK(peak < WORLD_BYTES + AWAKE_BYTES * tets);
	fem_world_destroy(world);
}

// At most, while they break and after.
FEM_TEST(memory, scenes_that_break) {
	static const char *names[] = {"wall", "glass2400", "pole", "bowls4", "panel"};
	for (int i = 0; i < 5; i++) {
		const FemScene *scene = fem_scene_find(names[i]);
		FemWorldDef def = fem_scene_world_def(scene, 2);
		int64_t before = fem_memory_bytes();
		fem_memory_restart_peak();
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(scene, world);
		FemStatistics statistics;
		for (int32_t n = 0; n < 60; n++) {
			if (scene->drive)
				scene->drive(&bodies, n, DT);
			fem_world_step(world, DT, 1);
		}
		fem_world_get_statistics(world, &statistics);
		FEM_CHECK(statistics.pieces > bodies.count + 5);
		double peak = (double)(fem_memory_peak() - before), bound = WORLD_BYTES + BREAKING_BYTES * statistics.tet_count;
		printf(
			"  %s: %.2f MB at most, %.2f allowed, %d pieces\n", names[i], peak / 1e6, bound / 1e6, statistics.pieces);
		FEM_CHECK(peak < bound);
		fem_scene_bodies_free(&bodies);
		fem_world_destroy(world);
	}
}

// Fails when every body has a copy of the splinters it was given, or when one that breaks changes those of the others.
FEM_TEST(memory, whole_bodies_share_their_splinters) {
	FemWorldId world = world_with_ground();
	int32_t home[1] = {0}, splinters[3] = {0, 0, 0}, tets[3] = {0, 1, 2};
	FemVec3 positions[3] = {{0.1f, 0.1f, 0.1f}, {0.2f, 0.1f, 0.1f}, {0.3f, 0.2f, 0.1f}};
	FemSplintersDef def = fem_default_splinters_def();
	def.splinter_count = 1, def.home_tets = home;
	def.vertex_count = 3, def.vertex_splinters = splinters, def.vertex_tets = tets, def.vertex_positions = positions;
	add_crates(world, crate_mesh(world, 3, 3, 4), brittle(world), 3, false);
	FemWorld *inside = fem_world_find(world);
	for (int32_t b = 0; b < 3; b++)
		FEM_CHECK_INT(fem_body_set_splinters(fem_body_id(inside, b), &def), FEM_OK);
	const FemSplinters *first = inside->bodies[0]->breaking->splinters,
					   *second = inside->bodies[1]->breaking->splinters;
	FEM_CHECK(first->owner == second->owner && first->shared == second->shared && first->shared->use_count == 3);
	int64_t bytes = fem_splinter_bytes(), all = (int64_t)(first->bytes + first->shared->own_bytes + 3 * sizeof *first);
	FEM_CHECK_INT(bytes, all);
	FEM_CHECK(fem_splinters_own(inside->bodies[1]->breaking->splinters));
	FEM_CHECK_INT(fem_splinter_bytes() - bytes, (int64_t)second->own_bytes);
	FEM_CHECK(first->owner != second->owner && memcmp(first->owner, second->owner, 3 * sizeof(int32_t)) == 0);
	positions[0].x = 0.15f; // others are not shared
	FEM_CHECK_INT(fem_body_set_splinters(fem_body_id(inside, 2), &def), FEM_OK);
	FEM_CHECK(inside->bodies[2]->breaking->splinters->shared != first->shared && first->shared->use_count == 2);
	FEM_CHECK_INT(fem_world_destroy(world), FEM_OK);
}
