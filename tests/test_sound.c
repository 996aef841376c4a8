// Instruments and the mixer (suite `sound`): pitches, decays, what the audio thread meets.
#include "base/thread.h"
#include "fem_sound.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define RATE 48000

// Modes of one node that moves along x, kg^-1/2 = 1 each, at these pitches.
static FemModes modes_at(const double *hertz, int32_t count) {
	FemModes modes = {.node_count = 1, .mode_count = count, .capacity = count, .material = {7e10f, 0.3f, 2700.0f}};
	modes.eigenvalues = malloc(sizeof *modes.eigenvalues * (size_t)count);
	modes.radiation = malloc(sizeof *modes.radiation * (size_t)count);
	modes.shapes = calloc(3 * (size_t)count, sizeof *modes.shapes);
	for (int32_t k = 0; k < count; k++) {
		double omega = 2.0 * PI * hertz[k];
		modes.eigenvalues[k] = omega * omega;
		modes.radiation[k] = (float)(0.01 * omega);
		modes.shapes[3 * k] = 1.0f;
	}
	return modes;
}

static void free_plain(FemModes *modes) {
	free(modes->eigenvalues);
	free(modes->radiation);
	free(modes->shapes);
}

static const FemStrike tap = {.weights = {1.0f}, .impulse = {1.0f, 0.0f, 0.0f}};

// Power of a stretch of samples at a pitch, by Goertzel's sum.
static double power_at(const float *samples, int32_t count, double hertz) {
	double re = 0.0, im = 0.0;
	for (int32_t n = 0; n < count; n++) {
		double window = 0.5 - 0.5 * cos(2.0 * PI * n / count);
		re += window * (double)samples[n] * cos(2.0 * PI * hertz * n / RATE);
		im += window * (double)samples[n] * sin(2.0 * PI * hertz * n / RATE);
	}
	return re * re + im * im;
}

static double loudest_pitch(const float *samples, int32_t count, double low, double high) {
	double best = low, most = 0.0;
	for (double hertz = low; hertz <= high; hertz += (high - low) / 400.0) {
		double power = power_at(samples, count, hertz);
		if (power > most) {
			most = power;
			best = hertz;
		}
	}
	return best;
}

static double energy_of(const float *samples, int32_t count) {
	double sum = 0.0;
	for (int32_t n = 0; n < count; n++)
		sum += (double)samples[n] * (double)samples[n];
	return sum;
}

// A strike rendered into `count` samples, quiet enough to stay straight.
static float *render(const FemInstrument *instrument, int32_t count, float rate) {
	float *out = malloc(sizeof *out * (size_t)count), kicks[FEM_VOICE_MODES_MAX];
	FemMixer *mixer = fem_mixer_create(2, RATE);
	FEM_CHECK(fem_mixer_set_voice(mixer, 1, instrument, 1.0f));
	int32_t modes = fem_instrument_strike(instrument, &tap, kicks, FEM_VOICE_MODES_MAX);
	FEM_CHECK(fem_mixer_strike(mixer, 1, kicks, modes));
	for (int32_t n = 0; n < count; n += 500)
		fem_mixer_mix(mixer, out + n, count - n < 500 ? count - n : 500, rate);
	fem_mixer_destroy(mixer);
	return out;
}

FEM_TEST(sound, a_strike_rings_at_its_pitch_and_dies_as_the_formula_says) {
	const double hertz = 587.4;
	FemModes modes = modes_at(&hertz, 1);
	FemInstrumentDef def = fem_default_instrument_def();
	def.stiffness_damping = 1e-7f;
	def.mass_damping = 2.0f;
	FemInstrument *instrument = fem_instrument_create(&modes, &def);
	FEM_REQUIRE(instrument);
	double omega = 2.0 * PI * hertz, decay = 0.5 * (1e-7 * omega * omega + 2.0);
	FEM_CHECK_NEAR(fem_instrument_decay(instrument, 0), decay, 1e-4 * decay);
	FEM_CHECK_NEAR(fem_instrument_frequency(instrument, 0), hertz, 1e-4 * hertz);
	float *out = render(instrument, 2 * RATE, 1.0f);
	FEM_CHECK_NEAR(loudest_pitch(out, RATE, 580.0, 595.0), hertz, 0.1);
	double fell = log(energy_of(out, RATE / 2) / energy_of(out + RATE, RATE / 2)) / 2.0; // in a second
	FEM_CHECK_NEAR(fell, decay, 0.01 * decay);
	// z = dt g / omega e^-at sin(omega t): 0.01 m^3/s of flow gives 0.329 Pa, half of which is full scale.
	float peak = 0.0f;
	for (int n = 0; n < 200; n++)
		peak = fmaxf(peak, fabsf(out[n]));
	FEM_CHECK_NEAR(peak, 0.01 * 32.9 * 0.5, 0.02 * 0.16);
	FEM_CHECK(fabsf(out[0]) < 1e-6f && fabsf(out[1]) < 0.1f); // begins without a step
	free(out);
	out = render(instrument, RATE, 0.5f); // half as fast: an octave lower
	FEM_CHECK_NEAR(loudest_pitch(out, RATE, 280.0, 310.0), hertz / 2.0, 0.2);
	free(out);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

FEM_TEST(sound, soft_strikers_wake_no_high_modes) {
	const double hertz[3] = {200.0, 1000.0, 5000.0};
	FemModes modes = modes_at(hertz, 3);
	FemInstrumentDef def = fem_default_instrument_def();
	FemInstrument *instrument = fem_instrument_create(&modes, &def);
	float hard[3], soft[3];
	FemStrike strike = tap;
	FEM_CHECK_INT(fem_instrument_strike(instrument, &strike, hard, 3), 3);
	strike.duration = 0.0005f;
	fem_instrument_strike(instrument, &strike, soft, 3);
	for (int k = 0; k < 3; k++) {
		double width = 0.0005 * 2.0 * PI * hertz[k];
		FEM_CHECK_NEAR(soft[k] / hard[k], exp(-0.5 * width * width), 1e-3);
	}
	strike.duration = 0.0f;
	strike.energy = 1e-3f; // of which a tenth rings, whatever the impulse
	fem_instrument_strike(instrument, &strike, soft, 3);
	double energy = 0.0;
	for (int k = 0; k < 3; k++)
		energy += 0.5 * pow((double)soft[k] / (0.01 * 32.9), 2.0);
	FEM_CHECK_NEAR(energy, 1e-4, 1e-6);
	def.brightness = 6.0f;
	FemInstrument *bright = fem_instrument_create(&modes, &def);
	fem_instrument_strike(bright, &tap, soft, 3);
	FEM_CHECK_NEAR(soft[1] / hard[1], 1.0, 1e-3);
	FEM_CHECK_NEAR(20.0 * log10((double)(soft[2] / hard[2])), 6.0 * log2(5.0), 0.02);
	fem_instrument_destroy(bright);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

FEM_TEST(sound, only_heard_and_loudest_modes_are_kept) {
	const double hertz[6] = {5.0, 100.0, 300.0, 900.0, 19000.0, 25000.0};
	FemModes modes = modes_at(hertz, 6);
	FemInstrumentDef def = fem_default_instrument_def();
	FemInstrument *instrument = fem_instrument_create(&modes, &def);
	FEM_CHECK_INT(fem_instrument_mode_count(instrument), 4);
	fem_instrument_destroy(instrument);
	modes.radiation[2] *= 0.1f;
	def.mode_max = 3;
	instrument = fem_instrument_create(&modes, &def);
	FEM_CHECK_INT(fem_instrument_mode_count(instrument), 3);
	FEM_CHECK_NEAR(fem_instrument_frequency(instrument, 1), 900.0, 0.1); // 300 Hz is the quietest
	fem_instrument_destroy(instrument);
	def.mode_max = 100;
	def.stiffness_damping = 1e-3f; // overdamped above 318 Hz
	instrument = fem_instrument_create(&modes, &def);
	FEM_CHECK_INT(fem_instrument_mode_count(instrument), 2);
	FEM_CHECK(fem_instrument_frequency(instrument, 2) == 0.0 && fem_instrument_decay(instrument, -1) == 0.0);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

static FemInstrument *hundred_modes(FemModes *out_modes) {
	double hertz[100];
	for (int k = 0; k < 100; k++)
		hertz[k] = 100.0 + 97.0 * k;
	*out_modes = modes_at(hertz, 100);
	FemInstrumentDef def = fem_default_instrument_def();
	def.mass_damping = 4.0f;
	def.stiffness_damping = 0.0f;
	return fem_instrument_create(out_modes, &def);
}

static double largest_step(const float *samples, int32_t count) {
	double largest = 0.0;
	for (int32_t n = 1; n < count; n++)
		largest = fmax(largest, fabs((double)samples[n] - (double)samples[n - 1]));
	return largest;
}

// No voice of 1 kHz and half of full scale has steps above 2 pi 1000 / 48000 / 2 = 0.065; a cut would have up to 0.5.
FEM_TEST(sound, voices_end_and_change_without_clicks) {
	const double hertz = 1000.0;
	FemModes modes = modes_at(&hertz, 1);
	FemInstrumentDef def = fem_default_instrument_def();
	def.stiffness_damping = 0.0f;
	FemInstrument *instrument = fem_instrument_create(&modes, &def);
	FemMixer *mixer = fem_mixer_create(1, RATE);
	float kick = 1.0f, out[4800];
	fem_mixer_set_voice(mixer, 0, instrument, 1.0f);
	fem_mixer_strike(mixer, 0, &kick, 1);
	for (int part = 0; part < 4; part++) {
		fem_mixer_mix(mixer, out + 1200 * part, 1200, 1.0f);
		if (part == 0)
			fem_mixer_set_voice(mixer, 0, instrument, 2.0f);
		if (part == 1)
			fem_mixer_strike(mixer, 0, &kick, 1);
		if (part == 2)
			fem_mixer_silence(mixer, 0);
	}
	FEM_CHECK(largest_step(out, 4800) < 0.08);
	FEM_CHECK(energy_of(out, 1200) > 50.0 && energy_of(out + 4000, 800) < 1e-3);
	FEM_CHECK(energy_of(out + 1500, 800) < 1e-3); // the new instrument has not been struck yet
	FEM_CHECK(fem_mixer_level(mixer) < 0.3f && fem_mixer_level(NULL) == 0.0f);
	fem_mixer_set_rate(mixer, 44100.0f);
	fem_mixer_strike(mixer, 0, &kick, 1);
	fem_mixer_mix(mixer, out, 4800, 1.0f);
	FEM_CHECK(energy_of(out, 4800) > 50.0 && largest_step(out, 4800) < 0.08);
	fem_mixer_destroy(mixer);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

FEM_TEST(sound, loud_is_bent_not_cut_and_has_no_direct_current) {
	FemModes modes;
	FemInstrument *instrument = hundred_modes(&modes);
	FemMixer *mixer = fem_mixer_create(1, RATE);
	float kicks[100], *out = malloc(sizeof *out * RATE);
	fem_instrument_strike(instrument, &tap, kicks, 100);
	for (int k = 0; k < 100; k++)
		kicks[k] *= 100.0f;
	fem_mixer_set_voice(mixer, 0, instrument, 1.0f);
	fem_mixer_strike(mixer, 0, kicks, 100);
	fem_mixer_mix(mixer, out, RATE, 1.0f);
	double sum = 0.0, peak = 0.0;
	for (int n = 0; n < RATE; n++) {
		FEM_REQUIRE(isfinite((double)out[n]));
		sum += (double)out[n];
		peak = fmax(peak, fabs((double)out[n]));
	}
	FEM_CHECK(peak > 0.9 && peak <= 1.0);
	FEM_CHECK(fabs(sum / RATE) < 5e-3);
	free(out);
	fem_mixer_destroy(mixer);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

FEM_TEST(sound, rubbing_goes_on_while_it_is_told) {
	FemModes modes;
	FemInstrument *instrument = hundred_modes(&modes);
	FemMixer *mixer = fem_mixer_create(1, RATE);
	float levels[100], out[800], first = 0.0f, last = 0.0f;
	for (int k = 0; k < 100; k++)
		levels[k] = 0.05f;
	fem_mixer_set_voice(mixer, 0, instrument, 1.0f);
	for (int tick = 0; tick < 180; tick++) {
		if (tick < 60)
			fem_mixer_rub(mixer, 0, levels, 100);
		fem_mixer_mix(mixer, out, 800, 1.0f);
		first = tick == 50 ? fem_mixer_level(mixer) : first;
		last = fem_mixer_level(mixer);
	}
	FEM_CHECK(first > 0.01f && first < 0.5f);
	FEM_CHECK(last < 0.1f * first);
	// A burst is noise that ends by itself.
	FEM_CHECK(fem_mixer_silence(mixer, -1) && fem_mixer_burst(mixer, 1.0f, 0.01f, 3000.0f));
	fem_mixer_mix(mixer, out, 800, 1.0f);
	FEM_CHECK(fem_mixer_level(mixer) > 0.01f);
	for (int tick = 0; tick < 60; tick++)
		fem_mixer_mix(mixer, out, 800, 1.0f);
	FEM_CHECK(fem_mixer_level(mixer) < 1e-4f);
	FEM_CHECK(fem_mixer_set_gain(mixer, 0.0f));
	fem_mixer_burst(mixer, 1.0f, 0.01f, 3000.0f);
	fem_mixer_mix(mixer, out, 800, 1.0f);
	fem_mixer_mix(mixer, out, 800, 1.0f);
	FEM_CHECK(fem_mixer_level(mixer) < 1e-4f);
	fem_mixer_destroy(mixer);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

FEM_TEST(sound, bad_numbers_are_silence) {
	FemModes modes;
	FemInstrument *instrument = hundred_modes(&modes);
	FemMixer *mixer = fem_mixer_create(1, RATE);
	float kicks[100], out[800];
	FemStrike strike = tap;
	strike.impulse.x = (float)NAN;
	FEM_CHECK_INT(fem_instrument_strike(instrument, &strike, kicks, 100), 100);
	for (int k = 0; k < 100; k++)
		FEM_CHECK(kicks[k] == 0.0f);
	strike = tap;
	strike.nodes[0] = 77; // no such node
	fem_instrument_strike(instrument, &strike, kicks, 100);
	FEM_CHECK(kicks[0] == 0.0f);
	fem_mixer_set_voice(mixer, 0, instrument, 1.0f);
	for (int k = 0; k < 100; k++)
		kicks[k] = k % 2 ? (float)NAN : (float)INFINITY;
	FEM_CHECK(fem_mixer_strike(mixer, 0, kicks, 100) && fem_mixer_rub(mixer, 0, kicks, 100));
	fem_mixer_mix(mixer, out, 800, (float)NAN);
	FEM_CHECK(energy_of(out, 800) == 0.0);
	FEM_CHECK(!fem_mixer_strike(mixer, 1, kicks, 100) && !fem_mixer_strike(mixer, 0, NULL, 100));
	FEM_CHECK(!fem_mixer_strike(mixer, 0, kicks, FEM_VOICE_MODES_MAX + 1) && !fem_mixer_strike(NULL, 0, kicks, 1));
	FEM_CHECK(!fem_mixer_set_voice(mixer, 0, instrument, 0.0f) && !fem_mixer_set_voice(mixer, 0, NULL, 1.0f));
	FEM_CHECK(!fem_mixer_burst(mixer, 1.0f, 0.0f, 100.0f) && !fem_mixer_silence(mixer, 5) &&
		!fem_mixer_set_gain(mixer, -1.0f));
	FEM_CHECK(!fem_mixer_create(0, RATE) && !fem_mixer_create(1, 10.0f) && !fem_instrument_create(NULL, NULL));
	FemInstrumentDef def = fem_default_instrument_def();
	def.mass_damping = (float)NAN;
	FEM_CHECK(!fem_instrument_create(&modes, &def));
	fem_mixer_set_rate(mixer, 0.0f);
	fem_mixer_destroy(mixer);
	fem_mixer_destroy(NULL);
	fem_instrument_destroy(instrument);
	fem_instrument_destroy(NULL);
	free_plain(&modes);
}

// A ring that nobody empties is full some time; what was taken before is not spoilt.
FEM_TEST(sound, a_full_ring_loses_messages_and_nothing_else) {
	FemModes modes;
	FemInstrument *instrument = hundred_modes(&modes);
	FemMixer *mixer = fem_mixer_create(1, RATE);
	float kicks[100], out[800];
	int sent = 0;
	fem_instrument_strike(instrument, &tap, kicks, 100);
	for (int k = 0; k < 100; k++)
		kicks[k] *= 1e-4f;
	fem_mixer_set_voice(mixer, 0, instrument, 1.0f);
	while (fem_mixer_strike(mixer, 0, kicks, 100))
		sent++;
	FEM_CHECK(sent >= 64 && sent < 10000);
	fem_mixer_mix(mixer, out, 800, 1.0f);
	double once = energy_of(out, 800);
	for (int round = 0; round < 1000; round++) { // around the ring's end many times
		fem_mixer_set_voice(mixer, 0, instrument, 1.0f);
		for (int i = 0; i < sent; i++)
			FEM_REQUIRE(fem_mixer_strike(mixer, 0, kicks, 100));
		fem_mixer_mix(mixer, out, 0, 1.0f);
		if (round % 400 == 399) {
			fem_mixer_mix(mixer, out, 800, 1.0f);
			fem_mixer_silence(mixer, -1);
			fem_mixer_mix(mixer, out, 800, 1.0f);
		}
	}
	FEM_CHECK(once > 0.0 && isfinite(energy_of(out, 800)));
	fem_mixer_destroy(mixer);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

typedef struct Player {
	FemMixer *mixer;
	_Atomic bool ends;
	int64_t blocks, bad;
} Player;

static void *play(void *argument) {
	Player *player = argument;
	float out[512];
	while (!atomic_load(&player->ends)) {
		fem_mixer_mix(player->mixer, out, 512, 1.0f);
		for (int n = 0; n < 512; n++)
			player->bad += !(fabsf(out[n]) <= 1.0f);
		player->blocks++;
	}
	return NULL;
}

FEM_TEST(sound, two_threads_share_a_mixer) {
	FemModes modes;
	FemInstrument *instrument = hundred_modes(&modes);
	Player player = {.mixer = fem_mixer_create(16, RATE)};
	FemThread thread;
	float kicks[100];
	int lost = 0;
	fem_instrument_strike(instrument, &tap, kicks, 100);
	FEM_REQUIRE(fem_thread_start(&thread, play, &player));
	for (int i = 0; i < 3000; i++) {
		int voice = i % 16;
		if (i % 50 == 0)
			lost += !fem_mixer_set_voice(player.mixer, voice, instrument, 1.0f + 0.1f * (float)voice);
		lost += !fem_mixer_strike(player.mixer, voice, kicks, 100);
		if (i % 16 == 0)
			fem_thread_yield();
	}
	while (fem_mixer_level(player.mixer) == 0.0f)
		fem_thread_yield();
	atomic_store(&player.ends, true);
	fem_thread_join(thread);
	FEM_CHECK(player.bad == 0 && player.blocks > 0 && lost < 3000);
	fem_mixer_destroy(player.mixer);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}

// 16 bodies of 100 modes for a second of sound: at most 4 % of a core; 64 strikes in a tick all arrive.
FEM_TEST(sound, cost_of_a_full_mix) {
	FemModes modes;
	FemInstrument *instrument = hundred_modes(&modes);
	FemMixer *mixer = fem_mixer_create(16, RATE);
	float kicks[100], out[512];
	fem_instrument_strike(instrument, &tap, kicks, 100);
	for (int voice = 0; voice < 16; voice++)
		fem_mixer_set_voice(mixer, voice, instrument, 1.0f);
	for (int i = 0; i < 64; i++)
		FEM_CHECK(fem_mixer_strike(mixer, i % 16, kicks, 100));
	double least = INFINITY; // of parts of 1/8 s: what else the machine does is in most of them, not in all
	for (int part = 0; part < 16; part++) {
		double begin = fem_test_cpu_ms();
		for (int n = 0; n < RATE / 8; n += 512)
			fem_mixer_mix(mixer, out, 512, 1.0f);
		least = fmin(least, 8.0 * (fem_test_cpu_ms() - begin));
	}
	printf("  a second of 16 voices of 100 modes: %.1f ms\n", least);
	FEM_CHECK_TIME(least, 40.0);
	fem_mixer_destroy(mixer);
	fem_instrument_destroy(instrument);
	free_plain(&modes);
}
