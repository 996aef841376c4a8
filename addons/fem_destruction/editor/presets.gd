@tool
extends Object
## The materials that come with the addon.

const FOLDER := "res://addons/fem_destruction/materials/"


## Paths, by name.
static func list() -> PackedStringArray:
	var found := PackedStringArray()
	for file in DirAccess.get_files_at(FOLDER):
		if file.get_extension() == "tres":
			found.append(FOLDER + file)
	found.sort()
	return found


static func title(path: String) -> String:
	return path.get_file().get_basename().capitalize()


## Null when there is none of this name.
static func find(preset_name: String) -> MaterialResource:
	var path := FOLDER + preset_name.to_lower().replace(" ", "_").replace("-", "_") + ".tres"
	return load(path) as MaterialResource if ResourceLoader.exists(path) else null
