// Unpacks matches: what pack.rs has packed.

/** The data of the page: JSON that is compressed (RFC 1950) and encoded in base64 (RFC 4648). */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
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

