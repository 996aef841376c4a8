// The bodies of a world: making them, their materials, and what the calls on them share.
#ifndef FEM_WORLD_BODIES_H
#define FEM_WORLD_BODIES_H

#include "base/assert.h"
#include "world/world.h"

// ---- bodies.c
int32_t fem_body_slot(FemWorld *world); // a free slot, growing the list; -1 when memory fails
// A body with its arrays, rest geometry and materials, in its mesh's shape; positions and velocities are the caller's.
// tet_materials: index of the world's material of each user tet. Null (with a sentence) on failure.
// breaks: whether or not a material does.
FEM_MUST_USE FemBody *fem_body_build(
	FemWorld *world, int32_t mesh_index, FemVec3 scale, const int32_t *tet_materials, bool breaks);
// Puts a built body into its slot and takes references and reserves; false (with a sentence) when memory fails.
bool fem_body_enter(FemWorld *world, FemBody *body, int32_t body_index);
// Puts a built body into the slot of another, which is no longer in the world but not freed. False (with a sentence)
// when memory fails: the other stays, its contacts forgotten, and the built one is freed.
FEM_MUST_USE bool fem_body_exchange(FemWorld *world, FemBody *body, int32_t body_index);
void fem_world_leave(FemWorld *world, int32_t body_index); // gives references and reserves back; the body stays
void fem_body_discard(FemBody *body);                      // one that was never entered
void fem_body_free(FemWorld *world, int32_t body_index);
FEM_MUST_USE bool fem_body_prepare_reactions(FemBody *body); // room for reactions; false when memory fails
FEM_MUST_USE bool fem_body_allocate_nodes(FemBody *body); // arrays by node and part, for the capacities of its topology
// Lists that must hold all bodies and colliders of the world as it stands. False when memory fails.
FEM_MUST_USE bool fem_world_reserve(FemWorld *world);

// ---- body_materials.c
// Room for plastic state, if one of the body's materials yields. False when memory fails.
FEM_MUST_USE bool fem_body_prepare_materials(const FemWorld *world, FemBody *body); // room for what they can do
void fem_body_take_initial_strain(const FemWorld *world, FemBody *body);            // of a body that is made
bool fem_material_has_fibres(const FemMaterialDef *def);                            // is stiffer along them
FemVec3 fem_body_grain(const FemBody *body, const FemMaterialDef *def); // their direction, of any length but 0
FEM_MUST_USE bool fem_body_allocate_plastics(const FemWorld *world, FemBody *body); // whether they yield or not
// Puts the moduli, density and plastic limits of a body's materials into its batches and node masses. False when memory
// fails: the body then stays as it was.
FEM_MUST_USE bool fem_body_refresh_materials(FemWorld *world, FemBody *body);
// Whether its moduli are lower than its material and the mesh quality clamp say.
bool fem_tet_is_softened(const FemWorld *world, const FemBody *body, int32_t tet);
// Its material is another now than `before`.
void fem_body_refresh_tet(FemWorld *world, FemBody *body, int32_t tet, const FemMaterialDef *before);
void fem_body_set_node_mass(const FemWorld *world, FemBody *body, int32_t node);
void fem_body_set_totals(const FemWorld *world, FemBody *body);
void fem_body_heal_tets(FemBody *body); // after a step that went bad: rotations and plastic state that are not finite

// ---- body_creation.c
// A table of material indices by region from a list of a def; regions beyond the count take the last one.
FemResult fem_region_materials(
	const FemWorld *world, const FemMaterialId *materials, int32_t count, int32_t out[FEM_REGION_MAX]);
FemVec3d fem_body_center(const FemBody *body); // centre of mass, relative to the body's origin

// ---- body_settings.c
FemResult fem_body_settings_check(float gravity_scale, float toughness_scale);
FemResult fem_dynamics_check(FemDynamics dynamics);

// ---- body_reading.c
typedef struct FemTetStrain {
	double strain[3][3]; // elastic, element frame
	double stress[3][3]; // Pa, element frame
	double rotation[3][3];
	double volume_ratio; // to the undeformed rest shape
} FemTetStrain;

void fem_tet_strain(const FemBody *body, int32_t tet, FemTetStrain *out_strain);
void fem_tet_deformation(
	const FemBody *body, int32_t tet, double out_f[3][3]); // against the plastically changed rest shape

// The nearest tet of the body's present shape, the lowest numbered of equals; weights of its nodes.
int32_t fem_body_nearest_tet(const FemBody *body, FemPosition point, double out_weights[4]);

#endif
