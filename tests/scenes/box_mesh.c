#include "scenes/box_mesh.h"

#include <stdlib.h>

// Corners of a cell are numbered x * 4 + y * 2 + z.
static const int five_even[5][4] = {{0, 4, 2, 1}, {6, 4, 2, 7}, {5, 4, 1, 7}, {3, 2, 1, 7}, {4, 2, 1, 7}};
static const int five_odd[5][4] = {{4, 0, 6, 5}, {2, 0, 6, 3}, {1, 0, 5, 3}, {7, 6, 5, 3}, {0, 6, 5, 3}};
static const int kuhn[6][4] = {{0, 4, 6, 7}, {0, 4, 5, 7}, {0, 2, 6, 7}, {0, 2, 3, 7}, {0, 1, 5, 7}, {0, 1, 3, 7}};

static double tet_volume(const FemVec3 *p, const int32_t *t) {
	double u[3][3];
	for (int c = 0; c < 3; c++) {
		u[c][0] = (double)p[t[c + 1]].x - (double)p[t[0]].x;
		u[c][1] = (double)p[t[c + 1]].y - (double)p[t[0]].y;
		u[c][2] = (double)p[t[c + 1]].z - (double)p[t[0]].z;
	}
	return (u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) - u[0][1] * (u[1][0] * u[2][2] - u[1][2] * u[2][0]) +
			   u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0])) /
		6.0;
}

static void add_cell(FemBoxMesh *mesh, const int32_t corners[8], const int pattern[][4], int count) {
	for (int t = 0; t < count; t++) {
		int32_t *tet = mesh->tets + 4 * (size_t)mesh->tet_count++;
		for (int v = 0; v < 4; v++)
			tet[v] = corners[pattern[t][v]];
		if (tet_volume(mesh->positions, tet) < 0.0) {
			int32_t third = tet[2];
			tet[2] = tet[3];
			tet[3] = third;
		}
	}
}

static void add_cells(FemBoxMesh *mesh, int32_t nx, int32_t ny, int32_t nz, FemCellKind kind) {
	for (int32_t i = 0; i < nx; i++) {
		for (int32_t j = 0; j < ny; j++) {
			for (int32_t k = 0; k < nz; k++) {
				int32_t corners[8];
				for (int c = 0; c < 8; c++)
					corners[c] = ((i + (c >> 2)) * (ny + 1) + j + (c >> 1 & 1)) * (nz + 1) + k + (c & 1);
				if (kind == FEM_CELLS_KUHN)
					add_cell(mesh, corners, kuhn, 6);
				else
					add_cell(mesh, corners, (i + j + k) % 2 == 0 ? five_even : five_odd, 5);
			}
		}
	}
}

FemBoxMesh fem_box_mesh(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, FemCellKind kind) {
	FemBoxMesh mesh = {0};
	size_t cell_count = (size_t)nx * (size_t)ny * (size_t)nz;
	size_t tet_count = cell_count * (kind == FEM_CELLS_KUHN ? 6 : 5);
	size_t node_count = (size_t)(nx + 1) * (size_t)(ny + 1) * (size_t)(nz + 1);
	mesh.positions = malloc(node_count * sizeof *mesh.positions);
	mesh.tets = malloc(tet_count * 4 * sizeof *mesh.tets);
	if (!mesh.positions || !mesh.tets) {
		fem_box_mesh_free(&mesh);
		return mesh;
	}
	for (int32_t i = 0; i <= nx; i++) {
		for (int32_t j = 0; j <= ny; j++) {
			for (int32_t k = 0; k <= nz; k++) {
				mesh.positions[mesh.node_count++] = (FemVec3){(float)((double)size.x * i / nx),
					(float)((double)size.y * j / ny), (float)((double)size.z * k / nz)};
			}
		}
	}
	add_cells(&mesh, nx, ny, nz, kind);
	return mesh;
}

FemBoxMesh fem_box_mesh_row(const FemBoxMesh *mesh, int32_t copies, FemVec3 step) {
	int32_t nodes = copies * mesh->node_count, corners = 4 * copies * mesh->tet_count;
	FemBoxMesh row = {
		nodes, corners / 4, malloc(sizeof(FemVec3) * (size_t)nodes), malloc(sizeof(int32_t) * (size_t)corners)};
	if (!row.positions || !row.tets) {
		fem_box_mesh_free(&row);
		return row;
	}
	for (int32_t i = 0; i < nodes; i++) {
		FemVec3 p = mesh->positions[i % mesh->node_count];
		float copy = (float)(i / mesh->node_count);
		row.positions[i] = (FemVec3){p.x + copy * step.x, p.y + copy * step.y, p.z + copy * step.z};
	}
	for (int32_t i = 0; i < corners; i++)
		row.tets[i] = mesh->tets[i % (4 * mesh->tet_count)] + i / (4 * mesh->tet_count) * mesh->node_count;
	return row;
}

void fem_box_mesh_free(FemBoxMesh *mesh) {
	free(mesh->positions);
	free(mesh->tets);
	*mesh = (FemBoxMesh){0};
}

FemMeshDef fem_box_mesh_def(const FemBoxMesh *mesh) {
	FemMeshDef def = fem_default_mesh_def();
	def.node_count = mesh->node_count;
	def.node_positions = mesh->positions;
	def.tet_count = mesh->tet_count;
	def.tets = mesh->tets;
	return def;
}
