// DestructibleBody: a Node3D that shows and simulates a deformable body.
#ifndef DESTRUCTIBLE_BODY_H
#define DESTRUCTIBLE_BODY_H

#include "class_binding.h"
#include "simulation.h"

typedef struct DestructibleBody {
	ClassInstance base;
	// Settings
	GDExtensionObjectPtr material;         // MaterialResource or null; a reference
	GdArray region_materials;              // MaterialResource or null for each region of the mesh
	GDExtensionObjectPtr surface_material; // Material or null; a reference
	GDExtensionObjectPtr mesh;             // DestructibleMesh or null; a reference
	GdVector3 size;                        // m
	GdVector3i cells;
	GdVector3 start_velocity; // m/s
	GdArray anchors;          // of AABB, in the node's own space
	BodyFracture fracture;
	bool debug_draw_tets;
	// State
	BodyView view;
	SimulationBody simulated;
	GdTransform3D pose;     // the global transform last handed to the engine or the view
	uint32_t mesh_revision; // of the mesh that is shown
	bool is_in_world;
} DestructibleBody;

extern const ClassDescription destructible_body_class;

// The MaterialResource, or null, of each region; returns their number. In destructible_body_materials.c.
int32_t destructible_body_materials(const DestructibleBody *self, GDExtensionObjectPtr out[SIMULATION_MATERIALS_MAX]);
GDExtensionObjectPtr destructible_body_get_material(void *self);
void destructible_body_set_material(void *self, GDExtensionObjectPtr material);
void destructible_body_get_region_materials(void *self, GdArray *out);
void destructible_body_set_region_materials(void *self, const GdArray *materials);

// How a broken body is drawn: with the surface_material, else with the mesh's first.
void destructible_body_update_look(DestructibleBody *self);

// Pieces, in destructible_body_pieces.c.
int64_t destructible_body_get_piece_count(void *self);
void destructible_body_get_pieces(void *self, GdPackedInt32Array *out);
void destructible_body_get_piece_data(void *self, int64_t piece, GdDictionary *out);
GdTransform3D destructible_body_get_piece_transform(void *self, int64_t piece);
void destructible_body_remove_piece(void *self, int64_t piece);

// The node's path, or its name while it is in no tree.
void destructible_body_path(const DestructibleBody *self, char *buffer, int capacity);

// "DestructibleBody <path> <what>: <cause>."
void destructible_body_report(const DestructibleBody *self, const char *what, const char *cause);

// Why the body cannot be simulated at this transform: cause and remedy in one sentence, or null.
const char *destructible_body_fault(const DestructibleBody *self, const GdTransform3D *transform);

// Fills a PackedStringArray for the scene dock.
void destructible_body_warnings(const DestructibleBody *self, GdPackedStringArray *out);

// The node's life: what it does when it enters or leaves a world, moves, or changes shape.
void destructible_body_enter(DestructibleBody *self);
void destructible_body_leave(DestructibleBody *self);
void destructible_body_transform_changed(DestructibleBody *self);
void destructible_body_rebuild(DestructibleBody *self);
void destructible_body_release(DestructibleBody *self);

#endif
