// Shows the run: matches in progress, standings, and matches that have ended. Text is never markup.
"use strict";
function item({ id, seats, moves, board, result }) {
  const names = seats.map(({ name }) => name).join(" – ");
  const line = [element("a", { href: `${root}matches/${encodeURIComponent(id)}` }, id), element("span", { class: "names" }, names)];
  const say = (text) => line.push(element("span", { class: "faint" }, text));
  if (result) say(result.text);
  else if (moves !== null) say(moves === 1 ? "1 move" : `${moves} moves`);
  if (board === "held") say("board shown when the deal is complete");
  if (board === "none") say("no board");
  return element("li", {}, ...line);
}

/** The name of a row; on a ladder a link, and a dot for a player that is online. */
const named = ({ name, rating, online, state }) => rating ? [
  playerLink(name),
  ...online ? [element("span", { class: "online", title: "online" }, " ●")] : [],
  ...state ? [element("span", { class: "faint" }, ` ${state}`)] : [],
] : [name];

function cells(row) {
  const { place, points, rating, provisional, matches, wins, draws, losses } = row;
  const figure = rating ? `${elo(rating)}${provisional ? " ?" : ""}` : points;
  const values = [[place ?? ""], named(row), [figure], [matches], [wins], [draws], [losses]];
  return element("tr", provisional ? { class: "faint" } : {}, ...values.map((value) => element("td", {}, ...value)));
}

/** Shows the name of a ladder, and links to the others of its league. */
async function introduce() {
  const { league, name, others } = await (await fetch(`${root}api/v1/ladder`)).json();
  $("title").textContent = league ? `${league}: ${name}` : name;
  $("others").replaceChildren(...others.flatMap((other) => [" · ", ladderLink(other)]));
}

/** The oldest matches of the list, which the stream does not contain. */
let older = [];

function show(run) {
  document.title = `${run.game.title}: ${run.running_count} in progress, ${run.ended_count} ended`;
  const delay = run.delay ? `, boards ${run.delay} moves behind` : "";
  $("state").textContent = `${run.running_count} in progress, ${run.ended_count} ended${delay}`;
  if ($("join").hidden) $("title").textContent = run.game.title;
  // If that fails, the title of the game stays.
  if (run.ladder && $("join").hidden) introduce().catch(() => {});
  $("join").hidden = !run.ladder;
  const none = element("li", { class: "faint" }, "no match");
  $("running").replaceChildren(...(run.running_count ? run.running.map(item) : [none]));
  $("points").textContent = run.standings.some(({ rating }) => rating) ? "Elo" : "Points";
  $("standings").tBodies[0].replaceChildren(...run.standings.map(cells));
  $("legend").hidden = !run.standings.some(({ provisional }) => provisional);
  const newest = run.ended.at(-1)?.number ?? 0;
  const rest = older.filter(({ number }) => number < newest);
  $("ended").replaceChildren(...[...run.ended, ...rest].map(item));
  const last = (rest.at(-1) ?? run.ended.at(-1))?.number ?? 0;
  $("ended").parentElement.hidden = !run.ended_count;
  $("more").hidden = last <= 1;
  $("more").onclick = async () => {
    const { matches } = await (await fetch(`${root}api/v1/matches?state=ended&before=${last}`)).json();
    older = [...rest, ...matches];
    show(run);
  };
}

const stream = new EventSource(`${root}api/v1/events`);
stream.addEventListener("snapshot", ({ data }) => show(JSON.parse(data)));
stream.addEventListener("error", () => { $("state").textContent = "connecting …"; });
