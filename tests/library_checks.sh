# shellcheck shell=bash
# What the checks of libraries have in common; sourced by them.
passed=0
failed=0

# verdict SENTENCE OFFENCE: the sentence holds when there is no offence.
verdict() {
	local sentence=$1 offence=$2
	if [ -z "$offence" ]; then
		passed=$((passed + 1))
		printf 'ok %s\n' "$sentence"
	else
		failed=$((failed + 1))
		printf 'FAIL %s: %s\n' "$sentence" "$offence"
	fi
}

# Reads a library's symbol table: functions of GKlib's getopt.c and gkregex.c, which are under the LGPL, in one line.
lesser_functions() {
	awk '{ print $NF }' | grep -E '^_?(gk_getopt|regcomp|regexec|re_search|re_compile)' | head -n 3 | tr '\n' ' ' || true
}
