// The steps of one bake from file to file.
#ifndef FEM_BAKE_BAKE_H
#define FEM_BAKE_BAKE_H

#include "fem_bake/mode_options.h"
#include "fem_baking.h"

typedef struct FemBakeOptions {
	const char *in_path, *out_path, *vtk_path; // vtk_path: null for none
	int32_t elements, layers;
	float weld, thickness; // m
	float wall_thickness;  // m
	FemCutDef cut;         // splinters
	FemModeOptions modes;
	bool regions;  // one for each surface
	float density; // kg/m^3, for the mass that report_json tells, and for modes
	bool report, quiet;
	bool report_json; // one JSON object on standard output, and nothing else there
	bool terminal;    // progress may overwrite its line
} FemBakeOptions;

// The sentence of a failure is in fem_last_error(). An interrupt (Ctrl+C) cancels it, and nothing is written.
FemResult fem_bake_file(const FemBakeOptions *options);
bool fem_bake_was_cancelled(void);

#endif
