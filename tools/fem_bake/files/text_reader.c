#include "fem_bake/files/text_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE_SIZE 200  // bytes of a sentence about a fault, without file name and line
#define INT_DIGITS_MAX 18  // fits int64_t without a check of each step
#define REAL_DIGITS_MAX 19 // fits uint64_t
#define EXPONENT_CLAMP 400 // 10^400 x 1 is past the range of double, and so is 10^-400 x 2^64

static bool is_blank(char c) {
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

static char lower(char c) {
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

FemText fem_text(const char *name, const void *data, size_t size, char comment) {
	const char *bytes = data;
	return (FemText){
		.name = name, .start = bytes, .at = bytes, .end = size ? bytes + size : bytes, .line = 1, .comment = comment};
}

// ---- words

// To the next word or line end; false at the end of the text.
static bool skip_blanks(FemText *text) {
	while (text->at < text->end && is_blank(*text->at))
		text->at++;
	if (text->at < text->end && text->comment && *text->at == text->comment) {
		while (text->at < text->end && *text->at != '\n')
			text->at++;
	}
	return text->at < text->end;
}

static void take_word(FemText *text, FemToken *out) {
	out->start = text->at;
	while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n' &&
		!(text->comment && *text->at == text->comment))
		text->at++;
	out->length = (int32_t)(text->at - out->start);
}

void fem_text_skip_blank_lines(FemText *text) {
	while (skip_blanks(text) && *text->at == '\n') {
		text->at++;
		text->line++;
	}
}

bool fem_text_token(FemText *text, FemToken *out) {
	*out = (FemToken){"", 0};
	fem_text_skip_blank_lines(text);
	if (text->at == text->end)
		return false;
	take_word(text, out);
	return true;
}

bool fem_text_token_in_line(FemText *text, FemToken *out) {
	*out = (FemToken){"", 0};
	if (!skip_blanks(text) || *text->at == '\n')
		return false;
	take_word(text, out);
	return true;
}

FemToken fem_text_rest_of_line(FemText *text) {
	while (text->at < text->end && is_blank(*text->at))
		text->at++;
	FemToken rest = {text->at, 0};
	while (text->at < text->end && *text->at != '\n')
		text->at++;
	const char *last = text->at;
	while (last > rest.start && is_blank(last[-1]))
		last--;
	rest.length = (int32_t)(last - rest.start);
	if (text->at < text->end) {
		text->at++;
		text->line++;
	}
	return rest;
}

bool fem_token_is(FemToken token, const char *word) {
	return strlen(word) == (size_t)token.length && memcmp(token.start, word, (size_t)token.length) == 0;
}

bool fem_token_is_like(FemToken token, const char *word) {
	if (strlen(word) != (size_t)token.length)
		return false;
	for (int32_t i = 0; i < token.length; i++) {
		if (lower(token.start[i]) != lower(word[i]))
			return false;
	}
	return true;
}

void fem_token_copy(FemToken token, char *out, size_t size) {
	size_t length = (size_t)token.length < size - 1 ? (size_t)token.length : size - 1;
	memcpy(out, token.start, length);
	out[length] = '\0';
}

// ---- numbers

bool fem_token_int(FemToken token, int64_t *out) {
	int32_t i = token.length > 0 && (token.start[0] == '-' || token.start[0] == '+') ? 1 : 0;
	int64_t value = 0;
	if (i == token.length || token.length - i > INT_DIGITS_MAX)
		return false;
	for (; i < token.length; i++) {
		if (!is_digit(token.start[i]))
			return false;
		value = value * 10 + (token.start[i] - '0');
	}
	*out = token.start[0] == '-' ? -value : value;
	return true;
}

typedef struct Decimal {
	uint64_t mantissa;
	int64_t exponent; // value = mantissa x 10^exponent
	int32_t length;   // characters read
} Decimal;

// Digits with at most one point. Digits past REAL_DIGITS_MAX only move the exponent.
static bool read_digits(FemToken token, int32_t at, Decimal *out) {
	int32_t kept = 0, seen = 0;
	bool fraction = false;
	*out = (Decimal){0};
	for (; at < token.length; at++) {
		char c = token.start[at];
		if (c == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (!is_digit(c))
			break;
		seen++;
		if (kept < REAL_DIGITS_MAX) {
			out->mantissa = out->mantissa * 10 + (uint64_t)(c - '0');
			kept += out->mantissa != 0;
			out->exponent -= fraction;
		} else {
			out->exponent += !fraction;
		}
	}
	out->length = at;
	return seen > 0;
}

static bool read_exponent(FemToken token, Decimal *decimal) {
	if (decimal->length == token.length)
		return true;
	char c = lower(token.start[decimal->length]);
	int32_t i = decimal->length + 1;
	if (c != 'e' && c != 'd')
		return false;
	bool negative = i < token.length && token.start[i] == '-';
	i += i < token.length && (token.start[i] == '-' || token.start[i] == '+');
	if (i == token.length)
		return false;
	int64_t value = 0;
	for (; i < token.length; i++) {
		if (!is_digit(token.start[i]))
			return false;
		// Digits may number up to 2^31, so the exponent that undoes them must be kept that far.
		value = value < ((int64_t)1 << 40) ? value * 10 + (token.start[i] - '0') : value;
	}
	decimal->exponent += negative ? -value : value;
	return true;
}

// The mantissa is split in two parts that double holds exactly, so that the one rounding of each is all that is lost.
static double scale_decimal(uint64_t mantissa, int64_t exponent) {
	// Powers of ten that a double holds exactly.
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
		1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	bool large = mantissa >> 53 != 0;
	double high = (double)(large ? mantissa & ~(uint64_t)0x7ff : mantissa);
	double low = (double)(large ? mantissa & 0x7ff : 0);
	int64_t e = exponent > EXPONENT_CLAMP ? EXPONENT_CLAMP : exponent < -EXPONENT_CLAMP ? -EXPONENT_CLAMP : exponent;
	for (; e > 22; e -= 22)
		high *= 1e22, low *= 1e22;
	for (; e < -22; e += 22)
		high /= 1e22, low /= 1e22;
	return e >= 0 ? high * powers[e] + low * powers[e] : high / powers[-e] + low / powers[-e];
}

bool fem_token_real(FemToken token, double *out) {
	Decimal decimal;
	int32_t sign = token.length > 0 && (token.start[0] == '-' || token.start[0] == '+') ? 1 : 0;
	if (!read_digits(token, sign, &decimal) || !read_exponent(token, &decimal))
		return false;
	double value = scale_decimal(decimal.mantissa, decimal.exponent);
	*out = sign && token.start[0] == '-' ? -value : value;
	return isfinite(value);
}

// ---- failure

FemResult fem_text_fail(const FemText *text, FemResult result, const char *format, ...) {
	char sentence[SENTENCE_SIZE];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	return fem_fail(result, "%.60s, line %d: %s", text->name, text->line, sentence);
}

static FemResult fail_number(const FemText *text, FemToken token, const char *what) {
	char word[40];
	if (token.length == 0)
		return fem_text_fail(
			text, FEM_ERROR_FORMAT, "the file ends where %s should be: it is cut short, export it again.", what);
	fem_token_copy(token, word, sizeof word);
	for (char *c = word; *c; c++)
		*c = *c < ' ' || *c > '~' ? '?' : *c;
	return fem_text_fail(text, FEM_ERROR_FORMAT,
		"\"%s\" stands where %s should be: correct the number or export the file again.", word, what);
}

FemResult fem_text_int(FemText *text, const char *what, int64_t *out) {
	FemToken token;
	if (fem_text_token(text, &token) && fem_token_int(token, out))
		return FEM_OK;
	return fail_number(text, token, what);
}

FemResult fem_text_real(FemText *text, const char *what, double *out) {
	FemToken token;
	if (fem_text_token(text, &token) && fem_token_real(token, out))
		return FEM_OK;
	return fail_number(text, token, what);
}
