// Bullet's deformable FEM on the same bar: a peer to be measured against (Debian package libbullet-dev).
//
//   bullet_peer MESH STEPS      E 1e6 Pa, nu 0.3, rho 1000 kg/m^3, implicit step of 1/60 s, CG tolerance 1e-3, cap 100
//
// Mesh format and output as yardstick.c beside this file.
#include "BulletSoftBody/btDeformableBodySolver.h"
#include "BulletSoftBody/btDeformableGravityForce.h"
#include "BulletSoftBody/btDeformableLinearElasticityForce.h"
#include "BulletSoftBody/btDeformableMultiBodyConstraintSolver.h"
#include "BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h"
#include "BulletSoftBody/btSoftBody.h"
#include "BulletSoftBody/btSoftBodyHelpers.h"
#include "BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h"
#include "btBulletDynamicsCommon.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const double young_modulus = 1e6, poisson_ratio = 0.3, density = 1000.0, dt = 1.0 / 60.0;
const int warm_up = 10, iterations_max = 100;
const double wall_limit = 150.0; // s
const btVector3 gravity(0, -9.81, 0);

struct Mesh {
	int fixed_count = 0;
	std::vector<btVector3> nodes;
	std::vector<int> tets;

	bool read(const char *path) {
		int node_count, tet_count;
		FILE *file = std::fopen(path, "r");
		if (!file || std::fscanf(file, "%d %d %d", &node_count, &tet_count, &fixed_count) != 3)
			return false;
		nodes.resize(node_count);
		tets.resize(4 * tet_count);
		for (btVector3 &node : nodes) {
			double x, y, z;
			if (std::fscanf(file, "%lf %lf %lf", &x, &y, &z) != 3)
				return false;
			node.setValue(x, y, z);
		}
		for (int &node : tets) {
			if (std::fscanf(file, "%d", &node) != 1)
				return false;
		}
		std::fclose(file);
		return true;
	}
};

// Counts the products with the stiffness matrix: one a CG iteration.
long products = 0;

struct CountingForce : btDeformableLinearElasticityForce {
	using btDeformableLinearElasticityForce::btDeformableLinearElasticityForce;
	void addScaledElasticForceDifferential(btScalar scale, const TVStack &dx, TVStack &df) override {
		products++;
		btDeformableLinearElasticityForce::addScaledElasticForceDifferential(scale, dx, df);
	}
};

// The solver's cap and tolerance (compared with squares) are not public.
struct TunedSolver : btDeformableBodySolver {
	TunedSolver() {
		m_cg.m_maxIterations = m_cr.m_maxIterations = iterations_max;
		m_cg.setTolerance(1e-3 * 1e-3);
	}
};

btSoftBody *make_body(const Mesh &mesh, btSoftBodyWorldInfo *info) {
	int node_count = mesh.nodes.size(), tet_count = mesh.tets.size() / 4;
	btSoftBody *body = new btSoftBody(info, node_count, mesh.nodes.data(), nullptr);
	std::vector<double> mass(node_count, 0.0);
	for (int t = 0; t < tet_count; t++) {
		const int *n = &mesh.tets[4 * t];
		const btVector3 &p = mesh.nodes[n[0]];
		double volume = (mesh.nodes[n[1]] - p).cross(mesh.nodes[n[2]] - p).dot(mesh.nodes[n[3]] - p) / 6;
		for (int k = 0; k < 4; k++)
			mass[n[k]] += 0.25 * density * std::abs(volume);
		body->appendTetra(n[0], n[1], n[2], n[3]);
	}
	btSoftBodyHelpers::generateBoundaryFaces(body);
	body->initializeDmInverse();
	body->m_tetraScratches.resize(tet_count);
	body->m_tetraScratchesTn.resize(tet_count);
	for (int i = 0; i < node_count; i++)
		body->setMass(i, i < mesh.fixed_count ? 0.0 : mass[i]);
	body->getCollisionShape()->setMargin(0.001);
	body->m_cfg.collisions = 0;
	body->setActivationState(DISABLE_DEACTIVATION);
	body->setSelfCollision(false);
	return body;
}

double tip_displacement(const Mesh &mesh, const btSoftBody *body) {
	double far = 0, sum = 0;
	int count = 0;
	for (const btVector3 &node : mesh.nodes)
		far = std::max(far, (double)node[0]);
	for (size_t i = 0; i < mesh.nodes.size(); i++) {
		if (mesh.nodes[i][0] > far - 1e-4) {
			sum += body->m_nodes[i].m_x[1] - mesh.nodes[i][1];
			count++;
		}
	}
	return sum / count;
}

double now() {
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

int main(int count, char **arguments) {
	Mesh mesh;
	if (count != 3 || !mesh.read(arguments[1])) {
		std::fprintf(stderr, "usage: bullet_peer MESH STEPS\n");
		return 2;
	}
	int steps = std::max(std::atoi(arguments[2]), warm_up + 10);
	btSoftBodyRigidBodyCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btDbvtBroadphase broadphase;
	TunedSolver solver;
	btDeformableMultiBodyConstraintSolver constraints;
	constraints.setDeformableSolver(&solver);
	// Bullet frees none of this in an order that works; the process does.
	auto *world =
		new btDeformableMultiBodyDynamicsWorld(&dispatcher, &broadphase, &constraints, &configuration, &solver);
	world->setGravity(gravity);
	world->getWorldInfo().m_gravity = gravity;
	world->setImplicit(true);
	world->setLineSearch(false);
	world->setUseProjection(true);
	btSoftBody *body = make_body(mesh, &world->getWorldInfo());
	world->addSoftBody(body);
	double mu = young_modulus / (2 * (1 + poisson_ratio));
	double lambda = young_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
	world->addForce(body, new CountingForce(mu, lambda, 0, 0));
	world->addForce(body, new btDeformableGravityForce(gravity));

	std::vector<double> times;
	double swing = 0, begin = now();
	for (int step = 0; step < steps && now() - begin < wall_limit; step++) {
		if (step == warm_up)
			products = 0;
		double start = now();
		world->stepSimulation(dt, 0);
		if (step >= warm_up)
			times.push_back(1e3 * (now() - start));
		swing = std::max(swing, -tip_displacement(mesh, body));
	}
	std::sort(times.begin(), times.end());
	if (times.empty()) {
		std::fprintf(stderr, "bullet_peer: too slow to be timed here.\n");
		return 1;
	}
	std::printf("%s ms_median %.4f ms_p10 %.4f iterations %.1f tip_first_swing %.4f\n", arguments[1],
		times[times.size() / 2], times[times.size() / 10], (double)products / times.size(), swing);
	std::fflush(stdout);
	std::_Exit(0);
}
