#include "contact_rig.h"

#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>

FemBlock fem_block(float size, int32_t n) {
	FemBlock block = {
		.cells = {n, n, n},
		.size = {size, size, size},
		.material = fem_default_material_def(),
		.body = fem_default_body_def(),
	};
	block.material.young_modulus = 1e7f;
	return block;
}

static void jitter(FemBoxMesh *box, const FemBlock *block) {
	uint32_t seed = 11;
	for (int32_t i = 0; i < box->node_count; i++) {
		float *x = &box->positions[i].x;
		const float *size = &block->size.x;
		for (int k = 0; k < 3; k++) {
			bool inside = x[k] > 1e-4f && x[k] < size[k] - 1e-4f; // nodes of a face stay in it
			x[k] += inside ? block->jitter * fem_random(&seed) : 0.0f;
		}
	}
}

FemBodyId fem_block_add(FemWorldId world, const FemBlock *block) {
	FemBoxMesh box = fem_box_mesh(block->cells[0], block->cells[1], block->cells[2], block->size, block->kind);
	jitter(&box, block);
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemMaterialId material = fem_material_create(world, &block->material);
	FemBodyDef def = block->body;
	int32_t *pinned = malloc((size_t)box.node_count * sizeof *pinned);
	for (int32_t i = 0; i < box.node_count; i++)
		pinned[i] = i;
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	if (block->all_pinned) {
		def.pinned_nodes = pinned;
		def.pinned_count = box.node_count;
	}
	FemBodyId body = fem_body_create(world, &def);
	free(pinned);
	fem_box_mesh_free(&box);
	return body;
}

FemWorldDef fem_contact_world_def(void) {
	FemWorldDef def = fem_default_world_def();
	def.sleeping_enabled = false;
	return def;
}

FemQuat fem_rotation_z(double angle) {
	return (FemQuat){0.0f, 0.0f, (float)sin(0.5 * angle), (float)cos(0.5 * angle)};
}

static FemColliderId add_plane(
	FemWorldId world, FemShapeType shape, FemQuat rotation, float friction, float restitution) {
	static const FemVec3 corners[] = {{-20, 0, -2}, {-20, 0, 2}, {20, 0, 2}, {20, 0, -2}};
	static const int32_t triangles[] = {0, 1, 2, 0, 2, 3};
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = shape;
	def.friction = friction;
	def.restitution = restitution;
	def.rotation = rotation;
	if (shape == FEM_SHAPE_BOX) {
		double angle = 2.0 * atan2((double)rotation.z, (double)rotation.w);
		def.shape.half_extents = (FemVec3){20.0f, 0.5f, 2.0f};
		def.position = (FemPosition){0.5 * sin(angle), -0.5 * cos(angle), 0.0};
	}
	if (shape == FEM_SHAPE_TRIANGLES) {
		def.shape.points = corners;
		def.shape.point_count = 4;
		def.shape.triangles = triangles;
		def.shape.triangle_count = 2;
	}
	return fem_collider_create(world, &def);
}

FemColliderId fem_add_plane(FemWorldId world, FemShapeType shape, FemQuat rotation, float friction) {
	return add_plane(world, shape, rotation, friction, 0.0f);
}

FemColliderId fem_add_bouncing_plane(FemWorldId world, FemShapeType shape, float restitution) {
	return add_plane(world, shape, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f, restitution);
}

void fem_steps(FemWorldId world, int32_t count) {
	for (int32_t i = 0; i < count; i++)
		fem_world_step(world, CONTACT_DT, 1);
}

FemPosition fem_center(FemBodyId body) {
	FemBodyState state = {0};
	fem_body_get_state(body, &state);
	return state.center;
}

double fem_low(FemBodyId body) {
	FemPosition low = {0}, high;
	fem_body_get_bounds(body, &low, &high);
	return low.y;
}

double fem_high(FemBodyId body) {
	FemPosition low, high = {0};
	fem_body_get_bounds(body, &low, &high);
	return high.y;
}

// Sum of squares, largest square and number of nodes.
static void add_speeds(FemBodyId body, double *sum, double *peak, int32_t *count) {
	int32_t node_count = fem_body_get_node_count(body);
	FemVec3 *v = malloc((size_t)node_count * sizeof *v);
	fem_body_get_velocities(body, v, node_count);
	for (int32_t i = 0; i < node_count; i++) {
		double square = (double)v[i].x * v[i].x + (double)v[i].y * v[i].y + (double)v[i].z * v[i].z;
		*sum += square;
		*peak = !(square <= *peak) ? square : *peak; // a NaN stays
	}
	*count += node_count;
	free(v);
}

double fem_rms_speed(const FemBodyId *bodies, int32_t count) {
	double sum = 0.0, peak = 0.0;
	int32_t nodes = 0;
	for (int32_t b = 0; b < count; b++)
		add_speeds(bodies[b], &sum, &peak, &nodes);
	return nodes ? sqrt(sum / nodes) : NAN;
}

double fem_peak_speed(const FemBodyId *bodies, int32_t count) {
	double sum = 0.0, peak = 0.0;
	int32_t nodes = 0;
	for (int32_t b = 0; b < count; b++)
		add_speeds(bodies[b], &sum, &peak, &nodes);
	return isfinite(sum) ? sqrt(peak) : NAN;
}

double fem_energy(const FemBodyId *bodies, int32_t count) {
	double sum = 0.0;
	for (int32_t b = 0; b < count; b++) {
		FemBodyState state = {0};
		fem_body_get_state(bodies[b], &state);
		sum += state.kinetic_energy + state.elastic_energy;
	}
	return sum;
}

bool fem_long_tests(void) {
	const char *value = getenv("FEM_LONG");
	return value && value[0] == '1';
}

FemBodyId fem_add_three_cubes(FemWorldId world, bool breakable, int32_t *out_cube_nodes) {
	FemBlock cube = fem_block(0.3f, 2);
	cube.material.breakable = breakable;
	cube.material.toughness = 1e9f;
	FemBoxMesh box = fem_box_mesh(2, 2, 2, cube.size, cube.kind);
	int32_t nodes = box.node_count, tets = box.tet_count;
	FemVec3 *positions = malloc(3 * (size_t)nodes * sizeof *positions);
	int32_t *corners = malloc(12 * (size_t)tets * sizeof *corners);
	for (int c = 0; c < 3; c++) {
		for (int32_t i = 0; i < nodes; i++) {
			FemVec3 at = box.positions[i];
			positions[c * nodes + i] = (FemVec3){at.x + (c == 2 ? 1.0f : 0.0f), at.y + (c == 1 ? 0.3f : 0.0f), at.z};
		}
		for (int32_t i = 0; i < 4 * tets; i++)
			corners[c * 4 * tets + i] = box.tets[i] + c * nodes;
	}
	FemBoxMesh three = {.node_count = 3 * nodes, .tet_count = 3 * tets, .positions = positions, .tets = corners};
	FemMeshDef mesh = fem_box_mesh_def(&three);
	FemMaterialId material = fem_material_create(world, &cube.material);
	FemBodyDef def = cube.body;
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	FemBodyId body = fem_body_create(world, &def);
	free(positions);
	free(corners);
	fem_box_mesh_free(&box);
	*out_cube_nodes = nodes;
	return body;
}
