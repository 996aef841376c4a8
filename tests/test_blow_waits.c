// Blows that wait for their look: more lands in one step than its limits let be looked at.
#include "contact_rig.h"
#include "fem_test.h"
#include "preset_rig.h"
#include "scenes/filled_mesh.h"
#include "things_rig.h"
#include "world/api/registry.h"
#include "world/step/wall_blows.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

#define CUBES 8
#define TETS 1296 // of a cube of 6 x 6 x 6 cells

typedef struct Rain {
	FemWorldId world;
	FemBodyId cubes[2 * CUBES];
	int32_t count;
} Rain;

// Cubes of 0.3 m, all of which come to touch in one step.
static Rain make_rain(int32_t count, bool on_collider, int32_t workers) {
	FemWorldDef def = fem_contact_world_def();
	Rain rain = {.count = count};
	def.ground_enabled = !on_collider;
	def.worker_count = workers;
	rain.world = fem_world_create(&def);
	if (on_collider)
		fem_add_plane(rain.world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBlock block = fem_block(0.3f, 6);
	block.kind = FEM_CELLS_KUHN;
	block.material.young_modulus = 5e8f;
	block.material.density = 2300.0f;
	block.material.stiffness_damping = 0.001f;
	block.material.breakable = true;
	block.material.toughness = 1.5e5f;
	block.material.impact_modulus = 2e10f;
	block.material.fragment_size = 0.06f;
	block.body.rotation = fem_rotation_z(0.6f);
	block.body.linear_velocity = (FemVec3){0.0f, -7.0f, 0.0f};
	for (int32_t i = 0; i < count; i++) {
		block.body.position = (FemPosition){1.5 * i, 0.35, 0.0};
		rain.cubes[i] = fem_block_add(rain.world, &block);
		FEM_CHECK_INT(fem_body_get_tet_count(rain.cubes[i]), TETS);
	}
	return rain;
}

static void bound_looks(const Rain *rain, int32_t tets) {
	FemWorkLimits limits = fem_default_work_limits();
	limits.elastic_tets_max = tets;
	FEM_CHECK_INT(fem_world_set_work_limits(rain->world, &limits), FEM_OK);
}

static void step_rain(const Rain *rain, int32_t steps) {
	for (int32_t i = 0; i < steps; i++)
		fem_world_step(rain->world, 1.0f / 60.0f, 1);
}

static int32_t broken_cubes(const Rain *rain) {
	int32_t broken = 0;
	for (int32_t i = 0; i < rain->count; i++)
		broken += fem_body_get_pieces(rain->cubes[i], NULL, 0) > 5;
	return broken;
}

// m, of the centre of mass.
static double height_of(FemBodyId body) {
	FemBodyState state;
	FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
	return state.center.y;
}

static void end_rain(Rain *rain) {
	FEM_CHECK_INT(fem_world_validate(rain->world), FEM_OK);
	fem_world_destroy(rain->world);
}

// Fails without waiting: one of the eight breaks.
FEM_TEST(blow_waits, all_that_lands_at_once_breaks) {
	for (int on_collider = 0; on_collider < 2; on_collider++) {
		Rain free = make_rain(CUBES, on_collider, 1), bound = make_rain(CUBES, on_collider, 1);
		bound_looks(&bound, TETS + 100);
		step_rain(&free, 20);
		FEM_CHECK_INT(broken_cubes(&free), CUBES);
		int32_t first = -1, last = -1;
		for (int32_t i = 0; i < 20; i++) {
			int32_t before = broken_cubes(&bound);
			step_rain(&bound, 1);
			int32_t now = broken_cubes(&bound);
			FEM_CHECK(now - before <= 1);
			first = first < 0 && now > 0 ? i : first;
			last = now > before ? i : last;
		}
		FEM_CHECK_INT(broken_cubes(&bound), CUBES);
		FEM_CHECK_INT(last - first, CUBES - 1); // one in each step
		end_rain(&free);
		end_rain(&bound);
	}
}

// What waits stands still, and does not wait for long: the last of sixteen, each of which fills the limit.
FEM_TEST(blow_waits, what_waits_stands_still_for_a_while) {
	Rain rain = make_rain(2 * CUBES, true, 1);
	bound_looks(&rain, TETS + 100);
	double height = INFINITY;
	int32_t waited = 0, last = 2 * CUBES - 1;
	for (int32_t i = 0; i < 40; i++) {
		step_rain(&rain, 1);
		double now = height_of(rain.cubes[last]);
		FEM_CHECK(now < height + 0.2);
		waited += now == height;
		height = now;
	}
	// Twelve steps before it touches, where it has come so near that it would within the step, and where it then
	// touches.
	FEM_CHECK(waited > 12 && waited <= 24);
	FEM_CHECK_INT(broken_cubes(&rain), 2 * CUBES);
	FEM_CHECK(height > 0.02 && height < 0.2);
	end_rain(&rain);
}

// A cube that carries another one does not wait while a third is looked at: what lies on it would be held by nothing.
FEM_TEST(blow_waits, what_touches_others_does_not_wait) {
	Rain rain = make_rain(3, true, 1);
	double across = 0.299, x = 1.5 - across * sin(0.6), y = 0.35 + across * cos(0.6);
	bound_looks(&rain, TETS + 100);
	FEM_CHECK_INT(fem_body_teleport(rain.cubes[2], (FemPosition){x, y, 0.0}, fem_rotation_z(0.6f)), FEM_OK);
	for (int32_t i = 0; i < fem_body_get_node_count(rain.cubes[2]); i++)
		FEM_CHECK_INT(fem_body_set_velocity(rain.cubes[2], i, (FemVec3){0.0f, -7.0f, 0.0f}), FEM_OK);
	double before = INFINITY;
	for (int32_t i = 0; i < 8; i++) {
		step_rain(&rain, 1);
		double now = height_of(rain.cubes[1]);
		FEM_CHECK(now != before);
		before = now;
	}
	FEM_CHECK(fem_body_get_pieces(rain.cubes[0], NULL, 0) > 5);
	end_rain(&rain);
}

// A cube that lands on another one does not fall through it.
FEM_TEST(blow_waits, what_lands_on_another_is_held) {
	Rain rain = make_rain(2, true, 1);
	bound_looks(&rain, 1);
	FEM_CHECK_INT(fem_body_teleport(rain.cubes[1], (FemPosition){0.05, 0.75, 0.0}, fem_rotation_z(0.6f)), FEM_OK);
	double least = INFINITY;
	for (int32_t i = 0; i < 20; i++) {
		step_rain(&rain, 1);
		least = fmin(least, height_of(rain.cubes[1]));
	}
	FEM_CHECK(least > 0.1);
	end_rain(&rain);
}

FEM_TEST(blow_waits, any_worker_count_and_a_snapshot_go_on_bitwise) {
	uint64_t hashes[2];
	for (int w = 0; w < 2; w++) {
		Rain rain = make_rain(CUBES, true, w == 0 ? 1 : 3);
		bound_looks(&rain, 2 * TETS + 100);
		step_rain(&rain, 3); // some wait
		size_t bytes = fem_world_save(rain.world, NULL, 0);
		void *data = malloc(bytes);
		FEM_CHECK(fem_world_save(rain.world, data, bytes) == bytes);
		step_rain(&rain, 12);
		hashes[w] = fem_world_hash(rain.world);
		Rain restored = {.world = fem_world_restore(data, bytes, 2)};
		step_rain(&restored, 12);
		FEM_CHECK(fem_world_hash(restored.world) == hashes[w]);
		end_rain(&restored);
		free(data);
		end_rain(&rain);
	}
	FEM_CHECK(hashes[0] == hashes[1]);
}
