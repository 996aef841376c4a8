// What a DestructibleBody costs and weighs, before it is simulated.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"

#include <math.h>

// On one core of a desktop processor, per tet; measured.
#define BAKE_SECONDS 7e-6        // of a bake
#define AWAKE_MILLISECONDS 3e-4  // of a tick
#define BROKEN_MILLISECONDS 6e-3 // of a tick in the half second after it broke: slab, wall and pane of the bench
#define MEMORY_KILOBYTES 0.8     // of the engine
#define BREAKABLE_KILOBYTES 6.7  // of address space, for what can break

static double corner_volume(GdVector3 a, GdVector3 b, GdVector3 c) {
	return ((double)a.x * ((double)b.y * c.z - (double)b.z * c.y) -
			   (double)a.y * ((double)b.x * c.z - (double)b.z * c.x) +
			   (double)a.z * ((double)b.x * c.y - (double)b.y * c.x)) /
		6.0;
}

static double triangle_area(GdVector3 a, GdVector3 b, GdVector3 c) {
	double u[3] = {(double)b.x - a.x, (double)b.y - a.y, (double)b.z - a.z};
	double v[3] = {(double)c.x - a.x, (double)c.y - a.y, (double)c.z - a.z};
	double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
	return 0.5 * sqrt(x * x + y * y + z * z);
}

// m^3, enclosed by a mesh's triangles, or of a wall along them where that is less; of an open one it says little.
static double mesh_volume(GDExtensionObjectPtr mesh, double wall) {
	GdPackedVector3Array faces = gd_mesh_get_faces(mesh);
	int64_t count = gd_packed_vector3_array_size(&faces);
	double sum = 0.0, area = 0.0;
	for (int64_t i = 0; i + 2 < count; i += 3) {
		const GdVector3 *corner = godot.packed_vector3_array_operator_index_const(&faces, i);
		sum += corner_volume(corner[0], corner[1], corner[2]);
		area += triangle_area(corner[0], corner[1], corner[2]);
	}
	gd_packed_vector3_array_free(&faces);
	return wall > 0.0 ? fmin(fabs(sum), area * wall) : fabs(sum);
}

static double density_of(GDExtensionObjectPtr material) {
	return (double)material_resource_def(material).density;
}

static GdVector3 difference(FemVec3 a, FemVec3 b) {
	return (GdVector3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double baked_mass(const DestructibleBody *self, const FemTetArrays *tets) {
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	double densities[SIMULATION_MATERIALS_MAX], sum = 0.0;
	int32_t count = destructible_body_materials(self, materials);
	for (int32_t i = 0; i < count; i++) {
		densities[i] = density_of(materials[i]);
	}
	for (int32_t i = 0; i < tets->tet_count; i++) {
		const int32_t *n = &tets->tets[4 * (size_t)i];
		int32_t region = tets->tet_regions ? tets->tet_regions[i] : 0;
		FemVec3 p = tets->nodes[n[0]];
		double volume = fabs(corner_volume(
			difference(tets->nodes[n[1]], p), difference(tets->nodes[n[2]], p), difference(tets->nodes[n[3]], p)));
		sum += volume * densities[region >= 0 && region < count ? region : 0];
	}
	return sum;
}

// kg, before its node's scale.
static double unscaled_mass(const DestructibleBody *self) {
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	if (!self->mesh) {
		return fabs((double)self->size.x * self->size.y * self->size.z) * density_of(self->material);
	}
	if (mesh && mesh->is_baked) {
		return baked_mass(self, &mesh->baked.tet_mesh);
	}
	GDExtensionObjectPtr source = mesh ? mesh->source_mesh : self->mesh;
	double wall = mesh ? mesh->wall_thickness : self->wall_thickness;
	return source ? mesh_volume(source, wall) * density_of(self->material) : 0.0;
}

static double scale_volume(const DestructibleBody *self) {
	GdTransform3D t = destructible_body_transform(self);
	return fabs(gd_basis_determinant(&t.basis));
}

static double tet_count(DestructibleBody *self) {
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	if (!self->mesh || self->simulated.world || (mesh && mesh->is_baked)) {
		return (double)destructible_body_get_tet_count(self);
	}
	return (double)(mesh ? mesh->element_count : self->element_count);
}

void destructible_body_get_estimate(void *pointer, GdDictionary *out) {
	DestructibleBody *self = pointer;
	double count = tet_count(self), override = (double)self->simulated.settings.mass_override;
	bool breaks = destructible_body_can_break(self);
	gd_dictionary_free(out);
	*out = gd_dictionary_new();
	dictionary_take(out, "tets", make_variant_int((int64_t)count));
	dictionary_take(
		out, "mass", make_variant_float(override > 0.0 ? override : unscaled_mass(self) * scale_volume(self)));
	dictionary_take(out, "bake_seconds", make_variant_float(count * BAKE_SECONDS));
	dictionary_take(out, "awake_ms", make_variant_float(count * AWAKE_MILLISECONDS));
	dictionary_take(out, "broken_ms", make_variant_float(breaks ? count * BROKEN_MILLISECONDS : 0.0));
	dictionary_take(
		out, "memory_mb", make_variant_float(count * (breaks ? BREAKABLE_KILOBYTES : MEMORY_KILOBYTES) * 1e-3));
	dictionary_take(out, "breaks", make_variant_bool(breaks));
}
