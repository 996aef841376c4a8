// Along which axis a solid is longest, and fibres that run along it by themselves.
#include "fem_baking.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "topology/longest_axis.h"

static FemVec3 axis_of(FemBoxMesh *box, FemVec3 scale) {
	FemTetArrays tets = {
		.node_count = box->node_count, .nodes = box->positions, .tet_count = box->tet_count, .tets = box->tets};
	return fem_tets_longest_axis(&tets, scale);
}

static void check_axis(const char *name, FemVec3 found, FemVec3 expected) {
	double along = (double)(found.x * expected.x + found.y * expected.y + found.z * expected.z);
	if (!FEM_CHECK(along > 0.9999))
		printf("  %s: %g %g %g\n", name, (double)found.x, (double)found.y, (double)found.z);
}

static void rotate(FemBoxMesh *box, double angle) {
	for (int32_t i = 0; i < box->node_count; i++) {
		FemVec3 p = box->positions[i];
		box->positions[i].x = (float)(cos(angle) * (double)p.x - sin(angle) * (double)p.y);
		box->positions[i].y = (float)(sin(angle) * (double)p.x + cos(angle) * (double)p.y);
	}
}

FEM_TEST(longest_axis, of_boxes) {
	const FemVec3 one = {1.0f, 1.0f, 1.0f}, x = {1.0f, 0.0f, 0.0f}, y = {0.0f, 1.0f, 0.0f}, z = {0.0f, 0.0f, 1.0f};
	FemBoxMesh post = fem_box_mesh(1, 6, 1, (FemVec3){0.2f, 1.0f, 0.3f}, FEM_CELLS_KUHN);
	check_axis("post", axis_of(&post, one), y);
	check_axis("post, scaled to a plank", axis_of(&post, (FemVec3){1.0f, 0.1f, 4.0f}), z);
	check_axis("post, scaled to a cube", axis_of(&post, (FemVec3){5.0f, 1.0f, 1.0f / 0.3f}), x);
	rotate(&post, 0.5);
	check_axis("leaning post", axis_of(&post, one), (FemVec3){(float)-sin(0.5), (float)cos(0.5), 0.0f});
	fem_box_mesh_free(&post);
	FemBoxMesh plate = fem_box_mesh(1, 5, 5, (FemVec3){0.05f, 1.0f, 1.01f}, FEM_CELLS_FIVE);
	check_axis("square plate that stands", axis_of(&plate, one), y); // as long along z, to the eye
	rotate(&plate, 0.5);
	check_axis("square plate that leans", axis_of(&plate, one), z);
	fem_box_mesh_free(&plate);
	FemBoxMesh none = {0};
	check_axis("nothing", axis_of(&none, one), x);
	check_axis("no tets", fem_tets_longest_axis(NULL, one), x);
}

// How far the end of a bar that is held at the other sags under its weight.
static double sag_of(FemVec3 grain, float ratio) {
	FemRigDef def = fem_rig_bar_def(10, 2, 2, FEM_CELLS_KUHN, 0.3f);
	def.size = (FemVec3){1.0f, 0.1f, 0.1f};
	def.material.young_modulus = 1e7f;
	def.material.stiffness_damping = 0.01f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.grain_direction = grain;
	def.material.grain_stiffness_ratio = ratio;
	FemRig rig = fem_rig_create(&def);
	fem_rig_settle(&rig, 1.0f / 60.0f, 1e-6f, 400, NULL, NULL);
	double low = 0.0;
	for (int32_t i = 0; i < rig.box.node_count; i++)
		low = fmin(low, (double)fem_rig_displacement(&rig, i).y);
	fem_rig_destroy(&rig);
	return low;
}

FEM_TEST(longest_axis, fibres_run_along_it) {
	double told = sag_of((FemVec3){1.0f, 0.0f, 0.0f}, 12.0f), by_shape = sag_of((FemVec3){0}, 12.0f);
	double across = sag_of((FemVec3){0.0f, 1.0f, 0.0f}, 12.0f), none = sag_of((FemVec3){0}, 1.0f);
	printf("  sags %.3f mm, by its shape %.3f, with fibres across %.3f, without %.3f\n", 1e3 * told, 1e3 * by_shape,
		1e3 * across, 1e3 * none);
	FEM_CHECK_NEAR(by_shape, told, 1e-6);
	FEM_CHECK(across < 3.0 * told && none != told);
}
