#include "dynamics/strain_bound.h"

#include "base/assert.h"
#include "base/mat3.h"
#include "base/vec.h"
#include "dynamics/contact_rows.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "fem_constants.h"
#include "model/body_step.h"

#include <math.h>
#include <string.h>

#define GAIN_LOOKED_AT 5e-3 // of the kinetic energy: what is estimated to gain less is not looked at; chosen
#define GAIN_ALLOWED 1e-3   // of the energy: what gains less is not bounded; chosen
#define SHARE_LEAST 0.125f  // of s: with 0 what is folded beyond its model stood still for seconds, full of speed
#define TAKEN_MOST 0.5      // of the kinetic energy of the deformation: what a share of it may cost; chosen
#define TRIALS 5            // of s, each halving what is left between one that holds and one that does not: to 1/32
#define SMALLER 5           // halvings of SHARE_LEAST where all of that energy cannot pay for it; chosen: to 1/256
// Times the energy of motion: more is not gained for the sake of what is touched. Measured: 3 lets a brick through a
// pane, both at 100 m/s, and 30 still holds thin walls.
#define GAIN_MOST 10.0
#define DEEPER_MOST 0.1f // of a thickness: so far may s < 1 leave one in another, or it would go through; chosen

// What deformation_task() sums, J.
enum { DEFORMING, BEFORE, WORK };

// ---- estimate

// What rotation in the step adds to the strain of an edge, and what the solve knows of it: an edge that rotates by
// theta against the rigid motion is lengthened by q = theta^2 / 2, beside e. Returns q (q / 2 + e).
static float strain_square(const FemStrainBound *bound, int32_t i, int32_t j) {
	const FemBody *body = bound->integration->body;
	FemVec4 a = body->position[i], b = body->position[j], v = body->velocity[i], w = body->velocity[j];
	FemVec4 dv = body->step->dv[i], dw = body->step->dv[j];
	float x[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, swept[3] = {0.0f, 0.0f, 0.0f};
	float u[3] = {w.x + dw.x - v.x - dv.x, w.y + dw.y - v.y - dv.y, w.z + dw.z - v.z - dv.z};
	fem_cross_add(swept, bound->move->motion.spin, x);
	float square = 0.0f, along = 0.0f, length = 0.0f;
	for (int k = 0; k < 3; k++) {
		u[k] = bound->integration->dt * (u[k] - swept[k]);
		square += u[k] * u[k];
		along += u[k] * x[k];
		length += x[k] * x[k];
	}
	if (!(length > 0.0f))
		return 0.0f;
	float stretch = 0.5f * square / length, known = fabsf(along) / length;
	return stretch * (0.5f * stretch + known);
}

static float modulus_of(const FemBody *body, int32_t tet) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	return batch->lambda[tet % FEM_LANES] + 2.0f * batch->mu[tet % FEM_LANES];
}

// J, about what rotation strains a node's share of the piece by, seen at the edge to its last neighbour.
static float estimate(const FemStrainBound *bound, int32_t i) {
	const FemBody *body = bound->integration->body;
	const FemTopology *t = body->topology;
	FEM_ASSERT(t->row_start[i] < t->row_start[i + 1] && t->node_tet_start[i] < t->node_tet_start[i + 1]);
	int32_t j = t->row_column[t->row_start[i + 1] - 1], tet = t->node_tets[t->node_tet_start[i]] / 4;
	int32_t around = t->node_tet_start[i + 1] - t->node_tet_start[i];
	float volume = 0.25f * (float)around * body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
	return volume * modulus_of(body, tet) * strain_square(bound, i, j);
}

// The same of a plate cell, seen at its columns. They are its shortest edges: where a long cell bends they rotate far
// while most others of their nodes do not (a strut of 5 cm x 5 cm x 2.4 m went from 0.8 kJ to 57 MJ in five steps).
static float estimate_cell(const FemStrainBound *bound, int32_t index) {
	const FemBody *body = bound->integration->body;
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	int columns = fem_cell_column_count(cell);
	float volume = 0.0f, sum = 0.0f;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++)
		volume += body->batches[cell->tets[k] / FEM_LANES].volume[cell->tets[k] % FEM_LANES];
	for (int k = 0; k < columns; k++) {
		int32_t low = cell->corners[2 * k], high = cell->corners[2 * k + 1];
		sum += strain_square(
			bound, fem_tet_node(body->topology, low / 4, low % 4), fem_tet_node(body->topology, high / 4, high % 4));
	}
	return volume * modulus_of(body, cell->tets[0]) * sum / (float)columns;
}

static void estimate_task(void *context, int32_t chunk_index) {
	const FemStrainBound *bound = context;
	const FemNodeChunk *chunk = &bound->integration->chunks[chunk_index];
	const FemBody *body = bound->integration->body;
	const FemTopology *t = body->topology;
	double sum = 0.0;
	for (int32_t i = chunk->begin; i < chunk->end; i++)
		sum += (double)estimate(bound, i);
	for (int32_t k = t->node_tet_start[chunk->begin]; body->cells && k < t->node_tet_start[chunk->end]; k++) {
		int32_t tet = t->node_tets[k] / 4, cell = t->node_tets[k] % 4 == 0 ? fem_acting_cell(body, tet) : -1;
		if (cell >= 0 && t->cells.cells[cell].tets[0] == tet)
			sum += (double)estimate_cell(bound, cell);
	}
	bound->integration->partials[chunk_index].energy[0] = sum;
}

// ---- nodes

static void deformation_task(void *context, int32_t chunk_index) {
	const FemStrainBound *bound = context;
	const FemIntegration *integration = bound->integration;
	const FemNodeChunk *chunk = &integration->chunks[chunk_index];
	const FemMotion *motion = &bound->move->motion;
	FemBody *body = integration->body;
	FemMotionSums *sums = &integration->partials[chunk_index];
	*sums = (FemMotionSums){.finite = true};
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 *moved = &body->step->direction[i], x = body->position[i], v = body->velocity[i];
		FemVec4 dv = body->step->dv[i];
		if (body->node_kind[i] != FEM_NODE_FREE) { // its constraint gives -residual
			FemVec4 given = body->step->residual[i];
			sums->energy[WORK] -= (double)(given.x * v.x + given.y * v.y + given.z * v.z);
			*moved = (FemVec4){integration->dt * v.x, integration->dt * v.y, integration->dt * v.z, 1.0f};
			continue;
		}
		float r[3] = {x.x - motion->center[0], x.y - motion->center[1], x.z - motion->center[2]};
		float u[3] = {v.x + dv.x, v.y + dv.y, v.z + dv.z}, rigid[3], d[3], square = 0.0f;
		for (int k = 0; k < 3; k++) {
			u[k] += bound->correction ? bound->correction[k] : 0.0f;
			rigid[k] = motion->velocity[k];
		}
		if (bound->correction_spin)
			fem_cross_add(u, bound->correction_spin, r);
		fem_cross_add(rigid, motion->spin, r);
		for (int k = 0; k < 3; k++) {
			d[k] = u[k] - rigid[k];
			square += d[k] * d[k];
		}
		double mass = (double)body->mass[i], dt = (double)integration->dt;
		FemVec3 g = integration->gravity;
		FemVec4 f = body->force[i];
		sums->energy[DEFORMING] += 0.5 * mass * (double)square;
		sums->energy[BEFORE] += 0.5 * mass * (double)(v.x * v.x + v.y * v.y + v.z * v.z) +
			dt *
				(mass * (double)(g.x * u[0] + g.y * u[1] + g.z * u[2]) +
					(double)(f.x * u[0] + f.y * u[1] + f.z * u[2]));
		FemVec4 ground = body->step->ground[i];
		sums->energy[WORK] += (double)(ground.x * (ground.y - u[1]) * u[1] - ground.z * (u[0] * u[0] + u[2] * u[2]));
		*moved = (FemVec4){integration->dt * d[0], integration->dt * d[1], integration->dt * d[2], 0.0f};
	}
}

// dv += (share - 1) d
static void slow_task(void *context, int32_t chunk_index) {
	const FemStrainBound *bound = context;
	const FemNodeChunk *chunk = &bound->integration->chunks[chunk_index];
	FemBody *body = bound->integration->body;
	float scale = (bound->share - 1.0f) / bound->integration->dt;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 *dv = &body->step->dv[i], moved = body->step->direction[i];
		if (body->node_kind[i] == FEM_NODE_FREE)
			*dv = (FemVec4){dv->x + scale * moved.x, dv->y + scale * moved.y, dv->z + scale * moved.z, 0.0f};
	}
}

// ---- elements; each belongs to the node that comes first in it

// `direction` has w = 1 for what is held: it goes all of its way.
static void place_node(const FemStrainBound *bound, int32_t node, double out[3]) {
	const FemBody *body = bound->integration->body;
	FemVec4 x = body->position[node], u = body->step->direction[node];
	double share = u.w > 0.0f ? 1.0 : (double)bound->share;
	out[0] = (double)x.x + share * (double)u.x;
	out[1] = (double)x.y + share * (double)u.y;
	out[2] = (double)x.z + share * (double)u.z;
}

// a.m b
static double between(const double a[3], double m[3][3], const double b[3]) {
	double sum = 0.0;
	for (int k = 0; k < 9; k++)
		sum += a[k / 3] * m[k / 3][k % 3] * b[k % 3];
	return sum;
}

// J/m^3: lambda/2 tr(e)^2 + mu e:e, fibres, and less of the transverse shears of plates.
static double energy_density(const FemBody *body, int32_t tet, double e[3][3]) {
	int32_t b = tet / FEM_LANES, lane = tet % FEM_LANES;
	double trace = e[0][0] + e[1][1] + e[2][2], square = 0.0;
	double mu = (double)body->batches[b].mu[lane];
	for (int k = 0; k < 9; k++)
		square += e[k / 3][k % 3] * e[k / 3][k % 3];
	double sum = 0.5 * (double)body->batches[b].lambda[lane] * trace * trace + mu * square;
	if (body->fibres) {
		double a[3], along;
		for (int i = 0; i < 3; i++)
			a[i] = (double)body->fibres[b].direction[i][lane];
		along = between(a, e, a);
		sum += 0.5 * (double)body->fibres[b].modulus[lane] * along * along;
	}
	if (body->plates && !fem_tet_is_plain(body, tet)) {
		double n[3], t[2][3];
		for (int i = 0; i < 3; i++) {
			n[i] = (double)body->plates[b].normal[i][lane];
			t[0][i] = (double)body->plates[b].tangent[i][lane];
		}
		for (int i = 0; i < 3; i++)
			t[1][i] = n[(i + 1) % 3] * t[0][(i + 2) % 3] - n[(i + 2) % 3] * t[0][(i + 1) % 3];
		for (int k = 0; k < 2; k++) {
			double shear = between(n, e, t[k]);
			sum -= 2.0 * (double)body->plates[b].softening[lane] * mu * shear * shear;
		}
	}
	return sum;
}

static double tet_energy(const FemStrainBound *bound, int32_t tet) {
	const FemBody *body = bound->integration->body;
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	double x[4][3], f[3][3] = {{0.0}}, r[3][3], e[3][3];
	for (int v = 0; v < 4; v++)
		place_node(bound, fem_tet_node(body->topology, tet, v), x[v]);
	for (int v = 0; v < 3; v++) {
		for (int k = 0; k < 9; k++)
			f[k / 3][k % 3] += (x[v + 1][k / 3] - x[0][k / 3]) * (double)batch->gradient[v][k % 3][tet % FEM_LANES];
	}
	float q[4] = {body->rotation[tet].x, body->rotation[tet].y, body->rotation[tet].z, body->rotation[tet].w};
	bool is_sound = fem_determinant3(f) >= (double)FEM_QR_VOLUME_RATIO;
	if (!is_sound) {
		float rounded[9];
		for (int k = 0; k < 9; k++)
			rounded[k] = (float)f[k / 3][k % 3];
		fem_rotation_of_crushed(rounded, q);
	}
	fem_quat_to_matrix((FemQuat){q[0], q[1], q[2], q[3]}, r);
	if (is_sound)
		fem_polar_polish(f, r);
	fem_corotated_strain(f, r, e);
	return (double)batch->volume[tet % FEM_LANES] * energy_density(body, tet, e);
}

// What the kernel needs to find energies (J) alone.
static FemCellArguments energy_arguments(const FemStrainBound *bound, int set, FemRange cells, float *out_energy) {
	FemCellArguments arguments = fem_cell_arguments(bound->integration->body, set, cells);
	arguments.moved = bound->integration->body->step->direction;
	arguments.share = bound->share;
	arguments.out_energy = out_energy;
	return arguments;
}

// Cells of a body in one piece are computed batch by batch.
static bool computes_batches(const FemBody *body) {
	return body->cells && body->topology->component_count == 1;
}

// The chunk's share of the batches of cells.
static double batches_energy(const FemStrainBound *bound, int32_t chunk_index) {
	const FemIntegration *integration = bound->integration;
	const FemBody *body = integration->body;
	const FemPlateCells *cells = &body->topology->cells;
	double sum = 0.0;
	for (int set = 0, first = 0; set < FEM_CELL_SETS; first += cells->count[set++]) {
		int64_t batches = fem_cell_batch_count(cells, set);
		int32_t begin = (int32_t)(batches * chunk_index / integration->chunk_count),
				end = (int32_t)(batches * (chunk_index + 1) / integration->chunk_count);
		for (int32_t b = begin; b < end; b++) {
			_Alignas(32) float energy[FEM_LANES];
			int32_t from = b * FEM_LANES;
			int32_t to = from + FEM_LANES < cells->count[set] ? from + FEM_LANES : cells->count[set];
			FemCellArguments arguments = energy_arguments(bound, set, (FemRange){from, to}, energy);
			fem_cell_kernel(fem_simd_level())(&arguments);
			for (int32_t i = from; i < to; i++)
				sum += fem_cell_acts(body, first + i) ? (double)energy[i - from] : 0.0;
		}
	}
	return sum;
}

#define BATCHES_KEPT 16 // chosen: a row of cells and the next, of a piece of some hundred

// Energies, J, of the batches of cells that were computed last. Those of a piece are met node by node, so that the same
// batches come again soon.
typedef struct KeptBatches {
	int32_t batch[BATCHES_KEPT]; // 2 batch + set + 1; 0: none
	_Alignas(32) float energy[BATCHES_KEPT][FEM_LANES];
} KeptBatches;

static int32_t component_of(const FemIntegration *integration) {
	return fem_node_component(integration->body->topology, integration->chunks[0].begin);
}

// Computes the batch of a cell of a body in several pieces. Lanes of other pieces, which another thread may be moving,
// get the nodes of this cell; what comes of them is not used.
static void compute_batch(const FemStrainBound *bound, int set, int32_t batch, int32_t lane, float *energy) {
	const FemBody *body = bound->integration->body;
	const FemTopology *t = body->topology;
	int32_t corners = 2 * fem_cell_columns(set), first = set ? t->cells.count[0] : 0;
	int32_t from = batch * FEM_LANES, nodes[FEM_CELL_CORNERS * FEM_LANES], leaders[FEM_LANES];
	const int32_t *all = fem_cell_batch_nodes(t, set, batch);
	for (int32_t l = 0; l < FEM_LANES; l++) {
		bool is_there = from + l < t->cells.count[set] && fem_cell_acts(body, first + from + l) &&
			fem_node_component(t, all[l]) == component_of(bound->integration);
		int32_t source = is_there ? l : lane;
		leaders[l] = body->cells->leaders[set][from + source];
		for (int32_t corner = 0; corner < corners; corner++)
			nodes[corner * FEM_LANES + l] = all[corner * FEM_LANES + source];
	}
	FemCellArguments arguments = energy_arguments(bound, set, (FemRange){0, FEM_LANES}, energy);
	arguments.nodes = nodes;
	arguments.leaders = leaders;
	arguments.values += (size_t)batch * FEM_CELL_VALUES(fem_cell_columns(set)) * FEM_LANES;
	fem_cell_kernel(fem_simd_level())(&arguments);
}

static double cell_energy(const FemStrainBound *bound, int32_t index, KeptBatches *kept) {
	const FemPlateCells *cells = &bound->integration->body->topology->cells;
	int set = index < cells->count[0] ? 0 : 1;
	int32_t place = index - (set ? cells->count[0] : 0), batch = place / FEM_LANES, lane = place % FEM_LANES;
	int32_t name = 2 * batch + set + 1, slot = name % BATCHES_KEPT;
	if (kept->batch[slot] != name) {
		compute_batch(bound, set, batch, lane, kept->energy[slot]);
		kept->batch[slot] = name;
	}
	return (double)kept->energy[slot][lane];
}

static void energy_task(void *context, int32_t chunk_index) {
	const FemStrainBound *bound = context;
	const FemNodeChunk *chunk = &bound->integration->chunks[chunk_index];
	const FemBody *body = bound->integration->body;
	const FemTopology *t = body->topology;
	KeptBatches kept;
	memset(kept.batch, 0, sizeof kept.batch);
	bool batches = computes_batches(body);
	double sum = batches ? batches_energy(bound, chunk_index) : 0.0;
	for (int32_t k = t->node_tet_start[chunk->begin]; k < t->node_tet_start[chunk->end]; k++) {
		if (t->node_tets[k] % 4 != 0)
			continue;
		int32_t tet = t->node_tets[k] / 4, cell = fem_acting_cell(body, tet);
		if (cell < 0)
			sum += tet_energy(bound, tet);
		else if (!batches && t->cells.cells[cell].tets[0] == tet)
			sum += cell_energy(bound, cell, &kept);
	}
	bound->integration->partials[chunk_index].energy[0] = sum;
}

// ---- sums

static double sum_energy(const FemIntegration *integration, int which) {
	double sum = 0.0;
	for (int32_t c = 0; c < integration->chunk_count; c++)
		sum += integration->partials[c].energy[which];
	return sum;
}

static double energy_at(FemStrainBound *bound, float share) {
	FemIntegration *integration = bound->integration;
	bound->share = share;
	fem_loop_for_light(integration->loop, integration->chunk_count, energy_task, bound);
	return sum_energy(integration, 0);
}

// ---- contacts

// Whether a side of a contact is the island.
static bool is_side(const FemIntegration *integration, const FemContactSide *side) {
	return fem_side_is_body(side) && integration->contacts->bodies[side->body] == integration->body &&
		side->piece == component_of(integration);
}

// J, that contacts with others do on the piece.
static double work_of_contacts(const FemIntegration *integration) {
	const FemContactRows *rows = integration->contacts;
	const FemBody *body = integration->body;
	double sum = 0.0;
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		for (int k = 0; k < 2; k++) {
			const FemContact *contact = &rows->contacts[c];
			const FemContactSide *side = &contact->side[k];
			for (int n = 0; n < 4 && is_side(integration, side); n++) {
				FemVec4 v = body->velocity[side->nodes[n]], dv = body->step->dv[side->nodes[n]];
				float along = contact->impulse[0] * (v.x + dv.x) + contact->impulse[1] * (v.y + dv.y) +
					contact->impulse[2] * (v.z + dv.z);
				sum += (double)((k == 0 ? -1.0f : 1.0f) * side->weights[n] * along);
			}
		}
	}
	return sum;
}

static float thickness_of(const FemContactRows *rows, const FemContactSide *side) {
	return fem_side_is_body(side) ? rows->bodies[side->body]->pieces[side->piece].thickness : INFINITY;
}

// The least share of the deformation that leaves nothing far in another body: what deformation moves out of it.
static float least_share(const FemIntegration *integration) {
	const FemContactRows *rows = integration->contacts;
	float share = SHARE_LEAST;
	for (int32_t c = 0; c < rows->count; c++) {
		const FemContact *contact = &rows->contacts[c];
		const float *n = contact->normal; // from side 0 to side 1
		float room = DEEPER_MOST * fminf(thickness_of(rows, &contact->side[0]), thickness_of(rows, &contact->side[1]));
		float out = 0.0f;
		for (int k = 0; k < 8; k++) {
			const FemContactSide *side = &contact->side[k / 4];
			if (!is_side(integration, side))
				continue;
			FemVec4 u = integration->body->step->direction[side->nodes[k % 4]];
			float along = side->weights[k % 4] * (n[0] * u.x + n[1] * u.y + n[2] * u.z);
			out += k < 4 ? -along : along;
		}
		if (out > room && contact->side[0].body != contact->side[1].body)
			share = fmaxf(share, 1.0f - room / out);
	}
	return share;
}

// ---- the bound

// The largest share of the deformation with no more than the allowed energy, J, or but for what its speed can give.
static float find_share(FemStrainBound *bound, float least, double allowed, double deforming, double *out_excess) {
	float low = least, high = 1.0f;
	*out_excess = energy_at(bound, low) - allowed;
	for (int trial = 0; trial < TRIALS; trial++) {
		float share = 0.5f * (low + high);
		double excess = energy_at(bound, share) - allowed;
		if (excess <= TAKEN_MOST * deforming || excess < *out_excess) {
			low = share;
			*out_excess = excess;
		} else {
			high = share;
		}
	}
	for (int n = 0; n < SMALLER && least <= SHARE_LEAST && low == least && *out_excess > deforming; n++) {
		low = least = 0.5f * least;
		*out_excess = energy_at(bound, low) - allowed;
	}
	return low;
}

float fem_strain_bound(FemStrainBound *bound, double kinetic, double lost) {
	FemIntegration *integration = bound->integration;
	fem_loop_for_light(integration->loop, integration->chunk_count, estimate_task, bound);
	if (sum_energy(integration, 0) <= lost + GAIN_LOOKED_AT * kinetic)
		return 0.0f;
	fem_loop_for_light(integration->loop, integration->chunk_count, deformation_task, bound);
	double deforming = sum_energy(integration, DEFORMING), before = sum_energy(integration, BEFORE),
		   work = sum_energy(integration, WORK);
	double start = energy_at(bound, 0.0f), end = energy_at(bound, 1.0f), allowed = start + before - kinetic, excess;
	if (end <= allowed)
		return 0.0f;
	allowed += fmax(work + work_of_contacts(integration), 0.0);
	allowed += GAIN_ALLOWED * (start + kinetic);
	if (end <= allowed)
		return 0.0f;
	float least = least_share(integration), share = find_share(bound, least, allowed, deforming, &excess);
	bool has_no_room = least > SHARE_LEAST && excess > 0.0;
	if (has_no_room && excess > GAIN_MOST * before)
		share = find_share(bound, SHARE_LEAST, allowed, deforming, &excess);
	else if (has_no_room) // without its speed a pane held up a stone
		return 0.0f;
	bound->share = 1.0f;
	if (excess > 0.0) {
		bound->share = deforming > excess ? (float)sqrt(1.0 - excess / deforming) : 0.0f;
		fem_loop_for_light(integration->loop, integration->chunk_count, slow_task, bound);
	}
	return share - bound->share;
}
