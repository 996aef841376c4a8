#!/usr/bin/env bash
# Checks what is shipped: the two flavours of the Linux library, and the licence texts beside them.
#
#   tests/check_libraries.sh [ADDON FOLDER]
#
# Prints "ok ..." or "FAIL ..." for each check, the sizes, and "libraries: N passed, M failed" at the end.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
addon=${1:-$root/addons/fem_destruction}
arch=$(uname -m | sed 's/aarch64/arm64/')
debug=$addon/bin/libfem_destruction.linux.template_debug.$arch.so
release=$addon/bin/libfem_destruction.linux.template_release.$arch.so
# shellcheck source-path=SCRIPTDIR
. "$here/library_checks.sh"

sections() {
	readelf -SW "$1" | sed -nE 's/^ *\[ *[0-9]+\] (\.[^ ]+).*/\1/p'
}

# The dynamic symbol table is what the loader needs; all the rest is for debuggers.
debugging_sections() {
	sections "$1" | grep -E '^\.(debug_.*|symtab|strtab)$' | tr '\n' ' ' || true
}

missing_sections() {
	local name
	for name in .symtab .debug_line; do
		sections "$1" | grep -qxF "$name" || printf '%s ' "$name"
	done
}

wrong_exports() {
	nm -D --defined-only "$1" | awk '{ print $NF }' | grep -vx fem_destruction_init | head -n 5 | tr '\n' ' ' || true
}

# Both flavours are linked from the same objects, without asserts, and compute the same bits.
different_code() {
	local name folder
	folder=$(mktemp -d)
	for name in .text .rodata; do
		objcopy -O binary --only-section="$name" "$debug" "$folder/debug"
		objcopy -O binary --only-section="$name" "$release" "$folder/release"
		[ -s "$folder/debug" ] && cmp -s "$folder/debug" "$folder/release" || printf '%s ' "$name"
	done
	rm -r "$folder"
}

# wrong_flags library|tests FLAG yes|no: sources of ours that are compiled without, or with, the flag.
wrong_flags() {
	local commands
	commands=$(grep '"command":' "$root/build/compile_commands.json" | grep -F "linux.$1.$arch/" || true)
	if [ -z "$commands" ]; then
		printf 'build/compile_commands.json has none of its sources'
	elif [ "$3" = yes ]; then
		grep -vc -- " $2 " <<<"$commands" | sed '/^0$/d; s/$/ sources are compiled without/' || true
	else
		grep -c -- " $2 " <<<"$commands" | sed '/^0$/d; s/$/ sources are compiled with/' || true
	fi
}

size_of() {
	awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", bytes / 1e6 }'
}

# README.md states both sizes; a tenth of difference is no lie.
wrong_sizes() {
	local said
	said=$(sed -nE 's/.*stripped and has ([0-9.]+) MB.* has ([0-9.]+) MB with the symbols.*/\1 \2/p' "$root/README.md")
	awk -v said="$said" -v release="$(size_of "$release")" -v debug="$(size_of "$debug")" 'BEGIN {
		if (split(said, mb, " ") != 2) print "README.md does not state them"
		else if (mb[1] < 0.9 * release || mb[1] > 1.1 * release || mb[2] < 0.9 * debug || mb[2] > 1.1 * debug)
			printf "README.md says %s MB and %s MB\n", mb[1], mb[2]
	}'
}

missing_licences() {
	local words
	cmp -s "$root/LICENSE" "$addon/LICENSE" || printf 'LICENSE differs from that of the repository; '
	for words in 'Regents of the University of Minnesota' 'END OF TERMS AND CONDITIONS' 'Pierre Terdiman' 'Russell L. Smith' \
		'Makoto Matsumoto and Takuji Nishimura'; do
		grep -qF "$words" "$addon/THIRD_PARTY.md" || printf 'THIRD_PARTY.md lacks "%s"; ' "$words"
		# In the library the texts stand as they are, whole.
		grep -qaF "$words" "$release" || printf 'the release library lacks "%s"; ' "$words"
	done
}

main() {
	if [ ! -f "$debug" ] || [ ! -f "$release" ]; then
		verdict "both flavours exist" "$debug or $release was not built"
	else
		verdict "release is stripped" "$(debugging_sections "$release")"
		verdict "debug keeps its symbols and line numbers" "$(missing_sections "$debug")"
		verdict "release exports its entry point alone" "$(wrong_exports "$release")"
		verdict "debug exports its entry point alone" "$(wrong_exports "$debug")"
		verdict "both hold the same code" "$(different_code)"
		verdict "nothing of the LGPL is linked in" "$(nm --defined-only "$debug" | lesser_functions)"
		printf 'release: %s MB, debug: %s MB\n' "$(size_of "$release")" "$(size_of "$debug")"
		verdict "the README's sizes are right" "$(wrong_sizes)"
		verdict "the licences are there" "$(missing_licences)"
	fi
	verdict "asserts are off in both" "$(wrong_flags library -DFEM_ASSERTS=1 no)"
	verdict "asserts are on in the tests" "$(wrong_flags tests -DFEM_ASSERTS=1 yes)"
	verdict "both are optimised" "$(wrong_flags library -O3 yes)"
	printf 'libraries: %d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

main
