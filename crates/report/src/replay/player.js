// Plays matches: those in the page, or those that another script passes to `start`. It draws shapes and moves them; it
// knows no rules.
const $ = (id) => document.getElementById(id);
const LAYERS = 4;
/** The states of a view are kept at every so many steps, so that going back is fast. */
const KEPT = 64;
/** The tones that name a side. */
const COLOURS = ["white", "black", "red", "orange", "yellow", "green", "blue", "purple", "gold"];
/** Boards with more things than these are larger. */
const MANY = 125;

let data, replay, view, at = 0, isFlipped = false, timer = 0;
/** What another script does when the board has changed. */
let onShown = () => {};
let state, newest, states = [], faults = [], shown = new Map(), layers = [];

/** An element with these attributes. Text is never markup. */
function element(name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The form of a part, larger by this much, for a mark. */
function outline([form, , , a, b, c, d, e], by, kind, width) {
  switch (form) {
    case "r": return [["r", kind, width, a - by, b - by, c + 2 * by, d + 2 * by, e + by]];
    case "d": return [["d", kind, width, a, b, c + by]];
    default: return [];
  }
}

const sees = (mask) => (mask >>> view) & 1;

/** The things and the words of a step, as the view shows them. */
function stateAt(step) {
  const kept = Math.floor(step / KEPT);
  const found = { things: new Map(states[kept].things), words: [...states[kept].words] };
  for (let i = kept * KEPT + 1; i <= step; i++) advance(found, replay.steps[i]);
  return found;
}

/** Makes a state that of the next step. Marks are things, too. */
function advance(state, step) {
  for (let n = 0; state.things.delete("mark" + n); n++);
  const moved = (step.m || []).filter(([mask]) => sees(mask)).map(([, thing]) => [thing, state.things.get(thing)]);
  for (const [mask, thing, ...where] of step.c) {
    if (!sees(mask)) continue;
    if (where.length) state.things.set(thing, where);
    else state.things.delete(thing);
  }
  let marks = 0;
  const mark = ([x, y, look], ...style) => {
    state.things.set("mark" + marks++, [x, y, outline(replay.looks[look][0], ...style), 1]);
  };
  for (const [thing, from] of moved) {
    const to = state.things.get(thing);
    if (from && (from[0] !== to[0] || from[1] !== to[1])) mark(from, -5, "f-mark", 0);
    mark(to, 5, "l-mark", 7);
  }
  for (const [mask, line, words] of step.w) {
    if (!sees(mask)) continue;
    if (words === null) state.words.length = Math.min(state.words.length, line);
    else state.words[line] = words;
  }
}

/** Adds a step to the view: its state, and the number of faults of each seat up to it. */
function keepState(step, i) {
  advance(newest, step);
  if (i % KEPT === 0) states.push({ things: new Map(newest.things), words: [...newest.words] });
  const counts = i ? [...faults[i - 1]] : replay.seats.map(() => 0);
  for (const [, kind, seat] of notesOf(step)) if (kind === "fault") counts[seat]++;
  faults.push(counts);
}

function place(group, [x, y, , , turn]) {
  const [width, height] = replay.size;
  if (isFlipped) [x, y] = [width - x, height - y];
  const rotation = turn === undefined ? "" : ` rotate(${isFlipped ? turn + 180 : turn}deg)`;
  group.style.transform = `translate(${x}px,${y}px)${rotation}`;
}

function draw(things) {
  for (const [thing, { group }] of shown) {
    if (!things.has(thing)) {
      group.remove();
      shown.delete(thing);
    }
  }
  for (const [thing, where] of things) {
    let old = shown.get(thing);
    if (!old) {
      old = { group: shape("g", { class: "new" }), where: [] };
      layers[where[3]].append(old.group);
      shown.set(thing, old);
    }
    if (old.where === where) continue;
    const look = where[2];
    if (old.where[2] !== look) old.group.replaceChildren(...parts(replay.looks[look] || look, replay.seats));
    place(old.group, where);
    old.where = where;
  }
}

function clock(ms) {
  if (ms < 100) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return seconds.toFixed(1) + " s";
  const minutes = Math.floor(seconds / 60), rest = String(Math.floor(seconds % 60)).padStart(2, "0");
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Whether the page names the match itself. */
const isTitled = $("title").textContent !== "";
/** The result as a sentence; of a match in progress its sides. */
const headingOf = ({ heading, seats }) => heading ?? seats.map(({ name }) => name).join(" – ");
const nameOf = (seat) => (seat === null ? "" : replay.seats[seat].name);
const notesOf = (step) => (step.s || []).filter(([mask]) => sees(mask));
const movesOf = (step) => notesOf(step).filter(([, kind]) => kind === "move");
const hasFault = (step) => notesOf(step).some(([, kind]) => kind === "fault");
function words([, kind, seat, text]) {
  switch (kind) {
    case "fault": return `fault of ${nameOf(seat)}: ${text}`;
    case "fallback": return `the referee plays for ${nameOf(seat)}`;
    default: return seat === null ? text : `${nameOf(seat)}: ${text}`;
  }
}
const isLast = (step) => step === replay.steps.length - 1;

/** A line with the names of seats. */
const withNames = (line) => line.replace(/\bseat (\d+)\b/g, (text, seat) => replay.seats[seat]?.name ?? text);

/** The seats that move in the next step. */
function movers(step) {
  const next = replay.steps[step + 1];
  return next ? (next.s || []).filter(([, kind]) => kind === "move").map(([, , seat]) => seat) : [];
}

function drawSeats() {
  const step = replay.steps[at], moving = movers(at);
  const held = [...$("seats").querySelectorAll("a")].indexOf(document.activeElement);
  $("seats").replaceChildren(...replay.seats.map((seat, n) => {
    const item = element("li", moving.includes(n) ? { class: "moving", "aria-current": "true" } : {});
    item.append(element("span", { class: "badge b-" + seat.tone, "aria-hidden": "true" }));
    const who = element("div", { class: "who" });
    who.append(seat.href ? element("a", { class: "name", href: seat.href }, seat.name) : element("span", { class: "name" }, seat.name));
    const partners = replay.seats.filter((other, m) => m !== n && other.team === seat.team && other.name !== seat.name);
    const about = [...COLOURS.includes(seat.tone) ? [capital(seat.tone)] : [], ...partners.length ? [`with ${partners.map(({ name }) => name).join(" and ")}`] : []];
    if (used[n]?.count) about.push(`used ${clock(used[n].ms)}, ${clock(used[n].ms / used[n].count)} a move`);
    const left = step.b && step.b[n];
    if (left !== null && left !== undefined) {
      const small = element("small", {}, about.join(" · "));
      small.append(" · ", element("span", { class: "clock" }, `${clock(left)} left`));
      who.append(small);
    } else {
      who.append(element("small", {}, about.join(" · ")));
    }
    item.append(who);
    const count = faults[at][n], score = isLast(at) ? replay.scores?.[n] : undefined, end = element("span", {});
    if (count) end.append(element("span", { class: "fault", title: "faults" }, `⚑ ${count} `));
    const amount = isLast(at) ? replay.amounts?.[n] : undefined;
    if (amount !== undefined) end.append(element("small", { class: "amount" }, `${amount} `.replace("-", "−")));
    if (score !== undefined) end.append(element("span", { class: "score" }, score === 0.5 ? "½" : String(Math.round(100 * score) / 100)));
    item.append(end);
    return item;
  }));
  // A live match goes on while somebody is at a link.
  if (held >= 0) $("seats").querySelectorAll("a")[held]?.focus({ preventScroll: true });
}

function drawNotes() {
  const step = replay.steps[at];
  const items = notesOf(step).map((note) => element("li", { class: note[1] }, words(note)));
  for (const [seat, ms] of step.k || []) items.push(element("li", { class: "took" }, `${nameOf(seat)} took ${clock(ms)}`));
  if (isLast(at) && replay.result) items.push(element("li", { class: "end" }, replay.result));
  $("notes").replaceChildren(...items);
}

/** Shows a step; all that is shown of it follows from its number. */
function go(step, isQuiet) {
  const before = $("moves").children[at];
  step = Math.max(0, Math.min(step, replay.steps.length - 1));
  if (state && step === at + 1) advance(state, replay.steps[step]);
  else state = stateAt(step);
  at = step;
  draw(state.things);
  const isOver = isLast(at) && Boolean(replay.result), [first = "", ...others] = state.words;
  // The rules know nothing of a resignation, and would say who is to move.
  const status = isOver ? replay.result : withNames(first);
  $("status").textContent = status;
  $("words").textContent = [isOver ? status : first, ...others].join(". ");
  $("slider").value = at;
  $("slider").setAttribute("aria-valuetext", `${at} of ${replay.steps.length - 1}`);
  $("place").textContent = `${at} / ${replay.steps.length - 1}`;
  if (before) before.firstChild.removeAttribute("aria-current");
  const now = $("moves").children[at].firstChild;
  now.setAttribute("aria-current", "step");
  drawSeats();
  drawNotes();
  // The list has the height that the seats and notes leave.
  const list = $("moves"), top = now.offsetTop;
  if (top < list.scrollTop || top + now.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
  const told = notesOf(replay.steps[at]).filter(([, kind]) => kind !== "info").map(words);
  $("live").textContent = [...told, status].filter(Boolean).join(". ");
  const share = (1000 * at / Math.max(1, replay.steps.length - 1)).toFixed(1);
  for (const line of document.querySelectorAll("#plots .now")) {
    line.setAttribute("x1", share);
    line.setAttribute("x2", share);
  }
  for (const [id, end] of [["first", at === 0], ["back", at === 0], ["next", isLast(at)], ["last", isLast(at)]]) {
    $(id).setAttribute("aria-disabled", end);
  }
  if (isLast(at)) pause();
  onShown();
  if (!isQuiet) remember();
}

/** The address of the step: `t` is the number of moves. */
function remember() {
  const moves = replay.steps[at].n + (at > 0 && replay.steps[at - 1].n === replay.steps[at].n ? 1 : 0);
  const match = data.matches.indexOf(replay);
  const hash = (match ? `#m=${match + 1}&t=` : "#t=") + moves;
  history.replaceState(null, "", hash);
}

function recall() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const match = Math.max(1, Math.min(Number(wanted.get("m")) || 1, data.matches.length));
  open(match - 1);
  const moves = Number(wanted.get("t") ?? data.turn ?? Number.MAX_SAFE_INTEGER) || 0;
  const step = replay.steps.findIndex(({ n }) => n >= moves);
  go(step < 0 ? replay.steps.length - 1 : step, true);
}

/** A step in the list of moves. */
function listed(step, i) {
  const item = element("li", i ? {} : { class: "start" }), button = element("button", { type: "button" });
  const list = element("span", { class: "played" });
  if (hasFault(step)) button.className = "fault";
  const moves = movesOf(step);
  button.append(element("span", { class: "count" }, i === 0 ? "" : moves.length ? `${i}.` : ""));
  for (const [, , seat, text] of moves) {
    const move = element("span", { class: "move" });
    move.append(element("span", { class: "badge b-" + replay.seats[seat].tone, title: nameOf(seat) }), text);
    list.append(move);
  }
  if (!moves.length) list.append(i === 0 ? "start" : "end");
  button.append(list);
  if (hasFault(step)) button.append(element("span", { class: "fault", title: "fault" }, "⚑"));
  button.addEventListener("click", () => { pause(); go(i); });
  item.append(button);
  return item;
}

function look(chosen) {
  view = chosen;
  shown.forEach(({ group }) => group.remove());
  shown.clear();
  [state, newest, states, faults] = [undefined, { things: new Map(), words: [] }, [], []];
  replay.steps.forEach(keepState);
  $("moves").replaceChildren(...replay.steps.map(listed));
  $("fault").hidden = !replay.steps.some(hasFault);
  drawMoment();
  drawPlots();
}

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

/** What decided the match, with a way there. */
function drawMoment() {
  const { moment } = replay;
  $("key").hidden = $("moment").hidden = !moment;
  if (!moment) return;
  const step = replay.steps[moment.step], [move] = movesOf(step);
  $("moment-step").textContent = `move ${step.n}${move ? `, ${move[3]}` : ""}`;
  $("moment-text").textContent = moment.text;
}

function open(match) {
  if (replay === data.matches[match]) return;
  pause();
  replay = data.matches[match];
  if (!isTitled) {
    $("title").textContent = headingOf(replay);
    $("result").textContent = replay.why ?? replay.result;
    document.title = `${headingOf(replay)}, ${replay.game}`;
  }
  $("board").setAttribute("viewBox", `0 0 ${replay.size[0]} ${replay.size[1]}`);
  // A board that is wider than high has as much height as others.
  $("stage").style.setProperty("--wide", Math.max(1, replay.size[0] / replay.size[1]));
  $("board").style.aspectRatio = `${replay.size[0]} / ${replay.size[1]}`;
  layers = Array.from({ length: LAYERS }, () => shape("g", {}));
  $("board").replaceChildren(...layers);
  $("slider").max = replay.steps.length - 1;
  $("view").replaceChildren(...replay.views.map((name, n) => element("option", { value: n }, name)));
  $("views").hidden = replay.views.length < 2;
  [...$("matches").children].forEach((button, n) => {
    if (n === match) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  });
  $("view").value = data.view < replay.views.length ? data.view : 0;
  at = 0;
  look(Number($("view").value));
  $("stage").classList.toggle("large", states[0].things.size > MANY);
}

function pause() {
  clearInterval(timer);
  timer = 0;
  $("play").textContent = "▶";
  $("play").setAttribute("aria-label", "Play");
}

function play() {
  if (timer) return pause();
  if (isLast(at)) go(0);
  $("play").textContent = "⏸";
  $("play").setAttribute("aria-label", "Pause");
  timer = setInterval(() => go(at + 1), Number($("speed").value));
}

function flip() {
  isFlipped = !isFlipped;
  $("flip").setAttribute("aria-pressed", isFlipped);
  shown.forEach(({ group, where }) => place(group, where));
  onShown();
}

function nextFault() {
  const found = replay.steps.findIndex((step, i) => i > at && hasFault(step));
  const step = found < 0 ? replay.steps.findIndex(hasFault) : found;
  if (step >= 0) go(step);
}

const by = (change) => () => { pause(); go(change()); };
const actions = {
  first: by(() => 0),
  back: by(() => at - 1),
  next: by(() => at + 1),
  last: by(() => replay.steps.length - 1),
  play, flip,
  fault: () => { pause(); nextFault(); },
  key: by(() => replay.moment?.step ?? at),
};
const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last", " ": "play", f: "flip", n: "fault", d: "key" };

for (const [id, act] of Object.entries(actions)) $(id).addEventListener("click", act);
$("moment-step").addEventListener("click", actions.key);
$("slider").addEventListener("input", () => { pause(); go(Number($("slider").value)); });
$("speed").addEventListener("change", () => { if (timer) { pause(); play(); } });
$("view").addEventListener("change", () => { look(Number($("view").value)); go(at); });
document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (!data || event.ctrlKey || event.altKey || event.metaKey || target.matches("select, input")) return;
  if (key === " " && target.matches("button")) return;
  if (keys[key]) {
    event.preventDefault();
    actions[keys[key]]();
  }
});
window.addEventListener("hashchange", () => { if (data) recall(); });
if ($("record")) {
  $("record").addEventListener("click", ({ currentTarget: link }) => {
    if (data && link.protocol !== "blob:") link.href = URL.createObjectURL(new Blob([restored(replay.record)]));
  });
}
document.body.classList.toggle("embed", new URLSearchParams(location.search).has("embed"));

/** Shows these matches, at the step of the address. */
function start(given) {
  data = given;
  // What people see.
  for (const { seats } of data.matches) for (const seat of seats) seat.name = seat.display_name ?? seat.name;
  for (const { steps } of data.matches) for (const step of steps) addLate(step, steps);
  replay = undefined;
  $("matches").replaceChildren(...data.matches.map((match, n) => {
    const button = element("button", { type: "button" }, `${match.match}: ${headingOf(match)}`);
    button.addEventListener("click", () => { open(n); go(match.steps.length - 1); });
    return button;
  }));
  $("matches").hidden = data.matches.length < 2;
  recall();
}

/** Adds what bots said at earlier moves, which a live board gets late, to the steps of those moves. */
function addLate({ i: late = [] }, steps) {
  for (const [moves, seat, text] of late) {
    const step = steps.find((step) => step.n === moves);
    if (step) (step.s ??= []).push([1, "info", seat, text]);
  }
}

/** Adds a step to the match shown. A viewer who looks at the last step goes on to it. */
function append(step, looks) {
  const follows = isLast(at);
  replay.looks.push(...looks);
  replay.steps.push(step);
  addLate(step, replay.steps);
  const last = replay.steps.length - 1;
  keepState(step, last);
  $("moves").append(listed(step, last));
  $("slider").max = last;
  $("fault").hidden &&= !hasFault(step);
  go(follows ? last : at, true);
}

/** Ends the match shown with this result. */
function conclude(result) {
  replay.result = result;
  $("result").textContent = result;
  go(at, true);
}

if ($("data")) unpack($("data").textContent).then(start);
