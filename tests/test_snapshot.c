// Saving and restoring a world, state hash, validation.
#include "base/hash.h"
#include "fem_test.h"
#include "model/piece.h"
#include "scenes/box_mesh.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

// A pinned bar that yields, a block falling on the ground, a sleeper, a cube held by all its nodes (which counts its
// still steps), and free slots of each kind.
static FemWorldId make_world(int32_t worker_count) {
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh bar = fem_box_mesh(10, 2, 2, (FemVec3){5.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemBoxMesh cube = fem_box_mesh(2, 2, 2, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_KUHN);
	FemMeshDef bar_def = fem_box_mesh_def(&bar), cube_def = fem_box_mesh_def(&cube);
	FemBodyDef body_def = fem_default_body_def();
	int32_t pins[27];
	for (int32_t i = 0; i < 27; i++)
		pins[i] = i;
	world_def.worker_count = worker_count;
	world_def.ground_enabled = true;
	world_def.ground_height = -2.0;
	FemWorldId world = fem_world_create(&world_def);
	FemMaterialId spare = fem_material_create(world, &material_def);
	material_def.stiffness_damping = 0.01f;
	FemMaterialId rubber = fem_material_create(world, &material_def);
	material_def.yield_strain = 0.01f;
	material_def.max_plastic_strain = 0.2f;
	FemMaterialId soft_metal = fem_material_create(world, &material_def);
	FEM_CHECK_INT(fem_material_destroy(spare), FEM_OK);
	body_def.mesh = fem_mesh_create(world, &bar_def);
	body_def.materials = &soft_metal;
	body_def.material_count = 1;
	body_def.pinned_nodes = pins;
	body_def.pinned_count = 9;
	body_def.user_data = 42;
	fem_body_create(world, &body_def);
	body_def.pinned_count = 0;
	body_def.mesh = fem_mesh_create(world, &cube_def);
	body_def.materials = &rubber;
	body_def.position = (FemPosition){9000.0, 0.0, 0.0};
	body_def.angular_velocity = (FemVec3){1.0f, 0.0f, 2.0f};
	FemBodyId gone = fem_body_create(world, &body_def);
	fem_body_create(world, &body_def);
	FEM_CHECK_INT(fem_body_destroy(gone), FEM_OK);
	body_def.starts_asleep = true;
	body_def.position = (FemPosition){30.0, 8.0, 0.0};
	body_def.scale = (FemVec3){1.0f, 2.0f, 0.5f};
	fem_body_create(world, &body_def); // takes the free slot
	gone = fem_body_create(world, &body_def);
	FEM_CHECK_INT(fem_body_destroy(gone), FEM_OK);
	body_def.starts_asleep = false;
	body_def.pinned_count = 27;
	fem_body_create(world, &body_def);
	gone = fem_body_create(world, &body_def);
	FEM_CHECK_INT(fem_body_destroy(gone), FEM_OK); // leaves a slot with a later generation
	fem_box_mesh_free(&bar);
	fem_box_mesh_free(&cube);
	return world;
}

static void run(FemWorldId world, int steps) {
	for (int i = 0; i < steps; i++)
		fem_world_step(world, DT, 1);
}

static void *save(FemWorldId world, size_t *out_size) {
	*out_size = fem_world_save(world, NULL, 0);
	void *data = malloc(*out_size);
	if (data)
		FEM_CHECK_INT(fem_world_save(world, data, *out_size), *out_size);
	return data;
}

FEM_TEST(snapshot, goes_on_bitwise) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = make_world(1);
	run(world, 40);
	size_t size;
	void *data = save(world, &size);
	FemWorldId copy = fem_world_restore(data, size, 2);
	if (!FEM_CHECK(fem_world_is_valid(copy)))
		printf("  %s\n", fem_last_error());
	FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
	for (int i = 0; i < 60; i++) {
		fem_world_step(world, DT, 1);
		fem_world_step(copy, DT, 1);
		if (!FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world)))
			break;
	}
	FEM_CHECK_INT(fem_world_validate(copy), FEM_OK);
	FemStatistics a, b;
	fem_world_get_statistics(world, &a);
	fem_world_get_statistics(copy, &b);
	FEM_CHECK_INT(a.step_count, b.step_count);
	FEM_CHECK_INT(a.iterations, b.iterations);
	free(data);
	fem_world_destroy(world);
	fem_world_destroy(copy);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(snapshot, ids_and_settings_are_kept) {
	FemWorldId world = make_world(1);
	run(world, 3);
	size_t size;
	void *data = save(world, &size);
	FemWorldId copy = fem_world_restore(data, size, 0);
	FEM_REQUIRE(fem_world_is_valid(copy));
	FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
	FEM_CHECK_INT(fem_world_get_worker_count(copy), 1);
	FemBodyId bodies[8];
	FemPosition low = {-1e6, -1e6, -1e6}, high = {1e6, 1e6, 1e6};
	FEM_CHECK_INT(fem_world_query_box(world, low, high, bodies, 8), 4);
	for (int i = 0; i < 4; i++) {
		FemBodyId twin = fem_body_in_world(bodies[i], copy);
		FEM_CHECK(fem_body_is_valid(twin));
		FEM_CHECK_INT(twin.generation, bodies[i].generation);
		FEM_CHECK_INT(fem_body_get_user_data(twin), 42);
		FEM_CHECK(fem_body_is_asleep(twin) == fem_body_is_asleep(bodies[i]));
	}
	FEM_CHECK_INT(fem_body_in_world((FemBodyId){7, 0, 1}, copy).index1, 0);
	FEM_CHECK_INT(fem_body_in_world(bodies[0], (FemWorldId){0}).index1, 0);
	free(data);
	fem_world_destroy(world);
	fem_world_destroy(copy);
}

FEM_TEST(snapshot, empty_world) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world = fem_world_create(&def);
	size_t size;
	void *data = save(world, &size);
	FemWorldId copy = fem_world_restore(data, size, 1);
	FEM_CHECK(fem_world_is_valid(copy));
	FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
	free(data);
	fem_world_destroy(world);
	fem_world_destroy(copy);
}

FEM_TEST(snapshot, short_buffers_are_left_alone) {
	FemWorldId world = make_world(1);
	size_t size = fem_world_save(world, NULL, 0);
	char *data = malloc(size);
	FEM_REQUIRE(data != NULL);
	memset(data, 0x5a, size);
	FEM_CHECK_INT(fem_world_save(world, data, size - 1), size);
	for (size_t i = 0; i < size; i++) {
		if (data[i] != 0x5a) {
			FEM_CHECK(data[i] == 0x5a);
			break;
		}
	}
	free(data);
	fem_world_destroy(world);
}

FEM_TEST(snapshot, damage_is_found) {
	FemWorldId world = make_world(1);
	run(world, 5);
	int64_t before = fem_memory_bytes();
	size_t size;
	char *data = save(world, &size);
	FEM_REQUIRE(data != NULL);
	FEM_CHECK_INT(fem_world_restore(NULL, size, 1).index1, 0);
	FEM_CHECK_INT(fem_world_restore(data, 0, 1).index1, 0);
	FEM_CHECK_INT(fem_world_restore(data, 20, 1).index1, 0);
	FEM_CHECK_INT(fem_world_restore(data, size - 1, 1).index1, 0);
	for (size_t at = 0; at < size; at += 1 + size / 300) {
		data[at] = (char)(data[at] ^ 0x10);
		FEM_CHECK_INT(fem_world_restore(data, size, 1).index1, 0);
		data[at] = (char)(data[at] ^ 0x10);
	}
	FEM_CHECK_INT(fem_memory_bytes(), before);
	free(data);
	fem_world_destroy(world);
}

// A force that was set before the saving acts in the next step and no longer.
FEM_TEST(snapshot, forces_set_before_end_with_the_step) {
	FemWorldId world = make_world(1);
	run(world, 3);
	FemBodyId body;
	FEM_REQUIRE(fem_world_query_box(
					world, (FemPosition){8990.0, -10.0, -10.0}, (FemPosition){9010.0, 10.0, 10.0}, &body, 1) == 1);
	FEM_CHECK_INT(fem_body_apply_force(body, 0, (FemVec3){0.0f, 500.0f, 0.0f}), FEM_OK);
	size_t size;
	void *data = save(world, &size);
	FemWorldId copy = fem_world_restore(data, size, 1);
	run(world, 5);
	run(copy, 5);
	FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
	free(data);
	fem_world_destroy(copy);
	fem_world_destroy(world);
}

// Damage under a right checksum, as a forger or a bug in saving would make it: refused or whole, never a crash.
static void forge(FemWorldId world) {
	enum { HEADER = 32, CHECKSUM = 24, TRIES = 300 };
	int64_t before = fem_memory_bytes();
	size_t size;
	char *data = save(world, &size);
	FEM_REQUIRE(data != NULL);
	uint32_t random = 12345;
	for (int i = 0; i < TRIES; i++) {
		random = random * 1664525u + 1013904223u;
		size_t tail = i % 3 == 2 ? size - HEADER - 4000 : 0; // colliders and contacts stand at the end
		size_t at = HEADER + tail + random % (i % 3 == 0 ? size - HEADER : 3000);
		char kept = data[at];
		data[at] = (char)(random >> 24);
		uint64_t checksum = fem_hash_bytes(FEM_HASH_START, data + HEADER, size - HEADER);
		memcpy(data + CHECKSUM, &checksum, sizeof checksum);
		FemWorldId copy = fem_world_restore(data, size, 1);
		if (fem_world_is_valid(copy)) {
			FEM_CHECK_INT(fem_world_validate(copy), FEM_OK);
			run(copy, 1);
			fem_world_destroy(copy);
		}
		data[at] = kept;
	}
	FEM_CHECK_INT(fem_memory_bytes(), before);
	free(data);
	fem_world_destroy(world);
}

FEM_TEST(snapshot, forged_data_never_crash) {
	FemWorldId world = make_world(1);
	run(world, 5);
	forge(world);
}

// ---- contact

typedef struct ContactWorld {
	FemWorldId world;
	FemColliderId pusher, ball; // kinematic, dynamic
} ContactWorld;

static FemColliderId add_collider(FemWorldId world, FemColliderKind kind, FemShapeDef shape, FemPosition position) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = kind;
	def.shape = shape;
	def.position = position;
	def.mass = 20.0f;
	def.user_data = 7;
	FemColliderId collider = fem_collider_create(world, &def);
	FEM_CHECK(fem_collider_is_valid(collider));
	return collider;
}

static void add_colliders(ContactWorld *scene) {
	static const FemVec3 points[5] = {
		{-2.0f, -0.5f, -2.0f}, {2.0f, -0.5f, -2.0f}, {2.0f, -0.5f, 2.0f}, {-2.0f, -0.5f, 2.0f}, {0.0f, 0.5f, 0.0f}};
	static const int32_t triangles[6] = {0, 2, 1, 0, 3, 2};
	FemShapeDef box = {.type = FEM_SHAPE_BOX, .half_extents = {0.5f, 0.5f, 0.5f}};
	FemShapeDef plane = {.type = FEM_SHAPE_HALF_SPACE}, sphere = {.type = FEM_SHAPE_SPHERE, .radius = 0.3f};
	FemShapeDef hull = {.type = FEM_SHAPE_CONVEX, .points = points, .point_count = 5};
	FemShapeDef floor = {.type = FEM_SHAPE_TRIANGLES,
		.points = points,
		.point_count = 4,
		.triangles = triangles,
		.triangle_count = 2,
		.thickness = 0.2f};
	FemColliderId gone = add_collider(scene->world, FEM_COLLIDER_STATIC, box, (FemPosition){200.0, 0.0, 0.0});
	add_collider(scene->world, FEM_COLLIDER_STATIC, plane, (FemPosition){0.0, 0.0, 0.0});
	scene->pusher = add_collider(scene->world, FEM_COLLIDER_KINEMATIC, box, (FemPosition){38.4, 0.5, 0.5});
	scene->ball = add_collider(scene->world, FEM_COLLIDER_DYNAMIC, sphere, (FemPosition){0.5, 4.2, 0.5});
	add_collider(scene->world, FEM_COLLIDER_STATIC, hull, (FemPosition){60.5, 1.0, 0.5});
	add_collider(scene->world, FEM_COLLIDER_STATIC, floor, (FemPosition){80.5, 1.0, 0.5});
	FEM_CHECK_INT(fem_collider_destroy(gone), FEM_OK);
}

// Three cubes on each other under a ball, two that meet in the air and turn (restored, their trees have another shape),
// one that is pushed, one on a hull and one on triangles (whose node 4 no triangle has), a limp bar over a cube.
static ContactWorld make_contact_world(int32_t worker_count) {
	static const FemPosition places[8] = {{0.0, 0.02, 0.0}, {0.1, 1.06, 0.0}, {0.0, 2.11, 0.1}, {20.0, 30.0, 0.0},
		{21.3, 30.2, 0.1}, {39.0, 0.01, 0.0}, {60.2, 1.6, 0.0}, {80.0, 0.55, 0.0}};
	ContactWorld scene = {0};
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh cube = fem_box_mesh(2, 2, 2, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_KUHN);
	FemBoxMesh bar = fem_box_mesh(16, 1, 1, (FemVec3){4.0f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemMeshDef cube_def = fem_box_mesh_def(&cube), bar_def = fem_box_mesh_def(&bar);
	FemBodyDef body_def = fem_default_body_def();
	world_def.worker_count = worker_count;
	world_def.contact_capacity = 2048;
	world_def.contact_push = 0.25f;
	scene.world = fem_world_create(&world_def);
	material_def.stiffness_damping = 0.01f;
	material_def.friction = 0.7f;
	FemMaterialId material = fem_material_create(scene.world, &material_def);
	material_def.young_modulus = 2e4f;
	FemMaterialId limp = fem_material_create(scene.world, &material_def);
	body_def.mesh = fem_mesh_create(scene.world, &cube_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	add_colliders(&scene);
	for (int i = 0; i < 8; i++) {
		body_def.position = places[i];
		body_def.layer = i == 5 ? 3 : 1;
		body_def.self_contact = i != 6;
		body_def.linear_velocity = (FemVec3){i == 4 ? -3.0f : 0.0f, 0.0f, 0.0f};
		body_def.angular_velocity = i == 3 || i == 4 ? (FemVec3){4.0f, 2.0f, 3.0f} : (FemVec3){0.0f, 0.0f, 0.0f};
		FEM_CHECK(fem_body_is_valid(fem_body_create(scene.world, &body_def)));
	}
	body_def.position = (FemPosition){100.0, 0.01, 0.0};
	fem_body_create(scene.world, &body_def);
	body_def.mesh = fem_mesh_create(scene.world, &bar_def);
	body_def.materials = &limp;
	body_def.position = (FemPosition){98.3, 1.05, 0.4};
	fem_body_create(scene.world, &body_def);
	fem_box_mesh_free(&bar);
	fem_box_mesh_free(&cube);
	return scene;
}

// The pusher goes back and forth; the ball is moved by what the engine says of it.
static void drive_and_step(const ContactWorld *scene, int step) {
	static const FemQuat no_rotation = {0.0f, 0.0f, 0.0f, 1.0f};
	FemColliderResult result;
	FemVec3 velocity = {step % 120 < 60 ? 0.5f : -0.5f, 0.0f, 0.0f}, still = {0.0f, 0.0f, 0.0f};
	FemWorld *world = fem_world_find(scene->world);
	FemPosition at = world->colliders[scene->pusher.index1 - 1].position;
	at.x += (double)(velocity.x * DT);
	FEM_CHECK_INT(fem_collider_set_motion(scene->pusher, at, no_rotation, velocity, still), FEM_OK);
	FEM_CHECK_INT(fem_collider_get_result(scene->ball, &result), FEM_OK);
	at = world->colliders[scene->ball.index1 - 1].position;
	at = (FemPosition){at.x + (double)(result.linear_velocity.x * DT), at.y + (double)(result.linear_velocity.y * DT),
		at.z + (double)(result.linear_velocity.z * DT)};
	fem_collider_set_motion(scene->ball, at, no_rotation, result.linear_velocity, result.angular_velocity);
	FEM_CHECK_INT(fem_world_step(scene->world, DT, 1) & ~FEM_STEP_SOLVER_CAPPED, FEM_STEP_OK);
}

static ContactWorld restore_contact(const ContactWorld *scene, const void *data, size_t size, int32_t workers) {
	ContactWorld copy = {.world = fem_world_restore(data, size, workers)};
	if (!FEM_CHECK(fem_world_is_valid(copy.world)))
		printf("  %s\n", fem_last_error());
	copy.pusher = fem_collider_in_world(scene->pusher, copy.world);
	copy.ball = fem_collider_in_world(scene->ball, copy.world);
	FEM_CHECK(fem_collider_is_valid(copy.pusher) && fem_collider_is_valid(copy.ball));
	FEM_CHECK_INT(fem_collider_get_user_data(copy.ball), 7);
	return copy;
}

FEM_TEST(snapshot, contacts_go_on_bitwise) {
	static const int saves[3] = {7, 45, 150};
	static const int32_t workers[3] = {1, 2, 4};
	int64_t before = fem_memory_bytes();
	for (int i = 0; i < 3; i++) {
		ContactWorld scene = make_contact_world(1);
		int step = 0;
		size_t size;
		for (; step < saves[i]; step++)
			drive_and_step(&scene, step);
		void *data = save(scene.world, &size);
		ContactWorld copy = restore_contact(&scene, data, size, workers[i]);
		FEM_CHECK(fem_world_hash(copy.world) == fem_world_hash(scene.world));
		const FemContactEvent *events[2];
		FEM_CHECK(fem_world_get_contact_events(scene.world, &events[0]) ==
			fem_world_get_contact_events(copy.world, &events[1]));
		FEM_CHECK(i == 0 || fem_world_find(scene.world)->contacts.contact_count > 20);
		for (; step < saves[i] + 60; step++) {
			drive_and_step(&scene, step);
			drive_and_step(&copy, step);
			if (!fem_test_check(fem_world_hash(copy.world) == fem_world_hash(scene.world), __FILE__, __LINE__,
					"saved after %d, parts at step %d", saves[i], step))
				break;
		}
		FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
		FEM_CHECK_INT(fem_world_validate(copy.world), FEM_OK);
		free(data);
		fem_world_destroy(scene.world);
		fem_world_destroy(copy.world);
	}
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(snapshot, forged_contacts_never_crash) {
	ContactWorld scene = make_contact_world(1);
	run(scene.world, 40);
	forge(scene.world);
}

// Sleepers have no contacts and no pairs that are looked at: what was under them must still wake them.
FEM_TEST(snapshot, sleepers_on_a_collider_go_on_bitwise) {
	ContactWorld scene = make_contact_world(2);
	size_t size;
	for (int step = 0; step < 400; step++)
		fem_world_step(scene.world, DT, 1);
	FemWorld *world = fem_world_find(scene.world);
	FEM_REQUIRE(world && world->bodies[7]);
	FEM_CHECK(fem_body_is_asleep(fem_body_id(world, 7)));
	void *data = save(scene.world, &size);
	ContactWorld copy = restore_contact(&scene, data, size, 1);
	FemColliderId floor = fem_collider_id(world, 5), hull = fem_collider_id(world, 4);
	FEM_CHECK_INT(fem_collider_destroy(fem_collider_in_world(floor, copy.world)), FEM_OK);
	FEM_CHECK_INT(fem_collider_destroy(fem_collider_in_world(hull, copy.world)), FEM_OK);
	FEM_CHECK_INT(fem_collider_destroy(floor), FEM_OK);
	FEM_CHECK_INT(fem_collider_destroy(hull), FEM_OK);
	FEM_CHECK(!fem_body_is_asleep(fem_body_id(world, 7)) || world->bodies[7]->live_part_count > 0);
	for (int step = 0; step < 60; step++) {
		fem_world_step(scene.world, DT, 1);
		fem_world_step(copy.world, DT, 1);
		if (!FEM_CHECK(fem_world_hash(copy.world) == fem_world_hash(scene.world)))
			break;
	}
	free(data);
	fem_world_destroy(scene.world);
	fem_world_destroy(copy.world);
}

// ---- validation

// Breaks one thing in the world's own record, expects the fault to be found, and puts it back.
#define CHECK_FOUND(world_id, place, value, word) \
	do { \
		__typeof__(place) kept = (place); \
		(place) = (value); \
		FEM_CHECK_INT(fem_world_validate(world_id), FEM_ERROR_INVALID_ARGUMENT); \
		fem_test_check( \
			strstr(fem_last_error(), word) != NULL, __FILE__, __LINE__, "\"%s\" not in: %s", word, fem_last_error()); \
		(place) = kept; \
		FEM_CHECK_INT(fem_world_validate(world_id), FEM_OK); \
	} while (0)

FEM_TEST(validate, faults_of_contact_are_found) {
	ContactWorld scene = make_contact_world(1);
	FemWorldId id = scene.world;
	run(id, 60);
	FemWorld *world = fem_world_find(id);
	FEM_REQUIRE(world && world->contacts.contact_count > 20);
	FEM_CHECK_INT(fem_world_validate(id), FEM_OK);
	FemCollider *collider = &world->colliders[2];
	FemContact *contact = &world->contacts.contacts[3];
	CHECK_FOUND(id, collider->position.x, NAN, "not finite");
	CHECK_FOUND(id, collider->rotation.w, 2.0f, "rotation");
	CHECK_FOUND(id, collider->mass, 3.0f, "mass");
	CHECK_FOUND(id, collider->sweep_proxy, 0, "proxy");
	CHECK_FOUND(id, collider->result.impulse.y, INFINITY, "result");
	CHECK_FOUND(id, world->bodies[0]->pieces[0].sweep_proxy, world->bodies[1]->pieces[0].sweep_proxy, "proxy");
	CHECK_FOUND(id, world->collider_count, 9, "colliders");
	CHECK_FOUND(id, world->contacts.contact_count, -1, "contacts");
	CHECK_FOUND(id, contact->normal_impulse, NAN, "not finite");
	CHECK_FOUND(id, contact->side[0].body, 1000, "body");
	CHECK_FOUND(id, contact->side[0].nodes[2], -1, "node");
	CHECK_FOUND(id, contact->side[0].body, 7, "place");
	uint64_t hash = fem_world_hash(id);
	contact->slip += 1.0f;
	FEM_CHECK(fem_world_hash(id) != hash);
	contact->slip -= 1.0f;
	collider->linear_velocity.x += 1.0f;
	FEM_CHECK(fem_world_hash(id) != hash);
	collider->linear_velocity.x -= 1.0f;
	fem_world_destroy(id);
}

FEM_TEST(validate, faults_of_bodies_are_found) {
	FemWorldId id = make_world(1);
	run(id, 2);
	FemWorld *world = fem_world_find(id);
	FEM_REQUIRE(world && world->bodies[0]);
	FEM_CHECK_INT(fem_world_validate(id), FEM_OK);
	FemBody *body = world->bodies[0];
	CHECK_FOUND(id, body->position[5].x, NAN, "not finite");
	CHECK_FOUND(id, body->velocity[5].y, INFINITY, "not finite");
	CHECK_FOUND(id, body->mass[7], 0.0f, "mass");
	CHECK_FOUND(id, body->rotation[9].w, 3.0f, "rotation");
	CHECK_FOUND(id, body->node_kind[0], 9, "kind");
	CHECK_FOUND(id, body->pinned_count, 1, "pinned");
	CHECK_FOUND(id, body->live_part_count, 0, "live parts");
	CHECK_FOUND(id, body->tet_material[0], 1000, "material");
	CHECK_FOUND(id, body->batches[0].volume[0], 0.0f, "volume");
	CHECK_FOUND(id, body->generation, 0, "generation");
	CHECK_FOUND(id, world->body_count, 9, "bodies");
	CHECK_FOUND(id, world->meshes[0].use_count, 5, "counts 5");
	CHECK_FOUND(id, world->materials[1].use_count, 5, "counts 5");
	CHECK_FOUND(id, world->event_count, -1, "events");
	fem_world_destroy(id);
}

FEM_TEST(validate, faults_of_topology_and_islands_are_found) {
	FemWorldId id = make_world(1);
	run(id, 2);
	FemWorld *world = fem_world_find(id);
	FEM_REQUIRE(world && world->meshes[0].in_use && world->islands.count > 0 && !world->islands.dirty);
	FemTopology *t = world->meshes[0].topology;
	CHECK_FOUND(id, t->row_column[4], t->node_count, "row");
	CHECK_FOUND(id, t->edge_slots[3], 0, "slots");
	CHECK_FOUND(id, t->node_of_user[2], 0, "user number");
	CHECK_FOUND(id, t->user_of_tet[3], -1, "lane");
	CHECK_FOUND(id, t->batch_nodes[3], -1, "names node");
	CHECK_FOUND(id, t->part_nodes[0].end, 1, "part");
	CHECK_FOUND(id, t->node_tets[3], 0, "tet");
	CHECK_FOUND(id, t->edge_tets[3], 0, "edge");
	CHECK_FOUND(id, t->triangles[3], t->triangles[4], "face");
	CHECK_FOUND(id, world->islands.part_list[0], 1000, "part");
	CHECK_FOUND(id, world->islands.islands[0].node_count, 1, "nodes");
	fem_world_destroy(id);
}

FEM_TEST(validate, hash_sees_state_but_not_sign_of_zero) {
	FemWorldId id = make_world(1);
	FemWorld *world = fem_world_find(id);
	FEM_REQUIRE(world != NULL);
	FemBody *body = world->bodies[0];
	uint64_t hash = fem_world_hash(id);
	body->velocity[3].x = -0.0f;
	FEM_CHECK(fem_world_hash(id) == hash);
	body->velocity[3].x = 1e-30f;
	FEM_CHECK(fem_world_hash(id) != hash);
	body->velocity[3].x = 0.0f;
	body->part_still[0] = 1;
	FEM_CHECK(fem_world_hash(id) != hash);
	body->part_still[0] = 0;
	FemWorldId twin = make_world(3);
	FEM_CHECK(fem_world_hash(twin) == hash);
	fem_world_destroy(id);
	fem_world_destroy(twin);
}

// Fails when what touches depends on how much room for it there is: the world has room from when it held 120 bodies,
// its copy starts with none, and the 24 that are left stand in each other.
FEM_TEST(snapshot, room_decides_nothing) {
	FemWorldDef def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh cube = fem_box_mesh(1, 1, 1, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemMeshDef cube_def = fem_box_mesh_def(&cube);
	FemBodyDef body_def = fem_default_body_def();
	FemWorldId world = fem_world_create(&def);
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyId bodies[120];
	body_def.mesh = fem_mesh_create(world, &cube_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	for (int i = 0; i < 120; i++) {
		body_def.position.x = 0.04 * i;
		bodies[i] = fem_body_create(world, &body_def);
	}
	run(world, 2);
	for (int i = 24; i < 120; i++)
		fem_body_destroy(bodies[i]);
	size_t size;
	void *data = save(world, &size);
	FemWorldId copy = fem_world_restore(data, size, 1);
	FEM_REQUIRE(fem_world_is_valid(copy));
	FEM_CHECK(fem_world_find(world)->sweep.pair_capacity > 2 * fem_world_find(copy)->sweep.pair_capacity);
	for (int i = 0; i < 5; i++) {
		uint32_t errors = fem_world_step(world, 1.0f / 60.0f, 1);
		FEM_CHECK_INT(fem_world_step(copy, 1.0f / 60.0f, 1), errors);
		FEM_CHECK(fem_world_hash(world) == fem_world_hash(copy));
	}
	FEM_CHECK(fem_world_find(copy)->sweep.pair_count > 150 && fem_world_find(copy)->contacts.contact_count > 3000);
	free(data);
	fem_box_mesh_free(&cube);
	fem_world_destroy(copy);
	fem_world_destroy(world);
}
