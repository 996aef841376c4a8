// Closed cracks: faces that were one and still lie on each other.
//
// Tets keep their numbers when a body breaks, so that its mesh tells which faces were one: nothing is searched, and
// nothing is kept from step to step. While the corners of two such faces are near each other, the pair carries one
// contact, in the middle, along the normal of the face and with its area; an overlap of the two tets would give
// several, with the depths and normals of slivers. The faces take no part in the narrow phase: what they reach into is
// each other, or tets that have an edge or a corner in common with them.
//
// Faces that have parted or slid farther than that touch like any others, and the overlap of their tets goes on with
// what the contact of the crack knew (crack_contacts.c).
#include "base/search.h"
#include "base/vec.h"
#include "collision/crack_tets.h"
#include "collision/surface_trees.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/bond.h"
#include "model/piece.h"
#include "topology/surface.h"
#include "topology/topology.h"
#include "world/contact/contact_builder.h"

#include <math.h>
#include <string.h>

// Of a tet's edge: how far a corner of a closed face may be off its other copy; chosen. With a quarter the debris of a
// twisted pole is hardly thrown outward, since its faces hold what overlaps would push (0.03 instead of 0.2 m/s).
#define CLOSED_SHARE 0.1

// ---- two faces

// The corners of a face, and for each the copy of the same node at the face across.
static void list_corners(const FemCrackTets *cracks, const FemClosedFaces *faces, FemVec3 x[3], FemVec3 y[3]) {
	const FemTopology *t = cracks->topology;
	int32_t tet = faces->face / 4, other = faces->across / 4;
	const int32_t *nodes = cracks->mesh_tets + 4 * (size_t)t->user_of_tet[tet];
	const int32_t *twins = cracks->mesh_tets + 4 * (size_t)t->user_of_tet[other];
	for (int k = 0; k < 3; k++) {
		int32_t corner = fem_face_corners[faces->face % 4][k], twin = 0;
		while (twin < 3 && twins[twin] != nodes[corner])
			twin++;
		x[k] = fem_vec3_from(cracks->position[fem_tet_node(t, tet, corner)]);
		y[k] = fem_vec3_from(cracks->position[fem_tet_node(t, other, twin)]);
	}
}

static FemVec3 area_of(const FemVec3 x[3]) {
	return fem_vec3_scale(fem_vec3_cross(fem_vec3_sub(x[1], x[0]), fem_vec3_sub(x[2], x[0])), 0.5f);
}

static FemVec3 centroid_of(const FemVec3 x[3]) {
	return fem_vec3_scale(fem_vec3_add(fem_vec3_add(x[0], x[1]), x[2]), 1.0f / 3.0f);
}

// Where two faces stand that were one; false when they no longer lie on each other.
static bool measure(const FemCrackTets *cracks, FemClosedFaces *faces) {
	FemVec3 x[3], y[3];
	float apart_sq = 0.0f;
	list_corners(cracks, faces, x, y);
	for (int k = 0; k < 3; k++) {
		FemVec3 offset = fem_vec3_sub(x[k], y[k]);
		apart_sq = fmaxf(apart_sq, fem_vec3_dot(offset, offset));
	}
	FemVec3 area = fem_vec3_scale(fem_vec3_add(area_of(x), area_of(y)), 0.5f); // both in the order of the first
	FemVec3 a = centroid_of(x), b = centroid_of(y);
	faces->area = fem_vec3_length(area);
	faces->normal = fem_vec3_scale(area, 1.0f / faces->area);
	faces->depth = fem_vec3_dot(faces->normal, fem_vec3_sub(a, b));
	faces->point = fem_vec3_scale(fem_vec3_add(a, b), 0.5f);
	return faces->area > 0.0f &&
		fem_crack_copies_are_near(cracks, faces->face / 4, faces->across / 4, apart_sq, CLOSED_SHARE);
}

// ---- find

static bool is_still(const FemWorld *world, const FemBody *body, int32_t component) {
	return component >= body->sweep_proxy_count || world->sweep.proxies[body->pieces[component].sweep_proxy].still;
}

// Whether two tets are of two pieces of which one may move.
static bool may_touch(const FemWorld *world, const FemBody *body, int32_t tet, int32_t other) {
	int32_t a = fem_tet_component(body->topology, tet), b = fem_tet_component(body->topology, other);
	bool is_over = fem_piece_is_going(&body->pieces[a]) || fem_piece_is_going(&body->pieces[b]);
	return a != b && !is_over && !fem_pieces_are_joined(body, a, b) &&
		!(is_still(world, body, a) && is_still(world, body, b));
}

// The face that was one with an outer face and stands after it; -1: none.
static int32_t across_crack(const FemTopology *t, const FemTopology *mesh, int32_t face) {
	int32_t across = mesh->neighbours[face];
	bool is_crack = across > face && t->neighbours[face] < 0;
	return is_crack && t->user_of_tet[face / 4] >= 0 && t->user_of_tet[across / 4] >= 0 ? across : -1;
}

static uint64_t pair_key(int32_t a, int32_t b) {
	return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

// Faces of two pieces mostly follow each other.
static void note_pair(FemContactStage *stage, FemRange *pairs, uint64_t key) {
	bool is_noted = pairs->end > pairs->begin && stage->closed_pairs[pairs->end - 1].key == key;
	if (!is_noted &&
		FEM_LIST_HOLD(stage->closed_pairs, stage->closed_pair_capacity, 2 * ((int64_t)pairs->end + 1), INT32_MAX))
		stage->closed_pairs[pairs->end++] = (FemKeyed){.key = key};
}

// Pairs that find no room touch like any others.
static void list_faces(
	FemWorld *world, const FemBody *body, const FemCrackTets *cracks, uint8_t *marks, FemRange *pairs) {
	FemContactStage *stage = &world->contacts;
	const FemTopology *mesh = world->meshes[body->mesh_index].topology;
	for (int32_t i = 0; i < body->trees->triangle_count; i++) {
		int32_t face = body->trees->faces[i], across = across_crack(body->topology, mesh, face);
		FemClosedFaces faces = {.face = face, .across = across};
		if (across < 0 || !may_touch(world, body, face / 4, across / 4) || !measure(cracks, &faces) ||
			!FEM_LIST_HOLD(
				stage->closed, stage->closed_capacity, (int64_t)stage->closed_count + 1, world->def.contact_capacity))
			continue;
		stage->closed[stage->closed_count++] = faces;
		marks[face / 4] |= (uint8_t)(1 << face % 4);
		marks[across / 4] |= (uint8_t)(1 << across % 4);
		note_pair(stage, pairs,
			pair_key(fem_tet_component(body->topology, face / 4), fem_tet_component(body->topology, across / 4)));
	}
}

static void find_of_body(FemWorld *world, int32_t index) {
	FemContactStage *stage = &world->contacts;
	const FemBody *body = world->bodies[index];
	int32_t tets = body->topology->batch_count * FEM_LANES, marks = stage->closed_mark_count;
	if (!body->own_topology || !body->self_contact || body->live_part_count == 0 ||
		!FEM_LIST_HOLD(stage->closed_marks, stage->closed_mark_capacity, (int64_t)marks + tets, INT32_MAX) ||
		!FEM_LIST_HOLD(stage->closed_bodies, stage->closed_body_capacity, stage->closed_body_count + 1, INT32_MAX))
		return;
	memset(stage->closed_marks + marks, 0, (size_t)tets);
	stage->closed_mark_count += tets;
	int32_t place = stage->closed_body_count++;
	FemClosedBody *closed = &stage->closed_bodies[place];
	*closed = (FemClosedBody){.body = index,
		.faces = {stage->closed_count, stage->closed_count},
		.pairs = {stage->closed_pair_count, stage->closed_pair_count},
		.marks = marks};
	FemCrackTets cracks = fem_closed_cracks_tets(world, place);
	FemRange *pairs = &closed->pairs;
	if (body->topology->component_count > 1)
		list_faces(world, body, &cracks, stage->closed_marks + marks, pairs);
	closed->faces.end = stage->closed_count;
	stage->closed_pair_count = pairs->end;
	fem_key_sort(stage->closed_pairs + pairs->begin, stage->closed_pairs + pairs->end, pairs->end - pairs->begin);
}

void fem_closed_cracks_find(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	stage->closed_body_count = stage->closed_count = stage->closed_mark_count = stage->closed_pair_count = 0;
	for (int32_t i = 0; world->breakable_count > 0 && i < world->islands.active_count; i++)
		find_of_body(world, world->islands.active_bodies[i]);
}

static bool is_of_lower(const void *closed, const void *body) {
	return ((const FemClosedBody *)closed)->body < *(const int32_t *)body;
}

int32_t fem_closed_cracks_of(const FemContactStage *stage, int32_t body) {
	int32_t count = stage->closed_body_count;
	int32_t place = fem_first_not_before(stage->closed_bodies, count, sizeof(FemClosedBody), is_of_lower, &body);
	return place < count && stage->closed_bodies[place].body == body ? place : -1;
}

bool fem_closed_cracks_join(const FemContactStage *stage, int32_t place, int32_t a, int32_t b) {
	if (place < 0)
		return false;
	FemRange pairs = stage->closed_bodies[place].pairs;
	return fem_key_is_among(stage->closed_pairs + pairs.begin, pairs.end - pairs.begin, pair_key(a, b));
}

FemCrackTets fem_closed_cracks_tets(const FemWorld *world, int32_t place) {
	const FemClosedBody *closed = &world->contacts.closed_bodies[place];
	const FemBody *body = world->bodies[closed->body];
	return (FemCrackTets){
		.topology = body->topology,
		.position = body->position,
		.mesh_tets = world->meshes[body->mesh_index].tets,
		.batches = body->batches,
		.closed = world->contacts.closed_marks + closed->marks,
	};
}

// ---- contacts

// Whether the gap between the faces may close in this step.
static bool may_close(const FemContactBuilder *builder, const FemContact *contact, float slop) {
	FemContactRows rows = {.bodies = builder->world->bodies, .proxies = builder->stage->proxies};
	float u[3];
	fem_contact_velocity(&rows, contact, u);
	float along = contact->normal[0] * u[0] + contact->normal[1] * u[1] + contact->normal[2] * u[2];
	return contact->depth + fmaxf(along, 0.0f) * builder->step->dt > -slop;
}

static void add_pair(FemContactBuilder *builder, const FemClosedFaces *faces) {
	const FemWorld *world = builder->world;
	int32_t index = builder->touch->body, tet = faces->face / 4, other = faces->across / 4;
	const FemBody *body = world->bodies[index];
	FemPosition point = fem_position_move(body->origin, fem_vec3d_from(faces->point));
	float slop = fem_contact_builder_slop(body, tet);
	FemContact contact = {
		.normal = {faces->normal.x, faces->normal.y, faces->normal.z},
		.area = faces->area,
		.depth = faces->depth,
		.friction =
			sqrtf(fem_contact_builder_friction(world, index, tet) * fem_contact_builder_friction(world, index, other)),
		.key = FEM_CONTACT_CRACK_KEY,
	};
	fem_contact_builder_set_body_side(builder, &contact.side[0], index, tet, point);
	fem_contact_builder_set_body_side(builder, &contact.side[1], index, other, point);
	if (may_close(builder, &contact, slop))
		fem_contact_builder_add(builder, &contact, slop, false);
}

void fem_contact_builder_add_closed_cracks(FemContactBuilder *builder) {
	const FemContactStage *stage = builder->stage;
	if (builder->touch->closed < 0)
		return;
	FemRange faces = stage->closed_bodies[builder->touch->closed].faces;
	for (int32_t i = faces.begin; i < faces.end; i++)
		add_pair(builder, &stage->closed[i]);
}
