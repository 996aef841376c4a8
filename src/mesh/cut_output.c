#include "mesh/cut_output.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/union_find.h"
#include "mesh/cut_pieces.h"
#include "mesh/splinter_homes.h"

#include <string.h>

// An output vertex before the arrays are made.
typedef struct Made {
	int32_t piece, vertex, solid; // solid: 0 the outside, 1 the inside
	int32_t triangle;             // outer: of its surface
	float weights[3];             // outer
	FemVec3 normal;               // of cuts
	float tangent[4], uv[2];
} Made;

typedef struct Output {
	const FemCutSource *source;
	FemCutPieces pieces;
	FemKeyMap map; // of made vertices
	Made *made;
	int32_t made_count, made_capacity;
	int32_t *indices;
	int32_t index_count, index_capacity;
	int32_t *coarse_indices;
	int32_t coarse_count, coarse_capacity;
	bool is_rough;                     // there are coarse ones
	int32_t *surface_of, *triangle_of; // [triangle of all surfaces in a row]
	int32_t source_count;
	int32_t vertex_starts[FEM_SURFACE_MAX + 2], index_starts[FEM_SURFACE_MAX + 2], coarse_starts[FEM_SURFACE_MAX + 2];
	int32_t first_render_vertex[FEM_SURFACE_MAX];
	int32_t *face_starts; // [face + 1], in made
	FemLoopMesh loops;
	bool failed;
} Output;

static void add_index(Output *out, int32_t surface, int32_t made, bool is_coarse) {
	int32_t **indices = is_coarse ? &out->coarse_indices : &out->indices;
	int32_t *count = is_coarse ? &out->coarse_count : &out->index_count;
	int32_t *capacity = is_coarse ? &out->coarse_capacity : &out->index_capacity;
	if (made < 0 || !fem_grow(indices, *count, capacity, sizeof **indices)) {
		out->failed = true;
		return;
	}
	(*indices)[(*count)++] = made - out->vertex_starts[surface];
}

static int32_t make_vertex(Output *out, const int32_t key[FEM_KEY_SIZE], bool *is_new) {
	int32_t made = fem_key_map_number(&out->map, key, is_new);
	if (made < 0 || !FEM_GROW(out->made, out->made_count, &out->made_capacity)) {
		out->failed = true;
		return -1;
	}
	if (*is_new)
		out->made_count++;
	return made;
}

// --------------------------------------------------------------------------------------------------------------- outside

// Corner n of a triangle that was turned round is this corner of its source.
static int source_corner(const FemCutSource *source, int n) {
	return source->is_turned && n > 0 ? 3 - n : n;
}

// Vertices are shared where the render mesh shares them: at its own vertices, and along edges whose ends are.
static int32_t outer_vertex(Output *out, int32_t polygon, int32_t vertex) {
	const FemCutSource *source = out->source;
	const FemCutSolid *solid = source->outside;
	int32_t triangle = solid->polygons[polygon].triangle, whole = source->sources[triangle];
	int32_t surface = out->surface_of[whole], local = out->triangle_of[whole], ends[3] = {-1, -1, -1}, count = 0;
	int32_t piece = fem_cut_piece_of(&out->pieces, 0, fem_cut_polygon_label(source, polygon), vertex);
	double weights[3];
	bool is_new;
	fem_cut_weights_on(solid, triangle, vertex, weights);
	for (int n = 0; n < 3; n++)
		if (weights[n] != 0.0)
			ends[count++] = source->render->surfaces[surface].indices[3 * local + source_corner(source, n)] +
				out->first_render_vertex[surface];
	if (count == 2 && ends[0] > ends[1]) {
		int32_t lower = ends[1];
		ends[1] = ends[0];
		ends[0] = lower;
	}
	if (count == 3 || solid->vertices[vertex].kind >= FEM_CUT_ON_TRIANGLE)
		ends[0] = -2 - whole;
	int32_t made = make_vertex(out, (int32_t[FEM_KEY_SIZE]){piece, vertex, ends[0], ends[1], surface}, &is_new);
	if (made >= 0 && is_new) {
		Made *m = &out->made[made];
		*m = (Made){.piece = piece, .vertex = vertex, .triangle = local};
		for (int n = 0; n < 3; n++)
			m->weights[source_corner(source, n)] = (float)weights[n];
	}
	return made;
}

static void add_outer_triangle(Output *out, int32_t polygon, const int32_t vertices[3], bool is_coarse) {
	int32_t surface = out->surface_of[out->source->sources[out->source->outside->polygons[polygon].triangle]];
	for (int n = 0; n < 3 && !out->failed; n++)
		add_index(out, surface, outer_vertex(out, polygon, vertices[source_corner(out->source, n)]), is_coarse);
}

static void add_fan(Output *out, const FemCutGroup *group, bool is_coarse) {
	for (int32_t n = 1; n + 1 < group->count && !out->failed; n++)
		add_outer_triangle(out, group->polygon,
			(int32_t[3]){group->vertices[0], group->vertices[n], group->vertices[n + 1]}, is_coarse);
}

static void add_filled(Output *out, const FemCutGroup *group, bool is_coarse) {
	const FemLoopMesh *loops = &out->loops;
	out->failed = out->failed || loops->failed;
	for (int32_t t = 0; t < loops->triangle_count && !out->failed; t++) {
		const int32_t *points = loops->triangles[t];
		add_outer_triangle(out, group->polygon,
			(int32_t[3]){group->vertices[points[0]], group->vertices[points[1]], group->vertices[points[2]]},
			is_coarse);
	}
}

static void thin_loops(Output *out, const FemCutGroup *group) {
	bool *keeps = FEM_ALLOC_ARRAY(bool, group->count);
	if (!keeps) {
		out->failed = true;
		return;
	}
	for (int32_t n = 0; n < group->count; n++)
		keeps[n] = out->source->outside->vertices[group->vertices[n]].kind < FEM_CUT_ADDED_OUTSIDE;
	fem_loop_mesh_thin(&out->loops, keeps);
	FEM_FREE_ARRAY(keeps, group->count);
}

// The polygons of one piece in one triangle are one: the group's loops, in the triangle's own coordinates.
static void add_group(Output *out, const FemCutGroup *group) {
	const FemCutSolid *solid = out->source->outside;
	int32_t triangle = solid->polygons[group->polygon].triangle;
	if (group->loop_count == 1 && !group->is_concave) {
		add_fan(out, group, false);
		if (out->is_rough)
			add_fan(out, group, true);
		return;
	}
	FemLoopMesh *loops = &out->loops;
	fem_loop_mesh_clear(loops);
	for (int32_t n = 0, loop = 0; n < group->count; n++) {
		double weights[3];
		fem_cut_weights_on(solid, triangle, group->vertices[n], weights);
		fem_loop_mesh_add_index(loops, fem_loop_mesh_add_point(loops, weights[1], weights[2]));
		if (n + 1 == group->loop_ends[loop]) {
			fem_loop_mesh_end_loop(loops);
			loop++;
		}
	}
	fem_loop_mesh_fill(loops);
	add_filled(out, group, false);
	if (out->is_rough && !out->failed) {
		thin_loops(out, group);
		fem_loop_mesh_fill(loops);
		add_filled(out, group, true);
	}
}

static void next_surface(Output *out, int32_t surface) {
	out->vertex_starts[surface] = out->made_count;
	out->index_starts[surface] = out->index_count;
	out->coarse_starts[surface] = out->coarse_count;
}

static void add_outside(Output *out) {
	const FemCutSource *source = out->source;
	FemCutGroups groups;
	if (!fem_cut_groups_begin(&groups, source, &out->pieces)) {
		out->failed = true;
		return;
	}
	int32_t surface = 0;
	for (FemCutGroup group; !out->failed && fem_cut_groups_next(&groups, &group);) {
		int32_t at = out->surface_of[source->sources[source->outside->polygons[group.polygon].triangle]];
		while (surface < at)
			next_surface(out, ++surface);
		add_group(out, &group);
	}
	while (surface < source->render->surface_count)
		next_surface(out, ++surface);
	out->failed = out->failed || groups.failed;
	fem_cut_groups_end(&groups);
}

// ---------------------------------------------------------------------------------------------------------------- inside

typedef struct Axes {
	FemPosition u, v, n;
} Axes;

static FemPosition unit(FemPosition v) {
	double length = sqrt(fem_position_dot(v, v));
	return length > 0.0 ? fem_position_scale(v, 1.0 / length) : (FemPosition){0.0, 1.0, 0.0};
}

// u along the grain, or level.
static Axes axes_of_face(const FemCutSource *source, const FemCutFace *face) {
	const FemCutCell *i = &source->inside->diagram->cells[face->cells[0]],
					 *j = &source->inside->diagram->cells[face->cells[1]];
	Axes axes = {.n = unit((FemPosition){
					 (double)(i->a[0] - j->a[0]), (double)(i->a[1] - j->a[1]), (double)(i->a[2] - j->a[2])})};
	FemPosition along = fem_position_from(source->grain);
	if (fem_position_dot(along, along) < 1e-12)
		along = fabs(axes.n.y) < 0.8 ? (FemPosition){axes.n.z, 0.0, -axes.n.x} : (FemPosition){1.0, 0.0, 0.0};
	along = fem_position_sub(along, fem_position_scale(axes.n, fem_position_dot(axes.n, along)));
	if (fem_position_dot(along, along) < 1e-4)
		along = fem_position_cross(
			axes.n, fabs(axes.n.x) < 0.7 ? (FemPosition){1.0, 0.0, 0.0} : (FemPosition){0.0, 1.0, 0.0});
	axes.u = unit(along);
	axes.v = fem_position_cross(axes.n, axes.u);
	return axes;
}

static FemPosition triangle_area(const FemCutSolid *solid, const int32_t t[3]) {
	FemPosition a = solid->vertices[t[0]].at;
	return fem_position_cross(
		fem_position_sub(solid->vertices[t[1]].at, a), fem_position_sub(solid->vertices[t[2]].at, a));
}

static int32_t inner_vertex(Output *out, int32_t face_number, int side, const Axes *axes, int32_t vertex) {
	const FemCutSource *source = out->source;
	const FemCutSolid *solid = source->inside;
	int32_t label = solid->diagram->cells[solid->faces[face_number].cells[side]].piece;
	int32_t piece = fem_cut_piece_of(&out->pieces, source->is_apart, label, vertex);
	bool is_new;
	int32_t made = make_vertex(out, (int32_t[FEM_KEY_SIZE]){piece, vertex, face_number, side, -1}, &is_new);
	if (made < 0 || !is_new)
		return made;
	Made *m = &out->made[made];
	*m = (Made){.piece = piece, .vertex = vertex, .solid = source->is_apart};
	FemPosition at = fem_position_scale(solid->vertices[vertex].at, source->frame.size);
	double sign = side ? -1.0 : 1.0;
	m->uv[0] = (float)fem_position_dot(at, axes->u);
	m->uv[1] = (float)(-sign * fem_position_dot(at, axes->v)); // v runs downward
	FemVec3 tangent = fem_position_to_vec3(axes->u);
	memcpy(m->tangent, &tangent, sizeof tangent);
	m->tangent[3] = 1.0f;
	return made;
}

// Vertices of one side, then those of the other in the same order.
static void add_face(Output *out, int32_t number) {
	const FemCutSolid *solid = out->source->inside;
	const FemCutFace *face = &solid->faces[number];
	Axes axes = axes_of_face(out->source, face);
	int32_t surface = out->source->render->surface_count;
	out->face_starts[number] = out->made_count;
	for (int32_t n = 0; n < 2 * face->triangle_count && !out->failed; n++) {
		int side = n >= face->triangle_count;
		const int32_t *t = solid->face_triangles[face->first_triangle + n % face->triangle_count];
		FemVec3 area = fem_position_to_vec3(fem_position_scale(triangle_area(solid, t), side ? -1e6 : 1e6));
		int32_t made[3];
		for (int v = 0; v < 3; v++) {
			made[v] = inner_vertex(out, number, side, &axes, t[v]);
			if (made[v] >= 0)
				out->made[made[v]].normal = fem_vec3_add(out->made[made[v]].normal, area);
		}
		for (int v = 0; v < 3; v++)
			add_index(out, surface, made[side ? 2 - v : v], false);
	}
	for (int32_t n = 0; n < 6 * face->coarse_count && !out->failed; n++) {
		int side = n >= 3 * face->coarse_count, v = n % 3;
		const int32_t *t = solid->face_triangles[face->first_coarse + n / 3 % face->coarse_count];
		add_index(out, surface, inner_vertex(out, number, side, &axes, t[side ? 2 - v : v]), true);
	}
}

// Normals of unit length, away from the tangent.
static void finish_normal(Made *m, FemVec3 *out_normal, float out_tangent[4]) {
	FemPosition n = unit(fem_position_from(m->normal)),
				t = {(double)m->tangent[0], (double)m->tangent[1], (double)m->tangent[2]};
	t = fem_position_sub(t, fem_position_scale(n, fem_position_dot(n, t)));
	if (fem_position_dot(t, t) < 1e-6)
		t = fem_position_cross(n, fabs(n.x) < 0.7 ? (FemPosition){1.0, 0.0, 0.0} : (FemPosition){0.0, 1.0, 0.0});
	FemVec3 tangent = fem_position_to_vec3(unit(t));
	*out_normal = fem_position_to_vec3(n);
	memcpy(out_tangent, &tangent, sizeof tangent);
	out_tangent[3] = m->tangent[3];
}

// ---------------------------------------------------------------------------------------------------------------- arrays

// Leaves no numbers to pieces of which nothing is shown.
static bool number_pieces(Output *out) {
	int32_t *numbers_plus_1 = FEM_ALLOC_ARRAY(int32_t, out->pieces.piece_count), count = 0,
			old = out->pieces.piece_count;
	if (!numbers_plus_1)
		return false;
	for (int32_t v = 0; v < out->made_count; v++) {
		int32_t *number = &numbers_plus_1[out->made[v].piece];
		if (*number == 0)
			*number = ++count;
		out->made[v].piece = *number - 1;
	}
	out->pieces.piece_count = count;
	FEM_FREE_ARRAY(numbers_plus_1, old);
	return true;
}

// Vertices of the render mesh are where they were to the last bit.
static FemVec3 position_of(const Output *out, const Made *m, int32_t surface) {
	const FemCutSource *source = out->source;
	const FemCutSolid *solid = m->solid ? source->inside : source->outside;
	if (surface < source->render->surface_count && solid->vertices[m->vertex].kind == FEM_CUT_MESH_VERTEX)
		for (int n = 0; n < 3; n++)
			if (m->weights[n] == 1.0f)
				return source->render->surfaces[surface]
					.positions[source->render->surfaces[surface].indices[3 * m->triangle + n]];
	return fem_position_to_vec3(fem_frame_to_user(&source->frame, solid->vertices[m->vertex].at));
}

static void fill_arrays(Output *out, FemSplinterMesh *m) {
	int32_t surface = 0;
	memcpy(m->vertex_starts, out->vertex_starts, sizeof(int32_t) * (size_t)(m->surface_count + 1));
	memcpy(m->index_starts, out->index_starts, sizeof(int32_t) * (size_t)(m->surface_count + 1));
	memcpy(m->indices, out->indices, sizeof(int32_t) * (size_t)m->index_count);
	memcpy(m->coarse_starts, out->coarse_starts, sizeof(int32_t) * (size_t)(m->surface_count + 1));
	if (m->coarse_count > 0)
		memcpy(m->coarse_indices, out->coarse_indices, sizeof(int32_t) * (size_t)m->coarse_count);
	for (int32_t f = 0; f < m->face_count; f++)
		m->face_starts[f] = out->face_starts[f] - m->outer_count;
	m->face_starts[m->face_count] = m->vertex_count - m->outer_count;
	for (int32_t v = 0; v < m->vertex_count; v++) {
		Made *made = &out->made[v];
		while (v >= m->vertex_starts[surface + 1])
			surface++;
		m->positions[v] = position_of(out, made, surface);
		m->vertex_pieces[v] = made->piece;
		if (v < m->outer_count) {
			m->source_triangles[v] = made->triangle;
			memcpy(m->source_weights[v], made->weights, sizeof made->weights);
			continue;
		}
		int32_t inner = v - m->outer_count;
		finish_normal(made, &m->normals[inner], m->tangents[inner]);
		memcpy(m->uvs[inner], made->uv, sizeof made->uv);
	}
}

static FemResult fail_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: ask for fewer pieces.");
}

// Each vertex of a solid is looked for once, however many pieces share it.
static FemResult tie_vertices(const Output *out, const FemEmbedMesh *tets, FemSplinterMesh *m) {
	int32_t first = out->source->outside->vertex_count, slot_count = first + out->source->inside->vertex_count,
			count = 0;
	int32_t *slots = FEM_ALLOC_ARRAY(int32_t, slot_count);
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, m->vertex_count);
	FemEmbedding embedding = {0};
	FemResult result = slots && points ? FEM_OK : fail_memory();
	for (int32_t v = 0; result == FEM_OK && v < m->vertex_count; v++) {
		int32_t *slot = &slots[out->made[v].vertex + (out->made[v].solid ? first : 0)];
		if (*slot == 0) {
			points[count] = m->positions[v];
			*slot = ++count;
		}
	}
	if (result == FEM_OK)
		result = fem_embed(tets, points, NULL, count, &embedding);
	for (int32_t v = 0; result == FEM_OK && v < m->vertex_count; v++) {
		int32_t at = slots[out->made[v].vertex + (out->made[v].solid ? first : 0)] - 1;
		m->vertex_tets[v] = embedding.tets[at];
		memcpy(m->vertex_weights[v], embedding.weights[at], sizeof *m->vertex_weights);
	}
	fem_embedding_free(&embedding);
	FEM_FREE_ARRAY(slots, slot_count);
	FEM_FREE_ARRAY(points, m->vertex_count);
	return result;
}

static bool number_sources(Output *out) {
	const FemRenderMesh *render = out->source->render;
	int32_t vertex = 0, at = 0;
	out->source_count = (int32_t)fem_render_mesh_triangle_count(render);
	out->surface_of = FEM_ALLOC_ARRAY(int32_t, out->source_count);
	out->triangle_of = FEM_ALLOC_ARRAY(int32_t, out->source_count);
	if (!out->surface_of || !out->triangle_of)
		return false;
	for (int32_t s = 0; s < render->surface_count; s++) {
		out->first_render_vertex[s] = vertex;
		vertex += render->surfaces[s].vertex_count;
		for (int32_t t = 0; t < render->surfaces[s].index_count / 3; t++, at++) {
			out->surface_of[at] = s;
			out->triangle_of[at] = t;
		}
	}
	return true;
}

FemResult fem_cut_output(const FemCutSource *source, FemSplinterMesh *out_mesh) {
	Output *out = FEM_ALLOC_ARRAY(Output, 1);
	FemResult result = FEM_OK;
	*out_mesh = (FemSplinterMesh){0};
	if (!out)
		return fail_memory();
	out->source = source;
	out->is_rough = source->inside->noise.spacing > 0.0;
	out->face_starts = FEM_ALLOC_ARRAY(int32_t, source->inside->face_count + 1);
	out->failed = !out->face_starts || !number_sources(out) || !fem_cut_pieces_create(&out->pieces, source);
	if (!out->failed)
		add_outside(out);
	for (int32_t n = 0; n < source->inside->face_count && !out->failed; n++)
		add_face(out, n);
	next_surface(out, source->render->surface_count + 1);
	if (!out->failed && number_pieces(out))
		*out_mesh = (FemSplinterMesh){.piece_count = out->pieces.piece_count,
			.surface_count = source->render->surface_count + 1,
			.vertex_count = out->made_count,
			.outer_count = out->vertex_starts[source->render->surface_count],
			.index_count = out->index_count,
			.face_count = source->inside->face_count,
			.coarse_count = out->coarse_count,
			.coarse_error = (float)(2.0 * source->inside->noise.amplitude * source->frame.size)};
	if (out_mesh->piece_count == 0 || !fem_splinter_mesh_reserve(out_mesh))
		result = fail_memory();
	if (result == FEM_OK) {
		FemEmbedMesh tets = {
			source->tets->node_count, source->tets->tet_count, source->tets->nodes, source->tets->tets, NULL};
		fill_arrays(out, out_mesh);
		result = fem_splinter_mesh_find_homes(out_mesh, &tets);
		if (result == FEM_OK)
			result = tie_vertices(out, &tets, out_mesh);
	}
	if (result != FEM_OK)
		fem_splinter_mesh_free(out_mesh);
	FEM_FREE_ARRAY(out->face_starts, source->inside->face_count + 1);
	fem_cut_pieces_free(&out->pieces);
	fem_key_map_free(&out->map);
	FEM_FREE_ARRAY(out->made, out->made_capacity);
	FEM_FREE_ARRAY(out->indices, out->index_capacity);
	FEM_FREE_ARRAY(out->coarse_indices, out->coarse_capacity);
	FEM_FREE_ARRAY(out->surface_of, out->source_count);
	FEM_FREE_ARRAY(out->triangle_of, out->source_count);
	fem_loop_mesh_free(&out->loops);
	FEM_FREE_ARRAY(out, 1);
	return result;
}
