// Numbers that several files must agree on and that are not part of a def: unit, and a derivation, a measurement or
// "chosen". Those of one file stand at its top. Derivations at length: docs/method.md.
#ifndef FEM_CONSTANTS_H
#define FEM_CONSTANTS_H

// ----- limits
#define FEM_WORLD_MAX 64       // worlds at a time; chosen: one a scene, and a few in tests
#define FEM_SUBSTEP_MAX 64     // of a step; chosen: parts of 0.26 ms at 60 Hz
#define FEM_NODE_MAX (1 << 24) // nodes a mesh; the shader reads indices as floats
#define FEM_TET_MAX (1 << 24)  // tets a mesh; references hold 4 bits beside the index, and a tet alone fills 8 lanes
#define FEM_REST_MAX 1e6f      // m, coordinates and scaled edges of a rest shape: a float there still tells 6 cm
#define FEM_VOLUME_MIN 1e-24   // m^3, scaled rest volume of a tet: below, masses leave the range of floats
#define FEM_EVENT_MAX 4096     // events kept a step; chosen: more than a game answers
#define FEM_COORDINATE_MAX 1e9 // m from the world's origin; beyond, a double no longer resolves 0.1 um
#define FEM_SPEED_MAX 1e5f // m/s, upper end of node_speed_max and sleep_speed: floats recover from 1e6, not from 1e9
#define FEM_FRICTION_MAX 10.0f // Coulomb coefficient; chosen: rubber on rubber has 1 to 2

// ----- work sizes: fixed, since sums are taken in this order whatever the number of threads
#define FEM_LANES 8        // tets in a batch: an AVX2 vector of floats
#define FEM_NODE_CHUNK 128 // nodes a unit of row work (about 60 KB of blocks: fits L2 beside its vectors)

// ----- elements
#define FEM_QR_VOLUME_RATIO 0.06f // P&O09 section 3: below this ratio of volumes the rotation comes from QR

#define FEM_BALANCE_STIFFNESS 1e7 // dt^2 |K| / m of a tet, above which a free island's rigid motion is kept apart

#define FEM_STEP_MAX 0.25f // s; larger steps are clamped, a game that hitches must not explode. Chosen

// dt^2 |K| / m of a tet in the longest step, beyond which a tet's moduli are lowered: from 1e14 on, rounding to the
// second order counts (eps^2 kappa = 0.4), and bodies exploded in the scan of tests/test_energy_scan.c. Steel reaches
// it at cells of 1 mm; no load of its own inertia strains such a tet by 1e-10.
#define FEM_STIFFNESS_HELD 3e13

// Times the modulus of the softest material of a body, beyond which a tet's moduli are lowered: a solve that is right
// for the soft part strains the stiff one by rounding. A plate of which half has 1e12 Pa and half 1e5 flew apart at
// 2.6e6 m/s when it was struck, 1e12 beside 1e6 breaks as others do. What the soft part can carry strains the other by
// 1e-6 of its own strain.
#define FEM_CONTRAST_HELD 1e6

// ----- fracture
#define FEM_PIECE_TETS_MIN 3      // P&O09 section 5: smaller pieces are not made
#define FEM_FRAGMENT_TETS_MAX 256 // of the smallest fragment of a material: with more the mesh is fine enough; chosen
#define FEM_STAR_MAX 1024         // a node with more tets around it is not split; chosen: a regular mesh has 24
#define FEM_SMALL_PIECE_TETS 40   // a piece of fewer tets does not touch itself; chosen: it can hardly fold

// ----- islands
// Nodes of a METIS part, about: unit of sleep, locality and coarse space. Measured on bars of 11,520 and 58,800
// tets; one of 2,500 would like parts of 30.
#define FEM_PART_NODES 60

// ----- contact (docs/method.md, "Contact forces")
#define FEM_CONTACT_KAPPA 300.0f // phi dt in units of mass / box volume^(2/3): 10 to 1e5 all rest, iterations grow
#define FEM_CONTACT_SLOP 1e-3f   // m, depth at rest: chosen, not seen; far above what positions are rounded to
#define FEM_CONTACT_NODE_KEY 0x7fffffffu  // in a contact's key: a node, not a point of an overlap
#define FEM_CONTACT_CRACK_KEY 1u          // a contact's key: two faces of a closed crack, not a point of an overlap
#define FEM_CONTACT_JOINT_KEY 0x40000000u // in a contact's key, plus the axis: of a joint; chosen above any point
#define FEM_STRIKE_MAX 64                 // strikes kept a step that rest at its end; chosen
#define FEM_FAST_DISPLACEMENT_MIN 0.01f   // m a step: what moves less is never looked at in between; chosen: 0.6 m/s
#define FEM_GROUND_SLOP 1e-3f             // m above a plane at which a node may still touch it within the step; chosen

// ----- friction (docs/method.md, "Friction")
#define FEM_GROUND_SLIP 5e-5f     // m/s, below this friction acts like a damper: creep is this times tan(angle) / mu
#define FEM_FRICTION_CHANGE 0.02f // of a contact's friction between two solves: more is worth another solve; chosen

#endif
