// The direct solve of what does not deform, for bodies and their contacts by hand.
#include "base/vec.h"
#include "dynamics/rigid_direct.h"
#include "fem_test.h"

#include <math.h>

#define BODIES 3
#define CONTACTS 5

static float between(uint32_t *seed, float low, float high) {
	*seed = *seed * 1664525u + 1013904223u;
	return low + (high - low) * (float)(*seed >> 8) / 16777216.0f;
}

static FemProxy body_of(uint32_t *seed) {
	FemProxy out = {.mass = between(seed, 0.1f, 3.0f)};
	for (int i = 0; i < 3; i++) {
		out.inertia[i] = out.mass * between(seed, 0.01f, 0.02f);
		out.velocity[i] = between(seed, -1.0f, 1.0f);
		out.spin[i] = between(seed, -3.0f, 3.0f);
		out.impulse[i] = out.mass * between(seed, -0.2f, 0.2f);
	}
	return out;
}

// Of the bodies a and b; -1: of a and what stands.
static FemContact contact_of(uint32_t *seed, int32_t a, int32_t b) {
	FemContact out = {.normal_strength = between(seed, 10.0f, 3000.0f),
		.friction_strength = between(seed, 0.0f, 2000.0f),
		.bias = between(seed, -0.1f, 0.1f),
		.active = true};
	float square = 0.0f;
	for (int i = 0; i < 3; i++) {
		out.normal[i] = between(seed, -1.0f, 1.0f);
		square += out.normal[i] * out.normal[i];
	}
	for (int i = 0; i < 3; i++)
		out.normal[i] /= sqrtf(square);
	for (int s = 0; s < 2; s++) {
		int32_t of = s == 0 ? a : b;
		out.side[s] =
			(FemContactSide){.kind = FEM_SIDE_COLLIDER, .body = -1, .is_fixed = of < 0, .proxy = of < 0 ? 0 : of};
		for (int i = 0; i < 3; i++)
			out.side[s].arm[i] = between(seed, -0.3f, 0.3f);
	}
	return out;
}

// b - A dv, in doubles, straight from the definition.
static void residual_of(
	const FemProxy *bodies, const FemContact *contacts, const FemVec4 *before, double out[6 * BODIES]) {
	for (int b = 0; b < BODIES; b++) {
		for (int i = 0; i < 3; i++) {
			out[6 * b + i] = (double)bodies[b].impulse[i] - (double)bodies[b].mass * (double)bodies[b].dv[i];
			out[6 * b + i + 3] =
				(double)bodies[b].impulse[i + 3] - (double)bodies[b].inertia[i] * (double)bodies[b].dv[i + 3];
		}
	}
	for (int c = 0; c < CONTACTS; c++) {
		const FemContact *contact = &contacts[c];
		double u[3] = {before[c].x, before[c].y, before[c].z}, along = 0.0, g[3];
		for (int s = 0; s < 2; s++) {
			const FemContactSide *side = &contact->side[s];
			const float *dv = bodies[side->proxy].dv;
			for (int i = 0; i < 3 && !side->is_fixed; i++)
				u[i] += (s ? -1.0 : 1.0) *
					((double)dv[i] + (double)dv[3 + (i + 1) % 3] * (double)side->arm[(i + 2) % 3] -
						(double)dv[3 + (i + 2) % 3] * (double)side->arm[(i + 1) % 3]);
		}
		for (int i = 0; i < 3; i++)
			along += (double)contact->normal[i] * u[i];
		for (int i = 0; i < 3 && contact->active; i++)
			g[i] = (double)contact->normal_strength * (along + (double)contact->bias) * (double)contact->normal[i] +
				(double)contact->friction_strength * (u[i] - along * (double)contact->normal[i]);
		for (int s = 0; s < 2 && contact->active; s++) {
			const FemContactSide *side = &contact->side[s];
			for (int i = 0; i < 3 && !side->is_fixed; i++) {
				double sign = s ? 1.0 : -1.0;
				out[6 * side->proxy + i] += sign * g[i];
				out[6 * side->proxy + i + 3] += sign *
					((double)side->arm[(i + 1) % 3] * g[(i + 2) % 3] - (double)side->arm[(i + 2) % 3] * g[(i + 1) % 3]);
			}
		}
	}
}

// Bodies whose contacts are up to 3e4 times as strong as they are heavy, with one that does not press. Fails when a
// contact acts on the wrong side or at the wrong arm, or when the error of the factor is left in.
FEM_TEST(rigid_direct, leaves_no_residual) {
	for (uint32_t run = 1; run <= 50; run++) {
		uint32_t seed = 77 * run;
		int32_t count = run % 5 == 0 ? 1 : BODIES;
		FemProxy bodies[BODIES], *rigids[BODIES];
		static const int32_t pairs[CONTACTS][2] = {{0, 1}, {0, 1}, {1, 2}, {2, -1}, {0, -1}};
		FemContact contacts[CONTACTS];
		FemVec4 before[CONTACTS], after[CONTACTS];
		FemContactRow rows[CONTACTS];
		for (int b = 0; b < BODIES; b++) {
			bodies[b] = body_of(&seed);
			rigids[b] = &bodies[b];
		}
		for (int c = 0; c < CONTACTS; c++)
			contacts[c] = contact_of(&seed, count == 1 ? 0 : pairs[c][0], count == 1 ? -1 : pairs[c][1]);
		contacts[1].active = false;
		FemSystem system = {.rigids = rigids,
			.rigid_count = count,
			.tolerance = 1e-3f,
			.contacts = {.contacts = contacts,
				.count = CONTACTS,
				.proxies = bodies,
				.before = before,
				.impulses = after,
				.rows = rows}};
		FemRigidSpace space;
		double residual[6 * BODIES], least = 0.0, most = 0.0;
		FemRigidIslands all = {.rigids = rigids, .rigid_count = count};
		FEM_CHECK(fem_rigid_direct_is_possible(&system));
		fem_contact_rows_open(&system.contacts);
		if (count > 1) {
			FEM_CHECK(fem_rigid_space_create(&space, &system.contacts, &all));
			fem_rigid_space_prepare(&space, &system.contacts, NULL);
			system.rigid = &space;
		}
		fem_rigid_direct_open(&system);
		residual_of(bodies, contacts, before, residual);
		for (int i = 0; i < 6 * count; i++)
			least = fmax(least, fabs(residual[i]));
		FEM_CHECK(least > 10.0); // before the solve
		FemSolveResult solved = fem_rigid_direct_solve(&system);
		residual_of(bodies, contacts, before, residual);
		for (int i = 0; i < 6 * count; i++)
			most = fmax(most, fabs(residual[i]));
		FEM_CHECK(solved.finite && !solved.capped);
		FEM_CHECK(most < 2e-3); // N s, beside loads of some 1,000: a float's rounding of strengths times speeds
		if (count > 1)
			fem_rigid_space_free(&space);
	}
}
