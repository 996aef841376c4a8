#!/usr/bin/env bash
# Builds the addon and shows the demo. Installs what is missing and asks nothing.
#
#   demo_project/run.sh [--renderer forward|compatibility] [--headless-record]
#
#   --renderer R        draw with Forward+ or Compatibility (default: forward, compatibility when recording)
#   --headless-record   record even when there is a display
#   --help              show this text
#
# With a display the playground opens in a window. Without one a tour of it is recorded on a virtual display into
# build/demo: a movie, some pictures and a contact sheet.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
out=$root/build/demo
# shellcheck source-path=SCRIPTDIR source=../.ci/lib.sh
. "$root/.ci/lib.sh"

renderer=
record=no

usage() {
	sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

read_options() {
	while [ $# -gt 0 ]; do
		case "$1" in
		--renderer)
			[ $# -gt 1 ] || die "--renderer needs a name: forward or compatibility."
			renderer=$2
			shift
			;;
		--renderer=*) renderer=${1#*=} ;;
		--headless-record) record=yes ;;
		--help | -h) usage && exit 0 ;;
		*) die "there is no option $1: see demo_project/run.sh --help." ;;
		esac
		shift
	done
	case "$renderer" in
	'' | forward | compatibility) ;;
	*) die "there is no renderer $renderer: use forward or compatibility." ;;
	esac
}

renderer_options() {
	case "$1" in
	forward) echo --rendering-method forward_plus --rendering-driver vulkan ;;
	compatibility) echo --rendering-method gl_compatibility --rendering-driver opengl3 ;;
	esac
}

build_addon() {
	say "building the addon"
	scons -C "$root" -Q library >&2 || die "the addon could not be built: see the lines above."
}

# Godot 4.6 crashes when the first start of a project finds an extension by itself (godot#111048): name it beforehand.
prepare_project() {
	mkdir -p "$here/.godot"
	if [ ! -s "$here/.godot/extension_list.cfg" ]; then
		echo res://addons/fem_destruction/fem_destruction.gdextension >"$here/.godot/extension_list.cfg"
	fi
}

show_demo() {
	local godot=$1
	local -a options
	read -r -a options <<<"$(renderer_options "${renderer:-forward}")"
	say "opening the demo"
	exec "$godot" "${options[@]}" --path "$here"
}

record_demo() {
	local godot=$1 log=$out/godot.log
	local -a options
	read -r -a options <<<"$(renderer_options "${renderer:-compatibility}")"
	rm -rf "$out"
	mkdir -p "$out"
	say "recording the demo (${renderer:-compatibility} renderer) on a virtual display; this takes two or three minutes without a graphics card"
	if ! timeout 900 xvfb-run -a -s "-screen 0 1280x720x24" "$godot" "${options[@]}" --audio-driver Dummy \
		--path "$here" --resolution 960x540 --fixed-fps 15 --write-movie "$out/demo.avi" --disable-vsync \
		-- --record "$out" 2>&1 </dev/null | tee "$log" | show_progress || [ ! -s "$out/demo.avi" ]; then
		tail -n 20 "$log" >&2
		die "the demo could not be recorded: see the lines above and $log."
	fi
}

show_progress() {
	local line
	while read -r line; do
		case "$line" in
		recorded*) say "$line" ;;
		esac
	done
}

compress_movie() {
	if ! command -v ffmpeg >/dev/null; then
		echo "$out/demo.avi"
		return
	fi
	say "compressing the movie"
	run_quietly "$out/ffmpeg.log" ffmpeg -y -i "$out/demo.avi" -an -c:v libx264 -crf 22 -preset fast -pix_fmt yuv420p \
		-movflags +faststart "$out/demo.mp4" || die "ffmpeg could not compress the movie; it is at $out/demo.avi."
	rm -f "$out/demo.avi" "$out/ffmpeg.log"
	echo "$out/demo.mp4"
}

main() {
	local godot movie
	read_options "$@"
	if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
		record=yes
	fi
	if [ "$record" = yes ]; then
		"$root/.ci/setup.sh" build render
	else
		"$root/.ci/setup.sh" build
	fi
	godot=$("$root/.ci/get_godot.sh" | tail -n 1)
	build_addon
	prepare_project
	[ "$record" = yes ] || show_demo "$godot"
	record_demo "$godot"
	movie=$(compress_movie)
	printf 'Movie:    %s\n' "$movie"
	printf 'Picture:  %s\n' "$out"/*.png
}

main "$@"
