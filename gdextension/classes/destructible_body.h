// DestructibleBody: a VisualInstance3D that shows and simulates a deformable body.
//
//	destructible_body.c           making, freeing, notifications, the tables that Godot sees
//	destructible_body_shape.c     what it is shaped like: mesh and its bake, or box
//	destructible_body_anchors.c   where it is held
//	destructible_body_materials.c what it is made of
//	destructible_body_settings.c  how it moves, collides and breaks
//	destructible_body_queries.c   what scripts can ask
//	destructible_body_actions.c   what scripts can do to it; its saved state
//	destructible_body_pieces.c    the same for its pieces
//	destructible_body_hits.c      what a ray hit, bullets, nodes attached to it
//	destructible_body_faults.c    messages and configuration warnings
//	destructible_body_estimate.c  what it costs and weighs, before it is simulated
//	destructible_body_editor.c    what the editor asks of it, and its simulation in there
//	destructible_body_shown.c     what is seen of it now, as a mesh
//	destructible_body_start_state.c  the state it starts in
//	destructible_body_preview.c   pictures of what it is made of
//	destructible_body_standing.c  what others touch of it while its mesh is baked
//	destructible_body_life.c      entering and leaving worlds, moving, starting over
#ifndef DESTRUCTIBLE_BODY_H
#define DESTRUCTIBLE_BODY_H

#include "binding/class_binding.h"
#include "simulation/simulation.h"

struct DestructibleMesh;

typedef struct DestructibleBody {
	ClassInstance base;
	// Settings
	GDExtensionObjectPtr material;         // MaterialResource or null; a reference
	GdArray region_materials;              // MaterialResource or null for each region of the mesh
	GDExtensionObjectPtr surface_material; // Material or null; a reference
	GDExtensionObjectPtr mesh;             // Mesh, DestructibleMesh or null; a reference
	int64_t element_count;                 // of a Mesh's bake
	double wall_thickness;                 // m, of a Mesh's bake
	int64_t refused_count;                 // element_count that was too large, until that has been said; else 0
	GdVector3 size;                        // m
	GdVector3i cells;
	GdVector3 start_velocity;         // m/s
	GdVector3 start_angular_velocity; // rad/s
	bool start_asleep;
	GdArray anchors;          // of AABB, in the node's own space
	GdDictionary start_state; // of get_state(), or empty
	bool debug_draw_tets;
	uint32_t layers;     // of the renderer
	int32_t cast_shadow; // a ShadowCastingSetting
	// State
	GDExtensionObjectPtr start_mesh;  // picture of start_state in the editor, or null; a reference
	GDExtensionObjectPtr editor_mesh; // Mesh that the editor shows in its place, or null; a reference
	GDExtensionObjectPtr baked;       // DestructibleMesh in use: `mesh` itself, or the bake of it; a reference
	BodyView view;
	SimulationBody simulated; // with the settings that may change during play
	GdTransform3D pose;       // the global transform last handed to the engine or the view
	uint32_t mesh_revision;   // of the mesh that is shown
	FemPattern cut_pattern;   // of the splinters that a plain mesh or a box was last given,
	FemVec3 cut_direction;    // and their direction
	bool is_reading_mesh;
	bool is_waiting;                                     // counted among those that wait for the bake of `baked`
	GdRID standing_body, standing_shape, standing_space; // of Godot's physics, while its mesh is baked; else null
	bool is_in_world;
	bool is_tried;          // simulated inside the editor
	uint32_t shown_parts;   // of its settings, in the inspector
	bool is_softening_told; // that its tets are softer than their material
} DestructibleBody;

extern const ClassDescription destructible_body_class;

// The DestructibleMesh in use, or null.
struct DestructibleMesh *destructible_body_mesh(const DestructibleBody *self);

// In the editor, where bodies rest unless they are tried there.
bool destructible_body_is_still(const DestructibleBody *self);

// Whether one of its materials breaks.
bool destructible_body_can_break(const DestructibleBody *self);

// Finds or starts the bake that the shape needs, before the body is built. In destructible_body_shape.c.
void destructible_body_find_bake(DestructibleBody *self);

// The DestructibleMesh that it is or would be simulated with, splinters included; made at once. A new reference, or
// null with the cause said. One of the user's own that is not baked stays so.
GDExtensionObjectPtr destructible_body_make_bake(DestructibleBody *self);

// Others touch its mesh as it stands until the bake ends. In destructible_body_standing.c.
void destructible_body_stand(DestructibleBody *self);
void destructible_body_end_standing(DestructibleBody *self);

// Waits for the bake that a body stands for: whoever acts on it means what it will be.
void destructible_body_end_waiting(DestructibleBody *self);
void destructible_bodies_end_waiting_near(GDExtensionObjectPtr world_3d, FemPosition center, double radius);

// All that do so.
typedef struct StandingBodies {
	DestructibleBody **list;
	int32_t count, capacity;
	uint32_t changes; // how often one came or went
} StandingBodies;

const StandingBodies *destructible_bodies_standing(void);

// It no longer waits for the bake: one that nobody waits for is cancelled in the next frame.
void destructible_body_stop_waiting(DestructibleBody *self);

// Says that too large an element_count was set, once the node has a path.
void destructible_body_report_refused_count(DestructibleBody *self);

// Whether the mesh is, or would be, baked by another thread.
bool destructible_body_bakes_in_background(DestructibleBody *self);

GdTransform3D destructible_body_transform(const DestructibleBody *self); // of its node: in the world where it is in one
// Its node's scale, up to a common factor: what its bake is stretched by.
FemVec3 destructible_body_stretch(const DestructibleBody *self);

// Whether its material asks for other splinters than it was given.
bool destructible_body_needs_other_cut(DestructibleBody *self);

// The boxes of `anchors`; returns their number.
enum { BODY_ANCHORS_MAX = 64 };
int32_t destructible_body_read_anchors(DestructibleBody *self, GdAABB out[BODY_ANCHORS_MAX]);

// True, with cause and remedy, when one of them holds nothing, as far as the nodes are known yet.
bool destructible_body_anchor_fault(DestructibleBody *self, char *out, size_t capacity);

// The MaterialResource, or null, of each region; returns their number.
int32_t destructible_body_materials(const DestructibleBody *self, GDExtensionObjectPtr out[SIMULATION_MATERIALS_MAX]);

// Shows the body with its present materials.
void destructible_body_update_look(DestructibleBody *self);

// The node's path, or its name while it is in no tree.
void destructible_body_path(const DestructibleBody *self, char *buffer, int capacity);

// "DestructibleBody <path> <what>: <cause>." warn: as a warning.
void destructible_body_report(const DestructibleBody *self, const char *what, const char *cause);
void destructible_body_warn(const DestructibleBody *self, const char *what, const char *cause);

// Warns, once for a body, when tets of it are too stiff for their size to be computed as their material says.
void destructible_body_tell_softening(DestructibleBody *self);

// Whether impulses move it: those of frozen bodies are lost, those of paused ones count when they go on.
bool destructible_body_takes_impulses(DestructibleBody *self);

// False, with a report, for numbers that are not finite.
bool destructible_body_accept(const DestructibleBody *self, const char *property, double value);

// Why the body cannot be simulated at this transform: cause and remedy in one sentence, or null.
const char *destructible_body_fault(const DestructibleBody *self, const GdTransform3D *transform);
const char *destructible_body_box_fault(const DestructibleBody *self); // of size and cells alone

bool destructible_body_has_placeholder(const DestructibleBody *self); // where there should be triangles to bake

// Cause and remedy, for the warning and the message alike.
#define DESTRUCTIBLE_BODY_SHADER_FAULT \
	"the shader of its surface_material does not move the vertices; include fem_position.gdshaderinc in it and call " \
	"fem_deform() in vertex()"

// Fills a PackedStringArray for the scene dock.
void destructible_body_warnings(DestructibleBody *self, GdPackedStringArray *out);

// The node's life: what it does when it enters or leaves a world, moves, or changes shape.
void destructible_body_enter(DestructibleBody *self);
void destructible_body_leave(DestructibleBody *self);
void destructible_body_transform_changed(DestructibleBody *self);
void destructible_body_rebuild(
	DestructibleBody *self); // starts over from the rest shape at the node's present transform
void destructible_body_show_again(DestructibleBody *self); // a new view of the same simulated body
void destructible_body_update_cut(DestructibleBody *self); // after its material or that one's values changed
void destructible_body_release(DestructibleBody *self);

// ---- properties and methods, as Godot calls them

#define BODY_ACCESSORS(type, name) \
	type destructible_body_get_##name(void *self); \
	void destructible_body_set_##name(void *self, type value);
#define BODY_ARRAY_ACCESSORS(name) \
	void destructible_body_get_##name(void *self, GdArray *out); \
	void destructible_body_set_##name(void *self, const GdArray *value);

BODY_ACCESSORS(GDExtensionObjectPtr, mesh)
BODY_ACCESSORS(int64_t, element_count)
BODY_ACCESSORS(double, wall_thickness)
BODY_ACCESSORS(bool, bake_in_background)
BODY_ACCESSORS(GdVector3, size)
BODY_ACCESSORS(GdVector3i, cells)
BODY_ARRAY_ACCESSORS(anchors)
void destructible_body_on_mesh_changed(void *self);
GDExtensionObjectPtr destructible_body_bake_mesh(void *self);

BODY_ACCESSORS(GDExtensionObjectPtr, material)
BODY_ARRAY_ACCESSORS(region_materials)
BODY_ACCESSORS(GDExtensionObjectPtr, surface_material)
void destructible_body_on_material_changed(void *self);
void destructible_body_on_surface_material_changed(void *self);

BODY_ACCESSORS(bool, freeze)
BODY_ACCESSORS(double, gravity_scale)
BODY_ACCESSORS(double, mass_override)
BODY_ACCESSORS(int64_t, dynamics)
BODY_ACCESSORS(int64_t, mode_count)
BODY_ACCESSORS(int64_t, rigid_piece_count)
BODY_ACCESSORS(double, energy_release)
BODY_ACCESSORS(double, breaks_per_second)
BODY_ACCESSORS(double, rigid_pieces_distance)
BODY_ACCESSORS(bool, refine_on_break)
BODY_ACCESSORS(GdVector3, start_velocity)
BODY_ACCESSORS(GdVector3, start_angular_velocity)
BODY_ACCESSORS(bool, start_asleep)
BODY_ACCESSORS(int64_t, collision_layer)
BODY_ACCESSORS(int64_t, collision_mask)
BODY_ACCESSORS(bool, self_contact)
BODY_ACCESSORS(double, impact_speed_min)
BODY_ACCESSORS(double, strength_scale)
BODY_ACCESSORS(bool, invulnerable)
BODY_ACCESSORS(int64_t, fracture_seed)
BODY_ACCESSORS(int64_t, debris_cap)
BODY_ACCESSORS(double, debris_lifetime)
BODY_ACCESSORS(double, debris_fade)
BODY_ACCESSORS(double, splinter_blend)
BODY_ACCESSORS(bool, debug_draw_tets)
BODY_ACCESSORS(int64_t, layers)
bool destructible_body_get_layer_mask_value(void *self, int64_t number);
void destructible_body_set_layer_mask_value(void *self, int64_t number, bool on);
BODY_ACCESSORS(int64_t, cast_shadow)

int64_t destructible_body_get_node_count(void *self);
int64_t destructible_body_get_tet_count(void *self);
void destructible_body_get_node_positions(void *self, GdPackedVector3Array *out);
void destructible_body_get_vertex_positions(void *self, GdPackedVector3Array *out);
void destructible_body_get_splinter_vertex_positions(void *self, GdPackedVector3Array *out);
GdVector3 destructible_body_get_center_of_mass(void *self);
GdVector3 destructible_body_get_linear_velocity(void *self);
double destructible_body_get_mass(void *self);
GdVector3 destructible_body_get_grain_direction(void *self);
int64_t destructible_body_get_softened_tet_count(void *self);
GdAABB destructible_body_get_aabb_world(void *self);
bool destructible_body_is_simulated(void *self);
bool destructible_body_is_asleep(void *self);

void destructible_body_wake(void *self);
void destructible_body_reset(void *self);
void destructible_body_trigger(void *self);
void destructible_body_apply_force(void *self, GdVector3 force, GdVector3 position);

// ---- destructible_body_grabs.c
bool destructible_body_is_modal(void *self);
int64_t destructible_body_grab(void *self, GdVector3 position);
void destructible_body_move_grab(void *self, int64_t grab, GdVector3 position);
void destructible_body_release_grab(void *self, int64_t grab);
void destructible_body_get_grab_data(void *self, int64_t grab, GdDictionary *out);
int64_t destructible_body_join(void *self, GDExtensionObjectPtr body, GdVector3 position);
void destructible_body_release_joint(void *self, int64_t joint);
void destructible_body_get_joint_data(void *self, int64_t joint, GdDictionary *out);

void destructible_body_apply_central_force(void *self, GdVector3 force);
void destructible_body_apply_impulse(void *self, GdVector3 impulse, GdVector3 position);
void destructible_body_apply_central_impulse(void *self, GdVector3 impulse);
void destructible_body_apply_explosion(void *self, GdVector3 position, double radius, double strength);
void destructible_body_apply_damage(void *self, GdVector3 position, double radius, double amount);
void destructible_body_get_state(void *self, GdDictionary *out);
int64_t destructible_body_set_state(void *self, const GdDictionary *state);

int64_t destructible_body_get_piece_count(void *self);
void destructible_body_get_pieces(void *self, GdPackedInt32Array *out);
void destructible_body_get_piece_data(void *self, int64_t piece, GdDictionary *out);
GdTransform3D destructible_body_get_piece_transform(void *self, int64_t piece);
void destructible_body_remove_piece(void *self, int64_t piece);

// ---- destructible_body_hits.c
int64_t destructible_body_get_piece_at(void *self, GdVector3 position);
void destructible_body_get_hit_data(void *self, GdVector3 position, GdDictionary *out);
void destructible_body_apply_bullet(void *self, GdVector3 position, GdVector3 direction, double energy);
void destructible_body_add_collision_exception_with(void *self, GDExtensionObjectPtr node);
void destructible_body_remove_collision_exception_with(void *self, GDExtensionObjectPtr node);
void destructible_body_attach_node(void *self, GDExtensionObjectPtr node);
void destructible_body_detach_node(void *self, GDExtensionObjectPtr node);

// Where a vertex is (m) that follows four nodes; positions: 4 numbers a node, from the origin.
GdVector3 destructible_body_place_vertex(
	FemPosition origin, const float *positions, const int32_t nodes[4], const float weights[4]);
GdVector3 destructible_body_transformed(const GdTransform3D *transform, GdVector3 p);

// ---- destructible_body_shown.c
GDExtensionObjectPtr destructible_body_get_shown_mesh(void *self);

// ---- destructible_body_start_state.c
void destructible_body_get_start_state(void *self, GdDictionary *out);
void destructible_body_set_start_state(void *self, const GdDictionary *state);
bool destructible_body_has_start_state(const DestructibleBody *self);
void destructible_body_take_start_state(DestructibleBody *self);
void destructible_body_picture_start_state(DestructibleBody *self);

// The Mesh that the editor shows of a body at rest in place of its own, or null.
GDExtensionObjectPtr destructible_body_stand_in(const DestructibleBody *self);

// ---- destructible_body_preview.c
typedef enum BodyPreview {
	PREVIEW_PIECES = 0, // what it may break into, each in a colour of its own; spread: how far apart
	PREVIEW_TETS,       // spread: the gap between them, as a share of their size
	PREVIEW_STRENGTH,   // regions by what they break at, red the weakest
} BodyPreview;
GDExtensionObjectPtr destructible_body_get_preview_mesh(void *self, int64_t kind, double spread);
void destructible_body_show_in_editor(void *self, GDExtensionObjectPtr mesh);

// ---- destructible_body_estimate.c
void destructible_body_get_estimate(void *self, GdDictionary *out);

// ---- destructible_body_editor.c
void destructible_body_simulate_in_editor(void *self, bool on);
void destructible_body_show_changes(DestructibleBody *self); // of its settings: warnings, gizmos, inspector
GdAABB destructible_body_local_box(const DestructibleBody *self);
uint32_t destructible_body_property_usage(void *self, const ClassPropertyLook *property);

#endif
