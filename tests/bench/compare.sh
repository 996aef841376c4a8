#!/usr/bin/env bash
# Engine, yardstick and Bullet side by side, taking turns, and what the ratios mean against the goals.
#
#   tests/bench/compare.sh [ROUNDS]     default 3; about 5 minutes on an idle machine, most of them Bullet's
#
# Environment: SKIP_BUILD=1 takes build/fem_bench as it is; BUDGET=SECONDS after which no new round of the bars begins
# (default 150); BULLET_ROOT=DIR names a folder with include/bullet and lib when libbullet-dev is not installed. Without
# Bullet its rows stay empty.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
peers=$repo/tests/peers
out=$repo/build/compare
bench=$repo/build/fem_bench
rounds=${1:-3}
budget=${BUDGET:-150}
bars="bar2k bar12k bar60k"
swings="0.939 0.972 0.989" # m, first swing of the bars (docs/method.md)
bar_steps=120              # the first swing ends before

die() {
	echo "compare.sh: $*" >&2
	exit 1
}

say() {
	printf '%4d s  %s\n' "$SECONDS" "$*" >&2
}

build_bullet() {
	local root=${BULLET_ROOT:-/usr} library
	[ -d "$root/include/bullet" ] || return 1
	library=$(dirname "$(find "$root/lib" -name 'libBulletSoftBody.so' | head -1)")
	local name
	for name in bullet_peer bullet_pile; do
		[ "$out/$name" -nt "$peers/$name.cpp" ] && continue
		g++ -std=c++17 -O3 -march=native -DNDEBUG -w -I"$root/include/bullet" "$peers/$name.cpp" -L"$library" \
			-Wl,-rpath,"$library" -lBulletSoftBody -lBulletDynamics -lBulletCollision -lLinearMath -lpthread \
			-o "$out/$name"
	done
}

build() {
	mkdir -p "$out"
	say "building"
	if [ -z "${SKIP_BUILD:-}" ]; then
		(cd "$repo" && scons -Q bench >"$out/build.log" 2>&1) || die "the bench does not build: see build/compare/build.log."
	fi
	[ -x "$bench" ] || die "build/fem_bench is missing: run without SKIP_BUILD."
	gcc -O3 -march=native -ffast-math "$peers/yardstick.c" -o "$out/yardstick" -lm
	if ! build_bullet; then
		rm -f "$out/bullet_peer" "$out/bullet_pile"
		echo "compare.sh: no Bullet here (apt-get install libbullet-dev): left out." >&2
	fi
	local bar
	for bar in $bars pile27; do
		"$bench" --scene "$bar" --write-mesh "$out/$bar.txt"
	done
	rm -f "$out"/*.json "$out"/*.peer
}

# engine NAME THREADS STEPS: appends one JSON object to the scene's list.
engine() {
	"$bench" --scene "$1" --threads "$2" --steps "$3" --json >>"$out/$1.$2.json"
}

measure_bars() {
	local round bar name
	for round in $(seq "$rounds"); do
		for bar in $bars; do
			say "round $round of $rounds: $bar"
			engine "$bar" 1 "$bar_steps"
			"$out/yardstick" "$out/$bar.txt" "$bar_steps" >>"$out/$bar.yardstick.peer"
			engine "$bar" 2 "$bar_steps"
			[ "$bar" = bar60k ] || engine "$bar" 1 "$bar_steps" # quick ones twice: noise comes and goes within seconds
			[ "$bar" = bar60k ] || engine "$bar" 2 "$bar_steps"
		done
		say "round $round of $rounds: panes, many bodies, sleepers, spin"
		for name in pane pane_stiff pane_plate pane_stiff_plate sleepers10k spin; do
			engine "$name" 1 300
			engine "$name" 2 300
		done
		engine many1000 1 40
		engine many1000 2 40
		if [ $((SECONDS - began)) -gt "$budget" ]; then
			say "that took long: no more rounds of these"
			break
		fi
	done
	[ -x "$out/bullet_peer" ] || return 0
	say "Bullet: bars"
	"$out/bullet_peer" "$out/bar2k.txt" 60 >>"$out/bar2k.bullet.peer"
	"$out/bullet_peer" "$out/bar12k.txt" 30 >>"$out/bar12k.bullet.peer"
}

# Bullet's answer up to its next pause, or its last line.
follow_bullet() {
	local line
	read -r line <&"${bullet[0]}" || die "bullet_pile broke off."
	[ "$line" = pause ] || echo "$line" >>"$out/pile27.bullet.peer"
}

# Bullet takes about a second a step here, so its 120 steps (2 s from the drop) are run once, in as many parts as there are
# rounds: the engine's whole runs come in between.
measure_pile() {
	local round
	if [ -x "$out/bullet_pile" ]; then
		coproc bullet { "$out/bullet_pile" "$out/pile27.txt" 120 "$rounds"; }
		exec {to_bullet}>&"${bullet[1]}"
	fi
	for round in $(seq "$rounds"); do
		if [ -x "$out/bullet_pile" ]; then
			say "round $round of $rounds: pile27, Bullet"
			[ "$round" = 1 ] || echo >&"$to_bullet"
			follow_bullet
		fi
		say "round $round of $rounds: pile27, engine"
		engine pile27 1 120
		engine pile27 2 120
	done
	say "pile27 solved to 1e-6"
	"$bench" --scene pile27 --steps 120 --tolerance 1e-6 --json >"$out/pile27.exact.json"
	say "stack, rope, rubble500"
	engine stack 1 300
	engine rope 1 300
	engine rubble500 1 400
}

build
began=$SECONDS
measure_bars
measure_pile
say "done"
python3 "$repo/tests/bench/compare.py" "$out" "$swings"
