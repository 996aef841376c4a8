// Which of Godot's bodies are near destructibles.
//
// Moving bodies are told of by an area that covers the cells of a coarse grid in which destructibles are: the server
// reports only who comes and who goes, and its margin is wide enough for a bullet to be known before it arrives. Static
// bodies, which areas do not report, are asked for around each destructible: when it is new, when it leaves the region
// last asked about, and now and then while it is awake.
#include "coupling/discovery_internal.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>

enum { GRACE_TICKS = 30 }; // for which bodies are kept that a new area has not told of yet

bool discovery_body_box(const SimulationBody *body, FemPosition *low, FemPosition *high) {
	return !body->is_detached && fem_body_get_bounds(body->body, low, high) == FEM_OK &&
		fabs(low->x) + fabs(low->y) + fabs(low->z) + fabs(high->x) + fabs(high->y) + fabs(high->z) < 1e9;
}

static bool start(Coupling *coupling) {
	Discovery *d = calloc(1, sizeof(Discovery));
	coupling->discovery = d;
	if (!d) {
		return false;
	}
	d->query_shape = gd_physics_server3d_box_shape_create();
	GdVector3 size = {0.5f, 0.5f, 0.5f};
	GdVariant data = make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &size);
	gd_physics_server3d_shape_set_data(d->query_shape, &data);
	variant_free(&data);
	d->made_query_tick = coupling->tick;
	d->query = make_ref_counted("PhysicsShapeQueryParameters3D");
	gd_physics_shape_query_parameters3d_set_shape_rid(d->query, d->query_shape);
	gd_physics_shape_query_parameters3d_set_collision_mask(d->query, UINT32_MAX);
	discovery_area_start(coupling);
	return true;
}

void discovery_update(Coupling *coupling) {
	if (!coupling->discovery && !start(coupling)) {
		return;
	}
	discovery_area_update(coupling);
	discovery_enter_standing(coupling);
	discovery_exclude_own(coupling);
	if (simulation_settings()->physics_on_thread && coupling->discovery->made_query_tick == coupling->tick) {
		return; // the server makes the query's shape after this tick
	}
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		if (!coupling->world->bodies[i]->is_detached) {
			discovery_query_body(coupling, coupling->world->bodies[i]);
		}
	}
}

bool discovery_keeps(const Coupling *coupling, const RigidRecord *record) {
	return record->area_count > 0 || coupling->tick - record->seen_tick < GRACE_TICKS;
}

void discovery_free(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	discovery_area_free(coupling);
	if (!d) {
		return;
	}
	gd_physics_server3d_free_rid(d->query_shape);
	object_unreference(d->query);
	free(d);
	coupling->discovery = NULL;
}
