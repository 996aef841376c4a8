// Few contacts between rigid pieces that cannot break.
//
// What touches is found tet by tet, so that two bricks which lie on each other have dozens of contacts. A rigid piece
// has six unknowns: up to four points that span the area of those with about the same normal hold it as well, each
// with the strength of the ones that it stands for. Elastic pieces need all: theirs press where they deform.
#include "base/vec.h"
#include "dynamics/contact_rows.h"
#include "fracture/separation.h"
#include "model/modal.h"
#include "model/piece.h"
#include "world/contact/contact_builder.h"

#include <math.h>

#define POINTS 4          // of one normal: a plane stands on three, with a fourth a square one does not rock
#define SAME_NORMAL 0.95f // cosine, of 18 degrees: normals that count as one; chosen
#define STICKY 1.2f       // times the square of a distance, or a distance from a line; chosen
#define MOST 256          // contacts of two pieces that are looked at together; further ones stay. Chosen

typedef struct Manifold {
	FemContact *contacts;
	int32_t count;
	FemVec3 point[MOST]; // m, in the frame of the first body
	bool is_done[MOST];  // of a group
	bool is_kept[MOST];
	int32_t group[MOST]; // those with about the same normal, at hand
	int32_t group_count;
} Manifold;

// Colliders are left out: what rests on them is held at its nodes, and creeps down slopes when some of those are not.
// So is what can break: fewer points bend it more.
static bool is_rigid_side(const FemWorld *world, const FemContactSide *side) {
	const FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
	bool may_break = body && body->breaking && body->breaking->can_break && !fem_body_stays_rigid(body);
	return body && body->pieces[side->piece].is_rigid && !may_break;
}

static FemVec3 point_of(const FemWorld *world, const FemContactSide *side) {
	const FemVec4 *x = world->bodies[side->body]->position;
	FemVec3 out = {0.0f, 0.0f, 0.0f};
	for (int k = 0; k < 4; k++)
		out = fem_vec3_add(out, fem_vec3_scale(fem_vec3_from(x[side->nodes[k]]), side->weights[k]));
	return out;
}

static FemVec3 normal_of(const FemContact *contact) {
	return (FemVec3){contact->normal[0], contact->normal[1], contact->normal[2]};
}

// Those not in a group yet whose normal is about that of the first of them, the given one.
static void take_group(Manifold *m, int32_t first) {
	FemVec3 normal = normal_of(&m->contacts[first]);
	m->group_count = 0;
	for (int32_t i = first; i < m->count; i++) {
		if (m->is_done[i] || (i > first && !(fem_vec3_dot(normal, normal_of(&m->contacts[i])) > SAME_NORMAL)))
			continue;
		m->is_done[i] = true;
		m->group[m->group_count++] = i;
	}
}

static float distance_sq(const Manifold *m, int32_t a, int32_t b) {
	FemVec3 d = fem_vec3_sub(m->point[a], m->point[b]);
	return fem_vec3_dot(d, d);
}

// What pressed in the last step goes before what lies a little farther out: a point that is new has no friction yet,
// and what rests on points that change creeps.
static float preference(const FemContact *contact) {
	return contact->friction_strength > 0.0f ? STICKY : 1.0f;
}

// Of the group, by the square of the distance from a point; of equals the first.
static int32_t farthest_from(const Manifold *m, FemVec3 from) {
	int32_t far = m->group[0];
	float most = -1.0f;
	for (int32_t g = 0; g < m->group_count; g++) {
		FemVec3 d = fem_vec3_sub(m->point[m->group[g]], from);
		float square = preference(&m->contacts[m->group[g]]) * fem_vec3_dot(d, d);
		if (square > most)
			most = square, far = m->group[g];
	}
	return far;
}

// The one farthest from the middle, the one farthest from that, and those farthest from their line on either side: all
// four corners of a square, whichever comes first.
static void choose_points(Manifold *m) {
	FemVec3 middle = {0.0f, 0.0f, 0.0f};
	for (int32_t g = 0; g < m->group_count; g++)
		middle = fem_vec3_add(middle, fem_vec3_scale(m->point[m->group[g]], 1.0f / (float)m->group_count));
	int32_t first = farthest_from(m, middle), second = farthest_from(m, m->point[first]), left = -1, right = -1;
	FemVec3 along = fem_vec3_sub(m->point[second], m->point[first]);
	FemVec3 across = fem_vec3_cross(normal_of(&m->contacts[first]), along);
	float most_left = 0.0f, most_right = 0.0f;
	for (int32_t g = 0; g < m->group_count; g++) {
		float side = preference(&m->contacts[m->group[g]]) *
			fem_vec3_dot(across, fem_vec3_sub(m->point[m->group[g]], m->point[first]));
		if (side > most_left)
			most_left = side, left = m->group[g];
		if (side < most_right)
			most_right = side, right = m->group[g];
	}
	m->is_kept[first] = m->is_kept[second] = true;
	if (left >= 0)
		m->is_kept[left] = true;
	if (right >= 0)
		m->is_kept[right] = true;
}

// Of those of the group that are kept.
static int32_t nearest_kept(const Manifold *m, int32_t contact) {
	int32_t nearest = -1;
	float least = INFINITY;
	for (int32_t g = 0; g < m->group_count; g++) {
		float square = distance_sq(m, m->group[g], contact);
		if (m->is_kept[m->group[g]] && (nearest < 0 || square < least))
			least = square, nearest = m->group[g];
	}
	return nearest;
}

static void thin_group(Manifold *m) {
	for (int32_t g = 0; g < m->group_count; g++)
		m->is_kept[m->group[g]] = m->group_count <= POINTS;
	if (m->group_count <= POINTS)
		return;
	choose_points(m);
	for (int32_t g = 0; g < m->group_count; g++) {
		const FemContact *dropped = &m->contacts[m->group[g]];
		if (m->is_kept[m->group[g]])
			continue;
		FemContact *heir = &m->contacts[nearest_kept(m, m->group[g])];
		heir->area += dropped->area;
		heir->normal_strength += dropped->normal_strength;
	}
}

// Of a mesh that is convex, whole, nowhere bent far, and rigid, or so until a load of late. What is elastic from the
// start comes apart by its own elasticity.
static bool is_convex(const FemWorld *world, const FemContactSide *side) {
	const FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
	const FemPiece *piece = body ? &body->pieces[side->piece] : NULL;
	return body && !body->own_topology && (piece->is_rigid || piece->calm_needed > 0) &&
		!fem_contact_may_fold(world, body, side->piece);
}

// Two convex solids are apart as soon as they are so in one direction. Where they stand deep in each other tets are
// pushed out on all sides at once: loads that balance each other, hundreds of times the weight, hold both there and
// bend them. So those that push against the mean of all, by area, go. Returns how many are left.
static int32_t drop_opposing(const FemWorld *world, FemContact *contacts, int32_t count) {
	const FemContactSide *side = contacts[0].side;
	FemVec3 mean = {0.0f, 0.0f, 0.0f};
	int32_t opposing = 0, left = 0;
	for (int32_t i = 0; i < count; i++)
		mean = fem_vec3_add(mean, fem_vec3_scale(normal_of(&contacts[i]), contacts[i].area));
	for (int32_t i = 0; i < count; i++)
		opposing += fem_vec3_dot(mean, normal_of(&contacts[i])) < 0.0f;
	if (opposing == 0 || side[0].body == side[1].body || !is_convex(world, &side[0]) || !is_convex(world, &side[1]))
		return count;
	for (int32_t i = 0; i < count; i++) {
		if (!(fem_vec3_dot(mean, normal_of(&contacts[i])) < 0.0f))
			contacts[left++] = contacts[i];
	}
	return left;
}

// Returns how many are left, in their order.
static int32_t thin_pieces(const FemWorld *world, FemContact *contacts, int32_t count) {
	Manifold m;
	int32_t left = 0;
	m.contacts = contacts;
	m.count = count < MOST ? count : MOST;
	for (int32_t i = 0; i < m.count; i++) {
		m.point[i] = point_of(world, &contacts[i].side[0]);
		m.is_done[i] = false;
	}
	for (int32_t i = 0; i < m.count; i++) {
		if (m.is_done[i])
			continue;
		take_group(&m, i);
		thin_group(&m);
	}
	for (int32_t i = 0; i < count; i++) {
		if (i >= m.count || m.is_kept[i])
			contacts[left++] = contacts[i];
	}
	return left;
}

// ---- pieces that move by modes, on colliders

static const FemModal *modal_of_side(const FemWorld *world, const FemContactSide *side) {
	const FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
	return body ? fem_contact_few_points(body) : NULL;
}

// Where the node with the largest share in a point stands among those that are spread over the body.
static int32_t rank_of(const FemModal *modal, const FemContactSide *side) {
	int most = 0;
	for (int k = 1; k < 4 && side->kind != FEM_SIDE_NODE; k++)
		most = side->weights[k] > side->weights[most] ? k : most;
	return modal->rank[side->nodes[most]];
}

// Leaves those points that are spread best, always the same ones, so that nothing creeps; each bears the more. Returns
// how many are left, in their order.
static int32_t thin_modal(const FemModal *modal, FemContact *contacts, int32_t count) {
	int32_t most = fem_modal_points_max(modal), left = 0, bound = INT32_MAX;
	float all = 0.0f, kept = 0.0f;
	for (int32_t n = 0; n < most; n++) { // the rank of the last that stays
		int32_t next = INT32_MAX, last = n == 0 ? -1 : bound;
		for (int32_t i = 0; i < count; i++) {
			int32_t rank = rank_of(modal, &contacts[i].side[0]);
			next = rank > last && rank < next ? rank : next;
		}
		if (next == INT32_MAX)
			return count;
		bound = next;
	}
	for (int32_t i = 0; i < count; i++) {
		all += contacts[i].area;
		if (rank_of(modal, &contacts[i].side[0]) <= bound)
			kept += contacts[i].area, contacts[left++] = contacts[i];
	}
	for (int32_t i = 0; i < left && kept > 0.0f; i++) {
		contacts[i].area *= all / kept;
		contacts[i].normal_strength *= all / kept;
	}
	return left;
}

int32_t fem_contact_builder_thin_out(const FemContactBuilder *builder, FemRange made) {
	FemContact *contacts = builder->stage->contacts;
	int32_t left = made.begin;
	if (builder->stage->holds) // they stand in the order in which contacts were added
		return made.end;
	for (int32_t begin = made.begin, end; begin < made.end; begin = end) {
		const FemContactSide *side = contacts[begin].side;
		end = fem_contacts_end_of_pieces(contacts, begin, made.end);
		int32_t count = end - begin;
		bool are_rigid = is_rigid_side(builder->world, &side[0]) && is_rigid_side(builder->world, &side[1]);
		count = drop_opposing(builder->world, contacts + begin, count);
		if (are_rigid && count > POINTS)
			count = thin_pieces(builder->world, contacts + begin, count);
		const FemModal *modal = fem_side_is_collider(&side[1]) ? modal_of_side(builder->world, &side[0]) : NULL;
		if (modal && count > fem_modal_points_max(modal))
			count = thin_modal(modal, contacts + begin, count);
		for (int32_t i = 0; i < count; i++)
			contacts[left++] = contacts[begin + i];
	}
	return left;
}
