#include "fem_bake/mode_options.h"

#include "fem_constants.h"
#include "fem_modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FemModeOptions fem_default_mode_options(void) {
	return (FemModeOptions){
		.young = 6.8e10f, .poisson = 0.33f, .damping = {1e-7f, 0.0f}, .duration = 1e-4f, .seconds = 3.0f};
}

void fem_mode_options_help(void) {
	printf("\nModes and sound, kept in the baked mesh:\n"
		   "  --modes N        print the lowest N modes, a line each, rigid motions as 0 Hz; up to %d\n"
		   "  --young E        Pa, default 6.8e10 (aluminium)\n"
		   "  --poisson X      0..0.49, default 0.33; --density as above\n"
		   "  --damping A,B    s and 1/s: a mode of angular frequency w dies at (A w^2 + B) / 2; default 1e-7,0\n"
		   "  --strike X,Y,Z   m, strike the node nearest to this point against its surface ...\n"
		   "  --wav FILE       ... and write the sound, 48 kHz, 16 bits, as loud as a file holds\n"
		   "  --striker T      s, how long the striker touches: 1e-4 steel, 1e-3 wood, 5e-3 a fist; default 1e-4\n"
		   "  --seconds T      of sound, default 3\n",
		FEM_MODES_MAX);
}

// Numbers with commas between, each in range.
static bool read_numbers(const char *text, int count, double low, double high, float *out) {
	for (int n = 0; n < count; n++) {
		char *end = NULL;
		double value = text ? strtod(text, &end) : 0.0;
		if (!text || end == text || !(value >= low && value <= high) || *end != (n < count - 1 ? ',' : '\0'))
			return false;
		out[n] = (float)value;
		text = end + 1;
	}
	return true;
}

static FemOptionResult complain(const char *name, const char *needs, const char *value) {
	fprintf(stderr, "fem_bake: %s needs %s, not \"%s\".\n", name, needs, value ? value : "");
	return FEM_OPTION_BAD;
}

FemOptionResult fem_mode_option(const char *name, const char *value, FemModeOptions *out) {
	float numbers[3];
	if (strcmp(name, "--modes") == 0) {
		if (!read_numbers(value, 1, 1.0, FEM_MODES_MAX, numbers) || numbers[0] != (float)(int32_t)numbers[0])
			return complain(name, "a whole number from 1 to 1000", value);
		out->count = (int32_t)numbers[0];
	} else if (strcmp(name, "--young") == 0) {
		if (!read_numbers(value, 1, 1.0, 1e13, &out->young))
			return complain(name, "a number from 1 to 1e13 (Pa)", value);
	} else if (strcmp(name, "--poisson") == 0) {
		if (!read_numbers(value, 1, 0.0, 0.49, &out->poisson))
			return complain(name, "a number from 0 to 0.49", value);
	} else if (strcmp(name, "--damping") == 0) {
		if (!read_numbers(value, 2, 0.0, 1e6, out->damping))
			return complain(name, "two numbers of 0 or more with a comma between", value);
	} else if (strcmp(name, "--striker") == 0) {
		if (!read_numbers(value, 1, 0.0, 1.0, &out->duration))
			return complain(name, "a number from 0 to 1 (s)", value);
	} else if (strcmp(name, "--seconds") == 0) {
		if (!read_numbers(value, 1, 0.01, 600.0, &out->seconds))
			return complain(name, "a number from 0.01 to 600", value);
	} else if (strcmp(name, "--strike") == 0) {
		if (!read_numbers(value, 3, -(double)FEM_REST_MAX, (double)FEM_REST_MAX, numbers))
			return complain(name, "three numbers with commas between (m)", value);
		out->strike = (FemVec3){numbers[0], numbers[1], numbers[2]};
		out->is_struck = true;
	} else if (strcmp(name, "--wav") == 0) {
		out->wav_path = value;
		return value ? FEM_OPTION_GOOD : complain(name, "a file", value);
	} else
		return FEM_OPTION_UNKNOWN;
	return FEM_OPTION_GOOD;
}
