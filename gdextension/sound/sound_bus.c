#include "sound/sound_bus.h"

#include "binding/conversions.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 1000 }; // tried; chosen

// Since Godot 4.3: looks ahead, so that nothing passes -0.3 dB.
static GDExtensionObjectPtr make_limiter(void) {
	GdStringName class_name = make_string_name("AudioEffectHardLimiter");
	GDExtensionObjectPtr limiter = godot.classdb_construct_object2(&class_name);
	gd_string_name_free(&class_name);
	if (limiter) {
		gd_object_notification(limiter, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
		gd_ref_counted_init_ref(limiter);
	}
	return limiter;
}

static int64_t index_of(const SoundBus *bus) {
	if (!bus->name[0]) {
		return -1;
	}
	GdStringName name = make_string_name(bus->name);
	int64_t index = gd_audio_server_get_bus_index(&name);
	gd_string_name_free(&name);
	return index;
}

static void choose_name(SoundBus *bus) {
	for (int i = 1; i < NAMES_MAX; i++) {
		snprintf(bus->name, sizeof(bus->name), i == 1 ? "DestructionSound" : "DestructionSound %d", i);
		if (index_of(bus) < 0) {
			return;
		}
	}
	bus->name[0] = '\0';
}

static bool open_bus(SoundBus *bus) {
	choose_name(bus);
	GDExtensionObjectPtr limiter = bus->name[0] ? make_limiter() : NULL;
	if (!limiter) {
		bus->name[0] = '\0';
		return false;
	}
	GdString name = make_string(bus->name);
	int64_t index = gd_audio_server_get_bus_count();
	gd_audio_server_add_bus(-1);
	gd_audio_server_set_bus_name(index, &name);
	gd_audio_server_add_bus_effect(index, limiter, -1);
	gd_string_free(&name);
	object_unreference(limiter);
	return true;
}

bool sound_bus_send_to(SoundBus *bus, const GdStringName *send) {
	if (index_of(bus) < 0 && !open_bus(bus)) {
		return false;
	}
	gd_audio_server_set_bus_send(index_of(bus), send);
	return true;
}

void sound_bus_close(SoundBus *bus) {
	int64_t index = index_of(bus);
	if (index > 0) {
		gd_audio_server_remove_bus(index);
	}
	bus->name[0] = '\0';
}
