#include "coupling/collision_exceptions.h"

#include "coupling/piece_proxies.h"
#include "coupling/rigid_records.h"

bool collision_exceptions_has(const SimulationBody *body, uint64_t node_id) {
	for (int32_t i = 0; i < body->settings.exception_count; i++) {
		if (body->settings.exceptions[i] == node_id) {
			return true;
		}
	}
	return false;
}

// Its colliders are made anew in the next tick, with the exceptions as they are then.
static void update(SimulationBody *body, uint64_t node_id, bool except) {
	Coupling *coupling = body->world ? body->world->coupling : NULL;
	for (int32_t i = 0; coupling && i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		if (record->owner_id == node_id) {
			rigid_drop_colliders(record);
			piece_proxies_except_body(body, record->rid, except || record->is_excepted);
		}
	}
}

bool collision_exceptions_add(SimulationBody *body, uint64_t node_id) {
	BodySettings *settings = &body->settings;
	if (collision_exceptions_has(body, node_id)) {
		return true;
	}
	if (settings->exception_count == BODY_EXCEPTIONS_MAX) {
		return false;
	}
	settings->exceptions[settings->exception_count++] = node_id;
	update(body, node_id, true);
	fem_body_wake(body->body);
	return true;
}

void collision_exceptions_remove(SimulationBody *body, uint64_t node_id) {
	BodySettings *settings = &body->settings;
	for (int32_t i = settings->exception_count - 1; i >= 0; i--) {
		if (settings->exceptions[i] == node_id) {
			settings->exceptions[i] = settings->exceptions[--settings->exception_count];
			update(body, node_id, false);
			fem_body_wake(body->body);
		}
	}
}

void collision_exceptions_apply(SimulationBody *body) {
	for (int32_t i = 0; i < body->settings.exception_count; i++) {
		update(body, body->settings.exceptions[i], true);
	}
}
