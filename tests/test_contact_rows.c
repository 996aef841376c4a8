// What contacts add to the matrix, for one contact by hand.
#include "dynamics/contact_rows.h"
#include "fem_test.h"

// The diagonal block of a node that takes part with weight w is w^2 (k_n n n^T + k_t (I - n n^T)), as xx yy zz xy yz
// zx. Fails when friction acts along the normal too, or the weight is not squared.
FEM_TEST(contact_rows, diagonal_is_stiff_along_the_normal_and_rough_across) {
	const float n[3] = {0.48f, -0.64f, 0.6f}, w = -0.25f, kn = 300.0f, kt = 40.0f;
	float blocks[3 * 6] = {7.0f, [6] = 7.0f, [17] = 7.0f}; // of an earlier solve
	FemBodyStep step = {.contact_blocks = blocks};
	FemBody body = {.step = &step}, *bodies[] = {&body};
	FemContactRow row = {.normal = {n[0], n[1], n[2]}, .normal_strength = kn, .friction_strength = kt};
	FemContactRef ref = {.row = 0, .node = 1, .weight = w};
	int32_t start[] = {0, 1};
	FemContactRows rows = {.bodies = bodies, .rows = &row, .row_count = 1, .refs = &ref, .ref_start = start};
	FemNodeChunk chunk = {.body = 0, .begin = 0, .end = 3};
	fem_contact_rows_diagonal(&rows, &chunk, 0);
	for (int i = 0; i < 6; i++) {
		int r = i % 3, c = i < 3 ? r : (r + 1) % 3;
		float expected = w * w * ((kn - kt) * n[r] * n[c] + (r == c ? kt : 0.0f));
		FEM_CHECK_NEAR(blocks[6 + i], expected, 1e-5);
		FEM_CHECK_NEAR(fabsf(blocks[i]) + fabsf(blocks[12 + i]), 0.0, 0.0);
	}
}
