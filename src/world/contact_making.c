// Contacts from overlaps: points, weights, strengths, and what they keep from the last step.
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/step.h"
#include "world/world.h"

#include <math.h>

typedef struct Maker {
	FemStep *step;
	FemWorld *world;
	FemContactStage *stage;
	const FemTouch *touch;
} Maker;

// ------------------------------------------------------------------------------------------------------------------ sides

static double volume6(FemPosition a, FemPosition b, FemPosition c, FemPosition d) {
	return fem_position_dot(fem_position_sub(b, a), fem_position_cross(fem_position_sub(c, a), fem_position_sub(d, a)));
}

// Barycentric coordinates, extrapolated for points outside; the centroid's for a crushed tet.
static void set_weights(const FemBody *body, FemContactSide *side, FemPosition point) {
	FemPosition x[4], p = fem_position_sub(point, body->origin);
	for (int i = 0; i < 4; i++)
		x[i] = fem_position_from4(body->position[side->nodes[i]]);
	double whole = volume6(x[0], x[1], x[2], x[3]), sum = 0.0, w[4];
	w[0] = volume6(p, x[1], x[2], x[3]) / whole;
	w[1] = volume6(x[0], p, x[2], x[3]) / whole;
	w[2] = volume6(x[0], x[1], p, x[3]) / whole;
	for (int i = 0; i < 3; i++)
		sum += w[i];
	w[3] = 1.0 - sum;
	for (int i = 0; i < 4; i++) {
		bool sound = fabs(w[0]) < 8.0 && fabs(w[1]) < 8.0 && fabs(w[2]) < 8.0 && fabs(w[3]) < 8.0;
		side->weights[i] = sound ? (float)w[i] : 0.25f;
	}
}

static void set_body_side(const Maker *maker, FemContactSide *side, int32_t body_index, int32_t tet, FemPosition point) {
	const FemBody *body = maker->world->bodies[body_index];
	*side = (FemContactSide){.body = body_index, .tet = tet, .is_fixed = body->live_part_count == 0};
	for (int i = 0; i < 4; i++)
		side->nodes[i] = fem_tet_node(body->topology, tet, i);
	set_weights(body, side, point);
}

static void set_collider_side(const Maker *maker, FemContactSide *side, FemPosition point) {
	int32_t index = maker->touch->other;
	const FemCollider *collider = &maker->world->colliders[index];
	FemVec3 arm = fem_position_to_vec3(fem_position_sub(point, collider->position));
	*side = (FemContactSide){
		.body = -1,
		.tet = index,
		.arm = {arm.x, arm.y, arm.z},
		.is_fixed = collider->kind != FEM_COLLIDER_DYNAMIC,
	};
	if (collider->shape.type == FEM_SHAPE_HALF_SPACE)
		side->arm[0] = side->arm[1] = side->arm[2] = 0.0f;
}

static float tet_friction(const FemWorld *world, int32_t body, int32_t tet) {
	return world->materials[world->bodies[body]->tet_material[tet]].def.friction;
}

// ------------------------------------------------------------------------------------------------------------------ matching

// Order of bodies, tets, points.
static int compare_places(const FemContact *a, const FemContact *b) {
	int32_t left[5] = {a->side[0].body, a->side[1].body < 0, a->side[1].body < 0 ? a->side[1].tet : a->side[1].body, a->side[0].tet,
		a->side[1].body < 0 ? 0 : a->side[1].tet};
	int32_t right[5] = {b->side[0].body, b->side[1].body < 0, b->side[1].body < 0 ? b->side[1].tet : b->side[1].body, b->side[0].tet,
		b->side[1].body < 0 ? 0 : b->side[1].tet};
	for (int i = 0; i < 5; i++) {
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	}
	return a->key < b->key ? -1 : a->key > b->key;
}

static const FemContact *find_last(const FemContactStage *stage, const FemContact *contact) {
	int32_t low = 0, high = stage->last_count;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		int order = compare_places(&stage->last_contacts[middle], contact);
		if (order == 0)
			return &stage->last_contacts[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

// Active by what it did in the last step or would do in this one (contact.md, "Active set").
static void start(const Maker *maker, FemContact *contact, float slop) {
	const FemContact *last = find_last(maker->stage, contact);
	FemContactRows rows = {.bodies = maker->world->bodies, .proxies = maker->stage->proxies};
	float u[3];
	fem_contact_velocity(&rows, contact, false, u);
	float along = contact->normal[0] * u[0] + contact->normal[1] * u[1] + contact->normal[2] * u[2];
	contact->active = (last && last->press > 0.0f) || along + contact->bias > 0.0f || (!last && contact->depth > slop);
	if (last && last->press > 0.0f)
		contact->friction_strength = contact->friction * last->press / fmaxf(last->slip, FEM_GROUND_SLIP);
}

static void add_contact(Maker *maker, FemContact *contact, float slop) {
	FemContactStage *stage = maker->stage;
	float dt = maker->step->dt, push = maker->world->def.contact_push;
	if (stage->contact_count == stage->contact_capacity) {
		stage->full = true;
		return;
	}
	contact->normal_strength = maker->touch->strength * contact->area;
	contact->bias = fminf(push * (contact->depth - slop) / dt, FEM_CONTACT_PUSH_MAX);
	start(maker, contact, slop);
	stage->contacts[stage->contact_count++] = *contact;
}

// -------------------------------------------------------------------------------------------------------------- tet overlaps

static float tet_slop(const FemBody *body, int32_t tet) {
	float edge = cbrtf(8.5f * body->batches[tet / FEM_LANES].volume[tet % FEM_LANES]); // of a regular tet of this volume
	return fminf(FEM_CONTACT_SLOP, FEM_CONTACT_SLOP_SHARE * edge);
}

// Without a direction of its own the pair is pushed apart against its motion.
static bool set_normal(Maker *maker, FemContact *contact, const FemOverlap *overlap) {
	FemVec3 n = overlap->normal;
	if (overlap->flags & FEM_OVERLAP_NO_DIRECTION) {
		FemContactRows rows = {.bodies = maker->world->bodies, .proxies = maker->stage->proxies};
		float u[3];
		fem_contact_velocity(&rows, contact, false, u);
		float length = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
		if (!(length > 1e-3f))
			return false;
		n = (FemVec3){u[0] / length, u[1] / length, u[2] / length};
	}
	contact->normal[0] = n.x, contact->normal[1] = n.y, contact->normal[2] = n.z;
	return true;
}

static void add_overlap(Maker *maker, const FemOverlapItem *item, const FemOverlap *overlap, bool several_points) {
	const FemTouch *touch = maker->touch;
	const FemBody *body = maker->world->bodies[touch->body];
	float friction = tet_friction(maker->world, touch->body, item->tet);
	float other = touch->is_collider ? touch->friction : tet_friction(maker->world, touch->other, item->other_tet);
	float slop = tet_slop(body, item->tet);
	int32_t points = several_points ? overlap->point_count : 1;
	for (int32_t k = 0; k < points; k++) {
		FemPosition point = overlap->centre;
		if (several_points)
			point = fem_position_add(point, fem_position_from(overlap->points[k].offset));
		FemContact contact = {
			.area = overlap->area * (several_points ? overlap->points[k].share : 1.0f),
			.depth = overlap->depth,
			.friction = sqrtf(friction * other),
			.key = (uint64_t)k << 32 | (uint32_t)(touch->is_collider ? item->other_tet : 0),
		};
		set_body_side(maker, &contact.side[0], touch->body, item->tet, point);
		if (touch->is_collider)
			set_collider_side(maker, &contact.side[1], point);
		else
			set_body_side(maker, &contact.side[1], touch->other, item->other_tet, point);
		if (set_normal(maker, &contact, overlap))
			add_contact(maker, &contact, slop);
	}
}

// Overlaps without opposed faces are dropped where the pair has enough that do (contact.md, "Direction r").
static bool drops_fallbacks(const Maker *maker) {
	float opposed = 0.0f, fallback = 0.0f;
	for (int32_t i = maker->touch->items.begin; i < maker->touch->items.end; i++) {
		const FemOverlap *overlap = &maker->stage->overlaps[i];
		if (!maker->stage->items[i].found)
			continue;
		if (overlap->flags & (FEM_OVERLAP_FALLBACK | FEM_OVERLAP_NO_DIRECTION))
			fallback += overlap->area;
		else
			opposed += overlap->area;
	}
	return opposed > 0.25f * fallback;
}

static void add_overlaps(Maker *maker) {
	FemRange items = maker->touch->items;
	bool drops = drops_fallbacks(maker), several = items.end - items.begin <= FEM_CONTACT_FEW_ITEMS;
	for (int32_t i = items.begin; i < items.end; i++) {
		const FemOverlap *overlap = &maker->stage->overlaps[i];
		bool fallback = (overlap->flags & (FEM_OVERLAP_FALLBACK | FEM_OVERLAP_NO_DIRECTION)) != 0;
		if (maker->stage->items[i].found && !(fallback && drops))
			add_overlap(maker, &maker->stage->items[i], overlap, several);
	}
}

// -------------------------------------------------------------------------------------------------------------- half space

// A node may close its gap within the step, no more; below the surface it is pushed out.
static void add_plane_node(Maker *maker, int32_t place, FemVec3 normal, float offset) {
	const FemTouch *touch = maker->touch;
	const FemBody *body = maker->world->bodies[touch->body];
	int32_t node = body->surface_nodes[place];
	FemVec3 x = fem_vec3_from(body->position[node]), v = fem_vec3_from(body->velocity[node]);
	float dt = maker->step->dt, depth = offset - fem_vec3_dot(normal, x);
	float fall = fem_vec3_dot(normal, fem_vec3_add(v, fem_vec3_scale(maker->world->def.gravity, dt)));
	if (depth - dt * fall < -FEM_GROUND_SLOP || maker->stage->contact_count == maker->stage->contact_capacity)
		return;
	int32_t tet = body->topology->node_tets[body->topology->node_tet_start[node]] >> 2;
	FemContact contact = {
		.normal = {-normal.x, -normal.y, -normal.z},
		.area = body->surface_area[place],
		.depth = depth,
		.friction = sqrtf(touch->friction * tet_friction(maker->world, touch->body, tet)),
		.normal_strength = FEM_CONTACT_KAPPA * body->mass[node],
		.key = (uint64_t)node,
		.side[0] = {.body = touch->body, .tet = node, .nodes = {node, node, node, node}, .weights = {1.0f},
			.is_fixed = body->live_part_count == 0},
	};
	set_collider_side(maker, &contact.side[1], fem_position_add(body->origin, fem_position_from(x)));
	contact.bias = depth <= 0.0f ? depth / dt : fminf(maker->world->def.contact_push * depth / dt, FEM_CONTACT_PUSH_MAX);
	start(maker, &contact, 0.0f);
	maker->stage->contacts[maker->stage->contact_count++] = contact;
}

static void add_half_space(Maker *maker) {
	const FemBody *body = maker->world->bodies[maker->touch->body];
	const FemCollider *collider = &maker->world->colliders[maker->touch->other];
	FemPosition up = fem_quat_rotate(collider->rotation, (FemPosition){0.0, 1.0, 0.0});
	FemVec3 normal = fem_position_to_vec3(up);
	float offset = (float)fem_position_dot(up, fem_position_sub(collider->position, body->origin));
	for (int32_t i = 0; i < body->surface_node_count; i++)
		add_plane_node(maker, i, normal, offset);
}

// ------------------------------------------------------------------------------------------------------------------- make

static void wake_side(FemWorld *world, const FemContactSide *side) {
	if (side->body < 0 || !world->bodies[side->body])
		return;
	FemBody *body = world->bodies[side->body];
	for (int k = 0; k < 4; k++) {
		if (side->weights[k] != 0.0f && side->nodes[k] < body->topology->node_count)
			fem_body_wake_part(&world->islands, body, body->topology->node_part[side->nodes[k]]);
	}
}

// A sleeper that was pressed on and no longer is has lost what it leaned against.
static void wake_unsupported(Maker *maker) {
	FemContactStage *stage = maker->stage;
	int32_t at = 0;
	for (int32_t i = 0; i < stage->last_count; i++) {
		const FemContact *last = &stage->last_contacts[i];
		bool sleeper[2] = {last->side[0].body >= 0 && last->side[0].is_fixed, last->side[1].body >= 0 && last->side[1].is_fixed};
		if (!(last->press > 0.0f) || (!sleeper[0] && !sleeper[1]))
			continue;
		while (at < stage->contact_count && compare_places(&stage->contacts[at], last) < 0)
			at++;
		if (at < stage->contact_count && compare_places(&stage->contacts[at], last) == 0)
			continue;
		for (int s = 0; s < 2; s++) {
			if (sleeper[s])
				wake_side(maker->world, &last->side[s]);
		}
	}
}

void fem_contacts_make(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	FemContact *swapped = stage->last_contacts;
	stage->last_contacts = stage->contacts;
	stage->last_count = stage->contact_count;
	stage->contacts = swapped;
	stage->contact_count = 0;
	Maker maker = {step, world, stage, NULL};
	for (int32_t t = 0; t < stage->touch_count; t++) {
		maker.touch = &stage->touches[t];
		bool plane = maker.touch->is_collider && world->colliders[maker.touch->other].shape.type == FEM_SHAPE_HALF_SPACE;
		if (plane)
			add_half_space(&maker);
		else
			add_overlaps(&maker);
	}
	wake_unsupported(&maker);
}

// ----------------------------------------------------------------------------------------------------------------- finish

// A sleeper wakes when it is struck, or pressed harder than the wake threshold; a gentle touch leaves it.
static void wake_struck(FemStep *step, const FemContact *contact) {
	FemWorld *world = step->world;
	FemVec3 g = world->def.gravity;
	float limit = world->def.wake_force_factor * sqrtf(g.x * g.x + g.y * g.y + g.z * g.z) * step->dt;
	for (int s = 0; s < 2; s++) {
		const FemContactSide *side = &contact->side[s];
		if (side->body < 0 || !side->is_fixed)
			continue;
		const FemBody *body = world->bodies[side->body];
		float mass = 0.0f;
		for (int k = 0; k < 4; k++)
			mass += fabsf(side->weights[k]) * body->mass[side->nodes[k]];
		if (contact->press > limit * mass)
			wake_side(world, side);
	}
}

static void add_to_collider(FemStep *step, const FemContact *contact) {
	const FemContactSide *side = &contact->side[1];
	if (side->body >= 0 || !(contact->press > 0.0f))
		return;
	FemCollider *collider = &step->world->colliders[side->tet];
	FemContactRows rows = {.bodies = step->world->bodies, .proxies = step->proxies};
	float u[3], j[3];
	fem_contact_velocity(&rows, contact, true, u);
	float along = u[0] * contact->normal[0] + u[1] * contact->normal[1] + u[2] * contact->normal[2];
	for (int i = 0; i < 3; i++)
		j[i] = contact->press * contact->normal[i] + contact->friction_strength * (u[i] - along * contact->normal[i]);
	FemVec3 impulse = {j[0], j[1], j[2]}, arm = {side->arm[0], side->arm[1], side->arm[2]};
	collider->result.impulse = fem_vec3_add(collider->result.impulse, impulse);
	collider->result.angular_impulse = fem_vec3_add(collider->result.angular_impulse, fem_vec3_cross(arm, impulse));
	collider->result.contact_count++;
}

static void begin_results(FemStep *step) {
	for (int32_t c = 0; c < step->world->collider_capacity; c++) {
		FemCollider *collider = &step->world->colliders[c];
		const FemProxy *proxy = &step->proxies[c];
		if (!collider->in_use)
			continue;
		collider->result = (FemColliderResult){
			.linear_velocity = {proxy->velocity[0] + proxy->dv[0], proxy->velocity[1] + proxy->dv[1], proxy->velocity[2] + proxy->dv[2]},
			.angular_velocity = {proxy->spin[0] + proxy->dv[3], proxy->spin[1] + proxy->dv[4], proxy->spin[2] + proxy->dv[5]},
		};
	}
}

// One event a pair of bodies, or of a body and a collider, at its hardest contact. Contacts come pair by pair.
static void add_event(FemStep *step, const FemContact *contact) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	if (!(contact->press > 0.0f) || stage->event_count == stage->contact_capacity)
		return;
	const FemBody *body = world->bodies[contact->side[0].body];
	bool collider = contact->side[1].body < 0;
	FemContactEvent event = {
		.body = fem_body_id(world, contact->side[0].body),
		.other = collider ? (FemBodyId){0} : fem_body_id(world, contact->side[1].body),
		.collider = collider ? fem_collider_id(world, contact->side[1].tet) : (FemColliderId){0},
		.normal = {contact->normal[0], contact->normal[1], contact->normal[2]},
		.impulse = contact->press,
	};
	event.point = body->origin;
	for (int k = 0; k < 4; k++) {
		FemPosition x = fem_position_from4(body->position[contact->side[0].nodes[k]]);
		event.point = fem_position_add(event.point, fem_position_scale(x, (double)contact->side[0].weights[k]));
	}
	int32_t node = contact->side[0].nodes[0], tet = body->topology->node_tets[body->topology->node_tet_start[node]] >> 2;
	event.material = fem_material_id(world, body->tet_material[tet]);
	FemContactEvent *last = stage->event_count > 0 ? &stage->events[stage->event_count - 1] : NULL;
	bool same = last && last->body.index1 == event.body.index1 && last->other.index1 == event.other.index1 &&
		last->collider.index1 == event.collider.index1;
	if (!same) {
		event.impulse = 0.0f;
		stage->hardest = 0.0f;
		stage->events[stage->event_count++] = event;
		last = &stage->events[stage->event_count - 1];
	}
	float sum = last->impulse + contact->press;
	if (contact->press > stage->hardest) {
		stage->hardest = contact->press;
		*last = event;
	}
	last->impulse = sum;
}

static bool touches_moving(const FemStep *step, const FemContact *contact) {
	if (contact->side[1].body >= 0)
		return false;
	const FemColliderResult *result = &step->world->colliders[contact->side[1].tet].result;
	float limit = step->world->def.sleep_speed, turning = fem_vec3_length(result->angular_velocity);
	return fem_vec3_length(result->linear_velocity) > limit || turning > limit;
}

void fem_contact_stage_finish(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	if (!world->def.contacts_enabled)
		return;
	// The composites worked on copies: their results go back to where the next step looks for them.
	begin_results(step);
	stage->event_count = 0;
	int32_t count = 0;
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemRange contacts = step->composites.composites[c].contacts;
		for (int32_t i = contacts.begin; i < contacts.end; i++, count++) {
			const FemContact *solved = &step->composites.contacts[i];
			step->composites.composites[c].restless |= touches_moving(step, solved);
			FemContact *kept = NULL;
			int32_t low = 0, high = stage->contact_count;
			while (low < high) {
				int32_t middle = (low + high) / 2;
				int order = compare_places(&stage->contacts[middle], solved);
				if (order == 0) {
					kept = &stage->contacts[middle];
					break;
				}
				if (order < 0)
					low = middle + 1;
				else
					high = middle;
			}
			if (kept)
				*kept = *solved;
		}
	}
	for (int32_t i = 0; i < stage->contact_count; i++) {
		wake_struck(step, &stage->contacts[i]);
		add_to_collider(step, &stage->contacts[i]);
		add_event(step, &stage->contacts[i]);
	}
}

int32_t fem_world_get_contact_events(FemWorldId id, const FemContactEvent **out_events) {
	FemWorld *world = fem_world_find(id);
	if (out_events)
		*out_events = world && world->contacts.event_count ? world->contacts.events : NULL;
	return world ? world->contacts.event_count : 0;
}
