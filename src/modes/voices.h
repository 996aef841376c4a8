// The oscillators of a mixer: each mode is one complex number that turns and shrinks by the same factor a sample
// (O'Brien et al. 2002, section 3.3). Of the audio thread alone.
#ifndef FEM_MODES_VOICES_H
#define FEM_MODES_VOICES_H

#include "fem_sound.h"

#define FEM_VOICE_LANES 16 // modes of a voice are padded to a multiple with modes that stay 0
#define FEM_SOUND_BLOCK 32 // frames computed at once, and between two kicks of noise; chosen: 0.7 ms

typedef struct FemVoice {
	float re[FEM_VOICE_MODES_MAX], im[FEM_VOICE_MODES_MAX];           // Pa; the imaginary part is heard
	float cosine[FEM_VOICE_MODES_MAX], sine[FEM_VOICE_MODES_MAX];     // of a sample, times what is left after it
	float level[FEM_VOICE_MODES_MAX];                                 // Pa, of noise
	float target[FEM_VOICE_MODES_MAX];                                // to which the level goes
	float frequency[FEM_VOICE_MODES_MAX], decay[FEM_VOICE_MODES_MAX]; // rad/s, 1/s
	int32_t mode_count;                                               // padded with modes that stay 0
	int32_t rub_frames;                                               // until what is not told again fades
	float fade, fade_step; // gain, and what it changes by in a frame: 0 or less
	bool is_ringing, is_rubbed;
	uint32_t noise;
} FemVoice;

// Modes at a sample rate; what rings goes on.
void fem_voice_tune(FemVoice *voice, float sample_rate);

// Adds FEM_SOUND_BLOCK samples.
void fem_voice_mix(FemVoice *voice, float *out, float sample_rate);

#endif
