#include "coupling/node_attachments.h"
#include "coupling/piece_proxies.h"
#include "coupling/rigid_reading.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHECKS_A_TICK = 24, // records whose shapes are read again in a tick, in turn
	FAR_TICKS = 60,     // after so many away from all destructibles colliders go
};
#define NEAR_MARGIN 0.5f // m, within which bodies get colliders; chosen: some ticks before they touch
#define FAR_MARGIN 8.0f  // m, beyond which static bodies are forgotten; chosen
#define FARTHEST 1e9     // m, from the world's origin; chosen: beyond it is no game

static double now_ms(void) {
	return 1e-3 * (double)gd_time_get_ticks_usec();
}

// ---- near

// m between a body's sphere and the nearest box of a destructible; negative when they overlap.
static float distance_to_nearest(const Coupling *coupling, const RigidRecord *record) {
	double nearest = INFINITY;
	const double *p = &record->frame.position.x;
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		const SimulationBody *body = coupling->world->bodies[i];
		const double *low = &body->region.box_low.x, *high = &body->region.box_high.x;
		double sum = 0.0;
		for (int k = 0; k < 3 && body->region.has_box; k++) {
			double gap = fmax(low[k] - p[k], p[k] - high[k]);
			sum += gap > 0.0 ? gap * gap : 0.0;
		}
		nearest = body->region.has_box ? fmin(nearest, sum) : nearest;
	}
	return (float)sqrt(nearest) - record->radius;
}

// Bodies that are nowhere have none. True when one has another box than before.
static bool note_boxes(Coupling *coupling) {
	bool has_changed = false;
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		SimulationBody *body = coupling->world->bodies[i];
		BodyRegion *region = &body->region;
		FemPosition low = {0}, high = {0};
		bool has_box = !body->is_detached && fem_body_get_bounds(body->body, &low, &high) == FEM_OK &&
			fabs(low.x) + fabs(low.y) + fabs(low.z) + fabs(high.x) + fabs(high.y) + fabs(high.z) < FARTHEST;
		has_changed |= has_box != region->has_box || memcmp(&low, &region->box_low, sizeof(low)) != 0 ||
			memcmp(&high, &region->box_high, sizeof(high)) != 0;
		region->has_box = has_box;
		region->box_low = low;
		region->box_high = high;
	}
	return has_changed;
}

// ---- update

// Colliders come when a body gets near, and go when it has been far for a while.
static void update_colliders(Coupling *coupling, RigidRecord *record, double delta) {
	float gap = distance_to_nearest(coupling, record), displacement = vec_length(record->velocity) * (float)delta;
	bool is_near = gap < NEAR_MARGIN + 4.0f * displacement;
	record->far_ticks = is_near ? 0 : record->far_ticks + 1;
	if (!record->has_colliders && is_near) {
		rigid_make_colliders(coupling, record, !record->had_colliders || record->kind != RIGID_STATIC);
	} else if (record->has_colliders && record->far_ticks > FAR_TICKS) {
		rigid_drop_colliders(record);
	}
}

// Static bodies stand still: they are read when they are new, and in turn to see whether they were moved or changed.
static bool update_record(Coupling *coupling, RigidRecord *record, double delta, bool is_checked) {
	bool is_still = record->kind == RIGID_STATIC && !record->is_new;
	if (record->object_id && !reading_node(record)) {
		return false;
	}
	// A level may have taken the place of another: what is gone must go before new bodies that start asleep are
	// stepped.
	if (!record->object_id && coupling->world->has_new_bodies && !reading_is_alive(record)) {
		return false;
	}
	if (is_still && !is_checked) {
		return true;
	}
	if (!reading_is_alive(record)) {
		return false;
	}
	if (!rigid_read_motion(coupling, record, delta, is_checked)) {
		return false;
	}
	if ((is_checked || record->is_new) && !rigid_read_shapes(coupling, record)) {
		return false;
	}
	rigid_except(coupling, record, record->kind == RIGID_DYNAMIC);
	update_colliders(coupling, record, delta);
	if (record->has_colliders && record->kind != RIGID_DYNAMIC) {
		rigid_hand_to_engine(coupling, record, delta);
	}
	record->is_new = record->is_new && record->kind == RIGID_DYNAMIC;
	return true;
}

static bool is_worth_keeping(const Coupling *coupling, const RigidRecord *record) {
	return discovery_keeps(coupling, record) || distance_to_nearest(coupling, record) < FAR_MARGIN;
}

static void update_records(Coupling *coupling, double delta) {
	int32_t first = coupling->check_at;
	for (int32_t i = coupling->count - 1; i >= 0; i--) {
		RigidRecord *record = coupling->records[i];
		bool is_checked = record->is_new || (i >= first && i < first + CHECKS_A_TICK);
		bool is_kept = update_record(coupling, record, delta, is_checked);
		if (!is_kept || (is_checked && !is_worth_keeping(coupling, record))) {
			rigid_remove(coupling, i);
		}
	}
	coupling->check_at = first + CHECKS_A_TICK < coupling->count ? first + CHECKS_A_TICK : 0;
}

static void update_dynamic(Coupling *coupling, double delta) {
	groups_update(coupling, delta);
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		record->force = record->torque = (FemVec3){0};
		if (record->kind != RIGID_DYNAMIC || !record->has_colliders) {
			continue;
		}
		rigid_add_up(record);
		rigid_observe_load(record, delta);
		groups_sleep(record, delta);
		rigid_hand_to_engine(coupling, record, delta);
	}
}

static Coupling *coupling_of(SimulationWorld *world) {
	if (!world->coupling) {
		world->coupling = calloc(1, sizeof(Coupling));
		if (world->coupling) {
			world->coupling->world = world;
		}
	}
	return world->coupling;
}

void coupling_before_step(SimulationWorld *world, double delta) {
	Coupling *coupling = coupling_of(world);
	if (!coupling || !simulation_settings()->coupling_enabled) {
		return;
	}
	double start = now_ms();
	coupling->tick++;
	coupling->delta = delta;
	discovery_update(coupling, note_boxes(coupling));
	update_records(coupling, delta);
	world->has_new_bodies = false;
	update_dynamic(coupling, delta);
	coupling->before_ms = now_ms() - start;
}

void coupling_after_step(SimulationWorld *world, double delta) {
	Coupling *coupling = world->coupling;
	if (!coupling || !simulation_settings()->coupling_enabled) {
		return;
	}
	double start = now_ms();
	coupling->force_count = 0;
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		if (record->has_colliders && record->kind != RIGID_STATIC) {
			rigid_take_force(coupling, record, delta);
		}
	}
	piece_proxies_update(coupling);
	for (int32_t i = 0; i < world->body_count; i++) {
		node_attachments_update(world->bodies[i]);
	}
	coupling->ms = coupling->before_ms + now_ms() - start;
}

// ---- life

void coupling_forget_body(SimulationBody *body) {
	if (body->world && body->world->coupling) {
		piece_proxies_forget(body->world->coupling, body);
		discovery_forget_body(body->world->coupling);
	}
	node_attachments_free(body);
	body->region = (BodyRegion){0};
}

void coupling_free(SimulationWorld *world) {
	Coupling *coupling = world->coupling;
	if (!coupling) {
		return;
	}
	while (coupling->count > 0) {
		groups_wake(coupling, coupling->records[coupling->count - 1]);
		rigid_remove(coupling, coupling->count - 1);
	}
	discovery_free(coupling);
	piece_proxies_free(coupling);
	shape_cache_free(&coupling->shapes);
	free(coupling->records);
	free(coupling);
	world->coupling = NULL;
}

void coupling_debug_draw(const SimulationWorld *world, const FemDebugDraw *draw) {
	if (world->coupling) {
		piece_proxies_draw(world->coupling, draw);
	}
}

void coupling_add_statistics(const SimulationWorld *world, CouplingStatistics *sum) {
	const Coupling *coupling = world->coupling;
	if (!coupling) {
		return;
	}
	sum->bodies += coupling->count;
	for (int32_t i = 0; i < coupling->count; i++) {
		for (int32_t k = 0; k < coupling->records[i]->shape_count; k++) {
			sum->colliders += coupling->records[i]->shapes[k].collider.index1 != 0;
		}
	}
	sum->forces += coupling->force_count;
	sum->proxies += piece_proxies_count(coupling);
	sum->ms += coupling->ms;
}
