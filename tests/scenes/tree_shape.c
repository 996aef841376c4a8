#include "scenes/tree_shape.h"

#include "base/memory.h"
#include "base/vec.h"
#include "scenes/rig.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

FemTreeShape fem_tree_shape(const FemBoxMesh *mesh, int32_t part_nodes) {
	FemTreeShape shape = {0};
	int32_t *part = malloc(sizeof *part * (size_t)mesh->node_count);
	for (int32_t i = 0; i < mesh->node_count; i++)
		part[i] = i / part_nodes;
	shape.topology = fem_topology_create(mesh->node_count, mesh->tets, mesh->tet_count, part);
	shape.positions = fem_alloc(sizeof(FemVec4) * (size_t)mesh->node_count);
	shape.rest = fem_alloc(sizeof(FemVec4) * (size_t)mesh->node_count);
	for (int32_t i = 0; i < mesh->node_count; i++)
		shape.positions[shape.topology->node_of_user[i]] = fem_vec4_from(mesh->positions[i]);
	memcpy(shape.rest, shape.positions, sizeof(FemVec4) * (size_t)mesh->node_count);
	shape.trees = fem_surface_trees_create(shape.topology, shape.positions, shape.positions);
	free(part);
	return shape;
}

FemTreeShape fem_tree_box(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, FemCellKind kind) {
	FemBoxMesh mesh = fem_box_mesh(nx, ny, nz, size, kind);
	FemTreeShape shape = fem_tree_shape(&mesh, 30);
	fem_box_mesh_free(&mesh);
	return shape;
}

void fem_tree_shape_free(FemTreeShape *shape) {
	fem_surface_trees_free(shape->trees);
	FEM_FREE_ARRAY(shape->positions, shape->topology->node_count);
	FEM_FREE_ARRAY(shape->rest, shape->topology->node_count);
	fem_topology_free(shape->topology);
}

void fem_tree_shape_refit(FemTreeShape *shape) {
	fem_surface_trees_refit(shape->trees, shape->positions, fem_surface_trees_all(shape->trees));
}

void fem_tree_shape_pose(FemTreeShape *shape, FemQuat rotation, FemVec3d centre, FemVec3d move) {
	double r[3][3];
	fem_quat_to_matrix(rotation, r);
	for (int32_t i = 0; i < shape->topology->node_count; i++) {
		FemVec3d p = fem_vec3d_sub(fem_vec3d_from4(shape->rest[i]), centre);
		p = fem_vec3d_add(fem_vec3d_add(fem_matrix_apply(r, p), centre), move);
		shape->positions[i] = fem_vec4_from(fem_vec3d_to_vec3(p));
	}
	fem_tree_shape_refit(shape);
}

FemQuat fem_seeded_rotation(uint32_t *random) {
	FemQuat q = {fem_random(random), fem_random(random), fem_random(random), fem_random(random)};
	return fem_quat_normalize(&q) ? q : (FemQuat){0, 0, 0, 1};
}
