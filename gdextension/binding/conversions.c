#include "binding/conversions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

GodotNames names;

enum { MAX_VALUES = 5 }; // of a call by name or a signal

static GDExtensionVariantFromTypeConstructorFunc from_type[GDEXTENSION_VARIANT_TYPE_VARIANT_MAX];
static GDExtensionTypeFromVariantConstructorFunc to_type[GDEXTENSION_VARIANT_TYPE_VARIANT_MAX];

void conversions_load(void) {
	for (int type = GDEXTENSION_VARIANT_TYPE_BOOL; type < GDEXTENSION_VARIANT_TYPE_VARIANT_MAX; type++) {
		from_type[type] = godot.get_variant_from_type_constructor((GDExtensionVariantType)type);
		to_type[type] = godot.get_variant_to_type_constructor((GDExtensionVariantType)type);
	}
#define MAKE_NAME(name) names.name = make_string_name(#name);
	GODOT_NAMES(MAKE_NAME)
#undef MAKE_NAME
}

void conversions_unload(void) {
#define FREE_NAME(name) gd_string_name_free(&names.name);
	GODOT_NAMES(FREE_NAME)
#undef FREE_NAME
	names = (GodotNames){0};
}

GdStringName make_string_name(const char *text) {
	GdStringName name = {0};
	godot.string_name_new_with_latin1_chars(&name, text, 0);
	return name;
}

GdString make_string(const char *utf8) {
	GdString string = {0};
	godot.string_new_with_utf8_chars(&string, utf8);
	return string;
}

void copy_string(const GdString *string, char *buffer, int capacity) {
	GDExtensionInt length = godot.string_to_utf8_chars(string, buffer, capacity - 1);
	length = length < 0 ? 0 : length > capacity - 1 ? capacity - 1 : length;
	buffer[length] = 0;
}

// Godot's conversion functions take the value by a pointer that is not const, but only read it.
GdVariant make_variant(GDExtensionVariantType type, const void *value) {
	GdVariant variant = {0};
	from_type[type](&variant, (void *)(uintptr_t)value);
	return variant;
}

GdVariant make_variant_bool(bool value) {
	GDExtensionBool byte = value;
	return make_variant(GDEXTENSION_VARIANT_TYPE_BOOL, &byte);
}

GdVariant make_variant_int(int64_t value) {
	return make_variant(GDEXTENSION_VARIANT_TYPE_INT, &value);
}

GdVariant make_variant_float(double value) {
	return make_variant(GDEXTENSION_VARIANT_TYPE_FLOAT, &value);
}

GdVariant make_variant_string(const char *utf8) {
	GdString string = make_string(utf8);
	GdVariant variant = make_variant(GDEXTENSION_VARIANT_TYPE_STRING, &string);
	gd_string_free(&string);
	return variant;
}

GdVariant make_variant_object(GDExtensionObjectPtr object) {
	return make_variant(GDEXTENSION_VARIANT_TYPE_OBJECT, &object);
}

void variant_free(GdVariant *variant) {
	godot.variant_destroy(variant);
	*variant = (GdVariant){0};
}

GDExtensionVariantType variant_type(const GdVariant *variant) {
	return godot.variant_get_type(variant);
}

bool variant_to(const GdVariant *variant, GDExtensionVariantType type, void *out) {
	if (!godot.variant_can_convert_strict(variant_type(variant), type)) {
		return false;
	}
	to_type[type](out, (void *)(uintptr_t)variant);
	return true;
}

static void variant_take(GdVariant *slot, GdVariant value) {
	if (!slot) {
		variant_free(&value);
		return;
	}
	godot.variant_destroy(slot);
	*slot = value; // a Variant may be moved by copying its bytes
}

void array_take(GdArray *array, int64_t index, GdVariant value) {
	variant_take(godot.array_operator_index(array, index), value);
}

bool dictionary_find(const GdDictionary *dictionary, const char *key, GDExtensionVariantType type, void *out) {
	GdVariant name = make_variant_string(key);
	GdDictionary same = *dictionary; // it is only read
	const GdVariant *value =
		gd_dictionary_has(&same, &name) ? godot.dictionary_operator_index_const(dictionary, &name) : NULL;
	bool is_there = value && variant_type(value) == type && variant_to(value, type, out);
	variant_free(&name);
	return is_there;
}

GDExtensionObjectPtr array_object(GdArray *array, int64_t index) {
	GDExtensionObjectPtr object = NULL;
	if (index >= 0 && index < gd_array_size(array)) {
		const GdVariant *value = godot.array_operator_index(array, index);
		if (variant_type(value) == GDEXTENSION_VARIANT_TYPE_OBJECT) {
			variant_to(value, GDEXTENSION_VARIANT_TYPE_OBJECT, &object);
		}
	}
	return object;
}

void dictionary_take(GdDictionary *dictionary, const char *key, GdVariant value) {
	GdVariant name = make_variant_string(key);
	variant_take(godot.dictionary_operator_index(dictionary, &name), value);
	variant_free(&name);
}

GdVariant dictionary_get(GdDictionary *dictionary, const char *key) {
	GdVariant name = make_variant_string(key), value;
	const GdVariant *found = godot.dictionary_operator_index_const(dictionary, &name);
	if (found) {
		godot.variant_new_copy(&value, found);
	} else {
		godot.variant_new_nil(&value);
	}
	variant_free(&name);
	return value;
}

bool dictionary_read(GdDictionary *dictionary, const char *key, GDExtensionVariantType type, void *out) {
	GdVariant value = dictionary_get(dictionary, key);
	bool is_found = variant_to(&value, type, out);
	variant_free(&value);
	return is_found;
}

GDExtensionObjectPtr make_ref_counted(const char *class_name) {
	GdStringName name = make_string_name(class_name);
	GDExtensionObjectPtr object = godot.classdb_construct_object2(&name);
	gd_string_name_free(&name);
	if (object) {
		gd_object_notification(object, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
		gd_ref_counted_init_ref(object);
	}
	return object;
}

void object_unreference(GDExtensionObjectPtr object) {
	if (object && gd_ref_counted_unreference(object)) {
		godot.object_destroy(object);
	}
}

void object_reference_assign(GDExtensionObjectPtr *slot, GDExtensionObjectPtr object) {
	GDExtensionObjectPtr old = *slot;
	if (object) {
		gd_ref_counted_reference(object);
	}
	*slot = object;
	object_unreference(old);
}

GDExtensionObjectPtr object_cast(GDExtensionObjectPtr object, const char *class_name) {
	if (!object) {
		return NULL;
	}
	GdStringName name = make_string_name(class_name);
	void *tag = godot.classdb_get_class_tag(&name);
	gd_string_name_free(&name);
	return tag ? godot.object_cast_to(object, tag) : NULL;
}

void emit_signal(GDExtensionObjectPtr object, const GdStringName *signal) {
	GdVariant name = make_variant(GDEXTENSION_VARIANT_TYPE_STRING_NAME, signal);
	GdVariant result = gd_object_emit_signal(object, (GDExtensionConstVariantPtr[]){&name}, 1);
	variant_free(&result);
	variant_free(&name);
}

void emit_signal_string(GDExtensionObjectPtr object, const GdStringName *signal, const char *text) {
	emit_signal_values(object, signal, (GdVariant[]){make_variant_string(text)}, 1);
}

// The pointers of a vararg call: the name first, then the values.
static int gather(GDExtensionConstVariantPtr *pointers, const GdVariant *name, const GdVariant *values, int count) {
	count = count > MAX_VALUES ? MAX_VALUES : count;
	pointers[0] = name;
	for (int i = 0; i < count; i++) {
		pointers[i + 1] = &values[i];
	}
	return count + 1;
}

static void free_values(GdVariant *name, GdVariant *values, int count) {
	variant_free(name);
	for (int i = 0; i < count; i++) {
		variant_free(&values[i]);
	}
}

void emit_signal_values(GDExtensionObjectPtr object, const GdStringName *signal, GdVariant *values, int count) {
	GDExtensionConstVariantPtr pointers[MAX_VALUES + 1];
	GdVariant name = make_variant(GDEXTENSION_VARIANT_TYPE_STRING_NAME, signal);
	GdVariant result = gd_object_emit_signal(object, pointers, gather(pointers, &name, values, count));
	variant_free(&result);
	free_values(&name, values, count);
}

void call_deferred(GDExtensionObjectPtr object, const GdStringName *method) {
	GdVariant name = make_variant(GDEXTENSION_VARIANT_TYPE_STRING_NAME, method);
	GdVariant result = gd_object_call_deferred(object, (GDExtensionConstVariantPtr[]){&name}, 1);
	variant_free(&result);
	variant_free(&name);
}

GdVariant call_by_name(GDExtensionObjectPtr object, const char *method, GdVariant *values, int count) {
	GDExtensionConstVariantPtr pointers[MAX_VALUES + 1];
	GdStringName method_name = make_string_name(method);
	GdVariant name = make_variant(GDEXTENSION_VARIANT_TYPE_STRING_NAME, &method_name);
	GdVariant result = gd_object_call(object, pointers, gather(pointers, &name, values, count));
	free_values(&name, values, count);
	gd_string_name_free(&method_name);
	return result;
}

void signal_connect(
	GDExtensionObjectPtr object, const GdStringName *signal, GDExtensionObjectPtr target, const GdStringName *method) {
	GdCallable callable = gd_callable_new_object_string_name(target, method);
	if (!gd_object_is_connected(object, signal, &callable)) {
		gd_object_connect(object, signal, &callable, 0);
	}
	gd_callable_free(&callable);
}

void signal_disconnect(
	GDExtensionObjectPtr object, const GdStringName *signal, GDExtensionObjectPtr target, const GdStringName *method) {
	GdCallable callable = gd_callable_new_object_string_name(target, method);
	if (gd_object_is_connected(object, signal, &callable)) {
		gd_object_disconnect(object, signal, &callable);
	}
	gd_callable_free(&callable);
}

void copy_node_path(GDExtensionObjectPtr node, char *buffer, int capacity) {
	GdString text;
	if (gd_node_is_inside_tree(node)) {
		GdNodePath path = gd_node_get_path(node);
		text = gd_string_new_node_path(&path);
		gd_node_path_free(&path);
	} else {
		GdStringName name = gd_node_get_name(node);
		text = gd_string_new_string_name(&name);
		gd_string_name_free(&name);
	}
	copy_string(&text, buffer, capacity);
	gd_string_free(&text);
	if (!buffer[0]) {
		snprintf(buffer, (size_t)capacity, "without a name");
	}
}

void report_error(const char *format, ...) {
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	godot.print_error(text, "fem_destruction", "fem_destruction", 0, 0);
}

void report_warning(const char *format, ...) {
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	godot.print_warning(text, "fem_destruction", "fem_destruction", 0, 0);
}

bool vector3_is_finite(GdVector3 v) {
	return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}
