// Bodies that are cut beforehand into joined pieces: which, the cut, and putting together what still holds.
#include "world/api/joining.h"

#include "base/memory.h"
#include "base/vec.h"
#include "fracture/crack.h"
#include "fracture/piece_labels.h"
#include "fracture/splinters.h"
#include "model/body_tet_arrays.h"
#include "model/piece.h"
#include "topology/splitting.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/cookies.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/state/body_state.h"
#include "world/step/breaking.h"
#include "world/step/joined_pieces.h"
#include "world/step/publish.h"

#include <math.h>
#include <string.h>

#define SEEDS_DEFAULT 10    // pieces; of the paper's bunny
#define RELEASE_MOST 100.0f // times the energy of a bond; chosen: more would only be a slip

// ---- memory

FemJoined *fem_joined_create(int32_t tet_count) {
	FemJoined *joined = FEM_ALLOC_ARRAY(FemJoined, 1);
	if (!joined)
		return NULL;
	*joined =
		(FemJoined){.tet_count = tet_count, .energy_release = 1.0f, .breaks_per_second = INFINITY, .overload = 1.0f};
	joined->tet_piece = FEM_ALLOC_ARRAY(int32_t, tet_count);
	if (!joined->tet_piece) {
		fem_joined_free(joined);
		return NULL;
	}
	return joined;
}

static void free_bonds(FemJoined *joined) {
	FEM_FREE_ARRAY(joined->bonds, joined->bond_capacity);
	FEM_FREE_ARRAY(joined->kicks, joined->bond_capacity);
	FEM_FREE_ARRAY(joined->faces, joined->face_count);
	joined->bonds = NULL;
	joined->kicks = NULL;
	joined->faces = NULL;
	joined->bond_capacity = joined->bond_count = joined->kick_count = joined->face_count = joined->whole_count = 0;
	joined->is_cut = false;
}

void fem_joined_free(FemJoined *joined) {
	if (!joined)
		return;
	free_bonds(joined);
	FEM_FREE_ARRAY(joined->tet_piece, joined->tet_count);
	FEM_FREE_ARRAY(joined, 1);
}

bool fem_joined_allocate_bonds(FemJoined *joined, int32_t bond_count, int32_t face_count) {
	joined->bonds = FEM_ALLOC_ARRAY(FemBond, bond_count);
	joined->kicks = FEM_ALLOC_ARRAY(FemBondKick, bond_count);
	joined->faces = FEM_ALLOC_ARRAY(FemBondFace, face_count);
	joined->bond_capacity = bond_count;
	joined->face_count = face_count;
	return face_count == 0 || (joined->bonds && joined->kicks && joined->faces);
}

// ---- pieces

FemJoinedDef fem_default_joined_def(void) {
	return (FemJoinedDef){.seed_count = SEEDS_DEFAULT, .energy_release = 1.0f, .cookie = FEM_COOKIE_JOINED};
}

static FemResult check_def(const FemTopology *whole, const FemJoinedDef *def) {
	if (!def || def->cookie != FEM_COOKIE_JOINED)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The joined def is null or was not made by fem_default_joined_def(): start from that.");
	for (int32_t user = 0; def->tet_pieces && user < whole->user_tet_count; user++) {
		if (def->tet_pieces[user] < 0)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
				"tet_pieces puts tet %d into piece %d: number pieces from 0 on.", user, def->tet_pieces[user]);
	}
	for (int32_t i = 0; !def->tet_pieces && def->seed_tets && i < def->seed_count; i++) {
		if (def->seed_tets[i] < 0 || def->seed_tets[i] >= whole->user_tet_count)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "seed_tets names tet %d: the mesh has tets 0..%d.",
				def->seed_tets[i], whole->user_tet_count - 1);
	}
	return FEM_OK;
}

static FemResult check_breaking(float energy_release, float breaks_per_second) {
	if (isnan(energy_release) || isnan(breaks_per_second))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "energy_release and breaks_per_second must be numbers.");
	return FEM_OK;
}

static void set_breaking(FemJoined *joined, float energy_release, float breaks_per_second, bool refine_on_break) {
	joined->energy_release = fminf(fmaxf(energy_release, 0.0f), RELEASE_MOST);
	joined->breaks_per_second = breaks_per_second > 0.0f ? breaks_per_second : INFINITY;
	joined->break_allowance = isinf(joined->breaks_per_second) ? INFINITY : 1.0f;
	joined->refine_on_break = refine_on_break;
}

static bool grow_labels(const FemTopology *whole, const FemJoinedDef *def, int32_t *labels) {
	int32_t count = def->seed_count < 1           ? 1
		: def->seed_count > whole->user_tet_count ? whole->user_tet_count
												  : def->seed_count;
	if (def->seed_tets && def->seed_count > 0) // the same tet may be named often
		return fem_labels_grow(whole, def->seed_tets, def->seed_count, labels);
	int32_t *seeds = FEM_ALLOC_ARRAY(int32_t, count);
	if (!seeds)
		return false;
	fem_labels_choose_seeds(whole, def->seed, seeds, count);
	bool ok = fem_labels_grow(whole, seeds, count, labels);
	FEM_FREE_ARRAY(seeds, count);
	return ok;
}

// Null when memory fails.
static FemJoined *make_joined(const FemTopology *whole, const FemJoinedDef *def) {
	int32_t lanes = whole->batch_count * FEM_LANES, *labels = FEM_ALLOC_ARRAY(int32_t, lanes);
	FemJoined *joined = fem_joined_create(whole->user_tet_count);
	bool ok = labels && joined;
	for (int32_t tet = 0; ok && def->tet_pieces && tet < lanes; tet++)
		labels[tet] = whole->user_of_tet[tet] < 0 ? -1 : def->tet_pieces[whole->user_of_tet[tet]];
	ok = ok && (def->tet_pieces || grow_labels(whole, def, labels));
	if (ok) {
		joined->label_count = fem_labels_settle(whole, labels);
		ok = joined->label_count >= 0;
	}
	for (int32_t user = 0; ok && user < whole->user_tet_count; user++)
		joined->tet_piece[user] = labels[whole->tet_of_user[user]];
	FEM_FREE_ARRAY(labels, lanes);
	if (ok) {
		set_breaking(joined, def->energy_release, def->breaks_per_second, def->refine_on_break);
		return joined;
	}
	fem_joined_free(joined);
	fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the pieces of a body of %d tets.", whole->user_tet_count);
	return NULL;
}

// ---- cutting

typedef bool OpensFace(const FemBody *body, const void *context, int32_t face, int32_t across);

// What is to be opened: faces, and tets that leave.
typedef struct Opening {
	OpensFace *opens;
	const void *context;
	const int32_t *removed;
	int32_t removed_count;
} Opening;

// Opens faces of a body in the world between steps; the list of cuts is left for the caller to free. No event tells of
// it. False when memory fails.
static bool open_faces(FemWorld *world, int32_t body_index, const Opening *opening) {
	FemBody *body = world->bodies[body_index];
	FemBreaking *breaking = body->breaking;
	if (!fem_body_make_splittable(world, body) || !fem_split_open(body->own_topology))
		return false;
	const FemTopology *t = body->topology;
	for (int32_t face = 0; face < 4 * t->batch_count * FEM_LANES; face++) {
		int32_t across = t->user_of_tet[face / 4] < 0 ? -1 : t->neighbours[face];
		if (across > face && opening->opens(body, opening->context, face, across))
			fem_face_cut(body, face, across);
	}
	if (breaking->cut_count == 0 && opening->removed_count == 0) {
		fem_split_close(body->own_topology);
		return true;
	}
	fem_cuts_regroup(body, breaking->cut_count);
	if (breaking->splinters && fem_splinters_own(breaking->splinters)) {
		fem_splinters_note_cuts(breaking->splinters, body->topology, breaking->cuts, breaking->cut_count);
		fem_splinters_follow(breaking->splinters, body->topology); // before what they follow is gone
	}
	if (opening->removed_count > 0) {
		fem_split_remove_tets(body->own_topology, opening->removed, opening->removed_count);
		if (breaking->splinters && fem_splinters_own(breaking->splinters))
			fem_splinters_note_copies(breaking->splinters, body->topology);
	}
	int32_t events = world->step_piece_event_count;
	fem_body_apply_split(world, body, false);
	fem_body_finish_split(world, body_index);
	world->step_piece_event_count = events;
	fem_body_publish(body);
	return true;
}

static bool is_between_pieces(const FemBody *body, const void *context, int32_t face, int32_t across) {
	const int32_t *labels = context;
	return labels[face / 4] != labels[across / 4] && !fem_face_holds(body, face, across);
}

// [tet] Which piece each tet is to be of now. What broke may have parted the pieces of the whole mesh anew: rests of
// fewer tets than a piece has go to a neighbour. Null when memory fails.
static int32_t *label_now(const FemBody *body) {
	const FemTopology *t = body->topology;
	int32_t lanes = t->batch_count * FEM_LANES, *labels = FEM_ALLOC_ARRAY(int32_t, lanes);
	for (int32_t tet = 0; labels && tet < lanes; tet++)
		labels[tet] = t->user_of_tet[tet] < 0 ? -1 : body->joined->tet_piece[t->user_of_tet[tet]];
	if (!labels || fem_labels_settle(t, labels) >= 0)
		return labels;
	FEM_FREE_ARRAY(labels, lanes);
	return NULL;
}

// Two that hang together elsewhere, by faces that cannot break, are one.
static bool are_two_pieces(const FemBody *body, const FemFaceCut *cut) {
	return fem_tet_component(body->topology, cut->face / 4) != fem_tet_component(body->topology, cut->across / 4);
}

// The faces that were cut, and bonds at their corners.
static bool join(FemWorld *world, FemBody *body) {
	FemJoined *joined = body->joined;
	const FemBreaking *breaking = body->breaking;
	int32_t count = 0, at = 0;
	for (int32_t i = 0; i < breaking->cut_count; i++)
		count += are_two_pieces(body, &breaking->cuts[i]);
	if (!fem_joined_allocate_bonds(joined, 3 * count, count))
		return false;
	for (int32_t i = 0; i < breaking->cut_count; i++) {
		if (are_two_pieces(body, &breaking->cuts[i]))
			joined->faces[at++] = (FemBondFace){.face = breaking->cuts[i].face, .across = breaking->cuts[i].across};
	}
	return fem_bonds_make(&world->meshes[body->mesh_index], body, joined);
}

FemResult fem_body_cut_joined(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	FemJoinedDef def = fem_default_joined_def();
	if (!body->breaking || (body->joined && body->joined->is_cut))
		return FEM_OK;
	if (!body->joined && !(body->joined = make_joined(world->meshes[body->mesh_index].topology, &def)))
		return FEM_ERROR_MEMORY;
	fem_body_release_pieces(body);
	int32_t *labels = label_now(body);
	Opening opening = {.opens = is_between_pieces, .context = labels};
	bool ok = labels && open_faces(world, body_index, &opening) && join(world, body);
	fem_cuts_free(body->breaking);
	FEM_FREE_ARRAY(labels, body->topology->batch_count * FEM_LANES);
	if (!ok) {
		free_bonds(body->joined);
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the bonds of a body of %d tets.",
			body->topology->tet_count);
	}
	body->joined->is_cut = true;
	world->joined_count++;
	fem_joined_find_assemblies(body);
	return FEM_OK;
}

// ---- putting together

// What the corners of a body's tets are and do; by tets inside, which are the same in every body of the mesh.
typedef struct Corner {
	FemVec4 position, velocity;
	uint8_t kind;
} Corner;

typedef struct Mending {
	Corner *corners;  // [tet * 4 + local]
	uint8_t *is_open; // [tet * 4 + local]: the face stays open
	uint8_t *leaves;  // [tet]: it goes in this turn
	int32_t *removed; // tets that are gone
	int32_t count, removed_count, open_count;
} Mending;

static bool keep_corners(const FemBody *body, const FemTopology *whole, Mending *out) {
	const FemTopology *t = body->topology;
	*out = (Mending){.count = 4 * t->batch_count * FEM_LANES};
	out->corners = FEM_ALLOC_ARRAY(Corner, out->count);
	out->is_open = FEM_ALLOC_ARRAY(uint8_t, out->count);
	out->leaves = FEM_ALLOC_ARRAY(uint8_t, out->count / 4);
	out->removed = FEM_ALLOC_ARRAY(int32_t, out->count / 4);
	bool ok = out->corners && out->is_open && out->leaves && out->removed;
	for (int32_t at = 0; ok && at < out->count; at++) {
		bool was_there = whole->user_of_tet[at / 4] >= 0, is_there = t->user_of_tet[at / 4] >= 0;
		out->is_open[at] = was_there && whole->neighbours[at] >= 0 && t->neighbours[at] < 0;
		if (was_there && !is_there && at % 4 == 0)
			out->removed[out->removed_count++] = at / 4;
		if (!is_there)
			continue;
		int32_t node = fem_tet_node(t, at / 4, at % 4);
		out->corners[at] = (Corner){body->position[node], body->velocity[node], body->node_kind[node]};
	}
	return ok;
}

// Faces whose bonds all hold close.
static void close_joined(const FemBody *body, Mending *mending) {
	const FemJoined *joined = body->joined;
	for (int32_t i = 0; i < joined->face_count; i++) {
		const FemBondFace *face = &joined->faces[i];
		bool holds = true;
		for (int k = 0; k < 3; k++)
			holds &= fem_bond_holds(body->topology, &joined->bonds[face->bonds[k]]);
		if (holds)
			mending->is_open[face->face] = mending->is_open[face->across] = 0;
	}
	for (int32_t at = 0; at < mending->count; at++)
		mending->open_count += mending->is_open[at];
}

static bool stays_open(const FemBody *body, const void *context, int32_t face, int32_t across) {
	(void)body;
	(void)across;
	return ((const Mending *)context)->is_open[face];
}

// A node is where the corners were that it is of, on the average, and moves as they did.
static void place_nodes(FemBody *body, const Mending *mending) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->node_count; i++) {
		FemVec3d x = {0.0, 0.0, 0.0}, v = x;
		int32_t begin = t->node_tet_start[i], end = t->node_tet_start[i + 1];
		double volume = 0.0;
		for (int32_t k = begin; k < end; k++) {
			const Corner *corner = &mending->corners[t->node_tets[k]];
			int32_t tet = t->node_tets[k] / 4;
			double share = (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
			x = fem_vec3d_add(x, fem_vec3d_scale(fem_vec3d_from4(corner->position), share));
			v = fem_vec3d_add(v, fem_vec3d_scale(fem_vec3d_from4(corner->velocity), share));
			volume += share;
			if (corner->kind != FEM_NODE_FREE)
				body->node_kind[i] = corner->kind;
		}
		body->position[i] = fem_vec4_from(fem_vec3d_to_vec3(fem_vec3d_scale(x, 1.0 / volume)));
		body->velocity[i] = fem_vec4_from(fem_vec3d_to_vec3(fem_vec3d_scale(v, 1.0 / volume)));
		body->last_dv[i] = (FemVec4){0};
	}
	fem_pieces_count_pinned(body);
}

static void copy_settings(FemBody *made, const FemBody *body) {
	made->user_data = body->user_data;
	made->layer = body->layer, made->mask = body->mask;
	made->self_contact = body->self_contact;
	made->dynamics = body->dynamics;
	made->gravity_scale = body->gravity_scale, made->toughness_scale = body->toughness_scale;
	made->pose_position = body->pose_position, made->pose_rotation = body->pose_rotation;
	made->origin = body->origin;
	made->kinematic = body->kinematic;
	made->was_asleep = body->was_asleep;
	made->asleep_since = body->asleep_since;
	FemBreaking *to = made->breaking;
	const FemBreaking *from = body->breaking;
	to->seed = from->seed;
	to->crack_time = from->crack_time, to->dice_time = from->dice_time, to->crushed_mass = from->crushed_mass;
	to->piece_limit = from->piece_limit, to->piece_lifetime = from->piece_lifetime, to->piece_fade = from->piece_fade;
}

// What tets have of their own, of a body of the same mesh.
static void copy_tets(FemBody *made, const FemBody *body) {
	for (int i = 0; i < FEM_TET_ARRAY_COUNT; i++) {
		const FemBodyTetArray *array = &fem_body_tet_arrays[i];
		char *to = fem_body_tet_array(made, array);
		const char *from = fem_body_tet_array(body, array);
		for (int32_t k = 0;
			 to && from && array->saved != FEM_TETS_NOT_SAVED && k < fem_body_tet_array_count(made, array); k++)
			memcpy(to + array->value_bytes * (size_t)k + array->state_offset,
				from + array->value_bytes * (size_t)k + array->state_offset, array->state_bytes);
	}
}

// A whole body of the same mesh and materials with what tets have; null (with a sentence) on failure.
static FemBody *build_whole(FemWorld *world, const FemBody *body) {
	const FemTopology *t = body->topology, *whole = world->meshes[body->mesh_index].topology;
	int32_t *materials = FEM_ALLOC_ARRAY(int32_t, whole->user_tet_count), any = 0;
	if (!materials) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body of %d tets.", whole->user_tet_count);
		return NULL;
	}
	for (int32_t user = 0; user < whole->user_tet_count; user++)
		any = t->tet_of_user[user] >= 0 ? body->tet_material[t->tet_of_user[user]] : any;
	for (int32_t user = 0; user < whole->user_tet_count; user++)
		materials[user] = t->tet_of_user[user] >= 0 ? body->tet_material[t->tet_of_user[user]] : any;
	FemBody *made = fem_body_build(world, body->mesh_index, body->scale, materials, true);
	FEM_FREE_ARRAY(materials, whole->user_tet_count);
	if (!made)
		return NULL;
	copy_settings(made, body);
	copy_tets(made, body);
	bool ok = fem_body_refresh_materials(world, made) && (body->pinned_count == 0 || fem_body_prepare_reactions(made));
	if (ok)
		return made;
	fem_body_discard(made);
	fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body of %d tets.", whole->user_tet_count);
	return NULL;
}

static void start_parts(FemBody *made, bool is_live) {
	for (int32_t p = 0; p < made->topology->part_count; p++)
		made->part_state[p] = is_live ? FEM_ISLAND_LIVE : FEM_ISLAND_ASLEEP;
	made->live_part_count = is_live ? made->topology->part_count : 0;
}

static bool parts_what_leaves(const FemBody *body, const void *context, int32_t face, int32_t across) {
	(void)body;
	const Mending *mending = context;
	return mending->leaves[face / 4] != mending->leaves[across / 4];
}

// Tets that are gone leave the body that was put together, before any other face opens, and as many in a turn as there
// is room for the copies of their nodes. False when memory fails.
static bool let_removed_leave(FemWorld *world, int32_t body_index, Mending *mending) {
	FemBody *body = world->bodies[body_index];
	if (mending->removed_count == 0)
		return true;
	if (!fem_body_make_splittable(world, body))
		return false;
	for (int32_t at = 0, count; at < mending->removed_count; at += count) {
		count = fem_split_removable(body->topology);
		count = mending->removed_count - at < count ? mending->removed_count - at : count;
		if (count == 0)
			return true; // those that are left come back
		for (int32_t i = at; i < at + count; i++)
			mending->leaves[mending->removed[i]] = 1;
		bool ok = open_faces(world, body_index, &(Opening){parts_what_leaves, mending, mending->removed + at, count});
		fem_cuts_free(body->breaking);
		for (int32_t i = at; i < at + count; i++)
			mending->leaves[mending->removed[i]] = 0;
		if (!ok)
			return false;
	}
	return true;
}

static FemResult mend(FemWorld *world, int32_t body_index, Mending *mending) {
	FemBody *body = world->bodies[body_index];
	FemBody *made = build_whole(world, body);
	if (!made)
		return FEM_ERROR_MEMORY;
	place_nodes(made, mending);
	start_parts(made, body->live_part_count > 0);
	fem_body_publish(made);
	FemJoined *joined = body->joined; // stays with whichever is left
	body->joined = NULL;
	FemResult result = fem_body_replace(world, body, made, body_index);
	world->bodies[body_index]->joined = joined;
	if (result != FEM_OK)
		return result;
	free_bonds(joined);
	world->joined_count--;
	if (mending->open_count == 0 && mending->removed_count == 0)
		return FEM_OK;
	bool ok = let_removed_leave(world, body_index, mending) &&
		open_faces(world, body_index, &(Opening){.opens = stays_open, .context = mending});
	fem_cuts_free(made->breaking);
	if (!ok)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the cracks of a body of %d tets.",
			made->topology->tet_count);
	place_nodes(made, mending);
	made->trees_moved = true;
	fem_body_publish(made);
	return FEM_OK;
}

FemResult fem_body_mend_joined(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	Mending mending;
	if (!body->joined || !body->joined->is_cut)
		return FEM_OK;
	FemResult result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to put a body together.");
	if (keep_corners(body, world->meshes[body->mesh_index].topology, &mending)) {
		close_joined(body, &mending);
		result = mend(world, body_index, &mending);
	}
	FEM_FREE_ARRAY(mending.corners, mending.count);
	FEM_FREE_ARRAY(mending.is_open, mending.count);
	FEM_FREE_ARRAY(mending.leaves, mending.count / 4);
	FEM_FREE_ARRAY(mending.removed, mending.count / 4);
	return result;
}

// ---- public calls

static FemResult find_breakable(FemBodyId id, FemWorld **out_world, FemBody **out_body) {
	FemResult result;
	*out_body = fem_body_find_idle(id, out_world, &result);
	if (!*out_body)
		return result;
	if (!(*out_body)->breaking)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	return FEM_OK;
}

FemResult fem_body_set_joined(FemBodyId id, const FemJoinedDef *def) {
	FemWorld *world;
	FemBody *body;
	FemResult result = find_breakable(id, &world, &body);
	if (result != FEM_OK || (result = check_def(world->meshes[body->mesh_index].topology, def)) != FEM_OK ||
		(result = check_breaking(def->energy_release, def->breaks_per_second)) != FEM_OK)
		return result;
	FemJoined *joined = make_joined(world->meshes[body->mesh_index].topology, def);
	if (!joined)
		return FEM_ERROR_MEMORY;
	result = fem_body_mend_joined(world, id.index1 - 1);
	if (result != FEM_OK) {
		fem_joined_free(joined);
		return result;
	}
	body = world->bodies[id.index1 - 1];
	fem_joined_free(body->joined);
	body->joined = joined;
	return body->dynamics == FEM_DYNAMICS_RIGID_PIECES ? fem_body_cut_joined(world, id.index1 - 1) : FEM_OK;
}

FemResult fem_body_set_bond_breaking(
	FemBodyId id, float energy_release, float breaks_per_second, bool refine_on_break) {
	FemWorld *world;
	FemBody *body;
	FemResult result = find_breakable(id, &world, &body);
	if (result != FEM_OK || (result = check_breaking(energy_release, breaks_per_second)) != FEM_OK)
		return result;
	if (!body->joined)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no joined pieces: call fem_body_set_joined() first.");
	set_breaking(body->joined, energy_release, breaks_per_second, refine_on_break);
	return FEM_OK;
}

static FemBondState state_of(const FemBody *body, const FemBond *bond) {
	const FemTopology *t = body->topology;
	FemBondState out = {
		.area = bond->area,
		.stiffness = bond->stiffness,
		.energy = bond->energy,
		.is_broken = !fem_bond_holds(t, bond),
		.tets = {t->user_of_tet[bond->corner[0] / 4], t->user_of_tet[bond->corner[1] / 4]},
		.strength = fem_bond_strength(body, bond),
	};
	for (int s = 0; s < 2 && fem_bond_is_there(t, bond); s++) {
		int32_t node = fem_bond_node(t, bond, s);
		out.pieces[s] = body->pieces[fem_node_component(t, node)].number;
		out.point = fem_position_move(body->origin, fem_vec3d_from4(body->position[node]));
	}
	return out;
}

int32_t fem_body_get_bonds(FemBodyId id, FemBondState *out_bonds, int32_t capacity) {
	FemResult result;
	const FemBody *body = fem_body_find_idle(id, NULL, &result);
	if (!body || !body->joined)
		return 0;
	for (int32_t i = 0; out_bonds && i < capacity && i < body->joined->bond_count; i++)
		out_bonds[i] = state_of(body, &body->joined->bonds[i]);
	return body->joined->bond_count;
}
