#include "collision/triangle_tests.h"

#include <math.h>

// ---- a triangle and four tets

// Vectors of four tets side by side.
typedef struct Lanes3 {
	Float4 x, y, z;
} Lanes3;

static Lanes3 transpose(Float4 a, Float4 b, Float4 c, Float4 d) {
	Float4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	Float4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	return (Lanes3){__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
		__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7), __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5)};
}

static Lanes3 spread(Float4 point) {
	return (Lanes3){all4(point[0]), all4(point[1]), all4(point[2])};
}

static Lanes3 sub(Lanes3 a, Lanes3 b) {
	return (Lanes3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static Lanes3 cross(Lanes3 a, Lanes3 b) {
	return (Lanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static Float4 dot(Lanes3 a, Lanes3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

// The four weights of the triangle's corners in each tet, times the tet's volume (6 V): inside, all are positive.
typedef struct Weights {
	Float4 of[3][4]; // [corner of the triangle][node of the tet]
	Float4 volume;   // 6 V, >= 0
} Weights;

static void find_weights(const Lanes3 points[3], const Lanes3 tet[4], Weights *out) {
	Lanes3 e1 = sub(tet[1], tet[0]), e2 = sub(tet[2], tet[0]), e3 = sub(tet[3], tet[0]);
	Lanes3 n1 = cross(e2, e3), n2 = cross(e3, e1), n3 = cross(e1, e2);
	Float4 volume = dot(e1, n1), size = max4(volume, -volume);
	// 1 or -1: inverted tets have all weights negated. No volume: 0 / 0, and no weight is above 0.
	Float4 sign = volume / size;
	out->volume = size;
	for (int i = 0; i < 3; i++) {
		Lanes3 d = sub(points[i], tet[0]);
		out->of[i][1] = dot(d, n1) * sign;
		out->of[i][2] = dot(d, n2) * sign;
		out->of[i][3] = dot(d, n3) * sign;
		out->of[i][0] = size - out->of[i][1] - out->of[i][2] - out->of[i][3];
	}
}

static unsigned above_zero(Float4 a) {
	return not_above4(a, all4(0.0f)) ^ 15;
}

// Tets with a face that has the whole triangle outside, or all corners on one side of the triangle's plane.
static unsigned find_apart(const Weights *w, const Lanes3 points[3], const Lanes3 tet[4]) {
	unsigned near = 15;
	for (int k = 0; k < 4; k++)
		near &= above_zero(max4(max4(w->of[0][k], w->of[1][k]), w->of[2][k]));
	Lanes3 normal = cross(sub(points[1], points[0]), sub(points[2], points[0]));
	Float4 h0 = dot(normal, sub(tet[0], points[0])), h1 = dot(normal, sub(tet[1], points[0]));
	Float4 h2 = dot(normal, sub(tet[2], points[0])), h3 = dot(normal, sub(tet[3], points[0]));
	near &= above_zero(max4(max4(h0, h1), max4(h2, h3))) & above_zero(-min4(min4(h0, h1), min4(h2, h3)));
	return near ^ 15;
}

// What is left of a convex polygon where weight k is positive. Returns the number of corners, 0 for nothing.
static int clip(const Float4 *polygon, int count, int k, Float4 *out) {
	int kept = 0;
	for (int i = 0; i < count; i++) {
		Float4 from = polygon[i], to = polygon[i + 1 < count ? i + 1 : 0];
		bool from_inside = from[k] > 0.0f, to_inside = to[k] > 0.0f;
		if (from_inside)
			out[kept++] = from;
		if (from_inside != to_inside)
			out[kept++] = from + (to - from) * all4(from[k] / (from[k] - to[k]));
	}
	return kept;
}

static bool is_left_after_clipping(const Weights *w, int lane) {
	Float4 first[8], second[8], *polygon = first, *spare = second;
	for (int i = 0; i < 3; i++)
		first[i] = (Float4){w->of[i][0][lane], w->of[i][1][lane], w->of[i][2][lane], w->of[i][3][lane]};
	unsigned outside = 0;
	for (int i = 0; i < 3; i++)
		outside |= not_above4(first[i], all4(0.0f));
	int count = 3;
	for (int k = 0; k < 4 && count > 0; k++) {
		if (!(outside >> k & 1))
			continue;
		count = clip(polygon, count, k, spare);
		Float4 *clipped = spare;
		spare = polygon;
		polygon = clipped;
	}
	return count > 2;
}

unsigned fem_triangle_meets_tets(const Float4 triangle[3], Float4 tets[4][4]) {
	Lanes3 points[3] = {spread(triangle[0]), spread(triangle[1]), spread(triangle[2])}, tet[4];
	for (int v = 0; v < 4; v++)
		tet[v] = transpose(tets[0][v], tets[1][v], tets[2][v], tets[3][v]);
	Weights w;
	find_weights(points, tet, &w);
	unsigned unknown = find_apart(&w, points, tet) ^ 15, found = 0;
	for (int i = 0; i < 3; i++)
		found |= above_zero(min4(min4(w.of[i][0], w.of[i][1]), min4(w.of[i][2], w.of[i][3])));
	found &= unknown & above_zero(w.volume);
	for (unknown &= ~found & above_zero(w.volume); unknown; unknown &= unknown - 1) {
		int lane = __builtin_ctz(unknown);
		found |= (unsigned)is_left_after_clipping(&w, lane) << lane;
	}
	return found;
}

// ---- others

bool fem_point_in_tet(Float4 point, const Float4 tet[4]) {
	Float4 e1 = tet[1] - tet[0], e2 = tet[2] - tet[0], e3 = tet[3] - tet[0], d = point - tet[0];
	float volume = dot4(e1, cross4(e2, e3)), sign = volume < 0.0f ? -1.0f : 1.0f;
	float w1 = dot4(d, cross4(e2, e3)) * sign, w2 = dot4(d, cross4(e3, e1)) * sign, w3 = dot4(d, cross4(e1, e2)) * sign;
	return volume != 0.0f && w1 >= 0.0f && w2 >= 0.0f && w3 >= 0.0f && w1 + w2 + w3 <= fabsf(volume);
}

#define FLAT 2e-6f // of the coordinates' size: nearer to a plane than this is in it; some 30 roundings of a float

static float coordinate_size(const Float4 a[3], const Float4 b[3]) {
	Float4 least = min4(min4(min4(a[0], a[1]), min4(a[2], b[0])), min4(b[1], b[2]));
	Float4 most = max4(max4(max4(a[0], a[1]), max4(a[2], b[0])), max4(b[1], b[2]));
	Float4 size = max4(most, -least);
	return fmaxf(fmaxf(size[0], size[1]), size[2]);
}

// Which side of the plane of b each corner of a is on: bit i for above, bit i + 4 for below. Corners in the plane, as
// far as floats can tell, are on neither: triangles of one flat face must not cross by rounding.
static unsigned sides(const Float4 a[3], const Float4 b[3], float size) {
	Float4 normal = cross4(b[1] - b[0], b[2] - b[0]);
	float flat = FLAT * size * sqrtf(dot4(normal, normal));
	unsigned found = 0;
	for (int i = 0; i < 3; i++) {
		float height = dot4(a[i] - b[0], normal);
		found |= (unsigned)(height > flat) << i | (unsigned)(height < -flat) << (i + 4);
	}
	return found;
}

static bool are_apart(unsigned side) {
	return !(side & 7) || !(side >> 4);
}

// Whether the line from p to q, which passes through the plane of `face`, passes through the face.
static bool pierces(Float4 p, Float4 q, const Float4 face[3]) {
	Float4 line = q - p, a = face[0] - p, b = face[1] - p, c = face[2] - p;
	float ab = dot4(cross4(a, b), line), bc = dot4(cross4(b, c), line), ca = dot4(cross4(c, a), line);
	return (ab >= 0.0f && bc >= 0.0f && ca >= 0.0f) || (ab <= 0.0f && bc <= 0.0f && ca <= 0.0f);
}

static bool edges_pierce(const Float4 a[3], unsigned side, const Float4 b[3]) {
	for (int i = 0; i < 3; i++) {
		int j = i < 2 ? i + 1 : 0;
		bool through = (side >> i & 1 && side >> (j + 4) & 1) || (side >> j & 1 && side >> (i + 4) & 1);
		if (through && pierces(a[i], a[j], b))
			return true;
	}
	return false;
}

bool fem_triangles_cross(const Float4 a[3], const Float4 b[3]) {
	float size = coordinate_size(a, b);
	unsigned side_a = sides(a, b, size);
	if (are_apart(side_a))
		return false;
	unsigned side_b = sides(b, a, size);
	if (are_apart(side_b))
		return false;
	return edges_pierce(a, side_a, b) || edges_pierce(b, side_b, a);
}
