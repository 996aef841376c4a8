// What legacy and XML VTK files have in common: typed arrays in text or bytes, and a grid of cells of which tets are
// taken.
#ifndef FEM_BAKE_VTK_GRID_H
#define FEM_BAKE_VTK_GRID_H

#include "fem_bake/files/import_builder.h"

typedef enum FemVtkType {
	FEM_VTK_UNKNOWN,
	FEM_VTK_BIT, // skipped only
	FEM_VTK_INT8,
	FEM_VTK_UINT8,
	FEM_VTK_INT16,
	FEM_VTK_UINT16,
	FEM_VTK_INT32,
	FEM_VTK_UINT32,
	FEM_VTK_INT64,
	FEM_VTK_UINT64,
	FEM_VTK_FLOAT32,
	FEM_VTK_FLOAT64,
} FemVtkType;

int fem_vtk_width(FemVtkType type); // bytes of a number
bool fem_vtk_is_whole(FemVtkType type);

// Where the numbers of an array are; taking one moves on.
typedef struct FemVtkSource {
	FemVtkType type;
	bool ascii;
	FemText text;
	FemBytes bytes;
} FemVtkSource;

// Whether so many numbers can be there at all: asked before memory is taken for them.
bool fem_vtk_can_hold(const FemVtkSource *source, int64_t count);

// A new array, to be freed with its count; null for 0 numbers.
FemResult fem_vtk_take_whole(FemVtkSource *source, int64_t count, int64_t **out);
FemResult fem_vtk_take_reals(FemVtkSource *source, int64_t count, double **out);

typedef struct FemVtkGrid {
	FemImportBuilder *builder;
	int64_t *connectivity; // point numbers of all cells, one cell after the other
	int64_t connectivity_count;
	int64_t *ends; // where each cell's points end
	int64_t cell_count;
	int64_t *types;
	int64_t type_count;
	double *regions; // of each cell, or null
	int64_t region_count;
	int region_rank;
} FemVtkGrid;

// How well an array of cell data serves as material regions: 0 = not at all, 1 = a guess, more = known by its name.
int fem_vtk_region_rank(FemToken name, FemVtkType type, int64_t components);

FemResult fem_vtk_add_points(FemVtkGrid *grid, FemVtkSource *source, int64_t count);
FemResult fem_vtk_take_regions(FemVtkGrid *grid, FemVtkSource *source, int64_t count, int rank);

// Enters the tets into the builder.
FemResult fem_vtk_grid_finish(FemVtkGrid *grid);
void fem_vtk_grid_free(FemVtkGrid *grid);

#endif
