// Rigid pieces of few convex parts touch as solids, part by part and not tet by tet (collision/piece_parts.h).
//
// Those only that stay rigid through the step: a point then acts on six unknowns, wherever the tet is that it is told
// of. Faces of a crack that still lie on each other are known, and hold such pieces as they are (closed_cracks.c).
#include "world/contact/convex_pieces.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/vec.h"
#include "fracture/separation.h"
#include "model/bond.h"
#include "model/piece.h"
#include "world/contact/contact_builder.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// Of the slop, and of the smaller one's box: a resting contact is as deep as the slop. Both chosen.
#define SLIGHT_DEPTH 0.5f
#define SLIGHT_AREA 0.02f
#define WIDE_SHARE 0.05f // of the side of the smaller one's box: farther apart, points hold it against tilting; chosen

// ---- parts

void fem_convex_pieces_forget(FemBody *body) {
	if (!body->convex)
		return;
	FEM_FREE_ARRAY(body->convex->pieces, body->convex->piece_count);
	FEM_FREE_ARRAY(body->convex->hulls, body->convex->hull_capacity);
	FEM_FREE_ARRAY(body->convex, 1);
	body->convex = NULL;
}

void fem_convex_piece_forget(FemBody *body, int32_t component) {
	if (body->convex && component < body->convex->piece_count)
		body->convex->pieces[component].is_known = false;
}

static bool open_body(FemBody *body) {
	if (body->convex)
		return true;
	FemConvexPieces *made = FEM_ALLOC_ARRAY(FemConvexPieces, 1);
	if (!made)
		return false;
	made->pieces = FEM_ALLOC_ARRAY(FemConvexPiece, body->topology->component_count);
	made->piece_count = made->pieces ? body->topology->component_count : 0;
	body->convex = made;
	return true;
}

// Crumbs of what breaks by its stress are whole solids or go tet by tet: in parts they have more contacts, none of
// which may be left out, and a slab takes 5 % longer (12 seeds).
static int32_t most_parts(const FemBody *body) {
	bool may_break = body->breaking && body->breaking->can_break && !fem_body_stays_rigid(body);
	return may_break ? 1 : FEM_PIECE_PARTS;
}

// Into the place that the piece had before, where there is room: a piece that is taken up again has about the same
// parts. Without memory it has none.
static void find_parts(FemBody *body, int32_t component) {
	FemConvexPieces *convex = body->convex;
	FemConvexPiece *piece = &convex->pieces[component];
	FemPieceParts parts;
	fem_piece_parts_find(body, component, most_parts(body), &parts);
	piece->is_known = true;
	piece->count = 0;
	if (parts.count > piece->room) {
		int64_t end = (int64_t)convex->hull_count + parts.count;
		if (!FEM_LIST_HOLD(convex->hulls, convex->hull_capacity, end, INT32_MAX))
			return;
		piece->first = convex->hull_count;
		piece->room = (uint8_t)parts.count;
		convex->hull_count = (int32_t)end;
	}
	piece->count = (uint8_t)parts.count;
	if (parts.count > 0)
		memcpy(convex->hulls + piece->first, parts.hulls, sizeof *parts.hulls * (size_t)parts.count);
}

// Loads that break or bend it are those of single nodes.
static bool stays_rigid(const FemBody *body, int32_t component) {
	const FemPiece *piece = &body->pieces[component];
	bool can_break = body->breaking && body->breaking->can_break;
	bool breaks_on = body->joined && body->joined->refine_on_break;
	return piece->is_rigid && !fem_modal_of(body) && !breaks_on && (!can_break || isinf(piece->margin)) &&
		body->swell == 0.0f;
}

// Found when they are asked for.
static bool has_parts(FemBody *body, int32_t component) {
	if (!open_body(body) || component >= body->convex->piece_count)
		return false;
	if (!body->convex->pieces[component].is_known)
		find_parts(body, component);
	return body->convex->pieces[component].count > 0;
}

bool fem_convex_pieces_may_touch(FemWorld *world, FemBody *a, int32_t piece, FemBody *b, int32_t other) {
	bool has_holds = world->def.friction_mode == FEM_FRICTION_PAPER; // whose friction is of nodes
	return !has_holds && stays_rigid(a, piece) && stays_rigid(b, other) && has_parts(a, piece) && has_parts(b, other);
}

// ---- where they are

// Notes that the parts of a piece are to be placed in this step. False without memory.
static bool note_piece(FemWorld *world, int32_t body_index, int32_t component) {
	FemContactStage *stage = &world->contacts;
	FemConvexPieces *convex = world->bodies[body_index]->convex;
	FemConvexPiece *piece = &convex->pieces[component];
	int32_t vectors = 0;
	if (piece->placed_in == stage->placed_number)
		return true;
	for (int32_t i = 0; i < piece->count; i++)
		vectors += fem_piece_hull_vectors(&convex->hulls[piece->first + i]);
	if (!FEM_LIST_HOLD(
			stage->placed_pieces, stage->placed_piece_capacity, (int64_t)stage->placed_piece_count + 1, INT32_MAX) ||
		!FEM_LIST_HOLD(stage->solids, stage->solid_capacity, (int64_t)stage->solid_count + piece->count, INT32_MAX) ||
		!FEM_LIST_HOLD(stage->solid_vectors, stage->solid_vector_capacity, (int64_t)stage->solid_vector_count + vectors,
			INT32_MAX))
		return false;
	stage->placed_pieces[stage->placed_piece_count++] = (FemPlacedPiece){
		.body = body_index, .component = component, .solid = stage->solid_count, .vector = stage->solid_vector_count};
	piece->placed_in = stage->placed_number;
	piece->solid = stage->solid_count;
	stage->solid_count += piece->count;
	stage->solid_vector_count += vectors;
	return true;
}

void fem_convex_pieces_begin(FemContactStage *stage) {
	stage->placed_number++;
	stage->hull_count = stage->placed_piece_count = stage->solid_count = stage->solid_vector_count = 0;
}

bool fem_convex_pieces_add(FemWorld *world, int32_t body, int32_t piece, int32_t other_body, int32_t other) {
	FemContactStage *stage = &world->contacts;
	if (!note_piece(world, body, piece) || !note_piece(world, other_body, other) ||
		!FEM_LIST_HOLD(
			stage->hulls, stage->hull_capacity, (int64_t)stage->hull_count + 1, fem_contact_stage_most_pairs(world)))
		return false;
	stage->hulls[stage->hull_count++] = (FemNarrowPieces){piece, other};
	return true;
}

static void place_task(void *context, int32_t index) {
	const FemWorld *world = context;
	const FemContactStage *stage = &world->contacts;
	const FemPlacedPiece *placed = &stage->placed_pieces[index];
	const FemBody *body = world->bodies[placed->body];
	const FemConvexPiece *piece = &body->convex->pieces[placed->component];
	FemVec4 *vectors = stage->solid_vectors + placed->vector;
	for (int32_t i = 0; i < piece->count; i++) {
		const FemPieceHull *hull = &body->convex->hulls[piece->first + i];
		FemConvex *solid = &stage->solids[placed->solid + i];
		if (!fem_piece_hull_shape(body, placed->component, hull, vectors, solid))
			solid->plane_count = 0; // it overlaps nothing
		vectors += fem_piece_hull_vectors(hull);
	}
}

void fem_convex_pieces_place(FemWorld *world) {
	fem_pool_for(world->pool, world->contacts.placed_piece_count, place_task, world);
}

static bool boxes_meet(const FemConvex *a, const FemConvex *b, FemVec3 offset) {
	return a->box_min.x <= b->box_max.x + offset.x && b->box_min.x + offset.x <= a->box_max.x &&
		a->box_min.y <= b->box_max.y + offset.y && b->box_min.y + offset.y <= a->box_max.y &&
		a->box_min.z <= b->box_max.z + offset.z && b->box_min.z + offset.z <= a->box_max.z;
}

// Each part of one piece against each of the other, where their boxes meet.
static void list_pair(FemWorld *world, int32_t touch_index, FemNarrowPieces pair) {
	FemContactStage *stage = &world->contacts;
	const FemTouch *touch = &stage->touches[touch_index];
	const FemConvexPieces *a = world->bodies[touch->body]->convex, *b = world->bodies[touch->other]->convex;
	FemVec3 offset =
		fem_vec3d_to_vec3(fem_position_sub(world->bodies[touch->other]->origin, world->bodies[touch->body]->origin));
	for (int32_t i = 0; i < a->pieces[pair.a].count; i++) {
		int32_t first = a->pieces[pair.a].solid + i;
		for (int32_t k = 0; k < b->pieces[pair.b].count; k++) {
			int32_t second = b->pieces[pair.b].solid + k, count = stage->item_count;
			if (!boxes_meet(&stage->solids[first], &stage->solids[second], offset))
				continue;
			fem_contact_add_item(world, touch_index, a->hulls[a->pieces[pair.a].first + i].tet,
				b->hulls[b->pieces[pair.b].first + k].tet);
			if (stage->item_count == count)
				return;
			stage->items[count].are_hulls = true;
			stage->items[count].solid[0] = first;
			stage->items[count].solid[1] = second;
		}
	}
}

void fem_convex_pieces_list_items(FemWorld *world, int32_t touch_index) {
	FemRange hulls = world->contacts.touches[touch_index].hulls;
	for (int32_t i = hulls.begin; i < hulls.end; i++)
		list_pair(world, touch_index, world->contacts.hulls[i]);
}

// ---- overlaps

static const FemPieceHull *hull_of(
	const FemContactStage *stage, const FemBody *body, int32_t component, int32_t solid) {
	const FemConvexPiece *piece = &body->convex->pieces[component];
	FEM_ASSERT(piece->placed_in == stage->placed_number && solid - piece->solid < piece->count);
	return &body->convex->hulls[piece->first + solid - piece->solid];
}

// Whether two parts of pieces of one body only have an edge or a corner in common, as they had before it broke.
static bool graze(const FemWorld *world, const FemOverlapItem *item) {
	const FemContactStage *stage = &world->contacts;
	const FemTouch *touch = &stage->touches[item->touch];
	const FemBody *body = world->bodies[touch->body];
	if (touch->body != touch->other)
		return false;
	int32_t a = fem_tet_component(body->topology, item->tet), b = fem_tet_component(body->topology, item->other_tet);
	return fem_piece_hulls_graze(
		body, a, hull_of(stage, body, a, item->solid[0]), b, hull_of(stage, body, b, item->solid[1]));
}

bool fem_convex_pieces_overlap(const FemWorld *world, const FemOverlapItem *item, FemOverlap *out) {
	const FemConvex *a = &world->contacts.solids[item->solid[0]], *b = &world->contacts.solids[item->solid[1]];
	if (!fem_overlap(a, b, out) || graze(world, item))
		return false;
	if (out->point_count > 1)
		fem_overlap_find_depths(a, b, out);
	return true;
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
	const FemContact *last = builder->stage->last_contacts;
	FemRange range = builder->last;
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
