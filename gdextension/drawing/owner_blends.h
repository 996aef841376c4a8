// Vertices on their way to a new owner.
//
// A vertex that changes its tet has the same place at rest in both, but another one where they are strained
// differently: it would jump. Instead it starts with the weights that give its old place in the new tet, and these
// become its own in a short time. So it rotates and moves with the new tet from the beginning; nothing but its weights
// is written, and nothing at all once all have arrived.
//
//   owner_blends_advance(&blends, delta, duration);    after a step
//   owner_blends_take(&blends, &copy, ...);            then, for each vertex that is drawn
//   owner_blends_write(&blends, &copy, fraction);      in each drawn frame
#ifndef OWNER_BLENDS_H
#define OWNER_BLENDS_H

#include "drawing/embedded_copy.h"

typedef struct OwnerBlend {
	int32_t vertex;
	float from[4], to[4]; // weights
	double start;         // s, what the clock showed after the step in which its tet changed
} OwnerBlend;

typedef struct OwnerBlends {
	OwnerBlend *blends;
	int32_t count, capacity;
	int32_t *places; // [vertex]: its place in `blends` plus 1, or 0; null until the first blend
	int32_t vertex_count;
	float duration; // s, 0: vertices jump
	float delta;    // s, of the last step
	double clock;   // s, the sum of all steps
} OwnerBlends;

void owner_blends_free(OwnerBlends *blends);

// Ages what is there by a step, at no cost: what nobody draws does not arrive. What comes next takes `duration`, 0 for
// none.
void owner_blends_advance(OwnerBlends *blends, float delta, float duration);

// Before the copy hears of the change, unless its face has just opened. positions: of the body's nodes, 4 floats each,
// after the step in which the owner changed.
void owner_blends_take(OwnerBlends *blends, const EmbeddedCopy *copy, const float *positions, int32_t node_count,
	const FemOwnerChange *change);

// fraction: how far the frame is between the last two steps, 0 to 1.
void owner_blends_write(OwnerBlends *blends, EmbeddedCopy *copy, float fraction);

#endif
