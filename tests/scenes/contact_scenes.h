// Scenes of things that touch: the pile of the yardstick, a stack, a rope on a spool, and rubble.
#ifndef FEM_SCENES_CONTACT_SCENES_H
#define FEM_SCENES_CONTACT_SCENES_H

#include "scenes/scenes.h"

FemSceneBodies fem_build_pile(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_stack(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_rope(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_rubble(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_heap(const FemScene *scene, FemWorldId world);
FemSceneBodies fem_build_shots(const FemScene *scene, FemWorldId world);
void fem_drive_shots(const FemSceneBodies *bodies, int32_t step, float dt);
void fem_drive_rope(const FemSceneBodies *bodies, int32_t step, float dt);

#define FEM_CONTACT_COMMON \
	.gravity = {0.0f, -9.81f, 0.0f}, .poisson_ratio = 0.3f, .density = 1000.0f, .dt = 1.0f / 60.0f

// Rows of the list in scenes.c.
#define FEM_CONTACT_SCENES \
	{.name = "pile27", \
		.description = "27 soft cubes of 500 tets dropped on a floor, E 1e5", \
		.build = fem_build_pile, \
		.cells = {4, 5, 5}, \
		.size = {0.2f, 0.25f, 0.25f}, \
		.young_modulus = 1e5f, \
		.body_count = 27, \
		FEM_CONTACT_COMMON}, \
		{.name = "stack", \
			.description = "5 cubes of 0.3 m on each other, E 1e7", \
			.build = fem_build_stack, \
			.cells = {3, 3, 3}, \
			.size = {0.3f, 0.3f, 0.3f}, \
			.young_modulus = 1e7f, \
			.body_count = 5, \
			FEM_CONTACT_COMMON}, \
		{.name = "rope", \
			.description = "a rope of 500 tets wound on a turning spool, E 1e6", \
			.build = fem_build_rope, \
			.drive = fem_drive_rope, \
			.cells = {100, 1, 1}, \
			.size = {4.0f, 0.04f, 0.04f}, \
			.young_modulus = 1e6f, \
			.body_count = 1, \
			FEM_CONTACT_COMMON}, \
		{.name = "heap", \
			.description = "cubes of 162 tets that fall in a heap, 64 or as many as --bodies says, E 1e7", \
			.build = fem_build_heap, \
			.cells = {3, 3, 3}, \
			.size = {0.2f, 0.2f, 0.2f}, \
			.young_modulus = 1e7f, \
			.body_count = 64, \
			FEM_CONTACT_COMMON}, \
		{.name = "shots", \
			.description = "16 cubes of 162 tets shot at 80 m/s along bumps of 10,000 triangles, or --triangles", \
			.build = fem_build_shots, \
			.drive = fem_drive_shots, \
			.cells = {3, 3, 3}, \
			.size = {0.2f, 0.2f, 0.2f}, \
			.young_modulus = 1e7f, \
			.body_count = 16, \
			.triangle_count = 10000, \
			FEM_CONTACT_COMMON}, \
	{ \
		.name = "rubble500", .description = "500 pieces of 15 to 60 tets that fall in a heap and go to sleep, E 1e7", \
		.build = fem_build_rubble, .young_modulus = 1e7f, .body_count = 500, .sleeping_enabled = true, \
		FEM_CONTACT_COMMON \
	}

#endif
