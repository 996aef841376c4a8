// Bakes of plain meshes on disk, in the project's .godot/destructible_meshes: a project that is started again bakes
// nothing anew. Files may be deleted at any time; one that is damaged counts as none. Exported games have none: the
// export bakes.
#ifndef BAKE_STORE_H
#define BAKE_STORE_H

#include "godot_calls.h"

// The name of a bake: of its triangles and settings (a hash), and of this build of the library, since another may bake
// otherwise. 0: nothing is kept here.
uint64_t bake_store_key(uint64_t hash);

// A file of the store as it was read, and where in it things stand.
typedef struct StoredBake {
	GdPackedByteArray file;                                   // the reader's, to be freed
	int64_t data_start, data_size, layout_start, layout_size; // bytes
} StoredBake;

// False when there is none. Whether the data are sound is not looked at: who reads them notices, by their checksum.
bool bake_store_load(uint64_t key, StoredBake *out);

// One that cannot be written is baked again next time.
void bake_store_save(uint64_t key, GdPackedByteArray *data, GdPackedByteArray *layout);

#endif
