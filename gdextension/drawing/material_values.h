// The values of a StandardMaterial3D or ORMMaterial3D, under the names of fem_body.gdshaderinc.
#ifndef MATERIAL_VALUES_H
#define MATERIAL_VALUES_H

#include "godot_calls.h"

// material: of the RenderingServer; source: a BaseMaterial3D; use: set of SurfaceUse. Textures that the source does not
// have are taken out.
void material_values_copy(GdRID material, GDExtensionObjectPtr source, uint32_t use);

// A number that is another one when any of these values is.
uint64_t material_values_hash(GDExtensionObjectPtr source);

#endif
