#include "dynamics/rigid_balance.h"

#include "base/mat3.h"
#include "base/range.h"
#include "base/vec.h"
#include "dynamics/rigid_unknowns.h"
#include "dynamics/rows.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"

#include <math.h>
#include <string.h>

// A velocity a + b x r, or the net impulse and torque that belong to it.
typedef struct Rigid {
	double a[3], b[3];
} Rigid;

static void arm_of(const FemRigidBalance *balance, const FemBody *body, int32_t node, double r[3]) {
	const float *x = &body->position[node].x;
	for (int i = 0; i < 3; i++)
		r[i] = (double)x[i] - balance->center[i];
}

static void add_cross(double out[3], const double a[3], const double b[3]) {
	for (int i = 0; i < 3; i++)
		out[i] += a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void add_impulse(Rigid *sum, const double r[3], const double j[3]) {
	for (int i = 0; i < 3; i++)
		sum->a[i] += j[i];
	add_cross(sum->b, r, j);
}

// The rigid velocity of a net impulse and torque.
static Rigid velocity_of(const FemRigidBalance *balance, const Rigid *impulse) {
	Rigid v;
	const double *m = balance->inverse_inertia;
	for (int i = 0; i < 3; i++) {
		v.a[i] = balance->is_hinged ? 0.0 : impulse->a[i] / balance->mass;
		v.b[i] = m[3 * i] * impulse->b[0] + m[3 * i + 1] * impulse->b[1] + m[3 * i + 2] * impulse->b[2];
	}
	return v;
}

static void velocity_at(const Rigid *rigid, const double r[3], double out[3]) {
	memcpy(out, rigid->a, 3 * sizeof *out);
	add_cross(out, rigid->b, r);
}

// ---- opening

// out = the inverse of an inertia for the rotations that there are: all, or those about the axis of a line of pins.
static bool invert_inertia(const FemRigidBalance *balance, double inertia[3][3], double out[9]) {
	const double *axis = balance->hinge.axis;
	double second = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2]), about = 0.0, inverse[3][3];
	if (balance->is_hinged && balance->hinge.is_line) {
		for (int k = 0; k < 9; k++)
			about += axis[k / 3] * inertia[k / 3][k % 3] * axis[k % 3];
		for (int k = 0; k < 9; k++)
			out[k] = axis[k / 3] * axis[k % 3] / about;
		return about > 1e-9 * second;
	}
	if (!(fem_determinant3(inertia) > 1e-9 * second * second * second) || !fem_invert3(inertia, inverse))
		return false;
	memcpy(out, inverse, sizeof inverse);
	return true;
}

static bool set_inertia(FemRigidBalance *balance, const FemBody *body) {
	double moment[3] = {0}, second[3][3] = {{0}}, inertia[3][3];
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		const float *x = &body->position[i].x;
		balance->mass += (double)body->mass[i];
		for (int k = 0; k < 3; k++)
			moment[k] += (double)body->mass[i] * (double)x[k];
	}
	for (int k = 0; k < 3; k++)
		balance->center[k] = balance->is_hinged ? balance->hinge.point[k] : moment[k] / balance->mass;
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		double r[3];
		arm_of(balance, body, i, r);
		for (int k = 0; k < 9; k++)
			second[k / 3][k % 3] += (double)body->mass[i] * r[k / 3] * r[k % 3];
	}
	double trace = second[0][0] + second[1][1] + second[2][2];
	for (int k = 0; k < 9; k++)
		inertia[k / 3][k % 3] = (k % 4 == 0 ? trace : 0.0) - second[k / 3][k % 3];
	return invert_inertia(balance, inertia, balance->inverse_inertia);
}

FemRigidBalance fem_rigid_balance_open(const FemBody *body, FemRange nodes, const FemHinge *hinge, float dt) {
	FemRigidBalance balance = {.nodes = nodes, .is_hinged = hinge != NULL};
	if (hinge)
		balance.hinge = *hinge;
	double kappa = (double)dt * ((double)dt * (double)body->stiffness + (double)body->damped_stiffness);
	balance.is_on = kappa > FEM_BALANCE_STIFFNESS && set_inertia(&balance, body);
	return balance;
}

// Column k of R at a node: a unit of translation, or of rotation about the centre.
static void motion_at(int k, const double r[3], double out[3]) {
	Rigid unit = {{0}, {0}};
	(k < 3 ? unit.a : unit.b)[k % 3] = 1.0;
	velocity_at(&unit, r, out);
}

// The inertia about the hinge of D for the masses.
static void prepare_hinge(FemRigidBalance *balance, const FemBody *body) {
	double inertia[3][3] = {{0}};
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		const float *d = &body->step->diagonal[i].x;
		double r[3], motion[3][3];
		arm_of(balance, body, i, r);
		for (int k = 0; k < 3; k++)
			motion_at(k + 3, r, motion[k]);
		for (int k = 0; k < 9 && body->node_kind[i] == FEM_NODE_FREE; k++) {
			for (int axis = 0; axis < 3; axis++)
				inertia[k / 3][k % 3] += (double)d[axis] * motion[k / 3][axis] * motion[k % 3][axis];
		}
	}
	if (!invert_inertia(balance, inertia, balance->hinge_inverse))
		memcpy(balance->hinge_inverse, balance->inverse_inertia, sizeof balance->hinge_inverse);
}

void fem_rigid_balance_prepare(FemRigidBalance *balance, const FemBody *body) {
	if (balance->is_hinged) {
		prepare_hinge(balance, body);
		return;
	}
	memset(balance->factor, 0, sizeof balance->factor);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		const float *d = &body->step->diagonal[i].x;
		double r[3], motion[6][3];
		arm_of(balance, body, i, r);
		for (int k = 0; k < 6; k++)
			motion_at(k, r, motion[k]);
		for (int k = 0; k < 6; k++) {
			for (int l = 0; l <= k; l++) {
				for (int axis = 0; axis < 3; axis++)
					balance->factor[6 * k + l] += (double)d[axis] * motion[k][axis] * motion[l][axis];
			}
		}
	}
	fem_factor6(balance->factor);
}

// ---- load

// out = what elements give the node in this step, N s: the right-hand side without the external forces.
static void elastic_impulse(const FemBody *body, int32_t node, double dt, FemVec3 gravity, double out[3]) {
	const float *rhs = &body->step->rhs[node].x, *user = &body->force[node].x, *v = &body->velocity[node].x,
				*g = &gravity.x;
	double m = (double)body->mass[node], damping = (double)body->mass_damping[node];
	for (int i = 0; i < 3; i++)
		out[i] = (double)rhs[i] - dt * (m * (double)g[i] + (double)user[i] - damping * (double)v[i]);
}

static void subtract_impulse(const Rigid *velocity, double m, const double r[3], FemVec4 *j) {
	double v[3];
	velocity_at(velocity, r, v);
	*j = (FemVec4){
		(float)((double)j->x - m * v[0]), (float)((double)j->y - m * v[1]), (float)((double)j->z - m * v[2]), 0.0f};
}

void fem_rigid_balance_load(const FemRigidBalance *balance, FemBody *body, float dt, FemVec3 gravity) {
	Rigid sum = {{0}, {0}};
	double r[3], j[3];
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		arm_of(balance, body, i, r);
		elastic_impulse(body, i, (double)dt, gravity, j);
		add_impulse(&sum, r, j);
	}
	Rigid velocity = velocity_of(balance, &sum);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		arm_of(balance, body, i, r);
		subtract_impulse(&velocity, (double)body->mass[i], r, &body->step->rhs[i]);
	}
}

// ---- product

// out = P x
static void project(const FemRigidBalance *balance, const FemBody *body, const FemVec4 *x, FemVec4 *out) {
	Rigid sum = {{0}, {0}};
	double r[3], v[3];
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		double m = (double)body->mass[i], j[3] = {m * (double)x[i].x, m * (double)x[i].y, m * (double)x[i].z};
		arm_of(balance, body, i, r);
		add_impulse(&sum, r, j);
	}
	Rigid velocity = velocity_of(balance, &sum);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		arm_of(balance, body, i, r);
		velocity_at(&velocity, r, v);
		out[i] = (FemVec4){
			(float)((double)x[i].x - v[0]), (float)((double)x[i].y - v[1]), (float)((double)x[i].z - v[2]), 0.0f};
		if (body->node_kind[i] != FEM_NODE_FREE) // in the axis but for rounding
			out[i] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
	}
}

void fem_rigid_balance_complete_load(FemRigidBalance *balance, FemBody *body, float dt, FemVec3 gravity) {
	FemVec4 *rigid = body->step->z, *product = body->step->product;
	if (balance->is_complete)
		return;
	balance->is_complete = true;
	balance->is_on = balance->is_on || set_inertia(balance, body);
	if (!balance->is_on)
		return;
	project(balance, body, body->velocity, rigid);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		FemVec4 v = body->velocity[i];
		rigid[i] = (FemVec4){v.x - rigid[i].x, v.y - rigid[i].y, v.z - rigid[i].z, 0.0f};
	}
	fem_row_kernels(fem_simd_level())->multiply(body, balance->nodes.begin, balance->nodes.end, rigid, product);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		FemVec4 *rhs = &body->step->rhs[i], d = body->step->diagonal[i];
		rhs->x += product[i].x - d.x * rigid[i].x;
		rhs->y += product[i].y - d.y * rigid[i].y;
		rhs->z += product[i].z - d.z * rigid[i].z;
	}
	fem_rigid_balance_load(balance, body, dt, gravity);
}

void fem_rigid_balance_drop_motion(const FemBody *body, FemRange nodes, FemVec4 *x) {
	FemRigidBalance balance = {.nodes = nodes};
	set_inertia(&balance, body); // without inertia only the translation goes
	project(&balance, body, x, x);
}

double fem_rigid_balance_multiply(const FemRigidBalance *balance, FemBody *body, const FemVec4 *x) {
	FemVec4 *strained = body->step->z, *product = body->step->product;
	Rigid sum = {{0}, {0}};
	double r[3], total = 0.0;
	project(balance, body, x, strained);
	fem_row_kernels(fem_simd_level())
		->multiply(body, balance->nodes.begin, balance->nodes.end, strained, body->step->product);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		FemVec4 d = body->step->diagonal[i], s = strained[i];
		double j[3] = {(double)product[i].x - (double)d.x * (double)s.x,
			(double)product[i].y - (double)d.y * (double)s.y, (double)product[i].z - (double)d.z * (double)s.z};
		arm_of(balance, body, i, r);
		add_impulse(&sum, r, j);
	}
	Rigid velocity = velocity_of(balance, &sum);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		FemVec4 d = body->step->diagonal[i],
				rigid = {x[i].x - strained[i].x, x[i].y - strained[i].y, x[i].z - strained[i].z, 0.0f};
		arm_of(balance, body, i, r);
		product[i].x += d.x * rigid.x, product[i].y += d.y * rigid.y, product[i].z += d.z * rigid.z;
		subtract_impulse(&velocity, (double)body->mass[i], r, &product[i]);
		total += (double)(x[i].x * product[i].x + x[i].y * product[i].y + x[i].z * product[i].z);
	}
	return total;
}

// ---- preconditioner

static Rigid sum_residual(const FemRigidBalance *balance, const FemBody *body) {
	Rigid sum = {{0}, {0}};
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		double r[3], j[3] = {body->step->residual[i].x, body->step->residual[i].y, body->step->residual[i].z};
		arm_of(balance, body, i, r);
		add_impulse(&sum, r, j);
	}
	return sum;
}

void fem_rigid_balance_restrict(const FemRigidBalance *balance, FemBody *body) {
	Rigid sum = sum_residual(balance, body), velocity = velocity_of(balance, &sum);
	double r[3];
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		arm_of(balance, body, i, r);
		body->step->product[i] = body->step->residual[i];
		subtract_impulse(&velocity, (double)body->mass[i], r, &body->step->product[i]);
	}
}

// (R^T D R)^-1 R^T r
static Rigid answer_residual(const FemRigidBalance *balance, const FemBody *body) {
	Rigid sum = sum_residual(balance, body), motion = {{0}, {0}};
	double numbers[6] = {sum.a[0], sum.a[1], sum.a[2], sum.b[0], sum.b[1], sum.b[2]};
	const double *m = balance->hinge_inverse;
	if (balance->is_hinged) {
		for (int i = 0; i < 3; i++)
			motion.b[i] = m[3 * i] * sum.b[0] + m[3 * i + 1] * sum.b[1] + m[3 * i + 2] * sum.b[2];
		return motion;
	}
	fem_solve_factored6(balance->factor, numbers);
	memcpy(motion.a, numbers, sizeof motion.a);
	memcpy(motion.b, numbers + 3, sizeof motion.b);
	return motion;
}

double fem_rigid_balance_complete(const FemRigidBalance *balance, FemBody *body, bool with_rigid) {
	Rigid motion = {{0}, {0}};
	double total = 0.0, r[3], v[3];
	project(balance, body, body->step->z, body->step->z);
	if (with_rigid || balance->is_hinged) // the space of a composite has the motions of free islands alone
		motion = answer_residual(balance, body);
	for (int32_t i = balance->nodes.begin; i < balance->nodes.end; i++) {
		FemVec4 *z = &body->step->z[i], residual = body->step->residual[i];
		arm_of(balance, body, i, r);
		velocity_at(&motion, r, v);
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		z->x += (float)v[0], z->y += (float)v[1], z->z += (float)v[2];
		total +=
			(double)residual.x * (double)z->x + (double)residual.y * (double)z->y + (double)residual.z * (double)z->z;
	}
	return total;
}
