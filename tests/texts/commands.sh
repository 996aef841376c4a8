#!/usr/bin/env bash
# Runs the shell blocks and commands of our texts as they are written, in a fresh project with a copy of the addon.
#
#   tests/texts/commands.sh PROJECT GODOT
#
# PROJECT/blocks holds what extract.py found. Prints "ok NAME" or "FAIL NAME: CAUSE" for each.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$(dirname "$here")")
project=$1
godot=$2

# verdict NAME CAUSE: good when there is no cause.
verdict() {
	if [ -z "$2" ]; then echo "ok texts.$1"; else echo "FAIL texts.$1: $2"; fi
}

# The texts call Godot by its name.
put_godot_on_path() {
	mkdir -p "$project/.bin"
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$godot" >"$project/.bin/godot"
	chmod +x "$project/.bin/godot"
	PATH=$project/.bin:$PATH
}

# A closed mesh of eight triangles, 2 m high.
write_statue() {
	printf '%s\n' 'v 0.5 0 0' 'v -0.5 0 0' 'v 0 1 0' 'v 0 -1 0' 'v 0 0 0.5' 'v 0 0 -0.5' \
		'f 1 3 5' 'f 3 2 5' 'f 2 4 5' 'f 4 1 5' 'f 3 1 6' 'f 2 3 6' 'f 4 2 6' 'f 1 4 6' >"$project/statue.obj"
}

check_continuous_integration() {
	local block=$1 cause='' log=$project/../test_logs/texts_import.log
	rm -rf "$project/.godot"
	(cd "$project" && bash -e "$block") >"$log" 2>&1 </dev/null || cause="exit code $?, see $log"
	[ -n "$cause" ] || ls "$project"/.godot/imported/statue.obj-*.mesh >/dev/null 2>&1 || cause="statue.obj was not imported"
	verdict "first_import" "$cause"
}

# The two scripts of "See it" are run by the tests of the demo and by whoever runs this: here, that they are what is named.
check_see_it() {
	local command cause=''
	while read -r command _; do
		(cd "$root" && "$command" --help) >/dev/null 2>&1 </dev/null || cause="$command --help fails"
	done <"$1"
	verdict see_it "$cause"
}

check_bake_command() {
	local cause=''
	ln -sfn "$root/build" "$project/build"
	(cd "$project" && $1) >"$project/bake.txt" 2>&1 || cause="exit code $?: $(tail -n 1 "$project/bake.txt")"
	rm "$project/build"
	[ -n "$cause" ] || [ -s "$project/statue.femmesh" ] || cause="statue.femmesh was not written"
	[ -n "$cause" ] || grep -qE '^baked: [0-9]+ tets' "$project/bake.txt" || cause="--report does not say what came out"
	verdict fem_bake "$cause"
}

# Values of options are checked before the help is shown; nothing is built.
check_scons_command() {
	local cause='' option
	# shellcheck disable=SC2086
	(cd "$root" && $1 -h) >"$project/scons.txt" 2>&1 || cause="exit code $?: $(tail -n 1 "$project/scons.txt")"
	# shellcheck disable=SC2013
	for option in $(sed -nE '/^\| option/,/^$/s/^\| `([a-z]+)=.*/\1/p' "$root/README.md"); do
		grep -q "^$option: " "$project/scons.txt" || cause=${cause:-"scons has no option $option"}
	done
	verdict "${1// /_}" "$cause"
}

# Has been built by the tests already.
check_static_command() {
	local cause=''
	# shellcheck disable=SC2086
	(cd "$root" && $1) >"$project/scons.txt" 2>&1 || cause="exit code $?: $(tail -n 1 "$project/scons.txt")"
	[ -n "$cause" ] || [ -s "$root/build/libfem_destruction.a" ] || cause="build/libfem_destruction.a was not made"
	verdict "${1// /_}" "$cause"
}

# says NAME WORD COMMAND...: what the command prints has the word.
says() {
	local name=$1 word=$2
	shift 2
	if { (cd "$root" && "$@") 2>&1 || true; } | grep -qF -- "$word"; then verdict "$name" ''; else verdict "$name" "$* does not name $word"; fi
}

check_command() {
	case "$1" in
	"scons" | "scons -h") check_scons_command scons ;;
	"scons platform=windows" | "scons arch=arm64") check_scons_command "$1" ;;
	"scons static") check_static_command "$1" ;;
	".ci/setup.sh windows") says setup_windows mingw sed -n '/windows)/p' .ci/setup.sh ;;
	"build/fem_bake "*) check_bake_command "$1" ;;
	"build/fem_tests") says fem_tests "2 passed, 0 failed" "$1" asserts. ;; # what the texts say of it: invariants are on
	"./tests/run.sh" | "./tests/run.sh NAME") says run_filter FILTER ./tests/run.sh --help ;;
	"./tests/run.sh --long" | "tests/run.sh --long") says run_long --long ./tests/run.sh --help ;;
	"tests/godot_suites.sh preset_pictures GODOT") says preset_pictures "$1" tests/godot_suites.sh ;;
	"godot --headless --import") ;; # the block of continuous integration
	*) verdict commands "our texts name the command \"$1\", which commands.sh does not check" ;;
	esac
}

main() {
	local file
	put_godot_on_path
	write_statue
	for file in "$project"/blocks/*.sh; do
		case "$(basename "$file")" in
		addon.continuous_integration_sh_1.sh) check_continuous_integration "$file" ;;
		readme.see_it_sh_1.sh) check_see_it "$file" ;;
		*) verdict "$(basename "$file")" "commands.sh does not run it" ;;
		esac
	done
	[ -f "$project/blocks/addon.continuous_integration_sh_1.sh" ] || verdict first_import "no text tells how to import first"
	while read -r file; do
		check_command "$file"
	done <"$project/blocks/commands.txt" | sort -u
}

main
