// DestructibleMesh: a tet mesh and the surfaces embedded in it, baked from a Mesh. A Resource that bodies share.
#ifndef DESTRUCTIBLE_MESH_H
#define DESTRUCTIBLE_MESH_H

#include "binding/class_binding.h"
#include "classes/bake_store.h"
#include "drawing/mesh_drawing.h"

typedef struct DestructibleMesh {
	ClassInstance base;
	// Settings of the bake
	GDExtensionObjectPtr source_mesh; // Mesh or null; a reference
	int64_t element_count;
	int64_t plate_layers;
	double sheet_thickness; // m
	double wall_thickness;  // m
	double weld_distance;   // m
	FemVec3 stretch;        // scale of the bodies it is for, up to a common factor
	int64_t mode_count;     // kept with the bake; 0: none
	bool regions_from_surfaces;
	FemCutDef cut;                          // splinters
	GDExtensionObjectPtr interior_material; // Material or null; a reference
	bool refine_surface;                    // it gets vertices where it may bend
	// What was baked, as it is saved
	GdPackedByteArray data;
	GdPackedByteArray layout; // what the engine found out about it, see destructible_mesh_layout.c
	int64_t bake_key;         // of the settings it was baked with, see destructible_mesh_stale.c; 0: not known
	GdArray surface_materials;
	uint64_t store_key; // under which it is to be kept on disk, see bake_store.h; 0: it is not
	// The same, ready for use
	FemBakedMesh baked;
	bool is_baked;
	int32_t region_count;  // of the baked tets, at least 1
	int64_t refused_count; // element_count that was asked for and is too large, until that has been said; else 0
	char fault[512];       // why the data cannot be used; empty when there are none or they are sound
	bool is_fault_told;
	uint32_t revision; // changes with what bodies show
	MeshDrawing drawing;
	MeshDrawing splinter_drawing; // made when a body can break
	// A bake under way
	FemBakeJob *job;
	GdArray job_materials;
	StoredBake job_stored; // what the job reads, when job_reads
	bool job_reads;        // what an earlier start of the project baked, instead of baking
	bool job_with_undo, job_is_cancelled;
	int64_t job_key;        // as bake_key
	bool job_is_for_bodies; // begun by a body that entered the tree: cancelled when none waits for it any longer
	int32_t waiting_count;  // bodies in a tree that are simulated when it ends
	float job_share;        // last told
	// A cut that bodies wait for, in destructible_mesh_cut.c
	bool awaits_cut;
	FemCutJob *cut_job; // null: not begun
} DestructibleMesh;

extern const ClassDescription destructible_mesh_class;

// From here on a bake takes seconds and a body some ms a tick: bodies bake in the background, and warn of the cost.
enum { ELEMENTS_MANY = 20000 };
#define ELEMENT_COUNT_HINT "5,100000,1,exp" // FEM_BAKE_ELEMENTS_MIN, MAX
_Static_assert(FEM_BAKE_ELEMENTS_MIN == 5 && FEM_BAKE_ELEMENTS_MAX == 100000, "the hint says so");

// Within FEM_BAKE_ELEMENTS_MIN..MAX.
int64_t bounded_element_count(int64_t count);
FemVec3 bounded_stretch(FemVec3 stretch);

// The resource's path or name, for messages.
void destructible_mesh_name(const DestructibleMesh *self, char *buffer, int capacity);

// Takes new data over: checks them, tells the bodies. An error names the resource when the data are bad.
void destructible_mesh_take_data(DestructibleMesh *self, const GdPackedByteArray *data);
// The same of data that another thread has read: `baked` is taken over.
void destructible_mesh_take_baked(DestructibleMesh *self, const GdPackedByteArray *data, FemBakedMesh *baked);
void destructible_mesh_take_materials(DestructibleMesh *self, const GdArray *materials);

// Why a body cannot use the mesh: cause and remedy in one sentence, or null.
const char *destructible_mesh_fault(const DestructibleMesh *self);

// What the bake warned of, or an empty text.
void destructible_mesh_warnings(const DestructibleMesh *self, char *buffer, int capacity);

// The shared mesh of the RenderingServer, made when first asked for; null when there are no sound data. Main thread
// only.
const MeshDrawing *destructible_mesh_drawing(DestructibleMesh *self);

// The same of its splinters; null when there are none.
const MeshDrawing *destructible_mesh_splinter_drawing(DestructibleMesh *self);

// How the engine partitioned the tets when it last made a mesh of them: saved too, since it takes long to find. Numbers
// and their count; one that does not fit is passed over by the engine. In destructible_mesh_layout.c.
const int32_t *destructible_mesh_layout(DestructibleMesh *self, int32_t *out_count);
void destructible_mesh_keep_layout(DestructibleMesh *self, FemMeshId mesh);
void destructible_mesh_find_layout(DestructibleMesh *self); // for a bake that will be saved
void destructible_mesh_get_layout(void *self, GdPackedByteArray *out);
void destructible_mesh_set_layout(void *self, const GdPackedByteArray *layout);

// The methods that ask, load and save, in destructible_mesh_queries.c.
bool destructible_mesh_get_is_baked(void *self);
int64_t destructible_mesh_get_tet_count(void *self);
int64_t destructible_mesh_get_node_count(void *self);
int64_t destructible_mesh_get_region_count(void *self);
void destructible_mesh_get_region_names(void *self, GdPackedStringArray *out);
void destructible_mesh_get_report(void *self, GdString *out);
int64_t destructible_mesh_get_vertex_count(void *self);
void destructible_mesh_get_vertex_positions(void *self, GdPackedVector3Array *out);
GDExtensionObjectPtr destructible_mesh_get_exploded_mesh(void *self, double gap, GdPlane cut);
GDExtensionObjectPtr destructible_mesh_get_tet_mesh_surface(void *self);
GDExtensionObjectPtr destructible_mesh_load_baked(void *no_self, const GdString *path);
int64_t destructible_mesh_save_baked(void *self, const GdString *path);

// Whether it was baked with other settings, in destructible_mesh_stale.c.
int64_t destructible_mesh_settings_key(const DestructibleMesh *self);
int64_t destructible_mesh_get_bake_key(void *self);
void destructible_mesh_set_bake_key(void *self, int64_t key);
bool destructible_mesh_is_stale(void *self);

// The methods that bake, in destructible_mesh_bake.c.
int64_t destructible_mesh_bake(void *self);
int64_t destructible_mesh_bake_async(void *self);
void destructible_mesh_bake_for_bodies(DestructibleMesh *self); // as bake_async(), while waiting_count is not 0
void destructible_mesh_bake_with_undo(void *self);
void destructible_mesh_cancel_bake(void *self);
bool destructible_mesh_is_baking(void *self);
void destructible_mesh_on_process_frame(void *self);
void destructible_mesh_finish_bake(DestructibleMesh *self); // waits for one that is under way
void destructible_mesh_end_bake(DestructibleMesh *self);    // stops one that is under way, without a word

// Splinters of a mesh that has none yet are made by another thread, a few meshes at a time: begins, and goes on
// whenever it is asked. True when they are there, or cannot be had, which was said then. `waits`: at once, however long
// it takes.
bool destructible_mesh_go_on_cutting(DestructibleMesh *self, bool waits);
void destructible_mesh_end_cut(DestructibleMesh *self); // stops one that is under way, without a word

#endif
