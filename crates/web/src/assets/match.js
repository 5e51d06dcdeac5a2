// Follows a match: its live board while it runs, its replay afterwards.
"use strict";
{
  const id = decodeURIComponent(location.pathname.split("/").pop());
  const path = `${document.documentElement.dataset.root}api/v1/matches/${encodeURIComponent(id)}`;
  const say = (text) => { $("state").textContent = text; };
  $("id").textContent = id;
  $("brand").textContent = "Matches";
  /** A sign that the match is in progress. */
  const sayLive = () => $("state").replaceChildren(element("span", { class: "tag live" }, "Live"));

  /** The stream reconnects by itself and continues after the last event that it has received. */
  function follow() {
    const stream = new EventSource(`${path}/events`);
    let isLive = false;
    stream.addEventListener("snapshot", ({ data }) => {
      const shown = JSON.parse(data);
      isLive = !shown.result;
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
      const answer = await fetch(path);
      const { board, error, result } = await answer.json();
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
