// Finds the gains of the paper's static friction (PID_* in src/dynamics/paper_friction.c) by simulated annealing on
// bodies on slopes; P&O09 did the same and published no numbers. See README.md here.
#include "scenes/rig.h"
#include "slope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECONDS 5.0
#define GRAVITY 9.81

// Both sides of the angle of friction, 26.6 degrees for 0.5: light and heavy, soft and stiff, coarse and fine.
static const FemSlope cases[] = {
	{1, 0.3f, 300.0f, 1e7f, 10.0f, 0.5f, false, true},
	{2, 0.3f, 1000.0f, 1e6f, 15.0f, 0.5f, false, true},
	{3, 0.5f, 2500.0f, 1e7f, 20.0f, 0.5f, false, true},
	{2, 0.1f, 7800.0f, 1e9f, 20.0f, 0.5f, true, true},
	{2, 1.0f, 500.0f, 1e7f, 24.0f, 0.5f, false, true},
	{2, 0.3f, 1000.0f, 1e7f, 30.0f, 0.5f, false, true},
	{2, 0.2f, 2500.0f, 1e7f, 40.0f, 0.5f, true, true},
};
#define CASE_COUNT ((int)(sizeof cases / sizeof *cases))

// m/s^2 downhill; 0 where it holds.
static double exact_acceleration(const FemSlope *slope) {
	double angle = (double)slope->degrees * 3.14159265358979 / 180.0;
	return fmax(0.0, GRAVITY * (sin(angle) - (double)slope->friction * cos(angle)));
}

// 1 for 10 mm of slip, 1 mm/s of shaking, or 10 % of the sliding acceleration.
static double cost_of_case(const FemSlope *slope, const FemFrictionGains *gains, bool print) {
	FemSlopeResult result = fem_slope_run(slope, gains, SECONDS);
	double exact = exact_acceleration(slope), cost = 0.0;
	if (exact > 0.0)
		cost = fabs(result.acceleration - exact) / exact / 0.1;
	else
		cost = fabs(result.slip) / 0.01 + result.shaking / 0.001;
	if (print)
		printf("%g deg, %d cells, %g m, %g kg/m3, E %g%s: slip %.2f mm (%.3f after 1 s), shaking %.2g m/s, a %.3f "
			   "(exact %.3f)\n",
			(double)slope->degrees, slope->cells, (double)slope->size, (double)slope->density,
			(double)slope->young_modulus, slope->half_space ? ", half space" : "", 1e3 * result.slip,
			1e3 * result.late_slip, result.shaking, result.acceleration, exact);
	return isfinite(cost) ? fmin(cost, 100.0) : 100.0;
}

static double cost_of(const FemFrictionGains *gains, bool print) {
	double sum = 0.0;
	for (int c = 0; c < CASE_COUNT; c++)
		sum += cost_of_case(&cases[c], gains, print);
	return sum / CASE_COUNT;
}

static float moved(float value, float low, float high, float reach, uint32_t *seed) {
	return fminf(fmaxf(value * expf(reach * fem_random(seed)), low), high);
}

static FemFrictionGains neighbour(FemFrictionGains gains, float reach, uint32_t *seed) {
	return (FemFrictionGains){
		.proportional = moved(gains.proportional, 0.05f, 2.0f, reach, seed),
		.integral = moved(gains.integral, 0.002f, 1.5f, reach, seed),
		.derivative = moved(gains.derivative, 0.001f, 0.5f, 2.0f * reach, seed),
		.threshold = moved(gains.threshold, 0.01f, 0.5f, reach, seed),
	};
}

static void print_gains(const char *what, const FemFrictionGains *gains, double cost) {
	printf("%s: Kp %.3f, Ki %.4f, Kd %.4f, threshold %.3f m/s, cost %.4f\n", what, (double)gains->proportional,
		(double)gains->integral, (double)gains->derivative, (double)gains->threshold, cost);
	fflush(stdout);
}

// fem_tune_pid [trials]: 0 measures the gains in use.
int main(int argument_count, char **arguments) {
	int trials = argument_count > 1 ? atoi(arguments[1]) : 400;
	uint32_t seed = 2009;
	FemFrictionGains now = {0.3f, 0.05f, 0.01f, 0.05f}, best; // chosen: where the annealing starts
	if (trials == 0) {
		now = fem_default_friction_gains();
		print_gains("in use", &now, cost_of(&now, true));
		return 0;
	}
	double cost = cost_of(&now, false), best_cost = cost;
	best = now;
	print_gains("start", &now, cost);
	for (int t = 0; t < trials; t++) {
		double heat = 1.0 - (double)t / trials; // falls to 0
		FemFrictionGains next = neighbour(now, 0.1f + 1.5f * (float)(heat * heat), &seed);
		double tried = cost_of(&next, false), luck = 0.5 + 0.5 * (double)fem_random(&seed);
		if (tried < cost || luck < exp((cost - tried) / (3.0 * heat * heat + 1e-9))) {
			now = next;
			cost = tried;
		}
		if (tried < best_cost) {
			best = next;
			best_cost = tried;
			printf("trial %d ", t);
			print_gains("better", &best, best_cost);
		}
	}
	cost_of(&best, true);
	print_gains("best", &best, best_cost);
	return 0;
}
