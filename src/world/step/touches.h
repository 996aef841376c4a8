// Where and how fast pieces are struck: contacts and nodes near the ground that close in fast enough to be blows. Both
// ways to break look at them, elements (blows.h) and bonds (joined_blows.h).
#ifndef FEM_WORLD_TOUCHES_H
#define FEM_WORLD_TOUCHES_H

#include "model/body.h"
#include "world/step/step.h"

// m/s along the normal: what comes more slowly is no blow. A piece that rests gains 0.33 m/s of its weight in a step of
// 30 Hz. Chosen.
#define FEM_SLOW_SPEED 0.5f

// One place where a piece may be struck.
typedef struct FemTouchPlace {
	FemBody *body;
	int32_t component, user; // number of the place, for chance
	float time;              // s, from the start of the step; negative: it has touched before
	float approach;          // m/s
	float strength;          // kg
	float mobility, give;    // of the other side: 1/kg, m/N
	float patch;             // m^2/N, of the other side (FemWallBlow)
	float load;              // N s a step, that the other side pressed with before
	int32_t tet, node;       // where it strikes: the node is the nearest
	FemVec4 place;           // m
	float normal[3];         // unit; of a contact from its side 0 to side 1, of the ground upwards
} FemTouchPlace;

// Of one side of a contact, and of a node over the ground. False: it is no blow that begins before the end of the step.
bool fem_touch_of_contact(const FemStep *step, const FemContact *contact, int s, FemTouchPlace *out);
bool fem_touch_of_ground(const FemStep *step, FemBody *body, int32_t node, FemTouchPlace *out);

// s, from the start of the step: when it really touches. Nothing is even; length (m) is that of what is struck.
float fem_touch_time(const FemTouchPlace *touch, float length);

// The share of its strength with which it takes part in a blow that began at `first` (s): 0 when it touches too late.
float fem_touch_share(const FemTouchPlace *touch, float length, float first);

// s, for which what touched first takes part in a blow.
float fem_touch_window(float length, float approach);

// m/N, by which a piece of that length (m) and modulus (Pa) gives way where it is struck.
float fem_striker_give(float modulus, float length);

#endif
