#include "filling/revolved_skin.h"

#include "base/memory.h"

#define SECTORS_LEAST 10 // meridians: tubes of 8 become ovals by 1.26 of theory, of 10 by 1.15; chosen
#define SECTORS_MOST 256 // ... and at the most; chosen
#define ERROR_FINER 0.9  // factor on the error while there are fewer triangles than may be; chosen
#define FINER_ROUNDS 60  // ... which is 2e-3 of it at the end; chosen
#define ALONG_LEAST 0.2  // of the error: what is left for the profile however few meridians there are; chosen
// Mean radii from ring to ring at the most. Chosen by measuring: a bottle of 690 tets bends 0.85 of what it should with
// 0.9, of 630 tets 0.81 with 1.15, and a vase of 540 0.96, of 429 0.89 (tests/test_shell_bending.c).
#define RINGS_APART 1.15
// Rings along a straight part that this asks for; chosen. Between those that are farther apart lie quadrangles: tubes
// of prisms of 4.6 radii bend as a beam 0.31 as far as they should.
#define STRAIGHT_MOST 8
#define TETS_OF_TRIANGLE 3   // of the cell that it becomes
#define TETS_OF_QUADRANGLE 5 // the same
#define LONG 1.01            // factor on that: what is rounded to it is none of those; chosen
#define ASPECT_EVEN 1.6      // length of cells over their width where as many are wanted; chosen
#define ASPECT_MORE 1.25     // factor on that while there are too many; chosen
#define ASPECT_MOST 1e3      // no bound
#define SMOOTHNESS 0.2       // of a ring: what a ring more may save of the largest error; chosen
#define CORNER_COSINE 0.85   // between the two sides of a corner of the profile: sharper ones stay in place; chosen

#define FULL_ANGLE 6.283185307179586 // rad

typedef struct Lathe {
	const FemRevolvedProfile *profile;
	double (*off)[FEM_PROFILE_MOST]; // [from][to]: farthest point of the profile between from the chord
	double *along;                   // [point]: length of the profile up to there
	double mean_radius;              // by area
	double aspect;                   // length of cells over their mean width, at the most
	// of the last plan
	double *costs;                     // [point]: steps from ring to ring up to there
	int32_t *before;                   // [point]: the corner before it
	int32_t corners[FEM_PROFILE_MOST]; // points that are corners, in order
	int32_t steps[FEM_PROFILE_MOST];   // [corner]: from the one before it to it
	bool is_long[FEM_PROFILE_MOST];    // [corner]: its steps are of quadrangles
	int32_t corner_count, step_count;  // step_count: from one end to the other
	int32_t long_count;                // of these steps
} Lathe;

static double off_chord(const FemRevolvedProfile *p, int32_t a, int32_t b, int32_t at) {
	double along[2] = {p->radius[b] - p->radius[a], p->height[b] - p->height[a]};
	double from[2] = {p->radius[at] - p->radius[a], p->height[at] - p->height[a]};
	double length = hypot(along[0], along[1]);
	return length > 0.0 ? fabs(from[0] * along[1] - from[1] * along[0]) / length : hypot(from[0], from[1]);
}

static void measure(Lathe *lathe) {
	const FemRevolvedProfile *p = lathe->profile;
	double area = 0.0;
	for (int32_t a = 0; a < p->count; a++)
		for (int32_t b = a + 1; b < p->count; b++) {
			double most = 0.0;
			for (int32_t i = a + 1; i < b; i++)
				most = fmax(most, off_chord(p, a, b, i));
			lathe->off[a][b] = most;
		}
	for (int32_t i = 1; i < p->count; i++) {
		double length = hypot(p->radius[i] - p->radius[i - 1], p->height[i] - p->height[i - 1]);
		lathe->along[i] = lathe->along[i - 1] + length;
		area += 0.5 * (p->radius[i] + p->radius[i - 1]) * length;
	}
	lathe->mean_radius = lathe->along[p->count - 1] > 0.0 ? area / lathe->along[p->count - 1] : 0.0;
}

// A circle of radius 1 and a polygon of so many sides are this far apart where corners lie as far outside as the
// middles of sides lie within: r (1 + e) cos a = r (1 - e), a half the angle of a side.
static double polygon_error(int32_t sectors) {
	double cosine = cos(0.5 * FULL_ANGLE / sectors);
	return (1.0 - cosine) / (1.0 + cosine);
}

// From one corner to the next, the profile being nearly straight between them.
static int32_t steps_between(const Lathe *lathe, int32_t a, int32_t b, int32_t sectors) {
	double length = lathe->along[b] - lathe->along[a], width = FULL_ANGLE * lathe->mean_radius / sectors;
	double to_bend = fmin(ceil(length / (RINGS_APART * lathe->mean_radius)), STRAIGHT_MOST);
	return (int32_t)fmax(fmax(to_bend, ceil(length / (lathe->aspect * width))), 1.0);
}

// The fewest rings for a number of meridians, by the corners' shortest path along the profile. Half the distance from a
// chord is the error: corners are moved outward by the other half (place_corners()).
static void plan_rings(Lathe *lathe, int32_t sectors, double error) {
	const FemRevolvedProfile *p = lathe->profile;
	double round = polygon_error(sectors);
	lathe->costs[0] = 0.0;
	for (int32_t b = 1; b < p->count; b++) {
		double radius = p->radius[b];
		lathe->costs[b] = HUGE_VAL;
		for (int32_t a = b - 1; a >= 0; a--) {
			radius = fmax(radius, p->radius[a]);
			double allowed = fmax(error - round * radius, ALONG_LEAST * error), off = 0.5 * lathe->off[a][b];
			if (off > allowed && a < b - 1)
				continue;
			double cost = lathe->costs[a] + steps_between(lathe, a, b, sectors) + SMOOTHNESS * off / allowed;
			if (cost < lathe->costs[b]) {
				lathe->costs[b] = cost;
				lathe->before[b] = a;
			}
		}
	}
	lathe->corner_count = lathe->step_count = lathe->long_count = 0;
	for (int32_t at = p->count - 1; at > 0; at = lathe->before[at])
		lathe->corner_count++;
	int32_t number = lathe->corner_count++;
	for (int32_t at = p->count - 1; number >= 0; at = lathe->before[at], number--) {
		lathe->corners[number] = at;
		lathe->steps[number] = 0;
		if (number == 0)
			break;
		int32_t a = lathe->before[at], steps = steps_between(lathe, a, at, sectors);
		lathe->steps[number] = steps;
		lathe->step_count += steps;
		lathe->is_long[number] = lathe->along[at] - lathe->along[a] > LONG * RINGS_APART * lathe->mean_radius * steps;
		lathe->long_count += lathe->is_long[number] ? steps : 0;
	}
}

static int64_t triangles_of(const Lathe *lathe, int32_t sectors) {
	return (int64_t)sectors * (2 * lathe->step_count - lathe->profile->on_axis[0] - lathe->profile->on_axis[1]);
}

// A layer.
static int64_t tets_of(const Lathe *lathe, int32_t sectors) {
	int32_t fewer = 2 * TETS_OF_TRIANGLE - TETS_OF_QUADRANGLE;
	return TETS_OF_TRIANGLE * triangles_of(lathe, sectors) - (int64_t)sectors * fewer * lathe->long_count;
}

// Meridians with which there are fewest tets for an error. Quadrangles take turns round the axis.
static int32_t best_sectors(Lathe *lathe, double error, int64_t *out_tets) {
	int32_t best = SECTORS_MOST;
	*out_tets = INT64_MAX;
	double widest = 0.0;
	for (int32_t i = 0; i < lathe->profile->count; i++)
		widest = fmax(widest, lathe->profile->radius[i]);
	for (int32_t sectors = SECTORS_LEAST; sectors <= SECTORS_MOST; sectors++) {
		double round = polygon_error(sectors) * widest;
		if (round > (1.0 - ALONG_LEAST) * error && sectors < SECTORS_MOST)
			continue;
		plan_rings(lathe, sectors, error);
		int64_t tets = tets_of(lathe, sectors);
		if (tets < *out_tets && (lathe->long_count == 0 || sectors % 2 == 0)) {
			*out_tets = tets;
			best = sectors;
		}
		if ((int64_t)sectors * TETS_OF_QUADRANGLE > *out_tets || round < ALONG_LEAST * error)
			break; // more meridians cannot be fewer tets
	}
	return best;
}

// ---- corners

typedef struct Ring {
	double radius, height;
} Ring;

// How far the profile lies off the chord between two corners where it is farthest, to the left positive.
static double largest_off(const Lathe *lathe, int32_t a, int32_t b) {
	const FemRevolvedProfile *p = lathe->profile;
	double along[2] = {p->radius[b] - p->radius[a], p->height[b] - p->height[a]}, length = hypot(along[0], along[1]);
	double sum = 0.0, most = 0.0;
	for (int32_t i = a + 1; i < b && length > 0.0; i++) {
		double from[2] = {p->radius[i] - p->radius[a], p->height[i] - p->height[a]};
		double off = (along[0] * from[1] - along[1] * from[0]) / length;
		sum = fabs(off) > most ? off : sum;
		most = fmax(most, fabs(off));
	}
	return sum;
}

// Corners between two chords that the profile lies outside of are moved there by half of it. Ends and sharp corners
// stay.
static void place_corners(const Lathe *lathe, Ring *corners) {
	const FemRevolvedProfile *p = lathe->profile;
	for (int32_t i = 0; i < lathe->corner_count; i++) {
		int32_t at = lathe->corners[i];
		corners[i] = (Ring){p->radius[at], p->height[at]};
		if (i == 0 || i == lathe->corner_count - 1)
			continue;
		int32_t a = lathe->corners[i - 1], b = lathe->corners[i + 1];
		double u[2] = {p->radius[at] - p->radius[a], p->height[at] - p->height[a]};
		double v[2] = {p->radius[b] - p->radius[at], p->height[b] - p->height[at]};
		double length = hypot(u[0], u[1]) * hypot(v[0], v[1]),
			   chord[2] = {p->radius[b] - p->radius[a], p->height[b] - p->height[a]};
		double off = 0.25 * (largest_off(lathe, a, at) + largest_off(lathe, at, b)), whole = hypot(chord[0], chord[1]);
		if (!(u[0] * v[0] + u[1] * v[1] > CORNER_COSINE * length) || !(whole > 0.0))
			continue;
		corners[i].radius = fmax(corners[i].radius - off * chord[1] / whole, 0.5 * corners[i].radius);
		corners[i].height += off * chord[0] / whole;
	}
}

// out_is_long: of the steps that end at each.
static int32_t fill_rings(const Lathe *lathe, const Ring *corners, Ring *out, bool *out_is_long) {
	int32_t count = 0;
	out_is_long[count] = false;
	out[count++] = corners[0];
	for (int32_t i = 1; i < lathe->corner_count; i++)
		for (int32_t k = 1; k <= lathe->steps[i]; k++) {
			double t = (double)k / lathe->steps[i];
			out_is_long[count] = lathe->is_long[i];
			out[count++] = (Ring){corners[i - 1].radius + t * (corners[i].radius - corners[i - 1].radius),
				corners[i - 1].height + t * (corners[i].height - corners[i - 1].height)};
		}
	return count;
}

// ---- triangles

static void add_triangle(FemSkin *skin, int32_t a, int32_t b, int32_t c) {
	int32_t *triangle = skin->triangles[skin->triangle_count];
	triangle[0] = a;
	triangle[1] = b;
	triangle[2] = c;
	skin->sources[skin->triangle_count++] = -1;
}

static void add_ring(
	FemSkin *skin, const FemRevolvedProfile *profile, Ring ring, int32_t sectors, bool on_axis, bool odd) {
	double radius = ring.radius * (1.0 + polygon_error(sectors));
	for (int32_t s = 0; s < (on_axis ? 1 : sectors); s++) {
		double angle = FULL_ANGLE * s / sectors;
		FemVec3d at = fem_vec3d_add(profile->origin, fem_vec3d_scale(profile->axis, ring.height));
		if (!on_axis) {
			at = fem_vec3d_add(at, fem_vec3d_scale(profile->across[0], radius * cos(angle)));
			at = fem_vec3d_add(at, fem_vec3d_scale(profile->across[1], radius * sin(angle)));
		}
		if (skin->is_odd)
			skin->is_odd[skin->vertex_count] = (s % 2 == 1) != odd;
		skin->vertices[skin->vertex_count++] = at;
	}
}

// Diagonals turn from one quad to the next, so that no way round is stiffer than the other.
static void add_band(FemSkin *skin, int32_t low, int32_t high, int32_t sectors, bool low_is_point, bool high_is_point,
	bool odd, bool outward, bool is_long) {
	for (int32_t s = 0; s < sectors; s++) {
		if (is_long && !low_is_point && !high_is_point)
			skin->first_halves[skin->triangle_count] = true;
		int32_t next = (s + 1) % sectors, a = low + s, b = low + next, c = high + next, d = high + s;
		if (low_is_point) {
			add_triangle(skin, low, outward ? c : d, outward ? d : c);
		} else if (high_is_point) {
			add_triangle(skin, outward ? a : b, outward ? b : a, high);
		} else if ((s % 2 == 1) != odd) {
			add_triangle(skin, outward ? a : b, outward ? b : a, c);
			add_triangle(skin, a, outward ? c : d, outward ? d : c);
		} else {
			add_triangle(skin, outward ? a : b, outward ? b : a, d);
			add_triangle(skin, b, outward ? c : d, outward ? d : c);
		}
	}
}

static bool lay(const Lathe *lathe, int32_t sectors, bool outward, FemSkin *out) {
	const FemRevolvedProfile *profile = lathe->profile;
	int32_t capacity = lathe->step_count + 1, count, before = 0;
	Ring corners[FEM_PROFILE_MOST] = {{0}}, *rings = FEM_ALLOC_ARRAY(Ring, capacity);
	bool *is_long = FEM_ALLOC_ARRAY(bool, capacity);
	*out = (FemSkin){.vertex_capacity = sectors * capacity, .triangle_capacity = (int32_t)triangles_of(lathe, sectors)};
	out->vertices = FEM_ALLOC_ARRAY(FemVec3d, out->vertex_capacity);
	out->triangles = (int32_t(*)[3])(void *)FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)out->triangle_capacity);
	out->sources = FEM_ALLOC_ARRAY(int32_t, out->triangle_capacity);
	bool ready = rings && is_long && out->vertices && out->triangles && out->sources;
	if (ready && lathe->long_count > 0) {
		out->first_halves = FEM_ALLOC_ARRAY(int8_t, out->triangle_capacity);
		out->is_odd = FEM_ALLOC_ARRAY(int8_t, out->vertex_capacity);
		ready = out->first_halves && out->is_odd;
	}
	if (ready) {
		place_corners(lathe, corners);
		count = fill_rings(lathe, corners, rings, is_long);
		for (int32_t i = 0; i < count; i++) {
			bool first = i == 0 && profile->on_axis[0], last = i == count - 1 && profile->on_axis[1];
			int32_t at = out->vertex_count;
			add_ring(out, profile, rings[i], sectors, first || last, i % 2 == 1);
			if (i > 0)
				add_band(
					out, before, at, sectors, i == 1 && profile->on_axis[0], last, i % 2 == 1, outward, is_long[i]);
			before = at;
		}
	}
	FEM_FREE_ARRAY(rings, capacity);
	FEM_FREE_ARRAY(is_long, capacity);
	return ready;
}

// ---- whole

// The error that is allowed, or a smaller one that leaves as many triangles as are wanted; of cells as even as these
// allow.
static int32_t plan(Lathe *lathe, int32_t triangle_count, double error_max) {
	int64_t tets, wanted = (int64_t)TETS_OF_TRIANGLE * triangle_count;
	double error = error_max;
	int32_t sectors;
	for (lathe->aspect = ASPECT_EVEN;; lathe->aspect *= ASPECT_MORE) {
		sectors = best_sectors(lathe, error, &tets);
		if (tets <= wanted || lathe->aspect > ASPECT_MOST)
			break;
	}
	for (int i = 0; i < FINER_ROUNDS && tets < wanted; i++) {
		int32_t more = best_sectors(lathe, ERROR_FINER * error, &tets);
		if (tets > wanted)
			break;
		sectors = more;
		error *= ERROR_FINER;
	}
	plan_rings(lathe, sectors, error);
	return sectors;
}

// The way back from round to oval.
static void stretch(const FemRevolvedProfile *profile, FemSkin *skin) {
	for (int32_t v = 0; v < skin->vertex_count; v++) {
		double far = fem_vec3d_dot(skin->vertices[v], profile->wide) - profile->still;
		FemVec3d more = fem_vec3d_scale(profile->wide, (profile->stretch - 1.0) * far);
		skin->vertices[v] = fem_vec3d_add(skin->vertices[v], more);
	}
}

bool fem_revolved_skin(const FemRevolvedProfile *profile, int32_t triangle_count, double error_max, FemSkin *out) {
	Lathe lathe = {.profile = profile};
	double error = error_max / profile->stretch; // before it is stretched
	size_t points = FEM_PROFILE_MOST;
	*out = (FemSkin){0};
	lathe.off = (double(*)[FEM_PROFILE_MOST])(void *)FEM_ALLOC_ARRAY(double, points *points);
	lathe.along = FEM_ALLOC_ARRAY(double, points);
	lathe.costs = FEM_ALLOC_ARRAY(double, points);
	lathe.before = FEM_ALLOC_ARRAY(int32_t, points);
	bool ready = lathe.off && lathe.along && lathe.costs && lathe.before;
	if (ready) {
		measure(&lathe);
		ready = lay(&lathe, plan(&lathe, triangle_count, error), profile->faces_right, out);
		stretch(profile, out);
	}
	FEM_FREE_ARRAY(lathe.off, points);
	FEM_FREE_ARRAY(lathe.along, points);
	FEM_FREE_ARRAY(lathe.costs, points);
	FEM_FREE_ARRAY(lathe.before, points);
	return ready;
}
