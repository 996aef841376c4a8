#include "cutting/cut_diagram.h"

__extension__ typedef __int128 Wide;

// A constraint of cell i as an affine function that is positive inside.
typedef struct Plane {
	int64_t a[3], b;
} Plane;

static inline Plane plane_of(const FemCutDiagram *d, int32_t i, int32_t c) {
	const FemCutCell *at = &d->cells[i];
	Plane plane = {{0, 0, 0}, 0};
	if (c < 0) {
		plane.b = d->box[(-1 - c) / 2];
		plane.a[(-1 - c) / 2] = (-1 - c) % 2 ? -1 : 1;
		return plane;
	}
	for (int axis = 0; axis < 3; axis++)
		plane.a[axis] = (int64_t)d->cells[c].a[axis] - at->a[axis];
	plane.b = d->cells[c].b - at->b;
	return plane;
}

static inline int64_t value_at(const Plane *plane, const FemCutPoint *p) {
	return plane->a[0] * p->x[0] + plane->a[1] * p->x[1] + plane->a[2] * p->x[2] + plane->b;
}

static int sign_of(Wide value) {
	return (value > 0) - (value < 0);
}

// The sign of a sum of coefficient[n] * eps_id[n] less their sum over cells times eps_i: that of the lowest id with a
// coefficient other than 0. Sides of the box come first; they do not move with eps_i.
static int sign_of_perturbation(int32_t i, int count, const int32_t *ids, const Wide *coefficients) {
	Wide own = 0;
	int32_t best_id = INT32_MAX;
	int best = 0;
	for (int n = 0; n < count; n++) {
		if (ids[n] >= 0)
			own -= coefficients[n];
		if (coefficients[n] != 0 && ids[n] < best_id) {
			best_id = ids[n];
			best = sign_of(coefficients[n]);
		}
	}
	return own != 0 && i < best_id ? sign_of(own) : best;
}

bool fem_cut_keeps_point(const FemCutDiagram *d, int32_t i, int32_t l, const FemCutPoint *p) {
	Plane plane = plane_of(d, i, l);
	int64_t value = value_at(&plane, p);
	return value != 0 ? value > 0 : l < i;
}

bool fem_cut_keeps_edge_point(
	const FemCutDiagram *d, int32_t i, int32_t j, int32_t l, const FemCutPoint *a, const FemCutPoint *b) {
	Plane pj = plane_of(d, i, j), pl = plane_of(d, i, l);
	int64_t ja = value_at(&pj, a), jb = value_at(&pj, b), la = value_at(&pl, a), lb = value_at(&pl, b);
	Wide value = (Wide)la * jb - (Wide)lb * ja;
	int sign = sign_of(value);
	if (sign == 0)
		sign = sign_of_perturbation(i, 2, (int32_t[]){l, j}, (Wide[]){(Wide)jb - ja, (Wide)la - lb});
	return jb > ja ? sign > 0 : sign < 0;
}

static void minors(const int64_t r[3], const int64_t s[3], Wide out[3]) {
	for (int n = 0; n < 3; n++)
		out[n] = (Wide)r[(n + 1) % 3] * s[(n + 2) % 3] - (Wide)r[(n + 2) % 3] * s[(n + 1) % 3];
}

bool fem_cut_keeps_triangle_point(
	const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, int32_t l, const FemCutPoint *const t[3]) {
	Plane pj = plane_of(d, i, j), pk = plane_of(d, i, k), pl = plane_of(d, i, l);
	int64_t hj[3], hk[3], hl[3];
	Wide jk[3], kl[3], jl[3];
	for (int v = 0; v < 3; v++) {
		hj[v] = value_at(&pj, t[v]);
		hk[v] = value_at(&pk, t[v]);
		hl[v] = value_at(&pl, t[v]);
	}
	minors(hj, hk, jk);
	Wide whole = jk[0] + jk[1] + jk[2];
	int sign = sign_of(jk[0] * hl[0] + jk[1] * hl[1] + jk[2] * hl[2]);
	if (sign == 0) {
		minors(hk, hl, kl);
		minors(hj, hl, jl);
		sign = sign_of_perturbation(
			i, 3, (int32_t[]){l, j, k}, (Wide[]){whole, kl[0] + kl[1] + kl[2], -(jl[0] + jl[1] + jl[2])});
	}
	return whole > 0 ? sign > 0 : sign < 0;
}

static void cross(const int64_t a[3], const int64_t b[3], int64_t out[3]) {
	for (int n = 0; n < 3; n++)
		out[n] = a[(n + 1) % 3] * b[(n + 2) % 3] - a[(n + 2) % 3] * b[(n + 1) % 3];
}

static int64_t dot(const int64_t a[3], const int64_t b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The solution of the three planes by Cramer's rule: x = -(b_j kl + b_k lj + b_l jk) / determinant.
bool fem_cut_keeps_corner(const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, int32_t l, int32_t m) {
	Plane pj = plane_of(d, i, j), pk = plane_of(d, i, k), pl = plane_of(d, i, l), pm = plane_of(d, i, m);
	int64_t kl[3], lj[3], jk[3];
	cross(pk.a, pl.a, kl);
	cross(pl.a, pj.a, lj);
	cross(pj.a, pk.a, jk);
	int64_t whole = dot(pj.a, kl), mkl = dot(pm.a, kl), mlj = dot(pm.a, lj), mjk = dot(pm.a, jk);
	int sign = sign_of((Wide)pm.b * whole - (Wide)pj.b * mkl - (Wide)pk.b * mlj - (Wide)pl.b * mjk);
	if (sign == 0)
		sign = sign_of_perturbation(i, 4, (int32_t[]){m, j, k, l}, (Wide[]){whole, -(Wide)mkl, -(Wide)mlj, -(Wide)mjk});
	return whole > 0 ? sign > 0 : sign < 0;
}

// ---- places

static double clamp01(double value) {
	return value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
}

double fem_cut_edge_share(const FemCutDiagram *d, int32_t i, int32_t j, const FemCutPoint *a, const FemCutPoint *b) {
	Plane plane = plane_of(d, i, j);
	double at_a = (double)value_at(&plane, a), at_b = (double)value_at(&plane, b);
	return at_a != at_b ? clamp01(at_a / (at_a - at_b)) : 0.5;
}

void fem_cut_triangle_weights(
	const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, const FemCutPoint *const t[3], double out[3]) {
	Plane pj = plane_of(d, i, j), pk = plane_of(d, i, k);
	int64_t hj[3], hk[3];
	Wide jk[3];
	double sum = 0.0;
	for (int v = 0; v < 3; v++) {
		hj[v] = value_at(&pj, t[v]);
		hk[v] = value_at(&pk, t[v]);
	}
	minors(hj, hk, jk);
	double whole = (double)(jk[0] + jk[1] + jk[2]);
	for (int v = 0; v < 3; v++) {
		out[v] = whole != 0.0 ? clamp01((double)jk[v] / whole) : 1.0 / 3.0;
		sum += out[v];
	}
	for (int v = 0; v < 3; v++)
		out[v] /= sum;
}

FemVec3d fem_cut_corner_at(const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, int32_t l) {
	Plane pj = plane_of(d, i, j), pk = plane_of(d, i, k), pl = plane_of(d, i, l);
	int64_t kl[3], lj[3], jk[3];
	double out[3];
	cross(pk.a, pl.a, kl);
	cross(pl.a, pj.a, lj);
	cross(pj.a, pk.a, jk);
	double whole = (double)dot(pj.a, kl);
	for (int n = 0; n < 3; n++) {
		Wide sum = (Wide)pj.b * kl[n] + (Wide)pk.b * lj[n] + (Wide)pl.b * jk[n];
		out[n] = whole != 0.0 ? -(double)sum / whole / FEM_CUT_GRID : 0.0;
	}
	return (FemVec3d){out[0], out[1], out[2]};
}

FemCutPoint fem_cut_point(FemVec3d unit) {
	double in[3] = {unit.x, unit.y, unit.z};
	FemCutPoint out;
	for (int axis = 0; axis < 3; axis++)
		out.x[axis] = (int32_t)lrint(fmin(fmax(in[axis] * FEM_CUT_GRID, 1.0 - FEM_CUT_REACH), FEM_CUT_REACH - 1.0));
	return out;
}

int32_t fem_cut_find_cell(const FemCutDiagram *d, int32_t from, const FemCutPoint *p) {
	for (bool moved = true; moved;) {
		moved = false;
		for (int32_t n = d->start[from]; n < d->start[from + 1] && !moved; n++) {
			if (!fem_cut_keeps_point(d, from, d->neighbors[n], p)) {
				from = d->neighbors[n];
				moved = true;
			}
		}
	}
	return from;
}
