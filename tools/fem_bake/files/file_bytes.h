// A whole file in memory. Paths are given to fopen(): on Windows they are in the system's code page.
#ifndef FEM_BAKE_FILE_BYTES_H
#define FEM_BAKE_FILE_BYTES_H

#include "fem_basics.h"

#define FEM_FILE_MAX INT32_MAX // bytes: lines and offsets fit 32 bits

typedef struct FemFileBytes {
	uint8_t *bytes;
	size_t size, capacity;
} FemFileBytes;

FemResult fem_file_read(const char *path, FemFileBytes *out);
void fem_file_free(FemFileBytes *file);
FemResult fem_file_write(const char *path, const void *bytes, size_t size);

#endif
