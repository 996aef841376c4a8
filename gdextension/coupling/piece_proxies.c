// A kinematic body for each piece, shaped like its surface as it was when the shape was last made, and moved with the
// piece in every tick. A shape is made anew when the piece has bent away from it or broken, a few triangles a tick.
//
// Rigid bodies that take part in the solve are exceptions: they would else be stopped twice.
#include "coupling/piece_proxies.h"

#include "binding/conversions.h"
#include "classes/destructible_body.h"
#include "coupling/collision_exceptions.h"
#include "coupling/piece_proxies_internal.h"
#include "simulation/node_pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIANGLES_A_TICK = 400 }; // of shapes made anew; at least one piece is

// The pieces of one body.
typedef struct BodyProxies {
	SimulationBody *body;
	PieceProxy *list;
	int32_t count;
	PieceSurface surface;
	bool is_known;   // both are those of its pieces now
	bool is_waiting; // shapes are to be made anew
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

// ---- server

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

// ---- motion

// Moves the server's body to where the shape's origin is.
static void place(const PieceProxy *proxy, FemPosition origin, FemVec3 middle) {
	GdTransform3D transform = {node_pose_basis(proxy->rotation),
		{(float)(origin.x + (double)middle.x), (float)(origin.y + (double)middle.y),
			(float)(origin.z + (double)middle.z)}};
	GdVariant value = make_variant(GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform);
	gd_physics_server3d_body_set_state(proxy->body, GD_PHYSICS_SERVER3D_BODY_STATE_TRANSFORM, &value);
	variant_free(&value);
}

static void follow(PieceProxy *proxy, const float *positions, FemPosition origin) {
	FemVec3 middle;
	if (piece_shape_follow(proxy, positions, &middle)) {
		place(proxy, origin, middle);
	}
}

// `index`: of the piece in its body's list.
static void make_shape(
	Coupling *coupling, BodyProxies *owner, int32_t index, const float *positions, FemPosition origin) {
	PieceProxy *proxy = &owner->list[index];
	const int32_t *triangles = &owner->surface.triangles[3 * (size_t)owner->surface.first[index]];
	FemVec3 middle;
	bool is_first = is_null(proxy->body);
	proxy->is_dirty = false;
	if (proxy->triangle_count == 0) {
		return;
	}
	if (is_first) {
		make_body(coupling, owner, proxy);
	}
	if (!piece_shape_make(proxy, triangles, proxy->triangle_count, positions, &middle)) {
		if (is_first) { // a crumb that nothing of Godot's meets
			free_proxy(coupling, proxy);
			proxy->body = proxy->shape = (GdRID){{0}};
		}
		return;
	}
	place(proxy, origin, middle);
	if (is_first) {
		GdTransform3D none = {{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, {0.0f, 0.0f, 0.0f}};
		gd_physics_server3d_body_add_shape(proxy->body, proxy->shape, none, false);
		gd_physics_server3d_body_set_space(proxy->body, coupling->world->space);
	}
}

// ---- pieces

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
	PieceSurface surface;
	if (!piece_surface_read(owner->body->body, &surface)) {
		return;
	}
	PieceProxy *list = calloc((size_t)surface.piece_count + 1, sizeof(PieceProxy));
	if (!list) {
		piece_surface_free(&surface);
		return;
	}
	for (int32_t i = 0; i < surface.piece_count; i++) {
		PieceProxy *old = find_proxy(owner->list, owner->count, surface.pieces[i]);
		list[i] = old ? *old : (PieceProxy){.piece = surface.pieces[i], .is_dirty = true};
		if (old) {
			*old = (PieceProxy){0}; // taken over
		}
		int32_t triangle_count = surface.first[i + 1] - surface.first[i];
		list[i].is_dirty |= triangle_count != list[i].triangle_count;
		list[i].triangle_count = triangle_count;
	}
	for (int32_t i = 0; i < owner->count; i++) {
		free_proxy(coupling, &owner->list[i]);
	}
	free(owner->list);
	piece_surface_free(&owner->surface);
	owner->surface = surface;
	owner->list = list;
	owner->count = surface.piece_count;
	owner->is_known = owner->is_waiting = true;
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
	bool is_awake = !fem_body_is_asleep(body->body);
	update_layers(owner);
	if (!owner->is_known || body->piece_count != owner->count) {
		list_pieces(coupling, owner);
	}
	if (!is_awake && !owner->is_waiting && body->region.was_asleep) {
		return;
	}
	body->region.was_asleep = !is_awake;
	FemShape shape;
	const float *positions = fem_body_get_shape(body->body, false, &shape);
	owner->is_waiting = !positions;
	for (int32_t i = 0; positions && i < owner->count; i++) {
		PieceProxy *proxy = &owner->list[i];
		if (proxy->is_dirty && coupling->pieces->budget > 0) {
			coupling->pieces->budget -= proxy->triangle_count;
			make_shape(coupling, owner, i, positions, shape.origin);
		} else if (!is_null(proxy->body)) {
			follow(proxy, positions, shape.origin);
		}
		owner->is_waiting |= proxy->is_dirty;
	}
}

// ---- life

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
	piece_surface_free(&owner->surface);
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

// ---- exceptions

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
	const StandingBodies *standing = destructible_bodies_standing();
	bool has_changed = coupling->pieces && coupling->pieces->has_changed;
	if (!has_changed && coupling->standing_changes == standing->changes) {
		return false;
	}
	int64_t count = 0;
	gd_array_resize(out, piece_proxies_count(coupling) + standing->count);
	for (int32_t i = 0; i < standing->count; i++) {
		array_take(out, count++, make_variant(GDEXTENSION_VARIANT_TYPE_RID, &standing->list[i]->standing_body));
	}
	coupling->standing_changes = standing->changes;
	if (coupling->pieces) {
		coupling->pieces->has_changed = false;
	}
	for (int32_t i = 0; coupling->pieces && i < coupling->pieces->count; i++) {
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

// ---- drawing

#define COLOR_PROXY 0xff40c0ffu // RGBA; chosen: far from the engine's own

static FemPosition moved(const GdTransform3D *transform, GdVector3 p) {
	const GdVector3 *rows = &transform->basis.x; // row by row in memory
	FemVec3 point = vec_from(p);
	return (FemPosition){(double)(transform->origin.x + vec_dot(vec_from(rows[0]), point)),
		(double)(transform->origin.y + vec_dot(vec_from(rows[1]), point)),
		(double)(transform->origin.z + vec_dot(vec_from(rows[2]), point))};
}

static void draw_faces(GdPackedVector3Array *faces, const GdTransform3D *transform, const FemDebugDraw *draw) {
	int64_t count = gd_packed_vector3_array_size(faces);
	const GdVector3 *corners = count > 0 ? godot.packed_vector3_array_operator_index_const(faces, 0) : NULL;
	for (int64_t i = 0; i + 2 < count; i += 3) {
		for (int64_t v = 0; v < 3; v++) {
			draw->line(
				draw->user, moved(transform, corners[i + v]), moved(transform, corners[i + (v + 1) % 3]), COLOR_PROXY);
		}
	}
}

static void draw_proxy(const PieceProxy *proxy, const FemDebugDraw *draw) {
	GdVariant state = gd_physics_server3d_body_get_state(proxy->body, GD_PHYSICS_SERVER3D_BODY_STATE_TRANSFORM);
	GdVariant data = gd_physics_server3d_shape_get_data(proxy->shape);
	GdTransform3D transform;
	GdDictionary dictionary;
	GdPackedVector3Array faces;
	if (variant_to(&data, GDEXTENSION_VARIANT_TYPE_DICTIONARY, &dictionary)) {
		if (variant_to(&state, GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform) &&
			dictionary_find(&dictionary, "faces", GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &faces)) {
			draw_faces(&faces, &transform, draw);
			gd_packed_vector3_array_free(&faces);
		}
		gd_dictionary_free(&dictionary);
	}
	variant_free(&state);
	variant_free(&data);
}

void piece_proxies_draw(const Coupling *coupling, const FemDebugDraw *draw) {
	for (int32_t i = 0; coupling->pieces && i < coupling->pieces->count; i++) {
		const BodyProxies *owner = coupling->pieces->bodies[i];
		for (int32_t k = 0; k < owner->count; k++) {
			if (!is_null(owner->list[k].body)) {
				draw_proxy(&owner->list[k], draw);
			}
		}
	}
}
