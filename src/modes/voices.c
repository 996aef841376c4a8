#include "modes/voices.h"

#include "geometry/mode_data.h"

#include <math.h>
#include <string.h>

#define QUIET 1e-9f     // Pa: 86 dB below what ears hear at all (20 uPa); a mode below is set to 0, a voice ends
#define NYQUIST 0.45    // of the sample rate: pitches above are left out, before they would fold
#define RUB_SMOOTH 0.2f // share of the way to the level that is told, a block; chosen: 3 ms

typedef float Vec __attribute__((vector_size(16)));
enum {
	LANES = FEM_VOICE_LANES,
	VECS = LANES / 4
}; // modes side by side: so many chains of products hide each other's latency

void fem_voice_tune(FemVoice *voice, float sample_rate) {
	for (int32_t k = 0; k < voice->mode_count; k++) {
		double angle = (double)voice->frequency[k] / (double)sample_rate;
		double left = exp(-(double)voice->decay[k] / (double)sample_rate);
		bool heard = voice->frequency[k] > 0.0f && angle < NYQUIST * FEM_CIRCLE;
		voice->cosine[k] = heard ? (float)(left * cos(angle)) : 0.0f;
		voice->sine[k] = heard ? (float)(left * sin(angle)) : 0.0f;
	}
}

// A number in -1..1 (xorshift, Marsaglia 2003).
static float noise(uint32_t *state) {
	uint32_t x = *state ? *state : 1u;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return (float)(int32_t)x * (1.0f / 2147483648.0f);
}

static void rub(FemVoice *voice, float sample_rate) {
	if (voice->rub_frames <= 0)
		memset(voice->target, 0, sizeof voice->target);
	voice->rub_frames -= FEM_SOUND_BLOCK;
	// Independent kicks every block add up as the root of their number: levels are those of a second.
	float kick = noise(&voice->noise) * sqrtf(3.0f * (float)FEM_SOUND_BLOCK / sample_rate), most = 0.0f;
	for (int32_t k = 0; k < voice->mode_count; k++) {
		voice->level[k] += RUB_SMOOTH * (voice->target[k] - voice->level[k]);
		voice->re[k] += kick * voice->level[k];
		float size = fabsf(voice->level[k]);
		most = size > most ? size : most;
	}
	voice->is_rubbed = voice->rub_frames > 0 || most > QUIET;
}

// Turns LANES modes through a block and adds what is heard of each to a lane.
static void advance_modes(FemVoice *voice, int32_t first, Vec *sums) {
	Vec re[VECS], im[VECS], c[VECS], s[VECS];
	memcpy(re, voice->re + first, sizeof re);
	memcpy(im, voice->im + first, sizeof im);
	memcpy(c, voice->cosine + first, sizeof c);
	memcpy(s, voice->sine + first, sizeof s);
	for (int n = 0; n < FEM_SOUND_BLOCK; n++) {
		for (int v = 0; v < VECS; v++) {
			Vec next_re = re[v] * c[v] - im[v] * s[v];
			im[v] = re[v] * s[v] + im[v] * c[v];
			re[v] = next_re;
		}
		sums[n] += (im[0] + im[1]) + (im[2] + im[3]);
	}
	memcpy(voice->re + first, re, sizeof re);
	memcpy(voice->im + first, im, sizeof im);
	for (int32_t k = first; k < first + LANES; k++) {
		bool quiet =
			fabsf(voice->re[k]) + fabsf(voice->im[k]) < QUIET; // also keeps off denormal numbers, which are slow
		voice->re[k] = quiet ? 0.0f : voice->re[k];
		voice->im[k] = quiet ? 0.0f : voice->im[k];
		voice->is_ringing = voice->is_ringing || !quiet;
	}
}

void fem_voice_mix(FemVoice *voice, float *out, float sample_rate) {
	if (!voice->is_ringing && !voice->is_rubbed)
		return;
	Vec sums[FEM_SOUND_BLOCK] = {{0.0f}};
	if (voice->is_rubbed)
		rub(voice, sample_rate);
	voice->is_ringing = false;
	for (int32_t k = 0; k < voice->mode_count; k += LANES)
		advance_modes(voice, k, sums);
	for (int n = 0; n < FEM_SOUND_BLOCK; n++) {
		float sum = (sums[n][0] + sums[n][1]) + (sums[n][2] + sums[n][3]);
		voice->fade += voice->fade_step;
		voice->fade = voice->fade < 0.0f ? 0.0f : voice->fade;
		out[n] += sum * voice->fade;
	}
	if (voice->fade <= 0.0f) {
		memset(voice->re, 0, sizeof voice->re);
		memset(voice->im, 0, sizeof voice->im);
		voice->is_ringing = voice->is_rubbed = false;
	}
}
