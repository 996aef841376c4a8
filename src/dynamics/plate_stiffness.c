#include "dynamics/plate_stiffness.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

#define SHAPE_LEAST 1e-12 // of the squared size: less area or thickness is none
#define LEAN_MOST 0.5     // tangent: columns of a round wall of seven cells lean so far, and of edges farther; chosen

const int fem_prism_triangles[1][3] = {{0, 1, 2}};
const int fem_hexahedron_triangles[FEM_CELL_TRIANGLES][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}};

static double dot(const double a[3], const double b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void middle_of(double corners[FEM_CELL_CORNERS][3], int column, double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = 0.5 * (corners[2 * column][i] + corners[2 * column + 1][i]);
}

// How far the top of a column is above its bottom along a normal.
static double height_of(double corners[FEM_CELL_CORNERS][3], int column, const double normal[3]) {
	double height = 0.0;
	for (int i = 0; i < 3; i++)
		height += (corners[2 * column + 1][i] - corners[2 * column][i]) * normal[i];
	return height;
}

// The angle, rad, that a wall bends by between two columns that lean by these tangents along the side from one to the
// other. One that leans on one side only stands in a fold between flat walls, and one that leans far in an edge.
static double bend_between(double first, double second) {
	double least = fmin(fabs(first), fabs(second));
	return first * second < 0.0 && least < LEAN_MOST ? copysign(2.0 * atan(least), first) : 0.0;
}

// The wall between two columns is no chord but an arc. Where it bends, this is longer than the chord says by the
// integral of h' w', h its rise over the chord: with h a parabola and w a cubic a twelfth of the side's length l times
// what both slopes change by. So the side is stretched by a twelfth of arc and b_i - b_j along it, arcs being the arc
// over 12, times l / det^2 for what membrane_rows() multiplies it with. Without it a wall could bend only along a line
// of columns without stretching.
static void add_arcs(double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *t) {
	double at[3][2] = {{0.0, 0.0}, {t->edges[0][0], t->edges[0][1]}, {t->edges[1][0], t->edges[1][1]}};
	double det = 2.0 * t->area, lean[3][2];
	for (int k = 0; k < 3; k++) {
		double height = height_of(corners, columns[k], t->axes[2]);
		for (int axis = 0; axis < 2; axis++)
			lean[k][axis] = height > 0.0 ? height_of(corners, columns[k], t->axes[axis]) / height : 0.0;
	}
	for (int k = 0; k < 3; k++) {
		int j = (k + 1) % 3;
		double r[2] = {at[j][0] - at[k][0], at[j][1] - at[k][1]}, length = hypot(r[0], r[1]);
		double first = (lean[k][0] * r[0] + lean[k][1] * r[1]) / length;
		double second = (lean[j][0] * r[0] + lean[j][1] * r[1]) / length;
		t->arcs[k] = bend_between(first, second) * length / (12.0 * det * det);
	}
}

bool fem_plate_triangle(double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *out) {
	double at[3][3], ab[3], ac[3];
	for (int k = 0; k < 3; k++)
		middle_of(corners, columns[k], at[k]);
	for (int i = 0; i < 3; i++) {
		ab[i] = at[1][i] - at[0][i];
		ac[i] = at[2][i] - at[0][i];
	}
	cross(ab, ac, out->axes[2]);
	double length = sqrt(dot(ab, ab)), normal = sqrt(dot(out->axes[2], out->axes[2]));
	if (!(normal > SHAPE_LEAST * (dot(ab, ab) + dot(ac, ac))))
		return false;
	for (int i = 0; i < 3; i++) {
		out->axes[0][i] = ab[i] / length;
		out->axes[2][i] /= normal;
	}
	cross(out->axes[2], out->axes[0], out->axes[1]);
	out->edges[0][0] = length;
	out->edges[0][1] = 0.0;
	out->edges[1][0] = dot(ac, out->axes[0]);
	out->edges[1][1] = dot(ac, out->axes[1]);
	out->area = 0.5 * normal;
	out->thickness = 0.0;
	for (int k = 0; k < 3; k++)
		out->thickness += height_of(corners, columns[k], out->axes[2]) / 3.0;
	add_arcs(corners, columns, out);
	return out->thickness > sqrt(SHAPE_LEAST) * length;
}

// out += rows^T m rows, where row k of `rows` is a combination of the cell's displacements.
static void add_energy(double out[24][24], int size, int count, double rows[][24], double m[9][9]) {
	for (int a = 0; a < count; a++) {
		for (int b = 0; b < count; b++) {
			for (int i = 0; i < size; i++) {
				double share = m[a][b] * rows[a][i];
				for (int j = 0; share != 0.0 && j < size; j++)
					out[i][j] += share * rows[b][j];
			}
		}
	}
}

// ---- bending

// Rotations of the normal at the middle of the side from column i to column j, by the nine unknowns w, bx, by of the
// three columns, u_x = z bx. Along the side Kirchhoff's b = -dw/ds of the cubic w with these slopes at its ends holds;
// across it b is linear (Batoz, Bathe & Ho 1980, sections 3.3.1 and 3.3.2).
static void side_rotation(double edges[3][2], int i, int j, double out[2][9]) {
	double r[2] = {edges[j][0] - edges[i][0], edges[j][1] - edges[i][1]}, length = hypot(r[0], r[1]);
	double s[2] = {r[0] / length, r[1] / length}, n[2] = {-s[1], s[0]};
	memset(out, 0, 18 * sizeof(double));
	for (int axis = 0; axis < 2; axis++) {
		out[axis][3 * i] += 1.5 / length * s[axis];
		out[axis][3 * j] -= 1.5 / length * s[axis];
		for (int k = 0; k < 2; k++) {
			double value = -0.25 * s[axis] * s[k] + 0.5 * n[axis] * n[k];
			out[axis][3 * i + 1 + k] += value;
			out[axis][3 * j + 1 + k] += value;
		}
	}
}

// Curvatures dbx/dx, dby/dy, dbx/dy + dby/dx at column i. The rotations are quadratic: along the side to j their
// derivative at i, times its length, is -3 b_i + 4 b_ij - b_j.
static void curvature_at(double at[3][2], int i, double out[3][9]) {
	double along[2][2][9], edge[2][2];
	for (int k = 0; k < 2; k++) {
		int j = (i + 1 + k) % 3;
		side_rotation(at, i, j, along[k]);
		for (int axis = 0; axis < 2; axis++) {
			edge[k][axis] = at[j][axis] - at[i][axis];
			for (int c = 0; c < 9; c++)
				along[k][axis][c] *= 4.0;
			along[k][axis][3 * i + 1 + axis] -= 3.0;
			along[k][axis][3 * j + 1 + axis] -= 1.0;
		}
	}
	double det = edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0];
	for (int c = 0; c < 9; c++) {
		double g[2][2]; // g[a][b] = d b_a / d x_b
		for (int a = 0; a < 2; a++) {
			g[a][0] = (along[0][a][c] * edge[1][1] - along[1][a][c] * edge[0][1]) / det;
			g[a][1] = (along[1][a][c] * edge[0][0] - along[0][a][c] * edge[1][0]) / det;
		}
		out[0][c] = g[0][0];
		out[1][c] = g[1][1];
		out[2][c] = g[0][1] + g[1][0];
	}
}

void fem_plate_fibres(const FemPlateMaterial *material, double axes[3][3], double out[3]) {
	double x = dot(material->fibre, axes[0]), y = dot(material->fibre, axes[1]), root = sqrt(material->fibre_modulus);
	out[0] = root * x * x;
	out[1] = root * y * y;
	out[2] = root * x * y;
}

// Plane stress: E / (1 - nu^2) (1 nu 0; nu 1 0; 0 0 (1 - nu) / 2), and fibres.
static void plane_moduli(const FemPlateMaterial *material, double axes[3][3], double out[3][3]) {
	double nu = material->poisson_ratio, e = material->young_modulus / (1.0 - nu * nu);
	memset(out, 0, 9 * sizeof(double));
	out[0][0] = out[1][1] = e;
	out[0][1] = out[1][0] = nu * e;
	out[2][2] = 0.5 * (1.0 - nu) * e;
	double q[3];
	fem_plate_fibres(material, axes, q);
	for (int i = 0; i < 9; i++)
		out[i / 3][i % 3] += q[i / 3] * q[i % 3];
}

// out += scale a^T c b
static void add_product(double out[9][9], double scale, double a[3][9], double c[3][3], double b[3][9]) {
	for (int k = 0; k < 3; k++) {
		for (int l = 0; l < 3; l++) {
			for (int i = 0; c[k][l] != 0.0 && i < 9; i++) {
				for (int j = 0; j < 9; j++)
					out[i][j] += scale * a[k][i] * c[k][l] * b[l][j];
			}
		}
	}
}

// Curvatures are linear: the integral of two linear functions is A/12 sum (1 + delta_ij) f_i g_j over the corners.
static void bending_stiffness(FemPlateTriangle *t, const FemPlateMaterial *material, double out[9][9]) {
	double at[3][2] = {{0.0, 0.0}, {t->edges[0][0], t->edges[0][1]}, {t->edges[1][0], t->edges[1][1]}};
	double curvature[3][3][9], moduli[3][3], cubed = t->thickness * t->thickness * t->thickness;
	plane_moduli(material, t->axes, moduli);
	memset(out, 0, 81 * sizeof(double));
	for (int i = 0; i < 3; i++)
		curvature_at(at, i, curvature[i]);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			add_product(out, cubed / 12.0 * t->area / 12.0 * (i == j ? 2.0 : 1.0), curvature[i], moduli, curvature[j]);
	}
}

static void add_bending(double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *t,
	const FemPlateMaterial *material, int size, double weight, double out[24][24]) {
	double rows[9][24], m[9][9];
	memset(rows, 0, sizeof rows);
	for (int k = 0; k < 3; k++) {
		double height = height_of(corners, columns[k], t->axes[2]);
		for (int i = 0; i < 3; i++) {
			int low = 6 * columns[k] + i, high = low + 3;
			rows[3 * k][low] = rows[3 * k][high] = 0.5 * t->axes[2][i];
			for (int axis = 0; axis < 2; axis++) {
				rows[3 * k + 1 + axis][high] = t->axes[axis][i] / height;
				rows[3 * k + 1 + axis][low] = -t->axes[axis][i] / height;
			}
		}
	}
	bending_stiffness(t, material, m);
	for (int i = 0; i < 81; i++)
		m[i / 9][i % 9] *= weight;
	add_energy(out, size, 9, rows, m);
}

// ---- in the plane

// Rows of displacements of mid points along two axes.
static void middle_rows(double axes[3][3], int columns, const int *which, double rows[][24]) {
	memset(rows, 0, sizeof(double) * 24 * 2 * (size_t)columns);
	for (int k = 0; k < columns; k++) {
		int column = which ? which[k] : k;
		for (int axis = 0; axis < 2; axis++) {
			for (int i = 0; i < 3; i++)
				rows[2 * k + axis][6 * column + i] = rows[2 * k + axis][6 * column + 3 + i] = 0.5 * axes[axis][i];
		}
	}
}

// Strains of the middle plane, xx, yy, 2 xy, by the displacements of the corners: constant. Of a triangle with sides p
// and q to the third column the strain (p_y q_y, p_x q_x, -p_x q_y - p_y q_x) stretches its first side and no other.
static void membrane_rows(
	double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *t, double rows[3][24]) {
	double at[3][2] = {{0.0, 0.0}, {t->edges[0][0], t->edges[0][1]}, {t->edges[1][0], t->edges[1][1]}};
	double det = at[1][0] * at[2][1] - at[1][1] * at[2][0];
	memset(rows, 0, sizeof(double) * 3 * 24);
	for (int k = 0; k < 3; k++) {
		const double *i = at[k], *j = at[(k + 1) % 3], *l = at[(k + 2) % 3];
		double gx = (j[1] - l[1]) / det, gy = (l[0] - j[0]) / det;
		double r[2] = {j[0] - i[0], j[1] - i[1]}, p[2] = {l[0] - i[0], l[1] - i[1]}, q[2] = {l[0] - j[0], l[1] - j[1]};
		double strain[3] = {p[1] * q[1], p[0] * q[0], -p[0] * q[1] - p[1] * q[0]};
		for (int c = 0; c < 6; c++) {
			double x = 0.5 * t->axes[0][c % 3], y = 0.5 * t->axes[1][c % 3];
			rows[0][6 * columns[k] + c] += gx * x;
			rows[1][6 * columns[k] + c] += gy * y;
			rows[2][6 * columns[k] + c] += gy * x + gx * y;
		}
		for (int end = 0; end < 2; end++) {
			int column = columns[(k + end) % 3];
			double share = (end ? -1.0 : 1.0) * t->arcs[k] / height_of(corners, column, t->axes[2]);
			for (int c = 0; c < 3; c++) {
				double rotation = share * (r[0] * t->axes[0][c] + r[1] * t->axes[1][c]);
				for (int row = 0; row < 3; row++) {
					rows[row][6 * column + 3 + c] += strain[row] * rotation;
					rows[row][6 * column + c] -= strain[row] * rotation;
				}
			}
		}
	}
}

static void add_membrane(double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *t,
	const FemPlateMaterial *material, double out[24][24]) {
	double rows[3][24], moduli[3][3], m[9][9];
	membrane_rows(corners, columns, t, rows);
	plane_moduli(material, t->axes, moduli);
	for (int i = 0; i < 9; i++)
		m[i / 3][i % 3] = t->area * t->thickness * moduli[i / 3][i % 3];
	add_energy(out, 18, 3, rows, m);
}

// A quadrangle in its mean plane.
typedef struct Quad {
	double axes[3][3], at[4][2], thickness;
} Quad;

static bool make_quad(double corners[FEM_CELL_CORNERS][3], Quad *out) {
	double m[4][3], d[2][3];
	for (int k = 0; k < 4; k++)
		middle_of(corners, k, m[k]);
	for (int i = 0; i < 3; i++) {
		d[0][i] = m[2][i] - m[0][i];
		d[1][i] = m[3][i] - m[1][i];
	}
	cross(d[0], d[1], out->axes[2]);
	double normal = sqrt(dot(out->axes[2], out->axes[2])), length = sqrt(dot(d[0], d[0]));
	if (!(normal > SHAPE_LEAST * (dot(d[0], d[0]) + dot(d[1], d[1]))))
		return false;
	for (int i = 0; i < 3; i++) {
		out->axes[2][i] /= normal;
		out->axes[0][i] = d[0][i] / length;
	}
	cross(out->axes[2], out->axes[0], out->axes[1]);
	out->thickness = 0.0;
	for (int k = 0; k < 4; k++) {
		double from[3] = {m[k][0] - m[0][0], m[k][1] - m[0][1], m[k][2] - m[0][2]};
		out->at[k][0] = dot(from, out->axes[0]);
		out->at[k][1] = dot(from, out->axes[1]);
		out->thickness += 0.25 * height_of(corners, k, out->axes[2]);
	}
	return out->thickness > 0.0;
}

// dx_b/dxi_a and the derivatives of the bilinear functions of the corners by xi and eta.
static double jacobian(const Quad *quad, double xi, double eta, double j[2][2], double d[4][2]) {
	// xi and eta of the corners.
	static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
	memset(j, 0, 4 * sizeof(double));
	for (int k = 0; k < 4; k++) {
		d[k][0] = 0.25 * sign[k][0] * (1.0 + sign[k][1] * eta);
		d[k][1] = 0.25 * sign[k][1] * (1.0 + sign[k][0] * xi);
		for (int a = 0; a < 2; a++) {
			for (int b = 0; b < 2; b++)
				j[a][b] += d[k][a] * quad->at[k][b];
		}
	}
	return j[0][0] * j[1][1] - j[0][1] * j[1][0];
}

// Strain of displacements whose derivatives by xi and eta are d: columns 2 k and 2 k + 1 are those along x and y.
static void strain_columns(double j[2][2], double det, const double d[2], double out[3][2]) {
	double x = (j[1][1] * d[0] - j[0][1] * d[1]) / det, y = (j[0][0] * d[1] - j[1][0] * d[0]) / det;
	out[0][0] = out[2][1] = x;
	out[1][1] = out[2][0] = y;
	out[0][1] = out[1][0] = 0.0;
}

// Takes unknowns 8..11 out of a symmetric 12 x 12 matrix: they are free.
static bool condense(double m[12][12]) {
	for (int p = 11; p >= 8; p--) {
		if (!(m[p][p] > 0.0))
			return false;
		for (int i = 0; i < p; i++) {
			double share = m[i][p] / m[p][p];
			for (int j = 0; j < p; j++)
				m[i][j] -= share * m[p][j];
		}
	}
	return true;
}

// Four nodes and the incompatible modes 1 - xi^2, 1 - eta^2, whose strains are those of the middle's Jacobian so that a
// constant strain stays exact (Taylor, Beresford & Wilson 1976): bends in its plane without shear.
static bool add_quad_membrane(
	double corners[FEM_CELL_CORNERS][3], const FemPlateMaterial *material, double out[24][24]) {
	Quad quad;
	double middle[2][2], moduli[3][3], all[12][12], rows[8][24], m[9][9], d[4][2];
	if (!make_quad(corners, &quad))
		return false;
	double det_middle = jacobian(&quad, 0.0, 0.0, middle, d);
	plane_moduli(material, quad.axes, moduli);
	memset(all, 0, sizeof all);
	for (int point = 0; point < 4; point++) {
		double xi = (point % 2 ? 1.0 : -1.0) / sqrt(3.0), eta = (point / 2 ? 1.0 : -1.0) / sqrt(3.0), j[2][2];
		double strain[3][12], det = jacobian(&quad, xi, eta, j, d), mode[2][2] = {{-2.0 * xi, 0.0}, {0.0, -2.0 * eta}};
		if (!(det > 0.0))
			return false;
		for (int k = 0; k < 6; k++) {
			double one[3][2];
			if (k < 4)
				strain_columns(j, det, d[k], one);
			else
				strain_columns(middle, det, mode[k - 4], one); // (det_middle / det) J_middle^-1
			for (int r = 0; r < 3; r++) {
				strain[r][2 * k] = one[r][0];
				strain[r][2 * k + 1] = one[r][1];
			}
		}
		for (int a = 0; a < 12; a++) {
			for (int b = 0; b < 12; b++) {
				for (int r = 0; r < 9; r++)
					all[a][b] += det * quad.thickness * strain[r / 3][a] * moduli[r / 3][r % 3] * strain[r % 3][b];
			}
		}
	}
	if (!(det_middle > 0.0) || !condense(all))
		return false;
	memset(m, 0, sizeof m);
	for (int i = 0; i < 64; i++)
		m[i / 8][i % 8] = all[i / 8][i % 8];
	middle_rows(quad.axes, 4, NULL, rows);
	add_energy(out, 24, 8, rows, m);
	return true;
}

// ---- strains

// Unknowns w, bx, by of the columns of a triangle and the motions of its middle plane, u_x, u_y.
static void column_motions(
	const FemPlateTriangle *t, const int columns[3], double u[FEM_CELL_CORNERS][3], double out[9], double plane[3][2]) {
	for (int k = 0; k < 3; k++) {
		double middle[3], rise[3];
		for (int i = 0; i < 3; i++) {
			middle[i] = 0.5 * (u[2 * columns[k]][i] + u[2 * columns[k] + 1][i]);
			rise[i] = (u[2 * columns[k] + 1][i] - u[2 * columns[k]][i]) / t->thickness;
		}
		out[3 * k] = dot(t->axes[2], middle);
		for (int axis = 0; axis < 2; axis++) {
			out[3 * k + 1 + axis] = dot(t->axes[axis], rise);
			plane[k][axis] = dot(t->axes[axis], middle);
		}
	}
}

// Stretch of the middle and, at each column, t/3 times the curvature: xx, yy, 2 xy.
static void triangle_strains(const FemPlateTriangle *t, bool is_prism, const double motions[9], double plane[3][2],
	double stretch[3], double bending[3][3]) {
	double at[3][2] = {{0.0, 0.0}, {t->edges[0][0], t->edges[0][1]}, {t->edges[1][0], t->edges[1][1]}};
	double det = at[1][0] * at[2][1] - at[1][1] * at[2][0], g[2][2];
	for (int a = 0; a < 2; a++) {
		double first = plane[1][a] - plane[0][a], second = plane[2][a] - plane[0][a];
		g[a][0] = (first * at[2][1] - second * at[1][1]) / det;
		g[a][1] = (second * at[1][0] - first * at[2][0]) / det;
	}
	stretch[0] = g[0][0], stretch[1] = g[1][1], stretch[2] = g[0][1] + g[1][0];
	for (int k = 0; k < 3 && is_prism; k++) { // as in membrane_rows()
		const double *i = at[k], *j = at[(k + 1) % 3], *l = at[(k + 2) % 3];
		const double *from = motions + 3 * k + 1, *to = motions + 3 * ((k + 1) % 3) + 1;
		double p[2] = {l[0] - i[0], l[1] - i[1]}, q[2] = {l[0] - j[0], l[1] - j[1]};
		double rotation = t->arcs[k] * ((from[0] - to[0]) * (j[0] - i[0]) + (from[1] - to[1]) * (j[1] - i[1]));
		stretch[0] += rotation * p[1] * q[1];
		stretch[1] += rotation * p[0] * q[0];
		stretch[2] -= rotation * (p[0] * q[1] + p[1] * q[0]);
	}
	for (int k = 0; k < 3; k++) {
		double curvature[3][9];
		curvature_at(at, k, curvature);
		for (int i = 0; i < 3; i++) {
			bending[k][i] = 0.0;
			for (int c = 0; c < 9; c++)
				bending[k][i] += t->thickness / 3.0 * curvature[i][c] * motions[c];
		}
	}
}

// ---- all

// Along the column itself, not the cell's normal: in a curved wall they differ, and bending, which rotates columns,
// would stretch the spring.
static void add_spring(double corners[FEM_CELL_CORNERS][3], int column, double area, const FemPlateMaterial *material,
	double out[24][24]) {
	double along[3];
	for (int i = 0; i < 3; i++)
		along[i] = corners[2 * column + 1][i] - corners[2 * column][i];
	double square = dot(along, along), lengthwise = dot(material->fibre, along) * dot(material->fibre, along) / square;
	double modulus = material->young_modulus + material->fibre_modulus * lengthwise * lengthwise;
	double stiffness = material->spring_share * modulus * area / sqrt(square);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double value = stiffness * along[i] * along[j] / square;
			out[6 * column + i][6 * column + j] += value;
			out[6 * column + 3 + i][6 * column + 3 + j] += value;
			out[6 * column + i][6 * column + 3 + j] -= value;
			out[6 * column + 3 + i][6 * column + j] -= value;
		}
	}
}

// An orthonormal basis of the rigid motions of the corners.
static void rigid_basis(double corners[FEM_CELL_CORNERS][3], int count, double basis[6][24]) {
	double center[3] = {0.0, 0.0, 0.0};
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++)
			center[i] += corners[k][i] / count;
	}
	memset(basis, 0, sizeof(double) * 6 * 24);
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++) {
			basis[i][3 * k + i] = 1.0;
			basis[3 + i][3 * k + (i + 1) % 3] = -(corners[k][(i + 2) % 3] - center[(i + 2) % 3]);
			basis[3 + i][3 * k + (i + 2) % 3] = corners[k][(i + 1) % 3] - center[(i + 1) % 3];
		}
	}
	for (int a = 0; a < 6; a++) {
		for (int b = 0; b <= a; b++) {
			double along = 0.0;
			for (int i = 0; i < 3 * count; i++)
				along += basis[a][i] * basis[b][i];
			for (int i = 0; i < 3 * count; i++)
				basis[a][i] = b == a ? basis[a][i] / sqrt(along) : basis[a][i] - along * basis[b][i];
		}
	}
}

// K <- P K P, P = 1 - sum r r^T: columns that are not square to the cell, in a curved wall, would resist rotations.
static void take_rigid_motions_out(double corners[FEM_CELL_CORNERS][3], int count, double k[24][24]) {
	double basis[6][24];
	int size = 3 * count;
	rigid_basis(corners, count, basis);
	for (int side = 0; side < 2; side++) {
		for (int r = 0; r < 6; r++) {
			for (int i = 0; i < size; i++) {
				double along = 0.0;
				for (int j = 0; j < size; j++)
					along += (side ? k[j][i] : k[i][j]) * basis[r][j];
				for (int j = 0; j < size; j++)
					*(side ? &k[j][i] : &k[i][j]) -= along * basis[r][j];
			}
		}
	}
}

bool fem_plate_stiffness(
	double corners[FEM_CELL_CORNERS][3], int columns, const FemPlateMaterial *material, double out[24][24]) {
	int triangles = columns == 3 ? 1 : FEM_CELL_TRIANGLES;
	double weight = columns == 3 ? 1.0 : 0.5;
	memset(out, 0, sizeof(double) * 24 * 24);
	for (int t = 0; t < triangles; t++) {
		const int *which = columns == 3 ? fem_prism_triangles[t] : fem_hexahedron_triangles[t];
		FemPlateTriangle triangle;
		if (!fem_plate_triangle(corners, which, &triangle))
			return false;
		for (int k = 0; k < 3; k++) {
			if (!(height_of(corners, which[k], triangle.axes[2]) > 0.1 * triangle.thickness))
				return false;
			add_spring(corners, which[k], weight * triangle.area / 3.0, material, out);
		}
		add_bending(corners, which, &triangle, material, 6 * columns, weight, out);
		if (columns == 3)
			add_membrane(corners, which, &triangle, material, out);
	}
	if (columns == 4 && !add_quad_membrane(corners, material, out))
		return false;
	take_rigid_motions_out(corners, 2 * columns, out);
	return true;
}

// ---- yield

void fem_plate_yield_form(const FemPlateMaterial *material, double *out_p, double *out_q) {
	double across = material->poisson_ratio / (1.0 - material->poisson_ratio); // e_zz = -across (e_xx + e_yy)
	double volume = material->is_deviatoric ? (1.0 - across) * (1.0 - across) / 3.0 : 0.0;
	*out_p = 1.0 + across * across - volume;
	*out_q = 2.0 * (across * across - volume);
}

static double yield_form(double p, double q, const double s[3]) {
	return p * (s[0] * s[0] + s[1] * s[1]) + q * s[0] * s[1] + 0.5 * s[2] * s[2];
}

double fem_plate_strain_square(double corners[FEM_CELL_CORNERS][3], int columns, const FemPlateMaterial *material,
	double u[FEM_CELL_CORNERS][3], double softness, double *out_stretch) {
	int triangles = columns == 3 ? 1 : FEM_CELL_TRIANGLES;
	double p, q, squares[FEM_CELL_COLUMNS] = {0.0}, largest = 0.0, share = columns == 3 ? 1.0 : 1.0 / 3.0;
	fem_plate_yield_form(material, &p, &q);
	*out_stretch = 0.0;
	for (int index = 0; index < triangles; index++) {
		const int *which = columns == 3 ? fem_prism_triangles[index] : fem_hexahedron_triangles[index];
		FemPlateTriangle t;
		double stretch[3], bending[3][3], xi[9], plane[3][2];
		if (!fem_plate_triangle(corners, which, &t))
			return 0.0;
		column_motions(&t, which, u, xi, plane);
		triangle_strains(&t, columns == 3, xi, plane, stretch, bending);
		*out_stretch += (stretch[0] + stretch[1]) / triangles;
		for (int k = 0; k < 3; k++)
			squares[which[k]] += share * (yield_form(p, q, stretch) + softness * yield_form(p, q, bending[k]));
	}
	for (int k = 0; k < columns; k++)
		largest = fmax(largest, squares[k]);
	return largest;
}
