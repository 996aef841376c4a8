#include "dynamics/rigid_unknowns.h"

#include "base/vec.h"
#include "dynamics/hinged_motion.h"
#include "dynamics/rigid_motion.h"
#include "model/body_step.h"

#include <math.h>
#include <string.h>

// ---- six by six

void fem_factor6(double m[36]) {
	for (int j = 0; j < 6; j++) {
		for (int i = j; i < 6; i++) {
			double sum = m[6 * i + j];
			for (int k = 0; k < j; k++)
				sum -= m[6 * i + k] * m[6 * j + k];
			m[6 * i + j] = i == j ? sqrt(sum > 0.0 ? sum : 1.0) : sum / m[6 * j + j];
		}
	}
}

void fem_solve_factored6(const double m[36], double x[6]) {
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < i; k++)
			x[i] -= m[6 * i + k] * x[k];
		x[i] /= m[6 * i + i];
	}
	for (int i = 5; i >= 0; i--) {
		for (int k = i + 1; k < 6; k++)
			x[i] -= m[6 * k + i] * x[k];
		x[i] /= m[6 * i + i];
	}
}

void fem_add_point6(float out[36], const float d[3], const float arm[3]) {
	const float j[3][3] = {{0.0f, arm[2], -arm[1]}, {-arm[2], 0.0f, arm[0]}, {arm[1], -arm[0], 0.0f}};
	for (int k = 0; k < 3; k++)
		out[7 * k] += d[k];
	for (int c = 0; c < 3; c++) {
		for (int r = 0; r < 3; r++) {
			float cross = d[r] * j[r][c];
			out[6 * (c + 3) + r] += cross;
			out[6 * r + c + 3] += cross;
			out[6 * (c + 3) + r + 3] += j[0][r] * d[0] * j[0][c] + j[1][r] * d[1] * j[1][c] + j[2][r] * d[2] * j[2][c];
		}
	}
}

void fem_add_contact6(
	double out[36], const float normal[3], float normal_strength, float friction_strength, const float arm[3]) {
	const float *n = normal;
	double kt = (double)friction_strength, kn = (double)normal_strength - kt;
	double torque[3], d[3] = {kt, kt, kt}, j[3][6] = {{0.0}};
	for (int k = 0; k < 3; k++) {
		j[k][k] = 1.0;
		j[k][3 + (k + 1) % 3] = (double)arm[(k + 2) % 3];
		j[k][3 + (k + 2) % 3] = -(double)arm[(k + 1) % 3];
		torque[k] = (double)(arm[(k + 1) % 3] * n[(k + 2) % 3] - arm[(k + 2) % 3] * n[(k + 1) % 3]);
	}
	const double along[6] = {n[0], n[1], n[2], torque[0], torque[1], torque[2]};
	for (int r = 0; r < 6; r++) {
		for (int c = 0; c < 6; c++) {
			double sum = kn * along[r] * along[c];
			for (int k = 0; k < 3; k++)
				sum += j[k][r] * d[k] * j[k][c];
			out[6 * r + c] += sum;
		}
	}
}

// ---- of a piece or a collider

void fem_rigid_unknowns_multiply(const FemProxy *rigid, const float x[6], float y[6]) {
	const float *i = rigid->inertia;
	for (int k = 0; k < 3; k++)
		y[k] = rigid->mass * x[k];
	y[3] = i[0] * x[3] + i[3] * x[4] + i[5] * x[5];
	y[4] = i[3] * x[3] + i[1] * x[4] + i[4] * x[5];
	y[5] = i[5] * x[3] + i[4] * x[4] + i[2] * x[5];
	for (int c = 0; rigid->extra && c < 6; c++) {
		for (int r = 0; r < 6; r++)
			y[r] += rigid->extra[6 * c + r] * x[c];
	}
}

void fem_rigid_unknowns_weigh(const FemProxy *rigid, double out[36]) {
	static const int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}}; // in xx yy zz xy yz zx
	for (int k = 0; k < 36; k++)
		out[k] = rigid->extra ? (double)rigid->extra[k] : 0.0;
	for (int k = 0; k < 9; k++) {
		out[7 * (k / 3)] += k % 3 == 0 ? (double)rigid->mass : 0.0;
		out[6 * (k / 3 + 3) + k % 3 + 3] += (double)rigid->inertia[place[k / 3][k % 3]];
	}
}

// ---- pieces

static void set_motion(FemProxy *out, const double center[3], const double spin[3], const double inertia[9]) {
	for (int i = 0; i < 3; i++) {
		out->center[i] = (float)center[i];
		out->spin[i] = (float)spin[i];
		out->inertia[i] = (float)inertia[4 * i];
		out->inertia[i + 3] = (float)inertia[3 * i + (i + 1) % 3];
	}
}

FemProxy fem_rigid_unknowns_open(const FemBody *body, FemRange nodes) {
	return fem_rigid_unknowns_open_group(body, &nodes, 1);
}

FemProxy fem_rigid_unknowns_of_sums(const FemMotionSums *sums) {
	FemProxy out = {0};
	double c[3], l[3], w[3], inertia[9];
	fem_sums_center(sums, c);
	if (!fem_sums_inertia(sums, c, inertia)) // no such piece is made rigid
		return out;
	fem_about_center(sums->angular, sums->momentum, c, l);
	fem_sums_solve_inertia(sums, c, l, w);
	out.mass = (float)sums->mass;
	set_motion(&out, c, w, inertia);
	for (int i = 0; i < 3; i++)
		out.velocity[i] = (float)(sums->momentum[i] / sums->mass);
	return out;
}

FemProxy fem_rigid_unknowns_open_group(const FemBody *body, const FemRange *nodes, int32_t count) {
	FemMotionSums sums = {.finite = true};
	for (int32_t k = 0; k < count; k++)
		fem_sums_add_nodes(&sums, body, nodes[k]);
	return fem_rigid_unknowns_of_sums(&sums);
}

// Leaves the inertia I about the axis a of a line of pins as it is: (a.I a) a a^T + s (1 - a a^T).
static void stiffen(const double a[3], double inertia[9]) {
	double about = 0.0, held = FEM_HINGE_STIFFNESS * (inertia[0] + inertia[4] + inertia[8]);
	for (int k = 0; k < 9; k++)
		about += a[k / 3] * inertia[k] * a[k % 3];
	for (int k = 0; k < 9; k++)
		inertia[k] = (about - held) * a[k / 3] * a[k % 3] + (k % 4 == 0 ? held : 0.0);
}

FemProxy fem_rigid_unknowns_open_pinned(const FemBody *body, FemRange nodes) {
	FemProxy out = {0};
	FemHinge hinge;
	double inertia[9], spin[3], mass = 0.0;
	if (!fem_hinge_of_piece(body, nodes, &hinge) || !fem_hinge_motion(body, nodes, &hinge, inertia, spin))
		return out;
	for (int32_t i = nodes.begin; i < nodes.end; i++)
		mass += (double)body->mass[i];
	if (hinge.is_line)
		stiffen(hinge.axis, inertia);
	out.mass = (float)(FEM_HINGE_STIFFNESS * mass);
	set_motion(&out, hinge.point, spin, inertia);
	return out;
}

static void arm_of(const FemProxy *rigid, const FemBody *body, int32_t node, float out[3]) {
	const float *x = &body->position[node].x;
	for (int k = 0; k < 3; k++)
		out[k] = x[k] - rigid->center[k];
}

// N s: what acts on a node but contacts, at dv = 0.
static FemVec4 load_of_node(const FemBody *body, int32_t node) {
	FemVec4 b = body->step->rhs[node], v = body->velocity[node], ground = body->step->ground[node];
	return (FemVec4){b.x - ground.z * v.x, b.y + ground.x * (ground.y - v.y), b.z - ground.z * v.z, 0.0f};
}

void fem_rigid_unknowns_load(FemProxy *rigid, float extra[36], const FemBody *body, FemRange nodes) {
	fem_rigid_unknowns_load_group(rigid, extra, body, &nodes, 1);
}

static void add_loads(FemProxy *rigid, float extra[36], const FemBody *body, FemRange nodes, double sum[6]) {
	for (int32_t i = nodes.begin; i < nodes.end && rigid->mass > 0.0f; i++) {
		FemVec4 load = load_of_node(body, i), d = body->step->diagonal[i];
		float arm[3], m = body->mass[i], added[3] = {d.x - m, d.y - m, d.z - m};
		const double j[3] = {load.x, load.y, load.z};
		arm_of(rigid, body, i, arm);
		for (int k = 0; k < 3; k++) {
			sum[k] += j[k];
			sum[k + 3] += (double)arm[(k + 1) % 3] * j[(k + 2) % 3] - (double)arm[(k + 2) % 3] * j[(k + 1) % 3];
		}
		if (added[0] == 0.0f && added[1] == 0.0f && added[2] == 0.0f)
			continue;
		fem_add_point6(extra, added, arm);
		rigid->extra = extra;
	}
}

void fem_rigid_unknowns_load_group(
	FemProxy *rigid, float extra[36], const FemBody *body, const FemRange *nodes, int32_t count) {
	double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
	rigid->extra = NULL;
	memset(extra, 0, 36 * sizeof *extra);
	for (int32_t k = 0; k < count; k++)
		add_loads(rigid, extra, body, nodes[k], sum);
	for (int k = 0; k < 6; k++)
		rigid->impulse[k] = (float)sum[k];
}

void fem_rigid_unknowns_spread(const FemProxy *rigid, FemBody *body, FemRange nodes) {
	for (int32_t i = nodes.begin; i < nodes.end && rigid->mass > 0.0f; i++) {
		float arm[3], v[3] = {rigid->dv[0], rigid->dv[1], rigid->dv[2]};
		arm_of(rigid, body, i, arm);
		fem_cross_add(v, rigid->dv + 3, arm);
		body->step->dv[i] = (FemVec4){v[0], v[1], v[2], 0.0f};
	}
}

void fem_rigid_unknowns_residual(FemBody *body, FemRange nodes) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 load = load_of_node(body, i), d = body->step->diagonal[i], dv = body->step->dv[i];
		body->step->residual[i] = (FemVec4){load.x - d.x * dv.x, load.y - d.y * dv.y, load.z - d.z * dv.z, 0.0f};
	}
}
