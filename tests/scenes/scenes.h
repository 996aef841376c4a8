// The named scenes that benchmark and tests share.
#ifndef FEM_SCENES_SCENES_H
#define FEM_SCENES_SCENES_H

#include "fem_destruction.h"

typedef struct FemScene FemScene;

// A rigid sphere that its scene moves.
typedef struct FemSceneBall {
	FemColliderId id;
	float radius;         // m
	FemPosition position; // m
	FemVec3 velocity;     // m/s
} FemSceneBall;

typedef struct FemSceneBodies {
	FemBodyId *ids;      // owned by the caller, fem_scene_bodies_free()
	int32_t count;       // 0 when the scene could not be built: see fem_last_error()
	FemSceneBall *balls; // or null; the same
	int32_t ball_count;
} FemSceneBodies;

struct FemScene {
	const char *name, *description;
	FemSceneBodies (*build)(const FemScene *scene, FemWorldId world);
	void (*drive)(const FemSceneBodies *bodies, int32_t step, float dt); // before each step, or null
	int32_t cells[3];                                                    // of a body's box along x, y, z
	FemVec3 size;                                                        // m, of that box
	float young_modulus;                                                 // Pa
	float poisson_ratio;
	float density;            // kg/m^3
	float toughness;          // Pa, of scenes that break
	float fragment_size;      // m, of the smallest piece, of scenes that break; 0 = by the mesh
	float plate_correction;   // c of every tet, 0 = none
	FemVec3 gravity;          // m/s^2
	FemVec3 angular_velocity; // rad/s, of free bodies
	int32_t body_count;
	int32_t piece_count;    // that a joined body grows from seeds; 0: one a cell
	int32_t mode_count;     // that bodies move by, of scenes with modes
	int32_t triangle_count; // about so many, of a mesh collider
	float spacing;          // m, between free bodies on their grid
	bool starts_asleep, sleeping_enabled;
	bool has_ground; // the built-in one, at y = 0
	bool clamped;    // the face x = 0 is pinned, so that the far end has a swing
	float dt;        // s
	uint32_t seed;   // of the first body's toughness, which differs from tet to tet; 0: each body's own number
};

const FemScene *fem_scenes(int32_t *out_count);
const FemScene *fem_scene_find(const char *name); // null: no such scene

// Gravity and sleeping as the scene wants them, all else default.
FemWorldDef fem_scene_world_def(const FemScene *scene, int32_t worker_count);

FemSceneBodies fem_scene_build(const FemScene *scene, FemWorldId world);
void fem_scene_bodies_free(FemSceneBodies *bodies);

#endif
