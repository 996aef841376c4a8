// Nodes against planes: a half space, and the faces of boxes, hulls and triangles. Their support is then the outline of
// the body itself. One point at the middle of each overlap would shrink it, and a cube would tip on a slope down which
// it should slide (docs/method.md, "Support"). What pokes into a face between its nodes is still found by its overlap.
#include "base/assert.h"
#include "base/search.h"
#include "base/vec.h"
#include "collision/lanes4.h"
#include "fracture/separation.h"
#include "model/modal.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/contact/contact_builder.h"
#include "world/world.h"

#include <math.h>

#define FAST_SHARE 2.0f // of a step's displacement: a collider is fast beyond half a thickness a step; chosen

typedef struct NodePlane {
	int32_t node;
	float area;     // m^2, of the faces that lie on the plane
	FemVec3 normal; // unit, out of the collider
	float depth;    // m
	bool ahead;     // a gap may close within the step: half spaces only, all others need an overlap
	int32_t sub_shape;
} NodePlane;

static void add_plane_node(FemContactBuilder *builder, const NodePlane *at) {
	const FemTouch *touch = builder->touch;
	FemContactStage *stage = builder->stage;
	const FemBody *body = builder->world->bodies[touch->body];
	int32_t node = at->node;
	float depth = at->depth - body->swell;
	if (!fem_contact_stage_hold(builder->world, (int64_t)stage->contact_count + 1)) {
		stage->full = true;
		return;
	}
	int32_t tet = body->topology->node_tets[body->topology->node_tet_start[node]] >> 2;
	int32_t piece = fem_node_component(body->topology, node);
	float dt = builder->step->dt, push = builder->push;
	FemContact contact = {
		.normal = {-at->normal.x, -at->normal.y, -at->normal.z},
		.area = at->area,
		.depth = depth,
		.friction = sqrtf(touch->friction * fem_contact_builder_friction(builder->world, touch->body, tet)),
		.restitution = fmaxf(
			touch->restitution, fem_contact_builder_restitution(builder->world, touch->body, tet, builder->step->dt)),
		.normal_strength = at->ahead ? FEM_CONTACT_KAPPA * body->mass[node]
									 : fem_contact_builder_strength(builder, piece, -1) * at->area,
		.key = (uint64_t)(FEM_CONTACT_NODE_KEY) << 32 | (uint32_t)at->sub_shape,
		.side[0] = {.kind = FEM_SIDE_NODE,
			.body = touch->body,
			.node = node,
			.piece = piece,
			.nodes = {node, node, node, node},
			.weights = {1.0f},
			.is_fixed = body->live_part_count == 0},
	};
	fem_contact_builder_set_collider_side(builder, &contact.side[1],
		fem_position_move(body->origin, fem_vec3d_from4(body->position[node])), (FemVec3d){0.0, 0.0, 0.0});
	contact.bias = depth <= 0.0f
		? depth / dt
		: fminf(push * depth / dt, fem_contact_builder_push_limit(depth, fem_contact_builder_tet_edge(body, tet)));
	fem_contact_builder_start(builder, &contact, 0.0f);
	stage->contacts[stage->contact_count++] = contact;
}

static void add_half_space(FemContactBuilder *builder, int32_t component) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	const FemCollider *collider = &builder->world->colliders[builder->touch->other];
	FemVec3d up = fem_quat_rotate(collider->shape_rotation, (FemVec3d){0.0, 1.0, 0.0});
	NodePlane at = {.normal = fem_vec3d_to_vec3(up), .ahead = true};
	float offset = (float)fem_vec3d_dot(up, fem_position_sub(collider->shape_position, body->origin)),
		  dt = builder->step->dt;
	FemVec3 fall = fem_vec3_scale(fem_body_gravity(builder->world, body), dt);
	FemRange nodes = body->topology->component_nodes[component];
	int32_t first = fem_first_not_below(body->surface_nodes, body->surface_node_count, nodes.begin);
	for (int32_t i = first; i < body->surface_node_count && body->surface_nodes[i] < nodes.end; i++) {
		int32_t node = at.node = body->surface_nodes[i];
		at.area = body->surface_area[i];
		float away = fem_vec3_dot(at.normal, fem_vec3_add(fem_vec3_from(body->velocity[node]), fall));
		at.depth = offset - fem_vec3_dot(at.normal, fem_vec3_from(body->position[node]));
		if (at.depth - dt * away >= -FEM_GROUND_SLOP) // may close its gap within the step, no more
			add_plane_node(builder, &at);
	}
}

void fem_contact_builder_add_half_spaces(FemContactBuilder *builder) {
	const FemTopology *t = builder->world->bodies[builder->touch->body]->topology;
	for (int32_t i = builder->touch->pieces.begin; i < builder->touch->pieces.end; i++) {
		if (builder->stage->pieces[i].a < t->component_count)
			add_half_space(builder, builder->stage->pieces[i].a);
	}
}

// The plane through which the node is nearest to the outside; false when it is outside. (Counting nodes in that hover
// by a hair makes friction 15 % too strong.) Of a fast solid only faces that look along its velocity count, since a
// node may lie nearer to the far side of a blade.
static bool nearest_plane(const FemConvex *shape, int32_t plane_count, FemVec3 x, FemVec3 coming, NodePlane *at) {
	at->depth = INFINITY;
	for (int32_t p = 0; p < shape->plane_count; p++) {
		FemVec4 plane = shape->planes[p];
		float depth = plane.w - (plane.x * x.x + plane.y * x.y + plane.z * x.z);
		if (depth < 0.0f)
			return false;
		bool faces = plane.x * coming.x + plane.y * coming.y + plane.z * coming.z >= 0.0f;
		if (p < plane_count && faces && depth < at->depth) {
			at->depth = depth;
			at->normal = (FemVec3){plane.x, plane.y, plane.z};
		}
	}
	return at->depth < INFINITY;
}

// Velocity of the collider relative to the node, m/s; 0 unless that is fast, since a slow one says nothing of nodes
// that move along with the collider.
static FemVec3 coming_at(const FemContactBuilder *builder, int32_t node) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	const FemCollider *collider = &builder->world->colliders[builder->touch->other];
	if (!builder->touch->ahead)
		return (FemVec3){0.0f, 0.0f, 0.0f};
	FemVec3d arm =
		fem_position_sub(fem_position_move(body->origin, fem_vec3d_from4(body->position[node])), collider->position);
	FemVec3 by_rotation = fem_vec3_cross(collider->angular_velocity, fem_vec3d_to_vec3(arm));
	FemVec3 coming =
		fem_vec3_sub(fem_vec3_add(collider->linear_velocity, by_rotation), fem_vec3_from(body->velocity[node]));
	float thickness = body->pieces[fem_node_component(body->topology, node)].thickness;
	bool is_fast =
		FAST_SHARE * builder->step->dt * fem_vec3_length(coming) > fminf(fem_collider_thickness(collider), thickness);
	return is_fast ? coming : (FemVec3){0.0f, 0.0f, 0.0f};
}

static FemVec3 point_in(const FemConvex *shape, const FemBody *body, int32_t node) {
	FemVec3 shift = fem_vec3d_to_vec3(fem_position_sub(body->origin, shape->origin));
	return fem_vec3_add(fem_vec3_from(body->position[node]), shift);
}

static bool is_inside(
	const FemContactBuilder *builder, const FemConvex *shape, int32_t plane_count, int32_t node, NodePlane *at) {
	FemVec3 x = point_in(shape, builder->world->bodies[builder->touch->body], node);
	return nearest_plane(
		shape, plane_count, x, plane_count > 1 ? coming_at(builder, node) : (FemVec3){0.0f, 0.0f, 0.0f}, at);
}

// ---- which nodes

const FemModal *fem_contact_few_points(const FemBody *body) {
	return body->breaking && body->breaking->can_break ? NULL : fem_modal_of(body); // fewer points bend it more
}

// Bit k: point k, relative to the origin of the shape, is behind all planes.
static unsigned points_inside(const Float4 p[4], const FemConvex *shape) {
	Float4 least = all4(0.0f);
	Float4 x = {p[0][0], p[1][0], p[2][0], p[3][0]}, y = {p[0][1], p[1][1], p[2][1], p[3][1]},
		   z = {p[0][2], p[1][2], p[2][2], p[3][2]};
	for (int32_t i = 0; i < shape->plane_count; i++) {
		FemVec4 n = shape->planes[i];
		least = min4(all4(n.w) - (all4(n.x) * x + all4(n.y) * y + all4(n.z) * z), least);
	}
	return not_above4(all4(0.0f), least);
}

// Bit k: node k of the tet is.
static unsigned nodes_inside(const FemBody *body, int32_t tet, const FemConvex *shape) {
	FemVec3 shift = fem_vec3d_to_vec3(fem_position_sub(body->origin, shape->origin));
	Float4 p[4], offset = {shift.x, shift.y, shift.z, 0.0f};
	for (int k = 0; k < 4; k++)
		p[k] = load4(&body->position[fem_tet_node(body->topology, tet, k)]) + offset;
	return points_inside(p, shape);
}

uint8_t fem_contact_nodes_held(const FemBody *body, int32_t tet, const FemConvex *shape) {
	unsigned inside = nodes_inside(body, tet, shape), held = 0, outer = 0;
	for (unsigned face = 0; face < 4 && inside; face++) {
		unsigned corners = 15u & ~(1u << face);
		if (!(body->tet_exterior[tet] >> face & 1))
			continue;
		outer |= corners;
		held |= (inside & corners) == corners ? corners : 0;
	}
	return (uint8_t)(fem_contact_few_points(body) ? inside & outer : held);
}

// Makes room for one area per node, all 0: the scratch is left zero after each use, and what grows is zeroed.
static bool clear_node_areas(FemContactStage *stage, int32_t nodes) {
	for (int32_t i = 0; FEM_HAS_ASSERTS && i < stage->node_area_capacity; i++)
		FEM_ASSERT(stage->node_area[i] == 0.0f);
	return FEM_LIST_HOLD(stage->node_area, stage->node_area_capacity, nodes, INT32_MAX);
}

// Area of the surface nodes of a body that are inside, m^2. Marks them in the stage's scratch, all of it 0 before.
static float mark_inside(FemContactStage *stage, const FemBody *body, const FemConvex *shape, int32_t *count) {
	FemVec3 shift = fem_vec3d_to_vec3(fem_position_sub(body->origin, shape->origin));
	const Float4 offset = {shift.x, shift.y, shift.z, 0.0f};
	float area = 0.0f;
	for (int32_t begin = 0; begin < body->surface_node_count; begin += 4) {
		Float4 p[4];
		int32_t last = body->surface_node_count - 1;
		for (int32_t k = 0; k < 4; k++)
			p[k] = load4(&body->position[body->surface_nodes[begin + k < last ? begin + k : last]]) + offset;
		unsigned inside = points_inside(p, shape);
		for (int32_t k = 0; inside && k < 4 && begin + k <= last; k++) {
			if (!(inside >> k & 1))
				continue;
			stage->node_area[body->surface_nodes[begin + k]] = body->surface_area[begin + k];
			area += body->surface_area[begin + k];
			++*count;
		}
	}
	return area;
}

// A tet that has the node at an outer face.
static int32_t outer_tet(const FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	for (int32_t i = t->node_tet_start[node]; i < t->node_tet_start[node + 1]; i++) {
		if (body->tet_exterior[t->node_tets[i] >> 2] & ~(1 << (t->node_tets[i] & 3)))
			return t->node_tets[i] >> 2;
	}
	return t->node_tets[t->node_tet_start[node]] >> 2;
}

bool fem_contact_list_few(FemWorld *world, int32_t touch_index) {
	FemContactStage *stage = &world->contacts;
	FemTouch *touch = &stage->touches[touch_index];
	const FemBody *body = world->bodies[touch->body];
	const FemCollider *collider = &world->colliders[touch->other];
	const FemModal *modal = fem_contact_few_points(body);
	FemConvexStorage storage;
	FemConvex shape;
	int32_t count = 0, found = 0;
	bool is_solid = collider->shape.type == FEM_SHAPE_BOX || collider->shape.type == FEM_SHAPE_CONVEX;
	if (!modal || !is_solid || touch->ahead || !fem_collider_flat_shape(collider, 0, &storage, &shape) ||
		!clear_node_areas(stage, body->topology->node_count))
		return false;
	float area = mark_inside(stage, body, &shape, &count);
	bool is_enough = count >= fem_modal_points_max(modal);
	for (int32_t n = 0; is_enough && n < modal->node_count && found < fem_modal_points_max(modal); n++) {
		if (stage->node_area[modal->spread[n]] == 0.0f)
			continue;
		fem_contact_add_item(world, touch_index, outer_tet(body, modal->spread[n]), 0);
		found++;
	}
	for (int32_t i = 0; count > 0 && i < body->surface_node_count; i++)
		stage->node_area[body->surface_nodes[i]] = 0.0f;
	touch->inside_area = is_enough ? area : 0.0f;
	return is_enough;
}

static float face_area(const FemBody *body, const int32_t nodes[3]) {
	FemVec3 a = fem_vec3_from(body->position[nodes[0]]);
	FemVec3 u = fem_vec3_sub(fem_vec3_from(body->position[nodes[1]]), a);
	FemVec3 v = fem_vec3_sub(fem_vec3_from(body->position[nodes[2]]), a);
	return 0.5f * fem_vec3_length(fem_vec3_cross(u, v));
}

static void add_area(FemContactBuilder *builder, int32_t node, float area, int32_t *count) {
	FemContactStage *stage = builder->stage;
	if (stage->node_area[node] == 0.0f) {
		if (!FEM_LIST_HOLD(
				stage->candidates, stage->candidate_capacity, *count + 1, builder->world->def.contact_capacity))
			return; // what is not listed would not be cleared
		stage->candidates[(*count)++] = node;
	}
	stage->node_area[node] += area;
}

// Nodes of a tet that are held by themselves stand for all faces around them.
static void add_nodes(FemContactBuilder *builder, const FemOverlapItem *item, int32_t *count) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	for (int k = 0; k < 4; k++) {
		int32_t node = fem_tet_node(body->topology, item->tet, k);
		if (!(item->held >> k & 1) || builder->stage->node_area[node] > 0.0f)
			continue;
		int32_t at = fem_first_not_below(body->surface_nodes, body->surface_node_count, node);
		add_area(builder, node, body->surface_area[at], count);
	}
}

// Nodes of an outer face that lies wholly inside share its area.
static void add_faces(FemContactBuilder *builder, const FemOverlapItem *item, int32_t *count) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	for (int face = 0; face < 4; face++) {
		int32_t nodes[3];
		unsigned corners = 15u & ~(1u << face);
		if (!(body->tet_exterior[item->tet] >> face & 1) || (item->held & corners) != corners)
			continue;
		for (int k = 0; k < 3; k++)
			nodes[k] = fem_tet_node(body->topology, item->tet, (face + 1 + k) % 4);
		for (int k = 0; k < 3; k++)
			add_area(builder, nodes[k], face_area(body, nodes) / 3.0f, count);
	}
}

// Nodes that are held and the area they stand for are gathered in the stage's scratch. Returns the number of nodes.
static int32_t gather_held(FemContactBuilder *builder, FemRange items) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	FemContactStage *stage = builder->stage;
	bool few = fem_contact_few_points(body) != NULL;
	int32_t count = 0;
	if (!clear_node_areas(stage, body->topology->node_count))
		return 0;
	for (int32_t i = items.begin; i < items.end; i++) {
		if (stage->items[i].held && few)
			add_nodes(builder, &stage->items[i], &count);
		else if (stage->items[i].held)
			add_faces(builder, &stage->items[i], &count);
	}
	return count;
}

// Of the nodes of what moves by modes those that are spread best, as fem_contact_builder_thin_out() would choose them,
// each with its share of all area. Returns how many are left.
static int32_t choose_nodes(FemContactBuilder *builder, int32_t count) {
	FemContactStage *stage = builder->stage;
	const FemModal *modal = fem_contact_few_points(builder->world->bodies[builder->touch->body]);
	if (!modal || count < fem_modal_points_max(modal))
		return count;
	int32_t bound = 0, found = 0, left = 0;
	float all = 0.0f, kept = 0.0f;
	for (; found < fem_modal_points_max(modal); bound++)
		found += stage->node_area[modal->spread[bound]] > 0.0f;
	for (int32_t i = 0; i < count; i++) {
		int32_t node = stage->candidates[i];
		all += stage->node_area[node];
		if (modal->rank[node] < bound) {
			kept += stage->node_area[node];
			stage->candidates[left++] = node;
		} else {
			stage->node_area[node] = 0.0f;
		}
	}
	all = builder->touch->inside_area > 0.0f ? builder->touch->inside_area : all;
	for (int32_t i = 0; i < left; i++)
		stage->node_area[stage->candidates[i]] *= all / kept;
	return left;
}

static void add_nodes_inside(FemContactBuilder *builder, const FemConvex *shape, int32_t plane_count, FemRange items) {
	FemContactStage *stage = builder->stage;
	int32_t count = choose_nodes(builder, gather_held(builder, items));
	int32_t sub_shape = stage->items[items.begin].other_tet;
	for (int32_t i = 0; i < count; i++) {
		NodePlane at = {
			.node = stage->candidates[i], .area = stage->node_area[stage->candidates[i]], .sub_shape = sub_shape};
		stage->node_area[at.node] = 0.0f;
		if (at.area > 0.0f && is_inside(builder, shape, plane_count, at.node, &at))
			add_plane_node(builder, &at);
	}
}

// Holds faces that lie wholly inside a flat solid at their nodes. Items of a collider are sorted by its sub-shapes.
void fem_contact_builder_add_flat(FemContactBuilder *builder) {
	FemRange items = builder->touch->items;
	const FemCollider *collider = &builder->world->colliders[builder->touch->other];
	FemRange sub_shape = {items.begin, items.begin};
	for (; sub_shape.begin < items.end; sub_shape.begin = sub_shape.end) {
		FemConvexStorage storage;
		FemConvex shape;
		int32_t index = builder->stage->items[sub_shape.begin].other_tet;
		while (sub_shape.end < items.end && builder->stage->items[sub_shape.end].other_tet == index)
			sub_shape.end++;
		if (!fem_collider_flat_shape(collider, index, &storage, &shape))
			continue;
		bool is_solid = collider->shape.type == FEM_SHAPE_BOX || collider->shape.type == FEM_SHAPE_CONVEX;
		add_nodes_inside(builder, &shape, is_solid ? shape.plane_count : 1, sub_shape); // of a prism only the triangle
	}
}
