// Shared by the pages of a run. Text is never markup.
"use strict";
const $ = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A rating with its margin; the rating of an anchor is exact. */
function elo({ value, low, high }) {
  const margin = high === null || low === null ? "" : Math.round((high - low) / 2);
  return margin === 0 ? `${Math.round(value)} (fixed)` : `${Math.round(value)} ± ${margin === "" ? "?" : margin}`;
}

/** A link to the page of a player of a ladder. */
const playerLink = (name) => element("a", { href: `/players/${encodeURIComponent(name)}` }, name);
