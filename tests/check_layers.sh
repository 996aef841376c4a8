#!/usr/bin/env bash
# Checks by text search that the code keeps to its layers, that texts and comments refer to what is there, and that the
# repository names no machine.
#
#   tests/check_layers.sh [FOLDER]      (default: the repository this script is in)
#
# Prints "ok ..." or "FAIL ..." for each rule and "layers: N passed, M failed" at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${1:-$(dirname "$here")}
line_limit=700
# shellcheck source-path=SCRIPTDIR
. "$here/verdicts.sh"

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

# Every folder and every header at the root of src/ with its rank and its branch. A file may include what has a lower rank,
# and what lies in its own folder or in another one below the same folder of src/ (the four rooms of world/ are one layer).
# The branches grow from one trunk and never include each other: what simulates knows nothing of how meshes are made.
layers='
fem_basics.h       1 trunk
fem_constants.h    1 trunk
fem_colliders.h    2 trunk
fem_fracture.h     2 trunk
fem_budget.h       2 trunk
fem_hooks.h        2 trunk
fem_modes.h        3 trunk
fem_sound.h        4 trunk
fem_destruction.h  3 trunk
fem_baking.h       4 trunk
fem_debug_draw.h   4 trunk
base               5 trunk
jobs               6 trunk
topology           7 trunk
geometry           8 trunk
model              8 simulating
filling            9 baking
cutting            9 baking
baking            10 baking
collision          9 simulating
islands            9 simulating
dynamics           9 simulating
fracture           9 simulating
modes             10 simulating
world             11 simulating
world/api         11 simulating
world/contact     11 simulating
world/step        11 simulating
world/state       11 simulating
'

# The same for gdextension/, where folders of one rank know each other. Generated headers lie outside it.
extension_layers='
fem_destruction.h  1 trunk
fem_baking.h       1 trunk
fem_debug_draw.h   1 trunk
fem_modes.h        1 trunk
fem_sound.h        1 trunk
godot_calls.h      1 trunk
doc_data.h         1 trunk
license_data.h     1 trunk
binding            2 trunk
drawing            3 trunk
simulation         4 trunk
classes            4 trunk
coupling           4 trunk
sound              4 trunk
entry.c            5 trunk
'

# unranked ROOT TABLE: of lines that are or end in ":" and a file below the root, those whose folder, or file at the root
# itself, is not in the table.
unranked() {
	awk -F: -v root="$1/" -v table="$2" '
		BEGIN {
			count = split(table, line, "\n")
			for (i = 1; i <= count; i++)
				if (split(line[i], word, " ") == 3)
					known[word[1]] = 1
		}
		{
			name = $NF
			if (index(name, root) == 1)
				name = substr(name, length(root) + 1)
			if (name ~ /\//)
				sub(/\/[^\/]*$/, "", name)
			if (!(name in known))
				print $0
		}'
}

# Quoted includes are written from src/ or gdextension/, so the path of a header says where it ranks.
quoted_includes() {
	code_below "$1" | tr '\n' '\0' | xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed -E 's/^([^:]+:[0-9]+:).*include[[:space:]]*"([^"]+)".*/\1\2/' || true
}

# upward_includes ROOT TABLE PEERS: PEERS is the difference of rank that an include needs, 1 or, where peers know each other, 0.
upward_includes() {
	quoted_includes "$1" | awk -F: -v root="$1/" -v table="$2" -v peers="$3" '
		# The name in the table of a file below the root.
		function place(path) {
			if (path ~ /\//)
				sub(/\/[^\/]*$/, "", path)
			return path
		}
		function top(name) {
			sub(/\/.*/, "", name)
			return name
		}
		BEGIN {
			count = split(table, line, "\n")
			for (i = 1; i <= count; i++)
				if (split(line[i], word, " ") == 3) {
					rank[word[1]] = word[2]
					branch[word[1]] = word[3]
				}
		}
		{
			from = place(substr($1, length(root) + 1))
			to = place($3)
			if (!(from in rank) || !(to in rank) || top(from) == top(to))
				next # unknown ones are told of by another rule
			apart = branch[to] != "trunk" && branch[to] != branch[from]
			if (apart || rank[to] + peers > rank[from] + 0)
				print $0
		}'
}

# Includes of gdextension/ that reach into the engine behind its public headers.
inner_includes() {
	local inner
	inner="$(cd src && printf '%s|' */)fem_constants\.h"
	includes gdextension | grep -E "^[^:]+:[0-9]+:($inner)" || true
}

search_text() {
	list_files | tr '\n' '\0' | xargs -0 -r grep -HnIE "$1" 2>/dev/null || true
}

# Words that once stood for the field's own, and what to say instead. "part" and "piece" have one meaning each: see
# "Words" in ARCHITECTURE.md.
private_words='ways? turn(s|ed|ing)? press(es|ed|ing)? makers? stuff lacks? riding rid(es|den)'

# Identifiers of C and shader code in which a private word stands alone or between underscores or capitals. Names of
# tests are sentences, in which such a word may be plain English.
private_identifiers() {
	{ code_below src gdextension tools tests; list_files | grep -E '\.gdshader(inc)?$' || true; } |
		tr '\n' '\0' | xargs -0 -r awk -v words="$private_words" '
		BEGIN {
			gsub(/ /, "|", words)
			private = "^(" words ")$"
		}
		/^[[:space:]]*(#[[:space:]]*include|FEM_TEST\()/ { next }
		{
			code = $0
			gsub(/"([^"\\]|\\.)*"/, "", code)
			sub(/\/\/.*/, "", code)
			count = split(code, names, /[^A-Za-z0-9_]+/)
			for (i = 1; i <= count; i++) {
				name = names[i]
				gsub(/[A-Z][a-z]/, "_&", name)
				parts = split(tolower(name), part, /_+/)
				for (k = 1; k <= parts; k++)
					if (part[k] ~ private)
						print FILENAME ":" FNR ": " names[i]
			}
		}'
}

warn_of_long_files() {
	code_below src gdextension tools tests | while read -r file; do
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
	local start="(^|[[:space:]=:(,]|(^|[[:space:]=(,])[\"'])"
	verdict "every folder and root header of src/ has a rank" "$(code_below src | unranked src "$layers")"
	verdict "src/ knows nothing of Godot" "$(only_in '.*(gdextension|godot)' 'no file' src)"
	verdict "includes in src/ name a folder or root header that has a rank" "$(quoted_includes src | unranked src "$layers")"
	verdict "includes in src/ point downward only, siblings and branches apart" "$(upward_includes src "$layers" 1)"
	verdict "src/base/ sees of the root headers fem_basics.h and fem_hooks.h" "$(includes src/base | grep -E ':fem_[a-z_]+\.h$' | grep -vE ':fem_(basics|hooks)\.h$' || true)"
	verdict "fem_hooks.h in src/base/ only where it is implemented" "$(only_in 'fem_hooks\.h' 'src/base/(error|memory)\.c' src/base)"
	verdict "fem_baking.h only where meshes are made" "$(only_in 'fem_baking\.h' 'src/(geometry|filling|cutting|baking)/[^:]*' src)"
	verdict "pthread.h only in src/base/thread.*" "$(only_in 'pthread\.h' 'src/base/thread\.[ch]' src gdextension tools)"
	verdict "metis.h only in src/islands/metis_partition.c" "$(only_in '.*metis\.h$' 'src/islands/metis_partition\.c' src gdextension tools tests)"
	verdict "Opcode only in src/collision/opcode_bridge.cpp" "$(only_in '.*(Opcode|OPC_|Ice[A-Z])[A-Za-z]*\.h' 'src/collision/opcode_bridge\.cpp' src gdextension tools tests)"
	verdict "C++ only in src/collision/opcode_bridge.cpp" "$(code_below src gdextension tools | grep '\.cpp$' | grep -vx 'src/collision/opcode_bridge.cpp' || true)"
	verdict "gdextension_interface.h only in gdextension/binding/" "$(only_in '.*gdextension_interface\.h' 'gdextension/binding/[^:]*' src gdextension tools tests)"
	verdict "gdextension/ uses public headers only" "$(inner_includes)"
	verdict "every folder of gdextension/ has a rank" "$(code_below gdextension | unranked gdextension "$extension_layers")"
	verdict "includes in gdextension/ name a folder that has a rank" "$(quoted_includes gdextension | unranked gdextension "$extension_layers")"
	verdict "includes in gdextension/ point downward only" "$(upward_includes gdextension "$extension_layers" 0)"
	verdict "the class reference lists every bit of the engine's step errors" "$(differing_step_errors)"
	verdict "names say displacement, rotation, normal impulse, builder, material: not $private_words" "$(private_identifiers)"
	verdict "no path of one machine is written down" "$(search_text "$start/(work|root|home)/[A-Za-z0-9_.]")"
	verdict "no package registry is written down" "$(search_text '(deb|security|archive|snapshot|ftp)\.(debian|ubuntu)\.(org|com)|pypi\.(org|python)|registry\.npmjs|artifactor[y]|nexus/repositor[y]|static\.crates|://[^/ ]*(mirror|proxy|registry)')"
	verdict "comments name no text that is not in the repository" "$("$here/check_docs.py" documents "$root")"
	verdict "sections of docs/ that are cited are there" "$("$here/check_docs.py" sections "$root")"
	verdict "files, folders and tests that ARCHITECTURE.md and docs/ name are there" "$("$here/check_docs.py" paths "$root")"
	verdict "no paragraph of ARCHITECTURE.md and docs/ has more than six lines" "$("$here/check_docs.py" paragraphs "$root")"
	warn_of_long_files
	printf 'layers: %d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

main
