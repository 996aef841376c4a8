// Which pieces move as rigid bodies.
//
// A shard of glass or brick does not deform that anybody could see before it breaks. Between blows it needs six
// unknowns in place of three a node, is exact in rotation, and rests where floats could not hold its stiffness. A piece
// becomes rigid when its material is stiff, in that it breaks or yields at a strain of 1 %, and nothing that
// happens in it counts: its tension is low and what it vibrates cannot break it, or it is at rest under a load that it
// carries. It keeps its momenta, its shape and the strain in it. It becomes elastic again when the tension that its
// loads would make (piece_probe.h) rises by a share of a tet's strength above what is in the shape, or falls by more:
// with the next step, or, where that tension may break it in this one, in this very step: it goes back to the start as
// what breaks does, and takes the step again. Pieces that pins hold over an area do not move at all while they are
// rigid; what hangs on a line of pins or on one, and cannot be split again, swings about them. A piece that cannot
// break is rigid while it is not seen to bend, unless it is pinned.
#ifndef FEM_WORLD_RIGID_PIECES_H
#define FEM_WORLD_RIGID_PIECES_H

#include "world/step/step.h"
#include "world/world.h"

// At the start of the step: pieces of bodies that are to be rigid become so.
void fem_rigid_pieces_begin(FemStep *step);

// After the splits of a pass: stiff pieces that are too small to be split again are rigid from their making on, others
// that their strain cannot split (FemPiece.cannot_split) until it is more than they bore.
void fem_rigid_pieces_take_crumbs(FemStep *step);

// Whether a piece may be rigid in place of strained beyond its strength.
bool fem_rigid_pieces_may_hold(const FemBody *body, int32_t component);

// After the looks at blows: what they broke moves as rigid pieces, too, until the step's own loads strain it.
void fem_rigid_pieces_take_struck(FemStep *step);

// After the move of a pass: rigid pieces that their loads might break within the step become elastic, and their bodies
// go back to its start. True when there are some. Others with high loads leave at the end of the step.
bool fem_rigid_pieces_release(FemStep *step);

// At the end of the step: pieces that nothing strains become rigid.
void fem_rigid_pieces_settle(FemStep *step);

// For limits on the work of a step: makes a piece rigid, if it is stiff, until its loads change.
// False: it stays elastic.
bool fem_rigid_piece_take(FemBody *body, int32_t component);

// Of a piece that is to go (FemPiece.retires): it is rigid whatever its loads, if it is stiff and awake.
void fem_rigid_piece_give_up(FemBody *body, int32_t component);

int32_t fem_rigid_pieces_count(const FemWorld *world); // that are awake

#endif
