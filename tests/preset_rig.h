// The materials that come with the addon, read from their files.
#ifndef FEM_PRESET_RIG_H
#define FEM_PRESET_RIG_H

#include "fem_destruction.h"

typedef struct FemPreset {
	char text[8192]; // from [resource] on
	FemMaterialDef def;
	double strain;       // stated, at break; of fibres: across them
	double strain_along; // of fibres: along them, else 0
	// Stated of a tile (2 cm) or a block (10 cm) of 0.3 x 0.3 m that falls on an edge, m: from where it breaks, 0 if
	// from nowhere, and from where it does not.
	double breaks_from, whole_from;
	bool is_block;
	// m/s, stated of a ball on a slab of 5 cm between two supports: of 10 kg that go through, 0 if at no speed, and
	// of one that does not.
	double through_speed, stopped_speed;
	double stopped_mass; // kg
} FemPreset;

// Of addons/fem_destruction/materials/NAME.tres. False, with a failed check, when it is not there or states no strain.
bool fem_preset_load(const char *name, FemPreset *out);

#endif
