// The engine's side of the scene: one engine world for each World3D that has bodies, stepped once a physics tick.
//
// Everything here runs on Godot's main thread; the engine's workers touch only the engine's memory. A world is made
// for its first body and destroyed, threads joined, in the tick after its last body left.
//
// A tick: leave out what has left the tree, hold what is paused, take over gravity, step, then tell the nodes. Signals
// go out last, from a copy of the events, because a script may free nodes or change the scene in its answer.
#ifndef SIMULATION_H
#define SIMULATION_H

#include "body_shape.h"
#include "body_view.h"
#include "project_settings.h"

enum { SIMULATION_MATERIALS_MAX = 256 }; // regions of a body

typedef struct SimulationWorld SimulationWorld;

// How a body breaks, apart from its materials.
typedef struct BodyFracture {
	uint32_t seed;
	int32_t debris_cap;    // free pieces beyond this number are removed; 0: none are
	float debris_lifetime; // s after which a free piece is removed; 0: never
} BodyFracture;

// Part of a node. While `world` is not null the simulation holds a pointer to it.
typedef struct SimulationBody {
	SimulationWorld *world; // null: not simulated
	GDExtensionObjectPtr node;
	BodyView *view;
	FemBodyId body;
	FemMeshId mesh;
	GDExtensionObjectPtr *materials; // MaterialResource of each region, null for the default; the node holds references
	int32_t material_count;
	bool is_detached;              // its node is out of the tree; destroyed in the next tick unless it comes back
	bool is_moved;                 // since it was last shown
	bool is_cut;                   // faces opened or pieces went since it was last shown
	int32_t piece_count;           // after the last tick
	BodyFracture fracture;         // as last set
	FemVec3 *held_velocities;      // not null: paused while the world goes on; what it had
	int32_t held_count;            // nodes it had then
	bool was_asleep;               // when it was paused
} SimulationBody;

typedef struct SimulationBodyDef {
	GDExtensionObjectPtr world_3d;
	const GDExtensionObjectPtr *materials; // a MaterialResource or null for each region
	int32_t material_count;                // 1 or more
	GDExtensionObjectPtr mesh; // a baked DestructibleMesh, shared in the engine too; or null:
	const BodyShape *shape;
	FemPosition position;
	FemQuat rotation;
	FemVec3 scale;
	FemVec3 velocity;
	BodyFracture fracture;
	const GdAABB *anchors; // boxes in the node's own space: nodes in them are fixed
	int32_t anchor_count;
} SimulationBodyDef;

void simulation_start(AddonSettings settings);
void simulation_stop(void); // all worlds go

// False with fem_last_error() set. body->node and body->view must be set.
bool simulation_body_create(SimulationBody *body, const SimulationBodyDef *def);
void simulation_body_destroy(SimulationBody *body);

// True, and attached again, when the body is still there and belongs to this World3D.
bool simulation_body_attach(SimulationBody *body, GDExtensionObjectPtr world_3d);

// Materials for each region, of which there are as many as when the body was made. `tet_regions` is of the body's mesh,
// null for all 0.
void simulation_body_set_materials(
	SimulationBody *body, const GDExtensionObjectPtr *materials, const int32_t *tet_regions);

void simulation_body_set_fracture(SimulationBody *body, BodyFracture fracture);

// False with fem_last_error() set.
bool simulation_body_remove_piece(SimulationBody *body, FemPieceNumber piece);

// A MaterialResource has new values: hands them to every world that uses it.
void simulation_material_changed(GDExtensionObjectPtr material);

void simulation_tick(void);
void simulation_show(void); // sends moved bodies to the renderer

AddonSettings *simulation_settings(void);
void simulation_settings_changed(void);
int32_t simulation_worker_count(void); // in effect

// Not null: used instead of each World3D's own gravity.
void simulation_set_gravity_override(const FemVec3 *gravity);

// Sums over all worlds, for DestructionServer.get_statistics().
void simulation_statistics(GdDictionary *out);

#endif
