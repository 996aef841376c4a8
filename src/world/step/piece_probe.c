#include "world/step/piece_probe.h"

#include "base/assert.h"
#include "base/range.h"
#include "base/vec.h"
#include "dynamics/plate_elements.h"
#include "dynamics/preconditioner.h"
#include "dynamics/rigid_motion.h"
#include "dynamics/rows.h"
#include "fem_destruction.h"
#include "fracture/separation.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "model/plate_elements.h"
#include "world/step/passes.h"

#include <math.h>
#include <string.h>

#define RESPONSE_TOLERANCE 0.03 // of the load: what is farther than the blow reaches does not matter; chosen
#define RESPONSE_ITERATIONS 150 // bound on work; chosen
// Plate cells of a piece in a batch up to which they are looked at one by one. The other lanes are of other pieces,
// whose places are not known, and take the slow way of what is crushed. Measured on glass2400.
#define FEW_CELLS 3

bool fem_probe_is_possible(const FemBody *body, int32_t component) {
	const FemPreconditioner *factor = body->pieces[component].preconditioner;
	return factor && factor->kind == FEM_PRECONDITION_FACTOR;
}

// ---- load

// Angular velocity about the centre c.
static void find_spin(const FemBody *body, FemRange nodes, double c[3], double out[3]) {
	FemMotionSums sums = fem_sums_of_nodes(body, nodes);
	double l[3];
	fem_sums_center(&sums, c);
	fem_about_center(sums.angular, sums.momentum, c, l);
	fem_sums_solve_inertia(&sums, c, l, out);
}

// N s in a step: of the strain that is in the shape.
static void add_elastic_impulse(const FemBody *body, int32_t node, float dt, double out[3]) {
	const FemTopology *t = body->topology;
	for (int32_t k = t->node_tet_start[node]; k < t->node_tet_start[node + 1]; k++) {
		int32_t packed = t->node_tets[k];
		FemVec4 force = body->step->tet_forces[packed >> 2].force[packed & 3];
		out[0] += (double)(dt * force.x);
		out[1] += (double)(dt * force.y);
		out[2] += (double)(dt * force.z);
	}
}

// Pa, of forces that are `sum` N in all.
static float bending_stress(const FemPiece *piece, double sum) {
	return (float)(6.0 * sum) * piece->length * piece->length / (piece->volume * piece->thickness);
}

float fem_probe_external(FemBody *body, int32_t component, float dt) {
	FemRange nodes = body->topology->component_nodes[component];
	double c[3], w[3], sum = 0.0;
	find_spin(body, nodes, c, w);
	double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x, *residual = &body->step->residual[i].x;
		double r[3] = {(double)x[0] - c[0], (double)x[1] - c[1], (double)x[2] - c[2]}, j[3];
		double along = w[0] * r[0] + w[1] * r[1] + w[2] * r[2], m = (double)(dt * body->mass[i]);
		for (int k = 0; k < 3; k++)
			j[k] = (double)residual[k] + m * (square * r[k] - along * w[k]);
		sum += sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
		body->step->product[i] = (FemVec4){(float)j[0], (float)j[1], (float)j[2], 0.0f};
	}
	return bending_stress(&body->pieces[component], sum / (double)dt);
}

float fem_probe_change(const FemBody *body, int32_t component, float dt) {
	const FemPiece *piece = &body->pieces[component];
	FemRange nodes = body->topology->component_nodes[component];
	const double *r = piece->shape_rotation;
	double sum = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *j = &body->step->product[i].x, *kept = &body->last_dv[i].x;
		double square = 0.0;
		for (int k = 0; k < 3; k++) {
			double change = (double)j[k] / (double)dt -
				(r[3 * k] * (double)kept[0] + r[3 * k + 1] * (double)kept[1] + r[3 * k + 2] * (double)kept[2]);
			square += change * change;
		}
		sum += sqrt(square);
	}
	return bending_stress(piece, sum);
}

// f, N, in the axes of the world.
static void keep_load(FemBody *body, const double rotation[9], int32_t node, const double f[3]) {
	float *kept = &body->last_dv[node].x;
	for (int k = 0; k < 3; k++)
		kept[k] = (float)(rotation[k] * f[0] + rotation[k + 3] * f[1] + rotation[k + 6] * f[2]);
}

void fem_probe_keep(FemBody *body, int32_t component, float dt) {
	FemRange nodes = body->topology->component_nodes[component];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *j = &body->step->product[i].x;
		double f[3] = {(double)j[0] / (double)dt, (double)j[1] / (double)dt, (double)j[2] / (double)dt};
		keep_load(body, body->pieces[component].shape_rotation, i, f);
	}
}

void fem_probe_keep_strain(FemBody *body, int32_t component) {
	FemRange nodes = body->topology->component_nodes[component];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double f[3] = {0.0, 0.0, 0.0};
		add_elastic_impulse(body, i, -1.0f, f);
		keep_load(body, body->pieces[component].shape_rotation, i, f);
	}
}

float fem_probe_load(FemBody *body, int32_t component, float dt) {
	FemRange nodes = body->topology->component_nodes[component];
	double sum = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 *load = &body->step->product[i];
		double j[3] = {(double)load->x, (double)load->y, (double)load->z};
		add_elastic_impulse(body, i, dt, j);
		sum += sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
		*load = (FemVec4){(float)j[0], (float)j[1], (float)j[2], 0.0f};
	}
	return bending_stress(&body->pieces[component], sum / (double)dt);
}

float fem_probe_strain(const FemBody *body, int32_t component) {
	FemRange nodes = body->topology->component_nodes[component];
	double sum = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double f[3] = {0.0, 0.0, 0.0};
		add_elastic_impulse(body, i, 1.0f, f);
		sum += sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
	}
	return bending_stress(&body->pieces[component], sum);
}

// ---- deformation

// Rows and diagonal of the piece alone, without the ground and contacts, whose forces are in the load.
// `mass_ratio`: of the mass in it to that of the piece.
static void make_rows(FemBody *body, FemRange nodes, float dt, float mass_ratio) {
	const FemTopology *t = body->topology;
	FemBodyStep *step = body->step;
	const FemRowKernels *kernels = fem_row_kernels(fem_simd_level());
	kernels->assemble_edges(body, t->node_edge_start[nodes.begin], t->node_edge_start[nodes.end]);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float m = mass_ratio * (body->mass[i] + dt * body->mass_damping[i]);
		step->diagonal[i] = (FemVec4){m, m, m, 0.0f};
	}
	if (step->contact_blocks)
		memset(
			step->contact_blocks + 6 * (int64_t)nodes.begin, 0, 6 * sizeof(float) * (size_t)(nodes.end - nodes.begin));
}

void fem_probe_deform(FemBody *body, int32_t component, float dt) {
	FemPiece *piece = &body->pieces[component];
	FemPreconditioner *factor = piece->preconditioner;
	FemRange nodes = body->topology->component_nodes[component];
	FEM_ASSERT(fem_probe_is_possible(body, component));
	factor->valid = factor->valid && piece->probe_dt == dt;
	if (!factor->valid)
		make_rows(body, nodes, dt, 1.0f);
	piece->probe_dt = dt;
	fem_preconditioner_prepare(factor, body, NULL, body->step->diagonal_blocks, (FemMatrixChange){.has_moved = true});
	fem_preconditioner_solve(factor, body, body->step->product, body->step->z);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 *z = &body->step->z[i];
		*z = (FemVec4){dt * z->x, dt * z->y, dt * z->z, 0.0f};
		FemVec4 x = body->step->start->position[i];
		body->step->direction[i] = (FemVec4){x.x + z->x, x.y + z->y, x.z + z->z, 0.0f};
	}
}

// ---- blows

// Conjugate gradients with the diagonal blocks, for pieces that have no factor.
static void iterate(FemBody *body, FemRange nodes) {
	const FemRowKernels *kernels = fem_row_kernels(fem_simd_level());
	FemBodyStep *step = body->step;
	size_t bytes = sizeof(FemVec4) * (size_t)(nodes.end - nodes.begin);
	memset(step->dv + nodes.begin, 0, bytes);
	memcpy(step->residual + nodes.begin, step->rhs + nodes.begin, bytes);
	kernels->invert_diagonal(body, nodes.begin, nodes.end, NULL);
	double rz = kernels->precondition(body, nodes.begin, nodes.end, step->residual, step->z),
		   enough = RESPONSE_TOLERANCE * RESPONSE_TOLERANCE * rz;
	memcpy(step->direction + nodes.begin, step->z + nodes.begin, bytes);
	for (int k = 0; k < RESPONSE_ITERATIONS && rz > enough; k++) {
		double curvature = kernels->multiply(body, nodes.begin, nodes.end, step->direction, step->product);
		if (!(curvature > 0.0))
			break;
		double next = kernels->advance(body, nodes.begin, nodes.end, (float)(rz / curvature), step->direction,
			step->product, step->dv, step->residual, step->z);
		kernels->redirect(nodes.begin, nodes.end, (float)(next / rz), step->z, step->direction);
		rz = next;
	}
}

void fem_probe_respond(FemBody *body, int32_t component, float dt, float mass_ratio) {
	FemPiece *piece = &body->pieces[component];
	FemPreconditioner *factor = piece->preconditioner;
	FemRange nodes = body->topology->component_nodes[component];
	make_rows(body, nodes, dt, mass_ratio);
	if (!fem_probe_is_possible(body, component)) {
		iterate(body, nodes);
		return;
	}
	factor->valid = false;
	fem_preconditioner_prepare(factor, body, NULL, body->step->diagonal_blocks, (FemMatrixChange){.has_moved = true});
	fem_preconditioner_solve(factor, body, body->step->rhs, body->step->dv);
	factor->valid = false; // it is not of the step's matrix
	piece->probe_dt = 0.0f;
}

// ---- stress

// + k (a.f a) a a^T, a in the rotated axes of the tet, which are those of the world.
static void add_fibres(const FemBody *body, int32_t tet, float f[3][3], FemTetStress *stress) {
	FemVec4 a = body->step->tet_fibres[tet];
	const float *d = &a.x;
	float along = 0.0f;
	for (int k = 0; k < 9; k++)
		along += d[k / 3] * f[k / 3][k % 3] * d[k % 3];
	along *= body->fibres[tet / FEM_LANES].modulus[tet % FEM_LANES];
	stress->normal.x += along * a.x * a.x, stress->normal.y += along * a.y * a.y, stress->normal.z += along * a.z * a.z;
	stress->shear.x += along * a.x * a.y, stress->shear.y += along * a.y * a.z, stress->shear.z += along * a.z * a.x;
}

// With c_i = R g_i the rotated gradients of a tet the displacement gradient in its rotated axes is
// sum (x_i - x_0) c_i^T - 1, whose symmetric part is the strain.
static FemTetStress stress_of_tet(const FemBody *body, int32_t tet, const FemVec4 *x, const FemVec4 *u) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	const FemVec4 *gradient = body->step->tet_blocks[tet].gradient;
	int32_t first = fem_tet_node(body->topology, tet, 0), lane = tet % FEM_LANES;
	float f[3][3] = {{-1.0f, 0.0f, 0.0f}, {0.0f, -1.0f, 0.0f}, {0.0f, 0.0f, -1.0f}};
	for (int v = 1; v < 4; v++) {
		int32_t node = fem_tet_node(body->topology, tet, v);
		const float *a = &x[node].x, *b = &x[first].x, *c = &gradient[v].x;
		for (int k = 0; k < 9; k++)
			f[k / 3][k % 3] += (a[k / 3] - b[k / 3]) * c[k % 3];
		const float *d = u ? &u[node].x : NULL, *e = u ? &u[first].x : NULL;
		for (int k = 0; u && k < 9; k++)
			f[k / 3][k % 3] += (d[k / 3] - e[k / 3]) * c[k % 3];
	}
	float lambda = batch->lambda[lane], mu = batch->mu[lane], trace = lambda * (f[0][0] + f[1][1] + f[2][2]);
	FemTetStress stress = {
		.normal = {trace + 2.0f * mu * f[0][0], trace + 2.0f * mu * f[1][1], trace + 2.0f * mu * f[2][2], 0.0f},
		.shear = {mu * (f[0][1] + f[1][0]), mu * (f[1][2] + f[2][1]), mu * (f[2][0] + f[0][2]), 0.0f},
	};
	if (body->fibres)
		add_fibres(body, tet, f, &stress);
	return stress;
}

static float tension_of_tet(const FemBody *body, int32_t tet, const FemVec4 *x, const FemVec4 *u) {
	FemTetStress stress = stress_of_tet(body, tet, x, u);
	return fem_felt_tension(body, tet, &stress);
}

// The piece that an acting cell is of, or -1.
static int32_t piece_of_cell(const FemBody *body, int32_t cell) {
	const FemTopology *t = body->topology;
	int32_t at = t->cells.cells[cell].corners[0];
	return fem_cell_acts(body, cell) ? fem_node_component(t, fem_tet_node(t, at / 4, at % 4)) : -1;
}

static float largest_tension(const FemBody *body, int32_t cell, const FemTetStress *stress) {
	const FemPlateCell *plate = &body->topology->cells.cells[cell];
	float tension = -INFINITY;
	for (int32_t k = 0; k < 2 * fem_cell_column_count(plate); k++)
		tension = fmaxf(tension, fem_felt_tension(body, plate->tets[0], &stress[k]));
	return tension;
}

// The nodes of a batch of cells for a kernel. Those of other pieces may be probed by another thread meanwhile: their
// lanes repeat one of the piece.
static void take_nodes(const FemBody *body, int32_t component, int set, int32_t cell, int32_t *out_nodes) {
	const FemPlateCells *cells = &body->topology->cells;
	int32_t first = set ? cells->count[0] : 0, corners = 2 * fem_cell_columns(set);
	int32_t own = (cell - first) % FEM_LANES, begin = cell - own, last = first + cells->count[set] - 1;
	const int32_t *nodes = fem_cell_batch_nodes(body->topology, set, (cell - first) / FEM_LANES);
	for (int32_t lane = 0; lane < FEM_LANES; lane++) {
		int32_t at = begin + lane < last ? begin + lane : last; // padding repeats the last one
		int32_t from = piece_of_cell(body, at) == component ? lane : own;
		for (int32_t corner = 0; corner < corners; corner++)
			out_nodes[corner * FEM_LANES + lane] = nodes[corner * FEM_LANES + from];
	}
}

static int32_t tensions_of_cells(const FemBody *body, int32_t component, int32_t cell, FemProbeTension out[FEM_LANES]) {
	const FemPlateCells *cells = &body->topology->cells;
	int set = cell < cells->count[0] ? 0 : 1;
	int32_t first = set ? cells->count[0] : 0, batch = (cell - first) / FEM_LANES, begin = batch * FEM_LANES, found = 0;
	int32_t count = cells->count[set] - begin < FEM_LANES ? cells->count[set] - begin : FEM_LANES,
			corners = 2 * (set + 3);
	int32_t own = 0;
	for (int32_t i = begin; i < begin + count; i++)
		own += piece_of_cell(body, first + i) == component;
	if (own <= FEW_CELLS) {
		FemTetStress kept[FEM_CELL_CORNERS], now[FEM_CELL_CORNERS];
		fem_plate_element_stress(body, cell, body->step->start->position, kept);
		fem_plate_element_stress(body, cell, body->step->direction, now);
		out[0] = (FemProbeTension){
			cells->cells[cell].tets[0], largest_tension(body, cell, now), largest_tension(body, cell, kept)};
		return 1;
	}
	for (int32_t i = begin; i < cell - first; i++) {
		if (piece_of_cell(body, first + i) == component)
			return 0; // was looked at with that one
	}
	FemTetStress kept[FEM_LANES * FEM_CELL_CORNERS], now[FEM_LANES * FEM_CELL_CORNERS];
	int32_t nodes[FEM_CELL_CORNERS * FEM_LANES];
	take_nodes(body, component, set, cell, nodes);
	FemCellArguments arguments = fem_cell_arguments(body, set, (FemRange){0, count});
	arguments.nodes = nodes;
	arguments.leaders += begin;
	arguments.values += (size_t)batch * (size_t)FEM_CELL_VALUES(set + 3) * FEM_LANES;
	arguments.position = body->step->start->position;
	arguments.out_stress = kept;
	fem_cell_kernel(fem_simd_level())(&arguments);
	arguments.position = body->step->direction;
	arguments.out_stress = now;
	fem_cell_kernel(fem_simd_level())(&arguments);
	for (int32_t i = 0; i < count; i++) {
		if (piece_of_cell(body, first + begin + i) == component)
			out[found++] = (FemProbeTension){cells->cells[first + begin + i].tets[0],
				largest_tension(body, first + begin + i, now + i * corners),
				largest_tension(body, first + begin + i, kept + i * corners)};
	}
	return found;
}

int32_t fem_probe_tensions(const FemBody *body, int32_t component, int32_t tet, FemProbeTension out[FEM_LANES]) {
	int32_t cell = fem_acting_cell(body, tet);
	if (cell >= 0)
		return body->topology->cells.cells[cell].tets[0] == tet ? tensions_of_cells(body, component, cell, out) : 0;
	const FemVec4 *start = body->step->start->position;
	out[0] =
		(FemProbeTension){tet, tension_of_tet(body, tet, start, body->step->z), tension_of_tet(body, tet, start, NULL)};
	return 1;
}

static void scale_stress(FemTetStress *stress, float times) {
	float *normal = &stress->normal.x, *shear = &stress->shear.x;
	for (int k = 0; k < 3; k++)
		normal[k] *= times, shear[k] *= times;
}

// FemBodyStep.tet_stress, or cell_stress of a cell in place of its first tet.
static void set_stress(FemBody *body, int32_t tet, float times) {
	const FemTopology *t = body->topology;
	int32_t cell = fem_acting_cell(body, tet);
	if (cell < 0) {
		body->step->tet_stress[tet] = stress_of_tet(body, tet, body->step->start->position, body->step->z);
		scale_stress(&body->step->tet_stress[tet], times);
	} else if (t->cells.cells[cell].tets[0] == tet) {
		FemTetStress *corners = body->step->cell_stress + fem_cell_corner_place(t, cell, 0);
		fem_plate_element_stress(body, cell, body->step->direction, corners);
		for (int32_t k = 0; k < 2 * fem_cell_column_count(&t->cells.cells[cell]); k++)
			scale_stress(&corners[k], times);
	}
}

float fem_probe_excess(FemBody *body, int32_t component, float least) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	FemSeparation separation;
	float most = 0.0f;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		if (t->node_tets[k] % 4 == 0)                            // each tet at its first node
			set_stress(body, t->node_tets[k] / 4, 1.0f / least); // a node separates from 1 on
	}
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		int32_t begin = t->node_tet_start[i], count = t->node_tet_start[i + 1] - begin;
		if (fem_separation_of_node(body, i, t->node_tets + begin, count, 1.0f, &separation))
			most = fmaxf(most, least * separation.excess);
	}
	return most;
}

float fem_tet_tension(const FemBody *body, int32_t tet) {
	FemTetStress stress[FEM_CELL_CORNERS];
	int32_t cell = fem_acting_cell(body, tet);
	if (cell < 0)
		return tension_of_tet(body, tet, body->position, NULL);
	fem_plate_element_stress(body, cell, body->position, stress);
	return largest_tension(body, cell, stress);
}

// ---- reactions

void fem_probe_set_reactions(FemBody *body, int32_t component, float dt) {
	FemRange nodes = body->topology->component_nodes[component];
	FemMotionSums pins = {.finite = true}, loads = {.finite = true};
	double c[3], torque[3], moment[3];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *p = &body->position[i].x, *residual = &body->step->residual[i].x;
		double x[3] = {p[0], p[1], p[2]}, j[3] = {residual[0], residual[1], residual[2]};
		fem_sums_add_impulse(&loads, x, j);
		if (body->node_kind[i] != FEM_NODE_FREE)
			fem_sums_add_node(&pins, 1.0, x, (double[3]){0.0, 0.0, 0.0});
	}
	fem_sums_center(&pins, c);
	fem_about_center(loads.torque, loads.impulse, c, torque);
	fem_sums_solve_inertia(&pins, c, torque, moment);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *p = &body->position[i].x;
		double r[3] = {(double)p[0] - c[0], (double)p[1] - c[1], (double)p[2] - c[2]}, f[3];
		if (body->node_kind[i] == FEM_NODE_FREE)
			continue;
		for (int k = 0; k < 3; k++)
			f[k] = -(loads.impulse[k] / pins.mass + moment[(k + 1) % 3] * r[(k + 2) % 3] -
					   moment[(k + 2) % 3] * r[(k + 1) % 3]) /
				(double)dt;
		body->reaction[i] = (FemVec4){(float)f[0], (float)f[1], (float)f[2], 0.0f};
	}
}
