#include "fem_bake/files/obj_model.h"

#include "base/vec.h"
#include "fem_bake/files/polygon.h"

#include <string.h>

static bool is_surface(const FemObjModel *model, const FemObjSurface *surface) {
	return strcmp(surface->material, model->material) == 0 &&
		(!model->by_group || strcmp(surface->name, model->group) == 0);
}

FemObjSurface *fem_obj_model_surface(FemObjModel *model) {
	for (int32_t i = 0; model->surface < 0 && i < model->surface_count; i++) {
		if (is_surface(model, &model->surfaces[i]))
			model->surface = i;
	}
	if (model->surface >= 0)
		return &model->surfaces[model->surface];
	if (model->surface_count == FEM_SURFACE_MAX ||
		!FEM_GROW(model->surfaces, model->surface_count, &model->surface_capacity)) {
		model->too_many_groups = model->by_group;
		return NULL;
	}
	model->surface = model->surface_count++;
	FemObjSurface *surface = &model->surfaces[model->surface];
	memcpy(surface->material, model->material, sizeof surface->material);
	if (model->by_group)
		memcpy(surface->name, model->group, sizeof surface->name);
	return surface;
}

static bool make_room_to_cut(FemObjModel *model) {
	int32_t wanted = model->polygon_capacity;
	if (model->cut_capacity >= wanted)
		return true;
	FEM_FREE_ARRAY(model->outline, model->cut_capacity);
	FEM_FREE_ARRAY(model->cut, 3 * (size_t)model->cut_capacity);
	model->cut_capacity = wanted;
	model->outline = FEM_ALLOC_ARRAY(FemVec3, wanted);
	model->cut = FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)wanted);
	return model->outline && model->cut;
}

bool fem_obj_surface_add_polygon(FemObjModel *model, FemObjSurface *surface) {
	if (!make_room_to_cut(model))
		return false;
	for (int32_t i = 0; i < model->polygon_count; i++)
		model->outline[i] = model->positions[model->polygon[i].position].place;
	fem_polygon_triangulate(model->outline, model->polygon_count, model->cut);
	for (int32_t i = 0; i < 3 * (model->polygon_count - 2); i++) {
		if (!FEM_GROW(surface->corners, surface->corner_count, &surface->corner_capacity))
			return false;
		surface->corners[surface->corner_count++] = model->polygon[model->cut[i]];
	}
	return true;
}

void fem_obj_model_free(FemObjModel *model) {
	FEM_FREE_ARRAY(model->positions, model->position_capacity);
	FEM_FREE_ARRAY(model->uvs, model->uv_capacity);
	FEM_FREE_ARRAY(model->normals, model->normal_capacity);
	FEM_FREE_ARRAY(model->polygon, model->polygon_capacity);
	FEM_FREE_ARRAY(model->outline, model->cut_capacity);
	FEM_FREE_ARRAY(model->cut, 3 * (size_t)model->cut_capacity);
	for (int32_t i = 0; i < model->surface_count; i++)
		FEM_FREE_ARRAY(model->surfaces[i].corners, model->surfaces[i].corner_capacity);
	FEM_FREE_ARRAY(model->surfaces, model->surface_capacity);
}

// ---- vertices

static uint32_t hash_corner(const FemObjCorner *corner) {
	uint64_t hash = (uint32_t)corner->position;
	hash = (hash ^ (uint64_t)(uint32_t)corner->uv << 32) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 29 ^ (uint32_t)corner->normal) * 0xd6e8feb86659fd93u;
	return (uint32_t)(hash >> 32);
}

// The vertex of each corner into vertex_of; returns how many vertices there are. first_of: the corner that made each.
static int32_t merge_corners(
	const FemObjSurface *surface, int32_t *vertex_of, int32_t *first_of, int32_t *table_plus_1, uint32_t mask) {
	int32_t count = 0;
	for (int32_t i = 0; i < surface->corner_count; i++) {
		const FemObjCorner *corner = &surface->corners[i];
		uint32_t slot = hash_corner(corner) & mask;
		while (table_plus_1[slot] &&
			memcmp(&surface->corners[first_of[table_plus_1[slot] - 1]], corner, sizeof *corner) != 0)
			slot = (slot + 1) & mask;
		if (!table_plus_1[slot]) {
			first_of[count] = i;
			table_plus_1[slot] = ++count;
		}
		vertex_of[i] = table_plus_1[slot] - 1;
	}
	return count;
}

static uint32_t attributes_of(const FemObjModel *model, const FemObjSurface *surface) {
	uint32_t attributes = FEM_ATTRIBUTE_NORMAL | (model->has_colors ? (uint32_t)FEM_ATTRIBUTE_COLOR : 0);
	for (int32_t i = 0; i < surface->corner_count; i++) {
		if (surface->corners[i].uv >= 0)
			attributes |= FEM_ATTRIBUTE_UV;
	}
	return attributes;
}

static void fill_vertex(const FemObjModel *model, const FemObjCorner *corner, FemRenderSurface *out, int32_t v) {
	out->positions[v] = model->positions[corner->position].place;
	if (corner->normal >= 0)
		out->normals[v] = model->normals[corner->normal];
	if (corner->uv >= 0)
		memcpy(out->uvs[v], model->uvs[corner->uv].uv, sizeof(float[2]));
	if (out->colors)
		memcpy(out->colors[v], model->positions[corner->position].color, sizeof out->colors[v]);
}

static bool has_length(FemVec3 n) {
	return n.x != 0.0f || n.y != 0.0f || n.z != 0.0f;
}

static void add_face_normal(const FemRenderSurface *surface, const int32_t *triangle, FemVec3d *sums) {
	FemVec3d corners[3];
	for (int i = 0; i < 3; i++)
		corners[i] = fem_vec3d_from(surface->positions[triangle[i]]);
	FemVec3d n = fem_vec3d_cross(fem_vec3d_sub(corners[1], corners[0]), fem_vec3d_sub(corners[2], corners[0]));
	for (int i = 0; i < 3; i++)
		sums[triangle[i]] = fem_vec3d_add(sums[triangle[i]], n);
}

// Vertices without a normal get the mean of their faces, by area.
static bool complete_normals(FemRenderSurface *surface) {
	int32_t missing = 0;
	for (int32_t v = 0; v < surface->vertex_count; v++)
		missing += !has_length(surface->normals[v]);
	if (!missing)
		return true;
	FemVec3d *sums = FEM_ALLOC_ARRAY(FemVec3d, surface->vertex_count);
	if (!sums)
		return false;
	for (int32_t i = 0; i < surface->index_count; i += 3)
		add_face_normal(surface, surface->indices + i, sums);
	for (int32_t v = 0; v < surface->vertex_count; v++) {
		double length = sqrt(fem_vec3d_dot(sums[v], sums[v]));
		if (has_length(surface->normals[v]))
			continue;
		surface->normals[v] =
			length > 0.0 ? fem_vec3d_to_vec3(fem_vec3d_scale(sums[v], 1.0 / length)) : (FemVec3){0.0f, 1.0f, 0.0f};
	}
	FEM_FREE_ARRAY(sums, surface->vertex_count);
	return true;
}

typedef struct Merging {
	int32_t *vertex_of, *first_of, *table;
	uint32_t table_size;
} Merging;

static bool merging_create(Merging *merging, int32_t corner_count) {
	*merging = (Merging){.table_size = 16};
	while (merging->table_size < 2 * (uint32_t)corner_count)
		merging->table_size *= 2;
	merging->vertex_of = FEM_ALLOC_ARRAY(int32_t, corner_count);
	merging->first_of = FEM_ALLOC_ARRAY(int32_t, corner_count);
	merging->table = FEM_ALLOC_ARRAY(int32_t, merging->table_size);
	return merging->vertex_of && merging->first_of && merging->table;
}

static void merging_free(Merging *merging, int32_t corner_count) {
	FEM_FREE_ARRAY(merging->vertex_of, corner_count);
	FEM_FREE_ARRAY(merging->first_of, corner_count);
	FEM_FREE_ARRAY(merging->table, merging->table_size);
}

static bool finish_surface(const FemObjModel *model, const FemObjSurface *surface, FemRenderSurface *out) {
	Merging merging;
	bool done = merging_create(&merging, surface->corner_count);
	if (done) {
		int32_t vertices =
			merge_corners(surface, merging.vertex_of, merging.first_of, merging.table, merging.table_size - 1);
		done = fem_render_surface_reserve(out, vertices, surface->corner_count, attributes_of(model, surface));
		for (int32_t v = 0; done && v < vertices; v++)
			fill_vertex(model, &surface->corners[merging.first_of[v]], out, v);
		if (done)
			memcpy(out->indices, merging.vertex_of, sizeof *out->indices * (size_t)out->index_count);
		done = done && complete_normals(out);
	}
	merging_free(&merging, surface->corner_count);
	return done;
}

bool fem_obj_model_finish(const FemObjModel *model, FemRenderMesh *out) {
	for (int32_t i = 0; i < model->surface_count; i++) {
		const FemObjSurface *surface = &model->surfaces[i];
		if (surface->corner_count == 0)
			continue;
		FemRenderSurface *made = fem_render_mesh_add(out, surface->name, surface->material);
		if (!made || !finish_surface(model, surface, made))
			return false;
	}
	return true;
}
