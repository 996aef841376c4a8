#include "drawing/body_shape.h"

#include <math.h>
#include <stdlib.h>

enum { TETS_PER_CELL = 5 }; // of a cube: the fewest it can be cut into

// The cube's corner c lies at (c & 1, c >> 1 & 1, c >> 2 & 1). Four tets cut off corners, one is left in the middle.
// Cells of odd parity take the mirrored set, so that neighbours share the diagonals of their faces.
static const uint8_t cell_tets[2][TETS_PER_CELL][4] = {
	{{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}},
	{{1, 0, 5, 3}, {2, 3, 6, 0}, {4, 5, 0, 6}, {7, 6, 3, 5}, {0, 3, 5, 6}},
};

#define PLATE_STRENGTH 1.0f // of FemMeshDef.tet_plates: the usual one
#define THICK_BOARD 0.5f    // thickness over length: what is more bends too little for its bending to matter; chosen

// Faces of a positive tet (a, b, c, d), counter-clockwise from outside.
static const uint8_t tet_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

static bool cells_are_valid(const int32_t cells[3]) {
	return cells[0] > 0 && cells[1] > 0 && cells[2] > 0 && cells[0] <= BODY_SHAPE_MAX_CELLS &&
		cells[1] <= BODY_SHAPE_MAX_CELLS && cells[2] <= BODY_SHAPE_MAX_CELLS &&
		(int64_t)cells[0] * cells[1] <= BODY_SHAPE_MAX_CELLS &&
		(int64_t)cells[0] * cells[1] * cells[2] <= BODY_SHAPE_MAX_CELLS;
}

int32_t body_shape_box_nodes(const int32_t cells[3]) {
	return cells_are_valid(cells) ? (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1) : 0;
}

int32_t body_shape_box_tets(const int32_t cells[3]) {
	return cells_are_valid(cells) ? cells[0] * cells[1] * cells[2] * TETS_PER_CELL : 0;
}

static int32_t grid_node(const int32_t cells[3], int32_t x, int32_t y, int32_t z) {
	return (z * (cells[1] + 1) + y) * (cells[0] + 1) + x;
}

static void place_nodes(BodyShape *shape, FemVec3 size, const int32_t cells[3]) {
	for (int32_t z = 0; z <= cells[2]; z++) {
		for (int32_t y = 0; y <= cells[1]; y++) {
			for (int32_t x = 0; x <= cells[0]; x++) {
				shape->positions[grid_node(cells, x, y, z)] = (FemVec3){
					size.x * ((float)x / (float)cells[0] - 0.5f),
					size.y * ((float)y / (float)cells[1] - 0.5f),
					size.z * ((float)z / (float)cells[2] - 0.5f),
				};
			}
		}
	}
}

static float tet_volume6(const FemVec3 *p, const int32_t t[4]) {
	FemVec3 o = p[t[0]];
	FemVec3 a = {p[t[1]].x - o.x, p[t[1]].y - o.y, p[t[1]].z - o.z};
	FemVec3 b = {p[t[2]].x - o.x, p[t[2]].y - o.y, p[t[2]].z - o.z};
	FemVec3 c = {p[t[3]].x - o.x, p[t[3]].y - o.y, p[t[3]].z - o.z};
	return a.x * (b.y * c.z - b.z * c.y) - a.y * (b.x * c.z - b.z * c.x) + a.z * (b.x * c.y - b.y * c.x);
}

static void fill_cell(BodyShape *shape, const int32_t cells[3], int32_t x, int32_t y, int32_t z) {
	const uint8_t(*pattern)[4] = cell_tets[(x + y + z) & 1];
	for (int t = 0; t < TETS_PER_CELL; t++) {
		int32_t *tet = &shape->tets[4 * shape->tet_count++];
		for (int i = 0; i < 4; i++) {
			int corner = pattern[t][i];
			tet[i] = grid_node(cells, x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2 & 1));
		}
		if (tet_volume6(shape->positions, tet) < 0.0f) {
			int32_t swap = tet[2];
			tet[2] = tet[3];
			tet[3] = swap;
		}
	}
}

// The box's side that all three nodes lie on: 0..5 for -x +x -y +y -z +z, or -1 for a face inside.
static int face_side(const int32_t cells[3], const int32_t nodes[3]) {
	int32_t width = cells[0] + 1, height = cells[1] + 1;
	for (int axis = 0; axis < 3; axis++) {
		int32_t place[3];
		for (int i = 0; i < 3; i++) {
			int32_t n = nodes[i];
			place[i] = axis == 0 ? n % width : axis == 1 ? n / width % height : n / (width * height);
		}
		if (place[0] == place[1] && place[0] == place[2] && (place[0] == 0 || place[0] == cells[axis])) {
			return 2 * axis + (place[0] == 0 ? 0 : 1);
		}
	}
	return -1;
}

static void collect_faces(BodyShape *shape, const int32_t cells[3]) {
	for (int32_t t = 0; t < shape->tet_count; t++) {
		for (int f = 0; f < 4; f++) {
			int32_t nodes[3];
			for (int i = 0; i < 3; i++) {
				nodes[i] = shape->tets[4 * t + tet_faces[f][i]];
			}
			int side = face_side(cells, nodes);
			if (side < 0) {
				continue;
			}
			int32_t triangle = shape->triangle_count++;
			for (int i = 0; i < 3; i++) {
				shape->triangles[3 * triangle + i] = nodes[i];
			}
			shape->triangle_tets[triangle] = t;
			shape->triangle_sides[triangle] = (uint8_t)side;
		}
	}
}

// One layer of plain tets hardly bends: it neither sags nor breaks as a board does.
static bool is_board(FemVec3 size, FemVec3 stretch, const int32_t cells[3]) {
	size = (FemVec3){size.x * stretch.x, size.y * stretch.y, size.z * stretch.z};
	float longest = fmaxf(size.x, fmaxf(size.y, size.z));
	const float *sides = &size.x;
	for (int axis = 0; axis < 3; axis++) {
		if (cells[axis] == 1 && sides[axis] <= THICK_BOARD * longest) {
			return true;
		}
	}
	return false;
}

bool body_shape_make_box(BodyShape *shape, FemVec3 size, const int32_t cells[3], FemVec3 stretch) {
	*shape = (BodyShape){0};
	if (!cells_are_valid(cells) || !(size.x > 0.0f) || !(size.y > 0.0f) || !(size.z > 0.0f)) {
		return false;
	}
	size_t nodes = (size_t)body_shape_box_nodes(cells), tets = (size_t)body_shape_box_tets(cells);
	size_t triangles = 4 * (size_t)(cells[0] * cells[1] + cells[1] * cells[2] + cells[2] * cells[0]);
	shape->positions = malloc(nodes * sizeof(FemVec3));
	shape->tets = malloc(tets * 4 * sizeof(int32_t));
	bool has_plates = is_board(size, stretch, cells);
	shape->tet_plates = has_plates ? malloc(tets * sizeof(float)) : NULL;
	shape->triangles = malloc(triangles * 3 * sizeof(int32_t));
	shape->triangle_tets = malloc(triangles * sizeof(int32_t));
	shape->triangle_sides = malloc(triangles);
	if (!shape->positions || !shape->tets || (has_plates && !shape->tet_plates) || !shape->triangles ||
		!shape->triangle_tets || !shape->triangle_sides) {
		body_shape_free(shape);
		return false;
	}
	shape->node_count = (int32_t)nodes;
	shape->stretch = stretch;
	place_nodes(shape, size, cells);
	for (int32_t z = 0; z < cells[2]; z++) {
		for (int32_t y = 0; y < cells[1]; y++) {
			for (int32_t x = 0; x < cells[0]; x++) {
				fill_cell(shape, cells, x, y, z);
			}
		}
	}
	for (size_t t = 0; has_plates && t < tets; t++) {
		shape->tet_plates[t] = PLATE_STRENGTH;
	}
	collect_faces(shape, cells);
	return true;
}

void body_shape_free(BodyShape *shape) {
	free(shape->positions);
	free(shape->tets);
	free(shape->tet_plates);
	free(shape->triangles);
	free(shape->triangle_tets);
	free(shape->triangle_sides);
	*shape = (BodyShape){0};
}
