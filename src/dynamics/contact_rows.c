#include "dynamics/contact_rows.h"

#include "base/assert.h"
#include "dynamics/modal_unknowns.h"
#include "model/joint.h"
#include "model/piece.h"

#include <math.h>
#include <string.h>

// ---- nodes by chunk

// The nodes of a side that have weight. Returns their number.
static int8_t pack_side(const FemContactSide *side, float sign, int32_t *nodes, float *weights) {
	int8_t count = 0;
	for (int k = 0; k < 4; k++) {
		if (side->weights[k] == 0.0f)
			continue;
		nodes[count] = side->nodes[k];
		weights[count++] = sign * side->weights[k];
	}
	return count;
}

// kg, of the piece or collider that a side is a point of; infinite where it is pinned.
static float mass_of(const FemContactRows *rows, const FemContactSide *side) {
	if (fem_side_is_collider(side))
		return rows->proxies[side->proxy].mass;
	const FemBody *body = rows->bodies[side->body];
	return fem_piece_is_attached(body, side->piece) ? INFINITY : body->pieces[side->piece].mass;
}

void fem_contact_side_arm(const FemContactRows *rows, const FemContactSide *side, const FemProxy *rigid, float out[3]) {
	if (fem_side_is_collider(side)) {
		memcpy(out, side->arm, 3 * sizeof *out);
		return;
	}
	out[0] = out[1] = out[2] = 0.0f;
	const FemVec4 *x = rows->bodies[side->body]->position;
	for (int k = 0; k < 4; k++) {
		const FemVec4 *p = &x[side->nodes[k]];
		out[0] += side->weights[k] * (p->x - rigid->center[0]);
		out[1] += side->weights[k] * (p->y - rigid->center[1]);
		out[2] += side->weights[k] * (p->z - rigid->center[2]);
	}
}

static void pack(FemContactRows *rows) {
	rows->row_count = 0;
	rows->rebound = 0.0f;
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		const FemContact *contact = &rows->contacts[c];
		if (!contact->active)
			continue;
		FemContactRow *row = &rows->rows[rows->row_count++];
		fem_contact_rows_note_rebound(rows, contact);
		*row = (FemContactRow){
			.normal = {contact->normal[0], contact->normal[1], contact->normal[2]},
			.normal_strength = contact->normal_strength,
			.friction_strength = contact->friction_strength,
			.body = {-1, -1},
			.mass = {INFINITY, INFINITY},
			.contact = c,
		};
		int at = 0;
		for (int s = 0; s < 2; s++) {
			const FemContactSide *side = &contact->side[s];
			if (side->is_fixed)
				continue;
			FemProxy *rigid = fem_contact_side_rigid(rows, side);
			row->mass[s] = rows->moves_rigidly ? mass_of(rows, side) : INFINITY;
			if (rigid && rigid->mass > 0.0f) {
				row->rigid[s] = rigid;
				fem_contact_side_arm(rows, side, rigid, row->arm[s]);
			}
			if (rigid && rigid->modal) {
				row->modal[s] = rigid->modal;
				row->jacobian[s] = fem_modal_jacobian(rigid->modal, side);
			}
			if (rigid)
				continue;
			row->body[s] = side->body;
			row->node_count[s] = pack_side(side, s == 0 ? 1.0f : -1.0f, row->nodes + at, row->weights + at);
			at += row->node_count[s];
		}
	}
}

// Every live node of every row, in order. With `fill` the refs are written, else counted.
static void sort_refs(FemContactRows *rows, int32_t chunk_count, bool fill) {
	for (int32_t r = 0; r < rows->row_count; r++) {
		const FemContactRow *row = &rows->rows[r];
		for (int i = 0; i < row->node_count[0] + row->node_count[1]; i++) {
			const FemBody *body = rows->bodies[row->body[i >= row->node_count[0]]];
			if (!fem_contact_node_is_live(body, row->nodes[i]))
				continue;
			int32_t chunk = fem_contact_chunk_of(body, row->nodes[i]);
			FEM_ASSERT_INDEX(chunk, chunk_count);
			if (fill)
				rows->refs[rows->ref_start[chunk]] = (FemContactRef){r, row->nodes[i], row->weights[i]};
			rows->ref_start[chunk + (fill ? 0 : 1)]++;
		}
	}
}

void fem_contact_rows_build(FemContactRows *rows, int32_t chunk_count) {
	pack(rows);
	memset(rows->ref_start, 0, sizeof *rows->ref_start * (size_t)(chunk_count + 1));
	sort_refs(rows, chunk_count, false);
	for (int32_t c = 0; c < chunk_count; c++)
		rows->ref_start[c + 1] += rows->ref_start[c];
	int32_t all = rows->ref_start[chunk_count];
	sort_refs(rows, chunk_count, true); // each start has moved to the next one's place
	memmove(rows->ref_start + 1, rows->ref_start, sizeof *rows->ref_start * (size_t)chunk_count);
	rows->ref_start[0] = 0;
	FEM_ASSERT(fem_are_starts(rows->ref_start, chunk_count) && rows->ref_start[chunk_count] == all);
	FEM_ASSERT(all <= FEM_CONTACT_REFS * (int64_t)rows->row_count);
	(void)all;
}

// ---- diagonal

// What a node feels of a contact's strength k when the other side is free to give way: k m / (k + m), the Schur
// complement of a mass m behind it.
static float felt_strength(float strength, float mass) {
	return strength > 0.0f ? 1.0f / (1.0f / strength + 1.0f / mass) : 0.0f;
}

void fem_contact_rows_diagonal(const FemContactRows *rows, const FemNodeChunk *chunk, int32_t chunk_index) {
	FemBody *body = rows->bodies[chunk->body];
	memset(body->step->contact_blocks + 6 * (int64_t)chunk->begin, 0,
		6 * sizeof(float) * (size_t)(chunk->end - chunk->begin));
	for (int32_t r = rows->ref_start[chunk_index]; r < rows->ref_start[chunk_index + 1]; r++) {
		const FemContactRef *ref = &rows->refs[r];
		FEM_ASSERT(ref->row < rows->row_count && ref->node >= chunk->begin && ref->node < chunk->end);
		const FemContactRow *row = &rows->rows[ref->row];
		const float *n = row->normal;
		float square = ref->weight * ref->weight, other = row->mass[ref->weight > 0.0f];
		float kt = square * felt_strength(row->friction_strength, other);
		float kn = square * felt_strength(row->normal_strength, other) - kt;
		float *block = body->step->contact_blocks + 6 * (int64_t)ref->node;
		for (int i = 0; i < 3; i++) {
			block[i] += kt + kn * n[i] * n[i];
			block[i + 3] += kn * n[i] * n[(i + 1) % 3];
		}
	}
}

// ---- product

static void add_point(const FemContactSide *side, const FemVec4 *x, float sign, float out[3]) {
	for (int k = 0; k < 4; k++) {
		float w = sign * side->weights[k];
		if (w == 0.0f)
			continue;
		const FemVec4 *v = &x[side->nodes[k]];
		out[0] += w * v->x, out[1] += w * v->y, out[2] += w * v->z;
	}
}

// Adds the change of velocity, or the search direction of the conjugate gradients, of a row's rigid sides.
static void add_rigid_field(const FemContactRow *row, FemContactField field, float out[3]) {
	for (int s = 0; s < 2; s++) {
		if (!row->rigid[s])
			continue;
		const float *x = field == FEM_FIELD_DV ? row->rigid[s]->dv : row->rigid[s]->direction;
		fem_add_rigid_point(row->arm[s], x, x + 3, s == 0 ? 1.0f : -1.0f, out);
	}
}

// The same of modes that move its sides.
static void add_modal_field(const FemContactRow *row, FemContactField field, float out[3]) {
	for (int s = 0; s < 2; s++) {
		const FemModal *modal = row->modal[s];
		if (!row->jacobian[s])
			continue;
		const float *x = field == FEM_FIELD_DV ? modal->dv : field == FEM_FIELD_Z ? modal->solved : modal->direction;
		fem_modal_add_point(modal, row->jacobian[s], x, s == 0 ? 1.0f : -1.0f, out);
	}
}

// Relative change of velocity of the two sides of a contact, m/s: by nodes, which rigid pieces have theirs at, too.
static void relative_dv(const FemContactRows *rows, const FemContact *contact, float out[3]) {
	for (int s = 0; s < 2; s++) {
		const FemContactSide *side = &contact->side[s];
		float sign = s == 0 ? 1.0f : -1.0f;
		if (side->is_fixed)
			continue;
		if (fem_side_is_body(side)) {
			add_point(side, rows->bodies[side->body]->step->dv, sign, out);
		} else {
			const float *dv = rows->proxies[side->proxy].dv;
			fem_add_rigid_point(side->arm, dv, dv + 3, sign, out);
		}
	}
}

void fem_contact_velocity(const FemContactRows *rows, const FemContact *contact, float out[3]) {
	out[0] = out[1] = out[2] = 0.0f;
	for (int s = 0; s < 2; s++) {
		const FemContactSide *side = &contact->side[s];
		float sign = s == 0 ? 1.0f : -1.0f;
		if (fem_side_is_body(side)) {
			add_point(side, rows->bodies[side->body]->velocity, sign, out);
		} else {
			const FemProxy *proxy = &rows->proxies[side->proxy];
			fem_add_rigid_point(side->arm, proxy->velocity, proxy->spin, sign, out);
		}
	}
}

void fem_contact_rows_open(FemContactRows *rows) {
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		float u[3];
		fem_contact_velocity(rows, &rows->contacts[c], u);
		rows->before[c] = (FemVec4){u[0], u[1], u[2], 0.0f};
	}
}

void fem_contact_velocity_after(const FemContactRows *rows, int32_t c, float out[3]) {
	float change[3] = {0.0f, 0.0f, 0.0f};
	FemVec4 u = rows->after ? rows->after[c] : rows->before[c];
	if (!rows->after)
		relative_dv(rows, &rows->contacts[c], change);
	out[0] = u.x + change[0], out[1] = u.y + change[1], out[2] = u.z + change[2];
}

// Four floats at a time; the fourth stays what it was.
typedef float Four __attribute__((vector_size(16)));

static inline Four load_four(const FemVec4 *v) {
	Four out;
	memcpy(&out, v, sizeof out);
	return out;
}

static inline Four all_four(float a) {
	return (Four){a, a, a, a};
}

static Four field_of_row(const FemContactRows *rows, const FemContactRow *row, FemContactField field) {
	Four sum = {0.0f, 0.0f, 0.0f, 0.0f};
	int i = 0;
	for (int s = 0; s < 2; s++) {
		if (row->node_count[s] == 0)
			continue;
		const FemBody *body = rows->bodies[row->body[s]];
		const FemVec4 *x = field == FEM_FIELD_DV ? body->step->dv
			: field == FEM_FIELD_Z               ? body->step->z
												 : body->step->direction;
		for (int end = i + row->node_count[s]; i < end; i++)
			sum += all_four(row->weights[i]) * load_four(&x[row->nodes[i]]);
	}
	return sum;
}

// What the present velocities, the bias and given friction ask of the right-hand side.
static double load_of_row(FemContactRows *rows, int32_t r) {
	const FemContactRow *row = &rows->rows[r];
	const FemContact *contact = &rows->contacts[row->contact];
	const float *n = contact->normal;
	float u[3] = {rows->before[row->contact].x, rows->before[row->contact].y, rows->before[row->contact].z},
		  kt = contact->friction_strength;
	float along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
	float along_normal = contact->normal_strength * (along + contact->bias) - kt * along;
	float g[3] = {along_normal * n[0] + kt * u[0], along_normal * n[1] + kt * u[1], along_normal * n[2] + kt * u[2]};
	for (int i = 0; rows->holds && i < 3; i++)
		g[i] += rows->holds[contact->hold].impulse[i];
	rows->impulses[r] = (FemVec4){g[0], g[1], g[2], 0.0f};
	return (double)(g[0] * u[0] + g[1] * u[1] + g[2] * u[2]);
}

double fem_contact_rows_impulses(FemContactRows *rows, int32_t begin, int32_t end, FemContactField field) {
	double sum = 0.0;
	for (int32_t r = begin; r < end; r++) {
		if (field == FEM_FIELD_LOAD) {
			sum += load_of_row(rows, r);
			continue;
		}
		const FemContactRow *row = &rows->rows[r];
		const float *n = row->normal;
		Four four = field_of_row(rows, row, field);
		float u[3] = {four[0], four[1], four[2]}, kt = row->friction_strength;
		if (field != FEM_FIELD_Z)
			add_rigid_field(row, field, u);
		add_modal_field(row, field, u);
		float along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
		float along_normal = row->normal_strength * along - kt * along;
		float g[3] = {
			along_normal * n[0] + kt * u[0], along_normal * n[1] + kt * u[1], along_normal * n[2] + kt * u[2]};
		rows->impulses[r] = (FemVec4){g[0], g[1], g[2], 0.0f};
		sum += (double)(g[0] * u[0] + g[1] * u[1] + g[2] * u[2]);
	}
	return sum;
}

void fem_contact_rows_gather(const FemContactRows *rows, int32_t chunk_index, FemVec4 *y, float sign) {
	for (int32_t r = rows->ref_start[chunk_index]; r < rows->ref_start[chunk_index + 1]; r++) {
		const FemContactRef *ref = &rows->refs[r];
		Four sum = load_four(&y[ref->node]) + all_four(sign * ref->weight) * load_four(&rows->impulses[ref->row]);
		memcpy(&y[ref->node], &sum, sizeof sum);
	}
}

void fem_contact_rows_gather_proxies(const FemContactRows *rows, FemProxyField field, float sign) {
	for (int32_t r = 0; r < rows->row_count; r++) {
		const FemContactRow *row = &rows->rows[r];
		for (int s = 0; s < 2; s++) {
			FemProxy *proxy = row->rigid[s];
			FemModal *modal = row->jacobian[s] ? row->modal[s] : NULL;
			if (!proxy && !modal)
				continue;
			float w = s == 0 ? sign : -sign;
			const float g[3] = {w * rows->impulses[r].x, w * rows->impulses[r].y, w * rows->impulses[r].z};
			if (modal)
				fem_modal_add_impulse(
					modal, row->jacobian[s], g, field == FEM_PROXY_RESIDUAL ? modal->residual : modal->product);
			if (!proxy)
				continue;
			float *y = field == FEM_PROXY_RESIDUAL ? proxy->residual : proxy->product;
			const float *arm = row->arm[s];
			for (int i = 0; i < 3; i++) {
				y[i] += g[i];
				y[i + 3] += arm[(i + 1) % 3] * g[(i + 2) % 3] - arm[(i + 2) % 3] * g[(i + 1) % 3];
			}
		}
	}
}

// ---- update

// Keeps the impulse that the last solve gave with the contact's present settings, before these change. Returns the
// normal impulse, N s, negative where the contact pulled.
static float keep_impulse(const FemContactRows *rows, FemContact *contact, const float u[3], float along) {
	float kt = contact->friction_strength, normal_impulse = contact->normal_strength * (along + contact->bias);
	for (int i = 0; i < 3; i++) {
		float given = normal_impulse * contact->normal[i] + kt * (u[i] - along * contact->normal[i]);
		given += rows->holds ? rows->holds[contact->hold].impulse[i] : 0.0f;
		contact->impulse[i] = contact->active ? given : 0.0f;
	}
	return contact->active ? normal_impulse : 0.0f;
}

// The velocity with which two pieces came: without what gravity gave back to one that was stopped (held_pieces.h).
static void velocity_before(const FemContactRows *rows, int32_t c, float out[3]) {
	const FemContact *contact = &rows->contacts[c];
	out[0] = rows->before[c].x, out[1] = rows->before[c].y, out[2] = rows->before[c].z;
	for (int s = 0; s < 2; s++) {
		const FemContactSide *side = &contact->side[s];
		if (!fem_side_is_body(side))
			continue;
		FemVec3 released = rows->bodies[side->body]->pieces[side->piece].released;
		float sign = s == 0 ? 1.0f : -1.0f;
		out[0] -= sign * released.x, out[1] -= sign * released.y, out[2] -= sign * released.z;
	}
}

static bool limit_bounces_of_pieces(FemContactRows *rows, FemRange pieces) {
	double gained = 0.0, rebound = 0.0; // twice the work of all impulses; J
	for (int32_t c = pieces.begin; c < pieces.end; c++) {
		FemContact *contact = &rows->contacts[c];
		const float *n = contact->normal;
		float before[3], after[3];
		velocity_before(rows, c, before);
		fem_contact_velocity_after(rows, c, after);
		float along = n[0] * after[0] + n[1] * after[1] + n[2] * after[2];
		float normal_impulse = keep_impulse(rows, contact, after, along);
		for (int i = 0; i < 3; i++)
			gained -= (double)(contact->impulse[i] * (before[i] + after[i]));
		rebound += contact->bounces ? (double)(normal_impulse * contact->bias) : 0.0;
	}
	float share = fem_rebound_share(gained, rebound);
	for (int32_t c = pieces.begin; c < pieces.end && share < 1.0f; c++)
		rows->contacts[c].bias *= rows->contacts[c].bounces ? share : 1.0f;
	return share < 1.0f;
}

bool fem_contact_rows_limit_bounces(FemContactRows *rows) {
	bool limited = false;
	for (int32_t begin = 0, end; begin < rows->count && rows->rebound > 0.0f; begin = end) {
		end = fem_contacts_end_of_pieces(rows->contacts, begin, rows->count);
		limited |= limit_bounces_of_pieces(rows, (FemRange){begin, end});
	}
	return limited;
}

// Contacts that join the active set ask for far more than they will get, since the solve did not know them, and those
// that leave it pulled. Friction of two pieces is bounded by what their contacts were given in all, shared out by what
// each asks for (docs/method.md, "Friction"): a struck box would stick to its floor otherwise, and what slides
// would be braked 1.5 times as hard.
static void set_friction(FemContactRows *rows, FemRange pieces, float share, float slip_min, FemContactUpdate *update) {
	for (int32_t c = pieces.begin; c < pieces.end && !rows->holds; c++) {
		FemContact *contact = &rows->contacts[c];
		float before = contact->friction_strength, bound = share * contact->friction * contact->normal_impulse;
		contact->friction_strength = bound / fmaxf(contact->slip, slip_min);
		update->changed |= fabsf(contact->friction_strength - before) >
			FEM_FRICTION_CHANGE * fmaxf(contact->friction_strength, before);
	}
}

FemContactUpdate fem_contact_rows_update(FemContactRows *rows, float slip_min) {
	FemContactUpdate update = {0};
	FemRange pieces = {0, 0};
	float given = 0.0f, asked = 0.0f;
	for (int32_t c = 0; c < rows->count; c++) {
		FemContact *contact = &rows->contacts[c];
		const float *n = contact->normal;
		float u[3], square = 0.0f;
		fem_contact_velocity_after(rows, c, u);
		float along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
		for (int i = 0; i < 3; i++)
			square += (u[i] - along * n[i]) * (u[i] - along * n[i]);
		if (fem_contact_is_joint(contact)) { // it holds both ways, and nothing is borne by it
			keep_impulse(rows, contact, u, along);
			update.any_active = true;
			pieces.begin = pieces.end = c + 1;
			continue;
		}
		given += keep_impulse(rows, contact, u, along);
		bool was_active = contact->active;
		contact->normal_impulse = fmaxf(0.0f, contact->normal_strength * (along + contact->bias));
		contact->slip = sqrtf(square);
		contact->active = contact->normal_impulse > 0.0f;
		asked += contact->normal_impulse;
		update.any_active |= contact->active;
		update.changed |= was_active != contact->active;
		pieces.end = c + 1;
		if (pieces.end < rows->count && fem_contact_same_pieces(contact, contact + 1))
			continue;
		float share = asked > 0.0f ? fminf(fmaxf(given / asked, 0.0f), 1.0f) : 1.0f;
		set_friction(rows, pieces, share, slip_min, &update);
		pieces.begin = pieces.end;
		given = asked = 0.0f;
	}
	return update;
}
