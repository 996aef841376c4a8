// The outside of splinters: what each has of every triangle of the render mesh.
#include "base/memory.h"
#include "cutting/cut_making.h"

// The corner of the source triangle that corner n comes from, when the triangle was flipped.
static int source_corner(const FemCutSource *source, int n) {
	return source->is_flipped && n > 0 ? 3 - n : n;
}

// Weights of the source's corners. A cap hangs on an edge of its source: its middle looks as that edge's does.
static void source_weights(const FemCutSource *source, int32_t triangle, int32_t vertex, double out[3]) {
	int32_t rim = source->rim_corners ? source->rim_corners[triangle] : -1;
	double of_cap[3];
	fem_cut_weights_on(source->outside, triangle, vertex, rim < 0 ? out : of_cap);
	if (rim < 0)
		return;
	out[(rim + 1) % 3] = of_cap[0] + 0.5 * of_cap[2];
	out[rim] = of_cap[1] + 0.5 * of_cap[2];
	out[(rim + 2) % 3] = 0.0;
}

// Vertices are shared where the render mesh shares them: at its own vertices, and along edges whose ends are.
static int32_t outer_vertex(FemCutMaking *out, int32_t polygon, int32_t vertex) {
	const FemCutSource *source = out->source;
	const FemCutSolid *solid = source->outside;
	int32_t triangle = solid->polygons[polygon].triangle, whole = source->sources[triangle];
	int32_t surface = out->surface_of[whole], local = out->triangle_of[whole], ends[3] = {-1, -1, -1}, count = 0;
	int32_t splinter = fem_cut_splinter_of(&out->splinters, 0, fem_cut_polygon_label(source, polygon), vertex);
	double weights[3];
	bool is_new;
	source_weights(source, triangle, vertex, weights);
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
	int32_t made =
		fem_cut_make_vertex(out, (int32_t[FEM_KEY_SIZE]){splinter, vertex, ends[0], ends[1], surface}, &is_new);
	if (made >= 0 && is_new) {
		FemCutMade *m = &out->made[made];
		*m = (FemCutMade){.splinter = splinter, .vertex = vertex, .triangle = local};
		for (int n = 0; n < 3; n++)
			m->weights[source_corner(source, n)] = (float)weights[n];
	}
	return made;
}

static void add_outer_triangle(FemCutMaking *out, int32_t polygon, const int32_t vertices[3], bool is_coarse) {
	int32_t surface = out->surface_of[out->source->sources[out->source->outside->polygons[polygon].triangle]];
	for (int n = 0; n < 3 && !out->failed; n++)
		fem_cut_make_index(
			out, surface, outer_vertex(out, polygon, vertices[source_corner(out->source, n)]), is_coarse);
}

static void add_fan(FemCutMaking *out, const FemCutGroup *group, bool is_coarse) {
	for (int32_t n = 1; n + 1 < group->count && !out->failed; n++)
		add_outer_triangle(out, group->polygon,
			(int32_t[3]){group->vertices[0], group->vertices[n], group->vertices[n + 1]}, is_coarse);
}

static void add_filled(FemCutMaking *out, const FemCutGroup *group, bool is_coarse) {
	const FemLoopMesh *loops = &out->loops;
	out->failed = out->failed || loops->failed;
	for (int32_t t = 0; t < loops->triangle_count && !out->failed; t++) {
		const int32_t *points = loops->triangles[t];
		add_outer_triangle(out, group->polygon,
			(int32_t[3]){group->vertices[points[0]], group->vertices[points[1]], group->vertices[points[2]]},
			is_coarse);
	}
}

static void thin_loops(FemCutMaking *out, const FemCutGroup *group) {
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

// The polygons of one splinter in one triangle are one: the group's loops, in the triangle's own coordinates.
static void add_group(FemCutMaking *out, const FemCutGroup *group) {
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

void fem_cut_make_outside(FemCutMaking *out) {
	const FemCutSource *source = out->source;
	FemCutGroups groups;
	if (!fem_cut_groups_begin(&groups, source, &out->splinters)) {
		out->failed = true;
		return;
	}
	int32_t surface = 0;
	for (FemCutGroup group; !out->failed && fem_cut_groups_next(&groups, &group);) {
		int32_t at = out->surface_of[source->sources[source->outside->polygons[group.polygon].triangle]];
		while (surface < at)
			fem_cut_make_surface(out, ++surface);
		add_group(out, &group);
	}
	while (surface < source->render->surface_count)
		fem_cut_make_surface(out, ++surface);
	out->failed = out->failed || groups.failed;
	fem_cut_groups_end(&groups);
}
