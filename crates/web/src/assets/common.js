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

function drawing(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The time until a moment, in ms, in words. */
function until(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000)), [days, hours, minutes] = [86400, 3600, 60].map((unit) => Math.floor(seconds / unit));
  if (days) return `${days} d ${hours % 24} h`;
  return [...hours ? [hours] : [], String(minutes % 60).padStart(2, "0"), String(seconds % 60).padStart(2, "0")].join(":");
}

/** What an event of the organiser does. */
const eventWords = {
  freeze: () => "Deadline: no sign-ups, new versions or submissions", thaw: () => "New versions and submissions are taken again",
  hide_standings: () => "The standings are hidden", show_standings: () => "The standings are shown",
  end_season: ({ season }) => `Season ${season} ends`, open: () => "Matches begin", close: () => "No match begins any more",
};
let ticking = 0;

/** Counts down to the next events of the organiser; `passed` is called when the time of the first one has come. */
function announceEvents(list, events, passed) {
  clearInterval(ticking);
  const lines = events.slice(0, 3).map((event) => {
    const left = element("b", { class: "num" }), when = `${event.at.slice(0, 16).replace("T", " ")} UTC`;
    return { at: Date.parse(event.at), left, node: element("li", {}, eventWords[event.what](event), event.ladder ? ` (${event.ladder})` : "", ", in ", left, element("span", { class: "small muted" }, ` ${when}`)) };
  });
  const tick = () => {
    for (const { at, left } of lines) left.textContent = until(at - Date.now());
    if (!lines.length || lines[0].at > Date.now() - 1500) return;
    clearInterval(ticking);
    passed();
  };
  list.hidden = !lines.length;
  list.replaceChildren(...lines.map(({ node }) => node));
  tick();
  if (lines.length) ticking = setInterval(tick, 1000);
}

/** Half of the width of the interval of a rating; 0 for an anchor, null without an interval. */
const margin = ({ low, high }) => (high === null || low === null ? null : Math.round((high - low) / 2));

/** A whole number as text, with the sign for minus. */
const whole = (value) => String(Math.round(value)).replace("-", "−");

/** A rating with its margin; the rating of an anchor is fixed. */
function elo(rating) {
  const of = margin(rating), small = of === 0 ? "fixed" : `± ${of ?? "?"}`;
  return [`${whole(rating.value)} `, element("span", { class: "muted small" }, small)];
}

/** Wins, draws and losses as a bar. */
function bar({ wins, draws, losses }) {
  const all = Math.max(1, wins + draws + losses), share = (count) => `${(100 * count / all).toFixed(1)}%`;
  const made = drawing("svg", { class: "wdl", role: "img", "aria-label": `${wins} won, ${draws} drawn, ${losses} lost` });
  if (wins + draws + losses) made.append(drawing("rect", { class: "d", width: share(wins + draws), height: 8 }), drawing("rect", { class: "w", width: share(wins), height: 8 }));
  else made.append(drawing("rect", { class: "none", width: "100%", height: 8 }));
  return made;
}

/** The scale of the intervals of these ratings. Those that are fixed do not count. */
function scaleOf(ratings) {
  const known = ratings.filter(({ low, high }) => low !== null && high !== null && low < high);
  if (!known.length) return [-100, 100];
  return [Math.min(...known.map(({ low }) => low)), Math.max(...known.map(({ high }) => high))];
}

/** An interval on a scale. */
function interval({ value, low, high }, [least, most]) {
  const at = (x) => `${Math.max(2, Math.min(98, 2 + 96 * (x - least) / Math.max(1, most - least))).toFixed(1)}%`;
  const label = low === null || high === null ? "unbounded" : `${whole(low)} to ${whole(high)}`;
  const made = drawing("svg", { class: "iv", role: "img", "aria-label": label });
  made.append(drawing("line", { class: "rail", x1: 0, x2: "100%", y1: 8, y2: 8 }));
  made.append(drawing("line", { class: "span", x1: at(low ?? least), x2: at(high ?? most), y1: 8, y2: 8 }));
  made.append(drawing("circle", { cx: at(value), cy: 8, r: 4 }));
  return made;
}

/** The last results as letters. */
function form(letters) {
  const words = { W: "won", D: "drawn", L: "lost" };
  return element("span", { class: "form" }, ...[...letters].map((letter) =>
    element("i", { class: letter, role: "img", "aria-label": words[letter] }, letter)));
}

/** Points with halves as a fraction. */
const halves = (points) => (Math.abs(points % 1) === 0.5 ? `${Math.abs(points) > 1 ? Math.trunc(points) : ""}½` : String(+points.toFixed(2)));

/** What people see of what has a name. */
const shownName = ({ name, display_name: display }) => display ?? name;

/** A name with its version less prominent. */
function versioned(shown) {
  const at = shown.lastIndexOf("@");
  return at < 1 ? [shown] : [shown.slice(0, at), element("span", { class: "v" }, shown.slice(at))];
}

/** A link to the page of a player of a ladder. */
const playerLink = (player) => element("a", { href: `${root}players/${encodeURIComponent(player.name)}` }, ...versioned(shownName(player)));

const matchLink = (id, text = id) => element("a", { href: `${root}matches/${encodeURIComponent(id)}` }, text);

/** That a ruling replaces the result of a match. */
const ruled = ({ id, outcome }) => `${outcome} by ruling ${id}`;

/** A time to the minute, in UTC. */
const minute = (at) => at.slice(0, 16).replace("T", " ");

/** A place as an ordinal number. */
function ordinal(place) {
  const ending = place % 100 > 10 && place % 100 < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[place % 10] ?? "th";
  return `${place}${ending}`;
}

/** A sign that a player is online, to the right of what stands before it. */
const onlineDot = () => element("span", { class: "online", role: "img", "aria-label": "online", title: "online" });

/** Why a player is not paired, in words. */
const stateWords = (state) => {
  const until = /^excluded until (.*)$/.exec(state)?.[1];
  return until ? `excluded for its faults until ${minute(until)} UTC` : state;
};

/** What is to be said of a player of a ladder, and whether it can play. */
function presence({ state, matches, faulted, online }) {
  if (state) return [stateWords(state), false];
  if (!matches && faulted) return ["failed so far", false];
  if (!matches) return online ? ["ready, no match yet", true] : ["has not played yet", false];
  return online ? ["online", true] : ["", false];
}

/** The sides of a match: teams by their names. */
function sides(seats) {
  const teams = new Map();
  for (const { name, team, entrant, display_name: display } of seats) {
    const names = teams.get(team) ?? teams.set(team, new Set()).get(team);
    names.add(display ?? entrant ?? name);
  }
  return [...teams.values()].map((names) => [...names].join(" + "));
}

/** The tables of what bots reported of their answers, and what these cost. */
const reportedTables = (tables) => tables.map(({ title, headings, rows, note }) => {
  const id = `${title.toLowerCase()}-title`;
  const cell = (text, n) => element("td", n ? { class: "num", "data-l": headings[n] } : { class: "name" }, text);
  return element("section", { "aria-labelledby": id }, element("div", { class: "head" }, element("h2", { id }, title)),
    element("table", { class: "cards no" },
      element("thead", {}, element("tr", {}, ...headings.map((heading, n) => element("th", n ? {} : { class: "t" }, heading)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))),
    element("p", { class: "note" }, note));
});

/** Whether a button of the pointer is down. */
let isPressed = false;
/** What waits until it is not. */
let whenReleased = [];
addEventListener("pointerdown", () => { isPressed = true; });
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => {
    isPressed = false;
    // After the click.
    setTimeout(() => {
      if (isPressed) return;
      const waiting = whenReleased;
      whenReleased = [];
      for (const goOn of waiting) goOn();
    });
  });
}

/** Resolves once no button of the pointer is down. A page changes only then: what moves or is replaced meanwhile loses the click. */
const released = () => (isPressed ? new Promise((goOn) => whenReleased.push(goOn)) : Promise.resolve());

/** Replaces what an element contains. A link or button in it that has the keyboard's focus keeps it, if it is still there. */
function refill(parent, ...children) {
  const held = parent.contains(document.activeElement) ? document.activeElement : null;
  parent.replaceChildren(...children);
  const sign = (of) => of.getAttribute("href") ?? of.textContent;
  if (held) [...parent.querySelectorAll(held.localName)].find((other) => sign(other) === sign(held))?.focus({ preventScroll: true });
}

/** The time until a server that does not answer is called lost, in milliseconds. */
const PATIENCE = 3000;
let losing = null;

/** Notes whether the server answers, and says so if it does not for a while. What is shown stays. */
function hearing(does) {
  if (does) {
    clearTimeout(losing);
    losing = null;
    return $("lost")?.remove();
  }
  losing ??= setTimeout(() => {
    $("main").prepend(element("p", { class: "notice warn", id: "lost", role: "alert" },
      "The server does not answer. What is shown here may be out of date; this page tries again."));
  }, PATIENCE);
}

/** What the server has at this path, once the page may change. */
async function getJson(path, options) {
  const answer = await (await fetch(path, options)).json();
  await released();
  return answer;
}
