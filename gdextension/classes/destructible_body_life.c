// What a DestructibleBody does when it enters or leaves a world, moves, or changes shape.
#include "classes/destructible_body.h"

#include "classes/destructible_mesh.h"
#include "classes/destruction_server.h"
#include "classes/material_resource.h"
#include "conversions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------ transform

// A transform taken apart into what the engine takes. Godot keeps a Basis by rows; its columns are the axes.
typedef struct Pose {
	FemPosition position;
	FemQuat rotation;
	FemVec3 scale;
} Pose;

static GdVector3 axis_of(const GdBasis *basis, int column) {
	const float *x = &basis->x.x, *y = &basis->y.x, *z = &basis->z.x;
	return (GdVector3){x[column], y[column], z[column]};
}

static double dot(GdVector3 a, GdVector3 b) {
	return (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z;
}

static GdVector3 cross(GdVector3 a, GdVector3 b) {
	return (GdVector3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static GdVector3 normalized(GdVector3 v) {
	float inv = (float)(1.0 / sqrt(dot(v, v)));
	return (GdVector3){v.x * inv, v.y * inv, v.z * inv};
}

// Shepperd's method: the largest of the four components first, so that no small number is divided by.
static FemQuat quat_from_axes(GdVector3 x, GdVector3 y, GdVector3 z) {
	float trace = x.x + y.y + z.z;
	FemQuat q;
	if (trace > 0.0f) {
		float s = 2.0f * sqrtf(trace + 1.0f);
		q = (FemQuat){(y.z - z.y) / s, (z.x - x.z) / s, (x.y - y.x) / s, 0.25f * s};
	} else if (x.x > y.y && x.x > z.z) {
		float s = 2.0f * sqrtf(1.0f + x.x - y.y - z.z);
		q = (FemQuat){0.25f * s, (y.x + x.y) / s, (z.x + x.z) / s, (y.z - z.y) / s};
	} else if (y.y > z.z) {
		float s = 2.0f * sqrtf(1.0f + y.y - x.x - z.z);
		q = (FemQuat){(y.x + x.y) / s, 0.25f * s, (z.y + y.z) / s, (z.x - x.z) / s};
	} else {
		float s = 2.0f * sqrtf(1.0f + z.z - x.x - y.y);
		q = (FemQuat){(z.x + x.z) / s, (z.y + y.z) / s, 0.25f * s, (x.y - y.x) / s};
	}
	return q;
}

// The transform must have passed destructible_body_fault(). Shear, which a turned child of a stretched parent has, is
// left out: the axes are made square, the first kept.
static Pose pose_of(const GdTransform3D *transform) {
	GdVector3 axes[3];
	for (int i = 0; i < 3; i++) {
		axes[i] = axis_of(&transform->basis, i);
	}
	GdVector3 x = normalized(axes[0]);
	float along = (float)dot(x, axes[1]);
	GdVector3 y = normalized((GdVector3){axes[1].x - along * x.x, axes[1].y - along * x.y, axes[1].z - along * x.z});
	return (Pose){
		.position = {(double)transform->origin.x, (double)transform->origin.y, (double)transform->origin.z},
		.rotation = quat_from_axes(x, y, cross(x, y)),
		.scale = {(float)sqrt(dot(axes[0], axes[0])), (float)sqrt(dot(axes[1], axes[1])),
			(float)sqrt(dot(axes[2], axes[2]))},
	};
}

static bool has_shear(const GdTransform3D *transform) {
	for (int i = 0; i < 3; i++) {
		GdVector3 a = axis_of(&transform->basis, i), b = axis_of(&transform->basis, (i + 1) % 3);
		if (fabs(dot(a, b)) > 1e-3 * sqrt(dot(a, a) * dot(b, b))) {
			return true;
		}
	}
	return false;
}

// --------------------------------------------------------------------------------------------------------------- faults

void destructible_body_path(const DestructibleBody *self, char *buffer, int capacity) {
	GDExtensionObjectPtr node = self->base.object;
	GdString text;
	if (gd_node_is_inside_tree(node)) {
		GdNodePath path = gd_node_get_path(node);
		text = gd_string_new_node_path(&path);
		gd_node_path_free(&path);
	} else {
		GdStringName name = gd_node_get_name(node);
		text = gd_string_new_string_name(&name);
		gd_string_name_free(&name);
	}
	copy_string(&text, buffer, capacity);
	gd_string_free(&text);
}

static bool transform_is_finite(const GdTransform3D *transform) {
	const GdBasis *basis = &transform->basis;
	return vector3_is_finite(transform->origin) && vector3_is_finite(basis->x) && vector3_is_finite(basis->y) &&
		vector3_is_finite(basis->z);
}

static const char *transform_fault(const GdTransform3D *transform) {
	const GdBasis *basis = &transform->basis;
	if (!transform_is_finite(transform)) {
		return "its transform holds a value that is not a finite number; reset it in the inspector or in the script "
			   "that sets it";
	}
	GdVector3 a = axis_of(basis, 0), b = axis_of(basis, 1), c = axis_of(basis, 2);
	double lengths = sqrt(dot(a, a) * dot(b, b) * dot(c, c)), det = dot(a, cross(b, c));
	if (!(lengths > 1e-18) || fabs(det) < 1e-6 * lengths) {
		return "its scale is zero along an axis; give all three axes of this node and its parents a scale above 0";
	}
	if (det < 0.0) {
		return "it is mirrored by a negative scale; give this node and its parents a positive scale and turn the node "
			   "instead";
	}
	return NULL;
}

static const char *box_fault(const DestructibleBody *self) {
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

const char *destructible_body_fault(const DestructibleBody *self, const GdTransform3D *transform) {
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	const char *fault = mesh ? destructible_mesh_fault(mesh) : box_fault(self);
	return fault ? fault : transform_fault(transform);
}

static void add_warning(GdPackedStringArray *out, const char *format, const char *detail) {
	char text[2048];
	snprintf(text, sizeof(text), format, detail);
	GdString string = make_string(text);
	gd_packed_string_array_append(out, &string);
	gd_string_free(&string);
}

static GdTransform3D present_transform(const DestructibleBody *self) {
	GDExtensionObjectPtr node = self->base.object;
	return gd_node_is_inside_tree(node) ? gd_node3d_get_global_transform(node) : gd_node3d_get_transform(node);
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

void destructible_body_warnings(const DestructibleBody *self, GdPackedStringArray *out) {
	GdTransform3D transform = present_transform(self);
	const char *fault = destructible_body_fault(self, &transform);
	if (fault) {
		add_warning(out, "This body will not be simulated: %s.", fault);
	} else if (has_shear(&transform)) {
		add_warning(out,
			"This body is sheared by a stretched parent%s; scale this node instead of its parent. The shear is left "
			"out.",
			"");
	}
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	if (mesh && !fault) {
		char found[1536];
		destructible_mesh_warnings(mesh, found, sizeof(found));
		if (found[0]) {
			add_warning(out, "The bake of the mesh warns: %s", found);
		}
	}
	add_material_warnings(self, out);
	if (!surface_material_is_supported(self->surface_material)) {
		add_warning(out,
			"The surface material cannot follow the deformation%s; use a StandardMaterial3D, or a ShaderMaterial whose "
			"shader includes fem_position.gdshaderinc.",
			"");
	}
}

// The engine's sentences end with a full stop, our own causes do not.
void destructible_body_report(const DestructibleBody *self, const char *what, const char *cause) {
	char path[256];
	destructible_body_path(self, path, sizeof(path));
	size_t length = strlen(cause);
	const char *stop = length > 0 && cause[length - 1] == '.' ? "" : ".";
	report_error("DestructibleBody %s %s: %s%s", path, what, cause, stop);
}

// ----------------------------------------------------------------------------------------------------------------- life

static bool is_editor(void) {
	return gd_engine_is_editor_hint();
}

static bool make_shape(const DestructibleBody *self, BodyShape *shape) {
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	return body_shape_make_box(shape, (FemVec3){self->size.x, self->size.y, self->size.z}, cells);
}

enum { ANCHORS_MAX = 64 };

// What is no box is passed over.
static int32_t read_anchors(DestructibleBody *self, GdAABB out[ANCHORS_MAX]) {
	int32_t count = 0;
	int64_t size = gd_array_size(&self->anchors);
	for (int64_t i = 0; i < size && count < ANCHORS_MAX; i++) {
		const GdVariant *item = godot.array_operator_index(&self->anchors, i);
		count += variant_type(item) == GDEXTENSION_VARIANT_TYPE_AABB &&
			variant_to(item, GDEXTENSION_VARIANT_TYPE_AABB, &out[count]);
	}
	return count;
}

static void start_simulation(DestructibleBody *self, const BodyShape *shape) {
	const char *fault = destructible_body_fault(self, &self->pose);
	if (fault) {
		destructible_body_report(self, "is not simulated", fault);
		return;
	}
	GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(self->base.object);
	if (!world_3d) {
		destructible_body_report(self, "is not simulated", "it is in no World3D; put it below a Viewport that has one");
		return;
	}
	Pose pose = pose_of(&self->pose);
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	GdAABB anchors[ANCHORS_MAX];
	int32_t material_count = destructible_body_materials(self, materials);
	SimulationBodyDef def = {
		.world_3d = world_3d,
		.materials = materials,
		.material_count = material_count,
		.mesh = self->mesh,
		.shape = shape,
		.position = pose.position,
		.rotation = pose.rotation,
		.scale = pose.scale,
		.velocity = {self->start_velocity.x, self->start_velocity.y, self->start_velocity.z},
		.fracture = self->fracture,
		.anchors = anchors,
	};
	def.anchor_count = read_anchors(self, anchors);
	self->simulated.node = self->base.object;
	self->simulated.view = &self->view;
	if (!simulation_body_create(&self->simulated, &def)) {
		destructible_body_report(self, "is not simulated", fem_last_error());
	}
	object_unreference(world_3d);
}

static void show(DestructibleBody *self) {
	GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(self->base.object);
	GdRID scenario = {{0}};
	if (world_3d) {
		scenario = gd_world3d_get_scenario(world_3d);
		object_unreference(world_3d);
	}
	body_view_set_scenario(&self->view, scenario);
	body_view_set_visible(&self->view, gd_node3d_is_visible_in_tree(self->base.object));
}

// The baked mesh; what is not baked yet is at least seen as its source.
static void view_mesh(DestructibleBody *self, DestructibleMesh *mesh) {
	uint64_t id = godot.object_get_instance_id(self->base.object);
	const MeshDrawing *drawing = destructible_mesh_drawing(mesh);
	if (drawing) {
		body_view_create_shared(
			&self->view, drawing->mesh, mesh->baked.tet_mesh.node_count, self->surface_material, id);
		self->view.margin = drawing->margin;
	} else if (mesh->source_mesh) {
		body_view_create_shared(&self->view, gd_resource_get_rid(mesh->source_mesh), 0, self->surface_material, id);
	}
}

// Broken bodies and debug_draw_tets are drawn from the tets. Simulated ones ask the engine for them, which may have
// turned some round.
static void view_tets(DestructibleBody *self, const DestructibleMesh *mesh, const BodyShape *shape) {
	const FemTetArrays *baked = mesh && mesh->is_baked ? &mesh->baked.tet_mesh : NULL;
	int32_t node_count = baked ? baked->node_count : shape->node_count;
	int32_t tet_count = baked ? baked->tet_count : shape->tet_count;
	const int32_t *tets = baked ? baked->tets : shape->tets;
	FemVec3 scale = self->simulated.world ? pose_of(&self->pose).scale : (FemVec3){1.0f, 1.0f, 1.0f};
	int32_t *turned = self->simulated.world ? malloc((size_t)tet_count * 4 * sizeof(int32_t)) : NULL;
	if (turned && fem_body_get_tets(self->simulated.body, turned, tet_count) == tet_count) {
		tets = turned;
	}
	body_view_set_tets(&self->view, node_count, baked ? baked->nodes : shape->positions, scale, tet_count, tets);
	body_view_show_tets(&self->view, self->simulated.body, self->debug_draw_tets);
	free(turned);
}

void destructible_body_update_look(DestructibleBody *self) {
	DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	GDExtensionObjectPtr look = self->surface_material;
	if (!look && mesh) {
		look = object_cast(array_object(&mesh->surface_materials, 0), "Material");
	}
	body_view_set_look(&self->view, look);
}

static void build(DestructibleBody *self) {
	BodyShape shape = {0};
	DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	self->pose = gd_node3d_get_global_transform(self->base.object);
	self->mesh_revision = mesh ? mesh->revision : 0;
	if (mesh) {
		view_mesh(self, mesh);
	} else if (make_shape(self, &shape)) {
		body_view_create(&self->view, &shape, self->surface_material, godot.object_get_instance_id(self->base.object));
	}
	if (!is_editor()) {
		start_simulation(self, &shape);
	}
	view_tets(self, mesh, &shape);
	destructible_body_update_look(self);
	if (transform_is_finite(&self->pose)) {
		body_view_show_rest(&self->view, self->pose);
	}
	body_shape_free(&shape);
	show(self);
}

// A node that was only moved within the tree since the last tick goes on as it was.
void destructible_body_enter(DestructibleBody *self) {
	GDExtensionObjectPtr node = self->base.object;
	self->is_in_world = true;
	gd_node3d_set_notify_transform(node, true);
	if (!is_editor()) {
		destruction_server_attach(gd_node_get_tree(node));
		GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(node);
		bool is_back = world_3d && simulation_body_attach(&self->simulated, world_3d);
		object_unreference(world_3d);
		if (is_back) {
			show(self);
			destructible_body_transform_changed(self);
			return;
		}
	}
	build(self);
}

void destructible_body_leave(DestructibleBody *self) {
	self->is_in_world = false;
	self->simulated.is_detached = self->simulated.world != NULL;
	body_view_set_scenario(&self->view, (GdRID){{0}});
}

// While the body is not simulated: in the editor it follows its node; in play, a body that was refused for its old
// transform gets another chance.
static void rest_shape_moved(DestructibleBody *self, const GdTransform3D *transform) {
	self->pose = *transform;
	if (is_editor()) {
		gd_node_update_configuration_warnings(self->base.object);
	} else if (!destructible_body_fault(self, transform)) {
		destructible_body_rebuild(self);
		return;
	}
	if (transform_is_finite(transform)) {
		body_view_show_rest(&self->view, *transform);
	}
}

void destructible_body_transform_changed(DestructibleBody *self) {
	GdTransform3D transform = gd_node3d_get_global_transform(self->base.object);
	if (!self->is_in_world || memcmp(&transform, &self->pose, sizeof(transform)) == 0) {
		return;
	}
	if (!self->simulated.world) {
		rest_shape_moved(self, &transform);
		return;
	}
	const char *fault = transform_fault(&transform);
	if (fault) {
		destructible_body_report(self, "was not moved", fault);
		return;
	}
	self->pose = transform;
	Pose pose = pose_of(&transform);
	if (fem_body_teleport(self->simulated.body, pose.position, pose.rotation) != FEM_OK) {
		destructible_body_report(self, "was not moved", fem_last_error());
	}
	self->simulated.is_moved = true;
}

// Starts over from the rest shape at the node's present transform.
void destructible_body_rebuild(DestructibleBody *self) {
	destructible_body_release(self);
	if (self->is_in_world) {
		build(self);
	}
}

void destructible_body_release(DestructibleBody *self) {
	simulation_body_destroy(&self->simulated);
	body_view_free(&self->view);
}
