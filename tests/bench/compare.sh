#!/usr/bin/env bash
# Engine, yardstick and Bullet side by side, taking turns, and what the ratios mean against the goals.
#
#   tests/bench/compare.sh [ROUNDS]     default 5; the first builds take a minute
#
# Environment: SKIP_BUILD=1 takes build/fem_bench as it is; BULLET_ROOT=DIR names a folder with include/bullet and lib
# when libbullet-dev is not installed. Without Bullet its rows stay empty.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
peers=$repo/tests/peers
out=$repo/build/compare
bench=$repo/build/fem_bench
rounds=${1:-5}
bars="bar2k bar12k bar60k"
swings="0.939 0.972 0.989" # m, first swing of the bars (validation)

die() {
	echo "compare.sh: $*" >&2
	exit 1
}

build_bullet() {
	local root=${BULLET_ROOT:-/usr} library
	[ -d "$root/include/bullet" ] || return 1
	library=$(dirname "$(find "$root/lib" -name 'libBulletSoftBody.so' | head -1)")
	local name
	for name in bullet_peer bullet_pile; do
		g++ -std=c++17 -O3 -march=native -DNDEBUG -w -I"$root/include/bullet" "$peers/$name.cpp" -L"$library" \
			-Wl,-rpath,"$library" -lBulletSoftBody -lBulletDynamics -lBulletCollision -lLinearMath -lpthread \
			-o "$out/$name"
	done
}

build() {
	mkdir -p "$out"
	if [ -z "${SKIP_BUILD:-}" ]; then
		(cd "$repo" && scons -Q bench >"$out/build.log" 2>&1) || die "the bench does not build: see build/compare/build.log."
	fi
	[ -x "$bench" ] || die "build/fem_bench is missing: run without SKIP_BUILD."
	gcc -O3 -march=native -ffast-math "$peers/yardstick.c" -o "$out/yardstick" -lm
	rm -f "$out/bullet_peer" "$out/bullet_pile"
	build_bullet || echo "compare.sh: no Bullet here (apt-get install libbullet-dev): left out." >&2
	local bar
	for bar in $bars pile27; do
		"$bench" --scene "$bar" --write-mesh "$out/$bar.txt"
	done
}

# engine NAME THREADS STEPS: appends one JSON object to the scene's list.
engine() {
	"$bench" --scene "$1" --threads "$2" --steps "$3" --json >>"$out/$1.$2.json"
}

# Bullet takes about a second a step here, so it runs once; 120 steps are 2 s from the drop.
measure_pile() {
	local round
	for round in $(seq "$rounds"); do
		echo "round $round of $rounds: pile27" >&2
		engine pile27 1 120
		engine pile27 2 120
	done
	"$bench" --scene pile27 --steps 120 --tolerance 1e-6 --json >"$out/pile27.exact.json"
	engine stack 1 300
	engine rope 1 300
	engine rubble500 1 1200
	[ ! -x "$out/bullet_pile" ] || "$out/bullet_pile" "$out/pile27.txt" 120 >>"$out/pile27.bullet.peer"
}

measure() {
	local round bar name
	rm -f "$out"/*.json "$out"/*.peer
	for round in $(seq "$rounds"); do
		for bar in $bars; do
			echo "round $round of $rounds: $bar" >&2
			engine "$bar" 1 300
			"$out/yardstick" "$out/$bar.txt" >>"$out/$bar.yardstick.peer"
			engine "$bar" 2 300
		done
		for name in pane pane_stiff pane_plate pane_stiff_plate many1000 sleepers10k spin; do
			engine "$name" 1 300
			engine "$name" 2 300
		done
	done
	if [ -x "$out/bullet_peer" ]; then
		for round in $(seq $(((rounds + 1) / 2))); do
			echo "Bullet, round $round" >&2
			"$out/bullet_peer" "$out/bar2k.txt" 100 >>"$out/bar2k.bullet.peer"
			"$out/bullet_peer" "$out/bar12k.txt" 60 >>"$out/bar12k.bullet.peer"
		done
	fi
}

build
measure
measure_pile
python3 "$repo/tests/bench/compare.py" "$out" "$swings"
