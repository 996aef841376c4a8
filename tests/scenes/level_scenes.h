// Scenes of many breakable things with the values of the addon's materials, as a level has them.
#ifndef FEM_SCENES_LEVEL_SCENES_H
#define FEM_SCENES_LEVEL_SCENES_H

#include "scenes/scenes.h"

FemSceneBodies fem_build_vases(const FemScene *scene, FemWorldId world);
void fem_drive_vases(const FemSceneBodies *bodies, int32_t step, float dt);

#define FEM_LEVEL_SCENES \
	{ \
		.name = "vases8", .description = "8 ceramic vases of 200 elements on a floor, under one blast", \
		.build = fem_build_vases, .drive = fem_drive_vases, .young_modulus = 1e9f, .poisson_ratio = 0.22f, \
		.density = 2300.0f, .toughness = 1e6f, .fragment_size = 0.012f, .gravity = {0.0f, -9.81f, 0.0f}, \
		.body_count = 8, .spacing = 0.5f, .sleeping_enabled = true, .dt = 1.0f / 60.0f \
	}

#endif
