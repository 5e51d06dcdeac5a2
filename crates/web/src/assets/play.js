// Begins a match between a visitor and a bot.
"use strict";
{
  const of = (id) => document.getElementById(id);
  const refuse = (why) => {
    of("refused").textContent = why;
    of("refused").hidden = false;
    of("begin").disabled = false;
  };
  of("play").addEventListener("submit", async (event) => {
    event.preventDefault();
    of("refused").hidden = true;
    of("begin").disabled = true;
    const seat = of("seat").value;
    const asked = { bot: of("bot").value, ...(seat && { seat: Number(seat) }) };
    try {
      const response = await fetch("play", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(asked) });
      const answer = await response.json();
      if (response.ok) location.assign(answer.path);
      else refuse(answer.error);
    } catch {
      refuse("The server does not answer.");
    }
  });
  // Who comes back begins another match.
  addEventListener("pageshow", () => { of("begin").disabled = false; });
}
