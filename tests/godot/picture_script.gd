extends SceneTree
## What scripts that draw and check pictures have in common. Each draws in _take_all() and is named in what it prints.

var _failed := 0
var _camera: Camera3D


func _initialize() -> void:
	await _take_all(argument(0, "user://"), argument(1, ""))
	print("%s DONE" % _name().replace("_", " ").to_upper())
	quit(0 if _failed == 0 else 1)


## Into `folder`; `only`, if given, names the one picture that is wanted.
func _take_all(_folder: String, _only: String) -> void:
	pass


func check(condition: bool, test_name: String, cause := "") -> void:
	if condition:
		print("ok %s.%s" % [_name(), test_name])
	else:
		_failed += 1
		print("FAIL %s.%s: %s" % [_name(), test_name, cause])


## The window, some frames from now.
func _shoot() -> Image:
	for i in 3:
		await process_frame
	await RenderingServer.frame_post_draw
	var image := root.get_texture().get_image()
	image.convert(Image.FORMAT_RGB8)
	return image


static func argument(index: int, otherwise: String) -> String:
	var arguments := OS.get_cmdline_user_args()
	return arguments[index] if arguments.size() > index else otherwise


func _name() -> String:
	return get_script().resource_path.get_file().get_basename()
