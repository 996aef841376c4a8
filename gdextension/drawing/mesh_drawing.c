#include "drawing/mesh_drawing.h"

#include "binding/conversions.h"
#include "drawing/surface_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

// ---- drawing

void mesh_drawing_create(MeshDrawing *drawing, const FemBakedMesh *baked, GdArray *materials) {
	EmbeddedSource source = {
		.surface_count = baked->render.surface_count,
		.surfaces = baked->render.surfaces,
		.vertex_tets = baked->embedding.tets,
		.vertex_weights = (const float(*)[4])baked->embedding.weights,
		.tets = baked->tet_mesh.tets,
	};
	mesh_drawing_free(drawing);
	drawing->exists = true;
	drawing->interior_surface = -1;
	embedded_mesh_create(&drawing->embedded, &source);
	drawing->margin = margin_of(baked);
	mesh_drawing_set_materials(drawing, materials);
}

// Every surface must have vertices: the one of the cuts may have none, when it is left out.
static bool make_splinter_surfaces(const FemBakedMesh *baked, FemRenderSurface *surfaces, int32_t *out_count) {
	const FemSplinterMesh *splinters = &baked->splinters;
	for (int32_t i = 0; i < splinters->surface_count; i++) {
		if (fem_baked_mesh_splinter_surface(baked, i, &surfaces[i]) != FEM_OK) {
			return false;
		}
		if (surfaces[i].vertex_count == 0) {
			return i + 1 == splinters->surface_count;
		}
		*out_count = i + 1;
	}
	return true;
}

// Where each face of the cuts begins, and to which face a vertex belongs.
static bool copy_faces(MeshDrawing *drawing, const FemSplinterMesh *splinters) {
	int32_t count = splinters->vertex_count - splinters->outer_count;
	drawing->first_cut = splinters->outer_count;
	drawing->face_starts = malloc((size_t)(splinters->face_count + 1) * sizeof(int32_t));
	drawing->faces = malloc((size_t)(count + 1) * sizeof(int32_t));
	if (!drawing->face_starts || !drawing->faces) {
		return false;
	}
	memcpy(drawing->face_starts, splinters->face_starts, (size_t)(splinters->face_count + 1) * sizeof(int32_t));
	drawing->face_count = splinters->face_count;
	for (int32_t i = 0; i < splinters->face_count; i++) {
		for (int32_t v = splinters->face_starts[i]; v < splinters->face_starts[i + 1]; v++) {
			drawing->faces[v] = i;
		}
	}
	return true;
}

// Vertices of cuts without weights: their triangles are points until they open.
static float (*collapsed_weights(const FemSplinterMesh *splinters))[4] {
	float(*weights)[4] = calloc((size_t)splinters->vertex_count, sizeof(*weights));
	if (weights) {
		memcpy(weights, splinters->vertex_weights, (size_t)splinters->outer_count * sizeof(*weights));
	}
	return weights;
}

void mesh_drawing_create_splinters(MeshDrawing *drawing, const FemBakedMesh *baked, GdArray *materials) {
	const FemSplinterMesh *splinters = &baked->splinters;
	FemRenderSurface *surfaces = calloc((size_t)splinters->surface_count, sizeof(FemRenderSurface));
	float(*weights)[4] = collapsed_weights(splinters);
	EmbeddedSource source = {
		.surfaces = surfaces,
		.vertex_tets = splinters->vertex_tets,
		.vertex_weights = (const float(*)[4])weights,
		.tets = baked->tet_mesh.tets,
		.coarse_indices = splinters->coarse_indices,
		.coarse_starts = splinters->coarse_count > 0 ? splinters->coarse_starts : NULL,
		.coarse_error = splinters->coarse_error,
	};
	mesh_drawing_free(drawing);
	if (surfaces && weights && copy_faces(drawing, splinters) &&
		make_splinter_surfaces(baked, surfaces, &source.surface_count)) {
		drawing->exists = true;
		drawing->stray_count = -1;
		drawing->interior_surface = source.surface_count == splinters->surface_count ? source.surface_count - 1 : -1;
		embedded_mesh_create(&drawing->embedded, &source);
		drawing->margin = margin_of(baked);
		mesh_drawing_set_materials(drawing, materials);
	}
	for (int32_t i = 0; surfaces && i < splinters->surface_count; i++) {
		fem_render_surface_free(&surfaces[i]);
	}
	free(surfaces);
	free(weights);
	if (!drawing->exists) {
		mesh_drawing_free(drawing);
	}
}

void mesh_drawing_find_strays(MeshDrawing *drawing, const FemBakedMesh *baked, FemBodyId body) {
	const FemSplinterMesh *splinters = &baked->splinters;
	bool is_whole = fem_body_get_node_count(body) == baked->tet_mesh.node_count;
	if (!drawing->exists || drawing->stray_count >= 0 || !is_whole) {
		return;
	}
	int32_t *strays = malloc(sizeof(int32_t) * ((size_t)splinters->outer_count + 1)), count = 0;
	for (int32_t i = 0; strays && i < splinters->outer_count; i++) {
		FemVertexOwner owner;
		bool is_known = fem_body_get_vertex_owner(body, i, &owner) == FEM_OK;
		if (is_known && owner.tet != splinters->vertex_tets[i]) {
			strays[count++] = i;
		}
	}
	int32_t *fitting = strays ? realloc(strays, sizeof(int32_t) * ((size_t)count + 1)) : NULL;
	drawing->strays = fitting ? fitting : strays;
	drawing->stray_count = strays ? count : -1;
}

void mesh_drawing_set_materials(MeshDrawing *drawing, GdArray *materials) {
	for (int32_t i = 0; i < drawing->embedded.surface_count; i++) {
		SurfaceMaterial old = drawing->materials[i];
		GDExtensionObjectPtr source = object_cast(array_object(materials, i), "Material");
		if (source && source == drawing->sources[i]) {
			surface_material_refresh(source);
		}
		drawing->materials[i] = surface_material_acquire(source, SURFACE_OUTSIDE);
		gd_rendering_server_mesh_surface_set_material(drawing->embedded.mesh, i, drawing->materials[i].rid);
		surface_material_release(&old);
		object_reference_assign(&drawing->sources[i], source);
	}
}

void mesh_drawing_free(MeshDrawing *drawing) {
	for (int32_t i = 0; i < drawing->embedded.surface_count; i++) {
		surface_material_release(&drawing->materials[i]);
		object_reference_assign(&drawing->sources[i], NULL);
	}
	embedded_mesh_free(&drawing->embedded);
	free(drawing->face_starts);
	free(drawing->faces);
	free(drawing->strays);
	*drawing = (MeshDrawing){0};
}

// ---- tets

// Colours far apart for things that follow each other: steps of the golden angle round the colour wheel.
static GdColor number_color(int32_t number) {
	float hue = fmodf(0.618034f * (float)(number % 1000), 1.0f) * 6.0f;
	float rgb[3];
	for (int k = 0; k < 3; k++) {
		float away = fabsf(fmodf(hue + 6.0f - 2.0f * (float)k, 6.0f) - 3.0f) - 1.0f;
		rgb[k] = 0.45f + 0.5f * fminf(1.0f, fmaxf(0.0f, away));
	}
	return (GdColor){rgb[0], rgb[1], rgb[2], 1.0f};
}

GDExtensionObjectPtr mesh_drawing_of_tets(const FemTetArrays *tets, const FemViewDef *def, const GdColor *colors) {
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
			int32_t tet = view.triangle_tets[i / 3];
			arrays.colors[i] = colors ? colors[tet] : number_color(tet);
			arrays.indices[i] = i - i % 3 + (2 - i % 3);
		}
		surface_arrays_add_to_mesh(&arrays, mesh);
		surface_arrays_free(&arrays);
	}
	fem_view_mesh_free(&view);
	return mesh;
}

// ---- splinters apart

// Means of the splinters' vertices, and at the end the mean of them; to be freed.
static GdVector3 *splinter_centers(const FemSplinterMesh *splinters) {
	int32_t count = splinters->splinter_count;
	GdVector3 *centers = calloc((size_t)count + 1, sizeof(GdVector3));
	int32_t *sizes = calloc((size_t)count, sizeof(int32_t));
	for (int32_t i = 0; centers && sizes && i < splinters->vertex_count; i++) {
		int32_t s = splinters->vertex_splinters[i];
		GdVector3 *sum = &centers[s];
		FemVec3 p = splinters->positions[i];
		*sum = (GdVector3){sum->x + p.x, sum->y + p.y, sum->z + p.z};
		sizes[s]++;
	}
	for (int32_t s = 0; centers && sizes && s < count; s++) {
		float share = sizes[s] > 0 ? 1.0f / (float)sizes[s] : 0.0f, part = 1.0f / (float)count;
		GdVector3 *c = &centers[s], *all = &centers[count];
		*c = (GdVector3){c->x * share, c->y * share, c->z * share};
		*all = (GdVector3){all->x + part * c->x, all->y + part * c->y, all->z + part * c->z};
	}
	free(sizes);
	return centers;
}

static GdVector3 cross(GdVector3 a, GdVector3 b) {
	return (GdVector3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static GdVector3 face_normal(const GdVector3 *p) {
	GdVector3 u = {p[1].x - p[0].x, p[1].y - p[0].y, p[1].z - p[0].z};
	GdVector3 v = {p[2].x - p[0].x, p[2].y - p[0].y, p[2].z - p[0].z};
	GdVector3 n = cross(u, v);
	float length = sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
	float f = length > 0.0f ? 1.0f / length : 0.0f;
	return (GdVector3){n.x * f, n.y * f, n.z * f};
}

// Corner `i` of all triangles: its splinter moved from the middle of the whole by `spread` of its distance.
static void place_corner(SurfaceArrays *arrays, int32_t i, const FemSplinterMesh *splinters, int32_t vertex,
	const GdVector3 *centers, float spread) {
	int32_t splinter = splinters->vertex_splinters[vertex];
	const GdVector3 *c = &centers[splinter], *all = &centers[splinters->splinter_count];
	FemVec3 p = splinters->positions[vertex];
	arrays->positions[i] =
		(GdVector3){p.x + spread * (c->x - all->x), p.y + spread * (c->y - all->y), p.z + spread * (c->z - all->z)};
	arrays->colors[i] = number_color(splinter);
	arrays->indices[i] = i - i % 3 + (2 - i % 3);
}

GDExtensionObjectPtr mesh_drawing_of_splinters(const FemSplinterMesh *splinters, float spread) {
	int32_t count = splinters->index_count;
	GdVector3 *centers = count > 0 ? splinter_centers(splinters) : NULL;
	GDExtensionObjectPtr mesh = centers ? make_ref_counted("ArrayMesh") : NULL;
	if (mesh) {
		SurfaceArrays arrays;
		surface_arrays_create(&arrays, count, count, SURFACE_COLORS);
		for (int32_t s = 0; s < splinters->surface_count; s++) {
			for (int32_t i = splinters->index_starts[s]; i < splinters->index_starts[s + 1]; i++) {
				int32_t vertex = splinters->vertex_starts[s] + splinters->indices[i];
				place_corner(&arrays, i, splinters, vertex, centers, spread);
			}
		}
		for (int32_t i = 0; i < count; i++) {
			arrays.normals[i] = face_normal(&arrays.positions[i - i % 3]);
		}
		surface_arrays_add_to_mesh(&arrays, mesh);
		surface_arrays_free(&arrays);
	}
	free(centers);
	return mesh;
}
