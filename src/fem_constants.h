// Every tunable of the engine that is not part of a def, with unit and reason.
#ifndef FEM_CONSTANTS_H
#define FEM_CONSTANTS_H

// ----- limits
#define FEM_WORLD_MAX 64
#define FEM_WORKER_MAX 64
#define FEM_WORKERS_OF_ALL 4 // a machine with at most so many processors gives them all to the step by default
#define FEM_SUBSTEP_MAX 64
#define FEM_DT_MAX 0.25f       // s; larger steps are clamped, a game that hitches must not explode
#define FEM_DT_MIN 1e-6f       // s; smaller steps are taken as this: dt^2 K must stay above a float's rounding
#define FEM_NODE_MAX (1 << 24) // nodes a mesh; the shader reads indices as floats
#define FEM_TET_MAX (1 << 24)  // tets a mesh; references hold 4 bits beside the index, and a tet alone fills 8 lanes
#define FEM_PIN_MAX (1 << 24)  // entries of FemBodyDef.pinned_nodes
#define FEM_REST_MAX 1e6f      // m, coordinates and scaled edges of a rest shape
#define FEM_VOLUME_MIN 1e-24   // m^3, scaled rest volume of a tet: below, masses leave the range of floats
#define FEM_FLATNESS_MIN 1e-12 // volume / (longest edge)^3 below which a tet has no volume
#define FEM_EVENT_MAX 4096     // events kept a step
#define FEM_FRACTURE_FACE_MAX 65536 // faces told of a step
#define FEM_COORDINATE_MAX 1e9      // m from the world's origin; beyond, a double no longer resolves 0.1 um

#define FEM_SPEED_MAX 1e5f           // m/s, upper end of node_speed_max and sleep_speed
#define FEM_GRAVITY_MAX 1e4f         // m/s^2 on each axis
#define FEM_FRICTION_MAX 10.0f       // Coulomb coefficient
#define FEM_GRAVITY_SCALE_MAX 100.0f // of a body

// ----- work sizes: fixed, since sums are taken in this order whatever the number of threads
#define FEM_LANES 8        // tets in a batch
#define FEM_NODE_CHUNK 128 // nodes a unit of row work (about 60 KB of blocks: fits L2 beside its vectors)
#define FEM_BATCH_CHUNK 16 // batches a unit of element work

// ----- elements
#define FEM_QR_VOLUME_RATIO 0.06f // P&O09 section 3: below this ratio of volumes the rotation comes from QR
#define FEM_QR_TINY 1e-6f         // a column shorter than this gives no direction: the last rotation stays
#define FEM_QUALITY_CLAMP 4.0f    // default of FemMeshDef.quality_clamp

// ----- motion
// Of a free body or piece; faster spin is cut to this. At 1 crumbs gain energy; at 0.6 a soft stick thrown with 10
// rad/s loses angular momentum at 30 Hz.
#define FEM_ROTATION_MAX 0.8 // rad a step

#define FEM_BALANCE_STIFFNESS 1e7 // dt^2 |K| / m of a tet, above which a free island's rigid motion is kept apart

// ----- fracture
#define FEM_PIECE_TETS_MIN 3 // P&O09 section 5: smaller pieces are not made
#define FEM_STAR_MAX 1024    // a node with more tets around it is not split
#define FEM_SHARD_TETS 40    // a piece of fewer tets does not touch itself

// ----- islands
#define FEM_PART_NODES 60  // target size of a METIS part: unit of sleep, locality and coarse space
#define FEM_LARGE_NODES 60 // P&O09 section 4: an island is large with so many nodes ...
#define FEM_LARGE_SHARE 4  // ... and more than 1/4 of all live nodes

// ----- coordinates: floats relative to an origin on a 1 m grid
#define FEM_ORIGIN_DRIFT 16.0f // m; the origin moves when the body's centre is farther than this from it

// ----- contact (derivations: docs/method.md, "Contact forces")
#define FEM_CONTACT_KAPPA 300.0f     // phi dt in units of mass / box volume^(2/3): 10 to 1e5 all rest, iterations grow
#define FEM_CONTACT_SLOP 1e-3f       // m, depth at rest ...
#define FEM_CONTACT_SLOP_SHARE 0.01f // ... but at most this share of a tet's edge
#define FEM_CONTACT_PUSH_MAX 2.0f    // m/s, fastest push-out, of bodies that stand half a tet deep in each other
#define FEM_CONTACT_PUSH_MIN 0.05f   // m/s, of those that overlap by a tenth of a tet
#define FEM_CONTACT_NODE_KEY 0x7fffffffu // in a contact's key: a node, not a point of an overlap
#define FEM_CONTACT_FEW_ITEMS 64         // pairs that meet in no more tets than this get several points an overlap
// A soft sheet wraps what strikes it: its contacts pull and press by turns. Of 384 bricks at 100 m/s 11 go through a
// membrane whose friction is cut by what pulled, 9 through one whose friction is not.
#define FEM_CONTACT_SHEET 0.1f       // thickness over the edge of a cube of the same box, below which a body is a sheet
#define FEM_CONTACT_LOAD_DEPTH 2e-4f // m: a pair under load is made strong enough to rest so far below the slop ...
#define FEM_CONTACT_LOAD_MAX 30.0f   // ... but at most this times its own strength
#define FEM_CONTACT_LOAD_KEEP 0.9f   // share of the smoothed load that a step keeps
#define FEM_STRIKE_SPEED 0.1f // m/s: pairs that close in faster within a step are told though they rest at its end
#define FEM_STRIKE_MAX 64     // of those kept a step
#define FEM_FAST_DISPLACEMENT_MIN 0.01f // m a step: what moves less is never looked at in between

// ----- the paper's friction (P&O09 section 6): gains found by tests/tuning/tune_pid.c
#define FEM_PID_PROPORTIONAL 0.376f // of effective mass / dt
#define FEM_PID_INTEGRAL 0.674f     // of effective mass / dt^2
#define FEM_PID_DERIVATIVE 0.0044f  // of effective mass
#define FEM_PID_THRESHOLD 0.231f    // m/s: slower contacts are static

// ----- ground contact (one-sided implicit damping with push-out, per node)
#define FEM_GROUND_KAPPA 300.0f  // contact damping in units of node mass / dt
#define FEM_GROUND_PUSH 0.2f     // share of the depth pushed out a step
#define FEM_GROUND_SLOP 1e-3f    // m, depth at rest
#define FEM_GROUND_PUSH_MAX 2.0f // m/s, fastest push-out
#define FEM_GROUND_SLIP 5e-5f    // m/s, below this friction acts like a damper (sets the creep speed)

#endif
