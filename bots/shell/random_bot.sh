#!/bin/sh
# Plays a random legal move, in any game that lists its moves (it resigns in others), with nothing but a shell, jq and shuf.

refusal=''
while IFS= read -r line; do
    case $line in # the referee writes the type first
    '{"type":"hello",'*)
        printf '%s\n' "$line" | jq -c '{type: "hello", protocol: 1, name: "shell", wants: ["legal"]}
            + if .auth == "token" then {token: env.REFEREE_TOKEN} else {} end'
        ;;
    '{"type":"error",'*)
        [ "$refusal" = none ] || refusal=$line
        ;;
    '{"type":"start",'*)
        refusal=none
        printf '%s\n' "$line" | jq -c '{type: "ready", match, seat}'
        ;;
    '{"type":"turn",'*)
        printf '%s\n' "$line" | jq -c --argjson n "$(shuf -i 0-65535 -n 1)" \
            'if .legal then {type: "move", match, seat, turn, move: .legal[$n % (.legal | length)]}
             else {type: "resign", match, seat} end'
        ;;
    '{"type":"bye",'*) break ;;
    esac
done
if [ "${refusal:-none}" != none ]; then
    echo "the referee refused the bot: $refusal" >&2
    exit 1
fi
