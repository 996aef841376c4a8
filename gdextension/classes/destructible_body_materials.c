// What a DestructibleBody is made of: one material, or one for each region of its mesh.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"
#include "drawing/vectors.h"
#include "simulation/node_pose.h"

#define SIDE_LONGER 1.05f // times the side before it: less is as long, to the eye; chosen

int32_t destructible_body_materials(const DestructibleBody *self, GDExtensionObjectPtr out[SIMULATION_MATERIALS_MAX]) {
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	int32_t count = mesh && mesh->is_baked ? mesh->region_count : 1;
	count = count > SIMULATION_MATERIALS_MAX ? SIMULATION_MATERIALS_MAX : count;
	GdArray regions = self->region_materials; // the same array: it is only read
	for (int32_t i = 0; i < count; i++) {
		GDExtensionObjectPtr material = array_object(&regions, i);
		out[i] = material ? material : self->material;
	}
	return count;
}

bool destructible_body_can_break(const DestructibleBody *self) {
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	int32_t count = destructible_body_materials(self, materials);
	for (int32_t i = 0; i < count; i++) {
		if (material_resource_def(materials[i]).breakable) {
			return true;
		}
	}
	return false;
}

static void watch_one(DestructibleBody *self, GDExtensionObjectPtr material, bool on) {
	if (material && on) {
		signal_connect(material, &names.changed, self->base.object, &names._on_material_changed);
	} else if (material) {
		signal_disconnect(material, &names.changed, self->base.object, &names._on_material_changed);
	}
}

// One resource may be in several places: all are let go before any is watched.
static void watch(DestructibleBody *self, bool on) {
	watch_one(self, self->material, on);
	for (int64_t i = 0; i < gd_array_size(&self->region_materials); i++) {
		watch_one(self, array_object(&self->region_materials, i), on);
	}
}

// A simulated body takes its new materials over while references to the old ones are still held.
static void apply(DestructibleBody *self) {
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	int32_t count = destructible_body_materials(self, materials);
	if (self->simulated.world && count == self->simulated.material_count) {
		simulation_body_set_materials(&self->simulated, materials);
		destructible_body_tell_softening(self);
	}
	destructible_body_update_look(self);
	destructible_body_update_cut(self);
	destructible_body_show_changes(self);
}

GDExtensionObjectPtr destructible_body_get_material(void *self) {
	return ((DestructibleBody *)self)->material;
}

void destructible_body_set_material(void *pointer, GDExtensionObjectPtr material) {
	DestructibleBody *self = pointer;
	if (material && !class_instance(material, &material_resource_class)) {
		destructible_body_report(
			self, "keeps its material", "what was given is no MaterialResource; make a new MaterialResource");
		return;
	}
	if (material == self->material) {
		return;
	}
	GDExtensionObjectPtr old = NULL;
	object_reference_assign(&old, self->material);
	watch(self, false);
	object_reference_assign(&self->material, material);
	watch(self, true);
	apply(self);
	object_reference_assign(&old, NULL);
}

void destructible_body_get_region_materials(void *self, GdArray *out) {
	gd_array_free(out);
	*out = gd_array_duplicate(&((DestructibleBody *)self)->region_materials, false);
}

// Keeps what is a MaterialResource; anything else becomes null.
void destructible_body_set_region_materials(void *pointer, const GdArray *materials) {
	DestructibleBody *self = pointer;
	GdArray copy = gd_array_new(), source = gd_array_new_array(materials), old = self->region_materials;
	int64_t count = gd_array_size(&source);
	count = count > SIMULATION_MATERIALS_MAX ? SIMULATION_MATERIALS_MAX : count;
	gd_array_resize(&copy, count);
	for (int64_t i = 0; i < count; i++) {
		GDExtensionObjectPtr material = array_object(&source, i);
		if (class_instance(material, &material_resource_class)) {
			array_take(&copy, i, make_variant_object(material));
		}
	}
	gd_array_free(&source);
	bool is_other_bake = self->mesh && !class_instance(self->mesh, &destructible_mesh_class) &&
		(count > 0) != (gd_array_size(&old) > 0); // a plain mesh has regions only where there are materials for them
	watch(self, false);
	self->region_materials = copy;
	watch(self, true);
	if (is_other_bake) {
		destructible_body_rebuild(self);
	}
	apply(self);
	gd_array_free(&old);
}

// ---- look

// Whether region i of the mesh is what its surface i encloses. A mesh that is not baked yet will have regions where
// there are materials for them.
static bool has_regions_of_surfaces(const DestructibleBody *self) {
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	if (!mesh || !mesh->is_baked) {
		return mesh ? mesh->regions_from_surfaces : self->mesh != NULL;
	}
	return mesh->regions_from_surfaces && mesh->baked.region_name_count == mesh->baked.render.surface_count;
}

// Surfaces without a material look like what they are made of.
static void update_fallback_materials(DestructibleBody *self) {
	GDExtensionObjectPtr looks[SIMULATION_MATERIALS_MAX + 1];
	int64_t count = has_regions_of_surfaces(self) ? gd_array_size(&self->region_materials) : 0;
	for (int64_t i = 0; i <= count; i++) {
		GDExtensionObjectPtr material = i < count ? array_object(&self->region_materials, i) : NULL;
		looks[i] = material_resource_surface_material(material ? material : self->material);
	}
	body_view_set_fallback_materials(&self->view, looks, (int32_t)count + 1);
}

// The scale that the body has, or would have.
static FemVec3 scale_of(const DestructibleBody *self) {
	return node_pose_fault(&self->pose) ? (FemVec3){1.0f, 1.0f, 1.0f} : node_pose_of(&self->pose).scale;
}

// Where a plain mesh is shown that is not baked: the longest side of its box, the first of those that are as long.
static FemVec3 longest_side(DestructibleBody *self, FemVec3 scale) {
	GdVector3 size = destructible_body_local_box(self).size;
	float sides[3] = {size.x * scale.x, size.y * scale.y, size.z * scale.z};
	int longest = 0;
	for (int i = 1; i < 3; i++) {
		longest = sides[i] > SIDE_LONGER * sides[longest] ? i : longest;
	}
	return (FemVec3){longest == 0, longest == 1, longest == 2};
}

GdVector3 destructible_body_get_grain_direction(void *pointer) {
	DestructibleBody *self = pointer;
	FemMaterialDef def = material_resource_def(self->material);
	FemVec3 g = def.grain_direction, scale = scale_of(self);
	const TetShape *shape = self->view.shape;
	if (def.grain_ratio <= 1.0f && def.grain_stiffness_ratio <= 1.0f) {
		return (GdVector3){0.0f, 0.0f, 0.0f};
	}
	if (g.x == 0.0f && g.y == 0.0f && g.z == 0.0f) {
		FemTetArrays tets = {0};
		if (shape) {
			tets.node_count = shape->node_count;
			tets.nodes = shape->nodes;
			tets.tet_count = shape->tet_count;
			tets.tets = shape->tets;
		}
		g = shape ? fem_tets_longest_axis(&tets, scale) : longest_side(self, scale);
	}
	float length = vector_length(g);
	return (GdVector3){g.x / length, g.y / length, g.z / length};
}

// Patterns lie in the mesh's own space, directions in that of the scaled body.
static void update_grain(DestructibleBody *self) {
	GdVector3 g = destructible_body_get_grain_direction(self);
	FemVec3 scale = scale_of(self);
	bool has_grain = g.x != 0.0f || g.y != 0.0f || g.z != 0.0f;
	body_view_set_grain(&self->view,
		has_grain ? (GdVector3){g.x / scale.x, g.y / scale.y, g.z / scale.z} : (GdVector3){1.0f, 0.0f, 0.0f});
}

// Bodies that broke without splinters are drawn with one material: theirs, the first of the mesh, or that of its
// MaterialResource.
void destructible_body_update_look(DestructibleBody *self) {
	DestructibleMesh *mesh = destructible_body_mesh(self);
	GDExtensionObjectPtr look = self->surface_material;
	if (destructible_body_stand_in(self)) {
		return; // it has its own
	}
	update_fallback_materials(self);
	if (!look && mesh) {
		look = object_cast(array_object(&mesh->surface_materials, 0), "Material");
	}
	if (!look) {
		look = material_resource_surface_material(self->material);
	}
	GDExtensionObjectPtr interior =
		mesh && mesh->interior_material ? mesh->interior_material : material_resource_interior_material(self->material);
	body_view_set_look(&self->view, self->surface_material, look, interior);
	update_grain(self);
}

GDExtensionObjectPtr destructible_body_get_surface_material(void *self) {
	return ((DestructibleBody *)self)->surface_material;
}

void destructible_body_set_surface_material(void *pointer, GDExtensionObjectPtr material) {
	DestructibleBody *self = pointer;
	if (material && !object_cast(material, "Material")) {
		destructible_body_report(self, "keeps its surface_material",
			"what was given is no Material; use a StandardMaterial3D or ShaderMaterial");
		return;
	}
	if (material == self->surface_material) {
		return;
	}
	GDExtensionObjectPtr old = NULL;
	object_reference_assign(&old, self->surface_material);
	if (old) {
		signal_disconnect(old, &names.changed, self->base.object, &names._on_surface_material_changed);
	}
	object_reference_assign(&self->surface_material, material);
	if (material) {
		signal_connect(material, &names.changed, self->base.object, &names._on_surface_material_changed);
	}
	destructible_body_update_look(self);
	if (!surface_material_follows(material) && !gd_engine_is_editor_hint()) {
		destructible_body_warn(self, "is drawn in its rest shape", DESTRUCTIBLE_BODY_SHADER_FAULT);
	}
	destructible_body_show_changes(self);
	object_reference_assign(&old, NULL);
}

void destructible_body_on_surface_material_changed(void *pointer) {
	DestructibleBody *self = pointer;
	destructible_body_update_look(self);
	destructible_body_show_changes(self);
}

// The material's own look may be another now, too.
void destructible_body_on_material_changed(void *pointer) {
	DestructibleBody *self = pointer;
	destructible_body_tell_softening(self);
	destructible_body_update_look(self);
	destructible_body_update_cut(self);
	destructible_body_show_changes(self);
}
