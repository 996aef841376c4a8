extends DestructibleBody
## A body with a script of its own, as games have them.

var tick_count := 0
var last_height := 0.0


func _physics_process(_delta: float) -> void:
	tick_count += 1
	last_height = get_center_of_mass().y
