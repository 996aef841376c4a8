// How large a bake may be asked for, and how soon one of the largest notices that it is to stop.
#include "fem_test.h"

#include "base/memory.h"
#include "fem_baking.h"
#include "scenes/surface_meshes.h"

#define PAUSE_MAX 700.0 // ms of processor time that a bake may take to notice that it is to stop
#define BUDGET 1500.0   // ms after which each is stopped: some would take 20 s

// Processor time between two calls of the progress function, which is when a bake can be stopped.
typedef struct Pulse {
	double start_ms, last_ms, longest_ms;
	float longest_after, share; // done when the longest pause began, and now
} Pulse;

static bool note_pulse(void *context, float share) {
	Pulse *pulse = context;
	double now = fem_test_cpu_ms(), pause = now - pulse->last_ms;
	if (pause > pulse->longest_ms) {
		pulse->longest_ms = pause;
		pulse->longest_after = pulse->share;
	}
	pulse->last_ms = now;
	pulse->share = share;
	return now - pulse->start_ms < BUDGET * FEM_TEST_SLOWNESS;
}

static FemRenderMesh render_of(FemSurfaceMesh source) {
	FemRenderMesh render = {0};
	FemRenderSurface *surface = fem_render_mesh_add(&render, "", "");
	if (FEM_CHECK(fem_render_surface_reserve(surface, source.vertex_count, 3 * source.triangle_count, 0))) {
		memcpy(surface->positions, source.vertices, sizeof(FemVec3) * (size_t)source.vertex_count);
		memcpy(surface->indices, source.triangles, sizeof(int32_t) * 3 * (size_t)source.triangle_count);
	}
	fem_surface_mesh_free(&source);
	return render;
}

// Two small spheres far from each other, one part: a lattice over both is mostly empty.
static FemSurfaceMesh make_scattered(void) {
	FemSurfaceMesh mesh = fem_surface_sphere(0.02, 12), other = fem_surface_sphere(0.02, 12);
	fem_surface_transform(&other, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){1.0, 1.0, 1.0});
	fem_surface_append(&mesh, &other);
	fem_surface_mesh_free(&other);
	return mesh;
}

static FemSurfaceMesh make_torus(void) {
	return fem_surface_torus(0.5, 0.2, 60, 30);
}
static FemSurfaceMesh make_fine_torus(void) {
	return fem_surface_torus(0.5, 0.2, 500, 300);
}
static FemSurfaceMesh make_shell(void) {
	return fem_surface_shell(0.5, 0.002, 24);
}
static FemSurfaceMesh make_box(void) {
	return fem_surface_box((FemVec3){1.0f, 0.7f, 0.5f}, 2);
}
static FemSurfaceMesh make_soup(void) {
	return fem_surface_random_soup(2000, 7);
}

typedef struct LargeBake {
	const char *name;
	FemSurfaceMesh (*make)(void);
	FemPattern pattern;
} LargeBake;

static const LargeBake large_bakes[] = {
	{"torus", make_torus, FEM_PATTERN_NONE},
	{"torus of 300,000 triangles", make_fine_torus, FEM_PATTERN_NONE},
	{"thin shell", make_shell, FEM_PATTERN_NONE},
	{"box", make_box, FEM_PATTERN_NONE},
	{"scattered", make_scattered, FEM_PATTERN_NONE},
	{"soup", make_soup, FEM_PATTERN_NONE},
	{"torus, wood", make_torus, FEM_PATTERN_WOOD},
	{"torus, Voronoi", make_torus, FEM_PATTERN_VORONOI},
};

// ms, the longest pause of one run.
static double longest_pause(const LargeBake *large) {
	FemRenderMesh render = render_of(large->make());
	FemBakeDef def = fem_default_bake_def();
	double start = fem_test_cpu_ms();
	Pulse pulse = {.start_ms = start, .last_ms = start};
	FemBakeResult result;
	def.element_count = FEM_BAKE_ELEMENTS_MAX;
	def.cut.pattern = large->pattern;
	def.sheet_thickness = 0.002f;
	def.progress = note_pulse;
	def.progress_context = &pulse;
	fem_bake_now(&render, &def, &result);
	note_pulse(&pulse, 1.0f);
	printf("\t%s: %.0f ms, longest pause %.0f ms after a share of %.3f\n", large->name, pulse.last_ms - start,
		pulse.longest_ms, (double)pulse.longest_after);
	FEM_CHECK(result.result == FEM_OK || result.is_cancelled);
	fem_bake_result_free(&result);
	return pulse.longest_ms;
}

// A pause of the machine's own, of which one in some hundred runs has one of a second, does not come again.
static void check_pauses(const LargeBake *large) {
	double longest = longest_pause(large);
	for (int again = 0; again < 2 && longest >= PAUSE_MAX * FEM_TEST_SLOWNESS; again++)
		longest = longest_pause(large);
	FEM_CHECK_TIME(longest, PAUSE_MAX);
}

FEM_TEST(bake_limits, the_largest_can_be_stopped_at_any_time) {
	int64_t before = fem_memory_bytes();
	for (size_t i = 0; i < sizeof large_bakes / sizeof *large_bakes; i++)
		check_pauses(&large_bakes[i]);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

static bool count_down(void *context, float share) {
	(void)share;
	return --*(int32_t *)context > 0;
}

// Stopped at the n-th question, for many n: nothing may be left of it.
FEM_TEST(bake_limits, stopping_leaves_nothing_behind) {
	static const FemPattern patterns[] = {FEM_PATTERN_NONE, FEM_PATTERN_VORONOI, FEM_PATTERN_WOOD};
	for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
		bool is_cancelled = true;
		for (int32_t calls = 1; is_cancelled; calls += 1 + calls / 4) {
			int64_t before = fem_memory_bytes();
			FemRenderMesh render = render_of(fem_surface_torus(0.5, 0.2, 16, 10));
			FemBakeDef def = fem_default_bake_def();
			FemBakeResult result;
			int32_t left = calls;
			def.element_count = 200;
			def.cut.pattern = patterns[p];
			def.progress = count_down;
			def.progress_context = &left;
			fem_bake_now(&render, &def, &result);
			is_cancelled = result.is_cancelled;
			FEM_CHECK(is_cancelled ? result.result == FEM_ERROR_LIMIT && !result.bytes : result.result == FEM_OK);
			fem_bake_result_free(&result);
			if (!FEM_CHECK_INT(fem_memory_bytes(), before)) {
				printf("\tpattern %d, stopped at call %d\n", (int)patterns[p], calls);
				return;
			}
		}
	}
}

// Cells that are more than triangle_max allows are laid out anew, fewer of them: the memory of both must be given back.
FEM_TEST(bake_limits, cutting_anew_gives_all_memory_back) {
	for (int32_t most = 1000; most <= 8000; most += 1000) {
		int64_t before = fem_memory_bytes();
		FemRenderMesh render = render_of(fem_surface_torus(0.5, 0.2, 16, 10));
		FemBakeDef def = fem_default_bake_def();
		FemBakeResult result;
		def.element_count = 500;
		def.cut.pattern = FEM_PATTERN_WOOD;
		def.cut.triangle_max = most;
		fem_bake_now(&render, &def, &result);
		FEM_CHECK_INT(result.result, FEM_OK);
		fem_bake_result_free(&result);
		FEM_CHECK_INT(fem_memory_bytes(), before);
	}
}

FEM_TEST(bake_limits, too_many_elements_are_refused) {
	static const int32_t counts[] = {
		INT32_MIN, 0, FEM_BAKE_ELEMENTS_MIN - 1, FEM_BAKE_ELEMENTS_MAX + 1, 2000000000, INT32_MAX};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		FemRenderMesh render = render_of(make_box());
		FemBakeDef def = fem_default_bake_def();
		FemBakeResult result;
		def.element_count = counts[i];
		fem_bake_now(&render, &def, &result);
		FEM_CHECK_INT(result.result, FEM_ERROR_INVALID_ARGUMENT);
		FEM_CHECK(strstr(result.message, "element_count") && strstr(result.message, "100000"));
		fem_bake_result_free(&result);
	}
}
