// Colliders that move fast: where they will strike within the step.
//
// Nothing stops a collider that the caller moves, and one with mass is moved by the caller too. So a body in its path
// must know before the solve: tets that the collider comes to overlap in this step get a contact with the gap that may
// still close (fem_contacts_make()), as half spaces have it. Bodies are taken to go on as they go; tets as seen from
// the collider are rigid.
#include "base/search.h"
#include "base/vec.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>

#define SAMPLES_MAX 512      // bound on the work of a tet; as of fast objects
#define TESTS_MAX (1 << 17)  // samples of all tets in a step, some 0.3 us each: more tets have fewer; chosen
#define SAMPLES_LEAST 8      // of a tet, however many there are: up to 16,384 tets the bound holds; chosen
#define THICKNESS_SHARE 3.0f // samples a thickness: as of fast objects, at most a third of it is passed over

// ---- motion

// Velocity of the frame's origin, m/s. It differs from that of the centre of mass when further shapes move as one with
// the collider.
static FemVec3 origin_velocity(const FemWorld *world, const FemCollider *collider) {
	FemVec3 center = collider->leader >= 0 ? world->colliders[collider->leader].center : collider->center;
	return fem_vec3_sub(collider->linear_velocity, fem_vec3_cross(collider->angular_velocity, center));
}

void fem_collider_move(const FemWorld *world, FemCollider *collider, FemVec3 against, float time) {
	FemVec3 velocity = fem_vec3_sub(origin_velocity(world, collider), against), w = collider->angular_velocity;
	FemQuat q = collider->rotation,
			spin = fem_quat_mul((FemQuat){0.5f * time * w.x, 0.5f * time * w.y, 0.5f * time * w.z, 0.0f}, q);
	FemQuat sum = {q.x + spin.x, q.y + spin.y, q.z + spin.z, q.w + spin.w};
	collider->position = fem_position_move(collider->position, fem_vec3d_scale(fem_vec3d_from(velocity), (double)time));
	collider->rotation = fem_quat_normalize(&sum) ? sum : q;
	fem_collider_place_shape(collider);
}

// m, from the frame's origin to the farthest corner of the shape's box.
static float radius_of(const FemCollider *collider) {
	FemVec3 far = {fmaxf(-collider->box_min.x, collider->box_max.x), fmaxf(-collider->box_min.y, collider->box_max.y),
		fmaxf(-collider->box_min.z, collider->box_max.z)};
	return fem_vec3_length(far) + fem_vec3_length(collider->local_position);
}

// Whether the collider changes place. A conveyor belt has a velocity but stays where it is.
static bool can_move(const FemCollider *collider) {
	return collider->in_use && collider->travels && collider->kind != FEM_COLLIDER_STATIC &&
		collider->shape.type != FEM_SHAPE_HALF_SPACE;
}

static float rotation_displacement(const FemCollider *collider, float dt) {
	return dt * fem_vec3_length(collider->angular_velocity) * radius_of(collider);
}

static float displacement_of(const FemWorld *world, const FemCollider *collider, float dt) {
	return can_move(collider)
		? dt * fem_vec3_length(origin_velocity(world, collider)) + rotation_displacement(collider, dt)
		: 0.0f;
}

bool fem_collider_looks_ahead(const FemWorld *world, const FemCollider *collider, float thickness, float dt) {
	float thinner = fminf(fem_collider_thickness(collider), thickness);
	return displacement_of(world, collider, dt) > fmaxf(FEM_FAST_DISPLACEMENT_MIN, thinner);
}

// ---- broad phase

static FemSweepBox swept_box(const FemSweepBox *box, FemVec3 displacement, float grow) {
	FemSweepBox swept = *box;
	const float *shift = &displacement.x;
	for (int i = 0; i < 3; i++) {
		swept.min[i] += (double)(fminf(shift[i], 0.0f) - grow);
		swept.max[i] += (double)(fmaxf(shift[i], 0.0f) + grow);
	}
	return swept;
}

// The longest displacement of a node in a step, m.
static float longest_node_displacement(const FemWorld *world, float dt) {
	float square = 0.0f;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		for (int32_t n = 0; n < body->surface_node_count; n++) {
			FemVec3 v = fem_vec3_from(body->velocity[body->surface_nodes[n]]);
			square = fmaxf(square, fem_vec3_dot(v, v));
		}
	}
	return fminf(dt * sqrtf(square), FEM_SPEED_MAX * dt);
}

// Colliders that move far enter the broad phase with the box of their whole displacement, grown by how far bodies may
// come towards them.
void fem_colliders_draw_out(FemWorld *world, float dt) {
	float grow = -1.0f;
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		const FemCollider *collider = &world->colliders[c];
		bool may_be_drawn_out =
			collider->in_use && collider->kind != FEM_COLLIDER_STATIC && collider->shape.type != FEM_SHAPE_HALF_SPACE;
		if (!may_be_drawn_out || collider->sweep_proxy < 0)
			continue;
		FemSweepBox box = fem_collider_box(collider);
		if (displacement_of(world, collider, dt) > FEM_FAST_DISPLACEMENT_MIN) {
			grow = grow < 0.0f ? longest_node_displacement(world, dt) : grow;
			box = swept_box(
				&box, fem_vec3_scale(origin_velocity(world, collider), dt), rotation_displacement(collider, dt) + grow);
		}
		if (memcmp(&box, &world->sweep.boxes[collider->sweep_proxy], sizeof box) != 0)
			fem_sweep_move_proxy(&world->sweep, collider->sweep_proxy, &box);
	}
}

// ---- narrow phase

// Mean velocity of a piece, m/s, and the largest displacement of one of its nodes relative to that mean in a step, m.
static FemVec3 mean_velocity(const FemBody *body, int32_t component, float dt, float *out_spread) {
	FemRange nodes = body->topology->component_nodes[component];
	int32_t first = fem_first_not_below(body->surface_nodes, body->surface_node_count, nodes.begin), count = 0;
	FemVec3 sum = {0.0f, 0.0f, 0.0f};
	float square = 0.0f;
	for (int32_t i = first; i < body->surface_node_count && body->surface_nodes[i] < nodes.end; i++, count++)
		sum = fem_vec3_add(sum, fem_vec3_from(body->velocity[body->surface_nodes[i]]));
	FemVec3 mean = fem_vec3_scale(sum, 1.0f / (float)(count > 0 ? count : 1));
	for (int32_t i = first; i < first + count; i++) {
		FemVec3 d = fem_vec3_sub(fem_vec3_from(body->velocity[body->surface_nodes[i]]), mean);
		square = fmaxf(square, fem_vec3_dot(d, d));
	}
	*out_spread = dt * sqrtf(square);
	return mean;
}

FemColliderSweep fem_collider_sweep_at(
	const FemWorld *world, const FemCollider *collider, const FemBody *body, int32_t component, float dt) {
	float spread;
	FemVec3 against = mean_velocity(body, component, dt, &spread);
	FemVec3 displacement = fem_vec3_scale(fem_vec3_sub(origin_velocity(world, collider), against), dt);
	return (FemColliderSweep){.displacement = displacement, .grow = rotation_displacement(collider, dt) + spread};
}

FemSweepBox fem_collider_swept(const FemColliderSweep *sweep, const FemSweepBox *box, float sign) {
	return swept_box(box, fem_vec3_scale(sweep->displacement, sign), sweep->grow);
}

typedef struct Search {
	const FemWorld *world;
	const FemBody *body;
	int32_t tet, sub_shape;
	FemVec3 velocity;   // of the tet, m/s
	FemVec3 corners[4]; // from the body's origin, m
	FemVec3 low, high;  // of the collider's sub-shape in the frame of its shape, m
} Search;

// The box of the searched sub-shape, in the frame of its shape.
static void set_sub_shape_box(Search *search, const FemCollider *collider) {
	search->low = collider->box_min;
	search->high = collider->box_max;
	if (collider->shape.type != FEM_SHAPE_TRIANGLES)
		return;
	float pad = collider->shape.thickness;
	for (int k = 0; k < 3; k++) {
		FemVec3 p = collider->shape.points[collider->shape.triangles[3 * search->sub_shape + k]];
		FemVec3 low = {p.x - pad, p.y - pad, p.z - pad}, high = {p.x + pad, p.y + pad, p.z + pad};
		search->low = k == 0
			? low
			: fem_vec3(fminf(search->low.x, low.x), fminf(search->low.y, low.y), fminf(search->low.z, low.z));
		search->high = k == 0
			? high
			: fem_vec3(fmaxf(search->high.x, high.x), fmaxf(search->high.y, high.y), fmaxf(search->high.z, high.z));
	}
}

// The widest gap between the tet and the box, along an axis of the shape, m; negative: they meet.
static float gap_at(const Search *search, const FemCollider *collider) {
	float gap = -INFINITY, low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
	FemQuat back = fem_quat_conjugate(collider->shape_rotation);
	FemVec3d offset = fem_position_sub(search->body->origin, collider->shape_position);
	for (int k = 0; k < 4; k++) {
		FemVec3 p = fem_vec3d_to_vec3(fem_quat_rotate(back, fem_vec3d_add(fem_vec3d_from(search->corners[k]), offset)));
		for (int i = 0; i < 3; i++) {
			low[i] = fminf(low[i], (&p.x)[i]);
			high[i] = fmaxf(high[i], (&p.x)[i]);
		}
	}
	for (int i = 0; i < 3; i++)
		gap = fmaxf(gap, fmaxf(low[i] - (&search->high.x)[i], (&search->low.x)[i] - high[i]));
	return gap;
}

// Whether an outer face looks towards where the collider comes from.
static bool is_faced(const Search *search, const FemCollider *collider) {
	const FemVec3 *x = search->corners;
	FemVec3 center = fem_vec3_scale(fem_vec3_add(fem_vec3_add(x[0], x[1]), fem_vec3_add(x[2], x[3])), 0.25f);
	FemVec3d arm =
		fem_position_sub(fem_position_move(search->body->origin, fem_vec3d_from(center)), collider->position);
	FemVec3 coming = fem_vec3_add(
		origin_velocity(search->world, collider), fem_vec3_cross(collider->angular_velocity, fem_vec3d_to_vec3(arm)));
	coming = fem_vec3_sub(coming, search->velocity);
	for (int face = 0; face < 4; face++) {
		FemVec3 a = x[(face + 1) % 4], u = fem_vec3_sub(x[(face + 2) % 4], a), v = fem_vec3_sub(x[(face + 3) % 4], a);
		FemVec3 n = fem_vec3_cross(u, v);
		float outward = fem_vec3_dot(n, fem_vec3_sub(a, x[face])) < 0.0f ? -1.0f : 1.0f;
		if ((search->body->tet_exterior[search->tet] >> face & 1) && outward * fem_vec3_dot(n, coming) < 0.0f)
			return true;
	}
	return false;
}

static void set_tet(Search *search) {
	search->velocity = (FemVec3){0.0f, 0.0f, 0.0f};
	for (int k = 0; k < 4; k++) {
		int32_t node = fem_tet_node(search->body->topology, search->tet, k);
		search->corners[k] = fem_vec3_from(search->body->position[node]);
		search->velocity =
			fem_vec3_add(search->velocity, fem_vec3_scale(fem_vec3_from(search->body->velocity[node]), 0.25f));
	}
}

FemVec3 fem_collider_tet_velocity(const FemBody *body, int32_t tet) {
	Search search = {.body = body, .tet = tet};
	set_tet(&search);
	return search.velocity;
}

static float most_samples(const FemWorld *world) {
	float share = (float)TESTS_MAX / fmaxf((float)world->contacts.ahead_count, 1.0f);
	return fminf(fmaxf(share, SAMPLES_LEAST), SAMPLES_MAX);
}

bool fem_collider_overlap_ahead(const FemWorld *world, const FemTouch *touch, FemOverlapItem *item, float dt,
	const FemConvex *tet, FemOverlap *out) {
	const FemCollider *collider = &world->colliders[touch->other];
	Search search = {
		.world = world, .body = world->bodies[touch->body], .tet = item->tet, .sub_shape = item->other_tet};
	float thickness = search.body->pieces[fem_tet_component(search.body->topology, item->tet)].thickness;
	if (!fem_collider_looks_ahead(world, collider, thickness, dt))
		return false; // others of the body's pieces are thinner
	set_tet(&search);
	set_sub_shape_box(&search, collider);
	if (!is_faced(&search, collider))
		return false;
	FemVec3 velocity = fem_vec3_sub(origin_velocity(world, collider), search.velocity);
	float displacement = dt * fem_vec3_length(velocity) + rotation_displacement(collider, dt);
	float thinner = fminf(fem_collider_thickness(collider), thickness);
	float samples = ceilf(fminf(THICKNESS_SHARE * displacement / thinner, most_samples(world)));
	for (float k = 1.0f; k <= samples;) {
		FemCollider at = *collider;
		fem_collider_move(world, &at, search.velocity, dt * k / samples);
		float gap = gap_at(&search, &at);
		if (!(gap > 0.0f)) // the box of a ball has corners in which many tets lie that it never comes to
			gap = fem_collider_round_gap(&at, tet);
		if (gap > 0.0f) {
			k += fmaxf(floorf(gap * samples / displacement), 1.0f);
			continue;
		}
		if (fem_collider_overlap(&at, tet, item->other_tet, out)) {
			item->ahead = k / samples;
			return true;
		}
		k += 1.0f;
	}
	return false;
}
