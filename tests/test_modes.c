// Modes of shapes at rest against theory (suite `modes`): beams of Bernoulli and Timoshenko, Leissa's square plate, the
// chimes of O'Brien et al. 2002.
#include "fem_destruction.h"
#include "fem_modes.h"
#include "fem_test.h"
#include "modes/mode_matrix.h"
#include "scenes/box_mesh.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

typedef struct Shape {
	FemBoxMesh mesh;
	float *plates;
	uint8_t *pinned;
} Shape;

static Shape box(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, FemCellKind kind, bool plates) {
	Shape shape = {.mesh = fem_box_mesh(nx, ny, nz, size, kind)};
	shape.plates = plates ? malloc(sizeof *shape.plates * (size_t)shape.mesh.tet_count) : NULL;
	shape.pinned = calloc((size_t)shape.mesh.node_count, 1);
	for (int32_t t = 0; plates && t < shape.mesh.tet_count; t++)
		shape.plates[t] = 1.0f;
	return shape;
}

static void free_shape(Shape *shape) {
	fem_box_mesh_free(&shape->mesh);
	free(shape->plates);
	free(shape->pinned);
}

static FemModesDef def_of(const Shape *shape, const FemModeMaterial *material, int32_t count) {
	FemModesDef def = fem_default_modes_def();
	def.node_count = shape->mesh.node_count;
	def.node_positions = shape->mesh.positions;
	def.tet_count = shape->mesh.tet_count;
	def.tets = shape->mesh.tets;
	def.tet_plates = shape->plates;
	def.pinned_nodes = shape->pinned;
	def.materials = material;
	def.material_count = 1;
	def.mode_count = count;
	return def;
}

static FemModes modes_of(const Shape *shape, const FemModeMaterial *material, int32_t count) {
	FemModesDef def = def_of(shape, material, count);
	FemModes modes;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_OK);
	return modes;
}

static const FemModeMaterial aluminium = {6.8e10f, 0.33f, 2700.0f};

// ---- beams

// Hz, of a slender beam: root 4.730 for the lowest free one, 1.875 for one clamped at one end.
static double slender_frequency(double root, double length, double height, const FemModeMaterial *m) {
	return root * root / (2.0 * PI * length * length) *
		sqrt((double)m->young_modulus * height * height / (12.0 * (double)m->density));
}

typedef struct Section {
	double second_moment; // of area over area, m^2
	double shear_share;   // Cowper's
} Section;

// det of the two conditions at a free end of the symmetric modes w = A cosh(p x) + B cos(q x) of a Timoshenko beam.
static double free_end(double omega, double length, const Section *s, const FemModeMaterial *m) {
	double e = (double)m->young_modulus, rho = (double)m->density, g = e / (2.0 * (1.0 + (double)m->poisson_ratio));
	double shear = rho * omega * omega / (s->shear_share * g), stretch = rho * omega * omega / e;
	double b = shear + stretch, c = shear * stretch - rho * omega * omega / (e * s->second_moment);
	double root = sqrt(b * b - 4.0 * c), p = sqrt((root - b) / 2.0), q = sqrt((root + b) / 2.0), x = length / 2.0;
	// Slopes of the section: (p^2 + shear) / p sinh(p x) and -(q^2 - shear) / q sin(q x).
	double bend_p = (p * p + shear) * cosh(p * x), bend_q = -(q * q - shear) * cos(q * x);
	double shear_p = (p - (p * p + shear) / p) * sinh(p * x), shear_q = (-q + (q * q - shear) / q) * sin(q * x);
	return bend_p * shear_q - bend_q * shear_p;
}

// Hz, the lowest of a free beam with shear and rotary inertia.
static double thick_frequency(double length, const Section *s, const FemModeMaterial *m) {
	double low = 0.3, high = 1.05,
		   slender = slender_frequency(4.73004074, length, sqrt(12.0 * s->second_moment), m) * 2.0 * PI;
	double sign = free_end(low * slender, length, s, m);
	for (int i = 0; i < 60; i++) {
		double middle = 0.5 * (low + high);
		if (free_end(middle * slender, length, s, m) * sign > 0.0)
			low = middle;
		else
			high = middle;
	}
	return low * slender / (2.0 * PI);
}

FEM_TEST(modes, free_beam_of_plate_cells) {
	Shape beam = box(40, 1, 2, (FemVec3){1.0f, 0.02f, 0.04f}, FEM_CELLS_FIVE, true);
	FemModes modes = modes_of(&beam, &aluminium, 6);
	double flat = slender_frequency(4.73004074, 1.0, 0.02, &aluminium), upright = 2.0 * flat;
	FEM_CHECK_INT(modes.rigid_count, 6);
	FEM_REQUIRE(modes.mode_count == 6);
	FEM_CHECK_NEAR(fem_mode_frequency(&modes, 0), flat, 0.01 * flat);
	FEM_CHECK_NEAR(fem_mode_frequency(&modes, 1), upright, 0.015 * upright);
	double second = slender_frequency(7.85320462, 1.0, 0.02, &aluminium);
	FEM_CHECK_NEAR(fem_mode_frequency(&modes, 2), second, 0.02 * second);
	FEM_CHECK(fem_mode_frequency(&modes, 6) == 0.0 && fem_mode_frequency(&modes, -1) == 0.0);
	fem_modes_free(&modes);
	free_shape(&beam);
}

// Eight tets through the height: constant strain is too stiff in bending by 14 % with two and by 4 % with four.
FEM_TEST(modes, free_beam_of_tets) {
	const Section square = {0.01 / 12.0, 10.0 * 1.33 / (12.0 + 11.0 * 0.33)};
	double theory = thick_frequency(1.0, &square, &aluminium), last = 1e9;
	for (int n = 2; n <= 8; n *= 2) {
		Shape beam = box(10 * n, n, n, (FemVec3){1.0f, 0.1f, 0.1f}, FEM_CELLS_FIVE, false);
		FemModes modes = modes_of(&beam, &aluminium, 2);
		double frequency = fem_mode_frequency(&modes, 0);
		FEM_CHECK_NEAR(fem_mode_frequency(&modes, 1), frequency, 1e-6 * frequency); // the other way, found as well
		FEM_CHECK(frequency < last && (n < 8 || fabs(frequency - theory) < 0.02 * theory));
		printf("  %d tets through the height: %.1f Hz, theory %.1f\n", n, frequency, theory);
		last = frequency;
		fem_modes_free(&modes);
		free_shape(&beam);
	}
}

FEM_TEST(modes, clamped_beam) {
	Shape beam = box(40, 1, 2, (FemVec3){1.0f, 0.02f, 0.04f}, FEM_CELLS_FIVE, true);
	for (int n = 0; n < 6; n++) // the face x = 0
		beam.pinned[n] = 1;
	FemModes modes = modes_of(&beam, &aluminium, 6);
	double flat = slender_frequency(1.87510407, 1.0, 0.02, &aluminium);
	FEM_CHECK_INT(modes.rigid_count, 0);
	FEM_CHECK_NEAR(fem_mode_frequency(&modes, 0), flat, 0.02 * flat);
	FEM_CHECK_NEAR(fem_mode_frequency(&modes, 1), 2.0 * flat, 0.02 * 2.0 * flat);
	FEM_CHECK(modes.shapes[0] == 0.0f && modes.shapes[17] == 0.0f && modes.shapes[3 * 240] != 0.0f);
	fem_modes_free(&modes);
	free_shape(&beam);
}

// omega a^2 sqrt(rho h / D) of a free square plate with nu = 0.3: Leissa 1973, made exact by Liew et al. 1993.
FEM_TEST(modes, square_plate) {
	const double theory[3] = {13.468, 19.596, 24.270};
	const FemModeMaterial steel = {2.1e11f, 0.3f, 7850.0f};
	double h = 0.005, d = 2.1e11 * h * h * h / (12.0 * (1.0 - 0.09));
	Shape plate = box(16, 1, 16, (FemVec3){1.0f, (float)h, 1.0f}, FEM_CELLS_FIVE, true);
	FemModes modes = modes_of(&plate, &steel, 6);
	for (int k = 0; k < 3; k++)
		FEM_CHECK_NEAR(fem_mode_frequency(&modes, k) * 2.0 * PI * sqrt(7850.0 * h / d), theory[k], 0.02 * theory[k]);
	FEM_CHECK_NEAR(fem_mode_frequency(&modes, 3), fem_mode_frequency(&modes, 4), 1e-4 * fem_mode_frequency(&modes, 3));
	fem_modes_free(&modes);
	free_shape(&plate);
}

// ---- chimes

static Shape tube(int32_t around, int32_t along, double length, double outer, double wall) {
	Shape shape = box(along, around, 1, (FemVec3){(float)length, 1.0f, 1.0f}, FEM_CELLS_FIVE, true);
	FemBoxMesh *mesh = &shape.mesh;
	int32_t *name = malloc(sizeof *name * (size_t)mesh->node_count), count = 0;
	for (int32_t n = 0; n < mesh->node_count; n++) {
		int32_t i = n / ((around + 1) * 2), j = n / 2 % (around + 1), k = n % 2;
		double angle = 2.0 * PI * j / around, radius = k ? outer : outer - wall;
		FemVec3 p = {(float)(length * i / along), (float)(radius * cos(angle)), (float)(radius * sin(angle))};
		name[n] = j < around ? count : name[(i * (around + 1)) * 2 + k];
		if (j < around)
			mesh->positions[count++] = p;
	}
	for (int32_t t = 0; t < 4 * mesh->tet_count; t++)
		mesh->tets[t] = name[mesh->tets[t]];
	free(name);
	mesh->node_count = count;
	return shape;
}

// Table 2 of O'Brien et al. 2002: lengths (m), measured and Timoshenko's frequencies (Hz).
FEM_TEST(modes, chimes) {
	static const struct {
		const char *note;
		double length, measured, beam;
	} chimes[6] = {{"D3", 0.505, 585.8, 587.6}, {"E3", 0.475, 656.0, 662.8}, {"G3", 0.435, 781.8, 787.8},
		{"A4", 0.410, 877.5, 884.6}, {"B4", 0.388, 982.5, 985.2}, {"D4", 0.353, 1167.0, 1184.2}};
	double outer = 0.0125, inner = 0.0115;
	const Section ring = {(outer * outer + inner * inner) / 4.0, 2.0 * 1.33 / (4.0 + 3.0 * 0.33)};
	for (int i = 0; i < 6; i++) {
		Shape chime = tube(24, 32, chimes[i].length, outer, outer - inner);
		FemModes modes = modes_of(&chime, &aluminium, 4);
		double frequency = fem_mode_frequency(&modes, 0), theory = thick_frequency(chimes[i].length, &ring, &aluminium);
		printf("  %s: %.1f Hz, beam %.1f, measured %.1f\n", chimes[i].note, frequency, theory, chimes[i].measured);
		FEM_CHECK_NEAR(theory, chimes[i].beam, 0.004 * theory);
		FEM_CHECK_NEAR(frequency, theory, 0.02 * theory);
		FEM_CHECK_NEAR(frequency, chimes[i].measured, 0.025 * chimes[i].measured);
		fem_modes_free(&modes);
		free_shape(&chime);
	}
}

// ---- laws

FEM_TEST(modes, scaling_laws) {
	Shape small = box(6, 2, 3, (FemVec3){0.05f, 0.02f, 0.03f}, FEM_CELLS_FIVE, false);
	Shape large = box(6, 2, 3, (FemVec3){0.5f, 0.2f, 0.3f}, FEM_CELLS_FIVE, false);
	const FemModeMaterial other = {6.8e10f * 0.5f, 0.33f, 2700.0f * 3.0f};
	FemModesDef def = def_of(&small, &aluminium, 12);
	def.frequency_max = 0.0f;
	FemModes modes, anew;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_OK);
	def = def_of(&large, &other, 12);
	def.frequency_max = 0.0f;
	FEM_CHECK_INT(fem_modes_compute(&def, &anew), FEM_OK);
	FEM_CHECK_INT(fem_modes_scale(&modes, 0.5f, 3.0f, 10.0f), FEM_OK);
	FEM_REQUIRE(modes.mode_count == 12 && anew.mode_count == 12);
	for (int k = 0; k < 12; k++) {
		double square = 0.0, square_anew = 0.0;
		FEM_CHECK_NEAR(
			fem_mode_frequency(&modes, k), fem_mode_frequency(&anew, k), 1e-4 * fem_mode_frequency(&anew, k));
		FEM_CHECK_NEAR(modes.radiation[k], anew.radiation[k], 1e-3 * (double)anew.radiation[k]);
		for (int i = 0; i < 3 * modes.node_count; i++) {
			square += pow((double)modes.shapes[k * 3 * modes.node_count + i], 2.0);
			square_anew += pow((double)anew.shapes[k * 3 * modes.node_count + i], 2.0);
		}
		FEM_CHECK_NEAR(square, square_anew, 1e-3 * square_anew);
	}
	FEM_CHECK_NEAR(modes.material.density, 8100.0, 0.01);
	FEM_CHECK(fem_modes_scale(&modes, -1.0f, 1.0f, 1.0f) == FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK(fem_modes_scale(&modes, 1.0f, (float)NAN, 1.0f) == FEM_ERROR_INVALID_ARGUMENT);
	fem_modes_free(&modes);
	fem_modes_free(&anew);
	free_shape(&small);
	free_shape(&large);
}

static double mass_product(const FemModes *modes, const FemModeMatrix *matrix, int a, int b) {
	double sum = 0.0;
	for (int i = 0; i < modes->node_count; i++) {
		const float *u = modes->shapes + ((size_t)a * (size_t)modes->node_count + (size_t)i) * 3;
		const float *v = modes->shapes + ((size_t)b * (size_t)modes->node_count + (size_t)i) * 3;
		sum +=
			matrix->mass[i] * ((double)u[0] * (double)v[0] + (double)u[1] * (double)v[1] + (double)u[2] * (double)v[2]);
	}
	return sum;
}

FEM_TEST(modes, shapes_are_orthonormal_in_mass) {
	Shape beam = box(12, 3, 3, (FemVec3){1.0f, 0.2f, 0.2f}, FEM_CELLS_FIVE, false);
	FemModesDef def = def_of(&beam, &aluminium, 16);
	FemModeMatrix matrix;
	FemModes modes = modes_of(&beam, &aluminium, 16);
	FEM_REQUIRE(fem_mode_matrix_create(&matrix, &def) == FEM_OK);
	for (int a = 0; a < modes.mode_count; a++) {
		for (int b = 0; b <= a; b++)
			FEM_CHECK_NEAR(mass_product(&modes, &matrix, a, b), a == b ? 1.0 : 0.0, 2e-6);
	}
	fem_mode_matrix_free(&matrix);
	fem_modes_free(&modes);
	free_shape(&beam);
}

// With all its modes a held body gives way to a force as K u = f says.
FEM_TEST(modes, full_basis_is_the_direct_solution) {
	Shape block = box(3, 2, 2, (FemVec3){0.3f, 0.2f, 0.2f}, FEM_CELLS_FIVE, false);
	const FemModeMaterial soft = {1e6f, 0.3f, 1000.0f};
	for (int n = 0; n < 9; n++)
		block.pinned[n] = 1;
	FemModesDef def = def_of(&block, &soft, FEM_MODES_MAX);
	def.frequency_max = 0.0f;
	FemModes modes;
	FemModeMatrix matrix;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_OK);
	FEM_CHECK_INT(modes.mode_count, 3 * (block.mesh.node_count - 9)); // fewer than asked for: there are no more
	FEM_REQUIRE(fem_mode_matrix_create(&matrix, &def) == FEM_OK);
	int unknowns = 3 * matrix.node_count, struck = 3 * matrix.free_of_user[31] + 1;
	double(*x)[FEM_SOLVE_SIDES] = calloc((size_t)unknowns, sizeof *x),
	(*y)[FEM_SOLVE_SIDES] = calloc((size_t)unknowns, sizeof *y);
	for (int k = 0; k < modes.mode_count; k++) {
		const float *w = modes.shapes + (size_t)k * 3 * (size_t)modes.node_count;
		double z = (double)w[3 * 31 + 1] / modes.eigenvalues[k]; // of 1 N along y at node 31
		for (int u = 0; u < unknowns; u++)
			x[u][0] += z * (double)w[3 * matrix.user_of_free[u / 3] + u % 3] * matrix.root_mass[u / 3];
	}
	fem_mode_matrix_apply(&matrix, x, y);
	for (int u = 0; u < unknowns; u++)
		FEM_CHECK_NEAR(y[u][0] * matrix.root_mass[u / 3], u == struck ? 1.0 : 0.0, 1e-5);
	free(x);
	free(y);
	fem_mode_matrix_free(&matrix);
	fem_modes_free(&modes);
	free_shape(&block);
}

// ---- rigid motions

FEM_TEST(modes, rigid_motions_are_set_apart) {
	static const int pins[4] = {0, 1, 2, 6};
	static const int left[5] = {6, 3, 1, 0, 0}; // with so many of these pins
	Shape block = box(3, 2, 2, (FemVec3){0.3f, 0.2f, 0.2f}, FEM_CELLS_FIVE, false);
	for (int count = 0; count <= 4; count++) {
		if (count > 0)
			block.pinned[pins[count - 1]] = 1;
		FemModes modes = modes_of(&block, &aluminium, 4);
		// Three pins in a line hold no more than two.
		FEM_CHECK_INT(modes.rigid_count, count == 3 ? 1 : left[count == 4 ? 3 : count]);
		FEM_CHECK(modes.mode_count > 0 && fem_mode_frequency(&modes, 0) > 100.0);
		fem_modes_free(&modes);
	}
	free_shape(&block);
	FemBoxMesh one = fem_box_mesh(6, 3, 3, (FemVec3){0.4f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	Shape two = {.mesh = fem_box_mesh_row(&one, 2, (FemVec3){1.0f, 0.0f, 0.0f})};
	two.pinned = calloc((size_t)two.mesh.node_count, 1);
	FemModes modes = modes_of(&two, &aluminium, 8);
	FEM_CHECK_INT(modes.rigid_count, 12);
	for (int k = 0; k < 8; k += 2) // each frequency once a piece
		FEM_CHECK_NEAR(
			fem_mode_frequency(&modes, k), fem_mode_frequency(&modes, k + 1), 1e-4 * fem_mode_frequency(&modes, k));
	fem_modes_free(&modes);
	fem_box_mesh_free(&one);
	free_shape(&two);
}

// Two boxes that share an edge turn about it for nothing.
FEM_TEST(modes, a_hinge_is_no_mode) {
	FemBoxMesh one = fem_box_mesh(2, 2, 2, (FemVec3){0.2f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemBoxMesh two = fem_box_mesh_row(&one, 2, (FemVec3){0.2f, 0.2f, 0.0f});
	Shape shape = {.mesh = two, .pinned = calloc((size_t)two.node_count, 1)};
	int32_t *name = malloc(sizeof *name * (size_t)two.node_count), count = 0;
	for (int32_t n = 0; n < two.node_count; n++) {
		name[n] = count;
		for (int32_t m = 0; m < one.node_count && n >= one.node_count; m++) {
			FemVec3 a = two.positions[m], b = two.positions[n];
			if (fabsf(a.x - b.x) + fabsf(a.y - b.y) + fabsf(a.z - b.z) < 1e-4f)
				name[n] = name[m];
		}
		if (name[n] == count)
			shape.mesh.positions[count++] = two.positions[n];
	}
	for (int32_t i = 0; i < 4 * two.tet_count; i++)
		shape.mesh.tets[i] = name[two.tets[i]];
	shape.mesh.node_count = count;
	FEM_CHECK_INT(count, 2 * one.node_count - 3);
	FemModes modes = modes_of(&shape, &aluminium, 4);
	FEM_CHECK_INT(modes.rigid_count, 7);
	FEM_CHECK(fem_mode_frequency(&modes, 0) > 100.0);
	fem_modes_free(&modes);
	free(name);
	fem_box_mesh_free(&one);
	shape.mesh.node_count = two.node_count;
	free_shape(&shape);
}

// ---- rules, jobs, bad input

FEM_TEST(modes, discarded_by_the_two_rules) {
	Shape beam = box(12, 2, 2, (FemVec3){1.0f, 0.1f, 0.1f}, FEM_CELLS_FIVE, false);
	const FemModeMaterial rubber = {1e6f, 0.4f, 1000.0f};
	FemModes modes = modes_of(&beam, &rubber, 40);
	FEM_REQUIRE(modes.mode_count == 40);
	int before = fem_modes_discard(&modes, 30.0f, 0.0f, 0.0f);
	FEM_CHECK_INT(modes.mode_count, before);
	FEM_CHECK(before > 4 && before < 40 && fem_mode_frequency(&modes, before - 1) <= 30.0);
	// A newton moves the softest place of a mode by |w|^2 / lambda.
	FEM_CHECK(fem_modes_discard(&modes, 0.0f, 1e-4f, 1.0f) < before);
	FEM_CHECK(modes.mode_count > 0);
	before = modes.mode_count;
	FEM_CHECK_INT(fem_modes_discard(&modes, 0.0f, 1e-4f, 6e4f), before);
	FEM_CHECK_INT(fem_modes_discard(&modes, 1e-3f, 0.0f, 0.0f), 0);
	fem_modes_free(&modes);
	free_shape(&beam);
}

FEM_TEST(modes, only_what_is_heard) {
	Shape beam = box(12, 2, 2, (FemVec3){1.0f, 0.1f, 0.1f}, FEM_CELLS_FIVE, false);
	FemModesDef def = def_of(&beam, &aluminium, 100);
	FemModes all, low;
	def.frequency_max = 0.0f;
	FEM_CHECK_INT(fem_modes_compute(&def, &all), FEM_OK);
	def.frequency_max = 3000.0f;
	FEM_CHECK_INT(fem_modes_compute(&def, &low), FEM_OK);
	int expected = 0;
	while (fem_mode_frequency(&all, expected) <= 3000.0)
		expected++;
	FEM_CHECK(expected > 3 && all.mode_count == 100);
	FEM_CHECK_INT(low.mode_count, expected);
	for (int k = 0; k < expected; k++)
		FEM_CHECK_NEAR(fem_mode_frequency(&low, k), fem_mode_frequency(&all, k), 1e-6 * fem_mode_frequency(&all, k));
	fem_modes_free(&all);
	fem_modes_free(&low);
	free_shape(&beam);
}

FEM_TEST(modes, job_gives_the_same_and_can_be_cancelled) {
	Shape beam = box(16, 5, 5, (FemVec3){1.0f, 0.2f, 0.2f}, FEM_CELLS_FIVE, false);
	FemModesDef def = def_of(&beam, &aluminium, 20);
	FemModes modes = modes_of(&beam, &aluminium, 20), other;
	FemModesJob *job = fem_modes_start(&def);
	FEM_REQUIRE(job);
	while (!fem_modes_is_done(job))
		FEM_CHECK(fem_modes_share(job) >= 0.0f && fem_modes_share(job) <= 1.0f);
	FEM_CHECK_INT(fem_modes_finish(job, &other), FEM_OK);
	FEM_CHECK_INT(other.mode_count, 20);
	FEM_CHECK(memcmp(modes.eigenvalues, other.eigenvalues, 20 * sizeof(double)) == 0);
	fem_modes_free(&other);
	def.mode_count = 300;
	job = fem_modes_start(&def);
	FEM_REQUIRE(job);
	fem_modes_cancel(job);
	FEM_CHECK_INT(fem_modes_finish(job, &other), FEM_ERROR_LIMIT);
	FEM_CHECK_INT(other.mode_count, 0);
	FEM_CHECK(fem_modes_is_done(NULL) && fem_modes_share(NULL) == 0.0f);
	fem_modes_cancel(NULL);
	FEM_CHECK_INT(fem_modes_finish(NULL, &other), FEM_ERROR_INVALID_ARGUMENT);
	fem_modes_free(&modes);
	free_shape(&beam);
}

static int32_t count_of(const Shape *shape, int32_t wanted) {
	FemModes modes;
	FemModesDef def = def_of(shape, &aluminium, wanted);
	def.frequency_max = 0.0f;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_OK);
	int32_t count = modes.mode_count;
	for (int32_t k = 0; k < count; k++)
		FEM_CHECK(isfinite(modes.eigenvalues[k]) && modes.eigenvalues[k] > 0.0 && isfinite((double)modes.radiation[k]));
	fem_modes_free(&modes);
	return count;
}

FEM_TEST(modes, small_and_held_shapes) {
	FemVec3 corners[4] = {{0.0f, 0.0f, 0.0f}, {0.1f, 0.0f, 0.0f}, {0.0f, 0.1f, 0.0f}, {0.0f, 0.0f, 0.1f}};
	int32_t tet[4] = {0, 1, 2, 3};
	uint8_t pinned[4] = {0, 0, 0, 0};
	Shape one = {.mesh = {.node_count = 4, .tet_count = 1, .positions = corners, .tets = tet}, .pinned = pinned};
	FEM_CHECK_INT(count_of(&one, 60), 6);
	FEM_CHECK_INT(count_of(&one, 2), 2);
	pinned[1] = pinned[2] = 1;
	FEM_CHECK_INT(count_of(&one, 60), 5); // two free nodes, and one way to turn
	pinned[3] = 1;
	FEM_CHECK_INT(count_of(&one, 60), 3);
	pinned[0] = 1;
	FEM_CHECK_INT(count_of(&one, 60), 0);
	Shape block = box(4, 3, 3, (FemVec3){0.4f, 0.3f, 0.3f}, FEM_CELLS_FIVE, false);
	FEM_CHECK_INT(count_of(&block, FEM_MODES_MAX), 3 * block.mesh.node_count - 6);
	free_shape(&block);
}

FEM_TEST(modes, bad_input_is_refused) {
	Shape block = box(2, 2, 2, (FemVec3){0.4f, 0.3f, 0.3f}, FEM_CELLS_FIVE, false);
	FemModes modes;
	FemModesDef good = def_of(&block, &aluminium, 4), def = good;
	FEM_CHECK_INT(fem_modes_compute(NULL, &modes), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_modes_compute(&def, NULL), FEM_ERROR_INVALID_ARGUMENT);
	def.mode_count = 0;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_ERROR_INVALID_ARGUMENT);
	def.mode_count = FEM_MODES_MAX + 1;
	FEM_CHECK(!fem_modes_start(&def));
	def = good;
	def.materials = NULL;
	FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_ERROR_INVALID_ARGUMENT);
	const FemModeMaterial bad[4] = {
		{(float)NAN, 0.3f, 1.0f}, {1e6f, 0.5f, 1.0f}, {1e6f, 0.3f, 0.0f}, {-1.0f, 0.3f, 1.0f}};
	for (int i = 0; i < 4; i++) {
		def = good;
		def.materials = &bad[i];
		FEM_CHECK_INT(fem_modes_compute(&def, &modes), FEM_ERROR_INVALID_ARGUMENT);
		FEM_CHECK(strstr(fem_last_error(), "Young's modulus") && modes.mode_count == 0);
	}
	def = good;
	def.tet_count = 0;
	FEM_CHECK(fem_modes_compute(&def, &modes) != FEM_OK);
	block.mesh.positions[3].x = (float)NAN;
	FEM_CHECK(fem_modes_compute(&good, &modes) != FEM_OK);
	free_shape(&block);
}

FEM_TEST(modes, time_of_many) {
	Shape block = box(10, 6, 8, (FemVec3){0.5f, 0.3f, 0.4f}, FEM_CELLS_KUHN, false); // 2,880 tets
	double begin = fem_test_cpu_ms();
	FemModes modes = modes_of(&block, &aluminium, 60);
	FEM_CHECK_TIME(fem_test_cpu_ms() - begin, 2000.0);
	FEM_CHECK_INT(modes.mode_count, 60);
	fem_modes_free(&modes);
	if (getenv("FEM_LONG")) {
		begin = fem_test_cpu_ms();
		modes = modes_of(&block, &aluminium, 200);
		FEM_CHECK_TIME(fem_test_cpu_ms() - begin, 8000.0);
		FEM_CHECK_INT(modes.mode_count, 200);
		fem_modes_free(&modes);
	}
	free_shape(&block);
}
