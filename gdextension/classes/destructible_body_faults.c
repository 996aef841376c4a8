// What is wrong with a DestructibleBody, said in the scene dock and in messages.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"
#include "simulation/node_pose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void destructible_body_path(const DestructibleBody *self, char *buffer, int capacity) {
	copy_node_path(self->base.object, buffer, capacity);
}

const char *destructible_body_box_fault(const DestructibleBody *self) {
	if (!vector3_is_finite(self->size) || !(self->size.x > 0.0f) || !(self->size.y > 0.0f) || !(self->size.z > 0.0f)) {
		return "its size is not above 0 along every axis; set all three components of size to a positive length in "
			   "metres";
	}
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	if (body_shape_box_nodes(cells) == 0) {
		return "it has too many cells or none along an axis; use at least 1 a side and at most 20000 (x * y * z) in "
			   "all";
	}
	return NULL;
}

bool destructible_body_has_placeholder(const DestructibleBody *self) {
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	GDExtensionObjectPtr source = mesh ? mesh->source_mesh : self->mesh;
	return !(mesh && mesh->is_baked) && object_cast(source, "PlaceholderMesh");
}

// A mesh that is not baked yet is baked when the game starts.
static const char *mesh_fault(const DestructibleBody *self, const DestructibleMesh *mesh) {
	if (destructible_body_has_placeholder(self)) {
		return "a PlaceholderMesh, without triangles, has taken the place of its mesh in the export for a dedicated "
			   "server; "
			   "enable the plugin fem_destruction, which bakes such meshes, and export again, or give it a baked "
			   "DestructibleMesh";
	}
	if (!mesh || (!mesh->is_baked && !mesh->fault[0] && mesh->source_mesh)) {
		return destructible_body_is_still(self) ? NULL
			: gd_engine_is_editor_hint()        ? "its mesh is not baked; press Bake first"
												: "its mesh could not be baked; see the error above";
	}
	return destructible_mesh_fault(mesh);
}

const char *destructible_body_fault(const DestructibleBody *self, const GdTransform3D *transform) {
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	const char *fault = self->mesh ? mesh_fault(self, mesh) : destructible_body_box_fault(self);
	return fault ? fault : node_pose_fault(transform);
}

static void add_warning(GdPackedStringArray *out, const char *format, const char *detail) {
	char text[2048];
	snprintf(text, sizeof(text), format, detail);
	GdString string = make_string(text);
	gd_packed_string_array_append(out, &string);
	gd_string_free(&string);
}

static void add_material_warnings(const DestructibleBody *self, GdPackedStringArray *out) {
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	int32_t count = destructible_body_materials(self, materials);
	for (int32_t i = 0; i < count; i++) {
		const char *fault = material_resource_fault(materials[i]);
		if (fault) {
			add_warning(out, "The material will not behave as expected: %s.", fault);
			break;
		}
	}
	GdArray regions = self->region_materials; // the same array: it is only read
	if (gd_array_size(&regions) > count) {
		char counts[64];
		snprintf(counts, sizeof(counts), "%d of %d", (int)count, (int)gd_array_size(&regions));
		add_warning(out,
			"Only %s region materials are used: the mesh has no more regions; remove the others or bake a mesh with "
			"regions.",
			counts);
	}
}

// Measured, per tet: a bake takes 7 us, or 200 where walls are thin; a tick 0.2 to 0.5 us; the engine holds 0.8 kB, or
// 6.7 kB of address space for what can break.
static void add_cost_warning(DestructibleBody *self, GdPackedStringArray *out) {
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	bool is_baked = mesh && mesh->is_baked;
	double count = is_baked ? mesh->baked.tet_mesh.tet_count
		: mesh              ? (double)mesh->element_count
							: (double)self->element_count;
	char cost[160], bake[80] = "";
	if (!self->mesh || count <= ELEMENTS_MANY) {
		return;
	}
	if (!is_baked) {
		snprintf(bake, sizeof(bake), "%.1g s to bake (%.0f s with thin walls), ", count * 7e-6, count * 2e-4);
	}
	snprintf(cost, sizeof(cost), "%.0f tetrahedra: %sabout %.0f ms a tick and %.0f MB (%.0f if it can break)", count,
		bake, count * 3e-4, count * 0.8e-3, count * 6.7e-3);
	add_warning(out, "This body is costly, with %s. Lower the element count unless that is meant.", cost);
}

void destructible_body_tell_softening(DestructibleBody *self) {
	bool is_asked = self->simulated.world && !self->is_softening_told;
	int32_t count = is_asked ? fem_body_get_softened_tets(self->simulated.body) : 0;
	if (count > 0) {
		char cause[256];
		snprintf(cause, sizeof(cause),
			"%d of its %d tetrahedra are too stiff for their size to be computed, and bend more than they should; "
			"lower "
			"the material's stiffness, raise its density, or use fewer and larger tetrahedra",
			(int)count, (int)fem_body_get_tet_count(self->simulated.body));
		self->is_softening_told = true;
		destructible_body_warn(self, "is softer than its material says", cause);
	}
}

void destructible_body_warnings(DestructibleBody *self, GdPackedStringArray *out) {
	char anchors[256];
	GdArray regions = self->region_materials; // the same array: it is only read
	GdTransform3D transform = destructible_body_transform(self);
	const char *fault = destructible_body_fault(self, &transform);
	if (fault) {
		add_warning(out, "This body will not be simulated: %s.", fault);
	} else if (node_pose_has_shear(&transform)) {
		add_warning(out,
			"This body is sheared by a stretched parent%s; scale this node instead of its parent. The shear is left "
			"out.",
			"");
	}
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	if (mesh && !fault && !mesh->is_baked) {
		add_warning(out,
			"The mesh is not baked%s and will be when the game starts; press the Bake button of the DestructibleMesh "
			"to "
			"save that time.",
			"");
	} else if (mesh && !fault) {
		char found[1536];
		destructible_mesh_warnings(mesh, found, sizeof(found));
		if (found[0]) {
			add_warning(out, "The bake of the mesh warns: %s", found);
		}
	}
	if (!self->mesh && !self->material) {
		add_warning(out,
			"This body is a box of soft rubber: it has neither a mesh nor a material%s. Give it a mesh, and a material "
			"such as one of those in addons/fem_destruction/materials.",
			"");
	} else if (!self->material && gd_array_size(&regions) == 0) {
		add_warning(out,
			"This body has no material and behaves like soft rubber%s; give it a MaterialResource, such as one of "
			"those "
			"in addons/fem_destruction/materials.",
			"");
	}
	add_cost_warning(self, out);
	if (destructible_body_anchor_fault(self, anchors, sizeof(anchors))) {
		add_warning(out, "This body is not held as it should be: %s.", anchors);
	}
	add_material_warnings(self, out);
	if (!surface_material_is_supported(self->surface_material)) {
		add_warning(out,
			"The surface material cannot follow the deformation%s; use a StandardMaterial3D, or a ShaderMaterial whose "
			"shader includes fem_position.gdshaderinc.",
			"");
	} else if (!surface_material_follows(self->surface_material)) {
		add_warning(out, "The body will be drawn in its rest shape: %s.", DESTRUCTIBLE_BODY_SHADER_FAULT);
	}
}

// The engine's sentences end with a full stop, our own causes do not.
static const char *stop_after(const char *cause) {
	size_t length = strlen(cause);
	return length > 0 && cause[length - 1] == '.' ? "" : ".";
}

void destructible_body_report(const DestructibleBody *self, const char *what, const char *cause) {
	char path[256];
	destructible_body_path(self, path, sizeof(path));
	report_error("DestructibleBody %s %s: %s%s", path, what, cause, stop_after(cause));
}

void destructible_body_warn(const DestructibleBody *self, const char *what, const char *cause) {
	char path[256];
	destructible_body_path(self, path, sizeof(path));
	report_warning("DestructibleBody %s %s: %s%s", path, what, cause, stop_after(cause));
}

bool destructible_body_accept(const DestructibleBody *self, const char *property, double value) {
	if (isfinite(value)) {
		return true;
	}
	char what[64];
	snprintf(what, sizeof(what), "keeps its %s", property);
	destructible_body_report(self, what, "what was given is not a finite number; correct the script that sets it");
	return false;
}
