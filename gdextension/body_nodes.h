// A body's nodes in the position texture: where they are shown between two ticks, and in which box.
//
// With physics interpolation on, a drawn frame shows a blend of the last two ticks, made while copying: it costs a tenth
// of the upload, and the shader reads no more than without. In Forward+ the two planes of positions are used in turn:
// the renderer asks the shader for each vertex's place in the frame before, for TAA and FSR2, with the instance's
// transform of that frame; a transform that is a hair larger marks the frames that use the second plane.
#ifndef BODY_NODES_H
#define BODY_NODES_H

#include "node_gradients.h"

typedef struct BodyNodes {
	int32_t offset, capacity; // range in the texture; -1: none, the rest shape is shown
	int32_t count;            // nodes written
	int32_t plane;            // in which they were last written: 0 or 1
	// Between two ticks
	bool is_between; // `before` differs from what the engine has now
	float *before;   // 4 floats a node
	int32_t before_count, before_capacity;
	FemPosition before_origin, before_low, before_high;
	// Smooth normals
	bool is_smooth;
	int32_t smooth_frames; // left to go since a bent tet was last seen
	int32_t calm_frames;   // left to wait since the body was last cut
	int32_t next_sample;
	NodeGradients gradients;
} BodyNodes;

// Call once before the bodies of a drawn frame: which plane it uses, and how far it is between two ticks.
void body_nodes_begin_frame(void);

void body_nodes_init(BodyNodes *nodes);
void body_nodes_free(BodyNodes *nodes);

// A range for `count` nodes; a breaking body gets more and more. True when it is another one than before.
bool body_nodes_reserve(BodyNodes *nodes, int32_t count);

// Before a step of a body that is awake: keeps its positions when they are to be blended. True when the body was between
// two ticks and must be shown once more.
bool body_nodes_keep(BodyNodes *nodes, FemBodyId body, bool is_awake, bool interpolates);

// After a step of `delta` seconds: for bodies that woke in it, and for nodes that are new.
void body_nodes_stepped(BodyNodes *nodes, FemBodyId body, float delta, bool interpolates);

// What comes next is a jump, not a movement.
void body_nodes_jump(BodyNodes *nodes);

// Where the nodes of the tets were at rest. now: the present nodes of each tet.
void body_nodes_write_rest(BodyNodes *nodes, const TetShape *shape, const int32_t *now);

// The nodes of tets are others now: smooth normals must wait.
void body_nodes_cut(BodyNodes *nodes);

typedef struct ShownNodes {
	GdTransform3D transform; // of the instance
	GdVector3 low, high;     // box in its space
} ShownNodes;

// Writes the positions to be shown in this frame. False, and nothing shown, without a range or for a bad body.
bool body_nodes_show(BodyNodes *nodes, FemBodyId body, const TetShape *shape, const int32_t *now, ShownNodes *out);

#endif
