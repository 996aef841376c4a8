// What contacts add to the matrix, for one contact by hand.
#include "dynamics/contact_rows.h"
#include "fem_test.h"

#include <math.h>

// The diagonal block of a node that takes part with weight w is w^2 (k_n n n^T + k_t (I - n n^T)), as xx yy zz xy yz
// zx. Fails when friction acts along the normal too, or the weight is not squared.
FEM_TEST(contact_rows, diagonal_is_stiff_along_the_normal_and_rough_across) {
	const float n[3] = {0.48f, -0.64f, 0.6f}, w = -0.25f, kn = 300.0f, kt = 40.0f;
	float blocks[3 * 6] = {7.0f, [6] = 7.0f, [17] = 7.0f}; // of an earlier solve
	FemBodyStep step = {.contact_blocks = blocks};
	FemBody body = {.step = &step}, *bodies[] = {&body};
	FemContactRow row = {
		.normal = {n[0], n[1], n[2]}, .normal_strength = kn, .friction_strength = kt, .mass = {INFINITY, INFINITY}};
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

// Two nodes of one body, each a piece, press on a fixed collider and slip. The first did so before the solve, the
// second joins the active set by it, so that what it asks for was not given. Fails when that takes friction from the
// first.
FEM_TEST(contact_rows, friction_is_bounded_by_what_its_own_pieces_were_given) {
	const float kn = 50.0f, friction = 0.5f, approach = 0.2f, slip = 0.3f;
	FemVec4 velocity[2] = {{slip, -approach, 0.0f, 0.0f}, {slip, -approach, 0.0f, 0.0f}}, dv[2] = {0};
	FemBodyStep step = {.dv = dv};
	FemBody body = {.step = &step, .velocity = velocity}, *bodies[] = {&body};
	FemProxy proxy = {0};
	FemContact contacts[2];
	for (int i = 0; i < 2; i++)
		contacts[i] = (FemContact){
			.side = {{.kind = FEM_SIDE_NODE, .node = i, .piece = i, .nodes = {i, i, i, i}, .weights = {1.0f}},
				{.kind = FEM_SIDE_COLLIDER, .body = -1, .is_fixed = true}},
			.normal = {0.0f, -1.0f, 0.0f},
			.normal_strength = kn,
			.friction = friction,
			.active = i == 0,
		};
	FemVec4 before[2];
	FemContactRows rows = {.bodies = bodies, .contacts = contacts, .count = 2, .before = before, .proxies = &proxy};
	fem_contact_rows_open(&rows);
	FemContactUpdate update = fem_contact_rows_update(&rows, 1e-4f);
	FEM_CHECK(update.changed && update.any_active && contacts[1].active);
	FEM_CHECK_NEAR(contacts[0].normal_impulse, kn * approach, 1e-5);
	FEM_CHECK_NEAR(contacts[0].friction_strength, friction * kn * approach / slip, 1e-4);
	FEM_CHECK_NEAR(contacts[1].friction_strength, 0.0, 0.0);
}

// A node of side 0 feels of the contact what the mass behind side 1 holds against: k m / (k + m). Fails when it is
// taken for a wall, which makes a preconditioner that converges as slowly as k / m is large.
FEM_TEST(contact_rows, a_light_thing_on_the_other_side_gives_way) {
	float blocks[6] = {0};
	FemBodyStep step = {.contact_blocks = blocks};
	FemBody body = {.step = &step}, *bodies[] = {&body};
	FemContactRow row = {.normal = {1.0f, 0.0f, 0.0f}, .normal_strength = 300.0f, .mass = {INFINITY, 2.0f}};
	FemContactRef ref = {.row = 0, .node = 0, .weight = 1.0f};
	int32_t start[] = {0, 1};
	FemContactRows rows = {.bodies = bodies, .rows = &row, .row_count = 1, .refs = &ref, .ref_start = start};
	FemNodeChunk chunk = {.body = 0, .begin = 0, .end = 1};
	fem_contact_rows_diagonal(&rows, &chunk, 0);
	FEM_CHECK_NEAR(blocks[0], 300.0 * 2.0 / 302.0, 1e-5);
	FEM_CHECK_NEAR(blocks[1], 0.0, 0.0); // no friction
}
