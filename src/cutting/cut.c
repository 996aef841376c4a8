// Cutting as a whole: the mesh made ready, the pattern's cells, the solid, the splinters.
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "cutting/cut_artist.h"
#include "cutting/cut_caps.h"
#include "cutting/cut_def.h"
#include "cutting/cut_mesh.h"
#include "cutting/cut_output.h"
#include "cutting/cut_patterns.h"
#include "cutting/cut_shells.h"

#include <stdio.h>
#include <string.h>

// Cells a tet by default. "Significantly smaller than the tetrahedral elements" (P&O09 section 5) are splinters by
// their edges, which are rough: with three cells a tet and cuts of twice as many triangles broken slabs looked the
// same, had 105,000 triangles for 600 tets, and took half of the time of a blow to follow their pieces. Chosen by eye.
#define SPLINTERS_A_TET 1.0
#define WOOD_SPLINTERS_A_TET 0.6  // the same of wood, whose sections are bundles of cells; chosen by eye
#define PANE_SPLINTERS_A_TET 0.35 // the same of panes, whose splinters are long, and seen as a whole; chosen by eye
// The same of other things of glass: a vase breaks into large splinters, not into gravel; chosen by eye.
#define SHELLS_A_TET 0.15
// Most splinters where a def does not say how many; chosen: some 200,000 triangles with smooth cuts.
#define SPLINTERS_DEFAULT_MAX 4000
#define TRIANGLES_A_SPLINTER 45.0 // about, with smooth cuts ...
#define TRIANGLES_ROUGH 15.0      // ... and so many more with rough ones
#define TRIANGLES_A_UNIT 400.0    // about, of a brick with its joints or a section
#define LIMIT_TRIES 4             // to meet triangle_max: guesses are right within a factor of 2
#define ROUGH_SPACING 0.6         // between added vertices, in shares of a splinter's size; chosen by eye
#define ROUGH_AMPLITUDE 0.10      // at roughness 1, in shares of a splinter's size; chosen by eye
#define WOOD_ROUGHNESS 0.3        // of what the def asks for: fibres part smoothly; chosen by eye
#define CAPPED_LEAST 0.6          // of the tets' volume that must lie within a mesh whose holes are closed; chosen
#define CAPPED_MOST 1.6           // volume within such a mesh, over what of it lies in the tets; chosen
#define CAPPED_SAMPLES 1000       // tets that are looked at for this; chosen
#define BALL_SHARE 0.52           // volume of a ball over that of the cube around it: pi / 6
#define WOOD_TRIANGLES 2.8        // times as many as of other splinters, about: a section is a bundle of cells
#define SHRINK_BELOW 0.9          // of the triangles allowed: what the next try aims at; chosen
#define SHRINK_LEAST 0.1          // of what there was: fewest splinters of the next try; chosen
#define GUESS_FROM 0.5 // of the splinters: only when less than this would fit they are fewer from the start; chosen

typedef struct Cut {
	FemBakedMesh *mesh;
	const FemCutDef *def;
	FemCutDef own_def;               // with the direction of the fibres
	FemCutMesh render, capped, tets; // the last two only when they are needed
	const FemCutMesh *surface;       // what is cut: the render mesh, or the one with its holes closed
	FemCutShells shells;             // of it, when they are needed
	FemCutSites sites;
	FemCutDiagram diagram;
	FemCutSolid outside, inside;
	double *volumes;
	int32_t *surface_labels; // [polygon], FEM_PATTERN_SURFACES
	int32_t label_count;
	double shrink; // of the number of splinters, to meet triangle_max
	char note[FEM_CUT_NOTE_SIZE];
} Cut;

static FemResult fail_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: ask for fewer pieces.");
}

static FemResult stop(void) {
	return fem_fail(FEM_ERROR_LIMIT, "The cutting was cancelled.");
}

static bool tell(const Cut *cut, float share) {
	return !cut->def->progress || cut->def->progress(cut->def->progress_context, share);
}

static void note(Cut *cut, const char *sentence) {
	size_t length = strlen(cut->note);
	snprintf(cut->note + length, sizeof cut->note - length, "%s%s", length ? " " : "", sentence);
}

// ---- cells

static double tet_volume(const FemTetArrays *tets, int32_t t) {
	FemVec3d p[4];
	for (int v = 0; v < 4; v++)
		p[v] = fem_vec3d_from(tets->nodes[tets->tets[4 * (size_t)t + (size_t)v]]);
	FemVec3d a = fem_vec3d_sub(p[1], p[0]), b = fem_vec3d_sub(p[2], p[0]), c = fem_vec3d_sub(p[3], p[0]);
	return fabs(fem_vec3d_dot(a, fem_vec3d_cross(b, c))) / 6.0;
}

// The count wanted from count, size or tets, within what the limit of triangles and the engine allow.
static void size_splinters(Cut *cut, FemCutBody *body) {
	const FemCutDef *def = cut->def;
	double size = (double)def->splinter_size;
	double by_tets = SPLINTERS_A_TET;
	if (def->pattern == FEM_PATTERN_WOOD)
		by_tets = WOOD_SPLINTERS_A_TET;
	else if (def->pattern == FEM_PATTERN_GLASS)
		by_tets = fem_cut_is_pane(body) ? PANE_SPLINTERS_A_TET : SHELLS_A_TET;
	double wanted = def->splinter_count > 0 ? (double)def->splinter_count
		: size > 0.0                        ? body->volume / (size * size * size * BALL_SHARE)
											: fmin(by_tets * body->tets->tet_count, SPLINTERS_DEFAULT_MAX);
	double each = TRIANGLES_A_SPLINTER + (def->roughness > 0.0f ? TRIANGLES_ROUGH : 0.0);
	each *= def->pattern == FEM_PATTERN_WOOD ? WOOD_TRIANGLES : 1.0;
	double most = fmax(def->triangle_max / each, 2.0) * cut->shrink;
	if (wanted > fmin(most, FEM_CUT_SPLINTERS_MAX)) {
		char sentence[160];
		snprintf(sentence, sizeof sentence,
			"About %.0f pieces were made instead of %.0f, to stay within %d triangles more than the outside has.",
			fmin(most, FEM_CUT_SPLINTERS_MAX), wanted, def->triangle_max);
		if (!cut->note[0])
			note(cut, sentence);
		wanted = fmin(most, FEM_CUT_SPLINTERS_MAX);
	}
	body->splinter_count = (int32_t)fmax(floor(wanted + 0.5), 1.0);
	body->splinter_size = cbrt(body->volume / body->splinter_count / BALL_SHARE);
}

static FemResult lay_out(Cut *cut) {
	const FemTetArrays *tets = &cut->mesh->tet_mesh;
	FemCutDef def = *cut->def;
	FemCutBody body = {
		.def = &def, .tets = tets, .frame = cut->render.frame, .box = cut->render.box, .volumes = cut->volumes};
	fem_cut_def_enlarge(&def, (float)(1.0 / cbrt(cut->shrink)));
	for (int32_t t = 0; t < tets->tet_count; t++) {
		body.volume += tet_volume(tets, t);
		cut->volumes[t] = body.volume;
	}
	fem_cut_mesh_bounds(&cut->render, body.low, body.high);
	size_splinters(cut, &body);
	double half[3];
	for (int axis = 0; axis < 3; axis++) {
		double low = body.low[axis], high = body.high[axis];
		for (int32_t n = 0; n < tets->node_count; n++) {
			FemVec3d at = fem_frame_to_unit(&body.frame, fem_vec3d_from(tets->nodes[n]));
			double x = axis == 0 ? at.x : axis == 1 ? at.y : at.z;
			low = fmin(low, x);
			high = fmax(high, x);
		}
		half[axis] = fmax(-low, high);
	}
	fem_cut_sites_free(&cut->sites);
	fem_cut_diagram_free(&cut->diagram);
	fem_cut_pattern(&body, &cut->sites);
	if (body.is_limited)
		note(cut,
			"The pattern is far too fine for this body, so random pieces were made: use larger sections or bricks.");
	double size = body.splinter_size / body.frame.size, rough = (double)def.roughness;
	if (def.pattern == FEM_PATTERN_GLASS)
		rough = 0.0; // breaks smoothly
	if (def.pattern == FEM_PATTERN_WOOD)
		rough *= WOOD_ROUGHNESS;
	double spacing = def.pattern == FEM_PATTERN_WOOD ? 2.0 * ROUGH_SPACING : ROUGH_SPACING;
	cut->outside.noise = (FemCutNoise){.spacing = rough > 0.0 ? spacing * size : 0.0,
		.amplitude = ROUGH_AMPLITUDE * rough * size,
		.outline = ROUGH_AMPLITUDE * rough * size,
		.scale = 0.5 * size,
		.seed = fem_hash_word(FEM_HASH_START, def.seed + 5u)};
	FemResult result =
		def.joins && !cut->sites.failed ? fem_cut_join_labels(&cut->sites, tets, &cut->render.frame) : FEM_OK;
	return result == FEM_OK ? fem_cut_diagram_create(&cut->diagram, &cut->sites, half) : result;
}

// ---- solid

static void give(const Cut *cut, const FemCutMesh *mesh, FemCutSolid *solid) {
	FemCutNoise noise = cut->outside.noise;
	*solid = (FemCutSolid){.diagram = &cut->diagram,
		.noise = noise,
		.mesh_vertex_count = mesh->vertex_count,
		.triangle_count = mesh->triangle_count,
		.places = mesh->places,
		.points = mesh->points,
		.triangles = (const int32_t(*)[3])mesh->triangles,
		.winding = &mesh->winding,
		.progress = cut->def->progress,
		.progress_context = cut->def->progress_context};
}

static FemResult result_of(const FemCutSolid *solid) {
	return solid->is_stopped ? stop() : solid->failed ? fail_memory() : FEM_OK;
}

static FemResult cut_outside(Cut *cut) {
	FemCutNoise noise = cut->outside.noise;
	fem_cut_solid_free(&cut->outside);
	cut->outside.noise = noise;
	give(cut, cut->surface, &cut->outside);
	fem_cut_solid_outside(&cut->outside);
	return result_of(&cut->outside);
}

static FemResult try_closed(Cut *cut, bool *out_closed) {
	FemResult result = cut_outside(cut);
	if (result == FEM_OK && cut->shells.count > 0)
		cut->outside.shells = &cut->shells;
	if (result == FEM_OK)
		fem_cut_solid_inside(&cut->outside);
	if (result == FEM_OK)
		result = result_of(&cut->outside);
	*out_closed = result == FEM_OK && !cut->outside.fault;
	return result;
}

static FemResult try_counted(Cut *cut, bool *out_closed) {
	FemResult result = cut_outside(cut);
	cut->outside.counts_windings = true;
	if (result == FEM_OK)
		fem_cut_solid_inside(&cut->outside);
	if (result == FEM_OK)
		result = result_of(&cut->outside);
	*out_closed = result == FEM_OK && !cut->outside.fault;
	return result;
}

// A mesh that crosses itself may consist of shells that do not. One that crosses itself all the same, be it that
// rounding to whole numbers made a thin place do so, is cut as often as it goes round a place.
static FemResult cut_closed(Cut *cut, bool *out_closed) {
	FemResult result = try_closed(cut, out_closed);
	if (result == FEM_OK && !*out_closed && !cut->shells.of_triangle) {
		result = fem_cut_shells_create(&cut->shells, cut->surface);
		if (result == FEM_OK && cut->shells.count > 0)
			result = try_closed(cut, out_closed);
	}
	return result == FEM_OK && !*out_closed ? try_counted(cut, out_closed) : result;
}

static FemResult cut_apart(Cut *cut) {
	FemResult result = lay_out(cut);
	cut->outside.noise.outline = 0.0;
	cut->outside.noise.spacing = 0.0; // outlines of both surfaces must look alike
	if (result == FEM_OK)
		result = cut_outside(cut);
	if (result == FEM_OK && !cut->tets.places)
		result = fem_cut_mesh_from_tets(&cut->tets, &cut->mesh->tet_mesh, &cut->render.frame);
	if (result != FEM_OK)
		return result;
	fem_cut_solid_free(&cut->inside);
	give(cut, &cut->tets, &cut->inside);
	fem_cut_solid_outside(&cut->inside);
	if (!cut->inside.failed)
		fem_cut_solid_inside(&cut->inside);
	result = result_of(&cut->inside);
	if (result == FEM_OK && cut->inside.fault)
		note(cut, "Its tets cross themselves too, so some cuts are missing.");
	return result;
}

static FemResult make_splinters(Cut *cut, bool is_apart) {
	FemCutSource source = {.render = &cut->mesh->render,
		.tets = &cut->mesh->tet_mesh,
		.frame = cut->render.frame,
		.sources = cut->surface->sources,
		.rim_corners = cut->surface->rim_corners,
		.is_flipped = cut->surface->is_flipped,
		.outside = &cut->outside,
		.inside = is_apart ? &cut->inside : &cut->outside,
		.is_apart = is_apart,
		.cell_splinters = cut->surface_labels};
	if (cut->def->pattern == FEM_PATTERN_WOOD) {
		source.grain = cut->def->grain;
	}
	fem_splinter_mesh_free(&cut->mesh->splinters);
	return fem_cut_output(&source, &cut->mesh->splinters);
}

// ---- whole

static FemResult label_polygons(Cut *cut) {
	FemArtistSplinters splinters = {0};
	cut->label_count = cut->outside.polygon_count;
	cut->surface_labels = FEM_ALLOC_ARRAY(int32_t, cut->label_count);
	FemResult result =
		cut->surface_labels ? fem_artist_splinters_create(&splinters, &cut->render, &cut->mesh->render) : fail_memory();
	for (int32_t p = 0; result == FEM_OK && p < cut->label_count; p++)
		cut->surface_labels[p] = splinters.labels[cut->outside.polygons[p].triangle];
	if (splinters.open_count > 0) {
		char sentence[160];
		snprintf(sentence, sizeof sentence,
			"%d of the mesh's own pieces are not closed, and will look hollow: close them in the modelling program.",
			splinters.open_count);
		note(cut, sentence);
	}
	fem_artist_splinters_free(&splinters);
	return result;
}

static FemResult take_surfaces(Cut *cut) {
	fem_cut_sites_add(&cut->sites, (FemVec3d){0}, 0.0, cut->sites.splinter_count++);
	for (int n = 0; n < 3; n++)
		cut->sites.metric[n][n] = 1.0;
	FemResult result = fem_cut_diagram_create(&cut->diagram, &cut->sites, (double[3]){0.5, 0.5, 0.5});
	if (result == FEM_OK)
		result = cut_outside(cut);
	if (result == FEM_OK)
		result = label_polygons(cut);
	return result == FEM_OK ? make_splinters(cut, false) : result;
}

// Whether a closed mesh holds about what the tets do. Where it goes round a place twice that counts twice on both sides
// of the comparison.
static bool is_of_tets(const Cut *cut, const FemCutMesh *mesh) {
	const FemTetArrays *tets = &cut->mesh->tet_mesh;
	double all = 0.0, within = 0.0, wound = 0.0, cube = pow(mesh->frame.size, 3.0);
	int32_t stride = tets->tet_count / CAPPED_SAMPLES + 1;
	for (int32_t t = 0; t < tets->tet_count; t += stride) {
		FemVec3d middle = {0};
		for (int v = 0; v < 4; v++)
			middle = fem_vec3d_add(
				middle, fem_vec3d_scale(fem_vec3d_from(tets->nodes[tets->tets[4 * (size_t)t + (size_t)v]]), 0.25));
		double volume = tet_volume(tets, t);
		double winding = fem_winding_number(&mesh->winding, fem_frame_to_unit(&mesh->frame, middle));
		all += volume;
		within += fabs(winding) > 0.5 ? volume : 0.0;
		wound += volume * winding;
	}
	wound *= cut->volumes[tets->tet_count - 1] / all;
	return within > CAPPED_LEAST * all && mesh->volume * cube < CAPPED_MOST * wound;
}

// Holes are closed where the tets fill them: not those of a sheet, which has a thickness but no inside.
static FemResult close_holes(Cut *cut) {
	FemResult result = cut->capped.places ? FEM_OK : fem_cut_mesh_cap(&cut->capped, &cut->render);
	if (result == FEM_OK && is_of_tets(cut, &cut->capped))
		cut->surface = &cut->capped;
	return result;
}

static void note_open(Cut *cut, bool is_closed) {
	char sentence[256];
	int32_t open = cut->render.open_edges;
	if (is_closed && open == 0)
		return;
	if (is_closed)
		snprintf(sentence, sizeof sentence,
			"The mesh has %d open edges: its holes were closed to cut it, as flat as their rims are; close them in the "
			"modelling program to give them a look.",
			open);
	else
		snprintf(sentence, sizeof sentence,
			"The mesh cannot be cut into closed pieces, since %s%.0d%s: cuts follow the surface of its tetrahedra "
			"instead; close the mesh in the modelling program for neater ones.",
			open ? "it has " : "its surface crosses itself", open, open ? " open edges" : "");
	note(cut, sentence);
}

static FemResult cut_by_pattern(Cut *cut) {
	bool is_closed = false;
	cut->surface = &cut->render;
	FemResult result = lay_out(cut);
	if (result == FEM_OK && cut->render.open_edges > 0)
		result = close_holes(cut);
	if (result == FEM_OK && cut->surface->open_edges == 0)
		result = cut_closed(cut, &is_closed);
	if (result != FEM_OK)
		return result;
	note_open(cut, is_closed);
	if (!is_closed) {
		cut->surface = &cut->render;
		result = cut_apart(cut);
	}
	return result == FEM_OK ? make_splinters(cut, !is_closed) : result;
}

static void note_larger(Cut *cut) {
	if (cut->shrink >= 1.0 || fem_cut_def_unit(cut->def) <= 0.0)
		return;
	char sentence[160];
	snprintf(sentence, sizeof sentence,
		"%s were made %.2g times as large, to stay within %d triangles more than the outside has.",
		cut->def->pattern == FEM_PATTERN_BRICK ? "Bricks" : "Sections", 1.0 / cbrt(cut->shrink),
		cut->def->triangle_max);
	note(cut, sentence);
}

// The first guess for bricks and sections of a given size: cutting all of them first would take long.
static void guess_shrink(Cut *cut) {
	double unit = fem_cut_def_unit(cut->def), most = cut->def->triangle_max, volume = 0.0;
	for (int32_t t = 0; t < cut->mesh->tet_mesh.tet_count; t++)
		volume += tet_volume(&cut->mesh->tet_mesh, t);
	double share = unit > 0.0 ? most * unit / (volume * TRIANGLES_A_UNIT) : 1.0;
	cut->shrink = share < GUESS_FROM ? share : 1.0;
}

// Fewer splinters as long as there are more triangles beyond those of the outside than wanted.
static FemResult cut_within_limit(Cut *cut) {
	FemResult result = FEM_OK;
	guess_shrink(cut);
	for (int n = 0; n < LIMIT_TRIES && result == FEM_OK; n++) {
		cut->note[0] = 0;
		note_larger(cut);
		result = cut_by_pattern(cut);
		double outer = (double)fem_render_mesh_triangle_count(&cut->mesh->render);
		double added = cut->mesh->splinters.index_count / 3.0 - outer, most = cut->def->triangle_max;
		if (added <= most)
			return result;
		cut->shrink *= fmax(SHRINK_BELOW * most / added, SHRINK_LEAST);
	}
	note(cut, "There are more triangles than triangle_max: use larger pieces, sections or bricks.");
	return result;
}

static FemResult cut_mesh(Cut *cut) {
	FemResult result = fem_cut_mesh_from_render(&cut->render, &cut->mesh->render);
	cut->surface = &cut->render;
	cut->volumes = FEM_ALLOC_ARRAY(double, cut->mesh->tet_mesh.tet_count);
	if (result == FEM_OK && !cut->volumes)
		result = fail_memory();
	if (result == FEM_OK && !tell(cut, 0.0f))
		result = stop();
	if (result == FEM_OK)
		result = cut->def->pattern == FEM_PATTERN_SURFACES ? take_surfaces(cut) : cut_within_limit(cut);
	if (result == FEM_OK && !tell(cut, 1.0f))
		result = stop();
	if (result != FEM_OK)
		fem_splinter_mesh_free(&cut->mesh->splinters);
	return result;
}

static FemVec3 unscaled(FemVec3 v, FemVec3 scale) {
	return (FemVec3){v.x / scale.x, v.y / scale.y, v.z / scale.z};
}

FemResult fem_baked_mesh_cut(FemBakedMesh *mesh, const FemCutDef *def, char out_note[FEM_CUT_NOTE_SIZE]) {
	if (out_note)
		out_note[0] = 0;
	FemResult result = fem_cut_def_check(def, mesh);
	if (result != FEM_OK)
		return result;
	fem_splinter_mesh_free(&mesh->splinters);
	if (def->pattern == FEM_PATTERN_NONE)
		return FEM_OK;
	Cut *cut = FEM_ALLOC_ARRAY(Cut, 1);
	if (!cut)
		return fail_memory();
	cut->mesh = mesh;
	cut->own_def = *def;
	cut->def = &cut->own_def;
	if (def->pattern == FEM_PATTERN_WOOD && fem_vec3_dot(def->grain, def->grain) <= FEM_CUT_NO_DIRECTION)
		cut->own_def.grain = unscaled(fem_tets_longest_axis(&mesh->tet_mesh, def->scale), def->scale);
	result = cut_mesh(cut);
	if (out_note)
		memcpy(out_note, cut->note, FEM_CUT_NOTE_SIZE);
	FEM_FREE_ARRAY(cut->surface_labels, cut->label_count);
	FEM_FREE_ARRAY(cut->volumes, mesh->tet_mesh.tet_count);
	fem_cut_solid_free(&cut->inside);
	fem_cut_solid_free(&cut->outside);
	fem_cut_diagram_free(&cut->diagram);
	fem_cut_sites_free(&cut->sites);
	fem_cut_mesh_free(&cut->render);
	fem_cut_mesh_free(&cut->capped);
	fem_cut_mesh_free(&cut->tets);
	fem_cut_shells_free(&cut->shells);
	FEM_FREE_ARRAY(cut, 1);
	return result;
}
