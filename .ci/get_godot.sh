#!/usr/bin/env bash
# Prints the path of a Godot 4.4 or newer as the last line of stdout: $GODOT, else godot or godot4 on the PATH, else one
# from Debian testing that is unpacked into the cache. Needs no root rights; progress goes to stderr.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/lib.sh"

# Godot, the graphics libraries it opens by name, and the software renderers that machines without a graphics card need.
packages=(godot libgl1 libegl1 libgl1-mesa-dri mesa-vulkan-drivers fonts-dejavu-core)
remedy="or set GODOT= to a Godot 4.4 or newer"

version_of() {
	timeout 60 "$1" --version 2>/dev/null </dev/null | grep -m 1 -E '^[0-9]+\.[0-9]+' || true
}

is_new_enough() {
	local major minor rest
	IFS=. read -r major minor rest <<<"$1"
	minor=${minor%%[!0-9]*}
	[ "${major:-0}" -gt 4 ] || { [ "${major:-0}" -eq 4 ] && [ "${minor:-0}" -ge 4 ]; }
}

use_named_godot() {
	local path version
	path=$(command -v "$GODOT") ||
		die "GODOT=$GODOT is not a program: set GODOT to a Godot 4.4 or newer, or leave it unset to have one fetched."
	version=$(version_of "$path")
	[ -n "$version" ] ||
		die "GODOT=$GODOT does not answer --version as Godot does: set GODOT to a Godot 4.4 or newer, or leave it unset to have one fetched."
	is_new_enough "$version" ||
		die "GODOT=$GODOT is version $version, but 4.4 or newer is needed: set GODOT to a newer one, or leave it unset to have one fetched."
	realpath -s "$path"
}

godot_on_path() {
	local name path version
	for name in godot godot4; do
		path=$(command -v "$name") || continue
		version=$(version_of "$path")
		if [ -n "$version" ] && is_new_enough "$version"; then
			realpath -s "$path"
			return
		fi
		say "passing over $path (version ${version:-unknown}; 4.4 or newer is needed)"
	done
	return 1
}

download_packages() {
	local apt=$1
	private_apt_prepare "$apt" deb testing ||
		die "Godot cannot be downloaded because apt-get knows no Debian archive here: add one to /etc/apt/sources.list, $remedy."
	private_apt "$apt" update >"$work/update.log" 2>&1 || true
	private_apt "$apt" install --download-only "${packages[@]}" >"$work/install.log" 2>&1 ||
		die "Godot could not be downloaded from Debian testing ($(apt_reason "$work/update.log" "$work/install.log")): check the network and try again, $remedy."
}

unpack_packages() {
	local apt=$1 root=$2
	mkdir -p "$root"
	printf '%s\0' "$apt"/cache/archives/*.deb |
		run_quietly "$work/unpack.log" xargs -0 -P "$(nproc)" -I '{}' dpkg -x '{}' "$root" ||
		die "Godot's packages could not be unpacked into the cache: free 1.5 GB of disk space in $cache and try again, $remedy."
	rm -rf "$apt"
}

# The packages' own loader and libraries are newer than this system's, so they are used together, and only for Godot.
write_wrapper() {
	cat >"$1" <<'WRAPPER'
#!/bin/sh
# Runs the Godot that fem_destruction's build unpacked beside this file, with its own loader, libraries and drivers.
here=$(dirname "$(readlink -f "$0")")
for loader in "$here"/root/usr/lib/*-linux-gnu/ld-linux-*.so.*; do
	libraries=$(dirname "$loader")
done
# Without a graphics card only the software renderer is offered: the others would waste start-up time and log lines.
drivers=
for file in "$here"/root/usr/share/vulkan/icd.d/*.json; do
	case $file in
	*/lvp_icd*) ;;
	*) [ -e /dev/dri/renderD128 ] || continue ;;
	esac
	drivers=${drivers:+$drivers:}$file
done
: "${VK_DRIVER_FILES:=$drivers}"
: "${LIBGL_DRIVERS_PATH:=$libraries/dri}"
: "${__EGL_VENDOR_LIBRARY_DIRS:=$here/root/usr/share/glvnd/egl_vendor.d}"
export VK_DRIVER_FILES LIBGL_DRIVERS_PATH __EGL_VENDOR_LIBRARY_DIRS
exec "$loader" --library-path "$libraries:$libraries/pulseaudio" "$here/root/usr/bin/godot" "$@"
WRAPPER
	chmod +x "$1"
}

fetch_godot() {
	make_work_folder "$cache"
	say "fetching Godot from Debian testing into $cache (180 MB; 700 MB unpacked)"
	download_packages "$work/apt"
	say "unpacking Godot"
	unpack_packages "$work/apt" "$work/godot/root"
	write_wrapper "$work/godot/godot"
	local version
	version=$(version_of "$work/godot/godot")
	is_new_enough "${version:-0.0}" ||
		die "the Godot fetched from Debian testing does not run here (it says '${version:-nothing}'): set GODOT= to a Godot 4.4 or newer."
	rm -rf "$cache/godot"
	mv -T "$work/godot" "$cache/godot"
	say "Godot $version is ready"
}

main() {
	if [ -n "${GODOT:-}" ]; then
		use_named_godot
		return
	fi
	if godot_on_path; then
		return
	fi
	cache=$(cache_folder)
	if [ ! -x "$cache/godot/godot" ]; then
		lock_cache "$cache"
	fi
	# Another run may have finished it while we waited for the lock.
	if [ ! -x "$cache/godot/godot" ]; then
		fetch_godot
	fi
	printf '%s\n' "$cache/godot/godot"
}

main
