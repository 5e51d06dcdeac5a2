// Games with the SDK: their answers, and their processes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BadView, Program, ranks, Step } from "../src/game.js";

const GAME = new URL("../src/game.js", import.meta.url);
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const SPECIFICATION = readFileSync(new URL("../../../protocol/spec/games.md", import.meta.url), "utf8");

/** Runs the code of a game with these requests. */
function runs(code, ...requests) {
  const program = code.replace("referee-bot/game", GAME.href);
  const input = requests.map((request) => JSON.stringify(request) + "\n").join("");
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { input, encoding: "utf8" });
  return { status, stderr, answers: stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line)) };
}

const NIM = README.split("```js\n").map((rest) => rest.split("```")[0]).find((code) => code.includes("referee-bot/game"));
const START = { type: "start", options: { sticks: 7 }, seats: 2, sides: 2 };

test("the game of the README is played to its end", () => {
  const play = (sticks, seat, move) => ({ type: "play", state: { sticks, seat }, moves: [{ seat, move }] });
  const { status, answers } = runs(NIM, START, play(7, 0, "3"), play(4, 1, "2"), play(2, 0, "2"), { type: "show", state: { sticks: 2, seat: 0 }, viewer: "all" });
  assert.equal(status, 0);
  const state = (sticks, seat, legal) => ({
    state: { sticks, seat },
    turn: { decide: [{ seat, legal, view: { sticks } }] },
  });
  assert.deepEqual(answers, [
    state(7, 0, ["1", "2", "3"]),
    state(4, 1, ["1", "2", "3"]),
    state(2, 0, ["1", "2"]),
    { state: { sticks: 0, seat: 1 }, turn: { over: { ranks: [1, 2], reason: "last_stick" } } },
    { view: { sticks: 2 }, text: "||" },
  ]);
});

test("only the first position says what a side can get", () => {
  const game = { start: () => 0, turn: () => ({ over: { ranks: [1, 2], amounts: [3, -3], reason: "paid" } }), play: (state) => state, view: () => ({}) };
  const program = new Program({ ...game, amounts: ({ stack }, seats) => ({ least: -stack, most: stack * (seats - 1) }) });
  const start = program.answer({ ...START, options: { stack: 3 } });
  assert.deepEqual(start.amounts, { least: -3, most: 3 });
  assert.deepEqual(start.turn.over.amounts, [3, -3]);
  assert.equal(program.answer({ type: "play", state: 0, moves: [] }).amounts, undefined);
  assert.equal(new Program(game).answer(START).amounts, undefined);
});

test("a match is written in a notation", () => {
  const program = new Program({ export: (form, { moves }) => `${form}: ${moves.map(({ move }) => move).join(" ")}\n` });
  assert.deepEqual(program.answer({ type: "export", form: "text", moves: [{ seat: 0, move: "a" }] }), { text: "text: a\n" });
});

test("options are refused with the reason", () => {
  const { answers } = runs(NIM, { ...START, options: { sticks: 0 } });
  assert.deepEqual(answers, [{ bad_options: "sticks: 0; expected 1 to 100" }]);
});

/** Connect Four, as far as the examples of the specification need it. */
const CONNECT_FOUR = {
  start: ({ columns, rows }) => ({ columns: Array(columns).fill(""), rows }),
  turn({ columns, rows }) {
    const seat = columns.join("").length % 2;
    if (columns.includes("rrrr")) return { over: { ranks: [1, 2], reason: "four" } };
    const legal = columns.flatMap((discs, x) => (discs.length < rows ? [String.fromCharCode(97 + x)] : []));
    return { decide: [{ seat, legal }] };
  },
  play(state, [{ seat, move }]) {
    state.columns[move.charCodeAt(0) - 97] += "ry"[seat];
    return state;
  },
  view: (state) => state,
  turnsLeft: ({ columns, rows }) => columns.length * rows - columns.join("").length,
};

test("it gives the answers of the specification", () => {
  // The other examples are of other games.
  const isOther = (line) => /^\{"type":"(check|export)"/.test(line);
  const lines = SPECIFICATION.split("\n").filter((line) => /^\{"(type|state)":/.test(line) && !isOther(line)).map((line) => JSON.parse(line));
  assert.ok(lines.length >= 4);
  const program = new Program(CONNECT_FOUR);
  for (let i = 0; i < lines.length; i += 2) assert.deepEqual(JSON.parse(JSON.stringify(program.answer(lines[i]))), lines[i + 1]);
});

test("events, draws and simultaneous decisions keep the form of the specification", () => {
  const events = [{ all: { kind: "dealt", card: 3 }, public: { kind: "dealt" }, seats: { 1: { kind: "dealt", card: 3 } } }];
  const turns = { draw: { draw: { pick: 52 } }, both: { decide: [{ seat: 0, legal: ["a"], secret: true }, { seat: 1, legal: ["b"] }] } };
  const program = new Program({
    start: ({ next }) => next,
    turn: (state) => turns[state],
    settle: (state, [card]) => new Step(card === 3 ? "both" : state, events),
    view: (state, viewer) => ({ state, viewer }),
  });
  assert.deepEqual(program.answer({ type: "start", options: { next: "draw" }, seats: 2 }).turn, turns.draw);
  const { turn, events: sent } = program.answer({ type: "settle", state: "draw", drawn: [3] });
  assert.deepEqual(sent, events);
  assert.deepEqual(turn.decide[0], { seat: 0, legal: ["a"], secret: true, view: { state: "both", viewer: 0 } });
  assert.deepEqual(turn.decide[1], { seat: 1, legal: ["b"], view: { state: "both", viewer: 1 } });
});

test("positions are imagined with the random numbers of the request", () => {
  const program = new Program({
    turn: () => ({ decide: [{ seat: 0, legal: ["a"] }] }),
    view: (state) => state,
    imagine({ view, pick }) {
      if (!view.cards) throw new BadView("cards: missing");
      return { cards: Array.from({ length: view.cards }, () => pick(6)) };
    },
  });
  const random = (first) => [first, ...Array.from({ length: 63 }, (_, i) => 1000003 * i)];
  const imagine = (first, view) => program.answer({ type: "imagine", options: {}, seats: 2, seat: 0, view, random: random(first) });
  const [one, same, other] = [5, 5, 6].map((first) => imagine(first, { cards: 600 }).state.cards);
  assert.deepEqual(one, same);
  assert.notDeepEqual(one, other);
  for (let face = 0; face < 6; face++) {
    const count = one.filter((card) => card === face).length;
    assert.ok(count > 60 && count < 140, `${count} of ${face}`);
  }
  assert.deepEqual(imagine(5, {}), { bad_view: "cards: missing" });
});

test("ranks count the better sides", () => {
  assert.deepEqual(ranks([3, 7, 3, 1]), [2, 1, 2, 4]);
  assert.deepEqual(ranks([0, 0]), [1, 1]);
});

test("states are unpacked only if they are not kept", () => {
  let unpacked = 0;
  const game = {
    start: () => [0],
    turn: (state) => ({ decide: [{ seat: state.length % 2, legal: ["7"] }] }),
    play: (state, [{ move }]) => [...state, Number(move)],
    view: (state) => ({ length: state.length }),
    pack: (state) => state.join(),
    unpack: (packed) => (unpacked++, packed.split(",").map(Number)),
  };
  const program = new Program(game);
  let { state } = program.answer({ type: "start", options: {}, seats: 2 });
  for (let i = 0; i < 400; i++) ({ state } = program.answer({ type: "play", state, moves: [{ seat: 0, move: "7" }] }));
  assert.equal(unpacked, 0);
  const again = new Program(game).answer({ type: "show", state, viewer: "public" });
  assert.deepEqual([again.view, unpacked], [{ length: 401 }, 1]);
});

test("what a game prints does not reach the referee", () => {
  const loud = NIM.replace("play:", "turnsLeft: () => console.log('loud'),\n  play:");
  const { status, answers, stderr } = runs(loud, START);
  assert.deepEqual([status, answers.length], [0, 1], stderr);
  assert.match(stderr, /loud/);
});

test("an exception ends the process with its stack trace", () => {
  const { status, answers, stderr } = runs(NIM.replace("play:", "other:"), START, { type: "play", state: START.options, moves: [] });
  assert.deepEqual([status, answers.length], [1, 1]);
  assert.match(stderr, /TypeError: .*play is not a function/);
  assert.throws(() => new Program({ start: () => {} }).answer(START), /start returned undefined; expected a state/);
  assert.throws(() => new Program({}).answer({ type: "ask" }), /unknown request `ask`/);
});
