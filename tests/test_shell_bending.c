// Baked curved walls of few tets bend as those of many do: each is free and pulled apart sideways, as by a hand on
// either side, so that a round wall becomes an ellipse.
#include "contact_rig.h"
#include "fem_test.h"

#include "filling/tetrahedralize.h"
#include "scenes/surface_meshes.h"
#include "theory_rig.h"
#include "things_rig.h"
#include "topology/plate_cells.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979
#define YOUNG 1e8 // Pa
#define TARGETS 3
#define DAMPING 100.0  // 1/s: holds them in their place against what the mesh leaves of force and torque
#define FINE_TETS 6000 // that others are compared with; checked in long runs

typedef struct Tube {
	const char *name;
	double radius, wall, length; // m; the radius of the middle of the wall; it lies along y
	double damping;              // 1/s; holds it against forces that keep their direction, which turn it back too far
} Tube;

static const Tube short_tube = {"tube", 0.029, 0.002, 0.2, 100.0}, long_tube = {"tube", 0.029, 0.002, 0.5, 100.0};
static const Tube thin_tube = {"tube of 1 mm", 0.012, 0.001, 0.5, 1000.0}, hoop = {"ring", 0.5, 0.01, 0.1, 100.0};

static FemTetMesh bake_tube(const Tube *tube, int32_t elements) {
	return fem_thing_bake(fem_surface_tube(tube->radius + 0.5 * tube->wall, tube->wall, tube->length, 48), elements);
}

// Adds a quarter of each tet's volume to its nodes, m^3.
static double *node_volumes(const FemTetMesh *mesh) {
	double *volumes = calloc((size_t)mesh->node_count, sizeof *volumes);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		FemVec3d p[4];
		for (int v = 0; v < 4; v++)
			p[v] = fem_vec3d_from(mesh->nodes[mesh->tets[4 * t + v]]);
		FemVec3d normal = fem_vec3d_cross(fem_vec3d_sub(p[1], p[0]), fem_vec3d_sub(p[2], p[0]));
		double volume = fabs(fem_vec3d_dot(normal, fem_vec3d_sub(p[3], p[0]))) / 6.0;
		for (int v = 0; v < 4; v++)
			volumes[mesh->tets[4 * t + v]] += 0.25 * volume;
	}
	return volumes;
}

// Of a strength in Pa; 0: it does not break.
static FemBodyId make_body(const FemTetMesh *mesh, double strength, double damping, FemWorldId *out_world) {
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material = fem_default_material_def();
	FemMeshDef mesh_def = fem_default_mesh_def();
	FemBodyDef body_def = fem_default_body_def();
	world_def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	world_def.sleeping_enabled = world_def.contacts_enabled = false;
	world_def.solver_tolerance = 1e-6f;
	material.young_modulus = (float)YOUNG;
	material.poisson_ratio = 0.0f;
	material.mass_damping = (float)damping;
	material.max_iterations = 4000;
	material.breakable = strength > 0.0;
	material.toughness = (float)strength;
	material.toughness_variation = 0.0f;
	*out_world = fem_world_create(&world_def);
	FemMaterialId material_id = fem_material_create(*out_world, &material);
	mesh_def.node_count = mesh->node_count;
	mesh_def.node_positions = mesh->nodes;
	mesh_def.tet_count = mesh->tet_count;
	mesh_def.tets = mesh->tets;
	mesh_def.tet_plates = mesh->tet_plates;
	mesh_def.quality_clamp = 0.0f;
	body_def.mesh = fem_mesh_create(*out_world, &mesh_def);
	body_def.materials = &material_id;
	body_def.material_count = 1;
	body_def.dynamics = FEM_DYNAMICS_ELEMENTS;
	return fem_body_create(*out_world, &body_def);
}

// The mean of a.b over the volume, not divided by it.
static double inner(const double *volumes, const FemVec3d *a, const FemVec3d *b, int32_t count) {
	double sum = 0.0;
	for (int32_t n = 0; n < count; n++)
		sum += volumes[n] * fem_vec3d_dot(a[n], b[n]);
	return sum;
}

// Takes the six rigid motions out of a field, so that as a load it is in balance.
static void balance(const FemTetMesh *mesh, const double *volumes, FemVec3d *field) {
	static const FemVec3d axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
	int32_t count = mesh->node_count;
	FemVec3d *motions[6];
	for (int k = 0; k < 6; k++) {
		motions[k] = calloc((size_t)count, sizeof **motions);
		for (int32_t n = 0; n < count; n++)
			motions[k][n] = k < 3 ? axes[k] : fem_vec3d_cross(axes[k - 3], fem_vec3d_from(mesh->nodes[n]));
		for (int other = 0; other < k; other++) {
			double along = inner(volumes, motions[k], motions[other], count);
			for (int32_t n = 0; n < count; n++)
				motions[k][n] = fem_vec3d_sub(motions[k][n], fem_vec3d_scale(motions[other][n], along));
		}
		double length = 1.0 / sqrt(inner(volumes, motions[k], motions[k], count));
		for (int32_t n = 0; n < count; n++)
			motions[k][n] = fem_vec3d_scale(motions[k][n], length);
		double along = inner(volumes, field, motions[k], count);
		for (int32_t n = 0; n < count; n++)
			field[n] = fem_vec3d_sub(field[n], fem_vec3d_scale(motions[k][n], along));
	}
	for (int k = 0; k < 6; k++)
		free(motions[k]);
}

// Forces `load` times a field, which becomes balanced, on every volume. Returns the work that they did over the load.
static double work_of(const FemTetMesh *mesh, FemVec3d *field, double load, double damping) {
	FemWorldId world;
	FemBodyId body = make_body(mesh, 0.0, damping, &world);
	double *volumes = node_volumes(mesh);
	int32_t count = mesh->node_count;
	FemVec3 *now = calloc((size_t)count, sizeof *now);
	FemVec3d *moved = calloc((size_t)count, sizeof *moved);
	FemPosition origin;
	balance(mesh, volumes, field);
	for (int step = 0; step < 40; step++) {
		for (int32_t n = 0; n < count; n++)
			fem_body_apply_force(body, n, fem_vec3d_to_vec3(fem_vec3d_scale(field[n], load * volumes[n])));
		fem_world_step(world, 0.25f, 1);
	}
	fem_body_get_positions(body, &origin, now, count);
	for (int32_t n = 0; n < count; n++)
		moved[n] = fem_vec3d_sub(fem_vec3d_add(fem_vec3d_from(now[n]), (FemVec3d){origin.x, origin.y, origin.z}),
			fem_vec3d_from(mesh->nodes[n]));
	double work = inner(volumes, field, moved, count);
	fem_world_destroy(world);
	free(volumes);
	free(now);
	free(moved);
	return work;
}

// Forces `load` x along `axis`, x the place along it, on every volume, N/m^4: the work over the load, m^5.
static double pull_apart(const FemTetMesh *mesh, int axis, double load, double damping) {
	FemVec3d *field = calloc((size_t)mesh->node_count, sizeof *field);
	for (int32_t n = 0; n < mesh->node_count; n++)
		(&field[n].x)[axis] = (double)(&mesh->nodes[n].x)[axis];
	double work = work_of(mesh, field, load, damping);
	free(field);
	return work;
}

// ---- tubes

// A tube bends without stretching, w = W cos 2 phi, by W = c R^5 / (E t^2): (9 pi / 12) E t^3 W / R^3 a length balances
// (3 pi / 4) c t R^2. All tets of a wall must be in cells: where one in seven was by itself, the first three bent 0.10
// to 0.44 as far.
static void check_ellipse(const Tube *tube, int32_t target) {
	double radius = tube->radius, wall = tube->wall, wanted = 0.02 * wall;
	double load = wanted * YOUNG * wall * wall / pow(radius, 5.0);
	double work = 0.75 * PI * radius * radius * wall * tube->length * wanted;
	FemTetMesh mesh = bake_tube(tube, target);
	FemPlateCells cells;
	if (FEM_CHECK(fem_plate_cells_find(
			mesh.nodes, mesh.node_count, mesh.tets, mesh.tet_count, mesh.tet_plates, NULL, &cells))) {
		FEM_CHECK_INT(3 * cells.count[0] + 5 * cells.count[1], mesh.tet_count);
		fem_compare(fem_named("%s of %d tets, becomes an ellipse / theory", tube->name, mesh.tet_count), 1.0,
			pull_apart(&mesh, 0, load, tube->damping) / work, 0.25);
		fem_plate_cells_free(&cells);
	}
	fem_tet_mesh_free(&mesh);
}

FEM_TEST(theory, tubes_become_ellipses) {
	static const int32_t targets[] = {300, 600, 1000, 3000};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		check_ellipse(&short_tube, targets[i]);
	check_ellipse(&hoop, 300);
	check_ellipse(&hoop, 1000);
	check_ellipse(&thin_tube, 300);
	check_ellipse(&thin_tube, 600);
	check_ellipse(&long_tube, 300);
	check_ellipse(&long_tube, 600);
	check_ellipse(&long_tube, 1000);
	check_ellipse(&thin_tube, 1000);
	check_ellipse(&thin_tube, 6000);
}

// Forces across a tube that lies along y, N/m^3 for a load of 1.
static FemVec3d wave_at(FemVec3 place, double length) {
	return (FemVec3d){cos(2.0 * PI * ((double)place.y / length + 0.5)), 0.0, 0.0};
}

// Under q cos ky the moment is q A/k^2 (1 + cos ky) and the shear force q A/k sin ky; of the area half bears shear.
static void check_tube_as_beam(const Tube *tube, int32_t target) {
	double k = 2.0 * PI / tube->length, area = 2.0 * PI * tube->radius * tube->wall, wanted = 0.02 * tube->wall;
	double inertia = 0.5 * area * tube->radius * tube->radius, shear_modulus = 0.5 * YOUNG; // at nu 0
	double load = wanted * YOUNG * inertia * pow(k, 4.0) / area;
	double bent = 1.5 * tube->length * pow(area, 2.0) / (pow(k, 4.0) * YOUNG * inertia);
	double sheared = tube->length * area / (k * k * shear_modulus);
	FemTetMesh mesh = bake_tube(tube, target);
	FemVec3d *field = calloc((size_t)mesh.node_count, sizeof *field);
	for (int32_t n = 0; n < mesh.node_count; n++)
		field[n] = wave_at(mesh.nodes[n], tube->length);
	fem_compare(fem_named("%s of %d tets, bends as a beam / theory", tube->name, mesh.tet_count), 1.0,
		work_of(&mesh, field, load, tube->damping) / (load * (bent + sheared)), 0.25);
	free(field);
	fem_tet_mesh_free(&mesh);
}

FEM_TEST(theory, tubes_bend_as_beams) {
	check_tube_as_beam(&long_tube, 300);
	check_tube_as_beam(&long_tube, 1000);
	check_tube_as_beam(&thin_tube, 300);
	check_tube_as_beam(&thin_tube, 1000);
	check_tube_as_beam(&thin_tube, 3000);
	check_tube_as_beam(&thin_tube, 600);
	check_tube_as_beam(&thin_tube, 6000);
}

// ---- boxes

#define BOX_WALL 0.03 // m

// A box of 3 x 1 x 1.6 m, open at both ends of its length, is pulled apart along y: a frame whose beams b bear the load
// q and whose posts h are bent by the moment M at their ends, so that (Timoshenko 1955, section 40)
// M = q b^2 / 12 / (1 + h / b); the load does the work of the beams' and the posts' moments squared, over E I.
FEM_TEST(theory, boxes_bend_as_frames) {
	static const double boards[][6] = {{0.0, 0.0, 0.0, 3.0, BOX_WALL, 1.6},
		{0.0, 1.0 - BOX_WALL, 0.0, 3.0, BOX_WALL, 1.6}, {0.0, 0.0, 0.0, 3.0, 1.0, BOX_WALL},
		{0.0, 0.0, 1.6 - BOX_WALL, 3.0, 1.0, BOX_WALL}};
	static const int32_t targets[] = {600, 2000};
	double b = 1.6 - BOX_WALL, h = 1.0 - BOX_WALL, rigidity = YOUNG * pow(BOX_WALL, 3.0) / 12.0; // N m
	double pressure = 0.5 * h * BOX_WALL, moment = pressure * b * b / 12.0 / (1.0 + h / b);      // for a load of 1
	double squared = 2.0 *
		(pressure * pressure * pow(b, 5.0) / 120.0 - moment * pressure * pow(b, 3.0) / 6.0 + moment * moment * (b + h));
	double load = 0.02 * BOX_WALL * 384.0 * rigidity / (pressure * pow(b, 4.0));
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		FemTetMesh mesh = fem_thing_bake(fem_surface_boards(boards, 4), targets[i]);
		fem_compare(fem_named("box of %d tets, bends as a frame / theory", mesh.tet_count), 1.0,
			pull_apart(&mesh, 1, load, DAMPING) / (load * 3.0 * squared / rigidity), 0.15);
		fem_compare(
			fem_named("box of %d tets, volume", mesh.tet_count), 3.0 * (1.6 - 1.54 * 0.94), (double)mesh.volume, 1e-3);
		fem_tet_mesh_free(&mesh);
	}
}

// ---- other shells

static FemSurfaceMesh make_vase(void) {
	return fem_surface_vase(0.3, 0.005, 40);
}

static FemSurfaceMesh make_oval_vase(void) {
	FemSurfaceMesh mesh = fem_surface_vase(0.3, 0.004, 40);
	for (int32_t i = 0; i < mesh.vertex_count; i++)
		mesh.vertices[i].x *= 1.4f;
	return mesh;
}

// A straight belly, shoulders and a neck, wall 3 mm.
static FemSurfaceMesh make_bottle(void) {
	double profile[52][2], wall = 0.003;
	int32_t count = 0;
	for (int side = 0; side < 2; side++) {
		profile[count][0] = 0.0, profile[count++][1] = side == 0 ? 0.0 : wall;
		for (int32_t i = 0; i <= 24; i++) {
			double height = i / 24.0, s = fmin(fmax((height - 0.6) / 0.2, 0.0), 1.0);
			profile[count][0] = 0.04 - 0.027 * s * s * (3.0 - 2.0 * s) - (side == 0 ? 0.0 : wall);
			profile[count++][1] = fmax(0.25 * height, side == 0 ? 0.0 : wall);
		}
	}
	for (int32_t i = 26, j = 51; i < j; i++, j--) { // down again within
		for (int k = 0; k < 2; k++) {
			double kept = profile[i][k];
			profile[i][k] = profile[j][k];
			profile[j][k] = kept;
		}
	}
	return fem_surface_revolved(profile, count, 32);
}

static FemSurfaceMesh make_bowl(void) {
	return fem_surface_bowl(0.1, 0.004, 16);
}

static FemSurfaceMesh make_box(void) {
	return fem_surface_hollow_box((FemVec3){3.0f, 1.0f, 1.6f}, BOX_WALL, 1);
}

// A car of 4 x 1.3 x 1.7 m, its outside alone: a rounded box whose upper half is narrower.
static FemSurfaceMesh make_car(void) {
	FemSurfaceMesh mesh = fem_surface_sphere(1.0, 24);
	for (int32_t i = 0; i < mesh.vertex_count; i++) {
		FemVec3 *x = &mesh.vertices[i];
		double p[3] = {(double)x->x, (double)x->y, (double)x->z}, norm = 0.0;
		for (int k = 0; k < 3; k++)
			norm += pow(fabs(p[k]), 5.0);
		norm = pow(norm, -0.2);
		double y = p[1] * norm, s = fmin(fmax((y + 0.1) / 0.4, 0.0), 1.0), cabin = s * s * (3.0 - 2.0 * s);
		*x = (FemVec3){(float)(2.0 * p[0] * norm * (1.0 - 0.45 * cabin)), (float)(0.65 * y),
			(float)(0.85 * p[2] * norm * (1.0 - 0.15 * cabin))};
	}
	return mesh;
}

typedef struct Shell {
	const char *name;
	FemSurfaceMesh (*make)(void);
	FemTetMesh (*bake)(int32_t elements); // in place of make
	float wall;                           // m, of one whose mesh is its outside alone
	int axis;                             // along which it is pulled apart
	double load;                          // N/m^4, that moves it by a hundredth of its wall or so
	int32_t targets[TARGETS];
	double fine;    // m^5, the work of that of FINE_TETS tets
	int32_t fewest; // tets that the first may have at the most
} Shell;

static FemTetMesh bake_shell(const Shell *shell, int32_t elements) {
	if (shell->bake)
		return shell->bake(elements);
	FemSurfaceMesh surface = shell->make();
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh tets = {0};
	def.element_count = elements;
	def.wall_thickness = shell->wall;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	fem_surface_mesh_free(&surface);
	return tets;
}

// m^3, of the triangles; 0 of those whose wall is not in them.
static double volume_of_shell(const Shell *shell) {
	if (!shell->make || shell->wall > 0.0f)
		return 0.0;
	FemSurfaceMesh surface = shell->make();
	double sum = 0.0;
	for (int32_t t = 0; t < surface.triangle_count; t++) {
		FemVec3d p[3];
		for (int v = 0; v < 3; v++)
			p[v] = fem_vec3d_from(surface.vertices[surface.triangles[t][v]]);
		sum += fem_vec3d_dot(p[0], fem_vec3d_cross(p[1], p[2])) / 6.0;
	}
	fem_surface_mesh_free(&surface);
	return fabs(sum);
}

// Fails when columns that lean apart make no cells (vases of 1,000 tets then bend 0.3 as far), and when cells near the
// bottom of a bottle take its width for their depth (bottles of 3,000 are then filled by a lattice); when sides of
// cells are chords in place of arcs (bottle of 630 tets 0.81, car body of 1,740 0.7). What could not have been turned
// has as many more than the 300 tets asked for as it takes to cover it.
FEM_TEST(theory, shells_of_few_tets_bend_as_those_of_many) {
	static const Shell shells[] = {
		{"vase", make_vase, NULL, 0.0f, 0, 1e6, {300, 1000, 3000}, 1.285e-9, 500},
		{"oval vase", make_oval_vase, NULL, 0.0f, 0, 1e6, {300, 1000, 3000}, 3.28e-9, 600},
		{"bottle", make_bottle, NULL, 0.0f, 0, 3e5, {300, 1000, 3000}, 9.6e-12, 700},
		{"bowl", make_bowl, NULL, 0.0f, 0, 1e6, {300, 1000, 3000}, 5.35e-9, 500},
		{"box", make_box, NULL, 0.0f, 1, 1e2, {600, 2000, 3000}, 1.035e-5, 700},
		{"pot", NULL, fem_thing_teapot, 0.0f, 0, 1e6, {300, 1000, 3000}, 1.427e-9, 800},
		{"wine glass", NULL, fem_thing_wine_glass, 0.0f, 0, 3e5, {300, 1000, 3000}, 1.48e-11, 800},
		{"car body", make_car, NULL, 0.008f, 1, 1e2, {300, 1400, 2000}, 6.65e-6, 1800},
	};
	int targets = fem_long_tests() ? TARGETS : 2;
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		const Shell *shell = &shells[i];
		for (int n = 0; n < targets; n++) {
			FemTetMesh mesh = bake_shell(shell, shell->targets[n]);
			double volume = volume_of_shell(shell);
			FEM_CHECK_INT(mesh.members[0].kind, FEM_MEMBER_WALL);
			FEM_CHECK(n > 0 || mesh.tet_count <= shell->fewest);
			fem_compare(fem_named("%s of %d tets, pulled apart / fine", shell->name, mesh.tet_count), 1.0,
				pull_apart(&mesh, shell->axis, shell->load, DAMPING) / shell->fine, 0.15);
			FEM_CHECK(!(volume > 0.0) || fabs((double)mesh.volume / volume - 1.0) < 0.1);
			fem_tet_mesh_free(&mesh);
		}
		if (!fem_long_tests())
			continue;
		FemTetMesh mesh = bake_shell(shell, FINE_TETS);
		fem_compare(fem_named("%s of %d tets, m^5", shell->name, mesh.tet_count), shell->fine,
			pull_apart(&mesh, shell->axis, shell->load, DAMPING), 0.02 * shell->fine);
		fem_tet_mesh_free(&mesh);
	}
}

// ---- breaking

#define STRENGTH 3e4     // Pa: walls then move by some hundredths of their thickness
#define LOAD_GROWTH 1.02 // from step to step

// By bending of its wall, that becomes an ellipse, or by stretching, as a beam that is bent.
typedef enum Breaking { OVAL, BEAM } Breaking;

static FemVec3d force_at(Breaking breaking, FemVec3 place, double length) {
	return breaking == OVAL ? (FemVec3d){(double)place.x, 0.0, 0.0} : wave_at(place, length);
}

// The load under which the first face opens.
static double breaking_load(const FemTetMesh *mesh, Breaking breaking, const Tube *tube, double expected) {
	FemWorldId world;
	FemBodyId body = make_body(mesh, STRENGTH, tube->damping, &world);
	double *volumes = node_volumes(mesh), load = 0.3 * expected;
	int32_t count = mesh->node_count;
	FemVec3d *field = calloc((size_t)count, sizeof *field);
	const FemFractureFace *faces;
	for (int32_t n = 0; n < count; n++)
		field[n] = force_at(breaking, mesh->nodes[n], tube->length);
	balance(mesh, volumes, field);
	for (; load < 10.0 * expected; load *= LOAD_GROWTH) {
		for (int32_t n = 0; n < count; n++)
			fem_body_apply_force(body, n, fem_vec3d_to_vec3(fem_vec3d_scale(field[n], load * volumes[n])));
		fem_world_step(world, 0.25f, 1);
		if (fem_world_get_fracture_faces(world, &faces) > 0)
			break;
	}
	fem_world_destroy(world);
	free(volumes);
	free(field);
	return load / sqrt(LOAD_GROWTH);
}

// By which the outermost fibre bears STRENGTH. A ring under q x has the moment q t R^3/4 cos 2a, and at its poles,
// inside, the pull q t R^2 as well; for a tube that bends see above.
static double load_of_theory(Breaking breaking, const Tube *tube) {
	double inner = tube->radius - 0.5 * tube->wall, outer = tube->radius + 0.5 * tube->wall,
		   k = 2.0 * PI / tube->length;
	double area = PI * (outer * outer - inner * inner), inertia = 0.25 * PI * (pow(outer, 4.0) - pow(inner, 4.0));
	if (breaking == OVAL)
		return STRENGTH / (1.5 * pow(tube->radius, 3.0) / tube->wall + tube->radius * tube->radius);
	return STRENGTH * inertia / outer / (2.0 * area / (k * k));
}

static void check_breaking(const Tube *tube, Breaking breaking, int32_t target) {
	double expected = load_of_theory(breaking, tube);
	FemTetMesh mesh = bake_tube(tube, target);
	fem_compare(fem_named("%s of %d tets, %s, breaking load / theory", tube->name, mesh.tet_count,
					breaking == OVAL ? "becomes an ellipse" : "bends as a beam"),
		1.0, breaking_load(&mesh, breaking, tube, expected) / expected, 0.2);
	fem_tet_mesh_free(&mesh);
}

// Fails where a node of a curved wall feels the stress of single cells, or where these count as they lean. (Of 300
// tets, with 10 cells round, tubes are too wide, and cells of constant stretch too long: 0.74 and 1.60.)
FEM_TEST(theory, tubes_break) {
	check_breaking(&short_tube, OVAL, 1000);
	check_breaking(&short_tube, OVAL, 3000);
	check_breaking(&long_tube, BEAM, 1000);
	check_breaking(&long_tube, BEAM, 3000);
	check_breaking(&hoop, OVAL, 300);
	check_breaking(&hoop, OVAL, 1000);
	check_breaking(&thin_tube, OVAL, 300);
	check_breaking(&long_tube, BEAM, 300);
	check_breaking(&thin_tube, OVAL, 1000);
	check_breaking(&thin_tube, BEAM, 300);
	check_breaking(&thin_tube, BEAM, 1000);
	check_breaking(&thin_tube, OVAL, 6000);
	check_breaking(&thin_tube, BEAM, 6000);
}
