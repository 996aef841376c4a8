// A brittle beam falls onto a post and breaks. Needs the public headers and the static library alone:
//
//   scons static
//   g++ -I src -x c tools/example/falling_beam.c -x none build/libfem_destruction.a -lpthread -o falling_beam
#include "fem_destruction.h"

#include <stdio.h>

#define CELLS 20 // along the beam, each a cube of 0.1 m cut into 6 tets around its diagonal

static FemVec3 nodes[4 * (CELLS + 1)];
static int32_t tets[4 * 6 * CELLS];

static void make_beam(void) {
	static const int paths[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}}; // corners between 0 and 7
	for (int i = 0; i <= CELLS; i++)
		for (int k = 0; k < 4; k++)
			nodes[4 * i + k] = (FemVec3){0.1f * (float)i - 1.0f, 0.1f * (float)(k & 1), 0.1f * (float)(k >> 1)};
	for (int32_t t = 0; t < 6 * CELLS; t++) {
		const int corners[4] = {0, paths[t % 6][0], paths[t % 6][1], 7};
		for (int v = 0; v < 4; v++) // bit 0 of a corner is along the beam, bits 1 and 2 across it
			tets[4 * t + v] = 4 * (t / 6 + (corners[v] & 1)) + (corners[v] >> 1);
	}
}

int main(void) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.ground_enabled = true;
	FemWorldId world = fem_world_create(&world_def);

	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = 1e9f;
	material_def.breakable = true;
	material_def.toughness = 1e6f;
	FemMaterialId material = fem_material_create(world, &material_def);

	make_beam();
	FemMeshDef mesh_def = fem_default_mesh_def();
	mesh_def.node_count = 4 * (CELLS + 1), mesh_def.node_positions = nodes;
	mesh_def.tet_count = 6 * CELLS, mesh_def.tets = tets;
	FemBodyDef body_def = fem_default_body_def();
	body_def.mesh = fem_mesh_create(world, &mesh_def);
	body_def.materials = &material, body_def.material_count = 1;
	body_def.position.y = 3.0;
	FemBodyId beam = fem_body_create(world, &body_def);

	FemColliderDef post_def = fem_default_collider_def();
	post_def.shape.type = FEM_SHAPE_BOX;
	post_def.shape.half_extents = (FemVec3){0.1f, 0.5f, 0.5f};
	post_def.position.y = 0.5;
	FemColliderId post = fem_collider_create(world, &post_def);
	if (fem_body_id_is_null(beam) || fem_collider_id_is_null(post)) {
		printf("failed: %s\n", fem_last_error());
		return 1;
	}
	for (int i = 0; i < 240; i++) {
		FemPosition low, high;
		fem_world_step(world, 1.0f / 60.0f, 1);
		fem_body_get_bounds(beam, &low, &high);
		if (i % 40 == 0)
			printf("%.2f s: %d pieces between %.2f and %.2f m\n", (double)i / 60.0, fem_body_get_pieces(beam, NULL, 0),
				low.y, high.y);
	}
	printf("broken into %d pieces\n", fem_body_get_pieces(beam, NULL, 0));
	return fem_world_destroy(world) == FEM_OK ? 0 : 1;
}
