#include "dynamics/modal_direct.h"

#include "dynamics/contact_rows.h"
#include "dynamics/modal_unknowns.h"
#include "dynamics/rigid_unknowns.h"

#include <math.h>
#include <string.h>

// Unknowns: modes, then the six of the frame. 46 kB on the stack; the dense factor of more is no gain, either.
#define UNKNOWNS_MAX 76

typedef struct Dense {
	int32_t modes, count;
	double a[UNKNOWNS_MAX][UNKNOWNS_MAX]; // lower half
	double x[UNKNOWNS_MAX];
} Dense;

bool fem_modal_direct_is_possible(const FemSystem *system) {
	const FemContactRows *rows = &system->contacts;
	bool possible = system->island_count == 1 && system->modal_count == 1 && system->rigid_count <= 1 && !rows->holds &&
		system->modals[0]->modal->mode_count + 6 <= UNKNOWNS_MAX;
	int32_t count = fem_contact_rows_total(rows) > 0 ? rows->row_count : 0;
	for (int32_t r = 0; r < count && possible; r++) {
		const FemContactRow *row = &rows->rows[r];
		int unknown = row->node_count[0] + row->node_count[1];
		for (int s = 0; s < 2; s++) {
			bool is_its_own = row->modal[s] == system->modals[0]->modal;
			unknown += row->rigid[s] && !is_its_own ? 1 : 0;
			possible &= !is_its_own || row->jacobian[s];
		}
		possible &= unknown == 0 && !(row->modal[0] && row->modal[1]);
	}
	return possible;
}

static void set_matrix(Dense *d, const FemModal *m, const FemProxy *rigid) {
	double frame[36];
	for (int32_t r = 0; r < d->modes; r++) {
		for (int32_t c = 0; c <= r; c++)
			d->a[r][c] = (m->has_extra ? (double)m->extra[r * m->stride + c] : 0.0) + (r == c ? m->inertia[r] : 0.0);
	}
	if (d->count == d->modes)
		return;
	fem_rigid_unknowns_weigh(rigid, frame);
	for (int32_t r = 0; r < 6; r++) {
		for (int32_t c = 0; c < d->modes; c++)
			d->a[d->modes + r][c] = m->has_extra ? (double)m->coupling[r * m->stride + c] : 0.0;
		for (int32_t c = 0; c <= r; c++)
			d->a[d->modes + r][d->modes + c] = frame[6 * r + c];
	}
}

// J^T (k_t 1 + (k_n - k_t) n n^T) J of a contact.
static void add_row(Dense *d, const FemModal *m, const FemContactRow *row, int side) {
	double j[3][UNKNOWNS_MAX], kt = (double)row->friction_strength, kn = (double)row->normal_strength - kt;
	const float *n = row->normal, *arm = row->arm[side];
	for (int axis = 0; axis < 3; axis++) {
		for (int32_t k = 0; k < d->modes; k++)
			j[axis][k] = (double)row->jacobian[side][axis * m->stride + k];
		for (int k = 0; d->count > d->modes && k < 3; k++) {
			j[axis][d->modes + k] = k == axis ? 1.0 : 0.0;
			j[axis][d->modes + 3 + k] = k == axis ? 0.0
				: k == (axis + 1) % 3             ? (double)arm[(axis + 2) % 3]
												  : -(double)arm[(axis + 1) % 3];
		}
	}
	for (int32_t r = 0; r < d->count; r++) {
		double along = kn * ((double)n[0] * j[0][r] + (double)n[1] * j[1][r] + (double)n[2] * j[2][r]);
		double x = kt * j[0][r] + along * (double)n[0], y = kt * j[1][r] + along * (double)n[1],
			   z = kt * j[2][r] + along * (double)n[2];
		for (int32_t c = 0; c <= r; c++)
			d->a[r][c] += x * j[0][c] + y * j[1][c] + z * j[2][c];
	}
}

// x = A^-1 x by Cholesky's factor; b.A^-1 b is the square that results are measured by.
static double solve(Dense *d) {
	double square = 0.0;
	for (int32_t i = 0; i < d->count; i++) {
		for (int32_t j = 0; j < i; j++) {
			double sum = d->a[i][j];
			for (int32_t k = 0; k < j; k++)
				sum -= d->a[i][k] * d->a[j][k];
			d->a[i][j] = sum * d->a[j][j]; // the diagonal is kept inverted
		}
		double sum = d->a[i][i];
		for (int32_t k = 0; k < i; k++)
			sum -= d->a[i][k] * d->a[i][k];
		d->a[i][i] = 1.0 / sqrt(sum > 0.0 ? sum : 1.0); // as of fem_modal_prepare()
		for (int32_t k = 0; k < i; k++)
			d->x[i] -= d->a[i][k] * d->x[k];
		d->x[i] *= d->a[i][i];
		square += d->x[i] * d->x[i];
	}
	for (int32_t i = d->count; i-- > 0;) {
		d->x[i] *= d->a[i][i];
		for (int32_t k = 0; k < i; k++)
			d->x[k] -= d->a[i][k] * d->x[i];
	}
	return square;
}

FemSolveResult fem_modal_direct_solve(FemSystem *system) {
	FemContactRows *rows = &system->contacts;
	FemProxy *rigid = system->modals[0];
	FemModal *m = rigid->modal;
	bool moves = rigid->mass > 0.0f;
	Dense d;
	d.modes = m->mode_count;
	d.count = m->mode_count + (moves ? 6 : 0);
	set_matrix(&d, m, rigid);
	fem_modal_begin(m);
	memcpy(rigid->residual, rigid->impulse, sizeof rigid->residual);
	int32_t count = fem_contact_rows_total(rows) > 0 ? rows->row_count : 0;
	if (count > 0) {
		(void)fem_contact_rows_impulses(rows, 0, count, FEM_FIELD_LOAD);
		fem_contact_rows_gather_proxies(rows, FEM_PROXY_RESIDUAL, -1.0f);
	}
	for (int32_t r = 0; r < count; r++)
		add_row(&d, m, &rows->rows[r], rows->rows[r].modal[0] == m ? 0 : 1);
	for (int32_t k = 0; k < d.count; k++)
		d.x[k] = (double)(k < d.modes ? m->residual[k] : rigid->residual[k - d.modes]);
	FemSolveResult result = {.iterations = 1, .finite = true};
	result.scale = solve(&d);
	for (int32_t k = 0; k < d.count; k++) {
		*(k < d.modes ? &m->dv[k] : &rigid->dv[k - d.modes]) = (float)d.x[k];
		result.finite &= isfinite(d.x[k]) != 0;
	}
	return result;
}
