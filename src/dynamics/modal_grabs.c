#include "dynamics/modal_grabs.h"

#include "dynamics/modal_basis.h"
#include "dynamics/modal_motion.h"
#include "dynamics/rigid_motion.h"
#include "dynamics/tumbling.h"
#include "model/body_step.h"
#include "model/piece.h"

#include <math.h>
#include <string.h>

#define ROWS_MAX (3 * FEM_GRABS_MAX)           // a row for each axis of each point
#define UNKNOWNS_MAX (6 + FEM_MODAL_MODES_MAX) // of frame and modes
#define RANK_SHARE 1e-9 // of the largest: below, points cannot move so apart from each other; double leaves 1e-16
#define PASSES 6        // rotation is not linear: each pass squares what is left, from a radian on; 3 are the rule
#define SWEEPS 20       // of Jacobi's method; some 8 are needed

// ---- points

static void point_of(const FemGrab *grab, const FemVec4 *field, float out[3]) {
	out[0] = out[1] = out[2] = 0.0f;
	for (int v = 0; v < 4; v++) {
		FemVec4 x = field[grab->nodes[v]];
		out[0] += grab->weights[v] * x.x, out[1] += grab->weights[v] * x.y, out[2] += grab->weights[v] * x.z;
	}
}

static void target_of(const FemBody *body, const FemGrab *grab, double out[3]) {
	FemVec3d offset = fem_position_sub(grab->target, body->origin);
	out[0] = offset.x, out[1] = offset.y, out[2] = offset.z;
}

FemGrabPull fem_grab_pull(const FemBody *body, const FemGrab *grab, float dt) {
	FemGrabPull out;
	double target[3];
	point_of(grab, body->position, out.point);
	point_of(grab, body->velocity, out.velocity);
	target_of(body, grab, target);
	for (int k = 0; k < 3; k++)
		out.goal[k] = (float)((target[k] - (double)out.point[k]) / (double)dt);
	return out;
}

void fem_grabs_keep_forces(FemBody *body, const FemProxy *rigid, float dt) {
	FemModal *m = body->modal;
	for (int g = 0; g < FEM_GRABS_MAX; g++) {
		FemGrab *grab = &m->grabs[g];
		if (grab->number == 0)
			continue;
		FemGrabPull pull = fem_grab_pull(body, grab, dt);
		float v[3] = {pull.velocity[0], pull.velocity[1], pull.velocity[2]}, arm[3];
		for (int k = 0; k < 3; k++) {
			arm[k] = pull.point[k] - rigid->center[k];
			v[k] += rigid->mass > 0.0f ? rigid->dv[k] : 0.0f;
		}
		if (rigid->mass > 0.0f)
			fem_cross_add(v, rigid->dv + 3, arm);
		for (int n = 0; n < 4; n++) {
			float u[3];
			fem_modal_displacement(m, grab->nodes[n], m->dv, u);
			for (int k = 0; k < 3; k++)
				v[k] += grab->weights[n] *
					(m->rotation[3 * k] * u[0] + m->rotation[3 * k + 1] * u[1] + m->rotation[3 * k + 2] * u[2]);
		}
		float strength = FEM_GRAB_STRENGTH * (float)m->total_mass / dt;
		grab->force = (FemVec3){
			strength * (pull.goal[0] - v[0]), strength * (pull.goal[1] - v[1]), strength * (pull.goal[2] - v[2])};
	}
}

// ---- pseudo-inverse

// Jacobi's method: a becomes diagonal, v the eigenvectors in its columns.
static void diagonalize(double a[ROWS_MAX][ROWS_MAX], double v[ROWS_MAX][ROWS_MAX], int n) {
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			v[i][j] = i == j ? 1.0 : 0.0;
	}
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double off = 0.0, on = 0.0;
		for (int i = 0; i < n; i++) {
			on += a[i][i] * a[i][i];
			for (int j = 0; j < i; j++)
				off += a[i][j] * a[i][j];
		}
		if (!(off > 1e-30 * on)) // of squares: below the rounding of doubles
			return;
		for (int p = 0; p < n; p++) {
			for (int q = p + 1; q < n; q++) {
				if (a[p][q] == 0.0)
					continue;
				double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
				double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
				double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
				for (int k = 0; k < n; k++) {
					double x = a[k][p], y = a[k][q];
					a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
				}
				for (int k = 0; k < n; k++) {
					double x = a[p][k], y = a[q][k], vx = v[k][p], vy = v[k][q];
					a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
					v[k][p] = c * vx - s * vy, v[k][q] = s * vx + c * vy;
				}
			}
		}
	}
}

// ---- constraints

typedef struct Constraints {
	int rows, unknowns; // unknowns: six of the frame unless it is held, then the modes
	int first_mode;
	double jacobian[ROWS_MAX][UNKNOWNS_MAX];
	double mobility[UNKNOWNS_MAX]; // 1 over what each unknown weighs; rotations about principal axes of the inertia
	double axes[9];                // those, row by row, in axes of the world
	double inverse[ROWS_MAX][ROWS_MAX];
	double from[3]; // m, the centre that rotations are about
} Constraints;

// Principal moments of the body about its centre, and their axes as rows.
static void find_principal(const FemBody *body, Constraints *c, double moments[3]) {
	FemMotionSums sums = fem_sums_of_nodes(body, (FemRange){0, body->modal->node_count});
	double inertia[9];
	static const double none[ROWS_MAX][ROWS_MAX];
	double a[ROWS_MAX][ROWS_MAX], v[ROWS_MAX][ROWS_MAX];
	memcpy(a, none, sizeof a);
	fem_sums_center(&sums, c->from);
	bool has = fem_sums_inertia(&sums, c->from, inertia);
	for (int k = 0; k < 9; k++)
		a[k / 3][k % 3] = has ? inertia[k] : 0.0;
	diagonalize(a, v, 3);
	for (int k = 0; k < 3; k++) {
		moments[k] = a[k][k];
		for (int i = 0; i < 3; i++)
			c->axes[3 * k + i] = v[i][k];
	}
}

static void set_row(Constraints *c, const FemBody *body, const FemGrab *grab, int row) {
	const FemModal *m = body->modal;
	const double *r = body->pieces[0].shape_rotation;
	float point[3];
	point_of(grab, body->position, point);
	const double arm[3] = {(double)point[0] - c->from[0], (double)point[1] - c->from[1], (double)point[2] - c->from[2]};
	for (int k = 0; k < 3; k++) {
		double *j = c->jacobian[row + k];
		for (int u = 0; u < c->first_mode; u++) {
			const double *axis = c->axes + 3 * (u - 3);
			j[u] = u < 3 ? (u == k ? 1.0 : 0.0)
						 : axis[(k + 1) % 3] * arm[(k + 2) % 3] - axis[(k + 2) % 3] * arm[(k + 1) % 3];
		}
		for (int32_t mode = 0; mode < m->mode_count; mode++) {
			double sum = 0.0;
			for (int n = 0; n < 4; n++) {
				const float *w = m->shapes + 3 * (size_t)m->stride * (size_t)grab->nodes[n] + mode;
				for (int i = 0; i < 3; i++)
					sum += (double)grab->weights[n] * r[3 * k + i] * (double)w[i * m->stride];
			}
			j[c->first_mode + mode] = sum;
		}
	}
}

// The pseudo-inverse of J A^-1 J^T, A what the unknowns weigh.
static void invert(Constraints *c) {
	double a[ROWS_MAX][ROWS_MAX], v[ROWS_MAX][ROWS_MAX], largest = 0.0;
	for (int i = 0; i < c->rows; i++) {
		for (int j = 0; j <= i; j++) {
			double sum = 0.0;
			for (int u = 0; u < c->unknowns; u++)
				sum += c->jacobian[i][u] * c->mobility[u] * c->jacobian[j][u];
			a[i][j] = a[j][i] = sum;
		}
	}
	diagonalize(a, v, c->rows);
	for (int k = 0; k < c->rows; k++)
		largest = fmax(largest, a[k][k]);
	for (int i = 0; i < c->rows; i++) {
		for (int j = 0; j < c->rows; j++) {
			double sum = 0.0;
			for (int k = 0; k < c->rows; k++)
				sum += a[k][k] > RANK_SHARE * largest ? v[i][k] * v[j][k] / a[k][k] : 0.0;
			c->inverse[i][j] = sum;
		}
	}
}

static void set_up(Constraints *c, const FemBody *body) {
	const FemModal *m = body->modal;
	double moments[3] = {0.0};
	c->rows = 0;
	c->first_mode = m->is_held ? 0 : 6;
	c->unknowns = c->first_mode + m->mode_count;
	find_principal(body, c, moments);
	for (int u = 0; u < c->first_mode; u++)
		c->mobility[u] = u < 3 ? 1.0 / m->total_mass : moments[u - 3] > 0.0 ? 1.0 / moments[u - 3] : 0.0;
	for (int32_t k = 0; k < m->mode_count; k++)
		c->mobility[c->first_mode + k] = 1.0 / m->inertia[k];
	for (int g = 0; g < FEM_GRABS_MAX; g++) {
		if (m->grabs[g].number == 0)
			continue;
		set_row(c, body, &m->grabs[g], c->rows);
		c->rows += 3;
	}
	invert(c);
}

// The change of the unknowns with least energy that changes the points by `missing`.
static void solve(const Constraints *c, const double missing[ROWS_MAX], double out[UNKNOWNS_MAX]) {
	double force[ROWS_MAX];
	for (int i = 0; i < c->rows; i++) {
		force[i] = 0.0;
		for (int j = 0; j < c->rows; j++)
			force[i] += c->inverse[i][j] * missing[j];
	}
	for (int u = 0; u < c->unknowns; u++) {
		out[u] = 0.0;
		for (int i = 0; i < c->rows; i++)
			out[u] += c->mobility[u] * c->jacobian[i][u] * force[i];
	}
}

static void rotation_vector(const Constraints *c, const double change[UNKNOWNS_MAX], double out[3]) {
	for (int k = 0; k < 3; k++)
		out[k] = change[3] * c->axes[k] + change[4] * c->axes[3 + k] + change[5] * c->axes[6 + k];
}

// ---- positions

static void displace(FemBody *body, const Constraints *c, const double change[UNKNOWNS_MAX]) {
	FemModal *m = body->modal;
	double *r = body->pieces[0].shape_rotation, theta[3], increment[9], center[3], before[9];
	memcpy(center, m->is_held ? m->center : c->from, sizeof center);
	if (!m->is_held) {
		rotation_vector(c, change, theta);
		fem_rotation_increment(theta, increment);
		memcpy(before, r, sizeof before);
		for (int k = 0; k < 9; k++)
			r[k] += increment[3 * (k / 3)] * before[k % 3] + increment[3 * (k / 3) + 1] * before[3 + k % 3] +
				increment[3 * (k / 3) + 2] * before[6 + k % 3];
		for (int k = 0; k < 3; k++)
			center[k] += change[k];
	}
	for (int32_t k = 0; k < m->mode_count; k++)
		m->z[k] += change[c->first_mode + k];
	fem_modal_place(body, center);
}

// m: how far the points are off; returns the largest.
static double find_missing(const FemBody *body, double missing[ROWS_MAX]) {
	const FemModal *m = body->modal;
	double largest = 0.0;
	for (int g = 0, row = 0; g < FEM_GRABS_MAX; g++) {
		if (m->grabs[g].number == 0)
			continue;
		double target[3];
		float x[3];
		point_of(&m->grabs[g], body->position, x);
		target_of(body, &m->grabs[g], target);
		for (int k = 0; k < 3; k++, row++) {
			missing[row] = target[k] - (double)x[k];
			largest = fmax(largest, fabs(missing[row]));
		}
	}
	return largest;
}

// ---- velocities

static void speed_up(FemBody *body, const Constraints *c, const double change[UNKNOWNS_MAX]) {
	double spin[3] = {0.0};
	if (!body->modal->is_held)
		rotation_vector(c, change, spin);
	fem_modal_speed_up(
		body, c->from, body->modal->is_held ? (double[3]){0.0, 0.0, 0.0} : change, spin, change + c->first_mode);
}

static void settle_velocities(FemBody *body, const Constraints *c, float dt, float speed_max) {
	FemModal *m = body->modal;
	double missing[ROWS_MAX], change[UNKNOWNS_MAX];
	for (int g = 0, row = 0; g < FEM_GRABS_MAX; g++) {
		FemGrab *grab = &m->grabs[g];
		if (grab->number == 0)
			continue;
		FemVec3d displacement = fem_position_sub(grab->target, grab->last);
		double speed =
			sqrt(displacement.x * displacement.x + displacement.y * displacement.y + displacement.z * displacement.z) /
			(double)dt;
		double per_length = speed > (double)speed_max ? (double)speed_max / speed / (double)dt : 1.0 / (double)dt;
		const double goal[3] = {per_length * displacement.x, per_length * displacement.y, per_length * displacement.z};
		float v[3];
		point_of(grab, body->velocity, v);
		for (int k = 0; k < 3; k++, row++)
			missing[row] = goal[k] - (double)v[k];
	}
	solve(c, missing, change);
	speed_up(body, c, change);
}

void fem_grabs_settle_positions(FemBody *body) {
	Constraints c;
	double missing[ROWS_MAX], change[UNKNOWNS_MAX], last = INFINITY;
	set_up(&c, body);
	for (int pass = 0; pass < PASSES; pass++) {
		double left = find_missing(body, missing);
		if (!(left > 0.0) || !(left < 0.5 * last)) // rounding, or points that cannot all be there
			break;
		last = left;
		solve(&c, missing, change);
		displace(body, &c, change);
		set_up(&c, body);
	}
}

void fem_grabs_settle_velocities(FemBody *body, float dt, float speed_max) {
	Constraints c;
	set_up(&c, body);
	settle_velocities(body, &c, dt, speed_max);
}

void fem_grabs_arrive(FemModal *m) {
	for (int g = 0; g < FEM_GRABS_MAX; g++)
		m->grabs[g].last = m->grabs[g].target;
}
