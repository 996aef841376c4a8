// The inside of splinters: both sides of every face of the cuts, with normals, tangents and texture coordinates.
#include "cutting/cut_making.h"

#include <string.h>

#define GRAIN_LEAST 1e-12 // square of a length: no direction was given; chosen
#define UPRIGHT 0.8       // y of a unit normal: above, a face counts as level and its texture runs along x; chosen
#define PARALLEL 1e-4     // square of a sine: the direction lies along the normal; chosen
#define NOT_ALONG 0.7     // component of a unit vector: an axis with less than this crosses it well; 1/sqrt(3) and more
#define AREA_SCALE 1e6    // of area vectors before they become floats, so that small ones stay above the least float

typedef struct Axes {
	FemVec3d u, v, n;
} Axes;

// u along the grain, or level.
static Axes axes_of_face(const FemCutSource *source, const FemCutFace *face) {
	const FemCutCell *i = &source->inside->diagram->cells[face->cells[0]],
					 *j = &source->inside->diagram->cells[face->cells[1]];
	Axes axes = {.n = fem_cut_unit((FemVec3d){
					 (double)(i->a[0] - j->a[0]), (double)(i->a[1] - j->a[1]), (double)(i->a[2] - j->a[2])})};
	FemVec3d along = fem_vec3d_from(source->grain);
	if (fem_vec3d_dot(along, along) < GRAIN_LEAST)
		along = fabs(axes.n.y) < UPRIGHT ? (FemVec3d){axes.n.z, 0.0, -axes.n.x} : (FemVec3d){1.0, 0.0, 0.0};
	along = fem_vec3d_sub(along, fem_vec3d_scale(axes.n, fem_vec3d_dot(axes.n, along)));
	if (fem_vec3d_dot(along, along) < PARALLEL)
		along =
			fem_vec3d_cross(axes.n, fabs(axes.n.x) < NOT_ALONG ? (FemVec3d){1.0, 0.0, 0.0} : (FemVec3d){0.0, 1.0, 0.0});
	axes.u = fem_cut_unit(along);
	axes.v = fem_vec3d_cross(axes.n, axes.u);
	return axes;
}

static FemVec3d triangle_area(const FemCutSolid *solid, const int32_t t[3]) {
	FemVec3d a = solid->vertices[t[0]].at;
	return fem_vec3d_cross(fem_vec3d_sub(solid->vertices[t[1]].at, a), fem_vec3d_sub(solid->vertices[t[2]].at, a));
}

static int32_t inner_vertex(FemCutMaking *out, int32_t face_number, int side, const Axes *axes, int32_t vertex) {
	const FemCutSource *source = out->source;
	const FemCutSolid *solid = source->inside;
	int32_t label = solid->diagram->cells[solid->faces[face_number].cells[side]].splinter;
	int32_t splinter = fem_cut_splinter_of(&out->splinters, source->is_apart, label, vertex);
	bool is_new;
	int32_t made = fem_cut_make_vertex(out, (int32_t[FEM_KEY_SIZE]){splinter, vertex, face_number, side, -1}, &is_new);
	if (made < 0 || !is_new)
		return made;
	FemCutMade *m = &out->made[made];
	*m = (FemCutMade){.splinter = splinter, .vertex = vertex, .solid = source->is_apart};
	FemVec3d at = fem_vec3d_scale(solid->vertices[vertex].at, source->frame.size);
	double sign = side ? -1.0 : 1.0;
	m->uv[0] = (float)fem_vec3d_dot(at, axes->u);
	m->uv[1] = (float)(-sign * fem_vec3d_dot(at, axes->v)); // v runs downward
	FemVec3 tangent = fem_vec3d_to_vec3(axes->u);
	memcpy(m->tangent, &tangent, sizeof tangent);
	m->tangent[3] = 1.0f;
	return made;
}

// Vertices of one side, then those of the other in the same order.
void fem_cut_make_face(FemCutMaking *out, int32_t number) {
	const FemCutSolid *solid = out->source->inside;
	const FemCutFace *face = &solid->faces[number];
	Axes axes = axes_of_face(out->source, face);
	int32_t surface = out->source->render->surface_count;
	out->face_starts[number] = out->made_count;
	for (int32_t n = 0; n < 2 * face->triangle_count && !out->failed; n++) {
		int side = n >= face->triangle_count;
		const int32_t *t = solid->face_triangles[face->first_triangle + n % face->triangle_count];
		FemVec3 area = fem_vec3d_to_vec3(fem_vec3d_scale(triangle_area(solid, t), side ? -AREA_SCALE : AREA_SCALE));
		int32_t made[3];
		for (int v = 0; v < 3; v++) {
			made[v] = inner_vertex(out, number, side, &axes, t[v]);
			if (made[v] >= 0)
				out->made[made[v]].normal = fem_vec3_add(out->made[made[v]].normal, area);
		}
		for (int v = 0; v < 3; v++)
			fem_cut_make_index(out, surface, made[side ? 2 - v : v], false);
	}
	for (int32_t n = 0; n < 6 * face->coarse_count && !out->failed; n++) {
		int side = n >= 3 * face->coarse_count, v = n % 3;
		const int32_t *t = solid->face_triangles[face->first_coarse + n / 3 % face->coarse_count];
		fem_cut_make_index(out, surface, inner_vertex(out, number, side, &axes, t[side ? 2 - v : v]), true);
	}
}
