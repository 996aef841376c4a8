#!/usr/bin/env bash
# Every number with a name under src/, gdextension/ and tools/ says what it is for: its unit and where it comes from (a derivation, a measurement,
# or "chosen" and why about so much), in words on its own line, in the comment right above it, or, for a plain list of
# constants, in the comment above the list.
#
#   tests/check_constants.sh [FOLDER]      (default: the repository this script is in)
#
# Looks at #define with a number, constants of type float or double made of numbers, and nameless enums; named enums and
# tables of indices are no tunables. Where meshes are made (src/filling, src/cutting) every number with a point or an
# exponent in the midst of code must have a name, but for small ones that speak for themselves. Prints those without a
# word or name and ends with the line "constants: N passed, M failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$(dirname "$here")}"

find src gdextension tools -name '*.[ch]' -o -name '*.inl' -o -name '*.cpp' | sort | xargs awk '
	function words(text) {
		return text ~ /[A-Za-z][a-z][a-z]/
	}
	# The name of the constant that a line gives a number to, or nothing.
	function constant(line,    parts, value) {
		if (match(line, /^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+[ \t]+[^ \t\/]/)) {
			split(line, parts, /[ \t]+/)
			sub(/^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+[ \t]+/, "", line)
			sub(/\/\/.*/, "", line)
			return line ~ /(^|[^A-Za-z_])[0-9]/ || line ~ /^\\[ \t]*$/ ? parts[2] : ""
		}
		if (match(line, /^[ \t]*(static[ \t]+)?const[ \t]+(float|double)[ \t]+[A-Za-z_0-9]+[^(]*=/)) {
			value = line
			sub(/\/\/.*/, "", value)
			sub(/[^=]*=/, "", value)
			sub(/[ \t]*(\[.*)?=.*/, "", line)
			sub(/.*[ \t]/, "", line)
			return value ~ /(^|[^0-9.A-Za-z_])[A-Za-z_]/ ? "" : line # made of variables
		}
		if (match(line, /^[ \t]*enum[ \t]*\{[ \t]*[A-Z][A-Z_0-9]+[ \t]*=[ \t]*[0-9]/)) {
			sub(/^[ \t]*enum[ \t]*\{[ \t]*/, "", line)
			sub(/[ \t]*=.*/, "", line)
			return line
		}
		return ""
	}
	# The first number in code that tells nothing by itself; members of a def are named by it.
	function bare(line,    number) {
		gsub(/"([^"\\]|\\.)*"/, "", line)
		sub(/\/\/.*/, "", line)
		if (line ~ /^[ \t]*#/ || line ~ /^[ \t]*(static[ \t]+)?const[ \t]/ || line ~ /^[ \t]*\.[a-z_]+ = [^;]*,$/)
			return ""
		while (match(line, /[0-9A-Za-z_.]*[0-9]\.?[0-9]*([eE][-+]?[0-9]+)?[fF]?/)) {
			number = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			if (number ~ /^[0-9]/ && number ~ /[.eE]/ && number !~ /^0x/ &&
				number !~ /^([0-468]\.0|0\.5|0\.25|100\.0|255\.0)f?$/)
				return number
		}
		return ""
	}
	FNR == 1 {
		explained = 0
		must_name = FILENAME ~ /^src\/(filling|cutting)\//
	}
	must_name && bare($0) != "" {
		failed++
		printf "FAIL %s:%d: %s has no name\n", FILENAME, FNR, bare($0)
	}
	{
		name = constant($0)
		remark = index($0, "//") ? substr($0, index($0, "//")) : ""
		if (name != "") {
			if (words(remark)) {
				passed++
				explained = 0
			} else if (explained) {
				passed++
			} else {
				failed++
				printf "FAIL %s:%d: %s has no word on what it is for\n", FILENAME, FNR, name
			}
		} else if ($0 ~ /^[ \t]*\/\//)
			explained = explained || words($0)
		else if ($0 !~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/) # the comment is of all branches
			explained = 0
	}
	END {
		printf "constants: %d passed, %d failed\n", passed, failed
		exit failed > 0
	}'
