// The budget of a world: reads the clock between ticks, and gives the engine limits and sheddings, which are commands
// like others. They can be recorded and given again, so that a replay has the same bits.
#ifndef SIMULATION_BUDGET_H
#define SIMULATION_BUDGET_H

#include "binding/conversions.h"
#include "fem_destruction.h"
#include "simulation/project_settings.h"

// s in which pieces fade that are shed. Chosen: after a blast hundreds do at once, and cost time until they are gone.
#define BUDGET_FADE_TIME 0.25f

// Of one world.
typedef struct BudgetState {
	FemBudget budget;
	bool has_begun;
	bool is_bounded;    // limits are set
	bool has_faded;     // pieces were let fade
	float detail_share; // 0..1, of distances from which things are coarser; 0: none was decided yet
	int64_t tick;       // since the world was made
	double tick_ms;     // of the last one, by budget_now_ms()
	FemShedResult shed;
	int64_t frozen, faded; // pieces, since the start
} BudgetState;

typedef struct BudgetStatistics {
	double tick_ms, share; // the least share of all worlds
	int64_t late_ticks, frozen, faded, blasts;
} BudgetStatistics;

struct SimulationWorld;

// ms, since some start: time that this thread was on a processor, where the system tells it, since what other programs
// take of it is no reason to shed; else the clock's.
double budget_now_ms(void);

void budget_load(void);
void budget_unload(void);
void budget_before_step(struct SimulationWorld *world, const AddonSettings *settings, int32_t world_count);
// The camera of the game's window; 0, if it does not look at this world.
int32_t budget_find_observer(const struct SimulationWorld *world, FemObserver *out);
void budget_add_statistics(const struct SimulationWorld *world, BudgetStatistics *sum);

// ---- records
bool budget_is_recording(void);
bool budget_is_replaying(void);
void budget_set_recording(bool enabled);        // true: begins anew
void budget_get_record(GdPackedByteArray *out); // what was recorded so far
bool budget_replay(GdPackedByteArray *record);  // false: damaged, and nothing changes; empty: ends a replay

#endif
