// The splinters of a body at the public boundary: checks, setting, reading.
#include "base/memory.h"
#include "topology/topology.h"
#include "world/api/cookies.h"
#include "world/api/registry.h"
#include "world/api/splinters.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>

#define VERTEX_MAX (1 << 24) // the shader reads indices as floats

FemSplintersDef fem_default_splinters_def(void) {
	return (FemSplintersDef){.cookie = FEM_COOKIE_SPLINTERS};
}

// ---- checks

static FemResult check_counts(const FemSplintersDef *def) {
	if (!def || def->cookie != FEM_COOKIE_SPLINTERS)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The splinters def is null or was not made by fem_default_splinters_def(): start from that.");
	if (def->splinter_count < 0 || def->vertex_count < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"There are %d splinters with %d vertices: counts must be 0 or more.", def->splinter_count,
			def->vertex_count);
	if (def->splinter_count > VERTEX_MAX || def->vertex_count > VERTEX_MAX)
		return fem_fail(FEM_ERROR_LIMIT, "A body can have %d splinters and vertices at most: %d and %d are too many.",
			VERTEX_MAX, def->splinter_count, def->vertex_count);
	if (def->vertex_count > 0 && def->splinter_count == 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There are %d vertices but no splinter that they belong to.",
			def->vertex_count);
	if (def->splinter_count > 0 && !def->home_tets)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "home_tets is null: give the home tet of each splinter.");
	if (def->vertex_count > 0 && (!def->vertex_splinters || !def->vertex_tets || !def->vertex_positions))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"vertex_splinters, vertex_tets or vertex_positions is null: give all three for each vertex.");
	return FEM_OK;
}

static bool is_position(FemVec3 p) {
	return fabsf(p.x) <= FEM_REST_MAX && fabsf(p.y) <= FEM_REST_MAX && fabsf(p.z) <= FEM_REST_MAX; // false for NaN
}

FemResult fem_splinters_def_check(const FemSplintersDef *def, int32_t tet_count) {
	FemResult result = check_counts(def);
	if (result != FEM_OK)
		return result;
	for (int32_t i = 0; i < def->splinter_count; i++) {
		if (def->home_tets[i] < 0 || def->home_tets[i] >= tet_count)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Splinter %d has home tet %d: the mesh has tets 0..%d.", i,
				def->home_tets[i], tet_count - 1);
	}
	for (int32_t i = 0; i < def->vertex_count; i++) {
		if (def->vertex_splinters[i] < 0 || def->vertex_splinters[i] >= def->splinter_count)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Vertex %d belongs to splinter %d: there are splinters 0..%d.",
				i, def->vertex_splinters[i], def->splinter_count - 1);
		if (def->vertex_tets[i] < 0 || def->vertex_tets[i] >= tet_count)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Vertex %d lies in tet %d: the mesh has tets 0..%d.", i,
				def->vertex_tets[i], tet_count - 1);
		if (!is_position(def->vertex_positions[i]))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
				"The position of vertex %d is not finite or beyond %g m: clean the mesh first.", i,
				(double)FEM_REST_MAX);
	}
	return FEM_OK;
}

// ---- setting

static FemSplinterRest rest_of(const FemMesh *mesh, const FemBody *body) {
	return (FemSplinterRest){mesh->topology, mesh->positions, mesh->tets, body->scale};
}

FemSplinters *fem_body_make_splinters(const FemWorld *world, const FemBody *body, const FemSplintersDef *def) {
	FemSplinterRest rest = rest_of(&world->meshes[body->mesh_index], body);
	FemSplinters *splinters = fem_splinters_create(&rest, def);
	if (!splinters)
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d splinters with %d vertices.", def->splinter_count,
			def->vertex_count);
	return splinters;
}

static FemSplinters *freeze_new(FemMesh *mesh, FemSplinters *splinters) {
	if (!splinters)
		return NULL;
	fem_splinters_settle(splinters, mesh->topology, NULL);
	if (!fem_splinters_freeze(splinters)) {
		fem_splinters_free(splinters);
		return NULL;
	}
	splinters->next = mesh->splinters;
	mesh->splinters = splinters;
	return splinters;
}

FemSplinters *fem_body_share_splinters(FemWorld *world, const FemBody *body, const FemSplintersDef *def) {
	FemMesh *mesh = &world->meshes[body->mesh_index];
	FemSplinterRest rest = rest_of(mesh, body);
	FemSplinters *frozen = mesh->splinters;
	while (frozen && !fem_splinters_are_equal(frozen, &rest, def))
		frozen = frozen->next;
	if (!frozen)
		frozen = freeze_new(mesh, fem_body_make_splinters(world, body, def));
	return frozen ? fem_splinters_share(frozen) : NULL;
}

void fem_mesh_forget_splinters(FemMesh *mesh) {
	for (FemSplinters **link = &mesh->splinters; *link;) {
		FemSplinters *frozen = *link;
		if (frozen->use_count > 0) {
			link = &frozen->next;
			continue;
		}
		*link = frozen->next;
		fem_splinters_free(frozen);
	}
}

FemResult fem_body_set_splinters(FemBodyId id, const FemSplintersDef *def) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	if (!body->breaking)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The body has no material that breaks: set breakable in one of them before giving it splinters.");
	result = fem_splinters_def_check(def, body->topology->user_tet_count);
	if (result != FEM_OK)
		return result;
	FemSplinters *splinters = NULL;
	if (def->splinter_count > 0) {
		splinters =
			body->own_topology ? fem_body_make_splinters(world, body, def) : fem_body_share_splinters(world, body, def);
		if (!splinters)
			return FEM_ERROR_MEMORY;
		if (body->own_topology)
			fem_splinters_settle(splinters, body->topology, body->breaking->loaded_homes);
	}
	fem_splinters_free(body->breaking->splinters);
	body->breaking->splinters = splinters;
	fem_body_drop_loaded_homes(body);
	fem_mesh_forget_splinters(&world->meshes[body->mesh_index]);
	return FEM_OK;
}

// ---- reading

// The body, between steps, if it has splinters with that vertex.
static const FemBody *find_with_vertex(FemBodyId id, int32_t vertex, const void *out, FemResult *result) {
	const FemBody *body = fem_body_find_idle(id, NULL, result);
	const FemSplinters *splinters = body && body->breaking ? body->breaking->splinters : NULL;
	if (!body)
		return NULL;
	if (!out)
		*result = fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_owner is null: pass a place to write to.");
	else if (!splinters)
		*result = fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no splinters: give it some by fem_body_set_splinters().");
	else if (vertex < 0 || vertex >= splinters->given.vertex_count)
		*result = fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body's splinters have no vertex %d: use 0..%d.", vertex,
			splinters->given.vertex_count - 1);
	else
		return body;
	return NULL;
}

FemResult fem_body_get_vertex_owner(FemBodyId id, int32_t vertex, FemVertexOwner *out_owner) {
	FemResult result;
	const FemBody *body = find_with_vertex(id, vertex, out_owner, &result);
	if (!body)
		return result;
	*out_owner = fem_splinters_owner(body->breaking->splinters, body->topology, vertex);
	return FEM_OK;
}

FemResult fem_body_get_vertex_owner_in(FemBodyId id, int32_t vertex, int32_t tet, FemVertexOwner *out_owner) {
	FemResult result;
	const FemBody *body = find_with_vertex(id, vertex, out_owner, &result);
	if (!body)
		return result;
	if (tet < 0 || tet >= body->topology->user_tet_count)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no tet %d: use 0..%d.", tet, body->topology->user_tet_count - 1);
	*out_owner = fem_splinters_owner_in(body->breaking->splinters, body->topology, vertex, tet);
	return FEM_OK;
}

int32_t fem_body_get_bare_tets(FemBodyId id, int32_t *out_tets, int32_t capacity) {
	FemResult result;
	FemWorld *world;
	const FemBody *body = fem_body_find_idle(id, &world, &result);
	const FemSplinters *splinters = body && body->breaking ? body->breaking->splinters : NULL;
	return splinters ? fem_splinters_bare_tets(splinters, body->topology, out_tets, out_tets ? capacity : 0) : 0;
}

int32_t fem_body_get_owner_changes(FemBodyId id, const FemOwnerChange **out_changes) {
	const FemBody *body = fem_body_find(id, NULL);
	const FemSplinters *splinters = body && body->breaking ? body->breaking->splinters : NULL;
	if (out_changes)
		*out_changes = splinters ? splinters->changes : NULL;
	return splinters ? splinters->change_count : 0;
}

static int64_t bytes_of_world(const FemWorld *world) {
	int64_t bytes = 0;
	for (int32_t m = 0; m < world->mesh_capacity; m++) {
		for (const FemSplinters *frozen = world->meshes[m].splinters; frozen; frozen = frozen->next)
			bytes += (int64_t)(frozen->bytes + frozen->own_bytes);
	}
	for (int32_t b = 0; b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		const FemSplinters *splinters = body && body->breaking ? body->breaking->splinters : NULL;
		if (splinters)
			bytes += (int64_t)(splinters->own_bytes + (splinters->shared ? sizeof *splinters : splinters->bytes));
	}
	return bytes;
}

int64_t fem_splinter_bytes(void) {
	int64_t bytes = 0;
	for (uint32_t i = 0; i < FEM_WORLD_MAX; i++) {
		const FemWorld *world = fem_registry_at(i);
		bytes += world ? bytes_of_world(world) : 0;
	}
	return bytes;
}

static FemSplinters *splinters_of(const FemWorld *world, int32_t body) {
	const FemBody *of = world->bodies[body];
	return of && of->breaking ? of->breaking->splinters : NULL;
}

// Most changes come in the step in which a body first breaks: kept by each body, its list was made of memory that no
// step had used before, and clearing that took more than filling it.
void fem_splinters_publish_all(FemWorld *world) {
	size_t bytes = 0;
	if (world->breakable_count == 0)
		return;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemSplinters *splinters = splinters_of(world, b);
		if (!splinters)
			continue;
		splinters->change_count = 0;
		bytes += fem_align_up(fem_array_bytes(sizeof(FemOwnerChange), fem_splinters_count_changes(splinters)));
	}
	if (!fem_arena_begin(&world->owner_changes, bytes)) // the next publishing tells of them
		return;
	for (int32_t b = 0; bytes > 0 && b < world->body_capacity; b++) {
		FemSplinters *splinters = splinters_of(world, b);
		int32_t count = splinters ? fem_splinters_count_changes(splinters) : 0;
		if (count > 0)
			fem_splinters_publish(
				splinters, world->bodies[b]->topology, FEM_ARENA_TAKE(&world->owner_changes, FemOwnerChange, count));
	}
}
