#include "sound/sound_events.h"

#include "classes/destruction_sound.h"
#include "classes/material_resource.h"
#include "sound/sound_emitters.h"

#include <math.h>
#include <string.h>

enum {
	STRIKES_MAX = 32, // contacts of a tick that are heard, the strongest; chosen: more are one noise
	RUBS_MAX = 8,     // of them, those that may slide: whether they do takes a look at both bodies
};

#define REACH 0.5           // m, between a contact and the surface it is of, at most
#define LOUD_POWER 0.6      // of a blow's pressure over 1 Pa: ears and speakers have less range than blows; chosen
#define RUB_SPEED_MIN 0.05  // m/s, slower sliding is not heard; chosen
#define RUB_SHARE 0.004     // of the normal force, as N s a root second at 1 m/s and a roughness of 1; chosen
#define CRACK_SHARE 1e-4    // of the energy set free that is heard; chosen so that a cup is as loud as speech
#define CRACK_SECONDS 0.012 // that a crack is heard; chosen
#define IMPEDANCE 32.9      // Pa^2 per W at 1 m: rho c / (4 pi)

typedef struct Contact {
	const FemContactEvent *event;
	float weight;
} Contact;

// ---- strikes

static FemVec3 scaled(FemVec3 v, float s) {
	return (FemVec3){v.x * s, v.y * s, v.z * s};
}

// From the world's axes to those of the rest shape.
static FemVec3 rotated_back(FemVec3 v, FemQuat q) {
	float s = -2.0f * (q.x * v.x + q.y * v.y + q.z * v.z), c = q.w * q.w - (q.x * q.x + q.y * q.y + q.z * q.z);
	FemVec3 cross = {q.y * v.z - q.z * v.y, q.z * v.x - q.x * v.z, q.x * v.y - q.y * v.x};
	return (FemVec3){-s * q.x + c * v.x - 2.0f * q.w * cross.x, -s * q.y + c * v.y - 2.0f * q.w * cross.y,
		-s * q.z + c * v.z - 2.0f * q.w * cross.z};
}

static int32_t place_of(const SoundVoice *voice, int32_t node) {
	for (int32_t i = 0; i < voice->node_count; i++) {
		if (voice->nodes[i] == node) {
			return i;
		}
	}
	return -1;
}

// Where it is struck, in the instrument's nodes. Those of another body, or of before a break, have no such place: any.
static void set_place(FemStrike *strike, const SoundVoice *voice, const FemHit *hit) {
	bool is_found = false;
	for (int v = 0; v < 3; v++) {
		strike->nodes[v] = place_of(voice, hit->nodes[v]);
		strike->weights[v] = strike->nodes[v] >= 0 ? hit->weights[v] : 0.0f;
		is_found = is_found || strike->nodes[v] >= 0;
	}
	if (!is_found && voice->node_count > 0) {
		strike->nodes[0] = (int32_t)((uint32_t)hit->tet * 2654435761u % (uint32_t)voice->node_count);
		strike->weights[0] = 1.0f;
	}
}

static double norm_of(const float *levels, int32_t count) {
	double sum = 0.0;
	for (int32_t k = 0; k < count; k++) {
		sum += (double)levels[k] * (double)levels[k];
	}
	return sqrt(sum);
}

typedef struct Blow {
	SimulationBody *body;
	FemPosition point;
	FemVec3 impulse; // N s, on the body, world's axes
	double duration; // s
	double energy;   // J
	double db;       // added
	bool is_rub;
} Blow;

static GdVector3 to_godot(FemPosition p) {
	return (GdVector3){(float)p.x, (float)p.y, (float)p.z};
}

static void play_sample(DestructionSound *sound, const MaterialSound *material, const Blow *blow, double pressure) {
	if (material->sample && material->sample_share > 0.0 && pressure > 0.0) {
		double share = 20.0 * log10(material->sample_share) + 20.0 * log10(fmin(pressure, 1.0)) + material->loudness;
		double pitch = 0.95 + 0.1 * fmod(fabs(blow->point.x * 7.3 + blow->point.z * 3.1 + pressure * 11.0), 1.0);
		if (share > -60.0) {
			sound_emitters_play(sound->emitters, material->sample, to_godot(blow->point), share + blow->db, pitch);
		}
	}
}

// Returns whether there was something to be struck.
static bool strike(DestructionSound *sound, const Blow *blow) {
	FemHit hit = fem_body_closest_point(blow->body->body, blow->point, REACH);
	FemPieceState piece;
	if (fem_body_id_is_null(hit.body) ||
		fem_body_get_piece_state(hit.body, fem_body_get_tet_piece(hit.body, hit.tet), &piece) != FEM_OK) {
		return false;
	}
	FemMaterialId material_id;
	GDExtensionObjectPtr resource = fem_body_get_tet_material(hit.body, hit.tet, &material_id) == FEM_OK
		? simulation_material_resource(blow->body, material_id)
		: NULL;
	MaterialSound material = material_resource_sound(resource);
	SoundVoice voice = sound_instruments_find(sound->instruments, blow->body, &piece);
	if (!voice.instrument) {
		return false;
	}
	FemVec3 j = blow->impulse;
	double given = (double)(j.x * j.x + j.y * j.y + j.z * j.z) / (2.0 * fmax(piece.mass, 1e-9)); // to a body at rest
	double energy = blow->energy > 0.0 || blow->is_rub ? blow->energy : given;
	FemStrike def = {.impulse = rotated_back(j, piece.rotation), .energy = (float)energy};
	def.duration = (float)sqrt(blow->duration * blow->duration + material.contact_time * material.contact_time);
	set_place(&def, &voice, &hit);
	float levels[FEM_VOICE_MODES_MAX];
	int32_t count = fem_instrument_strike(voice.instrument, &def, levels, FEM_VOICE_MODES_MAX);
	double pressure = norm_of(levels, count), gain = pow(10.0, (material.loudness + blow->db) / 20.0);
	double heard = pow(pressure, LOUD_POWER);
	play_sample(sound, &material, blow, heard);
	gain *= material.sample ? 1.0 - material.sample_share : 1.0;
	float factor = pressure > 0.0 ? (float)(gain * heard / pressure) : 0.0f;
	for (int32_t k = 0; k < count; k++) {
		levels[k] *= factor;
	}
	sound_emitters_strike(sound->emitters,
		&(EmitterStrike){
			hit.body, piece.piece, voice, to_godot(blow->point), levels, count, (float)(heard * gain), blow->is_rub});
	return true;
}

bool sound_strike(DestructionSound *sound, SimulationBody *body, FemPosition point, FemVec3 impulse, double duration) {
	return strike(sound, &(Blow){body, point, impulse, duration, 0.0, 0.0, false});
}

void sound_hear_impulse(SimulationBody *body, FemPosition point, FemVec3 impulse) {
	DestructionSound *sound = body->world ? destruction_sound_of(body->world->world_3d) : NULL;
	if (sound) {
		sound_strike(sound, body, point, impulse, sound->striker_time);
	}
}

// ---- contacts

static SimulationBody *find_body(const SimulationWorld *world, FemBodyId id) {
	for (int32_t i = 0; i < world->body_count; i++) {
		if (fem_body_ids_are_equal(world->bodies[i]->body, id)) {
			return world->bodies[i];
		}
	}
	return NULL;
}

static FemVec3 velocity_at(FemVec3 linear, FemVec3 angular, FemPosition center, FemPosition point) {
	FemVec3 r = {(float)(point.x - center.x), (float)(point.y - center.y), (float)(point.z - center.z)};
	return (FemVec3){linear.x + angular.y * r.z - angular.z * r.y, linear.y + angular.z * r.x - angular.x * r.z,
		linear.z + angular.x * r.y - angular.y * r.x};
}

static FemVec3 body_velocity(FemBodyId body, FemPosition point) {
	FemPieceNumber number = 0;
	FemPieceState piece;
	if (fem_body_get_pieces(body, &number, 1) != 1) { // else it need not be searched
		FemHit hit = fem_body_closest_point(body, point, REACH);
		number = fem_body_id_is_null(hit.body) ? 0 : fem_body_get_tet_piece(body, hit.tet);
	}
	if (fem_body_get_piece_state(body, number, &piece) != FEM_OK) {
		return (FemVec3){0};
	}
	return velocity_at(piece.linear_velocity, piece.angular_velocity, piece.center, point);
}

static FemVec3 other_velocity(const FemContactEvent *event) {
	FemPosition position;
	FemQuat rotation;
	FemVec3 linear, angular;
	if (fem_body_is_valid(event->other)) {
		return body_velocity(event->other, event->point);
	}
	return fem_collider_get_motion(event->collider, &position, &rotation, &linear, &angular) == FEM_OK
		? velocity_at(linear, angular, position, event->point)
		: (FemVec3){0};
}

// m/s, along the faces that touch.
static double sliding_speed(const FemContactEvent *event) {
	FemVec3 a = body_velocity(event->body, event->point), b = other_velocity(event), n = event->normal;
	FemVec3 d = {a.x - b.x, a.y - b.y, a.z - b.z};
	float along = d.x * n.x + d.y * n.y + d.z * n.z;
	FemVec3 t = {d.x - along * n.x, d.y - along * n.y, d.z - along * n.z};
	return sqrt((double)(t.x * t.x + t.y * t.y + t.z * t.z));
}

static double contact_time_of(const SimulationWorld *world, const DestructionSound *sound, FemBodyId other) {
	const SimulationBody *body = find_body(world, other);
	return body ? material_resource_sound(body->materials[0]).contact_time : sound->striker_time;
}

static double roughness_of(const SimulationBody *body) {
	return body ? material_resource_sound(body->materials[0]).roughness : 0.0;
}

// Both sides of a contact are struck alike, or rubbed.
static void hear(
	SimulationWorld *world, DestructionSound *sound, const FemContactEvent *event, double delta, int32_t *rubs_left) {
	SimulationBody *sides[2] = {find_body(world, event->body), find_body(world, event->other)};
	FemBodyId ids[2] = {event->body, event->other};
	bool is_blow = (double)event->speed >= sound->speed_min;
	double impulse = (double)event->impulse, energy = 0.5 * impulse * (double)event->speed;
	if (!is_blow) {
		if ((*rubs_left)-- <= 0) {
			return;
		}
		double rough = fmax(roughness_of(sides[0]), roughness_of(sides[1])),
			   speed = rough > 0.0 ? sliding_speed(event) : 0.0;
		if (speed < RUB_SPEED_MIN) {
			return;
		}
		impulse = RUB_SHARE * rough * impulse / delta * sqrt(speed);
		energy = 0.0;
	}
	for (int side = 0; side < 2; side++) {
		if (sides[side]) {
			float sign = side == 0 ? -1.0f : 1.0f;
			strike(sound,
				&(Blow){sides[side], event->point, scaled(event->normal, sign * (float)impulse),
					contact_time_of(world, sound, ids[1 - side]), energy, 0.0, !is_blow});
		}
	}
}

// The strongest of the tick, however many there are.
static int32_t choose(const FemContactEvent *events, int32_t count, Contact out[STRIKES_MAX]) {
	int32_t kept = 0, least = 0;
	for (int32_t i = 0; i < count; i++) {
		float weight = events[i].impulse * (0.05f + events[i].speed);
		if (!(weight > 0.0f) || fem_body_ids_are_equal(events[i].body, events[i].other)) {
			continue;
		}
		if (kept < STRIKES_MAX) {
			out[kept++] = (Contact){&events[i], weight};
		} else if (weight > out[least].weight) {
			out[least] = (Contact){&events[i], weight};
		} else {
			continue;
		}
		for (int32_t k = 0; kept == STRIKES_MAX && k < kept; k++) {
			least = out[k].weight < out[least].weight ? k : least;
		}
	}
	return kept;
}

// ---- cracks

static void hear_crack(
	SimulationWorld *world, DestructionSound *sound, const FemFractureFace *face, double energy, double area) {
	SimulationBody *body = find_body(world, face->body);
	if (!body || !(energy > 0.0)) {
		return;
	}
	double db = material_resource_sound(body->materials[0]).loudness + sound->crack_loudness;
	double pressure = sqrt(IMPEDANCE * CRACK_SHARE * energy / CRACK_SECONDS);
	double heard = pow(pressure, LOUD_POWER) * pow(10.0, db / 20.0), size = sqrt(area);
	double pitch = fmin(fmax(300.0 / fmax(size, 0.01), 400.0), 6000.0); // as long as the crack is wide; chosen
	sound_emitters_burst(
		sound->emitters, face->body, to_godot(face->center), (float)heard, CRACK_SECONDS, (float)pitch);
	// What springs back strikes the body itself, along the crack's normal.
	float length = sqrtf(face->area.x * face->area.x + face->area.y * face->area.y + face->area.z * face->area.z);
	FemVec3 push = scaled(face->area, length > 0.0f ? 1e3f / length : 0.0f); // bounded by the energy
	strike(sound, &(Blow){body, face->center, push, 0.0, energy, sound->crack_loudness, false});
}

// One crack a body: faces of one body follow each other.
static void hear_cracks(SimulationWorld *world, DestructionSound *sound) {
	const FemFractureFace *faces = NULL;
	int32_t count = fem_world_get_fracture_faces(world->id, &faces);
	for (int32_t i = 0, next; i < count; i = next) {
		int32_t strongest = i;
		double energy = 0.0, area = 0.0;
		for (next = i; next < count && fem_body_ids_are_equal(faces[next].body, faces[i].body); next++) {
			FemVec3 a = faces[next].area;
			energy += (double)faces[next].energy;
			area += sqrt((double)(a.x * a.x + a.y * a.y + a.z * a.z));
			strongest = faces[next].energy > faces[strongest].energy ? next : strongest;
		}
		hear_crack(world, sound, &faces[strongest], energy, area);
	}
}

// Instruments are looked for before they are needed, a body a tick.
static void look_at_one(const SimulationWorld *world, DestructionSound *sound) {
	const SimulationBody *body = world->body_count > 0 ? world->bodies[sound->next_body++ % world->body_count] : NULL;
	FemPieceNumber number;
	FemPieceState piece;
	sound->next_body = sound->next_body < 0 ? 0 : sound->next_body;
	if (body && body->piece_count == 1 && fem_body_get_pieces(body->body, &number, 1) == 1 &&
		fem_body_get_piece_state(body->body, number, &piece) == FEM_OK) {
		sound_instruments_find(sound->instruments, body, &piece);
	}
}

void sound_after_step(SimulationWorld *world, double delta) {
	DestructionSound *sound = destruction_sound_of(world->world_3d);
	if (!sound) {
		return;
	}
	const FemContactEvent *events = NULL;
	Contact contacts[STRIKES_MAX];
	int32_t event_count = fem_world_get_contact_events(world->id, &events);
	int32_t count = choose(events, event_count, contacts);
	look_at_one(world, sound);
	sound_instruments_go_on(sound->instruments);
	int32_t rubs_left = RUBS_MAX;
	for (int32_t i = 0; i < count; i++) {
		hear(world, sound, contacts[i].event, delta, &rubs_left);
	}
	hear_cracks(world, sound);
	sound_emitters_flush(sound->emitters);
}
