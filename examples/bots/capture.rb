#!/usr/bin/env ruby
# frozen_string_literal: true

# A bot without an SDK, from the specification alone, in any game. It prefers moves that capture in checkers, and leads
# the rest to chance. `--seed N` makes it repeatable.

require "json"

$stdout.sync = true # flushes every line

seed = ARGV[ARGV.index("--seed") + 1].to_i if ARGV.include?("--seed")
RANDOM = Random.new(seed || Random.new_seed)

def choose(turn, game)
  moves = turn["legal"]
  if game == "checkers"
    longest = moves.map { |move| move.count("x") }.max
    moves = moves.select { |move| move.count("x") == longest }
  end
  moves.sample(random: RANDOM)
end

games = {} # match to game
$stdin.each_line do |line|
  message = JSON.parse(line)
  answer =
    case message["type"]
    when "hello" then { type: "hello", protocol: 1, name: "ruby", version: "0.1.0" }
    when "start"
      games[message["match"]] = message["game"]
      { type: "ready", **message.slice("match", "seat") }
    when "turn"
      { type: "move", **message.slice("match", "seat", "turn"), move: choose(message, games[message["match"]]) }
    when "end" then games.delete(message["match"]) && nil
    when "error" then warn(line)
    when "bye" then break
    end
  puts JSON.generate(answer) if answer
end
