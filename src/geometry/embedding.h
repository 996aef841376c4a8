// Ties points (render vertices) to tets: a tet and four weights each.
#ifndef FEM_GEOMETRY_EMBEDDING_H
#define FEM_GEOMETRY_EMBEDDING_H

#include "base/vec.h"

// No weight leaves [-FEM_EMBED_WEIGHT, 1 + FEM_EMBED_WEIGHT]: a point farther outside its tet is tied as if it lay
// nearer, so that the tet's strain moves it by at most that many edges.
#define FEM_EMBED_WEIGHT 4.0f

typedef struct FemEmbedMesh {
	int32_t node_count, tet_count;
	const FemVec3 *nodes; // m
	const int32_t *tets;  // 4 a tet
	// Null or the member of each tet: a point with an entry in point_members is tied to a tet of its own member, if
	// that has tets. A member is a connected solid of the mesh that was filled (filling/soup_members.h).
	const int32_t *tet_members;
} FemEmbedMesh;

typedef struct FemEmbedding {
	int32_t count;
	int32_t *tets;       // [point]
	float (*weights)[4]; // [point], sum 1; outside the tet some are negative
	int32_t outside;     // points that no tet holds
	int32_t limited;     // of those, points whose weights were limited: they do not lie exactly where they were
	float max_outside;   // m, farthest distance from a point to its tet
	float max_error;     // m, farthest that a point lies from where it was, at rest
} FemEmbedding;

// point_members may be null; entries of -1 mean any member, of points that no triangle is drawn with: how far they are
// outside is not counted.
FemResult fem_embed(
	const FemEmbedMesh *mesh, const FemVec3 *points, const int32_t *point_members, int32_t count, FemEmbedding *out);
void fem_embedding_free(FemEmbedding *embedding);

// Pulls the point with these weights towards the tet's nearest point until none leaves the limits above; returns the
// share of the distance that is left, 1 when nothing had to be done. `p` is the point itself.
double fem_embed_limit(const FemVec3d corners[4], FemVec3d p, double weights[4]);

#endif
