// The state of a broken body with bytes changed: the input is a list of places (two bytes, in the state after its
// checksum) and what to put there, so that the fuzzer needs no corpus and no luck with checksums.
#include "scenes/box_mesh.h"
#include "world/state/body_state.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Subject {
	FemWorldId world;
	FemMaterialId material;
	FemBodyId body;
	uint8_t *state, *copy;
	size_t size;
} Subject;

static Subject make_subject(void) {
	Subject subject = {0};
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBodyDef body_def = fem_default_body_def();
	FemBoxMesh box = fem_box_mesh(8, 1, 2, (FemVec3){2.0f, 0.2f, 0.3f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&box);
	FemPieceNumber numbers[64];
	int32_t pins[6] = {0, 1, 2, 3, 4, 5};
	world_def.contacts_enabled = false; // trees and contacts come after a state was taken
	material_def.young_modulus = 1e8f;
	material_def.breakable = true;
	material_def.toughness = 5e5f;
	material_def.yield_strain = 0.003f;
	material_def.max_plastic_strain = 0.01f;
	subject.world = fem_world_create(&world_def);
	subject.material = fem_material_create(subject.world, &material_def);
	body_def.mesh = fem_mesh_create(subject.world, &mesh_def);
	body_def.materials = &subject.material;
	body_def.material_count = 1;
	body_def.pinned_nodes = pins;
	body_def.pinned_count = 6;
	subject.body = fem_body_create(subject.world, &body_def);
	fem_box_mesh_free(&box);
	fem_body_apply_damage(subject.body, (FemPosition){1.0, 0.1, 0.1}, 0.3f, 0.5f, NULL);
	fem_body_apply_impulse_at_point(subject.body, (FemVec3){0.0f, -600.0f, 0.0f}, (FemPosition){1.9, 0.1, 0.15});
	for (int i = 0; i < 20; i++)
		fem_world_step(subject.world, 1.0f / 60.0f, 1);
	if (fem_body_get_pieces(subject.body, numbers, 64) < 3 || fem_body_remove_piece(subject.body, numbers[1]) != FEM_OK)
		abort(); // it has not broken: there is nothing to try
	subject.size = fem_body_save(subject.body, NULL, 0);
	subject.state = malloc(subject.size);
	subject.copy = malloc(subject.size);
	fem_body_save(subject.body, subject.state, subject.size);
	return subject;
}

static void check(FemResult result, const Subject *subject) {
	if (result != FEM_OK && !fem_last_error()[0])
		abort();
	if (result == FEM_OK &&
		(fem_world_validate(subject->world) != FEM_OK || fem_body_save(subject->body, NULL, 0) == 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static Subject subject;
	if (!subject.state)
		subject = make_subject();
	int64_t bytes = fem_memory_bytes();
	size_t length = subject.size - (size && data[0] < 16 ? data[0] : 0); // cut short now and then
	memcpy(subject.copy, subject.state, subject.size);
	for (size_t i = 1; i + 2 < size; i += 3) {
		size_t at = FEM_STATE_SEALED + (data[i] | (size_t)data[i + 1] << 8) % (length - FEM_STATE_SEALED);
		subject.copy[at] = data[i + 2];
	}
	check(fem_body_load(subject.body, &subject.material, 1, data, size), &subject);
	fem_state_seal(subject.copy, length);
	check(fem_body_load(subject.body, &subject.material, 1, subject.copy, length), &subject);
	if (fem_body_load(subject.body, &subject.material, 1, subject.state, subject.size) != FEM_OK)
		abort();
	static bool was_loaded; // before, the body had been made in another way
	if (was_loaded && fem_memory_bytes() != bytes)
		abort();
	was_loaded = true;
	return 0;
}
