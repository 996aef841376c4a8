// A body's life in its engine world.
#include "simulation/simulation_world.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"
#include "coupling/collision_exceptions.h"
#include "coupling/coupling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All or none.
static bool acquire_materials(SimulationWorld *world, const GDExtensionObjectPtr *resources, int32_t count,
	float density_scale, FemMaterialId *out) {
	for (int32_t i = 0; i < count; i++) {
		out[i] = simulation_world_acquire_material(world, resources[i], density_scale);
		if (!fem_material_is_valid(out[i])) {
			while (--i >= 0) {
				simulation_world_release_material(world, resources[i], density_scale);
			}
			return false;
		}
	}
	return true;
}

static bool is_anchored(FemVec3 p, const GdAABB *boxes, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		GdVector3 low = boxes[i].position, size = boxes[i].size;
		if (p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= low.x + size.x && p.y <= low.y + size.y &&
			p.z <= low.z + size.z) {
			return true;
		}
	}
	return false;
}

// The nodes that anchors hold, to be freed; null for none, or when memory is short.
static int32_t *find_anchored(const SimulationBodyDef *def, const DestructibleMesh *mesh, int32_t *out_count) {
	const FemVec3 *nodes = mesh ? mesh->baked.tet_mesh.nodes : def->shape->positions;
	int32_t count = mesh ? mesh->baked.tet_mesh.node_count : def->shape->node_count;
	int32_t *anchored = def->anchor_count > 0 ? malloc((size_t)count * sizeof(int32_t)) : NULL;
	*out_count = 0;
	for (int32_t i = 0; anchored && i < count; i++) {
		if (is_anchored(nodes[i], def->anchors, def->anchor_count)) {
			anchored[(*out_count)++] = i;
		}
	}
	return anchored;
}

static float toughness_scale(const BodySettings *settings) {
	return settings->invulnerable ? INFINITY : settings->strength_scale;
}

static void set_def(FemBodyDef *def, const BodySettings *settings) {
	def->gravity_scale = settings->gravity_scale;
	def->toughness_scale = toughness_scale(settings);
	def->layer = settings->layer;
	def->mask = settings->mask;
	def->self_contact = settings->self_contact;
	// Joined pieces are cut when the splinters are there.
	def->dynamics = settings->dynamics == FEM_DYNAMICS_RIGID_PIECES ? FEM_DYNAMICS_AUTO : settings->dynamics;
	def->fracture_seed = settings->fracture_seed;
	def->piece_limit = settings->debris_cap;
	def->piece_lifetime = settings->debris_lifetime;
	def->piece_fade = settings->debris_fade;
}

static bool create_in_engine(SimulationBody *body, const SimulationBodyDef *def, const FemMaterialId *materials) {
	DestructibleMesh *mesh = class_instance(def->mesh, &destructible_mesh_class);
	body->mesh =
		mesh ? simulation_world_acquire_mesh(body->world, mesh) : simulation_make_box_mesh(body->world->id, def->shape);
	if (!fem_mesh_is_valid(body->mesh)) {
		return false;
	}
	FemBodyDef body_def = fem_default_body_def();
	body_def.mesh = body->mesh;
	body_def.materials = materials;
	body_def.material_count = def->material_count;
	body_def.position = def->position;
	body_def.rotation = def->rotation;
	body_def.scale = def->scale;
	body_def.linear_velocity = def->velocity;
	body_def.angular_velocity = def->angular_velocity;
	body_def.user_data = godot.object_get_instance_id(body->node);
	set_def(&body_def, &body->settings);
	body_def.starts_asleep = def->starts_asleep;
	int32_t *anchored = find_anchored(def, mesh, &body_def.pinned_count);
	body_def.pinned_nodes = anchored;
	body->body = fem_body_create(body->world->id, &body_def);
	free(anchored);
	if (!fem_body_is_valid(body->body)) {
		return false;
	}
	body->piece_count = fem_body_get_pieces(body->body, NULL, 0);
	simulation_body_find_splinters(body, mesh);
	return true;
}

// Gives the body the mass that was set: its materials with another density, which other bodies do not share.
static bool set_mass(SimulationBody *body) {
	FemMaterialId ids[SIMULATION_MATERIALS_MAX];
	FemBodyState state;
	if (!(body->settings.mass_override > 0.0f) || fem_body_get_state(body->body, &state) != FEM_OK ||
		!(state.mass > 0.0f)) {
		return true;
	}
	float scale = (float)((double)body->settings.mass_override / (double)state.mass);
	if (!acquire_materials(body->world, body->materials, body->material_count, scale, ids)) {
		return false;
	}
	bool is_set = fem_body_set_materials(body->body, ids, body->material_count) == FEM_OK;
	float old = is_set ? body->density_scale : scale;
	for (int32_t i = 0; i < body->material_count; i++) {
		simulation_world_release_material(body->world, body->materials[i], old);
	}
	body->density_scale = is_set ? scale : body->density_scale;
	return is_set;
}

static bool create_with_materials(SimulationBody *body, const SimulationBodyDef *def) {
	FemMaterialId ids[SIMULATION_MATERIALS_MAX];
	body->density_scale = 1.0f;
	body->scale = def->scale;
	body->materials = malloc((size_t)def->material_count * sizeof(GDExtensionObjectPtr));
	if (!body->materials ||
		!acquire_materials(body->world, def->materials, def->material_count, body->density_scale, ids)) {
		return false;
	}
	memcpy(body->materials, def->materials, (size_t)def->material_count * sizeof(GDExtensionObjectPtr));
	body->material_count = def->material_count;
	return create_in_engine(body, def, ids) && set_mass(body);
}

// The engine's sentence is taken down at once: cleaning up calls it again.
bool simulation_body_create(SimulationBody *body, const SimulationBodyDef *def, char *out_message, size_t capacity) {
	simulation_body_destroy(body);
	SimulationWorld *world = simulation_world_for(def->world_3d);
	if (!world || !simulation_world_add_body(world, body)) {
		snprintf(out_message, capacity,
			"memory is short, or bodies are in 64 World3Ds already; free some, or put it into one of those");
		return false;
	}
	body->world = world;
	if (!create_with_materials(body, def)) {
		snprintf(out_message, capacity, "%s", fem_last_error());
		simulation_body_destroy(body);
		return false;
	}
	body->is_moved = world->has_new_bodies = true;
	collision_exceptions_apply(body);
	return true;
}

// Also cleans up after a creation that failed halfway: the engine takes null ids.
void simulation_body_destroy(SimulationBody *body) {
	SimulationWorld *world = body->world;
	if (!world) {
		return;
	}
	coupling_forget_body(body);
	simulation_body_drop_modes(body);
	fem_body_destroy(body->body);
	simulation_world_release_mesh(world, body->mesh);
	for (int32_t i = 0; i < body->material_count; i++) {
		simulation_world_release_material(world, body->materials[i], body->density_scale);
	}
	simulation_world_remove_body(world, body);
	free(body->materials);
	free(body->held_velocities);
	*body = (SimulationBody){.node = body->node, .view = body->view, .settings = body->settings};
}

bool simulation_body_attach(SimulationBody *body, GDExtensionObjectPtr world_3d) {
	if (!body->world || !body->is_detached || body->world->world_3d != world_3d) {
		return false;
	}
	body->is_detached = false;
	body->is_moved = true;
	return true;
}

void simulation_body_set_materials(SimulationBody *body, const GDExtensionObjectPtr *materials) {
	FemMaterialId ids[SIMULATION_MATERIALS_MAX];
	size_t size = (size_t)body->material_count * sizeof(GDExtensionObjectPtr);
	if (!body->world || memcmp(body->materials, materials, size) == 0) {
		return;
	}
	if (!acquire_materials(body->world, materials, body->material_count, body->density_scale, ids)) {
		report_error("DestructibleBody: the material cannot be used: %s", fem_last_error());
		return;
	}
	if (fem_body_set_materials(body->body, ids, body->material_count) != FEM_OK) {
		report_error("DestructibleBody: the material cannot be used: %s", fem_last_error());
	}
	for (int32_t i = 0; i < body->material_count; i++) {
		simulation_world_release_material(body->world, body->materials[i], body->density_scale);
	}
	memcpy(body->materials, materials, size);
	simulation_body_apply_settings(body);
}

// The engine refuses what concerns fracture for bodies that cannot break; when their material becomes breakable, this
// is called again.
void simulation_body_apply_settings(SimulationBody *body) {
	const BodySettings *settings = &body->settings;
	if (!body->world) {
		return;
	}
	fem_body_set_gravity_scale(body->body, settings->gravity_scale);
	fem_body_set_layers(body->body, settings->layer, settings->mask);
	fem_body_set_self_contact(body->body, settings->self_contact);
	simulation_body_apply_dynamics(body);
	body->modes.has_failed = false; // another material or anchor may do
	fem_body_set_toughness_scale(body->body, toughness_scale(settings));
	fem_body_set_fracture_seed(body->body, settings->fracture_seed);
	fem_body_set_piece_limits(body->body, settings->debris_cap, settings->debris_lifetime, settings->debris_fade);
}

// s: pieces that the budget sheds fade in a time of their own.
static float fade_time(const SimulationBody *body) {
	return body->world->budget.has_faded ? fmaxf(body->settings.debris_fade, BUDGET_FADE_TIME)
										 : body->settings.debris_fade;
}

bool simulation_body_fades(const SimulationBody *body) {
	const BodySettings *settings = &body->settings;
	bool loses_pieces = settings->debris_lifetime > 0.0f || settings->debris_cap > 0 || body->world->budget.has_faded;
	return loses_pieces && body->piece_count > 1 && fem_body_has_fading_pieces(body->body, fade_time(body));
}

static void show_fades(SimulationBody *body) {
	int32_t count = fem_body_get_node_count(body->body);
	float *fades = count > 0 ? malloc((size_t)count * sizeof(float)) : NULL;
	if (fades) {
		fem_body_get_node_fades(body->body, fade_time(body), fades, count);
	}
	body_view_set_fades(body->view, fades, count);
	free(fades);
}

void simulation_body_show(SimulationBody *body) {
	if (simulation_body_fades(body)) {
		show_fades(body);
	} else if (body->view->nodes.fades) {
		body_view_set_fades(body->view, NULL, 0);
	}
	body_view_show_body(body->view, body->body, body->is_cut);
	body->is_moved = body->is_cut = false;
}

// Its settings stay those of the node.
bool simulation_body_load(SimulationBody *body, const void *data, size_t size) {
	FemMaterialId ids[SIMULATION_MATERIALS_MAX];
	for (int32_t i = 0; i < body->material_count; i++) {
		ids[i] = simulation_world_acquire_material(body->world, body->materials[i], body->density_scale);
	}
	simulation_body_hold(body, false);
	bool is_loaded = fem_body_load(body->body, ids, body->material_count, data, size) == FEM_OK;
	for (int32_t i = 0; i < body->material_count; i++) {
		simulation_world_release_material(body->world, body->materials[i], body->density_scale);
	}
	if (is_loaded) {
		fem_body_set_kinematic(body->body, false);
		simulation_body_apply_settings(body);
		body->piece_count = fem_body_get_pieces(body->body, NULL, 0);
	}
	return is_loaded;
}

bool simulation_body_remove_piece(SimulationBody *body, FemPieceNumber piece) {
	if (fem_body_remove_piece(body->body, piece) != FEM_OK) {
		return false;
	}
	simulation_body_count_pieces(body);
	return true;
}

// A body that was between two ticks and did not move in this one is shown once more, where it is now.
void simulation_body_after_step(SimulationBody *body, float delta) {
	FemShape before;
	BodyNodes *nodes = &body->view->nodes;
	bool has_moved = fem_body_get_shape(body->body, true, &before) != NULL;
	body->has_moved = has_moved;
	body->is_moved |= has_moved || nodes->is_between;
	nodes->is_between = has_moved && gd_node_is_physics_interpolated_and_enabled(body->node);
	body->is_moved |= body_view_take_owners(body->view, body->body, delta, (float)body->settings.splinter_blend);
	simulation_body_count_pieces(body);
	body->is_moved |= simulation_body_fades(body);
}

void simulation_body_not_stepped(SimulationBody *body) {
	body->is_moved |= body->view->nodes.is_between;
	body->view->nodes.is_between = false;
}

void simulation_body_count_pieces(SimulationBody *body) {
	int32_t count = fem_body_get_pieces(body->body, NULL, 0);
	if (count != body->piece_count) {
		body->piece_count = count;
		body->is_cut = true;
	}
	body->is_moved |= body->is_cut;
}

// A held body is a kinematic one at rest. Its nodes keep their shape; what they had of velocity comes back later.
void simulation_body_hold(SimulationBody *body, bool hold) {
	int32_t count = fem_body_get_node_count(body->body);
	if (hold == (body->held_velocities != NULL) || count <= 0) {
		return;
	}
	if (hold) {
		body->held_velocities = calloc((size_t)count, sizeof(FemVec3));
		if (!body->held_velocities) {
			return;
		}
		body->held_count = count;
		body->was_asleep = fem_body_is_asleep(body->body);
		fem_body_get_velocities(body->body, body->held_velocities, count);
		fem_body_set_kinematic(body->body, true);
		for (int32_t i = 0; i < count; i++) {
			fem_body_set_velocity(body->body, i, (FemVec3){0});
		}
		return;
	}
	fem_body_set_kinematic(body->body, false);
	for (int32_t i = 0; i < count && i < body->held_count; i++) {
		fem_body_set_velocity(body->body, i, body->held_velocities[i]);
	}
	if (body->was_asleep) {
		fem_body_sleep(body->body);
	}
	free(body->held_velocities);
	body->held_velocities = NULL;
}
