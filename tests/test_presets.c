// The materials that come with the addon, pulled until they break, dropped and struck: the strain, heights and speed
// that each states in its description are those it breaks at.
#include "contact_rig.h"
#include "fem_bake/files/file_bytes.h"
#include "fem_test.h"
#include "preset_rig.h"
#include "scenes/rig.h"
#include "things_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)
#define LENGTH 1.2 // m, of the bar
#define CELLS 12   // along it
#define GRIP 4     // of them at each end do not break: they are held to their width, which raises the stress in them
#define CELL_TETS (2 * 2 * 5)
#define PLANE_NODES (3 * 3)

// What is stated is the mean: without variation.
static FemRig make_bar(const FemMaterialDef *material) {
	FemRigDef def = fem_rig_bar_def(CELLS, 2, 2, FEM_CELLS_FIVE, material->poisson_ratio);
	float toughness[CELLS * CELL_TETS];
	for (int32_t i = 0; i < CELLS * CELL_TETS; i++)
		toughness[i] = i / CELL_TETS < GRIP || i / CELL_TETS >= CELLS - GRIP ? INFINITY : 1.0f;
	def.size = (FemVec3){(float)LENGTH, 0.2f, 0.2f};
	def.material = *material;
	def.material.toughness_variation = 0.0f;
	def.world.contacts_enabled = false;
	def.body.tet_toughness = toughness;
	return fem_rig_create(&def);
}

// Of the middle of the bar, between the grips.
static double gauge_strain(FemRig *rig) {
	double at[2] = {0.0, 0.0};
	fem_rig_read(rig);
	for (int32_t k = 0; k < PLANE_NODES; k++) {
		at[0] += (double)fem_rig_displacement(rig, GRIP * PLANE_NODES + k).x / PLANE_NODES;
		at[1] += (double)fem_rig_displacement(rig, (CELLS - GRIP) * PLANE_NODES + k).x / PLANE_NODES;
	}
	return (at[1] - at[0]) / (LENGTH * (CELLS - 2 * GRIP) / CELLS);
}

static void drive_tip(const FemRig *rig, float speed) {
	for (int32_t i = fem_rig_tip_begin(rig); i < rig->box.node_count; i++)
		fem_body_drive_node(rig->body, i, (FemVec3){speed, 0.0f, 0.0f});
}

static bool has_broken(const FemRig *rig) {
	const FemFractureFace *faces;
	return fem_world_get_fracture_faces(rig->world, &faces) > 0;
}

// Pulls the bar along x, as slow as needed for waves to die away, up to twice the strain. Returns that at which it
// broke.
static double strain_at_break(const FemMaterialDef *material, double stated) {
	FemRig rig = make_bar(material);
	bool is_soft = material->young_modulus < 1e7f || material->max_plastic_strain > 0.0f;
	int32_t steps = is_soft ? 300 : 100;
	double speed = stated * LENGTH / (steps * (double)DT), broke = INFINITY;
	drive_tip(&rig, (float)speed);
	for (int32_t n = 1; n <= 2 * steps && isinf(broke); n++) {
		double before = gauge_strain(&rig);
		fem_world_step(rig.world, DT, 1);
		if (has_broken(&rig))
			broke = before;
	}
	fem_rig_destroy(&rig);
	return broke;
}

static void check_strain(const char *name, double measured, double stated) {
	fem_test_check(measured > 0.93 * stated && measured < 1.03 * stated, __FILE__, __LINE__,
		"%s states a strain at break of %.4g %% and breaks at %.4g %%", name, 100.0 * stated, 100.0 * measured);
}

static void check_preset(const char *name) {
	FemPreset preset;
	FEM_REQUIRE(fem_preset_load(name, &preset));
	FemMaterialDef def = preset.def;
	if (preset.strain_along > 0.0)
		def.grain_direction = (FemVec3){0.0f, 1.0f, 0.0f};
	check_strain(name, strain_at_break(&def, preset.strain), preset.strain);
	if (preset.strain_along > 0.0) {
		def.grain_direction = (FemVec3){1.0f, 0.0f, 0.0f};
		check_strain(name, strain_at_break(&def, preset.strain_along), preset.strain_along);
	}
}

static const char *const all_presets[] = {"oak", "pine", "plywood", "pane_glass", "tempered_glass", "concrete", "brick",
	"stone", "ceramic", "steel_sheet", "aluminium", "rubber", "jelly", "ice", "cardboard", "plaster", "porcelain",
	"sandstone", "tile", "chocolate", "plastic"};
#define PRESET_COUNT ((int)(sizeof all_presets / sizeof *all_presets))

// Fails when a modulus is lowered and its toughness is not, or the description is not that of the values.
FEM_TEST(presets, break_at_the_strain_they_state) {
	for (int i = 0; i < PRESET_COUNT; i++)
		check_preset(all_presets[i]);
}

FEM_TEST(presets, brittle_ones_hardly_stretch) {
	const char *names[] = {"pane_glass", "tempered_glass", "concrete", "brick", "stone", "ceramic", "ice", "plaster",
		"porcelain", "sandstone", "tile", "chocolate"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		FemPreset preset;
		FEM_REQUIRE(fem_preset_load(names[i], &preset));
		FEM_CHECK(preset.strain < 0.002);
		FEM_CHECK(preset.def.max_plastic_strain == 0.0f);
	}
}

// Stretched by 5 % and let go they stay nearly as long, whole. Fails when they break before they yield.
FEM_TEST(presets, metals_yield_before_they_break) {
	const char *names[] = {"steel_sheet", "aluminium"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		FemPreset preset;
		bool broke = false;
		FEM_REQUIRE(fem_preset_load(names[i], &preset));
		FEM_CHECK(preset.def.yield_strain < 0.25f * preset.def.toughness / preset.def.young_modulus);
		FemRig rig = make_bar(&preset.def);
		drive_tip(&rig, (float)(0.05 * LENGTH / (100.0 * (double)DT)));
		for (int n = 0; n < 100; n++) {
			fem_world_step(rig.world, DT, 1);
			broke |= has_broken(&rig);
		}
		for (int32_t k = fem_rig_tip_begin(&rig); k < rig.box.node_count; k++)
			fem_body_release_node(rig.body, k);
		for (int n = 0; n < 60; n++) {
			fem_world_step(rig.world, DT, 1);
			broke |= has_broken(&rig);
		}
		fem_rig_read(&rig);
		FemVec3 u = fem_rig_displacement(&rig, rig.box.node_count - 1);
		FEM_CHECK(!broke);
		FEM_CHECK(u.x > 0.04f && u.x < 0.06f);
		fem_rig_destroy(&rig);
	}
}

// ---- blows

typedef struct Blown {
	FemTetMesh tile, block, slab;
	int32_t elements;
} Blown;

static Blown make_blown(int32_t elements) {
	return (Blown){fem_thing_box((FemVec3){0.3f, 0.02f, 0.3f}, elements),
		fem_thing_box((FemVec3){0.3f, 0.1f, 0.3f}, elements), fem_thing_box((FemVec3){1.0f, 0.05f, 0.6f}, elements),
		elements};
}

static void free_blown(Blown *blown) {
	fem_tet_mesh_free(&blown->tile);
	fem_tet_mesh_free(&blown->block);
	fem_tet_mesh_free(&blown->slab);
}

static int32_t pieces_of_fall(const FemPreset *preset, const Blown *blown, double height, double hz) {
	FemThingScene scene = fem_thing_scene(preset->is_block ? &blown->block : &blown->tile, &preset->def);
	scene.rotation = fem_rotation_z(0.3);
	scene.height = height;
	scene.hz = hz;
	return fem_thing_run(&scene).pieces;
}

#define PAST 0.35 // m: a ball that has gone as far is through

static FemThingResult strike_slab(const FemPreset *preset, const Blown *blown, double mass, double speed, double hz) {
	FemThingScene scene = fem_thing_scene(&blown->slab, &preset->def);
	scene.pin_outside = true;
	scene.pin_low = (FemVec3){0.08f, 0.0f, 0.0f};
	scene.pin_high = (FemVec3){0.92f, 1.0f, 1.0f};
	scene.ball_mass = (float)mass;
	scene.ball_radius = 0.1f;
	scene.ball_at = (FemPosition){0.03, 0.14, 0.02};
	scene.ball_velocity = (FemVec3){0.0f, -(float)speed, 0.0f};
	scene.hz = hz;
	scene.seconds = 0.3 + 0.4 / speed;
	return fem_thing_run(&scene);
}

static bool goes_through(const FemPreset *preset, const Blown *blown, double mass, double speed, double hz) {
	return strike_slab(preset, blown, mass, speed, hz).ball_past > PAST;
}

static void check_blows(const char *name, const Blown *blown, double hz) {
	FemPreset preset;
	FEM_REQUIRE(fem_preset_load(name, &preset));
	fem_test_check(preset.whole_from > 0.0 && preset.stopped_speed > 0.0 && preset.stopped_mass > 0.0, __FILE__,
		__LINE__, "%s states no heights or speeds", name);
	int32_t whole = pieces_of_fall(&preset, blown, preset.whole_from, hz);
	fem_test_check(whole == 1, __FILE__, __LINE__, "%s, %d tets, falls %g m at %g Hz: %d pieces", name, blown->elements,
		preset.whole_from, hz, whole);
	if (preset.breaks_from > 0.0) {
		int32_t broken = pieces_of_fall(&preset, blown, preset.breaks_from, hz);
		fem_test_check(broken > 1, __FILE__, __LINE__, "%s, %d tets, falls %g m at %g Hz and stays whole", name,
			blown->elements, preset.breaks_from, hz);
	}
	if (preset.through_speed > 0.0)
		fem_test_check(goes_through(&preset, blown, 10.0, preset.through_speed, hz), __FILE__, __LINE__,
			"10 kg at %g m/s do not go through a slab of %s, %d tets, at %g Hz", preset.through_speed, name,
			blown->elements, hz);
	fem_test_check(!goes_through(&preset, blown, preset.stopped_mass, preset.stopped_speed, hz), __FILE__, __LINE__,
		"%g kg at %g m/s go through a slab of %s, %d tets, at %g Hz", preset.stopped_mass, preset.stopped_speed, name,
		blown->elements, hz);
}

// Metal and cardboard keep a dent; plastic, rubber and jelly do not. Fails when metal springs back.
FEM_TEST(presets, what_does_not_break_dents_or_springs_back) {
	static const char *const names[] = {"steel_sheet", "aluminium", "cardboard", "plastic", "rubber", "jelly"};
	static const double rates[] = {60.0, 30.0, 120.0};
	for (int m = 0; m < (fem_long_tests() ? 2 : 1); m++) {
		Blown blown = make_blown(m ? 700 : 300);
		for (int n = 0; n < (fem_long_tests() ? 18 : 6); n++) {
			FemPreset preset;
			FEM_REQUIRE(fem_preset_load(names[n % 6], &preset));
			FemThingResult result =
				strike_slab(&preset, &blown, preset.stopped_mass, preset.stopped_speed, rates[n / 6]);
			fem_test_check(result.pieces == 1 && (n % 6 < 3 ? result.plastic > 3e-3 : result.plastic < 1e-2), __FILE__,
				__LINE__, "%s, %d tets, %.0f Hz: %d pieces, plastic strain %g", names[n % 6], blown.elements,
				rates[n / 6], result.pieces, result.plastic);
		}
		free_blown(&blown);
	}
}

// A block falls 0.1 m and 5 m. Fails when blows have a strength that toughness does not change.
FEM_TEST(presets, toughness_decides_under_blows) {
	static const char *const names[] = {"concrete", "stone", "ceramic", "brick", "ice"};
	static const float factors[] = {0.1f, 1.0f, 100.0f};
	Blown blown = make_blown(300);
	for (int i = 0; i < (fem_long_tests() ? 5 : 2); i++) {
		FemPreset preset;
		int32_t low[3], high[3];
		FEM_REQUIRE(fem_preset_load(names[i], &preset));
		float toughness = preset.def.toughness;
		preset.is_block = true;
		for (int k = 0; k < 3; k++) {
			preset.def.toughness = factors[k] * toughness;
			low[k] = pieces_of_fall(&preset, &blown, 0.1, 60.0);
			high[k] = pieces_of_fall(&preset, &blown, 5.0, 60.0);
		}
		printf("  %s, a tenth as tough: %d and %d pieces; as it is: %d and %d; 100 times: %d and %d\n", names[i],
			low[0], high[0], low[1], high[1], low[2], high[2]);
		FEM_CHECK(low[0] > 1 && high[0] > 1);
		FEM_CHECK(low[1] == 1 && high[1] > 1);
		FEM_CHECK(low[2] == 1 && high[2] == 1);
	}
	free_blown(&blown);
}

// The row of a material in the addon's README.
static void check_row(const char *readme, const char *name) {
	FemPreset preset;
	char row[256], breaks[32] = "", through[32] = "";
	FEM_REQUIRE(fem_preset_load(name, &preset));
	if (preset.breaks_from > 0.0)
		snprintf(breaks, sizeof breaks, "%g m", preset.breaks_from);
	if (preset.through_speed > 0.0)
		snprintf(through, sizeof through, "10 kg at %g m/s", preset.through_speed);
	snprintf(row, sizeof row, "| %s | %s | %s | %g m | %s | %g kg at %g m/s |", name,
		preset.is_block ? "block" : "tile", breaks, preset.whole_from, through, preset.stopped_mass,
		preset.stopped_speed);
	fem_test_check(strstr(readme, row) != NULL, __FILE__, __LINE__, "the README has no row \"%s\"", row);
}

// Fails when a material's heights change and the table of them does not.
FEM_TEST(presets, readme_states_what_they_state) {
	FemFileBytes file;
	FEM_REQUIRE(fem_file_read("addons/fem_destruction/README.md", &file) == FEM_OK);
	char *readme = calloc(file.size + 1, 1);
	memcpy(readme, file.bytes, file.size);
	for (int i = 0; i < PRESET_COUNT; i++)
		check_row(readme, all_presets[i]);
	free(readme);
	fem_file_free(&file);
}

// A shelf of 1.4 m and 4 cm, held at both ends, left alone for 8 s: it bears its weight and falls asleep whole.
static void check_shelf(const FemTetMesh *shelf, const char *name, double hz, double seconds) {
	FemPreset preset;
	FEM_REQUIRE(fem_preset_load(name, &preset));
	FemThingScene scene = fem_thing_scene(shelf, &preset.def);
	scene.pin_outside = true;
	scene.pin_low = (FemVec3){0.06f, -1.0f, -1.0f};
	scene.pin_high = (FemVec3){0.94f, 2.0f, 2.0f};
	scene.hz = hz;
	scene.seconds = seconds;
	scene.sleeps = true;
	FemThingResult result = fem_thing_run(&scene);
	bool is_soft = preset.def.young_modulus < 1e7f; // hangs and sways for long
	fem_test_check(result.pieces == 1 && (result.is_asleep || is_soft || seconds < 4.0), __FILE__, __LINE__,
		"a shelf of %s at %g Hz: %d pieces, %s", name, hz, result.pieces, result.is_asleep ? "asleep" : "awake");
}

// Fails when what becomes rigid or falls asleep under its load breaks of that.
FEM_TEST(presets, shelves_bear_their_weight) {
	static const double rates[] = {60.0, 30.0, 120.0};
	FemTetMesh shelf = fem_thing_box((FemVec3){1.4f, 0.04f, 0.3f}, 300);
	for (int r = 0; r < (fem_long_tests() ? 3 : 1); r++) {
		for (int i = 0; i < PRESET_COUNT; i++)
			check_shelf(&shelf, all_presets[i], rates[r], fem_long_tests() ? 8.0 : 1.0);
	}
	fem_tet_mesh_free(&shelf);
}

// Fails when a strength is changed and what is told of it is not, or what breaks depends on rate or mesh.
FEM_TEST(presets, fall_and_are_struck_as_they_state) {
	static const double rates[] = {60.0, 30.0, 120.0};
	static const int32_t sizes[] = {300, 700};
	static const char *const few[] = {"pane_glass", "ceramic", "concrete", "steel_sheet"};
	for (int m = 0; m < (fem_long_tests() ? 2 : 1); m++) {
		Blown blown = make_blown(sizes[m]);
		for (int r = 0; r < (fem_long_tests() ? 3 : 1); r++) {
			for (int i = 0; i < (fem_long_tests() ? PRESET_COUNT : 4); i++)
				check_blows(fem_long_tests() ? all_presets[i] : few[i], &blown, rates[r]);
		}
		free_blown(&blown);
	}
}
