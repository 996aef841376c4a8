#include "world/step/wall_blows.h"

#include "base/hash.h"
#include "model/plate_elements.h"
#include "topology/topology.h"

#include <math.h>

#define POISSON 0.25f     // as of fem_impact_modulus()
#define NEAR 8.0f         // thicknesses: what strikes within that makes one dent; chosen, that of a stone is as wide
#define EULER 0.5772157f  // Euler's constant
#define RADIUS_MIN 1e-4f  // of the thickness: keeps a logarithm finite
#define CENTRAL_SHARE 0.1 // of the size of a star: its centre is so near to the node when it lies all round; chosen

// ---- where

static FemVec4 middle_of_column(const FemBody *body, const FemPlateCell *cell, int column) {
	const FemTopology *t = body->topology;
	int32_t a = cell->corners[2 * column], b = cell->corners[2 * column + 1];
	FemVec4 x = body->position[fem_tet_node(t, a / 4, a % 4)], y = body->position[fem_tet_node(t, b / 4, b % 4)];
	return (FemVec4){0.5f * (x.x + y.x), 0.5f * (x.y + y.y), 0.5f * (x.z + y.z), 0.0f};
}

// The middle of a cell as a polygon: twice its area as a vector.
static void area_of_cell(const FemBody *body, const FemPlateCell *cell, float out[3]) {
	int columns = fem_cell_column_count(cell);
	FemVec4 first = middle_of_column(body, cell, 0);
	out[0] = out[1] = out[2] = 0.0f;
	for (int k = 1; k + 1 < columns; k++) {
		FemVec4 p = middle_of_column(body, cell, k), q = middle_of_column(body, cell, k + 1);
		float a[3] = {p.x - first.x, p.y - first.y, p.z - first.z},
			  b[3] = {q.x - first.x, q.y - first.y, q.z - first.z};
		for (int i = 0; i < 3; i++)
			out[i] += a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
	}
}

FemWallBlow fem_wall_blow(const FemBody *body, int32_t tet, int32_t node, FemVec4 place, const float normal[3]) {
	FemWallBlow out = {.node = node, .place = place};
	int32_t index = fem_acting_cell(body, tet);
	if (index < 0 || body->breaking->has_grain)
		return out;
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	out.cell = index;
	float area[3], volume = 0.0f;
	area_of_cell(body, cell, area);
	for (int k = 0; k < fem_cell_tet_count(cell); k++)
		volume += body->batches[cell->tets[k] / FEM_LANES].volume[cell->tets[k] % FEM_LANES];
	float twice = sqrtf(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]);
	if (!(twice > 0.0f))
		return out;
	for (int i = 0; i < 3; i++) {
		out.axis[i] = area[i] / twice;
		out.cosine += out.axis[i] * normal[i];
	}
	out.thickness = 2.0f * volume / twice;
	return out;
}

void fem_wall_blow_add(FemWallBlow *wall, FemVec4 at, float weight, float patch) {
	FemVec4 x = wall->place;
	float d[3] = {at.x - x.x, at.y - x.y, at.z - x.z}, square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
	float reach = NEAR * wall->thickness;
	if (!(square < reach * reach))
		return;
	wall->share += weight;
	wall->patch += weight * patch;
}

// ---- how it answers

static float bending_stiffness(const FemWallBlow *wall, float modulus) {
	float t = wall->thickness;
	return modulus * t * t * t / (12.0f * (1.0f - POISSON * POISSON));
}

float fem_wall_response(const FemWallBlow *wall, float modulus, float density, float time) {
	// Of n places that are struck alike each takes 1/n and answers to that: the sum of their squares is 1/n.
	float acting = wall->share * wall->cosine * wall->cosine;
	return acting / (8.0f * time * sqrtf(bending_stiffness(wall, modulus) * density * wall->thickness));
}

float fem_wall_stress(const FemWallBlow *wall, float modulus, float density, float time, float force) {
	float t = wall->thickness, acting = wall->share * fabsf(wall->cosine) * force;
	float length = sqrtf(time * sqrtf(bending_stiffness(wall, modulus) / (density * t)));
	float square = wall->patch * acting;
	float radius = sqrtf(1.6f * square + t * t) - 0.675f * t;
	if (square > 1.724f * 1.724f * t * t)
		radius = sqrtf(square);
	float depth = logf(2.0f * length / fmaxf(radius, RADIUS_MIN * t)) + 0.5f - EULER;
	return 1.5f * (1.0f + POISSON) * acting / (3.14159265f * t * t) * fmaxf(depth, 0.0f);
}

float fem_wall_ring_stress(const FemWallBlow *wall, float force) {
	float t = wall->thickness;
	return 3.0f * wall->share * fabsf(wall->cosine) * force / (3.14159265f * t * t);
}

// ---- what it does

static double unit_chance(uint64_t hash) {
	return (double)(hash >> 11) * 0x1p-53;
}

// A direction in the wall: that of the middle of what is left around the node, or any when that is all round.
static void direction_of_crack(const FemBody *body, const FemWallBlow *wall, uint64_t chance, double out[3]) {
	const FemTopology *t = body->topology;
	double sum[3] = {0.0, 0.0, 0.0}, size = 0.0, along = 0.0, length = 0.0;
	FemVec4 x = body->position[wall->node];
	for (int32_t k = t->node_tet_start[wall->node]; k < t->node_tet_start[wall->node + 1]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		double volume = (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES], square = 0.0;
		for (int i = 0; i < 3; i++) {
			double d = 0.0;
			for (int v = 0; v < 4; v++)
				d += 0.25 * (double)((&body->position[fem_tet_node(t, tet, v)].x)[i] - (&x.x)[i]);
			sum[i] += volume * d;
			square += d * d;
		}
		size += volume * sqrt(square);
	}
	for (int i = 0; i < 3; i++)
		along += sum[i] * (double)wall->axis[i];
	for (int i = 0; i < 3; i++) {
		out[i] = sum[i] - along * (double)wall->axis[i];
		length += out[i] * out[i];
	}
	length = sqrt(length);
	if (!(length > CENTRAL_SHARE * size)) {
		int least = 0;
		for (int i = 1; i < 3; i++)
			least = fabsf(wall->axis[i]) < fabsf(wall->axis[least]) ? i : least;
		double angle = 6.283185307179586 * unit_chance(chance), a = (double)wall->axis[least], u[3], w[3];
		for (int i = 0; i < 3; i++)
			u[i] = (i == least ? 1.0 : 0.0) - a * (double)wall->axis[i];
		double norm = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
		for (int i = 0; i < 3; i++)
			w[i] =
				((double)wall->axis[(i + 1) % 3] * u[(i + 2) % 3] - (double)wall->axis[(i + 2) % 3] * u[(i + 1) % 3]);
		for (int i = 0; i < 3; i++)
			out[i] = (cos(angle) * u[i] + sin(angle) * w[i]) / norm;
		length = 1.0;
	}
	for (int i = 0; i < 3; i++)
		out[i] /= length;
}

// Away from the place, in the wall; false: it is there.
static bool direction_to(const FemBody *body, const FemWallBlow *wall, int32_t node, double out[3]) {
	double along = 0.0, square = 0.0;
	for (int i = 0; i < 3; i++) {
		out[i] = (double)((&body->position[node].x)[i] - (&wall->place.x)[i]);
		along += out[i] * (double)wall->axis[i];
	}
	for (int i = 0; i < 3; i++) {
		out[i] -= along * (double)wall->axis[i];
		square += out[i] * out[i];
	}
	for (int i = 0; i < 3; i++)
		out[i] /= sqrt(square);
	return square > 0.0;
}

static bool is_of_cell(const FemBody *body, int32_t index, int32_t node) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	bool is = false;
	for (int k = 0; k < 2 * fem_cell_column_count(cell); k++)
		is |= fem_tet_node(body->topology, cell->corners[k] / 4, cell->corners[k] % 4) == node;
	return is;
}

bool fem_wall_separation(
	const FemBody *body, const FemWallBlow *wall, int32_t node, uint64_t chance, FemSeparation *out) {
	double u[3];
	if (node == wall->node && wall->excess > 1.0f) {
		direction_of_crack(body, wall, chance, u);
		*out = (FemSeparation){.node = wall->node, .excess = wall->excess};
		for (int i = 0; i < 3; i++)
			out->normal[i] = (float)((double)wall->axis[(i + 1) % 3] * u[(i + 2) % 3] -
				(double)wall->axis[(i + 2) % 3] * u[(i + 1) % 3]);
		return true;
	}
	if (!(wall->ring > 1.0f) || !is_of_cell(body, wall->cell, node) || !direction_to(body, wall, node, u))
		return false;
	*out = (FemSeparation){node, {(float)u[0], (float)u[1], (float)u[2]}, wall->ring, true, 0};
	return true;
}
