// What the log is told of steps that went wrong. A fault that comes back in every tick is told once a world: statistics
// and signals go on telling of it.
#include "binding/conversions.h"
#include "simulation/simulation_world.h"

// Bits that the log is told of. The others are the accuracy of a solve and the speed of pieces: usual, and nothing is
// lost by them.
#define TOLD \
	(FEM_STEP_BAD_WORLD | FEM_STEP_BODY_ROLLED_BACK | FEM_STEP_EVENTS_FULL | FEM_STEP_CONTACTS_FULL | \
		FEM_STEP_NO_MEMORY)

// Of the first body that was put back; empty when its node is gone.
static void copy_rolled_back_path(const SimulationWorld *world, char *out, int capacity) {
	const FemEvent *list = NULL;
	int32_t count = fem_world_get_events(world->id, &list);
	out[0] = 0;
	for (int32_t i = 0; i < count; i++) {
		GDExtensionObjectPtr node = list[i].type == FEM_EVENT_ROLLED_BACK
			? godot.object_get_instance_from_id(fem_body_get_user_data(list[i].body))
			: NULL;
		if (node) {
			copy_node_path(node, out, capacity);
			return;
		}
	}
}

static void tell_rolled_back(const SimulationWorld *world) {
	char path[512];
	copy_rolled_back_path(world, path, sizeof(path));
	report_warning(
		"DestructibleBody %s became unstable and was put back to its last good state; use smaller forces, lower "
		"the material's stiffness, raise its damping, or raise physics/common/physics_ticks_per_second. "
		"(Told once; the signal step_failed tells of each.)",
		path);
}

void simulation_report_step_errors(SimulationWorld *world) {
	uint32_t now = world->step_errors & TOLD & ~world->told_errors;
	if (now == 0) {
		return;
	}
	world->told_errors |= now;
	if (now & FEM_STEP_BAD_WORLD) {
		report_warning("Destructibles were not simulated in this tick: %s", fem_last_error());
	}
	if (now & FEM_STEP_BODY_ROLLED_BACK) {
		tell_rolled_back(world);
	}
	if (now & FEM_STEP_EVENTS_FULL) {
		report_warning(
			"More happened to destructibles in one tick than signals tell of, and some were not emitted; let less "
			"break at once. (Told once; see STEP_EVENTS_FULL of DestructionServer.)");
	}
	if (now & FEM_STEP_CONTACTS_FULL) {
		report_warning(
			"More of the destructibles touch than there is room for, and the smallest contacts were dropped; lower "
			"debris_cap or debris_lifetime, use coarser meshes, or raise the project setting "
			"physics/fem_destruction/contact_capacity. (Told once; see STEP_CONTACTS_FULL of DestructionServer.)");
	}
	if (now & FEM_STEP_NO_MEMORY) {
		report_warning(
			"The system gave no memory for a tick of the destructibles, and some did not move or break; use fewer or "
			"coarser bodies. (Told once; see STEP_NO_MEMORY of DestructionServer.)");
	}
}
