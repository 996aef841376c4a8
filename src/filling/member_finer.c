#include "filling/member_finer.h"

#include "base/error.h"
#include "base/stop_check.h"
#include "filling/member_graded.h"
#include "filling/surface_fit.h"

#include <math.h>

#define MOST 4.2      // times the tets asked for; chosen: four, and a little since counts go in leaps
#define FEW 600       // tets: up to here all variants are tried, beyond every third; chosen, for the time it takes
#define HOPELESS 4.0  // times what a vertex may lie outside: cells of 0.6 of the size do not mend more; chosen
#define HOPE_FROM 1.5 // times the tets asked for, from which on that is asked; chosen

// A place of the lattice: as it comes, or fitted to the box.
typedef struct Variant {
	bool fitted;
	int quarters; // of a cell, by which it is shifted
} Variant;

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
}

// Fills, draws to the surface and covers; the search's trial is the result.
static FemResult try_variant(FemMemberSearch *search, const Variant *variant, double cell, FemMemberFit *out) {
	const double cells[3] = {cell, cell, cell};
	bool memory;
	*out = (FemMemberFit){.gap = FEM_MEMBER_NO_SCORE};
	fem_tet_list_clear(&search->trial);
	FemResult result =
		fem_stuffing_fill(&search->solid, cells, variant->fitted, 0.25 * variant->quarters, &search->trial);
	if (result != FEM_OK)
		return result;
	bool whole = fem_member_keep_sound(search, &search->trial, &memory);
	if (!memory)
		return no_memory();
	if (!whole || search->trial.tet_count > MOST * search->request->target ||
		fem_tet_list_min_dihedral(&search->trial) < FEM_MEMBER_COMPACT_DIHEDRAL)
		return FEM_OK;
	result =
		fem_surface_fit(&search->solid, cell, FEM_MEMBER_COMPACT_DIHEDRAL, FEM_MEMBER_COMPACT_DIHEDRAL, &search->trial);
	return result == FEM_OK ? fem_member_cover(search, &search->trial, out) : result;
}

static void keep_trial(FemMemberSearch *search, double cell) {
	fem_member_keep_trial(search, cell, true);
	search->fitted = true;
}

FemResult fem_member_search_finer(FemMemberSearch *search, double cell, bool *out_good) {
	// Tets over those asked for; chosen: each a quarter more than the one before.
	static const double times[] = {1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0};
	static const Variant variants[] = {{false, 0}, {true, 0}, {false, 2}, {false, 1}, {false, 3}};
	const int32_t time_count = sizeof times / sizeof *times, variant_count = sizeof variants / sizeof *variants;
	double least = FEM_MEMBER_NO_SCORE, allowed = fem_member_gap_allowed(search);
	*out_good = false;
	search->solid.inflation = 0.0;
	for (int32_t i = 0; i < time_count * variant_count && !*out_good; i++) {
		double more = times[i / variant_count];
		if (more > HOPE_FROM && least > HOPELESS * allowed)
			break;
		if (more * search->request->target > FEW && i % variant_count % 3 != 0)
			continue;
		FemMemberFit fit;
		if (!fem_member_report(search->request, (double)i / (time_count * variant_count)))
			return fem_fail_stopped();
		FemResult result = try_variant(search, &variants[i % variant_count], cell / cbrt(more), &fit);
		if (result != FEM_OK)
			return result;
		least = fmin(least, fit.gap);
		*out_good = fit.good;
		if (fit.good)
			keep_trial(search, cell / cbrt(more));
	}
	return FEM_OK;
}
