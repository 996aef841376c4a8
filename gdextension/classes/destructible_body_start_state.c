// The state in which a DestructibleBody starts: broken or bent, as it was when its state was kept.
#include "classes/destructible_body.h"

#include "binding/conversions.h"

void destructible_body_get_start_state(void *pointer, GdDictionary *out) {
	DestructibleBody *self = pointer;
	gd_dictionary_free(out);
	*out = gd_dictionary_duplicate(&self->start_state, false);
}

void destructible_body_set_start_state(void *pointer, const GdDictionary *state) {
	DestructibleBody *self = pointer;
	GdDictionary given = *state, old = self->start_state; // the same dictionary: it is only read
	self->start_state = gd_dictionary_duplicate(&given, false);
	gd_dictionary_free(&old);
	destructible_body_rebuild(self);
	destructible_body_show_changes(self);
}

bool destructible_body_has_start_state(const DestructibleBody *self) {
	GdDictionary state = self->start_state; // the same dictionary: it is only read
	return gd_dictionary_size(&state) > 0;
}

// For a body that has just been built at rest. The state goes with the node: it may have been moved since.
void destructible_body_take_start_state(DestructibleBody *self) {
	GdTransform3D transform;
	GdPackedByteArray data = gd_packed_byte_array_new();
	if (!self->simulated.world || !destructible_body_has_start_state(self)) {
		gd_packed_byte_array_free(&data);
		return;
	}
	if (!dictionary_find(&self->start_state, "transform", GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform) ||
		!dictionary_find(&self->start_state, "data", GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &data)) {
		destructible_body_warn(self, "starts whole", "its start_state is none; set what get_state() returned");
	} else {
		int64_t size = gd_packed_byte_array_size(&data);
		const void *bytes = size > 0 ? godot.packed_byte_array_operator_index_const(&data, 0) : NULL;
		if (simulation_body_load(&self->simulated, bytes, (size_t)size)) {
			self->pose = transform;
			destructible_body_show_again(self);
			destructible_body_transform_changed(self);
		} else {
			destructible_body_warn(self, "starts whole, since its start_state does not fit", fem_last_error());
		}
	}
	gd_packed_byte_array_free(&data);
}

// What the editor, where nothing is simulated, shows of it: built for a moment, and kept as a mesh.
void destructible_body_picture_start_state(DestructibleBody *self) {
	object_reference_assign(&self->start_mesh, NULL);
	if (!destructible_body_is_still(self) || !destructible_body_has_start_state(self)) {
		return;
	}
	destructible_body_simulate_in_editor(self, true);
	if (self->simulated.world) {
		GDExtensionObjectPtr mesh = destructible_body_get_shown_mesh(self);
		object_reference_assign(&self->start_mesh, mesh);
		object_unreference(mesh);
	}
	self->is_tried = false;
	destructible_body_release(self);
}
