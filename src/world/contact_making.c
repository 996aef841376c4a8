// Contacts from overlaps: points, weights, strengths, and what they keep from the last step.
#include "base/search.h"
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/step.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

typedef struct Maker {
	FemStep *step;
	FemWorld *world;
	FemContactStage *stage;
	const FemTouch *touch;
} Maker;

// ------------------------------------------------------------------------------------------------------------------ sides

static double volume6(FemPosition a, FemPosition b, FemPosition c, FemPosition d) {
	return fem_position_dot(fem_position_sub(b, a), fem_position_cross(fem_position_sub(c, a), fem_position_sub(d, a)));
}

// Barycentric coordinates, extrapolated for points outside; the centroid's for a crushed tet.
static void set_weights(const FemBody *body, FemContactSide *side, FemPosition point) {
	FemPosition x[4], p = fem_position_sub(point, body->origin);
	for (int i = 0; i < 4; i++)
		x[i] = fem_position_from4(body->position[side->nodes[i]]);
	double whole = volume6(x[0], x[1], x[2], x[3]), sum = 0.0, w[4];
	w[0] = volume6(p, x[1], x[2], x[3]) / whole;
	w[1] = volume6(x[0], p, x[2], x[3]) / whole;
	w[2] = volume6(x[0], x[1], p, x[3]) / whole;
	for (int i = 0; i < 3; i++)
		sum += w[i];
	w[3] = 1.0 - sum;
	for (int i = 0; i < 4; i++) {
		bool sound = fabs(w[0]) < 8.0 && fabs(w[1]) < 8.0 && fabs(w[2]) < 8.0 && fabs(w[3]) < 8.0;
		side->weights[i] = sound ? (float)w[i] : 0.25f;
	}
}

static void set_body_side(const Maker *maker, FemContactSide *side, int32_t body_index, int32_t tet, FemPosition point) {
	const FemBody *body = maker->world->bodies[body_index];
	*side = (FemContactSide){.body = body_index, .tet = tet, .is_fixed = body->live_part_count == 0};
	for (int i = 0; i < 4; i++)
		side->nodes[i] = fem_tet_node(body->topology, tet, i);
	set_weights(body, side, point);
}

static void set_collider_side(const Maker *maker, FemContactSide *side, FemPosition point) {
	int32_t index = maker->touch->other;
	const FemCollider *collider = &maker->world->colliders[index];
	const FemCollider *leader = collider->leader >= 0 ? &maker->world->colliders[collider->leader] : collider;
	FemVec3 arm = fem_vec3_sub(fem_position_to_vec3(fem_position_sub(point, leader->position)), leader->center);
	*side = (FemContactSide){
		.body = -1,
		.tet = index,
		.proxy = collider->leader >= 0 ? collider->leader : index,
		.arm = {arm.x, arm.y, arm.z},
		.is_fixed = !fem_collider_is_free(collider),
	};
	if (collider->shape.type == FEM_SHAPE_HALF_SPACE)
		side->arm[0] = side->arm[1] = side->arm[2] = 0.0f;
}

static float tet_friction(const FemWorld *world, int32_t body, int32_t tet) {
	return world->materials[world->bodies[body]->tet_material[tet]].def.friction;
}

// ------------------------------------------------------------------------------------------------------------------ matching

// A contact's place: its bodies, then tets (of a collider its piece, then the tet), then the point.
static void place_of(const FemContact *c, int32_t out[5]) {
	bool collider = c->side[1].body < 0;
	out[0] = c->side[0].body;
	out[1] = collider;
	out[2] = collider ? c->side[1].tet : c->side[1].body;
	out[3] = collider ? (int32_t)(uint32_t)c->key : c->side[0].tet;
	out[4] = collider ? c->side[0].tet : c->side[1].tet;
}

int fem_contact_compare_places(const FemContact *a, const FemContact *b) {
	int32_t left[5], right[5];
	place_of(a, left);
	place_of(b, right);
	for (int i = 0; i < 5; i++) {
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	}
	return a->key < b->key ? -1 : a->key > b->key;
}

FemContact *fem_contact_find_place(FemContact *contacts, int32_t count, const FemContact *contact) {
	int32_t low = 0, high = count;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		int order = fem_contact_compare_places(&contacts[middle], contact);
		if (order == 0)
			return &contacts[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

// Active by what it did in the last step or would do in this one (contact.md, "Active set").
static void start(const Maker *maker, FemContact *contact, float slop) {
	const FemContact *last = fem_contact_find_place(maker->stage->last_contacts, maker->stage->last_count, contact);
	FemContactRows rows = {.bodies = maker->world->bodies, .proxies = maker->stage->proxies};
	float u[3];
	fem_contact_velocity(&rows, contact, false, u);
	float along = contact->normal[0] * u[0] + contact->normal[1] * u[1] + contact->normal[2] * u[2];
	contact->approach = along;
	contact->active = (last && last->press > 0.0f) || along + contact->bias > 0.0f || (!last && contact->depth > slop);
	if (last && last->press > 0.0f && last->is_static) {
		contact->is_static = true;
		memcpy(contact->static_integral, last->static_integral, sizeof last->static_integral);
		memcpy(contact->static_slip, last->static_slip, sizeof last->static_slip);
	}
	if (last && last->press > 0.0f)
		contact->friction_strength = last->friction_strength;
}

// Of a regular tet of this tet's rest volume, m.
static float tet_edge(const FemBody *body, int32_t tet) {
	return cbrtf(8.5f * body->batches[tet / FEM_LANES].volume[tet % FEM_LANES]);
}

// m/s. What a step of an impact overlaps is let go gently, since the push stays in the body as speed; bodies that stand
// deep in each other part quickly.
static float push_limit(float depth, float edge) {
	float share = (depth / edge - 0.1f) / 0.4f;
	return FEM_CONTACT_PUSH_MIN + (FEM_CONTACT_PUSH_MAX - FEM_CONTACT_PUSH_MIN) * fminf(fmaxf(share, 0.0f), 1.0f);
}

static void add_contact(Maker *maker, FemContact *contact, float slop) {
	FemContactStage *stage = maker->stage;
	float dt = maker->step->dt, push = maker->world->def.contact_push;
	if (stage->contact_count == stage->contact_capacity) {
		stage->full = true;
		return;
	}
	contact->normal_strength = maker->touch->strength * contact->area;
	float edge = tet_edge(maker->world->bodies[contact->side[0].body], contact->side[0].tet);
	contact->bias = fminf(push * (contact->depth - slop) / dt, push_limit(contact->depth, edge));
	start(maker, contact, slop);
	stage->contacts[stage->contact_count++] = *contact;
}

// -------------------------------------------------------------------------------------------------------------- tet overlaps

static float tet_slop(const FemBody *body, int32_t tet) {
	return fminf(FEM_CONTACT_SLOP, FEM_CONTACT_SLOP_SHARE * tet_edge(body, tet));
}

// Without a direction of its own the pair is pushed apart against its motion.
static bool set_normal(Maker *maker, FemContact *contact, const FemOverlap *overlap) {
	FemVec3 n = overlap->normal;
	if (overlap->flags & FEM_OVERLAP_NO_DIRECTION) {
		FemContactRows rows = {.bodies = maker->world->bodies, .proxies = maker->stage->proxies};
		float u[3];
		fem_contact_velocity(&rows, contact, false, u);
		float length = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
		if (!(length > 1e-3f))
			return false;
		n = (FemVec3){u[0] / length, u[1] / length, u[2] / length};
	}
	contact->normal[0] = n.x, contact->normal[1] = n.y, contact->normal[2] = n.z;
	return true;
}

static void add_overlap(Maker *maker, const FemOverlapItem *item, const FemOverlap *overlap, bool several_points) {
	const FemTouch *touch = maker->touch;
	const FemBody *body = maker->world->bodies[touch->body];
	float friction = tet_friction(maker->world, touch->body, item->tet);
	float other = touch->is_collider ? touch->friction : tet_friction(maker->world, touch->other, item->other_tet);
	float slop = tet_slop(body, item->tet);
	int32_t points = several_points ? overlap->point_count : 1;
	for (int32_t k = 0; k < points; k++) {
		FemPosition point = overlap->centre;
		if (several_points)
			point = fem_position_add(point, fem_position_from(overlap->points[k].offset));
		FemContact contact = {
			.area = overlap->area * (several_points ? overlap->points[k].share : 1.0f),
			.depth = overlap->depth,
			.friction = sqrtf(friction * other),
			.of_sheet = touch->of_sheet,
			.key = (uint64_t)k << 32 | (uint32_t)(touch->is_collider ? item->other_tet : 0),
		};
		set_body_side(maker, &contact.side[0], touch->body, item->tet, point);
		if (touch->is_collider)
			set_collider_side(maker, &contact.side[1], point);
		else
			set_body_side(maker, &contact.side[1], touch->other, item->other_tet, point);
		if (set_normal(maker, &contact, overlap))
			add_contact(maker, &contact, slop);
	}
}

// Overlaps without opposed faces are dropped where the pair has enough that do (contact.md, "Direction r"). Nodes held by a
// flat solid oppose it: `held` is their area, m^2. (Sides of a cube that lands on a box would brake it otherwise.)
static bool drops_fallbacks(const Maker *maker, float held) {
	float opposed = held, fallback = 0.0f;
	for (int32_t i = maker->touch->items.begin; i < maker->touch->items.end; i++) {
		const FemOverlap *overlap = &maker->stage->overlaps[i];
		if (!maker->stage->items[i].found)
			continue;
		if (overlap->flags & (FEM_OVERLAP_FALLBACK | FEM_OVERLAP_NO_DIRECTION))
			fallback += overlap->area;
		else
			opposed += overlap->area;
	}
	return opposed > 0.25f * fallback;
}

static void add_overlaps(Maker *maker, float held) {
	FemRange items = maker->touch->items;
	bool drops = drops_fallbacks(maker, held), several = items.end - items.begin <= FEM_CONTACT_FEW_ITEMS;
	for (int32_t i = items.begin; i < items.end; i++) {
		const FemOverlap *overlap = &maker->stage->overlaps[i];
		bool fallback = (overlap->flags & (FEM_OVERLAP_FALLBACK | FEM_OVERLAP_NO_DIRECTION)) != 0;
		if (maker->stage->items[i].found && !(fallback && drops))
			add_overlap(maker, &maker->stage->items[i], overlap, several);
	}
}

// ------------------------------------------------------------------------------------------------------------- flat solids
//
// Nodes against planes: a half space, and the faces of boxes, hulls and triangles. Their support is then the outline of
// the body itself. One point at the middle of each overlap would shrink it, and a cube would tip on a slope down which it
// should slide (contact.md, "Open"). What pokes into a face between its nodes is still found by its overlap.

typedef struct NodePlane {
	int32_t node;
	float area;     // m^2, of the faces that lie on the plane
	FemVec3 normal; // unit, out of the collider
	float depth;    // m
	bool ahead;     // a gap may close within the step: half spaces only, all others need an overlap
	int32_t piece;
} NodePlane;

static void add_plane_node(Maker *maker, const NodePlane *at) {
	const FemTouch *touch = maker->touch;
	FemContactStage *stage = maker->stage;
	const FemBody *body = maker->world->bodies[touch->body];
	int32_t node = at->node;
	if (stage->contact_count == stage->contact_capacity) {
		stage->full = true;
		return;
	}
	int32_t tet = body->topology->node_tets[body->topology->node_tet_start[node]] >> 2;
	float dt = maker->step->dt, push = maker->world->def.contact_push;
	FemContact contact = {
		.normal = {-at->normal.x, -at->normal.y, -at->normal.z},
		.area = at->area,
		.depth = at->depth,
		.friction = sqrtf(touch->friction * tet_friction(maker->world, touch->body, tet)),
		.normal_strength = at->ahead ? FEM_CONTACT_KAPPA * body->mass[node] : touch->strength * at->area,
		.key = (uint64_t)(FEM_CONTACT_NODE_KEY) << 32 | (uint32_t)at->piece,
		.side[0] = {.body = touch->body, .tet = node, .nodes = {node, node, node, node}, .weights = {1.0f},
			.is_fixed = body->live_part_count == 0},
	};
	set_collider_side(maker, &contact.side[1], fem_position_add(body->origin, fem_position_from4(body->position[node])));
	contact.bias = at->depth <= 0.0f ? at->depth / dt : fminf(push * at->depth / dt, push_limit(at->depth, tet_edge(body, tet)));
	start(maker, &contact, 0.0f);
	stage->contacts[stage->contact_count++] = contact;
}

static void add_half_space(Maker *maker, int32_t component) {
	const FemBody *body = maker->world->bodies[maker->touch->body];
	const FemCollider *collider = &maker->world->colliders[maker->touch->other];
	FemPosition up = fem_quat_rotate(collider->shape_rotation, (FemPosition){0.0, 1.0, 0.0});
	NodePlane at = {.normal = fem_position_to_vec3(up), .ahead = true};
	float offset = (float)fem_position_dot(up, fem_position_sub(collider->shape_position, body->origin)), dt = maker->step->dt;
	FemVec3 fall = fem_vec3_scale(fem_body_gravity(maker->world, body), dt);
	FemRange nodes = body->topology->component_nodes[component];
	int32_t first = fem_first_not_below(body->surface_nodes, body->surface_node_count, nodes.begin);
	for (int32_t i = first; i < body->surface_node_count && body->surface_nodes[i] < nodes.end; i++) {
		int32_t node = at.node = body->surface_nodes[i];
		at.area = body->surface_area[i];
		float away = fem_vec3_dot(at.normal, fem_vec3_add(fem_vec3_from(body->velocity[node]), fall));
		at.depth = offset - fem_vec3_dot(at.normal, fem_vec3_from(body->position[node]));
		if (at.depth - dt * away >= -FEM_GROUND_SLOP) // may close its gap within the step, no more
			add_plane_node(maker, &at);
	}
}

static void add_half_spaces(Maker *maker) {
	const FemTopology *t = maker->world->bodies[maker->touch->body]->topology;
	for (int32_t i = maker->touch->pieces.begin; i < maker->touch->pieces.end; i++) {
		if (maker->stage->pieces[i].a < t->component_count)
			add_half_space(maker, maker->stage->pieces[i].a);
	}
}

// The plane through which the node is nearest to the outside; false when it is outside. (Counting nodes in that hover
// by a hair makes friction 15 % too strong.)
static bool nearest_plane(const FemConvex *shape, int32_t plane_count, FemVec3 x, NodePlane *at) {
	at->depth = INFINITY;
	for (int32_t p = 0; p < shape->plane_count; p++) {
		FemVec4 plane = shape->planes[p];
		float depth = plane.w - (plane.x * x.x + plane.y * x.y + plane.z * x.z);
		if (depth < 0.0f)
			return false;
		if (p < plane_count && depth < at->depth) {
			at->depth = depth;
			at->normal = (FemVec3){plane.x, plane.y, plane.z};
		}
	}
	return true;
}

static bool is_inside(const Maker *maker, const FemConvex *shape, int32_t plane_count, int32_t node, NodePlane *at) {
	const FemBody *body = maker->world->bodies[maker->touch->body];
	FemVec3 shift = fem_position_to_vec3(fem_position_sub(body->origin, shape->origin));
	FemVec3 x = fem_vec3_add(fem_vec3_from(body->position[node]), shift);
	return nearest_plane(shape, plane_count, x, at);
}

static float face_area(const FemBody *body, const int32_t nodes[3]) {
	FemVec3 a = fem_vec3_from(body->position[nodes[0]]);
	FemVec3 u = fem_vec3_sub(fem_vec3_from(body->position[nodes[1]]), a);
	FemVec3 v = fem_vec3_sub(fem_vec3_from(body->position[nodes[2]]), a);
	return 0.5f * fem_vec3_length(fem_vec3_cross(u, v));
}

// An outer face that lies wholly inside the solid is held at its nodes; the overlap of its tet is dropped. Nodes and the
// area they stand for are gathered in the stage's scratch. Returns the number of nodes.
static int32_t gather_faces_inside(Maker *maker, const FemConvex *shape, FemRange items) {
	const FemBody *body = maker->world->bodies[maker->touch->body];
	FemContactStage *stage = maker->stage;
	int32_t count = 0;
	for (int32_t i = items.begin; i < items.end; i++) {
		FemOverlapItem *item = &stage->items[i];
		for (int face = 0; face < 4; face++) {
			int32_t nodes[3];
			NodePlane at;
			if (!(body->tet_exterior[item->tet] >> face & 1))
				continue;
			for (int k = 0; k < 3; k++)
				nodes[k] = fem_tet_node(body->topology, item->tet, (face + 1 + k) % 4);
			if (!is_inside(maker, shape, 1, nodes[0], &at) || !is_inside(maker, shape, 1, nodes[1], &at) ||
				!is_inside(maker, shape, 1, nodes[2], &at))
				continue;
			item->held = true;
			item->found = false;
			for (int k = 0; k < 3; k++) {
				if (stage->node_area[nodes[k]] == 0.0f && count < stage->candidate_capacity)
					stage->candidates[count++] = nodes[k];
				stage->node_area[nodes[k]] += face_area(body, nodes) / 3.0f;
			}
		}
	}
	return count;
}

static void add_nodes_inside(Maker *maker, const FemConvex *shape, int32_t plane_count, FemRange items) {
	FemContactStage *stage = maker->stage;
	int32_t count = gather_faces_inside(maker, shape, items), piece = stage->items[items.begin].other_tet;
	for (int32_t i = 0; i < count; i++) {
		NodePlane at = {.node = stage->candidates[i], .area = stage->node_area[stage->candidates[i]], .piece = piece};
		stage->node_area[at.node] = 0.0f;
		if (at.area > 0.0f && is_inside(maker, shape, plane_count, at.node, &at))
			add_plane_node(maker, &at);
	}
}

// Items of a collider come piece by piece.
static void add_flat(Maker *maker) {
	FemRange items = maker->touch->items;
	const FemCollider *collider = &maker->world->colliders[maker->touch->other];
	FemRange piece = {items.begin, items.begin};
	for (; piece.begin < items.end; piece.begin = piece.end) {
		FemConvexStorage storage;
		FemConvex shape;
		int32_t index = maker->stage->items[piece.begin].other_tet;
		while (piece.end < items.end && maker->stage->items[piece.end].other_tet == index)
			piece.end++;
		if (!fem_collider_flat_shape(collider, index, &storage, &shape))
			continue;
		bool is_solid = collider->shape.type == FEM_SHAPE_BOX || collider->shape.type == FEM_SHAPE_CONVEX;
		add_nodes_inside(maker, &shape, is_solid ? shape.plane_count : 1, piece); // of a prism only the triangle
	}
}

// ------------------------------------------------------------------------------------------------------------------- make

// By place, as matching wants them. Each kind comes in order, so there is little to do: insertion.
static void sort_contacts(FemContact *contacts, int32_t count) {
	for (int32_t i = 1; i < count; i++) {
		FemContact moved = contacts[i];
		int32_t j = i;
		for (; j > 0 && fem_contact_compare_places(&contacts[j - 1], &moved) > 0; j--)
			contacts[j] = contacts[j - 1];
		contacts[j] = moved;
	}
}

void fem_contacts_make(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	FemContact *swapped = stage->last_contacts;
	stage->last_contacts = stage->contacts;
	stage->last_count = stage->contact_count;
	stage->contacts = swapped;
	stage->contact_count = 0;
	Maker maker = {step, world, stage, NULL};
	for (int32_t t = 0; t < stage->touch_count; t++) {
		maker.touch = &stage->touches[t];
		FemRange made = {stage->contact_count, stage->contact_count};
		if (maker.touch->is_collider && world->colliders[maker.touch->other].shape.type == FEM_SHAPE_HALF_SPACE)
			add_half_spaces(&maker);
		else if (maker.touch->is_collider)
			add_flat(&maker);
		float held = 0.0f;
		for (int32_t i = made.begin; i < stage->contact_count; i++)
			held += stage->contacts[i].area;
		add_overlaps(&maker, held);
		made.end = stage->contact_count;
		sort_contacts(stage->contacts + made.begin, made.end - made.begin);
		fem_contacts_strengthen(stage, maker.touch, made, world->def.contact_push, step->dt);
	}
}
