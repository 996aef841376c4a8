// The bonds of a body that was cut: one at each corner of the faces between two pieces, with its share of their area.
#include "base/memory.h"
#include "base/vec.h"
#include "collision/key_sort.h"
#include "fracture/crack.h"
#include "model/piece.h"
#include "topology/surface.h"
#include "world/api/joining.h"
#include "world/api/pieces.h"

#include <math.h>

// The faces between two pieces.
typedef struct Pair {
	uint64_t key;             // the lower component, then the higher
	FemVec3d area;            // m^2, of all faces, from the first to the second, at rest
	float stiffness_per_area; // N/m^3: Young's modulus over the distance of the two middles
} Pair;

typedef struct Making {
	const FemMesh *mesh;
	FemBody *body;
	FemJoined *joined;
	FemKeyed *faces, *corners; // by pair of pieces, by pair of nodes; each with as much again for sorting
	Pair *pairs;
	int32_t pair_count;
	FemVec4 *middles; // [component]: m, at rest; w: volume
	int32_t face_count;
} Making;

static uint64_t key_of(int32_t a, int32_t b) {
	int32_t low = a < b ? a : b, high = a < b ? b : a;
	return (uint64_t)low << 32 | (uint64_t)high;
}

static FemVec3d rest_of(const Making *making, int32_t tet, int32_t local) {
	int32_t user = making->mesh->tets[4 * making->body->topology->user_of_tet[tet] + local];
	return fem_mesh_rest_point(making->mesh, making->body->scale, user);
}

// ---- middles of pieces

static void add_middles(const Making *making) {
	const FemTopology *t = making->body->topology;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] < 0)
			continue;
		float volume = making->body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		FemVec3d sum = {0.0, 0.0, 0.0};
		for (int v = 0; v < 4; v++)
			sum = fem_vec3d_add(sum, rest_of(making, tet, v));
		FemVec4 *middle = &making->middles[fem_tet_component(t, tet)];
		middle->x += (float)(0.25 * sum.x) * volume;
		middle->y += (float)(0.25 * sum.y) * volume;
		middle->z += (float)(0.25 * sum.z) * volume;
		middle->w += volume;
	}
	for (int32_t c = 0; c < t->component_count; c++) {
		FemVec4 *middle = &making->middles[c];
		float by = middle->w > 0.0f ? 1.0f / middle->w : 0.0f;
		*middle = (FemVec4){by * middle->x, by * middle->y, by * middle->z, middle->w};
	}
}

// ---- pairs of pieces

// m^2, outwards of the tet of the face, at rest.
static FemVec3d area_of(const Making *making, int32_t face) {
	const int32_t *corners = fem_face_corners[face % 4];
	FemVec3d x[3];
	for (int k = 0; k < 3; k++)
		x[k] = rest_of(making, face / 4, corners[k]);
	return fem_vec3d_scale(fem_vec3d_cross(fem_vec3d_sub(x[1], x[0]), fem_vec3d_sub(x[2], x[0])), 0.5);
}

// Pa, Young's modulus of a tet.
static double modulus_of(const FemBody *body, int32_t tet) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	double lambda = (double)batch->lambda[tet % FEM_LANES], mu = (double)batch->mu[tet % FEM_LANES];
	return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
}

// Two halves of the way, one in each material.
static float stiffness_of(const Making *making, const Pair *pair, const FemBondFace *face) {
	FemVec4 a = making->middles[pair->key >> 32], b = making->middles[pair->key & UINT32_MAX];
	double apart = sqrt((double)((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z)));
	double first = modulus_of(making->body, face->face / 4), second = modulus_of(making->body, face->across / 4);
	double least = cbrt((double)fminf(a.w, b.w)); // two that lie within each other are not endlessly stiff
	return (float)(2.0 * first * second / (first + second) / fmax(apart, 0.1 * least));
}

static void make_pairs(Making *making) {
	const FemTopology *t = making->body->topology;
	for (int32_t i = 0; i < making->face_count; i++) {
		const FemBondFace *face = &making->joined->faces[i];
		making->faces[i] =
			(FemKeyed){key_of(fem_tet_component(t, face->face / 4), fem_tet_component(t, face->across / 4)), i};
	}
	fem_key_sort(making->faces, making->faces + making->face_count, making->face_count);
	for (int32_t i = 0; i < making->face_count; i++) {
		FemBondFace *face = &making->joined->faces[making->faces[i].value];
		Pair *pair = &making->pairs[making->pair_count - 1];
		if (i == 0 || pair->key != making->faces[i].key) {
			pair = &making->pairs[making->pair_count++];
			*pair = (Pair){.key = making->faces[i].key};
			pair->stiffness_per_area = stiffness_of(making, pair, face);
		}
		FemVec3d area = area_of(making, face->face);
		bool is_forward = fem_tet_component(t, face->face / 4) == (int32_t)(pair->key >> 32);
		face->area = (float)sqrt(fem_vec3d_dot(area, area));
		pair->area = fem_vec3d_add(pair->area, fem_vec3d_scale(area, is_forward ? 1.0 : -1.0));
	}
}

static const Pair *find_pair(const Making *making, uint64_t key) {
	int32_t low = 0, high = making->pair_count;
	while (low + 1 < high) {
		int32_t middle = (low + high) / 2;
		if (making->pairs[middle].key <= key)
			low = middle;
		else
			high = middle;
	}
	return &making->pairs[low];
}

// ---- bonds

// The corner of the tet across that was the same node of the mesh; tet * 4 + local.
static int32_t twin_of(const Making *making, const FemBondFace *face, int32_t corner) {
	const FemTopology *t = making->body->topology;
	int32_t other = face->across / 4, twin = 0;
	const int32_t *nodes = making->mesh->tets + 4 * (size_t)t->user_of_tet[face->face / 4];
	const int32_t *twins = making->mesh->tets + 4 * (size_t)t->user_of_tet[other];
	while (twin < 3 && twins[twin] != nodes[corner])
		twin++;
	return 4 * other + twin;
}

static int32_t node_at(const FemTopology *t, int32_t corner) {
	return fem_tet_node(t, corner / 4, corner % 4);
}

static FemBond bond_at(const Making *making, int32_t corner, int32_t twin) {
	const FemTopology *t = making->body->topology;
	int32_t a = fem_tet_component(t, corner / 4), b = fem_tet_component(t, twin / 4);
	const Pair *pair = find_pair(making, key_of(a, b));
	double length = sqrt(fem_vec3d_dot(pair->area, pair->area));
	FemVec3d normal =
		length > 0.0 ? fem_vec3d_scale(pair->area, (a < b ? 1.0 : -1.0) / length) : (FemVec3d){1.0, 0.0, 0.0};
	return (FemBond){
		.corner = {corner, twin}, .normal = fem_vec3d_to_vec3(normal), .stiffness = pair->stiffness_per_area};
}

// One for each pair of nodes that were one; several faces may meet there.
static void make_bonds(Making *making) {
	const FemTopology *t = making->body->topology;
	FemJoined *joined = making->joined;
	int32_t count = 3 * making->face_count;
	for (int32_t i = 0; i < count; i++) {
		const FemBondFace *face = &joined->faces[i / 3];
		int32_t local = fem_face_corners[face->face % 4][i % 3];
		uint64_t key = key_of(node_at(t, 4 * (face->face / 4) + local), node_at(t, twin_of(making, face, local)));
		making->corners[i] = (FemKeyed){key, i};
	}
	fem_key_sort(making->corners, making->corners + count, count);
	for (int32_t i = 0; i < count; i++) {
		FemBondFace *face = &joined->faces[making->corners[i].value / 3];
		int32_t k = making->corners[i].value % 3, local = fem_face_corners[face->face % 4][k];
		if (i == 0 || making->corners[i].key != making->corners[i - 1].key)
			joined->bonds[joined->bond_count++] =
				bond_at(making, 4 * (face->face / 4) + local, twin_of(making, face, local));
		face->bonds[k] = joined->bond_count - 1;
		joined->bonds[joined->bond_count - 1].area += face->area / 3.0f;
	}
	for (int32_t i = 0; i < joined->bond_count; i++)
		joined->bonds[i].stiffness *= joined->bonds[i].area;
}

bool fem_bonds_make(const FemMesh *mesh, FemBody *body, FemJoined *joined) {
	int32_t faces = joined->face_count;
	Making making = {
		.mesh = mesh,
		.body = body,
		.joined = joined,
		.faces = FEM_ALLOC_ARRAY(FemKeyed, 2 * (size_t)faces),
		.corners = FEM_ALLOC_ARRAY(FemKeyed, 6 * (size_t)faces),
		.pairs = FEM_ALLOC_ARRAY(Pair, faces),
		.middles = FEM_ALLOC_ARRAY(FemVec4, body->topology->component_count),
		.face_count = faces,
	};
	bool ok = making.faces && making.corners && making.pairs && making.middles;
	joined->bond_count = 0;
	if (faces == 0)
		ok = true;
	else if (ok) {
		add_middles(&making);
		make_pairs(&making);
		make_bonds(&making);
	}
	FEM_FREE_ARRAY(making.faces, 2 * (size_t)faces);
	FEM_FREE_ARRAY(making.corners, 6 * (size_t)faces);
	FEM_FREE_ARRAY(making.pairs, faces);
	FEM_FREE_ARRAY(making.middles, body->topology->component_count);
	return ok;
}
