#include "scenes/surface_meshes.h"

#include "scenes/rig.h"

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

FemSoup fem_surface_soup(const FemSurfaceMesh *mesh) {
	return (FemSoup){mesh->vertex_count, mesh->vertices, mesh->triangle_count, (const int32_t *)mesh->triangles};
}

void fem_surface_mesh_free(FemSurfaceMesh *mesh) {
	free(mesh->vertices);
	free(mesh->triangles);
	*mesh = (FemSurfaceMesh){0};
}

static int32_t add_vertex(FemSurfaceMesh *mesh, double x, double y, double z) {
	if (mesh->vertex_count == mesh->vertex_capacity) {
		mesh->vertex_capacity = 2 * mesh->vertex_capacity + 64;
		mesh->vertices = realloc(mesh->vertices, sizeof(FemVec3) * (size_t)mesh->vertex_capacity);
	}
	mesh->vertices[mesh->vertex_count] = (FemVec3){(float)x, (float)y, (float)z};
	return mesh->vertex_count++;
}

static void add_triangle(FemSurfaceMesh *mesh, int32_t a, int32_t b, int32_t c) {
	if (a == b || b == c || c == a)
		return;
	if (mesh->triangle_count == mesh->triangle_capacity) {
		mesh->triangle_capacity = 2 * mesh->triangle_capacity + 64;
		mesh->triangles = realloc(mesh->triangles, sizeof *mesh->triangles * (size_t)mesh->triangle_capacity);
	}
	memcpy(mesh->triangles[mesh->triangle_count++], (int32_t[3]){a, b, c}, sizeof(int32_t) * 3);
}

static void add_quad(FemSurfaceMesh *mesh, int32_t a, int32_t b, int32_t c, int32_t d) {
	add_triangle(mesh, a, b, c);
	add_triangle(mesh, a, c, d);
}

// ---- shapes

// Six grids that do not share vertices, as exporters with hard edges write them.
FemSurfaceMesh fem_surface_box(FemVec3 size, int32_t cells) {
	FemSurfaceMesh mesh = {.volume = (double)size.x * (double)size.y * (double)size.z};
	double half[3] = {0.5 * (double)size.x, 0.5 * (double)size.y, 0.5 * (double)size.z};
	for (int face = 0; face < 6; face++) {
		int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
		int32_t first = mesh.vertex_count;
		for (int32_t i = 0; i <= cells; i++)
			for (int32_t j = 0; j <= cells; j++) {
				double at[3];
				at[axis] = face % 2 ? half[axis] : -half[axis];
				at[u] = half[u] * (2.0 * i / cells - 1.0);
				at[v] = half[v] * (2.0 * j / cells - 1.0);
				add_vertex(&mesh, at[0], at[1], at[2]);
			}
		for (int32_t i = 0; i < cells; i++)
			for (int32_t j = 0; j < cells; j++) {
				int32_t a = first + i * (cells + 1) + j, b = a + cells + 1;
				if (face % 2)
					add_quad(&mesh, a, b, b + 1, a + 1);
				else
					add_quad(&mesh, a, a + 1, b + 1, b);
			}
	}
	return mesh;
}

// A half circle of `steps` radii revolved about y: profile points (r, y), counter-clockwise seen with r to the right.
static void add_revolved(FemSurfaceMesh *mesh, double (*profile)[2], int32_t count, bool closed, int32_t steps) {
	int32_t *index = malloc(sizeof(int32_t) * (size_t)(count * steps));
	for (int32_t i = 0; i < count; i++)
		for (int32_t s = 0; s < steps; s++) {
			bool on_axis = profile[i][0] < 1e-12;
			double angle = 2.0 * PI * s / steps;
			index[i * steps + s] = on_axis && s > 0
				? index[i * steps]
				: add_vertex(mesh, profile[i][0] * cos(angle), profile[i][1], -profile[i][0] * sin(angle));
		}
	for (int32_t i = 0; i < (closed ? count : count - 1); i++)
		for (int32_t s = 0; s < steps; s++) {
			int32_t next = (i + 1) % count, t = (s + 1) % steps;
			add_quad(
				mesh, index[i * steps + s], index[i * steps + t], index[next * steps + t], index[next * steps + s]);
		}
	free(index);
}

static void add_sphere(FemSurfaceMesh *mesh, double radius, int32_t rings, bool inward) {
	double(*profile)[2] = malloc(sizeof *profile * (size_t)(rings + 1));
	for (int32_t i = 0; i <= rings; i++) {
		double angle = PI * (inward ? rings - i : i) / rings;
		profile[i][0] = i == 0 || i == rings ? 0.0 : radius * sin(angle);
		profile[i][1] = -radius * cos(angle);
	}
	add_revolved(mesh, profile, rings + 1, false, 2 * rings);
	free(profile);
}

FemSurfaceMesh fem_surface_sphere(double radius, int32_t rings) {
	FemSurfaceMesh mesh = {.volume = 4.0 / 3.0 * PI * pow(radius, 3.0)};
	add_sphere(&mesh, radius, rings, false);
	return mesh;
}

FemSurfaceMesh fem_surface_shell(double radius, double wall, int32_t rings) {
	FemSurfaceMesh mesh = {.volume = 4.0 / 3.0 * PI * (pow(radius, 3.0) - pow(radius - wall, 3.0))};
	add_sphere(&mesh, radius, rings, false);
	add_sphere(&mesh, radius - wall, rings, true);
	return mesh;
}

FemSurfaceMesh fem_surface_torus(double ring_radius, double tube_radius, int32_t ring_steps, int32_t tube_steps) {
	FemSurfaceMesh mesh = {.volume = 2.0 * PI * PI * ring_radius * tube_radius * tube_radius};
	double(*profile)[2] = malloc(sizeof *profile * (size_t)tube_steps);
	for (int32_t i = 0; i < tube_steps; i++) {
		double angle = 2.0 * PI * i / tube_steps;
		profile[i][0] = ring_radius + tube_radius * cos(angle);
		profile[i][1] = tube_radius * sin(angle);
	}
	add_revolved(&mesh, profile, tube_steps, true, ring_steps);
	free(profile);
	return mesh;
}

FemSurfaceMesh fem_surface_bowl(double radius, double wall, int32_t steps) {
	FemSurfaceMesh mesh = {.volume = 2.0 / 3.0 * PI * (pow(radius, 3.0) - pow(radius - wall, 3.0))};
	double(*profile)[2] = malloc(sizeof *profile * (size_t)(2 * steps + 2));
	for (int32_t i = 0; i <= steps; i++) {
		double angle = 0.5 * PI * i / steps;
		profile[i][0] = i == 0 ? 0.0 : radius * sin(angle);
		profile[i][1] = -radius * cos(angle);
		profile[2 * steps + 1 - i][0] = i == 0 ? 0.0 : (radius - wall) * sin(angle);
		profile[2 * steps + 1 - i][1] = -(radius - wall) * cos(angle);
	}
	add_revolved(&mesh, profile, 2 * steps + 2, false, 4 * steps);
	free(profile);
	return mesh;
}

FemSurfaceMesh fem_surface_sharp_bowl(double radius, double wall, int32_t steps) {
	FemSurfaceMesh mesh = {0};
	double(*profile)[2] = malloc(sizeof *profile * (size_t)(2 * steps + 1));
	for (int32_t i = 0; i <= steps; i++) {
		double angle = 0.5 * PI * i / steps, inner = radius - wall * (1.0 - (double)i / steps);
		profile[i][0] = i == 0 ? 0.0 : radius * sin(angle);
		profile[i][1] = -radius * cos(angle);
		profile[2 * steps - i][0] = i == 0 ? 0.0 : inner * sin(angle);
		profile[2 * steps - i][1] = -inner * cos(angle);
	}
	add_revolved(&mesh, profile, 2 * steps + 1, false, 4 * steps);
	free(profile);
	return mesh;
}

FemSurfaceMesh fem_surface_tube(double radius, double wall, double length, int32_t steps) {
	FemSurfaceMesh mesh = {.volume = PI * (radius * radius - (radius - wall) * (radius - wall)) * length};
	double profile[4][2] = {
		{radius, -0.5 * length}, {radius, 0.5 * length}, {radius - wall, 0.5 * length}, {radius - wall, -0.5 * length}};
	add_revolved(&mesh, profile, 4, true, steps);
	return mesh;
}

FemSurfaceMesh fem_surface_hollow_box(FemVec3 size, double wall, int32_t rooms) {
	FemSurfaceMesh mesh = fem_surface_box(size, 2);
	double x = ((double)size.x - wall) / rooms, y = (double)size.y - 2.0 * wall, z = (double)size.z - 2.0 * wall;
	for (int32_t i = 0; i < rooms; i++) {
		FemSurfaceMesh room = fem_surface_box((FemVec3){(float)(x - wall), (float)y, (float)z}, 2);
		fem_surface_flip(&room, 1);
		fem_surface_transform(
			&room, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){x * (i - 0.5 * (rooms - 1)), 0.0, 0.0});
		fem_surface_append(&mesh, &room);
		fem_surface_mesh_free(&room);
	}
	mesh.volume = (double)size.x * (double)size.y * (double)size.z - rooms * (x - wall) * y * z;
	return mesh;
}

// Outer wall up, over the lip, inner wall down: one closed profile from axis to axis.
FemSurfaceMesh fem_surface_revolved(double (*profile)[2], int32_t count, int32_t steps) {
	FemSurfaceMesh mesh = {0};
	add_revolved(&mesh, profile, count, false, steps);
	return mesh;
}

FemSurfaceMesh fem_surface_vase(double height, double wall, int32_t steps) {
	FemSurfaceMesh mesh = {0};
	double(*profile)[2] = malloc(sizeof *profile * (size_t)(2 * steps + 4));
	for (int32_t i = 0; i <= steps; i++) {
		double t = (double)i / steps, r = height * (0.20 + 0.14 * sin(1.2 * PI * t + 0.3));
		profile[1 + i][0] = r;
		profile[1 + i][1] = height * t;
		profile[2 * steps + 2 - i][0] = r - wall;
		profile[2 * steps + 2 - i][1] = wall + (height - wall) * t;
	}
	profile[0][0] = profile[2 * steps + 3][0] = 0.0;
	profile[0][1] = 0.0;
	profile[2 * steps + 3][1] = wall;
	add_revolved(&mesh, profile, 2 * steps + 4, false, 2 * steps);
	free(profile);
	return mesh;
}

// A frame around a hole: four corners outside and four inside, on two sides.
FemSurfaceMesh fem_surface_window_wall(FemVec3 size, double hole) {
	FemSurfaceMesh mesh = {.volume = (double)size.x * (double)size.y * (double)size.z * (1.0 - hole * hole)};
	for (int side = 0; side < 2; side++)
		for (int corner = 0; corner < 8; corner++) {
			double share = corner < 4 ? 0.5 : 0.5 * hole, x = corner % 4 == 1 || corner % 4 == 2 ? share : -share;
			add_vertex(&mesh, x * (double)size.x, (corner % 4 < 2 ? -share : share) * (double)size.y,
				(side - 0.5) * (double)size.z);
		}
	for (int32_t i = 0; i < 4; i++) {
		int32_t next = (i + 1) % 4;
		add_quad(&mesh, 8 + i, 8 + next, 12 + next, 12 + i);
		add_quad(&mesh, i, 4 + i, 4 + next, next);
		add_quad(&mesh, i, next, 8 + next, 8 + i);
		add_quad(&mesh, 4 + i, 12 + i, 12 + next, 4 + next);
	}
	return mesh;
}

#define BOARDS_LINES 64 // places of faces along an axis, at the most

static int compare_doubles(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

// The planes of all faces, sorted, each once.
static int32_t faces_along(const double (*boxes)[6], int32_t count, int axis, double out[BOARDS_LINES]) {
	int32_t all = 0, kept = 0;
	for (int32_t b = 0; b < count && all + 2 <= BOARDS_LINES; b++) {
		out[all++] = boxes[b][axis];
		out[all++] = boxes[b][axis] + boxes[b][3 + axis];
	}
	qsort(out, (size_t)all, sizeof *out, compare_doubles);
	for (int32_t i = 0; i < all; i++) {
		if (kept == 0 || out[i] - out[kept - 1] > 1e-9)
			out[kept++] = out[i];
	}
	return kept;
}

static bool in_boards(const double (*boxes)[6], int32_t count, const double p[3]) {
	for (int32_t b = 0; b < count; b++) {
		bool inside = true;
		for (int axis = 0; axis < 3; axis++)
			inside = inside && p[axis] > boxes[b][axis] && p[axis] < boxes[b][axis] + boxes[b][3 + axis];
		if (inside)
			return true;
	}
	return false;
}

FemSurfaceMesh fem_surface_boards(const double (*boxes)[6], int32_t count) {
	FemSurfaceMesh mesh = {0};
	double at[3][BOARDS_LINES];
	int32_t lines[3];
	for (int axis = 0; axis < 3; axis++)
		lines[axis] = faces_along(boxes, count, axis, at[axis]);
	for (int32_t n = 0; n < (lines[0] - 1) * (lines[1] - 1) * (lines[2] - 1); n++) {
		int32_t place[3] = {
			n / ((lines[1] - 1) * (lines[2] - 1)), n / (lines[2] - 1) % (lines[1] - 1), n % (lines[2] - 1)};
		double middle[3], size[3];
		for (int axis = 0; axis < 3; axis++) {
			middle[axis] = 0.5 * (at[axis][place[axis]] + at[axis][place[axis] + 1]);
			size[axis] = at[axis][place[axis] + 1] - at[axis][place[axis]];
		}
		if (!in_boards(boxes, count, middle))
			continue;
		mesh.volume += size[0] * size[1] * size[2];
		for (int face = 0; face < 6; face++) {
			int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, side = face % 2;
			double beyond[3] = {middle[0], middle[1], middle[2]};
			int32_t next = place[axis] + (side ? 1 : -1), corners[4];
			bool outside = next < 0 || next + 1 >= lines[axis];
			beyond[axis] = outside ? 0.0 : 0.5 * (at[axis][next] + at[axis][next + 1]);
			if (!outside && in_boards(boxes, count, beyond))
				continue;
			for (int corner = 0; corner < 4; corner++) {
				double p[3];
				p[axis] = at[axis][place[axis] + side];
				p[u] = at[u][place[u] + (corner == 1 || corner == 2)];
				p[v] = at[v][place[v] + (corner >= 2)];
				corners[corner] = add_vertex(&mesh, p[0], p[1], p[2]);
			}
			add_quad(&mesh, corners[0], corners[side ? 1 : 3], corners[2], corners[side ? 3 : 1]);
		}
	}
	return mesh;
}

FemSurfaceMesh fem_surface_cylinder(double radius, double length, int32_t steps) {
	FemSurfaceMesh mesh = {.volume = PI * radius * radius * length};
	double profile[4][2] = {{0.0, -0.5 * length}, {radius, -0.5 * length}, {radius, 0.5 * length}, {0.0, 0.5 * length}};
	add_revolved(&mesh, profile, 4, false, steps);
	for (int32_t i = 0; i < mesh.vertex_count; i++) // from along y to along x
		mesh.vertices[i] = (FemVec3){mesh.vertices[i].y, mesh.vertices[i].z, mesh.vertices[i].x};
	return mesh;
}

FemSurfaceMesh fem_surface_moebius(double radius, double width, int32_t steps) {
	FemSurfaceMesh mesh = {0};
	for (int32_t s = 0; s < steps; s++)
		for (int side = -1; side <= 1; side += 2) {
			double angle = 2.0 * PI * s / steps, across = 0.5 * side * width;
			double r = radius + across * cos(0.5 * angle);
			add_vertex(&mesh, r * cos(angle), across * sin(0.5 * angle), r * sin(angle));
		}
	for (int32_t s = 0; s < steps; s++) {
		int32_t a = 2 * s, b = a + 1, c = s + 1 < steps ? a + 3 : 0, d = s + 1 < steps ? a + 2 : 1;
		add_quad(&mesh, a, b, c, d);
	}
	return mesh;
}

FemSurfaceMesh fem_surface_nested_boxes(double outer, double inner, bool cavity) {
	FemSurfaceMesh mesh = fem_surface_box((FemVec3){(float)outer, (float)outer, (float)outer}, 2);
	FemSurfaceMesh hole = fem_surface_box((FemVec3){(float)inner, (float)inner, (float)inner}, 2);
	if (cavity)
		fem_surface_flip(&hole, 1);
	fem_surface_append(&mesh, &hole);
	mesh.volume = pow(outer, 3.0) - (cavity ? pow(inner, 3.0) : 0.0);
	fem_surface_mesh_free(&hole);
	return mesh;
}

FemSurfaceMesh fem_surface_arc(double radius, double wall, double width, double arc, int32_t steps) {
	FemSurfaceMesh mesh = {.volume = arc * radius * wall * width};
	for (int32_t s = 0; s <= steps; s++)
		for (int corner = 0; corner < 4; corner++) { // round the section
			double angle = arc * s / steps, r = radius + (corner == 1 || corner == 2 ? 0.5 : -0.5) * wall;
			add_vertex(&mesh, r * cos(angle), r * sin(angle), (corner < 2 ? -0.5 : 0.5) * width);
		}
	for (int32_t s = 0; s < steps; s++)
		for (int32_t c = 0; c < 4; c++)
			add_quad(&mesh, 4 * s + c, 4 * s + (c + 1) % 4, 4 * s + 4 + (c + 1) % 4, 4 * s + 4 + c);
	add_quad(&mesh, 3, 2, 1, 0);
	add_quad(&mesh, 4 * steps, 4 * steps + 1, 4 * steps + 2, 4 * steps + 3);
	return mesh;
}

FemSurfaceMesh fem_surface_bracket(double length, double wall) {
	FemSurfaceMesh mesh = {.volume = length * wall * (2.0 * length - wall)};
	double outline[6][2] = {{0, 0}, {length, 0}, {length, wall}, {wall, wall}, {wall, length}, {0, length}};
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 6; i++)
			add_vertex(&mesh, outline[i][0], outline[i][1], side * length);
	for (int32_t i = 0; i < 6; i++)
		add_quad(&mesh, i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6);
	for (int side = 0; side < 2; side++) {
		static const int32_t caps[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
		for (int i = 0; i < 4; i++) {
			const int32_t *cap = caps[i];
			if (side)
				add_triangle(&mesh, cap[0] + 6, cap[1] + 6, cap[2] + 6);
			else
				add_triangle(&mesh, cap[0], cap[2], cap[1]);
		}
	}
	fem_surface_flip(&mesh, 1);
	return mesh;
}

FemSurfaceMesh fem_surface_random_soup(int32_t triangles, uint32_t seed) {
	FemSurfaceMesh mesh = {0};
	for (int32_t t = 0; t < triangles; t++) {
		double center[3], corner[3];
		for (int axis = 0; axis < 3; axis++)
			center[axis] = (double)fem_random(&seed);
		for (int v = 0; v < 3; v++) {
			for (int axis = 0; axis < 3; axis++)
				corner[axis] = center[axis] + 0.02 * (double)fem_random(&seed);
			add_vertex(&mesh, corner[0], corner[1], corner[2]);
		}
		add_triangle(&mesh, 3 * t, 3 * t + 1, 3 * t + 2);
	}
	return mesh;
}

// ---- mischief

void fem_surface_unweld(FemSurfaceMesh *mesh) {
	FemVec3 *loose = malloc(sizeof *loose * 3 * (size_t)mesh->triangle_count);
	for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
		loose[i] = mesh->vertices[mesh->triangles[i / 3][i % 3]];
		mesh->triangles[i / 3][i % 3] = i;
	}
	free(mesh->vertices);
	mesh->vertices = loose;
	mesh->vertex_count = mesh->vertex_capacity = 3 * mesh->triangle_count;
}

void fem_surface_flip(FemSurfaceMesh *mesh, int32_t every) {
	for (int32_t t = 0; t < mesh->triangle_count; t += every) {
		int32_t second = mesh->triangles[t][1];
		mesh->triangles[t][1] = mesh->triangles[t][2];
		mesh->triangles[t][2] = second;
	}
}

void fem_surface_remove(FemSurfaceMesh *mesh, int32_t every) {
	int32_t kept = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		if (t % every != 0)
			memmove(mesh->triangles[kept++], mesh->triangles[t], sizeof mesh->triangles[t]);
	}
	mesh->triangle_count = kept;
}

void fem_surface_transform(FemSurfaceMesh *mesh, FemQuat rotation, double scale, FemVec3d move) {
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		FemVec3d p = fem_vec3d_scale(fem_quat_rotate(rotation, fem_vec3d_from(mesh->vertices[i])), scale);
		mesh->vertices[i] = fem_vec3d_to_vec3(fem_vec3d_add(p, move));
	}
	mesh->volume *= scale * scale * scale;
}

void fem_surface_append(FemSurfaceMesh *mesh, const FemSurfaceMesh *other) {
	int32_t first = mesh->vertex_count;
	for (int32_t i = 0; i < other->vertex_count; i++)
		add_vertex(mesh, (double)other->vertices[i].x, (double)other->vertices[i].y, (double)other->vertices[i].z);
	for (int32_t t = 0; t < other->triangle_count; t++)
		add_triangle(
			mesh, other->triangles[t][0] + first, other->triangles[t][1] + first, other->triangles[t][2] + first);
	mesh->volume += other->volume;
}
