#include "dynamics/contact_rows.h"

#include <math.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------- nodes by chunk

static int32_t chunk_of(const FemBody *body, int32_t node) {
	int32_t part = body->topology->node_part[node];
	return body->part_chunk[part] + (node - body->topology->part_nodes[part].begin) / FEM_NODE_CHUNK;
}

// Pinned nodes too: what contacts do to them belongs to their reaction.
static bool is_live(const FemBody *body, int32_t node) {
	return body->part_state[body->topology->node_part[node]] == FEM_ISLAND_LIVE;
}

// Every live node of every contact, in order. With `fill` the refs are written, else counted.
static void sort_refs(FemContactRows *rows, bool fill) {
	for (int32_t c = 0; c < rows->count; c++) {
		for (int s = 0; s < 2; s++) {
			const FemContactSide *side = &rows->contacts[c].side[s];
			if (side->body < 0 || side->is_fixed)
				continue;
			const FemBody *body = rows->bodies[side->body];
			for (int k = 0; k < 4; k++) {
				if (side->weights[k] == 0.0f || !is_live(body, side->nodes[k]))
					continue;
				int32_t chunk = chunk_of(body, side->nodes[k]);
				if (fill)
					rows->refs[rows->ref_start[chunk]] =
						(FemContactRef){c, side->nodes[k], s == 0 ? side->weights[k] : -side->weights[k]};
				rows->ref_start[chunk + (fill ? 0 : 1)]++;
			}
		}
	}
}

void fem_contact_rows_build(FemContactRows *rows, int32_t chunk_count) {
	memset(rows->ref_start, 0, sizeof *rows->ref_start * (size_t)(chunk_count + 1));
	sort_refs(rows, false);
	for (int32_t c = 0; c < chunk_count; c++)
		rows->ref_start[c + 1] += rows->ref_start[c];
	sort_refs(rows, true); // each start has moved to the next one's place
	memmove(rows->ref_start + 1, rows->ref_start, sizeof *rows->ref_start * (size_t)chunk_count);
	rows->ref_start[0] = 0;
}

// --------------------------------------------------------------------------------------------------------------- diagonal

void fem_contact_rows_diagonal(const FemContactRows *rows, const FemNodeChunk *chunk, int32_t chunk_index) {
	FemBody *body = rows->bodies[chunk->body];
	memset(body->contact_blocks + 6 * (int64_t)chunk->begin, 0, 6 * sizeof(float) * (size_t)(chunk->end - chunk->begin));
	for (int32_t r = rows->ref_start[chunk_index]; r < rows->ref_start[chunk_index + 1]; r++) {
		const FemContactRef *ref = &rows->refs[r];
		const FemContact *contact = &rows->contacts[ref->contact];
		if (!contact->active)
			continue;
		const float *n = contact->normal;
		float square = ref->weight * ref->weight, kt = square * contact->friction_strength;
		float kn = square * contact->normal_strength - kt;
		float *block = body->contact_blocks + 6 * (int64_t)ref->node;
		for (int i = 0; i < 3; i++) {
			block[i] += kt + kn * n[i] * n[i];
			block[i + 3] += kn * n[i] * n[(i + 1) % 3];
		}
	}
}

// --------------------------------------------------------------------------------------------------------------- product

static void add_point(const FemContactSide *side, const FemVec4 *x, float sign, float out[3]) {
	for (int k = 0; k < 4; k++) {
		float w = sign * side->weights[k];
		if (w == 0.0f)
			continue;
		const FemVec4 *v = &x[side->nodes[k]];
		out[0] += w * v->x, out[1] += w * v->y, out[2] += w * v->z;
	}
}

static void add_rigid_point(const FemContactSide *side, const float v[3], const float w[3], float sign, float out[3]) {
	const float *a = side->arm;
	for (int i = 0; i < 3; i++)
		out[i] += sign * (v[i] + w[(i + 1) % 3] * a[(i + 2) % 3] - w[(i + 2) % 3] * a[(i + 1) % 3]);
}

// The change of velocity, or CG's direction, at both sides.
static void relative_field(const FemContactRows *rows, const FemContact *contact, FemContactField field, float out[3]) {
	out[0] = out[1] = out[2] = 0.0f;
	for (int s = 0; s < 2; s++) {
		const FemContactSide *side = &contact->side[s];
		float sign = s == 0 ? 1.0f : -1.0f;
		if (side->is_fixed)
			continue;
		if (side->body >= 0) {
			const FemBody *body = rows->bodies[side->body];
			add_point(side, field == FEM_FIELD_DV ? body->dv : body->direction, sign, out);
		} else {
			const FemProxy *proxy = &rows->proxies[side->tet];
			const float *x = field == FEM_FIELD_DV ? proxy->dv : proxy->direction;
			add_rigid_point(side, x, x + 3, sign, out);
		}
	}
}

void fem_contact_velocity(const FemContactRows *rows, const FemContact *contact, bool with_dv, float out[3]) {
	float change[3] = {0.0f, 0.0f, 0.0f};
	if (with_dv)
		relative_field(rows, contact, FEM_FIELD_DV, change);
	out[0] = out[1] = out[2] = 0.0f;
	for (int s = 0; s < 2; s++) {
		const FemContactSide *side = &contact->side[s];
		float sign = s == 0 ? 1.0f : -1.0f;
		if (side->body >= 0) {
			add_point(side, rows->bodies[side->body]->velocity, sign, out);
		} else {
			const FemProxy *proxy = &rows->proxies[side->tet];
			add_rigid_point(side, proxy->velocity, proxy->spin, sign, out);
		}
	}
	for (int i = 0; i < 3; i++)
		out[i] += change[i];
}

double fem_contact_rows_impulses(FemContactRows *rows, int32_t begin, int32_t end, FemContactField field) {
	double sum = 0.0;
	for (int32_t c = begin; c < end; c++) {
		const FemContact *contact = &rows->contacts[c];
		const float *n = contact->normal;
		float u[3];
		if (!contact->active) {
			rows->impulses[c] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
			continue;
		}
		if (field == FEM_FIELD_LOAD)
			fem_contact_velocity(rows, contact, false, u);
		else
			relative_field(rows, contact, field, u);
		float along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
		float bias = field == FEM_FIELD_LOAD ? contact->bias : 0.0f, kt = contact->friction_strength;
		float press = contact->normal_strength * (along + bias) - kt * along;
		float g[3] = {press * n[0] + kt * u[0], press * n[1] + kt * u[1], press * n[2] + kt * u[2]};
		for (int i = 0; rows->paper_friction && field == FEM_FIELD_LOAD && i < 3; i++)
			g[i] += contact->static_impulse[i];
		rows->impulses[c] = (FemVec4){g[0], g[1], g[2], 0.0f};
		sum += (double)(g[0] * u[0] + g[1] * u[1] + g[2] * u[2]);
	}
	return sum;
}

void fem_contact_rows_gather(const FemContactRows *rows, int32_t chunk_index, FemVec4 *y, float sign) {
	for (int32_t r = rows->ref_start[chunk_index]; r < rows->ref_start[chunk_index + 1]; r++) {
		const FemContactRef *ref = &rows->refs[r];
		const FemVec4 *g = &rows->impulses[ref->contact];
		float w = sign * ref->weight;
		y[ref->node].x += w * g->x, y[ref->node].y += w * g->y, y[ref->node].z += w * g->z;
	}
}

void fem_contact_rows_gather_proxy(const FemContactRows *rows, int32_t proxy, float y[6], float sign) {
	for (int32_t c = 0; c < rows->count; c++) {
		for (int s = 0; s < 2; s++) {
			const FemContactSide *side = &rows->contacts[c].side[s];
			if (side->body >= 0 || side->tet != proxy)
				continue;
			float w = s == 0 ? sign : -sign;
			const float g[3] = {w * rows->impulses[c].x, w * rows->impulses[c].y, w * rows->impulses[c].z};
			for (int i = 0; i < 3; i++) {
				y[i] += g[i];
				y[i + 3] += side->arm[(i + 1) % 3] * g[(i + 2) % 3] - side->arm[(i + 2) % 3] * g[(i + 1) % 3];
			}
		}
	}
}

// ---------------------------------------------------------------------------------------------------------------- update

static float friction_strength(const FemContact *contact, float slip_min) {
	return contact->friction * contact->press / fmaxf(contact->slip, slip_min);
}

// What the solve that ends here gave with this contact's settings; they may change in the next lines.
static void keep_impulse(FemContact *contact, bool paper_friction, const float u[3], float along) {
	float kt = contact->friction_strength, press = contact->normal_strength * (along + contact->bias);
	for (int i = 0; i < 3; i++) {
		float given = press * contact->normal[i] + kt * (u[i] - along * contact->normal[i]);
		given += paper_friction ? contact->static_impulse[i] : 0.0f;
		contact->impulse[i] = contact->active ? given : 0.0f;
	}
}

FemContactUpdate fem_contact_rows_update(FemContactRows *rows, float slip_min) {
	FemContactUpdate update = {false, false};
	for (int32_t c = 0; c < rows->count; c++) {
		FemContact *contact = &rows->contacts[c];
		const float *n = contact->normal;
		float u[3], square = 0.0f;
		fem_contact_velocity(rows, contact, true, u);
		float along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
		for (int i = 0; i < 3; i++)
			square += (u[i] - along * n[i]) * (u[i] - along * n[i]);
		keep_impulse(contact, rows->paper_friction, u, along);
		bool was_active = contact->active;
		float before = contact->friction_strength;
		contact->press = fmaxf(0.0f, contact->normal_strength * (along + contact->bias));
		contact->slip = sqrtf(square);
		contact->active = contact->press > 0.0f;
		if (!rows->paper_friction)
			contact->friction_strength = friction_strength(contact, slip_min);
		update.pressing |= contact->active;
		update.changed |= was_active != contact->active ||
			fabsf(contact->friction_strength - before) > 0.02f * fmaxf(contact->friction_strength, before);
	}
	return update;
}
