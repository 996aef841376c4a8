#!/usr/bin/env bash
# Fuzzes the loaders with libFuzzer under the address and undefined sanitizers.
#
#   tests/fuzz/run.sh [--minimize] [SECONDS [TARGET...]]
#
#   SECONDS      for each target, default 60
#   TARGET       tetgen, gmsh, vtk, obj, stl, baked, body_state; default all
#   --minimize   afterwards add to the corpus a few of the new inputs that reach new code
#
# What is found goes to build/fuzz/found/TARGET, what fails to build/fuzz/failures: put the latter into
# tests/fuzz/corpus/TARGET once it is mended, where the C test fuzz_corpus replays it.
# The last line is "N passed, M failed", a target each.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$(dirname "$here")")
out=$root/build/fuzz
all=(tetgen gmsh vtk obj stl baked body_state)
minimize=no
passed=0
failed=0

usage() {
	sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

# The sources that loaders are made of: those of fem_bake, and of the engine what they need.
sources() {
	local name
	for name in cutting/{splinter_surface,splinter_homes} baking/tet_arrays baking/baked_{mesh,modes,read,splinters,write}; do
		printf '%s/src/%s.c\n' "$root" "$name"
	done
	printf '%s\n' "$root"/src/{base,jobs,topology,geometry}/*.c
	printf '%s\n' "$root"/tools/fem_bake/files/*.c
}

# Two files in different folders may have one name.
object_of() {
	printf '%s/%s.o\n' "$1" "$(printf '%s' "${2#"$root"/}" | tr / _)"
}

flags=(-D_GNU_SOURCE -DFEM_ASSERTS=1 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
	-fsanitize=fuzzer-no-link -fsanitize=address -fsanitize=undefined -ffp-contract=off "-I$root/src" "-I$root/tools" "-I$root/tests" "-I$here")

build_loaders() {
	local target source object
	local -a objects=()
	mkdir -p "$out/obj"
	while read -r source; do
		object=$(object_of "$out/obj" "$source")
		clang -std=c17 "${flags[@]}" -c "$source" -o "$object"
		objects+=("$object")
	done < <(sources)
	for target in "$@"; do
		clang -std=c17 "${flags[@]}" -fsanitize=fuzzer "$here/fuzz_$target.c" "${objects[@]}" -lm -o "$out/fuzz_$target"
	done
}

# States are read by the whole engine. METIS and Opcode are as they come.
build_body_state() {
	local source object dependencies
	local -a objects=() more
	dependencies=$("$root/.ci/get_dependencies.sh" linux "$(uname -m)" | tail -n 1)
	mkdir -p "$out/engine"
	while read -r source; do
		object=$(object_of "$out/engine" "$source")
		more=(-std=c17)
		case $source in
		*_avx2.c) more+=(-mavx2 -mno-fma) ;;
		*/metis_partition.c) more+=(-isystem "$dependencies/include/metis") ;;
		*.cpp) more=(-x c++ -std=c++17 -fno-exceptions -fno-rtti -isystem "$dependencies/include/opcode" -isystem "$dependencies/include/opcode/OPCODE") ;;
		esac
		clang "${flags[@]}" "${more[@]}" -c "$source" -o "$object"
		objects+=("$object")
	done < <(find "$root/src" -name '*.c' -o -name '*.cpp' && printf '%s\n' "$root/tests/scenes/box_mesh.c")
	clang -std=c17 "${flags[@]}" -c "$here/fuzz_body_state.c" -o "$out/engine/fuzz_body_state.o"
	clang++ "${flags[@]}" -fsanitize=fuzzer "$out/engine/fuzz_body_state.o" "${objects[@]}" "-L$dependencies/lib" -lmetis -lopcode -lm -lpthread \
		-o "$out/fuzz_body_state"
}

build() {
	local target
	local -a loaders=()
	for target in "$@"; do
		if [ "$target" = body_state ]; then
			build_body_state
		else
			loaders+=("$target")
		fi
	done
	[ ${#loaders[@]} -eq 0 ] || build_loaders "${loaders[@]}"
}

# The memory limit catches loaders that believe a count; the time limit those that walk in squares.
fuzz() {
	local target=$1 seconds=$2 log=$out/$1.log
	local -a more=()
	mkdir -p "$out/found/$target" "$out/failures" "$here/corpus/$target"
	# Changes to a state are wanted from the first on, several at a time.
	[ "$target" != body_state ] || more=(-len_control=0)
	if "$out/fuzz_$target" "${more[@]}" -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=1024 -malloc_limit_mb=256 \
		-use_value_profile=1 -print_final_stats=1 -artifact_prefix="$out/failures/$target-" \
		"$out/found/$target" "$here/corpus/$target" >"$log" 2>&1; then
		printf 'ok %s: %s runs, %s inputs reach %s places\n' "$target" \
			"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
			"$(find "$out/found/$target" "$here/corpus/$target" -type f | wc -l)" \
			"$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)"
		passed=$((passed + 1))
	else
		tail -n 30 "$log" | sed 's/^/    /'
		printf 'FAIL %s: see %s and %s/failures\n' "$target" "$log" "$out"
		failed=$((failed + 1))
	fi
}

minimize_corpus() {
	local target=$1
	"$out/fuzz_$target" -merge=1 -use_counters=0 -max_len=2048 "$here/corpus/$target" "$out/found/$target" >>"$out/$target.log" 2>&1
}

main() {
	local target seconds=60
	while [ $# -gt 0 ] && [ "${1#--}" != "$1" ]; do
		case "$1" in
		--minimize) minimize=yes ;;
		*) usage && exit 0 ;;
		esac
		shift
	done
	if [ $# -gt 0 ]; then
		seconds=$1
		shift
	fi
	[ $# -eq 0 ] || all=("$@")
	"$root/.ci/setup.sh" sanitize
	build "${all[@]}"
	for target in "${all[@]}"; do
		fuzz "$target" "$seconds"
		[ "$minimize" = no ] || minimize_corpus "$target"
	done
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

main "$@"
