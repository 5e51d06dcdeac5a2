// Draws the parts of shapes. It knows no rules.
"use strict";
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** The width of the label of a seat without a plate, in widths of an em: a little less than that of a seat with a partner, `seat 0 + 2`, so that badges keep their distance. */
const LABEL = 5;
/** Measures texts in the font of boards. */
const pen = document.createElement("canvas").getContext("2d");

/** A label on a board of this size: that of a seat, or of a seat and its partners, is the name of its bot, cut to its width. More words may follow. */
function labelled(text, size, seats, plate) {
  const [, seat, more = ""] = /^seat (\d+)(?: \+ \d+)*( .*)?$/.exec(text) ?? [], name = seat && seats[seat]?.name;
  if (!name) return text;
  pen.font = `600 ${size}px system-ui, sans-serif`;
  const width = (words) => pen.measureText(words).width, room = plate === undefined ? LABEL * size : plate - width(more);
  const fits = (shown) => width(shown) <= room, letters = [...name];
  if (fits(name)) return name + more;
  while (letters.length > 1 && !fits(`${letters.join("")}…`)) letters.pop();
  return `${letters.join("").trimEnd()}…${more}`;
}

/** The parts of a shape. `seats` have the names of bots. A rectangle directly below a text is its plate, which it does not exceed. */
function parts(look, seats) {
  return look.map((of, n) => {
    const [form, , , , , width] = look[n - 1] ?? [];
    return part(of, seats, form === "r" ? width - of[5] : undefined);
  });
}

function part([form, kind, width, a, b, c, d, e], seats, plate) {
  const common = width ? { class: kind, "stroke-width": width } : { class: kind };
  switch (form) {
    case "r": return shape("rect", { ...common, x: a, y: b, width: c, height: d, rx: e });
    case "d": return shape("circle", { ...common, cx: a, cy: b, r: c });
    case "p": return shape("polygon", { ...common, points: a });
    default: {
      const text = shape("text", { ...common, x: a, y: b, "font-size": c });
      text.textContent = labelled(d, c, seats, plate);
      return text;
    }
  }
}
