#include "classes/bake_store.h"

#include "binding/conversions.h"
#include "binding/hashing.h"
#include "simulation/project_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "res://.godot/destructible_meshes"

enum { FILES_MAX = 300 }; // bakes that are kept, some 100 kB each; chosen: of several levels

typedef struct StoreHeader {
	char kind[8];
	int64_t data_size, layout_size; // bytes that follow
	uint64_t hash;                  // of the layout and the size of the data, which have a checksum of their own
} StoreHeader;

static const char file_kind[8] = "FEMBAK2";

static GdString path_of(uint64_t key, const char *ending) {
	char text[128];
	snprintf(text, sizeof(text), FOLDER "/%016" PRIx64 "%s", key, ending);
	return make_string(text);
}

// Games of the editor's Godot run in their project's folder; exported ones do not.
static bool is_project(void) {
	GdString feature = make_string("editor");
	bool is = gd_os_has_feature(&feature);
	gd_string_free(&feature);
	return is;
}

uint64_t bake_store_key(uint64_t hash) {
	if (!project_settings_keep_bakes() || !is_project()) {
		return 0;
	}
	GdString path;
	godot.get_library_path(godot.library, &path);
	int64_t time = gd_file_access_get_modified_time(&path);
	gd_string_free(&path);
	hash = hash_mix(hash, &time, sizeof(time));
	return hash ? hash : 1;
}

// ---- bytes

static const uint8_t *bytes_of(GdPackedByteArray *array) {
	return gd_packed_byte_array_size(array) > 0 ? godot.packed_byte_array_operator_index_const(array, 0) : NULL;
}

static bool append(GdPackedByteArray *to, int64_t at, const void *bytes, int64_t size) {
	uint8_t *written = size > 0 ? godot.packed_byte_array_operator_index(to, at) : NULL;
	if (written) {
		memcpy(written, bytes, (size_t)size);
	}
	return written || size == 0;
}

// Of what the data's own checksum does not cover.
static uint64_t hash_of(const StoreHeader *header, const void *layout) {
	uint64_t hash = hash_mix(HASH_START, &header->data_size, sizeof(header->data_size));
	return layout ? hash_mix(hash, layout, (size_t)header->layout_size) : hash;
}

static bool read_header(GdPackedByteArray *file, StoreHeader *out) {
	int64_t size = gd_packed_byte_array_size(file), start = (int64_t)sizeof(*out);
	if (size < start) {
		return false;
	}
	memcpy(out, bytes_of(file), sizeof(*out));
	return memcmp(out->kind, file_kind, sizeof(file_kind)) == 0 && out->data_size > 0 && out->data_size <= size &&
		out->layout_size >= 0 && out->layout_size <= size && start + out->data_size + out->layout_size == size &&
		out->hash == hash_of(out, bytes_of(file) + start + out->data_size);
}

static GdPackedByteArray pack(GdPackedByteArray *data, GdPackedByteArray *layout) {
	StoreHeader header = {
		.data_size = gd_packed_byte_array_size(data), .layout_size = gd_packed_byte_array_size(layout)};
	int64_t start = (int64_t)sizeof(header), whole = start + header.data_size + header.layout_size;
	GdPackedByteArray file = gd_packed_byte_array_new();
	memcpy(header.kind, file_kind, sizeof(file_kind));
	gd_packed_byte_array_resize(&file, whole);
	bool is_whole = gd_packed_byte_array_size(&file) == whole &&
		append(&file, start, bytes_of(data), header.data_size) &&
		append(&file, start + header.data_size, bytes_of(layout), header.layout_size);
	if (is_whole) {
		header.hash = hash_of(&header, bytes_of(&file) + start + header.data_size);
		append(&file, 0, &header, start);
	} else {
		gd_packed_byte_array_resize(&file, 0);
	}
	return file;
}

// ---- files

bool bake_store_load(uint64_t key, StoredBake *out) {
	GdString path = path_of(key, ".bake");
	bool is_found = key != 0 && gd_file_access_file_exists(&path);
	if (is_found) {
		StoreHeader header;
		GdPackedByteArray file = gd_file_access_get_file_as_bytes(&path);
		is_found = read_header(&file, &header);
		if (is_found) {
			int64_t start = (int64_t)sizeof(header);
			*out = (StoredBake){file, start, header.data_size, start + header.data_size, header.layout_size};
		} else {
			gd_packed_byte_array_free(&file);
		}
	}
	gd_string_free(&path);
	return is_found;
}

// Of more than FILES_MAX the one that was written first goes.
static void make_room(void) {
	GdString folder = make_string(FOLDER);
	GdPackedStringArray files = gd_dir_access_get_files_at(&folder);
	int64_t count = gd_packed_string_array_size(&files), oldest_time = INT64_MAX;
	char oldest[256] = "";
	for (int64_t i = 0; i < count && count > FILES_MAX; i++) {
		char name[96], text[256];
		GdString file = gd_packed_string_array_get(&files, i);
		copy_string(&file, name, sizeof(name));
		gd_string_free(&file);
		snprintf(text, sizeof(text), FOLDER "/%s", name);
		GdString path = make_string(text);
		int64_t time = gd_file_access_get_modified_time(&path);
		gd_string_free(&path);
		if (time < oldest_time) {
			oldest_time = time;
			memcpy(oldest, text, sizeof(oldest));
		}
	}
	if (oldest[0]) {
		GdString path = make_string(oldest);
		gd_dir_access_remove_absolute(&path);
		gd_string_free(&path);
	}
	gd_packed_string_array_free(&files);
	gd_string_free(&folder);
}

// Written beside its place and moved there, so that another game on the project never reads half a file.
void bake_store_save(uint64_t key, GdPackedByteArray *data, GdPackedByteArray *layout) {
	char ending[32];
	GdString folder = make_string(FOLDER);
	bool is_there = key != 0 && gd_dir_access_make_dir_recursive_absolute(&folder) == GD_OK;
	gd_string_free(&folder);
	if (!is_there) {
		return;
	}
	snprintf(ending, sizeof(ending), ".part%" PRId64, gd_os_get_process_id());
	GdString part = path_of(key, ending), path = path_of(key, ".bake");
	GdPackedByteArray bytes = pack(data, layout);
	GDExtensionObjectPtr file =
		gd_packed_byte_array_size(&bytes) > 0 ? gd_file_access_open(&part, GD_FILE_ACCESS_WRITE) : NULL;
	if (file) {
		bool is_stored = gd_file_access_store_buffer(file, &bytes);
		gd_file_access_flush(file);
		is_stored = is_stored && gd_file_access_get_error(file) == GD_OK;
		object_unreference(file);
		if (!is_stored || gd_dir_access_rename_absolute(&part, &path) != GD_OK) {
			gd_dir_access_remove_absolute(&part);
		}
		make_room();
	}
	gd_packed_byte_array_free(&bytes);
	gd_string_free(&part);
	gd_string_free(&path);
}
