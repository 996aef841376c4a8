// The arrays that a body has by tet, or by batch of 8 tets, listed once: laying them out, freeing, saving and hashing
// go through this list. A split changes which nodes a tet has and never the tet itself, so that nothing copies them.
#ifndef FEM_MODEL_BODY_TET_ARRAYS_H
#define FEM_MODEL_BODY_TET_ARRAYS_H

#include "base/carve.h"
#include "model/body.h"

// In the order of layout, of the hash and of each group of a snapshot.
typedef enum FemTetArrayIndex {
	FEM_TET_ROTATION = 0,
	FEM_TET_PLASTICS,
	FEM_TET_FIBRES,
	FEM_TET_BATCHES,
	FEM_TET_PLATES,
	FEM_TET_MATERIAL,
	FEM_TET_SOFTENING,
	FEM_TET_EXTERIOR,
	FEM_TET_SCALE,
	FEM_TET_TOUGHNESS,
	FEM_TET_TEMPER,
	FEM_TET_PRESTRESS,
	FEM_TET_CRUSH,
	FEM_TET_CRACK_SPEED,
	FEM_TET_FRAGMENT,
	FEM_TET_IMPACT,
	FEM_TET_BY_FORCE,
	FEM_TET_GRAIN,
	FEM_TET_ARRAY_COUNT,
} FemTetArrayIndex;

typedef enum FemTetHome {
	FEM_TETS_OF_BODY = 1, // in the body's own block
	FEM_TETS_OF_BREAKING, // in the block of FemBreaking: bodies that can break
	FEM_TETS_ALONE,       // allocated by itself, where a body needs it
} FemTetHome;

// Groups of a snapshot.
typedef enum FemTetSaved {
	FEM_TETS_NOT_SAVED = 0,   // follows from the mesh, the materials or another array
	FEM_TETS_SAVED,           // of every body
	FEM_TETS_SAVED_PLASTIC,   // of bodies with plastic state
	FEM_TETS_SAVED_BREAKABLE, // of bodies that can break
} FemTetSaved;

typedef struct FemBodyTetArray {
	const char *name;
	size_t offset;      // of the pointer in FemBody
	size_t value_bytes; // of a tet, or of a batch
	bool by_batch;
	FemTetHome home;
	FemTetSaved saved;
	size_t state_offset, state_bytes; // what of a value is state: floats that are saved and hashed
	bool is_hashed;                   // part of what fem_world_hash() tells apart
} FemBodyTetArray;

extern const FemBodyTetArray fem_body_tet_arrays[FEM_TET_ARRAY_COUNT];

// Null: one that the body does not have.
void *fem_body_tet_array(const FemBody *body, const FemBodyTetArray *array);

int32_t fem_body_tet_array_count(const FemBody *body, const FemBodyTetArray *array);

// Those of that home, for topology->batch_count batches.
void fem_body_tet_arrays_place(FemBody *body, FemTetHome home, FemCarver *carver);

// One that stands alone, set to 0; false without memory. Freeing leaves null.
FEM_MUST_USE bool fem_body_tet_array_allocate(FemBody *body, FemTetArrayIndex index);
void fem_body_tet_array_free(FemBody *body, FemTetArrayIndex index);

#endif
