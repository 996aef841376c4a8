// What a body is between steps.
#ifndef FEM_MODEL_BODY_H
#define FEM_MODEL_BODY_H

#include "model/tet_batches.h"
#include "topology/topology.h"

// Of a METIS part of a body.
typedef enum FemIslandState {
	FEM_ISLAND_ASLEEP = 0,
	FEM_ISLAND_LIVE,
	FEM_ISLAND_KINEMATIC,
} FemIslandState;

// What a body did to the ground in a substep.
typedef struct FemGroundHit {
	float impulse;    // N s, normal; 0: it did not touch
	float speed;      // m/s, of the fastest node down, before the step
	float force;      // N, of the node with the largest,
	FemVec4 point;    // m, where that is: relative to the body's origin
	int32_t material; // and what it is made of
} FemGroundHit;

// The shape published by the step before the last; of as many nodes as the last one.
typedef struct FemShapeBefore {
	uint64_t publication; // that of the world when the last one was published; another: it has not moved since; 0: none
	FemVec4 *positions;   // user order: x, y, z, 1 relative to
	FemPosition origin;   // m
	float box_min[3], box_max[3]; // m, relative to it
} FemShapeBefore;

// The motion of a body that is not deformed.
typedef struct FemRigidPose {
	FemPosition center;      // m, mean of its nodes
	FemQuat rotation;        // of the rest shape; all 0: there is none
	FemVec3 linear, angular; // m/s of the centre of mass, rad/s about it
} FemRigidPose;

// How a tet takes a blow (world/step/blows.h), against how it takes the loads of a step.
typedef struct FemTetImpact {
	float stiffness; // Young's modulus in a blow over that of the solve; 0: blows are not looked at by themselves
	float weakness;  // strain at break of the solve over that in a blow
	float surface;   // J/m^2, that a crack takes of the energy of a blow; 0: nothing
} FemTetImpact;

typedef struct FemBody {
	// ---- identity (cold)
	uint16_t generation;
	bool in_use;
	int32_t mesh_index;
	uint64_t user_data;
	uint32_t layer, mask;
	bool self_contact;
	uint8_t dynamics;          // FemDynamics
	float gravity_scale;       // on the world's gravity
	float toughness_scale;     // on the toughness of all tets; infinite: does not break
	FemPosition pose_position; // pose last set, for teleport
	FemQuat pose_rotation;
	FemRigidPose loaded_pose; // of the state it was made from, if that was rigid: saved again while it has not moved
	FemVec3 scale;
	FemVec3 longest_axis; // unit, in the mesh's axes: fibres run along it where no direction is given
	int64_t asleep_since; // steps of the world when it was made asleep; -1: it was not, or comes from a snapshot

	const FemTopology *topology;  // its mesh's, or its own
	FemTopology *own_topology;    // of bodies that have been split (topology/splitting.h), else null
	struct FemBreaking *breaking; // of bodies that can break, else null

	// ---- nodes
	FemPosition origin; // m; positions are relative to it; on a 1 m grid
	// Arrays by node, all of which model/node_arrays.c lists.
	FemVec4 *position; // m
	FemVec4 *velocity; // m/s
	// m/s, the last solve's result: start vector of the next. Of rigid pieces with FemPiece.slack: N, the loads
	// under which they were looked at last, or those that their strain balances, in the axes of `shape`.
	FemVec4 *last_dv;
	FemVec4 *force;          // N, user's forces for the next step
	float *mass;             // kg
	float *mass_damping;     // kg/s, sum of alpha_M over tets
	uint8_t *node_kind;      // FemNodeKind
	float *ground_force;     // N, normal force of the ground in the last step; 0 = no contact
	FemVec4 *published;      // user order: x, y, z, 1 relative to published_origin
	FemVec4 *good_velocity;  // m/s, velocities that belong to `published`, inside order: the state to roll back to
	FemVec4 *shape;          // m, of rigid pieces: from the centre of mass, in the axes of when it became rigid
	FemVec4 *reaction;       // N, on pinned and driven nodes; null until one is pinned
	int32_t published_count; // nodes in `published`
	FemPosition published_origin;
	FemShapeBefore before;
	bool has_forces;

	// ---- tets
	// Arrays by batch, or by tet as [batch * 8 + lane], all of which model/body_tet_arrays.c lists.
	FemBatch *batches;
	FemVec4 *rotation;         // quaternion: warm start of the polar decomposition
	FemBatchPlate *plates;     // null when the mesh has none
	FemBatchPlastic *plastics; // null when no material yields
	FemBatchFibre *fibres;     // null when no material is stiffer along its grain
	int32_t *tet_material;     // index into the world's materials; -1 padding
	float *tet_softening;      // sliver factor on the moduli, 1 = none
	uint8_t *tet_exterior;     // bit i: the face opposite node i is surface; null while the world has contacts off
	// Null for bodies that cannot break.
	float *tet_scale;         // the user's factor on its toughness
	float *tet_toughness;     // Pa, or N with by_force; infinite: does not break
	float *tet_temper;        // share of its material's prestress that is left: 1, or 0 once cracks ran through it
	float *tet_prestress;     // Pa, that is left; part of tet_toughness
	float *tet_crush;         // Pa, pressure at which it goes to grains; 0: never
	float *tet_crack_speed;   // m/s, of the tip of a crack
	float *tet_fragment;      // m^3, of the smallest piece that is made of it
	FemTetImpact *tet_impact; // of blows
	uint8_t *tet_by_force;    // toughness is the paper's force
	// Direction of the fibres, or across the joints of masonry, at rest, unit; w = 1 - 1 / sqrt(ratio) of the strength
	// along it over that across it, less than 0 across joints, 0 where it is the same.
	FemVec4 *tet_grain;

	struct FemBodyStep *step; // what the step under way adds (model/body_step.h); null between steps and for sleepers

	struct FemPlateElements *cells; // cells of plates (model/plate_elements.h); null when the mesh has none

	struct FemPiece *pieces;  // [component_capacity]: model/piece.h
	struct FemModal *modal;   // modes that its one piece moves by (model/modal.h); null: none were given
	struct FemJoined *joined; // the pieces that it is cut into and their bonds (model/bond.h); null: none were told

	// ---- parts
	uint8_t *part_state; // FemIslandState of each part
	int32_t *part_still; // steps below the sleep speed
	int32_t live_part_count;
	int32_t live_tets;    // tets computed since the islands were last updated
	int32_t pinned_count; // pinned and driven nodes
	bool kinematic;
	bool was_asleep;  // at the end of the last step: for events, and what fem_body_is_asleep() says during a step
	bool went_bad;    // became not finite in this step
	float blow_speed; // m/s, largest change of a node's velocity by impulses and explosions since the last step

	float total_mass;       // kg
	float stiffness;        // 1/s^2, largest of its tets: 4 (lambda + 2 mu) sum |g_i|^2 / density >= |K| / m ...
	float damped_stiffness; // 1/s, ... and of that times alpha_K
	bool is_stiff;          // all of it breaks or yields before it is seen to deform
	int32_t max_iterations; // largest of its materials
	float restitution;      // the same

	// ---- contact
	struct FemSurfaceTrees *trees;  // null while the world has contacts off
	struct FemConvexPieces *convex; // parts of its rigid pieces (world/contact/convex_pieces.h); null: not asked for
	int32_t sweep_proxy_count;      // pieces that have one: all, between steps; 0 while the world has contacts off
	float swell;                    // m, by which its surface stands out while its first contacts are found; else 0
	bool trees_moved;               // all of it, asleep or not, is elsewhere than its trees
	int32_t *surface_nodes;
	float *surface_area; // m^2, of each surface node: a third of the rest faces around it
	int32_t surface_node_count;
	FemGroundHit ground_hit; // of the last substep

	void *block, *node_block;
	size_t block_bytes, node_block_bytes;
	float box_min[3], box_max[3]; // of published positions, relative to published_origin
} FemBody;

#endif
