#include "filling/lattice_skin.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/stuffing.h"
#include "topology/surface.h"

#include <string.h>

#define LARGEST_SHARE 0.9 // of the volume that the largest body must have; chosen: a lid and its pot are two bodies

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the skin of the mesh: reduce the mesh first.");
}

static bool keep_largest(FemTetList *list, bool *out_made) {
	int32_t count = list->tet_count, *bodies = FEM_ALLOC_ARRAY(int32_t, count + 1);
	int32_t body_count = bodies ? fem_tet_list_bodies(list, bodies) : 0, largest = 0;
	double *volumes = body_count ? FEM_ALLOC_ARRAY(double, body_count) : NULL, all = 0.0;
	bool ready = volumes != NULL;
	if (ready) {
		for (int32_t t = 0; t < count; t++) {
			volumes[bodies[t]] += fem_tet_list_volume(list, t);
			all += fem_tet_list_volume(list, t);
		}
		for (int32_t b = 0; b < body_count; b++)
			largest = volumes[b] > volumes[largest] ? b : largest;
		*out_made = volumes[largest] > LARGEST_SHARE * all;
		ready = fem_tet_list_keep(list, bodies, largest);
	}
	FEM_FREE_ARRAY(volumes, body_count);
	FEM_FREE_ARRAY(bodies, count + 1);
	return ready;
}

// The nodes of outer faces, and the faces.
static bool take_faces(const FemTetList *list, const FemSurface *surface, int32_t *numbers, FemTriangles *out) {
	out->triangle_count = out->triangle_capacity = surface->count;
	out->triangles = (int32_t(*)[3])(void *)FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)surface->count);
	out->vertex_capacity = list->node_count;
	out->vertices = FEM_ALLOC_ARRAY(FemVec3, list->node_count);
	if (!out->triangles || !out->vertices)
		return false;
	memset(numbers, 0xff, sizeof *numbers * (size_t)list->node_count);
	for (int32_t f = 0; f < surface->count; f++)
		for (int v = 0; v < 3; v++) {
			int32_t node = list->tets[surface->faces[f] / 4][fem_face_corners[surface->faces[f] % 4][v]];
			if (numbers[node] < 0) {
				out->vertices[out->vertex_count] = fem_vec3d_to_vec3(list->nodes[node]);
				numbers[node] = out->vertex_count++;
			}
			out->triangles[f][v] = numbers[node];
		}
	return true;
}

static FemResult make_solid(const FemTetList *list, FemSolid *out) {
	FemSurface surface = {0};
	int32_t *nodes = FEM_ALLOC_ARRAY(int32_t, list->node_count);
	for (int32_t n = 0; nodes && n < list->node_count; n++)
		nodes[n] = n;
	bool ready = nodes && fem_surface_create(&surface, nodes, list->node_count, &list->tets[0][0], list->tet_count) &&
		take_faces(list, &surface, nodes, &out->triangles);
	fem_surface_free(&surface);
	FEM_FREE_ARRAY(nodes, list->node_count);
	FemResult result = ready ? fem_triangle_bvh_create(&out->bvh, &out->triangles) : no_memory();
	return result == FEM_OK ? fem_winding_create(&out->winding, &out->bvh) : result;
}

FemResult fem_lattice_skin(const FemSolid *solid, double cell, FemSolid *out, bool *out_made) {
	FemTetList list = {0};
	double cells[3] = {cell, cell, cell};
	*out = (FemSolid){0};
	*out_made = false;
	FemResult result = fem_stuffing_fill(solid, cells, false, 0.0, &list);
	if (result == FEM_OK && fem_stop_asked())
		result = fem_fail_stopped();
	if (result == FEM_OK && list.tet_count > 0)
		result = keep_largest(&list, out_made) ? make_solid(&list, out) : no_memory();
	for (int axis = 0; axis < 3; axis++)
		out->half_extents[axis] = solid->half_extents[axis];
	fem_tet_list_free(&list);
	if (result != FEM_OK)
		fem_solid_free(out);
	return result;
}
