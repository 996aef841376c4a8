#include "dynamics/energy_bound.h"

#include "dynamics/modal_unknowns.h"
#include "fem_destruction.h"
#include "model/body_step.h"

#include <string.h>

static FemBody *body_of(const FemSystem *system, const FemNodeChunk *chunk) {
	return system->bodies[chunk->body];
}

static double dot3(FemVec4 a, FemVec4 b) {
	return (double)a.x * (double)b.x + (double)a.y * (double)b.y + (double)a.z * (double)b.z;
}

// direction.residual over free nodes and colliders: the direction is 0 elsewhere.
static double direction_dot_residual(const FemSystem *system) {
	double sum = 0.0;
	for (int32_t c = 0; c < system->chunk_count; c++) {
		if (fem_chunk_is_rigid(system, c))
			continue;
		const FemBodyStep *step = body_of(system, &system->chunks[c])->step;
		for (int32_t i = system->chunks[c].begin; i < system->chunks[c].end; i++)
			sum += dot3(step->direction[i], step->residual[i]);
	}
	for (int32_t k = 0; k < system->rigid_count; k++) {
		const FemProxy *proxy = system->rigids[k];
		for (int i = 0; i < 6; i++)
			sum += (double)proxy->direction[i] * (double)proxy->residual[i];
	}
	for (int32_t k = 0; k < system->modal_count; k++) {
		const FemModal *modal = system->modals[k]->modal;
		for (int32_t i = 0; i < modal->mode_count; i++)
			sum += (double)modal->direction[i] * (double)modal->residual[i];
	}
	return sum;
}

// z = R (R^T A R)^-1 R^T residual; returns residual.z.
static double solve_rigid(FemSystem *system, FemRigidSpace *rigid) {
	for (int32_t c = 0; c < system->chunk_count; c++) {
		if (fem_chunk_is_rigid(system, c))
			continue;
		const FemNodeChunk *chunk = &system->chunks[c];
		memset(
			&body_of(system, chunk)->step->z[chunk->begin], 0, sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
	}
	for (int32_t k = 0; k < system->rigid_count; k++)
		memset(system->rigids[k]->z, 0, sizeof(float) * 6);
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_clear_solved(system->modals[k]->modal);
	return fem_rigid_space_add(rigid, system->loop);
}

// dv += a direction + b z
static void add_to_dv(FemSystem *system, float a, float b) {
	for (int32_t c = 0; c < system->chunk_count; c++) {
		if (fem_chunk_is_rigid(system, c))
			continue;
		FemBodyStep *step = body_of(system, &system->chunks[c])->step;
		for (int32_t i = system->chunks[c].begin; i < system->chunks[c].end; i++) {
			FemVec4 *x = &step->dv[i], d = step->direction[i], z = step->z[i];
			*x = (FemVec4){x->x + a * d.x + b * z.x, x->y + a * d.y + b * z.y, x->z + a * d.z + b * z.z, 0.0f};
		}
	}
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		for (int i = 0; i < 6; i++)
			proxy->dv[i] += a * proxy->direction[i] + b * proxy->z[i];
	}
	for (int32_t k = 0; k < system->modal_count; k++) {
		FemModal *modal = system->modals[k]->modal;
		for (int32_t i = 0; i < modal->mode_count; i++)
			modal->dv[i] += a * modal->direction[i];
	}
}

// The solve's answer to what is left of the load on rigid motions, twice, since the factor is of floats.
static void balance_rigid(FemSystem *system, FemRigidSpace *rigid) {
	for (int pass = 0; pass < 2; pass++) {
		solve_rigid(system, rigid);
		add_to_dv(system, 0.0f, 1.0f);
		fem_system_residual(system);
	}
}

// direction = the new velocity v + dv of what can move.
static void take_velocity(FemSystem *system) {
	for (int32_t c = 0; c < system->chunk_count; c++) {
		if (fem_chunk_is_rigid(system, c))
			continue;
		FemBody *body = body_of(system, &system->chunks[c]);
		for (int32_t i = system->chunks[c].begin; i < system->chunks[c].end; i++) {
			FemVec4 v = body->velocity[i], dv = body->step->dv[i];
			body->step->direction[i] = body->node_kind[i] == FEM_NODE_FREE
				? (FemVec4){v.x + dv.x, v.y + dv.y, v.z + dv.z, 0.0f}
				: (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		}
	}
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		for (int i = 0; i < 3; i++) {
			proxy->direction[i] = proxy->velocity[i] + proxy->dv[i];
			proxy->direction[i + 3] = proxy->spin[i] + proxy->dv[i + 3];
		}
	}
	for (int32_t k = 0; k < system->modal_count; k++) {
		FemModal *modal = system->modals[k]->modal;
		for (int32_t i = 0; i < modal->mode_count; i++)
			modal->direction[i] = modal->velocity[i] + modal->dv[i];
	}
}

static void drop_rigid_motion(FemRigidSpace *rigid) {
	for (int32_t b = 0; b < rigid->block_count; b++) {
		const FemRigidBlock *block = &rigid->blocks[b];
		if (block->body)
			fem_rigid_balance_drop_motion(block->body, block->nodes, block->body->step->direction);
		else
			memset(block->proxy->direction, 0, sizeof block->proxy->direction);
	}
}

// residual = product
static void load_product(FemSystem *system) {
	for (int32_t c = 0; c < system->chunk_count; c++) {
		if (fem_chunk_is_rigid(system, c))
			continue;
		const FemNodeChunk *chunk = &system->chunks[c];
		FemBodyStep *step = body_of(system, chunk)->step;
		memcpy(&step->residual[chunk->begin], &step->product[chunk->begin],
			sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
	}
	for (int32_t k = 0; k < system->rigid_count; k++)
		memcpy(system->rigids[k]->residual, system->rigids[k]->product, sizeof(float) * 6);
}

float fem_energy_bound(FemSystem *system, FemRigidSpace *rigid) {
	rigid = rigid && rigid->valid ? rigid : NULL;
	fem_system_residual(system);
	if (rigid)
		balance_rigid(system, rigid);
	take_velocity(system);
	if (rigid)
		drop_rigid_motion(rigid);
	// Along d - R w, w = (R^T A R)^-1 R^T A d, the load on rigid motions stays balanced. Its product with r is that of
	// d, since R^T r = 0, and its square in the A-norm that of d less that of R w.
	double slope = direction_dot_residual(system), curvature = fem_system_multiply(system);
	if (slope >= 0.0)
		return 1.0f;
	if (rigid) {
		load_product(system);
		curvature -= solve_rigid(system, rigid);
	}
	double change = curvature > 0.0 ? slope / curvature : -1.0;
	float share = change > -1.0 ? (float)(1.0 + change) : 0.0f;
	add_to_dv(system, share - 1.0f, rigid ? 1.0f - share : 0.0f);
	fem_system_residual(system);
	return share;
}
