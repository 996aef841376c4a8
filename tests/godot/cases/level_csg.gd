extends "res://test_case.gd"
## Level geometry whose bodies have no node of their own.


## A CSG body has no node of its own to ask: when a destructible that found it moves on, what sleeps on it sleeps on.
func test_csg_body_stays_under_sleepers() -> void:
	var plinth := CSGBox3D.new()
	plinth.size = Vector3(1, 1, 1)
	plinth.use_collision = true
	plinth.position = Vector3(0, 0.5, 0)
	scene.add_child(plinth)
	await ticks(2)
	var sleeper := add_body(Vector3(0, 1.3, 0), Vector3(0.5, 0.5, 0.5))
	check(await wait_for_sleep(sleeper, 300), "the body on the plinth does not sleep")
	var wakes := [0]
	sleeper.woke.connect(func() -> void: wakes[0] += 1)
	var passer := add_body(Vector3(2, 0.6, 0), Vector3(0.5, 0.5, 0.5))
	await ticks(30)
	passer.global_position = Vector3(6, 0.6, 0)
	await seconds(3.0)
	check_equal(wakes[0], 0, "times that the sleeper woke")
