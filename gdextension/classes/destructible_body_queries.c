// What scripts can ask of a DestructibleBody.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"

#include <math.h>

int64_t destructible_body_get_node_count(void *pointer) {
	DestructibleBody *self = pointer;
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	if (self->simulated.world) {
		return fem_body_get_node_count(self->simulated.body);
	}
	return mesh ? mesh->baked.tet_mesh.node_count : self->mesh ? 0 : body_shape_box_nodes(cells);
}

int64_t destructible_body_get_tet_count(void *pointer) {
	DestructibleBody *self = pointer;
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	if (self->simulated.world) {
		return fem_body_get_tet_count(self->simulated.body);
	}
	return mesh ? mesh->baked.tet_mesh.tet_count : self->mesh ? 0 : body_shape_box_tets(cells);
}

void destructible_body_get_node_positions(void *pointer, GdPackedVector3Array *out) {
	DestructibleBody *self = pointer;
	FemShape shape = {0};
	const float *positions = fem_body_get_shape(self->simulated.body, false, &shape);
	FemPosition origin = shape.origin;
	int32_t count = shape.node_count;
	gd_packed_vector3_array_resize(out, positions ? count : 0);
	if (!positions || count <= 0) {
		return;
	}
	GdVector3 *written = godot.packed_vector3_array_operator_index(out, 0);
	for (int32_t i = 0; i < count; i++) {
		const float *p = &positions[4 * i];
		written[i] = (GdVector3){
			(float)(origin.x + (double)p[0]), (float)(origin.y + (double)p[1]), (float)(origin.z + (double)p[2])};
	}
}

// What the vertex shader does, on the processor.
GdVector3 destructible_body_place_vertex(
	FemPosition origin, const float *positions, const int32_t nodes[4], const float weights[4]) {
	double sum[3] = {origin.x, origin.y, origin.z};
	for (int k = 0; k < 4; k++) {
		const float *p = &positions[4 * (size_t)nodes[k]];
		for (int axis = 0; axis < 3; axis++) {
			sum[axis] += (double)weights[k] * (double)p[axis];
		}
	}
	return (GdVector3){(float)sum[0], (float)sum[1], (float)sum[2]};
}

void destructible_body_get_vertex_positions(void *pointer, GdPackedVector3Array *out) {
	DestructibleBody *self = pointer;
	const DestructibleMesh *mesh = destructible_body_mesh(self);
	FemShape shape = {0};
	const float *positions = fem_body_get_shape(self->simulated.body, false, &shape);
	bool is_there = positions && self->mesh && mesh && mesh->is_baked && mesh->revision == self->mesh_revision &&
		shape.node_count == mesh->baked.tet_mesh.node_count;
	int32_t count = is_there ? mesh->baked.embedding.count : 0;
	gd_packed_vector3_array_resize(out, count);
	GdVector3 *written = count > 0 ? godot.packed_vector3_array_operator_index(out, 0) : NULL;
	for (int32_t i = 0; i < count; i++) {
		const int32_t *nodes = &mesh->baked.tet_mesh.tets[4 * (size_t)mesh->baked.embedding.tets[i]];
		written[i] = destructible_body_place_vertex(shape.origin, positions, nodes, mesh->baked.embedding.weights[i]);
	}
}

static bool are_within(const int32_t nodes[4], int32_t count) {
	return nodes[0] < count && nodes[1] < count && nodes[2] < count && nodes[3] < count;
}

void destructible_body_get_splinter_vertex_positions(void *pointer, GdPackedVector3Array *out) {
	DestructibleBody *self = pointer;
	FemShape shape = {0};
	int32_t nodes[4];
	const float *positions = fem_body_get_shape(self->simulated.body, false, &shape);
	int32_t count = positions ? self->view.copy.vertex_count : 0;
	owner_blends_write(&self->view.blends, &self->view.copy, 1.0f);
	gd_packed_vector3_array_resize(out, count);
	GdVector3 *written = count > 0 ? godot.packed_vector3_array_operator_index(out, 0) : NULL;
	for (int32_t i = 0; i < count; i++) {
		float weights[4];
		bool is_seen = embedded_copy_read(&self->view.copy, i, nodes, weights) && are_within(nodes, shape.node_count);
		written[i] = is_seen ? destructible_body_place_vertex(shape.origin, positions, nodes, weights)
							 : (GdVector3){INFINITY, INFINITY, INFINITY};
	}
}

static FemBodyState body_state(const DestructibleBody *self) {
	FemBodyState state = {0};
	if (fem_body_get_state(self->simulated.body, &state) != FEM_OK) {
		state = (FemBodyState){0};
	}
	return state;
}

GdVector3 destructible_body_get_center_of_mass(void *pointer) {
	DestructibleBody *self = pointer;
	FemBodyState state = body_state(self);
	return (GdVector3){(float)state.center.x, (float)state.center.y, (float)state.center.z};
}

GdVector3 destructible_body_get_linear_velocity(void *self) {
	FemVec3 v = body_state(self).linear_velocity;
	return (GdVector3){v.x, v.y, v.z};
}

double destructible_body_get_mass(void *self) {
	return body_state(self).mass;
}

int64_t destructible_body_get_softened_tet_count(void *pointer) {
	DestructibleBody *self = pointer;
	return fem_body_get_softened_tets(self->simulated.body);
}

GdAABB destructible_body_get_aabb_world(void *pointer) {
	DestructibleBody *self = pointer;
	FemPosition low, high;
	if (fem_body_get_bounds(self->simulated.body, &low, &high) != FEM_OK) {
		return (GdAABB){0};
	}
	return (GdAABB){{(float)low.x, (float)low.y, (float)low.z},
		{(float)(high.x - low.x), (float)(high.y - low.y), (float)(high.z - low.z)}};
}

// One that has just left the tree is still there, in case it comes back within the tick.
bool destructible_body_is_simulated(void *pointer) {
	const DestructibleBody *self = pointer;
	return self->simulated.world && self->is_in_world;
}

bool destructible_body_is_asleep(void *self) {
	return fem_body_is_asleep(((DestructibleBody *)self)->simulated.body);
}
