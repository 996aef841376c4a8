#!/usr/bin/env bash
# Checks the cross-built Windows libraries: they need only what Windows has, export the one entry point, and release is
# stripped.
# Prints "ok ..." or "FAIL ..." for each check and "windows: N passed, M failed" at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(dirname "$here")/addons/fem_destruction/bin
objdump=x86_64-w64-mingw32-objdump
# shellcheck source-path=SCRIPTDIR
. "$here/library_checks.sh"

foreign_imports() {
	LC_ALL=C $objdump -p "$1" | sed -n 's/.*DLL Name: //p' |
		grep -viE '^(kernel32|msvcrt|ucrtbase|advapi32|api-ms-win-[a-z0-9-]+)\.dll$' | tr '\n' ' ' || true
}

wrong_exports() {
	LC_ALL=C $objdump -p "$1" | sed -n '/Ordinal\/Name Pointer/,/^$/s/.*\] .* \([A-Za-z_][A-Za-z0-9_]*\)$/\1/p' |
		grep -vx fem_destruction_init | tr '\n' ' ' || true
}

has_symbols() {
	[ "$(LC_ALL=C $objdump -t "$1" | grep -c '^\[ *[0-9]')" -gt 0 ] || LC_ALL=C $objdump -h "$1" | grep -q '\.debug_'
}

# Only the debug library keeps symbols and line numbers.
wrong_symbols() {
	case "$1" in
	*template_release*) ! has_symbols "$1" || printf 'it has some' ;;
	*) has_symbols "$1" || printf 'it has none' ;;
	esac
}

check_library() {
	local name=$1 path=$bin/$1
	if [ ! -f "$path" ]; then
		verdict "$name exists" "it was not built"
		return
	fi
	verdict "$name needs only what Windows has" "$(foreign_imports "$path")"
	verdict "$name exports its entry point alone" "$(wrong_exports "$path")"
	verdict "$name has symbols if it is for debugging" "$(wrong_symbols "$path")"
	verdict "$name holds nothing of the LGPL" "$(LC_ALL=C $objdump -t "$path" | lesser_functions)"
}

main() {
	check_library libfem_destruction.windows.template_debug.x86_64.dll
	check_library libfem_destruction.windows.template_release.x86_64.dll
	printf 'windows: %d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

main
