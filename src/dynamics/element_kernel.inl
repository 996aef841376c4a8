// The element kernel, written once for any number of lanes. Symmetric matrices are xx yy zz xy yz zx.
//
// The rest shape of an element that has flowed is changed, not its stress: F = F^E (I + e^P), so `gradient` holds
// g' = (I + e^P)^-1 g and F^E = Dx beta' is all the elastic part sees. P&O09 subtract e^P from the strain instead; the
// two agree to first order, but the subtracted form leaves a net torque on a dented element (docs/method.md,
// "Plasticity") and makes the implicit matrix resist its rigid rotation. This form has neither fault and costs nothing.
#include "dynamics/elements.h"

#define ROTATION_STEPS 8 // most Newton steps of the polar decomposition: three do at 0.8 rad a step (docs/method.md)
#define ROTATION_LOST 1e-6f      // determinant of (tr C I - sym C), 8 at rest: less, and there is no step to take
#define ROTATION_CONVERGED 1e-4f // square of half the angle, rad: a step of 0.02 rad leaves an error of 2e-6 rad

static inline Real dot3(const Real a[3], const Real b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void rotation_matrix(const Real q[4], Real r[3][3]) {
	Real x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
	Real xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2;
	Real xy = q[0] * y2, xz = q[0] * z2, yz = q[1] * z2;
	Real wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;
	r[0][0] = 1.0f - (yy + zz), r[0][1] = xy - wz, r[0][2] = xz + wy;
	r[1][0] = xy + wz, r[1][1] = 1.0f - (xx + zz), r[1][2] = yz - wx;
	r[2][0] = xz - wy, r[2][1] = yz + wx, r[2][2] = 1.0f - (xx + yy);
}

// out = a^T b
static inline void transpose_multiply(Real a[3][3], Real b[3][3], Real out[3][3]) {
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out[i][j] = a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
	}
}

static inline Real determinant(Real m[3][3]) {
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// d = sum over nodes 1..3 of (value_k - value_0) g_k^T: the gradient of a nodal field.
static inline void field_gradient(const FemVec4 *field, const int32_t *nodes, Real g[3][3], Real out[3][3]) {
	Real base[3], delta[3][3];
	lanes_gather(field, nodes, base);
	for (int k = 0; k < 3; k++) {
		lanes_gather(field, nodes + (k + 1) * FEM_LANES, delta[k]);
		for (int i = 0; i < 3; i++)
			delta[k][i] = delta[k][i] - base[i];
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out[i][j] = delta[0][i] * g[0][j] + delta[1][i] * g[1][j] + delta[2][i] * g[2][j];
	}
}

// One Newton step of the warm-started polar decomposition: with C = R^T F the rotation that makes C symmetric is about
// (tr C I - sym C)^-1 axial(C - C^T) / 2 as a Cayley vector. Its error goes with the third power of its angle
// (docs/method.md, "Polar decomposition"). Returns its squared length.
static inline Real polar_step(Real q[4], Real f[3][3], Mask active, Mask *out_lost) {
	Real r[3][3], c[3][3];
	rotation_matrix(q, r);
	transpose_multiply(r, f, c);
	Real a0 = c[2][1] - c[1][2], a1 = c[0][2] - c[2][0], a2 = c[1][0] - c[0][1];
	Real h00 = c[1][1] + c[2][2], h11 = c[0][0] + c[2][2], h22 = c[0][0] + c[1][1];
	Real h01 = -0.5f * (c[0][1] + c[1][0]), h02 = -0.5f * (c[0][2] + c[2][0]), h12 = -0.5f * (c[1][2] + c[2][1]);
	Real m00 = h11 * h22 - h12 * h12, m01 = h02 * h12 - h01 * h22, m02 = h01 * h12 - h02 * h11;
	Real m11 = h00 * h22 - h02 * h02, m12 = h01 * h02 - h00 * h12, m22 = h00 * h11 - h01 * h01;
	Real det = h00 * m00 + h01 * m01 + h02 * m02;
	// H is positive definite unless the rotation is more than a right angle off: then the caller starts afresh.
	Mask lost = ~(lanes_less(lanes_splat(ROTATION_LOST), det) & lanes_less(lanes_splat(0.0f), h00) &
		lanes_less(lanes_splat(0.0f), m22));
	Real scale = 0.5f / lanes_select(lost, lanes_splat(1.0f), det);
	Real o0 = scale * (m00 * a0 + m01 * a1 + m02 * a2);
	Real o1 = scale * (m01 * a0 + m11 * a1 + m12 * a2);
	Real o2 = scale * (m02 * a0 + m12 * a1 + m22 * a2);
	Real square = o0 * o0 + o1 * o1 + o2 * o2;
	Mask converging = active & ~lost;
	Real n0 = q[3] * o0 + q[0] + q[1] * o2 - q[2] * o1;
	Real n1 = q[3] * o1 + q[1] + q[2] * o0 - q[0] * o2;
	Real n2 = q[3] * o2 + q[2] + q[0] * o1 - q[1] * o0;
	Real n3 = q[3] - q[0] * o0 - q[1] * o1 - q[2] * o2;
	Real inverse = 1.0f / lanes_sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3);
	q[0] = lanes_select(converging, n0 * inverse, q[0]);
	q[1] = lanes_select(converging, n1 * inverse, q[1]);
	q[2] = lanes_select(converging, n2 * inverse, q[2]);
	q[3] = lanes_select(converging, n3 * inverse, q[3]);
	*out_lost = active & lost;
	return square;
}

typedef void FindRotation(const float f[9], float quaternion[4]);

// Rotation of the rare tets that are crushed, inverted, or rotated by more than a right angle since the last step.
static void rotation_by_lanes(FindRotation *find, Real q[4], Real f[3][3], Mask which) {
	float fs[9][LANES], qs[4][LANES];
	int32_t chosen[LANES];
	for (int i = 0; i < 9; i++)
		memcpy(fs[i], &f[i / 3][i % 3], sizeof fs[i]);
	for (int i = 0; i < 4; i++)
		memcpy(qs[i], &q[i], sizeof qs[i]);
	memcpy(chosen, &which, sizeof chosen);
	for (int lane = 0; lane < LANES; lane++) {
		if (!chosen[lane])
			continue;
		float one_f[9], one_q[4];
		for (int i = 0; i < 9; i++)
			one_f[i] = fs[i][lane];
		for (int i = 0; i < 4; i++)
			one_q[i] = qs[i][lane];
		find(one_f, one_q);
		for (int i = 0; i < 4; i++)
			qs[i][lane] = one_q[i];
	}
	for (int i = 0; i < 4; i++)
		memcpy(&q[i], qs[i], sizeof qs[i]);
}

// Polar rotation by Newton from the last step's, from QR under 6 % volume (P&O09 section 3). Every lane stops by its own
// measure, so that the result does not depend on its neighbours in the batch.
static void update_rotation(Real q[4], Real f[3][3], Mask which) {
	Mask sound = lanes_less(lanes_splat(FEM_QR_VOLUME_RATIO), determinant(f)); // not so when not a number
	Mask crushed = which & ~sound, active = which & sound;
	if (lanes_any(crushed))
		rotation_by_lanes(fem_rotation_of_crushed, q, f, crushed);
	for (int step = 0; step < ROTATION_STEPS && lanes_any(active); step++) {
		Mask lost;
		Real square = polar_step(q, f, active, &lost);
		if (lanes_any(lost))
			rotation_by_lanes(fem_rotation_by_qr, q, f, lost);
		active = active & (lost | lanes_less(lanes_splat(ROTATION_CONVERGED), square));
	}
}

static inline void symmetric_part(Real c[3][3], Real out[6]) {
	out[0] = c[0][0], out[1] = c[1][1], out[2] = c[2][2];
	out[3] = 0.5f * (c[0][1] + c[1][0]), out[4] = 0.5f * (c[1][2] + c[2][1]), out[5] = 0.5f * (c[2][0] + c[0][2]);
}

static inline Real symmetric_norm(const Real e[6]) {
	return lanes_sqrt(
		e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2.0f * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]));
}

// g' = (I + e^P)^-1 g for the three gradients of the lanes that flowed.
static void change_rest_shape(const FemBatchPlastic *plastic, int lane, const Real p[6], Mask flowed, Real g[3][3]) {
	Real a = 1.0f + p[0], b = 1.0f + p[1], c = 1.0f + p[2];
	Real m00 = b * c - p[4] * p[4], m11 = a * c - p[5] * p[5], m22 = a * b - p[3] * p[3];
	Real m01 = p[5] * p[4] - p[3] * c, m02 = p[3] * p[4] - p[5] * b, m12 = p[3] * p[5] - p[4] * a;
	Real inverse = 1.0f / (a * m00 + p[3] * m01 + p[5] * m02);
	for (int k = 0; k < 3; k++) {
		Real g0 = lanes_load(plastic->gradient[k][0] + lane) * inverse;
		Real g1 = lanes_load(plastic->gradient[k][1] + lane) * inverse;
		Real g2 = lanes_load(plastic->gradient[k][2] + lane) * inverse;
		g[k][0] = lanes_select(flowed, m00 * g0 + m01 * g1 + m02 * g2, g[k][0]);
		g[k][1] = lanes_select(flowed, m01 * g0 + m11 * g1 + m12 * g2, g[k][1]);
		g[k][2] = lanes_select(flowed, m02 * g0 + m12 * g1 + m22 * g2, g[k][2]);
	}
}

// Flow beyond yield (P&O09 eq. 3; deviatoric: O'Brien, Bargteil & Hodgins 2002, eqs. 2 to 5). Returns the lanes
// whose rest shape changed.
static Mask plastic_flow(
	FemBatchPlastic *plastic, int lane, const int32_t *taken, Real r[3][3], Real f[3][3], float dt, Real g[3][3]) {
	Real c[3][3], e[6], p[6], flow[6];
	transpose_multiply(r, f, c);
	symmetric_part(c, e);
	for (int i = 0; i < 3; i++)
		e[i] = e[i] - 1.0f;
	Real third = lanes_load(plastic->deviatoric + lane) * (e[0] + e[1] + e[2]) * (1.0f / 3.0f);
	for (int i = 0; i < 3; i++)
		e[i] = e[i] - third;
	Real norm = symmetric_norm(e), yield = lanes_load(plastic->yield + lane), limit = lanes_load(plastic->limit + lane);
	// Crushed elements do not flow: QR gives their strain no physical meaning.
	Mask yields = lanes_less(yield, norm) & lanes_less(lanes_splat(0.0f), limit) &
		lanes_less(lanes_splat(FEM_QR_VOLUME_RATIO), determinant(f));
	if (taken)
		yields = yields & ~lanes_load_mask(taken + lane);
	if (!lanes_any(yields))
		return yields;
	Real creep = lanes_load(plastic->creep + lane) * dt;
	creep = lanes_select(lanes_less(creep, lanes_splat(1.0f)), creep, lanes_splat(1.0f));
	Real share = creep * (norm - yield) / lanes_select(yields, norm, lanes_splat(1.0f));
	share = lanes_select(yields, share, lanes_splat(0.0f));
	for (int i = 0; i < 6; i++) {
		p[i] = lanes_load(plastic->strain[i] + lane);
		flow[i] = p[i] + share * e[i];
	}
	// Tets that were of a plate cell may have more, from shears of its bending: they keep it.
	Real size = symmetric_norm(flow), own = symmetric_norm(p);
	limit = lanes_select(lanes_less(limit, own), own, limit);
	Mask over = lanes_less(limit, size);
	Real shrink = lanes_select(over, limit / lanes_select(over, size, lanes_splat(1.0f)), lanes_splat(1.0f));
	for (int i = 0; i < 6; i++) {
		p[i] = lanes_select(yields, flow[i] * shrink, p[i]);
		lanes_store(plastic->strain[i] + lane, p[i]);
	}
	change_rest_shape(plastic, lane, p, yields, g);
	return yields;
}

// S(e) = lambda tr(e) I + 2 mu e
static inline void linear_stress(Real lambda, Real mu, const Real e[6], Real out[6]) {
	Real pressure = lambda * (e[0] + e[1] + e[2]), mu2 = mu + mu;
	for (int i = 0; i < 3; i++) {
		out[i] = pressure + mu2 * e[i];
		out[i + 3] = mu2 * e[i + 3];
	}
}

static inline void symmetric_times(const Real s[6], const Real v[3], Real out[3]) {
	out[0] = s[0] * v[0] + s[3] * v[1] + s[5] * v[2];
	out[1] = s[3] * v[0] + s[1] * v[1] + s[4] * v[2];
	out[2] = s[5] * v[0] + s[4] * v[1] + s[2] * v[2];
}

typedef struct PlateAxes {
	Real normal[3], tangent[2][3], softening;
} PlateAxes;

static inline PlateAxes load_plate(const FemBatchPlate *plate, int lane) {
	PlateAxes axes = {.softening = lanes_load(plate->softening + lane)};
	for (int i = 0; i < 3; i++) {
		axes.normal[i] = lanes_load(plate->normal[i] + lane);
		axes.tangent[0][i] = lanes_load(plate->tangent[i] + lane);
	}
	const Real *n = axes.normal, *t = axes.tangent[0];
	for (int i = 0; i < 3; i++)
		axes.tangent[1][i] = n[(i + 1) % 3] * t[(i + 2) % 3] - n[(i + 2) % 3] * t[(i + 1) % 3];
	return axes;
}

// Takes (1 - f) of both transverse shears out of the stress.
//
// Stress and strain are then no longer coaxial, which leaves a torque of second order in the strain on the element. The
// skew stress that would cancel it has a stiffness the matrix does not know, large against the softened shear:
// with it a limp pane blows up. What matters is kept elsewhere: free islands keep their angular momentum (motion.h).
static inline void soften_plate(const PlateAxes *plate, const Real strain[6], Real mu, Real stress[6]) {
	const Real *n = plate->normal;
	for (int k = 0; k < 2; k++) {
		const Real *t = plate->tangent[k];
		Real en[3];
		symmetric_times(strain, n, en);
		Real shear = plate->softening * (mu + mu) * dot3(en, t);
		for (int i = 0; i < 3; i++) {
			stress[i] = stress[i] - 2.0f * shear * n[i] * t[i];
			stress[i + 3] = stress[i + 3] - shear * (n[i] * t[(i + 1) % 3] + n[(i + 1) % 3] * t[i]);
		}
	}
}

// Strain; bending rotates neighbouring cells by twice as much against each other. Chosen: 28 degrees.
#define PLATE_SHEAR_MAX 0.25f
// Share of the transverse shear that stays for a strain of 1 in other directions. Chosen: with 4 slivers of a bowl that
// broke hold 9e-4 J, with 100 7 J, without 5e6.
#define PLATE_SHEAR_SHARE 4.0f

// The correction fades where a tet is sheared beyond what bending does. A piece of a few tets has nothing else that keeps
// its shape, and the torque above grows with the shear: broken panes would blow up.
static inline void limit_plate(PlateAxes *plate, const Real strain[6]) {
	Real en[3];
	symmetric_times(strain, plate->normal, en);
	Real first = dot3(en, plate->tangent[0]), second = dot3(en, plate->tangent[1]);
	Real square = first * first + second * second, most = lanes_splat(PLATE_SHEAR_MAX * PLATE_SHEAR_MAX);
	Mask over = lanes_less(most, square);
	plate->softening = plate->softening * lanes_select(over, most / lanes_select(over, square, most), lanes_splat(1.0f));
	// By the torque of stress that lies across the shear: what the matrix does not know must not be larger than the shear
	// that is left, or what spins is folded by it.
	Real others = dot3(strain, strain) + 2.0f * dot3(strain + 3, strain + 3) - 2.0f * square, zero = lanes_splat(0.0f);
	Real soft = lanes_splat(1.0f) - PLATE_SHEAR_SHARE * lanes_sqrt(lanes_select(lanes_less(zero, others), others, zero));
	soft = lanes_select(lanes_less(zero, soft), soft, zero);
	plate->softening = lanes_select(lanes_less(soft, plate->softening), soft, plate->softening);
}

// The world axes of a plate tet, for assembly.
static inline void store_plate(
	const FemElementArguments *arguments, int32_t tet, const PlateAxes *plate, Real r[3][3], Real stiffness_mu) {
	Real axis[3][3], zero = lanes_splat(0.0f);
	for (int i = 0; i < 3; i++) {
		axis[0][i] = dot3(r[i], plate->normal);
		axis[1][i] = dot3(r[i], plate->tangent[0]);
		axis[2][i] = dot3(r[i], plate->tangent[1]);
	}
	float *out = &arguments->out_plates[tet].normal.x;
	int stride = sizeof(FemTetPlate) / sizeof(float);
	lanes_store_vectors(out, stride, axis[0][0], axis[0][1], axis[0][2], plate->softening * stiffness_mu);
	lanes_store_vectors(out + 4, stride, axis[1][0], axis[1][1], axis[1][2], zero);
	lanes_store_vectors(out + 8, stride, axis[2][0], axis[2][1], axis[2][2], zero);
}

typedef struct FibreAxis {
	Real direction[3], modulus;
} FibreAxis;

static inline FibreAxis load_fibre(const FemBatchFibre *fibre, int lane) {
	FibreAxis axis = {.modulus = lanes_load(fibre->modulus + lane)};
	for (int i = 0; i < 3; i++)
		axis.direction[i] = lanes_load(fibre->direction[i] + lane);
	return axis;
}

// + k (a.e a) a a^T
static inline void add_fibre(const FibreAxis *fibre, const Real strain[6], Real stress[6]) {
	const Real *a = fibre->direction;
	Real ea[3];
	symmetric_times(strain, a, ea);
	Real along = fibre->modulus * dot3(ea, a);
	for (int i = 0; i < 3; i++) {
		stress[i] = stress[i] + along * (a[i] * a[i]);
		stress[i + 3] = stress[i + 3] + along * (a[i] * a[(i + 1) % 3]);
	}
}

// The world axis of fibres, for assembly.
static inline void store_fibre(
	const FemElementArguments *arguments, int32_t tet, const FibreAxis *fibre, Real r[3][3], Real factor) {
	const Real *a = fibre->direction;
	lanes_store_vectors(
		&arguments->out_fibres[tet].x, 4, dot3(r[0], a), dot3(r[1], a), dot3(r[2], a), factor * fibre->modulus);
}

// R S R^T, for fracture.
static inline void store_stress(const FemElementArguments *arguments, int32_t tet, Real r[3][3], const Real s[6]) {
	Real w[3][3], zero = lanes_splat(0.0f);
	for (int i = 0; i < 3; i++)
		symmetric_times(s, r[i], w[i]);
	float *out = &arguments->out_stress[tet].normal.x;
	int stride = sizeof(FemTetStress) / sizeof(float);
	lanes_store_vectors(out, stride, dot3(w[0], r[0]), dot3(w[1], r[1]), dot3(w[2], r[2]), zero);
	lanes_store_vectors(out + 4, stride, dot3(w[0], r[1]), dot3(w[1], r[2]), dot3(w[2], r[0]), zero);
}

// f_k = -V P g_k for nodes 1..3, P = R S; f_0 balances them: no net force whatever the rounding.
static inline void store_forces(const FemElementArguments *arguments, int32_t tet, Real r[3][3], const Real s[6],
	Real volume, Real g[3][3]) {
	Real sum[3] = {lanes_splat(0.0f), lanes_splat(0.0f), lanes_splat(0.0f)}, zero = lanes_splat(0.0f);
	float *out = &arguments->out_forces[tet].force[0].x;
	int stride = sizeof(FemTetForces) / sizeof(float);
	for (int k = 0; k < 3; k++) {
		Real traction[3], force[3];
		symmetric_times(s, g[k], traction);
		for (int i = 0; i < 3; i++) {
			force[i] = -volume * dot3(r[i], traction);
			sum[i] = sum[i] - force[i];
		}
		lanes_store_vectors(out + 4 * (k + 1), stride, force[0], force[1], force[2], zero);
	}
	lanes_store_vectors(out, stride, sum[0], sum[1], sum[2], zero);
}

static inline void store_blocks(
	const FemElementArguments *arguments, int32_t tet, Real r[3][3], Real g[3][3], Real lambda, Real mu) {
	Real sum[3] = {lanes_splat(0.0f), lanes_splat(0.0f), lanes_splat(0.0f)}, zero = lanes_splat(0.0f);
	float *out = &arguments->out_blocks[tet].gradient[0].x;
	int stride = sizeof(FemTetBlocks) / sizeof(float);
	for (int k = 0; k < 3; k++) {
		Real c[3];
		for (int i = 0; i < 3; i++) {
			c[i] = dot3(r[i], g[k]);
			sum[i] = sum[i] - c[i];
		}
		lanes_store_vectors(out + 4 * (k + 1), stride, c[0], c[1], c[2], k == 0 ? mu : zero);
	}
	lanes_store_vectors(out, stride, sum[0], sum[1], sum[2], lambda);
}

// After plastic flow: the changed gradients, and F and rotation against them.
static void take_new_rest_shape(const FemElementArguments *arguments, int32_t batch, int lane, Mask flowed, Real g[3][3],
	Real f[3][3], Real q[4], Real r[3][3]) {
	FemBatch *data = &arguments->batches[batch];
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++)
			lanes_store(data->gradient[k][i] + lane, g[k][i]);
	}
	field_gradient(arguments->position, arguments->nodes + (int64_t)batch * 4 * FEM_LANES + lane, g, f);
	update_rotation(q, f, flowed);
	rotation_matrix(q, r);
}

static inline void update_lanes(const FemElementArguments *arguments, int32_t batch, int lane) {
	FemBatch *data = &arguments->batches[batch];
	const int32_t *nodes = arguments->nodes + (int64_t)batch * 4 * FEM_LANES + lane;
	int32_t tet = batch * FEM_LANES + lane;
	float dt = arguments->dt;
	Real g[3][3], f[3][3], rate[3][3], q[4], r[3][3], a[3][3], b[3][3], e[6], e_rate[6], stress[6];
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++)
			g[k][i] = lanes_load(data->gradient[k][i] + lane);
	}
	field_gradient(arguments->position, nodes, g, f);
	lanes_load_vectors(&arguments->rotation[tet], q);
	update_rotation(q, f, lanes_all());
	rotation_matrix(q, r);
	if (arguments->plastics && !arguments->is_bare) {
		Mask flowed = plastic_flow(&arguments->plastics[batch], lane, arguments->taken, r, f, dt, g);
		if (lanes_any(flowed))
			take_new_rest_shape(arguments, batch, lane, flowed, g, f, q, r);
	}
	lanes_store_vectors(&arguments->rotation[tet].x, 4, q[0], q[1], q[2], q[3]);
	if (arguments->is_bare) {
		store_blocks(arguments, tet, r, g, lanes_splat(0.0f), lanes_splat(0.0f));
		return;
	}
	field_gradient(arguments->velocity, nodes, g, rate);

	// Strain and its rate; (dt + alpha_K) times the rate carries both the implicit term and the damping into the
	// right-hand side: f_int - (alpha_K + dt) K v.
	transpose_multiply(r, f, a);
	transpose_multiply(r, rate, b);
	symmetric_part(a, e);
	symmetric_part(b, e_rate);
	Real lambda = lanes_load(data->lambda + lane), mu = lanes_load(data->mu + lane);
	Real volume = lanes_load(data->volume + lane), damping = lanes_load(data->damping + lane);
	Real ahead = damping + dt, factor = volume * (dt * ahead);
	PlateAxes plate = {0};
	FibreAxis fibre = {0};
	if (arguments->plates)
		plate = load_plate(&arguments->plates[batch], lane);
	if (arguments->plates && arguments->plain)
		plate.softening = lanes_select(lanes_load_mask(arguments->plain + lane), lanes_splat(0.0f), plate.softening);
	if (arguments->fibres)
		fibre = load_fibre(&arguments->fibres[batch], lane);
	for (int i = 0; i < 3; i++)
		e[i] = e[i] - 1.0f;
	if (arguments->plates)
		limit_plate(&plate, e);
	if (arguments->out_stress) {
		Real seen[6], viscous = damping * arguments->viscous_stress;
		for (int i = 0; i < 6; i++)
			seen[i] = e[i] + viscous * e_rate[i];
		linear_stress(lambda, mu, seen, stress);
		if (arguments->plates)
			soften_plate(&plate, seen, mu, stress);
		if (arguments->fibres)
			add_fibre(&fibre, seen, stress);
		store_stress(arguments, tet, r, stress);
	}
	for (int i = 0; i < 6; i++)
		e[i] = e[i] + ahead * e_rate[i];
	linear_stress(lambda, mu, e, stress);
	if (arguments->plates) {
		soften_plate(&plate, e, mu, stress);
		store_plate(arguments, tet, &plate, r, factor * mu);
	}
	if (arguments->fibres) {
		add_fibre(&fibre, e, stress);
		store_fibre(arguments, tet, &fibre, r, factor);
	}
	store_forces(arguments, tet, r, stress, volume, g);
	store_blocks(arguments, tet, r, g, factor * lambda, factor * mu);
}

void KERNEL_NAME(const FemElementArguments *arguments) {
	for (int32_t batch = arguments->begin; batch < arguments->end; batch++) {
		for (int lane = 0; lane < FEM_LANES; lane += LANES)
			update_lanes(arguments, batch, lane);
	}
}
