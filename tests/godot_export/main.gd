extends Node3D
## What the exported game does: a plate of a preset falls and breaks. Prints "ok" and "FAIL" lines for
## tests/godot_suites.sh and quits. Its argument is the physics engine it should have.

const TICKS := 120 # of the plate's fall and what follows
const BAKE_MAX := 30000 # ms, until the plate is there

var _tick := 0
var _cracks := 0
var _loudest := 0.0
var _sound := DestructionSound.new()


func _ready() -> void:
	($Plate as DestructibleBody).fractured.connect(_on_fractured)
	_sound.headless = true
	add_child(_sound)


func _on_fractured(_point: Vector3, _normal: Vector3, _energy: float, _area: float) -> void:
	_cracks += 1


func _physics_process(_delta: float) -> void:
	# Ticks come as fast as they can, but a bake in the background and sound take their real time.
	OS.delay_msec(10)
	if not ($Plate as DestructibleBody).is_simulated() and Time.get_ticks_msec() < BAKE_MAX:
		return
	_tick += 1
	_loudest = maxf(_loudest, _sound.get_level())
	if _tick < TICKS:
		return
	var plate: DestructibleBody = $Plate
	_check(not OS.has_feature("editor") and OS.has_feature("template"), "runs_as_a_game", "it runs in an editor")
	var engine: String = ProjectSettings.get_setting("physics/3d/physics_engine")
	_check(OS.get_cmdline_user_args() == PackedStringArray([engine]), "has_the_physics_engine_asked_for", "it is " + engine)
	_check(plate.is_simulated(), "simulates", "the plate is not simulated")
	_check(plate.get_center_of_mass().y < 0.5, "falls", "the plate is at %s" % plate.get_center_of_mass())
	_check(_cracks > 0 and plate.get_piece_count() > 1, "breaks", "the plate is in %d pieces" % plate.get_piece_count())
	_check(plate.material.surface_material != null, "keeps_its_look", "the preset lost its look")
	_check(_sound.get_mixed_frames() > 1000 and _loudest > 0.001, "is_heard",
			"%d frames were mixed, the loudest had %f" % [_sound.get_mixed_frames(), _loudest])
	_check_licences()
	set_physics_process(false)
	_sound.queue_free() # what still plays at the end of a game, Godot calls leaked
	for i in 20:
		OS.delay_msec(10)
		await get_tree().process_frame
	print("EXPORTED GAME DONE")
	get_tree().quit()


## The files are left out of an export, but a game has to show them.
func _check_licences() -> void:
	var text := DestructionServer.get_license_text()
	for words: String in ["MIT License", "Regents of the University of Minnesota", "Apache License", "OPCODE", "Russell L. Smith"]:
		_check(text.contains(words), "holds_the_licence_of_" + words.to_snake_case(), "get_license_text() lacks it")


func _check(condition: bool, test_name: String, cause: String) -> void:
	print("ok export." + test_name if condition else "FAIL export.%s: %s" % [test_name, cause])
