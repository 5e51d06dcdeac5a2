// Shows a player of a ladder: results, rating over time, versions and last matches.
"use strict";
{
  const name = decodeURIComponent(location.pathname.split("/").pop());
  const day = (at) => at.slice(0, 10);
  /** The number of opponents and matches that are shown at first. */
  const FIRST = 10;

  /** The rating over time with its interval. */
  function plot(history) {
    const known = history.filter(({ rating }) => rating.low !== null && rating.high !== null);
    $("rating").hidden = known.length < 2;
    if (known.length < 2) return;
    const times = known.map(({ at }) => Date.parse(at));
    const [low, high] = scaleOf(known.map(({ rating }) => rating));
    const step = [10, 20, 50, 100, 200, 500, 1000, 2000].find((size) => (high - low) / size <= 4) ?? 5000;
    const [least, most] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
    const x = (time) => 1000 * (time - times[0]) / Math.max(1, times.at(-1) - times[0]);
    const y = (elo) => 100 - 100 * (elo - least) / Math.max(1, most - least);
    const points = (of) => known.map(({ rating }, n) => `${x(times[n]).toFixed(1)},${y(of(rating)).toFixed(1)}`);
    const marks = Array.from({ length: Math.round((most - least) / step) + 1 }, (_, n) => most - n * step);
    $("scale").replaceChildren(...marks.map((mark) => element("span", {}, whole(mark))));
    $("dates").replaceChildren(element("span", {}, day(known[0].at)), element("span", {}, day(known.at(-1).at)));
    $("plot").replaceChildren(
      drawing("path", { class: "grid", d: marks.map((mark) => `M0 ${y(mark).toFixed(1)}h1000`).join("") }),
      drawing("polygon", { points: [...points(({ high }) => high), ...points(({ low }) => low).reverse()].join(" "), class: "band" }),
      drawing("polyline", { points: points(({ value }) => value).join(" "), class: "l1 line" }));
    const last = known.at(-1).rating;
    $("plot").setAttribute("aria-label", `Rating from ${day(known[0].at)} to ${day(known.at(-1).at)}: ${whole(known[0].rating.value)} to ${whole(last.value)} Elo`);
  }

  /** The results against each opponent. */
  function opponents(met) {
    $("met").hidden = !met.length;
    showFirst($("opponents").tBodies[0], $("all-met"), `All ${met.length} opponents`, met.map((other) => {
      const { points, matches, wins, draws, losses, expected, last_match: last } = other;
      const more = Math.round(10 * (points - expected)) / 10;
      const text = more === 0 ? "0.0" : `${more > 0 ? "+" : "−"}${Math.abs(more).toFixed(1)}`;
      const cell = (attributes, ...children) => element("td", attributes, ...children);
      return element("tr", {},
        cell({ class: "name" }, playerLink(other)),
        cell({ class: "lead num" }, `${halves(points)} `, element("span", { class: "muted small" }, `of ${matches}`)),
        cell({ class: "bars" }, bar({ wins, draws, losses })),
        cell({ class: "num beside" }, `${wins} / ${draws} / ${losses}`),
        cell({ class: `num ${more > 0 ? "up" : more < 0 ? "down" : ""}`, "data-l": "Against expectation" }, text),
        cell({ class: "num", "data-l": "Last match" }, matchLink(last)));
    }));
  }

  const standing = ({ place, anchor, newest }) => (place ? `${ordinal(place)} on this ladder` : anchor ? "An anchor, whose rating is fixed" : newest ? "Without a place" : "An earlier version");

  /** How a match ended for this player, as a letter; null without a result. */
  function letter({ seats, ranks }) {
    if (!ranks) return null;
    const best = Math.min(...ranks), own = ranks[seats.indexOf(name)];
    return own > best ? "L" : ranks.every((rank) => rank === best) ? "D" : "W";
  }

  /** Shows the first rows of a list, and all of them on request. */
  function showFirst(list, button, text, rows) {
    const isWhole = button.dataset.whole === "true";
    button.hidden = isWhole || rows.length <= FIRST;
    button.textContent = text;
    button.onclick = () => {
      button.dataset.whole = "true";
      button.hidden = true;
      refill(list, ...rows);
      list.querySelectorAll("a")[FIRST]?.focus();
    };
    refill(list, ...rows.slice(0, isWhole ? rows.length : FIRST));
  }

  function show(player) {
    document.title = `${shownName(player)}: ${whole(player.rating.value)}`;
    $("title").textContent = $("name").textContent = shownName(player);
    const results = `${player.wins} won, ${player.draws} drawn, ${player.losses} lost`;
    const where = player.season ? `Last played in season ${player.season}` : standing(player);
    const whose = player.owner ? `, by ${player.owner}${player.affiliation ? ` (${player.affiliation})` : ""}` : "";
    $("told").textContent = player.matches ? `${where}${whose}.` : `No rated match has ended yet${whose}.`;
    const [now, isGood] = presence(player);
    const says = now || (player.last_seen ? `last match ${minute(player.last_seen)} UTC` : "not seen yet");
    $("state").replaceChildren(element("span", { class: isGood ? "tag good" : "tag" }, says),
      ...player.display_name ? [element("span", { class: "small muted" }, player.name)] : []);
    const points = player.wins + player.draws / 2, of = player.margin_in_field;
    const figures = [
      ["Rating", elo(player.rating), player.anchor || of === null ? "" : `± ${Math.round(of)} against the field${player.provisional ? ", still uncertain" : ""}`],
      ["Rated matches", [player.matches], results],
      ["Points", [player.matches ? `${Math.round(100 * points / player.matches)}%` : "–"], "of its rated matches"],
      ["Faults", [player.faulted], player.faulted === 1 ? "match with a fault" : "matches with a fault"],
    ];
    $("figures").replaceChildren(...figures.map(([key, value, small]) =>
      element("div", {}, element("dt", {}, key), element("dd", {}, ...value, ...small ? [element("small", {}, small)] : []))));
    plot(player.history);
    opponents(player.opponents);
    refill($("reported"), ...reportedTables(player.reported));
    const others = player.versions.filter((version) => version !== player.name);
    $("others").hidden = others.length === 0;
    $("others").parentElement.classList.toggle("half", others.length > 0);
    refill($("versions"), ...others.map((version) => element("li", {}, playerLink({ name: version }))));
    showFirst($("ended"), $("all-ended"), `The last ${player.last_matches.length}`, player.last_matches.map((match) => element("li", { class: "row" },
      form(letter(match) ?? ""), element("span", { class: "grow" }, match.text, ...match.ruling ? [" ", element("span", { class: "tag warn" }, ruled(match.ruling))] : []),
      element("span", { class: "small muted" }, `${match.rated ? "" : "not rated, "}${minute(match.ended_at)}`), matchLink(match.id))));
  }

  async function look() {
    try {
      const player = await getJson(`${root}api/v1/players/${encodeURIComponent(name)}`);
      if (player.error) {
        $("title").textContent = $("name").textContent = name;
        $("told").textContent = "There is no such player.";
        $("main").querySelectorAll("section").forEach((part) => { part.hidden = true; });
        return;
      }
      show(player);
      hearing(true);
    } catch {
      hearing(false);
    }
    setTimeout(look, 10_000);
  }
  look();
}
