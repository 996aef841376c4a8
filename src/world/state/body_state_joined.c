// The joined pieces of a body, in its saved state:
//
//   share of energy given back, bonds that break a second (0: no limit), both floats; 0 or 1: refines
//   pieces of the tets in runs: how many, and of which; 0 ends them
//   0 or 1: it is cut; and then for each face between two tets that are left, in the order of the first tet and its
//   corners, if it is open: 0, or 8 and a bit for each corner of it, in the order of the first tet's, whose bond broke
//
// Bonds are found anew from the faces. Energy that waits to be given back is lost.
#include "model/piece.h"
#include "topology/surface.h"
#include "topology/topology.h"
#include "world/api/joining.h"
#include "world/state/body_state.h"
#include "world/step/joined_pieces.h"

#include <math.h>

#define FACE_OF_JOINTS 8 // above the bits of the three corners

// ---- writing

static void write_labels(FemStream *s, const FemJoined *joined) {
	for (int32_t begin = 0, end; begin < joined->tet_count; begin = end) {
		for (end = begin + 1; end < joined->tet_count && joined->tet_piece[end] == joined->tet_piece[begin];)
			end++;
		fem_stream_write_number(s, (uint64_t)(end - begin));
		fem_stream_write_number(s, (uint64_t)joined->tet_piece[begin]);
	}
	fem_stream_write_number(s, 0);
}

// The place of a face, seen from either side, among those with bonds; -1: it is none. They are sorted by their lower
// side, as they were cut.
static int32_t find_face(const FemJoined *joined, int32_t face) {
	int32_t low = 0, high = joined->face_count;
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (joined->faces[middle].face < face)
			low = middle + 1;
		else
			high = middle;
	}
	return low < joined->face_count && joined->faces[low].face == face ? low : -1;
}

static int32_t lower_of(const FemTopology *whole, int32_t face) {
	return whole->neighbours[face] < face ? whole->neighbours[face] : face;
}

// Whether a face between two tets that are left is open, seen from the tet of it that users number first.
static bool is_listed(const FemTopology *t, const FemTopology *whole, int32_t face) {
	int32_t across = whole->neighbours[face];
	return across >= 0 && whole->user_of_tet[across / 4] > whole->user_of_tet[face / 4] &&
		t->user_of_tet[across / 4] >= 0 && t->neighbours[face] < 0;
}

// The place among the corners of the lower side of corner k of `face`: the same node of the mesh.
static int32_t corner_of(const FemMesh *mesh, int32_t face, int32_t lower, int k) {
	const FemTopology *whole = mesh->topology;
	const int32_t *nodes = mesh->tets + 4 * (size_t)whole->user_of_tet[face / 4];
	const int32_t *others = mesh->tets + 4 * (size_t)whole->user_of_tet[lower / 4];
	int32_t node = nodes[fem_face_corners[face % 4][k]];
	for (int32_t at = 0; at < 3; at++) {
		if (others[fem_face_corners[lower % 4][at]] == node)
			return at;
	}
	return 0;
}

typedef void VisitFace(void *context, const FemMesh *mesh, FemBody *body, int32_t face);

static void visit_faces(const FemMesh *mesh, FemBody *body, VisitFace *visit, void *context) {
	const FemTopology *t = body->topology;
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		int32_t tet = t->tet_of_user[user];
		for (int32_t v = 0; v < 4 && tet >= 0; v++) {
			if (is_listed(t, mesh->topology, 4 * tet + v))
				visit(context, mesh, body, 4 * tet + v);
		}
	}
}

static void write_face(void *context, const FemMesh *mesh, FemBody *body, int32_t face) {
	const FemJoined *joined = body->joined;
	int32_t lower = lower_of(mesh->topology, face), place = find_face(joined, lower), bits = FACE_OF_JOINTS;
	for (int k = 0; k < 3 && place >= 0; k++) {
		const FemBond *bond = &joined->bonds[joined->faces[place].bonds[corner_of(mesh, face, lower, k)]];
		bits |= fem_bond_holds(body->topology, bond) ? 0 : 1 << k;
	}
	fem_stream_write_number(context, place < 0 ? 0 : (uint64_t)bits);
}

void fem_state_write_joined(FemStream *s, const FemWorld *world, FemBody *body) {
	FemJoined *joined = body->joined;
	float rate = isinf(joined->breaks_per_second) ? 0.0f : joined->breaks_per_second;
	FEM_STREAM(s, joined->energy_release);
	FEM_STREAM(s, rate);
	fem_stream_bool(s, &joined->refine_on_break);
	write_labels(s, joined);
	fem_stream_bool(s, &joined->is_cut);
	if (joined->is_cut)
		visit_faces(&world->meshes[body->mesh_index], body, write_face, s);
}

// ---- reading

static void read_labels(FemStream *s, FemJoined *joined) {
	int32_t at = 0, run;
	while (!s->failed && (run = fem_stream_read_index(s, (int64_t)joined->tet_count - at + 1)) > 0) {
		int32_t label = fem_stream_read_index(s, joined->tet_count);
		joined->label_count = label >= joined->label_count ? label + 1 : joined->label_count;
		for (int32_t end = at + run; at < end; at++)
			joined->tet_piece[at] = label;
	}
	s->failed = s->failed || at != joined->tet_count;
}

typedef struct Reading {
	FemStream *s;
	uint8_t *bits; // [lower face]: as it was saved, by its own corners
	int32_t count;
} Reading;

static void read_face(void *context, const FemMesh *mesh, FemBody *body, int32_t face) {
	Reading *reading = context;
	const FemTopology *t = body->topology;
	int32_t value = fem_stream_read_index(reading->s, 2 * FACE_OF_JOINTS), lower = lower_of(mesh->topology, face);
	int32_t across = mesh->topology->neighbours[face];
	if (value < FACE_OF_JOINTS) {
		reading->s->failed = reading->s->failed || value != 0;
		return;
	}
	if (fem_tet_component(t, face / 4) == fem_tet_component(t, across / 4)) {
		reading->s->failed = true;
		return;
	}
	reading->bits[lower] = FACE_OF_JOINTS;
	for (int k = 0; k < 3; k++)
		reading->bits[lower] |= value >> k & 1 ? (uint8_t)(1 << corner_of(mesh, face, lower, k)) : 0;
	reading->count++;
}

static void take_faces(const FemMesh *mesh, FemJoined *joined, const Reading *reading, int32_t face_count) {
	int32_t at = 0;
	for (int32_t face = 0; face < face_count; face++) {
		if (reading->bits[face])
			joined->faces[at++] = (FemBondFace){.face = face, .across = mesh->topology->neighbours[face]};
	}
}

static void take_breaks(FemJoined *joined, const Reading *reading) {
	for (int32_t i = 0; i < joined->face_count; i++) {
		FemBondFace *face = &joined->faces[i];
		for (int k = 0; k < 3; k++)
			joined->bonds[face->bonds[k]].is_broken |= reading->bits[face->face] >> k & 1;
	}
	for (int32_t i = 0; i < joined->face_count; i++) {
		FemBondFace *face = &joined->faces[i];
		face->is_open = joined->bonds[face->bonds[0]].is_broken && joined->bonds[face->bonds[1]].is_broken &&
			joined->bonds[face->bonds[2]].is_broken;
	}
}

static void read_bonds(FemStream *s, const FemMesh *mesh, FemBody *body) {
	FemJoined *joined = body->joined;
	int32_t faces = 4 * body->topology->batch_count * FEM_LANES;
	Reading reading = {.s = s, .bits = FEM_ALLOC_ARRAY(uint8_t, faces)};
	if (reading.bits)
		visit_faces(mesh, body, read_face, &reading);
	bool ok = reading.bits && !s->failed && fem_joined_allocate_bonds(joined, 3 * reading.count, reading.count);
	if (ok)
		take_faces(mesh, joined, &reading, faces);
	ok = ok && fem_bonds_make(mesh, body, joined);
	if (ok)
		take_breaks(joined, &reading);
	s->failed = !ok;
	FEM_FREE_ARRAY(reading.bits, faces);
}

void fem_state_read_joined(FemStream *s, const FemWorld *world, FemBody *body) {
	float rate = 0.0f;
	FemJoined *joined = body->joined = fem_joined_create(body->topology->user_tet_count);
	if (!joined) {
		s->failed = true;
		return;
	}
	FEM_STREAM(s, joined->energy_release);
	FEM_STREAM(s, rate);
	fem_stream_bool(s, &joined->refine_on_break);
	read_labels(s, joined);
	fem_stream_bool(s, &joined->is_cut);
	s->failed = s->failed || !(joined->energy_release >= 0.0f && isfinite(joined->energy_release)) || !(rate >= 0.0f) ||
		!isfinite(rate) || (joined->is_cut && !body->breaking);
	joined->breaks_per_second = rate > 0.0f ? rate : INFINITY;
	joined->break_allowance = rate > 0.0f ? 1.0f : INFINITY;
	if (!s->failed && joined->is_cut)
		read_bonds(s, &world->meshes[body->mesh_index], body);
	if (!s->failed)
		fem_joined_find_assemblies(body);
}
