#include "binding/godot_api.h"

#include <stdio.h>

GodotApi godot;

// Godot hands out every function as one generic pointer type; each is cast back to the type its name stands for
// (by way of the type that GCC takes for any function).
bool godot_api_load(GDExtensionInterfaceGetProcAddress get_proc_address, GDExtensionClassLibraryPtr library) {
	const char *missing = NULL;
	godot.library = library;
#define LOAD_FUNCTION(type, name) godot.name = (type)(void (*)(void))get_proc_address(#name);
#define LOAD_REQUIRED(type, name) \
	LOAD_FUNCTION(type, name) \
	missing = godot.name ? missing : #name;
	GODOT_REQUIRED_FUNCTIONS(LOAD_REQUIRED)
	GODOT_OPTIONAL_FUNCTIONS(LOAD_FUNCTION)
#undef LOAD_REQUIRED
#undef LOAD_FUNCTION
	if (missing) {
		fprintf(stderr, "fem_destruction: this Godot has no interface function %s; use Godot 4.4 or newer.\n", missing);
	}
	return missing == NULL;
}
