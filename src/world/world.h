// The world's own record and those of its materials and meshes. What can be done with them is told by the headers of
// the four folders beside it.
#ifndef FEM_WORLD_H
#define FEM_WORLD_H

#include "base/arena.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/list.h"
#include "dynamics/paper_friction.h"
#include "fem_destruction.h"
#include "islands/islands.h"
#include "jobs/pool.h"
#include "model/body.h"
#include "topology/longest_axis.h"
#include "topology/topology.h"
#include "world/api/colliders.h"
#include "world/contact/contact_stage.h"

typedef struct FemMaterial {
	uint16_t generation;
	bool in_use;
	int32_t use_count;  // tets of all bodies, so that a material in use is not freed
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
	FemVec3 stretch;          // scale of its bodies, up to a common factor
	FemVolumeMoments moments; // of the rest shape
	enum {
		FEM_CONVEX_UNKNOWN = 0,
		FEM_CONVEX_NO,
		FEM_CONVEX_YES
	} convexity;       // of the rest shape, found with the first body that touches (contact/mesh_convexity.c)
	bool is_gap_known; // the same of the next (contact/mesh_gap.c)
	float gap; // m, under `stretch`: least distance of places of the surface that are no neighbours; 0: none known
	FemTopology *topology;
	int32_t *node_order, *part_order; // elimination orders of each component's nodes and parts, local numbers
	struct FemSplinters *splinters;   // frozen, that whole bodies of the mesh share: a list
} FemMesh;

// A node at rest under the scale of a body, m; in the user's numbers.
static inline FemVec3d fem_mesh_rest_point(const FemMesh *mesh, FemVec3 scale, int32_t user_node) {
	FEM_ASSERT_INDEX(user_node, mesh->node_count);
	FemVec3d p = fem_vec3d_from(mesh->positions[user_node]);
	return (FemVec3d){p.x * (double)scale.x, p.y * (double)scale.y, p.z * (double)scale.z};
}

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
	int32_t celled_count;    // bodies with plate cells
	int32_t joined_count;    // bodies that were cut into joined pieces

	FemIslands islands;
	FemArena arena;         // one step's memory
	FemArena pass_arena;    // of its passes after the first
	FemArena owner_changes; // of splinters, as last published
	FemHeap *heap;          // for what a step must make anew
	FemPool *pool;
	uint32_t solvers_seen; // version of the islands when it was last looked which solvers are needed

	FemWorkLimits limits;    // of a step
	int32_t elastic_tets;    // of this step, that count against limits.elastic_tets_max,
	int32_t struck_tets;     // and of rigid pieces that are looked at for blows
	int32_t woken_pieces;    // by contact since the islands were last listed
	bool has_waiting_pieces; // some want to wake and must wait (world/step/waiting_pieces.h)

	bool has_forces; // some body has forces for the next step
	bool is_closing; // nothing needs to wake any more
	bool stepping;   // between step_begin and step_end
	float step_dt;   // s, of one substep, clamped
	int32_t step_substeps;
	int32_t substep;        // under way
	uint32_t step_errors;   // FemStepError bits, gathered by the step
	uint32_t logged_errors; // of those, the ones that the host's log was told of
	double step_began;      // ms, fem_time_ms()
	double time;            // s, simulated since the world was made

	FemEvent *events;
	int32_t event_count;
	uint64_t publication;                // steps published
	FemFractureFace *faces, *step_faces; // of the last finished step, and of that under way
	FemPieceEvent *piece_events, *step_piece_events;
	FemCrushEvent *crush_events, *step_crush_events;
	int32_t face_count, step_face_count, face_capacity, step_face_capacity;
	int32_t crush_event_count, step_crush_event_count, crush_event_capacity, step_crush_event_capacity;
	int32_t piece_event_count, step_piece_event_count, piece_event_capacity, step_piece_event_capacity;
	FemStatistics statistics;      // of the last finished step
	FemStatistics step_statistics; // of the step under way, written by its thread; step_end copies it to statistics
} FemWorld;

// ---- world.c
FemWorld *fem_world_open(const FemWorldDef *def); // a checked def; null (with a sentence) when memory or threads fail
void fem_world_close(FemWorld *world);            // frees all in it
FemResult fem_world_def_check(FemWorldDef *def);  // and clamps

// ---- world_hooks.c
FemResult fem_world_change_pool(FemWorld *world, const FemJobSystem *jobs, int32_t worker_count);
void fem_step_errors_log(FemWorld *world); // what the step lost, once a world for each kind

// Whether nothing broke off from it: it has the pieces of its mesh.
static inline bool fem_body_is_whole(const FemWorld *world, const FemBody *body) {
	return body->topology->component_count <= world->meshes[body->mesh_index].topology->component_count;
}

// Whether no METIS part of the body is awake. A kinematic body never sleeps.
static inline bool fem_body_sleeps(const FemBody *body) {
	return body->live_part_count == 0 && !body->kinematic;
}

// Gravity times the body's own factor, m/s^2.
static inline FemVec3 fem_body_gravity(const FemWorld *world, const FemBody *body) {
	FemVec3 g = world->def.gravity;
	return (FemVec3){body->gravity_scale * g.x, body->gravity_scale * g.y, body->gravity_scale * g.z};
}

// Whether a body touches what is in these layers: one side must look for the other, as in Godot.
static inline bool fem_body_sees(const FemBody *body, uint32_t layer, uint32_t mask) {
	return (body->layer & mask) != 0 || (layer & body->mask) != 0;
}

#endif
