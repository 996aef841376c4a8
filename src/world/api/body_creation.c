// From a body def to a body in the world.
#include "base/memory.h"
#include "base/vec.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/cookies.h"
#include "world/api/joining.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/step/publish.h"
#include "world/world.h"

#define PIN_MAX (1 << 24) // entries of FemBodyDef.pinned_nodes: as many as nodes
#define SCALE_MIN 1e-6f   // of FemBodyDef.scale: with rest shapes of 1 mm to 1 km the range of floats; chosen
#define SCALE_MAX 1e6f    // the same upwards

FemBodyDef fem_default_body_def(void) {
	return (FemBodyDef){
		.rotation = {0.0f, 0.0f, 0.0f, 1.0f},
		.scale = {1.0f, 1.0f, 1.0f},
		.layer = 1,
		.mask = UINT32_MAX,
		.gravity_scale = 1.0f,
		.toughness_scale = 1.0f,
		.self_contact = true,
		.cookie = FEM_COOKIE_BODY,
	};
}

// ---- checks

static bool scale_is_valid(FemVec3 s) {
	return s.x >= SCALE_MIN && s.x <= SCALE_MAX && s.y >= SCALE_MIN && s.y <= SCALE_MAX && s.z >= SCALE_MIN &&
		s.z <= SCALE_MAX;
}

static FemResult check_pose(const FemBodyDef *def) {
	FemQuat rotation = def->rotation;
	if (!fem_position_is_valid(def->position))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "position must be within +-%g m of the world's origin.", FEM_COORDINATE_MAX);
	if (!fem_quat_normalize(&rotation))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"rotation is no quaternion that can be normalized: use (0, 0, 0, 1) for no rotation.");
	if (!scale_is_valid(def->scale))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "scale must be positive, within %g..%g on each axis.",
			(double)SCALE_MIN, (double)SCALE_MAX);
	if (!fem_vec3_is_finite(def->linear_velocity) || !fem_vec3_is_finite(def->angular_velocity))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "linear_velocity and angular_velocity must be finite.");
	return FEM_OK;
}

static FemResult check_pins(const FemBodyDef *def, int32_t node_count) {
	if (def->pinned_count < 0 || def->pinned_count > PIN_MAX || (def->pinned_count > 0 && !def->pinned_nodes))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "pinned_count is %d, which does not fit pinned_nodes.", def->pinned_count);
	for (int32_t i = 0; i < def->pinned_count; i++) {
		int32_t node = def->pinned_nodes[i];
		if (node < 0 || node >= node_count)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "pinned_nodes names node %d: the mesh has nodes 0..%d.", node,
				node_count - 1);
	}
	return FEM_OK;
}

FemResult fem_region_materials(
	const FemWorld *world, const FemMaterialId *materials, int32_t count, int32_t out[FEM_REGION_MAX]) {
	if (!materials || count < 1)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no material for the body: give at least one.");
	count = count < FEM_REGION_MAX ? count : FEM_REGION_MAX;
	for (int32_t i = 0; i < count; i++) {
		FemWorld *other;
		if (!fem_material_find(materials[i], &other) || other != world)
			return fem_fail(FEM_ERROR_INVALID_ID, "Material %d of the body is null, freed or of another world.", i);
		out[i] = materials[i].index1 - 1;
	}
	for (int32_t i = count; i < FEM_REGION_MAX; i++)
		out[i] = out[count - 1];
	return FEM_OK;
}

static FemResult check_breaking(const FemBodyDef *def, int32_t tet_count) {
	FemResult result = fem_piece_limits_check(def->piece_limit, def->piece_lifetime, def->piece_fade);
	if (result != FEM_OK)
		return result;
	for (int32_t t = 0; def->tet_toughness && t < tet_count; t++) {
		if (!(def->tet_toughness[t] >= 0.0f))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
				"tet_toughness of tet %d must be 0 or a positive number; infinite never breaks.", t);
	}
	return FEM_OK;
}

static FemResult check_def(const FemWorld *world, const FemBodyDef *def, int32_t out_materials[FEM_REGION_MAX]) {
	FemWorld *other;
	if (!def || def->cookie != FEM_COOKIE_BODY)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The body def is null or was not made by fem_default_body_def(): start from that.");
	const FemMesh *mesh = fem_mesh_find(def->mesh, &other);
	if (!mesh || other != world)
		return fem_fail(FEM_ERROR_INVALID_ID, "The mesh of the body def is null, freed or of another world.");
	FemResult result = check_pose(def);
	if (result == FEM_OK)
		result = check_pins(def, mesh->node_count);
	if (result == FEM_OK)
		result = fem_region_materials(world, def->materials, def->material_count, out_materials);
	if (result == FEM_OK)
		result = check_breaking(def, mesh->tet_count);
	if (result == FEM_OK)
		result = fem_body_settings_check(def->gravity_scale, def->toughness_scale);
	if (result == FEM_OK)
		result = fem_dynamics_check(def->dynamics);
	return result;
}

// ---- pose

FemVec3d fem_body_center(const FemBody *body) {
	FemVec3d sum = {0};
	double mass = 0.0;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		sum = fem_vec3d_add(sum, fem_vec3d_scale(fem_vec3d_from4(body->position[i]), (double)body->mass[i]));
		mass += (double)body->mass[i];
	}
	return fem_vec3d_scale(sum, 1.0 / mass);
}

// The origin is the grid point next to the middle of the nodes, so that offsets are small wherever the body stands.
static void place_nodes(FemBody *body, const FemMesh *mesh) {
	const FemTopology *t = body->topology;
	double rotation[3][3];
	FemVec3d middle = {0};
	fem_quat_to_matrix(body->pose_rotation, rotation);
	for (int32_t i = 0; i < t->node_count; i++)
		middle = fem_vec3d_add(middle, fem_matrix_apply(rotation, fem_mesh_rest_point(mesh, body->scale, i)));
	middle = fem_vec3d_scale(middle, 1.0 / t->node_count);
	body->origin = fem_position_snap(fem_position_move(body->pose_position, middle));
	FemVec3d shift = fem_position_sub(body->pose_position, body->origin);
	for (int32_t i = 0; i < t->node_count; i++) {
		FemVec3d p = fem_matrix_apply(rotation, fem_mesh_rest_point(mesh, body->scale, t->user_of_node[i]));
		body->position[i] = fem_vec4_from(fem_vec3d_to_vec3(fem_vec3d_add(p, shift)));
	}
	FemQuat q = body->pose_rotation;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++)
		body->rotation[tet] = (FemVec4){q.x, q.y, q.z, q.w};
}

static void pin_nodes(FemBody *body, const FemBodyDef *def) {
	for (int32_t i = 0; i < def->pinned_count; i++) {
		int32_t node = body->topology->node_of_user[def->pinned_nodes[i]];
		body->node_kind[node] = FEM_NODE_PINNED;
		body->velocity[node] = (FemVec4){0};
	}
	fem_pieces_count_pinned(body);
}

static void start_parts(FemBody *body, bool asleep) {
	for (int32_t p = 0; p < body->topology->part_count; p++)
		body->part_state[p] = asleep ? FEM_ISLAND_ASLEEP : FEM_ISLAND_LIVE;
	body->live_part_count = asleep ? 0 : body->topology->part_count;
	body->was_asleep = asleep;
}

static void start_motion(const FemWorld *world, FemBody *body, const FemBodyDef *def) {
	if (def->starts_asleep)
		return; // sleepers have no velocity
	FemVec3d center = fem_body_center(body);
	FemVec3d linear = fem_vec3d_from(def->linear_velocity), angular = fem_vec3d_from(def->angular_velocity);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec3d arm = fem_vec3d_sub(fem_vec3d_from4(body->position[i]), center);
		FemVec3d v = fem_vec3d_add(linear, fem_vec3d_cross(angular, arm));
		body->velocity[i] = fem_vec4_from(fem_clamp_speed(v, world->def.node_speed_max));
	}
}

// ---- breaking

static void take_breaking(const FemWorld *world, FemBody *body, const FemBodyDef *def) {
	FemBreaking *breaking = body->breaking;
	breaking->seed = def->fracture_seed;
	breaking->piece_limit = def->piece_limit;
	breaking->piece_lifetime = def->piece_lifetime;
	breaking->piece_fade = def->piece_fade;
	for (int32_t user = 0; def->tet_toughness && user < body->topology->user_tet_count; user++)
		body->tet_scale[body->topology->tet_of_user[user]] = def->tet_toughness[user];
	fem_body_refresh_toughness(world, body);
}

// ---- public calls

static FemBody *build_with_regions(FemWorld *world, const FemBodyDef *def, const int32_t materials[FEM_REGION_MAX]) {
	int32_t mesh_index = def->mesh.index1 - 1;
	const FemMesh *mesh = &world->meshes[mesh_index];
	int32_t *tet_materials = FEM_ALLOC_ARRAY(int32_t, mesh->tet_count);
	if (!tet_materials) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body of %d tets.", mesh->tet_count);
		return NULL;
	}
	for (int32_t t = 0; t < mesh->tet_count; t++)
		tet_materials[t] = materials[mesh->tet_regions ? mesh->tet_regions[t] : 0];
	FemBody *body = fem_body_build(world, mesh_index, def->scale, tet_materials, false);
	FEM_FREE_ARRAY(tet_materials, mesh->tet_count);
	if (body) {
		body->gravity_scale = def->gravity_scale;
		body->toughness_scale = def->toughness_scale;
	}
	if (body)
		fem_body_take_initial_strain(world, body);
	if (body && body->breaking)
		take_breaking(world, body, def);
	if (body && def->pinned_count > 0 && !fem_body_prepare_reactions(body)) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the reactions of a body's pinned nodes.");
		fem_body_discard(body);
		return NULL;
	}
	return body;
}

FemBodyId fem_body_create(FemWorldId id, const FemBodyDef *def) {
	FemResult result;
	int32_t materials[FEM_REGION_MAX];
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || check_def(world, def, materials) != FEM_OK)
		return (FemBodyId){0};
	FemBody *body = build_with_regions(world, def, materials);
	if (!body)
		return (FemBodyId){0};
	body->user_data = def->user_data;
	body->layer = def->layer;
	body->mask = def->mask;
	body->self_contact = def->self_contact;
	body->dynamics = (uint8_t)def->dynamics;
	body->pose_position = def->position;
	body->pose_rotation = def->rotation;
	fem_quat_normalize(&body->pose_rotation);
	place_nodes(body, &world->meshes[body->mesh_index]);
	start_parts(body, def->starts_asleep);
	body->asleep_since = def->starts_asleep ? (int64_t)world->statistics.step_count : -1;
	start_motion(world, body, def);
	pin_nodes(body, def);
	int32_t index = fem_body_slot(world);
	if (index < 0) {
		fem_body_discard(body);
		return (FemBodyId){0};
	}
	fem_body_publish(body);
	if (!fem_body_enter(world, body, index))
		return (FemBodyId){0};
	if (def->dynamics == FEM_DYNAMICS_RIGID_PIECES && fem_body_cut_joined(world, index) != FEM_OK) {
		fem_body_free(world, index);
		return (FemBodyId){0};
	}
	return fem_body_id(world, index);
}

FemResult fem_body_destroy(FemBodyId id) {
	FemResult result;
	FemWorld *world;
	if (!fem_body_find_idle(id, &world, &result))
		return result;
	fem_body_free(world, id.index1 - 1);
	return FEM_OK;
}
