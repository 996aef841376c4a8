// Contacts kept from the last step, after a body's nodes got new numbers.
#include "base/assert.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
	return fem_contact_compare_places(a, b);
}

// False when the place is gone.
static bool renumber_side(const FemBody *body, FemContactSide *side) {
	const FemTopology *t = body->topology;
	if (side->kind == FEM_SIDE_NODE) {
		FEM_ASSERT_INDEX(side->node, t->split->old_node_count);
		int32_t node = t->split->new_of_old[side->node];
		side->node = node;
		for (int k = 0; k < 4; k++)
			side->nodes[k] = node;
		return node >= 0;
	}
	for (int k = 0; k < 4; k++)
		side->nodes[k] = fem_tet_node(t, side->tet, k);
	return t->user_of_tet[side->tet] >= 0;
}

static void renumber(FemWorld *world, int32_t body_index, FemContact *contacts, int32_t *count) {
	int32_t kept = 0;
	bool sorted = true;
	for (int32_t i = 0; i < *count; i++) {
		FemContact contact = contacts[i];
		bool stays = true;
		for (int s = 0; s < 2; s++) {
			if (contact.side[s].body == body_index)
				stays = stays && renumber_side(world->bodies[body_index], &contact.side[s]);
		}
		if (stays)
			contacts[kept++] = contact;
		sorted &= !(contact.side[0].kind == FEM_SIDE_NODE && contact.side[0].body == body_index);
	}
	*count = kept;
	if (!sorted)
		qsort(contacts, (size_t)kept, sizeof *contacts, compare);
}

void fem_contacts_renumber(FemWorld *world, int32_t body_index) {
	FemContactStage *stage = &world->contacts;
	renumber(world, body_index, stage->contacts, &stage->contact_count);
	renumber(world, body_index, stage->last_contacts, &stage->last_count);
}
