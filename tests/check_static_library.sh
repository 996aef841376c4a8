#!/usr/bin/env bash
# Checks build/libfem_destruction.a: the example is built from it and the public headers alone, and runs.
#
#   tests/check_static_library.sh [LIBRARY]
#
# Prints "ok ..." or "FAIL ..." for each check and "static library: N passed, M failed" at the end.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
library=${1:-$root/build/libfem_destruction.a}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source-path=SCRIPTDIR
. "$here/library_checks.sh"

# Headers only, so that nothing of the engine's own is seen.
build_example() {
	mkdir "$work/include"
	cp "$root"/src/fem_*.h "$work/include/"
	rm "$work/include/fem_constants.h"
	gcc -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$work/include" -c "$root/tools/example/falling_beam.c" -o "$work/beam.o" 2>&1 &&
		g++ "$work/beam.o" "$library" -lpthread -o "$work/beam" 2>&1
}

foreign_symbols() {
	nm --defined-only --extern-only "$library" 2>/dev/null | awk 'NF == 3 && $3 !~ /^fem_/ { print $3 }' | head -n 5
}

# A public header must be C++ as well, alone.
refused_headers() {
	local header
	for header in "$work"/include/*.h; do
		g++ -std=c++17 -Wall -Wextra -Werror -I "$work/include" -fsyntax-only -x c++ "$header" 2>&1 | grep -v 'pragma once' || true
	done
}

verdict "the example is built from the headers and the library alone" "$(build_example || true)"
timeout 60 "$work/beam" >"$work/out" 2>&1 || echo "exit code $?" >>"$work/out"
cat "$work/out"
verdict "the example's beam breaks" "$(grep -qE '^broken into ([2-9]|[0-9]{2,}) pieces$' "$work/out" || tail -n 3 "$work/out")"
verdict "the example's beam falls" "$(grep -q '^0\.00 s: 1 pieces between 3\.00 and 3\.10 m$' "$work/out" || head -n 1 "$work/out")"
verdict "the library's global symbols are fem_ alone" "$(foreign_symbols)"
verdict "the public headers compile as C++" "$(refused_headers)"
printf 'static library: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
