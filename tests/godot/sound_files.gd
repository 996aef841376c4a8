extends SceneTree
## Scenes that are heard, written as WAV files into build/test_renders/: drop, roll, shatter, pile, and figures 4 to 6 of
## O'Brien et al. 2002 (chute, blocks and boxes of ten times their size, the_end). Run by
## tests/godot_suites.sh sound_files GODOT; checks that none is silent, cut off or has clicks.

const SCENES := ["drop", "roll", "shatter", "pile", "chute", "blocks", "boxes", "the_end"]
const Papers := preload("res://paper_scenes.gd")
const SECONDS := 3.0
const BUS := "Heard"

var _capture: AudioEffectCapture
var _folder := ""
var _failed := 0
var _lost := 0 # frames, before the scene began


func _initialize() -> void:
	_folder = OS.get_cmdline_user_args()[0]
	_run.call_deferred()


func _run() -> void:
	AudioServer.add_bus()
	AudioServer.set_bus_name(1, BUS)
	_capture = AudioEffectCapture.new()
	_capture.buffer_length = SECONDS + 2.0
	AudioServer.add_bus_effect(1, _capture)
	for scene_name: String in SCENES:
		await _play(scene_name)
	for i in 30: # what still plays at the end of a game, Godot calls leaked
		OS.delay_msec(10)
		await process_frame
	print("SOUND FILES DONE: %d failed" % _failed)
	quit(0 if _failed == 0 else 1)


func _body(material: String, size: Vector3, cells: Vector3i, at: Vector3) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.material = load("res://addons/fem_destruction/materials/%s.tres" % material)
	body.size = size
	body.cells = cells
	body.position = at
	return body


func _things(scene_name: String) -> Array[DestructibleBody]:
	var things: Array[DestructibleBody] = []
	match scene_name:
		"drop":
			things.append(_body("oak", Vector3(1.0, 0.06, 0.2), Vector3i(12, 1, 3), Vector3(0, 1.2, 0)))
		"roll":
			things.append(_body("stone", Vector3(0.4, 0.4, 0.4), Vector3i(3, 3, 3), Vector3(-2.0, 0.21, 0)))
			things[0].start_velocity = Vector3(4.0, 0, 0)
		"shatter":
			things.append(_body("pane_glass", Vector3(1.0, 1.0, 0.01), Vector3i(10, 10, 1), Vector3(0, 1.5, 0)))
		"pile":
			for i in 27:
				things.append(_body("ceramic", Vector3(0.25, 0.25, 0.25), Vector3i(2, 2, 2),
						Vector3(0.3 * (i % 3), 0.5 + 0.35 * (i / 9), 0.3 * (i / 3 % 3))))
	return things


## Figures 4 to 6 of O'Brien et al. 2002, which are in the tree at once; empty for another scene.
func _of_papers(scene_name: String, stage: Node3D) -> Array[DestructibleBody]:
	match scene_name:
		"chute":
			return await Papers.chute(stage)
		"blocks":
			return Papers.cubes(stage, 0.05)
		"boxes":
			return Papers.cubes(stage, 0.5)
		"the_end":
			return Papers.the_end(stage)
	return []


func _play(scene_name: String) -> void:
	var scene := Node3D.new()
	root.add_child(scene)
	var camera := Camera3D.new()
	scene.add_child(camera)
	camera.position = Vector3(0, 1, 4)
	camera.current = true
	var sound := DestructionSound.new()
	sound.headless = true
	sound.bus = BUS
	scene.add_child(sound)
	var things: Array[DestructibleBody] = await _of_papers(scene_name, scene)
	if things.is_empty():
		things = _things(scene_name)
	var balls: Dictionary[RigidBody3D, Vector3] = {}
	for ball: RigidBody3D in scene.find_children("*", "RigidBody3D", false, false):
		balls[ball] = ball.linear_velocity
		ball.freeze = true
	for thing in things:
		thing.freeze = true
		if not thing.is_inside_tree():
			scene.add_child(thing)
	for i in 600: # until it is known how they sound
		OS.delay_msec(5)
		await physics_frame
		if sound.get_instrument_count() > 0:
			break
	_capture.clear_buffer()
	_lost = _capture.get_discarded_frames()
	for ball in balls:
		ball.freeze = false
		ball.linear_velocity = balls[ball]
	for thing in things:
		thing.freeze = false
		thing.apply_central_impulse(thing.start_velocity * thing.get_mass())
	var begin := Time.get_ticks_msec()
	var costs := PackedFloat32Array()
	for i in int(SECONDS * 60.0):
		while Time.get_ticks_msec() - begin < i * 1000.0 / 60.0:
			OS.delay_msec(1)
		await physics_frame
		costs.append(DestructionServer.get_statistics().sound_ms)
	OS.delay_msec(100)
	var frames := _capture.get_buffer(_capture.get_frames_available())
	_judge(scene_name, frames, costs)
	scene.free()
	await physics_frame


func _judge(scene_name: String, frames: PackedVector2Array, costs: PackedFloat32Array) -> void:
	var peak := 0.0
	var sum := 0.0
	var dropped := _capture.get_discarded_frames() - _lost
	var bytes := PackedByteArray()
	bytes.resize(2 * frames.size())
	for n in frames.size():
		var sample := 0.5 * (frames[n].x + frames[n].y)
		peak = maxf(peak, absf(sample))
		sum += sample
		bytes.encode_s16(2 * n, int(clampf(sample, -1.0, 1.0) * 32767.0))
	var wav := AudioStreamWAV.new()
	wav.format = AudioStreamWAV.FORMAT_16_BITS
	wav.mix_rate = int(AudioServer.get_mix_rate())
	wav.data = bytes
	wav.save_to_wav("%s/sound_%s.wav" % [_folder, scene_name])
	costs.sort()
	print("%s: %d frames, peak %.3f, mean %.5f, %d lost, sound_ms median %.3f, most %.3f" % [scene_name, frames.size(), peak,
			sum / maxi(frames.size(), 1), dropped, costs[costs.size() / 2], costs[-1]])
	var click := _largest_click(frames)
	print("%s: steps out of line by %.4f" % [scene_name, click])
	var good: bool = peak > 0.01 and peak < 0.999 and absf(sum / maxi(frames.size(), 1)) < 1e-3 and click < 0.15 * peak
	_failed += 0 if good else 1
	print("%s sound_files.%s" % ["ok" if good else "FAIL", scene_name])


## A sample that is torn out of line: by how much it differs from what its neighbours on both sides go on to, where they
## themselves go on smoothly. Blows begin at 0 and grow (their force is a Gaussian), so that no sound of ours has any.
func _largest_click(frames: PackedVector2Array) -> float:
	var largest := 0.0
	for n in range(4, frames.size() - 4):
		var before := 2.0 * frames[n - 1].x - frames[n - 2].x
		var after := 2.0 * frames[n + 1].x - frames[n + 2].x
		var rough := absf(frames[n - 1].x - 2.0 * frames[n - 2].x + frames[n - 3].x) + absf(frames[n + 1].x - 2.0 * frames[n + 2].x + frames[n + 3].x)
		var torn := minf(absf(frames[n].x - before), absf(frames[n].x - after)) - 4.0 * rough
		largest = maxf(largest, torn)
		var jump := absf(frames[n].x - frames[n - 1].x)
		var around := maxf(absf(frames[n - 1].x - frames[n - 2].x), absf(frames[n + 1].x - frames[n].x))
		largest = maxf(largest, jump - 8.0 * around - 0.02)
	return largest
