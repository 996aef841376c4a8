#!/usr/bin/env bash
# Checks by text search that a C test calls every function of the public headers.
#
#   tests/check_public_api.sh [FOLDER]      (default: the repository this script is in)
#
# Prints "FAIL ..." for each function that no test calls and "public functions: N passed, M failed" at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$(dirname "$here")}"
internal='src/fem_(types|constants)\.h'
passed=0
failed=0

# Declared: a name before a bracket, outside comments, on a line that begins with a type.
public_functions() {
	printf '%s\n' src/fem_*.h | grep -vE "^$internal\$" | xargs sed -E 's://.*::' |
		grep -E '^[A-Za-z]' | grep -oE '\bfem_[a-z0-9_]+\(' | tr -d '(' | sort -u
}

called=$(sed -E 's://.*::' tests/*.c tests/scenes/*.c | grep -oE '\bfem_[a-z0-9_]+\(' | tr -d '(' | sort -u)
for name in $(public_functions); do
	if grep -qxF "$name" <<<"$called"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAIL no test calls %s()\n' "$name"
	fi
done
[ "$passed" -gt 150 ] || { failed=$((failed + 1)) && printf 'FAIL only %d functions were found in the public headers\n' "$passed"; }
printf 'public functions: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
