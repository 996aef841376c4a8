#include "theory_rig.h"

#include "fem_test.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static char name[128];

const char *fem_named(const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);
	return name;
}

void fem_compare(const char *what, double expected, double got, double tolerance) {
	printf("    %s: expected %.6g, got %.6g, tolerance %.2g\n", what, expected, got, tolerance);
	fem_test_check(fabs(got - expected) <= tolerance, __FILE__, __LINE__, "%s: expected %g, got %g, tolerance %g", what,
		expected, got, tolerance);
}

FemBodyState fem_state_of(FemBodyId body) {
	FemBodyState state = {0};
	fem_body_get_state(body, &state);
	return state;
}

FemMomenta fem_momenta_of(const FemBodyId *bodies, int32_t count) {
	FemMomenta sum = {0};
	for (int32_t b = 0; b < count; b++) {
		FemBodyState state = fem_state_of(bodies[b]);
		const double x[3] = {state.center.x, state.center.y, state.center.z};
		const double p[3] = {state.linear_momentum.x, state.linear_momentum.y, state.linear_momentum.z};
		const double l[3] = {state.angular_momentum.x, state.angular_momentum.y, state.angular_momentum.z};
		for (int i = 0; i < 3; i++) {
			sum.linear[i] += p[i];
			sum.angular[i] += l[i] + x[(i + 1) % 3] * p[(i + 2) % 3] - x[(i + 2) % 3] * p[(i + 1) % 3];
		}
	}
	return sum;
}
