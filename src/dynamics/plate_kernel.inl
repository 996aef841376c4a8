// The kernel of plate cells, written once for any number of lanes; included after element_kernel.inl, whose polar
// decomposition it uses. f = -R K (R^T x - X + (alpha_K + dt) R^T v), R the rotation of the cell's mean deformation.
#include "dynamics/plate_elements.h"

// A value of a batch.
static inline Real cell_value(const float *values, int at) {
	return lanes_load(values + at * FEM_LANES);
}

// out = r^T v, or r v
static inline void rotate_back(Real r[3][3], const Real v[3], Real out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = r[0][i] * v[0] + r[1][i] * v[1] + r[2][i] * v[2];
}

static inline void rotate_forth(Real r[3][3], const Real v[3], Real out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = dot3(r[i], v);
}

typedef struct CellLanes {
	const float *values;
	Real r[3][3];
	Real moved[FEM_CELL_CORNERS][3]; // R^T (x_k - x_0) - X_k
	Real rate[FEM_CELL_CORNERS][3];  // R^T (v_k - v_0)
} CellLanes;

static inline void gather_corners(
	const FemVec4 *field, const int32_t *nodes, int corners, Real out[FEM_CELL_CORNERS][3]) {
	lanes_gather(field, nodes, out[0]);
	for (int k = 1; k < corners; k++) {
		lanes_gather(field, nodes + k * FEM_LANES, out[k]);
		for (int i = 0; i < 3; i++)
			out[k][i] = out[k][i] - out[0][i];
	}
	for (int i = 0; i < 3; i++)
		out[0][i] = lanes_splat(0.0f);
}

// x += the share of the displacements that is to be made; of differences, which are rounded less than positions.
static inline void move_corners(
	const FemCellArguments *arguments, const int32_t *nodes, int corners, Real x[FEM_CELL_CORNERS][3]) {
	Real first[3], u[4], share = lanes_splat(arguments->share), rest = lanes_splat(1.0f - arguments->share);
	for (int k = 0; k < corners; k++) {
		lanes_gather4(arguments->moved, nodes + k * FEM_LANES, u);
		Real factor = share + rest * u[3];
		for (int i = 0; i < 3; i++) {
			if (k == 0)
				first[i] = factor * u[i];
			else
				x[k][i] = x[k][i] + (factor * u[i] - first[i]);
		}
	}
}

// Corners of cells that were cut are metres apart: their rotations would take the slow way of what is crushed.
static inline Mask whole_lanes(const FemCellArguments *arguments, int32_t first) {
	_Alignas(32) int32_t whole[LANES];
	Mask mask;
	if (!arguments->is_whole)
		return lanes_all();
	for (int32_t lane = 0; lane < LANES; lane++) {
		int32_t cell = first + lane;
		whole[lane] = cell >= arguments->begin && cell < arguments->end && arguments->is_whole[cell] ? -1 : 0;
	}
	memcpy(&mask, whole, sizeof mask);
	return mask;
}

// Rotation and displacements in the cell's frame, from differences of places to the first corner's.
static inline void find_frame(const FemCellArguments *arguments, int columns, const int32_t *leaders,
	Real x[FEM_CELL_CORNERS][3], CellLanes *cells) {
	int corners = 2 * columns;
	Real f[3][3], q[4];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			f[i][j] = lanes_splat(0.0f);
			for (int k = 1; k < corners; k++)
				f[i][j] = f[i][j] + x[k][i] * cell_value(cells->values, FEM_CELL_GRADIENT(columns) + 3 * k + j);
		}
	}
	lanes_gather4(arguments->rotation, leaders, q);
	update_rotation(q, f, whole_lanes(arguments, (int32_t)(leaders - arguments->leaders)));
	rotation_matrix(q, cells->r);
	for (int k = 0; k < corners; k++) {
		rotate_back(cells->r, x[k], cells->moved[k]);
		for (int i = 0; i < 3; i++)
			cells->moved[k][i] = cells->moved[k][i] - cell_value(cells->values, FEM_CELL_REST + 3 * k + i);
	}
}

// With the rates of the displacements.
static inline void load_cells(const FemCellArguments *arguments, int columns, const int32_t *nodes, const int32_t *leaders,
	CellLanes *cells) {
	Real x[FEM_CELL_CORNERS][3], v[FEM_CELL_CORNERS][3];
	gather_corners(arguments->position, nodes, 2 * columns, x);
	gather_corners(arguments->velocity, nodes, 2 * columns, v);
	find_frame(arguments, columns, leaders, x, cells);
	for (int k = 0; k < 2 * columns; k++)
		rotate_back(cells->r, v[k], cells->rate[k]);
}

// f_i = -sum_j K_ij (u_j - u_i), in the cell's frame.
static inline void find_forces(
	const CellLanes *cells, int columns, Real u[FEM_CELL_CORNERS][3], Real f[FEM_CELL_CORNERS][3]) {
	int corners = 2 * columns, at = FEM_CELL_STIFFNESS(columns);
	Real zero = lanes_splat(0.0f);
	for (int k = 0; k < corners; k++)
		f[k][0] = f[k][1] = f[k][2] = zero;
	for (int i = 0; i < corners; i++) {
		for (int j = i + 1; j < corners; j++, at += 9) {
			Real d[3] = {u[j][0] - u[i][0], u[j][1] - u[i][1], u[j][2] - u[i][2]};
			for (int a = 0; a < 3; a++) {
				Real row[3] = {cell_value(cells->values, at + 3 * a), cell_value(cells->values, at + 3 * a + 1),
					cell_value(cells->values, at + 3 * a + 2)};
				f[i][a] = f[i][a] - dot3(row, d);
				for (int b = 0; b < 3; b++)
					f[j][b] = f[j][b] + row[b] * d[a];
			}
		}
	}
}

// In world axes; that of the first corner balances the others.
static inline void store_cell_forces(
	const CellLanes *cells, int columns, Real u[FEM_CELL_CORNERS][3], Real r[3][3], float *out) {
	int corners = 2 * columns, stride = 4 * corners;
	Real f[FEM_CELL_CORNERS][3], zero = lanes_splat(0.0f);
	find_forces(cells, columns, u, f);
	Real sum[3] = {zero, zero, zero};
	for (int k = 1; k < corners; k++) {
		Real w[3];
		rotate_forth(r, f[k], w);
		for (int i = 0; i < 3; i++)
			sum[i] = sum[i] - w[i];
		lanes_store_vectors(out + 4 * k, stride, w[0], w[1], w[2], zero);
	}
	lanes_store_vectors(out, stride, sum[0], sum[1], sum[2], zero);
}

// -u.f / 2
static inline Real find_energy(const FemCellArguments *arguments, int columns, const int32_t *nodes, const int32_t *leaders,
	CellLanes *cells) {
	Real x[FEM_CELL_CORNERS][3], f[FEM_CELL_CORNERS][3], sum = lanes_splat(0.0f);
	gather_corners(arguments->position, nodes, 2 * columns, x);
	move_corners(arguments, nodes, 2 * columns, x);
	find_frame(arguments, columns, leaders, x, cells);
	find_forces(cells, columns, cells->moved, f);
	for (int k = 0; k < 2 * columns; k++)
		sum = sum - dot3(cells->moved[k], f[k]);
	return 0.5f * sum;
}

// factor R K_ij R^T, column by column.
static inline void store_cell_blocks(const CellLanes *cells, int columns, Real r[3][3], Real factor, float *out) {
	int at = FEM_CELL_STIFFNESS(columns), stride = FEM_CELL_BLOCK_FLOATS(columns);
	Real zero = lanes_splat(0.0f);
	for (int pair = 0; pair < FEM_CELL_PAIRS(columns); pair++, at += 9) {
		Real half[3][3]; // K R^T
		for (int a = 0; a < 3; a++) {
			Real row[3] = {factor * cell_value(cells->values, at + 3 * a),
				factor * cell_value(cells->values, at + 3 * a + 1), factor * cell_value(cells->values, at + 3 * a + 2)};
			rotate_forth(r, row, half[a]);
		}
		for (int c = 0; c < 3; c++) {
			Real column[3] = {half[0][c], half[1][c], half[2][c]}, w[3];
			rotate_forth(r, column, w);
			lanes_store_vectors(out + 12 * pair + 4 * c, stride, w[0], w[1], w[2], zero);
		}
	}
}

// ---- stress

// What a triangle of columns is made of, and how its normals are rotated.
typedef struct TriangleLanes {
	Real axes[3][3], at[3][2], thickness, fibres[3];
	Real stretch[3];     // e_xx, e_yy, 2 e_xy of the middle
	Real w[3], b[3][2];  // of the columns
	Real side[3][2];     // b at the middle of the side that begins at each
} TriangleLanes;

static inline void gradient2(Real r[2][2], Real d[2][2], Real out[3]) {
	Real scale = 1.0f / (r[0][0] * r[1][1] - r[0][1] * r[1][0]);
	Real xx = scale * (d[0][0] * r[1][1] - d[1][0] * r[0][1]), xy = scale * (d[1][0] * r[0][0] - d[0][0] * r[1][0]);
	Real yx = scale * (d[0][1] * r[1][1] - d[1][1] * r[0][1]), yy = scale * (d[1][1] * r[0][0] - d[0][1] * r[1][0]);
	out[0] = xx, out[1] = yy, out[2] = xy + yx;
}

// Of the side that begins at column k.
static inline void add_arc(TriangleLanes *t, int k, Real arc) {
	const Real *i = t->at[k], *j = t->at[(k + 1) % 3], *l = t->at[(k + 2) % 3], *from = t->b[k], *to = t->b[(k + 1) % 3];
	Real px = l[0] - i[0], py = l[1] - i[1], qx = l[0] - j[0], qy = l[1] - j[1];
	Real rotation = arc * ((from[0] - to[0]) * (j[0] - i[0]) + (from[1] - to[1]) * (j[1] - i[1]));
	t->stretch[0] = t->stretch[0] + rotation * py * qy;
	t->stretch[1] = t->stretch[1] + rotation * px * qx;
	t->stretch[2] = t->stretch[2] - rotation * (px * qy + py * qx);
}

static inline void load_triangle(const CellLanes *cells, int columns, int index, const int which[3],
	Real u[FEM_CELL_CORNERS][3], TriangleLanes *t) {
	int from = FEM_CELL_TRIANGLE(columns) + FEM_CELL_TRIANGLE_VALUES * index;
	for (int i = 0; i < 9; i++)
		t->axes[i / 3][i % 3] = cell_value(cells->values, from + i);
	for (int axis = 0; axis < 2; axis++) {
		t->at[0][axis] = lanes_splat(0.0f);
		t->at[1][axis] = cell_value(cells->values, from + 9 + axis);
		t->at[2][axis] = cell_value(cells->values, from + 11 + axis);
	}
	t->thickness = cell_value(cells->values, from + 13);
	for (int i = 0; i < 3; i++)
		t->fibres[i] = cell_value(cells->values, from + 14 + i);
	Real middle[3][3], inverse = 1.0f / t->thickness, d[2][2], r[2][2];
	for (int k = 0; k < 3; k++) {
		Real rise[3];
		const Real *low = u[2 * which[k]], *high = u[2 * which[k] + 1];
		for (int i = 0; i < 3; i++) {
			middle[k][i] = 0.5f * (low[i] + high[i]);
			rise[i] = inverse * (high[i] - low[i]);
		}
		t->w[k] = dot3(t->axes[2], middle[k]);
		t->b[k][0] = dot3(t->axes[0], rise);
		t->b[k][1] = dot3(t->axes[1], rise);
	}
	for (int k = 0; k < 2; k++) {
		Real along[3] = {middle[k + 1][0] - middle[0][0], middle[k + 1][1] - middle[0][1], middle[k + 1][2] - middle[0][2]};
		d[k][0] = dot3(t->axes[0], along), d[k][1] = dot3(t->axes[1], along);
		r[k][0] = t->at[k + 1][0], r[k][1] = t->at[k + 1][1];
	}
	gradient2(r, d, t->stretch);
	for (int k = 0; k < 3 && columns == 3; k++) // arcs: dynamics/plate_stiffness.c, membrane_rows()
		add_arc(t, k, cell_value(cells->values, FEM_CELL_ARCS(columns) + k));
}

// Rotations at the middles of the sides: dynamics/plate_stiffness.c, side_rotation().
static inline void find_sides(TriangleLanes *t) {
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		Real x = t->at[j][0] - t->at[i][0], y = t->at[j][1] - t->at[i][1], inverse = 1.0f / (x * x + y * y);
		Real bx = t->b[i][0] + t->b[j][0], by = t->b[i][1] + t->b[j][1];
		Real along = inverse * (-1.5f * (t->w[j] - t->w[i]) - 0.25f * (x * bx + y * by));
		Real across = 0.5f * inverse * (x * by - y * bx);
		t->side[i][0] = along * x - across * y;
		t->side[i][1] = along * y + across * x;
	}
}

// Curvatures at a column: dynamics/plate_stiffness.c, curvature_at().
static inline void find_curvature(const TriangleLanes *t, int i, Real out[3]) {
	Real d[2][2], r[2][2];
	for (int k = 0; k < 2; k++) {
		int j = (i + 1 + k) % 3;
		const Real *side = t->side[k == 0 ? i : j]; // the side between them begins at one or the other
		for (int axis = 0; axis < 2; axis++) {
			d[k][axis] = 4.0f * side[axis] - 3.0f * t->b[i][axis] - t->b[j][axis];
			r[k][axis] = t->at[j][axis] - t->at[i][axis];
		}
	}
	gradient2(r, d, out);
}

// out += share of the plane stress of a strain, in world axes.
static inline void add_plane_stress(
	Real axes[2][3], Real modulus, Real nu, const Real q[3], const Real strain[3], float share, Real out[6]) {
	Real along = share * dot3(q, strain);
	Real xx = share * modulus * (strain[0] + nu * strain[1]) + along * q[0];
	Real yy = share * modulus * (strain[1] + nu * strain[0]) + along * q[1];
	Real xy = share * modulus * (0.5f * (1.0f - nu)) * strain[2] + along * q[2];
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		const Real *a = axes[0], *b = axes[1];
		out[i] = out[i] + xx * a[i] * a[i] + yy * b[i] * b[i] + 2.0f * xy * a[i] * b[i];
		out[i + 3] = out[i + 3] + xx * a[i] * a[j] + yy * b[i] * b[j] + xy * (a[i] * b[j] + a[j] * b[i]);
	}
}

// Bending of a hexahedron in its plane: the middles of its columns move by h xi eta. The stretch along xi is eta h.e/a
// in cells of half length a, and nothing resists it from the side, nor shear: the incompatible modes of
// dynamics/plate_stiffness.c, add_quad_membrane().
static inline void add_bending_in_plane(
	const CellLanes *cells, Real u[FEM_CELL_CORNERS][3], Real r[3][3], Real modulus, const TriangleLanes *t,
	Real out[FEM_CELL_CORNERS][6]) {
	static const float sign[4][2] = {{-1.0f, -1.0f}, {1.0f, -1.0f}, {1.0f, 1.0f}, {-1.0f, 1.0f}}; // xi, eta of columns
	Real h[3], length[2][3];
	for (int i = 0; i < 3; i++) {
		h[i] = length[0][i] = length[1][i] = lanes_splat(0.0f);
		for (int k = 0; k < 4; k++) {
			Real x = cell_value(cells->values, FEM_CELL_REST + 6 * k + i) +
				cell_value(cells->values, FEM_CELL_REST + 6 * k + 3 + i);
			h[i] = h[i] + 0.125f * sign[k][0] * sign[k][1] * (u[2 * k][i] + u[2 * k + 1][i]);
			length[0][i] = length[0][i] + 0.25f * sign[k][0] * x;
			length[1][i] = length[1][i] + 0.25f * sign[k][1] * x;
		}
	}
	for (int axis = 0; axis < 2; axis++) {
		Real inverse = 1.0f / dot3(length[axis], length[axis]), along[3];
		Real x = dot3(t->axes[0], length[axis]), y = dot3(t->axes[1], length[axis]);
		Real fibres = inverse * (t->fibres[0] * x * x + t->fibres[1] * y * y + 2.0f * t->fibres[2] * x * y);
		Real stress = 2.0f * inverse * inverse * dot3(h, length[axis]) * (modulus + fibres * fibres);
		rotate_forth(r, length[axis], along);
		for (int i = 0; i < 3; i++) {
			int j = (i + 1) % 3;
			Real normal = stress * along[i] * along[i], shear = stress * along[i] * along[j];
			for (int k = 0; k < FEM_CELL_CORNERS; k++) {
				out[k][i] = out[k][i] + sign[k / 2][1 - axis] * normal;
				out[k][i + 3] = out[k][i + 3] + sign[k / 2][1 - axis] * shear;
			}
		}
	}
}

// At each corner the stress of the surface it lies in: stretching of the middle plane and, half a thickness away,
// bending. The four triangles of a hexahedron stretch it together; a column is in three of them, which bend it.
static inline void store_cell_stress(
	const CellLanes *cells, int columns, Real u[FEM_CELL_CORNERS][3], Real r[3][3], float *out) {
	int corners = 2 * columns, stride = corners * (int)(sizeof(FemTetStress) / sizeof(float));
	Real stress[FEM_CELL_CORNERS][6], middle[6], bending[FEM_CELL_COLUMNS][6], zero = lanes_splat(0.0f);
	Real modulus = cell_value(cells->values, FEM_CELL_MODULUS(columns)),
		 nu = cell_value(cells->values, FEM_CELL_POISSON(columns));
	float stretch_share = columns == 3 ? 1.0f : 0.25f, bending_share = columns == 3 ? 1.0f : 1.0f / 3.0f;
	TriangleLanes t;
	for (int i = 0; i < 6; i++) {
		middle[i] = zero;
		for (int k = 0; k < columns; k++)
			bending[k][i] = zero;
	}
	for (int index = 0; index < FEM_CELL_TRIANGLE_COUNT(columns); index++) {
		const int *which = columns == 3 ? fem_prism_triangles[index] : fem_hexahedron_triangles[index];
		Real axes[2][3];
		load_triangle(cells, columns, index, which, u, &t);
		find_sides(&t);
		rotate_forth(r, t.axes[0], axes[0]);
		rotate_forth(r, t.axes[1], axes[1]);
		add_plane_stress(axes, modulus, nu, t.fibres, t.stretch, stretch_share, middle);
		for (int k = 0; k < 3; k++) {
			Real strain[3], half = 0.5f * t.thickness;
			find_curvature(&t, k, strain);
			for (int i = 0; i < 3; i++)
				strain[i] = half * strain[i];
			add_plane_stress(axes, modulus, nu, t.fibres, strain, bending_share, bending[which[k]]);
		}
	}
	for (int k = 0; k < columns; k++) {
		for (int i = 0; i < 6; i++) {
			stress[2 * k][i] = middle[i] - bending[k][i];
			stress[2 * k + 1][i] = middle[i] + bending[k][i];
		}
	}
	if (columns == 4)
		add_bending_in_plane(cells, u, r, modulus * (1.0f - nu * nu), &t, stress);
	for (int k = 0; k < corners; k++) {
		const Real *s = stress[k];
		lanes_store_vectors(out + 8 * k, stride, s[0], s[1], s[2], zero);
		lanes_store_vectors(out + 8 * k + 4, stride, s[3], s[4], s[5], zero);
	}
}

// ---- yield

// p (xx^2 + yy^2) + q xx yy + xy^2 / 2
static inline Real yield_form(Real p, Real q, const Real s[3]) {
	return p * (s[0] * s[0] + s[1] * s[1]) + q * (s[0] * s[1]) + 0.5f * (s[2] * s[2]);
}

// dynamics/plate_stiffness.h, fem_plate_strain_square(). The triangles of a column have a share each.
static inline Real largest_strain(const CellLanes *cells, int columns, Real u[FEM_CELL_CORNERS][3]) {
	Real squares[FEM_CELL_COLUMNS], most = lanes_splat(0.0f), share = lanes_splat(columns == 3 ? 1.0f : 1.0f / 3.0f);
	Real p = cell_value(cells->values, FEM_CELL_YIELD(columns)), q = cell_value(cells->values, FEM_CELL_YIELD(columns) + 1);
	for (int k = 0; k < columns; k++)
		squares[k] = lanes_splat(0.0f);
	for (int index = 0; index < FEM_CELL_TRIANGLE_COUNT(columns); index++) {
		const int *which = columns == 3 ? fem_prism_triangles[index] : fem_hexahedron_triangles[index];
		TriangleLanes t;
		load_triangle(cells, columns, index, which, u, &t);
		find_sides(&t);
		Real stretch = yield_form(p, q, t.stretch), third = (1.0f / 3.0f) * t.thickness;
		for (int k = 0; k < 3; k++) {
			Real bending[3];
			find_curvature(&t, k, bending);
			for (int i = 0; i < 3; i++)
				bending[i] = third * bending[i];
			squares[which[k]] = squares[which[k]] + share * (stretch + yield_form(p, q, bending));
		}
	}
	for (int k = 0; k < columns; k++)
		most = lanes_select(lanes_less(most, squares[k]), squares[k], most);
	return most;
}

// ---- cells

// Where LANES cells go: to their places, or, where not all of them belong to the range, to the side first, since a
// neighbour's belong to another thread.
typedef struct CellOutput {
	FemVec4 forces[LANES * FEM_CELL_CORNERS];
	float blocks[LANES * FEM_CELL_BLOCK_FLOATS(FEM_CELL_COLUMNS)];
	FemTetStress stress[LANES * FEM_CELL_CORNERS];
	_Alignas(32) float yield[LANES], energy[LANES]; // as wide vectors are stored
} CellOutput;

static inline void update_cell_lanes(const FemCellArguments *arguments, int columns, int32_t first, FemVec4 *forces,
	float *blocks, FemTetStress *stress, float *yield, float *energy) {
	int corners = 2 * columns;
	int32_t batch = first / FEM_LANES, lane = first % FEM_LANES;
	CellLanes cells = {.values = arguments->values + (size_t)batch * FEM_CELL_VALUES(columns) * FEM_LANES + lane};
	const int32_t *nodes = arguments->nodes + (size_t)batch * (size_t)corners * FEM_LANES + lane;
	if (energy) {
		lanes_store(energy, find_energy(arguments, columns, nodes, arguments->leaders + first, &cells));
		return;
	}
	if (!lanes_any(whole_lanes(arguments, first)))
		return;
	load_cells(arguments, columns, nodes, arguments->leaders + first, &cells);
	if (yield) {
		lanes_store(yield, largest_strain(&cells, columns, cells.moved));
		return;
	}
	Real damping = cell_value(cells.values, FEM_CELL_DAMPING(columns)), ahead = damping + arguments->dt;
	Real u[FEM_CELL_CORNERS][3], viscous = damping * arguments->viscous_stress;
	if (stress) {
		for (int k = 0; k < corners * 3; k++)
			u[k / 3][k % 3] = cells.moved[k / 3][k % 3] + viscous * cells.rate[k / 3][k % 3];
		store_cell_stress(&cells, columns, u, cells.r, &stress->normal.x);
	}
	if (!forces)
		return;
	for (int k = 0; k < corners * 3; k++)
		u[k / 3][k % 3] = cells.moved[k / 3][k % 3] + ahead * cells.rate[k / 3][k % 3];
	store_cell_forces(&cells, columns, u, cells.r, &forces->x);
	if (blocks)
		store_cell_blocks(&cells, columns, cells.r, arguments->dt * ahead, blocks);
}

static inline void update_cells(const FemCellArguments *arguments, int columns) {
	int32_t corners = 2 * columns, floats = FEM_CELL_BLOCK_FLOATS(columns);
	int32_t base = arguments->begin / FEM_LANES * FEM_LANES;
	for (int32_t first = arguments->begin / LANES * LANES; first < arguments->end; first += LANES) {
		if (first >= arguments->begin && first + LANES <= arguments->end) {
			update_cell_lanes(arguments, columns, first,
				arguments->out_forces ? arguments->out_forces + (size_t)first * (size_t)corners : NULL,
				arguments->out_blocks ? arguments->out_blocks + (size_t)first * (size_t)floats : NULL,
				arguments->out_stress ? arguments->out_stress + (size_t)first * (size_t)corners : NULL,
				arguments->out_yield ? arguments->out_yield + first - base : NULL,
				arguments->out_energy ? arguments->out_energy + first - base : NULL);
			continue;
		}
		CellOutput aside;
		update_cell_lanes(arguments, columns, first, arguments->out_forces ? aside.forces : NULL, arguments->out_blocks ? aside.blocks : NULL,
			arguments->out_stress ? aside.stress : NULL, arguments->out_yield ? aside.yield : NULL,
			arguments->out_energy ? aside.energy : NULL);
		for (int32_t lane = 0; lane < LANES; lane++) {
			int32_t cell = first + lane;
			if (cell < arguments->begin || cell >= arguments->end)
				continue;
			if (arguments->out_yield) {
				arguments->out_yield[cell - base] = aside.yield[lane];
				continue;
			}
			if (arguments->out_energy) {
				arguments->out_energy[cell - base] = aside.energy[lane];
				continue;
			}
			if (arguments->out_forces)
				memcpy(arguments->out_forces + (size_t)cell * (size_t)corners, aside.forces + lane * corners,
				sizeof(FemVec4) * (size_t)corners);
			if (arguments->out_blocks)
				memcpy(arguments->out_blocks + (size_t)cell * (size_t)floats, aside.blocks + lane * floats,
					sizeof(float) * (size_t)floats);
			if (arguments->out_stress)
				memcpy(arguments->out_stress + (size_t)cell * (size_t)corners, aside.stress + lane * corners,
					sizeof(FemTetStress) * (size_t)corners);
		}
	}
}

void CELL_KERNEL_NAME(const FemCellArguments *arguments) {
	if (arguments->set == 0)
		update_cells(arguments, 3);
	else
		update_cells(arguments, 4);
}
