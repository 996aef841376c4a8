#include "modes/instrument.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/mode_data.h"

#include <math.h>
#include <string.h>

#define HEARD_MIN 20.0          // Hz: what ears hear ...
#define HEARD_MAX 20000.0       // ... at both ends
#define BRIGHTNESS_PITCH 1000.0 // Hz, where brightness changes nothing; chosen
#define BRIGHTNESS_MAX 60.0     // dB an octave; more would only be a slip
// Pa s/m^3: pressure at 1 m of a surface that moves so many m^3/s, each bit of it as if it were a plane wave spread
// over the sphere: rho c / (4 pi (1 m)^2) of air. Modes move both ways at once, so this is more than they give; so do
// all.
#define PRESSURE_PER_FLOW 32.9
#define RINGING_SHARE \
	0.1 // of a blow's energy at most that rings; chosen: steel balls on plates give some 0.05 (Reed 1985)

FemInstrumentDef fem_default_instrument_def(void) {
	return (FemInstrumentDef){.stiffness_damping = 1e-7f, .mode_max = 100};
}

typedef struct Candidate {
	int32_t mode;
	double frequency, decay, pressure; // as in FemInstrument
} Candidate;

static bool is_heard(const FemModes *modes, int32_t k, const FemInstrumentDef *def, Candidate *out) {
	double lambda = modes->eigenvalues[k];
	double decay = 0.5 * ((double)def->stiffness_damping * lambda + (double)def->mass_damping);
	double square = lambda - decay * decay;
	if (!(square > 0.0))
		return false;
	double frequency = sqrt(square), hertz = frequency / FEM_CIRCLE;
	double brightness = pow(10.0, (double)def->brightness / 20.0 * log2(hertz / BRIGHTNESS_PITCH));
	// radiation is that of a displacement: omega times the flow of a speed of 1.
	double flow = (double)modes->radiation[k] / sqrt(lambda);
	*out = (Candidate){k, frequency, decay, flow * PRESSURE_PER_FLOW * brightness};
	return hertz >= HEARD_MIN && hertz <= HEARD_MAX && isfinite(out->pressure);
}

// How loud a mode can be: struck where it moves most.
static double loudness(const FemModes *modes, const Candidate *candidate) {
	double largest = 0.0;
	const float *shape = fem_mode_shape(modes, candidate->mode, 0);
	for (int64_t i = 0; i < 3 * (int64_t)modes->node_count; i++)
		largest = fabs((double)shape[i]) > largest ? fabs((double)shape[i]) : largest;
	return largest * candidate->pressure;
}

// Drops the quietest until mode_max are left. Modes are few.
static int32_t keep_loudest(const FemModes *modes, Candidate *candidates, int32_t count, int32_t wanted) {
	while (count > wanted) {
		int32_t quietest = 0;
		double least = INFINITY;
		for (int32_t i = 0; i < count; i++) {
			double level = loudness(modes, &candidates[i]);
			if (level < least) {
				least = level;
				quietest = i;
			}
		}
		memmove(candidates + quietest, candidates + quietest + 1, sizeof *candidates * (size_t)(count - quietest - 1));
		count--;
	}
	return count;
}

static bool reserve(FemInstrument *instrument, int32_t modes, int32_t nodes) {
	instrument->mode_count = modes;
	instrument->node_count = nodes;
	instrument->frequency = FEM_ALLOC_ARRAY(float, modes + 1);
	instrument->decay = FEM_ALLOC_ARRAY(float, modes + 1);
	instrument->pressure = FEM_ALLOC_ARRAY(float, modes + 1);
	instrument->shapes = FEM_ALLOC_ARRAY(float, 3 * (int64_t)nodes * modes + 1);
	return instrument->frequency && instrument->decay && instrument->pressure && instrument->shapes;
}

static bool is_def(const FemInstrumentDef *def) {
	return def && def->stiffness_damping >= 0.0f && def->stiffness_damping < INFINITY && def->mass_damping >= 0.0f &&
		def->mass_damping < INFINITY && fabs((double)def->brightness) <= BRIGHTNESS_MAX && def->mode_max >= 1 &&
		def->mode_max <= FEM_VOICE_MODES_MAX;
}

static FemInstrument *make(const FemModes *modes, const Candidate *candidates, int32_t count) {
	FemInstrument *instrument = FEM_ALLOC_ARRAY(FemInstrument, 1);
	if (!instrument || !reserve(instrument, count, modes->node_count)) {
		fem_instrument_destroy(instrument);
		return NULL;
	}
	for (int32_t i = 0; i < count; i++) {
		instrument->frequency[i] = (float)candidates[i].frequency;
		instrument->decay[i] = (float)candidates[i].decay;
		instrument->pressure[i] = (float)candidates[i].pressure;
		memcpy(instrument->shapes + (size_t)i * 3 * (size_t)modes->node_count,
			fem_mode_shape(modes, candidates[i].mode, 0), sizeof(float) * 3 * (size_t)modes->node_count);
	}
	return instrument;
}

FemInstrument *fem_instrument_create(const FemModes *modes, const FemInstrumentDef *def) {
	if (!modes || !is_def(def)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"An instrument needs modes, dampings of 0 or more, a brightness of -%g..%g dB and a mode_max of 1..%d.",
			BRIGHTNESS_MAX, BRIGHTNESS_MAX, FEM_VOICE_MODES_MAX);
		return NULL;
	}
	int32_t count = 0;
	Candidate *candidates = FEM_ALLOC_ARRAY(Candidate, modes->mode_count + 1);
	for (int32_t k = 0; candidates && k < modes->mode_count; k++)
		count += is_heard(modes, k, def, &candidates[count]);
	FemInstrument *instrument = NULL;
	if (candidates)
		instrument = make(modes, candidates, keep_loudest(modes, candidates, count, def->mode_max));
	FEM_FREE_ARRAY(candidates, modes->mode_count + 1);
	if (!instrument)
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for an instrument: close other programs.");
	return instrument;
}

void fem_instrument_destroy(FemInstrument *instrument) {
	if (!instrument)
		return;
	FEM_FREE_ARRAY(instrument->frequency, instrument->mode_count + 1);
	FEM_FREE_ARRAY(instrument->decay, instrument->mode_count + 1);
	FEM_FREE_ARRAY(instrument->pressure, instrument->mode_count + 1);
	FEM_FREE_ARRAY(instrument->shapes, 3 * (int64_t)instrument->node_count * instrument->mode_count + 1);
	FEM_FREE_ARRAY(instrument, 1);
}

int32_t fem_instrument_mode_count(const FemInstrument *instrument) {
	return instrument ? instrument->mode_count : 0;
}

double fem_instrument_frequency(const FemInstrument *instrument, int32_t mode) {
	return mode >= 0 && mode < fem_instrument_mode_count(instrument) ? (double)instrument->frequency[mode] / FEM_CIRCLE
																	 : 0.0;
}

double fem_instrument_decay(const FemInstrument *instrument, int32_t mode) {
	return mode >= 0 && mode < fem_instrument_mode_count(instrument) ? (double)instrument->decay[mode] : 0.0;
}

// ---- striking

// kg^1/2 m/s: the speed that a blow gives a mode, W^T U^T f dt.
static double mode_speed(const FemInstrument *instrument, int32_t mode, const FemStrike *strike) {
	double sum = 0.0;
	const float *shape = instrument->shapes + (size_t)mode * 3 * (size_t)instrument->node_count;
	for (int v = 0; v < 4; v++) {
		int32_t node = strike->nodes[v];
		if (node < 0 || node >= instrument->node_count || strike->weights[v] == 0.0f)
			continue;
		const float *w = shape + 3 * (size_t)node;
		sum += (double)strike->weights[v] *
			((double)w[0] * (double)strike->impulse.x + (double)w[1] * (double)strike->impulse.y +
				(double)w[2] * (double)strike->impulse.z);
	}
	// A force that follows a Gaussian in time has less of high pitches: its Fourier transform.
	double width = (double)strike->duration * (double)instrument->frequency[mode];
	return sum * exp(-0.5 * width * width);
}

int32_t fem_instrument_strike(
	const FemInstrument *instrument, const FemStrike *strike, float *out_kicks, int32_t capacity) {
	int32_t count = fem_instrument_mode_count(instrument);
	if (!strike || !out_kicks || capacity < count)
		return count;
	double energy = 0.0;
	bool finite = true;
	for (int32_t k = 0; k < count; k++) {
		double speed = mode_speed(instrument, k, strike);
		finite = finite && isfinite(speed) && fabs(speed) < 1e18;
		energy += 0.5 * speed * speed;
		out_kicks[k] = finite ? (float)(speed * (double)instrument->pressure[k]) : 0.0f;
	}
	double most = RINGING_SHARE * (double)strike->energy;
	double factor = !finite ? 0.0 : most > 0.0 && energy > most ? sqrt(most / energy) : 1.0;
	for (int32_t k = 0; k < count; k++)
		out_kicks[k] = finite ? (float)((double)out_kicks[k] * factor) : 0.0f;
	return count;
}
