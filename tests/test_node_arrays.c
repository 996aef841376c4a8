// The list of a body's arrays by node against what saving, hashing and splitting do with each of them. That every array
// of the record is in the list is checked when model/node_arrays.c is compiled.
#include "fem_test.h"
#include "model/node_arrays.h"
#include "scenes/box_mesh.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define NODE 3 // some node that is changed

static FemWorldId make_world(FemBody **out_body) {
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh box = fem_box_mesh(3, 2, 2, (FemVec3){1.5f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&box);
	FemBodyDef body_def = fem_default_body_def();
	int32_t pin = 0;
	world_def.worker_count = 1;
	FemWorldId world = fem_world_create(&world_def);
	FemMaterialId material = fem_material_create(world, &material_def);
	body_def.mesh = fem_mesh_create(world, &mesh_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	body_def.pinned_nodes = &pin;
	body_def.pinned_count = 1;
	*out_body = fem_body_find(fem_body_create(world, &body_def), NULL);
	fem_box_mesh_free(&box);
	return world;
}

// Another value than there is, and one that a snapshot may hold.
static void change(const FemBody *body, const FemNodeArray *array) {
	char *values = fem_node_array(body, array);
	if (array->value == FEM_NODE_BYTE)
		((uint8_t *)values)[NODE] = FEM_NODE_DRIVEN;
	else
		*(float *)(values + fem_node_value_bytes(array->value) * NODE) += 0.125f;
}

static FemBody *save_and_load(FemWorldId world, FemWorldId *out_copy) {
	size_t size = fem_world_save(world, NULL, 0);
	void *data = malloc(size);
	FEM_CHECK_INT(fem_world_save(world, data, size), size);
	*out_copy = fem_world_restore(data, size, 1);
	FEM_CHECK(!fem_world_id_is_null(*out_copy));
	free(data);
	return fem_world_find(*out_copy)->bodies[0];
}

// Fails when an array that the list calls saved does not come back, or one that it does not call saved does.
FEM_TEST(node_arrays, saved_ones_come_back) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		FemBody *body;
		FemWorldId world = make_world(&body), copy;
		change(body, array);
		FemBody *loaded = save_and_load(world, &copy);
		size_t bytes = fem_node_value_bytes(array->value) * (size_t)fem_node_array_count(body, array);
		bool same = memcmp(fem_node_array(body, array), fem_node_array(loaded, array), bytes) == 0;
		if (same != array->is_saved)
			printf("  %s\n", array->name);
		FEM_CHECK(same == array->is_saved);
		fem_world_destroy(copy);
		fem_world_destroy(world);
	}
}

// Fails when a change of an array that the list calls hashed leaves the hash as it was, or that of another changes it.
FEM_TEST(node_arrays, hash_sees_what_the_list_says) {
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		FemBody *body;
		FemWorldId world = make_world(&body);
		uint64_t before = fem_world_hash(world);
		change(body, array);
		if ((fem_world_hash(world) != before) != array->is_hashed)
			printf("  %s\n", array->name);
		FEM_CHECK((fem_world_hash(world) != before) == array->is_hashed);
		fem_world_destroy(world);
	}
}

// Fails when two rows name the same array, a row is not filled in, or arrays of the block lie over each other.
FEM_TEST(node_arrays, lie_apart) {
	FemBody *body;
	FemWorldId world = make_world(&body);
	for (int i = 0; i < FEM_NODE_ARRAY_COUNT; i++) {
		const FemNodeArray *array = &fem_node_arrays[i];
		FEM_CHECK(array->name && array->value && array->at_split);
		const char *begin = fem_node_array(body, array);
		const char *end = begin + fem_node_value_bytes(array->value) * (size_t)body->topology->node_capacity;
		FEM_CHECK(begin != NULL);
		for (int k = 0; k < i; k++) {
			const char *other = fem_node_array(body, &fem_node_arrays[k]);
			FEM_CHECK(other < begin || other >= end);
		}
	}
	fem_world_destroy(world);
}
