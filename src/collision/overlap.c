#include "collision/overlap.h"

#include "base/vec.h"
#include "collision/overlap_points.h"
#include "collision/polyhedron.h"

#define FACE_MIN 1e-7f          // of the surface: smaller faces are left by rounding
#define NO_DIRECTION_AREA 0.25f // of the surface, for overlaps without a direction: what a ball shows to one side

// Cosine below which two faces count as not opposed: perpendicular ones, rounded. Chosen: half a degree.
#define OPPOSED_MIN 0.01f
// |r| over the surface below which there is no direction; chosen: what areas that cancel leave by rounding is 1e-6.
#define DIRECTION_MIN 1e-3f
#define THICKNESS_MIN 1e-6f // W / (surface size of the bodies), and
#define VOLUME_MIN 1e-7f    // W / reach^3 of the polyhedron: what float can tell from touching
#define INWARD 0.9f         // of the way from the centre to a point: at the point itself the overlap may end; chosen
#define ALONG_MIN 1e-3f     // cosine of a plane to the normal below which it runs along it; chosen
#define BOX_MARGIN 1e-3f // of the size: a start box lies outside both bodies, so that none of its faces remain; chosen

// The two bodies in an order that does not depend on how the caller named them, in the frame of the first.
typedef struct Pair {
	const FemConvex *first, *second;
	FemVec3 offset;                    // m, second origin - first origin
	float size;                        // m, of the smaller one
	bool equal;                        // the same body twice: neither side of the polyhedron is the first's
	FemVec4 planes[FEM_CONVEX_PLANES]; // of the second, in the frame of the first
} Pair;

// ---- order

// Sign of the first difference; 0 for equal bodies.
static int compare_values(const float *a, const float *b, int32_t count) {
	for (int32_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int compare_shapes(const FemConvex *a, const FemConvex *b) {
	if (a->is_tet != b->is_tet)
		return a->is_tet ? -1 : 1;
	if (a->origin.x != b->origin.x)
		return a->origin.x < b->origin.x ? -1 : 1;
	if (a->origin.y != b->origin.y)
		return a->origin.y < b->origin.y ? -1 : 1;
	if (a->origin.z != b->origin.z)
		return a->origin.z < b->origin.z ? -1 : 1;
	if (a->plane_count != b->plane_count)
		return a->plane_count < b->plane_count ? -1 : 1;
	int order = compare_values(&a->planes[0].x, &b->planes[0].x, 4 * a->plane_count);
	if (order)
		return order;
	for (int i = 0; i < FEM_CONVEX_PLANES / 32; i++)
		if (a->exterior[i] != b->exterior[i])
			return a->exterior[i] < b->exterior[i] ? -1 : 1;
	return 0;
}

// ---- separation

// fmaxf() and fminf() are calls, for the sake of NaN.
static inline float larger(float a, float b) {
	return a > b ? a : b;
}

static inline float smaller(float a, float b) {
	return a < b ? a : b;
}

static float box_size(const FemConvex *shape) {
	FemVec3 size = fem_vec3_sub(shape->box_max, shape->box_min);
	return larger(size.x, larger(size.y, size.z));
}

// Written so that NaN means separated.
static bool boxes_meet(const FemConvex *a, const FemConvex *b, FemVec3 offset) {
	return a->box_min.x <= b->box_max.x + offset.x && b->box_min.x + offset.x <= a->box_max.x &&
		a->box_min.y <= b->box_max.y + offset.y && b->box_min.y + offset.y <= a->box_max.y &&
		a->box_min.z <= b->box_max.z + offset.z && b->box_min.z + offset.z <= a->box_max.z;
}

// All vertices (none: no) in front of the plane n.x = w.
static inline bool all_in_front(FemVec4 plane, float w, const FemVec4 *vertices, int32_t count) {
	float nearest = INFINITY;
	if (count == 4) { // a tet, unrolled
		float d[4];
		for (int i = 0; i < 4; i++)
			d[i] = plane.x * vertices[i].x + plane.y * vertices[i].y + plane.z * vertices[i].z;
		float near_01 = d[0] < d[1] ? d[0] : d[1], near_23 = d[2] < d[3] ? d[2] : d[3];
		return (near_01 < near_23 ? near_01 : near_23) >= w;
	}
	for (int32_t i = 0; i < count; i++) {
		float along = plane.x * vertices[i].x + plane.y * vertices[i].y + plane.z * vertices[i].z;
		nearest = along < nearest ? along : nearest;
	}
	return nearest >= w && count > 0;
}

// A plane of one body has all of the other in front of it. Also moves the second's planes to the first's frame.
static bool planes_separate(Pair *pair) {
	const FemConvex *first = pair->first, *second = pair->second;
	FemVec3 o = pair->offset;
	for (int32_t i = 0; i < second->plane_count; i++) {
		FemVec4 plane = second->planes[i];
		plane.w += plane.x * o.x + plane.y * o.y + plane.z * o.z;
		pair->planes[i] = plane;
		if (all_in_front(plane, plane.w, first->vertices, first->vertex_count))
			return true;
	}
	for (int32_t i = 0; i < first->plane_count; i++) {
		FemVec4 plane = first->planes[i];
		float w = plane.w - (plane.x * o.x + plane.y * o.y + plane.z * o.z);
		if (all_in_front(plane, w, second->vertices, second->vertex_count))
			return true;
	}
	return false;
}

// ---- cutting

// Where both bounding boxes are, in the frame of the first, with a margin.
static bool start_box(const Pair *pair, FemPolyhedron *p, int32_t first_face) {
	const FemConvex *a = pair->first, *b = pair->second;
	FemVec3 o = pair->offset, m = fem_vec3_scale(fem_vec3(1.0f, 1.0f, 1.0f), BOX_MARGIN * pair->size);
	FemVec3 min = fem_vec3(fmaxf(a->box_min.x, b->box_min.x + o.x), fmaxf(a->box_min.y, b->box_min.y + o.y),
		fmaxf(a->box_min.z, b->box_min.z + o.z));
	FemVec3 max = fem_vec3(fminf(a->box_max.x, b->box_max.x + o.x), fminf(a->box_max.y, b->box_max.y + o.y),
		fminf(a->box_max.z, b->box_max.z + o.z));
	fem_polyhedron_box(p, fem_vec3_sub(min, m), fem_vec3_add(max, m), first_face);
	return isfinite(pair->size);
}

// Faces: the first body's planes, then the second's, then those of a start box. A tet is its own start, and so is a
// solid whose polyhedron is kept.
static bool cut(const Pair *pair, FemPolyhedron *p, int32_t *out_face_count) {
	int32_t first_count = pair->first->plane_count, second_count = pair->second->plane_count;
	bool is_start = pair->first->is_tet || pair->first->graph;
	*out_face_count = first_count + second_count + (is_start ? 0 : 6);
	if (pair->first->is_tet)
		fem_polyhedron_tet(p, pair->first->vertices);
	else if (is_start)
		fem_polyhedron_load(p, pair->first->graph, pair->first->vertices);
	else if (!start_box(pair, p, first_count + second_count))
		return false;
	for (int32_t i = 0; i < first_count && !is_start; i++)
		if (!fem_polyhedron_cut(p, pair->first->planes[i], i))
			return false;
	for (int32_t i = 0; i < second_count; i++)
		if (!fem_polyhedron_cut(p, pair->planes[i], first_count + i))
			return false;
	return true;
}

// ---- direction

// The exterior faces of one body that are in the polyhedron.
typedef struct Faces {
	int32_t count;
	FemVec3 normals[FEM_CONVEX_PLANES];
	FemVec3 areas[FEM_CONVEX_PLANES]; // m^2
	float opposed[FEM_CONVEX_PLANES]; // largest -n_f.n_g over the other body's faces, or 0
	FemVec3 sum;                      // m^2, of all faces if none is exterior
} Faces;

static void collect_faces(const FemConvex *shape, const FemVec3 *areas, float least, Faces *faces) {
	FemVec3 exterior = fem_vec3(0.0f, 0.0f, 0.0f), all = exterior;
	faces->count = 0;
	for (int32_t i = 0; i < shape->plane_count; i++) {
		FemVec3 area = areas[i];
		if (!(fem_vec3_dot(area, area) > least * least))
			continue;
		all = fem_vec3_add(all, area);
		if (!fem_convex_exterior(shape, i))
			continue;
		exterior = fem_vec3_add(exterior, area);
		faces->normals[faces->count] = fem_vec3_from(shape->planes[i]);
		faces->areas[faces->count] = area;
		faces->opposed[faces->count++] = 0.0f;
	}
	faces->sum = faces->count ? exterior : all;
}

static bool match_faces(Faces *first, Faces *second) {
	bool any = false;
	for (int32_t f = 0; f < first->count; f++)
		for (int32_t g = 0; g < second->count; g++) {
			float w = -fem_vec3_dot(first->normals[f], second->normals[g]);
			w = w < OPPOSED_MIN ? 0.0f : w;
			any |= w > 0.0f;
			first->opposed[f] = w > first->opposed[f] ? w : first->opposed[f];
			second->opposed[g] = w > second->opposed[g] ? w : second->opposed[g];
		}
	return any;
}

static FemVec3 opposed_sum(const Faces *faces) {
	FemVec3 sum = fem_vec3(0.0f, 0.0f, 0.0f);
	for (int32_t i = 0; i < faces->count; i++)
		sum = fem_vec3_add(sum, fem_vec3_scale(faces->areas[i], faces->opposed[i]));
	return sum;
}

// r of a first that lies wholly inside a second which gives the normal: the way out through the nearest of its faces.
static FemVec3 exit_direction(const Pair *pair, const FemPolyhedronMeasure *measure) {
	FemVec3 normal = fem_vec3(0.0f, 0.0f, 0.0f);
	float least = INFINITY;
	for (int32_t i = 0; i < pair->second->plane_count; i++) {
		float depth = 0.0f;
		for (int32_t v = 0; v < pair->first->vertex_count; v++) {
			FemVec3 x = fem_vec3_from(pair->first->vertices[v]);
			depth = larger(depth, pair->planes[i].w - fem_vec3_dot(fem_vec3_from(pair->planes[i]), x));
		}
		if (!fem_convex_exterior(pair->second, i) || !(depth < least))
			continue;
		least = depth;
		normal = fem_vec3_from(pair->planes[i]);
	}
	return fem_vec3_scale(normal, -NO_DIRECTION_AREA * measure->surface);
}

// docs/method.md, "Overlap": r = 1/2 (sum a_f max_g w - sum a_g max_f w), w = max(0, -n_f.n_g).
static FemVec3 direction_of_faces(const Pair *pair, const FemPolyhedronMeasure *measure, uint32_t *out_flags) {
	Faces first, second;
	float least = FACE_MIN * measure->surface;
	collect_faces(pair->first, measure->areas, least, &first);
	collect_faces(pair->second, measure->areas + pair->first->plane_count, least, &second);
	bool is_opposed = match_faces(&first, &second);
	*out_flags |= is_opposed ? 0 : FEM_OVERLAP_FALLBACK;
	// What lies on a floor or pokes into it is pushed straight out, whatever its own faces there look like. Tets, which
	// never give the normal, come first.
	if (pair->second->gives_normal && second.count == 1)
		return fem_vec3_scale(second.areas[0], -1.0f);
	if (pair->second->gives_normal && second.count == 0)
		return exit_direction(pair, measure);
	if (is_opposed)
		return fem_vec3_scale(fem_vec3_sub(opposed_sum(&first), opposed_sum(&second)), 0.5f);
	return fem_vec3_scale(fem_vec3_sub(first.sum, second.sum), 0.5f);
}

static void set_direction(const Pair *pair, const FemPolyhedronMeasure *measure, FemOverlap *out) {
	out->r = direction_of_faces(pair, measure, &out->flags);
	if (pair->equal)
		out->r = fem_vec3(0.0f, 0.0f, 0.0f);
	out->area = fem_vec3_length(out->r);
	if (out->area > DIRECTION_MIN * measure->surface) {
		out->normal = fem_vec3_scale(out->r, 1.0f / out->area);
		return;
	}
	out->flags |= FEM_OVERLAP_NO_DIRECTION;
	out->area = NO_DIRECTION_AREA * measure->surface;
}

// ---- overlap

static void fill_overlap(
	const Pair *pair, const FemPolyhedron *p, const FemPolyhedronMeasure *measure, FemOverlap *out) {
	out->centre = fem_position_move(pair->first->origin, fem_vec3d_from(measure->centre));
	out->volume = measure->volume;
	out->surface = measure->surface;
	out->normal = fem_vec3(0.0f, 0.0f, 0.0f);
	out->flags = 0;
	set_direction(pair, measure, out);
	out->depth = out->volume / out->area;
	out->point_count = 1;
	out->points[0] = (FemOverlapPoint){.share = 1.0f, .depth = out->depth};
	if (out->flags & FEM_OVERLAP_NO_DIRECTION)
		return;
	float extent;
	out->point_count = fem_overlap_points(p, measure->centre, out->normal, out->points, &extent);
	out->depth = smaller(out->depth, extent);
	for (int32_t k = 0; k < out->point_count; k++)
		out->points[k].depth = out->depth;
}

bool fem_overlap(const FemConvex *a, const FemConvex *b, FemOverlap *out_overlap) {
	if (a->plane_count == 0 || b->plane_count == 0)
		return false;
	int order = compare_shapes(a, b);
	Pair pair;
	pair.equal = order == 0;
	pair.first = order > 0 ? b : a;
	pair.second = order > 0 ? a : b;
	pair.offset = fem_vec3d_to_vec3(fem_position_sub(pair.second->origin, pair.first->origin));
	if (!boxes_meet(pair.first, pair.second, pair.offset) || planes_separate(&pair))
		return false;
	FemPolyhedron p;
	FemPolyhedronMeasure measure;
	int32_t face_count;
	pair.size = smaller(box_size(pair.first), box_size(pair.second));
	if (!cut(&pair, &p, &face_count))
		return false;
	fem_polyhedron_measure(&p, face_count, &measure);
	float reach_cubed = measure.reach * measure.reach * measure.reach;
	float least = larger(THICKNESS_MIN * pair.size * measure.surface, VOLUME_MIN * reach_cubed);
	if (!(measure.volume > least && measure.volume < INFINITY))
		return false;
	fill_overlap(&pair, &p, &measure, out_overlap);
	if (order > 0) {
		out_overlap->r = fem_vec3_scale(out_overlap->r, -1.0f);
		out_overlap->normal = fem_vec3_scale(out_overlap->normal, -1.0f);
	}
	return isfinite(out_overlap->depth) &&
		isfinite(out_overlap->centre.x + out_overlap->centre.y + out_overlap->centre.z);
}

// ---- depths

// The part of the line q + t n that is within a shape.
static void clip_line(const FemConvex *shape, FemPosition q, FemVec3 n, float *low, float *high) {
	FemVec3 at = fem_vec3d_to_vec3(fem_position_sub(q, shape->origin));
	for (int32_t i = 0; i < shape->plane_count; i++) {
		FemVec4 plane = shape->planes[i];
		float along = plane.x * n.x + plane.y * n.y + plane.z * n.z;
		float left = plane.w - (plane.x * at.x + plane.y * at.y + plane.z * at.z);
		if (along > ALONG_MIN)
			*high = smaller(*high, left / along);
		else if (along < -ALONG_MIN)
			*low = larger(*low, left / along);
	}
}

void fem_overlap_find_depths(const FemConvex *a, const FemConvex *b, FemOverlap *overlap) {
	float mean = 0.0f;
	for (int32_t k = 0; k < overlap->point_count; k++) {
		FemVec3 inward = fem_vec3_scale(overlap->points[k].offset, INWARD);
		FemPosition q = fem_position_move(overlap->centre, fem_vec3d_from(inward));
		float low = -INFINITY, high = INFINITY;
		clip_line(a, q, overlap->normal, &low, &high);
		clip_line(b, q, overlap->normal, &low, &high);
		overlap->points[k].depth = high > low && high - low < INFINITY ? high - low : 0.0f;
		mean += overlap->points[k].share * overlap->points[k].depth;
	}
	for (int32_t k = 0; k < overlap->point_count; k++)
		overlap->points[k].depth = mean > 0.0f ? overlap->points[k].depth * overlap->depth / mean : overlap->depth;
}
