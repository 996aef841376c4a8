#include "sound/sound_emitters.h"

#include "binding/conversions.h"
#include "sound/sound_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	VOICES = 1,       // of a place's mixer: what it was before fades by itself
	HELD_TICKS = 12,  // after a blow a place is kept for its body; 0.2 s
	REST_TICKS = 120, // after a blow its player goes on for at least as long; 2 s
};

#define HEARD 2e-4f                // of full scale: 74 dB below it a place may become another's
#define SILENT 1e-6f               // of full scale: below it a player need not play
#define PEAK_OF_LEVEL 3.0f         // of many modes: the peak over the root mean square of what is heard, about
#define FULL_SCALE_PER_PASCAL 0.9f // the mixers' usual gain of 0.5, and that modes begin together
#define EXPECTED_KEPT 0.85f // of what is expected, a tick: half of it after 4, when the audio thread has mixed it
#define FULL 0.9f           // of full scale, that all places come to together
#define RUB_LESS 0.8f       // a tick, while it is too loud: 10 dB in 5 of them; chosen
#define RUB_MORE 1.02f      // a tick, after that: 10 dB in a second; chosen
#define ROOM_MIN 0.15f      // of full scale, that blows have however loud it is already; chosen

typedef struct Emitter {
	GDExtensionObjectPtr player; // AudioStreamPlayer3D, a child
	GDExtensionObjectPtr stream; // a reference
	FemMixer *mixer;             // the stream's
	FemBodyId body;
	FemPieceNumber piece;
	uint32_t instrument; // number
	float size_factor;
	uint32_t struck; // tick
	float pressure;  // of its last blow, Pa
	float kicks[FEM_VOICE_MODES_MAX], rubs[FEM_VOICE_MODES_MAX];
	int32_t kick_count, rub_count; // gathered in this tick
	float kick_pressure;           // of them all, Pa
	float expected;                // of full scale, that its last blows come to: the audio thread is some ticks behind
} Emitter;

struct SoundEmitters {
	GDExtensionObjectPtr parent;
	int32_t count;
	uint32_t tick;
	Emitter emitters[EMITTERS_MAX];
	GDExtensionObjectPtr samples[SAMPLE_PLAYERS]; // AudioStreamPlayer3D, made when first used
	int32_t next_sample;
	float rub_factor;         // on all that rolls and slides, so that together it stays below full scale
	EmitterSettings settings; // bus is not used
};

// ---- players

static GDExtensionObjectPtr make_player(GDExtensionObjectPtr parent) {
	GdStringName class_name = make_string_name("AudioStreamPlayer3D");
	GDExtensionObjectPtr player = godot.classdb_construct_object2(&class_name);
	gd_string_name_free(&class_name);
	if (player) {
		gd_object_notification(player, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
		gd_node_add_child(parent, player, false, GD_NODE_INTERNAL_MODE_BACK);
	}
	return player;
}

static void set_up_player(GDExtensionObjectPtr player, const EmitterSettings *settings, double volume_db) {
	gd_audio_stream_player3d_set_bus(player, &settings->bus);
	gd_audio_stream_player3d_set_volume_db(player, volume_db);
	gd_audio_stream_player3d_set_unit_size(player, settings->unit_size);
	gd_audio_stream_player3d_set_max_distance(player, settings->max_distance);
	gd_audio_stream_player3d_set_max_db(player, 0.0); // by Godot's default things near by would pass full scale
	gd_audio_stream_player3d_set_doppler_tracking(player,
		settings->doppler ? GD_AUDIO_STREAM_PLAYER3D_DOPPLER_TRACKING_PHYSICS_STEP
						  : GD_AUDIO_STREAM_PLAYER3D_DOPPLER_TRACKING_DISABLED);
}

static bool begin_emitter(SoundEmitters *all, Emitter *emitter, const EmitterSettings *settings) {
	emitter->stream = sound_stream_create(VOICES, (float)gd_audio_server_get_mix_rate());
	emitter->player = emitter->stream ? make_player(all->parent) : NULL;
	if (!emitter->player) {
		object_unreference(emitter->stream);
		emitter->stream = NULL;
		return false;
	}
	emitter->mixer = sound_stream_mixer(emitter->stream);
	gd_audio_stream_player3d_set_stream(emitter->player, emitter->stream);
	set_up_player(emitter->player, settings, settings->volume_db);
	return true;
}

static void end_emitter(SoundEmitters *all, Emitter *emitter) {
	gd_audio_stream_player3d_stop(emitter->player);
	gd_node_remove_child(all->parent, emitter->player);
	gd_node_queue_free(emitter->player);
	object_unreference(emitter->stream);
	*emitter = (Emitter){0};
}

SoundEmitters *sound_emitters_create(GDExtensionObjectPtr parent, const EmitterSettings *settings) {
	SoundEmitters *all = calloc(1, sizeof(SoundEmitters));
	if (all) {
		all->parent = parent;
		all->rub_factor = 1.0f;
		sound_emitters_apply(all, settings);
	}
	return all;
}

void sound_emitters_apply(SoundEmitters *all, const EmitterSettings *settings) {
	all->settings = *settings;
	while (all->count > settings->count) {
		end_emitter(all, &all->emitters[--all->count]);
	}
	for (int32_t i = 0; i < all->count; i++) {
		set_up_player(all->emitters[i].player, settings, settings->volume_db);
	}
	while (all->count < settings->count && begin_emitter(all, &all->emitters[all->count], settings)) {
		all->count++;
	}
	for (int i = 0; i < SAMPLE_PLAYERS; i++) {
		if (all->samples[i]) {
			set_up_player(all->samples[i], settings, settings->volume_db);
		}
	}
}

void sound_emitters_free(SoundEmitters *all) {
	if (!all) {
		return;
	}
	while (all->count > 0) {
		end_emitter(all, &all->emitters[--all->count]);
	}
	for (int i = 0; i < SAMPLE_PLAYERS; i++) {
		if (all->samples[i]) {
			gd_node_remove_child(all->parent, all->samples[i]);
			gd_node_queue_free(all->samples[i]);
		}
	}
	free(all);
}

// ---- places

static bool is_free(const SoundEmitters *all, const Emitter *emitter) {
	return all->tick - emitter->struck > HELD_TICKS && fem_mixer_level(emitter->mixer) < HEARD;
}

// How much is lost when a place becomes another's: what it still gives, or its blow of just now.
static float worth(const SoundEmitters *all, const Emitter *emitter) {
	float age = (float)(all->tick - emitter->struck) / HELD_TICKS;
	return fmaxf(fem_mixer_level(emitter->mixer), emitter->pressure / (1.0f + age * age * age));
}

// The place of a piece: its own, a free one, or that of the quietest if this is louder. Null: it is not heard.
static Emitter *find_emitter(SoundEmitters *all, FemBodyId body, FemPieceNumber piece, float pressure) {
	Emitter *best = NULL, *quietest = NULL;
	for (int32_t i = 0; i < all->count; i++) {
		Emitter *emitter = &all->emitters[i];
		if (emitter->piece == piece && fem_body_ids_are_equal(emitter->body, body)) {
			return emitter;
		}
		best = !best && is_free(all, emitter) ? emitter : best;
		quietest = !quietest || worth(all, emitter) < worth(all, quietest) ? emitter : quietest;
	}
	if (!best && quietest && worth(all, quietest) < pressure) {
		best = quietest;
	}
	if (best) {
		best->body = body;
		best->piece = piece;
		best->instrument = 0;
		best->kick_count = best->rub_count = 0;
		best->kick_pressure = 0.0f;
	}
	return best;
}

static void place(SoundEmitters *all, Emitter *emitter, GdVector3 point, float pressure) {
	gd_node3d_set_global_position(emitter->player, point);
	emitter->struck = all->tick;
	emitter->pressure = pressure;
	if (!gd_audio_stream_player3d_is_playing(emitter->player)) {
		gd_audio_stream_player3d_play(emitter->player, 0.0);
	}
}

static void gather(float *sums, int32_t *count, const float *levels, int32_t level_count) {
	for (int32_t k = 0; k < level_count; k++) {
		sums[k] = (k < *count ? sums[k] : 0.0f) + levels[k];
	}
	*count = level_count;
}

void sound_emitters_strike(SoundEmitters *all, const EmitterStrike *strike) {
	Emitter *emitter = find_emitter(all, strike->body, strike->piece, strike->pressure);
	if (!emitter) {
		return;
	}
	if (emitter->instrument != strike->voice.number || emitter->size_factor != strike->voice.size_factor) {
		emitter->instrument = strike->voice.number;
		emitter->size_factor = strike->voice.size_factor;
		emitter->kick_count = emitter->rub_count = 0;
		fem_mixer_set_voice(emitter->mixer, 0, strike->voice.instrument, strike->voice.size_factor);
	}
	place(all, emitter, strike->point, strike->pressure);
	if (strike->is_rub) {
		gather(emitter->rubs, &emitter->rub_count, strike->levels, strike->level_count);
	} else {
		gather(emitter->kicks, &emitter->kick_count, strike->levels, strike->level_count);
		emitter->kick_pressure += strike->pressure;
	}
}

void sound_emitters_burst(
	SoundEmitters *all, FemBodyId body, GdVector3 point, float pressure, float duration, float pitch) {
	Emitter *emitter = find_emitter(all, body, 0, pressure);
	if (emitter) {
		place(all, emitter, point, pressure);
		fem_mixer_burst(emitter->mixer, pressure, duration, pitch);
	}
}

void sound_emitters_play(SoundEmitters *all, GDExtensionObjectPtr sample, GdVector3 point, double db, double pitch) {
	GDExtensionObjectPtr *slot = &all->samples[all->next_sample++ % SAMPLE_PLAYERS];
	*slot = *slot ? *slot : make_player(all->parent);
	if (*slot) {
		set_up_player(*slot, &all->settings, all->settings.volume_db + db);
		gd_audio_stream_player3d_set_stream(*slot, sample);
		gd_audio_stream_player3d_set_pitch_scale(*slot, pitch);
		gd_node3d_set_global_position(*slot, point);
		gd_audio_stream_player3d_play(*slot, 0.0);
	}
}

// All places together are not to be louder than one may be: what many blows in one tick have to be less, in view of
// what rings already.
static float crowd_factor(const SoundEmitters *all) {
	float ringing = 0.0f, struck = 0.0f;
	for (int32_t i = 0; i < all->count; i++) {
		ringing += fmaxf(fem_mixer_level(all->emitters[i].mixer) * PEAK_OF_LEVEL, all->emitters[i].expected);
		struck += all->emitters[i].kick_count > 0 ? all->emitters[i].kick_pressure * FULL_SCALE_PER_PASCAL : 0.0f;
	}
	float room = fmaxf(FULL - ringing, ROOM_MIN);
	return struck > room ? room / struck : 1.0f;
}

// What rolls and slides goes on, so that it is told by what is heard of it: less while all places are too loud.
static void set_rub_factor(SoundEmitters *all) {
	float heard = 0.0f;
	for (int32_t i = 0; i < all->count; i++) {
		heard += fem_mixer_level(all->emitters[i].mixer) * PEAK_OF_LEVEL;
	}
	all->rub_factor = heard > FULL ? RUB_LESS * all->rub_factor : fminf(RUB_MORE * all->rub_factor, 1.0f);
}

static void rest(SoundEmitters *all, Emitter *emitter) {
	bool is_done = all->tick - emitter->struck > REST_TICKS && fem_mixer_level(emitter->mixer) < SILENT;
	if (is_done && gd_audio_stream_player3d_is_playing(emitter->player)) {
		gd_audio_stream_player3d_stop(emitter->player);
	}
}

void sound_emitters_flush(SoundEmitters *all) {
	float rate = (float)gd_audio_server_get_mix_rate(), factor = crowd_factor(all);
	set_rub_factor(all);
	for (int32_t i = 0; i < all->count; i++) {
		Emitter *emitter = &all->emitters[i];
		for (int32_t k = 0; k < emitter->kick_count; k++) {
			emitter->kicks[k] *= factor;
		}
		emitter->expected = EXPECTED_KEPT * emitter->expected + factor * emitter->kick_pressure * FULL_SCALE_PER_PASCAL;
		emitter->kick_pressure = 0.0f;
		rest(all, emitter);
		if (emitter->kick_count > 0) {
			fem_mixer_strike(emitter->mixer, 0, emitter->kicks, emitter->kick_count);
		}
		for (int32_t k = 0; k < emitter->rub_count; k++) {
			emitter->rubs[k] *= all->rub_factor;
		}
		if (emitter->rub_count > 0) {
			fem_mixer_rub(emitter->mixer, 0, emitter->rubs, emitter->rub_count);
		}
		emitter->kick_count = emitter->rub_count = 0;
		sound_stream_set_rate(emitter->stream, rate);
	}
	all->tick++;
}

int32_t sound_emitters_sounding(const SoundEmitters *all) {
	int32_t count = 0;
	for (int32_t i = 0; i < all->count; i++) {
		count += fem_mixer_level(all->emitters[i].mixer) >= HEARD;
	}
	return count;
}

double sound_emitters_level(const SoundEmitters *all) {
	float level = 0.0f;
	for (int32_t i = 0; i < all->count; i++) {
		level = fmaxf(level, fem_mixer_level(all->emitters[i].mixer));
	}
	return (double)level;
}

int64_t sound_emitters_frames(const SoundEmitters *all) {
	int64_t frames = 0;
	for (int32_t i = 0; i < all->count; i++) {
		frames += sound_stream_frames(all->emitters[i].stream);
	}
	return frames;
}
