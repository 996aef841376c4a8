// Rebound: contacts and nodes at the ground that close in fast ask for a share of that speed outwards, Newton's
// restitution e, as their bias (docs/method.md, "Restitution").
#include "fem_constants.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/contact/contact_builder.h"

#include <math.h>

// m/s above what gravity gives in GRAVITY_STEPS steps, below which nothing rebounds: what rests and what settles must
// not. Chosen: a drop of 0.1 mm.
#define BOUNCE_SPEED 0.05f
#define GRAVITY_STEPS 2.0f
#define FIRST_SHARE 0.99f // of the largest rebound speed of a piece: contacts that ask for less may not press; chosen
#define LEAST_SHARE 0.01f // of the strength of all that rebound: contacts of less are left as they are; chosen
// Of the length of a piece, which a wave must cross in the step. Measured on balls of 0.2 m and e = 0.7 that fall 1 m:
// with a share of 0.75 they come up to 0.13 m, by elasticity alone to 0.01 m; with 0.38 to 0.1 and 0.08 m.
#define WAVE_SHARE 0.5f
#define MODULUS 2.5f // Young's over the shear modulus of a Poisson ratio of 1/4

static float least_speed(const FemWorld *world, float dt) {
	return BOUNCE_SPEED + GRAVITY_STEPS * dt * fem_vec3_length(world->def.gravity);
}

// What strikes, along the normal.
typedef struct Strike {
	float restitution;
	float approach; // m/s, at which it closes in
	float depth;    // m; negative: a gap
	float gravity;  // m/s^2, by which it falls onto the other
} Strike;

// m/s outwards after the step; 0: it does not rebound. Of v^2 / 2 + g x - g v dt / 2, which free flight in steps of dt
// keeps, the share e^2 is left, x being the height above the surface: what rebounds from above it, because it would
// reach it in this step, or from below, comes as high as if it had done so at the surface.
static float rebound_speed(const FemWorld *world, Strike strike, float dt) {
	float height = -strike.depth, g = fmaxf(strike.gravity, 0.0f), a = strike.approach;
	if (!(strike.restitution > 0.0f && a > least_speed(world, dt) && (a + g * dt) * dt >= height))
		return 0.0f;
	float share = strike.restitution * strike.restitution, half = 0.5f * g * dt;
	float square = half * half + share * a * (a + 2.0f * half) - (1.0f - share) * 2.0f * g * height;
	return fmaxf(sqrtf(fmaxf(square, 0.0f)) - half, 0.0f);
}

// Of what is soft a node at the surface would rebound alone, again and again while the rest still falls: that shakes
// the body, takes from its own elastic rebound, and a ball of 1e5 Pa came to 1.3 times its energy by it at 240 Hz. So
// only pieces that waves cross about within the step rebound from their contacts; others do by their elasticity alone.
static bool is_stiff(const FemBody *body, int32_t tet, float dt) {
	const FemPiece *piece = &body->pieces[fem_tet_component(body->topology, tet)];
	float modulus = MODULUS * body->batches[tet / FEM_LANES].mu[tet % FEM_LANES];
	float wave_speed = sqrtf(modulus * piece->volume / piece->mass);
	return (piece->is_rigid && !fem_modal_of(body)) || wave_speed * dt > WAVE_SHARE * piece->length;
}

float fem_contact_builder_restitution(const FemWorld *world, int32_t body_index, int32_t tet, float dt) {
	const FemBody *body = world->bodies[body_index];
	float restitution = world->materials[body->tet_material[tet]].def.restitution;
	return restitution > 0.0f && is_stiff(body, tet, dt) ? restitution : 0.0f;
}

// Of a side along the normal: m/s^2 of gravity, and m/s of what the piece was given back of it, which is not part of
// the speed with which it came (held_pieces.h).
static void add_fall(
	const FemWorld *world, const FemContactSide *side, const float n[3], float *gravity, float *released) {
	if (side->is_fixed || fem_side_is_collider(side))
		return;
	const FemBody *body = world->bodies[side->body];
	FemVec3 g = fem_body_gravity(world, body), back = body->pieces[side->piece].released;
	*gravity += n[0] * g.x + n[1] * g.y + n[2] * g.z;
	*released += n[0] * back.x + n[1] * back.y + n[2] * back.z;
}

void fem_contact_builder_bounce(const FemContactBuilder *builder, FemContact *contact) {
	const float *n = contact->normal, back[3] = {-n[0], -n[1], -n[2]};
	float gravity = 0.0f, released = 0.0f;
	if (contact->restitution == 0.0f)
		return;
	add_fall(builder->world, &contact->side[0], n, &gravity, &released);
	add_fall(builder->world, &contact->side[1], back, &gravity, &released);
	Strike strike = {contact->restitution, contact->approach - released, contact->depth, gravity};
	float speed = rebound_speed(builder->world, strike, builder->step->dt);
	contact->bounces = speed > contact->bias && speed > 0.0f;
	contact->bias = contact->bounces ? speed : contact->bias;
}

// Those of next to no area count for nothing: their normals may be any.
static bool counts(const FemContact *contact, float least) {
	return contact->bounces && contact->normal_strength >= least;
}

// Only those that ask for most are sure to press; together they must turn the mass round.
void fem_contact_builder_strengthen_bounces(const FemWorld *world, FemContact *contacts, FemRange made) {
	float all = 0.0f, fastest = 0.0f, first = 0.0f;
	for (int32_t i = made.begin; i < made.end; i++)
		all += contacts[i].bounces ? contacts[i].normal_strength : 0.0f;
	const FemContactSide *sides = contacts[made.begin].side;
	float enough =
		FEM_CONTACT_KAPPA * fminf(fem_contact_side_mass(world, &sides[0]), fem_contact_side_mass(world, &sides[1]));
	if (all == 0.0f || isinf(enough))
		return;
	for (int32_t i = made.begin; i < made.end; i++)
		fastest = counts(&contacts[i], LEAST_SHARE * all) ? fmaxf(fastest, contacts[i].bias) : fastest;
	for (int32_t i = made.begin; i < made.end; i++)
		first += counts(&contacts[i], LEAST_SHARE * all) && contacts[i].bias >= FIRST_SHARE * fastest
			? contacts[i].normal_strength
			: 0.0f;
	for (int32_t i = made.begin; i < made.end && first < enough; i++) {
		if (counts(&contacts[i], LEAST_SHARE * all))
			contacts[i].normal_strength *= enough / first;
	}
}

// ---- ground

static float node_restitution(const FemStep *step, const FemBody *body, int32_t node) {
	int32_t tet = body->topology->node_tets[body->topology->node_tet_start[node]] >> 2;
	float restitution = step->world->materials[body->tet_material[tet]].def.restitution;
	return restitution > 0.0f && is_stiff(body, tet, step->dt) ? restitution : 0.0f;
}

static float ground_speed(const FemStep *step, const FemBody *body, int32_t node) {
	const FemPiece *piece = &body->pieces[fem_node_component(body->topology, node)];
	Strike strike = {
		.restitution = node_restitution(step, body, node),
		.approach = piece->released.y - body->velocity[node].y,
		.depth = (float)(step->ground.height - body->origin.y) - body->position[node].y,
		.gravity = -body->gravity_scale * step->ground.gravity.y,
	};
	return rebound_speed(step->world, strike, step->dt);
}

// As of contacts: k_n of those that ask for most is KAPPA times the mass of the piece in all, of each unit of work.
void fem_ground_bounce(const FemStep *step, FemBody *body, int32_t begin, int32_t end) {
	FemVec4 *ground = body->step->ground;
	float fastest = 0.0f, mass = 0.0f;
	for (int32_t i = begin; i < end && body->restitution > 0.0f; i++) {
		float speed = ground[i].w == 0.0f ? 0.0f : ground_speed(step, body, i);
		fastest = speed > ground[i].y ? fmaxf(fastest, speed) : fastest;
	}
	if (fastest == 0.0f)
		return;
	for (int32_t i = begin; i < end; i++)
		mass += ground[i].w != 0.0f && ground_speed(step, body, i) >= FIRST_SHARE * fastest ? body->mass[i] : 0.0f;
	float ratio = fmaxf(body->pieces[fem_node_component(body->topology, begin)].mass / mass, 1.0f);
	for (int32_t i = begin; i < end; i++) {
		float speed = ground[i].w == 0.0f ? 0.0f : ground_speed(step, body, i);
		if (!(speed > ground[i].y && speed > 0.0f))
			continue;
		ground[i].y = speed;
		ground[i].x = ground[i].w = fmaxf(ground[i].w, FEM_CONTACT_KAPPA * ratio * body->mass[i]);
	}
}
