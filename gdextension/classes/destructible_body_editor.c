// What the editor asks of a DestructibleBody, and its simulation in there.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/destruction_server.h"

#include <math.h>
#include <string.h>

bool destructible_body_is_still(const DestructibleBody *self) {
	return gd_engine_is_editor_hint() && !self->is_tried;
}

// Nothing of the node changes: what is simulated and drawn is made anew, and made anew at rest at the end.
void destructible_body_simulate_in_editor(void *pointer, bool on) {
	DestructibleBody *self = pointer;
	if (!gd_engine_is_editor_hint() || on == self->is_tried || !self->is_in_world) {
		return;
	}
	self->is_tried = on;
	destruction_server_attach(on ? gd_node_get_tree(self->base.object) : NULL);
	destructible_body_rebuild(self);
}

// ---- box

static void include(GdVector3 *low, GdVector3 *high, GdVector3 p) {
	*low = (GdVector3){fminf(low->x, p.x), fminf(low->y, p.y), fminf(low->z, p.z)};
	*high = (GdVector3){fmaxf(high->x, p.x), fmaxf(high->y, p.y), fmaxf(high->z, p.z)};
}

static GdAABB box_of(GdVector3 low, GdVector3 high) {
	return (GdAABB){low, {high.x - low.x, high.y - low.y, high.z - low.z}};
}

static GdAABB box_of_nodes(const FemTetArrays *tets) {
	GdVector3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
	for (int32_t i = 0; i < tets->node_count; i++) {
		include(&low, &high, (GdVector3){tets->nodes[i].x, tets->nodes[i].y, tets->nodes[i].z});
	}
	return tets->node_count > 0 ? box_of(low, high) : (GdAABB){0};
}

// The box of the rest shape, in the node's own space.
static GdAABB rest_box(const DestructibleBody *self) {
	const DestructibleMesh *mesh = class_instance(self->mesh, &destructible_mesh_class);
	if (self->start_mesh) {
		return gd_mesh_get_aabb(self->start_mesh);
	}
	if (!self->mesh) {
		GdVector3 s = {fmaxf(self->size.x, 0.0f), fmaxf(self->size.y, 0.0f), fmaxf(self->size.z, 0.0f)};
		return (GdAABB){{-0.5f * s.x, -0.5f * s.y, -0.5f * s.z}, s};
	}
	if (mesh && mesh->is_baked) {
		return box_of_nodes(&mesh->baked.tet_mesh);
	}
	GDExtensionObjectPtr source = mesh ? mesh->source_mesh : self->mesh;
	return source ? gd_mesh_get_aabb(source) : (GdAABB){0};
}

GdVector3 destructible_body_transformed(const GdTransform3D *transform, GdVector3 p) {
	const GdBasis *b = &transform->basis;
	return (GdVector3){b->x.x * p.x + b->x.y * p.y + b->x.z * p.z + transform->origin.x,
		b->y.x * p.x + b->y.y * p.y + b->y.z * p.z + transform->origin.y,
		b->z.x * p.x + b->z.y * p.y + b->z.z * p.z + transform->origin.z};
}

// VisualInstance3D.get_aabb(): of what is seen, in the node's own space.
GdAABB destructible_body_local_box(const DestructibleBody *self) {
	FemPosition corner[2];
	if (!self->simulated.world || fem_body_get_bounds(self->simulated.body, &corner[0], &corner[1]) != FEM_OK) {
		return rest_box(self);
	}
	GdTransform3D transform = gd_node3d_get_global_transform(self->base.object);
	GdTransform3D to_local = gd_transform3d_affine_inverse(&transform);
	GdVector3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
	for (int i = 0; i < 8; i++) {
		GdVector3 p = {(float)corner[i & 1].x, (float)corner[i >> 1 & 1].y, (float)corner[i >> 2].z};
		include(&low, &high, destructible_body_transformed(&to_local, p));
	}
	return box_of(low, high);
}

// ---- inspector

typedef enum ShownPart {
	SHOWN_BOX = 1 << 0,        // it has no mesh
	SHOWN_PLAIN_MESH = 1 << 1, // it has one that is baked when it starts
	SHOWN_BREAKING = 1 << 2,
	SHOWN_MOVING = 1 << 3,
	SHOWN_DEBRIS = 1 << 4, // pieces may go
	SHOWN_KNOWN = 1 << 5,  // has been found out before
} ShownPart;

static uint32_t shown_parts(const DestructibleBody *self) {
	const BodySettings *settings = &self->simulated.settings;
	bool is_plain = self->mesh && !class_instance(self->mesh, &destructible_mesh_class);
	return (self->mesh ? 0 : SHOWN_BOX) | (is_plain ? SHOWN_PLAIN_MESH : 0) |
		(destructible_body_can_break(self) ? SHOWN_BREAKING : 0) | (settings->freeze ? 0 : SHOWN_MOVING) |
		(settings->debris_lifetime > 0.0f || settings->debris_cap > 0 ? SHOWN_DEBRIS : 0) | SHOWN_KNOWN;
}

// The list of properties is only made anew when another one is shown: that takes a slider out of the user's hand.
void destructible_body_show_changes(DestructibleBody *self) {
	gd_node_update_configuration_warnings(self->base.object);
	if (!gd_engine_is_editor_hint()) {
		return;
	}
	gd_node3d_update_gizmos(self->base.object);
	uint32_t parts = shown_parts(self);
	if (parts != self->shown_parts) {
		bool is_known = self->shown_parts != 0;
		self->shown_parts = parts;
		if (is_known) {
			gd_object_notify_property_list_changed(self->base.object);
		}
	}
}

static const struct {
	const char *name;
	uint32_t hidden_without; // one of these parts must be shown, or 0
	uint32_t grey_without;   // all of these must be, to have an effect
} parts_of_properties[] = {
	{"size", SHOWN_BOX, 0},
	{"cells", SHOWN_BOX, 0},
	{"element_count", SHOWN_PLAIN_MESH, 0},
	{"wall_thickness", SHOWN_PLAIN_MESH, 0},
	{"bake_in_background", SHOWN_PLAIN_MESH, 0},
	{"start_velocity", 0, SHOWN_MOVING},
	{"start_angular_velocity", 0, SHOWN_MOVING},
	{"start_asleep", 0, SHOWN_MOVING},
	{"gravity_scale", 0, SHOWN_MOVING},
	{"strength_scale", 0, SHOWN_BREAKING},
	{"invulnerable", 0, SHOWN_BREAKING},
	{"fracture_seed", 0, SHOWN_BREAKING},
	{"debris_cap", 0, SHOWN_BREAKING},
	{"debris_lifetime", 0, SHOWN_BREAKING},
	{"debris_fade", 0, SHOWN_BREAKING | SHOWN_DEBRIS},
	{"splinter_blend", 0, SHOWN_BREAKING},
};

// Of VisualInstance3D: `layers` is ours, which has a hint; what is drawn of a body is not sorted by its node.
static bool is_inherited(const ClassPropertyLook *property) {
	return (strcmp(property->name, "layers") == 0 && !property->has_hint_string) ||
		strncmp(property->name, "sorting_", 8) == 0;
}

uint32_t destructible_body_property_usage(void *pointer, const ClassPropertyLook *property) {
	const DestructibleBody *self = pointer;
	uint32_t usage = property->usage, parts = shown_parts(self);
	if (is_inherited(property)) {
		return usage & ~(uint32_t)(GD_PROPERTY_USAGE_EDITOR | GD_PROPERTY_USAGE_STORAGE);
	}
	for (int i = 0; i < TABLE_COUNT(parts_of_properties) && gd_engine_is_editor_hint(); i++) {
		if (strcmp(property->name, parts_of_properties[i].name) == 0) {
			uint32_t hidden = parts_of_properties[i].hidden_without, grey = parts_of_properties[i].grey_without;
			usage &= hidden && !(parts & hidden) ? ~(uint32_t)GD_PROPERTY_USAGE_EDITOR : ~0u;
			usage |= (parts & grey) != grey ? (uint32_t)GD_PROPERTY_USAGE_READ_ONLY : 0u;
		}
	}
	return usage;
}
