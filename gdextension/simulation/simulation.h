// The engine's side of the scene: one engine world for each World3D that has bodies, stepped once a physics tick.
//
// Everything here runs on Godot's main thread; the engine's workers touch only the engine's memory. A world is made
// for its first body and destroyed, threads joined, in the tick after its last body left, or when the scene tree ends.
// Until then it holds a reference to its World3D: what it keeps in the physics server goes before that one's space.
//
// A tick: leave out what has left the tree, hold what is paused, take over gravity, step, then tell the nodes. Signals
// go out last, from a copy of the events, because a script may free nodes or change the scene in its answer.
#ifndef SIMULATION_H
#define SIMULATION_H

#include "drawing/body_shape.h"
#include "drawing/body_view.h"
#include "fem_baking.h"
#include "simulation/project_settings.h"

enum { SIMULATION_MATERIALS_MAX = 256 }; // regions of a body

typedef struct SimulationWorld SimulationWorld;

enum { BODY_EXCEPTIONS_MAX = 16 }; // nodes that a body passes through; chosen

// What a user may change of a body during play, apart from its shape and materials.
typedef struct BodySettings {
	bool freeze;                              // stands still whatever happens
	float gravity_scale;                      // on its world's gravity
	uint32_t layer, mask;                     // collision layers it is in, and looks for
	bool self_contact;                        // touches itself where it folds
	FemDynamics dynamics;                     // how its pieces move
	int32_t mode_count;                       // that it moves by at most, where it does by modes
	int32_t rigid_piece_count;                // of DYNAMICS_RIGID_PIECES; 0: by its splinters
	float energy_release;                     // share of the energy of a broken joint that is given back
	float breaks_per_second;                  // joints; 0: no limit
	float rigid_pieces_distance;              // m from the camera, beyond which it is joined pieces; 0: never
	bool refine_on_break;                     // pieces that broke off go on to break by finite elements
	uint64_t exceptions[BODY_EXCEPTIONS_MAX]; // instance ids of nodes that it passes through
	int32_t exception_count;
	float impact_speed_min; // m/s: slower impacts are not told
	float strength_scale;   // on the toughness of its materials
	float mass_override;    // kg, when it is built; 0: by the density of its materials
	bool invulnerable;      // does not break
	uint32_t fracture_seed;
	int32_t debris_cap;      // free pieces beyond this number are removed; 0: none are
	float debris_lifetime;   // s after which a free piece is removed; 0: never
	float debris_fade;       // s before that in which it fades
	double splinter_blend;   // s in which a vertex of a splinter goes to where its new owner has it; 0: at once
	bool bake_in_background; // nothing waits for bakes and cuts
} BodySettings;

// What the coupling with Godot's bodies knows of a body.
typedef struct BodyRegion {
	float low[3], high[3]; // m, the box last asked about
	double middle2[3];     // m, twice the middle of the body's box then
	uint32_t tick;         // when that was
	int32_t query_count;
	bool has_box;
	FemPosition box_low, box_high; // m, the body's own box before this tick's step
	int32_t cells[6];              // of the discovery's grid, from and to, that the box with a margin reaches into
	struct BodyProxies *proxies;   // what stands for its pieces in Godot's physics; null: nothing yet
	bool was_asleep;               // when they were last moved
} BodyRegion;

// The modes of a body that moves by them, while they are computed.
typedef struct BodyModes {
	struct FemModesJob *job; // null: none is under way
	int32_t *nodes;          // of the body, in the order of the modes
	int32_t attempts;        // that came to nothing, in a row
	int32_t count;           // that were asked for
	bool has_failed;         // it has none, and was told so
} BodyModes;

// Part of a node, which sets node, view and settings. While `world` is not null the simulation holds a pointer to it.
typedef struct SimulationBody {
	SimulationWorld *world; // null: not simulated
	GDExtensionObjectPtr node;
	BodyView *view;
	FemBodyId body;
	FemMeshId mesh;
	GDExtensionObjectPtr *materials; // MaterialResource of each region, null for the default; the node holds references
	int32_t material_count;
	float density_scale; // on the density of its materials, for the mass that was set
	FemVec3 scale;       // of its mesh
	bool is_detached;    // its node is out of the tree; destroyed in the next tick unless it comes back
	bool is_moved;       // since it was last shown
	bool has_moved;      // in the last tick
	bool is_far;         // it moves as joined pieces for being far from the camera
	bool is_cut;         // faces opened or pieces went since it was last shown
	int32_t piece_count; // after the last tick
	BodySettings settings;
	FemVec3 *held_velocities;         // not null: paused while the world goes on; what it had
	int32_t held_count;               // nodes it had then
	bool was_asleep;                  // when it was paused
	struct DestructibleMesh *awaited; // its mesh, while that is cut into splinters; else null
	BodyRegion region;
	BodyModes modes;
	struct NodeAttachment *attachments; // nodes attached to it
	int32_t attachment_count;
} SimulationBody;

typedef struct SimulationBodyDef {
	GDExtensionObjectPtr world_3d;
	const GDExtensionObjectPtr *materials; // a MaterialResource or null for each region
	int32_t material_count;                // 1 or more
	GDExtensionObjectPtr mesh;             // a baked DestructibleMesh, shared in the engine too; or null:
	const BodyShape *shape;
	FemPosition position;
	FemQuat rotation;
	FemVec3 scale;
	FemVec3 velocity;         // m/s
	FemVec3 angular_velocity; // rad/s
	bool starts_asleep;
	const GdAABB *anchors; // boxes in the node's own space: nodes in them are fixed
	int32_t anchor_count;
} SimulationBodyDef;

void simulation_start(AddonSettings settings);
void simulation_stop(void); // all worlds go

// False with a sentence in out_message. body->node and body->view must be set.
bool simulation_body_create(SimulationBody *body, const SimulationBodyDef *def, char *out_message, size_t capacity);
void simulation_body_destroy(SimulationBody *body);

// For a new view of a body: shows its splinters if it has any of this DestructibleMesh. is_broken: as they are now.
void simulation_body_show_splinters(SimulationBody *body, GDExtensionObjectPtr mesh, bool is_broken);

// True, and attached again, when the body is still there and belongs to this World3D.
bool simulation_body_attach(SimulationBody *body, GDExtensionObjectPtr world_3d);

// Materials for each region, of which there are as many as when the body was made.
void simulation_body_set_materials(SimulationBody *body, const GDExtensionObjectPtr *materials);

// Hands body->settings to the engine; freeze takes effect in the next tick.
void simulation_body_apply_settings(SimulationBody *body);

// Lets a body stand still while its world goes on, and go on as it was.
void simulation_body_hold(SimulationBody *body, bool hold);

// Before an impulse (N s) at a point, or a blast: wakes the pieces that it can move.
void simulation_body_wake_struck(SimulationBody *body, FemPosition point, float impulse);
void simulation_body_wake_near(SimulationBody *body, FemPosition center, double radius);

// Puts the body into a state that fem_body_save() wrote. False with fem_last_error() set.
bool simulation_body_load(SimulationBody *body, const void *data, size_t size);

// False with fem_last_error() set.
bool simulation_body_remove_piece(SimulationBody *body, FemPieceNumber piece);

// A MaterialResource has new values: hands them to every world that uses it.
void simulation_material_changed(GDExtensionObjectPtr material);

// What the engine makes of baked tets, without a layout.
FemMeshDef simulation_mesh_def(const FemTetArrays *tets);

// Bodies whose nodes left the tree go, and worlds without bodies: at the start of each tick, and when the tree ends.
void simulation_drop_detached(void);

void simulation_tick(void);

// Ends steps that run beside the drawing of a frame, and takes over what came of them: before anything is asked of a
// world, or told it. Nothing on other threads than that of the ticks, whose bodies are in no world yet.
void simulation_finish_steps(void);
void simulation_show(void); // sends moved bodies to the renderer

// A blast in the engine's world of a World3D; returns how many bodies it reached, or -1 with fem_last_error() set.
int32_t simulation_explode(GDExtensionObjectPtr world_3d, FemPosition center, float radius, float strength);

// The body whose surface a ray meets first, or null. Positions are those of the last tick.
const SimulationBody *simulation_cast_ray(
	GDExtensionObjectPtr world_3d, FemPosition from, FemVec3 translation, FemHit *out);

// N, that destructibles gave a rigid body in the last tick.
GdVector3 simulation_rigid_force(GDExtensionObjectPtr node);

// The MaterialResource behind a material of the engine; null for the default one.
GDExtensionObjectPtr simulation_material_resource(const SimulationBody *body, FemMaterialId id);

AddonSettings *simulation_settings(void);
void simulation_settings_changed(void);
int32_t simulation_worker_count(void); // in effect

// Not null: used instead of each World3D's own gravity.
void simulation_set_gravity_override(const FemVec3 *gravity);

// For statistics.
typedef struct SimulationTimes {
	double draw_ms, owners_ms; // of the last frame
	double sound_ms;           // of the last tick
} SimulationTimes;

int32_t simulation_world_count(void);
SimulationWorld *simulation_world_at(int32_t index);
SimulationTimes simulation_times(void);

// Sums over all worlds, for DestructionServer.get_statistics().
void simulation_statistics(GdDictionary *out);

#endif
