// The connectivity made from a list of tets.
#include "base/mat3.h"
#include "base/memory.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"
#include "topology/tet_mesh.h"
#include "topology/topology.h"

#include <stdlib.h>

#define EPSILON 1e-6

static FemTopology *make(const FemBoxMesh *mesh, const int32_t *node_part) {
	return fem_topology_create(mesh->node_count, mesh->tets, mesh->tet_count, node_part);
}

// Parts in slices along x, numbered with gaps.
static int32_t *slice_parts(const FemBoxMesh *mesh, float width) {
	int32_t *part = malloc(sizeof *part * (size_t)mesh->node_count);
	for (int32_t i = 0; part && i < mesh->node_count; i++)
		part[i] = 1000000 + 7 * (int32_t)(mesh->positions[i].x / width);
	return part;
}

static void check_nodes_and_parts(const FemTopology *t) {
	int32_t node = 0, part = 0;
	for (int32_t c = 0; c < t->component_count; c++) {
		FEM_CHECK_INT(t->component_parts[c].begin, part);
		FEM_CHECK_INT(t->component_nodes[c].begin, node);
		for (; part < t->component_parts[c].end; part++) {
			FEM_CHECK_INT(t->part_nodes[part].begin, node);
			FEM_CHECK(t->part_nodes[part].end > node);
			FEM_CHECK_INT(t->part_component[part], c);
			node = t->part_nodes[part].end;
		}
		FEM_CHECK_INT(t->component_nodes[c].end, node);
	}
	FEM_CHECK_INT(node, t->node_count);
	FEM_CHECK_INT(part, t->part_count);
	for (int32_t i = 0; i < t->node_count; i++)
		FEM_CHECK_INT(t->node_of_user[t->user_of_node[i]], i);
}

static int32_t lowest(const FemTopology *t, int32_t tet) {
	int32_t low = fem_tet_node(t, tet, 0);
	for (int32_t v = 1; v < 4; v++)
		low = fem_tet_node(t, tet, v) < low ? fem_tet_node(t, tet, v) : low;
	return low;
}

static void check_tets(const FemTopology *t, const int32_t *tets) {
	int32_t filled = 0, begin = 0;
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t last = -1, end = begin + (t->component_tets[c] + FEM_LANES - 1) / FEM_LANES * FEM_LANES;
		for (int32_t tet = begin; tet < end; tet++) {
			int32_t user = t->user_of_tet[tet];
			if (user < 0) {
				for (int32_t v = 0; v < 4; v++)
					FEM_CHECK_INT(fem_tet_node(t, tet, v), fem_tet_node(t, tet - 1, v));
				continue;
			}
			filled++;
			FEM_CHECK_INT(t->tet_of_user[user], tet);
			FEM_CHECK(lowest(t, tet) >= last);
			last = lowest(t, tet);
			for (int32_t v = 0; v < 4; v++)
				FEM_CHECK_INT(fem_tet_node(t, tet, v), t->node_of_user[tets[4 * user + v]]);
		}
		begin = end;
	}
	FEM_CHECK_INT(filled, t->tet_count);
}

static bool row_has(const FemTopology *t, int32_t i, int32_t j) {
	for (int32_t s = t->row_start[i]; s < t->row_start[i + 1]; s++) {
		if (t->row_column[s] == j)
			return true;
	}
	return false;
}

static void check_rows(const FemTopology *t) {
	for (int32_t i = 0; i < t->node_count; i++) {
		for (int32_t s = t->row_start[i]; s < t->row_start[i + 1]; s++) {
			FEM_CHECK(t->row_column[s] != i);
			FEM_CHECK(s == t->row_start[i] || t->row_column[s] > t->row_column[s - 1]);
			FEM_CHECK(row_has(t, t->row_column[s], i));
		}
	}
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		for (int32_t v = 0; v < 4; v++)
			FEM_CHECK(row_has(t, fem_tet_node(t, tet, v), fem_tet_node(t, tet, (v + 1) % 4)));
	}
	FEM_CHECK_INT(t->row_start[t->node_count], 2 * t->edge_count);
}

static void check_edges(const FemTopology *t) {
	int32_t edge = 0;
	for (int32_t i = 0; i < t->node_count; i++) {
		FEM_CHECK_INT(t->node_edge_start[i], edge);
		for (; edge < t->node_edge_start[i + 1]; edge++) {
			int32_t slot = t->edge_slots[2 * edge], back = t->edge_slots[2 * edge + 1], j = t->row_column[slot];
			FEM_CHECK(j > i && slot >= t->row_start[i] && slot < t->row_start[i + 1]);
			FEM_CHECK(t->row_column[back] == i && back >= t->row_start[j] && back < t->row_start[j + 1]);
			FEM_CHECK(t->edge_tet_start[edge + 1] > t->edge_tet_start[edge]);
			for (int32_t s = t->edge_tet_start[edge]; s < t->edge_tet_start[edge + 1]; s++) {
				int32_t reference = t->edge_tets[s];
				FEM_CHECK_INT(fem_tet_node(t, reference / 16, reference / 4 % 4), i);
				FEM_CHECK_INT(fem_tet_node(t, reference / 16, reference % 4), j);
				FEM_CHECK(s == t->edge_tet_start[edge] || reference > t->edge_tets[s - 1]);
			}
		}
		for (int32_t s = t->node_tet_start[i]; s < t->node_tet_start[i + 1]; s++)
			FEM_CHECK_INT(fem_tet_node(t, t->node_tets[s] / 4, t->node_tets[s] % 4), i);
	}
	FEM_CHECK_INT(t->edge_tet_start[t->edge_count], 6 * t->tet_count);
	FEM_CHECK_INT(t->node_tet_start[t->node_count], 4 * t->tet_count);
}

// The enclosed volume by the divergence theorem: right only for a closed surface that faces outward.
static double surface_volume(const FemTopology *t, const FemVec3 *positions) {
	double sum = 0.0;
	for (int32_t f = 0; f < t->triangle_count; f++) {
		double m[3][3];
		for (int v = 0; v < 3; v++) {
			FemVec3 p = positions[t->user_of_node[t->triangles[3 * f + v]]];
			m[v][0] = (double)p.x, m[v][1] = (double)p.y, m[v][2] = (double)p.z;
		}
		sum += fem_determinant3(m) / 6.0;
	}
	return sum;
}

static void check_all(const FemTopology *t, const FemBoxMesh *mesh) {
	check_nodes_and_parts(t);
	check_tets(t, mesh->tets);
	check_rows(t);
	check_edges(t);
}

FEM_TEST(topology, box_of_either_cell) {
	for (int kind = FEM_CELLS_FIVE; kind <= FEM_CELLS_KUHN; kind++) {
		FemBoxMesh mesh = fem_box_mesh(5, 4, 3, (FemVec3){5.0f, 4.0f, 3.0f}, (FemCellKind)kind);
		int32_t *part = slice_parts(&mesh, 2.0f);
		int64_t before = fem_memory_bytes();
		FemTopology *t = make(&mesh, part);
		FEM_REQUIRE(t && part);
		check_all(t, &mesh);
		FEM_CHECK_INT(t->component_count, 1);
		FEM_CHECK_INT(t->part_count, 3);
		FEM_CHECK_INT(t->triangle_count, 2 * 2 * (5 * 4 + 4 * 3 + 3 * 5));
		FEM_CHECK_NEAR(surface_volume(t, mesh.positions), 60.0, EPSILON);
		FEM_CHECK_INT(fem_memory_bytes() - before, t->bytes);
		fem_topology_free(t);
		FEM_CHECK_INT(fem_memory_bytes(), before);
		free(part);
		fem_box_mesh_free(&mesh);
	}
}

// Three boxes that share no node, interleaved in the list, all in one user part: cut at the borders.
FEM_TEST(topology, components_are_separate) {
	FemBoxMesh box = fem_box_mesh(2, 1, 1, (FemVec3){2.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	enum { COPIES = 3 };
	int32_t *tets = malloc(sizeof *tets * 4 * COPIES * (size_t)box.tet_count);
	FEM_REQUIRE(tets != NULL);
	for (int32_t t = 0; t < box.tet_count; t++) {
		for (int32_t copy = 0; copy < COPIES; copy++) {
			for (int v = 0; v < 4; v++)
				tets[4 * (COPIES * t + copy) + v] = COPIES * box.tets[4 * t + v] + copy;
		}
	}
	FemTopology *t = fem_topology_create(COPIES * box.node_count, tets, COPIES * box.tet_count, NULL);
	FEM_REQUIRE(t != NULL);
	FemBoxMesh all = {COPIES * box.node_count, COPIES * box.tet_count, NULL, tets};
	check_all(t, &all);
	FEM_CHECK_INT(t->component_count, COPIES);
	FEM_CHECK_INT(t->part_count, COPIES);
	FEM_CHECK_INT(t->batch_count, COPIES * 2); // 10 tets each
	for (int32_t i = 0; i < t->node_count; i++)
		FEM_CHECK_INT(t->user_of_node[i] % COPIES, t->user_of_node[t->part_nodes[t->node_part[i]].begin] % COPIES);
	fem_topology_free(t);
	free(tets);
	fem_box_mesh_free(&box);
}

FEM_TEST(topology, one_tet) {
	int32_t tet[4] = {2, 0, 3, 1};
	FemTopology *t = fem_topology_create(4, tet, 1, NULL);
	FEM_REQUIRE(t != NULL);
	FEM_CHECK_INT(t->edge_count, 6);
	FEM_CHECK_INT(t->triangle_count, 4);
	FEM_CHECK_INT(t->batch_count, 1);
	FemBoxMesh mesh = {4, 1, NULL, tet};
	check_all(t, &mesh);
	fem_topology_free(t);
}

FEM_TEST(topology, same_input_gives_same_bytes) {
	FemBoxMesh mesh = fem_box_mesh(6, 5, 4, (FemVec3){6.0f, 5.0f, 4.0f}, FEM_CELLS_FIVE);
	int32_t *part = slice_parts(&mesh, 1.5f);
	FemTopology *a = make(&mesh, part), *b = make(&mesh, part);
	FEM_REQUIRE(a && b && a->bytes == b->bytes);
	size_t record = fem_align_up(sizeof(FemTopology));
	FEM_CHECK(memcmp((char *)a->block + record, (char *)b->block + record, a->bytes - record) == 0);
	fem_topology_free(a);
	fem_topology_free(b);
	free(part);
	fem_box_mesh_free(&mesh);
}

// A fan: all tets share two nodes, which a sort by comparing neighbours would take squared time for.
FEM_TEST(topology, linear_time_for_a_fan) {
	enum { COUNT = 200000 };
	int32_t *tets = malloc(sizeof *tets * 4 * COUNT);
	FEM_REQUIRE(tets != NULL);
	for (int32_t t = 0; t < COUNT; t++) {
		int32_t tet[4] = {0, 1, 2 + t, 2 + (t + 1) % COUNT};
		memcpy(tets + 4 * t, tet, sizeof tet);
	}
	double began = fem_test_cpu_ms();
	FemTopology *t = fem_topology_create(COUNT + 2, tets, COUNT, NULL);
	double ms = fem_test_cpu_ms() - began;
	FEM_REQUIRE(t != NULL);
	FEM_CHECK_INT(t->edge_count, 3 * COUNT + 1);
	FEM_CHECK_TIME(ms, 5000.0); // seen: 150 ms; squared time would take minutes
	fem_topology_free(t);
	free(tets);
}

// ---- geometry

static FemTetShape shape_of(const FemVec3 corners[4], FemVec3 scale) {
	int32_t tet[4] = {0, 1, 2, 3};
	FemTetShape shape = {0};
	FEM_CHECK(fem_tet_shape(corners, tet, scale, &shape));
	return shape;
}

FEM_TEST(tet_mesh, gradients_reproduce_linear_fields) {
	FemVec3 corners[4] = {{0.1f, 0.2f, 0.3f}, {1.3f, 0.1f, 0.4f}, {0.2f, 1.5f, 0.2f}, {0.4f, 0.3f, 1.1f}};
	FemTetShape shape = shape_of(corners, (FemVec3){2.0f, 1.0f, 0.5f});
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double sum = 0.0;
			for (int v = 0; v < 4; v++)
				sum += shape.corners[v][i] * shape.gradient[v][j];
			FEM_CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 1e-12);
		}
	}
	FEM_CHECK_NEAR(shape.volume, shape_of(corners, (FemVec3){1.0f, 1.0f, 1.0f}).volume, 1e-12);
}

FEM_TEST(tet_mesh, only_slivers_are_softened) {
	float h = sqrtf(0.5f);
	FemVec3 regular[4] = {{1.0f, 0.0f, -h}, {-1.0f, 0.0f, -h}, {0.0f, -1.0f, h}, {0.0f, 1.0f, h}};
	FemVec3 one = {1.0f, 1.0f, 1.0f};
	FemTetShape shape = shape_of(regular, one);
	FEM_CHECK_NEAR(fem_tet_softening(&shape, 4.0f), 1.0, EPSILON);
	FEM_CHECK_NEAR(fem_tet_softening(&shape, 0.5f), 0.25, 1e-5); // s_1 is sqrt(2) / edge: 0.5 clamps it by half
	FEM_CHECK_NEAR(fem_tet_softening(&shape, 0.0f), 1.0, 0.0);
	shape = shape_of(regular, (FemVec3){1.0f, 1.0f, 0.01f});
	FEM_CHECK(fem_tet_softening(&shape, 4.0f) < 0.01f);
}

FEM_TEST(tet_mesh, plate_frame_of_a_flat_tet) {
	FemVec3 corners[4] = {{0.0f, 0.0f, 0.0f}, {3.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.05f}, {0.0f, 0.0f, 0.1f}};
	FemTetShape shape = shape_of(corners, (FemVec3){1.0f, 1.0f, 1.0f});
	FemPlateFrame frame = fem_tet_plate(&shape, 1.0f);
	FEM_CHECK(fabsf(frame.normal[2]) > 0.99f);
	FEM_CHECK(fabsf(frame.tangent[0]) > 0.95f);
	FEM_CHECK(frame.softening > 0.95f && frame.softening < 1.0f);
	FEM_CHECK_NEAR(fem_tet_plate(&shape, 0.0f).softening, 0.0, 0.0);
	double dot = 0.0;
	for (int i = 0; i < 3; i++)
		dot += (double)frame.normal[i] * (double)frame.tangent[i];
	FEM_CHECK_NEAR(dot, 0.0, EPSILON);
}

FEM_TEST(mat3, eigenvectors_rebuild_the_matrix) {
	double m[3][3] = {{4.0, 1.0, -2.0}, {1.0, 3.0, 0.5}, {-2.0, 0.5, -1.0}}, values[3], vectors[3][3];
	fem_eigen_symmetric3(m, values, vectors);
	FEM_CHECK(values[0] <= values[1] && values[1] <= values[2]);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double sum = 0.0;
			for (int k = 0; k < 3; k++)
				sum += values[k] * vectors[k][i] * vectors[k][j];
			FEM_CHECK_NEAR(sum, m[i][j], 1e-12);
		}
	}
	FEM_CHECK_NEAR(fem_determinant3(vectors), 1.0, 1e-12);
}

FEM_TEST(mat3, polar_finds_the_rotation_from_far) {
	double c = cos(2.0), s = sin(2.0);
	double rotation[3][3] = {{c, -s, 0.0}, {s, c, 0.0}, {0.0, 0.0, 1.0}},
		   stretch[3][3] = {{1.2, 0.1, 0.0}, {0.1, 0.9, 0.2}, {0.0, 0.2, 1.1}};
	double f[3][3], r[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			f[i][j] = rotation[i][0] * stretch[0][j] + rotation[i][1] * stretch[1][j] + rotation[i][2] * stretch[2][j];
	}
	fem_polar_polish(f, r);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			FEM_CHECK_NEAR(r[i][j], rotation[i][j], 1e-9);
	}
}
