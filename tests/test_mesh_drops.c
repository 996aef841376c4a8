// Meshes of any shape that fall, lie and are struck: nothing blows up, all comes to rest, and what physics separates is
// separate in the picture.
#include "fem_test.h"

#include "baking/bake.h"
#include "contact_rig.h"
#include "fem_bake/files/file_bytes.h"
#include "mesh_drop_rig.h"
#include "preset_rig.h"
#include "scenes/surface_meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEED 10.0f // m/s, of what strikes

static FemMeshDropResult drop_of(
	const FemBakedMesh *mesh, const FemMaterialDef *material, float size, float speed, double seconds) {
	FemMeshDrop drop = {mesh, *material, size, speed, 0.1f, seconds};
	return fem_mesh_drop_run(&drop);
}

// Takes the surface over; with splinters, as bodies of plain meshes get them.
static FemBakedMesh bake(FemSurfaceMesh surface, int32_t elements, int32_t splinters) {
	FemBakedMesh mesh = {0};
	FemBakeDef def = fem_default_bake_def();
	FemBakeResult result = {0};
	def.element_count = elements;
	def.cut.pattern = FEM_PATTERN_VORONOI;
	def.cut.splinter_count = splinters;
	FemRenderSurface *to = fem_render_mesh_add(&mesh.render, "", "");
	if (FEM_CHECK(fem_render_surface_reserve(to, surface.vertex_count, 3 * surface.triangle_count, 0))) {
		memcpy(to->positions, surface.vertices, sizeof(FemVec3) * (size_t)surface.vertex_count);
		memcpy(to->indices, surface.triangles, sizeof(int32_t) * 3 * (size_t)surface.triangle_count);
		fem_bake_now(&mesh.render, &def, &result);
	}
	FEM_CHECK(result.result == FEM_OK);
	mesh = result.mesh;
	result.mesh = (FemBakedMesh){0};
	fem_bake_result_free(&result);
	fem_surface_mesh_free(&surface);
	return mesh;
}

static void check(const char *name, const FemMeshDropResult *out) {
	printf("  %s: %d pieces, %d drawn, %d bare; farthest jump %.3f m; %.2f m/s before, %.2f after, %.3f at the end; %d "
		   "of %d vertices too low\n",
		name, out->pieces, out->drawn_pieces, out->bare_pieces, out->farthest_jump, out->fastest_before,
		out->fastest_after, out->fastest_end, out->low_vertices, out->vertices);
	FEM_CHECK(out->is_valid);
	FEM_CHECK(out->drawn_pieces + out->bare_pieces == out->pieces);
	FEM_CHECK_INT(out->torn_triangles, 0);
	FEM_CHECK_INT(out->untold_vertices, 0);
	FEM_CHECK(out->farthest_jump < 2.0 * out->fastest_after / 60.0); // what pieces are apart after a tick, no more
	FEM_CHECK(out->fastest_after <= 2.0 * out->fastest_before);
	FEM_CHECK(out->fastest_end < 0.05);
}

// Two of fourteen pieces here hold the middle of no splinter when they break off. How many vertices hang below the
// floor depends on which side pieces come to lie on: 0.5 to 3.2 % over blows of 7 to 12 m/s, so that three blows are
// counted together.
FEM_TEST(mesh_drops, a_torus_breaks_and_lies) {
	FemPreset concrete;
	FEM_REQUIRE(fem_preset_load("concrete", &concrete));
	FemBakedMesh mesh = bake(fem_surface_torus(0.5, 0.12, 24, 12), 400, 50);
	int32_t low = 0, vertices = 0;
	for (int k = -1; k <= 1; k++) {
		FemMeshDropResult out = drop_of(&mesh, &concrete.def, 1.0f, SPEED + (float)k, 5.0);
		check("torus", &out);
		FEM_CHECK(out.pieces > 3);
		low += out.low_vertices;
		vertices += out.vertices;
	}
	FEM_CHECK(low <= 0.02 * vertices);
	fem_baked_mesh_free(&mesh);
}

// What a step tells of vertices is all that a host knows. Tets around a crater get nodes of their own without a crack:
// of a spider of ceramic legs were drawn from there to where their other ends had flown, 85 m long.
FEM_TEST(mesh_drops, all_owners_round_a_crater_are_told) {
	FemPreset concrete;
	FEM_REQUIRE(fem_preset_load("concrete", &concrete));
	concrete.def.crush_strength = 3e6f;
	FemBakedMesh mesh = bake(fem_surface_torus(0.5, 0.12, 32, 16), 1500, 300);
	FemMeshDropResult out = drop_of(&mesh, &concrete.def, 1.0f, 3.0f * SPEED, 0.3);
	printf("  %.1f kg crushed, %d pieces, %d of %d vertices untold, %d torn triangles\n", out.crushed_mass, out.pieces,
		out.untold_vertices, out.vertices, out.torn_triangles);
	FEM_CHECK(out.is_valid && out.crushed_mass > 1.0 && out.pieces > 3);
	FEM_CHECK_INT(out.untold_vertices, 0);
	FEM_CHECK_INT(out.torn_triangles, 0);
	fem_baked_mesh_free(&mesh);
}

// ---- files

// For tests/bench/mesh_drops.py: FEM_DROP_FILE names a baked mesh, FEM_DROP_MATERIAL a preset, FEM_DROP_SIZE metres.
FEM_TEST(mesh_drops, of_a_file) {
	const char *path = getenv("FEM_DROP_FILE"), *name = getenv("FEM_DROP_MATERIAL"), *size = getenv("FEM_DROP_SIZE");
	FemFileBytes file;
	FemBakedMesh mesh;
	FemPreset preset;
	if (!path || !name || !size)
		return;
	FEM_REQUIRE(fem_preset_load(name, &preset) && fem_file_read(path, &file) == FEM_OK);
	FEM_REQUIRE(fem_baked_mesh_read(path, file.bytes, file.size, &mesh) == FEM_OK);
	FemMeshDropResult out = drop_of(&mesh, &preset.def, strtof(size, NULL), SPEED, 8.0);
	printf("DROP {\"pieces\": %d, \"drawn\": %d, \"bare\": %d, \"jump\": %g, \"vertices\": %d, \"low\": %d, "
		   "\"before\": %g, \"after\": %g, "
		   "\"end\": %g, \"tick_ms\": %g, \"torn\": %d, \"untold\": %d, \"valid\": %d}\n",
		out.pieces, out.drawn_pieces, out.bare_pieces, out.farthest_jump, out.vertices, out.low_vertices,
		out.fastest_before, out.fastest_after, out.fastest_end, out.tick_ms, out.torn_triangles, out.untold_vertices,
		out.is_valid);
	fem_baked_mesh_free(&mesh);
	fem_file_free(&file);
}
