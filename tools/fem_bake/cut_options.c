#include "fem_bake/cut_options.h"

#include "fem_constants.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { NUMBER, WHOLE, VECTOR, IMPACT } Kind;

typedef struct Option {
	const char *name, *value;
	Kind kind;
	size_t place; // in FemCutDef
	double low, high;
	const char *help;
} Option;

#define PLACE(field) offsetof(FemCutDef, field)
static const Option options[] = {
	{"--seed", "N", WHOLE, PLACE(seed), 0.0, 4294967295.0, "another one, other pieces; default 0"},
	{"--pieces", "N", WHOLE, PLACE(splinter_count), 0.0, 1e9, "wanted; default by --piece-size"},
	{"--piece-size", "D", NUMBER, PLACE(splinter_size), 0.0, FEM_REST_MAX,
		"m, mean; default: clearly smaller than the tets"},
	{"--triangle-max", "N", WHOLE, PLACE(triangle_max), 0.0, 1e9,
		"of all pieces beyond those of the mesh; default 120000"},
	{"--roughness", "X", NUMBER, PLACE(roughness), 0.0, 1.0, "of the cuts, 0..1; default 0.5"},
	{"--unevenness", "X", NUMBER, PLACE(unevenness), 0.0, 1.0, "voronoi, glass: how sizes differ, 0..1; default 0.5"},
	{"--grain", "X,Y,Z", VECTOR, PLACE(grain), -FEM_REST_MAX, FEM_REST_MAX,
		"wood: along the fibres; brick: up; glass: through the pane; default by the shape"},
	{"--impact", "X,Y,Z", IMPACT, PLACE(impacts), -FEM_REST_MAX, FEM_REST_MAX,
		"m, glass: where cracks run from; may be given several times"},
	{"--section-width", "D", NUMBER, PLACE(section_width), 0.0, FEM_REST_MAX, "m, wood: mean, across the grain"},
	{"--section-height", "D", NUMBER, PLACE(section_height), 0.0, FEM_REST_MAX,
		"m, wood: mean, across grain and width"},
	{"--section-length", "D", NUMBER, PLACE(section_length), 0.0, FEM_REST_MAX,
		"m, wood: mean, along the grain; default 8 widths"},
	{"--random-width", "X", NUMBER, PLACE(random_width), 0.0, 1.0, "wood: how widths differ, 0..1; default 0.4"},
	{"--random-height", "X", NUMBER, PLACE(random_height), 0.0, 1.0, "wood: how heights differ, 0..1; default 0.4"},
	{"--horizontal-frequency", "N", WHOLE, PLACE(horizontal_frequency), 1.0, 8.0,
		"wood: teeth across an end; default 3"},
	{"--horizontal-amplitude", "X", NUMBER, PLACE(horizontal_amplitude), 0.0, 1.0,
		"wood: length of teeth in lengths of a section; default 0.35"},
	{"--vertical-frequency", "N", WHOLE, PLACE(vertical_frequency), 0.0, 8.0, "wood: kinks along a side; default 0"},
	{"--vertical-amplitude", "X", NUMBER, PLACE(vertical_amplitude), 0.0, 1.0,
		"wood: depth of kinks in widths of a section; default 0.2"},
	{"--brick", "L,H,D", VECTOR, PLACE(brick_size), 1e-4, FEM_REST_MAX, "m, size of a brick; default 0.24,0.071,0.115"},
	{"--mortar", "D", NUMBER, PLACE(mortar), 0.0, FEM_REST_MAX, "m, joints between bricks; default 0.01"},
	{"--broken", "X", NUMBER, PLACE(broken_share), 0.0, 1.0, "share of bricks that break in two; default 0.3"},
};
#define OPTION_COUNT (sizeof options / sizeof *options)

static const char *const pattern_names[FEM_PATTERN_COUNT] = {"none", "voronoi", "glass", "wood", "brick", "surfaces"};

void fem_cut_options_help(void) {
	printf("\nSplinters, for bodies that break:\n"
		   "  --pattern P      none, voronoi (stone, concrete), glass, wood, brick, or surfaces (the artist's own\n"
		   "                   pieces: each closed shell, also where shells touch); default none\n");
	for (size_t n = 0; n < OPTION_COUNT; n++) {
		char words[48];
		snprintf(words, sizeof words, "%s %s", options[n].name, options[n].value);
		printf(strlen(words) < 17 ? "  %-16s %s\n" : "  %s\n                   %s\n", words, options[n].help);
	}
}

static bool read_number(const char **text, const Option *option, double *out) {
	char *end = NULL;
	*out = strtod(*text, &end);
	bool good = end != *text && *out >= option->low && *out <= option->high &&
		(option->kind != WHOLE || *out == (double)(long long)*out);
	*text = end;
	return good;
}

static bool read_vector(const char *text, const Option *option, FemVec3 *out) {
	double at[3];
	for (int n = 0; n < 3; n++) {
		if (!read_number(&text, option, &at[n]) || *text != (n < 2 ? ',' : '\0'))
			return false;
		text++;
	}
	*out = (FemVec3){(float)at[0], (float)at[1], (float)at[2]};
	return true;
}

static bool read_option(const Option *option, const char *text, FemCutDef *out) {
	char *to = (char *)out + option->place;
	double number;
	if (option->kind == VECTOR)
		return read_vector(text, option, (FemVec3 *)(void *)to);
	if (option->kind == IMPACT)
		return out->impact_count < FEM_CUT_IMPACTS_MAX && read_vector(text, option, &out->impacts[out->impact_count]) &&
			++out->impact_count > 0;
	if (!read_number(&text, option, &number) || *text != '\0')
		return false;
	float value = (float)number;
	uint32_t whole = (uint32_t)(long long)(option->kind == WHOLE ? number : 0.0); // as wide as int32_t
	memcpy(to, option->kind == WHOLE ? (const void *)&whole : (const void *)&value, 4);
	return true;
}

static FemOptionResult read_pattern(const char *value, FemCutDef *out) {
	for (int n = 0; value && n < FEM_PATTERN_COUNT; n++)
		if (strcmp(value, pattern_names[n]) == 0) {
			out->pattern = (FemPattern)n;
			return FEM_OPTION_GOOD;
		}
	fprintf(stderr, "fem_bake: --pattern needs none, voronoi, glass, wood, brick or surfaces, not \"%s\".\n",
		value ? value : "");
	return FEM_OPTION_BAD;
}

FemOptionResult fem_cut_option(const char *name, const char *value, FemCutDef *out) {
	if (strcmp(name, "--pattern") == 0)
		return read_pattern(value, out);
	for (size_t n = 0; n < OPTION_COUNT; n++) {
		if (strcmp(name, options[n].name) != 0)
			continue;
		if (value && read_option(&options[n], value, out))
			return FEM_OPTION_GOOD;
		fprintf(stderr, "fem_bake: %s needs %s from %.10g to %.10g, not \"%s\".\n", name,
			options[n].kind == WHOLE        ? "a whole number"
				: options[n].kind == NUMBER ? "a number"
											: "three numbers with commas between, each",
			options[n].low, options[n].high, value ? value : "");
		return FEM_OPTION_BAD;
	}
	return FEM_OPTION_UNKNOWN;
}
