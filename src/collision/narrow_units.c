#include "collision/narrow_units.h"

#include "collision/crack_tets.h"

#include "collision/tree_walk.h"
#include "collision/triangle_tests.h"
#include "topology/topology.h"

Float4 fem_narrow_offset(const FemNarrowBody *from, const FemNarrowBody *to) {
	return (Float4){(float)(from->origin.x - to->origin.x), (float)(from->origin.y - to->origin.y),
		(float)(from->origin.z - to->origin.z), 0.0f};
}

// ---- neighbours

static bool share_number(const int32_t *a, int32_t a_count, const int32_t *b, int32_t b_count) {
	for (int32_t i = 0; i < a_count; i++) {
		for (int32_t j = 0; j < b_count; j++) {
			if (a[i] == b[j])
				return true;
		}
	}
	return false;
}

// Whether two ascending lists have a number in common.
static bool lists_meet(const int32_t *a, const int32_t *a_end, const int32_t *b, const int32_t *b_end) {
	while (a < a_end && b < b_end) {
		if (*a == *b)
			return true;
		if (*a < *b)
			a++;
		else
			b++;
	}
	return false;
}

// At most two edges apart: the same node, neighbours, or with a neighbour in common.
static bool are_nodes_near(const FemTopology *t, int32_t i, int32_t j) {
	const int32_t *row_i = t->row_column + t->row_start[i], *end_i = t->row_column + t->row_start[i + 1];
	const int32_t *row_j = t->row_column + t->row_start[j], *end_j = t->row_column + t->row_start[j + 1];
	return i == j || lists_meet(row_i, end_i, &j, &j + 1) || lists_meet(row_i, end_i, row_j, end_j);
}

_Static_assert(FEM_SELF_RINGS == 2, "are_nodes_near() knows two rings");

bool fem_tets_are_near(const FemTopology *t, int32_t a, int32_t b) {
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 4; j++) {
			if (are_nodes_near(t, fem_tet_node(t, a, i), fem_tet_node(t, b, j)))
				return true;
		}
	}
	return false;
}

// ---- triangles in tets

#define PROBE_GROUPS 64     // looked at together; trees that meet more of them are walked again for the rest. Chosen
#define PROBE_CANDIDATES 64 // tets whose boxes a triangle meets, tested four at a time. Chosen: few triangles meet more

typedef struct Probe {
	const FemSurfaceTrees *faces, *solid;
	Float4 offset;              // from the frame of faces to that of solid, m
	bool self;                  // neighbours are passed over, and inner tets
	const FemCrackTets *cracks; // null: no tets of two pieces were neighbours
	bool passed_over;           // a tet that the triangle's own lies beside in a closed crack
	int32_t groups[PROBE_GROUPS];
	int32_t group_count;
	FemBoxes8 group_boxes[PROBE_GROUPS / 8];
	Box4 reach; // of those groups

	int32_t triangle; // the one at hand, its points and box in the frame of solid
	Float4 points[3];
	Box4 box;
	Int4 mesh_nodes; // of its tet, with cracks
	int32_t candidates[PROBE_CANDIDATES];
	int32_t candidate_count;

	FemNarrowHit *out;
	int32_t count, room;
} Probe;

static void add_hit(Probe *probe, int32_t tet) {
	int32_t face_tet = probe->faces->topology->triangle_tets[probe->triangle];
	if (probe->self && fem_tets_are_near(probe->solid->topology, face_tet, tet))
		return;
	if (probe->cracks && fem_crack_tets_rest(probe->cracks, face_tet, probe->mesh_nodes, tet)) {
		probe->passed_over = true;
		return;
	}
	if (probe->count < probe->room)
		probe->out[probe->count] = (FemNarrowHit){face_tet, tet};
	probe->count++;
}

static void test_candidates(Probe *probe) {
	int32_t last = probe->candidate_count - 1;
	for (int32_t base = 0; base <= last; base += 4) {
		Float4 corners[4][4];
		for (int32_t lane = 0; lane < 4; lane++)
			fem_tet_points(probe->solid, probe->candidates[base + lane < last ? base + lane : last], corners[lane]);
		unsigned hits = fem_triangle_meets_tets(probe->points, corners);
		for (int32_t lane = 0; lane < 4 && base + lane <= last; lane++) {
			if (hits >> lane & 1)
				add_hit(probe, probe->candidates[base + lane]);
		}
	}
	probe->candidate_count = 0;
}

static bool touches_triangle(const Probe *probe, int32_t tet) {
	const FemTopology *t = probe->solid->topology;
	int32_t nodes[4] = {
		fem_tet_node(t, tet, 0), fem_tet_node(t, tet, 1), fem_tet_node(t, tet, 2), fem_tet_node(t, tet, 3)};
	return share_number(t->triangles + 3 * (size_t)probe->triangle, 3, nodes, 4);
}

static void probe_packet(Probe *probe, int32_t packet) {
	const int32_t *tets = probe->solid->packet_tets + 8 * (size_t)packet;
	unsigned met = boxes_meet8(&probe->solid->packets[packet], probe->box);
	for (; met; met &= met - 1) {
		int32_t tet = tets[__builtin_ctz(met)];
		if (probe->self && touches_triangle(probe, tet))
			continue;
		probe->candidates[probe->candidate_count++] = tet;
		if (probe->candidate_count == PROBE_CANDIDATES)
			test_candidates(probe);
	}
}

static void probe_outer(Probe *probe, const FemTetGroup *group) {
	for (int32_t base = 0; base < group->outer_packets; base += 8) {
		unsigned met = boxes_meet8(&probe->solid->packets8[group->packet8 + base / 8], probe->box);
		if (group->outer_packets - base < 8)
			met &= (1u << (group->outer_packets - base)) - 1;
		for (; met; met &= met - 1)
			probe_packet(probe, group->packet + base + __builtin_ctz(met));
	}
}

// The inner tet of a packet that holds the point, -1 for none.
static int32_t find_in_packet(const FemSurfaceTrees *solid, int32_t packet, Float4 point) {
	unsigned met = boxes_meet8(&solid->packets[packet], (Box4){point, point});
	for (; met; met &= met - 1) {
		int32_t tet = solid->packet_tets[8 * (size_t)packet + (unsigned)__builtin_ctz(met)];
		Float4 corners[4];
		fem_tet_points(solid, tet, corners);
		if (fem_point_in_tet(point, corners))
			return tet;
	}
	return -1;
}

static int32_t find_inner(const FemSurfaceTrees *solid, const FemTetGroup *group, Float4 point) {
	if (group->outer_packets == group->packet_count)
		return -1;
	for (int32_t base = group->outer_packets / 8 * 8; base < group->packet_count; base += 8) {
		unsigned met = boxes_meet8(&solid->packets8[group->packet8 + base / 8], (Box4){point, point});
		if (base < group->outer_packets)
			met &= ~0u << (group->outer_packets - base);
		for (; met; met &= met - 1) {
			int32_t tet = find_in_packet(solid, group->packet + base + __builtin_ctz(met), point);
			if (tet >= 0)
				return tet;
		}
	}
	return -1;
}

// Outer tets first. A triangle that reaches into none of them lies wholly outside or wholly among the inner ones: then
// the one that holds its centre is enough.
static void probe_triangle(Probe *probe) {
	int32_t before = probe->count;
	probe->passed_over = false;
	for (int32_t base = 0; base < probe->group_count; base += 8) {
		unsigned met = boxes_meet8(&probe->group_boxes[base / 8], probe->box);
		for (; met; met &= met - 1)
			probe_outer(probe, &probe->solid->groups[probe->groups[base + __builtin_ctz(met)]]);
	}
	test_candidates(probe);
	if (probe->count > before || probe->passed_over || probe->self)
		return;
	Float4 centre = (probe->points[0] + probe->points[1] + probe->points[2]) * all4(1.0f / 3.0f);
	for (int32_t i = 0; i < probe->group_count; i++) {
		int32_t tet = find_inner(probe->solid, &probe->solid->groups[probe->groups[i]], centre);
		if (tet < 0)
			continue;
		add_hit(probe, tet);
		return;
	}
}

static Box4 moved_box(Box4 box, Float4 by) {
	return (Box4){box.min + by, box.max + by};
}

// The triangle of a crack that lies on the one it was part of.
static bool is_closed(const Probe *probe, int32_t face) {
	return probe->cracks && (probe->cracks->closed[face / 4] >> face % 4 & 1) != 0;
}

// Only where the tree and the groups can meet: a thin slice where bodies rest on each other.
static void probe_tree(Probe *probe, const FemSurfaceTree *tree) {
	Box4 slice = common_box4(moved_box(tree->box, probe->offset), probe->reach);
	if (!boxes_meet4(slice, slice))
		return;
	// What going to the other frame and back may have cut off.
	Float4 lost = abs4(probe->offset) * all4(2e-7f);
	Box4 back = {slice.min - probe->offset - lost, slice.max - probe->offset + lost};
	TreeWalk walk;
	walk_start(&walk, tree, back);
	while ((probe->triangle = walk_next(&walk)) >= 0) {
		if (is_closed(probe, probe->faces->faces[probe->triangle]))
			continue;
		fem_triangle_points(probe->faces, probe->triangle, probe->points);
		for (int i = 0; i < 3; i++)
			probe->points[i] += probe->offset;
		probe->box = triangle_box4(probe->points);
		if (probe->cracks)
			probe->mesh_nodes =
				fem_crack_tet_nodes(probe->cracks, probe->faces->topology->triangle_tets[probe->triangle]);
		if (boxes_meet4(probe->box, slice))
			probe_triangle(probe);
	}
}

// Lists the next groups that the tree meets, as many as fit.
static void list_groups(Probe *probe, FemGroupWalk *walk) {
	probe->group_count = 0;
	probe->reach = empty_box4();
	while (probe->group_count < PROBE_GROUPS) {
		int32_t g = fem_group_walk_next(walk);
		if (g < 0)
			break;
		Box4 box = get_box8(&probe->solid->group_boxes[g / 8], g % 8);
		put_box8(&probe->group_boxes[probe->group_count / 8], probe->group_count % 8, box);
		probe->groups[probe->group_count++] = g;
		probe->reach = joint_box4(box, probe->reach);
	}
	for (int32_t i = probe->group_count; i % 8 != 0; i++)
		put_box8(&probe->group_boxes[i / 8], i % 8, empty_box4());
}

static int32_t run_probe(const FemNarrowPhase *phase, const FemNarrowUnit *unit, FemNarrowHit *out, int32_t room) {
	const FemNarrowPair *pair = &phase->pairs[unit->pair];
	bool flipped = unit->kind == FEM_UNIT_B_INTO_A;
	const FemNarrowBody *faces = flipped ? &pair->b : &pair->a, *solid = flipped ? &pair->a : &pair->b;
	Probe probe;
	probe.faces = faces->trees;
	probe.solid = solid->trees;
	probe.offset = fem_narrow_offset(faces, solid);
	probe.self = unit->kind == FEM_UNIT_SELF;
	probe.cracks = pair->self && pair->cracks.closed ? &pair->cracks : NULL;
	probe.candidate_count = 0;
	probe.out = out;
	probe.count = 0;
	probe.room = room;
	const FemSurfaceTree *tree = &faces->trees->trees[unit->tree];
	FemGroupWalk walk = fem_group_walk(solid->trees, phase->targets, unit->targets, moved_box(tree->box, probe.offset));
	for (list_groups(&probe, &walk); probe.group_count > 0; list_groups(&probe, &walk))
		probe_tree(&probe, tree);
	return probe.count;
}

// ---- triangles and triangles

// A node or a triangle of a tree, with its box as centre and extent.
typedef struct Branch {
	uintptr_t child;
	int32_t first_triangle;
} Branch;

typedef struct Crossing {
	const FemSurfaceTrees *trees;
	Branch stack[2 * FEM_WALK_STACK][2];
	int32_t depth;
} Crossing;

static void push(Crossing *crossing, Branch a, Branch b) {
	if (crossing->depth == 2 * FEM_WALK_STACK)
		return;
	crossing->stack[crossing->depth][0] = a;
	crossing->stack[crossing->depth++][1] = b;
}

static Branch child_of(Branch branch, int which) {
	return (Branch){fem_tree_node(branch.child)->child[which], branch.first_triangle};
}

static bool do_triangles_cross(const FemSurfaceTrees *trees, int32_t a, int32_t b) {
	const FemTopology *t = trees->topology;
	if (share_number(t->triangles + 3 * (size_t)a, 3, t->triangles + 3 * (size_t)b, 3))
		return false;
	Float4 points_a[3], points_b[3];
	fem_triangle_points(trees, a, points_a);
	fem_triangle_points(trees, b, points_b);
	return boxes_meet4(triangle_box4(points_a), triangle_box4(points_b)) && fem_triangles_cross(points_a, points_b) &&
		!fem_tets_are_near(t, t->triangle_tets[a], t->triangle_tets[b]);
}

static bool is_node_off_triangle(const FemSurfaceTrees *trees, Branch node, Branch leaf) {
	Float4 points[3];
	fem_triangle_points(trees, leaf.first_triangle + fem_tree_triangle(leaf.child), points);
	Box4 box = triangle_box4(points);
	return !node_meets_box4(
		fem_tree_node(node.child), (box.min + box.max) * all4(0.5f), (box.max - box.min) * all4(0.5f));
}

static bool are_nodes_off(Branch a, Branch b) {
	const FemTreeNode *node = fem_tree_node(b.child);
	return !node_meets_box4(fem_tree_node(a.child), node_center4(node), node_extent4(node));
}

// A node against itself: its children against themselves and against each other.
static void open_same(Crossing *crossing, Branch a) {
	for (int c = 0; c < 2; c++) {
		Branch child = child_of(a, c);
		if (!fem_tree_is_triangle(child.child))
			push(crossing, child, child);
	}
	push(crossing, child_of(a, 0), child_of(a, 1));
}

static void open_both(Crossing *crossing, Branch a, Branch b) {
	bool leaf_a = fem_tree_is_triangle(a.child), leaf_b = fem_tree_is_triangle(b.child);
	if (leaf_a || leaf_b) {
		Branch node = leaf_a ? b : a, leaf = leaf_a ? a : b;
		if (is_node_off_triangle(crossing->trees, node, leaf))
			return;
		push(crossing, child_of(node, 0), leaf);
		push(crossing, child_of(node, 1), leaf);
		return;
	}
	if (are_nodes_off(a, b))
		return;
	for (int c = 0; c < 4; c++)
		push(crossing, child_of(a, c / 2), child_of(b, c % 2));
}

// Whether any triangle of one tree crosses one of the other (or of the same): one is enough.
static int32_t run_crossing(const FemSurfaceTrees *trees, int32_t tree_a, int32_t tree_b) {
	Crossing crossing;
	crossing.trees = trees;
	crossing.depth = 0;
	const FemSurfaceTree *first = &trees->trees[tree_a], *second = &trees->trees[tree_b];
	push(&crossing, (Branch){(uintptr_t)fem_triangle_tree_root(first->tree), first->triangles.begin},
		(Branch){(uintptr_t)fem_triangle_tree_root(second->tree), second->triangles.begin});
	while (crossing.depth > 0) {
		crossing.depth--;
		Branch a = crossing.stack[crossing.depth][0], b = crossing.stack[crossing.depth][1];
		if (a.child == b.child && a.first_triangle == b.first_triangle) {
			open_same(&crossing, a);
		} else if (fem_tree_is_triangle(a.child) && fem_tree_is_triangle(b.child)) {
			if (do_triangles_cross(trees, a.first_triangle + fem_tree_triangle(a.child),
					b.first_triangle + fem_tree_triangle(b.child)))
				return 1;
		} else {
			open_both(&crossing, a, b);
		}
	}
	return 0;
}

int32_t fem_narrow_unit_run(const FemNarrowPhase *phase, const FemNarrowUnit *unit, FemNarrowHit *out, int32_t room) {
	if (unit->kind == FEM_UNIT_CROSSING)
		return run_crossing(phase->pairs[unit->pair].a.trees, unit->tree, unit->other);
	return run_probe(phase, unit, out, room);
}
