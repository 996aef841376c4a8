#include "coupling/piece_proxies.h"

void piece_proxies_update(Coupling *coupling, double delta) {
	(void)coupling, (void)delta;
}

void piece_proxies_forget(Coupling *coupling, SimulationBody *body) {
	(void)coupling, (void)body;
}

void piece_proxies_free(Coupling *coupling) {
	(void)coupling;
}

int32_t piece_proxies_count(const Coupling *coupling) {
	(void)coupling;
	return 0;
}

bool piece_proxies_own(const Coupling *coupling, GdRID rid) {
	(void)coupling, (void)rid;
	return false;
}
