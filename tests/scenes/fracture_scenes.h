// Scenes of things that break. Toughness is a stress; moduli are softened as in O'Brien & Hodgins 1999, table 1, so
// that waves and swings can be seen at 60 steps a second, and toughness with them: glass, adobe and pottery break at a
// strain of a thousandth or less to some thousandths, wood and what yields at more.
#ifndef FEM_SCENES_FRACTURE_SCENES_H
#define FEM_SCENES_FRACTURE_SCENES_H

#include "scenes/scenes.h"

#define FEM_BLAST_STEP 10 // of glass2400: the benchmark's first timed step

FemSceneBodies fem_build_glass(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_wall(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_joined(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_slab(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_pole(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_bowl(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_panel(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_ductile(const FemScene *scene, FemWorldId world);
void fem_drive_glass(const FemSceneBodies *bodies, int32_t step, float dt);
void fem_drive_balls(const FemSceneBodies *bodies, int32_t step, float dt);
void fem_drive_pole(const FemSceneBodies *bodies, int32_t step, float dt);
void fem_drive_panel(const FemSceneBodies *bodies, int32_t step, float dt);

#define FEM_FRACTURE_COMMON \
	.gravity = {0.0f, -9.81f, 0.0f}, .has_ground = true, .sleeping_enabled = true, .dt = 1.0f / 60.0f

#define FEM_BOWL \
	.build = fem_build_bowl, .cells = {10, 10, 1}, .young_modulus = 9.5e6f, .poisson_ratio = 0.2f, .density = 1013.0f, \
	.plate_correction = 1.0f, .body_count = 1, FEM_FRACTURE_COMMON

// Rows of the list in scenes.c.
#define FEM_FRACTURE_SCENES \
	{.name = "glass2400", \
		.description = "a room of 16 panes in frames, 2,400 tets, blown up from inside at step 10", \
		.build = fem_build_glass, \
		.drive = fem_drive_glass, \
		.cells = {5, 5, 1}, \
		.size = {1.1f, 1.1f, 0.012f}, \
		.young_modulus = 1e9f, \
		.poisson_ratio = 0.25f, \
		.density = 2588.0f, \
		.toughness = 7e5f, \
		.plate_correction = 1.0f, \
		.body_count = 16, \
		FEM_FRACTURE_COMMON}, \
		{.name = "wall", \
			.description = "an adobe wall of 1,109 tets that stands on the ground, struck by a ball", \
			.build = fem_build_wall, \
			.drive = fem_drive_balls, \
			.cells = {10, 9, 2}, \
			.size = {2.5f, 2.25f, 0.3f}, \
			.young_modulus = 5e7f, \
			.poisson_ratio = 0.2f, \
			.density = 2309.0f, \
			.toughness = 1.5e5f, \
			.body_count = 1, \
			FEM_FRACTURE_COMMON}, \
		{.name = "slab", \
			.description = "a slab held at both ends, struck in the middle by a ball of 80 kg", \
			.build = fem_build_slab, \
			.drive = fem_drive_balls, \
			.cells = {16, 2, 6}, \
			.size = {1.6f, 0.1f, 0.6f}, \
			.young_modulus = 5e8f, \
			.poisson_ratio = 0.22f, \
			.density = 2500.0f, \
			.toughness = 1.6e5f, \
			.fragment_size = 0.075f, \
			.seed = 3, \
			.body_count = 1, \
			FEM_FRACTURE_COMMON}, \
		{.name = "joined1000", \
			.description = "a wall of 1,000 joined rigid bricks that stands on the ground", \
			.build = fem_build_joined, \
			.cells = {40, 25, 1}, \
			.size = {8.0f, 5.0f, 0.2f}, \
			.young_modulus = 1e9f, \
			.poisson_ratio = 0.2f, \
			.density = 2000.0f, \
			.toughness = 5e5f, \
			.body_count = 1, \
			FEM_FRACTURE_COMMON}, \
		{.name = "tower300", \
			.description = "a tower of 300 joined rigid blocks, struck by a ball of 500 kg", \
			.build = fem_build_joined, \
			.drive = fem_drive_balls, \
			.cells = {4, 25, 3}, \
			.size = {1.2f, 7.5f, 0.9f}, \
			.young_modulus = 1e9f, \
			.poisson_ratio = 0.2f, \
			.density = 2000.0f, \
			.toughness = 1e5f, \
			.body_count = 1, \
			FEM_FRACTURE_COMMON}, \
		{.name = "grown300", \
			.description = "a weak tower of 300 joined pieces grown from seeds, struck by a ball of 500 kg", \
			.build = fem_build_joined, \
			.drive = fem_drive_balls, \
			.cells = {3, 38, 3}, \
			.size = {1.5f, 15.2f, 1.5f}, \
			.young_modulus = 1e9f, \
			.poisson_ratio = 0.2f, \
			.density = 2000.0f, \
			.toughness = 2e4f, \
			.body_count = 1, \
			.piece_count = 300, \
			FEM_FRACTURE_COMMON}, \
		{.name = "pole", \
			.description = "a tough pole twisted at both ends until it bursts", \
			.build = fem_build_pole, \
			.drive = fem_drive_pole, \
			.cells = {3, 24, 3}, \
			.size = {0.2f, 2.0f, 0.2f}, \
			.young_modulus = 2e8f, \
			.poisson_ratio = 0.3f, \
			.density = 700.0f, \
			.toughness = 1.2e7f, \
			.body_count = 1, \
			FEM_FRACTURE_COMMON}, \
		{.name = "bowls1", \
			.description = "a bowl dropped on the ground, toughness of brittle 1999's first", \
			FEM_BOWL, \
			.toughness = 3.97e4f}, \
		{.name = "bowls2", .description = "the same bowl, less tough", FEM_BOWL, .toughness = 2.97e4f}, \
		{.name = "bowls3", .description = "the same bowl, less tough again", FEM_BOWL, .toughness = 2.48e4f}, \
		{.name = "bowls4", \
			.description = "the same bowl, a quarter as tough as the first", \
			FEM_BOWL, \
			.toughness = 9.9e3f}, \
		{.name = "panel", \
			.description = "a wooden panel with upright grain, battered by a ram", \
			.build = fem_build_panel, \
			.drive = fem_drive_panel, \
			.cells = {10, 14, 1}, \
			.size = {1.0f, 1.4f, 0.03f}, \
			.young_modulus = 1e9f, \
			.poisson_ratio = 0.3f, \
			.density = 600.0f, \
			.toughness = 5e6f, \
			.plate_correction = 1.0f, \
			.body_count = 1, \
			FEM_FRACTURE_COMMON}, \
	{ \
		.name = "ductile", .description = "eight walls struck by heavy balls, brittle to yielding (ductile 2002)", \
		.build = fem_build_ductile, .drive = fem_drive_balls, .cells = {6, 6, 1}, .size = {1.2f, 1.2f, 0.1f}, \
		.young_modulus = 2e7f, .poisson_ratio = 0.25f, .density = 1000.0f, .toughness = 4e5f, .body_count = 8, \
		FEM_FRACTURE_COMMON \
	}

#endif
