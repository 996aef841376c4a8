// What a body's materials mean for its tets and nodes.
#include "base/assert.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "dynamics/plate_flow.h"
#include "model/body_tet_arrays.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/pieces.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

static const FemMaterialDef *material_of(const FemWorld *world, const FemBody *body, int32_t tet) {
	int32_t material = body->tet_material[tet];
	return material >= 0 ? &world->materials[material].def : NULL;
}

// ---- moduli

// sum of |g_i|^2 over the 4 nodes of a tet at rest, 1/m^2
static double gradient_square(const FemBody *body, int32_t tet) {
	double sum = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double first = 0.0;
		for (int v = 0; v < 3; v++) {
			double g = (double)(body->plastics ? body->plastics[tet / FEM_LANES].gradient
											   : body->batches[tet / FEM_LANES].gradient)[v][axis][tet % FEM_LANES];
			first -= g;
			sum += g * g;
		}
		sum += first * first;
	}
	return sum;
}

// |K| / m of a tet with this modulus lambda + 2 mu, 1/s^2, is at most (lambda + 2 mu) V sum |g_i|^2 over a quarter of
// its mass; of an assembled body no more than that of its stiffest tet.
static double stiffness_of(const FemBody *body, int32_t tet, const FemMaterialDef *def, double modulus) {
	return 4.0 * modulus * gradient_square(body, tet) / (double)def->density;
}

// Pa, Young's modulus of the softest material in it; and of the stiffest.
static double softest_of(const FemWorld *world, const FemBody *body, double *out_stiffest) {
	double softest = INFINITY, stiffest = 0.0;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		const FemMaterialDef *def = material_of(world, body, tet);
		softest = def ? fmin(softest, (double)def->young_modulus) : softest;
		stiffest = def ? fmax(stiffest, (double)def->young_modulus) : stiffest;
	}
	*out_stiffest = stiffest;
	return softest;
}

// The share of its modulus that floats can hold in the longest step there is, and beside the softest material of its
// body. Not by the step of now: what stiffens under load when steps become shorter has energy from nowhere.
static double share_held(const FemBody *body, int32_t tet, const FemMaterialDef *def, double modulus, double softest) {
	double dt = (double)FEM_STEP_MAX, ahead = dt + (double)def->stiffness_damping;
	double kappa = dt * ahead * stiffness_of(body, tet, def, modulus), young = (double)def->young_modulus;
	double held = kappa > FEM_STIFFNESS_HELD ? FEM_STIFFNESS_HELD / kappa : 1.0;
	return young > FEM_CONTRAST_HELD * softest ? fmin(held, FEM_CONTRAST_HELD * softest / young) : held;
}

// ---- fibres

bool fem_material_has_fibres(const FemMaterialDef *def) {
	return def->grain_stiffness_ratio > 1.0f;
}

FemVec3 fem_body_grain(const FemBody *body, const FemMaterialDef *def) {
	FemVec3 g = def->grain_direction;
	return g.x * g.x + g.y * g.y + g.z * g.z > 0.0f ? g : body->longest_axis;
}

// Young's modulus of what is between the fibres, such that E across them is E / ratio (docs/method.md, "Fibres").
static double modulus_between(const FemMaterialDef *def) {
	double e = (double)def->young_modulus, nu = (double)def->poisson_ratio;
	double ratio = fem_material_has_fibres(def) ? (double)def->grain_stiffness_ratio : 1.0;
	return e / ratio * (1.0 - nu * nu) / (1.0 - nu * nu / ratio);
}

static void fibre_direction(const FemBody *body, const FemMaterialDef *def, double out[3]) {
	FemVec3 g = fem_body_grain(body, def);
	double x = (double)g.x, y = (double)g.y, z = (double)g.z, length = sqrt(x * x + y * y + z * z);
	out[0] = length > 0.0 ? x / length : 0.0;
	out[1] = length > 0.0 ? y / length : 0.0;
	out[2] = length > 0.0 ? z / length : 0.0;
}

static void set_fibre(FemBody *body, int32_t tet, const FemMaterialDef *def, double modulus) {
	FemBatchFibre *fibre = &body->fibres[tet / FEM_LANES];
	double direction[3];
	fibre_direction(body, def, direction);
	for (int i = 0; i < 3; i++)
		fibre->direction[i][tet % FEM_LANES] = (float)direction[i];
	fibre->modulus[tet % FEM_LANES] = (float)modulus;
}

// Lame's moduli from Young's modulus and Poisson's ratio; a sliver's are scaled (topology/tet_mesh.h).
static void set_lane(const FemWorld *world, FemBody *body, int32_t tet, double softest) {
	const FemMaterialDef *def = material_of(world, body, tet);
	FemBatch *batch = &body->batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	if (!def)
		return; // padding has no moduli
	double e = modulus_between(def), nu = (double)def->poisson_ratio, soft = (double)body->tet_softening[tet];
	double fibres = soft * ((double)def->young_modulus - e);
	double lambda = soft * e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu = soft * e / (2.0 * (1.0 + nu));
	double held = share_held(body, tet, def, lambda + 2.0 * mu + fibres, softest);
	batch->lambda[lane] = (float)(held * lambda);
	batch->mu[lane] = (float)(held * mu);
	batch->damping[lane] = def->stiffness_damping;
	if (body->fibres)
		set_fibre(body, tet, def, held * fibres);
	if (!body->plastics)
		return;
	FemBatchPlastic *plastic = &body->plastics[tet / FEM_LANES];
	plastic->yield[lane] = (float)((double)def->yield_strain / held); // at the same stress
	plastic->creep[lane] = def->creep_rate;
	plastic->limit[lane] = def->max_plastic_strain;
	plastic->deviatoric[lane] = def->plasticity == FEM_PLASTICITY_DEVIATORIC ? 1.0f : 0.0f;
}

// ---- plate cells

// Of equal tets; null for others.
static const FemMaterialDef *material_of_cell(const FemWorld *world, const FemBody *body, const FemPlateCell *cell) {
	int32_t material = body->tet_material[cell->tets[0]];
	for (int32_t k = 1; k < fem_cell_tet_count(cell); k++) {
		if (body->tet_material[cell->tets[k]] != material)
			return NULL;
	}
	return material >= 0 ? &world->materials[material].def : NULL;
}

static FemPlateMaterial plate_material(const FemBody *body, const FemMaterialDef *def, double spring_share) {
	FemPlateMaterial material = {
		.young_modulus = modulus_between(def),
		// Without fibres rounding may leave less than nothing, of which there is no root.
		.fibre_modulus = fmax((double)def->young_modulus - modulus_between(def), 0.0),
		.poisson_ratio = (double)def->poisson_ratio,
		.spring_share = spring_share,
		.damping = (double)def->stiffness_damping,
		.yield_strain = (double)def->yield_strain,
		.creep_rate = (double)def->creep_rate,
		.plastic_limit = (double)def->max_plastic_strain,
		.is_deviatoric = def->plasticity == FEM_PLASTICITY_DEVIATORIC,
		.crease_strength = (double)def->crease_strength,
		.crease_angle = (double)def->crease_angle,
	};
	fibre_direction(body, def, material.fibre);
	return material;
}

static void set_cell(const FemWorld *world, FemBody *body, int32_t index, double softest) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	const FemPlateCell *cell = &mesh->topology->cells.cells[index];
	const FemMaterialDef *def = material_of_cell(world, body, cell);
	double corners[FEM_CELL_CORNERS][3] = {{0.0}}, share = 1.0;
	for (int32_t k = 0; k < 2 * fem_cell_column_count(cell); k++) {
		int32_t user = mesh->topology->user_of_tet[cell->corners[k] / 4];
		FemVec3 p = mesh->positions[mesh->tets[4 * (size_t)user + (size_t)(cell->corners[k] % 4)]];
		corners[k][0] = (double)p.x * (double)body->scale.x;
		corners[k][1] = (double)p.y * (double)body->scale.y;
		corners[k][2] = (double)p.z * (double)body->scale.z;
	}
	FemPlateMaterial material = {0};
	for (int32_t k = 0; def && k < fem_cell_tet_count(cell); k++)
		share = fmin(share, share_held(body, cell->tets[k], def, (double)def->young_modulus, softest));
	if (def)
		material = plate_material(body, def, share);
	if (body->plastics) {
		body->cells->rest[index].material = material;
		for (int i = 0; i < FEM_CELL_CORNERS * 3; i++)
			body->cells->rest[index].corners[i / 3][i % 3] = (float)corners[i / 3][i % 3];
		fem_plate_rest_shape(body, index, corners);
	}
	fem_plate_element_set(body->cells, mesh->topology, index, corners, def ? &material : NULL);
}

static void set_cells(const FemWorld *world, FemBody *body, double softest) {
	if (!body->cells)
		return;
	body->cells->creases = false;
	for (int32_t i = 0; i < fem_plate_cell_count(&body->topology->cells); i++) {
		set_cell(world, body, i, softest);
		body->cells->creases |= body->plastics && body->cells->rest[i].material.crease_strength < 1.0 &&
			body->cells->rest[i].material.plastic_limit > 0.0;
	}
}

static void set_elements(const FemWorld *world, FemBody *body) {
	double stiffest, softest = softest_of(world, body, &stiffest);
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
		set_lane(world, body, tet, softest);
	set_cells(world, body, softest);
}

// ---- plastic state

static bool has_initial_strain(const FemMaterialDef *def) {
	return def->initial_strain.x != 0.0f || def->initial_strain.y != 0.0f || def->initial_strain.z != 0.0f;
}

static bool has_plastic_strain(const FemMaterialDef *def) {
	return def->max_plastic_strain > 0.0f || has_initial_strain(def);
}

static bool any_material(const FemWorld *world, const FemBody *body, bool (*is_such)(const FemMaterialDef *def)) {
	int32_t lane_count = body->topology->batch_count * FEM_LANES;
	for (int32_t tet = 0; tet < lane_count; tet++) {
		const FemMaterialDef *def = material_of(world, body, tet);
		if (def && is_such(def))
			return true;
	}
	return false;
}

bool fem_body_allocate_plastics(const FemWorld *world, FemBody *body) {
	if (body->cells && !body->cells->rest && !fem_plate_elements_yield(body->cells, body->topology))
		return false;
	if (!fem_body_tet_array_allocate(body, FEM_TET_PLASTICS))
		return false;
	// No flow yet: the batches still hold the undeformed rest shape.
	for (int32_t b = 0; b < body->topology->batch_count; b++)
		memcpy(body->plastics[b].gradient, body->batches[b].gradient, sizeof body->plastics[b].gradient);
	double stiffest;
	set_cells(world, body, softest_of(world, body, &stiffest));
	return true;
}

bool fem_body_prepare_materials(const FemWorld *world, FemBody *body) {
	if (!body->fibres && any_material(world, body, fem_material_has_fibres) &&
		!fem_body_tet_array_allocate(body, FEM_TET_FIBRES))
		return false;
	return body->plastics || !any_material(world, body, has_plastic_strain) || fem_body_allocate_plastics(world, body);
}

void fem_body_take_initial_strain(const FemWorld *world, FemBody *body) {
	if (!any_material(world, body, has_initial_strain))
		return;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		const FemMaterialDef *def = material_of(world, body, tet);
		if (!def || !has_initial_strain(def))
			continue;
		FemVec3 e = def->initial_strain;
		bool is_sound = fem_tet_set_plastic_strain(body, tet, (float[6]){e.x, e.y, e.z, 0.0f, 0.0f, 0.0f});
		FEM_ASSERT(is_sound); // of at least half its length
		(void)is_sound;
	}
	fem_plate_cells_follow(body, NULL);
}

bool fem_tet_is_softened(const FemWorld *world, const FemBody *body, int32_t tet) {
	const FemMaterialDef *def = material_of(world, body, tet);
	double modulus = def ? modulus_between(def) * (double)body->tet_softening[tet] : 0.0;
	double held = (double)body->batches[tet / FEM_LANES].mu[tet % FEM_LANES];
	return def && held < 0.999 * modulus / (2.0 * (1.0 + (double)def->poisson_ratio));
}

// Lumped: a quarter of each tet's mass goes to each of its nodes; alpha_M with it.
void fem_body_set_node_mass(const FemWorld *world, FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	double mass = 0.0, damping = 0.0;
	for (int32_t s = t->node_tet_start[node]; s < t->node_tet_start[node + 1]; s++) {
		int32_t tet = t->node_tets[s] / 4;
		const FemMaterialDef *def = material_of(world, body, tet);
		double share = 0.25 * (double)def->density * (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		mass += share;
		damping += share * (double)def->mass_damping;
	}
	body->mass[node] = (float)mass;
	body->mass_damping[node] = (float)damping;
}

static void keep_stiffest(FemBody *body, double stiffness, const FemMaterialDef *def) {
	body->stiffness = fmaxf(body->stiffness, (float)stiffness);
	body->damped_stiffness = fmaxf(body->damped_stiffness, (float)(stiffness * (double)def->stiffness_damping));
}

static void note_stiffness(FemBody *body, int32_t tet, const FemMaterialDef *def) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	double modulus = (double)batch->lambda[tet % FEM_LANES] + 2.0 * (double)batch->mu[tet % FEM_LANES];
	modulus += body->fibres ? (double)body->fibres[tet / FEM_LANES].modulus[tet % FEM_LANES] : 0.0;
	keep_stiffest(body, stiffness_of(body, tet, def, modulus), def);
}

// Tall cells are stiffer than their tets: nothing in them shears (docs/method.md, "Plates").
static void note_cell_stiffness(const FemWorld *world, FemBody *body, int32_t index) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	const FemMaterialDef *def = material_of_cell(world, body, cell);
	double masses[FEM_CELL_CORNERS] = {0.0};
	if (!def || !fem_cell_acts(body, index))
		return;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		int32_t tet = cell->tets[k];
		double mass = (double)def->density * (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		for (int v = 0; v < 4; v++)
			masses[cell->place[k][v]] += 0.25 * mass;
	}
	keep_stiffest(body, fem_plate_element_stiffness(body, index, masses), def);
}

void fem_body_set_totals(const FemWorld *world, FemBody *body) {
	body->max_iterations = 1;
	body->stiffness = body->damped_stiffness = body->restitution = 0.0f;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		const FemMaterialDef *def = material_of(world, body, tet);
		if (def && def->max_iterations > body->max_iterations)
			body->max_iterations = def->max_iterations;
		if (!def)
			continue;
		body->restitution = fmaxf(body->restitution, def->restitution);
		note_stiffness(body, tet, def);
	}
	for (int32_t i = 0; body->cells && i < fem_plate_cell_count(&body->topology->cells); i++)
		note_cell_stiffness(world, body, i);
	fem_pieces_weigh(body);
}

// Modes are of a body's masses, moduli and damping: other friction or toughness leaves them.
static void check_modes(FemBody *body, float mass, float stiffness, float damped) {
	if (body->modal)
		body->modal->is_stale |=
			body->total_mass != mass || body->stiffness != stiffness || body->damped_stiffness != damped;
}

bool fem_body_refresh_materials(FemWorld *world, FemBody *body) {
	float mass = body->total_mass, stiffness = body->stiffness, damped = body->damped_stiffness;
	if (!fem_body_prepare_materials(world, body))
		return false;
	set_elements(world, body);
	for (int32_t i = 0; i < body->topology->node_count; i++)
		fem_body_set_node_mass(world, body, i);
	fem_body_set_totals(world, body);
	fem_body_refresh_toughness(world, body);
	check_modes(body, mass, stiffness, damped);
	return true;
}

// The caller has made room for plastic state if the new material yields.
void fem_body_refresh_tet(FemWorld *world, FemBody *body, int32_t tet, const FemMaterialDef *before) {
	double stiffest, softest = softest_of(world, body, &stiffest);
	if (body->modal)
		body->modal->is_stale = true;
	set_lane(world, body, tet, softest);
	if (body->cells && body->topology->cell_of_tet[tet] >= 0)
		set_cell(world, body, body->topology->cell_of_tet[tet], softest);
	if (stiffest > FEM_CONTRAST_HELD * fmin(softest, (double)before->young_modulus))
		set_elements(world, body); // what others are held to may be another now
	for (int32_t v = 0; v < 4; v++)
		fem_body_set_node_mass(world, body, fem_tet_node(body->topology, tet, v));
	fem_body_set_totals(world, body);
	fem_body_refresh_toughness(world, body);
}

// ---- healing

static bool lane_is_finite(const FemBatchPlastic *plastic, const FemBatch *batch, int32_t lane) {
	float zero = 0.0f; // x - x is 0 for numbers only
	for (int i = 0; i < 6; i++)
		zero += plastic->strain[i][lane] - plastic->strain[i][lane];
	for (int v = 0; v < 3; v++) {
		for (int axis = 0; axis < 3; axis++)
			zero += batch->gradient[v][axis][lane] - batch->gradient[v][axis][lane];
	}
	return zero == 0.0f;
}

static void undo_flow(FemBatchPlastic *plastic, FemBatch *batch, int32_t lane) {
	for (int i = 0; i < 6; i++)
		plastic->strain[i][lane] = 0.0f;
	plastic->fold[lane] = 0.0f;
	for (int v = 0; v < 3; v++) {
		for (int axis = 0; axis < 3; axis++)
			batch->gradient[v][axis][lane] = plastic->gradient[v][axis][lane];
	}
}

// A step that went bad leaves its marks in the tets too: a rotation that is not a number would stay so for ever, since
// the next step starts from it. Such tets start afresh from the pose last set; flow that is lost is undone.
void fem_body_heal_tets(FemBody *body) {
	FemQuat pose = body->pose_rotation;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		FemVec4 q = body->rotation[tet];
		float length_sq = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
		if (!(length_sq > 0.99f && length_sq < 1.01f))
			body->rotation[tet] = (FemVec4){pose.x, pose.y, pose.z, pose.w};
		int32_t batch = tet / FEM_LANES, lane = tet % FEM_LANES;
		if (body->plastics && !lane_is_finite(&body->plastics[batch], &body->batches[batch], lane))
			undo_flow(&body->plastics[batch], &body->batches[batch], lane);
	}
	fem_plate_cells_follow(body, NULL);
}
