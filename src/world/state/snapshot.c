// Saving and restoring a whole world. What can be derived (topology, masses, moduli, islands) is derived again, with
// the same code and hence the same bits; the rest is stored.
#include "world/state/snapshot.h"
#include "base/hash.h"
#include "base/memory.h"
#include "topology/tet_mesh.h"
#include "world/api/budget.h"
#include "world/api/cookies.h"
#include "world/api/materials.h"
#include "world/api/meshes.h"
#include "world/api/registry.h"
#include "world/state/stream.h"
#include "world/state/validate.h"
#include "world/world.h"

#define SNAPSHOT_MAGIC 0x464d4546u // "FEMF": first word of a snapshot
#define SNAPSHOT_ORDER 0x01020304u // tells little-endian words from big-endian ones
#define SLOT_MAX (1 << 26)         // entries of a list; more are taken for damage before memory is asked for

typedef struct Header {
	uint32_t magic, version, order, lanes;
	uint64_t size;     // of all, this header included
	uint64_t checksum; // of what follows the header
} Header;

// ---- defs

static void sync_world_def(FemStream *s, FemWorldDef *def) {
	int32_t friction_mode = (int32_t)def->friction_mode;
	FEM_STREAM(s, def->gravity);
	FEM_STREAM(s, def->worker_count);
	fem_stream_bool(s, &def->sleeping_enabled);
	FEM_STREAM(s, def->sleep_speed);
	FEM_STREAM(s, def->sleep_steps);
	FEM_STREAM(s, def->wake_force_factor);
	FEM_STREAM(s, def->node_speed_max);
	FEM_STREAM(s, def->solver_tolerance);
	fem_stream_bool(s, &def->ground_enabled);
	FEM_STREAM(s, def->ground_height);
	FEM_STREAM(s, def->ground_friction);
	fem_stream_bool(s, &def->contacts_enabled);
	FEM_STREAM(s, def->contact_capacity);
	FEM_STREAM(s, def->contact_push);
	FEM_STREAM(s, friction_mode);
	FEM_STREAM(s, def->fracture_interval);
	FEM_STREAM(s, def->fracture_splits_max);
	FEM_STREAM(s, def->fracture_passes_max);
	fem_stream_bool(s, &def->fracture_viscous);
	s->failed = s->failed || friction_mode < FEM_FRICTION_COULOMB || friction_mode > FEM_FRICTION_PAPER;
	def->friction_mode = s->failed ? FEM_FRICTION_COULOMB : (FemFrictionMode)friction_mode;
}

static void sync_material_def(FemStream *s, FemMaterialDef *def) {
	int32_t plasticity = (int32_t)def->plasticity;
	FEM_STREAM(s, def->young_modulus);
	FEM_STREAM(s, def->poisson_ratio);
	FEM_STREAM(s, def->density);
	FEM_STREAM(s, def->stiffness_damping);
	FEM_STREAM(s, def->mass_damping);
	FEM_STREAM(s, plasticity);
	FEM_STREAM(s, def->yield_strain);
	FEM_STREAM(s, def->creep_rate);
	FEM_STREAM(s, def->max_plastic_strain);
	FEM_STREAM(s, def->crease_strength);
	FEM_STREAM(s, def->crease_angle);
	FEM_STREAM(s, def->friction);
	FEM_STREAM(s, def->restitution);
	FEM_STREAM(s, def->max_iterations);
	int32_t toughness_mode = (int32_t)def->toughness_mode;
	fem_stream_bool(s, &def->breakable);
	FEM_STREAM(s, def->toughness);
	FEM_STREAM(s, toughness_mode);
	FEM_STREAM(s, def->toughness_variation);
	FEM_STREAM(s, def->crack_speed);
	FEM_STREAM(s, def->fragment_size);
	FEM_STREAM(s, def->fragment_variation);
	FEM_STREAM(s, def->impact_modulus);
	FEM_STREAM(s, def->impact_toughness_ratio);
	FEM_STREAM(s, def->initial_strain);
	FEM_STREAM(s, def->prestress);
	FEM_STREAM(s, def->crush_strength);
	FEM_STREAM(s, def->grain_direction);
	FEM_STREAM(s, def->grain_ratio);
	FEM_STREAM(s, def->grain_stiffness_ratio);
	FEM_STREAM(s, def->mortar_strength);
	FEM_STREAM(s, def->course_height);
	s->failed = s->failed || toughness_mode < 0 || toughness_mode > FEM_TOUGHNESS_FORCE;
	def->toughness_mode = toughness_mode == FEM_TOUGHNESS_FORCE ? FEM_TOUGHNESS_FORCE : FEM_TOUGHNESS_STRESS;
	s->failed = s->failed || plasticity < 0 || plasticity > FEM_PLASTICITY_DEVIATORIC;
	def->plasticity = plasticity == FEM_PLASTICITY_DEVIATORIC ? FEM_PLASTICITY_DEVIATORIC : FEM_PLASTICITY_FULL;
}

// A list's length; false when it cannot be true.
static bool sync_count(FemStream *s, int32_t *count, size_t least_bytes) {
	FEM_STREAM(s, *count);
	s->failed = s->failed || *count > SLOT_MAX || !fem_stream_can_hold(s, *count, least_bytes);
	return !s->failed;
}

// ---- materials

static void sync_materials(FemStream *s, FemWorld *world) {
	if (!sync_count(s, &world->material_capacity, 3)) {
		world->material_capacity = 0;
		return;
	}
	if (fem_stream_reads(s) && world->material_capacity > 0)
		world->materials = FEM_ALLOC_ARRAY(FemMaterial, world->material_capacity);
	if (world->material_capacity > 0 && !world->materials) {
		world->material_capacity = 0;
		s->failed = true;
	}
	for (int32_t i = 0; i < world->material_capacity; i++) {
		FemMaterial *material = &world->materials[i];
		FEM_STREAM(s, material->generation);
		fem_stream_bool(s, &material->in_use);
		if (!material->in_use)
			continue;
		sync_material_def(s, &material->def);
		material->def.cookie = FEM_COOKIE_MATERIAL;
		if (fem_stream_reads(s) && fem_material_def_check(&material->def) != FEM_OK)
			s->failed = true;
	}
}

// ---- meshes

typedef struct MeshArrays {
	FemVec3 *positions;
	int32_t *tets, *regions, *node_part;
	float *plates;
} MeshArrays;

static void write_mesh(FemStream *s, FemMesh *mesh) {
	bool has_regions = mesh->tet_regions != NULL, has_plates = mesh->tet_plates != NULL;
	const FemTopology *t = mesh->topology;
	fem_stream_bool(s, &has_regions);
	fem_stream_bool(s, &has_plates);
	FEM_STREAM_ARRAY(s, mesh->positions, mesh->node_count);
	FEM_STREAM_ARRAY(s, mesh->tets, 4 * (size_t)mesh->tet_count);
	if (has_regions)
		FEM_STREAM_ARRAY(s, mesh->tet_regions, mesh->tet_count);
	if (has_plates)
		FEM_STREAM_ARRAY(s, mesh->tet_plates, mesh->tet_count);
	// The partition is METIS's: stored, so that another build of METIS restores the same numbering.
	for (int32_t user = 0; user < mesh->node_count; user++)
		FEM_STREAM(s, t->node_part[t->node_of_user[user]]);
}

static void *read_array(FemStream *s, size_t bytes) {
	void *array = s->failed || bytes > s->size - s->at ? NULL : fem_alloc(bytes);
	if (array)
		fem_stream_bytes(s, array, bytes);
	else
		s->failed = true;
	return array;
}

static bool check_parts(const MeshArrays *arrays, int32_t node_count) {
	for (int32_t i = 0; i < node_count; i++) {
		if (arrays->node_part[i] < 0)
			return false;
	}
	return true;
}

static void fill_mesh(FemStream *s, FemMesh *mesh, const FemMeshDef *sizes, const MeshArrays *arrays) {
	FemMeshDef def = *sizes;
	def.node_positions = arrays->positions;
	def.tets = arrays->tets;
	def.tet_regions = arrays->regions;
	def.tet_plates = arrays->plates;
	s->failed = s->failed || !check_parts(arrays, def.node_count) || fem_tet_mesh_check(&def) != FEM_OK ||
		fem_mesh_fill(mesh, &def, arrays->node_part) != FEM_OK;
}

static void read_mesh(FemStream *s, FemMesh *mesh, const FemMeshDef *sizes) {
	MeshArrays arrays = {0};
	bool has_regions = false, has_plates = false;
	size_t nodes = (size_t)sizes->node_count, tets = (size_t)sizes->tet_count;
	fem_stream_bool(s, &has_regions);
	fem_stream_bool(s, &has_plates);
	arrays.positions = read_array(s, sizeof(FemVec3) * nodes);
	arrays.tets = read_array(s, sizeof(int32_t) * 4 * tets);
	arrays.regions = has_regions ? read_array(s, sizeof(int32_t) * tets) : NULL;
	arrays.plates = has_plates ? read_array(s, sizeof(float) * tets) : NULL;
	arrays.node_part = read_array(s, sizeof(int32_t) * nodes);
	if (!s->failed)
		fill_mesh(s, mesh, sizes, &arrays);
	fem_free(arrays.positions, sizeof(FemVec3) * nodes);
	fem_free(arrays.tets, sizeof(int32_t) * 4 * tets);
	fem_free(arrays.regions, sizeof(int32_t) * tets);
	fem_free(arrays.plates, sizeof(float) * tets);
	fem_free(arrays.node_part, sizeof(int32_t) * nodes);
}

static void sync_mesh(FemStream *s, FemMesh *mesh) {
	bool in_use = mesh->in_use;
	FemMeshDef sizes = {.node_count = mesh->node_count,
		.tet_count = mesh->tet_count,
		.quality_clamp = mesh->quality_clamp,
		.stretch = mesh->stretch};
	FEM_STREAM(s, mesh->generation);
	fem_stream_bool(s, &in_use);
	if (!in_use)
		return;
	FEM_STREAM(s, sizes.node_count);
	FEM_STREAM(s, sizes.tet_count);
	FEM_STREAM(s, sizes.quality_clamp);
	FEM_STREAM(s, sizes.stretch);
	s->failed = s->failed || sizes.node_count < 4 || sizes.tet_count < 1;
	if (s->failed)
		return;
	if (fem_stream_reads(s))
		read_mesh(s, mesh, &sizes);
	else
		write_mesh(s, mesh);
}

static void sync_meshes(FemStream *s, FemWorld *world) {
	if (!sync_count(s, &world->mesh_capacity, 3)) {
		world->mesh_capacity = 0;
		return;
	}
	if (fem_stream_reads(s) && world->mesh_capacity > 0)
		world->meshes = FEM_ALLOC_ARRAY(FemMesh, world->mesh_capacity);
	if (world->mesh_capacity > 0 && !world->meshes) {
		world->mesh_capacity = 0;
		s->failed = true;
	}
	for (int32_t i = 0; i < world->mesh_capacity; i++)
		sync_mesh(s, &world->meshes[i]);
}

// ---- world

static bool sync_slots(FemStream *s, FemWorld *world) {
	if (!sync_count(s, &world->body_capacity, 3)) {
		world->body_capacity = 0;
		return false;
	}
	if (world->body_capacity == 0)
		return true;
	if (fem_stream_reads(s)) {
		int32_t capacity = world->body_capacity;
		world->bodies = FEM_ALLOC_ARRAY(FemBody *, capacity);
		world->body_generations = FEM_ALLOC_ARRAY(uint16_t, capacity);
		if (!world->bodies || !world->body_generations) {
			FEM_FREE_ARRAY(world->bodies, capacity);
			FEM_FREE_ARRAY(world->body_generations, capacity);
			world->bodies = NULL;
			world->body_generations = NULL;
			world->body_capacity = 0;
			s->failed = true;
			return false;
		}
	}
	FEM_STREAM_ARRAY(s, world->body_generations, world->body_capacity);
	return true;
}

static void sync_limits(FemStream *s, FemWorkLimits *limits) {
	FEM_STREAM(s, limits->passes_max);
	FEM_STREAM(s, limits->fracture_work_max);
	FEM_STREAM(s, limits->splits_max);
	FEM_STREAM(s, limits->piece_tets_min);
	FEM_STREAM(s, limits->pieces_free);
	FEM_STREAM(s, limits->elastic_tets_max);
	FEM_STREAM(s, limits->rubble_tets_max);
	FEM_STREAM(s, limits->awake_pieces_max);
	FEM_STREAM(s, limits->sweep_work_max);
	FEM_STREAM(s, limits->solve_work_max);
	s->failed = s->failed || (fem_stream_reads(s) && fem_work_limits_check(limits) != FEM_OK);
}

static void sync_world(FemStream *s, FemWorld *world) {
	sync_limits(s, &world->limits);
	FEM_STREAM(s, world->statistics.step_count);
	FEM_STREAM(s, world->time);
	sync_materials(s, world);
	if (!s->failed)
		sync_meshes(s, world);
	if (s->failed || !sync_slots(s, world))
		return;
	for (int32_t b = 0; b < world->body_capacity && !s->failed; b++) {
		bool present = world->bodies[b] != NULL;
		fem_stream_bool(s, &present);
		if (present && fem_stream_reads(s))
			fem_snapshot_read_body(s, world, b);
		else if (present)
			fem_snapshot_write_body(s, world->bodies[b]);
	}
	if (!s->failed)
		fem_snapshot_sync_joints(s, world);
	if (!s->failed)
		fem_snapshot_sync_contact(s, world);
}

static void sync_all(FemStream *s, FemWorld *world, FemWorldDef *def) {
	sync_world_def(s, def);
	sync_world(s, world);
}

size_t fem_world_save(FemWorldId id, void *buffer, size_t capacity) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return 0;
	FemStream measure = {0};
	FemWorldDef def = world->def;
	sync_all(&measure, world, &def);
	size_t size = sizeof(Header) + measure.at;
	if (!buffer || capacity < size)
		return size;
	FemStream stream = {.out = (char *)buffer + sizeof(Header), .size = measure.at};
	sync_all(&stream, world, &def);
	Header header = {SNAPSHOT_MAGIC, FEM_SNAPSHOT_VERSION, SNAPSHOT_ORDER, FEM_LANES, size, 0};
	header.checksum = fem_hash_bytes(FEM_HASH_START, stream.out, measure.at);
	memcpy(buffer, &header, sizeof header);
	return size;
}

static FemResult check_header(const void *data, size_t size) {
	Header header;
	if (!data || size < sizeof header)
		return fem_fail(
			FEM_ERROR_FORMAT, "The data are too short for a snapshot: pass all that fem_world_save() wrote.");
	memcpy(&header, data, sizeof header);
	if (header.magic != SNAPSHOT_MAGIC)
		return fem_fail(FEM_ERROR_FORMAT, "The data are no snapshot of a world.");
	if (header.version != FEM_SNAPSHOT_VERSION || header.order != SNAPSHOT_ORDER || header.lanes != FEM_LANES)
		return fem_fail(FEM_ERROR_FORMAT,
			"The snapshot is of version %u, or of another kind of machine: this engine reads %u.", header.version,
			FEM_SNAPSHOT_VERSION);
	if (header.size != size)
		return fem_fail(FEM_ERROR_FORMAT, "The snapshot has %.0f bytes of %.0f: it was cut short or extended.",
			(double)size, (double)header.size);
	if (header.checksum != fem_hash_bytes(FEM_HASH_START, (const char *)data + sizeof header, size - sizeof header))
		return fem_fail(FEM_ERROR_FORMAT, "The snapshot is damaged: its checksum is wrong.");
	return FEM_OK;
}

FemWorldId fem_world_restore(const void *data, size_t size, int32_t worker_count) {
	if (check_header(data, size) != FEM_OK)
		return (FemWorldId){0};
	FemStream stream = {.in = (const char *)data + sizeof(Header), .size = size - sizeof(Header)};
	FemWorldDef def = {.cookie = FEM_COOKIE_WORLD};
	sync_world_def(&stream, &def);
	def.worker_count = worker_count;
	if (stream.failed || fem_world_def_check(&def) != FEM_OK) {
		fem_fail(FEM_ERROR_FORMAT, "The snapshot is damaged: its settings make no sense.");
		return (FemWorldId){0};
	}
	FemWorld *world = fem_world_open(&def);
	if (!world)
		return (FemWorldId){0};
	sync_world(&stream, world);
	// The last look tells what the single reads cannot: that all fits together.
	if (!stream.failed && stream.at == stream.size && fem_world_check(world) == FEM_OK) {
		fem_contact_stage_publish(world);
		return (FemWorldId){(uint16_t)(world->index0 + 1), world->generation};
	}
	fem_world_close(world);
	fem_fail(FEM_ERROR_FORMAT, "The snapshot is damaged or memory ran out: the world could not be made from it.");
	return (FemWorldId){0};
}
