#include "scenes/fracture_meshes.h"

#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- plates

static int32_t node_at(int32_t ny, int32_t nz, int32_t i, int32_t j, int32_t k) {
	return (i * (ny + 1) + j) * (nz + 1) + k;
}

static void shake(FemBoxMesh *mesh, const int32_t cells[3], FemVec3 size, float jitter, uint32_t seed) {
	for (int32_t i = 0; i <= cells[0] && mesh->positions; i++) {
		for (int32_t j = 0; j <= cells[1]; j++) {
			float x = jitter * size.x / (float)cells[0] * fem_random(&seed),
				  y = jitter * size.y / (float)cells[1] * fem_random(&seed);
			for (int32_t k = 0; k <= cells[2]; k++) {
				FemVec3 *p = &mesh->positions[node_at(cells[1], cells[2], i, j, k)];
				p->x += i > 0 && i < cells[0] ? x : 0.0f;
				p->y += j > 0 && j < cells[1] ? y : 0.0f;
			}
		}
	}
}

// Every second cell of a Kuhn grid is turned about, along x as along y: diagonals then meet in stars, and lead no crack
// the same way everywhere.
static void rotate_cells(FemBoxMesh *mesh, int32_t ny, int32_t nz) {
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		int32_t i = t / 6 / nz / ny, j = t / 6 / nz % ny;
		for (int32_t *node = mesh->tets + 4 * t; node < mesh->tets + 4 * (t + 1); node++) {
			int32_t x = *node / (nz + 1) / (ny + 1), y = *node / (nz + 1) % (ny + 1);
			x = i % 2 ? 2 * i + 1 - x : x;
			y = j % 2 ? 2 * j + 1 - y : y;
			*node = node_at(ny, nz, x, y, *node % (nz + 1));
		}
	}
}

FemBoxMesh fem_plate_mesh(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, float jitter, uint32_t seed) {
	FemBoxMesh mesh = fem_box_mesh(nx, ny, nz, size, FEM_CELLS_KUHN);
	shake(&mesh, (const int32_t[]){nx, ny, nz}, size, jitter, seed);
	rotate_cells(&mesh, ny, nz);
	return mesh;
}

// ---- wall

#define WALL_EDGES 8 // split

static bool grow(FemBoxMesh *mesh, int32_t nodes, int32_t tets) {
	FemVec3 *positions = realloc(mesh->positions, (size_t)nodes * sizeof *positions);
	if (positions)
		mesh->positions = positions;
	int32_t *list = realloc(mesh->tets, (size_t)tets * 4 * sizeof *list);
	if (list)
		mesh->tets = list;
	return positions && list;
}

static int corner_of(const int32_t tet[4], int32_t node) {
	int k = 0;
	while (k < 4 && tet[k] != node)
		k++;
	return k;
}

static int32_t tets_around(const FemBoxMesh *mesh, int32_t a, int32_t b) {
	int32_t count = 0;
	for (int32_t t = 0; t < mesh->tet_count; t++)
		count += corner_of(mesh->tets + 4 * t, a) < 4 && corner_of(mesh->tets + 4 * t, b) < 4;
	return count;
}

// The tets around the edge become twice as many.
static void split_edge(FemBoxMesh *mesh, int32_t a, int32_t b) {
	FemVec3 p = mesh->positions[a], q = mesh->positions[b];
	int32_t middle = mesh->node_count++, count = mesh->tet_count;
	mesh->positions[middle] = (FemVec3){0.5f * (p.x + q.x), 0.5f * (p.y + q.y), 0.5f * (p.z + q.z)};
	for (int32_t t = 0; t < count; t++) {
		int32_t *tet = mesh->tets + 4 * t;
		int at_a = corner_of(tet, a), at_b = corner_of(tet, b);
		if (at_a == 4 || at_b == 4)
			continue;
		int32_t *made = mesh->tets + 4 * mesh->tet_count++;
		memcpy(made, tet, 4 * sizeof *tet);
		tet[at_a] = middle;
		made[at_b] = middle;
	}
}

// An edge of old nodes with so many tets around it, from a random tet on. False when there is none.
static bool split_some_edge(FemBoxMesh *mesh, int32_t valence, int32_t old_nodes, uint32_t *seed) {
	int32_t first = (int32_t)((0.5f + 0.5f * fem_random(seed)) * (float)mesh->tet_count);
	for (int32_t k = 0; k < 6 * mesh->tet_count; k++) {
		static const int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
		const int32_t *tet = mesh->tets + 4 * ((first + k / 6) % mesh->tet_count);
		int32_t a = tet[edges[k % 6][0]], b = tet[edges[k % 6][1]];
		if (a >= old_nodes || b >= old_nodes || tets_around(mesh, a, b) != valence)
			continue;
		split_edge(mesh, a, b);
		return true;
	}
	return false;
}

FemBoxMesh fem_wall_mesh(FemVec3 size) {
	static const int32_t cells[3] = {10, 9, 2}, valences[WALL_EDGES] = {4, 4, 4, 4, 4, 3, 3, 3};
	FemBoxMesh mesh = fem_box_mesh(cells[0], cells[1], cells[2], size, FEM_CELLS_KUHN);
	uint32_t seed = 1999;
	shake(&mesh, cells, size, 0.2f, seed);
	bool ok = mesh.tets && grow(&mesh, 338, 1109);
	int32_t old_nodes = mesh.node_count;
	for (int i = 0; ok && i < WALL_EDGES; i++)
		ok = split_some_edge(&mesh, valences[i], old_nodes, &seed);
	if (!ok)
		fem_box_mesh_free(&mesh);
	return mesh;
}

// ---- bowl

// The square [-1, 1]^2 on the unit disc, squares on rings: Shirley & Chiu 1997.
static void square_to_disc(double x, double y, double *out_radius, double *out_angle) {
	const double quarter = 0.78539816339744831;
	bool wide = fabs(x) >= fabs(y);
	double r = wide ? x : y;
	*out_radius = fabs(r);
	*out_angle = r == 0.0 ? 0.0 : wide ? quarter * y / x : 2.0 * quarter - quarter * x / y;
	if (r < 0.0)
		*out_angle += 4.0 * quarter;
}

// At the corners of the square the rim of the bowl is straight: but for diagonals that lead inward from there, as in
// every plate with an even number of cells, tets would be flat.
FemBoxMesh fem_bowl_mesh(float radius, float wall, int32_t cells, uint32_t seed) {
	const double half_rotation = 3.14159265358979324;
	FemBoxMesh mesh = fem_plate_mesh(cells, cells, 1, (FemVec3){2.0f, 2.0f, 1.0f}, 0.2f, seed);
	for (int32_t n = 0; n < mesh.node_count; n++) {
		FemVec3 p = mesh.positions[n];
		double r, angle, deep = (double)radius - (double)wall * (1.0 - (double)p.z);
		square_to_disc((double)p.x - 1.0, (double)p.y - 1.0, &r, &angle);
		double polar = 0.5 * half_rotation * r;
		mesh.positions[n] = (FemVec3){(float)(deep * sin(polar) * cos(angle)),
			(float)((double)radius - deep * cos(polar)), (float)(deep * sin(polar) * sin(angle))};
	}
	return mesh;
}
