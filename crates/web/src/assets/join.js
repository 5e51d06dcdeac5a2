// Shows how a bot joins a ladder, with a bot that can be copied.
"use strict";
{
  /** A bot in Python without an SDK. */
  const bot = (host, port, tls) => `import json, random, socket${tls ? ", ssl" : ""}
link = socket.create_connection((${JSON.stringify(host)}, ${port}))
${tls ? `link = ssl.create_default_context().wrap_socket(link, server_hostname=${JSON.stringify(host)})\n` : ""}stream = link.makefile("rw", encoding="utf-8", newline="\\n")
for line in stream:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "hello", "protocol": 1, "name": "NAME", "version": "1", "token": "TOKEN"}
    elif message["type"] == "start":
        answer = {"type": "ready", "match": message["match"]}
    elif message["type"] == "turn":
        move = random.choice(message["legal"])
        answer = {"type": "move", "match": message["match"], "turn": message["turn"], "move": move}
    elif message["type"] == "ping":
        answer = {"type": "pong", "id": message["id"]}
    else:
        continue
    print(json.dumps(answer), file=stream, flush=True)
`;

  async function look() {
    try {
      const ladder = await (await fetch(`${root}api/v1/ladder`)).json();
      if (ladder.error) {
        $("state").textContent = ladder.error;
        return;
      }
      const { league, name, game, port, tls, online, display_names: shown, others } = ladder;
      const whole = league ? `${league}: ${name}` : name;
      $("title").textContent = `Join ${whole}`;
      document.title = $("title").textContent;
      brand(whole, true, "join");
      $("state").textContent = port === null
        ? "Only programs of the organiser play on this ladder."
        : `${game}, bots connect to ${location.hostname}:${port}${tls ? " with TLS" : ""}`;
      $("run").hidden = false;
      $("how-title").closest("section").hidden = port === null;
      $("bot").textContent = bot(location.hostname, port, tls);
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
