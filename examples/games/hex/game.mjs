// The rules of Hex: see `rules.md`.

import { BadOptions, run } from "./referee_game.mjs";

const STONES = "rb";
const NAMES = ["red", "blue"];
/** The neighbours of a cell: columns to the right and rows down. */
const NEIGHBOURS = [[1, 0], [-1, 0], [0, -1], [1, -1], [0, 1], [-1, 1]];

const letter = (column) => String.fromCharCode(97 + column);

/** The rows with a stone in a cell. */
const placed = (rows, column, row, stone) =>
  rows.map((cells, at) => (at === row ? cells.slice(0, column) + stone + cells.slice(column + 1) : cells));

/** Whether a seat has a chain between its edges. */
function isConnected(rows, seat) {
  const last = rows.length - 1;
  const is = (column, row) => rows[row]?.[column] === STONES[seat];
  const stack = rows.map((_, at) => (seat === 0 ? [at, 0] : [0, at])).filter(([column, row]) => is(column, row));
  const seen = new Set(stack.map(String));
  while (stack.length > 0) {
    const [column, row] = stack.pop();
    if ((seat === 0 ? row : column) === last) return true;
    for (const [right, down] of NEIGHBOURS) {
      const next = [column + right, row + down];
      if (is(...next) && !seen.has(String(next))) {
        seen.add(String(next));
        stack.push(next);
      }
    }
  }
  return false;
}

function legal({ rows, moves, options }) {
  const cells = rows.flatMap((row, at) => [...row].flatMap((cell, column) => (cell === "." ? [`${letter(column)}${at + 1}`] : [])));
  return options.swap && moves === 1 ? [...cells, "swap"] : cells;
}

/** The seat whose last move has connected its edges. */
const winner = ({ rows, moves }) => (moves > 0 && isConnected(rows, (moves - 1) % 2) ? (moves - 1) % 2 : undefined);

function words(state) {
  const won = winner(state);
  return won === undefined ? `${NAMES[state.moves % 2]} to move` : `${NAMES[won]} wins`;
}

/** The shapes of a position on a board of about 1,600 by 1,000 units. */
function scene(state) {
  const { rows } = state;
  const size = rows.length;
  const across = Math.floor(1100 / (size + 1));
  const down = Math.round(across * 0.866);
  const radius = across / Math.sqrt(3);
  const x = (column, row) => Math.round(across * (1.2 + column + row / 2));
  const y = (row) => Math.round(across * 1.1 + down * row);
  const hexagon = (scale) =>
    [0, 1, 2, 3, 4, 5].map((corner) => {
      const angle = (Math.PI / 3) * corner + Math.PI / 6;
      return [Math.round(scale * radius * Math.cos(angle)), Math.round(scale * radius * Math.sin(angle))];
    });
  const shapes = [];
  const add = (id, layer, at, part) => shapes.push({ id, layer, at, parts: [part] });
  const text = (id, at, label) => add(id, "label", at, { form: "text", at: [0, 0], size: Math.round(across * 0.4), text: label, fill: "faint" });
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const [at, name] = [[x(column, row), y(row)], `${letter(column)}${row + 1}`];
      const edge = row % (size - 1) === 0 ? "red" : column % (size - 1) === 0 ? "blue" : undefined;
      if (edge) add(`edge ${name}`, "board", at, { form: "polygon", points: hexagon(1.18), fill: edge });
    }
  }
  rows.forEach((cells, row) => {
    [...cells].forEach((cell, column) => {
      const [at, name] = [[x(column, row), y(row)], `${letter(column)}${row + 1}`];
      add(`cell ${name}`, "board", at, { form: "polygon", points: hexagon(1), fill: "light", outline: { colour: "faint", width: 2 } });
      const colour = NAMES[STONES.indexOf(cell)];
      if (colour) add(`stone ${name}`, "piece", at, { form: "circle", at: [0, 0], radius: Math.round(across * 0.36), fill: colour });
    });
    text(`row ${row + 1}`, [x(-1, row), y(row)], `${row + 1}`);
    text(`column ${letter(row)}`, [x(row, -1), y(-1)], letter(row));
  });
  const [width, height] = [x(size, size - 1), y(size - 1) + across];
  // Where a person clicks to put a stone.
  const places = Object.fromEntries(legal(state).filter((move) => move !== "swap").map((move) => [move, [`cell ${move}`]]));
  return { width, height, seats: NAMES, shapes, words: [words(state)], places };
}

run({
  start(options) {
    const { size } = options;
    if (!Number.isInteger(size) || size < 2 || size > 19) throw new BadOptions(`size: ${size}; expected 2 to 19`);
    return { rows: Array(size).fill(".".repeat(size)), moves: 0, swapped: false, options };
  },
  turn(state) {
    const won = winner(state);
    if (won !== undefined) return { over: { ranks: won === 0 ? [1, 2] : [2, 1], reason: "connected" } };
    return { decide: [{ seat: state.moves % 2, legal: legal(state) }] };
  },
  play({ rows, moves, swapped, options }, [{ seat, move }]) {
    if (move !== "swap") {
      const [column, row] = [move.charCodeAt(0) - 97, Number(move.slice(1)) - 1];
      return { rows: placed(rows, column, row, STONES[seat]), moves: moves + 1, swapped, options };
    }
    const row = rows.findIndex((cells) => cells.includes("r"));
    const column = rows[row].indexOf("r");
    const empty = placed(rows, column, row, ".");
    return { rows: placed(empty, row, column, "b"), moves: moves + 1, swapped: true, options };
  },
  view: ({ rows, swapped }) => ({ rows, swap: swapped }),
  imagine({ view: { rows, swap }, options }) {
    const stones = rows.join("").replaceAll(".", "").length;
    return { rows, moves: stones + (swap ? 1 : 0), swapped: swap, options };
  },
  text(state) {
    const { rows } = state;
    const letters = ` ${rows.map((_, column) => ` ${letter(column)}`).join("")}`;
    const lines = rows.map((row, at) => " ".repeat(at) + `${at + 1}`.padStart(2) + " " + [...row].join(" "));
    return [` ${letters}`, ...lines, words(state)].join("\n") + "\n";
  },
  scene,
});
