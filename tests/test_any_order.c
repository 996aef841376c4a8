// Calls that a game might make between steps, in any order: after each of them all records agree, and nothing that is
// not finite is published.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"
#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>

#define DT (1.0f / 60.0f)
#define BODIES 6
#define MESHES 3
#define MATERIALS 4
#define STATE_MAX 1000000 // bytes

typedef struct Play {
	FemWorldId world;
	FemMeshId meshes[MESHES];
	FemMaterialId materials[MATERIALS];
	FemBodyId bodies[BODIES];
	int32_t mesh_of[BODIES];
	char *state; // of a body of state_mesh
	size_t state_size;
	int32_t state_mesh;
	uint32_t seed, random;
	int32_t last_call, last_place; // for messages
} Play;

static double unit(Play *play) {
	return 0.5 + 0.5 * (double)fem_random(&play->random);
}

static int32_t below(Play *play, int32_t count) {
	int32_t value = (int32_t)(unit(play) * count);
	return value < count ? value : count - 1;
}

static FemVec3 direction(Play *play, double size) {
	float x = fem_random(&play->random), y = fem_random(&play->random), z = fem_random(&play->random);
	return (FemVec3){(float)size * x, (float)size * y, (float)size * z};
}

static void make_world(Play *play, int32_t workers) {
	static const int32_t cells[MESHES][3] = {{6, 1, 6}, {10, 2, 2}, {3, 3, 3}};
	static const FemVec3 sizes[MESHES] = {{0.6f, 0.04f, 0.6f}, {1.0f, 0.2f, 0.2f}, {0.3f, 0.3f, 0.3f}};
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = true;
	def.worker_count = workers;
	play->world = fem_world_create(&def);
	for (int i = 0; i < MESHES; i++) {
		FemBoxMesh box = fem_box_mesh(cells[i][0], cells[i][1], cells[i][2], sizes[i], FEM_CELLS_FIVE);
		FemMeshDef mesh = fem_box_mesh_def(&box);
		play->meshes[i] = fem_mesh_create(play->world, &mesh);
		fem_box_mesh_free(&box);
	}
	for (int i = 0; i < MATERIALS; i++) {
		FemMaterialDef material = fem_default_material_def();
		material.young_modulus = i == 3 ? 1e5f : 1e9f;
		material.density = 2000.0f;
		material.breakable = i < 3;
		material.toughness = 1e5f;
		material.restitution = i == 0 ? 0.3f : 0.0f;
		if (i == 2) {
			material.yield_strain = 1e-4f;
			material.max_plastic_strain = 0.1f;
		}
		material.impact_modulus = i == 0 ? 7e10f : 0.0f;
		play->materials[i] = fem_material_create(play->world, &material);
		fem_test_check(fem_material_is_valid(play->materials[i]), __FILE__, __LINE__, "%s", fem_last_error());
	}
}

static void make_body(Play *play, int32_t place) {
	FemMaterialId material = play->materials[below(play, MATERIALS)];
	FemBodyDef def = fem_default_body_def();
	int32_t pins[2] = {0, 1};
	play->mesh_of[place] = below(play, MESHES);
	def.mesh = play->meshes[play->mesh_of[place]];
	def.materials = &material;
	def.material_count = 1;
	def.position = (FemPosition){0.8 * (place % 3), 0.1 + 0.7 * unit(play), 0.8 * (place / 3)};
	def.linear_velocity = direction(play, 5.0);
	def.dynamics = (FemDynamics)below(play, 5);
	def.starts_asleep = below(play, 4) == 0;
	if (below(play, 4) == 0) {
		def.pinned_nodes = pins;
		def.pinned_count = 2;
	}
	play->bodies[place] = fem_body_create(play->world, &def);
	FEM_CHECK(fem_body_is_valid(play->bodies[place]));
}

// It stands still: nodes that went on each by itself would tear it.
static void set_kinematic(FemBodyId body, bool kinematic) {
	(void)fem_body_set_kinematic(body, kinematic);
	for (int32_t node = 0; kinematic && node < fem_body_get_node_count(body); node++)
		(void)fem_body_set_velocity(body, node, (FemVec3){0.0f, 0.0f, 0.0f});
}

// What is refused is refused, and changes nothing.
static void call(Play *play, int32_t place) {
	FemBodyId body = play->bodies[place];
	FemPosition low = {0}, high = {0};
	(void)fem_body_get_bounds(body, &low, &high);
	FemPosition at = {low.x + unit(play) * (high.x - low.x), low.y + unit(play) * (high.y - low.y),
		low.z + unit(play) * (high.z - low.z)};
	FemPieceNumber pieces[64] = {0};
	int32_t count = fem_body_get_pieces(body, pieces, 64), node = below(play, fem_body_get_node_count(body));
	FemPieceNumber piece = pieces[below(play, count < 64 ? count : 64)];
	play->last_call = below(play, 20);
	play->last_place = place;
	switch (play->last_call) {
	case 0:
		(void)fem_body_destroy(body);
		make_body(play, place);
		break;
	case 1:
	case 2:
	case 3: (void)fem_body_set_dynamics(body, (FemDynamics)below(play, 5)); break;
	case 4: (void)fem_body_apply_impulse_at_point(body, direction(play, pow(10.0, 3.0 * unit(play))), at); break;
	case 5: (void)fem_body_apply_explosion(body, at, 0.7f, (float)pow(10.0, 4.0 * unit(play))); break;
	case 6: (void)fem_body_apply_damage(body, at, 0.2f, 0.9f, NULL); break;
	case 7:
		play->state_size = fem_body_save(body, play->state, STATE_MAX);
		play->state_mesh = play->mesh_of[place];
		FEM_CHECK(play->state_size > 0 && play->state_size <= STATE_MAX);
		break;
	case 8:
	case 9:
		if (play->state_size > 0) {
			FemMaterialId material = play->materials[below(play, MATERIALS)];
			FemResult result = fem_body_load(body, &material, 1, play->state, play->state_size);
			FEM_CHECK((result == FEM_OK) == (play->state_mesh == play->mesh_of[place]));
		}
		break;
	case 10: (void)fem_body_set_materials(body, &play->materials[below(play, MATERIALS)], 1); break;
	case 11: (void)fem_body_teleport(body, at, (FemQuat){0.0f, 0.6f, 0.0f, 0.8f}); break;
	case 12: set_kinematic(body, below(play, 3) == 0); break;
	case 13: (void)(below(play, 2) == 0 ? fem_body_sleep(body) : fem_body_wake(body)); break;
	case 14: (void)fem_body_remove_piece(body, piece); break;
	case 15: (void)fem_body_set_toughness_scale(body, below(play, 3) == 0 ? INFINITY : (float)unit(play)); break;
	case 16: (void)fem_body_release_node(body, node); break;
	case 17: (void)fem_body_set_velocity(body, node, direction(play, 30.0)); break;
	case 18: (void)(below(play, 2) == 0 ? fem_body_sleep_piece(body, piece) : fem_body_wake_piece(body, piece)); break;
	case 19: (void)fem_body_set_piece_limits(body, below(play, 20), (float)(3.0 * unit(play)), 0.1f); break;
	default: break;
	}
}

static bool is_sound(const Play *play, int32_t round, const char *when) {
	bool sound = fem_world_validate(play->world) == FEM_OK;
	fem_test_check(sound, __FILE__, __LINE__, "seed %u, round %d, after the %s %d on body %d: %s", play->seed, round,
		when, play->last_call, play->last_place, fem_last_error());
	for (int32_t i = 0; i < BODIES; i++) {
		FemBodyState state;
		sound &= FEM_CHECK_INT(fem_body_get_state(play->bodies[i], &state), FEM_OK);
		sound &= FEM_CHECK(isfinite(state.center.x + state.center.y + state.center.z + state.kinetic_energy));
	}
	return sound;
}

static uint64_t play_on(uint32_t seed, int32_t rounds, int32_t workers) {
	Play play = {.seed = seed, .random = seed, .state = malloc(STATE_MAX)};
	make_world(&play, workers);
	for (int32_t i = 0; i < BODIES; i++)
		make_body(&play, i);
	for (int32_t round = 0; round < rounds; round++) {
		call(&play, below(&play, BODIES));
		if (!is_sound(&play, round, "call"))
			break;
		fem_world_step(play.world, DT, 1);
		if (!is_sound(&play, round, "step"))
			break;
	}
	uint64_t hash = fem_world_hash(play.world);
	fem_world_destroy(play.world);
	free(play.state);
	return hash;
}

static void check_seed(uint32_t seed) {
	uint64_t one = play_on(seed, 250, 1), three = seed % 4 == 0 ? play_on(seed, 250, 3) : one;
	fem_test_check(one == three, __FILE__, __LINE__, "seed %u differs with three workers", seed);
}

FEM_TEST(any_order, of_calls_leaves_a_sound_world) {
	int32_t seeds = fem_long_tests() ? 200 : 8;
	for (uint32_t seed = 1; seed <= (uint32_t)seeds; seed++)
		check_seed(seed);
}

// Joined bodies that are torn apart while they are kinematic, and let go: bonds gave back the energy of gaps of metres.
FEM_TEST(any_order, tears_bonds_without_throwing_pieces) {
	const uint32_t seeds[] = {43, 57, 252};
	for (int i = 0; i < 3; i++)
		check_seed(seeds[i]);
}
