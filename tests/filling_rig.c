#include "filling_rig.h"

#include "baking/mesh_diagnosis.h"
#include "fem_test.h"
#include "geometry/embedding.h"

bool filling_rig_fill(const char *name, FemSurfaceMesh surface, FemQuat rotation, int32_t target, FemTetMesh *out,
	FilledShape *out_shape) {
	double wanted = surface.volume;
	fem_surface_transform(&surface, rotation, 1.0, (FemVec3d){0.0, 0.0, 0.0});
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemEmbedding embedding;
	FemDiagnosis diagnosis;
	def.element_count = target;
	double begin = fem_test_cpu_ms();
	bool made = fem_test_check(
		fem_tetrahedralize(&soup, &def, out) == FEM_OK, __FILE__, __LINE__, "%s: %s", name, fem_last_error());
	double ms = fem_test_cpu_ms() - begin;
	FemEmbedMesh tets = {out->node_count, out->tet_count, out->nodes, out->tets, NULL};
	*out_shape = (FilledShape){0.0, INFINITY};
	if (made && FEM_CHECK(fem_embed(&tets, soup.vertices, NULL, soup.vertex_count, &embedding) == FEM_OK) &&
		FEM_CHECK(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK)) {
		*out_shape = (FilledShape){(double)out->volume / wanted, (double)embedding.max_outside / diagnosis.size};
		printf("  %-22s %5d of %5d tets, volume %.3f, vertices off by %.2f %%, kind %d, %.1f degrees, %.0f ms\n", name,
			out->tet_count, target, out_shape->volume, 100.0 * out_shape->far, out->members[0].kind,
			(double)out->min_dihedral, ms);
		fem_embedding_free(&embedding);
	}
	fem_surface_mesh_free(&surface);
	return made;
}

FemBodyId filling_rig_held(const FemTetMesh *mesh, double young, double poisson, const int32_t *pinned,
	int32_t pinned_count, FemWorldId *out_world) {
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material = fem_default_material_def();
	FemMeshDef mesh_def = fem_default_mesh_def();
	FemBodyDef body_def = fem_default_body_def();
	world_def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	world_def.sleeping_enabled = world_def.contacts_enabled = false;
	world_def.solver_tolerance = 1e-6f;
	material.young_modulus = (float)young;
	material.poisson_ratio = (float)poisson;
	material.max_iterations = 4000;
	*out_world = fem_world_create(&world_def);
	FemMaterialId material_id = fem_material_create(*out_world, &material);
	mesh_def.node_count = mesh->node_count;
	mesh_def.node_positions = mesh->nodes;
	mesh_def.tet_count = mesh->tet_count;
	mesh_def.tets = mesh->tets;
	mesh_def.tet_plates = mesh->tet_plates;
	mesh_def.quality_clamp = mesh->has_plates ? 0.0f : mesh_def.quality_clamp;
	body_def.mesh = fem_mesh_create(*out_world, &mesh_def);
	body_def.materials = &material_id;
	body_def.material_count = 1;
	body_def.pinned_nodes = pinned;
	body_def.pinned_count = pinned_count;
	return fem_body_create(*out_world, &body_def);
}
