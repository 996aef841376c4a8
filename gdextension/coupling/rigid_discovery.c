// Which of Godot's bodies are near destructibles.
//
// Moving bodies are told of by an area that covers the cells of a coarse grid in which destructibles are: the server
// reports only who comes and who goes, and its margin is wide enough for a bullet to be known before it arrives. Static
// bodies, which areas do not report, are asked for around each destructible: when it is new, when it leaves the region
// last asked about, and now and then while it is awake.
#include "coupling/piece_proxies.h"
#include "coupling/rigid_records.h"

#include "conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 16.0          // m
#define CELL_MARGIN 6.0    // m, by which a cell's box is larger on each side
#define REGION_MARGIN 1.5f // m, around a destructible, that is asked about at once
enum {
	CELLS_MAX = 256,    // beyond, destructibles share larger boxes
	SHRINK_TICKS = 600, // after so many the area is made anew without cells that nothing is in
	GRACE_TICKS = 30,   // for which bodies are kept that the new area has not told of yet
	QUERY_TICKS = 60,   // after so many an awake destructible asks again
	QUERY_FIRST = 3,    // a new one asks this often in a row: bodies made in the same frame come late
	QUERY_RESULTS = 512,
};

typedef struct Cell {
	int32_t x, y, z;
} Cell;

typedef struct Discovery {
	GdRID area, cell_shape, query_shape;
	GDExtensionObjectPtr query; // PhysicsShapeQueryParameters3D
	Cell cells[CELLS_MAX];
	int32_t cell_count;
	uint32_t made_tick;       // of the area
	uint32_t made_query_tick; // of the query's shape
	bool said_full;
} Discovery;

// ------------------------------------------------------------------------------------------------------------------- area

// The area's callback may come after a coupling is gone: it is known by number, not by address.
enum { COUPLINGS_MAX = 64 };
static Coupling *couplings[COUPLINGS_MAX];
static uint64_t next_serial = 1;

static Coupling *find_coupling(uint64_t serial) {
	for (int i = 0; i < COUPLINGS_MAX; i++) {
		if (couplings[i] && couplings[i]->serial == serial) {
			return couplings[i];
		}
	}
	return NULL;
}

// Arguments: what happened, RID, instance id, shape of the body, shape of the area.
static void on_area_body(void *userdata, const GDExtensionConstVariantPtr *arguments, GDExtensionInt count,
	GDExtensionVariantPtr out, GDExtensionCallError *error) {
	Coupling *coupling = find_coupling((uint64_t)(uintptr_t)userdata);
	int64_t status = 0, object_id = 0;
	GdRID rid = {{0}};
	error->error = GDEXTENSION_CALL_OK;
	godot.variant_new_nil(out);
	if (!coupling || count < 3 || !variant_to(arguments[0], GDEXTENSION_VARIANT_TYPE_INT, &status) ||
		!variant_to(arguments[1], GDEXTENSION_VARIANT_TYPE_RID, &rid) ||
		!variant_to(arguments[2], GDEXTENSION_VARIANT_TYPE_INT, &object_id) || piece_proxies_own((uint64_t)object_id)) {
		return;
	}
	bool comes = status == GD_PHYSICS_SERVER3D_AREA_BODY_ADDED;
	RigidRecord *record = comes ? rigid_enter(coupling, rid, (uint64_t)object_id) : rigid_find(coupling, rid);
	if (record) {
		record->area_count += comes ? 1 : -1;
		record->area_count = record->area_count < 0 ? 0 : record->area_count;
		record->seen_tick = coupling->tick;
	}
}

static GdTransform3D at_point(double x, double y, double z) {
	return (GdTransform3D){
		{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, {(float)x, (float)y, (float)z}};
}

static void add_cell_shape(Discovery *d, Cell cell) {
	GdTransform3D at = at_point((cell.x + 0.5) * CELL, (cell.y + 0.5) * CELL, (cell.z + 0.5) * CELL);
	gd_physics_server3d_area_add_shape(d->area, d->cell_shape, at, false);
}

static void make_area(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	GDExtensionCallableCustomInfo2 info = {
		.callable_userdata = (void *)(uintptr_t)coupling->serial,
		.token = godot.library,
		.call_func = on_area_body,
	};
	GdCallable callback;
	godot.callable_custom_create2(&callback, &info);
	d->area = gd_physics_server3d_area_create();
	gd_physics_server3d_area_set_collision_layer(d->area, 0);
	gd_physics_server3d_area_set_collision_mask(d->area, UINT32_MAX);
	gd_physics_server3d_area_set_monitor_callback(d->area, &callback);
	gd_callable_free(&callback);
	for (int32_t i = 0; i < d->cell_count; i++) {
		add_cell_shape(d, d->cells[i]);
	}
	gd_physics_server3d_area_set_space(d->area, coupling->world->space);
	d->made_tick = coupling->tick;
}

// The new area tells of all that is in it; what it does not tell of in time goes.
static void renew_area(Coupling *coupling) {
	gd_physics_server3d_free_rid(coupling->discovery->area);
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		record->seen_tick = record->area_count > 0 ? coupling->tick : record->seen_tick;
		record->area_count = 0;
	}
	make_area(coupling);
}

// ------------------------------------------------------------------------------------------------------------------ cells

static bool has_cell(const Cell *cells, int32_t count, Cell cell) {
	for (int32_t i = 0; i < count; i++) {
		if (cells[i].x == cell.x && cells[i].y == cell.y && cells[i].z == cell.z) {
			return true;
		}
	}
	return false;
}

// Adds the cells that a box touches; with many bodies far apart only those of its middle.
static void add_cells(Cell *cells, int32_t *count, const FemPosition *low, const FemPosition *high) {
	const double *a = &low->x, *b = &high->x;
	int32_t from[3], to[3];
	int64_t number = 1;
	for (int i = 0; i < 3; i++) {
		from[i] = (int32_t)floor(a[i] / CELL);
		to[i] = (int32_t)floor(b[i] / CELL);
		number *= to[i] - from[i] + 1;
	}
	for (int i = 0; i < 3 && number > 64; i++) {
		from[i] = to[i] = (int32_t)floor(0.5 * (a[i] + b[i]) / CELL);
	}
	for (int32_t x = from[0]; x <= to[0]; x++) {
		for (int32_t y = from[1]; y <= to[1]; y++) {
			for (int32_t z = from[2]; z <= to[2]; z++) {
				Cell cell = {x, y, z};
				if (*count < CELLS_MAX && !has_cell(cells, *count, cell)) {
					cells[(*count)++] = cell;
				}
			}
		}
	}
}

static bool body_box(const SimulationBody *body, FemPosition *low, FemPosition *high) {
	return !body->is_detached && fem_body_get_bounds(body->body, low, high) == FEM_OK &&
		fabs(low->x) + fabs(low->y) + fabs(low->z) + fabs(high->x) + fabs(high->y) + fabs(high->z) < 1e9;
}

static void update_cells(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	Cell wanted[CELLS_MAX];
	int32_t wanted_count = 0, known = d->cell_count;
	FemPosition low, high;
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		if (body_box(coupling->world->bodies[i], &low, &high)) {
			add_cells(wanted, &wanted_count, &low, &high);
		}
	}
	if (coupling->tick - d->made_tick > SHRINK_TICKS && wanted_count < known) {
		memcpy(d->cells, wanted, (size_t)wanted_count * sizeof(Cell));
		d->cell_count = wanted_count;
		renew_area(coupling);
		return;
	}
	for (int32_t i = 0; i < wanted_count && d->cell_count < CELLS_MAX; i++) {
		if (!has_cell(d->cells, known, wanted[i])) {
			d->cells[d->cell_count++] = wanted[i];
			add_cell_shape(d, wanted[i]);
		}
	}
}

// ---------------------------------------------------------------------------------------------------------------- queries

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

static void take_hit(Coupling *coupling, GdDictionary *hit, FemBodyId finder) {
	GdRID rid;
	int64_t object_id = 0;
	dictionary_number(hit, "collider_id", GDEXTENSION_VARIANT_TYPE_INT, &object_id);
	if (!dictionary_number(hit, "rid", GDEXTENSION_VARIANT_TYPE_RID, &rid) || piece_proxies_own((uint64_t)object_id)) {
		return;
	}
	RigidRecord *record = is_soft((uint64_t)object_id) ? NULL : rigid_enter(coupling, rid, (uint64_t)object_id);
	if (record) {
		record->seen_tick = coupling->tick;
		record->finder = finder.index1 ? finder : record->finder; // nobody's query leaves it to whom it was
	}
}

static bool is_same_body(FemBodyId a, FemBodyId b) {
	return a.index1 == b.index1 && a.generation == b.generation;
}

static void ask_around(Coupling *coupling, FemBodyId finder, const float low[3], const float high[3]);

// Asks for a body where it was. One that lies beside the region now is no reason to take it away from under others. The
// middle of the box lies above the body: from within, Jolt sees the backs of a mesh's faces, which do not count.
static bool is_still_there(Coupling *coupling, int32_t index) {
	const RigidRecord *record = coupling->records[index];
	if (!(record->radius < 1e4f)) {
		return false; // it has no colliders yet: nobody rests on it
	}
	float r = record->radius, x = (float)record->frame.position.x, y = (float)record->frame.position.y;
	float z = (float)record->frame.position.z;
	ask_around(coupling, (FemBodyId){0}, (float[3]){x - r, y - r, z - r}, (float[3]){x + r, y + 3.0f * r, z + r});
	return coupling->records[index]->seen_tick == coupling->tick;
}

// Bodies without a node of their own (of CSG shapes, grid maps and scripts), which this destructible found before and does
// not find now, may be gone: their RIDs are not to be touched again.
static void drop_missed(Coupling *coupling, FemBodyId finder) {
	for (int32_t i = coupling->count - 1; i >= 0; i--) {
		const RigidRecord *record = coupling->records[i];
		bool is_missed = !record->object_id && record->area_count == 0 && is_same_body(record->finder, finder) &&
			record->seen_tick != coupling->tick;
		if (is_missed && !is_still_there(coupling, i)) {
			rigid_remove(coupling, i);
		}
	}
}

// `finder` null: nobody's, and nothing is missed.
static void ask_around(Coupling *coupling, FemBodyId finder, const float low[3], const float high[3]) {
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
			take_hit(coupling, &hit, finder);
			gd_dictionary_free(&hit);
		}
	}
	gd_array_free(&hits);
	if (finder.index1) {
		drop_missed(coupling, finder);
	}
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
	ask_around(coupling, (FemBodyId){0}, low, high);
}

// Our own pieces are not asked for.
static void exclude_own(Coupling *coupling) {
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
static void query_body(Coupling *coupling, SimulationBody *body) {
	BodyRegion *region = &body->region;
	FemPosition low, high;
	if (!body_box(body, &low, &high)) {
		return;
	}
	bool is_awake = !fem_body_is_asleep(body->body), is_inside = region->query_count > 0;
	const double *a = &low.x, *b = &high.x;
	for (int i = 0; i < 3; i++) {
		is_inside &= a[i] > (double)region->low[i] + 0.2 && b[i] < (double)region->high[i] - 0.2;
	}
	bool is_due = coupling->tick - region->tick >= QUERY_TICKS + (uint32_t)(body->body.index1 % 16) && is_awake;
	if (is_inside && !is_due && region->query_count >= QUERY_FIRST) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		float way = is_inside || region->query_count < QUERY_FIRST
			? 0.0f
			: fminf(4.0f,
				  0.25f * (float)fabs(a[i] + b[i] - region->middle2[i]) * 60.0f /
					  (float)(coupling->tick - region->tick + 1));
		region->low[i] = (float)a[i] - REGION_MARGIN - way;
		region->high[i] = (float)b[i] + REGION_MARGIN + way;
		region->middle2[i] = a[i] + b[i];
	}
	region->tick = coupling->tick;
	region->query_count++;
	ask_around(coupling, body->body, region->low, region->high);
}

// ------------------------------------------------------------------------------------------------------------------- life

static bool start(Coupling *coupling) {
	Discovery *d = calloc(1, sizeof(Discovery));
	coupling->discovery = d;
	if (!d) {
		return false;
	}
	float half = (float)(0.5 * CELL + CELL_MARGIN);
	GdVector3 size = {half, half, half};
	GdVariant data = make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &size);
	d->cell_shape = gd_physics_server3d_box_shape_create();
	d->query_shape = gd_physics_server3d_box_shape_create();
	gd_physics_server3d_shape_set_data(d->cell_shape, &data);
	variant_free(&data);
	size = (GdVector3){0.5f, 0.5f, 0.5f};
	data = make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &size);
	gd_physics_server3d_shape_set_data(d->query_shape, &data);
	variant_free(&data);
	d->made_query_tick = coupling->tick;
	d->query = make_ref_counted("PhysicsShapeQueryParameters3D");
	gd_physics_shape_query_parameters3d_set_shape_rid(d->query, d->query_shape);
	gd_physics_shape_query_parameters3d_set_collision_mask(d->query, UINT32_MAX);
	coupling->serial = next_serial++;
	for (int i = 0; i < COUPLINGS_MAX; i++) {
		if (!couplings[i]) {
			couplings[i] = coupling;
			break;
		}
	}
	make_area(coupling);
	return true;
}

void discovery_update(Coupling *coupling) {
	if (!coupling->discovery && !start(coupling)) {
		return;
	}
	update_cells(coupling);
	exclude_own(coupling);
	if (simulation_settings()->physics_on_thread && coupling->discovery->made_query_tick == coupling->tick) {
		return; // the server makes the query's shape after this tick
	}
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		if (!coupling->world->bodies[i]->is_detached) {
			query_body(coupling, coupling->world->bodies[i]);
		}
	}
}

bool discovery_keeps(const Coupling *coupling, const RigidRecord *record) {
	return record->area_count > 0 || coupling->tick - record->seen_tick < GRACE_TICKS;
}

void discovery_free(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	for (int i = 0; i < COUPLINGS_MAX; i++) {
		if (couplings[i] == coupling) {
			couplings[i] = NULL;
		}
	}
	if (!d) {
		return;
	}
	gd_physics_server3d_free_rid(d->area);
	gd_physics_server3d_free_rid(d->cell_shape);
	gd_physics_server3d_free_rid(d->query_shape);
	object_unreference(d->query);
	free(d);
	coupling->discovery = NULL;
}
