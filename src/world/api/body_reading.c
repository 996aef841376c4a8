// What users can read of a body.
#include "base/mat3.h"
#include "base/vec.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "fracture/dice.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/world.h"

#include <math.h>

// ---- counts and lists

uint64_t fem_body_get_user_data(FemBodyId id) {
	FemBody *body = fem_body_find(id, NULL);
	return body ? body->user_data : 0;
}

int32_t fem_body_get_node_count(FemBodyId id) {
	FemBody *body = fem_body_find(id, NULL);
	return body ? body->published_count : 0;
}

// Counts the tets of the mesh, not of the topology, which a running step may replace.
int32_t fem_body_get_tet_count(FemBodyId id) {
	FemWorld *world;
	FemBody *body = fem_body_find(id, &world);
	return body ? world->meshes[body->mesh_index].tet_count : 0;
}

// How many of `count` things to write; 0 for a null pointer.
static int32_t room(const void *out, int32_t capacity, int32_t count) {
	if (!out || capacity < 0)
		return 0;
	return capacity < count ? capacity : count;
}

// A body's connections, between steps only: a step may break it, and that depends on materials which may change.
static const FemTopology *find_connections(FemBodyId id) {
	FemResult result;
	FemBody *body = fem_body_find_idle(id, NULL, &result);
	return body ? body->topology : NULL;
}

int32_t fem_body_get_tets(FemBodyId id, int32_t *out_tets, int32_t tet_capacity) {
	const FemTopology *t = find_connections(id);
	int32_t count = t ? room(out_tets, tet_capacity, t->user_tet_count) : 0;
	for (int32_t user = 0; user < count; user++) {
		int32_t tet = t->tet_of_user[user];
		for (int32_t v = 0; v < 4; v++)
			out_tets[4 * (size_t)user + (size_t)v] = tet < 0 ? -1 : t->user_of_node[fem_tet_node(t, tet, v)];
	}
	return t ? t->user_tet_count : 0;
}

bool fem_body_get_tet_nodes(FemBodyId id, int32_t tet, int32_t out_nodes[4]) {
	const FemTopology *t = find_connections(id);
	if (!t || !out_nodes || tet < 0 || tet >= t->user_tet_count || t->tet_of_user[tet] < 0)
		return false;
	for (int32_t v = 0; v < 4; v++)
		out_nodes[v] = t->user_of_node[fem_tet_node(t, t->tet_of_user[tet], v)];
	return true;
}

int32_t fem_body_get_surface(FemBodyId id, int32_t *out_triangles, int32_t triangle_capacity) {
	const FemTopology *t = find_connections(id);
	if (!t)
		return 0;
	size_t count = 3 * (size_t)room(out_triangles, triangle_capacity, t->triangle_count);
	for (size_t i = 0; i < count; i++)
		out_triangles[i] = t->user_of_node[t->triangles[i]];
	return t->triangle_count;
}

int32_t fem_body_get_positions(FemBodyId id, FemPosition *out_origin, FemVec3 *out_offsets, int32_t node_capacity) {
	FemBody *body = fem_body_find(id, NULL);
	if (out_origin)
		*out_origin = body ? body->published_origin : (FemPosition){0};
	if (!body)
		return 0;
	int32_t count = room(out_offsets, node_capacity, body->published_count);
	for (int32_t user = 0; user < count; user++)
		out_offsets[user] = fem_vec3_from(body->published[user]);
	return body->published_count;
}

const float *fem_body_get_shape(FemBodyId id, bool before, FemShape *out) {
	FemWorld *world;
	FemBody *body = fem_body_find(id, &world);
	if (!body || !out || (before && (body->before.publication == 0 || body->before.publication != world->publication)))
		return NULL;
	const float *low = before ? body->before.box_min : body->box_min;
	const float *high = before ? body->before.box_max : body->box_max;
	out->origin = before ? body->before.origin : body->published_origin;
	out->low = (FemVec3){low[0], low[1], low[2]};
	out->high = (FemVec3){high[0], high[1], high[2]};
	out->node_count = body->published_count;
	return before ? &body->before.positions->x : &body->published->x;
}

int32_t fem_body_get_velocities(FemBodyId id, FemVec3 *out_velocities, int32_t node_capacity) {
	FemResult result;
	FemBody *body = fem_body_find_idle(id, NULL, &result);
	if (!body)
		return 0;
	int32_t count = room(out_velocities, node_capacity, body->topology->user_node_count);
	for (int32_t user = 0; user < count; user++) {
		int32_t node = body->topology->node_of_user[user];
		out_velocities[user] = node < 0 ? (FemVec3){0} : fem_vec3_from(body->velocity[node]);
	}
	return body->topology->user_node_count;
}

FemResult fem_body_get_bounds(FemBodyId id, FemPosition *out_min, FemPosition *out_max) {
	FemBody *body = fem_body_find(id, NULL);
	if (!body)
		return FEM_ERROR_INVALID_ID;
	if (!out_min || !out_max)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_min or out_max is null: pass places to write to.");
	const float *low = body->box_min, *high = body->box_max;
	FemPosition origin = body->published_origin;
	*out_min = fem_position_move(origin, (FemVec3d){(double)low[0], (double)low[1], (double)low[2]});
	*out_max = fem_position_move(origin, (FemVec3d){(double)high[0], (double)high[1], (double)high[2]});
	return FEM_OK;
}

// ---- strain, stress

// F = sum over nodes 1..3 of (x_i - x_0) g_i^T.
static void deformation(const FemBody *body, int32_t tet, float gradient[3][3][FEM_LANES], double out[3][3]) {
	const FemTopology *t = body->topology;
	FemVec3d base = fem_vec3d_from4(body->position[fem_tet_node(t, tet, 0)]);
	memset(out, 0, 9 * sizeof(double));
	for (int32_t v = 0; v < 3; v++) {
		FemVec3d p = fem_vec3d_sub(fem_vec3d_from4(body->position[fem_tet_node(t, tet, v + 1)]), base);
		double d[3] = {p.x, p.y, p.z};
		for (int i = 0; i < 3; i++) {
			for (int j = 0; j < 3; j++)
				out[i][j] += d[i] * (double)gradient[v][j][tet % FEM_LANES];
		}
	}
}

void fem_tet_deformation(const FemBody *body, int32_t tet, double out[3][3]) {
	deformation(body, tet, body->batches[tet / FEM_LANES].gradient, out);
}

// S -= (1 - f) 2 mu sum over both tangents of (n.e.t) (n t^T + t n^T): the transverse shears of a plate, softened.
static void soften_shears(const FemBatchPlate *plate, int32_t lane, double mu, double e[3][3], double stress[3][3]) {
	double n[3], t[2][3];
	for (int i = 0; i < 3; i++) {
		n[i] = (double)plate->normal[i][lane];
		t[0][i] = (double)plate->tangent[i][lane];
	}
	for (int i = 0; i < 3; i++)
		t[1][i] = n[(i + 1) % 3] * t[0][(i + 2) % 3] - n[(i + 2) % 3] * t[0][(i + 1) % 3];
	for (int k = 0; k < 2; k++) {
		double shear = 0.0;
		for (int i = 0; i < 3; i++)
			shear += n[i] * (e[i][0] * t[k][0] + e[i][1] * t[k][1] + e[i][2] * t[k][2]);
		double size = (double)plate->softening[lane] * 2.0 * mu * shear;
		for (int i = 0; i < 3; i++) {
			for (int j = 0; j < 3; j++)
				stress[i][j] -= size * (n[i] * t[k][j] + t[k][i] * n[j]);
		}
	}
}

static void to_world(double r[3][3], double m[3][3], double out[3][3]) {
	double half[3][3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			half[i][j] = r[i][0] * m[0][j] + r[i][1] * m[1][j] + r[i][2] * m[2][j];
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out[i][j] = half[i][0] * r[j][0] + half[i][1] * r[j][1] + half[i][2] * r[j][2];
	}
}

// Of fibres along a unit vector in the axes of the stress.
typedef struct Fibre {
	double direction[3], modulus;
} Fibre;

static Fibre fibre_of(const FemBody *body, int32_t tet) {
	Fibre fibre = {{0.0}, 0.0};
	if (!body->fibres)
		return fibre;
	const FemBatchFibre *batch = &body->fibres[tet / FEM_LANES];
	for (int i = 0; i < 3; i++)
		fibre.direction[i] = (double)batch->direction[i][tet % FEM_LANES];
	fibre.modulus = (double)batch->modulus[tet % FEM_LANES];
	return fibre;
}

static double along(const double a[3], double m[3][3]) {
	double sum = 0.0;
	for (int i = 0; i < 9; i++)
		sum += a[i / 3] * m[i / 3][i % 3] * a[i % 3];
	return sum;
}

// The strain of S = lambda tr(e) I + 2 mu e + k (a.e a) a a^T: trace and a.e a follow from those of S.
static void strain_of_stress(double stress[3][3], double lambda, double mu, const Fibre *fibre, double out[3][3]) {
	double k = fibre->modulus, bulk = 3.0 * lambda + 2.0 * mu, det = bulk * (2.0 * mu + k) - lambda * k;
	double trace = stress[0][0] + stress[1][1] + stress[2][2], a = along(fibre->direction, stress);
	double volume = ((2.0 * mu + k) * trace - k * a) / det, stretch = (bulk * a - lambda * trace) / det;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double others = (i == j ? lambda * volume : 0.0) + k * stretch * fibre->direction[i] * fibre->direction[j];
			out[i][j] = (stress[i][j] - others) / (2.0 * mu);
		}
	}
}

// Stress of the corner with the largest principal value among those of a tet in an acting plate cell, and the strain
// that belongs to it, in the axes of the tet.
static void take_surface_stress(const FemBody *body, int32_t tet, double lambda, double mu, FemTetStrain *out) {
	int32_t cell = fem_acting_cell(body, tet);
	FemTetStress corners[FEM_CELL_CORNERS];
	double largest = -INFINITY, (*r)[3] = out->rotation;
	fem_plate_element_read(body, cell, corners);
	for (int v = 0; v < 4; v++) {
		const FemTetStress *c = &corners[fem_cell_corner(body->topology, cell, tet, v)];
		double s[3][3] = {{(double)c->normal.x, (double)c->shear.x, (double)c->shear.z},
			{(double)c->shear.x, (double)c->normal.y, (double)c->shear.y},
			{(double)c->shear.z, (double)c->shear.y, (double)c->normal.z}};
		double values[3], vectors[3][3];
		fem_eigen_symmetric3(s, values, vectors);
		if (!(values[2] > largest))
			continue;
		largest = values[2];
		double back[3][3] = {{r[0][0], r[1][0], r[2][0]}, {r[0][1], r[1][1], r[2][1]}, {r[0][2], r[1][2], r[2][2]}};
		to_world(back, s, out->stress); // R^T s R
	}
	Fibre fibre = fibre_of(body, tet);
	strain_of_stress(out->stress, lambda, mu, &fibre, out->strain);
}

// The batch's gradients are those of the plastically changed rest shape, so F from them is the elastic part. The stored
// rotation starts an iteration in double; crushed tets, whose rotation comes from QR, keep theirs.
void fem_tet_strain(const FemBody *body, int32_t tet, FemTetStrain *out) {
	int32_t lane = tet % FEM_LANES;
	FemBatch *batch = &body->batches[tet / FEM_LANES];
	double f[3][3], undeformed[3][3];
	deformation(body, tet, batch->gradient, f);
	FemVec4 q = body->rotation[tet];
	fem_quat_to_matrix((FemQuat){q.x, q.y, q.z, q.w}, out->rotation);
	if (fem_determinant3(f) >= (double)FEM_QR_VOLUME_RATIO)
		fem_polar_polish(f, out->rotation);
	fem_corotated_strain(f, out->rotation, out->strain);
	double mu = (double)batch->mu[lane];
	double trace = (double)batch->lambda[lane] * (out->strain[0][0] + out->strain[1][1] + out->strain[2][2]);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out->stress[i][j] = 2.0 * mu * out->strain[i][j] + (i == j ? trace : 0.0);
	}
	Fibre fibre = fibre_of(body, tet);
	double pull = fibre.modulus * along(fibre.direction, out->strain);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out->stress[i][j] += pull * fibre.direction[i] * fibre.direction[j];
	}
	if (body->plates && !fem_tet_is_plain(body, tet))
		soften_shears(&body->plates[tet / FEM_LANES], lane, mu, out->strain, out->stress);
	if (fem_acting_cell(body, tet) >= 0)
		take_surface_stress(body, tet, (double)batch->lambda[lane], mu, out);
	if (body->plastics)
		deformation(body, tet, body->plastics[tet / FEM_LANES].gradient, undeformed);
	out->volume_ratio = fem_determinant3(body->plastics ? undeformed : f);
}

// xx yy zz xy yz zx
static void pack(double m[3][3], float out[6]) {
	for (int i = 0; i < 3; i++) {
		out[i] = (float)m[i][i];
		out[i + 3] = (float)m[i][(i + 1) % 3];
	}
}

static double contract(double a[3][3], double b[3][3]) {
	double sum = 0.0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			sum += a[i][j] * b[i][j];
	}
	return sum;
}

FemResult fem_body_get_tet_state(FemBodyId id, int32_t user_tet, FemTetState *out_state) {
	FemTarget target;
	FemResult result = fem_target_tet(id, user_tet, &target);
	if (result != FEM_OK || (result = fem_check_out(out_state)) != FEM_OK)
		return result;
	const FemBody *body = target.body;
	int32_t tet = target.tet;
	FemTetStrain strain;
	double stress[3][3];
	fem_tet_strain(body, tet, &strain);
	to_world(strain.rotation, strain.stress, stress);
	*out_state = (FemTetState){.volume_ratio = (float)strain.volume_ratio};
	pack(strain.strain, out_state->strain);
	pack(stress, out_state->stress);
	for (int i = 0; body->plastics && i < 6; i++)
		out_state->plastic_strain[i] = body->plastics[tet / FEM_LANES].strain[i][tet % FEM_LANES];
	out_state->material = fem_material_id(target.world, body->tet_material[tet]);
	return FEM_OK;
}

// ---- sums over a body

typedef struct Sums {
	double mass, kinetic;
	FemVec3d moment, momentum, angular; // angular about the body's origin
} Sums;

static Sums sum_nodes(const FemBody *body) {
	Sums sums = {0};
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		double m = (double)body->mass[i];
		FemVec3d x = fem_vec3d_from4(body->position[i]), p = fem_vec3d_scale(fem_vec3d_from4(body->velocity[i]), m);
		sums.mass += m;
		sums.kinetic += 0.5 * fem_vec3d_dot(p, p) / m;
		sums.moment = fem_vec3d_add(sums.moment, fem_vec3d_scale(x, m));
		sums.momentum = fem_vec3d_add(sums.momentum, p);
		sums.angular = fem_vec3d_add(sums.angular, fem_vec3d_cross(x, p));
	}
	return sums;
}

static double plastic_norm(const FemBody *body, int32_t tet) {
	double sum = 0.0;
	for (int i = 0; body->plastics && i < 6; i++) {
		double e = (double)body->plastics[tet / FEM_LANES].strain[i][tet % FEM_LANES];
		sum += (i < 3 ? 1.0 : 2.0) * e * e;
	}
	return sqrt(sum);
}

static int32_t count_softened(const FemWorld *world, const FemBody *body) {
	int32_t count = 0;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
		count += body->topology->user_of_tet[tet] >= 0 && fem_tet_is_softened(world, body, tet);
	return count;
}

int32_t fem_body_get_softened_tets(FemBodyId id) {
	FemResult result;
	FemWorld *world;
	const FemBody *body = fem_body_find_idle(id, &world, &result);
	return body ? count_softened(world, body) : 0;
}

// Energy of the plate cells that act in place of their tets.
static double sum_cells(const FemBody *body) {
	double sum = 0.0;
	for (int32_t cell = 0; body->cells && cell < fem_plate_cell_count(&body->topology->cells); cell++) {
		FemTetStress stress[FEM_CELL_CORNERS];
		sum += fem_cell_acts(body, cell) ? fem_plate_element_read(body, cell, stress) : 0.0;
	}
	return sum;
}

static void sum_tets(const FemBody *body, FemBodyState *state) {
	double max_strain = 0.0, max_stress = 0.0, max_plastic = 0.0;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->topology->user_of_tet[tet] < 0)
			continue;
		FemTetStrain strain;
		double values[3], vectors[3][3];
		fem_tet_strain(body, tet, &strain);
		fem_eigen_symmetric3(strain.stress, values, vectors);
		double volume = (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		if (fem_acting_cell(body, tet) < 0)
			state->elastic_energy += 0.5 * volume * contract(strain.strain, strain.stress);
		state->prestress_energy += body->breaking ? fem_prestress_energy(body, tet) : 0.0;
		max_strain = fmax(max_strain, sqrt(contract(strain.strain, strain.strain)));
		max_stress = fmax(max_stress, values[2]);
		max_plastic = fmax(max_plastic, plastic_norm(body, tet));
	}
	state->elastic_energy += sum_cells(body);
	state->max_strain = (float)max_strain;
	state->max_stress = (float)max_stress;
	state->max_plastic_strain = (float)max_plastic;
}

FemResult fem_body_get_state(FemBodyId id, FemBodyState *out_state) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	if (!out_state)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_state is null: pass a place to write to.");
	Sums sums = sum_nodes(body);
	FemVec3d center = fem_vec3d_scale(sums.moment, 1.0 / sums.mass);
	*out_state = (FemBodyState){
		.mass = sums.mass,
		.center = fem_position_move(body->origin, center),
		.linear_velocity = fem_vec3d_to_vec3(fem_vec3d_scale(sums.momentum, 1.0 / sums.mass)),
		.linear_momentum = fem_vec3d_to_vec3(sums.momentum),
		.angular_momentum = fem_vec3d_to_vec3(fem_vec3d_sub(sums.angular, fem_vec3d_cross(center, sums.momentum))),
		.kinetic_energy = sums.kinetic,
		.crushed_mass = body->breaking ? body->breaking->crushed_mass : 0.0,
		.live_tets = body->live_tets,
		.island_count = fem_body_count_islands(&world->islands, body),
		.pinned_count = body->pinned_count,
		.softened_tets = count_softened(world, body),
		.asleep = fem_body_sleeps(body),
	};
	sum_tets(body, out_state);
	return FEM_OK;
}
