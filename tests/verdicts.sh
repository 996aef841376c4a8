# shellcheck shell=bash
# How the checks of texts and libraries say what they found; sourced by them.
passed=0
failed=0

# verdict SENTENCE OFFENCES: the sentence holds when there are no offences. The first twenty are shown.
verdict() {
	local sentence=$1 offences=$2
	if [ -z "$offences" ]; then
		passed=$((passed + 1))
		printf 'ok %s\n' "$sentence"
	else
		failed=$((failed + 1))
		printf 'FAIL %s\n' "$sentence"
		head -n 20 <<<"$offences" | sed 's/^/    /'
	fi
}
