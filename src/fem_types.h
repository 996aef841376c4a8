// The records that the stages of a step share. A stage's own data stands in its own folder.
//
// Numbering. Users number nodes and tets as in their mesh; inside, both are renumbered once, when the mesh is made:
// nodes component by component and part by part (a METIS part is a contiguous range of nodes), tets by the lowest node
// they touch and packed in batches of 8. `node` and `tet` always mean the inside numbers; user numbers are converted at
// the public API and in published positions only.
#ifndef FEM_TYPES_H
#define FEM_TYPES_H

#include "fem_constants.h"
#include "fem_destruction.h"

// A vector of the solver: x, y, z and a fourth lane that is kept 0, so that 128-bit loads need no mask.
typedef struct FemVec4 {
	float x, y, z, w;
} FemVec4;

typedef struct FemRange {
	int32_t begin, end; // [begin, end)
} FemRange;

// ---- topology

// The connectivity of a tet mesh and everything derived from it. Made once a mesh and shared by its bodies; a body that
// can break has one of its own, with room for the most nodes it can come to (topology/splitting.h).
// Padding lanes repeat the nodes of a tet before them and have no volume, moduli or user tet (-1); so do removed tets.
typedef struct FemTopology {
	int32_t node_count;
	int32_t user_node_count; // users' node numbers given so far: more than node_count once pieces were removed
	int32_t tet_count;       // without padding and removed ones
	int32_t user_tet_count;  // with removed ones
	int32_t batch_count;     // tets inside are numbered batch * 8 + lane
	int32_t component_count;
	int32_t part_count;
	int32_t edge_count;
	int32_t triangle_count;

	// What the arrays can hold; the counts themselves in a topology that cannot be split.
	int32_t node_capacity, component_capacity, part_capacity, edge_capacity, triangle_capacity;

	int32_t *batch_nodes;  // [batch][4][8]
	int32_t *user_of_node; // [node]
	int32_t *node_of_user; // [user node], -1 removed
	int32_t *user_of_tet;  // [batch * 8 + lane], -1 padding or removed
	int32_t *tet_of_user;  // [user tet], -1 removed

	FemRange *component_nodes; // [component]
	FemRange *component_parts; // [component]
	int32_t *component_tets;   // [component]: how many
	FemRange *part_nodes;      // [part]
	int32_t *node_part;        // [node]
	int32_t *part_component;   // [part]

	// Rows of the system matrix without the diagonal: the neighbours of each node, ascending.
	int32_t *row_start; // [node + 1]
	int32_t *row_column;

	// Every edge (i < j) once, ordered by i then j: its two places in the rows and the tets around it.
	// A tet reference is tet * 16 + local(i) * 4 + local(j).
	int32_t *edge_slots;     // [edge][2]: slot of (i, j), slot of (j, i)
	int32_t *edge_tet_start; // [edge + 1]
	int32_t *edge_tets;
	int32_t *node_edge_start; // [node + 1]: the edges whose lower end is this node

	// The tets around each node: tet * 4 + local.
	int32_t *node_tet_start; // [node + 1]
	int32_t *node_tets;

	int32_t *neighbours; // [tet * 4 + local]: the same of the tet across the face opposite local; -1: outer

	int32_t *triangles;     // outer faces, 3 nodes each, counter-clockwise from outside; by lowest node
	int32_t *triangle_tets; // the tet behind each

	struct FemSplitState *split; // null: cannot be split

	size_t bytes; // of the one block that holds all of the above
	void *block;
} FemTopology;

// ---- body

// Material and rest shape of 8 tets, as the element kernel reads them: lane by lane side by side.
typedef struct FemBatch {
	float gradient[3][3][FEM_LANES]; // g of nodes 1..3 (g_0 = -sum): [node - 1][axis], 1/m; plastic flow rewrites it
	float volume[FEM_LANES];         // m^3, rest
	float lambda[FEM_LANES];         // Pa, Lame; slivers softened (mesh quality clamp)
	float mu[FEM_LANES];             // Pa
	float damping[FEM_LANES];        // s, alpha_K
} FemBatch;

// The plate correction of a batch (docs/method.md, "Plates"): transverse shear is scaled.
typedef struct FemBatchPlate {
	float normal[3][FEM_LANES];  // unit, rest frame
	float tangent[3][FEM_LANES]; // unit, rest frame; the second tangent is normal x tangent
	float softening[FEM_LANES];  // 1 - f, 0 = none
} FemBatchPlate;

// Plastic state and limits of a batch.
typedef struct FemBatchPlastic {
	float gradient[3][3][FEM_LANES]; // of the undeformed rest shape
	float strain[6][FEM_LANES];      // e^P: xx yy zz xy yz zx, element frame
	float yield[FEM_LANES];          // norm of elastic strain
	float creep[FEM_LANES];          // 1/s
	float limit[FEM_LANES];          // norm of plastic strain; 0 = elastic
	float deviatoric[FEM_LANES];     // 0 or 1
} FemBatchPlastic;

// What the element kernel leaves for assembly, one cache line a tet: the rotated gradients c_i = R g_i of the 4 nodes,
// and in the fourth lanes V (dt^2 + dt alpha_K) lambda, the same with mu, 0, 0.
typedef struct FemTetBlocks {
	FemVec4 gradient[4];
} FemTetBlocks;

// Forces on the 4 nodes, N: elastic, minus (alpha_K + dt) K v.
typedef struct FemTetForces {
	FemVec4 force[4];
} FemTetForces;

// World axes of a plate tet, for assembly: normal, two tangents; normal.w = (1 - f) V (dt^2 + dt alpha_K) mu.
typedef struct FemTetPlate {
	FemVec4 normal, tangent[2];
} FemTetPlate;

// Cauchy stress of a tet for fracture, Pa, world axes: xx yy zz, then xy yz zx.
typedef struct FemTetStress {
	FemVec4 normal, shear;
} FemTetStress;

typedef enum FemIslandState {
	FEM_ISLAND_ASLEEP = 0,
	FEM_ISLAND_LIVE,
	FEM_ISLAND_KINEMATIC,
} FemIslandState;

// What a body did to the ground in a substep.
typedef struct FemGroundHit {
	float impulse;    // N s, normal; 0: it did not touch
	float speed;      // m/s, of the fastest node down, before the step
	float force;      // N, of the node that pressed hardest,
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

// What one step computes of a body, in the step's arena: from the islands stage to the end of the step, for bodies that
// are not asleep. Kinematic ones have no arrays.
typedef struct FemBodyStep {
	// ---- tets: [batch * 8 + lane]
	FemTetBlocks *tet_blocks;
	FemTetForces *tet_forces;
	FemTetPlate *tet_plates;  // null when the mesh has none
	FemTetStress *tet_stress; // of bodies that can break, else null

	// ---- the system
	float *row_blocks; // 9 floats (column-major) per entry of row_column, (dt^2 + dt alpha_K) K_ij
	FemVec4 *diagonal; // [node], kg: mass (1 + dt alpha_M) and ground contact, per axis
	FemVec4 *ground;   // [node]: contact with the ground, see collision/ground.h
	float
		*contact_blocks; // 6 floats a node (symmetric): added by contacts to its diagonal block; null without contacts
	float *diagonal_blocks; // 9 floats a node: scratch for a new factor
	float *node_blocks;     // 12 floats a node: inverse of the diagonal 3x3 block, 3 columns of 4; 0 for pinned nodes
	FemVec4 *rhs, *dv, *residual, *direction, *product, *z; // [node]: of the conjugate gradients

	// ---- of live parts
	int32_t *part_chunk;  // [part]: its first chunk in the list of its composite
	int32_t *part_island; // [part]

	// ---- fracture; of bodies that can break, in steps that look for cracks
	uint8_t *node_hot;                 // [node]: beside a tet with a tension that might break it
	FemTetStress *tension;             // [tet]: the tensile part of tets around hot nodes
	struct FemSeparation *separations; // [node]
	int32_t separation_count;

	float fast_displacement; // m, longest of a surface node
} FemBodyStep;

typedef struct FemBody {
	// ---- identity (cold)
	uint16_t generation;
	bool in_use;
	int32_t mesh_index;
	uint64_t user_data;
	uint32_t layer, mask;
	bool self_contact;
	float gravity_scale;       // on the world's gravity
	float toughness_scale;     // on the toughness of all tets; infinite: does not break
	FemPosition pose_position; // pose last set, for teleport
	FemQuat pose_rotation;
	FemRigidPose loaded_pose; // of the state it was made from, if that was rigid: saved again while it has not moved
	FemVec3 scale;
	int64_t asleep_since; // steps of the world when it was made asleep; -1: it was not, or comes from a snapshot

	const FemTopology *topology;  // its mesh's, or its own
	FemTopology *own_topology;    // of bodies that have been split (topology/splitting.h), else null
	struct FemBreaking *breaking; // of bodies that can break, else null

	// ---- nodes
	FemPosition origin;      // m; positions are relative to it; on a 1 m grid
	FemVec4 *position;       // m
	FemVec4 *velocity;       // m/s
	FemVec4 *last_dv;        // m/s, the last solve's result: start vector of the next
	FemVec4 *force;          // N, user's forces for the next step
	float *mass;             // kg
	float *mass_damping;     // kg/s, sum of alpha_M over tets
	uint8_t *node_kind;      // FemNodeKind
	FemVec4 *reaction;       // N, on pinned and driven nodes; null until one is pinned
	float *ground_force;     // N, normal force of the ground in the last step; 0 = no contact
	FemVec4 *published;      // user order: x, y, z, 1 relative to published_origin
	int32_t published_count; // nodes in it
	FemPosition published_origin;
	FemShapeBefore before;
	FemVec4 *good_velocity; // velocities that belong to `published`, inside order: the state to roll back to
	bool has_forces;

	// ---- tets
	FemBatch *batches;
	FemVec4 *rotation;         // [batch * 8 + lane], quaternion: warm start of the polar decomposition
	FemBatchPlate *plates;     // null when the mesh has none
	FemBatchPlastic *plastics; // null when no material yields
	int32_t *tet_material;     // [batch * 8 + lane], index into the world's materials; -1 padding
	float *tet_softening;      // [batch * 8 + lane], sliver factor on the moduli, 1 = none

	FemBodyStep *step; // what the step under way adds; null between steps, and for what sleeps

	struct FemPiece *pieces; // [component_capacity]: topology/piece.h

	// ---- parts
	uint8_t *part_state; // FemIslandState of each part
	int32_t *part_still; // steps below the sleep speed
	int32_t live_part_count;
	int32_t live_tets;    // tets computed since the islands were last updated
	int32_t pinned_count; // pinned and driven nodes
	bool kinematic;
	bool was_asleep; // at the end of the last step: for events, and what fem_body_is_asleep() says during a step
	bool went_bad;   // turned not finite in this step

	float total_mass;       // kg
	float stiffness;        // 1/s^2, largest of its tets: 4 (lambda + 2 mu) sum |g_i|^2 / density >= |K| / m ...
	float damped_stiffness; // 1/s, ... and of that times alpha_K
	int32_t max_iterations; // largest of its materials

	// ---- contact
	struct FemSurfaceTrees *trees; // null while the world has contacts off
	int32_t sweep_proxy_count;     // pieces that have one: all, between steps; 0 while the world has contacts off
	bool trees_moved;              // all of it, asleep or not, is elsewhere than its trees
	uint8_t *tet_exterior;         // [batch * 8 + lane]: bit i: the face opposite node i is surface
	int32_t *surface_nodes;
	float *surface_area; // m^2, of each surface node: a third of the rest faces around it
	int32_t surface_node_count;
	bool is_convex;          // at rest: it must bend far before it can touch itself
	float thickness;         // m, 2 volume / surface: that of a plate, a third of a cube's edge
	FemGroundHit ground_hit; // of the last substep
	float box_area;          // (volume of the rest box)^(2/3), m^2: mass over this is the scale of contact

	void *block, *node_block;
	size_t block_bytes, node_block_bytes;
	float box_min[3], box_max[3]; // of published positions, relative to published_origin
} FemBody;

// A maximal connected set of live parts of one component: one linear system (P&O09 section 4).
typedef struct FemIsland {
	int32_t body;
	int32_t component;
	FemRange parts;       // into FemIslands.part_list
	FemRange node_chunks; // into FemIslands.node_chunks: fixed units of row work
	int32_t node_count;
	int32_t pinned_count;
	bool whole;         // all parts of the component are live
	int32_t iterations; // of the last solve: its expected cost
} FemIsland;

// A unit of row work: at most FEM_NODE_CHUNK nodes of one part. Sums are taken chunk by chunk in this order.
typedef struct FemNodeChunk {
	int32_t body;
	int32_t island;
	int32_t begin, end;
} FemNodeChunk;

// A unit of element work: batches of one body that touch a live node.
typedef struct FemBatchChunk {
	int32_t body;
	int32_t begin, end;
} FemBatchChunk;

// ---- contact

// One side of a contact: a point of a tet (or a single node: one weight is 1), or a point of a collider.
typedef struct FemContactSide {
	int32_t body;     // index; -1: a collider
	int32_t tet;      // inside number; of a collider its index
	int32_t proxy;    // collider: whose unknowns it acts on, its own or its leader's
	int32_t nodes[4]; // inside numbers
	float weights[4]; // barycentric coordinates of the point
	float arm[3];     // collider: the point from its centre of mass, m
	bool is_fixed;    // a sleeping body, or a collider without mass: not an unknown of the solve
} FemContactSide;

// One-sided implicit damping between two points (P&O09 section 6, made one-sided): with u the velocity of side 0
// against side 1, the normal impulse is k_n max(0, n.u+ + b), friction k_t times the tangential u+.
typedef struct FemContact {
	FemContactSide side[2];
	float normal[3];         // unit, from side 0 to side 1
	float area;              // m^2
	float depth;             // m; negative: a gap that may close within the step
	float bias;              // b, m/s: out of the overlap while deep, what may be closed of a gap
	float normal_strength;   // k_n = dt phi A, kg
	float friction;          // Coulomb coefficient of the pair
	float friction_strength; // k_t = dt c_t, kg, from the last pass
	float normal_impulse;    // normal impulse the last solve asks for, N s; 0 = not pressing
	float impulse[3]; // N s, on side 1: what the last solve gave, by the active set and friction it was made with
	float slip;       // m/s, tangential speed after the last solve
	float approach;   // m/s, along the normal before the step; positive: closing in
	float pair_load;  // N s a step: what the pair of bodies presses, smoothed over steps; the same in all its contacts
	float static_integral[3]; // m, paper's friction: way slipped while static
	float static_slip[3];     // m/s, tangential velocity at the start of the last step
	float static_impulse[3];  // N s, on side 1: explicit friction of this step
	bool is_static;           // below the threshold speed
	bool is_saturated;        // its static friction is at its limit
	bool active;              // takes part in the matrix
	bool of_sheet;            // one of the two is thin: what pulled is not taken off friction
	uint64_t key;             // the pair of places, for finding it again in the next step
} FemContact;

// A rigid body in the solve: fixed, moving as told, or with mass.
typedef struct FemProxy {
	float velocity[3]; // m/s, of the centre of mass
	float spin[3];     // rad/s
	float mass;        // kg; 0: not dynamic, moves as told
	float inertia[6];  // kg m^2, world axes, about the centre of mass: xx yy zz xy yz zx
	float impulse[6];  // external, N s and N m s: gravity, joints, loads seen elsewhere
	float dv[6], residual[6], direction[6], product[6], z[6]; // the solver's: linear, angular
} FemProxy;

#endif
