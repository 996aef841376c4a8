extends CanvasLayer
## Title, figures of the simulation, keys.

@onready var _statistics: Label = $Statistics


func _process(_delta: float) -> void:
	var figures := DestructionServer.get_statistics()
	_statistics.text = "%d fps   %d bodies in %d pieces   %d tetrahedra, %d awake   %.1f ms a step on %d thread(s)%s" % [
		Engine.get_frames_per_second(), figures.bodies, figures.pieces, figures.tets, figures.live_tets, figures.step_ms,
		figures.workers, "   slow motion" if Engine.time_scale < 1.0 else "",
	]


## For the tour: a caption instead of what only a player needs.
func show_caption(text: String) -> void:
	$Title.text = text
	_statistics.visible = false # times on a machine that records at the same time mean nothing
	$Help.visible = false
	$Crosshair.visible = false
