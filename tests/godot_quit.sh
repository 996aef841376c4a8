# Games that quit while bodies are still there: the suite "quit" of tests/godot_suites.sh, which reads this file.
#
# Each case of tests/godot_quit/cases.gd, and as many quits at random moments as asked for, run in a process of their own
# with each physics engine. Each must end with exit code 0, without an error or a leak.
# shellcheck shell=bash
# shellcheck disable=SC2154  # here and build are set by the file that reads this one

quit_time=60 # s for one game

prepare_quit_project() {
	local project=$1 engine=$2 thread=$3
	rm -rf "$project"
	mkdir -p "$project/addons"
	cp "$here"/godot_quit/* "$project"
	ln -s "$here/../addons/fem_destruction" "$project/addons/fem_destruction"
	cat >"$project/override.cfg" <<-END
		[physics]
		3d/physics_engine="$engine"
		3d/run_on_separate_thread=$thread
	END
	prepare_project "$project"
}

# quit_once GODOT PROJECT VARIANT CASE SEED: one game; prints its verdict and adds its exit code to the table.
quit_once() {
	local godot=$1 project=$2 variant=$3 case=$4 seed=$5 name="quit.$3.$4" code=0 faults
	local log=$build/test_logs/godot_quit_$3_raw.log
	[ "$case" != random ] || name="$name.$seed"
	timeout "$quit_time" "$godot" --headless --verbose --fixed-fps 60 --path "$project" -- "$case" "$seed" \
		>"$log" 2>&1 </dev/null || code=$?
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
	case "$variant" in
	jolt) prepare_quit_project "$project" "Jolt Physics" false ;;
	godot) prepare_quit_project "$project" GodotPhysics3D false ;;
	jolt_thread) prepare_quit_project "$project" "Jolt Physics" true ;;
	godot_thread) prepare_quit_project "$project" GodotPhysics3D true ;;
	dummy) prepare_quit_project "$project" Dummy false ;;
	*) echo "godot_suites.sh: no variant is named $variant" >&2 && exit 2 ;;
	esac
	for case in $(sed -n 's/^func case_\([a-z0-9_]*\).*/\1/p' "$here/godot_quit/cases.gd"); do
		[ "$case" = random ] || quit_once "$godot" "$project" "$variant" "$case" 0
	done
	for ((seed = 1; seed <= runs; seed++)); do
		quit_once "$godot" "$project" "$variant" random "$seed"
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
