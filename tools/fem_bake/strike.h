// Modes of a baked mesh, and the sound of a strike as a file.
#ifndef FEM_BAKE_STRIKE_H
#define FEM_BAKE_STRIKE_H

#include "fem_bake/mode_options.h"
#include "fem_baking.h"

// Computes the modes, keeps them in the mesh and prints a line each. progress may be null.
FemResult fem_bake_modes(
	const FemModeOptions *options, float density, FemProgress *progress, void *context, FemBakedMesh *mesh);

// Strikes the mesh, whose modes are there, and writes what is heard.
FemResult fem_bake_strike(const FemModeOptions *options, const FemBakedMesh *mesh);

// 16 bits, mono, little-endian.
FemResult fem_write_wav(const char *path, const float *samples, int32_t count, int32_t sample_rate);

#endif
