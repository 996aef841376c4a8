// Dice: what prestressed material goes to.
//
// Tempered glass is pressed together at its surfaces and pulled apart in its core, by as much in all. The pressure of
// the surface adds to its strength (FemBody.tet_prestress is part of tet_toughness). A crack that has come into the
// core is driven by what the core holds: it runs on by itself at the speed of cracks, forks, and leaves dice. What
// it ran through is relieved, and from then on plain glass (docs/method.md, "Prestress").
#ifndef FEM_FRACTURE_DICE_H
#define FEM_FRACTURE_DICE_H

#include "fracture/separation.h"

typedef struct FemDie {
	int32_t tet;      // one of its tets
	float volume;     // m^3
	double energy;    // J, that its prestress held
	int32_t in_order; // where its tets begin in FemDice.order
} FemDie;

// What the front of cracks made of the tets that it came past.
typedef struct FemDice {
	int32_t *die_of_tet;  // [batch * 8 + lane]: -1 where the front was not
	int32_t *order;       // [batch * 8 + lane]: tets by die
	double *node_time;    // [node]: s, from now until the front is there; infinite: it does not come there
	int32_t *queue;       // [node + 1]
	uint8_t *is_queued;   // [node]
	int32_t lanes, nodes; // lengths of the above
	FemDie *dice;
	int32_t count, capacity;
	double time;  // s, that the front took
	bool is_over; // nothing is left for it to run through
} FemDice;

// J, that the prestress of a tet holds: (1 - nu) / E times the mean square of the parabola from -s at the surfaces to
// s / 2 in the middle, s^2 / 5.
double fem_prestress_energy(const FemBody *body, int32_t tet);

// Runs the front on for `time` (s) from all cracks that have come into prestressed tets, and cuts dice; faces go to
// breaking->cuts. whole: the topology of the body's mesh. False: there is no such crack, or no memory. The topology is
// left open (fem_split_open) when there are cuts, also from before.
FEM_MUST_USE bool fem_dice_cut(FemBody *body, const FemTopology *whole, double time, FemDice *out);

// The tets that the front came past hold no prestress any more. Their toughness is the caller's.
void fem_dice_relieve(FemBody *body, FemDice *dice);

void fem_dice_free(FemDice *dice);

#endif
