// Godot's collision shapes as the engine takes them: read once for each shape, however many bodies share it, and again
// when the shape has other data.
#ifndef SHAPE_SOURCE_H
#define SHAPE_SOURCE_H

#include "coupling/rigid_math.h"

typedef struct ShapeSource {
	GdRID rid;
	int32_t use_count;
	int64_t type;         // PhysicsServer3D.ShapeType
	uint32_t revision;    // another number for other data
	GdVariant data;       // as last read: holding it keeps its arrays where they are
	GdVector3 half;       // m, box
	float radius, height; // m; height is the whole one, caps included
	GdPlane plane;
	FemVec3 *points; // convex hull, or 3 for each triangle, counter-clockwise from outside
	int32_t point_count;
	float *heights; // m
	int32_t width, depth;
	bool has_holes; // heights that are no numbers
} ShapeSource;

typedef struct ShapeCache {
	ShapeSource **sources;
	int32_t count, capacity;
} ShapeCache;

// Null when memory is short. Each acquire needs a release.
ShapeSource *shape_source_acquire(ShapeCache *cache, GdRID rid);
void shape_source_release(ShapeCache *cache, ShapeSource *source);
void shape_cache_free(ShapeCache *cache);

// Reads the shape again if its data are others; its revision then grows.
void shape_source_refresh(ShapeSource *source);

// m, that it reaches from its own origin at most; infinite for world boundaries.
float shape_source_reach(const ShapeSource *source);

// A shape ready for the engine, with arrays to be freed.
typedef struct ShapeMade {
	FemShapeDef def;
	FemVec3 position; // in the frame, m
	FemQuat rotation;
	FemVec3 *points;
	int32_t *triangles;
	float *heights;
} ShapeMade;

// The shape placed by `local` (scale included) in a body's frame, grown by `margin` (m) where that is simple. False for
// rays, soft bodies and shapes without volume.
bool shape_source_make(const ShapeSource *source, const Affine *local, float margin, ShapeMade *out);
void shape_made_free(ShapeMade *made);

#endif
