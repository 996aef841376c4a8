// What the bodies and pieces of a world sound like: instruments, found by other threads and kept while they are struck.
//
// Whole bodies of one mesh, material and mass share an instrument; from modes in the baked mesh it is there at once.
// Every piece that broke off and is struck gets one of its own within a second or so; until then it sounds as the body
// it came from does, made as small as it is.
#ifndef SOUND_INSTRUMENTS_H
#define SOUND_INSTRUMENTS_H

#include "classes/material_resource.h"
#include "fem_sound.h"
#include "simulation/simulation.h"

typedef struct SoundInstruments SoundInstruments;

SoundInstruments *sound_instruments_create(void);
void sound_instruments_free(SoundInstruments *instruments); // cancels and waits, a fraction of a second

// What a piece of a body is struck as.
typedef struct SoundVoice {
	const FemInstrument *instrument; // null: nothing is known yet, and nothing is heard
	float size_factor;
	const int32_t *nodes; // of the body, in the order of the instrument's
	int32_t node_count;
	uint32_t number; // of the instrument: another one is another number
} SoundVoice;

SoundVoice sound_instruments_find(
	SoundInstruments *instruments, const SimulationBody *body, const FemPieceState *piece);

// Once a tick: takes what is ready, begins the next.
void sound_instruments_go_on(SoundInstruments *instruments);

int32_t sound_instruments_count(const SoundInstruments *instruments); // that are ready

#endif
