// What games do to rigid bodies through the addon, and ask of them.
#include "coupling/rigid_records.h"

#include "binding/conversions.h"

#include <math.h>

// As the engine does it for destructibles: strength (N s/m^2) times the area seen from the centre times
// (1 - distance / radius)^2, straight away from the centre.
static void push(const RigidRecord *record, FemPosition center, float radius, float strength) {
	FemPosition p = record->frame.position;
	FemVec3 offset = {(float)(p.x - center.x), (float)(p.y - center.y), (float)(p.z - center.z)};
	float distance = vec_length(offset), reach = record->radius < 100.0f ? record->radius : 1.0f;
	float gap = fmaxf(0.0f, distance - reach), share = 1.0f - gap / radius;
	float area = 3.14159265f * 0.5f * reach * reach; // a box shows about half of the circle around it
	if (share <= 0.0f || distance < 1e-4f) {
		return;
	}
	FemVec3 impulse = vec_scale(offset, strength * area * share * share / distance);
	impulse = vec_limited(impulse, 300.0f * record->mass);
	gd_physics_server3d_body_apply_central_impulse(record->rid, vec_to_godot(impulse));
}

int32_t coupling_explode(SimulationWorld *world, FemPosition center, float radius, float strength) {
	Coupling *coupling = world->coupling;
	int32_t count = 0;
	if (!coupling || !coupling->discovery || !simulation_settings()->coupling_enabled) {
		return 0;
	}
	discovery_find_in_sphere(coupling, center, radius);
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		bool is_known = !record->is_new ||
			(rigid_read_motion(coupling, record, 1.0 / 60.0, true) && rigid_read_shapes(coupling, record));
		if (!is_known || record->kind != RIGID_DYNAMIC) {
			continue;
		}
		if (record->radius > 1e6f) {
			rigid_make_colliders(coupling, record, true); // measures it
		}
		FemPosition p = record->frame.position;
		double x = p.x - center.x, y = p.y - center.y, z = p.z - center.z;
		if (sqrt(x * x + y * y + z * z) < (double)(radius + record->radius)) {
			push(record, center, radius, strength);
			count++;
		}
	}
	return count;
}

GdVector3 coupling_rigid_force(const SimulationWorld *world, GDExtensionObjectPtr node) {
	uint64_t id = godot.object_get_instance_id(node);
	for (int32_t i = 0; world->coupling && i < world->coupling->count; i++) {
		if (world->coupling->records[i]->owner_id == id) {
			return vec_to_godot(world->coupling->records[i]->force);
		}
	}
	return (GdVector3){0};
}
