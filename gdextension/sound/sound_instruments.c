#include "sound/sound_instruments.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/destructible_mesh_modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	INSTRUMENTS_MAX = 256, // kept; the one that was struck longest ago makes room. Chosen: some 100 MB at most
	MODES_WHOLE = 60,      // of whole bodies: 0.2 s for 3,000 tets
	MODES_PIECE = 24,      // of pieces, which are small and many
	PIECE_TETS_MAX = 4000, // larger ones take seconds: they keep sounding like their body
};

typedef struct Entry {
	FemMeshId mesh;       // of whole bodies; null: of a piece
	FemBodyId body;       // of a piece, or the first of the bodies
	FemPieceNumber piece; // 0: whole bodies
	int32_t tet_count;
	GDExtensionObjectPtr material; // MaterialResource or null, only compared
	MaterialSound sound;           // as it was found for
	double mass;                   // kg
	bool is_attached;              // held by anchors, which are this body's own
	FemModesJob *job;
	FemInstrument *instrument;
	int32_t *nodes;
	int32_t node_count;
	uint32_t number, struck; // tick
	bool is_wanted, has_failed;
} Entry;

struct SoundInstruments {
	Entry *entries[INSTRUMENTS_MAX];
	int32_t count;
	uint32_t tick, next_number;
	Entry *working; // whose job is under way
};

SoundInstruments *sound_instruments_create(void) {
	return calloc(1, sizeof(SoundInstruments));
}

static void free_entry(SoundInstruments *all, Entry *entry) {
	if (entry->job) {
		FemModes modes;
		fem_modes_cancel(entry->job);
		if (fem_modes_finish(entry->job, &modes) == FEM_OK) {
			fem_modes_free(&modes);
		}
		all->working = NULL;
	}
	fem_instrument_destroy(entry->instrument);
	free(entry->nodes);
	free(entry);
}

void sound_instruments_free(SoundInstruments *all) {
	for (int32_t i = 0; all && i < all->count; i++) {
		free_entry(all, all->entries[i]);
	}
	free(all);
}

static bool is_same_body(FemBodyId a, FemBodyId b) {
	return fem_body_ids_are_equal(a, b);
}

int32_t sound_instruments_count(const SoundInstruments *all) {
	int32_t count = 0;
	for (int32_t i = 0; all && i < all->count; i++) {
		count += all->entries[i]->instrument != NULL;
	}
	return count;
}

// ---- finding

// Changes of what is mixed, not of what rings, need no new instrument.
static bool sounds_alike(const MaterialSound *a, const MaterialSound *b) {
	return a->stiffness == b->stiffness && a->damping == b->damping && a->mass_damping == b->mass_damping &&
		a->brightness == b->brightness;
}

// What anchors hold rings otherwise, each body by its own.
static bool is_held_alike(const Entry *entry, const SimulationBody *body, const FemPieceState *piece) {
	return entry->is_attached == piece->is_attached && (!piece->is_attached || is_same_body(entry->body, body->body));
}

static Entry *find_whole(const SoundInstruments *all, const SimulationBody *body, const FemPieceState *piece) {
	GDExtensionObjectPtr material = body->materials[0];
	MaterialSound sound = material_resource_sound(material);
	for (int32_t i = 0; i < all->count; i++) {
		Entry *entry = all->entries[i];
		if (entry->piece == 0 && fem_mesh_ids_are_equal(entry->mesh, body->mesh) && entry->material == material &&
			entry->tet_count == piece->tet_count && fabs(entry->mass - piece->mass) <= 1e-4 * piece->mass &&
			sounds_alike(&entry->sound, &sound) && is_held_alike(entry, body, piece)) {
			return entry;
		}
	}
	return NULL;
}

static Entry *find_piece(const SoundInstruments *all, const SimulationBody *body, const FemPieceState *piece) {
	for (int32_t i = 0; i < all->count; i++) {
		Entry *entry = all->entries[i];
		if (entry->piece == piece->piece && is_same_body(entry->body, body->body) &&
			entry->tet_count == piece->tet_count) {
			return entry;
		}
	}
	return NULL;
}

static void make_room(SoundInstruments *all) {
	int32_t oldest = -1;
	for (int32_t i = 0; i < all->count; i++) {
		if (!all->entries[i]->job && (oldest < 0 || all->entries[i]->struck < all->entries[oldest]->struck)) {
			oldest = i;
		}
	}
	if (oldest >= 0) {
		free_entry(all, all->entries[oldest]);
		all->entries[oldest] = all->entries[--all->count];
	}
}

static Entry *add_entry(SoundInstruments *all, const SimulationBody *body, const FemPieceState *piece, bool is_whole) {
	if (all->count == INSTRUMENTS_MAX) {
		make_room(all);
	}
	Entry *entry = calloc(1, sizeof(Entry));
	if (!entry) {
		return NULL;
	}
	entry->mesh = is_whole ? body->mesh : (FemMeshId){0};
	entry->body = body->body;
	entry->piece = is_whole ? 0 : piece->piece;
	entry->tet_count = piece->tet_count;
	entry->material = body->materials[0];
	entry->sound = material_resource_sound(entry->material);
	entry->mass = piece->mass;
	entry->is_attached = piece->is_attached;
	entry->number = ++all->next_number;
	entry->is_wanted = true;
	all->entries[all->count++] = entry;
	return entry;
}

// ---- making

static void list_nodes(Entry *entry, FemPieceNumber piece) {
	entry->node_count = fem_body_get_piece_nodes(entry->body, piece, NULL, 0);
	entry->nodes = malloc(sizeof(int32_t) * (size_t)(entry->node_count + 1));
	if (entry->nodes) {
		fem_body_get_piece_nodes(entry->body, piece, entry->nodes, entry->node_count);
	}
}

// Real moduli for what is simulated softer.
static double stiffness_factor(const Entry *entry) {
	double simulated = (double)material_resource_def(entry->material).young_modulus;
	return entry->sound.stiffness > 0.0 ? entry->sound.stiffness / simulated : 1.0;
}

static void take_modes(Entry *entry, FemModes *modes) {
	FemInstrumentDef def = fem_default_instrument_def();
	def.stiffness_damping = (float)entry->sound.damping;
	def.mass_damping = (float)entry->sound.mass_damping;
	def.brightness = (float)entry->sound.brightness;
	entry->instrument = fem_instrument_create(modes, &def);
	entry->has_failed = !entry->instrument || fem_instrument_mode_count(entry->instrument) == 0;
}

// A baked mesh that brings its modes: those of its bodies follow from them.
static bool take_baked(Entry *entry, const SimulationBody *body) {
	FemModes modes;
	if (!destructible_mesh_modes_of(body, stiffness_factor(entry), &modes)) {
		return false;
	}
	take_modes(entry, &modes);
	entry->node_count = modes.node_count;
	entry->nodes = malloc(sizeof(int32_t) * (size_t)(entry->node_count + 1));
	for (int32_t i = 0; entry->nodes && i < entry->node_count; i++) {
		entry->nodes[i] = i;
	}
	fem_modes_free(&modes);
	return true;
}

static void begin(SoundInstruments *all, Entry *entry) {
	FemPieceNumber piece = entry->piece;
	if (piece == 0) {
		fem_body_get_pieces(entry->body, &piece, 1);
	}
	FemModesDef def = fem_default_modes_def();
	def.mode_count = entry->piece == 0 ? MODES_WHOLE : MODES_PIECE;
	def.frequency_max = (float)((double)def.frequency_max / sqrt(stiffness_factor(entry)));
	list_nodes(entry, piece);
	entry->job = entry->nodes ? fem_body_start_modes(entry->body, piece, &def) : NULL;
	entry->has_failed = !entry->job;
	all->working = entry->job ? entry : NULL;
}

static void finish(SoundInstruments *all) {
	Entry *entry = all->working;
	FemModes modes;
	if (fem_modes_finish(entry->job, &modes) == FEM_OK) {
		fem_modes_scale(&modes, (float)stiffness_factor(entry), 1.0f, 1.0f);
		take_modes(entry, &modes);
		fem_modes_free(&modes);
	} else {
		entry->has_failed = true;
		report_warning("DestructionSound: a body has no sound: %s", fem_last_error());
	}
	entry->job = NULL;
	all->working = NULL;
}

void sound_instruments_go_on(SoundInstruments *all) {
	all->tick++;
	if (all->working && fem_modes_is_done(all->working->job)) {
		finish(all);
	}
	Entry *next = NULL;
	for (int32_t i = 0; !all->working && i < all->count; i++) {
		Entry *entry = all->entries[i];
		bool waits = entry->is_wanted && !entry->instrument && !entry->has_failed;
		if (waits && (!next || entry->struck > next->struck)) {
			next = entry;
		}
	}
	if (next && !fem_body_is_valid(next->body)) {
		next->has_failed = true; // its body went before its turn; another that is struck asks anew
		next->mesh = (FemMeshId){0};
	} else if (next) {
		begin(all, next);
	}
}

static SoundVoice voice_of(const Entry *entry, float size_factor) {
	return (SoundVoice){entry->instrument, size_factor, entry->nodes, entry->node_count, entry->number};
}

SoundVoice sound_instruments_find(SoundInstruments *all, const SimulationBody *body, const FemPieceState *piece) {
	bool is_whole = body->piece_count <= 1 && piece->parent == 0;
	Entry *entry = is_whole ? find_whole(all, body, piece) : find_piece(all, body, piece);
	if (!entry && (is_whole || piece->tet_count <= PIECE_TETS_MAX)) {
		entry = add_entry(all, body, piece, is_whole);
		if (entry && is_whole) {
			take_baked(entry, body);
		}
	}
	if (entry) {
		entry->struck = all->tick;
		if (entry->instrument) {
			return voice_of(entry, 1.0f);
		}
	}
	// The nearest relation: any instrument of the same material, made as large as this.
	const Entry *best = NULL;
	for (int32_t i = 0; i < all->count; i++) {
		const Entry *other = all->entries[i];
		bool is_kin = other->instrument && other->material == body->materials[0];
		bool is_own = is_kin && other->piece == 0 && fem_mesh_ids_are_equal(other->mesh, body->mesh);
		if (is_own || (is_kin && !best)) {
			best = other;
		}
	}
	return best && best->mass > 0.0 ? voice_of(best, (float)cbrt(piece->mass / best->mass)) : (SoundVoice){0};
}
