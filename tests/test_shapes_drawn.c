// What frames between two steps are drawn from.
#include "contact_rig.h"
#include "cube_scene.h"
#include "fem_test.h"

#include <string.h>

typedef struct Copy {
	FemPosition origin;
	int32_t count;
	float at[4 * 4096];
} Copy;

static void take(FemBodyId body, Copy *out) {
	FemShape shape;
	const float *at = fem_body_get_shape(body, false, &shape);
	FEM_REQUIRE(at && shape.node_count <= 4096);
	out->origin = shape.origin;
	out->count = shape.node_count;
	memcpy(out->at, at, sizeof(float) * 4 * (size_t)out->count);
}

static void check_before(FemBodyId body, const Copy *copy) {
	FemShape shape;
	const float *at = fem_body_get_shape(body, true, &shape);
	FEM_REQUIRE(at);
	FEM_CHECK(memcmp(&shape.origin, &copy->origin, sizeof shape.origin) == 0);
	FEM_CHECK(memcmp(at, copy->at, sizeof(float) * 4 * (size_t)copy->count) == 0);
	for (int32_t i = 0; i < copy->count; i++)
		for (int k = 0; k < 3; k++)
			FEM_CHECK(at[4 * i + k] >= (&shape.low.x)[k] && at[4 * i + k] <= (&shape.high.x)[k]);
}

FEM_TEST(shapes_drawn, of_the_last_two_steps) {
	static Copy before;
	FemShape shape;
	FemCubeScene scene = fem_cube_scene();
	FEM_CHECK(fem_body_get_shape(scene.body, true, &shape) == NULL);
	FEM_CHECK(fem_body_get_shape(scene.body, false, &shape) != NULL);
	for (int32_t i = 0; i < 200; i++) { // it falls far enough to get another origin
		take(scene.body, &before);
		fem_world_step(scene.world, 1.0f / 60.0f, 2);
		check_before(scene.body, &before);
	}
	static FemVec3 offsets[4096];
	FemPosition origin;
	const float *at = fem_body_get_shape(scene.body, false, &shape);
	FEM_REQUIRE(at != NULL);
	FEM_CHECK_INT(fem_body_get_positions(scene.body, &origin, offsets, 4096), shape.node_count);
	FEM_CHECK_NEAR(shape.origin.y, origin.y, 0.0);
	for (int32_t i = 0; i < shape.node_count; i++)
		FEM_CHECK_NEAR(offsets[i].y, at[4 * i + 1], 0.0);
	fem_cube_scene_end(&scene);
}

FEM_TEST(shapes_drawn, none_before_for_what_did_not_move_or_jumped) {
	FemShape shape;
	FemCubeScene scene = fem_cube_scene();
	fem_world_step(scene.world, 1.0f / 60.0f, 1);
	FEM_CHECK(fem_body_get_shape(scene.body, true, &shape) != NULL);
	fem_body_teleport(scene.body, (FemPosition){5.0, 5.0, 5.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	FEM_CHECK(fem_body_get_shape(scene.body, true, &shape) == NULL);
	fem_world_step(scene.world, 1.0f / 60.0f, 1);
	FEM_CHECK(fem_body_get_shape(scene.body, true, &shape) != NULL);
	FEM_CHECK(shape.low.y + shape.origin.y > 4.0);
	fem_body_sleep(scene.body);
	for (int32_t i = 0; i < 3; i++) // the step in which it falls asleep may still tell of it
		fem_world_step(scene.world, 1.0f / 60.0f, 1);
	FEM_CHECK(fem_body_get_shape(scene.body, true, &shape) == NULL);
	FEM_CHECK(fem_body_get_shape(scene.body, false, &shape) != NULL);
	FEM_CHECK(fem_body_get_shape((FemBodyId){0}, false, &shape) == NULL);
	FEM_CHECK(fem_body_get_shape(scene.body, false, NULL) == NULL);
	fem_cube_scene_end(&scene);
}

// World positions of the third cube's nodes, in the last shape or the one before.
static void read_third_cube(FemBodyId body, bool before, int32_t nodes, FemPosition *out) {
	FemShape shape;
	const float *at = fem_body_get_shape(body, before, &shape);
	FEM_REQUIRE(at && shape.node_count >= 3 * nodes);
	for (int32_t i = 0; i < nodes; i++) {
		const float *p = at + 4 * (2 * nodes + i);
		out[i] =
			(FemPosition){shape.origin.x + (double)p[0], shape.origin.y + (double)p[1], shape.origin.z + (double)p[2]};
	}
}

// Fails when nodes of a removed piece go along with the body's origin, or are those of two steps ago.
FEM_TEST(shapes_drawn, removed_pieces_stay_where_they_were) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	int32_t nodes;
	FemBodyId body = fem_add_three_cubes(world, true, &nodes);
	FemPosition first[64], now[64];
	fem_steps(world, 10);
	FemPieceNumber pieces[3];
	FEM_REQUIRE(nodes <= 64 && fem_body_get_pieces(body, pieces, 3) == 3);
	FEM_CHECK_INT(fem_body_remove_piece(body, pieces[2]), FEM_OK);
	read_third_cube(body, false, nodes, first);
	for (int step = 0; step < 200; step++) { // the others fall far enough to get another origin
		fem_steps(world, 1);
		for (int before = step == 0; before < 2; before++) {
			read_third_cube(body, before == 1, nodes, now);
			double worst = 0.0;
			for (int32_t i = 0; i < nodes; i++)
				worst = fmax(
					worst, fabs(now[i].x - first[i].x) + fabs(now[i].y - first[i].y) + fabs(now[i].z - first[i].z));
			FEM_CHECK_NEAR(worst, 0.0, 1e-4);
		}
	}
	fem_world_destroy(world);
}
