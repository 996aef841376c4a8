#include "fem_bake/files/import_builder.h"

#include "base/error.h"
#include "base/growing.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "topology/tet_mesh.h"

#include <math.h>

static FemResult fail_limit(const FemImportBuilder *builder, const char *what, int32_t most) {
	return fem_fail(FEM_ERROR_LIMIT, "%.60s holds more than %d %s: export a coarser mesh.", builder->name, most, what);
}

static FemResult fail_memory(const FemImportBuilder *builder) {
	return fem_fail(FEM_ERROR_MEMORY,
		"The system gave no memory to read %.60s: close other programs or export a coarser mesh.", builder->name);
}

FemResult fem_import_add_node(FemImportBuilder *builder, int64_t id, const double position[3]) {
	if (builder->node_count == FEM_NODE_MAX)
		return fail_limit(builder, "nodes", FEM_NODE_MAX);
	if (!FEM_GROW(builder->nodes, builder->node_count, &builder->node_capacity))
		return fail_memory(builder);
	builder->nodes[builder->node_count++] = (FemImportNode){{position[0], position[1], position[2]}, id};
	return FEM_OK;
}

FemResult fem_import_add_tet(FemImportBuilder *builder, const FemImportTet *tet) {
	if (builder->tet_count == FEM_TET_MAX)
		return fail_limit(builder, "tets", FEM_TET_MAX);
	if (!isfinite(tet->region) || !isfinite(tet->other_region))
		return fem_fail(FEM_ERROR_FORMAT, "%.60s: tet %d has a region that is not a finite number: correct it.",
			builder->name, builder->tet_count);
	if (!FEM_GROW(builder->tets, builder->tet_count, &builder->tet_capacity))
		return fail_memory(builder);
	builder->tets[builder->tet_count++] = *tet;
	return FEM_OK;
}

void fem_import_name_region(FemImportBuilder *builder, double value, FemToken name) {
	FemImportInfo *info = builder->info;
	if (info->region_count == FEM_REGION_MAX)
		return;
	FemImportRegion *region = &info->regions[info->region_count++];
	region->value = value;
	fem_token_copy(name, region->name, sizeof region->name);
}

void fem_import_builder_free(FemImportBuilder *builder) {
	FEM_FREE_ARRAY(builder->nodes, builder->node_capacity);
	FEM_FREE_ARRAY(builder->tets, builder->tet_capacity);
	builder->nodes = NULL;
	builder->tets = NULL;
}

// ---- nodes by their id

// Most files number their nodes in a row, and need no table.
typedef struct NodeFinder {
	const FemImportBuilder *builder;
	bool in_a_row;
	int32_t *table_plus_1; // open addressing, a power of two
	uint32_t size;
} NodeFinder;

static bool numbered_in_a_row(const FemImportBuilder *builder) {
	for (int32_t i = 0; i < builder->node_count; i++) {
		// Unsigned: ids of a damaged file may be at either end of the range.
		if ((uint64_t)builder->nodes[i].id - (uint64_t)i != (uint64_t)builder->nodes[0].id)
			return false;
	}
	return true;
}

static uint32_t hash_id(int64_t id) {
	uint64_t hash = (uint64_t)id * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return (uint32_t)(hash >> 32);
}

// The node's index, or -1; out_slot is where it is or would be.
static int32_t look_up(const NodeFinder *finder, int64_t id, uint32_t *out_slot) {
	uint32_t slot = hash_id(id) & (finder->size - 1);
	for (; finder->table_plus_1[slot]; slot = (slot + 1) & (finder->size - 1)) {
		if (finder->builder->nodes[finder->table_plus_1[slot] - 1].id == id)
			break;
	}
	*out_slot = slot;
	return finder->table_plus_1[slot] - 1;
}

static FemResult finder_create(NodeFinder *finder, const FemImportBuilder *builder) {
	*finder = (NodeFinder){.builder = builder, .in_a_row = numbered_in_a_row(builder), .size = 16};
	if (finder->in_a_row)
		return FEM_OK;
	while (finder->size < 2 * (uint32_t)builder->node_count)
		finder->size *= 2;
	finder->table_plus_1 = FEM_ALLOC_ARRAY(int32_t, finder->size);
	if (!finder->table_plus_1)
		return fail_memory(builder);
	for (int32_t i = 0; i < builder->node_count; i++) {
		uint32_t slot;
		if (look_up(finder, builder->nodes[i].id, &slot) >= 0)
			return fem_fail(FEM_ERROR_FORMAT, "%.60s holds node %.0f twice: renumber its nodes.", builder->name,
				(double)builder->nodes[i].id);
		finder->table_plus_1[slot] = i + 1;
	}
	return FEM_OK;
}

static void finder_free(NodeFinder *finder) {
	FEM_FREE_ARRAY(finder->table_plus_1, finder->size);
}

static int32_t find_node(const NodeFinder *finder, int64_t id) {
	const FemImportBuilder *builder = finder->builder;
	uint32_t slot;
	if (!finder->in_a_row)
		return look_up(finder, id, &slot);
	uint64_t place = (uint64_t)id - (uint64_t)(builder->node_count ? builder->nodes[0].id : 0);
	return place < (uint64_t)builder->node_count ? (int32_t)place : -1;
}

// ---- regions

// The place of a value among the sorted regions, or where it belongs.
static int32_t region_place(const FemImportInfo *info, double value) {
	int32_t low = 0, high = info->region_count;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		if (info->regions[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// False when there are too many.
static bool enter_region(FemImportInfo *info, double value) {
	int32_t place = region_place(info, value);
	if (place < info->region_count && info->regions[place].value == value)
		return true;
	if (info->region_count == FEM_REGION_MAX)
		return false;
	memmove(
		info->regions + place + 1, info->regions + place, sizeof *info->regions * (size_t)(info->region_count - place));
	info->regions[place] = (FemImportRegion){.value = value};
	info->region_count++;
	return true;
}

static double region_of(const FemImportTet *tet, bool others) {
	return others ? tet->other_region : tet->region;
}

static bool regions_all_zero(const FemImportBuilder *builder) {
	for (int32_t t = 0; t < builder->tet_count; t++) {
		if (builder->tets[t].region != 0.0)
			return false;
	}
	return true;
}

static void take_names(FemImportInfo *sorted, const FemImportInfo *named) {
	for (int32_t i = 0; i < named->region_count; i++) {
		int32_t place = region_place(sorted, named->regions[i].value);
		if (place < sorted->region_count && sorted->regions[place].value == named->regions[i].value)
			memcpy(sorted->regions[place].name, named->regions[i].name, sizeof named->regions[i].name);
	}
}

static FemResult number_regions(FemImportBuilder *builder, FemTetArrays *mesh, FemImportInfo *sorted) {
	bool others = regions_all_zero(builder);
	for (int32_t t = 0; t < builder->tet_count; t++) {
		if (enter_region(sorted, region_of(&builder->tets[t], others)))
			continue;
		if (!builder->regions_guessed)
			return fem_fail(FEM_ERROR_LIMIT, "%.60s has more than %d material regions: merge some of them.",
				builder->name, FEM_REGION_MAX);
		*sorted = (FemImportInfo){.region_count = 1};
		memset(mesh->tet_regions, 0, sizeof *mesh->tet_regions * (size_t)builder->tet_count);
		return FEM_OK;
	}
	if (!others)
		take_names(sorted, builder->info);
	for (int32_t t = 0; t < builder->tet_count; t++)
		mesh->tet_regions[t] = region_place(sorted, region_of(&builder->tets[t], others));
	return FEM_OK;
}

static FemResult convert_regions(FemImportBuilder *builder, FemTetArrays *mesh) {
	FemImportInfo *sorted = FEM_ALLOC_ARRAY(FemImportInfo, 1);
	if (!sorted)
		return fail_memory(builder);
	FemResult result = number_regions(builder, mesh, sorted);
	*builder->info = *sorted;
	FEM_FREE_ARRAY(sorted, 1);
	return result;
}

// ---- the mesh made

static FemResult check_kinds(const FemImportBuilder *builder) {
	if (builder->solid_count)
		return fem_fail(FEM_ERROR_MESH,
			"%.60s holds %d hexahedra, prisms or pyramids: have its program cut them into tets.", builder->name,
			builder->solid_count);
	if (builder->tet_count)
		return FEM_OK;
	return fem_fail(FEM_ERROR_MESH, "%.60s holds no tets%s", builder->name,
		builder->flat_count
			? " but only points, lines or faces: make a volume mesh of it (in Gmsh: Mesh, 3D), or bake it as a surface."
			: ": export it again with its volume elements.");
}

static FemResult convert_tets(const FemImportBuilder *builder, FemTetArrays *mesh) {
	NodeFinder finder;
	FemResult result = finder_create(&finder, builder);
	for (int32_t t = 0; result == FEM_OK && t < builder->tet_count; t++) {
		for (int v = 0; result == FEM_OK && v < 4; v++) {
			int32_t node = find_node(&finder, builder->tets[t].nodes[v]);
			mesh->tets[4 * (size_t)t + (size_t)v] = node;
			if (node < 0)
				result = fem_fail(FEM_ERROR_FORMAT,
					"%.60s: tet %d names node %.0f, which is not there: export the mesh again.", builder->name, t,
					(double)builder->tets[t].nodes[v]);
		}
	}
	finder_free(&finder);
	return result;
}

// Numbers the nodes that tets use, in the file's order; new_of is zeroed.
static int32_t number_nodes(const FemImportBuilder *builder, FemTetArrays *mesh, int32_t *new_of) {
	int32_t count = 0;
	for (size_t i = 0; i < 4 * (size_t)mesh->tet_count; i++)
		new_of[mesh->tets[i]] = 1;
	for (int32_t i = 0; i < builder->node_count; i++)
		new_of[i] = new_of[i] ? count++ : -1;
	for (size_t i = 0; i < 4 * (size_t)mesh->tet_count; i++)
		mesh->tets[i] = new_of[mesh->tets[i]];
	return count;
}

static FemResult copy_positions(const FemImportBuilder *builder, FemTetArrays *mesh, const int32_t *new_of) {
	mesh->nodes = FEM_ALLOC_ARRAY(FemVec3, mesh->node_count);
	if (!mesh->nodes)
		return fail_memory(builder);
	for (int32_t i = 0; i < builder->node_count; i++) {
		const double *p = builder->nodes[i].position;
		if (new_of[i] < 0)
			continue;
		// Checked before the conversion: a double past the range of float has no float value.
		if (!(fabs(p[0]) <= (double)FEM_REST_MAX && fabs(p[1]) <= (double)FEM_REST_MAX &&
				fabs(p[2]) <= (double)FEM_REST_MAX))
			return fem_fail(FEM_ERROR_MESH,
				"%.60s: node %.0f is not finite or more than %g m from the origin: correct or move it.", builder->name,
				(double)builder->nodes[i].id, (double)FEM_REST_MAX);
		mesh->nodes[new_of[i]] = (FemVec3){(float)p[0], (float)p[1], (float)p[2]};
	}
	return FEM_OK;
}

static FemResult convert_nodes(const FemImportBuilder *builder, FemTetArrays *mesh) {
	int32_t *new_of = FEM_ALLOC_ARRAY(int32_t, builder->node_count);
	if (!new_of)
		return fail_memory(builder);
	mesh->node_count = number_nodes(builder, mesh, new_of);
	FemResult result = copy_positions(builder, mesh, new_of);
	FEM_FREE_ARRAY(new_of, builder->node_count);
	return result;
}

static FemResult check_mesh(const FemImportBuilder *builder, FemTetArrays *mesh) {
	for (int32_t t = 0; t < mesh->tet_count; t++)
		fem_tet_orient(mesh->nodes, mesh->tets + 4 * (size_t)t);
	return fem_tet_arrays_check(mesh, builder->name);
}

FemResult fem_import_finish(FemImportBuilder *builder, FemTetArrays *out) {
	*out = (FemTetArrays){0};
	FemResult result = check_kinds(builder);
	if (result != FEM_OK)
		return result;
	FemTetArrays mesh = {.tet_count = builder->tet_count};
	mesh.tets = FEM_ALLOC_ARRAY(int32_t, 4 * (size_t)mesh.tet_count);
	mesh.tet_regions = FEM_ALLOC_ARRAY(int32_t, mesh.tet_count);
	result = mesh.tets && mesh.tet_regions ? convert_tets(builder, &mesh) : fail_memory(builder);
	if (result == FEM_OK)
		result = convert_nodes(builder, &mesh);
	if (result == FEM_OK)
		result = convert_regions(builder, &mesh);
	if (result == FEM_OK)
		result = check_mesh(builder, &mesh);
	if (result == FEM_OK)
		*out = mesh;
	else
		fem_tet_arrays_free(&mesh);
	return result;
}
