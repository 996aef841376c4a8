#include "fracture/separation.h"

#include "base/assert.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "fracture/principal.h"
#include "fracture/wall_star.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "model/plate_elements.h"
#include "model/tet_batches.h"
#include "topology/topology.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Toughness as force over the stress that a tet's largest face makes of it: a star has about 20 tets, each with a face
// and a sixth of its area in the tensor. Below that bound on purpose: a node looked at in vain costs little.
#define STAR_SHARE 0.3f
#define AXIS_MIN 1e-6  // length of a mean of unit vectors below which fibres have no common direction
#define AREA_MIN 1e-30 // m^2: keeps a division finite

// The separation tensor averages over the tets around a node. A node none of whose tets reaches this share of its
// toughness in tension is not looked at.
#define HOT_SHARE 0.4f

// ---- fibres

// q g q^-1 = g + 2 q.w (q x g) + 2 q x (q x g), of the fibres of a tet: their direction in the world.
static void fibre_of_tet(const FemBody *body, int32_t tet, double out[3]) {
	FemVec4 g = body->tet_grain[tet], q = body->rotation[tet];
	double u[3] = {(double)(q.y * g.z - q.z * g.y), (double)(q.z * g.x - q.x * g.z), (double)(q.x * g.y - q.y * g.x)};
	out[0] = (double)g.x + 2.0 * ((double)q.w * u[0] + (double)q.y * u[2] - (double)q.z * u[1]);
	out[1] = (double)g.y + 2.0 * ((double)q.w * u[1] + (double)q.z * u[0] - (double)q.x * u[2]);
	out[2] = (double)g.z + 2.0 * ((double)q.w * u[2] + (double)q.x * u[1] - (double)q.y * u[0]);
}

static bool has_directions(const FemBody *body) {
	return body->breaking->has_grain || body->breaking->has_mortar;
}

// Fibres hold together along themselves: z' = A z A with A = I - w g g^T counts what pulls along them 1 / ratio. So
// does what pulls at joints of masonry, where the ratio is less than 1.
static void apply_grain(double z[6], const double g[3], double w) {
	double full[3][3] = {{z[0], z[3], z[5]}, {z[3], z[1], z[4]}, {z[5], z[4], z[2]}};
	double a[3][3], left[3][3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			a[i][j] = (i == j ? 1.0 : 0.0) - w * g[i] * g[j];
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			left[i][j] = a[i][0] * full[0][j] + a[i][1] * full[1][j] + a[i][2] * full[2][j];
	}
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		z[i] = left[i][0] * a[0][i] + left[i][1] * a[1][i] + left[i][2] * a[2][i];
		z[i + 3] = left[i][0] * a[0][j] + left[i][1] * a[1][j] + left[i][2] * a[2][j];
	}
}

static void unpack(const FemTetStress *s, double out[6]) {
	out[0] = (double)s->normal.x, out[1] = (double)s->normal.y, out[2] = (double)s->normal.z;
	out[3] = (double)s->shear.x, out[4] = (double)s->shear.y, out[5] = (double)s->shear.z;
}

static FemTetStress pack(const double p[6]) {
	return (FemTetStress){{(float)p[0], (float)p[1], (float)p[2], 0.0f}, {(float)p[3], (float)p[4], (float)p[5], 0.0f}};
}

float fem_felt_tension(const FemBody *body, int32_t tet, const FemTetStress *stress) {
	double s[6], axis[3];
	if (!body->breaking || !has_directions(body) || body->tet_grain[tet].w == 0.0f)
		return fem_tension_bound(stress);
	unpack(stress, s);
	fibre_of_tet(body, tet, axis);
	apply_grain(s, axis, (double)body->tet_grain[tet].w);
	FemTetStress felt = pack(s);
	return fem_tension_bound(&felt);
}

// ---- hot

// Toughness, a force, converted to a stress by the largest face of the tet, which bounds the stress that a node can
// feel there.
static float toughness_as_stress(const FemBody *body, int32_t tet) {
	if (!body->tet_by_force[tet])
		return body->tet_toughness[tet];
	float volume = body->batches[tet / FEM_LANES].volume[tet % FEM_LANES], largest = 0.0f;
	for (int v = 0; v < 4; v++) {
		FemVec4 c = body->step->tet_blocks[tet].gradient[v];
		largest = fmaxf(largest, c.x * c.x + c.y * c.y + c.z * c.z);
	}
	// Area of a face: 3 V |c|.
	return STAR_SHARE * body->tet_toughness[tet] / (3.0f * volume * sqrtf(largest));
}

// Several threads may mark one node, all with the same value.
static void mark(uint8_t *flag) {
	atomic_store_explicit((_Atomic uint8_t *)flag, 1, memory_order_relaxed);
}

void fem_separation_find_hot(FemBody *body, int32_t batch_begin, int32_t batch_end, float share, bool has_rigid) {
	const FemTopology *t = body->topology;
	for (int32_t tet = batch_begin * FEM_LANES; tet < batch_end * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] < 0)
			continue;
		float bound = fem_tension_bound(&body->step->tet_stress[tet]);
		float least = share * HOT_SHARE * toughness_as_stress(body, tet);
		bool is_weaker = has_directions(body) && body->tet_grain[tet].w < 0.0f; // than the bound knows
		if (!(bound > 0.0f) || (!is_weaker && !(bound >= least)) ||
			!(fem_felt_tension(body, tet, &body->step->tet_stress[tet]) >= least))
			continue;
		if (!has_rigid && body->pieces[fem_tet_component(t, tet)].is_rigid)
			continue;
		for (int v = 0; v < 4; v++)
			mark(&body->step->node_hot[fem_tet_node(t, tet, v)]);
	}
}

// ---- tension

static FemTetStress tensile_part(const FemTetStress *stress) {
	double s[6], p[6];
	unpack(stress, s);
	fem_tensile_part(s, p);
	return pack(p);
}

void fem_separation_find_tension(FemBody *body, int32_t batch_begin, int32_t batch_end) {
	const FemTopology *t = body->topology;
	for (int32_t tet = batch_begin * FEM_LANES; tet < batch_end * FEM_LANES; tet++) {
		bool is_hot = false;
		for (int v = 0; v < 4 && t->user_of_tet[tet] >= 0; v++)
			is_hot |= body->step->node_hot[fem_tet_node(t, tet, v)] != 0;
		int32_t cell = fem_acting_cell(body, tet);
		if (is_hot && cell < 0) // in a cell those of its corners count
			body->step->tension[tet] = tensile_part(&body->step->tet_stress[tet]);
		if (cell >= 0 && t->cells.cells[cell].tets[0] == tet)
			body->step->cell_normals[cell] = fem_wall_cell_normal(body, cell);
	}
}

// ---- tensor

static void stress_times(const FemTetStress *s, FemVec4 c, double scale, double out[3]) {
	double x = (double)c.x, y = (double)c.y, z = (double)c.z;
	out[0] = scale * ((double)s->normal.x * x + (double)s->shear.x * y + (double)s->shear.z * z);
	out[1] = scale * ((double)s->shear.x * x + (double)s->normal.y * y + (double)s->shear.y * z);
	out[2] = scale * ((double)s->shear.z * x + (double)s->shear.y * y + (double)s->normal.z * z);
}

// out += scale m(a), m(a) = a a^T / |a| (O'Brien & Hodgins 1999, eq. 28).
static void add_force(double out[6], double scale, const double a[3]) {
	double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
	if (!(length > 0.0))
		return;
	double share = scale / length;
	for (int i = 0; i < 3; i++) {
		out[i] += share * a[i] * a[i];
		out[i + 3] += share * a[i] * a[(i + 1) % 3];
	}
}

// Stress that a node feels in a tet of its star: that of the surface there, in an acting plate cell.
static const FemTetStress *stress_at(const FemBody *body, int32_t entry) {
	int32_t cell = fem_acting_cell(body, entry / 4);
	if (cell < 0)
		return body->step->tet_stress + entry / 4;
	int32_t corner = fem_cell_corner(body->topology, cell, entry / 4, entry % 4);
	return body->step->cell_stress + fem_cell_corner_place(body->topology, cell, corner);
}

#define CORNERS_KEPT 8 // of cells around a node: columns of a grid have up to 6 prisms or 4 hexahedra; chosen

// Tensile parts of stresses that are not made beforehand: those at the corners of cells, which several tets of a cell
// share, and in a probe those of tets.
typedef struct CornerTensions {
	const FemTetStress *stress[CORNERS_KEPT];
	FemTetStress tension[CORNERS_KEPT];
	int32_t count;
} CornerTensions;

// The tensile part of stress_at().
static const FemTetStress *tension_at(
	const FemBody *body, int32_t entry, const FemTetStress *stress, CornerTensions *corners) {
	if (body->step->tension && fem_acting_cell(body, entry / 4) < 0)
		return body->step->tension + entry / 4;
	int32_t k = 0;
	while (k < corners->count && corners->stress[k] != stress)
		k++;
	if (k == CORNERS_KEPT)
		k--; // the last one is made anew
	if (k == corners->count || corners->stress[k] != stress) {
		corners->stress[k] = stress;
		corners->tension[k] = tensile_part(stress);
		corners->count = k + 1;
	}
	return &corners->tension[k];
}

// Gradient of the shape function of a node in a tet of its star, 1/m; in a curved wall with the star laid flat.
static FemVec4 gradient_at(const FemBody *body, int32_t entry, const FemWallStar *wall) {
	FemVec4 c = body->step->tet_blocks[entry / 4].gradient[entry % 4];
	if (!wall->is_curved)
		return c;
	double v[3] = {(double)c.x, (double)c.y, (double)c.z};
	fem_wall_lay_flat(wall, fem_acting_cell(body, entry / 4), v);
	return (FemVec4){(float)v[0], (float)v[1], (float)v[2], 0.0f};
}

// zeta = 1/2 (-m(sum f+) + sum m(f+) + m(sum f-) - sum m(f-)), N, with f+ = -V sigma+ c and f- = f - f+
// (O'Brien & Hodgins 1999, eq. 32). In a curved wall all tets pull with its stress, laid flat: as they lie, the pulls
// of both sides have a part along the normal in common, which parts nothing.
static void separation_tensor(
	const FemBody *body, const int32_t *star, int32_t star_count, const FemWallStar *wall, double zeta[6]) {
	double sum[2][3] = {{0}};
	CornerTensions corners;
	corners.count = 0;
	memset(zeta, 0, 6 * sizeof *zeta);
	for (int32_t k = 0; k < star_count; k++) {
		int32_t tet = star[k] / 4;
		double volume = (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES], all[3], pull[3], push[3];
		FemVec4 c = gradient_at(body, star[k], wall);
		const FemTetStress *stress = wall->is_curved ? &wall->stress : stress_at(body, star[k]);
		stress_times(stress, c, -volume, all);
		stress_times(wall->is_curved ? &wall->tension : tension_at(body, star[k], stress, &corners), c, -volume, pull);
		for (int i = 0; i < 3; i++) {
			push[i] = all[i] - pull[i];
			sum[0][i] += pull[i];
			sum[1][i] += push[i];
		}
		add_force(zeta, 0.5, pull);
		add_force(zeta, -0.5, push);
	}
	add_force(zeta, -0.5, sum[0]);
	add_force(zeta, 0.5, sum[1]);
}

// The mean direction of the fibres around a node in the world, and the mean of their strength; false for none.
static bool grain_at(const FemBody *body, const int32_t *star, int32_t star_count, double axis[3], double *out_weight) {
	double weight = 0.0, length;
	axis[0] = axis[1] = axis[2] = 0.0;
	for (int32_t k = 0; k < star_count; k++) {
		int32_t tet = star[k] / 4;
		double rotated[3];
		if (body->tet_grain[tet].w == 0.0f)
			continue;
		fibre_of_tet(body, tet, rotated);
		double sign = rotated[0] * axis[0] + rotated[1] * axis[1] + rotated[2] * axis[2] < 0.0 ? -1.0 : 1.0;
		for (int i = 0; i < 3; i++)
			axis[i] += sign * rotated[i];
		weight += (double)body->tet_grain[tet].w;
	}
	length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
	if (!(length > AXIS_MIN))
		return false;
	for (int i = 0; i < 3; i++)
		axis[i] /= length;
	*out_weight = weight / star_count;
	FEM_ASSERT(*out_weight < 1.0 + 1e-6 && !isinf(*out_weight));
	return true;
}

// The force that a stress of 1 Pa along n gives a node: 1/6 sum |n . face| = 1/2 sum V |n . c| (docs/method.md,
// "Toughness").
static double area_along(
	const FemBody *body, const int32_t *star, int32_t star_count, const FemWallStar *wall, const double n[3]) {
	double area = 0.0;
	for (int32_t k = 0; k < star_count; k++) {
		int32_t tet = star[k] / 4;
		FemVec4 c = gradient_at(body, star[k], wall);
		double volume = (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		area += 0.5 * volume * fabs(n[0] * (double)c.x + n[1] * (double)c.y + n[2] * (double)c.z);
	}
	return area;
}

// The mean stress at a held node of a plate, Pa, by the volume of its tets. The separation tensor counts what pulls
// from both sides, and at a clamped rim one side is the clamp, which pulls as hard and is in no tet.
static bool stress_at_rim(const FemBody *body, int32_t node, const int32_t *star, int32_t star_count, double out[6]) {
	double sum = 0.0;
	memset(out, 0, 6 * sizeof *out);
	for (int32_t k = 0; k < star_count; k++) {
		if (body->node_kind[node] == FEM_NODE_FREE || fem_acting_cell(body, star[k] / 4) < 0)
			return false;
		double volume = (double)body->batches[star[k] / 4 / FEM_LANES].volume[star[k] / 4 % FEM_LANES], s[6];
		unpack(stress_at(body, star[k]), s);
		for (int i = 0; i < 6; i++)
			out[i] += volume * s[i];
		sum += volume;
	}
	for (int i = 0; i < 6; i++)
		out[i] /= sum;
	return sum > 0.0;
}

bool fem_separation_of_node(
	const FemBody *body, int32_t node, const int32_t *star, int32_t star_count, float gain, FemSeparation *out) {
	double zeta[6], values[3], normal[3], axis[3], weight, weakest[2] = {INFINITY, INFINITY};
	FEM_ASSERT(star_count >= 0);
	for (int32_t k = 0; k < star_count; k++) {
		int32_t tet = star[k] / 4;
		double toughness = (double)body->tet_toughness[tet];
		int by_force = body->tet_by_force[tet] != 0;
		weakest[by_force] = fmin(weakest[by_force], toughness);
	}
	if (star_count < 2 || (isinf(weakest[0]) && isinf(weakest[1])))
		return false;
	FemWallStar wall;
	fem_wall_star(body, star, star_count, &wall);
	bool is_rim = stress_at_rim(body, node, star, star_count, zeta);
	if (!is_rim)
		separation_tensor(body, star, star_count, &wall, zeta);
	if (has_directions(body) && grain_at(body, star, star_count, axis, &weight))
		apply_grain(zeta, axis, weight);
	fem_principal_values(zeta, values);
	if (!(values[0] > 0.0))
		return false;
	FEM_ASSERT(fmin(values[0] - values[1], values[1] - values[2]) >= -1e-6 * (fabs(values[0]) + fabs(values[2])));
	fem_principal_vector(zeta, values[0], normal);
	FEM_ASSERT(fabs(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2] - 1.0) < 1e-6);
	double area = fmax(area_along(body, star, star_count, &wall, normal), AREA_MIN);
	double stress = is_rim ? values[0] : values[0] / area, force = is_rim ? values[0] * area : values[0];
	double excess = (double)gain *
		fmax(weakest[0] > 0.0 ? stress / weakest[0] : INFINITY, weakest[1] > 0.0 ? force / weakest[1] : INFINITY);
	if (!(excess > 1.0))
		return false;
	*out = (FemSeparation){node, {(float)normal[0], (float)normal[1], (float)normal[2]}, (float)excess, false, 0};
	return true;
}
