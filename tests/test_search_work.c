// How much the search for what fast objects meet looks at: counted, so that load on the machine does not decide.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

typedef struct Work {
	double visits, clips;
} Work;

static Work shoot(int32_t triangles, int32_t bodies, int32_t steps) {
	FemScene scene = *fem_scene_find("shots");
	scene.triangle_count = triangles;
	scene.body_count = bodies;
	FemWorldDef def = fem_scene_world_def(&scene, 1);
	FemWorldId world = fem_world_create(&def);
	FemSceneBodies shots = fem_scene_build(&scene, world);
	Work work = {0.0, 0.0};
	FEM_CHECK_INT(shots.count, bodies);
	for (int32_t s = 0; s < steps; s++) {
		scene.drive(&shots, s, scene.dt);
		fem_world_step(world, scene.dt, 1);
		work.visits += (double)fem_world_find(world)->contacts.fast.visits;
		work.clips += (double)fem_world_find(world)->contacts.fast.clips;
	}
	fem_scene_bodies_free(&shots);
	fem_world_destroy(world);
	return work;
}

static void check_growth(const char *what, double from, double to, double factor) {
	double exponent = log(to / from) / log(factor);
	fem_test_check(exponent < 1.2, __FILE__, __LINE__, "%s grow from %g to %g, as n^%.2f", what, from, to, exponent);
}

// Cubes that fly along a level at 1.3 m a step. Fails when boxes are drawn out along the whole path, or when tets are
// clipped with every triangle whose padded box they pass: 700,000 clips of the finest level.
FEM_TEST(search_work, grows_slowly_with_a_level_of_more_triangles) {
	Work coarse = shoot(1000, 16, 8), middle = shoot(10000, 16, 8), fine = shoot(100000, 16, 8);
	check_growth("visits", coarse.visits, middle.visits, 10.0);
	check_growth("visits", middle.visits, fine.visits, 10.0);
	FEM_CHECK(coarse.clips > 0.0);
	fem_test_check(fine.clips < 3000.0, __FILE__, __LINE__, "%g clips in 8 steps", fine.clips);
	fem_test_check(fine.visits < 200000.0, __FILE__, __LINE__, "%g visits in 8 steps", fine.visits);
}

// A body whose nodes fly apart close above a fine level, so that the boxes of its tets rule out little of it and
// nothing ends the search early. Fails when nothing bounds it: 240,000 clips.
FEM_TEST(search_work, of_a_body_that_bursts_has_a_bound) {
	FemScene scene = *fem_scene_find("shots");
	scene.triangle_count = 100000;
	scene.body_count = 1;
	FemWorldDef def = fem_scene_world_def(&scene, 1);
	FemWorldId world = fem_world_create(&def);
	FemSceneBodies level = fem_scene_build(&scene, world);
	FemBlock block = fem_block(0.0f, 0);
	block.cells[0] = block.cells[1] = 4;
	block.cells[2] = 3;
	block.kind = FEM_CELLS_KUHN;
	block.size = (FemVec3){1.0f, 1.0f, 0.8f};
	block.material.young_modulus = 10.0f; // a stiff one would hold together
	FemBodyId body = fem_block_add(world, &block);
	uint32_t seed = 7;
	double visits = 0.0, clips = 0.0;
	for (int32_t s = 0; s < 7; s++) {
		fem_body_teleport(body, (FemPosition){0.0, 0.05, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
		for (int32_t n = 0; n < fem_body_get_node_count(body); n++)
			fem_body_set_velocity(body, n, (FemVec3){250.0f * fem_random(&seed), 0.0f, 250.0f * fem_random(&seed)});
		fem_world_step(world, scene.dt, 1);
		visits = fmax(visits, (double)fem_world_find(world)->contacts.fast.visits);
		clips = fmax(clips, (double)fem_world_find(world)->contacts.fast.clips);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	}
	fem_test_check(visits > 1000.0 && visits <= 600000.0, __FILE__, __LINE__, "%g visits in a step", visits);
	fem_test_check(clips <= 32768.0 + visits, // one of each visit beyond the bound
		__FILE__, __LINE__, "%g clips in a step", clips);
	fem_scene_bodies_free(&level);
	fem_world_destroy(world);
}
