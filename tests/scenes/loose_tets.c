#include "scenes/loose_tets.h"

#include "base/memory.h"

#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- small matrices

static double det3(const double m[9]) {
	return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

static void inverse3(const double m[9], double out[9]) {
	double d = 1.0 / det3(m);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
			out[3 * j + i] = d * (m[3 * i1 + j1] * m[3 * i2 + j2] - m[3 * i1 + j2] * m[3 * i2 + j1]);
		}
	}
}

// Higham's iteration R <- (R + R^-T) / 2: another way than the engine's.
static void polar3(const double f[9], double r[9]) {
	memcpy(r, f, 9 * sizeof *r);
	for (int step = 0; step < 60; step++) {
		double inverse[9];
		inverse3(r, inverse);
		for (int i = 0; i < 9; i++)
			r[i] = 0.5 * (r[i] + inverse[3 * (i % 3) + i / 3]);
	}
}

void random_rotation(uint32_t *seed, double out[9]) {
	double q[4], norm = 0.0;
	for (int i = 0; i < 4; i++) {
		q[i] = (double)fem_random(seed) + 1e-3;
		norm += q[i] * q[i];
	}
	for (int i = 0; i < 4; i++)
		q[i] /= sqrt(norm);
	double x = q[0], y = q[1], z = q[2], w = q[3];
	double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w),
		1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w),
		1 - 2 * (x * x + y * y)};
	memcpy(out, r, sizeof r);
}

// ---- creation

static void set_rest(LooseTets *tets, int32_t tet) {
	FemBatch *batch = &tets->batches[tet / FEM_LANES];
	int lane = tet % FEM_LANES;
	const FemVec4 *x = tets->rest + 4 * tet;
	double edges[9], inverse[9];
	for (int k = 0; k < 3; k++) {
		edges[k] = (double)x[k + 1].x - x[0].x;
		edges[3 + k] = (double)x[k + 1].y - x[0].y;
		edges[6 + k] = (double)x[k + 1].z - x[0].z;
	}
	inverse3(edges, inverse);
	for (int k = 0; k < 9; k++)
		batch->gradient[k / 3][k % 3][lane] = (float)inverse[k];
	batch->volume[lane] = (float)(det3(edges) / 6.0);
	batch->mu[lane] = (float)(LOOSE_YOUNG_MODULUS / 2.6);
	batch->lambda[lane] = (float)(LOOSE_YOUNG_MODULUS * 0.3 / (1.3 * 0.4));
	batch->damping[lane] = 0.0f;
	tets->rotation[tet] = (FemVec4){0.0f, 0.0f, 0.0f, 1.0f};
}

static void set_plate(LooseTets *tets, int32_t tet, uint32_t *seed) {
	FemBatchPlate *plate = &tets->plates[tet / FEM_LANES];
	double r[9];
	random_rotation(seed, r);
	for (int i = 0; i < 3; i++) {
		plate->normal[i][tet % FEM_LANES] = (float)r[3 * i];
		plate->tangent[i][tet % FEM_LANES] = (float)r[3 * i + 1];
	}
	plate->softening[tet % FEM_LANES] = tet % 2 ? 0.9f : 0.0f;
}

static void set_fibre(LooseTets *tets, int32_t tet, uint32_t *seed) {
	FemBatchFibre *fibre = &tets->fibres[tet / FEM_LANES];
	double r[9];
	random_rotation(seed, r);
	for (int i = 0; i < 3; i++)
		fibre->direction[i][tet % FEM_LANES] = (float)r[3 * i];
	fibre->modulus[tet % FEM_LANES] = tet % 3 ? 0.0f : (float)(3.0 * LOOSE_YOUNG_MODULUS);
}

static void set_plastic(LooseTets *tets, int32_t tet) {
	FemBatchPlastic *plastic = &tets->plastics[tet / FEM_LANES];
	int lane = tet % FEM_LANES;
	for (int k = 0; k < 9; k++)
		plastic->gradient[k / 3][k % 3][lane] = tets->batches[tet / FEM_LANES].gradient[k / 3][k % 3][lane];
	plastic->yield[lane] = 1e9f;
	plastic->creep[lane] = 1e6f;
	plastic->limit[lane] = 1.0f;
}

static void make_shape(LooseTets *tets, int32_t tet, uint32_t *seed) {
	static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	for (int k = 0; k < 4; k++) {
		float p[3];
		for (int i = 0; i < 3; i++)
			p[i] = (float)LOOSE_SIZE * (corner[k][i] + 0.25f * fem_random(seed));
		tets->rest[4 * tet + k] = (FemVec4){p[0], p[1], p[2], 0.0f};
		tets->nodes[(tet / FEM_LANES * 4 + k) * FEM_LANES + tet % FEM_LANES] = 4 * tet + k;
	}
}

// Aligned as the engine's own memory; the size stands before the block.
static void *take(size_t bytes) {
	char *block = fem_alloc(bytes + FEM_ALIGNMENT);
	memcpy(block, &bytes, sizeof bytes);
	return block + FEM_ALIGNMENT;
}

static void give_back(void *pointer) {
	size_t bytes;
	if (!pointer)
		return;
	char *block = (char *)pointer - FEM_ALIGNMENT;
	memcpy(&bytes, block, sizeof bytes);
	fem_free(block, bytes + FEM_ALIGNMENT);
}

LooseTets loose_tets_create(int32_t batch_count, uint32_t seed, bool has_plates, bool has_plastics) {
	LooseTets tets = {.batch_count = batch_count,
		.tet_count = batch_count * FEM_LANES,
		.has_plates = has_plates,
		.has_plastics = has_plastics};
	size_t batches = (size_t)batch_count, count = batches * FEM_LANES;
	tets.nodes = take(count * 4 * sizeof *tets.nodes);
	tets.batches = take(batches * sizeof *tets.batches);
	tets.plates = take(batches * sizeof *tets.plates);
	tets.fibres = take(batches * sizeof *tets.fibres);
	tets.plastics = take(batches * sizeof *tets.plastics);
	tets.rotation = take(count * sizeof *tets.rotation);
	tets.rest = take(count * 4 * sizeof *tets.rest);
	tets.position = take(count * 4 * sizeof *tets.position);
	tets.velocity = take(count * 4 * sizeof *tets.velocity);
	tets.blocks = take(count * sizeof *tets.blocks);
	tets.forces = take(count * sizeof *tets.forces);
	tets.world_plates = take(count * sizeof *tets.world_plates);
	tets.world_fibres = take(count * sizeof *tets.world_fibres);
	for (int32_t t = 0; t < tets.tet_count; t++) {
		make_shape(&tets, t, &seed);
		set_rest(&tets, t);
		set_plate(&tets, t, &seed);
		set_fibre(&tets, t, &(uint32_t){seed + 77});
		set_plastic(&tets, t);
	}
	memcpy(tets.position, tets.rest, count * 4 * sizeof *tets.rest);
	return tets;
}

void loose_tets_free(LooseTets *tets) {
	void *blocks[] = {tets->nodes, tets->batches, tets->plates, tets->plastics, tets->rotation, tets->rest,
		tets->position, tets->velocity, tets->blocks, tets->forces, tets->world_plates, tets->fibres,
		tets->world_fibres};
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		give_back(blocks[i]);
	*tets = (LooseTets){0};
}

// ---- moving, running

void loose_tets_run(LooseTets *tets, FemElementKernel *kernel, float dt) {
	FemElementArguments arguments = {
		.nodes = tets->nodes,
		.batches = tets->batches,
		.rotation = tets->rotation,
		.plates = tets->has_plates ? tets->plates : NULL,
		.plastics = tets->has_plastics ? tets->plastics : NULL,
		.fibres = tets->has_plates ? tets->fibres : NULL,
		.position = tets->position,
		.velocity = tets->velocity,
		.out_blocks = tets->blocks,
		.out_forces = tets->forces,
		.out_plates = tets->has_plates ? tets->world_plates : NULL,
		.out_fibres = tets->has_plates ? tets->world_fibres : NULL,
		.dt = dt,
		.begin = 0,
		.end = tets->batch_count,
	};
	kernel(&arguments);
}

void loose_tets_transform(LooseTets *tets, int32_t tet, const double m[9]) {
	for (int k = 0; k < 4; k++) {
		FemVec4 x = tets->rest[4 * tet + k];
		tets->position[4 * tet + k] = (FemVec4){(float)(m[0] * x.x + m[1] * x.y + m[2] * x.z),
			(float)(m[3] * x.x + m[4] * x.y + m[5] * x.z), (float)(m[6] * x.x + m[7] * x.y + m[8] * x.z), 0.0f};
	}
}

void loose_tets_deform(LooseTets *tets, int32_t tet, double strain, uint32_t *seed) {
	double r[9], s[9], m[9];
	random_rotation(seed, r);
	for (int i = 0; i < 9; i++)
		s[i] = (i % 4 == 0 ? 1.0 : 0.0) + strain * (double)fem_random(seed);
	for (int i = 0; i < 9; i++)
		m[i] = r[3 * (i / 3)] * s[i % 3] + r[3 * (i / 3) + 1] * s[3 + i % 3] + r[3 * (i / 3) + 2] * s[6 + i % 3];
	loose_tets_transform(tets, tet, m);
}

// ---- the twin

void loose_tets_positions(const LooseTets *tets, int32_t tet, double out[12]) {
	for (int k = 0; k < 4; k++) {
		FemVec4 x = tets->position[4 * tet + k];
		out[3 * k] = x.x, out[3 * k + 1] = x.y, out[3 * k + 2] = x.z;
	}
}

void loose_tets_rotation(const LooseTets *tets, int32_t tet, double out[9]) {
	FemVec4 q = tets->rotation[tet];
	double x = q.x, y = q.y, z = q.z, w = q.w;
	double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w),
		1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w),
		1 - 2 * (x * x + y * y)};
	memcpy(out, r, sizeof r);
}

// n.e.t for both tangents, squared and summed.
static double shear_square(const FemBatchPlate *plate, int lane, const double e[9]) {
	double n[3], t[2][3], sum = 0.0;
	for (int i = 0; i < 3; i++) {
		n[i] = plate->normal[i][lane];
		t[0][i] = plate->tangent[i][lane];
	}
	for (int i = 0; i < 3; i++)
		t[1][i] = n[(i + 1) % 3] * t[0][(i + 2) % 3] - n[(i + 2) % 3] * t[0][(i + 1) % 3];
	for (int k = 0; k < 2; k++) {
		double shear = 0.0;
		for (int i = 0; i < 9; i++)
			shear += n[i / 3] * e[i] * t[k][i % 3];
		sum += shear * shear;
	}
	return sum;
}

double loose_tets_energy(const LooseTets *tets, int32_t tet, const double x[12], const double *rotation) {
	const FemBatch *batch = &tets->batches[tet / FEM_LANES];
	int lane = tet % FEM_LANES;
	double f[9] = {0}, r[9], c[9], e[9], square = 0.0, trace = 0.0;
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 9; i++)
			f[i] += (x[3 * (k + 1) + i / 3] - x[i / 3]) * (double)batch->gradient[k][i % 3][lane];
	}
	if (rotation)
		memcpy(r, rotation, sizeof r);
	else
		polar3(f, r);
	for (int i = 0; i < 9; i++)
		c[i] = r[i / 3] * f[i % 3] + r[3 + i / 3] * f[3 + i % 3] + r[6 + i / 3] * f[6 + i % 3];
	for (int i = 0; i < 9; i++) {
		e[i] = 0.5 * (c[i] + c[3 * (i % 3) + i / 3]) - (i % 4 == 0 ? 1.0 : 0.0);
		square += e[i] * e[i];
		trace += i % 4 == 0 ? e[i] : 0.0;
	}
	double energy = batch->mu[lane] * square + 0.5 * batch->lambda[lane] * trace * trace;
	if (tets->has_plates) {
		const FemBatchPlate *plate = &tets->plates[tet / FEM_LANES];
		energy -= 2.0 * batch->mu[lane] * plate->softening[lane] * shear_square(plate, lane, e);
		const FemBatchFibre *fibre = &tets->fibres[tet / FEM_LANES];
		double along = 0.0;
		for (int i = 0; i < 9; i++)
			along += e[i] * fibre->direction[i / 3][lane] * fibre->direction[i % 3][lane];
		energy += 0.5 * fibre->modulus[lane] * along * along;
	}
	return batch->volume[lane] * energy;
}

void loose_tets_force(const LooseTets *tets, int32_t tet, const double *rotation, double out[12]) {
	double x[12], h = 1e-6 * LOOSE_SIZE;
	loose_tets_positions(tets, tet, x);
	for (int i = 0; i < 12; i++) {
		double middle = x[i];
		x[i] = middle + h;
		double up = loose_tets_energy(tets, tet, x, rotation);
		x[i] = middle - h;
		double down = loose_tets_energy(tets, tet, x, rotation);
		x[i] = middle;
		out[i] = -(up - down) / (2.0 * h);
	}
}
