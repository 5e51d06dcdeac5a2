// Follows a match: its live board while it runs, its replay afterwards.
"use strict";
{
  const id = decodeURIComponent(location.pathname.split("/").pop());
  const path = `${document.documentElement.dataset.root}api/v1/matches/${encodeURIComponent(id)}`;
  const say = (text) => { $("state").textContent = text; };
  $("id").textContent = id;
  /** A sign that the match is in progress. */
  const sayLive = () => $("state").replaceChildren(element("span", { class: "tag live" }, "Live"));

  /** The seats as lists of matches show them. */
  let seats = [];

  /** Says that a ruling replaces the result. */
  function showRuling({ ruling }) {
    $("ruling").hidden = !ruling;
    if (!ruling) return;
    const { id: number, outcome, at, reason } = ruling;
    const said = element("p", {});
    said.append(element("b", {}, `This match is ${outcome}`), ` by ruling ${number} of ${at.slice(0, 10)}.`);
    $("ruling").replaceChildren(said, ...reason ? [element("p", {}, reason)] : []);
  }

  /** The stream reconnects by itself and continues after the last event that it has received. */
  function follow() {
    const stream = new EventSource(`${path}/events`);
    let isLive = false;
    stream.addEventListener("snapshot", ({ data }) => {
      const shown = JSON.parse(data);
      isLive = !shown.result;
      shown.seats.forEach((seat, n) => { if (!seats[n]?.entrant) seat.name = seats[n]?.display_name ?? seat.name; });
      $("match").hidden = false;
      start({ view: 0, matches: [shown] });
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
      if (replay) {
        const again = element("button", { type: "button" }, "Replay with everything");
        again.addEventListener("click", () => location.reload());
        $("state").append(again);
      }
    });
    stream.addEventListener("error", () => {
      if (stream.readyState === EventSource.CLOSED) setTimeout(look, 2000);
      else say("connecting …");
    });
  }

  /** Waits until there is something to look at. */
  async function look() {
    try {
      const match = await (await fetch(path)).json(), { board, error, result } = match;
      seats = match.seats ?? [];
      showRuling(match);
      if (board === "live" || board === "replay") return follow();
      if (error) {
        $("title").textContent = id;
        return say(error);
      }
      $("title").textContent = result ? result.text : `Match ${id}`;
      say(board === "held" ? "The board is shown when all matches of the same deal have ended." : "There is no board of this match.");
    } catch {
      say("connecting …");
    }
    setTimeout(look, 2000);
  }
  look();
}
