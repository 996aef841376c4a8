// A thing as what can be struck: its loudest modes with pitch, decay and radiation, and where each moves.
#ifndef FEM_MODES_INSTRUMENT_H
#define FEM_MODES_INSTRUMENT_H

#include "fem_sound.h"

struct FemInstrument {
	int32_t mode_count, node_count;
	float *frequency; // [mode]: rad/s, damped
	float *decay;     // [mode]: 1/s
	float *pressure;  // [mode]: Pa at 1 m for a speed of 1 kg^1/2 m/s of the mode
	float *shapes;    // [mode][node][3]: kg^-1/2
};

#endif
