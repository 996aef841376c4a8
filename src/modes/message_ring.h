// A ring of messages from one thread to another, without locks: words, of which the writer publishes whole messages and
// the reader takes whole messages. Neither ever waits.
#ifndef FEM_MODES_MESSAGE_RING_H
#define FEM_MODES_MESSAGE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FEM_RING_WORDS (1u << 16) // 256 KB: 64 strikes of 256 modes are 66 KB; a power of two

typedef struct FemMessageRing {
	_Atomic uint32_t written, taken; // words since the beginning; they wrap around
	uint32_t words[FEM_RING_WORDS];
} FemMessageRing;

static inline void fem_ring_put(FemMessageRing *ring, uint32_t at, const uint32_t *words, uint32_t count) {
	uint32_t start = at % FEM_RING_WORDS, first = FEM_RING_WORDS - start < count ? FEM_RING_WORDS - start : count;
	memcpy(ring->words + start, words, sizeof *words * first);
	memcpy(ring->words, words + first, sizeof *words * (count - first));
}

// The writer: a head and its data as one message; false when there is no room.
static inline bool fem_ring_write(
	FemMessageRing *ring, const uint32_t *head, uint32_t head_count, const float *data, uint32_t data_count) {
	uint32_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
	uint32_t used = at - atomic_load_explicit(&ring->taken, memory_order_acquire);
	if (head_count + data_count > FEM_RING_WORDS - used)
		return false;
	fem_ring_put(ring, at, head, head_count);
	if (data_count > 0)
		fem_ring_put(ring, at + head_count, (const uint32_t *)(const void *)data, data_count);
	atomic_store_explicit(&ring->written, at + head_count + data_count, memory_order_release);
	return true;
}

// The reader: copies so many words when they are there.
static inline bool fem_ring_read(FemMessageRing *ring, void *out, uint32_t count) {
	uint32_t at = atomic_load_explicit(&ring->taken, memory_order_relaxed);
	if (atomic_load_explicit(&ring->written, memory_order_acquire) - at < count)
		return false;
	uint32_t start = at % FEM_RING_WORDS, first = FEM_RING_WORDS - start < count ? FEM_RING_WORDS - start : count;
	memcpy(out, ring->words + start, sizeof(uint32_t) * first);
	memcpy((char *)out + sizeof(uint32_t) * first, ring->words, sizeof(uint32_t) * (count - first));
	atomic_store_explicit(&ring->taken, at + count, memory_order_release);
	return true;
}

#endif
