// Wood after Morris et al. 2011, section IV.C, in three dimensions: sections in a grid across the grain, even at first
// and then moved by chance; each is a bundle of fibres that end at different places, so that its ends are jagged.
#include "cutting/cut_patterns.h"

#include "base/memory.h"

#include <string.h>

#define SECTIONS_MOST 4096.0 // along an axis; chosen: far more than cells allow
#define EXTENT_LEAST 1e-9    // m, so that a quotient stays finite
#define LENGTH_MOST 1.5      // of the body's extent along the grain: longer sections are no different; chosen
#define TWO_FIBERS 0.7       // height over width of a section, from which on fibres lie above each other, too; chosen
#define SECTION_SHIFT 0.35   // of a section's size: how far chance moves it; chosen by eye
#define FIBER_SHIFT 0.25     // of a fibre's size: the same
#define GRID_EXTENT 1.1      // of the grid in unit space: the frame with a margin; chosen
#define REACH 1.4            // of a site's step along the fibre: how far its cell may reach; chosen
#define GRAIN 2              // axis of the frame that runs along the fibres
#define LENGTH_SHARE 8.0     // default section_length / section_width; chosen by eye
#define SAMPLES 8            // along a fibre, to find those that cut nothing; chosen
#define GRID 48              // cells along each axis of the grid they are looked for in; chosen
#define SLENDER 0.3          // slope of teeth: how far a fibre's tip is drawn out, see the metric; chosen by eye

typedef struct Wood {
	FemCutBody *body;
	FemCutSites *sites;
	FemCutFrame frame;
	int32_t columns, rows;            // sections across the grain
	int32_t fibers_across, fibers_up; // of a section
	int32_t kinks;                    // sites a section along a fibre
	double width, height, length;     // of a section
} Wood;

static int32_t count_of(double extent, double size) {
	double count = floor(extent / size + 0.5);
	return (int32_t)fmin(fmax(count, 1.0), SECTIONS_MOST);
}

static double jitter(Wood *wood) {
	return 2.0 * fem_cut_random(wood->body) - 1.0;
}

static bool size_sections(Wood *wood) {
	const FemCutDef *def = wood->body->def;
	const FemCutFrame *f = &wood->frame;
	double extent[3], size = wood->body->splinter_size;
	for (int axis = 0; axis < 3; axis++)
		extent[axis] = fmax(f->high[axis] - f->low[axis], EXTENT_LEAST);
	double slim = size / cbrt(LENGTH_SHARE); // of a section with the volume of a splinter
	double width = def->section_width > 0.0f ? (double)def->section_width : slim;
	double height = def->section_height > 0.0f ? (double)def->section_height : fmin(slim, extent[1]);
	double length = def->section_length > 0.0f ? (double)def->section_length : LENGTH_SHARE * width;
	wood->columns = count_of(extent[0], width);
	wood->rows = count_of(extent[1], height);
	wood->width = extent[0] / wood->columns;
	wood->height = extent[1] / wood->rows;
	wood->length = fmin(length, LENGTH_MOST * extent[GRAIN]);
	wood->fibers_across = def->horizontal_frequency;
	wood->fibers_up = wood->height > TWO_FIBERS * wood->width && def->horizontal_frequency > 1 ? 2 : 1;
	wood->kinks = 1 + def->vertical_frequency;
	double cells = (double)wood->columns * wood->rows * wood->fibers_across * wood->fibers_up * wood->kinks *
		(extent[GRAIN] / wood->length + 2.0);
	return cells < FEM_CUT_CELL_MAX / 4;
}

// Distances along the grain count for less, so that cells are long: with sections of length l and fibres of width w a
// factor of (SLENDER w / l)^(1/2) makes borders between the ends of neighbouring fibres slope by about SLENDER.
static void set_metric(Wood *wood) {
	double fiber = wood->width / wood->fibers_across;
	double along = fmin(sqrt(fiber / (SLENDER * wood->length / wood->kinks)), 1.0) * 0.5;
	for (int n = 0; n < 3; n++) {
		double scale = n == GRAIN ? along : 1.0;
		wood->sites->metric[n][0] = scale * wood->frame.axes[n].x;
		wood->sites->metric[n][1] = scale * wood->frame.axes[n].y;
		wood->sites->metric[n][2] = scale * wood->frame.axes[n].z;
	}
}

// A fibre of a section, at its place across the grain. `ends`: where this section's bundle is broken, `shift` for it.
static void add_fiber(Wood *wood, double x, double y, double start, double shift, int32_t splinter, int32_t count) {
	const FemCutDef *def = wood->body->def;
	double step = wood->length / wood->kinks,
		   lateral = (double)def->vertical_amplitude * wood->width / wood->fibers_across;
	for (int32_t n = 0; n < count; n++)
		for (int32_t k = 0; k < wood->kinks; k++) {
			double sway = wood->kinks > 1 ? lateral : 0.0;
			double at[3] = {
				x + sway * jitter(wood), y + sway * jitter(wood), start + n * wood->length + (k + 0.5) * step + shift};
			if (at[GRAIN] > wood->frame.low[GRAIN] - wood->length && at[GRAIN] < wood->frame.high[GRAIN] + wood->length)
				fem_cut_sites_add(wood->sites, fem_cut_frame_place(wood->body, &wood->frame, at), 0.0, splinter + n);
		}
}

static void add_section(Wood *wood, int32_t column, int32_t row) {
	const FemCutDef *def = wood->body->def;
	double phase = fem_cut_random(wood->body) * wood->length, start = wood->frame.low[GRAIN] - phase;
	int32_t count = 2 + (int32_t)((wood->frame.high[GRAIN] - start) / wood->length);
	double x0 = wood->frame.low[0] + (column + SECTION_SHIFT * (double)def->random_width * jitter(wood)) * wood->width;
	double y0 = wood->frame.low[1] + (row + SECTION_SHIFT * (double)def->random_height * jitter(wood)) * wood->height;
	double reach = (double)def->horizontal_amplitude * wood->length;
	for (int32_t i = 0; i < wood->fibers_across; i++)
		for (int32_t j = 0; j < wood->fibers_up; j++) {
			double x = x0 + (i + 0.5 + FIBER_SHIFT * jitter(wood)) * wood->width / wood->fibers_across;
			double y = y0 + (j + 0.5 + FIBER_SHIFT * jitter(wood)) * wood->height / wood->fibers_up;
			add_fiber(wood, x, y, start, reach * jitter(wood), wood->sites->splinter_count, count);
		}
	wood->sites->splinter_count += count;
}

// Which cells of a grid over unit space tets reach into, or nearly so.
typedef struct Filled {
	uint8_t cells[GRID][GRID][GRID];
} Filled;

static int grid_cell(double at) {
	int cell = (int)floor((at + 0.5 * GRID_EXTENT) / GRID_EXTENT * GRID);
	return cell < 0 ? 0 : cell >= GRID ? GRID - 1 : cell;
}

static void fill_grid(const Wood *wood, Filled *filled) {
	const FemTetArrays *tets = wood->body->tets;
	double margin = wood->width / wood->body->frame.size;
	for (int32_t t = 0; t < tets->tet_count; t++) {
		int low[3], high[3];
		for (int v = 0; v < 4; v++) {
			FemVec3d p = fem_frame_to_unit(
				&wood->body->frame, fem_vec3d_from(tets->nodes[tets->tets[4 * (size_t)t + (size_t)v]]));
			double at[3] = {p.x, p.y, p.z};
			for (int axis = 0; axis < 3; axis++) {
				int from = grid_cell(at[axis] - margin), to = grid_cell(at[axis] + margin);
				low[axis] = v == 0 || from < low[axis] ? from : low[axis];
				high[axis] = v == 0 || to > high[axis] ? to : high[axis];
			}
		}
		for (int x = low[0]; x <= high[0]; x++)
			for (int y = low[1]; y <= high[1]; y++)
				memset(&filled->cells[x][y][low[2]], 1, (size_t)(high[2] - low[2] + 1));
	}
}

// Hollow and bent bodies leave most of their box empty: cells there would be found, and cut nothing.
static void drop_empty(Wood *wood, int32_t first) {
	FemCutSites *sites = wood->sites;
	Filled *filled = FEM_ALLOC_ARRAY(Filled, 1);
	int32_t kept = first;
	if (!filled)
		return; // only slower
	fill_grid(wood, filled);
	for (int32_t n = first; n < sites->count; n++) {
		bool is_near = false;
		for (int k = 0; k < SAMPLES; k++) {
			double along = ((k + 0.5) / SAMPLES - 0.5) * REACH * wood->length / wood->kinks / wood->body->frame.size;
			FemVec3d p = fem_vec3d_add(sites->sites[n].at, fem_vec3d_scale(wood->frame.axes[GRAIN], along));
			is_near = is_near || filled->cells[grid_cell(p.x)][grid_cell(p.y)][grid_cell(p.z)];
		}
		if (is_near)
			sites->sites[kept++] = sites->sites[n];
	}
	sites->count = kept > first ? kept : sites->count;
	FEM_FREE_ARRAY(filled, 1);
}

static double filled_share(const Wood *wood) {
	double box = 1.0;
	for (int axis = 0; axis < 3; axis++)
		box *= wood->frame.high[axis] - wood->frame.low[axis];
	return box > 0.0 ? wood->body->volume / box : 1.0;
}

void fem_cut_pattern_wood(FemCutBody *body, FemCutSites *sites) {
	Wood wood = {.body = body, .sites = sites};
	wood.frame = fem_cut_frame(body, fem_vec3d_from(body->def->grain), GRAIN, 0);
	if (!size_sections(&wood)) {
		body->is_limited = true;
		fem_cut_pattern_voronoi(body, sites, 0, NULL);
		return;
	}
	set_metric(&wood);
	int32_t first = sites->count;
	for (int32_t column = 0; column < wood.columns; column++)
		for (int32_t row = 0; row < wood.rows && !sites->failed; row++)
			add_section(&wood, column, row);
	if (!sites->failed && sites->count > first && filled_share(&wood) < 0.5)
		drop_empty(&wood, first);
}
