#include "baking/bake.h"

#include "baking/stretch.h"
#include "baking/surface_regions.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "base/timing.h"

#include <math.h>
#include <string.h>

#define TETS_DONE 0.85f      // share of the work that is done when the tets are made ...
#define EMBEDDING_DONE 0.95f // ... and vertices tied to them; for progress bars, roughly
#define CUT_SHARE 0.4f       // of the whole, when there is a pattern: it comes after both; roughly
#define MODES_SHARE 0.2f     // of the whole, when modes are wanted: they come last; roughly

static FemResult fail_memory(void) {
	return fem_fail(
		FEM_ERROR_MEMORY, "The system gave no memory for the bake: close other programs or use a smaller mesh.");
}

// ---- progress

typedef struct Progress {
	FemProgress *progress; // of the caller, may be null
	void *context;
	bool stopped;
	float first, share; // of the stage at hand: where it begins and how much it is
	float most; // largest share told so far: cutting may begin anew with fewer splinters, and progress never goes back
} Progress;

static bool goes_on(void *context) {
	Progress *progress = context;
	if (!progress->stopped && progress->progress)
		progress->stopped = !progress->progress(progress->context, progress->most);
	return !progress->stopped;
}

static bool tell(Progress *progress, float share) {
	progress->most = fmaxf(progress->most, progress->first + progress->share * share);
	return goes_on(progress);
}

static bool tell_of_stage(void *context, float share) {
	return tell(context, share);
}

static bool tell_of_tets(void *context, float share) {
	return tell(context, TETS_DONE * share);
}

// ---- stages

// All surfaces in a row, as the embedding counts their vertices.
typedef struct Joined {
	FemVec3 *vertices;
	int32_t *triangles;
	int32_t vertex_count, index_count;
} Joined;

static void joined_free(Joined *joined) {
	FEM_FREE_ARRAY(joined->vertices, joined->vertex_count);
	FEM_FREE_ARRAY(joined->triangles, joined->index_count);
}

static FemResult join_surfaces(const FemRenderMesh *render, Joined *out) {
	int64_t vertices = fem_render_mesh_vertex_count(render), indices = 3 * fem_render_mesh_triangle_count(render);
	int32_t vertex = 0, index = 0;
	*out = (Joined){0};
	if (vertices > INT32_MAX / 4 || indices > INT32_MAX / 4)
		return fem_fail(FEM_ERROR_LIMIT, "The mesh has %.0f triangles: use a coarser one.", (double)indices / 3.0);
	if (vertices == 0 || indices == 0)
		return fem_fail(FEM_ERROR_MESH, "The mesh has no triangles: use one that has a surface.");
	*out = (Joined){.vertices = FEM_ALLOC_ARRAY(FemVec3, vertices),
		.triangles = FEM_ALLOC_ARRAY(int32_t, indices),
		.vertex_count = (int32_t)vertices,
		.index_count = (int32_t)indices};
	if (!out->vertices || !out->triangles)
		return fail_memory();
	for (int32_t s = 0; s < render->surface_count; s++) {
		const FemRenderSurface *surface = &render->surfaces[s];
		memcpy(out->vertices + vertex, surface->positions, sizeof *out->vertices * (size_t)surface->vertex_count);
		for (int32_t i = 0; i < surface->index_count; i++)
			out->triangles[index++] = surface->indices[i] + vertex;
		vertex += surface->vertex_count;
	}
	return FEM_OK;
}

static FemResult copy_tets(const FemTetMesh *tets, FemTetArrays *out) {
	size_t nodes = (size_t)tets->node_count, count = (size_t)tets->tet_count;
	*out = (FemTetArrays){.node_count = tets->node_count,
		.tet_count = tets->tet_count,
		.nodes = FEM_ALLOC_ARRAY(FemVec3, nodes),
		.tets = FEM_ALLOC_ARRAY(int32_t, 4 * count),
		.tet_plates = FEM_ALLOC_ARRAY(float, count)};
	if (!out->nodes || !out->tets || !out->tet_plates)
		return fail_memory();
	memcpy(out->nodes, tets->nodes, sizeof *out->nodes * nodes);
	memcpy(out->tets, tets->tets, 4 * sizeof *out->tets * count);
	if (tets->tet_plates)
		memcpy(out->tet_plates, tets->tet_plates, sizeof *out->tet_plates * count);
	return FEM_OK;
}

static FemResult tie_vertices(const FemSoup *soup, FemBakeInfo *info, FemBakedEmbedding *out) {
	const FemTetMesh *tets = &info->tets;
	FemEmbedMesh mesh = {tets->node_count, tets->tet_count, tets->nodes, tets->tets, tets->tet_members};
	FemResult result = fem_embed(&mesh, soup->vertices, tets->vertex_members, soup->vertex_count, &info->embedding);
	if (result != FEM_OK)
		return result;
	if (!fem_baked_embedding_reserve(out, soup->vertex_count))
		return fail_memory();
	for (int32_t i = 0; i < soup->vertex_count; i++) {
		out->tets[i] = info->embedding.tets[i];
		memcpy(out->weights[i], info->embedding.weights[i], sizeof out->weights[i]);
	}
	return FEM_OK;
}

// Adds splinters, and what there is to say of them to the report.
static FemResult cut_splinters(
	Progress *progress, const FemCutDef *def, FemBakedMesh *mesh, FemBakeInfo *info, char report[FEM_REPORT_SIZE]) {
	char note[FEM_CUT_NOTE_SIZE] = "";
	FemCutDef cut = *def;
	progress->first += progress->share;
	progress->share = CUT_SHARE;
	cut.progress = tell_of_stage;
	cut.progress_context = progress;
	double start = fem_time_ms();
	FemResult result = fem_baked_mesh_cut(mesh, &cut, note);
	info->cut_ms = fem_time_ms() - start;
	if (result == FEM_OK)
		fem_bake_report_add_cut(&mesh->splinters, note, report, FEM_REPORT_SIZE);
	return result;
}

static bool wants_modes(const FemBakeDef *def) {
	return def->mode_count > 0 && def->compute_modes;
}

// Of any frequency: what is audible or seen of them depends on the material that a body has.
static FemResult find_modes(Progress *progress, const FemBakeDef *def, FemBakedMesh *mesh) {
	const FemTetArrays *tets = &mesh->tet_mesh;
	progress->first += progress->share;
	progress->share = MODES_SHARE;
	FemModesDef modes = {
		.node_count = tets->node_count,
		.node_positions = tets->nodes,
		.tet_count = tets->tet_count,
		.tets = tets->tets,
		.tet_plates = tets->tet_plates,
		.materials = &def->mode_material,
		.material_count = 1,
		.mode_count = def->mode_count < FEM_MODES_MAX ? def->mode_count : FEM_MODES_MAX,
		.progress = tell_of_stage,
		.progress_context = progress,
	};
	return def->compute_modes(&modes, &mesh->modes);
}

// ---- whole

static FemResult run_stages(Progress *progress, const FemSoup *soup, const FemBakeDef *def, FemUnstretched *kept,
	FemBakedMesh *mesh, FemBakeInfo *info) {
	FemBakeDef inner = *def;
	inner.progress = tell_of_tets;
	inner.progress_context = progress;
	FemResult result = fem_tetrahedralize(soup, &inner, &info->tets);
	if (result == FEM_OK && !tell(progress, TETS_DONE))
		result = fem_fail_stopped();
	if (result == FEM_OK)
		result = copy_tets(&info->tets, &mesh->tet_mesh);
	if (result == FEM_OK)
		result = tie_vertices(soup, info, &mesh->embedding);
	if (result == FEM_OK && def->surface_regions && mesh->render.surface_count > 1)
		result = fem_regions_from_surfaces(mesh);
	if (result != FEM_OK)
		return result;
	if (!tell(progress, EMBEDDING_DONE))
		return fem_fail_stopped();
	if (fem_mesh_diagnose(soup, &info->tets, &info->diagnosis) != FEM_OK)
		info->diagnosis = (FemDiagnosis){0};
	char report[FEM_REPORT_SIZE];
	fem_bake_report_write(&info->tets, &info->embedding, &info->diagnosis, report, sizeof report);
	if (mesh->render.has_poses)
		fem_bake_report_add_poses(report, sizeof report);
	if (def->cut.pattern != FEM_PATTERN_NONE)
		result = cut_splinters(progress, &def->cut, mesh, info, report);
	if (result == FEM_OK)
		fem_unstretch(mesh, kept);
	if (result == FEM_OK && wants_modes(def))
		result = find_modes(progress, def, mesh);
	if (result == FEM_OK && !fem_baked_mesh_set_report(mesh, report))
		return fail_memory();
	if (result == FEM_OK)
		tell(progress, 1.0f);
	return result;
}

static FemResult bake_soup(
	const FemSoup *soup, const FemBakeDef *def, FemUnstretched *kept, FemBakedMesh *mesh, FemBakeInfo *info) {
	float tets_share =
		1.0f - (def->cut.pattern != FEM_PATTERN_NONE ? CUT_SHARE : 0.0f) - (wants_modes(def) ? MODES_SHARE : 0.0f);
	Progress progress = {def->progress, def->progress_context, false, 0.0f, tets_share, 0.0f};
	FemStopCheck check;
	fem_stop_check_begin(&check, goes_on, &progress);
	FemResult result = run_stages(&progress, soup, def, kept, mesh, info);
	fem_stop_check_end(&check);
	info->cancelled = progress.stopped;
	return progress.stopped ? fem_fail_stopped() : result;
}

FemResult fem_bake_render_mesh(const FemBakeDef *def, FemBakedMesh *mesh, FemBakeInfo *out_info) {
	Joined joined = {0};
	FemUnstretched kept = {0};
	*out_info = (FemBakeInfo){0};
	if (!def)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no def: make one by fem_default_bake_def().");
	FemBakeDef stretched = *def;
	FemResult result = fem_bake_def_check(def);
	if (result == FEM_OK && !fem_stretch_is_one(def->stretch)) {
		stretched.cut = fem_stretched_cut(&def->cut, def->stretch);
		result = fem_stretch_render_mesh(&mesh->render, def->stretch, &kept) ? FEM_OK : fail_memory();
	}
	if (result == FEM_OK)
		result = join_surfaces(&mesh->render, &joined);
	if (result == FEM_OK) {
		FemSoup soup = {joined.vertex_count, joined.vertices, joined.index_count / 3, joined.triangles};
		result = bake_soup(&soup, &stretched, &kept, mesh, out_info);
	}
	fem_unstretched_free(&kept, &mesh->render);
	joined_free(&joined);
	return result;
}

void fem_bake_info_free(FemBakeInfo *info) {
	fem_tet_mesh_free(&info->tets);
	fem_embedding_free(&info->embedding);
	*info = (FemBakeInfo){0};
}
