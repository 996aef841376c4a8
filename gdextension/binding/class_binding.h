// Registers classes with Godot from descriptive tables.
//
// A class is a C struct that begins with ClassInstance, plus one ClassDescription with tables of its properties,
// methods, signals, constants and virtuals. A method is written as a plain C function; its signature is one of the
// list below, and the macro METHOD(name, signature, function) checks the function's type at compile time, because
// each signature has its own member in the union. No function is ever called through another type.
#ifndef CLASS_BINDING_H
#define CLASS_BINDING_H

#include "godot_calls.h"

#include <stddef.h>

typedef struct ClassDescription ClassDescription;

// First member of every instance struct.
typedef struct ClassInstance {
	const ClassDescription *description;
	GDExtensionObjectPtr object; // Godot's half of the instance
} ClassInstance;

// The C signatures of methods. What owns memory is returned through an `out` pointer that holds an empty value.
// get_object returns a borrowed object, make_object... a new one whose only reference the caller takes over; an object
// argument may be null or of any class. Static methods are called with self null.
typedef union ClassFunction {
	void (*nothing)(void *self);
	bool (*get_bool)(void *self);
	void (*set_bool)(void *self, bool value);
	int64_t (*get_int)(void *self);
	void (*set_int)(void *self, int64_t value);
	double (*get_float)(void *self);
	void (*set_float)(void *self, double value);
	GdVector3 (*get_vector3)(void *self);
	void (*set_vector3)(void *self, GdVector3 value);
	void (*set_vector3_pair)(void *self, GdVector3 first, GdVector3 second);
	void (*set_vector3_float_float)(void *self, GdVector3 place, double first, double second);
	int64_t (*get_int_of_vector3_float_float_object)(
		void *self, GdVector3 place, double first, double second, GDExtensionObjectPtr object);
	void (*set_vector3_vector3_float)(void *self, GdVector3 first, GdVector3 second, double value);
	int64_t (*get_int_of_vector3)(void *self, GdVector3 value);
	void (*get_dictionary_of_vector3)(void *self, GdVector3 value, GdDictionary *out);
	GdVector3 (*get_vector3_of_object)(void *self, GDExtensionObjectPtr object);
	int64_t (*get_int_of_object_vector3)(void *self, GDExtensionObjectPtr object, GdVector3 value);
	bool (*get_bool_of_object_vector3_vector3_float)(
		void *self, GDExtensionObjectPtr object, GdVector3 first, GdVector3 second, double value);
	GdVector3i (*get_vector3i)(void *self);
	void (*set_vector3i)(void *self, GdVector3i value);
	GdAABB (*get_aabb)(void *self);
	bool (*get_bool_of_int)(void *self, int64_t value);
	double (*get_float_of_int)(void *self, int64_t value);
	void (*set_int_bool)(void *self, int64_t number, bool value);
	void (*set_int_vector3)(void *self, int64_t number, GdVector3 value);
	void (*get_dictionary_of_vector3_pair_object)(
		void *self, GdVector3 first, GdVector3 second, GDExtensionObjectPtr object, GdDictionary *out);
	GDExtensionObjectPtr (*get_object)(void *self);
	void (*set_object)(void *self, GDExtensionObjectPtr value);
	void (*get_string)(void *self, GdString *out);
	void (*set_string)(void *self, const GdString *value);
	void (*get_dictionary)(void *self, GdDictionary *out);
	void (*set_dictionary)(void *self, const GdDictionary *value);
	int64_t (*get_int_of_dictionary)(void *self, const GdDictionary *value);
	void (*get_vector3_array)(void *self, GdPackedVector3Array *out);
	void (*get_int_array)(void *self, GdPackedInt32Array *out);
	void (*get_string_array)(void *self, GdPackedStringArray *out);
	void (*get_byte_array)(void *self, GdPackedByteArray *out);
	void (*set_byte_array)(void *self, const GdPackedByteArray *value);
	void (*get_array)(void *self, GdArray *out);
	void (*set_array)(void *self, const GdArray *value);
	void (*get_callable)(void *self, GdCallable *out);
	int64_t (*get_int_of_string)(void *self, const GdString *text);
	GdTransform3D (*get_transform_of_int)(void *self, int64_t value);
	void (*get_dictionary_of_int)(void *self, int64_t value, GdDictionary *out);
	GDExtensionObjectPtr (*make_object)(void *self);
	GDExtensionObjectPtr (*make_object_of_int_float)(void *self, int64_t first, double second);
	GDExtensionObjectPtr (*make_object_of_string)(void *self, const GdString *text);
	GDExtensionObjectPtr (*make_object_of_float_plane)(void *self, double value, GdPlane plane);
} ClassFunction;

typedef enum ClassSignature {
	SIGNATURE_nothing,
	SIGNATURE_get_bool,
	SIGNATURE_set_bool,
	SIGNATURE_get_int,
	SIGNATURE_set_int,
	SIGNATURE_get_float,
	SIGNATURE_set_float,
	SIGNATURE_get_vector3,
	SIGNATURE_set_vector3,
	SIGNATURE_set_vector3_pair,
	SIGNATURE_set_vector3_float_float,
	SIGNATURE_get_int_of_vector3_float_float_object,
	SIGNATURE_set_vector3_vector3_float,
	SIGNATURE_get_int_of_vector3,
	SIGNATURE_get_dictionary_of_vector3,
	SIGNATURE_get_vector3_of_object,
	SIGNATURE_get_int_of_object_vector3,
	SIGNATURE_get_bool_of_object_vector3_vector3_float,
	SIGNATURE_get_vector3i,
	SIGNATURE_set_vector3i,
	SIGNATURE_get_aabb,
	SIGNATURE_get_bool_of_int,
	SIGNATURE_get_float_of_int,
	SIGNATURE_set_int_bool,
	SIGNATURE_set_int_vector3,
	SIGNATURE_get_dictionary_of_vector3_pair_object,
	SIGNATURE_get_object,
	SIGNATURE_set_object,
	SIGNATURE_get_string,
	SIGNATURE_set_string,
	SIGNATURE_get_dictionary,
	SIGNATURE_set_dictionary,
	SIGNATURE_get_int_of_dictionary,
	SIGNATURE_get_vector3_array,
	SIGNATURE_get_int_array,
	SIGNATURE_get_string_array,
	SIGNATURE_get_byte_array,
	SIGNATURE_set_byte_array,
	SIGNATURE_get_array,
	SIGNATURE_set_array,
	SIGNATURE_get_callable,
	SIGNATURE_get_int_of_string,
	SIGNATURE_get_transform_of_int,
	SIGNATURE_get_dictionary_of_int,
	SIGNATURE_make_object,
	SIGNATURE_make_object_of_int_float,
	SIGNATURE_make_object_of_string,
	SIGNATURE_make_object_of_float_plane,
	SIGNATURE_COUNT
} ClassSignature;

enum { CLASS_ARGUMENTS_MAX = 4, CLASS_SIGNAL_ARGUMENTS_MAX = 5 }; // the most that a signature or a signal below has

// What Godot must know of a signature, and the function through which Godot calls it.
typedef struct ClassSignatureInfo {
	GDExtensionVariantType return_type; // NIL for none
	int argument_count;
	GDExtensionVariantType argument_types[CLASS_ARGUMENTS_MAX];
	GDExtensionClassMethodPtrCall ptrcall;
} ClassSignatureInfo;

extern const ClassSignatureInfo class_signatures[SIGNATURE_COUNT];

typedef struct ClassMethod {
	const char *name;
	ClassSignature signature;
	ClassFunction function;
	const char *argument_names[CLASS_ARGUMENTS_MAX];
	int optional_count;     // so many of the last arguments, all objects, may be left out and are then null
	const char *class_name; // of an object, or "Class.Enum" of an int
	bool is_const;
	bool is_static;
} ClassMethod;

#define METHOD(method_name, kind, c_function, ...) \
	{ .name = method_name, .signature = SIGNATURE_##kind, .function.kind = c_function, __VA_ARGS__ }

// A property with its two accessors, which become methods too (set_name and get_name, or is_name for a bool);
// or, with `group` set, the heading of a group.
typedef struct ClassProperty {
	const char *name;
	GDExtensionVariantType type;
	uint32_t hint;
	const char *hint_string;
	const char *class_name;     // "Class.Enum", or a resource's class
	const char *group;          // not null: a group heading of this name, all else unused
	uint32_t usage;             // 0: saved and shown in the inspector
	ClassMethod getter, setter; // a setter without a name: the property cannot be set
} ClassProperty;

#define PROPERTY_GROUP(heading) \
	{ .group = heading }
#define PROPERTY(property, variant_type, kind, getter_prefix, hint_kind, hint_text) \
	{ \
		.name = #property, .type = GDEXTENSION_VARIANT_TYPE_##variant_type, .hint = GD_PROPERTY_HINT_##hint_kind, \
		.hint_string = hint_text, \
		.getter = METHOD(getter_prefix #property, get_##kind, get_##property, .is_const = true), \
		.setter = METHOD("set_" #property, set_##kind, set_##property, .argument_names = {#property}) \
	}
#define PROPERTY_OF_CLASS(property, variant_type, kind, hint_kind, hint_text, class_text) \
	{ \
		.name = #property, .type = GDEXTENSION_VARIANT_TYPE_##variant_type, .hint = GD_PROPERTY_HINT_##hint_kind, \
		.hint_string = hint_text, .class_name = class_text, \
		.getter = METHOD("get_" #property, get_##kind, get_##property, .class_name = class_text, .is_const = true), \
		.setter = METHOD( \
			"set_" #property, set_##kind, set_##property, .argument_names = {#property}, .class_name = class_text) \
	}

typedef struct ClassSignal {
	const char *name;
	struct {
		const char *name; // null for none
		GDExtensionVariantType type;
		const char *class_name; // "Class.Enum" of an int, or null
	} arguments[CLASS_SIGNAL_ARGUMENTS_MAX];
} ClassSignal;

typedef struct ClassConstant {
	const char *enum_name;
	const char *name;
	int64_t value;
} ClassConstant;

// A property as Godot is about to list it, of the class or of one that it inherits from.
typedef struct ClassPropertyLook {
	char name[64];
	bool has_hint_string;
	uint32_t usage; // set of PropertyUsageFlags
} ClassPropertyLook;

// One of Godot's virtual methods, in its ptrcall form.
typedef struct ClassVirtual {
	const char *name;
	void (*function)(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out);
} ClassVirtual;

struct ClassDescription {
	const char *name;
	const char *parent;
	size_t instance_size;
	bool is_abstract;                         // scripts cannot make one
	bool is_hidden;                           // of the addon alone: scripts and the editor do not see it
	void (*construct)(void *self);            // the struct is zeroed, its ClassInstance filled; may be null
	void (*destruct)(void *self);             // may be null
	void (*notify)(void *self, int32_t what); // may be null
	void (*enter)(void); // before each call of Godot's but for methods whose names begin with _; may be null
	const ClassProperty *properties;
	int property_count;
	const ClassMethod *methods;
	int method_count;
	const ClassSignal *signals;
	int signal_count;
	const ClassConstant *constants;
	int constant_count;
	uint32_t (*usage)(void *self, const ClassPropertyLook *property); // of each property when it is listed; may be null
	const char *flags_enum; // the enum whose constants are bits of a set; null: none is
	const ClassVirtual *virtuals;
	int virtual_count;
};

#define TABLE_COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

void class_register(const ClassDescription *description);
void class_unregister(const ClassDescription *description);

// Makes an object of the class from C. Free it with godot.object_destroy().
GDExtensionObjectPtr class_create(const ClassDescription *description);

// The C struct behind a Godot object, or null when the object is null or not of the described class.
void *class_instance(GDExtensionObjectPtr object, const ClassDescription *description);

#endif
