// Saved states that are not what they should be: cut short, damaged, forged, of another version or of another body.
// They are refused with a sentence and change nothing, or give a body that is sound.
#include "cube_scene.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "world/state/body_state.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

typedef struct Broken {
	FemRig rig;
	size_t size;
	char *state, *copy; // copy: to be damaged
	uint64_t hash;
} Broken;

// A bar that bent, broke and lost a piece, so that its state has all there is.
static Broken broken_bar(void) {
	FemRigDef def = fem_rig_bar_def(12, 2, 2, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){2.0f, 0.2f, 0.3f};
	def.material.young_modulus = 1e8f;
	def.material.stiffness_damping = 0.003f;
	def.material.breakable = true;
	def.material.toughness = 1.5e6f;
	def.material.yield_strain = 0.01f;
	def.material.max_plastic_strain = 0.004f;
	def.body.scale = (FemVec3){1.0f, 1.5f, 1.0f};
	def.body.piece_lifetime = 50.0f;
	def.body.gravity_scale = 0.5f;
	Broken bar = {.rig = fem_rig_create(&def)};
	FemPieceNumber numbers[64];
	fem_body_apply_damage(bar.rig.body, (FemPosition){1.0, 0.15, 0.15}, 0.3f, 0.5f, NULL);
	fem_body_apply_impulse_at_point(bar.rig.body, (FemVec3){0.0f, -1500.0f, 0.0f}, (FemPosition){1.9, 0.15, 0.15});
	for (int i = 0; i < 30; i++)
		fem_world_step(bar.rig.world, DT, 1);
	FEM_CHECK(fem_body_get_pieces(bar.rig.body, numbers, 64) > 2);
	FEM_CHECK_INT(fem_body_remove_piece(bar.rig.body, numbers[1]), FEM_OK);
	fem_body_apply_force(bar.rig.body, 0, (FemVec3){1.0f, 2.0f, 3.0f});
	bar.size = fem_body_save(bar.rig.body, NULL, 0);
	bar.state = malloc(bar.size);
	bar.copy = malloc(bar.size);
	fem_body_save(bar.rig.body, bar.state, bar.size);
	// What a loaded body is, and then stays.
	FEM_CHECK_INT(fem_body_load(bar.rig.body, &bar.rig.material, 1, bar.state, bar.size), FEM_OK);
	bar.hash = fem_world_hash(bar.rig.world);
	return bar;
}

static void broken_bar_end(Broken *bar) {
	FEM_CHECK_INT(fem_world_validate(bar->rig.world), FEM_OK);
	free(bar->state);
	free(bar->copy);
	fem_rig_destroy(&bar->rig);
}

static FemResult load(Broken *bar, const void *data, size_t size) {
	return fem_body_load(bar->rig.body, &bar->rig.material, 1, data, size);
}

FEM_TEST(body_state, cut_short_at_every_length) {
	Broken bar = broken_bar();
	for (size_t size = 0; size < bar.size; size++) {
		char *cut = malloc(size + 1); // of that size, for the address sanitizer
		memcpy(cut, bar.state, size);
		FEM_CHECK_INT(load(&bar, cut, size), FEM_ERROR_FORMAT);
		if (size >= sizeof(FemStateHeader)) {
			fem_state_seal(cut, size);
			FEM_CHECK_INT(load(&bar, cut, size), FEM_ERROR_FORMAT);
		}
		free(cut);
	}
	FEM_CHECK(fem_world_hash(bar.rig.world) == bar.hash);
	broken_bar_end(&bar);
}

FEM_TEST(body_state, every_damaged_byte_is_noticed) {
	Broken bar = broken_bar();
	for (size_t at = 0; at < bar.size; at++) {
		memcpy(bar.copy, bar.state, bar.size);
		bar.copy[at] ^= (char)(1 << at % 8);
		FEM_CHECK_INT(load(&bar, bar.copy, bar.size), FEM_ERROR_FORMAT);
	}
	FEM_CHECK(fem_world_hash(bar.rig.world) == bar.hash);
	broken_bar_end(&bar);
}

static uint32_t next_random(uint32_t *state) {
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

// With a checksum that is right: what was meant to be a state must be one, or be refused.
FEM_TEST(body_state, forged_bytes_give_a_sound_body_or_none) {
	Broken bar = broken_bar();
	uint32_t random = 7;
	int32_t taken = 0, rounds = 6000;
	for (int32_t i = 0; i < rounds; i++) {
		memcpy(bar.copy, bar.state, bar.size);
		for (uint32_t k = 0, flips = 1 + next_random(&random) % 4; k < flips; k++) {
			size_t at = FEM_STATE_SEALED + next_random(&random) % (bar.size - FEM_STATE_SEALED);
			bar.copy[at] = next_random(&random) % 2 ? (char)next_random(&random)
													: (char)(bar.copy[at] ^ (1 << next_random(&random) % 8));
		}
		fem_state_seal(bar.copy, bar.size);
		if (load(&bar, bar.copy, bar.size) != FEM_OK) {
			if (!FEM_CHECK(fem_world_hash(bar.rig.world) == bar.hash) || !FEM_CHECK(fem_last_error()[0] != '\0'))
				break;
			continue;
		}
		taken++;
		if (!fem_test_check(
				fem_world_validate(bar.rig.world) == FEM_OK, __FILE__, __LINE__, "round %d: %s", i, fem_last_error()))
			break;
		if (taken % 16 == 0)
			fem_world_step(bar.rig.world, DT, 1);
		FEM_CHECK_INT(load(&bar, bar.state, bar.size), FEM_OK);
		bar.hash = fem_world_hash(bar.rig.world);
	}
	printf("  %d of %d forged states were taken\n", taken, rounds);
	FEM_CHECK(taken > 0 && taken < rounds);
	broken_bar_end(&bar);
}

static void put_float(Broken *bar, size_t at, float value) {
	memcpy(bar->copy, bar->state, bar->size);
	memcpy(bar->copy + at, &value, sizeof value);
	fem_state_seal(bar->copy, bar->size);
}

// Pose, scale and settings lie at fixed places behind the header.
FEM_TEST(body_state, numbers_that_make_no_sense) {
	const float values[] = {NAN, INFINITY, -INFINITY};
	Broken bar = broken_bar();
	size_t fields = sizeof(FemStateHeader) + sizeof(FemVec3);
	for (int i = 0; i < 3; i++) {
		put_float(&bar, sizeof(FemStateHeader), values[i]); // scale
		FEM_CHECK_INT(load(&bar, bar.copy, bar.size), FEM_ERROR_FORMAT);
		put_float(&bar, fields + 24, values[i]); // rotation of the pose
		FEM_CHECK_INT(load(&bar, bar.copy, bar.size), FEM_ERROR_FORMAT);
		put_float(&bar, fields + 24 + 16 + 8, values[i]); // gravity scale
		FEM_CHECK_INT(load(&bar, bar.copy, bar.size), FEM_ERROR_FORMAT);
	}
	FEM_CHECK(fem_world_hash(bar.rig.world) == bar.hash);
	broken_bar_end(&bar);
}

static void check_sentence(
	FemBodyId body, FemMaterialId material, const void *data, size_t size, const char *cause, const char *remedy) {
	FEM_CHECK_INT(fem_body_load(body, &material, 1, data, size), FEM_ERROR_FORMAT);
	fem_test_check(strstr(fem_last_error(), cause) && strstr(fem_last_error(), remedy), __FILE__, __LINE__,
		"no \"%s\" and \"%s\" in: %s", cause, remedy, fem_last_error());
}

FEM_TEST(body_state, other_versions_are_refused_with_a_sentence) {
	Broken bar = broken_bar();
	FemStateHeader header;
	char only[32];
	memcpy(&header, bar.state, sizeof header);
	snprintf(only, sizeof only, "version %u only", FEM_STATE_VERSION);
	const uint32_t versions[] = {1, FEM_STATE_VERSION - 1, FEM_STATE_VERSION + 1, FEM_STATE_VERSION + 4};
	for (int i = 0; i < 4; i++) {
		header.version = versions[i];
		memcpy(bar.copy, bar.state, bar.size);
		memcpy(bar.copy, &header, sizeof header);
		check_sentence(bar.rig.body, bar.rig.material, bar.copy, bar.size, only,
			versions[i] < FEM_STATE_VERSION ? "older release" : "newer release");
	}
	check_sentence(
		bar.rig.body, bar.rig.material, "not a state at all, but text", 28, "no state of a body", "fem_body_save()");
	FEM_CHECK(fem_world_hash(bar.rig.world) == bar.hash);
	broken_bar_end(&bar);
}

FEM_TEST(body_state, another_bodys_state_is_refused_with_a_sentence) {
	FemRigDef def = fem_rig_cube_def(2, 1.0f), wide = def;
	wide.size.x = 1.25f; // as many nodes and tets
	FemRig narrow_rig = fem_rig_create(&def), wide_rig = fem_rig_create(&wide);
	Broken bar = broken_bar();
	check_sentence(
		narrow_rig.body, narrow_rig.material, bar.state, bar.size, "nodes and 240 tets", "the mesh it was saved with");
	char state[512];
	size_t size = fem_body_save(wide_rig.body, state, sizeof state);
	FEM_REQUIRE(size > 0 && size <= sizeof state);
	check_sentence(narrow_rig.body, narrow_rig.material, state, size, "another mesh", "the mesh it was saved with");
	FEM_CHECK_INT(fem_body_load(wide_rig.body, &wide_rig.material, 1, state, size), FEM_OK);
	broken_bar_end(&bar);
	fem_rig_destroy(&narrow_rig);
	fem_rig_destroy(&wide_rig);
}

#define LAYOUT_PARTS 6 // words before the part of each node (world/api/mesh_layout.c)

// METIS may partition in another way some day: users' numbers are all that a state goes by.
FEM_TEST(body_state, the_partition_of_the_mesh_does_not_matter) {
	Broken bar = broken_bar();
	int32_t count = fem_mesh_get_layout(bar.rig.mesh, NULL, 0), parts;
	int32_t *layout = malloc(sizeof *layout * (size_t)count);
	FEM_CHECK_INT(fem_mesh_get_layout(bar.rig.mesh, layout, count), count);
	parts = layout[3];
	FEM_REQUIRE(parts > 1);
	for (int32_t i = 0; i < bar.rig.box.node_count; i++)
		layout[LAYOUT_PARTS + i] = (layout[LAYOUT_PARTS + i] + 1) % parts;
	FemMeshDef mesh_def = fem_box_mesh_def(&bar.rig.box);
	mesh_def.layout = layout;
	mesh_def.layout_count = count;
	FemBodyDef body_def = fem_default_body_def();
	body_def.mesh = fem_mesh_create(bar.rig.world, &mesh_def);
	body_def.materials = &bar.rig.material;
	body_def.material_count = 1;
	FemBodyId other = fem_body_create(bar.rig.world, &body_def);
	FEM_CHECK_INT(fem_body_load(other, &bar.rig.material, 1, bar.state, bar.size), FEM_OK);
	FEM_CHECK_INT(fem_body_save(other, bar.copy, bar.size), bar.size);
	FEM_CHECK(memcmp(bar.copy, bar.state, bar.size) == 0);
	free(layout);
	broken_bar_end(&bar);
}
