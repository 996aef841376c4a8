// Solving and moving composites: largest first, small ones one to a thread, large ones by all that are idle
// (P&O09 section 4).
#include "world/step/composite_task.h"

#include "base/vec.h"
#include "dynamics/group_balance.h"
#include "dynamics/modal_grabs.h"
#include "dynamics/modal_joints.h"
#include "dynamics/modal_unknowns.h"
#include "dynamics/rigid_unknowns.h"
#include "dynamics/solver_policy.h"
#include "model/piece.h"
#include "world/step/passes.h"
#include "world/step/piece_probe.h"
#include "world/step/work_limits.h"
#include "world/world.h"

#define ITERATIONS_GUESS 20 // of an island that was not solved yet, for the order of work only; chosen

static int32_t collider_count(const FemCompositeTask *task) {
	return task->composite->proxies.end - task->composite->proxies.begin;
}

// Its number among the world's.
static int32_t collider_at(const FemCompositeTask *task, int32_t place) {
	return task->step->composites.proxy_list[task->composite->proxies.begin + place];
}

// One body that touches nothing but itself: contacts are internal forces.
static bool touches_itself_only(const FemCompositeTask *task) {
	return task->composite->is_free && task->system.island_count == 1 && collider_count(task) == 0 &&
		!task->result->on_ground;
}

// Whoever holds it takes and gives momentum.
static bool is_grabbed(const FemBody *body) {
	const FemModal *modal = fem_modal_of(body);
	return modal && modal->grab_count > 0;
}

static FemIntegration integration_of(const FemCompositeTask *task, int32_t place) {
	FemStep *step = task->step;
	const FemIsland *island = fem_composite_island(task, place);
	FemRange chunks = task->system.islands[place].chunks;
	return (FemIntegration){
		.body = step->world->bodies[island->body],
		.chunks = task->system.chunks + chunks.begin,
		.chunk_count = chunks.end - chunks.begin,
		.partials = step->motion_sums + task->composite->chunks.begin + chunks.begin,
		.loop = task->system.loop,
		.step = step->world->step_statistics.step_count,
		.dt = step->dt,
		.speed_max = step->world->def.node_speed_max,
		.gravity = fem_body_gravity(step->world, step->world->bodies[island->body]),
		.is_whole = island->whole,
		.is_free = island->pinned_count == 0 && island->whole,
		.rigid = fem_rigid_piece_of(step->world->bodies[island->body], island),
		.in_contact = task->result->on_ground || is_grabbed(step->world->bodies[island->body]) ||
			(fem_contact_rows_total(&task->system.contacts) > 0 && !touches_itself_only(task)),
		.contacts = &task->system.contacts,
	};
}

static FemContactRows contacts_of(FemStep *step, const FemComposite *composite, int32_t composite_index) {
	FemComposites *composites = &step->composites;
	return (FemContactRows){
		.bodies = step->world->bodies,
		.contacts = composites->contacts + composite->contacts.begin,
		.count = composite->contacts.end - composite->contacts.begin - composite->bond_count,
		.bond_count = composite->bond_count,
		.proxies = step->proxies,
		.rows = step->contact_rows + composite->contacts.begin,
		.impulses = step->contact_impulses + composite->contacts.begin,
		.before = step->contact_before + composite->contacts.begin,
		.refs = step->contact_refs + FEM_CONTACT_REFS * (int64_t)composite->contacts.begin,
		.ref_start = step->contact_ref_start + composite->chunks.begin + composite_index,
		.holds = step->world->contacts.holds,
	};
}

// kg: of the piece, or what of it is awake.
static float island_mass(const FemBody *body, const FemIsland *island) {
	FemRange nodes = body->topology->component_nodes[island->component];
	float mass = body->pieces[island->component].mass;
	return island->whole ? mass : mass * (float)island->node_count / (float)(nodes.end - nodes.begin);
}

// Then rigid motions, for which kept factors are of no use in a heap, are solved for exactly.
static bool has_rigid_piece(const FemCompositeTask *task) {
	bool has = false;
	for (int32_t i = 0; i < task->system.island_count; i++) {
		const FemIsland *island = fem_composite_island(task, i);
		has |= task->step->world->bodies[island->body]->pieces[island->component].is_rigid;
	}
	return has;
}

static FemCompositeTask open_task(FemStep *step, int32_t order) {
	int32_t index = step->composite_order[order];
	FemWorld *world = step->world;
	FemComposite *composite = &step->composites.composites[index];
	FemCompositeTask task = {.step = step, .composite = composite, .result = &step->results[index]};
	task.system = (FemSystem){
		.bodies = world->bodies,
		.islands = step->system_islands + composite->islands.begin,
		.island_count = composite->islands.end - composite->islands.begin,
		.chunks = step->composites.chunks + composite->chunks.begin,
		.chunk_count = composite->chunks.end - composite->chunks.begin,
		.partials = step->partials + composite->chunks.begin,
		.rigids = step->rigids + composite->islands.begin + composite->proxies.begin,
		.rigid_factors = step->rigid_factors + 36 * (int64_t)(composite->islands.begin + composite->proxies.begin),
		.modals = step->modals + composite->islands.begin,
		.group_nodes = step->group_nodes ? step->group_nodes + composite->islands.begin : NULL,
		.contacts = contacts_of(step, composite, index),
		.contact_partials = step->contact_partials + composite->contacts.begin,
		.loop = composite->large ? fem_pool_open_loop(world->pool) : NULL,
		.tolerance = world->def.solver_tolerance,
	};
	bool has_rigid = has_rigid_piece(&task);
	for (int32_t i = 0, chunk = 0; i < task.system.island_count; i++) {
		const FemIsland *island = fem_composite_island(&task, i);
		FemBody *body = world->bodies[island->body];
		FemRange chunks = {chunk, chunk + island->node_chunks.end - island->node_chunks.begin};
		const FemPiece *piece = &body->pieces[island->component];
		bool kept = island->whole && piece->preconditioner &&
			(has_rigid || fem_policy_uses_kept(piece, task.system.contacts.count, composite->node_count));
		task.system.islands[i] = (FemSystemIsland){
			.body = body,
			.chunks = chunks,
			.preconditioner = kept && !piece->is_rigid ? piece->preconditioner : NULL,
			.is_rigid = piece->is_rigid,
		};
		task.system.floor += fem_policy_floor(island_mass(body, island));
		if (body->max_iterations > task.system.max_iterations)
			task.system.max_iterations = body->max_iterations;
		chunk = chunks.end;
	}
	for (int32_t k = 0; k < collider_count(&task); k++)
		task.system.floor += fem_policy_floor(step->proxies[collider_at(&task, k)].mass);
	task.system.max_iterations = fem_work_iterations(
		world, composite->node_count, fem_policy_iteration_cap(task.system.max_iterations, task.system.island_count));
	return task;
}

static void close_task(FemCompositeTask *task) {
	fem_pool_close_loop(task->step->world->pool, task->system.loop);
}

// ---- solve

// Before the forces of the turning frame, which have no net torque of their own, join the right-hand side.
static void open_balance(FemCompositeTask *task, int32_t place, const FemIntegration *integration) {
	FemSystemIsland *island = &task->system.islands[place];
	const FemIsland *live = fem_composite_island(task, place);
	FemHinge hinge;
	if (!integration->is_free && !fem_hinge_find(integration, &hinge))
		return;
	FemRange nodes = island->body->topology->component_nodes[live->component];
	island->balance =
		fem_rigid_balance_open(island->body, nodes, integration->is_free ? NULL : &hinge, integration->dt);
	if (island->balance.is_on)
		fem_rigid_balance_load(&island->balance, island->body, integration->dt, integration->gravity);
}

static bool is_near_ground(const FemCompositeTask *task, FemRange chunks) {
	bool near = false;
	for (int32_t c = chunks.begin; c < chunks.end; c++)
		near |= task->step->ground_candidates[task->composite->chunks.begin + c] > 0;
	return near;
}

static void open_island(FemCompositeTask *task, int32_t place) {
	FemSystemIsland *island = &task->system.islands[place];
	int32_t component = fem_composite_island(task, place)->component;
	FemIntegration integration = integration_of(task, place);
	island->body->step->rigid[component] = island->is_rigid ? &island->rigid : NULL;
	if (!island->is_rigid) {
		open_balance(task, place, &integration);
		fem_motion_add_centrifugal(&integration);
		return;
	}
	if (island->body->pieces[component].moves_as_one)
		return; // open_groups()
	FemRange nodes = island->body->topology->component_nodes[component];
	bool is_modal = fem_modal_of(island->body) != NULL;
	if (is_modal) {
		island->rigid = fem_modal_frame(island->body, integration.is_free);
		fem_modal_open(island->body, &island->rigid, integration.gravity, integration.dt, task->system.contacts.count,
			is_near_ground(task, island->chunks));
		fem_modal_load(island->body, &island->rigid, island->extra);
	} else {
		island->rigid = integration.is_free ? fem_rigid_unknowns_open(island->body, nodes)
											: fem_rigid_unknowns_open_pinned(island->body, nodes);
		fem_rigid_unknowns_load(&island->rigid, island->extra, island->body, nodes);
	}
	if (island->rigid.modal)
		task->system.modals[task->system.modal_count++] = &island->rigid;
}

// Pieces that stand still together (joined_calm.h) have the unknowns of the first of them; where one is held, none.
static void open_groups(FemCompositeTask *task) {
	FemSystem *system = &task->system;
	int32_t count = 0;
	for (int32_t i = 0; i < system->island_count; i++) {
		FemSystemIsland *island = &system->islands[i];
		int32_t component = fem_composite_island(task, i)->component;
		const FemPiece *piece = &island->body->pieces[component];
		if (!piece->moves_as_one)
			continue;
		if (piece->assembly == component) // islands come in the order of pieces: before all others of it
			island->leader = island, island->group = (FemRange){count, count + piece->assembly_count},
			count += piece->assembly_count;
		else
			island->leader = (FemSystemIsland *)((char *)island->body->step->rigid[piece->assembly] -
				offsetof(FemSystemIsland, rigid));
		FemSystemIsland *leader = island->leader;
		system->group_nodes[leader->group.begin + leader->group_filled++] =
			island->body->topology->component_nodes[component];
		island->body->step->rigid[component] = &leader->rigid;
	}
	for (int32_t i = 0; i < system->island_count; i++) {
		FemSystemIsland *island = &system->islands[i];
		if (island->leader != island)
			continue;
		const FemRange *nodes = system->group_nodes + island->group.begin;
		int32_t ranges = island->group.end - island->group.begin;
		const FemPiece *piece = &island->body->pieces[fem_composite_island(task, i)->component];
		island->rigid =
			piece->is_held_as_one ? (FemProxy){0} : fem_rigid_unknowns_open_group(island->body, nodes, ranges);
		fem_rigid_unknowns_load_group(&island->rigid, island->extra, island->body, nodes, ranges);
	}
}

static void list_rigids(FemCompositeTask *task) {
	FemSystem *system = &task->system;
	for (int32_t k = 0; k < collider_count(task); k++)
		system->rigids[system->rigid_count++] = &task->step->proxies[collider_at(task, k)];
	for (int32_t i = 0; i < system->island_count; i++) {
		bool follows = system->islands[i].leader && system->islands[i].leader != &system->islands[i];
		if (system->islands[i].is_rigid && !follows && system->islands[i].rigid.mass > 0.0f)
			system->rigids[system->rigid_count++] = &system->islands[i].rigid;
	}
}

static bool is_over(const FemStep *step, int32_t order) {
	return step->composites.composites[step->composite_order[order]].is_over;
}

static void solve_composite_task(void *context, int32_t order) {
	if (is_over(context, order))
		return;
	FemCompositeTask task = open_task(context, order);
	for (int32_t i = 0; i < task.system.island_count; i++)
		open_island(&task, i);
	if (task.step->world->joined_count > 0)
		open_groups(&task);
	list_rigids(&task);
	fem_composite_solve(&task);
	close_task(&task);
}

// ---- integrate

// m, from the origin of the group's first body, or from its first rigid body.
static void offset_of(const FemCompositeTask *task, FemPosition point, double out[3]) {
	const FemWorld *world = task->step->world;
	FemPosition origin = task->system.island_count > 0 ? world->bodies[fem_composite_island(task, 0)->body]->origin
													   : world->colliders[collider_at(task, 0)].position;
	FemVec3d offset = fem_position_sub(point, origin);
	out[0] = offset.x, out[1] = offset.y, out[2] = offset.z;
}

static void rigid_offset(const FemCompositeTask *task, int32_t proxy, double out[3]) {
	const FemCollider *collider = &task->step->world->colliders[proxy];
	offset_of(task, fem_position_move(collider->position, fem_vec3d_from(collider->center)), out);
}

// Several bodies that touch only each other keep their common momenta (2.5e-3 off without: docs/method.md, "Momentum
// balance").
static void balance_group(FemCompositeTask *task) {
	FemGroupBalance balance = {0};
	double offset[3];
	if (!task->composite->is_free || task->result->on_ground || touches_itself_only(task) ||
		task->system.island_count + collider_count(task) == 0)
		return;
	for (int32_t i = 0; i < task->system.island_count; i++) {
		if (is_grabbed(task->system.islands[i].body))
			return;
	}
	for (int32_t i = 0; i < task->system.island_count; i++) {
		FemIntegration integration = integration_of(task, i);
		offset_of(task, integration.body->origin, offset);
		fem_balance_add_island(&balance, &integration, offset);
	}
	for (int32_t k = 0; k < collider_count(task); k++) {
		rigid_offset(task, collider_at(task, k), offset);
		fem_balance_add_rigid(&balance, &task->step->proxies[collider_at(task, k)], offset);
	}
	fem_balance_solve(&balance);
	for (int32_t i = 0; i < task->system.island_count; i++) {
		FemIntegration integration = integration_of(task, i);
		offset_of(task, integration.body->origin, offset);
		fem_balance_share_island(&balance, &integration, offset);
	}
	for (int32_t k = 0; k < collider_count(task); k++) {
		rigid_offset(task, collider_at(task, k), offset);
		fem_balance_share_rigid(&balance, &task->step->proxies[collider_at(task, k)], offset);
	}
}

static void integrate_composite_task(void *context, int32_t order) {
	FemStep *step = context;
	if (is_over(step, order))
		return;
	FemCompositeTask task = open_task(step, order);
	bool bad = (task.result->errors & FEM_STEP_BODY_ROLLED_BACK) != 0;
	if (!bad)
		balance_group(&task);
	for (int32_t i = 0; i < task.system.island_count; i++) {
		FemIntegration integration = integration_of(&task, i);
		if (integration.rigid && integration.rigid->is_held_as_one && !bad)
			continue;
		if (bad)
			integration.body->went_bad = true;
		else
			task.result->errors |= fem_motion_integrate(&integration);
		if (!bad && integration.rigid && integration.body->reaction && !integration.is_free)
			fem_probe_set_reactions(integration.body, fem_composite_island(&task, i)->component, step->dt);
	}
	if (!bad)
		fem_joints_settle(&task.system.contacts, step->dt, step->world->def.node_speed_max);
	for (int32_t i = 0; i < task.system.island_count; i++) {
		FemModal *modal = fem_modal_of(task.system.islands[i].body);
		if (modal && !bad)
			fem_grabs_arrive(modal);
	}
	close_task(&task);
}

// Expected cost is the row work of the last solve. Sorted into powers of two, largest first: the order decides when a
// composite is computed, never what comes out.
static void order_composites(FemStep *step) {
	const FemComposites *composites = &step->composites;
	int32_t starts[65] = {0};
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = 0; i < composites->count; i++) {
			const FemComposite *composite = &composites->composites[i];
			int64_t iterations = composite->iterations > 0 ? composite->iterations : ITERATIONS_GUESS;
			uint64_t cost = (uint64_t)(composite->node_count * iterations) | 1;
			int bucket = __builtin_clzll(cost); // 0 = largest
			if (pass == 0)
				starts[bucket + 1]++;
			else
				step->composite_order[starts[bucket]++] = i;
		}
		for (int b = 0; pass == 0 && b < 64; b++)
			starts[b + 1] += starts[b];
	}
}

void fem_step_solve_composites(FemStep *step) {
	order_composites(step);
	fem_pool_for_uneven(step->world->pool, step->composites.count, solve_composite_task, step);
}

void fem_step_integrate_composites(FemStep *step) {
	fem_pool_for_uneven(step->world->pool, step->composites.count, integrate_composite_task, step);
}
