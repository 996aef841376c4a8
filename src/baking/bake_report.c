#include "baking/bake_report.h"

#include "filling/tet_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FLAT_ANGLE 5.0 // degrees: what the engine's quality_clamp begins to soften, about
// Of the size: a vertex farther from its tet than this is told of; chosen, what an eye sees of a whole prop.
#define COVERAGE_WARNED 0.01
#define DENSITY_TOLD 1000.0 // kg/m^3, of water: the default of a material
#define THICKER_TOLD 1.05   // times as thick as the mesh says: what is worth telling; chosen
#define HEAVY_VOLUME 0.05   // m^3: more than one person lifts, if it were water ...
#define HEAVY_SIZE 3.0      // m: ... and as small as furniture; both chosen
// A tick in which a body breaks, over one of the same body whole and elastic: the slab of 1,152 tets takes 7.1 ms on
// the mean after the blow, bar2k 0.2 us a tet.
#define BREAKING_TIMES 30.0
#define EXCEEDED_TOLD 1.25 // times the count that was asked for: more is told of; chosen

typedef struct Text {
	char *out;
	size_t capacity, length;
} Text;

const char *fem_member_kind_name(FemMemberKind kind) {
	static const char *const names[] = {"compact", "plate", "beam", "thin wall", "sheet", "wall"};
	return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "part";
}

static void say(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(Text *text, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	int wrote = vsnprintf(text->out + text->length, text->capacity - text->length, format, arguments);
	va_end(arguments);
	if (wrote > 0 && (size_t)wrote < text->capacity - text->length)
		text->length += (size_t)wrote;
	text->out[text->length] = 0;
}

static void say_embedding(Text *text, const FemEmbedding *embedding, double size) {
	if (embedding->limited > 0)
		say(text,
			"%d vertices stick out of the tetrahedra and are drawn up to %.3g m from their place: raise the element "
			"count.\n",
			embedding->limited, (double)embedding->max_error);
	if ((double)embedding->max_outside > COVERAGE_WARNED * size && size > 0.0)
		say(text, "Vertices lie up to %.3g m (%.1f %% of the size) outside the tetrahedra: raise the element count.\n",
			(double)embedding->max_outside, 100.0 * (double)embedding->max_outside / size);
}

static void say_members(Text *text, const FemTetMesh *tets, const int kinds[FEM_MEMBER_KIND_COUNT]) {
	say(text, "Parts:");
	for (int kind = 0; kind < FEM_MEMBER_KIND_COUNT; kind++)
		if (kinds[kind] > 0)
			say(text, " %d %s", kinds[kind], fem_member_kind_name((FemMemberKind)kind));
	say(text, "; %.4g m3, smallest angle %.1f degrees", (double)tets->volume, (double)tets->min_dihedral);
}

// Sentences of the diagnosis that would be no news here.
static FemDiagnosis worth_telling(
	const FemDiagnosis *diagnosis, const FemTetMesh *tets, const int kinds[FEM_MEMBER_KIND_COUNT]) {
	FemDiagnosis told = *diagnosis;
	told.useless_triangles = 0; // a note: the spheres of Godot itself have some at their poles
	if (kinds[FEM_MEMBER_THIN_WALL] == 0)
		told.thin_share = 0.0; // plates and beams are thin without harm
	if (kinds[FEM_MEMBER_SHEET] > 0 && told.wall <= 0.0)
		told.wall = told.size; // what encloses nothing was given a thickness
	if (kinds[FEM_MEMBER_SHEET] == tets->member_count)
		told.open_edges = 0; // and has no holes to fill
	if (tets->warning[0])
		told.stiffness_excess = 0.0; // the warning names the member
	return told;
}

// Walls that floats could not hold as thin as they are.
static void say_thicker(Text *text, const FemTetMesh *tets) {
	for (int32_t i = 0; i < tets->member_count; i++) {
		const FemTetMember *member = &tets->members[i];
		double thickness = (double)member->thickness, thicker = (double)member->thicker;
		if (!(thicker > THICKER_TOLD))
			continue;
		say(text,
			FEM_REPORT_NOTE "Walls of %.2g m are too thin to be computed: they are %.2g m thick, and %.3g times as "
							"heavy; set mass_override if that matters.\n",
			thickness / thicker, thickness, thicker);
		return;
	}
}

// What was done otherwise than the count or the shape would have it.
static void say_walls(Text *text, const FemTetMesh *tets, const int kinds[FEM_MEMBER_KIND_COUNT]) {
	bool exceeded = (double)tets->tet_count > EXCEEDED_TOLD * tets->asked_count && tets->asked_count > 0;
	if (exceeded)
		say(text, FEM_REPORT_NOTE "%d elements instead of %d, so that the tetrahedra reach every vertex of thin %s.\n",
			tets->tet_count, tets->asked_count,
			kinds[FEM_MEMBER_WALL] + kinds[FEM_MEMBER_SHEET] > 0 ? "walls" : "parts");
	if (kinds[FEM_MEMBER_THIN_WALL] > 0)
		say(text,
			FEM_REPORT_NOTE
			"%d of %d parts are thin without being plates, beams or walls of two sides; these are filled with "
			"cells of a lattice, which bend too stiffly.\n",
			kinds[FEM_MEMBER_THIN_WALL], tets->member_count);
}

// What it weighs, how well it lies in its tets and what it takes.
static void say_figures(
	Text *text, const FemTetMesh *tets, const FemEmbedding *embedding, const FemDiagnosis *diagnosis) {
	if (!(diagnosis->size > 0.0))
		return;
	say(text, FEM_REPORT_NOTE "%.3g kg at %.0f kg/m3", (double)tets->volume * DENSITY_TOLD, DENSITY_TOLD);
	if (diagnosis->volume_ratio > 0.0)
		say(text, ", %.0f %% of the mesh's volume", 100.0 * diagnosis->volume_ratio);
	say(text,
		"; the farthest vertex lies %.2g %% of the size outside the tetrahedra; a tick takes about %.2g ms awake and "
		"whole, %.2g ms while it breaks.\n",
		100.0 * (double)embedding->max_outside / diagnosis->size, diagnosis->step_ms,
		diagnosis->step_ms * BREAKING_TIMES);
	if (fem_diagnosis_scale(diagnosis) != 1.0 && !diagnosis->scale_suspect)
		say(text, FEM_REPORT_NOTE "It is %.3g m long: scale it by %g at import if it should be %.3g m.\n",
			diagnosis->size, fem_diagnosis_scale(diagnosis), diagnosis->size * fem_diagnosis_scale(diagnosis));
	if (tets->left_out_parts > 0)
		say(text,
			FEM_REPORT_NOTE "%d small parts of %d triangles enclose nothing and got no tetrahedra; they move with the "
							"nearest ones.\n",
			tets->left_out_parts, tets->left_out_triangles);
}

// A vessel that is filled to the brim: open at the top, or heavier than anybody could lift.
static void say_solid(Text *text, const FemTetMesh *tets, const FemDiagnosis *diagnosis) {
	double solid = 0.0;
	for (int32_t i = 0; i < tets->member_count; i++)
		solid += tets->members[i].kind == FEM_MEMBER_COMPACT ? (double)tets->members[i].volume : 0.0;
	bool is_heavy = solid > HEAVY_VOLUME && diagnosis->size < HEAVY_SIZE;
	if (solid > 0.0 && diagnosis->size > 0.0 && (is_heavy || diagnosis->open_edges > 0))
		say(text, FEM_REPORT_NOTE "Filled solid, %.3g kg at %.0f kg/m3: set wall_thickness if it is hollow.\n",
			solid * DENSITY_TOLD, DENSITY_TOLD);
}

void fem_bake_report_write(
	const FemTetMesh *tets, const FemEmbedding *embedding, const FemDiagnosis *diagnosis, char *out, size_t capacity) {
	Text text = {out, capacity, 0};
	int kinds[FEM_MEMBER_KIND_COUNT] = {0};
	char found[FEM_REPORT_SIZE] = "";
	for (int32_t i = 0; i < tets->member_count; i++)
		if (tets->members[i].kind < FEM_MEMBER_KIND_COUNT && tets->members[i].tet_count > 0)
			kinds[tets->members[i].kind]++;
	say_members(&text, tets, kinds);
	if (diagnosis->step_ms > 0.0)
		say(&text, "; about %.2g ms a step", diagnosis->step_ms);
	say(&text, ".\n");
	size_t first_line = text.length;
	if (tets->warning[0])
		say(&text, "%s\n", tets->warning);
	say_embedding(&text, embedding, diagnosis->size);
	if (diagnosis->triangle_count > 0) {
		FemDiagnosis told = worth_telling(diagnosis, tets, kinds);
		fem_diagnosis_text(&told, found, (int32_t)sizeof found);
		// That the diagnosis found no fault is no news beside one of the tets.
		if (text.length == first_line || strncmp(found, FEM_REPORT_GOOD, strlen(FEM_REPORT_GOOD)) != 0)
			say(&text, "%s", found);
	}
	say_figures(&text, tets, embedding, diagnosis);
	say_walls(&text, tets, kinds);
	say_thicker(&text, tets);
	say_solid(&text, tets, diagnosis);
	if (diagnosis->useless_triangles > 0)
		say(&text, FEM_REPORT_NOTE "%d triangles have no area or are second copies; they were left out.\n",
			diagnosis->useless_triangles);
}

void fem_bake_report_add_cut(const FemSplinterMesh *splinters, const char *note, char *io_report, size_t capacity) {
	Text text = {io_report, capacity, strlen(io_report)};
	say(&text, FEM_REPORT_NOTE "%d splinters of %d triangles.\n", splinters->splinter_count,
		splinters->index_count / 3);
	if (note[0])
		say(&text, "%s\n", note);
}

void fem_bake_report_add_poses(char *io_report, size_t capacity) {
	Text text = {io_report, capacity, strlen(io_report)};
	say(&text,
		FEM_REPORT_NOTE
		"The mesh has bones or blend shapes; it was baked as it was modelled: convert its MeshInstance3D in the "
		"editor, or "
		"bake what bake_mesh_from_current_skeleton_pose() of it returns, to have the pose that is shown.\n");
}

void fem_import_report_write(const FemTetArrays *mesh, char *out, size_t capacity) {
	Text text = {out, capacity, 0};
	double smallest = 180.0;
	int32_t flat = 0;
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		FemVec3d corners[4];
		double low, high;
		for (int v = 0; v < 4; v++)
			corners[v] = fem_vec3d_from(mesh->nodes[mesh->tets[4 * (size_t)t + (size_t)v]]);
		fem_tet_dihedral_range(corners, &low, &high);
		smallest = fmin(smallest, low);
		flat += low < FLAT_ANGLE;
	}
	say(&text, "Taken as another program made it; smallest angle %.1f degrees.\n", smallest);
	if (flat > 0)
		say(&text,
			"%d tetrahedra have angles under %.0f degrees and will be softened: let the other program improve the "
			"mesh.\n",
			flat, FLAT_ANGLE);
}

size_t fem_bake_report_warnings(const char *report, char *out, size_t capacity) {
	size_t length = 0, needed = 1;
	capacity = out ? capacity : 0;
	const char *line = strchr(report, '\n');
	while (line && *++line) {
		const char *end = strchr(line, '\n');
		size_t size = end ? (size_t)(end - line) : strlen(line);
		bool is_note = strncmp(line, FEM_REPORT_NOTE, strlen(FEM_REPORT_NOTE)) == 0 ||
			strncmp(line, FEM_REPORT_GOOD, strlen(FEM_REPORT_GOOD)) == 0;
		needed += is_note || size == 0 ? 0 : size + (needed > 1);
		if (!is_note && size > 0 && length + size + 2 <= capacity) {
			if (length > 0)
				out[length++] = '\n';
			memcpy(out + length, line, size);
			length += size;
		}
		line = end;
	}
	if (capacity > 0)
		out[length] = 0;
	return needed;
}
