#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>

float fem_random(uint32_t *state) {
	*state = *state * 1664525u + 1013904223u; // Numerical Recipes
	return (float)(*state >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

FemRigDef fem_rig_bar_def(int32_t nx, int32_t ny, int32_t nz, FemCellKind kind, float poisson_ratio) {
	FemRigDef def = {.cells = {nx, ny, nz}, .size = {1.0f, 0.1f, 0.1f}, .kind = kind, .clamped = true};
	def.material = fem_default_material_def();
	def.material.poisson_ratio = poisson_ratio;
	def.material.max_iterations = 2000;
	def.world = fem_default_world_def();
	def.world.gravity = (FemVec3){0};
	def.world.sleeping_enabled = false;
	def.world.solver_tolerance = 1e-6f;
	def.body = fem_default_body_def();
	def.quality_clamp = fem_default_mesh_def().quality_clamp;
	return def;
}

FemRigDef fem_rig_stone_def(int32_t n) {
	FemRigDef def = fem_rig_bar_def(10, n, n, FEM_CELLS_KUHN, 0.2f);
	def.clamped = false;
	def.material.young_modulus = 5e8f;
	def.material.density = 2500.0f;
	def.material.breakable = true;
	def.material.toughness = 1.6e5f;
	def.material.toughness_variation = 0.0f;
	def.world.solver_tolerance = 1e-3f;
	return def;
}

FemRigDef fem_rig_cube_def(int32_t n, float size) {
	FemRigDef def = fem_rig_bar_def(n, n, n, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){size, size, size};
	def.clamped = false;
	def.world.solver_tolerance = fem_default_world_def().solver_tolerance;
	def.material.max_iterations = fem_default_material_def().max_iterations;
	return def;
}

static bool is_inside(float x, float size) {
	return x > 1e-4f * size && x < (1.0f - 1e-4f) * size;
}

static void jitter_nodes(FemBoxMesh *box, FemVec3 size, float amount) {
	uint32_t seed = 7;
	for (int32_t i = 0; i < box->node_count; i++) {
		FemVec3 *p = &box->positions[i];
		if (is_inside(p->x, size.x) && is_inside(p->y, size.y) && is_inside(p->z, size.z)) {
			p->x += amount * fem_random(&seed);
			p->y += amount * fem_random(&seed);
			p->z += amount * fem_random(&seed);
		}
	}
}

static FemMeshId make_mesh(FemRig *rig, const FemRigDef *rig_def) {
	FemMeshDef def = fem_box_mesh_def(&rig->box);
	def.quality_clamp = rig_def->quality_clamp;
	float *plates = NULL;
	if (rig_def->plate_correction > 0.0f) {
		plates = malloc((size_t)rig->box.tet_count * sizeof *plates);
		for (int32_t t = 0; plates && t < rig->box.tet_count; t++)
			plates[t] = rig_def->plate_correction;
		def.tet_plates = plates;
	}
	FemMeshId mesh = fem_mesh_create(rig->world, &def);
	free(plates);
	return mesh;
}

FemRig fem_rig_create(const FemRigDef *def) {
	FemRig rig = {.size = def->size};
	rig.box = fem_box_mesh(def->cells[0], def->cells[1], def->cells[2], def->size, def->kind);
	if (def->jitter > 0.0f)
		jitter_nodes(&rig.box, def->size, def->jitter);
	rig.world = fem_world_create(&def->world);
	rig.mesh = make_mesh(&rig, def);
	rig.material = fem_material_create(rig.world, &def->material);
	rig.offsets = calloc((size_t)rig.box.node_count, sizeof *rig.offsets);
	rig.velocities = calloc((size_t)rig.box.node_count, sizeof *rig.velocities);
	int32_t pinned_count = (def->cells[1] + 1) * (def->cells[2] + 1);
	int32_t *pinned = malloc((size_t)pinned_count * sizeof *pinned);
	for (int32_t i = 0; i < pinned_count; i++)
		pinned[i] = i;
	FemBodyDef body = def->body;
	body.mesh = rig.mesh;
	body.materials = &rig.material;
	body.material_count = 1;
	if (def->clamped) {
		body.pinned_nodes = pinned;
		body.pinned_count = pinned_count;
	}
	rig.body = fem_body_create(rig.world, &body);
	free(pinned);
	rig.triangle_count = fem_body_get_surface(rig.body, NULL, 0);
	rig.triangles = calloc((size_t)rig.triangle_count * 3 + 1, sizeof *rig.triangles);
	fem_body_get_surface(rig.body, rig.triangles, rig.triangle_count);
	if (fem_body_is_valid(rig.body))
		fem_rig_read(&rig);
	return rig;
}

void fem_rig_destroy(FemRig *rig) {
	fem_world_destroy(rig->world);
	fem_box_mesh_free(&rig->box);
	free(rig->offsets);
	free(rig->triangles);
	free(rig->velocities);
	*rig = (FemRig){0};
}

void fem_rig_read(FemRig *rig) {
	fem_body_get_positions(rig->body, &rig->origin, rig->offsets, rig->box.node_count);
	fem_body_get_velocities(rig->body, rig->velocities, rig->box.node_count);
}

FemVec3 fem_rig_displacement(const FemRig *rig, int32_t node) {
	FemVec3 rest = rig->box.positions[node], now = rig->offsets[node];
	return (FemVec3){(float)(rig->origin.x + (double)now.x - (double)rest.x),
		(float)(rig->origin.y + (double)now.y - (double)rest.y),
		(float)(rig->origin.z + (double)now.z - (double)rest.z)};
}

int32_t fem_rig_tip_begin(const FemRig *rig) {
	int32_t i = rig->box.node_count;
	while (i > 0 && rig->box.positions[i - 1].x > rig->size.x * 0.9999f)
		i--;
	return i;
}

double fem_rig_tip_mean_y(const FemRig *rig) {
	double sum = 0.0;
	int32_t begin = fem_rig_tip_begin(rig);
	for (int32_t i = begin; i < rig->box.node_count; i++)
		sum += (double)fem_rig_displacement(rig, i).y;
	return sum / (rig->box.node_count - begin);
}

static double triangle_area(const FemVec3 *p, const int32_t *t) {
	double u[3] = {p[t[1]].x - p[t[0]].x, p[t[1]].y - p[t[0]].y, p[t[1]].z - p[t[0]].z};
	double v[3] = {p[t[2]].x - p[t[0]].x, p[t[2]].y - p[t[0]].y, p[t[2]].z - p[t[0]].z};
	double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
	return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

void fem_rig_load_face(const FemRig *rig, bool far_face, FemVec3 force) {
	float x = far_face ? rig->size.x : 0.0f;
	double whole = (double)rig->size.y * (double)rig->size.z;
	for (int32_t t = 0; t < rig->triangle_count; t++) {
		const int32_t *n = rig->triangles + 3 * t;
		const FemVec3 *p = rig->box.positions;
		if (n[0] >= rig->box.node_count || n[1] >= rig->box.node_count || n[2] >= rig->box.node_count)
			continue; // copies of nodes that split have no place in the box
		if (fabsf(p[n[0]].x - x) + fabsf(p[n[1]].x - x) + fabsf(p[n[2]].x - x) > 1e-4f * rig->size.x)
			continue;
		float share = (float)(triangle_area(p, n) / whole / 3.0);
		for (int k = 0; k < 3; k++)
			fem_body_apply_force(rig->body, n[k], (FemVec3){share * force.x, share * force.y, share * force.z});
	}
}

double fem_rig_fastest(FemRig *rig) {
	double fastest = 0.0;
	fem_rig_read(rig);
	for (int32_t i = 0; i < rig->box.node_count; i++) {
		FemVec3 v = rig->velocities[i];
		fastest = fmax(fastest, sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z));
	}
	return fastest;
}

int32_t fem_rig_settle(FemRig *rig, float dt, float speed, int32_t limit, FemRigLoad *load, void *context) {
	for (int32_t step = 1; step <= limit; step++) {
		if (load)
			load(rig, context);
		fem_world_step(rig->world, dt, 1);
		if (fem_rig_fastest(rig) < (double)speed)
			return step;
	}
	return limit;
}
