// Modes of vibration of a rest shape: how a thing rings and wobbles. Conventions as in fem_destruction.h; what is not
// of a body may be called at any time on any thread, but each object by one thread at a time.
//
//   FemModesDef def = fem_default_modes_def();       fill in nodes, tets and a material for each region
//   fem_modes_compute(&def, &modes);                 or fem_modes_start(), fem_modes_is_done(), fem_modes_finish()
//   fem_mode_frequency(&modes, 0);                   Hz, of the lowest mode that is no rigid motion
//
// K u = lambda M u with K and M of the shape at rest; shapes are scaled so that u^T M u = 1. docs/method.md, "Modes".
#ifndef FEM_MODES_H
#define FEM_MODES_H

#include "fem_fracture.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FEM_MODES_MAX 1000 // of a shape; chosen: 800 are enough for any sound (O'Brien et al. 2002)

typedef struct FemModeMaterial {
	float young_modulus; // Pa, > 0
	float poisson_ratio; // 0..0.49
	float density;       // kg/m^3, > 0
} FemModeMaterial;

typedef struct FemModesDef {
	int32_t node_count;
	const FemVec3 *node_positions; // m, rest shape
	int32_t tet_count;
	const int32_t *tets;              // 4 nodes each
	const int32_t *tet_regions;       // or null for all 0
	const float *tet_plates;          // as in FemMeshDef, or null
	const FemModeMaterial *materials; // one for each region; regions beyond take the last
	int32_t material_count;
	const uint8_t *pinned_nodes;           // 1: cannot move; or null for none
	int32_t mode_count;                    // wanted at most, rigid motions not counted; default 60, 1..FEM_MODES_MAX
	float frequency_max;                   // Hz, none above it; default 20000, what ears hear; 0 = any
	bool (*progress)(void *, float share); // called now and then with a share of 0..1; false stops. May be null
	void *progress_context;
	uint32_t cookie;
} FemModesDef;

FemModesDef fem_default_modes_def(void);

typedef struct FemModes {
	int32_t node_count, mode_count;
	int32_t capacity;         // modes that the arrays hold
	int32_t rigid_count;      // motions without deformation, which are not among the modes: 6 for one free piece
	FemModeMaterial material; // of region 0, for which they were computed
	double *eigenvalues;      // [mode]: lambda, rad^2/s^2, ascending
	float *shapes;            // [mode][node][3]: kg^-1/2
	float *radiation; // [mode]: omega times the integral of |normal displacement| over the surface, m^2/s kg^-1/2: how
					  // loud it is where all modes move alike (O'Brien et al. 2002, section 3.4)
} FemModes;

// The lowest modes. FEM_OK with fewer modes than wanted, or none, where the shape has no more. FEM_ERROR_LIMIT when
// progress stopped it. `out` is then empty.
FemResult fem_modes_compute(const FemModesDef *def, FemModes *out);
void fem_modes_free(FemModes *modes);
FemResult fem_modes_copy(const FemModes *modes, FemModes *out); // `out` is empty without memory

// The same on a thread of its own, with copies of the arrays; the def's progress is not used. Null with a sentence when
// the def is bad, or no thread or no memory can be had.
typedef struct FemModesJob FemModesJob;
FemModesJob *fem_modes_start(const FemModesDef *def);
float fem_modes_share(const FemModesJob *job); // done, 0..1
bool fem_modes_is_done(const FemModesJob *job);
void fem_modes_cancel(FemModesJob *job); // it ends soon

// Waits for the end, hands out the modes and frees the job.
FemResult fem_modes_finish(FemModesJob *job, FemModes *out);

double fem_mode_frequency(const FemModes *modes, int32_t mode); // Hz, undamped; 0 for a mode that is not there

// What follows from other densities, moduli and sizes without computing anew: lambda goes with E / (rho s^2), shapes
// with (rho s^3)^-1/2. Factors are new over old, > 0. The new Poisson's ratio is the old one.
FemResult fem_modes_scale(FemModes *modes, float modulus_factor, float density_factor, float size_factor);

// Drops what is not worth keeping (Hauser et al. 2003, section 3.3): modes above frequency_max (Hz; half the rate at
// which they are shown), and those that the largest force (N) moves by less than the smallest displacement that is seen
// (m): max over nodes of |shape|^2 / lambda times the force. 0 skips a rule. Returns how many are left.
int32_t fem_modes_discard(FemModes *modes, float frequency_max, float displacement_min, float force_max);

// ---- of bodies [between steps]

// The modes of a piece of a body as it hangs together now, at rest, with its materials and pins: the settings' arrays
// are not used. Null with a sentence when there is no such piece, or as fem_modes_start().
FemModesJob *fem_body_start_modes(FemBodyId body, FemPieceNumber piece, const FemModesDef *settings);

// The nodes of a piece in the order in which its modes number them. Returns how many there are.
int32_t fem_body_get_piece_nodes(FemBodyId body, FemPieceNumber piece, int32_t *out_nodes, int32_t capacity);

// ---- modal motion [between steps]: bodies with FEM_DYNAMICS_MODAL; docs/method.md, "Modal motion"

#define FEM_MODAL_MODES_MAX 256 // that a body moves by; chosen: far fewer than 50 are seen (Hauser et al. 2003)

// Gives a body, which is one piece, the modes that it is to move by; node i of theirs is the body's node nodes[i], or i
// where nodes is null. They must be of the body as it is, with its materials, scale and pins, and are copied. Other
// materials or pins, and cracks, end their use; modes that come then take their place. Modes of FemModes beyond
// FEM_MODAL_MODES_MAX are left out, none at all takes a body's modes from it.
FemResult fem_body_set_modes(FemBodyId body, const FemModes *modes, const int32_t *nodes);

typedef struct FemModalState {
	int32_t mode_count;    // that it was given; 0: none, or they no longer fit
	bool is_moving;        // by them; else it has none, was struck too hard lately, or is not FEM_DYNAMICS_MODAL
	double kinetic_energy; // J, of the modes alone
	double elastic_energy; // J, the same
	float largest_stress;  // Pa, a bound of the tension that they make
	int32_t grab_count;
} FemModalState;
FemResult fem_body_get_modal_state(FemBodyId body, FemModalState *out_state);

// Amplitudes (kg^1/2 m) and their velocities; either may be null. Returns how many modes the body moves by.
int32_t fem_body_get_amplitudes(FemBodyId body, double *out_amplitudes, double *out_velocities, int32_t capacity);

// ---- grabs: points of a modal body that follow what a user says, by position and velocity

#define FEM_GRABS_MAX 16 // of a body; the paper has about ten

typedef uint32_t FemGrabNumber; // of a body; 0 is none

// Holds the point of the body that is nearest to `point` where it is. 0 with a sentence when the body does not move by
// modes or holds as many already. A body that is no longer modal lets go of all.
FemGrabNumber fem_body_grab(FemBodyId body, FemPosition point);

// The grabbed point is at `target` at the end of the next step, and moves on or stands still there. Points that cannot
// all be where they are to be come as near as the body's modes allow.
FemResult fem_body_move_grab(FemBodyId body, FemGrabNumber grab, FemPosition target);
FemResult fem_body_release_grab(FemBodyId body, FemGrabNumber grab); // 0: all

// Where the grabbed point is, and the force (N) that held it there in the last step; either may be null.
FemResult fem_body_get_grab(FemBodyId body, FemGrabNumber grab, FemPosition *out_point, FemVec3 *out_force);

// ---- joints: two modal bodies that share a point (a ball joint)

#define FEM_JOINTS_MAX 1024 // of a world; chosen: each is three contacts

typedef uint32_t FemJointNumber; // of a world; 0 is none

// Joins the points of two bodies that are nearest to `point`: from now on they have the same place and velocity to
// rounding. Points that are apart come together at 2 m/s. The two no longer touch each other otherwise. 0 with a
// sentence when one of the bodies does not move by modes, both are one, they are of two worlds, or contacts are off in
// their world. A body that is struck so that it moves by elements for a while stays joined, less exactly; a joint ends
// with its bodies, or when the place it holds is crushed.
FemJointNumber fem_body_join(FemBodyId body, FemBodyId other, FemPosition point);
FemResult fem_world_release_joint(FemWorldId world, FemJointNumber joint); // 0: all

typedef struct FemJointState {
	FemBodyId bodies[2];
	FemPosition points[2]; // m, of each: apart while they come together
	FemVec3 force;         // N, on bodies[1] in the last step
} FemJointState;
FemResult fem_world_get_joint(FemWorldId world, FemJointNumber joint, FemJointState *out_state);

// The numbers of all joints, ascending. Returns how many there are.
int32_t fem_world_get_joints(FemWorldId world, FemJointNumber *out_joints, int32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
