// Where Godot enters the library.
#include "binding/class_binding.h"
#include "binding/conversions.h"
#include "classes/destructible_body.h"
#include "classes/destructible_mesh.h"
#include "classes/destruction_server.h"
#include "classes/destruction_sound.h"
#include "classes/material_resource.h"
#include "classes/mesh_cache.h"
#include "doc_data.h"
#include "godot_calls.h"
#include "sound/sound_stream.h"

#include <stdio.h>

#ifdef _WIN32
#define FEM_EXPORT __declspec(dllexport)
#else
#define FEM_EXPORT __attribute__((visibility("default")))
#endif

static const ClassDescription *const classes[] = {&sound_playback_class, &sound_stream_class, &material_resource_class,
	&destructible_mesh_class, &destructible_body_class, &destruction_sound_class, &destruction_server_class};

static bool is_running;

// With a call missing nothing is registered: scenes then load with placeholders instead of crashing later.
static void start(void) {
	int missing = godot_calls_load();
	if (missing > 0) {
		char text[160];
		snprintf(text, sizeof(text),
			"fem_destruction: %d of Godot's functions are missing, so the addon stays off; use Godot 4.4 or newer.",
			missing);
		godot.print_error(text, __func__, __FILE__, __LINE__, 1);
		return;
	}
	conversions_load();
	for (int i = 0; i < TABLE_COUNT(classes); i++) {
		class_register(classes[i]);
	}
	destruction_server_start();
	is_running = true;
}

static void stop(void) {
	if (!is_running) {
		return;
	}
	is_running = false;
	mesh_cache_free();
	// On a hot reload unregistering a class destructs its live instances: bodies go before what they use.
	for (int i = TABLE_COUNT(classes) - 1; i >= 0; i--) {
		if (classes[i] != &destruction_server_class) {
			class_unregister(classes[i]);
		}
	}
	destruction_server_stop();
	class_unregister(&destruction_server_class);
	conversions_unload();
	godot_calls_unload();
}

static void initialize(void *userdata, GDExtensionInitializationLevel level) {
	(void)userdata;
	if (level == GDEXTENSION_INITIALIZATION_SCENE) {
		start();
	} else if (level == GDEXTENSION_INITIALIZATION_EDITOR && is_running && godot.editor_help_load_xml_from_utf8_chars) {
		for (int i = 0; i < doc_data_count; i++) {
			godot.editor_help_load_xml_from_utf8_chars(doc_data[i]);
		}
	}
}

static void deinitialize(void *userdata, GDExtensionInitializationLevel level) {
	(void)userdata;
	if (level == GDEXTENSION_INITIALIZATION_SCENE) {
		stop();
	}
}

FEM_EXPORT GDExtensionBool fem_destruction_init(GDExtensionInterfaceGetProcAddress get_proc_address,
	GDExtensionClassLibraryPtr library, GDExtensionInitialization *initialization);

GDExtensionBool fem_destruction_init(GDExtensionInterfaceGetProcAddress get_proc_address,
	GDExtensionClassLibraryPtr library, GDExtensionInitialization *initialization) {
	if (!godot_api_load(get_proc_address, library)) {
		return 0;
	}
	initialization->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
	initialization->initialize = initialize;
	initialization->deinitialize = deinitialize;
	return 1;
}
