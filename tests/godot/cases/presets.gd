extends "res://test_case.gd"
## The materials that come with the addon, and files of the version before them.

const FOLDER := "res://addons/fem_destruction/materials"
const PRESETS: Array[String] = [
	"oak", "pine", "plywood", "pane_glass", "tempered_glass", "concrete", "brick", "stone", "ceramic", "steel_sheet",
	"aluminium", "rubber", "jelly", "ice", "cardboard", "plaster", "porcelain", "sandstone", "tile", "chocolate", "plastic",
]
const UNITS := {"GPa": 1e9, "MPa": 1e6, "kPa": 1e3}
const OLD_FILE := """[gd_resource type="MaterialResource" format=3]

[resource]
stiffness = 5e+07
density = 900.0
damping = 0.01
max_plastic_strain = 0.4
yield_strain = 0.02
creep_rate = 3.0
plasticity_mode = 1
breakable = true
toughness = 40000.0
toughness_variation = 0.2
grain_direction = Vector3(0, 0, 1)
grain_ratio = 4.0
poisson_ratio = 0.2
mass_damping = 0.1
max_solver_iterations = 50
"""


func _load(preset: String) -> MaterialResource:
	return load(FOLDER.path_join(preset + ".tres"))


## Fibres of wood run along a body's length, whatever its axes and scale, unless the material tells a direction.
func test_wood_takes_the_longest_axis() -> void:
	var oak := _load("oak")
	var cases := [[Vector3(0.1, 0.1, 1.0), Vector3.ONE, Vector3(0, 0, 1)], [Vector3(0.3, 1.0, 0.2), Vector3.ONE, Vector3(0, 1, 0)],
			[Vector3.ONE, Vector3(0.2, 0.2, 2.0), Vector3(0, 0, 1)], [Vector3(1.0, 0.1, 1.0), Vector3.ONE, Vector3(1, 0, 0)]]
	for case: Array in cases:
		for with_mesh: bool in [false, true]:
			var body := DestructibleBody.new()
			if with_mesh:
				var box := BoxMesh.new()
				box.size = case[0]
				body.mesh = box
				body.element_count = 60
				body.bake_in_background = false
			else:
				body.size = case[0]
				body.cells = Vector3i(2, 2, 2)
			body.scale = case[1]
			body.material = oak
			scene.add_child(body)
			var found := body.get_grain_direction()
			check(found.distance_to(case[2]) < 1e-3, "%s scaled by %s, mesh %s: %s" % [case[0], case[1], with_mesh, found])
			body.free()
	var told := DestructibleBody.new()
	told.material = oak.duplicate()
	told.material.grain_direction = Vector3(0, -2, 0)
	told.size = Vector3(1.0, 0.1, 0.1)
	scene.add_child(told)
	check_equal(told.get_grain_direction(), Vector3(0, -1, 0), "a direction that was told")
	told.material = _load("concrete")
	check_equal(told.get_grain_direction(), Vector3.ZERO, "of concrete")
	told.free()


func test_all_are_there_and_say_what_they_are() -> void:
	check_equal(Array(DirAccess.get_files_at(FOLDER)).filter(func(file: String) -> bool: return file.ends_with(".tres")).size(), PRESETS.size(), "presets")
	var modulus := RegEx.create_from_string("Modulus ([0-9.]+) ([GMk]Pa)")
	var strain := RegEx.create_from_string("strain at break ([0-9.]+) %")
	for preset in PRESETS:
		var material := _load(preset)
		if not check(material != null, preset + " does not load"):
			continue
		var said := modulus.search(material.description)
		if check(said != null, preset + " does not state its modulus"):
			check_near(said.get_string(1).to_float() * UNITS[said.get_string(2)], material.stiffness, 0.01 * material.stiffness, "modulus stated of " + preset)
		said = strain.search(material.description)
		if check(said != null, preset + " does not state its strain at break"):
			var real := material.get_strain_at_break()
			check_near(said.get_string(1).to_float() / 100.0, real, 0.01 * real, "strain at break stated of " + preset)
		check(material.surface_material is StandardMaterial3D, preset + " has no look")
		check(material.interior_material is StandardMaterial3D, preset + " has no look inside")
		check(material.breakable and material.density >= 100.0, preset + " is not what it should be")


## Brittle things must not stretch, whatever their modulus was lowered to.
func test_strains_are_those_of_the_real_thing() -> void:
	for preset: String in ["pane_glass", "tempered_glass", "concrete", "brick", "stone", "ceramic", "ice", "plaster", "porcelain", "sandstone", "tile", "chocolate"]:
		check(_load(preset).get_strain_at_break() <= 0.005, "%s stretches by %.2f %%" % [preset, 100.0 * _load(preset).get_strain_at_break()])
	for preset: String in ["steel_sheet", "aluminium", "cardboard"]:
		check(_load(preset).get_strain_at_break() > 0.2, preset + " is brittle")
	check_equal(_load("oak").splinter_pattern, MaterialResource.SPLINTERS_WOOD, "pattern of oak")
	check(_load("oak").grain_ratio > 5.0 and _load("oak").grain_direction == Vector3.ZERO, "oak has no grain along its length")
	check(_load("ice").friction < 0.2 and _load("rubber").friction > 0.8, "ice grips, or rubber slips")


func test_a_bar_of_each() -> void:
	var bodies: Array[DestructibleBody] = []
	for preset in PRESETS:
		var body := DestructibleBody.new()
		body.size = Vector3(0.6, 0.2, 0.2)
		body.cells = Vector3i(6, 2, 2)
		body.material = _load(preset)
		body.position = Vector3(bodies.size(), 0.15, 0)
		scene.add_child(body)
		bodies.append(body)
	await ticks(240)
	for i in bodies.size():
		check_equal(bodies[i].get_piece_count(), 1, "pieces of a bar of %s that only lies there" % PRESETS[i])
		check(positions_are_finite(bodies[i]) and lowest_node(bodies[i]) > -0.05, "the bar of %s is at %s" % [PRESETS[i], bodies[i].get_aabb_world()])
		check(bodies[i].is_asleep(), "the bar of %s does not come to rest" % PRESETS[i])


## Without splinters: what is tested is how they break, and cutting takes its time. Equal ones are baked once.
func _add_box(preset: String, size: Vector3, elements: int, at: Vector3) -> DestructibleBody:
	var material: MaterialResource = _load(preset).duplicate()
	material.splinter_pattern = MaterialResource.SPLINTERS_NONE
	var mesh := BoxMesh.new()
	mesh.size = size
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = elements
	body.material = material
	body.position = at
	scene.add_child(body)
	return body


func _add_shelf(preset: String, at: Vector3) -> DestructibleBody:
	var shelf := _add_box(preset, Vector3(1.6, 0.04, 0.3), 500, at)
	shelf.anchors = [AABB(Vector3(-0.9, -0.1, -0.2), Vector3(0.2, 0.2, 0.4)), AABB(Vector3(0.7, -0.1, -0.2), Vector3(0.2, 0.2, 0.4))]
	return shelf


## 1.4 m between its ends, 4 cm thick: none may sag by more than can be seen, break, or be restless.
func test_a_shelf_of_each_bears_itself() -> void:
	var shelves := {}
	for preset in PRESETS:
		shelves[preset] = _add_shelf(preset, Vector3(0, 2, shelves.size()))
	await ticks(240)
	var start := {}
	for preset: String in shelves:
		var shelf: DestructibleBody = shelves[preset]
		start[preset] = lowest_node(shelf)
		if preset != "rubber" and preset != "jelly":
			check(shelf.is_asleep(), "the shelf of %s is restless after 4 s" % preset)
			check(start[preset] > 1.98 - 0.005, "the shelf of %s sags by %.1f mm" % [preset, 1000.0 * (1.98 - start[preset])])
	await ticks(360)
	for preset: String in shelves:
		var shelf: DestructibleBody = shelves[preset]
		check_equal(shelf.get_piece_count(), 1, "pieces of a shelf of " + preset)
		check(shelf.is_asleep(), "the shelf of %s does not come to rest" % preset)
		if preset != "jelly":
			check_equal(lowest_node(shelf), start[preset], "lowest node of the shelf of %s, 6 s later" % preset)


## The same slab of each, held at both ends: a pebble leaves it whole, a heavy ball does not.
func test_blows() -> void:
	var breaks: Array[String] = ["oak", "pine", "plywood", "pane_glass", "tempered_glass", "concrete", "brick", "stone", "ceramic", "ice",
		"plaster", "porcelain", "sandstone", "tile", "chocolate"]
	for heavy: bool in [false, true]:
		var slabs := {}
		for preset in PRESETS:
			var at := Vector3(0, 2, 2.0 * slabs.size())
			var slab := _add_box(preset, Vector3(1.4, 0.07, 0.6), 400, at)
			slab.anchors = [AABB(Vector3(-0.72, -0.1, -0.4), Vector3(0.07, 0.2, 0.8)), AABB(Vector3(0.65, -0.1, -0.4), Vector3(0.07, 0.2, 0.8))]
			slabs[preset] = slab
			var size := 0.2 if heavy else 0.04
			var ball := DestructibleBody.new()
			ball.size = Vector3(size, size, size)
			ball.cells = Vector3i(2, 2, 2)
			ball.material = MaterialResource.new()
			ball.material.stiffness = 1e9
			ball.material.density = 7800.0
			ball.position = at + Vector3(0.05, 0.2, 0.03)
			ball.start_velocity = Vector3(0, -8 if heavy else -3, 0)
			scene.add_child(ball)
		await ticks(60)
		for preset: String in slabs:
			var pieces: int = slabs[preset].get_piece_count()
			if heavy and preset in breaks:
				check(pieces > 2, "a slab of %s bears 62 kg at 8 m/s" % preset)
			elif not heavy or preset != "jelly": # the ball cuts through that
				check_equal(pieces, 1, "pieces of a slab of %s" % preset)
		for child in scene.get_children():
			child.free()


## On its edge from 2 m, and from a hand above the floor.
func test_crockery_breaks_when_it_falls() -> void:
	for preset: String in ["ceramic", "pane_glass"]:
		for height: float in [2.0, 0.2]:
			var plate := _add_box(preset, Vector3(0.4, 0.02, 0.4), 500, Vector3(0, height, 0))
			plate.rotation = Vector3(0.3, 0, 0.4)
			await ticks(60)
			var pieces := plate.get_piece_count()
			check(pieces > 2 if height > 1.0 else pieces == 1, "a plate of %s falls %.1f m and is in %d pieces" % [preset, height, pieces])
			plate.free()


func test_files_of_the_version_before() -> void:
	var path := "user://old_material.tres"
	var file := FileAccess.open(path, FileAccess.WRITE)
	file.store_string(OLD_FILE)
	file.close()
	var material: MaterialResource = ResourceLoader.load(path, "", ResourceLoader.CACHE_MODE_IGNORE)
	if check(material != null, "the file does not load"):
		check_equal(material.stiffness, 5e7, "stiffness")
		check_equal(material.yield_strain, 0.02, "yield_strain")
		check_equal(material.max_plastic_strain, 0.4, "max_plastic_strain")
		check_equal(material.grain_direction, Vector3(0, 0, 1), "grain_direction")
		check_equal(material.friction, 0.5, "friction, which it does not have")
		check_near(material.get_strain_at_break(), 40000.0 / 5e7, 1e-6, "strain at break: it breaks before it yields")
	DirAccess.remove_absolute(ProjectSettings.globalize_path(path))


func test_ductility_bends_for_good() -> void:
	var brittle := MaterialResource.new()
	brittle.stiffness = 2e6
	brittle.toughness = 2e5
	var ductile: MaterialResource = brittle.duplicate()
	ductile.ductility = 0.5
	check_equal(brittle.get_strain_at_break(), INF, "strain at break of what does not break")
	ductile.breakable = true
	check_near(ductile.get_strain_at_break(), 0.6, 1e-6, "strain at break of the ductile one")
	ductile.breakable = false
	var heights: Array[float] = []
	for material: MaterialResource in [brittle, ductile]:
		var body := add_body(Vector3(3 * heights.size(), 5, 0))
		body.material = material
		await ticks(240)
		heights.append(body.get_aabb_world().size.y)
	check(heights[1] < heights[0] - 0.02, "after a fall the ductile cube is %.3f m high and the other %.3f m" % [heights[1], heights[0]])


func test_friction() -> void:
	var places: Array[float] = []
	for friction: float in [0.02, 1.0]:
		var floor_body := add_body(Vector3(0, 0.5, 4 * places.size()), Vector3(6, 1, 2), Vector3i(6, 1, 2))
		floor_body.freeze = true
		floor_body.material = MaterialResource.new()
		floor_body.material.friction = friction
		var body := add_body(Vector3(-1, 1.26, 4 * places.size()), Vector3(0.5, 0.5, 0.5))
		body.material = floor_body.material
		body.start_velocity = Vector3(2, 0, 0)
		body.reset()
		await ticks(50)
		places.append(body.get_center_of_mass().x)
	check(places[0] > places[1] + 0.5, "with a friction of 0.02 it slides to %.2f m, with 1 to %.2f m" % [places[0], places[1]])


func test_looks_take_effect_and_are_announced() -> void:
	var material := MaterialResource.new()
	var count := [0]
	material.changed.connect(func() -> void: count[0] += 1)
	var look := StandardMaterial3D.new()
	material.surface_material = look
	material.interior_material = look
	check_equal(count[0], 2, "changed signals of two looks")
	look.emit_changed()
	check_equal(count[0], 3, "changed signals when the look changed")
	material.surface_material = null
	look.emit_changed()
	check_equal(count[0], 5, "changed signals while it is still the look inside")
	material.interior_material = null
	look.emit_changed()
	check_equal(count[0], 6, "changed signals of a look that is no longer used")
	expect_errors("modes that are not there")
	material.set("splinter_pattern", 6)
	material.set("toughness_mode", -1)
	errors_end()
	check_equal(material.splinter_pattern, MaterialResource.SPLINTERS_NONE, "splinter_pattern")


## The same falls at a tenth of the speed of time, of what shatters and of what cracks.
func test_slow_motion_breaks_as_full_speed_does() -> void:
	for preset: String in ["ceramic", "concrete"]:
		var counts: Array[int] = []
		for time_scale: float in [1.0, 0.1]:
			Engine.time_scale = time_scale
			var bodies: Array[DestructibleBody] = []
			for i in 5:
				var size := Vector3(0.3, 0.02 if preset == "ceramic" else 0.1, 0.3)
				var body := _add_box(preset, size, 300, Vector3(2.0 * i, 2.5 + 0.1 * i, 0))
				body.rotation.z = 0.3
				bodies.append(body)
			await ticks(int(70.0 / time_scale))
			counts.append(0)
			for body in bodies:
				counts[-1] += body.get_piece_count()
				body.free()
		Engine.time_scale = 1.0
		check(counts[0] > 20 and counts[1] < 1.5 * counts[0] and counts[0] < 1.5 * counts[1], "%s is in %s pieces at full and a tenth of the speed" % [preset, counts])
