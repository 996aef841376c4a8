// fem_destruction: real-time deformation and fracture by finite elements. The public API of the engine, with the
// headers it includes.
//
// Method: Parker & O'Brien 2009, "Real-Time Deformation and Fracture in a Game Environment" (P&O09).
//
// Conventions
//   Units are SI, y is up. Rotations are unit quaternions (x, y, z, w).
//   World positions are double; shapes and offsets are float relative to a double origin, so that a body behaves the
//   same 10 km from the world's origin.
//   Ids are values with a generation; {0} is the null id. Every function takes freed, null or foreign ids: it then does
//   nothing and answers FEM_ERROR_INVALID_ID (or zero, or false, where it returns a value).
//   Functions that can fail return FemResult or a null id; fem_last_error() then holds one sentence with the cause and
//   the remedy. Numbers that are not finite are answered with FEM_ERROR_INVALID_ARGUMENT and change nothing.
//   Creation takes a def made by fem_default_*_def(); a def made otherwise is refused.
//   A function that fills an array returns how many there are and writes at most as many as there is room for; with a
//   null array it only counts. What is of no use in parts (saved states, layouts) is written whole or not at all. A
//   function that sets a pointer instead (events, changes, shapes) copies nothing: what it points to is valid until the
//   next step.
//
// Threads: the same rules for every body, whatever it is made of.
//   A world, with all in it, is used by one thread at a time, whichever that is. Different worlds may be used by
//   different threads at once. Between fem_world_step_begin() and fem_world_step_end() the functions marked [any time]
//   may be called on the world and tell of the last finished step; all others answer FEM_ERROR_STEPPING (or zero, or
//   false) and change nothing. Functions that take no world and nothing in one (defs, names, fem_last_error(), baking)
//   may be called on any thread; the hooks of fem_hooks.h are set while no other call is under way.
#ifndef FEM_DESTRUCTION_H
#define FEM_DESTRUCTION_H

#include "fem_basics.h"
#include "fem_budget.h"
#include "fem_colliders.h"
#include "fem_fracture.h"
#include "fem_hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of this header and the library that it came with.
#define FEM_VERSION_MAJOR 0
#define FEM_VERSION_MINOR 1
#define FEM_VERSION_PATCH 0

// ---- world

// What may go wrong within a step. Returned as a set of bits, of all substeps together. Except after FEM_STEP_BAD_WORLD
// the step has been completed and the next one may follow: no bit needs an answer.
typedef enum FemStepError {
	FEM_STEP_OK = 0,

	// Freed id, a step under way, none to end, or dt not finite or <= 0: nothing was stepped, and fem_last_error() says
	// why.
	FEM_STEP_BAD_WORLD = 1 << 0,

	// Positions or velocities were no longer finite. The body, and all that touched it, was put back to where the last
	// step left it, with the velocities of then and without the forces set since (FEM_EVENT_ROLLED_BACK tells which).
	// Smaller forces, a lower Young's modulus, more damping or a smaller dt help.
	FEM_STEP_BODY_ROLLED_BACK = 1 << 1,

	// A solve stopped at its cap of iterations, and what it had by then was taken, as far as it adds no energy: things
	// are a little softer, or deform less, and sink a little deeper into each other than they should. Harmless now and
	// then, as in the step of a blow; if it lasts, raise FemMaterialDef.max_iterations, or lower the modulus.
	FEM_STEP_SOLVER_CAPPED = 1 << 2,

	// A node was faster than FemWorldDef.node_speed_max and was braked to it, or a free piece rotated by more than 0.8
	// rad in the step and lost the excess of its spin. Usual for splinters. Raise the limit, or take a smaller dt.
	FEM_STEP_SPEED_CLAMPED = 1 << 3,

	// More bodies slept, woke or were rolled back, more faces opened, or more pieces came off than are told of in a
	// step: the first are told, the rest are dropped. The simulation itself lacks nothing; read what there is from the
	// bodies.
	FEM_STEP_EVENTS_FULL = 1 << 4,

	// More contacts, or pairs of pieces that may touch, than there is room for: the smallest overlaps were dropped, and
	// some things may sink into each other. Raise FemWorldDef.contact_capacity, or keep fewer pieces
	// (FemBodyDef.piece_limit).
	FEM_STEP_CONTACTS_FULL = 1 << 5,

	// The system gave no memory: nothing moved in this step, or something that should have broken did not. It is tried
	// again in the next one.
	FEM_STEP_NO_MEMORY = 1 << 6,
} FemStepError;

// Friction between bodies and with colliders. The built-in ground always has Coulomb's.
typedef enum FemFrictionMode {
	FEM_FRICTION_COULOMB = 0, // implicit, bounded by the contact's own normal force
	FEM_FRICTION_PAPER,       // P&O09 section 6: bounded by a share of the touching bodies' weight, none on vertical
							  // walls; below a threshold speed an explicit controller holds, after some mm of slip
} FemFrictionMode;

typedef struct FemWorldDef {
	FemVec3 gravity;          // m/s^2, default (0, -9.81, 0)
	int32_t worker_count;     // threads that compute a step, the caller's included; default 1, clamped to 1..64
	bool sleeping_enabled;    // default true
	float sleep_speed;        // m/s, an island whose nodes all stay below this ... default 0.03
	int32_t sleep_steps;      // ... for so many steps goes to sleep; default 30
	float wake_force_factor;  // a force above this times (node mass x |gravity|) wakes a sleeper; default 0.25
	float node_speed_max;     // m/s, clamp for stability, default 500
	float solver_tolerance;   // residual relative to the right-hand side, preconditioned norm; default 1e-3
	bool ground_enabled;      // a solid half space y <= ground_height; default false
	double ground_height;     // m
	float ground_friction;    // Coulomb coefficient, default 0.5
	bool contacts_enabled;    // bodies touch each other and colliders; default true
	int32_t contact_capacity; // contacts a step, default 16384; the smallest overlaps are dropped beyond
	float contact_push; // share of the depth pushed out in 1/60 s, or in a longer step; default 0.2; 0 = the paper's,
						// which sinks
	FemFrictionMode friction_mode; // default Coulomb
	int32_t fracture_interval;     // fracture is looked at every so many substeps, default 1; 0: never
	int32_t fracture_splits_max;   // nodes of a body split a pass; default 0: no bound; the rest go on in
								   // the next
	int32_t fracture_passes_max;   // times that a step is taken again when something broke in it, default 24;
								   // 0: what breaks goes on in the next step
	bool fracture_viscous;         // stress for fracture has the viscous part too, default false
	FemJobSystem jobs; // a host's threads for the step, see fem_hooks.h; default none: the world has its own
	uint32_t cookie;   // set by fem_default_world_def()
} FemWorldDef;

FemWorldDef fem_default_world_def(void); // [any time]

// [any time] The worker_count for a game that waits for the step, on a machine with so many processors: all of them up
// to four, of more all but one, so that a many-core machine has one left for the rest of the game.
int32_t fem_default_worker_count(int32_t processor_count);

// Makes a world and its worker threads; the null id on failure. At most 64 worlds exist at once.
FemWorldId fem_world_create(const FemWorldDef *def);

// Frees the world and all in it; joins its workers. Finishes a step under way first.
FemResult fem_world_destroy(FemWorldId world);

bool fem_world_is_valid(FemWorldId world); // [any time]

// Advances by dt seconds in `substeps` equal parts (clamped to 1..64). Each part is clamped to 1e-6..0.25 s.
// Returns a set of FemStepError bits.
uint32_t fem_world_step(FemWorldId world, float dt, int32_t substeps);

// The same in two halves, so that the step runs on the workers while the game goes on. With one worker, or when none
// has come to it yet, the step runs inside fem_world_step_end(). begin answers FEM_ERROR_STEPPING if a step is under
// way already.
FemResult fem_world_step_begin(FemWorldId world, float dt, int32_t substeps);
uint32_t fem_world_step_end(FemWorldId world);

FemResult fem_world_set_gravity(FemWorldId world, FemVec3 gravity); // wakes everything if it differs
FemVec3 fem_world_get_gravity(FemWorldId world);                    // [any time]
FemResult fem_world_set_worker_count(FemWorldId world, int32_t n);  // clamped to 1..64; results do not depend on it
int32_t fem_world_get_worker_count(FemWorldId world);               // [any time]
FemResult fem_world_set_ground(FemWorldId world, bool enabled, double height, float friction); // wakes everything
FemResult fem_world_get_ground(
	FemWorldId world, bool *out_enabled, double *out_height, float *out_friction); // [any time]
FemResult fem_world_set_sleeping(FemWorldId world, bool enabled);                  // false wakes everything
bool fem_world_get_sleeping(FemWorldId world); // [any time] whether things may go to sleep

// ---- material

typedef enum FemPlasticity {
	FEM_PLASTICITY_FULL = 0,   // P&O09: yields on the whole elastic strain
	FEM_PLASTICITY_DEVIATORIC, // O'Brien, Bargteil & Hodgins 2002: yields on the deviator, keeps volume
} FemPlasticity;

// What toughness is compared with.
typedef enum FemToughnessMode {
	FEM_TOUGHNESS_STRESS = 0, // Pa: the stress across the plane, whatever the mesh
	FEM_TOUGHNESS_FORCE,      // N: the papers' separation tensor itself, which grows with the size of tets
} FemToughnessMode;

typedef struct FemMaterialDef {
	// Pa, default 1e6; clamped to 1..1e13. Lower in tets of edge h for which E dt^2 / (rho h^2) passes some 1e12 at the
	// longest step, 0.25 s: steel of 1 mm cells, and at most 1e6 times that of the softest material in the same body.
	// Floats hold no more. Breaking and yield stress stay.
	float young_modulus;
	float poisson_ratio;      // default 0.3; clamped to 0..0.49 (0.5 has no bulk modulus)
	float density;            // kg/m^3, default 1000; must be > 0; clamped to 1e-3..1e6
	float stiffness_damping;  // s, Rayleigh alpha_K, default 0
	float mass_damping;       // 1/s, Rayleigh alpha_M, default 0: it brakes rigid motion too
	FemPlasticity plasticity; // default full
	float yield_strain;       // norm of elastic strain where flow begins, default 0
	float creep_rate;         // 1/s, flow per second beyond yield; default 1e6, which is "at once"
	float max_plastic_strain; // norm at which plastic strain stops growing, default 0: purely elastic
	float crease_strength; // share of its bending strength that a sheet has left along a crease, where it was bent by
						   // crease_angle or more, so that it folds in a line there as corrugated board does: 0..1,
						   // default 1: as strong as before. In cells of plates that yield
	float crease_angle;    // rad, default 0.2; clamped to 1e-3..3
	// Plastic strain that bodies have from their making on, along the axes of the mesh: what has 0.01 along x would be
	// 1 % longer by itself. Regions that want other lengths than their neighbours bend the body, or tear it. Default 0;
	// clamped to -0.5..0.5; does not change bodies that are there.
	FemVec3 initial_strain;
	float friction;         // Coulomb coefficient, default 0.5; a pair has the geometric mean
	float restitution;      // speed after a blow over that before it, 0..1, default 0; a pair has the larger one
	int32_t max_iterations; // cap of the solver, default 400; the largest of an island's materials holds
	bool breakable;         // default false
	float toughness; // Pa (or N, see mode) of tension at which it breaks, default 1e6; 0: at the least, infinite: never
	FemToughnessMode toughness_mode; // default stress
	float toughness_variation; // share by which tets differ at random, seeded by the body; default 0.1, clamped to
							   // 0..0.99
	float crack_speed; // m/s, of the tip of a crack, default 1000, as in glass and stone; clamped to 0.01..1e5. Metal
					   // and rubber tear more slowly
	float impact_modulus; // Pa, Young's modulus that it has under a blow, which may be more than young_modulus: the
						  // stiffer, the shorter and harder the blow. Default 0: blows are spread over the step;
						  // clamped to 1..1e13
	float impact_toughness_ratio; // strain at which a blow breaks it, over that at which a load does, toughness /
								  // young_modulus: what is brittle has less than 1, so that toughness decides both.
								  // Default 1; clamped to 1e-6..1e6; needs impact_modulus
	float fragment_size; // m, edge of a cube as large as the smallest piece that it breaks into; default 0: as small as
						 // the mesh has it; clamped to 0..100
	float fragment_variation; // smallest pieces differ from place to place, at random by the body's seed, from
							  // fragment_size to (1 + fragment_variation) times that; default 0; clamped to 0..20
	float prestress; // Pa, of tempered glass: pressure that its surface is under. It adds to toughness; at the first
					 // crack all of a piece goes to dice of fragment_size. Default 0; clamped to 10 times toughness,
					 // which no core holds; needs FEM_TOUGHNESS_STRESS
	float crush_strength;    // Pa, pressure at which it goes to grains, and J that it takes for each m^3; default 0:
							 // never; usual: 10 times the toughness of stone and glass. Needs FEM_TOUGHNESS_STRESS
	FemVec3 grain_direction; // of fibres, in the mesh's axes; default 0: along the body's longest axis
	float grain_ratio;       // toughness along the fibres over that across them, >= 1; default 1
	float grain_stiffness_ratio; // young_modulus, along the fibres, over that across them; default 1; clamped to 1..100
	// Masonry: toughness across the mortar between courses over that of the bricks, 0..1, default 1: there is none. The
	// courses lie in the mesh's x and z, and the lowest begins where the body does. Not beside a grain_ratio.
	float mortar_strength;
	float course_height; // m, of a course of bricks with its mortar, default 0.081; clamped to 1e-3..100
	uint32_t cookie;
} FemMaterialDef;

FemMaterialDef fem_default_material_def(void); // [any time]
FemMaterialId fem_material_create(FemWorldId world, const FemMaterialDef *def);
FemResult fem_material_destroy(FemMaterialId material); // FEM_ERROR_IN_USE while a body uses it
FemResult fem_material_set(
	FemMaterialId material, const FemMaterialDef *def); // takes effect in the next step, wakes its bodies
FemResult fem_material_get(FemMaterialId material, FemMaterialDef *out_def);
bool fem_material_is_valid(FemMaterialId material); // [any time]

// ---- mesh

#define FEM_REGION_MAX 256 // material regions of a mesh

#define FEM_STRETCH_MIN 1e-4f // of FemMeshDef.stretch and of bakes: a sheet of 0.1 mm made of a cube of 1 m; chosen
#define FEM_STRETCH_MAX 1e4f  // the same upwards

typedef struct FemMeshDef {
	int32_t node_count;
	const FemVec3 *node_positions; // m, rest shape
	int32_t tet_count;
	const int32_t *tets;        // 4 node indices each; inverted tets are flipped
	const int32_t *tet_regions; // material slot of each tet, or null for slot 0; 0..255
	const float *tet_plates; // plate correction strength c of each tet (0 = none), or null; see ARCHITECTURE, "Plates"
	const int32_t
		*layout; // what fem_mesh_get_layout() told of an equal mesh: much faster. Null, or one that does not fit:
	int32_t layout_count; // it is found anew
	float quality_clamp;  // slivers thinner than a regular tet by this factor are softened, default 4; 0 = never
	// The scale of the bodies it is for, up to a common factor, default 1: plate cells are found in that shape. A cube
	// that is a board under the scale of its bodies has cells through what is its thickness there.
	FemVec3 stretch;
	uint32_t cookie;
} FemMeshDef;

FemMeshDef fem_default_mesh_def(void); // [any time]

// Copies what it needs. Refuses (null id): indices out of range, tets without volume, duplicate tets, nodes in no tet,
// positions that are not finite. Unconnected parts are allowed: each is an island of its own.
FemMeshId fem_mesh_create(FemWorldId world, const FemMeshDef *def);
FemResult fem_mesh_destroy(FemMeshId mesh); // FEM_ERROR_IN_USE while a body uses it
bool fem_mesh_is_valid(FemMeshId mesh);     // [any time]

// How the mesh was partitioned and ordered, to be kept beside it; the results do not depend on it. Whole or not at all.
int32_t fem_mesh_get_layout(FemMeshId mesh, int32_t *out_layout, int32_t capacity);

// ---- body

// How the pieces of a body move.
typedef enum FemDynamics {
	// Stiff pieces of bodies that can break are rigid while nothing strains them that counts, and elastic from the step
	// on in which their loads come near to breaking or denting them; pieces that cannot break, and are not pinned,
	// while
	// they are not seen to bend. All others are elastic.
	FEM_DYNAMICS_AUTO = 0,
	FEM_DYNAMICS_ELEMENTS, // finite elements: always elastic
	// Always rigid: nothing bends, dents or breaks. What is pinned stands still, or swings about a line of pins or
	// about one; what has driven nodes is elastic.
	FEM_DYNAMICS_RIGID,
	// A rigid frame and the lowest modes of the shape (fem_modes.h): for what wobbles a little. Of bodies whose mesh is
	// one piece, once fem_body_set_modes() gave them their modes; until then, and what breaks of them, as automatic. A
	// blow that may break it makes it elastic in the same step.
	FEM_DYNAMICS_MODAL,
	// Rigid pieces that are joined to each other and come apart where they were cut beforehand, with the elastic energy
	// of the break (fem_body_set_joined()): the cheapest way to break, for buildings and for what is far away. Of
	// bodies that can break; others are always rigid. Changing to other dynamics puts together again what is still
	// joined.
	FEM_DYNAMICS_RIGID_PIECES,
} FemDynamics;

typedef struct FemBodyDef {
	FemMeshId mesh;
	const FemMaterialId *materials; // one per region of the mesh
	int32_t material_count;         // regions beyond the count take the last material
	FemPosition position;           // m, where the mesh's origin goes
	FemQuat rotation;
	FemVec3 scale;            // > 0, default 1, applied to the rest shape
	FemVec3 linear_velocity;  // m/s
	FemVec3 angular_velocity; // rad/s about the centre of mass
	bool starts_asleep;       // default false
	uint32_t layer;           // bits of the collision layers it is in, default 1
	uint32_t mask;         // bits of the layers it looks for, default all; a pair touches when one looks for the other
	float gravity_scale;   // factor on the world's gravity, default 1; -100..100
	float toughness_scale; // factor on the toughness of all its tets, >= 0, default 1; infinite: does not break
	bool self_contact;     // touches itself where it folds, default true
	FemDynamics dynamics;  // default automatic
	const int32_t *pinned_nodes; // nodes fixed in space from the start, or null
	int32_t pinned_count;
	const float *tet_toughness; // factor on the toughness of each tet (weak spots), >= 0, or null for 1
	uint32_t fracture_seed;     // no two bodies with different seeds break alike; default 0
	int32_t piece_limit;        // free pieces beyond this number are removed, the smallest first; default 0: none are
	float piece_lifetime;       // s after which a free piece is removed, the oldest first; default 0: never
	float piece_fade; // s for which pieces beyond piece_limit stay to be drawn fading; default 0. By then they
	// are rigid, if they are stiff, and meet colliders and the ground but no other piece
	uint64_t user_data;
	uint32_t cookie;
} FemBodyDef;

FemBodyDef fem_default_body_def(void); // [any time]
FemBodyId fem_body_create(FemWorldId world, const FemBodyDef *def);
FemResult fem_body_destroy(FemBodyId body);
bool fem_body_is_valid(FemBodyId body);          // [any time]
uint64_t fem_body_get_user_data(FemBodyId body); // [any time]

// Nodes are numbered as in the mesh; where a node splits its copies get the next numbers, so the count grows. Tets keep
// their numbers for ever; nodes and tets of removed pieces keep theirs too, and are no longer moved. [any time]
int32_t fem_body_get_node_count(FemBodyId body);
int32_t fem_body_get_tet_count(FemBodyId body);

// The 4 node indices of each tet, each in the order of positive volume; -1 for tets that were removed.
int32_t fem_body_get_tets(FemBodyId body, int32_t *out_tets, int32_t tet_capacity);

// The same of one tet; false, and nothing is written, when it is gone.
bool fem_body_get_tet_nodes(FemBodyId body, int32_t tet, int32_t out_nodes[4]);

// Outer faces, 3 node indices each, counter-clockwise seen from outside.
int32_t fem_body_get_surface(FemBodyId body, int32_t *out_triangles, int32_t triangle_capacity);

// Where the nodes are, without a copy: 4 floats a node (x, y, z, 1), valid until the next step_begin/step or change of
// the body. before: after the step before the last one, of the same nodes, to draw frames in between; null when the
// last step did not move the body, or it was put elsewhere since. Null for a bad id. [any time]
typedef struct FemShape {
	FemPosition origin; // m; positions are relative to it
	FemVec3 low, high;  // m, box around the nodes, relative to it
	int32_t node_count;
} FemShape;
const float *fem_body_get_shape(FemBodyId body, bool before, FemShape *out);

// The same as a copy that outlives the next step: node i is at origin + offset i. [any time]
int32_t fem_body_get_positions(FemBodyId body, FemPosition *out_origin, FemVec3 *out_offsets, int32_t node_capacity);

// Asks for the memory that reading this body touches first: for loops over many bodies, a few bodies ahead.
void fem_body_fetch(FemBodyId body);

int32_t fem_body_get_velocities(FemBodyId body, FemVec3 *out_velocities, int32_t node_capacity); // m/s

// World box around all nodes, after the last finished step. [any time]
FemResult fem_body_get_bounds(FemBodyId body, FemPosition *out_min, FemPosition *out_max);

typedef struct FemBodyState {
	double mass;              // kg
	FemPosition center;       // centre of mass, m
	FemVec3 linear_velocity;  // of the centre of mass, m/s
	FemVec3 linear_momentum;  // kg m/s
	FemVec3 angular_momentum; // about the centre of mass, kg m^2/s
	double kinetic_energy;    // J
	double elastic_energy;    // J
	double prestress_energy;  // J, that FemMaterialDef.prestress holds where nothing cracked yet
	double crushed_mass;      // kg, that went to grains since it was made; no part of mass
	float max_strain;         // largest norm of elastic strain
	float max_plastic_strain; // largest norm of plastic strain
	float max_stress;         // largest principal tensile stress, Pa
	int32_t softened_tets;    // tets too stiff for their size and density, or beside softer ones, to be computed: see
							  // FemMaterialDef
	int32_t live_tets;        // tets computed in the last step
	int32_t island_count;
	int32_t pinned_count; // pinned and driven nodes
	bool asleep;          // no part of it is live
} FemBodyState;

// Sums over nodes and tets now: for game logic and tests, not for every body in every frame.
FemResult fem_body_get_state(FemBodyId body, FemBodyState *out_state);

// FemBodyState.softened_tets alone, much quicker.
int32_t fem_body_get_softened_tets(FemBodyId body);

typedef struct FemTetState {
	float strain[6];         // elastic, element frame: xx yy zz xy yz zx
	float plastic_strain[6]; // element frame
	float stress[6];         // Pa, world axes
	float volume_ratio;      // current volume / rest volume
	FemMaterialId material;
} FemTetState;

FemResult fem_body_get_tet_state(FemBodyId body, int32_t tet, FemTetState *out_state);

// Forces last for the next step (all its substeps). Impulses and velocities act at once. All wake what they touch;
// forces only above the wake threshold. A point is taken to the nearest tet of the body. Impulses and velocities do
// nothing to nodes that are pinned or driven, impulses nothing to kinematic bodies.
FemResult fem_body_apply_force(FemBodyId body, int32_t node, FemVec3 force); // N
FemResult fem_body_apply_force_at_point(FemBodyId body, FemVec3 force, FemPosition point);
FemResult fem_body_apply_central_force(FemBodyId body, FemVec3 force); // shared out by mass: neither rotates nor bends
FemResult fem_body_apply_impulse(FemBodyId body, int32_t node, FemVec3 impulse); // N s; nodes around take part of much
// What has an impact_modulus breaks by impulses and explosions as by something hard that comes at 20 m/s with that
// momentum; to push, apply forces.
FemResult fem_body_apply_impulse_at_point(FemBodyId body, FemVec3 impulse, FemPosition point);
FemResult fem_body_set_velocity(FemBodyId body, int32_t node, FemVec3 velocity); // m/s, clamped to node_speed_max
FemResult fem_body_get_velocity(
	FemBodyId body, int32_t node, FemVec3 *out_velocity); // of driven nodes the one they are driven with
FemResult fem_body_add_velocity(
	FemBodyId body, FemVec3 linear, FemVec3 angular); // rigid motion about the centre of mass

// A node's position, for tests and editors: world coordinates, velocity kept.
FemResult fem_body_set_node_position(FemBodyId body, int32_t node, FemPosition position);
FemResult fem_body_get_node_position(FemBodyId body, int32_t node, FemPosition *out_position);

// Turns and moves the body's present shape: a point at position+rotation*q of the pose last set goes to that of the
// new. Velocities rotate with it. Wakes the body.
FemResult fem_body_teleport(FemBodyId body, FemPosition position, FemQuat rotation);

// The pose last set, by FemBodyDef or fem_body_teleport(). Steps do not change it: where the body is now its state
// tells.
FemResult fem_body_get_pose(FemBodyId body, FemPosition *out_position, FemQuat *out_rotation); // [any time]

// Pinned nodes do not move; driven nodes move with just the given velocity (P&O09 section 7, kinematic nodes).
typedef enum FemNodeKind {
	FEM_NODE_FREE = 0,
	FEM_NODE_PINNED, // velocity 0
	FEM_NODE_DRIVEN, // velocity as last set
} FemNodeKind;
FemResult fem_body_pin_node(FemBodyId body, int32_t node);
FemResult fem_body_drive_node(FemBodyId body, int32_t node, FemVec3 velocity);
FemResult fem_body_release_node(FemBodyId body, int32_t node);
FemResult fem_body_get_node_kind(FemBodyId body, int32_t node, FemNodeKind *out_kind);

// The force (N) that held a pinned or driven node to its path in the last step.
FemResult fem_body_get_reaction(FemBodyId body, int32_t node, FemVec3 *out_force);

// A kinematic body is not simulated: all its nodes keep the velocities set on them.
FemResult fem_body_set_kinematic(FemBodyId body, bool kinematic);
bool fem_body_is_kinematic(FemBodyId body); // [any time]

// As in FemBodyDef. Gravity, layers, contact with itself and dynamics wake the body, and layers what touched it.
FemResult fem_body_set_gravity_scale(FemBodyId body, float gravity_scale);
FemResult fem_body_set_toughness_scale(FemBodyId body, float toughness_scale);
FemResult fem_body_set_layers(FemBodyId body, uint32_t layer, uint32_t mask);
FemResult fem_body_set_self_contact(FemBodyId body, bool self_contact);
FemResult fem_body_set_dynamics(FemBodyId body, FemDynamics dynamics);
float fem_body_get_gravity_scale(FemBodyId body);                                       // [any time]
float fem_body_get_toughness_scale(FemBodyId body);                                     // [any time]
FemResult fem_body_get_layers(FemBodyId body, uint32_t *out_layer, uint32_t *out_mask); // [any time]
bool fem_body_get_self_contact(FemBodyId body);                                         // [any time]
FemDynamics fem_body_get_dynamics(FemBodyId body);                                      // [any time]

// A blast: faces of the outer surface that look towards the centre are pushed straight away from it at once, by
// `strength` (N s for each m^2 of area seen from the centre; negative pulls) times (1 - distance / radius)^2. Nothing
// casts a shadow. Kinematic bodies, and nodes that are pinned or driven, stay. The world's form takes all bodies and
// returns how many it reached; it answers -1 for bad arguments.
FemResult fem_body_apply_explosion(FemBodyId body, FemPosition center, float radius, float strength);
int32_t fem_world_apply_explosion(FemWorldId world, FemPosition center, float radius, float strength);

// Weakens the tets whose centroids are within `radius` (m) of the point for good: each loses the share `amount`
// (0..1, at the point, falling evenly to 0 at the radius) of the toughness it still has. Returns through out_count,
// which may be null, how many it weakened. For bodies that can break.
FemResult fem_body_apply_damage(FemBodyId body, FemPosition point, float radius, float amount, int32_t *out_count);

// Changes how tough a tet is: 0 tears at the least tension, infinite never. The body must have a breakable material.
FemResult fem_body_set_tet_toughness(FemBodyId body, int32_t tet, float factor);
FemResult fem_body_get_tet_toughness(
	FemBodyId body, int32_t tet, float *out_factor); // less what fem_body_apply_damage() took

FemResult fem_body_set_tet_material(FemBodyId body, int32_t tet, FemMaterialId material);
FemResult fem_body_get_tet_material(FemBodyId body, int32_t tet, FemMaterialId *out_material);

// One material for each region of the mesh, as in FemBodyDef, in one go; each tet then tells its own.
FemResult fem_body_set_materials(FemBodyId body, const FemMaterialId *materials, int32_t material_count);
FemResult fem_body_wake(FemBodyId body);
FemResult fem_body_sleep(FemBodyId body);
bool fem_body_is_asleep(FemBodyId body); // [any time]

// ---- queries

typedef struct FemHit {
	FemBodyId body;    // null: nothing hit
	int32_t tet;       // tet behind the point
	int32_t nodes[3];  // the outer face
	float weights[3];  // of the face's nodes at the point
	FemPosition point; // m
	FemVec3 normal;    // unit, outward
	double distance;   // m, along the ray or to the closest point (negative inside)
} FemHit;

// First outer face on the segment from `from` to `from + translation`. Faces seen from behind do not count.
FemHit fem_world_cast_ray(FemWorldId world, FemPosition from, FemVec3 translation);

// Nearest point of any body's surface within max_distance (m).
FemHit fem_world_closest_point(FemWorldId world, FemPosition point, double max_distance);

// The same for one body only.
FemHit fem_body_closest_point(FemBodyId body, FemPosition point, double max_distance);

// Bodies with at least one node in the box.
int32_t fem_world_query_box(
	FemWorldId world, FemPosition min, FemPosition max, FemBodyId *out_bodies, int32_t body_capacity);

// ---- events, statistics

typedef enum FemEventType {
	FEM_EVENT_SLEPT = 1,
	FEM_EVENT_WOKE,
	FEM_EVENT_ROLLED_BACK, // the body was no longer finite and stands at its last finite state
} FemEventType;

typedef struct FemEvent {
	FemEventType type;
	FemBodyId body;
} FemEvent;

// Events of the last finished step in deterministic order; valid until the next step. Returns their number. [any time]
int32_t fem_world_get_events(FemWorldId world, const FemEvent **out_events);

typedef enum FemPhase {
	FEM_PHASE_COMMANDS = 0,
	FEM_PHASE_COLLISION,
	FEM_PHASE_ISLANDS,
	FEM_PHASE_ELEMENTS,
	FEM_PHASE_ASSEMBLY,
	FEM_PHASE_SOLVE,
	FEM_PHASE_INTEGRATE,
	FEM_PHASE_FRACTURE,
	FEM_PHASE_SLEEP,
	FEM_PHASE_PUBLISH,
	FEM_PHASE_COUNT
} FemPhase;

const char *fem_phase_name(FemPhase phase); // [any time]

typedef struct FemStatistics {
	uint64_t step_count; // substeps since creation
	int32_t body_count;
	int32_t node_count;
	int32_t tet_count;
	int32_t live_tets; // of the last step, as are all below
	int32_t live_nodes;
	int32_t live_islands;
	int32_t asleep_islands;
	int32_t ground_contacts;
	int32_t contacts;      // between bodies and with colliders
	int32_t contact_pairs; // of boxes that overlap and are not both still
	int32_t solves;
	int32_t solves_capped;
	int32_t solves_bounded; // those of them that would have added energy: things deform less than was solved for
	int64_t iterations;     // of all solves
	int64_t factorizations; // of kept preconditioners
	int32_t pieces;         // of all bodies
	int32_t splits;         // nodes split
	int32_t faces_opened;
	int32_t crushed_tets; // that went to grains
	int32_t rigid_pieces; // those of `pieces` that are awake and move as rigid bodies
	int32_t modal_pieces; // those of `rigid_pieces` that move by modes as well
	int32_t passes;       // times that it was taken again: something broke, or a rigid piece became elastic
	int32_t tree_builds;  // Opcode trees made for new surfaces: these allocate
	float residual_max;   // largest final relative residual
	double step_ms;       // wall time
	double phase_ms[FEM_PHASE_COUNT];
	int64_t bytes; // held by the engine now, all worlds
	int64_t bytes_peak;
	int64_t allocations; // calls of the engine's allocator since start
} FemStatistics;

FemResult fem_world_get_statistics(FemWorldId world, FemStatistics *out_statistics); // [any time], last finished step

// Bytes the engine holds now, over all worlds; 0 when all worlds are gone. [any time]
int64_t fem_memory_bytes(void);

// Those of them that say which tet each vertex of the splinters follows (fem_fracture.h), over all worlds. Whole bodies
// to which the same splinters were given share them. [between steps]
int64_t fem_splinter_bytes(void);

// "scalar", "sse2" or "avx2": the kernels in use; environment FEM_SIMD forces one. All give the same bits. [any time]
const char *fem_simd_name(void);

// ---- checks and snapshots

// The state of one body: shape, motion, sleep, cracks, pieces, dents, toughness lost, settings; not its mesh,
// materials, splinters and user data. Under 200 bytes for a body that is not deformed by more than 1e-5 of its size,
// else up to 40 bytes a node with all that broke, and some 28 more for each tet that flowed. Writes it into the buffer
// and returns the bytes needed; writes nothing when capacity is too small; 0 for a bad id or when memory fails.
size_t fem_body_save(FemBodyId body, void *buffer, size_t capacity);

// Puts a body of an equal mesh into a saved state, in any world; it keeps its id, splinters and user data. `materials`
// are one for each region of the mesh, as in FemBodyDef. It goes on as the saved one would have but for rounding.
// Contacts are forgotten, and what touched it wakes; of several bodies loaded after each other those that slept sleep
// on. Damaged data, and states of other meshes or versions of the format, change nothing.
FemResult fem_body_load(
	FemBodyId body, const FemMaterialId *materials, int32_t material_count, const void *data, size_t size);

// A hash of the whole dynamic state; equal for equal states whatever the worker count.
uint64_t fem_world_hash(FemWorldId world);

// Walks every structure; FEM_OK, or FEM_ERROR_INVALID_ARGUMENT with the first fault as fem_last_error().
FemResult fem_world_validate(FemWorldId world);

// Writes the world into the buffer and returns the bytes needed; writes nothing when capacity is too small.
size_t fem_world_save(FemWorldId world, void *buffer, size_t capacity);

// Makes a world from a snapshot: it goes on bitwise as the saved one would have. Ids of meshes, materials, bodies and
// colliders keep index and generation, with the new world's number. Damaged or foreign data give the null id.
FemWorldId fem_world_restore(const void *data, size_t size, int32_t worker_count);

// The id that a body (mesh, material) or a collider of the saved world has in the restored one.
FemBodyId fem_body_in_world(FemBodyId body, FemWorldId world);
FemColliderId fem_collider_in_world(FemColliderId collider, FemWorldId world);

#ifdef __cplusplus
}
#endif

#endif
