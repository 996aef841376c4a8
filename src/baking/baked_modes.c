// Modes in a baked mesh: 16 bits a number, since nobody hears or sees more.
#include "baking/baked_modes.h"

#include "baking/baked_reader.h"
#include "baking/baked_writer.h"
#include "geometry/mode_data.h"

#define SHAPE_STEPS 32767.0 // of 16 bits on either side of 0

static float largest_entry(const FemModes *modes, int32_t mode) {
	const float *shape = fem_mode_shape(modes, mode, 0);
	float largest = 0.0f;
	for (int64_t i = 0; i < 3 * (int64_t)modes->node_count; i++)
		largest = fabsf(shape[i]) > largest ? fabsf(shape[i]) : largest;
	return largest;
}

static void put_double(FemBakedWriter *writer, double value) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_uint(writer, bits, 8);
}

void fem_baked_write_modes(FemBakedWriter *writer, const FemModes *modes) {
	if (modes->mode_count == 0)
		return;
	const float material[3] = {modes->material.young_modulus, modes->material.poisson_ratio, modes->material.density};
	begin_section_with(writer, FEM_TAG_MODES, 0);
	put_uint(writer, (uint32_t)modes->mode_count, 4);
	put_uint(writer, (uint32_t)modes->rigid_count, 4);
	put_floats(writer, material, 3);
	for (int32_t k = 0; k < modes->mode_count; k++) {
		const float *shape = fem_mode_shape(modes, k, 0);
		float largest = largest_entry(modes, k);
		double steps = largest > 0.0f ? SHAPE_STEPS / (double)largest : 0.0;
		put_double(writer, modes->eigenvalues[k]);
		put_float(writer, modes->radiation[k]);
		put_float(writer, largest);
		for (int64_t i = 0; i < 3 * (int64_t)modes->node_count; i++)
			put_uint(writer, (uint16_t)lrint((double)shape[i] * steps), 2);
	}
	end_section(writer);
}

static void take_mode(FemBakedReader *reader, FemModes *modes, int32_t mode) {
	float *shape = fem_mode_shape(modes, mode, 0);
	modes->eigenvalues[mode] = fem_bytes_double(&reader->bytes);
	modes->radiation[mode] = fem_bytes_float(&reader->bytes);
	double step = (double)fem_bytes_float(&reader->bytes) / SHAPE_STEPS;
	for (int64_t i = 0; i < 3 * (int64_t)modes->node_count; i++)
		shape[i] = (float)((double)fem_bytes_int(&reader->bytes, 2) * step);
}

FemResult fem_baked_read_modes(FemBakedReader *reader) {
	FemModes *modes = &reader->mesh->modes;
	int32_t nodes = reader->mesh->tet_mesh.node_count, count;
	size_t bytes = 16 + 6 * (size_t)nodes;
	if (modes->eigenvalues || nodes == 0 || !take_count(reader, bytes, &count) || count > FEM_MODES_MAX)
		return fail_damaged(reader, "a wrong count");
	uint64_t rigid = fem_bytes_uint(&reader->bytes, 4);
	FemModeMaterial material;
	material.young_modulus = fem_bytes_float(&reader->bytes);
	material.poisson_ratio = fem_bytes_float(&reader->bytes);
	material.density = fem_bytes_float(&reader->bytes);
	if (rigid > INT32_MAX || fem_bytes_left(&reader->bytes) < bytes * (size_t)count)
		return fail_damaged(reader, "a wrong count");
	if (!fem_modes_reserve(modes, nodes, count))
		return fail_memory(reader);
	modes->rigid_count = (int32_t)rigid;
	modes->material = material;
	for (int32_t k = 0; k < count; k++)
		take_mode(reader, modes, k);
	return FEM_OK;
}

static bool is_good(const FemModes *modes, int32_t mode) {
	const float *shape = fem_mode_shape(modes, mode, 0);
	bool good = modes->eigenvalues[mode] > 0.0 && isfinite(modes->eigenvalues[mode]) &&
		modes->radiation[mode] >= 0.0f && isfinite((double)modes->radiation[mode]);
	for (int64_t i = 0; good && i < 3 * (int64_t)modes->node_count; i++)
		good = isfinite((double)shape[i]);
	return good;
}

FemResult fem_baked_check_modes(const FemBakedMesh *mesh, const char *name) {
	const FemModes *modes = &mesh->modes;
	if (modes->mode_count == 0)
		return FEM_OK;
	const FemModeMaterial *m = &modes->material;
	bool good = modes->node_count == mesh->tet_mesh.node_count && m->young_modulus > 0.0f && m->density > 0.0f &&
		isfinite((double)m->young_modulus) && isfinite((double)m->density) && isfinite((double)m->poisson_ratio);
	for (int32_t k = 0; good && k < modes->mode_count; k++)
		good = is_good(modes, k);
	return good ? FEM_OK
				: fem_fail(FEM_ERROR_MESH,
					  "%.60s has modes that are not of its tets, or no numbers: bake the mesh again.", name);
}
