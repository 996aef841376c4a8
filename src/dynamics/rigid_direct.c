#include "dynamics/rigid_direct.h"

#include "dynamics/rigid_unknowns.h"
#include "dynamics/solver_policy.h"

#include <math.h>
#include <string.h>

#define CORRECTIONS_MAX 4 // two do; chosen
// Of r.z, by one correction: the square of the relative error of the factor, which is a float's rounding (6e-8) times
// the ratio of contact strengths to masses (up to 3e4), and of a single body, whose factor is of doubles.
#define FACTOR_ERROR 1e-5
#define SINGLE_ERROR 1e-12

bool fem_rigid_direct_is_possible(const FemSystem *system) {
	bool is_rigid = system->modal_count == 0 && !system->contacts.holds;
	for (int32_t i = 0; i < system->island_count && is_rigid; i++)
		is_rigid = system->islands[i].is_rigid;
	return is_rigid;
}

void fem_rigid_direct_open(FemSystem *system) {
	FemContactRows *rows = &system->contacts;
	rows->after = rows->impulses;
	for (int32_t k = 0; k < system->rigid_count; k++)
		memset(system->rigids[k]->dv, 0, sizeof system->rigids[k]->dv);
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		FemContactRow *row = &rows->rows[c];
		for (int s = 0; s < 2; s++) {
			const FemContactSide *side = &rows->contacts[c].side[s];
			FemProxy *rigid = fem_contact_side_rigid(rows, side);
			row->rigid[s] = rigid && rigid->mass > 0.0f ? rigid : NULL;
			if (row->rigid[s])
				fem_contact_side_arm(rows, side, rigid, row->arm[s]);
		}
	}
}

// m/s, of side 0 against side 1, with dv.
static void velocity_at(const FemContactRow *row, FemVec4 before, float out[3]) {
	out[0] = before.x, out[1] = before.y, out[2] = before.z;
	for (int s = 0; s < 2; s++) {
		if (row->rigid[s])
			fem_add_rigid_point(row->arm[s], row->rigid[s]->dv, row->rigid[s]->dv + 3, s == 0 ? 1.0f : -1.0f, out);
	}
}

static void add_impulse(FemProxy *rigid, const float arm[3], const float g[3], float sign) {
	for (int i = 0; i < 3; i++) {
		rigid->residual[i] += sign * g[i];
		rigid->residual[i + 3] += sign * (arm[(i + 1) % 3] * g[(i + 2) % 3] - arm[(i + 2) % 3] * g[(i + 1) % 3]);
	}
}

// residual = b - A dv
static void find_residual(FemSystem *system) {
	const FemContactRows *rows = &system->contacts;
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *rigid = system->rigids[k];
		float inertia[6];
		fem_rigid_unknowns_multiply(rigid, rigid->dv, inertia);
		for (int i = 0; i < 6; i++)
			rigid->residual[i] = rigid->impulse[i] - inertia[i];
	}
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		const FemContact *contact = &rows->contacts[c];
		const FemContactRow *row = &rows->rows[c];
		const float *n = contact->normal;
		float u[3], g[3], kt = contact->friction_strength;
		if (!contact->active)
			continue;
		velocity_at(row, rows->before[c], u);
		float along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
		float along_normal = contact->normal_strength * (along + contact->bias) - kt * along;
		for (int i = 0; i < 3; i++)
			g[i] = along_normal * n[i] + kt * u[i];
		for (int s = 0; s < 2; s++) {
			if (row->rigid[s])
				add_impulse(row->rigid[s], row->arm[s], g, s == 0 ? -1.0f : 1.0f);
		}
	}
}

// The matrix of a single body, factored.
static void factor_single(const FemSystem *system, double out[36]) {
	const FemContactRows *rows = &system->contacts;
	fem_rigid_unknowns_weigh(system->rigids[0], out);
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		const FemContact *contact = &rows->contacts[c];
		for (int s = 0; s < 2; s++) {
			if (contact->active && rows->rows[c].rigid[s])
				fem_add_contact6(
					out, contact->normal, contact->normal_strength, contact->friction_strength, rows->rows[c].arm[s]);
		}
	}
	fem_factor6(out);
}

// dv += A^-1 residual; returns their product.
static double correct_single(FemProxy *rigid, const double factor[36]) {
	double x[6], sum = 0.0;
	for (int i = 0; i < 6; i++)
		x[i] = (double)rigid->residual[i];
	fem_solve_factored6(factor, x);
	for (int i = 0; i < 6; i++) {
		sum += (double)rigid->residual[i] * x[i];
		rigid->dv[i] += (float)x[i];
	}
	return sum;
}

static double correct(FemSystem *system) {
	for (int32_t k = 0; k < system->rigid_count; k++)
		memset(system->rigids[k]->z, 0, sizeof system->rigids[k]->z);
	double sum = fem_rigid_space_add(system->rigid, system->loop);
	for (int32_t k = 0; k < system->rigid_count; k++) {
		for (int i = 0; i < 6; i++)
			system->rigids[k]->dv[i] += system->rigids[k]->z[i];
	}
	return sum;
}

static void set_velocities(FemSystem *system) {
	FemContactRows *rows = &system->contacts;
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		float u[3];
		velocity_at(&rows->rows[c], rows->before[c], u);
		rows->after[c] = (FemVec4){u[0], u[1], u[2], 0.0f};
	}
}

FemSolveResult fem_rigid_direct_solve(FemSystem *system) {
	FemSolveResult result = {.finite = true};
	double factor[36], error = system->rigid ? FACTOR_ERROR : SINGLE_ERROR, rz = 0.0, target = 0.0;
	FemContactRows *rows = &system->contacts;
	rows->rebound = 0.0f;
	for (int32_t c = 0; c < rows->count; c++) {
		if (rows->contacts[c].active)
			fem_contact_rows_note_rebound(rows, &rows->contacts[c]);
	}
	double tolerance = fem_policy_tolerance(system);
	if (!system->rigid && system->rigid_count > 0)
		factor_single(system, factor);
	for (int n = 0; n < CORRECTIONS_MAX && system->rigid_count > 0; n++) {
		find_residual(system);
		rz = system->rigid ? correct(system) : correct_single(system->rigids[0], factor);
		result.scale = n == 0 && !(system->scale > rz) ? rz : n == 0 ? system->scale : result.scale;
		target = fmax(tolerance * tolerance * result.scale, (double)system->floor);
		if (!(error * rz > target))
			break;
	}
	result.residual = result.scale > 0.0 && rz > 0.0 ? (float)sqrt(error * rz / result.scale) : 0.0f;
	result.capped = error * rz > target;
	result.finite = isfinite((float)rz); // what floats do not hold means nothing
	set_velocities(system);
	return result;
}
