// Where and how a body wants to come apart: the separation tensor of its nodes (O'Brien & Hodgins 1999, section 4.2)
// from the stresses that the element stage left, in three sweeps over live batches and nodes, each of which threads
// share.
#ifndef FEM_FRACTURE_SEPARATION_H
#define FEM_FRACTURE_SEPARATION_H

#include "base/vec.h"
#include "fem_constants.h"
#include "fem_fracture.h"
#include "model/body.h"
#include "model/piece.h"

// A node that wants to split.
typedef struct FemSeparation {
	int32_t node;
	float normal[3]; // of the plane, unit, world
	float excess;    // stress over strength, more than 1
	bool is_pierced; // by what strikes it: its energy comes from there, so that pieces may be smaller than fragments
	uint64_t ticket; // for the order among equals
} FemSeparation;

// What fracture keeps and makes for one body; all by inside numbers.
typedef struct FemBreaking {
	bool has_grain;
	bool has_mortar;
	bool has_impacts; // blows on some of its material are looked at by themselves (world/step/blows.h)
	bool can_break;   // some tet has a finite toughness
	bool has_prestress;
	bool can_crush; // some tet goes to grains under pressure (world/step/crushing.h)
	bool is_dicing; // cracks may run on through prestressed tets (fracture/dice.h)
	uint64_t seed;

	// s, of the world's time: until when the tips of cracks have run. They are not faster than the materials'
	// crack_speed, and with a step that ends before it nothing splits.
	double crack_time;
	double dice_time;    // s, the same of those that prestress drives
	double crushed_mass; // kg, that went to grains
	int32_t blow_waits;  // steps for which a blow on it has waited to be looked at (world/step/blow_waits.h)
	uint32_t next_piece;
	int32_t piece_tets_min;                // of the smallest pieces, in this step, ...
	int32_t pieces_free;                   // ... when there are so many
	int32_t piece_limit;                   // 0: none
	double retires_from;                   // s, world time before which no piece of it goes that was told to; 0: look
	float piece_lifetime;                  // s; 0: for ever
	float piece_fade;                      // s, between being one too many and being removed
	struct FemSplinters *splinters;        // fracture/splinters.h; or null
	struct FemSplinterHomes *loaded_homes; // of a state, for splinters that the body is yet to be given; or null

	// ---- of a body with a topology of its own (world/step/splittable.c), else null
	struct FemPiece *old_pieces; // [component]: before the last split
	int32_t *node_rank;      // [node]: its place when the mesh was ordered for elimination; copies have their parent's
	int32_t *part_rank;      // [part]: the same for parts
	FemVec4 *scratch;        // [node]
	int32_t *order, *cursor; // [node + part + 1]: scratch
	uint8_t *marks;          // [node], [part]: scratch

	// ---- of a step, in the heap of the world
	struct FemFaceCut *cuts; // faces opened in this step
	int32_t cut_count, cut_capacity;
	int32_t split_count;    // nodes split in this step
	bool was_struck;        // some of it, in this step (world/step/blows.h)
	double crack_area;      // m^2, for which the energy of these blows is still enough
	int32_t tree_builds;    // in this step
	bool was_split;         // the topology changed in this pass
	bool has_dice;          // the front that dices it went on in this pass
	bool surface_is_stale;  // it changed in a pass of this step: trees are of before
	bool has_no_memory;     // it wanted to, and there was no memory
	FemFractureFace *faces; // [cut_capacity]: the same for the user, without body and material

	void *block, *split_block; // the first also holds arrays by tet of the body (model/body_tet_arrays.h)
	size_t bytes, split_bytes;
} FemBreaking;

// Tets of the smallest piece that is made of a body that can break.
static inline int32_t fem_fewest_tets(const FemBody *body) {
	bool is_limited = body->breaking->piece_tets_min > FEM_PIECE_TETS_MIN;
	return is_limited && body->topology->component_count >= body->breaking->pieces_free ? body->breaking->piece_tets_min
																						: FEM_PIECE_TETS_MIN;
}

// Pa, an upper bound of the largest principal stress of a tet as its fibres feel it: what pulls along them counts one
// part in the ratio of their strengths.
float fem_felt_tension(const FemBody *body, int32_t tet, const FemTetStress *stress);

// Each for a run of batches or nodes, on any thread. First: marks nodes beside tets in tension (node_hot must be 0),
// `share` of what is usual. Of rigid pieces only when they are looked at in a blow; else loads decide on them
// (world/step/rigid_pieces.h).
void fem_separation_find_hot(FemBody *body, int32_t batch_begin, int32_t batch_end, float share, bool has_rigid);

// Second: tensile parts of the tets around hot nodes, normals of cells.
void fem_separation_find_tension(FemBody *body, int32_t batch_begin, int32_t batch_end);

// Third: whether a node wants to split, with `gain` on its stress. `star` are its tets (tet * 4 + local). Without the
// second (FemBodyStep.tension is null) it makes the tensile parts itself.
bool fem_separation_of_node(
	const FemBody *body, int32_t node, const int32_t *star, int32_t star_count, float gain, FemSeparation *out);

#endif
