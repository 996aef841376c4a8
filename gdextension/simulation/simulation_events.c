#include "simulation/simulation_events.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum TickEventType {
	TICK_FRACTURED = 1,
	TICK_PIECE_DETACHED,
	TICK_CRUSHED,
	TICK_IMPACTED,
	TICK_SLEPT,
	TICK_WOKE,
	TICK_ROLLED_BACK,
} TickEventType;

typedef struct TickEvent {
	TickEventType type;
	uint64_t node; // instance id
	FemBodyId body;
	// Fractured: where the most energy was set free, and what all faces of the body set free together, and their area.
	// Of an impact: point, direction and impulse.
	FemPosition point;
	FemVec3 area;
	float face_energy;
	double energy;
	double total_area;
	FemVec3 normal; // into the body
	float impulse, speed;
	uint64_t other;       // instance id of what it met; 0: the ground
	FemPieceNumber piece; // detached
	// Crushed: what went to grains, with the velocity of all.
	FemVec3 velocity;
	double volume, mass;
} TickEvent;

static struct {
	TickEvent *list;
	int32_t count, capacity;
} events;

void simulation_events_clear(void) {
	events.count = 0;
}

void simulation_events_free(void) {
	free(events.list);
	memset(&events, 0, sizeof(events));
}

static bool is_same_body(FemBodyId a, FemBodyId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

// Null when memory is short: the signal is lost, the simulation goes on.
static TickEvent *add_event(TickEventType type, FemBodyId body) {
	if (events.count == events.capacity) {
		int32_t capacity = events.capacity ? 2 * events.capacity : 64;
		TickEvent *list = realloc(events.list, (size_t)capacity * sizeof(TickEvent));
		if (!list) {
			return NULL;
		}
		events.list = list;
		events.capacity = capacity;
	}
	TickEvent *event = &events.list[events.count++];
	*event = (TickEvent){.type = type, .body = body, .node = fem_body_get_user_data(body)};
	return event;
}

// ---- collecting

static SimulationBody *find_body(const SimulationWorld *world, FemBodyId id) {
	for (int32_t i = 0; i < world->body_count; i++) {
		if (is_same_body(world->bodies[i]->body, id)) {
			return world->bodies[i];
		}
	}
	return NULL;
}

static float length_sq(FemVec3 v) {
	return v.x * v.x + v.y * v.y + v.z * v.z;
}

// The face with the most energy says where, the larger one of equals.
static bool is_stronger(const FemFractureFace *face, const TickEvent *than) {
	if (face->energy != than->face_energy) {
		return face->energy > than->face_energy;
	}
	return length_sq(face->area) > length_sq(than->area);
}

// One event for each body. Faces of one body follow each other within a substep.
static void collect_faces(SimulationWorld *world) {
	const FemFractureFace *faces = NULL;
	int32_t count = fem_world_get_fracture_faces(world->id, &faces), first = events.count;
	TickEvent *event = NULL;
	for (int32_t i = 0; i < count; i++) {
		const FemFractureFace *face = &faces[i];
		if (!event || !is_same_body(event->body, face->body)) {
			event = NULL;
			for (int32_t k = first; k < events.count && !event; k++) {
				event = is_same_body(events.list[k].body, face->body) ? &events.list[k] : NULL;
			}
			event = event ? event : add_event(TICK_FRACTURED, face->body);
			SimulationBody *body = find_body(world, face->body);
			if (body) {
				body->is_cut = true;
			}
		}
		if (!event) {
			continue;
		}
		if (is_stronger(face, event)) {
			event->point = face->center;
			event->area = face->area;
			event->face_energy = face->energy;
		}
		event->energy += (double)face->energy;
		event->total_area += (double)sqrtf(length_sq(face->area));
	}
}

static void collect_pieces(const SimulationWorld *world) {
	const FemPieceEvent *pieces = NULL;
	int32_t count = fem_world_get_piece_events(world->id, &pieces);
	for (int32_t i = 0; i < count; i++) {
		TickEvent *event = add_event(TICK_PIECE_DETACHED, pieces[i].body);
		if (event) {
			event->piece = pieces[i].piece;
		}
	}
}

// One event for each body and substep, at the centre of what was crushed.
static void collect_crushed(const SimulationWorld *world) {
	const FemCrushEvent *crushed = NULL;
	int32_t count = fem_world_get_crush_events(world->id, &crushed);
	for (int32_t i = 0; i < count; i++) {
		SimulationBody *body = find_body(world, crushed[i].body);
		TickEvent *event = body ? add_event(TICK_CRUSHED, crushed[i].body) : NULL;
		if (!event) {
			continue;
		}
		body->is_cut = true;
		event->point = crushed[i].center;
		event->velocity = crushed[i].velocity;
		event->volume = (double)crushed[i].volume;
		event->mass = (double)crushed[i].mass;
	}
}

static void add_impact(
	const SimulationWorld *world, FemBodyId id, const FemContactEvent *contact, uint64_t other, float sign) {
	const SimulationBody *body = find_body(world, id);
	if (!body || contact->speed < body->settings.impact_speed_min) {
		return;
	}
	TickEvent *event = add_event(TICK_IMPACTED, id);
	if (event) {
		event->point = contact->point;
		event->normal = (FemVec3){sign * contact->normal.x, sign * contact->normal.y, sign * contact->normal.z};
		event->impulse = contact->impulse;
		event->speed = contact->speed;
		event->other = other;
	}
}

// What touches itself, and what rests, has no impact: the latter does not close in.
static void collect_impacts(const SimulationWorld *world) {
	const FemContactEvent *contacts = NULL;
	int32_t count = fem_world_get_contact_events(world->id, &contacts);
	for (int32_t i = 0; i < count; i++) {
		const FemContactEvent *contact = &contacts[i];
		if (!(contact->speed > 0.0f) || is_same_body(contact->body, contact->other)) {
			continue;
		}
		bool is_body = fem_body_is_valid(contact->other);
		uint64_t other =
			is_body ? fem_body_get_user_data(contact->other) : fem_collider_get_user_data(contact->collider);
		add_impact(world, contact->body, contact, other, -1.0f);
		if (is_body) {
			add_impact(world, contact->other, contact, fem_body_get_user_data(contact->body), 1.0f);
		}
	}
}

static void collect_states(const SimulationWorld *world) {
	const FemEvent *states = NULL;
	int32_t count = fem_world_get_events(world->id, &states);
	for (int32_t i = 0; i < count; i++) {
		switch (states[i].type) {
		case FEM_EVENT_SLEPT: add_event(TICK_SLEPT, states[i].body); break;
		case FEM_EVENT_WOKE: add_event(TICK_WOKE, states[i].body); break;
		case FEM_EVENT_ROLLED_BACK: add_event(TICK_ROLLED_BACK, states[i].body); break;
		}
	}
}

void simulation_events_collect(SimulationWorld *world) {
	collect_faces(world);
	collect_pieces(world);
	collect_crushed(world);
	collect_impacts(world);
	collect_states(world);
}

// ---- telling

static void tell_fracture(GDExtensionObjectPtr node, const TickEvent *event) {
	float length = sqrtf(length_sq(event->area)), inv = length > 0.0f ? 1.0f / length : 0.0f;
	GdVector3 point = {(float)event->point.x, (float)event->point.y, (float)event->point.z};
	GdVector3 normal = {event->area.x * inv, event->area.y * inv, event->area.z * inv};
	GdVariant values[4] = {
		make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &point),
		make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &normal),
		make_variant_float(event->energy),
		make_variant_float(event->total_area),
	};
	emit_signal_values(node, &names.fractured, values, 4);
}

// What it met may have gone since: then it is told as null, like the ground.
static void tell_impact(GDExtensionObjectPtr node, const TickEvent *event) {
	GdVector3 point = {(float)event->point.x, (float)event->point.y, (float)event->point.z};
	GdVector3 normal = {event->normal.x, event->normal.y, event->normal.z};
	GDExtensionObjectPtr other = event->other ? godot.object_get_instance_from_id(event->other) : NULL;
	GdVariant values[5] = {
		make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &point),
		make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &normal),
		make_variant_float((double)event->impulse),
		make_variant_float((double)event->speed),
		make_variant_object(other),
	};
	emit_signal_values(node, &names.impacted, values, 5);
}

static void tell_crushed(GDExtensionObjectPtr node, const TickEvent *event) {
	GdVector3 point = {(float)event->point.x, (float)event->point.y, (float)event->point.z};
	GdVector3 velocity = {event->velocity.x, event->velocity.y, event->velocity.z};
	GdVariant values[4] = {
		make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &point),
		make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &velocity),
		make_variant_float(event->volume),
		make_variant_float(event->mass),
	};
	emit_signal_values(node, &names.crushed, values, 4);
}

static void tell_piece(GDExtensionObjectPtr node, const TickEvent *event) {
	GdVariant value = make_variant_int(event->piece);
	emit_signal_values(node, &names.piece_detached, &value, 1);
}

static void tell_node(GDExtensionObjectPtr node, const TickEvent *event) {
	switch (event->type) {
	case TICK_FRACTURED: tell_fracture(node, event); break;
	case TICK_CRUSHED: tell_crushed(node, event); break;
	case TICK_PIECE_DETACHED: tell_piece(node, event); break;
	case TICK_IMPACTED: tell_impact(node, event); break;
	case TICK_SLEPT: emit_signal(node, &names.slept); break;
	case TICK_WOKE: emit_signal(node, &names.woke); break;
	case TICK_ROLLED_BACK:
		emit_signal_string(node, &names.step_failed,
			"The body became unstable and was put back to its last good state; lower the material's stiffness, raise "
			"its damping, or raise physics/common/physics_ticks_per_second.");
		break;
	}
}

// A node may have been freed, or started over, by an answer to an earlier signal of this tick.
void simulation_events_tell(void) {
	for (int32_t i = 0; i < events.count; i++) {
		TickEvent event = events.list[i];
		GDExtensionObjectPtr node = godot.object_get_instance_from_id(event.node);
		if (node && (event.type != TICK_PIECE_DETACHED || fem_body_is_valid(event.body))) {
			tell_node(node, &event);
		}
	}
}
