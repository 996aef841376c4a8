// A world with one unit cube of 27 nodes and 40 tets in it.
#ifndef FEM_SCENES_CUBE_SCENE_H
#define FEM_SCENES_CUBE_SCENE_H

#include "scenes/box_mesh.h"

typedef struct FemCubeScene {
	FemWorldId world;
	FemMaterialId material; // the default one
	FemMeshId mesh;
	FemBodyId body;
	int64_t bytes_before; // the engine's memory before the world was made
} FemCubeScene;

FemCubeScene fem_cube_scene(void);
FemCubeScene fem_cube_scene_in(const FemWorldDef *world_def); // not the default world

// Another cube like the first.
FemBodyId fem_cube_scene_add(const FemCubeScene *scene);

// Checks that the world is whole, frees it, and checks that its memory came back.
void fem_cube_scene_end(FemCubeScene *scene);

#endif
