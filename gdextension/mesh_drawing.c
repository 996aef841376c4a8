#include "mesh_drawing.h"

#include "conversions.h"
#include "surface_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static FemVec3 subtract(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static FemVec3 cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static FemVec3 normalized(FemVec3 v, FemVec3 otherwise) {
	float length = sqrtf(dot(v, v));
	return length > 0.0f ? (FemVec3){v.x / length, v.y / length, v.z / length} : otherwise;
}

// -------------------------------------------------------------------------------------------------------------- normals

// Smooth normals for surfaces that came without: the mean of the faces around a vertex by their areas.
static FemVec3 *make_normals(const FemRenderSurface *surface) {
	FemVec3 *normals = calloc((size_t)surface->vertex_count, sizeof(FemVec3));
	for (int32_t i = 0; normals && i + 2 < surface->index_count; i += 3) {
		const int32_t *corner = &surface->indices[i];
		FemVec3 a = surface->positions[corner[0]], b = surface->positions[corner[1]], c = surface->positions[corner[2]];
		FemVec3 area = cross(subtract(b, a), subtract(c, a));
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

// Some tangent for vertices that have none: any direction across the normal.
static void any_tangent(FemVec3 n, float out[4]) {
	FemVec3 axis = fabsf(n.x) < 0.7f ? (FemVec3){1.0f, 0.0f, 0.0f} : (FemVec3){0.0f, 1.0f, 0.0f};
	FemVec3 t = normalized(cross(axis, n), (FemVec3){1.0f, 0.0f, 0.0f});
	out[0] = t.x, out[1] = t.y, out[2] = t.z, out[3] = 1.0f;
}

// ------------------------------------------------------------------------------------------------------------- surfaces

static uint32_t parts_of(const FemRenderSurface *surface) {
	return SURFACE_RIDES | (surface->tangents ? SURFACE_TANGENTS : 0u) | (surface->uvs ? SURFACE_UVS : 0u) |
		(surface->uvs2 ? SURFACE_UVS2 : 0u) | (surface->colors ? SURFACE_COLORS : 0u);
}

static void write_vertex(SurfaceArrays *arrays, int32_t v, const FemRenderSurface *surface, FemVec3 normal,
	const FemBakedMesh *baked, int32_t embedded) {
	const int32_t *nodes = &baked->tet_mesh.tets[4 * (size_t)baked->embedding.tets[embedded]];
	FemVec3 p = surface->positions[v], corners[4];
	float tangent[4];
	any_tangent(normal, tangent);
	arrays->positions[v] = (GdVector3){p.x, p.y, p.z};
	arrays->normals[v] = (GdVector3){normal.x, normal.y, normal.z};
	if (surface->tangents) {
		memcpy(tangent, surface->tangents[v], sizeof(tangent));
		memcpy(&arrays->tangents[4 * (size_t)v], tangent, sizeof(tangent));
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
	for (int i = 0; i < 4; i++) {
		corners[i] = baked->tet_mesh.nodes[nodes[i]];
	}
	surface_arrays_tie(arrays, v, nodes, corners, baked->embedding.weights[embedded], normal, tangent);
}

static bool add_surface(
	GdRID mesh, const FemRenderSurface *surface, const FemBakedMesh *baked, int32_t first_embedded) {
	FemVec3 *made = surface->normals ? NULL : make_normals(surface);
	const FemVec3 *normals = surface->normals ? surface->normals : made;
	if (!normals) {
		return false;
	}
	SurfaceArrays arrays;
	surface_arrays_create(&arrays, surface->vertex_count, surface->index_count, parts_of(surface));
	for (int32_t v = 0; v < surface->vertex_count; v++) {
		write_vertex(&arrays, v, surface, normals[v], baked, first_embedded + v);
	}
	for (int32_t i = 0; i < surface->index_count; i++) {
		arrays.indices[i] = surface->indices[i - i % 3 + (2 - i % 3)];
	}
	surface_arrays_add_to_server(&arrays, mesh);
	surface_arrays_free(&arrays);
	free(made);
	return true;
}

// How far any vertex lies outside the box around the nodes.
static float margin_of(const FemBakedMesh *baked) {
	float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, margin = 0.0f;
	for (int32_t i = 0; i < baked->tet_mesh.node_count; i++) {
		const float *p = &baked->tet_mesh.nodes[i].x;
		for (int k = 0; k < 3; k++) {
			low[k] = fminf(low[k], p[k]);
			high[k] = fmaxf(high[k], p[k]);
		}
	}
	for (int32_t s = 0; s < baked->render.surface_count; s++) {
		const FemRenderSurface *surface = &baked->render.surfaces[s];
		for (int32_t i = 0; i < surface->vertex_count; i++) {
			const float *p = &surface->positions[i].x;
			for (int k = 0; k < 3; k++) {
				margin = fmaxf(margin, fmaxf(low[k] - p[k], p[k] - high[k]));
			}
		}
	}
	return margin;
}

// -------------------------------------------------------------------------------------------------------------- drawing

void mesh_drawing_create(MeshDrawing *drawing, const FemBakedMesh *baked, GdArray *materials) {
	int32_t embedded = 0;
	mesh_drawing_free(drawing);
	drawing->exists = true;
	drawing->mesh = gd_rendering_server_mesh_create();
	drawing->margin = margin_of(baked);
	for (int32_t i = 0; i < baked->render.surface_count; i++) {
		const FemRenderSurface *surface = &baked->render.surfaces[i];
		if (!add_surface(drawing->mesh, surface, baked, embedded)) {
			break;
		}
		embedded += surface->vertex_count;
		drawing->surface_count++;
	}
	mesh_drawing_set_materials(drawing, materials);
}

void mesh_drawing_set_materials(MeshDrawing *drawing, GdArray *materials) {
	for (int32_t i = 0; i < drawing->surface_count; i++) {
		SurfaceMaterial old = drawing->materials[i];
		drawing->materials[i] = surface_material_create(object_cast(array_object(materials, i), "Material"));
		gd_rendering_server_mesh_surface_set_material(drawing->mesh, i, drawing->materials[i].rid);
		surface_material_free(&old);
	}
}

void mesh_drawing_free(MeshDrawing *drawing) {
	if (!drawing->exists) {
		return;
	}
	gd_rendering_server_free_rid(drawing->mesh);
	for (int32_t i = 0; i < drawing->surface_count; i++) {
		surface_material_free(&drawing->materials[i]);
	}
	*drawing = (MeshDrawing){0};
}

// ----------------------------------------------------------------------------------------------------------------- tets

// Colours far apart for tets that follow each other: steps of the golden angle round the colour wheel.
static GdColor tet_color(int32_t tet) {
	float hue = fmodf(0.618034f * (float)(tet % 1000), 1.0f) * 6.0f;
	float rgb[3];
	for (int k = 0; k < 3; k++) {
		float away = fabsf(fmodf(hue + 6.0f - 2.0f * (float)k, 6.0f) - 3.0f) - 1.0f;
		rgb[k] = 0.45f + 0.5f * fminf(1.0f, fmaxf(0.0f, away));
	}
	return (GdColor){rgb[0], rgb[1], rgb[2], 1.0f};
}

GDExtensionObjectPtr mesh_drawing_of_tets(const FemTetArrays *tets, const FemViewDef *def) {
	FemViewMesh view = {0};
	if (fem_tet_mesh_view(tets->node_count, tets->nodes, tets->tet_count, tets->tets, def, &view) != FEM_OK) {
		return NULL;
	}
	GDExtensionObjectPtr mesh = make_ref_counted("ArrayMesh");
	int32_t count = 3 * view.triangle_count;
	if (mesh && count > 0) {
		SurfaceArrays arrays;
		surface_arrays_create(&arrays, count, count, SURFACE_COLORS);
		for (int32_t i = 0; i < count; i++) {
			FemVec3 p = view.vertices[i], n = view.normals[i];
			arrays.positions[i] = (GdVector3){p.x, p.y, p.z};
			arrays.normals[i] = (GdVector3){n.x, n.y, n.z};
			arrays.colors[i] = tet_color(view.triangle_tets[i / 3]);
			arrays.indices[i] = i - i % 3 + (2 - i % 3);
		}
		surface_arrays_add_to_mesh(&arrays, mesh);
		surface_arrays_free(&arrays);
	}
	fem_view_mesh_free(&view);
	return mesh;
}
