// The scene tree's nodes that may move into a destructible: all PhysicsBody3Ds that are not static.
//
// One list for all couplings, kept by the tree's signals. In every tick a coupling looks where those are that it has no
// record of, LOOKS_A_TICK of them and all that are new.
#include "coupling/discovery_internal.h"
#include "coupling/rigid_reading.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>

enum {
	LOOKS_A_TICK = 256,  // chosen: 10 us
	MEASURES_A_TICK = 8, // nodes whose size is read; one beside a physics thread, which each shape waits for
	MEASURE_TICKS = 8,   // between two nodes whose size is read again
	AHEAD_TICKS = 3,     // for which a node is taken to move on as it did
};
#define AHEAD_MAX 32.0     // m; farther in AHEAD_TICKS nothing flies, it was set there
#define REACH_UNKNOWN 4.0f // m, of a node that was not measured yet; chosen: a car

typedef struct MovingNode {
	uint64_t id;       // its instance's
	uint64_t number;   // greater than those of all that came before
	uint64_t known_to; // serial of the coupling that has a record of it; 0: none
	int64_t seen_frame;
	GdVector3 seen_at, step; // m, where it was then, and how far it moves in a tick
	float reach;             // m, of its shapes from its origin
	bool is_measured;
} MovingNode;

static struct {
	MovingNode *list;
	int32_t count, capacity;
	int32_t user_count; // couplings
	uint64_t newest;
	uint64_t next_serial;
	uint64_t tree_id; // of the SceneTree
	GdCallable on_added, on_removed;
	void *body_tag, *static_tag, *animatable_tag; // of classes
} nodes;

// ---- list

static bool may_move(GDExtensionObjectPtr node) {
	return node && godot.object_cast_to(node, nodes.body_tag) &&
		(!godot.object_cast_to(node, nodes.static_tag) || godot.object_cast_to(node, nodes.animatable_tag));
}

static void add_node(GDExtensionObjectPtr node) {
	if (nodes.count == nodes.capacity) {
		int32_t capacity = nodes.capacity ? 2 * nodes.capacity : 64;
		MovingNode *list = realloc(nodes.list, (size_t)capacity * sizeof(*list));
		if (!list) {
			return;
		}
		nodes.list = list;
		nodes.capacity = capacity;
	}
	nodes.list[nodes.count++] = (MovingNode){
		.id = godot.object_get_instance_id(node), .number = ++nodes.newest, .seen_frame = -1, .reach = REACH_UNKNOWN};
}

static void remove_node(uint64_t id) {
	for (int32_t i = nodes.count - 1; i >= 0; i--) { // what goes is often what came last
		if (nodes.list[i].id == id) {
			nodes.list[i] = nodes.list[--nodes.count];
			return;
		}
	}
}

static GDExtensionObjectPtr told_node(const GDExtensionConstVariantPtr *arguments, GDExtensionInt count) {
	GDExtensionObjectPtr node = NULL;
	return count == 1 && variant_to(arguments[0], GDEXTENSION_VARIANT_TYPE_OBJECT, &node) && may_move(node) ? node
																											: NULL;
}

static void on_node_added(void *userdata, const GDExtensionConstVariantPtr *arguments, GDExtensionInt count,
	GDExtensionVariantPtr out, GDExtensionCallError *error) {
	(void)userdata;
	error->error = GDEXTENSION_CALL_OK;
	godot.variant_new_nil(out);
	GDExtensionObjectPtr node = told_node(arguments, count);
	if (node) {
		add_node(node);
	}
}

static void on_node_removed(void *userdata, const GDExtensionConstVariantPtr *arguments, GDExtensionInt count,
	GDExtensionVariantPtr out, GDExtensionCallError *error) {
	(void)userdata;
	error->error = GDEXTENSION_CALL_OK;
	godot.variant_new_nil(out);
	GDExtensionObjectPtr node = told_node(arguments, count);
	if (node) {
		remove_node(godot.object_get_instance_id(node));
	}
}

// ---- looking

static float longest_axis(const GdBasis *basis) {
	const GdVector3 *row = &basis->x;
	float longest = 0.0f;
	for (int k = 0; k < 3; k++) {
		const float *x = &row[0].x + k, *y = &row[1].x + k, *z = &row[2].x + k;
		longest = fmaxf(longest, sqrtf(*x * *x + *y * *y + *z * *z));
	}
	return longest;
}

static void measure(Coupling *coupling, MovingNode *moving, GDExtensionObjectPtr node, const GdTransform3D *transform) {
	RigidRecord record = {.rid = gd_collision_object3d_get_rid(node), .object_id = moving->id};
	int32_t count = reading_shape_count(&record);
	float reach = 0.0f;
	for (int32_t i = 0; i < count; i++) {
		ShapeSeen seen = reading_shape(&record, i);
		ShapeSource *source = seen.rid.opaque[0] ? shape_source_acquire(&coupling->shapes, seen.rid) : NULL;
		if (source) {
			float own = longest_axis(&seen.local.basis) * shape_source_reach(source);
			reach = fmaxf(reach, vec_length(vec_from(seen.local.origin)) + own);
			shape_source_release(&coupling->shapes, source);
		}
	}
	reach *= longest_axis(&transform->basis);
	moving->reach = reach == reach ? reach : INFINITY;
	moving->is_measured = true;
}

// Where it is, and where it is going to be.
static bool is_near(const Coupling *coupling, MovingNode *moving, GdVector3 at, int64_t frame) {
	if (frame != moving->seen_frame) {
		int64_t ticks = moving->seen_frame < 0 ? 0 : frame - moving->seen_frame;
		FemVec3 displacement = vec_sub(vec_from(at), vec_from(moving->seen_at));
		moving->step = vec_to_godot(vec_scale(displacement, ticks > 0 ? 1.0f / (float)ticks : 0.0f));
		moving->seen_at = at;
		moving->seen_frame = frame;
	}
	const float *p = &at.x, *step = &moving->step.x;
	double low[3], high[3];
	for (int k = 0; k < 3; k++) {
		double ahead = AHEAD_TICKS * (double)step[k];
		ahead = fabs(ahead) < AHEAD_MAX ? ahead : 0.0;
		low[k] = (double)p[k] + fmin(ahead, 0.0) - (double)moving->reach;
		high[k] = (double)p[k] + fmax(ahead, 0.0) + (double)moving->reach;
	}
	return discovery_is_near(coupling, low, high);
}

static void look(Coupling *coupling, MovingNode *moving, int64_t frame, int32_t *measures) {
	bool is_known = moving->known_to == coupling->serial;
	GDExtensionObjectPtr node = is_known ? NULL : godot.object_get_instance_from_id(moving->id);
	if (!node || !gd_node_is_inside_tree(node)) {
		return; // who blocks the tree's signals leaves it in the list
	}
	GdTransform3D transform = gd_node3d_get_global_transform(node);
	if (!moving->is_measured && *measures > 0) {
		(*measures)--;
		measure(coupling, moving, node, &transform);
	}
	if (!is_near(coupling, moving, transform.origin, frame)) {
		return;
	}
	RigidRecord asked = {.rid = gd_collision_object3d_get_rid(node), .object_id = moving->id};
	RigidRecord *record = reading_is_in_space(coupling, &asked) ? rigid_enter(coupling, asked.rid, moving->id) : NULL;
	if (record && record->owner_id == moving->id) {
		record->seen_tick = coupling->tick;
		moving->known_to = coupling->serial;
	}
}

void discovery_nodes_look(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	int64_t frame = gd_engine_get_physics_frames();
	int32_t measures = simulation_settings()->physics_on_thread ? 1 : MEASURES_A_TICK;
	for (int32_t i = nodes.count - 1; d->newest_node < nodes.newest && i >= 0; i--) {
		if (nodes.list[i].number > d->newest_node) {
			look(coupling, &nodes.list[i], frame, &measures);
		}
	}
	d->newest_node = nodes.newest;
	int32_t count = nodes.count < LOOKS_A_TICK ? nodes.count : LOOKS_A_TICK;
	for (int32_t i = 0; i < count; i++) {
		d->look_at = d->look_at + 1 < nodes.count ? d->look_at + 1 : 0;
		look(coupling, &nodes.list[d->look_at], frame, &measures);
	}
	if (nodes.count > 0 && coupling->tick % MEASURE_TICKS == 0) {
		nodes.list[d->look_at].is_measured = false; // shapes change
	}
}

void discovery_forget(const Coupling *coupling, const RigidRecord *record) {
	for (int32_t i = 0; record->object_id && i < nodes.count; i++) {
		if (nodes.list[i].id == record->object_id && nodes.list[i].known_to == coupling->serial) {
			nodes.list[i].known_to = 0;
		}
	}
}

// ---- life

static void *class_tag(const char *class_name) {
	GdStringName name = make_string_name(class_name);
	void *tag = godot.classdb_get_class_tag(&name);
	gd_string_name_free(&name);
	return tag;
}

static void connect(
	GDExtensionObjectPtr tree, const GdStringName *signal, GDExtensionCallableCustomCall call, GdCallable *out) {
	GDExtensionCallableCustomInfo2 info = {.token = godot.library, .call_func = call};
	godot.callable_custom_create2(out, &info);
	gd_object_connect(tree, signal, out, 0);
}

static void find_all(GDExtensionObjectPtr root) {
	GdString pattern = make_string("*"), type = make_string("PhysicsBody3D");
	GdArray found = gd_node_find_children(root, &pattern, &type, true, false);
	int64_t count = gd_array_size(&found);
	for (int64_t i = 0; i < count; i++) {
		GDExtensionObjectPtr node = array_object(&found, i);
		if (may_move(node)) {
			add_node(node);
		}
	}
	gd_array_free(&found);
	gd_string_free(&type);
	gd_string_free(&pattern);
}

void discovery_nodes_start(Coupling *coupling) {
	coupling->serial = ++nodes.next_serial;
	if (nodes.user_count++ > 0) {
		return;
	}
	GDExtensionObjectPtr tree = object_cast(gd_engine_get_main_loop(), "SceneTree");
	nodes.tree_id = tree ? godot.object_get_instance_id(tree) : 0;
	if (!tree) {
		return;
	}
	nodes.body_tag = class_tag("PhysicsBody3D");
	nodes.static_tag = class_tag("StaticBody3D");
	nodes.animatable_tag = class_tag("AnimatableBody3D");
	connect(tree, &names.node_added, on_node_added, &nodes.on_added);
	connect(tree, &names.node_removed, on_node_removed, &nodes.on_removed);
	find_all(gd_scene_tree_get_root(tree));
}

void discovery_nodes_free(Coupling *coupling) {
	if (!coupling->discovery || --nodes.user_count > 0) {
		return;
	}
	GDExtensionObjectPtr tree = nodes.tree_id ? godot.object_get_instance_from_id(nodes.tree_id) : NULL;
	if (tree) {
		gd_object_disconnect(tree, &names.node_added, &nodes.on_added);
		gd_object_disconnect(tree, &names.node_removed, &nodes.on_removed);
	}
	if (nodes.tree_id) {
		gd_callable_free(&nodes.on_added);
		gd_callable_free(&nodes.on_removed);
	}
	free(nodes.list);
	nodes.list = NULL;
	nodes.count = nodes.capacity = 0;
	nodes.tree_id = 0;
}
