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
static bool renumber_side(const FemBody *body, FemContactSide *side, bool is_node) {
	const FemTopology *t = body->topology;
	if (is_node) {
		FEM_ASSERT_INDEX(side->tet, t->split->old_node_count);
		int32_t node = t->split->new_of_old[side->tet];
		side->tet = node;
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
		bool stays = true, is_node = fem_contact_is_at_node(&contact);
		for (int s = 0; s < 2; s++) {
			if (contact.side[s].body == body_index)
				stays = stays && renumber_side(world->bodies[body_index], &contact.side[s], s == 0 && is_node);
		}
		if (stays)
			contacts[kept++] = contact;
		sorted &= !(is_node && contact.side[0].body == body_index);
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
