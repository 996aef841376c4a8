// Plastic flow of plate cells (docs/method.md, "Plates"). A cell flows as a whole: its rest shape moves towards the
// shape that it has. What it has come to is kept as the plastic strains of its tets, from which the rest shape of the
// cell follows, so that tets which a crack has parted from their cell go on with the shape it had.
#ifndef FEM_DYNAMICS_PLATE_FLOW_H
#define FEM_DYNAMICS_PLATE_FLOW_H

#include "base/range.h"
#include "model/body.h"
#include "model/plate_elements.h"

// How much those cells of a set that act want to fold, into FemBodyStep.cell_demands.
void fem_plate_find_demands(FemBody *body, int set, FemRange cells);

// Of those cells of a set that act. Bodies with plastic state, once the demands of all their cells are found.
void fem_plate_flow(FemBody *body, int set, FemRange cells, float dt);

// The share of its bending strength that a tet's cell has left, in (0, 1]; less than 1 where it was folded.
float fem_tet_crease(const FemBody *body, int32_t tet);

// The rest shape of a cell by the plastic strains of its tets: m; those of `rest` where they have none.
void fem_plate_rest_shape(const FemBody *body, int32_t cell, double out[FEM_CELL_CORNERS][3]);

// After the tets got other plastic strains: cells anew whose tets had others than `before`; null: all.
void fem_plate_cells_follow(FemBody *body, const FemBatchPlastic *before);

#endif
