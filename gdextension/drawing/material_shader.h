// The shader that a StandardMaterial3D or ORMMaterial3D needs: what cannot be a value of a material, as words and
// render modes before fem_body.gdshaderinc.
#ifndef MATERIAL_SHADER_H
#define MATERIAL_SHADER_H

#include "godot_calls.h"

// Compared as bytes.
typedef struct MaterialShader {
	uint64_t words; // bits: which FEM_ words
	uint8_t modes;  // bits: which of the render modes that are on or off
	uint8_t transparency, blend, cull, depth_draw, shading, diffuse, specular, filter, alpha_edges; // BaseMaterial3D's
	uint8_t repeats;
	uint8_t unused[5];
} MaterialShader;

// material: a BaseMaterial3D, or null for the plain look. use: set of SurfaceUse.
MaterialShader material_shader_of(GDExtensionObjectPtr material, uint32_t use);

// A Shader, made when first asked for; null, said once, when the addon's shaders are not where they belong.
GDExtensionObjectPtr material_shader_get(const MaterialShader *key);

void material_shader_unload(void);

#endif
