// The command line of the bake: a render mesh (or a tet mesh of another program) in, a baked mesh out.
#include "fem_bake/bake.h"
#include "fem_bake/cut_options.h"
#include "fem_baking.h"
#include "fem_constants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE 2          // bad arguments; 1 is a bake that failed
#define EXIT_CANCELLED 130    // as shells have it
#define DENSITY_USUAL 1000.0f // kg/m^3: FemMaterialDef's default ...
#define DENSITY_MIN 1e-3      // ... and what it clamps to ...
#define DENSITY_MAX 1e6       // ... at both ends

static void print_help(void) {
	printf("usage: fem_bake IN OUT [options]\n\n"
		   "  IN               .obj or .stl: filled with tets, every vertex tied to its tet;\n"
		   "                   .msh, .vtk, .vtu, .node or .ele: taken as it is\n"
		   "  OUT              the baked mesh, for DestructibleMesh.load_baked() (usually .femmesh)\n"
		   "  --elements N     tets wanted, %d..%d, default 1000\n"
		   "  --layers N       layers of tets through thin plates and beams, 1..16, default 1\n"
		   "  --weld D         m, vertices nearer than this are one; default 1e-6 of the size, 2e-5 to close it\n"
		   "  --thickness D    m, given to open surfaces that enclose nothing; default 0.01 of their size\n"
		   "  --wall-thickness D\n"
		   "                   m, of hollow things whose mesh is their outside alone; default 0: filled solid\n"
		   "  --regions        each object or material of the file is a material region of its own\n"
		   "  --vtk FILE       also write the tets as a legacy VTK file, to be looked at in ParaView\n"
		   "  --report         print what was found in the mesh and what was made of it\n"
		   "  --report-json    print only one JSON object: coverage_max, volume_ratio, mass, tets, parts, faults\n"
		   "  --density D      kg/m3, for that mass and for modes; default 1000\n"
		   "  --quiet          no progress\n",
		FEM_BAKE_ELEMENTS_MIN, FEM_BAKE_ELEMENTS_MAX);
	fem_cut_options_help();
	fem_mode_options_help();
	printf("\nLengths are metres. Ctrl+C cancels the bake, and nothing is written.\n"
		   "The exit code is 0, 1 when the bake failed, 2 for bad arguments, 130 when it was cancelled.\n");
}

static bool usage_error(const char *format, const char *word) {
	fprintf(stderr, "fem_bake: ");
	fprintf(stderr, format, word);
	fprintf(stderr, " See fem_bake --help.\n");
	return false;
}

// "C" is the locale of a program that sets none, so strtod() reads a point.
static bool parse_number(const char *option, const char *text, double low, double high, bool whole, double *out) {
	char *end = NULL;
	double value = text ? strtod(text, &end) : 0.0;
	if (text && end != text && *end == '\0' && value >= low && value <= high &&
		(!whole || value == (double)(long)value)) {
		*out = value;
		return true;
	}
	fprintf(stderr, "fem_bake: %s needs a %snumber from %.10g to %.10g, not \"%s\".\n", option, whole ? "whole " : "",
		low, high, text ? text : "");
	return false;
}

// An option with a value; false when there is no such option or its value is bad.
static bool parse_value(const char *name, const char *value, FemBakeOptions *out) {
	double number;
	FemOptionResult cut = fem_cut_option(name, value, &out->cut);
	if (cut != FEM_OPTION_UNKNOWN)
		return cut == FEM_OPTION_GOOD;
	FemOptionResult modes = fem_mode_option(name, value, &out->modes);
	if (modes != FEM_OPTION_UNKNOWN)
		return modes == FEM_OPTION_GOOD;
	if (strcmp(name, "--vtk") == 0) {
		out->vtk_path = value;
		return value || usage_error("%s needs a file.", name);
	}
	if (strcmp(name, "--elements") == 0) {
		bool good = parse_number(name, value, FEM_BAKE_ELEMENTS_MIN, FEM_BAKE_ELEMENTS_MAX, true, &number);
		out->elements = good ? (int32_t)number : 0;
		return good;
	}
	if (strcmp(name, "--layers") == 0) {
		bool good = parse_number(name, value, 1.0, 16.0, true, &number);
		out->layers = good ? (int32_t)number : 0;
		return good;
	}
	if (strcmp(name, "--weld") == 0 || strcmp(name, "--thickness") == 0) {
		bool good = parse_number(name, value, 0.0, FEM_REST_MAX, false, &number);
		*(name[2] == 'w' ? &out->weld : &out->thickness) = good ? (float)number : 0.0f;
		return good;
	}
	if (strcmp(name, "--wall-thickness") == 0) {
		bool good = parse_number(name, value, 0.0, FEM_REST_MAX, false, &number);
		out->wall_thickness = good ? (float)number : 0.0f;
		return good;
	}
	if (strcmp(name, "--density") == 0) {
		bool good = parse_number(name, value, DENSITY_MIN, DENSITY_MAX, false, &number);
		out->density = good ? (float)number : 0.0f;
		return good;
	}
	return usage_error("there is no option %s.", name);
}

static bool parse_options(int count, char **arguments, FemBakeOptions *out) {
	for (int i = 1; i < count; i++) {
		const char *name = arguments[i];
		if (strcmp(name, "--report") == 0)
			out->report = true;
		else if (strcmp(name, "--report-json") == 0)
			out->report_json = true;
		else if (strcmp(name, "--regions") == 0)
			out->regions = true;
		else if (strcmp(name, "--quiet") == 0)
			out->quiet = true;
		else if (name[0] == '-' && name[1] != '\0') {
			if (!parse_value(name, i + 1 < count ? arguments[i + 1] : NULL, out))
				return false;
			i++;
		} else if (!out->in_path)
			out->in_path = name;
		else if (!out->out_path)
			out->out_path = name;
		else
			return usage_error("%s is one file too many.", name);
	}
	if (!out->in_path || !out->out_path)
		return usage_error(
			"%s.", out->in_path ? "name the file to write" : "name the file to read and the file to write");
	if (out->report && out->report_json)
		return usage_error("%s is for people, --report-json for programs: name one of them.", "--report");
	if (out->report_json && out->modes.count > 0)
		return usage_error("%s prints lines of its own: leave --report-json away.", "--modes");
	if ((out->modes.wav_path != NULL) != out->modes.is_struck || (out->modes.is_struck && out->modes.count == 0))
		return usage_error("%s, --wav and --modes go together: name all three.", "--strike");
	if (strcmp(out->in_path, out->out_path) == 0)
		return usage_error("%s cannot be read and written at once.", out->in_path);
	return true;
}

static bool wants_help(int count, char **arguments) {
	for (int i = 1; i < count; i++) {
		if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0)
			return true;
	}
	return false;
}

int main(int argument_count, char **arguments) {
	FemBakeOptions options = {.elements = 1000,
		.layers = 1,
		.density = DENSITY_USUAL,
		.cut = fem_default_cut_def(),
		.modes = fem_default_mode_options()};
	if (wants_help(argument_count, arguments)) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (!parse_options(argument_count, arguments, &options))
		return EXIT_USAGE;
	options.terminal = isatty(STDERR_FILENO);
	if (fem_bake_file(&options) == FEM_OK)
		return EXIT_SUCCESS;
	if (fem_bake_was_cancelled()) {
		fprintf(stderr, "%sfem_bake: cancelled, %s was not written.\n", options.terminal && !options.quiet ? "\n" : "",
			options.out_path);
		return EXIT_CANCELLED;
	}
	const char *sentence = fem_last_error(), *slash = strrchr(options.in_path, '/');
	bool names_it = strstr(sentence, slash ? slash + 1 : options.in_path) != NULL;
	fprintf(stderr, "%sfem_bake: %s%s%s\n", options.terminal && !options.quiet ? "\n" : "",
		names_it ? "" : options.in_path, names_it ? "" : ": ", sentence);
	return EXIT_FAILURE;
}
