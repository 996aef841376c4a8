// What a DestructibleBody is shaped like: a mesh and its bake, or a box.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"
#include "classes/mesh_cache.h"
#include "simulation/node_pose.h"

#include <math.h>
#include <stdio.h>

#define SCALE_STEPS 100.0f // of a natural logarithm: ratios of scales are told apart by a hundredth; chosen, not seen
#define WALL_THICKNESS_MAX 1e6 // m: as of DestructibleMesh; thicker than any body may be

DestructibleMesh *destructible_body_mesh(const DestructibleBody *self) {
	return class_instance(self->baked, &destructible_mesh_class);
}

static void watch(DestructibleBody *self, GDExtensionObjectPtr resource, bool on) {
	if (resource && on) {
		signal_connect(resource, &names.changed, self->base.object, &names._on_mesh_changed);
	} else if (resource) {
		signal_disconnect(resource, &names.changed, self->base.object, &names._on_mesh_changed);
	}
}

// ---- bake

static void set_waiting(DestructibleBody *self, bool on) {
	DestructibleMesh *mesh = destructible_body_mesh(self);
	if (mesh && on != self->is_waiting) {
		mesh->waiting_count += on ? 1 : -1;
		self->is_waiting = on;
	}
}

void destructible_body_stop_waiting(DestructibleBody *self) {
	set_waiting(self, false);
}

static void use_baked(DestructibleBody *self, GDExtensionObjectPtr baked) {
	if (baked == self->baked) {
		return;
	}
	set_waiting(self, false);
	if (self->baked != self->mesh) {
		watch(self, self->baked, false);
	}
	object_reference_assign(&self->baked, baked);
	watch(self, baked, true);
}

// What it breaks like: its material, or the first of its regions' that breaks.
static GDExtensionObjectPtr breaking_material(DestructibleBody *self) {
	GDExtensionObjectPtr found = self->material;
	int64_t count = gd_array_size(&self->region_materials);
	for (int64_t i = 0; i < count && !material_resource_def(found).breakable; i++) {
		found = array_object(&self->region_materials, i);
	}
	return found;
}

static float rounded_ratio(float ratio) {
	return expf(roundf(SCALE_STEPS * logf(ratio)) / SCALE_STEPS);
}

// To the x axis, so that bodies of unlike size share a bake; rounded, since a rotated node's has errors in the last
// bits.
FemVec3 destructible_body_stretch(const DestructibleBody *self) {
	GdTransform3D transform = destructible_body_transform(self);
	if (node_pose_fault(&transform)) {
		return (FemVec3){1.0f, 1.0f, 1.0f};
	}
	FemVec3 scale = node_pose_of(&transform).scale;
	return bounded_stretch((FemVec3){1.0f, rounded_ratio(scale.y / scale.x), rounded_ratio(scale.z / scale.x)});
}

static MeshCacheSettings cache_settings(DestructibleBody *self) {
	GDExtensionObjectPtr resource = breaking_material(self);
	FemMaterialDef material = material_resource_def(resource);
	MeshCacheSettings settings = {
		.element_count = self->element_count,
		.wall_thickness = self->wall_thickness,
		.regions_from_surfaces = gd_array_size(&self->region_materials) > 0,
		.scale = destructible_body_stretch(self),
	};
	if (material.breakable) {
		settings.splinter_pattern = (FemPattern)material_resource_splinter_pattern(resource);
		bool has_grain = settings.splinter_pattern == FEM_PATTERN_WOOD; // other patterns have other directions
		settings.splinter_direction = has_grain ? material.grain_direction : (FemVec3){0.0f, 0.0f, 0.0f};
	}
	return settings;
}

bool destructible_body_needs_other_cut(DestructibleBody *self) {
	if (destructible_body_is_still(self) || class_instance(self->mesh, &destructible_mesh_class)) {
		return false;
	}
	MeshCacheSettings settings = cache_settings(self);
	FemVec3 a = settings.splinter_direction, b = self->cut_direction;
	return settings.splinter_pattern != self->cut_pattern || a.x != b.x || a.y != b.y || a.z != b.z;
}

// So that an error of the bake says whose mesh it is: the first body's that asks for it. A name is told to all bodies
// that share the bake, each of which looks it up again: were it each one's own name, ten equal bodies would call each
// other in all of their orders.
static void name_bake(const DestructibleBody *self, GDExtensionObjectPtr baked) {
	char path[256], text[300];
	GdString name = gd_resource_get_name(baked);
	bool has_name = gd_string_length(&name) > 0;
	gd_string_free(&name);
	if (has_name) {
		return;
	}
	destructible_body_path(self, path, sizeof(path));
	snprintf(text, sizeof(text), "of %s", path);
	name = make_string(text);
	gd_resource_set_name(baked, &name);
	gd_string_free(&name);
}

// One of Godot's own meshes that has not been drawn yet is made when it is read, and then says that it has changed.
static GDExtensionObjectPtr find_in_cache(DestructibleBody *self) {
	char message[512];
	MeshCacheSettings settings = cache_settings(self);
	self->is_reading_mesh = true;
	GDExtensionObjectPtr found = mesh_cache_get(self->mesh, &settings, message, sizeof(message));
	DestructibleMesh *mesh = class_instance(found, &destructible_mesh_class);
	if (!found) {
		destructible_body_report(self, "has a mesh that cannot be baked", message);
	} else if (!mesh->is_baked && !destructible_mesh_is_baking(mesh)) {
		name_bake(self, found);
	}
	self->is_reading_mesh = false;
	return found;
}

// What is tried in the editor is there at once: the trial may end before a bake does.
bool destructible_body_bakes_in_background(DestructibleBody *self) {
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	int64_t count = mesh ? mesh->element_count : self->element_count;
	bool is_wanted = self->simulated.settings.bake_in_background && !self->is_tried;
	return self->mesh && (is_wanted || count > ELEMENTS_MANY);
}

// While the bake runs in the background the body is seen at rest; when it ends, the mesh emits `changed`. One that was
// cancelled, because the last body that waited for it left, is begun anew.
static void bake(DestructibleBody *self, DestructibleMesh *mesh) {
	watch(self, self->baked, false); // it is about to be built anyway
	if (!destructible_body_bakes_in_background(self)) {
		destructible_mesh_bake(mesh);
	} else if (!destructible_mesh_is_baking(mesh) || mesh->job_is_cancelled) {
		destructible_mesh_bake_for_bodies(mesh);
	}
	set_waiting(self, !mesh->is_baked && destructible_mesh_is_baking(mesh));
	watch(self, self->baked, true);
	if (!mesh->is_baked && !destructible_mesh_is_baking(mesh)) {
		mesh_cache_forget(self->baked);
	}
}

// Boxes that break into splinters have a baked form, too; those that do not are made without.
static void find_box(DestructibleBody *self) {
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	MeshCacheSettings settings = cache_settings(self);
	GDExtensionObjectPtr found = NULL;
	if (settings.splinter_pattern != FEM_PATTERN_NONE && !destructible_body_box_fault(self)) {
		found = mesh_cache_get_box((FemVec3){self->size.x, self->size.y, self->size.z}, cells, &settings);
		if (!found) {
			destructible_body_report(self, "breaks without splinters", fem_last_error());
		}
	}
	use_baked(self, found);
	object_unreference(found);
}

static void find_bake_of_mesh(DestructibleBody *self) {
	if (destructible_body_has_placeholder(self)) {
		return;
	}
	if (!class_instance(self->mesh, &destructible_mesh_class)) {
		GDExtensionObjectPtr found = find_in_cache(self);
		use_baked(self, found);
		object_unreference(found);
	}
	DestructibleMesh *mesh = destructible_body_mesh(self);
	bool is_users = self->baked == self->mesh; // what is tried in the editor changes no resource
	if (mesh && !mesh->is_baked && !mesh->fault[0] && mesh->source_mesh && !(is_users && gd_engine_is_editor_hint())) {
		bake(self, mesh);
	}
}

// What entering the tree would bake, bit for bit: exports keep it where the plain mesh is left out.
GDExtensionObjectPtr destructible_body_bake_mesh(void *pointer) {
	DestructibleBody *self = pointer;
	if (!self->mesh || class_instance(self->mesh, &destructible_mesh_class)) {
		destructible_body_report(self, "has nothing to bake", "its mesh is not a plain Mesh; give it one");
		return NULL;
	}
	MeshCacheSettings settings = cache_settings(self);
	DestructibleMesh *made = mesh_cache_new(&settings);
	GDExtensionObjectPtr object = made->base.object;
	object_reference_assign(&made->source_mesh, self->mesh);
	name_bake(self, object);
	self->is_reading_mesh = true;
	bool is_baked = destructible_mesh_bake(made) == GD_OK;
	self->is_reading_mesh = false;
	if (!is_baked) {
		object_unreference(object);
	}
	return is_baked ? object : NULL;
}

static GDExtensionObjectPtr make_bake_of_box(DestructibleBody *self) {
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	MeshCacheSettings settings = cache_settings(self);
	GDExtensionObjectPtr found = destructible_body_box_fault(self)
		? NULL
		: mesh_cache_get_box((FemVec3){self->size.x, self->size.y, self->size.z}, cells, &settings);
	DestructibleMesh *mesh = class_instance(found, &destructible_mesh_class);
	if (mesh) {
		destructible_mesh_go_on_cutting(mesh, true);
	}
	return found;
}

GDExtensionObjectPtr destructible_body_make_bake(DestructibleBody *self) {
	if (!self->mesh) {
		return make_bake_of_box(self);
	}
	bool is_users = class_instance(self->mesh, &destructible_mesh_class) != NULL;
	GDExtensionObjectPtr found = is_users ? self->mesh : find_in_cache(self);
	DestructibleMesh *mesh = class_instance(found, &destructible_mesh_class);
	if (is_users) {
		gd_ref_counted_reference(found);
	} else if (mesh && !mesh->is_baked) {
		self->is_reading_mesh = true;
		destructible_mesh_bake(mesh);
		self->is_reading_mesh = false;
	}
	return found;
}

// The editor shows a plain mesh as it is: a bake would only cost time there.
void destructible_body_find_bake(DestructibleBody *self) {
	if (destructible_body_is_still(self)) {
		if (self->baked != self->mesh) {
			use_baked(self, NULL); // of a trial that ended
		}
		return;
	}
	set_waiting(self, false);
	MeshCacheSettings settings = cache_settings(self);
	self->cut_pattern = settings.splinter_pattern;
	self->cut_direction = settings.splinter_direction;
	if (self->mesh) {
		find_bake_of_mesh(self);
	} else {
		find_box(self);
	}
}

// Most changes of a DestructibleMesh are to settings of its next bake.
void destructible_body_on_mesh_changed(void *pointer) {
	DestructibleBody *self = pointer;
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	bool is_plain = self->mesh && self->baked != self->mesh;
	if (self->is_reading_mesh) {
		return;
	}
	if (is_plain && !(mesh && mesh->revision != self->mesh_revision)) {
		GDExtensionObjectPtr found =
			self->is_in_world && !destructible_body_is_still(self) ? find_in_cache(self) : NULL;
		bool is_other = found != self->baked;
		object_unreference(found);
		if (is_other) { // the triangles of the plain mesh are others
			destructible_body_rebuild(self);
		}
	} else if (mesh && mesh->revision != self->mesh_revision) {
		destructible_body_rebuild(self);
	} else {
		destructible_body_update_look(self);
	}
	destructible_body_show_changes(self);
}

// ---- properties

GDExtensionObjectPtr destructible_body_get_mesh(void *self) {
	return ((DestructibleBody *)self)->mesh;
}

// The old mesh is let go last: its drawing is in use until the body has been rebuilt.
void destructible_body_set_mesh(void *pointer, GDExtensionObjectPtr mesh) {
	DestructibleBody *self = pointer;
	bool is_baked_form = class_instance(mesh, &destructible_mesh_class) != NULL;
	if (mesh && !is_baked_form && !object_cast(mesh, "Mesh")) {
		destructible_body_report(
			self, "keeps its mesh", "what was given is neither a Mesh nor a DestructibleMesh; use one of these");
		return;
	}
	if (mesh == self->mesh) {
		return;
	}
	GDExtensionObjectPtr old = NULL, old_baked = NULL;
	object_reference_assign(&old, self->mesh);
	object_reference_assign(&old_baked, self->baked);
	use_baked(self, NULL);
	watch(self, self->mesh, false);
	object_reference_assign(&self->mesh, mesh);
	watch(self, mesh, true);
	use_baked(self, is_baked_form ? mesh : NULL);
	destructible_body_rebuild(self);
	destructible_body_show_changes(self);
	object_reference_assign(&old, NULL);
	object_reference_assign(&old_baked, NULL);
}

int64_t destructible_body_get_element_count(void *self) {
	return ((DestructibleBody *)self)->element_count;
}

void destructible_body_report_refused_count(DestructibleBody *self) {
	char what[64], cause[128];
	if (self->refused_count > 0) {
		snprintf(what, sizeof(what), "has an element_count of %d", FEM_BAKE_ELEMENTS_MAX);
		snprintf(cause, sizeof(cause), "%.0f were asked for, which nothing could simulate; set fewer",
			(double)self->refused_count);
		destructible_body_warn(self, what, cause);
	}
	self->refused_count = 0;
}

// A scene sets its nodes' properties before their names.
void destructible_body_set_element_count(void *pointer, int64_t count) {
	DestructibleBody *self = pointer;
	self->refused_count = count > FEM_BAKE_ELEMENTS_MAX ? count : 0;
	if (self->is_in_world) {
		destructible_body_report_refused_count(self);
	}
	count = bounded_element_count(count);
	if (count == self->element_count) {
		return;
	}
	self->element_count = count;
	if (self->mesh && !class_instance(self->mesh, &destructible_mesh_class)) {
		destructible_body_rebuild(self);
	}
	destructible_body_show_changes(self);
}

double destructible_body_get_wall_thickness(void *self) {
	return ((DestructibleBody *)self)->wall_thickness;
}

void destructible_body_set_wall_thickness(void *pointer, double value) {
	DestructibleBody *self = pointer;
	if (!isfinite(value)) {
		destructible_body_report(self, "keeps its wall_thickness", "it was set to a value that is not a finite number");
		return;
	}
	value = fmin(fmax(value, 0.0), WALL_THICKNESS_MAX);
	if (value == self->wall_thickness) {
		return;
	}
	self->wall_thickness = value;
	if (self->mesh && !class_instance(self->mesh, &destructible_mesh_class)) {
		destructible_body_rebuild(self);
	}
	destructible_body_show_changes(self);
}

bool destructible_body_get_bake_in_background(void *self) {
	return ((DestructibleBody *)self)->simulated.settings.bake_in_background;
}

void destructible_body_set_bake_in_background(void *self, bool on) {
	((DestructibleBody *)self)->simulated.settings.bake_in_background = on;
}

GdVector3 destructible_body_get_size(void *self) {
	return ((DestructibleBody *)self)->size;
}

void destructible_body_set_size(void *pointer, GdVector3 size) {
	DestructibleBody *self = pointer;
	if (!destructible_body_accept(self, "size", (double)size.x + size.y + size.z)) {
		return;
	}
	self->size = size;
	destructible_body_rebuild(self);
	destructible_body_show_changes(self);
}

GdVector3i destructible_body_get_cells(void *self) {
	return ((DestructibleBody *)self)->cells;
}

void destructible_body_set_cells(void *pointer, GdVector3i cells) {
	DestructibleBody *self = pointer;
	self->cells = cells;
	destructible_body_rebuild(self);
	destructible_body_show_changes(self);
}
