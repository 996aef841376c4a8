#!/usr/bin/env bash
# The command line of the bake: every pattern, what is wrong with its arguments and files, cancelling.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bake=$(dirname "$here")/build/fem_bake
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# verdict NAME COMMAND...: passes when the command does.
verdict() {
	local name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		passed=$((passed + 1))
		echo "ok bake.$name"
	else
		failed=$((failed + 1))
		echo "FAIL bake.$name: $*"
	fi
}

# ends_with CODE TEXT ARGUMENT...: fem_bake's exit code, and what it must have said.
ends_with() {
	local code=$1 text=$2 result=0
	shift 2
	"$bake" "$@" >"$folder/said" 2>&1 || result=$?
	[ "$result" -eq "$code" ] && grep -q -- "$text" "$folder/said"
}

write_box() {
	printf 'v %s\n' '0 0 0' '1 0 0' '1 .2 0' '0 .2 0' '0 0 .3' '1 0 .3' '1 .2 .3' '0 .2 .3'
	printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '3 4 8 7' '2 3 7 6' '1 5 8 4'
}

# json_holds EXPRESSION ARGUMENT...: standard output is one JSON object of which the Python expression holds.
json_holds() {
	local expression=$1
	shift
	"$bake" "$@" --report-json 2>/dev/null | python3 -c "
import json, sys
report = json.load(sys.stdin)
assert sorted(report) == ['coverage_max', 'faults', 'mass', 'parts', 'tets', 'volume_ratio'], sorted(report)
assert $expression, report"
}

# A box with a needle stuck into it, which a lattice of 60 tets alone would lose.
write_needle() {
	write_box
	printf 'v %s\n' '.5 .1 .1' '.51 .1 .1' '.51 .11 .1' '.5 .11 .1' '.5 .1 .9' '.51 .1 .9' '.51 .11 .9' '.5 .11 .9'
	printf 'f %s\n' '9 12 11 10' '13 14 15 16' '9 10 14 13' '11 12 16 15' '10 11 15 14' '9 13 16 12'
}

# Many triangles round an axis: baking it with many tets takes a while.
write_wheel() {
	awk 'BEGIN { n = 300; m = 120
		for (i = 0; i < n; i++) for (k = 0; k < m; k++) {
			a = 6.2831853 * i / n; b = 6.2831853 * k / m; r = 1 + 0.4 * cos(b)
			print "v", r * cos(a), 0.4 * sin(b), r * sin(a)
		}
		for (i = 0; i < n; i++) for (k = 0; k < m; k++)
			print "f", i * m + k + 1, i * m + (k + 1) % m + 1, (i + 1) % n * m + (k + 1) % m + 1, (i + 1) % n * m + k + 1
	}'
}

# Interrupted once it says how far it is; nothing may be left of it.
is_cancelled() {
	local result=0 process
	: >"$folder/said" # what the bake before it said must not count
	"$bake" "$folder/wheel.obj" "$folder/wheel.femmesh" --elements 100000 --pattern wood 2>"$folder/said" &
	process=$!
	while ! grep -q baking "$folder/said" && kill -0 "$process" 2>/dev/null; do
		sleep 0.05
	done
	kill -INT "$process"
	wait "$process" || result=$?
	[ "$result" -eq 130 ] && grep -q cancelled "$folder/said" && [ ! -e "$folder/wheel.femmesh" ]
}

check_patterns() {
	local pattern
	for pattern in none voronoi glass wood brick surfaces; do
		verdict "pattern_$pattern" ends_with 0 "baked: " "$folder/box.obj" "$folder/$pattern.femmesh" --pattern "$pattern" --seed 7 --report
		verdict "pattern_${pattern}_is_written" test -s "$folder/$pattern.femmesh"
	done
	"$bake" "$folder/box.obj" "$folder/again.femmesh" --pattern wood --seed 7 --quiet
	"$bake" "$folder/box.obj" "$folder/other.femmesh" --pattern wood --seed 8 --quiet
	verdict same_seed_same_file cmp "$folder/wood.femmesh" "$folder/again.femmesh"
	verdict other_seed_other_file test "$(cksum <"$folder/wood.femmesh")" != "$(cksum <"$folder/other.femmesh")"
}

check_bad_input() {
	local out=$folder/out.femmesh
	verdict unknown_pattern ends_with 2 "marble" "$folder/box.obj" "$out" --pattern marble
	verdict size_not_a_number ends_with 2 "piece-size" "$folder/box.obj" "$out" --pattern wood --piece-size nan
	verdict negative_seed ends_with 2 "seed" "$folder/box.obj" "$out" --pattern wood --seed -1
	verdict too_many_elements ends_with 2 "from 5 to 100000" "$folder/box.obj" "$out" --elements 2000000000
	verdict option_without_value ends_with 2 "pattern" "$folder/box.obj" "$out" --pattern
	verdict missing_file ends_with 1 "nothing.obj" "$folder/nothing.obj" "$out" --pattern wood
	verdict unknown_kind ends_with 1 "obj" "$folder/box.blend" "$out" --pattern wood
	verdict nothing_was_written test ! -e "$out"
	verdict one_piece ends_with 0 " 1 splinter" "$folder/box.obj" "$out" --pattern voronoi --pieces 1 --report
	verdict a_million_pieces ends_with 0 "instead of 1000000" "$folder/box.obj" "$out" --pattern voronoi --pieces 1000000 --report
	verdict bricks_larger_than_the_body ends_with 0 "splinter" "$folder/box.obj" "$out" --pattern brick --brick 5,5,5 --report
}

check_json() {
	local out=$folder/json.femmesh box=$folder/box.obj
	verdict json_of_a_box json_holds "abs(report['volume_ratio'] - 1) < 1e-3 and abs(report['mass'] - 60) < 0.1" "$box" "$out"
	verdict json_of_a_sound_bake json_holds "report['faults'] == [] and report['coverage_max'] < 1e-6" "$box" "$out"
	verdict json_counts json_holds "report['parts'] == 1 and 150 < report['tets'] < 250" "$box" "$out" --elements 200
	verdict json_mass_by_density json_holds "abs(report['mass'] - 468) < 1" "$box" "$out" --density 7800
	verdict json_of_a_needle_that_is_covered json_holds \
		"report['coverage_max'] < 0.01 and not any('outside' in fault for fault in report['faults'])" \
		"$folder/needle.obj" "$out" --elements 60
	verdict json_of_tets_of_another_program json_holds "report['parts'] == 1 and report['coverage_max'] is None" \
		"$folder/tet.node" "$out"
	verdict json_and_report ends_with 2 "report-json" "$box" "$out" --report --report-json
	verdict json_of_a_hollow_box json_holds "10.4 < report['mass'] < 10.8 and report['volume_ratio'] is None" \
		"$box" "$out" --wall-thickness 0.01
	verdict wall_of_no_thickness ends_with 2 "wall-thickness" "$box" "$out" --wall-thickness nan
	verdict density_of_nothing ends_with 2 "density" "$box" "$out" --density 0
}

# A free plate of steel, 1 x 1 m x 5 mm: 13.47 / (2 pi) sqrt(D / (rho h)) = 16.8 Hz (Leissa).
write_plate() {
	printf 'v %s\n' '0 0 0' '1 0 0' '1 .005 0' '0 .005 0' '0 0 1' '1 0 1' '1 .005 1' '0 .005 1'
	printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '3 4 8 7' '2 3 7 6' '1 5 8 4'
}

# The lowest pitch of the plate, and a sound of the length that was asked for, neither silent nor cut off.
rings() {
	"$bake" "$folder/plate.obj" "$folder/plate.femmesh" --elements 1500 --modes 10 --young 2.1e11 --poisson 0.3 \
		--density 7850 --strike 0,0,0 --wav "$folder/plate.wav" --seconds 0.5 --quiet >"$folder/said" || return 1
	python3 - "$folder/said" "$folder/plate.wav" <<-'END'
		import array, sys, wave
		lines = open(sys.argv[1]).read().split("\n")
		assert lines[0] == "mode 1 0 Hz" and lines[5] == "mode 6 0 Hz", lines
		hertz = float(lines[6].removeprefix("mode 7 ").removesuffix(" Hz"))
		assert abs(hertz - 16.8) < 0.4, hertz
		sound = wave.open(sys.argv[2])
		assert (sound.getframerate(), sound.getnchannels(), sound.getnframes()) == (48000, 1, 24000)
		samples = array.array("h", sound.readframes(24000))
		assert 29000 < max(map(abs, samples)) < 30000, max(map(abs, samples))
	END
}

check_modes() {
	local out=$folder/modes.femmesh box=$folder/box.obj
	verdict modes_of_a_plate rings
	verdict modes_are_kept test "$(stat -c %s "$folder/plate.femmesh")" -gt 30000
	verdict more_modes_than_there_are ends_with 0 "no more" "$folder/tet.node" "$out" --modes 20
	verdict modes_not_a_number ends_with 2 "modes" "$box" "$out" --modes many
	verdict poisson_of_water ends_with 2 "poisson" "$box" "$out" --modes 3 --poisson 0.5
	verdict strike_without_a_file ends_with 2 "go together" "$box" "$out" --modes 3 --strike 0,0,0
	verdict strike_nowhere ends_with 2 "strike" "$box" "$out" --modes 3 --strike 0,0 --wav "$folder/no.wav"
	verdict wav_in_no_folder ends_with 1 "cannot be written" "$box" "$out" --modes 3 --strike 0,0,0 --wav "$folder/no/x.wav"
}

write_box >"$folder/box.obj"
write_plate >"$folder/plate.obj"
write_needle >"$folder/needle.obj"
printf '%s\n' '4 3 0 0' '1 0 0 0' '2 1 0 0' '3 0 1 0' '4 0 0 1' >"$folder/tet.node"
printf '%s\n' '1 4 0' '1 1 2 3 4' >"$folder/tet.ele"
write_wheel >"$folder/wheel.obj"
check_patterns
check_bad_input
check_json
check_modes
verdict cancelled is_cancelled
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
