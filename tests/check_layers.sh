#!/usr/bin/env bash
# Checks by text search that the code keeps to its layers and that the repository names no machine.
#
#   tests/check_layers.sh [FOLDER]      (default: the repository this script is in)
#
# Prints "ok ..." or "FAIL ..." for each rule and "layers: N passed, M failed" at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${1:-$(dirname "$here")}
line_limit=700
passed=0
failed=0

# rule SENTENCE OFFENCES: the rule holds when there is no offence.
rule() {
	local sentence=$1 offences=$2
	if [ -z "$offences" ]; then
		passed=$((passed + 1))
		printf 'ok %s\n' "$sentence"
	else
		failed=$((failed + 1))
		printf 'FAIL %s\n' "$sentence"
		printf '%s\n' "$offences" | sed 's/^/    /'
	fi
}

# Every file that is or would be tracked; without git, every file outside the build's own folders.
list_files() {
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . -type f ! -path './build/*' ! -path './.git/*' ! -path '*/.godot/*' ! -path '*/bin/*' -printf '%P\n'
	fi
}

# The code files below the given folders.
code_below() {
	local folder
	for folder in "$@"; do
		list_files | grep -E "^$folder/.*\.(c|h|cpp|inl)\$" || true
	done
}

# includes FOLDER...: "file:line:header" for every include, quotes and brackets dropped.
includes() {
	code_below "$@" | tr '\n' '\0' | xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include' |
		sed -E 's/^([^:]+:[0-9]+:).*include[[:space:]]*[<"]([^>"]+)[>"].*/\1\2/' || true
}

# only_in PATTERN ALLOWED FOLDER...: includes of a header matching PATTERN in files that do not match ALLOWED.
only_in() {
	local pattern=$1 allowed=$2
	shift 2
	includes "$@" | grep -E "^[^:]+:[0-9]+:$pattern" | grep -vE "^$allowed:" || true
}

# Includes are written from src/, so the header's first folder names its layer.
upward_includes() {
	includes src | awk -F: '
		BEGIN {
			rank["base"] = 1; rank["jobs"] = 2; rank["mesh"] = 3
			rank["collision"] = rank["islands"] = rank["dynamics"] = rank["fracture"] = 4
			rank["world"] = rank["output"] = 5
		}
		{
			count = split($1, path, "/")
			layer = count > 2 ? path[2] : ""
			count = split($3, header, "/")
			target = count > 1 ? header[1] : ""
			if (target == "" || !(target in rank))
				next
			if (layer == "" || !(layer in rank) || (target != layer && rank[target] >= rank[layer] && rank[layer] < 5))
				print $0
		}'
}

# A quoted include without a folder may only name one of the headers directly below src/.
unplaced_includes() {
	code_below src | tr '\n' '\0' | xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^/"]+"' |
		grep -vE '"fem_[a-z_]+\.h"' || true
}

unknown_layers() {
	code_below src | grep -vE '^src/(fem_[a-z_]+\.h|(base|jobs|mesh|collision|islands|dynamics|fracture|world|output)/)' || true
}

search_text() {
	list_files | tr '\n' '\0' | xargs -0 -r grep -HnIE "$1" 2>/dev/null || true
}

warn_of_long_files() {
	code_below src gdextension tests | while read -r file; do
		local lines
		lines=$(wc -l <"$file")
		if [ "$lines" -gt "$line_limit" ]; then
			printf 'warning: %s has %d lines (more than %d): can it be split?\n' "$file" "$lines" "$line_limit"
		fi
	done
}

# The engine's step errors and those of Godot's class reference, by name and value: what only one of them has.
differing_step_errors() {
	diff \
		<(sed -nE 's/^\tFEM_(STEP_[A-Z_]+) = 1 << ([0-9]+),.*/\1 \2/p' src/fem_destruction.h |
			while read -r name bit; do echo "$name $((1 << bit))"; done | sort) \
		<(sed -nE 's/.*<constant name="(STEP_[A-Z_]+)" value="([0-9]+)" enum="StepErrors".*/\1 \2/p' \
			gdextension/doc_classes/DestructionServer.xml | sort) || true
}

main() {
	cd "$root"
	local inner='(base|jobs|mesh|collision|islands|dynamics|fracture|world|output)/'
	local start="(^|[[:space:]=:(,]|(^|[[:space:]=(,])[\"'])"
	rule "src/ holds code in known layers only" "$(unknown_layers)"
	rule "src/ knows nothing of Godot" "$(only_in '.*(gdextension|godot)' 'no file' src)"
	rule "includes in src/ point downward only, siblings apart" "$(upward_includes)"
	rule "includes in src/ name their folder" "$(unplaced_includes)"
	rule "pthread.h only in src/base/thread.*" "$(only_in 'pthread\.h' 'src/base/thread\.[ch]' src gdextension)"
	rule "metis.h only in src/islands/metis_partition.c" "$(only_in '.*metis\.h$' 'src/islands/metis_partition\.c' src gdextension tests)"
	rule "Opcode only in src/collision/opcode_bridge.cpp" "$(only_in '.*(Opcode|OPC_|Ice[A-Z])[A-Za-z]*\.h' 'src/collision/opcode_bridge\.cpp' src gdextension tests)"
	rule "C++ only in src/collision/opcode_bridge.cpp" "$(code_below src gdextension | grep '\.cpp$' | grep -vx 'src/collision/opcode_bridge.cpp' || true)"
	rule "gdextension_interface.h only under gdextension/" "$(only_in '.*gdextension_interface\.h' 'gdextension/[^:]*' src gdextension tests)"
	rule "gdextension/ uses public headers only" "$(includes gdextension | grep -E "^[^:]+:[0-9]+:($inner|fem_(types|constants)\.h)" || true)"
	rule "the class reference lists every bit of the engine's step errors" "$(differing_step_errors)"
	rule "no path of one machine is written down" "$(search_text "$start/(work|root|home)/[A-Za-z0-9_.]")"
	rule "no package registry is written down" "$(search_text '(deb|security|archive|snapshot|ftp)\.(debian|ubuntu)\.(org|com)|pypi\.(org|python)|registry\.npmjs|artifactor[y]|nexus/repositor[y]|static\.crates|://[^/ ]*(mirror|proxy|registry)')"
	warn_of_long_files
	printf 'layers: %d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

main
