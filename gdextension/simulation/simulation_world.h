// One engine world: its bodies and materials. For the simulation's own files.
#ifndef SIMULATION_WORLD_H
#define SIMULATION_WORLD_H

#include "simulation/simulation.h"
#include "simulation/simulation_blasts.h"
#include "simulation/simulation_budget.h"

typedef struct MaterialEntry {
	GDExtensionObjectPtr resource; // null: the default material
	float density_scale;           // on its density: other than 1 for bodies whose mass was set
	FemMaterialId id;
	int32_t use_count;
} MaterialEntry;

// The engine's mesh of a DestructibleMesh, shared by its bodies. New data of the resource are another mesh.
typedef struct MeshEntry {
	GDExtensionObjectPtr resource;
	uint32_t revision;
	FemMeshId id;
	int32_t use_count;
} MeshEntry;

// Where a tick's step is.
typedef enum WorldStep {
	STEP_NONE,     // finished, or none
	STEP_PREPARED, // all is ready for it
	STEP_RUNNING,  // on the engine's threads
} WorldStep;

struct SimulationWorld {
	FemWorldId id;
	GDExtensionObjectPtr world_3d; // a reference: its space must outlive what the coupling puts into it
	GdRID space;                   // of the World3D
	uint32_t gravity_age;          // ticks
	float sleep_speed;             // m/s, below which things fall asleep
	SimulationBody **bodies;
	int32_t body_count, body_capacity;
	bool has_new_bodies; // since the last step
	MaterialEntry *materials;
	int32_t material_count, material_capacity;
	MeshEntry *meshes;
	int32_t mesh_count, mesh_capacity;
	BudgetState budget;
	Blasts blasts;
	struct Coupling *coupling; // with Godot's bodies; null before the first tick
	bool has_debug_view;
	GdRID debug_mesh, debug_instance; // of debug_view.c
	WorldStep step;                   // of a tick, while it is not finished
	double step_delta;                // s, of that tick
	double step_ms;                   // of it so far, by budget_now_ms()
	uint32_t step_errors;             // FemStepError bits of the last step
	uint32_t told_errors;             // those that the log has told of
};

bool simulation_world_add_body(SimulationWorld *world, SimulationBody *body);
void simulation_world_remove_body(SimulationWorld *world, SimulationBody *body);

// The engine's material for a resource, made when first used; each acquire needs a release.
FemMaterialId simulation_world_acquire_material(
	SimulationWorld *world, GDExtensionObjectPtr resource, float density_scale);
void simulation_world_release_material(SimulationWorld *world, GDExtensionObjectPtr resource, float density_scale);
void simulation_world_update_material(SimulationWorld *world, GDExtensionObjectPtr resource);

// The engine's mesh of a baked one, made when first used; null with fem_last_error() set. A box has one of its own.
// Both are given back by release.
struct DestructibleMesh;
FemMeshId simulation_world_acquire_mesh(SimulationWorld *world, struct DestructibleMesh *mesh);
FemMeshId simulation_make_box_mesh(FemWorldId world, const BodyShape *shape);
void simulation_world_release_mesh(SimulationWorld *world, FemMeshId id);

// The world of a World3D, or null.
SimulationWorld *simulation_find_world(GDExtensionObjectPtr world_3d);

// The world of a World3D, made when first used; null when there are too many or memory is short.
SimulationWorld *simulation_world_for(GDExtensionObjectPtr world_3d);

// What the view wants to know of each step, and whether the body must be shown after it. not_stepped: of a tick in
// which its world stood still.
void simulation_body_after_step(SimulationBody *body, float delta);
void simulation_body_not_stepped(SimulationBody *body);

// ---- simulation_detail.c
void simulation_world_choose_detail(SimulationWorld *world);      // before each step
FemDynamics simulation_body_dynamics(const SimulationBody *body); // its setting, or joined pieces where it is far

// ---- simulation_joined.c
void simulation_body_apply_dynamics(SimulationBody *body); // as its settings say, between steps
void simulation_body_cut_pieces(SimulationBody *body);     // anew, if it is one of joined pieces

// When the body was made; and after each step while body->awaited is not null. has_given: another body got its
// splinters in this tick. In simulation_splinters.c.
void simulation_body_find_splinters(SimulationBody *body, struct DestructibleMesh *mesh);
void simulation_body_await_splinters(SimulationBody *body, bool *has_given);

// Before each step; and when the body goes, or its modes are to be asked for anew. In simulation_modes.c.
void simulation_body_go_on_with_modes(SimulationBody *body, double delta);
void simulation_body_drop_modes(SimulationBody *body);

// Marks the body as cut when pieces came or went: they also do while it sleeps.
void simulation_body_count_pieces(SimulationBody *body);

// Whether a box is within a radius (m) of a point. In simulation_waking.c.
bool simulation_box_is_near(FemPosition low, FemPosition high, FemPosition center, double radius);

// Tells the log of what was lost in the last step, each kind once a world. In simulation_step_errors.c.
void simulation_report_step_errors(SimulationWorld *world);

// Whether pieces of the body are fading out: it must be shown though nothing moves.
bool simulation_body_fades(const SimulationBody *body);

// Hands its present shape to the renderer.
void simulation_body_show(SimulationBody *body);

#endif
