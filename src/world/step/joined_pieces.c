#include "world/step/joined_pieces.h"
#include "world/step/joined_calm.h"

#include "base/hash.h"
#include "dynamics/bond_release.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/step/passes.h"

#include <math.h>
#include <string.h>

// Times the mass of the lighter of two pieces: most of a bond's strength in the solve, in kg. More than floats hold
// together over a hundred pieces; a tower of 30 then sags by 30 g dt^2 / 1e4 = 8 um of its own weight. Chosen.
#define STRENGTH_MOST 1e4f

// Of toughness times area: a section of height h whose area is at its corners bears a third of the stress that bending
// makes at the edge of a whole one, 2 M / (b h^2) for 6, and all of that of tension. With the root of a third both are
// within 1.8.
#define CORNER_SHARE 0.577f

// m/s: what lies farther apart than so much closes in a step was pulled apart by who moves its nodes, and comes
// together as joints do; what bears a load is apart by a hundredth of that. Chosen.
#define CLOSING_SPEED 2.0f
// Times its strength: a bond gives back no more energy than it holds under so much. Chosen: bonds of what falls or is
// struck break at up to 10 times as a rule.
#define OVERLOAD_RETURNED 10.0
// Of a step in which bonds break: what is overloaded after them breaks in the next. Each costs a solve of all pieces:
// of a tower of 300 that is struck, a third less in the slowest step than with 4, and 1,392 instead of 1,400 faces open
// within 1.7 s. Chosen.
#define PASSES_MOST 2

// Bonds between two pieces, and share of their area, below which a crack between them runs through; chosen.
#define HOLDING_LEAST 3
#define HOLDING_SHARE 0.5f

// ---- which hang together

static int32_t root_of(FemPiece *pieces, int32_t c) {
	while (pieces[c].assembly != c)
		c = pieces[c].assembly = pieces[pieces[c].assembly].assembly;
	return c;
}

void fem_joined_find_assemblies(FemBody *body) {
	const FemTopology *t = body->topology;
	FemJoined *joined = body->joined;
	if (!joined || !joined->is_cut)
		return;
	for (int32_t c = 0; c < t->component_count; c++) {
		body->pieces[c].assembly = c;
		body->pieces[c].is_joined = body->pieces[c].moves_as_one = body->pieces[c].is_held_as_one = false;
	}
	joined->whole_count = 0;
	for (int32_t i = 0; i < joined->bond_count; i++) {
		const FemBond *bond = &joined->bonds[i];
		if (!fem_bond_holds(t, bond))
			continue;
		int32_t a = fem_node_component(t, fem_bond_node(t, bond, 0)),
				b = fem_node_component(t, fem_bond_node(t, bond, 1));
		int32_t first = root_of(body->pieces, a), second = root_of(body->pieces, b);
		body->pieces[first > second ? first : second].assembly = first > second ? second : first;
		body->pieces[a].is_joined = body->pieces[b].is_joined = true;
		joined->whole_count++;
	}
	for (int32_t c = 0; c < t->component_count; c++) {
		body->pieces[c].assembly = root_of(body->pieces, c);
		body->pieces[c].assembly_count = 0;
		body->pieces[body->pieces[c].assembly].assembly_count++;
	}
}

static void wake_assemblies(FemWorld *world, FemBody *body) {
	const FemTopology *t = body->topology;
	bool *is_live = body->breaking ? (bool *)body->breaking->marks : NULL; // [component], the first of its assembly
	if (!is_live || body->live_part_count == 0 || body->live_part_count == t->part_count || body->kinematic)
		return;
	memset(is_live, 0, (size_t)t->component_count);
	for (int32_t c = 0; c < t->component_count; c++)
		is_live[body->pieces[c].assembly] |= fem_piece_is_live(body, c);
	for (int32_t c = 0; c < t->component_count; c++) {
		bool is_wanted = is_live[body->pieces[c].assembly] && body->pieces[c].is_joined;
		if (is_wanted && !fem_piece_is_wholly_live(body, c)) // what is awake goes on counting how long it is still
			fem_body_wake_component(&world->islands, body, c);
	}
}

void fem_joined_wake(FemWorld *world) {
	for (int32_t i = 0; world->joined_count > 0 && i < world->body_capacity; i++) { // not all that woke is listed
		if (world->bodies[i] && fem_joined_of(world->bodies[i]))
			wake_assemblies(world, world->bodies[i]);
	}
}

// ---- rows

static void set_side(const FemBody *body, int32_t body_index, int32_t node, FemContactSide *out) {
	const FemTopology *t = body->topology;
	*out = (FemContactSide){
		.kind = FEM_SIDE_NODE,
		.is_fixed = body->part_state[t->node_part[node]] != FEM_ISLAND_LIVE,
		.body = body_index,
		.node = node,
		.piece = fem_node_component(t, node),
		.nodes = {node, node, node, node},
		.weights = {1.0f, 0.0f, 0.0f, 0.0f},
	};
}

// kg: dt^2 K, as far as it can be solved for.
static float strength_in_solve(const FemBody *body, const FemBond *bond, const FemContact *row, float dt) {
	float lighter = INFINITY;
	for (int s = 0; s < 2; s++) {
		int32_t piece = row->side[s].piece;
		lighter = fminf(lighter, fem_piece_is_attached(body, piece) ? INFINITY : body->pieces[piece].mass);
	}
	return fminf(dt * dt * bond->stiffness, STRENGTH_MOST * lighter);
}

// The impulse on side 1 is k (u + phi / dt), phi being how far side 0 is from side 1: that of a spring at the end of
// the step. Equally hard all round it is a contact along phi.
static void make_row(const FemBody *body, int32_t body_index, int32_t index, float dt, FemContact *out) {
	const FemBond *bond = &body->joined->bonds[index];
	*out = (FemContact){.normal = {1.0f, 0.0f, 0.0f}, .area = bond->area, .active = true, .is_bond = true};
	for (int s = 0; s < 2; s++)
		set_side(body, body_index, fem_bond_node(body->topology, bond, s), &out->side[s]);
	FemVec3 apart = fem_vec3_sub(
		fem_vec3_from(body->position[out->side[0].node]), fem_vec3_from(body->position[out->side[1].node]));
	float length = fem_vec3_length(apart);
	if (length > 0.0f) {
		out->normal[0] = apart.x / length, out->normal[1] = apart.y / length, out->normal[2] = apart.z / length;
		out->bias = fminf(length / dt, CLOSING_SPEED);
	}
	out->normal_strength = out->friction_strength = strength_in_solve(body, bond, out, dt);
	out->key = (uint64_t)index;
}

static bool is_row(const FemBody *body, const FemBond *bond) {
	const FemTopology *t = body->topology;
	return fem_bond_holds(t, bond) && !body->pieces[fem_node_component(t, fem_bond_node(t, bond, 0))].moves_as_one &&
		(body->part_state[t->node_part[fem_bond_node(t, bond, 0)]] == FEM_ISLAND_LIVE ||
			body->part_state[t->node_part[fem_bond_node(t, bond, 1)]] == FEM_ISLAND_LIVE);
}

static void list_body(FemStep *step, int32_t body_index) {
	const FemBody *body = step->world->bodies[body_index];
	for (int32_t i = 0; i < body->joined->bond_count; i++) {
		if (is_row(body, &body->joined->bonds[i])) {
			FemContact *row = &step->contacts[step->contact_count++];
			make_row(body, body_index, i, step->dt, row);
			row->hold = step->world->contacts.contact_count; // one without an impulse, of the paper's friction
		}
	}
}

// Of a step, before its first pass.
static void allow_breaks(FemJoined *joined, float dt) {
	float more = joined->breaks_per_second * dt;
	joined->break_allowance = isinf(joined->breaks_per_second)
		? INFINITY
		: fminf(fmaxf(joined->break_allowance, 0.0f) + more, fmaxf(more, 1.0f));
}

bool fem_joined_list(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	int64_t count = stage->contact_count;
	if (world->joined_count == 0)
		return true;
	if (step->pass == 0)
		fem_joined_find_calm(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemJoined *joined = fem_joined_of(world->bodies[world->islands.active_bodies[i]]);
		if (joined && step->pass == 0)
			allow_breaks(joined, step->dt);
		count += joined ? joined->whole_count : 0;
	}
	step->contact_count = stage->contact_count; // without the bonds of the pass before
	if (count == stage->contact_count)
		return true;
	if (!FEM_LIST_HOLD(stage->contacts, stage->contact_capacity, count, INT32_MAX))
		return false;
	if (stage->holds) {
		if (!FEM_LIST_HOLD(stage->holds, stage->hold_capacity, (int64_t)stage->contact_count + 1, INT32_MAX))
			return false;
		stage->holds[stage->contact_count] = (FemPaperHold){0};
	}
	step->contacts = stage->contacts;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		if (fem_joined_of(world->bodies[world->islands.active_bodies[i]]))
			list_body(step, world->islands.active_bodies[i]);
	}
	return true;
}

// ---- loads

float fem_bond_strength(const FemBody *body, const FemBond *bond) {
	int32_t a = bond->corner[0] / 4, b = bond->corner[1] / 4, weaker = a;
	if (!body->breaking)
		return INFINITY;
	if (body->tet_toughness[b] < body->tet_toughness[a])
		weaker = b;
	float toughness = body->tet_toughness[weaker];
	return body->tet_by_force[weaker] ? toughness : CORNER_SHARE * toughness * bond->area;
}

static FemVec3d in_world(const FemBody *body, const FemBond *bond, FemVec3 rest) {
	FemVec4 q = body->rotation[bond->corner[0] / 4];
	return fem_quat_rotate((FemQuat){q.x, q.y, q.z, q.w}, fem_vec3d_from(rest));
}

// N: the largest principal tension of what a bond bears, force on its first side f, over the plane of its faces.
static double tension_of(const FemBody *body, const FemBond *bond, FemVec3d f) {
	FemVec3d n = in_world(body, bond, bond->normal);
	double along = fem_vec3d_dot(f, n); // the first side is pulled to the second
	FemVec3d shear = fem_vec3d_sub(f, fem_vec3d_scale(n, along));
	return 0.5 * along + sqrt(0.25 * along * along + fem_vec3d_dot(shear, shear));
}

static FemVec3d force_of(const FemContact *row, float dt) {
	double by = -1.0 / (double)dt; // the impulse is that on side 1
	return (FemVec3d){by * (double)row->impulse[0], by * (double)row->impulse[1], by * (double)row->impulse[2]};
}

// Load over strength; 0: it holds.
static float overload_of(const FemBody *body, const FemContact *row, float dt) {
	const FemBond *bond = &body->joined->bonds[row->key];
	FemVec3d f = force_of(row, dt);
	double strength = (double)fem_bond_strength(body, bond), known = (double)body->joined->overload * strength;
	if (!(fem_vec3d_dot(f, f) > known * known) || isinf(strength)) // no tension is more than the force
		return 0.0f;
	// A bond without strength breaks under any load.
	float overload = (float)fmin(tension_of(body, bond, f) / fmax(strength, 1e-30), 1e30);
	body->joined->overload = fminf(fmaxf(body->joined->overload, overload), 1.0f);
	return overload > 1.0f ? overload : 0.0f;
}

// ---- breaking

static bool may_break(const FemStep *step, const FemBody *body) {
	return fem_joined_of(body) && body->step->start && !body->step->is_over && !body->went_bad &&
		step->moves < step->world->def.fracture_passes_max && step->moves < PASSES_MOST &&
		step->world->def.fracture_interval > 0;
}

bool fem_joined_is_overloaded(const FemStep *step, const FemContact *rows, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		const FemBody *body = step->world->bodies[rows[i].side[0].body];
		const FemBond *bond = &body->joined->bonds[rows[i].key];
		FemVec3d f = force_of(&rows[i], step->dt);
		double strength = (double)fem_bond_strength(body, bond);
		if (fem_vec3d_dot(f, f) > strength * strength && tension_of(body, bond, f) > strength &&
			may_break(step, body) && body->joined->break_allowance >= 1.0f)
			return true;
	}
	return false;
}

// In steps of 2 to 3 %: bonds that are pulled alike are, whatever rounding says.
static float in_steps(float overload) {
	int exponent;
	float share = frexpf(overload, &exponent);
	return ldexpf(floorf(64.0f * share) / 64.0f, exponent);
}

// Of a piece: which of its neighbours it is pulled from hardest.
static void note_worst(FemPiece *piece, float overload, int32_t other) {
	bool is_worse = overload > piece->bond_overload || (overload == piece->bond_overload && other < piece->bond_other);
	if (is_worse) {
		piece->bond_overload = overload;
		piece->bond_other = other;
	}
}

FemRange fem_joined_rows(const FemStep *step, int32_t composite) {
	const FemComposite *c = &step->composites.composites[composite];
	return (FemRange){c->contacts.end - c->bond_count, c->contacts.end};
}

// J: what a bond held. In a blow it breaks on the way to the load that was found, at its strength, with the stiffness
// that the material then has: f is as if both were those of the solve. A step may find a bond at several times its
// strength, but one far beyond was torn apart by who moved its pieces, and gives back no work of theirs.
static double energy_of(const FemBody *body, const FemContact *row, FemVec3d f, bool is_blow) {
	const FemBond *bond = &body->joined->bonds[row->key];
	const FemTetImpact *impact = &body->tet_impact[bond->corner[0] / 4];
	double energy = fem_vec3d_dot(f, f) / (2.0 * (double)bond->stiffness);
	double beyond = fmax((double)row->slip / OVERLOAD_RETURNED, 1.0);
	if (!is_blow)
		return energy / (beyond * beyond);
	double strain = 1.0 / ((double)impact->weakness * (double)row->slip);
	return energy * (double)impact->stiffness * strain * strain;
}

// What a bond held, J, and that it is to be given back.
static void add_kick(FemBody *body, const FemContact *row, float dt, bool is_blow) {
	FemJoined *joined = body->joined;
	FemBond *bond = &joined->bonds[row->key];
	FemVec3d f = force_of(row, dt);
	FemVec4 q = body->rotation[bond->corner[0] / 4];
	double energy = energy_of(body, row, f, is_blow);
	bond->is_broken = true;
	bond->energy = (float)energy;
	joined->kicks[joined->kick_count++] = (FemBondKick){
		.bond = (int32_t)row->key,
		.force = fem_vec3d_to_vec3(fem_quat_rotate((FemQuat){-q.x, -q.y, -q.z, q.w}, f)),
		.energy = (float)((double)joined->energy_release * energy),
	};
}

// The pieces beside it go on as automatic bodies do.
static void refine(FemBody *body, const FemContact *row) {
	for (int s = 0; s < 2 && body->joined->refine_on_break; s++) {
		FemPiece *piece = &body->pieces[row->side[s].piece];
		if (piece->is_refined)
			continue;
		piece->is_refined = true;
		fem_piece_release(piece);
		body->step->was_released = true;
	}
}

static void break_bond(const FemStep *step, const FemContact *row, double *area) {
	FemBody *body = step->world->bodies[row->side[0].body];
	add_kick(body, row, step->dt, area != NULL);
	refine(body, row);
	if (area)
		*area -= (double)row->area;
	body->joined->break_allowance -= 1.0f;
	body->joined->has_broken = true;
}

static bool is_in_play(const FemStep *step, const FemContact *row) {
	const FemBody *body = step->world->bodies[row->side[0].body];
	return may_break(step, body) && !body->joined->bonds[row->key].is_broken;
}

// Every piece parts first where it is pulled hardest, the others are looked at when that has let go.
void fem_joined_break_rows(const FemStep *step, FemRange rows, double *area) {
	FemWorld *world = step->world;
	FemContact *contacts = step->composites.contacts;
	for (int32_t i = rows.begin; i < rows.end; i++) {
		FemBody *body = world->bodies[contacts[i].side[0].body];
		int32_t a = contacts[i].side[0].piece, b = contacts[i].side[1].piece;
		contacts[i].slip = is_in_play(step, &contacts[i]) ? in_steps(overload_of(body, &contacts[i], step->dt)) : 0.0f;
		if (!(contacts[i].slip > 0.0f))
			continue;
		note_worst(&body->pieces[a], contacts[i].slip, b);
		note_worst(&body->pieces[b], contacts[i].slip, a);
	}
	for (;;) {
		int32_t worst = -1;
		for (int32_t i = rows.begin; i < rows.end; i++) {
			const FemBody *body = world->bodies[contacts[i].side[0].body];
			int32_t a = contacts[i].side[0].piece, b = contacts[i].side[1].piece;
			if (!(contacts[i].slip > 0.0f) || body->pieces[a].bond_other != b || body->pieces[b].bond_other != a ||
				!(body->joined->break_allowance >= 1.0f) || (area && !(*area > 0.0)))
				continue;
			bool is_free = isinf(body->joined->break_allowance) && !area; // then their order does not matter
			if (is_free)
				break_bond(step, &contacts[i], NULL);
			if (is_free)
				contacts[i].slip = 0.0f;
			else if (worst < 0 || contacts[i].slip > contacts[worst].slip)
				worst = i;
		}
		if (worst < 0)
			break;
		break_bond(step, &contacts[worst], area);
		contacts[worst].slip = 0.0f;
	}
}

// ---- giving back

static bool is_attached(const FemBody *body, int32_t assembly) {
	bool attached = false;
	for (int32_t c = assembly; c < body->topology->component_count && !attached; c++)
		attached = body->pieces[c].assembly == assembly && fem_piece_is_attached(body, c);
	return attached;
}

static void add_sums(const FemBody *body, int32_t component, FemMotionSums *sums) {
	FemRange nodes = body->topology->component_nodes[component];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x, *v = &body->velocity[i].x;
		fem_sums_add_node(sums, (double)body->mass[i], (double[3]){x[0], x[1], x[2]}, (double[3]){v[0], v[1], v[2]});
	}
}

// All that hangs together there, as one rigid body, with what it has been pushed since its nodes were: a tower that
// loses thirty chips in a step is gone through once and not thirty times.
typedef struct Whole {
	int32_t assembly; // -1: none
	FemReleaseSide pushed;
} Whole;

#define WHOLES 4 // that are kept at once: mostly one is large and all others are chips. Chosen; two at least

static void push_nodes(FemBody *body, int32_t component, const FemReleaseSide *side) {
	FemRange nodes = body->topology->component_nodes[component];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		body->velocity[i] = fem_release_at(side, body->position[i], body->velocity[i]);
		body->step->start->velocity[i] = body->velocity[i];
	}
}

static void close_whole(FemBody *body, Whole *whole) {
	for (int32_t c = whole->assembly; c >= 0 && c < body->topology->component_count; c++) {
		if (body->pieces[c].assembly == whole->assembly)
			push_nodes(body, c, &whole->pushed);
	}
	whole->assembly = -1;
}

// The place of an assembly; where there is none the smallest but `other` goes.
static Whole *open_whole(FemBody *body, Whole wholes[WHOLES], int32_t assembly, const Whole *other) {
	Whole *place = NULL;
	int32_t least = INT32_MAX;
	for (int i = 0; i < WHOLES; i++) {
		int32_t size = wholes[i].assembly < 0 ? 0 : body->pieces[wholes[i].assembly].assembly_count;
		if (wholes[i].assembly == assembly)
			return &wholes[i];
		if (&wholes[i] != other && size < least)
			least = size, place = &wholes[i];
	}
	close_whole(body, place);
	*place = (Whole){.assembly = assembly, .pushed.sums.finite = true};
	for (int32_t c = assembly; c < body->topology->component_count; c++) {
		if (body->pieces[c].assembly == assembly)
			add_sums(body, c, &place->pushed.sums);
	}
	return place;
}

// Pushed at a bond is all that hangs together there, or, where that is held somewhere, the piece alone.
static void give_back(FemBody *body, const FemBondKick *kick, Whole wholes[WHOLES]) {
	const FemTopology *t = body->topology;
	const FemBond *bond = &body->joined->bonds[kick->bond];
	FemReleaseSide sides[2];
	Whole *whole[2] = {NULL, NULL};
	int32_t component[2];
	for (int s = 0; s < 2; s++) {
		int32_t node = fem_bond_node(t, bond, s);
		const float *x = &body->position[node].x;
		component[s] = fem_node_component(t, node);
		int32_t assembly = body->pieces[component[s]].assembly;
		sides[s] = (FemReleaseSide){.sums = {.finite = true},
			.is_held = fem_piece_is_attached(body, component[s]),
			.pivot = {x[0], x[1], x[2]}};
		if (!is_attached(body, assembly))
			whole[s] = open_whole(body, wholes, assembly, whole[0]);
		if (whole[s])
			sides[s].sums = whole[s]->pushed.sums;
		else
			add_sums(body, component[s], &sides[s].sums);
	}
	FemVec3d force = in_world(body, bond, kick->force), normal = in_world(body, bond, bond->normal);
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	hash = fem_hash_word(hash, (uint64_t)t->user_of_tet[bond->corner[0] / 4]);
	FemVec3d chance = fem_unit_of_hash(fem_hash_word(hash, (uint64_t)bond->corner[0] % 4 + 4));
	if (!fem_bond_release(sides, (double[3]){force.x, force.y, force.z}, (double[3]){normal.x, normal.y, normal.z},
			(double[3]){chance.x, chance.y, chance.z}, (double)kick->energy))
		return;
	for (int s = 0; s < 2; s++) {
		if (whole[s])
			fem_release_add(&whole[s]->pushed, &sides[s]);
		else if (!sides[s].is_held)
			push_nodes(body, component[s], &sides[s]);
	}
}

// Of bonds whose two sides have come apart; those of others wait until theirs have.
static void give_back_all(FemBody *body) {
	const FemTopology *t = body->topology;
	FemJoined *joined = body->joined;
	int32_t kept = 0;
	Whole wholes[WHOLES];
	for (int i = 0; i < WHOLES; i++)
		wholes[i].assembly = -1;
	for (int32_t i = 0; i < joined->kick_count; i++) {
		FemBondKick kick = joined->kicks[i];
		const FemBond *bond = &joined->bonds[kick.bond];
		if (!fem_bond_is_there(t, bond))
			continue;
		int32_t a = fem_node_component(t, fem_bond_node(t, bond, 0)),
				b = fem_node_component(t, fem_bond_node(t, bond, 1));
		if (body->pieces[a].assembly == body->pieces[b].assembly)
			joined->kicks[kept++] = kick;
		else
			give_back(body, &kick, wholes);
	}
	for (int i = 0; i < WHOLES; i++)
		close_whole(body, &wholes[i]);
	joined->kick_count = kept;
}

// ---- events

static void tell_faces(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	FemJoined *joined = body->joined;
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < joined->face_count; i++) {
		FemBondFace *face = &joined->faces[i];
		bool is_open = true;
		float energy = 0.0f;
		for (int k = 0; k < 3; k++) {
			is_open &= joined->bonds[face->bonds[k]].is_broken;
			energy += joined->bonds[face->bonds[k]].energy * face->area / (3.0f * joined->bonds[face->bonds[k]].area);
		}
		if (!is_open || face->is_open)
			continue;
		face->is_open = true;
		world->step_statistics.faces_opened++;
		if (t->user_of_tet[face->face / 4] < 0 || t->user_of_tet[face->across / 4] < 0)
			continue;
		fem_fracture_tell_face(world,
			&(FemFractureFace){
				.body = fem_body_id(world, body_index),
				.tets = {t->user_of_tet[face->face / 4], t->user_of_tet[face->across / 4]},
				.material = fem_material_id(world, body->tet_material[face->face / 4]),
				.energy = energy,
			});
	}
}

// A part of what hung together has come off: told by its largest piece.
static void tell_pieces(FemWorld *world, int32_t body_index, const int32_t *before) {
	FemBody *body = world->bodies[body_index];
	const FemTopology *t = body->topology;
	int32_t *heir = body->breaking->cursor, *largest = body->breaking->cursor + t->component_count;
	for (int32_t c = 0; c < t->component_count; c++)
		heir[c] = largest[c] = -1;
	for (int32_t c = 0; c < t->component_count; c++) { // the first largest piece of each assembly
		int32_t *of = &largest[body->pieces[c].assembly];
		*of = *of < 0 || t->component_tets[c] > t->component_tets[*of] ? c : *of;
	}
	for (int32_t c = 0; c < t->component_count; c++) { // what was together goes on as that with the largest piece
		int32_t piece = largest[body->pieces[c].assembly], *of = &heir[before[c]];
		*of = *of < 0 || t->component_tets[piece] > t->component_tets[*of] ? piece : *of;
	}
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t from = heir[before[c]];
		if (body->pieces[from].assembly == body->pieces[c].assembly)
			continue;
		body->pieces[c].born = world->time;
		body->pieces[c].parent = body->pieces[from].number;
		if (largest[body->pieces[c].assembly] == c)
			fem_piece_tell(world, body_index, &body->pieces[c]);
	}
}

// ---- all of it

static int32_t piece_at(const FemBody *body, const FemBond *bond, int side) {
	return fem_node_component(body->topology, fem_bond_node(body->topology, bond, side));
}

static bool is_between(const FemBond *bond, int32_t a, int32_t b) {
	return (bond->pieces[0] == a && bond->pieces[1] == b) || (bond->pieces[0] == b && bond->pieces[1] == a);
}

// A crack that has come so far between two pieces runs through. Bonds on a line would be a hinge that bears no moment,
// and never break.
static void run_through(FemBody *body, int32_t a, int32_t b) {
	FemJoined *joined = body->joined;
	float area = 0.0f, left_area = 0.0f;
	int32_t left = 0;
	for (int32_t i = 0; i < joined->bond_count; i++) {
		if (!is_between(&joined->bonds[i], a, b))
			continue;
		area += joined->bonds[i].area;
		left += !joined->bonds[i].is_broken;
		left_area += joined->bonds[i].is_broken ? 0.0f : joined->bonds[i].area;
	}
	bool runs = left > 0 && (left < HOLDING_LEAST || left_area < HOLDING_SHARE * area);
	for (int32_t i = 0; runs && i < joined->bond_count; i++)
		joined->bonds[i].is_broken |= is_between(&joined->bonds[i], a, b);
}

// Between all pieces of which a bond broke in this pass.
static void run_cracks_through(FemBody *body) {
	FemJoined *joined = body->joined;
	for (int32_t i = 0; i < joined->bond_count; i++) {
		FemBond *bond = &joined->bonds[i];
		bool is_there = fem_bond_is_there(body->topology, bond);
		for (int s = 0; s < 2; s++)
			bond->pieces[s] = is_there ? piece_at(body, bond, s) : -1;
	}
	for (int32_t k = joined->old_kick_count; k < joined->kick_count; k++) {
		const FemBond *bond = &joined->bonds[joined->kicks[k].bond];
		int32_t a = bond->pieces[0], b = bond->pieces[1], j = joined->old_kick_count;
		while (j < k && !is_between(&joined->bonds[joined->kicks[j].bond], a, b))
			j++;
		if (j == k) // the first of its pieces
			run_through(body, a, b);
	}
}

void fem_joined_part(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	int32_t *before = body->breaking->order; // [component]
	body->joined->has_broken = false;
	run_cracks_through(body);
	for (int32_t c = 0; c < body->topology->component_count; c++)
		before[c] = body->pieces[c].assembly;
	fem_joined_find_assemblies(body);
	tell_faces(world, body_index);
	tell_pieces(world, body_index, before);
	fem_body_send_back(body, 0);
	fem_body_return_to_start(body);
	give_back_all(body);
}

void fem_joined_begin_breaking(FemBody *body) {
	FemJoined *joined = body->joined;
	joined->old_kick_count = joined->kick_count;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		body->pieces[c].bond_overload = 0.0f;
		body->pieces[c].bond_other = -1;
	}
	bool is_solved = false;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		is_solved |= body->pieces[c].is_joined && !body->pieces[c].moves_as_one;
	if (is_solved) // else what was found last holds
		joined->overload = 0.0f;
}

// Whether all that is solved for goes back: nothing needs to move first.
static bool is_all_going_back(const FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t c = 0; c < step->composites.count; c++) {
		const FemComposite *composite = &step->composites.composites[c];
		bool goes_back = composite->is_over;
		for (int32_t i = composite->islands.begin; i < composite->islands.end && !goes_back; i++) {
			const FemIsland *island = &world->islands.islands[step->composites.island_list[i]];
			const FemBody *body = world->bodies[island->body];
			goes_back = body->joined && body->joined->has_broken;
		}
		if (!goes_back)
			return false;
	}
	return true;
}

bool fem_joined_find_breaks(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	if (world->joined_count == 0)
		return false;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (fem_joined_of(body))
			fem_joined_begin_breaking(body);
	}
	for (int32_t c = 0; c < step->composites.count; c++) {
		if (!step->composites.composites[c].is_over)
			fem_joined_break_rows(step, fem_joined_rows(step, c), NULL);
	}
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		const FemJoined *joined = world->bodies[world->islands.active_bodies[i]]->joined;
		any |= joined && joined->has_broken;
	}
	return any && is_all_going_back(step);
}

bool fem_joined_break(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; world->joined_count > 0 && i < world->islands.active_count; i++) {
		int32_t index = world->islands.active_bodies[i];
		if (!world->bodies[index]->joined || !world->bodies[index]->joined->has_broken)
			continue;
		fem_joined_part(world, index);
		any = true;
	}
	return any;
}
