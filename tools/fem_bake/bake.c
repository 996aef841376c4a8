#include "fem_bake/bake.h"

#include "baking/bake.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/timing.h"
#include "fem_bake/files/baked_file.h"
#include "fem_bake/files/import_surface.h"
#include "fem_bake/files/tet_import.h"
#include "fem_bake/report.h"
#include "fem_bake/report_json.h"
#include "fem_bake/strike.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

// ---- progress

typedef struct Progress {
	const FemBakeOptions *options;
	int shown; // percent
} Progress;

static volatile sig_atomic_t is_cancelled;

static void cancel(int number) {
	is_cancelled = 1;
	signal(number, SIG_DFL); // a second one ends it at once
}

static bool show_progress(void *context, float share) {
	Progress *progress = context;
	int percent = (int)(share * 100.0f), step = progress->options->terminal ? 1 : 25;
	if (progress->options->quiet || percent < progress->shown + step)
		return !is_cancelled;
	progress->shown = percent - percent % step;
	fprintf(stderr, progress->options->terminal ? "\rbaking: %d %%" : "baking: %d %%\n", progress->shown);
	return !is_cancelled;
}

bool fem_bake_was_cancelled(void) {
	return is_cancelled;
}

static void end_progress(const FemBakeOptions *options) {
	if (!options->quiet && options->terminal)
		fprintf(stderr, "\r              \r");
}

// ---- a render mesh

static FemResult fail_memory(void) {
	return fem_fail(
		FEM_ERROR_MEMORY, "The system gave no memory for the bake: close other programs or use a smaller mesh.");
}

static void print_report(const FemBakedMesh *mesh, const FemBakeInfo *info) {
	printf("%s", mesh->report);
	fem_report_members(&info->tets);
	fem_report_embedding(&info->embedding);
	if (mesh->splinters.splinter_count > 0)
		printf("cut in %.0f ms\n", info->cut_ms);
}

static FemResult bake_surface(const FemBakeOptions *options, FemBakedMesh *out, FemBakeInfo *out_info) {
	Progress progress = {.options = options, .shown = -1};
	FemBakeDef def = fem_default_bake_def();
	FemResult result = fem_import_surface(options->in_path, &out->render);
	if (result != FEM_OK)
		return result;
	def.element_count = options->elements;
	def.plate_layers = options->layers;
	def.weld_distance = options->weld;
	def.surface_regions = options->regions;
	def.sheet_thickness = options->thickness;
	def.wall_thickness = options->wall_thickness;
	def.cut = options->cut;
	def.progress = show_progress;
	def.progress_context = &progress;
	result = fem_bake_render_mesh(&def, out, out_info);
	end_progress(options);
	if (result == FEM_OK && out_info->tets.warning[0])
		fprintf(stderr, "fem_bake: warning: %s\n", out_info->tets.warning);
	if (result == FEM_OK && options->report)
		print_report(out, out_info);
	return result;
}

// ---- a tet mesh

// Splinters of a mesh that has no surface but that of its tets.
static FemResult cut_tet_mesh(const FemBakeOptions *options, FemBakedMesh *mesh) {
	char note[FEM_CUT_NOTE_SIZE];
	Progress progress = {.options = options, .shown = -1};
	FemCutDef def = options->cut;
	FemResult result = fem_baked_mesh_add_tet_surface(mesh);
	def.progress = show_progress;
	def.progress_context = &progress;
	if (result == FEM_OK)
		result = fem_baked_mesh_cut(mesh, &def, note);
	end_progress(options);
	if (result == FEM_OK && note[0])
		fprintf(stderr, "fem_bake: warning: %s\n", note);
	return result;
}

static FemResult take_tet_mesh(const FemBakeOptions *options, FemBakedMesh *out) {
	FemImportInfo *info = FEM_ALLOC_ARRAY(FemImportInfo, 1);
	if (!info)
		return fail_memory();
	FemResult result = fem_import_tet_mesh(options->in_path, &out->tet_mesh, info);
	if (result == FEM_OK) {
		out->region_names = FEM_ALLOC_ARRAY(FemRegionName, info->region_count);
		out->region_name_count = out->region_names ? info->region_count : 0;
		for (int32_t i = 0; i < out->region_name_count; i++) {
			char *name = out->region_names[i].name;
			if (info->regions[i].name[0])
				memcpy(name, info->regions[i].name, FEM_REGION_NAME_SIZE);
			else
				snprintf(name, FEM_REGION_NAME_SIZE, "%g", info->regions[i].value);
		}
	}
	FEM_FREE_ARRAY(info, 1);
	if (result == FEM_OK) {
		char report[FEM_REPORT_SIZE];
		fem_import_report_write(&out->tet_mesh, report, sizeof report);
		result = fem_baked_mesh_set_report(out, report) ? FEM_OK : fail_memory();
	}
	if (result == FEM_OK && options->cut.pattern != FEM_PATTERN_NONE)
		result = cut_tet_mesh(options, out);
	return result;
}

// ---- modes

static FemResult find_modes(const FemBakeOptions *options, FemBakedMesh *mesh) {
	Progress progress = {.options = options, .shown = -1};
	FemResult result = fem_bake_modes(&options->modes, options->density, show_progress, &progress, mesh);
	end_progress(options);
	return result;
}

// ---- the whole

static FemResult check_input(const FemBakeOptions *options) {
	if (fem_import_knows(options->in_path) || fem_surface_import_knows(options->in_path))
		return FEM_OK;
	return fem_fail(FEM_ERROR_FORMAT,
		"%.100s is of no kind that is read: use .obj, .stl, .msh, .vtk, .vtu, .node or .ele, or bake within Godot.",
		options->in_path);
}

FemResult fem_bake_file(const FemBakeOptions *options) {
	FemBakedMesh mesh = {0};
	FemBakeInfo info = {0};
	double start = fem_time_ms();
	FemResult result = check_input(options);
	bool is_tet_mesh = fem_import_knows(options->in_path);
	signal(SIGINT, cancel);
	signal(SIGTERM, cancel);
	if (result == FEM_OK)
		result = is_tet_mesh ? take_tet_mesh(options, &mesh) : bake_surface(options, &mesh, &info);
	if (result == FEM_OK && options->modes.count > 0)
		result = find_modes(options, &mesh);
	if (result == FEM_OK && is_cancelled)
		result = fem_fail(FEM_ERROR_LIMIT, "The bake was cancelled.");
	if (result == FEM_OK)
		result = fem_baked_mesh_save(&mesh, options->out_path);
	if (result == FEM_OK && options->modes.wav_path)
		result = fem_bake_strike(&options->modes, &mesh);
	if (result == FEM_OK && options->vtk_path)
		result = fem_write_vtk(options->vtk_path, &mesh.tet_mesh);
	if (result == FEM_OK && options->report)
		fem_report_mesh(&mesh, fem_time_ms() - start);
	if (result == FEM_OK && options->report_json)
		result = fem_report_json(&mesh, is_tet_mesh ? NULL : &info, options->density);
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
	return result;
}
