extends "res://test_case.gd"
## MaterialResource: files, limits, changes during play.

const PATH := "user://material_test.tres"
const VALUES := {
	"stiffness": 123456.0,
	"poisson_ratio": 0.41,
	"density": 2400.0,
	"damping": 0.005,
	"mass_damping": 0.25,
	"plasticity_mode": MaterialResource.PLASTICITY_DEVIATORIC,
	"yield_strain": 0.002,
	"creep_rate": 12.5,
	"max_plastic_strain": 0.7,
	"breakable": true,
	"toughness": 54321.0,
	"toughness_variation": 0.25,
	"crack_speed": 20.0,
	"fragment_size": 0.07,
	"fragment_variation": 2.5,
	"impact_stiffness": 5e10,
	"impact_toughness_ratio": 0.4,
	"initial_strain": Vector3(0.01, -0.02, 0.25),
	"prestress": 4000.0,
	"crush_strength": 4e6,
	"crease_strength": 0.25,
	"crease_angle": 0.3,
	"grain_direction": Vector3(0, 1, 0),
	"grain_ratio": 10.0,
	"grain_stiffness_ratio": 12.0,
	"mortar_strength": 0.4,
	"course_height": 0.2,
	"max_solver_iterations": 77,
	"description": "A test",
	"ductility": 0.3,
	"friction": 0.8,
	"restitution": 0.6,
	"toughness_mode": MaterialResource.TOUGHNESS_FORCE,
	"splinter_pattern": MaterialResource.SPLINTERS_WOOD,
}


func test_save_and_load() -> void:
	var material := MaterialResource.new()
	for member: String in VALUES:
		material.set(member, VALUES[member])
	check_equal(ResourceSaver.save(material, PATH), OK, "result of saving")
	var loaded: MaterialResource = ResourceLoader.load(PATH, "", ResourceLoader.CACHE_MODE_IGNORE)
	if check(loaded != null and loaded != material, "the file does not load as a new MaterialResource"):
		for member: String in VALUES:
			check_equal(loaded.get(member), VALUES[member], member)
	DirAccess.remove_absolute(ProjectSettings.globalize_path(PATH))


func test_saved_in_a_scene() -> void:
	var body := DestructibleBody.new()
	body.size = Vector3(1, 2, 3)
	body.material = MaterialResource.new()
	body.material.stiffness = 5e4
	var packed := PackedScene.new()
	check_equal(packed.pack(body), OK, "result of packing")
	body.free()
	var copy: DestructibleBody = packed.instantiate()
	check_equal(copy.size, Vector3(1, 2, 3), "size")
	check(copy.material != null and copy.material.stiffness == 5e4, "the material is lost")
	copy.free()


func test_values_are_limited() -> void:
	var material := MaterialResource.new()
	material.poisson_ratio = 0.5
	check(material.poisson_ratio < 0.5, "a Poisson ratio of 0.5 is accepted")
	material.poisson_ratio = -3.0
	check(material.poisson_ratio >= 0.0, "a negative Poisson ratio is accepted")
	material.stiffness = -5.0
	check(material.stiffness > 0.0, "a negative stiffness is accepted")
	material.density = 0.0
	check(material.density > 0.0, "a density of 0 is accepted")
	material.damping = -1.0
	check(material.damping >= 0.0, "a negative damping is accepted")
	material.toughness = -1.0
	check_equal(material.toughness, 0.0, "a negative toughness")
	material.toughness_variation = 3.0
	check(material.toughness_variation < 1.0, "a variation of 3 is accepted")
	material.grain_ratio = 0.0
	check_equal(material.grain_ratio, 1.0, "a grain ratio of 0")
	material.grain_stiffness_ratio = 1e9
	check_equal(material.grain_stiffness_ratio, 100.0, "a stiffness ratio of 1e9")
	material.max_solver_iterations = -1
	check(material.max_solver_iterations >= 1, "no iterations at all are accepted")


## In files of before it is a value of its own, which comes after those it depends on.
func test_impact_strength_sets_the_ratio() -> void:
	var material := MaterialResource.new()
	material.stiffness = 1e9
	material.toughness = 1e6
	material.impact_stiffness = 5e10
	check_near(material.impact_strength, 5e7, 1.0, "impact strength at a ratio of 1")
	material.set("impact_strength", 2e7)
	check_near(material.impact_toughness_ratio, 0.4, 1e-9, "ratio")
	material.toughness = 2e6
	check_near(material.impact_strength, 4e7, 1.0, "impact strength of twice the toughness")
	material.impact_strength = 0.0
	check_equal(material.impact_toughness_ratio, 1.0, "ratio without an impact strength")
	check_equal(ResourceSaver.save(material, PATH), OK, "result of saving")
	check(not FileAccess.get_file_as_string(PATH).contains("impact_strength"), "impact_strength is saved")
	DirAccess.remove_absolute(ProjectSettings.globalize_path(PATH))


## Of a material of one's own: hard solids have it by their density, in which sound goes 4000 m/s.
func test_impact_stiffness_is_found_from_the_density() -> void:
	var material := MaterialResource.new()
	check_equal(material.impact_strength, 0.0, "impact strength of what is soft")
	material.stiffness = 1e9
	material.toughness = 1e6
	material.density = 2500.0
	check_near(material.impact_strength, 1e-3 * 2500.0 * 4000.0 * 4000.0, 1.0, "impact strength of a hard solid")
	check_equal(material.impact_stiffness, 0.0, "impact_stiffness itself")
	material.stiffness = 1e12
	check_near(material.impact_strength, 1e6, 1.0, "impact strength of what is stiffer than its density says")


func test_not_a_number_is_refused() -> void:
	var material := MaterialResource.new()
	material.resource_name = "brittle stuff"
	expect_errors("a material value that is not a number", ["MaterialResource brittle stuff keeps its stiffness", "correct the script"])
	material.stiffness = NAN
	material.density = INF
	material.damping = -INF
	material.toughness = NAN
	material.impact_stiffness = INF
	material.grain_direction = Vector3(NAN, 0, 0)
	errors_end()
	check_equal(material.impact_stiffness, 0.0, "impact stiffness")
	check_equal(material.toughness, 1e6, "toughness")
	check_equal(material.grain_direction, Vector3.ZERO, "grain_direction")
	check_equal(material.stiffness, 1e6, "stiffness")
	check_equal(material.density, 1000.0, "density")
	check_near(material.damping, 0.002, 1e-9, "damping")


func test_unknown_mode_is_refused() -> void:
	var material := MaterialResource.new()
	expect_errors("an unknown plasticity mode")
	material.set("plasticity_mode", 7)
	errors_end()
	check_equal(material.plasticity_mode, MaterialResource.PLASTICITY_FULL, "plasticity_mode")


func test_changes_are_announced() -> void:
	var material := MaterialResource.new()
	var count := [0]
	material.changed.connect(func() -> void: count[0] += 1)
	material.stiffness = 2e6
	material.stiffness = 2e6
	check_equal(count[0], 1, "number of changed signals")


func test_mass_follows_density() -> void:
	var body := add_body(Vector3(0, 5, 0), Vector3(1, 2, 0.5))
	check_near(body.get_mass(), 1000.0, 1.0, "mass of 1 m³ of the default material")
	var material := MaterialResource.new()
	material.density = 500.0
	body.material = material
	await ticks(2)
	check_near(body.get_mass(), 500.0, 0.5, "mass after changing the material")
	material.density = 250.0
	await ticks(2)
	check_near(body.get_mass(), 250.0, 0.25, "mass after changing the density")


func test_duplicate_is_independent() -> void:
	var material := MaterialResource.new()
	material.stiffness = 5e5
	var copy: MaterialResource = material.duplicate()
	material.stiffness = 7e5
	check_equal(copy.stiffness, 5e5, "stiffness of the copy")


func test_soft_sags_more_than_stiff() -> void:
	var soft := add_body(Vector3(-2, 0.5, 0))
	var stiff := add_body(Vector3(2, 0.5, 0))
	soft.material = MaterialResource.new()
	soft.material.stiffness = 5e4
	stiff.material = MaterialResource.new()
	stiff.material.stiffness = 5e6
	await ticks(180)
	var soft_height := soft.get_aabb_world().size.y
	var stiff_height := stiff.get_aabb_world().size.y
	# A column under its own weight shortens by about density * g * h² / 2E: 98 mm and 1 mm here.
	check(soft_height < 0.95 and soft_height > 0.7, "the soft cube is %.3f m high" % soft_height)
	check(stiff_height > 0.99, "the stiff cube is %.3f m high" % stiff_height)


func test_plastic_dents_stay() -> void:
	var elastic := add_body(Vector3(-2, 4, 0))
	var clay := add_body(Vector3(2, 4, 0))
	elastic.material = MaterialResource.new()
	elastic.material.stiffness = 2e5
	clay.material = elastic.material.duplicate()
	clay.material.max_plastic_strain = 0.5
	clay.material.yield_strain = 0.01
	await ticks(300)
	var elastic_height := elastic.get_aabb_world().size.y
	var clay_height := clay.get_aabb_world().size.y
	check(clay_height < elastic_height - 0.02,
			"after the fall clay is %.3f m high and rubber %.3f m" % [clay_height, elastic_height])


const KNOBS := {
	"stiffness": 4e7,
	"density": 1500.0,
	"damping": 0.02,
	"friction": 0.05,
	"restitution": 0.7,
	"poisson_ratio": 0.1,
	"mass_damping": 3.0,
	"yield_strain": 0.001,
	"max_plastic_strain": 0.002,
	"creep_rate": 0.5,
	"plasticity_mode": MaterialResource.PLASTICITY_DEVIATORIC,
}
const KNOBS_OF_BRITTLE_THINGS := {
	"breakable": false,
	"toughness": 1e5,
	"ductility": 0.3,
	"toughness_mode": MaterialResource.TOUGHNESS_FORCE,
	"toughness_variation": 0.9,
	"grain_direction": Vector3(0, 1, 0),
	"grain_ratio": 50.0,
	"grain_stiffness_ratio": 5.0,
}


## Where the nodes of a bar are that strikes a floor and slides, and yields or breaks; `knob` is turned before it lands.
func _struck_bar(brittle: bool, knob := "", value: Variant = null) -> PackedVector3Array:
	var material := MaterialResource.new()
	material.stiffness = 1e7
	material.breakable = brittle
	material.toughness = 2e4
	material.yield_strain = 0.0 if brittle else 0.003
	material.max_plastic_strain = 0.0 if brittle else 0.3
	material.grain_direction = Vector3(1, 0, 0)
	material.grain_ratio = 2.0
	var body := DestructibleBody.new()
	body.size = Vector3(2, 0.3, 0.3)
	body.cells = Vector3i(8, 2, 2)
	body.position = Vector3(0, 1.2, 0)
	body.rotation = Vector3(0, 0, 0.4)
	body.start_velocity = Vector3(3, -8, 0)
	body.material = material
	scene.add_child(body)
	await ticks(3)
	if knob:
		material.set(knob, value)
	await ticks(40)
	var result := body.get_node_positions()
	body.free()
	await ticks(1)
	return result


func _check_knobs(brittle: bool, knobs: Dictionary) -> void:
	var untouched: PackedVector3Array = await _struck_bar(brittle)
	check_equal(await _struck_bar(brittle), untouched, "the same bar again")
	for knob: String in knobs:
		var turned: PackedVector3Array = await _struck_bar(brittle, knob, knobs[knob])
		var moved := absf(turned.size() - untouched.size()) # nodes of cracks
		for i in mini(turned.size(), untouched.size()):
			moved = maxf(moved, turned[i].distance_to(untouched[i]))
		check(moved > 1e-3, "%s moved nodes by %.6f m only" % [knob, moved])


func test_every_knob_takes_effect_during_play() -> void:
	add_floor() # the plane of DestructionServer has a friction of its own
	await _check_knobs(false, KNOBS)
	await _check_knobs(true, KNOBS_OF_BRITTLE_THINGS)
