// Baking: from a mesh that is seen to tets that can be simulated, and back to what is seen. The public API of the bake;
// worlds and bodies are in fem_destruction.h, whose conventions hold here too (SI units, counter-clockwise from
// outside, results and sentences by fem_last_error()). Nothing here touches a world, and everything may be called at
// any time on any thread, but each object by one thread at a time.
//
//   FemRenderMesh render = {0};                      fill it: fem_render_mesh_add(), fem_render_surface_reserve()
//   FemBakeJob *job = fem_bake_start(&render, &def); then ask fem_bake_is_done() now and then
//   fem_bake_finish(job, &result);                   result.bytes is the baked mesh, for a file or a resource
//   fem_baked_mesh_read(name, bytes, size, &mesh);   its tets go into FemMeshDef, its surfaces to the renderer
#ifndef FEM_BAKING_H
#define FEM_BAKING_H

#include "fem_destruction.h"
#include "fem_modes.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- render mesh

// The triangles that are seen, with what a renderer wants to know of each vertex. v of a texture coordinate runs
// downward, whatever file they came from.

#define FEM_SURFACE_MAX 256        // surfaces a mesh: Godot's limit
#define FEM_SURFACE_NAME_SIZE 64   // bytes, with the end; longer ones are cut
#define FEM_MATERIAL_NAME_SIZE 256 // bytes, with the end: a path of a resource

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
	bool has_poses; // it has bones or blend shapes, which are not kept: a bake tells that it takes the rest pose
} FemRenderMesh;

// A new empty surface at the end; null when memory fails or there are FEM_SURFACE_MAX already.
FemRenderSurface *fem_render_mesh_add(FemRenderMesh *mesh, const char *name, const char *material);
// Its arrays, zeroed; false when memory fails. What was taken is freed with the mesh.
bool fem_render_surface_reserve(
	FemRenderSurface *surface, int32_t vertex_count, int32_t index_count, uint32_t attributes);
void fem_render_mesh_free(FemRenderMesh *mesh);

int64_t fem_render_mesh_vertex_count(const FemRenderMesh *mesh);
int64_t fem_render_mesh_triangle_count(const FemRenderMesh *mesh);

// Splits edges longer than edge_max (m) until none is left, or the next round would give more than triangle_limit
// triangles: a body's surface only shows bends where it has vertices. What is new is half way between what was there.
// Without memory the mesh stays sound.
FemResult fem_render_mesh_refine(FemRenderMesh *mesh, float edge_max, int32_t triangle_limit);

// m^3 that the triangles enclose, counter-clockwise from outside; of open meshes some number.
double fem_render_mesh_volume(const FemRenderMesh *mesh);

// FEM_OK, or the first fault: indices out of range, numbers that are not finite, normals without length. `name` is put
// before the sentence.
FemResult fem_render_mesh_check(const FemRenderMesh *mesh, const char *name);

// ---- baked mesh

#define FEM_REGION_NAME_SIZE 64 // bytes, with the end
#define FEM_REPORT_SIZE 8192    // bytes, with the end; lines that do not fit are left out

typedef struct FemTetArrays {
	int32_t node_count, tet_count;
	FemVec3 *nodes;       // m
	int32_t *tets;        // 4 nodes a tet, positive volume
	int32_t *tet_regions; // 0..255, or null for all 0
	float *tet_plates;    // plate correction strength of each tet, or null; where there is any, set quality_clamp 0
	FemVec3 stretch;      // FemBakeDef.stretch, for FemMeshDef; zero: none, as if it were 1
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

// What is drawn of a body once it breaks: closed solids cut from the render mesh, each with a home tet, as
// fem_body_set_splinters() takes them. The render surfaces come first, cut but not moved, then the surface of the cuts.
typedef struct FemSplinterMesh {
	int32_t splinter_count, surface_count;          // surfaces: those of the render mesh, and one more
	int32_t *home_tets;                             // [splinter]
	int32_t *vertex_starts;                         // [surface_count + 1]
	int32_t *index_starts;                          // [surface_count + 1]
	int32_t vertex_count, outer_count, index_count; // outer: vertices of all but the last surface
	FemVec3 *positions;                             // m, rest shape
	int32_t *vertex_splinters;
	int32_t *vertex_tets;
	float (*vertex_weights)[4]; // of the tet's corners, sum 1
	int32_t *source_triangles;  // [outer vertex]: of its render surface ...
	float (*source_weights)[3]; // ... and weights of that triangle's corners, for every attribute
	FemVec3 *normals;           // [vertex - outer_count] and so on: of the cuts
	float (*tangents)[4];
	float (*uvs)[2];  // m, along the cut
	int32_t *indices; // 3 a triangle, counted from the surface's first vertex
	// A face of the cuts is there twice, once for the splinter on either hand; vertex n of the first half of its
	// vertices and vertex n of the second lie at one place. Nothing is to be seen of it as long as these follow the
	// same nodes.
	int32_t face_count;
	int32_t *face_starts; // [face_count + 1], counted from outer_count
	// Far away: other triangles of the same vertices, without what makes the cuts rough. 0 where they are smooth.
	int32_t coarse_count; // indices
	int32_t *coarse_indices;
	int32_t *coarse_starts; // [surface_count + 1]
	float coarse_error;     // m, how far they are off
} FemSplinterMesh;

typedef struct FemBakedMesh {
	FemTetArrays tet_mesh;
	int32_t region_name_count;
	FemRegionName *region_names; // of the regions from 0 on; may be fewer than there are regions
	FemRenderMesh render;        // may be empty
	FemBakedEmbedding embedding; // of the vertices of all surfaces in a row, or empty
	FemSplinterMesh splinters;   // may be empty
	FemModes modes;              // of the tets, by node; may be empty
	char *report;                // what the bake said, or null; report_size bytes with the final 0
	int32_t report_size;
} FemBakedMesh;

// From the bytes of a file or resource. Nothing in them is believed: what is damaged, of another kind or of a newer
// version is refused with a sentence that names `name` and the remedy, and `out` is then empty.
FemResult fem_baked_mesh_read(const char *name, const void *bytes, size_t size, FemBakedMesh *out);
void fem_baked_mesh_free(FemBakedMesh *mesh);

// Of a shape whose tets are known: copies them, takes the surfaces over, also when it fails, and ties every vertex to
// its tet.
FemResult fem_baked_mesh_from_tets(const FemTetArrays *tets, FemRenderMesh *render, FemBakedMesh *out);

// Gives a mesh without surfaces, as tet meshes of other programs are, the outer faces of its tets as its only one.
FemResult fem_baked_mesh_add_tet_surface(FemBakedMesh *mesh);

// A surface of the splinters with its attributes, those of the render surface it was cut from or those of the cuts.
FemResult fem_baked_mesh_splinter_surface(const FemBakedMesh *mesh, int32_t surface, FemRenderSurface *out);
void fem_render_surface_free(FemRenderSurface *surface);

// The lines of a report that ask for something: all but the first, the notes and the praise. Whole lines, as many as
// fit. Returns the bytes that all of them need, with the final 0.
size_t fem_bake_report_warnings(const char *report, char *out, size_t capacity);

// ---- cutting

// Called now and then, on the thread that bakes, with a share done of 0..1; false stops the work.
typedef bool FemProgress(void *context, float share);

#define FEM_CUT_SPLINTERS_MAX 65536 // splinters a mesh: some 3 million triangles; more would only be a slip
#define FEM_CUT_IMPACTS_MAX 16      // points from which glass cracks radially; chosen

typedef enum FemPattern {
	FEM_PATTERN_NONE = 0, // no splinters: rubber, sheet metal
	FEM_PATTERN_VORONOI,  // concrete, stone, ceramic
	FEM_PATTERN_GLASS,    // radial about likely impacts, with random splinters
	FEM_PATTERN_WOOD,     // long splinters along the grain with jagged ends
	FEM_PATTERN_BRICK,    // brick bond with mortar joints, some bricks broken
	FEM_PATTERN_SURFACES, // the artist's own: each closed shell is a splinter, also where shells touch; of open ones
						  // each surface
	FEM_PATTERN_COUNT,
} FemPattern;

typedef struct FemCutDef {
	FemPattern pattern; // default FEM_PATTERN_NONE
	uint32_t seed;
	int32_t splinter_count; // cells wanted; default 0 = by splinter_size; at most FEM_CUT_SPLINTERS_MAX
	float splinter_size;    // m, mean diameter; default 0 = clearly smaller than the tets
	bool joins;             // cells that follow the same tet anyway are left in one splinter; default true
	int32_t triangle_max; // default 120000, beyond those of the outside: splinters, bricks and sections are made larger
						  // where there would be more
	float roughness;      // 0..1, of the cuts, in shares of a splinter's size; default 0.5
	float unevenness;     // 0..1, Voronoi and glass: how much sizes differ from place to place; default 0.5
	FemVec3 grain;        // wood: direction of the fibres; brick: up; glass: through the pane. 0 = by the shape
	FemVec3 scale;        // of the bodies it is for: wood's direction by the shape is their longest axis; default 1
	int32_t impact_count; // glass: points that cracks run from; default 0 = chosen by the seed
	FemVec3 impacts[FEM_CUT_IMPACTS_MAX]; // m
	// Wood, Morris et al. 2011 section IV.C. Width lies across the grain, height across grain and width.
	float section_width, section_height; // m, mean; 0 = by splinter_size
	float section_length;                // m, mean, along the grain; 0 = 8 times the width
	float random_width, random_height;   // 0..1, how much sections differ; default 0.4
	int32_t horizontal_frequency;        // 1..8, teeth across a section's end; default 3
	int32_t vertical_frequency;          // 0..8, kinks along a section's sides; default 0
	float horizontal_amplitude;          // 0..1, length of teeth in shares of the section's length; default 0.35
	float vertical_amplitude;            // 0..1, depth of kinks in shares of the section's width; default 0.2
	FemVec3 brick_size;                  // m: length, height, depth; default 0.24, 0.071, 0.115
	float mortar;                        // m, joint; default 0.01
	float broken_share;                  // 0..1, of bricks; default 0.3
	FemProgress *progress;               // may be null
	void *progress_context;
	uint32_t cookie;
} FemCutDef;

FemCutDef fem_default_cut_def(void);

// Where fibres run when no direction is given: the direction in which the solid is longest under a body's scale, unit,
// along the mesh's axes. Of what is as long in several, the one nearest to x, else to y. [any time]
FemVec3 fem_tets_longest_axis(const FemTetArrays *tets, FemVec3 scale);

// Makes mesh->splinters from the render mesh and the tets, in place of those it had; none with FEM_PATTERN_NONE. A mesh
// that is not closed or crosses itself gets its cuts from the surface of its tets instead. out_note (may be null): a
// sentence about that, about limits that were met, or "". A stop by progress answers FEM_ERROR_LIMIT.
#define FEM_CUT_NOTE_SIZE 512 // bytes, with the end
FemResult fem_baked_mesh_cut(FemBakedMesh *mesh, const FemCutDef *def, char out_note[FEM_CUT_NOTE_SIZE]);

// The same on a thread of its own, which only reads the mesh: others may read it, too, and nobody may change or free it
// until the job is finished. The def's progress is not used. Null when no thread or no memory can be had.
typedef struct FemCutJob FemCutJob;
FemCutJob *fem_cut_start(const FemBakedMesh *mesh, const FemCutDef *def);
bool fem_cut_is_done(const FemCutJob *job);
void fem_cut_cancel(FemCutJob *job); // it ends soon

// Waits for the end, puts the splinters in place of those in `out`, which may be the mesh's own or null, and frees the
// job. When it was cancelled or has failed, `out` stays as it was.
FemResult fem_cut_finish(FemCutJob *job, FemSplinterMesh *out);

// ---- bake

#define FEM_BAKE_ELEMENTS_MIN 5      // one cell
#define FEM_BAKE_ELEMENTS_MAX 100000 // a body of so many takes some 50 ms a step: more would only be a slip

typedef struct FemBakeDef {
	int32_t element_count; // tets wanted in all, default 1000, FEM_BAKE_ELEMENTS_MIN..MAX; met within 20 % from about
						   // 60 tets a member on, but for thin walls that need more to be covered
	int32_t plate_layers;  // least layers of cells through plates, layers through beams, default 1; 1..16
	float weld_distance;   // m, vertices nearer than this are one; default 0 = 1e-6 of the size, or 2e-5 where that
						   // closes it
	float sheet_thickness; // m, thickness given to surfaces that enclose nothing; default 0 = 0.01 of their size, told
	float wall_thickness;  // m, of the wall of hollow things whose mesh is their outside alone (bottles, teapots);
						   // default 0 = filled solid. Meshes with an inside of their own keep their walls
	bool surface_regions;  // each render surface is a material region of its own; default false
	// The scale of the bodies it is for, up to a common factor; default 1. Filled and cut as it stands there, with
	// thicknesses as of its x axis; what is made is in the mesh's own space all the same.
	FemVec3 stretch;
	FemCutDef cut;                 // splinters; default none. Its progress is not used
	int32_t mode_count;            // lowest modes that are kept with the mesh, 0..FEM_MODES_MAX; default 0
	FemModeMaterial mode_material; // all of it is of: modes of others follow by fem_modes_scale(); default aluminium
	// fem_modes_compute, which a bake without modes does without; default null
	FemResult (*compute_modes)(const FemModesDef *def, FemModes *out);
	FemProgress *progress; // may be null; jobs have their own
	void *progress_context;
	uint32_t cookie;
} FemBakeDef;

FemBakeDef fem_default_bake_def(void);

typedef struct FemBakeResult {
	FemResult result;
	bool is_cancelled;
	char message[512]; // why it failed, with the remedy; empty when it did not
	void *bytes;       // the baked mesh, or null; null of a job that reads
	size_t size;
	FemBakedMesh mesh; // ready for use: what reading the bytes gives. Zero it when you take it over
} FemBakeResult;

// Bakes on the calling thread, or on one of its own. Both take the surfaces over, also when they fail. Null when no
// thread or no memory can be had.
void fem_bake_now(FemRenderMesh *render, const FemBakeDef *def, FemBakeResult *out);
typedef struct FemBakeJob FemBakeJob;
FemBakeJob *fem_bake_start(FemRenderMesh *render, const FemBakeDef *def);

// Reads the bytes of an earlier bake as fem_baked_mesh_read() does, on a thread of its own. Nobody may change or free
// them until the job is finished. Null when no thread or no memory can be had.
FemBakeJob *fem_bake_read_start(const void *bytes, size_t size);

float fem_bake_share(const FemBakeJob *job); // done, 0..1
bool fem_bake_is_done(const FemBakeJob *job);
void fem_bake_cancel(FemBakeJob *job); // it ends soon

// Waits for the end, hands out the result and frees the job.
void fem_bake_finish(FemBakeJob *job, FemBakeResult *out);
void fem_bake_result_free(FemBakeResult *result);

// ---- view

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
