// Vectors, ids and results of the public API; conventions in fem_destruction.h.
#ifndef FEM_BASICS_H
#define FEM_BASICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FemVec3 {
	float x, y, z;
} FemVec3;

typedef struct FemPosition {
	double x, y, z; // m, a place in the world
} FemPosition;

typedef struct FemQuat {
	float x, y, z, w;
} FemQuat;

typedef struct FemWorldId {
	uint16_t index1; // 1-based; 0 is null
	uint16_t generation;
} FemWorldId;

typedef struct FemMeshId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemMeshId;

typedef struct FemMaterialId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemMaterialId;

typedef struct FemBodyId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemBodyId;

typedef struct FemColliderId {
	int32_t index1;
	uint16_t world0;
	uint16_t generation;
} FemColliderId;

// Whether an id is null, which does not ask whether the thing is still there (fem_..._is_valid() does), and whether two
// ids name the same thing. [any time]
static inline bool fem_world_id_is_null(FemWorldId id) {
	return id.index1 == 0;
}

static inline bool fem_mesh_id_is_null(FemMeshId id) {
	return id.index1 == 0;
}

static inline bool fem_material_id_is_null(FemMaterialId id) {
	return id.index1 == 0;
}

static inline bool fem_body_id_is_null(FemBodyId id) {
	return id.index1 == 0;
}

static inline bool fem_collider_id_is_null(FemColliderId id) {
	return id.index1 == 0;
}

static inline bool fem_world_ids_are_equal(FemWorldId a, FemWorldId b) {
	return a.index1 == b.index1 && a.generation == b.generation;
}

static inline bool fem_mesh_ids_are_equal(FemMeshId a, FemMeshId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

static inline bool fem_material_ids_are_equal(FemMaterialId a, FemMaterialId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

static inline bool fem_body_ids_are_equal(FemBodyId a, FemBodyId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

static inline bool fem_collider_ids_are_equal(FemColliderId a, FemColliderId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

typedef enum FemResult {
	FEM_OK = 0,
	FEM_ERROR_INVALID_ID,       // null, freed, or of another world
	FEM_ERROR_INVALID_ARGUMENT, // not finite, out of range, null pointer
	FEM_ERROR_STEPPING,         // a step is under way
	FEM_ERROR_IN_USE,           // a mesh or material that a body still uses
	FEM_ERROR_MESH,             // degenerate, duplicate or dangling parts
	FEM_ERROR_LIMIT,            // too many worlds, bodies, nodes
	FEM_ERROR_MEMORY,           // the system gave no memory
	FEM_ERROR_FORMAT,           // not a snapshot, or of another version, or damaged
} FemResult;

// One sentence about the last failure on the calling thread; never null, empty when nothing failed yet. [any time]
const char *fem_last_error(void);

// A short name of a result, for logs. [any time]
const char *fem_result_name(FemResult result);

#ifdef __cplusplus
}
#endif

#endif
