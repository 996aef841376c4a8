extends "res://test_case.gd"
## DestructionEffects: dust, chips and marks, pooled and within budgets, and scenes of one's own.

const EFFECTS := "res://addons/fem_destruction/effects/destruction_effects.gd"


func _effects() -> Node3D:
	var effects: Node3D = load(EFFECTS).new()
	scene.add_child(effects)
	return effects


func _slab(material_name: String, position: Vector3) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3(1.0, 0.1, 0.6)
	body.cells = Vector3i(6, 1, 4)
	body.material = load("res://addons/fem_destruction/materials/%s.tres" % material_name)
	body.position = position
	scene.add_child(body)
	return body


func test_what_breaks_makes_dust_and_chips() -> void:
	var before := _slab("brick", Vector3(0, 2, 0)) # there before the effects
	var effects := _effects()
	var bursts: Array[StringName] = []
	effects.burst.connect(func(kind: StringName, _body: DestructibleBody, _point: Vector3, _normal: Vector3, size: float) -> void:
		if size > 0.0:
			bursts.append(kind))
	await ticks(3)
	check_equal(effects.get_particle_count(), 0, "particles before anything broke")
	before.apply_explosion(before.position - Vector3(0, 0.4, 0), 3.0, 3e4)
	await ticks(5)
	check(before.get_piece_count() > 1, "the slab is in one piece")
	check(bursts.has(&"fracture"), "there was no burst")
	var count: int = effects.get_particle_count()
	check(count > 5 and count <= effects.particle_budget, "%d particles" % count)
	# One that came later; within a small budget; and with all of it off.
	effects.particle_budget = 20
	var after := _slab("pane_glass", Vector3(4, 2, 0))
	await ticks(3)
	after.apply_explosion(after.position - Vector3(0, 0.4, 0), 3.0, 3e4)
	await ticks(5)
	check(effects.get_particle_count() <= maxi(20, count), "%d particles with a budget of 20" % effects.get_particle_count())
	effects.queue_free()
	await ticks(2)
	after.apply_explosion(after.position, 3.0, 3e4)
	await ticks(3)


## Puffs that wait for their turn have a scale of 0, which a billboard only keeps when it is told to: else they are black
## squares of a metre at the world's origin.
func test_puffs_keep_their_size() -> void:
	var effects := _effects()
	var emitters := effects.find_children("*", "CPUParticles3D", true, false)
	check(emitters.size() > 10, "%d emitters" % emitters.size())
	for emitter: CPUParticles3D in emitters:
		var material: StandardMaterial3D = emitter.mesh.surface_get_material(0)
		check(material.billboard_mode == BaseMaterial3D.BILLBOARD_DISABLED or material.billboard_keep_scale, "puffs lose their scale")


func test_blows_leave_marks() -> void:
	var floor_body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	shape.shape.size = Vector3(20, 1, 20)
	floor_body.add_child(shape)
	floor_body.position.y = -0.5
	scene.add_child(floor_body)
	DestructionServer.ground_enabled = false
	var effects := _effects()
	effects.mark_budget = 2
	for i in 4:
		_slab("stone", Vector3(2.0 * i, 1.5 + 0.1 * i, 0))
	await ticks(60)
	check_equal(effects.get_mark_count(), 2, "marks with a budget of 2")
	effects.mark_lifetime = 0.5


func test_own_scenes_are_put_there() -> void:
	var effects := _effects()
	var packed := PackedScene.new()
	var node := Node3D.new()
	node.name = "Own"
	packed.pack(node)
	node.free()
	effects.fracture_scene = packed
	effects.scene_budget = 3
	effects.scene_lifetime = 0.2
	var body := _slab("pane_glass", Vector3(0, 2, 0))
	await ticks(3)
	body.apply_explosion(body.position - Vector3(0, 0.4, 0), 3.0, 3e4)
	await ticks(3)
	var found := effects.find_children("Own*", "Node3D", true, false)
	if check(found.size() >= 1 and found.size() <= 3, "%d own scenes" % found.size()):
		check(found[0].global_position.distance_to(body.position) < 2.0, "it is at %s" % found[0].global_position)
	await ticks(30)
	check_equal(effects.find_children("Own*", "Node3D", true, false).size(), 0, "own scenes after their time")


## Every preset has a look; numbers that make no sense do no harm.
func test_looks_and_bad_numbers() -> void:
	var looks: Script = load("res://addons/fem_destruction/effects/effect_looks.gd")
	for file in DirAccess.get_files_at("res://addons/fem_destruction/materials"):
		var preset := file.trim_suffix(".remap").get_basename()
		if file.get_extension() == "tres" and not looks.PRESETS.has(preset):
			var made: RefCounted = looks.new()._make(load("res://addons/fem_destruction/materials/" + file))
			check(made.chips > 0.0, "%s has no look" % preset)
	var effects := _effects()
	var body := _slab("oak", Vector3(0, 2, 0))
	effects._on_fractured(Vector3(NAN, 0, 0), Vector3.UP, 1.0, 1.0, body)
	effects._on_fractured(Vector3.ZERO, Vector3.ZERO, INF, INF, body)
	effects._on_fractured(Vector3.ONE, Vector3.UP, NAN, -1.0, body)
	effects._on_impacted(Vector3.ZERO, Vector3.ZERO, INF, 1.0, null, body)
	effects._on_impacted(Vector3.ZERO, Vector3.ZERO, 50.0, 1.0, null, body)
	await ticks(3)
	check(effects.get_particle_count() <= effects.particle_budget, "%d particles" % effects.get_particle_count())
	effects._on_fractured(Vector3.ZERO, Vector3.UP, 1.0, 1.0, body)
	body.free() # before the burst is shown
	await ticks(2)


func test_debug_views_cost_no_errors() -> void:
	_slab("oak", Vector3(0, 1, 0))
	for flags in [1, 2, 4, 8, 16, 32, 64, 127, 1 << 20, -1, 0]:
		DestructionServer.debug_view = flags
		check_equal(DestructionServer.debug_view, flags & 127, "debug_view")
		await ticks(2)
	check_equal(DestructionServer.debug_view, 0, "debug_view at the end")
