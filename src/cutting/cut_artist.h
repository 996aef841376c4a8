// The artist's own pieces: the shells of a mesh, also where they touch.
#ifndef FEM_CUTTING_CUT_ARTIST_H
#define FEM_CUTTING_CUT_ARTIST_H

#include "cutting/cut_mesh.h"

typedef struct FemArtistPieces {
	int32_t *labels; // [triangle]: its piece is the set of triangles with the same label
	int32_t triangle_count;
	int32_t open_count; // pieces that are not closed
} FemArtistPieces;

// A closed shell is one piece, whatever surfaces of the render mesh it has; its cavities belong to it. What is open
// falls into its surfaces and, within these, into what hangs together.
FemResult fem_artist_pieces_create(FemArtistPieces *pieces, const FemCutMesh *mesh, const FemRenderMesh *render);
void fem_artist_pieces_free(FemArtistPieces *pieces);

#endif
