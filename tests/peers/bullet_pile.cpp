// Bullet's deformable FEM on the scene pile27: 27 soft cubes dropped on a floor (Debian package libbullet-dev).
//
//   bullet_pile MESH STEPS [PARTS]  E 1e5 Pa, nu 0.3, rho 1000 kg/m^3, damping 0.01 s, friction 0.5, explicit, 8
//   sub-steps of
//                                   1/480 s. After each of PARTS equal parts but the last it prints "pause" and waits
//                                   for a line, so that others can be measured in between.
//
// Mesh format as yardstick.c beside this file. Stops after 300 s of stepping, or as many as WL says.
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
#include <ctime>
#include <vector>

namespace {

const double young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0, dt = 1.0 / 60.0;
const int warm_up = 10, substeps = 8, body_count = 27;
const btVector3 gravity(0, -9.81, 0);

struct Mesh {
	std::vector<btVector3> nodes;
	std::vector<int> tets;

	// Moved so that its lowest corner is the origin.
	bool read(const char *path) {
		int node_count, tet_count, fixed_count;
		FILE *file = std::fopen(path, "r");
		if (!file || std::fscanf(file, "%d %d %d", &node_count, &tet_count, &fixed_count) != 3)
			return false;
		nodes.resize(node_count);
		tets.resize(4 * tet_count);
		btVector3 low(1e9, 1e9, 1e9);
		for (btVector3 &node : nodes) {
			double x, y, z;
			if (std::fscanf(file, "%lf %lf %lf", &x, &y, &z) != 3)
				return false;
			node.setValue(x, y, z);
			low.setMin(node);
		}
		for (btVector3 &node : nodes)
			node -= low;
		for (int &node : tets) {
			if (std::fscanf(file, "%d", &node) != 1)
				return false;
		}
		std::fclose(file);
		return true;
	}
};

struct TunedSolver : btDeformableBodySolver {
	TunedSolver() {
		m_cg.m_maxIterations = m_cr.m_maxIterations = 100;
		m_cg.setTolerance(1e-3 * 1e-3); // compared with squares
	}
};

void add_floor(btDeformableMultiBodyDynamicsWorld *world) {
	btTransform place;
	place.setIdentity();
	place.setOrigin(btVector3(0, -25, 0));
	btRigidBody::btRigidBodyConstructionInfo info(
		0, new btDefaultMotionState(place), new btBoxShape(btVector3(50, 25, 50)));
	btRigidBody *body = new btRigidBody(info);
	body->setFriction(0.5);
	world->addRigidBody(body);
}

btSoftBody *make_body(const Mesh &mesh, const btVector3 &place, btSoftBodyWorldInfo *info) {
	int node_count = mesh.nodes.size(), tet_count = mesh.tets.size() / 4;
	std::vector<btVector3> nodes = mesh.nodes;
	for (btVector3 &node : nodes)
		node += place;
	btSoftBody *body = new btSoftBody(info, node_count, nodes.data(), nullptr);
	std::vector<double> mass(node_count, 0.0);
	static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
	for (int t = 0; t < tet_count; t++) {
		const int *n = &mesh.tets[4 * t];
		const btVector3 &p = nodes[n[0]];
		double volume = (nodes[n[1]] - p).cross(nodes[n[2]] - p).dot(nodes[n[3]] - p) / 6;
		for (int k = 0; k < 4; k++)
			mass[n[k]] += 0.25 * density * std::abs(volume);
		body->appendTetra(n[0], n[1], n[2], n[3]);
		for (const int *edge : edges)
			body->appendLink(n[edge[0]], n[edge[1]], 0, true);
	}
	btSoftBodyHelpers::generateBoundaryFaces(body);
	body->initializeDmInverse();
	body->m_tetraScratches.resize(tet_count);
	body->m_tetraScratchesTn.resize(tet_count);
	for (int i = 0; i < node_count; i++)
		body->setMass(i, mass[i]);
	body->getCollisionShape()->setMargin(0.01);
	body->m_cfg.kKHR = body->m_cfg.kCHR = 1;
	body->m_cfg.kDF = 0.5;
	body->m_cfg.collisions =
		btSoftBody::fCollision::SDF_RD | btSoftBody::fCollision::SDF_RDN | btSoftBody::fCollision::VF_DD;
	body->setActivationState(DISABLE_DEACTIVATION);
	body->setSelfCollision(false);
	return body;
}

double now() {
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

int main(int count, char **arguments) {
	Mesh mesh;
	if (count < 3 || count > 4 || !mesh.read(arguments[1])) {
		std::fprintf(stderr, "usage: bullet_pile MESH STEPS [PARTS]\n");
		return 2;
	}
	int parts = count > 3 ? std::max(std::atoi(arguments[3]), 1) : 1;
	int steps = std::max(std::atoi(arguments[2]), warm_up + 10);
	double wall_limit = std::getenv("WL") ? std::atof(std::getenv("WL")) : 300.0;
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
	world->getWorldInfo().m_sparsesdf.setDefaultVoxelsz(0.25);
	world->getWorldInfo().m_sparsesdf.Reset();
	add_floor(world);
	double mu = young_modulus / (2 * (1 + poisson_ratio));
	double lambda = young_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
	std::vector<btSoftBody *> bodies;
	for (int b = 0; b < body_count; b++) {
		int i = b % 3, j = b / 3 % 3, k = b / 9;
		btVector3 place(i * 0.3 + 0.03 * k, 0.1 + k * 0.25, j * 0.3 + 0.02 * k);
		btSoftBody *body = make_body(mesh, place, &world->getWorldInfo());
		world->addSoftBody(body);
		world->addForce(body, new btDeformableLinearElasticityForce(mu, lambda, 0, 0.01));
		world->addForce(body, new btDeformableGravityForce(gravity));
		bodies.push_back(body);
	}
	world->setImplicit(false);
	world->setLineSearch(false);
	world->setUseProjection(true);

	std::vector<double> times;
	double spent = 0, cpu = 0;
	for (int step = 0; step < steps && spent < wall_limit; step++) {
		if (step > 0 && step % ((steps + parts - 1) / parts) == 0) {
			std::puts("pause");
			std::fflush(stdout);
			std::getchar();
		}
		double start = now();
		std::clock_t cpu_start = std::clock();
		world->stepSimulation(dt, substeps, dt / substeps);
		spent += now() - start;
		if (step >= warm_up)
			cpu += 1e3 * (double)(std::clock() - cpu_start) / CLOCKS_PER_SEC;
		if (step >= warm_up)
			times.push_back(1e3 * (now() - start));
	}
	std::sort(times.begin(), times.end());
	if (times.empty()) {
		std::fprintf(stderr, "bullet_pile: too slow to be timed here.\n");
		return 1;
	}
	double height = -1e9;
	for (const btSoftBody *body : bodies) {
		for (int i = 0; i < body->m_nodes.size(); i++)
			height = std::max(height, (double)body->m_nodes[i].m_x[1]);
	}
	std::printf("%s ms_median %.4f ms_p10 %.4f steps %d height %.4f cpu_ms_mean %.4f\n", arguments[1],
		times[times.size() / 2], times[times.size() / 10], (int)times.size() + warm_up, height, cpu / times.size());
	std::fflush(stdout);
	std::_Exit(0);
}
