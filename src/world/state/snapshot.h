// The parts of a snapshot of a world.
#ifndef FEM_WORLD_SNAPSHOT_H
#define FEM_WORLD_SNAPSHOT_H

#include "model/body_tet_arrays.h"
#include "world/state/stream.h"
#include "world/world.h"

#define FEM_SNAPSHOT_VERSION 31u // of the format; data of others are refused

// ---- snapshot_body.c
void fem_snapshot_sync_tets(FemStream *stream, FemBody *body, FemTetSaved group); // arrays by tet of that group
void fem_snapshot_write_body(FemStream *stream, FemBody *body);
void fem_snapshot_read_body(FemStream *stream, FemWorld *world, int32_t body_index); // enters it into its slot

// ---- snapshot_modal.c
void fem_snapshot_sync_modal(FemStream *stream, FemBody *body);
void fem_snapshot_sync_joints(FemStream *stream, struct FemWorld *world); // after all bodies

// ---- snapshot_joined.c
void fem_snapshot_sync_joined(FemStream *stream, FemBody *body);

// ---- snapshot_contact.c
void fem_snapshot_sync_contact(FemStream *stream, FemWorld *world); // colliders and contacts, after all bodies

// ---- snapshot_breaking.c
void fem_snapshot_write_breaking(FemStream *stream, FemBody *body);
void fem_snapshot_read_breaking(FemStream *stream, FemWorld *world, FemBody *body);
void fem_body_forget_removed(FemBody *body); // of a body that was built whole: tets that its topology no longer has

#endif
