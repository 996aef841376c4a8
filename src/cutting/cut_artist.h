// The artist's own splinters: the shells of a mesh, also where they touch.
#ifndef FEM_CUTTING_CUT_ARTIST_H
#define FEM_CUTTING_CUT_ARTIST_H

#include "cutting/cut_mesh.h"

typedef struct FemArtistSplinters {
	int32_t *labels; // [triangle]: its splinter is the set of triangles with the same label
	int32_t triangle_count;
	int32_t open_count; // splinters that are not closed
} FemArtistSplinters;

// A closed shell is one splinter, whatever surfaces of the render mesh it has; its cavities belong to it. What is open
// falls into its surfaces and, within these, into what hangs together.
FemResult fem_artist_splinters_create(
	FemArtistSplinters *splinters, const FemCutMesh *mesh, const FemRenderMesh *render);
void fem_artist_splinters_free(FemArtistSplinters *splinters);

#endif
