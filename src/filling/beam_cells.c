#include "filling/beam_cells.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"

#include <stdlib.h>

#define COLUMNS 32     // in which a section is looked at; chosen
#define RANGES 8       // pieces of a column at most; a beam has one
#define INSET 1e-3     // of a cell: the first and the last section are looked at this far inward; chosen
#define SHIFT 1.3e-6   // of the frame: columns and sections miss edges that lie on the grid
#define REACH 3.0      // half widths of a section: rays from its middle end surely outside
#define THINNEST 0.05  // of the median section's area: thinner ends are thickened, or cells would be slivers; chosen
#define SCALE_MOST 1.4 // of a section, and its inverse: a circle's inscribed square would grow by 1.25; chosen

typedef struct Section {
	double x, y, z; // its middle
	double half[2]; // widths along y and z
	double area, scale;
} Section;

typedef struct Beam {
	const FemSolid *solid;
	const int32_t *cells;
	double roundness;
	Section *sections; // [cells[0] + 1]
	FemTetList *out;
} Beam;

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the cells of a beam: ask for fewer elements.");
}

static double look_at(const Beam *beam, const Section *section) {
	double half = beam->solid->half_extents[0], limit = half - INSET * 2.0 * half / beam->cells[0];
	return fmin(fmax(section->x, -limit), limit) + SHIFT;
}

// Area, middle and widths, by columns along z. False where there is none.
static bool measure(const Beam *beam, Section *section) {
	double half = beam->solid->half_extents[1], step = 2.0 * half / COLUMNS, x = look_at(beam, section);
	double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY}, moment[2] = {0.0, 0.0};
	for (int i = 0; i < COLUMNS; i++) {
		double ranges[RANGES][2], y = -half + (i + 0.5) * step;
		int32_t count = fem_solid_column(beam->solid, x, y + SHIFT, ranges, RANGES);
		for (int32_t r = 0; r < count; r++) {
			double area = (ranges[r][1] - ranges[r][0]) * step;
			section->area += area;
			moment[0] += area * y;
			moment[1] += 0.5 * area * (ranges[r][0] + ranges[r][1]);
			lo[0] = fmin(lo[0], y - 0.5 * step);
			hi[0] = fmax(hi[0], y + 0.5 * step);
			lo[1] = fmin(lo[1], ranges[r][0]);
			hi[1] = fmax(hi[1], ranges[r][1]);
		}
	}
	if (!(section->area > 0.0))
		return false;
	section->y = moment[0] / section->area;
	section->z = moment[1] / section->area;
	for (int i = 0; i < 2; i++)
		section->half[i] = 0.5 * (hi[i] - lo[i]);
	return fem_solid_inside(beam->solid, (FemVec3d){x, section->y, section->z});
}

// ---- corners

// Where a corner of the grid, at u and v in -1..1 of the section's widths, lies from the middle before it is scaled.
static void corner_offset(const Beam *beam, const Section *section, double u, double v, double out[2]) {
	double share = fmax(fabs(u), fabs(v)), shrink = sqrt(section->area / (4.0 * section->half[0] * section->half[1]));
	out[0] = u * section->half[0] * shrink;
	out[1] = v * section->half[1] * shrink;
	if (share == 0.0 || beam->roundness == 0.0)
		return;
	double reach[2] = {REACH * section->half[0] * u / share, REACH * section->half[1] * v / share};
	double x = look_at(beam, section);
	FemVec3d from = {x, section->y, section->z}, to = {x, section->y + reach[0], section->z + reach[1]};
	double exit = fem_solid_exit(beam->solid, from, to) * share;
	for (int i = 0; i < 2; i++)
		out[i] += beam->roundness * (exit * reach[i] - out[i]);
}

static double place_of(int32_t index, int32_t cells) {
	return 2.0 * index / cells - 1.0;
}

// Corners around the outline, counter-clockwise: along y at the lowest z, up, back, down.
static void outline_corner(const int32_t cells[3], int32_t i, int32_t out[2]) {
	int32_t m = cells[1], k = cells[2];
	if (i < m) {
		out[0] = i;
		out[1] = 0;
	} else if (i < m + k) {
		out[0] = m;
		out[1] = i - m;
	} else if (i < 2 * m + k) {
		out[0] = 2 * m + k - i;
		out[1] = k;
	} else {
		out[0] = 0;
		out[1] = 2 * m + 2 * k - i;
	}
}

static double outline_area(const Beam *beam, const Section *section) {
	int32_t count = 2 * (beam->cells[1] + beam->cells[2]);
	double sum = 0.0, last[2] = {0.0, 0.0};
	for (int32_t i = 0; i <= count; i++) {
		int32_t corner[2];
		double at[2];
		outline_corner(beam->cells, i % count, corner);
		corner_offset(beam, section, place_of(corner[0], beam->cells[1]), place_of(corner[1], beam->cells[2]), at);
		if (i > 0)
			sum += 0.5 * (last[0] * at[1] - last[1] * at[0]);
		last[0] = at[0];
		last[1] = at[1];
	}
	return sum;
}

static int compare_doubles(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

// False without memory.
static bool fit_sections(Beam *beam, bool *out_made) {
	int32_t count = beam->cells[0] + 1;
	double *areas = FEM_ALLOC_ARRAY(double, count);
	if (!areas)
		return false;
	*out_made = true;
	for (int32_t i = 0; i < count && *out_made; i++) {
		beam->sections[i].x = beam->solid->half_extents[0] * place_of(i, beam->cells[0]);
		*out_made = measure(beam, &beam->sections[i]) && !fem_stop_asked();
		areas[i] = beam->sections[i].area;
	}
	qsort(areas, (size_t)count, sizeof *areas, compare_doubles);
	double least = THINNEST * areas[count / 2];
	for (int32_t i = 0; i < count && *out_made; i++) {
		Section *section = &beam->sections[i];
		double outline = outline_area(beam, section), scale = outline > 0.0 ? sqrt(section->area / outline) : 0.0;
		*out_made = scale < SCALE_MOST && scale > 1.0 / SCALE_MOST;
		section->scale = scale * sqrt(fmax(1.0, least / section->area));
	}
	FEM_FREE_ARRAY(areas, count);
	return true;
}

// ---- cells

static void add_section(Beam *beam, const Section *section) {
	for (int32_t j = 0; j <= beam->cells[1]; j++)
		for (int32_t k = 0; k <= beam->cells[2]; k++) {
			double at[2];
			corner_offset(beam, section, place_of(j, beam->cells[1]), place_of(k, beam->cells[2]), at);
			fem_tet_list_add_node(beam->out,
				(FemVec3d){section->x, section->y + section->scale * at[0], section->z + section->scale * at[1]});
		}
}

static void add_cells(Beam *beam) {
	int32_t first = beam->out->node_count, across = beam->cells[2] + 1, section = (beam->cells[1] + 1) * across;
	for (int32_t i = 0; i <= beam->cells[0]; i++)
		add_section(beam, &beam->sections[i]);
	for (int32_t i = 0; i < beam->cells[0] && !beam->out->failed; i++)
		for (int32_t j = 0; j < beam->cells[1]; j++)
			for (int32_t k = 0; k < beam->cells[2]; k++) {
				int32_t nodes[8];
				for (int corner = 0; corner < 8; corner++)
					nodes[corner] =
						first + (i + (corner & 1)) * section + (j + (corner >> 1 & 1)) * across + k + (corner >> 2);
				fem_tet_list_add_cube(beam->out, nodes, (i + j + k) % 2 == 1);
			}
}

FemResult fem_beam_fill(
	const FemSolid *solid, const int32_t cells[3], double roundness, FemTetList *out, bool *out_made) {
	int32_t count = cells[0] + 1;
	Beam beam = {solid, cells, roundness, FEM_ALLOC_ARRAY(Section, count), out};
	*out_made = false;
	bool ready = beam.sections && fit_sections(&beam, out_made);
	if (ready && *out_made)
		add_cells(&beam);
	FEM_FREE_ARRAY(beam.sections, count);
	if (!ready || out->failed)
		return no_memory();
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}
