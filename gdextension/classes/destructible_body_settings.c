// How a DestructibleBody moves, collides and breaks. All but the start values take effect at once.
#include "classes/destructible_body.h"
#include "simulation/simulation_world.h"

#include "fem_modes.h"

#include <math.h>

enum { RENDER_LAYERS = 20 }; // as many as Godot has

static BodySettings *settings_of(void *self) {
	return &((DestructibleBody *)self)->simulated.settings;
}

static void apply(void *self) {
	simulation_body_apply_settings(&((DestructibleBody *)self)->simulated);
}

static void set_number(void *pointer, const char *name, float *field, double value, double low, double high) {
	if (destructible_body_accept(pointer, name, value)) {
		*field = (float)(value < low ? low : value > high ? high : value);
		apply(pointer);
	}
}

// Its tets hang together otherwise than before.
static void show_cut(DestructibleBody *self) {
	if (self->simulated.world && self->is_in_world) {
		destructible_body_show_again(self);
	}
}

// ---- motion

bool destructible_body_get_freeze(void *self) {
	return settings_of(self)->freeze;
}

void destructible_body_set_freeze(void *self, bool freeze) {
	settings_of(self)->freeze = freeze;
	destructible_body_show_changes(self);
}

double destructible_body_get_gravity_scale(void *self) {
	return (double)settings_of(self)->gravity_scale;
}

void destructible_body_set_gravity_scale(void *self, double scale) {
	set_number(self, "gravity_scale", &settings_of(self)->gravity_scale, scale, -100.0, 100.0);
}

double destructible_body_get_mass_override(void *self) {
	return (double)settings_of(self)->mass_override;
}

void destructible_body_set_mass_override(void *pointer, double mass) {
	DestructibleBody *self = pointer;
	float before = settings_of(self)->mass_override;
	set_number(self, "mass_override", &settings_of(self)->mass_override, mass, 0.0, 1e9);
	if (settings_of(self)->mass_override != before) {
		destructible_body_rebuild(self);
	}
}

GdVector3 destructible_body_get_start_velocity(void *self) {
	return ((DestructibleBody *)self)->start_velocity;
}

void destructible_body_set_start_velocity(void *pointer, GdVector3 velocity) {
	DestructibleBody *self = pointer;
	if (destructible_body_accept(self, "start_velocity", (double)velocity.x + velocity.y + velocity.z)) {
		self->start_velocity = velocity;
	}
}

GdVector3 destructible_body_get_start_angular_velocity(void *self) {
	return ((DestructibleBody *)self)->start_angular_velocity;
}

void destructible_body_set_start_angular_velocity(void *pointer, GdVector3 velocity) {
	DestructibleBody *self = pointer;
	if (destructible_body_accept(self, "start_angular_velocity", (double)velocity.x + velocity.y + velocity.z)) {
		self->start_angular_velocity = velocity;
	}
}

bool destructible_body_get_start_asleep(void *self) {
	return ((DestructibleBody *)self)->start_asleep;
}

void destructible_body_set_start_asleep(void *self, bool asleep) {
	((DestructibleBody *)self)->start_asleep = asleep;
}

// ---- collision

int64_t destructible_body_get_collision_layer(void *self) {
	return settings_of(self)->layer;
}

void destructible_body_set_collision_layer(void *self, int64_t layer) {
	settings_of(self)->layer = (uint32_t)layer;
	apply(self);
}

int64_t destructible_body_get_collision_mask(void *self) {
	return settings_of(self)->mask;
}

void destructible_body_set_collision_mask(void *self, int64_t mask) {
	settings_of(self)->mask = (uint32_t)mask;
	apply(self);
}

bool destructible_body_get_self_contact(void *self) {
	return settings_of(self)->self_contact;
}

void destructible_body_set_self_contact(void *self, bool self_contact) {
	settings_of(self)->self_contact = self_contact;
	apply(self);
}

int64_t destructible_body_get_dynamics(void *self) {
	return settings_of(self)->dynamics;
}

int64_t destructible_body_get_mode_count(void *self) {
	return settings_of(self)->mode_count;
}

void destructible_body_set_mode_count(void *self, int64_t count) {
	int64_t most = FEM_MODAL_MODES_MAX;
	settings_of(self)->mode_count = (int32_t)(count < 1 ? 1 : count > most ? most : count);
	apply(self);
}

void destructible_body_set_dynamics(void *self, int64_t dynamics) {
	DestructibleBody *body = self;
	FemDynamics before = settings_of(self)->dynamics;
	if (dynamics < FEM_DYNAMICS_AUTO || dynamics > FEM_DYNAMICS_RIGID_PIECES) {
		destructible_body_report(
			self, "keeps its dynamics", "there is no such setting; use one of DestructibleBody.Dynamics");
		return;
	}
	settings_of(self)->dynamics = (FemDynamics)dynamics;
	apply(self);
	bool is_cut = before == FEM_DYNAMICS_RIGID_PIECES || dynamics == FEM_DYNAMICS_RIGID_PIECES;
	if (is_cut && (int64_t)before != dynamics) {
		show_cut(body);
	}
}

// ---- joined pieces

int64_t destructible_body_get_rigid_piece_count(void *self) {
	return settings_of(self)->rigid_piece_count;
}

void destructible_body_set_rigid_piece_count(void *self, int64_t count) {
	int32_t before = settings_of(self)->rigid_piece_count;
	settings_of(self)->rigid_piece_count = (int32_t)(count < 0 ? 0 : count > 100000 ? 100000 : count);
	if (settings_of(self)->rigid_piece_count != before && settings_of(self)->dynamics == FEM_DYNAMICS_RIGID_PIECES) {
		simulation_body_cut_pieces(&((DestructibleBody *)self)->simulated);
		show_cut(self);
	}
}

double destructible_body_get_energy_release(void *self) {
	return (double)settings_of(self)->energy_release;
}

void destructible_body_set_energy_release(void *self, double share) {
	set_number(self, "energy_release", &settings_of(self)->energy_release, share, 0.0, 100.0);
}

double destructible_body_get_breaks_per_second(void *self) {
	return (double)settings_of(self)->breaks_per_second;
}

void destructible_body_set_breaks_per_second(void *self, double rate) {
	set_number(self, "breaks_per_second", &settings_of(self)->breaks_per_second, rate, 0.0, 1e9);
}

double destructible_body_get_rigid_pieces_distance(void *self) {
	return (double)settings_of(self)->rigid_pieces_distance;
}

void destructible_body_set_rigid_pieces_distance(void *self, double distance) {
	set_number(self, "rigid_pieces_distance", &settings_of(self)->rigid_pieces_distance, distance, 0.0, 1e6);
}

bool destructible_body_get_refine_on_break(void *self) {
	return settings_of(self)->refine_on_break;
}

void destructible_body_set_refine_on_break(void *self, bool refine) {
	settings_of(self)->refine_on_break = refine;
	apply(self);
}

double destructible_body_get_impact_speed_min(void *self) {
	return (double)settings_of(self)->impact_speed_min;
}

void destructible_body_set_impact_speed_min(void *self, double speed) {
	set_number(self, "impact_speed_min", &settings_of(self)->impact_speed_min, speed, 0.0, 1e6);
}

// ---- fracture

double destructible_body_get_strength_scale(void *self) {
	return (double)settings_of(self)->strength_scale;
}

void destructible_body_set_strength_scale(void *self, double scale) {
	set_number(self, "strength_scale", &settings_of(self)->strength_scale, scale, 0.0, 1e9);
}

bool destructible_body_get_invulnerable(void *self) {
	return settings_of(self)->invulnerable;
}

void destructible_body_set_invulnerable(void *self, bool invulnerable) {
	settings_of(self)->invulnerable = invulnerable;
	apply(self);
}

int64_t destructible_body_get_fracture_seed(void *self) {
	return settings_of(self)->fracture_seed;
}

void destructible_body_set_fracture_seed(void *self, int64_t seed) {
	settings_of(self)->fracture_seed = (uint32_t)seed;
	apply(self);
}

int64_t destructible_body_get_debris_cap(void *self) {
	return settings_of(self)->debris_cap;
}

void destructible_body_set_debris_cap(void *self, int64_t cap) {
	settings_of(self)->debris_cap = (int32_t)(cap < 0 ? 0 : cap > 1000000 ? 1000000 : cap);
	apply(self);
	destructible_body_show_changes(self);
}

double destructible_body_get_debris_lifetime(void *self) {
	return (double)settings_of(self)->debris_lifetime;
}

void destructible_body_set_debris_lifetime(void *self, double lifetime) {
	set_number(self, "debris_lifetime", &settings_of(self)->debris_lifetime, lifetime, 0.0, 1e6);
	destructible_body_show_changes(self);
}

double destructible_body_get_debris_fade(void *self) {
	return (double)settings_of(self)->debris_fade;
}

void destructible_body_set_debris_fade(void *self, double fade) {
	set_number(self, "debris_fade", &settings_of(self)->debris_fade, fade, 0.0, 1e6);
}

double destructible_body_get_splinter_blend(void *self) {
	return settings_of(self)->splinter_blend;
}

void destructible_body_set_splinter_blend(void *self, double blend) {
	if (destructible_body_accept(self, "splinter_blend", blend)) {
		settings_of(self)->splinter_blend = blend < 0.0 ? 0.0 : blend > 10.0 ? 10.0 : blend;
	}
}

// ---- drawing

bool destructible_body_get_debug_draw_tets(void *self) {
	return ((DestructibleBody *)self)->debug_draw_tets;
}

void destructible_body_set_debug_draw_tets(void *pointer, bool draws) {
	DestructibleBody *self = pointer;
	self->debug_draw_tets = draws;
	body_view_show_tets(&self->view, self->simulated.body, draws);
}

static void apply_rendering(DestructibleBody *self) {
	body_view_set_rendering(&self->view, self->layers, self->cast_shadow);
}

// These take the place of VisualInstance3D's own, which reach only an instance without a mesh.
int64_t destructible_body_get_layers(void *self) {
	return ((DestructibleBody *)self)->layers;
}

void destructible_body_set_layers(void *pointer, int64_t layers) {
	DestructibleBody *self = pointer;
	self->layers = (uint32_t)layers;
	gd_visual_instance3d_set_layer_mask(self->base.object, (int64_t)self->layers);
	apply_rendering(self);
}

static bool is_layer(const DestructibleBody *self, int64_t number) {
	if (number >= 1 && number <= RENDER_LAYERS) {
		return true;
	}
	destructible_body_report(self, "was asked for a render layer", "there are those from 1 to 20; give one of them");
	return false;
}

bool destructible_body_get_layer_mask_value(void *pointer, int64_t number) {
	DestructibleBody *self = pointer;
	return is_layer(self, number) && (self->layers >> (number - 1) & 1u) != 0;
}

void destructible_body_set_layer_mask_value(void *pointer, int64_t number, bool on) {
	DestructibleBody *self = pointer;
	if (is_layer(self, number)) {
		uint32_t bit = 1u << (number - 1);
		destructible_body_set_layers(self, on ? self->layers | bit : self->layers & ~bit);
	}
}

int64_t destructible_body_get_cast_shadow(void *self) {
	return ((DestructibleBody *)self)->cast_shadow;
}

void destructible_body_set_cast_shadow(void *pointer, int64_t setting) {
	DestructibleBody *self = pointer;
	if (setting < GD_RENDERING_SERVER_SHADOW_CASTING_SETTING_OFF ||
		setting > GD_RENDERING_SERVER_SHADOW_CASTING_SETTING_SHADOWS_ONLY) {
		destructible_body_report(self, "keeps its cast_shadow",
			"there is no such setting; use one of GeometryInstance3D.ShadowCastingSetting");
		return;
	}
	self->cast_shadow = (int32_t)setting;
	apply_rendering(self);
}
