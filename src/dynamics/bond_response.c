#include "dynamics/bond_response.h"

#include "dynamics/rigid_unknowns.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-3      // of the energy norm: forces within a hundredth; chosen
#define ITERATIONS_MOST 200 // a response that has not gone further has no part in the blow; chosen

size_t fem_bond_net_bytes(int32_t pieces, int32_t links) {
	size_t count = (size_t)pieces;
	return fem_align_up(sizeof(FemBondLink) * (size_t)links) + fem_align_up(sizeof(FemMotionSums) * count) +
		fem_align_up(3 * sizeof(double) * count) + fem_align_up(9 * sizeof(double) * count) +
		5 * fem_align_up(6 * sizeof(double) * count) + fem_align_up(36 * sizeof(double) * count);
}

FemBondNet fem_bond_net_take(FemArena *arena, int32_t pieces, int32_t links) {
	size_t count = (size_t)pieces;
	FemBondNet net = {.links = FEM_ARENA_TAKE(arena, FemBondLink, links)};
	net.sums = FEM_ARENA_TAKE(arena, FemMotionSums, count);
	net.centers = FEM_ARENA_TAKE(arena, double, 3 * count);
	net.inertia = FEM_ARENA_TAKE(arena, double, 9 * count);
	net.load = FEM_ARENA_TAKE(arena, double, 6 * count);
	net.response = FEM_ARENA_TAKE(arena, double, 6 * count);
	net.residual = FEM_ARENA_TAKE(arena, double, 6 * count);
	net.direction = FEM_ARENA_TAKE(arena, double, 6 * count);
	net.product = FEM_ARENA_TAKE(arena, double, 6 * count);
	net.factors = FEM_ARENA_TAKE(arena, double, 36 * count);
	return net;
}

void fem_bond_net_set_piece(FemBondNet *net, int32_t piece, const FemMotionSums *sums) {
	net->sums[piece] = *sums;
	fem_sums_center(sums, net->centers + 3 * (int64_t)piece);
	if (!fem_sums_inertia(sums, net->centers + 3 * (int64_t)piece, net->inertia + 9 * (int64_t)piece))
		memset(net->inertia + 9 * (int64_t)piece, 0, 9 * sizeof(double));
	memset(net->response + 6 * (int64_t)piece, 0, 6 * sizeof(double));
}

// out += w x r
static void cross_add(double out[3], const double w[3], const double r[3]) {
	for (int k = 0; k < 3; k++)
		out[k] += w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
}

double fem_bond_net_rigid(const FemBondNet *net) {
	FemMotionSums all = {.finite = true};
	double center[3], torque[3], spin[3], sum = 0.0;
	for (int32_t i = 0; i < net->piece_count; i++) {
		const FemMotionSums *sums = &net->sums[i];
		const double *load = net->load + 6 * (int64_t)i;
		all.mass += sums->mass;
		for (int k = 0; k < 3; k++) {
			all.moment[k] += sums->moment[k];
			all.second[k] += sums->second[k];
			all.second[k + 3] += sums->second[k + 3];
			all.impulse[k] += load[k];
			all.torque[k] += load[3 + k];
		}
		cross_add(all.torque, net->centers + 3 * (int64_t)i, load);
	}
	fem_sums_center(&all, center);
	fem_about_center(all.torque, all.impulse, center, torque);
	fem_sums_solve_inertia(&all, center, torque, spin);
	for (int k = 0; k < 3; k++)
		sum += all.impulse[k] * all.impulse[k] / all.mass + torque[k] * spin[k];
	return sum;
}

// ---- the matrix

static void mass_times(const FemBondNet *net, int32_t piece, const double x[6], double out[6]) {
	const double *inertia = net->inertia + 9 * (int64_t)piece;
	for (int k = 0; k < 3; k++) {
		out[k] = net->sums[piece].mass * x[k];
		out[3 + k] = inertia[3 * k] * x[3] + inertia[3 * k + 1] * x[4] + inertia[3 * k + 2] * x[5];
	}
}

static void stretch_of(const FemBondLink *link, const double *x, double out[3]) {
	for (int k = 0; k < 3; k++)
		out[k] = 0.0;
	for (int s = 0; s < 2; s++) {
		if (link->piece[s] < 0)
			continue;
		const double *of = x + 6 * (int64_t)link->piece[s];
		double u[3] = {of[0], of[1], of[2]};
		cross_add(u, of + 3, (double[3]){link->arm[s][0], link->arm[s][1], link->arm[s][2]});
		for (int k = 0; k < 3; k++)
			out[k] += s == 0 ? u[k] : -u[k];
	}
}

void fem_bond_net_stretch(const FemBondNet *net, int32_t link, double out[3]) {
	stretch_of(&net->links[link], net->response, out);
}

static void multiply(const FemBondNet *net, double square, const double *x, double *out) {
	for (int32_t i = 0; i < net->piece_count; i++)
		mass_times(net, i, x + 6 * (int64_t)i, out + 6 * (int64_t)i);
	for (int32_t l = 0; l < net->link_count; l++) {
		const FemBondLink *link = &net->links[l];
		double f[3], by = square * (double)link->stiffness;
		if (!(by > 0.0))
			continue;
		stretch_of(link, x, f);
		for (int s = 0; s < 2; s++) {
			if (link->piece[s] < 0)
				continue;
			double *of = out + 6 * (int64_t)link->piece[s], sign = s == 0 ? by : -by;
			double g[3] = {sign * f[0], sign * f[1], sign * f[2]};
			for (int k = 0; k < 3; k++)
				of[k] += g[k];
			cross_add(of + 3, (double[3]){link->arm[s][0], link->arm[s][1], link->arm[s][2]}, g);
		}
	}
}

static void factor_blocks(FemBondNet *net, double square) {
	for (int32_t i = 0; i < net->piece_count; i++) {
		const double *inertia = net->inertia + 9 * (int64_t)i;
		double *block = net->factors + 36 * (int64_t)i;
		memset(block, 0, 36 * sizeof *block);
		for (int k = 0; k < 3; k++) {
			block[7 * k] = net->sums[i].mass;
			for (int j = 0; j < 3; j++)
				block[6 * (3 + k) + 3 + j] = inertia[3 * k + j];
		}
	}
	for (int32_t l = 0; l < net->link_count; l++) {
		const FemBondLink *link = &net->links[l];
		float by = (float)(square * (double)link->stiffness);
		for (int s = 0; s < 2; s++) {
			if (link->piece[s] >= 0 && by > 0.0f)
				fem_add_contact6(
					net->factors + 36 * (int64_t)link->piece[s], (float[3]){1.0f, 0.0f, 0.0f}, by, by, link->arm[s]);
		}
	}
	for (int32_t i = 0; i < net->piece_count; i++)
		fem_factor6(net->factors + 36 * (int64_t)i);
}

// ---- the solve

static double dot(const double *a, const double *b, int32_t count) {
	double sum = 0.0;
	for (int32_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

// out = P^-1 r; returns r.out.
static double precondition(const FemBondNet *net, double *out) {
	memcpy(out, net->residual, 6 * sizeof *out * (size_t)net->piece_count);
	for (int32_t i = 0; i < net->piece_count; i++)
		fem_solve_factored6(net->factors + 36 * (int64_t)i, out + 6 * (int64_t)i);
	return dot(net->residual, out, 6 * net->piece_count);
}

// Conjugate gradients, of blocks of 6. A blow is short: few pieces around the one that is struck have part in it.
static void solve(FemBondNet *net, double square) {
	int32_t count = 6 * net->piece_count;
	double *z = net->product; // until the product is made
	multiply(net, square, net->response, net->product);
	for (int32_t i = 0; i < count; i++)
		net->residual[i] = net->load[i] - net->product[i];
	double along = precondition(net, z);
	memcpy(net->direction, z, sizeof *z * (size_t)count);
	// r.z of a response of 0 is at least what the tolerance is measured in.
	memcpy(net->product, net->load, sizeof *z * (size_t)count);
	for (int32_t i = 0; i < net->piece_count; i++)
		fem_solve_factored6(net->factors + 36 * (int64_t)i, net->product + 6 * (int64_t)i);
	double wanted = TOLERANCE * TOLERANCE * dot(net->load, net->product, count);
	for (int k = 0; k < ITERATIONS_MOST && along > wanted; k++) {
		multiply(net, square, net->direction, net->product);
		double curvature = dot(net->direction, net->product, count);
		if (!(curvature > 0.0))
			return;
		double by = along / curvature, before = along;
		for (int32_t i = 0; i < count; i++) {
			net->response[i] += by * net->direction[i];
			net->residual[i] -= by * net->product[i];
		}
		along = precondition(net, z);
		for (int32_t i = 0; i < count; i++)
			net->direction[i] = z[i] + along / before * net->direction[i];
	}
}

FemBondResponse fem_bond_net_respond(FemBondNet *net, double time) {
	double square = time * time, inertia = 0.0;
	factor_blocks(net, square);
	solve(net, square);
	for (int32_t i = 0; i < net->piece_count; i++) {
		const double *z = net->response + 6 * (int64_t)i;
		double product[6];
		mass_times(net, i, z, product);
		inertia += dot(z, product, 6);
	}
	double total = dot(net->load, net->response, 6 * net->piece_count);
	inertia = fmin(inertia, total);
	return (FemBondResponse){inertia, total - inertia};
}
