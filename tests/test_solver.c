// The linear solver through the step: preconditioners agree, caps are safe, memory stays put.
#include "base/memory.h"
#include "contact_rig.h"
#include "dynamics/elements.h"
#include "dynamics/preconditioner.h"
#include "dynamics/rows.h"
#include "fem_test.h"
#include "model/piece.h"
#include "scenes/rig.h"
#include "scenes/scenes.h"
#include "world/api/registry.h"
#include "world/step/step.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

// ---- preconditioners

// Gives the body's only component a preconditioner of the wanted kind; false when it cannot have one.
static bool force_kind(FemBody *body, FemPreconditionKind kind) {
	const FemTopology *topology = body->topology;
	if (!body->pieces[0].preconditioner) // made in the first step otherwise
		body->pieces[0].preconditioner = FEM_ALLOC_ARRAY(FemPreconditioner, 1);
	int32_t *identity = malloc((size_t)topology->node_count * sizeof *identity);
	for (int32_t i = 0; i < topology->node_count; i++)
		identity[i] = i;
	FemPreconditionerOrders orders = {0};
	if (kind == FEM_PRECONDITION_FACTOR)
		orders.node_order = identity;
	if (kind == FEM_PRECONDITION_TWO_LEVEL)
		orders.part_order = identity;
	fem_preconditioner_free(body->pieces[0].preconditioner);
	fem_preconditioner_create(body->pieces[0].preconditioner, body, 0, orders);
	free(identity);
	return body->pieces[0].preconditioner->kind == kind;
}

// As after many splits: parts of more nodes than a chunk, four of the old ones each. Of a body of one component.
static void join_parts(FemBody *body) {
	FemTopology *t = (FemTopology *)body->topology;
	int32_t count = 0;
	for (int32_t p = 0; p < t->part_count; p += 4, count++) {
		int32_t last = p + 4 < t->part_count ? p + 3 : t->part_count - 1;
		t->part_nodes[count] = (FemRange){t->part_nodes[p].begin, t->part_nodes[last].end};
		for (int32_t i = t->part_nodes[count].begin; i < t->part_nodes[count].end; i++)
			t->node_part[i] = count;
	}
	FEM_CHECK(t->component_count == 1 && t->part_nodes[0].end > FEM_NODE_CHUNK);
	t->part_count = body->live_part_count = count;
	t->component_parts[0] = (FemRange){0, count};
}

static int64_t iterations_of_swing(bool has_large_parts, FemVec3 *out_tip) {
	FemRigDef def = fem_rig_bar_def(90, 3, 3, FEM_CELLS_FIVE, 0.3f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.solver_tolerance = 1e-5f;
	def.world.worker_count = 3;
	FemRig rig = fem_rig_create(&def);
	FemBody *body = fem_body_find(rig.body, NULL);
	int32_t part_count = body->topology->part_count;
	if (has_large_parts)
		join_parts(body);
	FEM_CHECK(force_kind(body, FEM_PRECONDITION_TWO_LEVEL));
	int64_t sum = 0;
	for (int n = 0; n < 60; n++) {
		FemStatistics statistics;
		fem_world_step(rig.world, DT, 1);
		fem_world_get_statistics(rig.world, &statistics);
		sum += statistics.iterations;
	}
	fem_rig_read(&rig);
	*out_tip = fem_rig_displacement(&rig, rig.box.node_count - 1);
	((FemTopology *)body->topology)->part_count = part_count; // its arrays are freed by it
	fem_rig_destroy(&rig);
	return sum;
}

// Fails when each chunk of a part adds the coarse motion of the whole part: the direction is then no descent of M^-1 r.
FEM_TEST(solver, coarse_space_serves_parts_of_several_chunks) {
	FemVec3 small_tip, large_tip;
	int64_t small = iterations_of_swing(false, &small_tip), large = iterations_of_swing(true, &large_tip);
	printf("  %lld iterations with small parts, %lld with large ones\n", (long long)small, (long long)large);
	FEM_CHECK_NEAR((double)large_tip.y / (double)small_tip.y, 1.0, 2e-3);
	FEM_CHECK(large < 3 * small);
}

static bool swing_bar(FemPreconditionKind kind, FemVec3 *out_displacements, int32_t *out_count) {
	FemRigDef def = fem_rig_bar_def(24, 3, 3, FEM_CELLS_FIVE, 0.3f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.solver_tolerance = 1e-5f;
	FemRig rig = fem_rig_create(&def);
	bool forced = force_kind(fem_body_find(rig.body, NULL), kind);
	for (int n = 0; n < 60; n++)
		FEM_CHECK(!(fem_world_step(rig.world, DT, 1) & FEM_STEP_SOLVER_CAPPED));
	fem_rig_read(&rig);
	*out_count = rig.box.node_count;
	for (int32_t i = 0; i < rig.box.node_count; i++)
		out_displacements[i] = fem_rig_displacement(&rig, i);
	fem_rig_destroy(&rig);
	return forced;
}

// Fails when a preconditioner is not symmetric (CG then stops elsewhere), or stops in a norm that hides an error.
FEM_TEST(solver, all_preconditioners_give_the_same_motion) {
	static FemVec3 jacobi[1024], other[1024];
	int32_t count;
	FEM_CHECK(swing_bar(FEM_PRECONDITION_JACOBI, jacobi, &count));
	for (int kind = FEM_PRECONDITION_FACTOR; kind <= FEM_PRECONDITION_TWO_LEVEL; kind++) {
		FEM_CHECK(swing_bar(kind, other, &count));
		double worst = 0.0, swing = 0.0;
		for (int32_t i = 0; i < count; i++) {
			worst = fmax(worst, fabs((double)other[i].y - (double)jacobi[i].y));
			swing = fmax(swing, fabs((double)jacobi[i].y));
		}
		FEM_CHECK(swing > 0.3);
		FEM_CHECK_NEAR(worst / swing, 0.0, 2e-3);
	}
}

// Fails when the kind is not chosen by predicted cost: a pane wants a factor, a large bar two levels.
FEM_TEST(solver, kind_is_chosen_by_cost) {
	static const struct {
		const char *scene;
		FemPreconditionKind kind;
	} rows[] = {{"pane", FEM_PRECONDITION_FACTOR}, {"bar12k", FEM_PRECONDITION_TWO_LEVEL}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const FemScene *scene = fem_scene_find(rows[i].scene);
		FemWorldDef def = fem_scene_world_def(scene, 1);
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(scene, world);
		FEM_REQUIRE(bodies.count == 1);
		fem_world_step(world, DT, 1);
		FEM_CHECK_INT(fem_body_find(bodies.ids[0], NULL)->pieces[0].preconditioner->kind, rows[i].kind);
		fem_scene_bodies_free(&bodies);
		fem_world_destroy(world);
	}
}

// One iteration a solve: the shape is wrong, the fall is not. Fails when the residual's rigid motion stays.
FEM_TEST(solver, capped_solve_moves_a_free_body_rightly) {
	static const FemPreconditionKind kinds[] = {
		FEM_PRECONDITION_JACOBI, FEM_PRECONDITION_FACTOR, FEM_PRECONDITION_TWO_LEVEL};
	for (int k = 0; k < 3; k++) {
		FemRigDef def = fem_rig_bar_def(24, 3, 3, FEM_CELLS_FIVE, 0.3f);
		def.clamped = false;
		def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
		def.material.young_modulus = 1e9f;
		def.material.max_iterations = 1;
		def.body.angular_velocity = (FemVec3){0.0f, 3.0f, 0.0f};
		FemRig rig = fem_rig_create(&def);
		FEM_CHECK(force_kind(fem_body_find(rig.body, NULL), kinds[k]));
		FemBodyState start, end;
		fem_body_get_state(rig.body, &start);
		fem_body_apply_impulse(rig.body, 5, (FemVec3){0.3f, 0.0f, 0.2f});
		fem_body_get_state(rig.body, &start);
		for (int n = 0; n < 60; n++)
			fem_world_step(rig.world, DT, 1);
		fem_body_get_state(rig.body, &end);
		double mass = start.mass, fallen = start.center.y - end.center.y;
		FEM_CHECK_NEAR(fallen, 4.98675, 1e-4);
		FEM_CHECK_NEAR(end.linear_velocity.y, -9.81, 1e-4);
		FEM_CHECK_NEAR(((double)end.linear_momentum.x - (double)start.linear_momentum.x) / mass, 0.0, 1e-5);
		FEM_CHECK_NEAR((double)end.angular_momentum.y / (double)start.angular_momentum.y, 1.0, 1e-4);
		fem_rig_destroy(&rig);
	}
}

// ---- memory

// Fails when a step grows a list, factors into new memory or makes threads.
FEM_TEST(solver, steps_allocate_nothing_after_warm_up) {
	static const char *names[] = {"bar2k", "pane", "spin"};
	for (int i = 0; i < 3; i++) {
		const FemScene *scene = fem_scene_find(names[i]);
		FemWorldDef def = fem_scene_world_def(scene, 2);
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(scene, world);
		for (int n = 0; n < 60; n++) // lists grow when the pane first folds
			fem_world_step(world, DT, 1);
		int64_t calls = fem_memory_allocations(), bytes = fem_memory_bytes();
		for (int n = 0; n < 60; n++)
			fem_world_step(world, DT, 1);
		FEM_CHECK_INT(fem_memory_allocations() - calls, 0);
		FEM_CHECK_INT(fem_memory_bytes() - bytes, 0);
		FemStatistics statistics;
		fem_world_get_statistics(world, &statistics);
		FEM_CHECK_INT(statistics.allocations, fem_memory_allocations());
		fem_scene_bodies_free(&bodies);
		fem_world_destroy(world);
	}
}

// Fails when anything made with a world outlives it.
FEM_TEST(solver, all_memory_returns) {
	int64_t before = fem_memory_bytes();
	int32_t count;
	const FemScene *scenes = fem_scenes(&count);
	for (int32_t i = 0; i < count; i++) {
		if (scenes[i].body_count > 1000 || scenes[i].cells[0] > 40)
			continue; // time
		FemWorldDef def = fem_scene_world_def(&scenes[i], 2);
		FemWorldId world = fem_world_create(&def);
		FemSceneBodies bodies = fem_scene_build(&scenes[i], world);
		FEM_CHECK_INT(bodies.count, scenes[i].body_count);
		fem_world_step(world, DT, 1);
		for (int32_t b = 0; b < bodies.count; b += 3)
			FEM_CHECK(fem_body_destroy(bodies.ids[b]) == FEM_OK);
		fem_world_step(world, DT, 1);
		fem_scene_bodies_free(&bodies);
		fem_world_destroy(world);
		FEM_CHECK_INT(fem_memory_bytes(), before);
	}
}

// ---- iterations

static int64_t iterations_of(FemWorldId world, int32_t steps) {
	int64_t sum = 0;
	for (int32_t n = 0; n < steps; n++) {
		FemStatistics statistics;
		fem_world_step(world, DT, 1);
		fem_world_get_statistics(world, &statistics);
		sum += statistics.iterations;
	}
	return sum;
}

static int64_t iterations_of_kind(FemPreconditionKind kind) {
	FemRigDef def = fem_rig_bar_def(60, 3, 3, FEM_CELLS_FIVE, 0.3f);
	def.world.gravity = (FemVec3){3.0f, -6.0f, 5.0f};
	FemRig rig = fem_rig_create(&def);
	FEM_CHECK(force_kind(fem_body_find(rig.body, NULL), kind));
	int64_t sum = iterations_of(rig.world, 20);
	fem_rig_destroy(&rig);
	return sum;
}

// Fails when a preconditioner is right enough to converge, and wrong enough to be of no use.
FEM_TEST(solver, preconditioners_save_iterations) {
	int64_t jacobi = iterations_of_kind(FEM_PRECONDITION_JACOBI),
			two_level = iterations_of_kind(FEM_PRECONDITION_TWO_LEVEL);
	printf("  %lld iterations with block-Jacobi, %lld with two levels\n", (long long)jacobi, (long long)two_level);
	FEM_CHECK(3 * two_level < jacobi);
}

// Fails when a kept factor is turned otherwise than the body: it is of no use then, and made anew.
FEM_TEST(solver, kept_factor_rotates_with_the_body) {
	FemRigDef def = fem_rig_bar_def(12, 3, 3, FEM_CELLS_FIVE, 0.3f);
	def.clamped = false;
	def.material.young_modulus = 1e8f;
	def.body.angular_velocity = (FemVec3){2.0f, 3.0f, 2.5f};
	FemRig rig = fem_rig_create(&def);
	FemBody *body = fem_body_find(rig.body, NULL);
	FEM_CHECK(force_kind(body, FEM_PRECONDITION_FACTOR));
	int64_t sum = iterations_of(rig.world, 60);
	printf("  %lld iterations, %d factors\n", (long long)sum, (int)body->pieces[0].preconditioner->factorizations);
	FEM_CHECK(sum < 500); // 9000 when it is turned otherwise
	fem_rig_destroy(&rig);
}

// The matrix of a body as a step without contacts would assemble it. The caller frees the arena and sets step to null.
static void assemble_alone(FemBody *body, FemArena *arena) {
	const FemTopology *t = body->topology;
	size_t node_bytes = sizeof(FemVec4) * (size_t)t->node_count;
	FEM_CHECK(fem_arena_begin(arena, (size_t)16 << 20));
	fem_body_take_step_memory(body, arena);
	memset(body->step->ground, 0, node_bytes);
	fem_elements_update(body, 0, t->batch_count, DT, false);
	fem_row_kernels(fem_simd_level())->assemble_edges(body, 0, t->edge_count);
	fem_assemble_diagonal(body, 0, t->node_count, DT);
}

// Fails when block-Jacobi is not the inverse of the matrix's diagonal blocks: CG converges with it all the same.
FEM_TEST(solver, node_blocks_are_inverse) {
	FemRigDef def = fem_rig_bar_def(8, 3, 3, FEM_CELLS_FIVE, 0.3f);
	def.world.gravity = (FemVec3){3.0f, -6.0f, 5.0f};
	def.jitter = 0.01f;
	FemRig rig = fem_rig_create(&def);
	for (int n = 0; n < 5; n++)
		fem_world_step(rig.world, DT, 1);
	FemBody *body = fem_body_find(rig.body, NULL);
	int32_t count = body->topology->node_count, looked_at = 0;
	float *blocks = calloc(9 * (size_t)count, sizeof *blocks);
	FemArena arena = {0};
	assemble_alone(body, &arena);
	fem_row_kernels(fem_simd_level())->invert_diagonal(body, 0, count, blocks);
	for (int32_t i = 0; i < count; i++) {
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		const float *a = blocks + 9 * (int64_t)i, *b = body->step->node_blocks + 12 * (int64_t)i;
		looked_at++;
		for (int r = 0; r < 3; r++)
			for (int c = 0; c < 3; c++) {
				double sum = 0.0;
				for (int k = 0; k < 3; k++)
					sum += (double)a[3 * k + r] * (double)b[4 * c + k];
				FEM_CHECK_NEAR(sum, r == c ? 1.0 : 0.0, 1e-3);
			}
	}
	FEM_CHECK(looked_at > 100);
	free(blocks);
	fem_arena_free(&arena);
	body->step = NULL;
	fem_rig_destroy(&rig);
}

// A stiff bar that lies on a slope of 35 degrees.
static int64_t iterations_on_slope(FemPreconditionKind kind) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemBlock bar = fem_block(0.3f, 3);
	FemQuat rotation = {0.2843f, 0.0f, 0.2843f, 0.9156f}; // about x and z: all entries of the contacts' blocks count
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, rotation, 0.9f);
	bar.cells[0] = 40;
	bar.size.x = 4.0f;
	bar.material.young_modulus = 1e7f;
	bar.body.rotation = rotation;
	FemBodyId id = fem_block_add(world, &bar);
	FEM_CHECK(force_kind(fem_body_find(id, NULL), kind));
	int64_t sum = iterations_of(world, 20);
	fem_world_destroy(world);
	return sum;
}

// Fails when the preconditioners do not know of contacts, or know them along other axes.
FEM_TEST(solver, preconditioners_know_of_contacts) {
	int64_t two_level = iterations_on_slope(FEM_PRECONDITION_TWO_LEVEL),
			factor = iterations_on_slope(FEM_PRECONDITION_FACTOR);
	printf("  %lld iterations with two levels, %lld with a factor\n", (long long)two_level, (long long)factor);
	FEM_CHECK(two_level < 800); // 1100 without contacts
	FEM_CHECK(factor < 300);    // 6200 with contacts along other axes
}
