// Splinters (P&O09 section 5; docs/method.md): which tet each render vertex follows, and who must change when faces
// open.
//
// "Still connected with home" is meant near the splinter: a long detour through the mesh does not count. Each splinter
// has a reach, made once in the whole mesh: the tets it touches (its home, those of its vertices, those on the straight
// segments between) and one ring around them by faces. A vertex may follow a tet that can be come to from home through
// closed faces without leaving the reach. The reach never changes, so that what can be come to only ever shrinks: a
// vertex that was looked at stays right until a face between two tets of the reach opens.
//
// Splinters that are equal share what does not change, and until the first cut also who follows what:
// fem_splinters_share() gives a body little more than a pointer, fem_splinters_own() the arrays that its cracks then
// change.
#ifndef FEM_FRACTURE_SPLINTERS_H
#define FEM_FRACTURE_SPLINTERS_H

#include "base/assert.h"
#include "fracture/crack.h"
#include "topology/tet_mesh.h"

// The rest shape. Lives as long as the body.
typedef struct FemSplinterRest {
	const FemTopology *topology; // of the mesh, whole
	const FemVec3 *positions;    // m, user order
	const int32_t *tets;         // user order
	FemVec3 scale;
} FemSplinterRest;

// Slots for the positions of lost vertices, a power of two. Vertices that share a corner, three to six with a normal
// each, come close after each other. Chosen.
#define FEM_LOST_SLOTS 1024

// A vertex that looks for a tet, and the best one so far.
typedef struct FemLostVertex {
	int32_t vertex;
	int32_t nearest;     // place of its tet among those that home is connected with; -1: none yet
	FemVec3d p;          // m, rest, scaled
	double distance_sq;  // m^2
	double least_weight; // the smallest of the four: how far it is extrapolated
} FemLostVertex;

// A tet that a vertex might follow, as a ball around it (m, rest, scaled).
typedef struct FemTetBall {
	FemVec3d middle;
	double radius;
	double distance_sq; // m^2, of the vertex at hand from the middle
} FemTetBall;

// A piece that may give a splinter to one that has none (splinter_homes.c).
typedef struct FemHousehold {
	int32_t splinter_count; // that are at home in it
	int32_t gives, to;      // which it would give, and to which component, if it got another
	bool was_asked;
} FemHousehold;

// Homes that are others than those given, for states of bodies: user numbers.
typedef struct FemMovedHome {
	int32_t splinter, user_tet;
} FemMovedHome;

typedef struct FemSplinterHomes {
	int32_t splinter_count; // of the splinters they are of
	int32_t moved_count;
	size_t bytes;
	FemMovedHome *moved; // by splinter
} FemSplinterHomes;

typedef struct FemSplinters {
	FemSplinterRest rest;
	FemSplintersDef given; // copies, by user numbers
	int32_t tet_count;     // inside numbers, with padding

	int32_t *first_home;                // [splinter]: as given
	int32_t *vertex_start, *vertices;   // [splinter + 1]: its vertices, ascending
	int32_t *reach_start, *reach;       // [splinter + 1]: home first
	int32_t *tet_start, *tet_splinters; // [tet + 1]: the splinters whose reach it is in, ascending

	int32_t reach_most, vertices_most; // of one splinter

	// Only read while they are shared
	int32_t *home;       // [splinter]: see splinter_homes.c
	int32_t *owner;      // [vertex]: tet; -1: removed
	float (*weights)[4]; // [vertex]

	// ---- of a step; null while nothing of its own is there
	uint8_t *change;            // [vertex]: FemOwnerChangeKind, 0 for none, since the last publishing
	int32_t *tet_before;        // [vertex]: of those that changed their tet, the one at the last publishing
	float (*weights_before)[4]; // [vertex]: in it
	bool has_changed;
	bool is_behind;      // cuts or homes were noted that vertices have not followed yet
	uint8_t *is_lost;    // [splinter]: a face in its reach has opened or its home has moved; 0 once it has followed
	uint8_t *is_renamed; // [tet]: names a node that was copied; 0 once its splinters know
	const FemOwnerChange *changes; // of the last publishing, in memory of the world
	int32_t change_count;

	// ---- scratch
	uint8_t *tet_mark;        // [tet]: 0 outside the reach, 1 in it, 2 connected with home; 0 between calls
	int32_t *queue;           // [longest reach]
	FemTetShape *shapes;      // [longest reach]
	FemTetBall *balls;        // [longest reach]
	uint8_t *is_listed;       // [splinter]; 0 between calls
	int32_t *list;            // [splinter]
	FemLostVertex *lost;      // [most vertices of a splinter]
	int32_t *lost_at;         // [FEM_LOST_SLOTS], by position: one of `lost` that may lie there
	FemHousehold *households; // [tet], of which as many as there are components
	int32_t *component_queue; // [tet]

	void *block, *own_block; // what does not change, and what does
	size_t bytes, own_bytes;

	struct FemSplinters *shared; // whose block it is; null: its own
	struct FemSplinters *next;   // of those that others share, in a list of their mesh
	int32_t use_count;           // of those that others share: how many do
} FemSplinters;

// A checked def. Owners are left unset: fem_splinters_settle() or the reader of a snapshot does that. Null when memory
// fails.
FEM_MUST_USE FemSplinters *fem_splinters_create(const FemSplinterRest *rest, const FemSplintersDef *def);
void fem_splinters_free(FemSplinters *splinters);

// Makes settled splinters shareable by other bodies; they change no more. False when memory fails.
FEM_MUST_USE bool fem_splinters_freeze(FemSplinters *splinters);
FemSplinters *fem_splinters_share(FemSplinters *frozen); // null when memory fails
// Gives a body arrays of its own before its splinters change; does nothing if it has them. False when memory fails.
FEM_MUST_USE bool fem_splinters_own(FemSplinters *splinters);

// Whether these are of the same rest shape and were given the same.
bool fem_splinters_are_equal(const FemSplinters *splinters, const FemSplinterRest *rest, const FemSplintersDef *def);

// Every vertex to the tet that was given for it, or the nearest that the home is connected with. homes: those that have
// moved, or null: they are found for the pieces as they are.
void fem_splinters_settle(FemSplinters *splinters, const FemTopology *topology, const FemSplinterHomes *homes);

// Settles the splinters anew for a body of another shape and scale, as if just made for it: no changes are reported.
void fem_splinters_restart(
	FemSplinters *splinters, FemVec3 scale, const FemTopology *topology, const FemSplinterHomes *homes);

// Computes weights from owners, for splinters that were read.
void fem_splinters_weigh(FemSplinters *splinters);

// Between the cuts and the rebuild (topology/splitting.h): which splinters the cuts concern.
void fem_splinters_note_cuts(
	FemSplinters *splinters, const FemTopology *topology, const FemFaceCut *cuts, int32_t cut_count);

// The same of nodes that were copied since, without a cut: tets that leave take copies of theirs with them.
void fem_splinters_note_copies(FemSplinters *splinters, const FemTopology *topology);

// Pieces that have no splinter take over one of others. is_split, after a rebuild: only of pieces that broke in the
// split that is under way, among each other.
void fem_splinters_find_homes(FemSplinters *splinters, const FemTopology *topology, bool is_split);

// Before tets are crushed: splinters of which half lies in them are at home in one of them from now on, and go with it;
// others are at home elsewhere, and stay. When none goes, the one of which most lies there does, a quarter at least.
void fem_splinters_crush(FemSplinters *splinters, const FemTopology *topology, const int32_t *tets, int32_t tet_count);

// What was noted since the last call, of any number of splits: vertices whose tet is cut off from home go to another,
// and those whose tet names copies are told. What can be come to from home only ever shrinks, so that the nearest tet
// after several splits is the same whether or not it was looked for after each of them.
void fem_splinters_follow(FemSplinters *splinters, const FemTopology *topology);

// The tets, by user numbers, of pieces in which no splinter is at home: the first `capacity` of them. Returns how many
// there are.
int32_t fem_splinters_bare_tets(
	const FemSplinters *splinters, const FemTopology *topology, int32_t *out_tets, int32_t capacity);

// Homes as data. Null when memory fails.
FEM_MUST_USE FemSplinterHomes *fem_splinter_homes_create(int32_t splinter_count, int32_t moved_count);
FEM_MUST_USE FemSplinterHomes *fem_splinters_moved_homes(const FemSplinters *splinters);
void fem_splinter_homes_free(FemSplinterHomes *homes);
FEM_MUST_USE bool fem_splinters_take_homes(FemSplinters *splinters, const FemSplinterHomes *homes); // false: as given
bool fem_splinters_is_in_reach(const FemSplinters *splinters, int32_t splinter, int32_t tet);

// Forgets owners among removed tets, after a rebuild.
void fem_splinters_forget_removed(FemSplinters *splinters, const FemTopology *topology);

// Makes the list of changes since the last call, of which there are so many, in memory of the caller's.
int32_t fem_splinters_count_changes(const FemSplinters *splinters);
void fem_splinters_publish(FemSplinters *splinters, const FemTopology *topology, FemOwnerChange *changes);

FemVertexOwner fem_splinters_owner(const FemSplinters *splinters, const FemTopology *topology, int32_t vertex);

// The owner that the vertex would have in that tet.
FemVertexOwner fem_splinters_owner_in(
	const FemSplinters *splinters, const FemTopology *topology, int32_t vertex, int32_t user_tet);

// The first vertex that may not follow the tet it follows, or whose weights are wrong; -1 when all is well.
int32_t fem_splinters_find_fault(FemSplinters *splinters, const FemTopology *topology);

#endif
