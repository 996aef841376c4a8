// METIS and Opcode, through the two files that know them.
#include "fem_test.h"

#include "base/thread.h"
#include "collision/opcode_bridge.h"
#include "fem_destruction.h"
#include "islands/metis_partition.h"

#include <stdlib.h>

// ---- graphs

typedef struct Graph {
	int32_t node_count;
	int32_t *row_start;
	int32_t *column;
} Graph;

// A box of width x height x depth nodes, each joined to its up to 6 neighbours.
static Graph make_grid(int32_t width, int32_t height, int32_t depth) {
	Graph graph = {.node_count = width * height * depth};
	graph.row_start = malloc(sizeof(int32_t) * (size_t)(graph.node_count + 1));
	graph.column = malloc(sizeof(int32_t) * (size_t)graph.node_count * 6);
	int32_t edge_count = 0, node = 0;
	const int32_t step[3] = {1, width, width * height};
	for (int32_t z = 0; z < depth; z++) {
		for (int32_t y = 0; y < height; y++) {
			for (int32_t x = 0; x < width; x++, node++) {
				const int32_t at[3] = {x, y, z}, size[3] = {width, height, depth};
				graph.row_start[node] = edge_count;
				for (int axis = 0; axis < 3; axis++) {
					if (at[axis] > 0)
						graph.column[edge_count++] = node - step[axis];
					if (at[axis] < size[axis] - 1)
						graph.column[edge_count++] = node + step[axis];
				}
			}
		}
	}
	graph.row_start[node] = edge_count;
	return graph;
}

static void free_graph(Graph *graph) {
	free(graph->row_start);
	free(graph->column);
}

static int32_t count_cut_edges(const Graph *graph, const int32_t *part) {
	int32_t cut = 0;
	for (int32_t i = 0; i < graph->node_count; i++) {
		for (int32_t e = graph->row_start[i]; e < graph->row_start[i + 1]; e++)
			cut += part[i] != part[graph->column[e]];
	}
	return cut / 2;
}

// Sizes of the smallest and the largest part; false when a part's index is out of range.
static bool measure_parts(
	const int32_t *part, int32_t node_count, int32_t part_count, int32_t *smallest, int32_t *largest) {
	int32_t *size = calloc((size_t)part_count, sizeof *size);
	bool in_range = true;
	for (int32_t i = 0; i < node_count && in_range; i++) {
		in_range = part[i] >= 0 && part[i] < part_count;
		if (in_range)
			size[part[i]]++;
	}
	*smallest = node_count;
	*largest = 0;
	for (int32_t p = 0; p < part_count; p++) {
		*smallest = size[p] < *smallest ? size[p] : *smallest;
		*largest = size[p] > *largest ? size[p] : *largest;
	}
	free(size);
	return in_range;
}

FEM_TEST(dependencies, metis_partitions_a_grid) {
	Graph grid = make_grid(20, 20, 20);
	int32_t *part = calloc((size_t)grid.node_count, sizeof *part);
	int32_t *again = calloc((size_t)grid.node_count, sizeof *again);
	const int32_t part_counts[] = {2, 3, 8, 16, 50};
	// A cube cut into k slabs, the obvious way, loses (k - 1) * 400 edges; half-way good cuts stay well below.
	for (size_t k = 0; k < sizeof part_counts / sizeof *part_counts; k++) {
		int32_t part_count = part_counts[k], smallest, largest;
		FEM_CHECK_INT(fem_metis_partition(grid.node_count, grid.row_start, grid.column, part_count, part), 0);
		FEM_CHECK(measure_parts(part, grid.node_count, part_count, &smallest, &largest));
		FEM_CHECK(smallest > 0);
		FEM_CHECK(largest * part_count <= grid.node_count * 1.1);
		FEM_CHECK(count_cut_edges(&grid, part) <= 1.2 * (part_count - 1) * 400);
		FEM_CHECK(count_cut_edges(&grid, part) >= 400);
		FEM_CHECK_INT(fem_metis_partition(grid.node_count, grid.row_start, grid.column, part_count, again), 0);
		FEM_CHECK(memcmp(part, again, sizeof *part * (size_t)grid.node_count) == 0);
	}
	free(part);
	free(again);
	free_graph(&grid);
}

static void reverse_rows(Graph *graph) {
	for (int32_t i = 0; i < graph->node_count; i++) {
		for (int32_t e = graph->row_start[i], last = graph->row_start[i + 1] - 1; e < last; e++, last--) {
			int32_t swapped = graph->column[e];
			graph->column[e] = graph->column[last];
			graph->column[last] = swapped;
		}
	}
}

FEM_TEST(dependencies, metis_does_not_depend_on_the_order_of_neighbours) {
	Graph grid = make_grid(9, 8, 7);
	int32_t part[504], again[504];
	FEM_CHECK_INT(fem_metis_partition(grid.node_count, grid.row_start, grid.column, 5, part), 0);
	reverse_rows(&grid);
	FEM_CHECK_INT(fem_metis_partition(grid.node_count, grid.row_start, grid.column, 5, again), 0);
	FEM_CHECK(memcmp(part, again, sizeof part) == 0);
	free_graph(&grid);
}

// Few nodes to a part is where METIS leaves parts empty.
FEM_TEST(dependencies, metis_fills_every_part_of_small_graphs) {
	for (int32_t length = 1; length <= 24; length++) {
		Graph path = make_grid(length, 1, 1), sheet = make_grid(length, 2, 1);
		for (int32_t part_count = 1; part_count <= length + 2; part_count++) {
			int32_t part[48], smallest, largest;
			FEM_CHECK_INT(fem_metis_partition(path.node_count, path.row_start, path.column, part_count, part), 0);
			FEM_CHECK(measure_parts(part, path.node_count, part_count, &smallest, &largest));
			FEM_CHECK(smallest > 0 || part_count > path.node_count);
			FEM_CHECK_INT(fem_metis_partition(sheet.node_count, sheet.row_start, sheet.column, part_count, part), 0);
			FEM_CHECK(measure_parts(part, sheet.node_count, part_count, &smallest, &largest));
			FEM_CHECK(smallest > 0 || part_count > sheet.node_count);
		}
		free_graph(&path);
		free_graph(&sheet);
	}
}

// Entries below the diagonal of the Cholesky factor, by symbolic elimination on a dense pattern.
static int32_t count_fill(const Graph *graph, const int32_t *order, const int32_t *position) {
	int32_t n = graph->node_count, entries = 0;
	bool *filled = calloc((size_t)n * (size_t)n, sizeof *filled);
	for (int32_t k = 0; k < n; k++) {
		for (int32_t e = graph->row_start[order[k]]; e < graph->row_start[order[k] + 1]; e++)
			filled[k * n + position[graph->column[e]]] = true;
	}
	for (int32_t k = 0; k < n; k++) {
		for (int32_t i = k + 1; i < n; i++) {
			if (!filled[i * n + k])
				continue;
			entries++;
			for (int32_t j = k + 1; j < n; j++)
				filled[i * n + j] |= filled[j * n + k];
		}
	}
	free(filled);
	return entries;
}

static bool is_permutation(const int32_t *order, const int32_t *position, int32_t count) {
	for (int32_t k = 0; k < count; k++) {
		if (order[k] < 0 || order[k] >= count || position[order[k]] != k)
			return false;
	}
	return true;
}

FEM_TEST(dependencies, metis_order_reduces_fill) {
	Graph grid = make_grid(24, 24, 1);
	int32_t order[576], position[576], natural[576], weight[576];
	for (int32_t i = 0; i < grid.node_count; i++) {
		natural[i] = i;
		weight[i] = 1 + i % 3;
	}
	FEM_CHECK_INT(fem_metis_order(grid.node_count, grid.row_start, grid.column, NULL, order, position), 0);
	FEM_REQUIRE(is_permutation(order, position, grid.node_count));
	FEM_CHECK(count_fill(&grid, order, position) < 0.6 * count_fill(&grid, natural, natural));
	FEM_CHECK_INT(fem_metis_order(grid.node_count, grid.row_start, grid.column, weight, order, position), 0);
	FEM_REQUIRE(is_permutation(order, position, grid.node_count));
	FEM_CHECK(count_fill(&grid, order, position) < 0.6 * count_fill(&grid, natural, natural));
	free_graph(&grid);
}

FEM_TEST(dependencies, metis_orders_tiny_and_scattered_graphs) {
	int32_t order[200], position[200];
	for (int32_t length = 0; length <= 20; length++) {
		Graph path = make_grid(length, 1, 1);
		FEM_CHECK_INT(fem_metis_order(path.node_count, path.row_start, path.column, NULL, order, position), 0);
		FEM_CHECK(is_permutation(order, position, path.node_count));
		free_graph(&path);
	}
	// 200 nodes in pairs, each joined to nothing but its partner, and then no edges at all.
	int32_t row_start[201], column[200];
	for (int32_t i = 0; i <= 200; i++)
		row_start[i] = i;
	for (int32_t i = 0; i < 200; i++)
		column[i] = i ^ 1;
	FEM_CHECK_INT(fem_metis_order(200, row_start, column, NULL, order, position), 0);
	FEM_CHECK(is_permutation(order, position, 200));
	memset(row_start, 0, sizeof row_start);
	FEM_CHECK_INT(fem_metis_order(200, row_start, NULL, NULL, order, position), 0);
	FEM_CHECK(is_permutation(order, position, 200));
	int32_t smallest, largest;
	FEM_CHECK_INT(fem_metis_partition(200, row_start, NULL, 7, order), 0);
	FEM_CHECK(measure_parts(order, 200, 7, &smallest, &largest));
	FEM_CHECK(smallest >= 28 && largest <= 29);
}

FEM_TEST(dependencies, metis_is_kept_from_bad_graphs) {
	// A triangle, and what can be wrong with it.
	const int32_t rows[] = {0, 2, 4, 6}, columns[] = {1, 2, 0, 2, 0, 1};
	const int32_t shifted_rows[] = {1, 2, 4, 6}, falling_rows[] = {0, 4, 2, 6};
	const int32_t outside[] = {1, 3, 0, 2, 0, 1}, negative[] = {1, -1, 0, 2, 0, 1}, self_loop[] = {1, 0, 0, 2, 0, 1};
	const int32_t twice[] = {1, 1, 0, 2, 0, 1}, directed_rows[] = {0, 2, 3, 4}, directed[] = {1, 2, 0, 1};
	const int32_t no_weight[] = {1, 0, 1};
	int32_t part[3] = {-7, -7, -7}, position[3];
	FEM_CHECK_INT(fem_metis_partition(3, rows, columns, 2, part), FEM_OK);
	part[0] = part[1] = part[2] = -7;
	FEM_CHECK(fem_metis_partition(3, rows, columns, 0, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, columns, -1, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, columns, 2, NULL) != FEM_OK);
	FEM_CHECK(fem_metis_partition(-1, rows, columns, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, NULL, columns, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, NULL, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, shifted_rows, columns, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, falling_rows, columns, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, outside, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, negative, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, self_loop, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, rows, twice, 2, part) != FEM_OK);
	FEM_CHECK(fem_metis_partition(3, directed_rows, directed, 2, part) != FEM_OK);
	FEM_CHECK(strstr(fem_last_error(), "symmetric") != NULL);
	FEM_CHECK(fem_metis_order(3, directed_rows, directed, NULL, part, position) != FEM_OK);
	FEM_CHECK(fem_metis_order(3, rows, columns, no_weight, part, position) != FEM_OK);
	FEM_CHECK(fem_metis_order(3, rows, columns, NULL, part, NULL) != FEM_OK);
	FEM_CHECK(part[0] == -7 && part[1] == -7 && part[2] == -7);
	FEM_CHECK_INT(fem_metis_partition(3, rows, columns, 1, part), FEM_OK);
	FEM_CHECK(part[0] == 0 && part[1] == 0 && part[2] == 0);
}

static void *partition_grid_task(void *argument) {
	Graph grid = make_grid(10, 10, 10);
	for (int repeat = 0; repeat < 5; repeat++)
		fem_metis_partition(grid.node_count, grid.row_start, grid.column, 12, argument);
	free_graph(&grid);
	return NULL;
}

FEM_TEST(dependencies, metis_gives_every_thread_the_same_answer) {
	static int32_t part[4][1000];
	FemThread thread[4];
	for (int t = 0; t < 4; t++)
		FEM_REQUIRE(fem_thread_start(&thread[t], partition_grid_task, part[t]));
	for (int t = 0; t < 4; t++)
		fem_thread_join(thread[t]);
	for (int t = 1; t < 4; t++)
		FEM_CHECK(memcmp(part[0], part[t], sizeof part[0]) == 0);
}

// ---- triangle meshes

#define RINGS 14
#define SECTORS 22
#define SPHERE_VERTICES ((RINGS + 1) * SECTORS)
#define SPHERE_TRIANGLES (2 * (RINGS - 1) * SECTORS)
#define STRIDE 4 // floats: one of padding, as the engine's positions have

typedef struct Sphere {
	float vertices[SPHERE_VERTICES * STRIDE];
	int32_t triangles[SPHERE_TRIANGLES * 3];
} Sphere;

// Turned out of all axes, so that no edge meets another sphere's edge exactly.
static void place_sphere(Sphere *sphere, double radius, double angle, const double *centre) {
	for (int ring = 0; ring <= RINGS; ring++) {
		for (int sector = 0; sector < SECTORS; sector++) {
			float *vertex = sphere->vertices + STRIDE * (ring * SECTORS + sector);
			double polar = 3.14159265358979 * ring / RINGS, around = 6.28318530717959 * sector / SECTORS;
			double x = sin(polar) * cos(around), y = cos(polar), z = sin(polar) * sin(around);
			double rotated_x = x * cos(angle) - y * sin(angle), rotated_y = x * sin(angle) + y * cos(angle);
			vertex[0] = (float)(centre[0] + radius * rotated_x);
			vertex[1] = (float)(centre[1] + radius * (rotated_y * cos(angle) - z * sin(angle)));
			vertex[2] = (float)(centre[2] + radius * (rotated_y * sin(angle) + z * cos(angle)));
			vertex[3] = NAN;
		}
	}
}

static void make_sphere(Sphere *sphere, double radius, double angle, double x, double y, double z) {
	place_sphere(sphere, radius, angle, (const double[]){x, y, z});
	int32_t *corner = sphere->triangles;
	for (int32_t ring = 0; ring < RINGS; ring++) {
		for (int32_t sector = 0; sector < SECTORS; sector++) {
			int32_t here = ring * SECTORS + sector, next = ring * SECTORS + (sector + 1) % SECTORS;
			// The quads at the poles have only one triangle.
			if (ring < RINGS - 1) {
				*corner++ = here, *corner++ = here + SECTORS, *corner++ = next + SECTORS;
			}
			if (ring > 0) {
				*corner++ = here, *corner++ = next + SECTORS, *corner++ = next;
			}
		}
	}
}

static void count_met(const FemTreeNode *node, int32_t *met) {
	for (int c = 0; c < 2; c++) {
		if (fem_tree_is_triangle(node->child[c]))
			met[fem_tree_triangle(node->child[c])]++;
		else
			count_met(fem_tree_node(node->child[c]), met);
	}
}

static bool box_holds(const FemTreeNode *node, const float *vertex) {
	for (int axis = 0; axis < 3; axis++) {
		if (!(fabsf(vertex[axis] - node->center[axis]) <= node->extent[axis] + 1e-6f))
			return false;
	}
	return true;
}

// Corners of triangles that lie out of a box above them, over all boxes below a node.
static int32_t count_outside(const FemTreeNode *node, const Sphere *sphere, const float *vertices) {
	int32_t met[SPHERE_TRIANGLES] = {0}, outside = 0;
	count_met(node, met);
	for (int32_t i = 0; i < 3 * SPHERE_TRIANGLES; i++)
		outside += met[i / 3] > 0 && !box_holds(node, vertices + STRIDE * sphere->triangles[i]);
	for (int c = 0; c < 2; c++) {
		if (!fem_tree_is_triangle(node->child[c]))
			outside += count_outside(fem_tree_node(node->child[c]), sphere, vertices);
	}
	return outside;
}

// Fails when a tree lacks a triangle or holds one twice, or a box does not hold what is below it.
static void check_tree(const FemTriangleTree *tree, const Sphere *sphere, const float *vertices) {
	int32_t met[SPHERE_TRIANGLES] = {0}, wrong = 0;
	count_met(fem_triangle_tree_root(tree), met);
	for (int32_t i = 0; i < SPHERE_TRIANGLES; i++)
		wrong += met[i] != 1;
	FEM_CHECK_INT(wrong, 0);
	FEM_CHECK_INT(count_outside(fem_triangle_tree_root(tree), sphere, vertices), 0);
}

FEM_TEST(dependencies, opcode_boxes_hold_their_triangles_also_after_a_refit) {
	static Sphere sphere;
	make_sphere(&sphere, 1.0, 0.3, 0, 0, 0);
	FemTriangleTree *tree = fem_triangle_tree_create(sphere.vertices, STRIDE, sphere.triangles, SPHERE_TRIANGLES);
	FEM_REQUIRE(tree);
	check_tree(tree, &sphere, sphere.vertices);
	for (int move = 0; move < 5; move++) {
		const double centre[3] = {1.1 - 0.3 * move, 0.7, 0.2 * move};
		place_sphere(&sphere, 0.7 + 0.1 * move, 0.4 + move, centre);
		FEM_CHECK(count_outside(fem_triangle_tree_root(tree), &sphere, sphere.vertices) > 0);
		fem_triangle_tree_refit(tree, sphere.vertices);
		check_tree(tree, &sphere, sphere.vertices);
	}
	// The vertex array itself may move, as growing arrays do.
	static float elsewhere[SPHERE_VERTICES * STRIDE];
	memcpy(elsewhere, sphere.vertices, sizeof elsewhere);
	memset(sphere.vertices, 0, sizeof sphere.vertices);
	fem_triangle_tree_refit(tree, elsewhere);
	check_tree(tree, &sphere, elsewhere);
	fem_triangle_tree_destroy(tree);
}

// Opcode has no tree over one triangle: the bridge lists it twice.
FEM_TEST(dependencies, opcode_takes_a_single_triangle) {
	const int32_t triangle[] = {0, 1, 2};
	const float flat[] = {0, 0, 0, 1, 0, 0, 0, 0, 1};
	FemTriangleTree *tree = fem_triangle_tree_create(flat, 3, triangle, 1);
	FEM_REQUIRE(tree);
	const FemTreeNode *root = fem_triangle_tree_root(tree);
	FEM_CHECK(fem_tree_is_triangle(root->child[0]) && fem_tree_is_triangle(root->child[1]));
	FEM_CHECK_INT(fem_tree_triangle(root->child[0]) + fem_tree_triangle(root->child[1]), 1);
	FEM_CHECK(box_holds(root, flat) && box_holds(root, flat + 3) && box_holds(root, flat + 6));
	fem_triangle_tree_destroy(tree);
}

FEM_TEST(dependencies, opcode_bridge_takes_bad_input) {
	const float vertices[] = {0, 0, 0, 1, 0, 0, 0, 0, 1};
	const int32_t triangles[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}, negative[] = {0, -1, 2};
	FEM_CHECK(!fem_triangle_tree_create(NULL, 3, triangles, 1));
	FEM_CHECK(!fem_triangle_tree_create(vertices, 3, NULL, 1));
	FEM_CHECK(!fem_triangle_tree_create(vertices, 2, triangles, 1));
	FEM_CHECK(!fem_triangle_tree_create(vertices, 3, triangles, 0));
	FEM_CHECK(!fem_triangle_tree_create(vertices, 3, triangles, -4));
	FEM_CHECK(!fem_triangle_tree_create(vertices, 3, negative, 1));
	fem_triangle_tree_destroy(NULL);
	fem_triangle_tree_refit(NULL, vertices);

	// Triangles that all coincide cannot be told apart by any split, and one that is not a number by no box.
	FemTriangleTree *heap = fem_triangle_tree_create(vertices, 3, triangles, 4);
	FEM_REQUIRE(heap);
	FEM_CHECK(!fem_triangle_tree_root(NULL));
	const float not_finite[] = {0, 0, 0, NAN, 0, INFINITY, 0, 0, 1};
	FemTriangleTree *broken = fem_triangle_tree_create(not_finite, 3, triangles, 4);
	FEM_REQUIRE(broken);
	for (int i = 0; i < 2; i++) {
		int32_t met[4] = {0};
		count_met(fem_triangle_tree_root(i ? broken : heap), met);
		FEM_CHECK(met[0] == 1 && met[1] == 1 && met[2] == 1 && met[3] == 1);
	}
	fem_triangle_tree_destroy(heap);
	fem_triangle_tree_destroy(broken);
}

static void *build_task(void *argument) {
	const Sphere *sphere = argument;
	for (int repeat = 0; repeat < 20; repeat++) {
		FemTriangleTree *tree = fem_triangle_tree_create(sphere->vertices, STRIDE, sphere->triangles, SPHERE_TRIANGLES);
		check_tree(tree, sphere, sphere->vertices);
		fem_triangle_tree_destroy(tree);
	}
	return NULL;
}

FEM_TEST(dependencies, opcode_builds_on_several_threads) {
	static Sphere sphere;
	FemThread thread[4];
	make_sphere(&sphere, 1.0, 0.3, 0, 0, 0);
	for (int t = 0; t < 4; t++)
		FEM_REQUIRE(fem_thread_start(&thread[t], build_task, &sphere));
	for (int t = 0; t < 4; t++)
		fem_thread_join(thread[t]);
}
