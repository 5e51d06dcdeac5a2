// Follows a match: its live board while it runs, its replay afterwards.
"use strict";
{
  const id = decodeURIComponent(location.pathname.split("/").pop());
  const { root } = document.documentElement.dataset, path = `${root}api/v1/matches/${encodeURIComponent(id)}`;
  const say = (text) => { $("state").textContent = text; };
  $("id").textContent = id;
  /** A sign that the match is in progress. */
  const sayLive = () => $("state").replaceChildren(element("span", { class: "tag live" }, "Live"));

  /** The seats as lists of matches show them. */
  let seats = [];
  /** Whether they are players of a ladder. */
  const hasPlayers = document.querySelector("#pages a[href$='join']") !== null;

  /** Says that a ruling replaces the result. */
  function showRuling({ ruling }) {
    $("ruling").hidden = !ruling;
    if (!ruling) return;
    const { id: number, outcome, at, reason } = ruling;
    const said = element("p", {});
    said.append(element("b", {}, `This match is ${outcome}`), ` by ruling ${number} of ${at.slice(0, 10)}.`);
    $("ruling").replaceChildren(said, ...reason ? [element("p", {}, reason)] : []);
  }

  /** What is known of the match besides its board. */
  let known = {};

  function link(href, text, attributes = {}) {
    return element("a", { href, ...attributes }, text);
  }

  /** Shows the facts about the match, as far as they are known. */
  function showFacts(more) {
    known = { ...known, ...more };
    const { began_at: began, ended_at: ended, clock, duration_ms: duration, rated, not_rated: whyNot, return_match: other, board, moves, result } = known;
    const facts = [
      ["Began", began && minute(began)],
      ["Ended", ended && minute(ended)],
      ["Clock", clock],
      ["Duration", duration !== undefined && inWords(duration)],
      // As in the heading, with those of the opening.
      ["Moves", result && String((board === "replay" && replay?.steps.at(-1).n) || (moves ?? ""))],
      ["Rated", rated !== undefined && (rated ? "yes" : `no: ${whyNot}`)],
      ["Return match", other && link(encodeURIComponent(other), other)],
    ].filter(([, value]) => value);
    $("about").hidden = !facts.length;
    const held = document.activeElement?.closest("#facts a")?.href;
    $("facts").replaceChildren(...facts.map(([label, value]) => {
      const fact = element("div", {}), shown = element("dd", {});
      shown.append(value);
      fact.append(element("dt", {}, label), shown);
      return fact;
    }));
    if (held) $("facts").querySelector("a")?.focus({ preventScroll: true });
    $("get").hidden = board !== "replay";
    if (board !== "replay" || $("get").firstChild) return;
    $("get").append(link(`${path}/record`, "Download the record", { download: `${id}.jsonl` }), " and verify it: ", element("code", {}, `referee verify ${id}.jsonl`));
  }

  /** A moment, to the minute. */
  const minute = (at) => `${at.slice(0, 16).replace("T", " ")} UTC`;

  /** A time in words. */
  function inWords(ms) {
    return ms < 60000 ? `${+(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min ${Math.round(ms / 1000) % 60} s`;
  }

  /** The stream reconnects by itself and continues after the last event that it has received. */
  function follow() {
    const stream = new EventSource(`${path}/events`);
    let isLive = false;
    stream.addEventListener("snapshot", ({ data }) => {
      const shown = JSON.parse(data);
      isLive = !shown.result;
      shown.seats.forEach((seat, n) => {
        // On a ladder players have pages.
        if (hasPlayers) seat.href = `${root}players/${encodeURIComponent(seat.name)}`;
        if (!seats[n]?.entrant) seat.name = seats[n]?.display_name ?? seat.name;
      });
      $("match").hidden = false;
      $("evidence").append($("about"));
      start({ view: 0, matches: [shown] });
      showFacts({ clock: shown.clock });
      if (isLive) sayLive();
      else say("");
    });
    stream.addEventListener("step", ({ data }) => {
      const { step, looks } = JSON.parse(data);
      append(step, looks);
      sayLive();
    });
    stream.addEventListener("end", ({ data }) => {
      stream.close();
      const { result, replay } = JSON.parse(data);
      if (!isLive) return;
      conclude(result);
      say("ended ");
      // What is stored of it now.
      setTimeout(() => { ask().then(showFacts, () => {}); }, 2000);
      if (replay) {
        const again = element("button", { type: "button" }, "Replay with everything");
        again.addEventListener("click", () => location.reload());
        $("state").append(again);
      }
    });
    stream.addEventListener("error", () => {
      if (stream.readyState === EventSource.CLOSED) setTimeout(look, 2000);
      else say("The server does not answer; this page tries again.");
    });
  }

  const ask = async () => (await fetch(path)).json();

  /** Waits until there is something to look at. */
  async function look() {
    try {
      const match = await ask(), { board, error, result } = match;
      seats = match.seats ?? [];
      showRuling(match);
      if (!error) showFacts(match);
      if (board === "live" || board === "replay") return follow();
      if (error) {
        $("title").textContent = id;
        return say(error);
      }
      $("title").textContent = result ? result.text : `Match ${id}`;
      say(board === "held" ? "The board is shown when all matches of the same deal have ended." : "There is no board of this match.");
    } catch {
      say("The server does not answer; this page tries again.");
    }
    setTimeout(look, 2000);
  }
  look();
}
