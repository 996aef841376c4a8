// A kinematic body for each piece, shaped like its surface as it was when the shape was last made, and moved with the
// piece in every tick. A shape is made anew when the piece has bent away from it or broken, a few triangles a tick.
//
// Rigid bodies that take part in the solve are exceptions: they would else be stopped twice.
#include "coupling/piece_proxies.h"

#include "classes/destructible_body.h"
#include "conversions.h"
#include "coupling/collision_exceptions.h"
#include "coupling/point_matching.h"
#include "coupling/rigid_records.h"
#include "node_pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SAMPLES = 12,           // nodes of a piece that tell its motion
	TRIANGLES_A_TICK = 400, // of shapes made anew; at least one piece is
};
#define BEND_MIN 0.004f  // m, by which a sample may be beside the shape
#define BEND_SHARE 0.02f // of the piece's size, likewise

typedef struct PieceProxy {
	FemPieceNumber piece;
	GdRID body, shape;      // of the physics server; null before the first shape
	int32_t triangle_count; // of the piece now
	int32_t sample_count;
	int32_t nodes[SAMPLES];
	FemVec3 local[SAMPLES]; // m, from their middle, when the shape was made
	float size;             // m
	FemQuat rotation;       // since then
	bool is_dirty;          // the shape is to be made anew
} PieceProxy;

// The pieces of one body.
typedef struct BodyProxies {
	SimulationBody *body;
	PieceProxy *list;
	int32_t count;
	int32_t *triangles; // 3 node numbers for each outer face
	FemPieceNumber *triangle_pieces;
	int32_t triangle_count;
	bool is_known; // the lists above are those of its pieces now
	uint32_t layer;
} BodyProxies;

struct PieceProxies {
	BodyProxies **bodies;
	int32_t count, capacity;
	int32_t budget;   // triangles left in this tick
	int32_t next;     // the body that is served first
	bool has_changed; // bodies of the server came or went
};

static bool is_null(GdRID rid) {
	return rid.opaque[0] == 0;
}

// ------------------------------------------------------------------------------------------------------------------ server

static void make_body(Coupling *coupling, const BodyProxies *owner, PieceProxy *proxy) {
	proxy->shape = gd_physics_server3d_concave_polygon_shape_create();
	proxy->body = gd_physics_server3d_body_create();
	gd_physics_server3d_body_set_mode(proxy->body, GD_PHYSICS_SERVER3D_BODY_MODE_KINEMATIC);
	gd_physics_server3d_body_set_collision_layer(proxy->body, owner->layer);
	gd_physics_server3d_body_set_collision_mask(proxy->body, 0);
	gd_physics_server3d_body_attach_object_instance_id(
		proxy->body, (int64_t)godot.object_get_instance_id(owner->body->node));
	for (int32_t i = 0; i < coupling->count; i++) {
		if (coupling->records[i]->is_excepted ||
			collision_exceptions_has(owner->body, coupling->records[i]->owner_id)) {
			gd_physics_server3d_body_add_collision_exception(proxy->body, coupling->records[i]->rid);
		}
	}
	coupling->pieces->has_changed = true;
}

static void free_proxy(Coupling *coupling, PieceProxy *proxy) {
	if (!is_null(proxy->body)) {
		gd_physics_server3d_free_rid(proxy->body);
		gd_physics_server3d_free_rid(proxy->shape);
		coupling->pieces->has_changed = true;
	}
}

static void place(const PieceProxy *proxy, FemPosition center) {
	GdTransform3D transform = {node_pose_basis(proxy->rotation), {(float)center.x, (float)center.y, (float)center.z}};
	GdVariant value = make_variant(GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform);
	gd_physics_server3d_body_set_state(proxy->body, GD_PHYSICS_SERVER3D_BODY_STATE_TRANSFORM, &value);
	variant_free(&value);
}

// ------------------------------------------------------------------------------------------------------------------ motion

static FemVec3 node_at(const float *positions, int32_t node) {
	const float *p = &positions[4 * (size_t)node];
	return (FemVec3){p[0], p[1], p[2]};
}

static FemVec3 mean_of(const PieceProxy *proxy, const float *positions) {
	FemVec3 sum = {0};
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		sum = vec_add(sum, node_at(positions, proxy->nodes[i]));
	}
	return vec_scale(sum, 1.0f / (float)proxy->sample_count);
}

// Returns how far the worst sample is off, m.
static float match_turn(PieceProxy *proxy, const float *positions, FemVec3 mean) {
	FemVec3 wanted[SAMPLES];
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		wanted[i] = vec_sub(node_at(positions, proxy->nodes[i]), mean);
	}
	return point_matching_turn(proxy->local, wanted, proxy->sample_count, &proxy->rotation);
}

static void follow(PieceProxy *proxy, const float *positions, FemPosition origin) {
	FemVec3 mean = mean_of(proxy, positions);
	float off = match_turn(proxy, positions, mean);
	if (!isfinite(off + mean.x + mean.y + mean.z)) {
		return;
	}
	proxy->is_dirty |= off > BEND_MIN + BEND_SHARE * proxy->size;
	place(proxy, (FemPosition){origin.x + (double)mean.x, origin.y + (double)mean.y, origin.z + (double)mean.z});
}

// ------------------------------------------------------------------------------------------------------------------ shapes

// Nodes spread over the list of the piece's faces.
static void choose_samples(const BodyProxies *owner, PieceProxy *proxy) {
	int32_t seen = 0, corners = 3 * proxy->triangle_count;
	proxy->sample_count = 0;
	for (int32_t t = 0; t < owner->triangle_count && proxy->sample_count < SAMPLES; t++) {
		for (int k = 0; k < 3 && owner->triangle_pieces[t] == proxy->piece && proxy->sample_count < SAMPLES;
			 k++, seen++) {
			if ((int64_t)seen * SAMPLES >= (int64_t)proxy->sample_count * corners) {
				proxy->nodes[proxy->sample_count++] = owner->triangles[3 * (size_t)t + (size_t)k];
			}
		}
	}
}

static void make_faces(
	const BodyProxies *owner, const PieceProxy *proxy, const float *positions, FemVec3 mean, GdVector3 *out) {
	static const int order[3] = {0, 2, 1}; // Godot's front is clockwise
	for (int32_t t = 0; t < owner->triangle_count; t++) {
		for (int k = 0; k < 3 && owner->triangle_pieces[t] == proxy->piece; k++) {
			*out++ =
				vec_to_godot(vec_sub(node_at(positions, owner->triangles[3 * (size_t)t + (size_t)order[k]]), mean));
		}
	}
}

static void set_faces(GdRID shape, GdPackedVector3Array *faces) {
	GdDictionary data = gd_dictionary_new();
	dictionary_take(&data, "faces", make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, faces));
	dictionary_take(&data, "backface_collision", make_variant_bool(false));
	GdVariant value = make_variant(GDEXTENSION_VARIANT_TYPE_DICTIONARY, &data);
	gd_physics_server3d_shape_set_data(shape, &value);
	variant_free(&value);
	gd_dictionary_free(&data);
}

static void make_shape(
	Coupling *coupling, BodyProxies *owner, PieceProxy *proxy, const float *positions, FemPosition origin) {
	choose_samples(owner, proxy);
	proxy->is_dirty = false;
	if (proxy->sample_count < 3) {
		return;
	}
	FemVec3 mean = mean_of(proxy, positions);
	proxy->rotation = (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
	proxy->size = 0.0f;
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		proxy->local[i] = vec_sub(node_at(positions, proxy->nodes[i]), mean);
		proxy->size = fmaxf(proxy->size, vec_length(proxy->local[i]));
	}
	GdPackedVector3Array faces = gd_packed_vector3_array_new();
	gd_packed_vector3_array_resize(&faces, 3 * (int64_t)proxy->triangle_count);
	make_faces(owner, proxy, positions, mean, godot.packed_vector3_array_operator_index(&faces, 0));
	bool is_first = is_null(proxy->body);
	if (is_first) {
		make_body(coupling, owner, proxy);
	}
	set_faces(proxy->shape, &faces);
	gd_packed_vector3_array_free(&faces);
	place(proxy, (FemPosition){origin.x + (double)mean.x, origin.y + (double)mean.y, origin.z + (double)mean.z});
	if (is_first) {
		GdTransform3D none = {{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, {0.0f, 0.0f, 0.0f}};
		gd_physics_server3d_body_add_shape(proxy->body, proxy->shape, none, false);
		gd_physics_server3d_body_set_space(proxy->body, coupling->world->space);
	}
}

// ------------------------------------------------------------------------------------------------------------------ pieces

// The outer faces of the body and the piece that each belongs to: pieces have no nodes in common.
static bool read_surface(BodyProxies *owner) {
	FemBodyId body = owner->body->body;
	int32_t tets = fem_body_get_tet_count(body), nodes = fem_body_get_node_count(body);
	int32_t count = fem_body_get_surface(body, NULL, 0);
	int32_t *corners = malloc((size_t)tets * 4 * sizeof(int32_t));
	FemPieceNumber *node_pieces = calloc((size_t)nodes, sizeof(FemPieceNumber));
	int32_t *triangles = realloc(owner->triangles, (size_t)(count > 0 ? count : 1) * 3 * sizeof(int32_t));
	owner->triangles = triangles ? triangles : owner->triangles;
	FemPieceNumber *pieces = realloc(owner->triangle_pieces, (size_t)(count > 0 ? count : 1) * sizeof(FemPieceNumber));
	owner->triangle_pieces = pieces ? pieces : owner->triangle_pieces;
	bool is_good = corners && node_pieces && triangles && pieces;
	owner->triangle_count = is_good ? count : 0;
	if (is_good) {
		tets = fem_body_get_tets(body, corners, tets);
		fem_body_get_surface(body, triangles, count);
	}
	for (int32_t t = 0; is_good && t < tets; t++) {
		FemPieceNumber piece = fem_body_get_tet_piece(body, t);
		for (int k = 0; k < 4 && piece; k++) {
			int32_t node = corners[4 * (size_t)t + (size_t)k];
			if (node >= 0 && node < nodes) {
				node_pieces[node] = piece;
			}
		}
	}
	for (int32_t i = 0; i < owner->triangle_count; i++) {
		pieces[i] = node_pieces[triangles[3 * (size_t)i]];
	}
	free(corners);
	free(node_pieces);
	return is_good;
}

static PieceProxy *find_proxy(PieceProxy *list, int32_t count, FemPieceNumber piece) {
	for (int32_t i = 0; i < count; i++) {
		if (list[i].piece == piece) {
			return &list[i];
		}
	}
	return NULL;
}

// A list in the order of the body's pieces, with what was there before.
static void list_pieces(Coupling *coupling, BodyProxies *owner) {
	int32_t count = fem_body_get_pieces(owner->body->body, NULL, 0);
	FemPieceNumber *pieces = malloc((size_t)(count > 0 ? count : 1) * sizeof(FemPieceNumber));
	PieceProxy *list = calloc((size_t)(count > 0 ? count : 1), sizeof(PieceProxy));
	if (!pieces || !list || !read_surface(owner)) {
		free(pieces);
		free(list);
		return;
	}
	fem_body_get_pieces(owner->body->body, pieces, count);
	for (int32_t i = 0; i < count; i++) {
		PieceProxy *old = find_proxy(owner->list, owner->count, pieces[i]);
		list[i] = old ? *old : (PieceProxy){.piece = pieces[i], .is_dirty = true};
		if (old) {
			*old = (PieceProxy){0}; // taken over
		}
		int32_t before = list[i].triangle_count;
		list[i].triangle_count = 0;
		for (int32_t t = 0; t < owner->triangle_count; t++) {
			list[i].triangle_count += owner->triangle_pieces[t] == pieces[i];
		}
		list[i].is_dirty |= list[i].triangle_count != before;
	}
	for (int32_t i = 0; i < owner->count; i++) {
		free_proxy(coupling, &owner->list[i]);
	}
	free(owner->list);
	free(pieces);
	owner->list = list;
	owner->count = count;
	owner->is_known = true;
}

static void update_layers(BodyProxies *owner) {
	if (owner->layer == owner->body->settings.layer) {
		return;
	}
	owner->layer = owner->body->settings.layer;
	for (int32_t i = 0; i < owner->count; i++) {
		if (!is_null(owner->list[i].body)) {
			gd_physics_server3d_body_set_collision_layer(owner->list[i].body, owner->layer);
		}
	}
}

static void update_body(Coupling *coupling, BodyProxies *owner) {
	SimulationBody *body = owner->body;
	bool is_awake = !fem_body_is_asleep(body->body), is_waiting = false;
	update_layers(owner);
	if (!owner->is_known || fem_body_get_pieces(body->body, NULL, 0) != owner->count) {
		list_pieces(coupling, owner);
	}
	for (int32_t i = 0; i < owner->count; i++) {
		is_waiting |= owner->list[i].is_dirty;
	}
	if (!is_awake && !is_waiting && body->region.was_asleep) {
		return;
	}
	body->region.was_asleep = !is_awake;
	FemPosition origin;
	int32_t node_count = 0;
	const float *positions = fem_body_get_position_data(body->body, &origin, &node_count);
	for (int32_t i = 0; positions && i < owner->count; i++) {
		PieceProxy *proxy = &owner->list[i];
		if (proxy->is_dirty && coupling->pieces->budget > 0) {
			coupling->pieces->budget -= proxy->triangle_count;
			make_shape(coupling, owner, proxy, positions, origin);
		} else if (!is_null(proxy->body)) {
			follow(proxy, positions, origin);
		}
	}
}

// -------------------------------------------------------------------------------------------------------------------- life

static BodyProxies *proxies_of(PieceProxies *pieces, SimulationBody *body) {
	if (body->region.proxies) {
		return body->region.proxies;
	}
	if (pieces->count == pieces->capacity) {
		int32_t capacity = pieces->capacity ? 2 * pieces->capacity : 16;
		BodyProxies **bodies = realloc(pieces->bodies, (size_t)capacity * sizeof(*bodies));
		if (!bodies) {
			return NULL;
		}
		pieces->bodies = bodies;
		pieces->capacity = capacity;
	}
	BodyProxies *owner = calloc(1, sizeof(BodyProxies));
	if (owner) {
		owner->body = body;
		owner->layer = body->settings.layer;
		pieces->bodies[pieces->count++] = owner;
		body->region.proxies = owner;
	}
	return owner;
}

static void mark_broken(Coupling *coupling) {
	const FemPieceEvent *events = NULL;
	int32_t count = fem_world_get_piece_events(coupling->world->id, &events);
	for (int32_t i = 0; i < count; i++) {
		for (int32_t k = 0; k < coupling->pieces->count; k++) {
			BodyProxies *owner = coupling->pieces->bodies[k];
			owner->is_known &= owner->body->body.index1 != events[i].body.index1;
		}
	}
}

void piece_proxies_update(Coupling *coupling) {
	if (!coupling->pieces) {
		coupling->pieces = calloc(1, sizeof(PieceProxies));
	}
	PieceProxies *pieces = coupling->pieces;
	int32_t count = coupling->world->body_count;
	if (!pieces) {
		return;
	}
	mark_broken(coupling);
	pieces->budget = TRIANGLES_A_TICK;
	for (int32_t i = 0; i < count; i++) {
		SimulationBody *body = coupling->world->bodies[(pieces->next + i) % count];
		BodyProxies *owner = body->is_detached ? NULL : proxies_of(pieces, body);
		if (owner) {
			update_body(coupling, owner);
		}
	}
	pieces->next = count > 0 ? (pieces->next + 1) % count : 0;
}

void piece_proxies_forget(Coupling *coupling, SimulationBody *body) {
	BodyProxies *owner = body->region.proxies;
	if (!owner) {
		return;
	}
	for (int32_t i = 0; i < owner->count; i++) {
		free_proxy(coupling, &owner->list[i]);
	}
	for (int32_t i = 0; i < coupling->pieces->count; i++) {
		if (coupling->pieces->bodies[i] == owner) {
			coupling->pieces->bodies[i] = coupling->pieces->bodies[--coupling->pieces->count];
			break;
		}
	}
	free(owner->list);
	free(owner->triangles);
	free(owner->triangle_pieces);
	free(owner);
	body->region.proxies = NULL;
}

void piece_proxies_free(Coupling *coupling) {
	PieceProxies *pieces = coupling->pieces;
	if (!pieces) {
		return;
	}
	while (pieces->count > 0) {
		piece_proxies_forget(coupling, pieces->bodies[pieces->count - 1]->body);
	}
	free(pieces->bodies);
	free(pieces);
	coupling->pieces = NULL;
}

int32_t piece_proxies_count(const Coupling *coupling) {
	int32_t count = 0;
	for (int32_t i = 0; coupling->pieces && i < coupling->pieces->count; i++) {
		count += coupling->pieces->bodies[i]->count;
	}
	return count;
}

bool piece_proxies_own(uint64_t object_id) {
	GDExtensionObjectPtr object = object_id ? godot.object_get_instance_from_id(object_id) : NULL;
	return object && class_instance(object, &destructible_body_class);
}

// -------------------------------------------------------------------------------------------------------------- exceptions

static void except(GdRID proxy, GdRID rid, bool on) {
	if (on) {
		gd_physics_server3d_body_add_collision_exception(proxy, rid);
	} else {
		gd_physics_server3d_body_remove_collision_exception(proxy, rid);
	}
}

static void except_all(const BodyProxies *owner, GdRID rid, bool on) {
	for (int32_t k = 0; k < owner->count; k++) {
		if (!is_null(owner->list[k].body)) {
			except(owner->list[k].body, rid, on);
		}
	}
}

void piece_proxies_except_body(SimulationBody *body, GdRID rid, bool on) {
	if (body->region.proxies) {
		except_all(body->region.proxies, rid, on);
	}
}

void piece_proxies_except(Coupling *coupling, GdRID rid, bool on) {
	for (int32_t i = 0; coupling->pieces && i < coupling->pieces->count; i++) {
		except_all(coupling->pieces->bodies[i], rid, on);
	}
}

bool piece_proxies_list(Coupling *coupling, GdArray *out) {
	if (!coupling->pieces || !coupling->pieces->has_changed) {
		return false;
	}
	coupling->pieces->has_changed = false;
	int64_t count = 0;
	gd_array_resize(out, piece_proxies_count(coupling));
	for (int32_t i = 0; i < coupling->pieces->count; i++) {
		const BodyProxies *owner = coupling->pieces->bodies[i];
		for (int32_t k = 0; k < owner->count; k++) {
			if (!is_null(owner->list[k].body)) {
				array_take(out, count++, make_variant(GDEXTENSION_VARIANT_TYPE_RID, &owner->list[k].body));
			}
		}
	}
	gd_array_resize(out, count);
	return true;
}
