// A body whose mesh is still being baked stands where it is, as a static body of Godot's physics with the triangles of
// its mesh: what falls on it meanwhile, rigid or destructible, lies on it.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "coupling/mesh_shapes.h"
#include "simulation/node_pose.h"

#include <math.h>
#include <stdlib.h>

static StandingBodies standing;

const StandingBodies *destructible_bodies_standing(void) {
	return &standing;
}

static bool add(DestructibleBody *self) {
	if (standing.count == standing.capacity) {
		int32_t capacity = standing.capacity ? 2 * standing.capacity : 16;
		DestructibleBody **list = realloc(standing.list, (size_t)capacity * sizeof(*list));
		if (!list) {
			return false;
		}
		standing.list = list;
		standing.capacity = capacity;
	}
	standing.list[standing.count++] = self;
	standing.changes++;
	return true;
}

static bool remove_from_list(const DestructibleBody *self) {
	for (int32_t i = 0; i < standing.count; i++) {
		if (standing.list[i] == self) {
			standing.list[i] = standing.list[--standing.count];
			standing.changes++;
			if (standing.count == 0) {
				free(standing.list);
				standing.list = NULL;
				standing.capacity = 0;
			}
			return true;
		}
	}
	return false;
}

// Turned and scaled as the node is: the server's bodies have no scale.
static GdPackedVector3Array placed_faces(GDExtensionObjectPtr mesh, const GdTransform3D *pose) {
	GdPackedVector3Array faces = gd_mesh_get_faces(mesh);
	int64_t count = gd_packed_vector3_array_size(&faces);
	GdVector3 *points = count > 0 ? godot.packed_vector3_array_operator_index(&faces, 0) : NULL;
	GdTransform3D linear = {.basis = pose->basis};
	for (int64_t i = 0; points && i < count; i++) {
		points[i] = destructible_body_transformed(&linear, points[i]);
	}
	return faces;
}

static void place(const DestructibleBody *self) {
	GdTransform3D place = {{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, self->pose.origin};
	GdVariant value = make_variant(GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &place);
	gd_physics_server3d_body_set_state(self->standing_body, GD_PHYSICS_SERVER3D_BODY_STATE_TRANSFORM, &value);
	variant_free(&value);
}

void destructible_body_stand(DestructibleBody *self) {
	const DestructibleMesh *baked = destructible_body_mesh(self);
	GDExtensionObjectPtr mesh = baked ? baked->source_mesh : NULL;
	GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(self->base.object);
	destructible_body_end_standing(self);
	if (mesh && world_3d && node_pose_is_finite(&self->pose) && add(self)) {
		const GdTransform3D none = {{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, {0.0f, 0.0f, 0.0f}};
		GdPackedVector3Array faces = placed_faces(mesh, &self->pose);
		self->standing_shape = gd_physics_server3d_concave_polygon_shape_create();
		self->standing_body = gd_physics_server3d_body_create();
		bool has_shape = mesh_shape_set_faces(self->standing_shape, &faces);
		gd_packed_vector3_array_free(&faces);
		gd_physics_server3d_body_set_mode(self->standing_body, GD_PHYSICS_SERVER3D_BODY_MODE_STATIC);
		gd_physics_server3d_body_set_collision_layer(self->standing_body, self->simulated.settings.layer);
		gd_physics_server3d_body_set_collision_mask(self->standing_body, self->simulated.settings.mask);
		gd_physics_server3d_body_attach_object_instance_id(
			self->standing_body, (int64_t)godot.object_get_instance_id(self->base.object));
		place(self);
		if (has_shape) {
			gd_physics_server3d_body_add_shape(self->standing_body, self->standing_shape, none, false);
		}
		self->standing_space = gd_world3d_get_space(world_3d);
		gd_physics_server3d_body_set_space(self->standing_body, self->standing_space);
	}
	object_unreference(world_3d);
}

void destructible_body_end_standing(DestructibleBody *self) {
	if (remove_from_list(self)) {
		gd_physics_server3d_free_rid(self->standing_body);
		gd_physics_server3d_free_rid(self->standing_shape);
		self->standing_body = self->standing_shape = self->standing_space = (GdRID){{0}};
	}
}

// ---- waiting

static bool is_standing(const DestructibleBody *self) {
	return self->standing_body.opaque[0] != 0;
}

void destructible_body_end_waiting(DestructibleBody *self) {
	DestructibleMesh *mesh = is_standing(self) ? destructible_body_mesh(self) : NULL;
	if (mesh && self->is_waiting) {
		destructible_mesh_finish_bake(mesh); // the body is built anew when the mesh says that it has changed
	}
}

static double length_of(GdVector3 v) {
	return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

// Within a sphere around its box.
static bool is_near(const DestructibleBody *self, FemPosition center, double radius) {
	GdAABB box = destructible_body_local_box(self);
	GdVector3 middle = {
		box.position.x + 0.5f * box.size.x, box.position.y + 0.5f * box.size.y, box.position.z + 0.5f * box.size.z};
	GdVector3 at = destructible_body_transformed(&self->pose, middle);
	const GdBasis *b = &self->pose.basis;
	double scale = fmax(fmax(length_of(b->x), length_of(b->y)), length_of(b->z)); // at least a third of the largest
	double x = (double)at.x - center.x, y = (double)at.y - center.y, z = (double)at.z - center.z;
	return sqrt(x * x + y * y + z * z) <= radius + sqrt(3.0) * 0.5 * scale * length_of(box.size);
}

// Each that is met leaves the list.
void destructible_bodies_end_waiting_near(GDExtensionObjectPtr world_3d, FemPosition center, double radius) {
	GdRID space = gd_world3d_get_space(world_3d);
	for (int32_t i = standing.count - 1; i >= 0; i--) {
		DestructibleBody *body = i < standing.count ? standing.list[i] : NULL;
		if (body && body->standing_space.opaque[0] == space.opaque[0] && is_near(body, center, radius)) {
			destructible_body_end_waiting(body);
		}
	}
}
