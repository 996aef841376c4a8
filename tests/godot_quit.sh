# Games that quit while bodies are still there: the suite "quit" of tests/godot_suites.sh, which reads this file.
#
# Each case of tests/godot_quit/cases.gd, and as many quits at random moments as asked for, run in a process of their own
# with each physics engine. Each must end with exit code 0, without an error or a leak.
# shellcheck shell=bash
# shellcheck disable=SC2154  # here and build are set by the file that reads this one

quit_time=60 # s for one game

# quit_game GODOT VARIANT CASE SEED: plays one game in the project of its variant, or the exported one.
quit_game() {
	local godot=$1 variant=$2 case=$3 seed=$4
	case "$variant" in
	*_release) run_exported "$godot" "$build/quit_game_$variant" "$case" "$seed" ;;
	*)
		timeout "$quit_time" "$godot" --headless --verbose --fixed-fps 60 --path "$build/quit_project_$variant" \
			-- "$case" "$seed"
		;;
	esac
}

# quit_once GODOT VARIANT CASE SEED: one game; prints its verdict and adds its exit code to the table. A game that hangs in
# Godot's physics thread, which can lose a wake-up when it ends (godot#120941, godot#123654), is played once more.
quit_once() {
	local godot=$1 variant=$2 case=$3 seed=$4 name="quit.$2.$3" code=0 faults log=$build/test_logs/godot_quit_$2_raw.log
	[ "$case" != random ] || name="$name.$seed"
	quit_game "$@" >"$log" 2>&1 </dev/null || code=$?
	if [ "$code" -eq 124 ] && [[ "$variant" = *_thread ]]; then
		echo "-- $name, again: Godot's physics thread no longer answered"
		code=0
		quit_game "$@" >"$log" 2>&1 </dev/null || code=$?
	fi
	printf '%s %s %s\n' "$variant" "$([ "$case" = random ] && echo random || echo cases)" "$code" >>"$quit_table"
	[ "$code" -eq 0 ] || echo "FAIL exit code $code" >>"$log"
	if faults=$(judge_output "$name" "QUIT NOW" "$log"); then
		echo "ok $name"
	else
		echo "FAIL $name:"
		grep '^FAIL ' "$log" | sed 's/^FAIL /    /' || true
		grep '^FAIL ' <<<"$faults" | sed 's/^FAIL /    /' || true
		cp "$log" "$build/test_logs/godot_$name.log"
	fi
}

# quit_variant GODOT VARIANT RUNS: all cases, then so many random moments.
quit_variant() {
	local godot=$1 variant=$2 runs=$3 project=$build/quit_project_$2 case seed
	if [[ "$variant" = *_release ]]; then
		project=$build/quit_game_$variant
	else
		copy_project "$here/godot_quit" "$project"
	fi
	case "$variant" in
	jolt | jolt_release) set_physics "$project" "Jolt Physics" ;;
	godot | godot_release) set_physics "$project" GodotPhysics3D ;;
	jolt_thread) set_physics "$project" "Jolt Physics" true ;;
	godot_thread) set_physics "$project" GodotPhysics3D true ;;
	*) echo "godot_suites.sh: no variant is named $variant" >&2 && exit 2 ;;
	esac
	# shellcheck disable=SC2013  # names have no spaces
	for case in $(sed -n 's/^func case_\([a-z0-9_]*\).*/\1/p' "$here/godot_quit/cases.gd"); do
		[ "$case" = random ] || quit_once "$godot" "$variant" "$case" 0
	done
	for ((seed = 1; seed <= runs; seed++)); do
		quit_once "$godot" "$variant" random "$seed"
	done
	echo "-- $variant: all games have run"
}

# The variants run beside each other.
run_quit() {
	local godot=$1 runs=${2:-10} variant result=$build/test_logs/godot_quit_result.log
	shift $(($# < 2 ? $# : 2))
	quit_table=$build/test_logs/godot_quit_table.log
	: >"$quit_table"
	[ $# -gt 0 ] || set -- jolt godot
	for variant in "$@"; do
		quit_variant "$godot" "$variant" "$runs" &
	done | tee "$result"
	echo "-- games by physics engine, kind of moment and exit code"
	sort "$quit_table" | uniq -c | awk '{ printf "    %-14s %-8s exit code %3d: %4d\n", $2, $3, $4, $1 }'
	awk -v variants=$# '/^ok / { passed++ } /^FAIL / { failed++ } /: all games have run$/ { ended++ }
		END { if (ended != variants) { print "FAIL not all games have run"; failed++ }
			printf "godot: %d passed, %d failed\n", passed, failed; exit failed > 0 }' "$result"
}
