// Voices, bursts and the way out to samples. Everything but the ring belongs to the audio thread.
#include "base/error.h"
#include "base/memory.h"
#include "geometry/mode_data.h"
#include "modes/instrument.h"
#include "modes/message_ring.h"
#include "modes/voices.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define VOICES_MAX 64      // of a mixer; chosen
#define BURSTS_MAX 16      // at once; the oldest makes room
#define FADE_SECONDS 0.005 // of a voice that is silenced: short, and no click
#define RUB_SECONDS 0.1    // for which what rubs need not be told again: six ticks
#define GAIN_USUAL 0.5f    // full scale per Pa: 100 dB is full; chosen
#define KNEE 0.7f          // of full scale, above which loud sounds are bent instead of cut off; chosen
#define MOST 0.95f         // of full scale: leaves the filter behind it room
#define DC_PITCH 10.0      // Hz: slower than this nothing comes out
#define PRESSURE_MAX 1e6f  // Pa, of a kick; more is no number of a game
#define RATE_MIN 8000.0f   // Hz: sample rates ...
#define RATE_MAX 384000.0f // ... that sound cards have

typedef enum MessageKind {
	MESSAGE_VOICE = 1, // data: frequencies, decays
	MESSAGE_STRIKE,    // data: kicks
	MESSAGE_RUB,       // data: levels
	MESSAGE_BURST,     // data: level, duration, pitch
	MESSAGE_SILENCE,
	MESSAGE_GAIN, // data: gain
} MessageKind;

enum { HEAD_WORDS = 3 }; // kind, voice, words of data

// Noise between two pitches that dies away.
typedef struct Burst {
	float level, left; // Pa, and what is left of it after a sample
	float low, high;   // shares of two one-pole filters
	float slow, fast;  // their states
} Burst;

struct FemMixer {
	FemMessageRing ring;
	int32_t voice_count;
	float sample_rate, gain;
	FemVoice *voices, *fading; // [voice]; fading: what a voice was before it became another instrument
	Burst bursts[BURSTS_MAX];
	int32_t next_burst;
	uint32_t noise;
	float last_in, last_out, dc_left; // of the filter that takes out what is slower than sound
	float block[FEM_SOUND_BLOCK];
	int32_t block_at;    // next sample of the block; FEM_SOUND_BLOCK: none is left
	float before, after; // samples between which a changed rate reads
	double position;     // 0..1 between them
	float data[2 * FEM_VOICE_MODES_MAX];
	_Atomic float level;
};

// ---- the thread that plays

static bool is_rate(float rate) {
	return rate >= RATE_MIN && rate <= RATE_MAX;
}

static void set_rate(FemMixer *mixer, float sample_rate) {
	mixer->sample_rate = sample_rate;
	mixer->dc_left = (float)(1.0 - FEM_CIRCLE * DC_PITCH / (double)sample_rate);
}

FemMixer *fem_mixer_create(int32_t voice_count, float sample_rate) {
	if (voice_count < 1 || voice_count > VOICES_MAX || !is_rate(sample_rate)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "A mixer has 1..%d voices and a sample rate of %g..%g Hz, not %d and %g.",
			VOICES_MAX, (double)RATE_MIN, (double)RATE_MAX, voice_count, (double)sample_rate);
		return NULL;
	}
	FemMixer *mixer = FEM_ALLOC_ARRAY(FemMixer, 1);
	if (mixer) {
		mixer->voice_count = voice_count;
		mixer->voices = FEM_ALLOC_ARRAY(FemVoice, voice_count);
		mixer->fading = FEM_ALLOC_ARRAY(FemVoice, voice_count);
		mixer->gain = GAIN_USUAL;
		mixer->block_at = FEM_SOUND_BLOCK;
		mixer->noise = 1;
		set_rate(mixer, sample_rate);
		if (mixer->voices && mixer->fading)
			return mixer;
		fem_mixer_destroy(mixer);
	}
	fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a mixer: close other programs.");
	return NULL;
}

void fem_mixer_destroy(FemMixer *mixer) {
	if (!mixer)
		return;
	FEM_FREE_ARRAY(mixer->voices, mixer->voice_count);
	FEM_FREE_ARRAY(mixer->fading, mixer->voice_count);
	FEM_FREE_ARRAY(mixer, 1);
}

// Numbers that are none, or no pressure, are silence.
static float checked(float value) {
	return value >= -PRESSURE_MAX && value <= PRESSURE_MAX ? value : 0.0f;
}

static bool send(FemMixer *mixer, MessageKind kind, int32_t voice, const float *data, int32_t count) {
	const uint32_t head[HEAD_WORDS] = {(uint32_t)kind, (uint32_t)voice, (uint32_t)count};
	return fem_ring_write(&mixer->ring, head, HEAD_WORDS, data, (uint32_t)count);
}

static bool is_voice(const FemMixer *mixer, int32_t voice) {
	return mixer && voice >= 0 && voice < mixer->voice_count;
}

bool fem_mixer_set_voice(FemMixer *mixer, int32_t voice, const FemInstrument *instrument, float size_factor) {
	float data[2 * FEM_VOICE_MODES_MAX];
	int32_t count = fem_instrument_mode_count(instrument);
	if (!is_voice(mixer, voice) || !instrument || !(size_factor > 0.0f && size_factor < INFINITY))
		return false;
	// Pitches go with 1 / size; Rayleigh's decay a1 omega^2 / 2 with its square, which is most of it.
	for (int32_t k = 0; k < count; k++) {
		data[k] = instrument->frequency[k] / size_factor;
		data[count + k] = instrument->decay[k] / (size_factor * size_factor);
	}
	return send(mixer, MESSAGE_VOICE, voice, data, 2 * count);
}

static bool send_levels(FemMixer *mixer, MessageKind kind, int32_t voice, const float *levels, int32_t count) {
	float data[FEM_VOICE_MODES_MAX];
	if (!is_voice(mixer, voice) || !levels || count < 0 || count > FEM_VOICE_MODES_MAX)
		return false;
	for (int32_t k = 0; k < count; k++)
		data[k] = checked(levels[k]);
	return send(mixer, kind, voice, data, count);
}

bool fem_mixer_strike(FemMixer *mixer, int32_t voice, const float *kicks, int32_t count) {
	return send_levels(mixer, MESSAGE_STRIKE, voice, kicks, count);
}

bool fem_mixer_rub(FemMixer *mixer, int32_t voice, const float *levels, int32_t count) {
	return send_levels(mixer, MESSAGE_RUB, voice, levels, count);
}

bool fem_mixer_burst(FemMixer *mixer, float level, float duration, float pitch) {
	const float data[3] = {checked(level), duration, pitch};
	return mixer && duration > 0.0f && duration < 10.0f && pitch > 0.0f && pitch < 1e5f &&
		send(mixer, MESSAGE_BURST, 0, data, 3);
}

bool fem_mixer_silence(FemMixer *mixer, int32_t voice) {
	return mixer && (voice == -1 || is_voice(mixer, voice)) && send(mixer, MESSAGE_SILENCE, voice, NULL, 0);
}

bool fem_mixer_set_gain(FemMixer *mixer, float gain) {
	return mixer && gain >= 0.0f && gain <= 1e6f && send(mixer, MESSAGE_GAIN, 0, &gain, 1);
}

// ---- the audio thread: messages

static float fade_step(const FemMixer *mixer) {
	return (float)(-1.0 / (FADE_SECONDS * (double)mixer->sample_rate));
}

static void become(FemMixer *mixer, int32_t index, const float *data, int32_t count) {
	FemVoice *voice = &mixer->voices[index];
	if (voice->is_ringing || voice->is_rubbed) {
		mixer->fading[index] = *voice;
		mixer->fading[index].fade_step = fade_step(mixer);
		mixer->fading[index].rub_frames = 0;
	}
	memset(voice, 0, sizeof *voice);
	memcpy(voice->frequency, data, sizeof *data * (size_t)count);
	memcpy(voice->decay, data + count, sizeof *data * (size_t)count);
	voice->mode_count = (count + FEM_VOICE_LANES - 1) / FEM_VOICE_LANES * FEM_VOICE_LANES;
	voice->fade = 1.0f;
	voice->noise = (uint32_t)index * 2654435761u + 1u;
	fem_voice_tune(voice, mixer->sample_rate);
}

static void begin_burst(FemMixer *mixer, const float data[3]) {
	Burst *burst = &mixer->bursts[mixer->next_burst++ % BURSTS_MAX];
	double rate = (double)mixer->sample_rate;
	burst->level = data[0];
	burst->left = (float)exp(-1.0 / ((double)data[1] * rate));
	burst->low = (float)(1.0 - exp(-FEM_CIRCLE * 0.5 * (double)data[2] / rate));
	burst->high = (float)(1.0 - exp(-FEM_CIRCLE * 2.0 * (double)data[2] / rate));
}

static void silence(FemMixer *mixer, int32_t voice) {
	for (int32_t i = 0; i < mixer->voice_count; i++) {
		if (voice == -1 || i == voice)
			mixer->voices[i].fade_step = fade_step(mixer);
	}
	for (int i = 0; voice == -1 && i < BURSTS_MAX; i++)
		mixer->bursts[i].left *= 0.99f;
}

static void take_message(FemMixer *mixer, uint32_t kind, int32_t index, int32_t count) {
	FemVoice *voice = &mixer->voices[index >= 0 ? index : 0];
	switch (kind) {
	case MESSAGE_VOICE: become(mixer, index, mixer->data, count / 2); break;
	case MESSAGE_STRIKE:
		if (voice->fade_step < 0.0f) { // it was silenced: begins anew
			voice->fade = 1.0f;
			voice->fade_step = 0.0f;
		}
		for (int32_t k = 0; k < count && k < voice->mode_count; k++)
			voice->re[k] += mixer->data[k];
		voice->is_ringing = true;
		break;
	case MESSAGE_RUB:
		memset(voice->target, 0, sizeof voice->target);
		memcpy(voice->target, mixer->data,
			sizeof(float) * (size_t)(count < voice->mode_count ? count : voice->mode_count));
		voice->rub_frames = (int32_t)(RUB_SECONDS * (double)mixer->sample_rate);
		voice->is_rubbed = true;
		break;
	case MESSAGE_BURST: begin_burst(mixer, mixer->data); break;
	case MESSAGE_SILENCE: silence(mixer, index); break;
	case MESSAGE_GAIN: mixer->gain = mixer->data[0]; break;
	default: break;
	}
}

static void take_messages(FemMixer *mixer) {
	uint32_t head[HEAD_WORDS];
	while (fem_ring_read(&mixer->ring, head, HEAD_WORDS)) {
		// The data were published with their head.
		if (!fem_ring_read(&mixer->ring, mixer->data, head[2]))
			return;
		take_message(mixer, head[0], (int32_t)head[1], (int32_t)head[2]);
	}
}

// ---- the audio thread: samples

static float white(uint32_t *state) {
	*state = *state * 1664525u + 1013904223u;
	return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}

static void mix_burst(FemMixer *mixer, Burst *burst, float *out) {
	for (int n = 0; n < FEM_SOUND_BLOCK; n++) {
		float in = white(&mixer->noise) * burst->level;
		burst->fast += burst->high * (in - burst->fast);
		burst->slow += burst->low * (burst->fast - burst->slow);
		out[n] += burst->fast - burst->slow;
		burst->level *= burst->left;
	}
	if (burst->level < 1e-7f)
		*burst = (Burst){0};
}

// Straight up to the knee, then bent so that it never passes MOST.
static float bend(float x) {
	float size = fabsf(x);
	if (size <= KNEE)
		return x;
	return copysignf(KNEE + (MOST - KNEE) * tanhf((size - KNEE) / (MOST - KNEE)), x);
}

static void fill_block(FemMixer *mixer) {
	float *out = mixer->block;
	memset(out, 0, sizeof mixer->block);
	for (int32_t i = 0; i < mixer->voice_count; i++) {
		fem_voice_mix(&mixer->voices[i], out, mixer->sample_rate);
		fem_voice_mix(&mixer->fading[i], out, mixer->sample_rate);
	}
	for (int i = 0; i < BURSTS_MAX; i++) {
		if (mixer->bursts[i].level > 0.0f)
			mix_burst(mixer, &mixer->bursts[i], out);
	}
	for (int n = 0; n < FEM_SOUND_BLOCK; n++) {
		float in = bend(out[n] * mixer->gain);
		float filtered = in - mixer->last_in + mixer->dc_left * mixer->last_out;
		mixer->last_in = in;
		mixer->last_out = fabsf(filtered) > 1e-20f ? filtered : 0.0f;
		out[n] = filtered > 1.0f ? 1.0f : filtered < -1.0f ? -1.0f : filtered;
	}
	mixer->block_at = 0;
}

static float next_sample(FemMixer *mixer) {
	if (mixer->block_at == FEM_SOUND_BLOCK)
		fill_block(mixer);
	return mixer->block[mixer->block_at++];
}

// One sample of a stream that is read at another speed than it was made for.
static float next_between(FemMixer *mixer, double rate) {
	for (mixer->position += rate; mixer->position >= 1.0; mixer->position -= 1.0) {
		mixer->before = mixer->after;
		mixer->after = next_sample(mixer);
	}
	return mixer->before + (float)mixer->position * (mixer->after - mixer->before);
}

void fem_mixer_mix(FemMixer *mixer, float *out, int32_t frames, float rate) {
	double sum = 0.0, speed = rate > 0.0f && rate <= 16.0f ? (double)rate : 1.0;
	take_messages(mixer);
	// Between samples also at rate 1 once it has been another: a jump back would click.
	bool straight = speed == 1.0 && mixer->position == 0.0;
	for (int32_t n = 0; n < frames; n++) {
		if (straight) {
			mixer->before = mixer->after;
			out[n] = mixer->before;
			mixer->after = next_sample(mixer);
		} else
			out[n] = next_between(mixer, speed);
		sum += (double)out[n] * (double)out[n];
	}
	atomic_store_explicit(&mixer->level, frames > 0 ? (float)sqrt(sum / frames) : 0.0f, memory_order_relaxed);
}

void fem_mixer_set_rate(FemMixer *mixer, float sample_rate) {
	if (!is_rate(sample_rate) || sample_rate == mixer->sample_rate)
		return;
	set_rate(mixer, sample_rate);
	for (int32_t i = 0; i < mixer->voice_count; i++) {
		fem_voice_tune(&mixer->voices[i], sample_rate);
		fem_voice_tune(&mixer->fading[i], sample_rate);
	}
}

float fem_mixer_level(const FemMixer *mixer) {
	return mixer ? atomic_load_explicit(&mixer->level, memory_order_relaxed) : 0.0f;
}
