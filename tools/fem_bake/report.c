#include "fem_bake/report.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void fem_report_embedding(const FemEmbedding *embedding) {
	printf("vertices: %d, outside of all tets %d (up to %.3g m), moved at rest %d (up to %.3g m)\n", embedding->count,
		embedding->outside, (double)embedding->max_outside, embedding->limited, (double)embedding->max_error);
}

void fem_report_members(const FemTetMesh *tets) {
	printf("part kind      tets     nodes    volume m3   of input  angle  cell m     thick m    bending\n");
	for (int32_t i = 0; i < tets->member_count; i++) {
		const FemTetMember *member = &tets->members[i];
		printf("%4d %-9s %-8d %-8d %-11.4g %-9.3g %-6.1f %-10.3g %-10.3g %.2f\n", i, fem_member_kind_name(member->kind),
			member->tet_count, member->node_count, (double)member->volume,
			member->input_volume > 0.0f ? (double)(member->volume / member->input_volume) : 0.0,
			(double)member->min_dihedral, (double)member->cell, (double)member->thickness,
			(double)member->stiffness_excess);
	}
}

void fem_report_mesh(const FemBakedMesh *mesh, double milliseconds) {
	size_t size = fem_baked_mesh_size(mesh);
	int64_t vertices = fem_render_mesh_vertex_count(&mesh->render);
	printf("baked: %d tets, %d nodes, %d surfaces with %.0f vertices and %.0f triangles, %.0f bytes, %.0f ms\n",
		mesh->tet_mesh.tet_count, mesh->tet_mesh.node_count, mesh->render.surface_count, (double)vertices,
		(double)fem_render_mesh_triangle_count(&mesh->render), (double)size, milliseconds);
	if (mesh->splinters.splinter_count > 0)
		printf("splinters: %d with %d vertices and %d triangles\n", mesh->splinters.splinter_count,
			mesh->splinters.vertex_count, mesh->splinters.index_count / 3);
	for (int32_t i = 0; i < mesh->region_name_count; i++)
		printf("region %d: %s\n", i, mesh->region_names[i].name);
}

// ---- VTK

static void write_cells(FILE *file, const FemTetArrays *mesh) {
	fprintf(file, "CELLS %d %.0f\n", mesh->tet_count, 5.0 * mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		const int32_t *tet = mesh->tets + 4 * (size_t)t;
		fprintf(file, "4 %d %d %d %d\n", tet[0], tet[1], tet[2], tet[3]);
	}
	fprintf(file, "CELL_TYPES %d\n", mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		fprintf(file, "10\n");
	fprintf(file, "CELL_DATA %d\nSCALARS region int 1\nLOOKUP_TABLE default\n", mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		fprintf(file, "%d\n", mesh->tet_regions ? mesh->tet_regions[t] : 0);
	fprintf(file, "SCALARS plate_strength float 1\nLOOKUP_TABLE default\n");
	for (int32_t t = 0; t < mesh->tet_count; t++)
		fprintf(file, "%g\n", mesh->tet_plates ? (double)mesh->tet_plates[t] : 0.0);
}

FemResult fem_write_vtk(const char *path, const FemTetArrays *mesh) {
	FILE *file = fopen(path, "wb");
	if (!file)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be written: %s. Check its name and folder.", path,
			strerror(errno));
	fprintf(file, "# vtk DataFile Version 3.0\nmade by fem_bake\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d float\n",
		mesh->node_count);
	for (int32_t i = 0; i < mesh->node_count; i++)
		fprintf(file, "%.9g %.9g %.9g\n", (double)mesh->nodes[i].x, (double)mesh->nodes[i].y, (double)mesh->nodes[i].z);
	write_cells(file, mesh);
	bool failed = ferror(file) != 0;
	if (fclose(file) == 0 && !failed)
		return FEM_OK;
	remove(path);
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be written: is the disk full?", path);
}
