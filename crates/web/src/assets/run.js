// Shows the run: who leads and why, what is live, what is next, the standings, and matches that have ended.
"use strict";
/** The number of rows on a page of the standings. */
const ROWS = 50;
/** The number of rows and matches on the start page, which links to all of them. */
const FIRST = 10;
/** The start page. The others of a run have some of its parts, at greater length. */
const isStart = $("podium") !== null;
/** The number of live boards. */
const BOARDS = isStart ? 3 : 8;
/** The number of rulings that are shown before somebody asks for all of them. */
const RULINGS = 3;

function item({ id, seats, moves, board, result, ruling, began_at: began }) {
  const line = [element("span", { class: "grow" }, result ? result.text : element("b", {}, sides(seats).join(" – ")))];
  const say = (text) => line.push(element("span", { class: "small muted" }, text));
  if (!result && moves !== null) say(moves === 1 ? "1 move" : `${moves} moves`);
  if (result && began) say(minute(began));
  if (board === "held") say("board shown when the deal is complete");
  if (board === "none") say("no board");
  if (ruling) line.push(element("span", { class: "tag warn" }, ruled(ruling)));
  return element("li", { class: "row" }, ...line, matchLink(id));
}

/** A name with its id, its owner and the affiliation below; on a ladder a link, with what is to be said of the player. */
function named(row) {
  const { name, display_name: display, rating, owner, affiliation } = row;
  const about = [...new Set([display && name, owner, affiliation])].filter(Boolean).join(" · ");
  const id = about ? [element("small", {}, about)] : [];
  if (!rating) return [shownName(row), ...id];
  const [says, isGood] = presence(row);
  // Most are online: a dot says so.
  const said = says === "online" ? [onlineDot()] : says ? [element("small", { class: isGood ? "online" : "" }, says)] : [];
  return [playerLink(row), ...said, ...id];
}

/** A ruling, with links to its matches. */
function rulingItem({ id, at, decision, matches, reason, undone_at: undone }) {
  const words = decision.split(/(?=\b[mcr]\d+\b)|(?<=\b[mcr]\d+\b)/);
  const said = words.map((word) => (matches.includes(word) ? matchLink(word) : word));
  const about = [`Ruling ${id}`, `${minute(at)} UTC`, ...undone ? [`undone ${minute(undone)} UTC`] : []];
  return element("li", {}, element("p", {}, undone ? element("s", {}, ...said) : element("b", {}, ...said)),
    ...reason ? [element("p", {}, reason)] : [], element("p", { class: "small muted" }, about.join(" · ")));
}

/** The change of a place within a week. */
function moved({ place, place_a_week_ago: before }) {
  if (!place || !before || place === before) return [];
  const up = before > place;
  return [element("small", { class: up ? "up" : "down" }, `${up ? "▲" : "▼"} ${Math.abs(before - place)}`)];
}

const wdl = ({ wins, draws, losses }) => `${wins} / ${draws} / ${losses}`;

function cells(row, scale) {
  const { place, points, rating, provisional, faulted, matches, amount, possible = matches, form: last } = row;
  const figure = rating ? [...elo(rating), ...provisional ? [element("span", { class: "muted small", title: "provisional" }, " ?")] : []]
    : [halves(points), element("span", { class: "muted small" }, ` of ${possible}`)];
  if (amount) {
    const signed = (value) => (value > 0 ? "+" : "") + String(+value.toFixed(3)).replace("-", "−");
    const range = amount.low === null ? "" : ` [${signed(amount.low)}, ${signed(amount.high)}]`;
    figure.push(element("small", {}, `${signed(amount.mean)}${range} a match`));
  }
  const cell = (attributes, ...children) => element("td", attributes, ...children);
  return element("tr", {},
    cell({}, ...place && matches ? [String(place)] : [element("span", { class: "muted" }, "–")], ...moved(row)),
    cell({ class: "name" }, ...named(row)),
    cell({ class: "lead num" }, ...figure),
    cell({ class: rating ? "bar" : "bars" }, rating ? interval(rating, scale) : bar(row)),
    cell({ class: "num beside" }, wdl(row)),
    cell({ class: "num", "data-l": "Faults" }, ...faulted ? [String(faulted)] : []),
    cell({ "data-l": "Last five" }, form(last ?? "")));
}

function showRows(rows) {
  const scale = scaleOf(rows.filter(({ rating, matches }) => rating && matches).map(({ rating }) => rating));
  refill($("standings").tBodies[0], ...rows.map((row) => cells(row, scale)));
}

/** The first three, with their figures. */
function podium(rows) {
  const first = rows.filter(({ place, matches }) => place && matches).slice(0, 3);
  const scale = scaleOf(first.filter(({ rating }) => rating).map(({ rating }) => rating));
  $("podium").hidden = !first.length;
  refill($("podium"), ...first.map((row) => {
    const { place, rating, points, matches, possible = matches, recent } = row;
    const figure = rating ? [element("b", {}, whole(rating.value)), element("span", { class: "muted" }, `± ${margin(rating) ?? "?"}`)]
      : [element("b", {}, halves(points)), element("span", { class: "muted" }, `of ${possible} points`)];
    const why = recent?.matches ? `won ${recent.wins} of the last ${recent.matches}` : "";
    const whose = [...new Set([row.owner, row.affiliation])].filter(Boolean).join(" · ");
    return element("li", place === 1 ? { class: "first" } : {},
      element("span", { class: "place" }, ordinal(place)),
      element("span", { class: "name plain" }, rating ? playerLink(row) : shownName(row)),
      ...whose ? [element("span", { class: "small muted owner" }, whose)] : [],
      element("p", { class: "figure" }, ...figure), rating ? interval(rating, scale) : bar(row),
      element("p", { class: "small muted" }, why));
  }));
}

/** Shows what only a ladder has. */
async function introduce() {
  const { port, finals, paused, frozen, closed_since: closed, events } = await getJson(`${root}api/v1/ladder`);
  $("finals").hidden = !finals && !paused && !frozen && !closed;
  $("finals").replaceChildren(...finals ? [element("a", { href: finals.url }, finals.name), paused || frozen || closed ? ". " : ""] : [],
    frozen ? "The deadline has passed: no versions, sign-ups or submissions are taken. " : "",
    closed ? "No match begins: an event has closed this ladder. " : "",
    paused ? "No match begins: the organiser has paused this ladder." : "");
  announceEvents($("events"), events, () => introduce().catch(() => {}));
  // Where only programs of the organiser play, nobody can join.
  $("join").hidden = port === null;
}

/** The bracket of a knockout, a column for each round. */
function showBracket({ bracket: rounds }) {
  $("bracket-section").hidden = !rounds;
  const place = ({ entrants, is_bye: isBye, points, matches, winner }, at) => {
    const name = entrants[at], score = matches.length || points[at] ? halves(points[at]) : "";
    return element("p", winner !== null && winner === name ? { class: "won" } : {},
      element("span", {}, name ?? element("i", {}, isBye ? "bye" : "?")), element("span", {}, score));
  };
  const pairing = (pair) => element("li", {}, element("div", { class: "pair" }, place(pair, 0), place(pair, 1),
    ...pair.matches.length ? [element("p", { class: "more" }, element("span", {}, ...pair.matches.flatMap((id, n) => [n ? " · " : "", matchLink(id)])))] : []));
  refill($("bracket"), ...(rounds ?? []).map(({ title, pairs }) =>
    element("div", { class: "stage" }, element("h3", {}, title), element("ol", {}, ...pairs.map(pairing)))));
}

/** The story with links to its matches. */
const told = ({ why }) => why.map(({ text, match }) => (match ? matchLink(match, text) : text));

/** What is left in a bank. */
const left = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/** The boards of matches in progress, by id. */
const boards = new Map();

/** Shows the boards of the first matches that have one, and follows them. */
function showBoards(running) {
  const shown = running.filter(({ board }) => board === "live").slice(0, BOARDS), ids = shown.map(({ id }) => id);
  for (const [id, { node }] of boards) {
    if (ids.includes(id)) continue;
    node.remove();
    boards.delete(id);
  }
  for (const match of shown) {
    const board = boards.get(match.id) ?? boards.set(match.id, new Board(match)).get(match.id);
    if (!board.node.isConnected) $("boards").append(board.node);
    board.node.querySelector(".moves").textContent = `move ${match.moves ?? 0}`;
    board.moves = match.moves;
  }
  $("boards").hidden = !shown.length;
  followBoards();
}

let isAsking = false;

/** Asks once for what has changed on all boards, if something has. */
async function followBoards() {
  const asked = [...boards], ids = asked.map(([id]) => id), moves = asked.map(([, board]) => board.moves);
  if (isAsking || asked.every(([, board], n) => board.drawn === moves[n])) return;
  isAsking = true;
  try {
    const query = new URLSearchParams({ ids, after: asked.map(([, board]) => board.after) });
    const { boards: found } = await getJson(`${root}api/v1/boards?${query}`);
    asked.forEach(([id, board], n) => {
      for (const { id: last, event, data } of found[id]?.events ?? []) board.take(last, event, data);
      board.draw();
      board.drawn = moves[n];
    });
  } catch {
    // The next overview tries again.
  }
  isAsking = false;
}

/** A board of the front page: what has changed is asked for, and drawn. */
class Board {
  constructor({ id, seats }) {
    const names = sides(seats);
    this.who = [names[0] ?? "", names.slice(1).join(" – ")].map((name) =>
      element("p", { class: "who" }, element("span", { "aria-hidden": "true" }), element("span", {}, name), element("span", { class: "score" }), element("span", { class: "clock" })));
    this.seats = seats.map((seat) => ({ name: seat.entrant ? seat.name : shownName(seat) }));
    this.view = drawing("svg", { class: "scene board", fill: "none", role: "img", "aria-label": `Position of ${names.join(" – ")}` });
    this.node = element("li", {}, this.who[0], element("a", { href: `${root}matches/${encodeURIComponent(id)}` }, this.view), this.who[1],
      element("p", { class: "more" }, element("span", { class: "tag live" }, "Live"), element("span", { class: "muted moves" })));
    [this.things, this.looks, this.after] = [new Map(), [], ""];
    // The numbers of moves of the overview, and of what is drawn.
    this.moves = this.drawn = undefined;
  }

  take(id, event, data) {
    this.after = id;
    if (event === "snapshot") {
      this.view.setAttribute("viewBox", `0 0 ${data.size[0]} ${data.size[1]}`);
      [this.things, this.looks] = [new Map(), data.looks];
      // Where a side is one seat, its colour and its clock stand beside its name.
      if (data.seats.length === 2) this.who.forEach((line, n) => line.firstChild.setAttribute("class", `badge b-${data.seats[n].tone}`));
      // Boards have White at the bottom.
      if (data.seats.length === 2 && data.seats[0].tone === "white") {
        this.node.prepend(this.who[1]);
        this.view.parentElement.after(this.who[0]);
      }
      data.steps.forEach((step) => this.advance(step));
    }
    if (event === "step") {
      this.looks.push(...data.looks);
      this.advance(data.step);
    }
  }

  advance({ c, b }) {
    if (b?.length === 2) this.who.forEach((line, n) => { line.lastChild.textContent = b[n] === null ? "" : left(b[n]); });
    for (const [mask, thing, ...where] of c) {
      if (!(mask & 1)) continue;
      if (where.length) this.things.set(thing, where);
      else this.things.delete(thing);
    }
  }

  draw() {
    const ordered = [...this.things.values()].sort(([, , , one], [, , , other]) => one - other);
    this.view.replaceChildren(...ordered.map(([x, y, look, , turn]) => {
      const group = shape("g", { transform: `translate(${x} ${y})${turn === undefined ? "" : ` rotate(${turn})`}` });
      group.append(...parts(this.looks[look] ?? [], this.seats));
      return group;
    }));
  }
}

/** The oldest matches of the list, which the stream does not contain. */
let older = [];
/** The page of the standings that is shown, from 0. The address has it, the search and the order. */
const asked = new URLSearchParams(location.search);
let page = Math.max(1, Math.floor(Number(asked.get("page"))) || 1) - 1;
let hasIntroduced = false;
if ($("search")) {
  $("q").value = asked.get("q") ?? "";
  if ([...$("order").options].some(({ value }) => value === asked.get("order"))) $("order").value = asked.get("order");
}

/** The standings that are searched, ordered otherwise or lie on a later page come from the server. */
async function look(run) {
  const search = $("q").value.trim(), order = $("order").value;
  if (!page && !search && order === "place") return { standings: run.standings, count: run.standings_count };
  const query = new URLSearchParams({ search, order, offset: page * ROWS, limit: ROWS });
  const answer = await getJson(`${root}api/v1/standings?${query}`);
  return answer.standings ? answer : { standings: [], count: run.standings_count };
}

function remember() {
  const search = $("q").value.trim(), order = $("order").value;
  const query = String(new URLSearchParams({ ...search ? { q: search } : {}, ...order === "place" ? {} : { order }, ...page ? { page: page + 1 } : {} }));
  history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
}

async function showStandings(run) {
  const isRated = run.standings.some(({ rating }) => rating), of = isRated ? "players" : "bots";
  $("points").textContent = isRated ? "Rating" : "Points";
  if (isRated) $("bar-title").textContent = "95% interval";
  $("legend").hidden = !isRated;
  $("legend").textContent = "Ratings are Elo. Dots are ratings, bars 95% intervals: players whose bars overlap may be equally strong. Green dot: online. ?: the rating is still uncertain, by more than 80 Elo against the field or with fewer than 30 matches. Fixed: an anchor, which stands outside the ranking. Arrows: places since a week ago.";
  $("standings").closest("section").hidden = !run.standings_count;
  if (isStart) {
    $("all-standings").textContent = `All ${run.standings_count} ${of}`;
    return showRows(run.standings.slice(0, FIRST));
  }
  $("standings-title").textContent = run.standings_count ? `Standings of ${run.standings_count} ${of}` : run.story?.heading ?? "Standings";
  const { standings: rows, count } = await look(run).catch(() => ({ standings: [], count: run.standings_count }));
  showRows(rows);
  $("count").textContent = rows.length ? `${page * ROWS + 1} to ${page * ROWS + rows.length} of ${count}` : "Nobody has such a name";
  const pages = Math.ceil(count / ROWS);
  refill($("pager"), ...pages < 2 ? [] : Array.from({ length: pages }, (_, n) => {
    const button = element("button", { type: "button", ...n === page ? { "aria-current": "page" } : {} }, `${n * ROWS + 1}–${Math.min(count, (n + 1) * ROWS)}`);
    button.addEventListener("click", () => turnTo(n, run));
    return button;
  }));
}

/** Shows another page of the standings. */
function turnTo(n, run) {
  page = n;
  remember();
  showStandings(run);
}

/** Whether all rulings have been asked for. */
let hasAllRulings = false;

/** The latest rulings, or all of them. */
async function showRulings({ rulings, rulings_count: count }) {
  $("rulings-section").hidden = !count;
  if ($("all-rulings")) $("all-rulings").hidden = hasAllRulings || count <= RULINGS;
  const all = hasAllRulings && count > rulings.length ? (await getJson(`${root}api/v1/rulings`)).rulings : rulings;
  refill($("rulings"), ...all.slice(0, hasAllRulings ? count : RULINGS).map(rulingItem));
}

/** How long the result of a match stays on the stage, in ms. */
const RESULT_STAYS = 8000;
/** The view for a projector (`?stage`): one match at a time, then its result, then the bracket. The match is picked by the places of its players. */
const stage = { isOn: asked.has("stage"), id: null, until: 0 };
document.body.classList.toggle("on-stage", stage.isOn);

/** The match that the stage shows now, of those with a board: it stays until it has ended. */
function pick(run) {
  const places = new Map(run.standings.map(({ name }, place) => [name, place]));
  const rank = ({ seats }) => seats.reduce((sum, { entrant, name }) => sum + (places.get(entrant ?? name) ?? ROWS), 0);
  const live = run.running.filter(({ board }) => board === "live");
  const current = live.find(({ id }) => id === stage.id);
  if (current) return current;
  const ended = run.ended.find(({ id }) => id === stage.id);
  if (ended && !stage.until) {
    stage.until = Date.now() + RESULT_STAYS;
    // Until then more may have been shown.
    setTimeout(() => show(lastShown), RESULT_STAYS + 1);
  }
  if (ended && Date.now() < stage.until) return ended;
  [stage.id, stage.until] = [null, 0];
  const next = live.toSorted((one, other) => rank(one) - rank(other))[0];
  stage.id = next?.id ?? null;
  return next ?? null;
}

/** Shows the match of the stage with the score of its pairing, or what comes between matches. */
function showStage(run) {
  const match = pick(run);
  document.body.classList.toggle("between", !match);
  if (!match) return showBoards([]);
  if (match.board === "live") showBoards([match]);
  const board = boards.get(match.id), names = sides(match.seats);
  const pairs = (run.bracket ?? []).flatMap(({ pairs }) => pairs);
  const pair = pairs.findLast(({ entrants }) => names.every((name) => entrants.includes(name)));
  board?.who.forEach((line, n) => { line.children[2].textContent = pair ? halves(pair.points[pair.entrants.indexOf(names[n])]) : ""; });
  if (match.result) $("state").textContent = match.result.text;
}

/** What the page shows of a run, by the ids of its parts: it has some of them. */
const PARTS = {
  title({ story, name }) {
    document.title = story.heading || name;
    $("title").textContent = story.heading || name;
  },
  why({ story }) {
    refill($("why"), ...told(story));
  },
  podium(run) {
    // In a knockout places follow from the bracket, not from points.
    podium(run.bracket ? [] : run.standings);
    if (run.ladder === null || hasIntroduced) return;
    hasIntroduced = true;
    // If that fails, no finals are named.
    introduce().catch(() => {});
  },
  bracket: showBracket,
  running(run) {
    if (stage.isOn) showStage(run);
    else showBoards(run.running);
    const none = element("li", { class: "muted" }, "No match is in progress.");
    const others = run.running.filter(({ id }) => !boards.has(id));
    refill($("running"), ...(run.running_count ? others.slice(0, isStart ? FIRST : others.length).map(item) : [none]));
    if (!isStart) return;
    $("all-running").hidden = !run.running_count;
    $("all-running").textContent = run.running_count === 1 ? "The match in progress" : `All ${run.running_count} matches in progress`;
  },
  next({ next }) {
    $("next-section").hidden = !next.length;
    if (isStart) $("next-section").parentElement.classList.toggle("two", next.length > 0);
    refill($("next"), ...next.map(({ display_names: names, why }) =>
      element("li", {}, element("b", {}, names.join(" – ")), element("p", { class: "small muted" }, why))));
  },
  rulings: showRulings,
  standings: showStandings,
  reported({ reported }) {
    refill($("reported"), ...reportedTables(reported));
  },
  ended(run) {
    const newest = run.ended.at(-1)?.number ?? 0;
    const rest = older.filter(({ number }) => number < newest);
    const all = [...run.ended, ...rest];
    refill($("ended"), ...(isStart ? all.slice(0, FIRST) : all).map(item));
    $("ended").parentElement.hidden = !run.ended_count;
    if (isStart) return $("all-ended").replaceChildren(`All ${run.ended_count} matches`);
    const last = (rest.at(-1) ?? run.ended.at(-1))?.number ?? 0;
    $("more").hidden = last <= 1;
    $("more").onclick = async () => {
      const { matches } = await getJson(`${root}api/v1/matches?state=ended&before=${last}`);
      older = [...rest, ...matches];
      show(run);
    };
  },
  "all-rulings"(run) {
    $("all-rulings").onclick = () => { hasAllRulings = true; showRulings(run); };
  },
  search(run) {
    $("search").onsubmit = (event) => { event.preventDefault(); turnTo(0, run); };
    $("q").oninput = $("order").onchange = () => turnTo(0, run);
  },
};

/** What was shown last. */
let lastShown = null;

function show(run) {
  lastShown = run;
  const delay = run.delay ? ` · boards ${run.delay} moves behind` : "";
  const info = run.info_delay ? ` · what bots say of their searches ${run.info_delay} moves later` : "";
  $("state").textContent = `${run.game.title} · ${run.running_count} in progress, ${run.ended_count} ended${delay}${info}`;
  for (const [id, draw] of Object.entries(PARTS)) if ($(id)) draw(run);
}

/** The latest state that has arrived and is not shown yet. */
let latest = null;

/** Follows the run. The stream reconnects by itself, unless a proxy answers for a server that is gone. */
function follow() {
  const stream = new EventSource(`${root}api/v1/events`);
  stream.addEventListener("snapshot", async ({ data }) => {
    hearing(true);
    latest = data;
    await released();
    // Several may have arrived meanwhile.
    if (latest) show(JSON.parse(latest));
    latest = null;
  });
  stream.addEventListener("error", () => {
    hearing(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(follow, 2000);
  });
}
follow();
