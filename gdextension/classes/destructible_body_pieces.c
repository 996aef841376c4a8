// What scripts can ask of a body's pieces, and do to them.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "simulation/node_pose.h"

#include <stdlib.h>

int64_t destructible_body_get_piece_count(void *self) {
	return fem_body_get_pieces(((DestructibleBody *)self)->simulated.body, NULL, 0);
}

void destructible_body_get_pieces(void *pointer, GdPackedInt32Array *out) {
	FemBodyId body = ((DestructibleBody *)pointer)->simulated.body;
	int32_t count = fem_body_get_pieces(body, NULL, 0);
	gd_packed_int32_array_resize(out, count);
	if (count > 0) {
		_Static_assert(sizeof(FemPieceNumber) == sizeof(int32_t), "a piece's number fits a PackedInt32Array");
		fem_body_get_pieces(body, (FemPieceNumber *)godot.packed_int32_array_operator_index(out, 0), count);
	}
}

// False, with a message, when there is no such piece.
static bool find_piece(DestructibleBody *self, int64_t piece, FemPieceState *out) {
	if (!self->simulated.world) {
		return false;
	}
	FemPieceNumber number = piece > 0 && piece <= INT32_MAX ? (FemPieceNumber)piece : 0;
	if (fem_body_get_piece_state(self->simulated.body, number, out) == FEM_OK) {
		return true;
	}
	destructible_body_report(self, "was asked for a piece", fem_last_error());
	return false;
}

static GdVector3 vector_of(FemPosition p) {
	return (GdVector3){(float)p.x, (float)p.y, (float)p.z};
}

static GdTransform3D transform_of(const FemPieceState *state) {
	return (GdTransform3D){node_pose_basis(state->rotation), vector_of(state->center)};
}

GdTransform3D destructible_body_get_piece_transform(void *self, int64_t piece) {
	FemPieceState state = {.rotation = {0.0f, 0.0f, 0.0f, 1.0f}};
	find_piece(self, piece, &state);
	return transform_of(&state);
}

// Numbers of tets or nodes of a piece, `count` of them.
typedef int32_t ReadNumbers(FemBodyId body, FemPieceNumber piece, int32_t *out, int32_t capacity);

static void put_numbers(
	GdDictionary *out, const char *key, FemBodyId body, FemPieceNumber piece, int32_t count, ReadNumbers *read) {
	GdPackedInt32Array numbers = gd_packed_int32_array_new();
	gd_packed_int32_array_resize(&numbers, count);
	if (count > 0) {
		read(body, piece, godot.packed_int32_array_operator_index(&numbers, 0), count);
	}
	dictionary_take(out, key, make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY, &numbers));
	gd_packed_int32_array_free(&numbers);
}

static void put_value(GdDictionary *out, const char *key, GDExtensionVariantType type, const void *value) {
	dictionary_take(out, key, make_variant(type, value));
}

// Whether no splinter shows the piece: its first tet is among the bare ones, which ascend.
static bool is_bare(FemBodyId body, FemPieceNumber piece) {
	int32_t first = -1, count = fem_body_get_bare_tets(body, NULL, 0);
	int32_t *tets = count > 0 ? malloc((size_t)count * sizeof(int32_t)) : NULL;
	bool is_found = false;
	fem_body_get_piece_tets(body, piece, &first, 1);
	count = tets ? fem_body_get_bare_tets(body, tets, count) : 0;
	for (int32_t i = 0; i < count && !is_found; i++) {
		is_found = tets[i] == first;
	}
	free(tets);
	return is_found;
}

void destructible_body_get_piece_data(void *pointer, int64_t piece, GdDictionary *out) {
	DestructibleBody *self = pointer;
	FemPieceState state;
	gd_dictionary_free(out);
	*out = gd_dictionary_new();
	if (!find_piece(self, piece, &state)) {
		return;
	}
	GdVector3 center = vector_of(state.center), low = vector_of(state.min), high = vector_of(state.max);
	GdVector3 velocity = {state.linear_velocity.x, state.linear_velocity.y, state.linear_velocity.z};
	GdVector3 angular_velocity = {state.angular_velocity.x, state.angular_velocity.y, state.angular_velocity.z};
	GdTransform3D transform = transform_of(&state);
	GdAABB box = {low, {high.x - low.x, high.y - low.y, high.z - low.z}};
	dictionary_take(out, "parent", make_variant_int(state.parent));
	dictionary_take(out, "age", make_variant_float(state.age));
	dictionary_take(out, "time_left", make_variant_float(state.time_left));
	dictionary_take(out, "mass", make_variant_float(state.mass));
	dictionary_take(out, "volume", make_variant_float(state.volume));
	put_value(out, "center", GDEXTENSION_VARIANT_TYPE_VECTOR3, &center);
	put_value(out, "velocity", GDEXTENSION_VARIANT_TYPE_VECTOR3, &velocity);
	put_value(out, "angular_velocity", GDEXTENSION_VARIANT_TYPE_VECTOR3, &angular_velocity);
	put_value(out, "transform", GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform);
	put_value(out, "box", GDEXTENSION_VARIANT_TYPE_AABB, &box);
	dictionary_take(out, "attached", make_variant_bool(state.is_attached));
	dictionary_take(out, "asleep", make_variant_bool(state.asleep));
	FemBodyId body = self->simulated.body;
	dictionary_take(out, "bare", make_variant_bool(is_bare(body, state.piece)));
	int32_t node_count = fem_body_get_piece_nodes(body, state.piece, NULL, 0);
	put_numbers(out, "tets", body, state.piece, state.tet_count, fem_body_get_piece_tets);
	put_numbers(out, "nodes", body, state.piece, node_count, fem_body_get_piece_nodes);
}

void destructible_body_remove_piece(void *pointer, int64_t piece) {
	DestructibleBody *self = pointer;
	FemPieceNumber number = piece > 0 && piece <= INT32_MAX ? (FemPieceNumber)piece : 0;
	if (self->simulated.world && !simulation_body_remove_piece(&self->simulated, number)) {
		destructible_body_report(self, "removed no piece", fem_last_error());
	}
}
