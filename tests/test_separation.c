// The separation tensor of one node under a uniform stress, against O'Brien & Hodgins 1999; and the order of splits.
#include "contact_rig.h"
#include "fem_test.h"
#include "fracture/crack.h"
#include "fracture/separation.h"
#include "model/body_step.h"
#include "topology/topology.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

#define TOUGHNESS 1e5f // Pa
#define RATIO 4.0f     // of the strength along the fibres to that across

typedef struct Star {
	FemWorldId world;
	FemBody *body;
	FemBodyStep step; // what a step would give the body
	int32_t node;     // the inner one of a cube of 2 x 2 x 2 cells
} Star;

static Star star_create(float grain_ratio) {
	FemWorldDef def = fem_contact_world_def();
	Star star = {.world = fem_world_create(&def)};
	FemBlock block = fem_block(0.2f, 2);
	block.material.breakable = true;
	block.material.toughness = TOUGHNESS;
	block.material.toughness_mode = FEM_TOUGHNESS_STRESS;
	block.material.toughness_variation = 0.0f;
	block.material.grain_direction = (FemVec3){1.0f, 0.0f, 0.0f};
	block.material.grain_ratio = grain_ratio;
	star.body = fem_body_find(fem_block_add(star.world, &block), NULL);
	const FemTopology *t = star.body->topology;
	size_t tets = (size_t)t->batch_count * FEM_LANES;
	star.step.tet_blocks = calloc(tets, sizeof *star.step.tet_blocks);
	star.step.tet_stress = calloc(tets, sizeof *star.step.tet_stress);
	star.step.tension = calloc(tets, sizeof *star.step.tension);
	star.step.separations = calloc((size_t)t->node_count, sizeof *star.step.separations);
	for (int32_t tet = 0; tet < (int32_t)tets; tet++) {
		float sum[3] = {0};
		for (int v = 1; v < 4; v++) {
			float *c = &star.step.tet_blocks[tet].gradient[v].x, *first = &star.step.tet_blocks[tet].gradient[0].x;
			for (int i = 0; i < 3; i++) {
				c[i] = star.body->batches[tet / FEM_LANES].gradient[v - 1][i][tet % FEM_LANES];
				sum[i] += c[i];
				first[i] = -sum[i];
			}
		}
	}
	star.node = t->node_of_user[13];
	return star;
}

static void star_end(Star *star) {
	star->body->step = NULL;
	free(star->step.tet_blocks);
	free(star->step.tet_stress);
	free(star->step.tension);
	free(star->step.separations);
	fem_world_destroy(star->world);
}

// Whether the node wants to split under a tension of `stress` along x.
static bool splits_at(Star *star, float stress) {
	const FemTopology *t = star->body->topology;
	int32_t begin = t->node_tet_start[star->node];
	FemSeparation out;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++)
		star->step.tet_stress[tet].normal.x = star->step.tension[tet].normal.x = stress;
	star->body->step = &star->step;
	bool splits = fem_separation_of_node(
		star->body, star->node, t->node_tets + begin, t->node_tet_start[star->node + 1] - begin, 1.0f, &out);
	FEM_CHECK(!splits || fabsf(out.normal[0]) > 0.999f);
	star->body->step = NULL;
	return splits;
}

// Around an inner node the forces of a uniform stress add up to nothing, and zeta is that stress times the area that
// it pulls at: the node splits just when the stress is the toughness, whatever the mesh.
FEM_TEST(separation, inner_node_splits_at_the_toughness) {
	Star star = star_create(1.0f);
	FEM_CHECK(!splits_at(&star, 0.999f * TOUGHNESS));
	FEM_CHECK(splits_at(&star, 1.001f * TOUGHNESS));
	star_end(&star);
}

// Pulled along its fibres the node holds `ratio` times as much. A fibre has no sense: it is the same when every second
// tet names its fibres by the opposite direction. Fails when these cancel.
FEM_TEST(separation, fibres_have_no_sense) {
	for (int alternating = 0; alternating < 2; alternating++) {
		Star star = star_create(RATIO);
		const FemTopology *t = star.body->topology;
		int32_t begin = t->node_tet_start[star.node], end = t->node_tet_start[star.node + 1];
		for (int32_t k = begin; alternating && k < end; k += 2)
			star.body->tet_grain[t->node_tets[k] / 4].x *= -1.0f;
		FEM_CHECK(!splits_at(&star, 0.999f * RATIO * TOUGHNESS));
		FEM_CHECK(splits_at(&star, 1.001f * RATIO * TOUGHNESS));
		star_end(&star);
	}
}

// What pulls along the fibres of a tet, wherever these point after a rotation, counts one part in the ratio, what pulls
// across them wholly. Fails when tension is felt alike in all directions: pieces of crates then were elastic for
// seconds.
FEM_TEST(separation, tension_along_fibres_is_felt_less) {
	Star star = star_create(RATIO);
	FemBody *body = star.body;
	FemTetStress along = {.normal = {TOUGHNESS, 0.0f, 0.0f, 0.0f}}, across = {.normal = {0.0f, TOUGHNESS, 0.0f, 0.0f}};
	FEM_CHECK_NEAR(fem_felt_tension(body, 0, &along), TOUGHNESS / RATIO, 1e-4 * TOUGHNESS);
	FEM_CHECK_NEAR(fem_felt_tension(body, 0, &across), TOUGHNESS, 1e-4 * TOUGHNESS);
	body->rotation[0] = (FemVec4){0.0f, 0.0f, sqrtf(0.5f), sqrtf(0.5f)}; // x is y now
	FEM_CHECK_NEAR(fem_felt_tension(body, 0, &along), TOUGHNESS, 1e-4 * TOUGHNESS);
	FEM_CHECK_NEAR(fem_felt_tension(body, 0, &across), TOUGHNESS / RATIO, 1e-4 * TOUGHNESS);
	star_end(&star);
}

// The order of a step's splits, none of which is made.
static void order_of_step(Star *star, uint64_t step, int32_t out[27]) {
	star->step.separation_count = 27;
	for (int32_t i = 0; i < 27; i++)
		star->step.separations[i] = (FemSeparation){.node = i};
	star->body->step = &star->step;
	double area = INFINITY;
	FEM_CHECK_INT(fem_crack_split(star->body, &(FemCrackRules){.order = step, .dt = 1.0f / 60.0f}, &area).count, 0);
	star->body->step = NULL;
	for (int32_t i = 0; i < 27; i++)
		out[i] = star->step.separations[i].node;
}

// Fails when nodes are split in the same order in every step, which favours the same ones all the time.
FEM_TEST(separation, order_of_splits_changes_with_the_step) {
	Star star = star_create(1.0f);
	FEM_REQUIRE(fem_body_make_splittable(fem_world_find(star.world), star.body));
	int32_t first[27], again[27], next[27], seen[27] = {0};
	order_of_step(&star, 5, first);
	order_of_step(&star, 5, again);
	order_of_step(&star, 6, next);
	FEM_CHECK(memcmp(first, again, sizeof first) == 0);
	FEM_CHECK(memcmp(first, next, sizeof first) != 0);
	for (int32_t i = 0; i < 27; i++)
		seen[next[i]]++;
	for (int32_t i = 0; i < 27; i++)
		FEM_CHECK_INT(seen[i], 1);
	star_end(&star);
}
