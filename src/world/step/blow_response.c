#include "world/step/blow_response.h"

#include "base/assert.h"
#include "dynamics/rigid_motion.h"
#include "fracture/separation.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/passes.h"
#include "world/step/piece_probe.h"

#include <math.h>

// The stiffness in a blow over that of the solve.
static float ratio_of_tet(const FemBody *body, int32_t tet) {
	return body->breaking && body->tet_impact[tet].stiffness > 0.0f ? body->tet_impact[tet].stiffness : 1.0f;
}

float fem_impact_modulus(const FemBody *body, int32_t tet) {
	return 2.5f * ratio_of_tet(body, tet) * body->batches[tet / FEM_LANES].mu[tet % FEM_LANES];
}

// The tet whose material is taken for that of a whole piece.
static int32_t tet_of_piece(const FemBody *body, int32_t component) {
	int32_t node = body->topology->component_nodes[component].begin;
	return body->topology->node_tets[body->topology->node_tet_start[node]] / 4;
}

// ---- rigid motion

// Of a free piece: about its centre.
typedef struct Rigid {
	FemMotionSums sums;
	double center[3], velocity[3], spin[3];
} Rigid;

static Rigid rigid_of_piece(const FemBody *body, FemRange nodes) {
	Rigid out = {.sums = fem_sums_of_nodes(body, nodes)};
	fem_sums_center(&out.sums, out.center);
	return out;
}

// The motion that has the momentum p and the angular momentum l about the body's origin.
static void set_motion(Rigid *rigid, const double p[3], const double l[3]) {
	double about[3];
	fem_about_center(l, p, rigid->center, about);
	fem_sums_solve_inertia(&rigid->sums, rigid->center, about, rigid->spin);
	for (int k = 0; k < 3; k++)
		rigid->velocity[k] = p[k] / rigid->sums.mass;
}

static void velocity_at(const Rigid *rigid, FemVec4 place, float out[3]) {
	const float *x = &place.x;
	double r[3];
	for (int k = 0; k < 3; k++)
		r[k] = (double)x[k] - rigid->center[k];
	for (int k = 0; k < 3; k++) {
		int a = (k + 1) % 3, b = (k + 2) % 3;
		out[k] = (float)(rigid->velocity[k] + rigid->spin[a] * r[b] - rigid->spin[b] * r[a]);
	}
}

// 1/kg: what a load gives a free piece as a rigid body, J.z. The load is left with what deforms the piece: beside the
// stiffness of a hard thing floats do not hold its mass, and the response to the whole of it would be wrong.
static float take_out_rigid(FemBody *body, FemRange nodes, Rigid *out_rigid) {
	Rigid rigid = rigid_of_piece(body, nodes);
	FemMotionSums loads = {.finite = true};
	double total = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x, *j = &body->step->rhs[i].x;
		fem_sums_add_impulse(&loads, (double[3]){(double)x[0], (double)x[1], (double)x[2]},
			(double[3]){(double)j[0], (double)j[1], (double)j[2]});
	}
	set_motion(&rigid, loads.impulse, loads.torque);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float v[3], *j = &body->step->rhs[i].x;
		velocity_at(&rigid, body->position[i], v);
		for (int k = 0; k < 3; k++) {
			total += (double)(v[k] * j[k]);
			j[k] -= body->mass[i] * v[k];
		}
	}
	*out_rigid = rigid;
	return (float)total;
}

// The response has no rigid motion, but for rounding.
static void take_rigid_out_of_response(FemBody *body, FemRange nodes) {
	Rigid rigid = rigid_of_piece(body, nodes);
	FemMotionSums sums = {.finite = true};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x, *v = &body->step->dv[i].x;
		fem_sums_add_node(&sums, (double)body->mass[i], (double[3]){(double)x[0], (double)x[1], (double)x[2]},
			(double[3]){(double)v[0], (double)v[1], (double)v[2]});
	}
	set_motion(&rigid, sums.momentum, sums.angular);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float v[3], *dv = &body->step->dv[i].x;
		velocity_at(&rigid, body->position[i], v);
		for (int k = 0; k < 3; k++)
			dv[k] -= v[k];
	}
}

// How a piece answers its load J within a time tau. With A = M + kappa tau^2 K the response is z = A^-1 J, and J.z =
// z.M z + kappa tau^2 z.K z.
typedef struct Response {
	float inertia, elastic; // 1/kg: the two parts of J.z
	float dent;             // 1/kg: what the mesh does not show of the dent in a wall, half inertia and half elastic
	float scale;            // of what fem_probe_respond() leaves to z
} Response;

static float density_of(const FemPiece *piece) {
	return piece->mass / piece->volume;
}

static float dent_of(const FemBody *body, int32_t component, float time) {
	const FemWallBlow *wall = &body->step->blows[component].wall;
	float modulus = fem_impact_modulus(body, tet_of_piece(body, component));
	return wall->thickness > 0.0f ? fem_wall_response(wall, modulus, density_of(&body->pieces[component]), time) : 0.0f;
}

static Response respond(FemBody *body, int32_t component, float time, float dt) {
	FemRange nodes = body->topology->component_nodes[component];
	int32_t tet = tet_of_piece(body, component);
	float damping = body->batches[tet / FEM_LANES].damping[tet % FEM_LANES];
	float scale = dt * (dt + damping) / (ratio_of_tet(body, tet) * time * time);
	double total = 0.0, inertia = 0.0;
	fem_probe_respond(body, component, dt, scale);
	if (!fem_piece_is_attached(body, component))
		take_rigid_out_of_response(body, nodes);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 j = body->step->rhs[i], x = body->step->dv[i];
		total += (double)(j.x * x.x + j.y * x.y + j.z * x.z);
		inertia += (double)(body->mass[i] * (x.x * x.x + x.y * x.y + x.z * x.z));
	}
	total *= (double)scale;
	inertia = fmin((double)scale * (double)scale * inertia, total);
	float dent = dent_of(body, component, time) - (float)total;
	return (Response){(float)inertia, (float)(total - inertia), fmaxf(dent, 0.0f), scale};
}

// s: a first guess at the time in which a piece is stopped.
static float guess_time(const FemBody *body, int32_t component) {
	const FemPiece *piece = &body->pieces[component];
	float stiffness = fem_impact_modulus(body, tet_of_piece(body, component)) * piece->thickness;
	return 2.0f / sqrtf(stiffness * (1.0f / piece->mass + body->step->blows[component].mobility));
}

static float clamp_time(float time) {
	return fminf(fmaxf(time, FEM_BLOW_TIME_MIN), FEM_BLOW_TIME_MAX);
}

// The sums of contacts become means, the load that of 1 N s.
static void normalize(FemBody *body, int32_t component) {
	FemBlow *blow = &body->step->blows[component];
	FemRange nodes = body->topology->component_nodes[component];
	float share = 1.0f / blow->weight;
	blow->approach *= share, blow->mobility *= share, blow->give *= share;
	if (blow->wall.share > 0.0f) {
		blow->wall.patch /= blow->wall.share;
		blow->wall.share *= share;
	}
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 *load = &body->step->rhs[i];
		*load = (FemVec4){load->x * share, load->y * share, load->z * share, 0.0f};
	}
}

// The time that stops the piece with the greatest force: when as much is elastic as is inertia of what is stopped. A
// mass m on a spring k is stopped by v / (tau / m + 1 / (k tau)), which is largest at tau = sqrt(m / k). Inertia of the
// deformation does not count: where waves run it is as large as the elastic part at any time and the force the same,
// that of a damper, and the piece is stopped by the longest of these times, which bends all of it. It is not shorter
// than what the mesh can follow: while elastic part and inertia of the deformation are as tau^2 to 1, nothing has bent
// yet.
static Response find_response(FemBody *body, int32_t component, float dt, float inertia, float *time) {
	const FemBlow *blow = &body->step->blows[component];
	FemPiece *piece = &body->pieces[component];
	bool is_known = piece->blow_time > 0.0f;
	*time = is_known ? piece->blow_time : clamp_time(guess_time(body, component));
	Response response = respond(body, component, *time, dt);
	// s, in which a wall without end stops what strikes it: up to then the force is about the same, and the later, the
	// more of its energy is in the dent.
	float longest = inertia > 0.0f ? dent_of(body, component, 1.0f) / inertia : 0.0f;
	for (int round = 1; !is_known && round < FEM_BLOW_ROUNDS; round++) {
		float half = 0.5f * response.dent, elastic = response.elastic + half, inert = response.inertia + half;
		float stopped = inertia > 0.0f ? inertia : inert;
		float wanted = *time * sqrtf((elastic + blow->give / (*time * *time)) / stopped),
			  least = *time * sqrtf(FEM_BLOW_RESOLVED_SHARE * inert / elastic);
		if (response.dent > elastic && longest > wanted)
			wanted = longest;
		longest = fminf(longest, *time); // where the mesh shows the dent, it decides
		wanted = clamp_time(elastic > 0.0f ? fmaxf(wanted, least) : wanted);
		if (wanted < FEM_BLOW_TIME_FACTOR * *time && wanted * FEM_BLOW_TIME_FACTOR > *time)
			break;
		*time = wanted;
		response = respond(body, component, *time, dt);
	}
	piece->blow_time = *time;
	body->breaking->was_struck = true;
	return response;
}

// What a force (N) does at the place of a wall where it strikes.
static void strain_wall(const FemBody *body, int32_t component, float time, float force) {
	const FemTopology *t = body->topology;
	FemWallBlow *wall = &body->step->blows[component].wall;
	int32_t tet = tet_of_piece(body, component);
	float modulus = fem_impact_modulus(body, tet), least = INFINITY;
	for (int32_t k = t->node_tet_start[wall->node]; k < t->node_tet_start[wall->node + 1]; k++)
		least = fminf(least, body->tet_toughness[t->node_tets[k] / 4]);
	float share = body->tet_impact[tet].weakness / (ratio_of_tet(body, tet) * least); // 1/Pa
	wall->excess = share * fem_wall_stress(wall, modulus, density_of(&body->pieces[component]), time, force);
	wall->ring = share * fem_wall_ring_stress(wall, force);
}

// An impulse lasts as long as its blow, and the waves that run meanwhile take it into the piece: z J are the velocities
// at its end. Their momentum is that of what it gave the nodes, which would else go with the chip that breaks off
// there.
static void spread_impulse(FemBody *body, int32_t component, const Rigid *rigid, float scale) {
	FemRange nodes = body->topology->component_nodes[component];
	float impulse = body->step->blows[component].weight;
	bool is_free = !fem_piece_is_attached(body, component);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float v[3] = {0.0f, 0.0f, 0.0f}, *now = &body->velocity[i].x;
		const float *struck = &body->step->struck[i].x, *z = &body->step->dv[i].x;
		if (is_free)
			velocity_at(rigid, body->position[i], v);
		for (int k = 0; k < 3; k++)
			now[k] += impulse * (v[k] + scale * z[k]) - struck[k];
		body->step->start->velocity[i] = body->velocity[i];
	}
}

// What strikes is no slower than what it makes of the piece as a rigid body (J.z, 1/kg).
static void hasten(FemBlow *blow, float rigid) {
	float speed = blow->weight * rigid;
	if (speed > blow->approach) {
		blow->approach = speed;
		blow->mobility = speed / blow->weight;
	}
}

void fem_blow_displace(FemBody *body, int32_t component, float dt) {
	FemBlow *blow = &body->step->blows[component];
	FemRange nodes = body->topology->component_nodes[component];
	bool is_free = !fem_piece_is_attached(body, component), is_new = !(body->pieces[component].blow_time > 0.0f);
	Rigid motion = {.center = {0.0}};
	float time;
	FEM_ASSERT(blow->weight > 0.0f);
	normalize(body, component);
	float rigid = is_free ? take_out_rigid(body, nodes, &motion) : 0.0f;
	if (blow->is_impulse)
		hasten(blow, rigid);
	float inertia = blow->mobility + rigid;
	Response response = find_response(body, component, dt, inertia, &time);
	float sum = inertia + response.inertia + response.elastic + response.dent + blow->give / (time * time);
	float impulse = blow->approach / sum, gain = FEM_BLOW_GAIN - response.dent / sum; // waves do not swing back
	float whole = blow->mobility + (is_free ? 1.0f / body->pieces[component].mass : 0.0f);
	blow->impulse = gain * impulse;
	blow->dent_energy = 0.25f * blow->impulse * blow->impulse * response.dent;
	blow->energy = 0.5f * blow->approach * blow->approach / whole;
	blow->stopped = blow->is_impulse ? 1.0f : fminf(gain * impulse * inertia / blow->approach, 1.0f);
	if (blow->is_impulse && is_new && fem_piece_is_wholly_live(body, component))
		spread_impulse(body, component, &motion, response.scale);
	float scale = gain * time * impulse * response.scale * body->tet_impact[tet_of_piece(body, component)].weakness;
	if (blow->wall.thickness > 0.0f)
		strain_wall(body, component, time, gain * impulse / time);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 *x = &body->position[i], u = body->step->dv[i];
		*x = (FemVec4){x->x + scale * u.x, x->y + scale * u.y, x->z + scale * u.z, x->w};
	}
}
