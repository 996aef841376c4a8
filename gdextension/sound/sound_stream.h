// A mixer (fem_sound.h) as an AudioStream of Godot: what an AudioStreamPlayer3D plays.
//
// The playback mixes on Godot's audio thread, which takes no lock, allocates nothing and calls nothing of Godot there.
// Stream and playback share the mixer, and whoever lets go of it last frees it: a player may be freed while it sounds.
#ifndef SOUND_STREAM_H
#define SOUND_STREAM_H

#include "binding/class_binding.h"
#include "fem_sound.h"

extern const ClassDescription sound_stream_class;
extern const ClassDescription sound_playback_class;

// A new stream with a mixer of so many voices, one reference; null without memory.
GDExtensionObjectPtr sound_stream_create(int32_t voice_count, float mix_rate);

// For the main thread; the stream must be there.
FemMixer *sound_stream_mixer(GDExtensionObjectPtr stream);

// Another mix rate of the AudioServer: taken over by the next mix.
void sound_stream_set_rate(GDExtensionObjectPtr stream, float mix_rate);

// Frames that were mixed so far, for statistics and tests.
int64_t sound_stream_frames(GDExtensionObjectPtr stream);

#endif
