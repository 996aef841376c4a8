// Nodes against planes: a half space, and the faces of boxes, hulls and triangles. Their support is then the outline of
// the body itself. One point at the middle of each overlap would shrink it, and a cube would tip on a slope down which
// it should slide (docs/method.md, "Support"). What pokes into a face between its nodes is still found by its overlap.
#include "base/assert.h"
#include "base/search.h"
#include "base/vec.h"
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

static bool is_inside(
	const FemContactBuilder *builder, const FemConvex *shape, int32_t plane_count, int32_t node, NodePlane *at) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	FemVec3 shift = fem_vec3d_to_vec3(fem_position_sub(body->origin, shape->origin));
	FemVec3 x = fem_vec3_add(fem_vec3_from(body->position[node]), shift);
	return nearest_plane(
		shape, plane_count, x, plane_count > 1 ? coming_at(builder, node) : (FemVec3){0.0f, 0.0f, 0.0f}, at);
}

static float face_area(const FemBody *body, const int32_t nodes[3]) {
	FemVec3 a = fem_vec3_from(body->position[nodes[0]]);
	FemVec3 u = fem_vec3_sub(fem_vec3_from(body->position[nodes[1]]), a);
	FemVec3 v = fem_vec3_sub(fem_vec3_from(body->position[nodes[2]]), a);
	return 0.5f * fem_vec3_length(fem_vec3_cross(u, v));
}

// Makes room for one area per node, all 0: the scratch is left zero after each use, and what grows is zeroed.
static bool clear_node_areas(FemContactStage *stage, int32_t nodes) {
	for (int32_t i = 0; FEM_HAS_ASSERTS && i < stage->node_area_capacity; i++)
		FEM_ASSERT(stage->node_area[i] == 0.0f);
	return FEM_LIST_HOLD(stage->node_area, stage->node_area_capacity, nodes, INT32_MAX);
}

// An outer face that lies wholly inside the solid is held at its nodes; the overlap of its tet is dropped. Nodes and
// the area they stand for are gathered in the stage's scratch. Returns the number of nodes.
static int32_t gather_faces_inside(FemContactBuilder *builder, const FemConvex *shape, FemRange items) {
	const FemBody *body = builder->world->bodies[builder->touch->body];
	FemContactStage *stage = builder->stage;
	int32_t count = 0;
	if (!clear_node_areas(stage, body->topology->node_count))
		return 0;
	for (int32_t i = items.begin; i < items.end; i++) {
		FemOverlapItem *item = &stage->items[i];
		for (int face = 0; face < 4; face++) {
			int32_t nodes[3];
			NodePlane at;
			if (!(body->tet_exterior[item->tet] >> face & 1))
				continue;
			for (int k = 0; k < 3; k++)
				nodes[k] = fem_tet_node(body->topology, item->tet, (face + 1 + k) % 4);
			if (!is_inside(builder, shape, 1, nodes[0], &at) || !is_inside(builder, shape, 1, nodes[1], &at) ||
				!is_inside(builder, shape, 1, nodes[2], &at))
				continue;
			item->held = true;
			item->found = false;
			for (int k = 0; k < 3; k++) {
				if (stage->node_area[nodes[k]] == 0.0f) {
					if (!FEM_LIST_HOLD(stage->candidates, stage->candidate_capacity, count + 1,
							builder->world->def.contact_capacity))
						continue; // what is not listed would not be cleared
					stage->candidates[count++] = nodes[k];
				}
				stage->node_area[nodes[k]] += face_area(body, nodes) / 3.0f;
			}
		}
	}
	return count;
}

static void add_nodes_inside(FemContactBuilder *builder, const FemConvex *shape, int32_t plane_count, FemRange items) {
	FemContactStage *stage = builder->stage;
	int32_t count = gather_faces_inside(builder, shape, items), sub_shape = stage->items[items.begin].other_tet;
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
