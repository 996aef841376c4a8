// Which bodies are looked at for touching themselves: strips that are bent along random curves.
#include "contact_rig.h"
#include "fem_test.h"
#include "world/api/registry.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>

#define LENGTH 1.0f // m, of a strip along x
#define THICKNESS 0.02f
#define PI 3.14159265
#define SAMPLES 400 // of its middle line
#define CURVES 150

// The middle line of a bent strip, by the angle of its tangent.
typedef struct Curve {
	double bend, wave, waves, phase; // rad over the length, rad, per length, rad
} Curve;

static double angle_at(const Curve *curve, double s) {
	return curve->bend * s + curve->wave * sin(2.0 * PI * curve->waves * s + curve->phase);
}

static void point_at(const Curve *curve, double s, double out[2]) {
	int steps = (int)(SAMPLES * s) + 1;
	out[0] = out[1] = 0.0;
	for (int i = 0; i < steps; i++) {
		double angle = angle_at(curve, s * (i + 0.5) / steps);
		out[0] += cos(angle) * s * (double)LENGTH / steps;
		out[1] += sin(angle) * s * (double)LENGTH / steps;
	}
}

// Whether places of the line that are well apart along it are nearer to each other than the strip is thick.
static bool line_meets_itself(const Curve *curve) {
	static double points[SAMPLES + 1][2];
	for (int i = 0; i <= SAMPLES; i++)
		point_at(curve, (double)i / SAMPLES, points[i]);
	for (int i = 0; i <= SAMPLES; i++) {
		for (int j = i + SAMPLES / 10; j <= SAMPLES; j++) {
			if (hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]) < 0.9 * (double)THICKNESS)
				return true;
		}
	}
	return false;
}

static FemBodyId add_strip(FemWorldId world) {
	FemBoxMesh box = fem_box_mesh(40, 1, 2, (FemVec3){LENGTH, THICKNESS, 0.1f}, FEM_CELLS_FIVE);
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemMaterialDef material_def = fem_default_material_def();
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.self_contact = true;
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&box);
	return body;
}

// x of a node at rest from the strip's end, 0 to 1, and its height over the middle, m.
static void place_at_rest(const FemWorld *world, const FemBody *body, int32_t node, double *s, double *height) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	FemVec3 p = mesh->positions[body->topology->user_of_node[node]];
	*s = (double)(p.x / LENGTH) + (mesh->positions[0].x < -0.1f ? 0.5 : 0.0);
	*height = (double)p.y - (mesh->positions[0].y < -0.001f ? 0.0 : 0.5 * (double)THICKNESS);
}

static void bend(const FemWorld *world, FemBody *body, const Curve *curve) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->node_count; i++) {
		double s, height, point[2];
		place_at_rest(world, body, i, &s, &height);
		point_at(curve, s, point);
		double angle = angle_at(curve, s);
		body->position[i].x = (float)(point[0] - height * sin(angle));
		body->position[i].y = (float)(point[1] + height * cos(angle));
		body->position[i].z = world->meshes[body->mesh_index].positions[t->user_of_node[i]].z;
	}
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		double middle = 0.0;
		for (int k = 0; k < 4 && t->user_of_tet[tet] >= 0; k++) {
			double s, height;
			place_at_rest(world, body, fem_tet_node(t, tet, k), &s, &height);
			middle += 0.25 * s;
		}
		double half = 0.5 * angle_at(curve, middle);
		body->rotation[tet] = (FemVec4){0.0f, 0.0f, (float)sin(half), (float)cos(half)};
	}
}

// Fails when a body that lies on itself is passed over, or when what is clearly apart is searched: arcs up to 150
// degrees, waves, and rolls up to two turns.
FEM_TEST(self_contact, is_looked_for_where_a_body_may_lie_on_itself) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world_id = fem_world_create(&def);
	FemBodyId id = add_strip(world_id);
	fem_steps(world_id, 1); // finds that it is convex
	FemWorld *world = fem_world_find(world_id);
	FemBody *body = world->bodies[id.index1 - 1];
	uint32_t seed = 1;
	int passed_over = 0, on_itself = 0;
	for (int i = 0; i < CURVES; i++) {
		double random[4];
		for (int k = 0; k < 4; k++) {
			seed = seed * 1664525u + 1013904223u;
			random[k] = (double)(seed >> 8) / 16777216.0;
		}
		Curve curve = {4.0 * PI * (random[0] - 0.5), 2.0 * random[1], 0.5 + 2.0 * random[2], 2.0 * PI * random[3]};
		bend(world, body, &curve);
		bool meets = line_meets_itself(&curve), searched = fem_contact_may_touch_itself(world, body, 0);
		on_itself += meets;
		passed_over += !searched;
		FEM_CHECK(searched || !meets);
	}
	FEM_CHECK(on_itself > CURVES / 20);
	FEM_CHECK(passed_over > CURVES / 5);
	for (int degrees = 0; degrees <= 150; degrees += 10) {
		bend(world, body, &(Curve){degrees * PI / 180.0, 0.0, 0.0, 0.0});
		FEM_CHECK(!fem_contact_may_touch_itself(world, body, 0));
	}
	for (int degrees = 200; degrees <= 720; degrees += 20) {
		bend(world, body, &(Curve){degrees * PI / 180.0, 0.0, 0.0, 0.0});
		FEM_CHECK(fem_contact_may_touch_itself(world, body, 0));
	}
	fem_world_destroy(world_id);
}

// ---- what is not convex

#define DEGREES (PI / 180.0)

// Where a place of the strip lies when its middle line is an arc of that many radians around the z axis.
static FemVec3 on_arc(double angle, double s, double height) {
	double radius = (double)LENGTH / angle - height, at = angle * s;
	return (FemVec3){(float)(radius * sin(at)), (float)(-radius * cos(at)), 0.0f};
}

static FemBodyId add_arc(FemWorldId world, double angle, FemVec3 scale) {
	FemBoxMesh box = fem_box_mesh(40, 1, 2, (FemVec3){LENGTH, THICKNESS, 0.1f}, FEM_CELLS_FIVE);
	FemMaterialDef material_def = fem_default_material_def();
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	FemVec3 low = box.positions[0];
	for (int32_t i = 0; i < box.node_count; i++) {
		FemVec3 p = box.positions[i];
		box.positions[i] =
			on_arc(angle, (double)(p.x - low.x) / (double)LENGTH, (double)(p.y - low.y) - 0.5 * (double)THICKNESS);
		box.positions[i].z = p.z;
	}
	FemMeshDef mesh = fem_box_mesh_def(&box);
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.self_contact = true;
	def.scale = scale;
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&box);
	return body;
}

// Bends an arc of `rest` radians to one of `now`; rotated as a whole, which must make no difference.
static void bend_arc(const FemWorld *world, FemBody *body, double rest, double now) {
	const FemTopology *t = body->topology;
	const FemVec3 *positions = world->meshes[body->mesh_index].positions;
	double whole = 0.7;
	for (int32_t i = 0; i < t->node_count; i++) {
		FemVec3 p = positions[t->user_of_node[i]];
		double at = atan2((double)p.x, (double)-p.y), s = (at < -0.1 ? at + 2.0 * PI : at) / rest;
		FemVec3 q = on_arc(now, s, (double)LENGTH / rest - hypot((double)p.x, (double)p.y));
		body->position[i].x = (float)(cos(whole) * (double)q.x - sin(whole) * (double)q.y);
		body->position[i].y = (float)(sin(whole) * (double)q.x + cos(whole) * (double)q.y);
		body->position[i].z = p.z;
	}
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++)
		body->rotation[tet] = (FemVec4){0.0f, 0.0f, (float)sin(0.5 * whole), (float)cos(0.5 * whole)};
}

// Fails when an open ring whose ends meet is passed over, when one as it was made is searched, and when one whose ends
// touch as they were made is passed over.
FEM_TEST(self_contact, of_what_is_not_convex_is_looked_for_where_it_left_its_shape) {
	static const double rests[] = {200.0, 320.0};
	const FemVec3 as_made = {1.0f, 1.0f, 1.0f};
	FemWorldDef def = fem_default_world_def();
	FemWorldId world_id = fem_world_create(&def);
	FemWorld *world = fem_world_find(world_id);
	for (int n = 0; n < 2; n++) {
		double rest = rests[n] * DEGREES;
		FemBodyId id = add_arc(world_id, rest, as_made);
		fem_steps(world_id, 1); // finds what is apart at rest
		FemBody *body = world->bodies[id.index1 - 1];
		bool was_searched = false;
		for (double now = rests[n]; now <= 400.0; now += 2.0) {
			bend_arc(world, body, rest, now * DEGREES);
			bool searched = fem_contact_may_touch_itself(world, body, 0);
			FEM_CHECK(searched || now < 355.0);
			FEM_CHECK(!searched || now > rests[n] + 2.0);
			FEM_CHECK(searched || !was_searched);
			was_searched = searched;
		}
		fem_body_destroy(id);
	}
	FemBodyId closed = add_arc(world_id, 359.9 * DEGREES, as_made);
	fem_steps(world_id, 1);
	FemBody *body = world->bodies[closed.index1 - 1];
	bend_arc(world, body, 359.9 * DEGREES, 360.5 * DEGREES);
	FEM_CHECK(fem_contact_may_touch_itself(world, body, 0));
	fem_world_destroy(world_id);
}

// Fails when distances are taken to be as many times larger as one side of the body is.
FEM_TEST(self_contact, what_is_scaled_flat_is_nearer_to_itself) {
	FemWorldDef def = fem_default_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world_id = fem_world_create(&def);
	FemWorld *world = fem_world_find(world_id);
	FemBodyId id = add_arc(world_id, 320.0 * DEGREES, (FemVec3){4.0f, 0.25f, 1.0f});
	fem_steps(world_id, 1);
	FemBody *body = world->bodies[id.index1 - 1];
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	FEM_CHECK(mesh->gap > 0.0f && !fem_contact_may_touch_itself(world, body, 0));
	for (int32_t i = 0; i < body->topology->node_count; i++) // by up to 0.4 of the gap to both sides
		body->position[i].y += 2.0f * mesh->gap * mesh->positions[body->topology->user_of_node[i]].x;
	FEM_CHECK(fem_contact_may_touch_itself(world, body, 0));
	fem_world_destroy(world_id);
}
