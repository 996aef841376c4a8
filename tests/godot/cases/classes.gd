extends "res://test_case.gd"
## What the addon registers: classes, members, defaults, hints.

const BODY_DEFAULTS := {
	"material": null,
	"region_materials": [],
	"freeze": false,
	"gravity_scale": 1.0,
	"start_asleep": false,
	"collision_layer": 1,
	"collision_mask": 1,
	"self_contact": true,
	"impact_speed_min": 1.0,
	"strength_scale": 1.0,
	"invulnerable": false,
	"debris_fade": 0.5,
	"splinter_blend": 0.05,
	"element_count": 1000,
	"wall_thickness": 0.0,
	"mass_override": 0.0,
	"bake_in_background": false,
	"start_velocity": Vector3.ZERO,
	"start_angular_velocity": Vector3.ZERO,
	"anchors": [],
	"start_state": {},
	"fracture_seed": 0,
	"debris_cap": 0,
	"debris_lifetime": 0.0,
	"debug_draw_tets": false,
	"layers": 1,
	"cast_shadow": GeometryInstance3D.SHADOW_CASTING_SETTING_ON,
	"dynamics": DestructibleBody.DYNAMICS_AUTO,
	"rigid_piece_count": 0,
	"energy_release": 1.0,
	"breaks_per_second": 0.0,
	"refine_on_break": false,
	"mesh": null,
	"size": Vector3.ONE,
	"cells": Vector3i(4, 4, 4),
	"surface_material": null,
}
const MATERIAL_DEFAULTS := {
	"stiffness": 1e6,
	"description": "",
	"density": 1000.0,
	"ductility": 0.0,
	"friction": 0.5,
	"restitution": 0.0,
	"toughness_mode": MaterialResource.TOUGHNESS_STRESS,
	"splinter_pattern": MaterialResource.SPLINTERS_NONE,
	"surface_material": null,
	"interior_material": null,
	"damping": 0.002,
	"max_plastic_strain": 0.0,
	"yield_strain": 0.0,
	"creep_rate": 1e6,
	"plasticity_mode": MaterialResource.PLASTICITY_FULL,
	"poisson_ratio": 0.3,
	"mass_damping": 0.0,
	"breakable": false,
	"toughness": 1e6,
	"toughness_variation": 0.1,
	"crack_speed": 1000.0,
	"fragment_size": 0.0,
	"fragment_variation": 0.0,
	"impact_stiffness": 0.0,
	"impact_toughness_ratio": 1.0,
	"initial_strain": Vector3.ZERO,
	"prestress": 0.0,
	"crush_strength": 0.0,
	"crease_strength": 1.0,
	"crease_angle": 0.2,
	"grain_direction": Vector3.ZERO,
	"grain_ratio": 1.0,
	"grain_stiffness_ratio": 1.0,
	"mortar_strength": 1.0,
	"course_height": 0.081,
	"max_solver_iterations": 400,
}
const SERVER_PROPERTIES: Array[String] = [
	"worker_count", "ground_enabled", "ground_height", "ground_friction", "gravity_override", "gravity",
	"budget_ms", "budget_live_tets", "budget_pieces", "budget_contacts", "budget_recording",
]


func test_classes_are_registered() -> void:
	check(ClassDB.class_exists(&"DestructibleBody"), "DestructibleBody is not registered")
	check_equal(ClassDB.get_parent_class(&"DestructibleBody"), &"VisualInstance3D", "parent of DestructibleBody")
	check_equal(ClassDB.get_parent_class(&"DestructibleMesh"), &"Resource", "parent of DestructibleMesh")
	check_equal(ClassDB.get_parent_class(&"MaterialResource"), &"Resource", "parent of MaterialResource")
	check(ClassDB.can_instantiate(&"DestructibleBody"), "DestructibleBody cannot be made")
	check(ClassDB.can_instantiate(&"MaterialResource"), "MaterialResource cannot be made")
	check(not ClassDB.can_instantiate(&"DestructionServer"), "a second DestructionServer can be made")
	check(Engine.has_singleton("DestructionServer"), "there is no DestructionServer")


func test_instances_by_name() -> void:
	var body: Node = ClassDB.instantiate(&"DestructibleBody")
	check(body is DestructibleBody and body is Node3D, "ClassDB makes no DestructibleBody")
	body.free()
	check(ClassDB.instantiate(&"MaterialResource") is MaterialResource, "ClassDB makes no MaterialResource")


func test_body_defaults() -> void:
	var body := DestructibleBody.new()
	_check_defaults(body, BODY_DEFAULTS)
	check_equal(body.get_node_count(), 125, "nodes of the default box")
	check_equal(body.get_tet_count(), 320, "tets of the default box")
	check(not body.is_simulated(), "a body outside the tree is simulated")
	body.free()


func test_material_defaults() -> void:
	_check_defaults(MaterialResource.new(), MATERIAL_DEFAULTS)


func test_properties_can_be_set() -> void:
	var body := DestructibleBody.new()
	var material := MaterialResource.new()
	var look := StandardMaterial3D.new()
	body.material = material
	body.surface_material = look
	body.size = Vector3(1, 2, 3)
	body.cells = Vector3i(2, 3, 4)
	body.start_velocity = Vector3(0, 1, 0)
	check(body.material == material, "material is lost")
	check(body.surface_material == look, "surface_material is lost")
	check_equal(body.size, Vector3(1, 2, 3), "size")
	check_equal(body.cells, Vector3i(2, 3, 4), "cells")
	check_equal(body.start_velocity, Vector3(0, 1, 0), "start_velocity")
	check_equal(body.get_node_count(), 60, "nodes of 2 x 3 x 4 cells")
	body.free()


func test_inspector_hints() -> void:
	var body := DestructibleBody.new()
	var material := MaterialResource.new()
	for member: String in ["stiffness", "density", "damping", "poisson_ratio", "yield_strain", "creep_rate"]:
		check_equal(find_property(material, member).hint, PROPERTY_HINT_RANGE, "hint of " + member)
	check_equal(find_property(material, "plasticity_mode").hint, PROPERTY_HINT_ENUM, "hint of plasticity_mode")
	check_equal(find_property(body, "material").hint, PROPERTY_HINT_RESOURCE_TYPE, "hint of material")
	check_equal(find_property(body, "material").hint_string, "MaterialResource", "type of material")
	_check_suffix(material, "stiffness", "Pa")
	_check_suffix(material, "density", "kg/m³")
	_check_suffix(material, "damping", "s")
	_check_suffix(body, "size", "m")
	_check_suffix(body, "start_velocity", "m/s")
	_check_suffix(body, "debris_lifetime", "s")
	_check_suffix(material, "toughness", "Pa")
	_check_suffix(body, "debris_fade", "s")
	_check_suffix(body, "splinter_blend", "s")
	_check_suffix(body, "impact_speed_min", "m/s")
	check_equal(find_property(body, "collision_layer").hint, PROPERTY_HINT_LAYERS_3D_PHYSICS, "hint of collision_layer")
	check_equal(find_property(material, "splinter_pattern").hint_string, "None,Voronoi,Glass,Wood,Brick,Surfaces", "splinter patterns")
	for member: String in ["stiffness", "density", "toughness"]:
		check(find_property(material, member).hint_string.contains("exp"), "the slider of %s is not exponential" % member)
	for group: String in ["Motion", "Collision", "Fracture", "Display"]:
		check(find_property(body, group).get("usage", 0) & PROPERTY_USAGE_GROUP != 0, "there is no group " + group)
	for group: String in ["Fracture", "Look", "Advanced"]:
		check(find_property(material, group).get("usage", 0) & PROPERTY_USAGE_GROUP != 0, "there is no group " + group)
	body.free()


func test_signals() -> void:
	for signal_name: StringName in [&"slept", &"woke", &"impacted", &"step_failed", &"fractured", &"crushed", &"piece_detached"]:
		check(ClassDB.class_has_signal(&"DestructibleBody", signal_name), "there is no signal " + signal_name)


func test_server_members() -> void:
	for member in SERVER_PROPERTIES:
		check(not find_property(DestructionServer, member).is_empty(), "DestructionServer has no " + member)
	check(DestructionServer.get_version().split(".").size() == 3, "the version is " + DestructionServer.get_version())
	check(DestructionServer.worker_count >= 1, "there are no workers")
	check(DestructionServer.ground_enabled, "the ground is off, though the project has it on")


func test_step_errors_have_names() -> void:
	var values: Array[int] = []
	for constant in ClassDB.class_get_enum_constants(&"DestructionServer", &"StepErrors"):
		values.append(ClassDB.class_get_integer_constant(&"DestructionServer", constant))
	check_equal(values, [1, 2, 4, 8, 16, 32, 64] as Array[int], "bits of StepErrors")
	check(ClassDB.is_class_enum_bitfield(&"DestructionServer", &"StepErrors"), "StepErrors is no bit field")
	check_equal(DestructionServer.STEP_CONTACTS_FULL, 32, "STEP_CONTACTS_FULL")
	check_equal(DestructionServer.STEP_NO_MEMORY, 64, "STEP_NO_MEMORY")


func test_project_settings() -> void:
	for setting: String in ["worker_count", "max_substeps", "max_step", "ground_enabled", "ground_height", "ground_friction", "rigid_coupling", "character_push_force", "overlap", "debug_view", "budget_ms", "budget_live_tets", "budget_pieces", "budget_contacts", "keep_bakes", "bake_in_background"]:
		check(ProjectSettings.has_setting("physics/fem_destruction/" + setting), "there is no project setting " + setting)
	check_equal(ProjectSettings.property_get_revert("physics/fem_destruction/ground_enabled"), false, "the ground by default")
	check_equal(ProjectSettings.property_get_revert("physics/fem_destruction/bake_in_background"), true, "bakes by default")
	for on: bool in [true, false]:
		ProjectSettings.set_setting("physics/fem_destruction/bake_in_background", on)
		var body := DestructibleBody.new()
		check_equal(body.bake_in_background, on, "bake_in_background of a new body")
		body.free()


func _check_defaults(object: Object, defaults: Dictionary) -> void:
	for member: String in defaults:
		var value: Variant = object.get(member)
		var expected: Variant = defaults[member]
		if expected is float:
			check_near(value, expected, 1e-9 + absf(expected) * 1e-6, member)
		else:
			check_equal(value, expected, member)
		var registered: Variant = ClassDB.class_get_property_default_value(object.get_class(), member)
		check_equal(registered, value, "registered default of " + member)


func _check_suffix(object: Object, member: String, suffix: String) -> void:
	var hint: String = find_property(object, member).get("hint_string", "")
	check(hint.ends_with("suffix:" + suffix), "the hint of %s is \"%s\"" % [member, hint])
