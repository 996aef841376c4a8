// Rigid pieces that are convex: their planes are those of what they are, they touch in few points, and rest, tilt and
// fall as solids do. What is not convex is several of them.
#include "base/vec.h"
#include "collision/overlap.h"
#include "collision/piece_parts.h"
#include "contact_rig.h"
#include "fem_test.h"
#include "model/piece.h"
#include "overlap_rig.h"
#include "scenes/box_mesh.h"
#include "topology/surface.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DT (1.0f / 60.0f)

static FemBlock rigid_block(float size, int32_t n) {
	FemBlock block = fem_block(size, n);
	block.material.young_modulus = 1e9f;
	block.body.dynamics = FEM_DYNAMICS_RIGID;
	return block;
}

static FemWorldId rigid_world(bool has_floor) {
	FemWorldDef def = fem_contact_world_def();
	if (!has_floor)
		def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	if (has_floor)
		fem_add_plane(world, FEM_SHAPE_HALF_SPACE, fem_rotation_z(0.0), 0.5f);
	return world;
}

static int32_t body_contacts(FemWorldId world) {
	const FemWorld *inside = fem_world_find(world);
	int32_t count = 0;
	for (int32_t c = 0; c < inside->contacts.contact_count; c++)
		count += fem_side_is_body(&inside->contacts.contacts[c].side[1]);
	return count;
}

// The same planes and volume however a box was cut into tets, wherever it has come to after a tumble.
FEM_TEST(convex_pieces, have_the_planes_of_a_box) {
	for (int32_t n = 1; n <= 3; n++) {
		FemWorldId world = rigid_world(false);
		FemBlock block = rigid_block(0.3f, n);
		block.size = (FemVec3){0.3f, 0.2f, 0.1f};
		block.body.position = (FemPosition){3.0, 1.0, -2.0};
		block.body.rotation = fem_random_rotation();
		block.body.angular_velocity = (FemVec3){3.0f, 1.0f, -2.0f};
		FemBody *body = fem_body_find(fem_block_add(world, &block), NULL);
		fem_steps(world, 40);
		FemPieceParts parts;
		fem_piece_parts_find(body, 0, FEM_PIECE_PARTS, &parts);
		FEM_CHECK_INT(parts.count, 1);
		FEM_CHECK_INT(parts.hulls[0].plane_count, 6);
		FEM_CHECK_INT(parts.hulls[0].vertex_count, 8);
		FEM_CHECK_INT((int32_t)parts.hulls[0].exterior, 63);
		FemVec4 storage[FEM_PIECE_HULL_PLANES + FEM_PIECE_HULL_VERTICES];
		FemConvex shape, all;
		FemOverlap overlap;
		FEM_REQUIRE(fem_piece_hull_shape(body, 0, &parts.hulls[0], storage, &shape));
		FemVec3 half = fem_vec3(4.0f, 4.0f, 4.0f);
		FemConvexBox around;
		FEM_REQUIRE(fem_convex_box(shape.origin, (FemQuat){.w = 1.0f}, fem_vec3_scale(half, 4.0f), &around, &all));
		FEM_REQUIRE(fem_overlap(&shape, &all, &overlap));
		FEM_CHECK_NEAR(overlap.volume / (0.3f * 0.2f * 0.1f), 1.0, 1e-3);
		fem_world_destroy(world);
	}
}

// Three of four cubes in an L, 0.4 m wide and high; the notch is where x and y are over 0.2.
static FemBodyId add_bent_as(FemWorldId world, const FemBlock *block) {
	FemBoxMesh mesh = fem_box_mesh(2, 2, 1, (FemVec3){0.4f, 0.4f, 0.2f}, FEM_CELLS_KUHN);
	mesh.tet_count = 18; // cells in order of i, j: the last of the four goes, with its last two nodes
	mesh.node_count = 16;
	FemMeshDef mesh_def = fem_box_mesh_def(&mesh);
	FemBodyDef def = block->body;
	def.mesh = fem_mesh_create(world, &mesh_def);
	FemMaterialId material = fem_material_create(world, &block->material);
	def.materials = &material;
	def.material_count = 1;
	FemBodyId bent = fem_body_create(world, &def);
	mesh.tet_count = 24, mesh.node_count = 18;
	fem_box_mesh_free(&mesh);
	FEM_CHECK(fem_body_is_valid(bent));
	return bent;
}

static FemBodyId add_bent(FemWorldId world) {
	FemBlock block = rigid_block(0.15f, 1);
	return add_bent_as(world, &block);
}

// A cube of 0.15 m with its lowest corner there.
static FemBodyId add_cube(FemWorldId world, FemPosition corner) {
	FemBlock block = rigid_block(0.15f, 1);
	block.body.position = corner;
	return fem_block_add(world, &block);
}

// It is two solids of six planes that meet in one: the notch is part of neither. A cube that stands in it without
// touching is not pushed.
FEM_TEST(convex_pieces, do_not_fill_a_notch) {
	FemWorldId world = rigid_world(false);
	FemBodyId bent = add_bent(world), cube = add_cube(world, (FemPosition){0.225, 0.225, 0.025});
	fem_steps(world, 30);
	FemPieceParts parts;
	fem_piece_parts_find(fem_body_find(bent, NULL), 0, FEM_PIECE_PARTS, &parts);
	FEM_CHECK_INT(parts.count, 2);
	FEM_CHECK_INT(parts.hulls[0].plane_count + parts.hulls[1].plane_count, 12);
	FEM_CHECK_INT(__builtin_popcount(parts.hulls[0].exterior) + __builtin_popcount(parts.hulls[1].exterior), 10);
	FEM_CHECK(fem_peak_speed(&cube, 1) < 1e-6);
	FEM_CHECK_INT(body_contacts(world), 0);
	fem_world_destroy(world);
}

// What falls into the notch lies on its floor on four points, on a plane that is half surface and half cut, and what
// falls beside it on the other part; nothing is looked for tet by tet.
FEM_TEST(convex_pieces, of_several_parts_hold_what_lies_in_their_notch) {
	FemWorldId world = rigid_world(true);
	add_bent(world);
	FemBodyId cubes[2] = {
		add_cube(world, (FemPosition){0.225, 0.225, 0.025}), add_cube(world, (FemPosition){0.025, 0.41, 0.025})};
	fem_steps(world, 120);
	FEM_CHECK_NEAR(fem_low(cubes[0]), 0.2, 0.003);
	FEM_CHECK_NEAR(fem_low(cubes[1]), 0.4, 0.004);
	FEM_CHECK(fem_peak_speed(cubes, 2) < 1e-3);
	FEM_CHECK_INT(body_contacts(world), 8);
	const FemContactStage *stage = &fem_world_find(world)->contacts;
	FEM_CHECK_INT(stage->narrow.unit_count, 0);
	for (int32_t c = 0; c < stage->contact_count; c++) {
		if (fem_side_is_body(&stage->contacts[c].side[1]))
			FEM_CHECK(fabsf(stage->contacts[c].normal[1]) > 0.999f);
	}
	fem_world_destroy(world);
}

// An L that lies flat on a block has the corners of both of its parts, and needs four: also where its material could
// break, since what is rigid by choice does not.
FEM_TEST(convex_pieces, of_several_parts_lie_on_four_points) {
	FemWorldId world = rigid_world(true);
	FemBlock block = rigid_block(1.0f, 1), bent = rigid_block(0.15f, 1);
	block.size.y = 0.1f;
	bent.material.breakable = true;
	bent.material.toughness = 1e9f;
	bent.body.position = (FemPosition){0.3, 0.1, 0.7};
	bent.body.rotation = (FemQuat){-0.70710678f, 0.0f, 0.0f, 0.70710678f};
	fem_block_add(world, &block);
	FemBodyId id = add_bent_as(world, &bent);
	fem_steps(world, 60);
	FEM_CHECK_NEAR(fem_low(id), 0.1, 0.003);
	FEM_CHECK_INT(body_contacts(world), 4);
	fem_world_destroy(world);
}

// A plane that is surface for a half is, one that is cut all over is not.
FEM_TEST(convex_pieces, have_planes_that_are_surface_and_planes_that_are_cuts) {
	FemWorldId world = rigid_world(false);
	FemBlock block = rigid_block(0.2f, 2);
	FemBody *body = fem_body_find(fem_block_add(world, &block), NULL);
	fem_steps(world, 1);
	FemHullFace faces[48];
	int32_t count = body->trees->triangle_count;
	FEM_REQUIRE(count == 48);
	for (int32_t cut = 0; cut <= 8; cut += 4) { // of the eight faces at x = 0
		int32_t left = cut;
		for (int32_t i = 0; i < count; i++) {
			int32_t face = body->trees->faces[i];
			bool is_side = true;
			for (int c = 0; c < 3; c++) {
				faces[i].nodes[c] = fem_tet_node(body->topology, face / 4, fem_face_corners[face % 4][c]);
				is_side &= body->shape[faces[i].nodes[c]].x < -0.099f;
			}
			faces[i].is_exterior = !is_side || left <= 0;
			left -= is_side;
		}
		FemPieceHull hull;
		FEM_CHECK(fem_piece_hull_find(body, 0, faces, count, NULL, &hull));
		FEM_CHECK_INT(hull.plane_count, 6);
		FEM_CHECK_INT(__builtin_popcount(hull.exterior), cut == 8 ? 5 : 6);
	}
	fem_world_destroy(world);
}

// Of two materials: where it touches decides how it slides, so that no part has both.
FEM_TEST(convex_pieces, of_two_materials_are_parts_of_one_each) {
	FemWorldId world = rigid_world(false);
	FemBlock block = rigid_block(0.3f, 1);
	FemBodyId id = fem_block_add(world, &block);
	fem_steps(world, 1);
	FemBody *body = fem_body_find(id, NULL);
	FemPieceParts parts;
	fem_piece_parts_find(body, 0, FEM_PIECE_PARTS, &parts);
	FEM_CHECK_INT(parts.count, 1);
	int32_t tet = body->trees->faces[0] / 4;
	body->tet_material[tet] += 1;
	fem_piece_parts_find(body, 0, FEM_PIECE_PARTS, &parts);
	bool is_alone = false;
	for (int32_t i = 0; i < parts.count; i++)
		is_alone |= parts.hulls[i].tet == tet && parts.hulls[i].plane_count == 4;
	FEM_CHECK(parts.count > 1 && is_alone);
	body->tet_material[tet] -= 1;
	fem_world_destroy(world);
}

// A stack of 8 stands on four points a floor, and does not sink, creep or lean.
FEM_TEST(convex_pieces, stand_on_four_corners) {
	enum { FLOORS = 8 };
	FemWorldId world = rigid_world(true);
	FemBlock block = rigid_block(0.3f, 3);
	FemBodyId bodies[FLOORS];
	for (int32_t i = 0; i < FLOORS; i++) {
		block.body.position = (FemPosition){0.01 * (i % 3), 0.3 * i, 0.01 * (i % 2)};
		bodies[i] = fem_block_add(world, &block);
	}
	fem_steps(world, 60);
	FemPosition before = fem_center(bodies[FLOORS - 1]);
	fem_steps(world, 300);
	FemPosition after = fem_center(bodies[FLOORS - 1]);
	FEM_CHECK_INT(body_contacts(world), 4 * (FLOORS - 1));
	FEM_CHECK(hypot(after.x - before.x, after.z - before.z) < 1e-4);
	FEM_CHECK(fabs(after.y - before.y) < 1e-4);
	FEM_CHECK(after.y > 0.3 * (FLOORS - 0.5) - 0.002 * FLOORS);
	fem_world_destroy(world);
}

// A block whose middle is 1 cm within the edge of the one below stays, 1 cm beyond it falls.
FEM_TEST(convex_pieces, tilt_over_an_edge) {
	for (int32_t falls = 0; falls < 2; falls++) {
		FemWorldId world = rigid_world(true);
		FemBlock block = rigid_block(0.3f, 2);
		fem_block_add(world, &block);
		block.body.position = (FemPosition){falls ? 0.16 : 0.14, 0.3, 0.02};
		FemBodyId upper = fem_block_add(world, &block);
		fem_steps(world, 120);
		double y = fem_center(upper).y;
		FEM_CHECK(falls ? y < 0.3 : y > 0.447);
		FEM_CHECK(fem_peak_speed(&upper, 1) < (falls ? 10.0 : 1e-3));
		fem_world_destroy(world);
	}
}

// On a slope of 20 and of 30 degrees with a friction of 0.5, which holds up to 26.6: on the face of a larger block.
FEM_TEST(convex_pieces, hold_on_a_slope_and_slide_on_a_steeper_one) {
	for (int32_t slides = 0; slides < 2; slides++) {
		double angle = slides ? 0.5236 : 0.3491;
		FemWorldDef def = fem_contact_world_def();
		def.gravity = (FemVec3){(float)(-9.81 * sin(angle)), (float)(-9.81 * cos(angle)), 0.0f};
		FemWorldId world = fem_world_create(&def);
		FemBlock block = rigid_block(2.0f, 2);
		block.material.friction = 0.5f;
		block.size = (FemVec3){4.0f, 0.5f, 1.0f};
		block.body.position = (FemPosition){-3.0, -0.5, -0.4};
		block.all_pinned = true;
		FemBlock stone = rigid_block(0.2f, 2);
		stone.material.friction = 0.5f;
		fem_block_add(world, &block);
		stone.body.position = (FemPosition){0.0, 0.0, 0.0};
		FemBodyId body = fem_block_add(world, &stone);
		fem_steps(world, 20);
		double x = fem_center(body).x;
		fem_steps(world, 30);
		double slid = x - fem_center(body).x;
		printf("  %g degrees: slid %g mm\n", angle * 57.2958, 1e3 * slid);
		// From rest, 20 to 50 steps at g (sin 30 - 0.5 cos 30).
		if (slides)
			FEM_CHECK_NEAR(slid, 0.5 * 9.81 * (0.5 - 0.5 * 0.8660) * (50.0 * 50.0 - 20.0 * 20.0) / 3600.0, 0.01);
		else
			FEM_CHECK(fabs(slid) < 1e-4);
		fem_world_destroy(world);
	}
}

// Blocks far larger than what they stand on, thin plates, and one that lies wholly in another: nothing flies off.
FEM_TEST(convex_pieces, of_all_sizes_come_apart) {
	static const FemVec3 sizes[] = {
		{2.0f, 0.01f, 2.0f}, {0.02f, 0.02f, 0.02f}, {1.0f, 1.0f, 1.0f}, {0.01f, 1.0f, 0.01f}};
	FemWorldId world = rigid_world(true);
	FemBodyId bodies[8];
	for (int32_t i = 0; i < 8; i++) {
		FemBlock block = rigid_block(0.1f, 1);
		block.size = sizes[i % 4];
		block.body.position = (FemPosition){0.1 * i, 0.2 + 0.05 * i, 0.03 * i};
		block.body.rotation = fem_random_rotation();
		bodies[i] = fem_block_add(world, &block);
	}
	double most = 0.0;
	for (int32_t i = 0; i < 300; i++) {
		fem_steps(world, 1);
		most = fmax(most, fem_peak_speed(bodies, 8));
	}
	printf("  at most %g m/s\n", most);
	FEM_CHECK(most < 20.0);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}
