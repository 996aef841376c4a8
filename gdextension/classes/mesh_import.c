#include "classes/mesh_import.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

// A sentence for the caller.
typedef struct Message {
	char *text;
	size_t capacity;
} Message;

static FemResult fail(Message message, FemResult result, const char *format, ...) __attribute__((format(printf, 3, 4)));

static FemResult fail(Message message, FemResult result, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message.text, message.capacity, format, arguments);
	va_end(arguments);
	return result;
}

// One of the arrays of a surface. What the surface does not have, or has in another type or length, is empty.
#define TAKE_ARRAY(name, type_name, variant_name, element, operator_name, free_name, size_name) \
	typedef struct name { \
		Gd##type_name packed; \
		const element *values; \
		int64_t count; \
	} name; \
	static name take_##free_name(GdArray *arrays, int slot) { \
		name taken = {0}; \
		GdVariant *value = godot.array_operator_index(arrays, slot); \
		if (variant_type(value) == GDEXTENSION_VARIANT_TYPE_##variant_name) { \
			variant_to(value, GDEXTENSION_VARIANT_TYPE_##variant_name, &taken.packed); \
			taken.count = gd_##size_name##_size(&taken.packed); \
			taken.values = taken.count > 0 ? (const element *)godot.operator_name(&taken.packed, 0) : NULL; \
		} \
		return taken; \
	} \
	static void free_##free_name(name *taken) { \
		gd_##size_name##_free(&taken->packed); \
	}

TAKE_ARRAY(Vectors3, PackedVector3Array, PACKED_VECTOR3_ARRAY, GdVector3, packed_vector3_array_operator_index_const,
	vectors3, packed_vector3_array)
TAKE_ARRAY(Vectors2, PackedVector2Array, PACKED_VECTOR2_ARRAY, GdVector2, packed_vector2_array_operator_index_const,
	vectors2, packed_vector2_array)
TAKE_ARRAY(Floats, PackedFloat32Array, PACKED_FLOAT32_ARRAY, float, packed_float32_array_operator_index_const, floats,
	packed_float32_array)
TAKE_ARRAY(Integers, PackedInt32Array, PACKED_INT32_ARRAY, int32_t, packed_int32_array_operator_index_const, integers,
	packed_int32_array)
TAKE_ARRAY(Colors, PackedColorArray, PACKED_COLOR_ARRAY, GdColor, packed_color_array_operator_index_const, colors,
	packed_color_array)

typedef struct SourceArrays {
	Vectors3 positions, normals;
	Floats tangents;
	Vectors2 uvs, uvs2;
	Colors colors;
	Integers indices;
} SourceArrays;

static SourceArrays take_arrays(GdArray *arrays) {
	return (SourceArrays){
		.positions = take_vectors3(arrays, GD_RENDERING_SERVER_ARRAY_VERTEX),
		.normals = take_vectors3(arrays, GD_RENDERING_SERVER_ARRAY_NORMAL),
		.tangents = take_floats(arrays, GD_RENDERING_SERVER_ARRAY_TANGENT),
		.uvs = take_vectors2(arrays, GD_RENDERING_SERVER_ARRAY_TEX_UV),
		.uvs2 = take_vectors2(arrays, GD_RENDERING_SERVER_ARRAY_TEX_UV2),
		.colors = take_colors(arrays, GD_RENDERING_SERVER_ARRAY_COLOR),
		.indices = take_integers(arrays, GD_RENDERING_SERVER_ARRAY_INDEX),
	};
}

static void free_arrays(SourceArrays *source) {
	free_vectors3(&source->positions);
	free_vectors3(&source->normals);
	free_floats(&source->tangents);
	free_vectors2(&source->uvs);
	free_vectors2(&source->uvs2);
	free_colors(&source->colors);
	free_integers(&source->indices);
}

// ---- mending

static bool normalize(float v[3]) {
	float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	if (!(length > 1e-20f) || !isfinite(length)) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		v[i] /= length;
	}
	return true;
}

static FemVec3 mended_normal(GdVector3 n) {
	float v[3] = {n.x, n.y, n.z};
	return normalize(v) ? (FemVec3){v[0], v[1], v[2]} : (FemVec3){0.0f, 1.0f, 0.0f};
}

static void mended_tangent(const float source[4], float out[4]) {
	float v[3] = {source[0], source[1], source[2]};
	bool is_good = normalize(v);
	for (int i = 0; i < 3; i++) {
		out[i] = is_good ? v[i] : (float)(i == 0);
	}
	out[3] = source[3] < 0.0f ? -1.0f : 1.0f;
}

static float finite_or_zero(float value) {
	return fabsf(value) < 1e9f ? value : 0.0f;
}

static uint8_t color_byte(float value) {
	return (uint8_t)(value >= 1.0f ? 255.0f : value > 0.0f ? value * 255.0f + 0.5f : 0.0f);
}

// ---- surfaces

static void copy_vertices(const SourceArrays *source, FemRenderSurface *out) {
	for (int32_t i = 0; i < out->vertex_count; i++) {
		GdVector3 p = source->positions.values[i];
		out->positions[i] = (FemVec3){p.x, p.y, p.z};
		if (out->normals) {
			out->normals[i] = mended_normal(source->normals.values[i]);
		}
		if (out->tangents) {
			mended_tangent(&source->tangents.values[4 * (size_t)i], out->tangents[i]);
		}
		if (out->uvs) {
			out->uvs[i][0] = finite_or_zero(source->uvs.values[i].x);
			out->uvs[i][1] = finite_or_zero(source->uvs.values[i].y);
		}
		if (out->uvs2) {
			out->uvs2[i][0] = finite_or_zero(source->uvs2.values[i].x);
			out->uvs2[i][1] = finite_or_zero(source->uvs2.values[i].y);
		}
		if (out->colors) {
			GdColor c = source->colors.values[i];
			const float channels[4] = {c.r, c.g, c.b, c.a};
			for (int k = 0; k < 4; k++) {
				out->colors[i][k] = color_byte(channels[k]);
			}
		}
	}
}

// Godot's front faces run clockwise, the engine's counter-clockwise.
static void copy_triangles(const SourceArrays *source, FemRenderSurface *out) {
	for (int32_t i = 0; i < out->index_count; i++) {
		int32_t from = i - i % 3 + (2 - i % 3);
		out->indices[i] = source->indices.count > 0 ? source->indices.values[from] : from;
	}
}

static uint32_t attributes_of(const SourceArrays *source) {
	int64_t count = source->positions.count;
	return (source->normals.count == count ? FEM_ATTRIBUTE_NORMAL : 0u) |
		(source->tangents.count == 4 * count ? FEM_ATTRIBUTE_TANGENT : 0u) |
		(source->uvs.count == count ? FEM_ATTRIBUTE_UV : 0u) | (source->uvs2.count == count ? FEM_ATTRIBUTE_UV2 : 0u) |
		(source->colors.count == count ? FEM_ATTRIBUTE_COLOR : 0u);
}

static void resource_text(GDExtensionObjectPtr resource, char *buffer, int capacity) {
	buffer[0] = 0;
	if (!resource) {
		return;
	}
	GdString text = gd_resource_get_path(resource);
	if (gd_string_length(&text) == 0) {
		gd_string_free(&text);
		text = gd_resource_get_name(resource);
	}
	copy_string(&text, buffer, capacity);
	gd_string_free(&text);
}

static FemResult copy_surface(
	const SourceArrays *source, const char *name, GDExtensionObjectPtr material, FemRenderMesh *out, Message message) {
	char path[FEM_MATERIAL_NAME_SIZE];
	resource_text(material, path, sizeof(path));
	int64_t vertices = source->positions.count;
	int64_t indices = source->indices.count > 0 ? source->indices.count : vertices;
	FemRenderSurface *surface = fem_render_mesh_add(out, name, path);
	if (!surface) {
		return fail(message, FEM_ERROR_LIMIT,
			"The mesh has more than %d surfaces or memory is short: join some of them.", FEM_SURFACE_MAX);
	}
	if (vertices > INT32_MAX / 16 || indices > INT32_MAX / 16) {
		return fail(message, FEM_ERROR_LIMIT, "The mesh has %.0f vertices: use a coarser one.", (double)vertices);
	}
	if (!fem_render_surface_reserve(
			surface, (int32_t)vertices, (int32_t)(indices - indices % 3), attributes_of(source))) {
		return fail(message, FEM_ERROR_MEMORY,
			"The system gave no memory for %.0f vertices: close other programs or use a "
			"smaller mesh.",
			(double)vertices);
	}
	copy_vertices(source, surface);
	copy_triangles(source, surface);
	return FEM_OK;
}

// Only an ArrayMesh tells what its surfaces are made of; a PrimitiveMesh is triangles, or points too few for one; of
// others, as ImmediateMesh, the server knows.
static bool is_triangles(GDExtensionObjectPtr mesh, int64_t surface) {
	GDExtensionObjectPtr array_mesh = object_cast(mesh, "ArrayMesh");
	int64_t primitive = GD_RENDERING_SERVER_PRIMITIVE_TRIANGLES;
	if (array_mesh) {
		primitive = gd_array_mesh_surface_get_primitive_type(array_mesh, surface);
	} else if (!object_cast(mesh, "PrimitiveMesh")) {
		GdDictionary data = gd_rendering_server_mesh_get_surface(gd_resource_get_rid(mesh), surface);
		dictionary_read(&data, "primitive", GDEXTENSION_VARIANT_TYPE_INT, &primitive);
		gd_dictionary_free(&data);
	}
	return primitive == GD_RENDERING_SERVER_PRIMITIVE_TRIANGLES;
}

static void surface_name(GDExtensionObjectPtr mesh, int64_t surface, char *buffer, int capacity) {
	GDExtensionObjectPtr array_mesh = object_cast(mesh, "ArrayMesh");
	buffer[0] = 0;
	if (array_mesh) {
		GdString text = gd_array_mesh_surface_get_name(array_mesh, surface);
		copy_string(&text, buffer, capacity);
		gd_string_free(&text);
	}
}

static bool has_bones(GdArray *arrays) {
	return variant_type(godot.array_operator_index(arrays, GD_RENDERING_SERVER_ARRAY_BONES)) !=
		GDEXTENSION_VARIANT_TYPE_NIL;
}

static FemResult import_surface(
	GDExtensionObjectPtr mesh, int64_t index, FemRenderMesh *out, GdArray *materials, Message message) {
	FemResult result = FEM_OK;
	GdArray arrays = gd_mesh_surface_get_arrays(mesh, index);
	if (gd_array_size(&arrays) >= GD_RENDERING_SERVER_ARRAY_MAX) {
		SourceArrays source = take_arrays(&arrays);
		if (source.positions.count >= 3 && (source.indices.count == 0 || source.indices.count >= 3)) {
			GDExtensionObjectPtr material = gd_mesh_surface_get_material(mesh, index);
			char name[FEM_SURFACE_NAME_SIZE];
			surface_name(mesh, index, name, sizeof(name));
			result = copy_surface(&source, name, material, out, message);
			out->has_poses = out->has_poses || has_bones(&arrays);
			gd_array_resize(materials, out->surface_count);
			if (material) {
				array_take(materials, out->surface_count - 1, make_variant_object(material));
				object_unreference(material);
			}
		}
		free_arrays(&source);
	}
	gd_array_free(&arrays);
	return result;
}

FemResult mesh_import(
	GDExtensionObjectPtr mesh, FemRenderMesh *out, GdArray *out_materials, char *out_message, size_t capacity) {
	Message message = {out_message, capacity};
	FemResult result = FEM_OK;
	int64_t count = gd_mesh_get_surface_count(mesh);
	char name[128];
	*out = (FemRenderMesh){0};
	gd_array_resize(out_materials, 0);
	GDExtensionObjectPtr array_mesh = object_cast(mesh, "ArrayMesh");
	out->has_poses = array_mesh && gd_array_mesh_get_blend_shape_count(array_mesh) > 0;
	for (int64_t i = 0; i < count && result == FEM_OK; i++) {
		if (is_triangles(mesh, i)) {
			result = import_surface(mesh, i, out, out_materials, message);
		}
	}
	if (result == FEM_OK && out->surface_count == 0) {
		result = fail(message, FEM_ERROR_MESH,
			"The source mesh has no triangles: choose a Mesh that has a surface of them (lines, points and strips are "
			"left out).");
	}
	if (result == FEM_OK) {
		resource_text(mesh, name, sizeof(name));
		result = fem_render_mesh_check(out, name[0] ? name : "The source mesh");
		if (result != FEM_OK) {
			fail(message, result, "%s", fem_last_error());
		}
	}
	if (result != FEM_OK) {
		fem_render_mesh_free(out);
	}
	return result;
}
