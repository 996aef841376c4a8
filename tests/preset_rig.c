#include "preset_rig.h"

#include "fem_bake/files/file_bytes.h"
#include "fem_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const FemPreset *preset, const char *name) {
	char line[64];
	snprintf(line, sizeof line, "\n%s = ", name);
	const char *at = strstr(preset->text, line);
	return at ? at + strlen(line) : NULL;
}

static float number_of(const FemPreset *preset, const char *name, float otherwise) {
	const char *value = value_of(preset, name);
	return value ? strtof(value, NULL) : otherwise;
}

// A number in the description; 0 without.
static double stated_after(const FemPreset *preset, const char *words) {
	const char *at = strstr(preset->text, words);
	return at ? strtod(at + strlen(words), NULL) : 0.0;
}

// As MaterialResource reads it: ductility is the plastic strain that it takes up.
static FemMaterialDef def_of(const FemPreset *preset) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = number_of(preset, "stiffness", def.young_modulus);
	def.poisson_ratio = number_of(preset, "poisson_ratio", 0.3f);
	def.density = number_of(preset, "density", def.density);
	def.stiffness_damping = number_of(preset, "damping", 0.002f);
	def.plasticity = (FemPlasticity)(int)number_of(preset, "plasticity_mode", 0.0f);
	def.yield_strain = number_of(preset, "yield_strain", 0.0f);
	def.max_plastic_strain = number_of(preset, "ductility", 0.0f);
	def.crease_strength = number_of(preset, "crease_strength", 1.0f);
	def.crease_angle = number_of(preset, "crease_angle", 0.2f);
	def.breakable = true;
	def.toughness = number_of(preset, "toughness", 0.0f);
	def.toughness_variation = number_of(preset, "toughness_variation", 0.1f);
	def.crack_speed = number_of(preset, "crack_speed", def.crack_speed);
	def.fragment_size = number_of(preset, "fragment_size", 0.0f);
	def.fragment_variation = number_of(preset, "fragment_variation", 0.0f);
	def.impact_toughness_ratio = number_of(preset, "impact_toughness_ratio", 1.0f);
	def.friction = number_of(preset, "friction", def.friction);
	def.restitution = number_of(preset, "restitution", 0.0f);
	def.max_iterations = (int32_t)number_of(preset, "max_solver_iterations", (float)def.max_iterations);
	def.prestress = number_of(preset, "prestress", 0.0f);
	def.grain_ratio = number_of(preset, "grain_ratio", 1.0f);
	bool is_soft = def.young_modulus <= 1e7f || def.grain_ratio > 1.0f || def.prestress > 0.0f;
	def.impact_modulus =
		number_of(preset, "impact_stiffness", is_soft ? 0.0f : fmaxf(def.density * 1.6e7f, def.young_modulus));
	def.mortar_strength = number_of(preset, "mortar_strength", 1.0f);
	def.course_height = number_of(preset, "course_height", 0.081f);
	def.grain_stiffness_ratio = number_of(preset, "grain_stiffness_ratio", 1.0f);
	return def;
}

bool fem_preset_load(const char *name, FemPreset *out) {
	char path[256];
	FemFileBytes file;
	snprintf(path, sizeof path, "addons/fem_destruction/materials/%s.tres", name);
	if (!fem_test_check(
			fem_file_read(path, &file) == FEM_OK, __FILE__, __LINE__, "%s is not there: run from the root", path))
		return false;
	*out = (FemPreset){0};
	const char *bytes = (const char *)file.bytes;
	size_t begin = 0;
	while (begin + 10 < file.size && memcmp(bytes + begin, "[resource]", 10) != 0)
		begin++;
	size_t size = file.size - begin < sizeof out->text - 1 ? file.size - begin : sizeof out->text - 1;
	memcpy(out->text, bytes + begin, size);
	fem_file_free(&file);
	out->def = def_of(out);
	const char *stated = strstr(out->text, "strain at break "), *along = strstr(out->text, "across the grain and ");
	out->strain = stated ? strtod(stated + strlen("strain at break "), NULL) / 100.0 : 0.0;
	out->breaks_from = stated_after(out, "breaks from ");
	out->whole_from = fmax(stated_after(out, "not from "), stated_after(out, "not break from "));
	out->is_block = strstr(out->text, "A block of ") != NULL;
	out->through_speed = stated_after(out, "; 10 kg at ");
	out->stopped_mass = out->through_speed > 0.0 ? stated_after(out, "slab of 5 cm, and ") : 10.0;
	char words[64];
	snprintf(words, sizeof words, out->through_speed > 0.0 ? "and %g kg at " : "stops %g kg at ", out->stopped_mass);
	out->stopped_speed = stated_after(out, words);
	out->strain_along = along ? strtod(along + strlen("across the grain and "), NULL) / 100.0 : 0.0;
	return fem_test_check(out->strain > 0.0, __FILE__, __LINE__, "%s does not state its strain at break", name);
}
