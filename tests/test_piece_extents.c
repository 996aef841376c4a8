// Extents of two pieces along the axes of their rest shapes: never apart where boxes overlap, and mostly so where they
// do not.
#include "base/vec.h"
#include "collision/piece_extents.h"
#include "contact_rig.h"
#include "fem_test.h"
#include "overlap_rig.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>

#define PAIRS 400
#define SAMPLES 20 // of a path
#define DT (1.0f / 60.0f)

typedef struct Box {
	FemSweptPiece piece;
	FemVec3d axis[3];
} Box;

static Box add_box(FemWorldId world) {
	FemBlock block = fem_block(0.1f, 1);
	block.size = (FemVec3){0.1f, 0.1f + 0.05f * fem_random_unit(), 0.2f + 0.1f * fem_random_unit()};
	block.body.rotation = fem_random_rotation();
	FemVec3 at = fem_random_vec3();
	block.body.position = (FemPosition){3.5 + 0.11 * (double)at.x, 0.5 + 0.11 * (double)at.y, 0.11 * (double)at.z};
	FemBody *body = fem_body_find(fem_block_add(world, &block), NULL);
	Box box = {.piece = {.body = body, .nodes = {0, body->topology->node_count}, .dt = DT, .lead = DT}};
	FemVec3 v = fem_random_vec3(), w = fem_random_vec3();
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec3 spin = fem_vec3_cross(fem_vec3_scale(w, 5.0f), fem_vec3_from(body->position[i]));
		body->velocity[i] =
			(FemVec4){10.0f * v.x + 0.1f * spin.x, 10.0f * v.y + 0.1f * spin.y, 10.0f * v.z + 0.1f * spin.z, 0.0f};
	}
	box.axis[0] = fem_quat_rotate(block.body.rotation, (FemVec3d){1.0, 0.0, 0.0});
	box.axis[1] = fem_quat_rotate(block.body.rotation, (FemVec3d){0.0, 1.0, 0.0});
	box.axis[2] = fem_quat_rotate(block.body.rotation, (FemVec3d){0.0, 0.0, 1.0});
	return box;
}

// m, how deep the corners of two boxes overlap along an axis.
static double depth_along(const Box *a, const Box *b, FemVec3d axis, float fraction) {
	double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
	for (int side = 0; side < 2; side++) {
		const FemSweptPiece *piece = side ? &b->piece : &a->piece;
		for (int32_t i = piece->nodes.begin; i < piece->nodes.end; i++) {
			Float4 p = fem_swept_point(piece, i, fraction);
			FemPosition o = piece->body->origin;
			double at = axis.x * (o.x + (double)p[0]) + axis.y * (o.y + (double)p[1]) + axis.z * (o.z + (double)p[2]);
			min[side] = fmin(min[side], at);
			max[side] = fmax(max[side], at);
		}
	}
	return fmin(max[0] - min[1], max[1] - min[0]);
}

// Two boxes are apart if they are so along a normal of a side or the cross product of two edges.
static bool overlap(const Box *a, const Box *b, float fraction) {
	for (int i = 0; i < 3; i++) {
		if (depth_along(a, b, a->axis[i], fraction) < 0.0 || depth_along(a, b, b->axis[i], fraction) < 0.0)
			return false;
		for (int j = 0; j < 3; j++) {
			if (depth_along(a, b, fem_vec3d_cross(a->axis[i], b->axis[j]), fraction) < 0.0)
				return false;
		}
	}
	return true;
}

// Fails when the origins of the bodies or the rotations of the shapes are left out, and when the end of the path alone
// is looked at.
FEM_TEST(piece_extents, say_what_is_apart) {
	int32_t apart = 0, told = 0, stay = 0, told_stay = 0;
	fem_random_seed(7);
	for (int32_t n = 0; n < PAIRS; n++) {
		FemWorldDef def = fem_contact_world_def();
		FemWorldId world = fem_world_create(&def);
		Box a = add_box(world), b = add_box(world);
		float depth = fem_pieces_common_depth(&a.piece, &b.piece, 1.0f);
		bool meets = false, is_over = overlap(&a, &b, 1.0f);
		for (int32_t s = 0; s <= SAMPLES; s++)
			meets |= overlap(&a, &b, (float)s / SAMPLES);
		FEM_CHECK(!is_over || depth > 0.0f);
		FEM_CHECK(!is_over || (double)depth <= depth_along(&a, &b, a.axis[0], 1.0f) + 1e-4);
		FEM_CHECK(!meets || !fem_pieces_stay_apart(&a.piece, &b.piece));
		apart += !is_over;
		told += depth < 0.0f;
		stay += !meets;
		told_stay += fem_pieces_stay_apart(&a.piece, &b.piece);
		fem_world_destroy(world);
	}
	printf("  %d of %d that are apart are told, %d of %d that stay so\n", told, apart, told_stay, stay);
	FEM_CHECK(apart > PAIRS / 5 && apart < 4 * PAIRS / 5 && told > 3 * apart / 4);
	FEM_CHECK(stay > PAIRS / 10 && told_stay > stay / 2);
}
