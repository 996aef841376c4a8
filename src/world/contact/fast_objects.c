// Fast objects (P&O09 section 6): pieces that move more than a sixth of a box against each other in a step,
// or a third of what the thinner one is thick, are looked at in between. At the first place where two overlap that did
// not touch before, they are stopped there; velocities stay, and the contact enters the next solve.
//
// The path of a node within the step is taken as straight, from its position now back along its velocity. Whatever is
// live is stopped, pinned or partly asleep too; pinned, driven and sleeping nodes stay where they are.
//
// Pairs that touch already are the solve's business: a body that slides fast over another must not be held back
// (docs/method.md, "Fast objects"). They are stopped only where they would pierce each other: a pane that turns about
// the corner that struck it, or a membrane that springs back.
//
// Every pair is looked at for itself, on any thread; a piece is stopped where the first of its pairs meets.
#include "world/contact/fast_objects.h"

#include "base/range.h"
#include "base/vec.h"
#include "collision/piece_extents.h"
#include "dynamics/hinged_motion.h"
#include "dynamics/rewind.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/contact/held_pieces.h"
#include "world/contact/joint_contacts.h"
#include "world/step/step.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// Bound on the work of a pair: 512 thirds of a thickness of 1 cm are 1.7 m a step, 100 m/s at 60 Hz.
#define SAMPLES_MAX 512
#define BOX_SHARE 6.0f // samples a box's diagonal: P&O09 section 6, which has a sixth
// Samples a thickness of the partner: at most a third of it is passed over (docs/method.md, "Fast objects").
#define THICKNESS_SHARE 3.0f
#define STILL_SHARE 0.1f   // of the thickness: a partner that moves less is not stopped; chosen
#define SLACK 2.0f         // times the spread: a rotating piece goes on an arc, which the straight path leaves; chosen
#define TOUCHED_SAMPLES 64 // most, of pairs that touch: their overlaps are clipped, not only found ...
// ... and so many tets a step, shared by all of them, then the rest is left to the solve; both chosen.
#define TOUCHED_CLIPS 8192
#define PIERCED_SHARE 0.9f // of the thickness: as deep as this in a pair that touches ...
// ... and by this much deeper than at the start of the step; both chosen: what rests is never so deep.
#define PIERCED_MORE 0.25f
#define COMPACT_SHARE 0.25f // thickness over the edge of a cube of the same box: a cube has 1/3, plates and beams less
#define COMPACT_WIDTH 2.5f  // of what is compact, times its thickness: a cube has 3; chosen
// Bounds on the work of a step, shared by all pairs that did not touch before it; what is passed beyond them is left to
// the contacts of the next step. Of two pieces: boxes of a face and a tet (3 ns each), faces tested with a tet (60 ns).
// Of a piece and a collider: boxes of a tet and a sub-shape (100 ns), tets clipped (1 us). Chosen: some 30 ms each; the
// most that a pair of a bench scene takes is 12,000 and 3,400, and 14,000 and 20 with a level of 100,000 triangles.
#define PIECE_VISITS_MAX (1 << 23)
#define PIECE_TESTS_MAX (1 << 19)
#define COLLIDER_VISITS_MAX (1 << 19)
#define COLLIDER_CLIPS_MAX (1 << 15)
#define CRUMB_SHARE (1.0f / 32.0f) // of a body's mass: what is lighter is a crumb; chosen: a vase breaks into a hundred
#define SHARES_MAX 32              // a pair gets at least this part of the bounds, however many there are; chosen
#define CHUNK 16                   // pairs of a task; chosen
// Boxes of a face and a tet that take as long as all else that is done for a pair: its trees are walked, and up to 128
// of each are placed, before the first box is looked at. Measured on the bench level: 6 us.
#define PAIR_VISITS 2000
#define PAIRS_LEAST 64 // that are looked at whatever the limit; chosen: a burst vase has 20 pieces

// What overlapped at the start of the step: proxies of two pieces, or of a piece and a collider, with the bits of the
// depth of an overlap, m, which sort as the depths do; the same pair may be there several times.
typedef struct Touched {
	const FemKeyed *keys;
	int32_t count;
} Touched;

typedef struct Look {
	FemWorld *world;
	FemStep *step;
	float dt; // s
	Touched touched;
	int32_t clips; // of each pair that touches
	int32_t pairs; // that do not
} Look;

// ---- what overlapped when the step began, as far as one of the two may be fast

static int32_t piece_proxy(const FemBody *body, int32_t tet) {
	const FemTopology *t = body->topology;
	int32_t component = fem_tet_component(t, tet);
	return component < body->sweep_proxy_count ? body->pieces[component].sweep_proxy : -1;
}

static uint64_t key_of(int32_t proxy, int32_t other) {
	bool swap = other < proxy;
	return (uint64_t)(uint32_t)(swap ? other : proxy) << 32 | (uint32_t)(swap ? proxy : other);
}

static bool is_fast(const FemBody *body) {
	return body->step && body->step->fast_displacement > FEM_FAST_DISPLACEMENT_MIN; // null: asleep
}

static bool may_be_fast(const FemWorld *world, const FemTouch *touch) {
	return is_fast(world->bodies[touch->body]) || (!touch->is_collider && is_fast(world->bodies[touch->other]));
}

static uint64_t bits_of(float depth) {
	uint32_t bits;
	memcpy(&bits, &depth, sizeof bits);
	return bits;
}

static float depth_of(uint64_t value) {
	uint32_t bits = (uint32_t)value;
	float depth;
	memcpy(&depth, &bits, sizeof depth);
	return depth;
}

static int32_t list_touch(FemWorld *world, const FemTouch *touch, int32_t count) {
	FemContactStage *stage = &world->contacts;
	const FemBody *body = world->bodies[touch->body];
	for (int32_t i = touch->items.begin; i < touch->items.end; i++) {
		const FemOverlapItem *item = &stage->items[i];
		if ((!item->found && !item->held) || item->ahead > 0.0f)
			continue;
		int32_t first = piece_proxy(body, item->tet);
		int32_t second = touch->is_collider ? world->colliders[touch->other].sweep_proxy
											: piece_proxy(world->bodies[touch->other], item->other_tet);
		if (first < 0 || second < 0)
			continue;
		FemKeyed keyed = {key_of(first, second), item->found ? bits_of(stage->overlaps[i].depth) : 0};
		FemKeyed *last = count > 0 ? &stage->narrow.hits[count - 1] : NULL;
		if (last && last->key == keyed.key) // overlaps of the same pieces follow each other
			last->value = keyed.value > last->value ? keyed.value : last->value;
		else if (count < stage->narrow.limits.hits)
			stage->narrow.hits[count++] = keyed;
	}
	return count;
}

// In memory of the narrow phase, until that runs again.
static Touched list_touched(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	int32_t count = 0;
	for (int32_t t = 0; t < stage->touch_count; t++) {
		if (may_be_fast(world, &stage->touches[t]))
			count = list_touch(world, &stage->touches[t], count);
	}
	fem_key_sort(stage->narrow.hits, stage->narrow.scratch, count);
	return (Touched){stage->narrow.hits, count};
}

// Whether two overlapped, and how deep, m.
static bool has_touched(const Touched *touched, int32_t proxy, int32_t other, float *out_depth) {
	uint64_t key = key_of(proxy, other);
	int32_t low = 0, high = touched->count;
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (touched->keys[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < touched->count && touched->keys[low].key == key;
	for (*out_depth = 0.0f; low < touched->count && touched->keys[low].key == key; low++)
		*out_depth = fmaxf(*out_depth, depth_of(touched->keys[low].value));
	return found;
}

// ---- displacements

// Mean and largest displacement of the surface nodes in `range`. Values that are not finite give 0: such a body will be
// rolled back.
static FemFastPiece measure(const FemBody *body, FemRange range, float dt) {
	FemVec3 sum = {0.0f, 0.0f, 0.0f};
	float displacement_sq = 0.0f, spread_sq = 0.0f;
	for (int32_t i = range.begin; i < range.end; i++) {
		FemVec3 v = fem_vec3_from(body->velocity[body->surface_nodes[i]]);
		sum = fem_vec3_add(sum, v);
		float square = fem_vec3_dot(v, v);
		displacement_sq = square > displacement_sq ? square : displacement_sq;
	}
	FemFastPiece piece = {.displacement = dt * sqrtf(displacement_sq), .stop = 1.0f};
	if (piece.displacement <= FEM_FAST_DISPLACEMENT_MIN) {
		piece.spread = piece.displacement; // a bound that costs nothing: it is looked at only as a partner
		return piece;
	}
	FemVec3 mean = fem_vec3_scale(sum, 1.0f / (float)(range.end - range.begin));
	for (int32_t i = range.begin; i < range.end; i++) {
		FemVec3 d = fem_vec3_sub(fem_vec3_from(body->velocity[body->surface_nodes[i]]), mean);
		spread_sq = fmaxf(spread_sq, fem_vec3_dot(d, d));
	}
	piece.shift = fem_vec3_scale(mean, dt);
	piece.spread = dt * sqrtf(spread_sq);
	return fem_vec3_is_finite(piece.shift) && fem_is_finite(piece.displacement) ? piece : (FemFastPiece){.stop = 1.0f};
}

// Surface nodes ascend, and so do the nodes of components.
static void measure_task(void *context, int32_t index) {
	const Look *look = context;
	FemBody *body = look->world->bodies[look->world->islands.active_bodies[index]];
	FemFastPiece *pieces = look->world->contacts.fast.pieces;
	FemRange range = {0, 0};
	body->step->fast_displacement = 0.0f;
	for (int32_t c = 0; c < body->sweep_proxy_count; c++) {
		FemFastPiece *piece = &pieces[body->pieces[c].sweep_proxy];
		range.begin = range.end;
		while (range.end < body->surface_node_count &&
			body->surface_nodes[range.end] < body->topology->component_nodes[c].end)
			range.end++;
		*piece = fem_piece_is_live(body, c) && range.end > range.begin ? measure(body, range, look->dt)
																	   : (FemFastPiece){.stop = 1.0f};
		body->step->fast_displacement = fmaxf(body->step->fast_displacement, piece->displacement);
	}
}

// ---- pairs

static FemBody *body_of(const FemWorld *world, int32_t proxy) {
	return world->bodies[world->sweep.proxies[proxy].user];
}

static const FemCollider *collider_of(const FemWorld *world, int32_t proxy) {
	uint32_t user = world->sweep.proxies[proxy].user;
	return user & FEM_SWEEP_COLLIDER ? &world->colliders[user & ~FEM_SWEEP_COLLIDER] : NULL;
}

static float thickness_of(const FemWorld *world, int32_t proxy) {
	return body_of(world, proxy)->pieces[world->sweep.proxies[proxy].piece].thickness;
}

static FemSweptPiece swept_piece(const Look *look, int32_t proxy) {
	const FemBody *body = body_of(look->world, proxy);
	int32_t piece_index = look->world->sweep.proxies[proxy].piece;
	FemSweptPiece swept = {.body = body,
		.span = fem_surface_trees_component(body->trees, piece_index),
		.nodes = body->topology->component_nodes[piece_index]};
	if (body->live_part_count == 0 && !body->kinematic)
		return swept;
	const FemFastPiece *piece = &look->world->contacts.fast.pieces[proxy];
	swept.shift = piece->shift;
	swept.slack = SLACK * piece->spread;
	swept.dt = look->dt;
	swept.lead = body->kinematic ? 0.0f : look->dt; // those move after all others
	return swept;
}

static float diagonal_of(const FemWorld *world, int32_t proxy) {
	const FemSweepBox *box = &world->sweep.boxes[proxy];
	double square = 0.0;
	for (int i = 0; i < 3; i++)
		square += (box->max[i] - box->min[i]) * (box->max[i] - box->min[i]);
	return (float)sqrt(square);
}

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	bool meet = true;
	for (int i = 0; i < 3; i++)
		meet &= a->min[i] <= b->max[i] && a->max[i] >= b->min[i];
	return meet;
}

// Pieces that come out of each other's cracks lie face to face: only those of one body that were apart are looked at.
// Of what broke in this step the boxes are of its end, so that those that end apart are: where they began none was, and
// what flies through another unseen takes less of a blow (the ball leaves the slab at 4.7 in place of 4.4 m/s, and at
// 4.0 with 64 substeps).
static bool are_neighbours(const FemWorld *world, const FemFastPair *pair) {
	return body_of(world, pair->a) == body_of(world, pair->b) &&
		boxes_meet(&world->sweep.boxes[pair->a], &world->sweep.boxes[pair->b]);
}

static bool may_collide(const FemWorld *world, const FemFastPair *pair) {
	const FemBody *body = body_of(world, pair->a);
	const FemCollider *collider = collider_of(world, pair->b);
	if (collider)
		return fem_body_sees(body, collider->layer, collider->mask) &&
			!fem_collider_looks_ahead(world, collider, thickness_of(world, pair->a), world->step_dt) &&
			!fem_collider_ignores(collider, fem_body_id(world, (int32_t)world->sweep.proxies[pair->a].user));
	const FemBody *other = body_of(world, pair->b);
	if (fem_body_has_going_piece(body, world->sweep.proxies[pair->a].piece) ||
		fem_body_has_going_piece(other, world->sweep.proxies[pair->b].piece))
		return false;
	if (body == other)
		return body->self_contact && !are_neighbours(world, pair) &&
			!fem_pieces_are_joined(body, world->sweep.proxies[pair->a].piece, world->sweep.proxies[pair->b].piece);
	return fem_body_sees(body, other->layer, other->mask) &&
		!fem_bodies_are_joined(
			&world->contacts, (int32_t)world->sweep.proxies[pair->a].user, (int32_t)world->sweep.proxies[pair->b].user);
}

// Whether a pair that touched is searched for piercing. Pairs with a collider and pairs of two broken bodies are not:
// the latter lie in heaps where much touches, which is left to the solve.
static bool may_be_pierced(const FemWorld *world, const FemFastPair *pair) {
	bool whole = !collider_of(world, pair->b) &&
		(body_of(world, pair->a)->topology->component_count == 1 ||
			body_of(world, pair->b)->topology->component_count == 1);
	return whole && pair->displacement > pair->thickness;
}

// A small free piece of what broke that goes farther than it is long.
static bool is_flying_crumb(const FemWorld *world, int32_t proxy, float displacement) {
	const FemBody *body = body_of(world, proxy);
	const FemPiece *piece = &body->pieces[world->sweep.proxies[proxy].piece];
	return piece->pinned_count == 0 && !body->kinematic && piece->mass < CRUMB_SHARE * body->total_mass &&
		displacement > piece->length;
}

static void prepare(const Look *look, FemFastPair *pair) {
	const FemWorld *world = look->world;
	const FemCollider *collider = collider_of(world, pair->b);
	float diagonal = diagonal_of(world, pair->a);
	if (!may_collide(world, pair))
		return;
	// Two crumbs that cross in flight are not seen to, and after a blast every one has hundreds of others on its path:
	// 2,800 crumbs of thirty vases took a second a step. Where they overlap in the end their contacts part them.
	if (!collider && is_flying_crumb(world, pair->a, pair->displacement) &&
		is_flying_crumb(world, pair->b, pair->displacement))
		return;
	if (!collider)
		diagonal = fminf(diagonal, diagonal_of(world, pair->b));
	pair->thickness =
		collider ? fem_collider_thickness(collider) : fminf(thickness_of(world, pair->a), thickness_of(world, pair->b));
	float samples =
		fmaxf(BOX_SHARE * pair->displacement / diagonal, THICKNESS_SHARE * pair->displacement / pair->thickness);
	if (!(samples > 1.0f))
		return;
	pair->touched = has_touched(&look->touched, pair->a, pair->b, &pair->depth);
	if (pair->touched && !may_be_pierced(world, pair))
		return;
	pair->samples = (int32_t)fminf(samples, (float)(pair->touched ? TOUCHED_SAMPLES : SAMPLES_MAX) - 1.0f) + 1;
}

static void prepare_task(void *context, int32_t chunk) {
	const Look *look = context;
	FemFastPairs *fast = &look->world->contacts.fast;
	for (int32_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK && i < fast->pair_count; i++)
		prepare(look, &fast->pairs[i]);
}

// Moves the pairs that are to be sampled to the front of the list; returns how many of them touched before the step.
static int32_t drop_slow_pairs(FemFastPairs *fast) {
	int32_t kept = 0, touched = 0;
	for (int32_t i = 0; i < fast->pair_count; i++) {
		if (fast->pairs[i].samples == 0)
			continue;
		touched += fast->pairs[i].touched;
		fast->pairs[kept++] = fast->pairs[i];
	}
	fast->pair_count = kept;
	return touched;
}

static bool is_crumb(const FemWorld *world, int32_t proxy) {
	const FemBody *body = body_of(world, proxy);
	return body->pieces[world->sweep.proxies[proxy].piece].mass < CRUMB_SHARE * body->total_mass;
}

// 0: what passes through it is seen to; 1: only that something small did.
static int rank_of(const FemWorld *world, const FemFastPair *pair) {
	return pair->touched || collider_of(world, pair->b) || !(is_crumb(world, pair->a) || is_crumb(world, pair->b)) ? 0
																												   : 1;
}

// With a limit on the work of a step no more pairs are looked at than it has time for: first those of the first rank,
// and of each rank another stretch of the list in each step. Returns how many of them touched before the step.
static int32_t limit_pairs(FemWorld *world, int32_t touched) {
	FemFastPairs *fast = &world->contacts.fast;
	int32_t limit = world->limits.sweep_work_max, most = limit / PAIR_VISITS, room[2], counts[2] = {0, 0};
	most = most > PAIRS_LEAST ? most : PAIRS_LEAST;
	if (limit <= 0 || fast->pair_count <= most)
		return touched;
	for (int32_t i = 0; i < fast->pair_count; i++)
		counts[rank_of(world, &fast->pairs[i])]++;
	room[0] = counts[0] < most ? counts[0] : most;
	room[1] = most - room[0];
	int32_t kept = 0, seen[2] = {0, 0};
	touched = 0;
	for (int32_t i = 0; i < fast->pair_count; i++) {
		int rank = rank_of(world, &fast->pairs[i]);
		int32_t first = (int32_t)(world->step_statistics.step_count * (uint64_t)room[rank] % (uint64_t)counts[rank]);
		int32_t place = (seen[rank]++ - first + counts[rank]) % counts[rank];
		if (place >= room[rank])
			continue;
		touched += fast->pairs[i].touched;
		fast->pairs[kept++] = fast->pairs[i];
	}
	fast->pair_count = kept;
	return touched;
}

// With a limit on the work of a step all pairs share it.
static FemSweptWork share_of_work(const Look *look, int32_t visits, int32_t clips) {
	int32_t limit = look->world->limits.sweep_work_max, pairs = look->pairs < 1 ? 1 : look->pairs;
	if (limit > 0 && limit < PIECE_VISITS_MAX) {
		visits = (int32_t)((int64_t)visits * limit / PIECE_VISITS_MAX);
		clips = (int32_t)((int64_t)clips * limit / PIECE_VISITS_MAX);
	} else if (pairs > SHARES_MAX) {
		pairs = SHARES_MAX;
	}
	return (FemSweptWork){.visits_max = visits / pairs, .clips_max = clips / pairs};
}

// ---- in between

static int32_t first_overlap(const Look *look, FemFastPair *pair) {
	FemSweptPiece a = swept_piece(look, pair->a);
	const FemCollider *collider = collider_of(look->world, pair->b);
	FemSweptWork work;
	int32_t first;
	if (collider) {
		work = share_of_work(look, COLLIDER_VISITS_MAX, COLLIDER_CLIPS_MAX);
		first = fem_fast_first_in_collider(&a, collider, pair->displacement, pair->samples, &work);
	} else {
		FemSweptPiece b = swept_piece(look, pair->b);
		if (fem_pieces_stay_apart(&a, &b))
			return pair->samples + 1;
		work = share_of_work(look, PIECE_VISITS_MAX, PIECE_TESTS_MAX);
		first = fem_swept_first_overlap(&a, &b, pair->displacement, pair->samples, &work);
	}
	pair->visits = work.visits;
	pair->clips = work.clips;
	return first;
}

// m, least way through a piece.
static float width_of(const FemWorld *world, int32_t proxy) {
	const FemPiece *piece = &body_of(world, proxy)->pieces[world->sweep.proxies[proxy].piece];
	bool is_compact = piece->thickness > COMPACT_SHARE * sqrtf(piece->box_area);
	return is_compact ? COMPACT_WIDTH * piece->thickness : piece->thickness;
}

// What does not go far enough to come out on the other side is deepest at the end of the step.
static bool is_deepest_at_end(const FemWorld *world, const FemFastPair *pair) {
	return pair->displacement < width_of(world, pair->a) + width_of(world, pair->b);
}

// m: the depth to which they overlap, or a bound of it that is not above `enough`.
static float depth_at(const FemSweptPiece *a, const FemSweptPiece *b, FemSweptDepth *at) {
	float bound = fem_pieces_common_depth(a, b, at->fraction);
	return bound > at->enough ? fem_swept_depth(a, b, at) : fmaxf(bound, 0.0f);
}

// The first sample at which two pieces that touched pierce each other; the number of samples + 1 when they do not.
// Samples before the overlap can have grown to that depth are skipped.
static int32_t first_pierced(const Look *look, const FemFastPair *pair) {
	FemSweptPiece a = swept_piece(look, pair->a), b = swept_piece(look, pair->b);
	float depth = pair->depth, samples = (float)pair->samples;
	FemSweptDepth at = {
		.enough = fmaxf(PIERCED_SHARE * pair->thickness, depth + PIERCED_MORE * pair->thickness),
		.fraction = 1.0f,
		.clips_max = look->clips,
	};
	if (is_deepest_at_end(look->world, pair) && !(depth_at(&a, &b, &at) > at.enough))
		return pair->samples + 1;
	for (int32_t k = 0; at.clips < at.clips_max;) {
		k += (int32_t)fmaxf(samples * (at.enough - depth) / pair->displacement, 1.0f);
		if (k > pair->samples)
			break;
		at.fraction = (float)k / samples;
		depth = depth_at(&a, &b, &at);
		if (depth > at.enough)
			return k;
	}
	return pair->samples + 1;
}

static void look_task(void *context, int32_t index) {
	const Look *look = context;
	FemFastPair *pair = &look->world->contacts.fast.pairs[index];
	int32_t first = pair->touched ? first_pierced(look, pair) : first_overlap(look, pair);
	pair->first = fminf((float)first / (float)pair->samples, 1.0f);
}

// ---- stops

static void note_stop(FemWorld *world, int32_t proxy, const FemFastPair *pair) {
	const FemBody *body = collider_of(world, proxy) ? NULL : body_of(world, proxy);
	if (!body || body->live_part_count == 0 || body->kinematic)
		return;
	FemFastPiece *piece = &world->contacts.fast.pieces[proxy];
	if (piece->displacement <= fmaxf(FEM_FAST_DISPLACEMENT_MIN, STILL_SHARE * pair->thickness) ||
		piece->stop <= pair->first)
		return;
	piece->stop = pair->first;
	piece->stopped_by = proxy == pair->a ? pair->b : pair->a;
}

// Whether none of a piece sleeps, and whether besides no node of it is pinned or driven.
static bool is_wholly_awake(const FemBody *body, FemRange nodes, bool *out_free) {
	*out_free = true;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (body->part_state[body->topology->node_part[i]] != FEM_ISLAND_LIVE)
			return false;
		*out_free = *out_free && body->node_kind[i] == FEM_NODE_FREE;
	}
	return true;
}

// Index of the collider that stopped a piece; -1: another piece did.
static int32_t collider_that_stopped(const FemWorld *world, const FemFastPiece *piece) {
	const FemCollider *collider = collider_of(world, piece->stopped_by);
	return collider ? (int32_t)(collider - world->colliders) : -1;
}

static void stop_piece(const Look *look, int32_t proxy) {
	const FemSweepProxy *record = &look->world->sweep.proxies[proxy];
	const FemFastPiece *piece = &look->world->contacts.fast.pieces[proxy];
	FemBody *body = body_of(look->world, proxy);
	float back = look->dt * (1.0f - piece->stop);
	FemRange nodes = body->topology->component_nodes[record->piece];
	bool is_free, is_awake = is_wholly_awake(body, nodes, &is_free);
	if (is_awake && is_free) {
		fem_motion_rewind(body, nodes, back);
		fem_piece_hold(
			look->step, (int32_t)record->user, record->piece, back, collider_that_stopped(look->world, piece));
		return;
	}
	if (is_awake && fem_hinge_rewind(body, nodes, back))
		return;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 v = body->velocity[i];
		if (body->node_kind[i] != FEM_NODE_FREE || body->part_state[body->topology->node_part[i]] != FEM_ISLAND_LIVE)
			continue;
		body->position[i].x -= back * v.x;
		body->position[i].y -= back * v.y;
		body->position[i].z -= back * v.z;
	}
}

static void stop_pieces(const Look *look) {
	FemFastPairs *fast = &look->world->contacts.fast;
	for (int32_t i = 0; i < fast->pair_count; i++) {
		fast->visits += fast->pairs[i].visits;
		fast->clips += fast->pairs[i].clips;
		if (fast->pairs[i].first >= 1.0f)
			continue;
		note_stop(look->world, fast->pairs[i].a, &fast->pairs[i]);
		note_stop(look->world, fast->pairs[i].b, &fast->pairs[i]);
	}
	for (int32_t i = 0; i < fast->moving_count; i++) {
		if (fast->pieces[fast->entries[i].proxy].stop < 1.0f)
			stop_piece(look, fast->entries[i].proxy);
	}
}

static int32_t touched_clips(const FemWorld *world) {
	int32_t limit = world->limits.sweep_work_max;
	bool is_limited = limit > 0 && limit < PIECE_VISITS_MAX;
	return is_limited ? (int32_t)((int64_t)TOUCHED_CLIPS * limit / PIECE_VISITS_MAX) : TOUCHED_CLIPS;
}

void fem_step_catch_fast_objects(FemStep *step) {
	FemWorld *world = step->world;
	FemFastPairs *fast = &world->contacts.fast;
	Look look = {.world = world, .step = step, .dt = step->dt};
	bool any = false;
	fast->visits = fast->clips = 0;
	if (!world->def.contacts_enabled)
		return;
	if (!fem_fast_pairs_hold_pieces(fast, world->sweep.proxy_end)) {
		world->step_errors |= FEM_STEP_NO_MEMORY;
		return;
	}
	fem_pool_for(world->pool, world->islands.active_count, measure_task, &look);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		any |=
			body->live_part_count > 0 && !body->kinematic && body->step->fast_displacement > FEM_FAST_DISPLACEMENT_MIN;
	}
	if (!any) // slower ones pass nothing that a contact would not hold
		return;
	fem_fast_pairs_find(world);
	look.touched = list_touched(world);
	fem_pool_for(world->pool, (fast->pair_count + CHUNK - 1) / CHUNK, prepare_task, &look);
	int32_t touched = limit_pairs(world, drop_slow_pairs(fast));
	look.clips = touched_clips(world) / (touched > 0 ? touched : 1) + 1;
	look.pairs = fast->pair_count - touched;
	fem_pool_for_uneven(world->pool, fast->pair_count, look_task, &look);
	stop_pieces(&look);
	if (fast->full)
		world->step_errors |= FEM_STEP_CONTACTS_FULL;
}
