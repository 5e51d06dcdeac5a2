// Shows how a bot joins a ladder, with a bot that can be copied.
"use strict";
{
  /** A bot in Python without an SDK. It reconnects as the protocol describes; a comment shows how to use a private CA. */
  const bot = (host, port, tls) => `import json, random, socket, ${tls ? "ssl, " : ""}sys, time, uuid
hello = {"type": "hello", "protocol": 1, "name": "NAME", "version": "1", "token": "TOKEN", "reconnect": uuid.uuid4().hex}
${tls ? "# For a certificate of the organiser's own CA: ssl.create_default_context(cafile=\"ca.pem\")\ntls = ssl.create_default_context()\n" : ""}lost = time.time()
while time.time() < lost + 60:
    try:
        link = socket.create_connection((${JSON.stringify(host)}, ${port}))
${tls ? `        link = tls.wrap_socket(link, server_hostname=${JSON.stringify(host)})\n` : ""}        stream = link.makefile("rw", encoding="utf-8", newline="\\n")
        try:
            for line in stream:
                message = json.loads(line)
                if message["type"] == "hello":
                    answer = hello
                elif message["type"] == "start":
                    answer = {"type": "ready", "match": message["match"]}
                elif message["type"] == "turn":
                    move = random.choice(message["legal"])
                    answer = {"type": "move", "match": message["match"], "turn": message["turn"], "move": move}
                elif message["type"] == "ping":
                    answer = {"type": "pong", "id": message["id"]}
                elif message["type"] == "bye" and not message.get("reconnect"):
                    sys.exit(message.get("reason"))
                elif message["type"] == "error" and "match" not in message:
                    sys.exit(message.get("message"))
                else:
                    continue
                print(json.dumps(answer), file=stream, flush=True)
        finally:
            lost = time.time()
    except OSError as error:
        print(error, file=sys.stderr)
    time.sleep(random.uniform(0.5, 2))
`;

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
      const { league, name, game, rules_changed: rules, port, tls, online, display_names: shown, owners, others } = ladder;
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
      $("bot").textContent = bot(location.hostname, port, tls);
      if (owners) $("token").replaceChildren(...tokenLine(owners));
      $("others").hidden = others.length === 0;
      $("ladders").replaceChildren(...others.map((other) =>
        element("li", {}, ladderLink(other))));
      $("online").replaceChildren(...online.map((player) => element("li", {}, playerLink({ name: player, display_name: shown[player] }))));
    } catch {
      $("state").textContent = "connecting …";
      setTimeout(look, 2000);
    }
  }

  $("copy").addEventListener("click", async () => {
    const text = $("bot").textContent;
    try {
      await navigator.clipboard.writeText(text);
      $("copy").textContent = "Copied";
    } catch {
      // Without a secure context there is no clipboard: select the text instead.
      getSelection().selectAllChildren($("bot"));
      $("copy").textContent = "Selected: copy it with the keyboard";
    }
  });
  look();
}
