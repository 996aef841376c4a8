// What a body keeps that can break: the toughness of its tets, its pieces. A topology of its own it gets when it does.
#include "world/step/breaking.h"
#include "base/assert.h"
#include "base/carve.h"
#include "base/hash.h"
#include "dynamics/plate_flow.h"
#include "model/body_tet_arrays.h"
#include "world/api/bodies.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// ---- toughness

// A number in -1..1 that belongs to a tet of a body.
static float chance(const FemBody *body, int32_t user_tet) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	FEM_ASSERT_INDEX(user_tet, body->topology->user_tet_count);
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)user_tet), 1);
	return (float)((double)(hash >> 11) * 0x1p-52 - 1.0);
}

static void set_grain(FemBody *body, int32_t tet, const FemMaterialDef *def) {
	FemVec3 g = fem_body_grain(body, def);
	float length = sqrtf(g.x * g.x + g.y * g.y + g.z * g.z);
	bool has_grain = def->grain_ratio > 1.0f && length > 0.0f;
	body->breaking->has_grain |= has_grain;
	body->tet_grain[tet] = has_grain
		? (FemVec4){g.x / length, g.y / length, g.z / length, 1.0f - 1.0f / sqrtf(def->grain_ratio)}
		: (FemVec4){0};
}

// The energy of a crack is the one by which fragments have their size (docs/method.md, "Fracture within a step").
static FemTetImpact impact_of(const FemMaterialDef *def) {
	float strain = def->impact_toughness_ratio * def->toughness / def->young_modulus; // at break
	bool by_force = def->toughness_mode == FEM_TOUGHNESS_FORCE;
	return (FemTetImpact){
		.stiffness = def->impact_modulus / def->young_modulus,
		.weakness = 1.0f / def->impact_toughness_ratio,
		.surface = by_force ? 0.0f : def->fragment_size * strain * strain * def->impact_modulus / 6.0f,
	};
}

// What breaks or yields at less strain than this cannot be seen to bend before: chosen, 1 mm in 10 cm.
#define STIFF_STRAIN 0.01f

// Pa, over the strain along its fibres, or any where it has none.
static float stiffness_of(const FemBody *body, int32_t tet) {
	int32_t batch = tet / FEM_LANES, lane = tet % FEM_LANES;
	return 2.0f * body->batches[batch].mu[lane] + (body->fibres ? body->fibres[batch].modulus[lane] : 0.0f);
}

float fem_tet_limit(const FemBody *body, int32_t tet) {
	int32_t batch = tet / FEM_LANES, lane = tet % FEM_LANES;
	float strength = body->tet_toughness[tet];
	if (body->plastics && body->plastics[batch].limit[lane] > 0.0f)
		strength =
			fminf(strength, body->plastics[batch].yield[lane] * fem_tet_crease(body, tet) * stiffness_of(body, tet));
	return body->tet_by_force[tet] ? 0.0f : strength;
}

float fem_tet_strength(const FemBody *body, int32_t tet) {
	float limit = fem_tet_limit(body, tet);
	return limit < STIFF_STRAIN * stiffness_of(body, tet) ? limit : 0.0f;
}

// What is relieved of its prestress is plain.
static void set_toughness(const FemMaterialDef *def, FemBody *body, int32_t tet) {
	float scale = body->toughness_scale,
		  factor =
			  body->tet_scale[tet] * (1.0f + def->toughness_variation * chance(body, body->topology->user_of_tet[tet]));
	body->tet_prestress[tet] = def->prestress * body->tet_temper[tet];
	body->tet_toughness[tet] = INFINITY;
	if (def->breakable && !isinf(def->toughness) && !isinf(factor) && !isinf(scale))
		body->tet_toughness[tet] = (def->toughness + body->tet_prestress[tet]) * factor * scale;
}

void fem_body_follow_relief(const FemWorld *world, FemBody *body) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->topology->user_of_tet[tet] >= 0 && !(body->tet_temper[tet] > 0.0f))
			set_toughness(&world->materials[body->tet_material[tet]].def, body, tet);
	}
}

// ---- fragments

// Whether the bottom and the top of a cell are outside.
static bool is_wall(const FemTopology *t, const FemPlateCell *cell) {
	int outer = 0;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		int tops = 0, sum = 0;
		for (int v = 0; v < 4; v++) {
			tops += cell->place[k][v] % 2;
			sum += cell->place[k][v] % 2 ? v : -v;
		}
		bool is_flat = tops == 1 || tops == 3; // with a face in the bottom or the top
		int apex = tops == 1 ? (6 + sum) / 2 : (6 - sum) / 2;
		outer += is_flat && t->neighbours[4 * cell->tets[k] + apex] < 0;
	}
	return outer == (fem_cell_column_count(cell) == 3 ? 2 : 4);
}

// m: how thick the wall is that a tet is of, where that is one cell of a plate; else infinite. To break a wall of
// thickness t takes faces of that height only, so that its smallest pieces have the volume s^2 t in place of s^3.
static float wall_of_tet(const FemMesh *mesh, FemVec3 scale, int32_t tet) {
	const FemTopology *t = mesh->topology;
	int32_t index = fem_plate_cell_count(&t->cells) > 0 ? t->cell_of_tet[tet] : -1;
	if (index < 0 || !is_wall(t, &t->cells.cells[index]))
		return INFINITY;
	const FemPlateCell *cell = &t->cells.cells[index];
	int32_t columns = fem_cell_column_count(cell);
	double sum = 0.0;
	for (int32_t c = 0; c < columns; c++) {
		FemVec3d end[2];
		for (int k = 0; k < 2; k++) {
			int32_t at = cell->corners[2 * c + k];
			end[k] = fem_mesh_rest_point(mesh, scale, t->user_of_node[fem_tet_node(t, at / 4, at % 4)]);
		}
		FemVec3d d = fem_vec3d_sub(end[1], end[0]);
		sum += sqrt(fem_vec3d_dot(d, d));
	}
	return (float)(sum / columns);
}

#define FLAW_SPACING 1.5  // of the largest of the smallest pieces: distance of places that differ; chosen
#define FLAW_SHARE 0.05   // of a body, as large as its smallest pieces may be for want of flaws; chosen
#define FLAW_CONTRAST 1.6 // on the difference from the mean, which means of eight have little of; chosen

// 0..1, at a corner of the grid of flaws.
static double flaw_at(uint64_t seed, const int64_t at[3]) {
	uint64_t hash = fem_hash_word(fem_hash_word(FEM_HASH_START, seed), (uint64_t)at[0]);
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)at[1]), (uint64_t)at[2]);
	return (double)(fem_hash_word(hash, 3) >> 11) * 0x1p-53;
}

// 0..1, how few flaws there are around a place of the rest shape: means between the corners of a grid.
static double flaws_around(uint64_t seed, FemVec3d x, double spacing) {
	const double place[3] = {x.x / spacing, x.y / spacing, x.z / spacing};
	double sum = 0.0;
	for (int corner = 0; corner < 8; corner++) {
		int64_t at[3];
		double weight = 1.0;
		for (int k = 0; k < 3; k++) {
			double low = floor(place[k]), share = place[k] - low;
			int far = corner >> k & 1;
			at[k] = (int64_t)low + far;
			weight *= far ? share : 1.0 - share;
		}
		sum += weight * flaw_at(seed, at);
	}
	return fmin(fmax(0.5 + FLAW_CONTRAST * (sum - 0.5), 0.0), 1.0);
}

static void rest_corners(const FemMesh *mesh, FemVec3 scale, int32_t tet, FemVec3d out[4]) {
	const FemTopology *t = mesh->topology;
	for (int v = 0; v < 4; v++)
		out[v] = fem_mesh_rest_point(mesh, scale, t->user_of_node[fem_tet_node(t, tet, v)]);
}

// Twice the area of the face opposite a corner, as a vector.
static FemVec3d face_of(const FemVec3d x[4], int opposite) {
	FemVec3d a = x[(opposite + 1) & 3];
	return fem_vec3d_cross(fem_vec3d_sub(x[(opposite + 2) & 3], a), fem_vec3d_sub(x[(opposite + 3) & 3], a));
}

// m^3, of all that the body ever had, and m, how thick that is in the mean: volume over half of the surface.
static double whole_volume(const FemMesh *mesh, FemVec3 scale, double *out_thickness) {
	const FemTopology *t = mesh->topology;
	double six = 0.0, surface = 0.0;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		FemVec3d x[4];
		if (t->user_of_tet[tet] < 0)
			continue;
		rest_corners(mesh, scale, tet, x);
		six += fabs(fem_vec3d_dot(face_of(x, 3), fem_vec3d_sub(x[3], x[0])));
		for (int v = 0; v < 4; v++) {
			FemVec3d twice = face_of(x, v);
			surface += t->neighbours[4 * tet + v] < 0 ? 0.5 * sqrt(fem_vec3d_dot(twice, twice)) : 0.0;
		}
	}
	*out_thickness = surface > 0.0 ? six / 3.0 / surface : INFINITY;
	return six / 6.0;
}

// What the smallest pieces of a body depend on.
typedef struct Fragments {
	const FemMaterialDef *def;
	const FemMesh *mesh;
	const FemBody *body;
	double volume, thickness; // m^3, m: of the body
} Fragments;

// m, edge of the smallest piece there, in a wall of that thickness. Cracks begin at flaws, which are not everywhere
// alike: what breaks has shards of many sizes (Mott 1947).
static double fragment_edge(const Fragments *of, int32_t tet, double wall) {
	double size = (double)of->def->fragment_size, share = FLAW_SHARE * of->volume;
	double largest = size * (1.0 + (double)of->def->fragment_variation), spacing = FLAW_SPACING * largest;
	largest = fmin(largest, fmax(size, isinf(wall) ? cbrt(share) : sqrt(share / wall)));
	if (!(largest > size) || !(size > 0.0))
		return size;
	FemVec3d x[4];
	rest_corners(of->mesh, of->body->scale, tet, x);
	FemVec3d center = fem_vec3d_scale(fem_vec3d_add(fem_vec3d_add(x[0], x[1]), fem_vec3d_add(x[2], x[3])), 0.25);
	double flaws = flaws_around(of->body->breaking->seed, center, spacing);
	return size * pow(largest / size, flaws);
}

// m^3, of the smallest piece. Dice of prestressed material have the volume that is told.
static float fragment_volume(const Fragments *of, int32_t tet) {
	double size = (double)of->def->fragment_size;
	if (of->def->prestress > 0.0f)
		return (float)(size * size * size);
	double wall = (double)wall_of_tet(of->mesh, of->body->scale, tet);
	if (isinf(wall) && of->thickness < size) // a thin thing whose cells are none of a plate, or lie in several layers
		wall = of->thickness;
	size = fragment_edge(of, tet, wall);
	return (float)(size * size * fmin(size, wall));
}

// ---- masonry

// m, along the mesh's y.
static void find_height(const FemMesh *mesh, FemVec3 scale, double *out_low, double *out_high) {
	*out_low = INFINITY;
	*out_high = -INFINITY;
	for (int32_t i = 0; i < mesh->node_count; i++) {
		double y = (double)mesh->positions[i].y * (double)scale.y;
		*out_low = fmin(*out_low, y);
		*out_high = fmax(*out_high, y);
	}
}

// Mortar over the height of a course: joints of 1 cm between common bricks.
#define JOINT_SHARE 0.125

// Courses begin at `low`, the mortar of each is at its top (as in cutting/cut_brick.c). What reaches into a joint is as
// weak across it as the joint: a crack takes faces of tets, of which it then finds one that is nearest. Bricks overlap
// in the other directions, so that a crack across them goes through every other one.
static void set_joint(
	FemBody *body, const FemMesh *mesh, int32_t tet, const FemMaterialDef *def, double low, double high) {
	double bottom = INFINITY, top = -INFINITY, course = (double)def->course_height, joint = JOINT_SHARE * course;
	FemVec3d x[4];
	rest_corners(mesh, body->scale, tet, x);
	for (int v = 0; v < 4; v++) {
		bottom = fmin(bottom, x[v].y);
		top = fmax(top, x[v].y);
	}
	double next = fmax(ceil((bottom - low) / course - 1e-6), 1.0); // the first joint that does not end below it
	double begins = low + next * course - joint;
	if (begins > top + 1e-6 * course || begins + joint > high)
		return;
	body->breaking->has_mortar = true;
	body->tet_grain[tet] = (FemVec4){0.0f, 1.0f, 0.0f, 1.0f - 1.0f / sqrtf(def->mortar_strength)};
}

// ---- all of it

void fem_body_refresh_toughness(const FemWorld *world, FemBody *body) {
	FemBreaking *breaking = body->breaking;
	body->is_stiff = false;
	fem_body_release_pieces(body);
	if (!breaking)
		return;
	breaking->has_grain = breaking->has_mortar = breaking->can_break = breaking->has_impacts = breaking->has_prestress =
		false;
	breaking->can_crush = false;
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	double thickness, volume = whole_volume(mesh, body->scale, &thickness), from, to;
	find_height(mesh, body->scale, &from, &to);
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		int32_t user = body->topology->user_of_tet[tet];
		body->tet_toughness[tet] = INFINITY;
		if (user < 0)
			continue;
		FEM_ASSERT_INDEX(body->tet_material[tet], world->material_capacity);
		const FemMaterialDef *def = &world->materials[body->tet_material[tet]].def;
		body->tet_by_force[tet] = def->toughness_mode == FEM_TOUGHNESS_FORCE;
		set_toughness(def, body, tet);
		breaking->has_prestress |= body->tet_prestress[tet] > 0.0f;
		body->tet_crack_speed[tet] = def->crack_speed;
		body->tet_impact[tet] = impact_of(def);
		breaking->has_impacts |= def->impact_modulus > 0.0f;
		body->tet_crush[tet] = isinf(body->tet_toughness[tet]) ? 0.0f : def->crush_strength * body->toughness_scale;
		breaking->can_crush |= body->tet_crush[tet] > 0.0f;
		body->tet_fragment[tet] = fragment_volume(&(Fragments){def, mesh, body, volume, thickness}, tet);
		breaking->can_break |= !isinf(body->tet_toughness[tet]);
		set_grain(body, tet, def);
		if (def->mortar_strength < 1.0f && !(def->grain_ratio > 1.0f))
			set_joint(body, mesh, tet, def, from, to);
	}
	breaking->is_dicing = breaking->has_prestress && body->own_topology; // the next step looks whether it is
	body->is_stiff = breaking->can_break;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
		body->is_stiff &= body->topology->user_of_tet[tet] < 0 || fem_tet_strength(body, tet) > 0.0f;
}

FemResult fem_body_set_tet_toughness(FemBodyId id, int32_t user_tet, float factor) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	const FemTopology *t = body->topology;
	if (user_tet < 0 || user_tet >= t->user_tet_count || t->tet_of_user[user_tet] < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no tet %d: use 0..%d that were not removed.",
			user_tet, t->user_tet_count - 1);
	if (!(factor >= 0.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "factor must be 0 or a positive number; infinite never breaks.");
	if (!body->breaking)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	body->tet_scale[t->tet_of_user[user_tet]] = factor;
	fem_body_refresh_toughness(world, body);
	return FEM_OK;
}

FemResult fem_body_set_fracture_seed(FemBodyId id, uint32_t fracture_seed) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	if (!body->breaking)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	body->breaking->seed = fracture_seed;
	fem_body_refresh_toughness(world, body);
	return FEM_OK;
}

// ---- memory

// The record stands at the front of its block.
static bool allocate(FemBody *body) {
	FemCarver measure = {0};
	fem_carve(&measure, sizeof(FemBreaking));
	fem_body_tet_arrays_place(body, FEM_TETS_OF_BREAKING, &measure); // sets them to null
	char *block = fem_alloc(measure.used);
	if (!block)
		return false;
	FemCarver carver = {.base = block};
	body->breaking = fem_carve(&carver, sizeof(FemBreaking));
	*body->breaking = (FemBreaking){.block = block, .bytes = measure.used};
	fem_body_tet_arrays_place(body, FEM_TETS_OF_BREAKING, &carver);
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
		body->tet_scale[tet] = body->tet_temper[tet] = 1.0f;
	return true;
}

static bool make_breaking(FemWorld *world, FemBody *body) {
	if (!allocate(body))
		return false;
	body->breaking->next_piece = (FemPieceNumber)body->topology->component_count + 1;
	fem_pieces_start(body, world->time);
	return true;
}

bool fem_body_breaking_create(
	FemWorld *world, FemBody *body, const FemMesh *mesh, const int32_t *tet_materials, bool breaks) {
	for (int32_t t = 0; t < mesh->tet_count; t++)
		breaks |= world->materials[tet_materials[t]].def.breakable;
	return !breaks || make_breaking(world, body);
}

void fem_body_drop_loaded_homes(FemBody *body) {
	fem_splinter_homes_free(body->breaking->loaded_homes);
	body->breaking->loaded_homes = NULL;
}

void fem_body_breaking_free(FemBody *body) {
	FemBreaking *breaking = body->breaking;
	if (breaking) {
		fem_splinters_free(breaking->splinters);
		fem_body_drop_loaded_homes(body);
		fem_free(breaking->split_block, breaking->split_bytes);
		fem_free(breaking->block, breaking->bytes);
	}
	body->breaking = NULL;
	fem_body_tet_arrays_place(body, FEM_TETS_OF_BREAKING, &(FemCarver){0}); // null, with the block
}

// A material of a body in the world has become breakable.
bool fem_body_prepare_breaking(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	if (body->breaking)
		return true;
	if (!make_breaking(world, body))
		return false;
	world->breakable_count++;
	fem_body_refresh_toughness(world, body);
	return true;
}
