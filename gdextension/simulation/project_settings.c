#include "simulation/project_settings.h"

#include "binding/conversions.h"

#include <math.h>

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
	FRACTURE_INTERVAL,
	FRACTURE_VISCOUS,
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
	[FRACTURE_INTERVAL] = {"physics/fem_destruction/fracture_interval", GDEXTENSION_VARIANT_TYPE_INT, 1,
		GD_PROPERTY_HINT_RANGE, "0,60,1"},
	[FRACTURE_VISCOUS] = {"physics/fem_destruction/fracture_viscous", GDEXTENSION_VARIANT_TYPE_BOOL, 0,
		GD_PROPERTY_HINT_NONE, ""},
};

static GdVariant initial_value(const Setting *setting) {
	switch (setting->type) {
	case GDEXTENSION_VARIANT_TYPE_BOOL: return make_variant_bool(setting->initial != 0.0);
	case GDEXTENSION_VARIANT_TYPE_INT: return make_variant_int((int64_t)setting->initial);
	default: return make_variant_float(setting->initial);
	}
}

static void declare_setting(const Setting *setting) {
	GdString name = make_string(setting->name);
	GdVariant initial = initial_value(setting);
	if (!gd_project_settings_has_setting(&name)) {
		gd_project_settings_set_setting(&name, &initial);
	}
	gd_project_settings_set_initial_value(&name, &initial);
	gd_project_settings_set_as_basic(&name, true);
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
		declare_setting(&settings[i]);
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
		.character_force = clamp(read_setting(&settings[CHARACTER_FORCE]), 0, 1e6),
		.fracture_interval = (int32_t)clamp(read_setting(&settings[FRACTURE_INTERVAL]), 0, 1000),
		.fracture_viscous = read_setting(&settings[FRACTURE_VISCOUS]) != 0.0,
	};
}
