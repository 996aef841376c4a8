// Queries for what is not in the list of nodes: static bodies, and those that have no node.
#include "coupling/discovery_internal.h"
#include "coupling/piece_proxies.h"

#include "binding/conversions.h"
#include "classes/destructible_body.h"

#include <math.h>

#define REGION_MARGIN 1.5f // m, around a destructible, that is asked about at once
enum {
	QUERY_TICKS = 60,  // after so many a destructible may ask again
	SLEEPER_TICKS = 8, // between two sleepers that do: for statics that come, and bodies that have no node
	QUERY_FIRST = 3,   // a new one asks this often in a row: bodies made in the same frame come late
	QUERY_RESULTS = 512,
};

static bool dictionary_number(GdDictionary *dictionary, const char *key, GDExtensionVariantType type, void *out) {
	GdVariant value = dictionary_get(dictionary, key);
	bool is_good = variant_to(&value, type, out);
	variant_free(&value);
	return is_good;
}

static bool is_soft(uint64_t object_id) {
	GDExtensionObjectPtr object = object_id ? godot.object_get_instance_from_id(object_id) : NULL;
	return object && object_cast(object, "SoftBody3D");
}

static void take_hit(Coupling *coupling, GdDictionary *hit) {
	GdRID rid;
	int64_t object_id = 0;
	dictionary_number(hit, "collider_id", GDEXTENSION_VARIANT_TYPE_INT, &object_id);
	if (!dictionary_number(hit, "rid", GDEXTENSION_VARIANT_TYPE_RID, &rid) || piece_proxies_own((uint64_t)object_id)) {
		return;
	}
	RigidRecord *record = is_soft((uint64_t)object_id) ? NULL : rigid_enter(coupling, rid, (uint64_t)object_id);
	if (record) {
		record->seen_tick = coupling->tick;
	}
}

static void ask_around(Coupling *coupling, const float low[3], const float high[3]) {
	Discovery *d = coupling->discovery;
	GDExtensionObjectPtr space = gd_physics_server3d_space_get_direct_state(coupling->world->space);
	if (!space) {
		return;
	}
	// The unit cube, scaled: a physics server with a thread of its own takes a shape's new size only after the query.
	GdTransform3D place = {.origin = {0.5f * (low[0] + high[0]), 0.5f * (low[1] + high[1]), 0.5f * (low[2] + high[2])}};
	place.basis.x.x = high[0] - low[0];
	place.basis.y.y = high[1] - low[1];
	place.basis.z.z = high[2] - low[2];
	gd_physics_shape_query_parameters3d_set_transform(d->query, place);
	GdArray hits = gd_physics_direct_space_state3d_intersect_shape(space, d->query, QUERY_RESULTS);
	int64_t count = gd_array_size(&hits);
	for (int64_t i = 0; i < count; i++) {
		GdDictionary hit;
		if (variant_to(godot.array_operator_index(&hits, i), GDEXTENSION_VARIANT_TYPE_DICTIONARY, &hit)) {
			take_hit(coupling, &hit);
			gd_dictionary_free(&hit);
		}
	}
	gd_array_free(&hits);
	if (count == QUERY_RESULTS && !d->said_full) {
		d->said_full = true;
		report_warning(
			"A destructible has more than %d collision shapes around it, and some are not touched; merge small "
			"static bodies. This is said once.",
			(int)QUERY_RESULTS);
	}
}

int32_t discovery_touching(Coupling *coupling, const RigidRecord *record, const RigidShape *shape, double margin,
	GdRID *out, int32_t capacity) {
	Discovery *d = coupling->discovery;
	GDExtensionObjectPtr space = gd_physics_server3d_space_get_direct_state(coupling->world->space);
	if (!space || !d) {
		return 0;
	}
	gd_physics_shape_query_parameters3d_set_shape_rid(d->query, shape->source->rid);
	gd_physics_shape_query_parameters3d_set_transform(d->query, transform_product(&record->transform, &shape->local));
	gd_physics_shape_query_parameters3d_set_margin(d->query, margin);
	GdArray hits = gd_physics_direct_space_state3d_intersect_shape(space, d->query, capacity);
	int64_t count = gd_array_size(&hits);
	int32_t found = 0;
	for (int64_t i = 0; i < count && found < capacity; i++) {
		GdDictionary hit;
		if (variant_to(godot.array_operator_index(&hits, i), GDEXTENSION_VARIANT_TYPE_DICTIONARY, &hit)) {
			found += dictionary_number(&hit, "rid", GDEXTENSION_VARIANT_TYPE_RID, &out[found]);
			gd_dictionary_free(&hit);
		}
	}
	gd_array_free(&hits);
	gd_physics_shape_query_parameters3d_set_shape_rid(d->query, d->query_shape);
	gd_physics_shape_query_parameters3d_set_margin(d->query, 0.0);
	return found;
}

// Bodies in a sphere become known, if only for a while.
void discovery_find_in_sphere(Coupling *coupling, FemPosition center, float radius) {
	const double *c = &center.x;
	float low[3], high[3];
	for (int i = 0; i < 3; i++) {
		low[i] = (float)c[i] - radius;
		high[i] = (float)c[i] + radius;
	}
	ask_around(coupling, low, high);
}

// Known without asking: a server tells of every triangle of such a mesh, more than fit into an answer.
void discovery_enter_standing(Coupling *coupling) {
	const StandingBodies *standing = destructible_bodies_standing();
	for (int32_t i = 0; i < standing->count; i++) {
		const DestructibleBody *body = standing->list[i];
		if (is_same_rid(body->standing_space, coupling->world->space)) {
			uint64_t id = godot.object_get_instance_id(body->base.object);
			RigidRecord *record = rigid_enter(coupling, body->standing_body, id);
			if (record) {
				record->seen_tick = coupling->tick;
			}
		}
	}
}

void discovery_exclude_own(Coupling *coupling) {
	GdArray own = gd_array_new();
	if (piece_proxies_list(coupling, &own)) {
		GdStringName none = make_string_name("");
		GdVariant nil;
		godot.variant_new_nil(&nil);
		GdArray typed = gd_array_new_array_int_string_name_variant(&own, GDEXTENSION_VARIANT_TYPE_RID, &none, &nil);
		gd_physics_shape_query_parameters3d_set_exclude(coupling->discovery->query, &typed);
		gd_array_free(&typed);
		gd_string_name_free(&none);
	}
	gd_array_free(&own);
}

// What a fast body reaches in a quarter of a second is asked about, too.
static void query_body(Coupling *coupling, SimulationBody *body, bool is_asked) {
	BodyRegion *region = &body->region;
	if (!region->has_box) {
		return;
	}
	bool is_inside = region->query_count > 0;
	const double *a = &region->box_low.x, *b = &region->box_high.x;
	for (int i = 0; i < 3; i++) {
		is_inside &= a[i] > (double)region->low[i] + 0.2 && b[i] < (double)region->high[i] - 0.2;
	}
	bool is_due = coupling->tick - region->tick >= QUERY_TICKS + (uint32_t)(body->body.index1 % 16) &&
		(is_asked || !fem_body_is_asleep(body->body));
	if (is_inside && !is_due && region->query_count >= QUERY_FIRST) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		float growth = is_inside || region->query_count < QUERY_FIRST
			? 0.0f
			: fminf(4.0f,
				  0.25f * (float)fabs(a[i] + b[i] - region->middle2[i]) * 60.0f /
					  (float)(coupling->tick - region->tick + 1));
		region->low[i] = (float)a[i] - REGION_MARGIN - growth;
		region->high[i] = (float)b[i] + REGION_MARGIN + growth;
		region->middle2[i] = a[i] + b[i];
	}
	region->tick = coupling->tick;
	region->query_count++;
	ask_around(coupling, region->low, region->high);
}

// Those that are awake ask when they are due, of the sleeping ones one in SLEEPER_TICKS.
void discovery_query_bodies(Coupling *coupling) {
	int32_t count = coupling->world->body_count;
	bool has_sleeper = count > 0 && coupling->tick % SLEEPER_TICKS == 0;
	int32_t sleeper = has_sleeper ? (int32_t)(coupling->tick / SLEEPER_TICKS % (uint32_t)count) : -1;
	for (int32_t i = 0; i < count; i++) {
		query_body(coupling, coupling->world->bodies[i], i == sleeper);
	}
}
