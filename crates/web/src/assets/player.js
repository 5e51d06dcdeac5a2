// Shows a player of a ladder: results, rating over time, versions and last matches.
"use strict";
{
  const name = decodeURIComponent(location.pathname.split("/").pop());
  const shape = (kind, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const day = (at) => at.slice(0, 10);
  const minute = (at) => at.slice(0, 16).replace("T", " ");

  /** The rating over time with its interval. */
  function plot(history) {
    const [left, right, top, bottom] = [56, 712, 10, 226];
    const known = history.filter(({ rating }) => rating.low !== null && rating.high !== null);
    if (known.length < 2) return;
    const times = known.map(({ at }) => Date.parse(at));
    const low = Math.min(...known.map(({ rating }) => rating.low)), high = Math.max(...known.map(({ rating }) => rating.high));
    const step = [10, 20, 50, 100, 200, 500, 1000, 2000].find((size) => (high - low) / size <= 6) ?? 5000;
    const [least, most] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
    const x = (time) => left + (right - left) * (time - times[0]) / Math.max(1, times.at(-1) - times[0]);
    const y = (elo) => bottom - (bottom - top) * (elo - least) / Math.max(1, most - least);
    const points = (of) => known.map(({ rating }, n) => `${x(times[n]).toFixed(1)},${y(of(rating)).toFixed(1)}`);
    const shapes = [];
    for (let elo = least; elo <= most; elo += step) {
      shapes.push(shape("line", { x1: left, x2: right, y1: y(elo), y2: y(elo), class: "grid" }));
      shapes.push(shape("text", { x: left - 8, y: y(elo) + 4, "text-anchor": "end" }, elo));
    }
    shapes.push(shape("text", { x: left, y: bottom + 22 }, minute(known[0].at)));
    shapes.push(shape("text", { x: right, y: bottom + 22, "text-anchor": "end" }, minute(known.at(-1).at)));
    shapes.push(shape("polygon", { points: [...points(({ high }) => high), ...points(({ low }) => low).reverse()].join(" "), class: "band" }));
    shapes.push(shape("polyline", { points: points(({ value }) => value).join(" "), class: "line" }));
    const last = known.at(-1).rating;
    $("plot").replaceChildren(...shapes);
    $("plot").setAttribute("aria-label", `Rating from ${day(known[0].at)} to ${day(known.at(-1).at)}: ${Math.round(known[0].rating.value)} to ${Math.round(last.value)} Elo`);
    $("rating").hidden = false;
  }

  function show(player) {
    document.title = `${player.name}: ${Math.round(player.rating.value)}`;
    $("title").textContent = player.name;
    $("state").textContent = player.state ?? (player.online ? "online" : player.last_seen ? `last match ${minute(player.last_seen)} UTC` : "no match yet");
    const figures = [
      ["Place", player.place ?? (player.anchor ? "none: an anchor" : "none: an earlier version")],
      ["Elo", `${elo(player.rating)}${player.provisional ? ", provisional" : ""}`],
      ...player.anchor || player.margin_in_field === null ? [] : [["In the field", `± ${Math.round(player.margin_in_field)}`]],
      ["Rated matches", player.matches],
      ["Won, drawn, lost", `${player.wins}, ${player.draws}, ${player.losses}`],
      ["With a fault", player.faulted],
    ];
    $("figures").replaceChildren(...figures.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)]));
    plot(player.history);
    const others = player.versions.filter((version) => version !== player.name);
    $("others").hidden = others.length === 0;
    $("versions").replaceChildren(...others.map((version) => element("li", {}, playerLink(version))));
    $("ended").replaceChildren(...player.last_matches.map(({ id, seats, text, ended_at, rated }) => element("li", {},
      element("a", { href: `${root}matches/${encodeURIComponent(id)}` }, id),
      element("span", { class: "names" }, seats.join(" – ")),
      element("span", { class: "faint" }, `${text}${rated ? "" : ", not rated"}, ${minute(ended_at)}`))));
  }

  async function look() {
    try {
      const player = await (await fetch(`${root}api/v1/players/${encodeURIComponent(name)}`)).json();
      if (player.error) {
        $("title").textContent = name;
        $("state").textContent = player.error;
        return;
      }
      show(player);
    } catch {
      $("state").textContent = "connecting …";
    }
    setTimeout(look, 10_000);
  }
  look();
}
