// Reads the state of one body (body_state.h). A body is built anew from its mesh and materials, filled, checked, and
// put into the slot of the old one, which stays when anything is wrong.
#include "base/assert.h"
#include "base/memory.h"
#include "base/vec.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/state/body_state.h"
#include "world/state/stream.h"
#include "world/state/validate.h"
#include "world/step/breaking.h"
#include "world/step/publish.h"
#include "world/step/solver_state.h"
#include "world/world.h"

#include <string.h>

// ---- header

static FemResult check_version(uint32_t version) {
	if (version == FEM_STATE_VERSION)
		return FEM_OK;
	if (version > FEM_STATE_VERSION && version < 1u << 16)
		return fem_fail(FEM_ERROR_FORMAT,
			"The state is of version %u and this engine reads version %u only: load it with the newer release that "
			"saved it.",
			version, FEM_STATE_VERSION);
	if (version > 0 && version < FEM_STATE_VERSION)
		return fem_fail(FEM_ERROR_FORMAT,
			"The state is of version %u and this engine reads version %u only: load it with the older release, or save "
			"anew.",
			version, FEM_STATE_VERSION);
	return fem_fail(FEM_ERROR_FORMAT, "The data are no state of a body: pass what fem_body_save() wrote.");
}

static FemResult check_mesh(const FemMesh *mesh, const FemStateHeader *header) {
	if (header->node_count != mesh->node_count || header->tet_count != mesh->tet_count)
		return fem_fail(FEM_ERROR_FORMAT,
			"The state is of a body of %d nodes and %d tets, and this one's mesh has %d and %d: give it the mesh it "
			"was saved with.",
			header->node_count, header->tet_count, mesh->node_count, mesh->tet_count);
	if (header->mesh != fem_state_mesh_hash(mesh))
		return fem_fail(FEM_ERROR_FORMAT,
			"The state is of a body with another mesh of as many nodes and tets: give this one the mesh it was saved "
			"with.");
	return FEM_OK;
}

static FemResult check_header(const FemMesh *mesh, const void *data, size_t size, FemStateHeader *out) {
	*out = (FemStateHeader){0};
	if (data)
		memcpy(out, data, size < sizeof *out ? size : sizeof *out);
	if (size < 8 || out->magic != FEM_STATE_MAGIC)
		return fem_fail(FEM_ERROR_FORMAT, "The data are no state of a body: pass what fem_body_save() wrote.");
	FemResult result = check_version(out->version);
	if (result != FEM_OK)
		return result;
	if (size < sizeof *out || out->size != size)
		return fem_fail(FEM_ERROR_FORMAT,
			"The state has been cut short or extended, it has %llu bytes: pass all that was saved.",
			(unsigned long long)size);
	if (out->checksum != fem_state_checksum(data, size))
		return fem_fail(FEM_ERROR_FORMAT, "The state is damaged, its checksum is wrong: take another copy of it.");
	return check_mesh(mesh, out);
}

// Flags that need each other.
static bool flags_make_sense(uint32_t flags) {
	bool breaks = flags & FEM_STATE_BREAKS, broken = flags & FEM_STATE_BROKEN, pieces = flags & FEM_STATE_PIECES;
	if ((flags & ~(uint32_t)FEM_STATE_ALL) ||
		(!breaks &&
			flags & (FEM_STATE_BROKEN | FEM_STATE_PIECES | FEM_STATE_LIMITED | FEM_STATE_CRUSHED | FEM_STATE_HOMES)))
		return false;
	if (flags & FEM_STATE_ELEMENTS && flags & FEM_STATE_ALWAYS_RIGID)
		return false;
	if ((flags & FEM_STATE_HOMES && !broken) || (flags & FEM_STATE_JOINED && !breaks))
		return false;
	return !broken || (pieces && !(flags & FEM_STATE_RIGID));
}

// ---- building

// A body of the same mesh with the materials of its regions, not yet in the world. Null (with a sentence) on failure.
static FemBody *build(
	FemWorld *world, int32_t mesh_index, FemVec3 scale, bool breaks, const int32_t materials[FEM_REGION_MAX]) {
	const FemMesh *mesh = &world->meshes[mesh_index];
	int32_t *tet_materials = FEM_ALLOC_ARRAY(int32_t, mesh->tet_count);
	if (!tet_materials) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body of %d tets.", mesh->tet_count);
		return NULL;
	}
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		FEM_ASSERT(!mesh->tet_regions || (mesh->tet_regions[t] >= 0 && mesh->tet_regions[t] < FEM_REGION_MAX));
		tet_materials[t] = materials[mesh->tet_regions ? mesh->tet_regions[t] : 0];
	}
	FemBody *body = fem_body_build(world, mesh_index, scale, tet_materials, breaks);
	FEM_FREE_ARRAY(tet_materials, mesh->tet_count);
	return body;
}

static bool fields_make_sense(const FemBody *body) {
	FemQuat rotation = body->pose_rotation;
	const FemBreaking *b = body->breaking;
	return fem_position_is_valid(body->pose_position) && fem_quat_normalize(&rotation) &&
		fem_body_settings_check(body->gravity_scale, body->toughness_scale) == FEM_OK &&
		(!b || (b->crushed_mass >= 0.0 && b->crushed_mass < 1e30)) &&
		(!b || fem_piece_limits_check(b->piece_limit, b->piece_lifetime, b->piece_fade) == FEM_OK);
}

static void read_shape(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags) {
	FemRigidPose pose = {0};
	if (!(flags & FEM_STATE_RIGID)) {
		fem_state_sync_nodes(s, body);
		return;
	}
	fem_state_sync_pose(s, &pose, flags);
	s->failed = s->failed || !fem_state_take_pose(world, body, &pose);
}

// Counts that follow from the arrays, and what nodes of removed pieces show.
static void finish_counts(FemWorld *world, FemBody *body, const FemStateHeader *header) {
	const FemTopology *t = body->topology;
	FemVec4 any = body->position[0];
	fem_pieces_count_pinned(body);
	for (int32_t i = 0; i < t->node_count; i++) {
		if (body->node_kind[i] == FEM_NODE_PINNED)
			body->velocity[i] = (FemVec4){0};
	}
	for (int32_t p = 0; p < t->part_count; p++) {
		bool is_live = body->part_state[p] == FEM_ISLAND_LIVE;
		body->live_part_count += is_live;
		body->part_still[p] = is_live ? header->still : 0;
	}
	for (int32_t user = 0; user < t->user_node_count; user++) {
		if (t->node_of_user[user] < 0)
			body->published[user] = (FemVec4){any.x, any.y, any.z, 1.0f};
	}
	body->published_origin = body->origin;
	body->kinematic = header->flags & FEM_STATE_KINEMATIC;
	body->self_contact = header->flags & FEM_STATE_SELF_CONTACT;
	body->was_asleep = header->flags & FEM_STATE_WAS_ASLEEP;
	body->dynamics = (uint8_t)(header->flags & FEM_STATE_ELEMENTS ? FEM_DYNAMICS_ELEMENTS
			: header->flags & FEM_STATE_ALWAYS_RIGID              ? FEM_DYNAMICS_RIGID
			: header->flags & FEM_STATE_MODAL                     ? FEM_DYNAMICS_MODAL
			: header->flags & FEM_STATE_RIGID_PIECES              ? FEM_DYNAMICS_RIGID_PIECES
																  : FEM_DYNAMICS_AUTO);
	FEM_ASSERT(body->live_part_count <= t->part_count && body->pinned_count <= t->node_count);
	// Of several bodies that are loaded after each other, those that sleep are not woken by the others.
	body->asleep_since = fem_body_sleeps(body) ? (int64_t)world->statistics.step_count : -1;
}

static bool fill(FemStream *s, FemWorld *world, FemBody *body, const FemStateHeader *header) {
	fem_state_sync_fields(s, body, header->flags);
	s->failed = s->failed || !fields_make_sense(body);
	fem_state_read_breaks(s, world, body, header->flags);
	if (!s->failed && header->flags & FEM_STATE_BROKEN)
		s->failed = !fem_body_refresh_materials(world, body) || !fem_body_restore_solver(world, body);
	if (!s->failed)
		read_shape(s, world, body, header->flags);
	if (!s->failed)
		fem_state_read_lists(s, world, body, header->flags);
	if (!s->failed && header->flags & FEM_STATE_JOINED)
		fem_state_read_joined(s, world, body);
	if (s->failed || s->at != s->size || header->still < 0)
		return false;
	if (!(header->flags & FEM_STATE_RIGID))
		fem_state_find_rotations(body);
	finish_counts(world, body, header);
	fem_body_publish(body);
	return fem_body_refresh_materials(world, body); // with the plastic state and the factors on toughness
}

static FemBody *read_state(FemWorld *world, const FemBody *old, const FemStateHeader *header,
	const int32_t materials[FEM_REGION_MAX], const void *data) {
	FemStream s = {.in = (const char *)data + sizeof *header, .size = (size_t)header->size - sizeof *header};
	FemVec3 scale = {1.0f, 1.0f, 1.0f};
	if (header->flags & FEM_STATE_SCALED)
		FEM_STREAM(&s, scale);
	bool is_well = flags_make_sense(header->flags) && scale.x > 0.0f && scale.y > 0.0f && scale.z > 0.0f &&
		fem_vec3_is_finite(scale);
	FemBody *body = is_well ? build(world, old->mesh_index, scale, header->flags & FEM_STATE_BREAKS, materials) : NULL;
	if (body && fill(&s, world, body, header)) {
		body->user_data = old->user_data;
		return body;
	}
	if (body)
		fem_body_discard(body);
	fem_fail(FEM_ERROR_FORMAT, "The state is damaged, or memory ran out: the body was left as it is.");
	return NULL;
}

// ---- loading

// Splinters are the body's, not the state's: they find their owners anew, in the homes that the state tells.
static void take_splinters(FemBody *body, FemBody *old) {
	if (!body->breaking || !old->breaking || !old->breaking->splinters)
		return;
	FemSplinters *splinters = body->breaking->splinters = old->breaking->splinters;
	old->breaking->splinters = NULL;
	bool is_as_whole = !splinters->own_block && !body->own_topology &&
		memcmp(&splinters->rest.scale, &body->scale, sizeof body->scale) == 0;
	if (!is_as_whole && fem_splinters_own(splinters)) // without memory: drawn as before
		fem_splinters_restart(splinters, body->scale, body->topology, body->breaking->loaded_homes);
	fem_body_drop_loaded_homes(body);
}

// So are the modes it was given, while it is whole and held as it was: the next step sees to that.
static void take_modes(FemBody *body, FemBody *old) {
	FemModal *modal = body->modal = old->modal;
	old->modal = NULL;
	if (!modal)
		return;
	modal->is_stale |= body->own_topology != NULL || memcmp(&old->scale, &body->scale, sizeof body->scale) != 0 ||
		body->total_mass != old->total_mass || body->stiffness != old->stiffness;
	modal->is_moving = modal->is_out = modal->is_placed = false;
	fem_modal_drop_grabs(modal);
}

// The last look, which tells what the single reads cannot: that all fits together. Nothing else sees the body
// meanwhile.
static bool fits_together(FemWorld *world, FemBody *old, FemBody *body, int32_t index) {
	body->in_use = true;
	body->generation = old->generation;
	world->bodies[index] = body;
	bool ok = fem_body_check(world, index) == FEM_OK && fem_body_check_breaking(world, index) == FEM_OK;
	world->bodies[index] = old;
	return ok;
}

FemResult fem_body_replace(FemWorld *world, FemBody *old, FemBody *body, int32_t index) {
	if (!fits_together(world, old, body, index)) {
		fem_body_discard(body);
		return fem_fail(
			FEM_ERROR_FORMAT, "The state is damaged, its parts do not fit together: the body was left as it is.");
	}
	fem_world_wake_touching_body(world, index);
	if (!fem_body_exchange(world, body, index))
		return FEM_ERROR_MEMORY;
	take_splinters(body, old);
	take_modes(body, old);
	fem_body_discard(old);
	world->has_forces |= body->has_forces; // else they would stay after the next step
	return FEM_OK;
}

FemResult fem_body_load(
	FemBodyId id, const FemMaterialId *materials, int32_t material_count, const void *data, size_t size) {
	FemResult result;
	FemWorld *world;
	FemStateHeader header;
	int32_t table[FEM_REGION_MAX], index = id.index1 - 1;
	FemBody *old = fem_body_find_idle(id, &world, &result);
	if (!old || (result = check_header(&world->meshes[old->mesh_index], data, size, &header)) != FEM_OK ||
		(result = fem_region_materials(world, materials, material_count, table)) != FEM_OK)
		return result;
	FemBody *body = read_state(world, old, &header, table, data);
	return body ? fem_body_replace(world, old, body, index) : FEM_ERROR_FORMAT;
}
