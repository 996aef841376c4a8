#include "base/assert.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/edge_table.h"
#include "filling/skin.h"

// Share of the squared distance to a vertex in its error. A vertex that stands for a disc of radius r where the
// surface has curvature k errs by k^2 r^4 / 12 + share r^2 / 2: with this share cells of 0.3 radii of curvature have
// equal shares of both. Chosen by the shape of cells of tubes and vases.
#define EVENNESS 0.01
#define PLACE_EVENNESS 1e-4 // the same for the last place of a vertex, which is to lie on the planes; chosen
#define PLACE_REACH 0.1     // of a cell: how far that last place may lie from the one before; chosen
#define NORMAL_COSINE 0.3   // between a triangle's normals before and after an edge is joined, at the least; chosen
#define CONE_COSINE 0.2     // between the normals of a vertex's triangles and their mean, at the least; chosen
#define SLIVER 0.08     // area over the square of the longest side (a regular triangle has 0.43), at the least; chosen
#define VALENCE_MAX 12  // triangles of a vertex; chosen
#define CORNERS_MAX 64  // triangles about the two ends of an edge that is looked at: more are never joined
#define FLIP_ROUNDS 4   // of exchanging diagonals; chosen
#define FLIP_GAIN 1.1   // factor on the worse triangle's shape that makes an exchange worth it; chosen
#define SINGULAR 1e-15  // determinant over the cube of the trace: rounding of three products
#define FLIP_COSINE 0.9 // between the triangles of an edge that may be exchanged; chosen

// A sum of w (n (x - p))^2 and w |x - p|^2: x A x + 2 b x + c, with A as xx yy zz xy yz zx.
typedef struct Quadric {
	double a[6], b[3], c;
} Quadric;

typedef struct Join {
	double cost;
	int32_t a, b;
	int32_t version; // of both vertices together when it was found
} Join;

typedef struct Coarsening {
	FemSkin *skin;
	int32_t live;       // triangles
	double error_sq;    // mean square distance that a vertex may have from the planes it stands for
	Quadric *planes;    // [vertex]: of triangles
	Quadric *borders;   // [vertex]: upright, through border edges
	Quadric *points;    // [vertex]
	int32_t *versions;  // [vertex]: how often it has changed
	uint8_t *on_border; // [vertex]
	int32_t *first;     // [vertex]: its first corner (3 * triangle + v), -1 at the end
	int32_t *last;      // [vertex]
	int32_t *next;      // [corner]: the next corner at the same vertex
	uint8_t *dead;      // [triangle]
	Join *heap;
	int32_t join_count, join_capacity;
	bool failed;
} Coarsening;

// ---- quadrics

static void add_plane(Quadric *q, FemVec3d n, FemVec3d p, double w) {
	double d = -fem_vec3d_dot(n, p);
	double a[6] = {n.x * n.x, n.y * n.y, n.z * n.z, n.x * n.y, n.y * n.z, n.z * n.x},
		   b[3] = {n.x * d, n.y * d, n.z * d};
	for (int i = 0; i < 6; i++)
		q->a[i] += w * a[i];
	for (int i = 0; i < 3; i++)
		q->b[i] += w * b[i];
	q->c += w * d * d;
}

static void add_point(Quadric *q, FemVec3d p, double w) {
	for (int i = 0; i < 3; i++)
		q->a[i] += w;
	q->b[0] -= w * p.x;
	q->b[1] -= w * p.y;
	q->b[2] -= w * p.z;
	q->c += w * fem_vec3d_dot(p, p);
}

static void add_quadric(Quadric *q, const Quadric *other, double w) {
	for (int i = 0; i < 6; i++)
		q->a[i] += w * other->a[i];
	for (int i = 0; i < 3; i++)
		q->b[i] += w * other->b[i];
	q->c += w * other->c;
}

static double error_at(const Quadric *q, FemVec3d x) {
	const double *a = q->a;
	return a[0] * x.x * x.x + a[1] * x.y * x.y + a[2] * x.z * x.z +
		2.0 * (a[3] * x.x * x.y + a[4] * x.y * x.z + a[5] * x.z * x.x) +
		2.0 * (q->b[0] * x.x + q->b[1] * x.y + q->b[2] * x.z) + q->c;
}

// Where the error is least: A x = -b by Cramer's rule; `usual` where A has no inverse.
static FemVec3d best_place(const Quadric *q, FemVec3d usual) {
	const double *a = q->a;
	FemVec3d r0 = {a[0], a[3], a[5]}, r1 = {a[3], a[1], a[4]}, r2 = {a[5], a[4], a[2]};
	FemVec3d c0 = fem_vec3d_cross(r1, r2), c1 = fem_vec3d_cross(r2, r0), c2 = fem_vec3d_cross(r0, r1);
	double determinant = fem_vec3d_dot(r0, c0), trace = a[0] + a[1] + a[2];
	if (!(determinant > SINGULAR * trace * trace * trace))
		return usual;
	FemVec3d x = fem_vec3d_add(fem_vec3d_scale(c0, -q->b[0]), fem_vec3d_scale(c1, -q->b[1]));
	return fem_vec3d_scale(fem_vec3d_add(x, fem_vec3d_scale(c2, -q->b[2])), 1.0 / determinant);
}

static FemVec3d middle_of(FemVec3d a, FemVec3d b) {
	return fem_vec3d_scale(fem_vec3d_add(a, b), 0.5);
}

static FemVec3d unit(FemVec3d a) {
	double length = sqrt(fem_vec3d_dot(a, a));
	return fem_vec3d_scale(a, length > 0.0 ? 1.0 / length : 0.0);
}

// Each triangle counts a third for each corner; at borders an upright plane through the edge counts like a triangle as
// deep as triangles will be wide.
static void gather_quadrics(Coarsening *work, const FemEdgeTable *edges, double width) {
	FemSkin *skin = work->skin;
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		FemVec3d n = fem_skin_area_vector(skin, t), middle = {0};
		double area = sqrt(fem_vec3d_dot(n, n));
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(skin->vertices[skin->triangles[t][v]], 1.0 / 3.0));
		for (int v = 0; v < 3; v++) {
			add_plane(&work->planes[skin->triangles[t][v]], unit(n), middle, area / 3.0);
			add_point(&work->points[skin->triangles[t][v]], middle, area / 3.0);
		}
	}
	for (int32_t e = 0; e < edges->edge_count; e++) {
		if (edges->sides[e][1] >= 0)
			continue;
		FemVec3d a = skin->vertices[edges->ends[e][0]], b = skin->vertices[edges->ends[e][1]];
		FemVec3d along = fem_vec3d_sub(b, a), face = unit(fem_skin_area_vector(skin, edges->sides[e][0] / 3));
		double length = sqrt(fem_vec3d_dot(along, along));
		for (int i = 0; i < 2; i++) {
			work->on_border[edges->ends[e][i]] = 1;
			add_plane(&work->borders[edges->ends[e][i]], unit(fem_vec3d_cross(along, face)), a, 0.5 * length * width);
		}
	}
}

// ---- corners

static void link_corners(Coarsening *work) {
	for (int32_t v = 0; v < work->skin->vertex_count; v++)
		work->first[v] = work->last[v] = -1;
	for (int32_t c = 0; c < 3 * work->skin->triangle_count; c++) {
		int32_t v = work->skin->triangles[c / 3][c % 3];
		work->next[c] = -1;
		if (work->last[v] >= 0)
			work->next[work->last[v]] = c;
		else
			work->first[v] = c;
		work->last[v] = c;
	}
}

static int32_t corner_vertex(const Coarsening *work, int32_t corner, int step) {
	return work->skin->triangles[corner / 3][(corner % 3 + step) % 3];
}

// The live corners at a vertex, at most CORNERS_MAX; -1 when there are more.
static int list_corners(const Coarsening *work, int32_t vertex, int32_t out[CORNERS_MAX]) {
	int count = 0;
	for (int32_t c = work->first[vertex]; c >= 0; c = work->next[c]) {
		if (work->dead[c / 3])
			continue;
		if (count == CORNERS_MAX)
			return -1;
		out[count++] = c;
	}
	return count;
}

static bool has_neighbor(const Coarsening *work, const int32_t *corners, int count, int32_t vertex) {
	for (int i = 0; i < count; i++)
		if (corner_vertex(work, corners[i], 1) == vertex || corner_vertex(work, corners[i], 2) == vertex)
			return true;
	return false;
}

// ---- heap

static bool comes_before(const Join *a, const Join *b) {
	if (a->cost != b->cost)
		return a->cost < b->cost;
	return a->a != b->a ? a->a < b->a : a->b < b->b;
}

static void swap_joins(Join *a, Join *b) {
	Join kept = *a;
	*a = *b;
	*b = kept;
}

static void push(Coarsening *work, Join join) {
	if (work->join_count == work->join_capacity) {
		int32_t larger = work->join_capacity + work->join_capacity / 2 + 64;
		Join *moved =
			fem_realloc(work->heap, sizeof *moved * (size_t)work->join_capacity, sizeof *moved * (size_t)larger);
		if (!moved) {
			work->failed = true;
			return;
		}
		work->heap = moved;
		work->join_capacity = larger;
	}
	int32_t at = work->join_count++;
	work->heap[at] = join;
	for (; at > 0 && comes_before(&work->heap[at], &work->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap_joins(&work->heap[at], &work->heap[(at - 1) / 2]);
}

static Join pop(Coarsening *work) {
	Join top = work->heap[0];
	work->heap[0] = work->heap[--work->join_count];
	for (int32_t at = 0;;) {
		int32_t least = at;
		for (int32_t child = 2 * at + 1; child <= 2 * at + 2 && child < work->join_count; child++)
			if (comes_before(&work->heap[child], &work->heap[least]))
				least = child;
		if (least == at)
			return top;
		swap_joins(&work->heap[at], &work->heap[least]);
		at = least;
	}
}

// ---- joining

static Quadric quadric_of(const Coarsening *work, int32_t vertex, double evenness) {
	Quadric q = work->planes[vertex];
	add_quadric(&q, &work->borders[vertex], 1.0);
	add_quadric(&q, &work->points[vertex], evenness);
	return q;
}

// Whether a place is near enough to the planes of two vertices in the mean: their weights are the traces.
static bool is_near_planes(const Coarsening *work, const Quadric *a, const Quadric *b, FemVec3d place) {
	double weight = a->a[0] + a->a[1] + a->a[2] + b->a[0] + b->a[1] + b->a[2];
	return error_at(a, place) + error_at(b, place) <= work->error_sq * weight;
}

static FemVec3d place_of(const Coarsening *work, int32_t a, int32_t b, double *out_cost) {
	Quadric q = quadric_of(work, a, EVENNESS), other = quadric_of(work, b, EVENNESS);
	add_quadric(&q, &other, 1.0);
	FemVec3d place = best_place(&q, middle_of(work->skin->vertices[a], work->skin->vertices[b]));
	*out_cost = error_at(&q, place);
	return place;
}

static void push_edge(Coarsening *work, int32_t a, int32_t b) {
	Join join = {0.0, a < b ? a : b, a < b ? b : a, work->versions[a] + work->versions[b]};
	place_of(work, join.a, join.b, &join.cost);
	push(work, join);
}

static double sliver_of(FemVec3d a, FemVec3d b, FemVec3d c, FemVec3d *out_normal) {
	FemVec3d u = fem_vec3d_sub(b, a), v = fem_vec3d_sub(c, a), w = fem_vec3d_sub(c, b);
	FemVec3d n = fem_vec3d_cross(u, v);
	double longest = fmax(fem_vec3d_dot(u, u), fmax(fem_vec3d_dot(v, v), fem_vec3d_dot(w, w)));
	double length = sqrt(fem_vec3d_dot(n, n));
	*out_normal = fem_vec3d_scale(n, length > 0.0 ? 1.0 / length : 0.0);
	return longest > 0.0 ? 0.5 * length / longest : 0.0;
}

// No triangle that stays may turn over, or become a sliver when it was none.
static bool keeps_shape(const Coarsening *work, const int32_t *corners, int count, int32_t other, FemVec3d place) {
	for (int i = 0; i < count; i++) {
		int32_t b = corner_vertex(work, corners[i], 1), c = corner_vertex(work, corners[i], 2);
		if (b == other || c == other)
			continue;
		FemVec3d before, after, at_b = work->skin->vertices[b], at_c = work->skin->vertices[c];
		double was = sliver_of(work->skin->vertices[corner_vertex(work, corners[i], 0)], at_b, at_c, &before);
		double is = sliver_of(place, at_b, at_c, &after);
		if (is < fmin(SLIVER, 0.5 * was) || fem_vec3d_dot(before, after) < NORMAL_COSINE)
			return false;
	}
	return true;
}

static FemVec3d sum_normals(
	const Coarsening *work, const int32_t *corners, int count, int32_t other, FemVec3d place, FemVec3d sum) {
	for (int i = 0; i < count; i++) {
		int32_t b = corner_vertex(work, corners[i], 1), c = corner_vertex(work, corners[i], 2);
		if (b != other && c != other)
			sum = fem_vec3d_add(sum,
				fem_vec3d_cross(
					fem_vec3d_sub(work->skin->vertices[b], place), fem_vec3d_sub(work->skin->vertices[c], place)));
	}
	return sum;
}

static bool faces_along(
	const Coarsening *work, const int32_t *corners, int count, int32_t other, FemVec3d place, FemVec3d axis) {
	for (int i = 0; i < count; i++) {
		int32_t b = corner_vertex(work, corners[i], 1), c = corner_vertex(work, corners[i], 2);
		FemVec3d normal;
		if (b == other || c == other)
			continue;
		sliver_of(place, work->skin->vertices[b], work->skin->vertices[c], &normal);
		if (fem_vec3d_dot(normal, axis) < CONE_COSINE)
			return false;
	}
	return true;
}

// A node below the joined vertex must lie below all its triangles.
static bool keeps_cone(const Coarsening *work, const int32_t *at_a, int count_a, const int32_t *at_b, int count_b,
	int32_t a, int32_t b, FemVec3d place) {
	FemVec3d axis = sum_normals(work, at_a, count_a, b, place, (FemVec3d){0});
	axis = unit(sum_normals(work, at_b, count_b, a, place, axis));
	return faces_along(work, at_a, count_a, b, place, axis) && faces_along(work, at_b, count_b, a, place, axis);
}

// The surface stays a surface of the same kind: the only neighbours that both ends share are the corners opposite the
// edge, and these keep at least three triangles.
static bool keeps_topology(
	const Coarsening *work, const int32_t *at_a, int count_a, const int32_t *at_b, int count_b, int32_t a, int32_t b) {
	int shared = 0, common = 0;
	for (int i = 0; i < count_a; i++) {
		int32_t next = corner_vertex(work, at_a[i], 1), before = corner_vertex(work, at_a[i], 2);
		if (next == b || before == b) {
			int32_t apex = next == b ? before : next, corners[CORNERS_MAX];
			int valence = list_corners(work, apex, corners);
			shared++;
			if (valence >= 0 && valence <= (work->on_border[apex] ? 1 : 3))
				return false;
		}
		common += next != b && has_neighbor(work, at_b, count_b, next);
		common += before != b && has_neighbor(work, at_b, count_b, before);
	}
	// Within the surface each shared corner was counted from two of a's triangles, at a border perhaps from one.
	bool border_edge = shared == 1;
	if (work->on_border[a] && work->on_border[b] && !border_edge)
		return false;
	int expected = 0;
	for (int i = 0; i < count_a; i++) {
		int32_t next = corner_vertex(work, at_a[i], 1), before = corner_vertex(work, at_a[i], 2);
		if (next != b && before != b)
			continue;
		int32_t apex = next == b ? before : next;
		for (int j = 0; j < count_a; j++)
			expected += corner_vertex(work, at_a[j], 1) == apex || corner_vertex(work, at_a[j], 2) == apex;
	}
	return common == expected && count_a + count_b - 2 * shared <= VALENCE_MAX && count_a + count_b - 2 * shared >= 1;
}

static void move_corners(Coarsening *work, int32_t a, int32_t b) {
	for (int32_t c = work->first[b]; c >= 0; c = work->next[c]) {
		if (work->dead[c / 3])
			continue;
		if (corner_vertex(work, c, 1) == a || corner_vertex(work, c, 2) == a) {
			work->dead[c / 3] = 1;
			work->live--;
		}
		work->skin->triangles[c / 3][c % 3] = a;
	}
	if (work->last[a] >= 0)
		work->next[work->last[a]] = work->first[b];
	else
		work->first[a] = work->first[b];
	work->last[a] = work->last[b] >= 0 ? work->last[b] : work->last[a];
	work->first[b] = work->last[b] = -1;
}

static void push_edges_of(Coarsening *work, int32_t vertex) {
	int32_t corners[CORNERS_MAX];
	int count = list_corners(work, vertex, corners);
	for (int i = 0; i < count; i++) {
		push_edge(work, vertex, corner_vertex(work, corners[i], 1));
		int32_t before = corner_vertex(work, corners[i], 2);
		bool is_last = true; // of a border: no triangle begins where this one ends
		for (int j = 0; j < count; j++)
			is_last = is_last && corner_vertex(work, corners[j], 1) != before;
		if (is_last)
			push_edge(work, vertex, before);
	}
}

static void try_join(Coarsening *work, const Join *join) {
	int32_t a = join->a, b = join->b, at_a[CORNERS_MAX], at_b[CORNERS_MAX];
	double cost;
	int count_a = list_corners(work, a, at_a), count_b = list_corners(work, b, at_b);
	if (count_a < 0 || count_b < 0 || !has_neighbor(work, at_a, count_a, b))
		return;
	FemVec3d place = place_of(work, a, b, &cost);
	if (!is_near_planes(work, &work->planes[a], &work->planes[b], place) ||
		!is_near_planes(work, &work->borders[a], &work->borders[b], place) ||
		!keeps_topology(work, at_a, count_a, at_b, count_b, a, b) || !keeps_shape(work, at_a, count_a, b, place) ||
		!keeps_shape(work, at_b, count_b, a, place) || !keeps_cone(work, at_a, count_a, at_b, count_b, a, b, place))
		return;
	work->skin->vertices[a] = place;
	add_quadric(&work->planes[a], &work->planes[b], 1.0);
	add_quadric(&work->borders[a], &work->borders[b], 1.0);
	add_quadric(&work->points[a], &work->points[b], 1.0);
	work->on_border[a] |= work->on_border[b];
	work->versions[a] += work->versions[b] + 1;
	work->versions[b] = -1 - 2 * work->skin->vertex_count; // no version of it is met again
	move_corners(work, a, b);
	push_edges_of(work, a);
}

// ---- last touches

// Exchanges the diagonal of two triangles that lie nearly in one plane when that makes the smaller angle larger.
static bool flip_edge(Coarsening *work, int32_t first, int32_t second) {
	FemSkin *skin = work->skin;
	int32_t a = corner_vertex(work, first, 0), b = corner_vertex(work, first, 1), c = corner_vertex(work, first, 2);
	int32_t d = corner_vertex(work, second, 2), at_c[CORNERS_MAX];
	FemVec3d n1, n2, n3, n4, pa = skin->vertices[a], pb = skin->vertices[b], pc = skin->vertices[c],
							 pd = skin->vertices[d];
	double before = fmin(sliver_of(pa, pb, pc, &n1), sliver_of(pb, pa, pd, &n2));
	double after = fmin(sliver_of(pa, pd, pc, &n3), sliver_of(pd, pb, pc, &n4));
	int count = list_corners(work, c, at_c);
	if (after < FLIP_GAIN * before || fem_vec3d_dot(n1, n2) < FLIP_COSINE || fem_vec3d_dot(n1, n3) < FLIP_COSINE ||
		fem_vec3d_dot(n1, n4) < FLIP_COSINE || count < 0 || has_neighbor(work, at_c, count, d))
		return false;
	int32_t one[3] = {a, d, c}, two[3] = {d, b, c};
	for (int v = 0; v < 3; v++) {
		skin->triangles[first / 3][v] = one[v];
		skin->triangles[second / 3][v] = two[v];
	}
	return true;
}

static void flip_round(Coarsening *work) {
	FemEdgeTable edges;
	if (!fem_edge_table_create(&edges, work->skin->triangles, work->skin->triangle_count)) {
		work->failed = true;
		return;
	}
	link_corners(work);
	for (int32_t e = 0; e < edges.edge_count; e++) {
		int32_t first = edges.sides[e][0], second = edges.sides[e][1];
		if (second < 0 || work->dead[first / 3] || work->dead[second / 3])
			continue;
		if (flip_edge(work, first, second)) // their other edges are looked at in the next round
			work->dead[first / 3] = work->dead[second / 3] = 1;
	}
	for (int32_t t = 0; t < work->skin->triangle_count; t++)
		work->dead[t] = 0;
	fem_edge_table_free(&edges);
}

static void drop_dead(Coarsening *work, double reach) {
	FemSkin *skin = work->skin;
	int32_t kept = 0, *numbers = work->first, vertices = 0;
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		if (work->dead[t])
			continue;
		for (int v = 0; v < 3; v++)
			skin->triangles[kept][v] = skin->triangles[t][v];
		skin->sources[kept] = -1;
		work->dead[kept++] = 0;
	}
	skin->triangle_count = kept;
	for (int32_t v = 0; v < skin->vertex_count; v++)
		numbers[v] = -1;
	for (int32_t c = 0; c < 3 * kept; c++)
		numbers[skin->triangles[c / 3][c % 3]] = 0;
	for (int32_t v = 0; v < skin->vertex_count; v++) {
		if (numbers[v] < 0)
			continue;
		Quadric q = quadric_of(work, v, PLACE_EVENNESS);
		FemVec3d place = best_place(&q, skin->vertices[v]), move = fem_vec3d_sub(place, skin->vertices[v]);
		skin->vertices[vertices] = fem_vec3d_dot(move, move) < reach * reach ? place : skin->vertices[v];
		numbers[v] = vertices++;
	}
	for (int32_t c = 0; c < 3 * kept; c++)
		skin->triangles[c / 3][c % 3] = numbers[skin->triangles[c / 3][c % 3]];
	skin->vertex_count = vertices;
}

// ---- whole

static bool reserve(Coarsening *work) {
	int32_t vertices = work->skin->vertex_count, triangles = work->skin->triangle_count;
	work->planes = FEM_ALLOC_ARRAY(Quadric, vertices);
	work->borders = FEM_ALLOC_ARRAY(Quadric, vertices);
	work->points = FEM_ALLOC_ARRAY(Quadric, vertices);
	work->versions = FEM_ALLOC_ARRAY(int32_t, vertices);
	work->on_border = FEM_ALLOC_ARRAY(uint8_t, vertices);
	work->first = FEM_ALLOC_ARRAY(int32_t, vertices);
	work->last = FEM_ALLOC_ARRAY(int32_t, vertices);
	work->next = FEM_ALLOC_ARRAY(int32_t, 3 * triangles);
	work->dead = FEM_ALLOC_ARRAY(uint8_t, triangles);
	return work->planes && work->borders && work->points && work->versions && work->on_border && work->first &&
		work->last && work->next && work->dead;
}

static void free_work(Coarsening *work, int32_t vertices, int32_t triangles) {
	FEM_FREE_ARRAY(work->planes, vertices);
	FEM_FREE_ARRAY(work->borders, vertices);
	FEM_FREE_ARRAY(work->points, vertices);
	FEM_FREE_ARRAY(work->versions, vertices);
	FEM_FREE_ARRAY(work->on_border, vertices);
	FEM_FREE_ARRAY(work->first, vertices);
	FEM_FREE_ARRAY(work->last, vertices);
	FEM_FREE_ARRAY(work->next, 3 * triangles);
	FEM_FREE_ARRAY(work->dead, triangles);
	FEM_FREE_ARRAY(work->heap, work->join_capacity);
}

static void join_all(Coarsening *work, int32_t triangle_count) {
	while (work->live > triangle_count && work->join_count > 0 && !work->failed && !fem_stop_asked()) {
		Join join = pop(work);
		if (work->versions[join.a] + work->versions[join.b] == join.version)
			try_join(work, &join);
	}
}

static void push_all(Coarsening *work) {
	for (int32_t c = 0; c < 3 * work->skin->triangle_count && !work->failed; c++)
		if (!work->dead[c / 3])
			push_edge(work, corner_vertex(work, c, 0), corner_vertex(work, c, 1));
}

static void run(Coarsening *work, const FemEdgeTable *edges, int32_t triangle_count) {
	double width = sqrt(2.0 * fem_skin_area(work->skin) / triangle_count);
	gather_quadrics(work, edges, width);
	link_corners(work);
	for (int32_t e = 0; e < edges->edge_count && !fem_stop_asked(); e++)
		push_edge(work, edges->ends[e][0], edges->ends[e][1]);
	for (int32_t before = -1; work->live > triangle_count && work->live != before && !fem_stop_asked();) {
		before = work->live;
		join_all(work, triangle_count);
		if (work->live > triangle_count && !fem_stop_asked())
			push_all(work); // what could not be joined for its shape may now be, since its neighbours have changed
	}
	drop_dead(work, PLACE_REACH * width);
	for (int i = 0; i < FLIP_ROUNDS && !work->failed && !fem_stop_asked(); i++)
		flip_round(work);
}

bool fem_skin_coarsen(FemSkin *skin, int32_t triangle_count, double error_max) {
	Coarsening work = {.skin = skin, .live = skin->triangle_count, .error_sq = error_max * error_max};
	FemEdgeTable edges = {0};
	int32_t vertices = skin->vertex_count, triangles = skin->triangle_count;
	bool ready = fem_edge_table_create(&edges, skin->triangles, triangles) && reserve(&work);
	if (ready)
		run(&work, &edges, triangle_count > 1 ? triangle_count : 1);
	free_work(&work, vertices, triangles);
	fem_edge_table_free(&edges);
	return ready && !work.failed;
}
