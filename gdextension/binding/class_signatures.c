// One function per C signature: takes Godot's array of argument pointers apart and calls the method.
#include "binding/class_binding.h"

#include "binding/conversions.h"

#define FUNCTION(kind) ((const ClassMethod *)method)->function.kind

#define PTRCALL(kind) \
	static void ptrcall_##kind(void *method, GDExtensionClassInstancePtr self, \
		const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)

PTRCALL(nothing) {
	(void)arguments, (void)out;
	FUNCTION(nothing)(self);
}

PTRCALL(get_bool) {
	(void)arguments;
	*(GDExtensionBool *)out = FUNCTION(get_bool)(self);
}

PTRCALL(set_bool) {
	(void)out;
	FUNCTION(set_bool)(self, *(const GDExtensionBool *)arguments[0] != 0);
}

PTRCALL(get_int) {
	(void)arguments;
	*(int64_t *)out = FUNCTION(get_int)(self);
}

PTRCALL(set_int) {
	(void)out;
	FUNCTION(set_int)(self, *(const int64_t *)arguments[0]);
}

PTRCALL(get_float) {
	(void)arguments;
	*(double *)out = FUNCTION(get_float)(self);
}

PTRCALL(set_float) {
	(void)out;
	FUNCTION(set_float)(self, *(const double *)arguments[0]);
}

PTRCALL(get_vector3) {
	(void)arguments;
	*(GdVector3 *)out = FUNCTION(get_vector3)(self);
}

PTRCALL(set_vector3) {
	(void)out;
	FUNCTION(set_vector3)(self, *(const GdVector3 *)arguments[0]);
}

PTRCALL(set_vector3_pair) {
	(void)out;
	FUNCTION(set_vector3_pair)(self, *(const GdVector3 *)arguments[0], *(const GdVector3 *)arguments[1]);
}

PTRCALL(set_vector3_float_float) {
	(void)out;
	FUNCTION(set_vector3_float_float)
	(self, *(const GdVector3 *)arguments[0], *(const double *)arguments[1], *(const double *)arguments[2]);
}

PTRCALL(get_int_of_vector3_float_float_object) {
	GDExtensionObjectPtr object = arguments[3] ? *(const GDExtensionObjectPtr *)arguments[3] : NULL;
	*(int64_t *)out = FUNCTION(get_int_of_vector3_float_float_object)(
		self, *(const GdVector3 *)arguments[0], *(const double *)arguments[1], *(const double *)arguments[2], object);
}

PTRCALL(set_dictionary) {
	(void)out;
	FUNCTION(set_dictionary)(self, arguments[0]);
}

PTRCALL(get_int_of_dictionary) {
	*(int64_t *)out = FUNCTION(get_int_of_dictionary)(self, arguments[0]);
}

PTRCALL(set_vector3_vector3_float) {
	(void)out;
	FUNCTION(set_vector3_vector3_float)
	(self, *(const GdVector3 *)arguments[0], *(const GdVector3 *)arguments[1], *(const double *)arguments[2]);
}

PTRCALL(get_int_of_vector3) {
	*(int64_t *)out = FUNCTION(get_int_of_vector3)(self, *(const GdVector3 *)arguments[0]);
}

PTRCALL(get_dictionary_of_vector3) {
	FUNCTION(get_dictionary_of_vector3)(self, *(const GdVector3 *)arguments[0], out);
}

static GDExtensionObjectPtr object_at(const GDExtensionConstTypePtr argument) {
	return argument ? *(const GDExtensionObjectPtr *)argument : NULL;
}

PTRCALL(get_vector3_of_object) {
	*(GdVector3 *)out = FUNCTION(get_vector3_of_object)(self, object_at(arguments[0]));
}

PTRCALL(get_int_of_object_vector3) {
	*(int64_t *)out =
		FUNCTION(get_int_of_object_vector3)(self, object_at(arguments[0]), *(const GdVector3 *)arguments[1]);
}

PTRCALL(get_bool_of_object_vector3_vector3_float) {
	*(GDExtensionBool *)out = FUNCTION(get_bool_of_object_vector3_vector3_float)(self, object_at(arguments[0]),
		*(const GdVector3 *)arguments[1], *(const GdVector3 *)arguments[2], *(const double *)arguments[3]);
}

PTRCALL(get_vector3i) {
	(void)arguments;
	*(GdVector3i *)out = FUNCTION(get_vector3i)(self);
}

PTRCALL(set_vector3i) {
	(void)out;
	FUNCTION(set_vector3i)(self, *(const GdVector3i *)arguments[0]);
}

PTRCALL(get_aabb) {
	(void)arguments;
	*(GdAABB *)out = FUNCTION(get_aabb)(self);
}

PTRCALL(get_bool_of_int) {
	*(GDExtensionBool *)out = FUNCTION(get_bool_of_int)(self, *(const int64_t *)arguments[0]);
}

PTRCALL(get_float_of_int) {
	*(double *)out = FUNCTION(get_float_of_int)(self, *(const int64_t *)arguments[0]);
}

PTRCALL(set_int_vector3) {
	(void)out;
	FUNCTION(set_int_vector3)(self, *(const int64_t *)arguments[0], *(const GdVector3 *)arguments[1]);
}

PTRCALL(set_int_bool) {
	(void)out;
	FUNCTION(set_int_bool)(self, *(const int64_t *)arguments[0], *(const GDExtensionBool *)arguments[1] != 0);
}

PTRCALL(get_dictionary_of_vector3_pair_object) {
	FUNCTION(get_dictionary_of_vector3_pair_object)
	(self, *(const GdVector3 *)arguments[0], *(const GdVector3 *)arguments[1], object_at(arguments[2]), out);
}

// A returned object is a Ref: the caller gets a reference of its own.
PTRCALL(get_object) {
	(void)arguments;
	godot.ref_set_object(out, FUNCTION(get_object)(self));
}

PTRCALL(set_object) {
	(void)out;
	GDExtensionObjectPtr object = arguments[0] ? *(const GDExtensionObjectPtr *)arguments[0] : NULL;
	FUNCTION(set_object)(self, object);
}

PTRCALL(get_string) {
	(void)arguments;
	FUNCTION(get_string)(self, out);
}

PTRCALL(set_string) {
	(void)out;
	FUNCTION(set_string)(self, arguments[0]);
}

PTRCALL(get_dictionary) {
	(void)arguments;
	FUNCTION(get_dictionary)(self, out);
}

PTRCALL(get_vector3_array) {
	(void)arguments;
	FUNCTION(get_vector3_array)(self, out);
}

PTRCALL(get_int_array) {
	(void)arguments;
	FUNCTION(get_int_array)(self, out);
}

PTRCALL(get_string_array) {
	(void)arguments;
	FUNCTION(get_string_array)(self, out);
}

PTRCALL(get_byte_array) {
	(void)arguments;
	FUNCTION(get_byte_array)(self, out);
}

PTRCALL(set_byte_array) {
	(void)out;
	FUNCTION(set_byte_array)(self, arguments[0]);
}

PTRCALL(get_array) {
	(void)arguments;
	FUNCTION(get_array)(self, out);
}

PTRCALL(set_array) {
	(void)out;
	FUNCTION(set_array)(self, arguments[0]);
}

PTRCALL(get_callable) {
	(void)arguments;
	FUNCTION(get_callable)(self, out);
}

PTRCALL(get_int_of_string) {
	*(int64_t *)out = FUNCTION(get_int_of_string)(self, arguments[0]);
}

PTRCALL(get_transform_of_int) {
	*(GdTransform3D *)out = FUNCTION(get_transform_of_int)(self, *(const int64_t *)arguments[0]);
}

PTRCALL(get_dictionary_of_int) {
	FUNCTION(get_dictionary_of_int)(self, *(const int64_t *)arguments[0], out);
}

// The caller's Ref takes a reference of its own, ours goes.
static void hand_over(GDExtensionTypePtr out, GDExtensionObjectPtr object) {
	godot.ref_set_object(out, object);
	object_unreference(object);
}

PTRCALL(make_object) {
	(void)arguments;
	hand_over(out, FUNCTION(make_object)(self));
}

PTRCALL(make_object_of_int_float) {
	hand_over(
		out, FUNCTION(make_object_of_int_float)(self, *(const int64_t *)arguments[0], *(const double *)arguments[1]));
}

PTRCALL(make_object_of_string) {
	hand_over(out, FUNCTION(make_object_of_string)(self, arguments[0]));
}

PTRCALL(make_object_of_float_plane) {
	hand_over(
		out, FUNCTION(make_object_of_float_plane)(self, *(const double *)arguments[0], *(const GdPlane *)arguments[1]));
}

#define TYPE(name) GDEXTENSION_VARIANT_TYPE_##name
#define GETTER(kind, type) [SIGNATURE_get_##kind] = {TYPE(type), 0, {TYPE(NIL), TYPE(NIL)}, ptrcall_get_##kind}
#define SETTER(kind, type) [SIGNATURE_set_##kind] = {TYPE(NIL), 1, {TYPE(type), TYPE(NIL)}, ptrcall_set_##kind}

const ClassSignatureInfo class_signatures[SIGNATURE_COUNT] = {
	[SIGNATURE_nothing] = {TYPE(NIL), 0, {TYPE(NIL), TYPE(NIL)}, ptrcall_nothing},
	[SIGNATURE_set_vector3_pair] = {TYPE(NIL), 2, {TYPE(VECTOR3), TYPE(VECTOR3)}, ptrcall_set_vector3_pair},
	[SIGNATURE_set_vector3_float_float] = {TYPE(NIL), 3, {TYPE(VECTOR3), TYPE(FLOAT), TYPE(FLOAT)},
		ptrcall_set_vector3_float_float},
	[SIGNATURE_set_vector3_vector3_float] = {TYPE(NIL), 3, {TYPE(VECTOR3), TYPE(VECTOR3), TYPE(FLOAT)},
		ptrcall_set_vector3_vector3_float},
	[SIGNATURE_get_int_of_vector3] = {TYPE(INT), 1, {TYPE(VECTOR3)}, ptrcall_get_int_of_vector3},
	[SIGNATURE_get_dictionary_of_vector3] = {TYPE(DICTIONARY), 1, {TYPE(VECTOR3)}, ptrcall_get_dictionary_of_vector3},
	[SIGNATURE_get_vector3_of_object] = {TYPE(VECTOR3), 1, {TYPE(OBJECT)}, ptrcall_get_vector3_of_object},
	[SIGNATURE_get_int_of_object_vector3] = {TYPE(INT), 2, {TYPE(OBJECT), TYPE(VECTOR3)},
		ptrcall_get_int_of_object_vector3},
	[SIGNATURE_get_bool_of_object_vector3_vector3_float] = {TYPE(BOOL), 4,
		{TYPE(OBJECT), TYPE(VECTOR3), TYPE(VECTOR3), TYPE(FLOAT)}, ptrcall_get_bool_of_object_vector3_vector3_float},
	[SIGNATURE_get_int_of_vector3_float_float_object] = {TYPE(INT), 4,
		{TYPE(VECTOR3), TYPE(FLOAT), TYPE(FLOAT), TYPE(OBJECT)}, ptrcall_get_int_of_vector3_float_float_object},
	[SIGNATURE_get_int_of_dictionary] = {TYPE(INT), 1, {TYPE(DICTIONARY)}, ptrcall_get_int_of_dictionary},
	[SIGNATURE_get_bool_of_int] = {TYPE(BOOL), 1, {TYPE(INT)}, ptrcall_get_bool_of_int},
	[SIGNATURE_get_float_of_int] = {TYPE(FLOAT), 1, {TYPE(INT)}, ptrcall_get_float_of_int},
	[SIGNATURE_set_int_bool] = {TYPE(NIL), 2, {TYPE(INT), TYPE(BOOL)}, ptrcall_set_int_bool},
	[SIGNATURE_set_int_vector3] = {TYPE(NIL), 2, {TYPE(INT), TYPE(VECTOR3)}, ptrcall_set_int_vector3},
	[SIGNATURE_get_dictionary_of_vector3_pair_object] = {TYPE(DICTIONARY), 3,
		{TYPE(VECTOR3), TYPE(VECTOR3), TYPE(OBJECT)}, ptrcall_get_dictionary_of_vector3_pair_object},
	GETTER(bool, BOOL),
	SETTER(bool, BOOL),
	GETTER(int, INT),
	SETTER(int, INT),
	GETTER(float, FLOAT),
	SETTER(float, FLOAT),
	GETTER(vector3, VECTOR3),
	SETTER(vector3, VECTOR3),
	GETTER(vector3i, VECTOR3I),
	SETTER(vector3i, VECTOR3I),
	GETTER(aabb, AABB),
	GETTER(object, OBJECT),
	SETTER(object, OBJECT),
	GETTER(string, STRING),
	GETTER(dictionary, DICTIONARY),
	SETTER(dictionary, DICTIONARY),
	GETTER(vector3_array, PACKED_VECTOR3_ARRAY),
	SETTER(string, STRING),
	GETTER(int_array, PACKED_INT32_ARRAY),
	GETTER(string_array, PACKED_STRING_ARRAY),
	GETTER(byte_array, PACKED_BYTE_ARRAY),
	SETTER(byte_array, PACKED_BYTE_ARRAY),
	GETTER(array, ARRAY),
	SETTER(array, ARRAY),
	GETTER(callable, CALLABLE),
	[SIGNATURE_get_int_of_string] = {TYPE(INT), 1, {TYPE(STRING), TYPE(NIL)}, ptrcall_get_int_of_string},
	[SIGNATURE_get_transform_of_int] = {TYPE(TRANSFORM3D), 1, {TYPE(INT), TYPE(NIL)}, ptrcall_get_transform_of_int},
	[SIGNATURE_get_dictionary_of_int] = {TYPE(DICTIONARY), 1, {TYPE(INT), TYPE(NIL)}, ptrcall_get_dictionary_of_int},
	[SIGNATURE_make_object] = {TYPE(OBJECT), 0, {TYPE(NIL), TYPE(NIL)}, ptrcall_make_object},
	[SIGNATURE_make_object_of_int_float] = {TYPE(OBJECT), 2, {TYPE(INT), TYPE(FLOAT)},
		ptrcall_make_object_of_int_float},
	[SIGNATURE_make_object_of_string] = {TYPE(OBJECT), 1, {TYPE(STRING), TYPE(NIL)}, ptrcall_make_object_of_string},
	[SIGNATURE_make_object_of_float_plane] = {TYPE(OBJECT), 2, {TYPE(FLOAT), TYPE(PLANE)},
		ptrcall_make_object_of_float_plane},
};
