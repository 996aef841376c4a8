#!/usr/bin/env bash
# Prints the path of Godot's export template for release builds of Linux games as the last line of stdout:
# $GODOT_TEMPLATE, else godot-template-release on the PATH, else the one of Debian testing, which belongs to the Godot of
# get_godot.sh and is unpacked into the cache. Needs no root rights; progress goes to stderr.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/lib.sh"

name=godot-template-release
remedy="or set GODOT_TEMPLATE= to a release template of your Godot's version"

fetch_template() {
	local cache=$1
	make_work_folder "$cache"
	say "fetching Godot's export template from Debian testing into $cache (30 MB)"
	private_apt_prepare "$work/apt" deb testing ||
		die "Godot's export template cannot be downloaded because apt-get knows no Debian archive here: add one to /etc/apt/sources.list, $remedy."
	private_apt "$work/apt" update >"$work/update.log" 2>&1 || true
	# The package alone: its libraries are those of Godot itself.
	(cd "$work" && private_apt "$work/apt" download "$name") >"$work/download.log" 2>&1 ||
		die "Godot's export template could not be downloaded from Debian testing ($(apt_reason "$work/update.log" "$work/download.log")): check the network and try again, $remedy."
	mkdir "$work/template"
	run_quietly "$work/unpack.log" dpkg -x "$work"/"$name"_*.deb "$work/template" ||
		die "Godot's export template could not be unpacked: free some disk space in $cache and try again, $remedy."
	rm -rf "$cache/godot_template"
	mv -T "$work/template" "$cache/godot_template"
}

main() {
	local cache path
	if [ -n "${GODOT_TEMPLATE:-}" ]; then
		[ -f "$GODOT_TEMPLATE" ] || die "GODOT_TEMPLATE=$GODOT_TEMPLATE is not a file: set it to a release template of your Godot's version."
		realpath -s "$GODOT_TEMPLATE"
		return
	fi
	if path=$(command -v "$name"); then
		realpath -s "$path"
		return
	fi
	cache=$(cache_folder)
	path=$cache/godot_template/usr/bin/$name
	if [ ! -x "$path" ]; then
		lock_cache "$cache"
	fi
	[ -x "$path" ] || fetch_template "$cache"
	printf '%s\n' "$path"
}

main
