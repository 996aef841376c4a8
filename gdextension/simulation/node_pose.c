#include "simulation/node_pose.h"

#include "binding/conversions.h"

#include <math.h>

// Godot keeps a Basis by rows; its columns are the axes.
static GdVector3 axis_of(const GdBasis *basis, int column) {
	const float *x = &basis->x.x, *y = &basis->y.x, *z = &basis->z.x;
	return (GdVector3){x[column], y[column], z[column]};
}

static double dot(GdVector3 a, GdVector3 b) {
	return (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z;
}

static GdVector3 cross(GdVector3 a, GdVector3 b) {
	return (GdVector3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static GdVector3 normalized(GdVector3 v) {
	float inv = (float)(1.0 / sqrt(dot(v, v)));
	return (GdVector3){v.x * inv, v.y * inv, v.z * inv};
}

// Shepperd's method: the largest of the four components first, so that no small number is divided by.
static FemQuat quat_from_axes(GdVector3 x, GdVector3 y, GdVector3 z) {
	float trace = x.x + y.y + z.z;
	FemQuat q;
	if (trace > 0.0f) {
		float s = 2.0f * sqrtf(trace + 1.0f);
		q = (FemQuat){(y.z - z.y) / s, (z.x - x.z) / s, (x.y - y.x) / s, 0.25f * s};
	} else if (x.x > y.y && x.x > z.z) {
		float s = 2.0f * sqrtf(1.0f + x.x - y.y - z.z);
		q = (FemQuat){0.25f * s, (y.x + x.y) / s, (z.x + x.z) / s, (y.z - z.y) / s};
	} else if (y.y > z.z) {
		float s = 2.0f * sqrtf(1.0f + y.y - x.x - z.z);
		q = (FemQuat){(y.x + x.y) / s, 0.25f * s, (z.y + y.z) / s, (z.x - x.z) / s};
	} else {
		float s = 2.0f * sqrtf(1.0f + z.z - x.x - y.y);
		q = (FemQuat){(z.x + x.z) / s, (z.y + y.z) / s, 0.25f * s, (x.y - y.x) / s};
	}
	return q;
}

NodePose node_pose_of(const GdTransform3D *transform) {
	GdVector3 axes[3];
	for (int i = 0; i < 3; i++) {
		axes[i] = axis_of(&transform->basis, i);
	}
	GdVector3 x = normalized(axes[0]);
	float along = (float)dot(x, axes[1]);
	GdVector3 y = normalized((GdVector3){axes[1].x - along * x.x, axes[1].y - along * x.y, axes[1].z - along * x.z});
	return (NodePose){
		.position = {(double)transform->origin.x, (double)transform->origin.y, (double)transform->origin.z},
		.rotation = quat_from_axes(x, y, cross(x, y)),
		.scale = {(float)sqrt(dot(axes[0], axes[0])), (float)sqrt(dot(axes[1], axes[1])),
			(float)sqrt(dot(axes[2], axes[2]))},
	};
}

bool node_pose_has_shear(const GdTransform3D *transform) {
	for (int i = 0; i < 3; i++) {
		GdVector3 a = axis_of(&transform->basis, i), b = axis_of(&transform->basis, (i + 1) % 3);
		if (fabs(dot(a, b)) > 1e-3 * sqrt(dot(a, a) * dot(b, b))) {
			return true;
		}
	}
	return false;
}

bool node_pose_is_finite(const GdTransform3D *transform) {
	const GdBasis *basis = &transform->basis;
	return vector3_is_finite(transform->origin) && vector3_is_finite(basis->x) && vector3_is_finite(basis->y) &&
		vector3_is_finite(basis->z);
}

const char *node_pose_fault(const GdTransform3D *transform) {
	const GdBasis *basis = &transform->basis;
	if (!node_pose_is_finite(transform)) {
		return "its transform holds a value that is not a finite number; reset it in the inspector or in the script "
			   "that sets it";
	}
	GdVector3 a = axis_of(basis, 0), b = axis_of(basis, 1), c = axis_of(basis, 2);
	double lengths = sqrt(dot(a, a) * dot(b, b) * dot(c, c)), det = dot(a, cross(b, c));
	if (!(lengths > 1e-18) || fabs(det) < 1e-6 * lengths) {
		return "its scale is zero along an axis; give all three axes of this node and its parents a scale above 0";
	}
	if (det < 0.0) {
		return "it is mirrored by a negative scale; give this node and its parents a positive scale and turn the node "
			   "instead";
	}
	return NULL;
}

GdBasis node_pose_basis(FemQuat q) {
	return (GdBasis){
		{1.0f - 2.0f * (q.y * q.y + q.z * q.z), 2.0f * (q.x * q.y - q.w * q.z), 2.0f * (q.x * q.z + q.w * q.y)},
		{2.0f * (q.x * q.y + q.w * q.z), 1.0f - 2.0f * (q.x * q.x + q.z * q.z), 2.0f * (q.y * q.z - q.w * q.x)},
		{2.0f * (q.x * q.z - q.w * q.y), 2.0f * (q.y * q.z + q.w * q.x), 1.0f - 2.0f * (q.x * q.x + q.y * q.y)},
	};
}
