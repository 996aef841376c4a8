// Godot's C interface: the functions Godot hands out by name, held in one struct. The only folder that includes
// Godot's header is this one.
#ifndef GODOT_API_H
#define GODOT_API_H

#include <gdextension_interface.h>

#include <stdbool.h>

// Everything here exists since Godot 4.4: X(type, name). The entry refuses to start when one is missing.
#define GODOT_REQUIRED_FUNCTIONS(X) \
	X(GDExtensionInterfaceGetGodotVersion, get_godot_version) \
	X(GDExtensionInterfacePrintError, print_error) \
	X(GDExtensionInterfacePrintWarning, print_warning) \
	X(GDExtensionInterfaceVariantNewNil, variant_new_nil) \
	X(GDExtensionInterfaceVariantNewCopy, variant_new_copy) \
	X(GDExtensionInterfaceVariantDestroy, variant_destroy) \
	X(GDExtensionInterfaceVariantGetType, variant_get_type) \
	X(GDExtensionInterfaceVariantCanConvertStrict, variant_can_convert_strict) \
	X(GDExtensionInterfaceGetVariantFromTypeConstructor, get_variant_from_type_constructor) \
	X(GDExtensionInterfaceGetVariantToTypeConstructor, get_variant_to_type_constructor) \
	X(GDExtensionInterfaceVariantGetPtrBuiltinMethod, variant_get_ptr_builtin_method) \
	X(GDExtensionInterfaceVariantGetPtrConstructor, variant_get_ptr_constructor) \
	X(GDExtensionInterfaceVariantGetPtrDestructor, variant_get_ptr_destructor) \
	X(GDExtensionInterfaceStringNewWithUtf8Chars, string_new_with_utf8_chars) \
	X(GDExtensionInterfaceStringToUtf8Chars, string_to_utf8_chars) \
	X(GDExtensionInterfaceStringNameNewWithLatin1Chars, string_name_new_with_latin1_chars) \
	X(GDExtensionInterfacePackedByteArrayOperatorIndex, packed_byte_array_operator_index) \
	X(GDExtensionInterfacePackedFloat32ArrayOperatorIndex, packed_float32_array_operator_index) \
	X(GDExtensionInterfacePackedInt32ArrayOperatorIndex, packed_int32_array_operator_index) \
	X(GDExtensionInterfacePackedVector2ArrayOperatorIndex, packed_vector2_array_operator_index) \
	X(GDExtensionInterfacePackedVector3ArrayOperatorIndex, packed_vector3_array_operator_index) \
	X(GDExtensionInterfacePackedColorArrayOperatorIndex, packed_color_array_operator_index) \
	X(GDExtensionInterfacePackedByteArrayOperatorIndexConst, packed_byte_array_operator_index_const) \
	X(GDExtensionInterfacePackedFloat32ArrayOperatorIndexConst, packed_float32_array_operator_index_const) \
	X(GDExtensionInterfacePackedInt32ArrayOperatorIndexConst, packed_int32_array_operator_index_const) \
	X(GDExtensionInterfacePackedVector2ArrayOperatorIndexConst, packed_vector2_array_operator_index_const) \
	X(GDExtensionInterfacePackedVector3ArrayOperatorIndexConst, packed_vector3_array_operator_index_const) \
	X(GDExtensionInterfacePackedColorArrayOperatorIndexConst, packed_color_array_operator_index_const) \
	X(GDExtensionInterfaceArrayOperatorIndex, array_operator_index) \
	X(GDExtensionInterfaceArraySetTyped, array_set_typed) \
	X(GDExtensionInterfaceDictionaryOperatorIndex, dictionary_operator_index) \
	X(GDExtensionInterfaceDictionaryOperatorIndexConst, dictionary_operator_index_const) \
	X(GDExtensionInterfaceCallableCustomCreate2, callable_custom_create2) \
	X(GDExtensionInterfaceImagePtrw, image_ptrw) \
	X(GDExtensionInterfaceImagePtr, image_ptr) \
	X(GDExtensionInterfaceGetLibraryPath, get_library_path) \
	X(GDExtensionInterfaceGlobalGetSingleton, global_get_singleton) \
	X(GDExtensionInterfaceObjectMethodBindCall, object_method_bind_call) \
	X(GDExtensionInterfaceObjectMethodBindPtrcall, object_method_bind_ptrcall) \
	X(GDExtensionInterfaceObjectDestroy, object_destroy) \
	X(GDExtensionInterfaceObjectGetInstanceBinding, object_get_instance_binding) \
	X(GDExtensionInterfaceObjectSetInstanceBinding, object_set_instance_binding) \
	X(GDExtensionInterfaceObjectSetInstance, object_set_instance) \
	X(GDExtensionInterfaceObjectGetInstanceFromId, object_get_instance_from_id) \
	X(GDExtensionInterfaceObjectGetInstanceId, object_get_instance_id) \
	X(GDExtensionInterfaceObjectCastTo, object_cast_to) \
	X(GDExtensionInterfaceRefSetObject, ref_set_object) \
	X(GDExtensionInterfaceClassdbConstructObject2, classdb_construct_object2) \
	X(GDExtensionInterfaceClassdbGetMethodBind, classdb_get_method_bind) \
	X(GDExtensionInterfaceClassdbGetClassTag, classdb_get_class_tag) \
	X(GDExtensionInterfaceClassdbRegisterExtensionClass4, classdb_register_extension_class4) \
	X(GDExtensionInterfaceClassdbRegisterExtensionClassMethod, classdb_register_extension_class_method) \
	X(GDExtensionInterfaceClassdbRegisterExtensionClassIntegerConstant, \
		classdb_register_extension_class_integer_constant) \
	X(GDExtensionInterfaceClassdbRegisterExtensionClassProperty, classdb_register_extension_class_property) \
	X(GDExtensionInterfaceClassdbRegisterExtensionClassPropertyGroup, classdb_register_extension_class_property_group) \
	X(GDExtensionInterfaceClassdbRegisterExtensionClassSignal, classdb_register_extension_class_signal) \
	X(GDExtensionInterfaceClassdbUnregisterExtensionClass, classdb_unregister_extension_class)

// May be null: only the editor has the help.
#define GODOT_OPTIONAL_FUNCTIONS(X) \
	X(GDExtensionsInterfaceEditorHelpLoadXmlFromUtf8Chars, editor_help_load_xml_from_utf8_chars)

typedef struct GodotApi {
#define DECLARE_FUNCTION(type, name) type name;
	GODOT_REQUIRED_FUNCTIONS(DECLARE_FUNCTION)
	GODOT_OPTIONAL_FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION
	GDExtensionClassLibraryPtr library; // names this extension towards Godot; also the token of instance bindings
} GodotApi;

extern GodotApi godot;

// False, with a line on stderr, when this Godot lacks a required function.
bool godot_api_load(GDExtensionInterfaceGetProcAddress get_proc_address, GDExtensionClassLibraryPtr library);

#endif
