// An OBJ file while it is read, and its surfaces made of it.
#ifndef FEM_BAKE_OBJ_MODEL_H
#define FEM_BAKE_OBJ_MODEL_H

#include "base/growing.h"
#include "fem_bake/files/import_surface.h"

typedef struct FemObjPosition {
	FemVec3 place; // m
	uint8_t color[4];
} FemObjPosition;

typedef struct FemObjUv {
	float uv[2];
} FemObjUv;

typedef struct FemObjCorner {
	int32_t position, uv, normal; // uv and normal: -1 for none
} FemObjCorner;

typedef struct FemObjSurface {
	char name[FEM_SURFACE_NAME_SIZE], material[FEM_MATERIAL_NAME_SIZE];
	FemObjCorner *corners; // 3 a triangle
	int32_t corner_count, corner_capacity;
} FemObjSurface;

typedef struct FemObjModel {
	FemObjPosition *positions;
	FemObjUv *uvs;
	FemVec3 *normals;      // unit, or 0 for one without length
	FemObjCorner *polygon; // the face being read
	FemVec3 *outline;      // its places
	int32_t *cut;          // its triangles
	FemObjSurface *surfaces;
	int32_t position_count, uv_count, normal_count, polygon_count, surface_count;
	int32_t position_capacity, uv_capacity, normal_capacity, polygon_capacity, surface_capacity;
	int32_t cut_capacity;                                                // corners that outline and cut have room for
	char group[FEM_SURFACE_NAME_SIZE], material[FEM_MATERIAL_NAME_SIZE]; // in force
	int32_t surface;                                                     // that faces go to, -1 = to be found
	bool by_group;                                                       // groups are surfaces, not only materials
	bool too_many_groups;
	bool has_colors;
} FemObjModel;

FemObjSurface *fem_obj_model_surface(FemObjModel *model); // the one in force; null when there are too many
bool fem_obj_surface_add_polygon(FemObjModel *model, FemObjSurface *surface); // false when memory fails
bool fem_obj_model_finish(const FemObjModel *model, FemRenderMesh *out);      // false when memory fails
void fem_obj_model_free(FemObjModel *model);

#endif
