// Words, numbers and lines of a text in memory, never past its end. The text needs no zero at its end; numbers are read
// alike in every locale.
#ifndef FEM_BAKE_TEXT_READER_H
#define FEM_BAKE_TEXT_READER_H

#include "base/error.h"

typedef struct FemText {
	const char *name; // of the file, for sentences
	const char *start, *at, *end;
	int32_t line; // of `at`, from 1; line ends are LF or CR LF
	char comment; // begins a comment that ends with its line; 0 = none
} FemText;

typedef struct FemToken {
	const char *start;
	int32_t length;
} FemToken;

FemText fem_text(const char *name, const void *data, size_t size, char comment);

bool fem_text_token(FemText *text, FemToken *out);         // the next word, over line ends; false at the end
bool fem_text_token_in_line(FemText *text, FemToken *out); // the next word of this line; false at its end
FemToken fem_text_rest_of_line(FemText *text);             // without blanks around it; goes to the next line
void fem_text_skip_blank_lines(FemText *text);             // to the next line that holds a word, or to the end

// The next word as a number, or FEM_ERROR_FORMAT with a sentence that names file, line and `what` was to come.
FemResult fem_text_int(FemText *text, const char *what, int64_t *out);
FemResult fem_text_real(FemText *text, const char *what, double *out);

// Stores "FILE, line N: ..." and returns the result.
FemResult fem_text_fail(const FemText *text, FemResult result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool fem_token_is(FemToken token, const char *word);
bool fem_token_is_like(FemToken token, const char *word);    // upper and lower case are the same
void fem_token_copy(FemToken token, char *out, size_t size); // cut to fit, always ended by a zero

bool fem_token_int(FemToken token, int64_t *out); // up to 18 digits
// A finite decimal number, also with Fortran's exponent d. To 1 ulp of double for 10^-22..10^22 times up to 19 digits,
// to 8 ulp beyond: geometry becomes float. Not strtod(), which reads a comma for the point where the locale says so.
bool fem_token_real(FemToken token, double *out);

#endif
