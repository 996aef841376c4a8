#include "classes/destruction_sound.h"

#include "binding/conversions.h"
#include "classes/destructible_body.h"
#include "sound/sound_events.h"

#include <math.h>
#include <string.h>

enum { SOUNDS_MAX = 16 }; // nodes that are heard at once, one a world; chosen

static DestructionSound *sounds[SOUNDS_MAX];

DestructionSound *destruction_sound_of(GDExtensionObjectPtr world_3d) {
	for (int i = 0; i < SOUNDS_MAX; i++) {
		if (sounds[i] && sounds[i]->world_3d == world_3d) {
			return sounds[i];
		}
	}
	return NULL;
}

// ---- being heard

static bool is_headless(void) {
	char name[32];
	GdString text = gd_display_server_get_name();
	copy_string(&text, name, sizeof(name));
	gd_string_free(&text);
	return strcmp(name, "headless") == 0;
}

static EmitterSettings settings_of(const DestructionSound *self, const GdStringName *bus) {
	return (EmitterSettings){
		self->voice_count, self->volume_db, *bus, self->unit_size, self->max_distance, self->doppler};
}

static void use_settings(DestructionSound *self, bool is_new) {
	char text[256];
	copy_string(&self->bus, text, sizeof(text));
	GdStringName bus = make_string_name(text);
	if (gd_audio_server_get_bus_index(&bus) < 0) {
		report_warning(
			"DestructionSound: there is no audio bus \"%s\", so Master is used; make it in the Audio panel.", text);
		gd_string_name_free(&bus);
		bus = make_string_name("Master");
	}
	if (sound_bus_send_to(&self->limited, &bus)) {
		gd_string_name_free(&bus);
		bus = make_string_name(self->limited.name);
	}
	EmitterSettings settings = settings_of(self, &bus);
	if (is_new) {
		self->emitters = sound_emitters_create(self->base.object, &settings);
	} else {
		sound_emitters_apply(self->emitters, &settings);
	}
	gd_string_name_free(&bus);
}

static void fall_silent(DestructionSound *self) {
	for (int i = 0; i < SOUNDS_MAX; i++) {
		sounds[i] = sounds[i] == self ? NULL : sounds[i];
	}
	sound_emitters_free(self->emitters);
	sound_bus_close(&self->limited);
	sound_instruments_free(self->instruments);
	self->emitters = NULL;
	self->instruments = NULL;
	self->world_3d = NULL;
}

static void begin_to_sound(DestructionSound *self) {
	bool is_off = !self->is_enabled || gd_engine_is_editor_hint() || (is_headless() && !self->is_in_headless);
	if (is_off || self->emitters || !gd_node_is_inside_tree(self->base.object)) {
		return;
	}
	GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(self->base.object);
	object_unreference(world_3d);
	int slot = 0;
	while (slot < SOUNDS_MAX && sounds[slot]) {
		slot++;
	}
	if (!world_3d || slot == SOUNDS_MAX || destruction_sound_of(world_3d)) {
		if (world_3d && destruction_sound_of(world_3d)) {
			report_warning("DestructionSound: another one is heard in this world already; remove one of them.");
		}
		return;
	}
	self->instruments = sound_instruments_create();
	use_settings(self, true);
	if (!self->instruments || !self->emitters) {
		fall_silent(self);
		return;
	}
	self->world_3d = world_3d;
	sounds[slot] = self;
}

static void settings_changed(DestructionSound *self) {
	if (self->emitters) {
		use_settings(self, false);
	}
}

// ---- properties

static bool get_enabled(void *self) {
	return ((DestructionSound *)self)->is_enabled;
}

static void set_enabled(void *pointer, bool enabled) {
	DestructionSound *self = pointer;
	self->is_enabled = enabled;
	if (enabled) {
		begin_to_sound(self);
	} else {
		fall_silent(self);
	}
}

static bool get_headless(void *self) {
	return ((DestructionSound *)self)->is_in_headless;
}

static void set_headless(void *pointer, bool headless) {
	DestructionSound *self = pointer;
	self->is_in_headless = headless;
	begin_to_sound(self);
}

static int64_t get_voices(void *self) {
	return ((DestructionSound *)self)->voice_count;
}

static void set_voices(void *pointer, int64_t count) {
	DestructionSound *self = pointer;
	self->voice_count = count < 1 ? 1 : count > EMITTERS_MAX ? EMITTERS_MAX : (int32_t)count;
	settings_changed(self);
}

static void get_bus(void *self, GdString *out) {
	gd_string_free(out);
	*out = gd_string_new_string(&((DestructionSound *)self)->bus);
}

static void set_bus(void *pointer, const GdString *bus) {
	DestructionSound *self = pointer;
	GdString copy = gd_string_new_string(bus);
	gd_string_free(&self->bus);
	self->bus = copy;
	settings_changed(self);
}

static bool get_doppler(void *self) {
	return ((DestructionSound *)self)->doppler;
}

static void set_doppler(void *pointer, bool doppler) {
	DestructionSound *self = pointer;
	self->doppler = doppler;
	settings_changed(self);
}

static void change(DestructionSound *self, double *field, const char *name, double value, double low, double high) {
	if (!isfinite(value)) {
		report_error(
			"DestructionSound: %s was set to a value that is not a finite number; it keeps the old one.", name);
		return;
	}
	*field = value < low ? low : value > high ? high : value;
	settings_changed(self);
}

#define FLOAT_ACCESSORS(field, low, high) \
	static double get_##field(void *self) { \
		return ((DestructionSound *)self)->field; \
	} \
	static void set_##field(void *self, double value) { \
		change(self, &((DestructionSound *)self)->field, #field, value, low, high); \
	}

FLOAT_ACCESSORS(volume_db, -80.0, 80.0)
FLOAT_ACCESSORS(unit_size, 0.1, 1000.0)
FLOAT_ACCESSORS(max_distance, 0.0, 1e5)
FLOAT_ACCESSORS(speed_min, 0.0, 100.0)
FLOAT_ACCESSORS(striker_time, 0.0, 0.1)
FLOAT_ACCESSORS(crack_loudness, -80.0, 40.0)

// ---- methods

static bool is_sounding(void *self) {
	const DestructionSound *sound = self;
	return sound->emitters && sound_emitters_sounding(sound->emitters) > 0;
}

static double get_level(void *self) {
	const DestructionSound *sound = self;
	return sound->emitters ? sound_emitters_level(sound->emitters) : 0.0;
}

static int64_t get_instrument_count(void *self) {
	return sound_instruments_count(((DestructionSound *)self)->instruments);
}

static int64_t get_mixed_frames(void *self) {
	const DestructionSound *sound = self;
	return sound->emitters ? sound_emitters_frames(sound->emitters) : 0;
}

static bool play_strike(
	void *pointer, GDExtensionObjectPtr object, GdVector3 position, GdVector3 impulse, double duration) {
	DestructionSound *self = pointer;
	DestructibleBody *body = class_instance(object, &destructible_body_class);
	if (!body || !vector3_is_finite(position) || !vector3_is_finite(impulse) || !isfinite(duration)) {
		report_error("DestructionSound: strike() needs a DestructibleBody and finite numbers; correct the script that "
					 "calls it.");
		return false;
	}
	FemPosition point = {position.x, position.y, position.z};
	return self->emitters && body->simulated.world &&
		sound_strike(self, &body->simulated, point, (FemVec3){impulse.x, impulse.y, impulse.z}, fmax(duration, 0.0));
}

// ---- life

static void construct(void *pointer) {
	DestructionSound *self = pointer;
	self->is_enabled = true;
	self->voice_count = 16;
	self->bus = make_string("Master");
	self->unit_size = 10.0;
	self->speed_min = 0.15;
	self->striker_time = 5e-5;
}

static void destruct(void *pointer) {
	DestructionSound *self = pointer;
	fall_silent(self);
	gd_string_free(&self->bus);
}

static void notify(void *pointer, int32_t what) {
	switch (what) {
	case GD_NODE3D_NOTIFICATION_ENTER_WORLD: begin_to_sound(pointer); break;
	case GD_NODE3D_NOTIFICATION_EXIT_WORLD: fall_silent(pointer); break;
	default: break;
	}
}

static const ClassProperty properties[] = {
	PROPERTY(enabled, BOOL, bool, "is_", NONE, ""),
	PROPERTY(volume_db, FLOAT, float, "get_", RANGE, "-80,80,0.1,suffix:dB"),
	PROPERTY(crack_loudness, FLOAT, float, "get_", RANGE, "-80,40,0.1,suffix:dB"),
	PROPERTY(voices, INT, int, "get_", RANGE, "1,64,1"),
	PROPERTY(bus, STRING, string, "get_", NONE, ""),
	PROPERTY_GROUP("Place"),
	PROPERTY(unit_size, FLOAT, float, "get_", RANGE, "0.1,100,0.01,or_greater,suffix:m"),
	PROPERTY(max_distance, FLOAT, float, "get_", RANGE, "0,4096,0.01,or_greater,suffix:m"),
	PROPERTY(doppler, BOOL, bool, "is_", NONE, ""),
	PROPERTY_GROUP("Strikes"),
	PROPERTY(speed_min, FLOAT, float, "get_", RANGE, "0,5,0.01,or_greater,suffix:m/s"),
	PROPERTY(striker_time, FLOAT, float, "get_", RANGE, "0,0.01,0.000001,or_greater,exp,suffix:s"),
	PROPERTY_GROUP("Advanced"),
	PROPERTY(headless, BOOL, bool, "is_", NONE, ""),
};

static const ClassMethod methods[] = {
	METHOD("strike", get_bool_of_object_vector3_vector3_float, play_strike,
		.argument_names = {"body", "position", "impulse", "contact_time"}, .class_name = "DestructibleBody"),
	METHOD("is_sounding", get_bool, is_sounding, .is_const = true),
	METHOD("get_level", get_float, get_level, .is_const = true),
	METHOD("get_instrument_count", get_int, get_instrument_count, .is_const = true),
	METHOD("get_mixed_frames", get_int, get_mixed_frames, .is_const = true),
};

const ClassDescription destruction_sound_class = {
	.name = "DestructionSound",
	.parent = "Node3D",
	.instance_size = sizeof(DestructionSound),
	.construct = construct,
	.destruct = destruct,
	.notify = notify,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.methods = methods,
	.method_count = TABLE_COUNT(methods),
};
