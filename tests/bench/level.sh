#!/usr/bin/env bash
# A small level under scripted chaos, ours and of pre-cut Jolt bodies, in one headless run.
#   tests/bench/level.sh [--seconds 60] [--threads 2] [--budget 4] [--csv FILE] [--ours] [--verbose] [--json]
#   tests/bench/level.sh --soak --seconds 600 --debris-cap 40      (the level again and again: memory and times each 20 s)
# --budget is DestructionServer.budget_ms, 0 for none; --ours leaves Jolt out.
# The last line is {"ours": {"p50": ms, "p99": ms, "max": ms, ...}, "jolt": {...}, "pieces": n}: processor time of all
# physics a tick. Builds what is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
arguments=()
while [ $# -gt 0 ]; do
	case $1 in
	--json) shift ;;
	--verbose | --ours | --soak)
		arguments+=("$1")
		shift
		;;
	--seconds | --threads | --csv | --budget | --debris-cap)
		[ $# -gt 1 ] || { echo "level.sh: $1 needs a value." >&2; exit 2; }
		arguments+=("$1" "$2")
		shift 2
		;;
	*) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
	esac
done
ls "$top"/addons/fem_destruction/bin/*.so >/dev/null 2>&1 || (cd "$top" && scons >&2)
"$top/tests/godot_suites.sh" level_bench "$("$top/.ci/get_godot.sh" | tail -1)" "${arguments[@]}"
