#include "dynamics/solver.h"

#include "dynamics/rows.h"

#include <math.h>
#include <string.h>

void fem_assemble_nodes(FemBody *body, int32_t begin, int32_t end, float dt, FemVec3 gravity) {
	const FemTopology *topology = body->topology;
	for (int32_t i = begin; i < end; i++) {
		float fx = 0.0f, fy = 0.0f, fz = 0.0f;
		for (int32_t k = topology->node_tet_start[i]; k < topology->node_tet_start[i + 1]; k++) {
			int32_t packed = topology->node_tets[k];
			const FemVec4 *force = &body->tet_forces[packed >> 2].force[packed & 3];
			fx += force->x, fy += force->y, fz += force->z;
		}
		float m = body->mass[i], damping = body->mass_damping[i];
		FemVec4 v = body->velocity[i], user = body->force[i];
		body->rhs[i] = (FemVec4){
			dt * (fx + m * gravity.x + user.x - damping * v.x),
			dt * (fy + m * gravity.y + user.y - damping * v.y),
			dt * (fz + m * gravity.z + user.z - damping * v.z),
			0.0f,
		};
	}
}

void fem_assemble_diagonal(FemBody *body, int32_t begin, int32_t end, float dt) {
	for (int32_t i = begin; i < end; i++) {
		float m = body->mass[i] + dt * body->mass_damping[i];
		FemVec4 contact = body->ground[i];
		body->diagonal[i] = (FemVec4){m + contact.z, m + contact.x, m + contact.z, 0.0f};
	}
}

// -------------------------------------------------------------------------------------------------------------- iterations

typedef struct Iteration {
	FemSystem *system;
	const FemRowKernels *kernels;
	FemVec4 *x, *r, *p, *q, *z;
	float alpha, beta;
} Iteration;

static FemPreconditionKind kind_of(const FemSystem *system) {
	return system->preconditioner && system->preconditioner->valid ? system->preconditioner->kind : FEM_PRECONDITION_JACOBI;
}

static double sum_partials(const FemSystem *system) {
	double sum = 0.0;
	for (int32_t i = 0; i < system->chunk_count; i++)
		sum += system->partials[i];
	return sum;
}

static int32_t local_part(const FemSystem *system, const FemNodeChunk *chunk) {
	return system->body->topology->node_part[chunk->begin] - system->preconditioner->parts.begin;
}

// r = b + contact - A x
static void residual_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	FemBody *body = it->system->body;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	it->kernels->multiply(body, chunk->begin, chunk->end, it->x, it->q);
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 b = body->rhs[i], v = body->velocity[i], contact = body->ground[i], q = it->q[i];
		it->r[i] = (FemVec4){
			b.x - contact.z * v.x - q.x,
			b.y + contact.x * (contact.y - v.y) - q.y,
			b.z - contact.z * v.z - q.z,
			0.0f,
		};
	}
}

static void restrict_chunk(const Iteration *it, const FemNodeChunk *chunk) {
	FemSystem *system = it->system;
	fem_coarse_restrict(system->preconditioner, system->body, local_part(system, chunk), it->r);
}

static void precondition_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	it->system->partials[chunk_index] = it->kernels->precondition(it->system->body, chunk->begin, chunk->end, it->r, it->z);
	if (kind_of(it->system) == FEM_PRECONDITION_TWO_LEVEL)
		restrict_chunk(it, chunk);
}

static void multiply_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	it->system->partials[chunk_index] = it->kernels->multiply(it->system->body, chunk->begin, chunk->end, it->p, it->q);
}

static void advance_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	it->system->partials[chunk_index] = it->kernels->advance(
		it->system->body, chunk->begin, chunk->end, it->alpha, it->p, it->q, it->x, it->r, it->z);
	if (kind_of(it->system) == FEM_PRECONDITION_TWO_LEVEL)
		restrict_chunk(it, chunk);
}

static void redirect_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	FemSystem *system = it->system;
	const FemNodeChunk *chunk = &system->chunks[chunk_index];
	it->kernels->redirect(chunk->begin, chunk->end, it->beta, it->z, it->p);
	if (kind_of(system) == FEM_PRECONDITION_TWO_LEVEL)
		fem_coarse_prolong(system->preconditioner, system->body, local_part(system, chunk), it->p);
}

// The rest of z = M^-1 r after the chunks have done theirs; returns r.z. The coarse motion itself joins p in
// redirect_task: z need not hold it.
static double finish_preconditioning(Iteration *it) {
	FemSystem *system = it->system;
	switch (kind_of(system)) {
	case FEM_PRECONDITION_FACTOR:
		return fem_preconditioner_solve(system->preconditioner, system->body, it->r, it->z);
	case FEM_PRECONDITION_TWO_LEVEL:
		return sum_partials(system) + fem_coarse_solve(system->preconditioner);
	default:
		return sum_partials(system);
	}
}

static double precondition(Iteration *it) {
	if (kind_of(it->system) != FEM_PRECONDITION_FACTOR)
		fem_loop_for(it->system->loop, it->system->chunk_count, precondition_task, it);
	return finish_preconditioning(it);
}

// ------------------------------------------------------------------------------------------------------------------- solve

static void for_nodes(const FemSystem *system, void (*function)(FemBody *body, int32_t node)) {
	for (int32_t c = 0; c < system->chunk_count; c++) {
		for (int32_t i = system->chunks[c].begin; i < system->chunks[c].end; i++)
			function(system->body, i);
	}
}

static void drop_start_vector(FemBody *body, int32_t node) {
	if (body->node_kind[node] == FEM_NODE_FREE)
		body->dv[node] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
}

// Keeps the given start vector only if it comes nearer than zero does: an unlucky one in a solve that is cut short would
// blow up a plate (performance notes, "Start vector"). Returns b.M^-1 b; *out_rz is that of the residual kept.
static double start(Iteration *it, double *out_rz) {
	FemSystem *system = it->system;
	FemBody *body = system->body;
	bool factor = kind_of(system) == FEM_PRECONDITION_FACTOR; // so near that a start vector does not pay
	if (!factor) {
		for (int32_t c = 0; c < system->chunk_count; c++) {
			FemRange range = {system->chunks[c].begin, system->chunks[c].end};
			memcpy(&it->p[range.begin], &body->dv[range.begin], sizeof(FemVec4) * (size_t)(range.end - range.begin));
		}
	}
	for_nodes(system, drop_start_vector);
	fem_loop_for(system->loop, system->chunk_count, residual_task, it);
	double bz = precondition(it);
	*out_rz = bz;
	if (factor)
		return bz;
	for (int32_t c = 0; c < system->chunk_count; c++) {
		FemRange range = {system->chunks[c].begin, system->chunks[c].end};
		memcpy(&body->dv[range.begin], &it->p[range.begin], sizeof(FemVec4) * (size_t)(range.end - range.begin));
	}
	fem_loop_for(system->loop, system->chunk_count, residual_task, it);
	*out_rz = precondition(it);
	if (*out_rz < bz)
		return bz;
	for_nodes(system, drop_start_vector);
	fem_loop_for(system->loop, system->chunk_count, residual_task, it);
	*out_rz = precondition(it);
	return bz;
}

FemSolveResult fem_system_solve(FemSystem *system) {
	FemBody *body = system->body;
	Iteration it = {.system = system, .kernels = fem_row_kernels(fem_simd_level()), .x = body->dv, .r = body->residual,
		.p = body->direction, .q = body->product, .z = body->z};
	double rz, bz = start(&it, &rz), target = (double)system->tolerance * (double)system->tolerance * bz;
	target = fmax(target, (double)system->floor);
	FemSolveResult result = {0};
	it.beta = 0.0f;
	for (int32_t c = 0; c < system->chunk_count; c++) // p may hold anything before the first redirect
		memset(&it.p[system->chunks[c].begin], 0, sizeof(FemVec4) * (size_t)(system->chunks[c].end - system->chunks[c].begin));
	while (rz > target && result.iterations < system->max_iterations) {
		fem_loop_for(system->loop, system->chunk_count, redirect_task, &it);
		fem_loop_for(system->loop, system->chunk_count, multiply_task, &it);
		double curvature = sum_partials(system);
		if (!(curvature > 0.0)) // not a number, or rounding has made the matrix indefinite here: what we have must do
			break;
		it.alpha = (float)(rz / curvature);
		fem_loop_for(system->loop, system->chunk_count, advance_task, &it);
		double next = finish_preconditioning(&it);
		it.beta = (float)(next / rz);
		rz = next;
		result.iterations++;
	}
	result.residual = bz > 0.0 && rz > 0.0 ? (float)sqrt(rz / bz) : 0.0f;
	result.capped = rz > target;
	result.finite = isfinite(bz) && isfinite(rz);
	return result;
}
