#!/usr/bin/env bash
# The suites that run inside Godot. Called by tests/run.sh, or alone:
#
#   tests/godot_suites.sh headless GODOT [FILTER]
#   tests/godot_suites.sh coupling GODOT [FILTER] [VARIANT...]  (with both physics engines, with and without their thread)
#   tests/godot_suites.sh editor GODOT
#   tests/godot_suites.sh editor_lives GODOT                (editors closed in mid-bake, two on one project, the addon taken away)
#   tests/godot_suites.sh editor_recording GODOT            (drop a .glb, make it oak, simulate, play: build/test_renders/editor.mp4)
#   tests/godot_suites.sh texts GODOT [FILTER]              (does what README.md, the addon's and the class reference say)
#   tests/godot_suites.sh demo GODOT [PHYSICS ENGINE]       (plays the demo and breaks all that is in it)
#   tests/godot_suites.sh quit GODOT [RUNS] [VARIANT...]    (games that end with live bodies; RUNS at random moments)
#   tests/godot_suites.sh render GODOT compatibility|forward|mobile
#   tests/godot_suites.sh looks GODOT compatibility|forward|mobile [looks|mixed|bent|breaking|moving]
#   tests/godot_suites.sh showing GODOT compatibility|forward|mobile
#   tests/godot_suites.sh render_bench GODOT compatibility|forward|mobile   (figures)
#   tests/godot_suites.sh jolt_bench GODOT [--pieces N] [--seconds N] [--csv FILE] [--joined]   (a wall that settles or, joined, a tower that is struck, and the same pieces in Jolt)
#   tests/godot_suites.sh level_bench GODOT [--seconds N] [--threads N] [--csv FILE]   (see tests/bench/level.sh)
#   tests/godot_suites.sh pictures GODOT                    (of bakes, into build/test_renders/bakes.png)
#   tests/godot_suites.sh splinter_pictures GODOT [PATTERN] (of splinters, into build/test_renders/splinters_*.png)
#   tests/godot_suites.sh splinter_drawing GODOT            (what drawing them costs, and that they do not jump)
#   tests/godot_suites.sh fracture_pictures GODOT [SCENE]   (of things that break, into build/test_renders/)
#   tests/godot_suites.sh coupling_pictures GODOT           (of rigid bodies among them, likewise)
#   tests/godot_suites.sh modal_pictures GODOT [NAME]       (of figures of the papers on modes and sound, likewise)
#   tests/godot_suites.sh joined_pictures GODOT [SCENE]     (of joined rigid pieces, with and without the energy of the break, and plots of it)
#   tests/godot_suites.sh preset_pictures GODOT [PRESET or THING [RENDERER]]  (of all materials under one blow, ten ticks of it, and
#                                                            of things made of them, into build/test_renders/presets.png,
#                                                            preset_blows.png and preset_things.png, or with _RENDERER before the dot)
#   tests/godot_suites.sh thing_pictures GODOT compatibility|forward|mobile [THING]  (of things of their real size at three heights
#                                                            or speeds, into build/test_renders/things_METHOD.png)
#   tests/godot_suites.sh mesh_pictures GODOT BAKED [PRESET] (of all baked meshes of a folder, dropped and struck, into
#                                                            build/test_renders/meshes_1.png and so on)
#   tests/godot_suites.sh knob_pictures GODOT [KNOB]        (of a material's knobs at three values, into build/test_renders/knob_*.webp:
#                                                            the pictures of the addon's guide)
#   tests/godot_suites.sh sound_files GODOT                 (of a drop, a roll, a shattering, a pile and figures of a paper, into build/test_renders/*.wav)
#   tests/godot_suites.sh export GODOT TEMPLATE             (exports games and plays them with both physics engines)
#   tests/godot_suites.sh server GODOT [TEMPLATE]           (the same for a dedicated server, without its meshes)
#
# The scripts print "ok NAME" and "FAIL NAME ..."; this one adds a verdict on what Godot itself printed (errors where
# none were expected, leaks at exit) and ends with "godot: N passed, M failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(dirname "$here")/build

# Godot 4.6 crashes when the first start of a project finds an extension by itself (godot#111048): name it beforehand.
prepare_project() {
	local project=$1
	mkdir -p "$project/.godot"
	if [ ! -s "$project/.godot/extension_list.cfg" ]; then
		echo res://addons/fem_destruction/fem_destruction.gdextension >"$project/.godot/extension_list.cfg"
	fi
}

# copy_project SOURCE PROJECT: a copy without what Godot made in it, with the addon that was built here.
copy_project() {
	local source=$1 project=$2
	rm -rf "$project"
	cp -R "$source" "$project" 2>/dev/null || true # a Godot that still runs takes files away
	rm -rf "$project/.godot" "$project/addons"
	mkdir "$project/addons"
	ln -s "$here/../addons/fem_destruction" "$project/addons/fem_destruction"
	prepare_project "$project"
}

# set_physics FOLDER ENGINE [THREAD]: other physics settings for the project, or the exported game, in a folder.
set_physics() {
	local folder=$1 engine=$2 thread=${3:-false}
	cat >"$folder/override.cfg" <<-END
		[physics]
		3d/physics_engine="$engine"
		3d/run_on_separate_thread=$thread
	END
}

# Reads one run's output. Between "--errors expected: NAME" and "--errors end" there must be an error, between "--errors
# allowed: NAME" and that there may be (where it depends on the physics engine); elsewhere none. After "--errors say: WORD"
# one of them must have that word; after "--errors at most: N" there must not be more. Between "--one warning: NAME" and
# "--warning end" there must be just one warning, after "--no warning: NAME" none.
judge_output() {
	local title=$1 end_marker=$2 log=$3
	awk -v title="$title" -v end_marker="$end_marker" '
		function verdict(is_good, name, detail) {
			if (is_good) { passed++; print "ok " name } else { failed++; print "FAIL " name (detail ? ": " detail : "") }
		}
		/^ok / { passed++ }
		/^FAIL / { failed++ }
		/^--errors expected: / { expecting = substr($0, 20); errors_seen = 0; next }
		/^--errors allowed: / { expecting = substr($0, 19); errors_seen = 1; next }
		/^--errors at most: / { errors_max = substr($0, 19) + 0; next }
		/^--errors say: / { words[++word_count] = substr($0, 15); next }
		/^--errors end/ {
			verdict(errors_seen > 0 && (errors_max == 0 || errors_seen <= errors_max), expecting " says so", errors_seen " errors were printed")
			errors_max = 0
			for (i = 1; i <= word_count; i++) {
				if (!(i in said)) verdict(0, expecting " says what it should", "no error has the word \"" words[i] "\"")
			}
			expecting = ""; word_count = 0; delete said
			next
		}
		/^--one warning: / { warned = substr($0, 16); warnings = 0; warnings_due = 1; next }
		/^--no warning: / { warned = substr($0, 15); warnings = 0; warnings_due = 0; next }
		/^--warning end/ {
			verdict(warnings == warnings_due, warned (warnings_due ? " is said once" : " is not complained of"), warnings " times")
			next
		}
		/^(USER )?WARNING:/ { warnings++ }
		index($0, end_marker) == 1 { ended = 1 }
		/^(SCRIPT ERROR|ERROR|USER ERROR|USER SCRIPT ERROR):/ || /handle_crash|AddressSanitizer|Segmentation fault/ {
			if (expecting != "" && $0 !~ /SCRIPT ERROR|handle_crash/) {
				errors_seen++
				for (i = 1; i <= word_count; i++) if (index($0, words[i])) said[i] = 1
			} else if (!unexpected++) first_error = $0
		}
		/^Orphan StringName: Node \(/ { next } # the editor leaves this one behind without the addon, too
		/[Ll]eaked|Orphan (StringName|Node)|still in use at exit|was never freed|were never freed|not freed/ { if (!leaks++) first_leak = $0 }
		END {
			verdict(unexpected == 0, title ": no unexpected errors", unexpected " of them, the first: " first_error)
			verdict(leaks == 0, title ": nothing leaked", first_leak)
			verdict(ended, title ": ran to its end", "the line \"" end_marker "\" is missing")
			printf "godot: %d passed, %d failed\n", passed, failed
			exit failed > 0
		}' "$log"
}

# run_godot LOG COMMAND...: shows the output as it comes, keeps it, and turns a bad exit code into a FAIL line.
run_godot() {
	local log=$1
	shift
	local -a status
	set +e
	"$@" 2>&1 </dev/null | tee "$log"
	status=("${PIPESTATUS[@]}")
	set -e
	if [ "${status[0]}" -ne 0 ] && ! grep -q '^FAIL ' "$log"; then
		echo "FAIL exit code ${status[0]}" | tee -a "$log"
	fi
}

# until_silent LOG SECONDS COMMAND...: stops the command when its output, which goes to the log, has not grown for so long;
# the exit code is 124 then. How long it takes as a whole depends on what else the machine does.
until_silent() {
	local log=$1 seconds=$2 size='' last='' since=$SECONDS command
	shift 2
	"$@" &
	command=$!
	while kill -0 "$command" 2>/dev/null; do
		sleep 1
		size=$(stat -c %s "$log" 2>/dev/null || true)
		[ "$size" = "$last" ] || since=$SECONDS
		last=$size
		if [ $((SECONDS - since)) -gt "$seconds" ]; then
			kill "$command"
			sleep 2
			kill -9 "$command" 2>/dev/null || true
			return 124
		fi
	done
	wait "$command"
}

# A bar with its modes, for the tests of sound: 843 Hz at E 7e10 (ASTM E1876: 872 Hz of a slender bar, over sqrt(1.071)).
bake_bar() {
	local bar=$build/test_renders/bar.obj
	mkdir -p "$build/test_renders"
	printf 'v %s\n' '0 0 0' '.6 0 0' '.6 .06 0' '0 .06 0' '0 0 .06' '.6 0 .06' '.6 .06 .06' '0 .06 .06' >"$bar"
	printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '3 4 8 7' '2 3 7 6' '1 5 8 4' >>"$bar"
	"$build/fem_bake" "$bar" "$build/test_renders/bar.femmesh" --elements 1500 --modes 30 --young 3.5e10 --poisson 0.3 --density 2700 --quiet >/dev/null
	export FEM_BAKED_BAR=$build/test_renders/bar.femmesh
}

run_headless() {
	local godot=$1 log=$build/test_logs/godot_headless_raw.log
	prepare_project "$here/godot"
	bake_bar
	run_godot "$log" "$godot" --headless --verbose --fixed-fps 60 --path "$here/godot" --script res://run.gd -- "${2:-}"
	judge_output headless "GODOT TESTS DONE" "$log"
}

# In a copy when another physics engine than the demo's own is asked for.
run_demo() {
	local godot=$1 engine=${2:-} project=$here/../demo_project log=$build/test_logs/godot_demo_raw.log
	prepare_project "$project"
	if [ -n "$engine" ]; then
		copy_project "$project" "$build/demo_variant"
		project=$build/demo_variant
		set_physics "$project" "$engine"
	fi
	run_godot "$log" "$godot" --headless --verbose --fixed-fps 60 --path "$project" -- --check
	judge_output "demo${engine:+, $engine}" "DEMO DONE" "$log"
}

# A project as a user makes it, with a copy of the addon, and what our texts say in files of their own.
prepare_texts_project() {
	local project=$1 root
	root=$(dirname "$here")
	rm -rf "$project"
	mkdir -p "$project/addons" "$project/texts" "$project/blocks"
	cp -R "$here/texts/project.godot" "$here/texts/text_case.gd" "$here/texts/cases" "$here/godot/run.gd" "$here/godot/test_case.gd" "$project"
	cp -R "$root/addons/fem_destruction" "$project/addons"
	cp "$root/README.md" "$root"/gdextension/doc_classes/*.xml "$project/texts"
	cp "$root/addons/fem_destruction/README.md" "$project/texts/addon_README.md"
	touch "$project/texts/.gdignore" "$project/blocks/.gdignore"
	python3 "$here/texts/extract.py" "$root" "$project/blocks"
}

run_texts() {
	local godot=$1 filter=${2:-} project=$build/texts_project log=$build/test_logs/godot_texts_raw.log
	prepare_texts_project "$project"
	run_godot "$log.commands" "$here/texts/commands.sh" "$project" "$godot"
	# When the lines of our text failed to import the project: the other texts are judged all the same.
	if [ ! -s "$project/.godot/extension_list.cfg" ]; then
		prepare_project "$project"
		"$godot" --headless --path "$project" --import >"$log.import" 2>&1 </dev/null || true
	fi
	run_godot "$log" "$godot" --headless --verbose --fixed-fps 60 --path "$project" --script res://run.gd -- "$filter"
	cat "$log.commands" >>"$log"
	judge_output texts "GODOT TESTS DONE" "$log"
}

# A copy of the test project with other physics settings.
prepare_variant() {
	local project=$1 engine=$2 thread=$3 ticks=$4 interpolation=$5
	copy_project "$here/godot" "$project"
	set_physics "$project" "$engine" "$thread"
	cat >>"$project/override.cfg" <<-END
		common/physics_ticks_per_second=$ticks
		common/physics_interpolation=$interpolation
	END
}

run_variant() {
	local godot=$1 name=$2 filter=$3 project=$build/godot_variant_$2 log=$build/test_logs/godot_coupling_$2_raw.log
	case "$name" in
	jolt) prepare_variant "$project" "Jolt Physics" false 60 false ;;
	jolt_thread) prepare_variant "$project" "Jolt Physics" true 60 false ;;
	godot) prepare_variant "$project" GodotPhysics3D false 60 false ;;
	godot_thread) prepare_variant "$project" GodotPhysics3D true 60 false ;;
	jolt_30) prepare_variant "$project" "Jolt Physics" false 30 true ;;
	jolt_120) prepare_variant "$project" "Jolt Physics" false 120 true ;;
	jolt_240) prepare_variant "$project" "Jolt Physics" false 240 false ;;
	godot_30) prepare_variant "$project" GodotPhysics3D true 30 true ;;
	godot_120) prepare_variant "$project" GodotPhysics3D false 120 false ;;
	godot_240) prepare_variant "$project" GodotPhysics3D false 240 true ;;
	*) echo "godot_suites.sh: no variant is named $name" >&2 && exit 2 ;;
	esac
	echo "-- $name"
	local -a run=("$godot" --headless --verbose --fixed-fps 60 --path "$project" --script res://run.gd -- "$filter")
	if ! grep -q run_on_separate_thread=true "$project/override.cfg"; then
		run_godot "$log" timeout 3000 "${run[@]}"
	else
		# Godot 4.6's physics thread can lose a wake-up and then never answers (godot#120941, godot#123654): once more.
		run_godot "$log" until_silent "$log" 100 "${run[@]}"
		if grep -q '^FAIL exit code 124' "$log"; then
			echo "-- $name, again: Godot's physics thread no longer answered"
			run_godot "$log" until_silent "$log" 200 "${run[@]}"
		fi
	fi
	judge_output "coupling, $name" "GODOT TESTS DONE" "$log" | tee -a "$build/test_logs/godot_coupling_raw.log.all" || true
}

run_coupling() {
	local godot=$1 filter=${2:-coupling_} name
	shift $(($# < 2 ? $# : 2))
	local -a names=("$@")
	if [ ${#names[@]} -eq 0 ]; then
		names=(jolt jolt_thread godot godot_thread jolt_30 jolt_120 jolt_240 godot_30 godot_120 godot_240)
	fi
	: >"$build/test_logs/godot_coupling_raw.log.all"
	for name in "${names[@]}"; do
		run_variant "$godot" "$name" "$filter"
	done
	awk '/^godot: / { passed += $2; failed += $4 }
		END { printf "godot: %d passed, %d failed\n", passed, failed; exit failed > 0 }' "$build/test_logs/godot_coupling_raw.log.all"
}

# The editor writes into its project, so it gets a copy of its own; the plugin in it does the testing.
prepare_editor_project() {
	local project=$1
	copy_project "$here/godot_editor" "$project"
	rm "$project/addons/fem_destruction"
	cp -R "$here/../addons/fem_destruction" "$project/addons/fem_destruction" # it saves materials that scenes use
	mv "$project/editor_test" "$project/addons/editor_test"
	mv "$project/without_addon" "$project/addons/without_addon"
}

# live_editor TITLE LOG PROJECT [LIFE]: a short life of an editor; what it is to do is in lives_part.gd.
live_editor() {
	local title=$1 log=$2 project=$3 life=${4:-}
	run_godot "$log" timeout 300 "$godot" --headless --verbose --editor --path "$project" ${life:+-- "life=$life"}
	judge_output "editor, $title" "EDITOR TESTS DONE" "$log" | tee -a "$all" || true
}

# The screen of the first steps in the editor, into build/test_renders/editor.mp4.
run_editor_recording() {
	local godot=$1 project=$build/editor_recording log=$build/test_logs/godot_editor_recording movie=$build/test_renders/editor.mp4
	prepare_editor_project "$project"
	mkdir -p "$build/test_renders"
	run_godot "$log" timeout 300 "$godot" --headless --editor --quit --path "$project" # imports
	# shellcheck disable=SC2016
	run_godot "$log" timeout 560 xvfb-run -a -s "-screen 0 1280x760x24" bash -c '
		ffmpeg -loglevel error -y -f x11grab -framerate 10 -video_size 1280x760 -i "$DISPLAY" -t 500 -pix_fmt yuv420p "$1" </dev/null &
		recorder=$!
		"$2" --audio-driver Dummy --rendering-driver opengl3 --rendering-method gl_compatibility --resolution 1280x760 --editor \
			--path "$3" -- life=records_first_steps
		result=$?
		"$2" --audio-driver Dummy --rendering-driver opengl3 --rendering-method gl_compatibility --resolution 1280x760 --path "$3" \
			--fixed-fps 60 --quit-after 240 res://room.tscn || result=1
		kill -INT "$recorder"
		wait "$recorder" || true
		exit "$result"' - "$movie" "$godot" "$project"
	# The second is what Godot 4.6 says when a scene is saved that a script added an instance to, destructible or not.
	sed -i '/^ERROR: Error opening D-Bus connection/d; /^ERROR: Condition "p_I->data != this"/d' "$log"
	judge_output "recording of the editor" "EDITOR TESTS DONE" "$log"
}

# What people do to an editor and to a project. Godot itself complains of missing classes, and of a file that another
# editor has just replaced; scripts of ours may not.
run_editor_lives() {
	local godot=$1 project=$build/editor_lives log=$build/test_logs/godot_editor_lives
	local all=$log.all other
	prepare_editor_project "$project"
	: >"$all"
	echo "-- an editor that is closed in mid-bake"
	live_editor "closed in mid-bake" "$log.1" "$project" closes_in_mid_bake
	live_editor "opened again" "$log.2" "$project" opens_what_was_closed
	echo "-- two editors on one project"
	live_editor "beside another" "$log.3" "$project" works_beside_another >"$log.3.out" &
	other=$!
	live_editor "another" "$log.4" "$project" works_beside_another
	wait "$other"
	cat "$log.3.out"
	echo "-- without the addon"
	mv "$project/addons/fem_destruction" "$project/../taken_away"
	mv "$project/.godot/extension_list.cfg" "$project/../taken_away.list"
	sed -i 's|^enabled=.*|enabled=PackedStringArray("res://addons/without_addon/plugin.cfg")|' "$project/project.godot"
	run_godot "$log.5" timeout 300 "$godot" --headless --editor --path "$project"
	sed -i '/^ERROR: .*\(fem_destruction\|Destructible\|MaterialResource\)/d' "$log.5"
	judge_output "editor, without the addon" "EDITOR TESTS DONE" "$log.5" | tee -a "$all" || true
	mv "$project/../taken_away" "$project/addons/fem_destruction"
	mv "$project/../taken_away.list" "$project/.godot/extension_list.cfg"
	sed -i 's|^enabled=.*|enabled=PackedStringArray("res://addons/editor_test/plugin.cfg", "res://addons/fem_destruction/plugin.cfg")|' "$project/project.godot"
	live_editor "with the addon again" "$log.6" "$project" finds_all_again
	awk '/^godot: / { passed += $2; failed += $4 }
		END { printf "godot: %d passed, %d failed\n", passed, failed; exit failed > 0 }' "$all"
}

# Three times: the first start imports, the second finds all in place, each with one of the two physics engines; the third has a
# screen and a mouse. Without a bus of the desktop Godot says so, with or without the addon.
run_editor() {
	local godot=$1 project=$build/editor_project log=$build/test_logs/godot_editor_raw.log round
	prepare_editor_project "$project"
	: >"$log.all"
	for round in first second mouse; do
		echo "-- $round start of the editor"
		[ "$round" = first ] || sed -i 's/="Jolt Physics"$/="GodotPhysics3D"/' "$project/project.godot"
		if [ "$round" = mouse ]; then
			run_godot "$log" xvfb-run -a -s "-screen 0 1000x640x24" timeout 300 "$godot" --verbose --audio-driver Dummy \
				--rendering-driver opengl3 --rendering-method gl_compatibility --resolution 1000x640 --editor --path "$project"
			sed -i '/^ERROR: Error opening D-Bus connection/d' "$log"
		else
			run_godot "$log" timeout 300 "$godot" --headless --verbose --editor --path "$project"
		fi
		judge_output "editor, $round start" "EDITOR TESTS DONE" "$log" | tee -a "$log.all" || true
	done
	awk '/^godot: / { passed += $2; failed += $4 }
		END { printf "godot: %d passed, %d failed\n", passed, failed; exit failed > 0 }' "$log.all"
}

# Sets driver and method.
choose_renderer() {
	case "$1" in
	compatibility) driver=opengl3 method=gl_compatibility ;;
	forward) driver=vulkan method=forward_plus ;;
	mobile) driver=vulkan method=mobile ;;
	*) echo "godot_suites.sh: name a renderer: compatibility, forward or mobile" >&2 && exit 2 ;;
	esac
}

# draw_test GODOT RENDERER NAME RESOLUTION PICTURE TITLE [PART]: runs NAME_test.gd, which compares what it draws. On a
# processor nearly all the time goes into compiling shaders: less of it where the compiler does not optimize.
draw_test() {
	local godot=$1 renderer=$2 name=$3 resolution=$4 picture=$5 title=$6 part=${7:-} driver method
	local -x GALLIVM_PERF=${GALLIVM_PERF:-nopt}
	local log=$build/test_logs/godot_${name}_${renderer}_raw.log
	choose_renderer "$renderer"
	prepare_project "$here/godot"
	mkdir -p "$build/test_renders"
	run_godot "$log" xvfb-run -a -s "-screen 0 1280x720x24" "$godot" --verbose --audio-driver Dummy \
		--rendering-driver "$driver" --rendering-method "$method" --fixed-fps 60 --resolution "$resolution" \
		--path "$here/godot" --script "res://${name}_test.gd" -- "$method" "$build/test_renders/$picture.png" "$part"
	judge_output "$title" "${name^^} TEST DONE" "$log"
}

run_render() {
	draw_test "$1" "$2" render 640x360 "$2" "$2"
}

# Bodies beside what Godot draws itself, pixel by pixel; see looks_test.gd for its parts.
run_looks() {
	draw_test "$1" "$2" looks 640x400 "looks_$2" "looks, $2" "${3:-}"
}

# What a scene asks for: materials, changes, places, light.
run_showing() {
	draw_test "$1" "$2" showing 480x320 "showing_$2" "showing, $2"
}

# What drawing costs on the main thread: figures, no verdict.
run_render_bench() {
	local godot=$1 driver method
	choose_renderer "$2"
	prepare_project "$here/godot"
	xvfb-run -a -s "-screen 0 640x360x24" "$godot" --audio-driver Dummy --rendering-driver "$driver" \
		--rendering-method "$method" --fixed-fps 60 --disable-vsync --resolution 320x180 \
		--path "$here/godot" --script res://render_bench.gd
}

# draw_pictures GODOT NAME RESOLUTION ARGUMENT...: runs NAME.gd, which checks what it draws and ends with its name.
draw_pictures() {
	local godot=$1 name=$2 resolution=$3 title=${2//_/ } log=$build/test_logs/godot_$2_raw.log
	shift 3
	prepare_project "$here/godot"
	mkdir -p "$build/test_renders"
	run_godot "$log" xvfb-run -a -s "-screen 0 1600x900x24" "$godot" --verbose --audio-driver Dummy \
		--rendering-driver "${driver:-opengl3}" --rendering-method "${method:-gl_compatibility}" --fixed-fps 60 \
		--resolution "$resolution" --path "$here/godot" --script "res://$name.gd" -- "$@"
	judge_output "$title" "${title^^} DONE" "$log"
}

run_pictures() {
	draw_pictures "$1" bake_pictures 2400x640 "$build/test_renders"
}

run_fracture_pictures() {
	draw_pictures "$1" fracture_pictures 480x360 "$build/test_renders" "${2:-}"
}

run_joined_pictures() {
	draw_pictures "$1" joined_pictures 400x300 "$build/test_renders" "${2:-}"
}

run_coupling_pictures() {
	draw_pictures "$1" coupling_pictures 480x360 "$build/test_renders"
}

# The dummy driver of a headless Godot mixes in real time; what it played is written and judged.
run_sound_files() {
	local project=$build/test_projects/sound_files log=$build/test_logs/sound_files.log
	mkdir -p "$build/test_projects" "$build/test_renders"
	copy_project "$here/godot" "$project"
	"$1" --headless --path "$project" --script res://sound_files.gd -- "$build/test_renders" >"$log" 2>&1 </dev/null || true
	grep -E '^[a-z]+: [0-9]+ frames' "$log" || true
	judge_output sound_files "SOUND FILES DONE" "$log"
}

# run_beside_jolt GODOT NAME ARGUMENT...: times of ticks, ours and Jolt's; figures, no verdict.
run_beside_jolt() {
	local godot=$1 name=$2
	shift 2
	prepare_project "$here/godot"
	"$godot" --headless --fixed-fps 60 --path "$here/godot" --script "res://$name.gd" -- "$@"
}

run_jolt_bench() {
	local godot=$1
	shift
	run_beside_jolt "$godot" jolt_bench "$@"
}

run_level_bench() {
	local godot=$1
	shift
	run_beside_jolt "$godot" level_bench "$@"
}

run_preset_pictures() {
	local driver method
	local -x GALLIVM_PERF=${GALLIVM_PERF:-nopt}
	choose_renderer "${3:-compatibility}"
	draw_pictures "$1" preset_pictures 360x240 "$build/test_renders" "${2:-}" "${3:+_$3}"
}

run_thing_pictures() {
	local driver method
	local -x GALLIVM_PERF=${GALLIVM_PERF:-nopt}
	choose_renderer "$2"
	draw_pictures "$1" thing_pictures 240x180 "$build/test_renders/things_$2${3:+_$3}.png" "${3:-}"
}

run_mesh_pictures() {
	draw_pictures "$1" mesh_pictures 240x180 "$build/test_renders" "$(readlink -f "$2")" "${3:-}"
}

run_knob_pictures() {
	draw_pictures "$1" knob_pictures 300x200 "$build/test_renders" "${2:-}"
}

# run_exported GODOT FOLDER ARGUMENT...: plays an exported game. It needs the loader and the libraries of the Godot that made it.
# Godot looks for its files beside /proc/self/exe, which is the loader: hence a copy of that among them, named as the game.
run_exported() {
	local godot=$1 folder=$2 root loader
	local -a command=("$folder/game.x86_64")
	shift 2
	root=$(dirname "$(readlink -f "$godot")")/root
	if [ -d "$root" ]; then
		for loader in "$root"/usr/lib/*-linux-gnu/ld-linux-*.so.*; do
			cp "$loader" "$folder/game"
		done
		command=("$folder/game" --library-path "$(dirname "$loader"):$(dirname "$loader")/pulseaudio" "${command[@]}")
	fi
	timeout 120 "${command[@]}" --headless --verbose --fixed-fps 60 -- "$@"
}

# export_game GODOT TEMPLATE SOURCE GAME [FILTER]: exports the project in the folder SOURCE into the folder GAME; without a
# template only what the game is made of, as game.pck. FILTER: what the preset says of the files, all of them by default.
export_game() {
	local godot=$1 template=$2 source=$3 game=$4 filter=${5:-'export_filter="all_resources"'} project=$build/export_project
	local -a export=(--export-release Linux "$game/game.x86_64")
	local log=$build/test_logs/godot_export_raw.log
	[ -n "$template" ] || export=(--export-pack Linux "$game/game.pck")
	copy_project "$source" "$project"
	rm -rf "$game"
	mkdir "$game"
	cat >"$project/export_presets.cfg" <<PRESET
[preset.0]
name="Linux"
platform="Linux"
runnable=true
$filter
export_path=""

[preset.0.options]
custom_template/release="$template"
binary_format/embed_pck=false
binary_format/architecture="x86_64"
PRESET
	"$godot" --headless --path "$project" --import >"$log.import" 2>&1 </dev/null || true
	if ! "$godot" --headless --path "$project" "${export[@]}" >"$log.export" 2>&1 </dev/null ||
		grep -q '^SCRIPT ERROR' "$log.export"; then
		tail -n 20 "$log.export"
		echo "FAIL export: godot ${export[0]} failed"
		echo "godot: 0 passed, 1 failed"
		exit 1
	fi
}

# A release export of a game that breaks something, and of the one that quits with live bodies, with both physics engines.
run_export() {
	local godot=$1 template=$2 game=$build/exported_game log=$build/test_logs/godot_export_raw.log engine
	export_game "$godot" "$template" "$here/godot_export" "$game"
	: >"$log.all"
	for engine in "Jolt Physics" GodotPhysics3D; do
		set_physics "$game" "$engine"
		run_godot "$log" run_exported "$godot" "$game" "$engine"
		judge_output "exported game, $engine" "EXPORTED GAME DONE" "$log" | tee -a "$log.all" || true
	done
	export_game "$godot" "$template" "$here/godot_quit" "$build/quit_game_jolt_release"
	rm -rf "$build/quit_game_godot_release"
	cp -R "$build/quit_game_jolt_release" "$build/quit_game_godot_release"
	run_quit "$godot" 10 jolt_release godot_release | tee -a "$log.all" || true
	awk '/^godot: / { passed += $2; failed += $4 }
		END { printf "godot: %d passed, %d failed\n", passed, failed; exit failed > 0 }' "$log.all"
}

# An export for a dedicated server, without its meshes. With a template its program is run, else Godot itself runs what was packed.
run_server() {
	local godot=$1 template=${2:-} game=$build/exported_server log=$build/test_logs/godot_server_raw.log
	export_game "$godot" "$template" "$here/godot_server" "$game" \
		$'export_filter="customized"\ncustomized_files={ "res://": "strip" }\ndedicated_server=true'
	if [ -n "$template" ]; then
		run_godot "$log" run_exported "$godot" "$game"
	else
		# The library is looked for below the folder that Godot is started in.
		mkdir -p "$game/addons/fem_destruction"
		ln -s "$here/../addons/fem_destruction/bin" "$game/addons/fem_destruction/bin"
		(cd "$game" && run_godot "$log" timeout 120 "$godot" --headless --verbose --fixed-fps 60 --main-pack "$game/game.pck")
	fi
	if grep -q 'The mesh of Speck in res://bad.tscn could not be baked' "$build/test_logs/godot_export_raw.log.export"; then
		echo "ok server.export_names_what_cannot_be_baked" | tee -a "$log"
	else
		echo "FAIL server.export_names_what_cannot_be_baked: the export does not say so" | tee -a "$log"
	fi
	judge_output "dedicated server" "DEDICATED SERVER DONE" "$log"
}

run_splinter_pictures() {
	draw_pictures "$1" splinter_pictures 640x480 "$build/test_renders" "${2:-}"
}

run_modal_pictures() {
	draw_pictures "$1" modal_pictures 480x360 "$build/test_renders" "${2:-}"
}

run_splinter_drawing() {
	draw_pictures "$1" splinter_drawing 480x480 "$build/test_renders"
}

# shellcheck source-path=SCRIPTDIR source=godot_quit.sh
. "$here/godot_quit.sh"

main() {
	local suite=${1:-}
	case "$suite" in
	headless | coupling | editor | editor_lives | editor_recording | texts | demo | quit | render | looks | showing | render_bench | jolt_bench | level_bench | pictures | fracture_pictures | joined_pictures | coupling_pictures | modal_pictures | splinter_pictures | splinter_drawing | preset_pictures | thing_pictures | mesh_pictures | knob_pictures | sound_files | export | server) ;;
	*) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
	esac
	shift
	mkdir -p "$build/test_logs"
	"run_$suite" "$@"
}

main "$@"
