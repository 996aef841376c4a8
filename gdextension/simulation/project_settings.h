// The addon's project settings, under physics/fem_destruction/.
#ifndef PROJECT_SETTINGS_H
#define PROJECT_SETTINGS_H

#include "fem_destruction.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct AddonSettings {
	int32_t worker_count;   // threads for a step; 0: see fem_default_worker_count()
	int32_t max_substeps;   // a tick longer than max_step is cut into at most so many parts
	double max_step;        // s
	bool ground_enabled;    // a solid half space below ground_height
	double ground_height;   // m
	double ground_friction; // Coulomb coefficient
	bool physics_on_thread; // Godot's setting physics/3d/run_on_separate_thread
	bool coupling_enabled;  // destructibles touch Godot's own bodies
	bool overlap;           // steps run while frames are drawn, and act on Godot's bodies one tick later
	uint32_t debug_view;    // set of FemDebugDrawFlag
	double budget_ms;       // a tick of all worlds; 0: as long as it takes
	int32_t budget_live_tets, budget_pieces, budget_contacts; // of each world; 0: no bound
	double character_force;                                   // N, with which a CharacterBody3D pushes at most
} AddonSettings;

// Makes the settings known to the editor, with their defaults, and reads them.
AddonSettings project_settings_load(void);

// Puts the settings that a world keeps for its life (sleep, solver, contact, fracture) into its def. Read anew for each
// world, so that a game may change them before it loads a level.
void project_settings_apply(FemWorldDef *def);

// Whether bakes of plain meshes are kept on disk, see bake_store.h. Read whenever it is asked.
bool project_settings_keep_bakes(void);

// What DestructibleBody.bake_in_background is of new bodies. Read whenever it is asked.
bool project_settings_bake_in_background(void);

#endif
