// The engine against textbook mechanics, one line a case: what theory says, what came out, and how far they may be
// apart. `build/fem_tests theory.` prints all of it; FEM_LONG=1 runs every shape at every rate.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "theory_rig.h"

#include <stdlib.h>

#define GRAVITY 9.81f // m/s^2

static double length(FemVec3 v) {
	return sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
}

static double distance(FemVec3 a, FemVec3 b) {
	return length((FemVec3){a.x - b.x, a.y - b.y, a.z - b.z});
}

// ---- free fall

// The scheme's own sum: v = g dt k after k steps, so x = g dt^2 n (n + 1) / 2, which goes to g t^2 / 2 with dt.
FEM_TEST(theory, free_fall) {
	static const int32_t rates[] = {30, 60, 120, 240};
	for (int i = 0; i < 4; i++) {
		FemRigDef def = fem_rig_cube_def(2, 0.3f);
		def.world.gravity = (FemVec3){0.0f, -GRAVITY, 0.0f};
		FemRig rig = fem_rig_create(&def);
		FEM_REQUIRE(fem_body_is_valid(rig.body));
		double start = fem_state_of(rig.body).center.y, rate = rates[i];
		for (int32_t n = 0; n < rates[i]; n++)
			fem_world_step(rig.world, (float)(1.0 / rate), 1);
		double expected = (double)GRAVITY * (rate + 1.0) / (2.0 * rate);
		fem_compare(fem_named("free fall for 1 s at %d Hz, m", rates[i]), expected,
			start - fem_state_of(rig.body).center.y, 1e-5);
		fem_rig_destroy(&rig);
	}
}

// ---- tumbling

typedef struct Shape {
	const char *name;
	int32_t cells[3];
	FemVec3 size;      // m, of the box
	int32_t tet_count; // the first ones of the box, nodes shaken; 0: the whole box
} Shape;

static const Shape shapes[] = {
	{"bar", {5, 1, 1}, {1.0f, 0.2f, 0.2f}, 0},
	{"plank", {6, 2, 1}, {1.2f, 0.3f, 0.05f}, 0},
	{"stick", {10, 1, 1}, {1.0f, 0.05f, 0.05f}, 0},
	{"cube", {3, 3, 3}, {0.3f, 0.3f, 0.3f}, 0},
	{"shard of 3", {1, 1, 1}, {0.1f, 0.08f, 0.06f}, 3},
	{"shard of 10", {2, 1, 1}, {0.2f, 0.1f, 0.1f}, 10},
	{"shard of 40", {2, 2, 2}, {0.2f, 0.2f, 0.15f}, 40},
};

#define SHAPE_COUNT ((int)(sizeof shapes / sizeof *shapes))

// Keeps the first tets of a box and the nodes that they use, which are moved by up to a fifth of a cell.
static void break_off(FemBoxMesh *box, const Shape *shape) {
	int32_t numbers[64], kept = 0; // at most 27 nodes
	for (int32_t i = 0; i < box->node_count; i++)
		numbers[i] = -1;
	uint32_t seed = 11;
	for (int32_t i = 0; i < 4 * shape->tet_count; i++) {
		int32_t node = box->tets[i];
		if (numbers[node] < 0)
			numbers[node] = kept++;
	}
	FemVec3 *positions = malloc((size_t)kept * sizeof *positions);
	for (int32_t i = 0; i < box->node_count; i++) {
		FemVec3 p = box->positions[i];
		p.x += 0.2f * shape->size.x / (float)shape->cells[0] * fem_random(&seed);
		p.y += 0.2f * shape->size.y / (float)shape->cells[1] * fem_random(&seed);
		p.z += 0.2f * shape->size.z / (float)shape->cells[2] * fem_random(&seed);
		if (numbers[i] >= 0)
			positions[numbers[i]] = p;
	}
	for (int32_t i = 0; i < 4 * shape->tet_count; i++)
		box->tets[i] = numbers[box->tets[i]];
	free(box->positions);
	*box = (FemBoxMesh){kept, shape->tet_count, positions, box->tets};
}

static FemBodyId throw_shape(
	FemWorldId world, const Shape *shape, float young_modulus, FemVec3 spin, FemVec3 velocity) {
	FemBoxMesh box = fem_box_mesh(shape->cells[0], shape->cells[1], shape->cells[2], shape->size, FEM_CELLS_KUHN);
	if (shape->tet_count > 0)
		break_off(&box, shape);
	FemMeshDef mesh_def = fem_box_mesh_def(&box);
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = young_modulus;
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh_def);
	def.materials = &material;
	def.material_count = 1;
	def.angular_velocity = spin;
	def.linear_velocity = velocity;
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&box);
	return body;
}

typedef struct Tumbling {
	const Shape *shape;
	int32_t rate;        // Hz
	float young_modulus; // Pa
	FemVec3 spin;        // rad/s
	FemVec3 velocity;    // m/s
} Tumbling;

typedef struct Tumbled {    // worst of 20 s
	double lowest, highest; // energy without the flight of the centre, over that of the start
	double drift;           // of the angular momentum, over that of the start
	double stress;          // Pa
} Tumbled;

static double energy_about_center(const FemBodyState *state) {
	double momentum = length(state->linear_momentum), speed = length(state->linear_velocity);
	return state->kinetic_energy + state->elastic_energy - 0.5 * momentum * speed;
}

static Tumbled tumble(const Tumbling *tumbling) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.gravity = (FemVec3){0};
	world_def.sleeping_enabled = false;
	FemWorldId world = fem_world_create(&world_def);
	FemBodyId body = throw_shape(world, tumbling->shape, tumbling->young_modulus, tumbling->spin, tumbling->velocity);
	FEM_CHECK(fem_body_is_valid(body));
	FemBodyState start = fem_state_of(body);
	double energy = energy_about_center(&start);
	Tumbled worst = {.lowest = 1.0, .highest = 1.0};
	for (int32_t n = 0; n < 20 * tumbling->rate; n++) {
		fem_world_step(world, 1.0f / (float)tumbling->rate, 1);
		FemBodyState now = fem_state_of(body);
		double share = energy_about_center(&now) / energy;
		worst.lowest = fmin(worst.lowest, share);
		worst.highest = fmax(worst.highest, share);
		double drift = distance(now.angular_momentum, start.angular_momentum) / length(start.angular_momentum);
		worst.drift = fmax(worst.drift, drift);
		worst.stress = fmax(worst.stress, (double)now.max_stress);
	}
	fem_world_destroy(world);
	return worst;
}

// Spin alone pulls at most with rho w^2 R^2 / 2, and bends a slender thing by the Euler force: some 10 kPa at 10 rad/s.
// What flies is up to 16 m from the origin of its body, where floats are 1e-6 m apart: a strain of 2e-5 in a thin
// stick.
#define SPIN_STRESS_MAX 3e4   // Pa; breaking stresses begin at 1e5
#define FLIGHT_STRESS_MAX 1e5 // Pa

static void check_stiff(const Tumbling *tumbling, const char *label) {
	Tumbled worst = tumble(tumbling);
	bool rises = worst.highest - 1.0 > 1.0 - worst.lowest;
	fem_compare(fem_named("%s, energy over that of the start", label), 1.0, rises ? worst.highest : worst.lowest, 0.01);
	fem_compare(fem_named("%s, drift of angular momentum", label), 0.0, worst.drift, 1e-4);
	bool flies = length(tumbling->velocity) > 0.0;
	fem_compare(fem_named("%s, stress, Pa", label), 0.0, worst.stress, flies ? FLIGHT_STRESS_MAX : SPIN_STRESS_MAX);
}

static void check_soft(const Tumbling *tumbling, const char *label) {
	Tumbled worst = tumble(tumbling);
	fem_compare(fem_named("%s, highest energy over that of the start", label), 1.0, worst.highest, 0.01);
	fem_compare(fem_named("%s, drift of angular momentum", label), 0.0, worst.drift, 1e-4);
}

static const FemVec3 spins[] = {{1.0f, 1.0f, 5.0f}, {2.6726124f, 8.0178373f, 5.3452248f}}; // the second: 10 rad/s

static void check_tumbling(const Shape *shape, int32_t rate, FemVec3 spin, FemVec3 velocity) {
	static const float moduli[] = {1e9f, 1e6f, 1e5f};
	for (int i = 0; i < 3; i++) {
		Tumbling tumbling = {shape, rate, moduli[i], spin, velocity};
		char label[80];
		snprintf(label, sizeof label, "%s, %.1f rad/s, %d Hz, E %.0e%s", shape->name, length(spin), rate,
			(double)moduli[i], velocity.x != 0.0f ? ", flying" : "");
		if (i == 0)
			check_stiff(&tumbling, label);
		else
			check_soft(&tumbling, label);
	}
}

// What is thrown in skew axes tumbles on with its energy and angular momentum. Fails when a step turns the body by the
// angular velocity of its start: a bar then has 5.7 times its energy after 3 s, and ends at the limit of spin.
FEM_TEST(theory, tumbling) {
	for (int s = 0; s < SHAPE_COUNT; s++) {
		check_tumbling(&shapes[s], s % 2 ? 30 : 60, spins[0], (FemVec3){0});
		check_tumbling(&shapes[s], s % 2 ? 60 : 30, spins[1], (FemVec3){0});
	}
	check_tumbling(&shapes[0], 60, spins[0], (FemVec3){5.0f, 1.0f, 3.0f});
}

FEM_TEST(theory, tumbling_at_all_rates) {
	static const int32_t rates[] = {30, 60, 120, 240};
	if (!fem_long_tests())
		return;
	for (int s = 0; s < SHAPE_COUNT; s++) {
		for (int r = 0; r < 4; r++) {
			for (int w = 0; w < 2; w++)
				check_tumbling(&shapes[s], rates[r], spins[w], (FemVec3){0});
			check_tumbling(&shapes[s], rates[r], spins[1], (FemVec3){5.0f, 1.0f, 3.0f});
		}
	}
}

// ---- impact

// Two free blocks meet off centre: contact forces are equal and opposite, so both momenta of the pair stay.
FEM_TEST(theory, impact_momentum) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.gravity = (FemVec3){0};
	FemWorldId world = fem_world_create(&world_def);
	FemBlock block = fem_block(0.4f, 2);
	block.body.linear_velocity = (FemVec3){3.0f, 0.0f, 0.0f};
	block.body.angular_velocity = (FemVec3){0.0f, 2.0f, 1.0f};
	FemBodyId bodies[2] = {fem_block_add(world, &block)};
	block.size = (FemVec3){0.3f, 0.6f, 0.2f};
	block.body.position = (FemPosition){0.8, 0.1, 0.05};
	block.body.linear_velocity = (FemVec3){-1.0f, 0.5f, 0.0f};
	block.body.angular_velocity = (FemVec3){1.0f, 0.0f, -2.0f};
	bodies[1] = fem_block_add(world, &block);
	FemMomenta before = fem_momenta_of(bodies, 2);
	double energy = fem_energy(bodies, 2);
	float approach = fem_state_of(bodies[0]).linear_velocity.x;
	fem_steps(world, 60);
	FemMomenta after = fem_momenta_of(bodies, 2);
	FEM_CHECK(fem_state_of(bodies[0]).linear_velocity.x < 0.7f * approach); // they did meet
	static const char *const axes[] = {"x", "y", "z"};
	for (int i = 0; i < 3; i++)
		fem_compare(fem_named("impact, momentum along %s, kg m/s", axes[i]), before.linear[i], after.linear[i], 2e-3);
	for (int i = 0; i < 3; i++)
		fem_compare(fem_named("impact, angular momentum about %s, kg m^2/s", axes[i]), before.angular[i],
			after.angular[i], 0.05);
	fem_compare("impact, energy over that of before (at most 1)", 0.5, fem_energy(bodies, 2) / energy, 0.5);
	fem_world_destroy(world);
}

// Two blocks thrown at each other, the first one lying skew.
static void throw_skew(FemWorldId world, float young_modulus, FemBodyId out[2]) {
	FemBlock block = fem_block(0.4f, 2);
	block.material.young_modulus = young_modulus;
	block.body.rotation = (FemQuat){0.18f, 0.36f, 0.1f, 0.91f};
	block.body.linear_velocity = (FemVec3){8.0f, 0.0f, 0.0f};
	block.body.angular_velocity = (FemVec3){0.0f, 2.0f, 1.0f};
	out[0] = fem_block_add(world, &block);
	block.size = (FemVec3){0.3f, 0.6f, 0.2f};
	block.body.rotation = (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
	block.body.position = (FemPosition){1.2, 0.1, 0.05};
	block.body.linear_velocity = (FemVec3){-1.0f, 0.5f, 0.0f};
	block.body.angular_velocity = (FemVec3){1.0f, 0.0f, -2.0f};
	out[1] = fem_block_add(world, &block);
}

static double momentum_drift(const FemMomenta *before, const FemMomenta *now) {
	double square = 0.0, whole = 0.0;
	for (int i = 0; i < 3; i++) {
		square += (now->angular[i] - before->angular[i]) * (now->angular[i] - before->angular[i]);
		whole += before->angular[i] * before->angular[i];
	}
	return sqrt(square / whole);
}

static void check_skew_impact(float young_modulus, int32_t rate) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.gravity = (FemVec3){0};
	FemWorldId world = fem_world_create(&world_def);
	FemBodyId bodies[2];
	throw_skew(world, young_modulus, bodies);
	FemMomenta before = fem_momenta_of(bodies, 2);
	double start = fem_energy(bodies, 2), last = start, drift = 0.0, rise = 0.0;
	for (int32_t n = 0; n < rate; n++) {
		fem_world_step(world, 1.0f / (float)rate, 1);
		FemMomenta now = fem_momenta_of(bodies, 2);
		drift = fmax(drift, momentum_drift(&before, &now));
		rise = fmax(rise, (fem_energy(bodies, 2) - last) / start);
		last = fem_energy(bodies, 2);
	}
	FEM_CHECK(last < 0.8 * start); // they did meet
	fem_compare(fem_named("skew impact, E %.0e, %d Hz, drift of angular momentum", (double)young_modulus, rate), 0.0,
		drift, 1e-4);
	fem_compare(fem_named("skew impact, E %.0e, %d Hz, highest rise of energy in a step", (double)young_modulus, rate),
		0.0, rise, 0.001);
	fem_world_destroy(world);
}

// Fails when what a solve leaves open of the angular momentum of a pair stays so: 1e-2 of it at 240 Hz. And when what
// is fast and turns is stopped at a touch by nodes that go straight back: 4.9 times the energy at E 1e10 and 30 Hz.
FEM_TEST(theory, skew_impacts) {
	static const float moduli[] = {1e6f, 1e7f, 1e9f, 1e10f};
	static const int32_t rates[] = {30, 60, 240};
	for (int e = 0; e < 4; e++) {
		for (int r = 0; r < 3; r++)
			check_skew_impact(moduli[e], rates[r]);
	}
}

// m/s at which two cubes part that stand 2 mm in each other.
static double parting_speed(int32_t rate) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.gravity = (FemVec3){0};
	FemWorldId world = fem_world_create(&world_def);
	FemBlock block = fem_block(0.3f, 2);
	FemBodyId bodies[2] = {fem_block_add(world, &block)};
	block.body.position.x = 0.298;
	bodies[1] = fem_block_add(world, &block);
	for (int32_t n = 0; n < rate; n++)
		fem_world_step(world, 1.0f / (float)rate, 1);
	double speed = fem_state_of(bodies[1]).linear_velocity.x - fem_state_of(bodies[0]).linear_velocity.x;
	fem_world_destroy(world);
	return speed;
}

// What pushes overlaps apart leaves no more energy in them when steps are short. Fails when a share of the depth is
// pushed out in each step, however short: the cubes then part five times as fast at 1000 Hz.
FEM_TEST(theory, parting) {
	double speed = parting_speed(60);
	FEM_CHECK(speed > 1e-3 && speed < 0.02);
	fem_compare(
		"cubes 2 mm in each other, parting speed at 1000 Hz over that at 60 Hz", 1.0, parting_speed(1000) / speed, 0.5);
}

// ---- beam

static void load_tip(FemRig *rig, void *context) {
	fem_rig_load_face(rig, true, (FemVec3){0.0f, -*(const float *)context, 0.0f});
}

// Timoshenko: P L^3 / 3 E I + P L / (5/6 G A). Linear tets lock in bending, so each mesh has a share of it that is its
// own (from an independent program), which goes to 1 as the mesh is refined.
FEM_TEST(theory, cantilever) {
	static const struct {
		int32_t nx, n;
		FemCellKind kind;
		double share;
	} rows[] = {
		{10, 1, FEM_CELLS_KUHN, 0.219},
		{20, 2, FEM_CELLS_KUHN, 0.504},
		{20, 2, FEM_CELLS_FIVE, 0.674},
		{40, 4, FEM_CELLS_KUHN, 0.787},
		{40, 4, FEM_CELLS_FIVE, 0.886},
	};
	double load = 0.25, side = 0.1, shear_modulus = 1e6 / 2.6, area = side * side, second = area * area / 12.0;
	double theory = load / (3.0 * 1e6 * second) + load / (5.0 / 6.0 * shear_modulus * area);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		FemRigDef def = fem_rig_bar_def(rows[i].nx, rows[i].n, rows[i].n, rows[i].kind, 0.3f);
		FemRig rig = fem_rig_create(&def);
		float force = (float)load;
		fem_rig_settle(&rig, 0.25f, 1e-8f, 200, load_tip, &force);
		double expected = 1e3 * rows[i].share * theory;
		const char *cells = rows[i].kind == FEM_CELLS_KUHN ? "6" : "5";
		fem_compare(fem_named("cantilever of %d x %d x %d cells of %s tets, tip, mm (beam theory %.2f)", rows[i].nx,
						rows[i].n, rows[i].n, cells, 1e3 * theory),
			expected, -1e3 * fem_rig_tip_mean_y(&rig), 0.02 * expected);
		fem_rig_destroy(&rig);
	}
}
