// The tips of cracks, where stress is larger than a mesh shows (docs/method.md, "The real force of a blow").
#ifndef FEM_FRACTURE_CRACK_TIP_H
#define FEM_FRACTURE_CRACK_TIP_H

#include "model/body.h"

// The strength over the stress at which a crack runs on through a node; 1 where no crack ends. `whole`: how the body
// hung together before it broke. `star`: the tets at the node (tet * 4 + local). `fragment_size`: m, of the material;
// 0: not known.
float fem_crack_tip_gain(const FemBody *body, const FemTopology *whole, int32_t node, const int32_t *star,
	int32_t star_count, float fragment_size);

#endif
