#include "things_rig.h"

#include "base/vec.h"
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/filled_mesh.h"

#include <math.h>
#include <stdlib.h>

#define PROFILE_MAX 64    // points of a revolved thing
#define BLOW_STEP 2       // in which impulses are given
#define BLAST_RADIUS 2.0f // m

// ---- shapes

static FemTetMesh bake_wall(FemSurfaceMesh surface, int32_t elements, float wall) {
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef bake = fem_default_bake_def();
	FemTetMesh tets = {0};
	bake.element_count = elements;
	bake.wall_thickness = wall;
	FEM_CHECK(fem_tetrahedralize(&soup, &bake, &tets) == FEM_OK);
	fem_surface_mesh_free(&surface);
	return tets;
}

FemTetMesh fem_thing_bake(FemSurfaceMesh surface, int32_t elements) {
	return bake_wall(surface, elements, 0.0f);
}

FemTetMesh fem_thing_box(FemVec3 size, int32_t elements) {
	return fem_thing_bake(fem_surface_box(size, 1), elements);
}

FemTetMesh fem_thing_cube(int32_t elements) {
	return fem_thing_box((FemVec3){0.3f, 0.3f, 0.3f}, elements);
}

FemTetMesh fem_thing_vase(int32_t elements) {
	return fem_thing_bake(fem_surface_vase(0.3, 0.005, 40), elements);
}

FemTetMesh fem_thing_plate(int32_t elements) {
	double profile[4][2] = {{0.0, 0.0}, {0.13, 0.0}, {0.13, 0.006}, {0.0, 0.006}};
	return fem_thing_bake(fem_surface_revolved(profile, 4, 32), elements);
}

FemTetMesh fem_thing_dish(int32_t elements) {
	double profile[8][2] = {{0.0, -0.012}, {0.08, -0.012}, {0.095, -0.006}, {0.13, 0.012}, {0.124, 0.012},
		{0.089, -0.006}, {0.074, -0.006}, {0.0, -0.006}};
	return fem_thing_bake(fem_surface_revolved(profile, 8, 48), elements);
}

FemTetMesh fem_thing_beaker(int32_t elements) {
	return bake_wall(fem_surface_cylinder(0.15, 0.5, 32), elements, 0.006f);
}

// Foot, stem and bowl.
FemTetMesh fem_thing_wine_glass(int32_t elements) {
	double profile[PROFILE_MAX][2] = {{0.0, 0.0}, {0.035, 0.0}, {0.035, 0.003}, {0.005, 0.006}, {0.005, 0.09}};
	int32_t count = 5, steps = 10;
	for (int32_t i = 1; i <= steps; i++) { // outside of the bowl, an arc and a straight wall
		double a = 0.5 * 3.14159265358979 * i / steps;
		profile[count][0] = 0.005 + 0.035 * sin(a);
		profile[count++][1] = 0.09 + 0.045 * (1.0 - cos(a));
	}
	profile[count][0] = 0.036, profile[count++][1] = 0.2;
	profile[count][0] = 0.034, profile[count++][1] = 0.2;
	for (int32_t i = steps; i >= 1; i--) {
		double a = 0.5 * 3.14159265358979 * i / steps;
		profile[count][0] = 0.003 + 0.0348 * sin(a);
		profile[count++][1] = 0.093 + 0.042 * (1.0 - cos(a));
	}
	profile[count][0] = 0.0, profile[count++][1] = 0.0932;
	return fem_thing_bake(fem_surface_revolved(profile, count, 24), elements);
}

// A round pot with a hole at the top.
FemTetMesh fem_thing_teapot(int32_t elements) {
	double profile[PROFILE_MAX][2];
	int32_t count = 0, steps = 14;
	double wall = 0.006;
	profile[count][0] = 0.0, profile[count++][1] = 0.0;
	for (int32_t i = 0; i <= steps; i++) {
		double a = 3.14159265358979 * (0.2 + 0.65 * i / steps);
		profile[count][0] = 0.12 * sin(a);
		profile[count++][1] = 0.1 * (cos(0.2 * 3.14159265358979) - cos(a));
	}
	for (int32_t i = steps; i >= 0; i--) {
		double a = 3.14159265358979 * (0.2 + 0.65 * i / steps);
		profile[count][0] = (0.12 - wall) * sin(a);
		profile[count++][1] = fmax(0.1 * cos(0.2 * 3.14159265358979) - (0.1 - wall) * cos(a), wall);
	}
	profile[count][0] = 0.0, profile[count++][1] = wall;
	return fem_thing_bake(fem_surface_revolved(profile, count, 28), elements);
}

// ---- scenes

FemQuat fem_rotation_x(double angle) {
	return (FemQuat){(float)sin(0.5 * angle), 0.0f, 0.0f, (float)cos(0.5 * angle)};
}

FemThingScene fem_thing_scene(const FemTetMesh *tets, const FemMaterialDef *material) {
	return (FemThingScene){.tets = tets,
		.material = *material,
		.rotation = {0.0f, 0.0f, 0.0f, 1.0f},
		.hz = 60.0,
		.seconds = 0.3,
		.height = -1.0};
}

static bool is_pinned(const FemThingScene *scene, const FemVec3 low, const FemVec3 high, FemVec3 at) {
	const float *a = &low.x, *b = &high.x, *x = &at.x, *from = &scene->pin_low.x, *to = &scene->pin_high.x;
	bool inside = true;
	for (int k = 0; k < 3; k++) {
		float share = (x[k] - a[k]) / fmaxf(b[k] - a[k], 1e-9f);
		inside &= share >= from[k] - 1e-4f && share <= to[k] + 1e-4f;
	}
	return inside != scene->pin_outside;
}

static FemBodyId add_thing(FemWorldId world, const FemThingScene *scene) {
	const FemTetMesh *tets = scene->tets;
	FemMaterialId material = fem_material_create(world, &scene->material);
	FemMeshDef mesh = fem_filled_mesh_def(tets);
	FemBodyDef def = fem_default_body_def();
	FemVec3 low = tets->nodes[0], high = low;
	int32_t *pinned = malloc(sizeof *pinned * (size_t)tets->node_count), count = 0;
	for (int32_t i = 0; i < tets->node_count; i++) {
		FemVec3 x = tets->nodes[i];
		low = (FemVec3){fminf(low.x, x.x), fminf(low.y, x.y), fminf(low.z, x.z)};
		high = (FemVec3){fmaxf(high.x, x.x), fmaxf(high.y, x.y), fmaxf(high.z, x.z)};
	}
	bool pins = scene->pin_outside || scene->pin_high.x > 0.0f;
	for (int32_t i = 0; pins && i < tets->node_count; i++) {
		if (is_pinned(scene, low, high, tets->nodes[i]))
			pinned[count++] = i;
	}
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.fracture_seed = 3;
	def.rotation = scene->rotation;
	def.pinned_nodes = pinned;
	def.pinned_count = count;
	FemBodyId body = fem_body_create(world, &def);
	if (scene->height >= 0.0) {
		double lowest = fem_low(body);
		fem_body_destroy(body);
		def.position.y = scene->height - lowest;
		body = fem_body_create(world, &def);
	}
	free(pinned);
	FEM_CHECK(fem_body_is_valid(body));
	return body;
}

// A rigid ball or box, or a soft ball.
static FemColliderId add_striker(FemWorldId world, const FemThingScene *scene) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.shape.type = FEM_SHAPE_SPHERE;
	def.shape.radius = scene->ball_radius;
	if (scene->ball_edge.x > 0.0f) {
		def.shape.type = FEM_SHAPE_BOX;
		def.shape.half_extents = scene->ball_edge;
	}
	def.mass = scene->ball_mass;
	def.position = scene->ball_at;
	def.linear_velocity = scene->ball_velocity;
	return fem_collider_create(world, &def);
}

static FemBodyId add_soft_ball(FemWorldId world, const FemThingScene *scene) {
	FemTetMesh tets = fem_thing_bake(fem_surface_sphere((double)scene->ball_radius, 8), 150);
	FemMaterialDef material = fem_default_material_def();
	material.young_modulus = scene->ball_give;
	material.density = scene->ball_mass / fmaxf(tets.volume, 1e-9f);
	material.restitution = 0.7f;
	FemMaterialId id = fem_material_create(world, &material);
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = tets.node_count;
	mesh.node_positions = tets.nodes;
	mesh.tet_count = tets.tet_count;
	mesh.tets = tets.tets;
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &id;
	def.material_count = 1;
	def.position = scene->ball_at;
	def.linear_velocity = scene->ball_velocity;
	FemBodyId body = fem_body_create(world, &def);
	fem_tet_mesh_free(&tets);
	return body;
}

typedef struct Striker {
	FemColliderId ball;
	FemBodyId soft;
	FemPosition at;
	FemVec3 velocity;
	FemQuat rotation;
	FemVec3 spin;
} Striker;

static Striker make_striker(FemWorldId world, const FemThingScene *scene) {
	Striker out = {.at = scene->ball_at, .velocity = scene->ball_velocity, .rotation = {0.0f, 0.0f, 0.0f, 1.0f}};
	if (scene->ball_mass > 0.0f && scene->ball_give > 0.0f)
		out.soft = add_soft_ball(world, scene);
	else if (scene->ball_mass > 0.0f)
		out.ball = add_striker(world, scene);
	return out;
}

static FemQuat rotated(FemQuat q, FemVec3 by) {
	double angle = sqrt((double)(by.x * by.x + by.y * by.y + by.z * by.z)),
		   half = angle > 1e-12 ? sin(0.5 * angle) / angle : 0.5;
	FemQuat by_step = {(float)(half * (double)by.x), (float)(half * (double)by.y), (float)(half * (double)by.z),
		(float)cos(0.5 * angle)};
	FemQuat out = fem_quat_mul(by_step, q);
	fem_quat_normalize(&out);
	return out;
}

// A host moves its dynamic bodies by what a step did to them.
static void move_striker(const FemThingScene *scene, Striker *striker) {
	FemColliderResult result;
	FemBodyState state;
	if (scene->ball_give > 0.0f && fem_body_get_state(striker->soft, &state) == FEM_OK) {
		striker->at = state.center;
		striker->velocity = state.linear_velocity;
	}
	if (scene->ball_give > 0.0f || fem_collider_get_result(striker->ball, &result) != FEM_OK)
		return;
	striker->velocity = result.linear_velocity;
	striker->spin = result.angular_velocity;
	striker->at.x += (double)result.translation.x;
	striker->at.y += (double)result.translation.y;
	striker->at.z += (double)result.translation.z;
	striker->rotation = rotated(striker->rotation, result.rotation_vector);
	fem_collider_set_motion(striker->ball, striker->at, striker->rotation, striker->velocity, striker->spin);
}

static void read_striker(const FemThingScene *scene, const Striker *striker, FemThingResult *out) {
	FemVec3 v = striker->velocity, first = scene->ball_velocity;
	FemPosition from = scene->ball_at, at = striker->at;
	double speed = sqrt((double)(first.x * first.x + first.y * first.y + first.z * first.z));
	out->ball_speed = (double)(v.x * first.x + v.y * first.y + v.z * first.z) / speed;
	out->ball_past =
		((at.x - from.x) * (double)first.x + (at.y - from.y) * (double)first.y + (at.z - from.z) * (double)first.z) /
		speed;
}

static void read_pieces(FemBodyId body, FemThingResult *out) {
	FemPieceNumber *numbers = malloc(sizeof *numbers * (size_t)(fem_body_get_tet_count(body) + 1));
	double most = 0.0, mass = 0.0;
	out->pieces = fem_body_get_pieces(body, numbers, fem_body_get_tet_count(body));
	for (int32_t i = 0; i < out->pieces; i++) {
		FemPieceState state = {0};
		fem_body_get_piece_state(body, numbers[i], &state);
		mass += state.mass;
		most = fmax(most, state.mass);
		out->fastest = fmax(out->fastest, (double)fem_vec3_length(state.linear_velocity));
	}
	for (int32_t i = 0; i < out->pieces; i++) {
		FemPieceState state = {0};
		fem_body_get_piece_state(body, numbers[i], &state);
		out->shards += (double)state.mass >= 0.01 * mass;
	}
	out->largest = most / mass;
	out->tets = fem_body_get_tet_count(body);
	free(numbers);
}

static void give_impulses(const FemThingScene *scene, FemBodyId body) {
	if (fem_vec3_length(scene->impulse) > 0.0f)
		FEM_CHECK_INT(fem_body_apply_impulse_at_point(body, scene->impulse, scene->impulse_at), FEM_OK);
	if (scene->blast > 0.0f)
		FEM_CHECK_INT(fem_body_apply_explosion(body, scene->blast_at, BLAST_RADIUS, scene->blast), FEM_OK);
}

FemThingResult fem_thing_run(const FemThingScene *scene) {
	FemWorldDef def = fem_contact_world_def();
	FemThingResult out = {0};
	def.sleeping_enabled = scene->sleeps;
	if (scene->has_no_gravity)
		def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	if (scene->height >= 0.0)
		fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBodyId body = add_thing(world, scene);
	Striker striker = make_striker(world, scene);
	double fall = scene->height > 0.0 ? sqrt(2.0 * scene->height / 9.81) : 0.0;
	int32_t steps = (int32_t)((fall + scene->seconds) * scene->hz);
	for (int32_t n = 0; n < steps; n++) {
		if (n == BLOW_STEP)
			give_impulses(scene, body);
		fem_world_step(world, (float)(1.0 / scene->hz), 1);
		FemStatistics statistics = {0};
		fem_world_get_statistics(world, &statistics);
		out.passes = statistics.passes > out.passes ? statistics.passes : out.passes;
		if (scene->ball_mass > 0.0f)
			move_striker(scene, &striker);
	}
	read_pieces(body, &out);
	if (scene->ball_mass > 0.0f)
		read_striker(scene, &striker, &out);
	FemBodyState state = {0};
	fem_body_get_state(body, &state);
	out.is_asleep = state.asleep;
	out.plastic = (double)state.max_plastic_strain;
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
	return out;
}
