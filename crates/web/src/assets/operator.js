// The page of the operator of a projector: what waits, and the keys that show it.
"use strict";
{
  const secret = location.hash.slice(1);

  async function ask(method, path) {
    const answer = await fetch(`${root}api/v1/${path}`, { method, headers: { Authorization: `Bearer ${secret}` } });
    const json = await answer.json();
    if (!answer.ok) throw new Error(json.error);
    const { matches } = json, waiting = matches.filter(({ revealed }) => !revealed).length;
    $("state").textContent = `${waiting} ${waiting === 1 ? "match waits" : "matches wait"} to be revealed. Nobody else sees this page.`;
    $("waiting").replaceChildren(...matches.map(({ id, seats, revealed, ended }) => element("li", { class: "row" },
      element("b", { class: "grow" }, seats.join(" – ")), element("span", { class: "muted" }, ended ? "has ended" : "in progress"),
      element("span", { class: "tag" }, revealed ? "revealed" : id))));
  }

  const act = (method, path) => ask(method, path).catch((error) => { $("state").textContent = error.message; });
  $("reveal").addEventListener("click", () => act("POST", "stage/reveal"));
  $("skip").addEventListener("click", () => act("POST", "stage/skip"));
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("button, a")) return;
    if (event.key === " ") act("POST", "stage/reveal");
    else if (event.key === "s") act("POST", "stage/skip");
    else return;
    event.preventDefault();
  });

  async function follow() {
    await act("GET", "stage");
    setTimeout(follow, 1000);
  }
  follow();
}
