#include "sound/sound_stream.h"

#include "binding/conversions.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MIX_FRAMES = 256 }; // at once, on the audio thread's stack

typedef struct AudioFrame {
	float left, right;
} AudioFrame;

typedef struct SharedMixer {
	_Atomic int32_t reference_count;
	_Atomic float wanted_rate; // Hz
	_Atomic int64_t frames;
	FemMixer *mixer;
} SharedMixer;

typedef struct SoundStream {
	ClassInstance base;
	SharedMixer *shared; // null in one that a script could make
} SoundStream;

typedef struct SoundPlayback {
	ClassInstance base;
	SharedMixer *shared;
	_Atomic bool is_playing;
} SoundPlayback;

static void let_go(SharedMixer **slot) {
	if (*slot && atomic_fetch_sub(&(*slot)->reference_count, 1) == 1) {
		fem_mixer_destroy((*slot)->mixer);
		free(*slot);
	}
	*slot = NULL;
}

// ---- playback

static void destruct_playback(void *self) {
	let_go(&((SoundPlayback *)self)->shared);
}

static void start(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	(void)out;
	atomic_store(&((SoundPlayback *)self)->is_playing, true);
}

static void stop(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	(void)out;
	atomic_store(&((SoundPlayback *)self)->is_playing, false);
}

static void is_playing(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	*(GDExtensionBool *)out = atomic_load(&((SoundPlayback *)self)->is_playing);
}

static void no_position(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)self;
	(void)arguments;
	*(double *)out = 0.0;
}

static void no_loops(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)self;
	(void)arguments;
	*(int64_t *)out = 0;
}

static void no_seek(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)self;
	(void)arguments;
	(void)out;
}

// On the audio thread.
static void mix(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	SharedMixer *shared = ((SoundPlayback *)self)->shared;
	AudioFrame *frames = *(AudioFrame *const *)arguments[0];
	float rate = (float)*(const double *)arguments[1], mono[MIX_FRAMES];
	int64_t count = *(const int64_t *)arguments[2];
	if (shared) {
		fem_mixer_set_rate(shared->mixer, atomic_load_explicit(&shared->wanted_rate, memory_order_relaxed));
	}
	for (int64_t done = 0; done < count; done += MIX_FRAMES) {
		int32_t part = count - done < MIX_FRAMES ? (int32_t)(count - done) : MIX_FRAMES;
		if (shared) {
			fem_mixer_mix(shared->mixer, mono, part, rate);
		}
		for (int32_t n = 0; n < part; n++) {
			float sample = shared ? mono[n] : 0.0f;
			frames[done + n] = (AudioFrame){sample, sample};
		}
	}
	if (shared) {
		atomic_fetch_add_explicit(&shared->frames, count, memory_order_relaxed);
	}
	*(int64_t *)out = count;
}

static const ClassVirtual playback_virtuals[] = {
	{"_start", start},
	{"_stop", stop},
	{"_is_playing", is_playing},
	{"_get_loop_count", no_loops},
	{"_get_playback_position", no_position},
	{"_seek", no_seek},
	{"_mix", mix},
};

const ClassDescription sound_playback_class = {
	.name = "DestructionSoundPlayback",
	.parent = "AudioStreamPlayback",
	.instance_size = sizeof(SoundPlayback),
	.is_hidden = true,
	.destruct = destruct_playback,
	.virtuals = playback_virtuals,
	.virtual_count = TABLE_COUNT(playback_virtuals),
};

// ---- stream

static void destruct_stream(void *self) {
	let_go(&((SoundStream *)self)->shared);
}

// Godot looks a virtual up when it first calls it, object by object, which would allocate on the audio thread: this
// calls it here, once, before that thread has the playback.
static void look_up_virtuals(GDExtensionObjectPtr playback) {
	GdPackedVector2Array frames = gd_audio_stream_playback_mix_audio(playback, 1.0, 1);
	gd_packed_vector2_array_free(&frames);
}

static void instantiate_playback(void *pointer, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	SoundStream *self = pointer;
	GDExtensionObjectPtr object = class_create(&sound_playback_class);
	SoundPlayback *playback = class_instance(object, &sound_playback_class);
	if (playback && self->shared) {
		atomic_fetch_add(&self->shared->reference_count, 1);
		playback->shared = self->shared;
	}
	gd_object_notification(object, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
	godot.ref_set_object(out, object);
	look_up_virtuals(object);
}

static void is_monophonic(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)self;
	(void)arguments;
	*(GDExtensionBool *)out = true;
}

static const ClassVirtual stream_virtuals[] = {
	{"_instantiate_playback", instantiate_playback},
	{"_is_monophonic", is_monophonic},
	{"_get_length", no_position},
};

const ClassDescription sound_stream_class = {
	.name = "DestructionSoundStream",
	.parent = "AudioStream",
	.instance_size = sizeof(SoundStream),
	.is_hidden = true,
	.destruct = destruct_stream,
	.virtuals = stream_virtuals,
	.virtual_count = TABLE_COUNT(stream_virtuals),
};

GDExtensionObjectPtr sound_stream_create(int32_t voice_count, float mix_rate) {
	SharedMixer *shared = calloc(1, sizeof(SharedMixer));
	if (!shared) {
		return NULL;
	}
	atomic_store(&shared->reference_count, 1);
	atomic_store(&shared->wanted_rate, mix_rate);
	shared->mixer = fem_mixer_create(voice_count, mix_rate);
	if (!shared->mixer) {
		free(shared);
		return NULL;
	}
	GDExtensionObjectPtr object = class_create(&sound_stream_class);
	gd_object_notification(object, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
	gd_ref_counted_init_ref(object);
	((SoundStream *)class_instance(object, &sound_stream_class))->shared = shared;
	return object;
}

static SharedMixer *shared_of(GDExtensionObjectPtr stream) {
	return ((SoundStream *)class_instance(stream, &sound_stream_class))->shared;
}

FemMixer *sound_stream_mixer(GDExtensionObjectPtr stream) {
	return shared_of(stream)->mixer;
}

void sound_stream_set_rate(GDExtensionObjectPtr stream, float mix_rate) {
	atomic_store_explicit(&shared_of(stream)->wanted_rate, mix_rate, memory_order_relaxed);
}

int64_t sound_stream_frames(GDExtensionObjectPtr stream) {
	return atomic_load_explicit(&shared_of(stream)->frames, memory_order_relaxed);
}
