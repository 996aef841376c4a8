// Words and numbers of import files.
#include "fem_bake/files/base64.h"
#include "fem_bake/files/polygon.h"
#include "fem_bake/files/text_reader.h"
#include "fem_test.h"

#include <stdlib.h>

static FemToken token(const char *text) {
	return (FemToken){text, (int32_t)strlen(text)};
}

// Distance in units of the last place.
static double ulps(double a, double b) {
	double unit = nextafter(fabs(b), INFINITY) - fabs(b);
	return fabs(a - b) / unit;
}

FEM_TEST(text_reader, real_numbers_to_one_ulp) {
	static const char *plain[] = {"0", "-0", "1", "-1.5", "+2", ".5", "5.", "1e3", "1E-3", "1d2", "0.1",
		"3.14159265358979323846", "123456789012345678901234567890", "0.000000000000000000001", "1e22", "1e-22",
		"9007199254740993", "17976931348623157e5"};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		char c_form[64];
		double value = NAN;
		snprintf(c_form, sizeof c_form, "%s", plain[i]);
		for (char *c = c_form; *c; c++)
			*c = *c == 'd' ? 'e' : *c;
		FEM_CHECK(fem_token_real(token(plain[i]), &value));
		fem_test_check(
			ulps(value, strtod(c_form, NULL)) <= 1.0, __FILE__, __LINE__, "%s read as %.17g", plain[i], value);
	}
	uint64_t random = 12345;
	for (int i = 0; i < 20000; i++) {
		char text[64];
		double value = NAN;
		random = random * 6364136223846793005u + 1442695040888963407u;
		double wanted = ((double)(random >> 11) - 4503599627370496.0) * pow(10.0, (int)(random >> 3 & 15) - 20);
		snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.9e", wanted);
		FEM_CHECK(fem_token_real(token(text), &value));
		FEM_CHECK(ulps(value, strtod(text, NULL)) <= 1.0);
	}
}

FEM_TEST(text_reader, real_numbers_at_the_ends) {
	double value = NAN;
	FEM_CHECK(fem_token_real(token("1.7976931348623157e308"), &value) && ulps(value, 1.7976931348623157e308) <= 8.0);
	FEM_CHECK(fem_token_real(token("2.2250738585072014e-308"), &value) && ulps(value, 2.2250738585072014e-308) <= 8.0);
	FEM_CHECK(fem_token_real(token("1e-999999999999999999999"), &value) && value == 0.0);
	FEM_CHECK(fem_token_real(token("0e999999999999999999999"), &value) && value == 0.0);
	static const char *bad[] = {
		"", "-", ".", "e5", "1e", "1e+", "1.2.3", "nan", "inf", "-inf", "1e400", "1x", "0x10", "1,5", "--1", "1e5.5"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		fem_test_check(
			!fem_token_real(token(bad[i]), &value), __FILE__, __LINE__, "\"%s\" was taken for a number", bad[i]);
}

FEM_TEST(text_reader, whole_numbers) {
	int64_t value = 0;
	FEM_CHECK(fem_token_int(token("-42"), &value) && value == -42);
	FEM_CHECK(fem_token_int(token("+999999999999999999"), &value) && value == 999999999999999999);
	static const char *bad[] = {"", "-", "1.0", "1e3", "9999999999999999999", "12a", "- 1"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		fem_test_check(
			!fem_token_int(token(bad[i]), &value), __FILE__, __LINE__, "\"%s\" was taken for a number", bad[i]);
}

FEM_TEST(text_reader, lines_and_comments) {
	const char *bytes = "a b # c\r\n\r\n# d\n e#f\n\tg h  \r\ni";
	FemText text = fem_text("x", bytes, strlen(bytes), '#');
	FemToken word;
	FEM_CHECK(fem_text_token(&text, &word) && fem_token_is(word, "a"));
	FEM_CHECK(fem_text_token_in_line(&text, &word) && fem_token_is(word, "b"));
	FEM_CHECK(!fem_text_token_in_line(&text, &word));
	FEM_CHECK(fem_text_token(&text, &word) && fem_token_is(word, "e") && text.line == 4);
	FEM_CHECK(!fem_text_token_in_line(&text, &word));
	FEM_CHECK(fem_text_token(&text, &word) && fem_token_is_like(word, "G") && text.line == 5);
	FEM_CHECK(fem_token_is(fem_text_rest_of_line(&text), "h") && text.line == 6);
	FEM_CHECK(fem_text_token(&text, &word) && fem_token_is(word, "i"));
	FEM_CHECK(!fem_text_token(&text, &word));
}

FEM_TEST(text_reader, base64) {
	static const char *texts[] = {"", "TQ==", "TWE=", "TWFu", "T\n W F\tu", "TQ==TWE=", "TWFuT", "TWFu*TWFu"};
	static const char *wanted[] = {"", "M", "Ma", "Man", "Man", "MMa", "Man", "Man"};
	for (int i = 0; i < 8; i++) {
		uint8_t out[16];
		size_t size = fem_base64_decode(texts[i], texts[i] + strlen(texts[i]), out, sizeof out);
		FEM_CHECK(size == strlen(wanted[i]) && memcmp(out, wanted[i], size) == 0);
	}
}

// ---- polygons

static double area(const FemVec3 *p, const int32_t *t) {
	double ux = (double)p[t[1]].x - (double)p[t[0]].x, uy = (double)p[t[1]].y - (double)p[t[0]].y;
	double vx = (double)p[t[2]].x - (double)p[t[0]].x, vy = (double)p[t[2]].y - (double)p[t[0]].y;
	return 0.5 * (ux * vy - uy * vx);
}

// All triangles turn the same way and their areas add up: none lies outside.
FEM_TEST(text_reader, polygons_stay_inside) {
	static const FemVec3 arrow[] = {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {1, 1, 0}};
	static const FemVec3 comb[] = {{0, 0, 0}, {5, 0, 0}, {5, 3, 0}, {4, 3, 0}, {4, 1, 0}, {3, 1, 0}, {3, 3, 0},
		{2, 3, 0}, {2, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}};
	static const struct {
		const FemVec3 *corners;
		int32_t count;
		double area;
	} polygons[] = {{arrow, 4, 1.0}, {comb, 12, 11.0}};
	for (int i = 0; i < 2; i++) {
		int32_t triangles[30];
		double sum = 0.0;
		fem_polygon_triangulate(polygons[i].corners, polygons[i].count, triangles);
		for (int32_t t = 0; t < polygons[i].count - 2; t++) {
			FEM_CHECK(area(polygons[i].corners, triangles + 3 * t) > 0.0);
			sum += area(polygons[i].corners, triangles + 3 * t);
		}
		FEM_CHECK_NEAR(sum, polygons[i].area, 1e-9);
	}
}
