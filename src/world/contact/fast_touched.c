// Which pieces overlapped when the step began, as far as one of them may be fast.
#include "model/piece.h"
#include "topology/topology.h"
#include "world/contact/fast_objects.h"
#include "world/world.h"

static int32_t piece_proxy(const FemBody *body, int32_t tet) {
	const FemTopology *t = body->topology;
	int32_t component = fem_tet_component(t, tet);
	return component < body->sweep_proxy_count ? body->pieces[component].sweep_proxy : -1;
}

static uint64_t key_of(int32_t proxy, int32_t other) {
	bool swap = other < proxy;
	return (uint64_t)(uint32_t)(swap ? other : proxy) << 32 | (uint32_t)(swap ? proxy : other);
}

static bool is_fast(const FemBody *body) {
	return body->step && body->step->fast_displacement > FEM_FAST_DISPLACEMENT_MIN; // null: asleep
}

static bool may_be_fast(const FemWorld *world, const FemTouch *touch) {
	return is_fast(world->bodies[touch->body]) || (!touch->is_collider && is_fast(world->bodies[touch->other]));
}

static int32_t list_touch(FemWorld *world, const FemTouch *touch, int32_t count) {
	FemContactStage *stage = &world->contacts;
	const FemBody *body = world->bodies[touch->body];
	for (int32_t i = touch->items.begin; i < touch->items.end; i++) {
		const FemOverlapItem *item = &stage->items[i];
		if ((!item->found && !item->held) || item->ahead > 0.0f)
			continue;
		int32_t first = piece_proxy(body, item->tet);
		int32_t second = touch->is_collider ? world->colliders[touch->other].sweep_proxy
											: piece_proxy(world->bodies[touch->other], item->other_tet);
		uint64_t key = key_of(first, second);
		if (first < 0 || second < 0 || (count > 0 && stage->narrow.hits[count - 1].key == key))
			continue; // overlaps of the same pieces follow each other
		if (count < stage->narrow.limits.hits)
			stage->narrow.hits[count++] = (FemKeyed){.key = key};
	}
	return count;
}

FemFastTouched fem_fast_list_touched(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	int32_t count = 0;
	for (int32_t t = 0; t < stage->touch_count; t++) {
		if (may_be_fast(world, &stage->touches[t]))
			count = list_touch(world, &stage->touches[t], count);
	}
	fem_key_sort(stage->narrow.hits, stage->narrow.scratch, count);
	return (FemFastTouched){stage->narrow.hits, count};
}

bool fem_fast_has_touched(const FemFastTouched *touched, int32_t proxy, int32_t other) {
	uint64_t key = key_of(proxy, other);
	int32_t low = 0, high = touched->count;
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (touched->keys[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < touched->count && touched->keys[low].key == key;
}
