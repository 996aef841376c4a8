#include "simulation/project_settings.h"

#include "binding/conversions.h"
#include "simulation/debug_view.h"

#include <math.h>
#include <stddef.h>

typedef struct Setting {
	const char *name;
	GDExtensionVariantType type;
	double initial;
	int64_t hint;
	const char *hint_string;
} Setting;

enum {
	WORKER_COUNT,
	MAX_SUBSTEPS,
	MAX_STEP,
	GROUND_ENABLED,
	GROUND_HEIGHT,
	GROUND_FRICTION,
	COUPLING_ENABLED,
	CHARACTER_FORCE,
	OVERLAP,
	DEBUG_VIEW,
	BUDGET_MS,
	BUDGET_LIVE_TETS,
	BUDGET_PIECES,
	BUDGET_CONTACTS,
	KEEP_BAKES,
	BAKE_IN_BACKGROUND,
	SETTING_COUNT
};

static const Setting settings[SETTING_COUNT] = {
	[WORKER_COUNT] = {"physics/fem_destruction/worker_count", GDEXTENSION_VARIANT_TYPE_INT, 0, GD_PROPERTY_HINT_RANGE,
		"0,64,1"},
	[MAX_SUBSTEPS] = {"physics/fem_destruction/max_substeps", GDEXTENSION_VARIANT_TYPE_INT, 4, GD_PROPERTY_HINT_RANGE,
		"1,64,1"},
	[MAX_STEP] = {"physics/fem_destruction/max_step", GDEXTENSION_VARIANT_TYPE_FLOAT, 1.0 / 60.0,
		GD_PROPERTY_HINT_RANGE, "0.001,0.05,0.0001,suffix:s"},
	[GROUND_ENABLED] = {"physics/fem_destruction/ground_enabled", GDEXTENSION_VARIANT_TYPE_BOOL, 0,
		GD_PROPERTY_HINT_NONE, ""},
	[GROUND_HEIGHT] = {"physics/fem_destruction/ground_height", GDEXTENSION_VARIANT_TYPE_FLOAT, 0,
		GD_PROPERTY_HINT_RANGE, "-1000,1000,0.001,or_less,or_greater,suffix:m"},
	[GROUND_FRICTION] = {"physics/fem_destruction/ground_friction", GDEXTENSION_VARIANT_TYPE_FLOAT, 0.5,
		GD_PROPERTY_HINT_RANGE, "0,2,0.01,or_greater"},
	[COUPLING_ENABLED] = {"physics/fem_destruction/rigid_coupling", GDEXTENSION_VARIANT_TYPE_BOOL, 1,
		GD_PROPERTY_HINT_NONE, ""},
	[CHARACTER_FORCE] = {"physics/fem_destruction/character_push_force", GDEXTENSION_VARIANT_TYPE_FLOAT, 800,
		GD_PROPERTY_HINT_RANGE, "0,10000,1,or_greater,suffix:N"},
	[OVERLAP] = {"physics/fem_destruction/overlap", GDEXTENSION_VARIANT_TYPE_BOOL, 0, GD_PROPERTY_HINT_NONE, ""},
	[DEBUG_VIEW] = {"physics/fem_destruction/debug_view", GDEXTENSION_VARIANT_TYPE_INT, 0, GD_PROPERTY_HINT_FLAGS,
		DEBUG_VIEW_NAMES},
	[BUDGET_MS] = {"physics/fem_destruction/budget_ms", GDEXTENSION_VARIANT_TYPE_FLOAT, 4.0, GD_PROPERTY_HINT_RANGE,
		"0,33,0.1,or_greater,suffix:ms"},
	[BUDGET_LIVE_TETS] = {"physics/fem_destruction/budget_live_tets", GDEXTENSION_VARIANT_TYPE_INT, 0,
		GD_PROPERTY_HINT_RANGE, "0,100000,1,or_greater"},
	[BUDGET_PIECES] = {"physics/fem_destruction/budget_pieces", GDEXTENSION_VARIANT_TYPE_INT, 0, GD_PROPERTY_HINT_RANGE,
		"0,10000,1,or_greater"},
	[BUDGET_CONTACTS] = {"physics/fem_destruction/budget_contacts", GDEXTENSION_VARIANT_TYPE_INT, 0,
		GD_PROPERTY_HINT_RANGE, "0,100000,1,or_greater"},
	[KEEP_BAKES] = {"physics/fem_destruction/keep_bakes", GDEXTENSION_VARIANT_TYPE_BOOL, 1, GD_PROPERTY_HINT_NONE, ""},
	[BAKE_IN_BACKGROUND] = {"physics/fem_destruction/bake_in_background", GDEXTENSION_VARIANT_TYPE_BOOL, 1,
		GD_PROPERTY_HINT_NONE, ""},
};

// Members of FemWorldDef that stay as they are for the life of a world. The engine's default is the setting's, too.
typedef struct WorldSetting {
	const char *name; // with its path
	GDExtensionVariantType type;
	size_t offset; // of the member in FemWorldDef: a bool, an int32_t or a float, as `type` says
	double low, high;
	int64_t hint;
	const char *hint_string;
} WorldSetting;

#define WORLD_SETTING(member, variant_type, low, high, hint_kind, hint_text) \
	{ \
		"physics/fem_destruction/" #member, GDEXTENSION_VARIANT_TYPE_##variant_type, offsetof(FemWorldDef, member), \
			low, high, GD_PROPERTY_HINT_##hint_kind, hint_text \
	}

static const WorldSetting world_settings[] = {
	WORLD_SETTING(sleeping_enabled, BOOL, 0, 1, NONE, ""),
	WORLD_SETTING(sleep_speed, FLOAT, 0, 100, RANGE, "0,1,0.001,or_greater,suffix:m/s"),
	WORLD_SETTING(sleep_steps, INT, 1, 100000, RANGE, "1,600,1,or_greater"),
	WORLD_SETTING(wake_force_factor, FLOAT, 0, 1e6, RANGE, "0,10,0.01,or_greater"),
	WORLD_SETTING(node_speed_max, FLOAT, 1, 1e5, RANGE, "1,2000,1,or_greater,suffix:m/s"),
	WORLD_SETTING(solver_tolerance, FLOAT, 1e-7, 0.5, RANGE, "0.0000001,0.1,0.0000001,exp"),
	WORLD_SETTING(contacts_enabled, BOOL, 0, 1, NONE, ""),
	WORLD_SETTING(contact_capacity, INT, 64, 1 << 20, RANGE, "64,1048576,1"),
	WORLD_SETTING(contact_push, FLOAT, 0, 1, RANGE, "0,1,0.01"),
	WORLD_SETTING(friction_mode, INT, FEM_FRICTION_COULOMB, FEM_FRICTION_PAPER, ENUM, "Coulomb,Share of the Weight"),
	WORLD_SETTING(fracture_interval, INT, 0, 1000, RANGE, "0,60,1"),
	WORLD_SETTING(fracture_passes_max, INT, 0, 1000, RANGE, "0,100,1,or_greater"),
	WORLD_SETTING(fracture_splits_max, INT, 0, 1000000, RANGE, "0,10000,1,or_greater"),
	WORLD_SETTING(fracture_viscous, BOOL, 0, 1, NONE, ""),
};

_Static_assert(sizeof(FemFrictionMode) == sizeof(int32_t), "friction_mode is read and written as an int32_t");

static GdVariant initial_value(const Setting *setting) {
	switch (setting->type) {
	case GDEXTENSION_VARIANT_TYPE_BOOL: return make_variant_bool(setting->initial != 0.0);
	case GDEXTENSION_VARIANT_TYPE_INT: return make_variant_int((int64_t)setting->initial);
	default: return make_variant_float(setting->initial);
	}
}

static void declare_setting(const Setting *setting, bool is_basic) {
	GdString name = make_string(setting->name);
	GdVariant initial = initial_value(setting);
	if (!gd_project_settings_has_setting(&name)) {
		gd_project_settings_set_setting(&name, &initial);
	}
	gd_project_settings_set_initial_value(&name, &initial);
	gd_project_settings_set_as_basic(&name, is_basic);
	GdDictionary info = gd_dictionary_new();
	dictionary_take(&info, "name", make_variant_string(setting->name));
	dictionary_take(&info, "type", make_variant_int(setting->type));
	dictionary_take(&info, "hint", make_variant_int(setting->hint));
	dictionary_take(&info, "hint_string", make_variant_string(setting->hint_string));
	gd_project_settings_add_property_info(&info);
	gd_dictionary_free(&info);
	variant_free(&initial);
	gd_string_free(&name);
}

// Anything that is not a finite number counts as the default.
static double read_setting(const Setting *setting) {
	GdString name = make_string(setting->name);
	GdVariant initial = initial_value(setting);
	GdVariant value = gd_project_settings_get_setting(&name, &initial);
	double number = setting->initial;
	if (!variant_to(&value, GDEXTENSION_VARIANT_TYPE_FLOAT, &number) || !isfinite(number)) {
		number = setting->initial;
		report_warning("The project setting %s is not a number; its default is used.", setting->name);
	}
	variant_free(&value);
	variant_free(&initial);
	gd_string_free(&name);
	return number;
}

static double world_def_number(const FemWorldDef *def, const WorldSetting *setting) {
	const char *member = (const char *)def + setting->offset;
	switch (setting->type) {
	case GDEXTENSION_VARIANT_TYPE_BOOL: return *(const bool *)member;
	case GDEXTENSION_VARIANT_TYPE_INT: return *(const int32_t *)member;
	default: return (double)*(const float *)member;
	}
}

static void set_world_def_number(FemWorldDef *def, const WorldSetting *setting, double number) {
	char *member = (char *)def + setting->offset;
	switch (setting->type) {
	case GDEXTENSION_VARIANT_TYPE_BOOL: *(bool *)member = number != 0.0; break;
	case GDEXTENSION_VARIANT_TYPE_INT: *(int32_t *)member = (int32_t)number; break;
	default: *(float *)member = (float)number; break;
	}
}

static Setting as_setting(const WorldSetting *setting) {
	FemWorldDef defaults = fem_default_world_def();
	return (Setting){
		setting->name, setting->type, world_def_number(&defaults, setting), setting->hint, setting->hint_string};
}

static double clamp(double value, double low, double high) {
	return value < low ? low : value > high ? high : value;
}

static bool is_physics_on_thread(void) {
	GdString name = make_string("physics/3d/run_on_separate_thread");
	GdVariant none = make_variant_bool(false), value = gd_project_settings_get_setting(&name, &none);
	GDExtensionBool on = 0;
	bool is_on = variant_to(&value, GDEXTENSION_VARIANT_TYPE_BOOL, &on) && on;
	variant_free(&value);
	variant_free(&none);
	gd_string_free(&name);
	return is_on;
}

AddonSettings project_settings_load(void) {
	for (int i = 0; i < SETTING_COUNT; i++) {
		declare_setting(&settings[i], true);
	}
	for (size_t i = 0; i < sizeof(world_settings) / sizeof(world_settings[0]); i++) {
		Setting setting = as_setting(&world_settings[i]);
		declare_setting(&setting, false);
	}
	return (AddonSettings){
		.worker_count = (int32_t)clamp(read_setting(&settings[WORKER_COUNT]), 0, 64),
		.max_substeps = (int32_t)clamp(read_setting(&settings[MAX_SUBSTEPS]), 1, 64),
		.max_step = clamp(read_setting(&settings[MAX_STEP]), 1e-4, 0.25),
		.ground_enabled = read_setting(&settings[GROUND_ENABLED]) != 0.0,
		.ground_height = read_setting(&settings[GROUND_HEIGHT]),
		.ground_friction = clamp(read_setting(&settings[GROUND_FRICTION]), 0, 100),
		.physics_on_thread = is_physics_on_thread(),
		.coupling_enabled = read_setting(&settings[COUPLING_ENABLED]) != 0.0,
		.overlap = read_setting(&settings[OVERLAP]) != 0.0,
		.debug_view = (uint32_t)clamp(read_setting(&settings[DEBUG_VIEW]), 0, DEBUG_VIEW_ALL),
		.budget_ms = clamp(read_setting(&settings[BUDGET_MS]), 0, 1e6),
		.budget_live_tets = (int32_t)clamp(read_setting(&settings[BUDGET_LIVE_TETS]), 0, 1e9),
		.budget_pieces = (int32_t)clamp(read_setting(&settings[BUDGET_PIECES]), 0, 1e9),
		.budget_contacts = (int32_t)clamp(read_setting(&settings[BUDGET_CONTACTS]), 0, 1e9),
		.character_force = clamp(read_setting(&settings[CHARACTER_FORCE]), 0, 1e6),
	};
}

bool project_settings_keep_bakes(void) {
	return read_setting(&settings[KEEP_BAKES]) != 0.0;
}

bool project_settings_bake_in_background(void) {
	return read_setting(&settings[BAKE_IN_BACKGROUND]) != 0.0;
}

void project_settings_apply(FemWorldDef *def) {
	for (size_t i = 0; i < sizeof(world_settings) / sizeof(world_settings[0]); i++) {
		Setting setting = as_setting(&world_settings[i]);
		set_world_def_number(
			def, &world_settings[i], clamp(read_setting(&setting), world_settings[i].low, world_settings[i].high));
	}
}
