@tool
extends Object
## Six handles on the faces of a box, and one in its middle: where they are, and what dragging one makes of the box.

const PER_BOX := 7
const MIDDLE := 6
const SIZE_MIN := 0.001 # m; a box is never turned inside out

const NAMES: Array[String] = ["X+", "X-", "Y+", "Y-", "Z+", "Z-", "Middle"]


## Godot's boxes may have sizes below 0, when they were drawn from the other corner.
static func points(box: AABB) -> PackedVector3Array:
	var found := PackedVector3Array()
	var middle := box.get_center()
	for face in MIDDLE:
		var offset := Vector3.ZERO
		offset[face >> 1] = absf(box.size[face >> 1]) * (0.5 if face % 2 == 0 else -0.5)
		found.append(middle + offset)
	found.append(middle)
	return found


## The 12 edges, as pairs of points.
static func lines(box: AABB) -> PackedVector3Array:
	var found := PackedVector3Array()
	for i in 12:
		var edge := Vector2i(-1, -1)
		var axis := i >> 2
		var low := box.position
		low[(axis + 1) % 3] += box.size[(axis + 1) % 3] * (i & 1)
		low[(axis + 2) % 3] += box.size[(axis + 2) % 3] * (i >> 1 & 1)
		var high := low
		high[axis] += box.size[axis]
		found.append(low)
		found.append(high)
	return found


## The box after handle `id` was dragged to where the mouse points; `snap` in m, 0 for none. `is_centered`: the opposite face
## moves as far, so that the middle stays.
static func dragged(box: AABB, id: int, transform: Transform3D, camera: Camera3D, mouse: Vector2, snap: float, is_centered := false) -> AABB:
	if is_zero_approx(transform.basis.determinant()):
		return box # of a node whose scale is 0
	var inverse := transform.affine_inverse()
	var from := inverse * camera.project_ray_origin(mouse)
	var to := inverse * (camera.project_ray_origin(mouse) + camera.project_ray_normal(mouse) * 4096.0)
	box = box.abs()
	if id == MIDDLE:
		return _moved(box, inverse.basis * -camera.global_basis.z, from, to, snap)
	var axis := id >> 1
	var direction := Vector3.ZERO
	direction[axis] = 1.0
	var middle := box.get_center()
	var along := Geometry3D.get_closest_points_between_segments(middle - direction * 4096.0, middle + direction * 4096.0, from, to)[0][axis]
	if snap > 0.0:
		along = snappedf(along, snap)
	var low := box.position[axis]
	var high := box.end[axis]
	if is_centered:
		var half := maxf(absf(along - middle[axis]), 0.5 * SIZE_MIN)
		low = middle[axis] - half
		high = middle[axis] + half
	elif id % 2 == 0:
		high = maxf(along, low + SIZE_MIN)
	else:
		low = minf(along, high - SIZE_MIN)
	box.position[axis] = low
	box.size[axis] = high - low
	return box


## In the plane through its middle that faces the camera.
static func _moved(box: AABB, normal: Vector3, from: Vector3, to: Vector3, snap: float) -> AABB:
	var middle := box.get_center()
	if normal.is_zero_approx():
		return box
	var hit: Variant = Plane(normal.normalized(), middle).intersects_segment(from, to)
	if hit == null:
		return box
	var place: Vector3 = hit
	if snap > 0.0:
		place = place.snapped(Vector3.ONE * snap)
	box.position += place - middle
	return box
