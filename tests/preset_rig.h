// The materials that come with the addon, read from their files.
#ifndef FEM_PRESET_RIG_H
#define FEM_PRESET_RIG_H

#include "fem_destruction.h"

typedef struct FemPreset {
	char text[8192]; // from [resource] on
	FemMaterialDef def;
	double strain;       // stated, at break; of fibres: across them
	double strain_along; // of fibres: along them, else 0
} FemPreset;

// Of addons/fem_destruction/materials/NAME.tres. False, with a failed check, when it is not there or states no strain.
bool fem_preset_load(const char *name, FemPreset *out);

#endif
