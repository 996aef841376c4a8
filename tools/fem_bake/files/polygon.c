#include "fem_bake/files/polygon.h"

#include "base/vec.h"

typedef struct Flat {
	double x, y;
} Flat;

// Twice the area vector (Newell's formula, about the first corner).
static FemVec3d area_vector(const FemVec3 *corners, int32_t count) {
	FemVec3d sum = {0.0, 0.0, 0.0}, origin = fem_vec3d_from(corners[0]);
	for (int32_t i = 1; i + 1 < count; i++) {
		FemVec3d a = fem_vec3d_sub(fem_vec3d_from(corners[i]), origin);
		FemVec3d b = fem_vec3d_sub(fem_vec3d_from(corners[i + 1]), origin);
		sum = fem_vec3d_add(sum, fem_vec3d_cross(a, b));
	}
	return sum;
}

// Along the largest axis of the area vector, mirrored where needed so that the polygon runs counter-clockwise.
static void flatten(const FemVec3 *corners, int32_t count, Flat *out) {
	FemVec3d n = area_vector(corners, count);
	double ax = fabs(n.x), ay = fabs(n.y), az = fabs(n.z);
	for (int32_t i = 0; i < count; i++) {
		FemVec3d p = fem_vec3d_from(corners[i]);
		if (ax >= ay && ax >= az)
			out[i] = n.x > 0.0 ? (Flat){p.y, p.z} : (Flat){p.z, p.y};
		else if (ay >= az)
			out[i] = n.y > 0.0 ? (Flat){p.z, p.x} : (Flat){p.x, p.z};
		else
			out[i] = n.z > 0.0 ? (Flat){p.x, p.y} : (Flat){p.y, p.x};
	}
}

static double orient2d(Flat a, Flat b, Flat c) {
	return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static bool is_ear(const Flat *flat, const int32_t *ring, int32_t count, int32_t at) {
	int32_t before = (at + count - 1) % count, behind = (at + 1) % count;
	Flat a = flat[ring[before]], b = flat[ring[at]], c = flat[ring[behind]];
	if (!(orient2d(a, b, c) > 0.0))
		return false;
	for (int32_t i = 0; i < count; i++) {
		Flat p = flat[ring[i]];
		if (i == before || i == at || i == behind)
			continue;
		if (orient2d(a, b, p) >= 0.0 && orient2d(b, c, p) >= 0.0 && orient2d(c, a, p) >= 0.0)
			return false;
	}
	return true;
}

static int32_t find_ear(const Flat *flat, const int32_t *ring, int32_t count) {
	for (int32_t at = 1; at < count; at++) {
		if (is_ear(flat, ring, count, at))
			return at;
	}
	return is_ear(flat, ring, count, 0) ? 0 : -1;
}

static void write_fan(const int32_t *ring, int32_t count, int32_t *out) {
	for (int32_t i = 0; i + 2 < count; i++) {
		out[3 * i] = ring ? ring[0] : 0;
		out[3 * i + 1] = ring ? ring[i + 1] : i + 1;
		out[3 * i + 2] = ring ? ring[i + 2] : i + 2;
	}
}

void fem_polygon_triangulate(const FemVec3 *corners, int32_t count, int32_t *out_triangles) {
	Flat flat[FEM_POLYGON_EARS_MAX];
	int32_t ring[FEM_POLYGON_EARS_MAX];
	if (count <= 3 || count > FEM_POLYGON_EARS_MAX) {
		write_fan(NULL, count, out_triangles);
		return;
	}
	flatten(corners, count, flat);
	for (int32_t i = 0; i < count; i++)
		ring[i] = i;
	for (; count > 3; count--, out_triangles += 3) {
		int32_t ear = find_ear(flat, ring, count);
		if (ear < 0)
			break;
		out_triangles[0] = ring[(ear + count - 1) % count];
		out_triangles[1] = ring[ear];
		out_triangles[2] = ring[(ear + 1) % count];
		for (int32_t i = ear; i + 1 < count; i++)
			ring[i] = ring[i + 1];
	}
	write_fan(ring, count, out_triangles);
}
