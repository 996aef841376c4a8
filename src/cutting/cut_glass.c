// Glass: cracks run radially from impacts and rings cross them; far from all there are random splinters. Flat bodies
// are cut straight through their thickness, others in space with splinters that grow with the distance.
#include "cutting/cut_patterns.h"

#define ONE_IMPACT 150           // splinters: a pane of more gets two impacts; this and what follows chosen by eye
#define SPREAD 0.8               // at full unevenness: how far a spoke is off its place, in sectors
#define FIRST_RING 0.35          // radius of the first ring in mean sizes of a splinter ...
#define FIRST_RING_LEAST 0.004   // ... at the least this share of the distance to the farthest corner
#define SPOKES_LEAST 6.0         // cracks at an impact ...
#define SPOKES_MOST 24.0         // ... at the most
#define RINGS_LEAST 4.0          // rings around an impact ...
#define RINGS_MOST 32.0          // ... at the most
#define FLAT 0.25                // thickness / middle extent below which a body is a pane; chosen
#define RADIAL_SHARE 0.9         // of all splinters: the others are random; this and what follows chosen by eye
#define SECTORS_MAX 96           // of a ring
#define SPOKES 0.45              // cracks at an impact, and ...
#define RINGS 1.1                // ... rings around it, by the root of the number of splinters
#define GOES_ON 0.6              // chance of a splinter to reach into the next ring
#define ASLANT 0.35              // at full unevenness: how far sites are off the middle, in widths of a sector ...
#define STAGGER 0.4              // ... and off their ring, in steps from ring to ring
#define SPLINTER_RINGS 4         // most rings of a splinter
#define TWO_PI 6.283185307179586 // rad: a full angle

bool fem_cut_is_pane(const FemCutBody *body) {
	return body->box.half_extents[2] < FLAT * body->box.half_extents[1];
}

static void choose_impacts(FemCutBody *body, int32_t *out_count, FemVec3d out[FEM_CUT_IMPACTS_MAX]) {
	const FemCutDef *def = body->def;
	*out_count = def->impact_count > 0 ? def->impact_count : body->splinter_count > ONE_IMPACT ? 2 : 1;
	for (int32_t n = 0; n < *out_count; n++) {
		if (def->impact_count > 0) {
			out[n] = fem_frame_to_unit(&body->frame, fem_vec3d_from(def->impacts[n]));
			continue;
		}
		FemVec3d a = fem_cut_random_place(body), b = fem_cut_random_place(body), c = fem_cut_random_place(body);
		out[n] = fem_vec3d_scale(fem_vec3d_add(a, fem_vec3d_add(b, c)), 1.0 / 3.0); // likelier in the middle
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

static void add_site(Pane *pane, Flat at, int32_t splinter) {
	double place[3] = {at.x, at.y, 0.0};
	fem_cut_sites_add(pane->sites, fem_cut_frame_place(pane->body, &pane->frame, place), 0.0, splinter);
}

// Cracks that run out from an impact, as angles in shares of the full circle; those of a ring, and the splinter that
// each sector belongs to.
typedef struct Star {
	double angles[SECTORS_MAX + 1]; // rising; the last is the first plus 1
	int32_t splinters[SECTORS_MAX]; // of the ring before, -1: none
	int32_t lengths[SECTORS_MAX];   // of these, in rings
	int32_t count;
} Star;

static Star make_star(Pane *pane, int32_t count) {
	Star star = {.count = count};
	double phase = fem_cut_random(pane->body), spread = SPREAD * (double)pane->body->def->unevenness;
	for (int32_t n = 0; n < count; n++) {
		star.angles[n] = phase + (n + spread * (fem_cut_random(pane->body) - 0.5)) / count;
		star.splinters[n] = -1;
	}
	star.angles[count] = star.angles[0] + 1.0;
	return star;
}

// A new crack in each sector: they branch as they get farther from each other.
static void branch(Pane *pane, Star *star) {
	Star old = *star;
	double spread = 0.5 * (double)pane->body->def->unevenness;
	star->count = 2 * old.count;
	for (int32_t n = 0; n < old.count; n++) {
		double share = 0.5 + spread * (fem_cut_random(pane->body) - 0.5);
		int32_t kept = 2 * n + (fem_cut_random(pane->body) < 0.5);
		star->angles[2 * n] = old.angles[n];
		star->angles[2 * n + 1] = old.angles[n] + share * (old.angles[n + 1] - old.angles[n]);
		star->splinters[2 * n] = star->splinters[2 * n + 1] = -1;
		star->splinters[kept] = old.splinters[n];
		star->lengths[kept] = old.lengths[n];
	}
	star->angles[star->count] = star->angles[0] + 1.0;
}

// Sites near the middle of their sectors, so that borders run along the cracks; not quite there, so that splinters end
// aslant. They go on from ring to ring by chance: they are long, and rings seldom close.
static void add_ring(Pane *pane, Star *star, int32_t impact, double radius, double growth) {
	double spread = (double)pane->body->def->unevenness;
	for (int32_t n = 0; n < star->count && !pane->sites->failed; n++) {
		double width = star->angles[n + 1] - star->angles[n];
		double angle =
			TWO_PI * (star->angles[n] + width * (0.5 + ASLANT * spread * (fem_cut_random(pane->body) - 0.5)));
		double r = radius * pow(growth, STAGGER * spread * (fem_cut_random(pane->body) - 0.5));
		Flat at = {pane->impacts[impact].x + r * cos(angle), pane->impacts[impact].y + r * sin(angle)};
		bool goes_on =
			star->splinters[n] >= 0 && star->lengths[n] < SPLINTER_RINGS && fem_cut_random(pane->body) < GOES_ON;
		if (!on_pane(pane, at) || nearest_impact(pane, at) != impact) {
			star->splinters[n] = -1;
			continue;
		}
		star->lengths[n] = goes_on ? star->lengths[n] + 1 : 1;
		star->splinters[n] = goes_on ? star->splinters[n] : pane->sites->splinter_count++;
		add_site(pane, at, star->splinters[n]);
		pane->made += !goes_on;
	}
}

// Rings whose radii grow by the same factor.
static void add_rings(Pane *pane, int32_t impact, double first_radius, double growth, double farthest, int32_t spokes) {
	Star star = make_star(pane, spokes < SECTORS_MAX / 4 ? spokes : SECTORS_MAX / 4);
	int32_t ring = 0, rings = (int32_t)(log(farthest / first_radius) / log(growth));
	for (double radius = first_radius; radius < farthest; radius *= growth, ring++) {
		if (ring == rings / 4 || ring == rings / 2)
			branch(pane, &star);
		add_ring(pane, &star, impact, radius, growth);
	}
}

static void cut_pane(FemCutBody *body, FemCutSites *sites, int32_t impact_count, const FemVec3d *impacts) {
	Pane pane = {.body = body, .sites = sites, .impact_count = impact_count};
	pane.frame = fem_cut_frame(body, fem_vec3d_from(body->def->grain), 2, 2);
	for (int n = 0; n < 2; n++) { // distances along the pane only
		sites->metric[n][0] = pane.frame.axes[n].x;
		sites->metric[n][1] = pane.frame.axes[n].y;
		sites->metric[n][2] = pane.frame.axes[n].z;
		sites->metric[2][n] = 0.0;
	}
	sites->metric[2][2] = 0.0;
	for (int32_t n = 0; n < impact_count; n++) {
		FemVec3d at = fem_vec3d_scale(impacts[n], body->frame.size);
		pane.impacts[n] = (Flat){fem_vec3d_dot(at, pane.frame.axes[0]), fem_vec3d_dot(at, pane.frame.axes[1])};
	}
	double width = pane.frame.high[0] - pane.frame.low[0], height = pane.frame.high[1] - pane.frame.low[1];
	double mean = sqrt(width * height / body->splinter_count), farthest = hypot(width, height);
	double first = fmax(FIRST_RING * mean, FIRST_RING_LEAST * farthest),
		   share = (double)body->splinter_count / impact_count;
	double spokes = fmin(fmax(SPOKES * sqrt(share), SPOKES_LEAST), SPOKES_MOST),
		   rings = fmin(fmax(RINGS * sqrt(share), RINGS_LEAST), RINGS_MOST);
	for (int32_t n = 0; n < impact_count; n++)
		add_rings(&pane, n, first, exp(log(farthest / first) / rings), farthest, (int32_t)spokes);
	int32_t most = (int32_t)fmin(body->splinter_count - pane.made, (1.0 - RADIAL_SHARE) * body->splinter_count + 1.0);
	for (int32_t n = 0; n < most; n++) {
		FemVec3d at = fem_vec3d_scale(fem_cut_random_place(body), body->frame.size);
		add_site(&pane, (Flat){fem_vec3d_dot(at, pane.frame.axes[0]), fem_vec3d_dot(at, pane.frame.axes[1])},
			sites->splinter_count++);
	}
}

void fem_cut_pattern_glass(FemCutBody *body, FemCutSites *sites) {
	FemVec3d impacts[FEM_CUT_IMPACTS_MAX];
	int32_t count;
	choose_impacts(body, &count, impacts);
	if (fem_cut_is_pane(body))
		cut_pane(body, sites, count, impacts);
	else
		fem_cut_pattern_voronoi(body, sites, count, impacts);
}
