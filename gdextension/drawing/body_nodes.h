// A body's nodes in the position texture: where they are shown between two ticks, and in which box.
//
// With physics interpolation on, a drawn frame shows a blend of the last two ticks, made while copying: that costs less
// than a second set of positions in every shader call. In Forward+ the two planes of positions are used in turn:
// the renderer asks the shader for each vertex's place in the frame before, for TAA and FSR2, with the instance's
// transform of that frame; a transform that is a hair larger marks the frames that use the second plane.
#ifndef BODY_NODES_H
#define BODY_NODES_H

#include "drawing/tet_shape.h"
#include "godot_calls.h"

typedef struct BodyNodes {
	int32_t offset, capacity; // range in the texture; -1: none, the rest shape is shown
	int32_t count;            // nodes written
	int32_t plane;            // in which they were last written: 0 or 1
	bool is_between;          // drawn frames lie between the last two ticks
	// Fading pieces
	float *fades; // [node], or null
	int32_t fade_count;
	// Smooth normals
	int32_t stencil_offset; // in the texture of stencils; -1: none
	int32_t stencil_count;  // nodes that have one of its own; 0: those of its shape serve
	bool has_stencils;      // its stencils are made and up to date
	bool is_cut;            // its nodes are no longer those of its shape
	int32_t smooth_frames;  // left to go since a bent tet was last seen
	int32_t calm_frames;    // left to wait since the body was last cut
	int32_t next_sample, frames_unseen;
} BodyNodes;

// Call once before the bodies of a drawn frame: which plane it uses, and how far it is between two ticks.
void body_nodes_begin_frame(void);

void body_nodes_init(BodyNodes *nodes);
void body_nodes_free(BodyNodes *nodes);

// A range for `count` nodes; a breaking body gets more and more. True when it is another one than before.
bool body_nodes_reserve(BodyNodes *nodes, int32_t count);

// How much is left of each node's piece, 1 to 0; null: of all everything. Copied.
void body_nodes_set_fades(BodyNodes *nodes, const float *fades, int32_t count);

// Where the nodes of the tets were at rest. now: the present nodes of each tet.
void body_nodes_write_rest(BodyNodes *nodes, const TetShape *shape, const int32_t *now);

// The body got another rest shape, and is whole.
void body_nodes_reshape(BodyNodes *nodes);

// The nodes of tets are others now: smooth normals must wait.
void body_nodes_cut(BodyNodes *nodes);

// How far what is shown in this frame is between the last two ticks, 0 to 1.
float body_nodes_fraction(const BodyNodes *nodes);

// Where the shader finds the stencils of smooth normals; -1: it does without.
int32_t body_nodes_stencils(const BodyNodes *nodes);

typedef struct ShownNodes {
	GdTransform3D transform; // of the instance
	GdVector3 low, high;     // box in its space
} ShownNodes;

// Asks for the memory that showing this body will read.
void body_nodes_fetch(const BodyNodes *nodes, FemBodyId body);

// Writes the positions to be shown in this frame. False, and nothing shown, without a range or for a bad body.
bool body_nodes_show(BodyNodes *nodes, FemBodyId body, TetShape *shape, const int32_t *now, ShownNodes *out);

#endif
