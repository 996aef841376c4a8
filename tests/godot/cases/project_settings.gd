extends "res://test_case.gd"
## Project settings that a world keeps for its life: each is seen to act in a world made after it was set.

const PATH := "physics/fem_destruction/"
const DEFAULTS := {
	"sleeping_enabled": true, "sleep_speed": 0.03, "sleep_steps": 30, "wake_force_factor": 0.25,
	"node_speed_max": 500.0, "solver_tolerance": 0.001,
	"contacts_enabled": true, "contact_capacity": 16384, "contact_push": 0.2, "friction_mode": 0,
	"fracture_interval": 1, "fracture_passes_max": 24, "fracture_splits_max": 0, "fracture_viscous": false,
}


func end() -> void:
	for setting: String in DEFAULTS:
		ProjectSettings.set_setting(PATH + setting, DEFAULTS[setting])
	await super()


## A World3D of its own, in which all that is added has these settings.
func _world_with(setting: String, value: Variant) -> SubViewport:
	ProjectSettings.set_setting(PATH + setting, value)
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	scene.add_child(viewport)
	return viewport


func _add(world: SubViewport, position: Vector3, size := Vector3.ONE, cells := Vector3i(2, 2, 2), material: MaterialResource = null) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = size
	body.cells = cells
	body.position = position
	body.material = material
	world.add_child(body)
	return body


## A slab whose nodes are all fixed, with its upper side at height 1.
func _add_slab(world: SubViewport) -> DestructibleBody:
	var slab := DestructibleBody.new()
	slab.size = Vector3(3, 0.5, 3)
	slab.cells = Vector3i(6, 1, 6)
	slab.position.y = 0.75
	slab.anchors = [AABB(Vector3(-2, -1, -2), Vector3(4, 2, 4))]
	world.add_child(slab)
	return slab


func _brittle() -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = 1e7
	material.breakable = true
	material.toughness = 1e4
	return material


func test_defaults_and_hints() -> void:
	for setting: String in DEFAULTS:
		check(ProjectSettings.has_setting(PATH + setting), "there is no project setting " + setting)
		check_equal(type_string(typeof(ProjectSettings.get_setting(PATH + setting))), type_string(typeof(DEFAULTS[setting])), "type of " + setting)
		var value: float = ProjectSettings.property_get_revert(PATH + setting)
		check_near(value, float(DEFAULTS[setting]), 1e-6, setting + " by default")
	for property in ProjectSettings.get_property_list():
		if property.name == PATH + "friction_mode":
			check_equal(property.hint, PROPERTY_HINT_ENUM, "hint of friction_mode")


func test_what_is_no_number_counts_as_the_default() -> void:
	print("--one warning: a solver_tolerance of \"fine\"")
	var body := _add(_world_with("solver_tolerance", "fine"), Vector3(0, 10, 0))
	print("--warning end")
	await ticks(5)
	check(body.is_simulated() and body.get_linear_velocity().y < -0.5, "it does not fall")


func test_sleeping_enabled() -> void:
	for enabled: bool in [true, false]:
		var body := _add(_world_with("sleeping_enabled", enabled), Vector3(0, 0.5, 0))
		check_equal(await wait_for_sleep(body, 200), enabled, "with sleeping_enabled %s it sleeps" % enabled)
		body.free()


func _ticks_until_sleep(setting: String, value: Variant) -> int:
	var body := _add(_world_with(setting, value), Vector3(0, 0.5, 0))
	for tick in 400:
		if body.is_asleep():
			body.free()
			return tick
		await tree.physics_frame
	body.free()
	return 400


func test_sleep_steps() -> void:
	var early: int = await _ticks_until_sleep("sleep_steps", 5)
	var late: int = await _ticks_until_sleep("sleep_steps", 90)
	check(early < 60 and late > 90 and late < 400, "asleep after %d and %d ticks" % [early, late])


func test_sleep_speed() -> void:
	var early: int = await _ticks_until_sleep("sleep_speed", 5.0)
	check(early <= 40, "with a sleep_speed of 5 m/s asleep only after %d ticks" % early)
	check_equal(await _ticks_until_sleep("sleep_speed", 0.0), 400, "ticks until sleep with a sleep_speed of 0")


## Half its weight, upward: that wakes by default, not with a factor of 2. The same for the impulse of a light blow, which
## wakes the whole piece only if it could give it the speed of sleepers.
func test_wake_force_factor() -> void:
	for factor: float in [0.25, 2.0]:
		var body := _add(_world_with("wake_force_factor", factor), Vector3(0, 0.5, 0))
		check(await wait_for_sleep(body, 300), "it does not fall asleep")
		body.apply_central_force(Vector3(0, 0.5 * 9.8 * body.get_mass(), 0))
		await ticks(2)
		check_equal(body.is_asleep(), factor > 1.0, "with a factor of %s it sleeps on" % factor)
		body.free()


func test_node_speed_max() -> void:
	var body := _add(_world_with("node_speed_max", 2.0), Vector3(0, 20, 0))
	await ticks(40)
	check_near(body.get_linear_velocity().y, -2.0, 0.05, "speed of a fall of 0.67 s")


func _iterations_of_a_landing(tolerance: float) -> int:
	var body := _add(_world_with("solver_tolerance", tolerance), Vector3(0, 0.6, 0), Vector3.ONE, Vector3i(4, 4, 4))
	var sum := 0
	for i in 20:
		await tree.physics_frame
		sum += DestructionServer.get_statistics().iterations
	body.free()
	await ticks(2)
	return sum


func test_solver_tolerance() -> void:
	var rough: int = await _iterations_of_a_landing(0.1)
	var fine: int = await _iterations_of_a_landing(1e-6)
	check(fine > rough + 20 and rough > 0, "%d iterations at 1e-6, %d at 0.1" % [fine, rough])


func test_contacts_enabled() -> void:
	for enabled: bool in [true, false]:
		var world := _world_with("contacts_enabled", enabled)
		var slab := _add_slab(world)
		var cube := _add(world, Vector3(0, 2, 0))
		await ticks(40)
		check_equal(cube.get_center_of_mass().y > 1.4, enabled, "with contacts_enabled %s the slab bears the cube" % enabled)
		slab.free()
		cube.free()


func test_contact_capacity() -> void:
	for capacity: int in [512, 16384]:
		var world := _world_with("contact_capacity", capacity)
		var slab := _add_slab(world)
		var cube := _add(world, Vector3(0, 1.5, 0), Vector3(2.5, 1, 2.5), Vector3i(16, 1, 16))
		var errors := 0
		print("--%s warning: contact_capacity %d" % ["one" if capacity == 512 else "no", capacity])
		for i in 30:
			await tree.physics_frame
			errors |= int(DestructionServer.get_statistics().step_errors)
		print("--warning end")
		check_equal(errors & DestructionServer.STEP_CONTACTS_FULL != 0, capacity == 512, "contacts are full at %d" % capacity)
		slab.free()
		cube.free()
		await ticks(2)


## How deep a cube that was put 2 cm into the slab still is after a quarter of a second.
func _depth(push: float) -> float:
	var world := _world_with("contact_push", push)
	var slab := _add_slab(world)
	var cube := _add(world, Vector3(0.04, 1.48, 0.07))
	await ticks(15)
	var depth := 1.0 - lowest_node(cube)
	slab.free()
	cube.free()
	return depth


func test_contact_push() -> void:
	var stays: float = await _depth(0.0)
	var leaves: float = await _depth(0.2)
	check(stays > 0.015 and leaves < 0.01, "after 0.25 s %.4f m deep without push, %.4f m with it" % [stays, leaves])


## How far a cube slips in half a second that is pressed down with 20 times its weight and pushed sideways with 8
## times that, where the coefficient is 0.5.
func _slip(mode: int) -> float:
	var world := _world_with("friction_mode", mode)
	var slab := _add_slab(world)
	var stiff := MaterialResource.new()
	stiff.stiffness = 1e8
	var cube := _add(world, Vector3(0, 1.5, 0), Vector3.ONE, Vector3i(2, 2, 2), stiff)
	for i in 30:
		cube.apply_central_force(Vector3(8, -20, 0) * 9.8 * cube.get_mass())
		await tree.physics_frame
	var slip := cube.get_center_of_mass().x
	slab.free()
	cube.free()
	return slip


## The normal impulse of the contact bounds Coulomb's friction, and holds the cube; its weight alone does not.
func test_friction_mode() -> void:
	var coulomb: float = await _slip(0)
	var paper: float = await _slip(1)
	check(coulomb < 0.05 and paper > 0.2, "slips by %.3f m with Coulomb's friction, %.3f m with one by weight" % [coulomb, paper])


## The most nodes that split in a tick after a blast under a brittle plate.
func _splits_of_a_blast(setting: String, value: Variant) -> int:
	var plate := _add(_world_with(setting, value), Vector3(0, 10, 0), Vector3(1, 0.1, 1), Vector3i(8, 2, 8), _brittle())
	await ticks(2)
	plate.apply_explosion(Vector3(0, 9.3, 0), 2.0, 2000.0)
	var most := 0
	for i in 20:
		await tree.physics_frame
		most = maxi(most, DestructionServer.get_statistics().splits)
	plate.free()
	await ticks(2)
	return most


func test_fracture_interval() -> void:
	var always: int = await _splits_of_a_blast("fracture_interval", 1)
	var never: int = await _splits_of_a_blast("fracture_interval", 0)
	check(always > 0 and never == 0, "%d nodes split, %d with an interval of 0" % [always, never])


func test_fracture_splits_max() -> void:
	var unbounded: int = await _splits_of_a_blast("fracture_splits_max", 0)
	var bounded: int = await _splits_of_a_blast("fracture_splits_max", 1)
	check(unbounded > 30 and bounded >= 1 and bounded <= 24, "%d nodes split in a tick, %d when there may be one a pass" % [unbounded, bounded])


func test_fracture_passes_max() -> void:
	var many: int = await _splits_of_a_blast("fracture_passes_max", 24)
	var one: int = await _splits_of_a_blast("fracture_passes_max", 1)
	check(one >= 1 and many > 2 * one, "%d nodes split in a tick, %d when it may be taken again once" % [many, one])


## A jerk of two ticks: with a damping of 0.2 s the viscous stress bears most of it.
func test_fracture_viscous() -> void:
	for viscous: bool in [false, true]:
		var material := _brittle()
		material.toughness = 5e5
		material.toughness_variation = 0.0
		material.damping = 0.2
		var bar := _add(_world_with("fracture_viscous", viscous), Vector3(0, 20, 0), Vector3(1, 0.2, 0.2), Vector3i(10, 2, 2), material)
		var opened := 0
		for i in 2:
			bar.apply_force(Vector3(4e4, 0, 0), bar.position + Vector3(0.5, 0, 0))
			bar.apply_force(Vector3(-4e4, 0, 0), bar.position - Vector3(0.5, 0, 0))
			await tree.physics_frame
			opened += DestructionServer.get_statistics().faces_opened
		for i in 10:
			await tree.physics_frame
			opened += DestructionServer.get_statistics().faces_opened
		check_equal(opened > 0, viscous, "with fracture_viscous %s faces open (%d)" % [viscous, opened])
		bar.free()
		await ticks(2)
