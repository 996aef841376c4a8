#include "mesh_drop_rig.h"

#include "contact_rig.h"
#include "fem_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FALL_SECONDS 2.0    // in which it falls and lies
#define FLOOR_FRICTION 0.5f // Coulomb

typedef struct Drop {
	const FemMeshDrop *def;
	FemWorldId world;
	FemBodyId body;
	FemColliderId ball;
	FemPosition ball_at;
	double scale;           // of the mesh
	double top;             // m, of the ball's centre when it comes
	FemVertexOwner *owners; // [vertex of the splinters]: as a host knows them, by what each step tells
	FemMeshDropResult out;
} Drop;

static double length(FemVec3 v) {
	return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

static void find_box(const FemTetArrays *tets, FemVec3 *low, FemVec3 *high) {
	*low = *high = tets->nodes[0];
	for (int32_t i = 1; i < tets->node_count; i++) {
		FemVec3 x = tets->nodes[i];
		*low = (FemVec3){fminf(low->x, x.x), fminf(low->y, x.y), fminf(low->z, x.z)};
		*high = (FemVec3){fmaxf(high->x, x.x), fmaxf(high->y, x.y), fmaxf(high->z, x.z)};
	}
}

static bool add_body(Drop *drop) {
	const FemTetArrays *tets = &drop->def->mesh->tet_mesh;
	const FemSplinterMesh *splinters = &drop->def->mesh->splinters;
	FemVec3 low, high;
	find_box(tets, &low, &high);
	drop->scale = (double)drop->def->size /
		fmax(fmax((double)(high.x - low.x), (double)(high.y - low.y)), (double)(high.z - low.z));
	FemMaterialId material = fem_material_create(drop->world, &drop->def->material);
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = tets->node_count;
	mesh.node_positions = tets->nodes;
	mesh.tet_count = tets->tet_count;
	mesh.tets = tets->tets;
	mesh.tet_plates = tets->tet_plates;
	for (int32_t i = 0; tets->tet_plates && i < tets->tet_count; i++)
		mesh.quality_clamp = tets->tet_plates[i] != 0.0f ? 0.0f : mesh.quality_clamp;
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(drop->world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.fracture_seed = 3;
	def.scale = (FemVec3){(float)drop->scale, (float)drop->scale, (float)drop->scale};
	def.position = (FemPosition){-0.5 * drop->scale * (double)(low.x + high.x),
		(double)drop->def->size - drop->scale * (double)low.y, -0.5 * drop->scale * (double)(low.z + high.z)};
	drop->body = fem_body_create(drop->world, &def);
	FemSplintersDef given = fem_default_splinters_def();
	given.splinter_count = splinters->splinter_count;
	given.home_tets = splinters->home_tets;
	given.vertex_count = splinters->vertex_count;
	given.vertex_splinters = splinters->vertex_splinters;
	given.vertex_tets = splinters->vertex_tets;
	given.vertex_positions = splinters->positions;
	return fem_body_is_valid(drop->body) && fem_body_set_splinters(drop->body, &given) == FEM_OK;
}

// It comes from the side, at half the height of what lies there.
static void throw_ball(Drop *drop) {
	FemBodyState state = {0};
	FemPosition low = {0}, high = {0};
	FemColliderDef def = fem_default_collider_def();
	fem_body_get_state(drop->body, &state);
	fem_body_get_bounds(drop->body, &low, &high);
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.shape.type = FEM_SHAPE_SPHERE;
	def.shape.radius = 0.1f * drop->def->size;
	def.mass = drop->def->ball_share * (float)state.mass;
	float inertia = 0.4f * def.mass * def.shape.radius * def.shape.radius;
	def.inertia = (FemVec3){inertia, inertia, inertia};
	double height = fmax(0.5 * (low.y + high.y), 1.1 * (double)def.shape.radius);
	def.position = (FemPosition){low.x - 1.2 * (double)def.shape.radius, height, state.center.z};
	def.linear_velocity = (FemVec3){drop->def->ball_speed, 0.0f, 0.0f};
	drop->ball_at = def.position;
	drop->ball = fem_collider_create(drop->world, &def);
}

// The floor's friction on a ball that lies on it, per mass: what stops the slip of its lowest point at most.
static void roll_on_floor(FemVec3 *v, FemVec3 *w, float radius) {
	float slip[2] = {v->x + radius * w->z, v->z - radius * w->x};
	float speed = sqrtf(slip[0] * slip[0] + slip[1] * slip[1]);
	if (speed == 0.0f)
		return;
	float share = fminf(FLOOR_FRICTION * 9.81f / 60.0f, 2.0f / 7.0f * speed) / speed;
	v->x -= share * slip[0];
	v->z -= share * slip[1];
	w->z -= 2.5f / radius * share * slip[0];
	w->x += 2.5f / radius * share * slip[1];
}

// As a host does: colliders move by what the engine gives them, and its own floor holds them.
static void move_ball(Drop *drop) {
	FemColliderResult result;
	if (fem_collider_get_result(drop->ball, &result) != FEM_OK)
		return;
	drop->ball_at.x += (double)result.translation.x;
	drop->ball_at.y += (double)result.translation.y;
	drop->ball_at.z += (double)result.translation.z;
	FemVec3 v = result.linear_velocity, w = result.angular_velocity;
	float radius = 0.1f * drop->def->size;
	if (drop->ball_at.y < (double)radius) {
		drop->ball_at.y = (double)radius;
		v.y = fmaxf(v.y, 0.0f);
		roll_on_floor(&v, &w, radius);
	}
	fem_collider_set_motion(drop->ball, drop->ball_at, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, v, w);
}

// The fastest piece; only those that are awake with `awake`.
static double fastest(const Drop *drop, bool awake, int32_t *out_count) {
	int32_t count = fem_body_get_pieces(drop->body, NULL, 0);
	FemPieceNumber *numbers = malloc(sizeof *numbers * (size_t)(count + 1));
	double most = 0.0;
	*out_count = fem_body_get_pieces(drop->body, numbers, count);
	for (int32_t i = 0; i < count; i++) {
		FemPieceState state = {0};
		fem_body_get_piece_state(drop->body, numbers[i], &state);
		double speed = length(state.linear_velocity);
		most = (awake && state.asleep) || speed <= most ? most : speed; // NaN counts
	}
	free(numbers);
	return most;
}

static FemVec3 place_of(const FemVertexOwner *owner, const float *positions) {
	float x[3] = {0.0f, 0.0f, 0.0f};
	for (int v = 0; v < 4; v++) {
		for (int axis = 0; axis < 3; axis++)
			x[axis] += owner->weights[v] * positions[4 * (size_t)owner->nodes[v] + (size_t)axis];
	}
	return (FemVec3){x[0], x[1], x[2]};
}

static void follow_jumps(Drop *drop) {
	const FemOwnerChange *changes;
	FemShape shape;
	int32_t count = fem_body_get_owner_changes(drop->body, &changes);
	for (int32_t i = 0; i < count; i++)
		drop->owners[changes[i].vertex] = changes[i].owner;
	const float *positions = fem_body_get_shape(drop->body, false, &shape);
	for (int32_t i = 0; positions && i < count; i++) {
		if (changes[i].kind != FEM_OWNER_TET || changes[i].before.tet < 0)
			continue;
		FemVec3 a = place_of(&changes[i].before, positions), b = place_of(&changes[i].owner, positions);
		drop->out.farthest_jump = fmax(drop->out.farthest_jump, length((FemVec3){a.x - b.x, a.y - b.y, a.z - b.z}));
	}
}

// How many pieces have tets among those that the engine says are bare.
static int32_t count_bare(const Drop *drop, FemPieceNumber most) {
	int32_t count = fem_body_get_bare_tets(drop->body, NULL, 0), pieces = 0;
	int32_t *tets = malloc(sizeof *tets * (size_t)(count + 1));
	uint8_t *is_bare = calloc((size_t)most + 1, 1);
	FEM_CHECK(tets && is_bare && fem_body_get_bare_tets(drop->body, tets, count) == count);
	for (int32_t i = 0; tets && is_bare && i < count; i++) {
		FemPieceNumber piece = fem_body_get_tet_piece(drop->body, tets[i]);
		pieces += !is_bare[piece];
		is_bare[piece] = 1;
	}
	free(tets);
	free(is_bare);
	return pieces;
}

static bool read_owners(Drop *drop) {
	int32_t count = drop->def->mesh->splinters.vertex_count;
	drop->owners = calloc((size_t)count + 1, sizeof *drop->owners);
	bool ok = drop->owners;
	for (int32_t i = 0; ok && i < count; i++)
		ok = fem_body_get_vertex_owner(drop->body, i, &drop->owners[i]) == FEM_OK;
	return ok;
}

// Vertices that follow other nodes than the steps told.
static int32_t count_untold(const Drop *drop) {
	int32_t untold = 0;
	for (int32_t i = 0; i < drop->def->mesh->splinters.vertex_count; i++) {
		FemVertexOwner owner = {0};
		fem_body_get_vertex_owner(drop->body, i, &owner);
		untold += owner.tet != drop->owners[i].tet ||
			memcmp(owner.nodes, drop->owners[i].nodes, sizeof owner.nodes) != 0 ||
			memcmp(owner.weights, drop->owners[i].weights, sizeof owner.weights) != 0;
	}
	return untold;
}

static FemPieceNumber piece_of_vertex(const Drop *drop, int32_t vertex) {
	FemVertexOwner owner;
	bool has_one = fem_body_get_vertex_owner(drop->body, vertex, &owner) == FEM_OK && owner.tet >= 0;
	return has_one ? fem_body_get_tet_piece(drop->body, owner.tet) : 0;
}

// Triangles whose corners follow more than one piece: they are drawn as long as the way between these.
static int32_t count_torn(const Drop *drop) {
	const FemSplinterMesh *splinters = &drop->def->mesh->splinters;
	int32_t torn = 0;
	for (int32_t s = 0; s < splinters->surface_count; s++) {
		for (int32_t i = splinters->index_starts[s]; i < splinters->index_starts[s + 1]; i += 3) {
			const int32_t *corners = &splinters->indices[i];
			int32_t first = splinters->vertex_starts[s];
			FemPieceNumber pieces[3];
			for (int v = 0; v < 3; v++)
				pieces[v] = piece_of_vertex(drop, first + corners[v]);
			torn += pieces[0] != pieces[1] || pieces[1] != pieces[2];
		}
	}
	return torn;
}

static void read_picture(Drop *drop) {
	int32_t nodes = fem_body_get_node_count(drop->body), tets = drop->def->mesh->tet_mesh.tet_count;
	FemShape shape;
	const float *positions = fem_body_get_shape(drop->body, false, &shape);
	FemPieceNumber most = 0;
	for (int32_t tet = 0; tet < tets; tet++) {
		FemPieceNumber piece = fem_body_get_tet_piece(drop->body, tet);
		most = piece > most ? piece : most;
	}
	uint8_t *drawn = calloc((size_t)most + 1, 1);
	fem_body_get_splinter_count(drop->body, &drop->out.vertices);
	for (int32_t i = 0; drawn && i < drop->out.vertices; i++) {
		FemVertexOwner owner;
		if (fem_body_get_vertex_owner(drop->body, i, &owner) != FEM_OK || owner.tet < 0)
			continue;
		drawn[fem_body_get_tet_piece(drop->body, owner.tet)] = 1;
		double y = shape.origin.y;
		for (int v = 0; positions && v < 4 && owner.nodes[v] < nodes; v++)
			y += (double)owner.weights[v] * (double)positions[4 * (size_t)owner.nodes[v] + 1];
		drop->out.low_vertices += y < -0.02 * (double)drop->def->size;
	}
	drop->out.bare_pieces = count_bare(drop, most);
	drop->out.torn_triangles = count_torn(drop);
	drop->out.untold_vertices = count_untold(drop);
	FemBodyState state = {0};
	fem_body_get_state(drop->body, &state);
	drop->out.crushed_mass = (double)state.crushed_mass;
	for (FemPieceNumber piece = 1; drawn && piece <= most; piece++)
		drop->out.drawn_pieces += drawn[piece];
	free(drawn);
}

static void run(Drop *drop) {
	const float dt = 1.0f / 60.0f;
	int32_t fall = (int32_t)(FALL_SECONDS * 60.0), after = (int32_t)(drop->def->seconds * 60.0), count;
	for (int32_t n = 0; n < fall; n++) {
		fem_world_step(drop->world, dt, 1);
		follow_jumps(drop);
		drop->out.fastest_before = fmax(drop->out.fastest_before, fastest(drop, false, &count));
	}
	throw_ball(drop);
	drop->out.fastest_before = fmax(drop->out.fastest_before, (double)drop->def->ball_speed);
	clock_t start = clock();
	for (int32_t n = 0; n < after; n++) {
		fem_world_step(drop->world, dt, 1);
		follow_jumps(drop);
		move_ball(drop);
		double speed = fastest(drop, false, &count);
		drop->out.fastest_after = speed <= drop->out.fastest_after ? drop->out.fastest_after : speed;
		if (n == 119)
			drop->out.tick_ms = 1000.0 * (double)(clock() - start) / CLOCKS_PER_SEC / 120.0;
	}
	drop->out.fastest_end = fastest(drop, true, &drop->out.pieces);
	drop->out.is_valid = fem_world_validate(drop->world) == FEM_OK;
	read_picture(drop);
}

FemMeshDropResult fem_mesh_drop_run(const FemMeshDrop *def) {
	FemWorldDef world = fem_contact_world_def();
	Drop drop = {.def = def};
	world.sleeping_enabled = true;
	drop.world = fem_world_create(&world);
	fem_add_plane(drop.world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, FLOOR_FRICTION);
	if (FEM_CHECK(add_body(&drop)) && FEM_CHECK(read_owners(&drop)))
		run(&drop);
	free(drop.owners);
	fem_world_destroy(drop.world);
	return drop.out;
}
