// What a body's surface is drawn with: the addon's shader, filled from the user's material, or the user's own shader.
#ifndef SURFACE_MATERIAL_H
#define SURFACE_MATERIAL_H

#include "godot_calls.h"

typedef struct SurfaceMaterial {
	GdRID rid;
	bool is_owned; // made for one body; else shared or the user's
} SurfaceMaterial;

// source: null for the plain look, a StandardMaterial3D (or ORMMaterial3D) whose values are copied, or a ShaderMaterial
// that includes fem_position.gdshaderinc. Other materials cannot follow the deformation and give the plain look.
SurfaceMaterial surface_material_create(GDExtensionObjectPtr source);

// The same for faces that opened: darker, rougher, without the textures of the outside.
SurfaceMaterial surface_material_create_inside(GDExtensionObjectPtr source);

// The plain look in the colours of the vertices; shared.
SurfaceMaterial surface_material_create_colored(void);

void surface_material_free(SurfaceMaterial *material);

// False for a material that would give the plain look though one was asked for.
bool surface_material_is_supported(GDExtensionObjectPtr source);

// Gives up the shader and the plain material.
void surface_material_unload(void);

#endif
