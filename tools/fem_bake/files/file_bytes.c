#include "fem_bake/files/file_bytes.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAPACITY 65536 // bytes that are read at first; doubles while there are more

static bool make_room(FemFileBytes *file) {
	if (file->size < file->capacity)
		return true;
	size_t wanted = file->capacity ? 2 * file->capacity : FIRST_CAPACITY;
	uint8_t *moved = fem_realloc(file->bytes, file->capacity, wanted);
	if (!moved)
		return false;
	file->bytes = moved;
	file->capacity = wanted;
	return true;
}

// Read to the end rather than by a size asked for beforehand: pipes have none.
static FemResult read_all(FILE *stream, const char *path, FemFileBytes *file) {
	while (make_room(file)) {
		size_t count = fread(file->bytes + file->size, 1, file->capacity - file->size, stream);
		file->size += count;
		if (file->size > FEM_FILE_MAX)
			return fem_fail(FEM_ERROR_LIMIT, "%.100s is larger than 2 GB: export a coarser mesh.", path);
		if (count == 0)
			return ferror(stream) ? fem_fail(FEM_ERROR_FORMAT, "%.100s cannot be read: %s.", path, strerror(errno))
								  : FEM_OK;
	}
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.100s.", path);
}

FemResult fem_file_read(const char *path, FemFileBytes *out) {
	*out = (FemFileBytes){0};
	FILE *stream = fopen(path, "rb");
	if (!stream)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be opened: %s. Check its name and folder.", path,
			strerror(errno));
	FemResult result = read_all(stream, path, out);
	fclose(stream);
	if (result != FEM_OK)
		fem_file_free(out);
	return result;
}

void fem_file_free(FemFileBytes *file) {
	FEM_FREE_ARRAY(file->bytes, file->capacity);
	*file = (FemFileBytes){0};
}

FemResult fem_file_write(const char *path, const void *bytes, size_t size) {
	FILE *stream = fopen(path, "wb");
	if (!stream)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be written: %s. Check its name and folder.", path,
			strerror(errno));
	bool written = fwrite(bytes, 1, size, stream) == size;
	written = fclose(stream) == 0 && written;
	if (written)
		return FEM_OK;
	remove(path); // half a file is worse than none
	return fem_fail(
		FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be written: %s. Is the disk full?", path, strerror(errno));
}
