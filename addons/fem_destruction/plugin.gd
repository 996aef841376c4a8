@tool
extends EditorPlugin
## Says in plain words when the addon's library is not there, instead of "unknown type DestructibleBody" later on.


func _enter_tree() -> void:
	if not ClassDB.class_exists(&"DestructibleBody"):
		push_error("fem_destruction: the library for this platform is missing from addons/fem_destruction/bin; build it with scons or install the addon's full release.")
