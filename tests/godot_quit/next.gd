extends Node3D
## The scene that takes the place of the first one.

static var quits_after := -1 ## ticks: 0: in _ready(); -1: never


func _ready() -> void:
	if quits_after < 0:
		return
	for i in quits_after:
		await get_tree().physics_frame
	print("QUIT NOW")
	get_tree().quit()
