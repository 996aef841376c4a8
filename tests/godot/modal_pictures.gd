extends "res://coupling_pictures.gd"
## Figures of the papers on modes and their sound, drawn as a player sees them: see paper_scenes.gd.
##
## godot --fixed-fps 60 --path tests/godot --script res://modal_pictures.gd -- FOLDER [NAME]
##
## Writes FOLDER/modal_NAME.png, a row of moments. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with
## "MODAL PICTURES DONE".

const Papers := preload("res://paper_scenes.gd")


func _scenes() -> Array[Dictionary]:
	return [
		{name = "collide", build = _build.bind(Papers.collide), eye = Vector3(0, 1.5, 1.9), target = Vector3(0, 1.3, 0), moments = [4, 10, 16, 24, 36, 70]},
		{name = "bounce", build = _build.bind(Papers.bounce), eye = Vector3(0.5, 0.8, 1.9), target = Vector3(0, 0.65, 0), moments = [4, 28, 31, 34, 44, 60]},
		{name = "chute", build = _build.bind(Papers.chute), eye = Vector3(0.4, 2.0, 2.9), target = Vector3(0, 1.7, 0), moments = [4, 40, 70, 100, 140, 220]},
		{name = "boxes", build = _build.bind(Papers.cubes.bind(0.5)), eye = Vector3(1.2, 1.4, 2.2), target = Vector3(0, 0.6, -0.3), moments = [4, 24, 36, 50, 70, 150]},
		{name = "blocks", build = _build.bind(Papers.cubes.bind(0.05)), eye = Vector3(0.12, 0.14, 0.22), target = Vector3(0, 0.06, -0.03), moments = [2, 8, 12, 16, 24, 60]},
		{name = "the_end", build = _build.bind(Papers.the_end), eye = Vector3(0.15, 0.75, 1.15), target = Vector3(0, 0.42, 0), moments = [2, 16, 24, 32, 45, 200]},
	]


func _build(stage: Node3D, scene: Callable) -> Dictionary:
	var bodies: Array[DestructibleBody] = await scene.call(stage)
	return {bodies = bodies, seen = {}}


# What is seen in each tick, for the checks.
func _watch(things: Dictionary) -> void:
	var seen: Dictionary = things.seen
	for body: DestructibleBody in things.bodies:
		seen.modal = seen.get("modal", 0) + int(body.is_modal())
		seen.lowest = minf(seen.get("lowest", INF), body.get_center_of_mass().y)
	var first: DestructibleBody = things.bodies[0]
	var other: DestructibleBody = things.bodies[-1]
	seen.nearest = minf(seen.get("nearest", INF), first.get_center_of_mass().distance_to(other.get_center_of_mass()))
	var height := first.get_center_of_mass().y
	if height < seen.get("bottom", INF):
		seen.bottom = height
		seen.top_after = height
	seen.top_after = maxf(seen.top_after, height)
	var size := first.get_aabb().size
	seen.longest = maxf(seen.get("longest", 0.0), size.length())
	seen.shortest = minf(seen.get("shortest", INF), size.length())


func _check_collide(things: Dictionary) -> void:
	check(things.seen.modal > 120, "both_move_by_modes", "%d times seen" % things.seen.modal)
	var apart: float = things.bodies[0].get_center_of_mass().distance_to(things.bodies[1].get_center_of_mass())
	check(apart > things.seen.nearest + 0.1, "rings_come_apart", "from %.2f to %.2f m" % [things.seen.nearest, apart])
	_check_wobble(things, 0.03)


func _check_bounce(things: Dictionary) -> void:
	check(things.seen.modal > 50, "rabbit_moves_by_modes", "%d times seen" % things.seen.modal)
	check(things.seen.top_after > things.seen.bottom + 0.1, "rabbit_bounces", "from %.2f to %.2f m" % [things.seen.bottom, things.seen.top_after])
	_check_wobble(things, 0.03)


# The box of what deforms changes, and the rabbit turns: that alone would not do where it only rises and falls.
func _check_wobble(things: Dictionary, share: float) -> void:
	check(things.seen.longest > things.seen.shortest * (1.0 + share), "is_seen_to_deform", "%.3f to %.3f m" % [things.seen.shortest, things.seen.longest])


func _check_chute(things: Dictionary) -> void:
	for i in 4:
		var at: Vector3 = things.bodies[3 + i].get_center_of_mass()
		check(at.y < 1.2, "rabbit_falls_through", "one is at %s" % at)


func _check_boxes(things: Dictionary) -> void:
	check(things.bodies[-1].get_center_of_mass().y < 1.0, "stack_falls", "the top is at %s" % things.bodies[-1].get_center_of_mass())


func _check_blocks(things: Dictionary) -> void:
	check(things.bodies[-1].get_center_of_mass().y < 0.1, "stack_falls", "the top is at %s" % things.bodies[-1].get_center_of_mass())


func _check_the_end(things: Dictionary) -> void:
	for body: DestructibleBody in things.bodies:
		check(body.get_center_of_mass().y < 0.6 and body.get_center_of_mass().y > 0.0, "letter_lies", "at %s" % body.get_center_of_mass())
