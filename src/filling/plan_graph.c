#include "filling/plan_graph.h"

#include "base/growing.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define RUNG_SINE 0.77    // of the angle between a rung and what begins where it does, at the least: 50 degrees; chosen
#define RUNG_ROUNDING 1.0 // snaps: how far a rung must stay from points it does not end at; chosen

static double distance_of(const double a[2], const double b[2]) {
	return hypot(b[0] - a[0], b[1] - a[1]);
}

static double cross_of(const double o[2], const double a[2], const double b[2]) {
	return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

// Where the foot of p lies on the line from a to b, in shares of it, and how far p is from that.
static double foot_on(const double a[2], const double b[2], const double p[2], double *out_distance) {
	double x = b[0] - a[0], y = b[1] - a[1], square = x * x + y * y;
	double share = square > 0.0 ? ((p[0] - a[0]) * x + (p[1] - a[1]) * y) / square : 0.0;
	double foot[2] = {a[0] + share * x, a[1] + share * y};
	*out_distance = distance_of(foot, p);
	return share;
}

// ---- points and edges

static int32_t add_point(FemPlanGraph *graph, const double p[2]) {
	if (!FEM_GROW(graph->points, graph->point_count, &graph->point_capacity)) {
		graph->failed = true;
		return 0;
	}
	graph->points[graph->point_count][0] = p[0];
	graph->points[graph->point_count][1] = p[1];
	return graph->point_count++;
}

static void add_edge(FemPlanGraph *graph, int32_t a, int32_t b, bool is_rung) {
	for (int32_t e = 0; e < graph->edge_count; e++) {
		const int32_t *ends = graph->edges[e].ends;
		if ((ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a))
			return;
	}
	if (!FEM_GROW(graph->edges, graph->edge_count, &graph->edge_capacity)) {
		graph->failed = true;
		return;
	}
	graph->edges[graph->edge_count++] = (FemPlanEdge){{a, b}, is_rung};
}

static void split_edge(FemPlanGraph *graph, int32_t edge, int32_t point) {
	FemPlanEdge cut = graph->edges[edge];
	if (cut.ends[0] == point || cut.ends[1] == point)
		return;
	graph->edges[edge].ends[1] = point;
	add_edge(graph, point, cut.ends[1], cut.is_rung);
}

// The point at a place: one that is there, or a new one, which cuts the edges that it lies on.
static int32_t point_at(FemPlanGraph *graph, const double p[2]) {
	int32_t nearest = -1, edges = graph->edge_count;
	double best = graph->snap;
	for (int32_t i = 0; i < graph->point_count; i++) {
		double distance = distance_of(graph->points[i], p);
		if (distance <= best) {
			best = distance;
			nearest = i;
		}
	}
	if (nearest >= 0)
		return nearest;
	int32_t point = add_point(graph, p);
	for (int32_t e = 0; e < edges && !graph->failed; e++) {
		const int32_t *ends = graph->edges[e].ends;
		double distance, share = foot_on(graph->points[ends[0]], graph->points[ends[1]], p, &distance);
		if (share > 0.0 && share < 1.0 && distance <= graph->snap)
			split_edge(graph, e, point);
	}
	return point;
}

// ---- segments

typedef struct Stop {
	double share; // of the segment
	int32_t point;
} Stop;

static int compare_stops(const void *left, const void *right) {
	const Stop *a = left, *b = right;
	if (a->share != b->share)
		return a->share < b->share ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

// Cuts the edges that the segment crosses.
static void cut_crossed(FemPlanGraph *graph, const double from[2], const double to[2]) {
	int32_t count = graph->edge_count;
	for (int32_t e = 0; e < count && !graph->failed; e++) {
		const double *a = graph->points[graph->edges[e].ends[0]], *b = graph->points[graph->edges[e].ends[1]];
		double c = cross_of(from, to, a), d = cross_of(from, to, b);
		if ((c > 0.0) == (d > 0.0) || (cross_of(a, b, from) > 0.0) == (cross_of(a, b, to) > 0.0))
			continue;
		double share = c / (c - d), p[2] = {a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])};
		point_at(graph, p);
	}
}

void fem_plan_graph_add(FemPlanGraph *graph, const double from[2], const double to[2]) {
	int32_t a = point_at(graph, from), b = point_at(graph, to), count = 0;
	if (a == b || graph->failed)
		return;
	double begin[2] = {graph->points[a][0], graph->points[a][1]}, end[2] = {graph->points[b][0], graph->points[b][1]};
	cut_crossed(graph, begin, end);
	int32_t capacity = graph->point_count;
	Stop *stops = FEM_ALLOC_ARRAY(Stop, capacity);
	if (!stops) {
		graph->failed = true;
		return;
	}
	for (int32_t i = 0; i < graph->point_count; i++) {
		double distance, share = foot_on(begin, end, graph->points[i], &distance);
		if (i == a || i == b || (share > 0.0 && share < 1.0 && distance <= graph->snap))
			stops[count++] = (Stop){i == a ? 0.0 : i == b ? 1.0 : share, i};
	}
	qsort(stops, (size_t)count, sizeof *stops, compare_stops);
	for (int32_t i = 0; i + 1 < count && !graph->failed; i++)
		add_edge(graph, stops[i].point, stops[i + 1].point, false);
	FEM_FREE_ARRAY(stops, capacity);
}

// ---- rungs

typedef struct Rung {
	double length;
	int32_t from, edge; // a corner, and the edge on the other side, or -1
	int32_t to;         // the corner on the other side, where there is no edge
	double foot[2];
} Rung;

static int compare_rungs(const void *left, const void *right) {
	const Rung *a = left, *b = right;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to != b->to ? (a->to < b->to ? -1 : 1) : (a->edge < b->edge ? -1 : a->edge > b->edge);
}

typedef struct Rungs {
	FemPlanGraph *graph;
	double reach;
	Rung *rungs;
	int32_t count, capacity;
} Rungs;

static void offer(Rungs *rungs, Rung rung) {
	if (!(rung.length <= rungs->reach))
		return;
	if (FEM_GROW(rungs->rungs, rungs->count, &rungs->capacity))
		rungs->rungs[rungs->count++] = rung;
	else
		rungs->graph->failed = true;
}

static void find_rungs(Rungs *rungs) {
	const FemPlanGraph *graph = rungs->graph;
	for (int32_t i = 0; i < graph->point_count; i++) {
		const double *p = graph->points[i];
		for (int32_t k = i + 1; k < graph->point_count; k++) {
			const double *q = graph->points[k];
			offer(rungs, (Rung){distance_of(p, q), i, -1, k, {q[0], q[1]}});
		}
		for (int32_t e = 0; e < graph->edge_count; e++) {
			const int32_t *ends = graph->edges[e].ends;
			const double *a = graph->points[ends[0]], *b = graph->points[ends[1]];
			double distance, share = foot_on(a, b, p, &distance);
			if (share > 0.0 && share < 1.0 && distance > graph->snap)
				offer(rungs, (Rung){distance, i, e, -1, {a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])}});
		}
	}
}

// Whether a rung leaves the edges at its end by a fair angle, and crosses none.
static bool is_clear(const FemPlanGraph *graph, const double from[2], const double to[2]) {
	double length = distance_of(from, to);
	for (int32_t e = 0; e < graph->edge_count; e++) {
		const double *a = graph->points[graph->edges[e].ends[0]], *b = graph->points[graph->edges[e].ends[1]];
		double c = cross_of(from, to, a), d = cross_of(from, to, b), edge = distance_of(a, b);
		for (int end = 0; end < 2; end++) { // which of the edge's ends is one of the rung's
			const double *here = end == 0 ? a : b, *there = end == 0 ? b : a;
			bool at_from = distance_of(here, from) <= graph->snap, at_to = distance_of(here, to) <= graph->snap;
			if (!at_from && !at_to)
				continue;
			const double *o = at_from ? from : to, *p = at_from ? to : from;
			double along = ((there[0] - o[0]) * (p[0] - o[0]) + (there[1] - o[1]) * (p[1] - o[1])) / (edge * length);
			if (along > sqrt(1.0 - RUNG_SINE * RUNG_SINE))
				return false;
		}
		double off_a, off_b, near_a = foot_on(from, to, a, &off_a), near_b = foot_on(from, to, b, &off_b);
		double limit = RUNG_ROUNDING * graph->snap, rim = graph->snap / length;
		if ((near_a > rim && near_a < 1.0 - rim && off_a < limit) ||
			(near_b > rim && near_b < 1.0 - rim && off_b < limit))
			return false;
		bool crosses = (c > 0.0) != (d > 0.0) && (cross_of(a, b, from) > 0.0) != (cross_of(a, b, to) > 0.0);
		double share = crosses ? cross_of(a, b, from) / (cross_of(a, b, from) - cross_of(a, b, to)) : 0.0;
		if (crosses && share > rim && share < 1.0 - rim)
			return false;
	}
	return true;
}

void fem_plan_graph_add_rungs(
	FemPlanGraph *graph, double reach, bool (*is_wall)(void *context, double x, double y), void *context) {
	Rungs rungs = {.graph = graph, .reach = reach};
	find_rungs(&rungs);
	if (rungs.count > 1)
		qsort(rungs.rungs, (size_t)rungs.count, sizeof *rungs.rungs, compare_rungs);
	for (int32_t i = 0; i < rungs.count && !graph->failed; i++) {
		const Rung *rung = &rungs.rungs[i];
		double from[2] = {graph->points[rung->from][0], graph->points[rung->from][1]};
		if (!is_clear(graph, from, rung->foot) ||
			!is_wall(context, 0.5 * (from[0] + rung->foot[0]), 0.5 * (from[1] + rung->foot[1])))
			continue;
		int32_t to = rung->to >= 0 ? rung->to : point_at(graph, rung->foot);
		if (to != rung->from && !graph->failed)
			add_edge(graph, rung->from, to, true);
	}
	FEM_FREE_ARRAY(rungs.rungs, rungs.capacity);
}

// ---- faces

// Half an edge, as it leaves a point.
typedef struct Half {
	int32_t from, to, edge;
	double angle;
} Half;

static int compare_halves(const void *left, const void *right) {
	const Half *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->angle < b->angle ? -1 : a->angle > b->angle;
}

// The half that goes on round the face on the left: at the end of one, the next clockwise from the way back.
static int32_t next_of(const Half *halves, const int32_t *first, int32_t half) {
	int32_t at = halves[half].to, back = first[at];
	while (halves[back].edge != halves[half].edge)
		back++;
	return back > first[at] ? back - 1 : first[at + 1] - 1;
}

int32_t fem_plan_graph_loops(const FemPlanGraph *graph, int32_t *out_indices, int32_t *out_ends) {
	int32_t count = 2 * graph->edge_count, loops = 0, used = 0;
	Half *halves = FEM_ALLOC_ARRAY(Half, count);
	int32_t *first = FEM_ALLOC_ARRAY(int32_t, graph->point_count + 1);
	bool *is_passed = FEM_ALLOC_ARRAY(bool, count);
	bool ready = halves && first && is_passed;
	for (int32_t h = 0; ready && h < count; h++) {
		const int32_t *ends = graph->edges[h / 2].ends;
		const double *a = graph->points[ends[h % 2]], *b = graph->points[ends[1 - h % 2]];
		halves[h] = (Half){ends[h % 2], ends[1 - h % 2], h / 2, atan2(b[1] - a[1], b[0] - a[0])};
		first[ends[h % 2] + 1]++;
	}
	if (ready)
		qsort(halves, (size_t)count, sizeof *halves, compare_halves);
	for (int32_t i = 0; ready && i < graph->point_count; i++)
		first[i + 1] += first[i];
	for (int32_t h = 0; ready && h < count; h++) {
		if (is_passed[h])
			continue;
		for (int32_t at = h; !is_passed[at]; at = next_of(halves, first, at)) {
			is_passed[at] = true;
			out_indices[used++] = halves[at].from;
		}
		out_ends[loops++] = used;
	}
	FEM_FREE_ARRAY(halves, count);
	FEM_FREE_ARRAY(first, graph->point_count + 1);
	FEM_FREE_ARRAY(is_passed, count);
	return ready ? loops : -1;
}

void fem_plan_graph_free(FemPlanGraph *graph) {
	FEM_FREE_ARRAY(graph->points, graph->point_capacity);
	FEM_FREE_ARRAY(graph->edges, graph->edge_capacity);
	*graph = (FemPlanGraph){0};
}
