// The area that tells of moving bodies: it covers the cells of a coarse grid in which destructibles are.
#include "coupling/discovery_internal.h"
#include "coupling/piece_proxies.h"

#include "binding/conversions.h"

#include <math.h>
#include <string.h>

enum {
	COUPLINGS_MAX = 64,
	SHRINK_TICKS = 600, // after so many the area is made anew without cells that nothing is in
};

// The area's callback may come after a coupling is gone: it is known by number, not by address.
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
	GdTransform3D at =
		at_point((cell.x + 0.5) * DISCOVERY_CELL, (cell.y + 0.5) * DISCOVERY_CELL, (cell.z + 0.5) * DISCOVERY_CELL);
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

// ---- cells

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
		from[i] = (int32_t)floor(a[i] / DISCOVERY_CELL);
		to[i] = (int32_t)floor(b[i] / DISCOVERY_CELL);
		number *= to[i] - from[i] + 1;
	}
	for (int i = 0; i < 3 && number > 64; i++) {
		from[i] = to[i] = (int32_t)floor(0.5 * (a[i] + b[i]) / DISCOVERY_CELL);
	}
	for (int32_t x = from[0]; x <= to[0]; x++) {
		for (int32_t y = from[1]; y <= to[1]; y++) {
			for (int32_t z = from[2]; z <= to[2]; z++) {
				Cell cell = {x, y, z};
				if (*count < DISCOVERY_CELLS_MAX && !has_cell(cells, *count, cell)) {
					cells[(*count)++] = cell;
				}
			}
		}
	}
}

void discovery_area_update(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	Cell wanted[DISCOVERY_CELLS_MAX];
	int32_t wanted_count = 0, known = d->cell_count;
	FemPosition low, high;
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		if (discovery_body_box(coupling->world->bodies[i], &low, &high)) {
			add_cells(wanted, &wanted_count, &low, &high);
		}
	}
	if (coupling->tick - d->made_tick > SHRINK_TICKS && wanted_count < known) {
		memcpy(d->cells, wanted, (size_t)wanted_count * sizeof(Cell));
		d->cell_count = wanted_count;
		renew_area(coupling);
		return;
	}
	for (int32_t i = 0; i < wanted_count && d->cell_count < DISCOVERY_CELLS_MAX; i++) {
		if (!has_cell(d->cells, known, wanted[i])) {
			d->cells[d->cell_count++] = wanted[i];
			add_cell_shape(d, wanted[i]);
		}
	}
}

// ---- life

void discovery_area_start(Coupling *coupling) {
	float half = (float)(0.5 * DISCOVERY_CELL + DISCOVERY_CELL_MARGIN);
	GdVector3 size = {half, half, half};
	GdVariant data = make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &size);
	coupling->discovery->cell_shape = gd_physics_server3d_box_shape_create();
	gd_physics_server3d_shape_set_data(coupling->discovery->cell_shape, &data);
	variant_free(&data);
	coupling->serial = next_serial++;
	for (int i = 0; i < COUPLINGS_MAX; i++) {
		if (!couplings[i]) {
			couplings[i] = coupling;
			break;
		}
	}
	make_area(coupling);
}

void discovery_area_free(Coupling *coupling) {
	for (int i = 0; i < COUPLINGS_MAX; i++) {
		if (couplings[i] == coupling) {
			couplings[i] = NULL;
		}
	}
	if (coupling->discovery) {
		gd_physics_server3d_free_rid(coupling->discovery->area);
		gd_physics_server3d_free_rid(coupling->discovery->cell_shape);
	}
}
