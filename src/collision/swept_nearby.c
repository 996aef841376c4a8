#include "collision/swept_nearby.h"

#include "collision/tree_walk.h"
#include "fem_basics.h"
#include "topology/topology.h"

static Float4 float4_from(FemVec3 v) {
	return (Float4){v.x, v.y, v.z, 0.0f};
}

static Box4 moved_box(Box4 box, Float4 by) {
	return (Box4){box.min + by, box.max + by};
}

static Box4 grown_box(Box4 box, float by) {
	return (Box4){box.min - all4(by), box.max + all4(by)};
}

void fem_nearby_start(
	FemNearby *nearby, const FemSweptPiece *a, const FemSweptPiece *b, FemVisitSwept *visit, void *context) {
	FemPosition from = a->body->origin, to = b->body->origin;
	nearby->a = a;
	nearby->b = b;
	nearby->offset = (Float4){(float)(from.x - to.x), (float)(from.y - to.y), (float)(from.z - to.z), 0.0f};
	nearby->reach = 0.0f;
	nearby->visit = visit;
	nearby->context = context;
	nearby->ended = false;
	nearby->face_count = nearby->solid_count = 0;
}

// A node in the frame that moves with the mean displacement of b: start and displacement, m. Grows the box to hold its
// path.
static void place_node(
	const FemNearby *nearby, const FemSweptPiece *piece, int32_t node, Float4 *start, Float4 *displacement, Box4 *box) {
	*start = fem_swept_point(piece, node, 0.0f);
	*displacement = fem_swept_point(piece, node, 1.0f) - *start - float4_from(nearby->b->shift);
	if (piece == nearby->a)
		*start += nearby->offset;
	for (int end = 0; end < 2; end++) {
		Float4 p = *start + all4(nearby->fractions[end]) * *displacement;
		*box = (Box4){min4(p, box->min), max4(p, box->max)};
	}
}

static void visit_face(FemNearby *nearby, const FemSweptFace *face) {
	const FemSweptSolid *met[4];
	int32_t count = 0;
	for (int32_t j = 0; j < nearby->solid_count && !nearby->ended; j++) {
		if (boxes_meet4(face->box, nearby->solids[j].box))
			met[count++] = &nearby->solids[j];
		if (count == 4) {
			nearby->ended = nearby->visit(nearby->context, face, met, count);
			count = 0;
		}
	}
	if (count > 0 && !nearby->ended)
		nearby->ended = nearby->visit(nearby->context, face, met, count);
}

static void visit_pairs(FemNearby *nearby) {
	for (int32_t i = 0; i < nearby->face_count && !nearby->ended; i++)
		visit_face(nearby, &nearby->faces[i]);
	nearby->solid_count = 0;
}

static void add_solid(FemNearby *nearby, int32_t tet, Box4 all_faces) {
	for (int32_t i = 0; i < nearby->solid_count; i++) {
		if (nearby->solids[i].tet == tet)
			return; // several of its faces are outside
	}
	FemSweptSolid *solid = &nearby->solids[nearby->solid_count];
	solid->tet = tet;
	solid->box = empty_box4();
	for (int k = 0; k < 4; k++)
		place_node(nearby, nearby->b, fem_tet_node(nearby->b->body->topology, tet, k), &solid->start[k],
			&solid->displacement[k], &solid->box);
	if (boxes_meet4(solid->box, all_faces) && ++nearby->solid_count == FEM_NEARBY_BLOCK)
		visit_pairs(nearby);
}

// All tets of b behind triangles that the faces at hand may cross.
static void visit_solids(FemNearby *nearby) {
	const FemSurfaceTrees *trees = nearby->b->body->trees;
	Box4 all_faces = empty_box4();
	TreeWalk walk;
	for (int32_t i = 0; i < nearby->face_count; i++)
		all_faces = joint_box4(nearby->faces[i].box, all_faces);
	Box4 near = grown_box(all_faces, nearby->b->slack + nearby->reach);
	for (int32_t i = nearby->b->span.trees.begin; i < nearby->b->span.trees.end && nearby->face_count > 0; i++) {
		if (!boxes_meet4(trees->trees[i].box, near))
			continue;
		walk_start(&walk, &trees->trees[i], near);
		for (int32_t t; !nearby->ended && (t = walk_next(&walk)) >= 0;) {
			if (t < trees->trees[i].triangles.end)
				add_solid(nearby, trees->topology->triangle_tets[t], all_faces);
		}
	}
	visit_pairs(nearby);
	nearby->face_count = 0;
}

static void add_face(FemNearby *nearby, int32_t triangle, Box4 partner) {
	const FemTopology *topology = nearby->a->body->topology;
	FemSweptFace *face = &nearby->faces[nearby->face_count];
	face->tet = topology->triangle_tets[triangle];
	face->box = empty_box4();
	for (int k = 0; k < 3; k++)
		place_node(nearby, nearby->a, topology->triangles[3 * (size_t)triangle + (size_t)k], &face->start[k],
			&face->displacement[k], &face->box);
	if (boxes_meet4(face->box, partner) && ++nearby->face_count == FEM_NEARBY_BLOCK)
		visit_solids(nearby);
}

// The box of b over these fractions, seen from where a's trees are.
static Box4 partner_box(const FemNearby *nearby) {
	Box4 start = fem_swept_box(nearby->b), box = empty_box4();
	for (int end = 0; end < 2; end++) {
		Float4 against = all4(nearby->fractions[end]) * (float4_from(nearby->b->shift) - float4_from(nearby->a->shift));
		box = joint_box4(moved_box(start, against - nearby->offset), box);
	}
	return grown_box(box, nearby->a->slack + nearby->b->slack + nearby->reach);
}

void fem_nearby_visit(FemNearby *nearby) {
	const FemSurfaceTrees *trees = nearby->a->body->trees;
	Box4 box = partner_box(nearby), partner = grown_box(fem_swept_box(nearby->b), nearby->b->slack + nearby->reach);
	TreeWalk walk;
	for (int32_t i = nearby->a->span.trees.begin; i < nearby->a->span.trees.end; i++) {
		if (!boxes_meet4(trees->trees[i].box, box))
			continue;
		walk_start(&walk, &trees->trees[i], box);
		for (int32_t t; !nearby->ended && (t = walk_next(&walk)) >= 0;) {
			if (t < trees->trees[i].triangles.end)
				add_face(nearby, t, partner);
		}
	}
	visit_solids(nearby);
}
