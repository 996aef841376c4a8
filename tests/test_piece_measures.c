// A piece is measured, and treated, as the body that it is: not by the mass, size or shape of what it broke from.
#include "contact_rig.h"
#include "fem_test.h"
#include "model/piece.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DENSITY 1000.0f // kg/m^3

typedef struct Box {
	FemVec3 size, at; // m
	int32_t cells[3];
} Box;

// One mesh of two boxes that hang together nowhere.
static FemBoxMesh join(const Box boxes[2]) {
	FemBoxMesh part[2];
	for (int i = 0; i < 2; i++)
		part[i] = fem_box_mesh(boxes[i].cells[0], boxes[i].cells[1], boxes[i].cells[2], boxes[i].size, FEM_CELLS_KUHN);
	FemBoxMesh both = {part[0].node_count + part[1].node_count, part[0].tet_count + part[1].tet_count, NULL, NULL};
	both.positions = malloc(sizeof(FemVec3) * (size_t)both.node_count);
	both.tets = malloc(sizeof(int32_t) * 4 * (size_t)both.tet_count);
	for (int32_t i = 0; i < both.node_count; i++) {
		int k = i >= part[0].node_count;
		FemVec3 p = part[k].positions[i - k * part[0].node_count], at = boxes[k].at;
		both.positions[i] = (FemVec3){p.x + at.x, p.y + at.y, p.z + at.z};
	}
	for (int32_t i = 0; i < 4 * both.tet_count; i++) {
		int k = i >= 4 * part[0].tet_count;
		both.tets[i] = part[k].tets[i - k * 4 * part[0].tet_count] + k * part[0].node_count;
	}
	for (int i = 0; i < 2; i++)
		fem_box_mesh_free(&part[i]);
	return both;
}

// Of the first `count` of the boxes; E 1e7. Nodes of the first box come first.
static FemBodyId add_boxes(FemWorldId world, const Box boxes[2], int count, FemPosition position) {
	FemBoxMesh box = count == 2
		? join(boxes)
		: fem_box_mesh(boxes->cells[0], boxes->cells[1], boxes->cells[2], boxes->size, FEM_CELLS_KUHN);
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = 1e7f;
	material_def.density = DENSITY;
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.position = position;
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&box);
	return body;
}

static const Box small_and_large[2] = {
	{.size = {0.1f, 0.1f, 0.1f}, .cells = {2, 2, 2}},
	{.size = {1.0f, 1.0f, 1.0f}, .at = {0.3f, 0.0f, 0.0f}, .cells = {2, 2, 2}},
};

static const FemBody *body_of(FemBodyId id) {
	return fem_body_find(id, NULL);
}

// The component that the mesh's first node is of.
static int32_t first_piece(const FemBody *body) {
	return fem_node_component(body->topology, body->topology->node_of_user[0]);
}

// Spoils one measure of a piece after the other. Fails when validation passes over one.
FEM_TEST(piece_measures, wrong_ones_are_noticed) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemBodyId id = add_boxes(world, small_and_large, 2, (FemPosition){0.0, 0.0, 0.0});
	FemPiece *piece = &fem_body_find(id, NULL)->pieces[1];
	float *measures[] = {&piece->mass, &piece->volume, &piece->area, &piece->thickness, &piece->box_area};
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	for (int i = 0; i < 5; i++) {
		float right = *measures[i];
		*measures[i] = right * 1.001f;
		FEM_CHECK_INT(fem_world_validate(world), FEM_ERROR_INVALID_ARGUMENT);
		*measures[i] = NAN;
		FEM_CHECK_INT(fem_world_validate(world), FEM_ERROR_INVALID_ARGUMENT);
		*measures[i] = right;
	}
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

static double mean_y(FemBodyId id, int32_t begin, int32_t end) {
	int32_t count = fem_body_get_node_count(id);
	FemVec3 *offsets = malloc(sizeof *offsets * (size_t)count);
	FemPosition origin;
	fem_body_get_positions(id, &origin, offsets, count);
	double sum = 0.0;
	for (int32_t i = begin; i < end; i++)
		sum += (double)offsets[i].y;
	free(offsets);
	return origin.y + sum / (end - begin);
}

// Fails when a piece has the measures of the whole.
FEM_TEST(piece_measures, boxes_of_one_mesh_have_their_own) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	const FemBody *body = body_of(add_boxes(world, small_and_large, 2, (FemPosition){0.0, 0.0, 0.0}));
	for (int k = 0; k < 2; k++) {
		double edge = k == 0 ? 0.1 : 1.0;
		const FemPiece *piece = &body->pieces[k == 0 ? first_piece(body) : 1 - first_piece(body)];
		FEM_CHECK_NEAR(piece->mass, 1000.0 * edge * edge * edge, 1e-4 * edge);
		FEM_CHECK_NEAR(piece->volume, edge * edge * edge, 1e-5 * edge);
		FEM_CHECK_NEAR(piece->area, 6.0 * edge * edge, 1e-5 * edge);
		FEM_CHECK_NEAR(piece->thickness, edge / 3.0, 1e-5 * edge);
		FEM_CHECK_NEAR(piece->box_area, edge * edge, 1e-5 * edge);
	}
	fem_world_destroy(world);
}

// Fails when pieces are not measured anew when their body breaks, or stay as they were when some are removed.
FEM_TEST(piece_measures, pieces_of_what_broke_add_up) {
	const FemScene *scene = fem_scene_find("wall");
	FemWorldDef def = fem_scene_world_def(scene, 1);
	FemWorldId world = fem_world_create(&def);
	FemSceneBodies bodies = fem_scene_build(scene, world);
	const FemBody *body = body_of(bodies.ids[0]);
	double whole = (double)body->pieces[0].volume;
	FEM_CHECK_INT(body->topology->component_count, 1);
	for (int i = 0; i < 40 && body->topology->component_count < 10; i++) {
		scene->drive(&bodies, i, scene->dt);
		fem_steps(world, 1);
	}
	FEM_CHECK(body->topology->component_count >= 10);
	double volume = 0.0, mass = 0.0;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		volume += (double)body->pieces[c].volume;
		mass += (double)body->pieces[c].mass;
	}
	FEM_CHECK_NEAR(volume, whole, 1e-5 * whole);
	FEM_CHECK_NEAR(mass, (double)body->total_mass, 1e-5 * mass);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_scene_bodies_free(&bodies);
	fem_world_destroy(world);
}

// Fails when a sleeper is weighed by its share of the tets: a ball of 1 kg would not wake a cube of 1 kg that came from
// the same body as one of 1,000 kg.
FEM_TEST(piece_measures, a_light_piece_wakes_when_struck) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world_id = fem_world_create(&def);
	fem_add_plane(world_id, FEM_SHAPE_BOX, (FemQuat){0, 0, 0, 1}, 0.5f);
	FemBodyId id = add_boxes(world_id, small_and_large, 2, (FemPosition){0.0, 0.0, 0.0});
	for (int i = 0; i < 600 && !fem_body_is_asleep(id); i++)
		fem_steps(world_id, 1);
	FEM_CHECK(fem_body_is_asleep(id));
	const FemBody *body = body_of(id);
	FemColliderDef ball = fem_default_collider_def();
	ball.kind = FEM_COLLIDER_DYNAMIC;
	ball.shape.type = FEM_SHAPE_SPHERE;
	ball.shape.radius = 0.04f;
	ball.mass = 1.0f;
	ball.position = (FemPosition){-0.041, 0.05, 0.05};
	ball.linear_velocity.x = 0.3f;
	FemColliderId collider = fem_collider_create(world_id, &ball);
	bool woke = false;
	for (int i = 0; i < 3 && !woke; i++) {
		ball.position.x += 0.3 / 60.0;
		fem_collider_set_motion(
			collider, ball.position, (FemQuat){0, 0, 0, 1}, ball.linear_velocity, (FemVec3){0.0f, 0.0f, 0.0f});
		fem_steps(world_id, 1);
		woke = fem_piece_is_live(body, first_piece(body));
	}
	FEM_CHECK(woke);
	FEM_CHECK(!fem_piece_is_live(body, 1 - first_piece(body)));
	fem_world_destroy(world_id);
}

static double rest_height(int count) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, FEM_SHAPE_BOX, (FemQuat){0, 0, 0, 1}, 0.5f);
	FemBodyId id = add_boxes(world, small_and_large, count, (FemPosition){0.0, 0.0, 0.0});
	fem_steps(world, 180);
	double height = mean_y(id, 0, 27);
	fem_world_destroy(world);
	return height;
}

// Fails when a piece is as stiff in contact as its body's mass says: it would rest as deep as it should by another.
FEM_TEST(piece_measures, a_piece_rests_as_deep_as_on_its_own) {
	double alone = rest_height(1), beside = rest_height(2);
	printf("  rests at %.4f mm alone, at %.4f mm as a piece\n", 1e3 * (alone - 0.05), 1e3 * (beside - 0.05));
	FEM_CHECK_NEAR(beside, alone, 3e-6);
}

// Two plates of 1 cm, each with a cube of 1 m far aside in its own mesh, meet at 15 m/s. Fails when the thickness of
// the cubes decides how often they are looked at within a step: they pass through each other.
FEM_TEST(piece_measures, thin_pieces_of_thick_bodies_do_not_pass) {
	Box plate_and_cube[2] = {
		{.size = {1.0f, 0.01f, 1.0f}, .cells = {4, 1, 4}},
		{.size = {1.0f, 1.0f, 1.0f}, .at = {2.0f, 0.0f, 0.0f}, .cells = {2, 2, 2}},
	};
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	FemBodyId low = add_boxes(world, plate_and_cube, 2, (FemPosition){0.0, 0.0, 0.0});
	plate_and_cube[1].at.x = -3.0f;
	FemBodyId high = add_boxes(world, plate_and_cube, 2, (FemPosition){0.0, 0.385, 0.0});
	for (int32_t i = 0; i < 50; i++)
		fem_body_set_velocity(high, i, (FemVec3){0.0f, -15.0f, 0.0f});
	fem_steps(world, 2);
	double gap = mean_y(high, 0, 50) - mean_y(low, 0, 50);
	printf("  %.3f m apart after two steps\n", gap);
	FEM_CHECK(gap > -0.01);
	fem_world_destroy(world);
}
