#include "fem_bake/files/base64.h"

#include <stdbool.h>

// Values of characters beyond the 64 digits.
#define PADDING 64
#define BLANK 65
#define FOREIGN 66

static unsigned value_of(char c) {
	if (c >= 'A' && c <= 'Z')
		return (unsigned)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (unsigned)(c - 'a') + 26;
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0') + 52;
	if (c == '+' || c == '/')
		return c == '+' ? 62 : 63;
	if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
		return BLANK;
	return c == '=' ? PADDING : FOREIGN;
}

// The next 4 characters; returns the bytes they hold (0..3), -1 when there are no more.
static int decode_group(const char **text, const char *end, uint8_t out[3]) {
	uint32_t bits = 0;
	int characters = 0, padding = 0;
	while (characters < 4) {
		unsigned value = *text < end ? value_of(*(*text)++) : FOREIGN;
		if (value == FOREIGN)
			return -1;
		if (value == BLANK)
			continue;
		padding += value == PADDING;
		bits = bits << 6 | (value & 63);
		characters++;
	}
	out[0] = (uint8_t)(bits >> 16);
	out[1] = (uint8_t)(bits >> 8);
	out[2] = (uint8_t)bits;
	return padding > 2 ? -1 : 3 - padding;
}

size_t fem_base64_decode(const char *text, const char *end, uint8_t *out, size_t capacity) {
	size_t written = 0;
	uint8_t group[3];
	while (written < capacity) {
		int count = decode_group(&text, end, group);
		if (count < 0)
			break;
		for (int i = 0; i < count && written < capacity; i++)
			out[written++] = group[i];
	}
	return written;
}
