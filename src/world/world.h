// The world's own record, shared by the files of this folder only.
#ifndef FEM_WORLD_H
#define FEM_WORLD_H

#include "base/arena.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/error.h"
#include "dynamics/paper_friction.h"
#include "fem_types.h"
#include "islands/islands.h"
#include "jobs/pool.h"
#include "world/api/colliders.h"
#include "world/contact/contact_stage.h"

typedef struct FemMaterial {
	uint16_t generation;
	bool in_use;
	int32_t use_count; // tets of all bodies, so that a material in use is not freed
	FemMaterialDef def; // clamped
} FemMaterial;

typedef struct FemMesh {
	uint16_t generation;
	bool in_use;
	int32_t use_count; // bodies
	int32_t node_count, tet_count;
	FemVec3 *positions;   // user order, m
	int32_t *tets;        // user order, positive volume
	int32_t *tet_regions; // user order; null = all 0
	float *tet_plates;    // user order; null = none
	float quality_clamp;
	enum { FEM_CONVEX_UNKNOWN = 0, FEM_CONVEX_NO, FEM_CONVEX_YES } convexity; // of the rest shape, found when first asked
	FemTopology *topology;
	int32_t *node_order, *part_order; // elimination orders of each component's nodes and parts, local numbers
	struct FemSplinters *splinters; // frozen, that whole bodies of the mesh share: a list
} FemMesh;

typedef struct FemWorld {
	uint16_t generation;
	bool in_use;
	uint16_t index0;
	FemWorldDef def;

	// Slots are reused through their generation; a free slot holds null (bodies) or in_use = false.
	FemMaterial *materials;
	int32_t material_capacity;
	FemMesh *meshes;
	int32_t mesh_capacity;
	FemBody **bodies; // a body stays where it is for its life: stages hold pointers within a step
	uint16_t *body_generations;
	int32_t body_capacity;
	int32_t body_count;

	FemCollider *colliders;
	int32_t collider_capacity, collider_count;
	FemSweep sweep;
	FemContactStage contacts;
	FemFrictionGains friction_gains; // of the paper's friction

	// Sums over all bodies, kept up as they come and go.
	int64_t node_count, tet_count, piece_count;
	int32_t breakable_count; // bodies that can break

	FemIslands islands;
	FemArena arena;      // one step's memory
	FemHeap *heap;       // for what a step must make anew
	FemPool *pool;
	uint32_t solvers_seen; // version of the islands when it was last looked which solvers are needed

	bool has_forces;     // some body has forces for the next step
	double struck_wave;  // s: the shortest of what explosions have struck since the last step; 0: none
	bool is_closing;     // nothing needs to wake any more
	bool stepping;       // between step_begin and step_end
	float step_dt;       // s, of one substep, clamped
	int32_t step_substeps;
	int32_t substep;     // under way
	uint32_t step_errors; // FemStepError bits, gathered by the step
	uint32_t logged_errors; // of those, the ones that the host's log was told of
	double step_began;    // ms, fem_time_ms()
	double time;          // s, simulated since the world was made

	FemEvent *events;
	int32_t event_count;
	uint64_t publication; // steps published
	FemFractureFace *faces, *step_faces; // of the last finished step, and of that under way
	FemPieceEvent *piece_events, *step_piece_events;
	int32_t face_count, step_face_count, face_capacity, step_face_capacity;
	int32_t piece_event_count, step_piece_event_count, piece_event_capacity, step_piece_event_capacity;
	FemStatistics statistics;      // of the last finished step
	FemStatistics step_statistics; // of the step under way, written by its thread; step_end copies it to statistics
} FemWorld;

// ---- registry.c: ids to records; null (with a sentence in fem_last_error) for bad ones
FemWorld *fem_world_find(FemWorldId id);          // any time
FemWorld *fem_world_find_idle(FemWorldId id, FemResult *out_result); // not while stepping
FemBody *fem_body_find(FemBodyId id, FemWorld **out_world);
FemBody *fem_body_find_idle(FemBodyId id, FemWorld **out_world, FemResult *out_result);
FemCollider *fem_collider_find(FemColliderId id, FemWorld **out_world);
FemCollider *fem_collider_find_idle(FemColliderId id, FemWorld **out_world, FemResult *out_result);
FemColliderId fem_collider_id(const FemWorld *world, int32_t collider_index);
FemMaterial *fem_material_find(FemMaterialId id, FemWorld **out_world);
FemMaterial *fem_material_find_idle(FemMaterialId id, FemWorld **out_world, FemResult *out_result);
FemMesh *fem_mesh_find(FemMeshId id, FemWorld **out_world);
FemMesh *fem_mesh_find_idle(FemMeshId id, FemWorld **out_world, FemResult *out_result);
FemWorld *fem_registry_add(void);              // an empty world in a free slot, or null
FemWorld *fem_registry_at(uint32_t index0);    // the world in a slot, or null
void fem_registry_remove(FemWorld *world);     // frees the record itself
uint16_t fem_first_generation(const FemWorld *world); // of a slot made in this world
uint16_t fem_next_generation(uint16_t generation);
FemBodyId fem_body_id(const FemWorld *world, int32_t body_index);
FemMaterialId fem_material_id(const FemWorld *world, int32_t material_index);
FemMeshId fem_mesh_id(const FemWorld *world, int32_t mesh_index);

// ---- world.c
FemWorld *fem_world_open(const FemWorldDef *def); // a checked def; null (with a sentence) when memory or threads fail
void fem_world_close(FemWorld *world);            // frees all in it
FemResult fem_world_def_check(FemWorldDef *def);  // and clamps

// ---- world_hooks.c
FemResult fem_world_change_pool(FemWorld *world, const FemJobSystem *jobs, int32_t worker_count);
void fem_step_errors_log(FemWorld *world); // what the step lost, once a world for each kind

// ---- materials.c, meshes.c
int32_t fem_material_slot(FemWorld *world); // a free slot, growing the list; -1 when memory fails
int32_t fem_mesh_slot(FemWorld *world);
FemResult fem_material_def_check(FemMaterialDef *def); // and clamps
// Copies, partitions (or takes the given part of each user node) and builds the topology.
FemResult fem_mesh_fill(FemMesh *mesh, const FemMeshDef *checked_def, const int32_t *node_part_or_null);
void fem_mesh_clear(FemMesh *mesh);

// ---- mesh_layout.c: of a def. Its partition by user node, or null when it does not fit the mesh; and its orders, once the
// topology was made from that partition: false when they are none, or memory fails.
const int32_t *fem_mesh_layout_parts(const FemMesh *mesh, const int32_t *layout, int32_t count);
bool fem_mesh_take_layout_orders(FemMesh *mesh, const int32_t *layout);

// ---- bodies.c, body_materials.c
int32_t fem_body_slot(FemWorld *world); // a free slot, growing the list; -1 when memory fails
// A body with its arrays, rest geometry and materials, in its mesh's shape; positions and velocities are the caller's.
// tet_materials: index of the world's material of each user tet. Null (with a sentence) on failure.
// breaks: whether or not a material does.
FemBody *fem_body_build(FemWorld *world, int32_t mesh_index, FemVec3 scale, const int32_t *tet_materials, bool breaks);
// Puts a built body into its slot and takes references and reserves; false (with a sentence) when memory fails.
bool fem_body_enter(FemWorld *world, FemBody *body, int32_t body_index);
void fem_world_leave(FemWorld *world, int32_t body_index); // gives references and reserves back; the body stays
void fem_body_discard(FemBody *body); // one that was never entered
void fem_body_free(FemWorld *world, int32_t body_index);
// Room for plastic state, if one of the body's materials yields. False when memory fails.
bool fem_body_prepare_plastics(FemWorld *world, FemBody *body);
bool fem_body_allocate_plastics(FemBody *body); // whether they yield or not
// Puts the moduli, density and plastic limits of a body's materials into its batches and node masses. False when memory
// fails: the body then stays as it was.
bool fem_body_refresh_materials(FemWorld *world, FemBody *body);
void fem_body_refresh_tet(FemWorld *world, FemBody *body, int32_t tet);
void fem_body_set_node_mass(const FemWorld *world, FemBody *body, int32_t node);
void fem_body_set_totals(const FemWorld *world, FemBody *body);
void fem_body_heal_tets(FemBody *body); // after a step that went bad: rotations and plastic state that are not finite
bool fem_body_prepare_reactions(FemBody *body); // room for reactions; false when memory fails
bool fem_body_allocate_nodes(FemBody *body); // arrays by node and part, for the capacities of its topology
// A table of material indices by region from a list of a def; regions beyond the count take the last one.
FemResult fem_region_materials(const FemWorld *world, const FemMaterialId *materials, int32_t count, int32_t out[FEM_REGION_MAX]);
FemResult fem_body_find_node(const FemBody *body, int32_t user_node, int32_t *out_node);
FemPosition fem_body_center(const FemBody *body); // centre of mass, relative to the body's origin
// Lists that must hold all bodies and colliders of the world as it stands. False when memory fails.
bool fem_world_reserve(FemWorld *world);

// ---- breaking.c: what a body keeps that can break
// With breakable materials: toughness and pieces. Called while a body is built. False when memory fails.
bool fem_body_breaking_create(FemWorld *world, FemBody *body, const FemMesh *mesh, const int32_t *tet_materials, bool breaks);
void fem_body_breaking_free(FemBody *body);
bool fem_body_prepare_breaking(FemWorld *world, int32_t body_index); // the same for a body in the world
void fem_body_refresh_toughness(const FemWorld *world, FemBody *body);

// ---- splittable.c
bool fem_body_make_splittable(const FemWorld *world, FemBody *body); // its own topology; false when memory fails

// ---- step_heap.c
void fem_step_heap_top_up(FemWorld *world); // between steps

// ---- body_settings.c
FemResult fem_body_settings_check(float gravity_scale, float toughness_scale);

// ---- fracture_stage.c
void fem_fracture_stage_run(struct FemStep *step);
size_t fem_fracture_step_bytes(const FemWorld *world); // that it takes of a step's memory
void fem_fracture_free(FemWorld *world);
void fem_fracture_publish(FemWorld *world);

// ---- topology_change.c: a body's topology was split; everything that follows from it. Any thread, one a body.
void fem_body_apply_split(FemWorld *world, FemBody *body);
// The part of it that touches other bodies' data; the stepping thread, in body order.
void fem_body_finish_split(FemWorld *world, int32_t body_index);

// ---- contact_renumber.c
void fem_contacts_renumber(FemWorld *world, int32_t body_index);

// ---- pieces.c
void fem_pieces_start(FemWorld *world, FemBody *body);
void fem_pieces_follow_split(FemWorld *world, FemBody *body, int32_t body_index);
void fem_pieces_retire(FemWorld *world); // those beyond limits of number and age

// ---- publish.c
void fem_body_publish(FemBody *body);
void fem_world_publish(FemWorld *world); // end of a step: bodies that moved, and events
void fem_world_add_event(FemWorld *world, FemEventType type, int32_t body_index);

// ---- body_reading.c
typedef struct FemTetStrain {
	double strain[3][3];   // elastic, element frame
	double stress[3][3];   // Pa, element frame
	double rotation[3][3];
	double volume_ratio;   // to the undeformed rest shape
} FemTetStrain;

void fem_tet_strain(const FemBody *body, int32_t tet, FemTetStrain *out_strain);
void fem_tet_deformation(const FemBody *body, int32_t tet, double out_f[3][3]); // against the plastically changed rest shape

// ---- validate.c
FemResult fem_world_check(FemWorld *world); // fem_world_validate() for a world at hand

FemResult fem_body_check(const FemWorld *world, int32_t body_index); // without what fracture adds
FemResult fem_topology_check(const FemTopology *topology, int32_t index);

// ---- validate_fracture.c
FemResult fem_body_check_breaking(const FemWorld *world, int32_t body_index);

// ---- validate_contact.c
FemResult fem_world_check_contacts(const FemWorld *world); // colliders, sweep, contacts

// ---- step.c
void fem_world_run_step(FemWorld *world); // all substeps of the step that step_begin described

// ---- step_memory.c: what a step takes of the arena
void fem_body_take_step_memory(FemBody *body, FemArena *arena);
void fem_body_take_contact_memory(FemBody *body, FemArena *arena);

// ---- solver_state.c: what the solver keeps with a mesh and with a body
bool fem_mesh_make_orders(FemMesh *mesh);
void fem_mesh_free_orders(FemMesh *mesh);
void fem_world_prepare_solvers(FemWorld *world); // of bodies that are live; whole ones that sleep give theirs up
bool fem_body_solver_create(FemBody *body, const FemMesh *mesh); // of a whole body
void fem_body_solver_free(FemBody *body);
void fem_body_note_kinds(FemBody *body);
bool fem_body_restore_solver(const FemWorld *world, FemBody *body); // of a body that was read and had one; false when memory fails
void fem_body_solver_follow_split(const FemMesh *mesh, FemBody *body); // new preconditioners for what changed
size_t fem_body_solver_bytes(const FemBody *body);
size_t fem_body_solver_state_size(const FemBody *body); // what must be saved to go on bitwise
void fem_body_solver_state_write(const FemBody *body, void *out);
bool fem_body_solver_state_read(FemBody *body, const void *data, size_t size); // false: damaged or no memory

// ---- blow_substeps.c
// An explosion has changed the velocity of a node, m/s: the next step may want to be cut. Impulses at a point are not told:
// panes of one layer of cells, which show little of their bending, break better when these are spread.
void fem_world_note_blow(FemWorld *world, const FemBody *body, int32_t node, FemPosition change);

// No part of it is live. A kinematic body never sleeps.
static inline bool fem_body_sleeps(const FemBody *body) {
	return body->live_part_count == 0 && !body->kinematic;
}

// m/s^2, as the body feels it.
static inline FemVec3 fem_body_gravity(const FemWorld *world, const FemBody *body) {
	FemVec3 g = world->def.gravity;
	return (FemVec3){body->gravity_scale * g.x, body->gravity_scale * g.y, body->gravity_scale * g.z};
}

// Whether a body touches what is in these layers: one side must look for the other, as in Godot.
static inline bool fem_body_sees(const FemBody *body, uint32_t layer, uint32_t mask) {
	return (body->layer & mask) != 0 || (layer & body->mask) != 0;
}

// ---- checks used at the public boundary
static inline bool fem_is_finite(float value) {
	return value - value == 0.0f;
}

static inline bool fem_vec3_is_finite(FemVec3 v) {
	return fem_is_finite(v.x) && fem_is_finite(v.y) && fem_is_finite(v.z);
}

static inline bool fem_position_is_valid(FemPosition p) {
	return p.x >= -FEM_COORDINATE_MAX && p.x <= FEM_COORDINATE_MAX && p.y >= -FEM_COORDINATE_MAX &&
	       p.y <= FEM_COORDINATE_MAX && p.z >= -FEM_COORDINATE_MAX && p.z <= FEM_COORDINATE_MAX;
}

#endif
