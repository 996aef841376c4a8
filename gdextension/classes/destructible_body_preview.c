// Pictures of what a DestructibleBody is made of, for the editor: its pieces, its tets, how strong each part is.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"

#include <math.h>
#include <stdlib.h>

static GDExtensionObjectPtr picture_of_tets(const FemTetArrays *tets, double gap) {
	FemViewDef def = fem_default_view_def();
	def.gap = (float)fmin(fmax(gap, 0.0), 0.9);
	return mesh_drawing_of_tets(tets, &def, NULL);
}

// From red, the weakest, to green; what does not break is blue.
static GdColor strength_color(double strength, double low, double high) {
	if (!isfinite(strength)) {
		return (GdColor){0.25f, 0.4f, 0.9f, 1.0f};
	}
	float share = high > low ? (float)(log(strength / low) / log(high / low)) : 1.0f;
	return (GdColor){0.9f - 0.65f * share, 0.25f + 0.5f * share, 0.25f, 1.0f};
}

static void find_strengths(
	const GDExtensionObjectPtr *materials, int32_t count, double *out, double *low, double *high) {
	*low = INFINITY;
	*high = 0.0;
	for (int32_t i = 0; i < count; i++) {
		FemMaterialDef def = material_resource_def(materials[i]);
		out[i] = def.breakable ? fmax((double)def.toughness, 1e-6) : INFINITY;
		*low = fmin(*low, out[i]);
		*high = isfinite(out[i]) ? fmax(*high, out[i]) : *high;
	}
}

static GDExtensionObjectPtr picture_of_strength(const DestructibleBody *self, const DestructibleMesh *mesh) {
	const FemTetArrays *tets = &mesh->baked.tet_mesh;
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	double strengths[SIMULATION_MATERIALS_MAX], low, high;
	int32_t count = 0;
	GdArray regions = self->region_materials; // the same array: it is only read
	for (; count < mesh->region_count && count < SIMULATION_MATERIALS_MAX; count++) {
		GDExtensionObjectPtr material = array_object(&regions, count);
		materials[count] = material ? material : self->material;
	}
	find_strengths(materials, count, strengths, &low, &high);
	GdColor *colors = malloc((size_t)tets->tet_count * sizeof(GdColor));
	for (int32_t i = 0; colors && i < tets->tet_count; i++) {
		int32_t region = tets->tet_regions ? tets->tet_regions[i] : 0;
		colors[i] = strength_color(strengths[region < count ? region : 0], low, high);
	}
	FemViewDef def = fem_default_view_def();
	def.surface_only = true;
	GDExtensionObjectPtr made = colors ? mesh_drawing_of_tets(tets, &def, colors) : NULL;
	free(colors);
	return made;
}

GDExtensionObjectPtr destructible_body_get_preview_mesh(void *pointer, int64_t kind, double spread) {
	DestructibleBody *self = pointer;
	GDExtensionObjectPtr baked = isfinite(spread) ? destructible_body_make_bake(self) : NULL, made = NULL;
	const DestructibleMesh *mesh = class_instance(baked, &destructible_mesh_class);
	if (!mesh || !mesh->is_baked) {
		object_unreference(baked);
		return NULL;
	}
	switch (kind) {
	case PREVIEW_PIECES: made = mesh_drawing_of_splinters(&mesh->baked.splinters, (float)spread); break;
	case PREVIEW_TETS: made = picture_of_tets(&mesh->baked.tet_mesh, spread); break;
	case PREVIEW_STRENGTH: made = picture_of_strength(self, mesh); break;
	default: break;
	}
	object_unreference(baked);
	return made;
}

GDExtensionObjectPtr destructible_body_stand_in(const DestructibleBody *self) {
	GDExtensionObjectPtr mesh = self->editor_mesh ? self->editor_mesh : self->start_mesh;
	return destructible_body_is_still(self) ? mesh : NULL;
}

// Shown in place of the body's own mesh while the editor has it at rest.
void destructible_body_show_in_editor(void *pointer, GDExtensionObjectPtr mesh) {
	DestructibleBody *self = pointer;
	if (!gd_engine_is_editor_hint() || mesh == self->editor_mesh || (mesh && !object_cast(mesh, "Mesh"))) {
		return;
	}
	object_reference_assign(&self->editor_mesh, mesh);
	if (destructible_body_is_still(self)) {
		destructible_body_rebuild(self);
	}
}
