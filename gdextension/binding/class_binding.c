#include "binding/class_binding.h"

#include "binding/conversions.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_VALUE = 64 }; // bytes; the largest value a signature knows is a Transform3D of 48

// ---- instances

static void *binding_create(void *token, void *object) {
	(void)token, (void)object;
	return NULL;
}

static void binding_free(void *token, void *object, void *binding) {
	(void)token, (void)object, (void)binding;
}

static GDExtensionBool binding_reference(void *token, void *binding, GDExtensionBool reference) {
	(void)token, (void)binding, (void)reference;
	return 1;
}

static const GDExtensionInstanceBindingCallbacks binding_callbacks = {binding_create, binding_free, binding_reference};

static ClassInstance *make_instance(const ClassDescription *description, GDExtensionObjectPtr object) {
	ClassInstance *instance = calloc(1, description->instance_size);
	if (!instance) {
		return NULL;
	}
	instance->description = description;
	instance->object = object;
	if (description->construct) {
		description->construct(instance);
	}
	return instance;
}

GDExtensionObjectPtr class_create(const ClassDescription *description) {
	GdStringName parent = make_string_name(description->parent);
	GDExtensionObjectPtr object = godot.classdb_construct_object2(&parent);
	gd_string_name_free(&parent);
	ClassInstance *instance = object ? make_instance(description, object) : NULL;
	if (!instance) {
		return object;
	}
	GdStringName name = make_string_name(description->name);
	godot.object_set_instance(object, &name, instance);
	godot.object_set_instance_binding(object, godot.library, instance, &binding_callbacks);
	gd_string_name_free(&name);
	return object;
}

static GDExtensionObjectPtr create_instance(void *description, GDExtensionBool notify_postinitialize) {
	GDExtensionObjectPtr object = class_create(description);
	if (object && notify_postinitialize) {
		gd_object_notification(object, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
	}
	return object;
}

// After a hot reload Godot keeps its half of each object and asks for a new C half.
static GDExtensionClassInstancePtr recreate_instance(void *description, GDExtensionObjectPtr object) {
	ClassInstance *instance = make_instance(description, object);
	if (instance) {
		godot.object_set_instance_binding(object, godot.library, instance, &binding_callbacks);
	}
	return instance;
}

// Of each frame or tick: nothing is asked of the class itself.
static bool is_regular(int32_t what) {
	return what == GD_NODE_NOTIFICATION_PROCESS || what == GD_NODE_NOTIFICATION_PHYSICS_PROCESS ||
		what == GD_NODE_NOTIFICATION_INTERNAL_PROCESS || what == GD_NODE_NOTIFICATION_INTERNAL_PHYSICS_PROCESS;
}

static void enter(const ClassDescription *description) {
	if (description->enter) {
		description->enter();
	}
}

static void free_instance(void *class_description, GDExtensionClassInstancePtr instance) {
	const ClassDescription *description = class_description;
	enter(description);
	if (instance && description->destruct) {
		description->destruct(instance);
	}
	free(instance);
}

void *class_instance(GDExtensionObjectPtr object, const ClassDescription *description) {
	ClassInstance *instance = object ? godot.object_get_instance_binding(object, godot.library, NULL) : NULL;
	return instance && instance->description == description ? instance : NULL;
}

static void notify_instance(GDExtensionClassInstancePtr instance, int32_t what, GDExtensionBool reversed) {
	(void)reversed;
	const ClassDescription *description = ((ClassInstance *)instance)->description;
	if (description->notify) {
		if (!is_regular(what)) {
			enter(description);
		}
		description->notify(instance, what);
	}
}

// Which properties the inspector shows, and which can be edited, depends on the others.
static GDExtensionBool validate_property(GDExtensionClassInstancePtr instance, GDExtensionPropertyInfo *property) {
	const ClassDescription *description = ((ClassInstance *)instance)->description;
	ClassPropertyLook look = {.usage = property->usage};
	GdString text = gd_string_new_string_name(property->name);
	copy_string(&text, look.name, sizeof(look.name));
	gd_string_free(&text);
	look.has_hint_string = gd_string_length(property->hint_string) > 0;
	uint32_t usage = description->usage(instance, &look);
	bool is_changed = usage != property->usage;
	property->usage = usage;
	return is_changed;
}

// ---- methods

static bool check_arguments(const ClassMethod *method, const GDExtensionConstVariantPtr *arguments, int64_t count,
	GDExtensionCallError *error) {
	const ClassSignatureInfo *info = &class_signatures[method->signature];
	if (count > info->argument_count || count < info->argument_count - method->optional_count) {
		error->error = count < info->argument_count ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS
													: GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS;
		error->expected = info->argument_count;
		return false;
	}
	for (int i = 0; i < count; i++) {
		if (!godot.variant_can_convert_strict(godot.variant_get_type(arguments[i]), info->argument_types[i])) {
			error->error = GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT;
			error->argument = i;
			error->expected = info->argument_types[i];
			return false;
		}
	}
	return true;
}

// Turns the returned value into a Variant and gives up our share of it.
static void return_variant(GDExtensionVariantType type, void *value, GDExtensionVariantPtr out) {
	*(GdVariant *)out = make_variant(type, value);
	if (type == GDEXTENSION_VARIANT_TYPE_OBJECT) {
		godot.ref_set_object(value, NULL);
		return;
	}
	GDExtensionPtrDestructor destroy = godot.variant_get_ptr_destructor(type);
	if (destroy) {
		destroy(value);
	}
}

static void call_method(void *method_pointer, GDExtensionClassInstancePtr instance,
	const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	const ClassMethod *method = method_pointer;
	if (instance && method->name[0] != '_') {
		enter(((ClassInstance *)instance)->description);
	}
	class_signatures[method->signature].ptrcall(method_pointer, instance, arguments, out);
}

static void call_with_variants(void *method_pointer, GDExtensionClassInstancePtr instance,
	const GDExtensionConstVariantPtr *arguments, GDExtensionInt count, GDExtensionVariantPtr out,
	GDExtensionCallError *error) {
	const ClassMethod *method = method_pointer;
	const ClassSignatureInfo *info = &class_signatures[method->signature];
	error->error = GDEXTENSION_CALL_OK;
	if (!check_arguments(method, arguments, count, error)) {
		return;
	}
	_Alignas(16) unsigned char values[CLASS_ARGUMENTS_MAX][LARGEST_VALUE] = {{0}};
	_Alignas(16) unsigned char result[LARGEST_VALUE] = {0};
	GDExtensionConstTypePtr pointers[CLASS_ARGUMENTS_MAX];
	for (int i = 0; i < CLASS_ARGUMENTS_MAX; i++) {
		pointers[i] = values[i];
	}
	for (int i = 0; i < count; i++) {
		variant_to(arguments[i], info->argument_types[i], values[i]);
	}
	if (info->return_type ==
		GDEXTENSION_VARIANT_TYPE_DICTIONARY) { // these two are not empty when all their bytes are 0
		*(GdDictionary *)(void *)result = gd_dictionary_new();
	} else if (info->return_type == GDEXTENSION_VARIANT_TYPE_ARRAY) {
		*(GdArray *)(void *)result = gd_array_new();
	}
	call_method(method_pointer, instance, pointers, result);
	for (int i = 0; i < info->argument_count; i++) {
		GDExtensionPtrDestructor destroy = godot.variant_get_ptr_destructor(info->argument_types[i]);
		if (destroy && info->argument_types[i] != GDEXTENSION_VARIANT_TYPE_OBJECT) {
			destroy(values[i]);
		}
	}
	if (info->return_type != GDEXTENSION_VARIANT_TYPE_NIL) {
		return_variant(info->return_type, result, out);
	}
}

// ---- registration

// A GDExtensionPropertyInfo together with the strings it points to.
typedef struct PropertyText {
	GdStringName name, class_name;
	GdString hint;
} PropertyText;

static GDExtensionPropertyInfo property_info(PropertyText *text, GDExtensionVariantType type, const char *name,
	const char *class_name, uint32_t hint, const char *hint_string, uint32_t usage) {
	text->name = make_string_name(name ? name : "");
	text->class_name = make_string_name(class_name ? class_name : "");
	text->hint = make_string(hint_string ? hint_string : "");
	usage = usage ? usage : (uint32_t)GD_PROPERTY_USAGE_DEFAULT;
	if (type == GDEXTENSION_VARIANT_TYPE_INT && class_name) {
		usage |= GD_PROPERTY_USAGE_CLASS_IS_ENUM;
	}
	return (GDExtensionPropertyInfo){type, &text->name, &text->class_name, hint, &text->hint, usage};
}

static void property_text_free(PropertyText *text) {
	gd_string_name_free(&text->name);
	gd_string_name_free(&text->class_name);
	gd_string_free(&text->hint);
}

// ClassMethod.class_name is the class of the first object among the arguments; without one, of what is returned.
static GDExtensionPropertyInfo result_info(const ClassMethod *method, PropertyText *text) {
	const ClassSignatureInfo *info = &class_signatures[method->signature];
	bool takes_object = false;
	for (int i = 0; i < info->argument_count; i++) {
		takes_object |= info->argument_types[i] == GDEXTENSION_VARIANT_TYPE_OBJECT;
	}
	return property_info(text, info->return_type, "", takes_object ? NULL : method->class_name, 0, "", 0);
}

static void register_method(const GdStringName *class_name, const ClassMethod *method) {
	const ClassSignatureInfo *info = &class_signatures[method->signature];
	PropertyText texts[CLASS_ARGUMENTS_MAX + 1];
	GDExtensionPropertyInfo arguments[CLASS_ARGUMENTS_MAX], result = result_info(method, &texts[CLASS_ARGUMENTS_MAX]);
	GDExtensionClassMethodArgumentMetadata metadata[CLASS_ARGUMENTS_MAX] = {0};
	GdVariant null_object = make_variant_object(NULL);
	GDExtensionVariantPtr defaults[CLASS_ARGUMENTS_MAX] = {&null_object, &null_object, &null_object, &null_object};
	for (int i = 0; i < info->argument_count; i++) {
		bool has_class = info->argument_types[i] == GDEXTENSION_VARIANT_TYPE_OBJECT ||
			(info->argument_types[i] == GDEXTENSION_VARIANT_TYPE_INT &&
				info->return_type != GDEXTENSION_VARIANT_TYPE_OBJECT);
		const char *argument_class = has_class ? method->class_name : NULL;
		arguments[i] =
			property_info(&texts[i], info->argument_types[i], method->argument_names[i], argument_class, 0, "", 0);
	}
	GdStringName name = make_string_name(method->name);
	GDExtensionClassMethodInfo method_info = {
		.name = &name,
		.method_userdata = (void *)(uintptr_t)method,
		.call_func = call_with_variants,
		.ptrcall_func = call_method,
		.method_flags = GDEXTENSION_METHOD_FLAG_NORMAL | (method->is_const ? GDEXTENSION_METHOD_FLAG_CONST : 0) |
			(method->is_static ? GDEXTENSION_METHOD_FLAG_STATIC : 0),
		.has_return_value = info->return_type != GDEXTENSION_VARIANT_TYPE_NIL,
		.return_value_info = &result,
		.argument_count = (uint32_t)info->argument_count,
		.arguments_info = arguments,
		.arguments_metadata = metadata,
		.default_argument_count = (uint32_t)method->optional_count,
		.default_arguments = defaults,
	};
	godot.classdb_register_extension_class_method(godot.library, class_name, &method_info);
	for (int i = 0; i < info->argument_count; i++) {
		property_text_free(&texts[i]);
	}
	property_text_free(&texts[CLASS_ARGUMENTS_MAX]);
	variant_free(&null_object);
	gd_string_name_free(&name);
}

static void register_property(const GdStringName *class_name, const ClassProperty *property) {
	if (property->group) {
		GdString heading = make_string(property->group), prefix = make_string("");
		godot.classdb_register_extension_class_property_group(godot.library, class_name, &heading, &prefix);
		gd_string_free(&heading);
		gd_string_free(&prefix);
		return;
	}
	register_method(class_name, &property->getter);
	if (property->setter.name) {
		register_method(class_name, &property->setter);
	}
	PropertyText text;
	GDExtensionPropertyInfo info = property_info(&text, property->type, property->name, property->class_name,
		property->hint, property->hint_string, property->usage);
	GdStringName setter = make_string_name(property->setter.name ? property->setter.name : ""),
				 getter = make_string_name(property->getter.name);
	godot.classdb_register_extension_class_property(godot.library, class_name, &info, &setter, &getter);
	gd_string_name_free(&setter);
	gd_string_name_free(&getter);
	property_text_free(&text);
}

static void register_signal(const GdStringName *class_name, const ClassSignal *signal) {
	enum { COUNT = CLASS_SIGNAL_ARGUMENTS_MAX };
	PropertyText texts[COUNT];
	GDExtensionPropertyInfo arguments[COUNT];
	int count = 0;
	for (; count < COUNT && signal->arguments[count].name; count++) {
		arguments[count] = property_info(&texts[count], signal->arguments[count].type, signal->arguments[count].name,
			signal->arguments[count].class_name, 0, "", 0);
	}
	GdStringName name = make_string_name(signal->name);
	godot.classdb_register_extension_class_signal(godot.library, class_name, &name, arguments, count);
	gd_string_name_free(&name);
	for (int i = 0; i < count; i++) {
		property_text_free(&texts[i]);
	}
}

static void register_constant(const GdStringName *class_name, const ClassConstant *constant, const char *flags_enum) {
	bool is_flag = flags_enum && strcmp(flags_enum, constant->enum_name) == 0;
	GdStringName enum_name = make_string_name(constant->enum_name), name = make_string_name(constant->name);
	godot.classdb_register_extension_class_integer_constant(
		godot.library, class_name, &enum_name, &name, constant->value, is_flag);
	gd_string_name_free(&enum_name);
	gd_string_name_free(&name);
}

// Godot asks once for each virtual; equal StringNames share their address.
static void *find_virtual(void *class_description, GDExtensionConstStringNamePtr name, uint32_t hash) {
	(void)hash;
	const ClassDescription *description = class_description;
	for (int i = 0; i < description->virtual_count; i++) {
		GdStringName own = make_string_name(description->virtuals[i].name);
		bool equal = own.opaque[0] == ((const GdStringName *)name)->opaque[0];
		gd_string_name_free(&own);
		if (equal) {
			return (void *)(uintptr_t)&description->virtuals[i];
		}
	}
	return NULL;
}

static void call_virtual(GDExtensionClassInstancePtr instance, GDExtensionConstStringNamePtr name, void *data,
	const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)name;
	enter(((ClassInstance *)instance)->description);
	((const ClassVirtual *)data)->function(instance, arguments, out);
}

void class_register(const ClassDescription *description) {
	GdStringName name = make_string_name(description->name), parent = make_string_name(description->parent);
	GDExtensionClassCreationInfo4 info = {
		.is_abstract = description->is_abstract,
		.is_exposed = !description->is_hidden,
		.notification_func = notify_instance,
		.create_instance_func = create_instance,
		.free_instance_func = free_instance,
		.recreate_instance_func = recreate_instance,
		.get_virtual_call_data_func = find_virtual,
		.call_virtual_with_data_func = call_virtual,
		.validate_property_func = description->usage ? validate_property : NULL,
		.class_userdata = (void *)(uintptr_t)description,
	};
	godot.classdb_register_extension_class4(godot.library, &name, &parent, &info);
	for (int i = 0; i < description->constant_count; i++) {
		register_constant(&name, &description->constants[i], description->flags_enum);
	}
	for (int i = 0; i < description->property_count; i++) {
		register_property(&name, &description->properties[i]);
	}
	for (int i = 0; i < description->method_count; i++) {
		register_method(&name, &description->methods[i]);
	}
	for (int i = 0; i < description->signal_count; i++) {
		register_signal(&name, &description->signals[i]);
	}
	gd_string_name_free(&name);
	gd_string_name_free(&parent);
}

void class_unregister(const ClassDescription *description) {
	GdStringName name = make_string_name(description->name);
	godot.classdb_unregister_extension_class(godot.library, &name);
	gd_string_name_free(&name);
}
