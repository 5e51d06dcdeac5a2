// Finds entrants by their names. It fills the rows of the standings, which have the form of those in the page.
{
  const MOST = 50;
  const $ = (id) => document.getElementById(id), body = $("rows").tBodies[0];
  const template = body.rows[0].cloneNode(true), before = [...body.rows], said = $("count").textContent;
  const pager = document.querySelector(".pager");
  const halves = (points) => (points % 1 === 0.5 ? `${points > 1 ? Math.floor(points) : ""}½` : String(+points.toFixed(3)));
  const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0");

  /** A row like the others, on the scale from `low` to `high`. */
  function row([place, name, number, points, possible, [won, drawn, lost], elo, faulted], low, high) {
    const made = template.cloneNode(true), cells = [...made.cells];
    const set = (cell, text, small) => {
      cell.textContent = small ? `${text} ` : text;
      if (small) cell.append(Object.assign(document.createElement("span"), { className: "muted small", textContent: small }));
    };
    const at = (value) => `${(2 + 96 * Math.max(0, Math.min(1, (value - low) / (high - low)))).toFixed(1)}%`;
    set(cells[0], place);
    const link = Object.assign(document.createElement("a"), { href: `entrants/${number}.html`, textContent: name });
    cells[1].replaceChildren(link);
    set(cells[2], halves(points), `of ${possible}`);
    const [draws, wins] = made.querySelectorAll(".wdl .d, .wdl .w"), all = Math.max(1, won + drawn + lost);
    draws.setAttribute("width", `${100 * (won + drawn) / all}%`);
    wins.setAttribute("width", `${100 * won / all}%`);
    made.querySelector(".wdl").setAttribute("aria-label", `${won} won, ${drawn} drawn, ${lost} lost`);
    set(cells[4], `${won} / ${drawn} / ${lost}`);
    if (elo) {
      const [value, least, most] = elo, bar = made.querySelector(".iv");
      bar?.querySelector(".span").setAttribute("x1", at(least));
      bar?.querySelector(".span").setAttribute("x2", at(most));
      bar?.querySelector("circle").setAttribute("cx", at(value));
      bar?.setAttribute("aria-label", `${signed(least)} to ${signed(most)}`);
      set(cells[6], signed(value), `± ${Math.round((most - least) / 2)}`);
    } else {
      cells[5].textContent = "no data";
      set(cells[6], "–");
    }
    for (const cell of cells.slice(7, -1)) cell.textContent = "";
    set(cells.at(-1), faulted || "");
    return made;
  }

  function search() {
    const wanted = $("q").value.trim().toLowerCase();
    if (pager) pager.hidden = wanted !== "";
    if (!wanted) {
      body.replaceChildren(...before);
      $("count").textContent = said;
      return;
    }
    const all = ENTRANTS.filter(([, name]) => name.toLowerCase().includes(wanted)), found = all.slice(0, MOST);
    const known = found.map(([, , , , , , elo]) => elo).filter(Boolean);
    const [low, high] = [Math.min(...known.map(([, low]) => low)), Math.max(...known.map(([, , high]) => high))];
    body.replaceChildren(...found.map((entrant) => row(entrant, low, high)));
    const more = all.length > MOST ? `, the first ${MOST} of them here` : "";
    $("count").textContent = all.length ? `${all.length} found${more}` : "No entrant has such a name";
  }
  $("search").hidden = false;
  $("q").addEventListener("input", search);
  $("search").addEventListener("submit", (event) => { event.preventDefault(); search(); });
}
