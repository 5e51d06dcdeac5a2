#!/usr/bin/env ruby
# frozen_string_literal: true

# A bot for any game of the referee.

require "json"

$stdout.sync = true

# Chooses a move: turn["view"] is the position, turn["legal"] lists the legal moves.
def choose(turn)
  turn["legal"].sample
end

$stdin.each_line do |line|
  message = JSON.parse(line)
  answer =
    case message["type"]
    when "hello" then { type: "hello", protocol: 1, name: "@NAME@" }
    when "start" then { type: "ready", **message.slice("match", "seat") }
    when "turn" then { type: "move", **message.slice("match", "seat", "turn"), move: choose(message) }
    when "error" then warn(line)
    when "bye" then break
    end
  puts JSON.generate(answer) if answer
end
