// What a ray hit, bullets, collision exceptions, and nodes attached to the body.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "coupling/collision_exceptions.h"
#include "coupling/node_attachments.h"
#include "sound/sound_events.h"

#include <math.h>

// How a bullet acts; chosen by eye.
#define HIT_REACH 0.5      // m, from the surface to the point asked about
#define BULLET_SPEED 300.0 // m/s: of a bullet of this speed the energy E is an impulse of 2 E / speed
#define BULLET_CRATER 0.02 // m, of the radius that 1 J weakens; it grows with the third root
#define BULLET_DAMAGE 1.0f // share of the toughness lost at the point

static FemHit hit_at(const DestructibleBody *self, GdVector3 position) {
	FemPosition point = {(double)position.x, (double)position.y, (double)position.z};
	if (!self->simulated.world || !vector3_is_finite(position)) {
		return (FemHit){0};
	}
	return fem_body_closest_point(self->simulated.body, point, HIT_REACH);
}

int64_t destructible_body_get_piece_at(void *pointer, GdVector3 position) {
	const DestructibleBody *self = pointer;
	FemHit hit = hit_at(self, position);
	return hit.body.index1 ? (int64_t)fem_body_get_tet_piece(hit.body, hit.tet) : 0;
}

static void put_vector(GdDictionary *out, const char *key, GdVector3 value) {
	dictionary_take(out, key, make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &value));
}

void destructible_body_get_hit_data(void *pointer, GdVector3 position, GdDictionary *out) {
	const DestructibleBody *self = pointer;
	FemHit hit = hit_at(self, position);
	FemTetState state;
	gd_dictionary_free(out);
	*out = gd_dictionary_new();
	if (!hit.body.index1 || fem_body_get_tet_state(hit.body, hit.tet, &state) != FEM_OK) {
		return;
	}
	dictionary_take(out, "piece", make_variant_int(fem_body_get_tet_piece(hit.body, hit.tet)));
	dictionary_take(out, "tet", make_variant_int(hit.tet));
	dictionary_take(
		out, "material", make_variant_object(simulation_material_resource(&self->simulated, state.material)));
	put_vector(out, "position", (GdVector3){(float)hit.point.x, (float)hit.point.y, (float)hit.point.z});
	put_vector(out, "normal", (GdVector3){hit.normal.x, hit.normal.y, hit.normal.z});
}

// m, the longest edge of the tet at a point: a hole cannot be smaller.
static float tet_size_at(const DestructibleBody *self, GdVector3 position) {
	FemHit hit = hit_at(self, position);
	int32_t nodes[4];
	FemShape shape;
	const float *positions = fem_body_get_shape(self->simulated.body, false, &shape);
	float longest = 0.0f;
	if (!hit.body.index1 || !positions || !fem_body_get_tet_nodes(hit.body, hit.tet, nodes)) {
		return 0.0f;
	}
	for (int i = 0; i < 6; i++) {
		static const int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
		const float *a = &positions[4 * (size_t)nodes[edges[i][0]]], *b = &positions[4 * (size_t)nodes[edges[i][1]]];
		float x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
		longest = fmaxf(longest, sqrtf(x * x + y * y + z * z));
	}
	return longest;
}

void destructible_body_apply_bullet(void *pointer, GdVector3 position, GdVector3 direction, double energy) {
	DestructibleBody *self = pointer;
	FemVec3 along = {direction.x, direction.y, direction.z};
	float length = sqrtf(along.x * along.x + along.y * along.y + along.z * along.z);
	destructible_body_end_waiting(self);
	if (!self->simulated.world) {
		return;
	}
	if (!vector3_is_finite(position) || !(length > 0.0f) || !isfinite(length) || !(energy >= 0.0 && energy <= 1e9)) {
		destructible_body_report(self, "ignored apply_bullet()",
			"position or direction is not finite, or energy not within 0 and 1e9 J; correct the script that calls it");
		return;
	}
	FemPosition point = {(double)position.x, (double)position.y, (double)position.z};
	float impulse = (float)(2.0 * energy / BULLET_SPEED) / length;
	FemBodyId body = self->simulated.body;
	float crater = fmaxf((float)(BULLET_CRATER * cbrt(energy)), 1.5f * tet_size_at(self, position));
	if (!self->simulated.settings.invulnerable) {
		fem_body_apply_damage(body, point, crater, BULLET_DAMAGE, NULL); // refused, without harm, if it cannot break
	}
	if (destructible_body_takes_impulses(self)) {
		simulation_body_wake_struck(&self->simulated, point, impulse * length);
		fem_body_apply_impulse_at_point(
			body, (FemVec3){along.x * impulse, along.y * impulse, along.z * impulse}, point);
		sound_hear_impulse(&self->simulated, point, (FemVec3){along.x * impulse, along.y * impulse, along.z * impulse});
	}
	self->simulated.is_moved = true;
}

// ---- exceptions

void destructible_body_add_collision_exception_with(void *pointer, GDExtensionObjectPtr node) {
	DestructibleBody *self = pointer;
	if (!node || !object_cast(node, "CollisionObject3D")) {
		destructible_body_report(self, "has no new collision exception",
			"what was given is no body of Godot's physics; between destructibles use collision_layer and "
			"collision_mask");
	} else if (!collision_exceptions_add(&self->simulated, godot.object_get_instance_id(node))) {
		destructible_body_report(
			self, "has no new collision exception", "it has 16 already; use collision_layer and collision_mask");
	}
}

void destructible_body_remove_collision_exception_with(void *pointer, GDExtensionObjectPtr node) {
	DestructibleBody *self = pointer;
	if (node) {
		collision_exceptions_remove(&self->simulated, godot.object_get_instance_id(node));
	}
}

// ---- attached nodes

void destructible_body_attach_node(void *pointer, GDExtensionObjectPtr node) {
	DestructibleBody *self = pointer;
	destructible_body_end_waiting(self);
	if (!node || !object_cast(node, "Node3D") || !gd_node_is_inside_tree(node) || node == self->base.object) {
		destructible_body_report(self, "attached nothing",
			"what was given is no other Node3D inside the tree; add the node to the scene first");
		return;
	}
	if (self->simulated.world && !node_attachments_attach(&self->simulated, node)) {
		destructible_body_report(self, "attached nothing", "memory is short, or the body has no tetrahedra left");
	}
}

void destructible_body_detach_node(void *pointer, GDExtensionObjectPtr node) {
	DestructibleBody *self = pointer;
	if (node) {
		node_attachments_detach(&self->simulated, godot.object_get_instance_id(node));
	}
}
