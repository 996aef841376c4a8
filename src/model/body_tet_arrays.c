#include "model/body_tet_arrays.h"

#include "base/assert.h"
#include "model/tet_batches.h"
#include "topology/topology.h"

#include <assert.h>
#include <string.h>

#define ARRAY(member, where) \
	.name = #member, .offset = offsetof(FemBody, member), .value_bytes = sizeof *((FemBody *)0)->member, .home = where

#define STATE(group, begin, bytes) .saved = group, .state_offset = begin, .state_bytes = bytes

const FemBodyTetArray fem_body_tet_arrays[FEM_TET_ARRAY_COUNT] = {
	[FEM_TET_ROTATION] = {ARRAY(rotation, FEM_TETS_OF_BODY), STATE(FEM_TETS_SAVED, 0, sizeof(FemVec4)),
		.is_hashed = true},
	// Strain and fold.
	[FEM_TET_PLASTICS] = {ARRAY(plastics, FEM_TETS_ALONE), .by_batch = true,
		STATE(FEM_TETS_SAVED_PLASTIC, offsetof(FemBatchPlastic, strain), sizeof(float) * 7 * FEM_LANES),
		.is_hashed = true},
	[FEM_TET_FIBRES] = {ARRAY(fibres, FEM_TETS_ALONE), .by_batch = true},
	// Plastic flow rewrites the gradients; without it they are those of the mesh.
	[FEM_TET_BATCHES] = {ARRAY(batches, FEM_TETS_OF_BODY), .by_batch = true,
		STATE(FEM_TETS_SAVED_PLASTIC, offsetof(FemBatch, gradient), sizeof(float) * 9 * FEM_LANES)},
	[FEM_TET_PLATES] = {ARRAY(plates, FEM_TETS_ALONE), .by_batch = true},
	// Saved by users' numbers, since a body is built from it before its state is read.
	[FEM_TET_MATERIAL] = {ARRAY(tet_material, FEM_TETS_OF_BODY)},
	[FEM_TET_SOFTENING] = {ARRAY(tet_softening, FEM_TETS_OF_BODY)},
	[FEM_TET_EXTERIOR] = {ARRAY(tet_exterior, FEM_TETS_ALONE)},
	[FEM_TET_SCALE] = {ARRAY(tet_scale, FEM_TETS_OF_BREAKING), STATE(FEM_TETS_SAVED_BREAKABLE, 0, sizeof(float))},
	[FEM_TET_TOUGHNESS] = {ARRAY(tet_toughness, FEM_TETS_OF_BREAKING)},
	[FEM_TET_TEMPER] = {ARRAY(tet_temper, FEM_TETS_OF_BREAKING), STATE(FEM_TETS_SAVED_BREAKABLE, 0, sizeof(float)),
		.is_hashed = true},
	[FEM_TET_PRESTRESS] = {ARRAY(tet_prestress, FEM_TETS_OF_BREAKING)},
	[FEM_TET_CRUSH] = {ARRAY(tet_crush, FEM_TETS_OF_BREAKING)},
	[FEM_TET_CRACK_SPEED] = {ARRAY(tet_crack_speed, FEM_TETS_OF_BREAKING)},
	[FEM_TET_FRAGMENT] = {ARRAY(tet_fragment, FEM_TETS_OF_BREAKING)},
	[FEM_TET_IMPACT] = {ARRAY(tet_impact, FEM_TETS_OF_BREAKING)},
	[FEM_TET_BY_FORCE] = {ARRAY(tet_by_force, FEM_TETS_OF_BREAKING)},
	[FEM_TET_GRAIN] = {ARRAY(tet_grain, FEM_TETS_OF_BREAKING)},
};

// The pointers stand side by side in the record: one that is added there and not to the list does not compile.
static_assert(offsetof(FemBody, step) - offsetof(FemBody, batches) == FEM_TET_ARRAY_COUNT * sizeof(void *),
	"every array by tet of FemBody has a row in fem_body_tet_arrays");

void *fem_body_tet_array(const FemBody *body, const FemBodyTetArray *array) {
	void *values;
	memcpy(&values, (const char *)body + array->offset, sizeof values);
	return values;
}

static void set_array(FemBody *body, const FemBodyTetArray *array, void *values) {
	memcpy((char *)body + array->offset, &values, sizeof values);
}

int32_t fem_body_tet_array_count(const FemBody *body, const FemBodyTetArray *array) {
	return body->topology->batch_count * (array->by_batch ? 1 : FEM_LANES);
}

static size_t array_bytes(const FemBody *body, const FemBodyTetArray *array) {
	return array->value_bytes * (size_t)fem_body_tet_array_count(body, array);
}

void fem_body_tet_arrays_place(FemBody *body, FemTetHome home, FemCarver *carver) {
	FEM_ASSERT(home != FEM_TETS_ALONE);
	for (int i = 0; i < FEM_TET_ARRAY_COUNT; i++) {
		const FemBodyTetArray *array = &fem_body_tet_arrays[i];
		if (array->home == home)
			set_array(body, array, fem_carve(carver, array_bytes(body, array)));
	}
}

bool fem_body_tet_array_allocate(FemBody *body, FemTetArrayIndex index) {
	const FemBodyTetArray *array = &fem_body_tet_arrays[index];
	FEM_ASSERT(array->home == FEM_TETS_ALONE && !fem_body_tet_array(body, array));
	set_array(body, array, fem_alloc(array_bytes(body, array)));
	return fem_body_tet_array(body, array) != NULL;
}

void fem_body_tet_array_free(FemBody *body, FemTetArrayIndex index) {
	const FemBodyTetArray *array = &fem_body_tet_arrays[index];
	FEM_ASSERT(array->home == FEM_TETS_ALONE);
	fem_free(fem_body_tet_array(body, array), array_bytes(body, array));
	set_array(body, array, NULL);
}
