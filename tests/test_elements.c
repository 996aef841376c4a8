// The element kernel alone (src/dynamics/elements.h) against a twin in double precision.
#include "dynamics/rows.h"
#include "fem_test.h"
#include "model/body_step.h"
#include "scenes/loose_tets.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define BATCHES 8
#define FORCE_UNIT (LOOSE_YOUNG_MODULUS * LOOSE_SIZE * LOOSE_SIZE) // N, E A

static FemElementKernel *kernel(void) {
	return fem_element_kernel(fem_simd_level());
}

static void force_of(const LooseTets *tets, int32_t tet, double out[12]) {
	for (int k = 0; k < 4; k++) {
		FemVec4 f = tets->forces[tet].force[k];
		out[3 * k] = f.x, out[3 * k + 1] = f.y, out[3 * k + 2] = f.z;
	}
}

static double largest_difference(const double *a, const double *b, int count) {
	double largest = 0.0;
	for (int i = 0; i < count; i++)
		largest = fmax(largest, fabs(a[i] - b[i]));
	return largest;
}

static double largest(const double *a, int count) {
	double zero[144] = {0};
	return largest_difference(a, zero, count);
}

// Moves every tet at random, lets plastic ones flow, then moves them again so that they only strain elastically.
static LooseTets strained_tets_by(uint32_t seed, bool has_plates, bool has_plastics, double strain) {
	LooseTets tets = loose_tets_create(BATCHES, seed, has_plates, has_plastics);
	if (has_plastics) {
		for (int32_t t = 0; t < tets.tet_count; t++) {
			tets.plastics[t / FEM_LANES].yield[t % FEM_LANES] = (float)fmin(0.02, 0.4 * strain);
			loose_tets_deform(&tets, t, 1.25 * strain, &seed);
		}
		loose_tets_run(&tets, kernel(), 1.0f / 60.0f);
		for (int32_t t = 0; t < tets.tet_count; t++)
			tets.plastics[t / FEM_LANES].yield[t % FEM_LANES] = 1e9f;
	}
	for (int32_t t = 0; t < tets.tet_count; t++)
		loose_tets_deform(&tets, t, strain, &seed);
	loose_tets_run(&tets, kernel(), 1.0f / 60.0f);
	return tets;
}

// The plate correction, 0.9 here, fades with the strain, which the twin does not know: from 0.1 / 4 on.
static LooseTets strained_tets(uint32_t seed, bool has_plates, bool has_plastics) {
	return strained_tets_by(seed, has_plates, has_plastics, has_plates ? 0.005 : 0.2);
}

static void check_forces(uint32_t seed, bool has_plates, bool has_plastics) {
	LooseTets tets = strained_tets(seed, has_plates, has_plastics);
	for (int32_t t = 0; t < tets.tet_count; t++) {
		double expected[12], actual[12], rotation[9];
		loose_tets_rotation(&tets, t, rotation);
		loose_tets_force(&tets, t, has_plates ? rotation : NULL, expected);
		force_of(&tets, t, actual);
		FEM_CHECK_NEAR(largest_difference(expected, actual, 12) / largest(expected, 12), 0.0, 1e-3);
	}
	loose_tets_free(&tets);
}

// Fails when the stress has a wrong factor (2 mu for mu, lambda on the shears) or the rotation is not the polar one.
FEM_TEST(elements, force_is_minus_energy_gradient) {
	check_forces(1, false, false);
}

// Fails when the rest shape after flow is not (I + e^P)^-1 g, or only the gradients of some nodes are changed.
FEM_TEST(elements, plastic_force_is_minus_energy_gradient) {
	check_forces(2, false, true);
}

// Plates: with the rotation held fixed, since the kernel leaves out its derivative on purpose (element_kernel.inl,
// soften_plate). Fails when the correction takes out the wrong shears, or one of the two only, or fibres pull
// elsewhere.
FEM_TEST(elements, plate_force_is_minus_energy_gradient) {
	check_forces(3, true, false);
	check_forces(4, true, true);
}

// ---- stiffness

// K of one tet as the engine assembles it: off-diagonal blocks from the row kernel, diagonal by the rows' sum.
static void assembled_stiffness(const LooseTets *tets, int32_t tet, double scale, double out[144]) {
	int32_t slots[12], start[7], references[6];
	float blocks[12 * 9];
	int edge = 0;
	for (int i = 0; i < 4; i++) {
		for (int j = i + 1; j < 4; j++, edge++) {
			slots[2 * edge] = 2 * edge;
			slots[2 * edge + 1] = 2 * edge + 1;
			start[edge] = edge;
			references[edge] = tet * 16 + i * 4 + j;
		}
	}
	start[6] = 6;
	FemTopology topology = {.edge_slots = slots, .edge_tet_start = start, .edge_tets = references};
	FemBodyStep step = {.tet_blocks = tets->blocks,
		.tet_plates = tets->has_plates ? tets->world_plates : NULL,
		.tet_fibres = tets->has_plates ? tets->world_fibres : NULL,
		.row_blocks = blocks};
	FemBody body = {.topology = &topology, .step = &step};
	fem_row_kernels(fem_simd_level())->assemble_edges(&body, 0, 6);
	memset(out, 0, 144 * sizeof *out);
	edge = 0;
	for (int i = 0; i < 4; i++) {
		for (int j = i + 1; j < 4; j++, edge++) {
			for (int r = 0; r < 3; r++) {
				for (int c = 0; c < 3; c++) {
					double ij = blocks[18 * edge + 3 * c + r] / scale, ji = blocks[18 * edge + 9 + 3 * c + r] / scale;
					out[12 * (3 * i + r) + 3 * j + c] = ij;
					out[12 * (3 * j + r) + 3 * i + c] = ji;
					out[12 * (3 * i + r) + 3 * i + c] -= ij;
					out[12 * (3 * j + r) + 3 * j + c] -= ji;
				}
			}
		}
	}
}

// -df/dx with the rotation held fixed: the energy is then quadratic and its second differences exact.
static void stiffness_by_differences(LooseTets *tets, int32_t tet, double out[144]) {
	double r[9], x[12], h = 1e-2 * LOOSE_SIZE;
	loose_tets_rotation(tets, tet, r);
	loose_tets_positions(tets, tet, x);
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 12; j++) {
			double sum = 0.0;
			for (int s = 0; s < 4; s++) {
				double y[12];
				memcpy(y, x, sizeof y);
				y[i] += s & 1 ? h : -h;
				y[j] += s & 2 ? h : -h;
				sum += (s == 0 || s == 3 ? 1.0 : -1.0) * loose_tets_energy(tets, tet, y, r);
			}
			out[12 * i + j] = sum / (4.0 * h * h);
		}
	}
}

// Fails when the blocks mix up c_i c_j^T and c_j c_i^T, or lack V, the plate term, fibres or the transpose on the other
// side.
FEM_TEST(elements, stiffness_is_minus_force_gradient) {
	float dt = 1.0f / 60.0f;
	for (int plates = 0; plates < 2; plates++) {
		LooseTets tets = strained_tets(5, plates, true);
		for (int32_t t = 0; t < tets.tet_count; t++) {
			double expected[144], actual[144];
			stiffness_by_differences(&tets, t, expected);
			assembled_stiffness(&tets, t, (double)dt * (double)dt, actual);
			FEM_CHECK_NEAR(largest_difference(expected, actual, 144) / largest(expected, 144), 0.0, 1e-3);
		}
		loose_tets_free(&tets);
	}
}

// f(v) - f(0) = -(dt + alpha_K) K v. Fails when damping or the implicit term is left out of the right-hand side.
FEM_TEST(elements, velocity_term_is_stiffness_times_velocity) {
	float dt = 1.0f / 60.0f, damping = 0.01f;
	uint32_t seed = 9;
	LooseTets tets = strained_tets(6, false, false);
	for (int32_t t = 0; t < tets.tet_count; t++) {
		double k[144], v[12], before[12], after[12], difference[12], expected[12];
		stiffness_by_differences(&tets, t, k);
		force_of(&tets, t, before);
		for (int i = 0; i < 12; i++)
			v[i] = (double)fem_random(&seed);
		for (int i = 0; i < 4; i++)
			tets.velocity[4 * t + i] = (FemVec4){(float)v[3 * i], (float)v[3 * i + 1], (float)v[3 * i + 2], 0.0f};
		tets.batches[t / FEM_LANES].damping[t % FEM_LANES] = damping;
		loose_tets_run(&tets, kernel(), dt);
		force_of(&tets, t, after);
		for (int i = 0; i < 12; i++) {
			expected[i] = 0.0;
			for (int j = 0; j < 12; j++)
				expected[i] -= (double)(dt + damping) * k[12 * i + j] * v[j];
			difference[i] = after[i] - before[i];
		}
		FEM_CHECK_NEAR(largest_difference(difference, expected, 12) / largest(expected, 12), 0.0, 1e-3);
	}
	loose_tets_free(&tets);
}

// ---- invariants

// Fails when the rotation is taken as found in the last step, without a Newton step or a fresh start on large turns.
FEM_TEST(elements, rigid_rotation_gives_no_force) {
	LooseTets tets = loose_tets_create(BATCHES, 11, false, false);
	uint32_t seed = 12;
	double worst = 0.0;
	for (int pose = 0; pose < 100; pose++) {
		for (int32_t t = 0; t < tets.tet_count; t++) {
			double r[9];
			random_rotation(&seed, r);
			loose_tets_transform(&tets, t, r);
		}
		loose_tets_run(&tets, kernel(), 1.0f / 60.0f);
		for (int32_t t = 0; t < tets.tet_count; t++) {
			double force[12];
			force_of(&tets, t, force);
			worst = fmax(worst, largest(force, 12));
		}
	}
	FEM_CHECK_NEAR(worst / FORCE_UNIT, 0.0, 1e-5);
	loose_tets_free(&tets);
}

static void check_balance(const LooseTets *tets, int32_t tet, double torque_tolerance) {
	double f[12], x[12], net[3] = {0}, torque[3] = {0};
	force_of(tets, tet, f);
	loose_tets_positions(tets, tet, x);
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 3; i++) {
			int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
			net[i] += f[3 * k + i];
			torque[i] += (x[3 * k + i1] - x[i1]) * f[3 * k + i2] - (x[3 * k + i2] - x[i2]) * f[3 * k + i1];
		}
	}
	FEM_CHECK_NEAR(largest(net, 3) / FORCE_UNIT, 0.0, 1e-5);
	FEM_CHECK_NEAR(largest(torque, 3) / (FORCE_UNIT * LOOSE_SIZE), 0.0, torque_tolerance);
}

// Fails when plastic strain is subtracted from the elastic one (net torque), or f_0 is computed by itself.
FEM_TEST(elements, no_net_force_or_torque) {
	for (int plastic = 0; plastic < 2; plastic++) {
		LooseTets tets = strained_tets(20 + (uint32_t)plastic, false, plastic);
		for (int32_t t = 0; t < tets.tet_count; t++)
			check_balance(&tets, t, 1e-5);
		loose_tets_free(&tets);
	}
}

// A plate's torque is of second order in the strain. Fails when softened stress and strain disagree in the first order.
FEM_TEST(elements, plate_has_no_torque_of_first_order) {
	static const double strains[] = {1e-3, 1e-2, 1e-1};
	for (int i = 0; i < 3; i++) {
		LooseTets tets = strained_tets_by(24, true, false, strains[i]);
		for (int32_t t = 0; t < tets.tet_count; t++)
			check_balance(&tets, t, 1e-6 + 0.5 * strains[i] * strains[i]);
		loose_tets_free(&tets);
	}
}

// F = I + s (n t^T + t n^T) shears a plate across by s and does not rotate it. Beyond 0.25 the correction fades with
// the square of the shear: a quarter of it is left at 0.5.
FEM_TEST(elements, plate_correction_fades_with_shear) {
	static const double shears[] = {0.1, 0.24, 0.5}, left[] = {1.0, 1.0, 0.25};
	LooseTets tets = loose_tets_create(1, 25, true, false);
	float dt = 1.0f / 60.0f;
	for (int s = 0; s < 3; s++) {
		for (int32_t t = 0; t < tets.tet_count; t++) {
			double n[3], tangent[3], m[9];
			for (int i = 0; i < 3; i++) {
				n[i] = (double)tets.plates[0].normal[i][t];
				tangent[i] = (double)tets.plates[0].tangent[i][t];
			}
			for (int i = 0; i < 9; i++)
				m[i] = (i % 4 == 0) + shears[s] * (n[i / 3] * tangent[i % 3] + tangent[i / 3] * n[i % 3]);
			loose_tets_transform(&tets, t, m);
		}
		loose_tets_run(&tets, kernel(), dt);
		for (int32_t t = 1; t < tets.tet_count; t += 2) { // those with a correction
			double full =
				(double)(tets.plates[0].softening[t] * dt * dt * tets.batches[0].volume[t] * tets.batches[0].mu[t]);
			FEM_CHECK_NEAR((double)tets.world_plates[t].normal.w / full, left[s], 1e-3);
		}
	}
	loose_tets_free(&tets);
}

// F = I + s t t^T stretches a plate along by s: 4 s of the shear stays.
FEM_TEST(elements, plate_correction_leaves_shear_by_the_strain) {
	static const double stretches[] = {0.01, 0.1, 0.3}, left[] = {0.9, 0.6, 0.0};
	LooseTets tets = loose_tets_create(1, 25, true, false);
	float dt = 1.0f / 60.0f;
	for (int s = 0; s < 3; s++) {
		for (int32_t t = 0; t < tets.tet_count; t++) {
			double m[9];
			for (int i = 0; i < 9; i++)
				m[i] = (i % 4 == 0) +
					stretches[s] * (double)tets.plates[0].tangent[i / 3][t] * (double)tets.plates[0].tangent[i % 3][t];
			loose_tets_transform(&tets, t, m);
		}
		loose_tets_run(&tets, kernel(), dt);
		for (int32_t t = 1; t < tets.tet_count; t += 2) { // those with a correction
			double full = (double)(dt * dt * tets.batches[0].volume[t] * tets.batches[0].mu[t]);
			FEM_CHECK_NEAR((double)tets.world_plates[t].normal.w / full, left[s], 1e-3);
		}
	}
	loose_tets_free(&tets);
}

// Fails when an inverted element is turned by its determinant's sign, or QR takes rows for columns.
FEM_TEST(elements, qr_keeps_the_first_two_directions) {
	uint32_t seed = 30;
	for (int pose = 0; pose < 100; pose++) {
		double r[9];
		float f[9], q[4] = {0.0f, 0.0f, 0.0f, 1.0f};
		random_rotation(&seed, r);
		float squash[3] = {1.2f, 0.7f, -0.5f - 0.4f * fem_random(&seed)}; // third axis inverted
		for (int i = 0; i < 9; i++)
			f[i] = (float)r[i] * squash[i % 3];
		fem_rotation_by_qr(f, q);
		LooseTets one = {.rotation = &(FemVec4){q[0], q[1], q[2], q[3]}};
		double found[9];
		loose_tets_rotation(&one, 0, found);
		FEM_CHECK_NEAR(largest_difference(found, r, 9), 0.0, 1e-5);
	}
}

// Of F S for a turn S of the rest shape it is R S. Fails for QR alone, which knows the axes of the rest shape; and when
// the turn goes the wrong way.
FEM_TEST(elements, rotation_of_the_inverted_knows_no_axes) {
	uint32_t seed = 33;
	for (int pose = 0; pose < 100; pose++) {
		double rotation[2][9], found[2][9], expected[9] = {0};
		float f[2][9];
		random_rotation(&seed, rotation[0]);
		random_rotation(&seed, rotation[1]);
		float squash[3] = {1.2f, 0.7f, -0.3f - 0.2f * fem_random(&seed)};
		for (int i = 0; i < 9; i++)
			f[0][i] = (float)rotation[0][i] * squash[i % 3];
		for (int i = 0; i < 9; i++) {
			f[1][i] = 0.0f;
			for (int k = 0; k < 3; k++) {
				f[1][i] += f[0][i / 3 * 3 + k] * (float)rotation[1][3 * k + i % 3];
				expected[i] += rotation[0][i / 3 * 3 + k] * rotation[1][3 * k + i % 3];
			}
		}
		for (int i = 0; i < 2; i++) {
			float q[4] = {0.0f, 0.0f, 0.0f, 1.0f};
			fem_rotation_of_crushed(f[i], q);
			LooseTets one = {.rotation = &(FemVec4){q[0], q[1], q[2], q[3]}};
			loose_tets_rotation(&one, 0, found[i]);
		}
		FEM_CHECK_NEAR(largest_difference(found[0], rotation[0], 9), 0.0, 1e-3);
		FEM_CHECK_NEAR(largest_difference(found[1], expected, 9), 0.0, 1e-2);
	}
}

// A node pushed through its opposite face is pulled back. Fails when the rotation is not
// found afresh by QR: one that is half a turn off makes the mirrored shape a resting place.
FEM_TEST(elements, inverted_element_pulls_back) {
	LooseTets tets = loose_tets_create(1, 31, false, false);
	for (int32_t t = 0; t < tets.tet_count; t++) {
		static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
		FemBatch *batch = &tets.batches[0];
		for (int k = 0; k < 4; k++)
			tets.position[4 * t + k] = (FemVec4){0.1f * corner[k][0], 0.1f * corner[k][1], 0.1f * corner[k][2], 0.0f};
		for (int k = 0; k < 9; k++)
			batch->gradient[k / 3][k % 3][t] = k % 4 == 0 ? 10.0f : 0.0f;
		tets.position[4 * t + 3].z = -0.01f * (float)(t + 1); // from grazing to fully mirrored
		tets.rotation[t] = (FemVec4){1.0f, 0.0f, 0.0f, 0.0f}; // half a turn off: where a polar rotation would stay
	}
	loose_tets_run(&tets, kernel(), 1.0f / 60.0f);
	for (int32_t t = 0; t < tets.tet_count; t++)
		FEM_CHECK(tets.forces[t].force[3].z > 0.0f);
	loose_tets_free(&tets);
}

// Fails when the stress that cracks are found by lacks its viscous part, or has it unasked: a tet at rest whose nodes
// move apart along x at a rate s has sigma_xx = alpha_K (lambda + 2 mu) s.
FEM_TEST(elements, stress_has_its_viscous_part_when_asked) {
	LooseTets tets = loose_tets_create(1, 50, false, false);
	FemTetStress stress[FEM_LANES];
	const float rate = 2.0f, damping = 0.01f; // 1/s, s
	for (int32_t t = 0; t < tets.tet_count; t++) {
		tets.batches[0].damping[t] = damping;
		tets.rotation[t] = (FemVec4){0.0f, 0.0f, 0.0f, 1.0f};
		for (int k = 0; k < 4; k++) {
			tets.position[4 * t + k] = tets.rest[4 * t + k];
			tets.velocity[4 * t + k] = (FemVec4){rate * tets.rest[4 * t + k].x, 0.0f, 0.0f, 0.0f};
		}
	}
	for (int viscous = 0; viscous < 2; viscous++) {
		FemElementArguments arguments = {.nodes = tets.nodes,
			.batches = tets.batches,
			.rotation = tets.rotation,
			.position = tets.position,
			.velocity = tets.velocity,
			.out_blocks = tets.blocks,
			.out_forces = tets.forces,
			.out_stress = stress,
			.viscous_stress = (float)viscous,
			.dt = 1.0f / 60.0f,
			.end = 1};
		kernel()(&arguments);
		for (int32_t t = 0; t < tets.tet_count; t++) {
			double lambda = tets.batches[0].lambda[t], mu = tets.batches[0].mu[t],
				   unit = damping * rate * (lambda + 2.0 * mu);
			FEM_CHECK_NEAR(stress[t].normal.x / unit, viscous, 1e-3);
			FEM_CHECK_NEAR(stress[t].normal.y / (damping * rate * lambda), viscous, 1e-3);
			FEM_CHECK_NEAR(stress[t].shear.x / unit, 0.0, 1e-3);
		}
	}
	loose_tets_free(&tets);
}
