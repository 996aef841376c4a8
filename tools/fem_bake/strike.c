#include "fem_bake/strike.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vec.h"
#include "fem_sound.h"
#include "topology/surface.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_RATE 48000  // Hz, what sound cards have
#define PEAK 0.9f          // of full scale, in a file
#define IMPULSE_SMALL 1e-6 // N s: so that the mixer's limit is far; the file is scaled afterwards

// ---- modes

static void print_modes(const FemModes *modes, int32_t count) {
	for (int32_t line = 1; line <= count; line++) {
		int32_t mode = line - 1 - modes->rigid_count;
		if (mode >= modes->mode_count)
			break;
		printf(mode < 0 ? "mode %d 0 Hz\n" : "mode %d %.1f Hz\n", line, fem_mode_frequency(modes, mode));
	}
}

FemResult fem_bake_modes(
	const FemModeOptions *options, float density, FemProgress *progress, void *context, FemBakedMesh *mesh) {
	const FemTetArrays *tets = &mesh->tet_mesh;
	FemModeMaterial material = {options->young, options->poisson, density};
	FemModesDef def = fem_default_modes_def();
	def.node_count = tets->node_count;
	def.node_positions = tets->nodes;
	def.tet_count = tets->tet_count;
	def.tets = tets->tets;
	def.tet_regions = tets->tet_regions;
	def.tet_plates = tets->tet_plates;
	def.materials = &material;
	def.material_count = 1;
	def.mode_count = options->count;
	def.frequency_max = 0.0f;
	def.progress = progress;
	def.progress_context = context;
	fem_modes_free(&mesh->modes);
	FemResult result = fem_modes_compute(&def, &mesh->modes);
	if (result != FEM_OK)
		return result;
	if (mesh->modes.mode_count < options->count)
		fprintf(stderr, "fem_bake: warning: the mesh has %d modes and no more: bake it with more --elements.\n",
			mesh->modes.mode_count);
	print_modes(&mesh->modes, options->count);
	return FEM_OK;
}

// ---- strike

static int32_t nearest_node(const FemTetArrays *mesh, FemVec3 point) {
	int32_t best = 0;
	float least = INFINITY;
	for (int32_t i = 0; i < mesh->node_count; i++) {
		FemVec3 d = fem_vec3_sub(mesh->nodes[i], point);
		float distance = fem_vec3_dot(d, d);
		if (distance < least) {
			least = distance;
			best = i;
		}
	}
	return best;
}

// Against the surface at a node: minus the sum of the areas of the outer faces around it. False without memory.
static bool blow_direction(const FemTetArrays *mesh, int32_t node, FemVec3d *out) {
	FemSurface surface = {0};
	int32_t *same = FEM_ALLOC_ARRAY(int32_t, mesh->node_count);
	for (int32_t i = 0; same && i < mesh->node_count; i++)
		same[i] = i;
	bool good = same && fem_surface_create(&surface, same, mesh->node_count, mesh->tets, mesh->tet_count);
	FemVec3d sum = {0.0, 0.0, 0.0};
	for (int32_t f = 0; good && f < surface.count; f++) {
		const int32_t *tet = mesh->tets + 4 * (size_t)(surface.faces[f] / 4),
					  *corners = fem_face_corners[surface.faces[f] % 4];
		FemVec3d p[3];
		bool touches = false;
		for (int v = 0; v < 3; v++) {
			p[v] = fem_vec3d_from(mesh->nodes[tet[corners[v]]]);
			touches = touches || tet[corners[v]] == node;
		}
		if (touches)
			sum = fem_vec3d_add(sum, fem_vec3d_cross(fem_vec3d_sub(p[1], p[0]), fem_vec3d_sub(p[2], p[0])));
	}
	double length = sqrt(fem_vec3d_dot(sum, sum));
	*out = length > 0.0 ? fem_vec3d_scale(sum, -1.0 / length) : (FemVec3d){0.0, -1.0, 0.0};
	fem_surface_free(&surface);
	FEM_FREE_ARRAY(same, mesh->node_count);
	return good;
}

static void scale_to_peak(float *samples, int32_t count) {
	float peak = 0.0f;
	for (int32_t n = 0; n < count; n++)
		peak = fabsf(samples[n]) > peak ? fabsf(samples[n]) : peak;
	for (int32_t n = 0; n < count && peak > 0.0f; n++)
		samples[n] *= PEAK / peak;
}

static bool render(const FemInstrument *instrument, const FemStrike *strike, float *out, int32_t count) {
	float kicks[FEM_VOICE_MODES_MAX];
	FemMixer *mixer = fem_mixer_create(1, SAMPLE_RATE);
	int32_t modes = fem_instrument_strike(instrument, strike, kicks, FEM_VOICE_MODES_MAX);
	bool good = mixer && fem_mixer_set_voice(mixer, 0, instrument, 1.0f) && fem_mixer_strike(mixer, 0, kicks, modes);
	if (good)
		fem_mixer_mix(mixer, out, count, 1.0f);
	fem_mixer_destroy(mixer);
	return good;
}

FemResult fem_bake_strike(const FemModeOptions *options, const FemBakedMesh *mesh) {
	FemInstrumentDef def = fem_default_instrument_def();
	def.stiffness_damping = options->damping[0];
	def.mass_damping = options->damping[1];
	def.mode_max = FEM_VOICE_MODES_MAX;
	FemVec3d direction;
	int32_t count = (int32_t)((double)options->seconds * SAMPLE_RATE);
	FemStrike strike = {.weights = {1.0f}, .duration = options->duration};
	strike.nodes[0] = nearest_node(&mesh->tet_mesh, options->strike);
	float *samples = FEM_ALLOC_ARRAY(float, count);
	FemInstrument *instrument = fem_instrument_create(&mesh->modes, &def);
	bool good = samples && instrument && blow_direction(&mesh->tet_mesh, strike.nodes[0], &direction);
	if (good) {
		strike.impulse = fem_vec3d_to_vec3(fem_vec3d_scale(direction, IMPULSE_SMALL));
		good = render(instrument, &strike, samples, count);
	}
	FemResult result =
		good ? FEM_OK : fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the sound: close other programs.");
	if (good) {
		scale_to_peak(samples, count);
		result = fem_write_wav(options->wav_path, samples, count, SAMPLE_RATE);
	}
	fem_instrument_destroy(instrument);
	FEM_FREE_ARRAY(samples, count);
	return result;
}

// ---- file

static void put(FILE *file, uint32_t value, int bytes) {
	for (int i = 0; i < bytes; i++)
		fputc((int)(value >> 8 * i & 0xff), file);
}

FemResult fem_write_wav(const char *path, const float *samples, int32_t count, int32_t sample_rate) {
	FILE *file = fopen(path, "wb");
	if (!file)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be written: %s. Check its name and folder.", path,
			strerror(errno));
	fputs("RIFF", file);
	put(file, 36 + 2 * (uint32_t)count, 4);
	fputs("WAVEfmt ", file);
	put(file, 16, 4);
	put(file, 1, 2); // whole numbers
	put(file, 1, 2); // one channel
	put(file, (uint32_t)sample_rate, 4);
	put(file, 2 * (uint32_t)sample_rate, 4);
	put(file, 2, 2);
	put(file, 16, 2);
	fputs("data", file);
	put(file, 2 * (uint32_t)count, 4);
	for (int32_t n = 0; n < count; n++)
		put(file, (uint32_t)(int32_t)lrintf(fminf(fmaxf(samples[n], -1.0f), 1.0f) * 32767.0f), 2);
	bool failed = ferror(file) != 0;
	if (fclose(file) == 0 && !failed)
		return FEM_OK;
	remove(path);
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%.100s cannot be written: is the disk full?", path);
}
