#!/usr/bin/env node
// Plays checkers with the alpha-beta search of rapid-draughts.
//
// npm install bots/javascript rapid-draughts
// referee play checkers 'node examples/engines/rapid_draughts.mjs --depth 4' 'python3 bots/python/random_bot.py' -n 20

import { parseArgs } from "node:util";
import { EnglishDraughts, EnglishDraughtsBitSquare, EnglishDraughtsComputerFactory } from "rapid-draughts/english";
import { options, run } from "referee-bot";

const { values } = parseArgs({ options: { ...options, depth: { type: "string", default: "4" } } });
const computer = EnglishDraughtsComputerFactory.alphaBeta({ maxDepth: Number(values.depth) });

/** The bit of each square on rapid-draughts' rotated board. Its squares from 0 are those of a view from 1. */
const BITS = [];
for (const bit of Object.values(EnglishDraughtsBitSquare)) {
  const { board } = EnglishDraughts.setup({ board: { dark: bit, light: 0, king: 0 } });
  BITS[board.find((square) => square.piece).position] = bit;
}

function position({ board, to_move: [seat] }) {
  const bits = (letters) => [...board].reduce((bits, letter, i) => (letters.includes(letter) ? bits | BITS[i] : bits), 0);
  return EnglishDraughts.setup({
    player: seat === 0 ? "dark" : "light",
    board: { dark: bits("bB"), light: bits("wW"), king: bits("BW") },
  });
}

/** What rapid-draughts knows of a move of the referee: the first and the last square, and the captured pieces. */
function summary(move) {
  const path = move.split(/[-x]/).map((square) => square - 1);
  const place = (square) => [square >> 2, ((square & 3) << 1) + ((square >> 2) % 2 ? 0 : 1)];
  const jumped = path.slice(1).map((to, i) => {
    const [[row, column], [toRow, toColumn]] = [place(path[i]), place(to)];
    return (((row + toRow) / 2) << 2) + (((column + toColumn) / 2) >> 1);
  });
  return key({ origin: path[0], destination: path.at(-1), captures: move.includes("x") ? jumped : [] });
}

const key = ({ origin, destination, captures }) => `${[origin, destination]}:${[...captures].sort((a, b) => a - b)}`;

async function choose(turn) {
  const game = position(turn.view);
  const moves = new Map(turn.legal.map((move) => [summary(move), move]));
  const known = new Set(game.moves.map(key));
  if (moves.size !== known.size || [...moves.keys()].some((move) => !known.has(move))) {
    throw new Error(`the rules differ in ${turn.view.fen}: ${[...known].join(" ")}, not ${turn.legal}`);
  }
  return moves.get(key(await computer(game)));
}

run(choose, { name: "rapid-draughts", games: ["checkers"], wants: ["view", "legal"] });
