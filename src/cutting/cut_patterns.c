#include "cutting/cut_patterns.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "geometry/embedding.h"

#define MANTISSA 53       // bits of a double
#define BELOW_1 0.999999  // times a number in 0..1, so that a logarithm stays finite
#define LENGTH_LEAST 1e-9 // of a vector that has a direction; chosen
#define NOISE_GAIN 1.5    // on noise in -1..1, which is seldom near its bounds; chosen by eye
#define IMPACT_SIZE 0.35  // size of splinters of thick glass at an impact, in mean sizes ...
#define IMPACT_GROWTH 2.5 // ... and what they gain over the size of the frame; both chosen by eye
#define UNEVEN_SCALE 0.35 // of the frame: over which sizes of splinters change; chosen by eye
#define UNEVEN_SEED 77    // tells this noise from others of the same seed: any number
#define UNEVEN_CHANNEL 7  // the same of a channel
#define CANDIDATES 6      // places tried a site: the one farthest from all others is taken; chosen by eye
#define SPREAD_MAX 6000   // sites; above, the search would take longer than the cutting
#define UNEVEN_RANGE 3.0  // ratio of splinter sizes between crowded and sparse places at full unevenness; chosen by eye

double fem_cut_random(FemCutBody *body) {
	body->random = fem_hash_word(body->random, 0x5bd1e995u);
	return (double)(fem_hash_word(body->random, 1) >> (64 - MANTISSA)) * 0x1p-53;
}

FemVec3d fem_cut_random_place(FemCutBody *body) {
	const FemTetArrays *tets = body->tets;
	double at = fem_cut_random(body) * body->volumes[tets->tet_count - 1], w[4], sum = 0.0;
	int32_t low = 0, high = tets->tet_count - 1;
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (body->volumes[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	for (int v = 0; v < 4; v++) {
		w[v] = -log(1.0 - fem_cut_random(body) * BELOW_1);
		sum += w[v];
	}
	FemVec3d out = {0};
	for (int v = 0; v < 4; v++)
		out = fem_vec3d_add(
			out, fem_vec3d_scale(fem_vec3d_from(tets->nodes[tets->tets[4 * (size_t)low + (size_t)v]]), w[v] / sum));
	return fem_frame_to_unit(&body->frame, out);
}

// ---- frame

static FemVec3d unit_or(FemVec3d v, FemVec3d other) {
	double length = sqrt(fem_vec3d_dot(v, v));
	return length > LENGTH_LEAST ? fem_vec3d_scale(v, 1.0 / length) : other;
}

static FemVec3d row(const double axes[3][3], int n) {
	return (FemVec3d){axes[n][0], axes[n][1], axes[n][2]};
}

FemCutFrame fem_cut_frame(const FemCutBody *body, FemVec3d direction, int axis, int by_shape) {
	const double(*box)[3] = body->box.frame.axes;
	FemCutFrame frame;
	FemVec3d along = unit_or(direction, row(box, by_shape)), across = row(box, (by_shape + 1) % 3);
	double most = -1.0;
	for (int n = 0; n < 3; n++) { // the longest of the box's axes that is not the direction
		FemVec3d other = row(box, n);
		double weight = body->box.half_extents[n] * (1.0 - fabs(fem_vec3d_dot(other, along)));
		if (weight > most) {
			most = weight;
			across = other;
		}
	}
	across = fem_vec3d_sub(across, fem_vec3d_scale(along, fem_vec3d_dot(along, across)));
	across = unit_or(across, row(box, (by_shape + 1) % 3));
	frame.axes[axis] = along;
	frame.axes[(axis + 1) % 3] = across;
	frame.axes[(axis + 2) % 3] = fem_vec3d_cross(along, across);
	for (int n = 0; n < 3; n++) {
		frame.low[n] = frame.high[n] = 0.0;
		double a[3] = {frame.axes[n].x, frame.axes[n].y, frame.axes[n].z};
		for (int m = 0; m < 3; m++) {
			double one = a[m] * body->low[m] * body->frame.size, two = a[m] * body->high[m] * body->frame.size;
			frame.low[n] += fmin(one, two);
			frame.high[n] += fmax(one, two);
		}
	}
	return frame;
}

FemVec3d fem_cut_frame_place(const FemCutBody *body, const FemCutFrame *frame, const double at[3]) {
	FemVec3d out = {0};
	for (int n = 0; n < 3; n++)
		out = fem_vec3d_add(out, fem_vec3d_scale(frame->axes[n], at[n] / body->frame.size));
	return out;
}

// ---- voronoi

// The size of splinters at a place, in shares of the mean: smooth noise, and smaller near impacts.
static double size_at(
	const FemCutBody *body, const FemCutNoise *noise, FemVec3d at, int32_t impact_count, const FemVec3d *impacts) {
	double uneven = (double)body->def->unevenness;
	double size = pow(UNEVEN_RANGE, 0.5 * uneven * NOISE_GAIN * fem_cut_noise(noise, at, UNEVEN_CHANNEL));
	double nearest = HUGE_VAL;
	for (int32_t n = 0; n < impact_count; n++) {
		FemVec3d offset = fem_vec3d_sub(at, impacts[n]);
		nearest = fmin(nearest, sqrt(fem_vec3d_dot(offset, offset)));
	}
	return impact_count > 0 ? size * (IMPACT_SIZE + IMPACT_GROWTH * nearest) : size;
}

// Best candidates (Mitchell 1991), with distances measured in sizes of splinters.
void fem_cut_pattern_voronoi(FemCutBody *body, FemCutSites *sites, int32_t impact_count, const FemVec3d *impacts) {
	FemCutNoise noise = {.scale = UNEVEN_SCALE, .seed = fem_hash_word(body->def->seed, UNEVEN_SEED)};
	int32_t first = sites->count;
	for (int32_t n = 0; n < body->splinter_count && !sites->failed; n++) {
		FemVec3d best = {0};
		double best_distance = -1.0;
		int tries = body->splinter_count > SPREAD_MAX ? 1 : CANDIDATES;
		for (int c = 0; c < tries; c++) {
			FemVec3d at = fem_cut_random_place(body);
			double size = size_at(body, &noise, at, impact_count, impacts), distance = HUGE_VAL;
			for (int32_t m = first; m < sites->count && tries > 1; m++) {
				FemVec3d offset = fem_vec3d_sub(at, sites->sites[m].at);
				distance = fmin(distance, fem_vec3d_dot(offset, offset));
			}
			distance /= size * size;
			if (distance > best_distance) {
				best_distance = distance;
				best = at;
			}
		}
		fem_cut_sites_add(sites, best, 0.0, sites->splinter_count++);
	}
}

void fem_cut_pattern(FemCutBody *body, FemCutSites *sites) {
	for (int n = 0; n < 3 * 3; n++)
		sites->metric[n / 3][n % 3] = n % 4 == 0 ? 1.0 : 0.0;
	body->random = fem_hash_word(FEM_HASH_START, body->def->seed);
	switch (body->def->pattern) {
	case FEM_PATTERN_GLASS: fem_cut_pattern_glass(body, sites); break;
	case FEM_PATTERN_WOOD: fem_cut_pattern_wood(body, sites); break;
	case FEM_PATTERN_BRICK: fem_cut_pattern_brick(body, sites); break;
	default: fem_cut_pattern_voronoi(body, sites, 0, NULL); break;
	}
	if (sites->count == 0)
		fem_cut_sites_add(sites, (FemVec3d){0}, 0.0, sites->splinter_count++);
}

// ---- joining

FemResult fem_cut_join_labels(FemCutSites *sites, const FemTetArrays *tets, const FemUnitFrame *frame) {
	int32_t count = sites->splinter_count;
	FemEmbedMesh mesh = {tets->node_count, tets->tet_count, tets->nodes, tets->tets, NULL};
	FemEmbedding homes = {0};
	FemVec3 *means = FEM_ALLOC_ARRAY(FemVec3, count);
	int32_t *sizes = FEM_ALLOC_ARRAY(int32_t, count), *first_plus_1 = FEM_ALLOC_ARRAY(int32_t, tets->tet_count);
	bool good = means && sizes && first_plus_1;
	for (int32_t n = 0; good && n < sites->count; n++) {
		FemVec3 at = fem_vec3d_to_vec3(fem_frame_to_user(frame, sites->sites[n].at));
		FemVec3 *mean = &means[sites->sites[n].splinter];
		float share = 1.0f / (float)++sizes[sites->sites[n].splinter];
		*mean = fem_vec3_add(*mean, fem_vec3_scale(fem_vec3_sub(at, *mean), share));
	}
	FemResult result = good
		? fem_embed(&mesh, means, NULL, count, &homes)
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: ask for fewer pieces.");
	for (int32_t n = 0; result == FEM_OK && n < sites->count; n++) {
		int32_t *first = &first_plus_1[homes.tets[sites->sites[n].splinter]];
		if (*first == 0)
			*first = sites->sites[n].splinter + 1;
		sites->sites[n].splinter = *first - 1;
	}
	fem_embedding_free(&homes);
	FEM_FREE_ARRAY(means, count);
	FEM_FREE_ARRAY(sizes, count);
	FEM_FREE_ARRAY(first_plus_1, tets->tet_count);
	return result;
}
