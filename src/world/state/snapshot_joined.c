// The joined pieces of a body, in a snapshot: what it is cut into and each of its bonds, so that it goes on bitwise.
#include "base/vec.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/checks.h"
#include "world/api/joining.h"
#include "world/state/snapshot.h"
#include "world/step/joined_pieces.h"

#include <math.h>

static bool is_corner(const FemBody *body, int32_t corner) {
	return corner >= 0 && corner < 4 * body->topology->batch_count * FEM_LANES;
}

static void sync_bond(FemStream *s, const FemBody *body, FemBond *bond) {
	FEM_STREAM(s, bond->corner);
	FEM_STREAM(s, bond->normal);
	FEM_STREAM(s, bond->area);
	FEM_STREAM(s, bond->stiffness);
	FEM_STREAM(s, bond->energy);
	fem_stream_bool(s, &bond->is_broken);
	s->failed = s->failed || !is_corner(body, bond->corner[0]) || !is_corner(body, bond->corner[1]) ||
		!fem_vec3_is_finite(bond->normal) || !(bond->area > 0.0f) || !(bond->stiffness > 0.0f) ||
		!fem_is_finite(bond->area) || !fem_is_finite(bond->stiffness) || !(bond->energy >= 0.0f);
}

static void sync_face(FemStream *s, const FemBody *body, FemBondFace *face, int32_t bond_count) {
	FEM_STREAM(s, face->face);
	FEM_STREAM(s, face->across);
	FEM_STREAM(s, face->bonds);
	FEM_STREAM(s, face->area);
	fem_stream_bool(s, &face->is_open);
	for (int k = 0; k < 3; k++)
		s->failed = s->failed || face->bonds[k] < 0 || face->bonds[k] >= bond_count;
	s->failed = s->failed || !is_corner(body, face->face) || !is_corner(body, face->across);
}

static void sync_kick(FemStream *s, FemBondKick *kick, int32_t bond_count) {
	FEM_STREAM(s, kick->bond);
	FEM_STREAM(s, kick->force);
	FEM_STREAM(s, kick->energy);
	s->failed = s->failed || kick->bond < 0 || kick->bond >= bond_count || !fem_vec3_is_finite(kick->force) ||
		!(kick->energy >= 0.0f && fem_is_finite(kick->energy));
}

static void sync_bonds(FemStream *s, FemBody *body, FemJoined *joined) {
	int32_t bonds = joined->bond_count, faces = joined->face_count;
	FEM_STREAM(s, bonds);
	FEM_STREAM(s, faces);
	FEM_STREAM(s, joined->kick_count);
	if (fem_stream_reads(s)) {
		s->failed = s->failed || !fem_stream_can_hold(s, bonds, sizeof(int32_t)) ||
			!fem_stream_can_hold(s, faces, sizeof(int32_t)) || joined->kick_count < 0 || joined->kick_count > bonds ||
			!fem_joined_allocate_bonds(joined, bonds, faces);
		if (s->failed)
			return;
		joined->bond_count = bonds;
	}
	for (int32_t i = 0; i < bonds && !s->failed; i++)
		sync_bond(s, body, &joined->bonds[i]);
	for (int32_t i = 0; i < faces && !s->failed; i++)
		sync_face(s, body, &joined->faces[i], bonds);
	for (int32_t i = 0; i < joined->kick_count && !s->failed; i++)
		sync_kick(s, &joined->kicks[i], bonds);
	for (int32_t c = 0; c < body->topology->component_count && !s->failed; c++)
		fem_stream_bool(s, &body->pieces[c].is_refined);
}

void fem_snapshot_sync_joined(FemStream *s, FemBody *body) {
	bool has = body->joined != NULL;
	fem_stream_bool(s, &has);
	if (!has || s->failed)
		return;
	if (fem_stream_reads(s) && !(body->joined = fem_joined_create(body->topology->user_tet_count))) {
		s->failed = true;
		return;
	}
	FemJoined *joined = body->joined;
	FEM_STREAM_ARRAY(s, joined->tet_piece, joined->tet_count);
	FEM_STREAM(s, joined->label_count);
	fem_stream_bool(s, &joined->is_cut);
	FEM_STREAM(s, joined->energy_release);
	FEM_STREAM(s, joined->breaks_per_second);
	FEM_STREAM(s, joined->break_allowance);
	fem_stream_bool(s, &joined->refine_on_break);
	FEM_STREAM(s, joined->overload);
	FEM_STREAM(s, joined->calm_load);
	fem_stream_bool(s, &joined->is_stirred);
	s->failed = s->failed || !(joined->energy_release >= 0.0f && fem_is_finite(joined->energy_release)) ||
		!(joined->overload >= 0.0f) || !(joined->calm_load >= 0.0f) || !(joined->breaks_per_second > 0.0f) ||
		isnan(joined->break_allowance);
	if (joined->is_cut && !s->failed)
		sync_bonds(s, body, joined);
	if (fem_stream_reads(s) && !s->failed)
		fem_joined_find_assemblies(body);
}
