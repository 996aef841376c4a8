// Impulses on single nodes and points, whatever the mesh.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "theory_rig.h"

static FemRig cube_of(int32_t n) {
	FemRigDef def = fem_rig_cube_def(n, 1.0f);
	def.material.density = 1000.0f;
	return fem_rig_create(&def);
}

// 4,000 N s at a cube of 1 t give it 4 m/s. Fails when the speed of the node it is given to is cut: a node of the
// finest mesh has 0.1 to 0.5 kg and would go at 8,000 m/s and more.
FEM_TEST(impulses, are_kept_on_fine_meshes) {
	static const int32_t cells[] = {2, 6, 12};
	for (int i = 0; i < 3; i++) {
		for (int at_point = 0; at_point < 2; at_point++) {
			FemRig rig = cube_of(cells[i]);
			FEM_REQUIRE(fem_body_is_valid(rig.body));
			FemVec3 impulse = {4000.0f, 0.0f, 0.0f};
			FemPosition corner = {0.0, 0.01, 0.02};
			FEM_CHECK_INT(at_point ? fem_body_apply_impulse_at_point(rig.body, impulse, corner)
								   : fem_body_apply_impulse(rig.body, 0, impulse),
				FEM_OK);
			FEM_CHECK_NEAR(fem_state_of(rig.body).linear_momentum.x, 4000.0, 4.0);
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
			FEM_CHECK_NEAR(fem_state_of(rig.body).linear_momentum.x, 4000.0, 40.0);
			fem_rig_destroy(&rig);
		}
	}
}

// What no mass of the body could take is cut as every speed is, and pinned nodes take nothing.
FEM_TEST(impulses, beyond_the_whole_body_are_cut) {
	FemRig rig = cube_of(3);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	float most = fem_default_world_def().node_speed_max;
	fem_body_pin_node(rig.body, 1);
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, 0, (FemVec3){1e9f, 0.0f, 0.0f}), FEM_OK);
	fem_rig_read(&rig);
	for (int32_t i = 0; i < rig.box.node_count; i++)
		FEM_CHECK_NEAR(rig.velocities[i].x, i == 1 ? 0.0f : most, 1.0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}
