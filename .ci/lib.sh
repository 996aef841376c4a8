# Helpers shared by the set-up scripts in this folder. Sourced, never run.
# shellcheck shell=bash

# Progress goes to stderr: stdout belongs to the result (a path) of the calling script.
say() {
	printf 'fem_destruction: %s\n' "$*" >&2
}

die() {
	printf 'fem_destruction: error: %s\n' "$*" >&2
	exit 1
}

cache_folder() {
	local base=${XDG_CACHE_HOME:-}
	if [ -z "$base" ]; then
		[ -n "${HOME:-}" ] || die "neither HOME nor XDG_CACHE_HOME is set, so there is no place to keep downloads: set XDG_CACHE_HOME to a folder you can write to."
		base=$HOME/.cache
	fi
	printf '%s/fem_destruction\n' "$base"
}

# Only one script at a time works in the cache. The lock is released when this shell ends.
lock_cache() {
	local cache=$1
	if ! { mkdir -p "$cache" && : >>"$cache/lock"; } 2>/dev/null; then
		die "the cache folder $cache cannot be written: set XDG_CACHE_HOME to a folder you can write to."
	fi
	exec 9>"$cache/lock"
	if ! flock --nonblock 9; then
		say "waiting for another build that is using $cache"
		flock 9
	fi
}

# A scratch folder inside the cache (so that renaming out of it is atomic), removed when the script ends. Whoever calls
# this holds the lock, so any older one was left by a run that was killed.
work=
make_work_folder() {
	local cache=$1
	rm -rf "$cache"/work.*
	work=$(mktemp -d "$cache/work.XXXXXXXX") || die "no folder could be made in $cache: free some disk space."
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# Run a command quietly: its output is shown only when it fails.
run_quietly() {
	local log=$1
	shift
	if ! "$@" >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		return 1
	fi
}

# The address of the Debian archive this machine itself uses, from either format of apt sources
# (one-line .list files and deb822 .sources files). Third-party and security archives are passed over by suite.
debian_archive_address() {
	local file_list parts_folder
	eval "$(apt-config shell file_list Dir::Etc::sourcelist/f parts_folder Dir::Etc::sourceparts/d)"
	local -a lists=() stanzas=()
	local file
	for file in "${file_list:-}" "${parts_folder:-/nonexistent/}"*.list; do
		[ -f "$file" ] && lists+=("$file")
	done
	for file in "${parts_folder:-/nonexistent/}"*.sources; do
		[ -f "$file" ] && stanzas+=("$file")
	done
	{
		[ ${#lists[@]} -eq 0 ] || addresses_in_lists "${lists[@]}"
		[ ${#stanzas[@]} -eq 0 ] || addresses_in_stanzas "${stanzas[@]}"
	} | awk '
		$2 ~ /^(bookworm|trixie|forky|oldstable|stable|testing|unstable|sid)\/?$/ && $1 !~ /^cdrom:/ && !found {
			print $1; found = 1
		}'
}

# "deb [options] address suite components" -> "address suite"
addresses_in_lists() {
	sed -n 's/^[[:space:]]*deb[[:space:]]\+\(\[[^]]*\][[:space:]]*\)\?\([^[:space:]]\+\)[[:space:]]\+\([^[:space:]]\+\).*/\2 \3/p' "$@"
}

# deb822 paragraphs -> "address suite", one line for each pair
addresses_in_stanzas() {
	awk '
		function flush_stanza(    i, k, uri_list, suite_list, n, m) {
			if (types ~ /(^| )deb( |$)/ && enabled !~ /^(no|false|off|0)$/) {
				n = split(uris, uri_list, " "); m = split(suites, suite_list, " ")
				for (i = 1; i <= n; i++) for (k = 1; k <= m; k++) print uri_list[i], suite_list[k]
			}
			types = uris = suites = enabled = field = ""
		}
		FNR == 1 { flush_stanza() }
		/^#/ { next }
		/^[[:space:]]*$/ { flush_stanza(); next }
		/^[^[:space:]]/ { field = tolower($1); sub(/:.*/, "", field); sub(/^[^:]*:[[:space:]]*/, "") }
		{ gsub(/[[:space:]]+/, " ") }
		field == "types" { types = types " " $0 }
		field == "uris" { uris = uris " " $0 }
		field == "suites" { suites = suites " " $0 }
		field == "enabled" { enabled = tolower($1) }
		END { flush_stanza() }' "$@"
}

# Prepare an apt of our own in folder $1 that knows one suite ($3) as $2 = deb or deb-src, and nothing of what is
# installed here. It needs no root rights and leaves the machine's own apt state alone.
private_apt_prepare() {
	local folder=$1 type=$2 suite=$3 address keyring=/usr/share/keyrings/debian-archive-keyring.gpg options
	command -v apt-get >/dev/null || return 1
	address=$(debian_archive_address)
	[ -n "$address" ] || return 1
	# A mirror's copy of the testing suite may be some days past its validity date; the signature still counts.
	options="check-valid-until=no"
	[ ! -r "$keyring" ] || options="$options signed-by=$keyring"
	mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
	: >"$folder/status"
	printf '%s [%s] %s %s main\n' "$type" "$options" "$address" "$suite" >"$folder/sources.list"
}

private_apt() {
	local folder=$1
	shift
	LC_ALL=C apt-get \
		-o Dir::State="$folder/state" -o Dir::State::Lists="$folder/state/lists" \
		-o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
		-o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=- -o APT::Default-Release= \
		-o APT::Sandbox::User=root -o APT::Install-Recommends=false -o Acquire::Retries=2 \
		-o Acquire::Languages=none -o APT::Get::Assume-Yes=true -q "$@"
}

# The reason apt gave last, without its prefix, for use inside one of our own sentences.
apt_reason() {
	local reason
	reason=$(sed -n 's/^[EW]: //p' "$@" 2>/dev/null | grep -v 'Some index files failed\|Unable to fetch some' | head -n 1)
	printf '%s' "${reason:-apt-get gave no reason}" | sed 's/[[:space:].]*$//'
}
