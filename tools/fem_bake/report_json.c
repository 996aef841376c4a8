#include "fem_bake/report_json.h"

#include "base/error.h"
#include "base/memory.h"
#include "filling/tet_list.h"

#include <stdio.h>
#include <string.h>

static double tets_volume(const FemTetArrays *mesh) {
	double sum = 0.0;
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		FemVec3d p[4];
		for (int v = 0; v < 4; v++)
			p[v] = fem_vec3d_from(mesh->nodes[mesh->tets[4 * (size_t)t + (size_t)v]]);
		FemVec3d a = fem_vec3d_sub(p[1], p[0]), b = fem_vec3d_sub(p[2], p[0]), c = fem_vec3d_sub(p[3], p[0]);
		sum += fabs(fem_vec3d_dot(a, fem_vec3d_cross(b, c))) / 6.0;
	}
	return sum;
}

// Bodies of tets joined by faces; 0 without memory.
static int32_t count_bodies(const FemTetArrays *mesh) {
	int32_t capacity = mesh->tet_count + 1, *bodies = FEM_ALLOC_ARRAY(int32_t, capacity);
	FemTetList list = {.tet_count = mesh->tet_count, .tets = (int32_t(*)[4])(void *)mesh->tets};
	int32_t count = bodies ? fem_tet_list_bodies(&list, bodies) : 0;
	FEM_FREE_ARRAY(bodies, capacity);
	return count;
}

// Control characters cannot be in a report; what is not ASCII is UTF-8 already.
static void print_string(const char *text, size_t length) {
	putchar('"');
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\')
			putchar('\\');
		putchar((unsigned char)text[i] < ' ' ? ' ' : text[i]);
	}
	putchar('"');
}

static void print_faults(const char *report) {
	char faults[FEM_REPORT_SIZE];
	fem_bake_report_warnings(report ? report : "", faults, sizeof faults);
	printf("\"faults\": [");
	for (const char *line = faults; *line;) {
		size_t length = strcspn(line, "\n");
		printf(line == faults ? "" : ", ");
		print_string(line, length);
		line += length + (line[length] != 0);
	}
	printf("]");
}

FemResult fem_report_json(const FemBakedMesh *mesh, const FemBakeInfo *info, float density) {
	const FemTetArrays *tets = &mesh->tet_mesh;
	int32_t parts = info ? info->tets.member_count : count_bodies(tets);
	if (parts == 0)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the report: close other programs.");
	printf("{\"coverage_max\": ");
	if (info && info->diagnosis.size > 0.0)
		printf("%.6g", (double)info->embedding.max_outside / info->diagnosis.size);
	else
		printf("null");
	printf(", \"volume_ratio\": ");
	if (info && info->diagnosis.volume_ratio > 0.0)
		printf("%.6g", info->diagnosis.volume_ratio);
	else
		printf("null");
	printf(
		", \"mass\": %.6g, \"tets\": %d, \"parts\": %d, ", tets_volume(tets) * (double)density, tets->tet_count, parts);
	print_faults(mesh->report);
	printf("}\n");
	return FEM_OK;
}
