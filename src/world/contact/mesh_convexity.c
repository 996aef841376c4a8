// Whether a mesh is convex at rest: a whole body of it, and the pieces it breaks into, must bend far before they can
// touch themselves. A scale along the axes does not change it, so it is found once a mesh.
#include "base/memory.h"
#include "base/vec.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>

#define SLACK 0.01        // of the mesh's size, by which a node may stand out of a face; chosen
#define TESTS_MAX 2000000 // of nodes against faces: some 10 ms; chosen

static FemVec3d mesh_point(const FemMesh *mesh, int32_t node) {
	return fem_vec3d_from(mesh->positions[mesh->topology->user_of_node[node]]);
}

// (Volume of the mesh's box)^(1/3), m.
static double mesh_size(const FemMesh *mesh) {
	double volume = 1.0;
	for (int k = 0; k < 3; k++) {
		double low = 1e30, high = -1e30;
		for (int32_t i = 0; i < mesh->node_count; i++) {
			double x = (double)(&mesh->positions[i].x)[k];
			low = fmin(low, x);
			high = fmax(high, x);
		}
		volume *= high - low;
	}
	return cbrt(volume);
}

// Whether all surface nodes lie behind all outer faces, to SLACK of the size. Large meshes are sampled: a dent that the
// samples miss is small against the mesh.
static bool is_convex(const FemMesh *mesh, const int32_t *surface_nodes, int32_t surface_node_count) {
	const FemTopology *t = mesh->topology;
	int64_t tests = (int64_t)t->triangle_count * surface_node_count;
	int32_t stride = 1 + (int32_t)(tests / TESTS_MAX);
	double slack = SLACK * mesh_size(mesh);
	for (int32_t k = 0; k < t->triangle_count; k++) {
		const int32_t *face = t->triangles + 3 * (int64_t)k;
		FemVec3d a = mesh_point(mesh, face[0]), u = fem_vec3d_sub(mesh_point(mesh, face[1]), a);
		FemVec3d n = fem_vec3d_cross(u, fem_vec3d_sub(mesh_point(mesh, face[2]), a));
		double limit = slack * sqrt(fem_vec3d_dot(n, n));
		for (int32_t i = k % stride; i < surface_node_count; i += stride) {
			if (fem_vec3d_dot(n, fem_vec3d_sub(mesh_point(mesh, surface_nodes[i]), a)) > limit)
				return false;
		}
	}
	return t->component_count == 1;
}

// Ascending; returns their number.
static int32_t list_surface_nodes(const FemTopology *t, int32_t *nodes) {
	int32_t count = 0;
	for (int32_t k = 0; k < 3 * t->triangle_count; k++)
		nodes[t->triangles[k]] = 1;
	for (int32_t i = 0; i < t->node_count; i++) {
		if (nodes[i])
			nodes[count++] = i; // never ahead of i
	}
	return count;
}

bool fem_mesh_find_convexity(FemMesh *mesh) {
	if (mesh->convexity != FEM_CONVEX_UNKNOWN)
		return true;
	int32_t *nodes = FEM_ALLOC_ARRAY(int32_t, mesh->topology->node_count);
	if (!nodes)
		return false;
	int32_t count = list_surface_nodes(mesh->topology, nodes);
	mesh->convexity = is_convex(mesh, nodes, count) ? FEM_CONVEX_YES : FEM_CONVEX_NO;
	FEM_FREE_ARRAY(nodes, mesh->topology->node_count);
	return true;
}
