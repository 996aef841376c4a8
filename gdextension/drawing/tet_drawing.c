#include "drawing/tet_drawing.h"

#include "drawing/surface_arrays.h"
#include "drawing/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART 0.12f // share by which tets shrink when they are drawn apart

static bool has_node(const int32_t tet[4], int32_t node) {
	return tet[0] == node || tet[1] == node || tet[2] == node || tet[3] == node;
}

typedef enum FaceKind { FACE_HIDDEN, FACE_OUTER, FACE_OPENED } FaceKind;

// A face is shared as long as both tets have all three nodes of it.
static FaceKind face_kind(const TetShape *shape, const int32_t *now, int32_t place) {
	const int32_t *tet = &now[4 * (size_t)(place / 4)];
	int32_t other = shape->neighbors[place];
	if (tet[0] < 0) {
		return FACE_HIDDEN;
	}
	if (other < 0) {
		return FACE_OUTER;
	}
	for (int k = 0; k < 3; k++) {
		if (!has_node(&now[4 * (size_t)other], tet[tet_shape_faces[place % 4][k]])) {
			return FACE_OPENED;
		}
	}
	return FACE_HIDDEN;
}

// ---- faces

static FemVec3 unit(FemVec3 v, FemVec3 otherwise) {
	float size = vector_length(v);
	return size > 0.0f ? (FemVec3){v.x / size, v.y / size, v.z / size} : otherwise;
}

static FemVec3 face_normal(FemVec3 a, FemVec3 b, FemVec3 c) {
	return unit(vector_cross(vector_subtract(b, a), vector_subtract(c, a)), (FemVec3){0.0f, 1.0f, 0.0f});
}

// Metres on the coordinate plane that the face is nearest to.
static GdVector2 plane_uv(FemVec3 p, FemVec3 n, FemVec3 scale) {
	p = (FemVec3){p.x * scale.x, p.y * scale.y, p.z * scale.z};
	float x = fabsf(n.x), y = fabsf(n.y), z = fabsf(n.z);
	return x >= y && x >= z ? (GdVector2){p.z, -p.y} : y >= z ? (GdVector2){p.x, p.z} : (GdVector2){p.x, -p.y};
}

// The three vertices of a face, flat. apart: the share by which the tet shrinks towards its middle.
static void write_face(
	SurfaceArrays *arrays, int32_t first, const TetShape *shape, const int32_t *now, int32_t place, float apart) {
	const int32_t *rest = &shape->tets[place - place % 4], *nodes = &now[place - place % 4];
	const uint8_t *face = tet_shape_faces[place % 4];
	FemVec3 corners[4];
	for (int i = 0; i < 4; i++) {
		corners[i] = shape->nodes[rest[i]];
	}
	FemVec3 n = face_normal(corners[face[0]], corners[face[1]], corners[face[2]]);
	FemVec3 t = unit(vector_subtract(corners[face[1]], corners[face[0]]), (FemVec3){1.0f, 0.0f, 0.0f});
	float tangent[4] = {t.x, t.y, t.z, 1.0f};
	for (int k = 0; k < 3; k++) {
		int32_t v = first + k;
		float weights[4];
		FemVec3 p = {0};
		for (int i = 0; i < 4; i++) {
			weights[i] = 0.25f * apart + (i == face[k] ? 1.0f - apart : 0.0f);
			p = (FemVec3){
				p.x + weights[i] * corners[i].x, p.y + weights[i] * corners[i].y, p.z + weights[i] * corners[i].z};
		}
		arrays->positions[v] = (GdVector3){p.x, p.y, p.z};
		arrays->normals[v] = (GdVector3){n.x, n.y, n.z};
		memcpy(&arrays->tangents[4 * (size_t)v], tangent, sizeof(tangent));
		arrays->uvs[v] = plane_uv(p, n, shape->scale);
		surface_arrays_tie(arrays, v, nodes, weights);
		arrays->indices[v] = first + 2 - k;
	}
}

static bool add_faces(GdRID mesh, const TetShape *shape, const int32_t *now, FaceKind kind) {
	int32_t count = 0, written = 0;
	for (int32_t i = 0; i < 4 * shape->tet_count; i++) {
		count += face_kind(shape, now, i) == kind;
	}
	if (count == 0) {
		return false;
	}
	SurfaceArrays arrays;
	surface_arrays_create(&arrays, 3 * count, 3 * count, SURFACE_TANGENTS | SURFACE_UVS | SURFACE_EMBEDDED);
	for (int32_t i = 0; i < 4 * shape->tet_count; i++) {
		if (face_kind(shape, now, i) == kind) {
			write_face(&arrays, 3 * written++, shape, now, i, 0.0f);
		}
	}
	surface_arrays_add_to_server(&arrays, mesh);
	surface_arrays_free(&arrays);
	return true;
}

int32_t tet_drawing_of_surface(GdRID mesh, TetShape *shape, const int32_t *now, bool out_is_opened[2]) {
	int32_t surfaces = 0;
	if (!tet_shape_find_neighbors(shape)) {
		return 0;
	}
	for (int opened = 0; opened < 2; opened++) {
		if (add_faces(mesh, shape, now, opened ? FACE_OPENED : FACE_OUTER)) {
			out_is_opened[surfaces++] = opened;
		}
	}
	return surfaces;
}

// ---- tets

// Hues of pieces are steps of the golden angle apart; tets of a piece differ in brightness.
static GdColor tet_color(int32_t tet, FemPieceNumber piece) {
	float hue = fmodf(0.618034f * (float)(piece % 1000), 1.0f) * 6.0f;
	float light = 0.75f + 0.25f * fmodf(0.618034f * (float)(tet % 1000), 1.0f), rgb[3];
	for (int k = 0; k < 3; k++) {
		float away = fabsf(fmodf(hue + 6.0f - 2.0f * (float)k, 6.0f) - 3.0f) - 1.0f;
		rgb[k] = light * (0.4f + 0.5f * fminf(1.0f, fmaxf(0.0f, away)));
	}
	return (GdColor){rgb[0], rgb[1], rgb[2], 1.0f};
}

int32_t tet_drawing_of_tets(GdRID mesh, const TetShape *shape, const int32_t *now, const FemPieceNumber *pieces) {
	int32_t count = 0, written = 0;
	for (int32_t t = 0; t < shape->tet_count; t++) {
		count += now[4 * (size_t)t] >= 0;
	}
	if (count == 0) {
		return 0;
	}
	SurfaceArrays arrays;
	surface_arrays_create(
		&arrays, 12 * count, 12 * count, SURFACE_TANGENTS | SURFACE_UVS | SURFACE_COLORS | SURFACE_EMBEDDED);
	for (int32_t t = 0; t < shape->tet_count; t++) {
		if (now[4 * (size_t)t] < 0) {
			continue;
		}
		GdColor color = tet_color(t, pieces ? pieces[t] : 1);
		for (int32_t f = 0; f < 4; f++, written += 3) {
			write_face(&arrays, written, shape, now, 4 * t + f, APART);
			for (int k = 0; k < 3; k++) {
				arrays.colors[written + k] = color;
			}
		}
	}
	surface_arrays_add_to_server(&arrays, mesh);
	surface_arrays_free(&arrays);
	return 1;
}
