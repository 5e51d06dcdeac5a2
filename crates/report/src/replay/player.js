// Plays matches: those in the page, or those that another script passes to `start`. It draws shapes and moves them; it
// knows no rules.
const $ = (id) => document.getElementById(id);
const LAYERS = 4, PIECES = 2;
/** The states of a view are kept at every so many steps, so that going back is fast. */
const KEPT = 64;

let data, replay, view, at = 0, isFlipped = false, timer = 0;
let state, newest, states = [], faults = [], shown = new Map(), layers = [];

/** The ASCII characters that are not digits, as in base116.rs. */
const EXCLUDED = "\0\x07\b\t\n\f\r\x1a\x1b&<\x7f";

/** The data of the page: JSON that is compressed (RFC 1950) and encoded in base 116: seven digits are six bytes. */
async function unpack(text) {
  const digits = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((c) => !EXCLUDED.includes(c));
  const values = new Map(digits.map((digit, value) => [digit, value]));
  const bytes = new Uint8Array(text.length - Math.ceil(text.length / 7));
  for (let at = 0, next = 0; at < text.length; at += 7) {
    const group = text.slice(at, at + 7);
    let number = 0;
    for (let i = group.length - 1; i >= 0; i--) number = number * 116 + values.get(group[i]);
    for (let i = 1; i < group.length; i++, number = Math.floor(number / 256)) bytes[next++] = number % 256;
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const unpacked = await new Response(stream).json();
  for (const replay of unpacked.matches) {
    replay.looks = unpackLooks(replay.looks);
    replay.steps = stepsOf(replay);
  }
  return unpacked;
}

/** The numbers of a column, each a character from "#" on. */
function numbers(text) {
  const MORE = 1_000_000, found = [];
  let sum = 0;
  for (const character of text) {
    const code = character.codePointAt(0), number = code - 35 - (code < 0xd800 ? 0 : 0x800);
    sum += number;
    if (number === MORE) continue;
    found.push(sum);
    sum = 0;
  }
  return found;
}

/** An iterator of the texts of a list, each of which has a separator after it. */
const textsOf = (list) => list.split("\x7f").slice(0, -1).values();

/** The first text of a look. */
const textOf = (look) => look.find(([form]) => form === "t")?.at(-1) ?? "";

const signed = (number) => (number >>> 1) ^ -(number & 1);

/** A function for each column that returns its next number. */
function readers(columns) {
  const reader = (text) => {
    const all = numbers(text);
    let next = 0;
    return () => all[next++];
  };
  return Object.fromEntries(Object.entries(columns).filter(([, text]) => typeof text === "string")
    .map(([name, text]) => [name, reader(text)]));
}

/** What shapes look like: kinds of looks and their texts. */
function unpackLooks({ kinds, kind, text }) {
  const texts = text.values();
  const look = (number) => kinds[number].map((part) => (part[0] === "t" ? [...part, texts.next().value] : part));
  return numbers(kind).map(look);
}

/** The lists of words in the events of a record, in order. */
function listsOf({ templates, lines, texts }) {
  const next = new Map(Object.entries(texts).map(([name, list]) => [name, textsOf(list)]));
  const fields = templates.map((line) => (line.startsWith('{"type":"event"') ? [...line.matchAll(/"(\w+)":\x06/g)] : []));
  return numbers(lines).flatMap((number) => fields[number].map(([, field]) => next.get("event " + field).next().value));
}

/** The steps of a match whose data is in columns (pack.rs). */
function stepsOf({ columns: { n, c, w, s, k, e, b }, looks, layout, record }) {
  const KINDS = ["move", "event", "fault", "fallback", "info"], LISTS = 16;
  const note = readers(s), answer = readers(k), expected = e && readers(e), told = s.text.map(textsOf);
  const played = [...textsOf(record?.texts["event move"] ?? "")], lists = record ? listsOf(record) : [];
  let moves = 0, banks, next = 0, list = 0;
  const steps = numbers(n).map((more, i) => {
    moves += more;
    if (b[i].length) banks = b[i];
    return { n: moves, c: [], m: [], w: [], s: [], k: [], e: [], b: banks };
  });
  for (const step of steps) {
    for (let left = note.count(); left > 0; left--) {
      const mask = note.mask(), kind = note.kind(), seat = note.seat();
      let text = told[kind].next().value;
      if (KINDS[kind] === "move") {
        text = resolved(text) || played[next];
        if (text.startsWith(played[next])) next++;
      }
      step.s.push([mask, KINDS[kind], seat ? seat - 1 : null, text]);
    }
    for (let left = answer.count(); left > 0; left--) step.k.push([answer.seat(), answer.ms(), answer.lag()]);
    for (let left = expected ? expected.count() : 0; left > 0; left--) step.e.push([expected.seat(), expected.points()]);
  }
  const names = namesOf(steps);
  steps.forEach((step, i) => {
    let used = 0;
    const nameInEvent = (at) => {
      if (at >= LISTS) return names[i][at - LISTS];
      used = Math.max(used, at + 1);
      return lists[list + at];
    };
    for (const note of step.s) {
      if (note[1] === "move") continue;
      note[3] = resolved(note[3], note[1] === "event" ? nameInEvent : (at) => names[i][at]);
    }
    list += used;
  });
  unpackChanges(steps, c, looks, layout);
  unpackWords(steps, w, names);
  return steps;
}

/** The moves among the notes of a step, as the first view knows them. */
const movesIn = (notes) => notes.filter(([mask, kind]) => mask & 1 && kind === "move");

/** The words of a text, and the numbers at the ends of words. */
const wordsOf = (text) => [...text.matchAll(/[A-Za-z]+(\d*)|\d+/g)].flat().filter(Boolean);

/** By step, the names that its texts refer to, as in names.rs. */
function namesOf(steps) {
  const moves = steps.map(({ s }) => movesIn(s)), seats = (moves) => moves.map(([, , seat]) => String(seat));
  return moves.map((played, i) => [...seats(moves[i + 1] ?? []), ...played.flatMap(([, , , text]) => wordsOf(text))]);
}

/** A text with names instead of the references to them. */
const resolved = (text, name) => text.replace(/\x9f([^])|[\x80-\x9e]/g,
  (reference, literal) => literal ?? (reference === "\x9e" ? "\x7f" : name(reference.charCodeAt(0) - 0x80)));

/** Adds the changes of things, as changes.rs writes them. */
function unpackChanges(steps, { count, first, more, actors: ofActors, x, y, views }, looks, layout) {
  const point = [0, 0], ys = numbers(y), places = numbers(x).map((dx, i) => [point[0] += signed(dx), point[1] += signed(ys[i])]);
  const change = (columns, known) => {
    let { seen, place, look, other, layer, turn } = known;
    const what = columns.what();
    if (what & 1) seen = columns.views();
    if (what & 2) place += signed(columns.place());
    if (what & 4) look += signed(columns.look());
    if (what & 64) other += signed(columns.other());
    if (what & 8) {
      layer = columns.layer();
      const rotation = columns.turn();
      turn = rotation ? signed(rotation - 1) : undefined;
    }
    const now = { seen, place, look, other, layer, turn };
    return { now, state: what & 16 ? null : now, hasMoved: what & 32 };
  };
  const told = steps.map(() => []), firsts = readers(first), others = readers(more);
  let head = { seen: 0, place: 0, look: 0, other: 0, layer: 0 }, stepOfHead = 0;
  numbers(count).forEach((count, thing) => {
    let known = head, step = stepOfHead;
    for (let i = 0; i < count; i++) {
      const columns = i ? others : firsts;
      step += columns.step();
      const made = change(columns, known);
      told[step].push([thing, made]);
      known = made.now;
      if (!i) [head, stepOfHead] = [known, step];
    }
  });
  const placeOf = new Map(), hands = [], states = new Map(), pieces = new Map(), columns = ofActors.map(readers);
  let next = 0;
  for (const row of layout?.rows ?? []) {
    const [kind, name, length] = row;
    row[2] = places.slice(next, next + length);
    if (kind === "numbered") for (let i = 0; i < length; i++) placeOf.set(name + i, next + i);
    if (kind === "hand") hands.push({ seat: name, first: next, length });
    next += length;
  }
  if (!layout) {
    for (const [, { state: { place, look, layer } }] of told[0]) {
      const name = textOf(looks[look]);
      if (layer === 0 && name && !placeOf.has(name)) placeOf.set(name, place);
    }
  }
  const inHand = (seat, text) => {
    for (const hand of hands) {
      for (let i = hand.seat === seat ? hand.length : 0; i-- > 0;) {
        const thing = pieces.get(hand.first + i);
        if (thing !== undefined && textOf(looks[states.get(thing).look]) === text) return thing;
      }
    }
  };
  /** The actors that a move names: their things, columns and what is known of the places to which they go. */
  const addActors = (actors, [, , seat, text]) => {
    const before = actors.length, isKnown = (word) => placeOf.has(word) || inHand(seat, word) !== undefined;
    let empty, card;
    for (const word of text.split(" ").flatMap((word) => (isKnown(word) ? [word] : wordsOf(word)))) {
      let actor;
      if (placeOf.has(word)) {
        const thing = pieces.get(placeOf.get(word));
        if (thing === undefined) empty = placeOf.get(word);
        else actor = { thing, column: 1, key: card === undefined ? undefined : `${card} ${actors.length - before}` };
      } else if (inHand(seat, word) !== undefined) {
        actor = { thing: inHand(seat, word), column: 0 };
        card ??= states.get(actor.thing).look;
      }
      if (actor && actors.every(({ thing }) => thing !== actor.thing)) actors.push(actor);
    }
    for (const actor of actors.slice(before)) actor.empty = empty;
  };
  const distances = new Map(), latest = [0, 0, 0];
  let played = 0;
  steps.forEach(({ s, c, m }, i) => {
    const changes = new Map(told[i]), actors = [];
    for (const note of movesIn(s)) addActors(actors, note);
    for (const { thing, column, key, empty } of actors) {
      const state = states.get(thing);
      let place = state.place;
      if (column === 0) place = played;
      if (column === 1) place = empty ?? place + (distances.get(key) ?? 0);
      const made = change(columns[column], { ...state, place, other: latest[column] });
      latest[column] = made.now.other;
      changes.set(thing, made);
      const to = made.state?.place;
      if (to === undefined) continue;
      if (column === 0) played = to;
      if (column === 1 && empty === undefined && key) distances.set(key, to - state.place);
      const other = to === state.place ? undefined : pieces.get(to);
      if (other !== undefined && actors.every(({ thing }) => thing !== other)) actors.push({ thing: other, column: 2 });
    }
    for (const { first, length } of hands) {
      const isIn = (thing) => {
        const { state } = changes.get(thing) ?? { state: states.get(thing) };
        return state && state.place >= first && state.place < first + length;
      };
      const before = Array.from({ length }, (_, i) => pieces.get(first + i)).filter((thing) => thing !== undefined);
      const left = before.filter(isIn);
      if (left.length === before.length) continue;
      left.forEach((thing, i) => {
        const state = states.get(thing);
        if (!changes.has(thing) && state.place !== first + i) changes.set(thing, { state: { ...state, place: first + i } });
      });
    }
    const arrived = [], seenBy = (state) => (state ? views[state.seen] : [0, 0]);
    const placeOfPiece = (state) => (state?.layer === PIECES ? state.place : undefined);
    for (const [thing, { state, hasMoved }] of [...changes].sort(([a], [b]) => a - b)) {
      const before = states.get(thing), [mask, others] = seenBy(state), [was, wasOthers] = seenBy(before);
      const lost = (was | wasOthers) & ~(mask | others);
      if (mask) c.push([mask, thing, ...places[state.place], state.look, state.layer, state.turn]);
      if (others) c.push([others, thing, ...places[state.place], state.other, state.layer, state.turn]);
      if (lost) c.push([lost, thing]);
      if (hasMoved) m.push([mask | others, thing]);
      const from = placeOfPiece(before), to = placeOfPiece(state);
      if (from !== to) {
        if (pieces.get(from) === thing) pieces.delete(from);
        if (to !== undefined) arrived.push([to, thing]);
      }
      if (state) states.set(thing, state);
      else states.delete(thing);
    }
    for (const [to, thing] of arrived) pieces.set(to, thing);
  });
}

/** Adds the changed words. Each text is what remains of the one before and what is new in it. */
function unpackWords(steps, columns, names) {
  const word = readers(columns), texts = textsOf(columns.text);
  for (const count of numbers(columns.count)) {
    const line = word.line(), mask = word.mask();
    let i = 0, said = [];
    for (let left = count; left > 0; left--) {
      i += word.step();
      const kept = word.start();
      if (!kept) said = [];
      else {
        const end = said.length - word.end(), changed = resolved(texts.next().value, (at) => names[i][at]);
        said = [...said.slice(0, kept - 1), ...(changed ? changed.split(/(?= )/) : []), ...said.slice(end)];
      }
      steps[i].w.push([mask, line, kept ? said.join("") : null]);
    }
  }
}

/** The record of a match, from its templates and values (record.rs). */
function restored({ templates, lines, numbers: columns, texts }) {
  const next = readers(columns), counts = new Map();
  const text = new Map(Object.entries(texts).map(([name, list]) => [name, textsOf(list)]));
  let time = 0;
  const line = (template) => {
    const type = (/^{"type":"([^"]*)"/.exec(template) || ["", ""])[1];
    let before = 0;
    return template.replace(/"(\w+)":("?)([\x01-\x06])/g, (_, field, quote, mark) => {
      const name = `${type} ${field}`, key = `"${field}":`;
      if (mark === "\x04") return key + quote + text.get(name).next().value;
      if (mark === "\x06") return `${key}["${text.get(name).next().value.replaceAll(" ", '","')}"]`;
      let value = next[name]();
      if (mark === "\x05") return `${key}[${Array.from({ length: value }, next[name])}]`;
      if (mark === "\x02") value = time += value;
      if (mark === "\x03") {
        const known = `${name} ${before}`;
        value = (counts.get(known) || 0) + signed(value);
        counts.set(known, value);
      }
      before = value;
      return key + value;
    });
  };
  return numbers(lines).map((number) => line(templates[number])).join("\n");
}

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

/** The lines of words of a state, among them the lists of the pieces on rows. */
function linesOf({ things, words }) {
  const lines = [...words], pieces = new Map();
  for (const [x, y, look, layer] of things.values()) if (layer === PIECES) pieces.set(`${x},${y}`, look);
  for (const [line, of, what, text, rows] of replay.layout?.lists ?? []) {
    const items = [];
    for (const [row, from] of rows) {
      const [kind, name, places] = replay.layout.rows[row];
      for (let i = 0; i < places.length; i++) {
        const at = (from + i) % places.length, look = pieces.get(String(places[at]));
        if (look === undefined || (text !== null && textOf(replay.looks[look]) !== text)) continue;
        items.push(kind === "hand" ? textOf(replay.looks[look]) : kind === "numbered" ? name + at : name);
      }
    }
    const named = items.filter(Boolean);
    lines.splice(line, 0, named.length ? [of, what, ...named].join(" ") : `${of} ${items.length} ${what}`);
  }
  return lines;
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
    if (old.where[2] !== look) old.group.replaceChildren(...(replay.looks[look] || look).map(part));
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
  $("seats").replaceChildren(...replay.seats.map((seat, n) => {
    const item = element("li", moving.includes(n) ? { class: "moving", "aria-current": "true" } : {});
    item.append(element("span", { class: "badge b-" + seat.tone, "aria-hidden": "true" }));
    const who = element("div", { class: "who" });
    who.append(element("span", { class: "name" }, seat.name));
    const partners = replay.seats.filter((other, m) => m !== n && other.team === seat.team && other.name !== seat.name);
    const about = [capital(seat.tone), ...partners.length ? [`with ${partners.map(({ name }) => name).join(" and ")}`] : []];
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
    if (score !== undefined) end.append(element("span", { class: "score" }, score === 0.5 ? "½" : String(score)));
    item.append(end);
    return item;
  }));
}

function drawNotes() {
  const step = replay.steps[at];
  const items = notesOf(step).map((note) => element("li", { class: note[1] }, words(note)));
  for (const [seat, ms] of step.k || []) items.push(element("li", { class: "took" }, `${nameOf(seat)} took ${ms} ms`));
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
  const lines = linesOf(state);
  $("status").textContent = withNames(lines[0] || "");
  $("words").textContent = lines.join(". ");
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
  $("live").textContent = [...told, withNames(lines[0] || ""), isLast(at) ? replay.result : ""].filter(Boolean).join(". ");
  const share = (1000 * at / Math.max(1, replay.steps.length - 1)).toFixed(1);
  for (const line of document.querySelectorAll("#plots .now")) {
    line.setAttribute("x1", share);
    line.setAttribute("x2", share);
  }
  for (const [id, end] of [["first", at === 0], ["back", at === 0], ["next", isLast(at)], ["last", isLast(at)]]) {
    $(id).setAttribute("aria-disabled", end);
  }
  if (isLast(at)) pause();
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

/** The names of the sides with their lines. */
function keyOf(sides, suffix = () => "") {
  const key = element("span", { class: "keys" });
  for (const side of sides) {
    const item = element("span"), sample = shape("svg", { viewBox: "0 0 22 6", "aria-hidden": "true" });
    sample.append(shape("path", { class: `l${1 + side % 6}`, d: "M0 3h22", fill: "none" }));
    item.append(sample, sideName(side) + suffix(side));
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
    plots.push(plot(title, keyOf(sides), ["1", "½", "0"], (x) => scored.map((points, seat) => shape("polyline", {
      class: `l${1 + seats[seat].team % 6}`,
      points: points.map((point) => own(point, seats[seat].team)).map(([i, value]) => `${x(i)},${(100 - 100 * value).toFixed(1)}`).join(" "),
    }))));
  }
  if (answers) {
    const top = slowest || 1, isUp = (side) => side === sides[0], thickness = Math.max(2, Math.min(8, 600 / steps.length));
    const bars = (x) => seats.map((_, seat) => shape("path", {
      class: `f${isUp(seats[seat].team) ? 1 : 2}`,
      d: steps.flatMap(({ k }, i) => (k || []).filter(([of]) => of === seat).map(([, ms]) => {
        const height = 50 * ms / top;
        return `M${x(i)} 50h${thickness}v${(isUp(seats[seat].team) ? -height : height).toFixed(1)}h-${thickness}z`;
      })).join(""),
    }));
    const key = keyOf(sides.slice(0, 2), (side) => (isUp(side) ? ", up" : ", down"));
    plots.push(plot("Thinking time of a move", key, [clock(top), "0", clock(top)], bars));
    const most = lag || 1, line = steps.flatMap(({ k }, i) => (k || []).map(([, , delay]) => [i, delay || 0]));
    plots.push(plot("Lag of the referee", element("span", {}, `not charged to any clock; at most ${(lag / 10).toFixed(1)} ms`),
      [`${(most / 10).toFixed(1)} ms`, "", "0"], (x) => [shape("polyline", {
        class: "l1", points: line.map(([i, delay]) => `${x(i)},${(100 - 100 * delay / most).toFixed(1)}`).join(" "),
      })], true));
  }
  const note = replay.moment ? "Red dashes: the decisive moment. Solid line: the position on the board." : "Solid line: the position on the board.";
  $("plots").replaceChildren(...plots, element("p", { class: "note" }, note));
  $("plots").hidden = plots.length === 0;
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
  replay = undefined;
  $("matches").replaceChildren(...data.matches.map((match, n) => {
    const button = element("button", { type: "button" }, `${match.match}: ${headingOf(match)}`);
    button.addEventListener("click", () => { open(n); go(match.steps.length - 1); });
    return button;
  }));
  $("matches").hidden = data.matches.length < 2;
  recall();
}

/** Adds a step to the match shown. A viewer who looks at the last step goes on to it. */
function append(step, looks) {
  const follows = isLast(at);
  replay.looks.push(...looks);
  replay.steps.push(step);
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
