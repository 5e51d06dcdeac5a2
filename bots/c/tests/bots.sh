#!/usr/bin/env bash
# What the shared vectors do not show, with the vector bot and the samples. Called by `make test`.
set -euo pipefail
build=$1
hello='{"type":"hello","protocol":1,"server":"fake","auth":"token"}'
start='{"type":"start","match":"m1","game":"checkers","rules":1,"seat":0,"seats":[],"clock":null}'
failed=0

expect() { # what, pattern, text
    grep -qE -- "$2" <<<"$3" && return
    printf '%s: %q is not in %q\n' "$1" "$2" "$3"
    failed=1
}

token=$(mktemp)
trap 'rm -f "$token"' EXIT
printf 'from a file\n' >"$token"
expect "the token is read from a file" '"token":"from a file"' \
    "$(REFEREE_TOKEN=other "$build/vector_bot" --token-file "$token" <<<"$hello")"

run() { # status, then the command; keeps stderr
    local expected=$1 status=0
    shift
    errors=$("$@" 2>&1 >/dev/null </dev/null) || status=$?
    [ "$status" = "$expected" ] || { echo "$*: status $status, not $expected"; failed=1; }
}
run 1 "$build/vector_bot" --name a/b
expect "a name that the protocol forbids is refused at once" "name 'a/b': must be" "$errors"
run 2 "$build/vector_bot" --connect localhost
expect "an address without a port is refused" "'localhost' is not HOST:PORT" "$errors"
run 2 "$build/vector_bot" --tls
expect "TLS is refused" "no TLS" "$errors"
run 2 "$build/vector_bot" --token-file /nowhere
expect "a token file that is not there is an error" "/nowhere: No such file" "$errors"
run 1 "$build/vector_bot" --connect 127.0.0.1:1
expect "a referee that is not there is an error" "Connection refused" "$errors"

# The man on 1 may take two, the one on 12 one.
view='{"to_move":[0],"board":"b....w.....b..ww................","fen":"","quiet_plies":0}'
turn='{"type":"turn","match":"m1","seat":0,"turn":0,"view":'$view',"legal":["12x19","1x10x19"],"clock":null}'
expect "two are better than one" '"move":"1x10x19"' "$(printf '%s\n' "$start" "$turn" | "$build/lookahead_bot" 2>/dev/null)"

# A referee that reads no more is no error.
printf '%s\n' "$hello" "$start" | { "$build/random_bot" || { echo "a referee that reads no more: status $?"; exit 1; }; } | true

[ $failed = 0 ] && echo "bots: all as they should"
exit $failed
