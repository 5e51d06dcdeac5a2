// Draws the parts of shapes. It knows no rules.
"use strict";
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function part([form, kind, width, a, b, c, d, e]) {
  const common = width ? { class: kind, "stroke-width": width } : { class: kind };
  switch (form) {
    case "r": return shape("rect", { ...common, x: a, y: b, width: c, height: d, rx: e });
    case "d": return shape("circle", { ...common, cx: a, cy: b, r: c });
    case "p": return shape("polygon", { ...common, points: a });
    default: {
      const text = shape("text", { ...common, x: a, y: b, "font-size": c });
      text.textContent = d;
      return text;
    }
  }
}
