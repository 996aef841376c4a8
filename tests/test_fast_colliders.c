// Colliders that move fast: a blade 1 cm thick at 50 m/s goes 0.8 m a step, and does not pass what stands in its way.
#include "contact_rig.h"
#include "fem_test.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

typedef struct Mover {
	FemColliderId id;
	FemPosition position;
	FemQuat rotation;
	FemVec3 velocity, spin; // m/s, rad/s
} Mover;

static FemWorldId empty_world(void) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	return fem_world_create(&def);
}

static Mover add_mover(FemWorldId world, FemColliderDef def) {
	Mover mover = {.position = def.position,
		.rotation = def.rotation,
		.velocity = def.linear_velocity,
		.spin = def.angular_velocity};
	mover.id = fem_collider_create(world, &def);
	return mover;
}

// As an engine moves its bodies: told where they are and how they go on before each step.
static void steps_with(FemWorldId world, Mover *mover, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		fem_collider_set_motion(mover->id, mover->position, mover->rotation, mover->velocity, mover->spin);
		fem_steps(world, 1);
		FemColliderResult result;
		fem_collider_get_result(mover->id, &result);
		if (fem_world_find(world)->colliders[mover->id.index1 - 1].kind == FEM_COLLIDER_DYNAMIC)
			mover->velocity = result.linear_velocity;
		mover->position.x += (double)(CONTACT_DT * mover->velocity.x);
		mover->position.y += (double)(CONTACT_DT * mover->velocity.y);
		mover->position.z += (double)(CONTACT_DT * mover->velocity.z);
		double angle = 0.5 * (double)(CONTACT_DT * mover->spin.y), s = sin(angle), c = cos(angle);
		FemQuat q = mover->rotation;
		mover->rotation =
			(FemQuat){(float)(c * (double)q.x + s * (double)q.z), (float)(c * (double)q.y + s * (double)q.w),
				(float)(c * (double)q.z - s * (double)q.x), (float)(c * (double)q.w - s * (double)q.y)};
	}
}

static FemBodyId add_cube(FemWorldId world, double x, float modulus) {
	FemBlock cube = fem_block(0.2f, 2);
	cube.material.young_modulus = modulus;
	cube.body.position = (FemPosition){x, -0.1, -0.1};
	return fem_block_add(world, &cube);
}

static FemColliderDef blade(double x, float speed) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = FEM_COLLIDER_KINEMATIC;
	def.shape.half_extents = (FemVec3){0.005f, 0.5f, 0.5f};
	def.position.x = x;
	def.linear_velocity.x = speed;
	return def;
}

// Fails when colliders are looked at only where they stand. From all distances within a step, and at once from both
// sides.
FEM_TEST(fast_colliders, a_blade_does_not_pass_a_cube) {
	for (int32_t i = 0; i < 8; i++) {
		FemWorldId world = empty_world();
		float speed = i & 1 ? -50.0f : 50.0f;
		FemBodyId cube = add_cube(world, 0.0, i & 2 ? 1e6f : 1e9f);
		Mover mover = add_mover(world, blade(i & 1 ? 0.73 + 0.11 * i : -0.53 - 0.11 * i, speed));
		steps_with(world, &mover, 6);
		double ahead = (fem_center(cube).x - mover.position.x) * (i & 1 ? -1.0 : 1.0);
		fem_test_check(ahead > 0.0, __FILE__, __LINE__, "case %d: the cube is %g m ahead of the blade", (int)i, ahead);
		fem_test_check(ahead < 0.9, __FILE__, __LINE__, "case %d: the cube is %g m ahead of the blade", (int)i, ahead);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

// Fails when a cube is pushed before the blade can have reached it.
FEM_TEST(fast_colliders, a_blade_pushes_only_what_it_reaches) {
	FemWorldId world = empty_world();
	FemBodyId cube = add_cube(world, 0.0, 1e8f), beside = add_cube(world, 0.0, 1e8f);
	fem_body_teleport(beside, (FemPosition){0.0, 0.7, -0.1}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
	Mover mover = add_mover(world, blade(-1.0, 50.0f)); // 0.83 m a step, at the cube 1 m on
	FemPosition start = fem_center(cube), other = fem_center(beside);
	steps_with(world, &mover, 1);
	FEM_CHECK_NEAR(fem_center(cube).x, start.x, 1e-4);
	steps_with(world, &mover, 3);
	FEM_CHECK(fem_center(cube).x > start.x + 1.0);
	FEM_CHECK_NEAR(fem_center(beside).x, other.x, 1e-4);
	fem_world_destroy(world);
}

// Fails when what sleeps is not woken, or only translation is followed: the tip of a bar of 2 m that turns at 40 rad/s.
FEM_TEST(fast_colliders, a_rotating_bar_strikes_a_sleeper) {
	FemWorldDef def = fem_default_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	FemBodyId cube = add_cube(world, 0.9, 1e8f);
	for (int32_t i = 0; i < 200 && !fem_body_is_asleep(cube); i++)
		fem_steps(world, 1);
	FEM_REQUIRE(fem_body_is_asleep(cube));
	FemColliderDef bar = fem_default_collider_def();
	bar.kind = FEM_COLLIDER_KINEMATIC;
	bar.shape.half_extents = (FemVec3){1.2f, 0.05f, 0.01f};
	bar.rotation = (FemQuat){0.0f, (float)sin(0.25), 0.0f, (float)cos(0.25)}; // 0.5 rad about y: its tip at z < 0
	bar.angular_velocity.y = -40.0f;                                          // towards z > 0
	FemPosition start = fem_center(cube);
	Mover mover = add_mover(world, bar);
	steps_with(world, &mover, 3);
	FemPosition end = fem_center(cube);
	fem_test_check(
		end.z - start.z > 0.5, __FILE__, __LINE__, "the cube went %g, %g m", end.x - start.x, end.z - start.z);
	fem_world_destroy(world);
}

// Fails when a belt, which has velocity but stays where it is, pushes what lies before its end.
FEM_TEST(fast_colliders, a_belt_does_not_push_what_it_does_not_touch) {
	FemWorldId world = empty_world();
	FemBodyId cube = add_cube(world, 0.1, 1e7f);
	FemColliderDef belt = blade(0.0, 20.0f);
	belt.lets_sleep = true; // a new one counts as moved otherwise
	Mover mover = add_mover(world, belt);
	FemPosition start = fem_center(cube);
	for (int32_t i = 0; i < 3; i++) {
		fem_collider_set_motion(mover.id, mover.position, mover.rotation, mover.velocity, mover.spin);
		fem_steps(world, 1);
	}
	FEM_CHECK_NEAR(fem_center(cube).x, start.x, 1e-5);
	fem_world_destroy(world);
}

static double momentum_of(FemWorldId world, FemBodyId id) {
	const FemBody *body = fem_world_find(world)->bodies[id.index1 - 1];
	double sum = 0.0;
	for (int32_t i = 0; i < body->topology->node_count; i++)
		sum += (double)body->mass[i] * (double)body->velocity[i].x;
	return sum;
}

// Both fly at each other, 1.7 and 0.8 m a step. Fails when the way of the body is left out.
FEM_TEST(fast_colliders, a_blade_and_a_cube_fly_at_each_other) {
	for (int32_t i = 0; i < 8; i++) {
		FemWorldId world = empty_world();
		FemBodyId cube = add_cube(world, 1.5 + 0.31 * i, 1e8f);
		for (int32_t n = 0; n < fem_body_get_node_count(cube); n++)
			fem_body_set_velocity(cube, n, (FemVec3){-100.0f, 0.0f, 0.0f});
		Mover mover = add_mover(world, blade(0.0, 50.0f));
		steps_with(world, &mover, 6);
		double ahead = fem_center(cube).x - mover.position.x;
		fem_test_check(ahead > 0.0, __FILE__, __LINE__, "case %d: the cube is %g m ahead of the blade", (int)i, ahead);
		fem_world_destroy(world);
	}
}

// A ball with mass at a thin pane, free or pinned at its rim: momentum is kept, and the ball stays on its side.
FEM_TEST(fast_colliders, a_fast_ball_does_not_pass_a_pane) {
	for (int32_t i = 0; i < 8; i++) {
		FemWorldId world = empty_world();
		FemBlock pane = fem_block(0.0f, 0);
		pane.size = (FemVec3){0.01f, 1.0f, 1.0f};
		pane.cells[0] = 1, pane.cells[1] = pane.cells[2] = 10;
		pane.material.young_modulus = i & 1 ? 1e9f : 7e10f;
		pane.material.density = 2500.0f;
		pane.body.position = (FemPosition){0.0, -0.5, -0.5};
		FemBodyId body = fem_block_add(world, &pane);
		for (int32_t n = 0; n < 242 && i & 2; n++) {
			int32_t y = n / 11 % 11, z = n % 11;
			if (y == 0 || y == 10 || z == 0 || z == 10)
				fem_body_pin_node(body, n);
		}
		FemColliderDef ball = fem_default_collider_def();
		ball.kind = FEM_COLLIDER_DYNAMIC;
		ball.shape.type = FEM_SHAPE_SPHERE;
		ball.shape.radius = 0.1f;
		ball.mass = 5.0f;
		ball.position.x = i & 4 ? -0.6 : -1.4;
		ball.linear_velocity.x = 100.0f;
		Mover mover = add_mover(world, ball);
		steps_with(world, &mover, 4);
		double front = fem_center(body).x, momentum = momentum_of(world, body) + 5.0 * (double)mover.velocity.x;
		FEM_CHECK(i & 2 || fabs(momentum - 500.0) < 5.0);
		fem_test_check(i & 2 ? mover.position.x < 0.3 : mover.position.x < front + 0.15, __FILE__, __LINE__,
			"case %d: the ball is at %g m, the pane at %g m", (int)i, mover.position.x, front);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

// Fails when a collider that strikes within the step is stopped where it stands: it goes as far as the gap is.
FEM_TEST(fast_colliders, the_gap_closes_before_the_blow) {
	FemWorldId world = empty_world();
	FemBlock wall = fem_block(0.4f, 2);
	wall.all_pinned = true;
	wall.body.position = (FemPosition){0.0, -0.2, -0.2};
	fem_block_add(world, &wall);
	FemColliderDef def = blade(-0.305, 40.0f); // 0.3 m of the 0.67 m that it goes
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.shape.half_extents = (FemVec3){0.005f, 0.1f, 0.1f};
	def.mass = 5.0f;
	Mover mover = add_mover(world, def);
	steps_with(world, &mover, 1);
	FEM_CHECK_NEAR(mover.position.x + 0.005, 0.0, 0.03);
	fem_world_destroy(world);
}
