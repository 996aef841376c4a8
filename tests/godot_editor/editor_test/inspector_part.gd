@tool
extends "part.gd"
## What the inspector shows of a body and a material.


func run() -> void:
	await open_room()
	_test_what_has_no_effect()
	await close_room()


func _usage(object: Object, property: String) -> int:
	for info in object.get_property_list():
		if info.name == property:
			return info.usage
	return 0


func _is_shown(object: Object, property: String) -> bool:
	return _usage(object, property) & PROPERTY_USAGE_EDITOR != 0


func _is_grey(object: Object, property: String) -> bool:
	return _usage(object, property) & PROPERTY_USAGE_READ_ONLY != 0


func _test_what_has_no_effect() -> void:
	var torus := body("Torus")
	var oak := body("Oak")
	check(_is_shown(oak, "size") and _is_shown(oak, "cells") and not _is_shown(oak, "element_count") and not _is_shown(oak, "wall_thickness"), "shown_of_a_box", "it is otherwise")
	check(not _is_shown(torus, "size") and not _is_shown(torus, "cells") and _is_shown(torus, "element_count"), "shown_of_a_mesh", "it is otherwise")
	check(not _is_grey(oak, "strength_scale") and _is_grey(oak, "debris_fade"), "grey_of_oak", "it is otherwise")
	oak.debris_lifetime = 2.0
	check(not _is_grey(oak, "debris_fade"), "debris_fade_has_an_effect", "it is grey")
	oak.debris_lifetime = 0.0
	oak.material = MaterialResource.new()
	check(_is_grey(oak, "strength_scale") and _is_grey(oak, "debris_cap"), "grey_of_what_does_not_break", "it is not")
	oak.material = material("oak")
	oak.freeze = true
	check(_is_grey(oak, "start_velocity"), "grey_of_what_is_frozen", "it is not")
	oak.freeze = false
	var layers := oak.get_property_list().filter(func(info: Dictionary) -> bool: return info.name == "layers" and info.usage & PROPERTY_USAGE_EDITOR)
	check(layers.size() == 1 and not _is_shown(oak, "sorting_offset"), "layers_are_shown_once", "%d times" % layers.size())
