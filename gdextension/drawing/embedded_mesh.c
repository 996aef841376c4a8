#include "drawing/embedded_mesh.h"

#include "binding/conversions.h"
#include "drawing/embedded_copy.h"
#include "drawing/surface_arrays.h"
#include "drawing/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static FemVec3 normalized(FemVec3 v, FemVec3 otherwise) {
	float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
	return length > 0.0f ? (FemVec3){v.x / length, v.y / length, v.z / length} : otherwise;
}

// Smooth normals for surfaces that came without: the mean of the faces around a vertex by their areas.
static FemVec3 *make_normals(const FemRenderSurface *surface) {
	FemVec3 *normals = calloc((size_t)surface->vertex_count, sizeof(FemVec3));
	for (int32_t i = 0; normals && i + 2 < surface->index_count; i += 3) {
		const int32_t *corner = &surface->indices[i];
		FemVec3 a = surface->positions[corner[0]], b = surface->positions[corner[1]], c = surface->positions[corner[2]];
		FemVec3 area = vector_cross(vector_subtract(b, a), vector_subtract(c, a));
		for (int k = 0; k < 3; k++) {
			FemVec3 *n = &normals[corner[k]];
			*n = (FemVec3){n->x + area.x, n->y + area.y, n->z + area.z};
		}
	}
	for (int32_t i = 0; normals && i < surface->vertex_count; i++) {
		normals[i] = normalized(normals[i], (FemVec3){0.0f, 1.0f, 0.0f});
	}
	return normals;
}

// ---- surfaces

static uint32_t flags_of(const FemRenderSurface *surface) {
	return SURFACE_EMBEDDED | (surface->tangents ? SURFACE_TANGENTS : 0u) | (surface->uvs ? SURFACE_UVS : 0u) |
		(surface->uvs2 ? SURFACE_UVS2 : 0u) | (surface->colors ? SURFACE_COLORS : 0u);
}

static void write_vertex(SurfaceArrays *arrays, int32_t v, const FemRenderSurface *surface, FemVec3 normal) {
	FemVec3 p = surface->positions[v];
	arrays->positions[v] = (GdVector3){p.x, p.y, p.z};
	arrays->normals[v] = (GdVector3){normal.x, normal.y, normal.z};
	if (surface->tangents) {
		memcpy(&arrays->tangents[4 * (size_t)v], surface->tangents[v], 4 * sizeof(float));
	}
	if (surface->uvs) {
		arrays->uvs[v] = (GdVector2){surface->uvs[v][0], surface->uvs[v][1]};
	}
	if (surface->uvs2) {
		arrays->uvs2[v] = (GdVector2){surface->uvs2[v][0], surface->uvs2[v][1]};
	}
	if (surface->colors) {
		const uint8_t *c = surface->colors[v];
		arrays->colors[v] = (GdColor){c[0] / 255.0f, c[1] / 255.0f, c[2] / 255.0f, c[3] / 255.0f};
	}
}

// To be freed after the surface has been made; null for none.
static int32_t *add_coarse(SurfaceArrays *arrays, const EmbeddedSource *source, int32_t index) {
	int32_t first = source->coarse_starts ? source->coarse_starts[index] : 0;
	int32_t count = source->coarse_starts ? source->coarse_starts[index + 1] - first : 0;
	bool is_worth_it = count > 0 && count < source->surfaces[index].index_count; // Godot takes no others
	int32_t *reversed = is_worth_it ? malloc((size_t)count * sizeof(int32_t)) : NULL;
	for (int32_t i = 0; reversed && i < count; i++) {
		reversed[i] = source->coarse_indices[first + i - i % 3 + (2 - i % 3)];
	}
	arrays->coarse_indices = reversed;
	arrays->coarse_count = reversed ? count : 0;
	arrays->coarse_error = source->coarse_error;
	return reversed;
}

static bool add_surface(GdRID mesh, const EmbeddedSource *source, int32_t index, int32_t first_vertex) {
	const FemRenderSurface *surface = &source->surfaces[index];
	FemVec3 *made = surface->normals ? NULL : make_normals(surface);
	const FemVec3 *normals = surface->normals ? surface->normals : made;
	if (!normals) {
		return false;
	}
	SurfaceArrays arrays;
	surface_arrays_create(&arrays, surface->vertex_count, surface->index_count, flags_of(surface));
	for (int32_t v = 0; v < surface->vertex_count; v++) {
		int32_t vertex = first_vertex + v;
		write_vertex(&arrays, v, surface, normals[v]);
		surface_arrays_tie(
			&arrays, v, &source->tets[4 * (size_t)source->vertex_tets[vertex]], source->vertex_weights[vertex]);
	}
	for (int32_t i = 0; i < surface->index_count; i++) {
		arrays.indices[i] = surface->indices[i - i % 3 + (2 - i % 3)];
	}
	int32_t *coarse = add_coarse(&arrays, source, index);
	surface_arrays_add_to_server(&arrays, mesh);
	surface_arrays_free(&arrays);
	free(coarse);
	free(made);
	return true;
}

void embedded_mesh_create(EmbeddedMesh *mesh, const EmbeddedSource *source) {
	embedded_mesh_free(mesh);
	mesh->surfaces = calloc((size_t)(source->surface_count > 0 ? source->surface_count : 1), sizeof(EmbeddedSurface));
	mesh->exists = true;
	mesh->mesh = gd_rendering_server_mesh_create();
	for (int32_t i = 0; mesh->surfaces && i < source->surface_count; i++) {
		if (!add_surface(mesh->mesh, source, i, mesh->vertex_count)) {
			break;
		}
		mesh->surfaces[i].first_vertex = mesh->vertex_count;
		mesh->surfaces[i].vertex_count = source->surfaces[i].vertex_count;
		mesh->vertex_count += source->surfaces[i].vertex_count;
		mesh->surface_count++;
	}
}

void embedded_mesh_free(EmbeddedMesh *mesh) {
	if (!mesh->exists) {
		return;
	}
	gd_rendering_server_free_rid(mesh->mesh);
	if (mesh->spare) {
		embedded_copy_free(mesh->spare);
		free(mesh->spare);
	}
	for (int32_t i = 0; i < mesh->surface_count; i++) {
		if (mesh->surfaces[i].stride > 0) {
			gd_dictionary_free(&mesh->surfaces[i].data);
		}
	}
	free(mesh->surfaces);
	*mesh = (EmbeddedMesh){0};
}

// ---- copies

// Asks the server where things lie. False when the data are not as its answers say.
static bool read_surface(EmbeddedSurface *surface, GdRID mesh, int32_t index) {
	GdDictionary data = gd_rendering_server_mesh_get_surface(mesh, index);
	int64_t format = 0, vertices = 0;
	GdPackedByteArray attributes = gd_packed_byte_array_new();
	bool is_good = dictionary_read(&data, "format", GDEXTENSION_VARIANT_TYPE_INT, &format) &&
		dictionary_read(&data, "vertex_count", GDEXTENSION_VARIANT_TYPE_INT, &vertices) &&
		dictionary_read(&data, "attribute_data", GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &attributes);
	if (is_good) {
		surface->stride = (int32_t)gd_rendering_server_mesh_surface_get_format_attribute_stride(format, vertices);
		surface->nodes_at = (int32_t)gd_rendering_server_mesh_surface_get_format_offset(
			format, vertices, GD_RENDERING_SERVER_ARRAY_CUSTOM0);
		surface->weights_at = (int32_t)gd_rendering_server_mesh_surface_get_format_offset(
			format, vertices, GD_RENDERING_SERVER_ARRAY_CUSTOM0 + 1);
		is_good = vertices == surface->vertex_count && surface->stride >= 32 && surface->nodes_at >= 0 &&
			surface->weights_at >= 0 && surface->nodes_at + 16 <= surface->stride &&
			surface->weights_at + 16 <= surface->stride &&
			gd_packed_byte_array_size(&attributes) >= vertices * surface->stride;
	}
	gd_packed_byte_array_free(&attributes);
	if (!is_good) {
		gd_dictionary_free(&data);
		surface->stride = 0;
		return false;
	}
	surface->data = data;
	return true;
}

static void make_spare(EmbeddedMesh *mesh) {
	EmbeddedCopy *spare = mesh->spare ? NULL : calloc(1, sizeof(EmbeddedCopy));
	if (spare && embedded_copy_make(spare, mesh)) {
		mesh->spare = spare;
	} else {
		free(spare);
	}
}

bool embedded_mesh_prepare_copies(EmbeddedMesh *mesh) {
	for (int32_t i = 0; i < mesh->surface_count; i++) {
		if (mesh->surfaces[i].stride == 0 && !read_surface(&mesh->surfaces[i], mesh->mesh, i)) {
			return false;
		}
	}
	if (mesh->exists) {
		mesh->followers++;
		make_spare(mesh);
	}
	return mesh->exists && mesh->surface_count > 0;
}

void embedded_mesh_restock(EmbeddedMesh *mesh) {
	if (mesh->followers > mesh->breakers) {
		make_spare(mesh);
	}
}
