// Masonry: bricks hold, and the mortar between their courses less.
#include "contact_rig.h"
#include "fem_test.h"
#include "preset_rig.h"
#include "scenes/rig.h"
#include "things_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)
#define LENGTH 1.2 // m, of a bar
#define SIDE 0.2
#define MODULUS 1e8
#define TOUGHNESS 1e5 // Pa
#define COURSE 0.081  // m
#define STEPS 100     // until a bar without joints breaks

static float axis_of(FemVec3 v, int axis) {
	return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static FemRig make_bar(int32_t n, int axis, float course) {
	FemRigDef def = fem_rig_bar_def(n, n, n, FEM_CELLS_FIVE, 0.0f);
	float *toughness;
	for (int i = 0; i < 3; i++)
		def.cells[i] = i == axis ? 6 * n : n;
	def.size = (FemVec3){axis == 0 ? (float)LENGTH : (float)SIDE, axis == 1 ? (float)LENGTH : (float)SIDE, (float)SIDE};
	def.clamped = false;
	def.material.young_modulus = (float)MODULUS;
	def.material.density = 1900.0f;
	def.material.stiffness_damping = 5e-3f;
	def.material.breakable = true;
	def.material.toughness = (float)TOUGHNESS;
	def.material.toughness_variation = 0.0f;
	def.material.mortar_strength = 0.3f;
	def.material.course_height = course;
	def.world.contacts_enabled = false;
	FemBoxMesh box = fem_box_mesh(def.cells[0], def.cells[1], def.cells[2], def.size, def.kind);
	toughness = malloc(sizeof *toughness * (size_t)box.tet_count);
	for (int32_t i = 0; i < box.tet_count; i++) { // its ends are held to their width
		double at = (double)axis_of(box.positions[box.tets[4 * i]], axis) / LENGTH;
		toughness[i] = at < 0.29 || at > 0.71 ? INFINITY : 1.0f;
	}
	def.body.tet_toughness = toughness;
	FemRig rig = fem_rig_create(&def);
	free(toughness);
	fem_box_mesh_free(&box);
	return rig;
}

// At such a speed that bricks break after STEPS.
static void pull_bar(const FemRig *rig, int axis) {
	double speed = TOUGHNESS / MODULUS * LENGTH / (STEPS * (double)DT);
	FemVec3 pull = {axis == 0 ? (float)speed : 0.0f, axis == 1 ? (float)speed : 0.0f, 0.0f};
	for (int32_t i = 0; i < rig->box.node_count; i++) {
		double at = (double)axis_of(rig->box.positions[i], axis);
		if (at < 1e-4 || at > LENGTH - 1e-4)
			fem_body_drive_node(rig->body, i, at > 0.5 ? pull : (FemVec3){0.0f, 0.0f, 0.0f});
	}
}

// The stress at which a bar along that axis breaks, over the toughness of its bricks. And how far from a joint, m.
static double share_at_break(int32_t n, int axis, float course, double *out_far) {
	FemRig rig = make_bar(n, axis, course);
	double broke = INFINITY;
	pull_bar(&rig, axis);
	for (int32_t step = 1; step <= 2 * STEPS && isinf(broke); step++) {
		const FemFractureFace *faces;
		fem_world_step(rig.world, DT, 1);
		int32_t count = fem_world_get_fracture_faces(rig.world, &faces);
		if (count > 0)
			broke = (double)step / STEPS;
		for (int32_t i = 0; i < count && out_far; i++) // from the nearest joint, which ends a course
			*out_far = fmax(*out_far, fabs(remainder(faces[i].center.y + 0.06 * (double)course, (double)course)));
	}
	fem_rig_destroy(&rig);
	return broke;
}

// Across the courses at that of the mortar, with cells larger and smaller than they are; along them, or within one
// course, at that of bricks. Fails when the joints are looked for along another axis, or where there are none.
FEM_TEST(mortar, courses_part_at_the_strength_of_mortar) {
	for (int32_t n = 2; n <= 4; n += 2) {
		double across = share_at_break(n, 1, (float)COURSE, NULL), along = share_at_break(n, 0, (float)COURSE, NULL),
			   within = share_at_break(n, 1, 2.0f, NULL);
		printf(
			"  cells of %.0f cm: %.3f of the strength of bricks across the courses, %.3f along them, %.3f within one\n",
			100.0 * SIDE / n, across, along, within);
		FEM_CHECK(across > 0.27 && across < 0.33);
		FEM_CHECK(along > 0.93 && along < 1.07 && within > 0.93 && within < 1.07);
	}
}

// Courses of four cells: it breaks at a joint and not within bricks. Fails when courses begin elsewhere.
FEM_TEST(mortar, is_where_the_courses_end) {
	double far = 0.0, cell = SIDE / 4.0, share = share_at_break(4, 1, (float)(4.0 * cell), &far);
	printf("  at %.3f of the strength of bricks, at most %.1f cm from a joint\n", share, 100.0 * far);
	FEM_CHECK(share > 0.27 && share < 0.33);
	FEM_CHECK(far < 0.8 * cell);
}

FEM_TEST(mortar, refuses_what_makes_no_sense) {
	static const float bad[] = {NAN, INFINITY, -1.0f};
	FemRig rig = make_bar(2, 1, (float)COURSE);
	FemMaterialDef material = fem_default_material_def();
	for (int i = 0; i < 3; i++) {
		material.mortar_strength = bad[i];
		FEM_CHECK_INT(fem_material_set(rig.material, &material), FEM_ERROR_INVALID_ARGUMENT);
		FEM_CHECK(strstr(fem_last_error(), "mortar_strength") != NULL);
		material = fem_default_material_def();
		material.course_height = bad[i];
		FEM_CHECK_INT(fem_material_set(rig.material, &material), FEM_ERROR_INVALID_ARGUMENT);
		FEM_CHECK(strstr(fem_last_error(), "course_height") != NULL);
		material = fem_default_material_def();
	}
	material.mortar_strength = material.course_height = 0.0f;
	FEM_CHECK_INT(fem_material_set(rig.material, &material), FEM_OK);
	FEM_CHECK_INT(fem_material_get(rig.material, &material), FEM_OK);
	FEM_CHECK_NEAR(material.mortar_strength, 0.01, 1e-6);
	FEM_CHECK_NEAR(material.course_height, 1e-3, 1e-6);
	fem_rig_destroy(&rig);
}

// A bar that is being pulled goes on bitwise as it did, and breaks. Fails when a snapshot leaves the mortar out.
FEM_TEST(mortar, is_in_snapshots) {
	FemRig rig = make_bar(2, 1, (float)COURSE);
	pull_bar(&rig, 1);
	size_t size = fem_world_save(rig.world, NULL, 0);
	void *data = malloc(size);
	FEM_CHECK(fem_world_save(rig.world, data, size) == size);
	FemWorldId again = fem_world_restore(data, size, 1);
	for (int32_t step = 0; step < STEPS / 2; step++) {
		fem_world_step(rig.world, DT, 1);
		fem_world_step(again, DT, 1);
	}
	FEM_CHECK(fem_world_hash(again) == fem_world_hash(rig.world));
	FEM_CHECK(fem_body_get_pieces(rig.body, NULL, 0) > 1);
	fem_world_destroy(again);
	free(data);
	fem_rig_destroy(&rig);
}
