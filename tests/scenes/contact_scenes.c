#include "scenes/contact_scenes.h"

#include "scenes/box_mesh.h"
#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>

// ---- building

static void add_floor(FemWorldId world) {
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_HALF_SPACE;
	fem_collider_create(world, &def);
}

static FemMaterialId add_material(const FemScene *scene, FemWorldId world, float stiffness_damping) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = scene->young_modulus;
	def.poisson_ratio = scene->poisson_ratio;
	def.density = scene->density;
	def.stiffness_damping = stiffness_damping;
	return fem_material_create(world, &def);
}

static FemMeshId add_mesh(FemWorldId world, const int32_t cells[3], FemVec3 size) {
	FemBoxMesh box = fem_box_mesh(cells[0], cells[1], cells[2], size, FEM_CELLS_FIVE);
	FemMeshDef def = fem_box_mesh_def(&box);
	FemMeshId mesh = fem_mesh_create(world, &def);
	fem_box_mesh_free(&box);
	return mesh;
}

// Appends one body; false when it could not be made.
static bool add_body(
	FemSceneBodies *bodies, FemWorldId world, FemBodyDef *def, FemMeshId mesh, FemMaterialId material) {
	def->mesh = mesh;
	def->materials = &material;
	def->material_count = 1;
	def->user_data = (uint64_t)bodies->count;
	FemBodyId body = bodies->ids ? fem_body_create(world, def) : (FemBodyId){0};
	if (!fem_body_is_valid(body))
		return false;
	bodies->ids[bodies->count++] = body;
	return true;
}

static FemSceneBodies reserve(const FemScene *scene) {
	return (FemSceneBodies){.ids = calloc((size_t)scene->body_count, sizeof(FemBodyId))};
}

// ---- pile and stack

// Places and damping are those of the Bullet peer.
FemSceneBodies fem_build_pile(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene);
	FemMeshId mesh = add_mesh(world, scene->cells, scene->size);
	FemMaterialId material = add_material(scene, world, 0.01f);
	FemBodyDef def = fem_default_body_def();
	bool ok = true;
	add_floor(world);
	for (int32_t b = 0; ok && b < scene->body_count; b++) {
		int32_t i = b % 3, j = b / 3 % 3, k = b / 9;
		def.position = (FemPosition){i * 0.3 + 0.03 * k, 0.1 + k * 0.25, j * 0.3 + 0.02 * k};
		ok = add_body(&bodies, world, &def, mesh, material);
	}
	return bodies;
}

FemSceneBodies fem_build_stack(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene);
	FemMeshId mesh = add_mesh(world, scene->cells, scene->size);
	FemMaterialId material = add_material(scene, world, 0.001f);
	FemBodyDef def = fem_default_body_def();
	bool ok = true;
	add_floor(world);
	for (int32_t b = 0; ok && b < scene->body_count; b++) {
		def.position.y = (double)(scene->size.y * (float)b);
		ok = add_body(&bodies, world, &def, mesh, material);
	}
	return bodies;
}

// ---- rope

#define SPOOL_RADIUS 0.2 // m
#define SPOOL_HEIGHT 5.0 // m, of its axis, which lies along z
#define SPOOL_SPIN 2.0   // rad/s, so that the side the rope hangs from goes up

// The rope hangs from the spool's side x > 0: its first face is pinned there and goes round with the spool.
FemSceneBodies fem_build_rope(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene);
	FemMeshId mesh = add_mesh(world, scene->cells, scene->size);
	FemMaterialId material = add_material(scene, world, 0.01f);
	FemColliderDef spool = fem_default_collider_def();
	const float half = (float)sqrt(0.5);
	spool.kind = FEM_COLLIDER_KINEMATIC;
	spool.shape.type = FEM_SHAPE_CYLINDER;
	spool.shape.radius = (float)SPOOL_RADIUS;
	spool.shape.half_height = 0.4f;
	spool.position.y = SPOOL_HEIGHT;
	spool.rotation = (FemQuat){half, 0.0f, 0.0f, half}; // y to z
	spool.angular_velocity.z = (float)SPOOL_SPIN;
	fem_collider_create(world, &spool);
	FemBodyDef def = fem_default_body_def();
	def.position = (FemPosition){SPOOL_RADIUS, SPOOL_HEIGHT, -0.5 * (double)scene->size.z};
	def.rotation = (FemQuat){0.0f, 0.0f, -half, half}; // x to -y
	add_body(&bodies, world, &def, mesh, material);
	if (bodies.count == 1)
		fem_drive_rope(&bodies, -1, scene->dt);
	return bodies;
}

// Each of the 4 nodes goes straight to where the spool's turn brings it by the end of the step.
void fem_drive_rope(const FemSceneBodies *bodies, int32_t step, float dt) {
	double now = SPOOL_SPIN * (double)dt * step, next = step < 0 ? now : SPOOL_SPIN * (double)dt * (step + 1);
	for (int32_t n = 0; n < 4; n++) {
		double r = SPOOL_RADIUS + (n / 2 ? 0.04 : 0.0);
		double x = step < 0 ? 0.0 : r * (cos(next) - cos(now)), y = step < 0 ? 0.0 : r * (sin(next) - sin(now));
		fem_body_drive_node(bodies->ids[0], n, (FemVec3){(float)(x / (double)dt), (float)(y / (double)dt), 0.0f});
	}
}

// ---- rubble

#define RUBBLE_CELL 0.05f // m

static FemQuat random_rotation(uint32_t *seed) {
	float q[4], square = 0.0f;
	for (int i = 0; i < 4; i++) {
		q[i] = fem_random(seed);
		square += q[i] * q[i];
	}
	float scale = square > 1e-4f ? 1.0f / sqrtf(square) : 0.0f;
	return scale > 0.0f ? (FemQuat){scale * q[0], scale * q[1], scale * q[2], scale * q[3]} : (FemQuat){.w = 1.0f};
}

// Columns of pieces over a square of 8 x 8; no two touch at the start.
FemSceneBodies fem_build_rubble(const FemScene *scene, FemWorldId world) {
	static const int32_t shapes[][3] = {{3, 1, 1}, {2, 2, 1}, {3, 2, 1}, {2, 2, 2}, {3, 2, 2}};
	enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };
	FemSceneBodies bodies = reserve(scene);
	FemMaterialId material = add_material(scene, world, 0.001f);
	FemMeshId meshes[SHAPE_COUNT];
	for (int32_t s = 0; s < SHAPE_COUNT; s++) {
		const int32_t *c = shapes[s];
		FemVec3 size = {RUBBLE_CELL * (float)c[0], RUBBLE_CELL * (float)c[1], RUBBLE_CELL * (float)c[2]};
		meshes[s] = add_mesh(world, c, size);
	}
	FemBodyDef def = fem_default_body_def();
	uint32_t seed = 500;
	bool ok = true;
	add_floor(world);
	for (int32_t b = 0; ok && b < scene->body_count; b++) {
		def.position = (FemPosition){0.45 * (b % 8), 0.3 + 0.45 * (b / 64), 0.45 * (b / 8 % 8)};
		def.rotation = random_rotation(&seed);
		ok = add_body(&bodies, world, &def, meshes[b % SHAPE_COUNT], material);
	}
	return bodies;
}

// ---- heap and shots

static FemMeshId add_kuhn_mesh(FemWorldId world, const FemScene *scene) {
	FemBoxMesh box = fem_box_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, FEM_CELLS_KUHN);
	FemMeshDef def = fem_box_mesh_def(&box);
	FemMeshId mesh = fem_mesh_create(world, &def);
	fem_box_mesh_free(&box);
	return mesh;
}

// Where a body's origin is for its box to be rotated about its middle.
static FemPosition origin_around(FemPosition middle, FemQuat q, FemVec3 size) {
	FemVec3 h = {0.5f * size.x, 0.5f * size.y, 0.5f * size.z}, u = {q.x, q.y, q.z};
	FemVec3 c = {
		u.y * h.z - u.z * h.y + q.w * h.x, u.z * h.x - u.x * h.z + q.w * h.y, u.x * h.y - u.y * h.x + q.w * h.z};
	FemVec3 arm = {h.x + 2.0f * (u.y * c.z - u.z * c.y), h.y + 2.0f * (u.z * c.x - u.x * c.z),
		h.z + 2.0f * (u.x * c.y - u.y * c.x)}; // h + 2 u x (u x h + w h)
	return (FemPosition){middle.x - (double)arm.x, middle.y - (double)arm.y, middle.z - (double)arm.z};
}

// Cubes above a square that grows with their number, four layers of them, so that the heap is as high for any number.
// No two touch at the start.
FemSceneBodies fem_build_heap(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene);
	FemMeshId mesh = add_kuhn_mesh(world, scene);
	FemMaterialId material = add_material(scene, world, 0.001f);
	FemBodyDef def = fem_default_body_def();
	int32_t side = (int32_t)ceil(sqrt(0.25 * scene->body_count));
	uint32_t seed = 162;
	bool ok = true;
	add_floor(world);
	for (int32_t b = 0; ok && b < scene->body_count; b++) {
		int32_t layer = b / (side * side);
		FemPosition middle = {0.37 * (b % side), 0.3 + 0.37 * layer, 0.37 * (b / side % side)};
		def.rotation = random_rotation(&seed);
		def.position = origin_around(middle, def.rotation, scene->size);
		ok = add_body(&bodies, world, &def, mesh, material);
	}
	return bodies;
}

#define BUMPS_SIDE 20.0   // m, of the square
#define BUMPS_HEIGHT 0.05 // m, of the bumps
#define SHOT_SPEED 80.0f  // m/s: 1.3 m a step
#define SHOT_STEPS 4      // of a flight

// A square of bumps, two triangles a cell; false when memory fails.
static bool add_bumps(FemWorldId world, int32_t triangles) {
	int32_t n = (int32_t)ceil(sqrt(0.5 * triangles)), at = 0;
	FemVec3 *points = malloc(sizeof *points * (size_t)(n + 1) * (size_t)(n + 1));
	int32_t *corners = malloc(sizeof *corners * 6 * (size_t)n * (size_t)n);
	for (int32_t i = 0; points && i < (n + 1) * (n + 1); i++) {
		double x = BUMPS_SIDE * (i / (n + 1)) / n, z = BUMPS_SIDE * (i % (n + 1)) / n;
		points[i] = (FemVec3){(float)(x - 0.5 * BUMPS_SIDE),
			(float)(BUMPS_HEIGHT * (sin(2.0 * x) * cos(2.0 * z) - 1.0)), (float)(z - 0.5 * BUMPS_SIDE)};
	}
	for (int32_t c = 0; corners && c < n * n; c++) {
		int32_t a = c / n * (n + 1) + c % n, b = a + n + 1;
		const int32_t cell[6] = {a, a + 1, b + 1, a, b + 1, b};
		for (int k = 0; k < 6; k++)
			corners[at++] = cell[k];
	}
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_TRIANGLES;
	def.shape.points = points;
	def.shape.point_count = (n + 1) * (n + 1);
	def.shape.triangles = corners;
	def.shape.triangle_count = 2 * n * n;
	bool ok = points && corners && fem_collider_is_valid(fem_collider_create(world, &def));
	free(points);
	free(corners);
	return ok;
}

// Every few steps the cubes are where they began, since what has struck no longer is fast.
void fem_drive_shots(const FemSceneBodies *bodies, int32_t step, float dt) {
	uint32_t seed = 80 + (uint32_t)step;
	(void)dt;
	for (int32_t b = 0; step % SHOT_STEPS == 0 && b < bodies->count; b++) {
		FemPosition at = {-9.5, 0.25 + 0.1 * (b % 4), -7.0 + 14.0 * b / bodies->count};
		fem_body_teleport(bodies->ids[b], at, random_rotation(&seed));
		for (int32_t n = 0; n < fem_body_get_node_count(bodies->ids[b]); n++)
			fem_body_set_velocity(bodies->ids[b], n, (FemVec3){SHOT_SPEED, -0.1f * SHOT_SPEED, 0.0f});
	}
}

// Cubes that fly low over the bumps and strike them at a small angle.
FemSceneBodies fem_build_shots(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene);
	FemMeshId mesh = add_kuhn_mesh(world, scene);
	FemMaterialId material = add_material(scene, world, 0.001f);
	FemBodyDef def = fem_default_body_def();
	bool ok = add_bumps(world, scene->triangle_count);
	for (int32_t b = 0; ok && b < scene->body_count; b++) {
		def.position = (FemPosition){2.0 * b, 20.0, 0.0};
		ok = add_body(&bodies, world, &def, mesh, material);
	}
	return bodies;
}
