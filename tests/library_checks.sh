# shellcheck shell=bash
# What the checks of libraries have in common; sourced by them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/verdicts.sh"

# Reads a library's symbol table: functions of GKlib's getopt.c and gkregex.c, which are under the LGPL, in one line.
lesser_functions() {
	awk '{ print $NF }' | grep -E '^_?(gk_getopt|regcomp|regexec|re_search|re_compile)' | head -n 3 | tr '\n' ' ' || true
}
