// Running bond: courses of bricks, each shifted by half a brick, with joints between. The cells are those of an uneven
// grid: a box is a cell of a power diagram with its centre as site and its squared half sides as weight, since the
// power of every face is then 0 from both sides. Boxes of one brick belong together. Bed joints are boxes of their own,
// which go with the brick above or below, or crumble: walls break along one face of the mortar. Head joints break in
// their middle.
#include "cutting/cut_patterns.h"

#include "base/hash.h"

#define BREAK_SEED 99u    // added to the seed where it is decided which bricks are broken: any number
#define LEAF_ROUNDING 0.4 // bricks through a wall: a wall 1.6 bricks thick has two; chosen
#define UP 1              // axis along which courses are laid
#define CRUMBLE 0.08      // chance of a box of mortar to be a splinter of its own; chosen by eye

typedef struct Wall {
	FemCutBody *body;
	FemCutSites *sites;
	FemCutFrame frame;                    // along the wall, up, through it
	double length, height, depth, mortar; // of bricks; depth with its share of the joint
	int32_t columns, courses, leaves;     // half bricks, courses, layers through the wall
	int32_t first_splinter;
} Wall;

// Splinter numbers: two halves a brick, then one for each box of mortar that crumbles.
static int32_t half_splinter(Wall *wall, int32_t column, int32_t course, int32_t leaf) {
	int32_t brick = (column + (course + leaf) % 2) / 2, half = (column + (course + leaf) % 2) % 2;
	int32_t per_course = wall->columns / 2 + 2;
	int32_t index = (leaf * wall->courses + course) * per_course + brick;
	uint64_t state = wall->body->random;
	wall->body->random =
		fem_hash_word(fem_hash_word(FEM_HASH_START, wall->body->def->seed + BREAK_SEED), (uint64_t)index);
	bool is_broken = fem_cut_random(wall->body) < (double)wall->body->def->broken_share;
	wall->body->random = state;
	return wall->first_splinter + 2 * index + (is_broken ? half : 0);
}

static void add_box(Wall *wall, const double center[3], const double half[3], int32_t splinter) {
	double size = wall->body->frame.size, weight = 0.0;
	for (int axis = 0; axis < 3; axis++)
		weight += half[axis] * half[axis] / (size * size);
	fem_cut_sites_add(wall->sites, fem_cut_frame_place(wall->body, &wall->frame, center), weight, splinter);
}

static int32_t clamp_to(int32_t value, int32_t count) {
	return value < 0 ? 0 : value >= count ? count - 1 : value;
}

// The splinter that a box of mortar goes with: that of a half brick beside it, or one of its own.
static int32_t mortar_splinter(Wall *wall, const int32_t one[3], const int32_t two[3]) {
	double chance = fem_cut_random(wall->body);
	if (chance < CRUMBLE)
		return wall->sites->splinter_count++;
	const int32_t *with = chance < 0.5 + 0.5 * CRUMBLE ? one : two;
	return half_splinter(
		wall, clamp_to(with[0], wall->columns), clamp_to(with[1], wall->courses), clamp_to(with[2], wall->leaves));
}

// A half brick, and the joint above it.
static void add_half(Wall *wall, int32_t column, int32_t course, int32_t leaf) {
	double pitch[3] = {0.5 * (wall->length + wall->mortar), wall->height + wall->mortar, wall->depth};
	int32_t at[3] = {column, course, leaf}, above[3] = {column, course + 1, leaf};
	double center[3], half[3];
	for (int axis = 0; axis < 3; axis++) {
		half[axis] = 0.5 * pitch[axis];
		center[axis] = wall->frame.low[axis] + (at[axis] + 0.5) * pitch[axis];
	}
	half[UP] = 0.5 * wall->height;
	add_box(wall, center, half, half_splinter(wall, column, course, leaf));
	if (course + 1 == wall->courses || wall->mortar <= 0.0)
		return;
	half[UP] = 0.5 * wall->mortar;
	center[UP] += 0.5 * pitch[UP];
	add_box(wall, center, half, mortar_splinter(wall, at, above));
}

void fem_cut_pattern_brick(FemCutBody *body, FemCutSites *sites) {
	const FemCutDef *def = body->def;
	FemVec3d up = fem_vec3d_from(def->grain);
	if (fem_vec3d_dot(up, up) < (double)FEM_CUT_NO_DIRECTION)
		up = (FemVec3d){0.0, 1.0, 0.0};
	Wall wall = {.body = body, .sites = sites, .frame = fem_cut_frame(body, up, UP, 1)};
	// fem_cut_frame() puts the longer of the others behind `up`: along the wall comes first here.
	FemCutFrame rotated = wall.frame;
	rotated.axes[0] = wall.frame.axes[2];
	rotated.low[0] = wall.frame.low[2];
	rotated.high[0] = wall.frame.high[2];
	rotated.axes[2] = fem_vec3d_scale(wall.frame.axes[0], -1.0);
	rotated.low[2] = -wall.frame.high[0];
	rotated.high[2] = -wall.frame.low[0];
	wall.frame = rotated;
	wall.length = (double)def->brick_size.x;
	wall.height = (double)def->brick_size.y;
	wall.depth = (double)def->brick_size.z;
	wall.mortar = (double)def->mortar;
	double extent[3], counts[3];
	for (int axis = 0; axis < 3; axis++)
		extent[axis] = wall.frame.high[axis] - wall.frame.low[axis];
	counts[0] = ceil(extent[0] / (0.5 * (wall.length + wall.mortar)));
	counts[1] = ceil((extent[1] + wall.mortar) / (wall.height + wall.mortar));
	counts[2] = fmax(floor(extent[2] / (wall.depth + wall.mortar) + LEAF_ROUNDING), 1.0);
	if (counts[0] * counts[1] * counts[2] * 2.0 > FEM_CUT_CELL_MAX / 4) {
		body->is_limited = true;
		fem_cut_pattern_voronoi(body, sites, 0, NULL);
		return;
	}
	wall.columns = (int32_t)counts[0];
	wall.courses = (int32_t)counts[1];
	wall.leaves = (int32_t)counts[2];
	wall.depth = extent[2] / wall.leaves;
	body->splinter_size = cbrt(wall.length * wall.height * (double)def->brick_size.z);
	wall.first_splinter = sites->splinter_count;
	sites->splinter_count += 2 * wall.leaves * wall.courses * (wall.columns / 2 + 2);
	for (int32_t leaf = 0; leaf < wall.leaves; leaf++)
		for (int32_t course = 0; course < wall.courses; course++)
			for (int32_t column = 0; column < wall.columns && !sites->failed; column++)
				add_half(&wall, column, course, leaf);
}
