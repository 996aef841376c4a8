// The element kernel's three builds give the same bits; plastic flow follows its rules.
#include "fem_test.h"
#include "scenes/loose_tets.h"
#include "scenes/rig.h"

#include <stdlib.h>

// ---- same bits

// All kinds of lanes side by side: strained, crushed, inverted, collapsed, yielding, at their plastic limit.
static LooseTets mixed_tets(uint32_t seed) {
	LooseTets tets = loose_tets_create(64, seed, true, true);
	for (int32_t t = 0; t < tets.tet_count; t++) {
		FemBatchPlastic *plastic = &tets.plastics[t / FEM_LANES];
		double crush[9] = {1, 0, 0, 0, 1, 0, 0, 0, t % 3 == 0 ? 0.05 : t % 3 == 1 ? -0.8 : 0.0};
		int lane = t % FEM_LANES, kind = t % 7;
		plastic->yield[lane] = kind < 3 ? 0.02f : 1e9f;
		plastic->creep[lane] = kind == 1 ? 3.0f : 1e6f;
		plastic->limit[lane] = kind == 2 ? 0.03f : 1.0f;
		plastic->deviatoric[lane] = t % 2 ? 1.0f : 0.0f;
		tets.batches[t / FEM_LANES].damping[lane] = 0.001f * (float)(t % 5);
		loose_tets_deform(&tets, t, 0.3, &seed);
		if (kind == 5)
			loose_tets_transform(&tets, t, crush);
		for (int k = 0; k < 4; k++) {
			FemVec4 v = {fem_random(&seed), fem_random(&seed), fem_random(&seed), 0.0f};
			tets.velocity[4 * t + k] = v;
		}
	}
	return tets;
}

static void check_same_bits(LooseTets *a, LooseTets *b) {
	size_t batches = (size_t)a->batch_count, count = (size_t)a->tet_count;
	FEM_CHECK(memcmp(a->forces, b->forces, count * sizeof *a->forces) == 0);
	FEM_CHECK(memcmp(a->blocks, b->blocks, count * sizeof *a->blocks) == 0);
	FEM_CHECK(memcmp(a->rotation, b->rotation, count * sizeof *a->rotation) == 0);
	FEM_CHECK(memcmp(a->world_plates, b->world_plates, count * sizeof *a->world_plates) == 0);
	FEM_CHECK(memcmp(a->world_fibres, b->world_fibres, count * sizeof *a->world_fibres) == 0);
	FEM_CHECK(memcmp(a->batches, b->batches, batches * sizeof *a->batches) == 0);
	FEM_CHECK(memcmp(a->plastics, b->plastics, batches * sizeof *a->plastics) == 0);
}

static bool has_level(FemSimdLevel level) {
#if defined(__x86_64__) && !defined(FEM_NO_AVX2)
	return level != FEM_SIMD_AVX2 || __builtin_cpu_supports("avx2");
#else
	return level != FEM_SIMD_AVX2;
#endif
}

// Fails when a lane's iterations depend on its neighbours, a multiply-add is fused, or one build sums in another order.
FEM_TEST(elements, scalar_sse2_and_avx2_give_the_same_bits) {
	static const FemSimdLevel levels[] = {FEM_SIMD_SSE2, FEM_SIMD_AVX2};
	for (uint32_t seed = 1; seed <= 8; seed++) {
		for (int i = 0; i < 2; i++) {
			if (!has_level(levels[i]))
				continue;
			LooseTets scalar = mixed_tets(seed), wide = mixed_tets(seed);
			for (int step = 0; step < 2; step++) {
				loose_tets_run(&scalar, fem_element_kernel(FEM_SIMD_SCALAR), 1.0f / 60.0f);
				loose_tets_run(&wide, fem_element_kernel(levels[i]), 1.0f / 60.0f);
			}
			check_same_bits(&scalar, &wide);
			loose_tets_free(&scalar);
			loose_tets_free(&wide);
		}
	}
}

// ---- plasticity

typedef struct FlowCase {
	double stretch[3]; // F's diagonal
	float yield, creep, limit, deviatoric;
	float dt;
	int steps;
} FlowCase;

// Stretches all tets of a batch and returns the plastic strain of the first (xx yy zz xy yz zx).
static void flow(const FlowCase *what, double out[6]) {
	LooseTets tets = loose_tets_create(1, 40, false, true);
	double m[9] = {what->stretch[0], 0, 0, 0, what->stretch[1], 0, 0, 0, what->stretch[2]};
	for (int32_t t = 0; t < tets.tet_count; t++) {
		tets.plastics[0].yield[t] = what->yield;
		tets.plastics[0].creep[t] = what->creep;
		tets.plastics[0].limit[t] = what->limit;
		tets.plastics[0].deviatoric[t] = what->deviatoric;
		loose_tets_transform(&tets, t, m);
	}
	for (int step = 0; step < what->steps; step++)
		loose_tets_run(&tets, fem_element_kernel(fem_simd_level()), what->dt);
	for (int i = 0; i < 6; i++)
		out[i] = tets.plastics[0].strain[i][0];
	loose_tets_free(&tets);
}

static double norm(const double e[6]) {
	return sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2.0 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]));
}

// Fails when yield is compared with the whole strain's square, or flow happens below it.
FEM_TEST(plasticity, flows_only_beyond_yield) {
	double p[6];
	flow(&(FlowCase){{1.019, 1, 1}, 0.02f, 1e6f, 1.0f, 0.0f, 0.016f, 5}, p);
	FEM_CHECK_NEAR(norm(p), 0.0, 0.0);
	flow(&(FlowCase){{1.1, 1, 1}, 0.02f, 1e6f, 1.0f, 0.0f, 0.016f, 1}, p);
	FEM_CHECK_NEAR(p[0], 0.08, 1e-5); // e (|e| - yield) / |e|
	FEM_CHECK_NEAR(fabs(p[1]) + fabs(p[2]) + fabs(p[3]), 0.0, 1e-5);
}

// Fails when the creep rate is not multiplied by dt, or is not cut at one.
FEM_TEST(plasticity, creeps_at_its_rate) {
	double p[6];
	flow(&(FlowCase){{1.1, 1, 1}, 0.02f, 1.0f, 1.0f, 0.0f, 0.1f, 1}, p);
	FEM_CHECK_NEAR(p[0], 0.008, 1e-5);
	flow(&(FlowCase){{1.1, 1, 1}, 0.02f, 1e9f, 1.0f, 0.0f, 0.1f, 1}, p);
	FEM_CHECK_NEAR(p[0], 0.08, 1e-5);
}

// Fails when the limit is not applied to the norm, or applied to each component.
FEM_TEST(plasticity, stops_at_its_limit) {
	double p[6];
	flow(&(FlowCase){{1.3, 0.9, 1}, 0.02f, 1e6f, 0.05f, 0.0f, 0.016f, 20}, p);
	FEM_CHECK_NEAR(norm(p), 0.05, 1e-5);
	FEM_CHECK(p[0] > 0.0 && p[1] < 0.0);
}

// A limit of 0 is an elastic material whatever its yield.
FEM_TEST(plasticity, limit_zero_is_elastic) {
	double p[6];
	flow(&(FlowCase){{1.3, 1, 1}, 0.0f, 1e6f, 0.0f, 0.0f, 0.016f, 5}, p);
	FEM_CHECK_NEAR(norm(p), 0.0, 0.0);
}

// Fails when the deviatoric rule yields on the whole strain.
FEM_TEST(plasticity, hydrostatic_load_never_yields_deviatoric) {
	for (int i = 0; i < 10; i++) {
		double s = 0.5 + 0.1 * i, p[6];
		flow(&(FlowCase){{s, s, s}, 1e-4f, 1e6f, 10.0f, 1.0f, 0.016f, 10}, p);
		FEM_CHECK_NEAR(norm(p), 0.0, 0.0);
	}
}

// det(I + e^P) = 1 to second order. Fails when the mean strain is subtracted for the yield test only.
FEM_TEST(plasticity, deviatoric_flow_keeps_volume) {
	double p[6];
	flow(&(FlowCase){{1.2, 1, 1}, 0.01f, 1e6f, 1.0f, 1.0f, 0.016f, 1}, p);
	FEM_CHECK(norm(p) > 0.1);
	FEM_CHECK_NEAR(p[0] + p[1] + p[2], 0.0, 1e-6);
}

// (I + e^P) g' = g: the rest shape takes over just the plastic strain. Fails when the inverse lacks its determinant,
// mixes up two shears, or is applied on top of the last one instead of the undeformed shape.
FEM_TEST(plasticity, rest_shape_follows_the_strain) {
	LooseTets tets = loose_tets_create(8, 41, false, true);
	uint32_t seed = 42;
	for (int step = 0; step < 3; step++) {
		for (int32_t t = 0; t < tets.tet_count; t++) {
			tets.plastics[t / FEM_LANES].yield[t % FEM_LANES] = t % 3 ? 0.02f : 1e9f;
			loose_tets_deform(&tets, t, 0.25, &seed);
		}
		loose_tets_run(&tets, fem_element_kernel(fem_simd_level()), 1.0f / 60.0f);
	}
	static const int place[9] = {0, 3, 5, 3, 1, 4, 5, 4, 2}; // of xx yy zz xy yz zx in the matrix
	for (int32_t t = 0; t < tets.tet_count; t++) {
		const FemBatchPlastic *plastic = &tets.plastics[t / FEM_LANES];
		int lane = t % FEM_LANES;
		for (int k = 0; k < 9; k++) {
			double sum = 0.0, rest = (double)plastic->gradient[k / 3][k % 3][lane];
			for (int j = 0; j < 3; j++) {
				double stretch = (double)plastic->strain[place[3 * (k % 3) + j]][lane] + (j == k % 3 ? 1.0 : 0.0);
				sum += stretch * (double)tets.batches[t / FEM_LANES].gradient[k / 3][j][lane];
			}
			FEM_CHECK_NEAR(sum * LOOSE_SIZE, rest * LOOSE_SIZE, 1e-4);
		}
	}
	loose_tets_free(&tets);
}

// Fails when the limit holds only flow far beyond it: here it is passed by less than itself.
FEM_TEST(plasticity, stops_at_a_limit_just_passed) {
	double p[6];
	flow(&(FlowCase){{1.09, 1, 1}, 0.02f, 1e6f, 0.05f, 0.0f, 0.016f, 1}, p);
	FEM_CHECK_NEAR(norm(p), 0.05, 1e-5);
	flow(&(FlowCase){{1.071, 1, 1}, 0.02f, 1e6f, 0.05f, 0.0f, 0.016f, 1}, p); // by 2 %
	FEM_CHECK_NEAR(norm(p), 0.05, 1e-5);
}

// Fails when tets crushed below the volume at which rotation comes from QR flow: their strain means nothing.
FEM_TEST(plasticity, crushed_tets_do_not_flow) {
	double p[6];
	flow(&(FlowCase){{1, 1, 0.05}, 0.02f, 1e6f, 1.0f, 0.0f, 0.016f, 3}, p);
	FEM_CHECK_NEAR(norm(p), 0.0, 0.0);
	flow(&(FlowCase){{1, 1, 0.1}, 0.02f, 1e6f, 1.0f, 0.0f, 0.016f, 1}, p);
	FEM_CHECK(norm(p) > 0.5);
}
