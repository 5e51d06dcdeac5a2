#!/bin/sh
# A bot for any game of the referee: one program of jq.

seed=$(($(od -An -N3 -tu4 /dev/urandom) + 1))
exec jq -cn --unbuffered --argjson seed "$seed" '
  # Chooses a move: .view is the position, .legal lists the legal moves.
  def choose($random): .legal[$random % (.legal | length)];

  foreach inputs as $message ({random: $seed};
    .random = .random * 16807 % 2147483647;
    .random as $random | $message
    | if .type == "hello" then {type, protocol, name: "@NAME@"}
      elif .type == "start" then {type: "ready", match, seat}
      elif .type == "turn" then {type: "move", match, seat, turn, move: choose($random)}
      elif .type == "error" then (stderr | empty)
      else empty end)'
