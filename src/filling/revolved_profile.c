#include "filling/revolved_profile.h"

#include "base/mat3.h"
#include "base/memory.h"
#include "filling/edge_table.h"

#include <string.h>

#define CANDIDATES 9 // axes that are tried: those of the space, and the principal ones of normals and of places
// Of normals out of the planes through the axis, root mean square: of a prism of n sides it is 0.9 / n. Chosen so that
// 12 sides are round and 8 are not.
#define NORMALS_ASIDE 0.08
#define CORNER_SHARE (1.0 / 12.0) // of a triangle's second moment: what each corner counts, the middle the rest
#define BETTER_ASIDE 0.9          // factor on that from which on a later candidate is better; chosen
#define PROFILE_FINE 2e-5   // of the space: points of the profile that are left out lie no farther off at first; chosen
#define PROFILE_COARSER 2.0 // factor on that until they are few enough; chosen
#define PLACE_OFF 0.004     // of the space: farthest of a vertex from the revolved profile; chosen, facets are in it
#define AREA_OFF 0.06       // share by which the area of the revolved profile may differ: facets are smaller; chosen
#define PLACES_MOST 4000    // vertices that are looked at; chosen
#define BESIDE 1e-3         // rad: from a meridian of vertices to the profile; chosen
#define ASIDE_LEAST 1e-9    // of the space: what is nearer to the axis has no direction from it

#define OVAL_MOST 0.35  // width over length of ovals, at the least: flatter ones have long cells; chosen
#define OVAL_LEAST 0.98 // ... and at the most: rounder ones are round or not turned at all; chosen
#define OVAL_ROUNDS 8   // of squeezing: each leaves a tenth or so of what was missing; chosen
#define AXIS_ALONG 0.01 // cosine between the axis and the way an oval is wide, at the most; chosen

#define FULL_ANGLE 6.283185307179586 // rad

static FemVec3d unit(FemVec3d a) {
	double length = sqrt(fem_vec3d_dot(a, a));
	return fem_vec3d_scale(a, length > 0.0 ? 1.0 / length : 0.0);
}

static FemVec3d aside_of(FemVec3d at, FemVec3d origin, FemVec3d axis) {
	FemVec3d from = fem_vec3d_sub(at, origin);
	return fem_vec3d_sub(from, fem_vec3d_scale(axis, fem_vec3d_dot(from, axis)));
}

static FemVec3d middle_of(const FemSkin *skin, int32_t t) {
	FemVec3d sum = {0};
	for (int v = 0; v < 3; v++)
		sum = fem_vec3d_add(sum, fem_vec3d_scale(skin->vertices[skin->triangles[t][v]], 1.0 / 3.0));
	return sum;
}

// ---- axis

static void add_products(double m[3][3], FemVec3d a, double weight) {
	const double p[3] = {a.x, a.y, a.z};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			m[i][j] += weight * p[i] * p[j];
}

static void fill_candidates(const FemSkin *skin, FemVec3d origin, FemVec3d out[CANDIDATES]) {
	double normals[3][3] = {{0}}, places[3][3] = {{0}}, values[3], vectors[3][3];
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		FemVec3d area = fem_skin_area_vector(skin, t), middle = fem_vec3d_sub(middle_of(skin, t), origin);
		double size = sqrt(fem_vec3d_dot(area, area));
		add_products(normals, unit(area), size);
		add_products(places, middle, (1.0 - 3.0 * CORNER_SHARE) * size);
		for (int v = 0; v < 3; v++)
			add_products(places, fem_vec3d_sub(skin->vertices[skin->triangles[t][v]], origin), CORNER_SHARE * size);
	}
	for (int k = 0; k < 3; k++) {
		out[k] = (FemVec3d){0};
		(&out[k].x)[k] = 1.0;
	}
	fem_eigen_symmetric3(normals, values, vectors);
	for (int k = 0; k < 3; k++)
		out[3 + k] = (FemVec3d){vectors[k][0], vectors[k][1], vectors[k][2]};
	fem_eigen_symmetric3(places, values, vectors);
	for (int k = 0; k < 3; k++)
		out[6 + k] = (FemVec3d){vectors[k][0], vectors[k][1], vectors[k][2]};
}

// Mean square of what normals have round the axis.
static double aside_share(const FemSkin *skin, FemVec3d origin, FemVec3d axis) {
	double sum = 0.0, all = 0.0;
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		FemVec3d area = fem_skin_area_vector(skin, t);
		FemVec3d round = unit(fem_vec3d_cross(axis, aside_of(middle_of(skin, t), origin, axis)));
		double size = sqrt(fem_vec3d_dot(area, area)), part = fem_vec3d_dot(round, unit(area));
		sum += size * part * part;
		all += size;
	}
	return all > 0.0 ? sum / all : 1.0;
}

static FemVec3d centre_of(const FemSkin *skin) {
	FemVec3d sum = {0};
	double all = 0.0;
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		FemVec3d area = fem_skin_area_vector(skin, t);
		double size = sqrt(fem_vec3d_dot(area, area));
		sum = fem_vec3d_add(sum, fem_vec3d_scale(middle_of(skin, t), size));
		all += size;
	}
	return fem_vec3d_scale(sum, all > 0.0 ? 1.0 / all : 0.0);
}

static bool find_axis(const FemSkin *skin, FemRevolvedProfile *out) {
	FemVec3d candidates[CANDIDATES];
	double best = NORMALS_ASIDE * NORMALS_ASIDE;
	bool found = false;
	out->origin = centre_of(skin);
	fill_candidates(skin, out->origin, candidates);
	for (int i = 0; i < CANDIDATES; i++) {
		double share = aside_share(skin, out->origin, candidates[i]);
		if (!(share < best * (found ? BETTER_ASIDE * BETTER_ASIDE : 1.0)))
			continue;
		best = share;
		out->axis = candidates[i];
		found = true;
	}
	return found;
}

// The profile lies beside the vertex that is farthest from the axis: between vertices facets are nearer to the axis.
// Not right there: other vertices lie on the same meridian, and rounding would decide on which side of it.
static bool aim(const FemSkin *skin, FemRevolvedProfile *out) {
	FemVec3d farthest = {0};
	for (int32_t v = 0; v < skin->vertex_count; v++) {
		FemVec3d aside = aside_of(skin->vertices[v], out->origin, out->axis);
		if (fem_vec3d_dot(aside, aside) > fem_vec3d_dot(farthest, farthest))
			farthest = aside;
	}
	FemVec3d on = unit(farthest);
	out->across[0] = unit(fem_vec3d_add(on, fem_vec3d_scale(fem_vec3d_cross(out->axis, on), BESIDE)));
	out->across[1] = fem_vec3d_cross(out->axis, out->across[0]);
	return fem_vec3d_dot(farthest, farthest) > ASIDE_LEAST * ASIDE_LEAST;
}

// ---- the cut

// Where the half plane cuts edges, and which cuts follow each other.
typedef struct Chain {
	int32_t count;      // edges of the skin
	double (*at)[2];    // [edge]: radius and height of its cut
	int32_t (*next)[2]; // [edge]: edges whose cuts lie beside its own; -1 none, ON_AXIS
	double (*ends)[2];  // [edge]: height where the profile meets the axis, of a link ON_AXIS
	int8_t *links;      // [edge]
} Chain;

#define NOTHING (-1) // in Chain.next: the skin ends there
#define ON_AXIS (-2) // ... or meets the axis

static void add_link(Chain *chain, int32_t edge, int32_t next, double height) {
	int link = chain->links[edge]++;
	if (link > 1)
		return;
	chain->next[edge][link] = next;
	chain->ends[edge][link] = height;
}

static void cut_triangle(
	const FemSkin *skin, const FemEdgeTable *edges, const FemRevolvedProfile *profile, int32_t t, Chain *chain) {
	int32_t cut[2];
	int cuts = 0;
	for (int v = 0; v < 3; v++) {
		int32_t edge = edges->edge_of[3 * t + v];
		FemVec3d a = fem_vec3d_sub(skin->vertices[edges->ends[edge][0]], profile->origin);
		FemVec3d b = fem_vec3d_sub(skin->vertices[edges->ends[edge][1]], profile->origin);
		double off_a = fem_vec3d_dot(a, profile->across[1]), off_b = fem_vec3d_dot(b, profile->across[1]);
		if ((off_a >= 0.0) == (off_b >= 0.0))
			continue;
		FemVec3d at = fem_vec3d_add(a, fem_vec3d_scale(fem_vec3d_sub(b, a), off_a / (off_a - off_b)));
		chain->at[edge][0] = fem_vec3d_dot(at, profile->across[0]);
		chain->at[edge][1] = fem_vec3d_dot(at, profile->axis);
		cut[cuts++] = edge;
	}
	if (cuts != 2)
		return;
	const double *first = chain->at[cut[0]], *second = chain->at[cut[1]];
	double height = 0.0;
	if ((first[0] > 0.0) != (second[0] > 0.0))
		height = first[1] + (second[1] - first[1]) * first[0] / (first[0] - second[0]);
	for (int i = 0; i < 2; i++)
		if (chain->at[cut[i]][0] > 0.0)
			add_link(chain, cut[i], chain->at[cut[1 - i]][0] > 0.0 ? cut[1 - i] : ON_AXIS, height);
}

typedef struct Points {
	int32_t count;
	double (*at)[2];
} Points;

// Walks from one end to the other. False when the cut is not one line with two ends.
static bool walk(const Chain *chain, Points *points, bool on_axis[2]) {
	int32_t linked = 0, start = -1, end_link = 0;
	for (int32_t e = 0; e < chain->count; e++) {
		if (chain->links[e] == 0)
			continue;
		linked++;
		if (chain->links[e] > 2)
			return false;
		for (int i = 0; i < 2 && start < 0; i++)
			if (chain->next[e][i] < 0) {
				start = e;
				end_link = i;
			}
	}
	if (start < 0)
		return false;
	on_axis[0] = chain->next[start][end_link] == ON_AXIS;
	if (on_axis[0]) {
		points->at[0][0] = 0.0;
		points->at[points->count++][1] = chain->ends[start][end_link];
	}
	int32_t from = start, link = 1 - end_link, walked = 0;
	for (;;) {
		memcpy(points->at[points->count++], chain->at[from], sizeof *points->at);
		int32_t next = chain->next[from][link];
		if (++walked > linked || next < 0)
			break;
		link = chain->next[next][0] == from ? 1 : 0;
		from = next;
	}
	on_axis[1] = chain->next[from][link] == ON_AXIS;
	if (on_axis[1]) {
		points->at[points->count][0] = 0.0;
		points->at[points->count++][1] = chain->ends[from][link];
	}
	return walked == linked;
}

static double off_chord(const double a[2], const double b[2], const double p[2]) {
	double along[2] = {b[0] - a[0], b[1] - a[1]}, from[2] = {p[0] - a[0], p[1] - a[1]};
	double length_sq = along[0] * along[0] + along[1] * along[1];
	double t = length_sq > 0.0 ? fmin(fmax((from[0] * along[0] + from[1] * along[1]) / length_sq, 0.0), 1.0) : 0.0;
	return hypot(from[0] - t * along[0], from[1] - t * along[1]);
}

// Leaves out points that lie on the line between their neighbours, within `tolerance` (Ramer 1972, Douglas & Peucker
// 1973). stack: room for two numbers a point.
static void thin_out(Points *points, double tolerance, uint8_t *kept, int32_t *stack) {
	int32_t depth = 0, last = points->count - 1;
	memset(kept, 0, (size_t)points->count);
	kept[0] = kept[last] = 1;
	stack[depth++] = 0;
	stack[depth++] = last;
	while (depth > 0) {
		int32_t b = stack[--depth], a = stack[--depth], at = -1;
		double most = tolerance;
		for (int32_t i = a + 1; i < b; i++) {
			double off = off_chord(points->at[a], points->at[b], points->at[i]);
			if (off > most) {
				most = off;
				at = i;
			}
		}
		if (at < 0)
			continue;
		kept[at] = 1;
		stack[depth++] = a;
		stack[depth++] = at;
		stack[depth++] = at;
		stack[depth++] = b;
	}
	int32_t count = 0;
	for (int32_t i = 0; i <= last; i++)
		if (kept[i])
			memmove(points->at[count++], points->at[i], sizeof *points->at);
	points->count = count;
}

static bool keep_points(Points *points, FemRevolvedProfile *out) {
	int32_t capacity = points->count;
	uint8_t *kept = FEM_ALLOC_ARRAY(uint8_t, capacity);
	int32_t *stack = FEM_ALLOC_ARRAY(int32_t, 4 * (size_t)capacity);
	bool ready = kept && stack;
	for (double off = PROFILE_FINE; ready; off *= PROFILE_COARSER) {
		thin_out(points, off, kept, stack);
		if (points->count <= FEM_PROFILE_MOST)
			break;
	}
	out->count = ready ? points->count : 0;
	for (int32_t i = 0; i < out->count; i++) {
		out->radius[i] = points->at[i][0];
		out->height[i] = points->at[i][1];
	}
	FEM_FREE_ARRAY(kept, capacity);
	FEM_FREE_ARRAY(stack, 4 * (size_t)capacity);
	return ready;
}

static bool cut_profile(const FemSkin *skin, FemRevolvedProfile *out) {
	FemEdgeTable edges;
	if (!fem_edge_table_create(&edges, skin->triangles, skin->triangle_count))
		return false;
	Chain chain = {.count = edges.edge_count};
	Points points = {0};
	chain.at = (double(*)[2])(void *)FEM_ALLOC_ARRAY(double, 2 * (size_t)chain.count);
	chain.next = (int32_t(*)[2])(void *)FEM_ALLOC_ARRAY(int32_t, 2 * (size_t)chain.count);
	chain.ends = (double(*)[2])(void *)FEM_ALLOC_ARRAY(double, 2 * (size_t)chain.count);
	chain.links = FEM_ALLOC_ARRAY(int8_t, chain.count);
	points.at = (double(*)[2])(void *)FEM_ALLOC_ARRAY(double, 2 * (size_t)(chain.count + 2));
	bool ready = chain.at && chain.next && chain.ends && chain.links && points.at;
	if (ready) {
		for (int32_t e = 0; e < chain.count; e++)
			chain.next[e][0] = chain.next[e][1] = NOTHING;
		for (int32_t t = 0; t < skin->triangle_count; t++)
			cut_triangle(skin, &edges, out, t, &chain);
		out->found = walk(&chain, &points, out->on_axis) && points.count > 1;
		ready = !out->found || keep_points(&points, out);
	}
	FEM_FREE_ARRAY(points.at, chain.count + 2);
	FEM_FREE_ARRAY(chain.at, chain.count);
	FEM_FREE_ARRAY(chain.next, chain.count);
	FEM_FREE_ARRAY(chain.ends, chain.count);
	FEM_FREE_ARRAY(chain.links, chain.count);
	fem_edge_table_free(&edges);
	return ready;
}

// ---- whether the skin is its revolved profile

static bool has_area(const FemSkin *skin, const FemRevolvedProfile *profile) {
	double area = 0.0;
	for (int32_t i = 0; i + 1 < profile->count; i++) {
		double length = hypot(profile->radius[i + 1] - profile->radius[i], profile->height[i + 1] - profile->height[i]);
		area += 0.5 * FULL_ANGLE * (profile->radius[i] + profile->radius[i + 1]) * length;
	}
	return fabs(fem_skin_area(skin) - area) < AREA_OFF * area;
}

// The step of the profile that a place is nearest to, and how far it is from it.
static int32_t nearest_step(const FemRevolvedProfile *profile, FemVec3d at, double *out_off) {
	FemVec3d aside = aside_of(at, profile->origin, profile->axis);
	double p[2] = {sqrt(fem_vec3d_dot(aside, aside)), fem_vec3d_dot(fem_vec3d_sub(at, profile->origin), profile->axis)};
	int32_t best = 0;
	*out_off = HUGE_VAL;
	for (int32_t i = 0; i + 1 < profile->count; i++) {
		double a[2] = {profile->radius[i], profile->height[i]}, b[2] = {profile->radius[i + 1], profile->height[i + 1]};
		double off = off_chord(a, b, p);
		if (off < *out_off) {
			*out_off = off;
			best = i;
		}
	}
	return best;
}

static bool faces_right(const FemSkin *skin, const FemRevolvedProfile *profile) {
	int32_t stride = skin->triangle_count / PLACES_MOST + 1;
	double sum = 0.0, off;
	for (int32_t t = 0; t < skin->triangle_count; t += stride) {
		FemVec3d area = fem_skin_area_vector(skin, t), middle = middle_of(skin, t);
		int32_t i = nearest_step(profile, middle, &off);
		double out = fem_vec3d_dot(area, unit(aside_of(middle, profile->origin, profile->axis)));
		sum += out * (profile->height[i + 1] - profile->height[i]) -
			fem_vec3d_dot(area, profile->axis) * (profile->radius[i + 1] - profile->radius[i]);
	}
	return sum > 0.0;
}

static bool find_round(const FemSkin *skin, FemRevolvedProfile *out) {
	*out = (FemRevolvedProfile){.stretch = 1.0};
	if (!find_axis(skin, out) || !aim(skin, out))
		return true;
	if (!cut_profile(skin, out))
		return false;
	int32_t stride = skin->vertex_count / PLACES_MOST + 1;
	out->found = out->found && has_area(skin, out);
	for (int32_t v = 0; v < skin->vertex_count && out->found; v += stride) {
		double off;
		nearest_step(out, skin->vertices[v], &off);
		out->found = off < PLACE_OFF;
	}
	out->faces_right = out->found && faces_right(skin, out);
	return true;
}

// ---- ovals

// Second moments of a skin's triangles along two directions.
static void moments_along(const FemSkin *skin, FemVec3d origin, const FemVec3d directions[2], double out[2]) {
	out[0] = out[1] = 0.0;
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		FemVec3d area = fem_skin_area_vector(skin, t);
		double size = sqrt(fem_vec3d_dot(area, area));
		for (int v = 0; v < 3; v++) {
			FemVec3d from = fem_vec3d_sub(skin->vertices[skin->triangles[t][v]], origin);
			for (int k = 0; k < 2; k++) {
				double along = fem_vec3d_dot(from, directions[k]);
				out[k] += size * along * along;
			}
		}
	}
}

static void squeeze(FemSkin *skin, FemVec3d origin, FemVec3d along, double factor) {
	for (int32_t v = 0; v < skin->vertex_count; v++) {
		double far = fem_vec3d_dot(fem_vec3d_sub(skin->vertices[v], origin), along);
		skin->vertices[v] = fem_vec3d_add(skin->vertices[v], fem_vec3d_scale(along, (factor - 1.0) * far));
	}
}

// Squeezes a copy of the skin along the wider of two directions until it is as wide along both. Areas change with it,
// so that moments have to be taken anew.
static double squeeze_round(FemSkin *skin, FemVec3d origin, const FemVec3d directions[2], int *out_wide) {
	double moments[2], share = 1.0;
	moments_along(skin, origin, directions, moments);
	*out_wide = moments[1] > moments[0];
	for (int i = 0; i < OVAL_ROUNDS && moments[*out_wide] > 0.0; i++) {
		double factor = sqrt(moments[!*out_wide] / moments[*out_wide]);
		share *= factor;
		squeeze(skin, origin, directions[*out_wide], factor);
		moments_along(skin, origin, directions, moments);
		if (share < OVAL_MOST)
			break;
	}
	return share;
}

static bool find_oval(const FemSkin *skin, FemRevolvedProfile *out) {
	FemVec3d origin = centre_of(skin), candidates[CANDIDATES];
	FemSkin squeezed = *skin;
	squeezed.vertices = FEM_ALLOC_ARRAY(FemVec3d, skin->vertex_count);
	bool ready = squeezed.vertices != NULL;
	fill_candidates(skin, origin, candidates);
	for (int k = 0; k < 3 && ready && !out->found; k++) {
		FemVec3d across[2] = {candidates[CANDIDATES - 3 + (k + 1) % 3], candidates[CANDIDATES - 3 + (k + 2) % 3]};
		int wide;
		memcpy(squeezed.vertices, skin->vertices, sizeof *skin->vertices * (size_t)skin->vertex_count);
		double share = squeeze_round(&squeezed, origin, across, &wide);
		if (!(share > OVAL_MOST && share < OVAL_LEAST))
			continue;
		ready = find_round(&squeezed, out);
		out->found = out->found && fabs(fem_vec3d_dot(out->axis, across[wide])) < AXIS_ALONG;
		out->wide = across[wide];
		out->stretch = 1.0 / share;
		out->still = fem_vec3d_dot(origin, across[wide]);
	}
	FEM_FREE_ARRAY(squeezed.vertices, skin->vertex_count);
	return ready;
}

bool fem_revolved_profile_find(const FemSkin *skin, FemRevolvedProfile *out) {
	return find_round(skin, out) && (out->found || find_oval(skin, out));
}
