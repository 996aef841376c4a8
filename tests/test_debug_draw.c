// What fem_world_debug_draw() hands to its callbacks, counted in a scene whose edges and faces are known.
#include "fem_debug_draw.h"

#include "cube_scene.h"
#include "fem_test.h"

#include <math.h>

typedef struct Drawn {
	int32_t lines, triangles, points;
	double length;          // m, of all lines
	FemPosition low, high;  // of all that was drawn
	uint32_t first, others; // colours of lines: the first, and how many differ from it
	int32_t red;            // triangles
	uint32_t face;          // colour of the last triangle
} Drawn;

static void reach(Drawn *drawn, FemPosition p) {
	drawn->low = (FemPosition){fmin(drawn->low.x, p.x), fmin(drawn->low.y, p.y), fmin(drawn->low.z, p.z)};
	drawn->high = (FemPosition){fmax(drawn->high.x, p.x), fmax(drawn->high.y, p.y), fmax(drawn->high.z, p.z)};
}

static void take_line(void *user, FemPosition a, FemPosition b, uint32_t color) {
	Drawn *drawn = user;
	drawn->first = drawn->lines++ == 0 ? color : drawn->first;
	drawn->others += color != drawn->first;
	drawn->length += sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
	reach(drawn, a);
	reach(drawn, b);
}

static void take_triangle(void *user, const FemPosition corners[3], uint32_t color) {
	Drawn *drawn = user;
	drawn->triangles++;
	drawn->red += color == 0xff0000ff;
	drawn->face = color;
	for (int i = 0; i < 3; i++)
		reach(drawn, corners[i]);
}

static void take_point(void *user, FemPosition at, uint32_t color) {
	Drawn *drawn = user;
	drawn->points++;
	drawn->others += color == 0;
	reach(drawn, at);
}

static Drawn draw(FemWorldId world, uint32_t flags, float stress_max) {
	Drawn drawn = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
	FemDebugDraw callbacks = {take_line, take_triangle, take_point, &drawn, stress_max};
	FEM_CHECK_INT(fem_world_debug_draw(world, flags, &callbacks), FEM_OK);
	return drawn;
}

// A cube of 2 x 2 x 2 cells of 5 tets: 54 edges along the axes, one diagonal in each of the 36 squares, none inside.
FEM_TEST(debug_draw, tets_and_faces_of_a_cube) {
	FemCubeScene scene = fem_cube_scene();
	Drawn tets = draw(scene.world, FEM_DRAW_TETS, 0.0f), faces = draw(scene.world, FEM_DRAW_STRESS, 0.0f);
	FEM_CHECK_INT(tets.lines, 54 + 36);
	FEM_CHECK_INT(tets.triangles + tets.points, 0);
	FEM_CHECK_NEAR(tets.length, 54 * 0.5 + 36 * 0.5 * sqrt(2.0), 1e-4);
	FEM_CHECK(tets.first == 0xffffffff && tets.others == 0);
	fem_body_sleep(scene.body);
	FEM_CHECK(draw(scene.world, FEM_DRAW_TETS, 0.0f).first == 0x808080ff);
	FEM_CHECK_INT(faces.triangles, 6 * 4 * 2);
	FEM_CHECK_INT(faces.lines + faces.points + faces.red, 0);
	FEM_CHECK(faces.low.x == 0.0 && faces.high.y == 1.0);
	fem_body_set_node_position(scene.body, 0, (FemPosition){-0.3, -0.3, -0.3}); // a corner pulled out
	FEM_CHECK(draw(scene.world, FEM_DRAW_STRESS, 0.0f).red > 0);
	FEM_CHECK_INT(draw(scene.world, FEM_DRAW_STRESS, 1e9f).red, 0);
	fem_cube_scene_end(&scene);
}

FEM_TEST(debug_draw, ways_of_moving) {
	FemCubeScene scene = fem_cube_scene();
	Drawn elastic = draw(scene.world, FEM_DRAW_MOTION, 0.0f);
	FEM_CHECK_INT(elastic.triangles, 6 * 4 * 2);
	FEM_CHECK_INT(elastic.lines + elastic.points, 0);
	FEM_CHECK(elastic.face == 0xff9020ff);
	fem_body_set_dynamics(scene.body, FEM_DYNAMICS_RIGID);
	fem_world_step(scene.world, 1.0f / 60.0f, 1);
	fem_world_step(scene.world, 1.0f / 60.0f, 1);
	FEM_CHECK(draw(scene.world, FEM_DRAW_MOTION, 0.0f).face == 0x2070ffff);
	fem_body_sleep(scene.body);
	FEM_CHECK(draw(scene.world, FEM_DRAW_MOTION, 0.0f).face == 0x808080ff);
	fem_body_set_kinematic(scene.body, true);
	FEM_CHECK(draw(scene.world, FEM_DRAW_MOTION, 0.0f).face == 0xb050ffff);
	fem_cube_scene_end(&scene);
}

FEM_TEST(debug_draw, boxes_and_islands) {
	FemCubeScene scene = fem_cube_scene();
	FemBodyId other = fem_cube_scene_add(&scene);
	fem_body_teleport(other, (FemPosition){5.0, 0.0, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_SPHERE;
	def.shape.radius = 1.0f;
	def.position.x = -9.0;
	fem_collider_create(scene.world, &def);
	def.shape.type = FEM_SHAPE_HALF_SPACE; // infinite: it has no box
	def.position = (FemPosition){0.0, -50.0, 0.0};
	fem_collider_create(scene.world, &def);
	Drawn boxes = draw(scene.world, FEM_DRAW_BOXES, 0.0f), islands = draw(scene.world, FEM_DRAW_ISLANDS, 0.0f);
	FEM_CHECK_INT(boxes.lines, 3 * 12);
	FEM_CHECK_NEAR(boxes.length, 12.0 + 12.0 + 24.0, 1e-3);
	FEM_CHECK_NEAR(boxes.low.x, -10.0, 1e-3);
	FEM_CHECK_INT(islands.lines, 2 * 12);
	FEM_CHECK_INT(islands.others, 12); // a colour each
	FEM_CHECK_NEAR(islands.high.x, 6.0, 1e-6);
	fem_body_sleep(other);
	FEM_CHECK_INT(draw(scene.world, FEM_DRAW_ISLANDS, 0.0f).lines, 12);
	fem_cube_scene_end(&scene);
}

FEM_TEST(debug_draw, contacts_where_a_cube_rests) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_BOX;
	def.shape.half_extents = (FemVec3){5.0f, 0.5f, 5.0f};
	def.position.y = -0.5;
	fem_collider_create(scene.world, &def);
	FEM_CHECK_INT(draw(scene.world, FEM_DRAW_CONTACTS, 0.0f).points, 0);
	for (int i = 0; i < 20; i++)
		fem_world_step(scene.world, 1.0f / 60.0f, 1);
	FemStatistics statistics;
	fem_world_get_statistics(scene.world, &statistics);
	Drawn contacts = draw(scene.world, FEM_DRAW_CONTACTS, 0.0f);
	FEM_CHECK(contacts.points >= 4 && contacts.points <= statistics.contacts);
	FEM_CHECK_INT(contacts.lines, contacts.points);
	FEM_CHECK_NEAR(contacts.length, 0.1 * contacts.points, 1e-4);
	FEM_CHECK(contacts.first == 0xff2020ff);
	FEM_CHECK(contacts.low.y < -0.08 && contacts.high.y < 0.05); // normals point into the floor
	fem_cube_scene_end(&scene);
}

// It only looks: a world that was drawn goes on as one that was not.
FEM_TEST(debug_draw, changes_nothing_and_refuses_bad_calls) {
	int64_t bytes = fem_memory_bytes();
	FemCubeScene scenes[2] = {fem_cube_scene(), fem_cube_scene()};
	for (int s = 0; s < 2; s++) {
		fem_world_set_ground(scenes[s].world, true, -0.5, 0.5f);
		for (int i = 0; i < 60; i++) {
			fem_world_step(scenes[s].world, 1.0f / 60.0f, 1);
			if (s == 0)
				draw(scenes[s].world, FEM_DRAW_ALL, 0.0f);
		}
	}
	FEM_CHECK(fem_world_hash(scenes[0].world) == fem_world_hash(scenes[1].world));
	FemDebugDraw none = {0}, negative = {.stress_max = -1.0f};
	FEM_CHECK_INT(fem_world_debug_draw(scenes[0].world, FEM_DRAW_ALL, &none), FEM_OK);
	FEM_CHECK_INT(fem_world_debug_draw(scenes[0].world, FEM_DRAW_ALL, &negative), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_debug_draw(scenes[0].world, FEM_DRAW_ALL, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_world_debug_draw((FemWorldId){0}, FEM_DRAW_ALL, &none), FEM_ERROR_INVALID_ID);
	fem_world_step_begin(scenes[0].world, 0.01f, 1);
	FEM_CHECK_INT(fem_world_debug_draw(scenes[0].world, FEM_DRAW_ALL, &none), FEM_ERROR_STEPPING);
	fem_world_step_end(scenes[0].world);
	for (int s = 0; s < 2; s++)
		FEM_CHECK_INT(fem_world_destroy(scenes[s].world), FEM_OK);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
}
