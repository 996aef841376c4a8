// Which parts are live: falling asleep, waking, borders.
#include "fem_test.h"
#include "scenes/box_mesh.h"
#include "world/api/registry.h"
#include "world/world.h"

#define DT (1.0f / 60.0f)

typedef struct Scene {
	FemWorldId world;
	FemBodyId body;
	int32_t node_count;
} Scene;

// A bar of several parts, x = 0 face pinned.
static Scene make_bar(FemVec3 gravity, bool asleep) {
	Scene scene;
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh bar = fem_box_mesh(24, 3, 3, (FemVec3){8.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&bar);
	FemBodyDef body_def = fem_default_body_def();
	int32_t pins[16];
	for (int32_t i = 0; i < 16; i++)
		pins[i] = i;
	world_def.gravity = gravity;
	material_def.young_modulus = 1e8f; // sags by half a metre
	material_def.stiffness_damping = 0.05f;
	scene.world = fem_world_create(&world_def);
	FemMaterialId material = fem_material_create(scene.world, &material_def);
	body_def.mesh = fem_mesh_create(scene.world, &mesh_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	body_def.pinned_nodes = pins;
	body_def.pinned_count = 16;
	body_def.starts_asleep = asleep;
	scene.body = fem_body_create(scene.world, &body_def);
	scene.node_count = bar.node_count;
	fem_box_mesh_free(&bar);
	return scene;
}

static int32_t events_of_type(FemWorldId world, FemEventType type) {
	const FemEvent *events;
	int32_t count = fem_world_get_events(world, &events), found = 0;
	for (int32_t i = 0; i < count; i++)
		found += events[i].type == type;
	return found;
}

FEM_TEST(islands, still_bodies_fall_asleep_once) {
	Scene scene = make_bar((FemVec3){0.0f, 0.0f, 0.0f}, false);
	int32_t slept = 0;
	for (int i = 0; i < 40; i++) {
		fem_world_step(scene.world, DT, 1);
		slept += events_of_type(scene.world, FEM_EVENT_SLEPT);
		FEM_CHECK(fem_body_is_asleep(scene.body) == (i >= 29)); // 30 steps
	}
	FEM_CHECK_INT(slept, 1);
	FemStatistics statistics;
	fem_world_get_statistics(scene.world, &statistics);
	FEM_CHECK_INT(statistics.live_tets, 0);
	FEM_CHECK_INT(statistics.asleep_islands, 1);
	FEM_CHECK_INT(fem_body_wake(scene.body), FEM_OK);
	FEM_CHECK(!fem_body_is_asleep(scene.body));
	fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(events_of_type(scene.world, FEM_EVENT_WOKE), 1);
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	fem_world_destroy(scene.world);
}

FEM_TEST(islands, moving_bodies_stay_awake) {
	Scene scene = make_bar((FemVec3){0.0f, -9.81f, 0.0f}, false);
	for (int i = 0; i < 40; i++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK(!fem_body_is_asleep(scene.body)); // it sags from the pinned face
	FEM_CHECK_INT(fem_world_set_sleeping(scene.world, false), FEM_OK);
	for (int i = 0; i < 600; i++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK(!fem_body_is_asleep(scene.body));
	fem_world_destroy(scene.world);
}

// Pushing one end of a sleeping bar wakes that part alone; the pull then wakes its neighbours, one after the other.
FEM_TEST(islands, waking_is_local_and_spreads) {
	Scene scene = make_bar((FemVec3){0.0f, 0.0f, 0.0f}, true);
	FemWorld *world = fem_world_find(scene.world);
	FEM_REQUIRE(world != NULL);
	FemBody *body = world->bodies[0];
	int32_t part_count = body->topology->part_count, last = scene.node_count - 1;
	FEM_CHECK(part_count >= 4);
	FEM_CHECK_INT(fem_body_apply_impulse(scene.body, last, (FemVec3){0.0f, 20.0f, 0.0f}), FEM_OK);
	FEM_CHECK_INT(body->live_part_count, 1);
	fem_world_step(scene.world, DT, 1);
	FemBodyState state;
	fem_body_get_state(scene.body, &state);
	FEM_CHECK(body->live_part_count < part_count);
	FEM_CHECK(state.live_tets > 0 && state.live_tets < body->topology->tet_count);
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	for (int i = 0; i < 60 && body->live_part_count < part_count; i++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(body->live_part_count, part_count);
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	fem_world_destroy(scene.world);
}

static void settle(const Scene *scene) {
	for (int i = 0; i < 3000 && !fem_body_is_asleep(scene->body); i++)
		fem_world_step(scene->world, DT, 1);
	FEM_CHECK(fem_body_is_asleep(scene->body));
}

// In balance under gravity, one part woken: nothing pulls at its neighbours more than before, so they sleep on.
FEM_TEST(islands, neighbours_in_balance_sleep_on) {
	Scene scene = make_bar((FemVec3){0.0f, -9.81f, 0.0f}, false);
	settle(&scene);
	FemWorld *world = fem_world_find(scene.world);
	FEM_REQUIRE(world != NULL);
	FemBody *body = world->bodies[0];
	int32_t tip = body->topology->node_part[body->topology->node_of_user[scene.node_count - 1]];
	fem_body_wake_part(&world->islands, body, tip);
	for (int i = 0; i < 10; i++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(body->live_part_count, 1);
	settle(&scene);
	FEM_CHECK_INT(fem_body_apply_impulse(scene.body, scene.node_count - 1, (FemVec3){0.0f, 0.0f, 100.0f}), FEM_OK);
	int32_t most = 0;
	for (int i = 0; i < 20; i++) {
		fem_world_step(scene.world, DT, 1);
		most = body->live_part_count > most ? body->live_part_count : most;
	}
	FEM_CHECK_INT(most, body->topology->part_count); // a blow is felt to the root
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	fem_world_destroy(scene.world);
}

FEM_TEST(islands, weak_forces_do_not_wake) {
	Scene scene = make_bar((FemVec3){0.0f, -9.81f, 0.0f}, true);
	FemWorld *world = fem_world_find(scene.world);
	FEM_REQUIRE(world != NULL);
	FemBody *body = world->bodies[0];
	int32_t node = 100, inside = body->topology->node_of_user[node];
	float threshold = 0.25f * 9.81f * body->mass[inside];
	FEM_CHECK_INT(fem_body_apply_force(scene.body, node, (FemVec3){0.6f * threshold, 0.0f, 0.0f}), FEM_OK);
	FEM_CHECK(fem_body_is_asleep(scene.body));
	FEM_CHECK_INT(fem_body_apply_force(scene.body, node, (FemVec3){0.6f * threshold, 0.0f, 0.0f}), FEM_OK);
	FEM_CHECK(!fem_body_is_asleep(scene.body)); // together they suffice
	fem_world_step(scene.world, DT, 1);
	FEM_CHECK(body->force[inside].x == 0.0f && !body->has_forces); // forces last one step
	fem_world_destroy(scene.world);
}

FEM_TEST(islands, sleeping_by_hand_stops_all) {
	Scene scene = make_bar((FemVec3){0.0f, -9.81f, 0.0f}, false);
	for (int i = 0; i < 10; i++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK_INT(fem_body_sleep(scene.body), FEM_OK);
	FemBodyState state;
	fem_body_get_state(scene.body, &state);
	FEM_CHECK(state.asleep && state.kinetic_energy == 0.0 && state.elastic_energy > 0.0);
	uint64_t hash_before = fem_world_hash(scene.world);
	FemPosition low, high, low_after, high_after;
	fem_body_get_bounds(scene.body, &low, &high);
	fem_world_step(scene.world, DT, 1);
	fem_body_get_bounds(scene.body, &low_after, &high_after);
	FEM_CHECK(low.y == low_after.y && fem_world_hash(scene.world) != hash_before); // the step count goes on
	fem_world_destroy(scene.world);
}

// All lists of the islands against the parts they come from, with two bodies and a patchwork of sleepers.
FEM_TEST(islands, lists_cover_live_parts_exactly) {
	Scene scene = make_bar((FemVec3){0.0f, 0.0f, 0.0f}, true);
	FemWorld *world = fem_world_find(scene.world);
	FEM_REQUIRE(world != NULL);
	FemBody *body = world->bodies[0];
	const FemTopology *t = body->topology;
	for (int32_t p = 0; p < t->part_count; p += 2)
		fem_body_wake_part(&world->islands, body, p);
	FEM_CHECK(fem_islands_update(&world->islands, world->bodies, world->body_capacity));
	FemIslands *islands = &world->islands;
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	FEM_CHECK_INT(fem_body_count_islands(islands, body), islands->count + islands->asleep_count);
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK); // counting leaves the lists alone
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		bool needed = false, listed = false;
		for (int32_t v = 0; v < 4 && t->user_of_tet[tet] >= 0; v++) {
			int32_t node = t->batch_nodes[(tet / FEM_LANES * 4 + v) * FEM_LANES + tet % FEM_LANES];
			needed = needed || body->part_state[t->node_part[node]] == FEM_ISLAND_LIVE;
			for (int32_t b = 0; b < islands->border_count; b++)
				needed = needed || islands->borders[b].node == node;
		}
		for (int32_t c = 0; c < islands->batch_chunk_count; c++)
			listed = listed ||
				(tet / FEM_LANES >= islands->batch_chunks[c].begin && tet / FEM_LANES < islands->batch_chunks[c].end);
		FEM_CHECK(listed || !needed);
	}
	fem_world_destroy(scene.world);
}

FEM_TEST(islands, driven_parts_never_sleep_while_they_move) {
	Scene scene = make_bar((FemVec3){0.0f, 0.0f, 0.0f}, false);
	for (int32_t i = 0; i < 16; i++)
		FEM_CHECK_INT(fem_body_drive_node(scene.body, i, (FemVec3){0.0f, 0.1f, 0.0f}), FEM_OK);
	for (int i = 0; i < 60; i++)
		fem_world_step(scene.world, DT, 1);
	FEM_CHECK(!fem_body_is_asleep(scene.body));
	FemBodyState state;
	fem_body_get_state(scene.body, &state);
	FEM_CHECK_INT(state.pinned_count, 16);
	for (int32_t i = 0; i < 16; i++)
		FEM_CHECK_INT(fem_body_release_node(scene.body, i), FEM_OK);
	fem_body_get_state(scene.body, &state);
	FEM_CHECK_INT(state.pinned_count, 0);
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	fem_world_destroy(scene.world);
}
