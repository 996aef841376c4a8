// Baking: from a mesh that is seen to tets that can be simulated, and back to what is seen. The public API of the bake;
// worlds and bodies are in fem_destruction.h, whose conventions hold here too (SI units, counter-clockwise from outside,
// results and sentences by fem_last_error()). Nothing here touches a world, and everything may be called at any time on any
// thread, but each object by one thread at a time.
//
//   FemRenderMesh render = {0};                      fill it: fem_render_mesh_add(), fem_render_surface_reserve()
//   FemBakeJob *job = fem_bake_start(&render, &def); then ask fem_bake_is_done() now and then
//   fem_bake_finish(job, &result);                   result.bytes is the baked mesh, for a file or a resource
//   fem_baked_mesh_read(name, bytes, size, &mesh);   its tets go into FemMeshDef, its surfaces to the renderer
#ifndef FEM_BAKING_H
#define FEM_BAKING_H

#include "fem_destruction.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------- render mesh

// The triangles that are seen, with what a renderer wants to know of each vertex. v of a texture coordinate runs downward,
// whatever file they came from.

#define FEM_SURFACE_MAX 256 // surfaces a mesh: Godot's limit
#define FEM_SURFACE_NAME_SIZE 64
#define FEM_MATERIAL_NAME_SIZE 256

typedef enum FemAttribute {
	FEM_ATTRIBUTE_NORMAL = 1 << 0,
	FEM_ATTRIBUTE_TANGENT = 1 << 1,
	FEM_ATTRIBUTE_UV = 1 << 2,
	FEM_ATTRIBUTE_UV2 = 1 << 3,
	FEM_ATTRIBUTE_COLOR = 1 << 4,
	FEM_ATTRIBUTE_ALL = (1 << 5) - 1,
} FemAttribute;

typedef struct FemRenderSurface {
	char name[FEM_SURFACE_NAME_SIZE];      // of the object or group, or empty
	char material[FEM_MATERIAL_NAME_SIZE]; // name or path, or empty
	int32_t vertex_count, index_count;     // 3 indices a triangle
	uint32_t attributes;                   // set of FemAttribute: which of the arrays below are there
	FemVec3 *positions;                    // m, rest shape
	FemVec3 *normals;                      // unit
	float (*tangents)[4];                  // unit, then the sign of the bitangent: 1 or -1
	float (*uvs)[2];
	float (*uvs2)[2];     // for light maps
	uint8_t (*colors)[4]; // RGBA
	int32_t *indices;
} FemRenderSurface;

typedef struct FemRenderMesh {
	int32_t surface_count, surface_capacity;
	FemRenderSurface *surfaces;
} FemRenderMesh;

// A new empty surface at the end; null when memory fails or there are FEM_SURFACE_MAX already.
FemRenderSurface *fem_render_mesh_add(FemRenderMesh *mesh, const char *name, const char *material);
// Its arrays, zeroed; false when memory fails. What was taken is freed with the mesh.
bool fem_render_surface_reserve(
	FemRenderSurface *surface, int32_t vertex_count, int32_t index_count, uint32_t attributes);
void fem_render_mesh_free(FemRenderMesh *mesh);

int64_t fem_render_mesh_vertex_count(const FemRenderMesh *mesh);
int64_t fem_render_mesh_triangle_count(const FemRenderMesh *mesh);

// FEM_OK, or the first fault: indices out of range, numbers that are not finite, normals without length. `name` is put
// before the sentence.
FemResult fem_render_mesh_check(const FemRenderMesh *mesh, const char *name);

// ----------------------------------------------------------------------------------------------------------- baked mesh

#define FEM_REGION_NAME_SIZE 64
#define FEM_REPORT_SIZE 8192

typedef struct FemTetArrays {
	int32_t node_count, tet_count;
	FemVec3 *nodes;       // m
	int32_t *tets;        // 4 nodes a tet, positive volume
	int32_t *tet_regions; // 0..255, or null for all 0
	float *tet_plates;    // plate correction strength of each tet, or null; where there is any, set quality_clamp 0
} FemTetArrays;

typedef struct FemRegionName {
	char name[FEM_REGION_NAME_SIZE];
} FemRegionName;

// Where each vertex is in the tets: the sum of the 4 corners of its tet, each times its weight. Weights add up to 1.
typedef struct FemBakedEmbedding {
	int32_t count;
	int32_t *tets;
	float (*weights)[4];
} FemBakedEmbedding;

typedef struct FemBakedMesh {
	FemTetArrays tet_mesh;
	int32_t region_name_count;
	FemRegionName *region_names; // of the regions from 0 on; may be fewer than there are regions
	FemRenderMesh render;        // may be empty
	FemBakedEmbedding embedding; // of the vertices of all surfaces in a row, or empty
	char *report;                // what the bake said, or null; report_size bytes with the final 0
	int32_t report_size;
} FemBakedMesh;

// From the bytes of a file or resource. Nothing in them is believed: what is damaged, of another kind or of a newer version
// is refused with a sentence that names `name` and the remedy, and `out` is then empty.
FemResult fem_baked_mesh_read(const char *name, const void *bytes, size_t size, FemBakedMesh *out);
void fem_baked_mesh_free(FemBakedMesh *mesh);

// Gives a mesh without surfaces, as tet meshes of other programs are, the outer faces of its tets as its only one.
FemResult fem_baked_mesh_add_tet_surface(FemBakedMesh *mesh);

// The lines of a report that ask for something: all but the first, the notes and the praise. Whole lines, as many as fit.
void fem_bake_report_warnings(const char *report, char *out, size_t capacity);

// ----------------------------------------------------------------------------------------------------------------- bake

#define FEM_BAKE_ELEMENTS_MIN 5
#define FEM_BAKE_ELEMENTS_MAX (1 << 23)

// Called now and then, on the thread that bakes, with a share done of 0..1; false stops the work.
typedef bool FemProgress(void *context, float share);

typedef struct FemBakeDef {
	int32_t element_count; // tets wanted in all, default 1000, FEM_BAKE_ELEMENTS_MIN..MAX; met within 20 % from about 60 tets a part on
	int32_t plate_layers;  // least layers of cells through plates, layers through beams, default 1; 1..16
	float plate_strength;  // tet_plates of thin parts, default 1; 0 = none
	float weld_distance;   // m, vertices nearer than this are one; default 0 = 1e-6 of the size
	float sheet_thickness; // m, thickness given to surfaces that enclose nothing; default 0 = such parts are refused
	bool surface_regions;  // each render surface is a material region of its own; default false
	FemProgress *progress; // may be null; jobs have their own
	void *progress_context;
	uint32_t cookie;
} FemBakeDef;

FemBakeDef fem_default_bake_def(void);

typedef struct FemBakeResult {
	FemResult result;
	bool is_cancelled;
	char message[512]; // why it failed, with the remedy; empty when it did not
	void *bytes;       // the baked mesh, or null
	size_t size;
} FemBakeResult;

// Bakes on the calling thread, or on one of its own. Both take the surfaces over, also when they fail. Null when no thread
// or no memory can be had.
void fem_bake_now(FemRenderMesh *render, const FemBakeDef *def, FemBakeResult *out);
typedef struct FemBakeJob FemBakeJob;
FemBakeJob *fem_bake_start(FemRenderMesh *render, const FemBakeDef *def);

float fem_bake_share(const FemBakeJob *job); // done, 0..1
bool fem_bake_is_done(const FemBakeJob *job);
void fem_bake_cancel(FemBakeJob *job); // it ends soon

// Waits for the end, hands out the result and frees the job.
void fem_bake_finish(FemBakeJob *job, FemBakeResult *out);
void fem_bake_result_free(FemBakeResult *result);

// ----------------------------------------------------------------------------------------------------------------- view

// Tets as triangles that a person can look at: each tet drawn apart from its neighbours, all or behind a cut.

typedef struct FemViewDef {
	float gap;          // 0..0.9: tets shrink towards their centres by this share; default 0.1
	bool cut;           // leave out tets whose centre lies on the normal's side of the plane
	FemVec3 cut_point;  // m
	FemVec3 cut_normal; // any length
	bool surface_only;  // outer faces of what is left instead of whole tets (gap is not used)
	uint32_t cookie;
} FemViewDef;

typedef struct FemViewMesh {
	int32_t triangle_count;
	FemVec3 *vertices;      // 3 a triangle
	FemVec3 *normals;       // [vertex], flat
	int32_t *triangle_tets; // [triangle]
} FemViewMesh;

FemViewDef fem_default_view_def(void);
FemResult fem_tet_mesh_view(int32_t node_count, const FemVec3 *nodes, int32_t tet_count, const int32_t *tets,
	const FemViewDef *def, FemViewMesh *out);
void fem_view_mesh_free(FemViewMesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
