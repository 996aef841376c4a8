// Where a DestructibleBody is held.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"

#include <math.h>
#include <stdio.h>

void destructible_body_get_anchors(void *self, GdArray *out) {
	gd_array_free(out);
	*out = gd_array_duplicate(&((DestructibleBody *)self)->anchors, false);
}

// Used when the body is built: the engine pins nodes that are at rest.
void destructible_body_set_anchors(void *pointer, const GdArray *anchors) {
	DestructibleBody *self = pointer;
	GdArray source = gd_array_new_array(anchors), old = self->anchors;
	self->anchors = gd_array_duplicate(&source, false);
	gd_array_free(&source);
	gd_array_free(&old);
	destructible_body_rebuild(self);
	destructible_body_show_changes(self);
}

// Godot's boxes may have sizes below 0, when they were drawn from the other corner.
static GdAABB upright(GdAABB box) {
	float *low = &box.position.x, *size = &box.size.x;
	for (int k = 0; k < 3; k++) {
		low[k] = size[k] < 0.0f ? low[k] + size[k] : low[k];
		size[k] = fabsf(size[k]);
	}
	return box;
}

// What is no box is passed over.
int32_t destructible_body_read_anchors(DestructibleBody *self, GdAABB out[BODY_ANCHORS_MAX]) {
	int32_t count = 0;
	int64_t size = gd_array_size(&self->anchors);
	for (int64_t i = 0; i < size && count < BODY_ANCHORS_MAX; i++) {
		const GdVariant *item = godot.array_operator_index(&self->anchors, i);
		if (variant_type(item) == GDEXTENSION_VARIANT_TYPE_AABB &&
			variant_to(item, GDEXTENSION_VARIANT_TYPE_AABB, &out[count])) {
			out[count] = upright(out[count]);
			count++;
		}
	}
	return count;
}

// ---- faults

static bool holds(const GdAABB *box, FemVec3 p) {
	GdVector3 low = box->position, size = box->size;
	return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= low.x + size.x && p.y <= low.y + size.y &&
		p.z <= low.z + size.z;
}

// Whether one of the grid's coordinates length (i / cells - 1/2), i = 0 to cells, lies between low and high.
static bool has_grid_line(double low, double high, double length, int32_t cells) {
	double first = ceil((low / length + 0.5) * cells - 1e-4), last = floor((high / length + 0.5) * cells + 1e-4);
	return fmax(first, 0.0) <= fmin(last, (double)cells);
}

static bool holds_of_box(const DestructibleBody *self, const GdAABB *box) {
	const float *low = &box->position.x, *size = &box->size.x, *length = &self->size.x;
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	for (int k = 0; k < 3; k++) {
		if (!has_grid_line((double)low[k], (double)low[k] + (double)size[k], (double)length[k], cells[k])) {
			return false;
		}
	}
	return true;
}

static bool holds_of_mesh(const FemTetArrays *tets, const GdAABB *box) {
	for (int32_t i = 0; i < tets->node_count; i++) {
		if (holds(box, tets->nodes[i])) {
			return true;
		}
	}
	return false;
}

bool destructible_body_anchor_fault(DestructibleBody *self, char *out, size_t capacity) {
	GdAABB boxes[BODY_ANCHORS_MAX];
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	int32_t count = destructible_body_read_anchors(self, boxes);
	bool is_known = mesh ? mesh->is_baked : !self->mesh && !destructible_body_box_fault(self);
	if (gd_array_size(&self->anchors) > BODY_ANCHORS_MAX) {
		snprintf(out, capacity, "it has more than %d anchors, and those beyond hold nothing; join some of them",
			BODY_ANCHORS_MAX);
		return true;
	}
	for (int32_t i = 0; is_known && i < count; i++) {
		if (!(mesh ? holds_of_mesh(&mesh->baked.tet_mesh, &boxes[i]) : holds_of_box(self, &boxes[i]))) {
			snprintf(out, capacity,
				"anchor %d holds nothing, since no node of the tetrahedra lies within its box; move or enlarge the "
				"box, "
				"which is in the node's own space before its scale",
				(int)i);
			return true;
		}
	}
	return false;
}
