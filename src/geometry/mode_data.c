#include "geometry/mode_data.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static size_t shape_count(const FemModes *modes) {
	return 3 * (size_t)modes->node_count * (size_t)modes->capacity + 1;
}

bool fem_modes_reserve(FemModes *modes, int32_t node_count, int32_t mode_count) {
	*modes = (FemModes){.node_count = node_count, .mode_count = mode_count, .capacity = mode_count};
	modes->eigenvalues = FEM_ALLOC_ARRAY(double, mode_count + 1);
	modes->radiation = FEM_ALLOC_ARRAY(float, mode_count + 1);
	modes->shapes = FEM_ALLOC_ARRAY(float, shape_count(modes));
	if (modes->eigenvalues && modes->radiation && modes->shapes)
		return true;
	fem_modes_free(modes);
	return false;
}

void fem_modes_free(FemModes *modes) {
	FEM_FREE_ARRAY(modes->eigenvalues, modes->capacity + 1);
	FEM_FREE_ARRAY(modes->radiation, modes->capacity + 1);
	FEM_FREE_ARRAY(modes->shapes, shape_count(modes));
	*modes = (FemModes){0};
}

FemResult fem_modes_copy(const FemModes *modes, FemModes *out) {
	*out = (FemModes){0};
	if (!modes || modes->mode_count < 0 || modes->node_count < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There are no modes to copy: compute some.");
	if (!fem_modes_reserve(out, modes->node_count, modes->mode_count))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a copy of modes.");
	size_t count = (size_t)modes->mode_count;
	if (count > 0) {
		memcpy(out->eigenvalues, modes->eigenvalues, sizeof *out->eigenvalues * count);
		memcpy(out->radiation, modes->radiation, sizeof *out->radiation * count);
		memcpy(out->shapes, modes->shapes, 3 * sizeof *out->shapes * count * (size_t)modes->node_count);
	}
	out->rigid_count = modes->rigid_count;
	out->material = modes->material;
	return FEM_OK;
}

double fem_mode_frequency(const FemModes *modes, int32_t mode) {
	return mode >= 0 && mode < modes->mode_count ? sqrt(modes->eigenvalues[mode]) / FEM_CIRCLE : 0.0;
}

static bool is_factor(float factor) {
	return factor > 0.0f && factor < INFINITY;
}

FemResult fem_modes_scale(FemModes *modes, float modulus_factor, float density_factor, float size_factor) {
	if (!is_factor(modulus_factor) || !is_factor(density_factor) || !is_factor(size_factor))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Modes are scaled by factors above 0, not by %g, %g and %g.",
			(double)modulus_factor, (double)density_factor, (double)size_factor);
	double modulus = (double)modulus_factor, density = (double)density_factor, size = (double)size_factor;
	double eigenvalue = modulus / (density * size * size), shape = 1.0 / sqrt(density * size * size * size);
	for (int32_t k = 0; k < modes->mode_count; k++) {
		modes->eigenvalues[k] *= eigenvalue;
		modes->radiation[k] = (float)((double)modes->radiation[k] * sqrt(eigenvalue) * shape * size * size);
	}
	size_t count = 3 * (size_t)modes->node_count * (size_t)modes->mode_count;
	for (size_t i = 0; i < count; i++)
		modes->shapes[i] = (float)((double)modes->shapes[i] * shape);
	modes->material.young_modulus *= modulus_factor;
	modes->material.density *= density_factor;
	return FEM_OK;
}

// kg^-1: the largest over the nodes, the place where a force moves the mode most.
static double largest_square(const FemModes *modes, int32_t mode) {
	double largest = 0.0;
	for (int32_t i = 0; i < modes->node_count; i++) {
		const float *w = fem_mode_shape(modes, mode, i);
		double square = (double)w[0] * (double)w[0] + (double)w[1] * (double)w[1] + (double)w[2] * (double)w[2];
		largest = square > largest ? square : largest;
	}
	return largest;
}

static void move_mode(FemModes *modes, int32_t from, int32_t to) {
	if (from == to)
		return;
	modes->eigenvalues[to] = modes->eigenvalues[from];
	modes->radiation[to] = modes->radiation[from];
	memcpy(fem_mode_shape(modes, to, 0), fem_mode_shape(modes, from, 0),
		sizeof *modes->shapes * 3 * (size_t)modes->node_count);
}

int32_t fem_modes_discard(FemModes *modes, float frequency_max, float displacement_min, float force_max) {
	int32_t kept = 0;
	bool by_force = displacement_min > 0.0f && force_max > 0.0f;
	for (int32_t k = 0; k < modes->mode_count; k++) {
		bool too_high = frequency_max > 0.0f && fem_mode_frequency(modes, k) > (double)frequency_max;
		bool too_small =
			by_force && largest_square(modes, k) / modes->eigenvalues[k] * (double)force_max < (double)displacement_min;
		if (!too_high && !too_small)
			move_mode(modes, k, kept++);
	}
	modes->mode_count = kept;
	return kept;
}
