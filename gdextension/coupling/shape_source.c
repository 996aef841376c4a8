#include "coupling/shape_source.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- reading

static bool read_float(GdDictionary *dictionary, const char *key, float *out) {
	GdVariant value = dictionary_get(dictionary, key);
	double number = 0.0;
	bool is_good = variant_to(&value, GDEXTENSION_VARIANT_TYPE_FLOAT, &number);
	variant_free(&value);
	*out = (float)number;
	return is_good;
}

static void read_round(ShapeSource *source, const GdVariant *data) {
	GdDictionary dictionary;
	if (variant_to(data, GDEXTENSION_VARIANT_TYPE_DICTIONARY, &dictionary)) {
		read_float(&dictionary, "radius", &source->radius);
		read_float(&dictionary, "height", &source->height);
		gd_dictionary_free(&dictionary);
	}
}

static void copy_points(ShapeSource *source, GdPackedVector3Array *array, bool flip_triangles) {
	int32_t count = (int32_t)gd_packed_vector3_array_size(array);
	source->points = count > 0 ? malloc((size_t)count * sizeof(FemVec3)) : NULL;
	source->point_count = source->points ? count : 0;
	const GdVector3 *points = count > 0 ? godot.packed_vector3_array_operator_index_const(array, 0) : NULL;
	for (int32_t i = 0; i < source->point_count; i++) {
		int32_t corner = flip_triangles && i % 3 > 0 ? i + (i % 3 == 1 ? 1 : -1) : i; // Godot's front is clockwise
		source->points[i] = vec_from(points[corner < count ? corner : i]);
	}
}

static void read_convex(ShapeSource *source, const GdVariant *data) {
	GdPackedVector3Array array;
	if (variant_to(data, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &array)) {
		copy_points(source, &array, false);
		gd_packed_vector3_array_free(&array);
	}
}

static void read_concave(ShapeSource *source, const GdVariant *data) {
	GdDictionary dictionary;
	if (!variant_to(data, GDEXTENSION_VARIANT_TYPE_DICTIONARY, &dictionary)) {
		return;
	}
	GdVariant faces = dictionary_get(&dictionary, "faces");
	GdPackedVector3Array array;
	if (variant_to(&faces, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &array)) {
		copy_points(source, &array, true);
		gd_packed_vector3_array_free(&array);
	}
	variant_free(&faces);
	gd_dictionary_free(&dictionary);
}

static void copy_heights(ShapeSource *source, GdPackedFloat32Array *array) {
	int64_t count = gd_packed_float32_array_size(array);
	if (source->width < 2 || source->depth < 2 || count != (int64_t)source->width * source->depth) {
		return;
	}
	source->heights = malloc((size_t)count * sizeof(float));
	const float *heights = godot.packed_float32_array_operator_index_const(array, 0);
	for (int64_t i = 0; source->heights && i < count; i++) {
		source->heights[i] = heights[i];
		source->has_holes |= !isfinite(heights[i]);
	}
}

static void read_heights(ShapeSource *source, const GdVariant *data) {
	GdDictionary dictionary;
	if (!variant_to(data, GDEXTENSION_VARIANT_TYPE_DICTIONARY, &dictionary)) {
		return;
	}
	float width = 0.0f, depth = 0.0f;
	read_float(&dictionary, "width", &width);
	read_float(&dictionary, "depth", &depth);
	source->width = (int32_t)width;
	source->depth = (int32_t)depth;
	GdVariant heights = dictionary_get(&dictionary, "heights");
	GdPackedFloat32Array array;
	if (variant_to(&heights, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, &array)) {
		copy_heights(source, &array);
		gd_packed_float32_array_free(&array);
	}
	variant_free(&heights);
	gd_dictionary_free(&dictionary);
}

static void drop_data(ShapeSource *source) {
	free(source->points);
	free(source->heights);
	variant_free(&source->data);
	source->points = NULL;
	source->heights = NULL;
	source->point_count = source->width = source->depth = 0;
	source->has_holes = false;
}

// Takes `data` over.
static void read_data(ShapeSource *source, GdVariant data) {
	drop_data(source);
	source->data = data;
	source->revision++;
	double radius = 0.0;
	switch (source->type) {
	case GD_PHYSICS_SERVER3D_SHAPE_WORLD_BOUNDARY:
		variant_to(&data, GDEXTENSION_VARIANT_TYPE_PLANE, &source->plane);
		break;
	case GD_PHYSICS_SERVER3D_SHAPE_SPHERE:
		variant_to(&data, GDEXTENSION_VARIANT_TYPE_FLOAT, &radius);
		source->radius = (float)radius;
		break;
	case GD_PHYSICS_SERVER3D_SHAPE_BOX: variant_to(&data, GDEXTENSION_VARIANT_TYPE_VECTOR3, &source->half); break;
	case GD_PHYSICS_SERVER3D_SHAPE_CAPSULE:
	case GD_PHYSICS_SERVER3D_SHAPE_CYLINDER: read_round(source, &data); break;
	case GD_PHYSICS_SERVER3D_SHAPE_CONVEX_POLYGON: read_convex(source, &data); break;
	case GD_PHYSICS_SERVER3D_SHAPE_CONCAVE_POLYGON: read_concave(source, &data); break;
	case GD_PHYSICS_SERVER3D_SHAPE_HEIGHTMAP: read_heights(source, &data); break;
	default: break;
	}
}

// ---- refreshing

static const void *array_in(const GdVariant *data, int64_t type, int64_t *out_count) {
	const void *array = NULL;
	*out_count = 0;
	if (type == GD_PHYSICS_SERVER3D_SHAPE_CONVEX_POLYGON) {
		GdPackedVector3Array points;
		if (variant_to(data, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &points)) {
			*out_count = gd_packed_vector3_array_size(&points);
			array = *out_count ? godot.packed_vector3_array_operator_index_const(&points, 0) : NULL;
			gd_packed_vector3_array_free(&points);
		}
		return array;
	}
	GdDictionary dictionary;
	if (!variant_to(data, GDEXTENSION_VARIANT_TYPE_DICTIONARY, &dictionary)) {
		return NULL;
	}
	bool is_mesh = type == GD_PHYSICS_SERVER3D_SHAPE_CONCAVE_POLYGON;
	GdVariant value = dictionary_get(&dictionary, is_mesh ? "faces" : "heights");
	GdPackedVector3Array faces;
	GdPackedFloat32Array heights;
	if (is_mesh && variant_to(&value, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &faces)) {
		*out_count = gd_packed_vector3_array_size(&faces);
		array = *out_count ? godot.packed_vector3_array_operator_index_const(&faces, 0) : NULL;
		gd_packed_vector3_array_free(&faces);
	} else if (!is_mesh && variant_to(&value, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, &heights)) {
		*out_count = gd_packed_float32_array_size(&heights);
		array = *out_count ? godot.packed_float32_array_operator_index_const(&heights, 0) : NULL;
		gd_packed_float32_array_free(&heights);
	}
	variant_free(&value);
	gd_dictionary_free(&dictionary);
	return array;
}

// Servers hand out the array they keep, or a copy of it.
static bool is_same_array(const ShapeSource *source, const GdVariant *data) {
	int64_t count, known;
	const void *array = array_in(data, source->type, &count), *kept = array_in(&source->data, source->type, &known);
	size_t size = source->type == GD_PHYSICS_SERVER3D_SHAPE_HEIGHTMAP ? sizeof(float) : sizeof(GdVector3);
	return count == known && (array == kept || (array && kept && memcmp(array, kept, (size_t)count * size) == 0));
}

static bool is_same_round(const ShapeSource *source, const GdVariant *data) {
	ShapeSource now = {0};
	read_round(&now, data);
	return now.radius == source->radius && now.height == source->height;
}

static bool is_same(const ShapeSource *source, const GdVariant *data) {
	double radius = 0.0;
	GdVector3 half = {0};
	GdPlane plane = {0};
	switch (source->type) {
	case GD_PHYSICS_SERVER3D_SHAPE_WORLD_BOUNDARY:
		return variant_to(data, GDEXTENSION_VARIANT_TYPE_PLANE, &plane) &&
			memcmp(&plane, &source->plane, sizeof(plane)) == 0;
	case GD_PHYSICS_SERVER3D_SHAPE_SPHERE:
		return variant_to(data, GDEXTENSION_VARIANT_TYPE_FLOAT, &radius) && (float)radius == source->radius;
	case GD_PHYSICS_SERVER3D_SHAPE_BOX:
		return variant_to(data, GDEXTENSION_VARIANT_TYPE_VECTOR3, &half) &&
			memcmp(&half, &source->half, sizeof(half)) == 0;
	case GD_PHYSICS_SERVER3D_SHAPE_CAPSULE:
	case GD_PHYSICS_SERVER3D_SHAPE_CYLINDER: return is_same_round(source, data);
	case GD_PHYSICS_SERVER3D_SHAPE_CONVEX_POLYGON:
	case GD_PHYSICS_SERVER3D_SHAPE_CONCAVE_POLYGON:
	case GD_PHYSICS_SERVER3D_SHAPE_HEIGHTMAP: return is_same_array(source, data);
	default: return true;
	}
}

void shape_source_refresh(ShapeSource *source) {
	GdVariant data = gd_physics_server3d_shape_get_data(source->rid);
	if (is_same(source, &data)) {
		variant_free(&data);
	} else {
		read_data(source, data);
	}
}

float shape_source_reach(const ShapeSource *source) {
	float reach = 0.0f;
	switch (source->type) {
	case GD_PHYSICS_SERVER3D_SHAPE_WORLD_BOUNDARY: return INFINITY;
	case GD_PHYSICS_SERVER3D_SHAPE_SPHERE: return source->radius;
	case GD_PHYSICS_SERVER3D_SHAPE_BOX: return vec_length(vec_from(source->half));
	case GD_PHYSICS_SERVER3D_SHAPE_CAPSULE:
	case GD_PHYSICS_SERVER3D_SHAPE_CYLINDER: return source->radius + 0.5f * source->height;
	case GD_PHYSICS_SERVER3D_SHAPE_HEIGHTMAP:
		for (int32_t i = 0; source->heights && i < source->width * source->depth; i++) {
			reach = fmaxf(reach, fabsf(source->heights[i]));
		}
		return reach + 0.5f * (float)(source->width + source->depth);
	default:
		for (int32_t i = 0; i < source->point_count; i++) {
			reach = fmaxf(reach, vec_length(source->points[i]));
		}
		return reach;
	}
}

// ---- cache

ShapeSource *shape_source_acquire(ShapeCache *cache, GdRID rid) {
	for (int32_t i = 0; i < cache->count; i++) {
		if (cache->sources[i]->rid.opaque[0] == rid.opaque[0]) {
			cache->sources[i]->use_count++;
			return cache->sources[i];
		}
	}
	if (cache->count == cache->capacity) {
		int32_t capacity = cache->capacity ? 2 * cache->capacity : 32;
		ShapeSource **sources = realloc(cache->sources, (size_t)capacity * sizeof(*sources));
		if (!sources) {
			return NULL;
		}
		cache->sources = sources;
		cache->capacity = capacity;
	}
	ShapeSource *source = calloc(1, sizeof(ShapeSource));
	if (!source) {
		return NULL;
	}
	source->rid = rid;
	source->use_count = 1;
	source->type = gd_physics_server3d_shape_get_type(rid);
	godot.variant_new_nil(&source->data);
	read_data(source, gd_physics_server3d_shape_get_data(rid));
	cache->sources[cache->count++] = source;
	return source;
}

void shape_source_release(ShapeCache *cache, ShapeSource *source) {
	if (!source || --source->use_count > 0) {
		return;
	}
	for (int32_t i = 0; i < cache->count; i++) {
		if (cache->sources[i] == source) {
			cache->sources[i] = cache->sources[--cache->count];
			break;
		}
	}
	drop_data(source);
	free(source);
}

void shape_cache_free(ShapeCache *cache) {
	for (int32_t i = 0; i < cache->count; i++) {
		drop_data(cache->sources[i]);
		free(cache->sources[i]);
	}
	free(cache->sources);
	*cache = (ShapeCache){0};
}
