// What the files of fracture in this folder share.
#ifndef FEM_WORLD_BREAKING_H
#define FEM_WORLD_BREAKING_H

#include "fracture/crack.h"
#include "fracture/splinters.h"
#include "topology/splitting.h"
#include "world/step/step.h"
#include "world/world.h"

typedef struct FemPiece {
	FemPieceNumber number, parent;
	double born;    // s, of the world's time
	double retires; // the same: when it is removed because there are too many; infinite: it is not one too many
} FemPiece;

// ---- pieces.c
bool fem_piece_is_attached(const FemBody *body, int32_t component); // a node of it is pinned or driven
int32_t fem_largest_piece(const FemTopology *topology);
FemResult fem_piece_limits_check(int32_t piece_limit, float piece_lifetime, float piece_fade);

// ---- piece_fading.c
double fem_piece_time_left(const FemWorld *world, const FemBody *body, int32_t component, int32_t largest); // s, or infinite

// ---- snapshot_breaking.c
void fem_body_forget_removed(FemBody *body); // of a body that was built whole: tets that its topology no longer has

// ---- body_splinters.c
FemResult fem_splinters_def_check(const FemSplintersDef *def, int32_t tet_count);
// Of a checked def; null (with a sentence) when memory fails. Its own ones have no owners yet; shared ones are those of all
// whole bodies of the mesh to which the same was given.
FemSplinters *fem_body_make_splinters(const FemWorld *world, const FemBody *body, const FemSplintersDef *def);
FemSplinters *fem_body_share_splinters(FemWorld *world, const FemBody *body, const FemSplintersDef *def);
void fem_mesh_forget_splinters(FemMesh *mesh); // those that nobody shares any more
void fem_splinters_publish_all(FemWorld *world);

#endif
