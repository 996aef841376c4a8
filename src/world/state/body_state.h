// The saved state of one body (fem_body_save, fem_body_load): what a save game keeps. Unlike the snapshot of a world it
// holds nothing that can be found anew (rotations, preconditioners, contacts, owners of splinters, which pieces are
// rigid at the moment), so a loaded body
// goes on as the saved one would have but for rounding.
//
// The bytes, little-endian, in this order; what is in [] is there only when its flag is set:
//
//   FemStateHeader
//   [scale, 3 floats]
//   pose last set (3 doubles, 4 floats), layer, mask, [gravity scale, toughness scale]  [seed]  [crushed mass]
//   [piece limit, lifetime, fade] [broken: see body_state_breaks.c]  [pieces, else age of the whole] rigid: centre of
//   the nodes (3 doubles), rotation, [velocity of the centre of mass, angular velocity] else:  origin (3 doubles), then
//   position and velocity of each node, 24 bytes [kinds of nodes]  [which nodes are live] [plastic strain of tets that
//   flowed]  [folds of tets]  [factors on toughness]  [tets relieved of prestress]  [forces for the next step]  [forces
//   of the ground] [joined: see body_state_joined.c]
//
// Nodes and tets are in the user's order and numbers, which do not depend on how the mesh was partitioned. Whole
// numbers are in groups of 7 bits, lowest first, with the high bit set in all but the last byte ("number" below). Runs
// are numbers: the length times 4 plus the value that holds all along; sparse lists are the number of entries, then for
// each how many were left out before it and its floats.
#ifndef FEM_WORLD_BODY_STATE_H
#define FEM_WORLD_BODY_STATE_H

#include "base/assert.h"
#include "world/state/stream.h"
#include "world/world.h"

#define FEM_STATE_MAGIC 0x424d4546u // "FEMB": first word of a body's state
#define FEM_STATE_VERSION 11u       // up to 7 states had the version and the format of the world's snapshot

typedef enum FemStateFlags {
	FEM_STATE_BREAKS = 1 << 0,  // it can break, whatever its materials
	FEM_STATE_BROKEN = 1 << 1,  // faces were cut or pieces removed
	FEM_STATE_PIECES = 1 << 2,  // pieces have other numbers or ages than those of a new body
	FEM_STATE_LIMITED = 1 << 3, // pieces are removed by number or age
	FEM_STATE_RIGID = 1 << 4,   // not deformed
	FEM_STATE_SCALED = 1 << 5,
	FEM_STATE_KINEMATIC = 1 << 6,
	FEM_STATE_SELF_CONTACT = 1 << 7,
	FEM_STATE_WAS_ASLEEP = 1 << 8,   // at the end of the last step
	FEM_STATE_LIVE = 1 << 9,         // all of it, unless
	FEM_STATE_PARTLY_LIVE = 1 << 10, // only some nodes are
	FEM_STATE_HELD = 1 << 11,        // some nodes are pinned or driven
	FEM_STATE_FLOWED = 1 << 12,
	FEM_STATE_DAMAGED = 1 << 13,
	FEM_STATE_FORCED = 1 << 14,
	FEM_STATE_GROUNDED = 1 << 15,
	FEM_STATE_TUNED = 1 << 16,        // gravity or toughness are scaled
	FEM_STATE_MOVING = 1 << 17,       // rigid, with a velocity
	FEM_STATE_ELEMENTS = 1 << 18,     // dynamics: finite elements,
	FEM_STATE_ALWAYS_RIGID = 1 << 19, // or always rigid,
	FEM_STATE_MODAL = 1 << 20,        // or by its modes, else automatic
	FEM_STATE_RELIEVED = 1 << 21,     // of prestress
	FEM_STATE_CRUSHED = 1 << 22,      // some of it went to grains
	FEM_STATE_HOMES = 1 << 23,        // of splinters
	FEM_STATE_JOINED = 1 << 24,       // it was told which pieces it is to be cut into
	FEM_STATE_RIGID_PIECES = 1 << 25, // dynamics: by these
	FEM_STATE_FOLDED = 1 << 26,       // creased somewhere
	FEM_STATE_ALL = (1 << 27) - 1,
} FemStateFlags;

typedef struct FemStateHeader {
	uint32_t magic, version;
	uint32_t size;                 // bytes of all, this header included
	uint32_t checksum;             // of what follows this field
	uint64_t mesh;                 // hash of rest shape and tets
	int32_t node_count, tet_count; // of the mesh
	uint32_t flags;                // FemStateFlags
	int32_t still;                 // steps for which its live parts have been below the sleep speed
} FemStateHeader;

#define FEM_STATE_SEALED offsetof(FemStateHeader, mesh) // bytes before what the checksum is of

// ---- body_saving.c
void fem_state_seal(void *data, size_t size); // puts size and checksum into the header
uint32_t fem_state_checksum(const void *data, size_t size);
uint64_t fem_state_mesh_hash(const FemMesh *mesh);
void fem_state_sync_fields(FemStream *s, FemBody *body, uint32_t flags); // those that stand for themselves, both ways

// ---- body_loading.c
// Puts a built body of the same mesh into the place of another, which is freed, with its splinters and modes. On
// failure the other stays, and the built one is freed.
FEM_MUST_USE FemResult fem_body_replace(FemWorld *world, FemBody *old, FemBody *body, int32_t index);

// ---- body_state_pose.c
// Whether the body is its rest shape, moved rigidly, to within rounding or FEM_STATE_RIGID_ERROR of its size.
bool fem_state_find_pose(const FemWorld *world, const FemBody *body, FemRigidPose *out);
bool fem_state_pose_moves(const FemRigidPose *pose);
void fem_state_sync_pose(FemStream *s, FemRigidPose *pose, uint32_t flags);
FEM_MUST_USE bool fem_state_take_pose(
	const FemWorld *world, FemBody *body, const FemRigidPose *pose); // false: it makes no sense
void fem_state_sync_nodes(FemStream *s, FemBody *body);              // origin, positions, velocities
void fem_state_find_rotations(FemBody *body);                        // of all tets, from their shape

// ---- body_state_breaks.c
bool fem_state_is_broken(const FemWorld *world, const FemBody *body);
bool fem_state_pieces_are_new(const FemWorld *world, const FemBody *body);
FEM_MUST_USE bool fem_state_write_breaks(
	FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags); // false: no memory
void fem_state_read_breaks(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags);

// ---- body_state_joined.c
void fem_state_write_joined(FemStream *s, const FemWorld *world, FemBody *body);
void fem_state_read_joined(FemStream *s, const FemWorld *world, FemBody *body);

// ---- body_state_lists.c
uint32_t fem_state_list_flags(const FemBody *body, bool is_rigid, bool is_broken); // which of the lists below it has
void fem_state_write_lists(FemStream *s, const FemBody *body, uint32_t flags);
void fem_state_read_lists(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags);

// ---- numbers

static inline void fem_stream_number(FemStream *s, uint64_t *value) {
	uint64_t rest = *value, sum = 0;
	uint8_t byte = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		byte = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
		fem_stream_bytes(s, &byte, 1);
		sum |= (uint64_t)(byte & 0x7f) << shift;
		rest >>= 7;
		if (!(byte & 0x80))
			break;
	}
	s->failed = s->failed || (byte & 0x80);
	if (fem_stream_reads(s))
		*value = s->failed ? 0 : sum;
}

static inline void fem_stream_write_number(FemStream *s, uint64_t value) {
	fem_stream_number(s, &value);
}

// One below `count`; 0, and the stream has failed, when it is not.
static inline int32_t fem_stream_read_index(FemStream *s, int64_t count) {
	uint64_t value = 0;
	fem_stream_number(s, &value);
	s->failed = s->failed || count <= 0 || value >= (uint64_t)count;
	return s->failed ? 0 : (int32_t)value;
}

#endif
