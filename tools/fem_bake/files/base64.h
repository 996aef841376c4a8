// Base64 as VTK writes it: blanks are passed over, and padding may stand within the text where two parts were encoded
// apart.
#ifndef FEM_BAKE_BASE64_H
#define FEM_BAKE_BASE64_H

#include <stddef.h>
#include <stdint.h>

// Decodes until `capacity` bytes are written, the text ends or a foreign character comes; returns the bytes written.
size_t fem_base64_decode(const char *text, const char *end, uint8_t *out, size_t capacity);

#endif
