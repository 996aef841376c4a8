#include "scenes/level_scenes.h"

#include "filling/tetrahedralize.h"
#include "geometry/triangle_soup.h"
#include "scenes/filled_mesh.h"
#include "scenes/surface_meshes.h"

#include <stdlib.h>

#define ROW 4            // vases in a row
#define BLAST_STEP 5     // when they stand
#define BLAST_REACH 4.0f // m: all of them
#define BLAST 300.0f     // N s for each m^2

static void add_floor(FemWorldId world) {
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_BOX;
	def.shape.half_extents = (FemVec3){40.0f, 0.5f, 40.0f};
	def.position.y = -0.5;
	fem_collider_create(world, &def);
}

static FemMeshId make_vase(FemWorldId world) {
	FemSurfaceMesh surface = fem_surface_vase(0.3, 0.008, 16);
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef bake = fem_default_bake_def();
	FemTetMesh tets;
	FemMeshId made = {0};
	bake.element_count = 200;
	if (fem_tetrahedralize(&soup, &bake, &tets) == FEM_OK) {
		FemMeshDef mesh = fem_filled_mesh_def(&tets);
		made = fem_mesh_create(world, &mesh);
	}
	fem_tet_mesh_free(&tets);
	fem_surface_mesh_free(&surface);
	return made;
}

// Ceramic, as the addon has it.
static FemMaterialId make_ceramic(const FemScene *scene, FemWorldId world) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = scene->young_modulus;
	def.poisson_ratio = scene->poisson_ratio;
	def.density = scene->density;
	def.breakable = true;
	def.toughness = scene->toughness;
	def.toughness_variation = 0.15f;
	def.fragment_size = scene->fragment_size;
	def.impact_modulus = 7e10f;
	def.impact_toughness_ratio = 0.71f;
	def.crush_strength = 1e7f;
	def.friction = 0.45f;
	def.max_iterations = 60;
	return fem_material_create(world, &def);
}

FemSceneBodies fem_build_vases(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = {.ids = calloc((size_t)scene->body_count, sizeof(FemBodyId))};
	FemMaterialId material = make_ceramic(scene, world);
	FemBodyDef def = fem_default_body_def();
	def.mesh = make_vase(world);
	def.materials = &material;
	def.material_count = 1;
	add_floor(world);
	for (int32_t i = 0; bodies.ids && i < scene->body_count; i++) {
		def.position = (FemPosition){(double)scene->spacing * (i % ROW - 0.5 * ROW), 0.151, 0.6 * (i / ROW)};
		bodies.ids[i] = fem_body_create(world, &def);
		if (!fem_body_is_valid(bodies.ids[i]))
			return bodies;
		bodies.count = i + 1;
	}
	return bodies;
}

void fem_drive_vases(const FemSceneBodies *bodies, int32_t step, float dt) {
	(void)dt;
	for (int32_t i = 0; step == BLAST_STEP && i < bodies->count; i++)
		fem_body_apply_explosion(bodies->ids[i], (FemPosition){0.0, 0.3, 0.6}, BLAST_REACH, BLAST);
}
