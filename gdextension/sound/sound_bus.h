// A bus of its own for all places of a DestructionSound, with a limiter on it, that sends to the user's bus: each mixer
// stays below full scale by itself, but many of them, and what attenuation and panning make of them, come together
// only there.
#ifndef SOUND_BUS_H
#define SOUND_BUS_H

#include "godot_calls.h"

#include <stdbool.h>

enum { SOUND_BUS_NAME = 40 }; // bytes of its name, more than the longest has

typedef struct SoundBus {
	char name[SOUND_BUS_NAME]; // empty: there is none
} SoundBus;

// Makes it, or lets it send to another one. False where Godot gives none: the user's bus is used then.
bool sound_bus_send_to(SoundBus *bus, const GdStringName *send);
void sound_bus_close(SoundBus *bus);

#endif
