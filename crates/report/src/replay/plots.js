// Draws the plots below a match: thinking times, lag, and what bots expected.

/** The time that each seat has used. */
let used = [];

/** A plot over the steps: a figure with a drawing that stretches. `marks` are the texts of the scale from top to bottom. */
function plot(title, key, marks, shapes, isLow) {
  const count = Math.max(1, replay.steps.length - 1), x = (step) => (1000 * step / count).toFixed(1);
  const figure = element("figure", { class: "plot" }), caption = element("figcaption");
  caption.append(element("b", {}, title), key);
  const area = element("div", { class: isLow ? "area low" : "area" }), scale = element("div", { class: "y" });
  scale.append(...marks.map((mark) => element("span", {}, mark)));
  const drawing = shape("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": title });
  drawing.append(shape("path", { class: "grid", d: "M0 0h1000M0 50h1000M0 100h1000" }), ...shapes(x));
  if (replay.moment) drawing.append(shape("line", { class: "key", x1: x(replay.moment.step), x2: x(replay.moment.step), y1: 0, y2: 100 }));
  drawing.append(shape("line", { class: "now", y1: 0, y2: 100 }));
  const foot = element("div", { class: "x" });
  foot.append(...["0", String(Math.round(count / 2)), `${count} steps`].map((text) => element("span", {}, text)));
  area.append(scale, drawing, foot);
  figure.append(caption, area);
  return figure;
}

/** The sides with their lines. */
function keyOf(sides, told = sideName) {
  const key = element("span", { class: "keys" });
  for (const side of sides) {
    const item = element("span"), sample = shape("svg", { viewBox: "0 0 22 6", "aria-hidden": "true" });
    sample.append(shape("path", { class: `l${1 + side % 6}`, d: "M0 3h22", fill: "none" }));
    item.append(sample, told(side));
    key.append(item);
  }
  return key;
}

const sideName = (side) => [...new Set(replay.seats.filter(({ team }) => team === side).map(({ name }) => name))].join(" + ");

/** Scores, thinking times and the lag of the referee over the match. Matches in progress have none. */
function drawPlots() {
  const { steps, seats } = replay, plots = [], sides = [...new Set(seats.map(({ team }) => team))];
  used = seats.map(() => ({ ms: 0, count: 0 }));
  let slowest = 0, lag = 0, answers = 0;
  for (const step of steps) {
    for (const [seat, ms, delay] of step.k || []) {
      used[seat].ms += ms;
      used[seat].count++;
      answers++;
      slowest = Math.max(slowest, ms);
      lag = Math.max(lag, delay || 0);
    }
  }
  const scored = seats.map((_, seat) => steps.flatMap(({ e }, i) =>
    (e || []).filter(([of]) => of === seat).map(([, points]) => [i, points / 1000])));
  if (scored.some((points) => points.length > 1)) {
    const own = ([i, points], side) => [i, sides.length === 2 && side === sides[1] ? 1 - points : points];
    const title = sides.length === 2 ? `Expected points of ${sideName(sides[0])}, as each bot sees it` : "Expected points of each side";
    const drawn = sides.filter((side) => seats.some(({ team }, seat) => team === side && scored[seat].length > 1));
    plots.push(plot(title, keyOf(drawn), ["1", "½", "0"], (x) => scored.map((points, seat) => shape("polyline", {
      class: `l${1 + seats[seat].team % 6}`,
      points: points.map((point) => own(point, seats[seat].team)).map(([i, value]) => `${x(i)},${(100 - 100 * value).toFixed(1)}`).join(" "),
    }))));
  }
  if (answers) {
    const top = slowest || 1, isUp = (side) => side === sides[0], thickness = Math.max(2, Math.min(8, 600 / steps.length));
    const bars = (x) => seats.map((_, seat) => shape("path", {
      class: `f${isUp(seats[seat].team) ? 1 : 2}`,
      d: steps.flatMap(({ k }, i) => (k || []).filter(([of]) => of === seat).map(([, ms]) => {
        const height = 50 * ms / top, left = Math.min(x(i), 1000 - thickness);
        return `M${left} 50h${thickness}v${(isUp(seats[seat].team) ? -height : height).toFixed(1)}h-${thickness}z`;
      })).join(""),
    }));
    const key = keyOf(sides.slice(0, 2), (side) => (isUp(side) ? `${sideName(side)}, up` : `${sides.length > 2 ? "others" : sideName(side)}, down`));
    plots.push(plot("Thinking time of a move", key, [clock(top), "0", clock(top)], bars));
    const most = lag || 1, line = steps.flatMap(({ k }, i) => (k || []).map(([, , delay]) => [i, delay || 0]));
    plots.push(plot("Lag of the referee", element("span", {}, `not charged to any clock; at most ${(lag / 10).toFixed(1)} ms`),
      [`${(most / 10).toFixed(1)} ms`, "", "0"], (x) => [shape("polyline", {
        class: "l1", points: line.map(([i, delay]) => `${x(i)},${(100 - 100 * delay / most).toFixed(1)}`).join(" "),
      })], true));
  }
  const note = replay.moment ? "Dashes: the decisive moment. Solid line: the position on the board." : "Solid line: the position on the board.";
  $("plots").replaceChildren(...plots, element("p", { class: "note" }, note));
  $("plots").hidden = plots.length === 0;
}

