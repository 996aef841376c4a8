extends "res://text_case.gd"
## Whatever a text tells a user to do has a check, and every check has its text.


func _tests_of(case: String) -> Array[String]:
	var found: Array[String] = []
	var script: GDScript = load("res://cases/%s.gd" % case)
	for method in script.get_script_method_list():
		if String(method.name).begins_with("test_") and not found.has(method.name):
			found.append(method.name)
	return found


func test_every_block_and_step_has_a_check() -> void:
	var count := 0
	for file in DirAccess.get_files_at(BLOCKS):
		if file.get_extension() in ["gdscript", "glsl", "step"]:
			var case := file.get_slice(".", 0)
			count += 1
			check(_tests_of(case).has("test_" + file.get_slice(".", 1)), "%s says something that no test of tests/texts/cases/%s.gd runs" % [file, case])
	check(count > 20, "only %d blocks and steps were found in the texts" % count)


func test_every_check_has_its_text() -> void:
	for case: String in ["readme", "addon", "guide", "class_reference"]:
		for test in _tests_of(case):
			var stem := "%s.%s." % [case, test.trim_prefix("test_")]
			check(Array(DirAccess.get_files_at(BLOCKS)).any(func(file: String) -> bool: return file.begins_with(stem)), "no text has what %s.%s checks" % [case, test])


## `name()` and `Class.name()` in a sentence must be a method of one of our classes, or of the engine class named.
func test_calls_named_in_the_texts_exist() -> void:
	var call := RegEx.create_from_string("`(?:([A-Z]\\w+)\\.)?(?:mesh\\.)?([a-z]\\w+)\\(")
	for file: String in ["README.md", "addon_README.md"]:
		for found in call.search_all(FileAccess.get_file_as_string("res://texts/" + file)):
			var owners: Array[String] = ["DestructibleBody", "DestructibleMesh", "MaterialResource", "DestructionServer"]
			if found.get_string(1) != "":
				owners = [found.get_string(1)]
			var exists := owners.any(func(owner: String) -> bool: return ClassDB.class_has_method(owner, found.get_string(2)))
			check(exists or found.get_string(2) in ["fem_fade", "add_child"], "%s names %s, which there is not" % [file, found.get_string()])


## Names in italics with capitals are properties as the inspector shows them, or words of Godot's own editor.
func test_properties_named_in_the_texts_exist() -> void:
	var known: Array[String] = ["Add Node", "Project Settings > Plugins", "Use Collision", "New BoxMesh", "New MaterialResource",
		"New DestructibleMesh", "Bake", "Undo", "Cancel", "Import", "Uv1 Scale", "Physics > Fem Destruction", "Real-Time Deformation and Fracture in a Game Environment"]
	for type: String in ["DestructibleBody", "DestructibleMesh", "MaterialResource", "DestructionServer"]:
		for property in ClassDB.class_get_property_list(type):
			known.append(String(property.name).capitalize())
	# Buttons of the editor's toolbar: as its script has them.
	var toolbar := FileAccess.get_file_as_string("res://addons/fem_destruction/editor/toolbar.gd")
	var is_button := func(title: String) -> bool: return toolbar.contains("\"%s\"" % title)
	var italics := RegEx.create_from_string("(?<![*\\w])\\*([A-Z][^*\\n]+)\\*(?!\\*)")
	for file: String in ["README.md", "addon_README.md"]:
		for found in italics.search_all(FileAccess.get_file_as_string("res://texts/" + file)):
			check(known.has(found.get_string(1)) or Array(found.get_string(1).split(" / ")).all(is_button), "%s names the property %s, which there is not" % [file, found.get_string()])
