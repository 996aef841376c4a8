#include "coupling/mesh_shapes.h"

#include "coupling/rigid_math.h"

// Jolt joins corners nearer than 0.1 mm to each other, and leaves out triangles whose cross product of two edges is
// under 1e-6 m^2; both with room for rounding.
#define EDGE_LEAST 2e-4f  // m
#define CROSS_LEAST 2e-6f // m^2

static bool is_seen(const GdVector3 corners[3]) {
	FemVec3 edges[3];
	for (int v = 0; v < 3; v++) {
		GdVector3 from = corners[v], to = corners[(v + 1) % 3];
		edges[v] = vec_sub((FemVec3){to.x, to.y, to.z}, (FemVec3){from.x, from.y, from.z});
		if (!(vec_length(edges[v]) > EDGE_LEAST)) {
			return false;
		}
	}
	return vec_length(vec_cross(edges[0], edges[1])) > CROSS_LEAST;
}

bool mesh_shape_set_faces(GdRID shape, GdPackedVector3Array *faces) {
	int64_t count = gd_packed_vector3_array_size(faces) / 3;
	const GdVector3 *corners = count > 0 ? godot.packed_vector3_array_operator_index(faces, 0) : NULL;
	bool is_any = false;
	for (int64_t i = 0; i < count && !is_any; i++) {
		is_any = is_seen(&corners[3 * i]);
	}
	if (!is_any) {
		return false;
	}
	GdDictionary data = gd_dictionary_new();
	dictionary_take(&data, "faces", make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, faces));
	dictionary_take(&data, "backface_collision", make_variant_bool(false));
	GdVariant value = make_variant(GDEXTENSION_VARIANT_TYPE_DICTIONARY, &data);
	gd_physics_server3d_shape_set_data(shape, &value);
	variant_free(&value);
	gd_dictionary_free(&data);
	return true;
}
