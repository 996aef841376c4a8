// What is seen of a DestructibleBody now, bent and broken, as a mesh that stays as it is.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"
#include "drawing/surface_arrays.h"

#include <math.h>
#include <stdlib.h>

typedef struct ShownBody {
	DestructibleBody *self;
	const DestructibleMesh *mesh;
	GDExtensionObjectPtr out; // ArrayMesh
	GdTransform3D to_local;
	FemShape shape;
	const float *nodes; // 4 a node
	bool is_broken;     // its splinters are seen
} ShownBody;

// Where vertex `index` of all surfaces is, in the node's own space; false when it is not seen.
static bool place(const ShownBody *shown, int32_t index, GdVector3 *out) {
	int32_t nodes[4];
	float weights[4];
	if (shown->is_broken) {
		if (!embedded_copy_read(&shown->self->view.copy, index, nodes, weights)) {
			return false;
		}
	} else {
		const FemBakedMesh *baked = &shown->mesh->baked;
		for (int k = 0; k < 4; k++) {
			nodes[k] = baked->tet_mesh.tets[4 * (size_t)baked->embedding.tets[index] + (size_t)k];
			weights[k] = baked->embedding.weights[index][k];
		}
	}
	for (int k = 0; k < 4; k++) {
		if (nodes[k] < 0 || nodes[k] >= shown->shape.node_count) {
			return false;
		}
	}
	GdVector3 world = destructible_body_place_vertex(shown->shape.origin, shown->nodes, nodes, weights);
	*out = destructible_body_transformed(&shown->to_local, world);
	return true;
}

static GdVector3 face_normal(GdVector3 a, GdVector3 b, GdVector3 c) {
	GdVector3 u = {b.x - a.x, b.y - a.y, b.z - a.z}, v = {c.x - a.x, c.y - a.y, c.z - a.z};
	return (GdVector3){u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

static void add_to(GdVector3 *sum, GdVector3 v) {
	*sum = (GdVector3){sum->x + v.x, sum->y + v.y, sum->z + v.z};
}

// What is not seen must not count for the box around the surface.
static void gather_unseen(SurfaceArrays *arrays, const bool *is_seen, int32_t count) {
	int32_t seen = 0;
	while (seen < count && !is_seen[seen]) {
		seen++;
	}
	for (int32_t i = 0; i < count && seen < count; i++) {
		arrays->positions[i] = is_seen[i] ? arrays->positions[i] : arrays->positions[seen];
	}
}

// Writes the triangles that are seen and have an area, Godot's way round; returns the number of their indices.
static int32_t write_triangles(const FemRenderSurface *surface, const bool *is_seen, SurfaceArrays *arrays) {
	int32_t count = 0;
	for (int32_t i = 0; i + 2 < surface->index_count; i += 3) {
		const int32_t *t = &surface->indices[i];
		if (!is_seen[t[0]] || !is_seen[t[1]] || !is_seen[t[2]]) {
			continue;
		}
		GdVector3 n = face_normal(arrays->positions[t[0]], arrays->positions[t[1]], arrays->positions[t[2]]);
		if (n.x == 0.0f && n.y == 0.0f && n.z == 0.0f) {
			continue; // of a cut that is closed
		}
		for (int k = 0; k < 3; k++) {
			add_to(&arrays->normals[t[k]], n);
			arrays->indices[count++] = t[2 - k];
		}
	}
	return count;
}

static void finish_normals(SurfaceArrays *arrays, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		GdVector3 *n = &arrays->normals[i];
		float length = sqrtf(n->x * n->x + n->y * n->y + n->z * n->z);
		*n = length > 0.0f ? (GdVector3){n->x / length, n->y / length, n->z / length} : (GdVector3){0.0f, 1.0f, 0.0f};
	}
}

static GDExtensionObjectPtr material_of(const ShownBody *shown, int32_t surface, bool is_inside) {
	const DestructibleBody *self = shown->self;
	GDExtensionObjectPtr interior = shown->mesh && shown->mesh->interior_material
		? shown->mesh->interior_material
		: material_resource_interior_material(self->material);
	if (is_inside && interior) {
		return interior;
	}
	GdArray materials = shown->mesh ? shown->mesh->surface_materials : (GdArray){0}; // the same array: it is only read
	GDExtensionObjectPtr own = shown->mesh ? object_cast(array_object(&materials, surface), "Material") : NULL;
	return self->surface_material ? self->surface_material
		: own                     ? own
								  : material_resource_surface_material(self->material);
}

static void finish_surface(ShownBody *shown, SurfaceArrays *arrays, GDExtensionObjectPtr material) {
	surface_arrays_add_to_mesh(arrays, shown->out);
	if (material) {
		gd_mesh_surface_set_material(shown->out, gd_mesh_get_surface_count(shown->out) - 1, material);
	}
}

// first_vertex: of this surface among those of all.
static void add_surface(
	ShownBody *shown, const FemRenderSurface *surface, int32_t first_vertex, GDExtensionObjectPtr material) {
	bool *is_seen = calloc((size_t)surface->vertex_count + 1, sizeof(bool));
	if (!is_seen || surface->vertex_count == 0 || surface->index_count == 0) {
		free(is_seen);
		return;
	}
	SurfaceArrays arrays;
	bool has_uvs = (surface->attributes & FEM_ATTRIBUTE_UV) != 0;
	surface_arrays_create(&arrays, surface->vertex_count, surface->index_count, has_uvs ? SURFACE_UVS : 0);
	for (int32_t i = 0; i < surface->vertex_count; i++) {
		arrays.positions[i] = arrays.normals[i] = (GdVector3){0.0f, 0.0f, 0.0f};
		is_seen[i] = place(shown, first_vertex + i, &arrays.positions[i]);
		if (has_uvs) {
			arrays.uvs[i] = (GdVector2){surface->uvs[i][0], surface->uvs[i][1]};
		}
	}
	gather_unseen(&arrays, is_seen, surface->vertex_count);
	int32_t count = write_triangles(surface, is_seen, &arrays);
	if (count > 0) {
		gd_packed_int32_array_resize(&arrays.packed.indices, count);
		finish_normals(&arrays, surface->vertex_count);
		finish_surface(shown, &arrays, material);
	}
	surface_arrays_free(&arrays);
	free(is_seen);
}

static void add_whole(ShownBody *shown) {
	const FemRenderMesh *render = &shown->mesh->baked.render;
	int32_t first = 0;
	for (int32_t i = 0; i < render->surface_count; i++) {
		add_surface(shown, &render->surfaces[i], first, material_of(shown, i, false));
		first += render->surfaces[i].vertex_count;
	}
}

static void add_splinters(ShownBody *shown) {
	const FemSplinterMesh *splinters = &shown->mesh->baked.splinters;
	for (int32_t i = 0; i < splinters->surface_count; i++) {
		FemRenderSurface surface = {0};
		if (fem_baked_mesh_splinter_surface(&shown->mesh->baked, i, &surface) == FEM_OK) {
			bool is_inside = i == splinters->surface_count - 1;
			add_surface(shown, &surface, splinters->vertex_starts[i], material_of(shown, i, is_inside));
		}
		fem_render_surface_free(&surface);
	}
}

// The outer faces of the tets as they are now.
static void add_tets(ShownBody *shown) {
	int32_t node_count = shown->shape.node_count, tet_count = fem_body_get_tet_count(shown->self->simulated.body);
	FemVec3 *nodes = malloc((size_t)node_count * sizeof(FemVec3) + 1);
	int32_t *tets = malloc((size_t)tet_count * 4 * sizeof(int32_t) + 1);
	FemViewMesh view = {0};
	FemViewDef def = fem_default_view_def();
	def.surface_only = true;
	for (int32_t i = 0; nodes && i < node_count; i++) {
		const float *p = &shown->nodes[4 * (size_t)i];
		FemPosition o = shown->shape.origin;
		GdVector3 world = {(float)(o.x + (double)p[0]), (float)(o.y + (double)p[1]), (float)(o.z + (double)p[2])};
		GdVector3 local = destructible_body_transformed(&shown->to_local, world);
		nodes[i] = (FemVec3){local.x, local.y, local.z};
	}
	if (nodes && tets && fem_body_get_tets(shown->self->simulated.body, tets, tet_count) == tet_count &&
		fem_tet_mesh_view(node_count, nodes, tet_count, tets, &def, &view) == FEM_OK && view.triangle_count > 0) {
		SurfaceArrays arrays;
		surface_arrays_create(&arrays, 3 * view.triangle_count, 3 * view.triangle_count, 0);
		for (int32_t i = 0; i < 3 * view.triangle_count; i++) {
			arrays.positions[i] = (GdVector3){view.vertices[i].x, view.vertices[i].y, view.vertices[i].z};
			arrays.normals[i] = (GdVector3){view.normals[i].x, view.normals[i].y, view.normals[i].z};
			arrays.indices[i] = i - i % 3 + (2 - i % 3);
		}
		finish_surface(shown, &arrays, material_of(shown, 0, false));
		surface_arrays_free(&arrays);
	}
	fem_view_mesh_free(&view);
	free(nodes);
	free(tets);
}

GDExtensionObjectPtr destructible_body_get_shown_mesh(void *pointer) {
	DestructibleBody *self = pointer;
	ShownBody shown = {.self = self, .mesh = destructible_body_mesh(self)};
	shown.nodes = fem_body_get_shape(self->simulated.body, false, &shown.shape);
	if (!shown.nodes) {
		object_reference_assign(&shown.out, self->start_mesh);
		return shown.out;
	}
	GdTransform3D transform = gd_node3d_get_global_transform(self->base.object);
	shown.to_local = gd_transform3d_affine_inverse(&transform);
	shown.out = make_ref_counted("ArrayMesh");
	bool has_mesh = shown.mesh && shown.mesh->is_baked && shown.mesh->revision == self->mesh_revision;
	bool is_whole = has_mesh && shown.shape.node_count == shown.mesh->baked.tet_mesh.node_count;
	shown.is_broken = has_mesh && !is_whole && self->view.copy.exists;
	if (shown.is_broken) {
		owner_blends_write(&self->view.blends, &self->view.copy, 1.0f);
		add_splinters(&shown);
	} else if (is_whole && shown.mesh->baked.embedding.count > 0) {
		add_whole(&shown);
	} else {
		add_tets(&shown);
	}
	return shown.out;
}
