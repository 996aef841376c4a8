#include "dynamics/bond_rows.h"

#include <math.h>

// m, from the center of what is rigid: bonds end at nodes.
static void arm_of(const FemContactRows *rows, const FemContactSide *side, const FemProxy *rigid, float out[3]) {
	const FemVec4 *x = &rows->bodies[side->body]->position[side->node];
	out[0] = x->x - rigid->center[0];
	out[1] = x->y - rigid->center[1];
	out[2] = x->z - rigid->center[2];
}

// out += by w x (w x r) = by (w (w.r) - r (w.w)), m/s
static void add_bend(const float w[3], const float r[3], float by, float out[3]) {
	float along = w[0] * r[0] + w[1] * r[1] + w[2] * r[2], square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
	for (int k = 0; k < 3; k++)
		out[k] += by * (w[k] * along - r[k] * square);
}

void fem_bond_rows_follow_rotation(FemContactRows *rows, float dt) {
	for (int32_t c = rows->count; c < fem_contact_rows_total(rows); c++) {
		FemContact *bond = &rows->contacts[c];
		float *n = bond->normal, b[3] = {bond->bias * n[0], bond->bias * n[1], bond->bias * n[2]};
		for (int s = 0; s < 2; s++) {
			const FemProxy *rigid = fem_contact_side_rigid(rows, &bond->side[s]);
			float arm[3];
			if (!rigid || !(rigid->mass > 0.0f))
				continue;
			arm_of(rows, &bond->side[s], rigid, arm);
			add_bend(rigid->spin, arm, s == 0 ? 0.5f * dt : -0.5f * dt, b);
		}
		bond->bias = sqrtf(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
		for (int k = 0; k < 3; k++)
			n[k] = bond->bias > 0.0f ? b[k] / bond->bias : k == 0 ? 1.0f : 0.0f;
	}
}

void fem_bond_rows_keep(FemContactRows *rows) {
	for (int32_t c = rows->count; c < fem_contact_rows_total(rows); c++) {
		FemContact *bond = &rows->contacts[c];
		float u[3];
		fem_contact_velocity_after(rows, c, u);
		for (int k = 0; k < 3; k++)
			bond->impulse[k] = bond->normal_strength * (u[k] + bond->bias * bond->normal[k]);
	}
}
