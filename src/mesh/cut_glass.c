// Glass: cracks run radially from impacts and rings cross them; far from all there are random shards. Flat bodies are cut
// straight through their thickness, others in space with shards that grow with the distance.
#include "mesh/cut_patterns.h"

#define FLAT 0.25        // thickness / middle extent below which a body is a pane
#define RADIAL_SHARE 0.8 // of all shards: the others are random
#define TURN 6.283185307179586

static void choose_impacts(FemCutBody *body, int32_t *out_count, FemPosition out[FEM_CUT_IMPACTS_MAX]) {
	const FemCutDef *def = body->def;
	*out_count = def->impact_count > 0 ? def->impact_count : body->piece_count > 150 ? 2 : 1;
	for (int32_t n = 0; n < *out_count; n++) {
		if (def->impact_count > 0) {
			out[n] = fem_frame_to_unit(&body->frame, fem_position_from(def->impacts[n]));
			continue;
		}
		FemPosition a = fem_cut_random_place(body), b = fem_cut_random_place(body), c = fem_cut_random_place(body);
		out[n] = fem_position_scale(fem_position_add(a, fem_position_add(b, c)), 1.0 / 3.0); // likelier in the middle
	}
}

// Along the pane's first two axes, m.
typedef struct Flat {
	double x, y;
} Flat;

typedef struct Pane {
	FemCutBody *body;
	FemCutSites *sites;
	FemCutFrame frame;
	Flat impacts[FEM_CUT_IMPACTS_MAX];
	int32_t impact_count, made;
} Pane;

static bool on_pane(const Pane *pane, Flat at) {
	const FemCutFrame *f = &pane->frame;
	return at.x >= f->low[0] && at.x <= f->high[0] && at.y >= f->low[1] && at.y <= f->high[1];
}

static int32_t nearest_impact(const Pane *pane, Flat at) {
	int32_t best = 0;
	for (int32_t n = 1; n < pane->impact_count; n++)
		if (hypot(at.x - pane->impacts[n].x, at.y - pane->impacts[n].y) <
			hypot(at.x - pane->impacts[best].x, at.y - pane->impacts[best].y))
			best = n;
	return best;
}

static void add_site(Pane *pane, Flat at) {
	double place[3] = {at.x, at.y, 0.0};
	fem_cut_sites_add(
		pane->sites, fem_cut_frame_place(pane->body, &pane->frame, place), 0.0, pane->sites->piece_count++);
	pane->made++;
}

// Rings whose radii grow by the same factor; the innermost have half the spokes.
static void add_rings(Pane *pane, int32_t impact, double first_radius, double growth, double farthest, int32_t spokes) {
	double phase = fem_cut_random(pane->body), spread = (double)pane->body->def->unevenness;
	for (double radius = first_radius; radius < farthest; radius *= growth) {
		int32_t count = radius < first_radius * growth * 1.5 ? (spokes + 1) / 2 : spokes;
		phase += 0.5 * fem_cut_random(pane->body) / count;
		for (int32_t n = 0; n < count && !pane->sites->failed; n++) {
			double angle = TURN * (phase + (n + 0.7 * spread * (fem_cut_random(pane->body) - 0.5)) / count);
			double r = radius * pow(growth, 0.8 * spread * (fem_cut_random(pane->body) - 0.5));
			Flat at = {pane->impacts[impact].x + r * cos(angle), pane->impacts[impact].y + r * sin(angle)};
			if (on_pane(pane, at) && nearest_impact(pane, at) == impact)
				add_site(pane, at);
		}
	}
}

static void cut_pane(FemCutBody *body, FemCutSites *sites, int32_t impact_count, const FemPosition *impacts) {
	Pane pane = {.body = body, .sites = sites, .impact_count = impact_count};
	pane.frame = fem_cut_frame(body, fem_position_from(body->def->grain), 2, 2);
	for (int n = 0; n < 2; n++) { // distances along the pane only
		sites->metric[n][0] = pane.frame.axes[n].x;
		sites->metric[n][1] = pane.frame.axes[n].y;
		sites->metric[n][2] = pane.frame.axes[n].z;
		sites->metric[2][n] = 0.0;
	}
	sites->metric[2][2] = 0.0;
	for (int32_t n = 0; n < impact_count; n++) {
		FemPosition at = fem_position_scale(impacts[n], body->frame.size);
		pane.impacts[n] = (Flat){fem_position_dot(at, pane.frame.axes[0]), fem_position_dot(at, pane.frame.axes[1])};
	}
	double width = pane.frame.high[0] - pane.frame.low[0], height = pane.frame.high[1] - pane.frame.low[1];
	double mean = sqrt(width * height / body->piece_count), farthest = hypot(width, height);
	double first = fmax(0.35 * mean, 0.004 * farthest), share = (double)body->piece_count / impact_count;
	double spokes = fmin(fmax(1.1 * sqrt(share), 8.0), 60.0),
		   rings = fmin(fmax(RADIAL_SHARE * share / spokes, 3.0), 24.0);
	for (int32_t n = 0; n < impact_count; n++) {
		add_site(&pane, pane.impacts[n]);
		add_rings(&pane, n, first, exp(log(farthest / first) / rings), farthest, (int32_t)spokes);
	}
	int32_t most = (int32_t)fmin(body->piece_count - pane.made, (1.0 - RADIAL_SHARE) * body->piece_count + 1.0);
	for (int32_t n = 0; n < most; n++) {
		FemPosition at = fem_position_scale(fem_cut_random_place(body), body->frame.size);
		add_site(&pane, (Flat){fem_position_dot(at, pane.frame.axes[0]), fem_position_dot(at, pane.frame.axes[1])});
	}
}

void fem_cut_pattern_glass(FemCutBody *body, FemCutSites *sites) {
	FemPosition impacts[FEM_CUT_IMPACTS_MAX];
	int32_t count;
	choose_impacts(body, &count, impacts);
	if (body->box.half_extents[2] < FLAT * body->box.half_extents[1])
		cut_pane(body, sites, count, impacts);
	else
		fem_cut_pattern_voronoi(body, sites, count, impacts);
}
