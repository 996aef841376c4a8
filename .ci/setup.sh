#!/usr/bin/env bash
# Installs the Debian packages that are missing, asking nothing; prints nothing when all are there.
#
#   .ci/setup.sh [build] [check] [render] [windows] [sanitize]      (default: build)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/lib.sh"

packages_of() {
	case "$1" in
	build) echo scons gcc g++ libc6-dev binutils xz-utils ca-certificates ;;
	check) echo clang-format-14 ;;
	render) echo xvfb xauth ffmpeg ;;
	windows) echo gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix wine wine64 ;;
	sanitize) echo clang libclang-rt-14-dev ;;
	meshes) echo assimp-utils nodejs npm ;;
	*) die "there is no package group '$1': use build, check, render, windows, sanitize or meshes." ;;
	esac
}

# A program of the package's name that came some other way does as well: npm, say, that nodejs brought along.
missing_packages() {
	local package
	for package in "$@"; do
		if ! command -v "$package" >/dev/null && [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
			printf '%s ' "$package"
		fi
	done
}

# The way to become root without being asked anything, or failure.
root_command() {
	if [ "$(id -u)" -eq 0 ]; then
		echo env
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		echo sudo -n
	else
		return 1
	fi
}

install_packages() {
	local log
	local -a as_root apt
	read -r -a as_root <<<"$(root_command)"
	[ ${#as_root[@]} -gt 0 ] ||
		die "these Debian packages are missing and there are no root rights to install them: run 'apt-get install $*' as root, then try again."
	apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2)
	log=$(mktemp)
	# shellcheck disable=SC2064
	trap "rm -f '$log'" EXIT
	say "installing Debian packages: $*"
	# The known package lists may be old or absent: refresh them only when they do not suffice.
	if ! "${apt[@]}" install --no-install-recommends "$@" >"$log" 2>&1; then
		"${apt[@]}" update >"$log" 2>&1 || true
		"${apt[@]}" install --no-install-recommends "$@" >>"$log" 2>&1 ||
			die "the Debian packages $* could not be installed ($(apt_reason "$log")): check the network, or run 'apt-get install $*' as root, then try again."
	fi
}

main() {
	local group
	local -a wanted=() missing
	if ! command -v dpkg-query >/dev/null; then
		die "this is not a Debian system, so nothing can be installed here: install a C and C++ compiler and SCons yourself, set METIS_SRC=, OPCODE_SRC= and GODOT=, and run scons."
	fi
	for group in "${@:-build}"; do
		read -r -a missing <<<"$(packages_of "$group")"
		[ ${#missing[@]} -gt 0 ] || exit 1
		wanted+=("${missing[@]}")
	done
	read -r -a missing <<<"$(missing_packages "${wanted[@]}")"
	if [ ${#missing[@]} -gt 0 ]; then
		install_packages "${missing[@]}"
	fi
}

main "$@"
