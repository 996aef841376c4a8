#include "scenes/scenes.h"

#include "fem_modes.h"
#include "filling/tetrahedralize.h"
#include "geometry/triangle_soup.h"
#include "scenes/box_mesh.h"
#include "scenes/contact_scenes.h"
#include "scenes/filled_mesh.h"
#include "scenes/fracture_scenes.h"
#include "scenes/level_scenes.h"
#include "scenes/surface_meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- building

static FemMeshId make_mesh(const FemScene *scene, FemWorldId world) {
	FemBoxMesh box = fem_box_mesh(scene->cells[0], scene->cells[1], scene->cells[2], scene->size, FEM_CELLS_FIVE);
	FemMeshDef def = fem_box_mesh_def(&box);
	float *plates = NULL;
	if (scene->plate_correction > 0.0f && (plates = malloc((size_t)box.tet_count * sizeof *plates)) != NULL) {
		for (int32_t t = 0; t < box.tet_count; t++)
			plates[t] = scene->plate_correction;
		def.tet_plates = plates;
	}
	FemMeshId mesh = fem_mesh_create(world, &def);
	free(plates);
	fem_box_mesh_free(&box);
	return mesh;
}

static FemMaterialId make_material(const FemScene *scene, FemWorldId world) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = scene->young_modulus;
	def.poisson_ratio = scene->poisson_ratio;
	def.density = scene->density;
	def.breakable = scene->toughness > 0.0f;
	def.toughness = scene->toughness;
	return fem_material_create(world, &def);
}

static FemSceneBodies bodies_reserve(int32_t count) {
	return (FemSceneBodies){.ids = calloc((size_t)count, sizeof(FemBodyId))};
}

// One body whose face x = 0 is clamped: in a box mesh those nodes come first.
static FemSceneBodies build_clamped(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = bodies_reserve(1);
	int32_t pinned_count = (scene->cells[1] + 1) * (scene->cells[2] + 1);
	int32_t *pinned = malloc((size_t)pinned_count * sizeof *pinned);
	if (bodies.ids && pinned) {
		for (int32_t i = 0; i < pinned_count; i++)
			pinned[i] = i;
		FemMaterialId material = make_material(scene, world);
		FemBodyDef def = fem_default_body_def();
		def.mesh = make_mesh(scene, world);
		def.materials = &material;
		def.material_count = 1;
		def.pinned_nodes = pinned;
		def.pinned_count = pinned_count;
		bodies.ids[0] = fem_body_create(world, &def);
		bodies.count = fem_body_is_valid(bodies.ids[0]) ? 1 : 0;
	}
	free(pinned);
	return bodies;
}

// Free bodies of one mesh on a cubic grid above the origin.
static FemSceneBodies build_grid(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = bodies_reserve(scene->body_count);
	if (!bodies.ids)
		return bodies;
	FemMaterialId material = make_material(scene, world);
	FemBodyDef def = fem_default_body_def();
	def.mesh = make_mesh(scene, world);
	def.materials = &material;
	def.material_count = 1;
	def.starts_asleep = scene->starts_asleep;
	def.angular_velocity = scene->angular_velocity;
	int32_t side = (int32_t)ceil(cbrt(scene->body_count));
	for (int32_t i = 0; i < scene->body_count; i++) {
		def.position = (FemPosition){(double)(scene->spacing * (float)(i % side)),
			1.0 + (double)(scene->spacing * (float)(i / side % side)),
			(double)(scene->spacing * (float)(i / side / side))};
		def.user_data = (uint64_t)i;
		bodies.ids[i] = fem_body_create(world, &def);
		if (!fem_body_is_valid(bodies.ids[i]))
			return bodies;
		bodies.count = i + 1;
	}
	return bodies;
}

// A vase as it is baked, with shell cells along its wall: it falls a little and stands on the ground.
static FemSceneBodies build_vase(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = bodies_reserve(1);
	FemSurfaceMesh surface = fem_surface_vase(0.3, 0.004, 40);
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef bake = fem_default_bake_def();
	FemTetMesh tets;
	bake.element_count = 600;
	if (bodies.ids && fem_tetrahedralize(&soup, &bake, &tets) == FEM_OK) {
		FemMeshDef mesh = fem_filled_mesh_def(&tets);
		FemMaterialId material = make_material(scene, world);
		FemBodyDef def = fem_default_body_def();
		def.mesh = fem_mesh_create(world, &mesh);
		def.materials = &material;
		def.material_count = 1;
		def.position = (FemPosition){0.0, 0.2, 0.0};
		bodies.ids[0] = fem_body_create(world, &def);
		bodies.count = fem_body_is_valid(bodies.ids[0]) ? 1 : 0;
	}
	fem_tet_mesh_free(&tets);
	fem_surface_mesh_free(&surface);
	return bodies;
}

// How high a bar lies or falls from is scene->spacing.
static void put_over_floor(const FemScene *scene, FemWorldId world, FemBodyId body) {
	fem_body_teleport(body, (FemPosition){0.0, (double)scene->spacing, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	if (scene->has_ground)
		return;
	FemColliderDef floor = fem_default_collider_def();
	floor.shape.type = FEM_SHAPE_BOX;
	floor.shape.half_extents = (FemVec3){5.0f, 0.5f, 5.0f};
	floor.position = (FemPosition){0.0, -0.5, 0.0};
	fem_collider_create(world, &floor);
}

// A bar that moves by its modes: clamped, or free over the ground or a floor. Without modes it moves by its elements.
static FemSceneBodies build_modal(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = scene->clamped ? build_clamped(scene, world) : build_grid(scene, world);
	if (bodies.count == 0)
		return bodies;
	if (!scene->clamped)
		put_over_floor(scene, world, bodies.ids[0]);
	if (scene->mode_count == 0)
		return bodies;
	FemModesDef def = fem_default_modes_def();
	def.mode_count = scene->mode_count;
	def.frequency_max = 0.0f;
	FemModes modes = {0};
	FemModesJob *job = fem_body_start_modes(bodies.ids[0], 1, &def);
	int32_t *nodes = NULL;
	bool made = job && fem_modes_finish(job, &modes) == FEM_OK &&
		(nodes = malloc(sizeof *nodes * (size_t)modes.node_count)) != NULL;
	if (made)
		fem_body_get_piece_nodes(bodies.ids[0], 1, nodes, modes.node_count);
	if (!made || fem_body_set_modes(bodies.ids[0], &modes, nodes) != FEM_OK ||
		fem_body_set_dynamics(bodies.ids[0], FEM_DYNAMICS_MODAL) != FEM_OK)
		bodies.count = 0;
	fem_modes_free(&modes);
	free(nodes);
	return bodies;
}

// ---- the list

#define EARTH \
	{ 0.0f, -9.81f, 0.0f }
#define BAR_MATERIAL .young_modulus = 1e6f, .poisson_ratio = 0.3f, .density = 1000.0f
#define BAR .build = build_clamped, BAR_MATERIAL, .gravity = EARTH, .body_count = 1, .clamped = true, .dt = 1.0f / 60.0f
#define PANE \
	.build = build_clamped, .cells = {20, 1, 10}, .size = {2.0f, 0.01f, 1.0f}, .poisson_ratio = 0.2f, \
	.density = 2500.0f, .gravity = EARTH, .body_count = 1, .clamped = true, .dt = 1.0f / 60.0f
#define SMALL_BODIES \
	.build = build_grid, .cells = {2, 2, 3}, .size = {0.2f, 0.2f, 0.3f}, BAR_MATERIAL, .gravity = EARTH, \
	.spacing = 0.6f, .dt = 1.0f / 60.0f

#define MODAL_BAR \
	.build = build_modal, .cells = {18, 5, 7}, .size = {1.0f, 0.25f, 0.35f}, BAR_MATERIAL, .gravity = EARTH, \
	.body_count = 1, .mode_count = 20, .dt = 1.0f / 60.0f

static const FemScene scenes[] = {
	{.name = "bar2k",
		.description = "clamped bar of 2,500 tets, E 1e6, swings under gravity",
		.cells = {20, 5, 5},
		.size = {1.6f, 0.4f, 0.4f},
		BAR},
	{.name = "bar12k",
		.description = "the same bar with 11,520 tets",
		.cells = {32, 8, 9},
		.size = {1.6f, 0.4f, 0.45f},
		BAR},
	{.name = "bar60k",
		.description = "the same bar with 58,800 tets",
		.cells = {56, 14, 15},
		.size = {1.6f, 0.4f, 0.428571429f},
		BAR},
	{.name = "pane",
		.description = "2 x 1 m plate 1 cm thick in one layer of 1,000 tets, clamped at one edge, E 1e8",
		PANE,
		.young_modulus = 1e8f},
	{.name = "pane_plate",
		.description = "the same pane with the plate correction, c = 1",
		PANE,
		.young_modulus = 1e8f,
		.plate_correction = 1.0f},
	{.name = "pane_stiff", .description = "the pane with E 7e10 (glass)", PANE, .young_modulus = 7e10f},
	{.name = "pane_stiff_plate",
		.description = "the glass pane with the plate correction, c = 1",
		PANE,
		.young_modulus = 7e10f,
		.plate_correction = 1.0f},
	{.name = "vase",
		.description = "a vase of 0.3 m with walls of 4 mm, some 560 tets, E 7e9, breaks at 4e7 Pa, that falls 5 cm "
					   "and stands on the ground",
		.build = build_vase,
		.young_modulus = 7e9f,
		.poisson_ratio = 0.22f,
		.density = 2400.0f,
		.toughness = 4e7f,
		.gravity = EARTH,
		.body_count = 1,
		.has_ground = true,
		.dt = 1.0f / 60.0f},
	{.name = "modal_swings",
		.description = "clamped bar of 3,150 tets, E 1e6, that swings by 20 modes (--modes 0: by its elements)",
		MODAL_BAR,
		.clamped = true},
	{.name = "modal_lies", .description = "the same bar on the ground", MODAL_BAR, .has_ground = true},
	{.name = "modal_floor", .description = "the same bar on a box that does not move", MODAL_BAR},
	{.name = "modal_bounces",
		.description = "the same bar, dropped on the ground from 0.5 m with a spin",
		MODAL_BAR,
		.angular_velocity = {1.0f, 1.0f, 5.0f},
		.spacing = 0.5f,
		.has_ground = true},
	{.name = "many1000", .description = "1,000 free bodies of 60 tets in the air", SMALL_BODIES, .body_count = 1000},
	{.name = "sleepers10k",
		.description = "10,000 sleeping bodies of 60 tets",
		SMALL_BODIES,
		.body_count = 10000,
		.starts_asleep = true,
		.sleeping_enabled = true},
	{.name = "tumble",
		.description = "a bar of 1 x 0.2 x 0.2 m, E 1e9, thrown with a spin of (1, 1, 5) rad/s without gravity",
		.build = build_grid,
		.cells = {5, 1, 1},
		.size = {1.0f, 0.2f, 0.2f},
		.young_modulus = 1e9f,
		.poisson_ratio = 0.3f,
		.density = 1000.0f,
		.angular_velocity = {1.0f, 1.0f, 5.0f},
		.body_count = 1,
		.spacing = 1.0f,
		.dt = 1.0f / 60.0f},
	{.name = "spin",
		.description = "one stiff cube of 320 tets, E 1e9, that spins at 10 rad/s without gravity",
		.build = build_grid,
		.cells = {4, 4, 4},
		.size = {0.4f, 0.4f, 0.4f},
		.young_modulus = 1e9f,
		.poisson_ratio = 0.3f,
		.density = 1000.0f,
		.angular_velocity = {2.6726124f, 5.3452248f, 8.0178373f},
		.body_count = 1,
		.spacing = 1.0f,
		.dt = 1.0f / 60.0f},
	FEM_CONTACT_SCENES,
	FEM_FRACTURE_SCENES,
	FEM_LEVEL_SCENES,
};

const FemScene *fem_scenes(int32_t *out_count) {
	*out_count = (int32_t)(sizeof scenes / sizeof *scenes);
	return scenes;
}

const FemScene *fem_scene_find(const char *name) {
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		if (strcmp(scenes[i].name, name) == 0)
			return &scenes[i];
	}
	return NULL;
}

FemWorldDef fem_scene_world_def(const FemScene *scene, int32_t worker_count) {
	FemWorldDef def = fem_default_world_def();
	def.gravity = scene->gravity;
	def.sleeping_enabled = scene->sleeping_enabled;
	def.ground_enabled = scene->has_ground;
	def.worker_count = worker_count;
	return def;
}

FemSceneBodies fem_scene_build(const FemScene *scene, FemWorldId world) {
	FemSceneBodies bodies = scene->build(scene, world);
	for (int32_t b = 0; scene->seed && b < bodies.count; b++)
		fem_body_set_fracture_seed(bodies.ids[b], scene->seed + (uint32_t)b);
	return bodies;
}

void fem_scene_bodies_free(FemSceneBodies *bodies) {
	free(bodies->ids);
	free(bodies->balls);
	*bodies = (FemSceneBodies){0};
}
