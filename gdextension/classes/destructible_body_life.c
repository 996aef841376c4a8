// What a DestructibleBody does when it enters or leaves a world, moves, or changes shape.
#include "classes/destructible_body.h"
#include "simulation/simulation_world.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/destruction_server.h"
#include "coupling/node_attachments.h"
#include "simulation/node_pose.h"

#include <stdlib.h>
#include <string.h>

GdTransform3D destructible_body_transform(const DestructibleBody *self) {
	GDExtensionObjectPtr node = self->base.object;
	return gd_node_is_inside_tree(node) ? gd_node3d_get_global_transform(node) : gd_node3d_get_transform(node);
}

static bool make_shape(const DestructibleBody *self, BodyShape *shape) {
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	FemVec3 size = {self->size.x, self->size.y, self->size.z};
	return body_shape_make_box(shape, size, cells, destructible_body_stretch(self));
}

static void start_simulation(DestructibleBody *self, const BodyShape *shape) {
	DestructibleMesh *mesh = destructible_body_mesh(self);
	if (mesh && !mesh->is_baked && destructible_mesh_is_baking(mesh)) {
		destructible_body_stand(self);
		return; // it will be built again when the bake ends
	}
	const char *fault = destructible_body_fault(self, &self->pose);
	if (fault) {
		destructible_body_report(self, "is not simulated", fault);
		return;
	}
	GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(self->base.object);
	if (!world_3d) {
		destructible_body_report(self, "is not simulated", "it is in no World3D; put it below a Viewport that has one");
		return;
	}
	NodePose pose = node_pose_of(&self->pose);
	GDExtensionObjectPtr materials[SIMULATION_MATERIALS_MAX];
	GdAABB anchors[BODY_ANCHORS_MAX];
	int32_t material_count = destructible_body_materials(self, materials);
	SimulationBodyDef def = {
		.world_3d = world_3d,
		.materials = materials,
		.material_count = material_count,
		.mesh = self->baked,
		.shape = shape,
		.position = pose.position,
		.rotation = pose.rotation,
		.scale = pose.scale,
		.velocity = {self->start_velocity.x, self->start_velocity.y, self->start_velocity.z},
		.angular_velocity = {self->start_angular_velocity.x, self->start_angular_velocity.y,
			self->start_angular_velocity.z},
		.starts_asleep = self->start_asleep,
		.anchors = anchors,
	};
	def.anchor_count = destructible_body_read_anchors(self, anchors);
	char message[512];
	if (!simulation_body_create(&self->simulated, &def, message, sizeof(message))) {
		destructible_body_report(self, "is not simulated", message);
	} else if (destructible_body_anchor_fault(self, message, sizeof(message))) {
		destructible_body_warn(self, "is not held as it should be", message);
	}
	destructible_body_tell_softening(self);
	object_unreference(world_3d);
}

static void show(DestructibleBody *self) {
	GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(self->base.object);
	GdRID scenario = {{0}};
	if (world_3d) {
		scenario = gd_world3d_get_scenario(world_3d);
		object_unreference(world_3d);
	}
	body_view_set_scenario(&self->view, scenario);
	body_view_set_visible(&self->view, gd_node3d_is_visible_in_tree(self->base.object));
}

// The baked mesh; what is not baked yet is at least seen as its source.
static void view_mesh(DestructibleBody *self, DestructibleMesh *mesh) {
	uint64_t id = godot.object_get_instance_id(self->base.object);
	const MeshDrawing *drawing = mesh ? destructible_mesh_drawing(mesh) : NULL;
	GDExtensionObjectPtr source = mesh ? mesh->source_mesh : self->mesh;
	if (drawing) {
		body_view_create_shared(&self->view, drawing, mesh->baked.tet_mesh.node_count, id);
	} else if (source) {
		body_view_create_plain(&self->view, source, id);
	}
}

// The nodes of a body's tets at rest, in the order of the engine, which may have flipped inverted ones; to be freed.
// Null while it is not simulated, or memory is short.
static int32_t *rest_tets(const DestructibleBody *self, int32_t tet_count) {
	int32_t *tets = self->simulated.world ? malloc((size_t)tet_count * 4 * sizeof(int32_t)) : NULL;
	const TetShape *known = self->view.shape;
	if (tets && known && known->tet_count == tet_count) {
		memcpy(tets, known->tets, (size_t)tet_count * 4 * sizeof(int32_t)); // it may have broken since
	} else if (tets && fem_body_get_tets(self->simulated.body, tets, tet_count) != tet_count) {
		free(tets);
		tets = NULL;
	}
	return tets;
}

// Broken bodies and debug_draw_tets are drawn from the tets.
static void view_tets(
	DestructibleBody *self, const DestructibleMesh *mesh, const BodyShape *shape, const int32_t *oriented) {
	const FemTetArrays *baked = mesh && mesh->is_baked ? &mesh->baked.tet_mesh : NULL;
	int32_t node_count = baked ? baked->node_count : shape->node_count;
	int32_t tet_count = baked ? baked->tet_count : shape->tet_count;
	const int32_t *tets = oriented ? oriented : baked ? baked->tets : shape->tets;
	FemVec3 scale = self->simulated.world ? node_pose_of(&self->pose).scale : (FemVec3){1.0f, 1.0f, 1.0f};
	body_view_set_tets(&self->view, node_count, baked ? baked->nodes : shape->positions, scale, tet_count, tets);
	body_view_show_tets(&self->view, self->simulated.body, self->debug_draw_tets);
}

static void build_view(DestructibleBody *self, const BodyShape *shape) {
	DestructibleMesh *mesh = destructible_body_mesh(self);
	self->mesh_revision = mesh ? mesh->revision : 0;
	if (destructible_body_stand_in(self)) {
		body_view_create_plain(
			&self->view, destructible_body_stand_in(self), godot.object_get_instance_id(self->base.object));
	} else if (self->mesh || mesh) {
		view_mesh(self, mesh);
	} else if (shape->node_count > 0) {
		uint64_t id = godot.object_get_instance_id(self->base.object);
		body_view_create(&self->view, shape, id);
	}
}

// tets: as of rest_tets().
static void finish_view(DestructibleBody *self, const BodyShape *shape, const int32_t *tets) {
	view_tets(self, destructible_body_mesh(self), shape, tets);
	destructible_body_update_look(self);
	body_view_set_rendering(&self->view, self->layers, self->cast_shadow);
	if (self->simulated.world && destructible_body_can_break(self)) {
		const BodySettings *settings = &self->simulated.settings;
		body_view_prepare_breaking(&self->view, settings->debris_lifetime > 0.0f || settings->debris_cap > 0);
	}
	if (node_pose_is_finite(&self->pose)) {
		body_view_show_rest(&self->view, self->pose);
	}
	show(self);
}

static void build(DestructibleBody *self) {
	BodyShape shape = {0};
	destructible_body_picture_start_state(self);
	destructible_body_find_bake(self);
	self->pose = gd_node3d_get_global_transform(self->base.object);
	if (!self->mesh) {
		make_shape(self, &shape);
	}
	build_view(self, &shape);
	if (!destructible_body_is_still(self)) {
		start_simulation(self, &shape);
	}
	int32_t *tets = rest_tets(self, (int32_t)destructible_body_get_tet_count(self));
	finish_view(self, &shape, tets);
	free(tets);
	body_shape_free(&shape);
	simulation_body_cut_pieces(&self->simulated);
	destructible_body_take_start_state(self);
}

// For a body that was put into another state, in which it may be broken: it has more nodes then.
void destructible_body_show_again(DestructibleBody *self) {
	BodyShape shape = {0};
	if (!self->mesh) {
		make_shape(self, &shape);
	}
	int32_t *tets = rest_tets(self, (int32_t)destructible_body_get_tet_count(self));
	body_view_free(&self->view);
	build_view(self, &shape);
	int32_t rest_nodes = self->mesh ? self->view.node_count : shape.node_count;
	finish_view(self, &shape, tets);
	free(tets);
	body_shape_free(&shape);
	self->simulated.is_cut = fem_body_get_node_count(self->simulated.body) != rest_nodes;
	self->simulated.is_moved = true;
	simulation_body_show_splinters(&self->simulated, self->baked, self->simulated.is_cut);
}

// The state of a body that is still simulated in the World3D it came from, to be freed; null: there is none.
static void *save_state(DestructibleBody *self, size_t *out_size) {
	simulation_body_hold(&self->simulated, false); // what it has of velocity belongs to its state
	size_t size = fem_body_save(self->simulated.body, NULL, 0);
	void *data = size > 0 ? malloc(size) : NULL;
	*out_size = size;
	if (data && fem_body_save(self->simulated.body, data, size) != size) {
		free(data);
		data = NULL;
	}
	return data;
}

// Builds the body in its world, in the state it has now, if it has one: in another World3D, or with other splinters.
static void build_with_state(DestructibleBody *self) {
	size_t size;
	void *data = save_state(self, &size);
	GdTransform3D pose = self->pose;
	NodeAttachments attachments = data ? node_attachments_take(&self->simulated) : (NodeAttachments){0};
	build(self);
	if (data && self->simulated.world) {
		if (simulation_body_load(&self->simulated, data, size)) {
			node_attachments_give(&self->simulated, &attachments);
			self->pose = pose;
			destructible_body_show_again(self);
			destructible_body_transform_changed(self);
		} else {
			destructible_body_report(self, "starts over", fem_last_error());
		}
	}
	node_attachments_drop(&attachments);
	free(data);
}

static bool is_whole(const DestructibleBody *self) {
	return fem_body_get_node_count(self->simulated.body) == self->view.node_count;
}

// Another material breaks in another manner: what has not broken yet is cut anew and goes on as it was. A bake that
// runs in the background would stop the body until its end; it then keeps the splinters it has.
void destructible_body_update_cut(DestructibleBody *self) {
	DestructibleMesh *mesh = destructible_body_mesh(self);
	if (!self->is_in_world || !destructible_body_needs_other_cut(self)) {
		return;
	}
	if (mesh && destructible_mesh_is_baking(mesh)) {
		destructible_body_rebuild(self);
	} else if (self->simulated.world && is_whole(self) && !destructible_body_bakes_in_background(self)) {
		build_with_state(self);
	}
}

// A node that was only moved within the tree since the last tick goes on as it was.
void destructible_body_enter(DestructibleBody *self) {
	GDExtensionObjectPtr node = self->base.object;
	self->is_in_world = true;
	destructible_body_report_refused_count(self);
	gd_node3d_set_notify_transform(node, true);
	destruction_server_attach(destructible_body_is_still(self) ? NULL : gd_node_get_tree(node));
	if (!destructible_body_is_still(self)) {
		GDExtensionObjectPtr world_3d = gd_node3d_get_world_3d(node);
		bool is_back = world_3d && simulation_body_attach(&self->simulated, world_3d);
		object_unreference(world_3d);
		if (is_back) {
			show(self);
			destructible_body_transform_changed(self);
			destructible_body_update_cut(self); // its material may have been changed outside
			return;
		}
	}
	build_with_state(self);
}

void destructible_body_leave(DestructibleBody *self) {
	self->is_in_world = false;
	destructible_body_stop_waiting(self);
	destructible_body_end_standing(self);
	if (self->is_tried) { // another scene of the editor is shown: it is at rest when this one comes back
		self->is_tried = false;
		destructible_body_release(self);
	}
	self->simulated.is_detached = self->simulated.world != NULL;
	body_view_set_scenario(&self->view, (GdRID){{0}});
}

// While the body is not simulated: in the editor it follows its node; in play, a body that was refused for its old
// transform gets another chance.
static void rest_shape_moved(DestructibleBody *self, const GdTransform3D *transform) {
	self->pose = *transform;
	if (destructible_body_is_still(self)) {
		gd_node_update_configuration_warnings(self->base.object);
	} else if (!destructible_body_fault(self, transform)) {
		destructible_body_rebuild(self);
		return;
	}
	if (node_pose_is_finite(transform)) {
		body_view_show_rest(&self->view, *transform);
	}
}

void destructible_body_transform_changed(DestructibleBody *self) {
	GdTransform3D transform = gd_node3d_get_global_transform(self->base.object);
	if (!self->is_in_world || memcmp(&transform, &self->pose, sizeof(transform)) == 0) {
		return;
	}
	if (!self->simulated.world) {
		rest_shape_moved(self, &transform);
		return;
	}
	const char *fault = node_pose_fault(&transform);
	if (fault) {
		destructible_body_report(self, "was not moved", fault);
		return;
	}
	self->pose = transform;
	NodePose pose = node_pose_of(&transform);
	if (fem_body_teleport(self->simulated.body, pose.position, pose.rotation) != FEM_OK) {
		destructible_body_report(self, "was not moved", fem_last_error());
	}
	self->simulated.is_moved = true;
}

void destructible_body_rebuild(DestructibleBody *self) {
	destructible_body_release(self);
	if (self->is_in_world) {
		build(self);
	}
}

void destructible_body_release(DestructibleBody *self) {
	destructible_body_end_standing(self);
	simulation_body_destroy(&self->simulated);
	body_view_free(&self->view);
}
