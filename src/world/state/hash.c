// One number for the whole dynamic state. Only values count: no padding, pointers, ids or order of memory.
#include "base/hash.h"
#include "model/body_tet_arrays.h"
#include "model/node_arrays.h"
#include "model/piece.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

static uint64_t hash_vectors(uint64_t hash, const FemVec4 *v, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		hash = fem_hash_float(hash, v[i].x);
		hash = fem_hash_float(hash, v[i].y);
		hash = fem_hash_float(hash, v[i].z);
		hash = fem_hash_float(hash, v[i].w);
	}
	return hash;
}

static uint64_t hash_position(uint64_t hash, FemPosition p) {
	return fem_hash_double(fem_hash_double(fem_hash_double(hash, p.x), p.y), p.z);
}

// How a body that can break hangs together, and its pieces.
static uint64_t hash_breaking(uint64_t hash, const FemBody *body) {
	const FemTopology *t = body->topology;
	if (!body->breaking)
		return hash;
	for (int32_t i = 0; i < t->batch_count * FEM_LANES * 4; i++)
		hash = fem_hash_word(hash, (uint64_t)t->batch_nodes[i]);
	hash = fem_hash_float(hash, (float)body->breaking->crack_time);
	hash = fem_hash_word(hash, (uint64_t)body->breaking->blow_waits);
	for (int32_t c = 0; c < t->component_count; c++)
		hash = fem_hash_word(hash, body->pieces[c].number);
	const FemSplinters *splinters = body->breaking->splinters;
	for (int32_t i = 0; splinters && i < splinters->given.vertex_count; i++) {
		hash = fem_hash_word(
			fem_hash_word(hash, (uint64_t)splinters->owner[i]), splinters->change ? splinters->change[i] : 0);
		for (int v = 0; v < 4; v++)
			hash = fem_hash_float(hash, splinters->weights[i][v]);
	}
	for (int32_t i = 0; splinters && i < splinters->given.splinter_count; i++) {
		if (splinters->home[i] != splinters->first_home[i])
			hash = fem_hash_word(fem_hash_word(hash, (uint64_t)i), (uint64_t)splinters->home[i]);
	}
	return hash;
}

// The arrays by node that have such values.
static uint64_t hash_nodes(uint64_t hash, const FemBody *body, FemNodeValue value) {
	for (int a = 0; a < FEM_NODE_ARRAY_COUNT; a++) {
		const FemNodeArray *array = &fem_node_arrays[a];
		const void *values = fem_node_array(body, array);
		int32_t count = fem_node_array_count(body, array);
		if (!array->is_hashed || array->value != value || !values)
			continue;
		if (value == FEM_NODE_VECTOR)
			hash = hash_vectors(hash, values, count);
		for (int32_t i = 0; value == FEM_NODE_FLOAT && i < count; i++)
			hash = fem_hash_float(hash, ((const float *)values)[i]);
		for (int32_t i = 0; value == FEM_NODE_BYTE && i < count; i++)
			hash = fem_hash_word(hash, ((const uint8_t *)values)[i]);
	}
	return hash;
}

static uint64_t hash_tets(uint64_t hash, const FemBody *body) {
	for (int a = 0; a < FEM_TET_ARRAY_COUNT; a++) {
		const FemBodyTetArray *array = &fem_body_tet_arrays[a];
		const char *values = fem_body_tet_array(body, array);
		int32_t count = array->is_hashed && values ? fem_body_tet_array_count(body, array) : 0;
		for (int32_t i = 0; i < count; i++) {
			const float *state = (const float *)(values + array->value_bytes * (size_t)i + array->state_offset);
			for (size_t k = 0; k < array->state_bytes / sizeof *state; k++)
				hash = fem_hash_float(hash, state[k]);
		}
	}
	return hash;
}

// What fast pieces were held back by, and the strength of the ground under those that bear a load.
static uint64_t hash_pieces(uint64_t hash, const FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemVec3 held = body->pieces[c].held;
		if (held.x != 0.0f || held.y != 0.0f || held.z != 0.0f)
			hash = fem_hash_float(fem_hash_float(fem_hash_float(hash, held.x), held.y), held.z);
		if (body->pieces[c].bears > body->pieces[c].mass)
			hash = fem_hash_float(hash, body->pieces[c].bears);
		if (body->pieces[c].ground_ratio > 1.0f)
			hash = fem_hash_float(hash, body->pieces[c].ground_ratio);
		if (body->pieces[c].frozen_until > 0.0)
			hash = fem_hash_word(
				fem_hash_double(hash, body->pieces[c].frozen_until), (uint64_t)body->pieces[c].waits_to_wake);
	}
	return hash;
}

// How the pieces move, and the shapes of rigid ones.
static uint64_t hash_motion(uint64_t hash, const FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		const FemPiece *piece = &body->pieces[c];
		hash = fem_hash_word(fem_hash_word(hash, (uint64_t)piece->calm_steps), (uint64_t)piece->calm_needed);
		if (!piece->is_rigid)
			continue;
		FemRange nodes = t->component_nodes[c];
		hash = fem_hash_float(fem_hash_float(hash, piece->margin), piece->slack);
		hash = hash_vectors(hash, body->shape + nodes.begin, nodes.end - nodes.begin);
		for (int k = 0; k < 9; k++)
			hash = fem_hash_double(hash, piece->shape_rotation[k]);
	}
	return hash;
}

// Modes as they move; their basis is what the body was given.
static uint64_t hash_modal(uint64_t hash, const FemBody *body) {
	const FemModal *m = fem_modal_of(body);
	for (int32_t k = 0; m && k < m->mode_count; k++)
		hash = fem_hash_double(fem_hash_double(hash, m->z[k]), m->z_velocity[k]);
	for (int k = 0; m && k < FEM_GRABS_MAX; k++) {
		if (m->grabs[k].number != 0)
			hash = hash_position(hash_position(hash, m->grabs[k].target), m->grabs[k].last);
	}
	return hash;
}

// Joints that broke, and what waits to be given back; the rest of them is what the body was cut with.
static uint64_t hash_joined(uint64_t hash, const FemBody *body) {
	const FemJoined *joined = body->joined && body->joined->is_cut ? body->joined : NULL;
	for (int32_t i = 0; joined && i < joined->bond_count; i++)
		hash = fem_hash_word(hash, joined->bonds[i].is_broken);
	for (int32_t i = 0; joined && i < joined->kick_count; i++)
		hash = fem_hash_float(fem_hash_word(hash, (uint64_t)joined->kicks[i].bond), joined->kicks[i].energy);
	return joined ? fem_hash_float(hash, joined->break_allowance) : hash;
}

static uint64_t hash_body(uint64_t hash, const FemBody *body) {
	const FemTopology *t = body->topology;
	if (body->blow_speed > 0.0f) // an impulse since the last step
		hash = fem_hash_float(hash, body->blow_speed);
	hash = hash_pieces(hash_breaking(hash_position(hash, body->origin), body), body);
	hash = hash_nodes(hash, body, FEM_NODE_VECTOR);
	hash = hash_joined(hash_modal(hash_motion(hash_tets(hash, body), body), body), body);
	hash = hash_nodes(hash_nodes(hash, body, FEM_NODE_BYTE), body, FEM_NODE_FLOAT);
	for (int32_t p = 0; p < t->part_count; p++)
		hash = fem_hash_word(fem_hash_word(hash, body->part_state[p]), (uint64_t)body->part_still[p]);
	return hash;
}

static uint64_t hash_vec3(uint64_t hash, FemVec3 v) {
	return fem_hash_float(fem_hash_float(fem_hash_float(hash, v.x), v.y), v.z);
}

static uint64_t hash_collider(uint64_t hash, const FemCollider *collider) {
	FemQuat q = collider->rotation;
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)collider->kind), (uint64_t)collider->shape.type);
	hash = hash_position(hash, collider->position);
	hash = fem_hash_float(fem_hash_float(fem_hash_float(fem_hash_float(hash, q.x), q.y), q.z), q.w);
	hash = hash_vec3(hash_vec3(hash, collider->linear_velocity), collider->angular_velocity);
	hash = hash_vec3(hash_vec3(hash, collider->result.impulse), collider->result.angular_impulse);
	hash = hash_vec3(hash_vec3(hash, collider->result.linear_velocity), collider->result.angular_velocity);
	hash = hash_vec3(hash_vec3(hash, collider->force), collider->torque);
	hash = hash_vec3(hash_vec3(hash, collider->local_position), collider->center);
	for (int i = 0; i < 6; i++)
		hash = fem_hash_float(hash, collider->tensor[i]);
	return fem_hash_word(fem_hash_word(hash, (uint64_t)collider->leader), (uint64_t)collider->has_moved);
}

static uint64_t hash_contact(uint64_t hash, const FemContact *contact) {
	for (int s = 0; s < 2; s++) {
		hash = fem_hash_word(hash, (uint64_t)contact->side[s].body);
		hash = fem_hash_word(hash, (uint64_t)fem_side_place(&contact->side[s]));
	}
	hash = fem_hash_word(fem_hash_word(hash, contact->key), (uint64_t)contact->active);
	if (contact->reference > 0.0f)
		hash = fem_hash_float(hash, contact->reference);
	return fem_hash_float(fem_hash_float(hash, contact->normal_impulse), contact->slip);
}

static uint64_t hash_joint(uint64_t hash, const FemJoint *joint) {
	hash = fem_hash_word(hash, joint->number);
	for (int s = 0; s < 2 && joint->number != 0; s++) {
		hash = fem_hash_word(fem_hash_word(hash, (uint64_t)joint->body[s]), (uint64_t)joint->tet[s]);
		for (int k = 0; k < 4; k++)
			hash = fem_hash_float(hash, joint->weights[s][k]);
	}
	return hash;
}

uint64_t fem_world_hash(FemWorldId id) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return 0;
	uint64_t hash = fem_hash_word(FEM_HASH_START, world->statistics.step_count);
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (world->bodies[b])
			hash = hash_body(fem_hash_word(hash, (uint64_t)b), world->bodies[b]);
	}
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		if (world->colliders[c].in_use)
			hash = hash_collider(fem_hash_word(hash, (uint64_t)c), &world->colliders[c]);
	}
	for (int32_t j = 0; j < world->contacts.joint_count; j++)
		hash = hash_joint(hash, &world->contacts.joints[j]);
	for (int32_t i = 0; i < world->contacts.contact_count; i++)
		hash = hash_contact(hash, &world->contacts.contacts[i]);
	return hash;
}
