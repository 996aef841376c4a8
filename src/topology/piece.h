// The pieces of a body: its connected components, each a physical body of its own. A whole body is one piece (or
// several, if its mesh is); one that broke is as many as it fell into.
#ifndef FEM_TOPOLOGY_PIECE_H
#define FEM_TOPOLOGY_PIECE_H

#include "fem_types.h"

typedef struct FemPiece {
	// ---- identity; components are numbered anew by every split, this is what lasts
	FemPieceNumber number, parent;
	double born;    // s, of the world's time
	double retires; // the same: when it is removed because there are too many; infinite: it is not one too many

	// ---- solver
	struct FemPreconditioner *preconditioner; // null: none is needed, or memory failed
	uint8_t
		preconditioner_kind; // FemPreconditionKind that is wanted for it, of bodies that broke: for splits, snapshots

	// ---- contact
	int32_t sweep_proxy; // its box in the sweep; of the first FemBody.sweep_proxy_count pieces
} FemPiece;

#endif
