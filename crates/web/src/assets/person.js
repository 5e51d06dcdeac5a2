// Lets a person play a seat: by places on the board, by buttons, or by a text field.
"use strict";
{
  const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const hits = shape("g", { role: "group", "aria-label": "Places to choose" });
  /** What the server says of the seat, and when it came. */
  let now = { turn: null, places: [] }, since = 0;
  /** The places that are chosen, whether an answer is on its way, and the place that the Tab key reaches. */
  let chosen = [], isSent = false, reached = -1, hadFocus = false, isOver = false, isTurned = false;

  $("side").prepend($("turn"));
  // Its places are buttons, which an image could not contain.
  $("board").setAttribute("role", "group");

  const moves = () => now.turn?.moves ?? [];
  const begins = (places, start) => start.every((place, n) => places[n] === place);
  /** The moves that go on from what is chosen. */
  const going = () => moves().filter(([, places]) => begins(places, chosen));
  const names = (places) => places.map((place) => now.places[place].name).join(", ");

  async function send(act) {
    if (isSent) return;
    isSent = true;
    hadFocus = hits.contains(document.activeElement);
    show();
    try {
      const response = await fetch("answer", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(act) });
      if (!response.ok) refuse((await response.json()).error);
    } catch {
      refuse("The referee does not answer.");
    }
  }

  function refuse(why) {
    isSent = false;
    chosen = [];
    show();
    $("refused").textContent = why;
    $("refused").hidden = !why;
  }

  const play = (text) => send({ move: { turn: now.turn.number, text, offer_draw: $("offer").checked } });

  /** Chooses a place: the next one of a move, or the first one of another. A chosen one is given up. */
  function choose(place) {
    if (isSent || !now.turn) return;
    const next = going().some(([, places]) => places[chosen.length] === place) ? [...chosen, place]
      : chosen.includes(place) ? [] : [place];
    chosen = next;
    reached = place;
    const [only, ...others] = going();
    if (chosen.length && only && !others.length && chosen.length >= Math.min(2, only[1].length)) return play(only[0]);
    show();
  }

  function cancel() {
    chosen = [];
    show();
  }

  /** The places that can be chosen now, with what they are. */
  function open() {
    const found = new Map();
    if (!now.turn || isSent || isOver || !isLast(at)) return found;
    for (const [, [first]] of moves()) if (first !== undefined) found.set(first, chosen.length ? "other" : "from");
    for (const [, places] of going()) if (places.length > chosen.length) found.set(places[chosen.length], chosen.length ? "to" : "from");
    for (const place of chosen) found.set(place, "chosen");
    return found;
  }

  function label(place, kind) {
    const start = kind === "to" ? [...chosen, place] : [place];
    const texts = moves().filter(([, places]) => begins(places, start)).map(([text]) => text);
    const listed = texts.length > 4 ? `${texts.length} moves` : texts.join(", ");
    return kind === "chosen" ? `${names([place])}, chosen` : `${names([place])}: ${listed}`;
  }

  function drawPlaces() {
    const places = open();
    const isFocused = hits.contains(document.activeElement);
    if (!places.has(reached)) reached = places.keys().next().value ?? -1;
    hits.replaceChildren(...[...places].map(([place_, kind]) => {
      const { x, y, turn, form } = now.places[place_];
      const hit = shape("g", { class: `hit ${kind}`, role: "button", tabindex: place_ === reached ? 0 : -1, "aria-label": label(place_, kind), "data-place": place_ });
      const area = part(form, []);
      area.removeAttribute("class");
      hit.append(area);
      place(hit, [x, y, 0, 0, turn]);
      return hit;
    }));
    $("board").append(hits);
    if (places.size && (isFocused || (hadFocus && document.activeElement === document.body))) {
      hadFocus = false;
      focus(reached);
    }
  }

  function focus(place_) {
    reached = place_;
    for (const hit of hits.children) hit.setAttribute("tabindex", Number(hit.dataset.place) === place_ ? 0 : -1);
    hits.querySelector("[tabindex='0']")?.focus();
  }

  /** The nearest place in a direction: distance counts, and what is beside the direction twice. */
  function neighbour(from, [right, down]) {
    const middle = (hit) => { const { left, top, width, height } = hit.getBoundingClientRect(); return [left + width / 2, top + height / 2]; };
    const [x, y] = middle(from);
    let best = null, least = Infinity;
    for (const hit of hits.children) {
      const [dx, dy] = middle(hit).map((value, n) => value - [x, y][n]);
      const along = dx * right + dy * down, beside = Math.abs(dx * down) + Math.abs(dy * right);
      if (hit === from || along < 1 || along + 2 * beside >= least) continue;
      [best, least] = [hit, along + 2 * beside];
    }
    return best;
  }

  function button(text, act, kind = "") {
    const made = element("button", { type: "button", class: kind }, text);
    made.addEventListener("click", act);
    return made;
  }

  const others = () => replay.seats.map(({ name }) => name).filter((name, n) => n !== now.seat);

  function question() {
    if (isOver) return "The match is over.";
    if (!now.turn || isSent) return others().length === 1 ? `Waiting for ${others()[0]}.` : "Waiting for the others.";
    return chosen.length ? `Your move: ${names(chosen)}, then …` : "Your move.";
  }

  function tell(id, text) {
    // A live region speaks only of what changes.
    if ($(id).textContent !== text) $(id).textContent = text;
  }

  function show() {
    if (!replay) return;
    drawPlaces();
    tell("ask", question());
    const isAsked = Boolean(now.turn) && !isSent && !isOver;
    // Moves without another place to point at.
    const listed = isAsked ? going().filter(([, places]) => places.length === chosen.length) : [];
    $("choices").replaceChildren(...listed.map(([text]) => button(text, () => play(text))));
    $("move-form").hidden = !isAsked;
    $("offered").hidden = !(isAsked && now.turn.draw_offered);
    $("offering").hidden = !(isAsked && now.may_offer_draw);
    $("cancel").hidden = !(isAsked && chosen.length);
    $("resign").hidden = isOver;
    if (isOver) $("sure").hidden = true;
    $("record").hidden = !now.record;
    tell("record", `Record: ${now.record}`);
  }

  function tick() {
    if (isOver || !replay) return tell("time", "");
    const past = performance.now() - since, limit = now.turn?.limit_ms;
    if (now.turn && !isSent) return tell("time", typeof limit === "number" ? `${clock(Math.max(0, limit - past))} left` : "");
    const seconds = Math.floor(((now.since_ms ?? 0) + past) / 1000);
    tell("time", seconds ? clock(1000 * seconds).replace(".0 s", " s") : "");
  }

  /** Turns the board so that the pieces of the person's colour are at the bottom at first. */
  function turnBoard() {
    if (isTurned) return;
    isTurned = true;
    const colour = `f-${replay.seats[now.seat].tone}`, looks = replay.looks.map((parts) => parts.some(([, kind]) => kind.split(" ")[0] === colour));
    const own = [...stateAt(0).things.values()].filter(([, , look, layer]) => layer === 2 && looks[look]);
    const middle = own.reduce((sum, [, y]) => sum + y, 0) / own.length;
    if (middle < replay.size[1] * 0.45 && !isFlipped) flip();
  }

  const stream = new EventSource("events");
  stream.addEventListener("snapshot", ({ data }) => {
    $("match").hidden = false;
    $("state").textContent = "";
    start({ view: 0, matches: [JSON.parse(data)] });
    go(replay.steps.length - 1, true);
  });
  stream.addEventListener("step", ({ data }) => {
    const { step, looks } = JSON.parse(data);
    append(step, looks);
    if (!isLast(at)) go(replay.steps.length - 1, true);
  });
  stream.addEventListener("seat", ({ data }) => {
    const next = JSON.parse(data);
    const isNew = next.turn?.number !== now.turn?.number;
    [now, since] = [next, performance.now()];
    turnBoard();
    if (isNew) {
      [chosen, isSent] = [[], false];
      $("move").value = "";
      $("offer").checked = false;
      $("refused").textContent = now.turn?.refused ?? "";
      $("refused").hidden = !now.turn?.refused;
      $("legal").replaceChildren(...moves().map(([text]) => element("option", { value: text })));
    }
    show();
    tick();
  });
  stream.addEventListener("end", ({ data }) => {
    stream.close();
    isOver = true;
    $("match").classList.add("over");
    conclude(JSON.parse(data).result);
    show();
    tick();
  });
  stream.addEventListener("error", () => { $("state").textContent = "The referee does not answer. Trying again …"; });

  onShown = () => { if (now.places) show(); };
  setInterval(tick, 200);
  hits.addEventListener("click", (event) => {
    const hit = event.target.closest(".hit");
    // The second click of two is no answer to what the first has led to.
    if (hit && event.detail < 2) choose(Number(hit.dataset.place));
  });
  hits.addEventListener("keydown", (event) => {
    const hit = event.target.closest(".hit");
    if (!hit || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") choose(Number(hit.dataset.place));
    else if (DIRECTIONS[event.key]) {
      const next = neighbour(hit, DIRECTIONS[event.key]);
      if (next) focus(Number(next.dataset.place));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape" && chosen.length) cancel(); });
  $("cancel").addEventListener("click", cancel);
  $("move-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const said = $("move").value.trim(), fits = moves().filter(([text]) => text.toLowerCase().startsWith(said.toLowerCase()));
    const exact = moves().find(([text]) => text.toLowerCase() === said.toLowerCase()) ?? (fits.length === 1 ? fits[0] : null);
    if (!said) return;
    if (!now.turn.moves) play(said);
    else if (exact) play(exact[0]);
    else refuse(fits.length ? `“${said}” may be ${fits.slice(0, 6).map(([text]) => text).join(", ")}${fits.length > 6 ? ", …" : ""}.` : `“${said}” is not a legal move.`);
  });
  $("accept").addEventListener("click", () => play("accept draw"));
  $("resign").addEventListener("click", () => { $("sure").hidden = false; $("resign-no").focus(); });
  $("resign-no").addEventListener("click", () => { $("sure").hidden = true; $("resign").focus(); });
  $("resign-yes").addEventListener("click", () => { $("sure").hidden = true; send("resign"); });
}
