// fem_destruction: real-time deformation and fracture by finite elements. The whole public API of the engine.
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
//   A world is used by one thread at a time. Between fem_world_step_begin() and fem_world_step_end() only the functions
//   marked [any time] may be called on it; all others answer FEM_ERROR_STEPPING and change nothing.
#ifndef FEM_DESTRUCTION_H
#define FEM_DESTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FEM_VERSION_MAJOR 0
#define FEM_VERSION_MINOR 1
#define FEM_VERSION_PATCH 0

// ---------------------------------------------------------------------------------------------------------- basic types

typedef struct FemVec3 {
	float x, y, z;
} FemVec3;

typedef struct FemPosition {
	double x, y, z; // m, world
} FemPosition;

typedef struct FemQuat {
	float x, y, z, w;
} FemQuat;

typedef struct FemWorldId {
	uint16_t index1; // 1-based; 0 is null
	uint16_t generation;
} FemWorldId;

typedef struct FemMeshId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemMeshId;

typedef struct FemMaterialId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemMaterialId;

typedef struct FemBodyId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemBodyId;

typedef struct FemColliderId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemColliderId;

typedef enum FemResult {
	FEM_OK = 0,
	FEM_ERROR_INVALID_ID,       // null, freed, or of another world
	FEM_ERROR_INVALID_ARGUMENT, // not finite, out of range, null pointer
	FEM_ERROR_STEPPING,         // a step is under way
	FEM_ERROR_IN_USE,           // a mesh or material that a body still uses
	FEM_ERROR_MESH,             // degenerate, duplicate or dangling parts
	FEM_ERROR_LIMIT,            // too many worlds, bodies, nodes
	FEM_ERROR_MEMORY,           // the system gave no memory
	FEM_ERROR_FORMAT,           // not a snapshot, or of another version, or damaged
} FemResult;

// One sentence about the last failure on the calling thread; never null, empty when nothing failed yet. [any time]
const char *fem_last_error(void);

// A short name of a result, for logs. [any time]
const char *fem_result_name(FemResult result);

// ---------------------------------------------------------------------------------------------------------------- world

// What may go wrong within a step; the step always completes. Returned as a set of bits.
typedef enum FemStepError {
	FEM_STEP_OK = 0,
	FEM_STEP_BAD_WORLD = 1 << 0,        // freed id, dt not finite or <= 0: nothing was stepped
	FEM_STEP_BODY_ROLLED_BACK = 1 << 1, // a body turned bad (not finite) and was put back to its last good state
	FEM_STEP_SOLVER_CAPPED = 1 << 2,    // a solve stopped at its iteration cap (accuracy, not safety)
	FEM_STEP_SPEED_CLAMPED = 1 << 3,    // a node was faster than node_speed_max, or a free piece spun by over 0.6 rad a step
	FEM_STEP_EVENTS_FULL = 1 << 4,      // events were dropped, the oldest kept
	FEM_STEP_CONTACTS_FULL = 1 << 5,    // contacts were dropped: raise contact_capacity
} FemStepError;

// Friction between bodies and with colliders. The built-in ground always has Coulomb's.
typedef enum FemFrictionMode {
	FEM_FRICTION_COULOMB = 0, // implicit, bounded by the contact's own normal force
	FEM_FRICTION_PAPER,       // P&O09 section 4.2: bounded by a share of the touching bodies' weight, none on vertical
	                          // walls; below a threshold speed an explicit controller holds, after some mm of slip
} FemFrictionMode;

typedef struct FemWorldDef {
	FemVec3 gravity;         // m/s^2, default (0, -9.81, 0)
	int32_t worker_count;    // threads that compute a step, the caller's included; default 1, clamped to 1..64
	bool sleeping_enabled;   // default true
	float sleep_speed;       // m/s, an island whose nodes all stay below this ... default 0.03
	int32_t sleep_steps;     // ... for so many steps goes to sleep; default 30
	float wake_force_factor; // a force above this times (node mass x |gravity|) wakes a sleeper; default 0.25
	float node_speed_max;    // m/s, clamp for stability, default 500
	float solver_tolerance;  // residual relative to the right-hand side, preconditioned norm; default 1e-3
	bool ground_enabled;     // a solid half space y <= ground_height; default false
	double ground_height;    // m
	float ground_friction;   // Coulomb coefficient, default 0.5
	bool contacts_enabled;   // bodies touch each other and colliders; default true
	int32_t contact_capacity; // contacts a step, default 16384; the smallest overlaps are dropped beyond
	float contact_push;      // share of the depth pushed out a step, default 0.2; 0 = the paper's pure damping, which sinks
	FemFrictionMode friction_mode; // default Coulomb
	int32_t fracture_interval; // fracture is looked at every so many substeps, default 1; 0: never
	int32_t fracture_splits_max; // nodes of a body split a substep; default 0: max(32, nodes / 8); the rest go on in the next
	bool fracture_viscous;     // stress for fracture has the viscous part too, default false
	uint32_t cookie;         // set by fem_default_world_def()
} FemWorldDef;

FemWorldDef fem_default_world_def(void); // [any time]

// Makes a world and its worker threads; the null id on failure. At most 64 worlds exist at once.
FemWorldId fem_world_create(const FemWorldDef *def);

// Frees the world and all in it; joins its workers. Finishes a step under way first.
FemResult fem_world_destroy(FemWorldId world);

bool fem_world_is_valid(FemWorldId world); // [any time]

// Advances by dt seconds in `substeps` equal parts (clamped to 1..64). Each part is clamped to 1e-6..0.25 s.
// Returns a set of FemStepError bits.
uint32_t fem_world_step(FemWorldId world, float dt, int32_t substeps);

// The same in two halves, so that the step runs on the workers while the game goes on. With one worker the step runs
// inside fem_world_step_end(). begin answers FEM_ERROR_STEPPING if a step is under way already.
FemResult fem_world_step_begin(FemWorldId world, float dt, int32_t substeps);
uint32_t fem_world_step_end(FemWorldId world);

FemResult fem_world_set_gravity(FemWorldId world, FemVec3 gravity);  // wakes everything if it differs
FemVec3 fem_world_get_gravity(FemWorldId world);                     // [any time]
FemResult fem_world_set_worker_count(FemWorldId world, int32_t n);   // clamped to 1..64; results do not depend on it
int32_t fem_world_get_worker_count(FemWorldId world);                // [any time]
FemResult fem_world_set_ground(FemWorldId world, bool enabled, double height, float friction); // wakes everything
FemResult fem_world_set_sleeping(FemWorldId world, bool enabled);    // false wakes everything

// ------------------------------------------------------------------------------------------------------------- material

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
	float young_modulus;        // Pa, default 1e6; clamped to 1..1e13
	float poisson_ratio;        // default 0.3; clamped to 0..0.49 (0.5 has no bulk modulus)
	float density;              // kg/m^3, default 1000; must be > 0; clamped to 1e-3..1e6
	float stiffness_damping;    // s, Rayleigh alpha_K, default 0
	float mass_damping;         // 1/s, Rayleigh alpha_M, default 0: it brakes rigid motion too
	FemPlasticity plasticity;   // default full
	float yield_strain;         // norm of elastic strain where flow begins, default 0
	float creep_rate;           // 1/s, flow per second beyond yield; default 1e6, which is "at once"
	float max_plastic_strain;   // norm at which plastic strain stops growing, default 0: purely elastic
	float friction;             // Coulomb coefficient, default 0.5; a pair has the geometric mean
	int32_t max_iterations;     // cap of the solver, default 400; the largest of an island's materials holds
	bool breakable;             // default false; bodies reserve memory for the worst case when one of their materials breaks
	float toughness;            // Pa (or N, see mode) of tension at which it breaks, default 1e6; 0: at the least, infinite: never
	FemToughnessMode toughness_mode; // default stress
	float toughness_variation;  // share by which tets differ at random, seeded by the body; default 0.1, clamped to 0..0.99
	FemVec3 grain_direction;    // of fibres, in the mesh's axes; default 0: none
	float grain_ratio;          // toughness along the fibres over that across them, >= 1; default 1
	uint32_t cookie;
} FemMaterialDef;

FemMaterialDef fem_default_material_def(void); // [any time]
FemMaterialId fem_material_create(FemWorldId world, const FemMaterialDef *def);
FemResult fem_material_destroy(FemMaterialId material); // FEM_ERROR_IN_USE while a body uses it
FemResult fem_material_set(FemMaterialId material, const FemMaterialDef *def); // takes effect in the next step, wakes its bodies
FemResult fem_material_get(FemMaterialId material, FemMaterialDef *out_def);
bool fem_material_is_valid(FemMaterialId material); // [any time]

// ----------------------------------------------------------------------------------------------------------------- mesh

#define FEM_REGION_MAX 256 // material regions of a mesh

typedef struct FemMeshDef {
	int32_t node_count;
	const FemVec3 *node_positions; // m, rest shape
	int32_t tet_count;
	const int32_t *tets;           // 4 node indices each; turned-round tets are turned back
	const int32_t *tet_regions;    // material slot of each tet, or null for slot 0; 0..255
	const float *tet_plates;       // plate correction strength c of each tet (0 = none), or null; see ARCHITECTURE, "Plates"
	const int32_t *layout;         // what fem_mesh_get_layout() told of an equal mesh: much faster. Null, or one that does not fit:
	int32_t layout_count;          // it is found anew
	float quality_clamp;           // slivers thinner than a regular tet by this factor are softened, default 4; 0 = never
	uint32_t cookie;
} FemMeshDef;

FemMeshDef fem_default_mesh_def(void); // [any time]

// Copies what it needs. Refuses (null id): indices out of range, tets without volume, duplicate tets, nodes in no tet,
// positions that are not finite. Unconnected parts are allowed: each is an island of its own.
FemMeshId fem_mesh_create(FemWorldId world, const FemMeshDef *def);
FemResult fem_mesh_destroy(FemMeshId mesh); // FEM_ERROR_IN_USE while a body uses it
bool fem_mesh_is_valid(FemMeshId mesh);     // [any time]

// How the mesh was partitioned and ordered, to be kept beside it; the results do not depend on it. Returns the numbers
// needed, and writes nothing when capacity is too small.
int32_t fem_mesh_get_layout(FemMeshId mesh, int32_t *out_layout, int32_t capacity);

// ----------------------------------------------------------------------------------------------------------------- body

typedef struct FemBodyDef {
	FemMeshId mesh;
	const FemMaterialId *materials; // one per region of the mesh
	int32_t material_count;         // regions beyond the count take the last material
	FemPosition position;           // m, where the mesh's origin goes
	FemQuat rotation;
	FemVec3 scale;                  // > 0, default 1, applied to the rest shape
	FemVec3 linear_velocity;        // m/s
	FemVec3 angular_velocity;       // rad/s about the centre of mass
	bool starts_asleep;             // default false
	uint32_t layer;                 // bits of the collision layers it is in, default 1
	uint32_t mask;                  // bits of the layers it looks for, default all; a pair touches when one looks for the other
	float gravity_scale;            // factor on the world's gravity, default 1; -100..100
	float toughness_scale;          // factor on the toughness of all its tets, >= 0, default 1; infinite: does not break
	bool self_contact;              // touches itself where it folds, default true
	const int32_t *pinned_nodes;    // nodes fixed in space from the start, or null
	int32_t pinned_count;
	const float *tet_toughness;     // factor on the toughness of each tet (weak spots), >= 0, or null for 1
	uint32_t fracture_seed;         // no two bodies with different seeds break alike; default 0
	int32_t piece_limit;            // free pieces beyond this number are removed, the smallest first; default 0: none are
	float piece_lifetime;           // s after which a free piece is removed, the oldest first; default 0: never
	float piece_fade;               // s for which pieces beyond piece_limit stay to be drawn fading; default 0
	uint64_t user_data;
	uint32_t cookie;
} FemBodyDef;

FemBodyDef fem_default_body_def(void); // [any time]
FemBodyId fem_body_create(FemWorldId world, const FemBodyDef *def);
FemResult fem_body_destroy(FemBodyId body);
bool fem_body_is_valid(FemBodyId body);         // [any time]
uint64_t fem_body_get_user_data(FemBodyId body); // [any time]

// Nodes are numbered as in the mesh; where a node splits its copies get the next numbers, so the count grows. Tets keep
// their numbers for ever; nodes and tets of removed pieces keep theirs too, and are no longer moved. [any time]
int32_t fem_body_get_node_count(FemBodyId body);
int32_t fem_body_get_tet_count(FemBodyId body);

// The 4 node indices of each tet, each turned to positive volume; -1 for tets that were removed; returns the tets written.
// [any time], except of bodies that can break
int32_t fem_body_get_tets(FemBodyId body, int32_t *out_tets, int32_t tet_capacity);

// The same of one tet; false, and nothing is written, when it is gone.
bool fem_body_get_tet_nodes(FemBodyId body, int32_t tet, int32_t out_nodes[4]);

// Outer faces, 3 node indices each, counter-clockwise seen from outside; returns the number of triangles the body has
// and writes at most triangle_capacity. [any time], except of bodies that can break
int32_t fem_body_get_surface(FemBodyId body, int32_t *out_triangles, int32_t triangle_capacity);

// Positions after the last finished step: node i is at origin + offset i. Returns the nodes written. [any time]
int32_t fem_body_get_positions(FemBodyId body, FemPosition *out_origin, FemVec3 *out_offsets, int32_t node_capacity);

// The same without a copy: 4 floats a node (x, y, z, 1), valid until the next step_begin/step or change of the body.
// Null for a bad id. For uploading to a texture. [any time]
const float *fem_body_get_position_data(FemBodyId body, FemPosition *out_origin, int32_t *out_node_count);

// Where nodes are drawn, without a copy: 4 floats a node (x, y, z, 1), valid until the next step_begin/step or change of the
// body. before: after the step before the last one, of the same nodes, to draw frames in between; null when the last step
// did not move the body, or it was put elsewhere since. Null for a bad id. [any time]
typedef struct FemShape {
	FemPosition origin; // m; positions are relative to it
	FemVec3 low, high;  // m, box around the nodes, relative to it
	int32_t node_count;
} FemShape;
const float *fem_body_get_shape(FemBodyId body, bool before, FemShape *out);

int32_t fem_body_get_velocities(FemBodyId body, FemVec3 *out_velocities, int32_t node_capacity); // m/s

// World box around all nodes, after the last finished step. [any time]
FemResult fem_body_get_bounds(FemBodyId body, FemPosition *out_min, FemPosition *out_max);

typedef struct FemBodyState {
	double mass;               // kg
	FemPosition center;        // centre of mass, m
	FemVec3 linear_velocity;   // of the centre of mass, m/s
	FemVec3 linear_momentum;   // kg m/s
	FemVec3 angular_momentum;  // about the centre of mass, kg m^2/s
	double kinetic_energy;     // J
	double elastic_energy;     // J
	float max_strain;          // largest norm of elastic strain
	float max_plastic_strain;  // largest norm of plastic strain
	float max_stress;          // largest principal tensile stress, Pa
	int32_t live_tets;         // tets computed in the last step
	int32_t island_count;
	int32_t pinned_count;      // pinned and driven nodes
	bool asleep;               // no part of it is live
} FemBodyState;

// Sums over nodes and tets now: for game logic and tests, not for every body in every frame.
FemResult fem_body_get_state(FemBodyId body, FemBodyState *out_state);

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
FemResult fem_body_apply_force(FemBodyId body, int32_t node, FemVec3 force);     // N
FemResult fem_body_apply_force_at_point(FemBodyId body, FemVec3 force, FemPosition point);
FemResult fem_body_apply_central_force(FemBodyId body, FemVec3 force); // shared out by mass: neither turns nor bends
FemResult fem_body_apply_impulse(FemBodyId body, int32_t node, FemVec3 impulse); // N s
FemResult fem_body_apply_impulse_at_point(FemBodyId body, FemVec3 impulse, FemPosition point);
FemResult fem_body_set_velocity(FemBodyId body, int32_t node, FemVec3 velocity); // m/s, clamped to node_speed_max
FemResult fem_body_add_velocity(FemBodyId body, FemVec3 linear, FemVec3 angular); // rigid motion about the centre of mass

// A node's position, for tests and editors: world coordinates, velocity kept.
FemResult fem_body_set_node_position(FemBodyId body, int32_t node, FemPosition position);

// Turns and moves the body's present shape: a point at position+rotation*q of the pose last set goes to that of the new.
// Velocities turn with it. Wakes the body.
FemResult fem_body_teleport(FemBodyId body, FemPosition position, FemQuat rotation);

// Pinned nodes do not move; driven nodes move with just the given velocity (P&O09 section 6, kinematic nodes).
FemResult fem_body_pin_node(FemBodyId body, int32_t node);
FemResult fem_body_drive_node(FemBodyId body, int32_t node, FemVec3 velocity);
FemResult fem_body_release_node(FemBodyId body, int32_t node);

// The force (N) that held a pinned or driven node to its path in the last step.
FemResult fem_body_get_reaction(FemBodyId body, int32_t node, FemVec3 *out_force);

// A kinematic body is not simulated: all its nodes keep the velocities set on them.
FemResult fem_body_set_kinematic(FemBodyId body, bool kinematic);

// As in FemBodyDef. Gravity and layers wake the body, and layers what touched it.
FemResult fem_body_set_gravity_scale(FemBodyId body, float gravity_scale);
FemResult fem_body_set_toughness_scale(FemBodyId body, float toughness_scale);
FemResult fem_body_set_layers(FemBodyId body, uint32_t layer, uint32_t mask);

// A blast: faces of the outer surface that look towards the centre are pushed straight away from it at once, by `strength`
// (N s for each m^2 of area seen from the centre; negative pulls) times (1 - distance / radius)^2. Nothing casts a shadow.
// Kinematic bodies, and nodes that are pinned or driven, stay. The world's form takes all bodies and returns how many it
// reached; it answers -1 for bad arguments.
FemResult fem_body_apply_explosion(FemBodyId body, FemPosition center, float radius, float strength);
int32_t fem_world_apply_explosion(FemWorldId world, FemPosition center, float radius, float strength);

// Weakens the tets whose centroids are within `radius` (m) of the point for good: each loses the share `amount`
// (0..1, at the point, falling evenly to 0 at the radius) of the toughness it still has. Returns through out_count, which
// may be null, how many it weakened. For bodies that can break.
FemResult fem_body_apply_damage(FemBodyId body, FemPosition point, float radius, float amount, int32_t *out_count);

// Changes how tough a tet is: 0 tears at the least tension, infinite never. The body must have a breakable material.
FemResult fem_body_set_tet_toughness(FemBodyId body, int32_t tet, float factor);

FemResult fem_body_set_tet_material(FemBodyId body, int32_t tet, FemMaterialId material);

// One material for each region of the mesh, as in FemBodyDef, in one go.
FemResult fem_body_set_materials(FemBodyId body, const FemMaterialId *materials, int32_t material_count);
FemResult fem_body_wake(FemBodyId body);
FemResult fem_body_sleep(FemBodyId body);
bool fem_body_is_asleep(FemBodyId body); // [any time]

// ---------------------------------------------------------------------------------------------------------------- pieces

// A body that breaks stays one body of several pieces, each of which moves, sleeps and collides on its own. A piece's
// number holds as long as the piece: where one breaks, its largest part keeps it. 0 is no piece.
typedef uint32_t FemPieceNumber;

typedef struct FemPieceState {
	FemPieceNumber piece;
	FemPieceNumber parent;   // the piece it broke off; 0: there from the start
	double age;              // s since it broke off
	double time_left;        // s until it is removed for its age or because there are too many; infinite: it stays
	double mass;             // kg
	double volume;           // m^3, rest
	FemPosition center;      // centre of mass, m
	FemVec3 linear_velocity; // m/s
	FemVec3 angular_velocity; // rad/s, of the rigid motion with the same angular momentum
	FemQuat rotation;        // mean rotation of its tets since rest
	FemPosition min, max;    // box, m
	int32_t tet_count, node_count;
	bool is_attached;        // a node of it is pinned or driven
	bool asleep;
} FemPieceState;

// The pieces of a body in a fixed order; returns how many there are and writes at most `capacity`.
int32_t fem_body_get_pieces(FemBodyId body, FemPieceNumber *out_pieces, int32_t capacity);
FemResult fem_body_get_piece_state(FemBodyId body, FemPieceNumber piece, FemPieceState *out_state);

// For fading out pieces that will be removed for their age or number: how much is left of the last `fade_time` seconds, 1 to 0, of
// each node's piece; 1 for all others. Nodes as in the positions; returns how many pieces fade, and writes nothing when
// there is none.
int32_t fem_body_get_node_fades(FemBodyId body, float fade_time, float *out_fades, int32_t node_capacity);
bool fem_body_has_fading_pieces(FemBodyId body, float fade_time);

// The piece that a tet belongs to; 0 for a removed tet.
FemPieceNumber fem_body_get_tet_piece(FemBodyId body, int32_t tet);

// The tets of a piece, ascending; returns how many there are and writes at most `capacity`.
int32_t fem_body_get_piece_tets(FemBodyId body, FemPieceNumber piece, int32_t *out_tets, int32_t capacity);

// Its tets leave every loop at once; the memory returns with the body. The last piece stays: destroy the body instead.
// For bodies that can break.
FemResult fem_body_remove_piece(FemBodyId body, FemPieceNumber piece);

// As in FemBodyDef, for bodies that can break: also for one whose material became breakable only later.
FemResult fem_body_set_piece_limits(FemBodyId body, int32_t piece_limit, float piece_lifetime, float piece_fade);
FemResult fem_body_set_fracture_seed(FemBodyId body, uint32_t fracture_seed);

FemResult fem_body_sleep_piece(FemBodyId body, FemPieceNumber piece);
FemResult fem_body_wake_piece(FemBodyId body, FemPieceNumber piece);

// A face that opened in the last step: one for both sides.
typedef struct FemFractureFace {
	FemBodyId body;
	FemPosition center;     // m
	FemVec3 area;           // m^2, normal to the face, from the first tet to the second
	int32_t tets[2];
	FemMaterialId material; // of the first tet
	float energy;           // J, elastic energy that the face's share of both tets held
} FemFractureFace;

// A piece that broke off in the last step.
typedef struct FemPieceEvent {
	FemBodyId body;
	FemPieceNumber piece, parent;
} FemPieceEvent;

// Of the last step, in deterministic order; valid until the next step. Return their number. [any time]
int32_t fem_world_get_fracture_faces(FemWorldId world, const FemFractureFace **out_faces);
int32_t fem_world_get_piece_events(FemWorldId world, const FemPieceEvent **out_events);

// ------------------------------------------------------------------------------------------------------------- splinters

// What is drawn of a body that can break: closed bits of its render mesh, much smaller than a tet, that stay whole when the
// body cracks (P&O09 section 5.1). Every splinter has a home tet. Every render vertex of it follows the tet it lies in, as
// long as that tet still hangs together with the home tet near the splinter; after that the nearest one that does.
typedef struct FemSplintersDef {
	int32_t splinter_count;
	const int32_t *home_tets;        // [splinter]: the tet that holds its centre
	int32_t vertex_count;
	const int32_t *vertex_splinters; // [vertex]: what it is a vertex of
	const int32_t *vertex_tets;      // [vertex]: the tet that holds it, or the nearest
	const FemVec3 *vertex_positions; // [vertex]: m, rest, in the mesh's space
	uint32_t cookie;
} FemSplintersDef;

// What a render vertex follows: the sum of weights[k] times the position of node nodes[k].
typedef struct FemVertexOwner {
	int32_t tet;      // -1: of a removed piece; nodes are then -1 and weights 0
	int32_t nodes[4];
	float weights[4]; // sum 1; outside the tet some are negative
} FemVertexOwner;

typedef enum FemOwnerChangeKind {
	FEM_OWNER_NODES = 1, // the tet is the same, but some of its nodes are copies now
	FEM_OWNER_TET,       // another tet, and other weights
	FEM_OWNER_REMOVED,   // its piece was removed
} FemOwnerChangeKind;

typedef struct FemOwnerChange {
	int32_t vertex;
	FemOwnerChangeKind kind;
	FemVertexOwner owner; // the new one
	int32_t tet_before;   // the tet it followed until then; -1: removed
} FemOwnerChange;

FemSplintersDef fem_default_splinters_def(void); // [any time]

// Gives splinters to a body that can break, in place of those it had; none with both counts 0. Copies what it needs. Vertices
// that do not hang together with their home as the body is now are moved at once: read the owners afterwards.
FemResult fem_body_set_splinters(FemBodyId body, const FemSplintersDef *def);

FemResult fem_body_get_vertex_owner(FemBodyId body, int32_t vertex, FemVertexOwner *out_owner);

// The owner that the vertex would have in that tet. With FemOwnerChange.tet_before it says where the vertex was drawn until
// its tet changed: in a strained body that is another place, from which it may be led to the new one.
FemResult fem_body_get_vertex_owner_in(FemBodyId body, int32_t vertex, int32_t tet, FemVertexOwner *out_owner);

// Exactly the vertices whose nodes or weights are others since the last step (and since pieces were removed before it), each
// once, by vertex number; valid until the next step or change of the body. Returns their number. [any time]
int32_t fem_body_get_owner_changes(FemBodyId body, const FemOwnerChange **out_changes);

// ------------------------------------------------------------------------------------------------------------- colliders

// Rigid shapes that bodies touch: fixed, moved by the caller, or with mass, in the same linear system as the bodies.

typedef enum FemColliderKind {
	FEM_COLLIDER_STATIC = 0,
	FEM_COLLIDER_KINEMATIC, // moves with the velocity set on it, whatever touches it
	FEM_COLLIDER_DYNAMIC,   // has mass: takes part in the solve; the caller moves it with what fem_collider_get_result says
} FemColliderKind;

typedef enum FemShapeType {
	FEM_SHAPE_BOX = 1,    // half_extents
	FEM_SHAPE_SPHERE,     // radius
	FEM_SHAPE_CAPSULE,    // radius, half_height of its segment along y
	FEM_SHAPE_CYLINDER,   // radius, half_height along y
	FEM_SHAPE_CONVEX,     // hull of 4 to 64 points
	FEM_SHAPE_HALF_SPACE, // all below y = 0 of its frame
	FEM_SHAPE_TRIANGLES,  // points and triangles, solid to `thickness` behind their counter-clockwise side
	FEM_SHAPE_HEIGHT_FIELD, // heights on a grid, solid to `thickness` below; larger bodies need a larger thickness
} FemShapeType;

typedef struct FemShapeDef {
	FemShapeType type;
	FemVec3 half_extents;     // m
	float radius;             // m
	float half_height;        // m
	const FemVec3 *points;    // m, copied
	int32_t point_count;
	const int32_t *triangles; // 3 indices each, copied
	int32_t triangle_count;
	float thickness;          // m, default 0.1
	const float *heights;     // m, y of the points of a grid, copied: point (i, k) is heights[k * width + i], centred:
	                          // x = (i - (width - 1) / 2) cell_size, z the same with k and depth
	int32_t width, depth;     // points along x and z, at least 2
	float cell_size;          // m, default 1
} FemShapeDef;

typedef struct FemColliderDef {
	FemColliderKind kind;     // default static
	FemShapeDef shape;
	FemPosition position;     // m, of its frame, whose origin is the centre of mass
	FemQuat rotation;
	FemVec3 shape_position;   // m, where the shape lies in the frame; default 0
	FemQuat shape_rotation;   // default none
	FemColliderId leader;     // not null: another shape of that dynamic collider, which moves as one with it; see below
	FemVec3 linear_velocity;  // m/s
	FemVec3 angular_velocity; // rad/s
	float mass;               // kg, dynamic only
	FemVec3 inertia;          // kg m^2, about the axes of its frame; 0: that of the shape's box with this mass
	float friction;           // default 0.5
	uint32_t layer, mask;     // default 1 and all
	bool lets_sleep;          // what sleeps beside it is not woken when it is made; default false
	uint64_t user_data;
	uint32_t cookie;
} FemColliderDef;

// A rigid body of several shapes is a dynamic collider with the mass and as many followers as it has further shapes. What
// touches a follower acts on its leader. Followers are moved by the caller like the leader, with the same frame and
// velocities. When the leader is destroyed they are solid, but nothing moves them.
FemColliderDef fem_default_collider_def(void); // [any time]
FemColliderId fem_collider_create(FemWorldId world, const FemColliderDef *def);
FemResult fem_collider_destroy(FemColliderId collider); // what rested on it wakes
bool fem_collider_is_valid(FemColliderId collider);     // [any time]
uint64_t fem_collider_get_user_data(FemColliderId collider); // [any time]

// Whether a body passes through a collider, whatever their layers say. At most 16 bodies a collider (FEM_ERROR_LIMIT beyond);
// what rested on it wakes. Bodies that are gone do not count.
FemResult fem_collider_ignore_body(FemColliderId collider, FemBodyId body, bool ignored);

// Where it is and how it moves in the next step. Static colliders may be moved too: that is a teleport.
FemResult fem_collider_set_motion(FemColliderId collider, FemPosition position, FemQuat rotation, FemVec3 linear_velocity,
	FemVec3 angular_velocity);

// The mass of a dynamic collider that leads itself, for every step until it is set anew: that of the body alone, or of all
// that moves as one with it. Its velocities are then those of this centre of mass, and so are impulses and ways.
typedef struct FemColliderMass {
	float mass;       // kg
	FemVec3 center;   // m, centre of mass from the frame's origin, world axes
	float inertia[6]; // kg m^2, about that centre, world axes: xx yy zz xy yz zx
} FemColliderMass;

FemResult fem_collider_set_mass(FemColliderId collider, const FemColliderMass *mass);

// What acts on a dynamic collider besides contact and the world's gravity, in every step until it is set anew: N, N m about
// its centre of mass.
FemResult fem_collider_set_force(FemColliderId collider, FemVec3 force, FemVec3 torque);

// What touched it in the last step, over all its substeps.
typedef struct FemColliderResult {
	FemVec3 impulse;          // N s, on the collider: what the solve gave
	FemVec3 angular_impulse;  // N m s, about its centre of mass
	FemVec3 linear_velocity;  // m/s: dynamic ones as the solve left them
	FemVec3 angular_velocity; // rad/s
	FemVec3 translation;      // m, how far its centre of mass went
	FemVec3 turn;             // rad, how far it turned: axis times angle
	int32_t contact_count;    // of the last substep
} FemColliderResult;

FemResult fem_collider_get_result(FemColliderId collider, FemColliderResult *out_result);

typedef struct FemContactEvent {
	FemBodyId body;         // side 0
	FemBodyId other;        // side 1, or null:
	FemColliderId collider; // the collider of side 1; null too: the built-in ground
	FemPosition point;      // m, where the pair presses hardest
	FemVec3 normal;         // unit, from side 0 to side 1
	float impulse;          // N s, sum over the pair in those substeps
	float speed;            // m/s, at which the two closed in before the step where that was most; about 0 for what rests
	FemMaterialId material; // at the point, of side 0
} FemContactEvent;

// Pairs that pressed in the last substep, or struck in one before, in deterministic order; valid until the next step. Returns their number. [any time]
int32_t fem_world_get_contact_events(FemWorldId world, const FemContactEvent **out_events);

// -------------------------------------------------------------------------------------------------------------- queries

typedef struct FemHit {
	FemBodyId body;      // null: nothing hit
	int32_t tet;         // tet behind the point
	int32_t nodes[3];    // the outer face
	float weights[3];    // of the face's nodes at the point
	FemPosition point;   // m
	FemVec3 normal;      // unit, outward
	double distance;     // m, along the ray or to the closest point (negative inside)
} FemHit;

// First outer face on the way from `from` by `translation`. Faces seen from behind do not count.
FemHit fem_world_cast_ray(FemWorldId world, FemPosition from, FemVec3 translation);

// Nearest point of any body's surface within max_distance (m).
FemHit fem_world_closest_point(FemWorldId world, FemPosition point, double max_distance);

// The same for one body only.
FemHit fem_body_closest_point(FemBodyId body, FemPosition point, double max_distance);

// Bodies with at least one node in the box; returns how many there are and writes at most body_capacity.
int32_t fem_world_query_box(FemWorldId world, FemPosition min, FemPosition max, FemBodyId *out_bodies, int32_t body_capacity);

// --------------------------------------------------------------------------------------------------- events, statistics

typedef enum FemEventType {
	FEM_EVENT_SLEPT = 1,
	FEM_EVENT_WOKE,
	FEM_EVENT_ROLLED_BACK, // the body had turned bad and stands at its last good state
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
	uint64_t step_count;         // substeps since creation
	int32_t body_count;
	int32_t node_count;
	int32_t tet_count;
	int32_t live_tets;           // of the last step, as are all below
	int32_t live_nodes;
	int32_t live_islands;
	int32_t asleep_islands;
	int32_t large_islands;       // solved by several threads together
	int32_t ground_contacts;
	int32_t contacts;            // between bodies and with colliders
	int32_t contact_pairs;       // of boxes that overlap and are not both still
	int32_t solves;
	int32_t solves_capped;
	int64_t iterations;          // of all solves
	int64_t factorizations;      // of kept preconditioners
	int32_t pieces;              // of all bodies
	int32_t splits;              // nodes split
	int32_t faces_opened;
	int32_t tree_builds;         // Opcode trees made for new surfaces: these allocate
	float residual_max;          // largest final relative residual
	double step_ms;              // wall time
	double phase_ms[FEM_PHASE_COUNT];
	int64_t bytes;               // held by the engine now, all worlds
	int64_t bytes_peak;
	int64_t allocations;         // calls of the engine's allocator since start
} FemStatistics;

FemResult fem_world_get_statistics(FemWorldId world, FemStatistics *out_statistics); // [any time], last finished step

// Bytes the engine holds now, over all worlds; 0 when all worlds are gone. [any time]
int64_t fem_memory_bytes(void);

// "scalar", "sse2" or "avx2": the kernels in use; environment FEM_SIMD forces one. All give the same bits. [any time]
const char *fem_simd_name(void);

// ------------------------------------------------------------------------------------------------- checks and snapshots

// The state of one body: shape, motion, cracks, pieces, dents, toughness lost, settings; not its mesh, materials, splinters
// and user data. Writes it into the buffer and returns the bytes needed; writes nothing when capacity is too small; 0 for a
// bad id.
size_t fem_body_save(FemBodyId body, void *buffer, size_t capacity);

// Puts a body of an equal mesh into a saved state, in any world; it keeps its id, splinters and user data. `materials` are
// one for each region of the mesh, as in FemBodyDef. Contacts are forgotten, and what touched it wakes. Damaged or foreign
// data change nothing.
FemResult fem_body_load(FemBodyId body, const FemMaterialId *materials, int32_t material_count, const void *data, size_t size);

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
