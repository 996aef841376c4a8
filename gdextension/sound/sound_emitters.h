// The places that sound comes from: a pool of AudioStreamPlayer3D below a DestructionSound, each with a mixer of its
// own, so that buses, attenuation, areas and Doppler are Godot's. One stands for the body or piece that was struck last
// there.
#ifndef SOUND_EMITTERS_H
#define SOUND_EMITTERS_H

#include "fem_sound.h"
#include "godot_calls.h"
#include "sound/sound_instruments.h"

enum { EMITTERS_MAX = 64, SAMPLE_PLAYERS = 8 }; // samples that are heard at once; chosen

typedef struct EmitterSettings {
	int32_t count; // 1..EMITTERS_MAX
	double volume_db;
	GdStringName bus;
	double unit_size, max_distance; // m
	bool doppler;
} EmitterSettings;

typedef struct SoundEmitters SoundEmitters;

// Players are internal children of `parent`, which must be in the tree. Null without memory.
SoundEmitters *sound_emitters_create(GDExtensionObjectPtr parent, const EmitterSettings *settings);
void sound_emitters_free(SoundEmitters *emitters); // while the players' parent is still there
void sound_emitters_apply(SoundEmitters *emitters, const EmitterSettings *settings);

// A blow to a piece of a body, at a point; kicks as fem_instrument_strike() gives them. gain: on all of them.
typedef struct EmitterStrike {
	FemBodyId body;
	FemPieceNumber piece;
	SoundVoice voice;
	GdVector3 point;
	const float *levels; // [mode of the instrument]
	int32_t level_count;
	float pressure; // Pa, about, for who makes room for whom
	bool is_rub;    // levels of noise instead of kicks
} EmitterStrike;

void sound_emitters_strike(SoundEmitters *emitters, const EmitterStrike *strike);

// A crack of a body.
void sound_emitters_burst(
	SoundEmitters *emitters, FemBodyId body, GdVector3 point, float pressure, float duration, float pitch);

// A sound of the user's own.
void sound_emitters_play(
	SoundEmitters *emitters, GDExtensionObjectPtr sample, GdVector3 point, double db, double pitch);

// Once a tick: what was gathered goes to the mixers.
void sound_emitters_flush(SoundEmitters *emitters);

int32_t sound_emitters_sounding(const SoundEmitters *emitters); // places that are heard now
double sound_emitters_level(const SoundEmitters *emitters);     // of the loudest, root mean square, 0..1
int64_t sound_emitters_frames(const SoundEmitters *emitters);   // mixed so far, of all

#endif
