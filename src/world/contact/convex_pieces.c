// Rigid pieces that are convex touch as two solids, not tet by tet (collision/piece_hull.h).
//
// Those only that stay rigid through the step: a point then acts on six unknowns, wherever the tet is that it is told
// of. Faces of a crack that still lie on each other are known, and hold such pieces as they are (closed_cracks.c).
#include "base/memory.h"
#include "base/vec.h"
#include "collision/piece_hull.h"
#include "fracture/separation.h"
#include "model/bond.h"
#include "model/piece.h"
#include "world/contact/contact_builder.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>

// Of the slop, and of the smaller one's box: a resting contact is as deep as the slop. Both chosen.
#define SLIGHT_DEPTH 0.5f
#define SLIGHT_AREA 0.02f
#define WIDE_SHARE 0.05f // of the side of the smaller one's box: farther apart, points hold it against tilting; chosen

void fem_convex_pieces_forget(FemBody *body) {
	FEM_FREE_ARRAY(body->hulls, body->hull_count);
	body->hulls = NULL;
	body->hull_count = 0;
}

void fem_convex_piece_forget(FemBody *body, int32_t component) {
	if (component < body->hull_count)
		body->hulls[component].state = FEM_PIECE_HULL_UNKNOWN;
}

// Loads that break or bend it are those of single nodes.
static bool stays_rigid(const FemBody *body, int32_t component) {
	const FemPiece *piece = &body->pieces[component];
	bool can_break = body->breaking && body->breaking->can_break;
	bool breaks_on = body->joined && body->joined->refine_on_break;
	return piece->is_rigid && !fem_modal_of(body) && !breaks_on && (!can_break || isinf(piece->margin)) &&
		body->swell == 0.0f;
}

// Found when it is asked for; null without memory, and of what is not convex.
static const FemPieceHull *hull_of(FemBody *body, int32_t component) {
	if (!body->hulls) {
		body->hulls = FEM_ALLOC_ARRAY(FemPieceHull, body->topology->component_count);
		body->hull_count = body->hulls ? body->topology->component_count : 0;
	}
	if (component >= body->hull_count)
		return NULL;
	FemPieceHull *hull = &body->hulls[component];
	if (hull->state == FEM_PIECE_HULL_UNKNOWN)
		*hull = fem_piece_hull_find(body, component);
	return hull->state == FEM_PIECE_HULL_CONVEX ? hull : NULL;
}

bool fem_convex_pieces_may_touch(FemWorld *world, FemBody *a, int32_t piece, FemBody *b, int32_t other) {
	bool has_holds = world->def.friction_mode == FEM_FRICTION_PAPER; // whose friction is of nodes
	return !has_holds && stays_rigid(a, piece) && stays_rigid(b, other) && hull_of(a, piece) && hull_of(b, other);
}

bool fem_convex_pieces_graze(FemBody *body, int32_t piece, int32_t other) {
	return fem_piece_hulls_graze(body, piece, hull_of(body, piece), other, hull_of(body, other));
}

void fem_convex_pieces_list_items(FemWorld *world, int32_t touch_index) {
	FemContactStage *stage = &world->contacts;
	FemTouch touch = stage->touches[touch_index];
	for (int32_t i = touch.hulls.begin; i < touch.hulls.end; i++) {
		const FemPieceHull *a = &world->bodies[touch.body]->hulls[stage->hulls[i].a];
		const FemPieceHull *b = &world->bodies[touch.other]->hulls[stage->hulls[i].b];
		int32_t count = stage->item_count;
		fem_contact_add_item(world, touch_index, a->tet, b->tet);
		if (stage->item_count > count)
			stage->items[count].are_hulls = true;
	}
}

static bool shape_of(const FemBody *body, int32_t tet, FemConvexStorage *storage, FemConvex *out) {
	int32_t component = fem_tet_component(body->topology, tet);
	return fem_piece_hull_shape(body, component, &body->hulls[component], storage, out);
}

static bool find_depths(const FemConvex shapes[2], FemOverlap *out) {
	if (out->point_count > 1)
		fem_overlap_find_depths(&shapes[0], &shapes[1], out);
	return true;
}

bool fem_convex_pieces_overlap(const FemWorld *world, const FemOverlapItem *item, FemOverlap *out) {
	const FemTouch *touch = &world->contacts.touches[item->touch];
	FemConvexStorage storage[2];
	FemConvex shapes[2];
	return shape_of(world->bodies[touch->body], item->tet, &storage[0], &shapes[0]) &&
		shape_of(world->bodies[touch->other], item->other_tet, &storage[1], &shapes[1]) &&
		fem_overlap(&shapes[0], &shapes[1], out) && find_depths(shapes, out);
}

// ---- contacts

// m, of the smaller of two pieces: the side of its box.
static float size_of(const FemContactBuilder *builder, const FemOverlapItem *item) {
	const FemBody *a = builder->world->bodies[builder->touch->body], *b = builder->world->bodies[builder->touch->other];
	return sqrtf(fminf(a->pieces[fem_tet_component(a->topology, item->tet)].box_area,
		b->pieces[fem_tet_component(b->topology, item->other_tet)].box_area));
}

// Of two pieces that hardly meet at an edge or a corner: at rest it would bear nothing.
static bool is_slight(const FemOverlap *overlap, float size, float slop) {
	return overlap->depth < SLIGHT_DEPTH * slop && overlap->area < SLIGHT_AREA * size * size;
}

// Points that are nearer to each other hold pieces no better than one.
static bool is_wide(const FemOverlap *overlap, float size) {
	float most = 0.0f;
	for (int32_t k = 0; k < overlap->point_count; k++)
		most = fmaxf(most, fem_vec3_dot(overlap->points[k].offset, overlap->points[k].offset));
	return most > WIDE_SHARE * WIDE_SHARE * size * size;
}

// m, how far the sides of a contact come nearer in a step by their velocities now.
static float closing(const FemContactBuilder *builder, const FemContact *contact) {
	FemContactRows rows = {.bodies = builder->world->bodies, .proxies = builder->stage->proxies};
	float u[3];
	fem_contact_velocity(&rows, contact, u);
	const float *n = contact->normal;
	return (n[0] * u[0] + n[1] * u[1] + n[2] * u[2]) * builder->step->dt;
}

// m^2, in the coordinates of the tet of side 0, which moves with its piece: of where two contacts of it are.
static float distance_sq(const FemBody *body, const FemContactSide *side, const FemContactSide *other) {
	FemVec3 sum = fem_vec3(0.0f, 0.0f, 0.0f);
	for (int k = 0; k < 4; k++) {
		FemVec3 x = fem_vec3_from(body->position[side->nodes[k]]);
		sum = fem_vec3_add(sum, fem_vec3_scale(x, side->weights[k] - other->weights[k]));
	}
	return fem_vec3_dot(sum, sum);
}

// A point takes the number of the nearest of the last step's, with what that one knows: the ends of a face come in
// another order when the overlap has hardly changed, and what rests on points that change creeps.
static void number_points(const FemContactBuilder *builder, FemContact *contacts, int32_t count, const FemBody *body) {
	const FemContact *last = builder->stage->last_contacts + builder->last.begin;
	FemRange range = fem_contacts_of_pieces(last, builder->last.end - builder->last.begin, &contacts[0]);
	unsigned taken = 0, numbered = 0;
	for (;;) {
		float least = INFINITY;
		int32_t point = -1;
		uint64_t number = 0;
		for (int32_t i = range.begin; i < range.end; i++) {
			uint64_t key = last[i].key >> 32;
			bool is_same = last[i].side[0].tet == contacts[0].side[0].tet &&
				last[i].side[1].tet == contacts[0].side[1].tet && key < FEM_OVERLAP_POINTS;
			for (int32_t k = 0; k < count && is_same && !(taken >> key & 1); k++) {
				float square = distance_sq(body, &contacts[k].side[0], &last[i].side[0]);
				if (!(numbered >> k & 1) && square < least)
					least = square, point = k, number = key;
			}
		}
		if (point < 0)
			break;
		contacts[point].key = number << 32;
		taken |= 1u << number;
		numbered |= 1u << point;
	}
	for (int32_t k = 0; k < count; k++) {
		if (numbered >> k & 1)
			continue;
		unsigned number = (unsigned)__builtin_ctz(~taken);
		contacts[k].key = (uint64_t)number << 32;
		taken |= 1u << number;
	}
}

static FemContact point_contact(const FemContactBuilder *builder, const FemOverlapItem *item, const FemOverlap *overlap,
	const FemOverlapPoint *point) {
	const FemTouch *touch = builder->touch;
	const FemWorld *world = builder->world;
	float dt = builder->step->dt;
	FemPosition at = fem_position_move(overlap->centre, fem_vec3d_from(point->offset));
	FemContact contact = {
		.area = overlap->area * point->share,
		.depth = point->depth,
		.friction = sqrtf(fem_contact_builder_friction(world, touch->body, item->tet) *
			fem_contact_builder_friction(world, touch->other, item->other_tet)),
		.restitution = fmaxf(fem_contact_builder_restitution(world, touch->body, item->tet, dt),
			fem_contact_builder_restitution(world, touch->other, item->other_tet, dt)),
	};
	fem_contact_builder_set_piece_side(builder, &contact.side[0], touch->body, item->tet, at);
	fem_contact_builder_set_piece_side(builder, &contact.side[1], touch->other, item->other_tet, at);
	return contact;
}

void fem_contact_builder_add_convex(FemContactBuilder *builder, const FemOverlapItem *item, const FemOverlap *overlap) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	float slop = fem_contact_builder_slop(body, item->tet), size = size_of(builder, item);
	const FemOverlapPoint middle = {.share = 1.0f, .depth = overlap->depth};
	bool wide = is_wide(overlap, size);
	FemContact contacts[FEM_OVERLAP_POINTS];
	int32_t count = 0;
	for (int32_t k = 0; k < (wide ? overlap->point_count : 1); k++) {
		contacts[count] = point_contact(builder, item, overlap, wide ? &overlap->points[k] : &middle);
		if (!fem_contact_builder_set_normal(builder, &contacts[count], overlap))
			return;
		count += !(is_slight(overlap, size, slop) && closing(builder, &contacts[count]) < slop);
	}
	if (count > 0)
		number_points(builder, contacts, count, body);
	for (int32_t k = 0; k < count; k++)
		fem_contact_builder_add(builder, &contacts[k], slop, false);
}
