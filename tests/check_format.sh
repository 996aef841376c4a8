#!/usr/bin/env bash
# Checks that every C and C++ file is written as .clang-format says, in at most 120 columns (a tab counts four).
#
#   tests/check_format.sh [--write]
#
#   --write   formats the files instead
#
# Prints "ok ..." or "FAIL ..." with the offending lines and "format: N passed, M failed" at the end. The version of
# clang-format is Debian 12's, which .ci/setup.sh installs: others break lines in other places.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/verdicts.sh"
cd "$here/.."
columns=120
formatter=$(command -v clang-format-14 || echo clang-format)

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp')
[ "${#files[@]}" -gt 0 ] || {
	echo 'FAIL there are no C files to look at: run this in a checkout made by git.'
	echo 'format: 0 passed, 1 failed'
	exit 1
}

if [ "${1:-}" = --write ]; then
	"$formatter" -i "${files[@]}"
	exit 0
fi

verdict 'every file is written as .clang-format says (tests/check_format.sh --write mends it)' \
	"$("$formatter" --dry-run -Werror "${files[@]}" 2>&1 | grep -E 'error:' || true)"
verdict "no line is longer than $columns columns" \
	"$(awk -v columns=$columns '{ line = $0; gsub(/\t/, "    ", line) }
		length(line) > columns { print FILENAME ":" FNR ": " length(line) " columns" }' "${files[@]}")"
printf 'format: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
