#include "dynamics/modal_joints.h"

#include "base/mat3.h"
#include "dynamics/modal_grabs.h"
#include "dynamics/modal_motion.h"
#include "dynamics/rigid_motion.h"
#include "dynamics/tumbling.h"
#include "model/joint.h"
#include "model/piece.h"

#include <math.h>
#include <string.h>

#define SWEEPS 40      // over all joints; measured on chains of four: 12 to 25 are taken
#define ARRIVED 1e-8   // m, and a step of it in m/s: below what floats hold of a position 0.1 m away
#define SINGULAR 1e-12 // of the trace cubed, least determinant: points that cannot move to all sides

// ---- a point of a body, by frame and modes

typedef struct Point {
	FemBody *body;
	const FemContactSide *side;
	double arm[3];                       // m, from the centre of the frame, axes of the world
	double mode[FEM_MODAL_MODES_MAX][3]; // R w: how modes move it, axes of the world
} Point;

static void rotate(const double r[9], const double v[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

static void set_point(Point *p) {
	const FemModal *m = p->body->modal;
	const double *r = p->body->pieces[0].shape_rotation;
	double s[3] = {0.0};
	for (int k = 0; k < 4; k++) {
		const float *rest = &m->rest[p->side->nodes[k]].x;
		for (int i = 0; i < 3; i++)
			s[i] += (double)p->side->weights[k] * (double)rest[i];
	}
	for (int32_t mode = 0; mode < m->mode_count; mode++) {
		double w[3] = {0.0};
		for (int k = 0; k < 4; k++) {
			const float *shape = m->shapes + 3 * (size_t)m->stride * (size_t)p->side->nodes[k] + mode;
			for (int i = 0; i < 3; i++)
				w[i] += (double)p->side->weights[k] * (double)shape[i * m->stride];
		}
		for (int i = 0; i < 3; i++)
			s[i] += w[i] * m->z[mode];
		rotate(r, w, p->mode[mode]);
	}
	rotate(r, s, p->arm);
}

static void cross(const double a[3], const double b[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

// How an impulse at the point moves the frame and the modes, and with them the point.
typedef struct Answer {
	double velocity[3], spin[3]; // of the frame
	double point[3];
} Answer;

static Answer answer_of(const Point *p, const double impulse[3]) {
	const FemModal *m = p->body->modal;
	Answer out = {{0.0}, {0.0}, {0.0}};
	if (!m->is_held) {
		double torque[3];
		cross(p->arm, impulse, torque);
		rotate(m->settling.mobility, torque, out.spin);
		cross(out.spin, p->arm, out.point);
		for (int i = 0; i < 3; i++) {
			out.velocity[i] = impulse[i] / m->total_mass;
			out.point[i] += out.velocity[i];
		}
	}
	for (int32_t k = 0; k < m->mode_count; k++) {
		const double *w = p->mode[k];
		double rate = (w[0] * impulse[0] + w[1] * impulse[1] + w[2] * impulse[2]) / m->inertia[k];
		for (int i = 0; i < 3; i++)
			out.point[i] += rate * w[i];
	}
	return out;
}

// The impulse, on side 1, that moves side 1 against side 0 by `change`. False: none does.
static bool find_impulse(const Point points[2], const double change[3], double out[3]) {
	double matrix[9], trace = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double unit[3] = {0.0};
		unit[axis] = 1.0;
		Answer a = answer_of(&points[0], unit), b = answer_of(&points[1], unit);
		for (int i = 0; i < 3; i++)
			matrix[3 * i + axis] = a.point[i] + b.point[i];
		trace += matrix[4 * axis];
	}
	if (!(fem_row_determinant3(matrix) > SINGULAR * trace * trace * trace))
		return false;
	fem_solve3(matrix, change, out);
	return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

// ---- which

static bool is_first_row(const FemContact *contact) {
	return fem_contact_is_joint(contact) && fem_joint_axis(contact) == 0;
}

// Both sides move by modes; else the solve alone holds them.
static bool open_joint(const FemContactRows *rows, const FemContact *contact, Point points[2]) {
	for (int s = 0; s < 2; s++) {
		points[s].side = &contact->side[s];
		points[s].body = rows->bodies[contact->side[s].body];
		if (contact->side[s].is_fixed || points[s].body->went_bad || !fem_modal_of(points[s].body))
			return false;
	}
	return true;
}

static void open_body(FemBody *body) {
	FemModal *m = body->modal;
	FemMotionSums sums = fem_sums_of_nodes(body, (FemRange){0, m->node_count});
	double inertia[9], rows[3][3], inverse[3][3];
	memset(&m->settling, 0, sizeof m->settling);
	memset(m->given, 0, sizeof *m->given * (size_t)m->mode_count);
	m->settling.is_on = true;
	fem_sums_center(&sums, m->settling.center);
	if (m->is_held) {
		memcpy(m->settling.center, m->center, sizeof m->center);
		return;
	}
	if (!fem_sums_inertia(&sums, m->settling.center, inertia))
		return;
	memcpy(rows, inertia, sizeof rows);
	if (fem_invert3(rows, inverse))
		memcpy(m->settling.mobility, inverse, sizeof inverse);
}

// ---- positions

static void find_gap(const Point points[2], double out[3]) {
	FemVec3d between = fem_position_sub(points[1].body->origin, points[0].body->origin);
	const double apart[3] = {between.x, between.y, between.z};
	for (int i = 0; i < 3; i++)
		out[i] = apart[i] + points[1].body->modal->settling.center[i] + points[1].arm[i] -
			points[0].body->modal->settling.center[i] - points[0].arm[i];
}

static void displace(const Point *p, const double impulse[3]) {
	FemModal *m = p->body->modal;
	Answer answer = answer_of(p, impulse);
	double *r = p->body->pieces[0].shape_rotation, increment[9], before[9];
	for (int32_t k = 0; k < m->mode_count; k++)
		m->z[k] +=
			(p->mode[k][0] * impulse[0] + p->mode[k][1] * impulse[1] + p->mode[k][2] * impulse[2]) / m->inertia[k];
	if (m->is_held)
		return;
	fem_rotation_increment(answer.spin, increment);
	memcpy(before, r, sizeof before);
	for (int k = 0; k < 9; k++)
		r[k] += increment[3 * (k / 3)] * before[k % 3] + increment[3 * (k / 3) + 1] * before[3 + k % 3] +
			increment[3 * (k / 3) + 2] * before[6 + k % 3];
	for (int i = 0; i < 3; i++)
		m->settling.center[i] += answer.velocity[i];
}

static double length3(const double v[3]) {
	return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// m, that the points were apart. Those farther apart than the solve closes in a step are left to it.
static double close_gap(Point points[2], float dt) {
	double gap[3], impulse[3];
	set_point(&points[0]);
	set_point(&points[1]);
	find_gap(points, gap);
	double length = length3(gap);
	for (int i = 0; i < 3; i++)
		gap[i] = -gap[i];
	if (!(length > 0.0) || length > (double)(FEM_JOINT_SPEED * dt) || !find_impulse(points, gap, impulse))
		return 0.0;
	const double other[3] = {-impulse[0], -impulse[1], -impulse[2]};
	displace(&points[0], other);
	displace(&points[1], impulse);
	return length;
}

static void place(FemBody *body) {
	fem_modal_place(body, body->modal->settling.center);
}

// Points that a user holds go before joints: the next sweep brings these together again.
static void return_grabs(FemBody *body) {
	FemModal *m = body->modal;
	if (m->grab_count == 0)
		return;
	place(body);
	fem_grabs_settle_positions(body);
	FemMotionSums sums = fem_sums_of_nodes(body, (FemRange){0, m->node_count});
	if (!m->is_held)
		fem_sums_center(&sums, m->settling.center);
}

// ---- velocities

static void velocity_of(const Point *p, double out[3]) {
	const FemModal *m = p->body->modal;
	cross(m->settling.spin, p->arm, out);
	for (int i = 0; i < 3; i++) {
		out[i] += m->settling.velocity[i];
		for (int k = 0; k < 4; k++)
			out[i] += (double)p->side->weights[k] * (double)(&p->body->velocity[p->side->nodes[k]].x)[i];
	}
	for (int32_t k = 0; k < m->mode_count; k++) {
		for (int i = 0; i < 3; i++)
			out[i] += m->given[k] * p->mode[k][i];
	}
}

static void push(const Point *p, const double impulse[3]) {
	FemModal *m = p->body->modal;
	Answer answer = answer_of(p, impulse);
	for (int i = 0; i < 3; i++) {
		m->settling.velocity[i] += answer.velocity[i];
		m->settling.spin[i] += answer.spin[i];
	}
	for (int32_t k = 0; k < m->mode_count; k++)
		m->given[k] +=
			(p->mode[k][0] * impulse[0] + p->mode[k][1] * impulse[1] + p->mode[k][2] * impulse[2]) / m->inertia[k];
}

// m/s, that they had against each other.
static double match_velocities(Point points[2], float dt) {
	double gap[3], u[3], v[3], change[3], impulse[3];
	set_point(&points[0]);
	set_point(&points[1]);
	find_gap(points, gap);
	velocity_of(&points[0], u);
	velocity_of(&points[1], v);
	for (int i = 0; i < 3; i++)
		change[i] = u[i] - v[i];
	if (length3(gap) > (double)(FEM_JOINT_SPEED * dt) || !find_impulse(points, change, impulse))
		return 0.0;
	const double other[3] = {-impulse[0], -impulse[1], -impulse[2]};
	push(&points[0], other);
	push(&points[1], impulse);
	return length3(change);
}

// What came together so far goes to the nodes.
static void speed_up(FemBody *body) {
	FemModal *m = body->modal;
	fem_modal_speed_up(body, m->settling.center, m->settling.velocity, m->settling.spin, m->given);
	memset(m->settling.velocity, 0, sizeof m->settling.velocity);
	memset(m->settling.spin, 0, sizeof m->settling.spin);
	memset(m->given, 0, sizeof *m->given * (size_t)m->mode_count);
}

// ---- all joints of a composite

typedef enum Stage { OPEN, CLOSE_GAPS, RETURN_GRABS, PLACE, MATCH_VELOCITIES, SLOW_GRABS, FINISH } Stage;

static void finish(FemBody *body) {
	speed_up(body);
	fem_modal_keep_placed(body);
	body->modal->settling.is_on = false;
}

static void treat_body(FemBody *body, Stage stage, float dt, float speed_max) {
	FemModal *m = body->modal;
	if (stage == OPEN && !m->settling.is_on)
		open_body(body);
	else if (stage == RETURN_GRABS)
		return_grabs(body);
	else if (stage == PLACE)
		place(body);
	else if (stage == SLOW_GRABS && m->grab_count > 0) {
		speed_up(body);
		fem_grabs_settle_velocities(body, dt, speed_max);
	} else if (stage == FINISH && m->settling.is_on)
		finish(body);
}

// Returns the largest that was corrected; bodies of several joints are treated more than once, which is of no harm.
static double treat_all(const FemContactRows *rows, Stage stage, float dt, float speed_max) {
	Point points[2];
	double largest = 0.0;
	for (int32_t c = 0; c < rows->count; c++) {
		if (!is_first_row(&rows->contacts[c]) || !open_joint(rows, &rows->contacts[c], points))
			continue;
		if (stage == CLOSE_GAPS)
			largest = fmax(largest, close_gap(points, dt));
		else if (stage == MATCH_VELOCITIES)
			largest = fmax(largest, match_velocities(points, dt));
		else
			for (int s = 0; s < 2; s++)
				treat_body(points[s].body, stage, dt, speed_max);
	}
	return largest;
}

void fem_joints_settle(const FemContactRows *rows, float dt, float speed_max) {
	bool any = false;
	for (int32_t c = 0; c < rows->count && !any; c++)
		any = is_first_row(&rows->contacts[c]);
	if (!any)
		return;
	treat_all(rows, OPEN, dt, speed_max);
	for (int sweep = 0; sweep < SWEEPS && treat_all(rows, CLOSE_GAPS, dt, speed_max) > ARRIVED; sweep++)
		treat_all(rows, RETURN_GRABS, dt, speed_max);
	treat_all(rows, PLACE, dt, speed_max);
	for (int sweep = 0; sweep < SWEEPS && treat_all(rows, MATCH_VELOCITIES, dt, speed_max) > ARRIVED / (double)dt;
		 sweep++)
		treat_all(rows, SLOW_GRABS, dt, speed_max);
	treat_all(rows, FINISH, dt, speed_max);
}
