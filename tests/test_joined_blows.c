// Blows on bodies of joined rigid pieces: that bonds feel their real force, as elements do.
#include "fem_test.h"
#include "preset_rig.h"
#include "scenes/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRIKER_MASS 60.0f   // kg
#define STRIKER_RADIUS 0.15f // m

// What is struck, its lower corner at the origin, on the ground.
typedef struct Target {
	const char *preset;
	FemVec3 size;        // m
	int32_t cells[3];
	int32_t pieces[3];   // along each axis
	bool is_held;        // its face x = 0
	FemPosition from;    // of the striker's middle, just clear of it
	FemVec3 way;         // that it comes, unit
	float mass;          // kg, of the striker
} Target;

static const Target column = {
	"brick", {0.5f, 1.6f, 0.5f}, {4, 12, 4}, {2, 6, 2}, false, {0.25, 1.1, -0.16}, {0.0f, 0.0f, 1.0f}, 60.0f};

static int32_t place_in(float x, float size, int32_t count) {
	int32_t place = (int32_t)(x * (float)count / size);
	return place < count ? place : count - 1;
}

static void join(const FemRig *rig, const Target *target) {
	FemJoinedDef joined = fem_default_joined_def();
	int32_t *pieces = malloc(sizeof *pieces * (size_t)rig->box.tet_count);
	for (int32_t t = 0; t < rig->box.tet_count; t++) {
		float x[3] = {0.0f, 0.0f, 0.0f};
		for (int v = 0; v < 4; v++) {
			const float *at = &rig->box.positions[rig->box.tets[4 * t + v]].x;
			for (int k = 0; k < 3; k++)
				x[k] += 0.25f * at[k];
		}
		pieces[t] = place_in(x[0], target->size.x, target->pieces[0]) +
			target->pieces[0] *
				(place_in(x[1], target->size.y, target->pieces[1]) +
					target->pieces[1] * place_in(x[2], target->size.z, target->pieces[2]));
	}
	joined.tet_pieces = pieces;
	FEM_CHECK_INT(fem_body_set_joined(rig->body, &joined), FEM_OK);
	FEM_CHECK_INT(fem_body_set_dynamics(rig->body, FEM_DYNAMICS_RIGID_PIECES), FEM_OK);
	free(pieces);
}

static int32_t broken_bonds(FemBodyId body) {
	int32_t count = fem_body_get_bonds(body, NULL, 0), broken = 0;
	FemBondState *bonds = calloc((size_t)count + 1, sizeof *bonds);
	FEM_CHECK_INT(fem_body_get_bonds(body, bonds, count), count);
	for (int32_t i = 0; i < count; i++)
		broken += bonds[i].is_broken;
	free(bonds);
	return broken;
}

typedef struct Outcome {
	int32_t broken;   // bonds, or pieces but one
	double gain;      // J, the most that kinetic energy of both rose beyond that of the start, by no fall
	double momentum;  // kg m/s
} Outcome;

static Outcome strike(const Target *target, bool is_joined, float speed, float rate, float seconds) {
	FemPreset preset;
	FemRigDef def = fem_rig_stone_def(1);
	if (!fem_preset_load(target->preset, &preset))
		return (Outcome){0};
	def.size = target->size;
	memcpy(def.cells, target->cells, sizeof def.cells);
	def.material = preset.def;
	def.clamped = target->is_held;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.ground_enabled = true;
	def.world.sleeping_enabled = true;
	FemRig rig = fem_rig_create(&def);
	FemColliderDef striker = fem_default_collider_def();
	if (is_joined)
		join(&rig, target);
	float dt = 1.0f / rate;
	for (int i = 0; i < (int)(0.3f * rate); i++)
		fem_world_step(rig.world, dt, 1);
	striker.shape.type = FEM_SHAPE_SPHERE;
	striker.shape.radius = STRIKER_RADIUS;
	striker.kind = FEM_COLLIDER_DYNAMIC;
	striker.mass = target->mass;
	striker.position = target->from;
	striker.linear_velocity = (FemVec3){speed * target->way.x, speed * target->way.y, speed * target->way.z};
	FemColliderId ball = fem_collider_create(rig.world, &striker);
	FEM_CHECK(fem_collider_is_valid(ball));
	for (int i = 0; i < (int)(seconds * rate); i++)
		fem_world_step(rig.world, dt, 1);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	Outcome out = {.broken = is_joined ? broken_bonds(rig.body) : fem_body_get_pieces(rig.body, NULL, 0) - 1};
	fem_rig_destroy(&rig);
	return out;
}

FEM_TEST(joined_blows, experiment) {
	Target wall = {"concrete", {2.0f, 1.5f, 0.2f}, {16, 12, 2}, {8, 6, 1}, true, {1.0, 0.8, -0.16}, {0.0f, 0.0f, 1.0f}, 60.0f};
	Target slab = {"concrete", {1.6f, 0.1f, 0.6f}, {16, 2, 6}, {8, 1, 3}, true, {1.2, 0.27, 0.3}, {0.0f, -1.0f, 0.0f}, 60.0f};
	Target all[3] = {column, wall, slab};
	for (int k = 0; k < 3; k++) {
		for (int m = 0; m < 2; m++) {
			all[k].preset = m ? "concrete" : "brick";
			const float speeds[] = {0.3f, 0.6f, 1, 1.5f, 2, 3, 4, 6, 8, 12};
			for (int i = 0; i < 10; i++) {
				Outcome e = strike(&all[k], false, speeds[i], 60.0f, 0.2f), j = strike(&all[k], true, speeds[i], 60.0f, 0.2f);
				printf("  %d %s %g m/s: elements %d, joined %d\n", k, all[k].preset, (double)speeds[i], e.broken, j.broken);
			}
		}
	}
}
