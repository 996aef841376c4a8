// The pieces of bodies that broke: numbers that last, age and limits.
#ifndef FEM_WORLD_PIECES_H
#define FEM_WORLD_PIECES_H

#include "model/piece.h"
#include "world/world.h"

// ---- pieces.c
void fem_pieces_start(FemBody *body, double time); // of a whole body, born then, s
void fem_pieces_renumber(FemBody *body);           // records for the components that a split made
void fem_pieces_follow_split(FemWorld *world, FemBody *body, int32_t body_index);
void fem_piece_tell(FemWorld *world, int32_t body_index, const FemPiece *piece); // that it broke off
void fem_pieces_retire(FemWorld *world);                                 // those beyond limits of number and age
void fem_piece_retire_at(FemBody *body, int32_t component, double time); // s; until then it fades
FemResult fem_piece_limits_check(int32_t piece_limit, float piece_lifetime, float piece_fade);

// ---- piece_measures.c
void fem_pieces_weigh(FemBody *body);                        // their masses, and that of the body
void fem_pieces_count_pinned(FemBody *body);                 // their pinned and driven nodes, and those of the body
void fem_pieces_measure(const FemMesh *mesh, FemBody *body); // sizes; the surface of the body has been listed
FemVec3d fem_body_rest_point(const FemMesh *mesh, const FemBody *body, int32_t node); // m, scaled

#endif
