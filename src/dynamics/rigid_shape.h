// The shape of a rigid piece. A piece that became rigid keeps, by node, the offsets from its centre of mass in the axes
// of that moment; its strain is in them. Positions are made from them anew in every step, so that a piece that tumbles
// for an hour is still the same: adding up rotations of floats would strain a tet of 1 cm by 1e-3 within ten seconds.
// The rotation is found from the positions, so that whatever moves these rigidly need not know of the shape.
#ifndef FEM_DYNAMICS_RIGID_SHAPE_H
#define FEM_DYNAMICS_RIGID_SHAPE_H

#include "base/range.h"
#include "model/body.h"

// m/s: the root mean square, by mass, of what the velocities have beside the rigid motion with their momenta.
double fem_rigid_shape_vibration(const FemBody *body, FemRange nodes);

// The piece becomes rigid: keeps its shape, and its velocities become those of the rigid motion with the same momenta.
// False, and nothing is changed, where its nodes lie on a line.
bool fem_rigid_shape_take(FemBody *body, FemRange nodes, double out_rotation[9]);

// The rotation from the shape to the present positions, about their centre of mass c; row by row. On entry that of the
// last step.
void fem_rigid_shape_find_rotation(const FemBody *body, FemRange nodes, const double c[3], double rotation[9]);

#endif
