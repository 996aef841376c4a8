#include "classes/destructible_mesh_splinters.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdio.h>

// Settings of the next bake: bodies do not notice.
static void set_number(void *pointer, float *field, const char *name, double value, double low, double high) {
	if (!isfinite(value)) {
		char resource[256];
		destructible_mesh_name(pointer, resource, sizeof(resource));
		report_error("DestructibleMesh %s: %s was set to a value that is not a finite number; it keeps %g.", resource,
			name, (double)*field);
		return;
	}
	*field = (float)(value < low ? low : value > high ? high : value);
}

#define CUT(pointer) (((DestructibleMesh *)(pointer))->cut)

#define NUMBER(name, field, low, high) \
	double destructible_mesh_get_##name(void *self) { \
		return (double)CUT(self).field; \
	} \
	void destructible_mesh_set_##name(void *self, double value) { \
		set_number(self, &CUT(self).field, #name, value, low, high); \
	}

#define WHOLE(name, field, low, high) \
	int64_t destructible_mesh_get_##name(void *self) { \
		return (int64_t)CUT(self).field; \
	} \
	void destructible_mesh_set_##name(void *self, int64_t value) { \
		int64_t clamped = value < (low) ? (low) : value > (high) ? (high) : value; \
		CUT(self).field = (__typeof__(CUT(self).field))clamped; \
	}

enum { LENGTH_MAX = 100000 }; // m, of any size of the pattern; chosen: more is a slip

WHOLE(splinter_pattern, pattern, 0, FEM_PATTERN_COUNT - 1)
WHOLE(splinter_seed, seed, 0, UINT32_MAX)
WHOLE(splinter_count, splinter_count, 0, 1000000000)
WHOLE(splinter_triangle_limit, triangle_max, 100, 1000000000)
NUMBER(splinter_size, splinter_size, 0.0, LENGTH_MAX)
NUMBER(splinter_roughness, roughness, 0.0, 1.0)
NUMBER(splinter_unevenness, unevenness, 0.0, 1.0)
NUMBER(section_width, section_width, 0.0, LENGTH_MAX)
NUMBER(section_height, section_height, 0.0, LENGTH_MAX)
NUMBER(section_length, section_length, 0.0, LENGTH_MAX)
NUMBER(random_width, random_width, 0.0, 1.0)
NUMBER(random_height, random_height, 0.0, 1.0)
WHOLE(horizontal_frequency, horizontal_frequency, 1, 8)
NUMBER(horizontal_amplitude, horizontal_amplitude, 0.0, 1.0)
WHOLE(vertical_frequency, vertical_frequency, 0, 8)
NUMBER(vertical_amplitude, vertical_amplitude, 0.0, 1.0)
NUMBER(mortar, mortar, 0.0, LENGTH_MAX)
NUMBER(broken_bricks, broken_share, 0.0, 1.0)

bool destructible_mesh_get_splinter_join(void *self) {
	return CUT(self).joins;
}

void destructible_mesh_set_splinter_join(void *self, bool joins) {
	CUT(self).joins = joins;
}

// ---- vectors

static void set_vector(void *pointer, FemVec3 *field, const char *name, GdVector3 value, double low) {
	float values[3] = {field->x, field->y, field->z};
	const float given[3] = {value.x, value.y, value.z};
	for (int i = 0; i < 3; i++) {
		set_number(pointer, &values[i], name, (double)given[i], low, LENGTH_MAX);
	}
	*field = (FemVec3){values[0], values[1], values[2]};
}

GdVector3 destructible_mesh_get_splinter_direction(void *self) {
	FemVec3 v = CUT(self).grain;
	return (GdVector3){v.x, v.y, v.z};
}

void destructible_mesh_set_splinter_direction(void *self, GdVector3 value) {
	set_vector(self, &CUT(self).grain, "splinter_direction", value, -LENGTH_MAX);
}

GdVector3 destructible_mesh_get_brick_size(void *self) {
	FemVec3 v = CUT(self).brick_size;
	return (GdVector3){v.x, v.y, v.z};
}

void destructible_mesh_set_brick_size(void *self, GdVector3 value) {
	set_vector(self, &CUT(self).brick_size, "brick_size", value, 0.001);
}

// ---- impacts

void destructible_mesh_get_impact_points(void *self, GdArray *out) {
	const FemCutDef *cut = &CUT(self);
	gd_array_free(out);
	*out = gd_array_new();
	gd_array_resize(out, cut->impact_count);
	for (int32_t i = 0; i < cut->impact_count; i++) {
		GdVector3 point = {cut->impacts[i].x, cut->impacts[i].y, cut->impacts[i].z};
		array_take(out, i, make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &point));
	}
}

// What is no finite point is passed over.
void destructible_mesh_set_impact_points(void *self, const GdArray *points) {
	FemCutDef *cut = &CUT(self);
	GdArray source = gd_array_new_array(points);
	int64_t count = gd_array_size(&source);
	cut->impact_count = 0;
	for (int64_t i = 0; i < count && cut->impact_count < FEM_CUT_IMPACTS_MAX; i++) {
		const GdVariant *item = godot.array_operator_index(&source, i);
		GdVector3 point;
		if (variant_type(item) == GDEXTENSION_VARIANT_TYPE_VECTOR3 &&
			variant_to(item, GDEXTENSION_VARIANT_TYPE_VECTOR3, &point) && vector3_is_finite(point)) {
			cut->impacts[cut->impact_count++] = (FemVec3){point.x, point.y, point.z};
		}
	}
	gd_array_free(&source);
}

// ---- look

GDExtensionObjectPtr destructible_mesh_get_interior_material(void *self) {
	return ((DestructibleMesh *)self)->interior_material;
}

void destructible_mesh_set_interior_material(void *pointer, GDExtensionObjectPtr material) {
	DestructibleMesh *self = pointer;
	if (material && !object_cast(material, "Material")) {
		report_error("DestructibleMesh: the interior_material must be a Material; it keeps the old one.");
		return;
	}
	object_reference_assign(&self->interior_material, material);
	gd_resource_emit_changed(self->base.object);
}

// Null when there are none or they cannot be drawn. Main thread only.
const MeshDrawing *destructible_mesh_splinter_drawing(DestructibleMesh *self) {
	if (self->is_baked && self->baked.splinters.splinter_count > 0 && !self->splinter_drawing.exists) {
		mesh_drawing_create_splinters(&self->splinter_drawing, &self->baked, &self->surface_materials);
	}
	return self->splinter_drawing.exists ? &self->splinter_drawing : NULL;
}

// ---- queries

int64_t destructible_mesh_get_baked_splinter_count(void *self) {
	return ((DestructibleMesh *)self)->baked.splinters.splinter_count;
}

void destructible_mesh_get_splinter_positions(void *self, GdPackedVector3Array *out) {
	const FemSplinterMesh *splinters = &((DestructibleMesh *)self)->baked.splinters;
	gd_packed_vector3_array_resize(out, splinters->vertex_count);
	GdVector3 *written = splinters->vertex_count > 0 ? godot.packed_vector3_array_operator_index(out, 0) : NULL;
	for (int32_t i = 0; i < splinters->vertex_count; i++) {
		FemVec3 p = splinters->positions[i];
		written[i] = (GdVector3){p.x, p.y, p.z};
	}
}
