extends Object
## What things are broken with.

const Effects := preload("res://effects.gd")
const BALL_RADIUS := 0.17 # m
const BALL_MASS := 80.0 # kg: iron, hollow
const BALL_SPEED := 24.0 # m/s
const BALLS_KEPT := 16
const BULLET_ENERGY := 1500.0 # J
const BLAST_RADIUS := 3.0 # m
const BLAST_STRENGTH := 900.0 # N·s for each m²
const REACH := 60.0 # m


static func throw_ball(balls: Node3D, from: Vector3, direction: Vector3, speed := BALL_SPEED) -> RigidBody3D:
	while balls.get_child_count() >= BALLS_KEPT:
		balls.get_child(0).free()
	var ball := RigidBody3D.new()
	ball.mass = BALL_MASS
	ball.collision_mask = 3
	ball.continuous_cd = true
	ball.linear_velocity = speed * direction.normalized()
	ball.angular_damp = 1.0
	ball.position = balls.to_local(from)
	var shape := CollisionShape3D.new()
	shape.shape = SphereShape3D.new()
	shape.shape.radius = BALL_RADIUS
	ball.add_child(shape)
	var mesh := MeshInstance3D.new()
	mesh.mesh = SphereMesh.new()
	mesh.mesh.radius = BALL_RADIUS
	mesh.mesh.height = 2.0 * BALL_RADIUS
	mesh.mesh.material = _ball_look()
	ball.add_child(mesh)
	balls.add_child(ball)
	return ball


static func shoot(level: Node3D, from: Vector3, direction: Vector3, except: Array[RID] = []) -> bool:
	var hit := _look_along(level, from, direction, except)
	var end: Vector3 = hit.position if not hit.is_empty() else from + REACH * direction
	Effects.tracer(level, from + 0.6 * direction + Vector3.DOWN * 0.12, end)
	if hit.is_empty():
		return false
	Effects.puff(level, hit.position, 0.12, Color(0.8, 0.78, 0.74))
	return DestructionServer.apply_bullet(hit.collider, hit.position, direction, BULLET_ENERGY)


## A little before what is hit, so that the blast sees it.
static func explode_ahead(level: Node3D, from: Vector3, direction: Vector3, except: Array[RID] = []) -> void:
	var hit := _look_along(level, from, direction, except)
	explode(level, (hit.position if not hit.is_empty() else from + 8.0 * direction) - 0.35 * direction)


static func explode(level: Node3D, at: Vector3, strength := BLAST_STRENGTH) -> int:
	Effects.flash(level, at, BLAST_RADIUS)
	return DestructionServer.apply_explosion(at, BLAST_RADIUS, strength, level.get_world_3d())


static func _look_along(level: Node3D, from: Vector3, direction: Vector3, except: Array[RID]) -> Dictionary:
	var query := PhysicsRayQueryParameters3D.create(from, from + REACH * direction)
	query.exclude = except
	return level.get_world_3d().direct_space_state.intersect_ray(query)


static func _ball_look() -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = Color(0.09, 0.09, 0.1)
	look.metallic = 0.5
	look.roughness = 0.35
	return look
