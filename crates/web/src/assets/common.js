// Shared by the pages of a run. Text is never markup.
"use strict";
/** The path to the start page. */
const root = document.documentElement.dataset.root;
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

/** A link to another ladder of the league: its URL if the league file has one, which a proxy may need, or its port here. */
const ladderLink = ({ name, port, url }) =>
  element("a", { href: url ?? `${location.protocol}//${location.hostname}:${port}/` }, name);

/** A link to the page of a player of a ladder. */
const playerLink = (name) => element("a", { href: `${root}players/${encodeURIComponent(name)}` }, name);
