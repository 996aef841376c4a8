// Splinters on a block that is cut by hand: which tets their vertices follow.
#include "base/timing.h"
#include "fem_test.h"
#include "fracture/splinters.h"
#include "geometry/closest.h"
#include "splinter_rig.h"
#include "topology/splitting.h"
#include "topology/topology.h"

#include <stdlib.h>

// ---- a block cut by hand

// A block of Kuhn cells whose faces can be cut at will.
typedef struct Block {
	FemBoxMesh mesh;
	FemTopology *topology, *whole;
	FemBoxSplinters boxes;
	FemSplinters *splinters;
	double make_ms; // of the splinters
	FemFaceCut *cuts;
	int32_t cut_count;
	FemOwnerChange *changes; // as last published
} Block;

static Block make_block(int32_t nx, int32_t n, FemVec3 size, FemVec3 low, FemVec3 high, int32_t bx, int32_t b) {
	Block block = {.mesh = fem_box_mesh(nx, n, n, size, FEM_CELLS_KUHN)};
	int32_t *part = calloc((size_t)block.mesh.node_count, sizeof *part);
	block.whole = fem_topology_create(block.mesh.node_count, block.mesh.tets, block.mesh.tet_count, part);
	block.topology = fem_topology_create_splittable(block.whole);
	block.boxes = fem_box_splinters(&block.mesh, low, high, bx, b, b);
	block.cuts = malloc(sizeof *block.cuts * 2 * (size_t)block.mesh.tet_count);
	block.changes = malloc(sizeof *block.changes * (size_t)block.boxes.def.vertex_count);
	FemSplinterRest rest = {block.whole, block.mesh.positions, block.mesh.tets, {1.0f, 1.0f, 1.0f}};
	double began = fem_time_ms();
	block.splinters = fem_splinters_create(&rest, &block.boxes.def);
	if (FEM_CHECK(block.splinters != NULL))
		fem_splinters_settle(block.splinters, block.topology, NULL);
	block.make_ms = fem_time_ms() - began;
	free(part);
	return block;
}

static void free_block(Block *block) {
	fem_splinters_free(block->splinters);
	fem_topology_free(block->topology);
	fem_topology_free(block->whole);
	fem_box_splinters_free(&block->boxes);
	fem_box_mesh_free(&block->mesh);
	free(block->cuts);
	free(block->changes);
}

static float middle_x(const Block *block, int32_t tet) {
	const int32_t *nodes = block->mesh.tets + 4 * block->whole->user_of_tet[tet];
	float sum = 0.0f;
	for (int v = 0; v < 4; v++)
		sum += block->mesh.positions[nodes[v]].x;
	return 0.25f * sum;
}

static float lowest_y(const Block *block, int32_t tet, int32_t opposite) {
	const int32_t *nodes = block->mesh.tets + 4 * block->whole->user_of_tet[tet];
	float low = 1e30f;
	for (int v = 0; v < 4; v++)
		low = v == opposite ? low : fminf(low, block->mesh.positions[nodes[v]].y);
	return low;
}

// Cuts the faces in the plane x that reach below height y.
static void cut_plane(Block *block, float x, float y) {
	FemTopology *t = block->topology;
	FEM_CHECK(fem_split_open(t));
	for (int32_t face = 0; face < 4 * t->batch_count * FEM_LANES; face++) {
		int32_t across = t->neighbours[face];
		if (across < face) // outer, or seen from the other side
			continue;
		bool same_side = (middle_x(block, face / 4) < x) == (middle_x(block, across / 4) < x);
		if (same_side || lowest_y(block, face / 4, face % 4) >= y)
			continue;
		block->cuts[block->cut_count++] = (FemFaceCut){.face = face, .across = across};
		fem_split_cut(t, face, across);
	}
}

// What a pass of a step does with the cuts.
static void split_block(Block *block) {
	for (int32_t i = 0, count = block->topology->node_count; i < count; i++)
		FEM_CHECK(fem_split_regroup(block->topology, i) >= 0);
	fem_splinters_note_cuts(block->splinters, block->topology, block->cuts, block->cut_count);
	FEM_CHECK(fem_split_rebuild(block->topology));
	fem_splinters_find_homes(block->splinters, block->topology, true);
	fem_split_end(block->topology);
	block->cut_count = 0;
}

static void publish_block(Block *block) {
	fem_splinters_publish(block->splinters, block->topology, block->changes);
}

static void finish_cuts(Block *block) {
	split_block(block);
	fem_splinters_follow(block->splinters, block->topology);
	publish_block(block);
}

static FemVec3d place_of(const Block *block, int32_t vertex) {
	FemVec3d sum = {0};
	const int32_t *nodes = block->mesh.tets + 4 * block->whole->user_of_tet[block->splinters->owner[vertex]];
	for (int v = 0; v < 4; v++)
		sum = fem_vec3d_add(sum,
			fem_vec3d_scale(
				fem_vec3d_from(block->mesh.positions[nodes[v]]), (double)block->splinters->weights[vertex][v]));
	return sum;
}

static double distance_to(const Block *block, int32_t tet, FemVec3 p) {
	FemVec3d corners[4];
	double weights[4];
	for (int v = 0; v < 4; v++)
		corners[v] = fem_vec3d_from(block->mesh.positions[block->mesh.tets[4 * block->whole->user_of_tet[tet] + v]]);
	return sqrt(fem_closest_in_tet(fem_vec3d_from(p), corners, weights));
}

// The distance of a vertex to the nearest tet of its splinter's reach that lies on one side of the plane.
static double nearest_on_side(const Block *block, int32_t splinter, FemVec3 p, float plane, bool beyond) {
	const FemSplinters *s = block->splinters;
	double nearest = 1e30;
	for (int32_t k = s->reach_start[splinter]; k < s->reach_start[splinter + 1]; k++) {
		if ((middle_x(block, s->reach[k]) > plane) == beyond)
			nearest = fmin(nearest, distance_to(block, s->reach[k], p));
	}
	return nearest;
}

FEM_TEST(splinters, whole_body_leaves_every_vertex_where_it_was) {
	Block block = make_block(10, 2, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){0}, (FemVec3){1.0f, 0.2f, 0.2f}, 4, 1);
	// Splinters of two and a half cells: what lies between home and corner must be found, too.
	for (int32_t i = 0; i < block.boxes.def.vertex_count; i++) {
		FEM_CHECK_INT(block.whole->user_of_tet[block.splinters->owner[i]], block.boxes.vertex_tets[i]);
		FemVec3d miss = fem_vec3d_sub(place_of(&block, i), fem_vec3d_from(block.boxes.vertex_positions[i]));
		FEM_CHECK_NEAR(sqrt(fem_vec3d_dot(miss, miss)), 0.0, 1e-6);
	}
	FEM_CHECK_INT(fem_splinters_find_fault(block.splinters, block.topology), -1);
	free_block(&block);
}

// One plane through the whole block. Everything that should come of it is known.
FEM_TEST(splinters, each_follows_the_side_of_its_home) {
	Block block = make_block(10, 2, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){0}, (FemVec3){1.0f, 0.2f, 0.2f}, 21, 4);
	FemSplinters *s = block.splinters;
	int32_t count = block.boxes.def.vertex_count, moved = 0, renamed = 0, next = 0;
	int32_t *before = malloc(sizeof *before * (size_t)count);
	memcpy(before, s->owner, sizeof *before * (size_t)count);
	cut_plane(&block, 0.5f, 1.0f);
	finish_cuts(&block);
	FEM_CHECK_INT(block.topology->component_count, 2);
	for (int32_t i = 0; i < count; i++) {
		int32_t splinter = block.boxes.vertex_splinters[i];
		bool home_side = middle_x(&block, s->home[splinter]) > 0.5f,
			 is_across = (middle_x(&block, before[i]) > 0.5f) != home_side;
		bool is_copy = false;
		FemVertexOwner owner = fem_splinters_owner(s, block.topology, i);
		for (int v = 0; v < 4; v++)
			is_copy |= owner.nodes[v] >= block.mesh.node_count;
		FEM_CHECK((middle_x(&block, s->owner[i]) > 0.5f) == home_side);
		FEM_CHECK(is_across || s->owner[i] == before[i]);
		bool told = next < s->change_count && s->changes[next].vertex == i;
		FEM_CHECK(told == (is_across || is_copy));
		if (told) {
			FEM_CHECK_INT(s->changes[next].kind, is_across ? FEM_OWNER_TET : FEM_OWNER_NODES);
			FEM_CHECK(memcmp(&s->changes[next].owner, &owner, sizeof owner) == 0);
			next++;
		}
		if (is_across) {
			FemVec3 p = block.boxes.vertex_positions[i];
			FEM_CHECK_NEAR(
				distance_to(&block, s->owner[i], p), nearest_on_side(&block, splinter, p, 0.5f, home_side), 1e-7);
		}
		FemVec3d miss = fem_vec3d_sub(place_of(&block, i), fem_vec3d_from(block.boxes.vertex_positions[i]));
		FEM_CHECK_NEAR(sqrt(fem_vec3d_dot(miss, miss)), 0.0, 1e-5);
		moved += is_across;
		renamed += is_copy && !is_across;
	}
	printf("  of %d vertices %d moved, %d have other nodes\n", count, moved, renamed);
	FEM_CHECK_INT(next, s->change_count);
	FEM_CHECK(moved >= 32 && renamed >= 32 && moved + renamed < count / 2);
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	publish_block(&block);
	FEM_CHECK_INT(s->change_count, 0);
	free(before);
	free_block(&block);
}

// The least of a point's barycentric weights in a tet: how far it is extrapolated.
static double least_weight(const Block *block, int32_t tet, FemVec3 p) {
	FemTetShape shape;
	double least = 1.0, first = 1.0;
	fem_tet_shape(block->mesh.positions, block->mesh.tets + 4 * block->whole->user_of_tet[tet],
		(FemVec3){1.0f, 1.0f, 1.0f}, &shape);
	for (int v = 1; v < 4; v++) {
		double weight = shape.gradient[v][0] * ((double)p.x - shape.corners[0][0]) +
			shape.gradient[v][1] * ((double)p.y - shape.corners[0][1]) +
			shape.gradient[v][2] * ((double)p.z - shape.corners[0][2]);
		least = fmin(least, weight);
		first -= weight;
	}
	return fmin(least, first);
}

// Behind a cut many tets are equally near to a vertex, those around one edge or corner. Fails when any of them is
// taken, not the one that needs the least extrapolation: vertices would fly about when that tet is strained.
FEM_TEST(splinters, of_equally_near_tets_the_one_of_least_extrapolation) {
	Block block = make_block(
		10, 2, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){-0.05f, -0.05f, -0.05f}, (FemVec3){1.05f, 0.25f, 0.25f}, 7, 2);
	const FemSplinters *s = block.splinters;
	int32_t ties = 0, wrong = 0;
	cut_plane(&block, 0.5f, 1.0f);
	finish_cuts(&block);
	for (int32_t i = 0; i < block.boxes.def.vertex_count; i++) {
		int32_t splinter = block.boxes.vertex_splinters[i], as_near = 0;
		bool side = middle_x(&block, s->home[splinter]) > 0.5f;
		FemVec3 p = block.boxes.vertex_positions[i];
		if ((p.x > 0.5f) == side)
			continue;
		double nearest = nearest_on_side(&block, splinter, p, 0.5f, side), best = -1e30;
		for (int32_t k = s->reach_start[splinter]; k < s->reach_start[splinter + 1]; k++) {
			int32_t tet = s->reach[k];
			if ((middle_x(&block, tet) > 0.5f) != side || distance_to(&block, tet, p) > nearest * (1.0 + 1e-10))
				continue;
			best = fmax(best, least_weight(&block, tet, p));
			as_near++;
		}
		ties += as_near > 1;
		wrong += least_weight(&block, s->owner[i], p) < best - 1e-9;
	}
	printf("  %d vertices with several nearest tets\n", (int)ties);
	FEM_CHECK(ties > 0);
	FEM_CHECK_INT(wrong, 0);
	free_block(&block);
}

// A cut from below through three quarters of the height: one piece still, but the way round is long.
FEM_TEST(splinters, a_long_detour_does_not_count) {
	Block block = make_block(20, 4, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){0}, (FemVec3){1.0f, 0.2f, 0.2f}, 41, 8);
	FemSplinters *s = block.splinters;
	int32_t low = 0, high = 0;
	cut_plane(&block, 0.5f, 0.149f);
	finish_cuts(&block);
	FEM_CHECK_INT(block.topology->component_count, 1);
	for (int32_t i = 0; i < block.boxes.def.vertex_count; i++) {
		FemVec3 p = block.boxes.vertex_positions[i];
		bool home_side = middle_x(&block, s->home[block.boxes.vertex_splinters[i]]) > 0.5f;
		bool is_across = (middle_x(&block, block.whole->tet_of_user[block.boxes.vertex_tets[i]]) > 0.5f) != home_side;
		bool stays = (middle_x(&block, s->owner[i]) > 0.5f) != home_side;
		if (is_across && p.y < 0.1f) {
			low++;
			FEM_CHECK(!stays);
		}
		if (is_across && p.y > 0.15f) {
			high++;
			FEM_CHECK(stays);
		}
	}
	printf("  %d vertices beyond the crack, %d beside it\n", low, high);
	FEM_CHECK(low >= 16 && high >= 8);
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	free_block(&block);
}

static bool is_at_home_in(const Block *block, int32_t splinter, float low, float high) {
	float x = middle_x(block, block->splinters->home[splinter]);
	return x > low && x < high;
}

// Four splinters of three cells each in a row. The first cell breaks off: it holds no splinter's middle, and takes the
// one that half of lies in it. The next piece that breaks off is bare, though half of the third splinter lies in it:
// that one went with a piece that is not near any more.
FEM_TEST(splinters, a_piece_without_one_takes_one_that_is_near) {
	Block block = make_block(12, 1, (FemVec3){12.0f, 1.0f, 1.0f}, (FemVec3){0}, (FemVec3){12.0f, 1.0f, 1.0f}, 4, 1);
	FemSplinters *s = block.splinters;
	int32_t tets[72];
	cut_plane(&block, 1.0f, 2.0f);
	finish_cuts(&block);
	FEM_CHECK_INT(block.topology->component_count, 2);
	FEM_CHECK(is_at_home_in(&block, 0, 0.0f, 1.0f) && is_at_home_in(&block, 1, 4.0f, 5.0f));
	FEM_CHECK_INT(fem_splinters_bare_tets(s, block.topology, tets, 72), 0);
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	for (int32_t i = 0; i < s->change_count; i++)
		FEM_CHECK_INT(block.boxes.vertex_splinters[s->changes[i].vertex], 0);
	FEM_CHECK(s->change_count > 0);
	cut_plane(&block, 7.0f, 2.0f);
	finish_cuts(&block);
	cut_plane(&block, 6.0f, 2.0f);
	finish_cuts(&block);
	FEM_CHECK_INT(block.topology->component_count, 4);
	FEM_CHECK(is_at_home_in(&block, 0, 0.0f, 1.0f) && is_at_home_in(&block, 1, 4.0f, 5.0f) &&
		is_at_home_in(&block, 2, 7.0f, 8.0f) && is_at_home_in(&block, 3, 10.0f, 11.0f));
	FEM_CHECK_INT(fem_splinters_bare_tets(s, block.topology, tets, 72), 6);
	for (int i = 0; i < 6; i++)
		FEM_CHECK_NEAR(middle_x(&block, block.whole->tet_of_user[tets[i]]), 6.5f, 0.5f);
	FEM_CHECK_INT(fem_splinters_bare_tets(s, block.topology, NULL, 0), 6);
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	s->home[3] = block.whole->tet_of_user[0]; // far from it
	FEM_CHECK(fem_splinters_find_fault(s, block.topology) >= 0);
	free_block(&block);
}

// Three splinters of four cells, cut in one go at 7 and 11: the first piece holds two middles, the second one, the last
// none. The second gives its only one to the last, and takes one of the first.
FEM_TEST(splinters, pieces_hand_them_on) {
	Block block = make_block(12, 1, (FemVec3){12.0f, 1.0f, 1.0f}, (FemVec3){0}, (FemVec3){12.0f, 1.0f, 1.0f}, 3, 1);
	FemSplinters *s = block.splinters;
	cut_plane(&block, 7.0f, 2.0f);
	cut_plane(&block, 11.0f, 2.0f);
	finish_cuts(&block);
	FEM_CHECK_INT(block.topology->component_count, 3);
	FEM_CHECK(is_at_home_in(&block, 0, 0.0f, 7.0f) && is_at_home_in(&block, 1, 7.0f, 11.0f) &&
		is_at_home_in(&block, 2, 11.0f, 12.0f));
	FEM_CHECK_INT(fem_splinters_bare_tets(s, block.topology, NULL, 0), 0);
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	free_block(&block);
}

// Takes the tets between two planes out, as crushing does.
static void crush_between(Block *block, float low, float high) {
	FemTopology *t = block->topology;
	int32_t tets[72], count = 0;
	cut_plane(block, low, 2.0f);
	cut_plane(block, high, 2.0f);
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] >= 0 && middle_x(block, tet) > low && middle_x(block, tet) < high)
			tets[count++] = tet;
	}
	fem_splinters_note_cuts(block->splinters, t, block->cuts, block->cut_count);
	fem_splinters_crush(block->splinters, t, tets, count);
	fem_splinters_follow(block->splinters, t);
	fem_split_remove_tets(t, tets, count);
	FEM_CHECK(fem_split_rebuild(t));
	fem_splinters_forget_removed(block->splinters, t);
	fem_splinters_find_homes(block->splinters, t, true);
	fem_split_end(t);
	block->cut_count = 0;
	publish_block(block);
}

static bool is_seen(const Block *block, int32_t splinter) {
	return block->splinters->owner[block->splinters->vertices[block->splinters->vertex_start[splinter]]] >= 0;
}

// Four splinters of three cells each, whose corners lie in the first and the last cell. Fails when those go whose home
// is crushed: none of the first crater, for which the second is seen in both halves' place, and the wrong one.
FEM_TEST(splinters, what_lies_in_a_crater_goes) {
	Block block = make_block(12, 1, (FemVec3){12.0f, 1.0f, 1.0f}, (FemVec3){0}, (FemVec3){12.0f, 1.0f, 1.0f}, 4, 1);
	FemSplinters *s = block.splinters;
	crush_between(&block, 9.0f, 10.0f); // half of the corners of the last one, not its home
	FEM_CHECK(is_seen(&block, 0) && is_seen(&block, 1) && is_seen(&block, 2) && !is_seen(&block, 3));
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	crush_between(&block, 4.0f, 5.0f); // the home of the second, none of its corners: it stays with one side
	FEM_CHECK(is_seen(&block, 0) && is_seen(&block, 1) && is_seen(&block, 2) && !is_seen(&block, 3));
	FEM_CHECK(is_at_home_in(&block, 1, 3.0f, 4.0f) || is_at_home_in(&block, 1, 5.0f, 6.0f));
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), -1);
	FemSplinterHomes *homes = fem_splinters_moved_homes(s);
	fem_splinters_settle(s, block.topology, homes);
	FEM_CHECK(is_seen(&block, 0) && is_seen(&block, 1) && is_seen(&block, 2) && !is_seen(&block, 3));
	fem_splinter_homes_free(homes);
	free_block(&block);
}

// Faults that the check after every step must see.
// A step that splits a body in many passes lets the splinters follow once.
FEM_TEST(splinters, following_once_is_following_after_each_split) {
	Block each = make_block(
			  10, 2, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){0.03f, 0.0f, 0.0f}, (FemVec3){0.97f, 0.2f, 0.2f}, 4, 3),
		  once = make_block(
			  10, 2, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){0.03f, 0.0f, 0.0f}, (FemVec3){0.97f, 0.2f, 0.2f}, 4, 3);
	const float planes[] = {0.5f, 0.3f, 0.4f, 0.6f};
	int32_t moved = 0;
	for (int32_t i = 0; i < 4; i++) {
		float top = i == 1 ? 0.15f : 1.0f; // one crack does not run through
		cut_plane(&each, planes[i], top);
		split_block(&each);
		fem_splinters_follow(each.splinters, each.topology);
		cut_plane(&once, planes[i], top);
		split_block(&once);
	}
	publish_block(&each);
	FEM_CHECK(once.splinters->is_behind);
	FEM_CHECK(fem_splinters_find_fault(once.splinters, once.topology) >= 0);
	fem_splinters_follow(once.splinters, once.topology);
	FEM_CHECK_INT(fem_splinters_find_fault(once.splinters, once.topology), -1);
	publish_block(&once);
	FEM_CHECK_INT(once.splinters->change_count, each.splinters->change_count);
	for (int32_t i = 0; i < each.splinters->change_count; i++) {
		FEM_CHECK(memcmp(&once.splinters->changes[i], &each.splinters->changes[i], sizeof(FemOwnerChange)) == 0);
		moved += once.splinters->changes[i].kind == FEM_OWNER_TET;
	}
	FEM_CHECK(moved >= 20);
	for (int32_t i = 0; i < each.boxes.def.vertex_count; i++)
		FEM_CHECK_INT(once.splinters->owner[i], each.splinters->owner[i]);
	free_block(&each);
	free_block(&once);
}

FEM_TEST(splinters, fault_is_found) {
	Block block = make_block(10, 2, (FemVec3){1.0f, 0.2f, 0.2f}, (FemVec3){0}, (FemVec3){1.0f, 0.2f, 0.2f}, 21, 4);
	FemSplinters *s = block.splinters;
	s->weights[77][2] += 0.01f;
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), 77);
	s->weights[77][2] -= 0.01f;
	s->owner[99] = s->home[0] == s->owner[0] ? s->owner[block.boxes.def.vertex_count - 1] : s->owner[0];
	FEM_CHECK_INT(fem_splinters_find_fault(s, block.topology), 99);
	s->owner[99] = block.whole->tet_of_user[block.boxes.vertex_tets[99]];
	cut_plane(&block, 0.5f, 1.0f); // and nobody follows
	FEM_CHECK(fem_splinters_find_fault(s, block.topology) >= 0);
	free_block(&block);
}

typedef struct Cost {
	double make_ms, follow_ms, publish_ms;
	int32_t faces, changes, moved;
} Cost;

// 2,400 tets, 20,000 vertices; one or all 24 planes between cells are cut at once.
static Cost measure(int32_t planes) {
	Block block = make_block(
		25, 4, (FemVec3){1.25f, 0.2f, 0.2f}, (FemVec3){0.006f, 0.0f, 0.0f}, (FemVec3){1.256f, 0.2f, 0.2f}, 100, 5);
	Cost cost = {.make_ms = block.make_ms};
	FEM_CHECK_INT(block.mesh.tet_count, 2400);
	FEM_CHECK_INT(block.boxes.def.vertex_count, 20000);
	for (int32_t i = 1; i <= planes; i++)
		cut_plane(&block, planes == 1 ? 0.6f : 0.05f * (float)i, 1.0f);
	for (int32_t i = 0; i < block.whole->node_count; i++)
		fem_split_regroup(block.topology, i);
	double began = fem_time_ms();
	fem_splinters_note_cuts(block.splinters, block.topology, block.cuts, block.cut_count);
	fem_splinters_follow(block.splinters, block.topology);
	cost.follow_ms = fem_time_ms() - began;
	FEM_CHECK(fem_split_rebuild(block.topology));
	began = fem_time_ms();
	publish_block(&block);
	cost.publish_ms = fem_time_ms() - began;
	cost.faces = block.cut_count;
	cost.changes = block.splinters->change_count;
	for (int32_t i = 0; i < cost.changes; i++)
		cost.moved += block.splinters->changes[i].kind == FEM_OWNER_TET;
	FEM_CHECK_INT(fem_splinters_find_fault(block.splinters, block.topology), -1);
	free_block(&block);
	return cost;
}

FEM_TEST(splinters, cost) {
	for (int32_t planes = 1; planes <= 24; planes += 23) {
		Cost best = measure(planes);
		for (int32_t i = 0; i < 4; i++) {
			Cost cost = measure(planes);
			best.make_ms = fmin(best.make_ms, cost.make_ms);
			best.follow_ms = fmin(best.follow_ms, cost.follow_ms);
			best.publish_ms = fmin(best.publish_ms, cost.publish_ms);
		}
		printf("  %d faces: %.3f ms to follow, %.3f ms to publish %d changes, %d of them of tets; %.1f ms to make the "
			   "splinters\n",
			best.faces, best.follow_ms, best.publish_ms, best.changes, best.moved, best.make_ms);
		FEM_CHECK(best.moved >= 100 * planes - 100 && best.moved > 0);
		FEM_CHECK_TIME(best.follow_ms, 0.5 + 0.5 * planes);
	}
}
