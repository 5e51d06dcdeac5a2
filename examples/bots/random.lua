#!/usr/bin/env lua5.4
-- A bot without an SDK, from the specification alone: a random legal move, in any game. It needs lua-cjson.
-- `--seed N` makes it repeatable.

local json = require "cjson"

io.stdout:setvbuf "line" -- flushes every line
if arg[1] == "--seed" then math.randomseed(tonumber(arg[2])) end

local answers = {
  hello = function() return { type = "hello", protocol = 1, name = "lua", wants = { "legal" } } end,
  start = function(start) return { type = "ready", match = start.match, seat = start.seat } end,
  turn = function(turn)
    local move = turn.legal[math.random(#turn.legal)]
    return { type = "move", match = turn.match, seat = turn.seat, turn = turn.turn, move = move }
  end,
  error = function(error) io.stderr:write(json.encode(error), "\n") end,
  bye = function() os.exit(0) end,
}

for line in io.lines() do
  local message = json.decode(line)
  local answer = answers[message.type]
  local reply = answer and answer(message)
  if reply then print(json.encode(reply)) end
end
