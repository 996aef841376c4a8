// The rules of dynamics/solver_policy.h, each at its border.
#include "dynamics/solver_policy.h"
#include "fem_test.h"

// Fails when a step looks for its active contacts with other than loose solves, or does not end with a sharp one.
FEM_TEST(solver_policy, active_set_is_found_by_loose_solves_and_ends_sharp) {
	for (int32_t i = 0; i < 3; i++) {
		FemSolvePass loose = fem_policy_pass(i, false, 1e-3f, 400, 2);
		FEM_CHECK(!loose.is_sharp && !loose.is_last && loose.tolerance > 1e-3f && loose.max_iterations == 400);
	}
	FemSolvePass last = fem_policy_pass(3, false, 1e-3f, 400, 2), settled = fem_policy_pass(1, true, 1e-3f, 400, 100);
	FEM_CHECK(last.is_sharp && last.is_last && last.tolerance == 1e-3f && last.max_iterations == 400);
	FEM_CHECK(settled.is_sharp && !settled.is_last && settled.tolerance == 1e-3f && settled.max_iterations == 400);
}

// Fails when a heap's loose solves run to the cap of its materials, or a smaller cap is raised.
FEM_TEST(solver_policy, loose_solves_of_a_heap_are_cut_short) {
	FEM_CHECK(fem_policy_pass(0, false, 1e-3f, 400, 8).max_iterations < 100);
	FEM_CHECK(fem_policy_pass(0, false, 1e-3f, 10, 8).max_iterations == 10);
	FEM_CHECK(fem_policy_pass(0, false, 1e-3f, 400, 7).max_iterations == 400);
}

// Fails when a factor is made anew before it has cost as much as making it, or not then.
FEM_TEST(solver_policy, factor_serves_until_it_has_cost_another) {
	FemPreconditioner p = {.kind = FEM_PRECONDITION_FACTOR, .valid = true, .factor_cost = 95.0, .iteration_cost = 10.0};
	FemMatrixChange moved = {.has_moved = true};
	fem_policy_note_renewed(&p);
	fem_policy_note_solve(&p, 4);
	for (int i = 0; i < 3; i++) {
		fem_policy_note_solve(&p, 7); // 3 iterations of 10 more than a fresh one
		FEM_CHECK(fem_policy_renewal(&p, moved) == FEM_RENEWAL_KEEP);
	}
	fem_policy_note_solve(&p, 7);
	FEM_CHECK(fem_policy_renewal(&p, moved) == FEM_RENEWAL_ANEW);
	fem_policy_note_renewed(&p);
	FEM_CHECK(fem_policy_renewal(&p, moved) == FEM_RENEWAL_KEEP);
	FEM_CHECK(fem_policy_renewal(&p, (FemMatrixChange){.wholly = true}) == FEM_RENEWAL_ANEW);
	p.valid = false;
	FEM_CHECK(fem_policy_renewal(&p, moved) == FEM_RENEWAL_ANEW);
}

// Fails when a cheap factor in contact is kept over steps, or made anew within one though nothing presses otherwise.
FEM_TEST(solver_policy, cheap_factor_in_contact_is_of_every_step) {
	FemPreconditioner p = {.kind = FEM_PRECONDITION_FACTOR, .valid = true, .factor_cost = 70.0, .iteration_cost = 10.0};
	FemMatrixChange moved = {.has_moved = true, .by_contact = true}, within = {.by_contact = true};
	FEM_CHECK(fem_policy_renewal(&p, moved) == FEM_RENEWAL_ANEW);
	FEM_CHECK(fem_policy_renewal(&p, within) == FEM_RENEWAL_IF_LOADED);
	p.factor_cost = 90.0;
	FEM_CHECK(fem_policy_renewal(&p, moved) == FEM_RENEWAL_KEEP);
	FEM_CHECK(!fem_policy_load_counts(-0.9f, 10.0f) && fem_policy_load_counts(-1.1f, 10.0f));
}

// Fails when a piece of a component in two levels is analysed for a factor though it is nearly as large, or is left
// with neither because it has too few parts.
FEM_TEST(solver_policy, large_piece_of_two_levels_stays_in_two_levels) {
	FemPreconditioner parent = {.kind = FEM_PRECONDITION_TWO_LEVEL, .nodes = {100, 200}};
	FEM_CHECK(fem_policy_kind_of_piece(&parent, 51, 4) == FEM_PRECONDITION_TWO_LEVEL);
	FEM_CHECK(fem_policy_kind_of_piece(&parent, 50, 4) == FEM_PRECONDITION_FACTOR);
	FEM_CHECK(fem_policy_kind_of_piece(&parent, 99, 3) == FEM_PRECONDITION_FACTOR);
	FEM_CHECK(fem_policy_kind_of_piece(NULL, 50, 4) == FEM_PRECONDITION_FACTOR);
}
