#include "coupling/node_attachments.h"

#include "binding/conversions.h"
#include "coupling/rigid_math.h"

#include <math.h>
#include <stdlib.h>

#define REACH 1e4 // m, within which the nearest tet is looked for

typedef struct NodeAttachment {
	uint64_t node_id;
	int32_t tet;
	Affine local; // of the node in the tet's frame, scale included
} NodeAttachment;

// The frame of a tet: its middle, and the rotation given by two of its edges. False when the tet is gone.
static bool tet_frame(FemBodyId body, int32_t tet, Frame *out) {
	int32_t nodes[4];
	FemShape shape;
	const float *positions = fem_body_get_shape(body, false, &shape);
	if (!positions || !fem_body_get_tet_nodes(body, tet, nodes)) {
		return false;
	}
	double x[4][3], middle[3] = {0.0, 0.0, 0.0};
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 3; k++) {
			x[i][k] = (double)positions[4 * (size_t)nodes[i] + (size_t)k];
			middle[k] += 0.25 * x[i][k];
		}
	}
	Affine edges = {0};
	for (int k = 0; k < 3; k++) {
		edges.m[k][0] = x[1][k] - x[0][k];
		edges.m[k][1] = x[2][k] - x[0][k];
		edges.m[k][2] = x[3][k] - x[0][k];
	}
	FemPosition origin = shape.origin;
	out->position = (FemPosition){origin.x + middle[0], origin.y + middle[1], origin.z + middle[2]};
	out->rotation = affine_rotation(&edges);
	return isfinite(middle[0] + middle[1] + middle[2]);
}

static GdTransform3D transform_of(const Affine *a) {
	GdTransform3D out;
	float *rows = &out.basis.x.x;
	for (int i = 0; i < 9; i++) {
		rows[i] = (float)a->m[i / 3][i % 3];
	}
	out.origin = (GdVector3){(float)a->t[0], (float)a->t[1], (float)a->t[2]};
	return out;
}

bool node_attachments_attach(SimulationBody *body, GDExtensionObjectPtr node) {
	GdTransform3D transform = gd_node3d_get_global_transform(node);
	FemPosition at = {(double)transform.origin.x, (double)transform.origin.y, (double)transform.origin.z};
	FemHit hit = fem_body_closest_point(body->body, at, REACH);
	Frame frame;
	uint64_t id = godot.object_get_instance_id(node);
	node_attachments_detach(body, id);
	NodeAttachment *attachments =
		realloc(body->attachments, (size_t)(body->attachment_count + 1) * sizeof(NodeAttachment));
	body->attachments = attachments ? attachments : body->attachments;
	if (!attachments || !hit.body.index1 || !tet_frame(body->body, hit.tet, &frame)) {
		return false;
	}
	Affine back = affine_inverse_of_frame(&frame), whole = affine_from(&transform);
	attachments[body->attachment_count++] = (NodeAttachment){id, hit.tet, affine_product(&back, &whole)};
	return true;
}

void node_attachments_detach(SimulationBody *body, uint64_t node_id) {
	for (int32_t i = body->attachment_count - 1; i >= 0; i--) {
		if (body->attachments[i].node_id == node_id) {
			body->attachments[i] = body->attachments[--body->attachment_count];
		}
	}
}

// A node whose tet was removed stays where it is.
void node_attachments_update(SimulationBody *body) {
	for (int32_t i = body->attachment_count - 1; i >= 0; i--) {
		const NodeAttachment *attachment = &body->attachments[i];
		GDExtensionObjectPtr node = godot.object_get_instance_from_id(attachment->node_id);
		Frame frame;
		if (!node || !gd_node_is_inside_tree(node) || !tet_frame(body->body, attachment->tet, &frame)) {
			body->attachments[i] = body->attachments[--body->attachment_count];
			continue;
		}
		Affine at = affine_from_frame(&frame), whole = affine_product(&at, &attachment->local);
		gd_node3d_set_global_transform(node, transform_of(&whole));
	}
}

void node_attachments_free(SimulationBody *body) {
	free(body->attachments);
	body->attachments = NULL;
	body->attachment_count = 0;
}

NodeAttachments node_attachments_take(SimulationBody *body) {
	NodeAttachments attachments = {body->attachments, body->attachment_count};
	body->attachments = NULL;
	body->attachment_count = 0;
	return attachments;
}

void node_attachments_give(SimulationBody *body, NodeAttachments *attachments) {
	node_attachments_free(body);
	body->attachments = attachments->list;
	body->attachment_count = attachments->count;
	*attachments = (NodeAttachments){0};
}

void node_attachments_drop(NodeAttachments *attachments) {
	free(attachments->list);
	*attachments = (NodeAttachments){0};
}
