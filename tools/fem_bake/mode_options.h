// The options of the command line that ask for modes and for the sound of a strike.
#ifndef FEM_BAKE_MODE_OPTIONS_H
#define FEM_BAKE_MODE_OPTIONS_H

#include "fem_bake/cut_options.h"
#include "fem_basics.h"

typedef struct FemModeOptions {
	int32_t count;        // modes that are listed, rigid motions with them; 0: none are computed
	float young, poisson; // Pa; density is that of the bake
	float damping[2];     // s, 1/s: a1 and a2 of Rayleigh's
	float duration;       // s, of the striker's contact
	float seconds;        // of sound
	FemVec3 strike;       // m
	bool is_struck;
	const char *wav_path; // or null
} FemModeOptions;

FemModeOptions fem_default_mode_options(void);

// Bad ones have been complained about on stderr.
FemOptionResult fem_mode_option(const char *name, const char *value, FemModeOptions *out);
void fem_mode_options_help(void);

#endif
