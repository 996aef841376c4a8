// Pieces of what broke: how they are listed, removed and limited.
#include "fem_test.h"
#include "fracture_rig.h"

FEM_TEST(fracture, pieces_are_listed_and_removed) {
	int32_t count;
	FemRig rig = fracture_rig_struck_plate(1, 7);
	fracture_rig_run_plate(&rig, 12, &count);
	FEM_REQUIRE(count > 3);
	FemPieceNumber pieces[256];
	FemPieceState state;
	FemBodyState body;
	double mass = 0.0, volume = 0.0;
	int32_t tets = 0;
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, pieces, 256), count);
	fem_body_get_state(rig.body, &body);
	for (int32_t i = 0; i < count; i++) {
		FEM_CHECK_INT(fem_body_get_piece_state(rig.body, pieces[i], &state), FEM_OK);
		mass += state.mass;
		volume += state.volume;
		tets += state.tet_count;
		FEM_CHECK(state.center.x >= state.min.x && state.center.x <= state.max.x);
		FEM_CHECK_INT(fem_body_get_piece_tets(rig.body, pieces[i], NULL, 0), state.tet_count);
	}
	FEM_CHECK_NEAR(mass, body.mass, 1e-5 * body.mass);
	FEM_CHECK_NEAR(volume, 0.05, 1e-5);
	FEM_CHECK_INT(tets, fem_body_get_tet_count(rig.body));
	// One by one, until the last, in the step they are born or later; what is gone is gone at once.
	for (int32_t i = count - 1; i > 0; i--) {
		FEM_CHECK_INT(fem_body_remove_piece(rig.body, pieces[i]), FEM_OK);
		FEM_CHECK_INT(fem_body_get_piece_state(rig.body, pieces[i], &state), FEM_ERROR_INVALID_ARGUMENT);
		FEM_CHECK(fem_world_validate(rig.world) == FEM_OK);
		if (i % 3 == 0) {
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
			FEM_CHECK(fem_world_validate(rig.world) == FEM_OK);
		}
	}
	count = fem_body_get_pieces(rig.body, pieces, 256);
	while (count > 1) {
		FEM_CHECK_INT(fem_body_remove_piece(rig.body, pieces[count - 1]), FEM_OK);
		count = fem_body_get_pieces(rig.body, pieces, 256);
	}
	FEM_CHECK_INT(fem_body_remove_piece(rig.body, pieces[0]), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_remove_piece(rig.body, 0), FEM_ERROR_INVALID_ARGUMENT);
	for (int32_t step = 0; step < 5; step++)
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
	FEM_CHECK(fem_world_validate(rig.world) == FEM_OK);
	fem_rig_destroy(&rig);
}

FEM_TEST(fracture, debris_is_limited_in_number_and_age) {
	for (int32_t by_age = 0; by_age < 2; by_age++) {
		FemRigDef def = fracture_rig_bar(20, 4, 1e4f, FEM_TOUGHNESS_STRESS);
		def.body.piece_limit = by_age ? 0 : 2;
		def.body.piece_lifetime = by_age ? 0.2f : 0.0f;
		FemRig rig = fem_rig_create(&def);
		int32_t most = 0, last = 0;
		for (int32_t step = 0; step < 60; step++) {
			float force = step < 5 ? 900.0f * (1.0f + (float)step) : 0.0f; // more breaks off in every step
			fem_rig_load_face(&rig, true, (FemVec3){force, 0.0f, 0.0f});
			fem_rig_load_face(&rig, false, (FemVec3){-force, 0.0f, 0.0f});
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
			if (!fem_test_check(
					fem_world_validate(rig.world) == FEM_OK, __FILE__, __LINE__, "step %d: %s", step, fem_last_error()))
				break;
			last = fem_body_get_pieces(rig.body, NULL, 0);
			most = last > most ? last : most;
		}
		printf("  %d: most %d, last %d\n", by_age, most, last);
		FEM_CHECK(by_age ? most >= 3 && last == 1 : most <= 3 && most > 1);
		fem_rig_destroy(&rig);
	}
}

// What is born in a step may go before the next.
FEM_TEST(fracture, pieces_removed_in_the_step_they_are_born) {
	FemRig rig = fracture_rig_struck_plate(1, 7);
	int32_t removed = 0;
	for (int32_t step = 0; step < 20; step++) {
		const FemPieceEvent *events;
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
		for (int32_t i = fem_world_get_piece_events(rig.world, &events); i-- > 0;) {
			FEM_CHECK(events[i].parent != 0);
			removed += fem_body_remove_piece(rig.body, events[i].piece) == FEM_OK;
		}
		FEM_CHECK(fem_world_validate(rig.world) == FEM_OK);
	}
	FEM_CHECK(removed > 3);
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, NULL, 0), 1);
	fem_rig_destroy(&rig);
}
