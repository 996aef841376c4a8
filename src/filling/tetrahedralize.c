#include "filling/tetrahedralize.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "filling/member_mesher.h"
#include "filling/soup_members.h"
#include "filling/soup_sheets.h"
#include "filling/soup_topology.h"

#include <stdio.h>
#include <string.h>

#define COOKIE 0x7e7a4ed5u        // of a FemBakeDef made by fem_default_bake_def(); any number
#define MEMBER_TARGET_MIN 5       // tets: one cell
#define MEMBER_TARGET_USUAL 24    // what a small member gets where the count allows; chosen
#define EXCESS_WARNED 4.0f        // times too stiff in bending, from which on the report warns; chosen
#define CLEANED 0.05f             // share of the work when the surface is cleaned, for progress bars; roughly
#define ELEMENTS_USUAL 1000       // default of FemBakeDef.element_count; chosen: some 0.3 ms a step
#define LAYERS_MOST 16            // of FemBakeDef.plate_layers; chosen: more make no plate stiffer by 1 %
#define ALUMINIUM_YOUNG 6.8e10f   // Pa, of the chimes of O'Brien et al. 2002 ...
#define ALUMINIUM_POISSON 0.33f   // ... their Poisson's ratio ...
#define ALUMINIUM_DENSITY 2700.0f // ... and density, kg/m^3: default of FemBakeDef.mode_material
#define WEIGHT_LEAST 1e-9         // of the frame's volume: what a member that encloses nothing counts for; chosen
#define VOLUME_WARNED 0.25f       // share of its volume that a member may lose or gain before the report warns; chosen
#define STRAY_AREA 0.001          // share of the area below which a part that encloses nothing is left out; chosen
// Triangles of a part that encloses nothing and still gets a thickness: more are a soup that nobody made as a sheet,
// and take minutes. Chosen.
#define SHEET_TRIANGLES_MAX 100000
#define EXCEEDED 1.3  // times its share: a member of more has cells on top, for its limbs; chosen
#define PREPARED 0.1f // share of the work before the first member, for progress bars; roughly

// Everything a bake holds between its stages.
typedef struct Bake {
	const FemSoup *soup;
	const FemBakeDef *def;
	FemTetMesh *out;
	FemTriangles triangles;
	FemSoupEdges edges;
	uint8_t *closed; // [component]
	int32_t closed_count;
	int32_t *groups; // [triangle]
	int32_t group_capacity;
	int32_t *vertex_map;        // [soup vertex]: welded vertex
	int32_t *vertex_components; // [welded vertex], -1 for those of no triangle
	int32_t welded_count;
	double *weights;        // [member]: enclosed volume
	uint8_t *member_closed; // [member]
	FemTetList list;
} Bake;

FemBakeDef fem_default_bake_def(void) {
	return (FemBakeDef){
		.element_count = ELEMENTS_USUAL,
		.plate_layers = 1,
		.cut = fem_default_cut_def(),
		.stretch = {1.0f, 1.0f, 1.0f},
		.mode_material = {ALUMINIUM_YOUNG, ALUMINIUM_POISSON, ALUMINIUM_DENSITY},
		.cookie = COOKIE,
	};
}

static bool in_range(float value, float most) {
	return value >= 0.0f && value <= most; // false for NaN
}

static FemResult check_stretch(FemVec3 stretch) {
	const float *axes = &stretch.x;
	for (int i = 0; i < 3; i++) {
		if (!(axes[i] >= FEM_STRETCH_MIN && axes[i] <= FEM_STRETCH_MAX))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "stretch.%c is %g: it must be within %g..%g; 1 is usual.",
				'x' + i, (double)axes[i], (double)FEM_STRETCH_MIN, (double)FEM_STRETCH_MAX);
	}
	return FEM_OK;
}

FemResult fem_bake_def_check(const FemBakeDef *def) {
	if (!def || def->cookie != COOKIE)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The def was not made by fem_default_bake_def().");
	if (def->element_count < FEM_BAKE_ELEMENTS_MIN || def->element_count > FEM_BAKE_ELEMENTS_MAX)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "element_count is %d: ask for %d to %d tets.", def->element_count,
			FEM_BAKE_ELEMENTS_MIN, FEM_BAKE_ELEMENTS_MAX);
	if (def->plate_layers < 1 || def->plate_layers > LAYERS_MOST)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "plate_layers is %d: ask for 1 to %d.", def->plate_layers, LAYERS_MOST);
	if (!in_range(def->weld_distance, FEM_REST_MAX) || !in_range(def->sheet_thickness, FEM_REST_MAX) ||
		!in_range(def->wall_thickness, FEM_REST_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"weld_distance, sheet_thickness and wall_thickness must be 0 or positive and finite.");
	if (def->mode_count < 0 || def->mode_count > FEM_MODES_MAX)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "mode_count is %d: ask for 0 to %d modes.", def->mode_count, FEM_MODES_MAX);
	return check_stretch(def->stretch);
}

static FemResult no_memory(const Bake *bake) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.",
		bake->soup->triangle_count);
}

static FemResult report(const Bake *bake, float share) {
	if (!bake->def->progress || bake->def->progress(bake->def->progress_context, share))
		return FEM_OK;
	bake->out->cancelled = true;
	return fem_fail(FEM_ERROR_LIMIT, "The bake was cancelled.");
}

// ---- prepare

static bool reserve_groups(Bake *bake) {
	FEM_FREE_ARRAY(bake->groups, bake->group_capacity);
	bake->group_capacity = bake->triangles.triangle_count;
	bake->groups = FEM_ALLOC_ARRAY(int32_t, bake->group_capacity);
	return bake->groups != NULL;
}

static bool note_components(Bake *bake) {
	bake->welded_count = bake->triangles.vertex_count;
	bake->vertex_components = FEM_ALLOC_ARRAY(int32_t, bake->welded_count);
	for (int32_t v = 0; bake->vertex_components && v < bake->welded_count; v++)
		bake->vertex_components[v] = -1;
	for (int32_t t = 0; bake->vertex_components && t < bake->triangles.triangle_count; t++)
		for (int v = 0; v < 3; v++)
			bake->vertex_components[bake->triangles.triangles[t][v]] = bake->triangles.components[t];
	return bake->vertex_components != NULL;
}

// What crosses or touches other parts must be a solid as they are; a sheet by itself is meshed as what it is.
static FemResult thicken_sheets(Bake *bake) {
	const FemBakeDef *def = bake->def;
	double told = (double)(def->sheet_thickness > 0.0f ? def->sheet_thickness : def->wall_thickness);
	FemSoupSheets sheets;
	FemResult result =
		fem_soup_thicken(&bake->triangles, bake->groups, bake->closed, told / bake->triangles.frame.size, &sheets);
	if (result != FEM_OK || sheets.count == 0)
		return result;
	if (!(told > 0.0)) {
		bake->out->thickened_count = sheets.count;
		bake->out->thickened_by = (float)(sheets.thickness * bake->triangles.frame.size);
	}
	return reserve_groups(bake)
		? fem_soup_members(&bake->triangles, bake->closed, bake->groups, &bake->out->member_count)
		: no_memory(bake);
}

static FemResult prepare_soup(Bake *bake) {
	bake->vertex_map = FEM_ALLOC_ARRAY(int32_t, bake->soup->vertex_count > 0 ? bake->soup->vertex_count : 1);
	if (!bake->vertex_map)
		return no_memory(bake);
	FemResult result = fem_soup_clean(bake->soup, bake->def->weld_distance, &bake->triangles, bake->vertex_map);
	if (result == FEM_OK)
		result = fem_soup_components(&bake->triangles);
	if (result != FEM_OK)
		return result;
	bake->closed_count = bake->triangles.component_count;
	bake->closed = FEM_ALLOC_ARRAY(uint8_t, bake->closed_count);
	if (!bake->closed || !reserve_groups(bake) || !note_components(bake))
		return no_memory(bake);
	result = fem_soup_orient(&bake->triangles, &bake->edges, bake->closed);
	if (result == FEM_OK)
		result = report(bake, CLEANED);
	if (result == FEM_OK)
		result = fem_soup_members(&bake->triangles, bake->closed, bake->groups, &bake->out->member_count);
	if (result == FEM_OK)
		result = thicken_sheets(bake);
	return result == FEM_OK ? report(bake, PREPARED) : result;
}

// A member's share of the tets goes by its volume, so that cells are about as large everywhere.
static FemResult weigh_members(Bake *bake) {
	int32_t count = bake->out->member_count;
	bake->weights = FEM_ALLOC_ARRAY(double, count);
	bake->member_closed = FEM_ALLOC_ARRAY(uint8_t, count);
	bake->out->members = FEM_ALLOC_ARRAY(FemTetMember, count);
	if (!bake->weights || !bake->member_closed || !bake->out->members)
		return no_memory(bake);
	memset(bake->member_closed, 1, (size_t)count);
	for (int32_t t = 0; t < bake->triangles.triangle_count; t++) {
		int32_t member = bake->groups[t];
		FEM_ASSERT_INDEX(member, count);
		FemVec3d n = fem_triangle_area_vector(&bake->triangles, t);
		bake->weights[member] += fem_vec3d_dot(fem_triangle_corner(&bake->triangles, t, 0), n) / 3.0;
		if (!bake->closed[bake->triangles.components[t]])
			bake->member_closed[member] = 0;
	}
	for (int32_t member = 0; member < count; member++)
		bake->weights[member] = fabs(bake->weights[member]) + WEIGHT_LEAST;
	if (count > FEM_BAKE_ELEMENTS_MAX / MEMBER_TARGET_MIN)
		return fem_fail(FEM_ERROR_LIMIT, "The mesh has %d separate parts, more than %d: join or remove parts.", count,
			FEM_BAKE_ELEMENTS_MAX / MEMBER_TARGET_MIN);
	return FEM_OK;
}

// ---- members

static int32_t member_target(const Bake *bake, int32_t member, double weight_left, int32_t tets_left) {
	int32_t members_left = bake->out->member_count - member;
	int32_t least = bake->def->element_count / (2 * bake->out->member_count);
	least = least > MEMBER_TARGET_USUAL ? MEMBER_TARGET_USUAL : least < MEMBER_TARGET_MIN ? MEMBER_TARGET_MIN : least;
	double share = members_left > 1 ? tets_left * bake->weights[member] / weight_left : tets_left;
	return share < least ? least : (int32_t)share;
}

static FemResult mesh_member(Bake *bake, int32_t member, int32_t target, bool gives_thickness) {
	int32_t count = bake->out->member_count;
	float width = (1.0f - PREPARED) / (float)count;
	FemMemberRequest request = {&bake->triangles, count > 1 ? bake->groups : NULL, member, target,
		bake->member_closed[member], bake->def, &bake->out->cancelled, PREPARED + width * (float)member,
		PREPARED + width * (float)(member + 1), gives_thickness};
	FemTetMember *made = &bake->out->members[member];
	int32_t first_node = bake->list.node_count, first_tet = bake->list.tet_count;
	FemResult result = fem_member_mesh(&request, &bake->list, made);
	made->first_tet = first_tet;
	made->node_count = bake->list.node_count - first_node;
	made->tet_count = bake->list.tet_count - first_tet;
	return result;
}

// What members take beyond their share to be covered is not taken from others.
static int32_t counted_tets(const FemTetMember *made, int32_t target) {
	bool may_exceed =
		made->kind == FEM_MEMBER_WALL || made->kind == FEM_MEMBER_SHEET || (double)made->tet_count > EXCEEDED * target;
	return may_exceed && made->tet_count > target ? target : made->tet_count;
}

// A stray triangle among other parts need not spoil the bake: its vertices follow tets of others. A card of some size
// gets a thickness instead.
static bool leave_out(Bake *bake, int32_t member, int32_t *out_count) {
	double area = 0.0, all = 0.0;
	int32_t count = 0;
	for (int32_t t = 0; t < bake->triangles.triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(&bake->triangles, t);
		double size = sqrt(fem_vec3d_dot(n, n));
		bool is_its = bake->groups[t] == member;
		count += is_its;
		area += is_its ? size : 0.0;
		all += size;
	}
	bool small = area < STRAY_AREA * all;
	*out_count = count;
	if (!small || bake->out->left_out_parts + 1 >= bake->out->member_count)
		return false;
	bake->out->left_out_parts++;
	bake->out->left_out_triangles += count;
	bake->out->members[member] =
		(FemTetMember){.first_tet = bake->list.tet_count, .whole = true, .stiffness_excess = 1.0f};
	return true;
}

static FemResult mesh_members(Bake *bake) {
	double weight_left = 0.0;
	int32_t least = bake->out->member_count * MEMBER_TARGET_MIN;
	int32_t tets_left = bake->def->element_count > least ? bake->def->element_count : least;
	for (int32_t member = 0; member < bake->out->member_count; member++)
		weight_left += bake->weights[member];
	for (int32_t member = 0; member < bake->out->member_count; member++) {
		int32_t target = member_target(bake, member, weight_left, tets_left);
		FemResult result = mesh_member(bake, member, target, false);
		if (result == FEM_ERROR_MESH) {
			int32_t count;
			if (leave_out(bake, member, &count))
				result = FEM_OK;
			else if (count <= SHEET_TRIANGLES_MAX)
				result = mesh_member(bake, member, target, true);
		}
		if (result != FEM_OK)
			return result;
		weight_left -= bake->weights[member];
		tets_left -= counted_tets(&bake->out->members[member], target);
	}
	return FEM_OK;
}

// ---- results

static void fill_tets(const Bake *bake) {
	FemTetMesh *out = bake->out;
	FEM_ASSERT(fem_are_indices(bake->list.tets[0], 4 * (int64_t)out->tet_count, out->node_count));
	memcpy(out->tets, bake->list.tets, sizeof(int32_t) * 4 * (size_t)out->tet_count);
	for (int32_t n = 0; n < out->node_count; n++)
		out->nodes[n] = fem_vec3d_to_vec3(bake->list.nodes[n]);
	for (int32_t member = 0; member < out->member_count; member++) {
		const FemTetMember *made = &out->members[member];
		for (int32_t t = made->first_tet; t < made->first_tet + made->tet_count; t++) {
			out->tet_members[t] = member;
			out->tet_plates[t] = fem_member_is_corrected(made) ? FEM_PLATE_STRENGTH : 0.0f;
			out->has_plates = out->has_plates || out->tet_plates[t] > 0.0f;
		}
		FEM_ASSERT(made->first_tet + made->tet_count <= out->tet_count);
		out->volume += made->volume;
	}
}

// Corners rounded to float, as the engine will see them.
static void measure_angles(FemTetMesh *out) {
	out->min_dihedral = (float)FEM_STRAIGHT_ANGLE;
	for (int32_t t = 0; t < out->tet_count; t++) {
		FemVec3d corners[4];
		double low, high;
		for (int v = 0; v < 4; v++)
			corners[v] = fem_vec3d_from(out->nodes[out->tets[4 * (size_t)t + (size_t)v]]);
		fem_tet_dihedral_range(corners, &low, &high);
		out->min_dihedral = fminf(out->min_dihedral, (float)low);
		out->max_dihedral = fmaxf(out->max_dihedral, (float)high);
	}
}

static bool fill_vertex_members(const Bake *bake) {
	int32_t count = bake->triangles.component_count, *member_of = FEM_ALLOC_ARRAY(int32_t, count);
	if (!member_of)
		return false;
	for (int32_t t = 0; t < bake->triangles.triangle_count; t++)
		member_of[bake->triangles.components[t]] = bake->groups[t];
	for (int32_t v = 0; v < bake->out->vertex_count; v++) {
		int32_t component = bake->vertex_map[v] < 0 ? -1 : bake->vertex_components[bake->vertex_map[v]];
		bake->out->vertex_members[v] = component < 0 ? -1 : member_of[component];
	}
	FEM_FREE_ARRAY(member_of, count);
	return true;
}

static void write_warning(FemTetMesh *out) {
	if (out->thickened_count > 0)
		snprintf(out->warning, sizeof out->warning,
			"%d surfaces that enclose nothing, beside other parts, were made up to %.2g m thick: close their holes, "
			"give "
			"them thickness (Solidify in Blender), or set sheet_thickness.",
			out->thickened_count, (double)out->thickened_by);
	for (int32_t member = 0; member < out->member_count; member++) {
		const FemTetMember *made = &out->members[member];
		if (!made->whole) {
			snprintf(out->warning, sizeof out->warning,
				"Part %d could not be covered in one piece by %d tets: raise the element "
				"count, or join its loose pieces.",
				member, made->tet_count);
			return;
		}
		if (made->has_given_thickness) {
			snprintf(out->warning, sizeof out->warning,
				"Part %d encloses nothing and was made %.2g m thick: close its holes, give it thickness (Solidify in "
				"Blender), or set sheet_thickness.",
				member, (double)made->thickness);
			return;
		}
		if (made->stiffness_excess > EXCESS_WARNED) {
			snprintf(out->warning, sizeof out->warning,
				"Part %d is %.3g m thin under cells of %.3g m and will bend about %.0f "
				"times too stiffly: raise the element count, or make it thicker.",
				member, (double)made->thickness, (double)made->cell, (double)made->stiffness_excess);
			return;
		}
		if (made->input_volume > 0.0f && fabsf(made->volume / made->input_volume - 1.0f) > VOLUME_WARNED) {
			snprintf(out->warning, sizeof out->warning,
				"Part %d has %.0f %% of the volume that its surface encloses: raise the element count.", member,
				100.0 * (double)(made->volume / made->input_volume));
			return;
		}
	}
}

// Floats far from the origin may flatten small tets.
static FemResult check_flat(const FemTetMesh *out) {
	for (int32_t t = 0; t < out->tet_count; t++) {
		FemVec3d p[4];
		for (int v = 0; v < 4; v++)
			p[v] = fem_vec3d_from(out->nodes[out->tets[4 * (size_t)t + (size_t)v]]);
		FemVec3d a = fem_vec3d_sub(p[1], p[0]), b = fem_vec3d_sub(p[2], p[0]), c = fem_vec3d_sub(p[3], p[0]);
		if (!(fem_vec3d_dot(a, fem_vec3d_cross(b, c)) / 6.0 >= FEM_VOLUME_MIN))
			return fem_fail(FEM_ERROR_MESH,
				"The mesh is too small or too far from its origin for floats: move it to the origin, or scale it up.");
	}
	return FEM_OK;
}

static FemResult fill_mesh(Bake *bake) {
	FemTetMesh *out = bake->out;
	out->node_count = bake->list.node_count;
	out->tet_count = bake->list.tet_count;
	out->vertex_count = bake->soup->vertex_count;
	out->nodes = FEM_ALLOC_ARRAY(FemVec3, out->node_count);
	out->tets = FEM_ALLOC_ARRAY(int32_t, 4 * (size_t)out->tet_count);
	out->tet_plates = FEM_ALLOC_ARRAY(float, out->tet_count);
	out->tet_members = FEM_ALLOC_ARRAY(int32_t, out->tet_count);
	out->vertex_members = FEM_ALLOC_ARRAY(int32_t, out->vertex_count);
	if (!out->nodes || !out->tets || !out->tet_plates || !out->tet_members || !out->vertex_members ||
		!fill_vertex_members(bake))
		return no_memory(bake);
	fill_tets(bake);
	FemResult result = check_flat(out);
	if (result != FEM_OK)
		return result;
	measure_angles(out);
	write_warning(out);
	return report(bake, 1.0f);
}

static void free_bake(Bake *bake) {
	FEM_FREE_ARRAY(bake->vertex_map, bake->soup->vertex_count > 0 ? bake->soup->vertex_count : 1);
	FEM_FREE_ARRAY(bake->closed, bake->closed_count);
	FEM_FREE_ARRAY(bake->groups, bake->group_capacity);
	FEM_FREE_ARRAY(bake->vertex_components, bake->welded_count);
	FEM_FREE_ARRAY(bake->weights, bake->out->member_count);
	FEM_FREE_ARRAY(bake->member_closed, bake->out->member_count);
	fem_tet_list_free(&bake->list);
	fem_triangles_free(&bake->triangles);
}

FemResult fem_tetrahedralize(const FemSoup *soup, const FemBakeDef *def, FemTetMesh *out) {
	if (!out)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no place for the mesh: pass a FemTetMesh.");
	*out = (FemTetMesh){0};
	FemResult result = fem_bake_def_check(def);
	if (result == FEM_OK)
		out->asked_count = def->element_count;
	if (result == FEM_OK)
		result = fem_soup_check(soup);
	if (result != FEM_OK)
		return result;
	Bake bake = {.soup = soup, .def = def, .out = out};
	result = prepare_soup(&bake);
	if (result == FEM_OK)
		result = weigh_members(&bake);
	if (result == FEM_OK)
		result = mesh_members(&bake);
	if (result == FEM_OK)
		result = fill_mesh(&bake);
	free_bake(&bake);
	if (result != FEM_OK) {
		bool cancelled = out->cancelled;
		fem_tet_mesh_free(out);
		out->cancelled = cancelled;
	}
	return result;
}

void fem_tet_mesh_free(FemTetMesh *mesh) {
	FEM_FREE_ARRAY(mesh->nodes, mesh->node_count);
	FEM_FREE_ARRAY(mesh->tets, 4 * (size_t)mesh->tet_count);
	FEM_FREE_ARRAY(mesh->tet_plates, mesh->tet_count);
	FEM_FREE_ARRAY(mesh->tet_members, mesh->tet_count);
	FEM_FREE_ARRAY(mesh->members, mesh->member_count);
	FEM_FREE_ARRAY(mesh->vertex_members, mesh->vertex_count);
	*mesh = (FemTetMesh){0};
}
