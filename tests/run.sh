#!/usr/bin/env bash
# Builds everything and runs every test. Installs what is missing and asks nothing.
#
#   tests/run.sh [--long] [FILTER]
#
#   FILTER   run only the C tests whose "suite.name" contains it
#   --long   also: the Windows build and its C tests under wine, the sanitizer builds, fuzzing, the Mobile renderer,
#            each look by itself in Forward+, meshes fetched by package name, pictures of fracture and materials, Godot
#            with its physics on a thread, 200 quits at random moments in each physics engine, exported games and an
#            exported server
#   --help   show this text
#
# The last line is "N passed, M failed"; the exit code is 0 when nothing failed. Logs are kept in build/test_logs,
# rendered pictures in build/test_renders.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
logs=$root/build/test_logs
# shellcheck source-path=SCRIPTDIR source=../.ci/lib.sh
. "$root/.ci/lib.sh"

# Of Godot's own output, what is worth seeing on the screen.
godot_show='^(ok |FAIL |    |ERROR|SCRIPT ERROR|USER |fem_destruction:|godot:|-- )'

long=no
filter=
godot=
passed=0
failed=0
summary=()

usage() {
	sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

read_options() {
	local argument
	for argument in "$@"; do
		case "$argument" in
		--long) long=yes ;;
		--help | -h) usage && exit 0 ;;
		-*) die "there is no option $argument: see tests/run.sh --help." ;;
		*) filter=$argument ;;
		esac
	done
}

count() {
	local name=$1 suite_passed=$2 suite_failed=$3 seconds=$4 remark=${5:-}
	passed=$((passed + suite_passed))
	failed=$((failed + suite_failed))
	summary+=("$(printf '%-34s %4d passed %4d failed %5d s  %s' "$name" "$suite_passed" "$suite_failed" "$seconds" "$remark")")
}

# run_logged LOG SECONDS COMMAND...: run with a time limit; the whole output goes to the log, and what $show (a regular
# expression) matches to the screen as it comes. The exit code is the command's.
run_logged() {
	local log=$1 seconds=$2
	shift 2
	local -a status
	set +e
	timeout --kill-after=10 "$seconds" "$@" 2>&1 </dev/null | tee "$log" | grep --line-buffered -aE "${show:-}"
	status=("${PIPESTATUS[@]}")
	set -e
	return "${status[0]}"
}

# suite NAME SECONDS COMMAND...: a command whose output ends with "[marker: ]N passed, M failed". One that crashes, runs
# out of time or lacks that line counts as one more failure.
suite() {
	local name=$1 seconds=$2 log result=0 numbers remark='' started=$SECONDS
	shift 2
	log=$logs/$(printf '%s' "$name" | tr -c 'A-Za-z0-9\n' _).log
	printf '\n== %s\n' "$name"
	run_logged "$log" "$seconds" "$@" || result=$?
	numbers=$(tail -n 40 "$log" | sed -nE 's/^([A-Za-z ]+: )?([0-9]+) passed, ([0-9]+) failed$/\2 \3/p' | tail -n 1)
	if [ "$result" -eq 124 ] || [ "$result" -eq 137 ]; then
		remark="stopped after $seconds s"
	elif [ -z "$numbers" ]; then
		remark="ended early with exit code $result"
	elif [ "$result" -ne 0 ] && [ "${numbers#* }" -eq 0 ]; then
		remark="exit code $result"
	fi
	numbers=${numbers:-0 0}
	if [ -n "$remark" ]; then
		tail -n 25 "$log" | sed 's/^/    /'
		printf 'FAIL %s: %s\n' "$name" "$remark"
		numbers="${numbers% *} $((${numbers#* } + 1))"
	fi
	[ "${numbers#* }" -eq 0 ] || remark="${remark:+$remark; }see $log"
	count "$name" "${numbers% *}" "${numbers#* }" $((SECONDS - started)) "$remark"
}

# build NAME SECONDS COMMAND...: counted only when it fails.
build() {
	local name=$1 seconds=$2 log started=$SECONDS
	shift 2
	log=$logs/$(printf '%s' "$name" | tr -c 'A-Za-z0-9\n' _).log
	printf '\n== %s\n' "$name"
	if run_logged "$log" "$seconds" "$@"; then
		summary+=("$(printf '%-34s %27s %5d s' "$name" "done" $((SECONDS - started)))")
		return 0
	fi
	count "$name" 0 1 $((SECONDS - started)) "see $log"
	return 1
}

# beside FUNCTION FUNCTION: suites that keep one processor busy, two lists of them at a time. What the second list says
# is shown when the first has ended.
beside() {
	local counts=$logs/beside.counts output=$logs/beside.log other
	rm -f "$counts"
	(
		# shellcheck disable=SC2030
		passed=0 failed=0 summary=()
		"$2"
		declare -p passed failed summary | sed 's/^declare -[-a]* /other_/' >"$counts"
	) >"$output" 2>&1 &
	other=$!
	"$1"
	wait "$other" || true
	cat "$output"
	local other_passed=0 other_failed=1 other_summary=("$2: ended early, see $output")
	# shellcheck disable=SC1090
	[ ! -s "$counts" ] || . "$counts"
	# shellcheck disable=SC2031
	passed=$((passed + other_passed))
	# shellcheck disable=SC2031
	failed=$((failed + other_failed))
	# shellcheck disable=SC2031
	summary+=("${other_summary[@]}")
}

finish() {
	printf '\n== summary\n'
	[ ${#summary[@]} -eq 0 ] || printf '%s\n' "${summary[@]}"
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}

# A missing tool or download has said so itself; what needs it cannot run then.
set_up() {
	local started=$SECONDS
	if ! "$root/.ci/setup.sh" "$@"; then
		count "set-up ($*)" 0 1 $((SECONDS - started))
		return 1
	fi
}

find_godot() {
	local started=$SECONDS
	if ! godot=$("$root/.ci/get_godot.sh" | tail -n 1); then
		count "set-up (Godot)" 0 1 $((SECONDS - started))
		return 1
	fi
}

build_all() {
	if [ -n "$filter" ]; then
		set_up build || finish
		build "build" 3600 scons -C "$root" tests || finish
	else
		set_up build check render || finish
		find_godot || finish
		build "build" 3600 scons -C "$root" || finish
	fi
}

# The projects have Jolt Physics. Again with GodotPhysics: what meets the physics server (coupling, worlds and scenes, bad
# input, quitting, the demo); drawing, baking and the editor, where nothing is simulated, do not ask which one it is.
run_playing_suites() {
	suite "Godot headless, Jolt" 900 "$here/godot_suites.sh" headless "$godot"
	suite "Godot headless, GodotPhysics" 900 "$here/godot_suites.sh" coupling "$godot" coupling_,worlds,life,bad_input,handling godot
	suite "Godot coupling, GodotPhysics on its thread" 1800 "$here/godot_suites.sh" coupling "$godot" coupling_ godot_thread
	suite "Godot demo, Jolt" 600 "$here/godot_suites.sh" demo "$godot"
	suite "Godot demo, GodotPhysics" 600 "$here/godot_suites.sh" demo "$godot" GodotPhysics3D
}

run_editing_suites() {
	suite "Godot editor" 900 "$here/godot_suites.sh" editor "$godot"
	suite "Godot texts" 300 "$here/godot_suites.sh" texts "$godot"
	suite "Godot dedicated server" 600 "$here/godot_suites.sh" server "$godot"
}

run_compatibility_suites() {
	suite "Godot rendered, Compatibility" 600 "$here/godot_suites.sh" render "$godot" compatibility
	suite "Godot looks, Compatibility" 720 "$here/godot_suites.sh" looks "$godot" compatibility
	suite "Godot showing, Compatibility" 720 "$here/godot_suites.sh" showing "$godot" compatibility
	suite "Godot pictures of bakes" 600 "$here/godot_suites.sh" pictures "$godot"
	suite "Godot drawing of splinters" 600 "$here/godot_suites.sh" splinter_drawing "$godot"
}

# Most of their time is one thread that compiles shaders.
run_forward_suites() {
	suite "Godot rendered, Forward+" 720 "$here/godot_suites.sh" render "$godot" forward
	suite "Godot looks, Forward+" 1680 "$here/godot_suites.sh" looks "$godot" forward
}

run_quick_suites() {
	suite "C tests" 1800 "$root/build/fem_tests" --jobs "$(nproc)" "$filter"
	if [ -n "$filter" ]; then
		return
	fi
	suite "format" 120 "$here/check_format.sh"
	suite "layers" 240 "$here/check_layers.sh"
	suite "constants" 60 "$here/check_constants.sh"
	suite "settings" 60 "$here/check_settings.py"
	suite "public functions" 60 "$here/check_public_api.sh"
	suite "libraries" 60 "$here/check_libraries.sh"
	suite "static library" 120 "$here/check_static_library.sh"
	suite "command line of the bake" 1200 "$here/check_bake.sh"
	local show=$godot_show
	printf '\nGodot %s\n' "$("$godot" --version | tail -n 1)"
	beside run_playing_suites run_editing_suites
	suite "Godot quits, Jolt and GodotPhysics" 900 "$here/godot_suites.sh" quit "$godot" 10
	beside run_compatibility_suites run_forward_suites
}

run_windows_suites() {
	set_up windows || return 0
	build "Windows build" 3600 scons -C "$root" platform=windows || return 0
	suite "Windows libraries" 60 "$here/check_windows.sh"
	export WINEPREFIX=$root/build/wine WINEDEBUG=-all
	suite "C tests under wine" 3600 wine "$root/build/windows/fem_tests.exe" "$filter"
}

run_sanitized_suites() {
	local -x ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
	if build "address and undefined build" 3600 scons -C "$root" sanitize=address,undefined tests; then
		suite "C tests, address and undefined" 7200 "$root/build/address-undefined/fem_tests" "$filter"
	fi
	# Only tests that run threads: the others hold nothing for the thread sanitizer, at ten times the cost. It does not
	# know the memory layout of kernels that place programs at random over more bits, hence setarch.
	local -a threaded=(api. cutting_job. dependencies. determinism. hooks. narrow_phase. pool. robustness. goes_on_bitwise validate. any_worker_count)
	if build "thread build" 3600 scons -C "$root" sanitize=thread tests; then
		suite "C tests, thread" 7200 setarch -R "$root/build/thread/fem_tests" "${filter:-${threaded[@]}}"
	fi
	set_up sanitize || return 0
	if build "memory build" 3600 scons -C "$root" sanitize=memory tests; then
		suite "C tests, memory" 7200 "$root/build/memory/fem_tests" "$filter"
	fi
}

run_fuzzing() {
	if [ -x "$here/fuzz/run.sh" ]; then
		suite "fuzzing" 5400 "$here/fuzz/run.sh"
	else
		printf '\n== fuzzing: there is none yet\n'
	fi
}

run_exported_game() {
	local template
	if template=$("$root/.ci/get_godot_template.sh" | tail -n 1); then
		show=$godot_show suite "Godot exported games" 1800 "$here/godot_suites.sh" export "$godot" "$template"
		show=$godot_show suite "Godot exported server" 900 "$here/godot_suites.sh" server "$godot" "$template"
	else
		count "set-up (export template)" 0 1 0
	fi
}

main() {
	read_options "$@"
	mkdir -p "$logs"
	trap 'exit 130' INT TERM
	build_all
	run_quick_suites
	if [ "$long" = yes ]; then
		run_windows_suites
		run_sanitized_suites
		run_fuzzing
		if [ -z "$filter" ]; then
			set_up meshes && suite "meshes of other people" 14400 "$here/bench/mesh_set.py" --check --jobs "$(nproc)"
			show=$godot_show suite "Godot pictures of fracture" 3600 "$here/godot_suites.sh" fracture_pictures "$godot"
			show=$godot_show suite "Godot pictures of splinters" 3600 "$here/godot_suites.sh" splinter_pictures "$godot"
			show=$godot_show suite "Godot pictures of rigid bodies" 1200 "$here/godot_suites.sh" coupling_pictures "$godot"
			show=$godot_show suite "Godot pictures of modes" 1200 "$here/godot_suites.sh" modal_pictures "$godot"
			show=$godot_show suite "Godot editors' lives" 900 "$here/godot_suites.sh" editor_lives "$godot"
			show=$godot_show suite "Godot editor's recording" 900 "$here/godot_suites.sh" editor_recording "$godot"
			show=$godot_show suite "Godot coupling" 7200 "$here/godot_suites.sh" coupling "$godot"
			show=$godot_show suite "Godot looks one by one, Forward+" 2400 "$here/godot_suites.sh" looks "$godot" forward looks
			show=$godot_show suite "Godot showing, Forward+" 1800 "$here/godot_suites.sh" showing "$godot" forward
			show=$godot_show suite "Godot rendered, Mobile" 1800 "$here/godot_suites.sh" render "$godot" mobile
			show=$godot_show suite "Godot looks, Mobile" 3600 "$here/godot_suites.sh" looks "$godot" mobile
			show=$godot_show suite "Godot showing, Mobile" 1800 "$here/godot_suites.sh" showing "$godot" mobile
			show=$godot_show suite "Godot pictures of materials" 3600 "$here/godot_suites.sh" preset_pictures "$godot"
			show=$godot_show suite "Godot pictures of knobs" 1800 "$here/godot_suites.sh" knob_pictures "$godot"
			show=$godot_show suite "sounds of things that are struck" 1200 "$here/sound_pictures.py"
			show=$godot_show suite "sounds of the bodies of the paper" 1200 "$here/sound_papers.py"
			show=$godot_show suite "Godot sound files" 1800 "$here/godot_suites.sh" sound_files "$godot"
			show=$godot_show suite "Godot quits, 200 at random moments" 3600 "$here/godot_suites.sh" quit "$godot" 200
			show=$godot_show suite "Godot quits, physics thread" 1800 "$here/godot_suites.sh" quit "$godot" 20 jolt_thread godot_thread
			show=$godot_show suite "Godot headless, GodotPhysics, all" 1800 "$here/godot_suites.sh" coupling "$godot" . godot
			show=$godot_show suite "Godot headless, physics thread" 1800 "$here/godot_suites.sh" coupling "$godot" . jolt_thread
			run_exported_game
		fi
	fi
	finish
}

main "$@"
