// DestructionSound: a Node3D that lets the destructibles of its world be heard.
#ifndef DESTRUCTION_SOUND_H
#define DESTRUCTION_SOUND_H

#include "binding/class_binding.h"
#include "sound/sound_bus.h"
#include "sound/sound_emitters.h"
#include "sound/sound_instruments.h"

typedef struct DestructionSound {
	ClassInstance base;
	bool is_enabled;
	bool is_in_headless; // also without a display
	int32_t voice_count;
	double volume_db;
	GdString bus;
	double unit_size, max_distance; // m
	bool doppler;
	double speed_min;      // m/s, slower blows are no blows
	double striker_time;   // s, that what is no destructible touches
	double crack_loudness; // dB
	// While it is heard
	GDExtensionObjectPtr world_3d; // not a reference, only compared; null: not heard
	SoundEmitters *emitters;
	SoundBus limited; // on which they all play
	SoundInstruments *instruments;
	int32_t next_body; // whose instrument is looked for in the next tick
} DestructionSound;

extern const ClassDescription destruction_sound_class;

// The node that is heard in a World3D, or null: of several the first that entered.
DestructionSound *destruction_sound_of(GDExtensionObjectPtr world_3d);

#endif
