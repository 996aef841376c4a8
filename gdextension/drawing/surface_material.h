// What a body's surface is drawn with: the addon's shader, filled from the user's material, or the user's own shader.
//
// Bodies that show the same material share one of the RenderingServer, which keeps its RID when the values change.
#ifndef SURFACE_MATERIAL_H
#define SURFACE_MATERIAL_H

#include "godot_calls.h"

typedef enum SurfaceUse {
	SURFACE_OUTSIDE = 0,
	SURFACE_INSIDE =
		1 << 0,             // of faces that opened, for those without a material of their own: darker, without patterns
	SURFACE_FADES = 1 << 1, // some pieces fade away
	SURFACE_COLORED = 1 << 2, // in the colours of the vertices
} SurfaceUse;

typedef struct SurfaceMaterial {
	GdRID rid;
	int32_t entry; // 0: the user's own, or none
} SurfaceMaterial;

// source: null for the plain look, a StandardMaterial3D or ORMMaterial3D whose values are copied, or a ShaderMaterial
// that includes fem_position.gdshaderinc. Other materials cannot follow the deformation and give the plain look. use:
// set of SurfaceUse. The source must live as long.
SurfaceMaterial surface_material_acquire(GDExtensionObjectPtr source, uint32_t use);
void surface_material_release(SurfaceMaterial *material);

// The source has new values.
void surface_material_refresh(GDExtensionObjectPtr source);

// Godot's materials do not tell when a script or the inspector changes them: call this once a drawn frame. It looks at
// a few of those in use and takes new values over, so that a change is seen within some frames.
void surface_material_watch(void);

// False for a material that would give the plain look though one was asked for.
bool surface_material_is_supported(GDExtensionObjectPtr source);

// False for a ShaderMaterial whose shader leaves the vertices where they are at rest, as far as its code tells: what it
// includes is not read.
bool surface_material_follows(GDExtensionObjectPtr source);

// Gives up all that is still held, the shaders too.
void surface_material_unload(void);

#endif
