// One body's own copy of an embedded mesh, made when the first of its vertices changes owner.
//
//   embedded_copy_create(&copy, &mesh);                  the mesh may go before the copy
//   embedded_copy_set_owner(&copy, vertex, &owner);      after each step: what fem_body_get_owner_changes() says
//   embedded_copy_send(&copy);                           once for each drawn frame: sends what has changed
//
// Only vertices that changed are sent. Neighbouring ones go together, with what lies between them where another call
// would cost more than those bytes.
#ifndef EMBEDDED_COPY_H
#define EMBEDDED_COPY_H

#include "drawing/embedded_mesh.h"

typedef struct EmbeddedCopySurface {
	int32_t first_vertex, vertex_count, stride, nodes_at, weights_at; // as in EmbeddedSurface
	GdPackedByteArray attributes;                                     // what the server has, and what is to be sent
	uint8_t *bytes;    // of `attributes`, to write into; null after each send
	uint64_t *changed; // a bit for each vertex
	int32_t changed_count;
} EmbeddedCopySurface;

typedef struct EmbeddedCopy {
	bool exists;
	GdRID mesh; // same surfaces as the original, without materials
	int32_t surface_count, vertex_count;
	EmbeddedCopySurface *surfaces;
} EmbeddedCopy;

// Takes the original's copy in store, or makes one. False, and no copy, when memory is short or the original was not
// prepared for copies.
bool embedded_copy_create(EmbeddedCopy *copy, EmbeddedMesh *original);
bool embedded_copy_make(EmbeddedCopy *copy, const EmbeddedMesh *original);
void embedded_copy_free(EmbeddedCopy *copy);

// Vertices out of range are passed over. Those of removed pieces are not seen any more.
void embedded_copy_set_owner(EmbeddedCopy *copy, int32_t vertex, const FemVertexOwner *owner);
void embedded_copy_set_weights(EmbeddedCopy *copy, int32_t vertex, const float weights[4]); // in the tet it has

// What is drawn of a vertex, or will be when it is sent. False for vertices out of range, and for those that are not
// seen.
bool embedded_copy_read(const EmbeddedCopy *copy, int32_t vertex, int32_t out_nodes[4], float out_weights[4]);

void embedded_copy_send(EmbeddedCopy *copy);

#endif
