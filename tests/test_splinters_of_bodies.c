// Splinters of bodies that break in a world: what is told of them, snapshots, memory, bad input.
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "splinter_rig.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

static FemRigDef brittle_bar(int32_t worker_count) {
	FemRigDef def = fem_rig_bar_def(20, 4, 4, FEM_CELLS_KUHN, 0.0f);
	def.size = (FemVec3){1.0f, 0.2f, 0.2f};
	def.material.young_modulus = 1e7f;
	def.material.breakable = true;
	def.material.toughness = 1e4f;
	def.material.toughness_variation = 0.2f;
	def.material.stiffness_damping = 0.01f;
	def.world.worker_count = worker_count;
	def.clamped = false;
	return def;
}

static void pull(FemRig *rig, int32_t step) {
	float force = 300.0f + 4.0f * (float)step;
	if (fem_body_get_pieces(rig->body, NULL, 0) > 1)
		return;
	fem_rig_load_face(rig, true, (FemVec3){force, 0.0f, 0.0f});
	fem_rig_load_face(rig, false, (FemVec3){-force, 0.0f, 0.0f});
}

static FemBoxSplinters give_splinters(FemRig *rig, int32_t nx, int32_t n) {
	FemBoxSplinters boxes = fem_box_splinters(&rig->box, (FemVec3){0}, rig->size, nx, n, n);
	FEM_CHECK_INT(fem_body_set_splinters(rig->body, &boxes.def), FEM_OK);
	return boxes;
}

static void read_owners(FemBodyId body, FemVertexOwner *out, int32_t count) {
	for (int32_t i = 0; i < count; i++)
		FEM_CHECK_INT(fem_body_get_vertex_owner(body, i, &out[i]), FEM_OK);
}

// Where it was drawn until its tet changed can still be asked, unless that tet is gone.
static void check_before(FemBodyId body, const FemOwnerChange *change, const FemVertexOwner *before) {
	FemVertexOwner owner;
	FEM_CHECK(change->before.tet == before->tet || change->before.tet == -1);
	FEM_CHECK(change->kind == FEM_OWNER_REMOVED || change->before.tet == before->tet);
	if (change->before.tet < 0)
		return;
	FEM_CHECK_INT(fem_body_get_vertex_owner_in(body, change->vertex, change->before.tet, &owner), FEM_OK);
	FEM_CHECK_INT(owner.tet, before->tet);
	FEM_CHECK(memcmp(owner.weights, before->weights, sizeof owner.weights) == 0);
	FEM_CHECK(memcmp(&owner, &change->before, sizeof owner) == 0);
}

// Told are exactly those whose owners differ, each as it is now.
static int32_t check_told(FemBodyId body, const FemVertexOwner *before, const FemVertexOwner *after, int32_t count) {
	const FemOwnerChange *changes;
	int32_t told = fem_body_get_owner_changes(body, &changes), next = 0;
	for (int32_t i = 0; i < count; i++) {
		bool differs = memcmp(&before[i], &after[i], sizeof after[i]) != 0;
		bool is_told = next < told && changes[next].vertex == i;
		FEM_CHECK(is_told == differs);
		if (!is_told)
			continue;
		FemOwnerChangeKind kind = after[i].tet < 0 ? FEM_OWNER_REMOVED
			: after[i].tet == before[i].tet        ? FEM_OWNER_NODES
												   : FEM_OWNER_TET;
		FEM_CHECK_INT(changes[next].kind, kind);
		FEM_CHECK(memcmp(&changes[next].owner, &after[i], sizeof after[i]) == 0);
		check_before(body, &changes[next], &before[i]);
		next++;
	}
	FEM_CHECK_INT(next, told);
	return told;
}

// The nodes are those of the tet as it is now, and the weights give the rest position.
static void check_owner(const FemRig *rig, const int32_t *tets, const FemVertexOwner *owner, FemVec3 rest) {
	FemVec3d sum = {0};
	for (int v = 0; v < 4; v++) {
		FEM_CHECK_INT(owner->nodes[v], tets[4 * owner->tet + v]);
		FemVec3 corner = rig->box.positions[rig->box.tets[4 * owner->tet + v]];
		sum = fem_vec3d_add(sum, fem_vec3d_scale(fem_vec3d_from(corner), (double)owner->weights[v]));
	}
	FemVec3d miss = fem_vec3d_sub(sum, fem_vec3d_from(rest));
	FEM_CHECK_NEAR(sqrt(fem_vec3d_dot(miss, miss)), 0.0, 1e-5);
}

// A bar is torn, with a piece removed afterwards; looked at after every step.
FEM_TEST(splinters, torn_bar) {
	int64_t bytes = fem_memory_bytes();
	FemRigDef def = brittle_bar(1);
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	FemBoxSplinters boxes = give_splinters(&rig, 33, 3);
	int32_t count = boxes.def.vertex_count, tet_count = rig.box.tet_count, told = 0, moved = 0;
	FemVertexOwner *before = malloc(sizeof *before * (size_t)count), *after = malloc(sizeof *after * (size_t)count);
	int32_t *tets = malloc(sizeof *tets * 4 * (size_t)tet_count);
	read_owners(rig.body, before, count);
	for (int32_t step = 0; step < 90; step++) {
		FemPieceNumber pieces[64];
		pull(&rig, step);
		int32_t piece_count = fem_body_get_pieces(rig.body, pieces, 64);
		if (step == 80 && FEM_CHECK(piece_count > 1))
			FEM_CHECK_INT(fem_body_remove_piece(rig.body, pieces[0]), FEM_OK);
		fem_world_step(rig.world, DT, step % 2 + 1);
		if (!FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK))
			printf("  step %d: %s\n", step, fem_last_error());
		read_owners(rig.body, after, count);
		told += check_told(rig.body, before, after, count);
		fem_body_get_tets(rig.body, tets, tet_count);
		for (int32_t i = 0; i < count; i++) {
			moved += after[i].tet != before[i].tet;
			// All of a splinter is in one piece: its home's.
			FemPieceNumber home = fem_body_get_tet_piece(rig.body, boxes.home_tets[boxes.vertex_splinters[i]]);
			FEM_CHECK_INT(after[i].tet < 0 ? 0 : fem_body_get_tet_piece(rig.body, after[i].tet), home);
			if (after[i].tet >= 0)
				check_owner(&rig, tets, &after[i], boxes.vertex_positions[i]);
		}
		memcpy(before, after, sizeof *before * (size_t)count);
	}
	int32_t removed = 0;
	for (int32_t i = 0; i < count; i++)
		removed += after[i].tet < 0;
	printf("  %d pieces; %d vertices: %d changes, %d of tets, %d removed\n", fem_body_get_pieces(rig.body, NULL, 0),
		count, told, moved, removed);
	FEM_CHECK(moved - removed >= 16 && told > moved && removed > 0);
	free(before);
	free(after);
	free(tets);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
}

// Given to a body that is torn already, and that lost a piece: the same rules hold from the start.
FEM_TEST(splinters, given_after_the_break) {
	FemRigDef def = brittle_bar(1);
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	FemBoxSplinters boxes = give_splinters(&rig, 33, 3);
	int32_t count = boxes.def.vertex_count;
	for (int32_t step = 0; step < 60; step++) {
		pull(&rig, step);
		fem_world_step(rig.world, DT, 1);
	}
	FemPieceNumber pieces[64];
	int32_t piece_count = fem_body_get_pieces(rig.body, pieces, 64);
	FEM_REQUIRE(piece_count > 1);
	fem_body_remove_piece(rig.body, pieces[0]);
	FemVertexOwner *followed = malloc(sizeof *followed * (size_t)count), *fresh = malloc(sizeof *fresh * (size_t)count);
	read_owners(rig.body, followed, count);
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &boxes.def), FEM_OK);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	read_owners(rig.body, fresh, count);
	int32_t moved = 0, removed = 0;
	for (int32_t i = 0; i < count; i++) {
		FEM_CHECK((followed[i].tet < 0) == (fresh[i].tet < 0));
		FEM_CHECK_INT(fresh[i].tet < 0 ? 0 : fem_body_get_tet_piece(rig.body, fresh[i].tet),
			fem_body_get_tet_piece(rig.body, boxes.home_tets[boxes.vertex_splinters[i]]));
		moved += fresh[i].tet >= 0 && fresh[i].tet != boxes.vertex_tets[i];
		removed += fresh[i].tet < 0;
	}
	FEM_CHECK(moved >= 8 && removed > 0 && removed < count);
	free(followed);
	free(fresh);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
}

// Some pieces took splinters of others as they broke off: a state that is loaded tells which.
FEM_TEST(splinters, stay_where_they_are_when_a_state_is_loaded) {
	FemRigDef def = brittle_bar(1);
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	FemBoxSplinters boxes = give_splinters(&rig, 5, 1);
	int32_t count = boxes.def.vertex_count, moved = 0;
	for (int32_t step = 0; step < 60; step++) {
		pull(&rig, step);
		fem_world_step(rig.world, DT, 1);
	}
	FemVertexOwner *before = malloc(sizeof *before * (size_t)count), *after = malloc(sizeof *after * (size_t)count);
	read_owners(rig.body, before, count);
	for (int32_t i = 0; i < count; i++)
		moved += fem_body_get_tet_piece(rig.body, before[i].tet) !=
			fem_body_get_tet_piece(rig.body, boxes.home_tets[boxes.vertex_splinters[i]]);
	int32_t bare = fem_body_get_bare_tets(rig.body, NULL, 0);
	printf("  %d of %d vertices are drawn with another piece, %d tets are bare\n", moved, count, bare);
	FEM_CHECK(moved > 0);
	size_t size = fem_body_save(rig.body, NULL, 0);
	void *data = malloc(size);
	FEM_CHECK_INT(fem_body_save(rig.body, data, size), size);
	// With the splinters it has, and with those it is given after.
	for (int late = 0; late < 2; late++) {
		FemSplintersDef none = fem_default_splinters_def();
		if (late)
			FEM_CHECK_INT(fem_body_set_splinters(rig.body, &none), FEM_OK);
		FEM_CHECK_INT(fem_body_load(rig.body, &rig.material, 1, data, size), FEM_OK);
		FEM_CHECK_INT(fem_body_save(rig.body, NULL, 0), size);
		if (late)
			FEM_CHECK_INT(fem_body_set_splinters(rig.body, &boxes.def), FEM_OK);
		read_owners(rig.body, after, count);
		FEM_CHECK(memcmp(before, after, sizeof *before * (size_t)count) == 0);
		FEM_CHECK_INT(fem_body_get_bare_tets(rig.body, NULL, 0), bare);
		FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	}
	FEM_CHECK_INT(fem_body_get_bare_tets((FemBodyId){0}, NULL, 5), 0);
	free(data);
	free(before);
	free(after);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
}

typedef struct Outcome {
	uint64_t hash;
	int32_t told;
	int32_t sum; // of what was told
} Outcome;

static Outcome tear(int32_t worker_count, int32_t saved_at) {
	FemRigDef def = brittle_bar(worker_count);
	FemRig rig = fem_rig_create(&def);
	FemBoxSplinters boxes = give_splinters(&rig, 33, 3);
	Outcome out = {0};
	for (int32_t step = 0; step < 80; step++) {
		const FemOwnerChange *changes;
		FemPieceNumber pieces[64];
		int32_t piece_count = fem_body_get_pieces(rig.body, pieces, 64);
		pull(&rig, step);
		if (step == 70 && FEM_CHECK(piece_count > 1))
			fem_body_remove_piece(rig.body, pieces[0]);
		if (step == saved_at) {
			size_t size = fem_world_save(rig.world, NULL, 0);
			void *data = malloc(size);
			fem_world_save(rig.world, data, size);
			uint64_t hash = fem_world_hash(rig.world);
			FemWorldId world = fem_world_restore(data, size, worker_count);
			if (!FEM_CHECK(fem_world_is_valid(world)))
				printf("  %s\n", fem_last_error());
			FEM_CHECK(fem_world_hash(world) == hash);
			rig.body = fem_body_in_world(rig.body, world);
			fem_world_destroy(rig.world);
			rig.world = world;
			free(data);
		}
		fem_world_step(rig.world, DT, 2);
		int32_t told = fem_body_get_owner_changes(rig.body, &changes);
		out.told += told;
		for (int32_t i = 0; i < told; i++)
			out.sum = out.sum * 31 % 1000003 + changes[i].vertex % 977 + (int32_t)changes[i].kind +
				changes[i].owner.tet + changes[i].owner.nodes[3];
	}
	out.hash = fem_world_hash(rig.world);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
	return out;
}

FEM_TEST(splinters, same_for_any_worker_count_and_across_a_snapshot) {
	Outcome one = tear(1, -1);
	FEM_CHECK(one.told > 100);
	for (int32_t i = 0; i < 4; i++) {
		// 70: between the removal of a piece and the step that tells of it.
		Outcome other = i < 2 ? tear(2 + 2 * i, -1) : tear(1, i == 2 ? 60 : 70);
		FEM_CHECK(other.hash == one.hash);
		FEM_CHECK_INT(other.told, one.told);
		FEM_CHECK_INT(other.sum, one.sum);
	}
}

// Damage under a right checksum in all that a torn body with splinters saves: refused or sound, never a crash.
FEM_TEST(splinters, forged_snapshots_never_crash) {
	enum { HEADER = 32, CHECKSUM = 24, TRIES = 600 };
	FemRigDef def = brittle_bar(1);
	def.cells[0] = 8;
	def.cells[1] = def.cells[2] = 2;
	FemRig rig = fem_rig_create(&def);
	FemBoxSplinters boxes = give_splinters(&rig, 9, 2);
	for (int32_t step = 0; step < 60; step++) {
		pull(&rig, step);
		fem_world_step(rig.world, DT, 1);
	}
	FEM_CHECK(fem_body_get_pieces(rig.body, NULL, 0) > 1);
	int64_t bytes = fem_memory_bytes();
	size_t size = fem_world_save(rig.world, NULL, 0);
	char *data = malloc(size);
	fem_world_save(rig.world, data, size);
	uint32_t random = 4711;
	int32_t refused = 0;
	for (int32_t i = 0; i < TRIES; i++) {
		random = random * 1664525u + 1013904223u;
		size_t at = HEADER + random % (size - HEADER);
		char kept = data[at];
		data[at] = (char)(random >> 24);
		uint64_t checksum = fem_hash_bytes(FEM_HASH_START, data + HEADER, size - HEADER);
		memcpy(data + CHECKSUM, &checksum, sizeof checksum);
		FemWorldId world = fem_world_restore(data, size, 1);
		refused += !fem_world_is_valid(world);
		if (fem_world_is_valid(world)) {
			FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
			fem_world_step(world, DT, 1);
			fem_world_destroy(world);
		}
		data[at] = kept;
	}
	printf("  %d of %d refused\n", refused, TRIES);
	FEM_CHECK(refused > 0 && refused < TRIES);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
	free(data);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
}

// What splinters need when a body breaks comes from the heap: the system is asked about as often as without them.
FEM_TEST(splinters, hardly_ask_the_system_in_a_step) {
	int64_t made[2];
	for (int32_t with = 0; with < 2; with++) {
		FemRigDef def = brittle_bar(1);
		def.world.contacts_enabled = false; // new surfaces need new trees, which allocate
		FemRig rig = fem_rig_create(&def);
		FemBoxSplinters boxes = {0};
		if (with)
			boxes = give_splinters(&rig, 33, 3);
		FemStatistics statistics;
		double fracture_ms = 0.0;
		fem_world_step(rig.world, DT, 1);
		fem_world_get_statistics(rig.world, &statistics);
		made[with] = -statistics.allocations;
		for (int32_t step = 0; step < 80; step++) {
			pull(&rig, step);
			fem_world_step(rig.world, DT, 1);
			fem_world_get_statistics(rig.world, &statistics);
			fracture_ms = fmax(fracture_ms, statistics.phase_ms[FEM_PHASE_FRACTURE]);
		}
		int32_t pieces = fem_body_get_pieces(rig.body, NULL, 0);
		printf("  %s splinters: %d pieces, fracture takes %.3f ms at most\n", with ? "with" : "without", pieces,
			fracture_ms);
		FEM_CHECK(pieces > 1);
		made[with] += statistics.allocations;
		fem_box_splinters_free(&boxes);
		fem_rig_destroy(&rig);
	}
	FEM_CHECK(made[1] <= made[0] + 8); // the heap may have to be topped up once more
}

// ---- bad input

static void check_refused(FemBodyId body, const FemSplintersDef *def, const char *sentence) {
	FemVertexOwner owner;
	FEM_CHECK(fem_body_set_splinters(body, def) != FEM_OK);
	if (!FEM_CHECK(strstr(fem_last_error(), sentence) != NULL))
		printf("  said: %s\n", fem_last_error());
	FEM_CHECK_INT(fem_body_get_vertex_owner(body, 0, &owner), FEM_OK); // those of before are still there
}

FEM_TEST(splinters, bad_input) {
	FemRigDef rig_def = brittle_bar(1);
	FemRig rig = fem_rig_create(&rig_def);
	FemVertexOwner owner;
	const FemOwnerChange *changes;
	FEM_CHECK(fem_body_get_vertex_owner(rig.body, 0, &owner) != FEM_OK);
	FEM_CHECK_INT(fem_body_get_owner_changes(rig.body, &changes), 0);
	FemBoxSplinters boxes = give_splinters(&rig, 4, 2);
	FemSplintersDef def = boxes.def;
	int32_t last = def.vertex_count - 1;
	check_refused(rig.body, NULL, "null");
	check_refused(rig.body, &(FemSplintersDef){0}, "fem_default_splinters_def");
	def.splinter_count = -1;
	check_refused(rig.body, &def, "counts");
	def.splinter_count = 0;
	check_refused(rig.body, &def, "no splinter");
	def = boxes.def;
	def.vertex_count = INT32_MAX;
	check_refused(rig.body, &def, "too many");
	def = boxes.def;
	def.home_tets = NULL;
	check_refused(rig.body, &def, "home_tets");
	def = boxes.def;
	def.vertex_positions = NULL;
	check_refused(rig.body, &def, "vertex_positions");
	int32_t bad[] = {-1, rig.box.tet_count, INT32_MAX, INT32_MIN};
	for (int k = 0; k < 4; k++) {
		int32_t kept = boxes.home_tets[3];
		boxes.home_tets[3] = bad[k];
		check_refused(rig.body, &boxes.def, "Splinter 3");
		boxes.home_tets[3] = kept;
		kept = boxes.vertex_tets[last];
		boxes.vertex_tets[last] = bad[k];
		check_refused(rig.body, &boxes.def, "lies in tet");
		boxes.vertex_tets[last] = kept;
		kept = boxes.vertex_splinters[last];
		boxes.vertex_splinters[last] = bad[k];
		check_refused(rig.body, &boxes.def, "belongs to splinter");
		boxes.vertex_splinters[last] = kept;
	}
	float wild[] = {NAN, INFINITY, -INFINITY, 3e38f};
	for (int k = 0; k < 4; k++) {
		FemVec3 kept = boxes.vertex_positions[5];
		boxes.vertex_positions[5].y = wild[k];
		check_refused(rig.body, &boxes.def, "vertex 5");
		boxes.vertex_positions[5] = kept;
	}
	FEM_CHECK(fem_body_get_vertex_owner(rig.body, -1, &owner) != FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner(rig.body, last + 1, &owner) != FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner(rig.body, 0, NULL) != FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner_in(rig.body, -1, 0, &owner) != FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner_in(rig.body, 0, -1, &owner) != FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner_in(rig.body, 0, 1 << 30, &owner) != FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner_in(rig.body, 0, 0, NULL) != FEM_OK);
	FEM_CHECK_INT(fem_body_get_owner_changes(rig.body, NULL), 0);
	FEM_CHECK_INT(fem_body_set_splinters((FemBodyId){0}, &boxes.def), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_body_get_owner_changes((FemBodyId){0}, &changes), 0);
	fem_world_step_begin(rig.world, DT, 1);
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &boxes.def), FEM_ERROR_STEPPING);
	FEM_CHECK_INT(fem_body_get_owner_changes(rig.body, &changes), 0);
	fem_world_step_end(rig.world);
	// Vertices far outside, all in one tet, of one splinter; the weights are limited as those of baked meshes are.
	for (int32_t i = 0; i <= last; i++) {
		boxes.vertex_positions[i].y = 1e5f;
		boxes.vertex_tets[i] = i % 2 ? 0 : rig.box.tet_count - 1;
		boxes.vertex_splinters[i] = 1;
	}
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &boxes.def), FEM_OK);
	FEM_CHECK_INT(fem_body_get_vertex_owner(rig.body, last, &owner), FEM_OK);
	FEM_CHECK(fabsf(owner.weights[0]) < 5.01f && fabsf(owner.weights[1]) < 5.01f && fabsf(owner.weights[2]) < 5.01f);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	def = fem_default_splinters_def();
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &def), FEM_OK);
	FEM_CHECK(fem_body_get_vertex_owner(rig.body, 0, &owner) != FEM_OK);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
}

FEM_TEST(splinters, only_for_bodies_that_can_break) {
	FemRigDef def = brittle_bar(1);
	def.material.breakable = false;
	FemRig rig = fem_rig_create(&def);
	FemBoxSplinters boxes = fem_box_splinters(&rig.box, (FemVec3){0}, rig.size, 4, 2, 2);
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &boxes.def), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK(strstr(fem_last_error(), "breakable") != NULL);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
}
