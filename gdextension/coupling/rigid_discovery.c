// Which of Godot's bodies are near destructibles.
//
// Moving bodies are known from the scene tree: where their nodes are is looked at in every tick (discovery_nodes.c),
// and those near cells of a coarse grid in which destructibles are (discovery_cells.c) become records; the margin is
// wide enough for a bullet to be known before it arrives. Static bodies, and those without a node, are asked for around
// each destructible: when it is new, when it leaves the region last asked about, once a second while it is awake, and
// in turn while it sleeps (discovery_queries.c).
#include "coupling/discovery_internal.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>

enum { GRACE_TICKS = 30 }; // for which bodies are kept that are near nothing any more

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
	d->has_stale_cells = true;
	discovery_nodes_start(coupling);
	return true;
}

void discovery_update(Coupling *coupling, bool has_other_boxes) {
	if (!coupling->discovery && !start(coupling)) {
		return;
	}
	discovery_enter_standing(coupling);
	if (has_other_boxes || coupling->discovery->has_stale_cells) {
		discovery_cells_update(coupling);
	}
	discovery_nodes_look(coupling);
	discovery_exclude_own(coupling);
	if (simulation_settings()->physics_on_thread && coupling->discovery->made_query_tick == coupling->tick) {
		return; // the server makes the query's shape after this tick
	}
	discovery_query_bodies(coupling);
}

bool discovery_keeps(const Coupling *coupling, const RigidRecord *record) {
	if (coupling->tick - record->seen_tick < GRACE_TICKS) {
		return true;
	}
	const double *p = &record->frame.position.x, r = (double)record->radius;
	double low[3] = {p[0] - r, p[1] - r, p[2] - r}, high[3] = {p[0] + r, p[1] + r, p[2] + r};
	return record->kind != RIGID_STATIC && discovery_is_near(coupling, low, high);
}

void discovery_forget_body(Coupling *coupling) {
	if (coupling->discovery) {
		coupling->discovery->has_stale_cells = true;
	}
}

void discovery_free(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	discovery_nodes_free(coupling);
	if (!d) {
		return;
	}
	gd_physics_server3d_free_rid(d->query_shape);
	object_unreference(d->query);
	free(d->cells.keys);
	free(d);
	coupling->discovery = NULL;
}
