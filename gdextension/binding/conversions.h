// Small helpers around Godot's value types: names, strings, variants, packed arrays, references, messages.
#ifndef CONVERSIONS_H
#define CONVERSIONS_H

#include "godot_calls.h"

// StringNames used while the game runs, made once at start and given back at the end.
#define GODOT_NAMES(X) \
	X(slept) \
	X(woke) \
	X(impacted) \
	X(step_failed) \
	X(fractured) \
	X(piece_detached) \
	X(crushed) \
	X(physics_frame) \
	X(node_added) \
	X(node_removed) \
	X(frame_pre_draw) \
	X(changed) \
	X(tree_exiting) \
	X(_on_physics_frame) \
	X(_on_root_exiting) \
	X(_on_frame_pre_draw) \
	X(_get_monitor) \
	X(_on_material_changed) \
	X(_on_surface_material_changed) \
	X(_on_mesh_changed) \
	X(_on_look_changed) \
	X(_on_process_frame) \
	X(_bake_with_undo) \
	X(_report_fault) \
	X(process_frame) \
	X(bake_progressed) \
	X(bake_finished) \
	X(fem_positions) \
	X(fem_stencils) \
	X(fem_offset) \
	X(fem_smooth) \
	X(fem_grain)

typedef struct GodotNames {
#define DECLARE_NAME(name) GdStringName name;
	GODOT_NAMES(DECLARE_NAME)
#undef DECLARE_NAME
} GodotNames;

extern GodotNames names;

// Finds the conversion functions and makes the names.
void conversions_load(void);
void conversions_unload(void);

GdStringName make_string_name(const char *text); // free with gd_string_name_free()
GdString make_string(const char *utf8);          // free with gd_string_free()

// Copies as UTF-8 into a buffer of `capacity` bytes, always terminated.
void copy_string(const GdString *string, char *buffer, int capacity);

// A Variant holding a copy of the value at `value`, which must be of Godot's type `type`. Free with variant_free().
GdVariant make_variant(GDExtensionVariantType type, const void *value);
GdVariant make_variant_bool(bool value);
GdVariant make_variant_int(int64_t value);
GdVariant make_variant_float(double value);
GdVariant make_variant_string(const char *utf8);
GdVariant make_variant_object(GDExtensionObjectPtr object);
void variant_free(GdVariant *variant);

// Puts what the variant holds at `out`, converted to `type`; false, with `out` untouched, when it does not convert.
bool variant_to(const GdVariant *variant, GDExtensionVariantType type, void *out);
GDExtensionVariantType variant_type(const GdVariant *variant);

// array[index] = *value, taking the value over. dictionary[key] likewise.
void array_take(GdArray *array, int64_t index, GdVariant value);
void dictionary_take(GdDictionary *dictionary, const char *key, GdVariant value);

// dictionary[key], to be freed; nil when there is none.
GdVariant dictionary_get(GdDictionary *dictionary, const char *key);

// The same as variant_to().
bool dictionary_read(GdDictionary *dictionary, const char *key, GDExtensionVariantType type, void *out);

// The same, quietly: false where there is no such key or a value of another type.
bool dictionary_find(const GdDictionary *dictionary, const char *key, GDExtensionVariantType type, void *out);

// The object at array[index], or null when there is none.
GDExtensionObjectPtr array_object(GdArray *array, int64_t index);

// A new object of one of Godot's own RefCounted classes, with one reference that the caller gives back.
GDExtensionObjectPtr make_ref_counted(const char *class_name);

// References to RefCounted objects; null is allowed. assign() takes a reference to `object` and gives up the old one.
void object_reference_assign(GDExtensionObjectPtr *slot, GDExtensionObjectPtr object);
void object_unreference(GDExtensionObjectPtr object);

// object as an instance of Godot's own class `class_name`, or null.
GDExtensionObjectPtr object_cast(GDExtensionObjectPtr object, const char *class_name);

// emit_signal with no argument, with one String, or with values that are freed.
void emit_signal(GDExtensionObjectPtr object, const GdStringName *signal);
void emit_signal_string(GDExtensionObjectPtr object, const GdStringName *signal, const char *text);
void emit_signal_values(GDExtensionObjectPtr object, const GdStringName *signal, GdVariant *values, int count);

// object.method() at the end of the frame, on the main thread.
void call_deferred(GDExtensionObjectPtr object, const GdStringName *method);

// object.method(values...), freeing the values; for classes that only the editor has. Free the result.
GdVariant call_by_name(GDExtensionObjectPtr object, const char *method, GdVariant *values, int count);

// Connects or disconnects object's signal and target's method, unless that is so already.
void signal_connect(
	GDExtensionObjectPtr object, const GdStringName *signal, GDExtensionObjectPtr target, const GdStringName *method);
void signal_disconnect(
	GDExtensionObjectPtr object, const GdStringName *signal, GDExtensionObjectPtr target, const GdStringName *method);

// A node's path; outside the tree its name.
void copy_node_path(GDExtensionObjectPtr node, char *buffer, int capacity);

// Messages for people, printf style, in Godot's output and debugger.
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool vector3_is_finite(GdVector3 v);

#endif
