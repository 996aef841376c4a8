#!/usr/bin/env bash
# Builds METIS and Opcode into static libraries in the cache and prints the folder that holds them
# (include/metis, include/opcode, lib/libmetis.a, lib/libopcode.a) as the last line of stdout.
#
#   .ci/get_dependencies.sh linux|windows [x86_64|arm64] [memory]
#
# "memory" builds them instrumented for clang's memory sanitizer, which cannot judge uninstrumented code.
# METIS_SRC= and OPCODE_SRC= name source folders to use instead of Debian's source packages metis and ode
# (OPCODE_SRC is ODE's top folder, the one that holds OPCODE, include and ou).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/lib.sh"

metis_tarball=metis_5.1.0.dfsg.orig.tar.xz
metis_sha256=c50a88b92b01fa3972c5c92cf50117f126c62589b8f793657c7d865c59c23615
ode_tarball=ode_0.16.2.orig.tar.gz
ode_sha256=b26aebdcb015e2d89720ef48e0cb2e8a3ca77915f89d853893e7cc861f810f22

platform=${1:-linux}
arch=${2:-$(uname -m | sed 's/aarch64/arm64/')}
instrument=${3:-}

choose_compiler() {
	case "$platform.$arch" in
	linux.x86_64) prefix=x86_64-linux-gnu- suffix= ;;
	linux.arm64) prefix=aarch64-linux-gnu- suffix= ;;
	windows.x86_64) prefix=x86_64-w64-mingw32- suffix=-posix ;;
	*) die "there is no build for platform=$platform arch=$arch: use platform=linux (x86_64, arm64) or platform=windows (x86_64)." ;;
	esac
	cc=${prefix}gcc$suffix cxx=${prefix}g++$suffix archiver=${prefix}ar
	if [ "$instrument" = memory ]; then
		cc=clang cxx=clang++
	fi
	# Other distributions and native arm64 machines may know their own compiler by its short name only.
	if ! command -v "$cc" >/dev/null && [ "$platform" = linux ] && [ "$(uname -m | sed 's/aarch64/arm64/')" = "$arch" ]; then
		cc=gcc cxx=g++ archiver=ar
	fi
	local tool
	for tool in "$cc" "$cxx" "$archiver"; do
		command -v "$tool" >/dev/null ||
			die "the compiler tool $tool is missing: run .ci/setup.sh $(setup_group) to install it."
	done
}

setup_group() {
	if [ "$instrument" = memory ]; then echo sanitize; elif [ "$platform" = windows ]; then echo windows; else echo build; fi
}

# require_source_folder VARIABLE TITLE FILE...: the folder in VARIABLE, made absolute, must hold the files.
require_source_folder() {
	local variable=$1 title=$2 file
	local folder=${!variable:-}
	shift 2
	[ -n "$folder" ] || return 0
	for file in "$@"; do
		[ -e "$folder/$file" ] ||
			die "$variable=$folder does not hold the $title sources ($file is missing): name the folder that does, or leave $variable unset."
	done
	printf -v "$variable" '%s' "$(cd "$folder" && pwd)"
}

# Everything that decides what the libraries contain, as a short name.
recipe_id() {
	{
		cat "$here/get_dependencies.sh" "$here/metis/gk_mksort.h"
		echo "$cc $instrument"
		"$cc" -dumpfullversion -dumpversion
		local folder
		for folder in "${METIS_SRC:-}" "${OPCODE_SRC:-}"; do
			echo "source $folder"
			[ -z "$folder" ] || find "$folder" -name '*.[ch]*' -printf '%P %s %T@\n' | sort
		done
	} | sha256sum | cut -c 1-12
}

has_checksum() {
	[ -f "$1" ] && echo "$2  $1" | sha256sum --check --status
}

# Fetch one Debian source package's original tarball into the cache's sources folder.
fetch_tarball() {
	local package=$1 tarball=$2 sha256=$3 variable=$4 title=$5
	local remedy="or set $variable= to a folder with its sources"
	if has_checksum "$cache/sources/$tarball" "$sha256"; then
		return
	fi
	say "downloading the $title sources (Debian source package $package)"
	local apt=$work/apt
	if [ ! -d "$apt" ]; then
		private_apt_prepare "$apt" deb-src bookworm ||
			die "the $title sources cannot be downloaded because apt-get knows no Debian archive here: add one to /etc/apt/sources.list, $remedy."
		private_apt "$apt" update >"$work/update.log" 2>&1 || true
	fi
	mkdir -p "$work/download" "$cache/sources"
	(cd "$work/download" && private_apt "$apt" source --download-only "$package") >"$work/source.log" 2>&1 ||
		die "the $title sources could not be downloaded ($(apt_reason "$work/update.log" "$work/source.log")): check the network and try again, $remedy."
	has_checksum "$work/download/$tarball" "$sha256" ||
		die "the downloaded $title sources are not the expected $tarball (checksum differs): try again later, $remedy."
	mv "$work/download/$tarball" "$cache/sources/$tarball"
}

unpack_tarball() {
	local tarball=$1 folder=$2
	mkdir -p "$folder"
	tar -x -f "$cache/sources/$tarball" -C "$folder" --strip-components=1 ||
		die "$cache/sources/$tarball could not be unpacked: free some disk space and try again."
}

# compile_library LIBRARY COMPILER FLAGS... -- SOURCES...: an object each, on all processors, then one archive.
compile_library() {
	local library=$1 compiler=$2
	shift 2
	local -a flags=()
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	local objects=$work/objects.$library
	mkdir -p "$objects"
	# An object is named by its folder too: GKlib and libmetis both have a util.c.
	# shellcheck disable=SC2016
	printf '%s\0' "$@" | run_quietly "$work/$library.log" xargs -0 -P "$(nproc)" -I '{}' \
		sh -c 'objects=$1 source=$2; shift 2; exec "$@" -c "$source" -o "$objects/$(echo "$source" | tr / _).o"' \
		sh "$objects" '{}' "$compiler" "${flags[@]}" ||
		die "$library could not be compiled with $compiler (see the lines above): check the source folder and the compiler."
	run_quietly "$work/$library.log" "$archiver" rcs "$work/out/lib/$library.a" "$objects"/*.o ||
		die "$library.a could not be written: free some disk space and try again."
}

common_flags() {
	# The folder names are mapped away so that no machine's paths end up in the library.
	printf '%s\n' -O2 -g0 -w -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -DNDEBUG \
		"-ffile-prefix-map=$1=."
	if [ "$instrument" = memory ]; then
		printf '%s\n' -fsanitize=memory -fsanitize-memory-track-origins -fno-omit-frame-pointer
	fi
}

# METIS's random numbers are GKlib's own (USE_GKRAND), so that every platform cuts a graph the same way.
# getopt.c (LGPL) belongs to METIS's programs, and gk_mksort.h is replaced by ours; see that file.
build_metis() {
	local source=$work/metis
	if [ -n "${METIS_SRC:-}" ]; then
		mkdir -p "$source"
		cp -RL "$METIS_SRC/GKlib" "$METIS_SRC/include" "$METIS_SRC/libmetis" "$source/"
	else
		fetch_tarball metis $metis_tarball $metis_sha256 METIS_SRC METIS
		unpack_tarball $metis_tarball "$source"
	fi
	say "compiling METIS for $platform $arch"
	sed -i -e 's/^\(#define IDXTYPEWIDTH\).*/\1 32/' -e 's/^\(#define REALTYPEWIDTH\).*/\1 32/' "$source/include/metis.h"
	local -a flags
	mapfile -t flags < <(common_flags "$source")
	flags+=(-std=gnu99 -fno-strict-aliasing -DUSE_GKRAND -DNDEBUG2 -D_FILE_OFFSET_BITS=64)
	flags+=(-I "$here/metis" -I include -I GKlib -I libmetis)
	local unused=getopt.c
	if [ "$platform" = windows ]; then
		# mingw has neither regex.h nor sys/resource.h; METIS uses nothing of the latter.
		mkdir -p "$source/windows/sys"
		: >"$source/windows/sys/resource.h"
		flags+=(-DUSE_GKREGEX -I windows)
	else
		flags+=(-DLINUX -DHAVE_GETLINE)
		unused="$unused|gkregex.c"
	fi
	cd "$source"
	local -a sources
	mapfile -t sources < <(printf '%s\n' GKlib/*.c libmetis/*.c | grep -v -E "/($unused)\$")
	compile_library libmetis "$cc" "${flags[@]}" -- "${sources[@]}"
	mkdir -p "$work/out/include/metis"
	cp include/metis.h "$work/out/include/metis/"
}

build_opcode() {
	local source=$work/ode
	if [ -n "${OPCODE_SRC:-}" ]; then
		mkdir -p "$source"
		cp -RL "$OPCODE_SRC/OPCODE" "$OPCODE_SRC/include" "$OPCODE_SRC/ou" "$source/"
	else
		fetch_tarball ode $ode_tarball $ode_sha256 OPCODE_SRC Opcode
		unpack_tarball $ode_tarball "$source"
	fi
	say "compiling Opcode for $platform $arch"
	cd "$source"
	local -a flags
	mapfile -t flags < <(common_flags "$source")
	flags+=(-fno-exceptions -fno-rtti -fno-strict-aliasing -I OPCODE -I include -I ou/include)
	compile_library libopcode "$cxx" "${flags[@]}" -- OPCODE/*.cpp OPCODE/Ice/*.cpp
	mkdir -p "$work/out/include/opcode"
	cp -R OPCODE include/ode ou/include/ou "$work/out/include/opcode/"
	find "$work/out/include" -type f ! -name '*.h' -delete
}

main() {
	choose_compiler
	require_source_folder METIS_SRC "METIS 5.1.0" include/metis.h GKlib/GKlib.h libmetis
	require_source_folder OPCODE_SRC "ODE 0.16" OPCODE/Opcode.h include/ode ou/include
	cache=$(cache_folder)
	local installed
	installed=$cache/dependencies/$platform.$arch${instrument:+.$instrument}.$(recipe_id)
	if [ ! -d "$installed" ]; then
		lock_cache "$cache"
	fi
	# Another run may have finished it while we waited for the lock.
	if [ ! -d "$installed" ]; then
		make_work_folder "$cache"
		mkdir -p "$work/out/lib" "$cache/dependencies"
		build_metis
		build_opcode
		mv -T "$work/out" "$installed"
	fi
	printf '%s\n' "$installed"
}

main
