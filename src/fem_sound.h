// The sound of modes (fem_modes.h): what a body is as an instrument, and a mixer that a host's audio thread calls.
//
//   fem_instrument_create(&modes, &def)                   pitches, decays and loudness of a thing of some material
//   fem_instrument_strike(instrument, ..., kicks)         what a blow at a place does to each of its modes
//   fem_mixer_set_voice(mixer, 0, instrument)             a voice of the mixer is this instrument from now on
//   fem_mixer_strike(mixer, 0, kicks, count)              and rings
//   fem_mixer_mix(mixer, out, frames, 1.0f)               on the audio thread
//
// A mixer belongs to two threads: one that plays (every call but fem_mixer_mix()), and the audio thread that mixes.
// They share a ring of messages without locks: the audio thread never waits, allocates nothing and keeps no pointer of
// the other's, so that an instrument may be freed while it sounds. docs/method.md, "Sound".
#ifndef FEM_SOUND_H
#define FEM_SOUND_H

#include "fem_modes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FEM_VOICE_MODES_MAX 256 // modes of a voice; chosen: ears tell no more apart

typedef struct FemInstrumentDef {
	float stiffness_damping; // s, a1: decay rates are (a1 omega^2 + a2) / 2; default 1e-7, metal
	float mass_damping;      // 1/s, a2; default 0
	float brightness;        // dB an octave above 1 kHz that is added or, below 0, taken away; default 0
	int32_t mode_max;        // loudest modes that are kept, 1..FEM_VOICE_MODES_MAX; default 100
	uint32_t cookie;
} FemInstrumentDef;

FemInstrumentDef fem_default_instrument_def(void);

// A thing to be struck. Modes that do not swing (overdamped) and those nobody hears (outside 20 Hz to 20 kHz) are left
// out. Copies what it needs. Null with a sentence for bad numbers or without memory.
typedef struct FemInstrument FemInstrument;
FemInstrument *fem_instrument_create(const FemModes *modes, const FemInstrumentDef *def);
void fem_instrument_destroy(FemInstrument *instrument);

int32_t fem_instrument_mode_count(const FemInstrument *instrument);
double fem_instrument_frequency(const FemInstrument *instrument, int32_t mode); // Hz, damped; 0: not there
double fem_instrument_decay(const FemInstrument *instrument, int32_t mode);     // 1/s

// What stands between a blow and its sound.
typedef struct FemStrike {
	int32_t nodes[4]; // of the mesh that the modes are of; with weights: where it is struck
	float weights[4]; // sum 1; 0 where there is no node
	FemVec3 impulse;  // N s, in the axes of the rest shape
	float duration;   // s, of the contact as a Gaussian's standard deviation: 0 is a hammer of diamond, 0.005 a fist
	float energy;     // J, that the blow had at most: what rings has no more; 0 = unknown
} FemStrike;

// out_kicks[mode of the instrument]: Pa at 1 m that each mode begins with. Returns how many there are. Numbers that are
// not finite give silence.
int32_t fem_instrument_strike(
	const FemInstrument *instrument, const FemStrike *strike, float *out_kicks, int32_t capacity);

// ---- mixer

typedef struct FemMixer FemMixer;

// voice_count: things that ring at once, 1..64. sample_rate: Hz, 8000..384000. Null without memory or for bad numbers.
FemMixer *fem_mixer_create(int32_t voice_count, float sample_rate);
void fem_mixer_destroy(FemMixer *mixer); // when the audio thread has let go of it

// All of these are messages; false when the audio thread has taken none for so long that the ring is full, and the
// message is lost. Voices that were left ring out.
// size_factor: a thing so many times as large, of the same shape and material; 1 = as it is.
bool fem_mixer_set_voice(FemMixer *mixer, int32_t voice, const FemInstrument *instrument, float size_factor);
bool fem_mixer_strike(FemMixer *mixer, int32_t voice, const float *kicks, int32_t count);

// What rolls or slides: the modes are driven by noise, so many Pa (root mean square of a mode's kicks in a second) from
// now on; 0 ends it. What is not told again fades within a tenth of a second.
bool fem_mixer_rub(FemMixer *mixer, int32_t voice, const float *levels, int32_t count);

// A crack: noise of so many Pa that falls by 1/e in `duration` (s), with a pitch of its own (Hz).
bool fem_mixer_burst(FemMixer *mixer, float level, float duration, float pitch);
bool fem_mixer_silence(FemMixer *mixer, int32_t voice); // in 5 ms, without a click; -1: all of them
bool fem_mixer_set_gain(FemMixer *mixer, float gain);   // full scale per Pa; default 0.5: 2 Pa, 100 dB, is full

// On the audio thread alone: mono samples, -1..1, never beyond. rate: 1, or faster or slower (Doppler).
void fem_mixer_mix(FemMixer *mixer, float *out, int32_t frames, float rate);

// On the audio thread: another sample rate, from the next sample on; what rings goes on.
void fem_mixer_set_rate(FemMixer *mixer, float sample_rate);

// Of the last mix, root mean square, 0..1: whether it is still heard. [any thread]
float fem_mixer_level(const FemMixer *mixer);

#ifdef __cplusplus
}
#endif

#endif
