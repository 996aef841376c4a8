#include "scenes/fracture_scenes.h"

#include "scenes/fracture_meshes.h"

#include <math.h>
#include <stdlib.h>

// ---- building

static FemSceneBodies reserve(const FemScene *scene, int32_t ball_count) {
	return (FemSceneBodies){.ids = calloc((size_t)scene->body_count, sizeof(FemBodyId)),
		.balls = ball_count ? calloc((size_t)ball_count, sizeof(FemSceneBall)) : NULL};
}

static FemMaterialDef material_def(const FemScene *scene) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = scene->young_modulus;
	def.poisson_ratio = scene->poisson_ratio;
	def.density = scene->density;
	def.stiffness_damping = 0.001f;
	def.breakable = true;
	def.toughness = scene->toughness;
	def.toughness_variation = 0.2f;
	def.fragment_size = scene->fragment_size;
	return def;
}

// Frees the box. Plates are not softened for being thin: the plate correction is for them.
static FemMeshId add_mesh(const FemScene *scene, FemWorldId world, FemBoxMesh *box) {
	FemMeshDef def = fem_box_mesh_def(box);
	float *plates = scene->plate_correction > 0.0f ? malloc(sizeof *plates * (size_t)box->tet_count) : NULL;
	for (int32_t t = 0; plates && t < box->tet_count; t++)
		plates[t] = scene->plate_correction;
	if (plates)
		def.quality_clamp = 0.0f;
	def.tet_plates = plates;
	FemMeshId mesh = fem_mesh_create(world, &def);
	free(plates);
	fem_box_mesh_free(box);
	return mesh;
}

// Appends one body; false when it could not be made.
static bool add_body(
	FemSceneBodies *bodies, FemWorldId world, FemBodyDef *def, FemMeshId mesh, const FemMaterialDef *material_def) {
	FemMaterialId material = fem_material_create(world, material_def);
	def->mesh = mesh;
	def->materials = &material;
	def->material_count = 1;
	def->user_data = (uint64_t)bodies->count;
	def->fracture_seed = (uint32_t)bodies->count + 1;
	FemBodyId body = bodies->ids ? fem_body_create(world, def) : (FemBodyId){0};
	if (!fem_body_is_valid(body))
		return false;
	bodies->ids[bodies->count++] = body;
	return true;
}

static void add_ball(FemSceneBodies *bodies, FemWorldId world, FemSceneBall ball, float mass) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = mass > 0.0f ? FEM_COLLIDER_DYNAMIC : FEM_COLLIDER_KINEMATIC;
	def.shape.type = FEM_SHAPE_SPHERE;
	def.shape.radius = ball.radius;
	def.mass = mass;
	def.position = ball.position;
	def.linear_velocity = ball.velocity;
	if (!bodies->balls)
		return;
	ball.id = fem_collider_create(world, &def);
	bodies->balls[bodies->ball_count++] = ball;
}

// Nodes of a box's rim in x and y (all of its lower edge alone with `only_base`).
static int32_t *list_rim(const int32_t cells[3], bool only_base, int32_t *out_count) {
	int32_t count = 0, node = 0;
	int32_t *list = malloc(sizeof *list * (size_t)((cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1)));
	for (int32_t i = 0; list && i <= cells[0]; i++) {
		for (int32_t j = 0; j <= cells[1]; j++) {
			bool is_rim = j == 0 || (!only_base && (j == cells[1] || i == 0 || i == cells[0]));
			for (int32_t k = 0; k <= cells[2]; k++, node++) {
				if (is_rim)
					list[count++] = node;
			}
		}
	}
	*out_count = list ? count : 0;
	return list;
}

// ---- balls

// Rigid balls go where the solve sent them; the built-in ground is for bodies, so they are kept above it here.
void fem_drive_balls(const FemSceneBodies *bodies, int32_t step, float dt) {
	for (int32_t b = 0; step > 0 && b < bodies->ball_count; b++) {
		FemSceneBall *ball = &bodies->balls[b];
		FemColliderResult result;
		if (fem_collider_get_result(ball->id, &result) != FEM_OK)
			continue;
		FemVec3 v = result.linear_velocity;
		ball->position.x += (double)(dt * v.x);
		ball->position.y += (double)(dt * v.y);
		ball->position.z += (double)(dt * v.z);
		if (ball->position.y < (double)ball->radius) {
			ball->position.y = (double)ball->radius;
			v = (FemVec3){0.95f * v.x, 0.0f, 0.95f * v.z};
		}
		ball->velocity = v;
		fem_collider_set_motion(ball->id, ball->position, (FemQuat){.w = 1.0f}, v, result.angular_velocity);
	}
}

// ---- glass

#define ROOM_HALF 1.25   // m, from the middle to a wall
#define PANES_A_SIDE 4   // two above two
#define PANE_PITCH 1.15  // m
#define BLAST_HEIGHT 0.9 // m
#define BLAST_STEPS 3    // its pressure lasts 50 ms
#define BLAST_SPEED 12.0 // m/s that a step of it gives a pane 1 m away; falls with the square of distance

// Panes stand upright in frames around a square room; a frame is a pinned rim.
FemSceneBodies fem_build_glass(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 0);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	int32_t *rim = list_rim(scene->cells, false, &def.pinned_count);
	bool ok = true;
	def.pinned_nodes = rim;
	for (int32_t b = 0; ok && b < scene->body_count; b++) {
		FemBoxMesh box =
			fem_plate_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, 0.25f, (uint32_t)b + 1);
		double along = PANE_PITCH * (b % 2 - 1), up = 0.1 + PANE_PITCH * (b / 2 % 2),
			   angle = 1.5707963267948966 * (b / PANES_A_SIDE);
		double c = cos(angle), s = sin(angle);
		def.position = (FemPosition){along * c + ROOM_HALF * s, up, ROOM_HALF * c - along * s};
		def.rotation = (FemQuat){0.0f, (float)sin(0.5 * angle), 0.0f, (float)cos(0.5 * angle)};
		ok = add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material);
	}
	free(rim);
	return bodies;
}

static void blast_body(FemBodyId body) {
	int32_t count = fem_body_get_node_count(body);
	FemVec3 *x = malloc(sizeof *x * (size_t)count), *v = malloc(sizeof *v * (size_t)count);
	FemPosition origin;
	if (x && v) {
		fem_body_get_positions(body, &origin, x, count);
		fem_body_get_velocities(body, v, count);
		for (int32_t n = 0; n < count; n++) {
			double d[3] = {
				origin.x + (double)x[n].x, origin.y + (double)x[n].y - BLAST_HEIGHT, origin.z + (double)x[n].z};
			double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], scale = BLAST_SPEED / (square * sqrt(square));
			fem_body_set_velocity(body, n,
				(FemVec3){
					v[n].x + (float)(scale * d[0]), v[n].y + (float)(scale * d[1]), v[n].z + (float)(scale * d[2])});
		}
	}
	free(x);
	free(v);
}

// Panes weigh the same a square metre: an impulse on their area is a speed.
void fem_drive_glass(const FemSceneBodies *bodies, int32_t step, float dt) {
	(void)dt;
	bool blasts = step >= FEM_BLAST_STEP && step < FEM_BLAST_STEP + BLAST_STEPS;
	for (int32_t b = 0; blasts && b < bodies->count; b++)
		blast_body(bodies->ids[b]);
}

// ---- wall

FemSceneBodies fem_build_wall(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 1);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	FemBoxMesh box = fem_wall_mesh(scene->size);
	int32_t *base = list_rim(scene->cells, true, &def.pinned_count);
	def.pinned_nodes = base;
	def.position.x = -0.5 * (double)scene->size.x;
	add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material);
	add_ball(&bodies, world,
		(FemSceneBall){.radius = 0.35f, .position = {0.2, 1.4, -0.5}, .velocity = {0.0f, 0.0f, 8.0f}}, 2000.0f);
	free(base);
	return bodies;
}

// ---- slab

#define SLAB_HEIGHT 1.0    // m, of its lower face
#define SLAB_HELD 0.11f    // m of each end
#define SLAB_BALL 0.15f    // m, radius
#define SLAB_BALL_GAP 0.05 // m above the slab at first

static int32_t *list_ends(const FemBoxMesh *box, float length, int32_t *out_count) {
	int32_t count = 0, *list = malloc(sizeof *list * (size_t)box->node_count);
	for (int32_t i = 0; list && i < box->node_count; i++) {
		if (box->positions[i].x <= SLAB_HELD || box->positions[i].x >= length - SLAB_HELD)
			list[count++] = i;
	}
	*out_count = list ? count : 0;
	return list;
}

FemSceneBodies fem_build_slab(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 1);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	FemVec3 size = scene->size;
	FemBoxMesh box = fem_box_mesh(scene->cells[0], scene->cells[1], scene->cells[2], size, FEM_CELLS_KUHN);
	int32_t *ends = list_ends(&box, size.x, &def.pinned_count);
	material.stiffness_damping = 5e-4f;
	def.pinned_nodes = ends;
	def.position = (FemPosition){-0.5 * (double)size.x, SLAB_HEIGHT, -0.5 * (double)size.z};
	add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material);
	double height = SLAB_HEIGHT + (double)size.y + SLAB_BALL_GAP + (double)SLAB_BALL;
	add_ball(&bodies, world,
		(FemSceneBall){.radius = SLAB_BALL, .position = {0.0, height, 0.0}, .velocity = {0.0f, -6.0f, 0.0f}}, 80.0f);
	free(ends);
	return bodies;
}

// ---- joined pieces

#define CELL_TETS 6 // of FEM_CELLS_KUHN

// Each cell of the box is a piece, or so many grow from seeds.
static bool join_cells(FemBodyId body, int32_t tet_count, int32_t grown_count) {
	FemJoinedDef def = fem_default_joined_def();
	int32_t *pieces = malloc(sizeof *pieces * (size_t)tet_count);
	for (int32_t t = 0; pieces && t < tet_count; t++)
		pieces[t] = t / CELL_TETS;
	def.tet_pieces = grown_count > 0 ? NULL : pieces;
	def.seed_count = grown_count;
	bool ok = pieces && fem_body_set_joined(body, &def) == FEM_OK &&
		fem_body_set_dynamics(body, FEM_DYNAMICS_RIGID_PIECES) == FEM_OK;
	free(pieces);
	return ok;
}

// A box that stands on the ground; a scene with a drive has a ball of half a ton that flies at it.
FemSceneBodies fem_build_joined(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 1);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	FemBoxMesh box = fem_box_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, FEM_CELLS_KUHN);
	int32_t tets = box.tet_count;
	def.position = (FemPosition){-0.5 * (double)scene->size.x, 0.0, -0.5 * (double)scene->size.z};
	if (!add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material))
		return bodies;
	if (!join_cells(bodies.ids[0], tets, scene->piece_count))
		bodies.count = 0;
	if (scene->drive)
		add_ball(&bodies, world,
			(FemSceneBall){.radius = 0.4f,
				.position = {0.1, 0.3 * (double)scene->size.y, -0.5 * (double)scene->size.z - 0.5},
				.velocity = {0.0f, 0.0f, 12.0f}},
			500.0f);
	return bodies;
}

// ---- pole

#define POLE_FOOT 0.5   // m, height of its lower end
#define POLE_LENGTH 2.0 // m
#define POLE_SPIN 1.5   // rad/s of each end, against each other
#define POLE_STEPS 240  // after which the ends are held still

// Its two ends are driven: they turn about the pole's axis, which stands at the origin.
FemSceneBodies fem_build_pole(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 0);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	FemBoxMesh box = fem_box_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, FEM_CELLS_FIVE);
	def.position = (FemPosition){-0.5 * (double)scene->size.x, POLE_FOOT, -0.5 * (double)scene->size.z};
	if (add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material))
		fem_drive_pole(&bodies, 0, scene->dt);
	return bodies;
}

// Nodes at the height of an end are driven ones: where they split, so are their copies.
void fem_drive_pole(const FemSceneBodies *bodies, int32_t step, float dt) {
	FemBodyId body = bodies->ids[0];
	int32_t count = fem_body_get_node_count(body);
	FemVec3 *offsets = malloc(sizeof *offsets * (size_t)count);
	FemPosition origin;
	double angle = step < POLE_STEPS ? POLE_SPIN * (double)dt : 0.0;
	if (offsets)
		fem_body_get_positions(body, &origin, offsets, count);
	for (int32_t n = 0; offsets && n < count; n++) {
		double x = origin.x + (double)offsets[n].x, y = origin.y + (double)offsets[n].y,
			   z = origin.z + (double)offsets[n].z;
		bool foot = fabs(y - POLE_FOOT) < 1e-5, head = fabs(y - POLE_FOOT - POLE_LENGTH) < 1e-5;
		if ((!foot && !head) || x * x + z * z > 0.1)
			continue;
		double c = cos(angle), s = head ? sin(angle) : -sin(angle);
		fem_body_drive_node(body, n,
			(FemVec3){(float)((c * x + s * z - x) / (double)dt), 0.0f, (float)((c * z - s * x - z) / (double)dt)});
	}
	free(offsets);
}

// ---- bowls

#define BOWL_RADIUS 0.15f // m
#define BOWL_WALL 0.012f  // m
#define BOWL_DROP 1.0     // m

// It lands on the side of its rim.
FemSceneBodies fem_build_bowl(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 0);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	FemBoxMesh box = fem_bowl_mesh(BOWL_RADIUS, BOWL_WALL, scene->cells[0], 11);
	def.position.y = BOWL_DROP + 0.2;
	def.rotation = (FemQuat){0.0f, 0.0f, (float)sin(0.3), (float)cos(0.3)};
	add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material);
	return bodies;
}

// ---- panel

#define RAM_RADIUS 0.12f // m
#define RAM_STEPS 40     // of one blow
#define RAM_REACH 0.45   // m, how far it goes through the panel

static const double blows[][2] = {{0.3, 0.7}, {0.68, 0.95}, {0.5, 0.4}, {0.75, 0.3}}; // m, on the panel
enum { BLOW_COUNT = sizeof blows / sizeof *blows };

static FemPosition ram_at(int32_t step) {
	int32_t blow = step / RAM_STEPS < BLOW_COUNT ? step / RAM_STEPS : BLOW_COUNT;
	if (blow == BLOW_COUNT)
		return (FemPosition){0.0, 0.7, -2.0};
	double phase = 6.283185307179586 * (step % RAM_STEPS) / RAM_STEPS;
	return (FemPosition){
		blows[blow][0] - 0.5, blows[blow][1] + 0.2, -0.3 + (0.3 + RAM_REACH) * 0.5 * (1.0 - cos(phase))};
}

// A ram batters it in four places. Its rim is held.
FemSceneBodies fem_build_panel(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, 1);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	FemBoxMesh box = fem_plate_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, 0.2f, 4);
	int32_t *rim = list_rim(scene->cells, false, &def.pinned_count);
	material.grain_direction = (FemVec3){0.0f, 1.0f, 0.0f};
	material.grain_ratio = 12.0f;
	def.pinned_nodes = rim;
	def.position = (FemPosition){-0.5 * (double)scene->size.x, 0.2, 0.0};
	add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material);
	add_ball(&bodies, world, (FemSceneBall){.radius = RAM_RADIUS, .position = ram_at(0)}, 0.0f);
	free(rim);
	return bodies;
}

void fem_drive_panel(const FemSceneBodies *bodies, int32_t step, float dt) {
	for (int32_t b = 0; b < bodies->ball_count; b++) {
		FemPosition now = ram_at(step), next = ram_at(step + 1);
		FemVec3 v = {(float)((next.x - now.x) / (double)dt), (float)((next.y - now.y) / (double)dt),
			(float)((next.z - now.z) / (double)dt)};
		if ((step + 1) % RAM_STEPS == 0) // it is put before the next place
			v = (FemVec3){0.0f, 0.0f, 0.0f};
		bodies->balls[b].position = now;
		bodies->balls[b].velocity = v;
		fem_collider_set_motion(bodies->balls[b].id, now, (FemQuat){.w = 1.0f}, v, (FemVec3){0.0f, 0.0f, 0.0f});
	}
}

// ---- ductile

#define DUCTILE_WALLS 8

// O'Brien, Bargteil & Hodgins 2002 name (0, 0), (0.001, 0.006), (0.001, 0.162) and (0.001, 0.486) for four of their
// eight walls; the others stand between. Their gammas are of F^T F - I, twice the strain meant here.
static const float gamma2[DUCTILE_WALLS] = {0.0f, 0.002f, 0.006f, 0.018f, 0.054f, 0.162f, 0.281f, 0.486f};

FemSceneBodies fem_build_ductile(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = reserve(scene, DUCTILE_WALLS);
	FemMaterialDef material = material_def(scene);
	FemBodyDef def = fem_default_body_def();
	int32_t *base = list_rim(scene->cells, true, &def.pinned_count);
	bool ok = true;
	def.pinned_nodes = base;
	material.plasticity = FEM_PLASTICITY_DEVIATORIC;
	for (int32_t b = 0; ok && b < DUCTILE_WALLS; b++) {
		FemBoxMesh box = fem_plate_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, 0.2f, 2002);
		double x = 2.0 * (b % 4), z = 6.0 * (b / 4);
		material.yield_strain = 0.5f * 0.001f;
		material.max_plastic_strain = 0.5f * gamma2[b];
		def.position = (FemPosition){x, 0.0, z};
		ok = add_body(&bodies, world, &def, add_mesh(scene, world, &box), &material);
		add_ball(&bodies, world,
			(FemSceneBall){.radius = 0.15f, .position = {x + 0.6, 0.8, z - 0.2}, .velocity = {0.0f, 0.0f, 8.0f}},
			60.0f);
	}
	free(base);
	return bodies;
}
