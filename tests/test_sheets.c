// Baked panes against plate theory: held on one side, two and all four, under their own weight.
#include "fem_test.h"
#include "filling/tetrahedralize.h"
#include "geometry/triangle_soup.h"
#include "scenes/surface_meshes.h"

#include <stdlib.h>

#define SIDE 1.4f
#define THICKNESS 0.02f
#define YOUNG 1e10f
#define POISSON 0.2
#define DENSITY 2500.0f

static int32_t list_pins(const FemTetMesh *mesh, int32_t sides, int32_t *out) {
	int32_t count = 0;
	float edge = 0.5f * SIDE - 1e-3f;
	for (int32_t i = 0; i < mesh->node_count; i++) {
		FemVec3 p = mesh->nodes[i];
		bool held = p.x < -edge || (sides > 1 && p.x > edge) || (sides == 4 && fabsf(p.z) > edge);
		if (held)
			out[count++] = i;
	}
	return count;
}

// Bending stiffness over that of theory: w = k q a^4 / D at the lowest place.
static double stiffness_ratio(const FemTetMesh *mesh, int32_t sides) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.sleeping_enabled = world_def.contacts_enabled = false;
	world_def.solver_tolerance = 1e-6f;
	FemWorldId world = fem_world_create(&world_def);
	FemMeshDef mesh_def = fem_default_mesh_def();
	mesh_def.node_count = mesh->node_count;
	mesh_def.node_positions = mesh->nodes;
	mesh_def.tet_count = mesh->tet_count;
	mesh_def.tets = mesh->tets;
	mesh_def.tet_plates = mesh->tet_plates;
	mesh_def.quality_clamp = 0.0f;
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = YOUNG;
	material_def.poisson_ratio = (float)POISSON;
	material_def.density = DENSITY;
	material_def.stiffness_damping = 0.05f;
	FemMaterialId material = fem_material_create(world, &material_def);
	int32_t *pins = malloc(sizeof *pins * (size_t)mesh->node_count);
	FemVec3 *offsets = malloc(sizeof *offsets * (size_t)mesh->node_count);
	FemPosition origin;
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh_def);
	def.materials = &material;
	def.material_count = 1;
	def.pinned_nodes = pins;
	def.pinned_count = list_pins(mesh, sides, pins);
	FemBodyId body = fem_body_create(world, &def);
	for (int32_t step = 0; step < 240; step++)
		fem_world_step(world, 1.0f / 60.0f, 1);
	fem_body_get_positions(body, &origin, offsets, mesh->node_count);
	double lowest = 0.0;
	for (int32_t i = 0; i < mesh->node_count; i++)
		lowest = fmin(lowest, (double)offsets[i].y + origin.y - (double)mesh->nodes[i].y);
	double bending = (double)YOUNG * pow((double)THICKNESS, 3.0) / (12.0 * (1.0 - POISSON * POISSON));
	double factor = sides == 4 ? 0.00126
		: sides == 2           ? 1.0 / 384.0
							   : 1.0 / 8.0; // clamped: Timoshenko & Woinowsky-Krieger
	double theory = factor * (double)DENSITY * 9.81 * (double)THICKNESS * pow((double)SIDE, 4.0) / bending;
	free(pins);
	free(offsets);
	fem_world_destroy(world);
	return theory / -lowest;
}

// Tets by themselves gave 2.1 to 2.9.
FEM_TEST(sheets, baked_panes_bend_whatever_holds_them) {
	for (int32_t target = 500; target <= 2000; target *= 4) {
		FemSurfaceMesh surface = fem_surface_box((FemVec3){SIDE, THICKNESS, SIDE}, 1);
		FemSoup soup = fem_surface_soup(&surface);
		FemBakeDef def = fem_default_bake_def();
		FemTetMesh mesh;
		def.element_count = target;
		FEM_REQUIRE(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK);
		for (int32_t sides = 1; sides <= 4; sides *= 2) {
			double ratio = stiffness_ratio(&mesh, sides);
			printf("  %d tets, %d side%s held: %.2f times too stiff, said to be %.2f\n", mesh.tet_count, sides,
				sides > 1 ? "s" : "", ratio, (double)mesh.members[0].stiffness_excess);
			FEM_CHECK_NEAR(ratio, 1.0, 0.1);
			FEM_CHECK_NEAR((double)mesh.members[0].stiffness_excess / ratio, 1.0, 0.1);
		}
		fem_tet_mesh_free(&mesh);
		fem_surface_mesh_free(&surface);
	}
}
