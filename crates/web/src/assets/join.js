// Shows how a bot joins a ladder, with a bot that can be copied.
"use strict";
{
  /** How one gets a token. */
  function tokenLine({ port, url, signup }) {
    const address = url ?? `${location.protocol}//${location.hostname}:${port}/`;
    const link = element("a", { href: address }, signup === "open" ? "Sign up" : "the page for owners");
    if (signup === "open") return [link, " to get a token, and add a bot there."];
    if (signup === "invite") return ["Ask the organiser for an invitation, sign up with it on ", link, " to get a token, and add a bot there."];
    return ["Ask the organiser for a token, and add a bot on ", link, "."];
  }

  async function look() {
    try {
      const ladder = await getJson(`${root}api/v1/ladder`);
      if (ladder.error) {
        $("state").textContent = ladder.error;
        return;
      }
      const { league, name, game, rules_changed: rules, port, tls, online, display_names: shown, owners } = ladder;
      const whole = league ? `${league}: ${name}` : name;
      $("title").textContent = `Join ${whole}`;
      document.title = $("title").textContent;
      $("state").textContent = port === null
        ? "Only programs of the organiser play on this ladder."
        : `${game}, bots connect to ${location.hostname}:${port}${tls ? " with TLS" : ""}`;
      if (rules) {
        const since = `match ${rules.since} (${rules.at.slice(0, 10)})`;
        $("state").textContent += `. The rules have changed since ${since}: ${rules.changed.join(", ")}`;
      }
      $("run").hidden = false;
      $("how-title").closest("section").hidden = port === null;
      $("bot").textContent = sampleBot(port, tls);
      if (owners) $("token").replaceChildren(...tokenLine(owners));
      $("online").replaceChildren(...online.map((player) => element("li", {}, playerLink({ name: player, display_name: shown[player] }))));
      hearing(true);
    } catch {
      hearing(false);
      setTimeout(look, 2000);
    }
  }

  copies("copy", "bot");
  look();
}
