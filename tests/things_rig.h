// Things that people know, dropped and struck: made as a bake makes them, of the addon's materials.
#ifndef FEM_THINGS_RIG_H
#define FEM_THINGS_RIG_H

#include "filling/tetrahedralize.h"
#include "scenes/surface_meshes.h"

// Takes the surface over. No tets when the bake fails.
FemTetMesh fem_thing_bake(FemSurfaceMesh surface, int32_t elements);

FemTetMesh fem_thing_box(FemVec3 size, int32_t elements); // centred
FemTetMesh fem_thing_vase(int32_t elements);              // 0.3 m high, wall 5 mm
FemTetMesh fem_thing_plate(int32_t elements);             // 0.26 m across, 6 mm thick
FemTetMesh fem_thing_dish(int32_t elements);              // a dinner plate of 0.26 m and 6 mm with a rim, 0.5 kg
FemTetMesh fem_thing_beaker(int32_t elements);            // a closed cylinder of 0.5 m, wall 6 mm
FemTetMesh fem_thing_wine_glass(int32_t elements);        // 0.2 m high, of 2 to 3 mm, on a stem
FemTetMesh fem_thing_teapot(int32_t elements);            // a round pot of 0.24 m, wall 6 mm
FemTetMesh fem_thing_cube(int32_t elements);              // 0.3 m

typedef struct FemThingScene {
	const FemTetMesh *tets;
	FemMaterialDef material;
	FemQuat rotation;          // default none
	double height;             // m, of its lowest point over the floor; negative: there is no floor
	double hz;                 // default 60
	double seconds;            // after it has met the floor; default 0.3
	FemVec3 pin_low, pin_high; // share of its box, 0..1, within which nodes are pinned; default none
	bool pin_outside;          // those outside of it instead
	// A ball that strikes it.
	float ball_mass, ball_radius; // kg, m; 0: none
	FemPosition ball_at;
	FemVec3 ball_velocity; // m/s
	FemVec3 ball_edge;     // m, half extents of a box in place of the ball; 0: a ball
	float ball_give;       // Pa, Young's modulus of a ball that is soft; 0: rigid
	FemVec3 impulse;       // N s, given in the third step at
	FemPosition impulse_at;
	float blast; // N s/m^2, of an explosion within 2 m, given then at
	FemPosition blast_at;
	bool sleeps; // sleeping is on
	bool has_no_gravity;
} FemThingScene;

typedef struct FemThingResult {
	int32_t pieces, tets;
	double largest;    // share of the largest piece in the mass
	int32_t shards;    // pieces that have at least a hundredth of it
	double ball_speed; // m/s, at the end, along its first direction
	double ball_past;  // m, how far it has gone along that
	bool is_asleep;
	int32_t passes; // most of any step
	double fastest; // m/s, of a piece
	double plastic; // largest norm of plastic strain
} FemThingResult;

FemThingScene fem_thing_scene(const FemTetMesh *tets, const FemMaterialDef *material);
FemThingResult fem_thing_run(const FemThingScene *scene);

FemQuat fem_rotation_x(double angle); // rad

#endif
